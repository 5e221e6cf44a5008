"""Many segments that stay in their engine: GROUP BY with a small table of segments beside the rows.

1. A query finds the keys and how many rows each has.
2. A second one counts all rows into cells, a bucket of one segment each: the keys are joined with a
   small table that numbers them, so the engine groups by two whole numbers. The more segments, the
   wider the buckets. Few rows are grouped by their scores at once, and nothing is left to ask.
3. Searches run in step. The ranges of scores in which each segment's optimum can be are sent as such a
   table, a row per segment and range, and the engine groups what lies inside, by score if that is
   little and by finer buckets if it is not.

As in `frames`, the ends of buckets are scores that were seen, and overlapping ones are joined: no
rounding of an engine can make the answer wrong.
"""

# ruff: noqa: SLF001 - the queries are those of FrameSource; this is its other half

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from cutpoints._data import expressions as ex
from cutpoints._data import groupby as frames
from cutpoints._data.bins import LARGEST, ROOT, Seen, join
from cutpoints._data.groups import Groups
from cutpoints._data.segment_codes import Coder
from cutpoints._data.segments import SegmentRanges
from cutpoints._kernel.masses import Masses
from cutpoints._kernel.tables import Histogram, Ranges, Rows, Summary
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from narwhals.dtypes import DType
    from numpy.typing import NDArray

    from cutpoints._data.groupby import FrameSource

MOST = 1 << 20
"""Segments that are searched; more would be a column that names rows, and not segments."""
CELLS = 1 << 20
"""Groups that one count sends back at most, about."""
HOLDS = 1 << 20
"""Distinct scores of segments that are handed over."""
LEAST = 16
"""Cells that a segment gets, even if there are more of them than that allows."""
RUNS = 16
"""Ranges of one segment in a query for scores; gaps between more are closed, and sorted out here."""
_FIRST = 1 << 14
"""Cells that the first count has for probabilities: a bucket is 2**-13 wide, and has two sides."""
_COARSEST = 13
_SEGMENT, _FROM, _TO, _BASE, _SCALE, _POWER = "g", "a", "b", "x", "y", "z"
_MISSING = "\u2205 no key"
"""Stands for a missing key where keys are text; should a key be this very text, that is noticed."""


class FrameSegments:
    """Segments of a frame that is not collected: the first count of each, and shared passes after it."""

    def __init__(self, source: FrameSource, names: Sequence[str]) -> None:
        self._source, self._cells = source, CELLS
        self.holds = HOLDS
        schema = source.frame.collect_schema()
        for name in names:
            if name not in schema:
                raise InvalidInputError.column(name=name, path="the data frame", columns=list(schema))
        self._texts = [f"{_SEGMENT}{i}" for i in range(len(names))]
        columns = [_key(name, schema[name]) for name in names]
        source.beside = [text.alias(own) for (_, text), own in zip(columns, self._texts, strict=True)]
        self.keys, self._known, self._codes, self._counts = self._find_keys([value for value, _ in columns])
        self._first = self._latest = self._first_count()
        self._ends = np.searchsorted(self._first.segments, np.arange(len(self.keys) + 1))

    @property
    def passes(self) -> int:
        """How often the data were read so far."""
        return self._source.passes

    def rows(self, segment: int) -> int:
        """Return how many rows a segment has."""
        return int(self._counts[segment])

    def summary(self, segment: int) -> Summary:
        """Return what the rows of a segment are."""
        groups = self._part(segment)
        pos, neg = (Masses(side, self._unit).total() for side in (groups.pos, groups.neg))
        return Summary(
            int(groups.rows.sum()), pos, neg, self._unit, float(groups.low[0]), float(groups.high[-1])
        )

    def histogram(self, segment: int) -> Histogram:
        """Return the first count of a segment."""
        return self._histogram(self._part(segment))

    def answer(
        self, wanted: Mapping[int, Ranges | None], expected: int, *, count: bool
    ) -> dict[int, Rows] | dict[int, Histogram]:
        """Make a pass: return the rows of these ranges of segments (all: None), or a count of each.

        Rows, if their scores are few or if no count is allowed; `expected` is how many rows there are.
        """
        ranges = SegmentRanges.of(wanted, len(self.keys))
        if self._whole:
            found = self._first
        else:
            scores = self._distinct(ranges, expected)
            if count and scores > self.holds:
                return self._count(wanted, ranges, expected)
            if scores > frames.LARGEST_SWEEP:
                raise InvalidInputError.too_many_scores(rows=scores, most=frames.LARGEST_SWEEP)
            found = self._fetch(wanted)
        index, _ = ranges.find(found.segments, found.groups.low)
        found = found.at(index)
        _compare(expected, found)
        ends = np.searchsorted(found.segments, np.arange(len(self.keys) + 1))
        return {
            segment: self._rows(found.groups.at(slice(*ends[segment : segment + 2]))) for segment in wanted
        }

    # --- how

    def _find_keys(
        self, values: list[nw.Expr]
    ) -> tuple[list[Any], list[tuple[str, ...]], NDArray[np.int64], NDArray[np.int64]]:
        """Return the keys; their texts, the segment of each, and the rows of each segment. A pass."""
        own = [f"v{i}" for i in range(len(values))]
        named = [value.alias(name) for value, name in zip(values, own, strict=True)]
        frame = self._source.frame.select(*named, *self._source.beside)
        query = frame.group_by(*own, *self._texts).agg(nw.len().alias(ex.ROWS)).head(MOST + 1)
        self._source.passes += 1
        found = frames.run(query)
        if len(found) == 0:
            raise InvalidInputError.empty(name=self._source.score)
        if len(found) > MOST:
            raise InvalidParameterError.of(
                parameter="by",
                caller="find",
                must_be=f"columns with at most {MOST:,} distinct keys",
                got="more",
                hint="group by something coarser.",
            )
        coder = Coder()
        codes = coder.encode([_objects(found.get_column(name).to_list()) for name in own])
        texts = zip(*(found.get_column(name).to_list() for name in self._texts), strict=True)
        segments: dict[tuple[str, ...], int] = {}
        for text, code in zip(texts, codes.tolist(), strict=True):
            if segments.setdefault(text, code) != code:
                raise InvalidParameterError.of(
                    parameter="by",
                    caller="find",
                    must_be="columns whose keys differ as text",
                    got=f"two keys that are both {text!r}",
                    hint="give the keys other names first.",
                )
        rows = np.bincount(codes, weights=np.asarray(found.get_column(ex.ROWS).to_numpy(), np.float64))
        return coder.keys, list(segments), np.array(list(segments.values()), np.int64), rows.astype(np.int64)

    def _first_count(self) -> _Cells:
        """Check, and count all rows: a pass, after one over the sizes of weights if there are any."""
        source = self._source
        self._unit, measured = source._measured()
        total = int(self._counts.sum())
        frame = self._beside_segments(source._prepared(), _SEGMENT, np.arange(len(self.keys)), {})
        self._whole = total <= self.holds
        if self._whole:
            got = source._collect(source._sums(frame, [_SEGMENT, ex.SCORE, ex.CODE]))
            codes, low, high = got[ex.CODE], got[ex.SCORE], got[ex.SCORE]
        else:
            number = ex.first_bucket() * ex.number(2.0 ** -self._level())
            frame = frame.with_columns(_cell(number))
            got = source._collect(source._sums(frame, [_SEGMENT, ex.KEY], ends=True))
            codes, low, high = got[ex.KEY] % ex.CODES, got[ex.LOW], got[ex.HIGH]
        rows = got[ex.ROWS].astype(np.int64)
        source._check_rows(codes, rows, measured)
        cells = _Cells.joined(got[_SEGMENT], source._groups(got, low, high))
        source._check_ends(float(cells.groups.low.min()), float(cells.groups.high.max()))
        _compare(total, cells)
        return cells

    def _level(self) -> int:
        """Return how often buckets must be doubled so that there are not too many cells."""
        most = max(self._cells, LEAST * len(self.keys))
        for level in range(_COARSEST):
            if int(np.minimum(self._counts, _FIRST >> level).sum()) <= most:
                return level
        return _COARSEST

    def _beside_segments(
        self,
        frame: nw.LazyFrame[Any],
        name: str,
        segments: NDArray[np.int64],
        columns: dict[str, NDArray[Any]],
    ) -> nw.LazyFrame[Any]:
        """Join rows with a table: for each entry, all rows of its segment, `columns`, and its number."""
        # A key may have several texts, such as NaN and null: the entries are repeated for each.
        order = np.argsort(segments, kind="stable")
        start = np.searchsorted(segments[order], self._codes, side="left")
        sizes = np.searchsorted(segments[order], self._codes, side="right") - start
        text = np.repeat(np.arange(len(self._codes)), sizes)
        place = np.arange(len(text)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(start, sizes)
        entry = order[place]
        table: dict[str, list[Any]] = {
            own: [self._known[i][part] for i in text.tolist()] for part, own in enumerate(self._texts)
        }
        numbers = segments if name == _SEGMENT else np.arange(len(segments))
        table[name] = numbers[entry].tolist()
        table |= {own: column[entry].tolist() for own, column in columns.items()}
        small = _native(table, frame).with_columns(nw.col(own).cast(nw.String()) for own in self._texts)
        return frame.join(_sent(small), on=self._texts, how="inner")

    def _distinct(self, ranges: SegmentRanges, expected: int) -> int:
        """Return how many distinct scores the ranges have at most, as far as counts tell."""
        for cells in (self._latest, self._first):
            index, _ = ranges.find(cells.segments, cells.groups.low)
            part = cells.groups.at(index)
            if int(part.rows.sum()) == expected:
                return int(np.where(part.low == part.high, 1, part.rows).sum())
        return expected

    def _fetch(self, wanted: Mapping[int, Ranges | None]) -> _Cells:
        """Group by the scores themselves what is in the ranges, and in some gaps between them."""
        source = self._source
        runs: dict[int, Ranges | None] = {}
        for segment, asked in wanted.items():
            runs[segment] = asked
            if asked is not None and len(asked.low) > RUNS:
                part = self._part(segment)
                pairs = list(zip(asked.low.tolist(), asked.high.tolist(), strict=True))
                ends = np.array(join(pairs, Seen(part.low, part.high, part.rows), RUNS)).T
                runs[segment] = Ranges(ends[0], ends[1])
        few = SegmentRanges.of(runs, len(self.keys))
        frame = self._beside_segments(
            source._prepared(), _SEGMENT, few.segments, {_FROM: few.low, _TO: few.high}
        )
        frame = frame.filter(_inside())
        got = source._collect(source._sums(frame, [_SEGMENT, ex.SCORE, ex.CODE]))
        return _Cells.joined(got[_SEGMENT], source._groups(got, got[ex.SCORE], got[ex.SCORE]))

    def _count(
        self, wanted: Mapping[int, Ranges | None], ranges: SegmentRanges, expected: int
    ) -> dict[int, Histogram]:
        """Count the ranges into finer buckets."""
        source = self._source
        each = max(4, self._cells // max(1, len(ranges.low)))
        base, scale, power = _maps(ranges, each)
        columns = {_FROM: ranges.low, _TO: ranges.high, _BASE: base, _SCALE: scale, _POWER: power}
        frame = self._beside_segments(source._prepared(), "r", ranges.segments, columns)
        frame = frame.filter(_inside()).with_columns(_on_scale().alias("t"))
        place = ((nw.col("t") - nw.col(_BASE)) * nw.col(_SCALE)).clip(0.0, float(each))
        got = source._collect(source._sums(frame.with_columns(_cell(place)), ["r", ex.KEY], ends=True))
        found = _Cells.joined(got["r"], source._groups(got, got[ex.LOW], got[ex.HIGH]))
        _compare(expected, found)
        cells = found._replace(segments=ranges.segments[found.segments])
        self._latest = cells
        ends = np.searchsorted(cells.segments, np.arange(len(self.keys) + 1))
        return {
            segment: self._histogram(cells.groups.at(slice(*ends[segment : segment + 2])))
            for segment in wanted
        }

    def _part(self, segment: int) -> Groups:
        return self._first.groups.at(slice(*self._ends[segment : segment + 2]))

    def _histogram(self, groups: Groups) -> Histogram:
        low, high = (end.astype(self._source._scores) for end in (groups.low, groups.high))
        return Histogram(
            pos=Masses(groups.pos, self._unit).carried(),
            neg=Masses(groups.neg, self._unit).carried(),
            rows=groups.rows,
            span=lambda index: Ranges(low[index], high[index]),
        )

    def _rows(self, groups: Groups) -> Rows:
        pos, neg = (Masses(side, self._unit).carried() for side in (groups.pos, groups.neg))
        return Rows(groups.low.astype(self._source._scores), pos, neg, int(groups.rows.sum()))


class _Cells(NamedTuple):
    """Groups of segments, or of ranges, by these and then ascending."""

    segments: NDArray[np.int64]
    groups: Groups

    @classmethod
    def joined(cls, segments: NDArray[Any], groups: Groups) -> _Cells:
        """Sort, and make one of those of a segment that overlap or touch; see `Groups.joined`."""
        segments = segments.astype(np.int64)
        if len(segments) == 0:
            return cls(segments, groups)
        scores, rank = np.unique(np.concatenate([groups.low, groups.high]), return_inverse=True)
        low, high = (segments * len(scores) + part for part in np.split(rank, 2))
        order = np.argsort(low, kind="stable")
        reach = np.maximum.accumulate(high[order])
        first = np.flatnonzero(np.append(True, low[order][1:] > reach[:-1]))
        ordered = groups.at(order)
        return cls(
            segments[order][first],
            Groups(
                ordered.low[first],
                np.maximum.reduceat(ordered.high, first),
                *(np.add.reduceat(column, first, axis=-1) for column in ordered.columns[2:]),
            ),
        )

    def at(self, index: Any) -> _Cells:
        """Return some of the cells."""
        return _Cells(self.segments[index], self.groups.at(index))


# --- expressions


def _key(name: str, dtype: DType) -> tuple[nw.Expr, nw.Expr]:
    """Return a column of keys as it is, and as text without missing values, which all engines can join."""
    raw = nw.col(name)
    missing = raw.is_null()
    if dtype in {nw.Categorical, nw.Enum}:
        raw = raw.cast(nw.String())
    elif dtype.is_float():
        missing = missing | raw.is_nan()
        raw = nw.when(raw == ex.number(0)).then(ex.number(0)).otherwise(raw)  # -0.0 is 0.0
    elif not (dtype.is_numeric() or dtype.is_temporal() or dtype in {nw.String, nw.Boolean}):
        raise InvalidParameterError.of(
            parameter="by",
            caller="find",
            must_be="columns of text, numbers, booleans or dates",
            got=f"{name!r} of type {dtype}",
        )
    text = raw if dtype == nw.String else raw.cast(nw.String())
    return raw, nw.when(missing).then(nw.lit(_MISSING)).otherwise(text).cast(nw.String())


def _inside() -> nw.Expr:
    score = nw.col(ex.SCORE)
    return (score >= nw.col(_FROM)) & (score <= nw.col(_TO))


def _cell(number: nw.Expr) -> nw.Expr:
    """Join the number of a bucket, rounded down, and the code of a row to one whole number."""
    whole = number.floor().cast(nw.Float64())
    return (whole * ex.number(ex.CODES) + nw.col(ex.CODE)).cast(nw.Int64()).alias(ex.KEY)


def _on_scale() -> nw.Expr:
    """Return scores as they are, or their roots with their signs, as the table says."""
    score = nw.col(ex.SCORE)
    up, down = (side.clip(0.0, LARGEST) ** ROOT for side in (score, ex.number(0) - score))
    plain = score.clip(-LARGEST, LARGEST)
    return nw.when(nw.col(_POWER) > ex.number(0)).then(up - down).otherwise(plain)


def _maps(ranges: SegmentRanges, each: int) -> tuple[NDArray[np.float64], ...]:
    """Return for each range where its buckets begin, how many there are per step, and on which scale."""
    low, high = (np.clip(end, -LARGEST, LARGEST) for end in (ranges.low, ranges.high))
    near, far = (pick(np.abs(low), np.abs(high)) for pick in (np.minimum, np.maximum))
    power = ~((np.sign(low) == np.sign(high)) & (far / 2 <= near))
    start, stop = (np.where(power, np.sign(end) * np.abs(end) ** ROOT, end) for end in (low, high))
    with np.errstate(all="ignore"):
        scale = each / (stop - start)
    return start, np.where(np.isfinite(scale), scale, 0.0), power.astype(np.float64)


# --- tables


def _native(table: dict[str, list[Any]], frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Make a small table in the engine of a frame."""
    engine = frame.implementation
    pandas, polars = engine.is_dask(), engine.is_polars()
    made = nw.from_dict(table, backend="pandas" if pandas else "polars" if polars else "pyarrow")
    session = {"session": frame.to_native().sparkSession} if engine.is_spark_like() else {}
    return made.lazy(engine, **session)


def _sent(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Ask Spark to send a small table to where the rows are, and not to shuffle the rows."""
    spark = table.implementation.is_spark_like()
    return nw.from_native(table.to_native().hint("broadcast")) if spark else table


def _objects(values: list[Any]) -> NDArray[Any]:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def _compare(expected: int, found: _Cells) -> None:
    """Raise if the rows are not those that were counted before."""
    there = int(found.groups.rows.sum())
    if there != expected:
        raise InvalidInputError.changed(expected=expected, found=there)

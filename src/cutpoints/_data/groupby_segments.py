"""Many segments that stay in their engine: GROUP BY with a small table of segments beside the rows.

1. A query finds the keys, how many rows each has, and the ends of their weights: each segment has the
   grid that its rows alone would have.
2. A second one counts all rows into cells, a bucket of one segment each: the keys are joined with a
   small table that numbers them, so the engine groups by two integers. The more segments, the
   wider the buckets. Few rows are grouped by their scores at once, and nothing is left to ask.
3. Searches run in step. The ranges of scores in which each segment's optimum can be are sent as such a
   table, a row per segment and range, and the engine groups what lies inside, by score if that is
   little and by finer buckets if it is not.

As in `groupby`, the ends of buckets are scores that were seen, and overlapping ones are joined: no
rounding of an engine can make the answer wrong.
"""

# ruff: noqa: SLF001 - the queries are those of FrameSource; this is its other half

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from cutpoints._data import expressions as ex
from cutpoints._data import file_errors, frames
from cutpoints._data.added_columns import with_totals
from cutpoints._data.bins import LARGEST, ROOT, Seen, join, scales
from cutpoints._data.groupby import FILTER_RANGES, QUERY_GROUPS, summary_of
from cutpoints._data.groupby_sums import Measured, measured, scale
from cutpoints._data.segment_codes import coded, combined
from cutpoints._data.segments import SegmentRanges
from cutpoints._kernel.tables import (
    MEMORY_ROWS,
    SWEEP_SCORES,
    ColumnTotals,
    Histogram,
    Ranges,
    Rows,
    Summary,
)
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from duckdb import DuckDBPyRelation
    from narwhals.dtypes import DType
    from numpy.typing import NDArray

    from cutpoints._data.groupby import FrameSource

SEGMENT_CELLS = 16
"""Cells that every segment gets, even if there are too many segments for `QUERY_GROUPS`."""
_FIRST_CELLS = 2 * int(ex.FINE)
"""Cells of the first count for probabilities: two classes in each bucket."""
_SEGMENT, _FROM, _TO, _BASE, _SCALE, _POWER = "g", "a", "b", "x", "y", "z"
_UNITS = "u", "v"
"""The two factors of each segment's weights."""
_MISSING = "\u2205 no key"
"""Stands for a missing key if keys are strings; a key that is this very string is an error."""


class FrameSegments:
    """Segments of a frame that is not collected: the first count of each, and shared passes after it."""

    def __init__(self, source: FrameSource, names: Sequence[str]) -> None:
        self._source = source
        self.whole = False
        """Whether the first count has every distinct score."""
        self.rows_limit = MEMORY_ROWS
        schema = source.frame.collect_schema()
        for name in names:
            if name not in schema:
                raise file_errors.column(name=name, path="the data frame", columns=list(schema))
        self._texts = [f"{_SEGMENT}{i}" for i in range(len(names))]
        columns = [_key(name, schema[name]) for name in names]
        source.beside = [text.alias(own) for (_, text), own in zip(columns, self._texts, strict=True)]
        self.keys, self._known, self._codes, self._measured = self._find_keys([value for value, _ in columns])
        source._added = [] if self._measured.counted.all() else source.sums.weights
        factors = np.array([scale(grid) for grid in self._measured.grids])
        self._units = np.where(self._measured.counted[:, None], 0.0, factors)
        self._part_units = self._units_of_parts()
        self._first = self._latest = self._first_count()
        self._ends = np.searchsorted(self._first.segments, np.arange(len(self.keys) + 1))

    @property
    def passes(self) -> int:
        """How often the data were read so far."""
        return self._source.passes

    def rows(self, segment: int) -> int:
        """Return how many rows a segment has."""
        return int(self._measured.rows[segment])

    def summary(self, segment: int) -> Summary:
        """Return what the rows of a segment are."""
        groups = self._part(segment)
        columns = with_totals(self._totals[segment], groups.columns)
        return replace(summary_of(groups, self._measured.grids[segment]), columns=columns)

    def histogram(self, segment: int) -> Histogram:
        """Return the first count of a segment."""
        return self._source._typed(self._part(segment))

    def answer(
        self, wanted: Mapping[int, Ranges | None], most: int, *, count: bool
    ) -> dict[int, Rows] | dict[int, Histogram]:
        """Make a pass: return the rows of these ranges of segments (all: None), or a count of each.

        Rows, if there are few scores or if no count is allowed; at most `most` of them.
        """
        ranges = SegmentRanges.of(wanted, len(self.keys))
        if self.whole:
            found = self._first.inside(ranges)[0]
        else:
            scores = self._distinct(ranges, most)
            if count and scores > self.rows_limit:
                return self._count(wanted, ranges)
            if scores > SWEEP_SCORES:
                raise InvalidInputError.too_many_scores(rows=scores, most=SWEEP_SCORES)
            found = self._fetch(wanted).inside(ranges)[0]
            self._refuse_changed(ranges, found)
        return {
            segment: self._source._typed(groups).distinct() for segment, groups in self._each(found, wanted)
        }

    # --- how

    def _find_keys(
        self, values: list[nw.Expr]
    ) -> tuple[list[Any], list[tuple[str, ...]], NDArray[np.int64], Measured]:
        """Return the keys; their texts, the segment of each, and rows and grid of each segment. A pass."""
        sums = self._source.sums
        own = [f"v{i}" for i in range(len(values))]
        named = [value.alias(name) for value, name in zip(values, own, strict=True)]
        frame = self._source.frame.select(*named, *self._source.beside, *sums.to_measure())
        wanted = [nw.len().alias(ex.ROWS), *sums.measures()]
        query = frame.group_by(*own, *self._texts).agg(*wanted).head(QUERY_GROUPS + 1)
        self._source.passes += 1
        found = frames.run(query)
        if len(found) == 0:
            raise InvalidInputError.empty(name=self._source.score)
        if len(found) > QUERY_GROUPS:
            raise InvalidParameterError(
                "by",
                caller="find",
                expected=f"columns with at most {QUERY_GROUPS:,} distinct keys",
                got="more",
                hint="group by something coarser.",
            )
        codes, keys = combined([coded(found.get_column(name).to_native(), "by") for name in own])
        texts = zip(*(found.get_column(name).to_list() for name in self._texts), strict=True)
        segments: dict[tuple[str, ...], int] = {}
        for text, code in zip(texts, codes.tolist(), strict=True):
            if segments.setdefault(text, code) != code:
                raise InvalidParameterError(
                    "by",
                    caller="find",
                    expected="columns whose keys differ as text",
                    got=f"two keys that are both {text!r}",
                    hint="give the keys other names first.",
                )
        got = {name: found.get_column(name).to_numpy() for name in found.columns if name not in own}
        return keys, list(segments), np.array(list(segments.values()), np.int64), measured(sums, got, codes)

    def _units_of_parts(self) -> dict[str, NDArray[np.float64]]:
        """Find the parts of columns that any segment has, which all of them then get; return their factors.

        A part that a segment has not is empty there, on the grid of the column's other part.
        """
        every = {part.own: part for parts in self._measured.parts for part in parts}
        self._source._parts = list(every.values())
        units = {own: np.zeros((len(self.keys), 2)) for own in every}
        self._totals: list[list[ColumnTotals]] = []
        for segment, parts in enumerate(self._measured.parts):
            grids = {part.added.own: part.totals.grid for part in parts}
            self._totals.append([part.totals._replace(grid=grids[part.added.own]) for part in every.values()])
            for own, part in every.items():
                units[own][segment] = scale(grids[part.added.own])
        return units

    def _first_count(self) -> _Cells:
        """Check, and count all rows: a pass."""
        source = self._source
        source._look_at_labels()
        total = int(self._measured.rows.sum())
        frame = self._beside_segments(_SEGMENT, np.arange(len(self.keys)), {})
        self.whole = total <= self.rows_limit
        if self.whole:
            got = source._collect(source._sums(frame, [_SEGMENT, ex.SCORE, ex.CODE]))
            codes, low, high = got[ex.CODE], got[ex.SCORE], got[ex.SCORE]
        else:
            number = ex.first_bucket() * ex.number(2.0 ** -self._level())
            frame = frame.with_columns(_cell(number))
            got = source._collect(source._sums(frame, [_SEGMENT, ex.KEY], ends=True))
            codes, low, high = got[ex.KEY] % ex.CODES, got[ex.LOW], got[ex.HIGH]
        source._check_rows(codes, got[ex.ROWS].astype(np.int64), total)
        cells = self._joined(got, got[_SEGMENT].astype(np.int64), low, high)
        source._check_ends(float(cells.groups.low.min()), float(cells.groups.high.max()))
        rows = np.bincount(cells.segments, weights=cells.groups.rows, minlength=len(self.keys))
        if not np.array_equal(rows, self._measured.rows):
            raise InvalidInputError.changed(expected=total, found=total)
        return cells

    def _level(self) -> int:
        """Return how often buckets must be doubled so that there are not too many cells."""
        most = max(QUERY_GROUPS, SEGMENT_CELLS * len(self.keys))
        level = 0
        while _FIRST_CELLS >> level > 2 and self._cells_of(level) > most:
            level += 1
        return level

    def _cells_of(self, level: int) -> int:
        return int(np.minimum(self._measured.rows, _FIRST_CELLS >> level).sum())

    def _beside_segments(
        self, name: str, segments: NDArray[np.int64], columns: dict[str, NDArray[Any]]
    ) -> nw.LazyFrame[Any]:
        """Join rows with a table: for each entry, all rows of its segment, `columns`, and its number."""
        source = self._source
        frame = source._elements()
        if source._added:
            columns = columns | dict(zip(_UNITS, self._units[segments].T, strict=True))
        for own, units in self._part_units.items():
            columns = columns | {f"{own}_{unit}": units[segments, i] for i, unit in enumerate(_UNITS)}
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
        beside = frame.join(_sent(small), on=self._texts, how="inner")
        scales = {
            own: (nw.col(f"{own}_{_UNITS[0]}"), nw.col(f"{own}_{_UNITS[1]}")) for own in self._part_units
        }
        return source._rounded(beside, (nw.col(_UNITS[0]), nw.col(_UNITS[1])), scales)

    def _before(self, ranges: SegmentRanges) -> _Cells | None:
        """Return the latest count that has all rows of these ranges, and no cell that they cut in two."""
        return next((cells for cells in (self._latest, self._first) if cells.holds(ranges)), None)

    def _distinct(self, ranges: SegmentRanges, most: int) -> int:
        """Return how many distinct scores the ranges have at most, by the counts so far."""
        before = self._before(ranges)
        if before is None:
            return most
        groups = before.inside(ranges)[0].groups
        return int(np.where(groups.low < groups.high, groups.rows, 1).sum())

    def _refuse_changed(self, ranges: SegmentRanges, now: _Cells) -> None:
        """Raise unless each range has the rows and the sums that were counted before."""
        before = self._before(ranges)
        if before is None:
            return
        totals = np.zeros((2, len(now.groups.sums), len(ranges.low)), dtype=np.int64)
        for cells, found in zip((before, now), totals, strict=True):
            inside, which = cells.inside(ranges)
            for column, sums in zip(inside.groups.sums, found, strict=True):
                np.add.at(sums, which, column)
        if not np.array_equal(*totals):
            rows = totals[:, 2].sum(axis=1)
            raise InvalidInputError.changed(expected=int(rows[0]), found=int(rows[1]))

    def _joined(
        self, got: dict[str, NDArray[Any]], segments: NDArray[np.int64], low: Any, high: Any
    ) -> _Cells:
        counted = self._measured.counted[segments] if self._source._added else None
        return _Cells.joined(segments, self._source._groups(got, low, high, counted))

    def _each(self, cells: _Cells, wanted: Iterable[int]) -> Iterator[tuple[int, Histogram]]:
        """Return the groups of each of these segments."""
        ends = np.searchsorted(cells.segments, np.arange(len(self.keys) + 1))
        return ((segment, cells.groups.at(slice(*ends[segment : segment + 2]))) for segment in wanted)

    def _fetch(self, wanted: Mapping[int, Ranges | None]) -> _Cells:
        """Group by the scores themselves what is in the ranges, and in some gaps between them."""
        source = self._source
        runs: dict[int, Ranges | None] = {}
        for segment, asked in wanted.items():
            runs[segment] = asked
            if asked is not None and len(asked.low) > FILTER_RANGES:
                part = self._part(segment)
                pairs = list(zip(asked.low.tolist(), asked.high.tolist(), strict=True))
                ends = np.array(join(pairs, Seen(part), FILTER_RANGES)).T
                runs[segment] = Ranges(ends[0], ends[1])
        few = SegmentRanges.of(runs, len(self.keys))
        frame = self._beside_segments(_SEGMENT, few.segments, {_FROM: few.low, _TO: few.high})
        got = source._collect(source._sums(frame.filter(_inside()), [_SEGMENT, ex.SCORE, ex.CODE]))
        return self._joined(got, got[_SEGMENT].astype(np.int64), got[ex.SCORE], got[ex.SCORE])

    def _count(self, wanted: Mapping[int, Ranges | None], ranges: SegmentRanges) -> dict[int, Histogram]:
        """Count the ranges into finer buckets."""
        source = self._source
        each = max(4, QUERY_GROUPS // max(1, len(ranges.low)))
        base, scale, power = scales(ranges.low, ranges.high, each)
        columns = {
            _FROM: ranges.low,
            _TO: ranges.high,
            _BASE: base,
            _SCALE: scale,
            _POWER: power.astype(np.float64),
        }
        frame = self._beside_segments("r", ranges.segments, columns)
        frame = frame.filter(_inside()).with_columns(_on_scale().alias("t"))
        place = ((nw.col("t") - nw.col(_BASE)) * nw.col(_SCALE)).clip(0.0, float(each))
        got = source._collect(source._sums(frame.with_columns(_cell(place)), ["r", ex.KEY], ends=True))
        segments = ranges.segments[got["r"].astype(np.int64)]
        cells = self._joined(got, segments, got[ex.LOW], got[ex.HIGH])
        self._refuse_changed(ranges, cells)
        self._latest = cells._replace(ranges=ranges)
        return {segment: source._typed(groups) for segment, groups in self._each(cells, wanted)}

    def _part(self, segment: int) -> Histogram:
        return self._first.groups.at(slice(*self._ends[segment : segment + 2]))


class _Cells(NamedTuple):
    """Groups of segments, by these and then ascending; and the ranges that were counted, None for all."""

    segments: NDArray[np.int64]
    groups: Histogram
    ranges: SegmentRanges | None = None

    @classmethod
    def joined(cls, segments: NDArray[np.int64], groups: Histogram) -> _Cells:
        """Sort, and make one of those of a segment that overlap or touch; see `Histogram.joined`."""
        if len(segments) == 0:
            return cls(segments, groups)
        scores, rank = np.unique(np.concatenate([groups.low, groups.high]), return_inverse=True)
        low, high = (segments * len(scores) + part for part in np.split(rank, 2))
        order = np.argsort(low, kind="stable")
        reach = np.maximum.accumulate(high[order])
        first = np.flatnonzero(np.append(True, low[order][1:] > reach[:-1]))
        return cls(segments[order][first], groups.at(order).merged(first))

    def inside(self, ranges: SegmentRanges) -> tuple[_Cells, NDArray[np.intp]]:
        """Return the cells that lie in one of these ranges, and in which."""
        index, which = ranges.find(self.segments, self.groups.low)
        return _Cells(self.segments[index], self.groups.at(index)), which

    def holds(self, ranges: SegmentRanges) -> bool:
        """Whether all rows of these ranges are in cells that lie in them."""
        low, high = self.groups.low, self.groups.high
        own = SegmentRanges(low, high, np.searchsorted(self.segments, np.arange(len(ranges.first))))
        for asked, ends in ((ranges.low, low), (ranges.high, high)):
            index, which = own.find(ranges.segments, asked)
            if (asked[index] != ends[which]).any():
                return False
        return self.ranges is None or ranges.within(self.ranges)


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
        raise InvalidParameterError(
            "by",
            caller="find",
            expected="columns of text, numbers, booleans or dates",
            got=f"{name!r} of type {dtype}",
        )
    text = raw if dtype == nw.String else raw.cast(nw.String())
    return raw, nw.when(missing).then(nw.lit(_MISSING)).otherwise(text).cast(nw.String())


def _inside() -> nw.Expr:
    score = nw.col(ex.SCORE)
    return (score >= nw.col(_FROM)) & (score <= nw.col(_TO))


def _cell(number: nw.Expr) -> nw.Expr:
    """Join the number of a bucket, rounded down, and the code of a row to one integer."""
    whole = number.floor().cast(nw.Float64())
    return (whole * ex.number(ex.CODES) + nw.col(ex.CODE)).cast(nw.Int64()).alias(ex.KEY)


def _on_scale() -> nw.Expr:
    """Return scores as they are, or their roots with their signs, as the table says."""
    score = nw.col(ex.SCORE)
    up, down = (side.clip(0.0, LARGEST) ** ROOT for side in (score, ex.number(0) - score))
    plain = score.clip(-LARGEST, LARGEST)
    return nw.when(nw.col(_POWER) > ex.number(0)).then(up - down).otherwise(plain)


# --- tables


def _native(table: dict[str, list[Any]], frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Make a small table in the engine of a frame."""
    engine = frame.implementation
    if engine.is_duckdb():
        return _on_connection(table, frame.to_native())
    pandas, polars = engine.is_dask(), engine.is_polars()
    made = nw.from_dict(table, backend="pandas" if pandas else "polars" if polars else "pyarrow")
    session = {"session": frame.to_native().sparkSession} if engine.is_spark_like() else {}
    return made.lazy(engine, **session)


def _on_connection(table: dict[str, list[Any]], relation: DuckDBPyRelation) -> nw.LazyFrame[Any]:
    """Make a small table on the connection of a relation, which DuckDB does not give away."""
    parts = []
    for name, values in table.items():
        kind = {int: "BIGINT", float: "DOUBLE"}.get(type(values[0]), "VARCHAR")
        shown = [repr(value) for value in values] if kind == "DOUBLE" else values  # JSON has no infinity
        made = json.dumps(shown).replace("'", "''")
        parts.append(f"unnest(from_json('{made}', '[\"{kind}\"]')) as {name}")
    one_row = relation.limit(0).aggregate("count(*)")
    return nw.from_native(one_row.project(", ".join(parts)))


def _sent(table: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Ask Spark to send a small table to where the rows are, and not to shuffle the rows."""
    spark = table.implementation.is_spark_like()
    return nw.from_native(table.to_native().hint("broadcast")) if spark else table

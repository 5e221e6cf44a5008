"""Data frames of any engine as a source: narwhals in front, GROUP BY behind.

A frame in memory gives its columns to `arrays`. A lazy one, be it a query of DuckDB, a Spark cluster
or a warehouse behind Ibis, stays where it is: each question is one query that groups all rows and
sends back at most a few thousand groups, or, at the end, the distinct scores of the few rows that
are left. Rows never travel.

The answers are exact on every engine, whatever its arithmetic. The ends of a bucket are scores that
were seen in it, and buckets that overlap are joined; weights are rounded once, to integers, which add up
to the same sum in any order. Each query is compared with the ones before it: data that change are an error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from cutpoints._data import expressions as ex
from cutpoints._data import file_errors, progress
from cutpoints._data import groupby_columns as gc
from cutpoints._data import streaming as batches
from cutpoints._data.added_columns import with_totals
from cutpoints._data.array_input import too_large
from cutpoints._data.bins import Piece, Seen, divide, join
from cutpoints._data.groupby_labels import FrameLabels
from cutpoints._data.groupby_weights import Column, factors, measured, measures, to_measure
from cutpoints._data.groups import Groups
from cutpoints._data.streaming import SWEEP_SCORES
from cutpoints._kernel.tables import MEMORY_ROWS, Histogram, Ranges, Rows, Summary
from cutpoints._kernel.weights import EXACT_INTEGERS, FixedPoint
from cutpoints.exceptions import InvalidInputError, InvalidParameterError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.dtypes import DType
    from numpy.typing import NDArray

    from cutpoints._data.source import Source

COMPARED_SCORES = 1 << 20
"""Up to this many scores that are left are fetched rather than counted again."""
BUCKETS, MOST_BUCKETS = 1 << 16, 1 << 20
"""Buckets of the second and later counts; more where scores crowd, see `_buckets`."""
HELPED, CROWDED = 4, 64
USEFUL_COUNTS = 3
"""Counts after which all scores that fit in memory are fetched, which is as slow as a pass."""
QUERY_PIECES = 64
"""Pieces that one query distinguishes; more pieces take several queries."""
QUERY_RANGES = 32
"""Ranges that a search asks about at once: split at clusters and at zero, they fit into one query."""
FILTER_RANGES = 4
"""Ranges that a query filters by first, which is cheap, before it distinguishes the others."""
_EXTRAS = {"pyspark": "spark", "dask": "dask", "ibis": "ibis"}

Collected = dict[str, "NDArray[Any]"]


def source(frame: nw.LazyFrame[Any], columns: batches.Columns, pos_label: Any = None) -> Source:
    """Return a source for the columns of a lazy frame, which is never collected."""
    _check_columns(frame.collect_schema(), columns.all)
    # These two stream batches faster than they group: the rows are in this process anyway.
    if frame.implementation.is_duckdb():
        return batches.from_duckdb(frame.to_native(), columns, pos_label)
    if frame.implementation.is_polars():
        return batches.from_polars(frame.to_native(), columns, pos_label)
    return FrameSource(frame, columns, pos_label)


def columns_of(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Sequence[str]
) -> dict[str, nw.Series[Any]]:
    """Return columns by name.

    A lazy frame is collected, once, and of these columns only; its rows come in the engine's order.
    """
    _check_columns(frame.collect_schema(), names)
    eager = run(frame.select(*names)) if isinstance(frame, nw.LazyFrame) else frame
    return {name: eager.get_column(name) for name in names}


def is_lazy(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> bool:
    """Whether rows stay in their engine until a query asks for them."""
    return isinstance(frame, nw.LazyFrame)


def described(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> str:
    """Return what kind of frame it is: 'pandas DataFrame'."""
    native = type(frame.to_native())
    return f"{native.__module__.partition('.')[0]} {native.__name__}"


def read(
    frame: Any, *, caller: str = "find", parameter: str = "y_true"
) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Return what narwhals makes of a frame."""
    try:
        return nw.from_native(frame)
    except TypeError:
        raise InvalidParameterError(
            parameter,
            caller=caller,
            expected="a data frame, or a path, where columns have names",
            got=type(frame),
            hint="frames of pandas, polars, pyarrow, DuckDB, PySpark, Dask and Ibis are known.",
        ) from None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in frame.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InvalidParameterError(
            parameter,
            caller=caller,
            expected="a data frame whose columns have different names",
            got=f"more than one column {', '.join(map(repr, twice))}",
            hint="rename them, or pass the columns themselves as arrays.",
        ) from None


class FrameSource:
    """Rows that stay in their engine: scores, and labels with or without weights, or two sums."""

    def __init__(self, frame: nw.LazyFrame[Any], columns: batches.Columns, pos_label: Any = None) -> None:
        schema = frame.collect_schema()
        _check_columns(schema, columns.all)
        score, label, added = columns.score, columns.label, columns.added
        self.frame = frame
        self.score = score
        self.beside: list[nw.Expr] = []
        """Further columns that queries need, under names that are not ours."""
        self.passes = 0
        self.direct_rows, self.rows_limit = COMPARED_SCORES, MEMORY_ROWS
        self.most_ranges = QUERY_RANGES
        self._type = schema[score]
        self._scores: type[np.floating[Any]] = np.float32 if self._type == nw.Float32 else np.float64
        self._labels = None if label is None else FrameLabels(label, schema[label], pos_label)
        # Names of our own: the user's may be words of SQL, have quotes or clash with others.
        weights = {"w": (columns.weight, None), "p": (columns.positives, 1), "q": (columns.negatives, 0)}
        self._weights = [
            Column(name, own, schema[name], side) for own, (name, side) in weights.items() if name
        ]
        self._added: list[Column] = []
        """The weights that are added up; none where rows are counted."""
        self.columns = [gc.Added(column, f"x{i}", schema[column.name]) for i, column in enumerate(added)]
        self._parts: list[gc.AddedPart] = []
        """What is added up of the columns, and on which grids."""
        self._grid = FixedPoint()
        for name in (score, *(column.name for column in self._weights), *(column.name for column in added)):
            _check_number(name, schema[name])
        self._known: tuple[Summary, Histogram] | None = None
        self._seen: list[Seen] = []
        self._counts = 0
        self._asked: int | None = None
        """The rows of the last count but the first."""

    # --- the three questions

    def summary(self) -> Summary:
        """Return rows, totals and the range of scores; raise for what is missing or wrong."""
        return self._first_look()[0]

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count into buckets: a pass; none for the whole, which was counted in the first look."""
        first = self._first_look()[1]
        self._counts = 1 if ranges is None else self._counts + 1
        self.direct_rows = COMPARED_SCORES if self._counts < USEFUL_COUNTS else MEMORY_ROWS
        if ranges is None:
            self._asked = None
            return first
        seen = self._count_of(ranges)
        pieces = divide(ranges, seen, self._buckets(seen.within(ranges).rows))
        parts = [self._count(pieces[i : i + QUERY_PIECES], seen) for i in range(0, len(pieces), QUERY_PIECES)]
        groups = Groups.together(parts).joined()
        seen.refuse_changed(ranges, groups)
        return self._table(groups, ranges)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Group by the scores themselves: a pass, and memory for the distinct ones."""
        self._first_look()
        frame = self._prepared()
        seen = self._seen[0] if ranges is None else self._count_of(ranges)
        if ranges is None:
            self._refuse_too_many(seen)
        else:
            wanted = list(zip(ranges.low.tolist(), ranges.high.tolist(), strict=True))
            self._refuse_too_many(seen, join(wanted, seen, QUERY_PIECES))
            frame = frame.filter(ex.within_any(join(wanted, seen, FILTER_RANGES)))
            if len(wanted) > FILTER_RANGES:
                frame = frame.filter(ex.within_any(join(wanted, seen, QUERY_PIECES)))
        got = self._collect(self._sums(frame, [ex.SCORE, ex.CODE]))
        groups = self._groups(got, got[ex.SCORE], got[ex.SCORE]).joined()
        if ranges is not None:
            which = np.searchsorted(ranges.low, groups.low, side="right") - 1
            inside = (which >= 0) & (groups.low <= ranges.high[which])
            groups = groups.at(inside)
        seen.refuse_changed(ranges, groups)
        return self._rows_of(groups)

    # --- how

    def _buckets(self, rows: NDArray[np.int64]) -> int:
        """Return how many buckets a count of these ones gets, of which it is known how many rows they have.

        Most buckets are wasted where scores crowd at a few points: if a few of the first buckets had most
        of all rows, and afterwards if the last count did not help much. Rows that can nearly be handed
        over need no more buckets.
        """
        asked, before = int(rows.sum()), self._asked
        self._asked = asked
        if before is None:
            most = np.sort(rows)[-CROWDED:].sum()
            waste = 2 * most > max(self.summary().rows, 4 * MEMORY_ROWS)
        else:
            waste = asked > max(before // HELPED, MEMORY_ROWS)
        return MOST_BUCKETS if waste else BUCKETS

    def _first_look(self) -> tuple[Summary, Histogram]:
        """Check, summarize and count in one pass; with weights, after one over their sizes."""
        if self._known is not None:
            return self._known
        total = self._measured()
        frame = self._prepared().with_columns(_key(ex.first_bucket()))
        got = self._collect(self._sums(frame, [ex.KEY], ends=True))
        self._check_rows(got[ex.KEY] % ex.CODES, got[ex.ROWS].astype(np.int64), total)
        groups = self._groups(got, got[ex.LOW], got[ex.HIGH]).joined()
        self._check_ends(float(groups.low[0]), float(groups.high[-1]))
        columns = with_totals([part.totals for part in self._parts], groups.added)
        self._known = replace(summary_of(groups, self._grid), columns=columns), self._table(groups)
        return self._known

    def _measured(self) -> int | None:
        """Find the grid of the weights, a pass, and the second label; return the rows if they are known."""
        total = None
        if self._weights or self.columns:
            self.passes += 1
            frame = self.frame.select(
                *to_measure(self._weights), *gc.to_measure(self.columns, self._weight())
            )
            wanted = [*measures(self._weights), *gc.measures(self.columns)]
            got = _collect(frame.select(nw.len().alias(ex.ROWS), *wanted))
            if got[ex.ROWS][0] == 0:
                raise InvalidInputError.empty(name=self.score)
            (total,), (self._grid,), counted = measured(self._weights, got)
            self._added = [] if counted.all() else self._weights
            self._parts = gc.measured(self.columns, got, int(total))
        self._look_at_labels()
        return total

    def _weight(self) -> nw.Expr | None:
        """Return the weights that values of columns are multiplied by."""
        return ex.floats(self._weights[0].name, self._weights[0].type)[0] if self._weights else None

    def _look_at_labels(self) -> None:
        """Find the second label, where the first is given."""
        if self._labels is not None:
            self._labels.look(self.frame, _collect)

    def _check_rows(self, codes: NDArray[Any], rows: NDArray[np.int64], total: int | None) -> None:
        """Raise for what the first count shows: no rows, missing scores, bad labels."""
        if len(rows) == 0:
            raise InvalidInputError.empty(name=self.score)
        missing = int(rows[codes == ex.NO_SCORE].sum())
        if missing:
            raise InvalidInputError.nan(name=self.score, count=missing, rows=int(rows.sum()), first=None)
        if self._labels is not None:
            self._labels.settle(self.frame, codes, rows, _collect)
        _compare(total, rows)

    def _check_ends(self, low: float, high: float) -> None:
        """Raise for integers that float64 cannot distinguish."""
        if self._type.is_integer() and max(-low, high) >= EXACT_INTEGERS:
            raise too_large(self.score)

    def _prepared(self) -> nw.LazyFrame[Any]:
        """Return scores, codes and weights as integers: element-wise work only."""
        return self._rounded(self._elements(), factors(self._grid))

    def _rounded(
        self, frame: nw.LazyFrame[Any], scale: tuple[Any, Any], units: Any = None
    ) -> nw.LazyFrame[Any]:
        """Make integers of the weights, and of the parts of columns."""
        for column in self._added:
            frame = ex.rounded(frame, column.own, scale)
        return gc.rounded(frame, self._parts, units)

    def _elements(self) -> nw.LazyFrame[Any]:
        """Return scores, codes, weights as floats, and what is beside them."""
        value, missing = ex.floats(self.score, self._type)
        # After the first count it is known that nothing is missing, and half of the query with it.
        checked = self._known is not None
        code = ex.number(ex.POSITIVE) if self._labels is None else self._labels.code(checked=checked)
        if not checked:
            code = nw.when(missing).then(ex.number(ex.NO_SCORE)).otherwise(code)
        elif self._type != nw.Boolean:
            value = nw.col(self.score).cast(nw.Float64())
        columns = [value.alias(ex.SCORE), code.alias(ex.CODE)]
        columns += [ex.floats(column.name, column.type)[0].alias(column.own) for column in self._added]
        columns += [gc.values(one, self._weight()).alias(one.own) for one in self.columns]
        return self.frame.select(*columns, *self.beside)

    def _sums(self, frame: nw.LazyFrame[Any], keys: list[str], *, ends: bool = False) -> nw.LazyFrame[Any]:
        """Group, with aggregations that are elementary."""
        wanted = [nw.len().alias(ex.ROWS)]
        if ends:
            wanted += [nw.col(ex.SCORE).min().alias(ex.LOW), nw.col(ex.SCORE).max().alias(ex.HIGH)]
        names = [*(column.own for column in self._added), *(part.own for part in self._parts)]
        grouped = frame.group_by(*keys).agg(*wanted, *(nw.col(name).sum().alias(name) for name in names))
        # Sums of integers are of a wider type on some engines; as Python objects they would be slow.
        return grouped.with_columns(nw.col(name).cast(nw.Int64()) for name in names) if names else grouped

    def _count(self, pieces: list[Piece], seen: Seen) -> Groups:
        """Count the rows of the pieces in one query."""
        runs = join([(piece.low, piece.high) for piece in pieces], seen, FILTER_RANGES)
        frame = self._prepared().filter(ex.within_any(runs)).with_columns(_key(ex.bucket(pieces)))
        got = self._collect(self._sums(frame, [ex.KEY], ends=True))
        found = got[ex.KEY] >= 0
        got = {name: column[found] for name, column in got.items()}
        return self._groups(got, got[ex.LOW], got[ex.HIGH])

    def _collect(self, frame: nw.LazyFrame[Any]) -> Collected:
        """Make a pass, and report its progress."""
        self.passes += 1
        tell, rows = progress.observer(), self._known[0].rows if self._known else None
        if tell is not None:
            tell(progress.Progress(self.passes, 0, rows))
        found = _collect(frame)
        if tell is not None:
            counted = int(found[ex.ROWS].sum())
            tell(progress.Progress(self.passes, rows or counted, rows or counted, counted if rows else None))
        return found

    def _groups(
        self, got: Collected, low: NDArray[Any], high: NDArray[Any], counted: NDArray[np.bool_] | None = None
    ) -> Groups:
        """Add up the two sides of each group; where `counted`, rows and not weights."""
        codes = got[ex.CODE] if ex.CODE in got else got[ex.KEY] % ex.CODES
        rows = got[ex.ROWS].astype(np.int64)
        positive = codes == ex.POSITIVE
        sides = [np.zeros(len(rows), dtype=np.int64) for _ in (0, 1)]
        for column in self._added:
            whole = got[column.own] if counted is None else np.where(counted, rows, got[column.own])
            for side in (0, 1):
                sides[side] += np.where(
                    positive == side if column.side is None else column.side == side, whole, 0
                )
        if not self._added:
            sides = [np.where(positive == side, rows, 0) for side in (0, 1)]
        low, high = (np.asarray(end, dtype=np.float64) + 0.0 for end in (low, high))
        added = (
            np.where(positive == side, got[part.own], 0) for part in self._parts for side in (True, False)
        )
        return Groups.of(low, high, rows, sides[1], sides[0], *added)

    def _table(self, groups: Groups, ranges: Ranges | None = None) -> Histogram:
        """Remember the buckets for the next count, and return them."""
        self._seen = [*self._seen[:1], Seen(groups, ranges)]
        return self._histogram_of(groups)

    def _histogram_of(self, groups: Groups) -> Histogram:
        low, high = groups.low.astype(self._scores), groups.high.astype(self._scores)
        return Histogram(
            pos=groups.pos,
            neg=groups.neg,
            rows=groups.rows,
            span=lambda index: Ranges(low[index], high[index]),
            columns=groups.added,
        )

    def _rows_of(self, groups: Groups) -> Rows:
        rows = int(groups.rows.sum())
        return Rows(groups.low.astype(self._scores), groups.pos, groups.neg, rows, groups.added)

    def _count_of(self, ranges: Ranges) -> Seen:
        """Return the latest count of all the rows in these ranges, or else the first."""
        return next(seen for seen in reversed(self._seen) if seen.complete(ranges))

    def _refuse_too_many(self, seen: Seen, ranges: list[tuple[float, float]] | None = None) -> None:
        """Raise before more distinct scores are fetched than the driver has room for."""
        parts = [slice(None)] if ranges is None else [seen.inside(low, high) for low, high in ranges]
        most = 0
        for groups in map(seen.groups.at, parts):
            crowded = groups.low < groups.high
            most += int(groups.rows[crowded].sum()) + int(np.count_nonzero(~crowded))
        if most > SWEEP_SCORES:
            raise InvalidInputError.too_many_scores(rows=most, most=SWEEP_SCORES)


def summary_of(groups: Groups, grid: FixedPoint) -> Summary:
    """Return what the rows of some groups are, which ascend."""
    rows, pos, neg = (int(column.sum()) for column in groups.columns[2:5])
    return Summary(rows, pos, neg, grid, float(groups.low[0]), float(groups.high[-1]))


def _compare(expected: int | None, rows: NDArray[np.int64]) -> None:
    """Raise if the rows are not those that were counted before, where that is known."""
    found = int(rows.sum())
    if expected is not None and expected != found:
        raise InvalidInputError.changed(expected=expected, found=found)


def _key(bucket: nw.Expr) -> nw.Expr:
    """Join the number of a bucket and the code of a row to one integer; gaps are below zero."""
    return (bucket * float(ex.CODES) + nw.col(ex.CODE)).cast(nw.Int64()).alias(ex.KEY)


def _check_columns(schema: nw.Schema, names: Sequence[str]) -> None:
    for name in names:
        if name not in schema:
            raise file_errors.column(name=name, path="the data frame", columns=list(map(str, schema)))


def _check_number(name: str, dtype: DType) -> None:
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise file_errors.not_a_number_type(name=name, type_=str(dtype))


def _collect(frame: nw.LazyFrame[Any]) -> Collected:
    """Run a query; its few rows come as columns of NumPy."""
    found = run(frame)
    return {name: found.get_column(name).to_numpy() for name in found.columns}


def run(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Run a query that has few rows."""
    engine = frame.implementation
    try:
        return frame.collect("polars", engine="streaming") if engine.is_polars() else frame.collect()
    except ImportError as error:
        package = error.name or "pyarrow"
        extra = next((extra for name, extra in _EXTRAS.items() if name in str(engine)), None)
        raise MissingDependencyError.of(
            caller="find on such a frame", package=package, extra=extra
        ) from error

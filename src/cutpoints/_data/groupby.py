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
from cutpoints._data import streaming as batches
from cutpoints._data.added_columns import with_totals
from cutpoints._data.array_input import too_large
from cutpoints._data.bins import Piece, Seen, divide, join
from cutpoints._data.frames import check_columns, collect
from cutpoints._data.groupby_labels import FrameLabels
from cutpoints._data.groupby_sums import Added, AddedPart, Sums, Weight, measure, measured, rounded, scale
from cutpoints._kernel.histogram import check_unchanged
from cutpoints._kernel.tables import MEMORY_ROWS, SWEEP_SCORES, Histogram, Ranges, Rows, Summary
from cutpoints._kernel.weights import EXACT_INTEGERS, FixedPoint
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from narwhals.dtypes import DType
    from numpy.typing import NDArray

    from cutpoints._data.frames import Collected
    from cutpoints._data.source import Source

QUERY_GROUPS = 1 << 20
"""About the most groups that one query returns, but for the scores that are left."""
QUERY_PIECES = 64
"""Pieces that one query distinguishes; more pieces take several queries."""
FILTER_RANGES = 16
"""Ranges that a query filters by; more are merged, where the fewest rows are between them."""


def source(frame: nw.LazyFrame[Any], columns: batches.Columns, pos_label: Any = None) -> Source:
    """Return a source for the columns of a lazy frame, which is never collected."""
    check_columns(frame.collect_schema(), columns.all)
    # These two stream batches faster than they group: the rows are in this process anyway.
    if frame.implementation.is_duckdb():
        return batches.from_duckdb(frame.to_native(), columns, pos_label)
    if frame.implementation.is_polars():
        return batches.from_polars(frame.to_native(), columns, pos_label)
    return FrameSource(frame, columns, pos_label)


class FrameSource:
    """Rows that stay in their engine: scores, and labels with or without weights, or two sums."""

    def __init__(self, frame: nw.LazyFrame[Any], columns: batches.Columns, pos_label: Any = None) -> None:
        schema = frame.collect_schema()
        check_columns(schema, columns.all)
        score, label, added = columns.score, columns.label, columns.added
        self.frame = frame
        self.score = score
        self.beside: list[nw.Expr] = []
        """Further columns that queries need, under names that are not ours."""
        self.passes = 0
        self.direct_rows = self.rows_limit = MEMORY_ROWS
        self.most_ranges = QUERY_PIECES // 2  # zero or a cluster may cut each in two
        self._type = schema[score]
        self._scores: type[np.floating[Any]] = np.float32 if self._type == nw.Float32 else np.float64
        self._labels = None if label is None else FrameLabels(label, schema[label], pos_label)
        # Names of our own: the user's may be words of SQL, have quotes or clash with others.
        weights = {"w": (columns.weight, None), "p": (columns.positives, 1), "q": (columns.negatives, 0)}
        self.sums = Sums(
            [Weight(name, own, schema[name], side) for own, (name, side) in weights.items() if name],
            [Added(column, f"x{i}", schema[column.name]) for i, column in enumerate(added)],
        )
        self.columns = added
        self._added: list[Weight] = []
        """The weights that are added up; none where rows are counted."""
        self._parts: list[AddedPart] = []
        """What is added up of the columns, and on which grids."""
        self._grid = FixedPoint()
        for name in (score, *columns.masses, *(column.name for column in added)):
            _check_number(name, schema[name])
        self._known: tuple[Summary, Histogram] | None = None
        self._seen: list[Seen] = []

    # --- the three questions

    def summary(self) -> Summary:
        """Return rows, totals and the range of scores; raise for what is missing or wrong."""
        return self._first_look()[0]

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count into buckets: a pass; none for the whole, which was counted in the first look."""
        first = self._first_look()[1]
        if ranges is None:
            return first
        seen = self._count_of(ranges)
        pieces = divide(ranges, seen, QUERY_GROUPS)
        parts = [self._count(pieces[i : i + QUERY_PIECES], seen) for i in range(0, len(pieces), QUERY_PIECES)]
        groups = Histogram.together(parts).joined()
        check_unchanged(seen.groups, ranges, groups)
        return self._table(groups, ranges)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Group by the scores themselves: a pass, and memory for the distinct ones."""
        self._first_look()
        frame = self._prepared()
        seen = self._seen[0] if ranges is None else self._count_of(ranges)
        if ranges is None:
            self._refuse_too_many(seen)
        else:
            wanted = join(
                list(zip(ranges.low.tolist(), ranges.high.tolist(), strict=True)), seen, FILTER_RANGES
            )
            self._refuse_too_many(seen, wanted)
            frame = frame.filter(ex.within_any(wanted))
        got = self._collect(self._sums(frame, [ex.SCORE, ex.CODE]))
        groups = self._groups(got, got[ex.SCORE], got[ex.SCORE]).joined()
        if ranges is not None:
            which = np.searchsorted(ranges.low, groups.low, side="right") - 1
            inside = (which >= 0) & (groups.low <= ranges.high[which])
            groups = groups.at(inside)
        check_unchanged(seen.groups, ranges, groups)
        return self._typed(groups).distinct()

    # --- how

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
        columns = with_totals([part.totals for part in self._parts], groups.columns)
        self._known = replace(summary_of(groups, self._grid), columns=columns), self._table(groups)
        return self._known

    def _measured(self) -> int | None:
        """Find the grid of the weights, a pass, and the second label; return the rows if they are known."""
        total = None
        if any(self.sums):
            self.passes += 1
            got = measure(self.frame, self.sums)
            if got[ex.ROWS][0] == 0:
                raise InvalidInputError.empty(name=self.score)
            (total,), (self._grid,), counted, (self._parts,) = measured(self.sums, got)
            self._added = [] if counted.all() else self.sums.weights
        self._look_at_labels()
        return total

    def _look_at_labels(self) -> None:
        """Find the second label, where the first is given."""
        if self._labels is not None:
            self._labels.look(self.frame, collect)

    def _check_rows(self, codes: NDArray[Any], rows: NDArray[np.int64], total: int | None) -> None:
        """Raise for what the first count shows: no rows, missing scores, bad labels."""
        if len(rows) == 0:
            raise InvalidInputError.empty(name=self.score)
        missing = int(rows[codes == ex.NO_SCORE].sum())
        if missing:
            raise InvalidInputError.nan(name=self.score, count=missing, rows=int(rows.sum()), first=None)
        if self._labels is not None:
            self._labels.settle(self.frame, codes, rows, collect)
        _compare(total, rows)

    def _check_ends(self, low: float, high: float) -> None:
        """Raise for integers that float64 cannot distinguish."""
        if self._type.is_integer() and max(-low, high) >= EXACT_INTEGERS:
            raise too_large(self.score)

    def _prepared(self) -> nw.LazyFrame[Any]:
        """Return scores, codes and weights as integers: element-wise work only."""
        return self._rounded(self._elements(), scale(self._grid))

    def _rounded(
        self, frame: nw.LazyFrame[Any], factors: tuple[Any, Any], units: Any = None
    ) -> nw.LazyFrame[Any]:
        """Make integers of the weights, and of the parts of columns."""
        for column in self._added:
            frame = ex.rounded(frame, column.own, factors)
        return rounded(frame, self._parts, units)

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
        columns += [self.sums.value(one).alias(one.own) for one in self.sums.columns]
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

    def _count(self, pieces: list[Piece], seen: Seen) -> Histogram:
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
        found = collect(frame)
        if tell is not None:
            counted = int(found[ex.ROWS].sum())
            tell(progress.Progress(self.passes, rows or counted, rows or counted, counted if rows else None))
        return found

    def _groups(
        self, got: Collected, low: NDArray[Any], high: NDArray[Any], counted: NDArray[np.bool_] | None = None
    ) -> Histogram:
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
        return Histogram(low, high, sides[1], sides[0], rows, tuple(added))

    def _table(self, groups: Histogram, ranges: Ranges | None = None) -> Histogram:
        """Remember the buckets for the next count, and return them."""
        self._seen = [*self._seen[:1], Seen(groups, ranges)]
        return self._typed(groups)

    def _typed(self, groups: Histogram) -> Histogram:
        """Return groups with ends of the type of the scores."""
        return replace(groups, low=groups.low.astype(self._scores), high=groups.high.astype(self._scores))

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


def summary_of(groups: Histogram, grid: FixedPoint) -> Summary:
    """Return what the rows of some groups are, which ascend."""
    pos, neg, rows = (int(side.sum()) for side in groups.sums[:3])
    return Summary(rows, pos, neg, grid, float(groups.low[0]), float(groups.high[-1]))


def _compare(expected: int | None, rows: NDArray[np.int64]) -> None:
    """Raise if the rows are not those that were counted before, where that is known."""
    found = int(rows.sum())
    if expected is not None and expected != found:
        raise InvalidInputError.changed(expected=expected, found=found)


def _key(bucket: nw.Expr) -> nw.Expr:
    """Join the number of a bucket and the code of a row to one integer; gaps are below zero."""
    return (bucket * float(ex.CODES) + nw.col(ex.CODE)).cast(nw.Int64()).alias(ex.KEY)


def _check_number(name: str, dtype: DType) -> None:
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise file_errors.not_a_number_type(name=name, type_=str(dtype))

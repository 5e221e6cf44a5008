"""NumPy arrays as a source: blocked, threaded, no copy of a large input.

Blocks of scores stay in the processor's cache while they are checked, binned, joined with their labels
and counted by one `numpy.bincount`. NumPy releases the interpreter lock in all of this except the
count, so two threads take turns: one counts while the other prepares a block.

The first look at the data answers `summary` and the first `histogram` together; later questions
about few rows are answered from a copy of just these.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cutpoints._data import added_columns
from cutpoints._data.array_input import as_array, as_floats, as_weights, refuse_nan, same_length
from cutpoints._data.labels import Counts, Labels
from cutpoints._kernel.binning import Radix, choose
from cutpoints._kernel.histogram import (
    Block,
    Sides,
    added,
    inside,
    joined,
    table,
    tally,
    unique_scores,
    within,
)
from cutpoints._kernel.tables import (
    BATCH_ROWS,
    DIRECT_ROWS,
    SAMPLE_ROWS,
    ColumnTotals,
    Histogram,
    Ranges,
    Rows,
    Scores,
    Summary,
)
from cutpoints._kernel.weights import BLOCK_ROWS, FixedPoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cutpoints.metrics.columns import Column

T = TypeVar("T")


@dataclass(frozen=True)
class Stream:
    """One reading of the rows: each adds its weight (or 1) to the side that its label names."""

    labels: Labels | int
    weights: Scores | None = None
    constant: float | None = None
    """The weight of every row, if there is just one: rows are then counted."""

    @classmethod
    def of(cls, labels: Labels | int, weights: Scores | None) -> Stream:
        """Take labels and weights, and see whether all weights are equal."""
        if isinstance(labels, int) or weights is None or len(weights) == 0:
            return cls(labels, weights)
        first = float(weights[0])
        blocks = (weights[i : i + BATCH_ROWS] for i in range(0, len(weights), BATCH_ROWS))
        if first == 0 or not all((block == first).all() for block in blocks):
            return cls(labels, weights)
        return cls(labels) if first == 1 else cls(labels, weights, first)

    @property
    def added(self) -> Scores | None:
        """The weights that are added up; None where rows are counted."""
        return self.weights if self.constant is None else None

    def check(self, part: slice) -> tuple[Sides, Counts | None]:
        """Return 1 for rows whose weight goes to the positives and 0 for others, and their counts."""
        return (self.labels, None) if isinstance(self.labels, int) else self.labels.check(part)

    def read(self, part: slice, index: Any) -> tuple[Sides, Scores | None]:
        """Return sides and weights at some positions of a block."""
        sides = self.labels if isinstance(self.labels, int) else self.labels.read(part, index)
        return sides, None if self.added is None else self.added[part][index]


class ArraySource:
    """Rows in memory: scores and one or two streams of weights. Answers the three questions.

    `columns` are added up beside the weights of the one stream.
    """

    def __init__(
        self,
        scores: Scores,
        streams: tuple[Stream, ...],
        *,
        score_name: str = "y_score",
        columns: dict[Column, Scores] | None = None,
    ) -> None:
        self.scores = scores
        self.streams = streams
        self.columns = columns or {}
        self.score_name = score_name
        self.passes = 0
        self.direct_rows = DIRECT_ROWS
        self.rows_limit = len(scores)
        self._known: tuple[Summary, Histogram | None] | None = None
        self._kept: tuple[Ranges, Block] | None = None
        self._sorted: Histogram | None = None
        plain = streams[0].added is None and not self.columns
        self._rows = BATCH_ROWS if plain else BLOCK_ROWS
        self._threads = min(os.cpu_count() or 1, 4) if len(scores) > 4 * self._rows else 1

    @classmethod
    def labelled(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        columns: dict[Column, Scores] | None = None,
    ) -> ArraySource:
        """Take rows with labels, and weights if there are any."""
        labels = Labels(as_array(y_true, "y_true"), pos_label)
        scores = as_floats(y_score, "y_score")
        weights = None if sample_weight is None else as_weights(sample_weight, "sample_weight")
        same_length({"y_true": labels, "y_score": scores, "sample_weight": weights})
        return cls(scores, (Stream.of(labels, weights),), columns=columns)

    @classmethod
    def counted(cls, y_score: Any, *, positives: Any, negatives: Any) -> ArraySource:
        """Take rows that say how much they add to each side: counts, soft labels, costs."""
        scores = as_floats(y_score, "y_score")
        sides = as_weights(positives, "positives"), as_weights(negatives, "negatives")
        same_length({"y_score": scores, "positives": sides[0], "negatives": sides[1]})
        return cls(scores, (Stream(1, sides[0]), Stream(0, sides[1])))

    # --- the three questions

    def summary(self) -> Summary:
        """Return rows, totals and the range of scores; raise for NaN and bad labels."""
        return self._first_look()[0]

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count into bins: one pass over the data, or none where the rows were kept."""
        summary, first = self._first_look()
        if ranges is None:
            return first or self._histogram(summary.grid)
        kept = self._inside(ranges)
        parts = (kept.part(slice(i, i + BLOCK_ROWS)) for i in range(0, len(kept.scores), BLOCK_ROWS))
        buckets = Radix.over(ranges)
        return table(tally(parts, buckets, summary.grid), buckets)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Collect and sort: a pass over the data unless the rows were kept, and a sort."""
        if ranges is None and self._known is None:
            self._known = self._sort_all(self._grid()), None
        summary = self.summary()
        if self._sorted is not None:
            found = self._sorted if ranges is None else self._sorted.at(inside(self._sorted.low, ranges))
            return found.distinct()
        if ranges is None or ranges.low[0] <= summary.low <= summary.high <= ranges.high[0]:
            self.passes += 1
            return unique_scores(self._block(slice(None), slice(None)), summary.grid).distinct()
        return unique_scores(self._inside(ranges), summary.grid).distinct()

    # --- how

    def _block(self, part: slice, index: Any) -> Block:
        readings = [stream.read(part, index) for stream in self.streams]
        return Block(self.scores[part][index], readings, columns=self._added_up(part, index))

    @cached_property
    def _parts(self) -> list[ColumnTotals]:
        """What is added up of the columns, and on which grids."""
        rows = len(self.scores)
        return [
            one for column in self.columns for one in added_columns.parts(column, self._ends(column), rows)
        ]

    def _ends(self, column: Column) -> added_columns.Ends:
        starts = range(0, len(self.scores), self._rows)
        return added_columns.Ends.of(self._values(column, slice(i, i + self._rows)) for i in starts)

    def _values(self, column: Column, part: slice = slice(None), index: Any = slice(None)) -> Any:
        """Return what rows add: a column times the weights."""
        weights = self.streams[0].weights
        return added_columns.times(
            self.columns[column][part][index], None if weights is None else weights[part][index]
        )

    def _added_up(self, part: slice, index: Any = slice(None)) -> tuple[NDArray[np.float64], ...]:
        values = {column: self._values(column, part, index) for column in self.columns}
        return added_columns.on_grid(self._parts, values)

    def _sample(self) -> Scores:
        sample = np.ascontiguousarray(self.scores[:: max(1, len(self.scores) // SAMPLE_ROWS)])
        return sample[~np.isnan(sample)]

    def _histogram(self, grid: FixedPoint) -> Histogram:
        """Count all rows in a pass."""
        buckets = choose(self._sample())
        every = slice(None)
        counts = self._each(lambda parts: tally((self._block(p, every) for p in parts), buckets, grid))
        return table(added(counts), buckets)

    def _each(self, work: Callable[[list[slice]], T]) -> list[T]:
        """Make a pass: deal the blocks out to the threads in turn."""
        self.passes += 1
        blocks = [slice(i, i + self._rows) for i in range(0, len(self.scores), self._rows)]
        if self._threads == 1:
            return [work(blocks)]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(work, [blocks[i :: self._threads] for i in range(self._threads)]))

    def _first_look(self) -> tuple[Summary, Histogram | None]:
        """Check and summarize, and count on the way.

        Few rows will be sorted, so for them the count is not worth the while.
        """
        if self._known is not None:
            return self._known
        grid, parts = self._grid(), self._parts
        if len(self.scores) <= self.direct_rows:
            self._known = self._sort_all(grid), None
            return self._known
        buckets = choose(self._sample())
        ends: list[tuple[Any, Any]] = []
        counts: list[tuple[Counts | None, ...]] = []

        def checked(blocks: list[slice]) -> Any:
            for part in blocks:
                scores = self.scores[part]
                low, high = scores.min(), scores.max()
                ends.append((low, high))
                sides, labels = zip(*(stream.check(part) for stream in self.streams), strict=True)
                counts.append(labels)
                weights = (None if s.added is None else s.added[part] for s in self.streams)
                if low == low:
                    readings = list(zip(sides, weights, strict=True))
                    yield Block(scores, readings, low, high, self._added_up(part))

        tallies = self._each(lambda blocks: tally(checked(blocks), buckets, grid))
        low, high = np.min([e[0] for e in ends]), np.max([e[1] for e in ends])
        if np.isnan(low):
            refuse_nan(self.scores, self.score_name)
        for i, stream in enumerate(self.streams):
            if isinstance(stream.labels, Labels):
                stream.labels.settle([c[i] for c in counts])  # type: ignore[misc]
        first = table(added(tallies), buckets)
        positives, negatives = int(first.pos.sum()), int(first.neg.sum())
        columns = added_columns.with_totals(parts, first.columns)
        summary = Summary(len(self.scores), positives, negatives, grid, float(low), float(high), columns)
        self._known = summary, first
        return self._known

    def _sort_all(self, grid: FixedPoint) -> Summary:
        """Check and sort few rows."""
        self.passes += 1
        if np.isnan(self.scores.min()):
            refuse_nan(self.scores, self.score_name)
        for stream in self.streams:
            if isinstance(stream.labels, Labels):
                stream.labels.settle([stream.labels.check(slice(None))[1]])
        self._sorted = found = unique_scores(self._block(slice(None), slice(None)), grid)
        low, high = float(found.low[0]), float(found.low[-1])
        pos, neg = int(found.pos.sum()), int(found.neg.sum())
        columns = added_columns.with_totals(self._parts, found.columns)
        return Summary(len(self.scores), pos, neg, grid, low, high, columns)

    def _grid(self) -> FixedPoint:
        """Return the grid of the weights."""
        if self.streams[0].constant is not None:
            return FixedPoint.constant(self.streams[0].constant)
        added = [stream.added for stream in self.streams if stream.added is not None]
        if not added:
            return FixedPoint()
        largest = max(float(weights.max(initial=0.0)) for weights in added)
        return FixedPoint.fitting(largest=largest, rows=len(self.scores))

    def _inside(self, ranges: Ranges) -> Block:
        """Return a copy of the rows in these ranges: a pass, or none if more of them were copied before."""
        if self._kept is None or not within(ranges, self._kept[0]):

            def collect(parts: list[slice]) -> list[Block]:
                return [self._block(part, inside(self.scores[part], ranges)) for part in parts]

            self._kept = ranges, joined([block for found in self._each(collect) for block in found])
        known, block = self._kept
        return block if known is ranges else block.part(inside(block.scores, ranges))

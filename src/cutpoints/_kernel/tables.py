"""The answers to the three questions: what the data are, how much is in each bin, which scores there are.

A search only sees these, wherever the rows are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from cutpoints._kernel.weights import FixedPoint
    from cutpoints.metrics.columns import Column

DIRECT_ROWS = 1 << 14
"""Up to this many rows in memory are sorted and compared one by one: to count them first is no faster."""
FETCHED_ROWS = 1 << 18
"""Up to this many rows, all or those that are left, are fetched from a file or an engine: to count them first
would cost as much, and where data change between passes every row is compared."""
MEMORY_ROWS = 1 << 22
"""Rows, or distinct scores of at most a hundred bytes each, that are held in memory; more are
read in passes."""
COLLECT_FACTOR = 8
"""Up to this many times what fits in memory with room to spare is fetched where counting does not help."""
SWEEP_SCORES = COLLECT_FACTOR * MEMORY_ROWS
"""A search that needs more distinct scores at once is refused: they would not fit in memory."""
BATCH_ROWS = 1 << 18
"""Rows per batch: enough that two threads seldom wait for the interpreter lock between calls, few enough
that the work stays in the cache."""
SAMPLE_ROWS = 1 << 13
"""Rows of the sample that places the buckets."""

Scores = NDArray[np.floating[Any]]
Sums = NDArray[np.int64]
"""Sums of encoded weights, see `weights.FixedPoint`."""


ColumnSums = tuple[Sums, ...]
"""For each of `Summary.columns` two sums: over positives, then over negatives."""


class Ranges(NamedTuple):
    """Closed, disjoint intervals of scores, ascending; ``low[i] <= score <= high[i]``."""

    low: Scores
    high: Scores


class ColumnTotals(NamedTuple):
    """What a column adds up to in each class, in units of its grid: its positive or its negative values."""

    column: Column
    sign: int
    grid: FixedPoint
    positives: int = 0
    negatives: int = 0


@dataclass(frozen=True)
class Summary:
    """What the data are: how many rows, the total of each class in units of the grid, the range of scores."""

    rows: int
    positives: int
    negatives: int
    grid: FixedPoint
    low: float
    high: float
    columns: tuple[ColumnTotals, ...] = ()
    """The columns that a goal adds up."""

    @property
    def resolution(self) -> float:
        """How far a single weight or value may have moved when it was rounded."""
        return max(self.grid.resolution, *(one.grid.resolution for one in self.columns), 0.0)

    @cached_property
    def totals(self) -> tuple[Fraction, Fraction]:
        """P and N, exactly."""
        return self.positives * self.grid.step, self.negatives * self.grid.step

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """P and N as floats."""
        positives, negatives = self.totals
        return float(positives), float(negatives)

    def confusion(self, tp: int, fp: int) -> dict[str, Fraction]:
        """Return the exact confusion for sums, in units of the grid, that are called positive."""
        step = self.grid.step
        counts = {"tp": tp, "fp": fp, "fn": self.positives - tp, "tn": self.negatives - fp}
        return {name: count * step for name, count in counts.items()}


@dataclass(frozen=True)
class Rows:
    """Distinct scores, ascending, with the sums of their rows. Equal scores are never split."""

    scores: Scores
    pos: Sums
    neg: Sums
    rows: int
    columns: ColumnSums = ()


@dataclass(frozen=True, eq=False)
class Histogram:
    """The non-empty bins of the asked ranges, in ascending order of scores.

    All rows of bin k have scores in the closed interval from ``low[k]`` to ``high[k]``, and all rows of
    the data with scores in that interval are in bin k.

    With `shares` the score of a row is the share of positives in its weight (calibrated probabilities,
    to within one part in 2**30): TP against FP is then a concave curve.
    """

    low: Scores
    high: Scores
    pos: Sums
    neg: Sums
    rows: NDArray[np.int64]
    columns: ColumnSums = ()
    shares: bool = False

    @property
    def sums(self) -> tuple[NDArray[np.int64], ...]:
        """All that is added up."""
        return self.pos, self.neg, self.rows, *self.columns

    def with_sums(self, low: Scores, high: Scores, sums: Iterable[NDArray[np.int64]]) -> Histogram:
        """Return other bins, of the same kind; `sums` are in the order of `sums`."""
        pos, neg, rows, *columns = sums
        return Histogram(low, high, pos, neg, rows, tuple(columns), self.shares)

    def at(self, index: Any) -> Histogram:
        """Return some of the bins."""
        low = self.low[index]
        high = low if self.high is self.low else self.high[index]
        return self.with_sums(low, high, (side[index] for side in self.sums))

    def span(self, index: Any) -> Ranges:
        """Return the ends of some bins."""
        return Ranges(self.low[index], self.high[index])

    def distinct(self) -> Rows:
        """Return bins of one score each as what they are."""
        return Rows(self.low, self.pos, self.neg, int(self.rows.sum()), self.columns)

    @staticmethod
    def together(parts: Sequence[Histogram]) -> Histogram:
        """Return the bins of several counts."""
        if len(parts) == 1:
            return parts[0]
        low, high, *sums = map(np.concatenate, zip(*((p.low, p.high, *p.sums) for p in parts), strict=True))
        return parts[0].with_sums(low, high, sums)

    def joined(self) -> Histogram:
        """Sort by score, and make one bin of those that overlap or touch; -0.0 and 0.0 touch.

        So all rows of the data with scores between the ends of a bin are in it, whichever way an engine
        rounded when it dealt them out; and of bins of one score, those of equal scores become one.
        """
        return self.at(np.argsort(self.low, kind="stable")).touching()  # merges ascending runs

    def touching(self) -> Histogram:
        """Make one bin of those that overlap or touch; their low ends ascend."""
        reach = np.maximum.accumulate(self.high)
        return self.merged(np.flatnonzero(np.append(len(reach) > 0, self.low[1:] > reach[:-1])))

    def merged(self, first: NDArray[np.intp]) -> Histogram:
        """Make one bin of those from each of these positions to the next; they are in order."""
        zero = self.low.dtype.type(0)
        low = self.low[first] + zero  # -0.0 becomes 0.0
        if len(first) == len(self.low):
            return replace(self, low=low, high=self.high + zero)
        # Running sums are faster than np.add.reduceat, and as exact: no sum of integers overflows.
        last = np.append(first[1:], len(self.low)) - 1
        sums = (np.diff(np.cumsum(side)[last], prepend=0) for side in self.sums)
        return self.with_sums(low, np.maximum.reduceat(self.high, first) + zero, sums)

"""The answers to the three questions: what the data are, how much is in each bin, which scores there are.

A search only sees these, wherever the rows are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from cutpoints._kernel.weights import FixedPoint
    from cutpoints.metrics.columns import Column

DIRECT_ROWS = 100_000
"""Up to this many rows in memory a sort is as fast as two passes."""
MEMORY_ROWS = 1 << 22
"""Rows, or distinct scores of at most a hundred bytes each, that are held in memory; more are
read in passes."""
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
class Histogram:
    """The non-empty bins of the asked ranges, in ascending order of scores.

    All rows of bin k have scores in the closed interval that `span` gives for it, and all rows of the
    data with scores in that interval are in bin k.

    With `shares` the score of a row is the share of positives in its weight (calibrated probabilities,
    to within one part in 2**30): TP against FP is then a concave curve.
    """

    pos: Sums
    neg: Sums
    rows: NDArray[np.int64]
    span: Callable[[NDArray[np.intp]], Ranges]
    shares: bool = False
    columns: ColumnSums = ()


@dataclass(frozen=True)
class Rows:
    """Distinct scores, ascending, with the sums of their rows. Equal scores are never split."""

    scores: Scores
    pos: Sums
    neg: Sums
    rows: int
    columns: ColumnSums = ()

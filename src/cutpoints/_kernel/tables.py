"""The answers to the three questions: what the data are, how much is in each bin, which scores there are.

A search only sees these, wherever the rows are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from cutpoints._kernel.masses import Masses, Unit

SMALL = 1 << 15
"""Below so many rows a sort is as fast as two passes."""

Scores = NDArray[np.floating[Any]]


class Ranges(NamedTuple):
    """Closed, disjoint intervals of scores, ascending; ``low[i] <= score <= high[i]``."""

    low: Scores
    high: Scores


class Counts(Mapping[str, "Fraction"]):
    """The four masses of a confusion by name: exact fractions, made when they are looked at."""

    __slots__ = ("unit", "whole")

    def __init__(self, unit: Unit, whole: dict[str, int]) -> None:
        self.unit, self.whole = unit, whole

    def __getitem__(self, name: str) -> Fraction:
        return self.unit.fraction(self.whole[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True)
class Summary:
    """What the data are: `rows` of them, the total masses in units of `unit`, the range of scores."""

    rows: int
    positives: int
    negatives: int
    unit: Unit
    low: float
    high: float

    @cached_property
    def totals(self) -> tuple[Fraction, Fraction]:
        """The masses P and N."""
        return self.unit.fraction(self.positives), self.unit.fraction(self.negatives)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """The masses P and N, as floats."""
        return float(self.unit.number(self.positives)), float(self.unit.number(self.negatives))

    def confusion(self, tp: int, fp: int) -> Counts:
        """Return the exact confusion for the masses that are called positive, in units."""
        return Counts(self.unit, self.counts(tp, fp))

    def counts(self, tp: int, fp: int) -> dict[str, int]:
        """Return the four masses of a confusion in units."""
        return {"tp": tp, "fp": fp, "fn": self.positives - tp, "tn": self.negatives - fp}


@dataclass(frozen=True)
class Histogram:
    """The non-empty buckets of the asked ranges, in ascending order of scores.

    All rows of bucket k have scores in the closed interval that `span` gives for it, and all rows
    of the data with scores in that interval are in bucket k.

    With `shares` the score of a row is the share of positives in its mass (calibrated
    probabilities, to within one part in 2**40): TP against FP is then a concave curve.
    """

    pos: Masses
    neg: Masses
    rows: NDArray[np.int64]
    span: Callable[[NDArray[np.intp]], Ranges]
    shares: bool = False


@dataclass(frozen=True)
class Rows:
    """Distinct scores, ascending, with the masses of their rows. Equal scores are never split."""

    scores: Scores
    pos: Masses
    neg: Masses
    rows: int

    @property
    def edges(self) -> tuple[Scores, NDArray[np.bool_] | None]:
        """The scores as they were sorted, descending, and where each begins, ascending (None: everywhere).

        Between inf and -inf; equal ones may come more than once, for whom it is dear to tell them apart.
        `Masses.roughly_from_top` has the running sums of these.
        """
        return framed(self.scores)[::-1], None


def framed(scores: Scores) -> Scores:
    """Put scores between -inf and inf."""
    edges = np.empty(len(scores) + 2, dtype=scores.dtype)
    edges[0], edges[1:-1], edges[-1] = -np.inf, scores, np.inf
    return edges

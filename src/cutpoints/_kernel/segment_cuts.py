"""The cuts of all segments, one segment after the other, on one grid of weights.

Sums of different segments can be added up, since they are multiples of the same step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._kernel.cuts import Cuts
from cutpoints._kernel.tables import Summary

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._kernel.tables import Scores, Sums
    from cutpoints._kernel.weights import FixedPoint


def by_segment(segments: NDArray[np.integer[Any]], count: int) -> NDArray[np.intp]:
    """Return the order of rows by their segments, numbers below `count`; it is kept within each of them."""
    small = segments.astype(np.uint16) if count <= 1 << 16 else segments  # a stable sort of these is fast
    return np.argsort(small, kind="stable")


@dataclass(frozen=True)
class SegmentCuts:
    """Every cut of every segment, thresholds descending in each; `tp` and `fp` are sums of that segment.

    The cuts of segment g are ``first[g]`` to ``first[g + 1]``; there is at least one. The last calls
    all rows positive, so its sums are the totals of the segment.
    """

    thresholds: Scores
    below: Scores
    tp: Sums
    fp: Sums
    first: NDArray[np.intp]
    rows: NDArray[np.int64]
    grid: FixedPoint

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def of(
        cls,
        scores: Scores,
        segments: NDArray[np.integer[Any]],
        pos: Sums,
        neg: Sums,
        *,
        grid: FixedPoint,
        rows: NDArray[np.int64],
    ) -> SegmentCuts:
        """Sort rows, or sums of rows of equal score, by segment and score.

        `segments` are numbers from 0; `rows` says how many rows each has.
        """
        count = len(rows)
        order = np.argsort(-scores)
        order = order[by_segment(segments[order], count)]
        ranked = scores[order] + scores.dtype.type(0)  # -0.0 becomes 0.0
        code = segments[order]
        last = np.ones(len(order), dtype=np.bool_)  # the last row of those with equal scores
        last[:-1] = (ranked[1:] != ranked[:-1]) | (code[1:] != code[:-1])
        ends = np.flatnonzero(last)
        ranked, code = ranked[ends], code[ends]
        sizes = np.bincount(code, minlength=count)
        start = np.cumsum(sizes) - sizes
        none = ranked[start] != np.inf  # with a score of +inf no threshold calls no row positive
        first = np.concatenate([[0], np.cumsum(sizes + none)]).astype(np.intp)
        place = np.arange(len(ends)) + np.cumsum(none)[code]
        thresholds = np.full(first[-1], np.inf, dtype=scores.dtype)
        thresholds[place] = ranked
        below = np.append(thresholds[1:], scores.dtype.type(-np.inf))
        below[first[1:] - 1] = -np.inf

        def running(values: Sums) -> Sums:
            """Add up within each segment."""
            sums = np.cumsum(values[order])[ends]
            found = np.zeros(first[-1], dtype=np.int64)
            found[place] = sums - np.concatenate([[0], sums])[start][code]
            return found

        return cls(thresholds, below, running(pos), running(neg), first, rows, grid)

    @cached_property
    def segment(self) -> NDArray[np.intp]:
        """The segment of each cut."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    @cached_property
    def positives(self) -> Sums:
        """The positives of each segment, in units of the grid."""
        return self.tp[self.first[1:] - 1]

    @cached_property
    def negatives(self) -> Sums:
        """The negatives of each segment, in units of the grid."""
        return self.fp[self.first[1:] - 1]

    @cached_property
    def total(self) -> Summary:
        """All rows together."""
        return Summary(
            int(self.rows.sum()), int(self.positives.sum()), int(self.negatives.sum()), self.grid,
            float(self.thresholds[self.first[1:] - 1].min()), float(self._highest().max()),
        )  # fmt: skip

    def _highest(self) -> NDArray[np.float64]:
        """Return the highest score of each segment."""
        top = self.thresholds[self.first[:-1]].astype(np.float64)
        none = self.tp[self.first[:-1]] + self.fp[self.first[:-1]] == 0
        return np.where(none & np.isinf(top), self.below[self.first[:-1]], top)

    def summary(self, segment: int) -> Summary:
        """Return what the rows of one segment are."""
        return Summary(
            int(self.rows[segment]), int(self.positives[segment]), int(self.negatives[segment]), self.grid,
            float(self.thresholds[self.first[segment + 1] - 1]), float(self._highest()[segment]),
        )  # fmt: skip

    def cuts(self, segment: int, summary: Summary | None = None) -> Cuts:
        """Return the cuts of one segment."""
        part = slice(self.first[segment], self.first[segment + 1])
        made = summary or self.summary(segment)
        return Cuts(made, self.thresholds[part], self.below[part], self.tp[part], self.fp[part])

    def at(self, thresholds: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the cut of each segment that its threshold makes."""
        found = self.first[:-1].copy()
        for segment, threshold in enumerate(thresholds):
            cuts = self.thresholds[self.first[segment] : self.first[segment + 1]].astype(np.float64)
            found[segment] += max(0, int(np.searchsorted(-cuts, -threshold, side="right")) - 1)
        return found

    def confusion(self, cut: int) -> dict[str, Fraction]:
        """Return the exact confusion of a segment at one of its cuts, by its place in all of them."""
        segment = int(self.segment[cut])
        step = self.grid.step
        tp, fp = int(self.tp[cut]), int(self.fp[cut])
        fn, tn = int(self.positives[segment]) - tp, int(self.negatives[segment]) - fp
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        return {name: count * step for name, count in counts.items()}

    def split(self, shares: Sums) -> SegmentCuts:
        """Return the same cuts with the sums of some rows only: `shares` are the sums at each cut's score."""
        tp, fp = (self.running(share) for share in shares)
        return replace(self, tp=tp, fp=fp)

    def running(self, added: Sums) -> Sums:
        """Add up what each cut adds to the one before it, segment by segment."""
        sums = np.cumsum(added)
        before = np.concatenate([[0], sums[self.first[1:-1] - 1]])
        return sums - np.repeat(before, np.diff(self.first))

    def added(self) -> tuple[Sums, Sums]:
        """Return what each cut adds to the one before it: the sums of the rows at its threshold."""
        starts = self.first[:-1]
        found = []
        for sums in (self.tp, self.fp):
            steps = np.diff(sums, prepend=0)
            steps[starts] = sums[starts]
            found.append(steps)
        return found[0], found[1]

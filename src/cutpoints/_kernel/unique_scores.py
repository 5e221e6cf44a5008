"""Rows -> exact sums per distinct score: sorted, and equal scores added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.histogram import Block, inside
from cutpoints._kernel.tables import ColumnSums, Histogram, Ranges, Rows, Scores, Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.binning import Buckets
    from cutpoints._kernel.weights import FixedPoint


@dataclass(frozen=True)
class UniqueScores:
    """Distinct scores, ascending, with their sums and how many rows have them."""

    scores: Scores
    pos: Sums
    neg: Sums
    counts: NDArray[np.int64]
    columns: ColumnSums = ()

    def rows(self, ranges: Ranges | None = None) -> Rows:
        """Return the scores in some ranges (all: None)."""
        if ranges is None:
            return Rows(self.scores, self.pos, self.neg, int(self.counts.sum()), self.columns)
        index = inside(self.scores, ranges)
        pos, neg, *columns = (side[index] for side in (self.pos, self.neg, *self.columns))
        return Rows(self.scores[index], pos, neg, int(self.counts[index].sum()), tuple(columns))

    def histogram(self, ranges: Ranges, buckets: Buckets) -> Histogram:
        """Count the scores in some ranges into bins."""
        index = inside(self.scores, ranges)
        scores = self.scores[index]
        place = np.empty(len(scores), np.int32)
        buckets.place(scores, np.empty_like(scores), place, -np.inf, np.inf)
        place >>= 1
        starts = _starts(place)
        filled = place[starts]
        pos, neg, counts, *columns = (
            _reduced(side[index], starts) for side in (self.pos, self.neg, self.counts, *self.columns)
        )
        return Histogram(
            pos,
            neg,
            counts,
            span=lambda chosen: buckets.span(filled[chosen].astype(np.intp)),
            columns=tuple(columns),
        )

    @classmethod
    def merged(cls, parts: Sequence[UniqueScores]) -> UniqueScores:
        """Return the scores of all parts, those that are in several once."""
        if len(parts) == 1:
            return parts[0]
        scores, counts, *sums = (
            np.concatenate(side)
            for side in zip(*((p.scores, p.counts, p.pos, p.neg, *p.columns) for p in parts), strict=True)
        )
        # Ascending runs are merged: a stable sort knows how.
        return _unique(scores, sums, counts, order=np.argsort(scores, kind="stable"))


def unique_scores(block: Block, grid: FixedPoint) -> UniqueScores:
    """Sort rows and add up those of equal score."""
    sums = [*block.sums(grid), *block.column_sums()]
    return _unique(block.scores, sums, None, order=np.argsort(block.scores))


def _unique(
    scores: Scores, sums: list[Sums], counts: NDArray[np.int64] | None, *, order: NDArray[np.intp]
) -> UniqueScores:
    """Add up what stands at equal scores; without counts each stands for one row."""
    ranked = scores[order] + scores.dtype.type(0)  # -0.0 becomes 0.0
    starts = _starts(ranked)
    pos, neg, *columns = (_reduced(side[order], starts) for side in sums)
    rows = np.diff(starts, append=len(ranked)) if counts is None else _reduced(counts[order], starts)
    return UniqueScores(ranked[starts], pos, neg, rows, tuple(columns))


def _starts(ranked: NDArray[np.generic]) -> NDArray[np.intp]:
    """Return where runs of equal values start."""
    new = np.ones(len(ranked), dtype=np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    return np.flatnonzero(new)


def _reduced(values: NDArray[np.int64], starts: NDArray[np.intp]) -> NDArray[np.int64]:
    """Add up runs of values."""
    if len(starts) == len(values):
        return values
    # Faster than np.add.reduceat, and as exact: no sum of integers overflows.
    return np.diff(np.append(np.cumsum(values)[starts[1:] - 1], values.sum()), prepend=0)

"""The frontier: the most TP for any FP, with one threshold per segment.

It is the upper hull of all totals: the edges of the segments' own hulls, steepest first. Each corner is one
threshold per segment, the best for some price of a false alarm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._equality import compared_by_value
from cutpoints._shown import Tabular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._joint.problem import Problem
    from cutpoints._kernel.segment_cuts import SegmentCuts
    from cutpoints._search.hulls import Index
    from cutpoints._search.points import Points


class FrontierCuts:
    """The corners of the frontier as cuts: which cut each segment has at each corner."""

    def __init__(self, points: Points) -> None:
        self._points, self._hull = points, points.upper
        ends, dx, dy = self._hull.edges(points)
        order = np.argsort(-np.arctan2(dy, dx), kind="stable")
        self._moves = self._hull.segment[ends[order]]
        to = self._hull.at[ends[order]]
        before = self._hull.at[ends[order] - 1]
        low = self._hull.at[self._hull.first[:-1]]
        self.tp, self.fp = (
            int(side[low].sum()) + np.concatenate([[0], np.cumsum(side[to] - side[before])])
            for side in (points.tp, points.fp)
        )

    def __len__(self) -> int:
        return len(self.tp)

    def cuts(self, corner: int) -> Index:
        """Return the cut of each segment at a corner, by its place among all cuts."""
        moved = np.bincount(self._moves[:corner], minlength=len(self._points))
        return self._points.cut[self._hull.at[self._hull.first[:-1] + moved]]

    def entry(self, cuts: SegmentCuts) -> Index:
        """Return the first corner at which the rows of each cut's score are called positive.

        `len(self)` for rows that no corner calls positive.
        """
        hull = self._hull
        reached = np.zeros(len(hull.at), dtype=np.intp)  # the corner of each vertex; 0 for the first ones
        later = np.ones(len(hull.at), dtype=np.bool_)
        later[hull.first[:-1]] = False
        reached[later] = np.argsort(self._moves, kind="stable") + 1
        vertex = np.searchsorted(self._points.cut[hull.at], np.arange(len(cuts.tp)))
        never = np.append(hull.segment, len(self._points))[vertex] != cuts.segment
        return np.where(never, len(self), np.append(reached, len(self))[vertex])


@compared_by_value
class Frontier(Tabular):
    """The most true positives for any number of false positives, corner by corner.

    Attributes
    ----------
    tp, fp : ndarray
        The totals over all segments, ascending.
    recall, precision, fpr, predicted_positive, value : ndarray of float
        What they make; NaN where undefined. `value` is the objective.

    Examples
    --------
    >>> import cutpoints as cp
    >>> y, p, country = [0, 1, 1, 0, 1, 1], [0.2, 0.6, 0.9, 0.7, 0.8, 0.3], ["DE"] * 3 + ["FR"] * 3
    >>> frontier = cp.find_joint(y, p, by=country, maximize="f1").frontier()
    >>> frontier.tp.tolist(), frontier.fp.tolist()
    ([0, 2, 3, 4, 4], [0, 0, 0, 1, 2])
    >>> frontier.thresholds(2)
    {'DE': 0.6, 'FR': 0.8}
    """

    def __init__(self, problem: Problem, keys: list[Any]) -> None:
        self._cuts, self._keys = problem.cuts, keys
        self._corners = FrontierCuts(problem.points)
        total = problem.cuts.total
        number = total.grid.decode
        self.tp: NDArray[Any] = self._numbers(self._corners.tp)
        self.fp: NDArray[Any] = self._numbers(self._corners.fp)
        tp, fp = number(self._corners.tp), number(self._corners.fp)
        positives, negatives = total.sizes
        self.predicted_positive = tp + fp
        with np.errstate(all="ignore"):
            self.recall, self.fpr, self.precision = tp / positives, fp / negatives, tp / (tp + fp)
            self.value = np.asarray(
                problem.goal.expression.evaluate(tp=tp, fp=fp, fn=positives - tp, tn=negatives - fp)
            )

    def _numbers(self, sums: NDArray[np.int64]) -> NDArray[Any]:
        grid = self._cuts.grid
        return sums if grid.step == 1 else grid.decode(sums)

    def __len__(self) -> int:
        return len(self.tp)

    def thresholds(self, corner: int) -> dict[Any, float]:
        """Return the threshold of each segment at a corner, by its position."""
        cuts = self._corners.cuts(range(len(self))[corner])
        return dict(zip(self._keys, self._cuts.thresholds[cuts].tolist(), strict=True))

    def table(self) -> dict[str, NDArray[Any]]:
        """Return the corners as columns by name."""
        names = ("tp", "fp", "predicted_positive", "recall", "fpr", "precision", "value")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        return f"<Frontier of {len(self):,} corners over {len(self._keys):,} segments>"

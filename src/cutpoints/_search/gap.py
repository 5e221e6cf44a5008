"""A bound on the largest difference of a rate between segments: a window slides over the rates.

If no two segments differ by more than the bound, all rates lie in a window ``[low, low + bound]``, where
`low` is the rate of one of the cuts. In one window each segment may pick any of its cuts inside, so it is a
joint problem without the gap. Sums of the segments' best cuts bound the value of every window at once; only
the windows whose bound is better than the best solution so far are solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._search.joint import Best, maximize
from cutpoints._search.points import ROUNDING, Points, prices
from cutpoints.exceptions import SolverError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.segment_cuts import SegmentCuts
    from cutpoints._search.hulls import Index
    from cutpoints._search.linear_goal import Linear
    from cutpoints.metrics.expression import Constraint

WINDOWS = 1_000
"""Windows that are solved one by one; beyond that the search ends, with the bound so far."""
_WHOLE = 1 << 53
_MOST_INT = 1 << 62


def rates(cuts: SegmentCuts, constraint: Constraint) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rate of each cut in its own segment: numerator, and denominator, which is 0 if undefined."""
    size = np.diff(cuts.first)
    positives, negatives = np.repeat(cuts.positives, size), np.repeat(cuts.negatives, size)
    counts = {"tp": cuts.tp, "fp": cuts.fp, "fn": positives - cuts.tp, "tn": negatives - cuts.fp}
    step = cuts.grid.step
    for kind in (np.float64, np.int64, object):
        above, under = constraint.expression.order_key(
            **{name: count.astype(kind) for name, count in counts.items()},
            step=step if kind is object else Fraction(1),
        )
        if kind is np.float64:
            small = all(np.abs(side).max() < _WHOLE for side in (above, under)) and step == 1
        elif small or kind is object:
            break
    return np.broadcast_to(above, cuts.tp.shape), np.broadcast_to(under, cuts.tp.shape)


@dataclass(frozen=True)
class Gap:
    """Where the rates of points lie, as ranks: window w has the points with ``enters <= w <= leaves``."""

    points: Points
    enters: NDArray[np.int64]
    leaves: NDArray[np.int64]
    free: NDArray[np.bool_]
    """The segments in which the rate is undefined: they take no part."""

    @classmethod
    def of(cls, points: Points, above: NDArray[Any], under: NDArray[Any], constraint: Constraint) -> Gap:
        """Take the rates of points, defined except in segments where none is, and the largest difference."""
        known = np.asarray(under != 0, dtype=np.bool_)
        some = np.flatnonzero(known)
        a, b = above[some], under[some]
        p, q = constraint.bound.numerator, constraint.bound.denominator
        exact = a.dtype != object and float(b.max(initial=1)) ** 2 * q < 1 << 51 and abs(p) < 1 << 20
        if exact:  # different fractions are then different floats, and equal ones are equal
            ends = np.concatenate([a / b, (a * q - p * b) / (b * q)])
            _, rank = np.unique(ends, return_inverse=True)
        else:
            low = [Fraction(int(x), int(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
            every = [*low, *(one - constraint.bound for one in low)]
            order = {one: i for i, one in enumerate(sorted(set(every)))}
            rank = np.array([order[one] for one in every], dtype=np.int64)
        leaves, enters = np.zeros(len(known), dtype=np.int64), np.zeros(len(known), dtype=np.int64)
        leaves[some], enters[some] = rank[: len(some)], rank[len(some) :] + constraint.strict
        free = np.bincount(points.segment[some], minlength=len(points)) == 0
        return cls(points, enters, leaves, free)

    @cached_property
    def windows(self) -> NDArray[np.int64]:
        """The windows that begin at the rate of a point."""
        return np.unique(self.leaves[~self.free[self.points.segment]])

    def inside(self, window: int) -> Points:
        """Return the points of a window; their cuts are positions among all points."""
        mask = (self.enters <= window) & (self.leaves >= window) | self.free[self.points.segment]
        every = Points(self.points.tp, self.points.fp, self.points.first, np.arange(len(mask)))
        return every.only(mask)

    def bounds(self, line: Linear) -> NDArray[Any]:
        """Return for each window the sum of the largest values of a line; NaN, or the least, for none.

        The best of a segment changes only where one of its points enters or leaves.
        """
        points = self.points
        x, y = (int(side.sum()) + 1 for side in points.largest)
        size = abs(line.constant) + 2 * abs(line.tp) * x + 2 * abs(line.fp) * y
        exact = size < _MOST_INT
        tp, fp = (points.tp, points.fp) if exact else points.floats
        a, b = (line.tp, line.fp) if exact else (float(line.tp), float(line.fp))
        values = a * tp + b * fp
        windows = self.windows
        total = np.zeros(len(windows), dtype=values.dtype)
        empty = np.zeros(len(windows), dtype=np.int64)
        for segment in range(len(points)):
            part = slice(points.first[segment], points.first[segment + 1])
            if self.free[segment]:
                total[:1] += values[part].max()
                continue
            order = np.argsort(self.leaves[part], kind="stable")
            leaves, enters, own = (side[part][order] for side in (self.leaves, self.enters, values))
            at = np.unique(np.searchsorted(windows, np.concatenate([enters, leaves + 1])))
            at = np.unique(np.concatenate([[0], at[at < len(windows)]]))
            best, none = _largest(
                own,
                np.searchsorted(leaves, windows[at], side="left"),
                np.searchsorted(enters, windows[at], side="right"),
            )
            total[at] += best - np.append(0, best[:-1]).astype(best.dtype)
            empty[at] += none.astype(np.int64) - np.append(0, none[:-1])
        found = np.cumsum(total) + (line.constant if exact else float(line.constant))
        if not exact:
            found = found + ROUNDING * len(windows) * float(size)
        return np.where(np.cumsum(empty) > 0, -_MOST_INT if exact else -np.inf, found)

    def maximize(
        self, points: Points, objective: Linear, constraints: Sequence[Linear], *, start: Index | None = None
    ) -> Best | None:
        """Return the best pick whose rates differ by no more than the bound; see `joint.maximize`."""
        assert points is self.points
        if len(self.windows) == 0:
            return maximize(points, objective, constraints, start=start)
        none = -_MOST_INT
        best = None
        if start is not None:
            tp, fp = points.total(start)
            value = Fraction(objective.at(tp, fp))
            best = Best(start, tp, fp, value, value, 0)
        bound = self.bounds(objective).astype(np.float64)
        for one in constraints:  # windows in which a constraint cannot be met
            bound[self.bounds(one) < 0] = -np.inf
        if constraints:
            bound = self._priced(bound, points, objective, constraints)
        # Floats lie within rounding of integers: a window that may be better by one is open.
        slack = 0.5 + ROUNDING * float(np.abs(bound[bound > none]).max(initial=0.0))
        left_over = -np.inf
        for _ in range(WINDOWS):
            window = int(np.argmax(bound))
            if bound[window] <= none or (best is not None and bound[window] + slack < float(best.value) + 1):
                break
            inside = self.inside(int(self.windows[window]))
            found = maximize(inside, objective, constraints)
            bound[window] = -np.inf
            if found is not None:
                if best is None or found.value > best.value:
                    best = found._replace(picks=inside.cut[found.picks])
                if not found.proven:
                    left_over = max(left_over, float(found.bound))
            if constraints:
                bound = self._priced(bound, inside, objective, constraints)
        rest = max(left_over, float(bound.max()))
        if best is None and rest > none:
            raise SolverError.undecided()
        if best is None:
            return None
        closed = rest + slack < float(best.value) + 1
        return best._replace(bound=best.value if closed else Fraction(rest + slack))

    def _priced(
        self, bound: NDArray[np.float64], inside: Points, objective: Linear, constraints: Sequence[Linear]
    ) -> NDArray[np.float64]:
        """Tighten the bounds of all windows by the prices of the constraints in one of them."""
        found = prices(inside, objective, constraints)
        if found is None or not any(found):
            return bound
        unit = 1 << 20
        line = objective.scaled(unit)
        for price, one in zip(found, constraints, strict=True):
            line = line.plus(one.scaled(round(Fraction(price) * unit)))
        return np.minimum(bound, self.bounds(line).astype(np.float64) / unit)


def _largest(
    values: NDArray[Any], start: NDArray[np.intp], stop: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the largest value of each range, 0 for an empty one, and which are empty."""
    none = stop <= start
    length = np.where(none, 1, stop - start)
    level = np.frexp(length.astype(np.float64))[1] - 1  # 2**level <= length
    best = np.zeros(len(start), dtype=values.dtype)
    table, step = values, 1
    for k in range(int(level.max(initial=0)) + 1):
        mine = np.flatnonzero((level == k) & ~none)
        best[mine] = np.maximum(table[start[mine]], table[stop[mine] - step])
        if len(table) > step:
            table = np.maximum(table[:-step], table[step:])
        step *= 2
    return best, none

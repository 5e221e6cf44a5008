"""A bound on the largest difference of a rate between segments: a window slides over the rates.

If no two segments differ by more than the bound, all rates lie in a window ``[low, low + bound]``, where
`low` is the rate of one of the cuts. In one window each segment may pick any of its cuts inside, so it is a
joint problem without the gap. Sums of the segments' best cuts bound the value of every window at once; only
the windows whose bound is better than the best solution so far are solved, and points that are in none of
them are dropped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._kernel.weights import EXACT_INTEGERS, MOST_INT
from cutpoints._search.joint import Best, maximize
from cutpoints._search.points import Points, prices
from cutpoints.exceptions import SolverError
from cutpoints.metrics.expression import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.segment_cuts import SegmentCuts
    from cutpoints._search.hulls import Index
    from cutpoints._search.linear_goal import Linear
    from cutpoints.metrics.expression import Constraint

PROBLEMS = 1_000
"""Windows, or boxes of several gaps, that are solved one by one; beyond that the search ends, with the bound
so far."""


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
            small = all(np.abs(side).max() < EXACT_INTEGERS for side in (above, under)) and step == 1
        elif small or kind is object:
            break
    return np.broadcast_to(above, cuts.tp.shape), np.broadcast_to(under, cuts.tp.shape)


@dataclass(frozen=True)
class Gap:
    """Where the rates of points lie, as ranks: window w has the points with ``enters <= w <= leaves``."""

    points: Points
    """Their cuts are places among the points of the whole problem."""
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
        places = Points(points.tp, points.fp, points.first, np.arange(len(points.tp)))
        return cls(places, enters, leaves, free)

    @cached_property
    def windows(self) -> NDArray[np.int64]:
        """The windows that begin at the rate of a point."""
        return np.unique(self.leaves[~self.free[self.points.segment]])

    def keeps(self, picks: Index) -> bool:
        """Whether there is a window with all these points."""
        known = picks[~self.free]
        return len(known) == 0 or bool(self.enters[known].max() <= self.leaves[known].min())

    def middle(self, picks: Index) -> int:
        """Return a window after one of these points has left, and before another one has entered."""
        known = picks[~self.free]
        return int(self.enters[known].max() + self.leaves[known].min()) // 2

    def between(self, low: int, high: int) -> NDArray[np.bool_]:
        """Return the points that are in one of the windows from `low` to `high`."""
        mask = (self.enters <= high) & (self.leaves >= low)
        return mask | self.free[self.points.segment] if self.free.any() else mask

    def only(self, mask: NDArray[np.bool_]) -> Gap:
        """Return some of the points."""
        return Gap(self.points.only(mask), self.enters[mask], self.leaves[mask], self.free)

    @cached_property
    def _spans(self) -> list[_Span | None]:
        """Where the best of each segment can change, and between which of its points it is then."""
        points, windows = self.points, self.windows
        found: list[_Span | None] = []
        for segment in range(len(points)):
            if self.free[segment]:
                found.append(None)
                continue
            part = slice(points.first[segment], points.first[segment + 1])
            order = np.argsort(self.leaves[part], kind="stable")
            leaves, enters = self.leaves[part][order], self.enters[part][order]
            changes = np.zeros(len(windows) + 1, dtype=np.bool_)
            changes[0] = True
            changes[np.searchsorted(windows, enters)] = True
            changes[np.searchsorted(windows, leaves, side="right")] = True
            at = np.flatnonzero(changes[:-1])
            start, stop = np.searchsorted(leaves, windows[at]), np.searchsorted(enters, windows[at], "right")
            found.append(_Span(part.start + order, at, start, stop))
        return found

    @cached_property
    def _possible(self) -> NDArray[np.bool_]:
        """The windows in which every segment has a point."""
        empty = np.zeros(len(self.windows), dtype=np.int64)
        for span in self._spans:
            if span is not None:
                none = (span.stop <= span.start).astype(np.int64)
                empty[span.at] += np.diff(none, prepend=0)
        return np.cumsum(empty) == 0

    def bounds(self, line: Linear) -> NDArray[np.float64]:
        """Return for each window the sum of the largest values of a line; -inf where a segment has no point.

        The best of a segment changes only where one of its points enters or leaves. Exact up to 2**53.
        """
        points = self.points
        x, y = (int(side.sum()) + 1 for side in points.largest)
        size = abs(line.constant) + 2 * abs(line.tp) * x + 2 * abs(line.fp) * y
        exact = size < MOST_INT
        tp, fp = (points.tp, points.fp) if exact else points.floats
        a, b = (line.tp, line.fp) if exact else (float(line.tp), float(line.fp))
        values = a * tp + b * fp
        total = np.zeros(len(self.windows), dtype=values.dtype)
        for segment, span in enumerate(self._spans):
            if span is None:
                total[:1] += values[points.first[segment] : points.first[segment + 1]].max()
                continue
            best = _largest(values[span.points], span.start, span.stop)
            total[span.at] += np.diff(best, prepend=best.dtype.type(0))
        found = (np.cumsum(total) + (line.constant if exact else float(line.constant))).astype(np.float64)
        if not exact:
            found += SLACK * len(self.windows) * float(size)
        return np.where(self._possible, found, -np.inf)

    def maximize(
        self, objective: Linear, constraints: Sequence[Linear], best: Best | None = None
    ) -> Best | None:
        """Return the best pick whose rates differ by no more than the bound; see `joint.maximize`.

        Picks are points of the whole problem. `best` is one that is known.
        """
        gap = self
        if len(gap.windows) == 0:
            found = maximize(gap.points, objective, constraints)
            if best is not None and found is not None and found.value <= best.value:
                return best._replace(bound=max(best.value, found.bound))
            return found and found._replace(picks=gap.points.cut[found.picks])
        bound = gap.bounds(objective)
        for one in constraints:  # windows in which a constraint cannot be met
            bound[gap.bounds(one) < 0] = -np.inf
        if constraints:
            bound = gap._priced(bound, gap.points, objective, constraints)
        # Floats lie within rounding of integers: a window that may be better by one is open.
        slack = 0.5 + SLACK * float(np.abs(bound[np.isfinite(bound)]).max(initial=0.0))
        left_over = -np.inf
        for _ in range(PROBLEMS):
            window = int(np.argmax(bound))
            if bound[window] == -np.inf or (best and bound[window] + slack < float(best.value) + 1):
                break
            begin = int(gap.windows[window])
            inside = gap.points.only(gap.between(begin, begin))
            found = maximize(inside, objective, constraints)
            bound[window] = -np.inf
            if found is not None:
                if best is None or found.value > best.value:
                    best = found._replace(picks=inside.cut[found.picks])
                if not found.proven:
                    left_over = max(left_over, float(found.bound))
            if constraints:
                bound = gap._priced(bound, inside, objective, constraints)
            gap, bound = gap._still_open(bound, -np.inf if best is None else float(best.value) + 1 - slack)
        rest = max(left_over, float(bound.max(initial=-np.inf)))
        if best is None and rest > -np.inf:
            raise SolverError.undecided()
        if best is None:
            return None
        closed = rest + slack < float(best.value) + 1
        return best._replace(bound=best.value if closed else Fraction(rest + slack))

    def _still_open(self, bound: NDArray[np.float64], least: float) -> tuple[Gap, NDArray[np.float64]]:
        """Drop the points that are in no window with a bound of at least this, if they are many."""
        kept = np.flatnonzero((bound >= least) & (bound > -np.inf))
        if len(kept) == 0 or 2 * (kept[-1] - kept[0] + 1) > len(bound):
            return self, bound
        gap = self.only(self.between(int(self.windows[kept[0]]), int(self.windows[kept[-1]])))
        left = np.full(len(gap.windows), -np.inf)
        left[np.searchsorted(gap.windows, self.windows[kept])] = bound[kept]
        return gap, left

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
        return np.minimum(bound, self.bounds(line) / unit)


class _Span(NamedTuple):
    """The points of a segment, by their rates, and for some windows, `at`, the range of those inside."""

    points: Index
    at: Index
    start: Index
    stop: Index


def _largest(values: NDArray[Any], start: Index, stop: Index) -> NDArray[Any]:
    """Return the largest value of each range, 0 for an empty one."""
    some = stop > start
    level = np.where(some, np.frexp((stop - start).astype(np.float64))[1] - 1, -1)  # 2**level <= length
    best = np.zeros(len(start), dtype=values.dtype)
    table, step = values, 1
    for k in range(int(level.max(initial=-1)) + 1):
        mine = np.flatnonzero(level == k)
        best[mine] = np.maximum(table[start[mine]], table[stop[mine] - step])
        if len(table) > step:
            table = np.maximum(table[:-step], table[step:])
        step *= 2
    return best


def maximize_within(
    gaps: Sequence[Gap],
    points: Points,
    objective: Linear,
    constraints: Sequence[Linear],
    *,
    start: Index | None = None,
) -> Best | None:
    """Return the best pick that keeps all gaps; see `joint.maximize`.

    The last gap is solved window by window. A pick that breaks another one has two segments that are too
    far apart: the windows of that gap are divided so that each half excludes one of the two, and the half
    with the better bound is next.
    """
    best = None
    if start is not None:
        tp, fp = points.total(start)
        value = Fraction(objective.at(tp, fp))
        best = Best(start, tp, fp, value, value, 0)
    *outer, inner = gaps
    if not outer:
        return inner.maximize(objective, constraints, best)
    boxes: list[tuple[float, int, tuple[tuple[int, int], ...]]] = []
    heappush(boxes, (-math.inf, 0, ((0, 2 * len(points.tp)),) * len(outer)))
    left_over = -math.inf
    for number in range(1, 2 * PROBLEMS, 2):
        if not boxes or (best and -boxes[0][0] <= best.value):
            break
        _, _, box = heappop(boxes)
        mask = np.ones(len(points.tp), dtype=np.bool_)
        for gap, ends in zip(outer, box, strict=True):
            mask &= gap.between(*ends)
        part = inner.only(mask)
        found = None if len(part.points.empty) else part.maximize(objective, constraints)
        if found is None or (best and found.bound <= best.value):
            continue
        broken = [i for i, gap in enumerate(outer) if not gap.keeps(found.picks)]
        if not broken:
            best = found if best is None or found.value > best.value else best
            left_over = left_over if found.proven else max(left_over, _above(found.bound))
            continue
        first = broken[0]
        (low, high), middle = box[first], outer[first].middle(found.picks)
        for i, ends in enumerate(((low, middle), (middle + 1, high))):
            heappush(boxes, (-_above(found.bound), number + i, (*box[:first], ends, *box[first + 1 :])))
    rest = max(left_over, -boxes[0][0] if boxes else -math.inf)
    if best is None and rest > -math.inf:
        raise SolverError.undecided()
    return best and best._replace(bound=Fraction(rest) if rest > best.value else best.value)


def _above(bound: Fraction) -> float:
    """Return a float that is not smaller."""
    found = float(bound)
    return found if found >= bound else math.nextafter(found, math.inf)

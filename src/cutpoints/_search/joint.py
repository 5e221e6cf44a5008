"""One cut per segment for one goal over all rows: bound, prune, finish, all in integers.

1. Prices of the constraints, from the relaxation in `points`, turn the problem into one per segment. Added
   up, their optima are an upper bound for any prices.
2. What a cut *loses* against the best of its segment, at these prices, is lost by every solution that has
   this cut. A cut that loses more than what lies between the bound and the best solution so far is dropped.
3. Few cuts are left. Their combinations are built segment by segment; a partial one is dropped if it has
   lost too much, if it cannot become feasible any more, or if another is as good in everything that counts.

A ratio, such as F1, is a sequence of such problems (Dinkelbach): is any solution better than the last one?
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cutpoints._kernel.weights import MOST_INT
from cutpoints._search.linear_goal import Linear, lines
from cutpoints._search.points import Points, prices
from cutpoints.exceptions import SolverError
from cutpoints.metrics.expression import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._search.hulls import Index
    from cutpoints._search.linear_goal import LinearGoal


class Maximizer(Protocol):
    """Finds the pick with the largest value of a line where other lines are not negative; see `maximize`."""

    def __call__(
        self, points: Points, objective: Linear, constraints: Sequence[Linear], *, start: Index | None = None
    ) -> Best | None:
        """Return the best pick; None if there is none."""


PRICE_BITS = 40
"""Prices are rounded to fractions of this many bits, so that bounds can be computed in integers."""
STATES = (1 << 10, 1 << 10, 1 << 14, 1 << 16)
"""Partial combinations that are kept at a time, try by try: few find better solutions, which leave fewer
cuts. If the last are not enough, nothing is proven, and the result has the bound so far."""
_RAISED = (0.0, *(2.0**-bits for bits in (34, 24, 16, 12, 9, 7, 5, 3, 1)), 2.0, 8.0, 64.0)
"""By how much prices are raised to get a feasible solution."""
_OTHER_PRICES = tuple(1 + sign * 2.0**-bits for bits in (12, 9, 7, 5, 4, 3, 2, 1) for sign in (-1, 1))
"""At multiples of the prices the bound is tighter for partial combinations that use much of a constraint, or
little."""


class Best(NamedTuple):
    """A pick of one point per segment, its totals, and how it is known to be the best."""

    picks: Index
    tp: int
    fp: int
    value: Fraction
    bound: Fraction
    """No solution has a larger value."""
    left: int
    """Points that the bound could not exclude."""

    @property
    def proven(self) -> bool:
        """Whether value and bound meet."""
        return self.value == self.bound


def solve(points: Points, goal: LinearGoal, maximizer: Maximizer | None = None) -> Best | None:
    """Return the best pick for a goal; None if no pick meets the constraints.

    `maximizer` is `maximize`, or what does the same under further constraints.
    """
    if len(points.empty):
        return None
    maximizer = maximizer or maximize
    active = lines(goal.constraints)
    defined = dict.fromkeys([*goal.defined, *(one for bound in goal.constraints for one in bound.defined)])
    while True:
        found = (_linear if goal.under.fixed else _ratio)(points, goal, active, maximizer)
        if found is None:
            return None
        # That a metric is defined is hardly ever in question: only then it becomes a constraint.
        missing = [one for one in defined if one.at(found.tp, found.fp) < 0]
        if not missing:
            return found
        active += missing


def _linear(points: Points, goal: LinearGoal, constraints: list[Linear], maximizer: Maximizer) -> Best | None:
    found = maximizer(points, goal.above, constraints)
    if found is None:
        return None
    under = goal.under.constant
    return found._replace(value=found.value / under, bound=found.bound / under)


def _ratio(points: Points, goal: LinearGoal, constraints: list[Linear], maximizer: Maximizer) -> Best | None:
    """Ask for a solution that is better than the last one until there is none (Dinkelbach)."""
    found = maximizer(points, goal.above, [*constraints, *goal.defined])
    left = 0
    while found is not None:
        above, under = goal.above.at(found.tp, found.fp), goal.under.at(found.tp, found.fp)
        difference = goal.above.scaled(under).plus(goal.under.scaled(-above))
        better = maximizer(points, difference, constraints, start=found.picks)
        assert better is not None
        left = max(left, better.left)
        if better.value <= 0:
            value = Fraction(above, under)
            # above/under - value <= bound / (under * least under)
            over = better.bound / (under * max(1, _least(points, goal.under)))
            return better._replace(value=value, bound=value + max(Fraction(0), over), left=left)
        found = better
    return None


def _least(points: Points, line: Linear) -> int:
    """Return the smallest value that a line can have."""
    tp, fp = points.total(points.best(-line.tp, -line.fp))
    return line.at(tp, fp)


def maximize(
    points: Points,
    objective: Linear,
    constraints: Sequence[Linear],
    *,
    start: Index | None = None,
    enough: int | None = None,
) -> Best | None:
    """Return the pick with the largest value of a line where other lines are not negative; None if none is.

    Parameters
    ----------
    points : Points
        At least one per segment.
    objective : Linear
        What to maximize.
    constraints : sequence of Linear
        What must not be negative.
    start : ndarray, default=None
        A pick that meets the constraints. It is returned unless there is a better one.
    enough : int, default=None
        Stop at any pick with a value of at least this.
    """
    free = points.best(objective.tp, objective.fp)
    tp, fp = points.total(free)
    top = objective.at(tp, fp)
    if start is not None and objective.at(*points.total(start)) >= top:
        free, (tp, fp) = start, points.total(start)
    if all(one.at(tp, fp) >= 0 for one in constraints):
        return _best(points, free, objective, top, 0)
    binding = [one for one in constraints if not one.fixed]
    if any(one.constant < 0 for one in constraints if one.fixed):
        return None
    search = _Search(points, objective, binding)
    if start is not None:
        search.offer(start)
    search.first_solutions()
    if search.value is None:
        picks = _feasible(points, binding)
        if picks is None:
            return None
        search.offer(picks)
    if enough is not None and search.value is not None and search.value >= enough:
        return search.result()
    search.prune()
    search.improve(enough)
    search.finish(enough)
    return search.result()


def _feasible(points: Points, constraints: Sequence[Linear]) -> Index | None:
    """Return a pick that meets the constraints; None if there is none."""
    one, *others = constraints
    if not others:
        picks = points.best(one.tp, one.fp)
        return picks if one.at(*points.total(picks)) >= 0 else None
    found = maximize(points, one, others, enough=0)
    if found is not None and found.value < 0 <= found.bound:
        raise SolverError.undecided()
    return found.picks if found is not None and found.value >= 0 else None


def _best(points: Points, picks: Index, objective: Linear, bound: int, left: int) -> Best:
    tp, fp = points.total(picks)
    return Best(picks, tp, fp, Fraction(objective.at(tp, fp)), Fraction(bound), left)


@dataclass
class _Search:
    """The state of one maximization: the best pick so far, the bound, the points that are left."""

    points: Points
    objective: Linear
    constraints: Sequence[Linear]
    picks: Index | None = None
    value: int | None = None
    base: Index = field(init=False)
    """The best point of each segment at the prices."""
    left: Index = field(init=False)
    """The points that are not excluded, in order; those of `base` are among them."""

    def __post_init__(self) -> None:
        found = prices(self.points, self.objective, self.constraints)
        self.prices = found or [0.0] * len(self.constraints)
        shift = PRICE_BITS - math.frexp(max(self.prices))[1]
        # A price is an integer over `unit`.
        self.unit = 1 << max(0, shift)
        self.whole = [round(Fraction(price) * self.unit) for price in self.prices]
        line = self.objective.scaled(self.unit)
        for price, one in zip(self.whole, self.constraints, strict=True):
            line = line.plus(one.scaled(price))
        self.line = line
        self.base = self.points.best(line.tp, line.fp)
        self.most = line.at(*self.points.total(self.base))
        self.left = np.arange(len(self.points.tp))
        self.finished = False

    @property
    def bound(self) -> int:
        """No solution has a larger value."""
        return self.most // self.unit

    @property
    def room(self) -> int:
        """How much a solution may lose that is better than the best so far; negative if there is none."""
        assert self.value is not None
        return self.most - self.unit * (self.value + 1)

    def fits(self, losses: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which losses there is room for."""
        room = self.room if losses.dtype == object else min(self.room, MOST_INT)
        return np.asarray(losses <= room, dtype=np.bool_)

    def offer(self, picks: Index) -> bool:
        """Take a pick if it is feasible and better than the best so far."""
        tp, fp = self.points.total(picks)
        value = self.objective.at(tp, fp)
        if not all(one.at(tp, fp) >= 0 for one in self.constraints):
            return False
        if self.value is None or value > self.value:
            self.picks, self.value = picks, value
        return True

    def first_solutions(self) -> None:
        """Raise the prices until what is best at them is feasible."""
        for raised in _RAISED:
            tp, fp = float(self.objective.tp), float(self.objective.fp)
            for price, one in zip(self.prices, self.constraints, strict=True):
                tp += price * (1 + raised) * float(one.tp)
                fp += price * (1 + raised) * float(one.fp)
            scale = math.ldexp(1.0, PRICE_BITS - math.frexp(max(abs(tp), abs(fp)))[1])
            if math.isfinite(scale) and self._between(
                *self.points.ties(round(tp * scale), round(fp * scale))
            ):
                return
        self._between(*self.points.ties(self.line.tp, self.line.fp))

    def _between(self, low: Index, high: Index) -> bool:
        """Offer the best pick that has some segments, the first ones, at `high` and the others at `low`."""
        points = self.points
        tp, fp = (
            [int(side[low].sum()), *(int(side[low].sum()) + np.cumsum(side[high] - side[low])).tolist()]
            for side in (points.tp, points.fp)
        )
        values = [
            self.objective.at(x, y)
            for x, y in zip(tp, fp, strict=True)
            if all(one.at(x, y) >= 0 for one in self.constraints)
        ]
        if not values:
            return False
        best = max(values)
        count = next(
            i
            for i, (x, y) in enumerate(zip(tp, fp, strict=True))
            if self.objective.at(x, y) == best and all(one.at(x, y) >= 0 for one in self.constraints)
        )
        return self.offer(np.concatenate([high[:count], low[count:]]))

    def prune(self) -> None:
        """Drop the points that lose more than there is room for: by floats first, then exactly."""
        if self.room < 0:
            self.left = self.base
            return
        points, at = self.points, self.left
        segment = points.segment[at]
        tp, fp = float(self.line.tp), float(self.line.fp)
        x, y = points.floats
        values = tp * x[at] + fp * y[at]
        best = tp * x[self.base] + fp * y[self.base]
        size = abs(tp) * points.largest[0] + abs(fp) * points.largest[1]
        least = best - float(self.room) - SLACK * size
        at = at[values >= least[segment]]
        self.left = at[self.fits(self.losses(at))]

    def losses(self, at: Index) -> NDArray[Any]:
        """Return what points lose against the best of their segment, as integers."""
        base = self.base[self.points.segment[at]]
        kind = self._kind(self.line)
        tp, fp = (
            side[base].astype(kind) - side[at].astype(kind) for side in (self.points.tp, self.points.fp)
        )
        return np.asarray(self.line.tp * tp + self.line.fp * fp)

    def _kind(self, *given: Linear) -> Any:
        """Return the type that holds the values of lines: int64, or Python integers."""
        x, y = (int(side.sum()) + 1 for side in self.points.largest)
        most = max(abs(one.constant) + 2 * abs(one.tp) * x + 2 * abs(one.fp) * y for one in given)
        return np.int64 if most < MOST_INT else object

    def improve(self, enough: int | None) -> None:
        """Change one segment at a time while that helps."""
        while self.room >= 0 and not self._enough(enough):
            assert self.picks is not None
            points, at = self.points, self.left
            now = self.picks[points.segment[at]]
            kind = self._kind(self.objective, *self.constraints)
            tp, fp = (side[at].astype(kind) - side[now].astype(kind) for side in (points.tp, points.fp))
            gain = self.objective.tp * tp + self.objective.fp * fp
            allowed = np.asarray(gain > 0, dtype=np.bool_)
            total = points.total(self.picks)
            for one in self.constraints:
                allowed &= np.asarray(one.at(*total) + one.tp * tp + one.fp * fp >= 0, dtype=np.bool_)
            if not allowed.any():
                return
            chosen = np.flatnonzero(allowed)
            change = at[chosen[int(np.argmax(gain[chosen]))]]
            picks = self.picks.copy()
            picks[points.segment[change]] = change
            self.offer(picks)
            self.prune()

    def _enough(self, enough: int | None) -> bool:
        return enough is not None and self.value is not None and self.value >= enough

    def finish(self, enough: int | None) -> None:
        """Combine what is left."""
        for most in STATES:
            if self.room < 0 or self.finished or self._enough(enough):
                return
            self.finished = _Combinations(self).run(enough, most)
            self.prune()

    def result(self) -> Best:
        """Return the best pick; the bound meets its value if nothing better is left."""
        assert self.picks is not None
        assert self.value is not None
        closed = self.finished or self.room < 0
        bound = self.value if closed else self.bound
        return _best(self.points, self.picks, self.objective, bound, len(self.left) - len(self.base))


class _Combinations:
    """Builds combinations of the points that are left, segment by segment, in whole arrays.

    A state has points for the segments so far and the best ones, at the prices, for all others: so each
    state is a solution, though it may not be feasible.
    """

    def __init__(self, search: _Search) -> None:
        self.search = search
        points = search.points
        at = search.left
        loss = search.losses(at)
        if search.room < MOST_INT:  # no loss is larger
            loss = loss.astype(np.int64)
        segment = points.segment[at]
        base = search.base[segment]
        tp, fp = points.tp[at] - points.tp[base], points.fp[at] - points.fp[base]
        starts = np.searchsorted(segment, np.arange(len(points) + 1))
        several = np.flatnonzero(np.diff(starts) > 1)
        # What costs little to change comes first: good solutions are found early.
        options = [slice(starts[g], starts[g + 1]) for g in several]
        easiest = [min((one for one in loss[part].tolist() if one > 0), default=0) for part in options]
        order = sorted(range(len(options)), key=easiest.__getitem__)
        self.options = [
            (int(several[i]), at[options[i]], tp[options[i]], fp[options[i]], loss[options[i]]) for i in order
        ]
        self.total = points.total(search.base)
        self.kind = search._kind(search.objective, *search.constraints)  # noqa: SLF001 - its other half
        self.criteria = _criteria([search.objective, *search.constraints])
        self.bounds = self._bounds()

    def run(self, enough: int | None, most: int) -> bool:
        """Return whether all combinations were looked at, or excluded.

        Of more states than the limit, those that have lost the least are kept: the result is then only a
        better solution, and no proof.
        """
        search = self.search
        complete = True
        reach = self._reach()
        zero = np.zeros(1, dtype=self.kind)
        tp, fp, loss = zero, zero, zero
        history: list[tuple[int, Index, Index, Index]] = []
        for level, (segment, at, x, y, lost) in enumerate(self.options):
            parent, choice = np.divmod(np.arange(len(loss) * len(at)), len(at))
            loss = loss[parent] + lost[choice]
            keep = np.flatnonzero(search.fits(loss))
            parent, choice, loss = parent[keep], choice[keep], loss[keep]
            tp = tp[parent] + x[choice].astype(self.kind)
            fp = fp[parent] + y[choice].astype(self.kind)
            feasible = np.ones(len(loss), dtype=np.bool_)
            possible = np.ones(len(loss), dtype=np.bool_)
            priced = np.zeros(len(loss))
            for number, one in enumerate(search.constraints):
                slack = one.at(*self.total) + one.tp * tp + one.fp * fp
                feasible &= np.asarray(slack >= 0, dtype=np.bool_)
                possible &= np.asarray(slack + reach[level + 1][number] >= 0, dtype=np.bool_)
                priced += search.prices[number] * slack.astype(np.float64)
            self._offer_best(feasible, tp, fp, [*history, (segment, at, parent, choice)])
            if search.room < 0 or search._enough(enough):  # noqa: SLF001
                return complete and search.room < 0
            possible &= search.fits(loss)
            keep = np.flatnonzero(possible)
            keep = keep[self._promising(level + 1, tp[keep], fp[keep])]
            keep = keep[self._undominated(tp[keep], fp[keep])]
            if len(keep) > most:
                complete = False
                keep = keep[_some(loss[keep], priced[keep], most)]
            parent, choice, tp, fp, loss = (side[keep] for side in (parent, choice, tp, fp, loss))
            history.append((segment, at, parent, choice))
            if len(loss) == 0:
                break
        return complete

    def _promising(self, level: int, tp: Any, fp: Any) -> Index:
        """Return the states that can be better than the best solution, by their bounds at other prices."""
        assert self.search.value is not None
        x, y = tp.astype(np.float64), fp.astype(np.float64)
        keep = np.arange(len(x))
        for a, b, most, gains in self.bounds:
            bound = a * x[keep] + b * y[keep] + (most + gains[level])
            keep = keep[bound >= self.search.value + 1]
        return keep

    def _bounds(self) -> list[tuple[float, float, float, list[float]]]:
        """Return lines at other prices, and the most that the segments from each on can add to them."""
        search, found = self.search, []
        totals = (1.0, *(float(side.sum()) for side in search.points.largest))
        for factor in _OTHER_PRICES:
            line = [float(part) for part in search.objective]
            size = sum(abs(part) * total for part, total in zip(line, totals, strict=True))
            for price, one in zip(search.prices, search.constraints, strict=True):
                more = [factor * price * float(part) for part in one]
                line = [part + added for part, added in zip(line, more, strict=True)]
                size += sum(abs(part) * total for part, total in zip(more, totals, strict=True))
            constant, a, b = line
            gains = [0.0]
            for _, _, x, y, _ in reversed(self.options):
                gains.append(gains[-1] + float((a * x.astype(np.float64) + b * y.astype(np.float64)).max()))
            most = constant + a * self.total[0] + b * self.total[1] + len(gains) * SLACK * size
            found.append((a, b, most, gains[::-1]))
        return found

    def _reach(self) -> list[list[int]]:
        """Return how much the segments from each on can add to each constraint."""
        found = [[0] * len(self.search.constraints)]
        for _, _, x, y, _ in reversed(self.options):
            gains = [
                int((one.tp * x.astype(object) + one.fp * y.astype(object)).max())
                for one in self.search.constraints
            ]
            found.append([a + b for a, b in zip(found[-1], gains, strict=True)])
        return found[::-1]

    def _offer_best(
        self, feasible: NDArray[np.bool_], tp: Any, fp: Any, history: list[tuple[int, Index, Index, Index]]
    ) -> None:
        """Offer the best of the feasible states."""
        some = np.flatnonzero(feasible)
        if len(some) == 0:
            return
        objective = self.search.objective
        values = objective.tp * tp[some] + objective.fp * fp[some]
        state = int(some[int(np.argmax(values))])
        if objective.at(*self.total) + int(values.max()) <= (self.search.value or 0) and (
            self.search.value is not None
        ):
            return
        picks = self.search.base.copy()
        for segment, at, parent, choice in reversed(history):
            picks[segment] = at[choice[state]]
            state = int(parent[state])
        self.search.offer(picks)

    def _undominated(self, tp: Any, fp: Any) -> Index:
        """Return the states that no other state is as good as in the objective and all constraints."""
        if self.criteria is None:
            a, b = tp, fp
        else:
            (a1, a2), (b1, b2) = self.criteria
            a, b = a1 * tp + a2 * fp, b1 * tp + b2 * fp
        order = np.argsort(-b, kind="stable")
        order = order[np.argsort(-a[order], kind="stable")]
        keep = np.ones(len(order), dtype=np.bool_)
        if self.criteria is None:
            keep[1:] = np.asarray((a[order][1:] != a[order][:-1]) | (b[order][1:] != b[order][:-1]), np.bool_)
        elif len(order):
            ranked = b[order]
            keep[1:] = np.asarray(ranked[1:] > np.maximum.accumulate(ranked)[:-1], dtype=np.bool_)
        return np.sort(order[keep])


def _some(loss: Any, slack: Any, most: int) -> Index:
    """Return states of all kinds of slack, each the one of its kind that has lost the least."""
    order = np.argsort(slack, kind="stable")
    kind = np.arange(len(order)) * most // len(order)
    ranked = np.argsort(loss[order], kind="stable")
    ranked = ranked[np.argsort(kind[ranked], kind="stable")]
    first = np.searchsorted(kind[ranked], np.arange(most))
    return np.sort(order[ranked[first]])


def _criteria(given: Sequence[Linear]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return two directions of which all others are sums; None if they point all around.

    What is as good in both directions is as good in all.
    """
    vectors = list(dict.fromkeys(_direction(one) for one in given if not one.fixed))
    first = [u for u in vectors if all(_turns(u, v) for v in vectors)]
    last = [u for u in vectors if all(_turns(v, u) for v in vectors)]
    return (first[0], last[0]) if first and last else None


def _direction(line: Linear) -> tuple[int, int]:
    common = math.gcd(line.tp, line.fp)
    return line.tp // common, line.fp // common


def _turns(u: tuple[int, int], v: tuple[int, int]) -> bool:
    """Whether v is u, or to the left of u by less than half a turn."""
    cross = u[0] * v[1] - u[1] * v[0]
    return u == v or cross > 0

"""The exact choice among cuts.

Floats find the few cuts that could be best; exact arithmetic decides among these. So two cuts of
equal value are always seen to be tied, and one that is better by less than a float can show wins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._goal import Goal
from cutpoints._kernel.cuts import AGREE_SUM
from cutpoints._kernel.masses import Masses, Unit
from cutpoints._kernel.sums import SMALL, VECTOR
from cutpoints.metrics.expression import CLOSE, WeightedSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts, Exact
    from cutpoints.metrics.expression import Expression, Trend

    Floats = NDArray[np.float64]
    Index = NDArray[np.intp]

_ALMOST = 1 - 1e-3
"""Floats of 1 are more than that."""
HANDFUL = 16
"""So few cuts are compared by their exact values at once."""
_NONE = Masses(np.zeros((1, 0), dtype=np.int64), Unit())
_FEW_LIMBS, MANY = 3, 256
"""Of longer masses exact sums are dearer than to compare by what lies between cuts, and from so many cuts on
that is dearer than another look at all of them."""


@dataclass(frozen=True)
class Choice:
    """The best of some cuts for an expression: indices of it and of its ties."""

    cuts: Cuts
    expression: Expression
    best: int
    ties: Index
    same: bool = False
    """Whether the ties are known to have the masses of the best: what lies between weighs nothing."""

    @property
    def value(self) -> Exact:
        """The exact value."""
        return self.cuts.exact(self.expression, self.best)

    @cached_property
    def rounded(self) -> float:
        """The value, rounded once to a float."""
        return self.cuts.rounded(self.expression, self.best)

    def masses_of_ties(self) -> tuple[Masses, Masses]:
        """Return the exact masses called positive at the ties."""
        if len(self.ties) == 0:  # which is most often so
            return _NONE, _NONE
        cuts, unit = self.cuts, self.cuts.summary.unit
        if not self.same:
            return cuts.tp.later(self.ties), cuts.fp.later(self.ties)
        every = np.zeros(len(self.ties), dtype=np.intp)
        masses = cuts.confusion(self.best).whole
        tp, fp = (Masses.scalar(masses[name], unit)[every] for name in ("tp", "fp"))
        return tp, fp


def choose(cuts: Cuts, goal: Goal, feasible: NDArray[np.bool_] | None) -> Choice | None:
    """Return the exact best of the feasible cuts (all: None); None where it is undefined at all of them.

    Among equals the first is chosen: the highest threshold, which calls the fewest rows positive.
    """
    if isinstance(goal.expression, WeightedSum) and goal.expression.only is not None:
        return _choose_by_the_only(cuts, goal, feasible, *goal.expression.only)
    values = cuts.values(goal.expression)
    race = values if goal.sign > 0 else -values
    if feasible is not None:
        race = np.where(feasible, race, np.nan)
    near = _near_the_best(cuts, goal, race)
    if near is None:
        return None
    first, last = int(near[0]), int(near[-1])
    if first == last:
        return Choice(cuts, goal.expression, first, near[1:])
    expression = _easier(cuts, goal.expression, near)
    perfect = _perfect(cuts, expression, near) if goal.sign > 0 and race[first] != 0 else near[:0]
    if len(perfect):
        return Choice(cuts, goal.expression, int(perfect[0]), perfect[1:])
    # What is the same at two cuts is so at all between them.
    same = cuts.tp.same(first, last), cuts.fp.same(first, last)
    if expression.exact and (
        all(same) or _without(same, expression.trend) or _are_zero(cuts, goal.expression, race[near])
    ):
        return Choice(cuts, goal.expression, first, near[1:], same=all(same))
    if expression is not goal.expression:
        race = np.full(len(race), np.nan)
        race[near] = goal.sign * cuts.values_at(expression, near)
    tied = _best_of(cuts, Goal(expression, goal.direction), race, near)
    return Choice(cuts, goal.expression, int(tied[0]), tied[1:])


def _choose_by_the_only(
    cuts: Cuts, goal: Goal, feasible: NDArray[np.bool_] | None, weight: Fraction, term: Expression
) -> Choice | None:
    """Choose by the one term of a sum, which has the order of the sum, or the reverse."""
    if weight:
        found = choose(cuts, Goal(term, "maximize" if goal.sign * weight > 0 else "minimize"), feasible)
        return None if found is None else replace(found, expression=goal.expression)
    defined = ~np.isnan(cuts.values(goal.expression))
    index = np.flatnonzero(defined if feasible is None else defined & feasible)
    return Choice(cuts, goal.expression, int(index[0]), index[1:]) if len(index) else None


def _perfect(cuts: Cuts, expression: Expression, near: Index) -> Index:
    """Return where a value is the most that it can be."""
    if not cuts.values_at(expression, near[:1])[0] > _ALMOST:  # nor is any other
        return near[:0]
    found = expression.perfect(**cuts.floats_at(near))
    return near[:0] if found is None else near[found]


def _without(same: tuple[bool, bool], trend: Trend | None) -> bool:
    """Whether a value of this trend depends on nothing but what is the same."""
    return trend is not None and all(one or not way for one, way in zip(same, trend, strict=True))


def _are_zero(cuts: Cuts, expression: Expression, values: Floats) -> bool:
    """Whether values are zero for sure, since all that they are off by is a part of themselves."""
    relative = not isinstance(expression, WeightedSum) and expression.magnitude(*cuts.sizes) == 0
    return relative and not values.any()


def _near_the_best(cuts: Cuts, goal: Goal, race: Floats) -> Index | None:
    """Return the cuts that rounding leaves in the race, most often one; None where all are undefined."""
    best = float(np.fmax.reduce(race)) if len(race) else math.nan  # the greatest that is not NaN
    if math.isnan(best):
        return None
    if math.isinf(best):
        return np.flatnonzero(race == best)
    if isinstance(goal.expression, WeightedSum):
        room = cuts.rounding(goal.expression, race)
        return np.flatnonzero(race + room >= np.fmax.reduce(race - room))
    # One number for the rounding of all cuts that are near the best.
    size = max(abs(best), goal.expression.magnitude(*cuts.sizes))
    return (race >= best - 4 * cuts.slack * size).nonzero()[0]


def _easier(cuts: Cuts, expression: Expression, near: Index) -> Expression:
    """Return an expression that orders these cuts as the given one does, and is easier to compare."""
    if expression.ordered_by is not None:
        return expression.ordered_by
    values = [cuts.values_at(part, near) for part in expression.least_of]
    rooms = [cuts.rounding(part, v, near) for part, v in zip(expression.least_of, values, strict=True)]
    for i, part in enumerate(expression.least_of):
        most = values[i] + rooms[i]
        if all((most < values[j] - rooms[j]).all() for j in range(len(values)) if j != i):
            return part
    return expression


def _best_of(cuts: Cuts, goal: Goal, race: Floats, near: Index) -> Index:
    """Return the best of the cuts that rounding left in the race, and all that are as good."""
    expression = goal.expression
    if not expression.exact or math.isinf(race[near[0]]):
        return near[race[near] == race[near].max()]
    if cuts.summary.unit.limbs > _FEW_LIMBS and (len(near) > MANY or expression.cancels):
        near = _told_apart(cuts, goal, near)
    if len(near) <= HANDFUL and expression.comparable and cuts.summary.unit.limbs <= _FEW_LIMBS:
        return _of_a_few(cuts, goal, near)
    if len(near) > VECTOR:
        tied = _of_sums(cuts, goal, race, near)
        if tied is not None:
            return tied
        if expression.from_chance is not None:
            near, equal = _by_distance_from_chance(cuts, goal, near)
            if equal:
                return near
    return _by_comparisons(cuts, goal, race, near)


def _told_apart(cuts: Cuts, goal: Goal, near: Index) -> Index:
    """Leave out the cuts that are worse by a number that tells more than the value itself."""
    with np.errstate(all="ignore"):
        bounds = goal.expression.enclosed(cuts.slack, **cuts.floats_at(near))
        if bounds is None:
            return near
        low, high = bounds if goal.sign > 0 else (-bounds[1], -bounds[0])
        return near[~(high < np.fmax.reduce(low))]


def _of_a_few(cuts: Cuts, goal: Goal, near: Index) -> Index:
    values = cuts.exact_values(goal.expression, near)
    best = max(values) if goal.sign > 0 else min(values)
    return near[[value == best for value in values]]


def _of_sums(cuts: Cuts, goal: Goal, race: Floats, near: Index) -> Index | None:
    """Return the best if the value is a sum of masses; None if it is not, or if that is not quick.

    What such sums are apart is often small, and then they are told apart modulo 2**64.
    """
    expression = goal.expression
    shape = expression.linear_fractional(1, 1)  # type: ignore[arg-type]  # the same for all totals
    if shape is None or not shape.is_linear:
        return None
    if shape.numerator[1] == shape.numerator[2] == 0:  # the same at every cut
        return near
    form = cuts.quotient(expression) if cuts.tp.wraps else None
    if form is None or not form.is_sum:
        return None
    _, w1, w2 = form.above
    shared = math.gcd(w1, w2) or 1
    if isinstance(expression, WeightedSum):
        room = float(cuts.rounding(expression, race[near], near).max())
    else:
        room = cuts.slack * max(abs(float(race[near[0]])), expression.magnitude(*cuts.sizes))
    up = goal.sign if form.under[0] > 0 else -goal.sign
    weights = [0, up * w1 // shared, up * w2 // shared]
    over, per = (16 * room).as_integer_ratio() if math.isfinite(room) else (1, 0)
    small = cuts.sums.small(weights, near) if over * abs(form.under[0]) < SMALL * shared * per else None
    if small is None:
        return cuts.sums.largest(weights, near) if _short(cuts) else None
    small -= small[0]  # what they are apart is small, themselves they need not be
    return near[small == small.max()]


def _by_distance_from_chance(cuts: Cuts, goal: Goal, near: Index) -> tuple[Index, bool]:
    """Return those of some cuts that can be the best, or tie, by floats that do not cancel at chance.

    And whether these are all at chance, and so equal.
    """
    expression = goal.expression
    assert expression.from_chance is not None
    if 0 in cuts.sizes:  # one class: there is nothing but chance
        return near, True
    with np.errstate(all="ignore"):
        away, at_chance = cuts.sums.from_chance(near, cuts.slack)
        if at_chance.all():
            return near, True
        beyond = goal.sign * expression.from_chance(away, **cuts.floats_at(near))
    beyond[np.abs(beyond) < CLOSE] = 0
    best = float(beyond.max())
    if not math.isfinite(best):
        return near, False
    room = 4 * cuts.slack * abs(best)
    if expression.cancels:  # sums of logarithms that agree to so many digits are called equal
        room += 8 * float(AGREE_SUM) * max(1.0, expression.magnitude(*cuts.sizes))
    left = beyond >= best - room
    return near[left], best == 0 and bool(at_chance[left].all())


def _by_comparisons(cuts: Cuts, goal: Goal, race: Floats, near: Index) -> Index:
    """Compare all cuts with the one that leads, until no other is better."""
    expression = goal.expression
    # If few are near and a count is zero, all may tie: then the first is the best, and its sums are wanted.
    leader = int(near[0])
    if len(near) > VECTOR or not cuts.has_zero(leader):
        leader = int(near[np.argmax(race[near])])
    while True:
        tied, unsure = near[:0], near
        signs = cuts.quick_signs(expression, near, leader)
        if signs is None:
            if not _short(cuts):
                leader, tied, unsure = _ahead(cuts, goal, near, leader)
            if len(unsure) == 0:
                return tied
            if isinstance(expression, WeightedSum) and len(unsure) > VECTOR:
                alike = _alike(cuts, expression, unsure, leader)
                tied, unsure = np.concatenate([tied, unsure[alike]]), unsure[~alike]
            reference = cuts.exact(expression, leader)
            signs = cuts.signs(expression, goal.sign * race[unsure], reference, unsure)
        better = goal.sign * signs > 0
        if not better.any():
            equal = unsure[signs == 0]
            return np.sort(np.concatenate([tied, equal])) if len(tied) else equal
        near = unsure[better]
        leader = _furthest_ahead(cuts, goal, near, cuts.exact(expression, leader))


def _alike(cuts: Cuts, expression: WeightedSum, index: Index, at: int) -> NDArray[np.bool_]:
    """Return where every term of a sum has the value that it has at one cut: many are compared at once."""
    alike = np.ones(len(index), dtype=np.bool_)
    for _, term in expression.terms:
        left = index[alike]
        if len(left):
            signs = cuts.signs(term, cuts.values_at(term, left), cuts.exact(term, at), left)
            alike[alike] = signs == 0
    return alike


def _short(cuts: Cuts) -> bool:
    """Whether masses are soon compared exactly: there are few limbs, and what they add up to is known."""
    return cuts.tp.wraps and cuts.summary.unit.limbs <= _FEW_LIMBS


def _ahead(cuts: Cuts, goal: Goal, near: Index, leader: int) -> tuple[int, Index, Index]:
    """Return which cut is ahead as far as floats can tell, those known to be as good, and those in doubt."""
    while True:
        by, room, same = cuts.change(goal.expression, near, leader)
        by *= goal.sign
        low, high = by - room, by + room
        best = int(np.argmax(low))
        if low[best] <= 0:
            return leader, near[same], near[(high >= 0) & ~same]
        leader, near = int(near[best]), near[high >= low[best]]
        if len(near) == 1:
            return leader, near, near[1:]


def _furthest_ahead(cuts: Cuts, goal: Goal, near: Index, reference: Exact) -> int:
    """Return the one of some cuts that is better than all, or nearly all, others of them.

    All are better than the reference. Of quotients it is the one that exceeds it most in the numerator,
    less what the reference is of the denominator (Dinkelbach's step): the best where the denominator is
    the same for all, and close to the best elsewhere.
    """
    parts = goal.expression.least_of or (goal.expression,)
    form = cuts.quotient(min(parts, key=lambda part: cuts.exact(part, int(near[0]))))
    if form is None or not isinstance(reference, Fraction):
        values = [goal.sign * value for value in cuts.exact_values(goal.expression, near)]
        return int(near[max(range(len(values)), key=values.__getitem__)])
    excess = form.excess(reference, cuts.summary)
    return int(cuts.sums.largest([goal.sign * weight for weight in excess.weights], near)[0])

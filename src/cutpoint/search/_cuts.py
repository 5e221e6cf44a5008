"""Cuts, and the exact choice among them.

Floats find the few cuts that could be best; exact arithmetic decides among these. So two cuts of
equal value are always seen to be tied, and one that is better by less than a float can show wins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoint.masses import FLOAT_BITS, Unit
from cutpoint.metrics._arithmetic import LOG_DIGITS, ROOT_DIGITS
from cutpoint.metrics._expression import SLACK, WeightedSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoint.masses import Masses
    from cutpoint.metrics._expression import Constraint, Expression
    from cutpoint.objective import Goal
    from cutpoint.questions import Summary

_AGREE_ROOT, _AGREE_SUM = Fraction(1, 10 ** (ROOT_DIGITS - 10)), Fraction(1, 10 ** (LOG_DIGITS - 10))
"""Irrational values that agree to so many digits are called equal."""
_ONES, _WHOLE = Unit(), 1 << FLOAT_BITS
_VECTOR = 64
"""From so many cuts on, exact comparisons are made on whole arrays where the form allows it."""


@dataclass(frozen=True)
class Cuts:
    """Some cuts of the data, thresholds descending; masses are those called positive.

    `below` is the next lower distinct score, where the interval of the same decisions ends.
    """

    summary: Summary
    thresholds: NDArray[np.floating[Any]]
    below: NDArray[np.floating[Any]]
    tp: Masses
    fp: Masses
    _asked: dict[int, dict[str, Fraction]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def floats(self) -> dict[str, NDArray[np.float64]]:
        """The four counts as float64, each within a few roundings of its exact value; see `slack`."""
        positives, negatives = self.summary.positives, self.summary.negatives
        tp, fp = self.tp.floats(), self.fp.floats()
        if self.summary.unit == _ONES and max(positives, negatives) <= _WHOLE:
            return {"tp": tp, "fp": fp, "fn": positives - tp, "tn": negatives - fp}  # exact
        return {"tp": tp, "fp": fp, "fn": self.tp.rest_of(positives), "tn": self.fp.rest_of(negatives)}

    @property
    def slack(self) -> float:
        """Relative room for rounding in a formula of the counts as they are in `floats`."""
        return SLACK * self.tp.roundings

    def confusion(self, index: int) -> dict[str, Fraction]:
        """Return the exact confusion at one cut."""
        if index not in self._asked:  # that of the best cut is asked for again, others are not
            self._asked.clear()
            self._asked[index] = self.summary.confusion(self.tp.integer(index), self.fp.integer(index))
        return self._asked[index]

    def values(self, expression: Expression) -> NDArray[np.float64]:
        """Return the float values at all cuts; NaN where undefined."""
        with np.errstate(all="ignore"):
            return np.asarray(expression.evaluate(**self.floats), dtype=np.float64)

    def rounding(self, expression: Expression, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far the float values may lie from the true ones; infinite ones are not rounded."""
        positives, negatives = self.summary.sizes
        with np.errstate(all="ignore"):
            if isinstance(expression, WeightedSum):
                size = expression.spread(positives, negatives, **self.floats)
            else:
                size = np.maximum(np.abs(values), expression.magnitude(positives, negatives))
        return np.where(np.isfinite(size), self.slack * size, 0.0)

    def exact(self, expression: Expression, index: int) -> Fraction | float:
        """Return the exact value at one cut; a float only for NaN, infinity or a user's function."""
        if not expression.exact:
            return float(self.values(expression)[index])
        if expression.scale_free:
            value = expression.evaluate(**self.summary.counts(self.tp.integer(index), self.fp.integer(index)))
        else:
            value = expression.evaluate(**self.confusion(index))
        return value if isinstance(value, (float, Fraction)) else Fraction(value)

    def signs(
        self, expression: Expression, values: NDArray[np.float64], reference: Fraction | float
    ) -> NDArray[np.int8]:
        """Return the exact sign of ``value - reference`` at each cut; undefined values count as below."""
        target = float(reference)
        signs = np.where(values > target, 1, -1).astype(np.int8)
        signs[values == target] = 0
        if not expression.exact or not math.isfinite(target):
            return signs
        near = self.rounding(expression, values) + self.slack * abs(target)
        unsure = np.flatnonzero(np.abs(values - target) <= near)
        if len(unsure) == 0:
            return signs
        positives, negatives = self.summary.totals
        form = expression.linear_fractional(positives, negatives)
        reference = Fraction(reference)
        if form is not None:
            # value - p/q has the sign of q*numerator - p*denominator: no division, no rounding.
            p, q = reference.numerator, reference.denominator
            weights = [q * a - p * b for a, b in zip(form.numerator, form.denominator, strict=True)]
            # |q*numerator - p*denominator| = q * denominator * |value - p/q|, and the last is small.
            largest = q * (1 + positives + negatives) * sum(map(abs, form.denominator), Fraction(0))
            signs[unsure] = self._linear_signs(
                weights, unsure, largest * Fraction(4 * float(near[unsure].max()))
            )
            return signs
        surely_zero = (values[unsure] == 0) & (near[unsure] == 0)
        for i in unsure[~surely_zero]:
            difference = Fraction(self.exact(expression, int(i))) - reference
            agree = _AGREE_ROOT * abs(reference)
            if expression.cancels:
                agree = _AGREE_SUM * (abs(reference) + Fraction(near[i]) / Fraction(self.slack))
            if not expression.rational and abs(difference) <= agree:
                difference = Fraction(0)
            signs[i] = (difference > 0) - (difference < 0)
        return signs

    def _linear_signs(
        self, weights: list[Fraction], index: NDArray[np.intp], bound: Fraction
    ) -> NDArray[np.int8]:
        """Return the signs of ``w0 + w1*tp + w2*fp``, known to be no larger than `bound`."""
        unit = self.summary.unit
        grain = unit.fraction(1)
        scaled = [weights[0], weights[1] * grain, weights[2] * grain]
        common = math.lcm(*(w.denominator for w in scaled))
        w0, w1, w2 = (int(w * common) for w in scaled)
        tp, fp = self.tp[index], self.fp[index]
        if len(index) > _VECTOR and 0 in (w1, w2):
            # A plateau: cuts that differ only in what has no weight have one sign, found once.
            weighty = [side.limbs for side, weight in ((tp, w1), (fp, w2)) if weight != 0]
            fresh = np.zeros(len(index), dtype=np.bool_)
            fresh[0] = True
            for limbs in weighty:
                fresh[1:] |= (limbs[:, 1:] != limbs[:, :-1]).any(axis=0)
            if np.count_nonzero(fresh) < len(index):
                return self._linear_signs(weights, index[fresh], bound)[np.cumsum(fresh) - 1]
        if len(index) > _VECTOR and unit.limbs == 1 and bound * common < 1 << 62:
            # The result is small although its terms may not be: in two's complement, arithmetic
            # that overflows on the way still ends at the right small number.
            a, b, c = (np.array(w % 2**64, dtype=np.uint64) for w in (w0, w1, w2))
            small = (a + b * tp.limbs[0].view(np.uint64) + c * fp.limbs[0].view(np.uint64)).view(np.int64)
            return np.sign(small).astype(np.int8)
        total = (w0 + w1 * t + w2 * f for t, f in zip(tp.integers(), fp.integers(), strict=True))
        return np.array([(x > 0) - (x < 0) for x in total], dtype=np.int8)

    def feasible(self, constraints: tuple[Constraint, ...]) -> NDArray[np.bool_]:
        """Return where all constraints hold, exactly; where one is undefined it does not hold."""
        mask = np.ones(len(self.thresholds), dtype=np.bool_)
        for constraint in constraints:
            values = self.values(constraint.expression)
            signs = self.signs(constraint.expression, values, constraint.bound)
            mask &= constraint.holds(signs) & ~np.isnan(values)
        return mask


@dataclass(frozen=True)
class Choice:
    """The best of some cuts: indices of it and of its ties, and its exact value."""

    best: int
    ties: NDArray[np.intp]
    value: Fraction | float


def choose(cuts: Cuts, goal: Goal, feasible: NDArray[np.bool_] | None) -> Choice | None:
    """Return the exact best of the feasible cuts (all: None); None where it is undefined at all of them.

    Among equals the first is chosen: the highest threshold, which calls the fewest rows positive.
    """
    values = cuts.values(goal.expression)
    alone = _far_ahead(cuts, goal, values, feasible)
    if alone is not None:
        return Choice(alone, np.zeros(0, dtype=np.intp), cuts.exact(goal.expression, alone))
    usable = ~np.isnan(values)
    if feasible is not None:
        usable &= feasible
    open_ = usable
    if not open_.any():
        return None
    rounding = cuts.rounding(goal.expression, values)
    while True:
        # argmax over signed values; cuts that are out of the race are below everything.
        leader = int(np.argmax(np.where(open_, goal.sign * values, -np.inf)))
        if not open_[leader]:  # every open value is -inf
            leader = int(np.argmax(open_))
        reference = cuts.exact(goal.expression, leader)
        if _stands_alone(values[open_], rounding[open_], values[leader], rounding[leader]):
            return Choice(leader, np.zeros(0, dtype=np.intp), reference)
        signs = goal.sign * cuts.signs(goal.expression, values, reference)
        better = open_ & (signs > 0)
        if not better.any():
            break
        open_ = better
    tied = np.flatnonzero(usable & (signs == 0))
    return Choice(int(tied[0]), tied[1:], reference)


def _far_ahead(
    cuts: Cuts, goal: Goal, values: NDArray[np.float64], feasible: NDArray[np.bool_] | None
) -> int | None:
    """Return the best cut if all others are so far behind that no rounding matters: the usual case.

    What `_stands_alone` sees too, with one number for the rounding of all cuts that are near the best.
    """
    if isinstance(goal.expression, WeightedSum):
        return None
    race = values if goal.sign > 0 else -values
    if feasible is not None:
        race = np.where(feasible, race, np.nan)
    best = float(np.fmax.reduce(race, initial=np.nan))  # the greatest that is not NaN
    if not math.isfinite(best):
        return None
    size = max(abs(best), goal.expression.magnitude(*cuts.summary.sizes))
    near = np.flatnonzero(race >= best - 4 * cuts.slack * size)
    return int(near[0]) if len(near) == 1 else None


def _stands_alone(
    values: NDArray[np.float64], rounding: NDArray[np.float64], best: float, room: float
) -> bool:
    """Whether the best float is beyond rounding from all others: the usual case, and quick to see."""
    if math.isinf(best):
        return False
    return int(np.count_nonzero(np.abs(values - best) <= rounding + room)) == 1

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
_ALL = slice(None)
_SMALLEST, _CLOSE = 1e-100, 1e-300
_HANDFUL = 4
"""So few cuts are compared by their exact values at once."""
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

    def rounding(
        self, expression: Expression, values: NDArray[np.float64], index: Any = _ALL
    ) -> NDArray[np.float64]:
        """Return how far these float values, at some cuts, may lie from the true ones.

        Infinite ones are not rounded.
        """
        positives, negatives = self.summary.sizes
        with np.errstate(all="ignore"):
            if isinstance(expression, WeightedSum):
                floats = {name: counts[index] for name, counts in self.floats.items()}
                size = expression.spread(positives, negatives, **floats)
            else:
                size = np.maximum(np.abs(values), expression.magnitude(positives, negatives))
        return np.where(np.isfinite(size), self.slack * size, 0.0)

    def exact(self, expression: Expression, index: int) -> Fraction | float:
        """Return the exact value at one cut; a float only for NaN, infinity or a user's function."""
        if not expression.exact:
            return float(self.values(expression)[index])
        if expression.scale_free:
            counts: Any = self.summary.counts(self.tp.integer(index), self.fp.integer(index))
        else:
            counts = self.confusion(index)
        return _evaluate(expression, counts)

    def same(self, one: int, other: int) -> bool:
        """Whether two cuts, and so all between them, have the same masses."""
        return self.tp.same(one, other) and self.fp.same(one, other)

    def signs(
        self, expression: Expression, values: NDArray[np.float64], reference: Fraction | float
    ) -> NDArray[np.int8]:
        """Return the exact sign of ``value - reference`` at each cut; undefined values count as below."""
        return np.sign(self.leads(expression, values, reference)).astype(np.int8)

    def leads(
        self,
        expression: Expression,
        values: NDArray[np.float64],
        reference: Fraction | float,
        *,
        index: NDArray[np.intp] | None = None,
        at: int | None = None,
    ) -> NDArray[np.float64]:
        """Return numbers with the exact sign of ``value - reference``; undefined values count as below.

        At some cuts (all: None), of which these are the float values. `at` is a cut whose value is the
        reference, if there is one. Others are then compared by what lies between, and their numbers are
        larger the farther they are from it, as far as floats can show it.
        """
        target = float(reference)
        leads = np.where(values > target, 1.0, -1.0)
        leads[values == target] = 0
        if not expression.exact or not math.isfinite(target):
            return leads
        every = np.arange(len(values)) if index is None else index
        between: NDArray[np.float64] | None = None
        same: Any = np.zeros(len(values), dtype=np.bool_)
        if at is not None:
            between = np.array([self.tp.apart(every, at), self.fp.apart(every, at)])
            same = ~between.any(axis=0)
            leads[same] = 0  # the masses of that cut, and its value
            if same.all():
                return leads
        near = self.rounding(expression, values, _ALL if index is None else index) + self.slack * abs(target)
        unsure = np.flatnonzero((np.abs(values - target) <= near) & ~same)
        if len(unsure) == 0:
            return leads
        which = every[unsure]
        reference = Fraction(reference)
        # Of counts in a unit, if it makes no difference: whole numbers are quick.
        whole = expression.scale_free
        positives, negatives = (
            (self.summary.positives, self.summary.negatives) if whole else self.summary.totals
        )
        form = expression.linear_fractional(positives, negatives)  # type: ignore[arg-type]
        if form is not None:
            # value - p/q has the sign of q*numerator - p*denominator: no division, no rounding. In units,
            # and times what makes all coefficients whole.
            p, q = reference.numerator, reference.denominator
            grain = 1 if whole else self.summary.unit.fraction(1)
            sides = [(side[0], side[1] * grain, side[2] * grain) for side in form]
            common = math.lcm(*(x.denominator for side in sides for x in side))
            above, under = ([int(x * common) for x in side] for side in sides)
            weights = [q * a - p * b for a, b in zip(above, under, strict=True)]
            if between is not None:
                leads[unsure], sure = self._leads_by(between[:, unsure], weights)
                unsure, which = unsure[~sure], which[~sure]
            if len(unsure):
                # |q*numerator - p*denominator| = q * denominator * |value - p/q|, and the last is small.
                largest = q * (1 + self.summary.positives + self.summary.negatives) * sum(map(abs, under))
                bound = largest * Fraction(4 * float(near[unsure].max()))
                leads[unsure] = _CLOSE * self._linear_signs(weights, which, bound)
            return leads
        sure = (values[unsure] == 0) & (near[unsure] == 0)
        unsure, which = unsure[~sure], which[~sure]
        counts = self.summary.counts if whole else self.summary.confusion
        masses = zip(self.tp[which].integers(), self.fp[which].integers(), strict=True)
        for i, (tp, fp) in zip(unsure, masses, strict=True):
            difference = Fraction(_evaluate(expression, counts(tp, fp))) - reference
            agree = _AGREE_ROOT * abs(reference)
            if expression.cancels:
                agree = _AGREE_SUM * (abs(reference) + Fraction(near[i]) / Fraction(self.slack))
            if not expression.rational and abs(difference) <= agree:
                difference = Fraction(0)
            leads[i] = (difference > 0) - (difference < 0)
        return leads

    def _leads_by(
        self, between: NDArray[np.float64], weights: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return ``w1*tp + w2*fp`` of what lies between, scaled, and where its sign is beyond doubt.

        What lies between two cuts is known to a part of itself, however little of the whole it is.
        """
        largest = max(map(abs, weights[1:])) or 1
        shares = [weight / largest for weight in weights[1:]]
        a, b = shares[0] * between[0], shares[1] * between[1]
        leads, size = a + b, np.abs(a) + np.abs(b)
        sure = (np.abs(leads) > self.slack * size) | (size == 0)
        if any(w != 0 and abs(share) < _SMALLEST for w, share in zip(weights[1:], shares, strict=True)):
            sure[:] = False  # products may have come out as zero that are not
        scaled = np.maximum(np.abs(leads) / max(float(size.max()), _SMALLEST), _CLOSE)
        return np.sign(leads) * scaled, sure

    def _linear_signs(self, weights: list[int], index: NDArray[np.intp], bound: Fraction) -> NDArray[np.int8]:
        """Return the signs of ``w0 + w1*tp + w2*fp``, in units, known to be no larger than `bound`."""
        w0, w1, w2 = weights
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
        if len(index) > _VECTOR and self.summary.unit.limbs == 1 and bound < 1 << 62:
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
    race = values if goal.sign > 0 else -values
    if feasible is not None:
        race = np.where(feasible, race, np.nan)
    near = _near_the_best(cuts, goal, race)
    if near is None:
        return None
    first, last = int(near[0]), int(near[-1])
    if first == last or (goal.expression.exact and cuts.same(first, last)):
        return Choice(first, near[1:], cuts.exact(goal.expression, first))
    if len(near) <= _HANDFUL and goal.expression.exact and goal.expression.rational:
        exact = [cuts.exact(goal.expression, i) for i in near.tolist()]
        best = max(exact) if goal.sign > 0 else min(exact)
        tied = near[[value == best for value in exact]]
        return Choice(int(tied[0]), tied[1:], best)
    leader = int(near[np.argmax(race[near])])
    while True:
        reference = cuts.exact(goal.expression, leader)
        leads = goal.sign * cuts.leads(goal.expression, values[near], reference, index=near, at=leader)
        if not (leads > 0).any():
            tied = near[leads == 0]
            # Irrational values that are called equal may differ in a digit that nobody sees: that of the cut
            # that is chosen is the same, whoever led.
            return Choice(int(tied[0]), tied[1:], cuts.exact(goal.expression, int(tied[0])))
        leader = int(near[np.argmax(leads)])


def _near_the_best(cuts: Cuts, goal: Goal, race: NDArray[np.float64]) -> NDArray[np.intp] | None:
    """Return the cuts that rounding leaves in the race, most often one; None where all are undefined."""
    best = float(np.fmax.reduce(race, initial=np.nan))  # the greatest that is not NaN
    if math.isnan(best):
        return None
    if math.isinf(best):
        return np.flatnonzero(race == best)
    if isinstance(goal.expression, WeightedSum):
        room = cuts.rounding(goal.expression, race)
        return np.flatnonzero(race + room >= np.fmax.reduce(race - room))
    # One number for the rounding of all cuts that are near the best.
    size = max(abs(best), goal.expression.magnitude(*cuts.summary.sizes))
    return np.flatnonzero(race >= best - 4 * cuts.slack * size)


def _evaluate(expression: Expression, counts: dict[str, Any]) -> Fraction | float:
    value = expression.evaluate(**counts)
    return value if isinstance(value, (float, Fraction)) else Fraction(value)

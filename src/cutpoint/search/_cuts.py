"""Cuts, and the exact choice among them.

Floats find the few cuts that could be best; exact arithmetic decides among these. So two cuts of
equal value are always seen to be tied, and one that is better by less than a float can show wins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoint.digits import Digits
from cutpoint.masses import Masses, scaled
from cutpoint.metrics._arithmetic import LOG_DIGITS
from cutpoint.metrics._change import Change
from cutpoint.metrics._expression import SLACK, WeightedSum
from cutpoint.metrics._root import ROOT_DIGITS, Root

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoint.metrics._expression import Constraint, Expression
    from cutpoint.objective import Goal
    from cutpoint.questions import Summary

    Exact = Fraction | Root | float
    """An exact value; a float only for NaN, infinity or a user's function."""

_AGREE_ROOT, _AGREE_SUM = Fraction(1, 10 ** (ROOT_DIGITS - 10)), Fraction(1, 10 ** (LOG_DIGITS - 10))
"""Irrational values that agree to so many digits are called equal."""
_ALL = slice(None)
_CLOSE = 1e-300
"""Floats that are less may have lost digits."""
_HANDFUL = 4
"""So few cuts are compared by their exact values at once."""
_LARGEST = 1 << 900
"""A float has room for this times 2**62."""
_SMALL = 1 << 62
"""Sums below this are told apart modulo 2**64."""
_VECTOR = 64
"""From so many cuts on, exact comparisons are made on whole arrays where the form allows it."""


class _Quotient(NamedTuple):
    """A value as a quotient of two sums ``w0 + w1*tp + w2*fp``, of masses in units."""

    above: list[int]
    under: list[int]


class _Excess(NamedTuple):
    """How far a value exceeds another: ``w0 + w1*tp + w2*fp``, in units, has the sign of the difference.

    It is at most `largest` times the difference.
    """

    weights: list[int]
    largest: Fraction


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
    hidden: NDArray[np.intp] | None = None
    """Indices that are no cuts, since they would split equal scores: values are undefined there."""
    _asked: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _forms: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def floats(self) -> dict[str, NDArray[np.float64]]:
        """The four counts as float64, each within a few roundings of its exact value; see `slack`."""
        tp, fn = self.tp.floats_and_rest(lambda: self.summary.positives)
        fp, tn = self.fp.floats_and_rest(lambda: self.summary.negatives)
        return {"tp": tp, "fp": fp, "fn": fn, "tn": tn}

    def _float(self, index: int) -> dict[str, float]:
        """Return the floats of one cut."""
        return {name: float(counts[index]) for name, counts in self.floats.items()}

    @property
    def sizes(self) -> tuple[float, float]:
        """P and N as float64, just as far off: to add them up exactly may be work."""
        if len(self.thresholds) == 0:
            return self.summary.sizes
        first = self._float(0)
        return first["tp"] + first["fn"], first["fp"] + first["tn"]

    @property
    def slack(self) -> float:
        """Relative room for rounding in a formula of the counts as they are in `floats`."""
        # No formula is off by more than a few times what the counts are.
        return SLACK * (3 + self.tp.roundings) / 4

    def rested(self) -> Cuts:
        """Return the same cuts, without what is quick to compute again."""
        for side in (self.tp, self.fp):
            side.rest()
        return Cuts(self.summary, self.thresholds, self.below, self.tp, self.fp, self.hidden)

    def masses(self, index: int) -> tuple[int, int]:
        """Return the exact masses called positive at one cut, in units."""
        if self._asked.get("index") != index:  # those of the best cut are asked for again, others are not
            self._asked.clear()
            self._asked.update(index=index, masses=(self.tp.integer(index), self.fp.integer(index)))
        return self._asked["masses"]

    def confusion(self, index: int) -> dict[str, Fraction]:
        """Return the exact confusion at one cut."""
        masses = self.masses(index)
        if "confusion" not in self._asked:
            self._asked["confusion"] = self.summary.confusion(*masses)
        return self._asked["confusion"]

    def values(self, expression: Expression) -> NDArray[np.float64]:
        """Return the float values at all cuts; NaN where undefined."""
        with np.errstate(all="ignore"):
            values = np.asarray(expression.evaluate(**self.floats), dtype=np.float64)
        if self.hidden is not None:
            values = values if values.flags.owndata else values.copy()
            values[self.hidden] = np.nan
        return values

    def rounding(
        self, expression: Expression, values: NDArray[np.float64], index: Any = _ALL
    ) -> NDArray[np.float64]:
        """Return how far these float values, at some cuts, may lie from the true ones.

        Infinite ones are not rounded.
        """
        positives, negatives = self.sizes
        with np.errstate(all="ignore"):
            if isinstance(expression, WeightedSum):
                floats = {name: counts[index] for name, counts in self.floats.items()}
                size = expression.spread(positives, negatives, **floats)
            else:
                size = np.maximum(np.abs(values), expression.magnitude(positives, negatives))
        return np.where(np.isfinite(size), self.slack * size, 0.0)

    def exact(self, expression: Expression, index: int) -> Exact:
        """Return the exact value at one cut; a float only for NaN, infinity or a user's function."""
        if not expression.exact:
            return float(self.values(expression)[index])
        if expression.scale_free:
            counts: Any = self.summary.counts(*self.masses(index))
        else:
            counts = self.confusion(index)
        return _evaluate(expression, counts)

    def masses_of_ties(self, choice: Choice) -> tuple[Masses, Masses]:
        """Return the exact masses called positive at the ties."""
        if len(choice.ties) == 0:  # which is most often so
            none = Masses(np.zeros((self.summary.unit.limbs, 0), dtype=np.int64), self.summary.unit)
            return none, none
        if not choice.same:
            return self.tp.later(choice.ties), self.fp.later(choice.ties)
        every = np.zeros(len(choice.ties), dtype=np.intp)
        tp, fp = (Masses.scalar(mass, self.summary.unit)[every] for mass in self.masses(choice.best))
        return tp, fp

    def same(self, one: int, other: int) -> bool:
        """Whether two cuts, and so all between them, have the same masses."""
        return self.tp.same(one, other) and self.fp.same(one, other)

    def signs(
        self,
        expression: Expression,
        values: NDArray[np.float64],
        reference: Exact,
        index: NDArray[np.intp] | None = None,
    ) -> NDArray[np.int8]:
        """Return the exact sign of ``value - reference``; undefined values count as below.

        At some cuts (all: None), of which these are the float values.
        """
        target = float(reference)
        signs = (values > target).view(np.int8) - (~(values >= target)).view(np.int8)
        if not expression.exact or not math.isfinite(target):
            return signs
        near = self.rounding(expression, values, _ALL if index is None else index) + self.slack * abs(target)
        unsure = np.flatnonzero(np.abs(values - target) <= near)
        if len(unsure) == 0:
            return signs
        which = unsure if index is None else index[unsure]
        if isinstance(reference, float):
            reference = Fraction(reference)
        excess = None if isinstance(reference, Root) else self._excess(expression, reference)
        if excess is not None:
            # |q*numerator - p*denominator| = q * denominator * |value - p/q|, and the last is small.
            bound = excess.largest * Fraction(4 * float(near[unsure].max()))
            signs[unsure] = self._linear_signs(excess.weights, which, bound)
            return signs
        sure = (values[unsure] == 0) & (near[unsure] == 0)
        alike = unsure[:0]
        if expression.at_chance is not None and len(which) > _VECTOR:
            chance = self._linear_signs([0, self.summary.negatives, -self.summary.positives], which) == 0
            alike = unsure[chance]
            chance[np.argmax(chance)] = False  # one stands for all
            sure |= chance
        unsure, which = unsure[~sure], which[~sure]
        counts = self.summary.counts if expression.scale_free else self.summary.confusion
        masses = zip(self.tp[which].integers(), self.fp[which].integers(), strict=True)
        for i, (tp, fp) in zip(unsure, masses, strict=True):
            value = _evaluate(expression, counts(tp, fp))
            if expression.comparable:
                signs[i] = (value > reference) - (value < reference)
                continue
            assert isinstance(value, Fraction)
            assert isinstance(reference, Fraction)
            agree = _AGREE_ROOT * abs(reference)
            if expression.cancels:
                agree = _AGREE_SUM * (abs(reference) + Fraction(near[i]) / Fraction(self.slack))
            signs[i] = (value - reference > agree) - (reference - value > agree)
        signs[alike] = signs[alike[:1]]
        return signs

    def change(
        self, expression: Expression, index: NDArray[np.intp], at: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return by how much the value is more at some cuts than at one, and how far that may be off.

        And where the masses are the same.
        """
        tp, fp = self.tp.apart(index, at), self.fp.apart(index, at)
        same = (tp == 0) & (fp == 0)
        between = {"tp": tp, "fp": fp, "fn": -tp, "tn": -fp}
        try:
            with np.errstate(all="ignore"):
                counts = {name: Change(count, between[name]) for name, count in self._float(at).items()}
                value = expression.evaluate(**counts)
                room = self.slack * value.size
                if expression.cancels:  # irrational sums that agree to so many digits are called equal
                    room += 2 * float(_AGREE_SUM) * value.bulk
                known = (np.abs(value.by) > _CLOSE) & (room < np.inf)
                by, room = np.where(known, value.by, 0.0), np.where(known, room, np.inf)
        except ZeroDivisionError:
            by, room = np.zeros(len(index)), np.full(len(index), np.inf)
        room[same] = 0
        return by, room, same

    def quotient(self, expression: Expression) -> _Quotient | None:
        """Return the value as a quotient of sums of masses, if it is one."""
        if self._forms.get("of") is not expression:
            self._forms.update(of=expression, form=self._quotient(expression))
        return self._forms["form"]

    def _quotient(self, expression: Expression) -> _Quotient | None:
        # Of counts in a unit, if it makes no difference: whole numbers are quick.
        whole = expression.scale_free
        positives, negatives = (
            (self.summary.positives, self.summary.negatives) if whole else self.summary.totals
        )
        form = expression.linear_fractional(positives, negatives)  # type: ignore[arg-type]
        if form is None:
            return None
        sides: Any = form
        if not whole:
            grain = self.summary.unit.fraction(1)
            sides = [(side[0], side[1] * grain, side[2] * grain) for side in form]
        common = math.lcm(*(x.denominator for side in sides for x in side))
        above, under = ([x.numerator * (common // x.denominator) for x in side] for side in sides)
        return _Quotient(above, under)

    def _excess(self, expression: Expression, reference: Fraction) -> _Excess | None:
        """Return what has the sign of ``value - reference`` if the value is a quotient of sums."""
        form = self.quotient(expression)
        if form is None:
            return None
        # value - p/q has the sign of q*numerator - p*denominator: no division, no rounding.
        p, q = reference.numerator, reference.denominator
        weights = [q * a - p * b for a, b in zip(form.above, form.under, strict=True)]
        shared = math.gcd(*weights) or 1
        b0, b1, b2 = map(abs, form.under)
        largest = q * (b0 + b1 * self.summary.positives + b2 * self.summary.negatives)
        return _Excess([weight // shared for weight in weights], Fraction(largest, shared))

    def _linear_signs(
        self, weights: list[int], index: NDArray[np.intp], bound: Fraction | float = math.inf
    ) -> NDArray[np.int8]:
        """Return the signs of ``w0 + w1*tp + w2*fp``, in units, if known to be no larger than `bound`."""
        w0, w1, w2 = weights
        if len(index) > _VECTOR:
            bound = min(bound, abs(w0) + abs(w1) * self.summary.positives + abs(w2) * self.summary.negatives)
            small = self._small_sums(weights, index) if bound < _SMALL else None
            if small is not None:
                return np.sign(small).astype(np.int8)
            return Digits.sums(w0, [(w1, self.tp[index]), (w2, self.fp[index])]).signs()
        masses = zip(self.tp[index].integers(), self.fp[index].integers(), strict=True)
        total = (w0 + w1 * tp + w2 * fp for tp, fp in masses)
        return np.array([(x > 0) - (x < 0) for x in total], dtype=np.int8)

    def _small_sums(self, weights: list[int], index: NDArray[np.intp]) -> NDArray[np.int64] | None:
        """Return ``w0 + w1*tp + w2*fp``, in units, that are known to be small; None where that is no quicker.

        Their terms need not be: in two's complement, arithmetic that overflows on the way still ends at the
        right small number.
        """
        tp, fp = self.tp.wrapped(index), self.fp.wrapped(index)
        if tp is None or fp is None:
            return None
        a, b, c = (np.array(w % 2**64, dtype=np.uint64) for w in weights)
        tp *= b
        fp *= c
        tp += fp
        tp += a
        return tp.view(np.int64)

    def best_sums(
        self, goal: Goal, index: NDArray[np.intp], values: NDArray[np.float64]
    ) -> NDArray[np.intp] | None:
        """Return the best of some cuts whose float values are all but equal, if the value is a sum of masses.

        None if it is not, or if that is no quicker.
        """
        form = self.quotient(goal.expression)
        if form is None or form.under[0] == 0 or any(form.under[1:]):
            return None
        _, w1, w2 = form.above
        shared = math.gcd(w1, w2) or 1
        low, high = float(values.min()), float(values.max())
        if isinstance(goal.expression, WeightedSum):
            room = float(self.rounding(goal.expression, values, index).max())
        else:
            room = self.slack * max(-low, high, goal.expression.magnitude(*self.sizes))
        apart = high - low + 4 * room
        if not math.isfinite(apart):
            return None
        over, per = apart.as_integer_ratio()
        if over * abs(form.under[0]) >= _SMALL * shared * per:
            return None
        up = goal.sign if form.under[0] > 0 else -goal.sign
        sums = self._small_sums([0, up * w1 // shared, up * w2 // shared], index)
        if sums is None:
            return None
        sums -= sums[0]  # what they are apart is small, themselves they need not be
        return index[sums == sums.max()]

    def sharpened(self, goal: Goal, index: NDArray[np.intp]) -> tuple[NDArray[np.intp], bool]:
        """Return those of some cuts that can be the best, or tie, by floats that do not cancel at chance.

        And whether these are all at chance, and so equal.
        """
        expression = goal.expression
        assert expression.from_chance is not None
        counts = {name: floats[index] for name, floats in self.floats.items()}
        with np.errstate(all="ignore"):
            away, at_chance = self._from_chance(index, **counts)
            beyond = goal.sign * expression.from_chance(away, **counts)
        beyond[np.abs(beyond) < _CLOSE] = 0
        best = float(beyond.max())
        if not math.isfinite(best):
            return index, False
        left = beyond >= best - 4 * self.slack * abs(best)
        return index[left], best == 0 and bool(at_chance[left].all())

    def _from_chance(
        self, index: NDArray[np.intp], *, tp: Any, fp: Any, fn: Any, tn: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return ``tp*tn - fp*fn`` at some cuts with these floats, within a few roundings of itself.

        And where it is zero; it may also be less than a float can be.
        """
        # Which is N*tp - P*fp.
        shared = math.gcd(self.summary.positives, self.summary.negatives) or 1
        weights = [0, self.summary.negatives // shared, -self.summary.positives // shared]
        grain = 2 * self.summary.unit.exponent
        size = float(np.abs(tp * tn - fp * fn).max()) + 8 * self.slack * sum(self.sizes) ** 2
        bound = Fraction(size) / shared / Fraction(2) ** grain if math.isfinite(size) else math.inf
        small = self._small_sums(weights, index) if bound < _SMALL else None
        if small is not None and shared < _LARGEST:
            return scaled(small.astype(np.float64) * float(shared), grain), small == 0
        terms = zip(weights[1:], (self.tp[index], self.fp[index]), strict=True)
        digits = Digits.sums(0, [(shared * weight, masses) for weight, masses in terms])
        return digits.floats(grain), digits.signs() == 0

    def furthest_ahead(self, goal: Goal, index: NDArray[np.intp], reference: Exact) -> int:
        """Return the one of some cuts that is better than all, or nearly all, others of them.

        All are better than the reference. Of quotients it is the one that exceeds it most in the numerator,
        less what the reference is of the denominator (Dinkelbach's step): the best where the denominator is
        the same for all, and close to the best elsewhere.
        """
        expression = goal.expression
        excess = self._excess(expression, reference) if isinstance(reference, Fraction) else None
        if excess is None:
            counts = self.summary.counts if expression.scale_free else self.summary.confusion
            masses = zip(self.tp[index].integers(), self.fp[index].integers(), strict=True)
            values = [goal.sign * _evaluate(expression, counts(tp, fp)) for tp, fp in masses]
            return int(index[max(range(len(values)), key=values.__getitem__)])
        w0, w1, w2 = (goal.sign * weight for weight in excess.weights)
        return int(index[Digits.sums(w0, [(w1, self.tp[index]), (w2, self.fp[index])]).largest()])

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
    value: Exact
    same: bool = False
    """Whether the ties are known to have the masses of the best: what lies between weighs nothing."""


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
    exact = goal.expression.exact
    if first == last or (exact and cuts.same(first, last)):
        return Choice(first, near[1:], cuts.exact(goal.expression, first), same=True)
    if len(near) <= _HANDFUL and cuts.tp.at_hand and exact and goal.expression.comparable:
        each = [cuts.exact(goal.expression, i) for i in near.tolist()]
        best = max(each) if goal.sign > 0 else min(each)
        tied = near[[value == best for value in each]]
        return Choice(int(tied[0]), tied[1:], best)
    if len(near) > _VECTOR:
        best_sums = cuts.best_sums(goal, near, values[near]) if exact else None
        if best_sums is not None:
            first = int(best_sums[0])
            return Choice(first, best_sums[1:], cuts.exact(goal.expression, first))
        if goal.expression.from_chance is not None:
            near, equal = cuts.sharpened(goal, near)
            if equal:
                return Choice(int(near[0]), near[1:], cuts.exact(goal.expression, int(near[0])))
    leader = int(near[np.argmax(race[near])])
    # Of whole numbers in one limb the signs of quotients are quicker than bounds on their changes.
    quick = exact and cuts.summary.unit.limbs == 1 and cuts.quotient(goal.expression) is not None
    while True:
        leader, tied, unsure = (leader, near[:0], near) if quick else _ahead(cuts, goal, near, leader)
        if len(unsure):
            reference = cuts.exact(goal.expression, leader)
            signs = goal.sign * cuts.signs(goal.expression, values[unsure], reference, unsure)
            if (signs > 0).any():
                near = unsure[signs > 0]
                leader = cuts.furthest_ahead(goal, near, reference)
                continue
            as_good = unsure[signs == 0]
            tied = np.sort(np.concatenate([tied, as_good])) if len(tied) else as_good
        # Irrational values that are called equal may differ in a digit that nobody sees: that of the cut
        # that is chosen is the same, whoever led.
        return Choice(int(tied[0]), tied[1:], cuts.exact(goal.expression, int(tied[0])))


def _ahead(
    cuts: Cuts, goal: Goal, near: NDArray[np.intp], leader: int
) -> tuple[int, NDArray[np.intp], NDArray[np.intp]]:
    """Return which cut is ahead as far as floats can tell, those with its masses, and those in doubt."""
    if not goal.expression.exact:
        return leader, near[near == leader], near[near != leader]
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


def _near_the_best(cuts: Cuts, goal: Goal, race: NDArray[np.float64]) -> NDArray[np.intp] | None:
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
    return np.flatnonzero(race >= best - 4 * cuts.slack * size)


def _evaluate(expression: Expression, counts: dict[str, Any]) -> Exact:
    value = expression.evaluate(**counts)
    return Fraction(value) if isinstance(value, int) else value

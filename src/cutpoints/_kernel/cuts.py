"""Cuts: the counts at thresholds, values as floats for all of them, and exactly for those in doubt."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._kernel.sums import VECTOR, Quotient, Sums
from cutpoints.metrics._arithmetic import LOG_DIGITS
from cutpoints.metrics._change import Change
from cutpoints.metrics._root import ROOT_DIGITS, Root, few_digits
from cutpoints.metrics.expression import CLOSE, SLACK, WeightedSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.masses import Masses
    from cutpoints._kernel.tables import Counts, Summary
    from cutpoints.metrics.expression import Constraint, Expression

    Exact = Fraction | Root | float
    """An exact value; a float only for NaN, infinity or a user's function."""

_AGREE_ROOT, AGREE_SUM = Fraction(1, 10 ** (ROOT_DIGITS - 10)), Fraction(1, 10 ** (LOG_DIGITS - 10))
"""Irrational values that agree to so many digits are called equal."""
_ALL = slice(None)
_CANCELLED = 1e-15
"""What is a smaller part of what was added up has lost many digits."""
FEW = 4
"""So few values are compared as they are, rather than as quotients of sums."""
_TINY = -200
"""Four masses that are multiples of two to this are not zero, as a float, when multiplied."""


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
    _asked: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _forms: dict[Expression, Quotient | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def floats(self) -> dict[str, NDArray[np.float64]]:
        """The four counts as float64, each within a few roundings of its exact value; see `slack`."""
        tp, fn = self.tp.floats_and_rest(lambda: self.summary.positives)
        fp, tn = self.fp.floats_and_rest(lambda: self.summary.negatives)
        return {"tp": tp, "fp": fp, "fn": fn, "tn": tn}

    def floats_at(self, index: Any) -> dict[str, NDArray[np.float64]]:
        """Return the `floats` of some cuts."""
        return {name: counts[index] for name, counts in self.floats.items()}

    @cached_property
    def sums(self) -> Sums:
        """Sums of the masses, exactly."""
        return Sums(self.summary, self.tp, self.fp, self.floats)

    def _float(self, index: int) -> dict[str, float]:
        """Return the floats of one cut."""
        return {name: float(counts[index]) for name, counts in self.floats.items()}

    def has_zero(self, index: int) -> bool:
        """Whether one of the four counts of a cut is zero."""
        return 0 in self._float(index).values()

    @property
    def sizes(self) -> tuple[float, float]:
        """P and N as float64, just as far off: to add them up exactly may be work."""
        if len(self.thresholds) == 0:
            return self.summary.sizes
        floats = self.floats
        return float(floats["tp"][0] + floats["fn"][0]), float(floats["fp"][0] + floats["tn"][0])

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

    def look_up(self, places: list[int]) -> None:
        """Make the exact masses at a few cuts known, in one go where they have yet to be added up."""
        self.tp.integers_at(places)

    def confusion(self, index: int) -> Counts:
        """Return the exact confusion at one cut."""
        if self._asked.get("index") != index:  # that of the best cut is asked for again, others are not
            self._asked.clear()
            confusion = self.summary.confusion(self.tp.integer(index), self.fp.integer(index))
            self._asked.update(index=index, confusion=confusion)
        return self._asked["confusion"]

    def values(self, expression: Expression) -> NDArray[np.float64]:
        """Return the float values at all cuts; NaN where undefined."""
        with np.errstate(all="ignore"):
            values = np.asarray(expression.evaluate(**self.floats), dtype=np.float64)
        if self.hidden is not None:
            values = values if values.flags.owndata else values.copy()
            values[self.hidden] = np.nan
        return values

    def values_at(self, expression: Expression, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the float values at some cuts."""
        with np.errstate(all="ignore"):
            return np.asarray(expression.evaluate(**self.floats_at(index)), dtype=np.float64)

    def rounding(
        self, expression: Expression, values: NDArray[np.float64], index: Any = _ALL
    ) -> NDArray[np.float64]:
        """Return how far these float values, at some cuts, may lie from the true ones.

        Infinite ones are not rounded.
        """
        positives, negatives = self.sizes
        with np.errstate(all="ignore"):
            if isinstance(expression, WeightedSum):
                size = expression.spread(positives, negatives, **self.floats_at(index))
            else:
                size = np.maximum(np.abs(values), expression.magnitude(positives, negatives))
        return np.where(np.isfinite(size), self.slack * size, 0.0)

    def exact(self, expression: Expression, index: int) -> Exact:
        """Return the exact value at one cut; a float only for NaN, infinity or a user's function."""
        if not expression.exact:
            return float(self.values(expression)[index])
        confusion = self.confusion(index)
        if expression not in self._asked:
            self._asked[expression] = _evaluate(expression, confusion)
        return self._asked[expression]

    def rounded(self, expression: Expression, index: int) -> float:
        """Return the value at one cut, rounded once to a float."""
        if not expression.exact:
            return float(self.exact(expression, index))
        confusion = self.confusion(index)
        if expression.comparable and expression.scale_free:
            return expression.rounded(**confusion.whole)
        if expression.comparable:
            return float(self.exact(expression, index))
        with few_digits():
            value = float(_evaluate(expression, confusion))
        if not expression.cancels:
            return value
        terms = self.rounding(expression, np.array([value]), [index]) / self.slack
        # If most of it cancels, few digits are left.
        return value if abs(value) > _CANCELLED * terms[0] else float(self.exact(expression, index))

    def exact_values(self, expression: Expression, index: NDArray[np.intp]) -> list[Exact]:
        """Return the exact values at a few cuts."""
        places = index.tolist()
        masses = zip(self.tp.integers_at(places), self.fp.integers_at(places), strict=True)
        return [_evaluate(expression, self.summary.confusion(tp, fp)) for tp, fp in masses]

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
        few = len(which) <= FEW and expression.comparable
        form = None if few else self.quotient(expression)
        if form is not None and not isinstance(reference, Root):
            excess = form.excess(reference, self.summary)
            signs[unsure] = self.sums.signs(
                excess.weights, which, lambda: excess.within(4 * float(near[unsure].max()))
            )
            return signs
        if expression.least_of and not few:
            parts = (
                self.signs(part, self.values(part)[which], reference, which) for part in expression.least_of
            )
            signs[unsure] = np.minimum.reduce(list(parts))
            return signs
        sure = (values[unsure] == 0) & (near[unsure] == 0)
        alike = unsure[:0]
        if expression.at_chance is not None and len(which) > VECTOR:
            chance = self.sums.at_chance(which)
            alike = unsure[chance]
            chance[np.argmax(chance)] = False  # one stands for all
            sure |= chance
        unsure, which = unsure[~sure], which[~sure]
        for i, value in zip(unsure, self.exact_values(expression, which), strict=True):
            if expression.comparable:
                signs[i] = (value > reference) - (value < reference)
                continue
            assert isinstance(value, Fraction)
            assert isinstance(reference, Fraction)
            agree = _AGREE_ROOT * abs(reference)
            if expression.cancels:
                agree = AGREE_SUM * (abs(reference) + Fraction(near[i]) / Fraction(self.slack))
            signs[i] = (value - reference > agree) - (reference - value > agree)
        signs[alike] = signs[alike[:1]]
        return signs

    def change(
        self, expression: Expression, index: NDArray[np.intp], at: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return by how much the value is more at some cuts than at one, and how far that may be off.

        And where it is the same for sure, since nothing that it depends on changes.
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
                    room += 2 * float(AGREE_SUM) * value.bulk
                known = (np.abs(value.by) > CLOSE) & (room < np.inf)
                by, room = np.where(known, value.by, 0.0), np.where(known, room, np.inf)
                if self.summary.unit.exponent > _TINY:
                    same |= np.asarray(value.size == 0)
        except ZeroDivisionError:
            by, room = np.zeros(len(index)), np.full(len(index), np.inf)
        room[same] = 0
        return by, room, same

    def quotient(self, expression: Expression) -> Quotient | None:
        """Return the value as a quotient of sums of masses, if it is one."""
        if expression not in self._forms:
            self._forms[expression] = Quotient.of(expression, self.summary)
        return self._forms[expression]

    def quick_signs(
        self, expression: Expression, index: NDArray[np.intp], at: int
    ) -> NDArray[np.int8] | None:
        """Return the exact signs of values that are near the one at a cut, less this one.

        None where that is not quick.
        """
        if not (self.tp.wraps or self.has_zero(at)):
            return None
        reference = self.exact(expression, at)
        signs = None
        for part in expression.least_of or (expression,):
            form = self.quotient(part)
            if form is None or not isinstance(reference, Fraction):
                return None
            excess = form.excess(reference, self.summary)
            # Of the two that a value is the smaller of, the other may be far away.
            room = 16 * self.slack * max(abs(float(reference)), part.magnitude(*self.sizes))
            within = partial(excess.within, math.inf if expression.least_of else room)
            found = self.sums.quick_signs(excess.weights, index, within)
            if found is None:
                return None
            signs = found if signs is None else np.minimum(signs, found)
        return signs

    def feasible(self, constraints: tuple[Constraint, ...]) -> NDArray[np.bool_]:
        """Return where all constraints hold, exactly; where one is undefined it does not hold."""
        mask = np.ones(len(self.thresholds), dtype=np.bool_)
        for constraint in constraints:
            mask &= self._held(constraint)
        return mask

    def holds(self, constraint: Constraint, index: int) -> bool:
        """Return whether a constraint holds at one cut."""
        return bool(self._held(constraint, np.array([index]))[0])

    def remembering(self) -> Cuts:
        """Return the same cuts, which remember the answers: several goals ask for the same."""
        cuts = _Remembering(self.summary, self.thresholds, self.below, self.tp, self.fp, self.hidden)
        cuts.__dict__.update(floats=self.floats)
        return cuts

    def _held(self, constraint: Constraint, index: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
        """Return where a constraint holds: by floats, and by exact signs where these are near the bound.

        At some cuts (all: None).
        """
        constraint = constraint.plain
        expression, target = constraint.expression, float(constraint.bound)
        values = self.values(expression) if index is None else self.values_at(expression, index)
        if isinstance(expression, WeightedSum) and expression.only is not None:  # of no weight: a constant
            away = expression.constant - constraint.bound
            return ~np.isnan(values) & bool(constraint.holds((away > 0) - (away < 0)))
        if not expression.exact or isinstance(expression, WeightedSum):
            signs = self.signs(expression, values, constraint.bound, index)
            return constraint.holds(signs) & ~np.isnan(values)
        # One number for the rounding of all values that are near the bound.
        room = 4 * self.slack * max(abs(target), expression.magnitude(*self.sizes))
        if constraint.wants_high:
            held, maybe = values > target + room, values >= target - room
        else:
            held, maybe = values < target - room, values <= target + room
        if np.count_nonzero(maybe) > np.count_nonzero(held):
            unsure = np.flatnonzero(maybe ^ held)
            which = unsure if index is None else index[unsure]
            signs = self.signs(expression, values[unsure], constraint.bound, which)
            held[unsure] = constraint.holds(signs)
        return held


class _Remembering(Cuts):
    """Cuts that compute the values of an expression, and where a constraint holds, once."""

    @cached_property
    def _known(self) -> dict[Expression | Constraint, NDArray[Any]]:
        return {}

    def values(self, expression: Expression) -> NDArray[np.float64]:
        """Return the float values at all cuts; not to be written to."""
        if expression not in self._known:
            self._known[expression] = super().values(expression)
            self._known[expression].flags.writeable = False
        return self._known[expression]

    def holds(self, constraint: Constraint, index: int) -> bool:
        """Return whether a constraint holds at one cut."""
        return bool(self._held(constraint)[index])

    def _held(self, constraint: Constraint, index: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
        if constraint not in self._known:
            self._known[constraint] = super()._held(constraint)
        return self._known[constraint] if index is None else self._known[constraint][index]


def _evaluate(expression: Expression, counts: Counts) -> Exact:
    """Return the exact value at a confusion: of whole numbers of the unit, if they will do."""
    value = expression.evaluate(**(counts if expression.degree is None else counts.whole))
    if expression.degree == 1 and isinstance(value, (int, Fraction)):
        return counts.unit.fraction(value.numerator) / value.denominator
    return Fraction(value) if isinstance(value, int) else value

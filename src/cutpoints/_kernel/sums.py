"""Exact sums of masses at cuts, ``w0 + w1*tp + w2*fp`` with whole weights: their signs decide between cuts.

Where the value is a quotient of such sums, it exceeds another number where one more such sum is positive. The
sum is small at cuts that floats cannot tell apart, whatever its terms are, and that makes it quick to know.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cutpoints._kernel.digits import Digits
from cutpoints._kernel.masses import scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cutpoints._kernel.masses import Masses
    from cutpoints._kernel.tables import Summary
    from cutpoints.metrics.expression import Expression

    Floats = dict[str, NDArray[np.float64]]

SMALL = 1 << 62
"""Sums below this are told apart modulo 2**64."""
VECTOR = 64
"""From so many cuts on, exact comparisons are made on whole arrays where the form allows it."""
_LARGEST = 1 << 900
"""A float has room for this times 2**62."""


@dataclass(frozen=True)
class Quotient:
    """A value as a quotient of two sums of masses in units."""

    above: list[int]
    under: list[int]

    @classmethod
    def of(cls, expression: Expression, summary: Summary) -> Quotient | None:
        """Return the value of an expression as a quotient, if it is one."""
        # Of counts in a unit, if it makes no difference: whole numbers are quick.
        whole = expression.scale_free
        totals = (summary.positives, summary.negatives) if whole else summary.totals
        sides = expression.coefficients(*totals)
        if sides is None:
            return None
        if whole and all(type(x) is int for side in sides for x in side):
            return cls(*map(list, sides))
        if not whole:
            grain = summary.unit.fraction(1)
            sides = [(side[0], side[1] * grain, side[2] * grain) for side in sides]
        common = math.lcm(*(x.denominator for side in sides for x in side))
        return cls(*([x.numerator * (common // x.denominator) for x in side] for side in sides))

    @property
    def is_sum(self) -> bool:
        """Whether it is a sum itself: the denominator is the same at every cut, and not zero."""
        return self.under[0] != 0 and self.under[1] == self.under[2] == 0

    def excess(self, reference: Fraction, summary: Summary) -> Excess:
        """Return what has the sign of ``value - reference``."""
        # value - p/q has the sign of q*numerator - p*denominator: no division, no rounding.
        p, q = reference.numerator, reference.denominator
        weights = [q * a - p * b for a, b in zip(self.above, self.under, strict=True)]
        shared = math.gcd(*weights) or 1
        b0, b1, b2 = map(abs, self.under)
        largest = q * (b0 + b1 * summary.positives + b2 * summary.negatives)
        return Excess([weight // shared for weight in weights], Fraction(largest, shared))


class Excess(NamedTuple):
    """How far a value exceeds another: this sum, in units, has the sign of the difference.

    It is at most `largest` times the difference.
    """

    weights: list[int]
    largest: Fraction

    def within(self, room: float) -> Fraction | float:
        """Return how large it can be where the difference is no more than `room`."""
        return self.largest * Fraction(room) if math.isfinite(room) else math.inf


@dataclass(frozen=True)
class Sums:
    """Sums of the masses called positive at cuts."""

    summary: Summary
    tp: Masses
    fp: Masses
    floats: Floats

    def signs(
        self,
        weights: list[int],
        index: NDArray[np.intp],
        bound: Callable[[], Fraction | float] = lambda: math.inf,
    ) -> NDArray[np.int8]:
        """Return the signs of sums that are known to be no larger than `bound` says, at some cuts."""
        quick = self.quick_signs(weights, index, bound)
        if quick is not None:
            return quick
        w0, w1, w2 = weights
        tp, fp = self.tp[index], self.fp[index]
        if len(index) > VECTOR:
            return Digits.sums(w0, [(w1, tp), (w2, fp)]).signs()
        sums = (w0 + w1 * t + w2 * f for t, f in zip(tp.integers(), fp.integers(), strict=True))
        return np.array([(x > 0) - (x < 0) for x in sums], dtype=np.int8)

    def quick_signs(
        self, weights: list[int], index: NDArray[np.intp], bound: Callable[[], Fraction | float]
    ) -> NDArray[np.int8] | None:
        """Return these signs if nothing needs to be added up; None else."""
        plain = self._plain(weights)
        if plain is not None:
            sign, (one, *other) = plain
            counts = self.floats[one][index]
            for name in other:
                counts = counts + self.floats[name][index]  # of two that are not negative
            return sign * (counts > 0).view(np.int8)
        w0, w1, w2 = weights
        most = abs(w0) + abs(w1) * self.summary.positives + abs(w2) * self.summary.negatives
        small = self.small(weights, index) if most < SMALL or bound() < SMALL else None
        return None if small is None else np.sign(small).astype(np.int8)

    def _plain(self, weights: list[int]) -> tuple[np.int8, list[str]] | None:
        """Return the sign of a sum wherever it is not zero, and the counts that all are where it is.

        None if it is not as plain as that. It is where a value is compared with the best that can be, such
        as a precision with 1.
        """
        w0, w1, w2 = weights
        for tp, hits, base in (("tp", w1, w0), ("fn", -w1, w0 + w1 * self.summary.positives)):
            for fp, alarms, rest in (("fp", w2, base), ("tn", -w2, base + w2 * self.summary.negatives)):
                if rest == 0 and hits * alarms >= 0:
                    terms = [name for name, weight in ((tp, hits), (fp, alarms)) if weight]
                    return np.int8((max(hits, alarms) > 0) - (min(hits, alarms) < 0)), terms or ["tp"]
        return None

    def small(self, weights: list[int], index: NDArray[np.intp]) -> NDArray[np.int64] | None:
        """Return sums that are known to be small; None where they would have to be added up in full.

        Their terms need not be small: in two's complement, arithmetic that overflows on the way still ends
        at the right small number.
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

    def largest(self, weights: list[int], index: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of some cuts where the sum is largest."""
        w0, w1, w2 = weights
        return index[Digits.sums(w0, [(w1, self.tp[index]), (w2, self.fp[index])]).largest()]

    @cached_property
    def _chance(self) -> tuple[list[int], int]:
        """What is zero at chance, ``tp*tn - fp*fn = N*tp - P*fp``, and what it was divided by."""
        positives, negatives = self.summary.positives, self.summary.negatives
        shared = math.gcd(positives, negatives) or 1
        return [0, negatives // shared, -positives // shared], shared

    def at_chance(self, index: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return where decision and truth are independent."""
        return self.signs(self._chance[0], index) == 0

    def from_chance(
        self, index: NDArray[np.intp], slack: float
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return ``tp*tn - fp*fn`` at some cuts, within a few roundings of itself, and where it is zero.

        `slack` is how far off, in parts of themselves, products of the floats may be.
        """
        weights, shared = self._chance
        tp, fp, fn, tn = (self.floats[name][index] for name in ("tp", "fp", "fn", "tn"))
        grain = 2 * self.summary.unit.exponent
        size = float(np.abs(tp * tn - fp * fn).max()) + 8 * slack * sum(self.summary.sizes) ** 2
        shared *= self.summary.unit.factor**2
        bound = Fraction(size) / shared / Fraction(2) ** grain if math.isfinite(size) else math.inf
        small = self.small(weights, index) if bound < SMALL and shared < _LARGEST else None
        if small is not None:
            return scaled(small.astype(np.float64) * float(shared), grain), small == 0
        terms = zip(weights[1:], (self.tp[index], self.fp[index]), strict=True)
        digits = Digits.sums(0, [(shared * weight, masses) for weight, masses in terms])
        return digits.floats(grain), digits.signs() == 0

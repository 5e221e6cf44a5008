"""Exact sums of masses times integers of any length, for many cuts at once.

Whether one cut is better than another is the sign of such a sum where the objective is a quotient of sums.
Python's integers answer that for one cut; here all cuts are answered together, in digits of 18 bits: one of
these times a limb of 36 bits leaves room in an int64 to add up a few hundred such products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.masses import LIMB_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from cutpoints._kernel.masses import Masses

_BITS = LIMB_BITS // 2
_MASK, _LIMB_MASK = (1 << _BITS) - 1, (1 << LIMB_BITS) - 1


class Digits:
    """Many integers of any length: a row per digit, the lowest first; the highest digit has the sign."""

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self.rows = rows

    @classmethod
    def sums(cls, constant: int, terms: Iterable[tuple[int, Masses]]) -> Digits:
        """Return ``constant + sum of factor * mass``, of masses in their unit, all equally many.

        In time and memory that grow with the length of the factors.
        """
        products = [(factor, _limbs(masses)) for factor, masses in terms]
        size = abs(constant)
        for factor, limbs in products:
            size += abs(factor) << (LIMB_BITS * (len(limbs) - 1) + int(limbs[-1].max(initial=0)).bit_length())
        # A digit more than the longest sum has, for the sign.
        rows = np.zeros((size.bit_length() // _BITS + 2, len(products[0][1][0])), dtype=np.int64)
        for place, digit in _digits(constant):
            rows[place] += digit
        for factor, limbs in products:
            for place, digit in _digits(factor):
                for i, limb in enumerate(limbs):
                    if place + 2 * i < len(rows):  # what is beyond is zero
                        rows[place + 2 * i] += digit * limb
        return cls(_carried(rows))

    def signs(self) -> NDArray[np.int8]:
        """Return the sign of each."""
        return np.where(self.rows[-1] < 0, np.int8(-1), self.rows.any(axis=0).astype(np.int8))

    def floats(self, exponent: int = 0) -> NDArray[np.float64]:
        """Return the numbers times a power of two, each within a few roundings of itself."""
        negative = self.rows[-1] < 0
        rows = _carried(np.where(negative, -self.rows, self.rows))  # nothing is taken away from anything
        sizes = np.zeros(rows.shape[1])
        for i, digits in enumerate(rows):  # the lowest first, which are not lost so
            sizes += np.ldexp(digits.astype(np.float64), exponent + _BITS * i)
        return np.where(negative, -sizes, sizes)

    def largest(self) -> NDArray[np.intp]:
        """Return where the largest are."""
        left = np.arange(self.rows.shape[1])
        for digits in self.rows[::-1]:
            here = digits[left]
            left = left[here == here.max()]
        return left


def _carried(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bring every digit but the highest into ``[0, 2**18)``, in place."""
    for i in range(len(rows) - 1):
        rows[i + 1] += rows[i] >> _BITS
        rows[i] &= _MASK
    return rows


def _limbs(masses: Masses) -> list[NDArray[np.int64]]:
    """Return limbs of 36 bits each; the highest of masses may be longer."""
    *lower, highest = masses.limbs
    longer = highest >> LIMB_BITS
    return [*lower, highest & _LIMB_MASK, longer] if longer.any() else [*lower, highest]


def _digits(number: int) -> list[tuple[int, int]]:
    """Return the digits that are not zero, with their places; all of the sign of the number."""
    sign, rest, place = (-1 if number < 0 else 1), abs(number), 0
    digits = []
    while rest:
        if rest & _MASK:
            digits.append((place, sign * (rest & _MASK)))
        rest >>= _BITS
        place += 1
    return digits

"""Fixed-point weights: floats rounded once to a common grid, so that every sum is exact.

Only `FixedPoint.encode` rounds. Sums of its integers never do, so neither the order of the rows, nor
the number of threads, nor the engine can change a result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHT_BITS = 36
"""Bits per weight: a float64 `bincount` adds 2**17 such weights without rounding (36 + 17 = 53)."""
SUM_BITS = 62
"""Bits of the largest sum that int64 holds with one to spare."""
BLOCK_ROWS = 1 << (53 - WEIGHT_BITS)
"""Rows whose encoded weights a float64 adds without rounding."""
EXACT_INTEGERS = 2.0**53
"""Below this float64 holds every integer."""
CENTS = 100
"""Amounts of money have two decimals."""
_PLAIN_POWER = 1000
"""Powers of two of this size and their inverses are floats; multiplying is ten times as fast as ldexp."""
_LARGEST_INT = 1 << 63
MOST_INT = 1 << SUM_BITS


@dataclass(frozen=True)
class FixedPoint:
    """The grid of the weights: integer multiples of ``factor * 2**exponent / parts``.

    The factor is 1, unless all rows have one weight: then rows are counted, and the step is that weight.
    Parts are 1, or 100 for amounts of money with cents, which are added up without any rounding.
    """

    exponent: int = 0
    factor: int = 1
    parts: int = 1
    resolution: float = 0.0
    """How far a single weight may have moved: half a grid step; 0 where nothing was rounded."""

    @classmethod
    def fitting(cls, *, largest: float, rows: int) -> FixedPoint:
        """Return the finest grid on which `rows` weights of at most `largest` add up in int64."""
        exponent = math.frexp(largest)[1] - _bits(rows)
        return cls(exponent, resolution=math.ldexp(0.5, exponent))

    @classmethod
    def cents(cls, *, largest: float, rows: int) -> FixedPoint | None:
        """Return the grid of hundredths, if `rows` values of at most `largest` add up on it in int64."""
        return cls(parts=CENTS) if largest * CENTS < 1 << _bits(rows) else None

    @classmethod
    def constant(cls, weight: float) -> FixedPoint:
        """Return the grid of rows that all have one weight, and are counted."""
        numerator, denominator = weight.as_integer_ratio()
        return cls(1 - denominator.bit_length(), numerator)

    @cached_property
    def step(self) -> Fraction:
        """What one unit of a sum stands for."""
        return self.factor * Fraction(2) ** self.exponent / self.parts

    def round(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Round weights to the grid, ties to even, as integers in float64."""
        weights = weights.astype(np.float64, copy=False)
        if self.parts != 1:
            scaled = weights * self.parts
        elif abs(self.exponent) < _PLAIN_POWER:
            scaled = weights * 2.0**-self.exponent
        else:
            scaled = np.ldexp(weights, -self.exponent)
        return np.rint(scaled, out=scaled)

    def encode(self, weights: NDArray[Any]) -> NDArray[np.int64]:
        """Round weights to the grid, ties to even."""
        return self.round(weights).astype(np.int64)

    def decode(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return sums of encoded weights as floats, each rounded at most twice."""
        floats = totals.astype(np.float64)
        if self.factor != 1:
            floats *= float(self.factor)
        if self.parts != 1:
            floats /= self.parts
        return np.ldexp(floats, self.exponent) if self.exponent else floats

    def number(self, total: int) -> int | float:
        """Return a sum of encoded weights: an int if it is one, else a float, rounded once."""
        return as_number(total * self.step)


def _bits(rows: int) -> int:
    """Return how many bits each weight may have, given their number."""
    return min(WEIGHT_BITS, SUM_BITS - rows.bit_length())


def as_number(exact: Fraction) -> int | float:
    """Return an exact number as people expect it: an int if it is one and not huge, else a float."""
    if exact.denominator == 1 and abs(exact.numerator) < _LARGEST_INT:
        return exact.numerator
    return float(exact)

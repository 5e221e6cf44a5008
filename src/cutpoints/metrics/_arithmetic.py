"""Numbers as people write them, and roots of fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

_ROOT_BITS = 64
"""Bits of an integer root before it is rounded to the 53 of a float."""


def as_fraction(x: Any) -> Fraction:
    """Read a number as the decimal that people wrote: 0.1 is 1/10, not the nearest double.

    >>> as_fraction(0.95)
    Fraction(19, 20)
    """
    if isinstance(x, Fraction):
        return x
    if isinstance(x, (int, np.integer)):
        return Fraction(int(x))
    return Fraction(repr(float(x)))


def as_float(exact: Fraction) -> float:
    """Round a fraction once; beyond the floats it is infinite."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def rounded_root(square: Fraction) -> float:
    """Return the square root of a fraction that is not negative, rounded once.

    >>> rounded_root(Fraction(1, 4)), rounded_root(Fraction(2))
    (0.5, 1.4142135623730951)
    """
    above, under = square.numerator, square.denominator
    shift = max(0, 2 * _ROOT_BITS + under.bit_length() - above.bit_length() + 1) & ~1
    scaled, rest = divmod(above << shift, under)
    root = math.isqrt(scaled)
    if rest or root * root != scaled:
        root |= 1  # not exact: the last bit, far below a float's, breaks ties the right way
    return math.ldexp(float(root), -(shift // 2))

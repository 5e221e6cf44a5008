"""Square roots that are irrational, kept as what they are the root of: exact, and quick to compare.

The square of a Matthews correlation is a fraction. Two such values are compared by their squares, whatever
their digits. Only where a root is added to something it becomes a fraction, of `ROOT_DIGITS` digits.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT_DIGITS = 900
"""Digits of an irrational root that is added to something: weights span 200 orders of magnitude, roots of
products of four of them can agree to 800 digits and still differ."""

FEW_DIGITS = 40
"""Digits of what is only to be rounded to a float, see `few_digits`."""

_FLOAT_BITS = 2 * 60
_few: ContextVar[bool] = ContextVar("few", default=False)


@contextmanager
def few_digits() -> Iterator[None]:
    """Evaluate to `FEW_DIGITS` digits only what is irrational: to compare takes many, to print does not."""
    before = _few.set(True)
    try:
        yield
    finally:
        _few.reset(before)


def wanted_digits(many: int) -> int:
    """Return how many digits are asked for, where so many are usual."""
    return FEW_DIGITS if _few.get() else many


def exact_root(square: int | Fraction) -> Fraction | Root:
    """Return the square root of a number that is not negative."""
    square = Fraction(square)
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    return Root(square)


def rounded_root(top: int, bottom: int) -> float:
    """Return the root of a quotient of whole numbers that are not negative, rounded once to a float."""
    whole, shift, more = _digits(top, bottom, _FLOAT_BITS)
    # What is more than its first digits gets one more, which keeps it off the middle of two floats.
    return (2 * whole + more) / (1 << (shift + 1))


def _digits(top: int, bottom: int, bits: int) -> tuple[int, int, bool]:
    """Return the digits of the root of a quotient: a whole number, of half as many bits or more.

    And by what power of two it is too large, and whether there are more digits.
    """
    # However small the quotient is; of a large one the digits before the point come on top.
    shift = bits + 2 * max(0, bottom.bit_length() - top.bit_length())
    number, rest = divmod(top << shift, bottom)
    whole = math.isqrt(number)
    return whole, shift // 2, rest != 0 or whole * whole != number


class Root:
    """An irrational root of a fraction, or its negative."""

    __slots__ = ("sign", "square")

    def __init__(self, square: Fraction, sign: int = 1) -> None:
        self.square, self.sign = square, sign

    @property
    def fraction(self) -> Fraction:
        """The value, correct to `ROOT_DIGITS` digits, or see `few_digits`."""
        bits = 2 * int(wanted_digits(ROOT_DIGITS) * math.log2(10))
        whole, shift, _ = _digits(self.square.numerator, self.square.denominator, bits)
        return Fraction(self.sign * whole, 1 << shift)

    def __float__(self) -> float:
        return self.sign * rounded_root(self.square.numerator, self.square.denominator)

    def __repr__(self) -> str:
        return f"Root({self.square!r}, {self.sign})"

    # --- what stays a root

    def __neg__(self) -> Root:
        return Root(self.square, -self.sign)

    def __abs__(self) -> Root:
        return Root(self.square)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Root):
            return self.sign * other.sign * exact_root(self.square * other.square)
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        return Root(self.square * other * other, self.sign * _sign(other)) if other else Fraction(0)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Root):
            return self * Root(1 / other.square, other.sign)
        return self * (1 / Fraction(other)) if isinstance(other, (int, Fraction)) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        return Root(other * other / self.square, self.sign * _sign(other)) if other else Fraction(0)

    # --- what does not

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Root):
            return self.fraction + other.fraction
        return self.fraction + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    # --- comparisons, all exact

    def _compared(self, other: Any) -> int:
        """Return the sign of what this number exceeds another one by, which is not NaN."""
        if isinstance(other, float) and math.isinf(other):
            return -_sign(other)
        mine = self.sign * self.square
        other = other.sign * other.square if isinstance(other, Root) else _sign(other) * Fraction(other) ** 2
        return (mine > other) - (mine < other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and self.sign == other.sign and self.square == other.square

    def __hash__(self) -> int:
        return hash((self.square, self.sign))

    def __lt__(self, other: Any) -> bool:
        return bool(other == other) and self._compared(other) < 0

    def __gt__(self, other: Any) -> bool:
        return bool(other == other) and self._compared(other) > 0

    def __le__(self, other: Any) -> bool:
        return bool(other == other) and self._compared(other) <= 0

    def __ge__(self, other: Any) -> bool:
        return bool(other == other) and self._compared(other) >= 0


def _sign(number: Any) -> int:
    return (number > 0) - (number < 0)

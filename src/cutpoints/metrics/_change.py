"""How a formula's value changes from one confusion to others, known to a part of the change itself.

Two cuts that are close to each other have values that agree in almost all digits, so the difference of two
floats says nothing. What lies between the cuts is known, however little it is. From that each operation gives
the change of its result, with nothing large taken away from anything large.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_COARSE = 1e3
"""What is a smaller part of what it was made of may be anything: zero, or of the other sign."""


class Change:
    """A number at one confusion, and by how much it is more at others.

    `bulk` and `size` are what `at` and `by` would be if nothing cancelled in them: both are off by no more
    than a few roundings of these. Whoever needs a sign compares `by` with `size`.
    """

    __slots__ = ("at", "bulk", "by", "size")
    __array_ufunc__ = None  # so that NumPy's numbers leave the arithmetic to this class

    def __init__(self, at: float, by: Any, *, bulk: float | None = None, size: Any = None) -> None:
        self.at, self.by = at, by
        self.bulk = abs(at) if bulk is None else bulk
        self.size = np.abs(by) if size is None else size

    def __add__(self, other: Any) -> Change:
        if not isinstance(other, Change):
            number = float(other)
            return Change(self.at + number, self.by, bulk=self.bulk + abs(number), size=self.size)
        return Change(
            self.at + other.at, self.by + other.by, bulk=self.bulk + other.bulk, size=self.size + other.size
        )

    __radd__ = __add__

    def __neg__(self) -> Change:
        return Change(-self.at, -self.by, bulk=self.bulk, size=self.size)

    def __sub__(self, other: Any) -> Change:
        return self + -other

    def __mul__(self, other: Any) -> Change:
        if not isinstance(other, Change):
            number = float(other)
            far = abs(number)
            return Change(number * self.at, number * self.by, bulk=far * self.bulk, size=far * self.size)
        return Change(
            self.at * other.at,
            self.at * other.by + (other.at + other.by) * self.by,
            bulk=self.bulk * other.bulk,
            size=self.bulk * other.size + (other.bulk + other.size) * self.size,
        )

    __rmul__ = __mul__

    def _coarse(self) -> tuple[float, Any]:
        """Return by how much roundings are larger parts of this number, here and there, than of its bulk."""
        if self.bulk > _COARSE * abs(self.at):
            raise ZeroDivisionError
        there = (self.bulk + self.size) / np.abs(self.at + self.by)
        return self.bulk / abs(self.at), np.where(there < _COARSE, np.maximum(1.0, there), np.inf)

    def __truediv__(self, other: Any) -> Change:
        if not isinstance(other, Change):
            return self * (1 / float(other))
        here, there = other._coarse()
        quotient, bulk = self.at / other.at, self.bulk / abs(other.at) * here
        return Change(
            quotient,
            (self.by - quotient * other.by) / (other.at + other.by),
            bulk=bulk,
            size=(self.size + bulk * other.size) / np.abs(other.at + other.by) * there,
        )

    def __rtruediv__(self, other: Any) -> Change:
        return Change(float(other), np.zeros_like(self.by)) / self

    def __abs__(self) -> Change:
        sign = 1.0 if self.at >= 0 else -1.0
        there = sign * (self.at + self.by)
        size = self.bulk + self.size
        clear = _COARSE * np.minimum(abs(self.at), there) > size  # the sign is the same here and there
        return Change(
            abs(self.at),
            np.where(clear, sign * self.by, np.abs(there) - abs(self.at)),
            bulk=self.bulk,
            size=np.where(clear, self.size, size),
        )

    def root(self) -> Change:
        """Return the square root."""
        root = math.sqrt(max(self.at, 0.0))
        both = root + np.sqrt(self.at + self.by)
        here, there = (1.0, 1.0) if self.bulk == 0 else self._coarse()  # from zero up
        return Change(root, self.by / both, bulk=root * here, size=self.size / both * here * there)

    def smaller(self, other: Change) -> Change:
        """Return the smaller of two."""
        if other.at < self.at:
            return other.smaller(self)
        beyond = (other.at - self.at) + other.by
        bulk = self.bulk + other.bulk
        size = self.size + other.size + bulk
        return Change(
            self.at,
            np.minimum(self.by, beyond),
            bulk=self.bulk,
            size=np.where(_COARSE * (beyond - self.by) > size, self.size, size),
        )

    def logarithm(self) -> Change:
        """Return the natural logarithm."""
        here, there = self._coarse()
        logarithm, by = math.log(self.at), np.log1p(self.by / self.at)
        size = self.size / np.abs(self.at + self.by) * here * there
        return Change(logarithm, by, bulk=abs(logarithm) + here, size=np.abs(by) + size)

    def entropy_term(self, reference: Change) -> Change:
        """Return ``x * log2(x / reference)``."""
        return self * (self.logarithm() - reference.logarithm()) * (1 / math.log(2))

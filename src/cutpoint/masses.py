"""Exact sums: masses as integers.

A row weighs 1, or a whole number, or a float. Floats are whole numbers too, of a small enough
unit: every float64 is an integer times a power of two. So masses are added as integers, in any
order and on any number of threads, and the sum is the true sum, not one of its roundings. Two
thresholds whose values are equal are then seen to be equal.

An integer that is too long for int64 is held as *limbs* of 36 bits. 2**17 rows of 36 bits fill the
53 bits of a float64: that is what makes `numpy.bincount` with weights, which adds floats, exact on
a block of that many rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIMB_BITS = 36
FLOAT_BITS = 53
INT_BITS = 62
BLOCK_ROWS = 1 << (FLOAT_BITS - LIMB_BITS)
"""So many limbs add up without rounding in float64."""

_MASK = (1 << LIMB_BITS) - 1
_LARGEST_POWER = 1000
_FIRST = 64
_ONE_BY_ONE = 8
"""So few sums are made exact one by one; for more of them all weights are split."""
_MANY, _COARSE = 1 << 10, 1 << 10
"""Of so many rows a running sum less is worth it if differences are no coarser than this."""
_RUN = 4
"""From so many rows per distinct score on, they are added up before the running sums."""


@dataclass(frozen=True)
class Unit:
    """The grain of the masses: integers of `limbs` limbs, counted in ``2**exponent``."""

    exponent: int = 0
    limbs: int = 1

    def fraction(self, integer: int) -> Fraction:
        """Return the mass that an integer stands for."""
        if self.exponent < 0:
            return Fraction(integer, 1 << -self.exponent)
        return Fraction(integer << self.exponent)

    def number(self, integer: int) -> int | float:
        """Return that mass as people expect it, see `number`."""
        if self.exponent == 0 and abs(integer) < 1 << 63:
            return integer
        if self.exponent < 0 and integer & ((1 << -self.exponent) - 1):
            return integer / (1 << -self.exponent)  # whole numbers are divided with one rounding
        return number(self.fraction(integer))

    def split(self, values: NDArray[Any]) -> list[NDArray[np.float64]]:
        """Split non-negative values of this grain into limbs, lowest first; each step is exact."""
        # Times a power of two is exact, and ten times as fast as ldexp.
        rest = values * np.float64(2.0**-self.exponent)
        parts = []
        for i in reversed(range(1, self.limbs)):
            part = rest * 2.0 ** (-LIMB_BITS * i)
            np.floor(part, out=part)
            rest -= part * 2.0 ** (LIMB_BITS * i)
            parts.append(part)
        parts.append(rest)
        return parts[::-1]


def bit_range(values: NDArray[Any]) -> tuple[int, int] | None:
    """Return the places of the lowest and one past the highest set bit over all values; None for zeros."""
    values = values[values != 0].astype(np.float64)
    if len(values) == 0:
        return None
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, FLOAT_BITS).astype(np.int64)
    _, trailing = np.frexp((whole & -whole).astype(np.float64))
    return int((exponent - FLOAT_BITS + trailing - 1).min()), int(exponent.max())


def outer_bits(values: NDArray[Any]) -> tuple[int, int] | None:
    """Return a range of places that holds all set bits, as `bit_range` does, if not the narrowest.

    From the smallest and the largest value only: two passes instead of twenty.
    """
    high = float(values.max(initial=0.0))
    if high == 0:
        return None
    top = math.frexp(high)[1]
    if bool((values[:_FIRST] == np.floor(values[:_FIRST])).all()) and (values == np.floor(values)).all():
        return 0, top
    low = float(values.min())
    if low == 0:
        low = float(values[values > 0].min())
    return math.frexp(low)[1] - (np.finfo(values.dtype).nmant + 1), top


class Masses:
    """A vector of exact masses: a row of int64 limbs each, of one `Unit`."""

    __slots__ = ("limbs", "unit")

    roundings: int = 1
    """The floats are off by no more than so many roundings, times the number of limbs."""

    def __init__(self, limbs: NDArray[np.int64], unit: Unit) -> None:
        self.limbs = limbs
        self.unit = unit

    def __len__(self) -> int:
        return self.limbs.shape[1]

    def __getitem__(self, index: Any) -> Masses:
        return Masses(self.limbs[:, index], self.unit)

    def __add__(self, other: Masses) -> Masses:
        return Masses(self.limbs + other.limbs, self.unit).carried()

    def __sub__(self, other: Masses) -> Masses:
        return Masses(self.limbs - other.limbs, self.unit).carried()

    @classmethod
    def scalar(cls, integer: int, unit: Unit) -> Masses:
        """Return a vector of one mass, for arithmetic with longer ones."""
        parts = [(integer >> (LIMB_BITS * i)) & _MASK for i in range(unit.limbs - 1)]
        parts.append(integer >> (LIMB_BITS * (unit.limbs - 1)))
        return cls(np.array(parts, dtype=np.int64)[:, None], unit)

    def carried(self) -> Masses:
        """Return the same masses with every limb but the highest in ``[0, 2**36)``."""
        if len(self.limbs) == 1:
            return self
        limbs = self.limbs.copy()
        for i in range(len(limbs) - 1):
            limbs[i + 1] += limbs[i] >> LIMB_BITS
            limbs[i] &= _MASK
        return Masses(limbs, self.unit)

    def followed_by(self, other: Masses) -> Masses:
        """Return the elements of both, these first."""
        return Masses(np.concatenate([self.limbs, other.limbs], axis=1), self.unit)

    def to(self, unit: Unit) -> Masses:
        """Return the same masses in another grain with room for them.

        Exact in a finer one; in a coarser one if they are multiples of it, else rounded down.
        """
        if unit == self.unit:
            return self
        if unit.exponent > self.unit.exponent:
            shift = unit.exponent - self.unit.exponent
            columns = [Masses.scalar(whole >> shift, unit).limbs for whole in self.integers()]
            return Masses(np.concatenate([np.zeros((unit.limbs, 0), np.int64), *columns], axis=1), unit)
        places, bits = divmod(self.unit.exponent - unit.exponent, LIMB_BITS)
        limbs = np.zeros((unit.limbs, len(self)), dtype=np.int64)
        rest = self.carried().limbs
        for i in range(len(rest) + 1):
            # The highest limb may be longer than the others: what is beyond goes one place up.
            part = rest[i] if i < len(rest) else rest[-1] >> LIMB_BITS
            for place, shifted in (
                (i + places, (part & (_MASK >> bits)) << bits),
                (i + places + 1, (part & _MASK) >> (LIMB_BITS - bits)),
            ):
                top = min(place, unit.limbs - 1)
                limbs[top] += shifted << (LIMB_BITS * (place - top)) if place > top else shifted
        return Masses(limbs, unit).carried()

    def before(self) -> Masses:
        """Return, for each element, the sum of those before it."""
        sums = np.zeros_like(self.limbs)
        np.cumsum(self.limbs[:, :-1], axis=1, out=sums[:, 1:])
        return Masses(sums, self.unit).carried()

    def from_top(self, nobody: int) -> Masses:
        """Return the sums of all elements from each on, the last first; after a zero if `nobody` is 1."""
        sums = np.zeros((len(self.limbs), len(self) + nobody), dtype=np.int64)
        np.cumsum(self.limbs[:, ::-1], axis=1, out=sums[:, nobody:])
        return Masses(sums, self.unit).carried()

    def roughly_from_top(self, nobody: int) -> Masses:
        """Return the sums of `from_top`, for whom it is enough if floats are within more `roundings`."""
        return self.from_top(nobody)

    def rest_of(self, total: int) -> NDArray[np.float64]:
        """Return what each element lacks of a total, as float64 values like those of `floats`."""
        return Masses(Masses.scalar(total, self.unit).limbs - self.limbs, self.unit).floats()

    def integer(self, index: int) -> int:
        """Return one element as an integer multiple of the unit."""
        if len(self.limbs) == 1:
            return int(self.limbs[0, index])
        return sum(int(limb) << (LIMB_BITS * i) for i, limb in enumerate(self.limbs[:, index]))

    def integers(self) -> list[int]:
        """Return all elements as integer multiples of the unit."""
        if len(self.limbs) == 1:
            return [int(x) for x in self.limbs[0]]
        return [self.integer(i) for i in range(len(self))]

    def total(self) -> int:
        """Return the sum as an integer multiple of the unit."""
        return sum(int(limb.sum()) << (LIMB_BITS * i) for i, limb in enumerate(self.limbs))

    def floats(self) -> NDArray[np.float64]:
        """Return float64 values, each within one rounding per limb of the true mass."""
        value = self.limbs[-1].astype(np.float64)
        for limb in self.limbs[-2::-1]:
            value = value * float(1 << LIMB_BITS) + limb
        return scaled(value, self.unit.exponent) if self.unit.exponent else value


class Weighed:
    """The weights of rows in order of their scores, of which sums are exact only where need be.

    A complex number per row, the positive and the negative mass: two sums for the price of one. Float
    sums tell most cuts apart. Only for the few that they do not are the weights split into limbs,
    which costs more than all else but the sort. `first` has the row at which each distinct score
    starts; None where every row has its own.
    """

    def __init__(
        self, rows: NDArray[np.complex128], unit: Unit, first: NDArray[np.intp] | None = None
    ) -> None:
        self.rows, self.unit, self.first = rows, unit, first
        self._asked: dict[int, tuple[int, int]] = {}

    @cached_property
    def sums(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128], int]:
        """The sums of the rows from each distinct score on, the highest score first, after a zero.

        And the sums of all other rows; and by how many roundings, relative to itself, a sum can be off.
        """
        rows, first = self.rows, self.first
        if first is not None and _RUN * len(first) <= len(rows):
            rows, first = np.add.reduceat(rows, first), None
        above, below, coarser = _from_both_ends(rows)
        # Each addition of positive numbers is one rounding at most; whole numbers are not rounded.
        roundings = 1 if self.unit == Unit() else len(self.rows) * coarser
        if first is None:
            return above, below, roundings
        index = len(rows) - np.append(first, len(rows))[::-1]
        return above[index], below[index], roundings

    @cached_property
    def limbs(self) -> list[NDArray[np.complex128]]:
        """The limbs of each row: whole numbers, of which floats add `BLOCK_ROWS` exactly."""
        return [part.view(np.complex128) for part in self.unit.split(self.rows.view(np.float64))]

    def total(self, start: int = 0) -> tuple[int, int]:
        """Return the exact sums of all rows from one on, as integer multiples of the unit."""
        pos = neg = 0
        for i, limb in enumerate(self.limbs):
            for block in range(start, len(limb), BLOCK_ROWS):
                both = complex(np.add.reduce(limb[block : block + BLOCK_ROWS]))
                pos += int(both.real) << (LIMB_BITS * i)
                neg += int(both.imag) << (LIMB_BITS * i)
        return pos, neg

    def exact(self, index: int) -> tuple[int, int]:
        """Return one pair of the first `sums` as integer multiples of the unit."""
        if index not in self._asked:
            at = len(self.sums[0]) - 1 - index
            if self.first is not None:
                at = int(self.first[at]) if index else len(self.rows)
            self._asked[index] = self.total(at)
        return self._asked[index]


def _from_both_ends(
    rows: NDArray[np.complex128],
) -> tuple[NDArray[np.complex128], NDArray[np.complex128], int]:
    """Return the sums of the last 0, 1, 2 ... rows, those of the other rows, and how coarse they are.

    Many rows are added up from both ends to the middle only; beyond it a sum is what the other one
    leaves of the total. As a difference of two sums that is coarser, the more so the less is left.
    """
    size = len(rows)
    middle = size // 2
    above, below = np.empty((2, size + 1), dtype=np.complex128)
    above[0] = below[-1] = 0
    if size >= _MANY:
        np.cumsum(rows[: size - middle - 1 : -1], out=above[1 : middle + 1])
        np.cumsum(rows[: size - middle], out=below[-2 : middle - 1 : -1])
        upper, lower = complex(above[middle]), complex(below[middle])
        total = upper + lower
        coarser = max(_inverse_share(upper.real, lower.real), _inverse_share(upper.imag, lower.imag))
        if coarser <= _COARSE:
            np.subtract(total, below[middle + 1 :], out=above[middle + 1 :])
            np.subtract(total, above[:middle], out=below[:middle])
            return above, below, math.ceil(coarser)
    np.cumsum(rows[::-1], out=above[1:])
    np.cumsum(rows, out=below[-2::-1])
    return above, below, 1


def _inverse_share(a: float, b: float) -> float:
    """Return how many roundings of the sum of two numbers are one of the smaller; and some to spare."""
    return 1.0 if a == b == 0 else 4 * (a + b) / min(a, b) if min(a, b) > 0 else math.inf


class Unsplit(Masses):
    """One side of `Weighed`, per distinct score: masses that are split when their limbs are asked for."""

    __slots__ = ("_limbs", "of", "side")

    def __init__(self, of: Weighed, side: Literal["real", "imag"]) -> None:
        self.of, self.side, self.unit = of, side, of.unit
        self._limbs: NDArray[np.int64] | None = None

    @property
    def limbs(self) -> NDArray[np.int64]:  # type: ignore[override]
        """The exact masses."""
        if self._limbs is None:
            self._limbs = self._split()
        return self._limbs

    def _split(self) -> NDArray[np.int64]:
        rows = np.array([getattr(limb, self.side) for limb in self.of.limbs], dtype=np.int64)
        return rows if self.of.first is None else np.add.reduceat(rows, self.of.first, axis=1)

    def roughly_from_top(self, nobody: int) -> Masses:
        """Return the sums of `from_top`, whose floats are made without splitting anything."""
        return _FromTop(self.of, self.side, nobody)


class _FromTop(Unsplit):
    """The running sums of one side of `Weighed`."""

    __slots__ = ("_skip",)

    def __init__(self, of: Weighed, side: Literal["real", "imag"], nobody: int) -> None:
        super().__init__(of, side)
        self._skip = 1 - nobody

    @property
    def roundings(self) -> int:  # type: ignore[override]
        """The floats are off by no more than so many roundings."""
        return self.of.sums[2]

    def __len__(self) -> int:
        return len(self.of.sums[0]) - self._skip

    def __getitem__(self, index: Any) -> Masses:
        few = isinstance(index, np.ndarray) and index.dtype.kind == "i" and len(index) <= _ONE_BY_ONE
        if self._limbs is not None or not few:
            return super().__getitem__(index)
        limbs = np.empty((self.unit.limbs, len(index)), dtype=np.int64)
        for place, i in enumerate(index.tolist()):
            limbs[:, place] = Masses.scalar(self.integer(i), self.unit).limbs[:, 0]
        return Masses(limbs, self.unit)

    def integer(self, index: int) -> int:
        """Return one element as an integer multiple of the unit."""
        if self._limbs is not None:
            return super().integer(index)
        return self.of.exact((index if index >= 0 else index + len(self)) + self._skip)[self.side == "imag"]

    def floats(self) -> NDArray[np.float64]:
        """Return float64 values, within `roundings` of the true mass."""
        return getattr(self.of.sums[0], self.side)[self._skip :]

    def rest_of(self, total: int) -> NDArray[np.float64]:
        """Return what each element lacks of the sum of all, just as far off."""
        return getattr(self.of.sums[1], self.side)[self._skip :]

    def _split(self) -> NDArray[np.int64]:
        return Masses(super()._split(), self.unit).from_top(1 - self._skip).limbs


def scaled(values: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Return ``values * 2**exponent``, rounded once; ten times as fast as ldexp if the power is a float."""
    return values * 2.0**exponent if abs(exponent) < _LARGEST_POWER else np.ldexp(values, exponent)


def number(mass: Fraction) -> int | float:
    """Return a mass as people expect it: a whole number as int, anything else rounded once to float."""
    return int(mass) if mass.denominator == 1 and abs(mass) < 1 << 63 else float(mass)


def grain(ranges: list[tuple[int, int] | None], rows: int) -> Unit:
    """Choose the unit for values with these bit ranges whose sum over all rows must fit."""
    known = [r for r in ranges if r is not None]
    if not known:
        return Unit()
    low, high = min(r[0] for r in known), max(r[1] for r in known)
    growth = (rows + 1).bit_length()
    if low >= 0 and high + growth <= FLOAT_BITS:
        return Unit()  # whole numbers whose sum is a float64 without rounding
    limbs = max(1, -(-(high - low) // LIMB_BITS))
    if high - low - LIMB_BITS * (limbs - 1) + growth > INT_BITS:
        limbs += 1  # room for the sum in the highest limb
    return Unit(low, limbs)

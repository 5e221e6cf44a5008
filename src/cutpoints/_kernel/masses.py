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
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._kernel.bands import sums_by_exponent, sums_of_signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Parts = dict[int, NDArray[np.complex128]]
    """Of complex numbers, by the place of their last bit."""

LIMB_BITS = 36
FLOAT_BITS = 53
INT_BITS = 62
BLOCK_ROWS = 1 << (FLOAT_BITS - LIMB_BITS)
"""So many limbs add up without rounding in float64."""

_MASK = (1 << LIMB_BITS) - 1
_SIGNIFICANT = {4: 24, 8: FLOAT_BITS}
"""The bits of a float32 and of a float64."""
_LARGEST_POWER, _BIAS = 1000, 1023
_LARGEST_WHOLE = 1 << 63
_MANY_PARTS = 4
"""From so many parts on it is quicker to add weights up by their exponents."""


@dataclass(frozen=True)
class Unit:
    """The grain of the masses: integers of `limbs` limbs, counted in ``factor * 2**exponent``.

    The factor is one unless all rows weigh the same, and are counted: then it makes their weight.
    No value that is added up has more than `bits` bits in this grain, if that is known.
    """

    exponent: int = 0
    limbs: int = 1
    bits: int | None = field(default=None, compare=False)
    factor: int = 1

    @classmethod
    def of_each(cls, weight: float) -> Unit:
        """Return the grain of rows that all have one weight, and are counted."""
        factor, under = weight.as_integer_ratio()
        return cls(1 - under.bit_length(), factor=factor)

    def fraction(self, integer: int) -> Fraction:
        """Return the mass that an integer stands for."""
        integer *= self.factor
        if self.exponent < 0:
            return Fraction(integer, 1 << -self.exponent)
        return Fraction(integer << self.exponent)

    def number(self, integer: int) -> int | float:
        """Return that mass as people expect it, see `number`."""
        integer *= self.factor
        if self.exponent < 0:
            rounded = math.ldexp(integer, self.exponent)  # once: a power of two rounds nothing
            if not rounded.is_integer() or integer & ((1 << -self.exponent) - 1):
                return rounded
        whole = integer >> -self.exponent if self.exponent < 0 else integer << self.exponent
        return whole if abs(whole) < _LARGEST_WHOLE else float(whole)

    def scale(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the masses of so many units each, rounded once; the counts may be overwritten."""
        if self.factor != 1:
            counts *= math.ldexp(self.factor, self.exponent)  # the weight of every row, a float itself
            return counts
        return scaled(counts, self.exponent) if self.exponent else counts

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

    def digits(self, values: NDArray[Any]) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
        """Return the place of the highest limb of each value, and this limb and the next two below it.

        The 53 bits of a float are in no more than three limbs, however many there are.
        """
        exponent = np.arange(1 << 11) - (_BIAS + self.exponent)
        limb = np.maximum(exponent // LIMB_BITS, 0)
        rest = values.astype(np.float64)  # as many bits as it had, and no longer subnormal
        biased = rest.view(np.int64) >> (FLOAT_BITS - 1)
        power = np.clip(-self.exponent - LIMB_BITS * limb, -_LARGEST_POWER, _LARGEST_POWER)
        rest *= np.ldexp(1.0, power)[biased]
        parts = []
        for _ in range(2):
            part = np.floor(rest)
            rest -= part
            rest *= float(1 << LIMB_BITS)
            parts.append(part)
        return limb[biased], [*parts, rest]

    def integers_of_runs(
        self, pairs: NDArray[np.complex128], starts: list[int], *, either: bool = False
    ) -> list[tuple[int, int]]:
        """Return the exact sums of a few runs of pairs of non-negative values, as integers in this grain.

        `starts` has the first place of each run. `either`: one of the two values of every pair is zero.
        """
        if len(pairs) == 0:
            return [(0, 0)] * len(starts)
        if self.parts(len(pairs))[1] >= _MANY_PARTS:
            return sums_by_exponent(pairs, starts, self.exponent, self.most_bits, either=either)
        sums = [(0, 0)] * len(starts)
        for place, part in self.sums_of_runs(pairs, np.array(starts)).items():
            scale = -self.exponent - place
            for run, both in enumerate(part.tolist()):
                pos, neg = int(math.ldexp(both.real, scale)), int(math.ldexp(both.imag, scale))
                sums[run] = sums[run][0] + (pos << place), sums[run][1] + (neg << place)
        return sums

    def parts(self, rows: int) -> tuple[int, int]:
        """Return how long parts may be that so many rows add up without rounding, and how many there are."""
        width = FLOAT_BITS - max(rows, 1).bit_length()
        return width, -(-self.most_bits // width)

    @property
    def most_bits(self) -> int:
        """No value that is added up has more bits than this."""
        return self.bits or LIMB_BITS * self.limbs

    def sums_of_runs(self, pairs: NDArray[np.complex128], starts: NDArray[np.intp]) -> Parts:
        """Return the sums of runs of such pairs, as parts that add up to them.

        Each part is a multiple of ``2**place`` in this grain, of either sign, and so short that floats add
        all of these pairs up without rounding.
        """
        if len(pairs) == 0:
            return {0: np.zeros(0, dtype=np.complex128)}
        return {
            place: np.add.reduceat(part.view(np.complex128), starts)
            for place, part in self._short(pairs.view(np.float64), len(pairs))
        }

    def sums_of_sides(self, values: NDArray[np.float64], sides: NDArray[np.uint8]) -> tuple[int, int]:
        """Return the exact sums of non-negative values whose side is 1, and of those whose side is 0.

        As integers in this grain.
        """
        if self.parts(len(values))[1] >= _MANY_PARTS:
            signed = np.where(sides, values, -values)
            return sums_of_signed([signed], [0], self.exponent, self.most_bits)[0]
        pos = both = 0
        ones = sides.astype(np.float64)
        for place, part in self._short(values, len(values)):
            scale = -self.exponent - place
            pos += int(math.ldexp(part @ ones, scale)) << place
            both += int(math.ldexp(np.add.reduce(part), scale)) << place
        return pos, both - pos

    def _short(self, values: NDArray[np.float64], rows: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield places, and parts of values that so many rows add up without rounding, see `sums_of_runs`.

        A part is not to be kept: the next one is written over it.
        """
        width, count = self.parts(rows)
        part = np.empty(len(values) if count > 1 else 0)
        for place in range(width * (count - 1), 0, -width):
            # Next to so large a number there is room for multiples of the place only: to add it, and to
            # take it away again, rounds to these. What is left is exact.
            large = 1.5 * 2.0 ** (self.exponent + place + FLOAT_BITS - 1)
            np.add(values, large, out=part)
            part -= large
            yield place, part
            values = np.subtract(values, part, out=part if place == width else None)
        yield 0, values

    def floats_of(self, whole: int) -> list[float]:
        """Return floats that add up to an integer of this grain; the largest first, none for zero."""
        found = []
        while whole:
            shift = max(whole.bit_length() - FLOAT_BITS, 0)
            found.append(math.ldexp(whole >> shift, shift + self.exponent))
            whole &= (1 << shift) - 1
        return found

    def masses(self, sums: Parts) -> tuple[Masses, Masses]:
        """Return the masses that these sums of runs are, of the one and of the other side."""
        limbs = np.zeros((2, self.limbs, len(sums[0])), dtype=np.int64)
        for place, part in sums.items():
            i = min(place // LIMB_BITS, self.limbs - 1)
            shift = place - LIMB_BITS * i
            whole = (part.view(np.float64) * 2.0 ** (-self.exponent - place)).astype(np.int64)
            for side, values in zip(limbs, (whole[::2], whole[1::2]), strict=True):
                if i == self.limbs - 1:  # the highest limb has room for all that is above
                    side[i] += values << shift
                else:
                    side[i] += (values & (_MASK >> shift)) << shift
                    side[i + 1] += values >> (LIMB_BITS - shift)
        return Masses.carrying(limbs[0], self), Masses.carrying(limbs[1], self)

    def masses_of_runs(
        self, pairs: NDArray[np.complex128], starts: NDArray[np.intp]
    ) -> tuple[Masses, Masses]:
        """Return the exact sums of runs of such pairs."""
        longest = int(np.diff(starts, append=len(pairs)).max(initial=1))
        if self.most_bits + longest.bit_length() > INT_BITS:
            return self.masses(self.sums_of_runs(pairs, starts))
        whole = scaled(pairs.view(np.float64), -self.exponent).astype(np.int64)
        pos, neg = whole[::2], whole[1::2]
        if longest > 1:
            pos, neg = np.add.reduceat(pos, starts), np.add.reduceat(neg, starts)
        return self._of_whole(pos), self._of_whole(neg)

    def _of_whole(self, numbers: NDArray[np.int64]) -> Masses:
        limbs = np.zeros((self.limbs, len(numbers)), dtype=np.int64)
        limbs[0] = numbers
        return Masses.carrying(limbs, self)


def bit_range(values: NDArray[Any]) -> tuple[int, int] | None:
    """Return the places of the lowest and one past the highest set bit over all values; None for zeros."""
    values = values[values != 0].astype(np.float64)
    if len(values) == 0:
        return None
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, FLOAT_BITS).astype(np.int64)
    _, trailing = np.frexp((whole & -whole).astype(np.float64))
    return int((exponent - FLOAT_BITS + trailing - 1).min()), int(exponent.max())


def outer_bits(values: NDArray[Any], ends: tuple[float, float] | None = None) -> tuple[int, int] | None:
    """Return a range of places that holds all set bits, as `bit_range` does, if not the narrowest.

    From the smallest and the largest value only, which may be known: two passes instead of twenty.
    """
    high = float(values.max(initial=0.0)) if ends is None else ends[1]
    if high == 0:
        return None
    top = math.frexp(high)[1]
    low = float(values.min()) if ends is None else ends[0]
    if low == 0:
        low = float(values[values > 0].min())
    if low.is_integer() and high.is_integer() and (values == np.floor(values)).all():
        return 0, top
    return math.frexp(low)[1] - _SIGNIFICANT[values.itemsize], top


class Masses:
    """A vector of exact masses: a row of int64 limbs each, of one `Unit`."""

    __slots__ = ("limbs", "unit")

    roundings: int = 1
    """The floats are off by no more than so many roundings, times the number of limbs."""
    wraps: bool = True
    """Whether `wrapped` has an answer."""

    def __init__(self, limbs: NDArray[np.int64], unit: Unit) -> None:
        self.limbs = limbs
        self.unit = unit

    def __len__(self) -> int:
        return self.limbs.shape[1]

    def __getitem__(self, index: Any) -> Masses:
        if isinstance(index, np.ndarray) and index.dtype.kind == "i":
            return Masses(self.limbs.take(index, axis=1), self.unit)  # several times as fast
        return Masses(self.limbs[:, index], self.unit)

    def later(self, index: NDArray[np.intp]) -> Masses:
        """Return some elements; where they are dear to make, not before they are looked at."""
        return self[index]

    def __add__(self, other: Masses) -> Masses:
        return Masses.carrying(self.limbs + other.limbs, self.unit)

    def __sub__(self, other: Masses) -> Masses:
        return Masses.carrying(self.limbs - other.limbs, self.unit)

    @classmethod
    def from_integers(cls, integers: list[int], unit: Unit) -> Masses:
        """Return masses that are given as integer multiples of the unit."""
        limbs = [[(x >> (LIMB_BITS * i)) & _MASK for x in integers] for i in range(unit.limbs - 1)]
        limbs.append([x >> (LIMB_BITS * (unit.limbs - 1)) for x in integers])
        return cls(np.array(limbs, dtype=np.int64), unit)

    @classmethod
    def scalar(cls, integer: int, unit: Unit) -> Masses:
        """Return a vector of one mass, for arithmetic with longer ones."""
        return cls.from_integers([integer], unit)

    def carried(self) -> Masses:
        """Return the same masses with every limb but the highest in ``[0, 2**36)``."""
        return self if len(self.limbs) == 1 else Masses.carrying(self.limbs.copy(), self.unit)

    @classmethod
    def carrying(cls, limbs: NDArray[np.int64], unit: Unit) -> Masses:
        """Return masses of limbs that nobody else has, brought into this range in place."""
        for i in range(len(limbs) - 1):
            limbs[i + 1] += limbs[i] >> LIMB_BITS
            limbs[i] &= _MASK
        return cls(limbs, unit)

    def followed_by(self, other: Masses) -> Masses:
        """Return the elements of both, these first."""
        return Masses(np.concatenate([self.limbs, other.limbs], axis=1), self.unit)

    def to(self, unit: Unit) -> Masses:
        """Return the same masses in another grain with room for them.

        Which has no factor. Exact in a finer one; in a coarser one if they are multiples of it, else rounded
        down.
        """
        if unit == self.unit:
            return self
        if unit.exponent > self.unit.exponent or self.unit.factor != 1:
            up, down = max(self.unit.exponent - unit.exponent, 0), max(unit.exponent - self.unit.exponent, 0)
            whole = [(self.unit.factor * mass << up) >> down for mass in self.integers()]
            return Masses.from_integers(whole, unit)
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
        return Masses.carrying(limbs, unit)

    def before(self) -> Masses:
        """Return, for each element, the sum of those before it."""
        sums = np.zeros_like(self.limbs)
        np.add.accumulate(self.limbs[:, :-1], axis=1, out=sums[:, 1:])
        return Masses.carrying(sums, self.unit)

    def from_top(self, nobody: int) -> Masses:
        """Return the sums of all elements from each on, the last first; after a zero if `nobody` is 1."""
        sums = np.zeros((len(self.limbs), len(self) + nobody), dtype=np.int64)
        np.add.accumulate(self.limbs[:, ::-1], axis=1, out=sums[:, nobody:])
        return Masses.carrying(sums, self.unit)

    def roughly_from_top(self, nobody: int) -> Masses:
        """Return the sums of `from_top`, for whom it is enough if floats are within more `roundings`.

        In the order of `Rows.edges`.
        """
        return self.from_top(nobody)

    def floats_and_rest(self, total: Callable[[], int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the `floats` and, just as far off, what each lacks of a total."""
        if len(self.limbs) == 1 and total() <= 1 << FLOAT_BITS:
            floats = self.limbs[0].astype(np.float64)
            rest = total() - floats  # whole numbers, without rounding
            return self.unit.scale(floats), self.unit.scale(rest)
        short = Masses(Masses.scalar(total(), self.unit).limbs - self.limbs, self.unit)
        return self.floats(), short.floats()

    def rest(self) -> None:
        """Let go of what is quick to compute again."""

    def same(self, one: int, other: int) -> bool:
        """Whether two elements are equal."""
        return self.integer(one) == self.integer(other)

    def apart(self, index: NDArray[np.intp], at: int) -> NDArray[np.float64]:
        """Return how much more some elements are than one, as floats within `roundings` of the difference."""
        return Masses.carrying(self.limbs.take(index, axis=1) - self.limbs[:, [at]], self.unit).floats()

    def wrapped(self, index: NDArray[np.intp]) -> NDArray[np.uint64] | None:
        """Return some elements in units, modulo 2**64; None where that would take other ways."""
        whole = self.limbs[0].take(index)
        if len(self.limbs) > 1:  # any others are multiples of 2**64
            whole += self.limbs[1].take(index) << LIMB_BITS
        return whole.view(np.uint64)

    def integer(self, index: int) -> int:
        """Return one element as an integer multiple of the unit."""
        if len(self.limbs) == 1:
            return int(self.limbs[0, index])
        return sum(int(limb) << (LIMB_BITS * i) for i, limb in enumerate(self.limbs[:, index]))

    def integers_at(self, places: list[int]) -> list[int]:
        """Return a few elements as integer multiples of the unit."""
        return [self.integer(place) for place in places]

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
        return self.unit.scale(value)


def scaled(values: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Return ``values * 2**exponent``, rounded once; ten times as fast as ldexp if the power is a float."""
    return values * 2.0**exponent if abs(exponent) < _LARGEST_POWER else np.ldexp(values, exponent)


def number(mass: Fraction) -> int | float:
    """Return a mass as people expect it: a whole number as int, anything else rounded once to float."""
    return int(mass) if mass.denominator == 1 and abs(mass) < _LARGEST_WHOLE else float(mass)


def grain(ranges: list[tuple[int, int] | None], rows: int) -> Unit:
    """Choose the unit for values with these bit ranges whose sum over all rows must fit.

    It is `Unit()` only if float64 adds up any of the rows, in any order, without rounding.
    """
    known = [r for r in ranges if r is not None]
    if not known:
        return Unit()
    low, high = known[0] if len(known) == 1 else (min(r[0] for r in known), max(r[1] for r in known))
    growth = (rows + 1).bit_length()
    if low >= 0 and high + growth <= FLOAT_BITS:
        return Unit()  # whole numbers whose sum is a float64 without rounding
    limbs = max(1, -(-(high - low) // LIMB_BITS))
    if high - low - LIMB_BITS * (limbs - 1) + growth > INT_BITS or (low, limbs) == (0, 1):
        limbs += 1  # room for the sum in the highest limb; and `Unit()` promises that no float sum is rounded
    return Unit(low, limbs, high - low)

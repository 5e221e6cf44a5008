"""Weights that are added up as floats first, and exactly only where that does not decide.

Exact sums of weights cost more than all else but the sort. Float sums of positive numbers are off by a
bounded part of themselves, so they tell most cuts apart. Only for the few that they do not are weights
added up as the integers of `masses`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._kernel.masses import INT_BITS, LIMB_BITS, Masses, Unit, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_ONE_BY_ONE = 32
"""So few exact sums are made as Python's integers."""
_RUN = 4
"""From so many rows per distinct score on, they are added up before the running sums."""
_SHARE = 4
"""If one sum in so many is asked for, all are made: those of ties are asked for again."""
_MANY, _COARSE = 1 << 10, 1 << 10
"""Of so many rows a running sum less is worth it if differences are no coarser than this."""


_WRAP = float(1 << 64)
_MOST = 1 << 20
"""The sums of so many rows of 62 bits, off by so many roundings times `_COARSE`, are off by 2**59."""


class Weighed:
    """The weights of rows, in order of their scores.

    A complex number per row, the positive and the negative mass: two sums for the price of one. `begins`
    tells at which rows a distinct score starts; None where every row has its own. `either`: every row has
    only one of the two.

    Rows are added up one by one, or those of each score first if these are many: see `by_score`.
    """

    def __init__(
        self,
        rows: NDArray[np.complex128],
        unit: Unit,
        begins: NDArray[np.bool_] | None = None,
        *,
        either: bool = False,
    ) -> None:
        self.rows, self.unit, self._begins, self._either = rows, unit, begins, either
        self.by_score = begins is not None and _RUN * np.count_nonzero(begins) <= len(rows)
        self._added = np.add.reduceat(rows, self.first) if self.by_score else rows
        self._exact: dict[int, tuple[int, int]] = {}
        """Sums of the rows from one on, as far as they are known, as integer multiples of the unit."""
        self._last: tuple[NDArray[np.intp], tuple[Masses, Masses]] | None = None
        self._from: tuple[NDArray[np.intp], int, NDArray[np.complex128]] | None = None

    @cached_property
    def sums(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128], int]:
        """The sums of the rows from each on, the highest score first, after a zero.

        And the sums of all other rows; and by how many roundings, relative to itself, a sum can be off.
        """
        above, below, coarser = _from_both_ends(self._added)
        # Each addition of positive numbers is one rounding at most. Whole numbers are not rounded.
        return above, below, 1 if self.unit == Unit() else len(self.rows) * coarser

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """The row at which each distinct score starts."""
        return np.arange(len(self.rows)) if self._begins is None else self._begins.nonzero()[0]

    def rest(self) -> None:
        """Let go of all but the rows and the sums that are known exactly."""
        for name in ("sums", "from_top", "wrapped"):
            self.__dict__.pop(name, None)
        self._last = self._from = None

    @cached_property
    def masses(self) -> tuple[Masses, Masses]:
        """The exact masses per distinct score."""
        return self.unit.masses_of_runs(self.rows, self.first)

    @cached_property
    def from_top(self) -> tuple[Masses, Masses]:
        """The first `sums`, exactly."""
        if self.short:
            return self._nearest(slice(None))
        starts = self.first if self.by_score else np.arange(len(self.rows))
        pos, neg = (runs.from_top(1) for runs in self.unit.masses_of_runs(self.rows, starts))
        return pos, neg

    @cached_property
    def wrapped(self) -> NDArray[np.uint64]:
        """The first `sums` as pairs of integers in units, modulo 2**64, of rows that are no longer."""
        whole = scaled(self.rows.view(np.float64), -self.unit.exponent).astype(np.int64).reshape(-1, 2)
        if self.by_score:
            whole = np.add.reduceat(whole, self.first)
        sums = np.empty((len(whole) + 1, 2), dtype=np.int64)
        sums[0] = 0
        np.add.accumulate(whole[::-1], out=sums[1:])
        return sums.view(np.uint64)

    @property
    def total(self) -> tuple[int, int]:
        """The exact sums of all rows, as integer multiples of the unit.

        Asked for before any other sum, they are for comparisons of many cuts, which want all of them.
        """
        if self.short and not self._exact and self.unit.parts(len(self.rows))[1] > 1:
            _ = self.wrapped
        return self.exact(len(self._added))

    @property
    def short(self) -> bool:
        """Whether `wrapped` and the floats together are exact: these are off by far less than 2**64."""
        return self.unit.most_bits <= INT_BITS and len(self.rows) <= _MOST

    def exact(self, index: int) -> tuple[int, int]:
        """Return one pair of the first `sums` as integer multiples of the unit."""
        start = self.start(index)
        if start in self._exact:
            return self._exact[start]
        if self.short and "wrapped" in self.__dict__:
            about, low = complex(self.sums[0][index]), self.wrapped[index].tolist()
            pos, neg = (math.ldexp(number, -self.unit.exponent) for number in (about.real, about.imag))
            # Right modulo 2**64, and close to the floats.
            self._exact[start] = (
                low[0] + (round((pos - low[0]) / _WRAP) << 64),
                low[1] + (round((neg - low[1]) / _WRAP) << 64),
            )
        else:
            self.look_up([start])
        return self._exact[start]

    def _nearest(self, index: Any) -> tuple[Masses, Masses]:
        """Return some pairs: the integers that are right modulo 2**64 and close to the floats."""
        low = self.wrapped[index]
        about = scaled(self.sums[0][index].view(np.float64), -self.unit.exponent).reshape(-1, 2)
        about -= low
        about *= 1 / _WRAP
        high = np.rint(about, out=about).astype(np.int64)
        limbs = np.zeros((2, self.unit.limbs, len(low)), dtype=np.int64)
        limbs[:, 0] = low.T
        if self.unit.limbs > 1:
            limbs[:, 0] &= (1 << LIMB_BITS) - 1
            limbs[:, 1] = (low >> np.uint64(LIMB_BITS)).T
            limbs[:, 1] += (high << (64 - LIMB_BITS)).T
        return Masses(limbs[0], self.unit), Masses(limbs[1], self.unit)

    def look_up(self, starts: list[int]) -> None:
        """Add up the rows from some on, exactly, all in one go."""
        known = self._exact
        if not known:  # all rows are added up once, and with them what is asked for first
            size = len(self.rows)
            known[size] = 0, 0
            firsts = sorted({0, *starts} - {size})
            runs = self.unit.integers_of_runs(self.rows, firsts, either=self._either)
            pos = neg = 0
            for start, run in zip(firsts[::-1], runs[::-1], strict=True):
                pos, neg = pos + run[0], neg + run[1]
                known[start] = pos, neg
        for at in starts:
            if at not in known:
                near = min(known, key=lambda row: abs(row - at))
                rows = self.rows[min(at, near) : max(at, near)]
                known[at] = known[near]
                if rows.any():  # the weights of ties may all be zero
                    ((pos, neg),) = self.unit.integers_of_runs(rows, [0], either=self._either)
                    sign = 1 if at < near else -1
                    known[at] = known[at][0] + sign * pos, known[at][1] + sign * neg

    def some(self, index: NDArray[np.intp], skip: int) -> tuple[Masses, Masses]:
        """Return some pairs of the first `sums`, without the first of all if it is to be skipped."""
        if self.short:
            if self._last is None or self._last[0] is not index:
                self._last = index, self._nearest(index + skip)
            return self._last[1]
        if _SHARE * len(index) > len(self._added):
            pos, neg = self.from_top
            return pos[index + skip], neg[index + skip]
        if self._last is None or self._last[0] is not index:  # both sides are asked for in turn
            wanted = self._starts[index + skip] if self.by_score else len(self.rows) - (index + skip)
            # The runs of rows between those that are wanted.
            starts = np.sort(np.append(wanted, len(self.rows)))
            starts = starts[:-1][starts[1:] > starts[:-1]]
            place = len(starts) - np.searchsorted(starts, wanted)
            pos, neg = (runs.from_top(1)[place] for runs in self.unit.masses_of_runs(self.rows, starts))
            self._last = index, (pos, neg)
        return self._last[1]

    def apart(self, index: NDArray[np.intp], at: int, skip: int) -> NDArray[np.complex128]:
        """Return by how much some of the first `sums` are more than one of them, as far off as they are.

        What lies between is added up: as many positive numbers at most, and nothing is taken away.
        """
        if self._from is not None and self._from[0] is index and self._from[1] == at:
            return self._from[2]  # both sides are asked for in turn
        start, wanted = len(self._added) - (at + skip), len(self._added) - (index + skip)
        low, high = min(start, int(wanted[-1])), max(start, int(wanted[0]))  # cuts go down
        between = np.zeros(high - low + 1, dtype=np.complex128)
        below, above = between[: start - low], between[start - low + 1 :]
        np.add.accumulate(self._added[low:start][::-1], out=below[::-1])
        np.add.accumulate(self._added[start:high], out=above)
        np.negative(above, out=above)
        self._from = index, at, between[wanted - low]
        return self._from[2]

    def between(self, one: int, other: int) -> NDArray[np.complex128]:
        """Return what lies between two of the first `sums`."""
        low, high = sorted((one, other))
        return self._added[len(self._added) - high : len(self._added) - low]

    def start(self, index: int) -> int:
        """Return the first of the rows that one of the first `sums` adds up."""
        if not self.by_score or index == 0:
            return len(self.rows) - index
        return int(self.first[-index])

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.append(self.first, len(self.rows))[::-1]


def _from_both_ends(
    rows: NDArray[np.complex128],
) -> tuple[NDArray[np.complex128], NDArray[np.complex128], int]:
    """Return the sums of the last 0, 1, 2 ... rows, those of the other rows, and how coarse they are.

    Many rows are added up from both ends to the middle only; beyond it a sum is what the other one
    leaves of the total. As a difference of two sums that is coarser, the more so the less is left.
    """
    size = len(rows)
    middle = size // 2
    above, below = np.empty(size + 1, dtype=np.complex128), np.empty(size + 1, dtype=np.complex128)
    above[0] = below[-1] = 0
    if size >= _MANY:
        np.add.accumulate(rows[: size - middle - 1 : -1], out=above[1 : middle + 1])
        np.add.accumulate(rows[: size - middle], out=below[-2 : middle - 1 : -1])
        upper, lower = complex(above[middle]), complex(below[middle])
        total = upper + lower
        coarser = max(_inverse_share(upper.real, lower.real), _inverse_share(upper.imag, lower.imag))
        if coarser <= _COARSE:
            np.subtract(total, below[middle + 1 :], out=above[middle + 1 :])
            np.subtract(total, above[:middle], out=below[:middle])
            return above, below, math.ceil(coarser)
        # A sum of two sums takes no more roundings than one of all.
        np.add.accumulate(rows[size - middle - 1 :: -1], out=above[middle + 1 :])
        np.add.accumulate(rows[size - middle :], out=below[:middle][::-1])
        above[middle + 1 :] += upper
        below[:middle] += lower
        return above, below, 1
    np.add.accumulate(rows[::-1], out=above[1:])
    np.add.accumulate(rows, out=below[-2::-1])
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
        return self.of.masses[self.side == "imag"].limbs

    def __reduce__(self) -> tuple[Any, ...]:
        return Masses, (self.limbs, self.unit)

    def roughly_from_top(self, nobody: int) -> Masses:
        """Return the running sums of the rows as they are added up, without splitting anything."""
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

    @property
    def wraps(self) -> bool:  # type: ignore[override]
        """Whether no row is longer than 62 bits, or else all are added up exactly."""
        return self._limbs is not None or self.of.short

    def __len__(self) -> int:
        return len(self.of.sums[0]) - self._skip

    def __getitem__(self, index: Any) -> Masses:
        if self._limbs is not None or not isinstance(index, np.ndarray) or index.dtype.kind != "i":
            return super().__getitem__(index)
        if len(index) > _ONE_BY_ONE:
            return self.of.some(index, self._skip)[self.side == "imag"]
        return Masses.from_integers(self.integers_at(index.tolist()), self.unit)

    def integers_at(self, places: list[int]) -> list[int]:
        """Return a few elements as integer multiples of the unit."""
        if self._limbs is None and not self.of.short:
            self.of.look_up([self.of.start(place + self._skip) for place in places])
        return super().integers_at(places)

    def wrapped(self, index: NDArray[np.intp]) -> NDArray[np.uint64] | None:
        """Return some elements in units, modulo 2**64; None where a row alone may be more."""
        if self._limbs is not None:
            return super().wrapped(index)
        if not self.wraps:
            return None
        return self.of.wrapped[:, int(self.side == "imag")].take(index + self._skip)

    def integer(self, index: int) -> int:
        """Return one element as an integer multiple of the unit."""
        if self._limbs is not None:
            return super().integer(index)
        return self.of.exact((index if index >= 0 else index + len(self)) + self._skip)[self.side == "imag"]

    def later(self, index: NDArray[np.intp]) -> Masses:
        """Return some elements, which are added up when they are looked at."""
        return _Some(self.of, self.side, index, self._skip)

    def rest(self) -> None:
        """Let go of the running sums."""
        self.of.rest()

    def same(self, one: int, other: int) -> bool:
        """Whether two elements are equal: there is nothing between them."""
        between = getattr(self.of.between(one + self._skip, other + self._skip), self.side)
        return not between[:_ONE_BY_ONE].any() and not between.any()

    def apart(self, index: NDArray[np.intp], at: int) -> NDArray[np.float64]:
        """Return how much more some elements are than one."""
        return getattr(self.of.apart(index, at, self._skip), self.side)

    def floats(self) -> NDArray[np.float64]:
        """Return float64 values, within `roundings` of the true mass."""
        return self.floats_and_rest()[0]

    def floats_and_rest(
        self, total: Callable[[], int] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the floats and what they lack of all, just as far off; the total itself is not asked for."""
        above, below, _ = self.of.sums
        return getattr(above, self.side)[self._skip :], getattr(below, self.side)[self._skip :]

    def _split(self) -> NDArray[np.int64]:
        return self.of.from_top[self.side == "imag"].limbs[:, self._skip :]


class _Some(Unsplit):
    """Some of these running sums."""

    __slots__ = ("_index", "_skip")

    def __init__(
        self, of: Weighed, side: Literal["real", "imag"], index: NDArray[np.intp], skip: int
    ) -> None:
        super().__init__(of, side)
        self._index, self._skip = index, skip

    def __len__(self) -> int:
        return len(self._index)

    def _split(self) -> NDArray[np.int64]:
        return self.of.some(self._index, self._skip)[self.side == "imag"].limbs

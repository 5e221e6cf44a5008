"""Weights that are added up as floats first, and exactly only where that does not decide.

Exact sums of weights cost more than all else but the sort. Float sums of positive numbers are off by a
bounded part of themselves, so they tell most cuts apart. Only for the few that they do not are weights
added up as the integers of `masses`.
"""

from __future__ import annotations

import math
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoint.masses import Masses, Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoint.masses import Parts

_ONE_BY_ONE = 8
"""So few exact sums are made one by one."""
_RUN = 4
"""From so many rows per distinct score on, they are added up before the running sums."""
_MANY, _COARSE = 1 << 10, 1 << 10
"""Of so many rows a running sum less is worth it if differences are no coarser than this."""


class Weighed:
    """The weights of rows, in order of their scores.

    A complex number per row, the positive and the negative mass: two sums for the price of one. `first`
    has the row at which each distinct score starts; None where every row has its own. `parts`, if they are
    known, are what the rows are roundings of, see `Unit.sums_of_runs`.
    """

    def __init__(
        self,
        rows: NDArray[np.complex128],
        unit: Unit,
        first: NDArray[np.intp] | None = None,
        parts: Parts | None = None,
    ) -> None:
        self.rows, self.unit, self.first, self.parts = rows, unit, first, parts
        self.total = self._between(0, len(rows))
        """The exact sums of all rows, as integer multiples of the unit."""
        self._exact: dict[int, tuple[int, int]] = {}
        self._known = {len(rows): (0, 0), 0: self.total}
        """By the row from which on all are added up."""
        self._last: tuple[NDArray[np.intp], tuple[Masses, Masses]] | None = None
        self._from: tuple[NDArray[np.intp], int, NDArray[np.complex128]] | None = None

    @classmethod
    def of(cls, rows: NDArray[np.complex128], unit: Unit, first: NDArray[np.intp] | None) -> Weighed:
        """Take rows; if few scores have many of them, they are added up first."""
        if first is None or _RUN * len(first) > len(rows):
            return cls(rows, unit, first)
        parts = unit.sums_of_runs(rows, first)
        return cls(reduce(np.add, parts.values()), unit, parts=parts)

    @cached_property
    def sums(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128], int]:
        """The sums of the rows from each distinct score on, the highest score first, after a zero.

        And the sums of all other rows; and by how many roundings, relative to itself, a sum can be off.
        """
        above, below, coarser = _from_both_ends(self.rows)
        # Each addition of positive numbers is one rounding at most, each part of a row two: no more of it
        # is negative than there is of the row. Whole numbers are not rounded.
        roundings = 1 if self.unit == Unit() else (len(self.rows) + 2 * self.unit.limbs) * coarser
        if self.first is None:
            return above, below, roundings
        index = len(self.rows) - self._starts
        return above[index], below[index], roundings

    def _between(self, low: int, high: int) -> tuple[int, int]:
        """Return the exact sums of some rows."""
        if not self.rows[low:high].any():
            return 0, 0  # the weights of ties
        if self.parts is None:
            return self.unit.totals(self.rows[low:high])
        return self.unit.whole({place: part[low:high] for place, part in self.parts.items()})

    @cached_property
    def masses(self) -> tuple[Masses, Masses]:
        """The exact masses per distinct score."""
        if self.parts is not None:
            return self.unit.masses(self.parts)
        every = np.arange(len(self.rows)) if self.first is None else self.first
        return self.unit.masses_of_runs(self.rows, every)

    def exact(self, index: int) -> tuple[int, int]:
        """Return one pair of the first `sums` as integer multiples of the unit."""
        if index not in self._exact:
            at = len(self.rows) - index
            if self.first is not None:
                at = int(self.first[-index]) if index else len(self.rows)
            near = min(self._known, key=lambda known: abs(known - at))
            pos, neg = self._between(min(at, near), max(at, near))
            sign = 1 if at < near else -1
            self._exact[index] = self._known[at] = (
                self._known[near][0] + sign * pos,
                self._known[near][1] + sign * neg,
            )
        return self._exact[index]

    def some(self, index: NDArray[np.intp], skip: int) -> tuple[Masses, Masses]:
        """Return some pairs of the first `sums`, without the first of all if it is to be skipped."""
        if self._last is None or self._last[0] is not index:  # both sides are asked for in turn
            wanted = self.start(index + skip)
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
        start, wanted = int(self.start(at + skip)), self.start(index + skip)
        low, high = min(start, int(wanted.min())), max(start, int(wanted.max()))
        between = np.zeros(high - low + 1, dtype=np.complex128)
        below, above = between[: start - low], between[start - low + 1 :]
        np.cumsum(self.rows[low:start][::-1], out=below[::-1])
        np.cumsum(self.rows[start:high], out=above)
        np.negative(above, out=above)
        self._from = index, at, between[wanted - low]
        return self._from[2]

    def start(self, index: Any) -> Any:
        """Return the first of the rows that some of the first `sums` add up."""
        return len(self.rows) - index if self.first is None else self._starts[index]

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        assert self.first is not None
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
        return self.of.masses[self.side == "imag"].limbs

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
        if self._limbs is not None or not isinstance(index, np.ndarray) or index.dtype.kind != "i":
            return super().__getitem__(index)
        if len(index) > _ONE_BY_ONE and self.of.parts is not None:
            return super().__getitem__(index)
        if len(index) > _ONE_BY_ONE:
            return self.of.some(index, self._skip)[self.side == "imag"]
        limbs = np.empty((self.unit.limbs, len(index)), dtype=np.int64)
        for place, i in enumerate(index.tolist()):
            limbs[:, place] = Masses.scalar(self.integer(i), self.unit).limbs[:, 0]
        return Masses(limbs, self.unit)

    def integer(self, index: int) -> int:
        """Return one element as an integer multiple of the unit."""
        if self._limbs is not None:
            return super().integer(index)
        return self.of.exact((index if index >= 0 else index + len(self)) + self._skip)[self.side == "imag"]

    def same(self, one: int, other: int) -> bool:
        """Whether two elements are equal: there is nothing between them."""
        start, stop = sorted(int(self.of.start(i + self._skip)) for i in (one, other))
        return not getattr(self.of.rows[start:stop], self.side).any()

    def apart(self, index: NDArray[np.intp], at: int) -> NDArray[np.float64]:
        """Return how much more some elements are than one."""
        return getattr(self.of.apart(index, at, self._skip), self.side)

    def floats(self) -> NDArray[np.float64]:
        """Return float64 values, within `roundings` of the true mass."""
        return getattr(self.of.sums[0], self.side)[self._skip :]

    def rest_of(self, total: int) -> NDArray[np.float64]:
        """Return what each element lacks of the sum of all, just as far off."""
        return getattr(self.of.sums[1], self.side)[self._skip :]

    def _split(self) -> NDArray[np.int64]:
        return Masses(super()._split(), self.unit).from_top(1 - self._skip).limbs

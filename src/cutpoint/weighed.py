"""Weights that are added up as floats first, and exactly only where that does not decide.

Exact sums of weights cost more than all else but the sort. Float sums of positive numbers are off by a
bounded part of themselves, so they tell most cuts apart. Only for the few that they do not are weights
split into the limbs of `masses`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoint.masses import LIMB_BITS, Masses, Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ONE_BY_ONE = 8
"""So few sums are made exact one by one; for more of them all weights are split."""
_MANY, _COARSE = 1 << 10, 1 << 10
"""Of so many rows a running sum less is worth it if differences are no coarser than this."""
_FEW = 1 << 14
"""Rows that are split at once."""
_RUN = 4
"""From so many rows per distinct score on, they are added up before the running sums."""


class Weighed:
    """The weights of rows, in order of their scores.

    A complex number per row, the positive and the negative mass: two sums for the price of one.
    `first` has the row at which each distinct score starts; None where every row has its own.
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
        return _split(self.rows, self.unit)

    def total(self, start: int = 0) -> tuple[int, int]:
        """Return the exact sums of all rows from one on, as integer multiples of the unit."""
        few = len(self.rows) <= _FEW
        pos = neg = 0
        for block in range(start, len(self.rows), _FEW):
            # The limbs of few rows are kept; large arrays take longer to get than to fill again.
            part = slice(block, block + _FEW)
            limbs = [limb[part] for limb in self.limbs] if few else _split(self.rows[part], self.unit)
            for i, limb in enumerate(limbs):
                both = complex(np.add.reduce(limb))
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


def _split(rows: NDArray[np.complex128], unit: Unit) -> list[NDArray[np.complex128]]:
    return [limb.view(np.complex128) for limb in unit.split(rows.view(np.float64))]


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

"""Exact counts in cells that never depend on the order of the data, nor on how it was cut into parts.

A cell is a bucket of a sketch, or a bucket of one of many segments. Counts of parts are added cell by
cell. That is associative and commutative, bit for bit, because everything here is a function of the
rows and not of their history: the numbering of the floats is fixed, masses are integers, their grain
follows from the bits of all weights, and the level is the lowest at which all rows together fit the
cells that there may be. A part never needs a higher level than the whole, so it does not matter when
the coarsening happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._kernel.masses import BLOCK_ROWS, Masses, Unit, bit_range, grain
from cutpoints._kernel.tables import Histogram, Ranges, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.histogram import Block

ROWS = 1 << 20
"""So many rows at most are counted at once."""
_BITS = 63
_DENSE = 4
"""Numbers count as close together if there are no more than so many times the rows between the ends."""


@dataclass(frozen=True)
class Cells:
    """Cells in ascending order, each with rows, masses, and its lowest and highest score."""

    level: int
    numbers: NDArray[np.int64]
    """What tells the cells apart, halved `level` times: neighbours share a cell of the next level."""
    rows: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    pos: Masses
    neg: Masses
    bits: tuple[int, int] | None
    """The places of the lowest and one past the highest bit of all weights; None for zeros."""

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def unit(self) -> Unit:
        """The grain of the masses."""
        return self.pos.unit

    def plus(self, other: Cells, limit: int) -> Cells:
        """Return the cells of both, at the lowest level at which there are no more than `limit`."""
        if len(self) == 0 or len(other) == 0:
            return other if len(self) == 0 else self
        level = max(self.level, other.level)
        bits = wider(self.bits, other.bits)
        unit = unit_of(bits, int(self.rows.sum() + other.rows.sum()))
        return _joined([self, other], level, bits, unit, limit)

    def summary(self) -> Summary:
        """Return the answer to the first question."""
        return Summary(
            int(self.rows.sum()),
            self.pos.total(),
            self.neg.total(),
            self.unit,
            float(self.low.min()),
            float(self.high.max()),
        )

    def histogram(self) -> Histogram:
        """Return the answer to the second question, asked of all rows; cells must be buckets of scores."""
        return Histogram(
            self.pos, self.neg, self.rows, lambda index: Ranges(self.low[index], self.high[index])
        )

    def part(self, index: slice) -> Cells:
        """Return a copy of some of the cells, which does not keep the others alive."""
        return Cells(
            self.level,
            self.numbers[index].copy(),
            self.rows[index].copy(),
            self.low[index].copy(),
            self.high[index].copy(),
            Masses(self.pos.limbs[:, index].copy(), self.unit),
            Masses(self.neg.limbs[:, index].copy(), self.unit),
            self.bits,
        )


def nothing() -> Cells:
    """Return the counts of no rows."""
    ints, floats = np.zeros(0, np.int64), np.zeros(0, np.float64)
    none = Masses(np.zeros((1, 0), np.int64), Unit())
    return Cells(0, ints, ints, floats, floats, none, none, None)


def wider(a: tuple[int, int] | None, b: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return the range of bits that covers both."""
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])


def unit_of(bits: tuple[int, int] | None, rows: int) -> Unit:
    """Return the grain for weights of these bits: one, or finer, and never coarser than one."""
    return grain([None if bits is None else (min(bits[0], 0), bits[1])], rows)


def count(numbers: NDArray[np.int64], block: Block, limit: int, level: int = 0) -> Cells:
    """Count the rows of a block by their numbers, at this level or above. At most `ROWS` rows.

    Numbers that lie close together are counted as they are; others are sorted first.
    """
    given = [weights for _, weights in block.readings if weights is not None]
    bits: tuple[int, int] | None = None if given else (0, 1)
    for weights in given:
        bits = wider(bits, bit_range(weights))
    unit = unit_of(bits, len(numbers))
    place = numbers >> level if level else numbers
    lowest = place.min()
    if int(place.max()) - int(lowest) < _DENSE * len(place):
        place = place - lowest
        names = np.arange(lowest, lowest + int(place.max()) + 1)
    else:
        order = np.argsort(place)
        ranked = place[order]
        fresh = np.append(True, ranked[1:] != ranked[:-1])
        names = ranked[fresh]
        place = np.empty_like(place)
        place[order] = np.cumsum(fresh) - 1
    size = len(names)
    rows = np.bincount(place, minlength=size)
    scores = block.scores.astype(np.float64, copy=False) + 0.0  # -0.0 becomes 0.0
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, place, scores)
    np.maximum.at(high, place, scores)
    masses = np.zeros((unit.limbs, 2 * size), np.int64)
    for sides, weight in block.readings:
        key = 2 * place + sides
        if weight is None:
            masses[0] += np.bincount(key, minlength=2 * size)
            continue
        for start in range(0, len(key), BLOCK_ROWS):  # so many limbs add up without rounding
            part = slice(start, start + BLOCK_ROWS)
            for i, limb in enumerate(unit.split(weight[part])):
                masses[i] += np.bincount(key[part], weights=limb, minlength=2 * size).astype(np.int64)
    filled = np.flatnonzero(rows)
    both = Masses(masses, unit).carried()
    counted = Cells(
        level,
        names[filled],
        rows[filled],
        low[filled],
        high[filled],
        both[2 * filled + 1],
        both[2 * filled],
        bits,
    )
    return counted if len(filled) <= limit else _joined([counted], level, bits, unit, limit)


def _cells(
    ranked: NDArray[np.int64], level: int, limit: int
) -> tuple[NDArray[np.intp], int, NDArray[np.int64]]:
    """Halve ascending numbers until few enough differ; return where each begins, the level, and them."""
    fewest, most = 0, _BITS - level  # of no more bits are numbers made; those of either sign stay apart
    if 1 + np.count_nonzero(ranked[1:] != ranked[:-1]) <= limit:
        most = 0
    while fewest < most:  # the lowest number of halvings that is enough
        halvings = (fewest + most) // 2
        halved = ranked >> halvings
        if 1 + np.count_nonzero(halved[1:] != halved[:-1]) <= limit:
            most = halvings
        else:
            fewest = halvings + 1
    ranked = ranked >> most
    first = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    return first, level + most, ranked[first]


def _joined(parts: list[Cells], level: int, bits: tuple[int, int] | None, unit: Unit, limit: int) -> Cells:
    """Add counts up at the lowest level, from this one on, at which they fit."""
    numbers = np.concatenate([part.numbers >> (level - part.level) for part in parts])
    order = np.argsort(numbers, kind="stable")  # two ascending runs: one merge
    first, level, numbers = _cells(numbers[order], level, limit)

    def column(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])[order]

    def masses(side: str) -> Masses:
        limbs = np.concatenate([getattr(part, side).to(unit).limbs for part in parts], axis=1)
        return Masses(np.add.reduceat(limbs[:, order], first, axis=1), unit).carried()

    return Cells(
        level,
        numbers,
        np.add.reduceat(column("rows"), first),
        np.minimum.reduceat(column("low"), first),
        np.maximum.reduceat(column("high"), first),
        masses("pos"),
        masses("neg"),
        bits,
    )

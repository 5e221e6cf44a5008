"""Sums per bucket that do not depend on the order of the rows, nor on how they were split into parts.

Buckets are runs of floats with fixed numbers, see `numbered`, so every part of the data has the buckets
of the whole. If there are too many, each two neighbors become one, as often as needed. A part never
needs that more often than the whole does, so it does not matter when it happens: merging is
associative and commutative, bit for bit.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._kernel.binning import ordered
from cutpoints._kernel.tables import Histogram, Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.histogram import Block
    from cutpoints._kernel.weights import FixedPoint

MAX_LEVEL = 63
"""Halvings of an int64 number until only its sign is left."""
_HALF = 1022 << 52
"""The key of 0.5, see `ordered`."""
_LEAST = 969 << 52
"""One exponent below the key of 2**-53, the distance between one and the float below it."""
_ONE = (_HALF + (_HALF - _LEAST)) >> 1
"""The number of 1.0. Numbers are halves of keys: with the distances, keys would not fit int64."""
_BEYOND = _ONE - (1023 << 51)
"""How far numbers above one are ahead of their halved keys."""


@dataclass(frozen=True)
class MergeableHistogram:
    """Buckets in ascending order, each with its lowest and highest score, its sums and its rows."""

    level: int
    """How often the numbers of the floats were halved."""
    numbers: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    pos: Sums
    neg: Sums
    rows: NDArray[np.int64]

    @classmethod
    def empty(cls) -> MergeableHistogram:
        """Return the histogram of no rows."""
        integers, floats = np.zeros(0, np.int64), np.zeros(0, np.float64)
        return cls(0, integers, floats, floats, integers, integers, integers)

    def __len__(self) -> int:
        return len(self.numbers)

    def histogram(self) -> Histogram:
        """Return the buckets as a search reads them."""
        return Histogram(self.low, self.high, self.pos, self.neg, self.rows)


def counted(block: Block, grid: FixedPoint, limit: int, level: int = 0) -> MergeableHistogram:
    """Put rows into at most `limit` buckets; they are known to need this level or a higher one."""
    scores = block.scores.astype(np.float64, copy=False) + 0.0  # -0.0 becomes 0.0
    numbers = numbered(scores) >> level
    lowest, highest = int(numbers.min()), int(numbers.max())
    if highest - lowest < len(numbers):
        names, place = np.arange(lowest, highest + 1), numbers - lowest
    else:  # far apart: sorted
        names, place = np.unique(numbers, return_inverse=True)
    low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    np.minimum.at(low, place, scores)
    np.maximum.at(high, place, scores)
    pos, neg = np.zeros((2, len(names)), np.int64)
    for total, added in zip((pos, neg), block.sums(grid), strict=True):
        np.add.at(total, place, added)
    rows = np.bincount(place, minlength=len(names))
    filled = np.flatnonzero(rows)
    exact = MergeableHistogram(
        level, names[filled], low[filled], high[filled], pos[filled], neg[filled], rows[filled]
    )
    return merged([exact], limit)


def merged(parts: Sequence[MergeableHistogram], limit: int) -> MergeableHistogram:
    """Add parts up, at the lowest level at which there are at most `limit` buckets."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return MergeableHistogram.empty()
    level = max(part.level for part in parts)
    numbers = np.concatenate([part.numbers >> (level - part.level) for part in parts])
    order = np.argsort(numbers, kind="stable")  # merges ascending runs
    numbers = numbers[order]
    halvings = bisect_left(
        range(MAX_LEVEL - level), x=True, key=lambda n: len(_starts(numbers >> n)) <= limit
    )
    numbers = numbers >> halvings
    starts = _starts(numbers)

    def column(name: str, add: np.ufunc = np.add) -> NDArray[Any]:
        values = np.concatenate([getattr(part, name) for part in parts])[order]
        return np.asarray(add.reduceat(values, starts))

    return MergeableHistogram(
        level + halvings,
        numbers[starts],
        column("low", np.minimum),
        column("high", np.maximum),
        column("pos"),
        column("neg"),
        column("rows"),
    )


def _starts(ranked: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return where runs of equal numbers start."""
    return np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))


def numbered(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a fixed number for each score; a lower score never has a higher one.

    Numbers follow the float format: as many are spent on 0.001 ... 0.002 as on 0.5 ... 1. Between one half
    and one they follow the distance to one, so that 0.998 ... 0.999 gets as many again: probabilities
    crowd at both ends. ``1 - score`` is exact there, so nothing is rounded.
    """
    numbers = ordered(scores) >> 1
    high = scores >= 0.5
    if high.any():
        # Scores above one have no distance that counts: they are replaced below.
        distance = np.maximum((1.0 - scores).view(np.int64) - _LEAST, 0)
        np.copyto(numbers, _ONE - ((distance + 1) >> 1), where=high)
        above = scores > 1.0
        if above.any():
            numbers[above] = (ordered(scores[above]) >> 1) + _BEYOND
    return numbers

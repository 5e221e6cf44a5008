"""Steps: one numbering of all floats that never depends on the data.

Buckets that are chosen by looking at the data cannot be added to those of other data. These can:
every float has a number, once and for all, and a bucket is a run of ``2**level`` numbers, so that
two neighbours of one level are one bucket of the next. Numbers follow the float format: they spend
as much on 0.001 ... 0.002 as on 0.5 ... 1. Between one half and one it is the distance to one that is
numbered, so that 0.999 ... 0.998 gets as much again: probabilities crowd at both ends.

``1 - score`` is exact there, so nothing is rounded, and the numbering never decreases.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cutpoints._kernel.binning import ordered, unordered
from cutpoints._kernel.tables import Ranges

Numbers = NDArray[np.int64]

_HALF = 1022 << 52
"""The key of 0.5, see `ordered`."""
_LEAST = 969 << 52
"""One exponent below the key of 2**-53, the distance between one and the float below it."""
_ONE = (_HALF + (_HALF - _LEAST)) >> 1
"""The number of 1.0. Numbers are halves of keys: with the distances, keys would not fit int64."""
_BEYOND = _ONE - (1023 << 51)
"""How far numbers above one are ahead of their halved keys."""
_LOWEST, _HIGHEST = -(2047 << 51), (2047 << 51) + _BEYOND
_GRID = 2.0**53


def numbered(scores: NDArray[np.float64]) -> Numbers:
    """Return the number of each score; a lower score never has a higher one."""
    numbers = ordered(scores) >> 1
    high = scores >= 0.5
    if high.any():
        # The key of a distance that is no float's distance to one is of no use, and replaced below.
        distance = np.maximum((1.0 - scores).view(np.int64) - _LEAST, 0)
        np.copyto(numbers, _ONE - ((distance + 1) >> 1), where=high)
        above = scores > 1.0
        if above.any():
            numbers[above] = (ordered(scores[above]) >> 1) + _BEYOND
    return numbers


def spans(buckets: Numbers, level: int) -> Ranges:
    """Return the closed intervals of scores whose numbers, halved `level` times, are these."""
    low = _first(buckets, level)
    # One float below where the next bucket begins; nothing is above the last.
    after = ordered(_first(buckets + 1, level))
    last = (buckets + 1) > (_HIGHEST >> level)
    high = np.where(last, np.inf, unordered(np.where(last, after, after - 1)))
    return Ranges(low, high)


def _first(buckets: Numbers, level: int) -> NDArray[np.float64]:
    """Return the lowest float with at least this number."""
    within = np.clip(buckets, _LOWEST >> level, _HIGHEST >> level)
    numbers = np.clip(within << level, _LOWEST, _HIGHEST)
    outer = unordered((numbers - np.where(numbers > _ONE, _BEYOND, 0)) << 1)
    inner = (numbers > _HALF >> 1) & (numbers <= _ONE)
    if inner.any():
        # The farthest distance from one with this number, rounded down to what a float can have.
        far = unordered(((_ONE - numbers[inner]) << 1) + _LEAST)
        outer[inner] = 1.0 - np.floor(far * _GRID) / _GRID
    return outer.astype(np.float64, copy=False)

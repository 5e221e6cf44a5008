"""Exact sums of weights whose sizes differ much: by their exponents.

To round such weights to parts of equal place, as `masses` does, takes the more parts the larger the range is,
and most parts of a weight are zero. Here a weight goes to the band of its exponent, in two halves of 27 and
26 bits, so that floats add up a band of eight exponents without rounding: two counts, whatever the range.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEP = 8
_BANDS = (1 << 11) // _STEP
_TO_BAND = np.uint64(52 + 3)
_LOW_BITS = 26
_HIGH_BITS = np.int64(-(1 << _LOW_BITS))
_BIAS, _LOWEST = 1023, 1075
"""The exponent of 1; and band b is counted in ``2**(8*b - 1075)``, its high half in 2**26 of these."""
_ROOM = 18
"""Bands that a sum may need beyond those of its numbers, and what rounds that up to a multiple of eight."""
MOST_ROWS = 1 << (53 - 27 - (_STEP - 1))
"""So many numbers of a band, each of 27 bits at one of eight places, add up without rounding."""


def _factors() -> NDArray[np.float64]:
    """Return, by half and band, what makes whole numbers of sums."""
    places = _STEP * np.arange(_BANDS) - _LOWEST
    with np.errstate(over="ignore"):  # there are no weights as small as that
        return np.ldexp(1.0, -np.array([[places + _LOW_BITS], [places]]))


_FACTORS = _factors()


def sums_by_exponent(
    pairs: NDArray[np.complex128], starts: list[int], exponent: int, bits: int, *, either: bool
) -> list[tuple[int, int]]:
    """Add up a few runs of pairs of numbers, as integers in ``2**exponent``.

    All numbers are 0 or between 1e-200 and 1e200, and multiples of that with no more than so many `bits`.
    `starts` has the first place of each run. `either`: one of the two numbers of every pair is zero.
    """
    if either:
        return sums_of_signed([pairs.real - pairs.imag], starts, exponent, bits)
    return sums_of_signed([pairs.real.copy(), -pairs.imag], starts, exponent, bits)


def sums_of_signed(
    columns: list[NDArray[np.float64]], starts: list[int], exponent: int, bits: int
) -> list[tuple[int, int]]:
    """Add up the positive and the negative numbers of runs, as `sums_by_exponent`; they are overwritten."""
    rows = len(columns[0])
    pieces = starts if rows <= MOST_ROWS else sorted({*starts, *range(0, rows, MOST_ROWS)})
    halves = _counted(columns[0], pieces)
    for numbers in columns[1:]:
        halves += _counted(numbers, pieces)
    lowest = (exponent + _BIAS) // _STEP  # nothing but zeros is in a lower band
    used = slice(lowest, (exponent + bits + _BIAS) // _STEP + 1)
    high, low = _joined(np.abs(halves[..., used] * _FACTORS[..., used]))
    shift = _STEP * lowest - _LOWEST - exponent
    whole = [(a << _LOW_BITS) + b for a, b in zip(high, low, strict=True)]
    whole = [x << shift if shift >= 0 else x >> -shift for x in whole]
    sums = list(zip(whole[::2], whole[1::2], strict=True))
    if pieces is starts:
        return sums
    runs = dict.fromkeys(starts, (0, 0))
    for piece, (pos, neg) in zip(pieces, sums, strict=True):
        run = starts[bisect_right(starts, piece) - 1]
        runs[run] = runs[run][0] + pos, runs[run][1] + neg
    return list(runs.values())


def _counted(numbers: NDArray[np.float64], starts: list[int]) -> NDArray[np.float64]:
    """Return sums by half, the high one first, by run, side and band; those of the second side negative."""
    # The sign is the highest bit of a float, so it tells the sides apart.
    key = (numbers.view(np.uint64) >> _TO_BAND).view(np.int64)
    for start in starts[1:]:
        key[start:] += 2 * _BANDS
    high = (numbers.view(np.int64) & _HIGH_BITS).view(np.float64)
    numbers -= high
    size = 2 * _BANDS * len(starts)
    halves = np.concatenate([np.bincount(key, high, size), np.bincount(key, numbers, size)])
    return halves.reshape(2, 2 * len(starts), _BANDS)


def _joined(sums: NDArray[np.float64]) -> tuple[list[int], list[int]]:
    """Add up the bands of each of many sums, given as whole numbers, by half.

    All sums side by side, with room above each, are one long integer: from one band to the next is a byte,
    from one of a pair to the next are two, and every fourth begins where the 64 bits of the last one end.
    """
    _, count, bands = sums.shape
    size = (bands + _ROOM) // _STEP * _STEP
    places = np.zeros((2 * count, size), dtype=np.int64)
    places[:, :bands] = sums.reshape(-1, bands)
    two = places[:, ::2] + (places[:, 1::2] << _STEP)
    longs = two.astype("<i8").reshape(-1, 4).T.tobytes()
    step = len(longs) // 4
    a, b, c, d = (int.from_bytes(longs[i : i + step], "little") for i in range(0, len(longs), step))
    longs = (a + (b << 16) + (c << 32) + (d << 48)).to_bytes(places.size, "little")
    whole = [int.from_bytes(longs[i : i + size], "little") for i in range(0, len(longs), size)]
    return whole[:count], whole[count:]

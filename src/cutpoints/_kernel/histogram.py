"""The counting kernel: blocks of rows -> exact masses per bucket.

Arrays in memory and batches out of a stream are both read in blocks, and this is what is done with
a block. It is scaled, truncated, joined with its labels and counted by one `numpy.bincount`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutpoints._kernel.binning import ordered, unordered
from cutpoints._kernel.masses import FLOAT_BITS, LIMB_BITS, Masses, Unit
from cutpoints._kernel.tables import Histogram, Ranges, Scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cutpoints._kernel.binning import Buckets

_CARRY_EVERY = 1 << 8
"""Blocks after which long sums are carried, long before their limbs could overflow."""
MANY_LIMBS = 4
"""From so many limbs on, only those that a weight has are counted."""
_CUTS = 1 << 4
_PIECES = 1 << 12
"""Into no more pieces are ranges cut: each takes buckets, and finding the piece of a row takes time."""
_MASK = (1 << LIMB_BITS) - 1

Sides = NDArray[np.uint8] | int
Reading = tuple[Sides, Scores | None]
"""For each row the side that its weight goes to, 1 the positives and 0 the negatives; and the weights."""


class Block(NamedTuple):
    """Some rows: scores, one or two readings of their masses, and the scores' range if known.

    At most `masses.BLOCK_ROWS` rows where there are weights, so that sums of a block are exact.
    """

    scores: Scores
    readings: list[Reading]
    low: Any = -np.inf
    high: Any = np.inf

    def part(self, index: Any) -> Block:
        """Return some of the rows."""
        readings = [
            (
                sides if isinstance(sides, int) else sides[index],
                None if weights is None else weights[index],
            )
            for sides, weights in self.readings
        ]
        return Block(self.scores[index], readings)


def joined(blocks: list[Block]) -> Block:
    """Put blocks together."""
    readings: list[Reading] = []
    for i, (sides, weights) in enumerate(blocks[0].readings):
        whole = sides if isinstance(sides, int) else np.concatenate([b.readings[i][0] for b in blocks])
        heavy = None if weights is None else np.concatenate([b.readings[i][1] for b in blocks])
        readings.append((whole, heavy))
    return Block(np.concatenate([b.scores for b in blocks]), readings)


# --- per bucket


class Tally(NamedTuple):
    """What was counted: masses per (bucket, side), by the place of each limb, and rows per bucket."""

    limbs: dict[int, NDArray[np.int64]]
    rows: NDArray[np.int64]


def tally(blocks: Iterable[Block], buckets: Buckets, unit: Unit | None) -> Tally:
    """Count blocks into buckets; work arrays are made once.

    Without a unit the weights themselves say which limbs are needed, on a grid that starts at 1:
    the masses are exact although no look at all weights came before.
    """
    size = 2 * buckets.count
    limbs: dict[int, NDArray[np.int64]] = {}
    rows = np.zeros(size, dtype=np.int64)
    work: Scores | None = None
    weighted = False
    for turn, (scores, readings, low, high) in enumerate(blocks):
        n = len(scores)
        if work is None or len(work) < n:
            # bincount wants int64; the addition below converts, without the interpreter lock.
            place, key = np.empty(n, np.int32), np.empty(n, np.int64)
            work = key.view(scores.dtype)[:n]  # done with before the key is written
        with np.errstate(over="ignore", under="ignore"):
            buckets.place(scores, work[:n], place[:n], low, high)
        weighted = readings[0][1] is not None
        if weighted:
            rows += np.bincount(place[:n], minlength=size)
        for sides, weights in readings:
            np.add(place[:n], sides, out=key[:n])
            if weights is None:
                _add(limbs, 0 if unit is None else unit.exponent, np.bincount(key[:n], minlength=size))
                continue
            if unit is not None and unit.limbs >= MANY_LIMBS:
                for i, counts in enumerate(_by_limb(key[:n], weights, unit, size)):
                    _add(limbs, unit.exponent + LIMB_BITS * i, counts)
                continue
            for at, limb in _split(weights, unit):
                _add(limbs, at, np.bincount(key[:n], weights=limb, minlength=size).astype(np.int64))
        if weighted and turn % _CARRY_EVERY == _CARRY_EVERY - 1:
            _carry(limbs)
    counts = rows if weighted else next(iter(limbs.values()), rows)
    if weighted:
        _carry(limbs)
    return Tally(limbs, counts[0::2] + counts[1::2])


def _split(weights: Scores, unit: Unit | None) -> Iterable[tuple[int, NDArray[np.float64]]]:
    """Yield limbs and their places, until nothing is left of any weight."""
    if unit is not None:
        yield from ((unit.exponent + LIMB_BITS * i, limb) for i, limb in enumerate(unit.split(weights)))
        return
    rest = weights.astype(np.float64)
    place = LIMB_BITS * ((int(np.frexp(rest.max(initial=0.0))[1]) - 1) // LIMB_BITS)
    while rest.any():
        # Times a power of two is exact, and so is what is left.
        part = np.floor(rest * 2.0**-place)
        rest -= part * 2.0**place
        yield place, part
        place -= LIMB_BITS


def _by_limb(key: NDArray[np.int64], weights: Scores, unit: Unit, size: int) -> NDArray[np.int64]:
    """Count weights of so great a range that most of their limbs are zero; a row of counts per limb."""
    highest, digits = unit.digits(weights)
    highest *= size
    highest += key
    counts = np.zeros((unit.limbs + 2) * size, dtype=np.int64)
    for i, digit in zip((2, 1, 0), digits, strict=True):
        sums = np.bincount(highest, weights=digit, minlength=unit.limbs * size)
        counts[i * size : i * size + len(sums)] += sums.astype(np.int64)
    return counts.reshape(-1, size)[2:]


def _add(limbs: dict[int, NDArray[np.int64]], place: int, counts: NDArray[np.int64]) -> None:
    if place in limbs:
        limbs[place] += counts
    else:
        limbs[place] = counts


def _carry(limbs: dict[int, NDArray[np.int64]]) -> None:
    """Bring every limb into ``[0, 2**36)``, with a further limb on top where it is needed."""
    if not limbs:
        return
    place = min(limbs)
    while place <= max(limbs):
        if place in limbs:
            over = limbs[place] >> LIMB_BITS
            if over.any():
                limbs[place] &= _MASK
                _add(limbs, place + LIMB_BITS, over)
        place += LIMB_BITS


def added(tallies: list[Tally]) -> Tally:
    """Add up what several threads counted."""
    limbs: dict[int, NDArray[np.int64]] = {}
    for one in tallies:
        for place, counts in one.limbs.items():
            _add(limbs, place, counts)
    if len(limbs) > 1:
        _carry(limbs)
    return Tally(limbs, np.sum([one.rows for one in tallies], axis=0))


def unit_of(counted: Tally) -> Unit:
    """Return the unit that the weights themselves asked for: one limb if no sum can round as a float."""
    if not counted.limbs:
        return Unit()
    low, high = min(counted.limbs), max(counted.limbs)
    total = sum(int(counts.sum()) << (place - low) for place, counts in counted.limbs.items())
    if total < 1 << FLOAT_BITS:
        return Unit(low)
    return Unit(low, (high - low) // LIMB_BITS + 1)


def table(counted: Tally, buckets: Buckets, unit: Unit) -> Histogram:
    """Return the buckets that have rows."""
    filled = np.flatnonzero(counted.rows)
    sums = np.zeros((unit.limbs, 2 * len(counted.rows)), dtype=np.int64)
    for place, counts in counted.limbs.items():
        at = (place - unit.exponent) // LIMB_BITS
        # The highest limb of a unit may be longer than the others.
        sums[min(at, unit.limbs - 1)] += counts << (LIMB_BITS * max(0, at - unit.limbs + 1))
    masses = Masses.carrying(sums, unit)
    return Histogram(
        pos=masses[2 * filled + 1],
        neg=masses[2 * filled],
        rows=counted.rows[filled],
        span=lambda index: buckets.span(filled[index]),
    )


# --- ranges


def inside(scores: Scores, ranges: Ranges) -> NDArray[np.intp]:
    """Return the positions of the scores that lie in one of the ranges."""
    near = scores >= ranges.low[0]
    near &= scores <= ranges.high[-1]
    positions = np.flatnonzero(near)
    if len(ranges.low) == 1:
        return positions
    candidates = scores[positions]
    which = np.searchsorted(ranges.low, candidates, side="right") - 1
    return positions[candidates <= ranges.high[which]]


def within(inner: Ranges, outer: Ranges) -> bool:
    """Whether every inner range lies in one of the outer ones."""
    which = np.searchsorted(outer.low, inner.low, side="right") - 1
    return bool((which >= 0).all() and (inner.high <= outer.high[which]).all())


def occupied(ranges: Ranges, last: Histogram) -> Ranges:
    """Cut out of some ranges what a count of them, or of more, found empty.

    Buckets are dealt out over ranges. One row far from a cluster would else make a range so wide
    that the cluster falls into one bucket, again and again.
    """
    low, high = last.span(np.arange(len(last.rows), dtype=np.intp))
    which = np.minimum(np.searchsorted(ranges.high, low), len(ranges.high) - 1)
    here = np.flatnonzero((high >= ranges.low[which]) & (low <= ranges.high[which]))
    low, high, which = low[here], high[here], which[here]
    if len(here) == 0 or (low < ranges.low[which]).any() or (high > ranges.high[which]).any():
        return ranges  # not made of these buckets
    # In steps of the float format; as float64, which does not overflow.
    start, stop = (ordered(end).astype(np.float64) for end in (low, high))
    width = stop - start
    apart = (start[1:] - stop[:-1] > width[1:] + width[:-1] + 1) | (which[1:] != which[:-1])
    if np.count_nonzero(apart) > _PIECES:
        apart = which[1:] != which[:-1]
    return Ranges(low[np.append(True, apart)], high[np.append(apart, True)])


def cut_up(ranges: Ranges, sample: Scores) -> Ranges:
    """Cut ranges where a sample says that as many rows are on either side.

    As many buckets go to each piece, so a cluster gets its share of them, however narrow it is.
    """
    sample = np.sort(sample[inside(sample, ranges)])
    if len(sample) < _CUTS:
        return ranges
    edges = ordered(np.unique(sample[:: max(1, len(sample) // _CUTS)]))
    start, stop = ordered(ranges.low), ordered(ranges.high)
    which = np.searchsorted(start, edges, side="right") - 1
    edges = edges[start[which] < edges]
    starts = np.sort(np.concatenate([start, edges]))
    stops = np.sort(np.concatenate([stop, edges - 1]))
    return Ranges(unordered(starts), unordered(stops))

"""Blocks of rows -> exact sums per bin.

Arrays in memory and batches out of a stream are both read in blocks, and this is what is done with
a block: its scores are binned, joined with their labels and counted by one `numpy.bincount`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutpoints._kernel.binning import ordered, unordered
from cutpoints._kernel.tables import ColumnSums, Histogram, Ranges, Scores, Sums

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cutpoints._kernel.binning import Buckets
    from cutpoints._kernel.weights import FixedPoint

_CUTS = 1 << 4
_PIECES = 1 << 12
"""Pieces that ranges are split into at most: each needs bins, and finding the piece of a row takes time."""

Sides = NDArray[np.uint8] | int
Reading = tuple[Sides, Scores | None]
"""For each row the side that its weight goes to, 1 the positives and 0 the negatives; and the weights."""


class Block(NamedTuple):
    """Some rows: scores, one or two readings of their weights, and the scores' range if known.

    `columns` are values that are added up beside the first reading's weights: integers, not
    negative, see `FixedPoint.round`. At most `weights.BLOCK_ROWS` rows where there are weights or
    columns, so that float64 adds them exactly.
    """

    scores: Scores
    readings: list[Reading]
    low: Any = -np.inf
    high: Any = np.inf
    columns: tuple[NDArray[np.float64], ...] = ()

    def part(self, index: Any) -> Block:
        """Return some of the rows."""
        readings = [
            (
                sides if isinstance(sides, int) else sides[index],
                None if weights is None else weights[index],
            )
            for sides, weights in self.readings
        ]
        return Block(self.scores[index], readings, columns=tuple(column[index] for column in self.columns))

    def sums(self, grid: FixedPoint) -> tuple[Sums, Sums]:
        """Return what each row adds to the positives and to the negatives."""
        sums = np.zeros((2, len(self.scores)), dtype=np.int64)
        for sides, weights in self.readings:
            whole = np.ones(1, dtype=np.int64) if weights is None else grid.encode(weights)
            sums[1] += whole * np.asarray(sides)
            sums[0] += whole * (1 - np.asarray(sides))
        return sums[1], sums[0]

    def column_sums(self) -> ColumnSums:
        """Return what each row adds to the columns' sums over positives and over negatives."""
        sides = np.asarray(self.readings[0][0])
        return tuple(column.astype(np.int64) * side for column in self.columns for side in (sides, 1 - sides))


def joined(blocks: list[Block]) -> Block:
    """Put blocks together."""
    readings: list[Reading] = []
    for i, (sides, weights) in enumerate(blocks[0].readings):
        whole = sides if isinstance(sides, int) else np.concatenate([b.readings[i][0] for b in blocks])
        heavy = None if weights is None else np.concatenate([b.readings[i][1] for b in blocks])
        readings.append((whole, heavy))
    columns = tuple(map(np.concatenate, zip(*(b.columns for b in blocks), strict=True)))
    return Block(np.concatenate([b.scores for b in blocks]), readings, columns=columns)


# --- per bin


class Tally(NamedTuple):
    """What was counted: sums per (bin, side), rows per bin, and sums of columns per (bin, side)."""

    sums: Sums
    rows: NDArray[np.int64]
    columns: list[Sums]


def tally(blocks: Iterable[Block], buckets: Buckets, grid: FixedPoint) -> Tally:
    """Count blocks into bins; work arrays are made once."""
    size = 2 * buckets.count
    sums, rows = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    columns: list[Sums] = []
    work: Scores | None = None
    weighted = False
    for scores, readings, low, high, added_up in blocks:
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
                sums += np.bincount(key[:n], minlength=size)
            else:
                counted = np.bincount(key[:n], weights=grid.round(weights), minlength=size)
                sums += counted.astype(np.int64)
        columns = columns or [np.zeros(size, dtype=np.int64) for _ in added_up]
        for i, values in enumerate(added_up):
            columns[i] += np.bincount(key[:n], weights=values, minlength=size).astype(np.int64)
    counts = rows if weighted else sums
    return Tally(sums, counts[0::2] + counts[1::2], columns)


def added(tallies: list[Tally]) -> Tally:
    """Add up what several threads counted."""
    some = [one for one in tallies if one.columns] or tallies[:1]  # a thread may have had no block
    return Tally(
        np.sum([one.sums for one in tallies], axis=0),
        np.sum([one.rows for one in tallies], axis=0),
        [np.sum(parts, axis=0) for parts in zip(*(one.columns for one in some), strict=True)],
    )


def table(counted: Tally, buckets: Buckets) -> Histogram:
    """Return the bins that have rows."""
    filled = np.flatnonzero(counted.rows)
    return Histogram(
        pos=counted.sums[2 * filled + 1],
        neg=counted.sums[2 * filled],
        rows=counted.rows[filled],
        span=lambda index: buckets.span(filled[index]),
        columns=tuple(sums[2 * filled + side] for sums in counted.columns for side in (1, 0)),
    )


def sums_in(ranges: Ranges, scores: Scores, *columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of columns over the scores, ascending, in each range; a row per column."""
    ends = np.stack([np.searchsorted(scores, ranges.low), np.searchsorted(scores, ranges.high, side="right")])
    running = (np.concatenate([[0], np.cumsum(column)])[ends] for column in columns)
    return np.array([after - before for before, after in running])


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

"""Blocks of rows -> exact sums per bin.

Arrays in memory and batches out of a stream are both read in blocks, and this is what is done with
a block: its scores are binned, joined with their labels and counted by one `numpy.bincount`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutpoints._kernel.tables import ColumnSums, Histogram, Ranges, Scores, Sums
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cutpoints._kernel.binning import Buckets
    from cutpoints._kernel.weights import FixedPoint

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
        sums = []
        for sides, weights in self.readings:
            whole = np.ones(len(self.scores), np.int64) if weights is None else grid.encode(weights)
            pos = whole * sides
            sums.append((pos, np.subtract(whole, pos, out=whole)))
        (pos, neg), *others = sums
        for more_pos, more_neg in others:
            pos += more_pos
            neg += more_neg
        return pos, neg

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
        *buckets.span(filled),
        pos=counted.sums[2 * filled + 1],
        neg=counted.sums[2 * filled],
        rows=counted.rows[filled],
        columns=tuple(sums[2 * filled + side] for sums in counted.columns for side in (1, 0)),
    )


# --- per score


def unique_scores(block: Block, grid: FixedPoint) -> Histogram:
    """Sort rows and add up those of equal score: a bin for each score."""
    block = block.part(np.argsort(block.scores))
    one_each = np.ones(len(block.scores), dtype=np.int64)
    rows = Histogram(block.scores, block.scores, *block.sums(grid), one_each, block.column_sums())
    return rows.touching()


def binned(scores: Histogram, buckets: Buckets) -> Histogram:
    """Put bins of one score into buckets."""
    place = np.empty(len(scores.low), np.int32)
    buckets.place(scores.low, np.empty_like(scores.low), place, -np.inf, np.inf)
    place >>= 1
    first = np.flatnonzero(np.append(len(place) > 0, place[1:] != place[:-1]))
    found = scores.merged(first)
    return found.with_sums(*buckets.span(place[first].astype(np.intp)), found.sums)


# --- data that change between passes


def check_unchanged(before: Histogram, ranges: Ranges | None, after: Histogram) -> None:
    """Raise unless a later count of some ranges (all: None) has the rows and the sums of an earlier one.

    They are compared in each range and in each bin; ends that cut a bin in two cannot be compared.
    """
    asked = _between_bins(before, ranges or Ranges(np.array([-np.inf]), np.array([np.inf])))
    for each in (asked, _between_bins(after, before.at(inside(before.low, asked)))):
        expected, found = (_sums_in(each, count) for count in (before, after))
        if (expected != found).any():
            raise InvalidInputError.changed(expected=int(expected[0].sum()), found=int(found[0].sum()))


def _between_bins(bins: Histogram, ranges: Ranges | Histogram) -> Ranges:
    """Return those of the ranges that begin and end between bins."""
    low, high = ranges.low, ranges.high
    whole = np.searchsorted(bins.low, low) == np.searchsorted(bins.high, low)
    whole &= np.searchsorted(bins.low, high, "right") == np.searchsorted(bins.high, high, "right")
    return Ranges(low[whole], high[whole])


def _sums_in(ranges: Ranges, bins: Histogram) -> NDArray[np.int64]:
    """Return what is added up of the bins in each range, rows first."""
    first = np.searchsorted(bins.low, ranges.low)
    stop = np.searchsorted(bins.low, ranges.high, side="right")
    running = (np.append(0, np.cumsum(side)) for side in (bins.rows, *bins.sums))
    return np.array([total[stop] - total[first] for total in running])


# --- ranges


def inside(scores: Scores, ranges: Ranges) -> NDArray[np.intp]:
    """Return the positions of the scores that lie in one of the ranges."""
    if len(ranges.low) == 0:
        return np.zeros(0, dtype=np.intp)
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

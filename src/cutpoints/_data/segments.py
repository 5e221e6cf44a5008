"""Many segments, few passes: rows that carry the key of a segment, in memory or out of a stream.

In memory the rows are put in the order of their segments once; each segment is then a slice, and a
source like any other. A stream is read a few times, and each time all segments are served together:

1. The first pass finds the keys, checks the rows, and counts them into cells, a bucket of one segment
   each. There are at most two million cells, whatever the number of segments. A stream that turns out
   to be short is kept, and that was the only pass.
2. A search per segment says in which of its cells the optimum can be. One more pass collects the rows
   of all these cells, equal scores merged, if they fit in memory; if they do not, the same pass
   has counted them into finer cells, and the next one tries again.

So the number of passes depends on the distribution of the scores, and not on the number of segments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cutpoints._data.arrays import ArraySource, Stream
from cutpoints._data.labels import Labels
from cutpoints._data.segment_codes import Coder
from cutpoints._kernel import mergeable_histogram as _cells
from cutpoints._kernel.binning import ordered, unordered
from cutpoints._kernel.float_order import numbered
from cutpoints._kernel.histogram import Block, joined
from cutpoints._kernel.masses import BLOCK_ROWS, Masses, Unit
from cutpoints._kernel.tables import Histogram, Ranges, Rows, Scores, Summary
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from cutpoints._data.segment_codes import Column, Key

CELLS = 1 << 21
"""Cells of one count, over all segments."""
LEAST, MOST = 16, 1 << 13
"""Cells that each segment gets on average: so many even if there are more of them than `CELLS` allows, and
no more than that, since large tables of them take time to add up."""
HOLDS = 1 << 22
"""Rows, or distinct scores of segments, that are kept in memory."""
_NUMBER_BITS, _COARSE = 30, 34
"""So many bits of the numbers of floats are used beside the code: 2**17 steps from 1/4 to 1/2."""
_OFFSET = 1 << (_NUMBER_BITS - 1)


class KeyedStream(Protocol):
    """Rows with keys that can be read again and again."""

    passes: int

    def read(self, near: tuple[float, float] | None = None) -> Iterator[tuple[list[Column], Block]]:
        """Make a pass: yield the key columns and the rows of blocks, checked; raise for bad rows.

        All rows, or at least those whose score is in a closed range. At most `BLOCK_ROWS` rows a block.
        """


class Grouped:
    """Segments in memory: one source per segment, over slices of arrays that were put in order."""

    def __init__(self, source: ArraySource, codes: NDArray[np.int64], keys: list[Key]) -> None:
        source.summary()  # raises for bad rows, by their places in the order of the user
        self.keys = keys
        small = codes.astype(np.uint16) if len(keys) <= 1 << 16 else codes
        order = np.argsort(small, kind="stable")
        self._scores = source.scores[order]
        self._streams = [stream.read(slice(None), order) for stream in source.streams]
        self._name = source.score_name
        counts = np.bincount(codes, minlength=len(keys))
        self._ends = np.concatenate([[0], np.cumsum(counts)])

    def rows(self, segment: int) -> int:
        """Return how many rows a segment has."""
        return int(self._ends[segment + 1] - self._ends[segment])

    def source(self, segment: int) -> ArraySource:
        """Return the rows of one segment; no copy."""
        part = slice(self._ends[segment], self._ends[segment + 1])
        streams = tuple(
            Stream.of(
                sides if isinstance(sides, int) else Labels(sides[part]),
                None if weights is None else weights[part],
            )
            for sides, weights in self._streams
        )
        return ArraySource(self._scores[part], streams, score_name=self._name)


def opened(stream: KeyedStream, *, holds: int = HOLDS, cells: int = CELLS) -> Grouped | Streamed:
    """Make the first pass: return all rows if they are few, and counts of them otherwise."""
    coder = Coder()
    kept: list[tuple[NDArray[np.int64], Block]] | None = []
    rows = 0
    count = _Count(coder, cells)
    for columns, block in stream.read():
        codes = coder.encode(columns)
        rows += len(codes)
        if kept is not None:
            kept.append((codes, block))
            if rows <= holds:
                continue
            for one in kept:
                count.add(*one)
            kept = None
        else:
            count.add(codes, block)
    if kept is not None:
        whole = joined([block for _, block in kept])
        source = ArraySource(
            whole.scores,
            tuple(Stream.of(s if isinstance(s, int) else Labels(s), w) for s, w in whole.readings),
        )
        return Grouped(source, np.concatenate([codes for codes, _ in kept]), coder.keys)
    return Streamed(stream, coder, count, holds=holds, cells=cells)


class _Count:
    """The first count: cells of all segments, and the ends of each segment's scores."""

    def __init__(self, coder: Coder, limit: int) -> None:
        self._coder, self._most = coder, limit
        self._cells, self._fresh = _cells.nothing(), _cells.nothing()
        self._waiting: list[tuple[NDArray[np.int64], Block]] = []
        self.dtype = np.dtype(np.float32)

    @property
    def _limit(self) -> int:
        segments = len(self._coder.keys)
        return max(min(self._most, MOST * segments), LEAST * segments)

    def add(self, codes: NDArray[np.int64], block: Block) -> None:
        """Count a block, together with others: with many cells a count of few rows is as dear."""
        self.dtype = np.promote_types(self.dtype, block.scores.dtype)
        self._waiting.append((codes, block))
        if sum(len(codes) for codes, _ in self._waiting) + BLOCK_ROWS > _cells.ROWS:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        block = joined([block for _, block in self._waiting])
        codes = np.concatenate([codes for codes, _ in self._waiting])
        self._waiting = []
        numbers = (numbered(block.scores.astype(np.float64, copy=False)) >> _COARSE) + _OFFSET
        numbers += codes << _NUMBER_BITS
        level = max(self._cells.level, self._fresh.level)
        fresh = _cells.count(numbers, block, self._limit, level)
        self._fresh = self._fresh.plus(fresh, self._limit)
        # Two sizes of tables, so that a large one is not merged with every block.
        if len(self._fresh) > len(self._cells) // 2:
            self._cells, self._fresh = self._cells.plus(self._fresh, self._limit), _cells.nothing()

    def cells(self) -> _cells.Cells:
        """Return all that was counted."""
        self._flush()
        return self._cells.plus(self._fresh, self._limit)


class Streamed:
    """Segments of a stream: the first count of each, and shared passes for what comes after."""

    def __init__(self, stream: KeyedStream, coder: Coder, count: _Count, *, holds: int, cells: int) -> None:
        self._stream, self._coder, self._cells = stream, coder, cells
        self.holds = holds
        self.keys = coder.keys
        self._dtype = count.dtype
        first = count.cells()
        # Cells of one segment stay together at every level: codes are the highest bits.
        segments = first.numbers >> max(0, _NUMBER_BITS - first.level)
        self._ends = np.searchsorted(segments, np.arange(len(self.keys) + 1))
        self._first = first
        start = self._ends[:-1]
        self._counts = np.add.reduceat(first.rows, start)
        self._scores = np.minimum.reduceat(first.low, start), np.maximum.reduceat(first.high, start)
        sums = (np.add.reduceat(side.limbs, start, axis=1) for side in (first.pos, first.neg))
        self._totals = [Masses(limbs, first.unit) for limbs in sums]

    @property
    def passes(self) -> int:
        """How often the data were read so far."""
        return self._stream.passes

    def rows(self, segment: int) -> int:
        """Return how many rows a segment has."""
        return int(self._counts[segment])

    def summary(self, segment: int) -> Summary:
        """Return what the rows of a segment are."""
        pos, neg = (side.integer(segment) for side in self._totals)
        low, high = (float(end[segment]) for end in self._scores)
        return Summary(self.rows(segment), pos, neg, self._first.unit, low, high)

    def histogram(self, segment: int) -> Histogram:
        """Return the first count of a segment."""
        return self._part(segment).histogram()

    def _part(self, segment: int) -> _cells.Cells:
        return self._first.part(slice(self._ends[segment], self._ends[segment + 1]))

    def answer(
        self, wanted: Mapping[int, Ranges | None], expected: int, *, count: bool
    ) -> dict[int, Rows] | dict[int, Histogram]:
        """Make a pass: return the rows of these ranges of segments (all: None), or a count of each.

        Rows, if they fit in memory or if no count is allowed; `expected` is how many there are.
        """
        ranges = SegmentRanges.of(wanted, len(self.keys))
        unit = self._first.unit
        pot = _Pot(unit, self.holds if count else None)
        finer = _Finer.over(ranges, self._cells, unit) if count and expected > self.holds else None
        there = 0
        for columns, block in self._stream.read(ranges.hull):
            codes = self._coder.encode(columns)
            scores = block.scores.astype(np.float64, copy=False)
            index, which = ranges.find(codes, scores)
            there += len(index)
            if len(index) == 0:
                continue
            part = block.part(index)
            if finer is not None:
                finer.add(which, scores[index], part)
            pot.add(codes[index], part)
        if there != expected:
            raise InvalidInputError.changed(expected=expected, found=there)
        found = pot.taken(self._dtype)
        if found is None:
            assert finer is not None
            return finer.histograms(wanted, ranges)
        return {segment: found.rows(segment) for segment in wanted}


class SegmentRanges(NamedTuple):
    """Ranges of many segments, by segment and then ascending; `first` tells where each segment's begin."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    first: NDArray[np.intp]

    @classmethod
    def of(cls, wanted: Mapping[int, Ranges | None], segments: int) -> SegmentRanges:
        """Put the ranges of segments (all scores: None) in order."""
        everything = Ranges(np.array([-np.inf]), np.array([np.inf]))
        counts = np.zeros(segments + 1, dtype=np.intp)
        lows, highs = [np.zeros(0)], [np.zeros(0)]
        for segment in sorted(wanted):
            low, high = wanted[segment] or everything
            counts[segment + 1] = len(low)
            lows.append(low.astype(np.float64))
            highs.append(high.astype(np.float64))
        return cls(np.concatenate(lows), np.concatenate(highs), np.cumsum(counts))

    @property
    def segments(self) -> NDArray[np.int64]:
        """The segment of each range."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @property
    def hull(self) -> tuple[float, float]:
        """The lowest and the highest score of all ranges."""
        return float(self.low.min()), float(self.high.max())

    def find(
        self, codes: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the positions of the rows that lie in a range of their segment, and which it is."""
        start, stop = self.first[:-1], self.first[1:]
        some = stop > start
        lowest, highest = np.full(len(start), np.inf), np.full(len(start), -np.inf)
        lowest[some], highest[some] = self.low[start[some]], self.high[stop[some] - 1]
        if len(codes) and codes.max() >= len(start):  # a segment that was not there in the first pass
            raise InvalidInputError.changed(expected=0, found=int((codes >= len(start)).sum()))
        index = np.flatnonzero((scores >= lowest[codes]) & (scores <= highest[codes]))
        picked, left = scores[index], codes[index]
        # Bisection over the ranges of each row's own segment, all rows at once.
        below, above = start[left], stop[left]
        while (above - below > 1).any():
            middle = (below + above) // 2
            reached = self.low[np.minimum(middle, len(self.low) - 1)] <= picked
            wide = above - below > 1
            below = np.where(wide & reached, middle, below)
            above = np.where(wide & ~reached, middle, above)
        inside = picked <= self.high[below]
        return index[inside], below[inside]


class _Finer:
    """A count of the ranges of many segments, by the leading bits of the distance from their starts."""

    def __init__(
        self, start: NDArray[np.int64], shift: NDArray[np.uint64], offset: NDArray[np.intp], unit: Unit
    ) -> None:
        self._start, self._shift, self._offset, self._unit = start, shift, offset, unit
        self._sums = np.zeros((unit.limbs, 2 * int(offset[-1])), np.int64)
        self._rows = np.zeros(int(offset[-1]), np.int64)
        self._pending: list[tuple[NDArray[np.intp], Block]] = []
        self._waiting = 0

    @classmethod
    def over(cls, ranges: SegmentRanges, cells: int, unit: Unit) -> _Finer:
        """Deal the cells out evenly over the ranges."""
        start, stop = ordered(ranges.low), ordered(ranges.high)
        width = (stop - start).view(np.uint64)
        bits = max(1, (cells // len(start)).bit_length() - 1)
        needed = np.array([int(w).bit_length() for w in width])
        shift = np.maximum(needed - bits, 0).astype(np.uint64)
        sizes = (width >> shift).astype(np.intp) + 1
        return cls(start.astype(np.int64, copy=False), shift, np.concatenate([[0], np.cumsum(sizes)]), unit)

    def add(self, which: NDArray[np.intp], scores: NDArray[np.float64], block: Block) -> None:
        """Count some rows."""
        distance = (ordered(scores) - self._start[which]).view(np.uint64) >> self._shift[which]
        self._pending.append((self._offset[which] + distance.astype(np.intp), block))
        self._waiting += len(which)
        if self._waiting >= len(self._rows) // 4:  # a count costs as much as there are cells
            self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        size = len(self._rows)
        if self._pending[0][1].readings[0][1] is None:
            sides = np.concatenate([2 * place + block.readings[0][0] for place, block in self._pending])
            both = np.bincount(sides, minlength=2 * size)
            self._sums[0] += both
            self._rows += both[0::2] + both[1::2]
        else:
            for place, block in self._pending:
                self._rows += np.bincount(place, minlength=size)
                for reading, weights in block.readings:
                    assert weights is not None
                    for i, limb in enumerate(self._unit.split(weights)):
                        sums = np.bincount(2 * place + reading, weights=limb, minlength=2 * size)
                        self._sums[i] += sums.astype(np.int64)
            self._sums = Masses(self._sums, self._unit).carried().limbs
        self._pending, self._waiting = [], 0

    def histograms(self, wanted: Mapping[int, Any], ranges: SegmentRanges) -> dict[int, Histogram]:
        """Return the filled cells of each segment."""
        self._flush()
        masses = Masses(self._sums, self._unit)
        found = {}
        for segment in wanted:
            cells = slice(
                int(self._offset[ranges.first[segment]]), int(self._offset[ranges.first[segment + 1]])
            )
            filled = np.flatnonzero(self._rows[cells]) + cells.start
            found[segment] = Histogram(
                pos=masses[2 * filled + 1],
                neg=masses[2 * filled],
                rows=self._rows[filled],
                span=lambda index, filled=filled: self._span(filled[index], ranges),  # type: ignore[misc]
            )
        return found

    def _span(self, cells: NDArray[np.intp], ranges: SegmentRanges) -> Ranges:
        which = np.searchsorted(self._offset, cells, side="right") - 1
        shift = self._shift[which]
        one = np.uint64(1)
        low = self._start[which] + ((cells - self._offset[which]).astype(np.uint64) << shift).view(np.int64)
        room = (one << shift) - one
        stop = ordered(ranges.high[which])
        near = (stop - low).view(np.uint64) <= room
        return Ranges(unordered(low), unordered(np.where(near, stop, low + room.view(np.int64))))


class _Found(NamedTuple):
    """Distinct scores of segments with their masses, by segment and then ascending."""

    segments: NDArray[np.int64]
    scores: Scores
    pos: Masses
    neg: Masses
    counts: NDArray[np.int64]

    def rows(self, segment: int) -> Rows:
        """Return the scores of one segment."""
        part = slice(*np.searchsorted(self.segments, [segment, segment + 1]))
        return Rows(self.scores[part], self.pos[part], self.neg[part], int(self.counts[part].sum()))

    def plus(self, other: _Found) -> _Found:
        """Return the scores of both, equal ones of a segment merged."""
        return _merged(
            np.concatenate([self.segments, other.segments]),
            np.concatenate([self.scores, other.scores]),
            self.pos.followed_by(other.pos),
            self.neg.followed_by(other.neg),
            np.concatenate([self.counts, other.counts]),
        )


def _merged(
    segments: NDArray[np.int64], scores: Scores, pos: Masses, neg: Masses, counts: NDArray[np.int64]
) -> _Found:
    order = np.lexsort((scores, segments))
    segments, scores = segments[order], scores[order]
    fresh = np.append(True, (segments[1:] != segments[:-1]) | (scores[1:] != scores[:-1]))
    first = np.flatnonzero(fresh)

    def added(masses: Masses) -> Masses:
        return Masses(np.add.reduceat(masses.limbs[:, order], first, axis=1), masses.unit).carried()

    return _Found(
        segments[first], scores[first], added(pos), added(neg), np.add.reduceat(counts[order], first)
    )


class _Pot:
    """Rows that are collected, equal scores merged now and then; given up when they are too many."""

    def __init__(self, unit: Unit, limit: int | None) -> None:
        self._unit, self._limit = unit, limit
        self._pending: list[tuple[NDArray[np.int64], Block]] = []
        self._waiting = 0
        self._merged: _Found | None = None
        self._full = False

    def add(self, codes: NDArray[np.int64], block: Block) -> None:
        """Take some rows."""
        if self._full:
            return
        self._pending.append((codes, block))
        self._waiting += len(codes)
        if self._waiting >= max(_cells.ROWS, 0 if self._merged is None else len(self._merged.scores) // 2):
            self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        block = joined([one for _, one in self._pending])
        codes = np.concatenate([one for one, _ in self._pending])
        self._pending, self._waiting = [], 0
        n = len(codes)
        sides = np.zeros((2, self._unit.limbs, n), np.int64)
        for reading, weights in block.readings:
            limbs = [np.ones(n)] if weights is None else self._unit.split(weights)
            for side in (0, 1):
                for i, limb in enumerate(limbs):
                    sides[side, i] += np.where(np.asarray(reading) == side, limb, 0).astype(np.int64)
        scores = block.scores + block.scores.dtype.type(0)  # -0.0 becomes 0.0
        masses = [Masses(side, self._unit) for side in sides]
        fresh = _merged(codes, scores, masses[1], masses[0], np.ones(n, np.int64))
        self._merged = fresh if self._merged is None else self._merged.plus(fresh)
        if self._limit is not None and len(self._merged.scores) > self._limit:
            self._merged, self._full = None, True

    def taken(self, dtype: np.dtype[Any]) -> _Found | None:
        """Return all that was collected; None if that was too much."""
        self._flush()
        if self._full:
            return None
        if self._merged is None:
            none = Masses(np.zeros((self._unit.limbs, 0), np.int64), self._unit)
            zero = np.zeros(0, np.int64)
            return _Found(zero, np.zeros(0, dtype), none, none, zero)
        return self._merged._replace(scores=self._merged.scores.astype(dtype))

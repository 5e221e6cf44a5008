"""Segments: rows in memory, put in the order of their segments once, and ranges of many segments.

Each segment in memory is a slice, and a source like any other. Rows that stay in an engine are in
`groupby_segments`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._data.arrays import ArraySource, Stream
from cutpoints._data.labels import Labels
from cutpoints._kernel.segment_cuts import SegmentCuts, by_segment
from cutpoints._kernel.tables import Ranges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cutpoints._data.segment_codes import Key
    from cutpoints._kernel.tables import Scores


class Grouped:
    """Segments in memory: one source per segment, over slices of arrays that were put in order."""

    def __init__(self, source: ArraySource, codes: NDArray[np.int64], keys: list[Key]) -> None:
        # Raises for bad rows, by their places in the order of the user.
        self._grid = source.summary().grid
        self.whole, self.keys = source, keys
        order = by_segment(codes, len(keys))
        self._scores = source.scores[order]
        # All weights, even those of rows that are counted: each segment has a grid of its own.
        self._streams = [
            (stream.read(slice(None), order)[0], None if stream.weights is None else stream.weights[order])
            for stream in source.streams
        ]
        self._columns = {column: values[order] for column, values in source.columns.items()}
        self._name = source.score_name
        self._weighted = any(stream.added is not None for stream in source.streams)
        counts = np.bincount(codes, minlength=len(keys))
        self._ends = np.concatenate([[0], np.cumsum(counts)])

    def rows(self, segment: int) -> int:
        """Return how many rows a segment has."""
        return int(self._ends[segment + 1] - self._ends[segment])

    def cuts(self, order: Sequence[int]) -> SegmentCuts:
        """Return the cuts of all segments, in this order, on the grid of all rows."""
        rank = np.empty(len(self.keys), dtype=np.int64)
        rank[list(order)] = np.arange(len(order))
        sizes = np.diff(self._ends)
        sums = np.zeros((2, len(self._scores)), dtype=np.int64)
        for sides, weights in self._streams:
            added: Any = 1
            if weights is not None and self._weighted:
                added = self._grid.encode(weights)
            positive = sides == 1
            sums[1] += np.where(positive, added, 0)
            sums[0] += np.where(positive, 0, added)
        return SegmentCuts.of(
            self._scores, np.repeat(rank, sizes), sums[1], sums[0], grid=self._grid, rows=sizes[list(order)]
        )

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
        columns = {column: values[part] for column, values in self._columns.items()}
        return ArraySource(self._scores[part], streams, score_name=self._name, columns=columns)


class SegmentRanges(NamedTuple):
    """Ranges of many segments, by segment and then ascending; `first` is where each segment begins."""

    low: Scores
    high: Scores
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

    def within(self, other: SegmentRanges) -> bool:
        """Whether each range lies in one of the others of its segment."""
        index, which = other.find(self.segments, self.low)
        return len(index) == len(self.low) and bool((self.high <= other.high[which]).all())

    def find(self, codes: NDArray[np.int64], scores: Scores) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the positions of the rows that lie in a range of their segment, and which it is."""
        start, stop = self.first[:-1], self.first[1:]
        some = stop > start
        lowest, highest = np.full(len(start), np.inf), np.full(len(start), -np.inf)
        lowest[some], highest[some] = self.low[start[some]], self.high[stop[some] - 1]
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

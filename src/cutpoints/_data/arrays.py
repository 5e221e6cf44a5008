"""NumPy arrays as a source: blocked, threaded, no copy of a large input.

Blocks of scores stay in the processor's cache while they are checked, scaled, truncated, joined
with their labels and counted by one `numpy.bincount`. NumPy lets go of the interpreter lock in all
of this but the count, so two threads take turns: one counts while the other prepares a block.

The first look at the data answers `summary` and the first `histogram` together; later questions
about few rows are answered from a copy of just these.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cutpoints._data.array_input import (
    as_array,
    as_floats,
    as_weights,
    ends_of,
    refuse_nan,
    same_length,
    weights_and_ends,
)
from cutpoints._data.labels import Counts, Labels
from cutpoints._kernel.binning import Buckets, Radix, choose
from cutpoints._kernel.histogram import (
    MANY_LIMBS,
    Block,
    Reading,
    Sides,
    added,
    inside,
    joined,
    table,
    tally,
    within,
)
from cutpoints._kernel.masses import Masses, Unit, grain, outer_bits
from cutpoints._kernel.order import Sample
from cutpoints._kernel.tables import SMALL, Histogram, Ranges, Rows, Scores, Summary
from cutpoints._kernel.unique_scores import Distinct, distinct, weighed

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 1 << 18
"""Rows per block: so many that two threads seldom wait for the interpreter lock between calls, so few
that the work stays in the cache."""
WEIGHTED = 4
"""Blocks of weighted rows are so many times smaller: splitting weights makes temporary arrays, and
large ones are slow to get. At most `masses.BLOCK_ROWS` rows, so that the sums of a block are exact."""
SORTED, SORTED_WEIGHTED = (3 * SMALL, 1 << 20), (4 * SMALL, 3 << 17)
"""Below so many rows scores are sorted, and below the second number where many of them are equal: few
distinct scores are quick to sort, and slow to count, since each addition waits for the last."""
ALIKE = 1 << 8
"""So many scores are looked at to see how many are equal."""
SORTED_WIDE = 1 << 20
"""The second number for weights of a great range, which take longer to count."""
LUMPED, LUMPED_SHARE = 1 << 22, 0.75
"""Below so many rows with weights of which one score has a larger share, the few others are sorted: to count
weights into one bucket is slow."""
ROOM, MOST_ROOM = 128, 1 << 24
"""Bytes per row that sorting rows, and looking at their cuts, may take; and a limit."""
SAMPLE = 1 << 13
FEW = 24
"""One row in so many may be kept as a copy."""
LAST = 1 << 14
"""So few rows are looked at one by one."""
_PIECE = 1 << 16

T = TypeVar("T")


@dataclass(frozen=True)
class Stream:
    """One reading of the rows: each adds its weight (or 1) to the side that its label names."""

    labels: Labels | int
    weights: Scores | None = None
    ends: tuple[float, float] | None = None
    """The least and the greatest weight, if they are known."""
    each: float | None = None
    """The weight of every row, if there is just one."""

    @classmethod
    def of(
        cls, labels: Labels | int, weights: Scores | None, ends: tuple[float, float] | None = None
    ) -> Stream:
        """Take labels and weights, and see whether these are all the same: then rows are counted."""
        if isinstance(labels, int) or weights is None or len(weights) == 0:
            return cls(labels, weights)
        ends = ends or ends_of(weights)
        if ends[0] != ends[1] or not weights.all():
            return cls(labels, weights, ends)
        # A column of ones is as good as none.
        return cls(labels) if ends[0] == 1 else cls(labels, weights, ends, each=ends[0])

    @property
    def added(self) -> Scores | None:
        """The weights that are added up; None where rows are counted."""
        return self.weights if self.each is None else None

    def check(self, part: slice) -> tuple[Sides, Counts | None]:
        """Return 1 for rows whose weight goes to the positives and 0 for others, and their counts."""
        return (self.labels, None) if isinstance(self.labels, int) else self.labels.check(part)

    def read(self, part: slice, index: Any) -> tuple[Sides, Scores | None]:
        """Return sides and weights at some positions of a block."""
        sides = self.labels if isinstance(self.labels, int) else self.labels.read(part, index)
        return sides, None if self.weights is None else self.weights[part][index]


class ArraySource:
    """Rows in memory: scores and one or two streams of masses. Answers the three questions."""

    def __init__(self, scores: Scores, streams: tuple[Stream, ...], *, score_name: str = "y_score") -> None:
        self.scores = scores
        self.streams = streams
        self.score_name = score_name
        self.passes = 0
        self.few = LAST
        self.holds = len(scores)
        self.sorts = self._worth_a_sort()
        self._known: tuple[Summary, Histogram | None] | None = None
        self._kept: tuple[Ranges, Block] | None = None
        self._ranked: Rows | None = None
        self._threads = min(os.cpu_count() or 1, 4) if len(scores) > 4 * BLOCK else 1
        self._rows = BLOCK if streams[0].added is None else max(1, BLOCK // WEIGHTED)

    @classmethod
    def labelled(
        cls, y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None
    ) -> ArraySource:
        """Take rows with labels, and weights if there are any."""
        labels = Labels(as_array(y_true, "y_true"), pos_label)
        scores = as_floats(y_score, "y_score")
        weights, ends = (
            (None, None) if sample_weight is None else weights_and_ends(sample_weight, "sample_weight")
        )
        same_length({"y_true": labels, "y_score": scores, "sample_weight": weights})
        return cls(scores, (Stream.of(labels, weights, ends),))

    @classmethod
    def counted(cls, y_score: Any, *, positives: Any, negatives: Any) -> ArraySource:
        """Take rows that say how much they add to each side: counts, soft labels, costs."""
        scores = as_floats(y_score, "y_score")
        sides = as_weights(positives, "positives"), as_weights(negatives, "negatives")
        same_length({"y_score": scores, "positives": sides[0], "negatives": sides[1]})
        return cls(scores, (Stream(1, sides[0]), Stream(0, sides[1])))

    # --- the three questions

    def summary(self) -> Summary:
        """Return rows, masses and the range of scores; raise for NaN and bad labels."""
        return self._first_look()[0]

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count into buckets: one pass over the data, or none where the rows were kept."""
        summary, first = self._first_look()
        if ranges is None:
            return first or self._histogram(choose(self._sample()), None, summary.unit)
        kept = self._keep(ranges)
        if kept is None:
            return self._histogram(Radix.over(ranges), ranges, summary.unit)
        parts = (kept.part(slice(i, i + _PIECE)) for i in range(0, len(kept.scores), _PIECE))
        if self._kept is None or self._kept[0] is not ranges:  # kept for these very ranges: all inside
            parts = (part.part(inside(part.scores, ranges)) for part in parts)
        buckets = Radix.over(ranges)
        return table(tally(parts, buckets, summary.unit), buckets, summary.unit)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Collect and sort: a pass over the data unless the rows were kept, and a sort."""
        if ranges is None and self._ranked is not None:
            return self._ranked
        summary = self.summary()
        if ranges is not None and ranges.low[0] <= summary.low and summary.high <= ranges.high[0]:
            return self.rows(None)
        if summary.low == summary.high:  # one score: there is nothing to collect, nor to sort
            pos, neg = (
                Masses.scalar(total, summary.unit) for total in (summary.positives, summary.negatives)
            )
            return Rows(np.array([summary.low], dtype=self.scores.dtype) + 0, pos, neg, summary.rows)
        if ranges is None:
            self.passes += 1
            rows = distinct(self._block(slice(None), slice(None)), summary.unit).rows()
            if len(self.scores) < self.sorts:  # few: they may be asked for again, for each constraint
                self._ranked = rows
            return rows
        block = self._keep(ranges)
        if block is None and Sample(self.scores).repeats:  # each block has few scores, which are soon merged
            unit = summary.unit
            parts = self._each(
                lambda starts: [distinct(self._inside(start, ranges), unit) for start in starts]
            )
            return Distinct.merged([one for some in parts for one in some]).rows()
        if block is None:
            block = self._collect(ranges, len(self.scores))
            assert block is not None
        elif self._kept is not None and self._kept[0] is not ranges:  # kept for more
            block = block.part(inside(block.scores, ranges))
        return distinct(block, summary.unit).rows()

    # --- how

    def _block(self, part: slice, index: Any) -> Block:
        readings = [stream.read(part, index) for stream in self.streams]
        if self.streams[0].added is None:
            readings = [(sides, None) for sides, _ in readings]
        return Block(self.scores[part][index], readings)

    def _inside(self, start: int, ranges: Ranges | None) -> Block:
        """Return the rows of a block that lie in the ranges."""
        part = slice(start, start + self._rows)
        return self._block(part, slice(None) if ranges is None else inside(self.scores[part], ranges))

    def _worth_a_sort(self) -> int:
        """Return how many rows are sorted rather than counted."""
        rows, weighted = len(self.scores), self.streams[0].added is not None
        few, more = SORTED_WEIGHTED if weighted else SORTED
        if not few <= rows < LUMPED:
            return few
        sample = Sample(self.scores, ALIKE)
        if weighted and sample.commonest(LUMPED_SHARE) is not None:
            return LUMPED
        if more <= rows < SORTED_WIDE and self._unit().limbs >= MANY_LIMBS:
            more = SORTED_WIDE
        return more if rows < more and sample.repeats else few

    def _sample(self) -> Scores:
        sample = np.ascontiguousarray(self.scores[:: max(1, len(self.scores) // SAMPLE)])
        return sample[~np.isnan(sample)]

    def _histogram(self, buckets: Buckets, ranges: Ranges | None, unit: Unit) -> Histogram:
        """Count the rows of the ranges in a pass over everything."""
        tallies = self._each(
            lambda starts: tally((self._inside(start, ranges) for start in starts), buckets, unit)
        )
        return table(added(tallies), buckets, unit)

    def _each(self, work: Callable[[range], T]) -> list[T]:
        """Make a pass: deal the blocks out to the threads, each gets every so-many-th."""
        self.passes += 1
        starts = range(0, len(self.scores), self._rows)
        if self._threads == 1:
            return [work(starts)]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(work, [starts[i :: self._threads] for i in range(self._threads)]))

    def _first_look(self) -> tuple[Summary, Histogram | None]:
        """Check and summarise, and count on the way.

        Few rows will be sorted, so for them the count is not worth the while.
        """
        if self._known is not None:
            return self._known
        if len(self.scores) < self.sorts:
            self._known = self._glance(), None
            return self._known
        unit = self._unit()
        buckets = choose(self._sample())
        ends: list[tuple[Any, Any]] = []
        counts: list[tuple[Counts | None, ...]] = []

        def checked(starts: range) -> Any:
            for start in starts:
                part = slice(start, start + self._rows)
                scores = self.scores[part]
                low, high = scores.min(), scores.max()
                ends.append((low, high))
                sides, labels = zip(*(stream.check(part) for stream in self.streams), strict=True)
                counts.append(labels)
                weights = (None if s.added is None else s.added[part] for s in self.streams)
                if low == low:
                    yield Block(scores, list(zip(sides, weights, strict=True)), low, high)

        tallies = self._each(lambda starts: tally(checked(starts), buckets, unit))
        low, high = np.min([e[0] for e in ends]), np.max([e[1] for e in ends])
        if np.isnan(low):
            refuse_nan(self.scores, self.score_name)
        for i, stream in enumerate(self.streams):
            if isinstance(stream.labels, Labels):
                stream.labels.settle([c[i] for c in counts])  # type: ignore[misc]
        first = table(added(tallies), buckets, unit)
        positives, negatives = first.pos.total(), first.neg.total()
        summary = Summary(len(self.scores), positives, negatives, unit, float(low), float(high))
        self._known = summary, first
        return self._known

    def _glance(self) -> Summary:
        """Check and summarise a few rows: they will be sorted, so a count is not worth the while.

        Weighted ones are sorted at once, and their totals made exact when they are asked for, see `weighed`.
        """
        self.passes += 1
        # The allocator gives memory back to the system after each call, and gets it page by page in the next,
        # unless it has seen a piece come and go that is as large as all that sorting uses.
        np.empty(min(ROOM * len(self.scores), MOST_ROOM), dtype=np.uint8)
        low, high = float(np.minimum.reduce(self.scores)), float(np.maximum.reduce(self.scores))
        if low != low:
            refuse_nan(self.scores, self.score_name)
        rows, unit = len(self.scores), self._unit()
        readings: list[Reading] = []
        for stream in self.streams:
            sides, counts = stream.check(slice(None))
            if isinstance(stream.labels, Labels):
                assert counts is not None
                count = stream.labels.settle([counts])
                if stream.added is None:
                    return Summary(rows, count, rows - count, unit, low, high)
            readings.append((sides, None if stream.weights is None else stream.weights[:]))
        summary, self._ranked = weighed(Block(self.scores, readings, low, high), unit)
        return summary

    def _unit(self) -> Unit:
        """Return the grain of the masses."""
        if self.streams[0].each is not None:
            return Unit.of_each(self.streams[0].each)
        bits = [outer_bits(one.weights, one.ends) for one in self.streams if one.weights is not None]
        return grain(bits, len(self.scores))

    def _keep(self, ranges: Ranges) -> Block | None:
        """Return a copy of the few rows around these ranges; None if they are not few."""
        if self._kept is not None and within(ranges, self._kept[0]):
            return self._kept[1]
        block = self._collect(ranges, len(self.scores) // FEW)
        self._kept = None if block is None else (ranges, block)
        return block

    def _collect(self, ranges: Ranges, limit: int) -> Block | None:
        """Copy the rows of the ranges; None as soon as there are more than the limit."""
        # Appending is atomic, adding to a shared number is not: no block may be lost unnoticed.
        found: list[Block] = []

        def collect(starts: range) -> bool:
            for start in starts:
                found.append(self._inside(start, ranges))
                if sum(len(block.scores) for block in found) > limit:
                    return False
            return True

        return joined(found) if all(self._each(collect)) else None

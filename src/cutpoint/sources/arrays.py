"""NumPy arrays as a source: blocked, threaded, no copy of the input.

Blocks of scores stay in the processor's cache while they are checked, scaled, truncated, joined
with their labels and counted by one `numpy.bincount`. NumPy lets go of the interpreter lock in all
of this but the count, so two threads take turns: one counts while the other prepares a block.

The first look at the data answers `summary` and the first `histogram` together; later questions
about few rows are answered from a copy of just these.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutpoint._errors import InvalidInputError
from cutpoint.masses import Masses, Unit, bit_range, grain
from cutpoint.questions import SMALL, Histogram, Ranges, Rows, Scores, Summary
from cutpoint.sources._buckets import Buckets, Radix, Single, choose
from cutpoint.sources._input import as_array, as_floats, as_weights, same_length
from cutpoint.sources._labels import Counts, Labels

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 1 << 18
"""Rows per block: so many that two threads seldom wait for the interpreter lock between calls, so few
that the work stays in the cache."""
WEIGHTED = 4
"""Blocks of weighted rows are so many times smaller: splitting weights makes temporary arrays, and
large ones are slow to get. At most `masses.BLOCK_ROWS` rows, so that the sums of a block are exact."""
SAMPLE = 1 << 13
FEW = 24
"""One row in so many may be kept as a copy."""
LAST = 1 << 14
"""So few rows are looked at one by one."""
_PIECE = 1 << 16
_CARRY_EVERY = 1 << 9
"""Blocks after which long sums are carried, long before their limbs could overflow."""

T = TypeVar("T")
Sides = NDArray[np.uint8] | int


@dataclass(frozen=True)
class Stream:
    """One reading of the rows: each adds its weight (or 1) to the side that its label names."""

    labels: Labels | int
    weights: Scores | None = None

    def check(self, part: slice) -> tuple[Sides, Counts | None]:
        """Return 1 for rows whose weight goes to the positives and 0 for others, and their counts."""
        return (self.labels, None) if isinstance(self.labels, int) else self.labels.check(part)

    def read(self, part: slice, index: Any) -> tuple[Sides, Scores | None]:
        """Return sides and weights at some positions of a block."""
        sides = self.labels if isinstance(self.labels, int) else self.labels.read(part, index)
        return sides, None if self.weights is None else self.weights[part][index]


class _Block(NamedTuple):
    """Some rows: scores, for each stream the sides and weights, and the scores' range if known."""

    scores: Scores
    readings: list[tuple[Sides, Scores | None]]
    low: Any = -np.inf
    high: Any = np.inf


class _Tally(NamedTuple):
    """What one thread counted: masses per (bucket, side) as limbs, rows per bucket."""

    sums: NDArray[np.int64]
    rows: NDArray[np.int64]


class ArraySource:
    """Rows in memory: scores and one or two streams of masses. Answers the three questions."""

    def __init__(self, scores: Scores, streams: tuple[Stream, ...], *, score_name: str = "y_score") -> None:
        self.scores = scores
        self.streams = streams
        self.score_name = score_name
        self.passes = 0
        self.few = LAST
        self.holds = len(scores)
        self._known: tuple[Summary, Histogram | None] | None = None
        self._kept: tuple[Ranges, _Block] | None = None
        self._threads = min(os.cpu_count() or 1, 4) if len(scores) > 4 * BLOCK else 1
        self._rows = BLOCK if streams[0].weights is None else max(1, BLOCK // WEIGHTED)

    @classmethod
    def labelled(
        cls, y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None
    ) -> ArraySource:
        """Take rows with labels, and weights if there are any."""
        labels = Labels(as_array(y_true, "y_true"), pos_label)
        scores = as_floats(y_score, "y_score")
        weights = None if sample_weight is None else as_weights(sample_weight, "sample_weight")
        same_length({"y_true": labels, "y_score": scores, "sample_weight": weights})
        return cls(scores, (Stream(labels, weights),))

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
        parts = (_part(kept, slice(i, i + _PIECE)) for i in range(0, len(kept.scores), _PIECE))
        if self._kept is None or self._kept[0] is not ranges:  # kept for these very ranges: all inside
            parts = (_part(part, _inside(part.scores, ranges)) for part in parts)
        buckets = Radix.over(ranges)
        return _table(_tally(parts, buckets, summary.unit), buckets, summary.unit)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Collect and sort: a pass over the data unless the rows were kept, and a sort."""
        summary = self.summary()
        if ranges is None:
            self.passes += 1
            return _distinct(self._block(slice(None), slice(None)), summary.unit)
        kept = self._keep(ranges)
        block = kept if kept is not None else self._collect(ranges, len(self.scores))
        assert block is not None
        return _distinct(_part(block, _inside(block.scores, ranges)), summary.unit)

    # --- how

    def _block(self, part: slice, index: Any) -> _Block:
        return _Block(self.scores[part][index], [stream.read(part, index) for stream in self.streams])

    def _inside(self, start: int, ranges: Ranges | None) -> _Block:
        """Return the rows of a block that lie in the ranges."""
        part = slice(start, start + self._rows)
        return self._block(part, slice(None) if ranges is None else _inside(self.scores[part], ranges))

    def _sample(self) -> Scores:
        sample = np.ascontiguousarray(self.scores[:: max(1, len(self.scores) // SAMPLE)])
        return sample[~np.isnan(sample)]

    def _histogram(self, buckets: Buckets, ranges: Ranges | None, unit: Unit) -> Histogram:
        """Count the rows of the ranges in a pass over everything."""
        tallies = self._each(
            lambda starts: _tally((self._inside(start, ranges) for start in starts), buckets, unit)
        )
        return _table(_added(tallies), buckets, unit)

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
        """Check and summarise, and count on the way; with weights, after a look at their bits.

        Few rows will be sorted, so for them the count is not worth the while.
        """
        if self._known is not None:
            return self._known
        unit = self._unit()
        many = len(self.scores) >= SMALL
        buckets: Buckets = choose(self._sample()) if many else Single()
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
                weights = (None if s.weights is None else s.weights[part] for s in self.streams)
                if low == low:
                    yield _Block(scores, list(zip(sides, weights, strict=True)), low, high)

        tallies = self._each(lambda starts: _tally(checked(starts), buckets, unit))
        low, high = np.min([e[0] for e in ends]), np.max([e[1] for e in ends])
        if np.isnan(low):
            self._refuse_nan()
        for i, stream in enumerate(self.streams):
            if isinstance(stream.labels, Labels):
                stream.labels.settle([c[i] for c in counts])  # type: ignore[misc]
        table = _table(_added(tallies), buckets, unit)
        summary = Summary(
            len(self.scores), table.pos.total(), table.neg.total(), unit, float(low), float(high)
        )
        self._known = summary, table if many else None
        return self._known

    def _unit(self) -> Unit:
        weights = [s.weights for s in self.streams if s.weights is not None]
        if not weights:
            return Unit()
        ranges = self._each(
            lambda starts: [bit_range(w[start : start + self._rows]) for start in starts for w in weights]
        )
        return grain([r for part in ranges for r in part], len(self.scores))

    def _refuse_nan(self) -> None:
        missing = np.isnan(self.scores)
        raise InvalidInputError.nan(
            name=self.score_name,
            count=int(missing.sum()),
            rows=len(missing),
            first=int(missing.argmax()),
        )

    def _keep(self, ranges: Ranges) -> _Block | None:
        """Return a copy of the few rows around these ranges; None if they are not few."""
        if self._kept is not None and _within(ranges, self._kept[0]):
            return self._kept[1]
        block = self._collect(ranges, len(self.scores) // FEW)
        self._kept = None if block is None else (ranges, block)
        return block

    def _collect(self, ranges: Ranges, limit: int) -> _Block | None:
        """Copy the rows of the ranges; None as soon as there are more than the limit."""
        # Appending is atomic, adding to a shared number is not: no block may be lost unnoticed.
        found: list[_Block] = []

        def collect(starts: range) -> bool:
            for start in starts:
                found.append(self._inside(start, ranges))
                if sum(len(block.scores) for block in found) > limit:
                    return False
            return True

        return _joined(found) if all(self._each(collect)) else None


def _tally(blocks: Any, buckets: Buckets, unit: Unit) -> _Tally:
    """Count blocks into buckets; work arrays are made once."""
    size = 2 * buckets.count
    sums = np.zeros((unit.limbs, size), dtype=np.int64)
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
                sums[0] += np.bincount(key[:n], minlength=size)
                continue
            for i, limb in enumerate(unit.split(weights)):
                sums[i] += np.bincount(key[:n], weights=limb, minlength=size).astype(np.int64)
        if turn % _CARRY_EVERY == _CARRY_EVERY - 1:
            sums = Masses(sums, unit).carried().limbs
    counts = rows if weighted else sums[0]
    return _Tally(Masses(sums, unit).carried().limbs, counts[0::2] + counts[1::2])


def _added(tallies: list[_Tally]) -> _Tally:
    return _Tally(*(np.sum([t[i] for t in tallies], axis=0) for i in (0, 1)))


def _table(tally: _Tally, buckets: Buckets, unit: Unit) -> Histogram:
    filled = np.flatnonzero(tally.rows)
    masses = Masses(tally.sums, unit).carried()
    return Histogram(
        pos=masses[2 * filled + 1],
        neg=masses[2 * filled],
        rows=tally.rows[filled],
        span=lambda index: buckets.span(filled[index]),
    )


def _inside(scores: Scores, ranges: Ranges) -> NDArray[np.intp]:
    """Return the positions of the scores that lie in one of the ranges."""
    near = scores >= ranges.low[0]
    near &= scores <= ranges.high[-1]
    positions = np.flatnonzero(near)
    if len(ranges.low) == 1:
        return positions
    candidates = scores[positions]
    which = np.searchsorted(ranges.low, candidates, side="right") - 1
    return positions[candidates <= ranges.high[which]]


def _within(inner: Ranges, outer: Ranges) -> bool:
    """Whether every inner range lies in one of the outer ones."""
    which = np.searchsorted(outer.low, inner.low, side="right") - 1
    return bool((which >= 0).all() and (inner.high <= outer.high[which]).all())


def _part(block: _Block, index: Any) -> _Block:
    readings = [
        (
            sides if isinstance(sides, int) else sides[index],
            None if weights is None else weights[index],
        )
        for sides, weights in block.readings
    ]
    return _Block(block.scores[index], readings)


def _joined(blocks: list[_Block]) -> _Block:
    """Put blocks together."""
    readings: list[tuple[Sides, Scores | None]] = []
    for i, (sides, weights) in enumerate(blocks[0].readings):
        joined = sides if isinstance(sides, int) else np.concatenate([b.readings[i][0] for b in blocks])
        heavy = None if weights is None else np.concatenate([b.readings[i][1] for b in blocks])
        readings.append((joined, heavy))
    return _Block(np.concatenate([b.scores for b in blocks]), readings)


def _distinct(block: _Block, unit: Unit) -> Rows:
    """Sort rows and add up the masses of equal scores."""
    scores, readings = block.scores, block.readings
    if len(readings) == 1 and readings[0][1] is None:
        return _distinct_unweighted(scores, readings[0][0])
    order = np.argsort(scores)
    ranked = scores[order] + scores.dtype.type(0)  # -0.0 becomes 0.0
    first = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1])[: len(ranked)])
    sides = [np.zeros((unit.limbs, len(first)), dtype=np.int64) for _ in (0, 1)]
    for side, weights in readings:
        assert weights is not None
        limbs = [limb.astype(np.int64) for limb in unit.split(weights[order])] if len(first) else []
        for s in (0, 1):
            belongs = (side if isinstance(side, int) else side[order]) == s
            for i, limb in enumerate(limbs):
                sides[s][i] += np.add.reduceat(np.where(belongs, limb, 0), first)
    neg, pos = (Masses(side, unit).carried() for side in sides)
    return Rows(ranked[first], pos, neg, len(scores))


def _distinct_unweighted(scores: Scores, sides: Any) -> Rows:
    """Count equal scores: sort each class by itself, then merge.

    A plain sort is several times faster than argsort, and a stable sort of two ascending runs is
    one merge; so the order of labels comes without an argsort of the whole.
    """
    positive = sides.view(np.bool_)
    split = len(scores) - int(np.count_nonzero(positive))
    ranked = np.empty_like(scores, order="C")
    np.compress(~positive, scores, out=ranked[:split])
    np.compress(positive, scores, out=ranked[split:])
    ranked[:split].sort()
    ranked[split:].sort()
    is_pos = np.argsort(ranked, kind="stable") >= split
    ranked.sort(kind="stable")
    ranked += 0  # -0.0 becomes 0.0
    changes = ranked[1:] != ranked[:-1]
    if changes.all():
        pos = is_pos.astype(np.int64)
        neg = 1 - pos
    else:
        last = np.flatnonzero(np.append(changes, True)[: len(ranked)])
        ranked = ranked[last]
        pos = np.diff(np.cumsum(is_pos, dtype=np.int64)[last], prepend=0)
        neg = np.diff(last, prepend=-1)
        neg -= pos
    return Rows(ranked, Masses(pos[None, :], Unit()), Masses(neg[None, :], Unit()), len(scores))

"""The counting kernel: blocks of rows -> exact masses per bucket, and per distinct score.

Arrays in memory and batches out of a stream are both read in blocks, and this is what is done with
a block. It is scaled, truncated, joined with its labels and counted by one `numpy.bincount`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from cutpoint.masses import BLOCK_ROWS, FLOAT_BITS, LIMB_BITS, Masses, Unit
from cutpoint.questions import Histogram, Ranges, Rows, Scores, Summary, framed
from cutpoint.sources._buckets import ordered, unordered
from cutpoint.sources._sample import Sample
from cutpoint.weighed import Unsplit, Weighed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cutpoint.sources._buckets import Buckets

_CARRY_EVERY = 1 << 8
"""Blocks after which long sums are carried, long before their limbs could overflow."""
MANY_LIMBS = 4
"""From so many limbs on, only those that a weight has are counted."""
_EXPONENTS = 62
"""As floats, positive numbers of fewer bits are finite."""
_FEW = 1 << 17
"""Of more rows than that, some scores differ only in the bits that the places of rows take."""
SET_ASIDE = 1 << 16
"""Of so many rows with weights, those of a score that more than half of them have are not sorted."""
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


# --- per distinct score


@dataclass(frozen=True)
class Distinct:
    """Distinct scores, ascending, with their masses and how many rows have them."""

    scores: Scores
    pos: Masses
    neg: Masses
    total: int
    weighed: NDArray[np.int64] | None = None
    """The rows of each score; None where rows have no weights, and are the masses themselves."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each score."""
        return self.pos.limbs[0] + self.neg.limbs[0] if self.weighed is None else self.weighed

    def rows(self, ranges: Ranges | None = None) -> Rows:
        """Return the scores in some ranges (all: None)."""
        if ranges is None:
            return Rows(self.scores, self.pos, self.neg, self.total)
        index = inside(self.scores, ranges)
        return Rows(self.scores[index], self.pos[index], self.neg[index], int(self.counts[index].sum()))

    def histogram(self, ranges: Ranges, buckets: Buckets) -> Histogram:
        """Count the scores in some ranges into buckets."""
        index = inside(self.scores, ranges)
        scores = self.scores[index]
        place = np.empty(len(scores), np.int32)
        buckets.place(scores, np.empty_like(scores), place, -np.inf, np.inf)
        place >>= 1
        first = np.flatnonzero(np.append(True, place[1:] != place[:-1])[: len(place)])
        filled = place[first]
        return Histogram(
            pos=_reduced(self.pos[index], first),
            neg=_reduced(self.neg[index], first),
            rows=np.add.reduceat(self.counts[index], first) if len(first) else self.counts[:0],
            span=lambda chosen: buckets.span(filled[chosen].astype(np.intp)),
        )

    @classmethod
    def merged(cls, parts: Sequence[Distinct]) -> Distinct:
        """Return the scores of all parts, those that are in several once."""
        if len(parts) == 1:
            return parts[0]
        scores = np.concatenate([part.scores for part in parts])
        order = np.argsort(scores, kind="stable")  # ascending runs are merged
        scores = scores[order]
        first = np.flatnonzero(np.append(True, scores[1:] != scores[:-1])[: len(scores)])
        counts = [part.weighed for part in parts if part.weighed is not None]
        weighed = None
        if len(counts) == len(parts) and len(first):
            weighed = np.add.reduceat(np.concatenate(counts)[order], first)
        pos, neg = (
            Masses(np.concatenate([side.limbs for side in sides], axis=1), sides[0].unit)[order]
            for sides in ([part.pos for part in parts], [part.neg for part in parts])
        )
        total = sum(part.total for part in parts)
        return cls(scores[first], _reduced(pos, first), _reduced(neg, first), total, weighed)


def _reduced(masses: Masses, first: NDArray[np.intp]) -> Masses:
    """Add up runs of masses; `first` has the start of each."""
    if len(first) == 0:
        return masses
    return Masses.carrying(np.add.reduceat(masses.limbs, first, axis=1), masses.unit)


def distinct(block: Block, unit: Unit) -> Distinct:
    """Sort rows and add up the masses of equal scores."""
    scores, readings = block.scores, block.readings
    if len(readings) == 1 and readings[0][1] is None:
        return _distinct_unweighted(scores, readings[0][0], unit)
    if len(scores) >= SET_ASIDE and unit.limbs < MANY_LIMBS:
        common = Sample(scores).commonest
        here = None if common is None else scores == common
        if here is not None and 2 * np.count_nonzero(here) > len(scores):
            return Distinct.merged([distinct(block.part(~here), unit), _alone(block.part(here), unit)])
    edges, pairs, begins = _ranked(block)
    first = np.arange(len(pairs)) if begins is None else np.flatnonzero(begins)
    pos, neg = unit.masses_of_runs(pairs, first)
    return Distinct(edges[1:-1][first], pos, neg, len(scores), np.diff(first, append=len(scores)))


def _alone(block: Block, unit: Unit) -> Distinct:
    """Add up rows that all have one score, which takes no sort."""
    neg = pos = 0
    for sides, weights in cast("list[tuple[Sides, Scores]]", block.readings):
        for start in range(0, len(weights), BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            for i, limb in enumerate(unit.split(weights[part])):
                both = int(np.add.reduce(limb))
                hits = both * sides if isinstance(sides, int) else int(limb @ sides[part])
                pos, neg = pos + (hits << LIMB_BITS * i), neg + (both - hits << LIMB_BITS * i)
    score, rows = block.scores[:1] + 0, len(block.scores)
    return Distinct(score, Masses.scalar(pos, unit), Masses.scalar(neg, unit), rows, np.array([rows]))


class _LateSummary(Summary):
    """The summary of rows with weights, whose masses are added up exactly when they are asked for."""

    def __init__(self, of: Weighed, low: float, high: float) -> None:
        self.__dict__.update(rows=len(of.rows), unit=of.unit, low=low, high=high, _of=of)

    def __getattr__(self, name: str) -> Any:
        if name not in {"positives", "negatives"} or "_of" not in self.__dict__:
            raise AttributeError(name)
        positives, negatives = self.__dict__.pop("_of").total  # the rows can go
        self.__dict__.update(positives=positives, negatives=negatives)
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary, (self.rows, self.positives, self.negatives, self.unit, self.low, self.high)


class _Ranked(Rows):
    """Rows with weights as they were sorted; equal scores are told apart only when that is asked for."""

    _of: Weighed
    _edges: Scores
    _begins: NDArray[np.bool_] | None

    def __init__(self, of: Weighed, edges: Scores, begins: NDArray[np.bool_] | None) -> None:
        pos, neg = Unsplit(of, "real"), Unsplit(of, "imag")
        self.__dict__.update(pos=pos, neg=neg, rows=len(of.rows), _of=of, _edges=edges, _begins=begins)

    @cached_property
    def scores(self) -> Scores:
        """The distinct scores."""
        ranked = self._edges[1:-1]
        return ranked if self._begins is None else ranked[self._of.first]

    @property
    def edges(self) -> tuple[Scores, NDArray[np.bool_] | None]:
        """The scores of what is added up, see `Weighed`."""
        return super().edges if self._of.by_score else (self._edges[::-1], self._begins)


def weighed(block: Block, unit: Unit) -> tuple[Summary, Rows]:
    """Sort rows with weights, and return their summary too: sums are made exact only where need be."""
    edges, pairs, begins = _ranked(block)
    both = Weighed(pairs, unit, begins, either=len(block.readings) == 1)
    summary = _LateSummary(both, float(block.low), float(block.high))
    return summary, _Ranked(both, edges, begins)


def _ranked(block: Block) -> tuple[Scores, NDArray[np.complex128], NDArray[np.bool_] | None]:
    """Return scores in order, `framed`, the masses of both sides in that order, and where each score starts.

    None for the last where all scores are distinct.
    """
    pairs = np.empty(len(block.scores), dtype=np.complex128)
    if len(block.readings) > 1:  # positives and negatives have a column each
        pairs.real, pairs.imag = (heavy for _, heavy in block.readings)  # type: ignore[assignment]
    else:
        sides, weights = cast("tuple[NDArray[np.uint8], Scores]", block.readings[0])
        np.multiply(weights, sides, out=pairs.real)
        np.subtract(weights, pairs.real, out=pairs.imag)
    if block.low == block.high:  # one score: there is nothing to sort
        begins = np.zeros(len(pairs), dtype=np.bool_)
        begins[0] = True
        edges = framed(block.scores)
        edges += 0
        return edges, pairs, None if len(pairs) == 1 else begins
    order, edges, found = _sorted(block.scores, block.low, block.high)
    ranked = np.ascontiguousarray(pairs[order]) if isinstance(order, slice) else pairs.take(order)
    return edges, ranked, found


def _sorted(
    scores: Scores, low: Any, high: Any
) -> tuple[NDArray[np.int64] | slice, Scores, NDArray[np.bool_] | None]:
    """Return the order of scores, the scores in that order, `framed`, and where each begins, see `_begins`.

    To sort them with the place of each row in the last bits is twice as fast as argsort. Where scores have
    no such bits to spare, those that differ in these bits only are not sorted: seen, and done the slow way.
    """
    edges = np.empty(len(scores) + 2, dtype=scores.dtype)
    edges[0], edges[-1] = -np.inf, np.inf
    ranked = edges[1:-1]
    sample = Sample(scores)
    way = sample.way
    if way is not None:
        np.add(scores[way], 0, out=ranked)  # -0.0 becomes 0.0
        begins = _begins(ranked)
        if begins is None or not (ranked[1:] < ranked[:-1]).any():
            return way, edges, begins
    if sample.commonest is not None:
        return _around(sample.commonest, scores, edges)
    if sample.repeats:
        order = scores.argsort()  # as fast as keys where scores repeat, unless most are the same
    else:
        order, spare = _keys(scores, low, high)
        order &= (1 << len(scores).bit_length()) - 1
        scores.take(order, out=ranked, mode="clip")  # without another copy
        begins = _begins(ranked)
        if spare or begins is None or not (ranked[1:] < ranked[:-1]).any():
            if low <= 0 <= high:
                ranked += 0  # -0.0 becomes 0.0
            return order, edges, begins
        order = scores.argsort()
    scores.take(order, out=ranked, mode="clip")
    ranked += 0
    return order, edges, _begins(ranked)


def _around(
    common: float, scores: Scores, edges: Scores
) -> tuple[NDArray[np.int64], Scores, NDArray[np.bool_]]:
    """Return what `_sorted` does where most scores are one and the same: only the others are sorted."""
    here = scores == common
    (rest,) = (~here).nonzero()
    others = scores[rest]
    way = others.argsort()
    rest, others = rest[way], others[way]
    others += 0  # -0.0 becomes 0.0
    start = int(np.searchsorted(others, common))
    end = start + len(scores) - len(others)
    ranked, begins = edges[1:-1], np.zeros(len(scores), dtype=np.bool_)
    ranked[:start], ranked[start:end], ranked[end:] = others[:start], common + 0, others[start:]
    apart = _apart(others)
    begins[:start], begins[start], begins[end:] = apart[:start], True, apart[start:]
    return np.concatenate([rest[:start], here.nonzero()[0], rest[start:]]), edges, begins


def _keys(scores: Scores, low: Any, high: Any) -> tuple[NDArray[np.int64], bool]:
    """Return sorted numbers of the order of the scores, with the places of rows in the last bits.

    And whether that is so for sure: there were bits to spare.
    """
    bits = len(scores).bit_length()
    spare = scores.dtype == np.float32
    whole = not spare and (math.isinf(low) or math.isinf(high))
    if spare:
        keys = scores.view(np.int32).astype(np.int64)
        keys <<= 32
    elif 0 < low <= high < 2 * low:  # close to each other: from the lowest on
        lowest, highest = ordered(np.array([low, high])).tolist()
        spare = (highest - lowest).bit_length() + bits < _EXPONENTS
        keys = scores.view(np.int64) - lowest
        if spare:
            keys <<= bits
    if not spare:
        keys = (ordered(scores) if whole else scores.view(np.int64)) & -(1 << bits)
    keys |= _places(bits)[: len(scores)] if len(scores) < _FEW else np.arange(len(scores))
    # As floats, which are sorted more quickly than integers; but an infinite one with more bits is none.
    (keys if whole else keys.view(np.float64)).sort()
    return keys, spare


@cache
def _places(bits: int) -> NDArray[np.int64]:
    """Return the numbers of so many bits: for few rows, to make them anew is a tenth of a search."""
    return np.arange(1 << bits)


def _begins(ranked: Scores) -> NDArray[np.bool_] | None:
    """Return where a score is another one than the last; None where every one is."""
    begins = _apart(ranked)
    return None if np.count_nonzero(begins) == len(begins) else begins


def _apart(ranked: Scores) -> NDArray[np.bool_]:
    begins = np.empty(len(ranked), dtype=np.bool_)
    begins[:1] = True
    np.greater(ranked[1:], ranked[:-1], out=begins[1:])
    return begins


def _distinct_unweighted(scores: Scores, sides: Any, unit: Unit) -> Distinct:
    """Count equal scores: sort them with their labels in the lowest bit, as integers.

    A plain sort of integers is several times faster than argsort, and takes no more memory than
    the keys. The keys have that one bit to spare unless the scores are large and of both signs.
    """
    ordinals = ordered(scores)
    lowest = int(np.minimum.reduce(ordinals, initial=0))
    if lowest < 0 and (int(ordinals.max()) - lowest).bit_length() >= 8 * ordinals.itemsize:
        if len(scores) < _FEW:
            order, edges, _ = _sorted(scores, -np.inf, np.inf)
            ranked, labels = edges[1:-1], sides[order]
        else:
            ranked, labels = _sorted_by_class(scores, sides)
    else:
        if lowest < 0:
            ordinals -= lowest
        keys: Any = ordinals.view(np.uint64 if ordinals.itemsize == 8 else np.uint32)
        keys <<= 1
        keys |= sides
        keys.sort()
        labels = (keys & 1).view(ordinals.dtype)
        keys >>= 1
        if lowest < 0:
            ordinals += lowest
        ranked = unordered(ordinals)
    ends = np.ones(len(ranked), dtype=np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=ends[:-1])
    if np.count_nonzero(ends) == len(ends):
        pos = labels.astype(np.int64, copy=False)
        neg = 1 - pos
    else:
        (last,) = ends.nonzero()
        ranked = ranked[last]
        pos = _steps(np.add.accumulate(labels, dtype=np.int64)[last])
        neg = _steps(last + 1)
        neg -= pos
    return Distinct(ranked, Masses(pos[None, :], unit), Masses(neg[None, :], unit), len(scores))


def _steps(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what running sums were made of."""
    steps = sums.copy()
    steps[1:] -= sums[:-1]
    return steps


def _sorted_by_class(scores: Scores, sides: Any) -> tuple[Scores, Any]:
    """Sort each class by itself, then merge: a stable sort of two ascending runs is one merge."""
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
    return ranked, is_pos

"""Bucketing: non-decreasing functions from scores to bucket numbers, and their exact inverses.

A bucket is only a way to look at many scores at once. What matters is that the function never
decreases, so that buckets are intervals, and that the ends of these intervals are known exactly,
as floats: a later pass can then ask for ``low <= score <= high`` and get the very same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cutpoints._kernel.tables import Ranges, Scores

BUCKETS = 4096
"""Buckets of a count in memory, where a second pass over what is left costs less than more of them."""
_NEAR = 64
"""Floats around the computed end of a bucket that are searched for the true end, first few, then more."""
Ints = NDArray[np.integer[Any]]
_INTEGERS, _FLOATS = ({n: np.dtype(f"{kind}{n}") for n in (4, 8)} for kind in "if")
_LARGEST = {n: int(np.iinfo(width).max) for n, width in _INTEGERS.items()}


def ordered(scores: Scores) -> Ints:
    """Map floats to integers of the same width, keeping their order; -0.0 and 0.0 are one."""
    bits = (scores + scores.dtype.type(0)).view(_INTEGERS[scores.dtype.itemsize])
    if bits.min(initial=0) == 0:
        return bits  # probabilities: none is negative
    negative = bits >> (8 * bits.itemsize - 1)
    # Minus the magnitude: the keys of -5e-324, 0.0 and 5e-324 are -1, 0 and 1, none is left out.
    return (bits ^ (negative & _LARGEST[bits.itemsize])) - negative


def unordered(keys: Ints) -> Scores:
    """Return the floats that `ordered` maps to these integers."""
    floats = _FLOATS[keys.itemsize]
    if keys.min(initial=0) == 0:
        return keys.view(floats)
    negative = keys >> (8 * keys.itemsize - 1)
    return ((keys + negative) ^ (negative & _LARGEST[keys.itemsize])).view(floats)


class Buckets(Protocol):
    """A non-decreasing function from all scores to ``0 .. count - 1``."""

    @property
    def count(self) -> int:
        """How many buckets there are."""

    def place(self, scores: Scores, work: Scores, out: Ints, low: Any, high: Any) -> None:
        """Write twice the bucket of each score to `out`, leaving the lowest bit free for a label.

        All scores lie in ``[low, high]``: knowing that can save work.
        """

    def span(self, buckets: NDArray[np.intp]) -> Ranges:
        """Return the closed intervals of scores that fall in these buckets."""


@dataclass(frozen=True)
class Linear:
    """Equal-width buckets over ``[low, high]``; what lies outside goes to the end buckets."""

    low: Any
    high: Any
    scale: Any
    count: int

    @classmethod
    def over(cls, low: Any, high: Any, count: int | None = None) -> Linear | None:
        """Return equal-width buckets, or None where floating point cannot make them."""
        dtype = np.result_type(low)
        count = count or BUCKETS
        if low == 0 and high == 1:
            # A power of two: edges such as 0.5 are exact. A score of 1 has a bucket of its own.
            return cls(low, high, dtype.type(2 * count), count + 1)
        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            width = high - low
            # A hair below the full number of buckets, so that the highest score stays inside.
            scale = dtype.type(2 * count * (1 - 1e-6)) / width
            fits = np.isfinite(width) and np.isfinite(scale) and 0 < width * scale < 2 * count
        return cls(low, high, scale, count) if fits else None

    def _number(self, scores: Scores, work: Scores, *, clip: bool = True) -> Scores:
        """Return twice the bucket number before truncation."""
        if self.low == 0:
            np.multiply(scores, self.scale, out=work)
        else:
            np.subtract(scores, self.low, out=work)
            np.multiply(work, self.scale, out=work)
        if clip:
            np.maximum(work, 0, out=work)
            np.minimum(work, 2 * self.count - 1, out=work)
        return work

    def place(self, scores: Scores, work: Scores, out: Ints, low: Any, high: Any) -> None:
        """Scale, truncate, and clear the lowest bit."""
        self._number(scores, work, clip=not (self.low <= low and high <= self.high))
        np.copyto(out, work, casting="unsafe")
        np.bitwise_and(out, -2, out=out)

    def span(self, buckets: NDArray[np.intp]) -> Ranges:
        """Find the ends by bisection over the floats themselves, with the very same arithmetic."""
        ends = ordered(np.array([-np.inf, np.inf], dtype=np.result_type(self.low)))
        first, after = np.split(self._first(np.concatenate([buckets, buckets + 1]), ends), 2)
        low = np.where(buckets > 0, first, ends[0])
        high = np.where(buckets + 1 < self.count, after - 1, ends[1])
        return Ranges(unordered(low), unordered(high))

    def _first(self, buckets: NDArray[np.intp], ends: Ints) -> Ints:
        """Return the key of the lowest float whose bucket is at least the given one."""

        def reached(keys: Ints, buckets: NDArray[np.intp] = buckets) -> NDArray[np.bool_]:
            scores = unordered(keys)
            return self._number(scores, np.empty_like(scores)) >= 2 * buckets

        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            # The end is within a few floats of where arithmetic puts it; where not, search them all.
            guess = ordered((self.low + 2 * buckets / self.scale).astype(np.result_type(self.low)))
            near = np.clip(guess, ends[0] + _NEAR, ends[1] - _NEAR)
            low, high = near - _NEAR, near + _NEAR
            good = ~reached(low) & reached(high)
            low, high = np.where(good, low, ends[0]), np.where(good, high, ends[1])
            while len(left := np.flatnonzero(low < high)):
                middle = (low[left] >> 1) + (high[left] >> 1) + (low[left] & high[left] & 1)
                at_least = reached(middle, buckets[left])
                high[left] = np.where(at_least, middle, high[left])
                low[left] = np.where(at_least, low[left], middle + 1)
        return high


@dataclass(frozen=True)
class Radix:
    """Buckets on the leading bits of the scores, over one or more ranges.

    In steps of the float format, so scores over 600 orders of magnitude spread out, and any range
    of float64 shrinks to single floats in at most six passes.
    """

    start: Ints
    stop: Ints
    shift: Ints
    offset: NDArray[np.intp]
    count: int
    everything: bool
    """Whether the one range stands for all scores: what lies outside goes to the end buckets."""

    @classmethod
    def over(cls, ranges: Ranges, *, everything: bool = False, count: int | None = None) -> Radix:
        """Deal the buckets out evenly over the ranges."""
        each = max(16, (count or BUCKETS) // len(ranges.low))
        start, stop = ordered(ranges.low), ordered(ranges.high)
        width = _distance(stop, start)
        shift = np.array([max(0, int(w).bit_length() - (each.bit_length() - 1)) for w in width])
        sizes = (width >> shift.astype(width.dtype)).astype(np.intp) + 1
        offset = np.concatenate([[0], np.cumsum(sizes)])
        return cls(start, stop, shift.astype(width.dtype), offset[:-1], int(offset[-1]), everything)

    def place(self, scores: Scores, work: Scores, out: Ints, low: Any, high: Any) -> None:
        """Take the distance from the range's start in floats, and its leading bits."""
        keys = ordered(scores)
        if self.everything:
            np.clip(keys, self.start[0], self.stop[0], out=keys)
        if len(self.start) == 1:
            bucket = _distance(keys, self.start) >> self.shift
        else:
            which = np.searchsorted(self.start, keys, side="right") - 1
            bucket = _distance(keys, self.start[which]) >> self.shift[which]
            bucket += self.offset[which].astype(bucket.dtype)
        np.copyto(out, bucket << np.array(1, bucket.dtype), casting="unsafe")

    def span(self, buckets: NDArray[np.intp]) -> Ranges:
        """Shift back: integer arithmetic, nothing to round."""
        which = np.searchsorted(self.offset, buckets, side="right") - 1
        steps = (buckets - self.offset[which]).astype(self.shift.dtype)
        one = np.array(1, self.shift.dtype)
        low = self.start[which] + (steps << self.shift[which]).view(self.start.dtype)
        room = (one << self.shift[which]) - one
        stop = self.stop[which]
        # Not low + room, which can pass the end of the integers in the last bucket.
        high = np.where(_distance(stop, low) <= room, stop, low + room.view(self.start.dtype))
        scores = Ranges(unordered(low), unordered(high))
        if not self.everything:
            return scores
        infinity = scores.low.dtype.type(np.inf)
        return Ranges(
            np.where(buckets == 0, -infinity, scores.low),
            np.where(buckets == self.count - 1, infinity, scores.high),
        )


def _distance(a: Ints, b: Ints) -> Ints:
    """Return ``a - b`` as unsigned integers, which cannot overflow where ``a >= b``."""
    return (a - b).view(np.dtype(f"u{a.dtype.itemsize}"))


def choose(sample: Scores, count: int | None = None) -> Buckets:
    """Choose the buckets that spread a sample out best; any choice gives the same final answer.

    Equal-width buckets over the whole range suit probabilities and logits; over the middle of the
    sample they survive outliers; radix buckets suit scores over many orders of magnitude.
    """
    zero, one = sample.dtype.type(0), sample.dtype.type(1)
    finite = np.sort(sample[np.isfinite(sample)])
    if len(finite) == 0:
        finite = np.array([zero, one])
    low, high = finite[0], finite[-1]
    bottom, top = (finite[int(q * (len(finite) - 1))] for q in (0.001, 0.999))
    options: list[Buckets | None] = [
        Linear.over(zero, one, count) if zero <= low and high <= one else Linear.over(low, high, count),
        Linear.over(bottom, top, count),
        Radix.over(Ranges(np.array([low]), np.array([high])), everything=True, count=count),
    ]
    work, out = np.empty_like(sample), np.empty(len(sample), np.int32)
    best, least = options[-1], np.inf
    for option in options:
        if option is None:
            continue
        with np.errstate(over="ignore", under="ignore"):
            option.place(sample, work, out, -np.inf, np.inf)
        crowding = float((np.bincount(out).astype(np.float64) ** 2).sum())
        # The options come in order of cost: a more expensive one must be clearly better.
        if crowding < 0.5 * least:
            best, least = option, crowding
    assert best is not None
    return best

"""Calibrated probabilities as a source: each row is p of a positive and 1 - p of a negative.

A probability is rounded once, to a multiple of 2**-53 (1.1e-16, as 1 - p is in floating point
anyway) or, from 2**16 rows on, of 2**-52. After that, p and 1 - p are both float64 without rounding,
they add up to exactly 1, and their sums are exact. If all probabilities are below 2**-10, the grain
is 2**-52 of the largest, and it is 1 - p that is rounded to 2**-53.

The first look can be a *focus*. Told where the optimum probably lies, it keeps the rows there, and
only adds up all others. In this source the score is the slope of the curve of TP against rows, so
the curve is concave, and a search can exclude whatever lies outside the focus by two tangents.
Adding is cheap: p + 1 lies between 1 and 2, where floats are evenly spaced, so the sum of their bit
patterns, as integers, is the exact sum of the probabilities.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from cutpoints._data import arrays
from cutpoints._data.array_input import as_floats, as_weights, refuse_beyond, refuse_nan, same_length
from cutpoints._kernel.histogram import Block
from cutpoints._kernel.masses import BLOCK_ROWS, Masses, Unit, grain, outer_bits
from cutpoints._kernel.tables import Histogram, Ranges, Scores, Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

GRAIN = -52
TINY = 2.0**-10
"""If no probability is larger, the grain is relative to the largest."""
LARGE = 1 << 16
"""From so many rows on a focus pays."""
SAMPLE = 1 << 16
BUCKETS = 64
"""Into so many the rows of a focus are divided."""
_PIECE = 1 << 17
_ROW = 1 << 11
"""So many integers of 52 bits fit into 64."""
_ONE = int(np.float64(1).view(np.int64))


class Focus(NamedTuple):
    """Where to look closely: ``low <= score <= high``."""

    low: float
    high: float


class _Share:
    """The positive or the negative mass of the rows, computed when a part of them is asked for."""

    def __init__(self, scores: Scores, weights: Scores | None, top: float | None, *, positive: bool) -> None:
        self.scores, self.weights, self.top, self.positive = scores, weights, top, positive

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, part: Any) -> NDArray[np.float64]:
        p = self.scores[part].astype(np.float64)
        whole: Any = 1.0
        if self.weights is not None:
            whole = self.weights[part].astype(np.float64)
            p *= whole
        if self.top is None:
            # Of these two differences the first is rounded, to 2**-53 of the whole; the second is not.
            rest = whole - p
            return whole - rest if self.positive else rest
        # Adding and taking away the top rounds to 2**-52 of it.
        mass = (p + self.top * whole) - self.top * whole
        return mass if self.positive else whole - mass


class ProbabilitySource(arrays.ArraySource):
    """Rows that are p positive and 1 - p negative, times their weights. Answers the three questions."""

    def __init__(
        self,
        scores: Scores,
        weights: Scores | None = None,
        *,
        focus: Callable[[NDArray[np.float64]], tuple[float, float] | None] | None = None,
        score_name: str = "y_prob",
    ) -> None:
        self._focus = focus
        self._weights = weights
        self._probe = _sample(scores)
        self._top: float | None = None if weights is not None or len(scores) < LARGE else 1.0
        self._focused = focus is not None and weights is None and self._is_usual(scores)
        if not self._focused:
            low, high = scores.min(), scores.max()
            if not (low >= 0 and high <= 1):
                _refuse(scores, score_name)
            if 0 < high <= TINY:
                self._top = float(2.0 ** np.ceil(np.log2(float(high))))
        shares = (_Share(scores, weights, self._top, positive=side) for side in (True, False))
        streams = (
            arrays.Stream(side, cast("Scores", share)) for side, share in zip((1, 0), shares, strict=True)
        )
        super().__init__(scores, tuple(streams), score_name=score_name)
        self._rows = min(arrays.BLOCK, BLOCK_ROWS)  # the focused pass makes no temporary arrays

    @classmethod
    def of(cls, y_prob: Any, *, sample_weight: Any = None, focus: Any = None) -> ProbabilitySource:
        """Take what users bring: probabilities, and weights if there are any."""
        scores = as_floats(y_prob, "y_prob")
        weights = None if sample_weight is None else as_weights(sample_weight, "sample_weight")
        same_length({"y_prob": scores, "sample_weight": weights})
        return cls(scores, weights, focus=focus)

    @property
    def checked(self) -> bool:
        """Whether the data were looked at and found good."""
        return self._known is not None

    # --- the three questions, where they differ

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count into buckets, in which the score is the share of positives."""
        return replace(super().histogram(ranges), shares=True)

    # --- how

    def _is_usual(self, scores: Scores) -> bool:
        """Whether there are many rows, the largest is surely not tiny, and none in the sample is bad."""
        return len(scores) >= LARGE and bool(TINY < self._probe.max() <= 1 and self._probe.min() >= 0)

    def _unit(self) -> Unit:
        """Without weights the grain is known and needs no look at the data."""
        if self._weights is None and self._top in (None, 1.0):
            return grain([(GRAIN if self._top else GRAIN - 1, 1)], len(self.scores))
        steps = range(0, len(self.scores), self._rows)
        shares = [stream.weights for stream in self.streams]
        bits = [outer_bits(share[i : i + self._rows]) for share in shares if share is not None for i in steps]
        return grain(bits, len(self.scores))

    def _first_look(self) -> tuple[Summary, Histogram | None]:
        if self._known is None and self._focused:
            assert self._focus is not None
            self._focused = False  # the masses are known after this, or counted the usual way
            ends = self._focus(self._probe)
            if ends is not None and 0 < ends[0] < ends[1] < 1:
                self._known = self._look_at(Focus(*ends))
            elif not self._in_range():
                _refuse(self.scores, self.score_name)
        return super()._first_look()

    def _in_range(self) -> bool:
        return bool(self.scores.min() >= 0 and self.scores.max() <= 1)

    def _look_at(self, focus: Focus) -> tuple[Summary, Histogram]:
        """Add up everything, and keep the rows of the focus: one pass over the data."""
        kind = self.scores.dtype.type
        low, high = kind(focus.low), kind(focus.high)
        parts = self._each(lambda starts: self._add(starts, low, high))
        found = [part for several in parts for part in several]
        least, most = min(f.low for f in found), max(f.high for f in found)
        if not (least >= 0 and most <= 1):
            _refuse(self.scores, self.score_name)
        total, above = sum(f.total for f in found), sum(f.above for f in found)
        rows_above = sum(f.rows_above for f in found)
        kept = np.sort(np.concatenate([f.kept for f in found]))
        self._kept = Ranges(np.array([low]), np.array([high])), self._as_block(kept)
        # Within the focus, buckets of about equally many rows; equal scores stay together.
        starts = np.unique(np.searchsorted(kept, kept[:: max(1, len(kept) // BUCKETS)]))
        stops = np.append(starts, len(kept))[1:]
        inner = [_sum(kept[i:j] + np.float64(1)) for i, j in zip(starts, stops, strict=True)]
        masses = [total - above - sum(inner), *inner, above]
        outside = len(self.scores) - rows_above - len(kept)
        rows = np.array([outside, *(stops - starts), rows_above], dtype=np.int64)
        inside = [low, *kept[starts[1:]]] if len(kept) else []
        edges = np.array([*inside, np.nextafter(high, kind(np.inf))], dtype=kind)
        ends = np.append(np.nextafter(edges, kind(-np.inf)), kind(np.inf))
        spans = Ranges(np.append(kind(-np.inf), edges), ends)
        filled = np.flatnonzero(rows)
        unit = self._unit()
        assert unit is not None  # without weights, and with probabilities that are not tiny
        table = Histogram(
            pos=_masses([masses[i] for i in filled], unit),
            neg=_masses([(int(rows[i]) << -GRAIN) - masses[i] for i in filled], unit),
            rows=rows[filled],
            span=lambda index: Ranges(spans.low[filled[index]], spans.high[filled[index]]),
        )
        negatives = (len(self.scores) << -GRAIN) - total
        return Summary(len(self.scores), total, negatives, unit, float(least), float(most)), table

    def _add(self, starts: range, low: Any, high: Any) -> list[_Added]:
        """Take some blocks: the range of each, the sums of all rows and of those above, the rows to keep."""
        found = []
        work, mask, other = np.empty(_PIECE), np.empty(_PIECE, np.bool_), np.empty(_PIECE, np.bool_)
        one, edge = np.float64(1), np.float64(high) + np.float64(1)
        step = int(edge.view(np.int64)) - _ONE
        size = min(_PIECE, self._rows)
        blocks = (self.scores[start : start + self._rows] for start in starts)
        for scores in (block[i : i + size] for block in blocks for i in range(0, len(block), size)):
            n = len(scores)
            least, most = scores.min(), scores.max()
            if not (least >= 0 and most <= 1):  # NaN too
                found.append(_Added(least, most, scores[:0], 0, 0, 0))
                break
            above, near, shifted = mask[:n], other[:n], work[:n]
            np.greater(scores, high, out=above)
            rows_above = int(np.count_nonzero(above))
            np.greater_equal(scores, low, out=near)
            near ^= above
            np.add(scores, one, out=shifted)
            total = _sum(shifted)
            np.maximum(shifted, edge, out=shifted)
            mass = _sum(shifted) - (n - rows_above) * step
            found.append(_Added(least, most, scores[near], total, mass, rows_above))
        return found

    def _as_block(self, scores: Scores) -> Block:
        """Return rows that were picked out of the data, with their masses."""
        shares = (_Share(scores, None, self._top, positive=side)[:] for side in (True, False))
        return Block(scores, list(zip((1, 0), shares, strict=True)))


class _Added(NamedTuple):
    low: Any
    high: Any
    kept: Scores
    total: int
    above: int
    rows_above: int


def _sum(shifted: NDArray[np.float64]) -> int:
    """Return the exact sum of the probabilities p, given as p + 1, in units of 2**-52."""
    bits = shifted.view(np.uint64)
    whole = len(bits) - len(bits) % _ROW
    rows = bits[:whole].reshape(-1, _ROW).sum(axis=1)
    # Arithmetic of uint64 is modulo 2**64, and each of these sums is at most 2**63.
    rows -= np.uint64(_ROW * _ONE % 2**64)
    rest = int(bits[whole:].sum()) - (len(bits) - whole) * _ONE
    return sum(rows.tolist()) + rest % 2**64


def _masses(integers: list[int], unit: Unit) -> Masses:
    parts = [Masses.scalar(integer, unit) for integer in integers]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.followed_by(part)
    return joined


def _sample(scores: Scores) -> NDArray[np.float64]:
    step = max(1, len(scores) // SAMPLE)
    return scores[::step].astype(np.float64)


def _refuse(scores: Scores, name: str) -> None:
    refuse_nan(scores, name)
    refuse_beyond(scores, name)

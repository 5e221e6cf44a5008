"""The best band beyond memory: buckets of scores that can be neither of its ends are dropped unseen.

A sum over a pair of cuts is known at the edges of the buckets, and the best pair of edges can be had. Inside
a bucket TP and FP are known to within its own sums, so a sum is at least what it is at one corner. A bucket
is kept if it makes, with any other as the other end, a pair that could be as good as the best pair of edges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.weights import EXACT_INTEGERS
from cutpoints._search.band import FAN_OUT, best_pair, block_minima, children
from cutpoints._search.narrow import Narrowed, narrow_by, narrowing_by, tabulate
from cutpoints._search.sweep import with_none
from cutpoints.metrics.expression import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._kernel.cuts import Cuts
    from cutpoints._kernel.tables import Histogram, Summary
    from cutpoints._search.band import PairSum
    from cutpoints._search.narrow import Table

PAIRS_HELD = 1 << 16
"""Pairs of blocks that are split further; if there are more, whole blocks are kept."""


def narrow_pairs(source: Source, objective: PairSum, bounds: Sequence[PairSum]) -> Narrowed:
    """Return every cut that could be an end of the best band, or of one that ties with it."""
    summary = source.summary()
    promising = _Promising(summary, objective, bounds)
    most_ranges = getattr(source, "most_ranges", None)
    return narrow_by(source, narrowing_by(promising, summary, source.rows_limit, most_ranges))


def edges_of(summary: Summary, histogram: Histogram) -> Cuts:
    """Return the cuts at the edges of a histogram of all rows; named after the ends of its buckets."""
    table = tabulate(histogram, None)
    low = histogram.low[::-1]
    below = np.append(low[1:], low.dtype.type(-np.inf))
    return with_none(replace(table.below(summary), thresholds=low, below=below))


class _Promising:
    """Tells which buckets could hold an end of the best band; knows the best pair of edges so far."""

    def __init__(self, summary: Summary, objective: PairSum, bounds: Sequence[PairSum]) -> None:
        self._summary, self._objective, self._bounds = summary, objective, bounds
        self._best: int | None = None

    def __call__(self, table: Table, _most: float) -> tuple[NDArray[np.bool_], bool]:
        """Return the buckets to keep; none of the ties is left out."""
        edges = with_none(table.below(self._summary))
        pair = best_pair(edges, self._objective, self._bounds)
        if pair is not None:
            (value,) = self._objective.at(edges, np.array([pair.upper]), np.array([pair.lower]))
            self._best = value if self._best is None else min(self._best, value)
        none = len(edges) - len(table.rows)  # whether "no positives" is a cut, and the first one
        corners = [
            np.concatenate([np.zeros(none), side.astype(np.float64)])
            for side in (table.tp_above, edges.tp[none:], table.fp_above, edges.fp[none:])
        ]
        sums = [_Corners(bound, edges, corners, 0.0) for bound in self._bounds]
        if self._best is not None:
            sums.append(_Corners(self._objective, edges, corners, float(self._best)))
        keep = _in_a_possible_pair(sums, len(edges))
        return keep[none:], True


def _in_a_possible_pair(sums: Sequence[_Corners], buckets: int) -> NDArray[np.bool_]:
    """Return which buckets are in a pair whose sums could all be small enough, and maybe some others."""
    depth = len(block_minima(np.zeros(buckets))) - 1
    i = j = np.zeros(1, dtype=np.intp)
    while depth and len(i) <= PAIRS_HELD:
        depth -= 1
        i, j = children(i, j, -(-buckets // FAN_OUT**depth))
        for one in sums:
            possible = one.possible(depth, i, j)
            i, j = i[possible], j[possible]
    keep = np.zeros(-(-buckets // FAN_OUT**depth), dtype=np.bool_)
    keep[i] = keep[j] = True
    return np.repeat(keep, FAN_OUT**depth)[:buckets]


class _Corners:
    """The least of a sum over the cuts of each bucket, as upper and as lower cut."""

    def __init__(
        self, form: PairSum, edges: Cuts, corners: Sequence[NDArray[np.float64]], most: float
    ) -> None:
        tp_low, tp_high, fp_low, fp_high = corners

        def least(a: int, b: int) -> NDArray[np.float64]:
            per_tp = float(a) * (tp_low if a >= 0 else tp_high)
            per_fp = float(b) * (fp_low if b >= 0 else fp_high)
            return np.asarray(per_tp + per_fp)

        self._upper, self._lower = (block_minima(least(*side)) for side in (form.upper, form.lower))
        size = form.size(edges)
        room = 0.0 if size < EXACT_INTEGERS else 2 * SLACK * size
        self._most = most + room - float(form.constant)

    def possible(self, level: int, upper: NDArray[np.intp], lower: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which pairs of blocks of buckets could have a sum of at most what is allowed."""
        return np.asarray(self._upper[level][upper] + self._lower[level][lower] <= self._most)

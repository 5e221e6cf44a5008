"""Sweep: every cut, by sorting. Exact for any objective; the cost is that of the sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.cuts import Cuts

if TYPE_CHECKING:
    from cutpoints._data.source import Source
    from cutpoints._kernel.tables import Rows, Summary


def all_cuts(source: Source) -> Cuts:
    """Return every cut of the data, "no positives" first; see `cuts_of`."""
    rows = source.rows(None)  # rows in memory are then sorted, and not counted first
    return cuts_of(source.summary(), rows)


def cuts_of(summary: Summary, rows: Rows) -> Cuts:
    """Return every cut of these rows, which are all that there are.

    With a score of +inf in the data no threshold calls no row positive, and that cut does not exist.
    """
    none = int(summary.high != np.inf)
    edges = np.empty(len(rows.scores) + 1 + none, dtype=rows.scores.dtype)
    edges[0], edges[none:-1], edges[-1] = np.inf, rows.scores[::-1], -np.inf
    columns = (rows.pos, rows.neg, *rows.columns)
    sums = np.zeros((len(columns), len(rows.scores) + none), dtype=np.int64)
    for column, total in zip(columns, sums, strict=True):
        np.cumsum(column[::-1], out=total[none:])
    # The next lower score of each cut is the threshold of the next: one array, seen twice.
    return Cuts(summary, edges[:-1], edges[1:], sums[0], sums[1], tuple(sums[2:]))


def with_none(cuts: Cuts) -> Cuts:
    """Put "no positives", threshold inf, before the cuts, unless a score of +inf rules it out."""
    summary = cuts.summary
    if summary.high == np.inf:
        return cuts
    dtype, zero = cuts.thresholds.dtype, np.zeros(1, dtype=np.int64)
    return Cuts(
        summary,
        np.concatenate([np.array([np.inf], dtype), cuts.thresholds]),
        np.concatenate([np.array([summary.high], dtype), cuts.below]),
        np.concatenate([zero, cuts.tp]),
        np.concatenate([zero, cuts.fp]),
        tuple(np.concatenate([zero, column]) for column in cuts.columns),
    )

"""Sweep: every cut, by sorting. Exact for any objective; the cost is that of the sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.cuts import Cuts
from cutpoints._kernel.masses import Masses
from cutpoints._kernel.tables import framed

if TYPE_CHECKING:
    from cutpoints._data.source import Source
    from cutpoints._kernel.tables import Rows, Summary


def all_cuts(source: Source) -> Cuts:
    """Return every cut of the data, "nobody positive" first; see `cuts_of`."""
    return cuts_of(source.summary(), source.rows(None))


def cuts_of(summary: Summary, rows: Rows, *, rough: bool = False) -> Cuts:
    """Return every cut of these rows, which are all that there are.

    Rough cuts have floats that are farther off, as their `slack` says, and some may be hidden: enough to
    choose among them.
    With a score of +inf in the data no threshold calls nobody positive, and that cut does not exist.
    """
    (edges, begins), pos, neg = rows.edges if rough else (framed(rows.scores)[::-1], None), rows.pos, rows.neg
    del rows  # each part is let go of as soon as it is used: the peak is what counts on a large input
    nobody = int(summary.high != np.inf)
    hidden = None if begins is None else len(begins) - (1 - nobody) - (~begins).nonzero()[0]
    edges = edges if nobody else edges[1:]
    tp = pos.roughly_from_top(nobody) if rough else pos.from_top(nobody)
    del pos
    fp = neg.roughly_from_top(nobody) if rough else neg.from_top(nobody)
    # The next lower score of each cut is the threshold of the next: one array, seen twice.
    return Cuts(summary, edges[:-1], edges[1:], tp, fp, hidden)


def with_nobody(cuts: Cuts) -> Cuts:
    """Put "nobody positive", threshold inf, before the cuts.

    With a score of +inf in the data no threshold calls nobody positive, and the cut does not exist.
    """
    summary = cuts.summary
    if summary.high == np.inf:
        return cuts
    dtype = cuts.thresholds.dtype
    nothing = Masses.scalar(0, summary.unit)
    return Cuts(
        summary,
        np.concatenate([np.array([np.inf], dtype), cuts.thresholds]),
        np.concatenate([np.array([summary.high], dtype), cuts.below]),
        nothing.followed_by(cuts.tp),
        nothing.followed_by(cuts.fp),
    )

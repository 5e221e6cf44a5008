"""Sweep: every cut, by sorting. Exact for any objective; the cost is that of the sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutpoint.masses import Masses
from cutpoint.search._cuts import Cuts

if TYPE_CHECKING:
    from cutpoint.questions import Source


def all_cuts(source: Source) -> Cuts:
    """Return every cut of the data, "nobody positive" first."""
    summary = source.summary()
    rows = source.rows(None)
    scores = rows.scores[::-1]
    tp, fp = (_running(side[::-1]) for side in (rows.pos, rows.neg))
    below = np.append(scores[1:], scores.dtype.type(-np.inf))
    return with_nobody(Cuts(summary, scores, below, tp, fp))


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
        np.insert(cuts.thresholds, 0, np.inf),
        np.insert(cuts.below, 0, dtype.type(summary.high)),
        nothing.followed_by(cuts.tp),
        nothing.followed_by(cuts.fp),
    )


def _running(masses: Masses) -> Masses:
    return Masses(np.cumsum(masses.limbs, axis=1), masses.unit).carried()

"""What a search has seen of the scores, kept for whoever asks later how they were spread.

The sweep knows every cut, narrowing its first histogram: either gives the masses above some edges
without another pass. Nothing is computed before it is asked for. What is kept alive until then is
never the user's arrays: the cuts themselves while they are few, 2,048 of them where they are many,
or the few thousand buckets of the histogram.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoint.questions import SMALL

if TYPE_CHECKING:
    from fractions import Fraction

    from cutpoint.masses import Masses
    from cutpoint.search._cuts import Cuts
    from cutpoint.search.run import Found

BUCKETS = 99
"""The scores are told apart in so many buckets of about equal mass; equal scores are never split."""
_THINNED = 2048


class Above(NamedTuple):
    """The exact masses of all rows with a score of at least `edge`."""

    edge: float
    pos: Fraction
    neg: Fraction


class Seen:
    """The scores that a search went through, and the names that the user has for the columns."""

    def __init__(self, found: Found) -> None:
        self.summary = found.summary
        self.score: str | None = None
        self.label: str | None = None
        self.pos_label: Any = None
        self._histogram = found.histogram
        self._cuts = found.cuts if found.histogram is None else None
        self.dtype = found.cuts.thresholds.dtype
        self.thin(SMALL)

    def thin(self, most: int = _THINNED) -> None:
        """Let go of most cuts if there are more than so many."""
        if self._cuts is not None and len(self._cuts.thresholds) > most:
            self._cuts = _thinned(self._cuts)

    def __getstate__(self) -> dict[str, Any]:
        _ = self.edges  # a histogram's way back to its edges is a function, which cannot be pickled
        return {**self.__dict__, "_histogram": None, "_cuts": None}

    @cached_property
    def edges(self) -> tuple[Above, ...]:
        """At most `BUCKETS` - 1 edges, ascending, that split the mass evenly; exact masses above each."""
        edges, pos, neg = self._points()
        above = (pos + neg).floats()
        below = above[:1] - above if len(above) else above
        wanted = np.arange(1, BUCKETS) * (above[0] / BUCKETS) if len(above) else above
        index = np.unique(np.searchsorted(below, wanted))
        index = index[index < len(edges)]
        index = index[(below[index] > 0) & (above[index] > 0)]
        unit = self.summary.unit
        return tuple(
            Above(float(edges[i]), unit.fraction(pos.integer(i)), unit.fraction(neg.integer(i)))
            for i in index.tolist()
        )

    def _points(self) -> tuple[Any, Masses, Masses]:
        """Return ascending edges, and the masses at or above each."""
        if self._histogram is not None:
            every = np.arange(len(self._histogram.rows), dtype=np.intp)
            pos, neg = self._histogram.pos, self._histogram.neg
            return self._histogram.span(every).low, _from_the_top(pos), _from_the_top(neg)
        assert self._cuts is not None
        up = slice(None, None, -1)
        return self._cuts.thresholds[up], self._cuts.tp[up], self._cuts.fp[up]


def _from_the_top(masses: Masses) -> Masses:
    down = masses[slice(None, None, -1)]
    return (down.before() + down)[slice(None, None, -1)]


def _thinned(cuts: Cuts) -> Cuts:
    """Return some of the cuts, the last one included; copies, so that the others can be let go of."""
    index = np.arange(_THINNED) * (len(cuts.thresholds) - 1) // (_THINNED - 1)
    from cutpoint.search._cuts import Cuts

    return Cuts(cuts.summary, cuts.thresholds[index], cuts.below[index], cuts.tp[index], cuts.fp[index])

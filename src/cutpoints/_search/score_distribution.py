"""What a search has seen of the scores, kept for whoever asks later how they were spread.

The sweep knows every cut, narrowing its first histogram: either gives the masses above some edges
without another pass. Nothing is computed before it is asked for. What is kept alive until then is
never the user's arrays: the cuts themselves while they are few, those at the edges where they are
many, or the few thousand buckets of the histogram.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._kernel.tables import SMALL

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts
    from cutpoints._kernel.masses import Masses
    from cutpoints._search.run import Found

BUCKETS = 99
"""The scores are told apart in so many buckets of about equal mass; equal scores are never split."""
_MANY = 4 * SMALL
"""No more cuts are kept: three megabytes."""
_SAMPLE = 1 << 16
"""Edges are looked for among so many cuts."""
_FEW = 2048
"""So few cuts are kept where there may be many solutions."""


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
        self._even: Cuts | None = None
        self.dtype = found.cuts.thresholds.dtype
        self.thin(_MANY)
        if len(found.cuts.thresholds) > SMALL:
            rested = found.cuts.rested()  # which the ties may keep alive, too
            self._cuts = None if self._cuts is None else rested

    def thin(self, most: int = _FEW) -> None:
        """Let go of all cuts but those at the edges if there are more than so many."""
        if self._cuts is not None and len(self._cuts.thresholds) > most:
            self._even, self._cuts = _evenly(self._cuts), None

    def __getstate__(self) -> dict[str, Any]:
        _ = self.edges  # a histogram's way back to its edges is a function, which cannot be pickled
        return {**self.__dict__, "_histogram": None, "_cuts": None, "_even": None}

    @cached_property
    def edges(self) -> tuple[Above, ...]:
        """At most `BUCKETS` - 1 edges, ascending, that split the mass evenly; exact masses above each."""
        unit = self.summary.unit
        if self._histogram is not None:
            every = np.arange(len(self._histogram.rows), dtype=np.intp)
            edges: Any = self._histogram.span(every).low
            pos, neg = _from_the_top(self._histogram.pos), _from_the_top(self._histogram.neg)
            above = (pos + neg).floats()
            index = _even_places(above[:1] - above, above).tolist()
        else:
            even = self._even if self._cuts is None else _evenly(self._cuts)
            assert even is not None
            edges, pos, neg = even.thresholds, even.tp, even.fp
            index = range(len(edges))
        return tuple(
            Above(float(edges[i]), unit.fraction(pos.integer(i)), unit.fraction(neg.integer(i)))
            for i in index
        )


def _from_the_top(masses: Masses) -> Masses:
    down = masses[slice(None, None, -1)]
    return (down.before() + down)[slice(None, None, -1)]


def _evenly(cuts: Cuts) -> Cuts:
    """Return the cuts at edges that split the mass evenly, the lowest first; copies of them."""
    size = len(cuts.thresholds)
    places = np.arange(size) if cuts.hidden is None else np.delete(np.arange(size), cuts.hidden)
    places = places[:: -(size // _SAMPLE + 1)]
    tp, fp, fn, tn = (cuts.floats[name][places] for name in ("tp", "fp", "fn", "tn"))
    index = places[_even_places(fn + tn, tp + fp)]
    return type(cuts)(cuts.summary, cuts.thresholds[index], cuts.below[index], cuts.tp[index], cuts.fp[index])


def _even_places(below: NDArray[np.float64], above: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return where the masses below and above ascending edges split all mass into equal parts."""
    if len(above) == 0:
        return np.zeros(0, dtype=np.intp)
    index = np.searchsorted(below, np.arange(1, BUCKETS) * (above[0] / BUCKETS))
    index = index[(np.diff(index, prepend=-1) > 0) & (index < len(above))]
    return index[(below[index] > 0) & (above[index] > 0)]

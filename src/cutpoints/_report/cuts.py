"""Which cuts a page shows, and the exact searches behind it, from as few readings as can be.

Up to `SWEEP` rows all cuts are looked at, and what is drawn is a part of them that holds every
vertex of the hull. Beyond, the edges of the source's first histogram are drawn: each is a true cut
with its exact confusion, only its neighbours are not known. The searches (the goal, and the other
operating points) are planned first, each saying which rows it would have to see, and then answered
from one reading of all of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._curve.hull import vertices
from cutpoints._find import solve
from cutpoints._kernel.cuts import Cuts
from cutpoints._kernel.tables import Ranges, Rows
from cutpoints._search.run import Found, decide, search
from cutpoints._search.sweep import all_cuts, with_nobody
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._kernel.masses import Masses
    from cutpoints._kernel.tables import Histogram, Summary
    from cutpoints._result import Solution

SWEEP = 1 << 20
"""Up to so many rows a sort is no burden, and the hull is exact."""
DRAWN = 2000
"""At most so many cuts of a model are drawn, however many there are."""
HOLD = 1 << 22
"""At most so many rows are read again for all searches together; a search that needs more goes alone."""
CLOSE = 40
"""So many cuts on each side of the best one are drawn where they are known: the slider is fine there."""
_MANY = 1 << 62


class _Asked(Exception):  # noqa: N818 - not an error: how a plan comes back from a search
    """A search asked for these rows."""

    def __init__(self, ranges: Ranges | None) -> None:
        super().__init__()
        self.ranges = ranges


class View:
    """A source that remembers its first histogram, and the rows of the ranges that were planned."""

    def __init__(self, source: Source, table: Histogram) -> None:
        self._source = source
        self._table = table
        self._held: tuple[Ranges, Rows] | None = None
        self.planning = False
        self.passes = 0
        self.few = self.holds = _MANY  # one look at the rows, no second count: they are in memory

    def summary(self) -> Summary:
        """Return what the data are."""
        return self._source.summary()

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Return the first histogram again, or ask."""
        return self._table if ranges is None else self._source.histogram(ranges)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Return rows from those that are held where they are all there, or ask."""
        if self.planning:
            raise _Asked(ranges)
        if ranges is not None and self._held is not None:
            low, high = self._held[0]
            which = np.searchsorted(low, ranges.low, side="right") - 1
            if (which >= 0).all() and (ranges.high <= high[np.maximum(which, 0)]).all():
                return _part(self._held[1], ranges)
        return self._source.rows(ranges)

    def hold(self, ranges: Ranges) -> Rows:
        """Read the rows of these ranges, once, and remember them."""
        rows = self._source.rows(ranges)
        self._held = ranges, rows
        self.passes = self._source.passes
        return rows


def _part(rows: Rows, ranges: Ranges) -> Rows:
    which = np.searchsorted(ranges.low, rows.scores, side="right") - 1
    keep = np.flatnonzero((which >= 0) & (rows.scores <= ranges.high[np.maximum(which, 0)]))
    # How many rows a distinct score had is not known any more: its number is that of distinct scores.
    return Rows(rows.scores[keep], rows.pos[keep], rows.neg[keep], len(keep))


@dataclass(frozen=True)
class Gathered:
    """Cuts of one model, thresholds descending, and the solutions of the searches.

    `complete` says whether `cuts` are all cuts of the data. If not they are the edges of buckets
    and the cuts that the searches looked at. `below` of a cut is then not known, and never used.
    """

    summary: Summary
    cuts: Cuts
    complete: bool
    solutions: tuple[Solution | None, ...]
    edges: Cuts
    """What the distribution of the scores is taken from: all cuts, or the edges of the buckets."""

    @cached_property
    def hull(self) -> NDArray[np.intp]:
        """The cuts on the upper convex hull in ROC space; of all cuts if these are complete."""
        return vertices(self.cuts)

    def index_at(self, threshold: float) -> int:
        """Return the cut with this very threshold, which must be one of them."""
        found = int(np.searchsorted(-self.cuts.thresholds, -threshold))
        assert self.cuts.thresholds[found] == threshold
        return found


def gather(source: Source, goals: Sequence[Goal], thresholds: Iterable[float]) -> Gathered:
    """Search for every goal, exactly, and return the cuts to draw, those at the thresholds among them.

    Raises `InfeasibleError` if the first goal has no solution; the others are then left unsearched.
    """
    summary = source.summary()
    if summary.rows <= SWEEP:
        found = all_cuts(source)
        solutions = _solve(goals, lambda one: decide(found, one, "sweep", source.passes, summary.rows))
        every = _doubles(found)
        return Gathered(
            summary, _with(every, every, thresholds), complete=True, solutions=solutions, edges=every
        )
    view = View(source, source.histogram(None))
    buckets = _Buckets(summary, view.histogram(None))
    ranges, planned = _plan(view, goals, buckets, list(thresholds))
    held = buckets.cuts_of(view.hold(ranges)) if len(ranges.low) else None
    solutions = _solve(goals, lambda one: search(view if id(one) in planned else source, one))
    fine = buckets.edges if held is None else _merged(buckets.edges, held)
    pool = buckets.edges
    if held is not None:
        pool = _merged(
            pool, _around(held, [s.threshold for s in solutions if s is not None and s.threshold is not None])
        )
    return Gathered(
        summary, _with(pool, fine, thresholds), complete=False, solutions=solutions, edges=buckets.edges
    )


def _solve(goals: Sequence[Goal], look: Callable[[Goal], Found]) -> tuple[Solution | None, ...]:
    """Solve the first goal, or raise; of the others, leave out what is undefined on these data."""
    found: list[Solution | None] = [solve(goals[0], look).raise_if_infeasible()]
    for one in goals[1:]:
        try:
            found.append(solve(one, look))
        except InvalidInputError:
            found.append(None)
    return tuple(found)


def _plan(
    view: View, goals: Sequence[Goal], buckets: _Buckets, thresholds: list[float]
) -> tuple[Ranges, set[int]]:
    """Return the ranges that the searches want to see, and the searches (ids of goals) that they serve.

    A search that wants too much, or every row, is left out: it asks the source itself.
    """
    wanted = np.zeros(len(buckets.rows), dtype=np.bool_)
    wanted[buckets.find(np.array(thresholds, dtype=np.float64))] = True
    planned: set[int] = set()
    view.planning = True
    for goal in goals:
        try:
            search(view, goal)
        except InvalidInputError:  # undefined at every cut; the search itself will say so
            continue
        except _Asked as asked:
            mask = buckets.inside(asked.ranges) if asked.ranges is not None else None
            if mask is not None and buckets.rows[wanted | mask].sum() <= HOLD:
                wanted |= mask
                planned.add(id(goal))
    view.planning = False
    return buckets.ranges(wanted), planned


@dataclass(frozen=True)
class _Buckets:
    """The first histogram, scores ascending, and its edges as cuts."""

    summary: Summary
    table: Histogram

    @cached_property
    def span(self) -> Ranges:
        return self.table.span(np.arange(len(self.table.rows), dtype=np.intp))

    @property
    def rows(self) -> NDArray[np.int64]:
        return self.table.rows

    def find(self, scores: NDArray[Any]) -> NDArray[np.intp]:
        """Return the buckets that hold these scores, or the next one above."""
        place = np.searchsorted(self.span.high.astype(np.float64), scores, side="left")
        return np.minimum(place, len(self.rows) - 1)

    def inside(self, ranges: Ranges) -> NDArray[np.bool_]:
        """Return the buckets that lie in one of the ranges."""
        which = np.maximum(np.searchsorted(ranges.low, self.span.low, side="right") - 1, 0)
        return np.asarray((ranges.low[which] <= self.span.low) & (self.span.high <= ranges.high[which]))

    def ranges(self, wanted: NDArray[np.bool_]) -> Ranges:
        """Join wanted buckets into ranges, neighbours into one."""
        index = np.flatnonzero(wanted)
        gaps = np.diff(index) > 1
        starts, ends = index[np.append(True, gaps)[: len(index)]], index[np.append(gaps, True)[-len(index) :]]
        return Ranges(self.span.low[starts], self.span.high[ends])

    @cached_property
    def edges(self) -> Cuts:
        """The lower edge of every bucket as a cut, and "nobody positive"."""
        down = slice(None, None, -1)
        pos, neg = self.table.pos[down], self.table.neg[down]
        # The lowest bucket has no lower end of its own; the lowest score is as good.
        low = np.maximum(self.span.low.astype(np.float64), self.summary.low)[down]
        return with_nobody(Cuts(self.summary, low, low, pos.before() + pos, neg.before() + neg))

    def cuts_of(self, rows: Rows) -> Cuts:
        """Return distinct scores as cuts; `rows` are whole buckets, so what lies above each is known."""
        down = slice(None, None, -1)
        scores, pos, neg = rows.scores[down].astype(np.float64), rows.pos[down], rows.neg[down]
        bucket = self.find(scores)
        first = np.searchsorted(-bucket, -bucket)  # the highest score of the same bucket
        last = len(self.rows) - 1

        def running(masses: Masses, whole: Masses) -> Masses:
            within = masses.before()
            return whole[down].before()[last - bucket] + (within - within[first]) + masses

        return Cuts(self.summary, scores, scores, running(pos, self.table.pos), running(neg, self.table.neg))


def _doubles(cuts: Cuts) -> Cuts:
    """Return the cuts with thresholds as float64; float32 fits in exactly."""
    if cuts.thresholds.dtype == np.float64:
        return cuts
    thresholds, below = (side.astype(np.float64) for side in (cuts.thresholds, cuts.below))
    return Cuts(cuts.summary, thresholds, below, cuts.tp, cuts.fp)


def _merged(first: Cuts, second: Cuts) -> Cuts:
    """Return the cuts of both, thresholds descending, each once."""
    thresholds = np.concatenate([first.thresholds, second.thresholds])
    _, index = np.unique(-thresholds, return_index=True)
    tp, fp = first.tp.followed_by(second.tp), first.fp.followed_by(second.fp)
    below = np.concatenate([first.below, second.below])
    return Cuts(first.summary, thresholds[index], below[index], tp[index], fp[index])


def part(cuts: Cuts, index: NDArray[np.intp]) -> Cuts:
    """Return some of the cuts."""
    return Cuts(cuts.summary, cuts.thresholds[index], cuts.below[index], cuts.tp[index], cuts.fp[index])


def _around(cuts: Cuts, thresholds: list[float]) -> Cuts:
    """Return the cuts close to these thresholds."""
    keep = np.zeros(len(cuts.thresholds), dtype=np.bool_)
    for threshold in thresholds:
        at = int(np.searchsorted(-cuts.thresholds, -threshold))
        keep[max(0, at - CLOSE) : at + CLOSE + 1] = True
    return part(cuts, np.flatnonzero(keep))


def _with(cuts: Cuts, known: Cuts, thresholds: Iterable[float]) -> Cuts:
    """Add what some thresholds do; each does what the next known cut at or above it does."""
    for threshold in thresholds:
        # `known` is in descending order: the last of those that are not below the threshold.
        at = int(np.searchsorted(-known.thresholds, -threshold, side="right")) - 1
        one = np.array([float(threshold)])
        cuts = _merged(cuts, Cuts(known.summary, one, one, known.tp[[at]], known.fp[[at]]))
    return cuts


def thin(cuts: Cuts, keep: Iterable[int], most: int = DRAWN) -> NDArray[np.intp]:
    """Choose at most so many cuts that draw every curve well; those in `keep` are always among them.

    Steps are of equal length in threshold, in both rates, and in the logarithm of the share called
    positive: precision moves fast where few rows are called.
    """
    count = len(cuts.thresholds)
    if count <= most:
        return np.arange(count, dtype=np.intp)
    must = np.unique(np.clip(np.array([0, count - 1, *keep], dtype=np.intp), 0, count - 1))
    finite = np.where(np.isfinite(cuts.thresholds), cuts.thresholds, np.nan)
    tp, fp = cuts.floats["tp"], cuts.floats["fp"]
    length = np.zeros(count)
    for column in (finite, tp, fp, np.log1p(tp + fp), np.arange(count, dtype=np.float64)):
        steps = np.nan_to_num(np.abs(np.diff(column)))
        total = steps.sum()
        if total > 0:
            length[1:] += steps / total
    travelled = np.cumsum(length)
    targets = np.linspace(0.0, travelled[-1], max(2, most - len(must)))
    chosen = np.searchsorted(travelled, targets, side="left")
    return np.unique(np.concatenate([must, np.minimum(chosen, count - 1)]))[:count]

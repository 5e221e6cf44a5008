"""The cuts that a page draws, the searches behind it, and what else is drawn of a model's scores.

Up to `ALL_CUTS_ROWS` rows all cuts are known, and those drawn hold every vertex of the hull. With more
rows the edges of the first histogram are drawn, with the cuts close to the optima: each is a true cut
with its exact confusion. All searches share the passes over the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._curve.areas import twice_area
from cutpoints._curve.hull import vertices
from cutpoints._evaluate.intervals import proportion_interval
from cutpoints._find import solve
from cutpoints._kernel.cuts import Cuts
from cutpoints._kernel.tables import Ranges
from cutpoints._search.run import SearchResult, decide, search
from cutpoints._search.sweep import all_cuts, with_none
from cutpoints._search.together import OnePart, search_together
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Histogram, Rows, Summary, Sums
    from cutpoints._result import Solution
    from cutpoints.metrics.expression import Expression

    Array = NDArray[np.float64]

ALL_CUTS_ROWS = 1 << 20
"""Up to this many rows all cuts are computed, and the hull is exact."""
DRAWN_CUTS = 2000
LISTED_TIES = 3
_CLOSE_CUTS = 40
"""Cuts drawn on each side of an optimum where they are known: the slider is fine there."""
_BINS = 40
_TAIL = 1e-4
"""The share of rows at each end that an axis of log-odds leaves out: a few scores near 0 would fill it."""
_RELIABILITY_BINS = 10


@dataclass(frozen=True)
class ModelCuts:
    """Cuts of one model, thresholds descending, and the solutions of the searches.

    `complete` says whether `cuts` are all cuts of the data. If not, `below` of a cut may be too high.
    """

    summary: Summary
    cuts: Cuts
    complete: bool
    solutions: tuple[Solution | None, ...]
    edges: Cuts
    """The distribution of the scores: all cuts, or the edges of the first histogram."""

    @cached_property
    def hull(self) -> NDArray[np.intp]:
        """The cuts on the upper convex hull in ROC space; of all cuts if these are complete."""
        return vertices(self.cuts)

    @property
    def probabilities(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return looks_like_probabilities(self.summary)

    def value(self, expression: Expression, threshold: float) -> float:
        """Return the value at the cut with this very threshold, rounded once."""
        return self.cuts.value(expression, self.index_at(threshold))

    def index_at(self, threshold: float) -> int:
        """Return the cut with this very threshold, which must be one of them."""
        found = int(np.searchsorted(-self.cuts.thresholds, -threshold))
        assert self.cuts.thresholds[found] == threshold
        return found


def looks_like_probabilities(summary: Summary) -> bool:
    """Return whether all scores lie in [0, 1]; for others nobody means 0.5."""
    return 0 <= summary.low <= summary.high <= 1


def find_cuts(source: Source, goals: Sequence[Goal], usual: float) -> ModelCuts:
    """Search for every goal, exactly, and return the cuts to draw.

    The `usual` threshold of probabilities is one of them, if all scores lie in [0, 1]. Raises
    `InfeasibleError` if the first goal has no solution.
    """
    summary = source.summary()
    threshold = usual if looks_like_probabilities(summary) else None
    if summary.rows <= ALL_CUTS_ROWS:
        every = all_cuts(source)
        solutions = _solve(goals, lambda one: decide(every, one, "sweep", source.passes, summary.rows))
        cuts = every
        if threshold is not None:
            called = int(np.searchsorted(-every.thresholds, -threshold, side="right")) - 1
            sums = (int(side[called]) for side in (every.tp, every.fp, *every.columns))
            cuts = _merged(every, _one_cut(summary, threshold, sums))
        return ModelCuts(summary, cuts, complete=True, solutions=solutions, edges=every)
    shared = _SharedPasses(source, threshold)
    together = search_together(OnePart(shared), {i: (0, goal) for i, goal in enumerate(goals)})
    known = {id(goal): together[i] for i, goal in enumerate(goals)}

    def look(goal: Goal) -> SearchResult:
        found = known.get(id(goal))
        if isinstance(found, InvalidInputError):
            raise found
        return search(source, goal) if found is None else found

    solutions = _solve(goals, look)
    cuts = _merged(
        shared.edges,
        *([] if threshold is None else [_one_cut(summary, threshold, shared.called())]),
        *(_close(found) for found in known.values() if not isinstance(found, InvalidInputError)),
    )
    return ModelCuts(summary, cuts, complete=False, solutions=solutions, edges=shared.edges)


def _solve(goals: Sequence[Goal], look: Callable[[Goal], SearchResult]) -> tuple[Solution | None, ...]:
    """Solve the first goal, or raise; of the others, leave out what is undefined on these data."""
    found: list[Solution | None] = [solve(goals[0], look).raise_if_infeasible()]
    for one in goals[1:]:
        try:
            found.append(solve(one, look))
        except InvalidInputError:
            found.append(None)
    return tuple(found)


class _SharedPasses:
    """A source that keeps its first histogram, and reads the rows around a threshold along with others.

    The confusion at the threshold is known from the histogram, unless a bucket has scores on both sides
    of it. The rows of that bucket are read in the same pass as the first rows that a search asks for.
    """

    def __init__(self, source: Source, threshold: float | None) -> None:
        self._source = source
        self._threshold = threshold = math.inf if threshold is None else threshold
        self._table = table = source.histogram(None)
        self._span = Ranges(table.low, table.high)
        self._at = at = int(np.searchsorted(self._span.high, threshold))
        self._split = None
        if at < len(table.rows) and self._span.low[at] < threshold:
            self._split = Ranges(self._span.low[at : at + 1], self._span.high[at : at + 1])
        self._near: Rows | None = None
        self.rows_limit = source.rows_limit
        self.direct_rows = source.rows_limit  # what fits in memory is not counted again

    @property
    def passes(self) -> int:
        """How often the whole data were read so far."""
        return self._source.passes

    def summary(self) -> Summary:
        """Return what the data are."""
        return self._source.summary()

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Return the first histogram again, or count."""
        return self._table if ranges is None else self._source.histogram(ranges)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Return the rows of these ranges and, the first time, of the bucket that is split."""
        if self._split is None or self._near is not None:
            return self._source.rows(ranges)
        self._near = self._source.rows(None if ranges is None else _joined(ranges, self._split))
        return self._near

    def called(self) -> list[int]:
        """Return TP, FP and the sums of columns at the threshold, in units of their grids."""
        above = slice(self._at + (self._split is not None), None)
        sums = [int(side[above].sum()) for side in _sides(self._table)]
        if self._split is not None:
            rows = self._source.rows(self._split) if self._near is None else self._near
            inside = (rows.scores >= self._threshold) & (rows.scores <= self._split.high[0])
            near = (int(side[inside].sum()) for side in _sides(rows))
            sums = [one + other for one, other in zip(sums, near, strict=True)]
        return sums

    @cached_property
    def edges(self) -> Cuts:
        """The lower edge of every bucket as a cut, and "no positives"."""
        summary = self.summary()
        # The lowest bucket may have no lower end of its own; the lowest score is as good.
        low = np.maximum(self._span.low.astype(np.float64), summary.low)[::-1]
        # No score lies between a bucket and the one below it: a shorter threshold fits there.
        below = np.append(self._span.high.astype(np.float64)[::-1][1:], -np.inf)
        tp, fp, *columns = (np.cumsum(side[::-1]) for side in _sides(self._table))
        return with_none(Cuts(summary, low, np.minimum(below, low), tp, fp, tuple(columns)))


def _sides(table: Histogram | Rows) -> tuple[Sums, ...]:
    return table.pos, table.neg, *table.columns


def _joined(ranges: Ranges, one: Ranges) -> Ranges:
    """Add a range; those that it overlaps become part of it."""
    apart = (ranges.high < one.low[0]) | (ranges.low > one.high[0])
    low = np.append(ranges.low[apart], np.append(ranges.low[~apart], one.low).min())
    high = np.append(ranges.high[apart], np.append(ranges.high[~apart], one.high).max())
    order = np.argsort(low)
    return Ranges(low[order], high[order])


def _one_cut(summary: Summary, threshold: float, sums: Iterable[int]) -> Cuts:
    at = np.array([float(threshold)])
    tp, fp, *columns = (np.array([one], dtype=np.int64) for one in sums)
    return Cuts(summary, at, at, tp, fp, tuple(columns))


def _merged(*parts: Cuts) -> Cuts:
    """Return the cuts of all parts, thresholds descending, each once."""
    thresholds = np.concatenate([part.thresholds for part in parts])
    _, index = np.unique(-thresholds, return_index=True)
    sides = zip(*((part.below, part.tp, part.fp, *part.columns) for part in parts), strict=True)
    below, tp, fp, *columns = (np.concatenate(side)[index] for side in sides)
    return Cuts(parts[0].summary, thresholds[index], below, tp, fp, tuple(columns))


def _close(found: SearchResult) -> Cuts:
    """Return the cuts close to an optimum and its first ties."""
    keep = np.zeros(len(found.cuts), dtype=np.bool_)
    for at in [] if found.choice is None else [found.choice.best, *found.choice.ties[:LISTED_TIES]]:
        keep[max(0, at - _CLOSE_CUTS) : at + _CLOSE_CUTS + 1] = True
    return found.cuts[keep]


def thin(cuts: Cuts, keep: Iterable[int], most: int) -> NDArray[np.intp]:
    """Choose at most this many cuts that draw every curve well; those in `keep` are always among them.

    Steps are of equal length in threshold, in both rates, and in the logarithm of the share called
    positive: precision moves fast where few rows are called.
    """
    count = len(cuts)
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
    traveled = np.cumsum(length)
    targets = np.linspace(0.0, traveled[-1], max(2, most - len(must)))
    chosen = np.searchsorted(traveled, targets, side="left")
    return np.unique(np.concatenate([must, np.minimum(chosen, count - 1)]))


# --- what is drawn beside the cuts


def histogram(model: ModelCuts) -> dict[str, Any]:
    """Return how many of each class have finite scores in bins of equal width.

    Bins are equal in log-odds if the scores are probabilities and most of them would fall into one bin.
    Exact where all cuts are known. Otherwise each bucket is counted where its lower end lies:
    `width` says how wide buckets are, and so how far a row may be from its bin.
    """
    places, pos, neg = _buckets(model)
    finite = np.isfinite(places)
    places, pos, neg = places[finite], pos[finite], neg[finite]
    low, high = (float(places[0]), float(places[-1])) if len(places) else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    bins = min(_BINS, max(2, len(places)))
    edges = np.linspace(low / 2, high / 2, bins + 1) * 2  # halved: the difference may overflow
    index = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, bins - 1)
    log_odds = model.probabilities and 2 * np.bincount(index, pos + neg).max() > (pos + neg).sum() > 0
    if log_odds and bins == _BINS:
        shares = np.cumsum(pos + neg) / (pos + neg).sum()
        ends = np.clip(places[np.searchsorted(shares, [_TAIL, 1 - _TAIL])], 1e-9, 1 - 1e-9)
        low, high = np.log(ends / (1 - ends)).tolist()
        inner = np.linspace(low, high, bins + 1)
        edges = 1 / (1 + np.exp(-inner))
        # Scores beyond the ends are few, and belong to the outer bins.
        index = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, bins - 1)
    number = _number(model)
    return {
        "scale": "log-odds" if log_odds and bins == _BINS else "linear",
        "edges": [float(edge) for edge in edges],
        "positives": [number(x) for x in np.bincount(index, weights=pos, minlength=bins)],
        "negatives": [number(x) for x in np.bincount(index, weights=neg, minlength=bins)],
        "width": 0.0 if model.complete else _width(model),
    }


def reliability(model: ModelCuts, *, weighted: bool) -> list[dict[str, Any]] | None:
    """Return predicted against observed shares in ten bins of equal width; None unless probabilities.

    The mean prediction of a bucket is known to within half its width; exact where all cuts are known.
    """
    if not model.probabilities:
        return None
    places, pos, neg = _buckets(model)
    if not model.complete:
        places = np.clip(places + _width(model) / 2, 0.0, 1.0)
    # As `reliability_curve` does: a score on an edge belongs to the bin below it.
    index = np.searchsorted(np.linspace(0.0, 1.0, _RELIABILITY_BINS + 1)[1:-1], places)
    positives, total, moment = (
        np.bincount(index, weights=weights, minlength=_RELIABILITY_BINS)
        for weights in (pos, pos + neg, (pos + neg) * places)
    )
    number = _number(model)
    found = []
    for i in np.flatnonzero(total > 0):
        span = None if weighted else proportion_interval(round(positives[i]), round(total[i]))
        found.append(
            {
                "predicted": float(moment[i] / total[i]),
                "observed": float(positives[i] / total[i]),
                "low": None if span is None else span.low,
                "high": None if span is None else span.high,
                "count": number(total[i]),
            }
        )
    return found


def area(model: ModelCuts) -> dict[str, Any]:
    """Return the area under the ROC curve and its largest possible error: 0 if all cuts are known."""
    summary = model.summary
    pairs = summary.positives * summary.negatives
    if not pairs:
        return {"value": None, "error": None}
    _, pos, neg = _buckets(model)
    positives, negatives = summary.sizes
    tied = float(np.sum((pos / positives) * (neg / negatives)))
    return {"value": twice_area(model.edges) / (2 * pairs), "error": 0.0 if model.complete else tied / 2}


def _width(model: ModelCuts) -> float:
    """Return the median width of the buckets."""
    finite = model.edges.thresholds[np.isfinite(model.edges.thresholds)]
    return float(np.median(-np.diff(finite))) if len(finite) > 1 else 0.0


def _buckets(model: ModelCuts) -> tuple[Array, Array, Array]:
    """Return the lower ends of the buckets (or the distinct scores), ascending, and their weights."""
    edges = model.edges[int(model.summary.high != math.inf) :]  # without "no positives"
    pos, neg = (model.summary.grid.decode(np.diff(side, prepend=0))[::-1] for side in (edges.tp, edges.fp))
    return edges.thresholds[::-1].astype(np.float64), pos, neg


def _number(model: ModelCuts) -> Callable[[float], float]:
    """Return how to write a count: as an integer where all counts are integers."""
    return (lambda x: round(float(x))) if model.summary.grid.step == 1 else float

"""Choose the search, run it, and say what was found: the one entry to this room."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from cutpoints._kernel.tables import FETCHED_ROWS
from cutpoints._search.narrow import narrow, prune, tabulate, value_of_none
from cutpoints._search.optimum import Optimum, best_cut
from cutpoints._search.sweep import cuts_of, with_none
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from cutpoints.metrics.expression import Expression, WeightedSum
from cutpoints.metrics.metric import UserFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._kernel.cuts import Cuts
    from cutpoints._kernel.tables import Histogram, Summary
    from cutpoints._search.narrow import Narrowed
    from cutpoints.metrics.expression import Constraint

Method = Literal["auto", "sweep", "narrow"]
DISTRIBUTION_BUCKETS = 99
"""Buckets of a score distribution, of about equal weight; equal scores are never split."""
FOLD_BUCKETS = 400
"""Buckets that are dealt out to folds: as many as a threshold needs to be chosen well."""


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search: a choice among cuts, or None if no cut meets the constraints."""

    summary: Summary
    cuts: Cuts
    choice: Optimum | None
    method: Literal["sweep", "narrow", "ilp"]
    passes: int
    rows_examined: int
    status: Literal["optimal", "time_limit", "gap_limit"] = "optimal"
    """Why the search ended; if not with the optimum, `bound` says how much better it can be."""
    bound: float | None = None
    histogram: Histogram | None = None
    """Where `cuts` are not all cuts of the data: the first count of all rows."""
    all_ties: bool = True
    """Whether `choice` has all ties; if there are too many for memory, some are left out."""

    def meets(self, constraint: Constraint) -> bool:
        """Return whether there is a choice and a constraint holds at it."""
        return self.choice is not None and bool(self.cuts[[self.choice.best]].feasible((constraint,))[0])


def search(source: Source, goal: Goal, method: Method = "auto") -> SearchResult:
    """Find the best cut, exactly, and all of its ties.

    All methods give the same answer bit for bit; they differ in time and memory only.
    """
    read_before = source.passes
    can_narrow = has_bounds(goal)
    sweeps = method == "sweep" or (method == "auto" and not can_narrow)
    rows = source.rows(None) if sweeps else None  # first of all: what is sorted need not be counted
    summary = source.summary()
    check_promises(goal, summary)
    if method == "narrow" and not can_narrow:
        raise InvalidParameterError(
            "method",
            caller="find",
            expected="'sweep' or 'auto' for an objective whose shape is unknown",
            got="narrow",
            hint="if your function never falls with tp and never rises with fp, say so: "
            "metrics.custom(function, monotone=True).",
        )
    if method == "auto" and summary.rows <= min(source.direct_rows, FETCHED_ROWS):
        rows = rows or source.rows(None)
    if rows is not None:
        return decide(cuts_of(summary, rows), goal, "sweep", source.passes - read_before, summary.rows)
    return decide_narrowed(narrow(source, goal), goal, source.passes - read_before)


def decide_narrowed(narrowed: Narrowed, goal: Goal, passes: int) -> SearchResult:
    """Choose among the cuts that narrowing left."""
    found = decide(narrowed.cuts, goal, "narrow", passes, narrowed.rows_examined)
    return replace(found, histogram=narrowed.histogram, all_ties=narrowed.all_ties)


def decide(
    cuts: Cuts, goal: Goal, method: Literal["sweep", "narrow", "ilp"], passes: int, rows_examined: int
) -> SearchResult:
    """Choose among cuts that are known to hold the optimum.

    Without constraints there is always a choice, unless the objective is undefined at every cut:
    then raise. With constraints, no choice means that no cut meets them and has a value.
    """
    feasible = cuts.feasible(goal.constraints) if goal.constraints else None
    choice = None if feasible is not None and not feasible.any() else best_cut(cuts, goal, feasible)
    if choice is None and not goal.constraints:
        raise undefined(cuts.summary, goal)
    return SearchResult(cuts.summary, cuts, choice, method, passes, rows_examined)


def undefined(summary: Summary, goal: Goal) -> InvalidInputError:
    """Return the error for an objective that has no value at any cut."""
    positives, negatives = summary.sizes
    return InvalidInputError.undefined(
        objective=str(goal.expression), positives=positives, negatives=negatives
    )


def has_bounds(goal: Goal) -> bool:
    """Whether the objective can be bounded over a box: all but user functions without a promise."""
    return all(function.monotone for function in _functions(goal.expression))


def check_promises(goal: Goal, summary: Summary) -> None:
    """Raise if a user function is not as monotone as promised."""
    for expression in goal.expressions:
        for function in _functions(expression):
            if function.monotone:
                function.check_promise(*summary.sizes)


def _functions(expression: Expression) -> list[UserFunction]:
    if isinstance(expression, WeightedSum):
        return [term for _, term in expression.terms if isinstance(term, UserFunction)]
    return [expression] if isinstance(expression, UserFunction) else []


# --- what a histogram alone shows


@dataclass(frozen=True)
class EdgeSearch:
    """The cuts at the edges of the buckets, the best of them, and a bound for the cuts inside."""

    cuts: Cuts
    choice: Optimum | None
    """The best edge that meets the constraints; None if there is none."""
    bound: float | None
    """No cut inside a bucket is better than this; None if none can be better or as good."""
    open: NDArray[np.bool_]
    """The buckets of the histogram that could hold a cut as good as the best edge, or better."""


def best_edge(summary: Summary, histogram: Histogram, goal: Goal) -> EdgeSearch:
    """Search the edges of a histogram whose spans end at scores of the data.

    The confusion at an edge is exact, and so is the choice among the edges. A bucket of one score
    has no cut inside.
    """
    table = tabulate(histogram, None)
    low, high = histogram.low[::-1], histogram.high[::-1]
    below = np.append(high[1:], -np.inf)
    cuts = with_none(replace(table.below(summary), thresholds=low, below=below))
    choice = best_cut(cuts, goal, cuts.feasible(goal.constraints))
    inner = low < high
    bound = None
    open_ = inner
    if inner.any():
        if has_bounds(goal):
            floor = value_of_none(summary, goal)
            _, keep, upper = prune(table, goal, summary, floor)
            open_ = inner & keep
            if open_.any():
                best = float(np.where(np.isnan(upper[open_]), np.inf, upper[open_]).max())
                bound = goal.sign * best
        else:
            bound = goal.sign * np.inf
    return EdgeSearch(cuts, choice, bound, open_[::-1].copy())


# --- how the scores were spread


class ScoreDistribution(NamedTuple):
    """How the scores were spread: the sums of all rows with a score of at least each edge, ascending.

    A policy later compares new scores with it.
    """

    edges: NDArray[np.float64]
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]


def score_distribution(found: SearchResult, *, by_class: bool = False) -> ScoreDistribution:
    """Return at most `DISTRIBUTION_BUCKETS` - 1 edges that split the weight of all rows evenly.

    With `by_class`, at most `FOLD_BUCKETS` - 1 edges that split both classes as if they weighed the same:
    where few rows are positive, the best threshold lies among the few. A sweep knows every cut, narrowing
    its first histogram: no further pass is needed.
    """
    table = found.histogram
    if table is None:
        cuts = found.cuts[::-1]
        scores, pos, neg = cuts.thresholds, cuts.tp, cuts.fp
    else:
        scores = table.low
        pos, neg = (np.cumsum(side[::-1])[::-1] for side in (table.pos, table.neg))
    if by_class:
        shares = pos / max(pos.max(initial=0), 1) + neg / max(neg.max(initial=0), 1)
        index = _even_places(shares, FOLD_BUCKETS)
    else:
        index = _even_places(pos + neg, DISTRIBUTION_BUCKETS)
    return ScoreDistribution(scores[index].astype(np.float64), pos[index], neg[index])


def _even_places(above: NDArray[Any], buckets: int) -> NDArray[np.intp]:
    """Return where ascending edges, with these sums above them, split the whole into equal parts."""
    if len(above) == 0:
        return np.zeros(0, dtype=np.intp)
    below = above[0] - above
    index = np.searchsorted(below, np.arange(1, buckets) * (float(above[0]) / buckets))
    index = index[(np.diff(index, prepend=-1) > 0) & (index < len(above))]
    return index[(below[index] > 0) & (above[index] > 0)]

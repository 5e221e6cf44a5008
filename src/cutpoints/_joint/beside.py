"""What stands beside joint thresholds: a single threshold, each segment by itself, the value on new data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.read import from_counts
from cutpoints._find import find, solve
from cutpoints._goal import Goal
from cutpoints._kernel.segment_cuts import SegmentCuts
from cutpoints._kernel.weights import as_number
from cutpoints._result import Confusion
from cutpoints._search.run import decide
from cutpoints._shown import JsonForm
from cutpoints._validate import generator
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from cutpoints._joint.problem import Problem
    from cutpoints._joint.promise import Promise
    from cutpoints._result import Solution
    from cutpoints._segments import Segments

FOLDS = 5


@dataclass(frozen=True)
class Separate(JsonForm):
    """Each segment by itself, as `find_by` does, and what that makes together.

    Attributes
    ----------
    value : float
        The objective over all rows.
    confusion : Confusion
        The total.
    thresholds : dict
        By segment. One in which no threshold meets the constraints calls no row positive, if it can.
    constraints : dict of str to float
        The value of each constraint's metric over all rows.
    broken : tuple of str
        The constraints that do not hold over all rows, such as a capacity that each segment has used up.
    unsolved : int
        How many segments have no threshold of their own.
    """

    value: float
    confusion: Confusion
    thresholds: dict[Any, float]
    constraints: Mapping[str, float]
    broken: tuple[str, ...]
    unsolved: int

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, without the thresholds."""
        shown = super().to_dict()
        del shown["thresholds"]
        return shown


@dataclass(frozen=True)
class CrossValidatedJoint(JsonForm):
    """How joint thresholds perform on rows that did not choose them.

    Attributes
    ----------
    value : float
        The objective at the pooled counts of all folds; NaN if no fold has thresholds.
    confusion : Confusion
        The pooled counts.
    constraints : dict of str to float
        The value of each constraint's metric at the pooled counts.
    broken : tuple of str
        The constraints that do not hold there.
    broken_segments : int
        How many segments break what must hold in each.
    gap : dict of str to float
        The largest difference between segments, for each that was bounded.
    folds, infeasible_folds : int
        How many folds there were, and for how many the other rows have no thresholds.
    """

    value: float
    confusion: Confusion
    constraints: Mapping[str, float]
    broken: tuple[str, ...]
    broken_segments: int
    gap: Mapping[str, float]
    folds: int
    infeasible_folds: int


def single_threshold(problem: Problem, promise: Promise | None = None) -> Solution:
    """Return the best threshold for all rows together; what must hold in each segment is left out."""
    cuts = problem.cuts
    pos, neg = cuts.added()
    rows = pos + neg > 0  # not the cuts that call no row positive, nor rows without weight
    if promise is not None:
        goal: dict[str, Any] = {problem.goal.direction: problem.goal.expression}
        return find(
            from_counts(cuts.thresholds[rows], positives=pos[rows], negatives=neg[rows]),
            **goal,
            subject_to=problem.goal.constraints,
            guarantee=promise.confidence,
            random_state=promise.random_state,
        )
    zeros = np.zeros(int(rows.sum()), dtype=np.int64)
    merged = SegmentCuts.of(
        cuts.thresholds[rows], zeros, pos[rows], neg[rows], grid=cuts.grid, rows=cuts.rows.sum(keepdims=True)
    )
    every = merged.cuts(0)
    return solve(problem.goal, lambda one: decide(every, one, "sweep", 1, every.summary.rows))


def separate_thresholds(problem: Problem, keys: list[Any]) -> Separate:
    """Return each segment's own optimum; what cannot be solved calls no row positive."""
    cuts, goal = problem.cuts, problem.goal
    own = Goal(goal.expression, goal.direction, (*goal.constraints, *problem.each))
    chosen = cuts.first[:-1].copy()
    unsolved = 0
    for segment in range(len(cuts)):
        try:
            found = decide(cuts.cuts(segment), own, "sweep", 1, 0)
        except InvalidInputError:  # undefined in this segment
            found = None
        if found is None or found.choice is None:
            unsolved += 1
        else:
            chosen[segment] += found.choice.best
    confusion = total(problem, chosen)
    return Separate(
        confusion.metric(goal.expression),
        confusion,
        dict(zip(keys, cuts.thresholds[chosen].tolist(), strict=True)),
        *reached(goal, confusion),
        unsolved,
    )


def separate_of(found: Segments, problem: Problem) -> Separate:
    """Return each segment's own optimum from what `find_by` found."""
    cuts, goal = problem.cuts, problem.goal
    none = cuts.first[:-1]
    entries = list(found.values())
    tp, fp = (
        sum(
            int(sums[cut]) if one.confusion is None else int(getattr(one.confusion, name))
            for cut, one in zip(none, entries, strict=True)
        )
        for name, sums in (("tp", cuts.tp), ("fp", cuts.fp))
    )
    confusion = Confusion(**{key: as_number(count) for key, count in cuts.total.confusion(tp, fp).items()})
    thresholds = [
        float(cuts.thresholds[cut]) if one.threshold is None else one.threshold
        for cut, one in zip(none, entries, strict=True)
    ]
    return Separate(
        confusion.metric(goal.expression),
        confusion,
        dict(zip(found, thresholds, strict=True)),
        *reached(goal, confusion),
        sum(one.threshold is None for one in entries),
    )


def total(problem: Problem, cuts: NDArray[np.intp]) -> Confusion:
    """Return the confusion over all segments at these cuts."""
    tp, fp = int(problem.cuts.tp[cuts].sum()), int(problem.cuts.fp[cuts].sum())
    exact = problem.cuts.total.confusion(tp, fp)
    return Confusion(**{name: as_number(count) for name, count in exact.items()})


def reached(goal: Goal, confusion: Confusion) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the value of each constraint's metric, and the constraints that do not hold."""
    values = {str(one): confusion.metric(one.expression) for one in goal.constraints}
    broken = tuple(
        str(one)
        for one in goal.constraints
        if math.isnan(values[str(one)]) or not one.holds(values[str(one)] - float(one.bound))
    )
    return values, broken


def cross_validate(
    problem: Problem,
    choose: Callable[[Problem], NDArray[np.intp] | None],
    random_state: Any,
    *,
    rows_are_counted: bool,
) -> CrossValidatedJoint:
    """Judge each fold by the thresholds of the other folds, and add up the counts."""
    cuts = problem.cuts
    rng = generator(random_state, cuts.thresholds, cuts.tp, cuts.fp, caller=problem.caller)
    tp, fp = np.zeros(len(cuts), dtype=np.int64), np.zeros(len(cuts), dtype=np.int64)
    positives, negatives = tp.copy(), fp.copy()
    infeasible = 0
    for train, test in folds(cuts, rng, rows_are_counted=rows_are_counted):
        try:
            found = choose(problem.of(train))
        except InvalidInputError:  # undefined on these rows
            found = None
        if found is None:
            infeasible += 1
            continue
        tp, fp = tp + test.tp[found], fp + test.fp[found]
        positives, negatives = positives + test.positives, negatives + test.negatives
    step = cuts.grid.step
    pooled = [
        Confusion(**{name: as_number(int(count) * step) for name, count in zip(_CELLS, counts, strict=True)})
        for counts in zip(tp, fp, positives - tp, negatives - fp, strict=True)
    ]
    confusion = Confusion(
        **{
            name: as_number(int(count.sum()) * step)
            for name, count in zip(_CELLS, (tp, fp, positives - tp, negatives - fp), strict=True)
        }
    )
    return CrossValidatedJoint(
        confusion.metric(problem.goal.expression) if infeasible < FOLDS else math.nan,
        confusion,
        *reached(problem.goal, confusion),
        sum(bool(reached(Goal(problem.goal.expression, "maximize", problem.each), one)[1]) for one in pooled),
        problem.gaps_of(pooled),
        FOLDS,
        infeasible,
    )


_CELLS = ("tp", "fp", "fn", "tn")


def folds(
    cuts: SegmentCuts, rng: np.random.Generator, *, rows_are_counted: bool
) -> Iterator[tuple[SegmentCuts, SegmentCuts]]:
    """Return the cuts of the rows that choose and of those that judge, fold by fold.

    Rows of equal segment, score and label are alike, so it is enough to draw how many of them each fold
    gets. Rows with weights are not: all rows of one score in a segment then go to one fold.
    """
    every = np.array(cuts.added())
    left = every
    fold = rng.permutation(len(cuts.tp)) % FOLDS
    for k in range(FOLDS):
        if rows_are_counted:
            part = left if k == FOLDS - 1 else rng.binomial(left, 1 / (FOLDS - k))
            left = left - part
        else:
            part = np.where(fold == k, every, 0)
        yield cuts.split(every - part), cuts.split(part)

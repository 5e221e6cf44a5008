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
from cutpoints._result import Confusion
from cutpoints._search.folds import FOLDS, deal
from cutpoints._search.run import decide
from cutpoints._shown import JsonForm
from cutpoints._validate import generator
from cutpoints.exceptions import InvalidInputError
from cutpoints.metrics.columns import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from cutpoints._joint.guarantee import Certifier
    from cutpoints._joint.problem import Problem
    from cutpoints._result import Solution
    from cutpoints._segments import Segments


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


def single_threshold(problem: Problem, certifier: Certifier | None = None) -> Solution:
    """Return the best threshold for all rows together; what must hold in each segment is left out."""
    cuts = problem.cuts
    pos, neg = cuts.added()
    rows = pos + neg > 0  # not the cuts that call no row positive, nor rows without weight
    if certifier is not None:
        goal: dict[str, Any] = {problem.goal.direction: problem.goal.expression}
        return find(
            from_counts(cuts.thresholds[rows], positives=pos[rows], negatives=neg[rows]),
            **goal,
            subject_to=problem.goal.constraints,
            guarantee=certifier.confidence,
            random_state=certifier.random_state,
        )
    zeros = np.zeros(int(rows.sum()), dtype=np.int64)
    merged = SegmentCuts.of(
        cuts.thresholds[rows], zeros, pos[rows], neg[rows], grid=cuts.grid, rows=cuts.rows.sum(keepdims=True)
    )
    every = merged.cuts(0)
    return solve(problem.goal, lambda one: decide(every, one, "sweep", 1, every.summary.rows))


def separate_thresholds(problem: Problem, keys: list[Any]) -> Separate:
    """Return each segment's own optimum."""
    cuts, goal = problem.cuts, problem.goal
    own = Goal(goal.expression, goal.direction, (*goal.constraints, *problem.each))
    found: dict[Any, _Own | None] = {}
    for segment, key in enumerate(keys):
        try:
            choice = decide(cuts.cuts(segment), own, "sweep", 1, 0).choice
        except InvalidInputError:  # undefined in this segment
            choice = None
        found[key] = None if choice is None else _at(cuts, cuts.first[segment] + choice.best)
    return _separate(problem, found)


def separate_of(found: Segments, problem: Problem) -> Separate:
    """Return each segment's own optimum from what `find_by` found, on rows without weights."""
    return _separate(
        problem,
        {
            key: None
            if one.threshold is None or one.confusion is None
            else (one.threshold, int(one.confusion.tp), int(one.confusion.fp))
            for key, one in found.items()
        },
    )


_Own = tuple[float, int, int]
"""The threshold of a segment, and its TP and FP."""


def _at(cuts: SegmentCuts, cut: int) -> _Own:
    return float(cuts.thresholds[cut]), int(cuts.tp[cut]), int(cuts.fp[cut])


def _separate(problem: Problem, found: Mapping[Any, _Own | None]) -> Separate:
    """Say what thresholds make together; a segment without one calls no row positive."""
    cuts, goal = problem.cuts, problem.goal
    chosen = [one or _at(cuts, none) for one, none in zip(found.values(), cuts.first, strict=False)]
    thresholds, tp, fp = zip(*chosen, strict=True)
    confusion = Confusion.of(cuts.total.confusion(sum(tp), sum(fp)))
    return Separate(
        confusion.metric(goal.expression),
        confusion,
        dict(zip(found, thresholds, strict=True)),
        *reached(goal, confusion),
        sum(one is None for one in found.values()),
    )


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
    sums, infeasible = judged_folds(
        problem.cuts,
        lambda train: choose(problem.of(train)),
        random_state,
        rows_are_counted=rows_are_counted,
        caller=problem.caller,
    )
    each = Goal(problem.goal.expression, problem.goal.direction, problem.each)
    segments = confusions_of(problem.cuts, sums)
    (confusion,) = confusions_of(problem.cuts, sums.sum(axis=1, keepdims=True))
    return CrossValidatedJoint(
        confusion.metric(problem.goal.expression) if infeasible < FOLDS else math.nan,
        confusion,
        *reached(problem.goal, confusion),
        sum(bool(reached(each, one)[1]) for one in segments),
        problem.gaps_of(segments),
        FOLDS,
        infeasible,
    )


def judged_folds(
    cuts: SegmentCuts,
    choose: Callable[[SegmentCuts], NDArray[np.intp] | None],
    random_state: Any,
    *,
    rows_are_counted: bool,
    caller: str,
) -> tuple[NDArray[np.int64], int]:
    """Judge each fold by the cuts that are chosen on the other folds.

    Return TP, FP, FN and TN (rows) of each segment (columns), added up over the folds, and for how many folds
    the others have no thresholds.
    """
    rng = generator(random_state, cuts.thresholds, cuts.tp, cuts.fp, caller=caller)
    every = np.array(cuts.added())
    fold = rng.permutation(len(cuts.tp)) % FOLDS
    sums = np.zeros((4, len(cuts)), dtype=np.int64)
    infeasible = 0
    for part in deal(every, rng, None if rows_are_counted else fold):
        test = cuts.split(part)
        try:
            found = choose(cuts.split(every - part))
        except InvalidInputError:  # undefined on these rows
            found = None
        if found is None:
            infeasible += 1
            continue
        tp, fp = test.tp[found], test.fp[found]
        sums += np.array([tp, fp, test.positives - tp, test.negatives - fp])
    return sums, infeasible


def confusions_of(cuts: SegmentCuts, sums: NDArray[np.int64]) -> list[Confusion]:
    """Return columns of TP, FP, FN and TN, in units of the grid, as confusions."""
    step = cuts.grid.step
    return [
        Confusion.of({name: step * count for name, count in zip(CELLS, column, strict=True)})
        for column in sums.T.tolist()
    ]

"""Choose the search, run it, and say what was found: the one entry to this room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cutpoint._errors import InvalidInputError, InvalidParameterError
from cutpoint.metrics._expression import Expression, WeightedSum
from cutpoint.metrics._metric import UserFunction
from cutpoint.search._cuts import Choice, Cuts, choose
from cutpoint.search.narrow import narrow
from cutpoint.search.sweep import all_cuts

if TYPE_CHECKING:
    from cutpoint.objective import Goal
    from cutpoint.questions import Source, Summary

Method = Literal["auto", "sweep", "narrow"]
SMALL = 1 << 15
"""Below so many rows a sort is as fast as two passes."""


@dataclass(frozen=True)
class Found:
    """The outcome of a search: a choice among cuts, or None if no cut meets the constraints."""

    summary: Summary
    cuts: Cuts
    choice: Choice | None
    method: Literal["sweep", "narrow"]
    passes: int
    rows_examined: int


def search(source: Source, goal: Goal, method: Method = "auto") -> Found:
    """Find the best cut, exactly, and all of its ties.

    Sweep and narrow give the same answer bit for bit; they differ in time and memory only.
    """
    read_before = source.passes
    summary = source.summary()
    for expression in (goal.expression, *(c.expression for c in goal.constraints)):
        _check_promises(expression, summary)
    can_narrow = _has_bounds(goal)
    if method == "narrow" and not can_narrow:
        raise InvalidParameterError.of(
            parameter="method",
            caller="find",
            must_be="'sweep' or 'auto' for an objective whose shape is unknown",
            got="narrow",
            hint="if your function never falls with tp and never rises with fp, say so: "
            "metrics.custom(function, monotone=True).",
        )
    if method == "sweep" or not can_narrow or (method == "auto" and summary.rows < SMALL):
        cuts, examined = all_cuts(source), summary.rows
        used: Literal["sweep", "narrow"] = "sweep"
    else:
        narrowed = narrow(source, goal)
        cuts, examined = narrowed.cuts, narrowed.rows_examined
        used = "narrow"
    return decide(cuts, goal, used, source.passes - read_before, examined)


def decide(
    cuts: Cuts, goal: Goal, method: Literal["sweep", "narrow"], passes: int, rows_examined: int
) -> Found:
    """Choose among cuts that are known to hold the optimum; raise if the objective is undefined at all."""
    feasible = cuts.feasible(goal.constraints)
    choice = choose(cuts, goal, feasible)
    if choice is None and (feasible.any() or not goal.constraints):
        positives, negatives = map(float, cuts.summary.totals)
        raise InvalidInputError.undefined(
            objective=str(goal.expression), positives=positives, negatives=negatives
        )
    return Found(cuts.summary, cuts, choice, method, passes, rows_examined)


def _has_bounds(goal: Goal) -> bool:
    """Whether the objective can be bounded over a box: all but user functions without a promise."""
    return all(function.monotone for function in _functions(goal.expression))


def _check_promises(expression: Expression, summary: Summary) -> None:
    """Raise if a user's function is not as monotone as promised."""
    for function in _functions(expression):
        if function.monotone:
            function.check_promise(*map(float, summary.totals))


def _functions(expression: Expression) -> list[UserFunction]:
    terms = [t for _, t in expression.terms] if isinstance(expression, WeightedSum) else [expression]
    return [term for term in terms if isinstance(term, UserFunction)]

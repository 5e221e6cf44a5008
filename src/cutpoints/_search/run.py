"""Choose the search, run it, and say what was found: the one entry to this room."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from cutpoints._kernel.tables import SMALL
from cutpoints._search.narrow import narrow
from cutpoints._search.optimum import Choice, choose
from cutpoints._search.sweep import cuts_of
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from cutpoints.metrics.expression import Expression, WeightedSum
from cutpoints.metrics.metric import UserFunction

if TYPE_CHECKING:
    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._kernel.cuts import Cuts
    from cutpoints._kernel.tables import Histogram, Summary
    from cutpoints._search.narrow import Narrowed
    from cutpoints.metrics.expression import Constraint

Method = Literal["auto", "sweep", "narrow"]


@dataclass(frozen=True)
class Found:
    """The outcome of a search: a choice among cuts, or None if no cut meets the constraints."""

    summary: Summary
    cuts: Cuts
    choice: Choice | None
    method: Literal["sweep", "narrow", "ilp"]
    passes: int
    rows_examined: int
    status: Literal["optimal", "time_limit", "gap_limit"] = "optimal"
    """Why the search ended; if not with the optimum, `bound` says how much better it can be."""
    bound: float | None = None
    histogram: Histogram | None = None
    """Where `cuts` are not all cuts of the data: the first count of all rows."""
    all_ties: bool = True
    """Whether `choice` has all ties; they may be left out where they are too many to be held."""

    def meets(self, constraint: Constraint) -> bool:
        """Return whether there is a choice and a constraint holds at it."""
        return self.choice is not None and self.cuts.holds(constraint, self.choice.best)


def search(source: Source, goal: Goal, method: Method = "auto") -> Found:
    """Find the best cut, exactly, and all of its ties.

    All methods give the same answer bit for bit; they differ in time and memory only.
    """
    read_before = source.passes
    summary = source.summary()
    # Functions of the user's are no more exact than floats are.
    exact = all(expression.exact for expression in goal.expressions)
    can_narrow = exact or has_bounds(goal)
    if not exact:
        check_promises(goal, summary)
    if method == "narrow" and not can_narrow:
        raise InvalidParameterError.of(
            parameter="method",
            caller="find",
            must_be="'sweep' or 'auto' for an objective whose shape is unknown",
            got="narrow",
            hint="if your function never falls with tp and never rises with fp, say so: "
            "metrics.custom(function, monotone=True).",
        )
    # Some sources know better than others when a sort is the faster way.
    small = summary.rows < getattr(source, "sorts", SMALL)
    if method == "sweep" or not can_narrow or (method == "auto" and small):
        # A user's function is compared by its floats alone, so it needs good ones.
        cuts = cuts_of(summary, source.rows(None), rough=exact)
        if goal.constraints and small:  # where no cut meets them, they are asked for again
            cuts = cuts.remembering()
        return decide(cuts, goal, "sweep", source.passes - read_before, summary.rows)
    return decide_narrowed(narrow(source, goal), goal, source.passes - read_before)


def decide_narrowed(narrowed: Narrowed, goal: Goal, passes: int) -> Found:
    """Choose among the cuts that narrowing left."""
    found = decide(narrowed.cuts, goal, "narrow", passes, narrowed.rows_examined)
    return replace(found, histogram=narrowed.histogram, all_ties=narrowed.all_ties)


def decide(
    cuts: Cuts, goal: Goal, method: Literal["sweep", "narrow", "ilp"], passes: int, rows_examined: int
) -> Found:
    """Choose among cuts that are known to hold the optimum.

    Without constraints there is always a choice, unless the objective is undefined at every cut:
    then raise. With constraints, no choice means that no cut meets them and has a value.
    """
    feasible = cuts.feasible(goal.constraints) if goal.constraints else None
    choice = None if feasible is not None and not feasible.any() else choose(cuts, goal, feasible)
    if choice is None and not goal.constraints:
        raise undefined(cuts, goal)
    return Found(cuts.summary, cuts, choice, method, passes, rows_examined)


def undefined(cuts: Cuts, goal: Goal) -> InvalidInputError:
    """Return the error for an objective that has no value at any cut."""
    positives, negatives = cuts.summary.sizes
    return InvalidInputError.undefined(
        objective=str(goal.expression), positives=positives, negatives=negatives
    )


def has_bounds(goal: Goal) -> bool:
    """Whether the objective can be bounded over a box: all but user functions without a promise."""
    return all(function.monotone for function in _functions(goal.expression))


def check_promises(goal: Goal, summary: Summary) -> None:
    """Raise if a user's function is not as monotone as promised."""
    for expression in goal.expressions:
        for function in _functions(expression):
            if function.monotone:
                function.check_promise(*summary.sizes)


def _functions(expression: Expression) -> list[UserFunction]:
    if expression.exact:  # which functions are not
        return []
    if isinstance(expression, WeightedSum):
        return [term for _, term in expression.terms if isinstance(term, UserFunction)]
    return [expression] if isinstance(expression, UserFunction) else []

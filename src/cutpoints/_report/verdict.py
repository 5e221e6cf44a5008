"""Whether the best of several models is really better than the next one, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpoints._compare import joint_table, paired_bootstrap, paired_row_bootstrap
from cutpoints._report.cuts import ALL_CUTS_ROWS
from cutpoints._report.headline import gap_text
from cutpoints.exceptions import CutpointError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cutpoints._data.data import Data
    from cutpoints._goal import Goal
    from cutpoints._report.headline import Names
    from cutpoints._report.summary import ModelSummary


def verdict(
    data: Data, models: Sequence[ModelSummary], goal: Goal, names: Names, *, money: bool, random_state: int
) -> str | None:
    """Compare the two best models on the same rows, each at its best threshold; None for one model.

    `models` are in the order of the goal, best first. `money` says whether values are costs of the rows.
    """
    if len(models) < 2:
        return None
    first, second = models[:2]
    untested = f"{first.name} is the best on these rows; it was not tested whether it is better on others"
    if data.weighted:
        return f"{untested}, since the rows have weights."
    if first.cuts.summary.rows > ALL_CUTS_ROWS:
        return f"{untested}, since there are more than {ALL_CUTS_ROWS:,}."
    try:
        rows = data.labelled_rows(caller="report")
    except CutpointError as error:
        return f"{untested}: {error.facts}"
    scores = list(rows.scores.values())
    decisions = [model.solution.decide(scores[model.place]) for model in (first, second)]
    found = (
        paired_row_bootstrap(rows, decisions, goal.expression, random_state=random_state)
        if goal.expression.columns
        else paired_bootstrap(joint_table(rows.y, *decisions), goal.expression, random_state=random_state)
    )
    cases, said = names.volume

    def shown(x: float) -> str:
        return names.money(cases * x / len(rows.y)) if money else gap_text(goal, x)[0]

    ends = sorted(goal.sign * end for end in (found.interval.low, found.interval.high))
    gap, (low, high) = goal.sign * found.difference, ends
    when = f" {said}" if money else gap_text(goal, gap)[1]
    if not low > 0:
        return (
            f"{first.name} and {second.name} cannot be told apart on these rows: the difference is "
            f"{shown(gap)}{when}, with a 95 % interval from {shown(low)} to {shown(high)}."
        )
    return (
        f"{first.name} is better than {second.name} by {shown(gap)}{when} "
        f"(95 % interval: {shown(low)} to {shown(high)})."
    )

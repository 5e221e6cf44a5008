"""The goal of a band: what it costs, what is left to review, and bounds on the automatic decisions.

All of it is linear in six numbers: the confusion of the automatic decisions, and the positives and negatives
that are left to review. That is what makes the search exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from cutpoints._goal import Constraints, Objective, constraints
from cutpoints._goal import goal as read_goal
from cutpoints._search.band import PairSum
from cutpoints._validate import is_number, number_in
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics.expression import Constraint, Expression, exact_number, format_number
from cutpoints.metrics.metric import Metric

if TYPE_CHECKING:
    from cutpoints._kernel.tables import Summary

Counts = Mapping[str, Fraction]
"""By name: tp, fp, fn, tn of the automatic decisions, and the reviewed positives and negatives."""
CELLS = ("tp", "fp", "fn", "tn")
COVERAGE = "coverage"
_COSTS = ("cost", "cost_per_row", "profit")


@dataclass(frozen=True)
class BandGoal:
    """What is best: a sum over rows, by what becomes of them, and what must hold.

    `weights` are what a row of each kind adds to the objective; for the coverage only reviewed rows count.
    """

    direction: Literal["maximize", "minimize"]
    objective: str
    expression: Expression | None
    """The objective for one threshold, which reviews no row; None for the coverage."""
    weights: Mapping[str, Fraction]
    per_row: bool
    constraints: tuple[Constraint, ...]
    capacity: Fraction | None
    reviewer: tuple[Fraction, Fraction]

    def value(self, counts: Counts) -> Fraction:
        """Return the objective, exactly."""
        if self.expression is None:
            return 1 - (counts["reviewed_positives"] + counts["reviewed_negatives"]) / sum(counts.values())
        total = sum((self.weights[name] * count for name, count in counts.items()), Fraction(0))
        return total / sum(counts.values()) if self.per_row else total

    def objective_sum(self, summary: Summary) -> PairSum:
        """Return the objective as a sum to be minimized, in units of the grid."""
        sign = -1 if self.direction == "maximize" and self.expression is not None else 1
        w = {name: sign * weight for name, weight in self.weights.items()}
        r1, r0 = w["reviewed_positives"], w["reviewed_negatives"]
        constant = w["fn"] * summary.positives + w["tn"] * summary.negatives
        return PairSum.of((w["tp"] - r1, w["fp"] - r0), (r1 - w["fn"], r0 - w["tn"]), constant)[0]

    def bounds(self, summary: Summary) -> list[PairSum]:
        """Return what must hold as sums that are at most 0."""
        found = [_bound(constraint, summary) for constraint in self.constraints]
        return found if self.capacity is None else [*found, capacity_bound(self.capacity, summary)]

    def scaled(self, share: Fraction) -> BandGoal:
        """Return the goal for a share of the rows: what counts rows shrinks with them."""
        return replace(
            self,
            capacity=None if self.capacity is None else self.capacity * share,
            constraints=tuple(
                replace(one, bound=one.bound * share) if _counts_rows(one.expression) else one
                for one in self.constraints
            ),
        )


def band_goal(
    *,
    maximize: Objective | None,
    minimize: Objective | None,
    subject_to: Constraints,
    capacity: Any,
    reviewer: Any,
    caller: str = "find_band",
) -> BandGoal:
    """Read what the user asked for."""
    room = None if capacity is None else _capacity(capacity, caller)
    good = _reviewer(reviewer, caller)
    covers = isinstance(maximize, str) and maximize.strip().lower() == COVERAGE and minimize is None
    if covers:
        held = constraints(subject_to, caller)
        if not held:
            raise InvalidParameterError(
                "subject_to",
                caller=caller,
                expected="given with the coverage: without a bound no row needs a review",
                got="nothing",
                hint=("for example ", Argument("subject_to", "accuracy >= 0.95"), "."),
            )
        weights = dict.fromkeys(CELLS, Fraction(0)) | dict.fromkeys(_REVIEWED, Fraction(1))
        wanted = BandGoal("maximize", COVERAGE, None, weights, per_row=True, constraints=held,
                          capacity=room, reviewer=good)  # fmt: skip
    else:
        goal = read_goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller=caller)
        weights = _weights(goal.expression, goal.direction, good, caller)
        per_row = isinstance(goal.expression, Metric) and goal.expression.name == "cost_per_row"
        wanted = BandGoal(goal.direction, str(goal.expression), goal.expression, weights, per_row=per_row,
                          constraints=goal.constraints, capacity=room, reviewer=good)  # fmt: skip
    for constraint in wanted.constraints:
        _check(constraint, caller)
    return wanted


_REVIEWED = ("reviewed_positives", "reviewed_negatives")


def _capacity(capacity: Any, caller: str) -> Fraction:
    number_in(
        "capacity",
        capacity,
        0,
        expected="a number of rows, 0 or more",
        hint="it is how many of these rows can be reviewed; for a share of them multiply it by their number.",
        caller=caller,
    )
    return exact_number(capacity, "capacity")


def _reviewer(reviewer: Any, caller: str) -> tuple[Fraction, Fraction]:
    """Return how often reviewers are right on positives and on negatives; always, if nothing is said."""
    if reviewer is None:
        return Fraction(1), Fraction(1)
    pair = tuple(reviewer) if isinstance(reviewer, (list, tuple)) else ()
    if len(pair) != 2 or not all(is_number(share) and 0 <= share <= 1 for share in pair):
        raise InvalidParameterError(
            "reviewer",
            caller=caller,
            expected="a sensitivity and a specificity, both from 0 to 1",
            got=reviewer,
            hint="0.98 and 0.99 are reviewers who are right on 98 % of positives and 99 % of negatives.",
        )
    return exact_number(pair[0], "reviewer"), exact_number(pair[1], "reviewer")


def _weights(
    expression: Expression,
    direction: str,
    reviewer: tuple[Fraction, Fraction],
    caller: str,
) -> dict[str, Fraction]:
    """Return what a row of each kind costs or earns, by a metric of the family of costs."""
    parameters: dict[str, Any] = {}
    if isinstance(expression, Metric) and expression.name in _COSTS:
        parameters = dict(expression.parameters)
    if not parameters or not all(isinstance(value, Fraction) for value in parameters.values()):
        raise InvalidParameterError(
            direction,
            caller=caller,
            expected="a cost or a profit in numbers, or the coverage",
            got=str(expression),
            hint=(
                "for example ",
                Argument("minimize", "cost(fp=5, fn=20, review=1)"),
                ", or ",
                Argument("maximize", COVERAGE),
                " with bounds in ",
                Argument("subject_to"),
                ".",
            ),
        )
    cells = {name: parameters.get(name, Fraction(0)) for name in CELLS}
    review = parameters.get("review", Fraction(0))
    sensitivity, specificity = reviewer
    return {
        **cells,
        "reviewed_positives": review + sensitivity * cells["tp"] + (1 - sensitivity) * cells["fn"],
        "reviewed_negatives": review + specificity * cells["tn"] + (1 - specificity) * cells["fp"],
    }


def check_reviews(wanted: BandGoal) -> None:
    """Raise where nothing keeps people from reviewing every row."""
    if isinstance(wanted.expression, Metric) and wanted.capacity is None:
        name, parameters = wanted.expression.name, dict(wanted.expression.parameters)
        if not parameters.get("review"):
            raise InvalidParameterError(
                "capacity",
                caller="find_band",
                expected="given where a review costs nothing: otherwise every row would be reviewed",
                got="nothing",
                hint=("for example ", Argument("capacity", 200), f", or {name}(..., review=1)."),
            )


# --- bounds


def capacity_bound(capacity: Fraction, summary: Summary) -> PairSum:
    """Return the bound on what is left to review."""
    step = summary.grid.step
    return PairSum.of((-step, -step), (step, step), -capacity)[0]


def _bound(constraint: Constraint, summary: Summary) -> PairSum:
    """Return a bound on a metric of the automatic decisions as a sum that is at most 0."""
    form = _linear(constraint.expression)
    assert form is not None
    (*above, a0), (*under, b0) = form
    sign = -1 if constraint.wants_high else 1
    tp, fp, fn, tn = (sign * (a - constraint.bound * b) for a, b in zip(above, under, strict=True))
    rest = sign * (a0 - constraint.bound * b0)
    step = summary.grid.step
    constant = step * (fn * summary.positives + tn * summary.negatives) + rest
    return PairSum.of((step * tp, step * fp), (-step * fn, -step * tn), constant)[0]


def _linear(expression: Expression) -> tuple[list[Fraction], list[Fraction]] | None:
    """Return a metric as a quotient of linear functions of the four counts; None if it is none.

    The coefficients of tp, fp, fn, tn, and a constant, are read off at five confusions and checked at others.
    """
    if not expression.rational:
        return None

    def sides(*counts: int) -> tuple[Fraction, Fraction]:
        above, under = expression.order_key(**dict(zip(CELLS, counts, strict=True)), step=Fraction(1))
        return Fraction(above), Fraction(under)

    def coefficients(side: Callable[..., Fraction]) -> list[Fraction] | None:
        constant = side(0, 0, 0, 0)
        found = [side(*(int(i == k) for i in range(4))) - constant for k in range(4)]
        for counts in ((1, 1, 1, 1), (2, 3, 5, 7), (13, 0, 11, 4), (0, 9, 6, 1)):
            if sum(a * x for a, x in zip(found, counts, strict=True)) + constant != side(*counts):
                return None
        return [*found, constant]

    try:
        above = coefficients(lambda *counts: sides(*counts)[0])
        under = coefficients(lambda *counts: sides(*counts)[1])
    except (ZeroDivisionError, TypeError):  # pragma: no cover - no metric of the catalogue
        return None
    return None if above is None or under is None or min(under) < 0 else (above, under)


def _counts_rows(expression: Expression) -> bool:
    """Whether a metric grows with the number of rows, as a cost does."""
    form = _linear(expression)
    return form is not None and not any(form[1][:4])


def _check(constraint: Constraint, caller: str) -> None:
    if _linear(constraint.expression) is None:
        raise InvalidParameterError(
            "subject_to",
            caller=caller,
            expected="bounds on shares of the automatic decisions, such as accuracy, precision and npv",
            got=str(constraint),
            hint="the bound must be linear in tp, fp, fn and tn; that of mcc, say, is not.",
        )
    if constraint.strict:
        raise InvalidParameterError(
            "subject_to",
            caller=caller,
            expected="bounds with >= or <=",
            got=str(constraint),
            hint=f"write {constraint.expression} {constraint.relation}= {format_number(constraint.bound)}.",
        )

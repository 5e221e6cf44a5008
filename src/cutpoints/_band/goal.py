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
from cutpoints._wording import Argument, Words
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics.columns import CELLS, Column, RowSum, RowValue
from cutpoints.metrics.expression import Constraint, Expression, exact_number, format_number
from cutpoints.metrics.metric import Metric

if TYPE_CHECKING:
    from cutpoints._kernel.tables import Summary

Capacity = Mapping[Column | None, Fraction]
"""The most that can be reviewed: the sum of a column, or of rows (None)."""

Counts = Mapping[str, Fraction]
"""By name: tp, fp, fn, tn of the automatic decisions, and the reviewed positives and negatives."""
COVERAGE = "coverage"
_COSTS = ("cost", "cost_per_row", "profit")


@dataclass(frozen=True)
class BandGoal:
    """What is best: a sum over rows, by what becomes of them, and what must hold.

    `weights` are what a row of each kind adds to the objective, a number or a value that differs from row to
    row; for the coverage only reviewed rows count.
    """

    direction: Literal["maximize", "minimize"]
    objective: str
    expression: Expression | None
    """The objective for one threshold, which reviews no row; None for the coverage."""
    weights: Mapping[str, RowValue]
    per_row: bool
    constraints: tuple[Constraint, ...]
    capacity: Capacity | None
    reviewer: tuple[Fraction, Fraction]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the data that it adds up."""
        given = {} if self.capacity is None else self.capacity
        expressions = [one.expression for one in self.constraints]
        expressions += [] if self.expression is None else [self.expression]
        found = [column for one in expressions for column in one.columns]
        return tuple(dict.fromkeys([*found, *(column for column in given if column is not None)]))

    def value(self, counts: Counts, amounts: Mapping[Column, Counts]) -> Fraction:
        """Return the objective, exactly; `amounts` are the sums of columns over the same kinds of rows."""
        if self.expression is None:
            return 1 - (counts["reviewed_positives"] + counts["reviewed_negatives"]) / sum(counts.values())
        total = Fraction(0)
        for name, count in counts.items():
            total += self.weights[name].constant * count
            total += sum((w * amounts[column][name] for w, column in self.weights[name].terms), Fraction(0))
        return total / sum(counts.values()) if self.per_row else total

    def objective_sum(self, summary: Summary) -> PairSum:
        """Return the objective as a sum to be minimized, in units of the grid."""
        sign = -1 if self.direction == "maximize" and self.expression is not None else 1
        return pair_sum({name: sign * weight for name, weight in self.weights.items()}, summary)

    def bounds(self, summary: Summary) -> list[PairSum]:
        """Return what must hold as sums that are at most 0."""
        found = [_bound(constraint, summary) for constraint in self.constraints]
        return found + capacity_bounds(self.capacity, summary)

    def scaled(self, share: Fraction) -> BandGoal:
        """Return the goal for a share of the rows: what counts rows shrinks with them."""
        return replace(
            self,
            capacity=None if self.capacity is None else {k: v * share for k, v in self.capacity.items()},
            constraints=tuple(one.for_share(share) for one in self.constraints),
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
                got=Words("nothing"),
                hint=("for example ", Argument("subject_to", "accuracy >= 0.95"), "."),
            )
        weights = dict.fromkeys(CELLS, RowValue()) | dict.fromkeys(_REVIEWED, RowValue(constant=Fraction(1)))
        wanted = BandGoal("maximize", COVERAGE, None, weights, per_row=True, constraints=held,
                          capacity=room, reviewer=good)  # fmt: skip
    else:
        goal = read_goal(
            maximize=maximize, minimize=minimize, subject_to=subject_to, caller=caller, columns=True
        )
        weights = _weights(goal.expression, goal.direction, good, caller)
        per_row = isinstance(goal.expression, Metric | RowSum) and goal.expression.name == "cost_per_row"
        wanted = BandGoal(goal.direction, str(goal.expression), goal.expression, weights, per_row=per_row,
                          constraints=goal.constraints, capacity=room, reviewer=good)  # fmt: skip
    for constraint in wanted.constraints:
        _check(constraint, caller)
    return wanted


_REVIEWED = ("reviewed_positives", "reviewed_negatives")


def _capacity(capacity: Any, caller: str) -> Capacity:
    """Return the most that can be reviewed: rows (None), or the sum of a column by name."""
    given = capacity if isinstance(capacity, Mapping) else {None: capacity}
    for name, number in given.items():
        if name is not None and not isinstance(name, str):
            raise InvalidParameterError(
                "capacity", caller=caller, expected="a number of rows, or names of columns with numbers",
                got=capacity, hint="for example capacity=200, or capacity={'minutes': 2400}.",
            )  # fmt: skip
        number_in(
            "capacity",
            number,
            0,
            expected="a number of rows, 0 or more" if name is None else f"0 or more for {name!r}",
            hint="it is for all of these rows together; for a share of them multiply it by their number.",
            caller=caller,
        )
    return {
        None if name is None else Column(name): exact_number(number, "capacity")
        for name, number in given.items()
    }


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
) -> dict[str, RowValue]:
    """Return what a row of each kind costs or earns, by a metric of the family of costs."""
    worth = _worth(expression)
    if not worth:
        raise InvalidParameterError(
            direction,
            caller=caller,
            expected="a cost or a profit, or the coverage",
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
    cells = {name: worth.get(name, RowValue()) for name in CELLS}
    review = worth.get("review", RowValue())
    sensitivity, specificity = reviewer
    return {
        **cells,
        "reviewed_positives": review + sensitivity * cells["tp"] + (1 - sensitivity) * cells["fn"],
        "reviewed_negatives": review + specificity * cells["tn"] + (1 - specificity) * cells["fp"],
    }


def _worth(expression: Expression | None) -> dict[str, RowValue]:
    """Return what a row of each cell, and a review, costs or earns; nothing if it is no cost or profit."""
    if isinstance(expression, RowSum) and expression.name in _COSTS:
        return {**expression.worth, "review": expression.review}
    if isinstance(expression, Metric) and expression.name in _COSTS:
        return {name: RowValue(constant=number) for name, number in expression.parameters}
    return {}


def check_reviews(wanted: BandGoal) -> None:
    """Raise where nothing keeps people from reviewing every row."""
    if wanted.expression is not None and wanted.capacity is None:
        review = _worth(wanted.expression).get("review", RowValue())
        if not (review.terms or review.constant):
            name = wanted.objective.partition("(")[0]
            raise InvalidParameterError(
                "capacity",
                caller="find_band",
                expected="given where a review costs nothing: otherwise every row would be reviewed",
                got=Words("nothing"),
                hint=("for example ", Argument("capacity", 200), f", or {name}(..., review=1)."),
            )


# --- bounds


def capacity_bounds(capacity: Capacity | None, summary: Summary) -> list[PairSum]:
    """Return the bounds on what is left to review."""
    found = []
    for column, most in (capacity or {}).items():
        each = RowValue(constant=Fraction(1)) if column is None else RowValue(((Fraction(1), column),))
        weights = dict.fromkeys(CELLS, RowValue()) | dict.fromkeys(_REVIEWED, each)
        found.append(pair_sum(weights, summary, -most))
    return found


def pair_sum(weights: Mapping[str, RowValue], summary: Summary, constant: Fraction = Fraction(0)) -> PairSum:
    """Return what rows of each kind add, plus a number, as a sum over what two cuts call positive."""
    upper: list[Fraction] = []
    lower: list[Fraction] = []
    counts = (None, 1, summary.grid, summary.positives, summary.negatives)
    for column, sign, grid, positives, negatives in (counts, *summary.columns):
        step = sign * grid.step
        w = {name: step * _factor(weight, column) for name, weight in weights.items()}
        r1, r0 = w["reviewed_positives"], w["reviewed_negatives"]
        upper += [w["tp"] - r1, w["fp"] - r0]
        lower += [r1 - w["fn"], r0 - w["tn"]]
        constant += w["fn"] * positives + w["tn"] * negatives
    return PairSum.of(upper, lower, constant)[0]


def _factor(weight: RowValue, column: Column | None) -> Fraction:
    """Return what a column is multiplied by; the constant for None."""
    if column is None:
        return weight.constant
    return sum((factor for factor, each in weight.terms if each == column), Fraction(0))


def _bound(constraint: Constraint, summary: Summary) -> PairSum:
    """Return a bound on a metric of the automatic decisions as a sum that is at most 0."""
    plain, own = constraint.plain, constraint.plain.expression
    if isinstance(own, RowSum):
        sign = -1 if plain.wants_high else 1
        worth = {name: sign * weight for name, weight in own.worth.items()}
        return pair_sum(worth | dict.fromkeys(_REVIEWED, RowValue()), summary, -sign * plain.bound)
    form = _linear(constraint.expression)
    assert form is not None
    (*above, a0), (*under, b0) = form
    sign = -1 if constraint.wants_high else 1
    tp, fp, fn, tn = (sign * (a - constraint.bound * b) for a, b in zip(above, under, strict=True))
    rest = sign * (a0 - constraint.bound * b0)
    step = summary.grid.step
    constant = step * (fn * summary.positives + tn * summary.negatives) + rest
    none = [Fraction(0)] * (2 * len(summary.columns))
    return PairSum.of((step * tp, step * fp, *none), (-step * fn, -step * tn, *none), constant)[0]


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


def _check(constraint: Constraint, caller: str) -> None:
    own = constraint.plain.expression
    total = isinstance(own, RowSum) and own.degree == 1
    if not total and (own.columns or _linear(constraint.expression) is None):
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

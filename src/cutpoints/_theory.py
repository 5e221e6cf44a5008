"""The theory of the best threshold: where it lies for probabilities that are calibrated.

For an objective that is a quotient of linear functions of TP and FP, a row improves the optimum iff
its probability reaches a number that follows from the optimal value alone: half of it for f1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cutpoints._format import count, exact, json_number, short, shortest_inside
from cutpoints._goal import Objective, objective
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._result import Interval, Solution
    from cutpoints.metrics.expression import Expression, LinearFractional

_RULES = {"f1": "lambda / 2", "f": "lambda / (1 + beta^2)", "jaccard": "lambda / (1 + lambda)"}
_GENERAL = "(lambda*b2 - a2) / ((a1 - a2) - lambda*(b1 - b2))"

_ROUNDING = Fraction(1, 2**34)
"""Probabilities are rounded to multiples of this."""


@dataclass(frozen=True)
class Theory:
    """Where the threshold must lie for an objective (a0 + a1 TP + a2 FP) / (b0 + b1 TP + b2 FP).

    Attributes
    ----------
    lambda_ : float
        The best value of the objective.
    threshold : float
        The probability from which on a row raises the objective: for f1, lambda / 2.
    rule : str
        How the one follows from the other.
    holds : bool
        Whether it makes the very decisions of the solution. Always so for probabilities and their
        expected counts; with labels, it is so only as far as the probabilities are calibrated.
    objective : str
        What is optimized.
    interval : Interval
        The thresholds that make the decisions of the solution.
    """

    lambda_: float
    threshold: float
    rule: str
    holds: bool
    objective: str
    interval: Interval

    @property
    def text(self) -> str:
        """The threshold in six digits if they make the same decisions, else in all of them."""
        low, high = self.interval
        short_form = count(self.threshold)
        return short_form if low < float(short_form) <= high else exact(self.threshold)

    @property
    def gap(self) -> float:
        """How far the theory's threshold lies above the interval of optimal thresholds; 0 inside."""
        low, high = self.interval
        return 0.0 if self.holds else self.threshold - (high if self.threshold > high else low)

    @property
    def sentence(self) -> str:
        """Theory and solution side by side, in a sentence or two."""
        low, high = self.interval
        there = f"calibrated probabilities would have it at {short(self.threshold)} ({self.rule})"
        if self.holds:
            found = self.interval.shortest
            return f"The best threshold for {self.objective} is {found}, and {there}: they agree."
        # Close to the score that the gap is measured from, so that the numbers of the sentence add up.
        found = shortest_inside(max(low, high - abs(self.gap) / 100), high)
        below = self.gap < 0
        # From below the gap ends where the interval begins, which is not where the threshold is.
        start = short(low)
        alike = f" (or any other above {start})" if below and float(start) < float(found) else ""
        return (
            f"The best threshold for {self.objective} is {found}{alike}, while {there}: "
            f"a gap of {short(abs(self.gap))}. If it is not chance, probabilities near the threshold are "
            f"{'too high' if below else 'too low'} by about that much."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "objective": self.objective,
            "lambda": json_number(self.lambda_),
            "threshold": json_number(self.threshold),
            "rule": self.rule,
            "holds": self.holds,
            "gap": json_number(self.gap),
            "sentence": self.sentence,
        }


def theory_of(solution: Solution, expression: Expression) -> Theory | None:
    """Return where calibrated probabilities would have the threshold of a solution for an objective.

    None if there is no threshold, and where the objective is no quotient of linear functions.
    """
    if solution.confusion is None or solution.interval is None:
        return None
    counts = solution.confusion.fractions()
    positives, negatives = counts["tp"] + counts["fn"], counts["fp"] + counts["tn"]
    form = expression.linear_fractional(positives, negatives)
    value = expression.fraction(**counts)
    if form is None or value is None:
        return None
    threshold = probability_threshold(form, value, maximize=solution.direction == "maximize")
    if threshold is None:
        return None
    name = getattr(expression, "name", "")
    rule = _RULES.get(name, repr(float(threshold)) if form.is_linear else _GENERAL)
    holds = _within(threshold, solution.interval)
    return Theory(float(value), float(threshold), rule, holds, solution.objective, solution.interval)


def probability_threshold(
    form: LinearFractional,
    value: Fraction,
    *,
    maximize: bool = True,
) -> Fraction | None:
    """Return the probability from which on a row improves an objective that has this value.

    A row of probability p adds a1 p + a2 (1 - p) to the numerator and b1 p + b2 (1 - p) to the
    denominator, and improves the quotient iff the first is at least `value` times the second.
    None if all rows do or none does, or if those of low probability do.
    """
    (_, a1, a2), (b0, b1, b2) = form
    slope = (a1 - a2) - value * (b1 - b2)
    positive_below = b0 > 0 or (b0 == 0 and (b1 > 0 or b2 > 0))
    if slope == 0 or (slope > 0) != (maximize == positive_below):
        return None
    return (value * b2 - a2) / slope


def bayes_threshold(
    cost: Objective | None = None, /, *, tp: float = 0, fp: float = 0, fn: float = 0, tn: float = 0
) -> float:
    """Return the probability from which on it pays to call a row positive.

    The threshold for calibrated probabilities: (fp - tn) / ((fp - tn) + (fn - tp)). It needs no data.

    Parameters
    ----------
    cost : metric or str, default=None
        A metric whose value is a sum over rows: ``m.cost(fp=2, fn=1)``, ``"profit(tp=10, fp=-1)"``,
        ``"accuracy"``, ``"net_benefit(at=0.2)"``; or else the four costs by name:
    tp, fp, fn, tn : float, default=0
        What a hit, a false alarm, a miss and leaving a negative alone cost. A gain is negative.

    Raises
    ------
    InvalidParameterError
        If one decision is never worse than the other, whatever the probability.

    Examples
    --------
    >>> import cutpoints as cp
    >>> cp.bayes_threshold(fp=1, fn=4)
    0.2
    >>> cp.bayes_threshold("net_benefit(at=0.2)")
    0.2
    """
    from cutpoints.metrics import cost as cost_metric

    if cost is None:
        cost = cost_metric(tp=tp, fp=fp, fn=fn, tn=tn)
    elif (tp, fp, fn, tn) != (0, 0, 0, 0):
        raise InvalidParameterError(
            "cost",
            got=cost,
            expected="left out when the costs are given by name, or else given alone",
            caller="bayes_threshold",
        )
    expression = objective(cost, "cost", "bayes_threshold")
    one, direction = Fraction(1), getattr(expression, "direction", "neither")
    if direction == "neither" or not is_expectation(expression, one, one):
        raise InvalidParameterError(
            "cost",
            got=str(expression),
            expected="a sum of costs or gains over rows",
            caller="bayes_threshold",
            hint="for f1 and other quotients the threshold depends on the data: use find_expected.",
        )
    form = expression.linear_fractional(one, one)
    assert form is not None
    sign = 1 if direction == "lower" else -1
    _, hit, alarm = (sign * a / form.denominator[0] for a in form.numerator)
    gain_if_positive, loss_if_negative = -hit, alarm  # of calling it positive
    if gain_if_positive > 0 and loss_if_negative > 0:
        return float(loss_if_negative / (gain_if_positive + loss_if_negative))
    what = {
        (True, False): "calling everybody positive is never worse",
        (False, True): "calling nobody positive is never worse",
        (False, False): "hits cost at least as much as misses and false alarms at most as much as "
        "leaving alone, so the decisions would be reversed",
    }[gain_if_positive > 0, loss_if_negative > 0]
    raise InvalidParameterError(
        "cost",
        got=f"{expression}, under which {what}",
        expected="such that a miss costs more than a hit (fn > tp) and a false alarm more than leaving "
        "alone (fp > tn)",
        caller="bayes_threshold",
        hint="check the signs, and which of fp and fn is which: fp is a false alarm, fn a miss.",
    )


def is_expectation(expression: Expression, positives: Fraction, negatives: Fraction) -> bool:
    """Whether the value at the expected counts is the expected value: linear in all four counts."""
    forms = [expression.linear_fractional(positives + step, negatives - step) for step in (0, 1, 2)]
    if any(form is None or not form.is_linear or form.denominator[0] == 0 for form in forms):
        return False
    bottoms = {form.denominator[0] for form in forms if form is not None}
    tops = [form.numerator for form in forms if form is not None]
    slopes = {top[1:] for top in tops}
    return len(bottoms) == len(slopes) == 1 and tops[2][0] - tops[1][0] == tops[1][0] - tops[0][0]


def _within(threshold: Fraction, interval: Interval) -> bool:
    """Whether a threshold makes the decisions of the interval, up to the rounding of probabilities."""
    above = math.isinf(interval.low) or threshold >= Fraction(interval.low) - _ROUNDING
    return above and (math.isinf(interval.high) or threshold <= Fraction(interval.high) + _ROUNDING)

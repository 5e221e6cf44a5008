"""Formulas for the page: the whole catalogue is either right or not offered."""

import math

import pytest

from cutpoints import metrics as m
from cutpoints._report.formula import NAMED, formula
from cutpoints.metrics.registry import EXAMPLES

CONFUSIONS = ((40, 10, 5, 200), (1, 0, 3, 9), (7, 7, 0, 0), (0, 4, 4, 100), (12.5, 3.25, 0.5, 80.0))


def evaluated(form, counts):
    """Return the value of a formula, as the page computes it."""
    total = form["constant"]
    for term in form["terms"]:
        above, under = (
            side[0] + sum(k * x for k, x in zip(side[1:], counts, strict=True))
            for side in (term["numerator"], term["denominator"])
        )
        total += term["weight"] * (
            above / under if under else math.nan if not above else math.copysign(math.inf, above)
        )
    return total


@pytest.mark.parametrize("metric", EXAMPLES, ids=str)
def test_formulas_are_the_metrics(metric):
    """A formula has the value of its metric at every confusion, undefined where it is undefined."""
    form = formula(metric)
    if form is None or str(metric) in NAMED:
        return
    for counts in CONFUSIONS:
        wanted = metric(**dict(zip(("tp", "fp", "fn", "tn"), counts, strict=True)))
        assert wanted == pytest.approx(evaluated(form, counts), rel=1e-12, nan_ok=True)


def test_common_goals_have_a_formula():
    """The goals that people use can be computed by the page at any share of positives."""
    goals = [m.precision, m.recall, m.f1, m.accuracy, m.mcc, m.youden_j, m.balanced_accuracy, m.f(beta=2)]
    for goal in (*goals, m.cost(fp=1, fn=7.5), m.profit(tp=3), 0.7 * m.accuracy + 0.3 * m.recall):
        assert formula(goal) is not None, goal
    weighted = formula(2 * m.f1 - 1)
    assert (-1.0, 2.0) == (weighted["constant"], weighted["terms"][0]["weight"])

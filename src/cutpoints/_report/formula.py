"""Formulas that the page can evaluate: how goals and constraints move with the share of positives.

Most metrics are a ratio of two sums of the four counts. Their coefficients are read off by evaluating
numerator and denominator at unit confusions, so that no formula is written twice.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cutpoints.metrics.expression import WeightedSum
from cutpoints.metrics.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from cutpoints.metrics.expression import Expression

NAMED = ("balanced_accuracy", "mcc", "youden_j")
"""Not such ratios; the page knows them by name."""
_UNITS = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
_PROBES = ((2, 3, 5, 7), (11, 4, 9, 6), (1, 8, 2, 30))
"""Confusions at which a sum of the counts is told from any other polynomial."""


def formula(expression: Expression) -> dict[str, Any] | None:
    """Return a weighted sum of ratios and named metrics; None if the page cannot evaluate it.

    Examples
    --------
    >>> from cutpoints import metrics as m
    >>> formula(m.precision)["terms"]
    [{'weight': 1.0, 'name': 'precision', 'numerator': [0, 1, 0, 0, 0], 'denominator': [0, 1, 1, 0, 0]}]
    >>> formula(m.mcc)["terms"], formula(m.information_gain)
    ([{'weight': 1.0, 'name': 'mcc', 'numerator': None, 'denominator': None}], None)
    """
    if isinstance(expression, WeightedSum):
        parts, constant = expression.terms, expression.constant
    else:
        parts, constant = ((Fraction(1), expression),), Fraction(0)
    terms = []
    for weight, part in parts:
        sides = _sides(part)
        if sides is None and str(part) not in NAMED:
            return None
        above, under = sides or (None, None)
        terms.append({"weight": float(weight), "name": str(part), "numerator": above, "denominator": under})
    return {"constant": float(constant), "terms": terms}


def _sides(part: Expression) -> tuple[list[int], list[int]] | None:
    if not isinstance(part, Metric) or part.numerator is None or part.denominator is None or part.root:
        return None
    above, under = _coefficients(part.numerator), _coefficients(part.denominator)
    return None if above is None or under is None else (above, under)


def _coefficients(side: Callable[..., Any]) -> list[int] | None:
    """Return constant and coefficients of tp, fp, fn, tn; None if it is no such sum."""
    constant = side(0, 0, 0, 0)
    found = [constant, *(side(*unit) - constant for unit in _UNITS)]
    for counts in _PROBES:
        if side(*counts) != constant + sum(c * x for c, x in zip(found[1:], counts, strict=True)):
            return None
    return [int(x) for x in found]

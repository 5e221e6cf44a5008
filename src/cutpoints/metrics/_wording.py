"""Wording and small helpers that entries of the catalogue share.

Notation in the formulas: P = tp + fn, N = fp + tn, n = P + N, PP = tp + fp (called positive),
PN = fn + tn. Formulas that the literature often misprints carry a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics.expression import Monotonicity, exact_number, is_number

if TYPE_CHECKING:
    from fractions import Fraction

GOOD = Monotonicity(1, -1)
"""Never falls with TP, never rises with FP: the shape of nearly every metric worth maximizing."""
BAD = Monotonicity(-1, 1)

ALWAYS = "yes: never falls with TP, never rises with FP (P and N fixed), at every confusion"
REVERSED = "yes, reversed: never rises with TP, never falls with FP (P and N fixed)"
NO_ROWS = "NaN without any rows: a share of nothing"
NO_POSITIVES = "NaN without positives (P = 0): there is nothing to find"
NO_NEGATIVES = "NaN without negatives (N = 0): there is nothing to spare"
NO_CALLS = (
    "NaN if no row is called positive (PP = 0): no decision was taken that could be right, "
    "and a value of 1 would make 'no positives' the best rule"
)
ALL_CALLED = "NaN if all rows are called positive (PN = 0)"
ONE_CLASS = "NaN with one class only (P = 0 or N = 0)"
POWERS = "Powers, D. M. W. (2011). Evaluation: from precision, recall and F-measure to ROC. JMLT 2(1), 37-63."
FAWCETT = "Fawcett, T. (2006). An introduction to ROC analysis. doi:10.1016/j.patrec.2005.10.010"


def total_weight(positives: float, negatives: float) -> float:
    return positives + negatives


def shares(positives: float, negatives: float) -> float:
    """Magnitude of a formula that takes one share from another."""
    return 1.0


def positive_number(parameter: str, caller: str, value: object) -> Fraction:
    number = finite_number(parameter, caller, value)
    if number <= 0:
        raise InvalidParameterError(
            f"{caller}({parameter})", caller=caller, expected="a number > 0", got=float(number)
        )
    return number


def finite_number(parameter: str, caller: str, value: object) -> Fraction:
    if not is_number(value):
        raise InvalidParameterError(
            f"{caller}({parameter})", caller=caller, expected="a finite number", got=value
        )
    return exact_number(value, parameter, caller)

"""The few operations that a metric's formula needs, on three kinds of numbers.

A formula is written once and evaluated up to three times: on float64 arrays, fast, for every cut; on
`Change`, from one cut to others that are close to it; and on `fractions.Fraction`, exactly, for the
handful of cuts that neither can tell apart. Roots of fractions are exact, see `Root`; logarithms are
fractions that are correct to `LOG_DIGITS` decimal digits.

Undefined (0/0) is NaN and a positive number over zero is infinite, for floats and fractions.
"""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from cutpoints.metrics._change import Change
from cutpoints.metrics._root import Root, exact_root, wanted_digits

LOG_DIGITS = 100
"""Digits of a logarithm."""

_EXACT = (Fraction, int, Root)


def is_exact(*numbers: object) -> bool:
    """Return whether the numbers are scalars of the exact world (or its NaN and infinities)."""
    found = False
    for x in numbers:
        if isinstance(x, _EXACT):
            found = True
        elif type(x) is not float:
            return False
    return found


def ratio(numerator: Any, denominator: Any) -> Any:
    """Divide; 0/0 is NaN, x/0 is infinite with the sign of x, and a number over infinity is 0, exactly."""
    kind = type(numerator)
    if kind is type(denominator) and kind in (int, Fraction) and denominator != 0:
        return Fraction(numerator, denominator)
    if kind is Change or type(denominator) is Change:
        return numerator / denominator
    if isinstance(numerator, np.ndarray) or not is_exact(numerator, denominator):
        return np.divide(numerator, denominator)
    if denominator != 0:
        if isinstance(denominator, float) and math.isinf(denominator) and not isinstance(numerator, float):
            return Fraction(0)
        if isinstance(numerator, float) or isinstance(denominator, float):
            return float(numerator) / float(denominator)
        return (Fraction(numerator) if isinstance(numerator, int) else numerator) / denominator
    if numerator == 0 or numerator != numerator:
        return math.nan
    return math.inf if numerator > 0 else -math.inf


def root(x: Any) -> Any:
    """Square root."""
    if isinstance(x, Change):
        return x.root()
    if not is_exact(x):
        return np.sqrt(x)
    return exact_root(x)


def root_of_product(a: Any, b: Any) -> Any:
    """Square root of a product, which may be too large for a float where the root is not."""
    return exact_root(a * b) if is_exact(a, b) else root(a) * root(b)


def entropy_term(x: Any, reference: Any) -> Any:
    """Return ``x * log2(x / reference)``, which is 0 at ``x = 0``, of floats or changes."""
    if isinstance(x, Change):
        return x.entropy_term(reference)
    x, reference = np.asarray(x), np.asarray(reference)
    safe = np.where(x > 0, x, 1.0)
    logarithm = np.log2(safe / np.where(reference > 0, reference, 1.0))
    return np.where(x == 0, 0.0, x * logarithm)


def exact_information(tp: Any, fp: Any, fn: Any, tn: Any) -> Fraction:
    """Return the mutual information of a confusion that is not empty, in bits: of whole numbers or fractions.

    That is the sum of ``mass * log2(mass * n / (row * column))`` over n, for each of the four.
    """
    grain = math.lcm(*(mass.denominator for mass in (tp, fp, fn, tn)))
    tp, fp, fn, tn = (mass.numerator * (grain // mass.denominator) for mass in (tp, fp, fn, tn))
    called, left, positives, negatives = tp + fp, fn + tn, tp + fn, fp + tn
    n = called + left
    context = decimal.Context(prec=wanted_digits(LOG_DIGITS) + 20)
    total = decimal.Decimal(0)
    for mass, sides in (
        (tp, called * positives),
        (fp, called * negatives),
        (fn, left * positives),
        (tn, left * negatives),
    ):
        if mass:
            excess = context.subtract(_ln(mass * n, context.prec), _ln(sides, context.prec))
            total = context.fma(mass, excess, total)
    return Fraction(context.divide(total, context.multiply(n, _ln(2, context.prec))))


@lru_cache(64)
def _ln(x: int, precision: int) -> decimal.Decimal:
    """Return the natural logarithm; some, like that of 2, are asked for again and again."""
    return decimal.Context(prec=precision).ln(decimal.Decimal(x))


def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two; NaN if either is."""
    if isinstance(a, Change):
        return a.smaller(b)
    if not is_exact(a, b):
        return np.minimum(a, b)
    if isinstance(a, float) and math.isnan(a):
        return a
    return b if b != b else min(a, b)


def as_fraction(x: Any) -> Fraction:
    """Read a number as the decimal that people wrote: 0.1 is 1/10, not the nearest double.

    >>> as_fraction(0.95)
    Fraction(19, 20)
    """
    if isinstance(x, Fraction):
        return x
    if isinstance(x, (int, np.integer)):
        return Fraction(int(x))
    return Fraction(repr(float(x)))

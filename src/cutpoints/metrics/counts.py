"""How many are called positive, and how much decision and truth have to do with each other."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from cutpoints.metrics._arithmetic import entropy_term, exact_information, is_exact, ratio, root
from cutpoints.metrics._wording import (
    ALWAYS,
    BAD,
    FAWCETT,
    GOOD,
    NO_ROWS,
    ONE_CLASS,
    REVERSED,
    shares,
    total_mass,
)
from cutpoints.metrics.expression import Array, Box, Trend
from cutpoints.metrics.metric import About, Metric
from cutpoints.metrics.rates import precision

prevalence = Metric(
    name="prevalence",
    direction="neither",
    trend_=Trend(0, 0),
    numerator=lambda tp, fp, fn, tn: tp + fn,
    denominator=lambda tp, fp, fn, tn: tp + fp + fn + tn,
    about=About(
        title="Prevalence",
        summary="The share of positives in the data; the same at every threshold.",
        formula="P / n",
        range="[0, 1]",
        undefined=NO_ROWS,
        monotone="constant",
        aliases=("base_rate",),
        reference=FAWCETT,
    ),
)

predicted_positive = Metric(
    name="predicted_positive",
    direction="neither",
    trend_=Trend(1, 1),
    numerator=lambda tp, fp, fn, tn: tp + fp,
    denominator=lambda tp, fp, fn, tn: tp * 0 + 1,
    about=About(
        title="Called positive (count)",
        summary="How many rows (or how much weight) are called positive: for budgets such as "
        "predicted_positive <= 500.",
        formula="PP = tp + fp",
        range="[0, n]",
        undefined="never",
        monotone="rises with TP and with FP, so it moves one way with the threshold",
        aliases=("pp", "alarms"),
        reference=FAWCETT,
    ),
)

predicted_positive_rate = Metric(
    name="predicted_positive_rate",
    direction="neither",
    trend_=Trend(1, 1),
    numerator=lambda tp, fp, fn, tn: tp + fp,
    denominator=lambda tp, fp, fn, tn: tp + fp + fn + tn,
    about=About(
        title="Called positive (share)",
        summary="The share of rows called positive.",
        formula="PP / n",
        range="[0, 1]",
        undefined=NO_ROWS,
        monotone="rises with TP and with FP, so it moves one way with the threshold",
        aliases=("ppr", "alarm_rate", "selection_rate"),
        reference=FAWCETT,
    ),
)

lift = Metric(
    name="lift",
    direction="higher",
    trend_=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * (tp + fn + fp + tn),
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (tp + fn),
    ordered_by=precision,
    about=About(
        title="Lift",
        summary="Precision over prevalence: how much better than picking at random.",
        formula="(tp/PP) / (P/n)",
        range="[0, n/P], larger is better, 1 is chance",
        undefined="NaN where nobody is called positive, or without positives",
        monotone=ALWAYS,
        aliases=(),
        reference="Provost, F., Fawcett, T. (2013). Data Science for Business. O'Reilly.",
    ),
)

# --- dependence and distance


def _information_gain(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    n = tp + fp + fn + tn
    if is_exact(n):
        return exact_information(tp, fp, fn, tn) if n else np.nan
    positive, called = ratio(tp + fn, n), ratio(tp + fp, n)
    negative, left = ratio(fp + tn, n), ratio(fn + tn, n)
    return (
        entropy_term(ratio(tp, n), positive * called)
        + entropy_term(ratio(fp, n), negative * called)
        + entropy_term(ratio(fn, n), positive * left)
        + entropy_term(ratio(tn, n), negative * left)
    )


def _gain_from_chance(away: Any, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    # As a sum of terms that are not negative: expected mass times (1 + d) ln(1 + d) - d, where d is by what
    # part the mass is more than expected.
    n = tp + fp + fn + tn
    sides = (tp + fp, tp + fn), (tp + fp, fp + tn), (fn + tn, tp + fn), (fn + tn, fp + tn)
    total: Any = 0.0
    for (called, truly), sign in zip(sides, (1, -1, -1, 1), strict=True):
        term = called / n * (truly / n) * _surplus(sign * (away / called / truly))
        total = total + np.where((called > 0) & (truly > 0), term, 0.0)
    return total / np.log(2)


def _surplus(d: Array) -> Array:
    """Return ``(1 + d) ln(1 + d) - d`` without cancelling; 1 at -1."""
    series = np.zeros_like(d)
    size = np.abs(d)
    terms = _FEW_TERMS if not (size >= _TINY).any() else _MANY_TERMS
    for k in range(terms, 1, -1):
        series = (1 / (k * (k - 1))) - d * series
    near = d * d * series
    if terms == _FEW_TERMS:
        return near
    return np.where(size < _SMALL, near, np.where(d <= -1, 1.0, (1 + d) * np.log1p(d) - d))


_TINY, _FEW_TERMS = 1e-3, 7
_SMALL, _MANY_TERMS = 0.1, 18
"""So many terms of the series are exact to the last bit for what is smaller."""


def _chi_square(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return _chi_square_of(tp * tn - fp * fn, tp, fp, fn, tn)


def _chi_square_of(away: Any, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return ratio(away, (tp + fp) * (fn + tn)) * ratio(away, (tp + fn) * (fp + tn)) * (tp + fp + fn + tn)


def _dependence_bounds(metric: Metric, box: Box) -> tuple[Array, Array]:
    """Above the chance diagonal the metric has the trend GOOD, below it BAD: take both corners."""
    above = metric.evaluate(**box.corner(tp=1, fp=-1))
    below = metric.evaluate(**box.corner(tp=-1, fp=1))
    # A NaN corner bounds nothing, so it must survive: np.maximum keeps it.
    return np.zeros_like(above), np.maximum(above, below)


_ABOVE_CHANCE = (
    "only above the chance diagonal (tp/P >= fp/N), reversed below it; the search bounds it by both corners"
)

information_gain = Metric(
    name="information_gain",
    direction="higher",
    trend_=None,
    at_chance=Fraction(0),
    from_chance=_gain_from_chance,
    formula=_information_gain,
    rational=False,
    cancels=True,
    box_bounds=_dependence_bounds,
    magnitude_=shares,
    about=About(
        title="Information gain",
        summary="Mutual information of decision and truth, in bits: what a decision-tree split "
        "at this threshold gains.",
        formula="sum over the four cells of p log2(p / (row share * column share))",
        range="[0, 1] bits, larger is better",
        undefined=NO_ROWS + "; 0 log 0 = 0",
        monotone=_ABOVE_CHANCE,
        aliases=("mutual_information", "mi"),
        reference="Quinlan, J. R. (1986). Induction of decision trees. doi:10.1007/BF00116251",
    ),
)

chi_square = Metric(
    name="chi_square",
    direction="higher",
    trend_=None,
    at_chance=Fraction(0),
    from_chance=_chi_square_of,
    formula=_chi_square,
    box_bounds=_dependence_bounds,
    magnitude_=total_mass,
    about=About(
        title="Chi-square",
        summary="Pearson's statistic of independence for the 2x2 table: n * MCC^2. At the best "
        "threshold it does not follow a chi-square law, so do not read a p-value off it.",
        formula="n (tp*tn - fp*fn)^2 / (PP * PN * P * N)",
        range="[0, n], larger is better",
        undefined="NaN where nobody or everybody is called positive, or with one class only",
        monotone=_ABOVE_CHANCE,
        aliases=("chi2", "chi_squared"),
        reference="Miller, R., Siegmund, D. (1982). Maximally selected chi square statistics. "
        "doi:10.2307/2529881",
    ),
)


def _corner_distance(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    missed, raised = ratio(fn, tp + fn), ratio(fp, fp + tn)
    square = missed * missed + raised * raised
    return square if type(square) is float else root(square)  # the NaN of the exact world


corner_distance = Metric(
    name="corner_distance",
    direction="lower",
    trend_=BAD,
    formula=_corner_distance,
    rational=False,
    single_root=True,
    about=About(
        title="Distance to the corner (0, 1)",
        summary="How far the point lies from the perfect corner of ROC space.",
        formula="sqrt((fn/P)^2 + (fp/N)^2)",
        range="[0, sqrt(2)], 0 is best",
        undefined=ONE_CLASS,
        monotone=REVERSED,
        aliases=("roc01", "distance_to_corner"),
        reference="Perkins, N. J., Schisterman, E. F. (2006). doi:10.1093/aje/kwj063",
    ),
)


def _gap(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    difference = ratio(tp, tp + fn) - ratio(tn, fp + tn)
    return abs(difference)


def _gap_bounds(metric: Metric, box: Box) -> tuple[Array, Array]:
    """Recall - specificity rises with TP and with FP: its range over the box is an interval."""
    low = ratio(box.tp_low, box.positives) - 1 + ratio(box.fp_low, box.negatives)
    high = ratio(box.tp_high, box.positives) - 1 + ratio(box.fp_high, box.negatives)
    least = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return least, np.maximum(np.abs(low), np.abs(high))


sensitivity_specificity_gap = Metric(
    name="sensitivity_specificity_gap",
    direction="lower",
    trend_=None,
    formula=_gap,
    box_bounds=_gap_bounds,
    magnitude_=shares,
    about=About(
        title="Gap between sensitivity and specificity",
        summary="Zero where both classes are served equally well.",
        formula="|tp/P - tn/N|",
        range="[0, 1], 0 is best",
        undefined=ONE_CLASS,
        monotone="no; recall - specificity moves one way with the threshold, and the search uses that",
        aliases=("sensitivity_specificity_difference",),
        reference="Hajian-Tilaki, K. (2018). The choice of methods in determining the optimal cut-off value. "
        "doi:10.1177/0962280216680383",
    ),
)

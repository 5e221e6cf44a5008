"""How many are called positive, and how much decision and truth have to do with each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutpoints.metrics._wording import (
    ALWAYS,
    BAD,
    FAWCETT,
    GOOD,
    NO_ROWS,
    ONE_CLASS,
    REVERSED,
    shares,
    total_weight,
)
from cutpoints.metrics.expression import Bounds, Box, Monotonicity
from cutpoints.metrics.metric import Metric, MetricDoc

prevalence = Metric(
    name="prevalence",
    direction="neither",
    monotonicity=Monotonicity(0, 0),
    numerator=lambda tp, fp, fn, tn: tp + fn,
    denominator=lambda tp, fp, fn, tn: tp + fp + fn + tn,
    doc=MetricDoc(
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
    monotonicity=Monotonicity(1, 1),
    numerator=lambda tp, fp, fn, tn: tp + fp,
    denominator=lambda tp, fp, fn, tn: tp * 0 + 1,
    degree=1,
    doc=MetricDoc(
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
    monotonicity=Monotonicity(1, 1),
    numerator=lambda tp, fp, fn, tn: tp + fp,
    denominator=lambda tp, fp, fn, tn: tp + fp + fn + tn,
    doc=MetricDoc(
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
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * (tp + fn + fp + tn),
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (tp + fn),
    doc=MetricDoc(
        title="Lift",
        summary="Precision over prevalence: how much better than picking at random.",
        formula="(tp/PP) / (P/n)",
        range="[0, n/P], larger is better, 1 is chance",
        undefined="NaN if no row is called positive, or without positives",
        monotone=ALWAYS,
        aliases=(),
        reference="Provost, F., Fawcett, T. (2013). Data Science for Business. O'Reilly.",
    ),
)

# --- dependence and distance


def _information_gain(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    n = tp + fp + fn + tn
    cells = (tp, tp + fp, tp + fn), (fp, tp + fp, fp + tn), (fn, fn + tn, tp + fn), (tn, fn + tn, fp + tn)
    total = np.where(n > 0, 0.0, np.nan)
    for cell, row, column in cells:
        ratio = np.divide(cell, row) * np.divide(n, column)
        total = total + np.where(cell > 0, np.divide(cell, n) * np.log2(np.where(cell > 0, ratio, 1.0)), 0.0)
    return np.maximum(total, 0.0)  # at chance, rounding leaves a trace of either sign


def _chi_square(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    away = tp * tn - fp * fn
    return away * away * (tp + fp + fn + tn)


def _dependence_bounds(metric: Metric, box: Box) -> Bounds:
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
    monotonicity=None,
    formula=_information_gain,
    box_bounds=_dependence_bounds,
    magnitude_=shares,
    doc=MetricDoc(
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
    monotonicity=None,
    numerator=_chi_square,
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (fn + tn) * ((tp + fn) * (fp + tn)),
    linear=False,
    degree=1,
    box_bounds=_dependence_bounds,
    magnitude_=total_weight,
    doc=MetricDoc(
        title="Chi-square",
        summary="Pearson's statistic of independence for the 2x2 table: n * MCC^2. At the best "
        "threshold it does not follow a chi-square law, so do not read a p-value off it.",
        formula="n (tp*tn - fp*fn)^2 / (PP * PN * P * N)",
        range="[0, n], larger is better",
        undefined="NaN if no row or all rows are called positive, or with one class only",
        monotone=_ABOVE_CHANCE,
        aliases=("chi2", "chi_squared"),
        reference="Miller, R., Siegmund, D. (1982). Maximally selected chi square statistics. "
        "doi:10.2307/2529881",
    ),
)


def _corner_squared(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    missed, raised = fn * (fp + tn), fp * (tp + fn)
    return missed * missed + raised * raised


def _classes_squared(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    both = (tp + fn) * (fp + tn)
    return both * both


corner_distance = Metric(
    name="corner_distance",
    direction="lower",
    monotonicity=BAD,
    numerator=_corner_squared,
    denominator=_classes_squared,
    root=True,
    doc=MetricDoc(
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


def _gap_bounds(metric: Metric, box: Box) -> Bounds:
    """Recall - specificity rises with TP and with FP: its range over the box is an interval."""
    low = np.divide(box.tp_low, box.positives) - 1 + np.divide(box.fp_low, box.negatives)
    high = np.divide(box.tp_high, box.positives) - 1 + np.divide(box.fp_high, box.negatives)
    least = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return least, np.maximum(np.abs(low), np.abs(high))


sensitivity_specificity_gap = Metric(
    name="sensitivity_specificity_gap",
    direction="lower",
    monotonicity=None,
    numerator=lambda tp, fp, fn, tn: abs(tp * (fp + tn) - tn * (tp + fn)),
    denominator=lambda tp, fp, fn, tn: (tp + fn) * (fp + tn),
    linear=False,
    box_bounds=_gap_bounds,
    magnitude_=shares,
    doc=MetricDoc(
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

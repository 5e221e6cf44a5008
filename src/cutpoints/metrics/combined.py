"""Precision against recall, and one class against the other, in one number."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutpoints.metrics._wording import (
    ALWAYS,
    BAD,
    GOOD,
    ONE_CLASS,
    POWERS,
    REVERSED,
    positive_number,
    shares,
)
from cutpoints.metrics.metric import Metric, MetricDoc

f1 = Metric(
    name="f1",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: 2 * tp,
    denominator=lambda tp, fp, fn, tn: 2 * tp + fp + fn,
    doc=MetricDoc(
        title="F1",
        summary="The harmonic mean of precision and recall. For calibrated probabilities the best "
        "threshold is half the best F1.",
        formula="2 tp / (2 tp + fp + fn)",
        range="[0, 1], 1 is best",
        undefined="NaN if there are no positives and no row is called positive; 0 wherever tp = 0 otherwise",
        monotone=ALWAYS,
        aliases=("f1_score", "dice", "sorensen_dice"),
        reference="Lipton, Z. C., Elkan, C., Naryanaswamy, B. (2014). Optimal thresholding of "
        "classifiers to maximize F1 measure. doi:10.1007/978-3-662-44851-9_15",
    ),
)


def f(*, beta: float) -> Metric:
    """F-beta: the weighted harmonic mean of precision and recall."""
    b = positive_number("beta", "f", beta)
    above, under = (b * b).as_integer_ratio()

    def numerator(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return (above + under) * tp

    def denominator(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return (above + under) * tp + under * fp + above * fn

    return Metric(
        name="f",
        direction="higher",
        monotonicity=GOOD,
        numerator=numerator,
        denominator=denominator,
        parameters=(("beta", b),),
        doc=MetricDoc(
            title="F-beta",
            summary="The weighted harmonic mean of precision and recall: recall counts beta times as much.",
            formula="(1 + beta^2) tp / ((1 + beta^2) tp + fp + beta^2 fn)",
            range="[0, 1], 1 is best",
            undefined="as for f1",
            monotone=ALWAYS,
            parameters={"beta": "how many times more recall matters than precision; a number > 0"},
            aliases=("f_beta", "fbeta"),
            reference="van Rijsbergen, C. J. (1979). Information Retrieval, 2nd ed., chapter 7.",
        ),
    )


fowlkes_mallows = Metric(
    name="fowlkes_mallows",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * tp,
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (tp + fn),
    root=True,
    doc=MetricDoc(
        title="Fowlkes-Mallows index",
        summary="The geometric mean of precision and recall, also called the G-measure.",
        formula="tp / sqrt(PP * P)",
        range="[0, 1], 1 is best",
        undefined="NaN if no row is called positive, or without positives",
        monotone=ALWAYS,
        aliases=("fm", "g_measure"),
        reference="Fowlkes, E. B., Mallows, C. L. (1983). doi:10.1080/01621459.1983.10478008",
    ),
)

precision_recall_mean = Metric(
    name="precision_recall_mean",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * (2 * tp + fp + fn),
    denominator=lambda tp, fp, fn, tn: 2 * (tp + fp) * (tp + fn),
    linear=False,
    doc=MetricDoc(
        title="Arithmetic mean of precision and recall",
        summary="Easily fooled: precision 0.1 with recall 1 scores as well as 0.55 with 0.55.",
        formula="(tp/PP + tp/P) / 2",
        range="[0, 1], 1 is best",
        undefined="NaN if no row is called positive, or without positives",
        monotone=ALWAYS,
        aliases=("arithmetic_mean_precision_recall",),
        reference=POWERS,
    ),
)

precision_recall_min = Metric(
    name="precision_recall_min",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * np.minimum(tp + fp, tp + fn),
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (tp + fn),
    linear=False,
    doc=MetricDoc(
        title="Minimum of precision and recall",
        summary="The weaker of the two; its optimum lies near the break-even point PP = P.",
        formula="min(tp/PP, tp/P)",
        range="[0, 1], 1 is best",
        undefined="NaN if no row is called positive, or without positives",
        monotone=ALWAYS,
        aliases=("min_precision_recall",),
        reference=POWERS,
    ),
)

jaccard = Metric(
    name="jaccard",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp,
    denominator=lambda tp, fp, fn, tn: tp + fp + fn,
    doc=MetricDoc(
        title="Jaccard index",
        summary="Hits over everything that was positive or was called so; J = F1 / (2 - F1), "
        "so it has the same best threshold as f1.",
        formula="tp / (tp + fp + fn)",
        range="[0, 1], 1 is best",
        undefined="as for f1",
        monotone=ALWAYS,
        aliases=("threat_score", "csi", "critical_success_index", "iou", "jaccard_score"),
        reference="Jaccard, P. (1912). doi:10.1111/j.1469-8137.1912.tb05611.x",
    ),
)

# --- both classes together

g_mean = Metric(
    name="g_mean",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * tn,
    denominator=lambda tp, fp, fn, tn: (tp + fn) * (fp + tn),
    root=True,
    doc=MetricDoc(
        title="Geometric mean of recall and specificity",
        summary="High only if both classes are served.",
        formula="sqrt(tp/P * tn/N)",
        range="[0, 1], 1 is best",
        undefined=ONE_CLASS,
        monotone=ALWAYS,
        aliases=("geometric_mean", "gmean"),
        reference="Kubat, M., Matwin, S. (1997). Addressing the curse of imbalanced training sets. ICML.",
    ),
)

youden_j = Metric(
    name="youden_j",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * (fp + tn) - fp * (tp + fn),
    denominator=lambda tp, fp, fn, tn: (tp + fn) * (fp + tn),
    magnitude_=shares,
    doc=MetricDoc(
        title="Youden's J",
        summary="Recall + specificity - 1: how far the point lies above the chance diagonal in ROC space.",
        formula="tp/P - fp/N",
        range="[-1, 1], 1 is best, 0 is chance",
        undefined=ONE_CLASS,
        monotone=ALWAYS,
        aliases=("youden", "informedness", "bookmaker_informedness", "j"),
        reference="Youden, W. J. (1950). doi:10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3",
    ),
)

markedness = Metric(
    name="markedness",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * tn - fp * fn,
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (fn + tn),
    linear=False,
    magnitude_=shares,
    doc=MetricDoc(
        title="Markedness",
        summary="Precision + NPV - 1: how much the decision tells about the truth.",
        formula="tp/PP + tn/PN - 1",
        range="[-1, 1], 1 is best, 0 is chance",
        undefined="NaN if no row or all rows are called positive",
        monotone=ALWAYS,
        aliases=("mk", "delta_p"),
        reference=POWERS,
    ),
)


def _mcc_squared(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    away = tp * tn - fp * fn
    return away * abs(away)


mcc = Metric(
    name="mcc",
    direction="higher",
    monotonicity=GOOD,
    numerator=_mcc_squared,
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (tp + fn) * ((fp + tn) * (fn + tn)),
    root=True,
    magnitude_=shares,
    doc=MetricDoc(
        title="Matthews correlation coefficient",
        summary="The correlation of decision and truth (phi). The sign in the numerator is a minus; "
        "a plus, as sometimes printed, makes bad models look good.",
        formula="(tp*tn - fp*fn) / sqrt(PP * P * N * PN)",
        range="[-1, 1], 1 is best, 0 is chance",
        undefined="NaN if no row or all rows are called positive, or with one class only "
        "(scikit-learn says 0 there)",
        monotone=ALWAYS,
        aliases=("matthews", "matthews_corrcoef", "matthews_correlation", "phi"),
        reference="Matthews, B. W. (1975). doi:10.1016/0005-2795(75)90109-9",
    ),
)

kappa = Metric(
    name="kappa",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: 2 * (tp * (fp + tn) - fp * (tp + fn)),
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn),
    magnitude_=shares,
    doc=MetricDoc(
        title="Cohen's kappa",
        summary="Agreement of decision and truth beyond chance.",
        formula="2 (tp*tn - fp*fn) / (PP*N + P*PN)",
        range="[-1, 1], 1 is best, 0 is chance",
        undefined="NaN where truth and decision are one and the same single class",
        monotone=ALWAYS,
        aliases=("cohen_kappa", "cohens_kappa"),
        reference="Cohen, J. (1960). doi:10.1177/001316446002000104",
    ),
)

p4 = Metric(
    name="p4",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: 4 * tp * tn,
    denominator=lambda tp, fp, fn, tn: 4 * tp * tn + (tp + tn) * (fp + fn),
    linear=False,
    doc=MetricDoc(
        title="P4",
        summary="The harmonic mean of precision, recall, specificity and NPV: F1 made symmetric.",
        formula="4 tp tn / (4 tp tn + (tp + tn)(fp + fn))",
        range="[0, 1], 1 is best",
        undefined="NaN where all rows are of one class and all are decided rightly; "
        "0 wherever tp*tn = 0 otherwise",
        monotone=ALWAYS,
        aliases=(),
        reference="Sitarz, M. (2022). Extending F1 metric, probabilistic approach. arXiv:2210.11997",
    ),
)

lr_plus = Metric(
    name="lr_plus",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * (fp + tn),
    denominator=lambda tp, fp, fn, tn: fp * (tp + fn),
    doc=MetricDoc(
        title="Positive likelihood ratio",
        summary="How much more often the positives are called positive than the negatives are. "
        "Infinite as soon as there is no false alarm: use it with a constraint.",
        formula="(tp/P) / (fp/N)",
        range="[0, inf], larger is better, 1 is chance",
        undefined="NaN if no row is called positive, or with one class only",
        monotone=ALWAYS,
        aliases=("plr", "positive_likelihood_ratio"),
        reference="Deeks, J. J., Altman, D. G. (2004). doi:10.1136/bmj.329.7458.168",
    ),
)

lr_minus = Metric(
    name="lr_minus",
    direction="lower",
    monotonicity=BAD,
    numerator=lambda tp, fp, fn, tn: fn * (fp + tn),
    denominator=lambda tp, fp, fn, tn: tn * (tp + fn),
    doc=MetricDoc(
        title="Negative likelihood ratio",
        summary="How much more often the positives are called negative than the negatives are. "
        "Zero as soon as no positive is missed: use it with a constraint.",
        formula="(fn/P) / (tn/N)",
        range="[0, inf], smaller is better, 1 is chance",
        undefined="NaN if all rows are called positive, or with one class only",
        monotone=REVERSED,
        aliases=("nlr", "negative_likelihood_ratio"),
        reference="Deeks, J. J., Altman, D. G. (2004). doi:10.1136/bmj.329.7458.168",
    ),
)

diagnostic_odds_ratio = Metric(
    name="diagnostic_odds_ratio",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * tn,
    denominator=lambda tp, fp, fn, tn: fp * fn,
    linear=False,
    doc=MetricDoc(
        title="Diagnostic odds ratio",
        summary="LR+ over LR-. Infinite where one kind of error is absent: use it with a constraint.",
        formula="tp*tn / (fp*fn)",
        range="[0, inf], larger is better, 1 is chance",
        undefined="NaN where a true and a false count are both 0",
        monotone=ALWAYS,
        aliases=("dor",),
        reference="Glas, A. S. et al. (2003). doi:10.1016/S0895-4356(03)00177-X",
    ),
)


def _prevalence_threshold(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return 1 / (1 + np.sqrt(np.divide(tp * (fp + tn), fp * (tp + fn))))


_PREVALENCE_THRESHOLD = MetricDoc(
    title="Prevalence threshold",
    summary="The prevalence below which a positive decision is soon more often wrong than right.",
    formula="sqrt(FPR) / (sqrt(TPR) + sqrt(FPR)) = (sqrt(TPR*FPR) - FPR) / (TPR - FPR)",
    range="[0, 1], smaller is better",
    undefined="NaN if no row is called positive, or with one class only",
    monotone=REVERSED,
    aliases=("pt",),
    reference="Balayla, J. (2020). Prevalence threshold and the geometry of screening curves. "
    "doi:10.1371/journal.pone.0240215",
)

prevalence_threshold = Metric(
    name="prevalence_threshold",
    direction="lower",
    monotonicity=BAD,
    formula=_prevalence_threshold,
    doc=_PREVALENCE_THRESHOLD,
)

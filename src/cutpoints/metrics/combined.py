"""Precision against recall, and one class against the other, in one number."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from cutpoints.metrics._arithmetic import ratio, root_of_product, smaller
from cutpoints.metrics._wording import (
    ALWAYS,
    BAD,
    GOOD,
    ONE_CLASS,
    POWERS,
    REVERSED,
    positive_number,
    root_ratio,
    shares,
    times,
)
from cutpoints.metrics.metric import About, Metric
from cutpoints.metrics.rates import false_omission_rate, fdr, precision, recall

f1 = Metric(
    name="f1",
    direction="higher",
    trend_=GOOD,
    numerator=lambda tp, fp, fn, tn: 2 * tp,
    denominator=lambda tp, fp, fn, tn: 2 * tp + fp + fn,
    about=About(
        title="F1",
        summary="The harmonic mean of precision and recall. For calibrated probabilities the best "
        "threshold is half the best F1.",
        formula="2 tp / (2 tp + fp + fn)",
        range="[0, 1], 1 is best",
        undefined="NaN where there are no positives and nobody is called positive; "
        "0 wherever tp = 0 otherwise",
        monotone=ALWAYS,
        aliases=("f1_score", "dice", "sorensen_dice"),
        reference="Lipton, Z. C., Elkan, C., Naryanaswamy, B. (2014). Optimal thresholding of "
        "classifiers to maximize F1 measure. doi:10.1007/978-3-662-44851-9_15",
    ),
)


def f(*, beta: float) -> Metric:
    """F-beta: the weighted harmonic mean of precision and recall."""
    b = positive_number("beta", "f", beta)
    square = b * b

    def numerator(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return times(1 + square, tp)

    def denominator(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return times(1 + square, tp) + fp + times(square, fn)

    return Metric(
        name="f",
        direction="higher",
        trend_=GOOD,
        numerator=numerator,
        denominator=denominator,
        parameters=(("beta", b),),
        about=About(
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
    trend_=GOOD,
    formula=lambda tp, fp, fn, tn: root_ratio(tp * tp, (tp + fp) * (tp + fn)),
    square=lambda tp, fp, fn, tn: (1, tp * tp, (tp + fp) * (tp + fn)),
    rational=False,
    single_root=True,
    about=About(
        title="Fowlkes-Mallows index",
        summary="The geometric mean of precision and recall, also called the G-measure.",
        formula="tp / sqrt(PP * P)",
        range="[0, 1], 1 is best",
        undefined="NaN where nobody is called positive, or without positives",
        monotone=ALWAYS,
        aliases=("fm", "g_measure"),
        reference="Fowlkes, E. B., Mallows, C. L. (1983). doi:10.1080/01621459.1983.10478008",
    ),
)

precision_recall_mean = Metric(
    name="precision_recall_mean",
    direction="higher",
    trend_=GOOD,
    formula=lambda tp, fp, fn, tn: (ratio(tp, tp + fp) + ratio(tp, tp + fn)) / 2,
    about=About(
        title="Arithmetic mean of precision and recall",
        summary="Easily fooled: precision 0.1 with recall 1 scores as well as 0.55 with 0.55.",
        formula="(tp/PP + tp/P) / 2",
        range="[0, 1], 1 is best",
        undefined="NaN where nobody is called positive, or without positives",
        monotone=ALWAYS,
        aliases=("arithmetic_mean_precision_recall",),
        reference=POWERS,
    ),
)

precision_recall_min = Metric(
    name="precision_recall_min",
    direction="higher",
    trend_=GOOD,
    formula=lambda tp, fp, fn, tn: smaller(ratio(tp, tp + fp), ratio(tp, tp + fn)),
    least_of=(precision, recall),
    about=About(
        title="Minimum of precision and recall",
        summary="The weaker of the two; its optimum lies near the break-even point PP = P.",
        formula="min(tp/PP, tp/P)",
        range="[0, 1], 1 is best",
        undefined="NaN where nobody is called positive, or without positives",
        monotone=ALWAYS,
        aliases=("min_precision_recall",),
        reference=POWERS,
    ),
)

jaccard = Metric(
    name="jaccard",
    direction="higher",
    trend_=GOOD,
    numerator=lambda tp, fp, fn, tn: tp,
    denominator=lambda tp, fp, fn, tn: tp + fp + fn,
    about=About(
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
    trend_=GOOD,
    formula=lambda tp, fp, fn, tn: root_ratio(tp * tn, (tp + fn) * (fp + tn)),
    square=lambda tp, fp, fn, tn: (1, tp * tn, (tp + fn) * (fp + tn)),
    rational=False,
    single_root=True,
    about=About(
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
    trend_=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * (fp + tn) - fp * (tp + fn),
    denominator=lambda tp, fp, fn, tn: (tp + fn) * (fp + tn),
    magnitude_=shares,
    about=About(
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
    trend_=GOOD,
    at_chance=Fraction(0),
    from_chance=lambda away, tp, fp, fn, tn: away / ((tp + fp) * (fn + tn)),
    formula=lambda tp, fp, fn, tn: ratio(tp, tp + fp) + ratio(tn, fn + tn) - 1,
    magnitude_=shares,
    about=About(
        title="Markedness",
        summary="Precision + NPV - 1: how much the decision tells about the truth.",
        formula="tp/PP + tn/PN - 1",
        range="[-1, 1], 1 is best, 0 is chance",
        undefined="NaN where nobody or everybody is called positive",
        monotone=ALWAYS,
        aliases=("mk", "delta_p"),
        reference=POWERS,
    ),
)


def _mcc(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return _correlation(tp * tn - fp * fn, tp, fp, fn, tn)


def _correlation(away: Any, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return ratio(away, root_of_product((tp + fp) * (tp + fn), (fp + tn) * (fn + tn)))


def _mcc_squared(tp: int, fp: int, fn: int, tn: int) -> tuple[int, int, int]:
    away = tp * tn - fp * fn
    return away, away * away, (tp + fp) * (tp + fn) * (fp + tn) * (fn + tn)


mcc = Metric(
    name="mcc",
    direction="higher",
    trend_=GOOD,
    at_chance=Fraction(0),
    from_chance=_correlation,
    formula=_mcc,
    square=_mcc_squared,
    rational=False,
    single_root=True,
    magnitude_=shares,
    about=About(
        title="Matthews correlation coefficient",
        summary="The correlation of decision and truth (phi). The sign in the numerator is a minus; "
        "a plus, as sometimes printed, makes bad models look good.",
        formula="(tp*tn - fp*fn) / sqrt(PP * P * N * PN)",
        range="[-1, 1], 1 is best, 0 is chance",
        undefined="NaN where nobody or everybody is called positive, or with one class only "
        "(scikit-learn says 0 there)",
        monotone=ALWAYS,
        aliases=("matthews", "matthews_corrcoef", "matthews_correlation", "phi"),
        reference="Matthews, B. W. (1975). doi:10.1016/0005-2795(75)90109-9",
    ),
)

kappa = Metric(
    name="kappa",
    direction="higher",
    trend_=GOOD,
    numerator=lambda tp, fp, fn, tn: 2 * (tp * (fp + tn) - fp * (tp + fn)),
    denominator=lambda tp, fp, fn, tn: (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn),
    magnitude_=shares,
    about=About(
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
    trend_=GOOD,
    formula=lambda tp, fp, fn, tn: ratio(4 * tp * tn, 4 * tp * tn + (tp + tn) * (fp + fn)),
    about=About(
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
    trend_=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * (fp + tn),
    denominator=lambda tp, fp, fn, tn: fp * (tp + fn),
    ordered_by=precision,
    about=About(
        title="Positive likelihood ratio",
        summary="How much more often the positives are called positive than the negatives are. "
        "Infinite as soon as there is no false alarm: use it with a constraint.",
        formula="(tp/P) / (fp/N)",
        range="[0, inf], larger is better, 1 is chance",
        undefined="NaN where nobody is called positive, or with one class only",
        monotone=ALWAYS,
        aliases=("plr", "positive_likelihood_ratio"),
        reference="Deeks, J. J., Altman, D. G. (2004). doi:10.1136/bmj.329.7458.168",
    ),
)

lr_minus = Metric(
    name="lr_minus",
    direction="lower",
    trend_=BAD,
    numerator=lambda tp, fp, fn, tn: fn * (fp + tn),
    denominator=lambda tp, fp, fn, tn: tn * (tp + fn),
    ordered_by=false_omission_rate,
    about=About(
        title="Negative likelihood ratio",
        summary="How much more often the positives are called negative than the negatives are. "
        "Zero as soon as no positive is missed: use it with a constraint.",
        formula="(fn/P) / (tn/N)",
        range="[0, inf], smaller is better, 1 is chance",
        undefined="NaN where everybody is called positive, or with one class only",
        monotone=REVERSED,
        aliases=("nlr", "negative_likelihood_ratio"),
        reference="Deeks, J. J., Altman, D. G. (2004). doi:10.1136/bmj.329.7458.168",
    ),
)

diagnostic_odds_ratio = Metric(
    name="diagnostic_odds_ratio",
    direction="higher",
    trend_=GOOD,
    at_chance=Fraction(1),
    from_chance=lambda away, tp, fp, fn, tn: away / (fp * fn),
    formula=lambda tp, fp, fn, tn: ratio(tp * tn, fp * fn),
    about=About(
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
    return ratio(1, 1 + root_ratio(tp * (fp + tn), fp * (tp + fn)))


_PREVALENCE_THRESHOLD = About(
    title="Prevalence threshold",
    summary="The prevalence below which a positive decision is soon more often wrong than right.",
    formula="sqrt(FPR) / (sqrt(TPR) + sqrt(FPR)) = (sqrt(TPR*FPR) - FPR) / (TPR - FPR)",
    range="[0, 1], smaller is better",
    undefined="NaN where nobody is called positive, or with one class only",
    monotone=REVERSED,
    aliases=("pt",),
    reference="Balayla, J. (2020). Prevalence threshold and the geometry of screening curves. "
    "doi:10.1371/journal.pone.0240215",
)

prevalence_threshold = Metric(
    name="prevalence_threshold",
    direction="lower",
    trend_=BAD,
    at_chance=Fraction(1, 2),
    formula=_prevalence_threshold,
    rational=False,
    ordered_by=fdr,  # 1 / (1 + root of tp*N / (fp*P)), and P and N are fixed
    about=_PREVALENCE_THRESHOLD,
)

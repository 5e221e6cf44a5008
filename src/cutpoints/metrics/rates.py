"""Shares of rows: of all, of a true class, or of a decision."""

from __future__ import annotations

from cutpoints.metrics._wording import (
    ALL_CALLED,
    ALWAYS,
    BAD,
    FAWCETT,
    GOOD,
    NO_CALLS,
    NO_NEGATIVES,
    NO_POSITIVES,
    NO_ROWS,
    ONE_CLASS,
    POWERS,
    REVERSED,
)
from cutpoints.metrics.expression import Monotonicity
from cutpoints.metrics.metric import Metric, MetricDoc

accuracy = Metric(
    name="accuracy",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp + tn,
    denominator=lambda tp, fp, fn, tn: tp + fp + fn + tn,
    doc=MetricDoc(
        title="Accuracy",
        summary="The share of rows decided rightly. With rare positives, compare it with the "
        "majority-class baseline max(P, N)/n before believing it.",
        formula="(tp + tn) / n",
        range="[0, 1], 1 is best",
        undefined=NO_ROWS,
        monotone=ALWAYS,
        aliases=("acc", "fraction_correct"),
        reference=POWERS,
    ),
)

error_rate = Metric(
    name="error_rate",
    direction="lower",
    monotonicity=BAD,
    numerator=lambda tp, fp, fn, tn: fp + fn,
    denominator=lambda tp, fp, fn, tn: tp + fp + fn + tn,
    doc=MetricDoc(
        title="Error rate",
        summary="The share of rows decided wrongly: 1 - accuracy.",
        formula="(fp + fn) / n",
        range="[0, 1], 0 is best",
        undefined=NO_ROWS,
        monotone=REVERSED,
        aliases=("err", "misclassification_rate", "zero_one_loss"),
        reference=POWERS,
    ),
)

balanced_accuracy = Metric(
    name="balanced_accuracy",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp * (fp + tn) + tn * (tp + fn),
    denominator=lambda tp, fp, fn, tn: 2 * (tp + fn) * (fp + tn),
    doc=MetricDoc(
        title="Balanced accuracy",
        summary="The mean of recall and specificity: accuracy as if both classes were equally common.",
        formula="(tp/P + tn/N) / 2",
        range="[0, 1], 1 is best, 0.5 is chance",
        undefined=ONE_CLASS,
        monotone=ALWAYS,
        aliases=("ba", "bacc"),
        reference="Brodersen, K. H. et al. (2010). The balanced accuracy and its posterior "
        "distribution. doi:10.1109/ICPR.2010.764",
    ),
)

# --- given the truth

recall = Metric(
    name="recall",
    direction="higher",
    monotonicity=Monotonicity(1, 0),
    numerator=lambda tp, fp, fn, tn: tp,
    denominator=lambda tp, fp, fn, tn: tp + fn,
    doc=MetricDoc(
        title="Recall",
        summary="The share of the positives that are found. Alone it is best at 'all positive': "
        "use it with a constraint.",
        formula="tp / P",
        range="[0, 1], 1 is best",
        undefined=NO_POSITIVES,
        monotone="yes: never falls with TP, does not depend on FP",
        aliases=("tpr", "true_positive_rate", "sensitivity", "hit_rate", "power"),
        reference=FAWCETT,
    ),
)

specificity = Metric(
    name="specificity",
    direction="higher",
    monotonicity=Monotonicity(0, -1),
    numerator=lambda tp, fp, fn, tn: tn,
    denominator=lambda tp, fp, fn, tn: fp + tn,
    doc=MetricDoc(
        title="Specificity",
        summary="The share of the negatives that are left alone.",
        formula="tn / N",
        range="[0, 1], 1 is best",
        undefined=NO_NEGATIVES,
        monotone="yes: never rises with FP, does not depend on TP",
        aliases=("tnr", "true_negative_rate", "selectivity"),
        reference=FAWCETT,
    ),
)

fpr = Metric(
    name="fpr",
    direction="lower",
    monotonicity=Monotonicity(0, 1),
    numerator=lambda tp, fp, fn, tn: fp,
    denominator=lambda tp, fp, fn, tn: fp + tn,
    doc=MetricDoc(
        title="False positive rate",
        summary="The share of the negatives that raise a false alarm: 1 - specificity.",
        formula="fp / N",
        range="[0, 1], 0 is best",
        undefined=NO_NEGATIVES,
        monotone="yes, reversed: never falls with FP, does not depend on TP",
        aliases=("false_positive_rate", "fall_out", "false_alarm_rate", "type_1_error", "type_i_error"),
        reference=FAWCETT,
    ),
)

fnr = Metric(
    name="fnr",
    direction="lower",
    monotonicity=Monotonicity(-1, 0),
    numerator=lambda tp, fp, fn, tn: fn,
    denominator=lambda tp, fp, fn, tn: tp + fn,
    doc=MetricDoc(
        title="False negative rate",
        summary="The share of the positives that are missed: 1 - recall.",
        formula="fn / P",
        range="[0, 1], 0 is best",
        undefined=NO_POSITIVES,
        monotone="yes, reversed: never rises with TP, does not depend on FP",
        aliases=("false_negative_rate", "miss_rate", "type_2_error", "type_ii_error"),
        reference=FAWCETT,
    ),
)

# --- given the decision

precision = Metric(
    name="precision",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tp,
    denominator=lambda tp, fp, fn, tn: tp + fp,
    doc=MetricDoc(
        title="Precision",
        summary="The share of those called positive that are positive. It does not always rise "
        "with the threshold.",
        formula="tp / PP",
        range="[0, 1], 1 is best",
        undefined=NO_CALLS,
        monotone=ALWAYS,
        aliases=("ppv", "positive_predictive_value"),
        reference=POWERS,
    ),
)

fdr = Metric(
    name="fdr",
    direction="lower",
    monotonicity=BAD,
    numerator=lambda tp, fp, fn, tn: fp,
    denominator=lambda tp, fp, fn, tn: tp + fp,
    doc=MetricDoc(
        title="False discovery rate",
        summary="The share of those called positive that are not: 1 - precision (not fp/tp, as is "
        "sometimes printed).",
        formula="fp / PP",
        range="[0, 1], 0 is best",
        undefined=NO_CALLS,
        monotone=REVERSED,
        aliases=("false_discovery_rate",),
        reference=POWERS,
    ),
)

npv = Metric(
    name="npv",
    direction="higher",
    monotonicity=GOOD,
    numerator=lambda tp, fp, fn, tn: tn,
    denominator=lambda tp, fp, fn, tn: fn + tn,
    doc=MetricDoc(
        title="Negative predictive value",
        summary="The share of those called negative that are negative.",
        formula="tn / PN",
        range="[0, 1], 1 is best",
        undefined=ALL_CALLED,
        monotone=ALWAYS,
        aliases=("negative_predictive_value",),
        reference=POWERS,
    ),
)

false_omission_rate = Metric(
    name="false_omission_rate",
    direction="lower",
    monotonicity=BAD,
    numerator=lambda tp, fp, fn, tn: fn,
    denominator=lambda tp, fp, fn, tn: fn + tn,
    doc=MetricDoc(
        title="False omission rate",
        summary="The share of those called negative that are positive: 1 - NPV.",
        formula="fn / PN",
        range="[0, 1], 0 is best",
        undefined=ALL_CALLED,
        monotone=REVERSED,
        aliases=("for", "fomr"),
        reference=POWERS,
    ),
)

"""The catalogue of metrics: what "good" means.

Each metric is a function of a confusion, ``m.f1(tp=9, fp=2, fn=1, tn=8)``, and a term of the small
language of objectives and constraints, ``0.7 * m.accuracy + 0.3 * m.recall`` or
``m.precision >= 0.95``.
"""

from cutpoints.metrics.columns import column
from cutpoints.metrics.combined import (
    diagnostic_odds_ratio,
    f,
    f1,
    fowlkes_mallows,
    g_mean,
    jaccard,
    kappa,
    lr_minus,
    lr_plus,
    markedness,
    mcc,
    p4,
    precision_recall_mean,
    precision_recall_min,
    prevalence_threshold,
    youden_j,
)
from cutpoints.metrics.costs import called, cost, cost_per_row, net_benefit, profit
from cutpoints.metrics.counts import (
    chi_square,
    corner_distance,
    information_gain,
    lift,
    predicted_positive,
    predicted_positive_rate,
    prevalence,
    sensitivity_specificity_gap,
)
from cutpoints.metrics.expression import Constraint, Expression
from cutpoints.metrics.metric import Metric, custom
from cutpoints.metrics.rates import (
    accuracy,
    balanced_accuracy,
    error_rate,
    false_omission_rate,
    fdr,
    fnr,
    fpr,
    npv,
    precision,
    recall,
    specificity,
)
from cutpoints.metrics.registry import get

__all__ = [
    "Constraint",
    "Expression",
    "Metric",
    "accuracy",
    "balanced_accuracy",
    "called",
    "chi_square",
    "column",
    "corner_distance",
    "cost",
    "cost_per_row",
    "custom",
    "diagnostic_odds_ratio",
    "error_rate",
    "f",
    "f1",
    "false_omission_rate",
    "fdr",
    "fnr",
    "fowlkes_mallows",
    "fpr",
    "g_mean",
    "get",
    "information_gain",
    "jaccard",
    "kappa",
    "lift",
    "lr_minus",
    "lr_plus",
    "markedness",
    "mcc",
    "net_benefit",
    "npv",
    "p4",
    "precision",
    "precision_recall_mean",
    "precision_recall_min",
    "predicted_positive",
    "predicted_positive_rate",
    "prevalence",
    "prevalence_threshold",
    "profit",
    "recall",
    "sensitivity_specificity_gap",
    "specificity",
    "youden_j",
]

"""Look-up: every entry of the catalogue by name and by alias.

To add a metric, add one entry to the file that fits (`rates`, `combined`, `counts`, `costs`), its name
here and in ``__init__.py``; the goal language, the command line, the docs page and the law tests find it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cutpoints.exceptions import InvalidParameterError, UnknownMetricError
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from cutpoints.metrics.columns import RowSum
    from cutpoints.metrics.expression import Expression
    from cutpoints.metrics.metric import Metric

PLAIN: tuple[Metric, ...] = (
    accuracy,
    error_rate,
    balanced_accuracy,
    precision,
    recall,
    specificity,
    fpr,
    fnr,
    fdr,
    false_omission_rate,
    npv,
    f1,
    fowlkes_mallows,
    g_mean,
    precision_recall_mean,
    precision_recall_min,
    jaccard,
    youden_j,
    markedness,
    mcc,
    kappa,
    p4,
    lr_plus,
    lr_minus,
    diagnostic_odds_ratio,
    prevalence,
    prevalence_threshold,
    predicted_positive,
    predicted_positive_rate,
    lift,
    information_gain,
    chi_square,
    corner_distance,
    sensitivity_specificity_gap,
)
"""Every metric without parameters, in the order in which results list them."""

FAMILIES: dict[str, Callable[..., Metric | RowSum]] = {
    "f": f,
    "cost": cost,
    "cost_per_row": cost_per_row,
    "net_benefit": net_benefit,
    "profit": profit,
    "called": called,
}
"""Every metric with parameters: name -> function that makes it."""

EXAMPLES: tuple[Any, ...] = (
    *PLAIN,
    f(beta=2),
    cost(fp=2, fn=1),
    cost_per_row(fp=2, fn=1),
    net_benefit(at=0.2),
    profit(tp=10, fp=-1),
)
"""One instance of each entry that needs counts only, families included: for tests over the catalogue."""

CATALOGUE: tuple[Metric | RowSum, ...] = (*EXAMPLES, called(column("minutes")))
"""One instance of each entry, for listings."""

_BY_NAME: dict[str, Metric | RowSum] = {metric.name: metric for metric in CATALOGUE}
_CANONICAL: dict[str, str] = {
    spelling: metric.name for metric in CATALOGUE for spelling in (metric.name, *metric.doc.aliases)
}


def canonical_name(name: str) -> str:
    """Return the canonical name of a metric, family or alias; upper case and hyphens are forgiven."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    if key not in _CANONICAL:
        raise UnknownMetricError.of(name=name, known=sorted(_CANONICAL))
    return _CANONICAL[key]


def about(name: str) -> Metric | RowSum:
    """Return the entry of that name or alias; for a family, with parameters or without, an example of it."""
    return _BY_NAME[canonical_name(name.partition("(")[0])]


def get(name: str, **parameters: Any) -> Expression:
    """Return the metric of that name or alias, with its parameters if it has any.

    Examples
    --------
    >>> from cutpoints import metrics
    >>> metrics.get("tpr")
    <recall>
    >>> metrics.get("fbeta", beta=2)
    <f(beta=2)>
    """
    canonical = canonical_name(name)
    if canonical not in FAMILIES:
        if parameters:
            raise InvalidParameterError(
                f"{canonical}({next(iter(parameters))})",
                caller=canonical,
                expected="left out: this metric has no parameters",
                got=next(iter(parameters.values())),
            )
        return _BY_NAME[canonical]
    known = _BY_NAME[canonical].doc.parameters
    unknown = [key for key in parameters if key not in known]
    needed = not parameters or (canonical == "f" and "beta" not in parameters)
    if unknown or needed:
        raise InvalidParameterError(
            f"{canonical}({unknown[0] if unknown else '/'.join(known)})",
            caller=canonical,
            expected=f"one of {', '.join(known)}, given by name",
            got=unknown[0] if unknown else "nothing",
            hint=f"for example {_BY_NAME[canonical]}.",
        )
    return FAMILIES[canonical](**parameters)

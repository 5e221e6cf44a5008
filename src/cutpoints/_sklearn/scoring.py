"""Goals and scikit-learn's scorers: a scorer made of a goal, and the goal that a scorer has.

scikit-learn names a metric of decisions by a string or by a function, `objective_of` finds the metric of
the catalogue that is the same number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import get_scorer, make_scorer

from cutpoints._find import find
from cutpoints._goal import goal
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._goal import Constraints, Goal, Objective

RESPONSE_METHODS = ("predict_proba", "decision_function")
"""What gives a classifier's scores, best first."""
_FUNCTIONS = {
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "cohen_kappa_score": "kappa",
    "f1_score": "f1",
    "fbeta_score": "f(beta={beta})",
    "jaccard_score": "jaccard",
    "matthews_corrcoef": "mcc",
    "precision_score": "precision",
    "recall_score": "recall",
    "zero_one_loss": "error_rate",
}
"""Functions of `sklearn.metrics` and the metric that is the same for two classes."""


def objective_of(scoring: Any) -> tuple[str, str]:
    """Return "maximize" or "minimize", and the metric of the catalogue that a scorer stands for.

    Examples
    --------
    >>> from sklearn.metrics import fbeta_score, make_scorer
    >>> objective_of("matthews_corrcoef"), objective_of(make_scorer(fbeta_score, beta=2))
    (('maximize', 'mcc'), ('maximize', 'f(beta=2)'))
    """
    try:
        made = get_scorer(scoring)
    except (ValueError, TypeError):
        made = None
    function = getattr(made, "_score_func", None)
    options = {**getattr(made, "_kwargs", {})}
    options.pop("pos_label", None)
    if options.get("average") == "binary":
        del options["average"]
    name = _FUNCTIONS.get(getattr(function, "__name__", ""))
    own = str(getattr(function, "__module__", "")).startswith("sklearn.")
    if name is None or not own or options.keys() != ({"beta"} if "beta" in name else set()):
        raise InvalidParameterError(
            "scoring",
            caller="CutpointClassifier",
            expected="a scorer of decisions for two classes, such as 'f1' or 'matthews_corrcoef': it names "
            "what the threshold is best for",
            got=scoring,
            hint="use maximize or minimize, which take any metric, cost, or function of tp, fp, fn and tn.",
        )
    return "maximize" if made._sign > 0 else "minimize", name.format(**options)  # noqa: SLF001


def positive_label_of(scoring: Any) -> Any:
    """Return the positive label that a scorer was made with, or None."""
    return getattr(scoring, "_kwargs", {}).get("pos_label")


def scorer(
    maximize: Objective | None = None,
    *,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    pos_label: Any = None,
) -> Any:
    """Make a scorer for `GridSearchCV` and the like: the best value over all thresholds.

    So a search of hyper-parameters optimizes what will be deployed, not the value at 0.5. When
    minimizing, the sign is turned, as in scikit-learn's ``neg_...`` scorers. NaN if no threshold
    meets the constraints. The threshold is chosen on the rows that are scored, so the value is good
    for comparing models but too optimistic to report.

    Parameters
    ----------
    maximize, minimize, subject_to, pos_label
        As for `find`.

    Examples
    --------
    >>> import cutpoints as cp
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(300, weights=[0.9], random_state=1)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=cp.scorer("f1"), cv=3).round(2)
    array([0.71, 0.78, 0.57])
    """
    best = BestValue(maximize, minimize, subject_to, pos_label)
    named = {} if pos_label is None else {"pos_label": pos_label}
    return make_scorer(best, response_method=RESPONSE_METHODS, greater_is_better=best.goal.sign > 0, **named)


@dataclass(frozen=True)
class BestValue:
    """A function of labels and scores: the value at the best threshold, NaN if none is allowed."""

    maximize: Objective | None = None
    minimize: Objective | None = None
    subject_to: Constraints = None
    positive: Any = None

    @property
    def goal(self) -> Goal:
        """What is best."""
        return goal(
            maximize=self.maximize, minimize=self.minimize, subject_to=self.subject_to, caller="scorer"
        )

    def __call__(
        self, y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
    ) -> float:
        y_true = np.asarray(y_true)
        positive = pos_label if self.positive is None else self.positive
        if positive is None:
            found = np.unique(y_true)
            usual = found.dtype.kind in "biuf" and set(found.tolist()) <= {-1, 0, 1}
            positive = 1 if usual else found[-1]
        solution = find(
            (y_true == positive).astype(np.int8),
            y_score,
            maximize=self.maximize,
            minimize=self.minimize,
            subject_to=self.subject_to,
            sample_weight=sample_weight,
        )
        return math.nan if solution.value is None else solution.value

    @property
    def __name__(self) -> str:
        """What a scorer prints."""
        return f"{self.goal} over all thresholds"

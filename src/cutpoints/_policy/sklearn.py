"""The rule as a scikit-learn classifier, where scikit-learn's own rule is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._extras import needs
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._policy.policy import Policy


def to_sklearn(policy: Policy, estimator: Any, response_method: str) -> Any:
    """Return a `FixedThresholdClassifier`; see `Policy.to_sklearn`."""
    with needs("to_sklearn"):
        from sklearn.exceptions import NotFittedError
        from sklearn.frozen import FrozenEstimator
        from sklearn.model_selection import FixedThresholdClassifier
        from sklearn.utils.validation import check_is_fitted

    threshold = policy.single("to_sklearn")
    if response_method not in ("auto", "predict_proba", "decision_function"):
        raise InvalidParameterError(
            "response_method",
            caller="to_sklearn",
            expected="'auto', 'predict_proba' or 'decision_function'",
            got=response_method,
        )
    if policy.missing in ("positive", "keep"):
        raise InvalidParameterError(
            "missing",
            caller="to_sklearn",
            expected="'error' or 'negative': scikit-learn calls a NaN negative",
            got=policy.missing,
        )
    if not hasattr(estimator, "predict_proba") and not hasattr(estimator, "decision_function"):
        raise InvalidParameterError(
            "estimator",
            caller="to_sklearn",
            expected="a classifier with predict_proba or decision_function",
            got=estimator,
        )
    spread = None if policy.found_on is None else policy.found_on.distribution
    ends = [threshold, *(() if spread is None else spread.edges)]
    beyond = any(not 0 <= end <= 1 for end in ends if np.isfinite(end))
    if response_method == "auto" and beyond and hasattr(estimator, "predict_proba"):
        raise InvalidParameterError(
            "response_method",
            caller="to_sklearn",
            expected="given: the policy's scores are no probabilities, and 'auto' means predict_proba",
            got=response_method,
            hint="response_method='decision_function'.",
        )
    try:
        check_is_fitted(estimator)
        fitted = True
    except NotFittedError:
        fitted = False
    classes = list(getattr(estimator, "classes_", [])) if fitted else []
    if fitted and (len(classes) != 2 or policy.pos_label not in classes):
        raise InvalidParameterError(
            "pos_label",
            caller="to_sklearn",
            expected=f"one of two classes, and those of the estimator are {classes}",
            got=policy.pos_label,
        )
    # As a NumPy float64: NumPy rounds a Python float to float32 beside scores of that type.
    return FixedThresholdClassifier(
        FrozenEstimator(estimator) if fitted else estimator,
        threshold=np.float64(threshold),
        pos_label=policy.pos_label,
        response_method=response_method,
    )

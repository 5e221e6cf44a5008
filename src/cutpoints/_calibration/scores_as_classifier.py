"""Scores as the decision function of a classifier, for scikit-learn's calibrators.

A module of its own, since it needs scikit-learn to be loaded, and since a class inside a function cannot
be pickled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class ScoresAsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose decision function is its one feature."""

    def fit(self, X: Any, y: Any) -> ScoresAsClassifier:
        """Note what scikit-learn asks a fitted classifier for."""
        self.classes_ = np.array([0.0, 1.0])
        self.n_features_in_ = 1
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return np.asarray(X)[:, 0]

    def predict(self, X: Any) -> Any:
        """Return 1 where a score is positive or zero."""
        return (self.decision_function(X) >= 0).astype(np.float64)

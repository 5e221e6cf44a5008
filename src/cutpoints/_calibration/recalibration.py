"""Repair: a monotone map from scores to probabilities, fitted by scikit-learn on rows set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._calibration.inputs import as_labels, as_probabilities, as_scores, log_odds
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("isotonic", "sigmoid")


@dataclass(frozen=True, repr=False)
class Recalibrator:
    """A fitted map from scores to calibrated probabilities; made by `recalibrate`."""

    method: str
    rows: int
    on_log_odds: bool
    model: Any

    def transform(self, y_score: Any) -> NDArray[np.float64]:
        """Return calibrated probabilities for new scores.

        Not for the rows that it was fitted on: their probabilities would look better than they are.
        """
        if self.on_log_odds:
            column = log_odds(as_probabilities(y_score, "y_score"))
        else:
            column = as_scores(y_score, "y_score")
        return np.asarray(self.model.predict_proba(column[:, None])[:, 1], dtype=np.float64)

    def __repr__(self) -> str:
        return f"<Recalibrator: {self.method}, fitted on {self.rows:,} rows>"


def recalibrate(
    y_true: Any,
    y_score: Any,
    *,
    method: Literal["isotonic", "sigmoid"] = "isotonic",
    pos_label: Any = None,
) -> Recalibrator:
    """Fit a map from scores to calibrated probabilities, for use on other rows.

    By scikit-learn's `CalibratedClassifierCV`. Fit it on labelled rows that the classifier has not
    seen, use it on yet others.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, of both classes.
    y_score : array-like of shape (n_samples,)
        Scores: probabilities, or any numbers. Probabilities enter the sigmoid as log-odds, so that
        one that is calibrated already stays as it is.
    method : {"isotonic", "sigmoid"}, default="isotonic"
        "isotonic": any non-decreasing step function; needs about a thousand rows, and makes ties.
        "sigmoid": Platt's two parameters, for few rows; keeps the ranking.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; 1 by default.

    Returns
    -------
    Recalibrator
        Whose `transform` maps new scores.

    Examples
    --------
    >>> import cutpoints as cp
    >>> y, p = [0, 0, 1, 0, 1, 1], [0.6, 0.7, 0.75, 0.8, 0.85, 0.9]
    >>> cp.recalibrate(y, p, method="isotonic").transform([0.65, 0.78, 0.9])
    array([0. , 0.5, 1. ])
    """
    if method not in METHODS:
        raise InvalidParameterError.of(
            parameter="method",
            caller="recalibrate",
            must_be=f"one of {', '.join(map(repr, METHODS))}",
            got=method,
        )
    scores = as_scores(y_score, "y_score")
    infinite = np.isinf(scores)
    if infinite.any():
        raise InvalidParameterError.of(
            parameter="y_score",
            caller="recalibrate",
            must_be="finite numbers",
            got=f"{int(infinite.sum())} infinite values",
        )
    y = as_labels(y_true, pos_label, scores, "y_score")
    if y.min() == y.max():
        raise InvalidInputError.no_rows_of(
            what="recalibrate", positives=float(y.sum()), negatives=float((1 - y).sum())
        )
    on_log_odds = method == "sigmoid" and bool(scores.min() >= 0 and scores.max() <= 1)
    column = (log_odds(scores) if on_log_odds else scores)[:, None]
    return Recalibrator(method, len(scores), on_log_odds, _fitted(column, y, method))


def _fitted(column: NDArray[np.float64], y: NDArray[np.float64], method: str) -> Any:
    """Fit one calibrator on all rows, the scores being the decision function of a frozen classifier."""
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    class Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        """A classifier whose decision function is its one feature."""

        def fit(self, X: Any, y: Any) -> Any:
            self.classes_ = np.array([0.0, 1.0])
            self.n_features_in_ = 1
            return self

        def decision_function(self, X: Any) -> Any:
            return np.asarray(X)[:, 0]

        def predict(self, X: Any) -> Any:
            return (self.decision_function(X) >= 0).astype(np.float64)

    frozen = FrozenEstimator(Scores().fit(column, y))
    # Nothing is refitted, so there is nothing to split: all rows, once.
    every = np.arange(len(y))
    return CalibratedClassifierCV(frozen, method=method, ensemble=False, cv=[(every, every)]).fit(column, y)

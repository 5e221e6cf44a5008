"""Better probabilities: a map fitted on rows set aside, and the move to another prevalence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._calibration.measure import labels_and_scores, log_odds
from cutpoints._data.array_input import as_floats, refuse_beyond, refuse_nan, same_length
from cutpoints._data.read import as_unlabelled
from cutpoints._equality import compared_by_value
from cutpoints._extras import needs
from cutpoints._shown import JsonForm
from cutpoints._validate import number_in, one_of
from cutpoints._wording import Column
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

METHODS = ("isotonic", "sigmoid")
OVERLAP = 1e-3
"""Below this mean of 2 min(p, 1 - p) over rows, the classes are taken not to overlap."""
EM_STEPS = 100_000
EM_TOLERANCE = 1e-10


@compared_by_value
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
        scores = _scores(y_score, "y_score")
        if self.on_log_odds:
            refuse_beyond(scores, "y_score")
            scores = log_odds(scores)
        return np.asarray(self.model.predict_proba(scores[:, None])[:, 1], dtype=np.float64)

    def __repr__(self) -> str:
        return f"<Recalibrator: {self.method}, fitted on {self.rows:,} rows>"


def recalibrate(
    y_true: Any,
    y_score: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    method: Literal["isotonic", "sigmoid"] = "isotonic",
    pos_label: Any = None,
) -> Recalibrator:
    """Fit a map from scores to calibrated probabilities, for use on other rows.

    By scikit-learn's `CalibratedClassifierCV`. Fit it on labeled rows that the classifier has not
    seen, and use it on other rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame, path or Data
        Labels, of both classes. Or in place of `y_true` and `y_score`, as for `find`, a data frame or
        files with names of columns, or a `Data` without weights; all rows are held in memory.
    y_score : array-like of shape (n_samples,)
        Scores: probabilities, or any numbers. Probabilities enter the sigmoid as log-odds, so that
        one that is calibrated already stays as it is.
    label, score : str, default=None
        Names of columns, where `y_true` is a frame or a path.
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
    one_of("method", method, METHODS, caller="recalibrate")
    y, scores, name = labels_and_scores(
        y_true, y_score, label=label, score=score, pos_label=pos_label, array="y_score", caller="recalibrate"
    )
    infinite = np.isinf(scores)
    if infinite.any():
        got = f"{int(infinite.sum())} infinite values"
        raise InvalidParameterError(name, got=got, expected="finite numbers", caller="recalibrate")
    if y.min() == y.max():
        raise InvalidInputError.no_rows_of(
            what="recalibrate", positives=float(y.sum()), negatives=float((1 - y).sum())
        )
    on_log_odds = method == "sigmoid" and bool(scores.min() >= 0 and scores.max() <= 1)
    column = (log_odds(scores) if on_log_odds else scores)[:, None]
    return Recalibrator(method, len(scores), on_log_odds, _fitted(column, y, method))


def _fitted(column: NDArray[np.float64], y: NDArray[np.float64], method: str) -> Any:
    """Fit one calibrator on all rows, the scores being the decision function of a frozen classifier."""
    with needs("recalibrate"):
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.frozen import FrozenEstimator

    from cutpoints._calibration.scores_as_classifier import ScoresAsClassifier

    frozen = FrozenEstimator(ScoresAsClassifier().fit(column, y))
    # Nothing is refitted, so there is nothing to split: all rows, once.
    every = np.arange(len(y))
    return CalibratedClassifierCV(frozen, method=method, ensemble=False, cv=[(every, every)]).fit(column, y)


def adjust_prior(
    y_prob: Any, *, train_prevalence: float, new_prevalence: float, score: str | None = None
) -> NDArray[np.float64]:
    """Move calibrated probabilities to a population with another share of positives.

    By Bayes' rule: the odds are multiplied by the ratio of the new prior odds to the old. Right if
    only the shares of the classes have changed, and scores within a class are distributed as before.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,), data frame, path or Data
        Probabilities that are calibrated at `train_prevalence`.
    train_prevalence, new_prevalence : float in (0, 1)
        The share of positives where they are calibrated, and where they will be used.
    score : str, default=None
        The column of the probabilities, where `y_prob` is a frame or a path.

    Examples
    --------
    >>> import cutpoints as cp
    >>> cp.adjust_prior([0.5, 0.9], train_prevalence=0.5, new_prevalence=0.1)
    array([0.1, 0.5])
    """
    p = _probabilities(y_prob, score, "adjust_prior")
    old = _prevalence(train_prevalence, "train_prevalence", "adjust_prior")
    new = _prevalence(new_prevalence, "new_prevalence", "adjust_prior")
    positive, negative = p * (new / old), (1 - p) * ((1 - new) / (1 - old))
    return positive / (positive + negative)


@dataclass(frozen=True)
class Prevalence(JsonForm):
    """An estimated share of positives; `float()` of it is the share."""

    prevalence: float
    standard_error: float
    iterations: int

    def __float__(self) -> float:
        return self.prevalence


def estimate_prevalence(y_prob: Any, *, train_prevalence: float, score: str | None = None) -> Prevalence:
    """Estimate the share of positives of new rows from their probabilities alone.

    The maximum-likelihood share, by the EM algorithm of Saerens, Latinne and Decaestecker: adjust
    the probabilities to the current share, take their mean as the next. The likelihood is concave,
    so there is one answer. Each step takes linear time; tens of steps are usual.

    Right if the probabilities are calibrated at `train_prevalence` and only the shares of the
    classes have changed. If they are not calibrated, the estimate is wrong, and nothing shows it.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,), data frame, path or Data
        Probabilities of unlabeled rows, strictly between 0 and 1.
    train_prevalence : float in (0, 1)
        The share of positives where they are calibrated.
    score : str, default=None
        The column of the probabilities, where `y_prob` is a frame or a path.

    Returns
    -------
    Prevalence
        With `prevalence`, `standard_error` (from the curvature of the likelihood) and `iterations`.

    Raises
    ------
    InvalidInputError
        Where there is no estimate: probabilities of exactly 0 or 1, classes that do not overlap,
        probabilities that are all the same, or a likelihood that grows up to a share of 0 or 1.

    References
    ----------
    Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a
    priori probabilities: a simple procedure. doi:10.1162/089976602753284446

    Examples
    --------
    >>> import cutpoints as cp
    >>> found = cp.estimate_prevalence([0.1, 0.2, 0.3, 0.9, 0.05, 0.15], train_prevalence=0.5)
    >>> round(found.prevalence, 3)
    0.105
    """
    p = _probabilities(y_prob, score, "estimate_prevalence")
    old = _prevalence(train_prevalence, "train_prevalence", "estimate_prevalence")
    if sure := int(np.count_nonzero((p == 0) | (p == 1))):
        raise _no_prevalence(
            f"{sure:,} of {len(p):,} probabilities are exactly 0 or 1, which no prevalence can change"
        )
    overlap = float(np.mean(2 * np.minimum(p, 1 - p)))
    if overlap < OVERLAP:
        raise _no_prevalence(
            f"the classes do not overlap: 2 min(p, 1 - p) is {overlap:.2g} on average, "
            f"less than {OVERLAP:g}, and the estimate would only count the rows above one half"
        )
    positive, negative = p / old, (1 - p) / (1 - old)
    gap = positive - negative
    if np.ptp(p) < 1e-9:
        raise _no_prevalence("the probabilities are all the same")
    # The likelihood is concave: its slope at an end tells whether the maximum lies there.
    if np.sum(gap / negative) <= 0 or np.sum(gap / positive) >= 0:
        end = 0 if np.sum(gap / negative) <= 0 else 1
        raise _no_prevalence(
            f"the likelihood is greatest at a prevalence of {end}: the scores are not those of any "
            "mixture of the two classes"
        )
    share, steps = old, 0
    for _ in range(EM_STEPS):
        before, steps = share, steps + 1
        share = float(np.mean(share * positive / (share * positive + (1 - share) * negative)))
        if abs(share - before) <= EM_TOLERANCE * min(share, 1 - share):
            break
    information = float(np.sum((gap / (share * positive + (1 - share) * negative)) ** 2))
    return Prevalence(share, 1 / math.sqrt(information), steps)


def _no_prevalence(reason: str) -> InvalidInputError:
    """Return the error of probabilities from which the share of positives cannot be estimated."""
    return InvalidInputError(
        Column("y_prob"),
        f" must determine the prevalence of its rows. It does not: {reason}.",
        hint="label a sample of the new rows and take its share of positives.",
    )


def _probabilities(y_prob: Any, score: str | None, caller: str) -> NDArray[np.float64]:
    data = as_unlabelled(y_prob, score=score, weight=None, sample_weight=None, caller=caller)
    name, given, _ = data.probabilities()
    p = _scores(given, name)
    refuse_beyond(p, name)
    return p


def _prevalence(value: Any, parameter: str, caller: str) -> float:
    """Return a share strictly between 0 and 1."""
    expected = "a share of positives strictly between 0 and 1"
    number_in(parameter, value, 0, 1, ends="()", expected=expected, hint="for 5 % pass 0.05.", caller=caller)
    return float(value)


def _scores(y_score: Any, name: str) -> NDArray[np.float64]:
    """Return float64 numbers without NaN, at least one."""
    scores = as_floats(y_score, name).astype(np.float64)
    same_length({name: scores})
    refuse_nan(scores, name)
    return scores

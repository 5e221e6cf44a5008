"""Hard labels and many classes: scikit-learn's own metrics, gathered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_floats, same_index
from cutpoints._data.data import Data
from cutpoints._data.read import read
from cutpoints._equality import compared_by_value
from cutpoints._extras import needs
from cutpoints._format import json_number
from cutpoints._validate import integer_in
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@compared_by_value
@dataclass(frozen=True, repr=False)
class ClassEvaluation:
    """How good predicted classes are.

    Attributes
    ----------
    labels : list
        The classes, in the order of the matrix.
    confusion_matrix : ndarray of shape (n_classes, n_classes)
        Rows are the truth, columns the prediction.
    per_class : dict
        For each class precision, recall, f1 and support, the class against the rest; NaN for 0/0.
    averages : dict
        The same as macro, micro and weighted averages; 0/0 counts as 0, as in scikit-learn.
    accuracy, balanced_accuracy, mcc, kappa : float
    baseline : float
        The accuracy of always naming the largest class.
    log_loss, top_k_accuracy : float
        For scores of all classes; NaN for labels. The log-loss needs probabilities.
    """

    labels: list[Any]
    confusion_matrix: NDArray[Any]
    per_class: dict[Any, dict[str, float]]
    averages: dict[str, dict[str, float]]
    accuracy: float
    balanced_accuracy: float
    mcc: float
    kappa: float
    baseline: float
    log_loss: float
    top_k_accuracy: float
    top_k: int
    text: str

    def report(self) -> str:
        """Return scikit-learn's classification report."""
        return self.text

    def __repr__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; NaN is null."""
        numbers = ("accuracy", "balanced_accuracy", "mcc", "kappa", "baseline", "log_loss", "top_k_accuracy")
        return {
            "labels": [getattr(label, "item", lambda label=label: label)() for label in self.labels],
            "confusion_matrix": self.confusion_matrix.tolist(),
            "per_class": [
                {k: json_number(float(v)) for k, v in row.items()} for row in self.per_class.values()
            ],
            "averages": {
                name: {k: json_number(float(v)) for k, v in row.items()}
                for name, row in self.averages.items()
            },
            **{name: json_number(float(getattr(self, name))) for name in numbers},
            "top_k": self.top_k,
        }


def evaluate_classes(
    y_true: Any,
    y_pred: Any = None,
    *,
    label: str | None = None,
    predicted: str | None = None,
    score: Sequence[str] | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    labels: Any = None,
    top_k: int = 2,
) -> ClassEvaluation:
    """Evaluate predicted labels of two or more classes, or one column of scores for each class.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame, path or Data
        The true labels; or a frame or files with names of columns, or a `Data`.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted labels; or one column of scores for each class, in the order of `labels`.
    label, predicted, weight : str, default=None
        Columns of a frame or files: the true labels, the predicted ones, and weights.
    score : list of str, default=None
        In place of `predicted`: one column of scores for each class, in the order of `labels`, and with
        the names of the classes if these are left out.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.
    labels : array-like, default=None
        The classes, in order; sorted by default.
    top_k : int, default=2
        For scores: a row counts as right if its class is among the `top_k` highest.

    See Also
    --------
    evaluate : Scores of one class at a threshold.

    Examples
    --------
    >>> import cutpoints as cp
    >>> cp.evaluate_classes([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2]).confusion_matrix
    array([[2, 0, 0],
           [0, 0, 1],
           [1, 0, 2]])
    """
    if y_pred is None:
        rows = y_true if isinstance(y_true, Data) else read(y_true, label=label, score=score, weight=weight)
        y_true, y_pred, sample_weight, labels = _columns(rows, predicted, labels)
    with needs("evaluate_classes"):
        from sklearn import metrics as sk

    same_index({"y_true": y_true, "y_pred": y_pred, "sample_weight": sample_weight})
    truth, given = np.asarray(y_true), np.asarray(y_pred)
    if len(truth) != len(given):
        raise InvalidInputError.length(names_and_lengths={"y_true": len(truth), "y_pred": len(given)})
    if len(truth) == 0:
        raise InvalidInputError.empty(name="y_true")
    scores = given if given.ndim == 2 else None
    if labels is not None:
        names = np.asarray(labels)
    elif scores is not None:
        names = np.unique(truth)
    else:
        _need_labels(truth, given)
        names = np.unique(np.concatenate([truth, given]))
    _need_known(truth, names)
    if scores is not None:
        given = _argmax(scores, names)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    matrix = sk.confusion_matrix(truth, given, labels=names, sample_weight=weights)
    options: dict[str, Any] = {"labels": names, "sample_weight": weights}
    each = sk.precision_recall_fscore_support(truth, given, zero_division=np.nan, **options)
    columns = ("precision", "recall", "f1", "support")
    averages = {}
    for kind in ("macro", "micro", "weighted"):
        *mean, _ = sk.precision_recall_fscore_support(
            truth, given, average=kind, zero_division=0.0, **options
        )
        averages[kind] = dict(zip(columns, map(float, mean), strict=False))
    present = matrix.sum(axis=1) > 0
    recalls = np.diag(matrix)[present] / matrix.sum(axis=1)[present]
    return ClassEvaluation(
        labels=names.tolist(),
        confusion_matrix=matrix,
        per_class={
            name: dict(zip(columns, map(float, row), strict=True))
            for name, *row in zip(names.tolist(), *each, strict=True)
        },
        averages=averages,
        accuracy=float(sk.accuracy_score(truth, given, sample_weight=weights)),
        balanced_accuracy=float(recalls.mean()),
        mcc=float(sk.matthews_corrcoef(truth, given, sample_weight=weights)),
        kappa=_kappa(matrix),
        baseline=float(matrix.sum(axis=1).max() / matrix.sum()),
        log_loss=_log_loss(truth, scores, names, weights),
        top_k_accuracy=_top_k(truth, scores, names, weights, top_k),
        top_k=top_k,
        text=sk.classification_report(truth, given, zero_division=np.nan, digits=4, **options),
    )


def _columns(rows: Data, predicted: str | None, labels: Any) -> tuple[Any, Any, Any, Any]:
    """Return labels, predictions, weights and classes of a frame or files."""
    caller = "evaluate_classes"
    if rows.label is None:
        raise InvalidParameterError("label", caller=caller, expected="the column of the labels", got=None)
    if (predicted is None) == (len(rows.scores) < 2):
        raise InvalidParameterError(
            "predicted",
            caller=caller,
            expected="the column of the predicted labels, or left out for a column of scores for each class",
            got=predicted,
        )
    found = rows.rows.read(rows if predicted is None else rows.of(), predicted)
    weights = found.masses[0] if found.masses else None
    truth = np.asarray(found.labels)
    if predicted is None:
        scores = np.column_stack([as_floats(column, name) for name, column in found.scores.items()])
        if labels is None:  # columns have names, and so have the classes
            truth, labels = _as_text(truth), list(rows.scores)
        return truth, scores, weights, labels
    given = np.asarray(found.groups)
    if given.dtype.kind not in "biuf":  # files give the predicted labels as text
        truth, given = _as_text(truth), _as_text(given)
    if not np.isin(given, truth).any():
        raise InvalidParameterError(
            "predicted",
            caller=caller,
            expected="the column of the predicted labels",
            got=f"{predicted}, where no value is one of the true labels",
        )
    return truth, given, weights, labels


def _as_text(labels: NDArray[Any]) -> NDArray[Any]:
    return np.array([str(one) for one in labels.tolist()])


def _need_known(truth: NDArray[Any], names: NDArray[Any]) -> None:
    """Raise for a label that is no class: it would be left out of the matrix without a word."""
    known = set(names.tolist())
    first, other = next(
        ((row, one) for row, one in enumerate(truth.tolist()) if one not in known), (None, None)
    )
    if first is not None:
        raise InvalidParameterError(
            "labels",
            caller="evaluate_classes",
            expected="a list of every true label",
            got=f"{names.tolist()}, without the label {other!r} of row {first}",
        )


def _need_labels(truth: NDArray[Any], given: NDArray[Any]) -> None:
    """Raise for scores where labels must be: the threshold was probably forgotten."""
    if given.ndim != 1:
        raise InvalidInputError.not_1d(name="y_pred", shape=given.shape)
    if given.dtype.kind == "f" and not (np.isin(given, truth).all() or (given == np.rint(given)).all()):
        raise InvalidParameterError(
            "y_pred",
            caller="evaluate_classes",
            expected="labels, or a column of scores for each class",
            got="scores",
            hint="to evaluate scores at a threshold, call evaluate(y_true, y_score, threshold=0.5).",
        )


def _argmax(scores: NDArray[Any], names: NDArray[Any]) -> NDArray[Any]:
    if scores.shape[1] != len(names):
        raise InvalidInputError.length(
            names_and_lengths={"labels": len(names), "columns of y_pred": scores.shape[1]}
        )
    missing = np.isnan(scores).any(axis=1)
    if missing.any():
        raise InvalidInputError.nan(
            name="y_pred", count=int(missing.sum()), rows=len(scores), first=int(missing.argmax())
        )
    return names[np.argmax(scores, axis=1)]


def _kappa(matrix: NDArray[Any]) -> float:
    """Cohen's kappa from the matrix; NaN where chance agrees always (scikit-learn warns there)."""
    total = float(matrix.sum())
    chance = float(matrix.sum(axis=0) @ matrix.sum(axis=1)) / total**2
    return math.nan if chance == 1 else (float(np.trace(matrix)) / total - chance) / (1 - chance)


def _log_loss(truth: Any, scores: NDArray[Any] | None, names: Any, weight: Any) -> float:
    if scores is None or (scores < 0).any() or not np.allclose(scores.sum(axis=1), 1, rtol=0, atol=1e-6):
        return math.nan
    with needs("evaluate_classes"):
        from sklearn.metrics import log_loss

    return float(log_loss(truth, scores, labels=names, sample_weight=weight))


def _top_k(truth: Any, scores: NDArray[Any] | None, names: Any, weight: Any, k: int) -> float:
    if scores is None:
        return math.nan
    integer_in("top_k", k, 1, len(names), caller="evaluate_classes")
    if k == len(names):  # scikit-learn warns that this is always 1
        return 1.0
    with needs("evaluate_classes"):
        from sklearn.metrics import top_k_accuracy_score

    single = scores[:, 1] if len(names) == 2 else scores
    return float(top_k_accuracy_score(truth, single, k=k, labels=names, sample_weight=weight))

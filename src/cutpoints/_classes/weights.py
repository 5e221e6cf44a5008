"""`find_class_weights`: weights for ``argmax``, optimal where that is proven, else a local optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._classes.costs import as_names, as_probabilities
from cutpoints._data.array_input import as_array, same_index, same_length
from cutpoints._data.classes import check_classes, code_labels
from cutpoints._equality import compared_by_value
from cutpoints._format import count, json_number
from cutpoints._search.class_weights import (
    GRID_BITS,
    Score,
    best_of_three,
    best_of_two,
    called,
    centered,
    climb,
    logs_of,
)
from cutpoints._search.folds import FOLDS
from cutpoints._shown import Beside, JsonForm, Shown
from cutpoints._validate import generator, one_of
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._search.class_weights import Logs

EXACT_ROWS = 500
"""Up to this many rows of three classes every cell is looked at: a few seconds."""
SCORES = ("macro_f1", "balanced_accuracy", "accuracy")


@compared_by_value
@dataclass(frozen=True, repr=False, eq=False)
class ClassWeights(Beside, Shown, JsonForm):
    """Weights of classes: the class with the largest ``weight * probability`` is called.

    Attributes
    ----------
    status : {"optimal", "local"}
        Optimal: proven, no weights have a higher value. Local: changing one weight alone does not help, but
        changing several might.
    classes : tuple
        The classes, in the order of the columns.
    weights : tuple of float
        One for each class; the first is 1.
    value : float
        The objective, rounded once from its exact value.
    argmax_value : float
        The same with equal weights.
    confusion_matrix : ndarray of shape (n_classes, n_classes)
        Rows are the truth, columns the decision; exact.
    """

    status: Literal["optimal", "local"]
    objective: str
    classes: tuple[Any, ...]
    weights: tuple[float, ...]
    value: float
    argmax_value: float
    confusion_matrix: NDArray[Any]
    rows: int
    _logs: NDArray[np.int64]
    _beside: Mapping[str, Callable[[], Any]] = field(compare=False)

    @cached_property
    def cross_validated(self) -> float:
        """The value to expect on new data: each of five folds is judged by the weights of the others.

        Computed when it is first looked at, which takes about five times as long as the search.
        """
        return self._look_at("cross_validated")

    def decide(self, y_prob: Any) -> NDArray[Any]:
        """Return the class of each row of probabilities; the first of equal ones.

        Probabilities are compared by their logarithms, each rounded to a multiple of 2**-37, so that the
        decisions on the data are those that were found.
        """
        matrix = as_probabilities(y_prob, "decide")
        if matrix.shape[1] != len(self.classes):
            raise InvalidParameterError(
                "y_prob",
                caller="decide",
                expected=f"a matrix of {len(self.classes)} columns, one for each class",
                got=f"{matrix.shape[1]} columns",
            )
        return as_names(self.classes)[called(logs_of(matrix), self._logs)]

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {**super().to_dict(), "cross_validated": json_number(self.cross_validated)}

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as names and texts."""
        shown = ", ".join(
            f"{name}: {count(weight)}" for name, weight in zip(self.classes, self.weights, strict=True)
        )
        proof = {
            "optimal": "optimal: no other weights are better",
            "local": "local: changing one weight alone does not help; changing several might",
        }
        return [
            ("weights", shown),
            ("value", f"{count(self.value)}  (maximize {self.objective})"),
            ("on new data", f"{count(self.cross_validated)}  ({FOLDS}-fold cross-validated)"),
            ("equal weights", count(self.argmax_value)),
            ("status", proof[self.status]),
            ("data", f"{count(self.rows)} rows, {len(self.classes)} classes"),
        ]


def find_class_weights(
    y_true: Any, y_prob: Any, *, maximize: str = "macro_f1", classes: Any = None, random_state: Any = 0
) -> ClassWeights:
    """Find weights of classes such that calling the class of the largest weighted probability is best.

    Optimal, and proven to be, for two classes, and for three classes and at most 500 rows. For more classes
    or rows it is a local optimum, which the status says: each weight in turn is set to its best value, by an
    exact sweep, until none can be improved.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_prob : array-like of shape (n_samples, n_classes)
        The probability of each class, on rows that the model was not fitted on.
    maximize : {"macro_f1", "balanced_accuracy", "accuracy"}, default="macro_f1"
        What to maximize. F1 of a class that is neither there nor called is 0.
    classes : list, default=None
        The classes in the order of the columns; by default the sorted labels.
    random_state : int, Generator or None, default=0
        How rows are assigned to folds for the cross-validated value. An integer is mixed with a digest of
        the data.

    Returns
    -------
    ClassWeights

    See Also
    --------
    bayes_decision : If each mistake has a cost, and the probabilities are calibrated.

    Examples
    --------
    >>> import cutpoints as cp
    >>> p = [[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.6, 0.2, 0.2], [0.8, 0.1, 0.1]]
    >>> found = cp.find_class_weights([0, 1, 1, 2, 0], p, maximize="accuracy")
    >>> found.status, found.value, found.argmax_value
    ('optimal', 1.0, 0.4)
    """
    one_of("maximize", maximize, SCORES, caller="find_class_weights")
    if classes is None and hasattr(y_prob, "columns"):
        classes = list(y_prob.columns)
    same_index({"y_true": y_true, "y_prob": y_prob})
    matrix = as_probabilities(y_prob, "find_class_weights")
    labels = as_array(y_true, "y_true")
    same_length({"y_true": labels, "y_prob": matrix})
    given = None if classes is None else check_classes(classes, "find_class_weights")
    names, y = code_labels(labels, given, "y_true", "find_class_weights", ordered=False)
    if len(names) != matrix.shape[1]:
        raise InvalidParameterError(
            "classes",
            caller="find_class_weights",
            expected=f"one name for each of the {matrix.shape[1]} columns of 'y_prob'",
            got=list(names),
            hint="name all classes, also those without rows, in the order of the columns.",
        )
    logs = logs_of(matrix)
    status, value, found = _search(logs, y, maximize)
    found = centered(logs, found - found[0])
    plain = np.zeros_like(found)
    decisions = called(logs, found)
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(confusion, (y, decisions), 1)

    def cross_validate() -> float:
        rng = generator(random_state, logs, y, caller="find_class_weights")
        fold = rng.permutation(len(y)) % FOLDS
        judged = np.zeros(len(y), dtype=np.intp)
        for k in range(FOLDS):
            train = fold != k
            if train.any() and not train.all():
                _, _, weights = _search(logs[train], y[train], maximize)
                judged[~train] = called(logs[~train], weights)
        return float(_exact(judged, y, maximize, len(names))) if len(y) >= FOLDS else math.nan

    return ClassWeights(
        status=status,
        objective=maximize,
        classes=names,
        weights=tuple(math.exp(weight / 2**GRID_BITS) for weight in found.tolist()),
        value=float(value),
        argmax_value=float(_exact(called(logs, plain), y, maximize, len(names))),
        confusion_matrix=confusion,
        rows=len(y),
        _logs=found,
        _beside={"cross_validated": cross_validate},
    )


def _search(
    logs: Logs, y: NDArray[np.intp], name: str
) -> tuple[Literal["optimal", "local"], Fraction, NDArray[np.int64]]:
    size = logs.shape[1]
    score = Score(name, np.bincount(y, minlength=size))
    if size == 2:
        return "optimal", *best_of_two(logs, y, score)
    if size == 3 and len(y) <= EXACT_ROWS:
        return "optimal", *best_of_three(logs, y, score)
    return "local", *climb(logs, y, score)


def _exact(decisions: NDArray[np.intp], y: NDArray[np.intp], name: str, size: int) -> Fraction:
    score = Score(name, np.bincount(y, minlength=size))
    return score.exact(np.bincount(y[decisions == y], minlength=size), np.bincount(decisions, minlength=size))

"""Labels of more than two classes, with their scores and weights: rows for `find_ordinal` and its like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._data.array_input import (
    as_array,
    as_floats,
    as_weights,
    refuse_missing,
    refuse_nan,
    same_length,
)
from cutpoints._kernel.weights import FixedPoint
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.data import Data
    from cutpoints._kernel.tables import Scores


class ClassRows(NamedTuple):
    """Rows with one of several classes: its position among the classes, the score, and a weight or 1."""

    classes: tuple[Any, ...]
    codes: NDArray[np.intp]
    scores: Scores
    weights: NDArray[np.int64] | None
    """Encoded on the grid; None where rows are counted."""
    grid: FixedPoint


def class_rows(data: Data, classes: Any, caller: str) -> ClassRows:
    """Return the rows in memory; raise for missing values and for labels that are not among the classes."""
    if data.label is None:
        raise InvalidParameterError(
            "y_true",
            caller=caller,
            expected="one label per row",
            got="counts of positives and negatives",
        )
    read = data.rows.read(data, None)
    (name,) = data.scores
    scores = as_floats(read.scores[name], name)
    labels = as_array(read.labels, data.label)
    weights = None if data.weight is None else as_weights(read.masses[0], data.weight)
    same_length({data.label: labels, name: scores, str(data.weight): weights}, data.rows.empty)
    refuse_nan(scores, name)
    known, codes = code_labels(labels, classes, data.label, caller)
    if weights is None:
        return ClassRows(known, codes, scores, None, FixedPoint())
    if (weights == weights[0]).all() and weights[0] > 0:  # rows are counted, as in `find`
        return ClassRows(known, codes, scores, None, FixedPoint.constant(float(weights[0])))
    grid = FixedPoint.fitting(largest=float(weights.max()), rows=len(weights))
    return ClassRows(known, codes, scores, grid.encode(weights), grid)


def code_labels(
    labels: NDArray[Any], classes: Any, name: str, caller: str, *, ordered: bool = True
) -> tuple[tuple[Any, ...], NDArray[np.intp]]:
    """Return the classes and the position of each label among them.

    Without `classes`, numbers are in their own order; of strings nobody knows the order, if it matters.
    """
    if labels.dtype.kind == "f":
        refuse_nan(labels, name)
    elif labels.dtype.kind == "O":
        refuse_missing(labels, name)
    if classes is None:
        if ordered and labels.dtype.kind not in "biuf" and not _are_numbers(labels):
            shown = list(dict.fromkeys(labels.tolist()))[:5]
            raise InvalidParameterError(
                "classes",
                caller=caller,
                expected="given for labels that are not numbers: their order is not known",
                got=f"the labels {shown}",
                hint=("for example ", Argument("classes", ["low", "medium", "high"]), "."),
            )
        values, codes = np.unique(labels, return_inverse=True)
        found = tuple(values.tolist())
    else:
        found = check_classes(classes, caller)
        place = {value: k for k, value in enumerate(found)}
        try:
            codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
        except TypeError:  # a label that cannot be looked up
            codes = np.full(len(labels), -1, dtype=np.intp)
        if (codes < 0).any():
            first = int((codes < 0).argmax())
            raise InvalidParameterError(
                "classes",
                caller=caller,
                expected=f"all labels in {name!r}",
                got=f"{list(found)}, without the label {labels.tolist()[first]!r} of row {first}",
            )
    if len(found) < 2:
        raise InvalidInputError.one_label(name=name, label=found[0])
    return found, codes.astype(np.intp).reshape(-1)


def check_classes(classes: Any, caller: str) -> tuple[Any, ...]:
    """Return the classes; raise unless they are two or more different labels."""
    try:
        if isinstance(classes, (str, bytes)):
            raise TypeError
        found = tuple(classes.tolist() if isinstance(classes, np.ndarray) else classes)
        different = len(set(found)) == len(found)
    except TypeError:
        found, different = (), False
    if len(found) < 2 or not different:
        raise InvalidParameterError(
            "classes", caller=caller, expected="a list of two or more different labels", got=classes
        )
    return found


def distinct_scores(
    codes: NDArray[np.intp], scores: Scores, weights: NDArray[np.int64] | None, classes: int
) -> tuple[Scores, NDArray[np.int64]]:
    """Return the distinct scores, ascending, and the sum of each class at each of them; never rounded."""
    values, place = np.unique(scores, return_inverse=True)
    cell = place.reshape(-1) * classes + codes
    if weights is None:
        sums = np.bincount(cell, minlength=len(values) * classes).astype(np.int64)
    else:
        sums = np.zeros(len(values) * classes, dtype=np.int64)
        np.add.at(sums, cell, weights)
    return values, sums.reshape(-1, classes)


def _are_numbers(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind == "O" and all(
        isinstance(value, (bool, int, float, np.number, np.bool_)) for value in labels
    )

"""Costs by decision and true class, and the decision of least expected cost for calibrated probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._data.classes import check_classes
from cutpoints._validate import is_number
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from cutpoints.metrics.expression import SLACK, exact_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUM_TOLERANCE = 1e-6
"""How far the probabilities of a row may add up to something else than 1: float32 rounds."""


def bayes_decision(y_prob: Any, cost: Any, *, classes: Any = None) -> NDArray[Any]:
    """Return for each row the decision with the least expected cost.

    Exact for calibrated probabilities, since no other rule costs less in expectation; it needs no labels. Of
    several decisions with equal cost it is the first.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples, n_classes) or data frame
        The probability of each class. The columns of a data frame of pandas name the classes.
    cost : array-like of shape (n_classes, n_classes), mapping or data frame
        What each decision (row) costs for each true class (column). By name:
        ``{"treat": {"ill": 0, "well": 1}, "wait": {"ill": 10, "well": 0}}``. There may be more decisions than
        classes, such as a review.
    classes : list, default=None
        The classes, in the order of the columns of `y_prob`; by default their positions.

    Returns
    -------
    ndarray of shape (n_samples,)
        The decisions: the names of the rows of `cost`, or the classes if it is a matrix.

    Examples
    --------
    >>> import cutpoints as cp
    >>> cost = {"treat": {"ill": 0, "well": 1}, "wait": {"ill": 10, "well": 0}}
    >>> cp.bayes_decision([[0.05, 0.95], [0.2, 0.8]], cost, classes=["ill", "well"])
    array(['wait', 'treat'], dtype='<U5')
    """
    if classes is None and hasattr(y_prob, "columns"):
        classes = list(y_prob.columns)
    probabilities = as_probabilities(y_prob, "bayes_decision")
    size = probabilities.shape[1]
    names = tuple(range(size)) if classes is None else check_classes(classes, "bayes_decision")
    if len(names) != size:
        raise InvalidParameterError(
            "classes",
            caller="bayes_decision",
            expected=f"one name for each of the {size} columns of 'y_prob'",
            got=list(names),
        )
    decisions, costs = cost_matrix(cost, names, parameter="cost", caller="bayes_decision")
    floats = np.array([[float(number) for number in row] for row in costs])
    expected = probabilities.astype(np.float64) @ floats.T
    best = expected.min(axis=1, keepdims=True)
    near = expected <= best + 2 * SLACK * float(np.abs(floats).max())
    chosen = near.argmax(axis=1)
    for row in np.flatnonzero(near.sum(axis=1) > 1).tolist():
        p = [Fraction(x) for x in probabilities[row].tolist()]
        exact = [sum(a * b for a, b in zip(p, one, strict=True)) for one in costs]
        chosen[row] = exact.index(min(exact))
    return as_names(decisions)[chosen]


def as_names(decisions: tuple[Any, ...]) -> NDArray[Any]:
    """Return names as an array of one kind; of objects where NumPy would change them."""
    made = np.array(decisions)
    if made.ndim == 1 and made.tolist() == list(decisions):
        return made
    found = np.empty(len(decisions), dtype=object)
    found[:] = decisions
    return found


def as_probabilities(y_prob: Any, caller: str) -> NDArray[np.floating[Any]]:
    """Return a matrix of probabilities whose rows add up to 1; raise for anything else."""
    try:
        matrix = np.asarray(y_prob)
        if matrix.dtype.kind not in "fiub":
            matrix = matrix.astype(np.float64)
        if matrix.ndim != 2 or matrix.shape[1] < 2:
            raise ValueError
    except (TypeError, ValueError):
        raise InvalidParameterError(
            "y_prob",
            caller=caller,
            expected="a matrix of probabilities, one column for each of two or more classes",
            got=f"an array of shape {np.shape(y_prob)}" if np.ndim(y_prob) != 2 else y_prob,
        ) from None
    missing = np.isnan(matrix).any(axis=1) if matrix.dtype.kind == "f" else np.zeros(len(matrix), dtype=bool)
    if missing.any():
        raise InvalidInputError.nan(
            name="y_prob", count=int(missing.sum()), rows=len(matrix), first=int(missing.argmax())
        )
    wrong = (matrix < 0).any(axis=1) | (np.abs(matrix.sum(axis=1, dtype=np.float64) - 1) > SUM_TOLERANCE)
    if wrong.any():
        first = int(wrong.argmax())
        raise InvalidParameterError(
            "y_prob",
            caller=caller,
            expected="probabilities: none negative, and those of a row add up to 1",
            got=f"{int(wrong.sum()):,} rows that are not, the first at row {first}: {matrix[first].tolist()}",
        )
    return matrix


class CostMatrix(NamedTuple):
    """What each decision (row) costs for each true class (column), exactly."""

    decisions: tuple[Any, ...]
    costs: list[list[Fraction]]


def cost_matrix(cost: Any, classes: tuple[Any, ...], *, parameter: str, caller: str) -> CostMatrix:
    """Read a matrix in the order of the classes, or a mapping or data frame with names.

    Examples
    --------
    >>> cost_matrix({"treat": {"ill": 0, "well": 1}}, ("ill", "well"), parameter="cost", caller="f")
    CostMatrix(decisions=('treat',), costs=[[Fraction(0, 1), Fraction(1, 1)]])
    """
    if hasattr(cost, "iterrows"):  # pandas: rows are decisions, columns true classes
        cost = {decision: dict(row) for decision, row in cost.iterrows()}
    if isinstance(cost, Mapping):
        rows = []
        for row in cost.values():
            if not isinstance(row, Mapping) or set(row) != set(classes):
                raise _misfit(cost, classes, parameter, caller)
            rows.append([row[name] for name in classes])
        decisions = tuple(cost)
    else:
        matrix = np.asarray(cost, dtype=object)
        if matrix.ndim != 2 or matrix.shape != (len(classes), len(classes)):
            raise _misfit(cost, classes, parameter, caller)
        rows, decisions = matrix.tolist(), classes
    numbers = [number for row in rows for number in row]
    if not decisions or not all(is_number(number) and abs(number) < np.inf for number in numbers):
        raise _misfit(cost, classes, parameter, caller)
    return CostMatrix(decisions, [[exact_number(number, parameter) for number in row] for row in rows])


def _misfit(cost: Any, classes: tuple[Any, ...], parameter: str, caller: str) -> InvalidParameterError:
    size = len(classes)
    example = {"first decision": {classes[0]: 0, classes[1]: 5}}
    return InvalidParameterError(
        parameter,
        caller=caller,
        expected=f"a {size} x {size} matrix of finite numbers, rows are decisions and columns true classes, "
        f"or a mapping of decisions to the cost for each of the classes {list(classes)}",
        got=cost,
        hint=f"for example {example}.",
    )

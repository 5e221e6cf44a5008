"""`find_ordinal`: validate once, search all cutpoints, return a solution."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._classes.goal import OrdinalGoal, ordinal_goal
from cutpoints._classes.result import CutpointCertificate, OrdinalSolution
from cutpoints._data.classes import class_rows, distinct_scores
from cutpoints._data.read import as_data
from cutpoints._kernel.weights import as_number
from cutpoints._result import Interval
from cutpoints._search.folds import FOLDS, deal
from cutpoints._search.ordinal import ClassCounts, least_loss, least_quotient
from cutpoints._validate import generator
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray


def find_ordinal(
    y_true: Any,
    y_score: Any = None,
    *,
    maximize: str | None = None,
    minimize: Any = None,
    classes: Any = None,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> OrdinalSolution:
    """Find the cutpoints of one score that are best for ordered classes, and prove it.

    Exact: the optimum over all ascending cutpoints, by dynamic programming; kappa is a quotient of two sums,
    and takes a few rounds of it. Equal scores are never split. Between cutpoints of equal value the highest,
    from the first on. Time grows with rows times classes, after a sort.

    Parameters
    ----------
    y_true, y_score, label, score, weight, sample_weight
        As for `find`. The rows are held in memory.
    maximize : {"quadratic_kappa", "linear_kappa", "kappa", "accuracy"}
        What to maximize, or else
    minimize : {"absolute_error", "squared_error"} or matrix of costs
        what to minimize: the mean distance between the positions of the decision and of the true class,
        or its square; or the total of what each decision (row) costs for each true class (column), as a
        matrix or by name.
    classes : list, default=None
        The classes in their order, for labels that are not numbers, or where not all of them occur.
    random_state : int, Generator or None, default=0
        How rows are assigned to folds for the cross-validated value. An integer is mixed with a digest of
        the data.

    Returns
    -------
    OrdinalSolution
        With `cutpoints`, `value`, `confusion_matrix`, `certificate` and the `cross_validated` value.

    Raises
    ------
    InvalidInputError
        Labels of one class only, NaN scores.

    Examples
    --------
    >>> import cutpoints as cp
    >>> y, s = [0, 0, 1, 1, 2, 2], [0.1, 0.3, 0.2, 0.5, 0.6, 0.9]
    >>> found = cp.find_ordinal(y, s, maximize="quadratic_kappa")
    >>> found.cutpoints, round(found.value, 4)
    ((0.5, 0.6), 0.8889)
    """
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        caller="find_ordinal",
    )  # fmt: skip
    rows = class_rows(data, classes, "find_ordinal")
    wanted = ordinal_goal(maximize=maximize, minimize=minimize, classes=rows.classes, caller="find_ordinal")
    scores, sums = distinct_scores(rows.codes, rows.scores, rows.weights, len(rows.classes))
    counts = _counts(scores, sums)
    if wanted.is_kappa and np.count_nonzero(counts.totals) < 2:
        present = rows.classes[int(np.argmax(counts.totals))]
        raise InvalidInputError.one_label(name=str(data.label), label=present)
    places, steps, compared = _search(wanted, counts)
    thresholds = counts.thresholds()
    step = rows.grid.step
    confusion = counts.confusion(places)
    value = wanted.value(confusion, step)
    below = np.append(-np.inf, scores.astype(np.float64))
    return OrdinalSolution(
        status="optimal",
        objective=wanted.name,
        direction=wanted.direction,
        classes=rows.classes,
        cutpoints=tuple(float(thresholds[place]) for place in places),
        intervals=tuple(Interval(float(below[place]), float(thresholds[place])) for place in places),
        value=value,
        confusion_matrix=_numbers(confusion, step),
        certificate=CutpointCertificate(value, value, len(thresholds), steps, compared, rows.grid.resolution),
        rows=len(rows.codes),
        _beside={
            "cross_validated": partial(
                _cross_validated_value,
                *(wanted, counts, sums, random_state),
                rows_are_counted=rows.weights is None,
                step=step,
            )
        },
        _columns=data.known(scores.dtype),
        _costs=wanted.costs,
    )


def _counts(scores: NDArray[Any], sums: NDArray[np.int64]) -> ClassCounts:
    nothing = np.zeros((1, sums.shape[1]), dtype=np.int64)
    return ClassCounts(scores, np.concatenate([nothing, np.cumsum(sums, axis=0)]))


def _search(wanted: OrdinalGoal, counts: ClassCounts) -> tuple[tuple[int, ...], int, int]:
    """Return the best places, the rounds of dynamic programming, and the cuts compared in integers."""
    if not wanted.is_kappa:
        found = least_loss(counts, wanted.loss)
        return found.places, 1, found.compared
    totals = counts.totals
    best = least_quotient(counts, wanted.observed(totals), wanted.chance(totals))
    return best.places, best.steps, best.compared


def _numbers(confusion: list[list[int]], step: Any) -> NDArray[Any]:
    """Return counts as integers, or as floats where weights are none."""
    return np.array([[as_number(number * step) for number in row] for row in confusion])


def _cross_validated_value(
    wanted: OrdinalGoal,
    counts: ClassCounts,
    sums: NDArray[np.int64],
    random_state: Any,
    *,
    rows_are_counted: bool,
    step: Fraction,
) -> float:
    """Return the value to expect on new data."""
    rng = generator(random_state, counts.scores, *sums.T, caller="find_ordinal")
    return wanted.value(_cross_validated(wanted, counts, sums, rng, rows_are_counted=rows_are_counted), step)


def _cross_validated(
    wanted: OrdinalGoal,
    counts: ClassCounts,
    sums: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    rows_are_counted: bool,
) -> list[list[int]]:
    """Return the confusion of all folds, each decided by the cutpoints of the others."""
    fold = None if rows_are_counted else (rng.permutation(len(sums)) % FOLDS)[:, None]
    pooled = np.zeros((sums.shape[1], sums.shape[1]), dtype=np.int64)
    for part in deal(sums, rng, fold):
        train = _counts(counts.scores, sums - part)
        if wanted.is_kappa and np.count_nonzero(train.totals) < 2:
            continue
        places, _, _ = _search(wanted, train)
        pooled += np.array(_counts(counts.scores, part).confusion(places), dtype=np.int64)
    found: list[list[int]] = pooled.tolist()
    return found

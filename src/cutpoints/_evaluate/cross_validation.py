"""Judge thresholds on rows that did not choose them.

The value at the best threshold of some rows is the best of many, and so looks better than it is.
Here every fold of the rows is judged at the threshold that is best for the other folds, and the
four counts of all folds are added up before the metric is taken: the mean of metrics of small
folds would be biased (an F1 of few positives is more often bad than good).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.read import as_source
from cutpoints._find import solve
from cutpoints._kernel.masses import number
from cutpoints._result import Confusion, value_of
from cutpoints._search.run import search
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints.metrics.expression import Expression

MOST_FOLDS = 100
"""Of more folds than this (leave-one-out), several are judged together."""
_TOGETHER = 20


@dataclass(frozen=True)
class Honest:
    """What thresholds do on rows that did not choose them.

    Attributes
    ----------
    value : float
        The objective at the pooled counts of all folds.
    confusion : Confusion
        The pooled counts.
    thresholds : tuple of float
        The best threshold of the rows outside each fold; NaN where there is none, because none meets
        the constraints or the rows have one class only. Such folds are left out of the counts.
    fold_values : tuple of float
        The objective on each fold alone, NaN where it is undefined there. Their mean is biased.
    constraints : dict of str to float
        The value of each constraint's metric at the pooled counts.
    broken : tuple of str
        The constraints that do not hold there.
    """

    value: float
    confusion: Confusion
    thresholds: tuple[float, ...]
    fold_values: tuple[float, ...]
    constraints: dict[str, float]
    broken: tuple[str, ...]

    @property
    def infeasible_folds(self) -> int:
        """How many folds had no threshold."""
        return sum(math.isnan(threshold) for threshold in self.thresholds)


Splits = Sequence[tuple["NDArray[np.intp]", "NDArray[np.intp]"]]
"""For each fold, the entries that choose and the entries that judge."""


def honest(
    goal: Goal,
    y: NDArray[Any],
    scores: NDArray[Any],
    splits: Splits,
    *,
    weights: NDArray[Any] | None = None,
    mass: float | None = None,
    skip: bool = False,
) -> Honest:
    """Choose a threshold without each fold, and judge it on the fold; exact searches, one per fold.

    Parameters
    ----------
    goal : Goal
        What is best.
    y, scores : ndarray of shape (n,)
        Labels 0/1 and scores.
    splits : sequence of (ndarray of int, ndarray of int)
        For each fold, which rows choose the threshold and which judge it.
    weights : ndarray of shape (n,), default=None
        The mass of each row.
    mass : float, default=None
        Scale the pooled counts to this total before the metric is taken, so that totals such as
        costs can be compared where rows are judged never or more than once.
    skip : bool, default=False
        Leave folds out for which one class only could choose, instead of raising.
    """
    total = dict.fromkeys(("tp", "fp", "fn", "tn"), Fraction(0))
    thresholds, values = [], []
    for k, (train, test) in enumerate(splits):
        positives = int(y[train].sum())
        if positives in (0, len(train)) and not skip:
            raise InvalidInputError.one_class(
                what=f"The rows that choose for fold {k + 1} of {len(splits)}",
                rows=len(train),
                positives=positives,
            )
        threshold = math.nan
        if positives not in (0, len(train)):
            mass_here = None if weights is None else weights[train]
            source = as_source(y[train], scores[train], sample_weight=mass_here)
            found = solve(goal, lambda one, source=source: search(source, one)).threshold  # type: ignore[misc]
            threshold = math.nan if found is None else found
        thresholds.append(threshold)
        if math.isnan(threshold):
            values.append(math.nan)
            continue
        counts = counts_of(y[test], scores[test] >= threshold, None if weights is None else weights[test])
        values.append(value_of(goal.expression, counts))
        total = {name: count + counts[name] for name, count in total.items()}
    judged = sum(total.values())
    scale = Fraction(1) if mass is None or not judged else Fraction(mass) / judged
    scaled = {name: scale * count for name, count in total.items()}

    def value(expression: Expression) -> float:
        return value_of(expression, scaled) if judged else math.nan

    reached = [(one, value(one.expression)) for one in goal.constraints]
    return Honest(
        value=value(goal.expression),
        confusion=Confusion(**{name: number(count) for name, count in total.items()}),
        thresholds=tuple(thresholds),
        fold_values=tuple(values),
        constraints={str(one): got for one, got in reached},
        broken=tuple(
            str(one) for one, got in reached if not math.isnan(got) and not one.holds(got - float(one.bound))
        ),
    )


def value_at(
    expression: Expression, y: NDArray[Any], called: NDArray[np.bool_], weights: NDArray[Any] | None = None
) -> float:
    """Return the value of decisions that were made."""
    return value_of(expression, counts_of(y, called, weights))


def counts_of(
    y: NDArray[Any], called: NDArray[np.bool_], weights: NDArray[Any] | None
) -> dict[str, Fraction]:
    """Return the confusion of decisions that were made.

    Weights are added exactly and rounded once, so that the order of the rows does not matter. There are
    four sums only: `masses` is for those of all cuts at once.
    """
    positive = y.astype(np.bool_)
    cells = {"tp": called & positive, "fp": called & ~positive, "fn": ~called & positive}
    cells["tn"] = ~called & ~positive
    if weights is None:
        return {name: Fraction(int(cell.sum())) for name, cell in cells.items()}
    return {name: Fraction(math.fsum(weights[cell])) for name, cell in cells.items()}


def scored_entries(splits: Splits) -> Splits:
    """Return, for out-of-fold scores laid end to end, which choose and which judge in each fold.

    A fold is judged at the threshold of scored rows of its own training part, so that time series
    are judged by their past. More than `MOST_FOLDS` folds are judged several at a time.
    """
    row = np.concatenate([test for _, test in splits])
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    if len(splits) > MOST_FOLDS:
        fold %= _TOGETHER
        return [
            (np.flatnonzero(~np.isin(row, row[fold == k])), np.flatnonzero(fold == k))
            for k in range(_TOGETHER)
        ]
    found = []
    for k, (train, test) in enumerate(splits):
        chooses = np.zeros(int(row.max()) + 1, dtype=np.bool_)
        chooses[train[train < len(chooses)]] = True
        chooses[test] = False
        found.append((np.flatnonzero(chooses[row]), np.flatnonzero(fold == k)))
    return found

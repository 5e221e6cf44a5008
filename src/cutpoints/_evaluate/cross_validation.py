"""Cross-validated thresholds: each fold is judged at the best threshold of the other folds.

The value at the best threshold of the same rows is the best of many, so it looks better than it is.
The counts of all folds are added up before the metric is taken: the mean of metrics of small folds
would be biased (F1 on few positives is low more often than high).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.added_columns import times
from cutpoints._data.arrays import ArraySource
from cutpoints._find import solve
from cutpoints._result import Confusion
from cutpoints._search.run import search
from cutpoints.exceptions import InvalidInputError
from cutpoints.metrics.columns import CELLS, Column, Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._result import Solution
    from cutpoints.metrics.expression import Expression

MOST_FOLDS = 100
"""More folds than this (leave-one-out) are merged into this many: each costs a search."""


@dataclass(frozen=True)
class CrossValidated:
    """How thresholds perform on rows that did not choose them.

    Attributes
    ----------
    value : float
        The objective at the pooled counts of all folds.
    confusion : Confusion
        The pooled counts.
    thresholds : tuple of float
        The best threshold of the rows outside each fold; NaN if there is none, because no threshold
        meets the constraints or the rows have only one class. Such folds do not count.
    fold_values : tuple of float
        The objective on each fold alone, NaN where it is undefined. Their mean is biased.
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
        """The number of folds without a threshold."""
        return sum(math.isnan(threshold) for threshold in self.thresholds)


Columns = dict[Column, "NDArray[Any]"]
"""The columns that a goal adds up."""
Splits = Sequence[tuple["NDArray[np.intp]", "NDArray[np.intp]"]]
"""For each fold, the rows that choose and the rows that judge."""


def cross_validate(
    goal: Goal,
    y: NDArray[Any],
    scores: NDArray[Any],
    splits: Splits,
    *,
    weights: NDArray[Any] | None = None,
    columns: Columns | None = None,
    total: float | None = None,
    skip: bool = False,
) -> CrossValidated:
    """Choose a threshold without each fold and judge it on the fold; one exact search per fold.

    Bounds on totals, such as 300 alerts, are for all rows: the rows that choose for a fold are fewer, and so
    is what they may hold. With a `total` the pooled counts are scaled to it before the metric is taken, so
    that totals such as costs can be compared if rows are judged never or more than once. With `skip`, folds
    whose other rows have only one class are left out; else they are an error.
    """
    thresholds, values, confusions = [], [], []
    sizes = np.ones(len(y)) if weights is None else weights
    whole = Fraction(float(sizes.sum()))
    for k, (train, test) in enumerate(splits):
        positives = int(y[train].sum())
        one_class = positives in (0, len(train))
        if one_class and not skip:
            raise InvalidInputError.one_class(
                what=f"The rows that choose for fold {k + 1} of {len(splits)}",
                rows=len(train),
                positives=positives,
            )
        found = None
        if not one_class:
            weighed = None if weights is None else weights[train]
            part = goal.for_share(Fraction(float(sizes[train].sum())) / whole)
            found = solve_rows(part, y[train], scores[train], weighed, _rows_of(columns, train)).threshold
        thresholds.append(math.nan if found is None else found)
        values.append(math.nan)
        if found is not None:
            weighed = None if weights is None else weights[test]
            added = _rows_of(columns, test)
            confusions.append(confusion_of(y[test], scores[test] >= found, weighed, added))
            values[-1] = confusions[-1].metric(goal.expression)
    pooled = add_up(confusions)
    counts = {name: Fraction(count) for name, count in pooled.to_dict().items()}
    judged = sum(counts.values())
    scale = Fraction(total) / judged if total is not None and judged else Fraction(1)
    counts = {name: count * scale for name, count in counts.items()}
    parts = {column: [part._replace(step=scale)] for column, (part,) in pooled.columns.items()}

    def value(expression: Expression) -> float:
        return expression.rounded(**counts, columns=parts) if judged else math.nan

    reached = [(one, value(one.expression)) for one in goal.constraints]
    return CrossValidated(
        value=value(goal.expression),
        confusion=pooled,
        thresholds=tuple(thresholds),
        fold_values=tuple(values),
        constraints={str(one): got for one, got in reached},
        broken=tuple(
            str(one) for one, got in reached if not math.isnan(got) and not one.holds(got - float(one.bound))
        ),
    )


def _rows_of(columns: Columns | None, index: NDArray[np.intp]) -> Columns:
    return {column: values[index] for column, values in (columns or {}).items()}


def solve_rows(
    goal: Goal,
    y: NDArray[Any],
    scores: NDArray[Any],
    weights: NDArray[Any] | None,
    columns: Columns | None = None,
) -> Solution:
    """Return the solution of one exact search."""
    source = ArraySource.labelled(y, scores, sample_weight=weights, columns=columns)
    return solve(goal, lambda one: search(source, one))


def confusion_of(
    y: NDArray[Any],
    called: NDArray[np.bool_],
    weights: NDArray[Any] | None,
    columns: Columns | None = None,
) -> Confusion:
    """Return the confusion of decisions; each sum of weights is rounded once, in any order of rows."""
    positive = y.astype(np.bool_)
    cells = {"tp": called & positive, "fp": called & ~positive, "fn": ~called & positive}
    cells["tn"] = ~called & ~positive
    if weights is None:
        found = Confusion(**{name: int(cell.sum()) for name, cell in cells.items()})
    else:
        found = Confusion(**{name: _total(weights[cell]) for name, cell in cells.items()})
    parts = {}
    for column, values in (columns or {}).items():
        added = times(values, weights)
        parts[column] = [Part(1, Fraction(1), *(Fraction(_total(added[cell])) for cell in cells.values()))]
    return found.with_columns(parts)


def add_up(confusions: Sequence[Confusion]) -> Confusion:
    """Return the sum of confusions."""
    found = Confusion(**{name: _total(getattr(one, name) for one in confusions) for name in CELLS})
    parts = {}
    for column in confusions[0].columns if confusions else ():
        cells = (sum(getattr(one.columns[column][0], name) for one in confusions) for name in CELLS)
        parts[column] = [Part(1, Fraction(1), *cells)]
    return found.with_columns(parts)


def _total(parts: Iterable[float]) -> int | float:
    """Return the sum, rounded once; an integer if it is one."""
    total = math.fsum(parts)
    return int(total) if total.is_integer() else total


def out_of_fold_splits(splits: Splits) -> Splits:
    """Return the splits of out-of-fold scores that are laid end to end, fold by fold.

    A fold is judged at the threshold of scored rows of its own training part, so time series are
    judged by their past. More than `MOST_FOLDS` folds are merged.
    """
    row = np.concatenate([test for _, test in splits])
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    if len(splits) > MOST_FOLDS:
        fold %= MOST_FOLDS
        return [
            (np.flatnonzero(~np.isin(row, row[fold == k])), np.flatnonzero(fold == k))
            for k in range(MOST_FOLDS)
        ]
    found = []
    for k, (train, test) in enumerate(splits):
        chooses = np.zeros(int(row.max()) + 1, dtype=np.bool_)
        chooses[train[train < len(chooses)]] = True
        chooses[test] = False
        found.append((np.flatnonzero(chooses[row]), np.flatnonzero(fold == k)))
    return found

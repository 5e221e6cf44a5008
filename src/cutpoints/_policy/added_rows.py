"""Rows whose columns a policy's goal adds up: the sums of its cells now, and sums that are as plausible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutpoints._evaluate.cross_validation import confusion_of
from cutpoints._evaluate.row_groups import RowGroups, evaluate_cells
from cutpoints._validate import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.data import LabelledRows
    from cutpoints.metrics.expression import Expression


class AddedRows:
    """Labeled rows with the columns of a goal, decided by a threshold.

    `parts` are the exact sums of each column over the four cells.
    """

    def __init__(self, rows: LabelledRows, threshold: float) -> None:
        (source,) = rows.sources.values()
        called = source.scores >= np.float64(threshold)
        self.parts = confusion_of(rows.y, called, None, source.columns).columns
        self._rng = generator(0, rows.y, *source.columns.values(), caller="check")
        groups = RowGroups(rows.y, source.columns, self._rng)
        cells = groups.cells(called)
        sizes = cells[None].sum(axis=1, keepdims=True)
        # Half a row more in each cell, as Jeffreys' prior has it, so that a cell of no rows is not taken
        # for empty. It has the mean value of all rows.
        half = {column: np.eye(4) * sums.sum() / len(rows.y) for column, sums in cells.items()}
        self._means = {column: np.vstack([sums / sizes, half[column]]) for column, sums in cells.items()}
        self._alphas = np.append(np.ones(groups.size), np.full(4, 0.5 * groups.size / len(rows.y)))

    def redrawn(self, expression: Expression, draws: int) -> NDArray[np.float64]:
        """Return values for 1,000 rows that are as plausible as these: the Bayesian bootstrap."""
        shares = 1000 * self._rng.dirichlet(self._alphas, size=draws)
        return evaluate_cells(expression, {column: shares @ means for column, means in self._means.items()})

    def like_then(self, now: NDArray[np.float64], expected: float, rows_ratio: float) -> NDArray[np.float64]:
        """Return values that were plausible then, where there are `rows_ratio` as many rows now.

        A policy does not tell how much the amounts of its rows varied; if nothing has changed, as now.
        """
        return expected + self._rng.permutation(now - now.mean()) * rows_ratio**0.5

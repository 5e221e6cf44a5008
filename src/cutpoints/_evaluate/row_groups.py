"""Rows in random groups, to resample sums of columns: a row's amount matters, not only its cell."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints.metrics.columns import CELLS, Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cutpoints.metrics.columns import Column
    from cutpoints.metrics.expression import Expression

MOST_GROUPS = 1000
"""Rows are resampled one by one up to this many, and in as many random groups beyond: sums of groups
vary as sums of rows do, and a resample costs the same however many rows there are."""


class RowGroups:
    """Rows in groups of equal size, give or take one: the same rows for every decision that is judged."""

    def __init__(
        self, y: NDArray[Any], columns: Mapping[Column, NDArray[Any]], rng: np.random.Generator
    ) -> None:
        self.size = min(len(y), MOST_GROUPS)
        self._y = y
        self._columns = columns
        self._group = np.arange(len(y)) % self.size
        if self.size < len(y):
            rng.shuffle(self._group)

    def cells(self, called: NDArray[Any]) -> dict[Column | None, NDArray[np.float64]]:
        """Return the sums of each group, shape (groups, 4), by column; None stands for the counts."""
        place = 4 * self._group + np.where(self._y, np.where(called, 0, 2), np.where(called, 1, 3))
        added: list[tuple[Column | None, Any]] = [(None, None), *self._columns.items()]
        return {
            column: np.bincount(place, weights=values, minlength=4 * self.size).reshape(-1, 4).astype(float)
            for column, values in added
        }


def evaluate_cells(
    expression: Expression, cells: Mapping[Column | None, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the values of an expression at sums of cells, shape (draws, 4), in float64."""
    named = {column: dict(zip(CELLS, sums.T, strict=True)) for column, sums in cells.items()}
    counts = named.pop(None)
    columns = {column: [Part(1, Fraction(1), **sums)] for column, sums in named.items()}
    with np.errstate(all="ignore"):
        return np.asarray(expression.evaluate(**counts, columns=columns), dtype=np.float64)

"""Cuts: the sums above thresholds, their values as floats, and exactly where floats cannot decide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints.metrics.columns import Part

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._kernel.tables import ColumnSums, Summary, Sums
    from cutpoints.metrics.columns import Column
    from cutpoints.metrics.expression import Constraint, Expression

    Index = NDArray[np.intp]
    Key = tuple[NDArray[np.object_], NDArray[np.object_]]
    """Numerators and denominators, Python integers; see `Expression.order_key`."""


@dataclass(frozen=True)
class Cuts:
    """Some cuts of the data, thresholds descending; `tp` and `fp` are the sums called positive.

    `below` is the next lower distinct score, where the interval of the same decisions ends.
    """

    summary: Summary
    thresholds: NDArray[np.floating[Any]]
    below: NDArray[np.floating[Any]]
    tp: Sums
    fp: Sums
    columns: ColumnSums = ()

    def __len__(self) -> int:
        return len(self.thresholds)

    def __getitem__(self, index: Any) -> Cuts:
        thresholds, below, tp, fp, *columns = (
            each[index] for each in (self.thresholds, self.below, self.tp, self.fp, *self.columns)
        )
        return Cuts(self.summary, thresholds, below, tp, fp, tuple(columns))

    @cached_property
    def units(self) -> dict[str, NDArray[np.float64]]:
        """The four counts in units of the grid, as float64."""
        return {name: count.astype(np.float64) for name, count in self._integers(slice(None)).items()}

    @cached_property
    def floats(self) -> dict[str, NDArray[np.float64]]:
        """The four counts, as float64."""
        if self.summary.grid.step == 1:
            return self.units
        decode = self.summary.grid.decode
        return {name: decode(count) for name, count in self._integers(slice(None)).items()}

    def _integers(self, index: Any) -> dict[str, Sums]:
        tp, fp = self.tp[index], self.fp[index]
        return {
            "tp": tp,
            "fp": fp,
            "fn": self.summary.positives - tp,
            "tn": self.summary.negatives - fp,
        }

    def parts(self, index: Any, number: Callable[[Any], Any]) -> dict[Column, list[Part]]:
        """Return the cells of each column at some cuts, as such numbers; nothing where they are unknown."""
        found: dict[Column, list[Part]] = {}
        pairs = zip(self.columns[::2], self.columns[1::2], strict=True)
        for one, (pos, neg) in zip(self.summary.columns, pairs, strict=False):
            tp, fp = pos[index], neg[index]
            cells = map(number, (tp, fp, one.positives - tp, one.negatives - fp))
            found.setdefault(one.column, []).append(Part(one.sign, one.grid.step, *cells))
        return found

    @cached_property
    def _all_parts(self) -> dict[Column, list[Part]]:
        return self.parts(slice(None), lambda cells: cells.astype(np.float64))

    def confusion(self, index: int) -> dict[str, Fraction]:
        """Return the exact confusion at one cut."""
        return self.summary.confusion(int(self.tp[index]), int(self.fp[index]))

    def values(self, expression: Expression) -> NDArray[np.float64]:
        """Return the float values at all cuts; NaN where undefined."""
        with np.errstate(all="ignore"):
            values = expression.evaluate(
                **self.units, step=float(self.summary.grid.step), columns=self._all_parts
            )
        return np.asarray(values, dtype=np.float64)

    def value(self, expression: Expression, index: int) -> float:
        """Return the value at one cut, rounded once from its exact value."""
        columns = self.parts(index, int) if expression.columns else None
        return expression.rounded(**self.confusion(index), columns=columns)

    def rounding_error(self, expression: Expression, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far these values, at all cuts, may lie from the true ones; infinite ones are true."""
        with np.errstate(all="ignore"):
            error = expression.rounding_error(
                values, self.summary.sizes, **self.floats, columns=self._all_parts
            )
        return np.where(np.isfinite(error), error, 0.0)

    def order_key(self, expression: Expression, index: Index) -> Key:
        """Return exact fractions that order some cuts as an exact expression does."""
        counts = {name: count.astype(object) for name, count in self._integers(index).items()}
        columns = self.parts(index, lambda cells: cells.astype(object)) if expression.columns else None
        return expression.order_key(**counts, step=self.summary.grid.step, columns=columns)

    def feasible(self, constraints: tuple[Constraint, ...]) -> NDArray[np.bool_]:
        """Return where all constraints hold; where one is undefined it does not hold."""
        mask = np.ones(len(self), dtype=np.bool_)
        for constraint in constraints:
            mask &= self._meets(constraint.plain)
        return mask

    def _meets(self, constraint: Constraint) -> NDArray[np.bool_]:
        """Decide by floats, and exactly where they are too close to the bound."""
        expression, bound = constraint.expression, float(constraint.bound)
        values = self.values(expression)
        with np.errstate(invalid="ignore"):
            away = values - bound
            unsure = np.abs(away) <= 2 * self.rounding_error(expression, values)
        signs = np.sign(away)  # NaN stays NaN, and meets nothing
        near = np.flatnonzero(unsure)
        if len(near):
            exact = expression.exact
            signs[near] = (
                compare(self.order_key(expression, near), expression.bound_key(constraint.bound))
                if exact
                else 0
            )
        return np.asarray(constraint.holds(signs), dtype=np.bool_)


def compare(key: Key, other: tuple[int, int]) -> NDArray[np.int8]:
    """Return the signs of fractions less one other; cross-multiplying never rounds.

    No denominator is negative.
    """
    difference = key[0] * other[1] - other[0] * key[1]
    return np.asarray(difference > 0, dtype=np.int8) - np.asarray(difference < 0, dtype=np.int8)

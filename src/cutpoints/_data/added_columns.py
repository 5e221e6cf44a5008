"""Columns that a goal adds up, such as amounts of money: checked, times the weights, on a grid.

A column with values of both signs is added up in two parts, so that no sum ever falls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._data.array_input import as_floats, refuse_nan
from cutpoints._kernel.tables import ColumnTotals
from cutpoints._kernel.weights import CENTS, FixedPoint
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from cutpoints.metrics.expression import LARGEST, SMALLEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.tables import ColumnSums, Scores
    from cutpoints.metrics.columns import Column

    Values = NDArray[np.float64]


def as_values(x: Any, name: str) -> Scores:
    """Return finite numbers of any sign."""
    values = as_floats(x, name)
    if len(values) and not np.isfinite([values.min(), values.max()]).all():
        refuse_nan(values, name)
        infinite = np.isinf(values)
        raise InvalidInputError.infinite(
            name=name, count=int(infinite.sum()), rows=len(values), first=int(infinite.argmax())
        )
    return values


CENT_ROUNDING = 2.0**-44
"""How far a value may lie from a hundredth, relative to it: two roundings of a float, times 100."""


def in_cents(values: Values) -> NDArray[np.bool_]:
    """Return which values are hundredths, to within rounding. Engines do the same, step by step."""
    with np.errstate(all="ignore"):
        scaled = values * CENTS
        return np.asarray(np.abs(scaled - np.floor(scaled + 0.5)) <= np.abs(values) * CENT_ROUNDING)


class Ends(NamedTuple):
    """The least and the greatest of what rows add, and whether all are hundredths."""

    least: float
    most: float
    cents: bool

    def hold(self, values: Values) -> bool:
        """Whether all values lie between them; NaN does not."""
        return bool(values.min() >= self.least and values.max() <= self.most)

    @classmethod
    def of(cls, blocks: Iterable[Values]) -> Ends:
        """Look at some blocks of values."""
        least, most, cents = np.inf, -np.inf, True
        for values in blocks:
            least, most = min(least, float(values.min())), max(most, float(values.max()))
            cents = cents and bool(in_cents(values).all())
        return cls(least, most, cents)


def parts(column: Column, ends: Ends, rows: int) -> list[ColumnTotals]:
    """Return the parts of a column whose values, times the weights, lie between these; totals are open."""
    least, most, cents = ends
    largest = max(abs(least), abs(most))
    if largest and not SMALLEST <= largest <= LARGEST:
        raise InvalidParameterError(
            column.name,
            expected=f"numbers that are 0 or between {SMALLEST:g} and {LARGEST:g} in size",
            got=most if largest == abs(most) else least,
        )
    grid = FixedPoint.cents(largest=largest, rows=rows) if cents else None
    grid = grid or FixedPoint.fitting(largest=largest, rows=rows)
    signs = [sign for sign, there in ((1, most > 0 or least >= 0), (-1, least < 0)) if there]
    return [ColumnTotals(column, sign, grid) for sign in signs]


def times(values: Scores, weights: Scores | None) -> Values:
    """Return what each row adds: its value, or that times its weight; as float64 in every engine."""
    wide = values.astype(np.float64, copy=False)
    return wide if weights is None else wide * weights


def on_grid(found: Sequence[ColumnTotals], values: dict[Column, Values]) -> tuple[Values, ...]:
    """Return integers, for each part, of what some rows add."""
    signs = [one.column for one in found]
    rounded = []
    for one in found:
        whole = one.grid.round(values[one.column])
        if one.sign < 0:
            whole = -whole
        rounded.append(np.maximum(whole, 0.0) if signs.count(one.column) > 1 else whole)
    return tuple(rounded)


def with_totals(found: Sequence[ColumnTotals], sums: ColumnSums) -> tuple[ColumnTotals, ...]:
    """Fill in what the columns add up to."""
    pairs = zip(found, sums[::2], sums[1::2], strict=True)
    return tuple(one._replace(positives=int(pos.sum()), negatives=int(neg.sum())) for one, pos, neg in pairs)

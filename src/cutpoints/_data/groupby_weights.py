"""Weights in an engine: one query finds the grid, and each weight is then rounded to it once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from cutpoints._data import expressions as ex
from cutpoints._data.array_input import infinite_weight, too_large
from cutpoints._kernel.weights import EXACT_INTEGERS, FixedPoint
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from narwhals.dtypes import DType
    from numpy.typing import NDArray

_MOST, _LEAST, _MISSING, _NEGATIVE = _MEASURES = "most", "least", "missing", "negative"


class Column(NamedTuple):
    """A column of weights: the user's name and ours, and the side that it adds to."""

    name: str
    own: str
    type: DType
    side: int | None
    """1 or 0 for a column that adds to one side; None where the label says which."""


def to_measure(columns: Sequence[Column]) -> list[nw.Expr]:
    """Return the columns that `measures` aggregates."""
    found = []
    for column in columns:
        value, missing = ex.floats(column.name, column.type)
        parts = {
            _MOST: value,
            _LEAST: value,
            _MISSING: ex.flag(missing),
            _NEGATIVE: ex.flag(value < ex.number(0)),
        }
        found += [part.alias(f"{column.own}_{name}") for name, part in parts.items()]
    return found


def measures(columns: Sequence[Column]) -> list[nw.Expr]:
    """Return what a grid and the checks of weights need to know, of all rows or of each group."""
    found = []
    for own in (column.own for column in columns):
        found += [nw.col(f"{own}_{_MOST}").max(), nw.col(f"{own}_{_LEAST}").min()]
        found += [nw.col(f"{own}_{name}").sum() for name in (_MISSING, _NEGATIVE)]
    return found


class Measured(NamedTuple):
    """Rows and grid of each group of rows, and whether its rows, all of one weight, are just counted."""

    rows: NDArray[np.int64]
    grids: list[FixedPoint]
    counted: NDArray[np.bool_]


def measured(
    columns: Sequence[Column], got: Mapping[str, NDArray[Any]], groups: NDArray[np.int64] | None = None
) -> Measured:
    """Return the grids that rows would have as arrays in memory; raise for bad weights.

    `groups` are numbers from 0 that say what belongs together.
    """
    groups = np.arange(len(got[ex.ROWS])) if groups is None else groups
    order = np.argsort(groups, kind="stable")
    first = np.searchsorted(groups[order], np.arange(groups.max() + 1))
    rows = np.add.reduceat(got[ex.ROWS].astype(np.int64)[order], first)
    if not columns:
        return Measured(rows, [FixedPoint()] * len(rows), np.ones(len(rows), dtype=np.bool_))
    most, least = np.zeros(len(rows)), np.full(len(rows), np.inf)
    for column in columns:
        found = {name: got[f"{column.own}_{name}"].astype(np.float64)[order] for name in _MEASURES}
        _check(column, found, int(rows.sum()))
        most = np.maximum(most, np.maximum.reduceat(found[_MOST], first))
        least = np.minimum(least, np.minimum.reduceat(found[_LEAST], first))
    counted = (least == most) & (most > 0) & (columns[0].side is None)
    ends = zip(most.tolist(), rows.tolist(), counted.tolist(), strict=True)
    return Measured(
        rows,
        [FixedPoint.constant(w) if one else FixedPoint.fitting(largest=w, rows=n) for w, n, one in ends],
        counted,
    )


def factors(grid: FixedPoint) -> tuple[float, float]:
    """Return two powers of two whose product scales a weight to half of its integer.

    A single one might be no float.
    """
    power = -grid.exponent - 1
    return math.ldexp(1.0, power // 2), math.ldexp(1.0, power - power // 2)


def _check(column: Column, got: Mapping[str, NDArray[Any]], rows: int) -> None:
    missing, negative = int(got[_MISSING].sum()), int(got[_NEGATIVE].sum())
    if missing:
        raise InvalidInputError.nan(name=column.name, count=missing, rows=rows, first=None)
    most, least = float(got[_MOST].max()), float(got[_LEAST].min())
    if column.type.is_integer() and max(most, -least) >= EXACT_INTEGERS:
        raise too_large(column.name)
    if negative:
        raise InvalidInputError.negative(name=column.name, count=negative, first=None, value=least)
    if not most * rows < math.inf:
        raise infinite_weight(column.name, most)

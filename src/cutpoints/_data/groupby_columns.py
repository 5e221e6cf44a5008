"""Columns that a goal adds up, in an engine: one query finds their grids, others add up integers.

Each step is one that every engine takes as NumPy does: multiply float64, compare, round down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from cutpoints._data import expressions as ex
from cutpoints._data.added_columns import CENT_ROUNDING, Ends, parts
from cutpoints._data.bins import LARGEST
from cutpoints._data.groupby_weights import factors
from cutpoints._kernel.weights import CENTS
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from narwhals.dtypes import DType
    from numpy.typing import NDArray

    from cutpoints._kernel.tables import ColumnTotals
    from cutpoints._kernel.weights import FixedPoint
    from cutpoints.metrics.columns import Column

_MOST, _LEAST, _MISSING, _INFINITE, _FINER = _MEASURES = "most", "least", "missing", "infinite", "finer"
_MOST_CENTS = 2.0**44
"""Above any number of cents that is added up as such; below it, every engine rounds down alike."""


class Added(NamedTuple):
    """A column that is added up: the user's and our name for it, and its type."""

    column: Column
    own: str
    type: DType


class AddedPart(NamedTuple):
    """The positive or the negative values of a column, under a name of its own."""

    added: Added
    own: str
    totals: ColumnTotals


def values(one: Added, weight: nw.Expr | None) -> nw.Expr:
    """Return what rows add: a column times the weights, as float64."""
    value, _ = ex.floats(one.column.name, one.type)
    return value if weight is None else value * weight


def to_measure(columns: Sequence[Added], weight: nw.Expr | None) -> list[nw.Expr]:
    """Return the columns that `measures` aggregates."""
    found = []
    for one in columns:
        raw, missing = ex.floats(one.column.name, one.type)
        value = values(one, weight)
        scaled = (value * float(CENTS)).clip(-_MOST_CENTS, _MOST_CENTS)
        away = (scaled - ex.whole(scaled + 0.5)).abs()
        each = {
            _MOST: value,
            _LEAST: value,
            _MISSING: ex.flag(missing),
            _INFINITE: ex.flag(raw.abs() > LARGEST),
            _FINER: ex.flag(away > value.abs() * CENT_ROUNDING),
        }
        found += [part.alias(f"{one.own}_{name}") for name, part in each.items()]
    return found


def measures(columns: Sequence[Added]) -> list[nw.Expr]:
    """Return what the grids and the checks need to know."""
    found = []
    for own in (one.own for one in columns):
        found += [nw.col(f"{own}_{_MOST}").max(), nw.col(f"{own}_{_LEAST}").min()]
        found += [nw.col(f"{own}_{name}").sum() for name in (_MISSING, _INFINITE, _FINER)]
    return found


def measured(columns: Sequence[Added], got: Mapping[str, NDArray[Any]], rows: int) -> list[AddedPart]:
    """Return the parts that arrays in memory would have; raise for missing and infinite values."""
    (found,) = measured_groups(columns, got, np.zeros(1, dtype=np.int64), np.array([rows]))
    return found


def measured_groups(
    columns: Sequence[Added],
    got: Mapping[str, NDArray[Any]],
    groups: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> list[list[AddedPart]]:
    """Return the same for each group of rows; `groups` says to which of them each measure belongs."""
    found: list[list[AddedPart]] = [[] for _ in rows]
    for one in columns:
        each = {name: got[f"{one.own}_{name}"].astype(np.float64) for name in _MEASURES}
        name, total = one.column.name, int(rows.sum())
        if each[_MISSING].sum():
            raise InvalidInputError.nan(name=name, count=int(each[_MISSING].sum()), rows=total, first=None)
        if each[_INFINITE].sum():
            raise InvalidInputError.infinite(
                name=name, count=int(each[_INFINITE].sum()), rows=total, first=None
            )
        most, least, finer = np.full(len(rows), -np.inf), np.full(len(rows), np.inf), np.zeros(len(rows))
        np.maximum.at(most, groups, each[_MOST])
        np.minimum.at(least, groups, each[_LEAST])
        np.add.at(finer, groups, each[_FINER])
        for group, place in enumerate(found):
            ends = Ends(float(least[group]), float(most[group]), cents=not finer[group])
            for part in parts(one.column, ends, int(rows[group])):
                place.append(AddedPart(one, f"{one.own}{'p' if part.sign > 0 else 'm'}", part))
    return found


def scale(grid: FixedPoint) -> tuple[float, float]:
    """Return two factors whose product scales a value to half of its integer, see `expressions.rounded`."""
    return factors(grid) if grid.parts == 1 else (grid.parts / 2, 1.0)


def rounded(
    frame: nw.LazyFrame[Any],
    found: Sequence[AddedPart],
    units: Mapping[str, tuple[nw.Expr, nw.Expr]] | None = None,
) -> nw.LazyFrame[Any]:
    """Make integers of the parts' values, by their grids or by these factors of each part."""
    for part in found:
        value = nw.col(part.added.own) * float(part.totals.sign)
        frame = frame.with_columns(nw.when(value > 0.0).then(value).otherwise(ex.number(0)).alias(part.own))
        by = scale(part.totals.grid) if units is None else units[part.own]
        frame = ex.rounded(frame, part.own, by)
    return frame

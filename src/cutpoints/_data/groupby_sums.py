"""What an engine adds up, weights and columns of a goal: one query finds their grids, others add integers.

Each value is rounded once. Each step is one that every engine takes as NumPy does: multiply float64,
compare, round down.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from cutpoints._data import expressions as ex
from cutpoints._data.added_columns import CENT_ROUNDING, Ends, parts
from cutpoints._data.array_input import infinite_weight, too_large
from cutpoints._data.bins import LARGEST
from cutpoints._data.frames import collect
from cutpoints._kernel.weights import CENTS, EXACT_INTEGERS, WEIGHT_BITS, FixedPoint
from cutpoints.exceptions import InvalidInputError
from cutpoints.metrics.columns import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from narwhals.dtypes import DType
    from numpy.typing import NDArray

    from cutpoints._data.frames import Collected
    from cutpoints._kernel.tables import ColumnTotals

_MOST, _LEAST, _MISSING, _NEGATIVE, _INFINITE, _FINER = (
    "most", "least", "missing", "negative", "infinite", "finer",
)  # fmt: skip
_MOST_CENTS = 2.0**WEIGHT_BITS
"""Above any number of cents that is added up as such; below it, every engine rounds down alike."""


class Weight(NamedTuple):
    """A column of weights: the user's name and ours, and the side that it adds to."""

    name: str
    own: str
    type: DType
    side: int | None
    """1 or 0 for a column that adds to one side; None where the label says which."""


class Added(NamedTuple):
    """A column that a goal adds up: the user's and our name for it, and its type."""

    column: Column
    own: str
    type: DType


class AddedPart(NamedTuple):
    """The positive or the negative values of a column, under a name of its own."""

    added: Added
    own: str
    totals: ColumnTotals


class Sums(NamedTuple):
    """All that is added up: weights, and columns times the weights."""

    weights: list[Weight]
    columns: list[Added]

    @property
    def weight(self) -> nw.Expr | None:
        """The weights that values of columns are multiplied by."""
        return ex.floats(self.weights[0].name, self.weights[0].type)[0] if self.weights else None

    def value(self, one: Added) -> nw.Expr:
        """Return what rows add: a column times the weights, as float64."""
        value, _ = ex.floats(one.column.name, one.type)
        return value if self.weight is None else value * self.weight

    def to_measure(self) -> list[nw.Expr]:
        """Return the columns that `measures` aggregates."""
        return [one.alias(f"{own}_{name}") for own, each in self._measured() for name, one in each.items()]

    def measures(self) -> list[nw.Expr]:
        """Return what the grids and the checks need to know, of all rows or of each group."""
        found = []
        for own, each in self._measured():
            for name in each:
                column = nw.col(f"{own}_{name}")
                ends = {_MOST: column.max, _LEAST: column.min}
                found.append(ends.get(name, column.sum)())
        return found

    def _measured(self) -> list[tuple[str, dict[str, nw.Expr]]]:
        found = []
        for weight in self.weights:
            value, missing = ex.floats(weight.name, weight.type)
            negative = ex.flag(value < ex.number(0))
            each = {_MOST: value, _LEAST: value, _MISSING: ex.flag(missing), _NEGATIVE: negative}
            found.append((weight.own, each))
        for one in self.columns:
            raw, missing = ex.floats(one.column.name, one.type)
            value = self.value(one)
            scaled = (value * float(CENTS)).clip(-_MOST_CENTS, _MOST_CENTS)
            away = (scaled - ex.whole(scaled + 0.5)).abs()
            each = {
                _MOST: value,
                _LEAST: value,
                _MISSING: ex.flag(missing),
                _INFINITE: ex.flag(raw.abs() > LARGEST),
                _FINER: ex.flag(away > value.abs() * CENT_ROUNDING),
            }
            found.append((one.own, each))
        return found


def measure(frame: nw.LazyFrame[Any], sums: Sums) -> Collected:
    """Ask for the ends and the faults of what is added up, over all rows."""
    return collect(frame.select(*sums.to_measure()).select(nw.len().alias(ex.ROWS), *sums.measures()))


def ends_of(frame: Any, weights: Sequence[str], columns: Sequence[str]) -> tuple[int, list[Ends]]:
    """Return how many rows a table has, and the ends of weights, and of columns times the first weight.

    Of values of which some are missing or infinite there are no ends.
    """
    table = nw.from_native(frame)
    schema = table.collect_schema()
    sums = Sums(
        [Weight(name, f"w{i}", schema[name], None) for i, name in enumerate(weights)],
        [Added(Column(name), f"x{i}", schema[name]) for i, name in enumerate(columns)],
    )
    got = {name: values[0] for name, values in measure(table, sums).items()}
    found = []
    for own in [*(one.own for one in sums.weights), *(one.own for one in sums.columns)]:
        bad = got[ex.ROWS] == 0 or any(got.get(f"{own}_{name}") for name in (_MISSING, _INFINITE))
        ends = (math.nan, math.nan) if bad else (float(got[f"{own}_{_LEAST}"]), float(got[f"{own}_{_MOST}"]))
        found.append(Ends(*ends, cents=not got.get(f"{own}_{_FINER}")))
    return int(got[ex.ROWS]), found


class Measured(NamedTuple):
    """Of each group of rows: how many there are, grid and parts, and whether they are just counted.

    Rows are counted where all of a group have one weight.
    """

    rows: NDArray[np.int64]
    grids: list[FixedPoint]
    counted: NDArray[np.bool_]
    parts: list[list[AddedPart]]


def measured(
    sums: Sums, got: Mapping[str, NDArray[Any]], groups: NDArray[np.int64] | None = None
) -> Measured:
    """Return the grids that rows would have as arrays in memory; raise for what cannot be added up.

    `groups` are numbers from 0 that say what belongs together.
    """
    groups = np.arange(len(got[ex.ROWS])) if groups is None else groups
    size = int(groups.max()) + 1
    rows = np.zeros(size, dtype=np.int64)
    np.add.at(rows, groups, got[ex.ROWS].astype(np.int64))
    total = int(rows.sum())

    def ends(own: str, most: float, least: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        upper, lower = np.full(size, most), np.full(size, least)
        np.maximum.at(upper, groups, got[f"{own}_{_MOST}"].astype(np.float64))
        np.minimum.at(lower, groups, got[f"{own}_{_LEAST}"].astype(np.float64))
        return upper, lower

    def faults(own: str, name: str) -> int:
        return int(got[f"{own}_{name}"].sum())

    most, least = np.zeros(size), np.full(size, np.inf)
    for weight in sums.weights:
        upper, lower = ends(weight.own, -np.inf, np.inf)
        if count := faults(weight.own, _MISSING):
            raise InvalidInputError.nan(name=weight.name, count=count, rows=total, first=None)
        high, low = float(upper.max()), float(lower.min())
        if weight.type.is_integer() and max(high, -low) >= EXACT_INTEGERS:
            raise too_large(weight.name)
        if count := faults(weight.own, _NEGATIVE):
            raise InvalidInputError.negative(name=weight.name, count=count, first=None, value=low)
        if not high * total < math.inf:
            raise infinite_weight(weight.name, high)
        most, least = np.maximum(most, upper), np.minimum(least, lower)
    grids, counted = [FixedPoint()] * size, np.ones(size, dtype=np.bool_)
    if sums.weights:
        counted = (least == most) & (most > 0) & (sums.weights[0].side is None)
        each = zip(most.tolist(), rows.tolist(), counted.tolist(), strict=True)
        grids = [
            FixedPoint.constant(w) if one else FixedPoint.fitting(largest=w, rows=n) for w, n, one in each
        ]
    found: list[list[AddedPart]] = [[] for _ in rows]
    for one in sums.columns:
        for name, error in ((_MISSING, InvalidInputError.nan), (_INFINITE, InvalidInputError.infinite)):
            if count := faults(one.own, name):
                raise error(name=one.column.name, count=count, rows=total, first=None)
        upper, lower = ends(one.own, -np.inf, np.inf)
        finer = np.zeros(size)
        np.add.at(finer, groups, got[f"{one.own}_{_FINER}"].astype(np.float64))
        for group, place in enumerate(found):
            between = Ends(float(lower[group]), float(upper[group]), cents=not finer[group])
            for part in parts(one.column, between, int(rows[group])):
                place.append(AddedPart(one, f"{one.own}{'p' if part.sign > 0 else 'm'}", part))
    return Measured(rows, grids, counted, found)


def scale(grid: FixedPoint) -> tuple[float, float]:
    """Return two factors whose product scales a value to half of its integer, see `expressions.rounded`.

    A single power of two might be no float.
    """
    if grid.parts != 1:
        return grid.parts / 2, 1.0
    power = -grid.exponent - 1
    return math.ldexp(1.0, power // 2), math.ldexp(1.0, power - power // 2)


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

"""Masses that engines can add without rounding: columns of weights, split into whole numbers.

The sum of floats depends on their order, and engines add in any order. Whole numbers below 2**53 do
not mind. So each weight is split into limbs of so few bits that a limb's sum over all rows stays
below 2**53, the limbs are added by the engine as float64, and put together here as integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from cutpoints._data import expressions as ex
from cutpoints._data.array_input import HEAVIEST, LIGHTEST, odd_weight, too_large
from cutpoints._kernel.masses import FLOAT_BITS, LIMB_BITS, Unit, grain
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from narwhals.dtypes import DType
    from numpy.typing import NDArray

GRAINS = (0, -20)
"""Places of the lowest bit that are tried: whole numbers, and halves, quarters, eighths and so on.
What is finer is taken to have all the bits that a float64 can have."""
_WHOLE = 2.0**FLOAT_BITS


@dataclass
class Column:
    """A column of weights: the user's name and ours, and how it is split once it is measured."""

    name: str
    own: str
    type: DType
    side: int | None
    """1 or 0 for a column that adds to one side; None where the label says which."""
    low: int = 0
    bits: int = FLOAT_BITS
    count: int = 1
    unit: Unit = field(default_factory=Unit)

    @property
    def limbs(self) -> list[str]:
        """The columns of the limbs, the lowest first."""
        return [ex.limb_name(self.own, i) for i in range(self.count)]

    def assemble(self, sums: list[NDArray[Any]]) -> NDArray[np.int64]:
        """Put the sums of limbs together as integers of the unit, a row per limb of 36 bits."""
        whole = np.zeros((self.unit.limbs, len(sums[0])), dtype=np.int64)
        for i, column in enumerate(sums):
            part = column.astype(np.int64)
            place, shift = divmod(self.bits * i, LIMB_BITS)
            if place + 1 >= self.unit.limbs:
                whole[-1] += part << (shift + LIMB_BITS * (place - self.unit.limbs + 1))
                continue
            room = LIMB_BITS - shift
            whole[place] += (part & ((1 << room) - 1)) << shift
            whole[place + 1] += part >> room
        return whole


def measure(
    frame: nw.LazyFrame[Any], columns: list[Column], collect: Callable[..., dict[str, Any]]
) -> tuple[Unit, int]:
    """Check the weights and choose how to split them: one query. Return their unit and the rows."""
    checks = []
    for column in columns:
        value, missing = ex.floats(column.name, column.type)
        positive = value > ex.number(0)
        found = {
            "missing": _flag(missing),
            "negative": _flag(value < ex.number(0)),
            "most": value,
            "least": nw.when(positive).then(value).otherwise(ex.number(math.ldexp(1.0, 1023))),
            "lowest": value,
            **{f"finer{i}": _flag(_splits(value, place)) for i, place in enumerate(GRAINS)},
        }
        checks += [expression.alias(f"{column.own}_{name}") for name, expression in found.items()]
    wanted = [nw.len().alias(ex.ROWS)]
    for column in columns:
        wanted += [nw.col(f"{column.own}_{name}").min() for name in ("least", "lowest")]
        wanted.append(nw.col(f"{column.own}_most").max())
        sums = ("missing", "negative", *(f"finer{i}" for i in range(len(GRAINS))))
        wanted += [nw.col(f"{column.own}_{name}").sum() for name in sums]
    got = collect(frame.select(*checks).select(*wanted))
    rows = int(got[ex.ROWS][0])
    if rows == 0:
        raise InvalidInputError.empty(name=columns[0].name)
    ranges = [_range(column, {k: v[0] for k, v in got.items()}, rows) for column in columns]
    unit = grain(list(ranges), rows)
    known = [r for r in ranges if r is not None]
    low = min((r[0] for r in known), default=0) if unit != Unit() else 0
    high = max((r[1] for r in known), default=1)
    bits = FLOAT_BITS - (rows + 1).bit_length()
    for column in columns:
        column.low, column.unit = low, unit
        column.count = max(1, -(-(high - low) // bits))
        column.bits = bits
    return unit, rows


def _range(column: Column, got: dict[str, Any], rows: int) -> tuple[int, int] | None:
    """Return the places of the lowest and one past the highest bit that weights may have."""
    value = {name: float(got[f"{column.own}_{name}"]) for name in ("missing", "negative", "lowest")}
    if value["missing"]:
        raise InvalidInputError.nan(name=column.name, count=int(value["missing"]), rows=rows, first=None)
    if value["negative"]:
        raise InvalidInputError.negative(
            name=column.name, count=int(value["negative"]), first=None, value=value["lowest"]
        )
    most, least = float(got[f"{column.own}_most"]), float(got[f"{column.own}_least"])
    if column.type.is_integer() and most >= _WHOLE:
        raise too_large(column.name)
    if most == 0:
        return None
    for bad, wrong in ((most, most > HEAVIEST), (least, least < LIGHTEST)):
        if wrong:
            raise odd_weight(column.name, bad)
    lowest = math.frexp(least)[1] - FLOAT_BITS
    for i, place in enumerate(GRAINS):
        if not got[f"{column.own}_finer{i}"]:
            lowest = max(lowest, place)
            break
    return lowest, math.frexp(most)[1]


def _splits(value: nw.Expr, place: int) -> nw.Expr:
    """Return where a number is no multiple of ``2**place``; from 2**53 of these on, all are."""
    steps = (value * ex.number(2.0**-place)).clip(0.0, _WHOLE)
    return steps != steps.floor().cast(nw.Float64())


def _flag(condition: nw.Expr) -> nw.Expr:
    return nw.when(condition).then(ex.number(1)).otherwise(ex.number(0))

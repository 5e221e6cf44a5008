"""Values that differ from row to row: columns, and their sums over the cells of a confusion.

A missed fraud costs its amount. The sum of the amounts over the misses is a cell of a second confusion,
in which every row counts with its amount; a cost is a sum of such cells with number weights. All that
is added up are columns as they are: what a formula makes of the sums is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._arithmetic import as_float
from cutpoints.metrics.expression import (
    SLACK,
    Array,
    Bounds,
    Box,
    Expression,
    exact_number,
    format_number,
    is_number,
    widened,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cutpoints.metrics.metric import Direction, MetricDoc

CELLS = ("tp", "fp", "fn", "tn")
_ARRAYS = "values"
"""What an array without a name is called."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the data by name, or an array with one value per row."""

    name: str
    values: Any = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            return NotImplemented
        return self.name == other.name and self.values is other.values

    def __hash__(self) -> int:
        return hash((self.name, id(self.values)))

    def __str__(self) -> str:
        return self.name if self.name.isidentifier() else f"column({self.name!r})"


class Part(NamedTuple):
    """A column's cells: sums of its positive values (sign 1) or of its negative ones (sign -1).

    In units of `step`, and never negative.
    """

    sign: int
    step: Fraction
    tp: Any
    fp: Any
    fn: Any
    tn: Any


class PartBox(NamedTuple):
    """The same where only intervals are known: what is called lies between these, elementwise."""

    sign: int
    step: Fraction
    tp_low: Array
    tp_high: Array
    fp_low: Array
    fp_high: Array
    positives: float
    negatives: float


@dataclass(frozen=True)
class RowValue:
    """A number for each row: columns with number weights, plus a number; see `column`."""

    terms: tuple[tuple[Fraction, Column], ...] = ()
    constant: Fraction = Fraction(0)

    # NumPy scalars would otherwise broadcast over it: np.float64(2) * column.
    __array_ufunc__ = None

    def __add__(self, other: object) -> RowValue:
        if is_number(other):
            return RowValue(self.terms, self.constant + exact_number(other, "column"))
        if not isinstance(other, RowValue):
            return NotImplemented
        weights: dict[Column, Fraction] = {}
        for weight, each in (*self.terms, *other.terms):
            weights[each] = weights.get(each, Fraction(0)) + weight
        return RowValue(
            tuple((weight, each) for each, weight in weights.items()), self.constant + other.constant
        )

    __radd__ = __add__

    def __mul__(self, other: object) -> RowValue:
        if isinstance(other, RowValue):
            raise InvalidParameterError(
                "column",
                expected="multiplied by numbers only",
                got=f"the product ({self}) * ({other})",
                hint="make a column of the product first.",
            )
        if not is_number(other):
            return NotImplemented
        factor = exact_number(other, "column")
        return RowValue(tuple((factor * weight, each) for weight, each in self.terms), factor * self.constant)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> RowValue:
        return self * (1 / exact_number(other, "column")) if is_number(other) and other else NotImplemented

    def __neg__(self) -> RowValue:
        return self * -1

    def __sub__(self, other: object) -> RowValue:
        return self + -other if is_number(other) or isinstance(other, RowValue) else NotImplemented  # type: ignore[operator]

    def __rsub__(self, other: object) -> RowValue:
        return -self + other

    def __str__(self) -> str:
        text = ""
        numbers = [(weight, str(each)) for weight, each in self.terms]
        for weight, each in [*numbers, *([(self.constant, "")] if self.constant or not numbers else [])]:
            size = format_number(abs(weight))
            sign = ("-" if weight < 0 else "") if not text else (" - " if weight < 0 else " + ")
            text += sign + (size if not each else each if size == "1" else f"{size}*{each}")
        return text

    def __repr__(self) -> str:
        return f"<{self}>"


def column(name: str) -> RowValue:
    """Take a column of the data by name, for costs that differ from row to row.

    It can be multiplied by numbers, and added to numbers and other columns.

    Examples
    --------
    >>> import cutpoints as cp, pandas as pd
    >>> from cutpoints import metrics as m
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.2, 0.6, 0.9], "amount": [20, 3, 50, 400]})
    >>> loss = m.cost(fp=5, fn=m.column("amount") + 1)
    >>> loss
    <cost(fp=5, fn=amount + 1)>
    >>> cp.find(frame, label="y", score="p", minimize=loss).value
    4.0
    """
    if not isinstance(name, str):
        raise InvalidParameterError(
            "name", caller="column", expected="the name of a column, a string", got=name
        )
    return RowValue(((Fraction(1), Column(name)),))


def row_value(given: Any, parameter: str, caller: str) -> RowValue:
    """Read what a user gives for each row: a number, a column, or an array."""
    if isinstance(given, RowValue):
        return given
    if is_number(given):
        return RowValue(constant=exact_number(given, parameter, caller))
    if np.ndim(given) == 0:
        raise InvalidParameterError(
            f"{caller}({parameter})",
            caller=caller,
            expected="a finite number, a column, or an array with one value per row",
            got=given,
            hint=f"a column is given as metrics.column({given!r})." if isinstance(given, str) else None,
        )
    name = getattr(given, "name", None)
    return RowValue(((Fraction(1), Column(name if isinstance(name, str) else _ARRAYS, given)),))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RowSum(Expression):
    """What the rows of each cell are worth, added up; or that per row."""

    name: str
    direction: Direction
    doc: MetricDoc
    worth: Mapping[str, RowValue]
    """What a row is worth in each cell, by name."""
    review: RowValue = RowValue()
    """What a row costs that people review, in `find_band`; one threshold leaves none to review."""
    per_row: bool = False
    text: str = ""

    monotonicity = None

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """The columns that are added up."""
        worth = (*self.worth.values(), self.review)
        return tuple(dict.fromkeys(each for value in worth for _, each in value.terms))

    @property
    def degree(self) -> int:  # type: ignore[override]
        """0 per row, otherwise 1."""
        return 0 if self.per_row else 1

    @cached_property
    def _weights(self) -> dict[Column | None, dict[str, Fraction]]:
        """What the cells of each column are multiplied by; None stands for the counts."""
        found: dict[Column | None, dict[str, Fraction]] = {}
        for cell, value in self.worth.items():
            for weight, each in ((value.constant, None), *value.terms):
                found.setdefault(each, dict.fromkeys(CELLS, Fraction(0)))[cell] += weight
        return found

    def _parts(self, counts: Any, columns: Any) -> Iterator[tuple[dict[str, Fraction], Any]]:
        """Yield the weights of cells, in units, and the part whose cells they are."""
        missing = [str(each) for each in self.columns if columns is None or each not in columns]
        if missing:
            raise InvalidParameterError(
                "metric",
                expected="a metric of counts here, without columns",
                got=str(self),
                hint=f"counts do not tell what {missing[0]} adds up to; find(), evaluate() and curve() do.",
            )
        for each, weights in self._weights.items():
            for part in (counts,) if each is None else columns[each]:
                yield {cell: weight * part.sign * part.step for cell, weight in weights.items()}, part

    def _terms(self, step: Any, columns: Any, counts: Mapping[str, Any]) -> list[tuple[Fraction, Any]]:
        """Return weights, and the sums that they belong to."""
        parts = self._parts(Part(1, Fraction(step), **counts), columns)
        return [
            (weight, getattr(part, cell))
            for weights, part in parts
            for cell, weight in weights.items()
            if weight
        ]

    def evaluate(self, *, step: Any = 1.0, columns: Any = None, **counts: Any) -> Any:
        """Add up; in float64."""
        total: Any = np.zeros(np.shape(counts["tp"]))
        for weight, sums in self._terms(step, columns, counts):
            total = total + float(weight) * sums
        return np.divide(total, sum(counts.values()) * step) if self.per_row else total

    def order_key(self, *, step: Fraction, columns: Any = None, **counts: Any) -> tuple[Any, Any]:
        """Bring all weights to a common denominator."""
        terms = self._terms(step, columns, counts)
        common = math.lcm(*(weight.denominator for weight, _ in terms))
        above = counts["tp"] * 0
        for weight, sums in terms:
            above = above + int(weight * common) * sums
        if not self.per_row:
            return above, counts["tp"] * 0 + common
        return above * step.denominator, common * step.numerator * sum(counts.values())

    def rounded(self, *, columns: Any = None, **counts: Any) -> float:
        """Return the value, rounded once."""
        exact = self.fraction(**counts, columns=columns)
        return math.nan if exact is None else as_float(exact)

    def rounding_error(
        self, values: Array, totals: tuple[float, float], *, columns: Any = None, **counts: Any
    ) -> Array:
        """Scale with all that is added up, of either sign."""
        size: Any = np.zeros(np.shape(counts["tp"]))
        for weight, sums in self._terms(1, columns, counts):
            size = size + abs(float(weight)) * sums
        rows = totals[0] + totals[1]
        return SLACK * (size / rows if self.per_row and rows else size)

    def bounds(self, box: Box) -> Bounds | None:
        """Bound each sum by itself: it adds least at one end of the box, and most at the other."""
        low, high, size = (np.zeros(np.shape(box.tp_low)) for _ in range(3))
        for weights, part in self._parts(PartBox(1, Fraction(box.step), *box[:6]), box.columns):
            for cells, ends in (("tp", "fn"), part[2:4]), (("fp", "tn"), part[4:6]):
                called, left = (float(weights[cell]) for cell in cells)
                total = part.positives if cells[0] == "tp" else part.negatives
                first, last = (called * end + left * (total - end) for end in ends)
                low, high = low + np.minimum(first, last), high + np.maximum(first, last)
                size = size + (abs(called) + abs(left)) * total
        if self.per_row:
            rows = (box.positives + box.negatives) * box.step
            low, high, size = low / rows, high / rows, size / rows
        return widened(low, high, size)

    def gain_and_loss(self, counts: Part, columns: Mapping[Column, list[Part]]) -> tuple[Fraction, Fraction]:
        """Return by how much calling rows can raise the value at most, and lower it; all are called here.

        A gain of 0 means that no row, whatever its label, raises the value when it is called.
        """
        gain = loss = Fraction(0)
        for weights, part in self._parts(counts, columns):
            for called, left in (("tp", "fn"), ("fp", "tn")):
                change = (weights[called] - weights[left]) * getattr(part, called)
                gain, loss = gain + max(change, Fraction(0)), loss + max(-change, Fraction(0))
        return gain, loss

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowSum):
            return NotImplemented
        return (self.name, self.worth) == (other.name, other.worth)

    def __hash__(self) -> int:
        return hash((self.name, *self.worth.values()))

    def linear_fractional(self, positives: Fraction, negatives: Fraction) -> None:
        """There is none: the value depends on more than TP and FP."""
        return

    def magnitude(self, positives: float, negatives: float) -> float:
        """Return 0: `rounding_error` knows the sizes."""
        return 0.0

    def __str__(self) -> str:
        if self.text:
            return self.text
        named = {**self.worth, "review": self.review}
        given = (f"{cell}={value}" for cell, value in named.items() if value.terms or value.constant)
        return f"{self.name}({', '.join(given)})"

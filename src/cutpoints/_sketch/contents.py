"""What a sketch holds: sums per bucket, the two labels, and the limits that fix the grid of its weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_array, as_floats, as_weights, refuse_nan, same_index, same_length
from cutpoints._data.labels import Labels
from cutpoints._kernel.histogram import Block
from cutpoints._kernel.mergeable_histogram import MergeableHistogram, counted, merged
from cutpoints._kernel.tables import Summary
from cutpoints._kernel.weights import SUM_BITS, FixedPoint
from cutpoints._validate import is_number
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._kernel.tables import Scores

MAX_BUCKETS = 1 << 16
"""A sketch of no more distinct scores than that is exact."""
MAX_LABEL_LENGTH = 1000
_COUNTED_ROWS = 1 << 20
"""Rows that are counted at once."""

Label = int | float | str


@dataclass(frozen=True)
class Contents:
    """Never changes; a sketch exchanges it for another."""

    max_weight: float | None = None
    """None: rows are counted, and `max_rows` is None too."""
    max_rows: int | None = None
    positive: Label | None = None
    """The label of the positive class, and the other one; None until a row has it."""
    negative: Label | None = None
    buckets: MergeableHistogram = field(default_factory=MergeableHistogram.empty)

    @classmethod
    def limited(cls, max_weight: Any, max_rows: Any) -> Contents:
        """Return the contents of no rows; without `max_weight` rows are counted."""
        if max_weight is None:
            return cls()
        whole = is_number(max_rows) and math.isfinite(max_rows) and max_rows == int(max_rows)
        if not whole or not possible(1.0, int(max_rows)):
            raise InvalidParameterError(
                "max_rows", caller="Sketch", expected="a positive integer", got=max_rows
            )
        if not is_number(max_weight) or not possible(float(max_weight), int(max_rows)):
            raise InvalidParameterError(
                "max_weight",
                caller="Sketch",
                expected="a positive number, and finite when multiplied by max_rows",
                got=max_weight,
                hint="pass the largest weight that a row can have.",
            )
        return cls(float(max_weight), int(max_rows))

    @cached_property
    def grid(self) -> FixedPoint:
        """The grid of the weights."""
        if self.max_weight is None or self.max_rows is None:
            return FixedPoint()
        return FixedPoint.fitting(largest=self.max_weight, rows=self.max_rows)

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return int(self.buckets.rows.sum())

    @property
    def most_rows(self) -> int:
        """The most rows whose sums are certain to stay below 2**62."""
        return (1 << SUM_BITS) - 1 if self.max_rows is None else self.max_rows

    def summary(self) -> Summary:
        """Return rows, totals and the range of scores; raise if there are no rows."""
        if not len(self.buckets):
            raise InvalidInputError.empty(name="the sketch")
        pos, neg = int(self.buckets.pos.sum()), int(self.buckets.neg.sum())
        low, high = float(self.buckets.low[0]), float(self.buckets.high[-1])
        return Summary(self.rows, pos, neg, self.grid, low, high)

    def of_rows(self, y_true: Any, y_score: Any, *, sample_weight: Any, pos_label: Any) -> Contents:
        """Return the contents of these rows alone, with the same limits; raise as `find` does."""
        nothing = replace(self, positive=None, negative=None, buckets=MergeableHistogram.empty())
        same_index({"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight})
        values, scores = as_array(y_true, "y_true"), as_floats(y_score, "y_score")
        if len(values) == len(scores) == 0:
            return nothing
        labels = Labels(values, pos_label)
        weights = None if sample_weight is None else as_weights(sample_weight, "sample_weight")
        same_length({"y_true": labels, "y_score": scores, "sample_weight": weights})
        refuse_nan(scores, "y_score")
        sides, counts = labels.check(slice(None))
        labels.settle([counts])
        self._check_rows(len(scores))
        weights = self._checked(weights, len(scores))
        buckets = nothing.buckets
        for start in range(0, len(scores), _COUNTED_ROWS):
            part = slice(start, start + _COUNTED_ROWS)
            block = Block(scores[part], [(sides[part], None if weights is None else weights[part])])
            level = max(self.buckets.level, buckets.level)
            buckets = merged([buckets, counted(block, self.grid, MAX_BUCKETS, level)], MAX_BUCKETS)
        other = int(sides.argmin())
        return replace(
            nothing,
            positive=plain_label(labels.positive),
            negative=None if sides[other] else plain_label(labels.values[other]),
            buckets=buckets,
        )

    def plus(self, other: Contents) -> Contents:
        """Return the contents of the rows of both; raise if they do not go together."""
        if (self.max_weight, self.max_rows) != (other.max_weight, other.max_rows):
            raise InvalidParameterError(
                "other",
                caller="Sketch.merge",
                expected=f"a sketch made as this one was, {self._made()}",
                got=other._made(),
                hint="make all parts with the same max_weight and max_rows, which fix the rounding.",
            )
        self._check_rows(self.rows + other.rows)
        positives, negatives = (
            {label: None for label in pair if label is not None}
            for pair in ((self.positive, other.positive), (self.negative, other.negative))
        )
        if len(positives) > 1:
            raise InvalidParameterError(
                "pos_label",
                expected=f"{self.positive!r}, as for the rows that the sketch has",
                got=other.positive,
                hint="use one positive label for all rows of a sketch.",
            )
        if len(negatives) > 1:
            found = sorted([*positives, *negatives], key=lambda label: (isinstance(label, str), label))
            raise InvalidInputError.labels(values=found, count=len(found), pos_label=self.positive)
        return replace(
            self,
            positive=next(iter(positives), None),
            negative=next(iter(negatives), None),
            buckets=merged([self.buckets, other.buckets], MAX_BUCKETS),
        )

    def _check_rows(self, rows: int) -> None:
        """Raise for more rows than the grid was made for."""
        if rows > self.most_rows:
            raise InvalidParameterError(
                "max_rows",
                caller="Sketch",
                expected=f"at least {rows:,}, the number of rows",
                got=self.most_rows,
                hint="make the sketch again with a larger max_rows; its weights are rounded more coarsely.",
            )

    def refuse_weights(self, caller: str) -> None:
        """Raise if rows are only counted: there is no grid for weights."""
        if self.max_weight is None:
            raise InvalidParameterError(
                "sample_weight",
                caller=caller,
                expected="left out, since this sketch counts rows",
                got="weights",
                hint="make the sketch with the largest weight of a row: Sketch(max_weight=1000.0).",
            )

    def _checked(self, weights: Scores | None, rows: int) -> Scores | None:
        """Return the weights of an update, ones by default; raise for those beyond the limit."""
        if weights is not None:
            self.refuse_weights("Sketch.update")
        if self.max_weight is None:
            return None
        weights = np.ones(rows) if weights is None else weights
        heaviest = int(weights.argmax())
        if weights[heaviest] > self.max_weight:
            raise InvalidParameterError(
                "sample_weight",
                caller="Sketch.update",
                expected=f"at most max_weight, {self.max_weight!r}",
                got=f"{float(weights[heaviest])!r} at row {heaviest}",
                hint="make the sketch again with a larger max_weight, or cap the weights.",
            )
        return weights

    def _made(self) -> str:
        if self.max_weight is None:
            return "Sketch()"
        return f"Sketch(max_weight={self.max_weight!r}, max_rows={self.max_rows!r})"


def possible(max_weight: float, max_rows: int) -> bool:
    """Return whether `max_rows` weights of at most `max_weight` have a grid and a finite sum."""
    return max_weight > 0 and 0 < max_rows < 1 << SUM_BITS and math.isfinite(max_weight * max_rows)


def plain_label(label: Any) -> Label:
    """Return a label as a number or a string of Python; equal labels become the same."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str) and len(value) <= MAX_LABEL_LENGTH:
        return value
    if isinstance(value, int | float) and abs(value) < 1 << SUM_BITS:
        return int(value) if value == int(value) else value
    raise InvalidParameterError(
        "y_true",
        caller="Sketch.update",
        expected=f"labels that are numbers or strings of at most {MAX_LABEL_LENGTH} characters",
        got=value,
    )

"""What is wrong with the rows of a stream: found by reading them once more, and said in full.

The fast pass only notices that something is wrong. Only then is it worth the while to count how
many values are missing, to find the first of them, and to list the labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cutpoints._data.array_input import as_floats, infinite_weight
from cutpoints._data.labels import Labels
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from cutpoints._data.streaming import Reader

_MOST_LABELS = 100_000
"""More distinct labels than this are not counted: the wrong column was named."""


class _Marked:
    """How many values of a column have a fault, and the first of them."""

    def __init__(self) -> None:
        self.count, self.first, self.value = 0, -1, None

    def add(self, bad: Any, values: Any, start: int) -> None:
        """Note the faults of a batch that begins at row `start`."""
        found = int(np.count_nonzero(bad))
        if found and not self.count:
            at = int(np.argmax(bad))
            self.first, self.value = start + at, values[at]
        self.count += found


def raise_fault(reader: Reader, pos_label: Any) -> NoReturn:
    """Raise the error that arrays with these rows would raise; rows that are fine now have changed."""
    columns = reader.columns
    _check_added(reader)
    rows = 0
    missing = {name: _Marked() for name in columns.all}
    negative = {name: _Marked() for name in columns.masses}
    largest = dict.fromkeys(columns.masses, (-1, -np.inf))
    labels: set[Any] = set()
    kind: Any = np.float64
    for batch in reader.batches(None):
        named = dict(zip(columns.all, batch, strict=True))
        for name in {columns.score, *columns.masses}:
            values = as_floats(named[name], name)
            missing[name].add(np.isnan(values), values, rows)
            if name in negative:
                negative[name].add(values < 0, values, rows)
                at = int(np.argmax(values))
                if values[at] > largest[name][1]:
                    largest[name] = rows + at, float(values[at])
        if columns.label is not None and not reader.coded:
            values = batch[1]
            if values.dtype.kind == "f":
                missing[columns.label].add(np.isnan(values), values, rows)
                values = values[~np.isnan(values)]
            else:
                kind = values.dtype
            if len(labels) < _MOST_LABELS:
                labels.update(np.unique(values).tolist())
        rows += len(batch[0])
    for name in columns.masses:
        _check_weights(name, rows, missing[name], negative[name], largest[name])
    for name in columns.all[:2]:
        _check_missing(name, rows, missing[name])
    if reader.coded:
        reader.check_labels()
    elif columns.label is not None:
        found = Labels(np.array(sorted(labels), dtype=kind), pos_label, name=columns.label)
        found.settle([found.check(slice(None))[1]])
    raise InvalidInputError.changed(expected=rows, found=rows)


def _check_added(reader: Reader) -> None:
    """Raise for columns that are added up as `as_values` does."""
    columns, rows = reader.columns, 0
    names = [column.name for column in columns.added]
    missing, infinite = ({name: _Marked() for name in names} for _ in range(2))
    for batch in reader.batches(None) if names else ():
        for name, column in zip(names, batch[columns.first_added :], strict=True):
            values = as_floats(column, name)
            missing[name].add(np.isnan(values), values, rows)
            infinite[name].add(np.isinf(values), values, rows)
        rows += len(batch[0])
    for name in names:
        _check_missing(name, rows, missing[name])
        count, first = infinite[name].count, infinite[name].first
        if count:
            raise InvalidInputError.infinite(name=name, count=count, rows=rows, first=first)


def _check_weights(
    name: str, rows: int, missing: _Marked, negative: _Marked, largest: tuple[int, float]
) -> None:
    """Raise for weights as `as_weights` does."""
    _check_missing(name, rows, missing)
    if negative.count:
        assert negative.value is not None
        raise InvalidInputError.negative(
            name=name, count=negative.count, first=negative.first, value=float(negative.value)
        )
    row, weight = largest
    if not weight * rows < np.inf:
        raise infinite_weight(name, f"{weight!r} at row {row}")


def _check_missing(name: str, rows: int, missing: _Marked) -> None:
    if missing.count:
        raise InvalidInputError.nan(name=name, count=missing.count, rows=rows, first=missing.first)

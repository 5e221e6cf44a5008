"""Columns of files: which of DuckDB's types are numbers, and how numbers and labels are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data import file_errors
from cutpoints._kernel.weights import EXACT_INTEGERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.where import Column

NUMBERS = re.compile(r"FLOAT|DOUBLE|U?(TINY|SMALL|BIG)?INT(EGER)?|BOOLEAN")
WIDE_NUMBERS = re.compile(r"VARCHAR|DECIMAL.*|U?HUGEINT")
"""What is converted to numbers: of a file, text too."""
_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}


def as_number(name: str, column: Column, cast: str = "cast") -> str:
    """Return the SQL for a column of numbers; text is converted by `cast`, or is NULL by `try_cast`."""
    if NUMBERS.fullmatch(column.type):
        return column.sql
    if WIDE_NUMBERS.fullmatch(column.type):
        return f"{cast}({digits(column)} as double)"
    raise file_errors.not_a_number_type(name=name, type_=column.type)


def digits(column: Column) -> str:
    """Return the SQL of what is converted to numbers: DuckDB reads 1_000 as a number, which it is not."""
    return f"replace({column.sql}, '_', '?')" if column.type == "VARCHAR" else column.sql


def as_label(column: Column) -> list[list[str]]:
    """Return the SQL for the labels: what to try, one after the other."""
    if NUMBERS.fullmatch(column.type):
        return [[column.sql]]
    if WIDE_NUMBERS.fullmatch(column.type):
        return [[f"cast({digits(column)} as double)"], [f"trim({column.sql})"]]
    return [[f"cast({column.sql} as varchar)"]]


def may_merge(column: Column) -> bool:
    """Whether the numbers of a column can have more digits than float64."""
    return WIDE_NUMBERS.fullmatch(column.type) is not None


def is_long(numbers: NDArray[Any]) -> bool:
    """Whether a float is so large that integers were merged, if it was one."""
    return numbers.dtype.kind == "f" and bool((np.abs(numbers) >= EXACT_INTEGERS).any())


def typed(labels: NDArray[Any]) -> NDArray[Any]:
    """Return integers for whole floats, and booleans for the texts true and false."""
    if labels.dtype == np.float64 and len(labels):
        whole = np.abs(labels) < EXACT_INTEGERS
        if whole.all() and (labels == np.rint(labels)).all():
            return labels.astype(np.int64)
    if labels.dtype.kind == "O":
        texts = {value.lower() if isinstance(value, str) else value for value in set(labels)}
        if texts and texts <= {"true", "false"}:
            return np.array([value.lower() == "true" for value in labels])
    return labels


def typed_label(pos_label: Any, labels: NDArray[Any]) -> Any:
    """Return what a text means in a column of numbers or booleans."""
    if not isinstance(pos_label, str) or labels.dtype.kind == "O":
        return pos_label
    if labels.dtype.kind == "b":
        return _BOOLEANS.get(pos_label.strip().lower(), pos_label)
    try:
        number = float(pos_label)
    except ValueError:
        return pos_label
    return int(number) if number.is_integer() else number

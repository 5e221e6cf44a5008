"""Segment keys: whatever columns users group by -> codes 0, 1, 2, ... and the keys they stand for.

Keys keep their type and their value: a large integer is never read as a float, and 1 is not 1.0. A
missing key (None, NaN, NaT, NA) is a key of its own, None: rows are never lost silently.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutpoints._data.array_input import as_array, is_missing
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Key = tuple[Any, ...]
Coded = tuple[NDArray[np.int64], list[Any]]
"""A code for each row, and the values, as Python objects, that the codes stand for."""
_PLAIN = frozenset({bool, int, str, type(None), dt.date})
"""Types whose only missing value is None, and whose values are as they should be."""


def coded(column: Any, name: str) -> Coded:
    """Return the codes of a column: a list, an array, or a column of pandas, Polars or pyarrow."""
    if isinstance(column, list | tuple):
        return _objects(list(column), name)
    if isinstance(column, np.ma.MaskedArray):
        values = column.data.astype(object)
        values[np.ma.getmaskarray(column)] = None
        return _objects(values.tolist(), name)
    if hasattr(column, "dictionary_encode"):
        return arrow_codes(column.combine_chunks() if hasattr(column, "combine_chunks") else column, name)
    dtype: Any = getattr(column, "dtype", None)
    if hasattr(column, "null_count") and hasattr(dtype, "is_integer"):  # Polars
        numbers = not column.null_count() and (dtype.is_integer() or dtype.is_float())
        # Python's times have microseconds: they would merge keys.
        if numbers or getattr(dtype, "time_unit", None) == "ns":
            return _array(column.to_numpy(), name)
        return _objects(column.to_list(), name)
    if dtype is not None and not isinstance(dtype, np.dtype) and hasattr(column, "factorize"):
        codes, values = column.factorize(use_na_sentinel=False)  # nullable types of pandas
        return _with_one_missing(codes.astype(np.int64), values.tolist())
    return _array(as_array(column, name), name)


def combined(columns: Sequence[Coded]) -> tuple[NDArray[np.int64], list[Key]]:
    """Return the codes of rows that have a value in each column, and the tuples that they stand for."""
    codes, values = columns[0]
    keys: list[Key] = [(value,) for value in values]
    for more, values in columns[1:]:
        # Only pairs that are there: countries times products may be many more.
        pairs, codes = np.unique(codes * len(values) + more, return_inverse=True)
        keys = [(*keys[int(p) // len(values)], values[int(p) % len(values)]) for p in pairs]
    return codes, keys


def in_order(keys: list[Key]) -> list[int]:
    """Return the positions of the keys in ascending order, missing ones last."""
    places = range(len(keys))
    try:
        return sorted(
            places, key=lambda i: [(value is None, 0 if value is None else value) for value in keys[i]]
        )
    except TypeError:  # keys of several kinds in one column
        return sorted(places, key=lambda i: [(v is None, type(v).__name__, str(v)) for v in keys[i]])


def arrow_codes(column: Any, name: str = "by") -> Coded:
    """Return the codes of an Arrow array, which finds them faster than Python can."""
    if hasattr(column, "dictionary"):
        column = column.dictionary_decode()
    try:
        found = column.dictionary_encode(null_encoding="encode")
    except NotImplementedError:
        raise _no_keys(name, f"type {column.type}") from None
    return _with_one_missing(found.indices.to_numpy().astype(np.int64), found.dictionary.to_pylist())


def _array(column: NDArray[Any], name: str) -> Coded:
    if column.dtype.kind in "OUST":
        return _objects(column.tolist(), name)
    if column.dtype.kind not in "biufMm":
        raise _no_keys(name, f"dtype {column.dtype}")
    whole = column.dtype.kind in "iu" and len(column)
    low = int(column.min()) if whole else 0
    if whole and int(column.max()) - low < len(column):  # small numbers need no sort
        place = (column - column.dtype.type(low)).astype(np.int64)
        there = np.bincount(place) > 0
        return (np.cumsum(there) - 1)[place], [low + i for i in np.flatnonzero(there).tolist()]
    values, codes = np.unique(column, return_inverse=True)  # all NaN are one, and so are all NaT
    return codes.astype(np.int64), [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    """Return a Python object for a NumPy scalar: a date or a time where Python has one as fine."""
    if value != value:
        return None
    if value.dtype.kind not in "Mm":
        return value.item() + 0 if value.dtype.kind == "f" else value.item()  # -0.0 is 0.0
    unit, _ = np.datetime_data(value.dtype)
    if unit in {"ns", "ps", "fs", "as"}:
        coarse = value.astype(f"{value.dtype.kind}8[us]")
        if coarse != value:
            return value
        value = coarse
    return value.item()


def _objects(values: list[Any], name: str) -> Coded:
    codes: dict[Hashable, int] = {}
    found = np.empty(len(values), dtype=np.int64)
    try:
        for i, value in enumerate(values):
            found[i] = codes.setdefault(value, len(codes))
    except TypeError as error:
        raise _no_keys(name, value) from error
    return _with_one_missing(found, list(codes))


def _with_one_missing(codes: NDArray[np.int64], values: list[Any]) -> Coded:
    """Make None of all kinds of missing values, and one key of them."""
    if set(map(type, values)) <= _PLAIN:  # the usual case
        return codes, values
    plain: dict[Any, int] = {}
    again = np.array([plain.setdefault(_key(value), len(plain)) for value in values], dtype=np.int64)
    return again[codes], list(plain)


def _key(value: Any) -> Any:
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        return _plain(value)
    return value + 0 if type(value) is float else value  # -0.0 is 0.0


def _no_keys(name: str, got: object) -> InvalidParameterError:
    must_be = "columns of text, numbers, booleans or dates"
    return InvalidParameterError(name, expected=must_be, got=got)

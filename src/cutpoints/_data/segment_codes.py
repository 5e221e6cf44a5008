"""Segment keys: whatever columns users group by -> codes 0, 1, 2, ... and the keys they stand for.

A missing key (None, NaN, NaT, NA) is a key of its own, None: rows are never lost silently.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Key = tuple[Any, ...]
Coded = tuple[NDArray[np.int64], list[Any]]
"""A code for each row, and the values that the codes stand for."""
Column = NDArray[Any] | Coded
_MISSING = frozenset({"NAType", "NaTType"})
_PLAIN = frozenset({bool, int, str, type(None), dt.date})
"""Types whose only missing value is None."""


class Coder:
    """Gives each distinct key a code, in the order in which they come; remembers them over batches."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self._codes: dict[Key, int] = {}

    def encode(self, columns: Sequence[Column]) -> NDArray[np.int64]:
        """Return the codes of some rows: one sort or one dictionary look-up per value and column."""
        codes, values = distinct(columns[0])
        keys: list[Key] = [(value,) for value in values]
        for column in columns[1:]:
            more, values = distinct(column)
            # Only pairs that are there: countries times products may be many more.
            pairs, codes = np.unique(codes * len(values) + more, return_inverse=True)
            keys = [(*keys[int(p) // len(values)], values[int(p) % len(values)]) for p in pairs]
        known = list(map(self._codes.get, keys))
        if None in known:
            for key in keys:
                if self._codes.setdefault(key, len(self.keys)) == len(self.keys):
                    self.keys.append(key)
            known = list(map(self._codes.get, keys))
        return np.array(known, dtype=np.int64)[codes]


def arrow_codes(column: Any) -> Coded:
    """Return the codes of an Arrow array, which finds them faster than Python can."""
    if hasattr(column, "dictionary"):
        column = column.dictionary_decode()
    coded = column.dictionary_encode(null_encoding="encode")
    return _without_missing(coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist())


def distinct(column: Column) -> Coded:
    """Return a code for each value, and the values, as Python objects, that the codes stand for."""
    if isinstance(column, tuple):
        return column
    if column.dtype.kind in "OUST":
        return _objects(column.tolist())
    if column.dtype.kind not in "biufMm":
        raise InvalidParameterError.of(
            parameter="by",
            caller="find",
            must_be="columns of text, numbers, booleans or dates",
            got=f"dtype {column.dtype}",
        )
    whole = column.dtype.kind in "iu" and len(column)
    low = int(column.min()) if whole else 0
    if whole and int(column.max()) - low < len(column):  # small numbers need no sort
        place = (column - column.dtype.type(low)).astype(np.int64)
        there = np.bincount(place) > 0
        return (np.cumsum(there) - 1)[place], (np.flatnonzero(there) + low).tolist()
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


def _objects(values: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    codes: dict[Hashable, int] = {}
    found = np.empty(len(values), dtype=np.int64)
    try:
        for i, value in enumerate(values):
            found[i] = codes.setdefault(value, len(codes))
    except TypeError as error:
        raise InvalidParameterError.of(
            parameter="by", caller="find", must_be="columns of text, numbers, booleans or dates", got=value
        ) from error
    return _without_missing(found, list(codes))


def _without_missing(codes: NDArray[np.int64], values: list[Any]) -> Coded:
    """Make None of all kinds of missing values, and one key of them."""
    if set(map(type, values)) <= _PLAIN:  # the usual case
        return codes, values
    plain: list[Any] = []
    for value in values:
        missing = value is None or type(value).__name__ in _MISSING or value != value
        plain.append(None if missing else _plain(value) if isinstance(value, np.generic) else value)
    if plain.count(None) > 1:
        first = plain.index(None)
        same = np.array([first if value is None else i for i, value in enumerate(plain)])
        used, again = np.unique(same, return_inverse=True)
        return again[codes], [plain[i] for i in used]
    return codes, plain


def in_order(keys: list[Key]) -> list[int]:
    """Return the positions of the keys in ascending order, missing ones last."""
    places = range(len(keys))
    try:
        return sorted(
            places, key=lambda i: [(value is None, 0 if value is None else value) for value in keys[i]]
        )
    except TypeError:  # keys of several kinds in one column
        return sorted(places, key=lambda i: [(v is None, type(v).__name__, str(v)) for v in keys[i]])

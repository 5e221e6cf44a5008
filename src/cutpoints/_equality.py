"""Equality of results: by their values, arrays included, and NaN equals NaN.

The comparison that dataclasses and tuples come with would ask NumPy whether an array is true.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")


def compared_by_value(result: type[Result]) -> type[Result]:
    """Have results of a class be equal if all their fields are; a decorator.

    Examples
    --------
    >>> from cutpoints import curve
    >>> roc = curve([0, 1, 1], [0.2, 0.3, 0.6]).roc()
    >>> roc == curve([0, 1, 1], [0.2, 0.3, 0.6]).roc(), roc == 5
    (True, False)
    """
    result.__eq__ = _equal  # type: ignore[method-assign]
    result.__ne__ = _unequal  # type: ignore[method-assign]  # tuples have their own
    result.__hash__ = None  # type: ignore[method-assign, assignment]
    return result


def _equal(self: Any, other: Any) -> bool:
    if type(self) is not type(other):
        return NotImplemented
    if isinstance(self, tuple):
        return len(self) == len(other) and all(map(_same, self, other))
    return _same(_state(self), _state(other))


def _unequal(self: Any, other: Any) -> bool:
    equal = _equal(self, other)
    return equal if equal is NotImplemented else not equal


def _state(result: Any) -> dict[str, Any]:
    """Return the fields of a result, without what is computed from them."""
    if is_dataclass(result):
        return {field.name: getattr(result, field.name) for field in fields(result) if field.compare}
    kind = type(result)
    return {
        name: value
        for name, value in vars(result).items()
        if not isinstance(getattr(kind, name, None), cached_property)
    }


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        numbers = one.dtype.kind == other.dtype.kind == "f"
        return bool(np.array_equal(one, other, equal_nan=numbers))
    if type(one) is not type(other):
        return bool(one == other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    plain: Any = object.__eq__
    if type(one).__eq__ is plain or is_dataclass(one):
        return hasattr(one, "__dict__") and _same(_state(one), _state(other))
    return bool(one == other) or bool(one != one and other != other)

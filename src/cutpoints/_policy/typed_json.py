"""JSON objects from dataclasses: one type hint says what a field must be, how it is read, and its schema.

A dataclass or a named tuple is an object with exactly these fields. A hint has the meaning that its type has
in this package: `int` is a count, `int | float` a count or a sum of weights, and `float` any number, infinite
ones spelled "inf" and "-inf". In ``Annotated`` a string describes the field in the schema, a `Kind` takes the
place of what the type says, and `AtMost` bounds a list. Objects in a union are told apart by their `kind`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import types
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeGuard,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_TEXT = 10_000
"""Characters of a name, a label or a goal."""
LONGEST_LIST = 1001
"""Items of a list that says nothing else: 1,000 edges have 1,001 buckets."""
_UNSAFE = re.compile("[\0\ud800-\udfff]")
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


class FieldError(Exception):
    """What is wrong with which field; a sentence without a full stop."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.place = place


@dataclasses.dataclass(frozen=True, eq=False)  # two are equal if they are one, so a hint can hold one
class Kind:
    """What a value must be: in words, as JSON Schema, and as a function of value and place that reads it."""

    words: str
    schema: dict[str, Any]
    read: Callable[[Any, str], Any]


@dataclasses.dataclass(frozen=True)
class AtMost:
    """How many items a list may have."""

    items: int


def simple(
    words: str,
    schema: dict[str, Any],
    test: Callable[[Any], bool],
    convert: Callable[[Any], Any] = lambda value: value,
) -> Kind:
    """Return the kind of values that have nothing inside them."""

    def read(value: Any, place: str) -> Any:
        if not test(value):
            raise _wrong(words, value, place)
        return convert(value)

    return Kind(words, schema, read)


def matching(pattern: str, words: str) -> Kind:
    """Return the kind of strings that match a pattern."""
    found = re.compile(pattern, re.ASCII)
    return simple(
        words,
        {"type": "string", "pattern": f"^{pattern}$"},
        lambda value: isinstance(value, str) and found.fullmatch(value) is not None,
    )


def is_text(value: Any) -> TypeGuard[str]:
    """Whether a value is a string that every file, database and terminal can hold."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and is_safe(value)


def is_safe(text: str) -> bool:
    """Whether a string has neither a NUL nor half of a surrogate pair."""
    return _UNSAFE.search(text) is None


def is_finite(value: Any) -> bool:
    """Whether a value is a number that float64 or int64 holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1 << 63 if isinstance(value, int) else math.isfinite(value)


TEXT = f"a string of 1 to {LONGEST_TEXT:,} characters"
_SIMPLE: dict[Any, Kind] = {
    types.NoneType: simple("null", {"type": "null"}, lambda value: value is None),
    str: simple(
        TEXT,
        {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT, "pattern": "^[^\\u0000]*$"},
        is_text,
    ),
    bool: simple("a boolean", {"type": "boolean"}, lambda value: isinstance(value, bool)),
    int: simple(
        "an integer >= 0",
        {"type": "integer", "minimum": 0},
        lambda value: is_finite(value) and value >= 0 and value == int(value),
        int,
    ),
    float: simple(
        "a number, 'inf' or '-inf'",
        {"anyOf": [{"type": "number"}, {"enum": list(_INFINITE)}]},
        lambda value: is_finite(value) or (isinstance(value, str) and value in _INFINITE),
        lambda value: float(_INFINITE.get(value, value)),
    ),
    int | float: simple(
        "a number >= 0", {"type": "number", "minimum": 0}, lambda value: is_finite(value) and value >= 0
    ),
}
NUMBER = simple("a number", {"type": "number"}, is_finite)
"""Any number but infinite ones; an integer stays one."""


@cache
def kind_of(hint: Any) -> Kind:
    """Return what a value of this type is in JSON."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(*arguments)
    if origin is Literal:
        schema = {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        return simple(" or ".join(map(repr, arguments)), schema, lambda value: _is_one_of(value, arguments))
    if origin in (Union, types.UnionType):
        if all("kind" in getattr(one, "__dataclass_fields__", ()) for one in arguments):
            return _one_of(arguments)
        return _either([kind_of(one) for one in arguments])
    if origin is tuple:
        return _list(kind_of(arguments[0]), LONGEST_LIST)
    return _object(hint)


# --- what has something inside


def _annotated(hint: Any, *notes: Any) -> Kind:
    most = next((note.items for note in notes if isinstance(note, AtMost)), None)
    kind = next((note for note in notes if isinstance(note, Kind)), None) or (
        kind_of(hint) if most is None else _list(kind_of(get_args(hint)[0]), most)
    )
    described = next(({"description": note} for note in notes if isinstance(note, str)), {})
    return dataclasses.replace(kind, schema={**kind.schema, **described})


def _either(kinds: list[Kind]) -> Kind:
    words = " or ".join(kind.words for kind in kinds)

    def read(value: Any, place: str) -> Any:
        for kind in kinds:
            try:
                return kind.read(value, place)
            except FieldError as error:
                if error.place != place:  # the right kind of object, with something wrong inside
                    raise
        raise _wrong(words, value, place)

    return Kind(words, {"anyOf": [kind.schema for kind in kinds]}, read)


def _one_of(types_: tuple[Any, ...]) -> Kind:
    """Return the kind of objects whose field `kind` says which of several they are."""
    kinds = {one.__dataclass_fields__["kind"].default: kind_of(one) for one in types_}
    words = " or ".join(map(repr, kinds))

    def read(value: Any, place: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong("an object", value, place)
        if "kind" not in value:
            raise FieldError(f"The field '{place}.kind' is missing", f"{place}.kind")
        name = value["kind"]
        if not isinstance(name, str) or name not in kinds:
            raise _wrong(words, name, f"{place}.kind")
        return kinds[name].read(value, place)

    return Kind("an object", {"oneOf": [kind.schema for kind in kinds.values()]}, read)


def _list(item: Kind, most: int) -> Kind:
    words = f"a list of at most {most:,} items"

    def read(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > most:
            raise _wrong(words, value, place)
        return tuple(item.read(one, f"{place}[{i}]") for i, one in enumerate(value))

    return Kind(words, {"type": "array", "maxItems": most, "items": item.schema}, read)


def _object(type_: Any) -> Kind:
    hints = get_type_hints(type_, include_extras=True).items()
    kinds = {name: kind_of(hint) for name, hint in hints if get_origin(hint) is not ClassVar}

    def read(value: Any, place: str) -> Any:
        if not isinstance(value, dict):
            raise _wrong("an object", value, place)
        inside = f"{place}." if place else ""
        for name in kinds:
            if name not in value:
                raise FieldError(f"The field '{inside}{name}' is missing", f"{inside}{name}")
        for name in value:
            if name not in kinds:
                unknown = f"{inside}{name}"[:100]
                raise FieldError(f"It has the unknown field {unknown!r}", unknown)
        return type_(**{name: kind.read(value[name], f"{inside}{name}") for name, kind in kinds.items()})

    schema = {
        "description": type_.__doc__.splitlines()[0],
        "type": "object",
        "additionalProperties": False,
        "required": list(kinds),
        "properties": {name: kind.schema for name, kind in kinds.items()},
    }
    return Kind("an object", schema, read)


def _is_one_of(value: Any, allowed: tuple[Any, ...]) -> bool:
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in allowed)


def _wrong(words: str, value: Any, place: str) -> FieldError:
    return FieldError(f"Its field '{place}' must be {words}, and is {shown(value)}", place)


def shown(value: Any) -> str:
    """Return a value as a short JSON text, whatever it is."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = f"of type {type(value).__name__}"
    return text if len(text) < 60 else f"{text[:57]}..."

"""How messages are put together: parts that Python and the command line write in their own way."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LISTED_LABELS = 5
"""Labels that a message lists at most."""
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100


@dataclass(frozen=True)
class Argument:
    """An argument that a message mentions, alone or with a value.

    Examples
    --------
    >>> print(Argument("pos_label"), Argument("pos_label", "yes"))
    pos_label pos_label='yes'
    """

    name: str
    value: Any = ...

    def __str__(self) -> str:
        return self.name if self.value is ... else f"{self.name}={show(self.value)}"


@dataclass(frozen=True)
class Column:
    """A column, or an array in its place, that a message mentions; in code it is not quoted."""

    name: str
    quoted: bool = True

    def __str__(self) -> str:
        return f"'{self.name}'" if self.quoted else self.name


Part = str | Argument | Column
Text = str | tuple[Part, ...]


class Worded(Exception):  # noqa: N818 - the base of errors and of warnings
    """A message in parts, which Python and the command line write in their own way.

    Parameters
    ----------
    *facts : str, Argument or Column
        What must hold and what was found; the parts are joined without spaces.
    hint : str or tuple of parts, optional
        What to do about it.
    **fields
        What a program may ask the error for, as attributes.
    """

    hint: str | None

    def __init__(self, *facts: Part, hint: Text | None = None, **fields: object) -> None:
        self._facts = facts
        self._hint = (hint,) if isinstance(hint, str) else hint
        self.hint = None if self._hint is None else spelled(self._hint, str)
        vars(self).update(fields)
        super().__init__(self.worded())

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (type(self), self.args), vars(self)

    @property
    def facts(self) -> str:
        """The message without the hint."""
        return spelled(self._facts, str)

    def worded(self, spell: Callable[[Argument | Column], str] = str) -> str:
        """Return the message, with arguments and columns written by `spell`; by default as in Python."""
        facts = spelled(self._facts, spell)
        return facts if self._hint is None else f"{facts}\n\nHint: {spelled(self._hint, spell)}"


def unpickled(cls: type[Worded], args: tuple[Any, ...]) -> Worded:
    """Make an error that gets its fields from what was pickled."""
    return cls.__new__(cls, *args)


def spelled(parts: Iterable[Part], spell: Callable[[Argument | Column], str]) -> str:
    return "".join(part if isinstance(part, str) else spell(part) for part in parts)


class Words(str):
    """What was found where it is no value, such as "neither": it is not quoted."""

    __slots__ = ()


def plain(value: Any) -> Any:
    """Return a number or a string as it is, and the representation of anything else: it can be pickled."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Words):
        return str(value)
    return value if value is None or isinstance(value, (str, int, float)) else show(value)


def show(value: Any) -> str:
    """Represent a value on one line: shortened, and a NumPy scalar without its type."""
    if isinstance(value, Words):
        return f"{value[:97]}..." if len(value) > _SHORT.maxstring else str(value)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    try:
        return " ".join(_SHORT.repr(value).split())
    except ValueError:  # an integer of more digits than Python writes out
        return f"an object of type {type(value).__name__}, too long to show"


def file_words(path: str) -> str:
    """Name a file; '-' is what people call standard input."""
    return "standard input" if path == "-" else f"'{path}'"


def at_row(first: int | None) -> str:
    """Say where the first of some values is; nothing for engines that keep no order of rows."""
    return "" if first is None else f", the first at row {first:,} (counting from 0)"


def joined(items: Sequence[str], word: str) -> str:
    """Enumerate as English does: 'a', 'a and b', 'a, b and c'."""
    return spelled(listed([(item,) for item in items], word), str)


def listed(items: Sequence[tuple[Part, ...]], word: str) -> list[Part]:
    """Enumerate parts of a message as English does."""
    parts: list[Part] = []
    for i, item in enumerate(items):
        separator = "" if i == 0 else f" {word} " if i == len(items) - 1 else ", "
        parts += [separator, *item]
    return parts

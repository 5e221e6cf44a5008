"""Errors in the words of the command line: arguments are options there, and arrays are columns."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from cutpoints.exceptions import Argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cutpoints.exceptions import Column, CutpointError, DataWarning

_OPTIONS = {
    "y_true": ("--label",),
    "y_score": ("--score",),
    "y_prob": ("--score",),
    "sample_weight": ("--weight",),
    "path": ("--plot", "--write"),
}
"""Arguments whose option has another name; the first that the command has."""


def name_columns(**columns: str | None) -> None:
    """Have errors of this command call arrays by the columns of the file that they come from."""
    click.get_current_context().meta[__name__] = columns


def in_shell(error: CutpointError | DataWarning, context: click.Context) -> str:
    """Return the message of an error for a person at a shell; the context is that of the outermost group."""
    group = context.command
    assert isinstance(group, click.Group)
    options = set(_options(group.commands[context.invoked_subcommand or ""]))
    columns = context.meta.get(__name__, {})

    def spell(mention: Argument | Column) -> str:
        name = columns.get(mention.name) or mention.name
        if not isinstance(mention, Argument):
            return f"'{name}'" if mention.quoted else name
        own = "--" + name.replace("_", "-")
        option = next((one for one in (own, *_OPTIONS.get(name, ())) if one in options), None)
        if option is None:
            return name if mention.value is ... else str(mention)
        return option if mention.value is ... else f"{option} {_quoted(str(mention.value))}"

    return error.worded(spell)


def _options(command: click.Command) -> Iterator[str]:
    """Yield the options of a command, or of all commands of a group."""
    for parameter in command.params:
        yield from parameter.opts
    if isinstance(command, click.Group):
        for one in command.commands.values():
            yield from _options(one)


def _quoted(text: str) -> str:
    r"""Write a value the way a shell needs it, with the quotes that people use.

    Examples
    --------
    >>> print(_quoted("f1"), _quoted("month = '2026-10'"), _quoted("it is"))
    f1 "month = '2026-10'" 'it is'
    """
    return f'"{text}"' if "'" in text and not set('"$`\\!') & set(text) else shlex.quote(text)

"""Errors in the words of the command line: arguments are options there, and arrays are columns."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cutpoints._wording import Argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cutpoints._wording import Column
    from cutpoints.exceptions import CutpointError, DataWarning

_FILES = "cutpoints.files"
_SHOWN = 60
_OPTIONS = {
    "y_true": ("--label",),
    "y_score": ("--score",),
    "y_prob": ("--score",),
    "sample_weight": ("--weight",),
    "path": ("--plot", "--write"),
}
"""Arguments whose option has another name; the first that the command has."""
_MISSING = {"na", "n/a", "null", "none", "nil", "missing", "-", "?", "#n/a"}
"""What programs write in place of a number that they do not have."""


def name_files(files: Sequence[str], *, filtered: bool) -> None:
    """Have errors of this command name the line of a file, if rows are those of one file."""
    click.get_current_context().meta[_FILES] = files[0] if len(files) == 1 and not filtered else None


def _more(error: CutpointError | DataWarning, options: set[str], file: str | None) -> str:
    """Say in which line of the file the first bad value is, and which option helps."""
    kind, name, first = (getattr(error, field, None) for field in ("kind", "name", "first"))
    said = ""
    if kind == "labels" and "--sql" in options:
        one = str(getattr(error, "label", "")).replace("'", "''")
        labels = f"{in_sql(name)} = '{one}'"
        said = f"\nIn the shell: --sql {_replaced(name, labels)}"
    if kind in {"nan", "not_numbers"} and "--where" in options:
        if kind == "nan":
            said = f"\nTo leave them out: --where {sql_in_shell(f'{in_sql(name)} is not null')}"
        elif "%" in error.facts:
            number = f"replace({in_sql(name)}, '%', '')::double / 100"
            said = f"\nTo read percentages: --sql {_replaced(name, number)}"
        elif error.hint is not None and "comma" in error.hint:
            number = f"replace({in_sql(name)}, ',', '.')::double"
            said = f"\nTo read decimal commas: --sql {_replaced(name, number)}"
        elif (mark := error.facts.rpartition(", with ")[2].strip(".'")).casefold() in _MISSING:
            condition = f"{in_sql(name)} <> '{mark}'"
            said = f"\nTo leave them out: --where {sql_in_shell(condition)}"
    if file is None or not isinstance(first, int):
        return said
    found = _line(file, first)
    return said if found is None else f"{said}\nThe first is in line {found[0]:,} of '{file}': {found[1]}"


def _replaced(name: object, value: str) -> str:
    # Shown, and never run.
    return sql_in_shell(f"select * replace ({value} as {in_sql(name)}) from data")  # noqa: S608


def in_sql(name: object) -> str:
    """Write the name of a column as people do in SQL: in quotes only where it needs them."""
    text = str(name)
    return text if re.fullmatch("[A-Za-z_][A-Za-z_0-9]*", text) else '"' + text.replace('"', '""') + '"'


def _line(file: str, row: int) -> tuple[int, str] | None:
    """Return the line of a CSV file that a row (from 0) ends in, and the row; None for other files."""
    if not file.lower().endswith((".csv", ".tsv", ".txt")):
        return None
    try:
        with Path(file).open(encoding="utf-8-sig") as lines:
            record, records = "", -1  # the first one has the names
            for number, line in enumerate(lines, 1):
                record += line
                if record.count('"') % 2:
                    continue  # a line may end inside quotes
                records += bool(record.strip())
                if records == row + 1:
                    return number, " ".join(record.split())[:_SHOWN]
                record = ""
    except (OSError, UnicodeDecodeError):
        pass
    return None


def in_shell(error: CutpointError | DataWarning, context: click.Context) -> str:
    """Return the message of an error for a person at a shell; the context is that of the outermost group."""
    group = context.command
    assert isinstance(group, click.Group)
    options = set(_options(group.commands[context.invoked_subcommand or ""]))

    def spell(mention: Argument | Column) -> str:
        if not isinstance(mention, Argument):
            return str(mention)
        name = mention.name
        own = "--" + name.replace("_", "-")
        option = next((one for one in (own, *_OPTIONS.get(name, ())) if one in options), None)
        if option is None:
            return name if mention.value is ... else str(mention)
        bare = mention.value is ... or mention.value is True
        return option if bare else f"{option} {_quoted(str(mention.value))}"

    return error.worded(spell) + _more(error, options, context.meta.get(_FILES))


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
    return sql_in_shell(text) if "'" in text else shlex.quote(text)


def sql_in_shell(query: str) -> str:
    """Write SQL the way a shell needs it: in double quotes where they will do, since SQL has single ones."""
    return shlex.quote(query) if set('"$`\\!') & set(query) else f'"{query}"'

"""Errors of files and of their columns, which several modules raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpoints._format import plural
from cutpoints._wording import Argument, at_row, file_words, joined, listed, show
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LISTED_COLUMNS = 20


def column(*, name: str, path: str, columns: Sequence[str]) -> InvalidInputError:
    """Return the error of a column that is not in a file, with the columns that are.

    Examples
    --------
    >>> print(column(name="P", path="scores.csv", columns=["y", "p"]))
    Column not found: 'P'. The columns of 'scores.csv' are 'y' and 'p'.
    <BLANKLINE>
    Hint: did you mean 'p'?
    """
    import difflib

    shown = [show(column) for column in columns[:_LISTED_COLUMNS]]
    more = [f"{len(columns) - len(shown):,} more"] if len(columns) > len(shown) else []
    plain = {column.strip().lower(): column for column in reversed(columns)}
    near = [plain[match] for match in difflib.get_close_matches(name.strip().lower(), plain)]
    hint = "choose one of these; in a CSV file, the first line must have the names."
    if near:
        hint = f"did you mean {joined([show(match) for match in near], 'or')}?"
    there = joined(shown + more, "and")
    of = path if path.startswith("the ") else file_words(path)
    found = f"Column not found: {show(name)}. The columns of {of} are {there}."
    return InvalidInputError(found, hint=hint, kind="column", name=name)


def missing_file(*, path: str, near: Sequence[str] = (), pattern: bool = False) -> InvalidInputError:
    """Return the error of a path or a pattern at which there is no file; `near` are similar names."""
    if pattern:
        hint = "check the folder and the ending; '**' matches folders of any depth."
        return InvalidInputError(
            f"The pattern '{path}' must match at least one file. It matches none.", hint=hint
        )
    if "://" in path:
        return InvalidInputError(
            f"Only local files are read, got '{path}'.",
            hint="download it first; in Python, pass a lazy frame of DuckDB, Polars or Spark.",
        )
    hint = "check the path, or pass '-' for standard input."
    if near:
        hint = f"did you mean {joined([repr(match) for match in near], 'or')}?"
    return InvalidInputError(f"File not found: '{path}'.", hint=hint)


def empty_file(*, path: str) -> InvalidInputError:
    """Return the error of a file without a single byte, or with blank lines only."""
    found = f"{file_words(path)} must have named columns. It is empty."
    return InvalidInputError(found, hint="check the command that wrote it.")


def unreadable(*, path: str, form: str, reason: str, hint: str | None = None) -> InvalidInputError:
    """Return the error of a broken file; `form` is how it was read, `reason` what the reader said."""
    hints = {
        "CSV": "a CSV file is UTF-8 text with the same number of values in each line, "
        "separated by commas, semicolons, tabs or bars, and one kind of line ending throughout.",
        "Parquet": "if it was copied or is still being written, it may not be complete.",
        "JSON": "a JSON file must have one object in braces in each line; "
        "jq -c '.[]' old.json > new.ndjson converts an array.",
        "Arrow": "an Arrow file is what pyarrow.feather.write_feather writes; "
        "if it was copied or is still being written, it may not be complete.",
    }
    article = "an" if form == "Arrow" else "a"
    return InvalidInputError(
        f"{file_words(path)} must be {article} {form} file. {reason}.", hint=hint or hints[form]
    )


def mixed_files(*, what: str, first: str, other: str) -> InvalidInputError:
    """Return the error of files that must be alike to be written to one."""
    found = f"All files must have the same {what}. {file_words(other)} differs from {file_words(first)}."
    return InvalidInputError(found, hint="apply the policy to each of them by itself.")


def folder_and_column(*, folder: str, column: str, path: str) -> InvalidInputError:
    """Return the error of a column that a ``name=value`` folder has, too."""
    return InvalidInputError(
        f"The column '{column}' must come from the file or from its folder, not from both. "
        f"{file_words(path)} has a column '{column}' and lies in the folder '{folder}'.",
        hint="rename the folder, or the column in the files.",
        kind="folder_and_column",
        name=column,
    )


def changed_file(*, path: str) -> InvalidInputError:
    """Return the error of a file that was written while it was read."""
    return InvalidInputError(
        f"{file_words(path)} must not change while it is read. It was modified in the meantime.",
        hint="wait until the file is complete, or read a copy of it.",
        kind="changed_file",
    )


def filtered_away(*, filters: Mapping[str, str]) -> InvalidInputError:
    """Return the error of filters, by their parameters, that leave no row."""
    given = listed([(Argument(name, text),) for name, text in filters.items()], "and")
    hint = "check the values in it: text is compared letter by letter, and case matters."
    return InvalidInputError(
        "The filter must leave at least one row. No row is left by ", *given, ".", hint=hint, kind="empty"
    )


def not_a_number_type(*, name: str, type_: str) -> InvalidInputError:
    """Return the error of a typed column that must hold numbers, and holds dates or lists."""
    found = f"The column '{name}' must hold numbers. Its type is {type_}."
    hint = "choose another column, or convert it first."
    return InvalidInputError(found, hint=hint, kind="not_a_number_type", name=name)


def not_numbers(*, name: str, value: object, count: int, first: int) -> InvalidInputError:
    """Return the error of text in a column that must hold numbers, with the first such value."""
    are = "is not a number" if count == 1 else "are not numbers"
    hint = "choose another column, or convert it first; missing values are empty cells."
    if isinstance(value, str) and value.count(",") == 1 and "." not in value:
        hint = "numbers must have a decimal point, not a decimal comma."
    return InvalidInputError(
        f"The column '{name}' must hold numbers. "
        f"{plural(count, 'value')} {are}{at_row(first)}, with {show(value)}.",
        hint=hint,
        kind="not_numbers",
        name=name,
        count=count,
        first=first,
    )

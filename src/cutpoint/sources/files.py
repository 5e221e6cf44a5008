"""Paths and patterns -> columns in memory, through DuckDB.

CSV is read by fixed rules and not by guessing: UTF-8, the first line names the columns, the
separator is the one that is most frequent in it, a double quote quotes, an empty cell is missing.
DuckDB's own guessing can take a '#' at the beginning of a row for a comment and leave the row out,
and it joins files by position even if their columns stand in another order.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import glob
import gzip
import io
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoint._errors import InvalidInputError, InvalidParameterError
from cutpoint.sources._input import as_floats, as_weights
from cutpoint.sources._labels import Labels
from cutpoint.sources.arrays import ArraySource, Stream

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from numpy.typing import NDArray

STANDARD_INPUT = "-"
_PARQUET_ENDINGS = (".parquet", ".parq", ".pq")
_PARQUET, _GZIP = b"PAR1", b"\x1f\x8b"
_SEPARATORS = ",;\t|"
_LONGEST_LINE = 1 << 21
_NUMBERS = re.compile(r"FLOAT|DOUBLE|U?(TINY|SMALL|BIG)?INT(EGER)?|BOOLEAN")
_WIDE_NUMBERS = re.compile(r"VARCHAR|DECIMAL.*|U?HUGEINT")
_WHOLE = 2.0**53
_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def source(
    path: Paths,
    *,
    score: str,
    label: str | None = None,
    weight: str | None = None,
    positives: str | None = None,
    negatives: str | None = None,
    pos_label: Any = None,
) -> ArraySource:
    """Read the named columns of CSV or Parquet files, and nothing else of them.

    Parameters
    ----------
    path : str, path-like, or a list of them
        A file, a pattern such as ``"scores/*.parquet"``, or ``"-"`` for standard input.
    score : str
        The column of the scores. float32 stays float32.
    label, weight : str, default=None
        The columns of the labels, and of their weights if they have any.
    positives, negatives : str, default=None
        In place of labels: the columns of how much each row adds to each class.
    pos_label : int, float, bool or str, default=None
        The label of the positive class. Text is matched to the type of the column: "1" is 1 in a
        column of numbers, and "true" is True in a column of booleans.
    """
    counted = positives is not None and negatives is not None
    if counted == (label is not None) or (positives is None) != (negatives is None):
        raise InvalidParameterError.of(
            parameter="label",
            caller="find",
            must_be="the name of a column, or else 'positives' and 'negatives' must be",
            got=label,
            hint="for example label='y', score='p'.",
        )
    numbers = [name for name in (score, weight, positives, negatives) if name is not None]
    columns, values = read_columns(path, numbers=numbers, label=label)
    scores = as_floats(columns[score], score)
    if len(scores) == 0:
        raise InvalidInputError.empty(name=score)
    if values is None:
        sides = (as_weights(columns[str(name)], str(name)) for name in (positives, negatives))
        return ArraySource(scores, tuple(map(Stream, (1, 0), sides)), score_name=score)
    missing = np.array([x is None for x in values]) if values.dtype == object else values != values
    if missing.any():
        raise InvalidInputError.nan(
            name=str(label),
            count=int(missing.sum()),
            rows=len(values),
            first=int(missing.argmax()),
        )
    labels = Labels(values, typed_label(pos_label, values), name=str(label))
    weights = None if weight is None else as_weights(columns[weight], weight)
    return ArraySource(scores, (Stream(labels, weights),), score_name=score)


def read_columns(
    path: Paths, *, numbers: Sequence[str], label: str | None = None
) -> tuple[dict[str, NDArray[Any]], NDArray[Any] | None]:
    """Return columns of numbers by name, and the column of labels.

    Missing numbers are NaN, missing text is None. Labels are integers, booleans or floats where
    the column is, or where all of its text is; otherwise they are text.
    """
    from duckdb import ConversionException, Error, InterruptException, connect

    wanted = [*numbers, *([] if label is None else [label])]
    with _on_disk(path) as files, connect() as connection:
        try:
            table = _table(connection, files, wanted)
            types = [str(type_) for type_ in table.types]
            casts = [_as_number(i, name, types[i]) for i, name in enumerate(numbers)]
            attempts = [[]] if label is None else _as_label(len(numbers), types[-1])
            for extra in attempts:
                try:
                    found = _fetch(table, [*casts, *extra])
                    break
                except ConversionException:  # labels that are text, or else text among the numbers
                    if extra is attempts[-1]:
                        _refuse_text(table, numbers)
                        raise
        except (InterruptException, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "interrupted" not in str(error):
                raise
            raise KeyboardInterrupt from None  # what Ctrl-C is elsewhere
        except Error as error:
            raise _unreadable(error, files) from error
    return dict(zip(numbers, found, strict=False)), None if label is None else _typed(found[-1])


# --- where the bytes are


@dataclass(frozen=True)
class _File:
    """A file on disk, and what the user calls it."""

    path: str
    shown: str

    def start(self) -> bytes:
        """Return the first bytes, which tell the format."""
        try:
            with Path(self.path).open("rb") as file:
                return file.read(4)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidInputError.unreadable(path=self.shown, form="CSV", reason=reason) from error


@contextmanager
def _on_disk(path: Paths) -> Iterator[list[_File]]:
    """Yield the files; what comes through a pipe is on disk until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="cutpoint-") as folder:
        files: list[_File] = []
        for one in [path] if isinstance(path, str | os.PathLike) else path:
            shown = os.fspath(one)
            for found in [shown] if shown == STANDARD_INPUT else _expanded(shown):
                on_disk = found
                if found == STANDARD_INPUT or not Path(found).is_file():
                    on_disk = str(Path(folder) / str(len(files)))
                    with Path(on_disk).open("wb") as spool:
                        if found == STANDARD_INPUT:
                            shutil.copyfileobj(sys.stdin.buffer, spool)
                        else:  # a named pipe: DuckDB and we read it twice
                            with Path(found).open("rb") as pipe:
                                shutil.copyfileobj(pipe, spool)
                files.append(_File(on_disk, found))
        yield files


def _expanded(path: str) -> list[str]:
    """Return the files that a path or a pattern stands for, in alphabetical order."""
    if path and Path(path).is_dir():
        raise InvalidInputError.directory(path=path)
    if path and Path(path).exists():
        return [path]
    if not glob.has_magic(path):
        folder = Path(path).parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        near = [str(folder / name) for name in difflib.get_close_matches(Path(path).name, names)]
        raise InvalidInputError.missing_file(path=path, near=near)
    # Not `Path.glob`, which has no absolute patterns.
    matches = glob.glob(path, recursive=True)  # noqa: PTH207
    found = sorted(match for match in matches if not Path(match).is_dir())
    if not found:
        raise InvalidInputError.missing_file(path=path, pattern=True)
    return found


# --- files -> one table of the wanted columns, r0, r1, ...


@dataclass(frozen=True)
class _Layout:
    """How a CSV file is to be read; files of one layout are read together."""

    names: tuple[str, ...]
    separator: str
    skip: int
    zipped: bool


def _table(connection: DuckDBPyConnection, files: list[_File], wanted: list[str]) -> DuckDBPyRelation:
    """Return the wanted columns of all files, one file after the other, in their own types."""
    parts = []
    for layout, group in itertools.groupby(files, _layout):
        same = list(group)
        # The names are names and not patterns, whatever characters they have.
        paths = [glob.escape(file.path) for file in same]
        if layout is None:
            part = connection.read_parquet(paths, union_by_name=len(paths) > 1)
            columns = {name: f'"{name.replace(chr(34), chr(34) * 2)}"' for name in part.columns}
        else:
            part = connection.read_csv(
                paths,  # type: ignore[arg-type]
                columns={f"c{i}": "VARCHAR" for i in range(len(layout.names))},
                auto_detect=False,
                header=True,
                skiprows=layout.skip,
                sep=layout.separator,
                quotechar='"',
                escapechar='"',
                compression="gzip" if layout.zipped else "none",
            )
            columns = {name: f"c{i}" for i, name in enumerate(layout.names)}
        for name in wanted:
            if name not in columns:
                raise InvalidInputError.column(name=name, path=same[0].shown, columns=list(columns))
            if layout is not None and layout.names.count(name) > 1:
                reason = f"Its first line has the name '{name}' more than once"
                raise InvalidInputError.unreadable(
                    path=same[0].shown, form="CSV", reason=reason, hint="rename one of the columns."
                )
        parts.append(part.project(", ".join(f"{columns[n]} as r{i}" for i, n in enumerate(wanted))))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole


def _layout(file: _File) -> _Layout | None:
    """Read the first line of a CSV file; None for Parquet."""
    start = file.start()
    if not start:
        raise InvalidInputError.empty_file(path=file.shown)
    if start == _PARQUET or file.path.lower().endswith(_PARQUET_ENDINGS):
        return None
    zipped = start.startswith(_GZIP)
    try:
        with (gzip.open if zipped else open)(file.path, "rb") as lines:
            skip, line = 0, lines.readline(_LONGEST_LINE)
            while line and not line.removeprefix(codecs.BOM_UTF8).strip():
                skip, line = skip + 1, lines.readline(_LONGEST_LINE)
            while line.count(b'"') % 2 and (more := lines.readline(_LONGEST_LINE)):
                line += more  # a name with a line end in it
        text = line.decode("utf-8-sig")
        separator = max(_SEPARATORS, key=re.sub('"[^"]*"', "", text).count)
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), None)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        reason = str(error)
        if isinstance(error, UnicodeDecodeError):
            reason = "Its first line is not UTF-8 text"
        raise InvalidInputError.unreadable(path=file.shown, form="CSV", reason=reason) from error
    if names is None:
        raise InvalidInputError.empty_file(path=file.shown)
    return _Layout(tuple(name.strip() for name in names), separator, skip, zipped)


def _unreadable(error: Exception, files: list[_File]) -> InvalidInputError:
    """Say in a sentence what DuckDB says in twenty lines."""
    said = str(error)
    file = next((f for f in files if f.path in said), files[0])
    form = "CSV" if _layout(file) is not None else "Parquet"
    line = re.search(r"CSV Error on Line: (\d+)", said)
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if line and columns:
        expected, found = columns.groups()
        values = "value" if found == "1" else "values"
        reason = f"Line {line[1]} has {found} {values}, its first line has {expected}"
    elif line and "unicode" in said:
        reason = f"Line {line[1]} is not UTF-8 text"
    else:
        reason = said.splitlines()[0].partition("Error: ")[2].replace(file.path, file.shown)
    return InvalidInputError.unreadable(path=file.shown, form=form, reason=reason.rstrip(". "))


# --- types


def _as_number(i: int, name: str, type_: str) -> str:
    """Return the SQL for a column of numbers; text is converted, and refused if it cannot be."""
    if _NUMBERS.fullmatch(type_):
        return f"r{i}"
    if _WIDE_NUMBERS.fullmatch(type_):
        return f"cast(r{i} as double)"
    raise InvalidInputError.not_a_number_type(name=name, type_=type_)


def _as_label(i: int, type_: str) -> list[list[str]]:
    """Return the SQL for the labels: what to try, one after the other."""
    if _NUMBERS.fullmatch(type_):
        return [[f"r{i}"]]
    if _WIDE_NUMBERS.fullmatch(type_):
        return [[f"cast(r{i} as double)"], [f"trim(r{i})"]]
    return [[f"cast(r{i} as varchar)"]]


def _fetch(table: DuckDBPyRelation, casts: list[str]) -> list[NDArray[Any]]:
    """Run the query; missing numbers become NaN, missing text None."""
    found = table.project(", ".join(f"{cast} as a{i}" for i, cast in enumerate(casts))).fetchnumpy()
    arrays = []
    for i in range(len(casts)):
        array = found[f"a{i}"]
        if isinstance(array, np.ma.MaskedArray):
            missing, array = np.ma.getmaskarray(array), np.asarray(array.data)
            if array.dtype.kind in "biu":
                array = array.astype(np.float64)
            array[missing] = None if array.dtype.kind == "O" else np.nan
        arrays.append(array)
    return arrays


def _refuse_text(table: DuckDBPyRelation, numbers: Sequence[str]) -> None:
    """Raise for the first column of numbers that has values which are none."""
    for i, name in enumerate(numbers):
        count, first, value = (
            table.project(f"row_number() over () - 1 as i, r{i} as v")
            .filter("v is not null and try_cast(v as double) is null")
            .aggregate("count(*), min(i), arg_min(v, i)")
            .fetchall()[0]
        )
        if count:
            raise InvalidInputError.not_numbers(name=name, value=value, count=count, first=first)


def _typed(labels: NDArray[Any]) -> NDArray[Any]:
    """Return integers for whole floats, and booleans for the texts true and false."""
    if labels.dtype == np.float64 and len(labels):
        whole = np.abs(labels) < _WHOLE
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

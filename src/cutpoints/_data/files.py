"""Paths and patterns -> rows, through DuckDB: in memory if they are few, else batch by batch.

A file, several, a pattern, or a folder with all that is beneath it, ``name=value`` folders giving
further columns. `where` chooses rows, by a grammar of its own; `sql` is a query over all files, as
the table `data`, on a connection that can read these files and nothing else.
"""

from __future__ import annotations

import glob
import re
import time
import weakref
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints._atomic import temporary_folder
from cutpoints._data import file_errors
from cutpoints._data.array_input import refuse_missing, too_large
from cutpoints._data.duckdb_reader import DuckDBReader, interruptible, quoted, text
from cutpoints._data.file_columns import (
    NUMBERS,
    WIDE_NUMBERS,
    as_label,
    as_number,
    digits,
    is_long,
    may_merge,
    typed,
    typed_label,
)
from cutpoints._data.formats import Table, layout_of, table, unreadable
from cutpoints._data.paths import Paths, on_disk
from cutpoints._data.streaming import BatchSource, Columns
from cutpoints._data.where import Column, condition
from cutpoints._kernel.tables import MEMORY_ROWS
from cutpoints._kernel.weights import EXACT_INTEGERS
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from tempfile import TemporaryDirectory

    from duckdb import DuckDBPyRelation
    from numpy.typing import NDArray

    from cutpoints._data.streaming import Batch
    from cutpoints._kernel.histogram import Tally

LARGE_BYTES = 1 << 26
"""Text files with more bytes are read in batches, if the caller can use batches; compressed ones count four
times."""

_AHEAD = "32MB"
"""How much DuckDB decodes ahead of us."""
_NO_NUMBER = "v is not null and try_cast(replace(cast(v as varchar), '_', '?') as double) is null"
_MEMORY = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B)", re.IGNORECASE)


def check_memory(limit: Any, caller: str = "read") -> None:
    """Raise for a limit that DuckDB cannot read."""
    if limit is not None and not (isinstance(limit, str) and _MEMORY.fullmatch(limit.strip())):
        raise InvalidParameterError(
            "memory_limit",
            caller=caller,
            expected="a number and KB, MB, GB or TB",
            got=limit,
            hint=("for example ", Argument("memory_limit", "2GB"), "."),
        )


def _remove(folder: TemporaryDirectory[str]) -> None:
    """Remove a folder in which threads of DuckDB may still write for a moment after Ctrl-C."""
    for wait in (0.0, 0.05, 0.2, 0.5):
        time.sleep(wait)
        folder.cleanup()
        if not Path(folder.name).exists():
            return


class Opened:
    """Files on disk, and a DuckDB connection on which they are one table."""

    def __init__(
        self,
        path: Paths,
        *,
        where: str | None = None,
        sql: str | None = None,
        memory_limit: str | None = None,
    ) -> None:
        from duckdb import Error, connect

        wanted = None if where is None else condition(where)
        check_memory(memory_limit)
        # Removed when the last who uses it is gone, and at the end of the process in any case.
        temporary = temporary_folder()
        self._folder = temporary.name
        self._removed = weakref.finalize(self, _remove, temporary)
        self._filters = {k: v for k, v in (("where", where), ("sql", sql)) if v is not None}
        try:
            self.files = on_disk(path, self._folder)
            self._stamps = [file.stamp() for file in self.files]
            self.connection = connect(config={"temp_directory": str(Path(self._folder) / "spill")})
            if memory_limit is not None:
                self.connection.execute(f"set memory_limit = {text(memory_limit)}")
            self.connection.execute(f"set streaming_buffer_size = '{_AHEAD}'")
            self.connection.execute("set enable_progress_bar = false")  # it would go to standard output
            try:
                self.table = table(self.connection, self.files)
                if self._filters:  # which may mean any column
                    self.table.check_doubles()
                if sql is not None:
                    self.table = self._queried(sql)
                if wanted is not None:
                    rows = wanted.sql(self.table.columns(), self.table.parts[0][0])
                    self.table = replace(self.table, relation=self.table.relation.filter(rows))
            except Error as error:
                raise self.fault(error) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and remove all temporary files."""
        if hasattr(self, "connection"):
            self.connection.close()
        self._removed()

    def empty(self, name: str) -> InvalidInputError:
        """Return the error of no rows: none at all, or none that the filters left."""
        if self._filters:
            return file_errors.filtered_away(filters=self._filters)
        return InvalidInputError.empty(name=name)

    def fault(self, error: Exception) -> InvalidInputError:
        """Return the error of a file that cannot be read; where DuckDB does not name it, each is tried."""
        from duckdb import Error

        self.check_unchanged()
        if not any(file.path in str(error) for file in self.files):
            for file in self.files:
                # A count or a maximum is in the file's own summary: a hash has to read the values.
                query = f"select max(hash(columns(*))) from read_parquet({text(glob.escape(file.path))})"  # noqa: S608
                try:
                    if layout_of(file).form == "Parquet":
                        self.connection.execute(query).fetchall()
                except Error as found:
                    return unreadable(found, [file])
        return unreadable(error, self.files)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Word the errors of DuckDB; raise if a file was modified in the meantime."""
        from duckdb import Error

        try:
            with interruptible():
                yield
        except (Error, OSError) as error:
            raise self.fault(error) from error
        self.check_unchanged()

    def check_unchanged(self) -> None:
        """Raise if a file was written since it was opened."""
        for file, stamp in zip(self.files, self._stamps, strict=True):
            if file.stamp() != stamp:
                raise file_errors.changed_file(path=file.shown)

    def large(self) -> bool:
        """Whether there are too many rows to read into memory.

        Costs a look at the ends of the files; a query is run once to count its rows.
        """
        if "sql" in self._filters:  # few rows can become many in a query
            return self._count() > MEMORY_ROWS
        parquet, zipped, plain = [], 0, 0
        for file in self.files:
            layout = layout_of(file)
            if layout.form == "Parquet":
                parquet.append(file)
            elif layout.compression in {"gzip", "zstd"}:
                zipped += Path(file.path).stat().st_size
            else:
                plain += Path(file.path).stat().st_size
        if plain + 4 * zipped > LARGE_BYTES:
            return True
        if not parquet:
            return False
        paths = ", ".join(text(glob.escape(file.path)) for file in parquet)
        counted = self.connection.execute(
            f"select sum(num_rows) from parquet_file_metadata([{paths}])"  # noqa: S608 - quoted
        ).fetchall()
        return bool(counted[0][0] > MEMORY_ROWS)

    def _count(self) -> int:
        with self.reading():
            ((rows,),) = self.table.relation.aggregate("count(*)").fetchall()
        return int(rows)

    def read(
        self, numbers: Sequence[str], label: str | None, group: str | None = None
    ) -> tuple[dict[str, NDArray[Any]], NDArray[Any] | None, NDArray[Any] | None]:
        """Return columns of numbers by name, the labels, and the groups, as text, whatever they are.

        Missing numbers are NaN, missing text is None. Labels are integers, booleans or floats where the
        column is, or where all of its text is; otherwise they are text.
        """
        from duckdb import ConversionException

        casts = [as_number(name, self.table.column(name)) for name in numbers]
        attempts = [[]] if label is None else as_label(self.table.column(label))
        text = [] if group is None else [f"trim(cast({self.table.column(group).sql} as varchar))"]
        with self.reading():
            for extra in attempts:
                try:
                    found = _fetch(self.table.relation, [*casts, *text, *extra])
                    break
                except ConversionException:  # labels that are text, or else text among the numbers
                    if extra is attempts[-1]:
                        self.refuse_text(numbers)
                        raise
            for name, array in zip(numbers, found, strict=False):
                if may_merge(self.table.column(name)) and is_long(array):
                    self.refuse_long(name)
        groups = None if group is None else found[len(casts)]
        if groups is not None:
            refuse_missing(groups, str(group))
        return dict(zip(numbers, found, strict=False)), None if label is None else typed(found[-1]), groups

    def keys(self, names: Sequence[str]) -> dict[str, Any]:
        """Return columns by name in their own types, as Arrow arrays."""
        shown = ", ".join(f"{self.table.column(name).sql} as k{i}" for i, name in enumerate(names))
        with self.reading():
            found = self.table.relation.project(shown).to_arrow_table()
        return dict(zip(names, found.columns, strict=True))

    def refuse_text(self, numbers: Sequence[str]) -> None:
        """Raise for the first column of numbers that has values which are none."""
        for name in numbers:
            count, first, value = self._faults(name, _NO_NUMBER)
            if count:
                raise file_errors.not_numbers(name=name, value=value, count=count, first=first)

    def has_text(self, name: str) -> bool:
        """Whether a column has values that are no numbers."""
        with self.reading():
            return may_merge(self.table.column(name)) and self._faults(name, _NO_NUMBER)[0] > 0

    def refuse_long(self, name: str) -> None:
        """Raise for text of numbers that float64 merges with others: long whole ones, and 1e999."""
        size, text = "abs(cast(v as double))", "trim(cast(v as varchar))"
        count, first, value = self._faults(
            name,
            f"({size} >= {EXACT_INTEGERS!r} and regexp_full_match({text}, '[+-]?[0-9]+')) "
            f"or (isinf({size}) and regexp_matches({text}, '[0-9]'))",
        )
        if count:
            more = f" and {count - 1:,} more" if count > 1 else ""
            raise too_large(name, got=f"{str(value).strip()} at row {first}{more}")

    def _faults(self, name: str, condition: str) -> tuple[int, int, Any]:
        """Count the values `v` of a column for which a condition holds; and the row of the first, and it."""
        rows = self.table.relation.project(
            f"row_number() over () - 1 as i, {self.table.column(name).sql} as v"
        )
        found: Any = rows.filter(condition).aggregate("count(*), min(i), arg_min(v, i)").fetchall()[0]
        return found

    def _queried(self, sql: str) -> Table:
        """Run a query over the files on a connection that can reach nothing else."""
        from duckdb import Error, StatementType

        try:
            statements = self.connection.extract_statements(sql)
        except Error as error:
            raise _bad_query(sql, str(error)) from error
        if len(statements) != 1 or statements[0].type != StatementType.SELECT:
            raise _bad_query(sql, "It is not one SELECT")
        names: dict[str, str] = {}
        for i, name in enumerate(self.table.names):
            if name.lower() not in {known.lower() for known in names}:  # SQL ignores case
                names[name] = f"f{i}"
        view = ", ".join(f"{f} as {quoted(name)}" for name, f in names.items())
        self.table.relation.project(view).create_view("data")
        paths = ", ".join(text(file.path) for file in self.files)
        for setting in (
            f"allowed_paths = [{paths}]",
            f"allowed_directories = [{text(self._folder)}]",  # where DuckDB spills
            "python_enable_replacements = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self.connection.execute(f"set {setting}")
        try:
            found = self.connection.sql(statements[0])
        except Error as error:
            raise _bad_query(sql, str(error)) from error
        columns = list(found.columns)
        numbered = found.project(", ".join(f"{quoted(name)} as f{i}" for i, name in enumerate(columns)))
        return Table(numbered, columns, [("the result of the query", columns)])


def _bad_query(sql: str, said: str) -> InvalidParameterError:
    reason = said.splitlines()[0].partition("Error: ")[2] or said
    return InvalidParameterError(
        "sql",
        expected=f"one SELECT over the table 'data', which reads no other file: {reason.rstrip('. ')}",
        got=sql,
        hint=(
            "for example ",
            Argument("sql", "select y, p from data where p::double > 0"),
            ": columns of CSV and JSON are text, and p::double makes numbers of them.",
        ),
    )


# --- many rows


class _FileReader(DuckDBReader):
    """Batches of files; what DuckDB says of them is put in a sentence."""

    def __init__(
        self, opened: Opened, columns: Columns, *, numbers: Mapping[str, Column], **options: Any
    ) -> None:
        self.opened = opened  # its temporary folder lives as long as this reader
        self._numbers = numbers
        self._score, self._checked = columns.score, not may_merge(opened.table.column(columns.score))
        with opened.reading():
            super().__init__(opened.table.relation, columns, **options)

    def need(self, name: str) -> None:
        """Raise unless each file has one column of this name."""
        self.opened.table.column(name)

    def cancel(self) -> None:
        """End the query that is under way."""
        self.opened.connection.interrupt()

    def _as_number(self, name: str) -> str:
        return self._numbers[name].sql

    def batches(self, near: tuple[float, float] | None) -> Generator[Batch]:
        """Run the query."""
        with self.opened.reading():
            long = False
            for batch in super().batches(near):
                long = long or (not self._checked and is_long(batch[0]))
                yield batch
            if long:  # the connection answers one question at a time
                self.opened.refuse_long(self._score)
            self._checked = True


class FileSource(BatchSource):
    """Rows of files that are read again at each pass."""

    def __init__(self, opened: Opened, columns: Columns, pos_label: Any) -> None:
        self.opened, self.columns, self.label_as_given = opened, columns, pos_label
        self._numbers = {}
        for name in [columns.score, *columns.masses, *(column.name for column in columns.added)]:
            column = opened.table.column(name)
            sql = as_number(name, column, "try_cast")
            self._numbers[name] = Column(sql, "DOUBLE" if sql != column.sql else column.type)
        labels = Column("", "") if columns.label is None else opened.table.column(columns.label)
        convert = may_merge(labels) and not (
            isinstance(typed_label(pos_label, np.zeros(0)), str) and opened.has_text(str(columns.label))
        )
        if convert:
            labels = Column(f"try_cast({digits(labels)} as double)", "DOUBLE")
        elif columns.label is not None and not NUMBERS.fullmatch(labels.type):
            labels = _text_labels(opened, labels)
        reader, positive = self._reader(labels, convert=convert)
        super().__init__(reader, pos_label=positive)

    def _reader(self, labels: Column, *, convert: bool) -> tuple[_FileReader, Any]:
        """Return a reader that reads the labels in this way, and the positive label in their type."""
        known: dict[str, tuple[str, str]] = {**self.opened.table.columns(), **self._numbers}
        dtype: Any = (
            np.bool_ if labels.type == "BOOLEAN" else np.float64 if NUMBERS.fullmatch(labels.type) else object
        )
        positive = typed_label(self.label_as_given, np.zeros(0, dtype))
        if self.columns.label is not None:
            # A column may have two roles, and be read in two ways.
            known[self.columns.label] = labels
        reader = _FileReader(
            self.opened,
            self.columns,
            pos_label=positive,
            known=known,
            numbers=self._numbers,
            adapt=typed if convert else None,
        )
        return reader, positive

    def _look(self) -> tuple[Any, list[Tally]] | None:
        found = super()._look()
        label = self.columns.label
        if found is None:
            with self.opened.reading():
                self.opened.refuse_text(list(self._numbers))
            if label is not None and not self.reader.coded and self.opened.has_text(label):
                text = _text_labels(self.opened, self.opened.table.column(label))
                self.reader, self.pos_label = self._reader(text, convert=False)
                found = super()._look()
        return found

    def _empty(self) -> InvalidInputError:
        return self.opened.empty(self.columns.score)


def _text_labels(opened: Opened, column: Column) -> Column:
    """Return how to read labels that are no numbers: as booleans where all are, otherwise as text."""
    wide = WIDE_NUMBERS.fullmatch(column.type)
    trimmed = Column(f"trim({column.sql})" if wide else f"cast({column.sql} as varchar)", "VARCHAR")
    few = opened.table.relation.project(f"lower({trimmed.sql}) as v").filter("v is not null").distinct()
    with opened.reading():
        texts = {v for (v,) in few.limit(3).fetchall()}
    if texts and texts <= {"true", "false"}:
        return Column(f"(lower({trimmed.sql}) = 'true')", "BOOLEAN")
    return trimmed


# --- in memory


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

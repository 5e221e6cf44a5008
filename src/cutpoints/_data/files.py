"""Paths and patterns -> rows, through DuckDB: in memory if they are few, else batch by batch.

A file, several, a pattern, or a folder with all that is beneath it, ``name=value`` folders giving
further columns. `where` chooses rows, by a grammar of its own; `sql` is a query over all files, as
the table `data`, on a connection that can read these files and nothing else.
"""

from __future__ import annotations

import glob
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from cutpoints._data.array_input import as_floats, as_weights, too_large, weights_and_ends
from cutpoints._data.arrays import ArraySource, Stream
from cutpoints._data.duckdb_reader import DuckDBReader, interruptible, quoted, text
from cutpoints._data.file_columns import (
    NUMBERS,
    WHOLE,
    WIDE_NUMBERS,
    as_label,
    as_number,
    is_long,
    may_merge,
    typed,
    typed_label,
)
from cutpoints._data.formats import Table, layout_of, table, unreadable
from cutpoints._data.labels import Labels
from cutpoints._data.paths import Paths, on_disk
from cutpoints._data.streaming import BatchSource, Columns
from cutpoints._data.where import Column, condition
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from duckdb import DuckDBPyRelation
    from numpy.typing import NDArray

    from cutpoints._data.streaming import Batch
    from cutpoints._kernel.tables import Histogram, Summary

LARGE_ROWS = 1 << 22
"""Files with more rows than this are read batch by batch, where the caller can use that,"""
LARGE_BYTES = 1 << 26
"""and so are files of text with more bytes than this;"""
LARGE_ZIPPED = 1 << 24
"""or compressed ones with more than this."""

_AHEAD = "32MB"
"""How much DuckDB decodes ahead of us."""
_MEMORY = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B)", re.IGNORECASE)


def source(
    path: Paths,
    *,
    score: str,
    label: str | None = None,
    weight: str | None = None,
    positives: str | None = None,
    negatives: str | None = None,
    pos_label: Any = None,
    where: str | None = None,
    sql: str | None = None,
    memory_limit: str | None = None,
    stream: bool | None = False,
) -> ArraySource | BatchSource:
    """Read the named columns of files, and nothing else of them.

    Parameters
    ----------
    path : str, path-like, or a list of them
        A file of CSV, Parquet, lines of JSON or Arrow, a folder, a pattern such as
        ``"scores/**/*.parquet"``, or ``"-"`` for standard input.
    score : str
        The column of the scores. float32 stays float32.
    label, weight : str, default=None
        The columns of the labels, and of their weights if they have any.
    positives, negatives : str, default=None
        In place of labels: the columns of how much each row adds to each class.
    pos_label : int, float, bool or str, default=None
        The label of the positive class. Text is matched to the type of the column: "1" is 1 in a
        column of numbers, and "true" is True in a column of booleans.
    where : str, default=None
        A condition on the rows, see `cutpoints._data.where`.
    sql : str, default=None
        One SELECT over the files as the table `data`; the columns are those of its result.
    memory_limit : str, default=None
        What DuckDB may use, such as "2GB"; beyond that it writes to a temporary folder.
    stream : bool or None, default=False
        Whether to read batch by batch at each pass; None: if the files are large.
    """
    columns = _columns(score, label, weight, positives, negatives)
    opened = Opened(path, where=where, sql=sql, memory_limit=memory_limit)
    if opened.large() if stream is None else stream:
        return FileSource(opened, columns, pos_label)
    with opened:
        return _in_memory(opened, columns, [score], pos_label).sources[score]


class Models(NamedTuple):
    """Rows in memory that several models have scored, and the group of each row, if it was asked for."""

    sources: dict[str, ArraySource]
    groups: NDArray[Any] | None


def models(
    path: Paths,
    *,
    scores: Sequence[str],
    label: str | None = None,
    weight: str | None = None,
    positives: str | None = None,
    negatives: str | None = None,
    group: str | None = None,
    pos_label: Any = None,
    where: str | None = None,
    sql: str | None = None,
    memory_limit: str | None = None,
) -> Models:
    """Read several columns of scores, and groups, of the same rows in one reading; see `source`.

    A query may give its rows in another order the next time, and a pipe gives nothing.
    """
    columns = _columns(scores[0], label, weight, positives, negatives)
    with Opened(path, where=where, sql=sql, memory_limit=memory_limit) as opened:
        return _in_memory(opened, columns, scores, pos_label, group)


def _columns(
    score: str, label: str | None, weight: str | None, positives: str | None, negatives: str | None
) -> Columns:
    counted = positives is not None and negatives is not None
    if counted == (label is not None) or (positives is None) != (negatives is None):
        raise InvalidParameterError.of(
            parameter="label",
            must_be="the name of a column, or else 'positives' and 'negatives' must be",
            got=label,
            hint="for example label='y', score='p'.",
        )
    return Columns(score, label, weight, positives, negatives)


def _in_memory(
    opened: Opened, columns: Columns, scores: Sequence[str], pos_label: Any, group: str | None = None
) -> Models:
    label, weight = columns.label, columns.weight
    found, values, groups = opened.read([*scores, *columns.masses], label, group)
    floats = {name: as_floats(found[name], name) for name in scores}
    if len(floats[scores[0]]) == 0:
        raise opened.empty(scores[0])
    _refuse_missing(groups, group)
    streams: tuple[Stream, ...]
    if values is None:
        sides = (as_weights(found[str(name)], str(name)) for name in (columns.positives, columns.negatives))
        streams = tuple(map(Stream, (1, 0), sides))
    else:
        _refuse_missing(values, label)
        labels = Labels(values, typed_label(pos_label, values), name=str(label))
        heavy = (None,) if weight is None else weights_and_ends(found[weight], weight)
        streams = (Stream.of(labels, *heavy),)
    return Models(
        {name: ArraySource(column, streams, score_name=name) for name, column in floats.items()}, groups
    )


def _refuse_missing(values: NDArray[Any] | None, name: str | None) -> None:
    if values is None:
        return
    missing = np.array([x is None for x in values]) if values.dtype == object else values != values
    if missing.any():
        count, first = int(missing.sum()), int(missing.argmax())
        raise InvalidInputError.nan(name=str(name), count=count, rows=len(values), first=first)


def read_columns(
    path: Paths,
    *,
    numbers: Sequence[str],
    label: str | None = None,
    where: str | None = None,
    sql: str | None = None,
    memory_limit: str | None = None,
) -> tuple[dict[str, NDArray[Any]], NDArray[Any] | None]:
    """Return columns of numbers by name, and the column of labels.

    Missing numbers are NaN, missing text is None. Labels are integers, booleans or floats where
    the column is, or where all of its text is; otherwise they are text.
    """
    with Opened(path, where=where, sql=sql, memory_limit=memory_limit) as opened:
        found, labels, _ = opened.read(numbers, label)
        if len(found[numbers[0]]) == 0:
            raise opened.empty(numbers[0])
        return found, labels


def check_memory(limit: Any, caller: str = "find") -> None:
    """Raise for a limit that DuckDB cannot read."""
    if limit is not None and not (isinstance(limit, str) and _MEMORY.fullmatch(limit.strip())):
        raise InvalidParameterError.of(
            parameter="memory_limit",
            caller=caller,
            must_be="a number and KB, MB, GB or TB",
            got=limit,
            hint="for example memory_limit='2GB'.",
        )


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
        self._folder = tempfile.mkdtemp(prefix="cutpoints-")
        self._removed = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._filters = {k: v for k, v in (("where", where), ("sql", sql)) if v is not None}
        try:
            self.files = on_disk(path, self._folder)
            self.connection = connect(config={"temp_directory": str(Path(self._folder) / "spill")})
            if memory_limit is not None:
                self.connection.execute(f"set memory_limit = {text(memory_limit)}")
            self.connection.execute(f"set streaming_buffer_size = '{_AHEAD}'")
            self.connection.execute("set enable_progress_bar = false")  # it would go to standard output
            try:
                self.table = table(self.connection, self.files)
                if sql is not None:
                    self.table = self._queried(sql)
                if wanted is not None:
                    rows = wanted.sql(self.table.columns(), self.table.parts[0][0])
                    filtered = self.table.relation.filter(rows)
                    self.table = Table(filtered, self.table.names, self.table.parts)
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
        """Let go of the connection and of all temporary files."""
        if hasattr(self, "connection"):
            self.connection.close()
        self._removed()

    def empty(self, name: str) -> InvalidInputError:
        """Return the error of no rows: none at all, or none that the filters left."""
        if self._filters:
            return InvalidInputError.filtered_away(filters=self._filters)
        return InvalidInputError.empty(name=name)

    def fault(self, error: Exception) -> InvalidInputError:
        """Return the error of a file that cannot be read; where DuckDB does not name it, each is tried."""
        from duckdb import Error

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

    def large(self) -> bool:
        """Whether the rows had better not be in memory all at once; costs a look at the files' ends."""
        if "sql" in self._filters:
            return True  # few rows can become many in a query
        parquet, zipped, plain = [], 0, 0
        for file in self.files:
            layout = layout_of(file)
            if layout.form == "Parquet":
                parquet.append(file)
            elif layout.compression in {"gzip", "zstd"}:
                zipped += Path(file.path).stat().st_size
            else:
                plain += Path(file.path).stat().st_size
        if zipped > LARGE_ZIPPED or plain > LARGE_BYTES:
            return True
        if not parquet:
            return False
        paths = ", ".join(text(glob.escape(file.path)) for file in parquet)
        counted = self.connection.execute(
            f"select sum(num_rows) from parquet_file_metadata([{paths}])"  # noqa: S608 - quoted
        ).fetchall()
        return bool(counted[0][0] > LARGE_ROWS)

    def read(
        self, numbers: Sequence[str], label: str | None, group: str | None = None
    ) -> tuple[dict[str, NDArray[Any]], NDArray[Any] | None, NDArray[Any] | None]:
        """Return columns in memory, see `read_columns`; groups, whatever they are, as text."""
        from duckdb import ConversionException, Error

        casts = [as_number(name, self.table.column(name)) for name in numbers]
        attempts = [[]] if label is None else as_label(self.table.column(label))
        text = [] if group is None else [f"trim(cast({self.table.column(group).sql} as varchar))"]
        try:
            for extra in attempts:
                try:
                    with interruptible():
                        found = _fetch(self.table.relation, [*casts, *text, *extra])
                    break
                except ConversionException:  # labels that are text, or else text among the numbers
                    if extra is attempts[-1]:
                        self.refuse_text(numbers)
                        raise
            for name, array in zip(numbers, found, strict=False):
                if may_merge(self.table.column(name)) and is_long(array):
                    self.refuse_long(name)
        except Error as error:
            raise self.fault(error) from error
        return (
            dict(zip(numbers, found, strict=False)),
            None if label is None else typed(found[-1]),
            None if group is None else found[len(casts)],
        )

    def refuse_text(self, numbers: Sequence[str]) -> None:
        """Raise for the first column of numbers that has values which are none."""
        for name in numbers:
            count, first, value = self._faults(name, "v is not null and try_cast(v as double) is null")
            if count:
                raise InvalidInputError.not_numbers(name=name, value=value, count=count, first=first)

    def refuse_long(self, name: str) -> None:
        """Raise for text of numbers that float64 merges with others: long whole ones, and 1e999."""
        size, text = "abs(cast(v as double))", "trim(cast(v as varchar))"
        count, first, value = self._faults(
            name,
            f"({size} >= {WHOLE!r} and regexp_full_match({text}, '[+-]?[0-9]+')) "
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
            if name.lower() not in {known.lower() for known in names}:  # SQL does not tell them apart
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
    return InvalidParameterError.of(
        parameter="sql",
        must_be=f"one SELECT over the table 'data', which reads no other file: {reason.rstrip('. ')}",
        got=sql,
        hint="for example sql='select y, p from data where p::double > 0': columns of CSV and JSON are text, "
        "and p::double makes numbers of them.",
    )


# --- many rows


class NotNumbers(Exception):  # noqa: N818 - caught by who opens files, and never seen
    """A column has text where numbers were expected."""


class _FileReader(DuckDBReader):
    """Batches of files; what DuckDB says of them is put in a sentence."""

    def __init__(
        self, opened: Opened, columns: Columns, *, numbers: Mapping[str, Column], **options: Any
    ) -> None:
        from duckdb import Error

        self.opened = opened  # its temporary folder lives as long as this reader
        self._numbers = numbers
        self._score, self._checked = columns.score, not may_merge(opened.table.column(columns.score))
        try:
            with interruptible():
                super().__init__(opened.table.relation, columns, **options)
        except Error as error:
            raise opened.fault(error) from error

    def need(self, name: str) -> None:
        """Raise unless each file has one column of this name."""
        self.opened.table.column(name)

    def cancel(self) -> None:
        """End the query that is under way."""
        self.opened.connection.interrupt()

    def _as_number(self, name: str) -> str:
        return self._numbers[name].sql

    def batches(self, near: tuple[float, float] | None, keys: Sequence[str] = ()) -> Generator[Batch]:
        """Run the query."""
        from duckdb import Error

        try:
            long = False
            for batch in super().batches(near, keys):
                long = long or (not self._checked and is_long(batch[0]))
                yield batch
            if long:  # the connection answers one question at a time
                self.opened.refuse_long(self._score)
            self._checked = True
        except (Error, OSError) as error:
            if "Conversion Error" in str(error):
                raise NotNumbers from error
            raise self.opened.fault(error) from error


class FileSource(BatchSource):
    """Rows of files that are read anew at each pass."""

    def __init__(self, opened: Opened, columns: Columns, pos_label: Any) -> None:
        self._opened, self._columns, self._asked = opened, columns, pos_label
        self._numbers = {}
        for name in [columns.score, *columns.masses]:
            column = opened.table.column(name)
            sql = as_number(name, column)
            self._numbers[name] = Column(sql, "DOUBLE" if sql != column.sql else column.type)
        self._kinds = _label_kinds(opened, columns.label)
        super().__init__(self._reader(), pos_label=self._positive)

    def _reader(self) -> _FileReader:
        """Return a reader with the next way to read the labels."""
        known: dict[str, tuple[str, str]] = {**self._opened.table.columns(), **self._numbers}
        kind, label = next(self._kinds), self._columns.label
        dtype: Any = (
            np.bool_ if kind.type == "BOOLEAN" else np.float64 if NUMBERS.fullmatch(kind.type) else object
        )
        self._positive = typed_label(self._asked, np.zeros(0, dtype))
        if label is not None:
            # A column may have two roles, and be read in two ways.
            known[label] = kind
        return _FileReader(
            self._opened,
            self._columns,
            pos_label=self._positive,
            known=known,
            numbers=self._numbers,
            adapt=typed if kind.sql.startswith("cast(") and kind.type == "DOUBLE" else None,
        )

    def _first_look(self) -> tuple[Summary, Histogram]:
        while True:
            try:
                return super()._first_look()
            except NotNumbers:  # labels that are text, or else text among the numbers
                self._opened.refuse_text(list(self._numbers))
                self.reader = self._reader()
                self.pos_label = self._positive
            except InvalidInputError as error:
                if str(error) == str(InvalidInputError.empty(name=self._columns.score)):
                    raise self._opened.empty(self._columns.score) from None
                raise


def _label_kinds(opened: Opened, label: str | None) -> Generator[Column]:
    """Yield the ways to read the labels, one after the other, until one of them can."""
    if label is None:
        yield Column("", "")
        return
    column = opened.table.column(label)
    if NUMBERS.fullmatch(column.type):
        yield column
        return
    if WIDE_NUMBERS.fullmatch(column.type):
        yield Column(f"cast({column.sql} as double)", "DOUBLE")
        trimmed = Column(f"trim({column.sql})", "VARCHAR")
    else:
        trimmed = Column(f"cast({column.sql} as varchar)", "VARCHAR")
    few = opened.table.relation.project(f"lower({trimmed.sql}) as v").filter("v is not null").distinct()
    with interruptible():
        texts = {v for (v,) in few.limit(3).fetchall()}
    if texts and texts <= {"true", "false"}:
        yield Column(f"(lower({trimmed.sql}) = 'true')", "BOOLEAN")
    yield trimmed


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

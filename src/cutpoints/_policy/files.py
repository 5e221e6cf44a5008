"""Decide the rows of files, larger than memory, and write them with a column of decisions.

DuckDB streams from one file to the other. A CSV is read as text and nothing but text, so that every
cell comes back as it was, `007` and `1e3` included; only the score is read as a number, and that
beside its cell. What we add to a CSV are the name of a column and the digits 0 and 1, neither of
which a spreadsheet takes for a formula.
"""

from __future__ import annotations

import csv
import glob
import io
import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cutpoints._atomic import replaced, temporary_folder
from cutpoints._data import file_errors
from cutpoints._data.file_columns import as_number, digits
from cutpoints._data.files import check_memory
from cutpoints._data.formats import layout_of, unreadable
from cutpoints._data.formats import table as all_columns
from cutpoints._data.paths import on_disk, unchanged
from cutpoints._policy.decisions import name_taken, output_name
from cutpoints._policy.file_segments import thresholds
from cutpoints._policy.sql import expression, quoted
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from cutpoints._data.formats import File
    from cutpoints._data.where import Column
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Decision, Missing

Form = Literal["csv", "parquet", "ndjson"]
_ENDINGS: dict[str, Form] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".parq": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}
_FORMS: dict[str, Form] = {"CSV": "csv", "Parquet": "parquet", "Arrow": "parquet", "JSON": "ndjson"}
MEMORY = "1GB"
"""So much DuckDB may keep of the rows that it has read and not yet written."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""With one of these a spreadsheet takes a cell for a formula."""


@dataclass(frozen=True)
class Applied:
    """What became of the rows.

    Attributes
    ----------
    output : str
        Where they were written.
    rows : int
        How many there were.
    decisions : dict
        For each column of decisions, how often each decision was made.
    missing : int
        Scores that were missing.
    unknown : int
        Rows with a score and of a segment that the policy does not know.
    """

    output: str
    rows: int
    decisions: dict[str, dict[Any, int]]
    missing: int
    unknown: int = 0

    @property
    def positive(self) -> int:
        """How often the decision was positive, in all columns together."""
        return sum(counts.get(1, 0) for counts in self.decisions.values())

    @property
    def negative(self) -> int:
        """How often the decision was negative, in all columns together."""
        return sum(counts.get(0, 0) for counts in self.decisions.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        decisions = {
            name: {str(value): count for value, count in counts.items()}
            for name, counts in self.decisions.items()
        }
        return {**vars(self), "decisions": decisions}


@dataclass(frozen=True)
class Scored:
    """Rows, and the SQL of their score."""

    relation: DuckDBPyRelation
    score: str
    """The score as a double; NULL where there is none."""
    garbled: str
    """Whether a cell has text that is no number."""
    cell: str
    """The score as it stands in the file."""


@dataclass(frozen=True)
class Table:
    """All columns of the input, by the names that the user gave them."""

    relation: DuckDBPyRelation
    column: Callable[[str], Column]
    connection: DuckDBPyConnection
    names: list[str]
    form: Form
    separator: str = ","


def apply(
    policy: Policy,
    path: Any,
    output: str | os.PathLike[str],
    *,
    score: str | None,
    column: str,
    missing: Missing,
    memory_limit: str | None = None,
) -> Applied:
    """Write the rows with their decisions; the output appears whole or not at all."""
    target = os.fspath(output)
    columns = [
        _Column(one, policy.column(score, "apply", one.score), output_name(column, one))
        for one in policy.rule.decisions()
    ]
    check_memory(memory_limit, "apply")
    with spooled(path) as (files, folder):
        form, written = _forms(files, target)
        for one in columns:
            _check_column(one.new, written)
        with _written(target, folder) as beside, unchanged(files):
            if form == "ndjson":
                from cutpoints._policy.ndjson import apply_lines

                done = apply_lines(policy, files, beside, columns=columns, missing=missing)
            else:
                with connected(memory_limit) as connection, readable_errors(files):
                    table = opened(connection, files)
                    _check_new(table, columns, written)
                    made = {one.new: _decision(policy, table, one, missing) for one in columns}
                    done = _counted(policy, table, columns, made, missing)
                    rows = _copy(
                        table,
                        beside,
                        written,
                        decisions={name: sql for name, (_, sql) in made.items()},
                        empty=done.rows == 0,
                        zipped=target.endswith(".gz"),
                        limited=memory_limit is not None,
                    )
                if rows != done.rows:
                    raise InvalidInputError.changed(expected=done.rows, found=rows)
    return replace(done, output=target)


def _forms(files: Sequence[File], target: str) -> tuple[Form, Form]:
    """Return the format of the input and that of the output; raise where one cannot become the other."""
    for file in files:
        if target != "-" and Path(target).exists() and Path(target).samefile(file.path):
            raise InvalidParameterError(
                "output",
                caller="apply",
                expected="another file than the input",
                got=target,
                hint="write to a new file, and rename it afterwards.",
            )
    for file in files:
        if layout_of(file).array:
            reason = "It is an array, and decisions are written line by line"
            raise file_errors.unreadable(path=file.shown, form="JSON", reason=reason)
    forms = {_FORMS[layout_of(file).form] for file in files}
    if len(forms) > 1:
        raise file_errors.mixed_files(what="format", first=files[0].shown, other=files[-1].shown)
    (form,) = forms
    written = form if target == "-" else _form_of(target)
    if form == "ndjson" and written != "ndjson":
        raise InvalidParameterError(
            "output",
            caller="apply",
            expected="a file of JSON lines (.ndjson, .jsonl), as the input is",
            got=target,
        )
    return form, written


def _check_new(table: Table, columns: Sequence[_Column], written: Form) -> None:
    """Raise for a column that the input has; in Parquet, DuckDB takes no notice of capitals in names."""
    folded = str.lower if written == "parquet" else str
    taken = set(map(folded, table.names))
    for one in columns:
        if folded(one.new) in taken:
            raise name_taken(one.new, "apply", "the input")
        taken.add(folded(one.new))


@dataclass(frozen=True)
class _Column:
    """A column of decisions to add."""

    decision: Decision
    score: str
    new: str


# --- the input


def opened(connection: DuckDBPyConnection, files: list[File]) -> Table:
    """Open all columns of some files of one format; they are called f0, f1, ..."""
    layouts = [layout_of(file) for file in files]
    first = layouts[0]
    for file, layout in zip(files, layouts, strict=True):
        if layout != first:
            raise file_errors.mixed_files(what="columns", first=files[0].shown, other=file.shown)
    whole = all_columns(connection, files)
    if first.form != "CSV":  # which is written without the columns of folders
        whole.check_doubles()
    relation = whole.relation
    if first.form == "CSV":
        # As `table` reads it, but that "" is a text without letters, and written as such again.
        relation = connection.read_csv(
            [glob.escape(file.path) for file in files],  # type: ignore[arg-type]
            columns={f"f{i}": "VARCHAR" for i in range(len(first.names))},
            auto_detect=False,
            header=True,
            skiprows=first.skip,
            sep=first.separator,
            quotechar='"',
            escapechar='"',
            compression=first.compression,  # type: ignore[arg-type]
            hive_partitioning=False,
            allow_quoted_nulls=False,
        )
    names = list(first.names) if first.form == "CSV" else whole.names
    return Table(
        relation=relation,
        column=whole.column,
        connection=connection,
        names=names,
        form=_FORMS[first.form],
        separator=first.separator or ",",
    )


def scored(relation: DuckDBPyRelation, score: str, column: Column, dtype: str = "float64") -> Scored:
    """Tell how to read the scores; numbers in text have no type of their own, but that of the policy."""
    if column.type == "VARCHAR":
        narrow = "FLOAT" if dtype == "float32" else "DOUBLE"
        number = f"CAST(TRY_CAST(nullif(trim({digits(column)}), '') AS {narrow}) AS DOUBLE)"
        garbled = f"(nullif(trim({column.sql}), '') IS NOT NULL AND {number} IS NULL)"
    else:
        number, garbled = f"CAST({as_number(score, column)} AS DOUBLE)", "false"
    return Scored(relation, number, garbled, column.sql)


def _form_of(output: str) -> Form:
    ending = Path(output.removesuffix(".gz")).suffix.lower()
    if ending not in _ENDINGS or (output.endswith(".gz") and _ENDINGS[ending] == "parquet"):
        raise InvalidParameterError(
            "output",
            caller="apply",
            expected=f"a name that ends in {', '.join(_ENDINGS)}, or '-'",
            got=output,
        )
    return _ENDINGS[ending]


# --- what is to be written


def _check_column(column: str, form: Form) -> None:
    if not column or "\0" in column or (form == "csv" and column.startswith(_FORMULA)):
        raise InvalidParameterError(
            "column",
            caller="apply",
            expected="a name that a spreadsheet does not take for a formula: it cannot start with = + - @",
            got=column,
        )


def _absent(table: Scored) -> str:
    return f"({table.score} IS NULL OR isnan({table.score}))"


def check_scores(
    table: Scored,
    name: str,
    missing: Missing,
    *,
    refused: Callable[..., InvalidInputError] = InvalidInputError.nan_scores,
) -> tuple[int, int]:
    """Count rows and missing scores; raise for text that is no number.

    Missing scores may be an error. `refused` builds it: what can be done about it depends on the caller.
    """
    absent = _absent(table)
    rows, garbled, count = table.relation.aggregate(
        f"count(*), count_if({table.garbled}), count_if({absent})"
    ).fetchall()[0]
    garbled, count = garbled or 0, count or 0  # NULL where there are no rows
    for bad in ([table.garbled] if garbled else []) + ([absent] if count and missing == "error" else []):
        first, cell, _ = first_of(table.relation, bad, table.cell)
        if bad is table.garbled:
            raise file_errors.not_numbers(name=name, value=cell, count=garbled, first=first)
        raise refused(name=name, count=count, rows=rows, first=first)
    return rows, count


def first_of(relation: DuckDBPyRelation, bad: str, cell: str) -> tuple[int, Any, int]:
    """Return the first row for which a condition holds, its cell, and how many rows there are of the kind."""
    return (
        relation.project(f"row_number() OVER () - 1 AS i, {cell} AS v, {bad} AS bad")
        .filter("bad")
        .aggregate("min(i), arg_min(v, i), count(*)")
        .fetchall()[0]
    )


def _decision(policy: Policy, table: Table, column: _Column, missing: Missing) -> tuple[Scored, str]:
    """Return how to read the scores, and the SQL of the decision."""
    scores = scored(table.relation, column.score, table.column(column.score), policy.dtype)
    decision, absent = column.decision, _absent(scores)
    if decision.by:
        columns = [table.column(name) for name in decision.by]
        own = thresholds(table.connection, decision, columns, csv=table.form == "csv")
        if decision.otherwise is not None:
            own = f"coalesce({own}, CAST('{decision.otherwise[0]!r}' AS DOUBLE))"
        outcome = policy.rule.missing.get(missing, "NULL")
        reached = f"CASE WHEN {scores.score} >= {own} THEN 1 WHEN {scores.score} < {own} THEN 0 END"
        return scores, f"CAST(CASE WHEN {absent} THEN {outcome} ELSE {reached} END AS TINYINT)"
    sql = expression(policy, decision, scores.score, {}, absent=absent, dialect="duckdb", missing=missing)
    whole = all(isinstance(one, int) and abs(one) < 128 for one in decision.values)
    return scores, f"CAST({sql} AS TINYINT)" if whole else sql


def _counted(
    policy: Policy,
    table: Table,
    columns: list[_Column],
    made: dict[str, tuple[Scored, str]],
    missing: Missing,
) -> Applied:
    """Count decisions, and raise before anything is written."""
    decisions: dict[str, dict[Any, int]] = {}
    rows = absent = unknown = 0
    for column in columns:
        scores, sql = made[column.new]
        rows, count = check_scores(scores, column.score, missing)
        absent += count
        found = dict(
            table.relation.project(f"{sql} AS d, {_absent(scores)} AS a")
            .aggregate(
                "CASE WHEN d IS NULL AND NOT a THEN 'unknown' ELSE CAST(d AS VARCHAR) END AS d, count(*)", "1"
            )
            .fetchall()
        )
        decisions[column.new] = {one: found.get(str(one), 0) for one in column.decision.values}
        unknown += found.get("unknown", 0)
        if unknown and policy.rule.unknown == "error":
            bad = f"{sql} IS NULL AND NOT {_absent(scores)}"
            names = ", ".join(table.column(name).sql for name in column.decision.by)
            first, key, _ = first_of(table.relation, bad, f"row({names})")
            raise InvalidInputError.unknown_segments(
                by=column.decision.by, key=tuple(key), count=unknown, rows=rows, first=first
            )
    return Applied("", rows, decisions, absent, unknown)


def _copy(
    table: Table,
    beside: Path,
    form: Form,
    *,
    decisions: dict[str, str],
    empty: bool,
    zipped: bool,
    limited: bool,
) -> int:
    """Stream the rows and their decisions to a file; return how many there were."""
    separator = table.separator if table.form == "csv" else "\t" if ".tsv" in beside.suffixes else ","
    header = _header([*table.names, *decisions], separator)
    if form == "csv" and empty:
        import gzip

        text = header.encode()
        beside.write_bytes(gzip.compress(text) if zipped else text)
        return 0
    if table.form == "csv" and form == "csv":
        # Names may repeat, or differ in capitals alone, which SQL cannot have: the first line is ours.
        added = [f"{sql} AS d{i}" for i, sql in enumerate(decisions.values())]
        whole = table.relation.project(", ".join(["*", *added]))
        head = f"HEADER false, PREFIX {_literal(header)}, SUFFIX {_literal(chr(10))}"
    else:
        columns = [f"f{i} AS {quoted(one, 'duckdb')}" for i, one in enumerate(table.names)]
        _check_names(table.names)
        added = [f"{sql} AS {quoted(name, 'duckdb')}" for name, sql in decisions.items()]
        whole = table.relation.project(", ".join([*columns, *added]))
        head = "HEADER true"
    packed = f"COMPRESSION {'gzip' if zipped else 'none'}"
    options = {
        "csv": f"FORMAT csv, {head}, DELIMITER {_literal(separator)}, {packed}",
        "parquet": "FORMAT parquet, COMPRESSION zstd",
        "ndjson": f"FORMAT json, {packed}",
    }[form]
    # DuckDB's own temporary file would have a name that looks like data.
    copy = f"COPY decided TO {_literal(str(beside))} ({options}, USE_TMP_FILE false)"
    from duckdb import OutOfMemoryException

    try:
        return _rows_copied(table.connection, whole, copy)
    except OutOfMemoryException:  # rows of very many columns: then as much as the machine has
        if limited:
            raise
        table.connection.execute("RESET memory_limit")
        return _rows_copied(table.connection, whole, copy)


def _rows_copied(connection: DuckDBPyConnection, whole: DuckDBPyRelation, copy: str) -> int:
    # Not whole.query(), which in DuckDB 1 does not tell how many rows were copied.
    whole.create_view("decided", replace=True)
    return int(connection.execute(copy).fetchall()[0][0])


def _check_names(names: Sequence[str]) -> None:
    """Raise for names that are one and the same in Parquet as DuckDB writes it."""
    seen: dict[str, str] = {}
    for name in names:
        if name.lower() in seen:
            raise InvalidParameterError(
                "output",
                caller="apply",
                expected="a CSV file, since two columns differ in capitals at most",
                got=f"the columns {seen[name.lower()]!r} and {name!r}",
            )
        seen[name.lower()] = name


def _header(names: Sequence[str], separator: str) -> str:
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="\n").writerow(names)
    return line.getvalue()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --- around it


@contextmanager
def connected(memory_limit: str | None = None) -> Iterator[DuckDBPyConnection]:
    """Yield a database in memory that spills to a folder of its own."""
    from duckdb import connect

    with temporary_folder() as folder, connect() as connection:
        connection.execute(f"SET temp_directory = {_literal(folder)}")
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"SET memory_limit = {_literal(memory_limit or MEMORY)}")
        yield connection


@contextmanager
def readable_errors(files: list[File]) -> Iterator[None]:
    """Say in a sentence what DuckDB says in twenty lines."""
    from duckdb import Error, InterruptException, IOException

    try:
        yield
    except (InterruptException, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from None
    except IOException as error:
        if "write" in str(error).lower() or "space" in str(error).lower():
            raise OSError(str(error).splitlines()[0]) from error
        raise unreadable(error, files) from error
    except Error as error:
        raise unreadable(error, files) from error


@contextmanager
def spooled(path: Any) -> Iterator[tuple[list[File], Path]]:
    """Yield the files, what comes through a pipe included, and a folder for what is not to stay."""
    with temporary_folder() as folder:
        (Path(folder) / "input").mkdir()
        yield on_disk(path, str(Path(folder) / "input")), Path(folder)


@contextmanager
def _written(target: str, folder: Path) -> Iterator[Path]:
    """Yield where to write; a file is put in its place at the end, a pipe gets all of it then."""
    if target != "-":
        with replaced(target) as beside:
            yield beside
        return
    beside = folder / "output"
    yield beside
    with beside.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()

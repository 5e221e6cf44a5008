"""Files of several formats -> one DuckDB table of all their columns.

CSV is read by fixed rules and not by guessing: UTF-8, the first line names the columns, the
separator is the one that is most frequent in it, a double quote quotes, an empty cell is missing.
DuckDB's own guessing can take a '#' at the beginning of a row for a comment and leave the row out,
and it joins files by position even if their columns stand in another order. In CSV and in lines of
JSON every value is text at first, and a number where a number is needed.
"""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import io
import itertools
import json
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from cutpoints._data import file_errors
from cutpoints._data.duckdb_reader import quoted
from cutpoints._data.where import Column
from cutpoints._wording import Argument, file_words
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_ZIP = b"PK\x03\x04"
_PARQUET, _GZIP, _ZSTD, _ARROW = b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"ARROW1"
_PARQUET_ENDINGS = (".parquet", ".parq", ".pq")
_JSON_ENDINGS = (".ndjson", ".jsonl", ".json")
_ARROW_ENDINGS = (".arrow", ".feather", ".ipc")
_TEXT_ENDINGS = (".csv", ".tsv", ".txt", *_JSON_ENDINGS)
ENDINGS = (
    *_PARQUET_ENDINGS,
    *_ARROW_ENDINGS,
    *(text + zipped for text in _TEXT_ENDINGS for zipped in ("", ".gz", ".zst")),
)
"""By these the files of a folder are known; a file that is named may have any."""
_SEPARATORS = ",;\t|"
_LONGEST_LINE_BYTES = 1 << 21
"""DuckDB reads no longer lines of CSV."""
_MOST_COLUMNS = 1 << 14
"""DuckDB takes minutes to open a CSV with more."""
_TOO_LONG = "is longer than 2 MB"
_LONG_HINT = "long texts and nested values do not belong in a file of scores: leave these columns out."
_HEADER_LINES = 100
"""Lines of JSON that are read for the names of columns."""


@dataclass(frozen=True)
class File:
    """A file on disk, and what the user calls it."""

    path: str
    shown: str

    def start(self) -> bytes:
        """Return the first bytes, which identify the format."""
        try:
            with Path(self.path).open("rb") as file:
                return file.read(8)
        except OSError as error:
            reason = error.strerror or str(error)
            raise file_errors.unreadable(path=self.shown, form="CSV", reason=reason) from error

    def stamp(self) -> tuple[int, int, int] | None:
        """Return size, time of change and number of the file, which show whether it is still the same."""
        try:
            found = Path(self.path).stat()
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ino

    def folders(self) -> dict[str, str]:
        """Return the ``name=value`` folders on the path, as Hive writes them, by name."""
        return {part.partition("=")[0]: part for part in PurePath(self.path).parts[:-1] if "=" in part}


@dataclass(frozen=True)
class Layout:
    """How a file is to be read; files of one layout are read together."""

    form: str
    names: tuple[str, ...] = ()
    separator: str = ""
    skip: int = 0
    compression: str = "none"
    partitions: tuple[str, ...] = ()
    array: bool = False
    """Of JSON: one array of objects, in place of an object in each line."""


@dataclass(frozen=True)
class Table:
    """All columns of all files, f0, f1, ...; their names may be any, and may come twice."""

    relation: DuckDBPyRelation
    names: list[str]
    parts: list[tuple[str, list[str]]]
    """The first file of each layout as the user calls it, and the names of its columns."""
    doubles: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Columns that are folders too, by their names in lower case: the folder, the column, and a file."""

    def check_doubles(self, *names: str) -> None:
        """Raise if one of these columns (any: none given) is a folder too: their values may differ."""
        for name in names or self.doubles:
            if name.lower() in self.doubles:
                folder, column, shown = self.doubles[name.lower()]
                raise file_errors.folder_and_column(folder=folder, column=column, path=shown)

    def column(self, name: str) -> Column:
        """Return one column; raise if there is none in a file, or if there are two."""
        self.check_doubles(name)
        for shown, names in self.parts:
            if name not in names:
                raise file_errors.column(name=name, path=shown, columns=names)
            if names.count(name) > 1:
                reason = f"Its first line has the name '{name}' more than once"
                raise file_errors.unreadable(
                    path=shown, form="CSV", reason=reason, hint="rename one of the columns."
                )
        return self.columns()[name]

    def columns(self) -> dict[str, Column]:
        """Return all columns by name; of those that come twice, the first."""
        found: dict[str, Column] = {}
        for i, (name, type_) in enumerate(zip(self.names, self.relation.types, strict=True)):
            found.setdefault(name, Column(f"f{i}", str(type_)))
        return found


def table(connection: DuckDBPyConnection, files: list[File]) -> Table:
    """Return all files as one table, one file after the other, in their own types.

    Files whose columns stand in another order are joined by name; of files with different columns
    those remain that all of them have.
    """
    parts: list[tuple[DuckDBPyRelation, list[str]]] = []
    named: list[tuple[str, list[str]]] = []
    doubles: dict[str, tuple[str, str, str]] = {}
    for layout, group in itertools.groupby(files, layout_of):
        same = list(group)
        doubles |= _doubles(connection, same, layout)
        relation, names = _read(connection, same, layout)
        numbered = ", ".join(f"{quoted(column)} as f{i}" for i, column in enumerate(relation.columns))
        parts.append((relation.project(numbered), names))
        named.append((same[0].shown, names))
    if len(parts) == 1:
        return Table(*parts[0], named, doubles)
    common = [name for name in parts[0][1] if all(name in names for _, names in parts)]
    whole: Any = None
    for relation, names in parts:
        picked = (f"f{names.index(name)} as f{i}" for i, name in enumerate(common))
        part = relation.project(", ".join(picked) or "1 as f0")
        whole = part if whole is None else whole.union(part)
    return Table(whole, common, named, doubles)


def _read(
    connection: DuckDBPyConnection, files: list[File], layout: Layout
) -> tuple[DuckDBPyRelation, list[str]]:
    """Read files of one layout; return the names that the user knows the columns by."""
    # The names of files are names and not patterns, whatever characters they have.
    paths: Any = [glob.escape(file.path) for file in files]
    hive = bool(layout.partitions)
    compression: Any = layout.compression
    if layout.form == "Arrow":
        return _arrow(connection, files, hive=hive)
    if layout.form == "Parquet":
        found = connection.read_parquet(paths, union_by_name=len(paths) > 1, hive_partitioning=hive)
        return found, list(found.columns)
    own = {f"c{i}": "VARCHAR" for i in range(len(layout.names))}
    if layout.form == "JSON":
        # Names that differ in case only cannot be distinguished here: the first one is read.
        fields: dict[str, str] = {}
        for name in layout.names:
            if name.lower() not in {known.lower() for known in fields}:
                fields[name] = "VARCHAR"
        found = connection.read_json(
            paths,
            columns=fields,
            format="array" if layout.array else "newline_delimited",
            compression=compression,
            hive_partitioning=hive,
        )
        return found, list(found.columns)
    found = connection.read_csv(
        paths,
        columns=own,
        auto_detect=False,
        header=True,
        skiprows=layout.skip,
        sep=layout.separator,
        quotechar='"',
        escapechar='"',
        compression=compression,
        hive_partitioning=hive,
    )
    found = found.project("*")  # DuckDB 1 names the columns of folders only after this
    return found, [*layout.names, *found.columns[len(layout.names) :]]


def _doubles(
    connection: DuckDBPyConnection, files: list[File], layout: Layout
) -> dict[str, tuple[str, str, str]]:
    """Return the columns of files that are also folders on their paths, see `Table.doubles`."""
    if not layout.partitions:
        return {}
    # DuckDB puts the value of the folder in the place of the column, whatever is in it.
    own = list(layout.names) or _read(connection, files, replace(layout, partitions=()))[1]
    columns = {name.lower(): name for name in own}
    folders = {name.lower(): folder for name, folder in files[0].folders().items()}
    found = {key: (folders[key], columns[key], files[0].shown) for key in folders if key in columns}
    if found and layout.form == "Arrow":  # its reader cannot leave one of them out
        folder, column, shown = next(iter(found.values()))
        raise file_errors.folder_and_column(folder=folder, column=column, path=shown)
    return found


def _arrow(
    connection: DuckDBPyConnection, files: list[File], *, hive: bool
) -> tuple[DuckDBPyRelation, list[str]]:
    import pyarrow as pa
    from pyarrow import dataset

    try:
        whole = dataset.dataset(
            [file.path for file in files], format="ipc", partitioning="hive" if hive else None
        )
    except (pa.ArrowInvalid, OSError) as error:
        file = next((f for f in files if f.path in str(error)), files[0])
        reason = str(error).splitlines()[0].rstrip(". ")
        raise file_errors.unreadable(path=file.shown, form="Arrow", reason=reason) from error
    found = connection.from_arrow(whole)
    return found, list(found.columns)


def layout_of(file: File) -> Layout:
    """Recognize the format by the first bytes, or by the extension, and read the names of CSV and JSON."""
    start = file.start()
    if not start:
        raise file_errors.empty_file(path=file.shown)
    if start.startswith(_ZIP):
        raise file_errors.unreadable(
            path=file.shown,
            form="CSV",
            reason="It is a ZIP archive, as workbooks of Excel are",
            hint="save the sheet as CSV or Parquet, or unpack the archive.",
        )
    name = file.path.lower()
    partitions = tuple(file.folders())
    if start.startswith(_PARQUET) or name.endswith(_PARQUET_ENDINGS):
        return Layout("Parquet", partitions=partitions)
    if start.startswith(_ARROW) or name.endswith(_ARROW_ENDINGS):
        return Layout("Arrow", partitions=partitions)
    compression = "gzip" if start.startswith(_GZIP) else "zstd" if start.startswith(_ZSTD) else "none"
    form = "JSON" if name.removesuffix(".gz").removesuffix(".zst").endswith(_JSON_ENDINGS) else "CSV"
    try:
        with _lines(file.path, compression) as lines:
            skip, line = 0, lines.readline(_LONGEST_LINE_BYTES)
            while line and not line.removeprefix(codecs.BOM_UTF8).strip():
                skip, line = skip + 1, lines.readline(_LONGEST_LINE_BYTES)
            _check_length(file, form, line, skip)
            if form == "JSON" or line.lstrip()[:1] == b"{":
                array = line.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"["
                names = _keys_of_array(line, lines) if array else _keys(line, lines)
                packed = "uncompressed" if compression == "none" else compression  # DuckDB's words for JSON
                return Layout("JSON", names, compression=packed, partitions=partitions, array=array)
            while line.count(b'"') % 2 and (more := lines.readline(_LONGEST_LINE_BYTES)):
                line += more  # a name with a line end in it
        text = line.decode("utf-8-sig")
        separator = max(_SEPARATORS, key=re.sub('"[^"]*"', "", text).count)
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), None)
    except InvalidInputError:
        raise
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(". ") if str(error) else type(error).__name__
        hint = None
        if isinstance(error, UnicodeDecodeError):
            reason, hint = "Its first line is not UTF-8 text", _encoding(file, start)
        elif isinstance(error, json.JSONDecodeError) or form == "JSON":
            form, reason = "JSON", "Its first line is not an object in braces"
        raise file_errors.unreadable(path=file.shown, form=form, reason=reason, hint=hint) from error
    if header is None:
        raise file_errors.empty_file(path=file.shown)
    _check_columns(file, len(header))
    _check_last_line(file, compression)
    return Layout("CSV", tuple(name.strip() for name in header), separator, skip, compression, partitions)


def _check_length(file: File, form: str, line: bytes, number: int) -> None:
    """Raise for a line that was not read to its end."""
    if len(line) == _LONGEST_LINE_BYTES and not line.endswith(b"\n"):
        reason = f"Line {number + 1} {_TOO_LONG}"
        raise file_errors.unreadable(path=file.shown, form=form, reason=reason, hint=_LONG_HINT)


def _check_last_line(file: File, compression: str) -> None:
    """Raise for a last line of many MB: DuckDB leaves it out, and says nothing. Not of compressed files."""
    if compression != "none":
        return
    with Path(file.path).open("rb") as lines:
        size = lines.seek(0, io.SEEK_END)
        start = lines.seek(max(0, size - 2 * _LONGEST_LINE_BYTES))
        if start and not re.search(rb"[\r\n]", lines.read().rstrip(b"\r\n")):
            raise file_errors.unreadable(
                path=file.shown, form="CSV", reason=f"Its last line {_TOO_LONG}", hint=_LONG_HINT
            )


def _check_columns(file: File, columns: int) -> None:
    """Raise for more columns than can be read in reasonable time."""
    if columns > _MOST_COLUMNS:
        reason = f"It has {columns:,} columns, and at most {_MOST_COLUMNS:,} can be read"
        hint = "keep the columns that are needed, or convert the file to Parquet."
        raise file_errors.unreadable(path=file.shown, form="CSV", reason=reason, hint=hint)


def _encoding(file: File, start: bytes) -> str:
    """Say how to make UTF-8 of another encoding: UTF-16 shows itself, others are mostly Windows' own."""
    known = "UTF-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "WINDOWS-1252"
    name = "FILE" if file.shown == "-" else shlex.quote(file.shown)
    return f"save it as UTF-8, for example with iconv -f {known} -t UTF-8 {name} > new.csv"


def _lines(path: str, compression: str) -> Any:
    if compression == "gzip":
        return gzip.open(path, "rb")
    if compression == "zstd":
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(path, compression="zstd"))
    return Path(path).open("rb")


def _keys(line: bytes, lines: Any) -> tuple[str, ...]:
    """Return the names in the first lines of JSON: one that is missing in a line is a missing value."""
    names: dict[str, None] = {}
    for _ in range(_HEADER_LINES):
        if len(line) == _LONGEST_LINE_BYTES and not line.endswith(b"\n"):
            break  # DuckDB will say whether it can read it
        if line.strip():
            found = json.loads(line.decode("utf-8-sig"))
            if not isinstance(found, dict):
                raise ValueError
            names |= dict.fromkeys(found)
        line = lines.readline(_LONGEST_LINE_BYTES)
        if not line:
            break
    return tuple(names)


def _keys_of_array(line: bytes, lines: Any) -> tuple[str, ...]:
    """Return the names in the first objects of a JSON array."""
    start = (line + lines.read(_LONGEST_LINE_BYTES)).decode("utf-8-sig", errors="ignore").lstrip()
    names: dict[str, None] = {}
    place = 1
    for _ in range(_HEADER_LINES):
        place += len(start[place:]) - len(start[place:].lstrip(", \t\r\n"))
        if start[place : place + 1] == "]":
            break
        try:
            found, place = json.JSONDecoder().raw_decode(start, place)
        except json.JSONDecodeError:
            if names:
                break  # the objects go on beyond what was read
            raise
        if not isinstance(found, dict):
            raise ValueError  # noqa: TRY004 - of the file, as in `_keys`
        names |= dict.fromkeys(found)
    return tuple(names)


def unreadable(error: Exception, files: list[File]) -> InvalidInputError:
    """Say in a sentence what DuckDB says in twenty lines."""
    said = str(error)
    file = next((f for f in files if f.path in said), files[0])
    if "Out of Memory" in said:
        had = re.search(r"/([\d.]+ \w+) used\)", said)
        much = f" of {had[1]}" if had else ""
        return InvalidInputError(
            f"{file_words(file.shown)} must be read in the memory that DuckDB may use. "
            f"The limit{much} is too low.",
            hint=("allow more, for example ", Argument("memory_limit", "2GB"), "."),
        )
    form = layout_of(file).form
    hint = None
    line = re.search(r"CSV Error on Line: (\d+)", said)
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if line and columns:
        expected, found = columns.groups()
        values = "value" if found == "1" else "values"
        reason = f"Line {line[1]} has {found} {values}, its first line has {expected}"
    elif line and ("aximum line size" in said or "max_line_size" in said):
        reason, hint = f"Line {line[1]} {_TOO_LONG}", _LONG_HINT
    elif "maximum_object_size" in said:
        reason, hint = f"A line {_TOO_LONG.replace('2 MB', '16 MB')}", _LONG_HINT
    elif "support a full read" in said:  # longer than what DuckDB reads at once
        reason, hint = f"A line {_TOO_LONG}", _LONG_HINT
    elif line and "unterminated quote" in said:
        reason = f"Line {line[1]} has a quote that is never closed, or a text of many MB in quotes"
    elif line and "unicode" in said:
        reason, hint = f"Line {line[1]} is not UTF-8 text", _encoding(file, b"")
    else:
        reason = said.splitlines()[0].partition("Error: ")[2] or said.splitlines()[0]
        reason = reason.replace(file.path, file.shown)
    return file_errors.unreadable(path=file.shown, form=form, reason=reason.rstrip(". "), hint=hint)

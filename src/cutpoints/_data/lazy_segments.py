"""Segments of rows that are not in memory: files, queries and lazy frames.

Few rows out of files, DuckDB and Polars are collected: then segments can do all that arrays can. More
of them, and what is in another engine, are grouped where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from cutpoints._data import frames
from cutpoints._data.file_columns import NUMBERS, WIDE_NUMBERS, as_number, may_merge, typed_label
from cutpoints._data.files import FileSource
from cutpoints._data.groupby import FrameSource
from cutpoints._data.groupby_segments import FrameSegments
from cutpoints._data.segment_codes import coded, combined
from cutpoints._data.segments import Grouped
from cutpoints._data.streaming import BatchSource
from cutpoints._kernel.tables import MEMORY_ROWS
from cutpoints._kernel.weights import EXACT_INTEGERS
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from cutpoints._data.files import Opened
    from cutpoints._data.streaming import Columns
    from cutpoints._kernel.tables import Histogram, Ranges, Rows


def by_groups(source: Any, names: Sequence[str]) -> Grouped | FrameSegments:
    """Put the rows of a source in segments, by the columns with these names."""
    if isinstance(source, FrameSource):
        return FrameSegments(source, names)
    if not isinstance(source, BatchSource):
        raise InvalidInputError(
            "The data must be arrays, a data frame or files where ",
            Argument("by"),
            f" is given. Got {type(source).__name__} instead.",
            hint="pass the frame or the path itself, with the names of its columns.",
        )
    reader = source.reader
    for name in names:
        reader.need(name)
    if isinstance(source, FileSource):
        return _of_files(source.opened, source.columns, source.label_as_given, names)
    with source.turn:
        frame = nw.from_native(reader.table)
        few = _collected(frame, reader.columns, source.pos_label, names)
        if few is not None:
            return few
        return _Within(lambda: source.turn, FrameSource(frame, reader.columns, source.pos_label), names)


def _collected(
    frame: nw.LazyFrame[Any], columns: Columns, pos_label: Any, names: Sequence[str]
) -> Grouped | None:
    """Return the segments in memory; None if there are too many rows."""
    wanted = dict.fromkeys([*columns.all, *names])
    eager = frames.run(frame.select(*wanted).head(MEMORY_ROWS + 1))
    if len(eager) > MEMORY_ROWS:
        return None
    from cutpoints._data.read import read

    data = read(eager.to_native(), **columns.roles, pos_label=pos_label)
    source = data.adding(columns.added, "find_by").in_memory()[columns.score]
    keys = [coded(eager.get_column(name).to_native(), name) for name in names]
    return Grouped(source, *combined(keys))


# --- files


def _of_files(
    opened: Opened, columns: Columns, pos_label: Any, names: Sequence[str]
) -> Grouped | FrameSegments:
    with opened.reading():
        frame, pos_label = _projected(opened, columns, pos_label, names)
        if len(frames.run(frame.head(1))) == 0:
            raise opened.empty(columns.score)
        few = _collected(frame, columns, pos_label, names)
        return few or _Within(opened.reading, FrameSource(frame, columns, pos_label), names)


class _Within(FrameSegments):
    """Segments that are read within something: a look at files, or one's turn on a connection."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[None]],
        source: FrameSource,
        names: Sequence[str],
    ) -> None:
        self._reading = reading  # a file's temporary folder lives as long as this
        super().__init__(source, names)

    def answer(
        self, wanted: Mapping[int, Ranges | None], most: int, *, count: bool
    ) -> dict[int, Rows] | dict[int, Histogram]:
        """Make a pass; see `FrameSegments`."""
        with self._reading():
            return super().answer(wanted, most, count=count)


def _projected(
    opened: Opened, columns: Columns, pos_label: Any, names: Sequence[str]
) -> tuple[nw.LazyFrame[Any], Any]:
    """Return the columns as `files` reads them, text of numbers as numbers; and the positive label."""
    from cutpoints._data.duckdb_reader import quoted

    table = opened.table
    numbers = [columns.score, *columns.masses, *(column.name for column in columns.added)]
    picked = {name: table.column(name).sql for name in names}
    picked |= {name: as_number(name, table.column(name)) for name in numbers}
    if len({name.lower() for name in [*picked, columns.label or ""]}) < len({*picked, columns.label or ""}):
        raise InvalidParameterError(
            "by",
            expected="columns whose names differ by more than capitals from those of the others",
            got=list(names),
            hint="rename a column: SQL ignores the case of names.",
        )
    _refuse_text(opened, [name for name in numbers if may_merge(table.column(name))])
    if columns.label is not None:
        picked[columns.label], kind = _label(opened, columns.label)
        pos_label = typed_label(pos_label, np.zeros(0, kind))
    shown = ", ".join(f"{sql} as {quoted(name)}" for name, sql in picked.items())
    return nw.from_native(table.relation.project(shown)), pos_label


def _refuse_text(opened: Opened, names: list[str]) -> None:
    """Raise for text that is not a number, or one with more digits than float64 has."""
    if not names:
        return
    parts = []
    for name in names:
        sql = opened.table.column(name).sql
        number = f"try_cast({sql} as double)"
        parts.append(f"count(*) filter ({sql} is not null and {number} is null), max(abs({number}))")
    found: Any = opened.table.relation.aggregate(", ".join(parts)).fetchall()[0]
    if any(found[::2]):
        opened.refuse_text(names)
    for name, largest in zip(names, found[1::2], strict=True):
        if largest is not None and largest >= EXACT_INTEGERS:
            opened.refuse_long(name)


def _label(opened: Opened, name: str) -> tuple[str, Any]:
    """Return the SQL of the labels, and what they are: numbers, booleans or text, whichever all can be."""
    column = opened.table.column(name)
    if NUMBERS.fullmatch(column.type):
        return column.sql, np.bool_ if column.type == "BOOLEAN" else np.float64
    if not WIDE_NUMBERS.fullmatch(column.type):
        return f"cast({column.sql} as varchar)", object
    text = f"trim(cast({column.sql} as varchar))"
    number = f"try_cast({column.sql} as double)"
    numbers, whole, booleans = opened.table.relation.aggregate(
        f"bool_and({number} is not null or {column.sql} is null), "
        f"bool_and({number} = floor({number}) and abs({number}) < {EXACT_INTEGERS!r}), "
        f"bool_and(lower({text}) in ('true', 'false'))"
    ).fetchall()[0]
    if numbers:
        return f"cast(cast({column.sql} as double) as {'bigint' if whole else 'double'})", np.float64
    return (f"(lower({text}) = 'true')", np.bool_) if booleans else (text, object)

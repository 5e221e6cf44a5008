"""The threshold of each row's segment in DuckDB, looked up by the text of its key.

A CASE takes a minute for a million rows and a thousand segments, and a join does not keep the order of rows.
So the keys become an ENUM: casting a text to it is one look into a hash table, and its code is the place of
the threshold in a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpoints._policy.decisions import check_key_types

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from cutpoints._data.where import Column
    from cutpoints._policy.rules import Decision, Key

_WHOLE = "1e19"
"""Integers below this have the text of an integer, also if they are doubles."""


def thresholds(
    connection: DuckDBPyConnection, decision: Decision, columns: Sequence[Column], *, csv: bool
) -> str:
    """Return the SQL of the threshold of each row, NULL for unknown segments; a CSV has no types."""
    types = [_type_of(one.type) for one in columns]
    if not csv:
        check_key_types(decision, [{type_} for type_ in types], "apply")
    texts = []
    for i, (column, own) in enumerate(zip(columns, decision.types, strict=True)):
        blank = csv and not any(key[i] == "" for key in decision.segments)
        texts.append(_text(column.sql, column.type, own if csv else None, blank=blank))
    _store(connection, {_key_text(connection, key): edges[0] for key, edges in decision.segments.items()})
    return f"getvariable('threshold')[enum_code(TRY_CAST({_joined(texts)} AS segment)) + 1]"


def _store(connection: DuckDBPyConnection, table: dict[str, float]) -> None:
    """Make the type of the keys, and the list of their thresholds in its order."""
    import pyarrow as pa

    columns = pa.table({"k": list(table), "t": list(table.values())})
    connection.from_arrow(columns).create_view("segments")
    connection.execute("CREATE TYPE segment AS ENUM (SELECT k FROM segments)")
    in_order = "SELECT list(t ORDER BY CAST(k AS segment)) FROM segments"
    connection.execute(f"SET VARIABLE threshold = ({in_order})")
    connection.execute("DROP VIEW segments")


# --- text


def _joined(parts: Sequence[str]) -> str:
    """Return the text of a key of several parts, from which the parts can be told: each says its length."""
    return "(" + " || ".join(f"coalesce(strlen({part}) || ':' || {part}, '-')" for part in parts) + ")"


def _text(column: str, type_: str, own: str | None, *, blank: bool) -> str:
    """Return the text of a column; `own` is the type of the keys for a CSV, where `blank` may be missing."""
    if own == "number":
        number = f"TRY_CAST(trim({column}) AS DOUBLE)"
        whole = f"TRY_CAST(trim({column}) AS DECIMAL(38, 0))"
        is_whole = f"abs({number}) < {_WHOLE} AND CAST({whole} AS DOUBLE) = {number}"
        return f"CASE WHEN {is_whole} THEN CAST({whole} AS VARCHAR) ELSE {_number_text(number)} END"
    if own == "boolean":
        return f"nullif(lower(trim({column})), '')"
    if _type_of(type_) == "number" and not _is_integer(type_):
        return _number_text(f"CAST({column} AS DOUBLE)")
    return f"nullif({column}, '')" if blank else f"CAST({column} AS VARCHAR)"


def _number_text(number: str) -> str:
    """Return the text of a double: NULL for NaN, an integer's if it is one, and the shortest otherwise."""
    whole = f"abs({number}) < {_WHOLE} AND trunc({number}) = {number}"
    return (
        f"CASE WHEN isnan({number}) THEN NULL "
        f"WHEN {whole} THEN CAST(CAST({number} AS HUGEINT) AS VARCHAR) ELSE CAST({number} AS VARCHAR) END"
    )


def _key_text(connection: DuckDBPyConnection, key: Key) -> str:
    parts = []
    for part in key:
        text = str(part).lower() if isinstance(part, bool) else part if part is None else str(part)
        if isinstance(part, float):
            query = f"SELECT {_number_text('x')} FROM (SELECT ? AS x)"  # noqa: S608 - our own
            text = connection.execute(query, [part]).fetchall()[0][0]
        parts.append("-" if text is None else f"{len(text.encode())}:{text}")
    return "".join(parts)


def _is_integer(type_: str) -> bool:
    return "INT" in type_ and "[" not in type_


def _type_of(type_: str) -> str:
    if type_ == "VARCHAR" or type_.startswith("ENUM"):
        return "text"
    if type_ == "BOOLEAN":
        return "boolean"
    number = _is_integer(type_) or (type_.startswith(("DOUBLE", "FLOAT", "DECIMAL")) and "[" not in type_)
    return "number" if number else type_

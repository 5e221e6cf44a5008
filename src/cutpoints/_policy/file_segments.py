"""The threshold of each row's segment in DuckDB, found in a hash table made of constant lists.

A CASE takes a minute for a million rows and a thousand segments, and a join does not keep the order of rows.
So the keys are sorted by DuckDB's own hash of their text: a list says where the keys of each hash begin, and
the few keys that share one are compared in turn. The whole text is compared, so no two keys are mixed up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    keys = list(decision.segments)
    _store(
        connection, [_key_text(connection, key) for key in keys], [decision.segments[key][0] for key in keys]
    )
    row = _joined(texts)
    start = f"getvariable('segment_start')[CAST(hash({row}) % {_slots(len(keys))} AS BIGINT) + 1]"
    most = connection.execute("SELECT getvariable('segment_most')").fetchall()[0][0]
    key, value = (f"getvariable('segment_{name}')" for name in ("key", "value"))
    found = [f"WHEN {key}[{start} + {i}] = {row} THEN {value}[{start} + {i}]" for i in range(most)]
    return f"CASE {' '.join(found)} END"


def _slots(keys: int) -> int:
    return 2 * keys


def _store(connection: DuckDBPyConnection, texts: list[str], values: list[float]) -> None:
    """Put the table into variables: the keys by their hash, their thresholds, and where each hash begins."""
    import pyarrow as pa

    slots = _slots(len(texts))
    named = connection.from_arrow(pa.table({"k": texts, "i": np.arange(len(texts))}))
    hashes = named.project(f"i, CAST(hash(k) % {slots} AS BIGINT) AS h").order("i").fetchnumpy()["h"]
    order = np.argsort(hashes, kind="stable")
    begins = np.searchsorted(hashes[order], np.arange(slots)) + 1  # lists count from 1
    lists = {
        "segment_key": pa.array([texts[i] for i in order]),
        "segment_value": pa.array([values[i] for i in order]),
        "segment_start": pa.array(begins),
    }
    for name, column in lists.items():
        part = connection.from_arrow(pa.table({"v": column, "i": np.arange(len(column))}))
        part.create_view("segment_part")
        connection.execute(f"SET VARIABLE {name} = (SELECT list(v ORDER BY i) FROM segment_part)")  # noqa: S608 - our names
        connection.execute("DROP VIEW segment_part")
    connection.execute(f"SET VARIABLE segment_most = {int(np.bincount(hashes).max())}")


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

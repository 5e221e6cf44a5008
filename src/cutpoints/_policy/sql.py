"""The rule as a SQL expression, in the words of each dialect, with the very threshold.

A decimal literal is not enough for that: DuckDB and PostgreSQL read it as a decimal number, and
SQLite 3.40 misreads one in two hundred by a bit. Where a dialect has a correctly rounded conversion
from text, that is used; for SQLite the float is put together from whole numbers, by divisions and
multiplications with powers of two, which are exact.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cutpoints._policy.policy import Missing

Dialect = Literal["ansi", "bigquery", "duckdb", "mysql", "postgres", "snowflake", "spark", "sqlite"]
_STEP = 62
"""The exponent of the largest power of two that is an integer in SQL."""


@dataclass(frozen=True)
class _Words:
    """How a dialect says it: a quoted name, a double, NaN, and how a query fails."""

    type_: str
    quote: str = '"'
    number: Callable[[float, str], str] = lambda x, type_: f"CAST('{x!r}' AS {type_})"
    nan: str | None = "{0} <> {0}"
    fail: str | None = None
    absent: str = "{0} IS NULL"
    cast: bool = True


def _parts(x: float) -> str:
    """Spell a double as whole numbers: odd mantissa, then powers of two."""
    mantissa, exponent = math.frexp(abs(x))
    whole, exponent = int(mantissa * (1 << 53)), exponent - 53
    while whole and whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    sign, steps = "/" if exponent < 0 else "*", abs(exponent)
    factors = [1 << min(_STEP, steps - i) for i in range(0, steps, _STEP)]
    minus = "-" if x < 0 else ""
    return f"(CAST({minus}{whole} AS REAL){''.join(f' {sign} {factor}' for factor in factors)})"


_WORDS: dict[str, _Words] = {
    "ansi": _Words("DOUBLE PRECISION"),
    "bigquery": _Words("FLOAT64", "`", nan="IS_NAN({0})", fail="ERROR('missing score')"),
    "duckdb": _Words("DOUBLE", nan="isnan({0})", fail="error('missing score')"),
    # It has neither NaN nor infinity, and its literals with an exponent are doubles.
    "mysql": _Words("DOUBLE", "`", number=lambda x, _: f"{x!r}" if "e" in repr(x) else f"{x!r}E0", nan=None),
    # NaN equals NaN there, and is the greatest number.
    "postgres": _Words("double precision", nan="{0} = CAST('NaN' AS double precision)"),
    "snowflake": _Words("DOUBLE", nan="{0} = CAST('NaN' AS DOUBLE)"),
    "spark": _Words("DOUBLE", "`", nan="isnan({0})", fail="raise_error('missing score')"),
    # A NaN is stored as NULL there. Any column may hold text, which as a number would be 0.
    "sqlite": _Words(
        "REAL",
        number=lambda x, _: _parts(x),
        nan=None,
        absent="typeof({0}) NOT IN ('real', 'integer')",
        cast=False,
    ),
}


def to_sql(threshold: float, column: str, dialect: str, missing: Missing) -> str:
    """Return the CASE expression."""
    if dialect not in _WORDS:
        raise InvalidParameterError.of(
            parameter="dialect",
            caller="to_sql",
            must_be=f"one of {', '.join(map(repr, get_args(Dialect)))}",
            got=dialect,
            hint="'ansi' is a good start for any other.",
        )
    words = _WORDS[dialect]
    name = quoted(column, dialect)
    score = f"CAST({name} AS {words.type_})" if words.cast else name
    absent = words.absent.replace("{0}", name)
    if words.nan is not None:
        absent += f" OR {words.nan.replace('{0}', score)}"
    outcome = {"positive": "1", "negative": "0", "keep": "NULL"}.get(missing, words.fail)
    if outcome is None:
        able = ", ".join(repr(one) for one, its in _WORDS.items() if its.fail)
        raise InvalidParameterError.of(
            parameter="missing",
            caller="to_sql",
            must_be=f"'negative', 'positive' or 'keep' for {dialect}: only {able} can fail inside a query",
            got=missing,
        )
    called = condition(threshold, score, dialect)
    return f"CASE WHEN {absent} THEN {outcome}\n     WHEN {called} THEN 1 ELSE 0 END"


def condition(threshold: float, score: str, dialect: str) -> str:
    """Return the SQL of ``score >= threshold`` for a score that is not missing and a double.

    No dialect needs to spell an infinite number: at least infinity is beyond the largest float, and
    every number is at least minus infinity.
    """
    words = _WORDS[dialect]
    if threshold == -math.inf:
        return "1 = 1"
    if threshold == math.inf:
        return f"{score} > {words.number(sys.float_info.max, words.type_)}"
    return f"{score} >= {words.number(threshold, words.type_)}"


def quoted(name: str, dialect: str) -> str:
    """Return a name as an identifier, whatever characters it has."""
    quote = _WORDS[dialect].quote
    if dialect == "bigquery":  # it has escapes with a backslash there, and no doubled quotes
        return quote + name.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote
    return quote + name.replace(quote, quote * 2) + quote

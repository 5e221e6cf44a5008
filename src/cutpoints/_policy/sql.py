"""The rule as a SQL expression, in the syntax of each dialect, with the very thresholds.

A decimal literal is not enough for that: DuckDB and PostgreSQL read it as a decimal number, and
SQLite 3.40 misreads one in two hundred by a bit. Where a dialect has a correctly rounded conversion
from text, that is used; for SQLite the float is put together from integers, by divisions and
multiplications with powers of two, which are exact.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Decision, Edges, KeyPart, Missing

Dialect = Literal["ansi", "bigquery", "duckdb", "mysql", "postgres", "snowflake", "spark", "sqlite"]
_STEP = 62
"""The exponent of the largest power of two that is an integer in SQL."""


def _doubled(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _escaped(text: str) -> str:
    """Quote for dialects in which a backslash escapes; a line end would break the literal there."""
    for character, spelled in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(character, spelled)
    return f"'{text}'"


@dataclass(frozen=True)
class _Syntax:
    """How a dialect says it: a quoted name, a double, a string, NaN, equal keys, and how a query fails."""

    type_: str
    quote: str = '"'
    number: Callable[[float, str], str] = lambda x, type_: f"CAST('{x!r}' AS {type_})"
    text: Callable[[str], str] = _doubled
    same_text: str = "{0} = {1}"
    """Whether a column has this very text: no collation may take a for A, nor ignore spaces at an end."""
    nan: str | None = "{0} <> {0}"
    fail: str | None = None
    absent: str = "{0} IS NULL"
    cast: bool = True
    booleans: tuple[str, str] = ("FALSE", "TRUE")


def _parts(x: float) -> str:
    """Spell a double as integers: odd mantissa, then powers of two."""
    mantissa, exponent = math.frexp(abs(x))
    whole, exponent = int(mantissa * (1 << 53)), exponent - 53
    while whole and whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    sign, steps = "/" if exponent < 0 else "*", abs(exponent)
    factors = [1 << min(_STEP, steps - i) for i in range(0, steps, _STEP)]
    minus = "-" if x < 0 else ""
    return f"(CAST({minus}{whole} AS REAL){''.join(f' {sign} {factor}' for factor in factors)})"


_SYNTAX: dict[str, _Syntax] = {
    "ansi": _Syntax("DOUBLE PRECISION"),
    "bigquery": _Syntax("FLOAT64", "`", text=_escaped, nan="IS_NAN({0})", fail="ERROR('{0}')"),
    "duckdb": _Syntax("DOUBLE", same_text="{0} COLLATE C = {1}", nan="isnan({0})", fail="error('{0}')"),
    # It has neither NaN nor infinity, and its literals with an exponent are doubles. Its collations take
    # a for A, and its strings may or may not know backslashes: bytes are compared, written as digits.
    "mysql": _Syntax(
        "DOUBLE",
        "`",
        number=lambda x, _: f"{x!r}" if "e" in repr(x) else f"{x!r}E0",
        text=lambda text: f"X'{text.encode().hex()}'",
        same_text="CAST(CONVERT({0} USING utf8mb4) AS BINARY) = {1}",
        nan=None,
    ),
    # NaN equals NaN there, and is the greatest number. A column may have a collation that takes a for A, or
    # be of the type citext; in E'...' a backslash escapes whatever the server's settings are.
    "postgres": _Syntax(
        "double precision",
        text=lambda text: "E" + _escaped(text) if "\\" in text else _doubled(text),
        same_text='CAST({0} AS text) COLLATE "C" = {1}',
        nan="{0} = CAST('NaN' AS double precision)",
    ),
    "snowflake": _Syntax("DOUBLE", text=_escaped, nan="{0} = CAST('NaN' AS DOUBLE)"),
    "spark": _Syntax("DOUBLE", "`", text=_escaped, nan="isnan({0})", fail="raise_error('{0}')"),
    # A NaN is stored as NULL there. Any column may hold text, which as a number would be 0.
    "sqlite": _Syntax(
        "REAL",
        number=lambda x, _: _parts(x),
        same_text="{0} = {1} COLLATE BINARY",
        nan=None,
        absent="typeof({0}) NOT IN ('real', 'integer')",
        cast=False,
        booleans=("0", "1"),
    ),
}


def to_sql(policy: Policy, column: str | None, dialect: str, missing: Missing, *, fail: bool) -> str:
    """Return the CASE expression, or one for each label; `fail`: what is an error fails the query."""
    if dialect not in _SYNTAX:
        raise InvalidParameterError(
            "dialect",
            caller="to_sql",
            expected=f"one of {', '.join(map(repr, get_args(Dialect)))}",
            got=dialect,
            hint="'ansi' is a good start for any other.",
        )
    syntax = _SYNTAX[dialect]
    if fail and syntax.fail is None:
        able = ", ".join(repr(one) for one, its in _SYNTAX.items() if its.fail)
        raise InvalidParameterError(
            "missing",
            caller="to_sql",
            expected=f"another choice for {dialect}: only {able} can make a query fail",
            got="error",
        )
    made = []
    for decision in policy.rule.decisions():
        name = quoted(policy.column(column, "to_sql", decision.score), dialect)
        score = f"CAST({name} AS {syntax.type_})" if syntax.cast else name
        absent = syntax.absent.replace("{0}", name)
        if syntax.nan is not None:
            absent += f" OR {syntax.nan.replace('{0}', score)}"
        text = expression(
            policy,
            decision,
            score,
            {one: quoted(one, dialect) for one in decision.by},
            absent=absent,
            dialect=dialect,
            missing=missing,
            fail=fail,
        )
        named = "" if decision.label is None else f" AS {quoted(f'decision_{decision.label}', dialect)}"
        made.append(text + named)
    return ",\n".join(made)


def expression(
    policy: Policy,
    decision: Decision,
    score: str,
    keys: Mapping[str, str],
    *,
    absent: str,
    dialect: str,
    missing: Missing,
    fail: bool = False,
) -> str:
    """Return the CASE expression of one column of decisions.

    `score` is the SQL of a double, `absent` whether it is missing, `keys` that of each column of segments.
    """
    syntax = _SYNTAX[dialect]
    failing = (syntax.fail or "NULL").format
    outcome = "NULL"
    if missing in policy.rule.missing:
        outcome = value(policy.rule.missing[missing], dialect)
    elif missing == "error" and fail:
        outcome = failing("missing score")
    first = f"CASE WHEN {absent} THEN {outcome}"
    if not decision.by:
        assert decision.otherwise is not None
        return f"{first}\n     {_steps(decision, decision.otherwise, score, dialect)} END"
    branches = []
    for key, edges in decision.segments.items():
        parts = zip(decision.by, key, decision.types, strict=True)
        is_key = " AND ".join(same_key(keys[name], part, type_, dialect) for name, part, type_ in parts)
        branches.append(f"WHEN {is_key} THEN CASE {_steps(decision, edges, score, dialect)} END")
    if decision.otherwise is not None:
        others = f"CASE {_steps(decision, decision.otherwise, score, dialect)} END"
    else:
        others = failing("unknown segment") if fail and policy.rule.unknown == "error" else "NULL"
    return "\n     ".join([first, *branches, f"ELSE {others} END"])


def _steps(decision: Decision, edges: Edges, score: str, dialect: str) -> str:
    """Return the branches of a CASE from the highest edge to the lowest."""
    pairs = reversed(list(zip(edges, decision.values[1:], strict=True)))
    branches = [f"WHEN {condition(edge, score, dialect)} THEN {value(one, dialect)}" for edge, one in pairs]
    return " ".join([*branches, f"ELSE {value(decision.values[0], dialect)}"])


def value(one: Any, dialect: str) -> str:
    """Return a decision as a literal."""
    if isinstance(one, str):
        return text_value(one, dialect)
    return str(one) if isinstance(one, int) else _SYNTAX[dialect].number(one, _SYNTAX[dialect].type_)


def text_value(text: str, dialect: str) -> str:
    """Return a text as a literal that is a text, and not bytes."""
    literal = _SYNTAX[dialect].text(text)
    return f"CONVERT({literal} USING utf8mb4)" if dialect == "mysql" else literal


def same_key(column: str, part: KeyPart, type_: str | None, dialect: str) -> str:
    """Return the SQL of whether a column has this key, one of a type; NULL and NaN are the key None."""
    syntax = _SYNTAX[dialect]
    if part is None and type_ == "number" and syntax.nan is not None:
        return f"({column} IS NULL OR {syntax.nan.format(f'CAST({column} AS {syntax.type_})')})"
    if part is None:
        return f"{column} IS NULL"
    if isinstance(part, str):
        return syntax.same_text.format(column, syntax.text(part))
    if isinstance(part, bool):
        return f"{column} = {syntax.booleans[part]}"
    return f"{column} = {value(part, dialect)}"


def condition(threshold: float, score: str, dialect: str) -> str:
    """Return the SQL of ``score >= threshold`` for a score that is not missing and a double.

    No dialect needs to spell an infinite number: at least infinity is beyond the largest float, and
    every number is at least minus infinity.
    """
    syntax = _SYNTAX[dialect]
    if threshold == -math.inf:
        return "1 = 1"
    if threshold == math.inf:
        return f"{score} > {syntax.number(sys.float_info.max, syntax.type_)}"
    return f"{score} >= {syntax.number(threshold, syntax.type_)}"


def quoted(name: str, dialect: str) -> str:
    """Return a name as an identifier, whatever characters it has."""
    quote = _SYNTAX[dialect].quote
    if dialect == "bigquery":  # it has escapes with a backslash there, and no doubled quotes
        return quote + name.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote
    return quote + name.replace(quote, quote * 2) + quote

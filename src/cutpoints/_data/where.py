"""Conditions on rows, such as ``month = '2026-10' and not score between 0 and 1``.

A condition is parsed by this small grammar and written again: names as quoted names of columns that
there are, texts as quoted texts, numbers as numbers. No character of what the user wrote reaches
the engine in any other way, so a condition can choose rows and can do nothing else.

::

    condition  = part ("or" part)*
    part       = factor ("and" factor)*
    factor     = "not" factor | "(" condition ")" | comparison
    comparison = operand ("=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=") operand
               | operand ["not"] "in" "(" literal ("," literal)* ")"
               | operand ["not"] "between" literal "and" literal
               | operand "is" ["not"] "null"
    operand    = name | literal
    literal    = number | 'text' | "true" | "false"
    name       = a word, or anything in double quotes
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from cutpoints._data import file_errors
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
      | (?P<text>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")+")
      | (?P<word>[^\W\d]\w*)
      | (?P<sign><=|>=|<>|!=|==|=|<|>|\(|\)|,)
    )""",
    re.VERBOSE,
)
_COMPARISONS = {"=": "=", "==": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_KEYWORDS = {"and", "or", "not", "in", "between", "is", "null", "true", "false"}
_DEEPEST = 100
"""Levels of parentheses: each takes a few calls, and Python allows a thousand."""


class Column(NamedTuple):
    """How the engine writes a column, and its type."""

    sql: str
    type: str


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


class _Operand(NamedTuple):
    """A column or a literal: its kind and what it stands for."""

    kind: str
    value: str


@dataclass(frozen=True)
class Condition:
    """A condition that was understood."""

    names: tuple[str, ...]
    """The columns that it uses."""
    _write: Callable[[Mapping[str, Column]], str]

    def sql(self, columns: Mapping[str, Column], path: str) -> str:
        """Write the condition for a table; raise if it uses a column that does not exist."""
        for name in self.names:
            if name not in columns:
                raise file_errors.column(name=name, path=path, columns=list(columns))
        return self._write(columns)


def condition(text: str) -> Condition:
    r"""Read a condition.

    Examples
    --------
    >>> from cutpoints._data.where import Column, condition
    >>> month = {"month": Column('"month"', "VARCHAR")}
    >>> condition("month = '2026-10'").sql(month, "a table")
    '("month" = \'2026-10\')'
    """
    return _Parser(text).whole()


class _Parser:
    """Recursive descent, one method per rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._tokenized()
        self._at = 0
        self._depth = 0
        self._names: list[str] = []

    def whole(self) -> Condition:
        """Read all of the text."""
        write = self._condition()
        if self._at < len(self._tokens):
            self._refuse("the end, 'and' or 'or'")
        return Condition(tuple(dict.fromkeys(self._names)), write)

    def _tokenized(self) -> list[_Token]:
        tokens: list[_Token] = []
        place, end = 0, len(self._text.rstrip())
        while place < end:
            match = _TOKEN.match(self._text, place)
            if match is None or match.lastgroup is None:
                self._tokens, self._at = (
                    [*tokens, _Token("?", self._text[place:].strip()[:20], place)],
                    len(tokens),
                )
                self._refuse("a name, a number, a 'text' or a comparison")
            tokens.append(_Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            place = match.end()
        return tokens

    def _refuse(self, wanted: str) -> NoReturn:
        found = "the end"
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            found = f"{token.text!r} at character {token.place}"
        raise InvalidParameterError(
            "where",
            expected=f"a condition, with {wanted} in place of {found}",
            got=self._text,
            hint="conditions are comparisons of columns with values, such as month = '2026-10', "
            "joined by and, or, not, with in (...), between, is null; names with other characters "
            "than letters and digits stand in double quotes.",
        )

    # --- tokens

    def _word(self) -> str:
        """Return the next token if it is a keyword or a sign, in lower case; else nothing."""
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == "sign" or (token.kind == "word" and token.text.lower() in _KEYWORDS):
                return token.text.lower()
        return ""

    def _take(self, word: str) -> bool:
        if self._word() == word:
            self._at += 1
            return True
        return False

    def _need(self, word: str) -> None:
        if not self._take(word):
            self._refuse(f"{word!r}")

    # --- rules

    def _condition(self) -> Callable[[Mapping[str, Column]], str]:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._refuse(f"no more than {_DEEPEST} brackets")
        parts = [self._part()]
        while self._take("or"):
            parts.append(self._part())
        self._depth -= 1
        return _joined(parts, " or ")

    def _part(self) -> Callable[[Mapping[str, Column]], str]:
        factors = [self._factor()]
        while self._take("and"):
            factors.append(self._factor())
        return _joined(factors, " and ")

    def _factor(self) -> Callable[[Mapping[str, Column]], str]:
        negations = 0
        while self._take("not"):
            negations += 1
        if self._take("("):
            inner = self._condition()
            self._need(")")
        else:
            inner = self._comparison()
        return (lambda columns: f"(not {inner(columns)})") if negations % 2 else inner

    def _comparison(self) -> Callable[[Mapping[str, Column]], str]:
        left = self._operand()
        if self._take("is"):
            negated = "not " if self._take("not") else ""
            self._need("null")
            return lambda columns: f"({_sql(left, columns)} is {negated}null)"
        negated = "not " if self._take("not") else ""
        if self._take("in"):
            self._need("(")
            values = [self._literal()]
            while self._take(","):
                values.append(self._literal())
            self._need(")")
            listed = ", ".join(_sql(value, {}) for value in values)
            return lambda columns: f"({_sql(left, columns, *values)} {negated}in ({listed}))"
        if self._take("between"):
            low = self._literal()
            self._need("and")
            high = self._literal()
            return lambda columns: (
                f"({_sql(left, columns, low, high)} {negated}between "
                f"{_sql(low, columns)} and {_sql(high, columns)})"
            )
        if negated or self._word() not in _COMPARISONS:
            self._refuse("'in' or 'between'" if negated else "a comparison")
        sign = _COMPARISONS[self._word()]
        self._at += 1
        right = self._operand()
        return lambda columns: f"({_sql(left, columns, right)} {sign} {_sql(right, columns, left)})"

    def _operand(self) -> _Operand:
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == "quoted" or (token.kind == "word" and not self._word()):
                self._at += 1
                name = token.text if token.kind == "word" else token.text[1:-1].replace('""', '"')
                self._names.append(name)
                return _Operand("name", name)
        return self._literal("a column or a value")

    def _literal(self, wanted: str = "a value") -> _Operand:
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind in {"number", "text"}:
                self._at += 1
                value = token.text if token.kind == "number" else token.text[1:-1].replace("''", "'")
                return _Operand(token.kind, value)
            if self._word() in {"true", "false"}:
                self._at += 1
                return _Operand("truth", token.text.lower())
        return self._refuse(wanted)


def _joined(
    parts: list[Callable[[Mapping[str, Column]], str]], word: str
) -> Callable[[Mapping[str, Column]], str]:
    if len(parts) == 1:
        return parts[0]
    return lambda columns: "(" + word.join(part(columns) for part in parts) + ")"


def _sql(operand: _Operand, columns: Mapping[str, Column], *others: _Operand) -> str:
    """Write an operand; a column of text that is compared with numbers is read as numbers."""
    if operand.kind == "text":
        return "'" + operand.value.replace("'", "''") + "'"
    if operand.kind != "name":
        return operand.value
    sql, type_ = columns[operand.value]
    kinds = {other.kind for other in others}
    if type_ == "VARCHAR" and "number" in kinds:
        return f"try_cast({sql} as double)"
    if type_ == "VARCHAR" and "truth" in kinds:
        return f"try_cast({sql} as boolean)"
    return sql

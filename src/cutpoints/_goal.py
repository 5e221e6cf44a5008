"""The goal: what is maximized or minimized, subject to what; and the small language to say it in.

The text language is read by `ast` against a white list: names of metrics, calls with named
numbers, sums and products with numbers, comparisons. Nothing is ever evaluated.

    f1        f(beta=2)        0.7*accuracy + 0.3*recall        cost(fp=2, fn=1)
    precision >= 0.95          predicted_positive <= 500        0.1 <= fpr <= 0.2

A name inside cost(...), profit(...) or called(...) is a column of the data:

    cost(fp=5, fn=amount)      profit(tp=50, fn=-amount, tn=0.02*amount + 1)     called(minutes) <= 2400
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from cutpoints._wording import Argument, Words
from cutpoints.exceptions import InvalidParameterError, UnknownMetricError
from cutpoints.metrics.columns import Column, RowValue, column
from cutpoints.metrics.costs import called
from cutpoints.metrics.expression import LARGEST, MIRRORED, SMALLEST, Constraint, Expression, Relation
from cutpoints.metrics.metric import custom
from cutpoints.metrics.registry import FAMILIES, canonical_name, get

Objective = str | Expression | Callable[..., Any]
Constraints = str | Constraint | Iterable[str | Constraint] | None

_RELATIONS: dict[type[ast.cmpop], Relation] = {
    ast.GtE: ">=",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.Lt: "<",
}
_LONGEST = 10_000
_WITH_COLUMNS = {"cost", "cost_per_row", "profit", "called"}


@dataclass(frozen=True)
class Goal:
    """An objective, its direction, and the constraints."""

    expression: Expression
    direction: Literal["maximize", "minimize"]
    constraints: tuple[Constraint, ...] = ()

    @property
    def sign(self) -> int:
        """+1 to maximize, -1 to minimize."""
        return 1 if self.direction == "maximize" else -1

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the data that it adds up."""
        return tuple(dict.fromkeys(column for one in self.expressions for column in one.columns))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The objective, and what is constrained."""
        return (self.expression, *(constraint.expression for constraint in self.constraints))

    def for_share(self, share: Fraction) -> Goal:
        """Return the same goal for a share of the rows, which may hold as much of a bounded total."""
        return replace(self, constraints=tuple(one.for_share(share) for one in self.constraints))

    def __str__(self) -> str:
        return in_words(self.direction, self.expression, self.constraints)


def furthest(constraint: Constraint, others: tuple[Constraint, ...] = ()) -> Goal:
    """Return the goal to come as far with one constraint as any cut does that meets some others."""
    return Goal(constraint.expression, "maximize" if constraint.wants_high else "minimize", others)


def with_others(constraints: tuple[Constraint, ...]) -> list[Goal]:
    """Return for each of several constraints the goal to come furthest with it where all others hold."""
    if len(constraints) == 1:
        return []
    return [furthest(one, constraints[:i] + constraints[i + 1 :]) for i, one in enumerate(constraints)]


def in_words(direction: str | None, objective: object, constraints: Iterable[object]) -> str:
    """Say a goal in one line: maximize recall subject to fpr <= 0.1."""
    held = " and ".join(map(str, constraints))
    return f"{direction} {objective}" + (f" subject to {held}" if held else "")


def goal(
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    caller: str = "find",
    columns: bool = False,
) -> Goal:
    """Read what the user asked for; exactly one of `maximize` and `minimize`.

    `columns`: whether the caller can read columns of the data for it.
    """
    if (maximize is None) == (minimize is None):
        raise InvalidParameterError(
            "maximize",
            caller=caller,
            expected=("given, or else ", Argument("minimize"), ", and not both"),
            got=Words("neither" if maximize is None else "both"),
            hint=(
                "for example ",
                Argument("maximize", "f1"),
                " or ",
                Argument("minimize", "cost(fp=2, fn=1)"),
                ".",
            ),
        )
    direction: Literal["maximize", "minimize"] = "minimize" if maximize is None else "maximize"
    asked: Any = minimize if maximize is None else maximize
    wanted = Goal(objective(asked, direction, caller), direction, constraints(subject_to, caller))
    if wanted.columns and not columns:
        raise with_columns(wanted, caller)
    return wanted


def with_columns(wanted: Goal, caller: str) -> InvalidParameterError:
    """Return the error of a goal with columns, where only counts can be used."""
    in_objective = bool(wanted.expression.columns)
    return InvalidParameterError(
        wanted.direction if in_objective else "subject_to",
        caller=caller,
        expected=f"without columns: {caller} only knows how many rows there are of each kind",
        got=str(
            wanted.expression if in_objective else next(c for c in wanted.constraints if c.expression.columns)
        ),
        hint="find(), find_by(), curve() and evaluate() read columns.",
    )


def objective(wanted: Objective, parameter: str = "maximize", caller: str = "find") -> Expression:
    """Return the expression for a name, a text, an expression or a function."""
    if isinstance(wanted, Expression):
        return wanted
    if isinstance(wanted, str):
        parsed = parse(wanted, parameter, caller)
        if isinstance(parsed, Expression):
            return parsed
        got = Words(f"the constraint {wanted!r}" if isinstance(parsed, list) else f"the number {wanted}")
        hint = ("constraints go into ", Argument("subject_to"), ".") if isinstance(parsed, list) else None
        raise InvalidParameterError(
            parameter,
            caller=caller,
            expected="a metric or a sum of metrics",
            got=got,
            hint=hint,
        )
    for name, family in FAMILIES.items():
        if wanted is family:
            return get(name)  # raises, naming the parameters that are missing
    if callable(wanted):
        return custom(wanted)
    raise InvalidParameterError(
        parameter,
        caller=caller,
        expected="the name of a metric, an expression of metrics or a function of (tp, fp, fn, tn)",
        got=wanted,
    )


def constraints(
    wanted: Constraints, caller: str = "find", parameter: str = "subject_to"
) -> tuple[Constraint, ...]:
    """Return constraints for a text, a constraint, or a list of either."""
    if wanted is None:
        return ()
    found: list[Constraint] = []
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str)
    for one in wanted if several else [wanted]:  # type: ignore[union-attr]
        if isinstance(one, Constraint):
            found.append(one)
            continue
        parsed = parse(one, parameter, caller) if isinstance(one, str) else None
        if not isinstance(parsed, list):
            raise InvalidParameterError(
                parameter,
                caller=caller,
                expected="comparisons of a metric with a number",
                got=one,
                hint=("for example ", Argument(parameter, "precision >= 0.95"), "."),
            )
        found += parsed
    return tuple(found)


@lru_cache(maxsize=256)  # the same few texts come again and again; what they stand for never changes
def parse(text: str, parameter: str, caller: str = "find") -> Expression | Fraction | list[Constraint]:
    """Read the text language.

    Examples
    --------
    >>> parse("0.7*accuracy + 0.3*recall", "maximize")
    <0.7*accuracy + 0.3*recall>
    >>> parse("precision >= 0.95 and recall > 0.5", "subject_to")
    [<precision >= 0.95>, <recall > 0.5>]
    """
    reader = _Reader(text, parameter, caller)
    try:
        if len(text) > _LONGEST:
            raise SyntaxError
        tree = ast.parse(text.strip(), mode="eval")
        found: Expression | Fraction | list[Constraint] = reader.read(tree.body)
    except InvalidParameterError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise reader.unreadable(text, "a name or an expression of metrics", _respelled(text)) from error
    return found


_CORRECTED = 200
"""Longer texts are no slips of the hand."""


_SIGNS = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<=", "€": "", "$": "", "£": ""}
_GROUPED = re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?:,\d{3})+(?![\w.]|,\d)")
"""A number with separators between the thousands."""


def _respelled(text: str) -> str | None:
    """Return the hint for slips that are easily made, if it can be read then.

    Percent and currency signs, separators in numbers, a decimal comma, signs of comparison, and names of
    several words.

    Examples
    --------
    >>> _respelled("precision ≥ 95 %"), _respelled("predicted_positive <= 1,000")
    ("did you mean 'precision >= 0.95'?", "did you mean 'predicted_positive <= 1000'?")
    """
    if len(text) > _CORRECTED:
        return None
    meant = text
    for sign, plain in _SIGNS.items():
        meant = meant.replace(sign, plain)
    meant = re.sub(r"(\d+(?:\.\d+)?)\s*%", lambda found: f"{float(found[1]) / 100:g}", meant)
    meant = _GROUPED.sub(lambda found: found[0].replace(",", ""), meant)
    if "(" not in meant:
        meant = re.sub(r"(?<=\d),(?=\d)", ".", meant)
        meant = re.sub(r"\s*(?<![<>=!])=(?!=)\s*", " >= ", meant)
    meant = meant.strip()
    try:
        if re.fullmatch(r"[a-zA-Z][\w -]*", meant):
            meant = canonical_name(meant)
        elif meant != text.strip():
            parse(meant, "subject_to")
    except InvalidParameterError:
        return None
    except UnknownMetricError:  # the next error says which names there are
        if not set(meant) & set("<>"):
            return None
    return None if meant == text.strip() else f"did you mean '{meant}'?"


@dataclass(frozen=True)
class _Reader:
    """Walks the syntax tree; whatever is not on the white list is refused."""

    text: str
    parameter: str
    caller: str

    def read(self, node: ast.expr) -> Any:
        """Return an expression, a number or a list of constraints."""
        match node:
            case ast.Name(id=name):
                return get(name)
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return self._number(value, node)
            case ast.Call(func=ast.Name(id="called"), args=[value], keywords=[]):
                return called(self._row_value(value))
            case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords):
                return self._call(name, keywords)
            case ast.Call(func=ast.Name(id=name)):
                canonical = canonical_name(name)
                must_be = f"{name} with its parameters given by name"
                raise self._refuse(must_be, node, self._with_names(node, name, canonical))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self._arithmetic(node, self._value(left), op, self._value(right))
            case ast.Compare(left=left, ops=ops, comparators=rights):
                return self._comparison(node, [left, *rights], ops)
            case ast.BoolOp(op=ast.And(), values=values):
                parts = [self.read(value) for value in values]
                if all(isinstance(part, list) for part in parts):
                    return [constraint for part in parts for constraint in part]
        raise self._refuse("an expression of metrics and numbers", node, _respelled(self.text))

    def _value(self, node: ast.expr) -> Any:
        value = self.read(node)
        if isinstance(value, list):
            raise self._refuse("a sum of metrics with number weights", node)
        return value

    def _number(self, value: float, node: ast.expr) -> Fraction:
        """Read a literal as it was written, 0.1 as one tenth; not one of a million digits."""
        literal = ast.get_source_segment(self.text.strip(), node) or repr(value)
        vanished = value == 0 and any(digit in literal.lower().split("e")[0] for digit in "123456789")
        foreign = literal.lower().strip("0123456789_.e+-")  # hexadecimal and its like
        if foreign or vanished or not (value == 0 or SMALLEST <= abs(value) <= LARGEST):
            raise self._refuse(
                f"written with numbers that are 0 or between {SMALLEST:g} and {LARGEST:g}", node
            )
        return Fraction(value) if isinstance(value, int) else Fraction(literal)

    def _call(self, name: str, keywords: list[ast.keyword]) -> Expression:
        parameters: dict[str, Any] = {}
        with_columns = canonical_name(name) in _WITH_COLUMNS
        for keyword in keywords:
            value = (self._row_value if with_columns else self.read)(keyword.value)
            known = isinstance(value, (Fraction, RowValue))
            if keyword.arg is None or keyword.arg in parameters or not known:
                raise self._refuse(f"{canonical_name(name)} with numbers as parameters", keyword.value)
            parameters[keyword.arg] = value
        return get(name, **parameters)

    def _row_value(self, node: ast.expr) -> Fraction | RowValue:
        """Return what differs from row to row: columns, numbers, and sums of both."""
        match node:
            case ast.Name(id=name):
                return column(name)
            case ast.Call(func=ast.Name(id="column"), args=[ast.Constant(value=str() as name)], keywords=[]):
                return column(name)
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return self._number(value, node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._row_value(operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._row_value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._row_value(left), self._row_value(right)
                match op:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult() if isinstance(a, Fraction) or isinstance(b, Fraction):
                        return a * b
                    case ast.Div() if isinstance(b, Fraction) and b != 0:
                        return a / b
        raise self._refuse(
            "a column, a number, or a sum of columns with number weights",
            node,
            "for example 'cost(fp=5, fn=0.02*amount + 1)'; a name with spaces is column('the name').",
        )

    def _arithmetic(self, node: ast.expr, left: Any, op: ast.operator, right: Any) -> Any:
        numbers = isinstance(left, Fraction) + isinstance(right, Fraction)
        match op:
            case ast.Add():
                return left + right if isinstance(left, Expression) else right + left
            case ast.Sub():
                return -right + left if isinstance(left, Fraction) and numbers == 1 else left - right
            case ast.Mult() if numbers:
                return left * right if isinstance(left, Expression) else right * left
            case ast.Div() if isinstance(right, Fraction) and right != 0:
                return left / right
        raise self._refuse("a sum of metrics with number weights", node)

    def _comparison(self, node: ast.expr, sides: list[ast.expr], ops: list[ast.cmpop]) -> list[Constraint]:
        values = [self._value(side) for side in sides]
        found = []
        for left, op, right in zip(values, ops, values[1:], strict=False):
            relation = _RELATIONS.get(type(op))
            if relation is None:
                hint = "an exact equality rarely holds at any cut: use >= or <=."
                raise self._refuse("a comparison with >=, <=, > or <", node, hint)
            if isinstance(left, Expression):
                found.append(Constraint.of(left, relation, right))
            elif isinstance(right, Expression):
                found.append(Constraint.of(right, MIRRORED[relation], left))
            else:
                raise self._refuse("a comparison of a metric with a number", node)
        return found

    def _with_names(self, node: ast.Call, name: str, canonical: str) -> str | None:
        """Return the hint that gives the arguments of a call their names."""
        family = FAMILIES.get(canonical)
        if family is None:
            return None
        given = {word.arg for word in node.keywords}
        names = ["fp", "fn"] if canonical == "cost" else inspect.signature(family).parameters
        free = [one for one in names if one not in given]
        if len(free) < len(node.args):
            return None
        words = [f"{one}={ast.unparse(value)}" for one, value in zip(free, node.args, strict=False)]
        words += [ast.unparse(word) for word in node.keywords]
        return f"did you mean '{name}({', '.join(words)})'?"

    def _refuse(self, must_be: str, node: ast.AST, hint: str | None = None) -> InvalidParameterError:
        part = ast.get_source_segment(self.text.strip(), node) or self.text
        whole = f"{part} in {self.text}" if part != self.text else self.text
        return self.unreadable(whole, must_be, hint)

    def unreadable(self, part: str, must_be: str, hint: str | None = None) -> InvalidParameterError:
        """Return the error of a text, or a part of it, that is not of the language."""
        return InvalidParameterError(
            self.parameter,
            caller=self.caller,
            expected=must_be,
            got=part if len(part) < 100 else part[:97] + "...",
            hint=hint or "for example 'f1', '0.7*accuracy + 0.3*recall' or 'precision >= 0.95'.",
        )

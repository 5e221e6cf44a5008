"""What can be said about a confusion: expressions, their algebra, and constraints on them.

An `Expression` has

- **values** in float64, for all cuts at once;
- an **order key**, a fraction of integers, for the few cuts that floats cannot distinguish;
- **bounds over a box**: the least and greatest value when TP and FP are each known only to lie in an
  interval. This is what lets the search drop a whole range of thresholds unseen;
- its **linear-fractional form**, where there is one, for linear programs and convex hulls.

The totals P and N are fixed in all of this: they belong to the data, not to the threshold.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._arithmetic import as_float, as_fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints.metrics.columns import Column

Array: TypeAlias = "NDArray[np.float64]"
Bounds: TypeAlias = tuple[Array, Array]
Relation = Literal[">=", "<=", ">", "<"]
MIRRORED: dict[Relation, Relation] = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}
SLACK = 2.0**-46
"""Relative room for rounding in a formula or a sum: 128 units in the last place, formulas need about 20."""
SMALLEST, LARGEST = 1e-80, 1e80
"""Numbers of the language are 0 or of a size between these, so that no formula leaves float64."""


class Monotonicity(NamedTuple):
    """How a value moves at fixed P and N: +1 never falls, -1 never rises, 0 does not depend."""

    tp: int
    fp: int


class Box(NamedTuple):
    """TP in ``[tp_low, tp_high]`` and FP in ``[fp_low, fp_high]``, elementwise, at fixed P and N.

    All in units of `step`.
    """

    tp_low: Array
    tp_high: Array
    fp_low: Array
    fp_high: Array
    positives: float
    negatives: float
    step: float = 1.0
    columns: Any = None
    """For each column that is added up, what is known of its sums; see `columns.PartBox`."""

    def corner(self, *, tp: int, fp: int) -> dict[str, Any]:
        """Return the confusion at the corner with high (+1) or low (-1) TP and FP, with its step."""
        hits = self.tp_high if tp > 0 else self.tp_low
        alarms = self.fp_high if fp > 0 else self.fp_low
        return {
            "tp": hits,
            "fp": alarms,
            "fn": self.positives - hits,
            "tn": self.negatives - alarms,
            "step": self.step,
        }


class LinearFractional(NamedTuple):
    """The value as ``(a0 + a1*TP + a2*FP) / (b0 + b1*TP + b2*FP)`` with exact coefficients."""

    numerator: tuple[Fraction, Fraction, Fraction]
    denominator: tuple[Fraction, Fraction, Fraction]

    @property
    def is_linear(self) -> bool:
        """Whether the denominator is the same at every cut."""
        return self.denominator[1] == 0 and self.denominator[2] == 0


class Expression(ABC):
    """A quantity of a confusion that can be maximized, minimized or constrained."""

    # NumPy scalars would otherwise broadcast over the expression: np.float64(2) * f1.
    __array_ufunc__ = None

    exact: bool = True
    """Whether `order_key` distinguishes all cuts; if not, values within `rounding_error` count as equal."""
    rational: bool = True
    """Whether the value is a fraction of integers, which `order_key` then is."""
    root: bool = False
    """Whether the value is a square root; `order_key` is then its signed square."""
    monotonicity: Monotonicity | None
    """How the value moves with TP and FP at fixed P and N; None if it does not move one way."""
    columns: tuple[Column, ...] = ()
    """The columns of the data that it adds up."""
    degree: int = 0
    """1: the value grows with the counts, as a cost does; 0: only their ratios matter."""

    @abstractmethod
    def evaluate(self, *, tp: Any, fp: Any, fn: Any, tn: Any, step: Any = 1.0, columns: Any = None) -> Any:
        """Return the value for float64 arrays of counts in units of `step`; NaN where undefined.

        `columns` has the cells of each column that is added up, see `columns.Part`.
        """

    def order_key(
        self, *, tp: Any, fp: Any, fn: Any, tn: Any, step: Fraction, columns: Any = None
    ) -> tuple[Any, Any]:
        """Return numerator and denominator of the value (of its signed square, for a root), never rounded.

        Counts are Python integers, or arrays of them, in units of `step`. Denominators are not negative;
        they are zero where the value is infinite. Only an exact expression has such a key.
        """
        msg = f"{self} is not exact"
        raise TypeError(msg)

    @abstractmethod
    def rounded(
        self, *, tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction, columns: Any = None
    ) -> float:
        """Return the value at an exact confusion as a float; rounded once where the value is exact."""

    @abstractmethod
    def rounding_error(self, values: Array, totals: tuple[float, float], **counts: Any) -> Array:
        """Return how far values of `evaluate` may lie from the true ones."""

    @abstractmethod
    def bounds(self, box: Box) -> Bounds | None:
        """Return (least, greatest) value over the box; None if nothing is known.

        Widened by more than the rounding of the formula: the true values lie inside.
        """

    @abstractmethod
    def linear_fractional(self, positives: Fraction, negatives: Fraction) -> LinearFractional | None:
        """Return the linear-fractional form at these totals; None if there is none."""

    @abstractmethod
    def magnitude(self, positives: float, negatives: float) -> float:
        """Return the size of terms of both signs: rounding errors scale with it, or else with the value.

        It is 0 for a formula without subtraction.
        """

    def fraction(self, **counts: Any) -> Fraction | None:
        """Return the exact value at an exact confusion; None if it is undefined, infinite or irrational."""
        if not self.rational:
            return None
        above, under = self.order_key(**counts, step=Fraction(1))
        return Fraction(above) / under if under else None

    def bound_key(self, bound: Fraction) -> tuple[int, int]:
        """Return a bound as a fraction that compares with `order_key`."""
        key = bound * abs(bound) if self.root else bound
        return key.numerator, key.denominator

    @abstractmethod
    def __str__(self) -> str:
        """Return the expression in the text language."""

    def __repr__(self) -> str:
        return f"<{self}>"

    def __call__(self, *, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Return the value at counts or weights, given as numbers or arrays.

        >>> from cutpoints import metrics as m
        >>> m.f1(tp=9, fp=2, fn=1, tn=8)
        0.8571428571428571
        """
        arrays = (np.asarray(x, dtype=np.float64) for x in (tp, fp, fn, tn))
        with np.errstate(all="ignore"):
            value = self.evaluate(**dict(zip(("tp", "fp", "fn", "tn"), arrays, strict=True)))
        return float(value) if np.ndim(value) == 0 else value

    def __add__(self, other: object) -> Expression:
        if isinstance(other, Expression):
            return WeightedSum.of([(Fraction(1), self), (Fraction(1), other)])
        if is_number(other):
            return WeightedSum.of([(Fraction(1), self)], exact_number(other, "objective"))
        return NotImplemented

    __radd__ = __add__

    def __mul__(self, other: object) -> Expression:
        if is_number(other):
            return WeightedSum.of([(exact_number(other, "objective"), self)])
        if isinstance(other, Expression):
            raise InvalidParameterError(
                "objective",
                expected="a sum of metrics with number weights",
                got=f"the product ({self}) * ({other})",
                hint="write a function of (tp, fp, fn, tn) and pass it as the objective.",
            )
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Expression:
        if is_number(other) and other != 0:
            return WeightedSum.of([(1 / exact_number(other, "objective"), self)])
        return NotImplemented

    def __neg__(self) -> Expression:
        return WeightedSum.of([(Fraction(-1), self)])

    def __sub__(self, other: object) -> Expression:
        if isinstance(other, Expression):
            return self + (-other)
        return self + (-exact_number(other, "objective")) if is_number(other) else NotImplemented

    def __rsub__(self, other: object) -> Expression:
        return (-self) + other

    def __ge__(self, other: object) -> Constraint:
        return Constraint.of(self, ">=", other)

    def __le__(self, other: object) -> Constraint:
        return Constraint.of(self, "<=", other)

    def __gt__(self, other: object) -> Constraint:
        return Constraint.of(self, ">", other)

    def __lt__(self, other: object) -> Constraint:
        return Constraint.of(self, "<", other)


def is_number(x: object) -> bool:
    """Whether this is a real number; a truth value is none."""
    return isinstance(x, (int, float, Fraction, np.integer, np.floating)) and not isinstance(x, bool)


def exact_number(
    x: Any, parameter: str, caller: str | None = None, must_be: str = "a finite number"
) -> Fraction:
    """Return a user's number as the decimal it was written as; refuse NaN, infinity and the absurd."""
    try:
        size = abs(float(x))
    except OverflowError:
        size = math.inf
    if x != 0 and not SMALLEST <= size <= LARGEST:
        raise InvalidParameterError(
            parameter if caller is None else f"{caller}({parameter})",
            caller=caller,
            expected=f"{must_be}, 0 or between {SMALLEST:g} and {LARGEST:g} in size",
            got=x if math.isfinite(size) else str(x)[:20],
        )
    return as_fraction(x)


def format_number(x: Fraction) -> str:
    """Write an exact number the way people do: 0.7, 5, 1/3."""
    if x.denominator == 1:
        return str(x.numerator)
    return repr(float(x)) if as_fraction(float(x)) == x else f"{x.numerator}/{x.denominator}"


def widened(low: Array, high: Array, size: Array | float) -> tuple[Array, Array]:
    """Widen bounds by the rounding of terms of this size; an undefined bound bounds nothing."""
    low = low - np.where(np.isinf(low), 0.0, SLACK * np.maximum(np.abs(low), size))
    high = high + np.where(np.isinf(high), 0.0, SLACK * np.maximum(np.abs(high), size))
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


@dataclass(frozen=True, repr=False)
class WeightedSum(Expression):
    """``constant + sum of weight * expression``, with exact weights."""

    terms: tuple[tuple[Fraction, Expression], ...]
    constant: Fraction = Fraction(0)

    @classmethod
    def of(cls, terms: list[tuple[Fraction, Expression]], constant: Fraction = Fraction(0)) -> WeightedSum:
        """Build a sum, flattening the sums inside it and leaving out weights of zero.

        One of them stays if there are no others: a sum has a value only where a term of it has one.
        """
        flat: list[tuple[Fraction, Expression]] = []
        for weight, term in terms:
            if isinstance(term, WeightedSum):
                constant += weight * term.constant
                flat += [(weight * w, inner) for w, inner in term.terms]
            else:
                flat.append((weight, term))
        for number in (constant, *(weight for weight, _ in flat)):
            exact_number(number, "objective")
        return cls(tuple((w, t) for w, t in flat if w != 0) or tuple(flat[:1]), constant)

    @property
    def only(self) -> tuple[Fraction, Expression] | None:
        """The one term and its weight, if there is no other and the weight is not zero."""
        return self.terms[0] if len(self.terms) == 1 and self.terms[0][0] else None

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        """The columns of all parts."""
        return tuple(dict.fromkeys(column for _, term in self.terms for column in term.columns))

    @property
    def degree(self) -> int:  # type: ignore[override]
        """1 if every part grows with the counts."""
        return min(term.degree for _, term in self.terms)

    @property
    def rational(self) -> bool:  # type: ignore[override]
        """Whether every part is."""
        return all(term.rational for _, term in self.terms)

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether every part is a fraction; a root by itself is exact too."""
        return self.rational or (self.only is not None and self.only[1].exact)

    def evaluate(self, *, tp: Any, fp: Any, fn: Any, tn: Any, step: Any = 1.0, columns: Any = None) -> Any:
        """Add up the parts."""
        total: Any = float(self.constant)
        for weight, term in self.terms:
            total = total + float(weight) * term.evaluate(
                tp=tp, fp=fp, fn=fn, tn=tn, step=step, columns=columns
            )
        return total

    def order_key(
        self, *, tp: Any, fp: Any, fn: Any, tn: Any, step: Fraction, columns: Any = None
    ) -> tuple[Any, Any]:
        """Bring the parts to a common denominator; a root by itself is ordered by its square."""
        if self.only is not None and self.only[1].root:
            weight, term = self.only
            above, under = term.order_key(tp=tp, fp=fp, fn=fn, tn=tn, step=step, columns=columns)
            return (above if weight > 0 else -above), under
        above, under = self.constant.numerator, self.constant.denominator
        for weight, term in self.terms:
            a, b = term.order_key(tp=tp, fp=fp, fn=fn, tn=tn, step=step, columns=columns)
            a, b = weight.numerator * a, weight.denominator * b
            above, under = above * b + a * under, under * b
        return above, under

    def rounded(
        self, *, tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction, columns: Any = None
    ) -> float:
        """Add up the exact parts, or the rounded ones where there are roots."""
        exact = self.fraction(tp=tp, fp=fp, fn=fn, tn=tn, columns=columns)
        if exact is not None:
            return as_float(exact)
        total: Any = self.constant
        for weight, term in self.terms:
            value = term.rounded(tp=tp, fp=fp, fn=fn, tn=tn, columns=columns)
            total += weight * Fraction(value) if math.isfinite(value) else float(weight) * value
        return as_float(total) if isinstance(total, Fraction) else float(total)

    def rounding_error(self, values: Array, totals: tuple[float, float], **counts: Any) -> Array:
        """Scale with what is added up at each confusion."""
        size = np.full(np.shape(counts["tp"]), abs(float(self.constant)))
        for weight, term in self.terms:
            value = term.evaluate(**counts)
            error = term.rounding_error(value, totals, **counts)
            size += abs(float(weight)) * np.maximum(np.abs(value), error / SLACK)
        return SLACK * size

    def bounds(self, box: Box) -> Bounds | None:
        """Add up the parts' bounds: valid also where the parts pull in different directions."""
        low = np.full(len(box.tp_low), float(self.constant))
        high = low.copy()
        size = np.abs(low)
        for weight, term in self.terms:
            part = term.bounds(box)
            if part is None:
                return None
            least, greatest = part if weight >= 0 else part[::-1]
            low += float(weight) * least
            high += float(weight) * greatest
            size += abs(float(weight)) * np.maximum(np.abs(least), np.abs(greatest))
        return widened(low, high, size)

    @property
    def monotonicity(self) -> Monotonicity | None:  # type: ignore[override]
        """What the parts have in common, with the signs of their weights."""
        signs: tuple[set[int], set[int]] = (set(), set())
        for weight, term in self.terms:
            moves, sign = term.monotonicity, (weight > 0) - (weight < 0)
            if moves is None:
                return None
            signs[0].add(sign * moves.tp)
            signs[1].add(sign * moves.fp)
        if {1, -1} <= signs[0] or {1, -1} <= signs[1]:
            return None
        return Monotonicity(sum(signs[0]), sum(signs[1]))

    def linear_fractional(self, positives: Fraction, negatives: Fraction) -> LinearFractional | None:
        """Return the sum of the parts if each is linear, or the one part scaled."""
        forms = [(w, t.linear_fractional(positives, negatives)) for w, t in self.terms]
        if len(forms) == 1 and (only := forms[0][1]) is not None:
            a, b = only.numerator, only.denominator
            scaled = tuple(forms[0][0] * x + self.constant * y for x, y in zip(a, b, strict=True))
            return LinearFractional(scaled, b)  # type: ignore[arg-type]
        total = [self.constant, Fraction(0), Fraction(0)]
        for weight, form in forms:
            if form is None or not form.is_linear or form.denominator[0] == 0:
                return None
            for i in range(3):
                total[i] += weight * form.numerator[i] / form.denominator[0]
        return LinearFractional(tuple(total), (Fraction(1), Fraction(0), Fraction(0)))  # type: ignore[arg-type]

    def magnitude(self, positives: float, negatives: float) -> float:
        """Add up the parts' magnitudes."""
        parts = (abs(float(w)) * t.magnitude(positives, negatives) for w, t in self.terms)
        return abs(float(self.constant)) + sum(parts)

    def __str__(self) -> str:
        text = ""
        for weight, term in self.terms:
            size = "" if abs(weight) == 1 else f"{format_number(abs(weight))}*"
            sign = ("-" if weight < 0 else "") if not text else (" - " if weight < 0 else " + ")
            text += f"{sign}{size}{term}"
        if self.constant or not text:
            sign = ("-" if self.constant < 0 else "") if not text else " - " if self.constant < 0 else " + "
            text += f"{sign}{format_number(abs(self.constant))}"
        return text


@dataclass(frozen=True, repr=False)
class Constraint:
    """``expression relation bound``, such as ``precision >= 0.95``; undefined (NaN) never meets it."""

    expression: Expression
    relation: Relation
    bound: Fraction

    @classmethod
    def of(cls, left: Expression, relation: Relation, right: object) -> Constraint:
        """Compare with a number, or with another expression (moved to the left side)."""
        if isinstance(right, Expression):
            return cls(left - right, relation, Fraction(0))
        wanted = "a comparison of a metric with a finite number"
        if not is_number(right):
            raise InvalidParameterError(
                "subject_to",
                expected=wanted,
                got=f"{left} {relation} {right!r}",
                hint=("for example ", Argument("subject_to", "precision >= 0.95"), "."),
            )
        return cls(left, relation, exact_number(right, "subject_to", must_be=wanted))

    @property
    def wants_high(self) -> bool:
        """Whether larger values of the expression help to meet it."""
        return self.relation in {">=", ">"}

    @property
    def strict(self) -> bool:
        """Whether equality breaks it."""
        return self.relation in {">", "<"}

    @property
    def plain(self) -> Constraint:
        """The same constraint, on the metric itself if there is but one: f1 >= 0.5 for 2*f1 - 1 >= 0."""
        only = self.expression.only if isinstance(self.expression, WeightedSum) else None
        if only is None:
            return self
        assert isinstance(self.expression, WeightedSum)
        weight, term = only
        relation = self.relation if weight > 0 else MIRRORED[self.relation]
        return Constraint(term, relation, (self.bound - self.expression.constant) / weight)

    def for_share(self, share: Fraction) -> Constraint:
        """Return what it means for this share of the rows: half of them may hold half of a total."""
        fixed = self.expression.constant if isinstance(self.expression, WeightedSum) else Fraction(0)
        if self.expression.degree == 0:
            return self
        return Constraint(self.expression, self.relation, fixed + (self.bound - fixed) * share)

    def holds(self, sign: Any) -> Any:
        """Return whether it is met where ``value - bound`` has this sign."""
        side = sign if self.wants_high else -sign
        return side > 0 if self.strict else side >= 0

    def __bool__(self) -> bool:
        # `0.2 <= m.fpr <= 0.5` would silently keep only its right half.
        msg = (
            f"A constraint ({self}) has no truth value.\n\n"
            "Hint: pass a list of constraints instead of `and` or a chained comparison."
        )
        raise TypeError(msg)

    @cached_property
    def _text(self) -> str:
        return f"{self.expression} {self.relation} {format_number(self.bound)}"

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<{self}>"

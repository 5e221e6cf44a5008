"""What can be said about a confusion: expressions, their algebra, and constraints on them.

An `Expression` knows three things beside its value:

- **bounds over a box**: the least and greatest value when TP and FP are each known only to lie in
  an interval. This is what lets the search drop a whole range of thresholds unseen;
- **exactness**: its value on `fractions.Fraction`, for cuts that floats cannot tell apart;
- **its linear-fractional form**, where there is one, for exact comparisons on whole arrays and for
  linear programmes.

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

from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._arithmetic import as_fraction

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[np.float64]"
Bounds: TypeAlias = tuple[Array, Array]
Mask: TypeAlias = "NDArray[np.bool_]"
Relation = Literal[">=", "<=", ">", "<"]
MIRRORED: dict[Relation, Relation] = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}
SLACK = 2.0**-46
"""Relative room for rounding in a formula: 128 units in the last place, formulas need about 20."""
CLOSE = 1e-300
"""Floats that are less may have lost digits."""
SMALLEST, LARGEST = 1e-80, 1e80
"""Numbers of the language are 0 or of a size between these, so that no formula leaves float64."""


class Trend(NamedTuple):
    """How a value moves at fixed P and N: +1 never falls, -1 never rises, 0 does not depend."""

    tp: int
    fp: int


class Box(NamedTuple):
    """TP in ``[tp_low, tp_high]`` and FP in ``[fp_low, fp_high]``, elementwise, at fixed P and N."""

    tp_low: Array
    tp_high: Array
    fp_low: Array
    fp_high: Array
    positives: float
    negatives: float
    fn_low: Array | None = None
    """P - tp_high and its like, given where they are known better than by subtracting floats."""
    fn_high: Array | None = None
    tn_low: Array | None = None
    tn_high: Array | None = None

    def corner(self, *, tp: int, fp: int) -> dict[str, Array]:
        """Return the confusion at the corner with high (+1) or low (-1) TP and FP."""
        hits, misses = (self.tp_high, self.fn_low) if tp > 0 else (self.tp_low, self.fn_high)
        alarms, spared = (self.fp_high, self.tn_low) if fp > 0 else (self.fp_low, self.tn_high)
        return {
            "tp": hits,
            "fp": alarms,
            "fn": self.positives - hits if misses is None else misses,
            "tn": self.negatives - alarms if spared is None else spared,
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
    """A quantity of a confusion that can be maximised, minimised or constrained."""

    # NumPy scalars would otherwise broadcast over the expression: np.float64(2) * f1.
    __array_ufunc__ = None

    rational: bool
    """Whether exact evaluation is a fraction; or else irrational, correct to a great many digits."""
    cancels: bool = False
    """Whether exact evaluation adds irrational terms, so that its error is not relative to the sum."""
    single_root: bool = False
    """Whether exact evaluation is the root of a fraction, which is exact too; see `Root`."""
    exact: bool = True
    """Whether exact evaluation exists at all; a user's function has only floats."""
    at_chance: Fraction | None = None
    """The value wherever decision and truth are independent (tp/P = fp/N), if it is always the same."""
    from_chance: Callable[..., Any] | None = None
    """A function of ``tp*tn - fp*fn`` and the counts: the distance from `at_chance`, without cancelling."""
    least_of: tuple[Expression, ...] = ()
    """The expressions whose smallest value it is, if it is that."""
    ordered_by: Expression | None = None
    """An expression that rises and falls with this one, is equal where it is, and is easier to compare."""
    degree: int | None = None
    """0: the value is the same for counts in any unit; 1: it is so many times as large as they are.

    Whole numbers of a unit will do for either. None: neither is known.
    """

    @property
    def scale_free(self) -> bool:
        """Whether the value is the same for counts in any unit."""
        return self.degree == 0

    @property
    def comparable(self) -> bool:
        """Whether exact values can be compared exactly."""
        return self.rational or self.single_root

    @abstractmethod
    def evaluate(self, *, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Return the value for float64 arrays or for exact scalars."""

    def rounded(self, *, tp: int, fp: int, fn: int, tn: int) -> float:
        """Return the value at whole counts, rounded once to a float."""
        return float(self.evaluate(tp=tp, fp=fp, fn=fn, tn=tn))

    @abstractmethod
    def bounds(self, box: Box) -> tuple[Array, Array] | None:
        """Return (least, greatest) value over the box; None if nothing is known.

        Widened by more than the rounding of the formula: the true values lie inside.
        """

    @property
    @abstractmethod
    def trend(self) -> Trend | None:
        """How the value moves with TP and FP; None if it does not move one way."""

    @abstractmethod
    def linear_fractional(self, positives: Fraction, negatives: Fraction) -> LinearFractional | None:
        """Return the linear-fractional form at these totals; None if there is none."""

    def coefficients(self, positives: Any, negatives: Any) -> Any:
        """Return the coefficients of that form as they come: whole numbers, if they are, of whole totals."""
        return self.linear_fractional(positives, negatives)

    def enclosed(self, slack: float, *, tp: Array, fp: Array, fn: Array, tn: Array) -> Bounds | None:
        """Return bounds on a number that rises with the value; None if there is no better one than that.

        They tell values apart that are too close to 1, or to chance, for floats. Products of the counts may
        be off by `slack`, a part of themselves: the true number lies inside all the same.
        """
        return None

    def perfect(self, *, tp: Array, fp: Array, fn: Array, tn: Array) -> Mask | None:
        """Return where a defined value is 1 for sure, and no value is more; None if that is unknown."""
        return None

    @abstractmethod
    def magnitude(self, positives: float, negatives: float) -> float:
        """Return the size of terms of both signs: rounding errors scale with it, or else with the value.

        It is 0 for a formula without subtraction.
        """

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
        if _is_number(other):
            return WeightedSum.of([(Fraction(1), self)], exact_number(other, "objective"))
        return NotImplemented

    __radd__ = __add__

    def __mul__(self, other: object) -> Expression:
        if _is_number(other):
            return WeightedSum.of([(exact_number(other, "objective"), self)])
        if isinstance(other, Expression):
            raise InvalidParameterError.of(
                parameter="objective",
                must_be="a sum of metrics with number weights",
                got=f"the product ({self}) * ({other})",
                hint="write a function of (tp, fp, fn, tn) and pass it as the objective.",
            )
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Expression:
        if _is_number(other) and other != 0:
            return WeightedSum.of([(1 / exact_number(other, "objective"), self)])
        return NotImplemented

    def __neg__(self) -> Expression:
        return WeightedSum.of([(Fraction(-1), self)])

    def __sub__(self, other: object) -> Expression:
        if isinstance(other, Expression):
            return self + (-other)
        return self + (-exact_number(other, "objective")) if _is_number(other) else NotImplemented

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


def _is_number(x: object) -> bool:
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
        raise InvalidParameterError.of(
            parameter=parameter,
            caller=caller,
            must_be=f"{must_be}, 0 or between {SMALLEST:g} and {LARGEST:g} in size",
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


@dataclass(frozen=True, eq=False, repr=False)
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
        """The one term, if there is no other and it is exact: it orders cuts as the sum, or in reverse."""
        return self.terms[0] if len(self.terms) == 1 and self.exact else None

    @property
    def rational(self) -> bool:  # type: ignore[override]
        """Whether every part is."""
        return all(term.rational for _, term in self.terms)

    @property
    def cancels(self) -> bool:  # type: ignore[override]
        """Whether there is anything to cancel."""
        return not self.rational

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether every part is."""
        return all(term.exact for _, term in self.terms)

    def evaluate(self, *, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Add up the parts."""
        exact = not isinstance(tp, np.ndarray)
        total: Any = self.constant if exact else float(self.constant)
        for weight, term in self.terms:
            value = term.evaluate(tp=tp, fp=fp, fn=fn, tn=tn)
            total = total + (weight if exact else float(weight)) * value
        return total

    def bounds(self, box: Box) -> tuple[Array, Array] | None:
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

    def spread(self, positives: float, negatives: float, **counts: Array) -> Array:
        """Return the size of what is added up at each confusion, which rounding is relative to."""
        size = np.full(len(counts["tp"]), abs(float(self.constant)))
        for weight, term in self.terms:
            value = np.abs(term.evaluate(**counts))
            size += abs(float(weight)) * np.maximum(value, term.magnitude(positives, negatives))
        return size

    @property
    def trend(self) -> Trend | None:
        """The common trend of the parts with the signs of their weights, if they agree."""
        signs: tuple[set[int], set[int]] = (set(), set())
        for weight, term in self.terms:
            trend, sign = term.trend, (weight > 0) - (weight < 0)
            if trend is None:
                return None
            signs[0].add(sign * trend.tp)
            signs[1].add(sign * trend.fp)
        if {1, -1} <= signs[0] or {1, -1} <= signs[1]:
            return None
        return Trend(sum(signs[0]), sum(signs[1]))

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


@dataclass(frozen=True, eq=False, repr=False)
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
        if not _is_number(right):
            raise InvalidParameterError.of(
                parameter="subject_to",
                must_be=wanted,
                got=f"{left} {relation} {right!r}",
                hint="for example subject_to='precision >= 0.95'.",
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
        if only is None or only[0] == 0:
            return self
        assert isinstance(self.expression, WeightedSum)
        weight, term = only
        relation = self.relation if weight > 0 else MIRRORED[self.relation]
        return Constraint(term, relation, (self.bound - self.expression.constant) / weight)

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

"""One entry of the catalogue, and the wrapper for a user's own function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._arithmetic import as_float, rounded_root
from cutpoints.metrics.expression import (
    SLACK,
    Array,
    Bounds,
    Box,
    Expression,
    LinearFractional,
    Monotonicity,
    format_number,
    widened,
)

Direction = Literal["higher", "lower", "neither"]
Formula = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class MetricDoc:
    """What people read about a metric; the same text feeds the docs page and `metrics show`."""

    title: str
    summary: str
    formula: str
    range: str
    undefined: str
    monotone: str
    reference: str
    aliases: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Metric(Expression):
    """A named quantity of a confusion: ``numerator / denominator``, its square root, or any `formula`.

    Numerator and denominator are polynomials of the counts with integer coefficients, so they are exact
    on Python integers. A formula is only evaluated on floats.
    """

    name: str
    direction: Direction
    doc: MetricDoc
    monotonicity: Monotonicity | None
    numerator: Formula | None = None
    denominator: Formula | None = None
    formula: Formula | None = None
    root: bool = False
    linear: bool = True
    """Whether numerator and denominator are linear in TP and FP at fixed P and N."""
    degree: Literal[0, 1] = 0
    box_bounds: Callable[[Metric, Box], Bounds] | None = None
    magnitude_: Callable[[float, float], float] = lambda positives, negatives: 0.0
    parameters: tuple[tuple[str, Fraction], ...] = ()

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether the value is a fraction of integers, or the root of one."""
        return self.formula is None

    @property
    def rational(self) -> bool:  # type: ignore[override]
        """Whether the value itself is a fraction of integers."""
        return self.exact and not self.root

    def evaluate(self, *, tp: Any, fp: Any, fn: Any, tn: Any, step: Any = 1.0, columns: Any = None) -> Any:
        """Return the value; NaN where it is undefined."""
        if self.formula is not None:
            return self.formula(tp, fp, fn, tn)
        above, under = self._sides(tp, fp, fn, tn)
        value = np.divide(above, under)
        if self.root:
            value = np.copysign(np.sqrt(np.abs(value)), value)
        return value * step if self.degree else value

    def _sides(self, *counts: Any) -> tuple[Any, Any]:
        assert self.numerator is not None
        assert self.denominator is not None
        return self.numerator(*counts), self.denominator(*counts)

    def order_key(
        self, *, tp: Any, fp: Any, fn: Any, tn: Any, step: Fraction, columns: Any = None
    ) -> tuple[Any, Any]:
        """Return numerator and denominator of the value, or of its signed square."""
        above, under = self._sides(tp, fp, fn, tn)
        if self.degree:
            above, under = above * step.numerator, under * step.denominator
        return above, under

    def rounded(
        self, *, tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction, columns: Any = None
    ) -> float:
        """Return the value at an exact confusion, rounded once; floats only for a formula."""
        if self.formula is not None:
            counts = [tp, fp, fn, tn]
            if self.degree == 0:
                # A power of two changes no digit of a share, and keeps products within the range of floats.
                scale = Fraction(2) ** -math.frexp(as_float(tp + fp + fn + tn))[1]
                counts = [scale * count for count in counts]
            with np.errstate(all="ignore"):
                return float(self.formula(*(np.float64(as_float(count)) for count in counts)))
        above, under = self._sides(tp, fp, fn, tn)
        if under == 0:
            return math.nan if above == 0 else math.inf if above > 0 else -math.inf
        value = Fraction(above) / under
        if not self.root:
            return as_float(value)
        return rounded_root(value) if value >= 0 else -rounded_root(-value)

    def rounding_error(self, values: Array, totals: tuple[float, float], **counts: Any) -> Array:
        """Scale with the value, or with what is subtracted in it."""
        return SLACK * np.maximum(np.abs(values), self.magnitude(*totals))

    def bounds(self, box: Box) -> Bounds | None:
        """Evaluate at the two corners that monotonicity names; undefined corners bound nothing."""
        if self.box_bounds is not None:
            low, high = self.box_bounds(self, box)
        elif self.monotonicity is not None:
            tp, fp = self.monotonicity
            low = self.evaluate(**box.corner(tp=-tp, fp=-fp))
            high = self.evaluate(**box.corner(tp=tp, fp=fp))
        else:
            return None
        return widened(low, high, self.magnitude(box.positives * box.step, box.negatives * box.step))

    def linear_fractional(self, positives: Fraction, negatives: Fraction) -> LinearFractional | None:
        """Read the coefficients off the formula at three confusions, if the metric is of this form."""
        if self.formula is not None or self.root or not self.linear:
            return None
        assert self.numerator is not None
        assert self.denominator is not None
        sides = []
        for side in (self.numerator, self.denominator):
            constant = Fraction(side(0, 0, positives, negatives))
            hit = side(1, 0, positives - 1, negatives) - constant
            alarm = side(0, 1, positives, negatives - 1) - constant
            sides.append((constant, hit, alarm))
        return LinearFractional(*sides)

    def magnitude(self, positives: float, negatives: float) -> float:
        """Return the size of what is taken from what; 0 where nothing is."""
        return self.magnitude_(positives, negatives)

    def __eq__(self, other: object) -> bool:
        """Compare by name and parameters, which is what formulas are made of."""
        if not isinstance(other, Metric):
            return NotImplemented
        return (self.name, self.parameters) == (other.name, other.parameters)

    def __hash__(self) -> int:
        return hash((self.name, self.parameters))

    def __reduce__(self) -> tuple[Any, ...]:
        # Formulas are lambdas, which cannot be pickled: look the entry up by name instead.
        from cutpoints.metrics.registry import get

        return partial(get, self.name, **dict(self.parameters)), ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(f'{key}={format_number(value)}' for key, value in self.parameters)})"


@dataclass(frozen=True, repr=False)
class UserFunction(Expression):
    """A user's own function of ``(tp, fp, fn, tn)``; see `custom`."""

    function: Callable[..., Any]
    name: str
    monotone: bool
    by_keyword: bool
    exact = rational = False

    def evaluate(self, *, tp: Any, fp: Any, fn: Any, tn: Any, step: Any = 1.0, columns: Any = None) -> Any:
        """Call the function on float64 arrays and check what comes back."""
        counts = {"tp": tp * step, "fp": fp * step, "fn": fn * step, "tn": tn * step}
        try:
            value = self.function(**counts) if self.by_keyword else self.function(*counts.values())
            if np.iscomplexobj(value):
                raise self._misfit("complex numbers")
            value = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:  # of scalars, of other arguments, of text
            if isinstance(error, InvalidParameterError):
                raise
            raise self._misfit(f"{type(error).__name__}: {error}") from error
        if value.shape != np.shape(tp):
            raise self._misfit(f"shape {value.shape} for inputs of shape {np.shape(tp)}")
        return value

    def _misfit(self, got: str) -> InvalidParameterError:
        return InvalidParameterError(
            self.name,
            expected="a function of arrays (tp, fp, fn, tn) that returns an array of their shape",
            got=got,
            hint="write it with NumPy operations; numpy.vectorize wraps a function of scalars.",
        )

    def rounded(
        self, *, tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction, columns: Any = None
    ) -> float:
        """Call the function on one confusion."""
        return float(self(tp=float(tp), fp=float(fp), fn=float(fn), tn=float(tn)))

    def rounding_error(self, values: Array, totals: tuple[float, float], **counts: Any) -> Array:
        """Return zeros: the floats of a function are what it says."""
        return np.zeros(np.shape(values))

    @property
    def monotonicity(self) -> Monotonicity | None:  # type: ignore[override]
        """The promise: never falls with TP, never rises with FP."""
        return Monotonicity(1, -1) if self.monotone else None

    def bounds(self, box: Box) -> Bounds | None:
        """Use the promise, if one was made."""
        if not self.monotone:
            return None
        low, high = (
            self.evaluate(**box.corner(tp=-1, fp=1)),
            self.evaluate(**box.corner(tp=1, fp=-1)),
        )
        return widened(low, high, 0.0)

    def linear_fractional(self, positives: Fraction, negatives: Fraction) -> None:
        """Nothing is known of the form."""
        return

    def magnitude(self, positives: float, negatives: float) -> float:
        """Return 0: rounding errors are taken relative to the value."""
        return 0.0

    def check_promise(self, positives: float, negatives: float, *, grid: int = 24) -> None:
        """Raise if the promise fails on a grid of confusions with these totals."""
        tp = np.repeat(np.linspace(0.0, positives, grid), grid).reshape(grid, grid)
        fp = np.tile(np.linspace(0.0, negatives, grid), grid).reshape(grid, grid)
        counts = {"tp": tp, "fp": fp, "fn": positives - tp, "tn": negatives - fp}
        with np.errstate(all="ignore"):
            value = self.evaluate(**{k: v.ravel() for k, v in counts.items()}).reshape(grid, grid)
            slack = 1e-9 * np.abs(value)
            falls = value[1:] < value[:-1] - slack[:-1]
            rises = value[:, 1:] > value[:, :-1] + slack[:, :-1]
        if falls.any() or rises.any():
            what = "falls as tp grows" if falls.any() else "rises as fp grows"
            i, j = np.argwhere(falls if falls.any() else rises)[0]
            raise InvalidParameterError(
                "monotone",
                caller="custom",
                expected="True only for a function that never falls with tp and never rises with fp",
                got=f"{self.name}, which {what} near tp={tp[i, j]:g}, fp={fp[i, j]:g}",
                hint="leave monotone=True out: the search is then a sweep over all cuts, still exact.",
            )

    def __str__(self) -> str:
        return self.name


def custom(function: Callable[..., Any], *, name: str | None = None, monotone: bool = False) -> Expression:
    """Make a metric of a function of ``(tp, fp, fn, tn)``.

    The function gets four float64 arrays and returns one. It is called by keyword if its
    parameters have these names, in this order otherwise.

    Parameters
    ----------
    function : callable
        For example ``lambda tp, fp, fn, tn: tp - 3 * fp``.
    name : str, default=None
        The name that results print; the function's own name by default.
    monotone : bool, default=False
        Promise that the value never falls as TP grows and never rises as FP grows, at fixed P and
        N. The search can then skip most of the data. The promise is checked on a grid of
        confusions; a false promise that slips through can make the result wrong.

    Examples
    --------
    >>> import cutpoints as cp
    >>> gain = cp.metrics.custom(lambda tp, fp, fn, tn: tp - 3 * fp, name="gain", monotone=True)
    >>> cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize=gain).threshold
    0.8
    """
    if not callable(function):
        raise InvalidParameterError(
            "function",
            caller="custom",
            expected="a function of (tp, fp, fn, tn)",
            got=function,
        )
    if name is not None and not isinstance(name, str):
        raise InvalidParameterError("name", caller="custom", expected="text, or None", got=name)
    if not isinstance(monotone, bool):
        raise InvalidParameterError("monotone", caller="custom", expected="True or False", got=monotone)
    import inspect

    try:
        names = set(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some built-in callables have no signature
        names = set()
    by_keyword = {"tp", "fp", "fn", "tn"} <= names
    label: str = name or getattr(function, "__name__", "") or type(function).__name__
    return UserFunction(function, label, monotone, by_keyword)

"""One entry of the catalogue, and the wrapper for a user's own function."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._arithmetic import ratio
from cutpoints.metrics._root import Root, rounded_root
from cutpoints.metrics.expression import (
    CLOSE,
    Array,
    Bounds,
    Box,
    Expression,
    LinearFractional,
    Mask,
    Trend,
    widened,
)

Direction = Literal["higher", "lower", "neither"]
Formula = Callable[..., Any]

_CONFUSIONS = (3, 5, 7, 11), (13, 2, 4, 9)
"""Two that have nothing in common."""
_EQUAL = Fraction(1, 10**90)
"""Irrational values that are no farther apart are the same."""


@dataclass(frozen=True, kw_only=True)
class About:
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
    """A named quantity of a confusion.

    Either `numerator` and `denominator` (both linear in the counts at fixed P and N: the metric is
    linear-fractional), or any `formula`.
    """

    name: str
    direction: Direction
    about: About
    trend_: Trend | None
    numerator: Formula | None = None
    denominator: Formula | None = None
    formula: Formula | None = None
    rational: bool = True
    single_root: bool = False
    square: Formula | None = None
    """Of a root: a whole number of its sign, and two whose quotient is its square."""
    cancels: bool = False
    at_chance: Fraction | None = None
    from_chance: Formula | None = None
    least_of: tuple[Expression, ...] = ()
    ordered_by: Expression | None = None
    box_bounds: Callable[[Metric, Box], tuple[Array, Array]] | None = None
    magnitude_: Callable[[float, float], float] = lambda positives, negatives: 0.0
    parameters: tuple[tuple[str, Fraction], ...] = ()

    def evaluate(self, *, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Return the value; NaN where it is undefined."""
        if self.formula is not None:
            value = self.formula(tp, fp, fn, tn)
            # A root over a sum of roots is none: the sum has so many digits only.
            return value.fraction if isinstance(value, Root) and not self.single_root else value
        assert self.numerator is not None
        assert self.denominator is not None
        return ratio(self.numerator(tp, fp, fn, tn), self.denominator(tp, fp, fn, tn))

    def rounded(self, *, tp: int, fp: int, fn: int, tn: int) -> float:
        """Return the value at whole counts, rounded once to a float."""
        if self.numerator is not None and self.denominator is not None:
            above, under = self.numerator(tp, fp, fn, tn), self.denominator(tp, fp, fn, tn)
            if type(above) is type(under) is int and under:
                return above / under  # whole numbers are divided with one rounding
        if self.square is not None:
            sign, top, bottom = self.square(tp, fp, fn, tn)
            if bottom:
                root = rounded_root(top, bottom)
                return -root if sign < 0 else root
        return super().rounded(tp=tp, fp=fp, fn=fn, tn=tn)

    @cached_property
    def degree(self) -> int | None:  # type: ignore[override]
        """What becomes of the exact value where counts are all so many times as large, see `Expression`."""
        times = (1, 2, 3)
        values = [
            [self.evaluate(tp=k * tp, fp=k * fp, fn=k * fn, tn=k * tn) for k in times]
            for tp, fp, fn, tn in _CONFUSIONS
        ]
        if not self.comparable:
            return 0 if all(max(three) - min(three) < _EQUAL for three in values) else None
        if all(one == two == three for one, two, three in values):
            return 0
        grows = self.rational and all(
            k * one[0] == value for one in values for k, value in zip(times, one, strict=True)
        )
        return 1 if grows else None

    @property
    def trend(self) -> Trend | None:
        """How the value moves with TP and FP at fixed P and N."""
        return self.trend_

    def bounds(self, box: Box) -> tuple[Array, Array] | None:
        """Evaluate at the two corners that the trend names; undefined corners bound nothing."""
        if self.box_bounds is not None:
            low, high = self.box_bounds(self, box)
        elif self.trend_ is not None:
            up = {"tp": self.trend_.tp, "fp": self.trend_.fp}
            down = {"tp": -self.trend_.tp, "fp": -self.trend_.fp}
            low, high = self.evaluate(**box.corner(**down)), self.evaluate(**box.corner(**up))
        else:
            return None
        return widened(low, high, self.magnitude(box.positives, box.negatives))

    def linear_fractional(self, positives: Fraction, negatives: Fraction) -> LinearFractional | None:
        """Return the linear-fractional form, if the metric is given as one."""
        sides = self.coefficients(positives, negatives)
        if sides is None:
            return None
        (a, b, c), (d, e, f) = (map(Fraction, side) for side in sides)
        return LinearFractional((a, b, c), (d, e, f))

    def coefficients(self, positives: Any, negatives: Any) -> Any:
        """Read the coefficients off the formula at three confusions."""
        if self.numerator is None or self.denominator is None:
            return None
        sides = []
        for side in (self.numerator, self.denominator):
            constant = side(0, 0, positives, negatives)
            hit, alarm = side(1, 0, positives - 1, negatives), side(0, 1, positives, negatives - 1)
            sides.append((constant, hit - constant, alarm - constant))
        return sides

    def enclosed(self, slack: float, *, tp: Array, fp: Array, fn: Array, tn: Array) -> Bounds | None:
        """Use the distance from chance, or the odds: neither is near 1 where the value is."""
        counts = tp, fp, fn, tn
        if self.from_chance is not None:
            right, wrong = tp * tn, fp * fn
            away, room = right - wrong, slack * (right + wrong)
            ends = [self.from_chance(end, *counts) for end in (away - room, away + room)]
            low, high = np.minimum(*ends), np.maximum(*ends)
            # Both ends may be better than what is between them, which is at chance.
            low = np.where(np.abs(away) <= room, np.minimum(low, 0.0), low)
        elif self._complement is not None:
            assert self.numerator is not None
            low = high = self.numerator(*counts) / self._rest(*counts)
        else:
            return None
        off = 4 * slack
        return low * (1 - np.copysign(off, low)) - CLOSE, high * (1 + np.copysign(off, high)) + CLOSE

    def perfect(self, *, tp: Array, fp: Array, fn: Array, tn: Array) -> Mask | None:
        """Look for what only the denominator has: the value is 1 where that is nothing."""
        return None if self._complement is None else self._rest(tp, fp, fn, tn) == 0

    def _rest(self, *counts: Array) -> Array:
        """Return by how much the denominator is more than the numerator."""
        assert self._complement is not None
        parts = [share * count for share, count in zip(self._complement, counts, strict=True) if share]
        return sum(parts[1:], parts[0])

    @cached_property
    def _complement(self) -> tuple[float, ...] | None:
        """How often each count is in the denominator only, where both sides add counts up; None elsewhere."""
        if self.numerator is None or self.denominator is None:
            return None
        sides = self.numerator, self.denominator
        parts = [[side(*(int(i == j) for j in range(4))) for i in range(4)] for side in sides]
        for side, shares in zip(sides, parts, strict=True):
            for counts in _CONFUSIONS:
                if side(*counts) != sum(map(operator.mul, shares, counts)):
                    return None
        rest = [under - above for above, under in zip(*parts, strict=True)]
        return tuple(map(float, rest)) if min(*rest, *parts[0]) >= 0 and any(rest) else None

    def magnitude(self, positives: float, negatives: float) -> float:
        """Return the size of what is taken from what; 0 where nothing is."""
        return self.magnitude_(positives, negatives)

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        from cutpoints.metrics.expression import format_number

        return f"{self.name}({', '.join(f'{key}={format_number(value)}' for key, value in self.parameters)})"


@dataclass(frozen=True, eq=False, repr=False)
class UserFunction(Expression):
    """A user's own function of ``(tp, fp, fn, tn)``; see `custom`."""

    function: Callable[..., Any]
    name: str
    monotone: bool
    by_keyword: bool
    rational = True
    exact = False

    def evaluate(self, *, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Call the function on float64 arrays and check what comes back."""
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
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
        return InvalidParameterError.of(
            parameter=self.name,
            must_be="a function of arrays (tp, fp, fn, tn) that returns an array of their shape",
            got=got,
            hint="write it with NumPy operations; numpy.vectorize wraps a function of scalars.",
        )

    @property
    def trend(self) -> Trend | None:
        """The promise: never falls with TP, never rises with FP."""
        return Trend(1, -1) if self.monotone else None

    def bounds(self, box: Box) -> tuple[Array, Array] | None:
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
            raise InvalidParameterError.of(
                parameter="monotone",
                caller="custom",
                must_be="True only for a function that never falls with tp and never rises with fp",
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
        raise InvalidParameterError.of(
            parameter="function",
            caller="custom",
            must_be="a function of (tp, fp, fn, tn)",
            got=function,
        )
    if name is not None and not isinstance(name, str):
        raise InvalidParameterError.of(parameter="name", caller="custom", must_be="text, or None", got=name)
    if not isinstance(monotone, bool):
        raise InvalidParameterError.of(
            parameter="monotone", caller="custom", must_be="True or False", got=monotone
        )
    import inspect

    try:
        names = set(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some built-in callables have no signature
        names = set()
    by_keyword = {"tp", "fp", "fn", "tn"} <= names
    label: str = name or getattr(function, "__name__", "") or type(function).__name__
    return UserFunction(function, label, monotone, by_keyword)

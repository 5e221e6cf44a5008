"""A goal as integers: a quotient of two linear functions of the sums, and linear constraints on them.

With several thresholds only the totals matter: X, the sum of all TP, and Y, the sum of all FP, both in
units of the grid. An objective is ``above / under``, a constraint ``constant + tp*X + fp*Y >= 0``, and all
coefficients are integers: whether a constraint holds, and which of two values is larger, is never rounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from cutpoints._search.run import undefined
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Summary
    from cutpoints.metrics.expression import Constraint, Expression


class Linear(NamedTuple):
    """``constant + tp*X + fp*Y`` with integers."""

    constant: int
    tp: int
    fp: int

    def at(self, tp: int, fp: int) -> int:
        """Return the value at these sums."""
        return self.constant + self.tp * tp + self.fp * fp

    @property
    def fixed(self) -> bool:
        """Whether the value is the same everywhere."""
        return self.tp == 0 and self.fp == 0

    def scaled(self, factor: int) -> Linear:
        """Return a multiple."""
        return Linear(*(factor * one for one in self))

    def plus(self, other: Linear) -> Linear:
        """Return the sum."""
        return Linear(*(a + b for a, b in zip(self, other, strict=True)))

    def reduced(self) -> Linear:
        """Return the same constraint ``>= 0`` on integers, with the smallest coefficients."""
        common = math.gcd(self.tp, self.fp)
        if common < 2:
            return self
        return Linear(self.constant // common, self.tp // common, self.fp // common)


class Bound(NamedTuple):
    """A constraint: `line` must not be negative, nor any of `defined`, or else the metric has no value."""

    name: str
    line: Linear
    defined: tuple[Linear, ...] = ()

    def holds(self, tp: int, fp: int) -> bool:
        """Whether it is met at these sums."""
        return all(one.at(tp, fp) >= 0 for one in (self.line, *self.defined))


@dataclass(frozen=True)
class LinearGoal:
    """Maximize ``above / under`` where all constraints hold.

    `under` is positive wherever the objective is defined, which is where `defined` are not negative. A
    metric that is minimized has the sign of `above` turned.
    """

    above: Linear
    under: Linear
    defined: tuple[Linear, ...]
    constraints: tuple[Bound, ...]

    def value(self, tp: int, fp: int) -> Fraction:
        """Return the value at these sums, to be maximized."""
        return Fraction(self.above.at(tp, fp), self.under.at(tp, fp))

    def feasible(self, tp: int, fp: int) -> bool:
        """Whether all constraints hold and the objective has a value."""
        return all(one.at(tp, fp) >= 0 for one in self.defined) and all(
            one.holds(tp, fp) for one in self.constraints
        )


def linear_goal(goal: Goal, summary: Summary, *, caller: str, scale: Fraction = Fraction(1)) -> LinearGoal:
    """Return a goal over the totals of this data; raise if a metric of it is not linear-fractional.

    Raise as well if the objective is undefined whatever is called positive. All counts are multiplied by
    `scale`: so a part of the rows can be asked for what is wanted of all.
    """
    above, under, defined = _sides(goal.expression, summary, goal.direction, caller, scale)
    if under == Linear(0, 0, 0):
        raise undefined(summary, goal)
    signed = above.scaled(goal.sign)
    return LinearGoal(
        signed,
        under,
        defined,
        tuple(bound_of(one, summary, caller=caller, scale=scale) for one in goal.constraints),
    )


def bound_of(
    constraint: Constraint, summary: Summary, *, caller: str, scale: Fraction = Fraction(1)
) -> Bound:
    """Return a constraint over the totals of this data."""
    plain = constraint.plain
    above, under, defined = _sides(plain.expression, summary, "subject_to", caller, scale)
    bound = plain.bound
    line = above.scaled(bound.denominator).plus(under.scaled(-bound.numerator))
    if not plain.wants_high:
        line = line.scaled(-1)
    if plain.strict:
        line = line.plus(Linear(-1, 0, 0))
    if under == Linear(0, 0, 0):
        line = Linear(-1, 0, 0)  # never defined, so never met
    return Bound(str(constraint), line.reduced(), defined)


def _sides(
    expression: Expression, summary: Summary, parameter: str, caller: str, scale: Fraction
) -> tuple[Linear, Linear, tuple[Linear, ...]]:
    """Return numerator and denominator in units of the grid, and what is positive where both have a value."""
    form = expression.linear_fractional(*(scale * total for total in summary.totals))
    if form is None:
        raise _not_linear(expression, parameter, caller)
    step = summary.grid.step * scale
    sides = [(a, b * step, c * step) for a, b, c in form]
    integer = math.lcm(*(Fraction(one).denominator for side in sides for one in side))
    whole = [[int(one * integer) for one in side] for side in sides]
    common = math.gcd(*whole[0], *whole[1]) or 1
    above, under = (Linear(*(one // common for one in side)) for side in whole)
    corners = list(product((0, summary.positives), (0, summary.negatives)))
    zero = [corner for corner in corners if under.at(*corner) == 0]
    if under.fixed or not zero:
        return above, under, ()
    # Linear functions that vanish at the corners of a side vanish on all of it.
    if all(above.at(*corner) == 0 for corner in zero):
        return above, under, (under.plus(Linear(-1, 0, 0)),)
    if parameter == "subject_to" and all(above.at(*corner) >= 0 for corner in corners):
        return above, under, (above.plus(under).plus(Linear(-1, 0, 0)),)  # infinite, but not 0/0
    raise _not_linear(expression, parameter, caller)


def _not_linear(expression: Expression, parameter: str, caller: str) -> InvalidParameterError:
    return InvalidParameterError(
        parameter,
        caller=caller,
        expected="a metric that is a quotient of linear functions of tp and fp, such as recall, precision, "
        "f1, accuracy or a cost: only then can several thresholds be proven best together",
        got=str(expression),
        hint="use such a metric, or find_by(), which takes each segment by itself.",
    )


def lines(bounds: Iterable[Bound]) -> list[Linear]:
    """Return the lines of constraints, each once."""
    return list(dict.fromkeys(bound.line for bound in bounds))

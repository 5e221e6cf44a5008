"""The goal as a linear program sees it: exact linear forms in TP and FP, and rows made of them.

With P and N fixed, every metric that is linear, or a ratio of two linear forms, can be optimized by
linear programs; and a bound on such a metric is a linear row once the denominator is cleared:
``precision >= c`` is ``(1 - c) TP - c FP >= 0``, together with "somebody is called positive".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._search.run import undefined
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._kernel.cuts import Cuts
    from cutpoints._kernel.tables import Summary
    from cutpoints.metrics.expression import Constraint, Expression, LinearFractional

RESOLVED = 10**9
"""A whole-numbered row whose terms add up to no more than this is told apart by any solver: one
unit is then a thousand times its tolerance."""
SCALED, REFUSED = 1e6, 1e15
"""Rows of smaller values than 1, or of larger ones than HiGHS takes, are scaled to this size."""


@dataclass(frozen=True)
class Form:
    """``constant + tp * TP + fp * FP``, exactly."""

    constant: Fraction
    tp: Fraction
    fp: Fraction

    def at(self, counts: Mapping[str, Fraction]) -> Fraction:
        """Return the value at a confusion."""
        return self.constant + self.tp * counts["tp"] + self.fp * counts["fp"]

    def times(self, factor: Fraction | int) -> Form:
        """Return the multiple."""
        return Form(self.constant * factor, self.tp * factor, self.fp * factor)

    def plus(self, other: Form) -> Form:
        """Return the sum."""
        return Form(self.constant + other.constant, self.tp + other.tp, self.fp + other.fp)

    def whole(self, grain: Fraction) -> Form:
        """Return the least multiple that is an integer at all sums of this grid."""
        return self.times(whole_multiple(self.constant, self.tp * grain, self.fp * grain))


def whole_multiple(*parts: Fraction) -> Fraction:
    """Return what makes all parts integers without a common divisor; 1 for zeros."""
    if not any(parts):
        return Fraction(1)
    common = math.lcm(*(part.denominator for part in parts))
    return Fraction(common, math.gcd(*(int(part * common) for part in parts)))


@dataclass(frozen=True)
class Target:
    """What is maximized: ``top / bottom``; to minimize an objective, its negative is maximized."""

    top: Form
    bottom: Form
    least_bottom: float
    """The smallest positive value of the denominator at any cut."""

    @property
    def is_linear(self) -> bool:
        """Whether one program is enough; a ratio takes a few."""
        return self.bottom.tp == 0 and self.bottom.fp == 0

    def step(self, value: Fraction) -> Form:
        """Return ``top - value * bottom``: positive at a cut iff the cut is better than the value."""
        return self.top.plus(self.bottom.times(-value))


@dataclass(frozen=True)
class Side:
    """A row ``tp * TP + fp * FP >= rhs``; `meets` marks the cuts that meet it, exactly."""

    name: str
    tp: float
    fp: float
    rhs: float
    meets: NDArray[np.bool_]
    defines: bool = False
    """Whether the row only keeps out cuts where a metric is undefined."""


def target(goal: Goal, cuts: Cuts) -> tuple[Target, list[Side]]:
    """Return the objective as a target, with the row that keeps it defined where one is needed."""
    values = cuts.values(goal.expression)
    if np.isnan(values).all():
        raise undefined(cuts.summary, goal)
    form = _linear_fractional(goal.expression, cuts.summary, "objective", str(goal.expression))
    top, bottom = Form(*form.numerator).times(goal.sign), Form(*form.denominator)
    if form.is_linear:
        one = Form(Fraction(1), Fraction(0), Fraction(0))
        return Target(top.times(1 / bottom.constant), one, 1.0), []
    if np.isinf(values).any():
        raise InvalidParameterError(
            "objective",
            caller="ilp",
            expected="finite at every cut, since a program has no infinite numbers",
            got=f"{goal.expression}, which is infinite at {int(np.isinf(values).sum())} cuts",
            hint="leave out the method, or use the sweep: find takes any objective.",
        )
    defined = ~np.isnan(values)
    floats = cuts.floats
    denominators = float(bottom.constant) + float(bottom.tp) * floats["tp"] + float(bottom.fp) * floats["fp"]
    least = float(denominators[defined].min())
    sides = [] if defined.all() else [_row("defined", bottom, cuts, defined, strict=True, defines=True)]
    return Target(top, bottom, least), sides


def constraint_rows(constraint: Constraint, number: int, cuts: Cuts) -> list[Side]:
    """Return a constraint as rows: itself with the denominator cleared, and where it is defined."""
    expression, bound = constraint.expression, constraint.bound
    values, name = cuts.values(expression), f"constraint{number}"
    undefined = np.isnan(values)
    if undefined.all():
        return [Side(name, 0.0, 0.0, 1.0, ~undefined)]  # recall without positives: never met
    form = _linear_fractional(expression, cuts.summary, "subject_to", str(constraint))
    direction = 1 if constraint.wants_high else -1
    top, bottom = Form(*form.numerator).times(direction), Form(*form.denominator)
    meets = cuts.feasible((constraint,))
    cleared = top.plus(bottom.times(-direction * bound))
    # Cuts where it is undefined have a row of their own; this one need not tell them apart.
    rows = [_row(name, cleared, cuts, meets, strict=constraint.strict, among=~undefined)]
    if undefined.any():
        # Where the metric is infinite the denominator is zero too, yet the constraint may be met.
        infinite = bool(np.isinf(values).any())
        defined = top.plus(bottom.times(abs(bound) + 1)) if infinite else bottom
        rows.append(_row(f"{name}_defined", defined, cuts, ~undefined, strict=True, defines=True))
    return rows


def _linear_fractional(
    expression: Expression, summary: Summary, parameter: str, shown: str
) -> LinearFractional:
    form = expression.linear_fractional(*summary.totals)
    if form is None:
        raise InvalidParameterError(
            parameter,
            caller="ilp",
            expected="linear in tp and fp, or a ratio of two such forms",
            got=shown,
            hint="leave out the method, or use the sweep: find takes any objective and constraint.",
        )
    return form


def _grain(cuts: Cuts) -> Fraction:
    """Return the greatest number that all sums are multiples of: 1 for counts and integer weights."""
    totals = cuts.summary.positives, cuts.summary.negatives
    common = math.gcd(*totals, int(np.gcd.reduce(cuts.tp)), int(np.gcd.reduce(cuts.fp)))
    return (common or 1) * cuts.summary.grid.step


def _row(
    name: str,
    form: Form,
    cuts: Cuts,
    meets: NDArray[np.bool_],
    *,
    strict: bool,
    defines: bool = False,
    among: NDArray[np.bool_] | None = None,
) -> Side:
    """Return ``form >= 0`` (or ``> 0``) with a right-hand side that no solver can mistake.

    Counts are integers, so the row can be, and "more than 0" is "at least 1". Where weights or
    odd bounds make one unit too small to see, the right-hand side is put half-way between the
    smallest value that meets the row and the largest below it, over the cuts, or those `among` them
    that matter.
    """
    summary = cuts.summary
    form = form.whole(_grain(cuts))
    positives, negatives = summary.totals
    size = abs(form.constant) + abs(form.tp) * positives + abs(form.fp) * negatives
    if size <= RESOLVED:
        return Side(name, float(form.tp), float(form.fp), float(strict - form.constant), meets, defines)
    largest = max(abs(form.tp), abs(form.fp)) or Fraction(1)
    tp, fp = float(form.tp / largest), float(form.fp / largest)
    values = tp * cuts.floats["tp"] + fp * cuts.floats["fp"]
    most = float(np.abs(values).max())
    if 0 < most < 1 or most > REFUSED:  # weights that a solver would take for none, or does not take
        scale, most = SCALED / most, SCALED
        tp, fp, values = scale * tp, scale * fp, scale * values
    margin = 1e-3 * max(1.0, most)
    if not meets.any():
        return Side(name, tp, fp, float(values.max()) + margin, meets, defines)
    least = float(values[meets].min())
    other = ~meets if among is None else ~meets & among
    worse = values[other & (values < least)]
    rhs = (least + float(worse.max())) / 2 if len(worse) else least - margin
    return Side(name, tp, fp, rhs, meets, defines)

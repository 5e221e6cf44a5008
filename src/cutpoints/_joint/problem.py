"""A joint problem: a goal over all rows, what must hold in each segment, and how far segments may differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._goal import Goal, furthest, with_others
from cutpoints._result import Attainable
from cutpoints._search.gap import Gap, maximize_within, rates
from cutpoints._search.joint import solve
from cutpoints._search.linear_goal import bound_of, linear_goal
from cutpoints._search.points import Points
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.segment_cuts import SegmentCuts
    from cutpoints._result import Confusion
    from cutpoints._search.joint import Best, Maximizer
    from cutpoints.metrics.expression import Constraint


class Joint(NamedTuple):
    """The cut of each segment, by its place among all cuts, and how it is known to be the best."""

    cuts: NDArray[np.intp]
    best: Best


@dataclass(frozen=True)
class Problem:
    """What is wanted of these cuts."""

    cuts: SegmentCuts
    goal: Goal
    each: tuple[Constraint, ...] = ()
    gaps: tuple[Constraint, ...] = ()
    caller: str = "find_joint"
    scale: Fraction = Fraction(1)
    """What a count is multiplied by: of a part of the rows, so much is asked as of all."""

    @cached_property
    def points(self) -> Points:
        """The cuts that are allowed in their segments."""
        allowed = allowed_in_each(self.cuts, self.each) if self.each else None
        for above_under in self._rates:
            # Where the rate has no value at a cut, but has at others, the cut cannot be compared.
            known = np.asarray(above_under[1] != 0, dtype=np.bool_)
            undefined = np.bincount(self.cuts.segment[known], minlength=len(self.cuts)) == 0
            known |= undefined[self.cuts.segment]
            allowed = known if allowed is None else known & allowed
        return Points.of(self.cuts, allowed)

    @cached_property
    def _rates(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        return [rates(self.cuts, one) for one in self.gaps]

    @cached_property
    def maximizer(self) -> Maximizer | None:
        """How a linear objective is maximized, where it is not the plain way."""
        points = self.points
        if not self.gaps or len(points.empty):
            return None
        found = [
            Gap.of(points, above[points.cut], under[points.cut], one)
            for (above, under), one in zip(self._rates, self.gaps, strict=True)
        ]
        return partial(maximize_within, found)

    def of(self, cuts: SegmentCuts) -> Problem:
        """Return the same problem for a part of the rows, which stands for all of them."""
        rows = self.cuts.total.positives + self.cuts.total.negatives
        part = cuts.total.positives + cuts.total.negatives
        return replace(self, cuts=cuts, scale=Fraction(rows, part) if part else Fraction(1))

    def solve(self, goal: Goal | None = None) -> Joint | None:
        """Return the best cuts; None if no cuts meet the constraints."""
        wanted = linear_goal(goal or self.goal, self.cuts.total, caller=self.caller, scale=self.scale)
        found = solve(self.points, wanted, self.maximizer)
        return None if found is None else Joint(self.points.cut[found.picks], found)

    def value(self, tp: int, fp: int, goal: Goal | None = None) -> float:
        """Return the objective at these sums, rounded once; NaN where it is undefined."""
        counts = self.cuts.total.confusion(tp, fp)
        return (goal or self.goal).expression.rounded(
            **{name: count * self.scale for name, count in counts.items()}
        )

    def gaps_of(self, confusions: list[Confusion]) -> dict[str, float]:
        """Return the largest difference between segments, for each that is bounded."""
        found = {}
        for gap in self.gaps:
            values = [one.metric(gap.expression) for one in confusions]
            known = [one for one in values if not math.isnan(one)]
            found[str(gap)] = max(known) - min(known) if known else math.nan
        return found

    def attainable(self) -> tuple[Attainable, ...]:
        """Say how far each constraint can be met, alone and where the others hold."""
        constraints = self.goal.constraints
        if not constraints:
            return tuple(self._smallest(i, gap) for i, gap in enumerate(self.gaps))
        alone = [self._attained(one, furthest(one)) for one in constraints]
        if not all(one.met for one in alone):
            return tuple(alone)
        others = [
            self._attained(one, goal)
            for one, goal in zip(constraints, with_others(constraints), strict=False)
        ]
        if not others:
            return tuple(alone)
        return tuple(
            replace(one, with_others=None if math.isnan(other.value) else other)
            for one, other in zip(alone, others, strict=True)
        )

    def _smallest(self, number: int, gap: Constraint) -> Attainable:
        """Say how small a gap can be: from each rate on, the next one of the segment that is furthest."""
        points = self.points
        above, under = (side[points.cut].astype(np.float64) for side in self._rates[number])
        known = under != 0
        rate = above[known] / under[known]
        furthest_rate = rate.copy()
        for segment in np.unique(points.segment[known]):
            own = np.append(np.sort(rate[points.segment[known] == segment]), np.inf)
            furthest_rate = np.maximum(furthest_rate, own[np.searchsorted(own, rate)])
        value = float((furthest_rate - rate).min(initial=np.inf))
        return Attainable(f"a gap of {gap}", value, math.nan, met=value <= gap.bound)

    def _attained(self, constraint: Constraint, goal: Goal) -> Attainable:
        try:
            found = self.solve(goal)
        except InvalidInputError:  # undefined whatever is called positive
            found = None
        if found is None:
            return Attainable(str(constraint), math.nan, math.nan, met=False)
        value = self.value(found.best.tp, found.best.fp, goal)
        bound = bound_of(constraint, self.cuts.total, caller=self.caller, scale=self.scale)
        met = bound.holds(found.best.tp, found.best.fp)
        return Attainable(str(constraint), value, math.nan, met)


def allowed_in_each(cuts: SegmentCuts, constraints: tuple[Constraint, ...]) -> NDArray[np.bool_]:
    """Return the cuts at which constraints hold in their segment.

    A constraint that is undefined at every cut of a segment, such as recall without positives, does not
    apply to it.
    """
    allowed = np.ones(len(cuts.tp), dtype=np.bool_)
    for segment in range(len(cuts)):
        part = slice(cuts.first[segment], cuts.first[segment + 1])
        own = cuts.cuts(segment)
        for one in constraints:
            if not np.isnan(own.values(one.expression)).all():
                allowed[part] &= own.feasible((one,))
    return allowed

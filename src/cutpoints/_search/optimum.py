"""The best cut and its ties.

Floats find the candidates: the cuts whose value is within rounding error of the best. Integers decide
among them, so cuts of equal value are always reported as ties, and a better cut is never missed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._kernel.cuts import Cuts, Index


class Optimum(NamedTuple):
    """The best of some cuts, by index, the cuts that tie with it, and its value, rounded once."""

    best: int
    ties: Index
    value: float


def best_cut(cuts: Cuts, goal: Goal, feasible: NDArray[np.bool_] | None = None) -> Optimum | None:
    """Return the best feasible cut, or None if the objective is undefined at all of them.

    Cuts are ordered by descending threshold, so the first of several equal cuts is the one that calls
    the fewest rows positive. That is the tie-breaking rule, and this is the only place that knows it.
    """
    expression = goal.expression
    values = goal.sign * cuts.values(expression)  # NaN where undefined
    if feasible is not None:
        values = np.where(feasible, values, np.nan)
    best = float(np.fmax.reduce(values)) if len(values) else math.nan
    if math.isnan(best):
        return None
    if math.isinf(best):
        candidates = np.flatnonzero(values == best)
    else:
        error = cuts.rounding_error(expression, values)
        candidates = np.flatnonzero(values + error >= np.fmax.reduce(values - error))
        if len(candidates) > 1 and expression.exact:
            candidates = candidates[_largest(*cuts.order_key(expression, candidates), goal.sign)]
    return Optimum(int(candidates[0]), candidates[1:], cuts.value(expression, int(candidates[0])))


def _largest(numerator: NDArray[np.object_], denominator: NDArray[np.object_], sign: int) -> Index:
    """Return the positions of the largest ``sign * numerator / denominator``.

    Both are arrays of Python integers, denominators positive: cross-multiplying never rounds.
    """
    places = np.arange(len(numerator))
    leader = 0
    while True:
        lead = sign * (numerator * denominator[leader] - numerator[leader] * denominator)
        ahead = np.flatnonzero(lead > 0)
        if len(ahead) == 0:
            return places[np.asarray(lead == 0, dtype=np.bool_)]
        # A cut behind the leader cannot win; of those ahead, the one that leads most is a good guess.
        places, numerator, denominator = places[ahead], numerator[ahead], denominator[ahead]
        leader = int(np.argmax(lead[ahead]))

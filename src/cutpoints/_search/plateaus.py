"""Plateaus: many cuts of one and the same best value, too many to be listed.

Whoever maximises recall alone finds that every cut below the lowest positive is as good as any
other. On data beyond memory these ties must not be fetched. A bucket below the best edge whose
bound does not exceed the value at that edge, compared exactly, holds ties at most: the chosen cut,
the highest of its value, is not in it. So it can be left out, if the answer says that ties were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.cuts import Cuts
from cutpoints._search.optimum import choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._kernel.masses import Masses
    from cutpoints._kernel.tables import Summary


def ties_at_most(
    goal: Goal,
    summary: Summary,
    tp: tuple[Masses, Masses],
    fp: tuple[Masses, Masses],
    certain: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return which buckets hold nothing better than the best edge, and lie below it.

    Parameters
    ----------
    goal, summary
        What is wanted, and of which data.
    tp, fp : pairs of Masses
        At the upper and at the lower edge of each bucket, scores descending.
    certain : ndarray of bool
        At which lower edges all constraints hold.
    """
    none = np.zeros(len(certain))
    trend = goal.expression.trend
    best = choose(Cuts(summary, none, none, tp[1], fp[1]), goal, certain)
    if trend is None or best is None or not goal.expression.exact:
        return np.zeros(len(certain), dtype=np.bool_)
    corner = Cuts(summary, none, none, tp[goal.sign * trend.tp > 0], fp[goal.sign * trend.fp > 0])
    values = corner.values(goal.expression)
    signs = goal.sign * corner.signs(goal.expression, values, best.value)
    return (signs <= 0) & ~np.isnan(values) & (np.arange(len(certain)) > best.best)

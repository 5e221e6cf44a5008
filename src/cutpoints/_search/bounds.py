"""What one count says: the best edge between buckets, exactly, and how much better any cut can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.cuts import Cuts
from cutpoints._search.narrow import prune, tabulate, value_of_nobody
from cutpoints._search.optimum import Choice, choose
from cutpoints._search.run import has_bounds
from cutpoints._search.sweep import with_nobody
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Histogram, Summary


@dataclass(frozen=True)
class Glimpse:
    """The cuts at the edges of the buckets, the best of them, and what the others could hold."""

    cuts: Cuts
    choice: Choice | None
    """The best edge that meets the constraints; None if there is none."""
    bound: float | None
    """No cut inside a bucket is better than this; None if none can be better or as good."""
    open_rows: int
    """So many rows are in buckets that could hold a cut as good as the best edge, or better."""


def glimpse(summary: Summary, histogram: Histogram, goal: Goal) -> Glimpse:
    """Look at the edges of a histogram whose spans end at scores that are in the data.

    The confusion at an edge is exact, and so is the choice among the edges. A bucket of one score
    has no cut inside.
    """
    table = tabulate(histogram, None)
    low, high = (end[::-1] for end in histogram.span(np.arange(len(table.rows), dtype=np.intp)))
    below = np.append(high[1:], -np.inf)
    cuts = with_nobody(Cuts(summary, low, below, table.tp_above + table.pos, table.fp_above + table.neg))
    choice = choose(cuts, goal, cuts.feasible(goal.constraints))
    inner = low < high
    bound = None
    open_ = inner
    if inner.any():
        if has_bounds(goal):
            floor = value_of_nobody(summary, goal)
            _, keep, upper = prune(table, goal, summary, floor)
            open_ = inner & keep
            if open_.any():
                best = float(np.where(np.isnan(upper[open_]), np.inf, upper[open_]).max())
                bound = goal.sign * best
        else:
            bound = goal.sign * np.inf
    if choice is None and bound is None and not goal.constraints:
        positives, negatives = summary.sizes
        raise InvalidInputError.undefined(
            objective=str(goal.expression), positives=positives, negatives=negatives
        )
    return Glimpse(cuts, choice, bound, int(table.rows[open_].sum()))

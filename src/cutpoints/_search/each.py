"""Constraints that must hold in every group: at most 100 alerts on each day, with one threshold.

The cuts of a group that break a constraint are intervals of thresholds. One counter per cut of all rows
says how many groups break one there: after a sort of each group, the cost is one step per cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts
    from cutpoints.metrics.expression import Constraint


@dataclass(frozen=True)
class Groups:
    """The cuts of each group, and what must hold in all of them."""

    cuts: tuple[Cuts, ...]
    constraints: tuple[Constraint, ...]

    def allowed(self, cuts: Cuts) -> NDArray[np.bool_]:
        """Return the cuts of all rows at which no group breaks a constraint."""
        broken = np.zeros(len(cuts) + 1, dtype=np.int64)
        for group in self.cuts:
            bad = np.flatnonzero(~group.feasible(self.constraints))
            ends = np.append(_place(cuts, group.thresholds[1:]), len(cuts))  # a score may be -inf itself
            np.add.at(broken, _place(cuts, group.thresholds[bad]), 1)
            np.add.at(broken, ends[bad], -1)
        return np.cumsum(broken[:-1]) == 0

    def tightest(self, threshold: Any) -> tuple[int, Constraint, float]:
        """Return the group that is closest to breaking a constraint, which one, and its value there."""
        found = []
        for i, group in enumerate(self.cuts):
            # The thresholds of a group descend: the last one that is not below.
            here = group[[np.searchsorted(-group.thresholds, -threshold, side="right") - 1]]
            for constraint in self.constraints:
                value = float(here.values(constraint.expression)[0])
                room = (
                    value - float(constraint.bound)
                    if constraint.wants_high
                    else float(constraint.bound) - value
                )
                found.append((room, i, constraint, value))
        _, group_number, constraint, value = min(found, key=lambda one: one[:2])
        return group_number, constraint, value

    def strictest(self, cuts: Cuts) -> int:
        """Return the group that allows the fewest of the cuts of all rows."""
        each = (Groups((group,), self.constraints).allowed(cuts).sum() for group in self.cuts)
        return int(np.argmin(list(each)))


def _place(cuts: Cuts, thresholds: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first of the cuts, which descend, whose threshold is at most each of these."""
    return np.searchsorted(-cuts.thresholds, -thresholds, side="left")

"""What do thresholds of segments gain together? The frontier, and the rules beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints._format import short
from cutpoints.plots._style import BLUE, CHOSEN, GREEN, VERMILION, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._joint.result import JointSolution
    from cutpoints._result import Confusion


@dataclass
class JointFrontierDisplay(Display):
    """Precision against recall over all rows, at every corner of the frontier of joint thresholds.

    ``from_joint(find_joint(...))`` marks the joint thresholds, the best single one, and each segment by
    itself.

    Attributes
    ----------
    recall, precision : ndarray
        The corners of the frontier.
    points : dict of str to (float, float)
        Recall and precision of the three rules, by name; a rule that was not found is left out.
    """

    recall: NDArray[np.float64]
    precision: NDArray[np.float64]
    points: dict[str, tuple[float, float]]
    heading = "Thresholds of segments together"
    size = (7.0, 5.2)

    @classmethod
    def from_joint(cls, found: JointSolution, *, ax: Axes | None = None) -> Self:
        """Draw the result of `find_joint`."""
        return cls.of_joint(found).plot(ax=ax)

    @classmethod
    def of_joint(cls, found: JointSolution) -> Self:
        """Compute the arrays, without drawing."""
        found.raise_if_infeasible()
        frontier = found.frontier()
        rules: dict[str, Confusion | None] = {
            "together": found.confusion,
            "one threshold": found.single.confusion,
            "each by itself": found.separate.confusion,
        }
        points = {
            name: (one.metric("recall"), one.metric("precision"))
            for name, one in rules.items()
            if one is not None
        }
        return cls(frontier.recall, frontier.precision, points)

    def _draw(self, ax: Axes) -> None:
        there = ~np.isnan(self.precision)
        ax.plot(
            self.recall[there],
            self.precision[there],
            color=BLUE,
            linewidth=2,
            label="frontier of the segments",
        )
        marks: dict[str, dict[str, Any]] = {
            "together": CHOSEN,
            "one threshold": {"marker": "s", "color": VERMILION, "linestyle": "", "markersize": 8},
            "each by itself": {"marker": "^", "color": GREEN, "linestyle": "", "markersize": 9},
        }
        for name, (recall, precision) in self.points.items():
            text = f"{name}: recall {short(recall)}, precision {short(precision)}"
            ax.plot(recall, precision, **marks[name], label=text)
        ax.set(xlabel="Recall over all rows", ylabel="Precision over all rows", xlim=(-0.01, 1.01))

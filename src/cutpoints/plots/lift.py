"""The lift curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cutpoints.plots._style import BLUE, CHOSEN, GREY, Chosen, Display, choose, thin, tidy

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve


@dataclass
class LiftDisplay(Display):
    """How many times more positives there are among the highest scores than among all rows.

    Attributes
    ----------
    share, lift, thresholds : ndarray
    point : tuple of float or None
    """

    share: NDArray[np.float64]
    lift: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None
    size = (7.0, 5.0)
    legend_columns = 3

    @classmethod
    def of_curve(cls, of: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(of, **point)
        made = cls(*of.lift(), chosen=chosen)
        if chosen is not None:
            made.point = chosen.confusion.metric("predicted_positive_rate"), chosen.confusion.metric("lift")
        return made

    def _draw(self, ax: Axes) -> None:
        ax.axhline(1, color=GREY, linestyle=":", linewidth=1, label="random order")
        ax.plot(*thin(self.share, self.lift), color=BLUE, linewidth=2, label="lift")
        if self.point is not None and self.chosen is not None and self.point[1] == self.point[1]:
            ax.plot(*self.point, **CHOSEN, label=self.chosen.label)
        ax.set(xlabel="Share of rows called positive", ylabel="Lift (precision / prevalence)", xlim=(0, 1.01))
        ax.set_ylim(bottom=0)
        tidy(ax)

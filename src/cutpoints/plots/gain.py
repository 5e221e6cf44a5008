"""The cumulative gain curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cutpoints.plots._style import BLUE, CHOSEN, GREEN, GREY, Chosen, Display, choose, thin, unit_square

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve


@dataclass
class GainDisplay(Display):
    """The share of the positives that are found among the highest scores.

    Attributes
    ----------
    share, gain, thresholds : ndarray
    prevalence : float
        A perfect ranking has found all positives at this share.
    point : tuple of float or None
    """

    share: NDArray[np.float64]
    gain: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    prevalence: float
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None

    @classmethod
    def of_curve(cls, of: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(of, **point)
        made = cls(*of.gain(), of.prevalence, chosen=chosen)
        if chosen is not None:
            c = chosen.confusion
            made.point = c.metric("predicted_positive_rate"), c.metric("recall")
        return made

    def _draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1, label="random order")
        ax.plot(
            [0, self.prevalence, 1],
            [0, 1, 1],
            color=GREEN,
            linestyle="--",
            linewidth=1.3,
            label="perfect order",
        )
        ax.plot(*thin(self.share, self.gain), color=BLUE, linewidth=2, label="gain")
        if self.point is not None and self.chosen is not None:
            ax.plot(*self.point, **CHOSEN, label=self.chosen.label)
        unit_square(ax, x="Share of rows called positive", y="Share of positives found (recall)")

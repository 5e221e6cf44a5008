"""The Brier curve: what using probabilities as they are costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cutpoints.plots._style import BLUE, GREEN, Display, thin, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cutpoints._curve import BrierCurve, Curve


@dataclass
class BrierCurveDisplay(Display):
    """Loss against cost proportion: as the probabilities are, and at the best thresholds.

    The gap between the two lines is what calibration could save.

    Attributes
    ----------
    curve : BrierCurve
    """

    curve: BrierCurve
    size = (7.0, 5.0)
    legend_columns = 1

    @classmethod
    def of_curve(cls, of: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        del point  # each cost proportion has a threshold of its own
        return cls(of.brier_curve())

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        x, loss, best = thin(c.cost_proportion, c.loss, c.best)
        ax.fill_between(x, best, loss, color=BLUE, alpha=0.12, linewidth=0)
        ax.plot(
            x, loss, color=BLUE, linewidth=2, label=f"score as threshold (area = Brier score {c.area:.4f})"
        )
        ax.plot(
            x,
            best,
            color=GREEN,
            linestyle="--",
            linewidth=2,
            label=f"best threshold (area {c.best_area:.4f})",
        )
        ax.set(
            xlabel="Cost proportion c = fp cost / (fp cost + fn cost)", ylabel="Expected loss", xlim=(0, 1)
        )
        ax.set_ylim(bottom=0)
        tidy(ax)

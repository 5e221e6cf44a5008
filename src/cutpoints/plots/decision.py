"""Decision-curve analysis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.plots._style import BLUE, GREEN, GREY, ORANGE, Display, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cutpoints._curve import Curve, DecisionCurve


@dataclass
class DecisionCurveDisplay(Display):
    """Net benefit against threshold probability, beside treating all and treating none.

    ``probability`` are the threshold probabilities; ``standardized=True`` divides by the prevalence.

    Attributes
    ----------
    curve : DecisionCurve
    """

    curve: DecisionCurve
    standardized: bool = False
    size = (7.0, 5.0)
    legend_columns = 2

    @classmethod
    def of_curve(
        cls, of: Curve, *, probability: Any = None, standardized: bool = False, **point: Any
    ) -> Self:
        """Compute the arrays, without drawing."""
        del point  # each threshold probability is its own point
        return cls(of.decision_curve(probability), standardized)

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        scale = 1 / c.prevalence if self.standardized and c.prevalence else 1.0
        x = c.probability
        ax.plot(x, scale * c.treat_all, color=ORANGE, linestyle="-.", linewidth=1.8, label="treat all")
        ax.axhline(0, color=GREY, linestyle=":", linewidth=1.8, label="treat none")
        ax.plot(
            x,
            scale * c.best,
            color=GREEN,
            linestyle="--",
            linewidth=1.8,
            label="best threshold at each probability",
        )
        ax.plot(x, scale * c.net_benefit, color=BLUE, linewidth=2.4, label="act iff score >= probability")
        top = scale * float(np.max(c.best))
        ax.set(
            xlabel="Threshold probability",
            ylabel="Standardised net benefit" if self.standardized else "Net benefit",
            xlim=(float(x[0]), float(x[-1])),
            # Treating all falls without end: show as much below zero as says that it does.
            ylim=(-0.25 * top, 1.08 * top) if top > 0 else None,
        )
        tidy(ax)

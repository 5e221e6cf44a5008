"""The two classes' distributions of scores, and the largest gap between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.plots._style import BLUE, ORANGE, VERMILION, Display, finite_ends, thin, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cutpoints._curve import Curve, Ks


@dataclass
class KsDisplay(Display):
    """The share of each class at or above each threshold; the Kolmogorov-Smirnov gap marked.

    Attributes
    ----------
    curve : Ks
    """

    curve: Ks
    size = (7.0, 5.0)
    legend_columns = 1

    @classmethod
    def of_curve(cls, of: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        del point  # the gap is the point
        return cls(of.ks())

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        finite = np.isfinite(c.thresholds)
        up = slice(None, None, -1)
        x = c.thresholds[finite][up]
        for values, color, style, name in (
            (c.positives, ORANGE, "--", "positives at or above (TPR)"),
            (c.negatives, BLUE, "-", "negatives at or above (FPR)"),
        ):
            line = thin(x, values[finite][up])
            ax.plot(*line, color=color, linestyle=style, linewidth=2, drawstyle="steps-pre", label=name)
        if np.isfinite(c.at):
            index = int(np.flatnonzero(c.thresholds == c.at)[0])
            ends = [c.negatives[index], c.positives[index]]
            label = f"KS = {c.statistic:.4f} at threshold {c.at:.4g}"
            ax.plot([c.at, c.at], ends, color=VERMILION, linewidth=3, marker="o", label=label)
        ax.set(
            xlabel="Threshold",
            ylabel="Share of the class",
            xlim=finite_ends(c.thresholds),
            ylim=(-0.02, 1.02),
        )
        tidy(ax)

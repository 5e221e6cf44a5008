"""Histograms of the scores by class, with the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.plots._style import BLUE, ORANGE, VERMILION, Chosen, Display, choose, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve


@dataclass
class ScoresDisplay(Display):
    """How the scores of the two classes are spread: ``bins`` of equal width, and the threshold.

    ``density=True`` draws each class with area 1, so that a rare class can be seen.

    Attributes
    ----------
    edges, positives, negatives : ndarray
        The bins and how much of each class is in them.
    """

    edges: NDArray[np.float64]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]
    density: bool = False
    chosen: Chosen | None = None
    size = (7.5, 4.8)
    legend_columns = 3

    @classmethod
    def of_curve(cls, of: Curve, *, bins: int = 40, density: bool = False, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        finite = np.isfinite(of.thresholds)
        scores = of.thresholds[finite]
        edges = np.histogram_bin_edges(scores if len(scores) else np.array([0.0]), bins=bins)
        pos, neg = (
            np.histogram(scores, edges, weights=np.diff(side, prepend=0)[finite])[0].astype(np.float64)
            for side in (of.tp, of.fp)
        )
        if density:
            width = np.diff(edges)
            pos, neg = (side / max(side.sum(), 1e-300) / width for side in (pos, neg))
        return cls(edges, pos, neg, density, choose(of, **point))

    def _draw(self, ax: Axes) -> None:
        for values, color, hatch, name in (
            (self.negatives, BLUE, None, "negative"),
            (self.positives, ORANGE, "///", "positive"),
        ):
            ax.stairs(values, self.edges, fill=True, color=color, alpha=0.45, hatch=hatch, label=name)
            ax.stairs(values, self.edges, color=color, linewidth=1.8)
        if self.chosen is not None:
            at = self.chosen.threshold
            shown = at if np.isfinite(at) else self.edges[-1]
            ax.axvline(shown, color=VERMILION, linewidth=2.2, label=self.chosen.label)
        ax.set(xlabel="Score", ylabel="Density" if self.density else "Rows")
        ax.set_ylim(bottom=0)
        tidy(ax)

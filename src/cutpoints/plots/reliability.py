"""Reliability: what is predicted against what happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints._calibration import ReliabilityCurve, reliability_curve
from cutpoints.plots._style import BLUE, GREY, Display, unit_square

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class ReliabilityDisplay(Display):
    """A reliability curve, above the number of rows in its bins.

    Attributes
    ----------
    curve : ReliabilityCurve
        The bins.
    name : str or None
        What the legend calls it.
    line_ : matplotlib line
        After `plot`.
    """

    curve: ReliabilityCurve
    name: str | None = None
    line_: Any = field(default=None, repr=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        ax: Axes | None = None,
        name: str | None = None,
        **bins: Any,
    ) -> Self:
        """Draw from labels and probabilities; ``strategy`` and ``n_bins`` as for `reliability_curve`."""
        found = reliability_curve(y_true, y_score, pos_label=pos_label, **bins)
        return cls(found, name).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1, label="calibrated")
        label = f"{self.name or 'observed'} (ECE {curve.ece:.3f} in {curve.n_bins} {curve.strategy} bins)"
        self._draw_counts(ax)
        if curve.strategy == "isotonic":
            # The level sets are steps: flat over the probabilities of each.
            x = np.column_stack([curve.low, curve.high]).ravel()
            (self.line_,) = ax.plot(x, np.repeat(curve.observed, 2), color=BLUE, linewidth=2, label=label)
        else:
            (self.line_,) = ax.plot(
                curve.predicted, curve.observed, color=BLUE, linewidth=2, marker="o", label=label
            )
        unit_square(ax, x="Predicted probability", y="Observed share of positives")

    def _draw_counts(self, ax: Axes) -> None:
        """Draw how many rows each bin has as bars along the bottom; the tallest is a fifth high."""
        curve = self.curve
        if curve.strategy == "uniform":
            low = np.floor(np.minimum(curve.predicted, 1 - 1e-12) * curve.n_bins) / curve.n_bins
            width, density = np.full(len(low), 1 / curve.n_bins), curve.count / curve.count.max()
        else:
            low, width = curve.low, np.maximum(curve.high - curve.low, 0.004)
            density = curve.count / width / (curve.count / width).max()
        ax.bar(low, 0.2 * density, width, align="edge", color="#DDDDDD", edgecolor="white", zorder=0)

"""The ROC curves of several models, and the hull over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from cutpoints.plots._style import CHOSEN, GREY, LINES, STYLES, Display, thin, unit_square

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._compare import Comparison


@dataclass
class ComparisonDisplay(Display):
    """Models in ROC space: curves with their hull and best points, or single points of confusions.

    Attributes
    ----------
    curves : dict of str to (fpr, tpr)
        Empty for bare confusions.
    points : dict of str to (fpr, tpr)
        Each model at its best threshold.
    hull : tuple of ndarray or None
    winners : tuple of str
    """

    curves: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    points: dict[str, tuple[float, float]]
    labels: dict[str, str]
    winners: tuple[str, ...]
    hull: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    @classmethod
    def from_comparison(cls, found: Comparison, *, ax: Axes | None = None) -> Self:
        """Draw what `cutpoints.compare` found."""
        return cls.of(found).plot(ax=ax)

    @classmethod
    def of(cls, found: Comparison) -> Self:
        """Compute the arrays, without drawing."""
        points, labels = {}, {}
        for name, entry in found.entries.items():
            if entry.confusion is not None:
                points[name] = entry.confusion.metric("fpr"), entry.confusion.metric("recall")
            value = "infeasible" if entry.value is None else f"{found.goal.expression} {entry.value:.4g}"
            labels[name] = f"{name}: {value}"
            if entry.auc == entry.auc:
                labels[name] += f", AUC {entry.auc:.4f}"
        curves = {}
        for name, one in found.curves.items():
            fpr, tpr, _ = one.roc(drop_intermediate=True)
            curves[name] = fpr, tpr
        hull = (found.hull.fpr, found.hull.tpr) if found.curves else None
        return cls(curves, points, labels, found.winners, hull)

    def _draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1, label="chance")
        if self.hull is not None:
            ax.plot(
                *self.hull, color="#CCCCCC", linewidth=5, solid_capstyle="round", label="hull over all models"
            )
        for i, (name, label) in enumerate(self.labels.items()):
            color, style = LINES[i % len(LINES)], STYLES[i % len(STYLES)]
            if name in self.curves:
                ax.plot(*thin(*self.curves[name]), color=color, linestyle=style, linewidth=1.8, label=label)
            if name not in self.points:
                continue
            marker = CHOSEN | {"markerfacecolor": color}
            if name in self.winners:
                marker |= {"marker": "*", "markersize": 18}
            shown = None if name in self.curves else label
            ax.plot(*self.points[name], **marker, label=shown)
        unit_square(ax, x="False positive rate", y="True positive rate (recall)")

"""The precision-recall curve with lines of equal F1 and the chosen point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.plots._style import BLUE, CHOSEN, GREY, LIGHT, Chosen, Display, choose, thin, unit_square

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve


@dataclass
class PrecisionRecallDisplay(Display):
    """Precision against recall as steps, lines of equal F1, the random baseline, the chosen point.

    The first point, precision at "nobody positive", is undefined and is not drawn: the curve begins
    flat at the precision of the highest score. Points between two steps are attained by no
    threshold, which is why the line is not straight between them.

    Attributes
    ----------
    precision, recall, thresholds : ndarray
    average_precision, prevalence : float
    point : tuple of float or None
        Recall and precision of the chosen threshold.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    average_precision: float
    prevalence: float
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None
    name: str | None = None
    iso_f: bool = True
    steps: bool = True

    @classmethod
    def of_curve(
        cls, of: Curve, *, name: str | None = None, iso_f: bool = True, steps: bool = True, **point: Any
    ) -> Self:
        """Compute the arrays, without drawing."""
        precision, recall, thresholds = of.pr()
        chosen = choose(of, **point)
        made = cls(
            precision, recall, thresholds, of.average_precision, of.prevalence,
            chosen=chosen, name=name, iso_f=iso_f, steps=steps,
        )  # fmt: skip
        if chosen is not None:
            made.point = chosen.confusion.metric("recall"), chosen.confusion.metric("precision")
        return made

    def _draw(self, ax: Axes) -> None:
        if self.iso_f:
            _iso_f(ax)
        ax.axhline(
            self.prevalence, color=GREY, linestyle=":", linewidth=1, label=f"random ({self.prevalence:.3g})"
        )
        defined = ~np.isnan(self.precision)
        precision, recall = self.precision[defined], self.recall[defined]
        label = f"{self.name or 'precision-recall'} (AP {self.average_precision:.4f})"
        x, y = thin(np.append(0.0, recall), np.append(precision[:1], precision))
        # Precision P_k holds from the recall before up to its own: the rule of average precision.
        style = "steps-pre" if self.steps else "default"
        ax.plot(x, y, color=BLUE, linewidth=2, drawstyle=style, label=label)
        if self.point is not None and self.chosen is not None and self.point[1] == self.point[1]:
            ax.plot(*self.point, **CHOSEN, label=self.chosen.label)
        unit_square(ax, x="Recall", y="Precision")


def _iso_f(ax: Axes) -> None:
    """Draw where F1 is 0.2, 0.4, 0.6, 0.8, each named at the right edge."""
    for f in (0.2, 0.4, 0.6, 0.8):
        recall = np.linspace(f / 2 + 1e-3, 1.0, 200)
        precision = f * recall / (2 * recall - f)
        shown = precision <= 1.0
        ax.plot(recall[shown], precision[shown], color=LIGHT, linewidth=1)
        ax.annotate(
            f"F1 {f}",
            (1.0, f / (2 - f)),
            xytext=(10, 0),
            textcoords="offset points",
            va="center",
            color=GREY,
            fontsize="small",
            annotation_clip=False,
        )

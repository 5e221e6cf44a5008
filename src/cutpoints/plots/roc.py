"""The ROC curve, its hull, lines of equal cost, and the chosen point."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.plots._style import (
    BLUE,
    CHOSEN,
    GREEN,
    GREY,
    VERMILION,
    Chosen,
    Display,
    choose,
    thin,
    unit_square,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve


@dataclass
class RocDisplay(Display):
    """ROC curve with hull, lines of equal value and the chosen point.

    `from_predictions` and `from_curve` take ``maximize``, ``minimize`` and ``subject_to`` or a
    ``threshold`` for the point, ``hull=False`` to leave the hull out, and a ``name``.

    Attributes
    ----------
    fpr, tpr, thresholds : ndarray
        The curve.
    auc : float
    hull_fpr, hull_tpr : ndarray or None
        The vertices of the hull.
    point : tuple of float or None
        FPR and TPR of the chosen threshold.
    slope : float or None
        Of the lines along which the objective is constant, for objectives that are linear in TP
        and FP: costs, accuracy, Youden's J.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    auc: float
    hull_fpr: NDArray[np.float64] | None = None
    hull_tpr: NDArray[np.float64] | None = None
    point: tuple[float, float] | None = None
    slope: float | None = None
    chosen: Chosen | None = None
    name: str | None = None

    @classmethod
    def of_curve(cls, of: Curve, *, hull: bool = True, name: str | None = None, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        fpr, tpr, thresholds = of.roc(drop_intermediate=True)
        chosen = choose(of, **point)
        made = cls(fpr, tpr, thresholds, of.auc, chosen=chosen, name=name)
        if hull:
            made.hull_fpr, made.hull_tpr = of.hull().fpr, of.hull().tpr
        if chosen is not None:
            made.point = chosen.confusion.metric("fpr"), chosen.confusion.metric("recall")
            made.slope = _slope(chosen)
        return made

    def _draw(self, ax: Axes) -> None:
        label = f"{self.name or 'ROC'} (AUC {self.auc:.4f})"
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1, label="chance")
        if self.slope is not None and self.point is not None:
            _iso_lines(ax, self.slope, self.point)
        if self.hull_fpr is not None and self.hull_tpr is not None:
            # The curve lies on its hull wherever it is convex: dashes over a wider line show both.
            ax.plot(
                self.hull_fpr, self.hull_tpr, color=GREEN, linestyle="--", linewidth=1.5, label="convex hull"
            )
        ax.plot(*thin(self.fpr, self.tpr), color=BLUE, linewidth=2, label=label)
        if self.point is not None and self.chosen is not None:
            ax.plot(*self.point, **CHOSEN, label=self.chosen.label)
        unit_square(ax, x="False positive rate", y="True positive rate (recall)")


def _slope(chosen: Chosen) -> float | None:
    """Return the slope of lines of equal value in ROC space; None if the objective has no such lines."""
    c = chosen.confusion
    positives, negatives = Fraction(c.tp) + Fraction(c.fn), Fraction(c.fp) + Fraction(c.tn)
    if chosen.expression is None or not positives or not negatives:
        return None
    form = chosen.expression.linear_fractional(positives, negatives)
    if form is None or not form.is_linear or form.numerator[1] == 0:
        return None
    return float(-form.numerator[2] * negatives / (form.numerator[1] * positives))


def _iso_lines(ax: Axes, slope: float, point: tuple[float, float]) -> None:
    """Draw the line of equal value through the point, and faint ones beside it."""
    x = np.array([0.0, 1.0])
    height = point[1] - slope * point[0]
    step = 0.1 * (1 + abs(slope))
    for i in (-3, -2, -1, 1, 2, 3):
        ax.plot(x, height + i * step + slope * x, color=VERMILION, linewidth=0.7, alpha=0.3, scaley=False)
    label = f"equal value (slope {slope:.3g})"
    ax.plot(x, height + slope * x, color=VERMILION, linewidth=1.2, label=label, scaley=False)

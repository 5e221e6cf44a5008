"""Drummond and Holte's cost curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.plots._style import BLUE, CHOSEN, GREY, LIGHT, Chosen, Display, choose, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cutpoints._curve import CostCurve, Curve


@dataclass
class CostCurveDisplay(Display):
    """Normalised expected cost against PC(+), each vertex of the hull a line, their envelope below.

    With a goal that is a cost, the chosen threshold is marked where it applies: at the PC(+) of
    its costs and the prevalence of the data.

    Attributes
    ----------
    curve : CostCurve
    point : tuple of float or None
        PC(+) and cost of the chosen threshold.
    line : tuple of float or None
        FPR and FNR of the chosen threshold: the ends of its line.
    """

    curve: CostCurve
    point: tuple[float, float] | None = None
    line: tuple[float, float] | None = None
    chosen: Chosen | None = None
    size = (7.0, 5.4)
    legend_columns = 2

    @classmethod
    def of_curve(cls, of: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(of, **point)
        made = cls(of.cost_curve(), chosen=chosen)
        if chosen is None:
            return made
        fpr, fnr = chosen.confusion.metric("fpr"), chosen.confusion.metric("fnr")
        made.line = fpr, fnr
        where = _probability_cost(chosen)
        if where is not None:
            made.point = where, fnr * where + fpr * (1 - where)
        return made

    def _draw(self, ax: Axes) -> None:
        fpr, fnr = self.curve.lines
        step = max(1, len(fpr) // 40)
        for i in range(0, len(fpr), step):
            ax.plot([0, 1], [fpr[i], fnr[i]], color=LIGHT, linewidth=0.7)
        ax.plot(
            [0, 0.5, 1], [0, 0.5, 0], color=GREY, linestyle=":", linewidth=1.4, label="nobody / everybody"
        )
        if self.line is not None and self.chosen is not None:
            ax.plot([0, 1], self.line, color=CHOSEN["markerfacecolor"], linestyle="--", linewidth=1.5,
                    label=self.chosen.label if self.point is None else "the chosen threshold")  # fmt: skip
        ax.plot(
            self.curve.probability_cost,
            self.curve.expected_cost,
            color=BLUE,
            linewidth=2.4,
            label=f"best threshold (area {self.curve.area:.4f})",
        )
        if self.point is not None and self.chosen is not None:
            ax.plot(*self.point, **CHOSEN, label=self.chosen.label)
        top = max(0.55, 1.15 * float(np.max(self.curve.expected_cost)))
        ax.set(xlabel="Probability cost PC(+)", ylabel="Normalised expected cost", xlim=(0, 1), ylim=(0, top))
        tidy(ax)


def _probability_cost(chosen: Chosen) -> float | None:
    """Return the PC(+) of a linear objective at the prevalence of the data."""
    from fractions import Fraction

    if chosen.expression is None:
        return None
    c = chosen.confusion
    positives, negatives = Fraction(c.tp) + Fraction(c.fn), Fraction(c.fp) + Fraction(c.tn)
    form = chosen.expression.linear_fractional(positives, negatives)
    if form is None or not form.is_linear:
        return None
    miss, alarm = abs(form.numerator[1]) * positives, abs(form.numerator[2]) * negatives
    return float(miss / (miss + alarm)) if miss + alarm else None

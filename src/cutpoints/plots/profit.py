"""The profit curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.exceptions import InvalidParameterError
from cutpoints.plots._style import BLUE, CHOSEN, GREY, Chosen, Display, choose, thin, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cutpoints._curve import Curve, ProfitCurve


@dataclass
class ProfitDisplay(Display):
    """An amount, earned or paid, against the share of rows called positive; the best point marked.

    Give it as the goal: ``maximize="profit(tp=10, fp=-1)"`` or ``minimize="cost(fp=2, fn=1)"``.

    Attributes
    ----------
    curve : ProfitCurve
    amount : str
    point : tuple of float
    """

    curve: ProfitCurve
    amount: str
    point: tuple[float, float]
    chosen: Chosen
    size = (7.0, 5.0)
    legend_columns = 2

    @classmethod
    def of_curve(cls, of: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(of, **point)
        if chosen is None or chosen.expression is None:
            raise InvalidParameterError.of(
                parameter="maximize",
                caller="ProfitDisplay",
                must_be="given: the amount to draw",
                got=None,
                hint="for example maximize='profit(tp=10, fp=-1)' or minimize='cost(fp=2, fn=1)'.",
            )
        c = chosen.confusion
        here = c.metric("predicted_positive_rate"), c.metric(chosen.expression)
        return cls(of.profit_curve(chosen.expression), str(chosen.expression), here, chosen)

    def _draw(self, ax: Axes) -> None:
        if np.nanmin(self.curve.profit) < 0 < np.nanmax(self.curve.profit):
            ax.axhline(0, color=GREY, linestyle=":", linewidth=1)
        ax.plot(*thin(self.curve.share, self.curve.profit), color=BLUE, linewidth=2, label=self.amount)
        ax.plot(*self.point, **CHOSEN, label=self.chosen.label)
        ax.set(
            xlabel="Share of rows called positive, highest scores first",
            ylabel=self.amount,
            xlim=(-0.01, 1.01),
        )
        tidy(ax)

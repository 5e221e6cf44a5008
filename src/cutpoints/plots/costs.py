"""What do decisions cost? Cost, decision, Brier and profit curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidParameterError
from cutpoints.plots._style import (
    BLUE,
    GRAY,
    GREEN,
    ORANGE,
    VERMILION,
    Chosen,
    CurveDisplay,
    choose,
    thin,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cutpoints._curve import BrierCurve, CostCurve, Curve, DecisionCurve, ProfitCurve


@dataclass
class CostCurveDisplay(CurveDisplay):
    """Drummond and Holte's cost curve: the lower envelope of the lines of all thresholds.

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
    heading = "Cost curve"

    @classmethod
    def of_curve(cls, curve: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        made = cls(curve.cost_curve(), chosen=chosen)
        if chosen is not None:
            made.line = fpr, fnr = chosen.metrics("fpr", "fnr")
            per_rate = chosen.per_rate()
            if per_rate is not None and any(per_rate):
                miss, alarm = map(abs, per_rate)
                x = float(miss / (miss + alarm))
                made.point = x, fnr * x + fpr * (1 - x)
        return made

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        ax.plot(
            [0, 0.5, 1], [0, 0.5, 0], color=GRAY, linestyle=":", linewidth=1.4, label="all or none positive"
        )
        if self.line is not None and self.chosen is not None:
            label = self.chosen.label if self.point is None else "the chosen threshold"
            ax.plot([0, 1], self.line, color=VERMILION, linestyle="--", linewidth=1.5, label=label)
        label = f"best threshold (area {c.area:.4f})"
        ax.plot(c.probability_cost, c.expected_cost, color=BLUE, linewidth=2.4, label=label)
        self._mark(ax)
        top = max(0.55, 1.15 * float(np.max(c.expected_cost)))
        ax.set(xlabel="Probability cost PC(+)", ylabel="Normalized expected cost", xlim=(0, 1), ylim=(0, top))
        tidy(ax)


@dataclass
class DecisionCurveDisplay(CurveDisplay):
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
    heading = "Decision curve"

    @classmethod
    def of_curve(
        cls, curve: Curve, *, probability: Any = None, standardized: bool = False, **point: Any
    ) -> Self:
        """Compute the arrays, without drawing."""
        del point  # each threshold probability is its own point
        return cls(curve.decision_curve(probability), standardized)

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        scale = 1 / c.prevalence if self.standardized and c.prevalence else 1.0
        x, label = c.probability, "best threshold at each probability"
        ax.plot(x, scale * c.treat_all, color=ORANGE, linestyle="-.", linewidth=1.8, label="treat all")
        ax.axhline(0, color=GRAY, linestyle=":", linewidth=1.8, label="treat none")
        ax.plot(x, scale * c.best, color=GREEN, linestyle="--", linewidth=1.8, label=label)
        ax.plot(x, scale * c.net_benefit, color=BLUE, linewidth=2.4, label="act if score >= probability")
        ax.set(xlabel="Threshold probability", xlim=(float(x[0]), float(x[-1])))
        ax.set_ylabel("Standardized net benefit" if self.standardized else "Net benefit")
        top = scale * float(np.max(c.best))
        if top > 0:  # treating all falls without end: show only a little below zero
            ax.set_ylim(-0.25 * top, 1.08 * top)
        tidy(ax)


@dataclass
class BrierCurveDisplay(CurveDisplay):
    """Loss against cost proportion: with the probabilities as they are, and at the best thresholds.

    The gap between the two lines is what calibration could save.

    Attributes
    ----------
    curve : BrierCurve
    """

    curve: BrierCurve
    size = (7.0, 5.0)
    heading = "Brier curve"

    @classmethod
    def of_curve(cls, curve: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        del point  # each cost proportion has a threshold of its own
        return cls(curve.brier_curve())

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        x, loss, best = thin(c.cost_proportion, c.loss, c.best)
        ax.fill_between(x, best, loss, color=BLUE, alpha=0.12, linewidth=0)
        label = f"score as threshold (area = Brier score {c.area:.4f})"
        ax.plot(x, loss, color=BLUE, linewidth=2, label=label)
        label = f"best threshold (area {c.best_area:.4f})"
        ax.plot(x, best, color=GREEN, linestyle="--", linewidth=2, label=label)
        ax.set(
            xlabel="Cost proportion c = fp cost / (fp cost + fn cost)", ylabel="Expected loss", xlim=(0, 1)
        )
        ax.set_ylim(bottom=0)
        tidy(ax)


@dataclass
class ProfitDisplay(CurveDisplay):
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
    heading = "Value by share called positive"

    @classmethod
    def of_curve(cls, curve: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        if chosen is None or chosen.expression is None:
            gain, loss = (
                Argument("maximize", "profit(tp=10, fp=-1)"),
                Argument("minimize", "cost(fp=2, fn=1)"),
            )
            raise InvalidParameterError(
                "maximize",
                got=None,
                expected="an amount to draw",
                caller="ProfitDisplay",
                hint=("for example ", gain, " or ", loss, "."),
            )
        amount = chosen.expression
        at = chosen.metrics("predicted_positive_rate", amount)
        return cls(curve.profit_curve(amount), str(amount), at, chosen)

    def _draw(self, ax: Axes) -> None:
        if np.nanmin(self.curve.profit) < 0 < np.nanmax(self.curve.profit):
            ax.axhline(0, color=GRAY, linestyle=":", linewidth=1)
        ax.plot(*thin(self.curve.share, self.curve.profit), color=BLUE, linewidth=2, label=self.amount)
        self._mark(ax)
        ax.set(xlabel="Share of rows called positive, highest scores first", ylabel=self.amount)
        ax.set_xlim(-0.01, 1.01)
        tidy(ax)

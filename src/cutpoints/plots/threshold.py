"""Metrics against the threshold, with the optimum and its interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints._goal import objective
from cutpoints.plots._style import LINES, STYLES, VERMILION, Chosen, Display, choose, finite_ends, thin, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve

METRICS = ("precision", "recall", "f1")


@dataclass
class ThresholdDisplay(Display):
    """Metrics against the threshold; the best threshold as a line, its interval shaded.

    ``metrics`` chooses what is drawn beside the goal. Amounts such as costs have an axis of their
    own, on the right.

    Attributes
    ----------
    thresholds : ndarray
    values : dict of str to ndarray
        The metrics, NaN where undefined.
    """

    thresholds: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]
    chosen: Chosen | None = None
    span: tuple[float, float] = field(default=(0.0, 1.0))
    size = (7.5, 5.0)
    legend_columns = 2

    @classmethod
    def of_curve(cls, of: Curve, *, metrics: Sequence[Any] = METRICS, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(of, **point)
        wanted = [objective(metric) for metric in metrics]
        if chosen is not None and chosen.expression is not None:
            wanted.insert(0, chosen.expression)
        values = {str(one): of.values(one) for one in wanted}
        return cls(of.thresholds, values, chosen, finite_ends(of.thresholds))

    def _draw(self, ax: Axes) -> None:
        finite = np.isfinite(self.thresholds)
        up = slice(None, None, -1)
        x = self.thresholds[finite][up]
        right: Axes | None = None
        for i, (name, values) in enumerate(self.values.items()):
            y = values[finite][up]
            on = ax
            if np.nanmax(np.abs(y), initial=0.0) > 1:
                if right is None:
                    right = ax.twinx()
                    right.set_ylabel(name)
                    right.spines["top"].set_visible(False)
                on = right
            shown = f"{name} (right)" if on is right else name
            # The decisions of a threshold are those of the next score at or above it.
            color, style = LINES[i % len(LINES)], STYLES[i % len(STYLES)]
            goal = self.chosen is not None and name == str(self.chosen.expression)
            on.plot(
                *thin(x, y),
                color=color,
                linestyle=style,
                linewidth=3 if goal else 1.6,
                drawstyle="steps-pre",
                label=shown,
            )
        if right is not None:
            ax.twins_ = [right]  # type: ignore[attr-defined]
        self._mark(ax)
        ax.set(xlabel="Threshold (positive iff score >= threshold)", ylabel="Metric", xlim=self.span)
        ax.set_ylim(min(-0.02, ax.get_ylim()[0]), 1.02)
        tidy(ax)

    def _mark(self, ax: Axes) -> None:
        if self.chosen is None:
            return
        low, high = self.chosen.interval
        low, high = max(low, self.span[0]), min(high, self.span[1])
        if low < high:
            ax.axvspan(low, high, color=VERMILION, alpha=0.18, linewidth=0, label="same decisions")
        at = self.chosen.threshold
        text = self.chosen.label
        if np.isfinite(at):
            ax.axvline(at, color=VERMILION, linewidth=2, label=text)
        else:  # "nobody positive" lies beyond every score
            ax.axvline(self.span[1], color=VERMILION, linewidth=3, linestyle=":", label=text)
        for tie in self.chosen.ties:
            if np.isfinite(tie):
                ax.axvline(tie, color=VERMILION, linewidth=1, linestyle=":")

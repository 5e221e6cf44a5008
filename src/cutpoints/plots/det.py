"""Detection error trade-off on normal-deviate axes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints.plots._style import BLUE, CHOSEN, GREY, Chosen, Display, choose, thin, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve

_TICKS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)


@dataclass
class DetDisplay(Display):
    """Misses against false alarms, both stretched so that normal scores give a straight line.

    Attributes
    ----------
    fpr, fnr, thresholds : ndarray
    point : tuple of float or None
        FPR and FNR of the chosen threshold.
    """

    fpr: NDArray[np.float64]
    fnr: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None

    @classmethod
    def of_curve(cls, of: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        fpr, fnr, thresholds = of.det()
        chosen = choose(of, **point)
        made = cls(fpr, fnr, thresholds, chosen=chosen)
        if chosen is not None:
            made.point = chosen.confusion.metric("fpr"), chosen.confusion.metric("fnr")
        return made

    def _draw(self, ax: Axes) -> None:
        x, y = thin(self.fpr, self.fnr)
        inside = (x > 0) & (x < 1) & (y > 0) & (y < 1)
        diagonal = [_deviate(t) for t in (_TICKS[0], _TICKS[-1])]
        ax.plot(diagonal, diagonal[::-1], color=GREY, linestyle=":", linewidth=1, label="chance")
        ax.plot(
            *(np.array([_deviate(v) for v in c[inside]]) for c in (x, y)),
            color=BLUE,
            linewidth=2,
            label="DET",
        )
        if self.point is not None and self.chosen is not None and all(0 < v < 1 for v in self.point):
            ax.plot(*map(_deviate, self.point), **CHOSEN, label=self.chosen.label)
        ticks, names = [_deviate(t) for t in _TICKS], [f"{100 * t:g} %" for t in _TICKS]
        ax.set_xticks(ticks, names, fontsize="small")
        ax.set_yticks(ticks, names, fontsize="small")
        ends = (diagonal[0], diagonal[1])
        ax.set(xlabel="False positive rate", ylabel="False negative rate", xlim=ends, ylim=ends)
        ax.set_aspect("equal", adjustable="box")
        tidy(ax)


def _deviate(share: float) -> float:
    return NormalDist().inv_cdf(float(share))

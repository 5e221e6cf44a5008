"""Which rows do people review? The band over the scores, and the errors of the automatic decisions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints._format import count, percent
from cutpoints.exceptions import InvalidParameterError
from cutpoints.plots._style import BLUE, CHOSEN, GREEN, VERMILION, CurveDisplay, tidy
from cutpoints.plots.thresholds import ScoresDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._band import Band
    from cutpoints._curve import Curve
    from cutpoints._curve.risk_coverage import RiskCoverage


@dataclass
class BandDisplay(ScoresDisplay):
    """Histograms of the scores of both classes, with the band that people review shaded.

    ``from_predictions(y, p, band=find_band(...))``; ``bins`` and ``density`` as for `ScoresDisplay`.

    Attributes
    ----------
    edges, positives, negatives : ndarray
        The bins and how much of each class is in them.
    low, high : float
        The ends of the band.
    ends : tuple of str
        The same as they are written: with the fewest digits that make the same decisions.
    """

    low: float = math.nan
    high: float = math.nan
    reviewed: str = ""
    ends: tuple[str, str] = ("", "")

    @classmethod
    def of_curve(cls, curve: Curve, *, band: Band | None = None, **options: Any) -> Self:
        """Compute the arrays, without drawing."""
        if band is None:
            raise InvalidParameterError(
                "band", got=None, expected="the result of find_band", caller="BandDisplay"
            )
        band.raise_if_infeasible()
        assert band.low is not None
        assert band.high is not None
        assert band.reviewed is not None
        assert band.coverage is not None
        made = super().of_curve(curve, **options)
        assert band.low_interval is not None
        assert band.high_interval is not None
        made.low, made.high = band.low, band.high
        made.ends = band.low_interval.shortest, band.high_interval.shortest
        made.reviewed = f"review: {count(band.reviewed)} rows ({percent(1 - band.coverage)})"
        return made

    def _draw(self, ax: Axes) -> None:
        super()._draw(ax)
        left, right = self.edges[0], self.edges[-1]
        shown = [float(end) for end in self.ends]
        low, high = (min(max(end, left), right) for end in shown)
        if low < high:
            ax.axvspan(low, high, color=GREEN, alpha=0.18, linewidth=0, label=self.reviewed)
        for end, text, name, style in zip(
            shown, self.ends, ("no below", "yes from"), ("--", "-"), strict=True
        ):
            if np.isfinite(end):
                ax.axvline(end, color=VERMILION, linewidth=2.2, linestyle=style, label=f"{name} {text}")


@dataclass
class RiskCoverageDisplay(CurveDisplay):
    """The error rate of automatic decisions against the share of rows that is decided automatically.

    ``from_predictions(y, p)``, with ``band=`` to mark one, or `from_risk_coverage`.

    Attributes
    ----------
    coverage, risk : ndarray
        The curve; no band of the coverage of a point has fewer errors.
    """

    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]
    point: tuple[float, float] | None = None
    heading = "Errors of automatic decisions"
    size = (7.0, 4.8)
    legend_columns = 2

    @classmethod
    def of_curve(cls, curve: Curve, *, band: Band | None = None, **_options: Any) -> Self:
        """Compute the arrays, without drawing."""
        return cls.of_risk_coverage(curve.risk_coverage(), band=band)

    @classmethod
    def from_risk_coverage(
        cls, curve: RiskCoverage, *, band: Band | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the result of `Curve.risk_coverage`."""
        return cls.of_risk_coverage(curve, band=band).plot(ax=ax)

    @classmethod
    def of_risk_coverage(cls, curve: RiskCoverage, *, band: Band | None = None) -> Self:
        """Compute the arrays, without drawing."""
        point = None
        if band is not None and band.confusion is not None and band.coverage:
            point = band.coverage, band.confusion.metric("error_rate")
        return cls(curve.coverage, curve.risk, point)

    def _draw(self, ax: Axes) -> None:
        there = ~np.isnan(self.risk)
        x, y = self.coverage[there], self.risk[there]
        ax.plot(x, y, color=BLUE, linewidth=2, label="fewest errors at each coverage")
        if self.point is not None:
            ax.plot(*self.point, **CHOSEN, label=f"the band: {percent(self.point[1])} errors")
        ax.set(
            xlabel="Coverage: share of rows decided automatically",
            ylabel="Risk: error rate of automatic decisions",
            xlim=(-0.01, 1.01),
        )
        ax.set_ylim(bottom=0)
        tidy(ax)

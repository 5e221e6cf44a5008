"""Risk against coverage: how few errors the automatic decisions can have, at every share of them.

Start with every row in review, and automate the parts of the ROC hull one by one, the surest first. What is
left to review is then always between two thresholds, and no band of equal coverage has fewer errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._curve.hull import vertices
from cutpoints._equality import compared_by_value
from cutpoints._format import rows_in_words
from cutpoints._shown import Shown, Tabular
from cutpoints._validate import number_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts


@compared_by_value
@dataclass(frozen=True, repr=False, eq=False)
class RiskCoverage(Shown, Tabular):
    """The lowest error of automatic decisions at growing coverage, each point with its band.

    No band with the coverage of a point has fewer errors. Between two points no band has fewer errors than
    the line between them.

    Attributes
    ----------
    coverage : ndarray of float
        The share of rows that is decided automatically, ascending.
    risk : ndarray of float
        The error rate among these; NaN where there are none.
    errors : ndarray of float
        Wrong automatic decisions.
    low, high : ndarray of float
        The bands: yes iff ``score >= high``, no iff ``score < low``.
    """

    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]
    errors: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    rows: int
    positives: int | float
    negatives: int | float

    def __len__(self) -> int:
        return len(self.coverage)

    def at(self, coverage: float) -> dict[str, float]:
        """Return the first point that covers at least this share of the rows."""
        number_in("coverage", coverage, 0, 1, caller="at")
        index = min(int(np.searchsorted(self.coverage, coverage)), len(self) - 1)
        return {name: float(column[index]) for name, column in self.table().items()}

    def table(self) -> dict[str, NDArray[np.float64]]:
        """Return the points as columns by name."""
        names = ("coverage", "risk", "errors", "low", "high")
        return {name: getattr(self, name) for name in names}

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as names and texts."""
        shown = [(f"coverage {share}", self.at(share)) for share in (0.5, 0.8, 0.9, 0.95, 1.0)]
        lines = [
            (name, f"risk {at['risk']:.4f}   no below {at['low']:.6g}, yes from {at['high']:.6g} on")
            for name, at in shown
        ]
        return [*lines, ("data", rows_in_words(self.rows, self.positives, self.negatives))]


def risk_coverage(cuts: Cuts) -> RiskCoverage:
    """Return the vertices of the convex frontier of errors against reviews: see `Curve.risk_coverage`."""
    summary = cuts.summary
    upper, lower = _bands(cuts)
    step = summary.grid.decode
    errors = step(cuts.fp[upper] + summary.positives - cuts.tp[lower])
    reviewed = step(cuts.tp[lower] + cuts.fp[lower] - cuts.tp[upper] - cuts.fp[upper])
    total = float(sum(summary.totals))
    with np.errstate(invalid="ignore", divide="ignore"):
        risk = errors / (total - reviewed)
    return RiskCoverage(
        1 - reviewed / total,
        np.where(reviewed < total, risk, np.nan),
        errors,
        cuts.thresholds[lower].astype(np.float64),
        cuts.thresholds[upper].astype(np.float64),
        summary.rows,
        summary.grid.number(summary.positives),
        summary.grid.number(summary.negatives),
    )


def _bands(cuts: Cuts) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the upper and the lower cuts of the bands, from all reviewed to none."""
    hull = vertices(cuts)
    tp, fp = np.diff(cuts.tp[hull]).tolist(), np.diff(cuts.fp[hull]).tolist()
    errors = [Fraction(min(a, b), a + b) for a, b in zip(tp, fp, strict=True)]
    # Slopes fall along the hull: edges with more positives than negatives come first.
    steep = sum(a >= b for a, b in zip(tp, fp, strict=True))
    upper, lower = [0], [len(hull) - 1]
    for edge in sorted(range(len(errors)), key=errors.__getitem__):
        up = edge < steep
        upper.append(upper[-1] + up)
        lower.append(lower[-1] - (not up))
    return hull[np.array(upper)], hull[np.array(lower)]

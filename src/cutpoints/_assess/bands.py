"""Bands that hold at all thresholds at once, and so at the one that was chosen.

The Dvoretzky-Kiefer-Wolfowitz inequality (with Massart's constant) bounds how far the share of
positives above a threshold may lie from the truth, at every threshold together; the same for the
negatives. A metric is then bounded by its corners over these two ranges, and over those shares of positives
that are plausible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._equality import compared_by_value
from cutpoints._evaluate import proportion_interval
from cutpoints.metrics.expression import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts
    from cutpoints.metrics.expression import Expression

_SHARES = 5
"""Shares of positives at which a metric is bounded: the ends of their interval and three between."""


@compared_by_value
@dataclass(frozen=True, eq=False)
class Band:
    """The values that are possible at each threshold, all at once with this confidence.

    Attributes
    ----------
    thresholds, value, low, high : ndarray
        At every cut, thresholds descending: the metric on the rows, and its band.
    recall_width, fpr_width : float
        Half the width of the bands of the two rates that it comes from.
    shares : tuple of float
        The shares of positives that it comes from: that of the rows, and plausible ones where they matter.
    confidence : float
        The probability that both rates are inside everywhere, and the share of positives where it matters.
    """

    thresholds: NDArray[np.float64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    recall_width: float
    fpr_width: float
    shares: tuple[float, ...]
    confidence: float

    def at(self, threshold: float) -> tuple[float, float]:
        """Return the band at one threshold, also at one that the rows have chosen."""
        index = max(int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1, 0)
        return float(self.low[index]), float(self.high[index])

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, without the arrays."""
        return {
            "recall_width": self.recall_width,
            "fpr_width": self.fpr_width,
            "confidence": self.confidence,
        }


def half_width(rows: int, confidence: float) -> float:
    """Return the half-width of a band around the distribution of this many rows, one of two.

    Examples
    --------
    >>> round(half_width(500, 0.95), 4)
    0.0662
    """
    return math.sqrt(math.log(4 / (1 - confidence)) / (2 * rows))


def band(cuts: Cuts, expression: Expression, confidence: float) -> Band | None:
    """Return the band of a metric at all cuts; None if the metric cannot be bounded.

    A metric that depends on the share of positives, as precision and costs do, is bounded over a range of
    shares, too: a fifth of the risk is that the true share lies outside. Costs a few passes over the cuts.
    """
    positives, negatives = cuts.summary.sizes
    if 0 in (positives, negatives):
        return None
    risk, shares = 1 - confidence, [positives / (positives + negatives)]
    if _depends_on_share(expression):
        interval = proportion_interval(
            round(positives), round(positives + negatives), confidence=1 - risk / 5, method="clopper_pearson"
        )
        # The ends, and points between: metrics such as mcc are not monotone in the share.
        shares += np.linspace(*interval, _SHARES).tolist()
        risk *= 4 / 5
    wide = half_width(int(positives), 1 - risk), half_width(int(negatives), 1 - risk)
    tpr, fpr = cuts.floats["tp"] / positives, cuts.floats["fp"] / negatives
    low, high = np.full(len(tpr), np.inf), np.full(len(tpr), -np.inf)
    for share in shares:
        pos, neg = share * (positives + negatives), (1 - share) * (positives + negatives)
        box = Box(
            np.maximum(tpr - wide[0], 0.0) * pos,
            np.minimum(tpr + wide[0], 1.0) * pos,
            np.maximum(fpr - wide[1], 0.0) * neg,
            np.minimum(fpr + wide[1], 1.0) * neg,
            pos,
            neg,
        )
        with np.errstate(all="ignore"):
            found = expression.bounds(box)
        if found is None:
            return None
        low, high = np.minimum(low, found[0]), np.maximum(high, found[1])
    return Band(
        cuts.thresholds.astype(np.float64),
        cuts.values(expression),
        low,
        high,
        recall_width=wide[0],
        fpr_width=wide[1],
        shares=tuple(shares),
        confidence=confidence,
    )


def _depends_on_share(expression: Expression) -> bool:
    """Return whether a metric changes with the share of positives at fixed rates."""
    tpr, fpr = np.array([0.7, 0.7]), np.array([0.2, 0.2])
    pos, neg = np.array([100.0, 300.0]), np.array([900.0, 700.0])
    cells = {"tp": tpr * pos, "fp": fpr * neg, "fn": (1 - tpr) * pos, "tn": (1 - fpr) * neg}
    one, other = np.asarray(expression.evaluate(**cells), dtype=np.float64).tolist()
    return not math.isclose(one, other, rel_tol=1e-9)

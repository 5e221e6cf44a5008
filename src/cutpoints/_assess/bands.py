"""Bands that hold at all thresholds at once, and so at the one that was chosen.

The Dvoretzky-Kiefer-Wolfowitz inequality (with Massart's constant) bounds how far the share of
positives above a threshold may lie from the truth, at every threshold together; the same for the
negatives. A metric is then bounded by its corners over these two ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints.metrics.expression import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts
    from cutpoints.metrics.expression import Expression


@dataclass(frozen=True)
class Band:
    """The values that are possible at each threshold, all at once with this confidence.

    Attributes
    ----------
    thresholds, value, low, high : ndarray
        At every cut, thresholds descending: the metric on the rows, and its band.
    recall_width, fpr_width : float
        Half the width of the bands of the two rates that it comes from.
    confidence : float
        The probability that both rates are inside everywhere.
    """

    thresholds: NDArray[np.float64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    recall_width: float
    fpr_width: float
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

    The share of positives is taken as it is in the rows. Costs a pass over the cuts.
    """
    positives, negatives = cuts.summary.sizes
    if 0 in (positives, negatives):
        return None
    wide = half_width(int(positives), confidence), half_width(int(negatives), confidence)
    tp, fp = cuts.floats["tp"], cuts.floats["fp"]
    box = Box(
        np.maximum(tp - wide[0] * positives, 0.0),
        np.minimum(tp + wide[0] * positives, positives),
        np.maximum(fp - wide[1] * negatives, 0.0),
        np.minimum(fp + wide[1] * negatives, negatives),
        positives,
        negatives,
    )
    with np.errstate(all="ignore"):
        found = expression.bounds(box)
    if found is None:
        return None
    return Band(
        cuts.thresholds.astype(np.float64),
        cuts.values(expression),
        *found,
        recall_width=wide[0],
        fpr_width=wide[1],
        confidence=confidence,
    )

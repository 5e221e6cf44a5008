"""What is drawn beside the cuts: the scores of each class, reliability, the area under the ROC curve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._curve.areas import twice_area
from cutpoints._evaluate.intervals import proportion_interval
from cutpoints._kernel.masses import Masses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._report.cuts import Gathered

BINS = 40
RELIABILITY_BINS = 10


def histogram(gathered: Gathered) -> dict[str, Any]:
    """Return how many of each class have finite scores in bins of equal width.

    Exact where all cuts are known. Otherwise each bucket is counted where its lower end lies:
    `width` says how wide buckets are, and so how far a row may be from its bin.
    """
    places, pos, neg = _buckets(gathered)
    finite = np.isfinite(places)
    places, pos, neg = places[finite], pos[finite], neg[finite]
    low, high = (float(places[0]), float(places[-1])) if len(places) else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    bins = min(BINS, max(2, len(places)))
    edges = np.linspace(low / 2, high / 2, bins + 1) * 2  # halved: the whole range may be no float
    index = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, bins - 1)
    whole = _whole(gathered)
    return {
        "edges": [float(edge) for edge in edges],
        "positives": [whole(x) for x in np.bincount(index, weights=pos, minlength=bins)],
        "negatives": [whole(x) for x in np.bincount(index, weights=neg, minlength=bins)],
        "width": 0.0 if gathered.complete else _width(gathered),
    }


def reliability(gathered: Gathered, *, weighted: bool) -> list[dict[str, Any]] | None:
    """Return predicted against observed shares in ten bins of equal width; None unless probabilities.

    The mean prediction of a bucket is known to within half its width; exact where all cuts are known.
    """
    if not probabilities(gathered):
        return None
    places, pos, neg = _buckets(gathered)
    if not gathered.complete:
        places = np.clip(places + _width(gathered) / 2, 0.0, 1.0)
    # As `calibration.reliability_curve` does: a score on an edge belongs to the bin below it.
    index = np.searchsorted(np.linspace(0.0, 1.0, RELIABILITY_BINS + 1)[1:-1], places)
    positives, mass, moment = (
        np.bincount(index, weights=weights, minlength=RELIABILITY_BINS)
        for weights in (pos, pos + neg, (pos + neg) * places)
    )
    whole = _whole(gathered)
    found = []
    for i in np.flatnonzero(mass > 0):
        span = None if weighted else proportion_interval(round(positives[i]), round(mass[i]))
        found.append(
            {
                "predicted": float(moment[i] / mass[i]),
                "observed": float(positives[i] / mass[i]),
                "low": None if span is None else span.low,
                "high": None if span is None else span.high,
                "count": whole(mass[i]),
            }
        )
    return found


def area(gathered: Gathered) -> dict[str, Any]:
    """Return the area under the ROC curve, and how far it can be off: not at all if all cuts are known."""
    summary = gathered.summary
    pairs = summary.positives * summary.negatives
    if not pairs:
        return {"value": None, "error": None}
    _, pos, neg = _buckets(gathered)
    positives, negatives = summary.sizes
    tied = float(np.sum((pos / positives) * (neg / negatives)))
    return {
        "value": twice_area(gathered.edges) / (2 * pairs),
        "error": 0.0 if gathered.complete else tied / 2,
    }


def probabilities(gathered: Gathered) -> bool:
    """Whether all scores lie in [0, 1]."""
    return 0 <= gathered.summary.low <= gathered.summary.high <= 1


def _width(gathered: Gathered) -> float:
    """Return how wide buckets usually are."""
    finite = gathered.edges.thresholds[np.isfinite(gathered.edges.thresholds)]
    return float(np.median(-np.diff(finite))) if len(finite) > 1 else 0.0


def _buckets(gathered: Gathered) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower ends of the buckets (or the distinct scores), ascending, and their masses."""
    edges = gathered.edges
    nobody = int(gathered.summary.high != math.inf)

    def steps(masses: Masses) -> NDArray[np.float64]:
        limbs = np.diff(masses.limbs, axis=1, prepend=np.zeros((len(masses.limbs), 1), np.int64))
        return Masses(limbs, masses.unit).carried().floats()[nobody:][::-1]

    return edges.thresholds[nobody:][::-1].astype(np.float64), steps(edges.tp), steps(edges.fp)


def _whole(gathered: Gathered) -> Any:
    """Return how to write a mass: as a whole number where all are."""
    unit = gathered.summary.unit
    return (lambda x: round(float(x))) if unit.limbs == 1 and unit.exponent == 0 else float

"""The hull over all models, and who owns which part of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._curve import Table
from cutpoints._curve.hull import chain, sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cutpoints._curve import Curve


@dataclass(frozen=True)
class JointHull:
    """The upper hull of the ROC curves of several models on the same rows.

    Attributes
    ----------
    models : list of tuple of str
        Which models have a threshold at each vertex.
    thresholds : list of tuple of float
        And at which thresholds.
    fpr, tpr : ndarray
    low, high : ndarray
        Each vertex is best while a false alarm costs between `low` and `high` misses.
    area : float
    """

    models: list[tuple[str, ...]]
    thresholds: list[tuple[float, ...]]
    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    area: float

    def table(self) -> Table:
        """Return one row per vertex, with a sentence that says for which costs to use it."""
        names = [" = ".join(owners) for owners in self.models]
        return Table(
            {
                "model": np.array(names),
                "threshold": np.array([t[0] for t in self.thresholds]),
                "fpr": self.fpr,
                "tpr": self.tpr,
                "low": self.low,
                "high": self.high,
                "use": np.array(
                    [
                        sentence(t[0], low, high).replace("use ", f"use {name} at ", 1)
                        for name, t, low, high in zip(
                            names, self.thresholds, self.low, self.high, strict=True
                        )
                    ]
                ),
            }
        )


def joint_hull(curves: Mapping[str, Curve]) -> JointHull:
    """Return the hull over all models; exact, from the vertices of each."""
    # Models may count in different units (weights); fractions are common to all.
    owners: dict[tuple[Fraction, Fraction], list[tuple[str, float]]] = {}
    for name, curve in curves.items():
        hull = curve.hull()
        for point, threshold in zip(hull.masses(), hull.thresholds, strict=True):
            owners.setdefault(point, []).append((name, float(threshold)))
    points = sorted(owners)
    # Ascending in FP; of equal FP only the highest TP can be on the upper hull.
    kept = [points[i] for i in chain(points)]
    negatives, positives = kept[-1][0], max(tp for _, tp in kept)
    turns: list[Fraction | float] = [float("inf")]
    for (f0, t0), (f1, t1) in pairwise(kept):
        turns.append(float("inf") if f1 == f0 else (t1 - t0) / (f1 - f0))
    turns.append(Fraction(0))
    twice = sum(((t0 + t1) * (f1 - f0) for (f0, t0), (f1, t1) in pairwise(kept)), Fraction(0))
    return JointHull(
        [tuple(name for name, _ in owners[p]) for p in kept],
        [tuple(t for _, t in owners[p]) for p in kept],
        np.array([float(fp / negatives) for fp, _ in kept]),
        np.array([float(tp / positives) for _, tp in kept]),
        np.array([float(x) for x in turns[1:]]),
        np.array([float(x) for x in turns[:-1]]),
        float(twice / (2 * positives * negatives)),
    )

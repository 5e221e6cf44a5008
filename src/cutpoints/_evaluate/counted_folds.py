"""Cross-validation from counts alone: what to expect on new data where the rows are gone.

Rows in one bucket of scores are alike, so dealing the counts of the buckets out to folds is dealing out
the rows. That is all a policy needs: it keeps the counts, and the rows may be on a cluster.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal

FOLDS = 5
REPEATS = 10
"""How often the counts are dealt out anew: the mean depends little on the draw."""


def value_on_new_data(
    goal: Goal, positives: NDArray[np.int64], negatives: NDArray[np.int64], rng: np.random.Generator
) -> float:
    """Return the cross-validated value of choosing an edge between buckets; NaN if it cannot be said."""
    cells = cells_on_new_data(goal, positives, negatives, rng)
    return math.nan if cells is None else goal.expression.rounded(**cells)


def cells_on_new_data(
    goal: Goal,
    positives: NDArray[np.int64],
    negatives: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    repeats: int = REPEATS,
) -> dict[str, Fraction] | None:
    """Return the cross-validated confusion of choosing an edge between buckets; None if it cannot be said.

    Parameters
    ----------
    goal : Goal
        What is best.
    positives, negatives : ndarray of int
        The rows in each bucket, buckets by descending score.
    rng : Generator
        Deals the rows out to folds.

    Notes
    -----
    Each fold is judged at the best edge of the others, counts are pooled over the folds and over the
    repeats, and totals such as costs are for as many rows as there are.
    """
    if min(positives.sum(), negatives.sum()) < FOLDS:
        return None
    chosen = goal.for_share(Fraction(FOLDS - 1, FOLDS))
    pooled = np.zeros(4, dtype=np.int64)
    for _ in range(repeats):
        dealt = [_dealt(side, rng) for side in (positives, negatives)]
        for pos, neg in zip(*dealt, strict=True):
            best = _best(chosen, positives - pos, negatives - neg)
            if best is not None:
                tp, fp = int(pos[:best].sum()), int(neg[:best].sum())
                pooled += [tp, fp, pos.sum() - tp, neg.sum() - fp]
    judged = int(pooled.sum())
    if not judged:
        return None
    rows = int(positives.sum() + negatives.sum())
    scale = Fraction(rows, judged)
    return {name: scale * int(cell) for name, cell in zip(("tp", "fp", "fn", "tn"), pooled, strict=True)}


def _dealt(counts: NDArray[np.int64], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Deal rows out to folds of equal size, up to one."""
    left, folds = counts.copy(), []
    for k in range(FOLDS, 1, -1):
        folds.append(rng.multivariate_hypergeometric(left, int(left.sum()) // k, method="marginals"))
        left = left - folds[-1]
    return [*folds, left]


def _best(goal: Goal, positives: NDArray[np.int64], negatives: NDArray[np.int64]) -> int | None:
    """Return how many buckets the best edge calls positive; floats are good enough for an estimate."""
    tp, fp = (np.concatenate([[0.0], np.cumsum(side)]) for side in (positives, negatives))
    cells = {"tp": tp, "fp": fp, "fn": tp[-1] - tp, "tn": fp[-1] - fp}
    with np.errstate(all="ignore"):
        values = goal.sign * np.asarray(goal.expression.evaluate(**cells), dtype=np.float64)
        usable = ~np.isnan(values)
        for one in goal.constraints:
            reached = np.asarray(one.expression.evaluate(**cells), dtype=np.float64)
            usable &= one.holds(reached - float(one.bound)) & ~np.isnan(reached)
    return int(np.argmax(np.where(usable, values, -np.inf))) if usable.any() else None

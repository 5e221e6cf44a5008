"""Cross-validation from counts alone: what to expect on new data where the rows are gone.

Rows in one bucket of scores are alike, so dealing the counts of the buckets out to folds is dealing out
the rows. That is all a policy needs: it keeps the counts, and the rows may be on a cluster.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cutpoints._kernel.weights import FixedPoint
from cutpoints._result import context_of
from cutpoints._search.folds import FOLDS
from cutpoints._search.run import FOLD_BUCKETS
from cutpoints._validate import generator
from cutpoints.exceptions import CutpointError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Rows
    from cutpoints._result import Solution

Counts: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64]]"
REPEATS = 10
"""How often the counts are dealt out anew: the mean depends little on the draw."""


def expected_value(solution: Solution) -> float | None:
    """Return the value of a solution to expect on new data; None where it cannot be said."""
    return _value(solution, expected_cells(solution))


def expected_cells(solution: Solution, repeats: int = REPEATS) -> dict[str, Fraction] | None:
    """Return the confusion of a solution to expect on new data; None where it cannot be said."""
    wanted, context = _countable(solution), context_of(solution)
    if wanted is None or context is None:
        return None
    # Without the threshold itself: all rows chose it, and no fold may know it.
    summary, above = context.summary, context.by_class
    sides = ((above.pos, summary.positives), (above.neg, summary.negatives))
    positives, negatives = (np.diff(np.append(side[::-1], total), prepend=0) for side, total in sides)
    rng = generator(0, above.edges, positives, negatives)
    return cells_on_new_data(wanted, positives, negatives, rng, repeats=repeats)


def expected_values(
    solution: Solution, own: Rows, every: Rows, repeats: int = REPEATS
) -> tuple[float | None, float | None]:
    """Return the values to expect in a segment: at a threshold of its own, and at one for all rows.

    Each fold of the segment is judged twice, by the best threshold of its other folds, and by the best one
    of all other rows; `every` has the rows of all segments. Buckets are fine where the class is that has
    fewer rows.
    """
    wanted = _countable(solution)
    if wanted is None:
        return None, None
    share = np.cumsum(own.pos[::-1] / max(own.pos.sum(), 1) + own.neg[::-1] / max(own.neg.sum(), 1))
    places = np.searchsorted(share, np.arange(1, FOLD_BUCKETS + 1) * (share[-1] / FOLD_BUCKETS))
    edges = own.scores[::-1][np.unique(np.minimum(places, len(share) - 1))]
    (positives, negatives), both = (_at_edges(rows, edges) for rows in (own, every))
    rng = generator(0, edges, positives, negatives)
    own_cells, common = _cells(wanted, (positives, negatives), rng, repeats, [(positives, negatives), both])
    return _value(solution, own_cells), _value(solution, common)


def _at_edges(rows: Rows, edges: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count rows between descending edges; the last bucket has all that are lower."""
    until = len(rows.scores) - np.searchsorted(rows.scores, edges)
    above = (np.append(0, np.cumsum(side[::-1])) for side in (rows.pos, rows.neg))
    positives, negatives = (np.diff(np.append(sums[until], sums[-1]), prepend=0) for sums in above)
    return positives, negatives


def _countable(solution: Solution) -> Goal | None:
    """Return the goal, if the counts of rows tell its value."""
    context = context_of(solution)
    if context is None or context.summary.grid != FixedPoint():  # weights are no numbers of rows
        return None
    if solution.guarantee is not None:  # folds would choose without it, and far better values
        return None
    try:
        wanted = solution.goal()
    except CutpointError:  # a function of the user's
        return None
    return None if wanted.columns else wanted


def _value(solution: Solution, cells: dict[str, Fraction] | None) -> float | None:
    value = math.nan if cells is None else solution.goal().expression.rounded(**cells)
    return None if math.isnan(value) else value


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
    counts = positives, negatives
    return _cells(goal, counts, rng, repeats, [counts])[0]


def _cells(
    goal: Goal, counts: Counts, rng: np.random.Generator, repeats: int, chosen_on: list[Counts]
) -> list[dict[str, Fraction] | None]:
    """Return the confusion for each way to choose: on these counts, without the fold that is judged."""
    if min(side.sum() for side in counts) < FOLDS:
        return [None] * len(chosen_on)
    rows = int(sum(side.sum() for side in counts))
    totals = [int(sum(side.sum() for side in sides)) for sides in chosen_on]
    goals = [goal.for_share(1 - Fraction(rows, FOLDS * total)) for total in totals]
    pooled = np.zeros((len(chosen_on), 4), dtype=np.int64)
    for _ in range(repeats):
        dealt = [_dealt(side, rng) for side in counts]
        for pos, neg in zip(*dealt, strict=True):
            for cells, wanted, (positives, negatives) in zip(pooled, goals, chosen_on, strict=True):
                best = _best(wanted, positives - pos, negatives - neg)
                if best is not None:
                    tp, fp = int(pos[:best].sum()), int(neg[:best].sum())
                    cells += [tp, fp, pos.sum() - tp, neg.sum() - fp]
    return [_scaled(cells, rows) for cells in pooled]


def _scaled(pooled: NDArray[np.int64], rows: int) -> dict[str, Fraction] | None:
    """Scale pooled counts to as many rows as there are."""
    judged = int(pooled.sum())
    if not judged:
        return None
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

"""Cost space: what the decisions cost as the costs, or the prevalence, move."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._equality import compared_by_value
from cutpoints._format import count
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._curve.hull import Hull
    from cutpoints._curve.shapes import Array
    from cutpoints._kernel.cuts import Cuts
    from cutpoints.metrics.expression import Expression


@compared_by_value
class CostCurve(NamedTuple):
    """Drummond and Holte's cost curve: the lower envelope of one line per threshold.

    Attributes
    ----------
    probability_cost : ndarray
        PC(+), from 0 to 1: prevalence times the cost of a miss, over itself plus the odds of a
        negative times the cost of a false alarm. One point where the best threshold changes.
    expected_cost : ndarray
        The normalized expected cost of the best threshold there: FNR PC + FPR (1 - PC).
    thresholds : ndarray
        The best threshold between one point and the next; one fewer than points.
    trivial : ndarray
        The cost of the better of "all positive" and "no positives": min(PC, 1 - PC).
    area : float
        Under the envelope: the expected cost if every PC is equally likely.
    lines : tuple of ndarray
        FPR and FNR of each vertex of the hull: its line runs from (0, FPR) to (1, FNR).
    """

    probability_cost: Array
    expected_cost: Array
    thresholds: Array
    trivial: Array
    area: float
    lines: tuple[Array, Array]


@compared_by_value
class BrierCurve(NamedTuple):
    """The loss if the score itself is used as the threshold for its cost proportion.

    Attributes
    ----------
    cost_proportion : ndarray
        c = c_fp / (c_fp + c_fn) from 0 to 1; twice where the loss jumps, at each distinct score.
    loss : ndarray
        2 (c FP + (1 - c) FN) / n for "positive iff score >= c".
    best : ndarray
        The same at the best threshold for each c: what perfect calibration would reach.
    area : float
        Under `loss`: the Brier score.
    best_area : float
        Under `best`: the refinement loss. The difference of the areas is the calibration loss.
    """

    cost_proportion: Array
    loss: Array
    best: Array
    area: float
    best_area: float


@compared_by_value
class DecisionCurve(NamedTuple):
    """Decision-curve analysis: net benefit against the probability at which one acts.

    Attributes
    ----------
    probability : ndarray
        Threshold probabilities: act iff score >= probability.
    net_benefit, treat_all, treat_none : ndarray
        TP/n - FP/n p/(1 - p), of the scores, of acting on everybody, of acting on nobody (0).
    standardized : ndarray
        Net benefit over prevalence: 1 is perfect.
    interventions_avoided : ndarray
        Per 100 rows, against acting on everybody, with no more positives left untreated.
    best : ndarray
        The net benefit of the best cut at each probability: what perfect calibration would reach.
    prevalence : float
    """

    probability: Array
    net_benefit: Array
    treat_all: Array
    treat_none: Array
    standardized: Array
    interventions_avoided: Array
    best: Array
    prevalence: float


@compared_by_value
class ProfitCurve(NamedTuple):
    """Profit (or cost) against the share of rows called positive, best scores first."""

    share: Array
    profit: Array
    thresholds: Array


def cost_curve(hull: Hull) -> CostCurve:
    """Return the envelope; breakpoints are quotients of integers, rounded once."""
    summary = hull._cuts.summary  # noqa: SLF001 - the same room
    points = [(Fraction(f, summary.negatives), Fraction(t, summary.positives)) for f, t in hull.points]
    # Lines of vertices on a common vertical or horizontal edge meet at PC = 1 or 0: no stretch.
    turns = [(f1 - f0) / ((f1 - f0) + (t1 - t0)) for (f0, t0), (f1, t1) in pairwise(points)]
    ends = [Fraction(0), *turns, Fraction(1)]
    # "Nobody" costs PC: it is best at small PC. Vertices follow with growing PC.
    kept = [i for i in range(len(points)) if ends[i] < ends[i + 1]]
    x = [ends[kept[0]], *(ends[i + 1] for i in kept)]
    y = [(1 - points[kept[0]][1]) * x[0] + points[kept[0]][0] * (1 - x[0])]
    y += [(1 - points[i][1]) * ends[i + 1] + points[i][0] * (1 - ends[i + 1]) for i in kept]
    area = sum((b - a) * (c + d) / 2 for a, b, c, d in zip(x, x[1:], y, y[1:], strict=False))
    pc = np.array([float(a) for a in x])
    return CostCurve(
        pc,
        np.array([float(b) for b in y]),
        hull.thresholds[kept],
        np.minimum(pc, 1 - pc),
        float(area),
        (hull.fpr, 1 - hull.tpr),
    )


def brier_curve(cuts: Cuts, envelope: CostCurve | None) -> BrierCurve:
    """Return the Brier curve; scores must be probabilities."""
    need_probabilities(cuts, "brier_curve")
    total = float(sum(cuts.summary.totals))
    # From c just above one score up to the next, "score >= c" makes the decisions of one cut.
    edges = np.concatenate([[0.0], cuts.below[:-1][::-1].astype(np.float64), [1.0]])
    start = int(cuts.thresholds[0] != np.inf)  # with no "no positives", nothing lies above the top score
    fp, fn = (cuts.floats[name][::-1] for name in ("fp", "fn"))
    low, high = edges[: len(fp)], edges[1 : len(fp) + 1 - start] if start else edges[1 : len(fp) + 1]
    c = np.stack([low, high], axis=1)
    loss = 2 * (c * fp[:, None] + (1 - c) * fn[:, None]) / total
    positives, negatives = (float(side) / total for side in cuts.summary.totals)
    c, loss = c.ravel(), loss.ravel()
    if envelope is None:  # one class: the best is to call everybody by it, for nothing
        best = np.zeros_like(c)
        best_area = 0.0
    else:
        turns = _turns(envelope, positives, negatives)
        best_area = float(np.trapezoid(_best_loss(turns, envelope, positives, negatives), turns))
        # The best loss bends where the best threshold changes: these points belong to the curve.
        extra = turns[~np.isin(turns, c)]
        place = np.searchsorted(c, extra)
        c, loss = np.insert(c, place, extra), np.insert(loss, place, np.interp(extra, c, loss))
        best = _best_loss(c, envelope, positives, negatives)
    return BrierCurve(c, loss, best, float(np.trapezoid(loss, c)), best_area)


def _best_loss(c: Array, envelope: CostCurve, positives: float, negatives: float) -> Array:
    """Return twice the least (c FP + (1 - c) FN) / n; PC is a fractional function of c."""
    weight = (1 - c) * positives + c * negatives
    with np.errstate(all="ignore"):
        pc = np.where(weight > 0, (1 - c) * positives / weight, 0.0)
    return 2 * weight * np.interp(pc, envelope.probability_cost, envelope.expected_cost)


def _turns(envelope: CostCurve, positives: float, negatives: float) -> Array:
    """Return the cost proportions at which the best threshold changes, ascending."""
    pc = envelope.probability_cost[::-1]
    return positives * (1 - pc) / (positives * (1 - pc) + negatives * pc)


def decision_curve(cuts: Cuts, probability: Any, hull: Hull | None) -> DecisionCurve:
    """Return net benefit over threshold probabilities; scores must be probabilities."""
    need_probabilities(cuts, "decision_curve")
    try:
        # Quotients, not steps: ten of `linspace(0, 0.99, 100)` lie above the decimal that a score has.
        p = np.arange(100) / 100 if probability is None else np.asarray(probability, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.full(1, np.nan)  # which is no probability either
    if p.ndim != 1 or not ((p >= 0) & (p < 1)).all():
        raise InvalidParameterError(
            "probability", got=probability, expected="probabilities in [0, 1)", caller="decision_curve"
        )
    index = index_at(cuts, p)
    total = float(sum(cuts.summary.totals))
    positives, negatives = (float(side) / total for side in cuts.summary.totals)
    odds = p / (1 - p)
    tp, fp = (cuts.floats[name][index] / total for name in ("tp", "fp"))
    benefit = tp - fp * odds
    everybody = positives - negatives * odds
    best = np.maximum(everybody, 0.0)
    if hull is not None:
        # At each probability the best cut is a vertex of the hull.
        table = hull.tpr[:, None] * positives - hull.fpr[:, None] * negatives * odds
        best = np.maximum(best, table.max(axis=0))
    with np.errstate(all="ignore"):
        avoided = 100 * np.where(odds > 0, (benefit - everybody) / odds, np.nan)
        standardized = benefit / positives if positives else np.full_like(p, np.nan)
    return DecisionCurve(p, benefit, everybody, np.zeros_like(p), standardized, avoided, best, positives)


def profit_curve(cuts: Cuts, profit: Expression) -> ProfitCurve:
    """Return an amount at every cut against the share called positive."""
    total = float(sum(cuts.summary.totals))
    share = (cuts.floats["tp"] + cuts.floats["fp"]) / total
    return ProfitCurve(share, cuts.values(profit), cuts.thresholds.astype(np.float64))


def index_at(cuts: Cuts, thresholds: Any) -> Any:
    """Return which cut each threshold makes: the last whose own threshold is not below it."""
    # Descending thresholds: count from the other end.
    ascending = cuts.thresholds[::-1]
    index = len(ascending) - 1 - np.searchsorted(ascending, thresholds, side="left")
    return np.maximum(index, 0)


def need_probabilities(cuts: Cuts, what: str) -> None:
    """Raise unless all scores are in [0, 1]."""
    summary = cuts.summary
    if summary.low < 0 or summary.high > 1:
        raise InvalidInputError(
            f"The scores must be probabilities for {what}. "
            f"They range from {count(summary.low)} to {count(summary.high)}.",
            hint="calibrate the scores first, or use cost_curve, which takes any scores.",
        )

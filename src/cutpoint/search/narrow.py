"""Narrowing: the exact optimum without a sort.

Count the scores into a few thousand buckets. At the edges of the buckets the confusion is known,
and the best edge is a value that can be had. Inside a bucket TP and FP are known to within the
bucket's own masses, so the objective is at most its bound over that box. A bucket whose bound is
below the best edge, or in which a constraint cannot be met, is dropped unseen. Few rows are left:
they are looked at one by one, or, if they are still many, bucketed again.

Every bound is widened by the rounding error of the formula, so a dropped bucket can never hold
the optimum, nor a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutpoint.masses import Masses
from cutpoint.metrics._expression import SLACK, Box, Constraint
from cutpoint.questions import Histogram, Ranges, Source, Summary
from cutpoint.search._cuts import Cuts
from cutpoint.search.sweep import with_nobody

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoint.objective import Goal

ROUNDS = 8
TANGENT_SLACK = 2.0**12
"""How much more room for rounding the corner between two tangents gets: it is not a sum of rows."""
_SHARE_ROOM, _CORNER_ROOM = 2.0**-40, 2.0**-48


@dataclass(frozen=True)
class Narrowed:
    """The cuts that were left to look at, and what it took to get there."""

    cuts: Cuts
    rows_examined: int


@dataclass(frozen=True)
class _Frontier:
    """The ranges still open, ascending, and the masses of all rows above each range."""

    ranges: Ranges
    tp_above: Masses
    fp_above: Masses


@dataclass(frozen=True)
class _Table:
    """The buckets of one pass, scores descending, with the exact masses above each."""

    rows: NDArray[np.int64]
    tp_above: Masses
    fp_above: Masses
    pos: Masses
    neg: Masses
    histogram: Histogram


def narrow(source: Source, goal: Goal) -> Narrowed:
    """Return every cut that could be optimal, exactly; never drops the optimum or one of its ties.

    A few rounds on ordinary scores, at most `ROUNDS` on any; memory for the buckets and for the
    rows that are left.
    """
    summary = source.summary()
    floor = _value_of_nobody(summary, goal)
    frontier: _Frontier | None = None
    open_rows = summary.rows
    for _ in range(ROUNDS):
        table = _tabulate(source, frontier, summary)
        floor, keep = _prune(table, goal, summary, floor)
        # The next lower bucket comes along: the interval of a cut ends at the score below it.
        index = np.flatnonzero(keep)
        index = np.union1d(index, np.minimum(index + 1, len(keep) - 1))
        if len(index) == 0:
            return Narrowed(_nobody(summary), 0)
        frontier = _open(table, index)
        kept_rows = int(table.rows[keep].sum())
        if kept_rows <= source.few or _indivisible(table, keep):
            break
        if kept_rows > open_rows // 2 and kept_rows <= source.holds:
            break  # a count that halves nothing is dearer than to look at what is left
        open_rows = kept_rows
    assert frontier is not None
    return _look_closely(source, frontier, summary)


def _indivisible(table: _Table, keep: NDArray[np.bool_]) -> bool:
    """Whether each bucket that is left has one score only, however many rows: no count splits it."""
    low, high = table.histogram.span(len(keep) - 1 - np.flatnonzero(keep))
    return bool((low == high).all())


def _nobody(summary: Summary) -> Cuts:
    """Return "nobody positive" as the only cut, or no cut at all where a score of +inf forbids it."""
    empty = Masses(np.zeros((summary.unit.limbs, 0), np.int64), summary.unit)
    none = np.zeros(0, dtype=np.float64)
    return with_nobody(Cuts(summary, none, none, empty, empty))


def _value_of_nobody(summary: Summary, goal: Goal) -> float:
    """Return a value, in the goal's direction, that is certainly attained; -inf if none is known."""
    cut = _nobody(summary)
    if len(cut.thresholds) == 0:
        return -np.inf
    value = goal.sign * float(cut.values(goal.expression)[0])
    return -np.inf if np.isnan(value) or not cut.feasible(goal.constraints)[0] else value


def _tabulate(source: Source, frontier: _Frontier | None, summary: Summary) -> _Table:
    """Ask for a histogram of the open ranges and stack it on the masses above them."""
    histogram = source.histogram(None if frontier is None else frontier.ranges)
    down = slice(None, None, -1)
    pos, neg = histogram.pos[down], histogram.neg[down]
    if frontier is None:
        tp_above, fp_above = pos.before(), neg.before()
    else:
        every = np.arange(len(pos), dtype=np.intp)
        low = histogram.span(every).low[down]
        which = np.searchsorted(frontier.ranges.low, low, side="right") - 1
        tp_above = _stack(pos, which, frontier.tp_above)
        fp_above = _stack(neg, which, frontier.fp_above)
    return _Table(histogram.rows[down], tp_above, fp_above, pos, neg, histogram)


def _stack(masses: Masses, which: NDArray[np.intp], above: Masses) -> Masses:
    """Return the mass above each element: that above its range plus that before it in its range."""
    running = masses.before()
    first = np.flatnonzero(np.concatenate([[True], which[1:] != which[:-1]]))
    start = first[np.cumsum(np.concatenate([[False], which[1:] != which[:-1]]))]
    return running - running[start] + above[which]


def _prune(table: _Table, goal: Goal, summary: Summary, floor: float) -> tuple[float, NDArray[np.bool_]]:
    """Return the best value that is certainly attained, and which buckets could hold one as good."""
    tp_low, fp_low = table.tp_above, table.fp_above
    tp_high, fp_high = tp_low + table.pos, fp_low + table.neg
    positives, negatives = map(float, summary.totals)
    none = np.zeros(len(table.rows))
    starts, edges = Cuts(summary, none, none, tp_low, fp_low), Cuts(summary, none, none, tp_high, fp_high)
    box = Box(
        tp_low=starts.floats["tp"],
        tp_high=edges.floats["tp"],
        fp_low=starts.floats["fp"],
        fp_high=edges.floats["fp"],
        positives=positives,
        negatives=negatives,
        fn_low=edges.floats["fn"],
        fn_high=starts.floats["fn"],
        tn_low=edges.floats["tn"],
        tn_high=starts.floats["tn"],
    )
    with np.errstate(all="ignore"):
        values = goal.sign * edges.values(goal.expression)
        values[~_certain(edges, goal.constraints)] = np.nan
        values -= edges.rounding(goal.expression, values)
        if not np.isnan(values).all():
            floor = max(floor, float(np.nanmax(values)))
        bounds = goal.expression.bounds(box)
        assert bounds is not None
        upper = bounds[1] if goal.sign > 0 else -bounds[0]
        keep = ~(upper < floor)
        if table.histogram.shares:
            upper = _between_tangents(table, box, goal, summary)
            size = np.maximum(np.abs(upper), goal.expression.magnitude(positives, negatives))
            keep &= ~(upper + TANGENT_SLACK * SLACK * size < floor)
        for constraint in goal.constraints:
            keep &= _possible(constraint, box)
    return floor, keep


def _between_tangents(table: _Table, box: Box, goal: Goal, summary: Summary) -> NDArray[np.float64]:
    """Return what no cut in a bucket exceeds, where scores are the shares of positives; inf if unknown.

    From its upper to its lower edge the curve of TP against FP is concave, and its slopes lie
    between the shares at the two ends: it runs inside the triangle of the edges and the corner at
    which their tangents meet. A quotient of linear functions is greatest at one of the three.
    """
    unknown = np.full(len(table.rows), np.inf)
    form = goal.expression.linear_fractional(*summary.totals)
    if form is None or goal.expression.magnitude(box.positives, box.negatives) == 0:
        return unknown
    (a0, a1, a2), (b0, b1, b2) = (tuple(map(float, side)) for side in form)
    if min(b0, b1, b2) < 0:  # a difference in the denominator would make rounding matter
        return unknown
    span = table.histogram.span(np.arange(len(table.rows), dtype=np.intp))
    low, high = (np.clip(end[::-1].astype(np.float64), summary.low, summary.high) for end in span)
    low, high = np.maximum(low - _SHARE_ROOM, 0.0), np.minimum(high + _SHARE_ROOM, 1.0)
    pos, both = table.pos.floats(), table.pos.floats() + table.neg.floats()
    # So much of the bucket at its highest share, the rest at its lowest, gives its masses. Both
    # tangents are drawn a little beyond where they meet: four corners enclose the triangle.
    room = _CORNER_ROOM * both / (high - low)
    steep = (pos - low * both) / (high - low) + room
    flat = (high * both - pos) / (high - low) + room
    corners = (
        (box.tp_low, box.fp_low),
        (box.tp_low + steep * high, box.fp_low + steep * (1.0 - high)),
        (box.tp_high - flat * low, box.fp_high - flat * (1.0 - low)),
        (box.tp_high, box.fp_high),
    )
    denominators = np.array([b0 + b1 * tp + b2 * fp for tp, fp in corners])
    values = np.array([goal.sign * (a0 + a1 * tp + a2 * fp) for tp, fp in corners]) / denominators
    fine = (denominators > 0).all(axis=0) & ~np.isnan(values).any(axis=0)
    return np.where(fine, values.max(axis=0), np.inf)


def _certain(edges: Cuts, constraints: tuple[Constraint, ...]) -> NDArray[np.bool_]:
    """Return where all constraints hold beyond any rounding; exactness is left to the last step."""
    mask = np.ones(len(edges.thresholds), dtype=np.bool_)
    for constraint in constraints:
        values = edges.values(constraint.expression)
        bound = float(constraint.bound)
        room = edges.rounding(constraint.expression, values) + SLACK * abs(bound)
        side = values - bound if constraint.wants_high else bound - values
        mask &= side > room if constraint.strict else side >= room
    return mask


def _possible(constraint: Constraint, box: Box) -> NDArray[np.bool_]:
    """Return in which boxes the constraint might be met somewhere."""
    bounds = constraint.expression.bounds(box)
    if bounds is None:
        return np.ones(len(box.tp_low), dtype=np.bool_)
    bound = float(constraint.bound)
    room = SLACK * abs(bound)
    return ~(bounds[1] < bound - room) if constraint.wants_high else ~(bounds[0] > bound + room)


def _open(table: _Table, index: NDArray[np.intp]) -> _Frontier:
    """Join the chosen buckets (positions from the top) into ranges, neighbours into one."""
    last = len(table.rows) - 1
    starts = index[np.concatenate([[True], np.diff(index) > 1])]
    ends = index[np.concatenate([np.diff(index) > 1, [True]])]
    # Positions count from the top here and from the bottom in the histogram.
    high = table.histogram.span(last - starts).high
    low = table.histogram.span(last - ends).low
    up = slice(None, None, -1)
    return _Frontier(Ranges(low[up], high[up]), table.tp_above[starts][up], table.fp_above[starts][up])


def _look_closely(source: Source, frontier: _Frontier, summary: Summary) -> Narrowed:
    """Turn every distinct score in the open ranges into a cut."""
    rows = source.rows(frontier.ranges)
    down = slice(None, None, -1)
    scores = rows.scores[down]
    which = np.searchsorted(frontier.ranges.low, scores, side="right") - 1
    pos, neg = rows.pos[down], rows.neg[down]
    tp = _stack(pos, which, frontier.tp_above) + pos
    fp = _stack(neg, which, frontier.fp_above) + neg
    # The last score of a range has its neighbour in a bucket that was dropped, unless it is the
    # lowest of all; it came along only as a neighbour and is no candidate itself.
    below = np.append(scores[1:], scores.dtype.type(-np.inf))
    lonely = np.append(which[1:] != which[:-1], scores[-1] != summary.low)
    keep = np.flatnonzero(~lonely)
    cuts = Cuts(summary, scores[keep], below[keep], tp[keep], fp[keep])
    return Narrowed(with_nobody(cuts), rows.rows)

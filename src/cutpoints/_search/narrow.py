"""Narrowing: the exact optimum without a sort.

Count the scores into a few thousand buckets. At the edges of the buckets the confusion is known,
and the best edge is a value that can be had. Inside a bucket TP and FP are known to within the
bucket's own sums, so the objective is at most its bound over that box. A bucket whose bound is
below the best edge, or in which a constraint cannot be met, is dropped unseen. Few rows are left:
they are looked at one by one, or, if they are still many, bucketed again.

Every bound is widened by the rounding error of the formula, so a dropped bucket can never hold
the optimum, nor a tie.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.cuts import Cuts, compare
from cutpoints._kernel.tables import Histogram, Ranges, Rows, Summary
from cutpoints._search.optimum import best_cut
from cutpoints._search.sweep import cuts_of, with_none
from cutpoints.metrics.columns import PartBox
from cutpoints.metrics.expression import SLACK, Box, Constraint

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import ColumnSums, Sums
    from cutpoints.metrics.columns import Column

MAX_PASSES = 8
"""Counts of one search at most, whatever the scores are: what is left then is compared row by row."""
IDLE_PASSES = 3
"""Stop re-binning after this many passes in a row that did not halve the rows that are left."""
TANGENT_SLACK = 2.0**12
"""How much more room for rounding the corner between two tangents gets: it is not a sum of rows."""
_SHARE_ROOM, _CORNER_ROOM = 2.0**-30, 2.0**-48
"""How far a score may lie from the share of positives, and how far beyond their corner tangents are drawn."""


@dataclass(frozen=True)
class Narrowed:
    """The cuts that were left to look at, and what it took to get there."""

    cuts: Cuts
    rows_examined: int
    histogram: Histogram | None = None
    """The first count, of all rows."""
    all_ties: bool = True
    """Whether all ties of the best cut are among the cuts; see `_ties_at_most`."""


@dataclass(frozen=True)
class _Frontier:
    """The ranges still open, ascending, and the sums of all rows above each range."""

    ranges: Ranges
    tp_above: Sums
    fp_above: Sums
    columns_above: ColumnSums


@dataclass(frozen=True)
class Table:
    """The buckets of one pass, scores descending, with the exact sums above each."""

    rows: NDArray[np.int64]
    tp_above: Sums
    fp_above: Sums
    pos: Sums
    neg: Sums
    histogram: Histogram
    which: NDArray[np.intp]
    """The range, of those that were asked about, that each bucket lies in."""
    columns: ColumnSums = ()
    columns_above: ColumnSums = ()

    def below(self, summary: Summary) -> Cuts:
        """Return the cuts at the lower edges of the buckets."""
        unnamed = np.zeros(len(self.rows))
        both = zip(self.columns_above, self.columns, strict=True)
        columns = tuple(above + here for above, here in both)
        return Cuts(summary, unnamed, unnamed, self.tp_above + self.pos, self.fp_above + self.neg, columns)


@dataclass(frozen=True)
class Question:
    """What a search wants to know next: a count of these ranges (all: None), or the rows in them."""

    ranges: Ranges | None
    kept: int
    """Rows that could still hold the optimum; a bucket with a single score counts as one row.

    Outside memory a bucket counts as at most the number of floats between its ends."""
    inside: int
    """Rows in the ranges: those, and their lower neighbors."""
    stuck: bool
    """Whether the last count did not halve the rows that are left."""
    whole: bool
    """Whether a count can split nothing any more: each range that is left has one score only."""


def narrow(source: Source, goal: Goal) -> Narrowed:
    """Return every cut that could be optimal, exactly; never drops the optimum.

    Nor one of its ties, unless they are more than the source can hand over. A few rounds on ordinary
    scores, at most `MAX_PASSES` on any; memory for the buckets and for the rows that are left.
    """
    # For queries of an engine every further range costs time; other sources have no limit.
    most_ranges = getattr(source, "most_ranges", None)
    return narrow_by(source, narrowing(source.summary(), goal, source.rows_limit, most_ranges))


def narrow_by(source: Source, asking: Generator[Question, Histogram | Rows, Narrowed]) -> Narrowed:
    """Answer the questions of a search by a source, until it is narrow enough."""
    question = next(asking)
    rounds = idle = 0
    while True:
        # Stop re-binning when a pass no longer halves the survivors. If nearly every cut is as good as the
        # best, no count helps, and the source must return all rows, or refuse.
        enough = question.whole or question.kept <= source.direct_rows or rounds == MAX_PASSES
        enough |= question.stuck and (question.kept <= source.rows_limit or idle >= IDLE_PASSES)
        rounds += 1
        answer: Histogram | Rows
        if question.ranges is None or not enough:
            answer = source.histogram(question.ranges)
        else:
            answer = source.rows(question.ranges)
        try:
            question = asking.send(answer)
        except StopIteration as end:
            narrowed: Narrowed = end.value
            return narrowed
        idle = idle + 1 if question.stuck else 0


def narrowing(
    summary: Summary, goal: Goal, holds: float = np.inf, most_ranges: int | None = None
) -> Generator[Question, Histogram | Rows, Narrowed]:
    """Ask questions until every cut that could be optimal is known.

    Yields questions. The first, about all rows, must be answered by a histogram; each later one by
    a histogram, after which it asks again about fewer rows, or by the rows, which ends it. The
    caller decides which, so that many searches can share their passes over the data.
    """
    floor = value_of_none(summary, goal)

    def promising(table: Table, most: float) -> tuple[NDArray[np.bool_], bool]:
        nonlocal floor
        floor, keep, _ = prune(table, goal, summary, floor)
        if int(table.rows[keep].sum()) <= most:
            return keep, True
        ties = keep & _ties_at_most(table, goal, summary)
        return keep & ~ties, not ties.any()

    return (yield from narrowing_by(promising, summary, holds, most_ranges))


def narrowing_by(
    promising: Callable[[Table, float], tuple[NDArray[np.bool_], bool]],
    summary: Summary,
    holds: float = np.inf,
    most_ranges: int | None = None,
) -> Generator[Question, Histogram | Rows, Narrowed]:
    """Ask, and be told, about the buckets that are promising; see `narrowing`.

    `promising` returns which buckets of a table could hold a cut that is looked for. If they have more rows
    than its second argument it may leave out ties of what it has found, and then returns False beside them.
    """
    frontier: _Frontier | None = None
    first: Histogram | None = None
    all_ties = True
    question = Question(None, summary.rows, summary.rows, stuck=False, whole=False)
    while True:
        answer = yield question
        if isinstance(answer, Rows):
            assert frontier is not None
            return replace(_look_closely(answer, frontier, summary), histogram=first, all_ties=all_ties)
        first = first or answer
        table = tabulate(answer, frontier)
        keep, complete = promising(table, max(holds, question.kept // 2))
        all_ties = all_ties and complete
        if frontier is None and holds >= summary.rows and keep.all():
            # Whatever can be held is looked at where nothing was dropped: no need to know where buckets end.
            frontier = _everything(summary, answer)
            question = Question(frontier.ranges, summary.rows, summary.rows, stuck=True, whole=False)
            continue
        # The next lower bucket is included: the interval of a cut ends at the score below it.
        index = np.flatnonzero(keep)
        index = np.union1d(index, np.minimum(index + 1, len(keep) - 1))
        if len(index) == 0:
            return Narrowed(_no_positives(summary), 0, first)
        span = table.histogram.span(len(keep) - 1 - index)  # positions count from the bottom there
        frontier = _open(table, index, span, most_ranges or len(index))
        scores = _scores_at_most(Ranges(*(end[keep[index]] for end in span)))
        single = scores == 1
        # In memory the rows count; other sources return distinct scores.
        rows = table.rows[keep] if holds >= summary.rows else np.minimum(table.rows[keep], scores)
        kept = int(rows[~single].sum()) + int(np.count_nonzero(single))
        inside = int(table.rows[index].sum())
        stuck, whole = kept > question.kept // 2, bool(single.all())
        question = Question(frontier.ranges, kept, inside, stuck=stuck, whole=whole)


def _ties_at_most(table: Table, goal: Goal, summary: Summary) -> NDArray[np.bool_]:
    """Return which bins below the best edge can hold ties of it and nothing better.

    Maximizing recall alone makes every cut below the lowest positive as good as any other. On data
    beyond memory these ties must not be fetched. The chosen cut, the highest of its value, is not in
    such a bin, so the bin can be left out if the answer says that ties were.
    """
    moves = goal.expression.monotonicity
    edges = table.below(summary)
    best = best_cut(edges, goal, _certain(edges, goal.constraints))
    if moves is None or best is None or not goal.expression.exact:
        return np.zeros(len(table.rows), dtype=np.bool_)
    tp = edges.tp if goal.sign * moves.tp > 0 else table.tp_above
    fp = edges.fp if goal.sign * moves.fp > 0 else table.fp_above
    corner = Cuts(summary, edges.thresholds, edges.below, tp, fp)
    above, under = corner.order_key(goal.expression, np.arange(len(table.rows)))
    (top,), (bottom,) = edges.order_key(goal.expression, np.array([best.best]))
    signs = goal.sign * compare((above, under), (top, bottom))
    defined = ~np.isnan(corner.values(goal.expression))
    return (signs <= 0) & defined & (np.arange(len(table.rows)) > best.best)


def _scores_at_most(span: Ranges) -> NDArray[np.float64]:
    """Return how many scores buckets between these ends can have; one that has one is not split."""
    low, high = span
    with np.errstate(all="ignore"):
        step = np.spacing(np.minimum(np.abs(low), np.abs(high))).astype(np.float64)
        floats = 1.0 + (high.astype(np.float64) - low) / step
    unknown = (np.sign(low) != np.sign(high)) | ~np.isfinite(floats)
    return np.where(low == high, 1.0, np.where(unknown, np.inf, floats))


def _everything(summary: Summary, first: Histogram) -> _Frontier:
    """Return the one range that has all rows."""
    low, high = first.span(np.array([0, len(first.rows) - 1]))
    nothing = np.zeros(1, dtype=np.int64)
    columns = (nothing,) * len(first.columns)
    return _Frontier(Ranges(low[:1], high[1:]), nothing, nothing, columns)


def _no_positives(summary: Summary) -> Cuts:
    """Return "no positives" as the only cut, or no cut at all where a score of +inf forbids it."""
    empty, none = np.zeros(0, dtype=np.int64), np.zeros(0)
    return with_none(Cuts(summary, none, none, empty, empty, (empty,) * (2 * len(summary.columns))))


def value_of_none(summary: Summary, goal: Goal) -> float:
    """Return a value, in the goal's direction, that is certainly attained; -inf if none is known."""
    cut = _no_positives(summary)
    if len(cut.thresholds) == 0:
        return -np.inf
    value = goal.sign * float(cut.values(goal.expression)[0])
    return -np.inf if np.isnan(value) or not cut.feasible(goal.constraints)[0] else value


def tabulate(histogram: Histogram, frontier: _Frontier | None) -> Table:
    """Stack a histogram of the open ranges on the sums above them."""
    down = slice(None, None, -1)
    pos, neg, *columns = (side[down] for side in (histogram.pos, histogram.neg, *histogram.columns))
    if frontier is None:
        tp_above, fp_above, *above = (np.cumsum(side) - side for side in (pos, neg, *columns))
        which = np.zeros(len(pos), dtype=np.intp)
    else:
        every = np.arange(len(pos), dtype=np.intp)
        low = histogram.span(every).low[down]
        which = np.searchsorted(frontier.ranges.low, low, side="right") - 1
        over = frontier.tp_above, frontier.fp_above, *frontier.columns_above
        tp_above, fp_above, *above = (
            _stack(side, which, its) for side, its in zip((pos, neg, *columns), over, strict=True)
        )
    return Table(
        histogram.rows[down], tp_above, fp_above, pos, neg, histogram, which, tuple(columns), tuple(above)
    )


def _stack(sums: Sums, which: NDArray[np.intp], above: Sums) -> Sums:
    """Return the sum above each element: that above its range plus that before it in its range."""
    running = np.cumsum(sums) - sums
    first = np.flatnonzero(np.concatenate([[True], which[1:] != which[:-1]]))
    start = first[np.cumsum(np.concatenate([[False], which[1:] != which[:-1]]))]
    return running - running[start] + above[which]


def prune(
    table: Table, goal: Goal, summary: Summary, floor: float
) -> tuple[float, NDArray[np.bool_], NDArray[np.float64]]:
    """Return the best value that is certainly attained, and which buckets could hold one as good.

    And what no cut in a bucket exceeds. All values are in the goal's direction: higher is better.
    """
    edges = table.below(summary)
    box = Box(
        tp_low=table.tp_above.astype(np.float64),
        tp_high=edges.units["tp"],
        fp_low=table.fp_above.astype(np.float64),
        fp_high=edges.units["fp"],
        positives=float(summary.positives),
        negatives=float(summary.negatives),
        step=float(summary.grid.step),
        columns=_boxes(table, edges),
    )
    with np.errstate(all="ignore"):
        values = goal.sign * edges.values(goal.expression)
        values[~_certain(edges, goal.constraints)] = np.nan
        values -= edges.rounding_error(goal.expression, values)
        if not np.isnan(values).all():
            floor = max(floor, float(np.nanmax(values)))
        bounds = goal.expression.bounds(box)
        assert bounds is not None
        upper = bounds[1] if goal.sign > 0 else -bounds[0]
        keep = ~(upper < floor)
        if table.histogram.shares:
            keep &= ~(_between_tangents(table, box, goal, summary) < floor)
        for constraint in goal.constraints:
            keep &= _possible(constraint, box)
    return floor, keep, upper


def _boxes(table: Table, edges: Cuts) -> dict[Column, list[PartBox]]:
    """Return between which ends the sums of each column lie in each bucket."""
    found: dict[Column, list[PartBox]] = {}
    ends = [
        side.astype(np.float64)
        for pair in zip(table.columns_above, edges.columns, strict=True)
        for side in pair
    ]
    for i, one in enumerate(edges.summary.columns):
        tp_low, tp_high, fp_low, fp_high = ends[4 * i : 4 * i + 4]
        totals = float(one.positives), float(one.negatives)
        box = PartBox(one.sign, one.grid.step, tp_low, tp_high, fp_low, fp_high, *totals)
        found.setdefault(one.column, []).append(box)
    return found


def _between_tangents(table: Table, box: Box, goal: Goal, summary: Summary) -> NDArray[np.float64]:
    """Return what no cut in a bucket exceeds, where scores are the shares of positives; inf if unknown.

    From its upper to its lower edge the curve of TP against FP is concave, and its slopes lie
    between the shares at the two ends: it runs inside the triangle of the edges and the corner at
    which their tangents meet. A quotient of linear functions is greatest at one of the three.
    """
    unknown = np.full(len(table.rows), np.inf)
    form = goal.expression.linear_fractional(*summary.totals)
    if form is None:
        return unknown
    step = float(summary.grid.step)
    (a0, a1, a2), (b0, b1, b2) = (tuple(map(float, side)) for side in form)
    # A difference in the denominator would make rounding matter, and so would one count alone.
    if min(b0, b1, b2) < 0 or (b0 == 0 and min(b1, b2) == 0):
        return unknown
    ends = table.histogram.low, table.histogram.high
    low, high = (np.clip(end[::-1].astype(np.float64), summary.low, summary.high) for end in ends)
    low, high = np.maximum(low - _SHARE_ROOM, 0.0), np.minimum(high + _SHARE_ROOM, 1.0)
    pos, both = step * table.pos, step * (table.pos + table.neg)
    # How much of the bucket has its highest share, and how much its lowest, gives its sums. Both
    # tangents are drawn a little beyond where they meet: four corners enclose the triangle.
    room = _CORNER_ROOM * both / (high - low)
    steep = (pos - low * both) / (high - low) + room
    flat = (high * both - pos) / (high - low) + room
    tp_low, tp_high, fp_low, fp_high = (step * side for side in box[:4])
    corners = (
        (tp_low, fp_low),
        (tp_low + steep * high, fp_low + steep * (1.0 - high)),
        (tp_high - flat * low, fp_high - flat * (1.0 - low)),
        (tp_high, fp_high),
    )
    denominators = np.array([b0 + b1 * tp + b2 * fp for tp, fp in corners])
    values = np.array([goal.sign * (a0 + a1 * tp + a2 * fp) for tp, fp in corners]) / denominators
    sizes = np.array([abs(a0) + abs(a1) * tp + abs(a2) * fp for tp, fp in corners]) / denominators
    values += TANGENT_SLACK * SLACK * sizes
    fine = (denominators > 0).all(axis=0) & ~np.isnan(values).any(axis=0)
    return np.where(fine, values.max(axis=0), np.inf)


def _certain(edges: Cuts, constraints: tuple[Constraint, ...]) -> NDArray[np.bool_]:
    """Return where all constraints hold beyond any rounding; exactness is left to the last step."""
    mask = np.ones(len(edges.thresholds), dtype=np.bool_)
    for constraint in constraints:
        values = edges.values(constraint.expression)
        bound = float(constraint.bound)
        room = edges.rounding_error(constraint.expression, values) + SLACK * abs(bound)
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


def _open(table: Table, index: NDArray[np.intp], span: Ranges, most: int) -> _Frontier:
    """Join the chosen buckets (positions from the top), which have these ends; neighbors into one.

    If they are more than `most`, gaps with few rows are closed: to ask about more rows is never wrong.
    """
    # Neighbours in the table are none where rows between them were dropped in an earlier round.
    apart = np.flatnonzero((np.diff(index) > 1) | (np.diff(table.which[index]) != 0))
    if len(apart) >= most:
        running = np.concatenate([[0], np.cumsum(table.rows)])
        before, after = index[apart], index[apart + 1]
        gaps = (running[after] - running[before + 1]).astype(np.float64)
        gaps[table.which[after] != table.which[before]] = np.inf  # rows that were not counted
        apart = np.sort(apart[np.argsort(gaps, kind="stable")[len(gaps) + 1 - most :]])
    # From the bottom up, as ranges are.
    first = np.concatenate([[0], apart + 1])[::-1]
    last = np.concatenate([apart, [len(index) - 1]])[::-1]
    above = index[first]
    tp, fp, *columns = (side[above] for side in (table.tp_above, table.fp_above, *table.columns_above))
    return _Frontier(Ranges(span.low[last], span.high[first]), tp, fp, tuple(columns))


def _look_closely(rows: Rows, frontier: _Frontier, summary: Summary) -> Narrowed:
    """Turn every distinct score in the open ranges into a cut."""
    if rows.rows == summary.rows:  # nothing was dropped
        return Narrowed(cuts_of(summary, rows), rows.rows)
    down = slice(None, None, -1)
    scores = rows.scores[down]
    which = np.searchsorted(frontier.ranges.low, scores, side="right") - 1
    sums = [side[down] for side in (rows.pos, rows.neg, *rows.columns)]
    over = frontier.tp_above, frontier.fp_above, *frontier.columns_above
    sums = [_stack(side, which, above) + side for side, above in zip(sums, over, strict=True)]
    # The last score of a range has its neighbor in a bucket that was dropped, unless it is the
    # lowest of all; it came along only as a neighbor and is no candidate itself.
    below = np.append(scores[1:], scores.dtype.type(-np.inf))
    lonely = np.append(which[1:] != which[:-1], scores[-1] != summary.low)
    keep = np.flatnonzero(~lonely)
    tp, fp, *columns = (side[keep] for side in sums)
    cuts = Cuts(summary, scores[keep], below[keep], tp, fp, tuple(columns))
    return Narrowed(with_none(cuts), rows.rows)

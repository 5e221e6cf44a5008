"""Rows in segments -> the cuts of all segments, on one grid.

Of many rows that stay in their engine only the cuts that may matter are fetched. Each segment is counted into
buckets. The cuts at their edges are known exactly, so the best combination of edges is a solution. Inside a
bucket TP and FP lie between those of its edges, which at the prices of the constraints bounds what its cuts
can gain. A bucket that cannot be part of a better solution is left as it is; the others are counted again, or
their scores are fetched.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._data import segment_keys
from cutpoints._data.segment_codes import in_order
from cutpoints._data.segments import Grouped
from cutpoints._joint.problem import Problem
from cutpoints._kernel.segment_cuts import SegmentCuts
from cutpoints._kernel.tables import Ranges, Rows
from cutpoints._search.linear_goal import linear_goal, lines
from cutpoints._search.narrow import MAX_PASSES
from cutpoints._search.points import prices
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics.expression import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._data.data import Data
    from cutpoints._data.groupby_segments import FrameSegments
    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Histogram, Scores, Sums
    from cutpoints.metrics.expression import Constraint


class SegmentedRows(NamedTuple):
    """All cuts of all segments, keys ascending, and what tells the segments apart."""

    cuts: SegmentCuts
    keys: list[Any]
    by: tuple[str, ...]
    passes: int
    complete: bool = True
    """Whether all cuts are there, and not only those that a goal needs."""


def segmented(
    data: Data,
    by: Any,
    *,
    caller: str,
    goal: Goal | None = None,
    each: tuple[Constraint, ...] = (),
) -> SegmentedRows:
    """Read the rows of segments.

    Rows that stay in their engine are grouped there by segment and score: only distinct scores with their
    sums come back. With a goal, of many rows only the cuts that it may need.
    """
    rows, names = segment_keys.read(data, by)
    order = in_order(rows.keys)
    keys = [parts[0] if len(parts) == 1 else parts for parts in (rows.keys[i] for i in order)]
    if isinstance(rows, Grouped):
        return SegmentedRows(rows.cuts(order), keys, names, 1)
    _check_unweighted(data, caller)
    found = None if goal is None or rows.whole else _narrowed(rows, order, goal, each, caller=caller)
    cuts = _streamed(rows, order) if found is None else found
    return SegmentedRows(cuts, keys, names, rows.passes, complete=found is None)


def _check_unweighted(data: Data, caller: str) -> None:
    if data.weighted or data.counted:
        raise InvalidParameterError(
            "weight" if data.weighted else "positives",
            caller=caller,
            expected="left out where the rows are not in memory: each segment has a grid of its own there",
            got=data.weight or data.positives,
            hint="collect the frame, or filter it to fewer rows.",
        )


def _streamed(rows: FrameSegments, order: list[int]) -> SegmentCuts:
    found: Any = rows.answer(dict.fromkeys(order), sum(map(rows.rows, order)), count=False)
    parts = [found[segment] for segment in order]
    codes = np.repeat(np.arange(len(order)), [len(part.scores) for part in parts])
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "pos", "neg"))
    scores, pos, neg = columns
    counts = np.array([rows.rows(segment) for segment in order], dtype=np.int64)
    return SegmentCuts.of(scores, codes, pos, neg, grid=rows.summary(order[0]).grid, rows=counts)


# --- narrowing


class _Cells(NamedTuple):
    """Buckets of segments, by segment and then by score, descending; of one score if ``low == high``."""

    segment: NDArray[np.int64]
    low: Scores
    high: Scores
    pos: Sums
    neg: Sums
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, answers: Sequence[tuple[int, Histogram | Rows]]) -> _Cells:
        """Take the answers for some segments."""
        parts = []
        for segment, found in answers:
            if isinstance(found, Rows):
                low = high = found.scores
                rows = np.ones(len(low), dtype=np.int64)  # at most one score
            else:
                low, high = found.low, found.high
                rows = found.rows
            parts.append((np.full(len(low), segment), low, high, found.pos, found.neg, rows))
        made: Any = (np.concatenate(side) for side in zip(*parts, strict=True))
        return cls(*made)

    def only(self, mask: NDArray[np.bool_]) -> _Cells:
        """Return some of the buckets."""
        made: Any = (side[mask] for side in self)
        return _Cells(*made)

    def plus(self, other: _Cells) -> _Cells:
        """Return both, in order."""
        every: Any = [np.concatenate(sides) for sides in zip(self, other, strict=True)]
        order = np.lexsort((-every[1], every[0]))
        return _Cells(*(side[order] for side in every))

    def cuts(self, rows: NDArray[np.int64], grid: Any) -> SegmentCuts:
        """Return the cuts at the lower edges; `rows` says how many each segment has."""
        lowest, highest = (
            SegmentCuts.of(side, self.segment, self.pos, self.neg, grid=grid, rows=rows)
            for side in (self.low, self.high)
        )
        return replace(lowest, below=highest.below)


def _narrowed(
    source: FrameSegments, order: Sequence[int], goal: Goal, each: tuple[Constraint, ...], *, caller: str
) -> SegmentCuts | None:
    """Return cuts among which is the best combination of all cuts; None if no edges are feasible.

    Costs two passes over the data as a rule, and memory for the buckets and the scores that are fetched.
    """
    counts = np.array([source.rows(segment) for segment in order], dtype=np.int64)
    grid = source.summary(order[0]).grid
    cells = _Cells.of([(i, source.histogram(segment)) for i, segment in enumerate(order)])
    cells = cells.plus(cells.only(np.zeros(len(cells.low), dtype=np.bool_)))
    before = int(counts.sum())
    for number in range(MAX_PASSES):
        cuts = cells.cuts(counts, grid)
        wide = cells.low < cells.high
        if not wide.any():
            return cuts
        open_cells = _undecided(Problem(cuts, goal, each, caller=caller), wide)
        if open_cells is None:
            return None
        asked = cells.only(open_cells)
        left = int(asked.rows.sum())
        if left == 0:
            return cuts
        wanted = {
            order[segment]: Ranges(asked.low[mine][::-1], asked.high[mine][::-1])
            for segment in np.unique(asked.segment).tolist()
            for mine in [asked.segment == segment]
        }
        # Count again as long as a pass halves the rows that are left.
        count = number < MAX_PASSES - 1 and (number == 0 or 2 * left <= before)
        found = source.answer(wanted, left, count=count)
        before = left
        place = {segment: i for i, segment in enumerate(order)}
        cells = cells.only(~open_cells).plus(
            _Cells.of([(place[segment], one) for segment, one in found.items()])
        )
        if all(isinstance(one, Rows) for one in found.values()):
            break
    return cells.cuts(counts, grid)


def _undecided(problem: Problem, wide: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return the `wide` buckets that may hold a cut of a better solution; None if there is none yet."""
    found = problem.solve()
    if found is None:
        return None
    cuts, best = problem.cuts, found.best
    goal = linear_goal(problem.goal, cuts.total, caller=problem.caller)
    objective, value = goal.above, goal.above.at(best.tp, best.fp)
    if not goal.under.fixed:  # a quotient is better if this difference is positive
        objective = goal.above.scaled(goal.under.at(best.tp, best.fp)).plus(goal.under.scaled(-value))
        value = 0
    constraints = lines(goal.constraints)
    constant, a, b = (float(part) for part in objective)
    sizes = [abs(constant), abs(a), abs(b)]
    for price, one in zip(prices(problem.points, objective, constraints) or [], constraints, strict=False):
        more = [price * float(part) for part in one]
        constant, a, b = constant + more[0], a + more[1], b + more[2]
        sizes = [size + abs(part) for size, part in zip(sizes, more, strict=True)]
    pos, neg = cuts.added()
    bucket = np.flatnonzero(pos + neg > 0)
    inside = np.zeros(len(cuts.tp), dtype=np.bool_)
    inside[bucket[wide]] = True
    # The largest value of a line on a rectangle is at one of its corners; elsewhere there is one point.
    before_tp, before_fp = cuts.tp - np.where(inside, pos, 0), cuts.fp - np.where(inside, neg, 0)
    tp, fp = cuts.tp if a >= 0 else before_tp, cuts.fp if b >= 0 else before_fp
    possible = np.zeros(len(cuts.tp), dtype=np.bool_)
    possible[problem.points.cut] = True
    if problem.each:
        possible |= inside & _may_hold(cuts, problem.each, (before_tp, cuts.tp), (before_fp, cuts.fp))
    most = np.where(possible, a * tp.astype(np.float64) + b * fp.astype(np.float64), -np.inf)
    highest = np.maximum.reduceat(most, cuts.first[:-1])
    totals = (1.0, float(cuts.total.positives), float(cuts.total.negatives))
    rounding = len(highest) * SLACK * sum(size * total for size, total in zip(sizes, totals, strict=True))
    least = value + 1 - rounding - (constant + float(highest.sum()))
    return np.asarray((most - highest[cuts.segment] >= least)[bucket] & wide)


def _may_hold(
    cuts: SegmentCuts, constraints: tuple[Constraint, ...], tp: tuple[Sums, Sums], fp: tuple[Sums, Sums]
) -> NDArray[np.bool_]:
    """Return the buckets in which constraints may hold, by the corners of what their sums can be.

    A quotient of linear functions is largest and smallest at corners; other metrics may hold anywhere.
    """
    found = np.ones(len(cuts.tp), dtype=np.bool_)
    for segment in range(len(cuts)):
        summary = cuts.summary(segment)
        part = slice(cuts.first[segment], cuts.first[segment + 1])
        for one in constraints:
            if one.expression.linear_fractional(*summary.totals) is None:
                continue
            own = cuts.cuts(segment, summary)
            corners = [replace(own, tp=x[part], fp=y[part]) for x, y in product(tp, fp)]
            undefined = np.isnan(own.values(one.expression)).all()
            found[part] &= undefined | np.any([corner.feasible((one,)) for corner in corners], axis=0)
    return found

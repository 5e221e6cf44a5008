"""What a gap would cost if rows could be decided by chance: a linear program.

A randomized rule mixes the cuts of a segment, so its totals are any point of the segment's hull. Its best
value bounds that of fixed thresholds; the difference is the price of deciding equal rows alike.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._extras import needs
from cutpoints._search.linear_goal import linear_goal, lines

if TYPE_CHECKING:
    from cutpoints._joint.problem import Problem

STEPS = 20
"""Steps of a quotient; each is a linear program, and five are enough as a rule."""


def randomized_value(problem: Problem, attained: float) -> float:
    """Return the best value of randomized rules under the same constraints; fixed ones attain `attained`.

    NaN where the rate of the gap is not linear in the counts of a segment, such as precision.
    """
    with needs("randomized thresholds"):
        from scipy.optimize import linprog
        from scipy.sparse import coo_array, csr_array, hstack, vstack

    points, cuts = problem.points, problem.cuts
    goal = linear_goal(problem.goal, cuts.total, caller=problem.caller, scale=problem.scale)
    at = np.unique(np.concatenate([points.upper.at, points.lower.at]))
    segment = points.segment[at]
    tp, fp = points.tp[at].astype(np.float64), points.fp[at].astype(np.float64)
    size, count = len(at), len(points)
    one_each = coo_array((np.ones(size), (segment, np.arange(size))), shape=(count, size))
    rows, limits = [], []
    for number, gap in enumerate(problem.gaps):  # each rate lies between a variable and that plus the bound
        rate, known = np.zeros(len(at)), np.ones(count, dtype=np.bool_)
        for one in range(count):
            summary = cuts.summary(one)
            form = gap.expression.linear_fractional(*summary.totals)
            if form is None or not form.is_linear:
                return math.nan
            (a0, a1, a2), whole, step = form.numerator, form.denominator[0], summary.grid.step
            if whole == 0:
                known[one] = False
                continue
            mine = segment == one
            per_tp, per_fp = float(a1 * step / whole), float(a2 * step / whole)
            rate[mine] = float(a0 / whole) + per_tp * tp[mine] + per_fp * fp[mine]
        spread = csr_array(coo_array((rate, (segment, np.arange(size))), shape=(count, size)))[
            np.flatnonzero(known)
        ]
        low = np.zeros((spread.shape[0], len(problem.gaps)))
        low[:, number] = 1.0
        rows += [hstack([spread, csr_array(-low)]), hstack([-spread, csr_array(low)])]
        limits += [np.full(spread.shape[0], float(gap.bound)), np.zeros(spread.shape[0])]
    more = np.zeros(len(problem.gaps))
    for line in lines(goal.constraints):
        rows.append(csr_array(np.append(-line.tp * tp - line.fp * fp, more)[None, :]))
        limits.append(np.array([float(line.constant)]))
    equal = hstack([one_each, csr_array((count, len(more)))])
    bounds = [(0.0, 1.0)] * size + [(None, None)] * len(more)
    value = problem.goal.sign * attained
    for _ in range(1 if goal.under.fixed else STEPS):
        price = 0.0 if goal.under.fixed else value
        a, b = goal.above.tp - price * goal.under.tp, goal.above.fp - price * goal.under.fp
        program: dict[str, Any] = {
            "A_ub": vstack(rows), "b_ub": np.concatenate(limits), "A_eq": equal, "b_eq": np.ones(count),
        }  # fmt: skip
        found = linprog(-np.append(a * tp + b * fp, more), bounds=bounds, method="highs", **program)
        if found.x is None:
            return math.nan
        x, y = float(found.x[:size] @ tp), float(found.x[:size] @ fp)
        above, under = (line.constant + line.tp * x + line.fp * y for line in (goal.above, goal.under))
        if under <= 0 or above / under <= value + 1e-12:
            break
        value = above / under
    return problem.goal.sign * value

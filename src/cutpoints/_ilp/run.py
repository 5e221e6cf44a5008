"""Pose a goal as a program, solve it, and recount every answer in integers.

A linear goal takes one program. A ratio ``a / b`` takes a few, by Dinkelbach's method: maximize
``a - v b`` for the value v of the best cut so far; a positive maximum is at a better cut, and when
there is none, v is the optimum. Values are those of recounted cuts, exact fractions, so the method
cannot drift; it usually takes three to six programs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from cutpoints._format import count
from cutpoints._ilp import program as _program
from cutpoints._ilp.forms import Form, Target, constraint_rows, target
from cutpoints._ilp.highs import Reply, Solver, Status
from cutpoints._ilp.margin import Epsilon, Margin, margin
from cutpoints._search.optimum import Optimum
from cutpoints._search.run import SearchResult, decide
from cutpoints._search.sweep import all_cuts
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidParameterError, SolverError
from cutpoints.metrics.expression import WeightedSum
from cutpoints.metrics.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._ilp.program import Cost, Floats, Instances, Program
    from cutpoints._kernel.cuts import Cuts

Formulation = Literal["chain", "document"]
TOLERANCE = 1e-7
"""Relative to the size of the objective: what a solver may miss, and exact comparison puts right."""
_OTHER_MARGIN = ("use ", Argument("epsilon", "auto"), " or ", Argument("formulation", "chain"), ".")


@dataclass(frozen=True, eq=False)
class Posed:
    """A goal as a program: the cuts of the data, what is maximized over them, the matrices."""

    goal: Goal
    cuts: Cuts
    target: Target
    program: Program
    margin: Margin | None
    as_printed: bool

    def cost(self, value: Fraction = Fraction(0)) -> Cost:
        """Return the cost of the program; for a ratio, of the step that asks for more than `value`."""
        return self.program.cost(self.target.step(value), self.cuts.summary.totals[0])

    @property
    def faithful(self) -> bool:
        """Whether the program maximizes the goal; the document's weights of a sum do not."""
        return not (self.as_printed and _printed_weights(self.goal, self.cuts))


@dataclass(frozen=True, eq=False)
class Run:
    """What the solver did, before anything is believed.

    Attributes
    ----------
    status : {"optimal", "time_limit", "gap_limit", "infeasible"}
        The solver's word.
    claimed : float or None
        The value of the objective by the solver's account.
    value : float or None
        The value at `threshold`, counted on the data; exact, rounded once.
    threshold : float or None
        The lowest score that the solver calls positive; inf if it calls none so.
    bound : float
        No threshold is better than this, by the solver's account.
    recounts : bool
        Whether its labels are those of the threshold, meet the constraints, and have the value
        that it claims. `fault` says what is wrong where they have not.
    steps, nodes : int
        Programs solved, and nodes of the search trees.
    seconds : float
        Time in the solver.
    t : float or None
        The variable t of the document's program, as the solver left it. Never use it: at the
        edge of a tolerance it may lie on the wrong side of a score.
    """

    status: Status
    claimed: float | None
    value: float | None
    threshold: float | None
    bound: float
    recounts: bool
    fault: str
    steps: int
    nodes: int
    seconds: float
    t: float | None = None
    index: int | None = None
    """The position of the cut among all cuts."""


def solve_source(source: Source, goal: Goal) -> SearchResult:
    """Find the best cut by an integer program; all cuts are made first, by a sort."""
    read_before = source.passes
    posed = pose(all_cuts(source), goal)
    return answer(posed, run(posed), passes=source.passes - read_before)


def pose(
    cuts: Cuts,
    goal: Goal,
    *,
    formulation: Formulation = "chain",
    instances: Callable[[NDArray[np.floating]], Instances] | None = None,
    group: bool = False,
    epsilon: Epsilon = "auto",
    as_printed: bool = False,
) -> Posed:
    """Build the program; `instances` gives the rows for the document's, by ascending distinct scores.

    With `group`, the document's has one instance per distinct score instead, and z is continuous.
    """
    aim, sides = target(goal, cuts)
    for number, constraint in enumerate(goal.constraints, start=1):
        sides += constraint_rows(constraint, number, cuts)
    if formulation == "chain":
        return Posed(goal, cuts, aim, _program.chain(cuts, sides), None, as_printed=False)
    if as_printed and (printed := _printed_weights(goal, cuts)):
        aim = Target(printed, aim.bottom, aim.least_bottom)
    infinite = cuts.summary.high == math.inf
    scores = cuts.thresholds[::-1] if infinite else cuts.thresholds[:0:-1]
    placed = margin(scores, epsilon, as_printed=as_printed)
    if group:
        rows = _program.Instances.grouped(cuts)
    else:
        assert instances is not None
        rows = instances(scores)
    program = _program.document(
        rows,
        placed,
        sides,
        errors=aim.is_linear and aim.top.fp < 0,
        whole_errors=not group,
        fixed=infinite,
    )
    return Posed(goal, cuts, aim, program, placed, as_printed)


def _printed_weights(goal: Goal, cuts: Cuts) -> Form | None:
    """Return what the document maximizes for alpha*accuracy + beta*recall; None for any other goal.

    It adds up counts where it means shares: alpha n accuracy + beta P recall.
    """
    sum_ = goal.expression
    if not isinstance(sum_, WeightedSum) or goal.sign < 0:
        return None
    weights = {t.name: w for w, t in sum_.terms if isinstance(t, Metric)}
    if set(weights) != {"accuracy", "recall"} or len(sum_.terms) != 2:
        return None
    alpha, beta = weights["accuracy"], weights["recall"]
    return Form(alpha * cuts.summary.totals[1], alpha + beta, -alpha)


def run(
    posed: Posed,
    *,
    time_limit: float = math.inf,
    gap: float = 0.0,
    log: Callable[[str], None] | None = None,
) -> Run:
    """Solve, step by step for a ratio, and recount each answer; nothing is raised for a wrong one."""
    for name, given, fine in (("time_limit", time_limit, time_limit > 0), ("gap", gap, 0 <= gap < 1)):
        if not fine:
            must_be = "a number of seconds > 0" if name == "time_limit" else "a share in [0, 1)"
            raise InvalidParameterError(name, caller="solve", expected=must_be, got=given)
    began = perf_counter()
    minimize = _minimizer(posed.program, limited=time_limit < math.inf, gap=gap, log=log)
    feasible = posed.cuts.feasible(posed.goal.constraints)
    sign, upper, steps, nodes, seconds = posed.goal.sign, math.inf, 0, 0, 0.0
    best: tuple[Fraction, int, float] | None = None  # signed value, cut, signed claim
    fault, t = "", None
    while True:
        value = best[0] if best else Fraction(0)
        cost = posed.cost(value)
        left = max(0.0, time_limit - (perf_counter() - began))
        reply = minimize(cost.w, left)
        steps, nodes, seconds = steps + 1, nodes + reply.nodes, seconds + reply.seconds
        if reply.status != "infeasible":
            upper = min(upper, _upper(posed, value, cost, reply))
        if reply.x is None:
            break
        index, t, fault = _recount(posed, cost, reply, feasible)
        claim = _claim(posed, value, cost, reply)
        exact = _exact(posed, index)
        counted = sign * exact if isinstance(exact, Fraction) else None
        if fault or counted is None:
            fault = fault or f"{posed.goal.expression} is undefined at it"
            best = (Fraction(0) if counted is None else counted, index, claim)
            break
        better = best is None or counted > best[0]
        if better:
            best = (counted, index, claim)
        if posed.target.is_linear or reply.status != "optimal" or not better:
            break
    found = None if best is None else best[1]
    return Run(
        status=reply.status if steps == 1 or reply.status != "infeasible" else "optimal",
        claimed=None if best is None else sign * best[2],
        value=None if best is None else float(sign * best[0]),
        threshold=None if found is None else float(posed.cuts.thresholds[found]),
        bound=sign * (upper if posed.faithful else math.inf),
        recounts=not fault,
        fault=fault,
        steps=steps,
        nodes=nodes,
        seconds=seconds,
        t=t,
        index=found,
    )


def _minimizer(
    program: Program, *, limited: bool, gap: float, log: Callable[[str], None] | None
) -> Callable[[Floats, float], Reply]:
    """Return the solver: in this process, or in one of its own where a search tree has to be cut short."""
    if not (limited and program.integer.any()):
        return Solver(program, gap=gap, log=log).minimize
    from cutpoints._ilp import time_limit as limited_solver

    return lambda w, limit: limited_solver.minimize(program, w, time_limit=limit, gap=gap, log=log)


def _recount(
    posed: Posed, cost: Cost, reply: Reply, feasible: NDArray[np.bool_]
) -> tuple[int, float | None, str]:
    """Return the cut of the lowest score called positive, t, and what is wrong with the answer."""
    assert reply.x is not None
    made, cuts = posed.program, posed.cuts
    called = reply.x[made.decisions] > 0.5
    # Cuts descend from "no positives", which is not there if a score is infinite; buckets ascend.
    last = len(cuts.thresholds) - 1
    count = last + (cuts.summary.high == math.inf)
    lowest = int(made.bucket[called].min()) if called.any() else count
    index = last - lowest
    t = float(reply.x[-1]) if posed.margin is not None else None
    if index < 0:
        return 0, t, "it calls an infinite score negative"
    if (called != (made.bucket >= lowest)).any():
        return (
            index,
            t,
            "its labels are not those of any threshold: equal or higher scores are called negative",
        )
    if not feasible[index]:
        return index, t, "its threshold does not meet the constraints"
    counted = posed.target.step(Fraction(0)) if posed.target.is_linear else None
    if counted is not None:
        truth = float((cost.offset - counted.at(cuts.confusion(index))) / cost.unit)
        whole = bool((cost.w == np.round(cost.w)).all())
        room = cost.rounding + (0.1 if whole else TOLERANCE * (1 + float(np.abs(cost.w).sum())))
        # A search that was stopped may count an error that is none; never one too few.
        if truth - reply.total > room or (reply.status == "optimal" and reply.total - truth > room):
            return index, t, f"its cost is {truth:g} and not {reply.total:g}"
    return index, t, ""


def _claim(posed: Posed, value: Fraction, cost: Cost, reply: Reply) -> float:
    """Return the solver's own account of the (signed) objective."""
    assert reply.x is not None
    worth = cost.worth(reply.total)
    if posed.target.is_linear:
        return worth
    y, bottom = reply.x[posed.program.decisions], posed.target.bottom
    tp, fp = float(posed.program.pos @ y), float(posed.program.neg @ y)
    below = float(bottom.constant) + float(bottom.tp) * tp + float(bottom.fp) * fp
    return float(value) + (worth / below if below else math.nan)


def _upper(posed: Posed, value: Fraction, cost: Cost, reply: Reply) -> float:
    """Return a bound on the (signed) objective that follows from the solver's bound on the cost."""
    made = posed.program
    # What the bounds of the variables alone imply, for a solver that was stopped before it had any.
    least = float(np.minimum(cost.w * made.lower, cost.w * made.upper).sum())
    least = max(least, reply.bound)
    y_whole = made.errors is not None or not cost.w[~made.integer].any()
    if y_whole and (cost.w == np.round(cost.w)).all() and abs(least) < 1e12:
        least = math.ceil(least - 1e-6)
    worth = cost.worth(least)
    if posed.target.is_linear:
        return worth
    return float(value) + max(0.0, worth) / posed.target.least_bottom


def answer(posed: Posed, made: Run, *, passes: int) -> SearchResult:
    """Believe a run, or raise `SolverError`: the one way from a solver's word to a solution.

    The recount costs one pass over the cuts, less than building the program. A solver works to a
    tolerance: cuts within it are compared exactly, so that ties and the choice among them are those
    of every other search. A cut that is better beyond any tolerance is the proof that the solver,
    or the epsilon it was given, is wrong.
    """
    goal, cuts = posed.goal, posed.cuts
    if not made.recounts:
        found = f"The solver's answer must be that of a threshold. It is not: {made.fault}."
        if made.claimed is not None and made.value is not None:
            place = "" if made.threshold is None else f" at threshold {float(made.threshold)!r}"
            found += f" Claimed {made.claimed:.10g}, counted {made.value:.10g}{place}."
        why = "an epsilon near the solver's tolerance (1e-6) splits equal scores; "
        raise SolverError(found, hint=(why, *_OTHER_MARGIN))
    truth = decide(cuts, goal, "ilp", passes, cuts.summary.rows)
    if made.status in ("optimal", "infeasible") or _closed(goal, made):
        if not _agrees(posed, made, truth):
            claim = "that no cut is feasible" if made.value is None else f"{made.value:.10g}"
            truly = "no cut is feasible"
            if truth.choice is not None:
                truly = f"the best cut attains {truth.choice.value:.10g}"
            why = "an epsilon above the smallest gap between scores forbids good thresholds; "
            raise SolverError(
                f"The solver's optimum must be the best cut of the data. It found {claim}, but {truly}.",
                hint=(why, *_OTHER_MARGIN),
            )
        return truth
    # Stopped early: the solver's own answer, or if it has none yet, the better of the two cuts
    # that need no search.
    feasible = cuts.feasible(goal.constraints)
    known = {0, len(cuts.thresholds) - 1} | ({made.index} if made.index is not None else set())
    usable = [i for i in sorted(known) if feasible[i] and math.isfinite(_exact(posed, i))]
    if not usable:
        raise SolverError(
            "The solver must find a threshold within its time limit. It found none; "
            f"no threshold is better than {count(made.bound)}.",
            hint=("allow more time, or use ", Argument("formulation", "chain"), "."),
        )
    best = max(usable, key=lambda i: goal.sign * _exact(posed, i))
    choice = Optimum(best, np.empty(0, dtype=np.intp), cuts.value(goal.expression, best))
    status: Literal["time_limit", "gap_limit"] = "time_limit" if made.status == "time_limit" else "gap_limit"
    return SearchResult(cuts.summary, cuts, choice, "ilp", passes, cuts.summary.rows, status, made.bound)


def _exact(posed: Posed, index: int) -> Fraction | float:
    """Return the exact value of the goal at a cut; NaN where it is undefined."""
    exact = posed.goal.expression.fraction(**posed.cuts.confusion(index))
    return math.nan if exact is None else exact


def _closed(goal: Goal, made: Run) -> bool:
    """Whether the bound proves the answer although the solver was stopped."""
    return made.value is not None and goal.sign * (made.bound - made.value) <= 0


def _agrees(posed: Posed, made: Run, truth: SearchResult) -> bool:
    """Whether no cut is better than the solver's by more than its tolerance."""
    if truth.choice is None or made.index is None:
        return truth.choice is None and made.index is None
    goal, cuts = posed.goal, posed.cuts
    ahead = goal.sign * (_exact(posed, truth.choice.best) - _exact(posed, made.index))
    values = np.abs(cuts.values(goal.expression))
    size = float(values[np.isfinite(values)].max())
    return float(ahead) <= TOLERANCE * size


def mixture(posed: Posed) -> tuple[float, list[tuple[float, float]]]:
    """Return the best randomized rule: its expected value, and thresholds with their probabilities.

    A point of the chain's relaxation is a mixture of thresholds: ``y[k] - y[k-1]`` is the share of
    the threshold at score k.
    """
    if not posed.target.is_linear or posed.margin is not None:
        raise InvalidParameterError(
            "objective",
            caller="mixture",
            expected="linear, and the formulation 'chain'",
            got=str(posed.goal.expression),
            hint="a ratio of expectations is not an expectation; use solve().",
        )
    cost = posed.cost()
    y: Floats = Solver(posed.program).relax(cost.w)
    shares = np.append(np.diff(y, prepend=0.0), 1.0 - y[-1])
    thresholds = [*posed.cuts.thresholds[::-1].astype(np.float64).tolist(), math.inf]
    rule = [(t, float(s)) for t, s in zip(thresholds, shares, strict=False) if s > 1e-9]
    return posed.goal.sign * cost.worth(float(cost.w @ y)), rule[::-1]

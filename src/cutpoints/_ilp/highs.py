"""The solver: HiGHS through highspy, behind one method.

Not through `scipy.optimize.milp`: on the document's program with 2,000 rows of one decimal the
HiGHS of SciPy 1.17 ran for 116 s against a limit of 4 s, and returned neither an incumbent nor a
bound. It does not let callers switch its probing off, which is what took so long, nor hear of
answers and bounds on the way, and its log goes to standard output only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._extras import needs
from cutpoints.exceptions import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cutpoints._ilp.program import Floats, Program

NO_PROBING = 1 << 15
"""Probing tries both values of every label, which takes minutes here and gains nothing: to decide
one label decides all on one side of it."""
INTEGER_TOLERANCE = 1e-6

Status = Literal["optimal", "time_limit", "gap_limit", "infeasible"]


@dataclass(frozen=True)
class Reply:
    """What the solver said: an answer `x` of cost `total`, if it has one; no cost is below `bound`."""

    status: Status
    x: Floats | None
    total: float
    bound: float
    nodes: int
    seconds: float


class Solver:
    """A program inside HiGHS, for one cost after another."""

    def __init__(
        self,
        program: Program,
        *,
        gap: float = 0.0,
        log: Callable[[str], None] | None = None,
        report: Callable[[str, Any], None] | None = None,
    ) -> None:
        """Pass the program on; `report` hears of every better answer and bound on the way."""
        with needs("the integer program", extra="ilp"):
            import highspy

        self._program = program
        self._every = np.arange(len(program.lower), dtype=np.int32)
        self._gap = gap
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs = highs
        highs.setOptionValue("output_flag", log is not None)
        highs.setOptionValue("log_to_console", False)  # noqa: FBT003 - the solver's interface
        if log is not None:
            highs.cbLogging += lambda event: log(event.message)
        if report is not None:
            _announce(highs, report)
        highs.HandleUserInterrupt = True
        # The default gap, 1e-4, lets one error pass as soon as the best threshold makes 10,000.
        highs.setOptionValue("mip_rel_gap", gap)
        highs.setOptionValue("presolve_rule_off", NO_PROBING)
        if not program.integer.any():
            highs.setOptionValue("dual_feasibility_tolerance", 1e-9)
            highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
        self._pass(highspy)

    def _pass(self, highspy: Any) -> None:
        made = self._program
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = made.A.shape
        lp.col_cost_ = np.zeros(lp.num_col_)
        lp.col_lower_, lp.col_upper_ = made.lower, made.upper
        lp.row_lower_, lp.row_upper_ = made.b, np.full(lp.num_row_, math.inf)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = made.A.indptr
        lp.a_matrix_.index_ = made.A.indices
        lp.a_matrix_.value_ = made.A.data
        self._kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        if made.integer.any():
            lp.integrality_ = [self._kinds[int(whole)] for whole in made.integer]
        self._highs.passModel(lp)

    def minimize(self, w: Floats, time_limit: float = math.inf) -> Reply:
        """Minimize ``w @ x``; a fractional answer of the relaxation is solved again in integers."""
        self._highs.changeColsCost(len(w), self._every, w)
        binary = bool(self._program.integer.any())
        reply = self._solve(time_limit, binary=binary)
        decided = None if reply.x is None else reply.x[self._program.decisions]
        if binary or decided is None or np.abs(decided - np.round(decided)).max() <= INTEGER_TOLERANCE:
            return reply
        self._declare(whole=True)
        return self._solve(time_limit, binary=True)

    def relax(self, w: Floats) -> Floats:
        """Return a vertex of the relaxation that minimizes ``w @ x``, fractions and all."""
        self._highs.changeColsCost(len(w), self._every, w)
        self._declare(whole=False)
        reply = self._solve(math.inf, binary=False)
        if reply.x is None:
            raise SolverError.failed(solver="HiGHS", said=reply.status)
        return reply.x

    def _declare(self, *, whole: bool) -> None:
        """Have all variables be integers, or none."""
        kinds = np.full(len(self._every), int(self._kinds[whole]), dtype=np.uint8)
        self._highs.changeColsIntegrality(len(self._every), self._every, kinds)

    def _solve(self, time_limit: float, *, binary: bool) -> Reply:
        with needs("the integer program", extra="ilp"):
            import highspy

        highs = self._highs
        # The solver counts its seconds over all of its runs.
        highs.setOptionValue("time_limit", highs.getRunTime() + time_limit)
        began = perf_counter()
        status = self._run()
        seconds = perf_counter() - began
        said = highs.modelStatusToString(highs.getModelStatus())
        codes = highspy.HighsModelStatus
        known: dict[Any, Status] = {
            codes.kOptimal: "optimal",
            codes.kInfeasible: "infeasible",
            codes.kUnboundedOrInfeasible: "infeasible",  # every variable is bounded
            codes.kTimeLimit: "time_limit",
        }
        found = known.get(highs.getModelStatus())
        if found is None or status == highspy.HighsStatus.kError:
            raise SolverError.failed(solver="HiGHS", said=said)
        info = highs.getInfo()
        feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        x: Floats | None = None
        if found == "optimal" or (found == "time_limit" and feasible and binary):
            x = np.asarray(highs.getSolution().col_value)
        total = info.objective_function_value if x is not None else math.inf
        bound = info.mip_dual_bound if binary else total if found == "optimal" else -math.inf
        if (
            found == "optimal"
            and binary
            and self._gap > 0
            and total - bound > INTEGER_TOLERANCE * max(1.0, abs(total))
        ):
            found = "gap_limit"
        return Reply(found, x, total, bound, max(0, info.mip_node_count) if binary else 0, seconds)

    def _run(self) -> Any:
        """Run in a thread, so that Ctrl-C reaches the solver."""
        result: list[Any] = []
        thread = Thread(target=lambda: result.append(self._highs.run()), daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.2)
        except BaseException:
            self._highs.cancelSolve()
            thread.join()
            raise
        return result[0]


def _announce(highs: Any, report: Callable[[str, Any], None]) -> None:
    def answer(event: Any) -> None:
        out = event.data_out
        report("answer", (np.array(out.mip_solution), out.objective_function_value))
        bound(event)

    def bound(event: Any) -> None:
        if math.isfinite(event.data_out.mip_dual_bound):
            report("bound", event.data_out.mip_dual_bound)

    highs.cbMipImprovingSolution += answer
    highs.cbMipLogging += bound

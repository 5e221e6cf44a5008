"""The best threshold as a 0-1 program: to look at, to write to a file, to solve.

The sweep finds the same optimum faster, always. The program is for teaching, for checking by
other means, and as a part of your own larger program.

>>> from cutpoints import ilp
>>> model = ilp.formulate([1, 0], [0.8, 0.3], maximize="accuracy", formulation="document")
>>> model
<document program to maximize accuracy: 5 variables (4 whole), 8 rows; epsilon 0.25, half the
smallest gap between scores>
>>> model.solve().threshold
0.8
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.read import as_data
from cutpoints._find import solve
from cutpoints._format import json_number
from cutpoints._goal import Constraints, Goal, Objective, goal
from cutpoints._ilp import files as _files
from cutpoints._ilp.program import Instances
from cutpoints._ilp.run import Formulation, Posed, Run, answer, mixture, pose, run
from cutpoints._search.run import SearchResult, search
from cutpoints._search.sweep import all_cuts
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._arithmetic import as_fraction

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from cutpoints._data.source import Source
    from cutpoints._ilp.margin import Epsilon
    from cutpoints._result import Solution

__all__ = ["Mixture", "Model", "Run", "formulate"]


def formulate(
    y_true: Any,
    y_score: Any = None,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    formulation: Formulation = "chain",
    group: bool = False,
    epsilon: Epsilon = "auto",
    as_printed: bool = False,
) -> Model:
    """Formulate the best threshold as a 0-1 program ``min w @ x, A @ x >= b``.

    The objective must be linear in TP and FP (accuracy, recall, cost, weighted sums of such), or a
    ratio of two linear forms (precision, F-beta, Jaccard, kappa). Constraints must be of the same
    kinds; they become rows, with the denominator cleared.

    Parameters
    ----------
    y_true, y_score, maximize, minimize, subject_to, label, score, weight, sample_weight, pos_label
        As for `find`.
    formulation : {"chain", "document"}, default="chain"
        ``"chain"``: one variable per distinct score, ``y[k] <= y[k+1]``. Every row holds one +1 and
        one -1, so the matrix is totally unimodular: every vertex is 0/1, and the linear relaxation
        solves the problem exactly. Rows of constraints destroy that; the variables are then
        binary. ``"document"``: the published form, with two binary variables per row of the data
        (z, an error; y, a label), the threshold t, and four rows per row of the data.
    group : bool, default=False
        Of the document's form: one pair (z, y) per distinct score, weighted by its rows, in place of one
        per row, and only y is binary: the least z that the rows allow is then 0 or 1 by itself. The
        optimum is the same, the program as small as the number of distinct scores, and far easier.
    epsilon : float or "auto", default="auto"
        Of the document's form: by how much a score that is called negative must lie below t.
        ``"auto"`` takes half of the smallest gap between scores if that is well above the solver's
        tolerance, and otherwise replaces the scores by their ranks; `Model.epsilon_reason` says
        which. A number is taken as it is, right or wrong.
    as_printed : bool, default=False
        Of the document's form: keep ``0 <= t <= 1`` as it is printed, although scores of exactly 0
        and 1 then cannot be distinguished from it, and its weights of alpha*accuracy + beta*recall,
        which add counts where shares are meant.

    Returns
    -------
    Model
        With the matrices, and `solve`, `run` and `write`.

    Raises
    ------
    InvalidParameterError
        An objective or constraint that is not linear-fractional, such as MCC; `find` can do it.
    InvalidInputError
        As for `find`: no rows, NaN, an objective that is undefined with one class only.

    Examples
    --------
    >>> from cutpoints import ilp
    >>> model = ilp.formulate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1")
    >>> model.solve().value
    0.8
    """
    if formulation not in ("chain", "document"):
        raise InvalidParameterError(
            "formulation", caller="formulate", expected="'chain' or 'document'", got=formulation
        )
    options = (("group", group, False), ("epsilon", epsilon, "auto"), ("as_printed", as_printed, False))
    for name, value, default in options:
        if formulation == "chain" and value != default:
            raise InvalidParameterError(
                name,
                caller="formulate",
                expected=(
                    "left out for ",
                    Argument("formulation", "chain"),
                    ", which has no strict inequality",
                ),
                got=value,
            )
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="formulate")
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label, caller="formulate",
    )  # fmt: skip
    # The document's form has variables for each row; a chain needs only the distinct scores.
    by_row = formulation == "document" and not group
    (source,) = data.in_memory().values() if by_row else (data.source(),)
    summary = source.summary()
    data.warn_of_one_class(summary.positives, summary.negatives)
    posed = pose(
        all_cuts(source),
        wanted,
        formulation=formulation,
        instances=lambda scores: _instances(source, scores),
        group=group,
        epsilon=epsilon,
        as_printed=as_printed,
    )
    return Model(posed, source, formulation)


def _instances(source: Source, distinct: NDArray[Any]) -> Instances:
    """Return the rows in their order; a counted row is one of each class that it holds."""
    streams = getattr(source, "streams", None)
    if streams is None:
        raise InvalidParameterError(
            "formulation",
            caller="formulate",
            expected="'chain' for data that are not in memory row by row",
            got="document",
        )
    scores = source.scores  # type: ignore[attr-defined]
    bucket = np.searchsorted(distinct, scores)
    everything = slice(None)
    readings = [stream.read(everything, everything) for stream in streams]
    if len(readings) == 1:
        sides, given = readings[0]
        weights = np.ones(len(sides)) if given is None else given.astype(float)
        return Instances(sides, weights * sides, weights * (1 - sides), bucket)
    (_, pos), (_, neg) = readings
    # A row of weight 0 is kept as a positive one, so that its score stays a possible threshold.
    place = np.concatenate([np.flatnonzero((pos > 0) | (neg == 0)), np.flatnonzero(neg > 0)])
    labels = np.append(np.ones((pos > 0).sum() + ((pos == 0) & (neg == 0)).sum()), np.zeros((neg > 0).sum()))
    order = np.argsort(place, kind="stable")
    place, labels = place[order], labels[order]
    weights = np.where(labels == 1, pos[place], neg[place]).astype(float)
    return Instances(labels.astype(np.uint8), weights * labels, weights * (1 - labels), bucket[place])


@dataclass(frozen=True)
class Mixture:
    """A randomized rule: each of the `thresholds` with its probability; `value` is its expectation."""

    value: float
    thresholds: tuple[float, ...]
    probabilities: tuple[float, ...]


class Model:
    """A 0-1 program, made by `formulate`: minimize ``w @ x`` subject to ``A @ x >= b``.

    Attributes
    ----------
    A : sparse array of shape (n_rows, n_variables)
    b, w, lower, upper : ndarray
        Right-hand sides, costs, bounds of the variables. For a ratio `w` is that of the first step;
        see `cost`.
    integer : ndarray of bool
        Which variables are integers.
    epsilon : float or None
        The margin of the document's strict inequality; None for a chain, which needs none.
    epsilon_reason : str
        Why this one, and whether scores were replaced by their ranks.
    """

    def __init__(self, posed: Posed, source: Source, formulation: Formulation) -> None:
        self._posed = posed
        self._source = source
        self.formulation = formulation
        made = posed.program
        self.A: csr_array = made.A
        self.b, self.lower, self.upper, self.integer = made.b, made.lower, made.upper, made.integer
        self.epsilon = None if posed.margin is None else posed.margin.epsilon
        self.epsilon_reason = "none needed" if posed.margin is None else posed.margin.reason
        self.uses_ranks = posed.margin is not None and posed.margin.ranks

    @property
    def positives(self) -> int | float:
        """How many positives there are, or their weight."""
        summary = self._source.summary()
        return summary.grid.number(summary.positives)

    @property
    def negatives(self) -> int | float:
        """How many negatives there are, or their weight."""
        summary = self._source.summary()
        return summary.grid.number(summary.negatives)

    @property
    def goal(self) -> Goal:
        """What is maximized or minimized, subject to what."""
        return self._posed.goal

    @property
    def w(self) -> NDArray[np.float64]:
        """The costs; for a ratio, those of the first step."""
        return self.cost()

    @property
    def variables(self) -> list[str]:
        """The names of the variables, in order: z1 ..., y1 ..., t; for a chain y1 ... by ascending score."""
        return self._posed.program.names()

    def cost(self, value: float = 0) -> NDArray[np.float64]:
        """Return the costs; for a ratio, of the step that asks for a cut better than `value`.

        Its minimum is that of ``value * denominator - numerator``, up to a factor and a constant:
        at the optimal value, nothing is better.
        """
        return self._posed.cost(self._posed.goal.sign * as_fraction(value)).w

    def __repr__(self) -> str:
        whole = int(self.integer.sum())
        kinds = (
            f"{len(self.lower):,} variables ({whole:,} whole)" if whole else f"{len(self.lower):,} variables"
        )
        reason = "" if self.epsilon is None else f"; epsilon {self.epsilon_reason}"
        return f"<{self.formulation} program to {self.goal}: {kinds}, {len(self.b):,} rows{reason}>"

    def run(
        self,
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
        log: Callable[[str], None] | None = None,
    ) -> Run:
        """Solve and recount, and return what happened, be it right or wrong.

        Parameters
        ----------
        time_limit : float, default=None
            Seconds after which the solver stops, or is ended one second later.
        gap : float, default=0
            Stop when the best answer is proven to be within this share of the optimum's cost.
        log : callable, default=None
            Gets the solver's log, line by line.
        """
        limit = math.inf if time_limit is None else float(time_limit)
        return run(self._posed, time_limit=limit, gap=gap, log=log)

    def solve(
        self,
        *,
        time_limit: float | None = None,
        gap: float = 0.0,
        log: Callable[[str], None] | None = None,
    ) -> Solution:
        """Solve, and return the solution that `find` returns, if the answer stands the recount.

        The solver's labels are turned into a threshold, the lowest score that is called positive,
        and everything is counted again on the data, in integers.

        Parameters
        ----------
        time_limit, gap, log
            As for `run`. If the solver is stopped early, the status is ``"time_limit"`` or
            ``"gap_limit"``, the threshold is the best so far, and ``certificate.upper`` bounds what
            any threshold can attain.

        Raises
        ------
        SolverError
            The solver failed; its labels are not those of a threshold, or do not have the value
            that it claims; a cut is better than its "optimum"; or it was stopped before it found
            any threshold that meets the constraints.
        """
        made = self.run(time_limit=time_limit, gap=gap, log=log)
        return self.believe(made)

    def believe(self, made: Run) -> Solution:
        """Turn a run of this model into a solution, or raise `SolverError` if it does not recount."""

        def look(one: Goal) -> SearchResult:
            if one is self.goal:
                return answer(self._posed, made, passes=self._source.passes)
            return search(self._source, one)

        return solve(self.goal, look)

    def mixture(self) -> Mixture:
        """Return the best randomized rule: toss a coin between thresholds, at most one per constraint more.

        With constraints the relaxation of the chain has fractional vertices: mixtures of
        thresholds, better in expectation than any single one, and met in expectation only
        (Neyman and Pearson). Linear objectives, and no ratio; never returned unless asked for.

        Examples
        --------
        >>> from cutpoints import from_counts, ilp
        >>> data = from_counts([0.9, 0.5, 0.1], positives=[3, 1, 1], negatives=[0, 1, 0])
        >>> model = ilp.formulate(data, maximize="recall", subject_to="precision >= 0.9")
        >>> model.solve().value
        0.6
        >>> rule = model.mixture()
        >>> round(rule.value, 4), rule.thresholds, [round(p, 4) for p in rule.probabilities]
        (0.7714, (0.9, 0.1), [0.5714, 0.4286])
        """
        value, rule = mixture(self._posed)
        return Mixture(value, tuple(t for t, _ in rule), tuple(p for _, p in rule))

    def write(self, path: str | os.PathLike[str], *, value: float = 0) -> None:
        """Write the program as CPLEX LP (``.lp``) or free MPS (``.mps``), for any solver.

        A write that fails leaves an older file of this name as it was.

        Parameters
        ----------
        path : str or path
            Where to; the ending says which format.
        value : float, default=0
            For a ratio: which step of the method to write, as for `cost`.
        """
        cost = self._posed.cost(self.goal.sign * as_fraction(value))
        title = f"{self.goal} ({self.formulation}; epsilon {self.epsilon_reason})"
        _files.write(path, self._posed.program, cost, title)

    def to_dict(self) -> dict[str, Any]:
        """Return the size of the program and the choice of epsilon, for JSON."""
        return {
            "formulation": self.formulation,
            "variables": len(self.lower),
            "integer_variables": int(self.integer.sum()),
            "rows": len(self.b),
            "nonzeros": int(self.A.nnz),
            "epsilon": json_number(self.epsilon),
            "epsilon_reason": self.epsilon_reason,
            "uses_ranks": self.uses_ranks,
        }

"""What to expect on new data: an estimate beside the value that the same rows chose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._assess import assess
from cutpoints._assess.bands import band
from cutpoints._data.arrays import ArraySource
from cutpoints._data.labels import Labels
from cutpoints._format import json_number
from cutpoints._kernel.cuts import Cuts
from cutpoints._result import context_of
from cutpoints._validate import generator
from cutpoints.exceptions import CutpointError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Summary
    from cutpoints._report.cuts import ModelCuts
    from cutpoints._result import Solution

FOLDS = 5
CROSS_VALIDATED_ROWS = 1 << 17
"""Up to this many rows the choice of the threshold is cross-validated; with more, buckets are resampled."""
REPLICATES = 50
RESAMPLED_BUCKETS = 1 << 12
CONFIDENCE = 0.95

Method = Literal["cross-validation", "bootstrap of bucket counts", "none"]


@dataclass(frozen=True)
class NewData:
    """The value to expect on new data, how it was found, and the worst that is plausible.

    `value` is NaN where there is none (`how` says why), and `bound` where there is no band.
    """

    method: Method
    value: float
    bound: float
    how: str
    constraints: tuple[tuple[str, float, float], ...] = ()
    """Each constraint, the value of its metric on these rows, and what to expect on new data."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "method": self.method,
            "value": json_number(self.value),
            "bound": json_number(self.bound),
            "confidence": CONFIDENCE,
            "how": self.how,
            "constraints": [
                {"constraint": one, "value": json_number(here), "expected": json_number(there)}
                for one, here, there in self.constraints
            ],
        }


def on_new_data(
    source: Source, goal: Goal, model: ModelCuts, *, weighted: bool, random_state: int = 0
) -> NewData:
    """Judge the best threshold by rows that did not choose it.

    Cross-validation up to `CROSS_VALIDATED_ROWS` rows with labels in memory. Otherwise the optimism is
    estimated by the bootstrap on the counts of the buckets, which costs little however many rows there
    are; with weights that is not possible. Nor is it for goals that add up columns, which are
    cross-validated however many rows are in memory.
    """
    solution = model.solutions[0]
    assert solution is not None
    rows = model.summary.rows
    # Weights say nothing of how many rows a class has; `assess` will say it if they are too few.
    fewest = FOLDS if weighted else int(min(model.summary.totals))
    if fewest < 2:
        return NewData("none", math.nan, math.nan, "each class needs at least two rows")
    one_by_one = isinstance(source, ArraySource) and isinstance(source.streams[0].labels, Labels)
    if one_by_one and (goal.columns or rows <= CROSS_VALIDATED_ROWS):
        folds = min(FOLDS, fewest)
        try:
            found = assess(
                source,
                maximize=goal.expression if goal.sign > 0 else None,
                minimize=goal.expression if goal.sign < 0 else None,
                subject_to=list(goal.constraints) or None,
                cv=folds,
                n_bootstrap=0,
                random_state=random_state,
            )
        except CutpointError as error:
            return NewData("none", math.nan, math.nan, error.facts)
        if math.isnan(found.cross_validated):
            why = f"no threshold could be chosen and judged in any of {folds} folds"
            return NewData("none", math.nan, found.lower_bound, why)
        return NewData(
            "cross-validation",
            found.cross_validated,
            found.lower_bound,
            f"{folds}-fold cross-validation: each fold is judged at the best threshold of the others, "
            "and the counts of all folds are added up",
            tuple(
                (one, value, found.cross_validation.constraints[one])
                for one, value in found.resubstitution_constraints.items()
            ),
        )
    if weighted or goal.columns:
        what = "sums of columns" if goal.columns else "counts of weighted rows"
        return NewData("none", math.nan, math.nan, f"{what} cannot be resampled")
    buckets = min(RESAMPLED_BUCKETS, len(model.edges))
    expressions = [goal.expression, *(one.expression for one in goal.constraints)]
    assert solution.confusion is not None
    values = [solution.confusion.metric(one) for one in expressions]
    expected = [a - b for a, b in zip(values, _optimism(goal, model, random_state), strict=True)]
    return NewData(
        "bootstrap of bucket counts",
        expected[0],
        _bound(goal, solution, model.summary),
        f"bootstrap with {REPLICATES} resamples of {buckets:,} buckets of scores, which "
        "estimate how much too good the value is on the rows that chose the threshold",
        tuple(zip(map(str, goal.constraints), values[1:], expected[1:], strict=True)),
    )


def _optimism(goal: Goal, model: ModelCuts, random_state: int) -> list[float]:
    """Return by how much the objective, and each constraint's metric, is too good (Efron 1983).

    Thresholds are chosen among the edges of buckets. NaN where it cannot be said.
    """
    edges = model.edges
    if len(edges) > RESAMPLED_BUCKETS:
        edges = edges[np.unique(np.linspace(0, len(edges) - 1, RESAMPLED_BUCKETS).astype(np.intp))]
    expressions = [goal.expression, *(one.expression for one in goal.constraints)]
    counts = [np.rint(np.diff(edges.floats[side], prepend=0.0)) for side in ("tp", "fp")]
    rng = generator(random_state, edges.thresholds, *counts, caller="report")
    totals = [int(side.sum()) for side in counts]
    truth = [edges.values(one) for one in expressions]
    here = _best(goal, truth)
    gaps = []
    for _ in range(REPLICATES if here is not None else 0):
        tp, fp = (
            np.cumsum(rng.multinomial(total, side / total)).astype(np.float64)
            for total, side in zip(totals, counts, strict=True)
        )
        cells = {"tp": tp, "fp": fp, "fn": totals[0] - tp, "tn": totals[1] - fp}
        with np.errstate(all="ignore"):
            values = [np.asarray(one.evaluate(**cells), dtype=np.float64) for one in expressions]
        best = _best(goal, values)
        if best is not None:
            # Less the gap at the threshold of all rows, which is chance alone: it cancels on average.
            gaps.append(
                [(v[best] - t[best]) - (v[here] - t[here]) for v, t in zip(values, truth, strict=True)]
            )
    known = [gap for gap in gaps if not np.isnan(gap).any()]
    return np.mean(known, axis=0).tolist() if known else [math.nan] * len(expressions)


def _best(goal: Goal, values: list[NDArray[np.float64]]) -> int | None:
    """Return the best cut that meets the constraints; floats are good enough for an estimate."""
    usable = ~np.isnan(values[0])
    for constraint, reached in zip(goal.constraints, values[1:], strict=True):
        usable &= constraint.holds(reached - float(constraint.bound))
    return int(np.argmax(np.where(usable, goal.sign * values[0], -np.inf))) if usable.any() else None


def _bound(goal: Goal, solution: Solution, summary: Summary) -> float:
    """Return the worst value at the threshold on new rows, by the band that holds at all thresholds."""
    context = context_of(solution)
    assert context is not None
    tp, fp = (np.array([side], dtype=np.int64) for side in context.called)
    one = np.array([float(solution.threshold or 0.0)])
    found = band(Cuts(summary, one, one, tp, fp), goal.expression, CONFIDENCE)
    if found is None:
        return math.nan
    return float(found.low[0] if goal.sign > 0 else found.high[0])

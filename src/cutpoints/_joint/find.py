"""`find_joint`: validate once, search all combinations of cuts, return one threshold per segment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cutpoints._data.read import as_data
from cutpoints._find import find, find_by
from cutpoints._goal import constraints, goal
from cutpoints._joint.beside import cross_validate, separate_of, separate_thresholds, single_threshold
from cutpoints._joint.data import segmented
from cutpoints._joint.frontier import Frontier
from cutpoints._joint.guarantee import Certifier
from cutpoints._joint.problem import Problem
from cutpoints._joint.randomized import randomized_value
from cutpoints._joint.result import JointCertificate, JointSolution, SegmentThreshold
from cutpoints._result import Confusion, make_cut
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutpoints._data.data import Data
    from cutpoints._goal import Constraints, Objective
    from cutpoints._joint.data import SegmentedRows
    from cutpoints._search.guarantee import Confidence
    from cutpoints._shown import KnownColumns
    from cutpoints.metrics.expression import Constraint


def find_joint(
    y_true: Any,
    y_score: Any = None,
    *,
    by: Any,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    each: Constraints = None,
    gap: Constraints = None,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    guarantee: Confidence | None = None,
    random_state: Any = 0,
) -> JointSolution:
    """Find one threshold per segment that together are best for one goal over all rows, and prove it.

    Exact: the optimum over all combinations of cuts, by a search that excludes nearly all of them with a
    bound. Where many combinations come too close to compare them all, the status is ``"gap_limit"``, and the
    certificate says how much better others could be. Takes one to three times as long as sorting the rows
    by segment and score, more with a gap. Rows that stay in their engine are counted there, and only the
    scores that may matter are fetched; with a gap or a guarantee, all distinct scores.

    Parameters
    ----------
    y_true, y_score, label, score, weight, sample_weight, pos_label
        As for `find`.
    by : str, list of str, or array-like of shape (n_samples,)
        The segments, as for `find_by`.
    maximize, minimize : str or metric expression
        A metric over all rows that is linear in the counts or a quotient of such: a cost, ``"recall"``,
        ``"precision"``, ``"f1"``, ``"accuracy"``, and others.
    subject_to : str, constraint, or a list of them, default=None
        What must hold over all rows: ``["precision >= 0.95", "predicted_positive <= 500"]``; metrics as for
        the objective.
    each : str, constraint, or a list of them, default=None
        What must hold in each segment, ``"recall >= 0.6"``; any metric. Where it is undefined at every
        threshold of a segment, such as recall without positives, it does not apply.
    gap : str, constraint, or a list of them, default=None
        How far a rate may differ between segments: ``"recall <= 0.05"``; equalized odds are
        ``["recall <= 0.05", "fpr <= 0.05"]``. Segments in which the rate is undefined take no part. The
        thresholds are fixed: no row is decided by chance.
    guarantee : float in (0, 1) or "expectation", default=None
        Ask for constraints that hold on new data from the same source, with this confidence, as in `find`.
        A third of the rows fixes the frontier of the segments, the others certify how far along it the
        constraints hold. The result has the best of the certified thresholds, or the status
        ``"none_certified"``. Not with `each`, `gap` or weights. With few rows in each segment one threshold
        may be better: compare `single`.
    random_state : int, Generator or None, default=0
        How rows are assigned to folds for the cross-validated value, and to the pilot of `guarantee`. An
        integer is mixed with a digest of the data.

    Returns
    -------
    JointSolution
        A mapping from segments to their thresholds, with `value`, `confusion` (the total), `thresholds`,
        `status`, `certificate` and `frontier()`, and beside it the best `single` threshold, each segment by
        itself (`separate`) and the `cross_validated` value.

    See Also
    --------
    find_by : One threshold per segment, each for itself.

    Notes
    -----
    If several combinations have the best value, one of them is returned, always the same one.

    Examples
    --------
    >>> import cutpoints as cp
    >>> y, p, country = [0, 1, 1, 0, 1, 1], [0.2, 0.6, 0.9, 0.7, 0.8, 0.3], ["DE"] * 3 + ["FR"] * 3
    >>> found = cp.find_joint(y, p, by=country, maximize="recall", subject_to="precision >= 0.9")
    >>> found.thresholds, found.value
    ({'DE': 0.6, 'FR': 0.8}, 0.75)
    >>> found.single.value
    0.5
    """
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="find_joint")
    in_each = constraints(each, "find_joint")
    gaps = constraints(gap, "find_joint")
    _check_gaps(gaps)
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label, caller="find_joint",
    )  # fmt: skip
    certifier = None
    if guarantee is not None:
        certifier = Certifier.of(guarantee, random_state, data, each=each, gap=gap)
    needed = None if gaps or certifier else wanted
    rows = segmented(data, by, caller="find_joint", goal=needed, each=in_each)
    problem = Problem(rows.cuts, wanted, in_each, gaps)
    known = data.known(rows.cuts.thresholds.dtype)
    found = joint_solution(
        problem, rows, certifier, random_state, known, rows_are_counted=counted(data, rows)
    )
    data.warn_of_one_class(found.positives, found.negatives)
    return found if rows.complete else _with_all_cuts(found, problem, data, rows.by)


def _with_all_cuts(found: JointSolution, problem: Problem, data: Data, by: tuple[str, ...]) -> JointSolution:
    """Have what stands beside the thresholds searched on all cuts, where only some are in memory."""
    if found.value is None:
        return found
    goal = problem.goal
    wanted: dict[str, Any] = {goal.direction: goal.expression}
    own = (*goal.constraints, *problem.each)
    beside = {
        **found._beside,  # noqa: SLF001 - its other half
        "single": lambda: find(data, **wanted, subject_to=goal.constraints),
        "separate": lambda: separate_of(find_by(data, by=list(by), **wanted, subject_to=own), problem),
    }
    return replace(found, _beside=beside)


def _check_gaps(gaps: tuple[Constraint, ...]) -> None:
    """Raise for what does not bound a difference between segments."""
    for one in gaps:
        impossible = one.bound < 0 or (one.strict and one.bound == 0)
        if one.wants_high or impossible or not one.expression.rational:
            raise InvalidParameterError(
                "gap",
                caller="find_joint",
                expected="an upper bound, of 0 or more, on the difference of a rate between segments",
                got=str(one),
                hint="for example gap='recall <= 0.05'.",
            )


def counted(data: Data, rows: SegmentedRows) -> bool:
    """Whether sums are numbers of rows, which can be dealt out one by one."""
    return not data.weighted and not data.counted and rows.cuts.grid.step == 1


def joint_solution(
    problem: Problem,
    rows: SegmentedRows,
    certifier: Certifier | None,
    random_state: Any,
    columns: KnownColumns,
    *,
    rows_are_counted: bool,
) -> JointSolution:
    """Search, and build the answer."""
    goal, cuts, keys = problem.goal, rows.cuts, rows.keys
    summary = cuts.total
    found = problem.solve() if certifier is None else None
    certified = None if certifier is None else certifier.certify(problem)
    common: dict[str, Any] = {
        "by": rows.by,
        "objective": str(goal.expression),
        "direction": goal.direction,
        "constraints": tuple(map(str, goal.constraints)),
        "each": tuple(map(str, problem.each)),
        "gap": tuple(map(str, problem.gaps)),
        "rows": summary.rows,
        "positives": summary.grid.number(summary.positives),
        "negatives": summary.grid.number(summary.negatives),
        "guarantee": certified and certified.guarantee,
    }
    picks = found.cuts if found else certified.cuts if certified else None
    if picks is None:
        empty = problem.points.empty
        return JointSolution(
            status="none_certified" if certified else "infeasible",
            certificate=JointCertificate.of(cuts, goal, None, None, rows.passes),
            attainable=() if len(empty) or certified else problem.attainable(),
            empty=(keys[empty[0]],) if len(empty) else None,
            **common,
        )
    tp, fp = int(cuts.tp[picks].sum()), int(cuts.fp[picks].sum())
    value = problem.value(tp, fp)
    best = found and found.best

    def segments() -> dict[Any, SegmentThreshold]:
        found = {}
        for key, cut, size in zip(keys, picks.tolist(), cuts.rows.tolist(), strict=True):
            made = make_cut(cuts.confusion(cut), cuts.thresholds[cut], cuts.below[cut])
            own = made.confusion.metric(goal.expression)
            found[key] = SegmentThreshold(made.threshold, made.interval, made.confusion, own, size)
        return found

    def choose(part: Problem) -> NDArray[np.intp] | None:
        if certifier is not None:
            return certifier.certify(part).cuts
        solved = part.solve()
        return None if solved is None else solved.cuts

    return JointSolution(
        status="optimal" if best is None or best.proven else "gap_limit",
        certificate=JointCertificate.of(cuts, goal, value, best, rows.passes),
        value=value,
        confusion=Confusion.of(summary.confusion(tp, fp)),
        thresholds=dict(zip(keys, map(float, cuts.thresholds[picks]), strict=True)),
        _beside={
            "_segments": segments,
            "single": lambda: single_threshold(problem, certifier),
            "separate": lambda: separate_thresholds(problem, keys),
            "cross_validated": lambda: cross_validate(
                problem, choose, random_state, rows_are_counted=rows_are_counted
            ),
            "_frontier": lambda: Frontier(problem, keys),
            "randomized": lambda: randomized_value(problem, value),
        },
        _columns=columns,
        **common,
    )

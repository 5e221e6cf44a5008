"""The front door: validate once, choose the search, return a solution."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from cutpoints._data.arrays import ArraySource
from cutpoints._data.read import as_source
from cutpoints._goal import Constraints, Goal, Objective, furthest, with_others
from cutpoints._goal import goal as read_goal
from cutpoints._result import Attainable, Certificate, Cut, Interval, Solution, Ties, make_cut
from cutpoints._search import run
from cutpoints._search.guarantee import Confidence, certify
from cutpoints._search.run import Found, decide, search, undefined
from cutpoints._search.score_distribution import Seen
from cutpoints._validate import check_confidence
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cutpoints._data.source import Source
    from cutpoints._kernel.cuts import Cuts
    from cutpoints._segments import Segments
    from cutpoints.metrics.expression import Constraint

At = Literal["score", "middle"]
Method = Literal[run.Method, "ilp"]
_METHODS: tuple[Method, ...] = ("auto", "sweep", "narrow", "ilp")
_PLACES: tuple[At, ...] = ("score", "middle")


@overload
def find(
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
    confidence: Confidence | None = None,
    random_state: Any = 0,
    method: Method = "auto",
    at: At = "score",
    by: None = None,
    min_rows: int = 1,
    where: str | None = None,
    sql: str | None = None,
    memory_limit: str | None = None,
) -> Solution: ...
@overload
def find(
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
    confidence: Confidence | None = None,
    random_state: Any = 0,
    method: Method = "auto",
    at: At = "score",
    by: Any,
    min_rows: int = 1,
    where: str | None = None,
    sql: str | None = None,
    memory_limit: str | None = None,
) -> Segments: ...
def find(
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
    confidence: Confidence | None = None,
    random_state: Any = 0,
    method: Method = "auto",
    at: At = "score",
    by: Any = None,
    min_rows: int = 1,
    where: str | None = None,
    sql: str | None = None,
    memory_limit: str | None = None,
) -> Solution | Segments:
    """Find the threshold that is best for a goal, and prove it.

    Exact: the optimum over all cuts, "nobody positive" and "everybody positive" included, with all
    its ties; equal scores are never split. The rule is *positive iff score >= threshold*. Between
    cuts of equal value the one that calls the fewest rows positive is chosen.

    Time is five to ten times that of adding up the scores for metrics of the catalogue, from a million
    rows on; that of a sort for few rows and for functions of your own. Many rows are never all copied.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame, path, or a source
        Labels: 0/1, booleans, -1/+1, or any two values with `pos_label`. In place of `y_true` and
        `y_score`: a data frame of pandas, Polars, pyarrow, DuckDB, Spark, Dask or Ibis, where lazy ones
        stay lazy, or the path, folder or pattern of files (or a list), with the names of columns in
        `label`, `score` and `weight`; or rows that are already counted, see `counted`.
    y_score : array-like of shape (n_samples,)
        Any real scores: probabilities, logits, points. float32 is compared as float32. Infinite
        scores are allowed; NaN is an error.
    maximize, minimize : str, metric expression or callable
        What to maximise or minimise, one of the two: ``"f1"``, ``"cost(fp=2, fn=1)"``,
        ``0.7 * m.accuracy + 0.3 * m.recall``, or a function of ``(tp, fp, fn, tn)``.
    subject_to : str, constraint, or a list of them, default=None
        What must hold: ``"precision >= 0.95"``, ``["recall >= 0.8", m.predicted_positive <= 500]``.
        Numbers are read as the decimals that they are: 0.1 is one tenth.
    label, score, weight : str, default=None
        Names of columns, where `y_true` is a frame or a path.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. Sums of weights are exact, whatever the order of the rows.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; 1 by default.
    confidence : float in (0, 1) or "expectation", default=None
        Ask for constraints that hold not only on these rows but on new data from the same source,
        with this confidence: 0.95 errs for one sample in twenty. Possible for bounds on shares of
        rows (precision, recall, fpr, f1, ...), on independent rows without weights. Where nothing
        can be certified the status is ``"none_certified"``. ``"expectation"``: the bound holds on
        average over samples; for recall, fnr, specificity, fpr and predicted_positive_rate.
    random_state : int, Generator or None, default=0
        Fixes the pilot part of the rows that `confidence` sets aside for shares such as precision. An
        integer is mixed with a digest of the data: the same rows, in any order, give the same pilot, and
        other rows another one. To try several and keep the best one would void the guarantee.
    method : {"auto", "sweep", "narrow", "ilp"}, default="auto"
        How to search; the answer is the same bit for bit. "sweep" sorts; "narrow" does not; "ilp"
        solves linear programmes, slowly, as a check by other means: for objectives and constraints
        that are linear or ratios in TP and FP only. `cutpoints.ilp` shows the programmes, and can
        stop them early.
    at : {"score", "middle"}, default="score"
        Where in the interval of equal decisions to put the threshold: at the lowest score that is
        called positive, so that decisions replay bit for bit, or in the middle of the gap below it.
    by : str, list of str, or array-like of shape (n_samples,), default=None
        Find one threshold per segment: names of columns, or one array, or a list or dict of several.
        All segments share the passes over the data. Rows without a key are a segment of their own.
    min_rows : int, default=1
        Segments with fewer rows are not searched, and say so.
    where : str, default=None
        For files: a condition on the rows, such as ``"month = '2026-10' and country in ('DE', 'FR')"``.
    sql : str, default=None
        For files: one SELECT over them as the table ``data``, whose result has the named columns. It
        can read these files and no others.
    memory_limit : str, default=None
        For files: what DuckDB may use before it writes to a temporary folder, such as ``"2GB"``.

    Returns
    -------
    Solution
        With `threshold`, `interval`, `value`, `confusion`, `ties`, `certificate` and `status`. If
        no cut meets the constraints the status is ``"infeasible"``, and `attainable` says how far
        each can be met.
    Segments
        With `by`: a mapping from segments to solutions. A segment in which the goal is undefined, or
        with too few rows, has an `Unsolved` in place of a solution, and stops no other.

    Raises
    ------
    InvalidInputError
        NaN scores, more than two labels, lengths that differ, negative weights, an objective that
        is undefined at every cut (recall without positives).
    InvalidParameterError
        An objective or constraint that cannot be read.

    See Also
    --------
    curve : Every cut at once.

    Examples
    --------
    >>> import cutpoints as cp
    >>> s = cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1")
    >>> s.threshold, s.value
    (0.35, 0.8)
    >>> cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="recall", subject_to="precision >= 0.95")
    threshold   0.8  (positive iff score >= threshold)
    value       0.5  (maximize recall subject to precision >= 0.95)
    interval    (0.4, 0.8]
    confusion   tp 1  fp 0  fn 1  tn 2
    certificate optimal, sweep: 2 passes, 4 rows examined
    data        4 rows, 2 positive, 2 negative
    """
    wanted = read_goal(maximize=maximize, minimize=minimize, subject_to=subject_to)
    if confidence is not None:
        check_confidence(confidence, "find", expectation=True)
        for name, value in (("sample_weight", sample_weight), ("at", None if at == "score" else at)):
            if value is not None:
                raise InvalidParameterError.of(
                    parameter=name,
                    caller="find",
                    must_be="left out when 'confidence' is given: only independent rows, and "
                    "thresholds that were tested, can be certified",
                    got=value,
                )
    if method not in _METHODS:
        raise _not_one_of(_METHODS, "method", method)
    if at not in _PLACES:
        raise _not_one_of(_PLACES, "at", at)
    columns = {"label": label, "score": score, "weight": weight}
    filters = {"where": where, "sql": sql, "memory_limit": memory_limit}
    # The segments of a file are columns of it: they come with the batches.
    take = partial(as_source, filters=filters, stream=None if by is None else True)

    def one(source: Source) -> Solution:
        if confidence is not None:
            found, guarantee = certify(source, wanted, confidence, random_state)
            solution = _optimal(wanted, found, at) if found.choice else _none(wanted, found, "none_certified")
            solution = replace(solution, guarantee=guarantee)
        else:
            solution = solve(wanted, lambda g: _look(source, g, method if g is wanted else "auto"), at)
        return named(solution)

    def named(solution: Solution) -> Solution:
        if solution.seen is not None:
            solution.seen.score, solution.seen.label, solution.seen.pos_label = score, label, pos_label
        return solution

    if by is None:
        if min_rows != 1:
            raise InvalidParameterError.of(
                parameter="min_rows",
                caller="find",
                must_be="used with 'by', whose segments it is about",
                got=f"{min_rows} without 'by'",
                hint="for example by='country', min_rows=100.",
            )
        return one(take(y_true, y_score, columns=columns, sample_weight=sample_weight, pos_label=pos_label))
    from cutpoints import _segments as segments

    data = segments.read(
        y_true, by, columns, take, y_score=y_score, sample_weight=sample_weight, pos_label=pos_label
    )
    least = segments.at_least(min_rows)
    if isinstance(data.rows, segments.InMemory):
        return segments.in_memory(data.rows, data.by, wanted, one, least)
    segments.check_streamed(method=method, confidence=confidence)
    return segments.streamed(
        data.rows, data.by, wanted, lambda goal, look: named(solve(goal, look, at)), least
    )


def _not_one_of(allowed: tuple[str, ...], parameter: str, got: object) -> InvalidParameterError:
    must_be = f"one of {', '.join(map(repr, allowed))}"
    return InvalidParameterError.of(parameter=parameter, caller="find", must_be=must_be, got=got)


def _look(source: Source, goal: Goal, method: Method) -> Found:
    """Search, by an integer program if that is asked for."""
    if method != "ilp":
        return search(source, goal, method)
    from cutpoints._ilp.run import solve_source

    return solve_source(source, goal)


def solve(wanted: Goal, look: Callable[[Goal], Found], at: At = "score") -> Solution:
    """Turn a search into a solution; if no cut is feasible, search again for what can be attained."""
    found = look(wanted)
    return _infeasible(wanted, found, look) if found.choice is None else _optimal(wanted, found, at)


def counted(y_score: Any, *, positives: Any, negatives: Any) -> ArraySource:
    """Take rows that are already counted, as data for `find` and `curve`.

    Parameters
    ----------
    y_score : array-like of shape (n_rows,)
        The scores; equal ones may come more than once.
    positives, negatives : array-like of shape (n_rows,)
        How much each row adds to each class: counts, soft labels ``q`` and ``1 - q``, or costs.

    Examples
    --------
    >>> import cutpoints as cp
    >>> data = cp.counted([0.2, 0.5, 0.9], positives=[1, 5, 8], negatives=[9, 5, 1])
    >>> cp.find(data, maximize="f1").threshold
    0.5
    """
    return ArraySource.counted(y_score, positives=positives, negatives=negatives)


def _common(goal: Goal, found: Found) -> dict[str, Any]:
    summary = found.summary
    return {
        "objective": str(goal.expression),
        "direction": goal.direction,
        "constraints": tuple(map(str, goal.constraints)),
        "rows": summary.rows,
        "positives": summary.unit.number(summary.positives),
        "negatives": summary.unit.number(summary.negatives),
    }


def _optimal(goal: Goal, found: Found, at: At) -> Solution:
    cuts, choice = found.cuts, found.choice
    assert choice is not None
    best, value = choice.best, choice.rounded
    cut = cut_at(cuts, best)
    return Solution(
        status=found.status,
        threshold=cut.threshold if at == "score" else middle(cut.interval, cuts.thresholds.dtype),
        value=value,
        interval=cut.interval,
        confusion=cut.confusion,
        ties=Ties(
            found.summary,
            cuts.thresholds[choice.ties],
            cuts.below[choice.ties],
            *choice.masses_of_ties(),
            complete=found.all_ties,
        ),
        certificate=Certificate(
            found.method,
            value,
            value if found.bound is None else found.bound,
            found.passes,
            found.rows_examined,
        ),
        counts=cuts.confusion(best),
        seen=Seen(found),
        **_common(goal, found),
    )


def cut_at(cuts: Cuts, index: int) -> Cut:
    """Return one of the cuts that a search looked at."""
    return make_cut(cuts.confusion(index), cuts.thresholds[index], cuts.below[index])


def middle(interval: Interval, dtype: np.dtype[Any]) -> float:
    """Return the middle of an interval; its upper end where there is no float between, or no middle."""
    low, high = interval
    if math.isinf(low) or math.isinf(high):
        return high
    between = float(dtype.type(low / 2 + high / 2))
    return between if low < between <= high else high


def _infeasible(goal: Goal, found: Found, look: Callable[[Goal], Found]) -> Solution:
    """Say how far each constraint can be met; raise if the objective is undefined at every cut."""
    if found.method == "sweep":  # all cuts are at hand
        if np.isnan(found.cuts.values(goal.expression)).all():
            raise undefined(found.cuts, goal)
        look = partial(_among_all, found)
    else:
        look(Goal(goal.expression, goal.direction))
    best = [_if_defined(look, furthest(constraint)) for constraint in goal.constraints]
    others: list[Found | None] = [None] * len(best)
    if all(one is not None and one.meets(each) for one, each in zip(best, goal.constraints, strict=True)):
        others = [look(one) for one in with_others(goal.constraints)] or others
    if found.method == "sweep":
        found.cuts.look_up([one.choice.best for one in (*best, *others) if one and one.choice])
    return _none(goal, found, "infeasible", tuple(map(_attained, goal.constraints, best, others)))


def _if_defined(look: Callable[[Goal], Found], goal: Goal) -> Found | None:
    try:
        return look(goal)
    except InvalidInputError:  # undefined at every cut
        return None


def _attained(constraint: Constraint, found: Found | None, others: Found | None = None) -> Attainable:
    """Say how far a constraint can be met, after a search for that, and after one where others hold."""
    if found is None:
        return Attainable(str(constraint), math.nan, math.nan, met=False)
    assert found.choice is not None
    return Attainable(
        str(constraint),
        found.choice.rounded,
        float(found.cuts.thresholds[found.choice.best]),
        found.meets(constraint),
        None if others is None or others.choice is None else _attained(constraint, others),
    )


def _among_all(found: Found, goal: Goal) -> Found:
    """Look for another goal among all cuts."""
    return decide(found.cuts, goal, found.method, found.passes, found.rows_examined)


def _none(
    goal: Goal,
    found: Found,
    status: Literal["infeasible", "none_certified"],
    attainable: tuple[Attainable, ...] = (),
) -> Solution:
    worst = -goal.sign * math.inf
    return Solution(
        status=status,
        certificate=Certificate(found.method, worst, worst, found.passes, found.rows_examined),
        attainable=attainable,
        **_common(goal, found),
    )

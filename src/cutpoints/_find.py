"""The front door: validate once, choose the search, return a solution."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.read import as_data
from cutpoints._goal import Constraints, Goal, Objective, furthest, with_others
from cutpoints._goal import constraints as read_constraints
from cutpoints._goal import goal as read_goal
from cutpoints._result import (
    Attainable,
    Certificate,
    Context,
    Cut,
    EachGroup,
    Solution,
    Ties,
    context_of,
    make_cut,
)
from cutpoints._search import run
from cutpoints._search.each import Groups
from cutpoints._search.guarantee import Confidence, certify
from cutpoints._search.optimum import best_cut
from cutpoints._search.run import SearchResult, decide, score_distribution, search, undefined
from cutpoints._search.sweep import all_cuts, cuts_of
from cutpoints._shown import KnownColumns
from cutpoints._validate import check_confidence, one_of, positive_integer
from cutpoints._wording import Argument
from cutpoints.exceptions import DataWarning, InvalidInputError, InvalidParameterError
from cutpoints.metrics.columns import Part, RowSum

if TYPE_CHECKING:
    from collections.abc import Callable

    from cutpoints._data.data import Data
    from cutpoints._data.source import Source
    from cutpoints._kernel.cuts import Cuts
    from cutpoints._kernel.tables import Summary
    from cutpoints._search.run import ScoreDistribution
    from cutpoints._segments import Segments
    from cutpoints.metrics.columns import Column
    from cutpoints.metrics.expression import Constraint

Method = Literal[run.Method, "ilp"]
INVERTED_AREA = 0.45
INVERTED_ERRORS = 4
"""Scores look upside down if the AUC is below `INVERTED_AREA`, and lower than 0.5 by this many standard
errors of scores that say nothing."""
_METHODS: tuple[Method, ...] = ("auto", "sweep", "narrow", "ilp")


def find(
    y_true: Any,
    y_score: Any = None,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    each: Constraints = None,
    by: Any = None,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    lower_is_positive: bool = False,
    guarantee: Confidence | None = None,
    random_state: Any = 0,
    method: Method = "auto",
) -> Solution:
    """Find the threshold that is best for a goal, and prove it.

    Exact: the optimum over all cuts, "no positives" and "all positive" included, with all
    its ties; equal scores are never split. The rule is *positive iff score >= threshold*. Between
    cuts of equal value the one that calls the fewest rows positive is chosen.

    Time is five to ten times that of adding up the scores for metrics of the catalogue, from a million
    rows on; that of a sort for few rows and for functions of your own. Many rows are never all copied.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame, path, or Data
        Labels: 0/1, booleans, -1/+1, or any two values with `pos_label`. In place of `y_true` and
        `y_score`: a data frame of pandas, Polars, pyarrow, DuckDB, Spark, Dask or Ibis, where lazy ones
        stay lazy, or the path, folder or pattern of files (or a list), with the names of columns in
        `label`, `score` and `weight`; or what `read` or `from_counts` returned.
    y_score : array-like of shape (n_samples,)
        Any real scores: probabilities, logits, points. float32 is compared as float32. Infinite
        scores are allowed; NaN is an error.
    maximize, minimize : str, metric expression or callable
        What to maximize or minimize, one of the two: ``"f1"``, ``"cost(fp=2, fn=1)"``,
        ``0.7 * m.accuracy + 0.3 * m.recall``, or a function of ``(tp, fp, fn, tn)``.
    subject_to : str, constraint, or a list of them, default=None
        What must hold: ``"precision >= 0.95"``, ``["recall >= 0.8", m.predicted_positive <= 500]``.
        Numbers are read as the decimals that they are: 0.1 is one tenth.
    each : str, constraint, or a list of them, default=None
        What must hold in every group that `by` makes, with the one threshold: at most 100 alerts on each
        day is ``by="day", each="predicted_positive <= 100"``. The solution's `each` names the group that
        leaves the least room. A group where the metric is 0/0, such as recall without positives, does
        not meet it. Rows are held in memory.
    by : str, list of str, or array-like of shape (n_samples,), default=None
        The groups for `each`, as for `find_by`.
    label, score, weight : str, default=None
        Names of columns, where `y_true` is a frame or a path. `score` also chooses among the columns of
        a `Data`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights. Sums of weights are exact, whatever the order of the rows.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; 1 by default.
    lower_is_positive : bool, default=False
        Low scores mean positive. The search is on ``-score``, and so is the threshold: -0.3 means
        ``score <= 0.3``. `Solution.decide` takes the scores as they are here.
    guarantee : float in (0, 1) or "expectation", default=None
        Ask for constraints that hold not only on these rows but on new data from the same source,
        with this confidence: 0.95 errs for one sample in twenty. Possible for bounds on shares of
        rows (precision, recall, fpr, f1, ...), on independent rows without weights. Where nothing
        can be certified the status is ``"none_certified"``. ``"expectation"``: the bound holds on
        average over samples; for recall, fnr, specificity, fpr and predicted_positive_rate.
    random_state : int, Generator or None, default=0
        Fixes the pilot part of the rows that `guarantee` sets aside for shares such as precision. An
        integer is mixed with a digest of the data: the same rows, in any order, give the same pilot, and
        other rows another one. To try several and keep the best one would void the guarantee.
    method : {"auto", "sweep", "narrow", "ilp"}, default="auto"
        How to search; the answer is the same bit for bit. "sweep" sorts; "narrow" does not; "ilp"
        solves linear programs, slowly, as a check by other means: for objectives and constraints
        that are linear or ratios in TP and FP only. `cutpoints.ilp` shows the programs, and can
        stop them early.

    Returns
    -------
    Solution
        With `threshold`, `interval`, `value`, `confusion`, `ties`, `certificate` and `status`. If
        no cut meets the constraints the status is ``"infeasible"``, and `attainable` says how far
        each can be met.

    Raises
    ------
    InvalidInputError
        NaN scores, more than two labels, lengths that differ, negative weights, an objective that
        is undefined at every cut (recall without positives).
    InvalidParameterError
        An objective or constraint that cannot be read.

    Warns
    -----
    DataWarning
        If all rows are of one class, or if label and score are one column.

    See Also
    --------
    find_by : One threshold per segment.
    curve : Every cut at once.
    read : Name the columns of files and frames once, filter files, limit memory.

    Examples
    --------
    >>> import cutpoints as cp
    >>> s = cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1")
    >>> s.threshold, s.value
    (0.35, 0.8)
    >>> cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="recall", subject_to="precision >= 0.95")
    threshold   0.8  (positive if score >= threshold)
    value       0.5  (maximize recall subject to precision >= 0.95)
    interval    (0.4, 0.8]
    confusion   tp 1  fp 0  fn 1  tn 2
    certificate  optimal (sweep, 1 pass: all 4 rows compared)
    data        4 rows, 2 positive, 2 negative
    """
    wanted = read_goal(maximize=maximize, minimize=minimize, subject_to=subject_to, columns=True)
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label, lower_is_positive=lower_is_positive, caller="find",
    ).for_goal(wanted, "find")  # fmt: skip
    if each is not None or by is not None:
        return _find_in_each(wanted, data, each, by, guarantee=guarantee, method=method)
    search_one = _searching(
        wanted, data, guarantee=guarantee, random_state=random_state, method=method, caller="find"
    )
    source = data.source()
    solution = search_one(source)
    if wanted.columns:
        _check_both_ways(wanted, source.summary())
    context = context_of(solution)
    if context is not None:
        warn_if_inverted(context.summary, _rough_auc(context.summary, context.distribution))
    data.warn_of_one_class(solution.positives, solution.negatives)
    return solution


def _rough_auc(summary: Summary, above: ScoreDistribution) -> float:
    """Return the area under straight lines between the edges of a distribution; NaN with one class."""
    if 0 in (summary.positives, summary.negatives):
        return math.nan
    x, y = (
        np.concatenate([[0.0], side[::-1] / total, [1.0]])
        for side, total in ((above.neg, summary.negatives), (above.pos, summary.positives))
    )
    return float(np.trapezoid(y, x))


def warn_if_inverted(summary: Summary, auc: float, *, model: str | None = None) -> None:
    """Warn if positives score clearly lower than negatives; not for an AUC of NaN, with one class."""
    if math.isnan(auc):
        return
    share = summary.positives / (summary.positives + summary.negatives)
    error = math.sqrt((summary.rows + 1) / (12 * share * (1 - share))) / summary.rows
    if auc < min(INVERTED_AREA, 0.5 - INVERTED_ERRORS * error):
        whose = "" if model is None else f" of model {model!r}"
        warning = DataWarning(
            f"Positives score lower than negatives: the AUC{whose} is {auc:.2f}, clearly below 0.5. "
            "The threshold is the best one, and the scores may be upside down.",
            hint=(
                "if low scores mean positive, pass ",
                Argument("lower_is_positive", value=True),
                "; otherwise check the labels and ",
                Argument("pos_label"),
                ".",
            ),
        )
        warnings.warn(warning, stacklevel=4)


def _check_both_ways(wanted: Goal, summary: Summary) -> None:
    """Raise for costs of columns that speak for the same decision in every row of both classes."""
    expression = wanted.expression
    if not isinstance(expression, RowSum) or wanted.constraints or not all(summary.totals):
        return
    columns: dict[Column, list[Part]] = {}
    for one in summary.columns:
        part = Part(one.sign, one.grid.step, one.positives, one.negatives, 0, 0)
        columns.setdefault(one.column, []).append(part)
    counts = Part(1, summary.grid.step, summary.positives, summary.negatives, 0, 0)
    up, down = expression.gain_and_loss(counts, columns)
    gain, loss = (up, down) if wanted.sign > 0 else (down, up)
    if not gain or not loss:
        always = "never helps" if loss else "is never worse"
        raise InvalidInputError(
            f"'{expression}' must have something for and something against calling a row positive. "
            f"On these rows calling a row positive {always}, whatever the label: no score could help.",
            hint="check signs and cells: fn is a miss, fp a false alarm; in profit(...) costs are negative.",
            kind="one_decision",
        )


def _find_in_each(wanted: Goal, data: Data, each: Any, by: Any, *, guarantee: Any, method: Any) -> Solution:
    """Find one threshold at which constraints hold in every group."""
    from cutpoints._data import segment_keys
    from cutpoints._data.segment_codes import in_order
    from cutpoints._data.segments import Grouped

    for name, given, other, hint in (
        ("each", each, "by", "for one threshold per group use find_by()."),
        ("by", by, "each", "for example by='day', each='predicted_positive <= 100'."),
    ):
        if given is None:
            must_be = f"given where '{other}' is"
            raise InvalidParameterError(name, caller="find", expected=must_be, got=None, hint=hint)
    for name, given, fine in (("guarantee", guarantee, (None,)), ("method", method, ("auto", "sweep"))):
        if given not in fine:
            raise InvalidParameterError(
                name, caller="find", expected="left out where 'each' is given", got=given
            )
    held = read_constraints(each, "find", parameter="each")
    columns = tuple(column for one in held for column in one.expression.columns)
    rows, names = segment_keys.read(data.adding(columns, "find"), by, "find")
    order = in_order(rows.keys)  # of equally tight groups the first one is told, whatever the engine
    if isinstance(rows, Grouped):
        whole: Source = rows.whole
        passes = 0
        groups = Groups(tuple(all_cuts(rows.source(i)) for i in order), held)
    else:
        whole = data.adding(columns, "find").source()
        parts: Any = rows.answer(dict.fromkeys(order), whole.summary().rows, count=False)
        groups = Groups(tuple(cuts_of(rows.summary(i), parts[i]) for i in order), held)
        passes = rows.passes
    cuts = all_cuts(whole)
    allowed = groups.allowed(cuts)

    def in_group(group: int, constraint: Constraint, value: float) -> EachGroup:
        key = segment_keys.key_of(rows.keys[order[group]])
        return EachGroup(names, tuple(map(str, held)), len(rows.keys), key, str(constraint), value)

    feasible = cuts.feasible(wanted.constraints) & allowed
    choice = best_cut(cuts, wanted, feasible) if feasible.any() else None
    found = SearchResult(cuts.summary, cuts, choice, "sweep", whole.passes + passes, cuts.summary.rows)
    if choice is None:
        solution = _infeasible(wanted, found, partial(_look, whole, method="auto"))
        return replace(solution, each=in_group(groups.strictest(cuts), held[0], math.nan))
    tightest = groups.tightest(cuts.thresholds[choice.best])
    return replace(_with_names(_optimal(wanted, found), data), each=in_group(*tightest))


def find_by(
    y_true: Any,
    y_score: Any = None,
    *,
    by: Any,
    min_rows: int = 1,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    lower_is_positive: bool = False,
    guarantee: Confidence | None = None,
    random_state: Any = 0,
    method: Method = "auto",
) -> Segments:
    """Find one threshold per segment, each for itself, as `find` does.

    All segments share the passes over the data.

    Parameters
    ----------
    y_true, y_score, maximize, minimize, subject_to
        As for `find`.
    label, score, weight, sample_weight, pos_label, lower_is_positive
        As for `find`.
    by : str, list of str, or array-like of shape (n_samples,)
        The segments: names of columns, or with arrays one array, or a list or dict of several. Rows
        without a key are a segment of their own.
    min_rows : int, default=1
        Segments with fewer rows are not searched, and say so.
    guarantee, random_state, method
        As for `find`; only for rows in memory.

    Returns
    -------
    Segments
        A mapping from segments to solutions. A segment in which the goal is undefined, or with too few
        rows, has an `Unsolved` in place of a solution, and stops no other.

    Examples
    --------
    >>> import cutpoints as cp
    >>> y, p = [0, 1, 1, 0, 1, 1], [0.2, 0.6, 0.9, 0.7, 0.8, 0.3]
    >>> cp.find_by(y, p, by=["DE", "DE", "DE", "FR", "FR", "FR"], maximize="f1")
    segment  threshold  value  new data  common  tp  fp  fn  tn  rows  note
    DE             0.6      1         -       1   2   0   0   1     3  1 negative
    FR             0.3    0.8         -     0.8   2   1   0   0     3  1 negative
    <BLANKLINE>
    goal    maximize f1
    solved  2 of 2 segments
    common  0.3: f1 0.888889 over all rows
    """
    from cutpoints import _segments as segments
    from cutpoints._data import segment_keys
    from cutpoints._data.segments import Grouped

    wanted = read_goal(
        maximize=maximize, minimize=minimize, subject_to=subject_to, caller="find_by", columns=True
    )
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label, lower_is_positive=lower_is_positive, caller="find_by",
    ).for_goal(wanted, "find_by")  # fmt: skip
    search_one = _searching(
        wanted, data, guarantee=guarantee, random_state=random_state, method=method, caller="find_by"
    )
    hint = ("for example ", Argument("min_rows", 100), ".")
    positive_integer("min_rows", min_rows, hint=hint, caller="find_by")
    rows, names = segment_keys.read(data, by)
    if isinstance(rows, Grouped):
        whole: Source = rows.whole
        entries = segments.solve_each(rows, lambda segment: search_one(rows.source(segment)), min_rows)
    else:
        segments.check_streamed(method=method, guarantee=guarantee)
        whole, look = data.source(), segments.search_in_step(rows, wanted, min_rows)
        entries = segments.solve_each(
            rows, lambda segment: _with_names(solve(wanted, partial(look, segment)), data), min_rows
        )
    data.warn_of_one_class(
        any(one.positives for one in entries.values()), any(one.negatives for one in entries.values())
    )
    return segments.Segments(names, wanted, entries, rows, lambda: search_one(whole))


def _searching(
    wanted: Goal, data: Data, *, guarantee: Any, random_state: Any, method: Method, caller: str
) -> Callable[[Source], Solution]:
    """Check how to search, and return a function that does so."""
    if guarantee is not None:
        check_confidence(guarantee, caller, expectation=True, parameter="guarantee")
        if data.weighted:
            raise InvalidParameterError(
                "weight" if data.named else "sample_weight",
                caller=caller,
                expected="left out when 'guarantee' is given: only independent rows can be certified",
                got=data.weight if data.named else "weights",
            )
    one_of("method", method, _METHODS, caller=caller)

    def search_one(source: Source) -> Solution:
        if guarantee is not None:
            found, promise = certify(source, wanted, guarantee, random_state)
            solution = _optimal(wanted, found) if found.choice else _none(wanted, found, "none_certified")
            solution = replace(solution, guarantee=promise)
        else:
            solution = solve(wanted, lambda g: _look(source, g, method if g is wanted else "auto"))
        return _with_names(solution, data)

    return search_one


def _with_names(solution: Solution, data: Data) -> Solution:
    """Have a solution know what the user calls the columns."""
    context = context_of(solution)
    if context is None:
        return solution
    columns = data.known(context.columns.dtype)
    context = replace(context, columns=columns, lower_is_positive=data.lower_is_positive)
    return replace(solution, _context=context)


def of_negated(solution: Solution) -> Solution:
    """Have a solution know that it is about negated scores."""
    context = context_of(solution)
    return (
        solution if context is None else replace(solution, _context=replace(context, lower_is_positive=True))
    )


def _look(source: Source, goal: Goal, method: Method) -> SearchResult:
    """Search, by an integer program if that is asked for."""
    if method != "ilp":
        return search(source, goal, method)
    from cutpoints._ilp.run import solve_source

    return solve_source(source, goal)


def solve(wanted: Goal, look: Callable[[Goal], SearchResult]) -> Solution:
    """Turn a search into a solution; if no cut is feasible, search again for what can be attained."""
    found = look(wanted)
    return _infeasible(wanted, found, look) if found.choice is None else _optimal(wanted, found)


def _common(goal: Goal, found: SearchResult) -> dict[str, Any]:
    summary = found.summary
    return {
        "objective": str(goal.expression),
        "direction": goal.direction,
        "constraints": tuple(map(str, goal.constraints)),
        "rows": summary.rows,
        "positives": summary.grid.number(summary.positives),
        "negatives": summary.grid.number(summary.negatives),
    }


def _optimal(goal: Goal, found: SearchResult) -> Solution:
    cuts, choice = found.cuts, found.choice
    assert choice is not None
    best, value = choice.best, choice.value
    cut = cut_at(cuts, best)
    return Solution(
        status=found.status,
        threshold=cut.threshold,
        value=value,
        interval=cut.interval,
        confusion=cut.confusion,
        ties=Ties(
            found.summary,
            cuts.thresholds[choice.ties],
            cuts.below[choice.ties],
            cuts.tp[choice.ties],
            cuts.fp[choice.ties],
            complete=found.all_ties,
        ),
        certificate=Certificate(
            found.method,
            value,
            value if found.bound is None else found.bound,
            found.passes,
            found.rows_examined,
            found.summary.resolution,
        ),
        _context=Context(
            found.summary,
            (int(cuts.tp[best]), int(cuts.fp[best])),
            score_distribution(found),
            score_distribution(found, by_class=True),
            KnownColumns(dtype="float32" if cuts.thresholds.dtype.itemsize == 4 else "float64"),
        ),
        **_common(goal, found),
    )


def cut_at(cuts: Cuts, index: int) -> Cut:
    """Return one of the cuts that a search looked at."""
    columns = cuts.parts(index, int) or None
    return make_cut(cuts.confusion(index), cuts.thresholds[index], cuts.below[index], columns)


def _infeasible(goal: Goal, found: SearchResult, look: Callable[[Goal], SearchResult]) -> Solution:
    """Say how far each constraint can be met; raise if the objective is undefined at every cut."""
    if found.method == "sweep":  # all cuts are known
        if np.isnan(found.cuts.values(goal.expression)).all():
            raise undefined(found.summary, goal)
        look = partial(_among_all, found)
    else:
        look(Goal(goal.expression, goal.direction))
    best = [_if_defined(look, furthest(constraint)) for constraint in goal.constraints]
    others: list[SearchResult | None] = [None] * len(best)
    if all(one is not None and one.meets(each) for one, each in zip(best, goal.constraints, strict=True)):
        others = [look(one) for one in with_others(goal.constraints)] or others
    return _none(goal, found, "infeasible", tuple(map(_attained, goal.constraints, best, others)))


def _if_defined(look: Callable[[Goal], SearchResult], goal: Goal) -> SearchResult | None:
    try:
        return look(goal)
    except InvalidInputError:  # undefined at every cut
        return None


def _among_all(found: SearchResult, goal: Goal) -> SearchResult:
    """Look for another goal among all cuts."""
    return decide(found.cuts, goal, found.method, found.passes, found.rows_examined)


def _attained(
    constraint: Constraint, found: SearchResult | None, others: SearchResult | None = None
) -> Attainable:
    """Say how far a constraint can be met, after a search for that, and after one where others hold."""
    if found is None:
        return Attainable(str(constraint), math.nan, math.nan, met=False)
    assert found.choice is not None
    return Attainable(
        str(constraint),
        found.choice.value,
        float(found.cuts.thresholds[found.choice.best]),
        found.meets(constraint),
        None if others is None or others.choice is None else _attained(constraint, others),
    )


def _none(
    goal: Goal,
    found: SearchResult,
    status: Literal["infeasible", "none_certified"],
    attainable: tuple[Attainable, ...] = (),
) -> Solution:
    worst = -goal.sign * math.inf
    return Solution(
        status=status,
        certificate=Certificate(
            found.method, worst, worst, found.passes, found.rows_examined, found.summary.resolution
        ),
        attainable=attainable,
        **_common(goal, found),
    )

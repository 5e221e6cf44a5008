"""`find_labels`: one threshold per label of a multilabel classifier.

The micro average adds up the counts of all labels before the metric is taken: it is a joint problem with
labels as segments. The macro average is the mean of the labels' metrics, so each label is searched by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.label_matrix import read_label_matrix
from cutpoints._data.read import as_data
from cutpoints._goal import Goal, constraints, goal
from cutpoints._joint.beside import confusions_of, judged_folds, reached, single_threshold
from cutpoints._joint.data import segmented
from cutpoints._joint.labels_result import CrossValidatedLabels, LabelsSolution, sum_of
from cutpoints._joint.problem import Problem, allowed_in_each
from cutpoints._joint.result import JointCertificate
from cutpoints._kernel.weights import as_number
from cutpoints._result import Confusion
from cutpoints._search.folds import FOLDS
from cutpoints._search.run import decide
from cutpoints._shown import KnownColumns
from cutpoints._validate import one_of, positive_integer
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Constraints, Objective
    from cutpoints._joint.problem import Joint
    from cutpoints._kernel.segment_cuts import SegmentCuts
    from cutpoints.metrics.expression import Constraint

Average = Literal["micro", "macro"]


def find_labels(
    y_true: Any,
    y_score: Any = None,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    average: Average = "micro",
    subject_to: Constraints = None,
    each: Constraints = None,
    min_rows: int = 1,
    by: str | None = None,
    label: str | None = None,
    score: str | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> LabelsSolution:
    """Find one threshold per label of a multilabel classifier, for a micro or a macro average.

    Exact: the optimum over all combinations of cuts, "none" and "all" included, for both averages.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels), data frame, path, or Data
        What is true: 0 or 1 for each row and label; a data frame has one column per label. Or a long table
        with one row per sample and label, with the names of its columns in `label`, `score` and `by`.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        The scores. What a sparse matrix does not store is a score of 0.
    maximize, minimize : str or metric expression
        The metric of each label, or of all labels together.
    average : {"micro", "macro"}, default="micro"
        Micro: add up the counts of all labels, and take the metric of the sums. Macro: the mean of the
        labels' metrics; a label without positive rows is left out of it, and calls no row positive.
    subject_to : str, constraint, or a list of them, default=None
        What must hold for the sums over all labels; only for the micro average.
    each : str, constraint, or a list of them, default=None
        What must hold for each label. Where it is undefined at every threshold, it does not apply.
    min_rows : int, default=1
        Labels with fewer positive rows share one threshold, since few rows do not tell where theirs is.
    by, label, score : str, default=None
        For a long table: the columns of the label, of whether it is true, and of the score.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, for matrices.
    random_state : int, Generator or None, default=0
        How rows are assigned to folds for the cross-validated value.

    Returns
    -------
    LabelsSolution
        A mapping from labels to thresholds, with `value`, `status`, `certificate` and the
        `cross_validated` value.

    Examples
    --------
    >>> import cutpoints as cp
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 0]]
    >>> P = [[0.9, 0.3], [0.4, 0.1], [0.5, 0.2], [0.1, 0.1]]
    >>> found = cp.find_labels(Y, P, maximize="f1")
    >>> found.thresholds, found.value
    ({0: 0.4, 1: 0.2}, 0.75)
    >>> found.decide(P)
    array([[1, 1],
           [1, 0],
           [1, 1],
           [0, 0]], dtype=int8)
    """
    caller = "find_labels"
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller=caller)
    in_each = constraints(each, caller)
    one_of("average", average, ("micro", "macro"), caller=caller)
    positive_integer(
        "min_rows", min_rows, hint=("for example ", Argument("min_rows", 20), "."), caller=caller
    )
    if average == "macro" and wanted.constraints:
        raise InvalidParameterError(
            "subject_to",
            caller=caller,
            expected="left out for the macro average, which is a mean over labels",
            got=[str(one) for one in wanted.constraints],
            hint=("use ", Argument("each"), " for what must hold for each label, or the micro average."),
        )
    if y_score is not None and not any((by, label, score)):
        rows = read_label_matrix(y_true, y_score, sample_weight, caller=caller)
        labels, keys, name = rows.cuts(), rows.names, "label"
        counted = sample_weight is None
        columns = KnownColumns(dtype="float32" if labels.thresholds.dtype == "float32" else "float64")
    else:
        if by is None or sample_weight is not None:
            raise InvalidParameterError(
                "by" if by is None else "sample_weight",
                caller=caller,
                expected="the column of the labels in a long table"
                if by is None
                else "left out of a long table",
                got=by if by is None else type(sample_weight),
                hint="pass two matrices, or a long table with label=, score= and by=.",
            )
        data = as_data(y_true, y_score, label=label, score=score, caller=caller)
        table = segmented(data, by, caller=caller)
        labels, keys, name = table.cuts, table.keys, by
        counted = not data.weighted and not data.counted
        data.warn_of_one_class(labels.positives.any(), labels.negatives.any())
        columns = data.known(labels.thresholds.dtype)
    if average == "macro" and not labels.positives.any():
        raise InvalidInputError.no_rows_of(
            what="find_labels", positives=0, negatives=as_number(labels.negatives.sum() * labels.grid.step)
        )
    search = _Search(labels, wanted, in_each, average, _pools(labels, min_rows))
    return _solution(search, keys, name, random_state, columns, rows_are_counted=counted, long=by is not None)


def _pools(labels: SegmentCuts, min_rows: int) -> NDArray[np.int64]:
    """Return the group of each label: those with few positives are in one, all others by themselves."""
    step = labels.grid.step
    rare = np.array([int(count) * step < min_rows for count in labels.positives])
    if rare.sum() < 2:
        return np.arange(len(labels))
    group = np.cumsum(~rare) - 1
    return np.where(rare, int((~rare).sum()), group)


@dataclass(frozen=True)
class _Search:
    """What is wanted of the cuts of labels; groups of labels have one threshold."""

    labels: SegmentCuts
    goal: Goal
    each: tuple[Constraint, ...]
    average: Average
    group: NDArray[np.int64]

    def problem(self, labels: SegmentCuts) -> Problem:
        """Return the joint problem of the micro average, for these rows."""
        whole = Problem(_grouped(self.labels, self.group), self.goal, self.each, caller="find_labels")
        return whole.of(_grouped(labels, self.group))

    def run(self, labels: SegmentCuts) -> tuple[NDArray[np.float64] | None, Joint | None]:
        """Return a threshold for each label, None if there are none; and how the micro average was found."""
        if self.average == "macro":
            return self._macro(labels), None
        problem = self.problem(labels)
        found = problem.solve()
        if found is None:
            return None, None
        return problem.cuts.thresholds[found.cuts].astype(np.float64)[self.group], found

    def _macro(self, labels: SegmentCuts) -> NDArray[np.float64] | None:
        thresholds = np.full(len(labels), math.inf)
        for group in range(int(self.group.max()) + 1):
            members = np.flatnonzero((self.group == group) & (labels.positives > 0))
            if len(members) == 0:
                continue
            found = (
                self._alone(labels, int(members[0])) if len(members) == 1 else self._pooled(labels, members)
            )
            if found is None:
                return None
            thresholds[self.group == group] = found
        return thresholds

    def _alone(self, labels: SegmentCuts, label: int) -> float | None:
        cuts = labels.cuts(label)
        bounds = tuple(one for one in self.each if not np.isnan(cuts.values(one.expression)).all())
        try:
            own = decide(cuts, Goal(self.goal.expression, self.goal.direction, bounds), "sweep", 1, 0)
        except InvalidInputError:  # undefined for this label
            return math.inf
        return None if own.choice is None else float(cuts.thresholds[own.choice.best])

    def _pooled(self, labels: SegmentCuts, members: NDArray[np.intp]) -> float | None:
        """Return the threshold at which the mean over some labels is best, to within rounding.

        The mean changes only at cuts of one of the labels: go through all of them, thresholds descending.
        """
        allowed = allowed_in_each(labels, self.each) if self.each else np.ones(len(labels.tp), dtype=np.bool_)
        edges, steps, blocked = [], [], []
        for label in members:
            cuts = labels.cuts(label)
            part = slice(labels.first[label], labels.first[label + 1])
            values = self.goal.sign * cuts.values(self.goal.expression)
            bad = (np.isnan(values) | ~allowed[part]).astype(np.int64)
            values = np.where(np.isnan(values), 0.0, values)
            edges.append(cuts.thresholds.astype(np.float64))
            steps.append(np.diff(values, prepend=0.0))
            blocked.append(np.diff(bad, prepend=0))
        edge = np.concatenate(edges)
        order = np.argsort(-edge, kind="stable")
        edge = edge[order]
        value = np.cumsum(np.concatenate(steps)[order])
        bad = np.cumsum(np.concatenate(blocked)[order])
        last = np.append(edge[1:] != edge[:-1], True)  # the last of equal thresholds
        candidates = np.flatnonzero(last & (bad == 0))
        if len(candidates) == 0:
            return None
        best = value[candidates]
        near = candidates[best >= best.max() - 1e-12 * max(1.0, abs(best).max())]
        return float(edge[near[0]])

    def value(self, confusions: list[Confusion]) -> float:
        """Return the average over labels, by their confusions."""
        if self.average == "micro":
            return sum_of(confusions).metric(self.goal.expression)
        values = [one.metric(self.goal.expression) for one in confusions if one.tp + one.fn > 0]
        values = [one for one in values if not math.isnan(one)]
        return math.fsum(values) / len(values) if values else math.nan


def _grouped(labels: SegmentCuts, group: NDArray[np.int64]) -> SegmentCuts:
    """Return the cuts of groups of labels."""
    if len(np.unique(group)) == len(group):
        return labels
    pos, neg = labels.added()
    own = (labels.thresholds != np.inf) | (pos + neg > 0)  # not "none", which every group has
    rows = np.bincount(group, weights=labels.rows).astype(np.int64)
    return type(labels).of(
        labels.thresholds[own], group[labels.segment[own]], pos[own], neg[own], grid=labels.grid, rows=rows
    )


def _solution(
    search: _Search,
    keys: list[Any],
    name: str,
    random_state: Any,
    columns: KnownColumns,
    *,
    rows_are_counted: bool,
    long: bool,
) -> LabelsSolution:
    labels, wanted = search.labels, search.goal
    thresholds, found = search.run(labels)
    counts = np.bincount(search.group)
    common: dict[str, Any] = {
        "name": name,
        "average": search.average,
        "objective": str(wanted.expression),
        "direction": wanted.direction,
        "constraints": tuple(map(str, wanted.constraints)),
        "each": tuple(map(str, search.each)),
        "pooled": tuple(key for key, group in zip(keys, search.group, strict=True) if counts[group] > 1),
        "rows": int(labels.rows.max()),
        "_columns": columns,
        "_long": long,
    }
    if thresholds is None:
        problem = search.problem(labels)
        return LabelsSolution(
            status="infeasible",
            certificate=JointCertificate.of(labels, wanted, None, None),
            attainable=problem.attainable() if wanted.constraints and not len(problem.points.empty) else (),
            **common,
        )
    at = labels.at(thresholds)
    confusions = [Confusion.of(labels.confusion(cut)) for cut in at.tolist()]
    value = search.value(confusions)
    best = found and found.best
    return LabelsSolution(
        status="optimal" if best is None or best.proven else "gap_limit",
        certificate=JointCertificate.of(labels, wanted, value, best),
        value=value,
        thresholds=dict(zip(keys, thresholds.tolist(), strict=True)),
        confusions=dict(zip(keys, confusions, strict=True)),
        _beside={
            "single": lambda: single_threshold(search.problem(labels)),
            "cross_validated": lambda: _cross_validate(
                search, random_state, rows_are_counted=rows_are_counted
            ),
        },
        **common,
    )


def _cross_validate(search: _Search, random_state: Any, *, rows_are_counted: bool) -> CrossValidatedLabels:
    """Judge each fold by the thresholds of the other folds, and add up the counts of each label."""
    labels = search.labels

    def choose(train: SegmentCuts) -> NDArray[np.intp] | None:
        thresholds, _ = search.run(train)
        return None if thresholds is None else labels.at(thresholds)

    sums, infeasible = judged_folds(
        labels, choose, random_state, rows_are_counted=rows_are_counted, caller="find_labels"
    )
    confusions = confusions_of(labels, sums)
    total = sum_of(confusions)
    value = search.value(confusions) if infeasible < FOLDS else math.nan
    each = tuple(one.metric(search.goal.expression) for one in confusions)
    return CrossValidatedLabels(value, total, *reached(search.goal, total), FOLDS, infeasible, each)

"""Which model, at which threshold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._compare.comparison import Comparison, Entry, PairedTest
from cutpoints._compare.significance import (
    delong,
    joint_table,
    mcnemar,
    paired_bootstrap,
    paired_row_bootstrap,
)
from cutpoints._curve import Curve
from cutpoints._data.read import as_data
from cutpoints._evaluate.binary import baseline, cautions
from cutpoints._goal import Constraints, Goal, Objective, goal, with_columns
from cutpoints._result import Confusion
from cutpoints._search.sweep import all_cuts
from cutpoints._validate import check_confidence, integer_in
from cutpoints.exceptions import DataWarning, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._compare.significance import DeLong
    from cutpoints._data.data import LabelledRows
    from cutpoints.metrics.expression import Constraint, Expression

_ACCURACY = ("accuracy", "error_rate")
_HINT = "compare(y, {'m1': p1, 'm2': p2}, maximize='f1')."


def compare(
    y_true: Any,
    y_score: Any = None,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    lower_is_positive: bool = False,
    confidence: float = 0.95,
    n_bootstrap: int = 2000,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare models for a goal: each at its own best threshold, found exactly.

    Values are compared as fractions: models that are equally good are all winners.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame, path or Data
        Labels. Or in place of `y_true` and `y_score`, as for `find`, a data frame or files with names of
        columns, or a `Data`; the rows are held in memory, since the tests need them all: files are read
        and lazy frames are collected. Or a mapping of names to bare confusions.
    y_score : mapping of str to array-like
        The scores of each model on the same rows.
    maximize, minimize, subject_to
        The goal, as for `find`.
    label, weight : str, default=None
        Names of columns, where `y_true` is a frame or a path.
    score : str or list of str, default=None
        The columns of the scores: one for each model, which it names.
    sample_weight, pos_label, lower_is_positive
        As for `find`. With weights there are no tests and no intervals: a weight is not a number of rows.
    confidence : float, default=0.95
        Of the intervals.
    n_bootstrap : int, default=2000
        How many resamples for the paired bootstrap; 0 for none of the paired tests.
    random_state : int, Generator or None, default=0
        Of the bootstrap.

    Returns
    -------
    Comparison
        `winner`, `winners`, `table()`, `improvements()`, `hull`, `delong`, `tests`. The tests take
        the thresholds as given: that both were chosen on these very rows makes each look better
        than it is on new ones.

    Warns
    -----
    DataWarning
        Where accuracy is the goal, for a prevalence below 5 % and for accuracies below that of the larger
        class; for scores that look upside down; and for fewer than ten
        rows of a class, where intervals and tests of areas are not reliable; with one row there are none.

    Examples
    --------
    >>> import cutpoints as cp
    >>> m1 = cp.Confusion(tp=50, fp=30, fn=0, tn=20)
    >>> m2 = cp.Confusion(tp=20, fp=0, fn=30, tn=50)
    >>> m3 = cp.Confusion(tp=35, fp=15, fn=15, tn=35)
    >>> c = cp.compare({"M1": m1, "M2": m2, "M3": m3}, minimize="cost(fp=2, fn=1)")
    >>> c.winner, [entry.value for entry in c.entries.values()]
    ('M2', [60.0, 30.0, 45.0])
    >>> y, old, new = [0, 1, 0, 1] * 5, [0.2, 0.1, 0.4, 0.9] * 5, [0.1, 0.4, 0.3, 0.8] * 5
    >>> cp.compare(y, {"old": old, "new": new}, maximize="f1").winner
    'new'
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": y, "old": old, "new": new})
    >>> cp.compare(frame, label="y", score=["old", "new"], maximize="f1").winner
    'new'
    """
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="compare", columns=True)
    check_confidence(confidence, "compare")
    integer_in("n_bootstrap", n_bootstrap, 0, caller="compare")
    if isinstance(y_true, Mapping):
        bare = all(isinstance(one, Confusion) for one in y_true.values())
        if wanted.columns:
            raise with_columns(wanted, "compare")
        if not y_true or not bare or y_score is not None:
            expected = "labels, or a mapping of names to Confusion objects alone"
            raise InvalidParameterError("y_true", got=y_true, expected=expected, hint=_HINT, caller="compare")
        found = _of_confusions(y_true, wanted, confidence)
    else:
        if y_score is not None and not isinstance(y_score, Mapping):
            expected = "a mapping of names to scores"
            raise InvalidParameterError(
                "y_score", got=type(y_score), expected=expected, hint=_HINT, caller="compare"
            )
        data = as_data(
            y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
            pos_label=pos_label, lower_is_positive=lower_is_positive, caller="compare", several=True,
        ).for_goal(wanted, "compare")  # fmt: skip
        rows = data.labelled_rows(caller="compare")
        found = _of_scores(
            rows,
            wanted,
            confidence=confidence,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
            lower_is_positive=data.lower_is_positive,
        )
        data.warn_of_one_class(rows.y.any(), not rows.y.all())
    for text in found.warnings:
        warnings.warn(text, DataWarning, stacklevel=2)
    return found


def _of_confusions(models: Mapping[str, Confusion], wanted: Goal, confidence: float) -> Comparison:
    entries = {}
    for name, confusion in models.items():
        counts = confusion.fractions()
        value = wanted.expression.rounded(**counts)
        if math.isnan(value) or not all(_holds(one.plain, counts) for one in wanted.constraints):
            entries[name] = Entry(str(name), None, confusion, None)
        else:
            entries[name] = Entry(str(name), value, confusion, _order_key(wanted.expression, counts))
    lines = {baseline(confusion) for confusion in models.values()}
    return _ranked(wanted, entries, confidence, baseline_=float(lines.pop()) if len(lines) == 1 else math.nan)


def _holds(constraint: Constraint, counts: Mapping[str, Fraction]) -> bool:
    value = _order_key(constraint.expression, counts)
    bound = Fraction(*constraint.expression.bound_key(constraint.bound))
    return value == value and bool(constraint.holds((value > bound) - (value < bound)))


def _order_key(
    expression: Expression, counts: Mapping[str, Fraction], columns: Any = None
) -> Fraction | float:
    """Return a number that orders confusions as an expression does: exact where the expression is."""
    if not expression.exact:
        return expression.rounded(**counts, columns=columns)
    above, under = expression.order_key(**counts, step=Fraction(1), columns=columns)
    if under:
        return Fraction(above) / under
    return math.nan if above == 0 else math.copysign(math.inf, above)


def _of_scores(
    rows: LabelledRows,
    wanted: Goal,
    *,
    confidence: float,
    n_bootstrap: int,
    random_state: Any,
    lower_is_positive: bool,
) -> Comparison:
    curves = {
        name: Curve(all_cuts(source), lower_is_positive=lower_is_positive)
        for name, source in rows.sources.items()
    }
    solutions = {
        name: one.best(**{wanted.direction: wanted.expression}, subject_to=list(wanted.constraints))
        for name, one in curves.items()
    }
    one_class = any(math.isnan(one.auc) for one in curves.values())
    areas = None if one_class or rows.weights is not None else delong(rows.y, *rows.scores.values())
    entries = {}
    for i, (name, solution) in enumerate(solutions.items()):
        confusion = solution.confusion
        key = (
            None
            if confusion is None
            else _order_key(wanted.expression, confusion.fractions(), confusion.columns)
        )
        interval = None if areas is None else areas.interval(i, confidence)
        entries[name] = Entry(name, solution.value, confusion, key, solution, curves[name].auc, interval)
    share = float(baseline(next(iter(curves.values())).at(-math.inf).confusion))
    made = _ranked(wanted, entries, confidence, baseline_=share, curves=curves, delong=areas)
    for name, one in curves.items():
        one.warn_if_inverted(model=name)
    if areas is not None and areas.caution is not None:
        made = replace(made, warnings=(*made.warnings, areas.caution))
    if areas is None or n_bootstrap == 0 or len(made.ranking) < 2:
        return made
    tests = _paired(made, rows, areas, n_bootstrap=n_bootstrap, random_state=random_state)
    return replace(made, tests=tests)


def _paired(
    made: Comparison,
    rows: LabelledRows,
    areas: DeLong,
    *,
    n_bootstrap: int,
    random_state: Any,
) -> tuple[PairedTest, ...]:
    """Test the winner against every other model, each at its best threshold."""
    scores = rows.scores
    positions = {name: i for i, name in enumerate(scores)}
    decisions = {
        name: scores[name] >= np.float64(entry.solution.threshold)
        for name, entry in made.entries.items()
        if entry.solution is not None and name in made.ranking
    }
    tests = []
    first = made.ranking[0]
    for second in made.ranking[1:]:
        both = decisions[first], decisions[second]
        table = joint_table(rows.y, *both)
        gap, interval, p_value = areas.difference(positions[first], positions[second], made.confidence)
        how = {"n_bootstrap": n_bootstrap, "confidence": made.confidence, "random_state": random_state}
        objective = made.goal.expression
        boot = (
            paired_row_bootstrap(rows, both, objective, **how)
            if objective.columns
            else paired_bootstrap(table, objective, **how)
        )
        tests.append(PairedTest(first, second, gap, interval, p_value, mcnemar(table), boot))
    return tuple(tests)


def _ranked(
    wanted: Goal, entries: dict[str, Entry], confidence: float, *, baseline_: float, **more: Any
) -> Comparison:
    """Put the models in order, best first; equal models keep the order in which they were given."""
    keys = {name: -wanted.sign * entry.exact for name, entry in entries.items() if entry.exact is not None}
    ranking = sorted(keys, key=keys.__getitem__)
    winners = tuple(name for name in ranking if keys[name] == keys[ranking[0]])
    texts: dict[str, None] = {}
    about_accuracy = any(str(one) in _ACCURACY for one in wanted.expressions)
    for entry in entries.values():
        if about_accuracy and entry.confusion is not None:
            texts |= dict.fromkeys(cautions(entry.confusion, entry.name))
    return Comparison(wanted, entries, ranking, winners, baseline_, tuple(texts), confidence, **more)

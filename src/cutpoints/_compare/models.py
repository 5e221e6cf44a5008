"""Which model, at which threshold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._compare.auc_tests import delong
from cutpoints._compare.comparison import Comparison, Entry, PairedTest
from cutpoints._compare.paired_tests import joint_table, mcnemar, paired_bootstrap
from cutpoints._curve import curve
from cutpoints._data.array_input import as_array, as_floats, refuse_nan, same_length, weights_and_ends
from cutpoints._data.arrays import ArraySource, Stream
from cutpoints._data.labels import Labels
from cutpoints._data.read import by_name
from cutpoints._evaluate.binary import baseline, cautions
from cutpoints._goal import Constraints, Goal, Objective, goal
from cutpoints._result import Confusion
from cutpoints._validate import check_confidence, check_resamples
from cutpoints.exceptions import DataWarning, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._compare.auc_tests import DeLong
    from cutpoints._kernel.tables import Scores
    from cutpoints._result import Solution
    from cutpoints.metrics.expression import Constraint

_AGREE = Fraction(1, 10**90)
"""Irrational values that agree to 90 digits are called equal, as in the search."""


def compare(
    models: Any,
    y_true: Any = None,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    n_bootstrap: int = 2000,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare models for a goal: each at its own best threshold, found exactly.

    Values are compared as fractions: models that are equally good are all winners.

    Parameters
    ----------
    models : mapping of str to array-like, or of str to Confusion, data frame or path
        The scores of each model on the same rows; or bare confusions, without `y_true`. Or in place of
        `models` and `y_true`, as for `find`, a data frame or files with names of columns; the rows are
        held in memory, since the tests need them all: files are read and lazy frames are collected.
    y_true : array-like of shape (n_samples,), default=None
        Labels, as for `find`.
    maximize, minimize, subject_to
        The goal, as for `find`.
    label, weight : str, default=None
        Names of columns, where `models` is a frame or a path.
    score : str or list of str, default=None
        The columns of the scores there: one for each model, which it names.
    sample_weight, pos_label
        As for `find`. With weights there are no tests and no intervals: a weight is no number of rows.
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
        For a prevalence below 5 %, and for accuracies below that of the larger class.

    Examples
    --------
    >>> import cutpoints as cp
    >>> m1 = cp.Confusion(tp=50, fp=30, fn=0, tn=20)
    >>> m2 = cp.Confusion(tp=20, fp=0, fn=30, tn=50)
    >>> m3 = cp.Confusion(tp=35, fp=15, fn=15, tn=35)
    >>> c = cp.compare({"M1": m1, "M2": m2, "M3": m3}, minimize="cost(fp=2, fn=1)")
    >>> c.winner, [entry.value for entry in c.entries.values()]
    ('M2', [60.0, 30.0, 45.0])
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1], "old": [0.2, 0.1, 0.4, 0.9], "new": [0.1, 0.4, 0.3, 0.8]})
    >>> cp.compare(frame, label="y", score=["old", "new"], maximize="f1").winner
    'new'
    """
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="compare")
    check_confidence(confidence, "compare")
    check_resamples(n_bootstrap, "compare")
    sources = by_name(
        models,
        {"label": label, "score": _columns(score), "weight": weight},
        arrays={"y_true": y_true, "sample_weight": sample_weight},
        pos_label=pos_label,
        caller="compare",
        parameter="models",
    )
    if sources is None and (not isinstance(models, Mapping) or not models):
        raise InvalidParameterError.of(
            parameter="models",
            caller="compare",
            must_be="a non-empty mapping of names to scores or to Confusion objects, or a data frame or a "
            "path with names of columns",
            got=models,
            hint="compare({'m1': p1, 'm2': p2}, y, maximize='f1').",
        )
    bare = [] if sources is not None else [isinstance(model, Confusion) for model in models.values()]
    if any(bare):
        if not all(bare) or y_true is not None:
            raise InvalidParameterError.of(
                parameter="models",
                caller="compare",
                must_be="either scores with 'y_true', or Confusion objects without",
                got="Confusion objects" + (" and scores" if not all(bare) else " and 'y_true'"),
            )
        found = _of_confusions(models, wanted, confidence)
    else:
        found = _of_scores(
            _sources(models, y_true, sample_weight, pos_label) if sources is None else sources,
            wanted,
            confidence=confidence,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
        )
    for text in found.warnings:
        warnings.warn(text, DataWarning, stacklevel=2)
    return found


def _of_confusions(models: Mapping[str, Confusion], wanted: Goal, confidence: float) -> Comparison:
    entries = {}
    for name, confusion in models.items():
        counts = {k: Fraction(v) for k, v in confusion.to_dict().items()}
        exact = _evaluate(wanted.expression, counts)
        met = all(_holds(constraint, counts) for constraint in wanted.constraints)
        usable = met and exact == exact
        entries[name] = Entry(
            str(name), float(exact) if usable else None, confusion, exact if usable else None
        )
    lines = {baseline(confusion) for confusion in models.values()}
    return _ranked(wanted, entries, confidence, baseline_=float(lines.pop()) if len(lines) == 1 else math.nan)


def _holds(constraint: Constraint, counts: Mapping[str, Fraction]) -> bool:
    value = _evaluate(constraint.expression, counts)
    if value != value:
        return False
    return bool(constraint.holds(np.array([_sign(value, constraint.bound)]))[0])


def _evaluate(expression: Any, counts: Mapping[str, Fraction]) -> Fraction | float:
    if not expression.exact:
        return float(expression(**{k: float(v) for k, v in counts.items()}))
    value = expression.evaluate(**counts)
    return Fraction(value) if isinstance(value, int) else value


def _sign(a: Fraction | float, b: Fraction | float) -> int:
    """Return the sign of ``a - b``; irrational values are equal if they agree to 90 digits."""
    if isinstance(a, float) or isinstance(b, float):
        return (a > b) - (a < b)
    difference = a - b
    if abs(difference) <= _AGREE * max(abs(a), abs(b), Fraction(1)):
        return 0
    return 1 if difference > 0 else -1


def _columns(score: Any) -> list[str] | None:
    """Return the columns of the scores; raise unless each model has one of its own."""
    if score is None or isinstance(score, str):
        return None if score is None else [score]
    names = list(score) if isinstance(score, Sequence) else []
    if not names or len(set(map(str, names))) < len(names):
        raise InvalidParameterError.of(
            parameter="score",
            caller="compare",
            must_be="the name of a column, or a list of different names, one for each model",
            got=score,
            hint="for example score=['m1', 'm2'].",
        )
    return names


def _sources(
    models: Mapping[str, Any], y_true: Any, sample_weight: Any, pos_label: Any
) -> dict[str, ArraySource]:
    """Return a source for each model, all with the same labels."""
    if y_true is None:
        raise InvalidParameterError.of(
            parameter="y_true",
            caller="compare",
            must_be="given with scores: one label per row",
            got=None,
            hint="compare({'m1': p1, 'm2': p2}, y, maximize='f1').",
        )
    labels = Labels(as_array(y_true, "y_true"), pos_label)
    scores = {str(name): as_floats(given, str(name)) for name, given in models.items()}
    weights, ends = (
        (None, None) if sample_weight is None else weights_and_ends(sample_weight, "sample_weight")
    )
    same_length({"y_true": labels, **scores, "sample_weight": weights})
    stream = (Stream.of(labels, weights, ends),)
    return {name: ArraySource(column, stream, score_name=name) for name, column in scores.items()}


def _of_scores(
    sources: Mapping[str, ArraySource],
    wanted: Goal,
    *,
    confidence: float,
    n_bootstrap: int,
    random_state: Any,
) -> Comparison:
    scores = {name: source.scores for name, source in sources.items()}
    for name, column in scores.items():
        refuse_nan(column, name)
    (stream,) = next(iter(sources.values())).streams
    labels, weights = stream.labels, stream.weights
    assert isinstance(labels, Labels)
    curves = {name: curve(source) for name, source in sources.items()}
    solutions = {
        name: one.best(**{wanted.direction: wanted.expression}, subject_to=list(wanted.constraints))
        for name, one in curves.items()
    }
    both = not any(math.isnan(one.auc) for one in curves.values())
    areas = None
    if both and weights is None:
        positive = labels.positive if labels.given else None
        areas = delong(labels.values, *scores.values(), pos_label=positive)
    entries = {}
    for i, (name, solution) in enumerate(solutions.items()):
        entries[name] = Entry(
            name,
            solution.value,
            solution.confusion,
            None if solution.counts is None else _evaluate(wanted.expression, solution.counts),
            solution,
            curves[name].auc,
            None if areas is None else areas.interval(i, confidence),
        )
    everybody = next(iter(curves.values())).at(-math.inf).confusion
    made = _ranked(
        wanted, entries, confidence, baseline_=float(baseline(everybody)), curves=curves, delong=areas
    )
    if areas is None or n_bootstrap == 0 or len(made.ranking) < 2:
        return made
    tests = _paired(made, labels, scores, areas, n_bootstrap=n_bootstrap, random_state=random_state)
    return replace(made, tests=tests)


def _paired(
    made: Comparison,
    labels: Labels,
    scores: dict[str, Scores],
    areas: DeLong,
    *,
    n_bootstrap: int,
    random_state: Any,
) -> tuple[PairedTest, ...]:
    """Test the winner against every other model, each at its best threshold."""
    truth = labels.read(slice(None), slice(None)).view(np.bool_)
    positions = {name: i for i, name in enumerate(scores)}
    solutions: dict[str, Solution] = {
        name: entry.solution for name, entry in made.entries.items() if entry.solution is not None
    }
    decisions = {name: solutions[name].decide(scores[name]) for name in made.ranking}
    tests = []
    first = made.ranking[0]
    for second in made.ranking[1:]:
        gap, interval, _, p_value = areas.difference(positions[first], positions[second], made.confidence)
        boot = paired_bootstrap(
            joint_table(truth, decisions[first], decisions[second]),
            made.goal.expression,
            n_bootstrap=n_bootstrap,
            confidence=made.confidence,
            random_state=random_state,
        )
        exact = mcnemar(truth, decisions[first], decisions[second])
        tests.append(PairedTest(first, second, gap, interval, p_value, exact, boot))
    return tuple(tests)


def _ranked(
    wanted: Goal, entries: dict[str, Entry], confidence: float, *, baseline_: float, **more: Any
) -> Comparison:
    """Put the models in order, best first, those given first first among equals."""
    able = [entry for entry in entries.values() if entry.exact is not None]

    def order(a: Entry, b: Entry) -> int:
        assert a.exact is not None
        assert b.exact is not None
        return -wanted.sign * _sign(a.exact, b.exact)

    able.sort(key=cmp_to_key(order))
    winners = tuple(entry.name for entry in able if order(entry, able[0]) == 0)
    texts: dict[str, None] = {}
    for entry in entries.values():
        if entry.confusion is not None:
            texts |= dict.fromkeys(cautions(entry.confusion, entry.name))
    return Comparison(
        wanted, entries, [e.name for e in able], winners, baseline_, tuple(texts), confidence, **more
    )

"""Nested cross-validation: hyper-parameters and the threshold are chosen inside, judged outside.

The inner search is scikit-learn's `GridSearchCV` or `HalvingGridSearchCV`. What they fit is a
`_Candidate`: one setting, cross-validated as a `CutpointClassifier`; its score is the value at pooled
counts. Three things stay ours, because the searchers cannot keep these promises:

- The inner folds. The threshold that judges a fold comes from the scores of the other folds, so no fold
  has a score of its own to average. The same scores give the threshold of the winner, so one more fit
  completes it, where `refit=True` would cross-validate it again.
- The rows of a round of halving. scikit-learn draws single rows of any class or group, and may leave
  some out of the last round.
- The text of the errors of settings that fail, which the searchers only print.

Random settings come from `ParameterSampler`, once, so that all outer folds compare the same ones.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - makes HalvingGridSearchCV importable
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, ParameterGrid, ParameterSampler
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from cutpoints._data.array_input import as_weights
from cutpoints._evaluate.cross_validation import add_up, confusion_of, solve_rows
from cutpoints._evaluate.splits import check_both_classes, group_codes, make_splits
from cutpoints._goal import Constraints, Goal, Objective, goal
from cutpoints._result import Interval
from cutpoints._sklearn.estimator import CutpointClassifier, check_weight_of_classes, fit_fold
from cutpoints._sklearn.nested_result import (
    Candidate,
    Failure,
    NestedCV,
    OuterFold,
    Selection,
    in_words,
)
from cutpoints._validate import integer_in
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._evaluate.cross_validation import Splits

Search = Literal["grid", "random", "halving"]
Progress = Callable[[int, int], None]
"""Called with the number of fits done and of all fits."""
PROGRESS_DELAY_SECONDS = 2.0
"""Faster calls print no progress."""
WORST = -np.finfo(np.float64).max
"""The score of a setting that failed, and half of it if the value is undefined: searchers warn of NaN."""


def nested_cv(
    estimator: Any,
    param_grid: Any,
    X: Any,
    y: Any,
    *,
    search: Search = "grid",
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    outer_cv: Any = 5,
    cv: Any = 5,
    n_iter: int = 10,
    factor: int = 3,
    groups: Any = None,
    sample_weight: Any = None,
    response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
    pos_label: Any = None,
    refit: bool = True,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: bool | Progress | None = None,
) -> NestedCV:
    """Tune hyper-parameters and the threshold, and judge the whole procedure on outer folds.

    For each outer fold, every setting is cross-validated on inner folds of the other rows: its pooled
    out-of-fold scores give its exact best threshold, and its value, with each inner fold judged at
    the threshold of the others. The best setting is then fitted on all rows outside the outer fold,
    and judged on the fold at its threshold. No row has a say in what it judges.

    A grid costs ``(outer folds + 1) * (settings * inner folds + 1)`` fits, without the first ``+ 1``
    if ``refit=False``; the searches of thresholds cost little.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with `predict_proba` or `decision_function`, or a pipeline of one.
    param_grid : dict or list of dict
        Names and values of parameters, as for `GridSearchCV`; for ``"random"`` also distributions,
        as for `RandomizedSearchCV`.
    X, y
        Features and labels.
    search : {"grid", "random", "halving"}, default="grid"
        All settings; `n_iter` settings drawn at random; or successive halving: all settings on few
        rows, the best of every `factor` on `factor` times as many, up to all rows.
    maximize, minimize, subject_to, pos_label
        The goal, as for `find`.
    outer_cv, cv : int, splitter, iterable, "loo" or None, default=5
        Outer and inner folds: a number (stratified and shuffled; by group if there are groups), any
        splitter of scikit-learn (one that keeps groups together, if there are any), or pairs
        (train, test) of row numbers. None is 5, as in scikit-learn. ``"loo"`` leaves one row out, or one
        group.
    n_iter : int, default=10
        The number of settings for ``"random"``.
    factor : int, default=3
        The factor for ``"halving"``.
    groups, sample_weight : array-like of shape (n_samples,), default=None
        Groups stay together in all folds; weights are used by the search, and by the fits if the
        estimator takes them.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        The method that gives the scores.
    refit : bool, default=True
        Choose and fit once more on all rows, for deployment.
    n_jobs : int, default=None
        The number of outer folds to run in parallel, by joblib.
    random_state : int, default=0
        Seed for the folds, the random settings and the rows of halving.
    progress : bool or callable, default=None
        Show progress on standard error; by default if that is a terminal. A function is called with
        the fits done and the fits to do.

    Returns
    -------
    NestedCV
        Values of the outer folds, their mean and sd, the setting of each fold, the table of the
        final selection and the fitted `CutpointClassifier`.

    Raises
    ------
    InfeasibleError
        No setting has a threshold that meets the constraints.
    InvalidInputError
        No setting could be fitted, or the rows cannot be split.

    Notes
    -----
    A setting that cannot be fitted, or that cannot meet the constraints, is listed in `failures`; the
    search goes on with the others.

    Examples
    --------
    >>> import cutpoints as cp
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = make_classification(300, weights=[0.8], random_state=0)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> r = cp.nested_cv(tree, {"max_depth": [1, 2, 3]}, X, y, maximize="f1", outer_cv=3, cv=3)
    >>> r.fits == (3 + 1) * (3 * 3 + 1), len(r.values)
    (True, 3)
    """
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="nested_cv")
    asked: dict[str, Any] = {wanted.direction: wanted.expression}
    model = CutpointClassifier(
        estimator,
        subject_to=list(wanted.constraints) or None,
        cv=cv,
        response_method=response_method,
        pos_label=pos_label,
        **asked,
    )
    rows = _Rows.of(model, X, y, groups=groups, sample_weight=sample_weight, random_state=random_state)
    settings = _settings(param_grid, search, n_iter, random_state)
    searcher, compared = _make_searcher(settings, factor if search == "halving" else None)
    outer = rows.splits(outer_cv, "outer_cv")
    fits = compared * len(rows.splits(cv, "cv")) + 1
    meter = _Meter(progress, (len(outer) + bool(refit)) * fits)
    told = meter.add if n_jobs in (None, 1) else None  # other processes cannot tell
    tasks = (delayed(_outer_fold)(searcher, rows.part(train), rows.part(test), told) for train, test in outer)
    folds: list[OuterFold] = []
    for fold in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        folds.append(fold)
        meter.reach(len(folds) * fits)
    selection = fitted = None
    if refit:
        selection, fitted = _select(searcher, rows, meter.add, training=True)
        meter.reach((len(outer) + 1) * fits)
    meter.close()
    chosen: list[OuterFold | Selection] = [*folds, *([] if selection is None else [selection])]
    return NestedCV(
        objective=str(wanted.expression),
        direction=wanted.direction,
        folds=tuple(folds),
        pooled=add_up([fold.confusion for fold in folds]).metric(wanted.expression),
        selection=selection,
        estimator=fitted,
        fits=sum(one.fits + 1 for one in chosen),  # one more for the fit of the chosen setting
        failures=tuple(failure for one in chosen for failure in one.failures),
    )


@dataclass(frozen=True)
class _Rows:
    """Rows to choose on or to judge on, and a classifier that knows the goal and the classes."""

    model: CutpointClassifier
    goal: Goal
    X: Any
    y: NDArray[Any]
    groups: NDArray[np.intp] | None
    weights: NDArray[Any] | None
    random_state: Any

    @classmethod
    def of(
        cls, model: CutpointClassifier, X: Any, y: Any, *, groups: Any, sample_weight: Any, random_state: Any
    ) -> _Rows:
        """Check the user's arrays as `CutpointClassifier.fit` does."""
        X, y = indexable(X, y)
        wanted = model._goal()  # noqa: SLF001
        y = model._labels(y)  # noqa: SLF001
        weights = None if sample_weight is None else as_weights(sample_weight, "sample_weight")
        if weights is not None:
            if len(weights) != len(y):
                raise InvalidInputError.length(names_and_lengths={"y": len(y), "sample_weight": len(weights)})
            check_weight_of_classes(y == model._positive, weights)  # noqa: SLF001
        return cls(model, wanted, X, y, group_codes(groups, len(y)), weights, random_state)

    @property
    def positive(self) -> NDArray[np.int8]:
        """Labels 0/1."""
        return (self.y == self.model._positive).astype(np.int8)  # noqa: SLF001

    @property
    def fit_params(self) -> dict[str, Any]:
        """What the estimator's `fit` gets beside X and y."""
        takes = self.weights is not None and has_fit_parameter(self.model.estimator, "sample_weight")
        return {"sample_weight": self.weights} if takes else {}

    def weights_of(self, index: NDArray[np.intp]) -> NDArray[Any] | None:
        """Return the weights of some rows."""
        return None if self.weights is None else self.weights[index]

    def part(self, index: NDArray[np.intp]) -> _Rows:
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[index]
        X = _safe_indexing(self.X, index)
        return replace(self, X=X, y=self.y[index], groups=groups, weights=self.weights_of(index))

    def share(self, share: float) -> _Rows:
        """Return a share of each class, or of the groups, but enough of them for the folds."""
        if share == 1:
            return self
        cv = self.model.cv
        least = 2 * int(cv) if isinstance(cv, (int, np.integer)) else 10
        rng = check_random_state(self.random_state)
        classes = [np.flatnonzero(self.positive == label) for label in (0, 1)]
        strata = classes if self.groups is None else [np.unique(self.groups)]
        kept = np.concatenate([rng.permutation(one)[: max(least, int(share * len(one)))] for one in strata])
        return self.part(np.sort(kept) if self.groups is None else np.flatnonzero(np.isin(self.groups, kept)))

    def splits(self, cv: Any, parameter: str) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the folds of these rows."""
        pairs = make_splits(
            self.positive,
            cv,
            groups=self.groups,
            random_state=self.random_state,
            fewest=1,
            parameter=parameter,
            caller="nested_cv",
        )
        check_both_classes(pairs, self.positive == 1, f" of {parameter}")
        return pairs


class _Candidate(BaseEstimator):  # type: ignore[misc]
    """A setting. To fit it is to cross-validate its `CutpointClassifier`, without a fit on all rows.

    `share` of `shares` parts of the rows are used: the resource of successive halving.
    """

    def __init__(
        self,
        rows: Any = None,
        setting: Any = None,
        share: int = 1,
        shares: int = 1,
        *,
        training: bool = False,
    ) -> None:
        self.rows = rows
        self.setting = setting
        self.share = share
        self.shares = shares
        self.training = training

    def __sklearn_clone__(self) -> _Candidate:
        return _Candidate(**self.get_params(deep=False))  # without a copy of the rows

    def fit(self, X: Any, y: Any = None) -> _Candidate:
        """Cross-validate the setting on the rows; X is ignored."""
        rows = self.rows.share(self.share / self.shares)
        splits = rows.splits(rows.model.cv, "cv")
        self.fits_, self.error_ = len(splits), None
        try:
            self._cross_validate(rows, splits)
        except Exception as error:  # noqa: BLE001 - whatever an estimator raises is reported, and the search goes on
            self.error_ = error
        return self

    def _cross_validate(self, rows: _Rows, splits: Splits) -> None:
        model = self.model_ = copy(rows.model)
        model.estimator = clone(model.estimator).set_params(**clone(self.setting, safe=False))
        scores, training = [], []
        for train, test in splits:
            found, fitted = fit_fold(
                model, rows.X, rows.y, (train, test), rows.fit_params, keep=self.training
            )
            scores.append(found)
            if self.training:
                own = model._scores(fitted, _safe_indexing(rows.X, train))  # noqa: SLF001
                value = solve_rows(rows.goal, rows.positive[train], own, rows.weights_of(train)).value
                training.append(math.nan if value is None else value)
        row = np.concatenate([test for _, test in splits])
        pooled = np.concatenate(scores)
        judged: Any = rows.positive[row], pooled, rows.weights_of(row), {}
        model._cut(rows.goal, judged, splits)  # noqa: SLF001
        validation = () if model.cross_validation_ is None else model.cross_validation_.fold_values
        value = model.cross_validated_value_
        self.result_ = Candidate(self.setting, tuple(training), validation, value, len(rows.y))

    def score(self, X: Any = None, y: Any = None) -> float:
        """Return the cross-validated value, higher is better."""
        if self.error_ is not None:
            return WORST
        return float(np.nan_to_num(self.rows.goal.sign * self.result_.pooled, nan=WORST / 2))


def _settings(param_grid: Any, search: Search, n_iter: int, random_state: Any) -> list[dict[str, Any]]:
    if search not in {"grid", "random", "halving"}:
        raise InvalidParameterError(
            "search", caller="nested_cv", expected="'grid', 'random' or 'halving'", got=search
        )
    try:
        if search == "random":
            settings = list(ParameterSampler(param_grid, n_iter, random_state=random_state))
        else:
            settings = list(ParameterGrid(param_grid))
        if not settings:
            raise ValueError("there are no settings")  # reported below
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            "param_grid",
            caller="nested_cv",
            expected="a dict of lists (for search='random' also of distributions), or a list of such",
            got=f"{param_grid!r}: {error}",
        ) from error
    return settings


def _make_searcher(settings: list[dict[str, Any]], factor: int | None) -> tuple[Any, int]:
    """Return a searcher, and how many settings it compares in all its rounds."""
    # The searcher sees one row that stands for all: candidates bring their own.
    asked: dict[str, Any] = {"cv": [([0], [0])], "refit": False, "n_jobs": 1, "error_score": "raise"}
    grid = {"setting": settings}
    if factor is None:
        return GridSearchCV(_Candidate(), grid, **asked), len(settings)
    integer_in("factor", factor, 2, caller="nested_cv")
    rounds = 1 + math.floor(math.log(len(settings), factor))  # as scikit-learn counts them
    shares = factor ** (rounds - 1)
    # One more than there are shares: scikit-learn's rounded logarithm must not cost the last round.
    asked |= {"resource": "share", "min_resources": 1, "max_resources": shares + 1}
    searcher = HalvingGridSearchCV(
        _Candidate(shares=shares), grid, factor=factor, return_train_score=False, **asked
    )
    return searcher, sum(math.ceil(len(settings) / factor**i) for i in range(rounds))


def _select(
    searcher: Any, rows: _Rows, tell: Callable[[int], None] | None, *, training: bool = False
) -> tuple[Selection, CutpointClassifier]:
    """Search on the rows, and fit the best setting on all of them."""
    compared: list[_Candidate] = []

    def score(candidate: _Candidate, X: Any, y: Any = None) -> float:
        compared.append(candidate)
        if tell is not None:
            tell(candidate.fits_)
        return candidate.score()

    search = clone(searcher).set_params(estimator__rows=rows, estimator__training=training, scoring=score)
    best = compared[search.fit([[0]]).best_index_]
    failed = [(one.setting, one.error_) for one in compared if one.error_ is not None]
    failures = tuple(Failure(setting, f"{type(error).__name__}: {error}") for setting, error in failed)
    if isinstance(best.error_, CutpointError):
        raise best.error_
    if best.error_ is not None:
        raise InvalidInputError(
            "At least one setting must be fitted without an error. "
            f"Of {len(failures):,}, none was; the first: {failures[0]}",
            hint="check the names and the values of the parameters against the estimator.",
        ) from best.error_
    # The last round of a setting counts, in halving.
    results = {in_words(one.setting): one.result_ for one in compared if one.error_ is None}
    fits = sum(one.fits_ for one in compared if one.error_ is None)
    selection = Selection(str(rows.goal.expression), tuple(results.values()), best.result_, fits, failures)
    model = best.model_
    model._keep(clone(model.estimator).fit(rows.X, rows.y, **rows.fit_params))  # noqa: SLF001
    return selection, model


def _outer_fold(searcher: Any, train: _Rows, test: _Rows, tell: Callable[[int], None] | None) -> OuterFold:
    """Choose on some rows, judge on others."""
    selection, model = _select(searcher, train, tell)
    scores = model._scores(model.estimator_, test.X)  # noqa: SLF001
    threshold = float(model.threshold_)
    called = scores >= threshold
    confusion = confusion_of(test.positive, called, test.weights)
    return OuterFold(
        setting=selection.best.setting,
        threshold=threshold,
        interval=Interval(
            float(scores[~called].max(initial=-math.inf)), float(scores[called].min(initial=math.inf))
        ),
        value=confusion.metric(train.goal.expression),
        inner_value=selection.best.pooled,
        confusion=confusion,
        fits=selection.fits,
        failures=selection.failures,
    )


class _Meter:
    """Counts fits, and shows them on standard error or tells a function."""

    def __init__(self, progress: bool | Progress | None, total: int) -> None:  # noqa: FBT001 - passed on
        self._tell = progress if callable(progress) else None
        self._shown = sys.stderr.isatty() if progress is None else bool(progress) and self._tell is None
        self._start, self._done, self._total, self._drawn = time.monotonic(), 0, total, False

    def add(self, fits: int) -> None:
        """Count more fits."""
        self.reach(self._done + fits)

    def reach(self, done: int) -> None:
        """Set the number of fits that are done."""
        self._done = min(max(self._done, done), self._total)
        if self._tell is not None:
            self._tell(self._done, self._total)
        elif self._shown and time.monotonic() - self._start >= PROGRESS_DELAY_SECONDS:
            bar = "#" * (30 * self._done // self._total)
            sys.stderr.write(f"\r[{bar:.<30}] {self._done:,} of {self._total:,} fits")
            sys.stderr.flush()
            self._drawn = True

    def close(self) -> None:
        """End the line, if one was drawn."""
        if self._drawn:
            sys.stderr.write("\n")

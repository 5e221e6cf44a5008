"""Nested cross-validation: hyper-parameters and the threshold are chosen inside, judged outside."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._evaluate.cross_validation import counts_of
from cutpoints._goal import Constraints, Objective, goal
from cutpoints._kernel.masses import number
from cutpoints._result import Confusion, json_number
from cutpoints._sklearn.selection import Failure, Selection, rounds, select
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._sklearn.selection import Problem

Search = Literal["grid", "random", "halving"]
Progress = Callable[[int, int], None]
"""Called with the number of fits done and of all fits."""


@dataclass(frozen=True)
class OuterFold:
    """One fold that judged: what was chosen without it, and what that does on it."""

    setting: dict[str, Any]
    threshold: float
    value: float
    inner_value: float
    confusion: Confusion
    fits: int
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, repr=False)
class Nested:
    """What a whole procedure of selection achieves on rows that it has not seen.

    Attributes
    ----------
    values : ndarray
        The objective on each outer fold, at the setting and threshold chosen without it.
    mean, sd : float
        Of these values (sd with n - 1). Values of folds are what the procedure gives, the mean is
        biased for metrics such as F1 on folds with few positives: see `pooled`.
    pooled : float
        The objective at the added-up counts of all outer folds.
    folds : tuple of OuterFold
        Setting, threshold, value and counts of each.
    selection : Selection or None
        The same search on all rows, for deployment: prints as the table "setting, training,
        cross-validated, choice".
    estimator : CutpointClassifier or None
        Fitted on all rows with the chosen setting and threshold.
    fits : int
        How many times an estimator was fitted.
    failures : tuple of Failure
        Settings whose fit failed, with the error; the others were compared without them.
    """

    objective: str
    direction: str
    folds: tuple[OuterFold, ...]
    pooled: float
    selection: Selection | None
    estimator: Any
    fits: int
    failures: tuple[Failure, ...] = field(default=())

    @property
    def values(self) -> NDArray[np.float64]:
        """The objective on each outer fold."""
        return np.array([fold.value for fold in self.folds])

    @property
    def mean(self) -> float:
        """The mean over the outer folds where the objective is defined."""
        known = self.values[~np.isnan(self.values)]
        return float(known.mean()) if len(known) else math.nan

    @property
    def sd(self) -> float:
        """The standard deviation over these folds."""
        known = self.values[~np.isnan(self.values)]
        return float(known.std(ddof=1)) if len(known) > 1 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "objective": self.objective,
            "direction": self.direction,
            "mean": json_number(self.mean),
            "sd": json_number(self.sd),
            "pooled": json_number(self.pooled),
            "fits": self.fits,
            "folds": [
                {
                    "setting": {name: _plain(value) for name, value in fold.setting.items()},
                    "threshold": json_number(fold.threshold),
                    "value": json_number(fold.value),
                    "inner_value": json_number(fold.inner_value),
                    "confusion": fold.confusion.to_dict(),
                }
                for fold in self.folds
            ],
            "selection": None if self.selection is None else self.selection.to_dict(),
            "failures": [one.to_dict() for one in self.failures],
        }

    def __repr__(self) -> str:
        head = (
            f"{self.direction} {self.objective}: {self.mean:.4f} ± {self.sd:.4f} on {len(self.folds)} outer "
        )
        head += f"folds, {self.pooled:.4f} by pooled counts, {self.fits:,} fits"
        lines = [head]
        for k, fold in enumerate(self.folds):
            chosen = ", ".join(f"{name}={value!r}" for name, value in fold.setting.items()) or "as given"
            lines.append(f"  fold {k + 1}: {fold.value:.4f} at threshold {fold.threshold:.6g} with {chosen}")
        if self.selection is not None:
            lines += ["", str(self.selection)]
        if self.failures:
            counted = Counter(map(str, self.failures))
            lines += ["", *(f"failed {times} x: {text}" for text, times in counted.most_common(5))]
        return "\n".join(lines)


def nested(
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
) -> Nested:
    """Tune hyper-parameters and the threshold, and judge the whole procedure on outer folds.

    For each outer fold, every setting is fitted on inner folds of the other rows. Its pooled
    out-of-fold scores give its exact best threshold, and its value, each inner fold being judged at
    the threshold of the others. The best setting is fitted on all rows outside the outer fold and
    judged on it, with its threshold. No row that judges has had a say in anything that it judges.

    Costs ``(outer folds + 1) * (settings * inner folds + 1)`` fits with a grid; the searches of
    thresholds cost little. With ``refit=False`` the ``+ 1`` of the outer folds falls away.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with `predict_proba` or `decision_function`; a pipeline is fine.
    param_grid : dict or list of dict
        Names and values of parameters, as for `GridSearchCV`; for ``"random"`` also distributions,
        as for `RandomizedSearchCV`.
    X, y
        Rows and labels.
    search : {"grid", "random", "halving"}, default="grid"
        All settings; `n_iter` settings drawn at random; or a tournament: all settings on few rows,
        the best of every `factor` on `factor` times as many, and so on.
    maximize, minimize, subject_to, pos_label
        The goal, as for `find`.
    outer_cv, cv : int, splitter, iterable or None, default=5
        Outer and inner folds: a number (stratified and shuffled; by group if there are groups), any
        splitter of scikit-learn (which must keep groups together, if there are any), or pairs
        (train, test) of row numbers. None is 5, as in scikit-learn.
    n_iter : int, default=10
        For ``"random"``.
    factor : int, default=3
        For ``"halving"``.
    groups, sample_weight : array-like of shape (n_samples,), default=None
        Groups stay together in all folds; weights weigh the search, and the fits if the estimator
        takes them.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        Where the scores come from.
    refit : bool, default=True
        Choose and fit once more on all rows, for deployment.
    n_jobs : int, default=None
        How many outer folds run at once, by joblib.
    random_state : int, default=0
        Shuffles folds and draws settings.
    progress : bool or callable, default=None
        Show a line of progress on standard error; by default if that is a terminal. A function is
        called with the fits done and the fits to do.

    Returns
    -------
    Nested
        Outer values, their mean and sd, the settings per fold, the table of the final selection and
        the fitted `CutpointClassifier`.

    Notes
    -----
    A setting whose fit fails is reported in `failures`, and the search goes on without it.

    Examples
    --------
    >>> import cutpoints as cp
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = make_classification(300, weights=[0.8], random_state=0)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> r = cp.nested(tree, {"max_depth": [1, 2, 3]}, X, y, maximize="f1", outer_cv=3, cv=3)
    >>> r.fits == (3 + 1) * (3 * 3 + 1), len(r.values)
    (True, 3)
    """
    from sklearn.utils import _safe_indexing
    from sklearn.utils.parallel import Parallel, delayed

    from cutpoints._sklearn.selection import Problem

    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="nested")
    _check_search(search)
    problem = Problem.of(
        estimator,
        X,
        y,
        wanted,
        groups=groups,
        sample_weight=sample_weight,
        response_method=response_method,
        pos_label=pos_label,
    )
    settings = _settings(param_grid, search, n_iter, random_state)
    outer = problem.splits(outer_cv, random_state, "outer_cv")
    options: dict[str, Any] = {
        "cv": cv,
        "random_state": random_state,
        "halving": factor if search == "halving" else None,
    }
    per_task = _fits(len(settings), problem, cv, random_state, options["halving"])
    tick = _ticker(progress, (len(outer) + bool(refit)) * per_task)
    parts = [(problem.part(train), _safe_indexing(problem.X, test), test) for train, test in outer]
    serial = n_jobs in (None, 1)
    tasks = (
        delayed(_outer_fold)(
            part,
            X_test,
            problem.y[test],
            problem.mass(test),
            settings=settings,
            options=options,
            tick=tick.step if serial else None,
        )
        for part, X_test, test in parts
    )
    folds: list[OuterFold] = []
    for fold in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
        folds.append(fold)
        tick.at(len(folds) * per_task)
    selection = model = None
    if refit:
        selection = select(problem, settings, training=True, tick=tick.step, **options)
        model = selection.fitted(problem, cv)
        tick.at((len(outer) + 1) * per_task)
    tick.close()
    total = {
        name: number(sum((Fraction(fold.confusion.to_dict()[name]) for fold in folds), Fraction(0)))
        for name in ("tp", "fp", "fn", "tn")
    }
    failures = [one for fold in folds for one in fold.failures] + list(
        selection.failures if selection else ()
    )
    return Nested(
        objective=str(wanted.expression),
        direction=wanted.direction,
        folds=tuple(folds),
        pooled=Confusion(**total).metric(wanted.expression),
        selection=selection,
        estimator=model,
        fits=sum(fold.fits for fold in folds) + (selection.fits + 1 if selection else 0),
        failures=tuple(failures),
    )


def _outer_fold(
    problem: Problem,
    X_test: Any,
    y_test: NDArray[Any],
    mass: NDArray[Any] | None,
    *,
    settings: Sequence[dict[str, Any]],
    options: dict[str, Any],
    tick: Callable[[int], None] | None,
) -> OuterFold:
    """Choose on some rows, judge on others."""
    chosen = select(problem, settings, tick=tick, **options)
    model = chosen.fitted(problem, options["cv"])
    called = model._scores(model.estimator_, X_test) >= model.threshold_  # noqa: SLF001
    cells = counts_of(y_test, called, mass)
    confusion = Confusion(**{name: number(count) for name, count in cells.items()})
    return OuterFold(
        setting=chosen.best.setting,
        threshold=float(model.threshold_),
        value=confusion.metric(problem.goal.expression),
        inner_value=chosen.best.pooled,
        confusion=confusion,
        fits=chosen.fits + 1,
        failures=chosen.failures,
    )


# --- settings and counts


def _check_search(search: Any) -> None:
    if search not in {"grid", "random", "halving"}:
        raise InvalidParameterError.of(
            parameter="search", caller="nested", must_be="'grid', 'random' or 'halving'", got=search
        )


def _settings(param_grid: Any, search: Search, n_iter: int, random_state: Any) -> list[dict[str, Any]]:
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    try:
        if search == "random":
            return list(ParameterSampler(param_grid, n_iter, random_state=random_state))
        return list(ParameterGrid(param_grid))
    except (TypeError, ValueError) as error:
        if isinstance(error, CutpointError):
            raise
        raise InvalidParameterError.of(
            parameter="param_grid",
            caller="nested",
            must_be="a dict of lists (for search='random' also of distributions), or a list of such",
            got=f"{param_grid!r}: {error}",
        ) from error


def _fits(settings: int, problem: Problem, cv: Any, random_state: Any, halving: int | None) -> int:
    """Return the fits of one selection and its refit."""
    try:
        inner = len(problem.splits(cv, random_state, "cv"))
    except InvalidInputError:
        inner = 5  # for the progress only; the selection itself will say what is wrong
    if halving is None:
        return settings * inner + 1
    total, left = 0, settings
    for _ in range(rounds(settings, halving) + 1):
        total += left * inner
        left = max(1, left // halving)
    return total + 1


# --- progress


class _Ticker:
    """Counts fits and tells about them."""

    def __init__(self, tell: Progress | None, total: int) -> None:
        self._tell, self._total, self._done = tell, total, 0

    def step(self, fits: int) -> None:
        """So many more fits are done."""
        self.at(self._done + fits)

    def at(self, done: int) -> None:
        """So many fits are done in all."""
        self._done = min(max(self._done, done), self._total)
        if self._tell is not None:
            self._tell(self._done, self._total)

    def close(self) -> None:
        """End the line, if one was drawn."""
        if isinstance(self._tell, _Line):
            self._tell.close()


class _Line:
    """A line of progress on standard error, from the third second on."""

    WAIT = 2.0

    def __init__(self) -> None:
        from time import monotonic

        self._clock = monotonic
        self._start, self._drawn = monotonic(), False

    def __call__(self, done: int, total: int) -> None:
        if self._clock() - self._start < self.WAIT:
            return
        filled = 30 * done // max(total, 1)
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {done:,} of {total:,} fits")
        sys.stderr.flush()
        self._drawn = True

    def close(self) -> None:
        if self._drawn:
            sys.stderr.write("\n")


def _ticker(progress: bool | Progress | None, total: int) -> _Ticker:  # noqa: FBT001 - passed on
    if callable(progress):
        return _Ticker(progress, total)
    shown = sys.stderr.isatty() if progress is None else progress
    return _Ticker(_Line() if shown else None, total)


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)

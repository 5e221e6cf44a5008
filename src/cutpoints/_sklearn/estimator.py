"""The scikit-learn meta-estimator: a classifier and its threshold, fitted together."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import _safe_indexing, assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from cutpoints._evaluate.cross_validation import Honest, Splits, honest, scored_entries, value_at
from cutpoints._evaluate.splits import bad_cv, folds, need_both_classes
from cutpoints._find import find
from cutpoints._goal import Constraints, Goal, Objective, goal
from cutpoints._search.guarantee import generator
from cutpoints._sklearn.leakage import LeakageWarning, warn_if_seen, warn_if_separated, warn_if_shared
from cutpoints._validate import check_confidence
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._search.guarantee import Confidence

__all__ = ["BestValue", "CutpointClassifier", "LeakageWarning", "scorer"]

_METHODS = ("predict_proba", "decision_function")
_ALSO = ("a share between 0 and 1", "'prefit'")
"""What `cv` may be beside folds."""


def _has(method: str) -> Any:
    """Return a check for `available_if`: the inner estimator has the method."""

    def check(self: CutpointClassifier) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)  # raises AttributeError if not
        return True

    return check


class CutpointClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that decides at the threshold that is best for a goal.

    A drop-in for scikit-learn's `TunedThresholdClassifierCV`. The threshold comes from exact searches
    on the pooled out-of-fold scores, over all cuts, not from a grid of 100; constraints and costs can
    be given; and the value to expect on new data is told beside the value that was reached.

    Fitting costs one fit and one prediction per fold, one fit on everything, and little more.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with `predict_proba` or `decision_function`.
    maximize, minimize : str, metric expression or callable, default=None
        The goal, as for `find`. Neither: maximise the balanced accuracy, as scikit-learn does.
    subject_to : str, constraint, or a list of them, default=None
        What must hold, as for `find`. If no threshold meets it, `fit` raises `InfeasibleError`.
    confidence : float or "expectation", default=None
        Constraints that hold on new data with this confidence, as for `find`. It needs scores of
        the very model that is deployed, from rows that it has not seen: ``cv="prefit"``, or one
        split with ``refit=False``. Out-of-fold scores are those of other models.
    cv : int, float, splitter, iterable, "prefit" or None, default=5
        Number of stratified folds; share of a single held-out part; a splitter; pairs of indices;
        or ``"prefit"`` for an estimator that is fitted already. None is 5, as in scikit-learn.

        .. warning:: With ``"prefit"``, pass rows to `fit` that the estimator was **not** fitted on.
    refit : bool, default=True
        Fit the estimator on all rows afterwards. False needs a single split, whose model is kept.
        Has no meaning for ``"prefit"``.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        Where the scores come from; "auto" takes the first that there is.
    pos_label : int, float, bool or str, default=None
        The positive class; the second of `classes_` by default.
    n_jobs : int, default=None
        How many folds are fitted at once, by joblib.
    random_state : int, RandomState or None, default=None
        For a float `cv` and for the pilot rows of `confidence`; with folds nothing is drawn. None, as in
        all estimators of scikit-learn, draws anew at each `fit`. The functions of cutpoints have 0
        instead, so that what they report can be had again.
    threshold : {"average", "pooled"}, default="average"
        "pooled": the optimum of all out-of-fold scores. "average": the mean of `fold_thresholds_`,
        the optima without each fold. One optimum leans on the few rows around it; their mean is
        less noisy, and does better on new rows where positives are rare. With constraints or a
        confidence, which a mean need not meet, with folds chosen by less than half of the rows, or
        if the mean does worse on these rows than `honest_value_`, it is the pooled one all the same.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    threshold_ : float
        The threshold; `best_threshold_` is another name for it.
    solution_ : Solution
        The search on the pooled out-of-fold scores, with its certificate; its own threshold is the
        pooled one.
    honest_value_ : float
        The value to expect: each fold judged at the best threshold of the others, counts pooled.
        NaN where the rows do not suffice to tell.
    best_score_ : float
        The value at the threshold on the rows that chose it: too good.
    fold_thresholds_ : ndarray
        The thresholds that judged the folds: the optimum of the others, exact.
    classes_ : ndarray of shape (2,)
        The labels.

    Warns
    -----
    LeakageWarning
        Where it can be seen that the same rows, or the same groups, fit and judge.

    Examples
    --------
    >>> import cutpoints as cp
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> model = cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(X, y)
    >>> round(model.threshold_, 3), round(model.best_score_, 3), round(model.honest_value_, 3)
    (0.293, 0.627, 0.614)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
        confidence: Confidence | None = None,
        cv: Any = 5,
        refit: bool = True,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        threshold: Literal["average", "pooled"] = "average",
    ) -> None:
        self.estimator = estimator
        self.maximize = maximize
        self.minimize = minimize
        self.subject_to = subject_to
        self.confidence = confidence
        self.cv = cv
        self.refit = refit
        self.response_method = response_method
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.threshold = threshold

    # --- fitting

    def fit(self, X: Any, y: Any, **params: Any) -> CutpointClassifier:
        """Fit the classifier and find its threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        **params : dict
            `sample_weight` weighs the search, and the estimator if it takes weights; `groups` go to
            the splitter; anything else goes to the estimator's `fit`. With metadata routing enabled,
            what was requested goes where it was requested.
        """
        wanted = self._goal()
        X, y = indexable(X, y)
        y = self._labels(y)
        fit_params, split_params = self._routed(params)
        weights = params.get("sample_weight")
        if isinstance(self.cv, str) and self.cv == "prefit":
            splits, scores = None, self._prefit(X)
            row = np.arange(len(scores))
            warn_if_separated(y == self._positive, scores)
        else:
            splits, scores = self._out_of_fold(X, y, fit_params, split_params)
            row = np.concatenate([test for _, test in splits])
        mass = None if weights is None else np.asarray(weights)[row]
        return self._cut(wanted, (y[row] == self._positive).astype(np.int8), scores, splits, mass)

    def _cut(
        self,
        wanted: Goal,
        labels: NDArray[Any],
        scores: NDArray[Any],
        splits: Splits | None,
        mass: NDArray[Any] | None,
    ) -> CutpointClassifier:
        """Find the threshold on scores of rows that did not fit the model, and judge it."""
        asked: dict[str, Any] = {wanted.direction: wanted.expression}
        if self.confidence is not None:
            asked |= {"confidence": self.confidence, "random_state": self.random_state}
        self.solution_ = find(
            labels, scores, subject_to=wanted.constraints or None, sample_weight=mass, **asked
        ).raise_if_infeasible()
        assert self.solution_.threshold is not None
        assert self.solution_.value is not None
        self.threshold_, self.best_score_ = self.solution_.threshold, self.solution_.value
        judged, chosen_by = _judged(wanted, labels, scores, splits, mass)
        self.fold_thresholds_ = np.array([] if judged is None else judged.thresholds)
        self.honest_value_ = math.nan if judged is None else judged.value
        free = not wanted.constraints and self.confidence is None and 2 * chosen_by >= len(scores)
        if self.threshold == "average" and free and np.isfinite(self.fold_thresholds_).all():
            mean = float(scores.dtype.type(self.fold_thresholds_.mean()))
            value = value_at(wanted.expression, labels, scores >= mean, mass)
            if wanted.sign * value >= wanted.sign * self.honest_value_:
                self.threshold_, self.best_score_ = mean, value
        if mass is not None and not all(mass[labels == side].any() for side in (0, 1)):
            # One class has no weight: nothing speaks for calling any row of new data by its name.
            self.threshold_ = -math.inf if mass[labels == 1].any() else math.inf
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _goal(self) -> Goal:
        maximize = self.maximize
        if maximize is None and self.minimize is None:
            maximize = "balanced_accuracy"
        if self.response_method not in {"auto", *_METHODS}:
            raise InvalidParameterError.of(
                parameter="response_method",
                caller="CutpointClassifier",
                must_be="'auto', 'predict_proba' or 'decision_function'",
                got=self.response_method,
            )
        if self.threshold not in {"average", "pooled"}:
            raise InvalidParameterError.of(
                parameter="threshold",
                caller="CutpointClassifier",
                must_be="'average' or 'pooled'",
                got=self.threshold,
            )
        if self.confidence is not None:
            check_confidence(self.confidence, "CutpointClassifier", expectation=True)
        return goal(
            maximize=maximize, minimize=self.minimize, subject_to=self.subject_to, caller="CutpointClassifier"
        )

    def _labels(self, y: Any) -> NDArray[Any]:
        """Check that there are two classes, and settle which is positive."""
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise InvalidInputError.targets(kind=kind, classes=len(np.unique(y)))
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InvalidInputError.targets(kind="one class", classes=1)
        self._positive = self.classes_[1] if self.pos_label is None else self.pos_label
        if self._positive not in self.classes_:
            raise InvalidParameterError.of(
                parameter="pos_label",
                caller="CutpointClassifier",
                must_be=f"one of the classes {self.classes_.tolist()}",
                got=self.pos_label,
            )
        return y

    def _routed(self, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what goes to the estimator's `fit` and what to the splitter's `split`."""
        if _routing_enabled():
            routed = process_routing(self, "fit", **params)
            return routed.estimator.fit, routed.splitter.split
        rest = {name: value for name, value in params.items() if value is not None}
        split = {"groups": rest.pop("groups")} if "groups" in rest else {}
        if "sample_weight" in rest and not has_fit_parameter(self.estimator, "sample_weight"):
            del rest["sample_weight"]
            warnings.warn(
                f"sample_weight weighs the search of the threshold only: {type(self.estimator).__name__}.fit "
                "does not take it. For a pipeline, pass it to the step as well, such as "
                "logisticregression__sample_weight.",
                UserWarning,
                stacklevel=3,
            )
        return rest, split

    def _prefit(self, X: Any) -> NDArray[Any]:
        try:
            check_is_fitted(self.estimator, "classes_")
        except NotFittedError as error:
            message = (
                "With cv='prefit' the estimator must be fitted.\n\n"
                "Hint: fit it first, on other rows than these."
            )
            raise NotFittedError(message) from error
        self.estimator_ = self.estimator
        warn_if_seen(self.estimator, X)
        return self._scores(self.estimator_, X)

    def _out_of_fold(
        self, X: Any, y: NDArray[Any], fit_params: dict[str, Any], split_params: dict[str, Any]
    ) -> tuple[Splits, NDArray[Any]]:
        """Fit on each training part and score the rest; then fit `estimator_`."""
        splits = self._splits(X, y, split_params)
        if not self.refit and len(splits) > 1:
            raise InvalidParameterError.of(
                parameter="refit",
                caller="CutpointClassifier",
                must_be="True with several folds: there is no one model to keep",
                got=False,
                hint="pass a share such as cv=0.2 for a single split.",
            )
        self._check_confidence(len(splits))
        need_both_classes(splits, y == self._positive)
        warn_if_shared(splits, split_params.get("groups"))
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_fold)(self, X, y, (train, test), fit_params, keep=not self.refit)
            for train, test in splits
        )
        if self.refit:
            self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        else:
            self.estimator_ = fitted[0][1]
        return splits, np.concatenate([scores for scores, _ in fitted])

    def _splits(self, X: Any, y: NDArray[Any], split_params: dict[str, Any]) -> list[Any]:
        cv = self.cv
        if isinstance(cv, float):
            if not 0 < cv < 1:
                raise bad_cv(cv, caller="CutpointClassifier", also=_ALSO)
            cv = StratifiedShuffleSplit(1, test_size=cv, random_state=self.random_state)
        shape: tuple[int, ...] = getattr(X, "shape", ())
        groups = split_params.get("groups")
        return folds(
            y,
            cv,
            X=X,
            positive=self._positive,
            groups=None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1],
            params=split_params,
            shuffle=False,
            fewest=1,
            also=_ALSO,
            data=f" of data with n_samples={shape[0]}, n_features={shape[1]}" if len(shape) == 2 else "",
            caller="CutpointClassifier",
        )

    def _check_confidence(self, splits: int) -> None:
        from sklearn.frozen import FrozenEstimator

        if self.confidence is None or isinstance(self.estimator, FrozenEstimator):
            return
        if splits > 1 or self.refit:
            raise InvalidParameterError.of(
                parameter="confidence",
                caller="CutpointClassifier",
                must_be="used with cv='prefit', or with a single split and refit=False: out-of-fold scores "
                "come from other models than the one that is refitted, so they certify nothing about it",
                got=f"{self.confidence!r} with cv={self.cv!r}, refit={self.refit!r}",
                hint="for example cv=0.3, refit=False.",
            )

    # --- deciding

    def _scores(self, estimator: Any, X: Any) -> NDArray[Any]:
        """Return one score per row, higher for the positive class."""
        methods = _METHODS if self.response_method == "auto" else (self.response_method,)
        method = next((name for name in methods if hasattr(estimator, name)), None)
        if method is None:
            raise InvalidParameterError.of(
                parameter="estimator",
                caller="CutpointClassifier",
                must_be=f"a classifier with {' or '.join(methods)}: without scores there is nothing to cut",
                got=estimator,
                hint="CalibratedClassifierCV gives scores to a classifier that has none.",
            )
        values = np.asarray(getattr(estimator, method)(X))
        positive = int(np.flatnonzero(estimator.classes_ == self._positive)[0])
        if values.ndim == 2:
            return values[:, positive]
        return values if positive == 1 else -values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the positive class where the score is at least the threshold, else the other class."""
        check_is_fitted(self, "threshold_")
        called = self._scores(self.estimator_, X) >= self.threshold_
        positive = int(np.flatnonzero(self.classes_ == self._positive)[0])
        return self.classes_[np.where(called, positive, 1 - positive)]

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithms of the probabilities of the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_log_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the decision function of the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    @property
    def best_threshold_(self) -> float:
        """The threshold, by the name that `TunedThresholdClassifierCV` gives it."""
        check_is_fitted(self, "threshold_")
        return float(self.threshold_)

    # --- scikit-learn's machinery

    def get_metadata_routing(self) -> MetadataRouter:
        """Say that `fit` passes metadata on to the estimator's `fit` and the splitter's `split`."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=to_fit)
        # For a number of folds, groups make the folds; the splitter is here for what it requests.
        own = hasattr(self.cv, "split") and not isinstance(self.cv, str)
        splitter = self.cv if own else StratifiedGroupKFold()
        return router.add(splitter=get_routing_for_object(splitter), method_mapping=to_split)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.input_tags = inner.input_tags
        return tags


# --- folds


def _fit_fold(
    model: CutpointClassifier,
    X: Any,
    y: NDArray[Any],
    split: tuple[NDArray[np.intp], NDArray[np.intp]],
    fit_params: dict[str, Any],
    *,
    keep: bool,
) -> tuple[NDArray[Any], Any]:
    """Fit a clone on one part and score the other; module-level, so that joblib can send it off."""
    train, test = split
    part = {name: _part(value, train, len(y)) for name, value in fit_params.items()}
    fitted = clone(model.estimator).fit(_safe_indexing(X, train), y[train], **part)
    return model._scores(fitted, _safe_indexing(X, test)), fitted if keep else None  # noqa: SLF001


def _part(value: Any, index: NDArray[np.intp], rows: int) -> Any:
    """Return the entries of a fit parameter that has one per row."""
    return _safe_indexing(value, index) if hasattr(value, "__len__") and len(value) == rows else value


def _judged(
    wanted: Goal,
    labels: NDArray[Any],
    scores: NDArray[Any],
    splits: Splits | None,
    mass: NDArray[Any] | None,
) -> tuple[Honest | None, int]:
    """Judge the choice of the threshold on rows outside it; None if there are too few of a class.

    And say how many rows chose for the fold that had the fewest.
    """
    if splits is None or len(splits) == 1:  # one model: only the choice of the threshold is repeated
        folds = min(5, int(labels.sum()), int((labels == 0).sum()))
        if folds < 2:
            return None, 0
        seed = int(generator(0, scores, labels).integers(2**31))
        again = StratifiedKFold(folds, shuffle=True, random_state=seed)
        entries: Splits = list(again.split(np.zeros(len(labels)), labels))
    else:
        entries = scored_entries(splits)
    fewest = min(len(chooses) for chooses, _ in entries)
    return honest(wanted, labels, scores, entries, weights=mass, skip=True), fewest


def _routing_enabled() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))


# --- the scorer


def scorer(
    maximize: Objective | None = None,
    *,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    pos_label: Any = None,
) -> Any:
    """Make a scorer for `GridSearchCV` and the like: the best value over all thresholds.

    So a search of hyper-parameters optimises what will be deployed, and not the value at 0.5. When
    minimising, the sign is turned, as in scikit-learn's ``neg_...`` scorers. NaN where no threshold
    meets the constraints. The value is a resubstitution value for the threshold: good to compare
    models of one size of data by, too good to report.

    Parameters
    ----------
    maximize, minimize, subject_to, pos_label
        As for `find`.

    Examples
    --------
    >>> import cutpoints as cp
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(300, weights=[0.9], random_state=1)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=cp.scorer("f1"), cv=3).round(2)
    array([0.71, 0.78, 0.57])
    """
    best = BestValue(maximize, minimize, subject_to, pos_label)
    named = {} if pos_label is None else {"pos_label": pos_label}
    return make_scorer(best, response_method=_METHODS, greater_is_better=best.goal.sign > 0, **named)


@dataclass(frozen=True)
class BestValue:
    """A function of labels and scores: the value at the best threshold, NaN if none is allowed."""

    maximize: Objective | None = None
    minimize: Objective | None = None
    subject_to: Constraints = None
    positive: Any = None

    @property
    def goal(self) -> Goal:
        """What is best."""
        return goal(
            maximize=self.maximize, minimize=self.minimize, subject_to=self.subject_to, caller="scorer"
        )

    def __call__(
        self, y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
    ) -> float:
        y_true = np.asarray(y_true)
        positive = pos_label if self.positive is None else self.positive
        if positive is None:
            found = np.unique(y_true)
            usual = found.dtype.kind in "biuf" and set(found.tolist()) <= {-1, 0, 1}
            positive = 1 if usual else found[-1]
        solution = find(
            (y_true == positive).astype(np.int8),
            y_score,
            maximize=self.maximize,
            minimize=self.minimize,
            subject_to=self.subject_to,
            sample_weight=sample_weight,
        )
        return math.nan if solution.value is None else solution.value

    @property
    def __name__(self) -> str:
        """What a scorer prints."""
        return f"{self.goal} over all thresholds"

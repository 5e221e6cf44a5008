"""The scikit-learn meta-estimator: a classifier and its threshold, fitted together."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import _safe_indexing, assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRequest,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from cutpoints._curve import curve
from cutpoints._data.read import as_data
from cutpoints._evaluate.cross_validation import (
    Columns,
    CrossValidated,
    Splits,
    confusion_of,
    cross_validate,
    out_of_fold_splits,
)
from cutpoints._evaluate.splits import bad_cv, check_both_classes, make_splits
from cutpoints._find import find
from cutpoints._goal import Constraints, Goal, Objective, goal
from cutpoints._sklearn.columns import columns_of
from cutpoints._sklearn.leakage import warn_if_seen, warn_if_separated, warn_if_shared
from cutpoints._sklearn.scoring import RESPONSE_METHODS, objective_of, positive_label_of
from cutpoints._validate import check_confidence, generator
from cutpoints.exceptions import DataWarning, InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._search.guarantee import Confidence

_ALSO = ("a share between 0 and 1", "'prefit'")
"""What `cv` may be other than folds."""

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _if_available(method: _Method) -> _Method:
    """Give the classifier a method if its inner estimator has it; `available_if` alone loses the types."""

    def check(self: CutpointClassifier) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method.__name__)  # raises AttributeError if not
        return True

    return available_if(check)(method)


class CutpointClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that decides at the threshold that is best for a goal.

    A drop-in for scikit-learn's `TunedThresholdClassifierCV`. The threshold comes from exact searches
    over all cuts of the pooled out-of-fold scores, not from a grid of 100. It takes constraints and
    costs, and reports the value to expect on new data beside the value on these rows.

    Fitting costs one fit and one prediction per fold, one fit on all rows, and little more.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with `predict_proba` or `decision_function`.
    maximize, minimize : str, metric expression or callable, default=None
        The goal, as for `find`. By default the balanced accuracy is maximized, as in scikit-learn.
    subject_to : str, constraint, or a list of them, default=None
        What must hold, as for `find`. If no threshold meets it, `fit` raises `InfeasibleError`.
    guarantee : float or "expectation", default=None
        The constraints hold on new data with this probability, as for `find`. It needs scores of the
        very model that is deployed, on rows that it has not seen: ``cv="prefit"``, or one split with
        ``refit=False``. Out-of-fold scores come from other models.
    cv : int, float, splitter, iterable, "loo", "prefit" or None, default=5
        Number of stratified folds; share of a single held-out part; a splitter; pairs of indices;
        ``"loo"`` to leave one row out, or one group, at the price of as many fits; or ``"prefit"`` for an
        estimator that is fitted already. None is 5, as in scikit-learn.

        **Warning**: with ``"prefit"``, pass rows to `fit` that the estimator was **not** fitted on.
    refit : bool, default=True
        Fit the estimator on all rows afterwards. False needs a single split, whose model is kept.
        Has no meaning for ``"prefit"``.
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        The method that gives the scores; "auto" takes the first that the estimator has.
    pos_label : int, float, bool or str, default=None
        The positive class; ``classes_[1]`` by default. For string labels a `DataWarning` names it.
    n_jobs : int, default=None
        The number of folds to fit in parallel, by joblib.
    random_state : int, RandomState or None, default=None
        Used for a float `cv` and for the pilot rows of `guarantee`. None draws again at each `fit`, as in
        all estimators of scikit-learn; the functions of cutpoints have 0, so that they repeat.
    threshold : {"average", "pooled"}, default="average"
        "pooled": the optimum of all out-of-fold scores. "average": the mean of `fold_thresholds_`,
        the optima without each fold. A single optimum depends on the few rows around it; the mean is
        less noisy, and does better on new data with rare positives. The pooled one is used all the
        same with constraints or a guarantee (a mean need not meet them), if a fold's threshold was
        chosen by less than half of the rows, or if the mean does worse on these rows than
        `cross_validated_value_`.
    scoring : str or scorer, default=None
        The goal as scikit-learn names it, in place of `maximize` and `minimize`: ``"f1"``,
        ``"matthews_corrcoef"``, ``make_scorer(fbeta_score, beta=2)``.
    store_cv_results : bool, default=False
        Whether to keep `cv_results_`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    threshold_ : float
        The threshold; `best_threshold_` is another name for it.
    solution_ : Solution
        The search on the pooled out-of-fold scores, with its certificate and the pooled threshold.
    cross_validated_value_ : float
        The value to expect on new data: each fold judged at the best threshold of the others, counts
        pooled, for as many rows as `best_score_`. NaN if there are too few rows of a class.
    cross_validation_ : CrossValidated or None
        The same in detail: pooled counts, and the threshold and the value of each fold.
    best_score_ : float
        The value at the threshold on the rows that chose it: optimistic.
    fold_thresholds_ : ndarray
        The thresholds that judged the folds: the exact optimum of the others.
    classes_ : ndarray of shape (2,)
        The labels.
    cv_results_ : dict
        With `store_cv_results`: ``"thresholds"``, ascending, all cuts of the pooled out-of-fold scores,
        and ``"scores"``, the value of the goal at each of them; NaN where it is undefined.

    Warns
    -----
    LeakageWarning
        The same rows or groups are seen to fit and to judge.
    DataWarning
        Labels are strings and `pos_label` is not given.

    Raises
    ------
    InfeasibleError
        No threshold meets the constraints.
    InvalidInputError
        Not two classes, no weight on one of them, or an estimator that scores all rows alike.

    Examples
    --------
    >>> import cutpoints as cp
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> model = cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(X, y)
    >>> round(model.threshold_, 3), round(model.best_score_, 3), round(model.cross_validated_value_, 3)
    (0.293, 0.627, 0.614)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
        guarantee: Confidence | None = None,
        cv: Any = 5,
        refit: bool = True,
        response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        threshold: Literal["average", "pooled"] = "average",
        scoring: Any = None,
        store_cv_results: bool = False,
    ) -> None:
        self.estimator = estimator
        self.maximize = maximize
        self.minimize = minimize
        self.subject_to = subject_to
        self.guarantee = guarantee
        self.cv = cv
        self.refit = refit
        self.response_method = response_method
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.threshold = threshold
        self.scoring = scoring
        self.store_cv_results = store_cv_results

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
            Columns that the goal adds up, by name: ``fit(X, y, amount=amount)`` for
            ``cost(fp=5, fn=amount)``; those that are columns of a data frame X need not be given.
            `sample_weight` weighs the search, and the estimator if it takes weights; `groups` go to
            the splitter; anything else goes to the estimator's `fit`. With metadata routing enabled,
            what was requested goes where it was requested.
        """
        wanted = self._goal()
        X, y = indexable(X, y)
        y = self._labels(y)
        columns = columns_of(wanted, X, params)
        fit_params, split_params = self._routed(params)
        weights = params.get("sample_weight")
        if weights is not None:
            check_weight_of_classes(y == self._positive, weights)
        if isinstance(self.cv, str) and self.cv == "prefit":
            splits, scores = None, self._prefit(X)
            row = np.arange(len(scores))
            warn_if_separated(y == self._positive, scores)
        else:
            splits, scores = self._out_of_fold(X, y, fit_params, split_params)
            row = np.concatenate([test for _, test in splits])
        _check_not_constant(self.estimator, scores, splits)
        mass = None if weights is None else np.asarray(weights)[row]
        columns = {column: values[row] for column, values in columns.items()}
        labels = (y[row] == self._positive).astype(np.int8)
        return self._cut(wanted, (labels, scores, mass, columns), splits)

    def _cut(
        self,
        wanted: Goal,
        rows: tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, Columns],
        splits: Splits | None,
    ) -> CutpointClassifier:
        """Find the threshold on scores of rows that did not fit the model, and judge it."""
        labels, scores, mass, columns = rows
        named = {column.name: values for column, values in columns.items()} or None
        data = as_data(labels, scores, sample_weight=mass, caller="CutpointClassifier")
        data = data.with_columns(named, "CutpointClassifier")
        asked: dict[str, Any] = {wanted.direction: wanted.expression}
        if self.guarantee is not None:
            asked |= {"guarantee": self.guarantee, "random_state": self.random_state}
        self.solution_ = find(data, subject_to=wanted.constraints or None, **asked).raise_if_infeasible()
        assert self.solution_.threshold is not None
        assert self.solution_.value is not None
        self.threshold_, self.best_score_ = self.solution_.threshold, self.solution_.value
        if self.store_cv_results:
            every = curve(data)
            values = every.values(wanted.expression)
            self.cv_results_ = {"thresholds": every.thresholds[::-1], "scores": values[::-1]}
        judged, chosen_by = _judged(wanted, rows, splits)
        self.cross_validation_ = judged
        self.fold_thresholds_ = np.array([] if judged is None else judged.thresholds)
        self.cross_validated_value_ = math.nan if judged is None else judged.value
        free = not wanted.constraints and self.guarantee is None and 2 * chosen_by >= len(scores)
        if self.threshold == "average" and free and np.isfinite(self.fold_thresholds_).all():
            mean = float(scores.dtype.type(self.fold_thresholds_.mean()))
            value = confusion_of(labels, scores >= mean, mass, columns).metric(wanted.expression)
            if wanted.sign * value >= wanted.sign * self.cross_validated_value_:
                self.threshold_, self.best_score_ = mean, value
        return self

    def _keep(self, estimator: Any) -> None:
        """Keep the fitted estimator, and what it knows of its features."""
        self.estimator_ = estimator
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))

    def _goal(self) -> Goal:
        maximize, minimize = self.maximize, self.minimize
        if self.scoring is not None:
            if maximize is not None or minimize is not None:
                raise InvalidParameterError(
                    "scoring",
                    caller="CutpointClassifier",
                    expected="left out when 'maximize' or 'minimize' is given: all of them name the goal",
                    got=self.scoring,
                )
            direction, expression = objective_of(self.scoring)
            maximize, minimize = (expression, None) if direction == "maximize" else (None, expression)
        elif maximize is None and minimize is None:
            maximize = "balanced_accuracy"
        if self.response_method not in {"auto", *RESPONSE_METHODS}:
            raise InvalidParameterError(
                "response_method",
                caller="CutpointClassifier",
                expected="'auto', 'predict_proba' or 'decision_function'",
                got=self.response_method,
            )
        if self.threshold not in {"average", "pooled"}:
            raise InvalidParameterError(
                "threshold",
                caller="CutpointClassifier",
                expected="'average' or 'pooled'",
                got=self.threshold,
            )
        if self.guarantee is not None:
            check_confidence(self.guarantee, "CutpointClassifier", expectation=True, parameter="guarantee")
        asked: dict[str, Any] = {"maximize": maximize, "minimize": minimize, "subject_to": self.subject_to}
        return goal(**asked, caller="CutpointClassifier", columns=True)

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
        named = positive_label_of(self.scoring) if self.pos_label is None else self.pos_label
        self._positive = self.classes_[1] if named is None else named
        if self._positive not in self.classes_:
            raise InvalidParameterError(
                "pos_label",
                caller="CutpointClassifier",
                expected=f"one of the classes {self.classes_.tolist()}",
                got=named,
            )
        if named is None and isinstance(self._positive, str):
            other, positive = self.classes_.tolist()
            warning = DataWarning(
                f"Labels are strings: {positive!r} is taken as the positive class, the second of "
                f"{[other, positive]} in sorted order.",
                hint=f"pass pos_label={positive!r} or pos_label={other!r}.",
            )
            warnings.warn(warning, stacklevel=3)
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
                f"sample_weight only weights the search of the threshold: {type(self.estimator).__name__} "
                "does not take it.\n\nHint: for a pipeline, pass it to the step as well, for example "
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
        known = np.asarray(self.estimator.classes_).tolist()
        if set(known) != set(self.classes_.tolist()):
            raise InvalidInputError(
                "With cv='prefit' the estimator must be fitted on the two classes of y. "
                f"Its classes are {known}, those of y are {self.classes_.tolist()}.",
                hint="fit it on labels of these two classes, or pass the labels that it was fitted on.",
            )
        self._keep(self.estimator)
        warn_if_seen(self.estimator, X)
        return self._scores(self.estimator_, X)

    def _out_of_fold(
        self, X: Any, y: NDArray[Any], fit_params: dict[str, Any], split_params: dict[str, Any]
    ) -> tuple[Splits, NDArray[Any]]:
        """Fit on each training part and score the rest; then fit `estimator_`."""
        splits = self._splits(X, y, split_params)
        if not self.refit and len(splits) > 1:
            raise InvalidParameterError(
                "refit",
                caller="CutpointClassifier",
                expected="True with several folds: there is no one model to keep",
                got=False,
                hint="pass a share such as cv=0.2 for a single split.",
            )
        self._check_guarantee(len(splits))
        check_both_classes(splits, y == self._positive)
        warn_if_shared(splits, split_params.get("groups"))
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_fold)(self, X, y, (train, test), fit_params, keep=not self.refit)
            for train, test in splits
        )
        self._keep(clone(self.estimator).fit(X, y, **fit_params) if self.refit else fitted[0][1])
        return splits, np.concatenate([scores for scores, _ in fitted])

    def _splits(self, X: Any, y: NDArray[Any], split_params: dict[str, Any]) -> list[Any]:
        cv = self.cv
        if isinstance(cv, float):
            if not 0 < cv < 1:
                raise bad_cv(cv, caller="CutpointClassifier", also=_ALSO)
            cv = StratifiedShuffleSplit(1, test_size=cv, random_state=self.random_state)
        shape: tuple[int, ...] = getattr(X, "shape", ())
        groups = split_params.get("groups")
        return make_splits(
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

    def _check_guarantee(self, splits: int) -> None:
        from sklearn.frozen import FrozenEstimator

        if self.guarantee is None or isinstance(self.estimator, FrozenEstimator):
            return
        if splits > 1 or self.refit:
            raise InvalidParameterError(
                "guarantee",
                caller="CutpointClassifier",
                expected="used with cv='prefit', or with a single split and refit=False: out-of-fold scores "
                "come from other models than the one that is refitted, so they certify nothing about it",
                got=f"{self.guarantee!r} with cv={self.cv!r}, refit={self.refit!r}",
                hint="for example cv=0.3, refit=False.",
            )

    # --- deciding

    def _scores(self, estimator: Any, X: Any) -> NDArray[Any]:
        """Return one score per row, higher for the positive class."""
        methods = RESPONSE_METHODS if self.response_method == "auto" else (self.response_method,)
        method = next((name for name in methods if hasattr(estimator, name)), None)
        if method is None:
            raise InvalidParameterError(
                "estimator",
                caller="CutpointClassifier",
                expected=f"a classifier with {' or '.join(methods)}: without scores there is nothing to cut",
                got=estimator,
                hint="CalibratedClassifierCV gives scores to a classifier that has none.",
            )
        values = np.asarray(getattr(estimator, method)(X))
        positive = int(np.flatnonzero(estimator.classes_ == self._positive)[0])
        if values.ndim == 2:
            return values[:, positive]
        return values if positive == 1 else -values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the positive class if the score is at least the threshold, else the other class."""
        check_is_fitted(self, "threshold_")
        called = self._scores(self.estimator_, X) >= self.threshold_
        positive = int(np.flatnonzero(self.classes_ == self._positive)[0])
        return self.classes_[np.where(called, positive, 1 - positive)]

    @_if_available
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @_if_available
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return the logarithms of the probabilities of the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_log_proba(X)

    @_if_available
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
        """Say that `fit` passes metadata on to the estimator's `fit` and the splitter's `split`.

        The columns of the goal are requested for `fit` itself.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=to_fit)
        added = MetadataRequest(owner=self)
        for column in self._goal().columns:
            added.fit.add_request(param=column.name, alias=True)
        router.add_self_request(added)
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


def fit_fold(
    model: CutpointClassifier,
    X: Any,
    y: NDArray[Any],
    split: tuple[NDArray[np.intp], NDArray[np.intp]],
    fit_params: dict[str, Any],
    *,
    keep: bool,
) -> tuple[NDArray[Any], Any]:
    """Fit a clone on one part and score the other; at module level, so that joblib can pickle it."""
    train, test = split
    part = {name: _part(value, train, len(y)) for name, value in fit_params.items()}
    fitted = clone(model.estimator).fit(_safe_indexing(X, train), y[train], **part)
    return model._scores(fitted, _safe_indexing(X, test)), fitted if keep else None  # noqa: SLF001


def _part(value: Any, index: NDArray[np.intp], rows: int) -> Any:
    """Return the entries of a fit parameter that has one per row."""
    return _safe_indexing(value, index) if hasattr(value, "__len__") and len(value) == rows else value


def _judged(
    wanted: Goal,
    rows: tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, Columns],
    splits: Splits | None,
) -> tuple[CrossValidated | None, int]:
    """Cross-validate the choice of the threshold, and count the rows that chose for the smallest fold.

    None if there are too few rows of a class.
    """
    labels, scores, mass, columns = rows
    if splits is None or len(splits) == 1:  # one model: only the choice of the threshold is repeated
        folds = min(5, int(labels.sum()), int((labels == 0).sum()))
        if folds < 2:
            return None, 0
        seed = int(generator(0, scores, labels).integers(2**31))
        again = StratifiedKFold(folds, shuffle=True, random_state=seed)
        entries: Splits = list(again.split(np.zeros(len(labels)), labels))
    else:
        entries = out_of_fold_splits(splits)
    fewest = min(len(chooses) for chooses, _ in entries)
    total = float(len(labels)) if mass is None else math.fsum(mass)
    found = cross_validate(
        wanted, labels, scores, entries, weights=mass, columns=columns, total=total, skip=True
    )
    return found, fewest


def check_weight_of_classes(positive: NDArray[np.bool_], sample_weight: Any) -> None:
    """Raise if all rows of a class weigh nothing; weights of another kind are checked by the search."""
    weights = np.asarray(sample_weight)
    if weights.shape != positive.shape:
        return
    for name, rows in (("positive", positive), ("negative", ~positive)):
        if not weights[rows].any():
            raise InvalidInputError(
                "sample_weight must not be 0 for a whole class. "
                f"All {int(rows.sum()):,} {name} rows have a weight of 0.",
                hint="leave sample_weight out, or give both classes some weight.",
            )


def _check_not_constant(estimator: Any, scores: NDArray[Any], splits: Splits | None) -> None:
    """Raise if every model gives all its rows one score: there is nothing to choose from."""
    sizes = [len(scores)] if splits is None else [len(test) for _, test in splits]
    parts = np.split(scores, np.cumsum(sizes)[:-1]) if max(sizes) > 1 else [scores]
    if all((part == part[0]).all() for part in parts):
        raise InvalidInputError(
            f"The estimator must distinguish rows. {type(estimator).__name__} makes constant predictions "
            f"(the score {float(parts[0][0]):.6g} for every row), so the best threshold cannot be found.",
            hint="check its features and its hyper-parameters, such as a regularization that is too strong.",
        )


def _routing_enabled() -> bool:
    from sklearn import get_config

    return bool(get_config().get("enable_metadata_routing", False))

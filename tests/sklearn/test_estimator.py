"""`CutpointClassifier` and `scorer`: scikit-learn's contract, the folds, the routing, the errors."""

import copy
import math
import pickle
import warnings
from functools import partial

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    make_scorer,
    matthews_corrcoef,
    precision_score,
    recall_score,
    zero_one_loss,
)
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    StratifiedKFold,
    TimeSeriesSplit,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import cutpoints as cp
from cutpoints._evaluate.cross_validation import out_of_fold_splits
from cutpoints._sklearn.scoring import BestValue
from cutpoints.exceptions import (
    DataWarning,
    InfeasibleError,
    InvalidInputError,
    InvalidParameterError,
    LeakageWarning,
)

# scikit-learn exempts its own threshold classifiers from this one check, for the same reason.
EXPECTED = {"check_classifiers_train": "decisions at a tuned threshold are not those at 0.5"}


@pytest.mark.filterwarnings("ignore:Labels are strings:cutpoints.exceptions.DataWarning")
@parametrize_with_checks(
    [cp.CutpointClassifier(LogisticRegression(), maximize="f1", cv=4)],  # some checks have four positives
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_contract(estimator, check):
    """Every check that scikit-learn makes of its own estimators passes."""
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Labels are strings:cutpoints.exceptions.DataWarning")
@parametrize_with_checks(
    [
        cp.CutpointClassifier(LinearSVC(), minimize="cost(fp=1, fn=2)", cv=3),
        cp.CutpointClassifier(LogisticRegression(), maximize="recall", subject_to="precision >= 0.1"),
    ],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn_contract_of_other_settings(estimator, check):
    """The same holds for decision functions, costs and constraints."""
    check(estimator)


@pytest.fixture(scope="module")
def data():
    """Three hundred rows, a fifth of them positive."""
    return make_classification(300, n_features=6, weights=[0.8], flip_y=0.1, random_state=0)


def out_of_fold(estimator, X, y, splits):
    """Scores of each row from a model that has not seen it."""
    scores = np.empty(len(y))
    for train, test in splits:
        scores[test] = clone(estimator).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    return scores


# --- the threshold


@pytest.mark.parametrize(
    "asked",
    [
        {"maximize": "f1"},
        {"minimize": "cost(fp=1, fn=5)"},
        {"maximize": "recall", "subject_to": "precision >= 0.7"},
    ],
    ids=str,
)
def test_threshold_is_the_exact_optimum_of_the_pooled_out_of_fold_scores(data, asked):
    """It is what `find` says of out-of-fold scores, and the model is fitted on all rows."""
    X, y = data
    model = cp.CutpointClassifier(LogisticRegression(), cv=4, threshold="pooled", **asked).fit(X, y)
    splits = list(StratifiedKFold(4).split(X, y))
    scores = out_of_fold(LogisticRegression(), X, y, splits)
    expected = cp.find(y, scores, **asked)

    assert expected.threshold == model.threshold_ == model.best_threshold_
    assert expected.value == model.solution_.value == model.best_score_
    whole = LogisticRegression().fit(X, y)
    assert (whole.coef_ == model.estimator_.coef_).all()
    called = whole.predict_proba(X)[:, 1] >= expected.threshold
    assert (called.astype(int) == model.predict(X)).all()


def test_average_threshold_is_the_mean_of_the_exact_optima_without_each_fold(data):
    """By default the optima of the folds are averaged, and the value is told at their mean."""
    X, y = data
    model = cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(X, y)
    scores = out_of_fold(LogisticRegression(), X, y, StratifiedKFold(5).split(X, y))

    assert np.mean(model.fold_thresholds_) == model.threshold_ == model.best_threshold_
    assert cp.curve(y, scores).at(model.threshold_).confusion.metric("f1") == model.best_score_
    assert model.cross_validated_value_ <= model.best_score_ <= model.solution_.value


@pytest.mark.parametrize(
    "asked",
    [
        {"maximize": "recall", "subject_to": "precision >= 0.7"},
        {"maximize": "f1", "cv": TimeSeriesSplit(3)},
        {"maximize": "f1", "cv": 0.5, "threshold": "pooled"},
    ],
    ids=str,
)
def test_threshold_is_the_pooled_one_where_a_mean_would_promise_too_much(data, asked):
    """A mean need not meet constraints, and optima of a few early rows are not worth a mean."""
    X, y = data
    model = cp.CutpointClassifier(LogisticRegression(), random_state=0, **asked).fit(X, y)

    assert model.solution_.threshold == model.threshold_
    assert model.solution_.value == model.best_score_


def test_average_between_two_far_optima_is_not_taken():
    """Where the folds disagree, their mean can be the worst place of all: then the pooled one is it."""
    x = np.concatenate([np.full(30, -2), np.linspace(-1, -0.1, 30), np.linspace(0.1, 1, 30), np.full(30, 2)])
    y = np.repeat([0, 1, 0, 1], 30)  # in the middle the positives score below the negatives
    fold = np.concatenate(
        [np.repeat([0, 1, 2], n) for n in ((10, 10, 10), (12, 8, 10), (8, 12, 10), (10, 10, 10))]
    )
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    frozen = FrozenEstimator(LogisticRegression().fit([[-2], [2]], [0, 1]))
    model = cp.CutpointClassifier(frozen, maximize="accuracy", cv=splits).fit(x[:, None], y)

    low, high = min(model.fold_thresholds_), max(model.fold_thresholds_)
    assert low < 0.5 < high
    assert model.threshold_ == model.solution_.threshold
    assert low < model.fold_thresholds_.mean() < high


def test_cross_validated_value_judges_each_fold_at_the_threshold_of_the_others(data):
    """The pooled counts of all folds, each at a threshold that it had no say in."""
    X, y = data
    model = cp.CutpointClassifier(LogisticRegression(), maximize="f1", cv=3).fit(X, y)
    splits = list(StratifiedKFold(3).split(X, y))
    scores = out_of_fold(LogisticRegression(), X, y, splits)
    thresholds = [cp.find(y[train], scores[train], maximize="f1").threshold for train, _ in splits]
    called = np.empty(len(y), dtype=bool)
    for (_, test), t in zip(splits, thresholds, strict=True):
        called[test] = scores[test] >= t
    tp, wrong = (called & (y == 1)).sum(), (called != (y == 1)).sum()

    assert thresholds == list(model.fold_thresholds_)
    assert 2 * tp / (2 * tp + wrong) == model.cross_validated_value_
    assert model.cross_validated_value_ <= model.best_score_


def test_default_goal_is_that_of_scikit_learn(data):
    """Without a goal it is the balanced accuracy, and never below what a grid finds."""
    X, y = data
    ours = cp.CutpointClassifier(LogisticRegression(), threshold="pooled").fit(X, y)
    theirs = TunedThresholdClassifierCV(LogisticRegression()).fit(X, y)

    assert "balanced_accuracy" == ours.solution_.objective
    scores = out_of_fold(LogisticRegression(), X, y, StratifiedKFold(5).split(X, y))
    grid = cp.curve(y, scores).at(theirs.best_threshold_).confusion.metric("balanced_accuracy")
    assert ours.best_score_ >= grid


@pytest.mark.parametrize(
    ("scoring", "theirs"),
    [
        ("accuracy", accuracy_score),
        ("balanced_accuracy", balanced_accuracy_score),
        ("f1", f1_score),
        ("jaccard", jaccard_score),
        ("matthews_corrcoef", matthews_corrcoef),
        ("precision", precision_score),
        ("recall", recall_score),
        (make_scorer(cohen_kappa_score), cohen_kappa_score),
        (make_scorer(fbeta_score, beta=0.5), partial(fbeta_score, beta=0.5)),
        (make_scorer(zero_one_loss, greater_is_better=False), zero_one_loss),
    ],
)
def test_scoring_names_the_goal_as_scikit_learn_does(data, scoring, theirs):
    """The goal of each scorer has the value that scikit-learn's function has at the same decisions."""
    model = cp.CutpointClassifier(LogisticRegression(), scoring=scoring, threshold="pooled").fit(*data)
    X, y = data
    scores = out_of_fold(LogisticRegression(), X, y, StratifiedKFold(5).split(X, y))

    assert pytest.approx(theirs(y, scores >= model.threshold_)) == model.best_score_


def test_scoring_knows_the_positive_label(data):
    """The positive label of a scorer is that of the classifier."""
    model = cp.CutpointClassifier(LogisticRegression(), scoring=make_scorer(f1_score, pos_label=0)).fit(*data)

    assert 0 == model._positive


@pytest.mark.parametrize("scoring", ["roc_auc", "f1_macro", "bogus", make_scorer(max), 3])
def test_scoring_without_a_threshold_is_refused(data, scoring):
    """Areas, averages over classes and functions of others are no goal of a threshold."""
    with pytest.raises(InvalidParameterError, match=r"^scoring must be a scorer of decisions"):
        cp.CutpointClassifier(LogisticRegression(), scoring=scoring).fit(*data)
    with pytest.raises(InvalidParameterError, match="left out when 'maximize'"):
        cp.CutpointClassifier(LogisticRegression(), scoring="f1", maximize="f1").fit(*data)


def test_cv_results_have_every_cut(data):
    """Thresholds ascend, and the best score of all is that of the solution."""
    model = cp.CutpointClassifier(LogisticRegression(), maximize="f1", store_cv_results=True).fit(*data)
    found = model.cv_results_

    assert {"thresholds", "scores"} == found.keys()
    assert (np.diff(found["thresholds"]) > 0).all()
    at = np.flatnonzero(found["thresholds"] == model.solution_.threshold)
    assert model.solution_.value == np.nanmax(found["scores"]) == found["scores"][at[0]]
    assert not hasattr(cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(*data), "cv_results_")


def test_weights_weigh_the_search_and_the_fit(data):
    """Sample weights reach both; an estimator that takes none gets none, with a warning."""
    X, y = data
    weight = np.where(y == 1, 5.0, 1.0)
    model = cp.CutpointClassifier(LogisticRegression(), maximize="accuracy").fit(X, y, sample_weight=weight)

    assert (LogisticRegression().fit(X, y, sample_weight=weight).coef_ == model.estimator_.coef_).all()
    assert weight.sum() == model.solution_.positives + model.solution_.negatives
    with pytest.warns(UserWarning, match="only weights the search of the threshold"):
        cp.CutpointClassifier(KNeighborsClassifier(), maximize="f1").fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("labels", [("no", "yes"), (-1, 1), (2, 7)])
def test_labels_may_be_anything(data, labels):
    """The second class is positive by default, and predictions are labels."""
    X, y = data
    named = np.array(labels)[y]
    model = cp.CutpointClassifier(LogisticRegression(), maximize="f1")
    if isinstance(labels[1], str):
        with pytest.warns(
            DataWarning, match=r"'yes' is taken as the positive class.*\n\nHint: pass pos_label"
        ):
            model.fit(X, named)
        model.set_params(pos_label="yes")
    model.fit(X, named)
    plain = cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(X, y)

    assert list(labels) == model.classes_.tolist()
    assert (np.array(labels)[plain.predict(X)] == model.predict(X)).all()


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC()])
def test_positive_class_can_be_chosen(data, estimator):
    """With the other class as positive, its own score is cut, and recall is its recall."""
    X, y = data
    model = cp.CutpointClassifier(
        estimator, maximize="precision", subject_to="recall >= 0.9", pos_label=0
    ).fit(X, y)

    assert (y == 0).sum() == model.solution_.positives
    assert set(model.predict(X)) == {0, 1}
    assert ((model.predict(X) == 0)[y == 0]).mean() > 0.8


def test_response_method_is_used(data):
    """Probabilities and decision values are cut at different numbers and decide alike."""
    X, y = data
    by = {
        method: cp.CutpointClassifier(LogisticRegression(), maximize="f1", response_method=method).fit(X, y)
        for method in ("auto", "predict_proba", "decision_function")
    }

    assert by["auto"].threshold_ == by["predict_proba"].threshold_
    probability = 1 / (1 + math.exp(-by["decision_function"].solution_.threshold))
    assert pytest.approx(by["auto"].solution_.threshold) == probability
    assert (by["predict_proba"].predict_proba(X) == by["auto"].estimator_.predict_proba(X)).all()
    assert hasattr(by["auto"], "predict_log_proba")
    assert not hasattr(cp.CutpointClassifier(LinearSVC()), "predict_proba")


# --- folds


def test_prefit_is_not_fitted_again(data):
    """A fitted estimator is kept as it is, and its scores on other rows choose the threshold."""
    X, y = data
    fitted = LogisticRegression().fit(X[:150], y[:150])
    model = cp.CutpointClassifier(fitted, maximize="f1", cv="prefit").fit(X[150:], y[150:])

    assert model.estimator_ is fitted
    expected = cp.find(y[150:], fitted.predict_proba(X[150:])[:, 1], maximize="f1")
    assert expected.threshold == model.solution_.threshold
    assert 0 < model.cross_validated_value_ <= model.best_score_


@pytest.mark.parametrize(
    "cv",
    [
        3,
        0.4,
        StratifiedKFold(3),
        LeaveOneOut(),
        "loo",
        TimeSeriesSplit(3),
        [(np.arange(150), np.arange(150, 300))],
    ],
)
def test_any_kind_of_folds(data, cv):
    """Numbers, shares, splitters and pairs of indices all work."""
    X, y = data
    rows = slice(0, 40) if cv == "loo" or isinstance(cv, LeaveOneOut) else slice(None)
    X, y = X[rows], y[rows]
    model = cp.CutpointClassifier(LogisticRegression(), maximize="f1", cv=cv, random_state=0).fit(X, y)

    assert 0 <= model.threshold_ <= 1
    assert 0 < model.cross_validated_value_ <= 1


def test_single_split_without_refit_keeps_its_model(data):
    """With refit=False the model of the only training part is the final one."""
    X, y = data
    split = (np.arange(200), np.arange(200, 300))
    model = cp.CutpointClassifier(LogisticRegression(), maximize="f1", cv=[split], refit=False).fit(X, y)

    assert (LogisticRegression().fit(X[:200], y[:200]).coef_ == model.estimator_.coef_).all()
    with pytest.raises(InvalidParameterError, match="there is no one model to keep"):
        cp.CutpointClassifier(LogisticRegression(), refit=False).fit(X, y)


def test_time_series_are_judged_by_their_past():
    """Only scored rows of the training part choose; the first fold has none."""
    splits = list(TimeSeriesSplit(3).split(np.zeros(8)))
    entries = out_of_fold_splits(splits)

    assert [[], [0, 1], [0, 1, 2, 3]] == [chooses.tolist() for chooses, _ in entries]
    assert [[0, 1], [2, 3], [4, 5]] == [judges.tolist() for _, judges in entries]


def test_groups_make_the_folds(data):
    """A number of folds with groups keeps groups together, as a group splitter does."""
    X, y = data
    groups = np.arange(300) // 5
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeakageWarning)
        for cv in (3, GroupKFold(3), "loo"):
            cp.CutpointClassifier(LogisticRegression(), maximize="f1", cv=cv).fit(X, y, groups=groups)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_parallel_folds_give_the_same(data, n_jobs):
    """The number of jobs changes nothing but the time."""
    X, y = data
    with joblib.parallel_backend("threading"):
        model = cp.CutpointClassifier(LogisticRegression(), maximize="f1", n_jobs=n_jobs).fit(X, y)
    plain = cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(X, y)

    assert plain.threshold_ == model.threshold_


# --- guarantees


def test_guarantee_on_held_out_rows(data):
    """One split without refit, a fitted and a frozen model can be certified."""
    X, y = make_classification(3000, n_features=6, weights=[0.5], random_state=1)
    asked = {"maximize": "recall", "subject_to": "precision >= 0.8", "guarantee": 0.9}
    single = cp.CutpointClassifier(LogisticRegression(), cv=0.5, refit=False, random_state=0, **asked)
    fitted = LogisticRegression().fit(X[:500], y[:500])
    prefit = cp.CutpointClassifier(fitted, cv="prefit", random_state=0, **asked)
    frozen = cp.CutpointClassifier(FrozenEstimator(fitted), random_state=0, **asked)

    for model in (single.fit(X, y), prefit.fit(X[500:], y[500:]), frozen.fit(X[500:], y[500:])):
        assert 0.9 == model.solution_.guarantee.confidence
        assert model.solution_.confusion.metric("precision") > 0.8


def test_guarantee_on_out_of_fold_scores_is_refused(data):
    """Scores of other models certify nothing about the one that is refitted."""
    model = cp.CutpointClassifier(
        LogisticRegression(), maximize="recall", subject_to="precision >= 0.8", guarantee=0.9
    )
    with pytest.raises(InvalidParameterError, match="come from other models"):
        model.fit(*data)


def test_nothing_certified_is_an_error(data):
    """There is no silent fall-back to a threshold without the guarantee."""
    X, y = data
    fitted = LogisticRegression().fit(X[:150], y[:150])
    model = cp.CutpointClassifier(
        fitted, maximize="recall", subject_to="precision >= 0.99", guarantee=0.99, cv="prefit"
    )
    with pytest.raises(InfeasibleError, match="can be certified"):
        model.fit(X[150:], y[150:])


# --- leakage


def test_shared_rows_are_warned_of(data):
    """Rows on both sides of a split make the value too good."""
    X, y = data
    rows = np.arange(300)
    model = cp.CutpointClassifier(
        LogisticRegression(), maximize="f1", cv=[(rows, rows[::2]), (rows, rows[1::2])]
    )
    with pytest.warns(LeakageWarning, match="150 rows are in the training part and in the test part"):
        model.fit(X, y)


def test_shared_groups_are_warned_of(data):
    """Folds that ignore groups leak through them."""
    X, y = data
    model = cp.CutpointClassifier(LogisticRegression(), maximize="f1", cv=StratifiedKFold(3))
    with pytest.warns(LeakageWarning, match="groups are in the training part"):  # noqa: SIM117
        with pytest.warns(UserWarning, match="groups parameter is ignored"):
            model.fit(X, y, groups=np.arange(300) % 10)


@pytest.mark.parametrize(
    ("estimator", "match"),
    [
        (KNeighborsClassifier(3), "fitted on these very rows"),
        (DecisionTreeClassifier(), "separate all 300 rows without a mistake"),
    ],
)
def test_a_model_that_has_seen_the_rows_is_warned_of(data, estimator, match):
    """With cv='prefit', remembered rows and faultless scores give a model away."""
    X, y = data
    model = cp.CutpointClassifier(estimator.fit(X, y), maximize="f1", cv="prefit")
    with pytest.warns(LeakageWarning, match=match):
        model.fit(X, y)


# --- living in scikit-learn


def test_pipelines_inside_and_outside(data):
    """It wraps a pipeline, and is a step of one."""
    X, y = data
    inside = cp.CutpointClassifier(make_pipeline(StandardScaler(), LogisticRegression()), maximize="f1")
    outside = make_pipeline(StandardScaler(), cp.CutpointClassifier(LogisticRegression(), maximize="f1"))

    assert inside.fit(X, y).score(X, y) > 0.7
    assert outside.fit(X, y).score(X, y) > 0.7


def test_grid_search_around_it(data):
    """Parameters of the inner estimator and the goal itself can be searched."""
    X, y = data
    grid = GridSearchCV(
        cp.CutpointClassifier(LogisticRegression(), maximize="f1", cv=3),
        {"estimator__C": [1.0], "maximize": ["f1", "accuracy"]},
        scoring="f1",
        cv=2,
    ).fit(X, y)

    assert set(grid.best_params_) == {"estimator__C", "maximize"}
    assert hasattr(grid.best_estimator_, "threshold_")


m = cp.metrics


@pytest.mark.parametrize(
    "asked",
    [
        {"maximize": "f1"},
        {"maximize": m.f1},
        {"minimize": m.cost(fp=1, fn=2.5)},
        {"maximize": 0.7 * m.accuracy + m.f(beta=2) / 3 - 1},
        {"maximize": m.recall, "subject_to": [m.precision >= 0.6, m.fpr - m.fnr < 1]},
    ],
    ids=str,
)
@pytest.mark.parametrize("again", ["clone", "pickle", "deepcopy", "joblib"])
def test_clones_and_copies(data, tmp_path, asked, again):
    """A clone has the same parameters; a pickle, a deep copy and a file of joblib decide the same."""
    X, y = data
    model = cp.CutpointClassifier(LogisticRegression(), cv=3, **asked).fit(X, y)
    if again == "clone":
        copied = clone(model).fit(X, y)
    elif again == "pickle":
        copied = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    elif again == "deepcopy":
        copied = copy.deepcopy(model)
    else:
        joblib.dump(model, tmp_path / "model")
        copied = joblib.load(tmp_path / "model")

    assert (model.predict(X) == copied.predict(X)).all()
    assert model.solution_.to_dict() == copied.solution_.to_dict()
    assert str(model.get_params()) == str(copied.get_params())


@pytest.mark.parametrize("metric", m.registry.EXAMPLES, ids=str)
def test_metrics_can_be_pickled(metric):
    """Every entry of the catalogue comes back with its parameters."""
    again = pickle.loads(pickle.dumps(metric))  # noqa: S301 - our own bytes

    assert str(metric) == str(again)
    assert metric.parameters == again.parameters


def test_metadata_routing(data):
    """With routing enabled, weights and groups go where they were requested."""
    X, y = data
    weight, groups = np.where(y == 1, 3.0, 1.0), np.arange(300) // 5
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = cp.CutpointClassifier(inner, maximize="f1", cv=GroupKFold(3))
        model.fit(X, y, sample_weight=weight, groups=groups)
        assert weight.sum() == model.solution_.positives + model.solution_.negatives
        assert (LogisticRegression().fit(X, y, sample_weight=weight).coef_ == model.estimator_.coef_).all()
        plain = cp.CutpointClassifier(LogisticRegression(), maximize="f1")
        plain.fit(X, y, groups=groups)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            plain.fit(X, y, sample_weight=weight)


def test_inside_calibration(data):
    """Other meta-estimators take it for a classifier."""
    X, y = data
    inner = cp.CutpointClassifier(LogisticRegression(), maximize="f1", cv=3)
    assert CalibratedClassifierCV(inner, cv=2).fit(X, y).predict_proba(X).shape == (300, 2)


# --- bad input


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"cv": 1}, InvalidParameterError, "at least 2 folds"),
        ({"cv": 1.5}, InvalidParameterError, "a number of folds, a splitter.* a share between 0 and 1"),
        ({"cv": "five"}, InvalidParameterError, "a number of folds, a splitter.* 'prefit'"),
        ({"cv": []}, InvalidParameterError, "into one fold or more, none of them empty"),
        ({"cv": [1, 2]}, InvalidParameterError, "a way to split these rows"),
        ({"cv": 11}, InvalidInputError, "The positives for 11 folds.* must be at least 11. Got 10"),
        ({"pos_label": 3}, InvalidParameterError, "one of the classes"),
        ({"response_method": "predict"}, InvalidParameterError, "^response_method must be"),
        ({"maximize": "f1", "minimize": "fpr"}, InvalidParameterError, "both"),
        (
            {"estimator": Perceptron(), "response_method": "predict_proba"},
            InvalidParameterError,
            "without scores",
        ),
        (
            {"cv": [(np.arange(15), np.arange(15, 30))]},
            InvalidInputError,
            "training part of fold 1 of 1 must have both",
        ),
        ({"maximize": "recall", "subject_to": "precision > 1"}, InfeasibleError, "No threshold meets"),
    ],
)
def test_bad_settings_are_refused(options, error, match):
    """Each is an error that says what must hold."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.array([0] * 20 + [1] * 10)
    with pytest.raises(error, match=match):
        cp.CutpointClassifier(**({"estimator": LogisticRegression(), "cv": 3} | options)).fit(X, y)


@pytest.mark.parametrize("y", [[0, 1, 2] * 10, [1] * 30, np.linspace(0, 1, 30)])
def test_targets_must_be_two_classes(y):
    """Three classes, one class and numbers are refused."""
    X = np.zeros((30, 1))
    with pytest.raises(ValueError, match=r"binary|class|Unknown label type"):
        cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (DummyClassifier(strategy="prior"), {"cv": 3}),  # each fold has a prior of its own
        (DummyClassifier(strategy="prior"), {"cv": 0.5}),
        (LogisticRegression(C=1e-300, fit_intercept=False), {"response_method": "decision_function"}),
    ],
)
def test_constant_predictions_are_refused(data, estimator, options):
    """An estimator that scores all rows alike has no best threshold."""
    with pytest.raises(InvalidInputError, match=r"constant predictions.*cannot be found\.\n\nHint: "):
        cp.CutpointClassifier(estimator, maximize="f1", **options).fit(*data)


@pytest.mark.parametrize("side", [0, 1])
def test_a_class_without_weight_is_refused(data, side):
    """Rows that weigh nothing cannot choose a threshold."""
    X, y = data
    name = ("negative", "positive")[side]
    with pytest.raises(InvalidInputError, match=f"sample_weight must not be 0.*{name} rows"):
        cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(X, y, sample_weight=y != side)


def test_groups_of_one_are_refused(data):
    """Groups that are identifiers of rows are a mistake."""
    X, y = data
    with pytest.raises(InvalidInputError, match="every row is a group of its own"):
        cp.CutpointClassifier(LogisticRegression(), maximize="f1").fit(X, y, groups=np.arange(300))


def test_prefit_must_be_fitted(data):
    """An estimator that is not fitted is told apart."""
    with pytest.raises(NotFittedError, match="must be fitted"):
        cp.CutpointClassifier(LogisticRegression(), cv="prefit").fit(*data)


def test_an_estimator_without_any_scores_is_refused(data):
    """Without scores there is nothing to cut."""

    class Plain(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

    with pytest.raises(InvalidParameterError, match="without scores there is nothing to cut"):
        cp.CutpointClassifier(Plain(), maximize="f1").fit(*data)


# --- the scorer


def test_scorer_is_the_best_value_over_all_thresholds(data):
    """In a search, models are compared at their own best thresholds."""
    X, y = data
    fitted = LogisticRegression().fit(X, y)
    best = cp.find(y, fitted.predict_proba(X)[:, 1], maximize="f1").value

    assert best == cp.scorer("f1")(fitted, X, y)
    assert -cp.find(y, fitted.predict_proba(X)[:, 1], minimize="cost(fp=1, fn=4)").value == cp.scorer(
        minimize="cost(fp=1, fn=4)"
    )(fitted, X, y)
    assert best <= cp.scorer("f1")(fitted, X, y, sample_weight=np.where(y == 1, 2, 1))


def test_scorer_takes_names_for_labels(data):
    """The positive class is the second by default, or the named one."""
    X, y = data
    named = np.array(["no", "yes"])[y]
    fitted = LogisticRegression().fit(X, named)

    assert cp.scorer("f1")(LogisticRegression().fit(X, y), X, y) == cp.scorer("f1")(fitted, X, named)
    assert cp.scorer("f1", pos_label="no")(fitted, X, named) > cp.scorer("f1")(fitted, X, named)


def test_scorer_in_a_search(data):
    """It works in GridSearchCV, in parallel, and is NaN where a constraint cannot be met."""
    X, y = data
    with joblib.parallel_backend("threading"):
        search = GridSearchCV(LinearSVC(), {"C": [0.01, 1]}, scoring=cp.scorer("f1"), cv=3, n_jobs=2).fit(
            X, y
        )
    assert 0 < search.best_score_ <= 1
    assert pickle.loads(pickle.dumps(cp.scorer("f1"))) is not None  # noqa: S301
    assert math.isnan(BestValue("recall", subject_to="precision >= 0.9")([0, 1], [0.5, 0.5]))
    assert "maximize f1 over all thresholds" in repr(cp.scorer("f1"))
    assert len(cross_val_score(LogisticRegression(), X, y, scoring=cp.scorer("mcc"), cv=3)) == 3


@pytest.mark.parametrize("fitted_on", [["a", "b"], [5, 6], [0, 1, 2]], ids=["text", "other", "three"])
def test_a_prefit_estimator_of_other_classes_is_refused(fitted_on):
    """Its scores are not for these labels."""
    X = np.arange(12.0)[:, None]
    fitted = LogisticRegression().fit(X, np.array(fitted_on)[np.arange(12) % len(fitted_on)])

    with pytest.raises(InvalidInputError, match=r"fitted on the two classes of y\. Its classes are"):
        cp.CutpointClassifier(fitted, maximize="f1", cv="prefit").fit(X, np.arange(12) % 2)

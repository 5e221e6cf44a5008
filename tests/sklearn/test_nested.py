"""`nested_cv`: what is chosen inside, what judges outside, and how many fits it takes."""

import math

import joblib
import numpy as np
import pytest
from scipy.stats import expon
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.model_selection import GroupKFold, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import cutpoints as cp
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError

TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [1, 2, 3, 4, 5]}


@pytest.fixture(scope="module")
def data():
    """Two hundred rows, three of ten positive."""
    return make_classification(200, n_features=5, weights=[0.7], flip_y=0.1, random_state=0)


class Counting(ClassifierMixin, BaseEstimator):
    """Counts its fits, and remembers which rows each fit and each prediction saw."""

    fits = ()
    scored = ()

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        """Remember the rows."""
        type(self).fits += (frozenset(X[:, 1]),)
        self.classes_ = np.unique(y)
        self.rows_ = frozenset(X[:, 1])
        return self

    def predict_proba(self, X):
        """Score by the first column."""
        type(self).scored += ((self.rows_, frozenset(X[:, 1])),)
        p = 1 / (1 + np.exp(-X[:, 0] * (1 + self.shift)))
        return np.c_[1 - p, p]


@pytest.fixture
def counting():
    """A fresh counter."""
    Counting.fits, Counting.scored = (), ()
    return Counting()


@pytest.mark.parametrize("refit", [True, False])
def test_number_of_fits(data, counting, refit):
    """(outer + 1) * (settings * inner + 1), less the last round without refit; counted and told."""
    X, y = data
    X = np.c_[X[:, 0], np.arange(200.0)]
    r = cp.nested_cv(counting, {"shift": [0.0, 0.5, 1.0]}, X, y, maximize="f1", outer_cv=4, cv=2, refit=refit)

    assert (4 + refit) * (3 * 2 + 1) == len(Counting.fits) == r.fits
    assert (r.estimator is None) == (r.selection is None) == (not refit)


def test_outer_rows_have_no_say_in_what_they_judge(data, counting):
    """No fit and no prediction before the last of an outer fold touches the rows of that fold."""
    X, y = data
    X = np.c_[X[:, 0], np.arange(200.0)]
    cp.nested_cv(counting, {"shift": [0.0, 1.0]}, X, y, maximize="f1", outer_cv=3, cv=2, refit=False)
    outer = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))

    per_fold = 2 * 2 + 1
    for k, (train, test) in enumerate(outer):
        fits = Counting.fits[k * per_fold : (k + 1) * per_fold]
        scored = Counting.scored[k * per_fold : (k + 1) * per_fold]
        judged = frozenset(X[test, 1])
        assert all(not fit & judged for fit in fits)
        assert frozenset(X[train, 1]) == fits[-1]
        assert all(not rows & judged for _, rows in scored[:-1])
        assert (fits[-1], judged) == scored[-1]
        assert all(not seen & rows for seen, rows in scored)  # always out of fold


def test_outer_value_by_hand(data):
    """The threshold of the rows outside, applied to the rows inside."""
    X, y = data
    r = cp.nested_cv(GaussianNB(), {}, X, y, maximize="f1", outer_cv=3, cv=3, refit=False)
    for (train, test), fold in zip(
        StratifiedKFold(3, shuffle=True, random_state=0).split(X, y), r.folds, strict=True
    ):
        inner = StratifiedKFold(3, shuffle=True, random_state=0)
        model = cp.CutpointClassifier(GaussianNB(), maximize="f1", cv=inner).fit(X[train], y[train])
        assert model.threshold_ == fold.threshold
        called = model.predict(X[test])
        tp = (called & y[test]).sum()
        assert pytest.approx(2 * tp / (called.sum() + y[test].sum())) == fold.value
        assert {} == fold.setting

    total = [sum(getattr(f.confusion, name) for f in r.folds) for name in ("tp", "fp", "fn")]
    assert 2 * total[0] / (2 * total[0] + total[1] + total[2]) == r.pooled
    assert pytest.approx(np.std(r.values, ddof=1)) == r.sd


def test_final_model_is_the_classifier_with_the_chosen_setting(data):
    """The refitted model equals a CutpointClassifier with that setting and the same folds."""
    X, y = data
    r = cp.nested_cv(TREE, DEPTHS, X, y, maximize="f1", outer_cv=2, cv=3)
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    model = cp.CutpointClassifier(
        DecisionTreeClassifier(random_state=0, **r.selection.best.setting), maximize="f1", cv=inner
    ).fit(X, y)

    assert model.threshold_ == r.estimator.threshold_
    assert model.cross_validated_value_ == r.estimator.cross_validated_value_ == r.selection.best.pooled
    assert (model.predict(X) == r.estimator.predict(X)).all()


def test_table_of_the_lecture(data):
    """Setting, training mean and sd, cross-validated mean and sd, and one tick."""
    X, y = data
    r = cp.nested_cv(TREE, DEPTHS, X, y, maximize="accuracy", outer_cv=2, cv=4)
    table = r.selection.table()

    assert [f"max_depth={d}" for d in range(1, 6)] == table["setting"]
    assert 1 == sum(table["chosen"])
    assert max(table["cv_pooled"]) == table["cv_pooled"][table["chosen"].index(True)]
    assert (np.diff(table["training_mean"]) >= -0.02).all()  # deeper trees fit better
    assert table["training_mean"][-1] > table["cv_mean"][-1]  # and are believed less
    text = str(r)
    assert "✓" in text
    assert "training accuracy" in text
    assert "±" in text
    assert r.to_dict()["selection"]["fits"] == 20


@pytest.mark.parametrize("search", ["grid", "random", "halving"])
def test_three_ways_to_search(data, search):
    """All settings, a random few, or a tournament; each ends with one setting."""
    X, y = data
    grid = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5, 20]}
    r = cp.nested_cv(TREE, grid, X, y, search=search, n_iter=4, maximize="f1", outer_cv=2, cv=2)
    settings = {"grid": 9, "random": 4, "halving": 9}[search]

    assert settings == len(r.selection.candidates)
    if search == "halving":
        assert {200} < set(r.selection.table()["rows"])  # only the last ones saw all rows
        assert 200 == r.selection.best.rows
        assert (9 + 3 + 1) * 2 == r.selection.fits


def test_distributions_and_the_default_of_ten(data):
    """Random search draws ten settings from distributions by default."""
    X, y = data
    r = cp.nested_cv(
        GaussianNB(),
        {"var_smoothing": expon(scale=0.1)},
        X,
        y,
        search="random",
        maximize="f1",
        outer_cv=2,
        cv=2,
    )

    assert 10 == len({c.setting["var_smoothing"] for c in r.selection.candidates})


@pytest.mark.parametrize(("settings", "fits"), [(1, 1), (2, 2), (3, 3 + 1), (10, 10 + 4 + 2), (27, 40)])
def test_last_round_of_halving_sees_all_rows(data, settings, fits):
    """However many settings there are, the winner is cross-validated on all rows."""
    X, y = data
    grid = {"var_smoothing": np.logspace(-9, 0, settings).tolist()}
    r = cp.nested_cv(
        GaussianNB(),
        grid,
        X,
        y,
        search="halving",
        maximize="f1",
        outer_cv=[(np.arange(150), np.arange(150, 200))],
        cv=2,
    )

    assert 2 * fits == r.selection.fits
    assert 200 == r.selection.best.rows
    assert settings == len(r.selection.candidates)


def test_halving_keeps_groups_whole(data, counting):
    """A round on fewer rows takes whole groups."""
    X, y = data
    X = np.c_[X[:, 0], np.arange(200.0)]
    cp.nested_cv(
        counting,
        {"shift": [0.0, 0.5, 1.0]},
        X,
        y,
        search="halving",
        maximize="f1",
        groups=np.arange(200) // 4,
        outer_cv=2,
        cv=2,
    )

    for fit in Counting.fits:
        assert {4} == set(np.unique(np.array(sorted(fit)) // 4, return_counts=True)[1])
    assert len({len(fit) for fit in Counting.fits}) > 2


def test_settings_that_break_the_constraints_are_left_out(data, counting):
    """A setting without an allowed threshold is listed; if there is no other, that is the error."""
    _, y = data
    X = np.c_[y + np.sin(np.arange(200)), np.arange(200)]
    asked = {"maximize": "recall", "subject_to": "precision >= 0.9", "outer_cv": 2, "cv": 2}
    r = cp.nested_cv(counting, {"shift": [-1.0, 0.0]}, X, y, **asked)  # -1 scores all rows alike

    assert 3 == len(r.failures)
    assert {"shift": -1.0} == r.failures[0].setting
    assert "InfeasibleError: No threshold meets" in r.failures[0].error
    assert {"shift": 0.0} == r.selection.best.setting
    with pytest.raises(InfeasibleError, match="No threshold meets"):
        cp.nested_cv(counting, {"shift": [-1.0]}, X, y, **asked)


def test_failing_settings_are_reported_and_the_rest_goes_on(data):
    """A setting that cannot be fitted is named with its error, in every fold."""
    X, y = data
    r = cp.nested_cv(TREE, {"max_depth": [-3, 2]}, X, y, maximize="f1", outer_cv=2, cv=2)

    assert 3 == len(r.failures)
    assert {"max_depth": -3} == r.failures[0].setting
    assert "max_depth" in r.failures[0].error
    assert {"max_depth": 2} == r.selection.best.setting
    assert "failed 3 x: max_depth=-3" in repr(r)


def test_all_failing_is_an_error(data):
    """With nothing left there is nothing to choose."""
    with pytest.raises(InvalidInputError, match="none was; the first: max_depth=-3"):
        cp.nested_cv(TREE, {"max_depth": [-3]}, *data, maximize="f1")


def test_parallel_folds_give_the_same(data):
    """The number of jobs changes nothing."""
    X, y = data
    asked = {"maximize": "f1", "outer_cv": 3, "cv": 2}
    with joblib.parallel_backend("threading"):
        parallel = cp.nested_cv(TREE, DEPTHS, X, y, n_jobs=2, **asked)

    assert cp.nested_cv(TREE, DEPTHS, X, y, **asked).to_dict() == parallel.to_dict()


def test_groups_weights_costs_and_labels(data):
    """Groups stay whole, weights count, costs are minimised, labels may be text."""
    X, y = data
    named = np.array(["no", "yes"])[y]
    r = cp.nested_cv(
        TREE,
        {"max_depth": [2, 3]},
        X,
        named,
        minimize="cost(fp=1, fn=3)",
        pos_label="yes",
        groups=np.arange(200) // 4,
        sample_weight=np.full(200, 2.0),
        outer_cv=3,
        cv=2,
    )

    assert 400 == sum(sum(f.confusion.to_dict().values()) for f in r.folds)
    pooled = [c.pooled for c in r.selection.candidates]
    assert min(pooled) == r.selection.best.pooled
    assert {"no", "yes"} == set(r.estimator.predict(X))


class Same(ClassifierMixin, BaseEstimator):
    """Gives every row the same score, so that a goal of many positives calls them all."""

    def fit(self, X, y):
        """Learn the classes only."""
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        """Return one half for all."""
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_of_a_fold_are_added_exactly(data, dtype):
    """Sums of weights are rounded once, whatever their type and the order of the rows."""
    X, y = data
    weight = (np.random.default_rng(0).random(200) / 3).astype(dtype)
    outer = [(np.arange(100), np.arange(100, 200)), (np.arange(100, 200), np.arange(100))]
    asked = {"maximize": "predicted_positive", "outer_cv": outer, "cv": 2, "refit": False}
    r = cp.nested_cv(Same(), {}, X, y, sample_weight=weight, **asked)

    for fold, (_, test) in zip(r.folds, outer, strict=True):
        for count, label in ((fold.confusion.tp, 1), (fold.confusion.fp, 0)):
            assert math.fsum(weight[test][y[test] == label]) == count
    assert sum(f.confusion.tp + f.confusion.fp for f in r.folds) == pytest.approx(r.pooled, rel=1e-15)


@pytest.mark.parametrize("outer", [TimeSeriesSplit(3), [(np.arange(100), np.arange(100, 200))]])
def test_any_outer_folds(data, outer):
    """Splitters and pairs of indices are taken as they are."""
    r = cp.nested_cv(TREE, {"max_depth": [2]}, *data, maximize="f1", outer_cv=outer, cv=2, refit=False)
    assert all(0 <= v <= 1 for v in r.values)
    assert math.isnan(r.sd) == (len(r.folds) == 1)


def test_loo_leaves_one_row_out(data):
    """cv="loo" and outer_cv="loo" fit once for each row."""
    X, y = (part[:30] for part in data)
    r = cp.nested_cv(TREE, {"max_depth": [1]}, X, y, maximize="accuracy", outer_cv="loo", cv=2, refit=False)
    inner = cp.nested_cv(
        TREE, {"max_depth": [1]}, X, y, maximize="accuracy", outer_cv=2, cv="loo", refit=False
    )

    assert 30 == len(r.folds)
    assert 2 == len(inner.folds)


def test_group_splitters_get_the_groups(data):
    """A group splitter outside works when groups are given."""
    r = cp.nested_cv(
        TREE,
        {"max_depth": [2]},
        *data,
        maximize="f1",
        outer_cv=GroupKFold(3),
        cv=2,
        groups=np.arange(200) // 4,
        refit=False,
    )
    assert 3 == len(r.folds)


def test_progress_is_told(data, capsys, monkeypatch):
    """A function hears of every step; the line appears on standard error only, and only if slow."""
    X, y = data
    heard = []
    asked = {"maximize": "f1", "outer_cv": 2, "cv": 2}
    cp.nested_cv(
        TREE, {"max_depth": [1, 2]}, X, y, progress=lambda done, total: heard.append((done, total)), **asked
    )
    assert heard == sorted(heard)
    assert (15, 15) == heard[-1]

    cp.nested_cv(TREE, {"max_depth": [1]}, X, y, progress=True, **asked)
    assert "" == capsys.readouterr().err
    monkeypatch.setattr("cutpoints._sklearn.nested.PROGRESS_DELAY_SECONDS", 0.0)
    cp.nested_cv(TREE, {"max_depth": [1]}, X, y, progress=True, **asked)
    told = capsys.readouterr()
    assert "9 of 9 fits" in told.err
    assert "" == told.out


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"search": "bayes"}, InvalidParameterError, "'grid', 'random' or 'halving'"),
        ({"param_grid": 3}, InvalidParameterError, "a dict of lists"),
        ({"param_grid": {}, "search": "random", "n_iter": 0}, InvalidParameterError, "there are no settings"),
        ({"param_grid": {"depth": [1]}}, InvalidInputError, "Invalid parameter 'depth'"),
        ({"factor": 1, "search": "halving"}, InvalidParameterError, "^factor must be"),
        ({"outer_cv": 1}, InvalidParameterError, "^outer_cv must be at least 2 folds"),
        ({"outer_cv": 90}, InvalidInputError, "The positives for 90 folds"),
        ({"groups": np.arange(200)}, InvalidInputError, "every row is a group of its own"),
        ({"sample_weight": np.ones(3)}, InvalidInputError, "same number of rows"),
        ({"sample_weight": np.arange(200) < 5}, InvalidInputError, "sample_weight must not be 0"),
        ({"maximize": None}, InvalidParameterError, "neither"),
        (
            {"outer_cv": [(np.arange(2), np.arange(2, 200))]},
            InvalidInputError,
            "training part of fold 1 of 1 of outer_cv must have both classes",
        ),
    ],
)
def test_bad_requests_are_refused(data, options, error, match):
    """Each is an error that says what must hold."""
    X, y = data
    order = np.argsort(y, kind="stable")
    asked = {
        "estimator": TREE,
        "param_grid": DEPTHS,
        "X": X[order],
        "y": y[order],
        "maximize": "f1",
    } | options
    with pytest.raises(error, match=match):
        cp.nested_cv(**asked)


def test_targets_must_be_two_classes():
    """Three classes are refused before anything is fitted."""
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        cp.nested_cv(TREE, DEPTHS, np.zeros((6, 1)), [0, 1, 2, 0, 1, 2], maximize="f1")


def test_thresholds_and_costs_are_written_for_people(data):
    """Costs are whole numbers, and the threshold that is written makes the decisions of the fold."""
    X, y = data
    r = cp.nested_cv(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, X, y, minimize="cost(fp=1, fn=5)", cv=3)
    lines = repr(r).splitlines()

    assert f"{r.pooled:.0f} by pooled counts" in lines[0]
    for fold, line in zip(r.folds, lines[1:6], strict=True):
        words = line.split()
        assert f"{fold.value:.0f}" == words[2]
        low, high = fold.interval
        assert low < float(words[5]) <= fold.threshold <= high
        assert len(words[5]) <= len(repr(fold.threshold))


def test_the_interval_of_a_fold_makes_its_decisions(data):
    """Between the highest score that is not called and the lowest that is, the counts of the fold hold."""
    X, y = data
    r = cp.nested_cv(
        GaussianNB(), {"var_smoothing": [1e-9]}, X, y, maximize="f1", outer_cv=StratifiedKFold(4)
    )
    for fold, (train, test) in zip(r.folds, StratifiedKFold(4).split(X, y), strict=True):
        scores = GaussianNB(var_smoothing=1e-9).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        for threshold in (fold.interval.high, np.nextafter(fold.interval.low, 2), fold.threshold):
            called = scores >= threshold
            assert fold.confusion.tp == (called & (y[test] == 1)).sum()
            assert fold.confusion.fp == (called & (y[test] == 0)).sum()

"""The third seed document, first half: empirical risk, folds, nested search, information gain."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import expon
from sklearn.datasets import make_classification
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold, TimeSeriesSplit
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cutpoints as cp

EXAMPLES = Path(__file__).parents[2] / "examples" / "papers"


def script(name):
    """The names that a script defines."""
    return runpy.run_path(str(EXAMPLES / name))


def test_3_1_bias_variance_and_noise_add_up():
    """MSE = noise + bias² + variance at a point, for a straight line through a curve (within 3 se)."""
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 1, 30)
    at, runs, noise = 0.8, 20_000, 0.3
    y = np.sin(3 * x) + noise * rng.normal(size=(runs, 30))
    slope = ((x - x.mean()) * y).sum(axis=1) / ((x - x.mean()) ** 2).sum()
    predicted = y.mean(axis=1) + slope * (at - x.mean())
    truth = np.sin(3 * at)
    squared = (truth + noise * rng.normal(size=runs) - predicted) ** 2

    parts = noise**2 + (predicted.mean() - truth) ** 2 + predicted.var()
    assert abs(squared.mean() - parts) < 3 * squared.std() / np.sqrt(runs)


def test_3_1_empirical_risk_is_the_mean_loss():
    """The error rate is the mean of the 0/1 losses, at every threshold."""
    y, s = np.array([0, 1, 1, 0, 1]), np.array([0.2, 0.4, 0.9, 0.6, 0.3])
    for t in (0.1, 0.3, 0.5, 0.95):
        loss = (y != (s >= t)).mean()
        assert loss == cp.curve(y, s).at(t).confusion.metric("error_rate")


def test_3_2_bayes_classifier_is_the_threshold_at_equal_joint_probability():
    """argmax over y of p(x, y) is the threshold 1/2 on the posterior, and nothing has a lower error."""
    scores = np.linspace(0.05, 0.95, 10)  # the posterior of ten equally likely x
    data = cp.from_counts(scores, positives=scores, negatives=1 - scores)
    best = cp.find(data, minimize="error_rate")

    assert (scores >= 1 - scores).tolist() == (scores >= best.threshold).tolist()


def test_3_3_split_sizes_sum_to_100():
    """70/20/10, 60/20/20 and 80/10/10."""
    sizes = script("folds.py")["SPLIT_SIZES"]

    assert ((70, 20, 10), (60, 20, 20), (80, 10, 10)) == sizes
    assert {100} == {sum(one) for one in sizes}


@pytest.mark.parametrize("splitter", [KFold(5), StratifiedKFold(5), GroupKFold(5), LeaveOneOut()])
def test_3_4_every_row_is_tested_once(splitter):
    """In every way to fold, the test parts are a partition; stratified keeps classes, groups stay whole."""
    y, groups = np.tile([0, 0, 0, 1], 15), np.repeat(np.arange(12), 5)
    pairs = list(splitter.split(np.zeros(60), y, groups if isinstance(splitter, GroupKFold) else None))

    assert list(range(60)) == sorted(np.concatenate([test for _, test in pairs]))
    for train, test in pairs:
        assert not set(train) & set(test)
        if isinstance(splitter, StratifiedKFold):
            assert 3 == y[test].sum()
        if isinstance(splitter, GroupKFold):
            assert not set(groups[train]) & set(groups[test])
    if isinstance(splitter, LeaveOneOut):
        assert 60 == len(pairs)


def test_3_4_time_series_train_before_test():
    """The past is trained on, the future is tested."""
    for train, test in TimeSeriesSplit(4).split(np.zeros(50)):
        assert train.max() < test.min()


def test_3_4_folds_of_algorithm_8():
    """Row n is in fold n mod K, so folds differ in size by one at most; it works as a `cv`."""
    fold = script("folds.py")["every_kth"](23, 5)
    assert [5, 5, 5, 4, 4] == np.bincount(fold).tolist()

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    s = rng.random(60) + y / 2
    fold = np.arange(60) % 5
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    a = cp.assess(y, s, maximize="accuracy", cv=pairs, n_bootstrap=0)
    assert 5 == a.folds


def test_3_5_and_3_6_exam_counts():
    """Five depths need 50 fits, three depths and two impurities 60; and one to refit."""
    exam = script("folds.py")["exam"]

    assert 50 + 1 == exam([1, 2, 3, 4, 5])
    assert 60 + 1 == exam([1, 2, 3], [0.01, 0.1])


def test_3_7_outer_folds_do_not_choose():
    """Labels of an outer fold can be changed without changing the threshold that judges it."""
    X, y = make_classification(150, random_state=0)
    outer = [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(100, 150))]
    asked = {"maximize": "f1", "outer_cv": outer, "cv": 3, "refit": False}
    tree = DecisionTreeClassifier(random_state=0)
    first = cp.nested_cv(tree, {"max_depth": [1, 3]}, X, y, **asked)
    turned = y.copy()
    turned[:50] = 1 - turned[:50]
    second = cp.nested_cv(tree, {"max_depth": [1, 3]}, X, turned, **asked)

    assert first.folds[0].threshold == second.folds[0].threshold
    assert first.folds[0].setting == second.folds[0].setting
    assert first.folds[0].value != second.folds[0].value


@pytest.mark.parametrize("search", ["grid", "random", "halving"])
def test_3_8_three_search_modes_over_threshold_tuned_estimators(search):
    """The lecture's grid, its distributions with ten draws, and a tournament."""
    X, y = make_classification(120, random_state=0)
    grid = {"C": [1.0, 100.0], "gamma": [0.01, 0.1], "kernel": ["rbf"], "class_weight": ["balanced", None]}
    if search == "random":
        grid |= {"C": expon(scale=100), "gamma": expon(scale=0.1)}
    r = cp.nested_cv(SVC(), grid, X, y, search=search, maximize="f1", outer_cv=2, cv=2)

    assert {"grid": 8, "random": 10, "halving": 8}[search] == len(r.selection.candidates)
    assert "decision_function" in dir(r.estimator)
    assert r.estimator.threshold_ is not None


def test_3_9_and_3_10_digits_grid():
    """21 of 24 rows to all three decimals, the same best setting, the supports of the test rows."""
    names = script("digits_grid.py")
    found, X_test, y_test = names["search"]()
    listed = names["rows"](found)
    steady = [(published, ours) for key, published, ours in listed if key not in names["MOVING"]]

    assert 24 == len(listed)
    assert 21 == sum(published == ours for published, ours in steady)
    for key, published, ours in listed:
        if key in names["MOVING"]:
            assert abs(float(published.split()[0]) - float(ours.split()[0])) < 0.03
    assert ("entropy", None, 0.001) == (
        found.best_params_["criterion"],
        found.best_params_["max_depth"],
        found.best_params_["min_impurity_decrease"],
    )
    assert [27, 35, 36, 29, 30, 40, 44, 39, 39, 41] == np.bincount(y_test).tolist()
    assert 0.80 < found.score(X_test, y_test) < 0.90


def test_3_11_information_gain_of_five_diners():
    """The exam's numbers, by the metric of the catalogue."""
    names = script("information_gain.py")
    diners = names["DINERS"]
    assert pytest.approx(0.970951, abs=1e-6) == names["entropy"](diners)
    gains = names["gains"](diners)
    assert pytest.approx([0.419973, 0.019973, 0.170951], abs=1e-6) == list(gains.values())
    assert pytest.approx([0.550978, 0.0], abs=1e-6) == list(names["weighted_entropies"](diners, 0).values())
    left = tuple(d for d in diners if d[0][0])
    assert pytest.approx([0.0, 0.251629, 0.918296], abs=1e-6) == list(names["gains"](left).values())


def test_fold_figure_is_drawn(tmp_path):
    """The diagram of the five ways to split is written."""
    pytest.importorskip("matplotlib")
    import matplotlib as mpl

    mpl.use("Agg")
    script("folds.py")["draw"](tmp_path / "folds.png")

    assert (tmp_path / "folds.png").stat().st_size > 10_000

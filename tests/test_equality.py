"""Results can be compared, copied and sent to another process: by pickle, joblib and deepcopy."""

import copy
import io
import pickle
from functools import cache

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import cutpoints as cp
from cutpoints import metrics as m

RNG = np.random.default_rng(8)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
P = 1 / (1 + np.exp(-X[:, 0]))
COST = m.cost(fp=2, fn=1)

RESULTS = {
    "find": lambda y, p: cp.find(y, p, maximize="f1"),
    "infeasible": lambda y, p: cp.find(y, p, maximize="f1", subject_to="precision >= 0.999"),
    "guarantee": lambda y, p: cp.find(y, p, maximize="recall", subject_to="precision >= 0.6", guarantee=0.9),
    "find_by": lambda y, p: cp.find_by(y, p, by=np.arange(len(y)) % 3, maximize="f1"),
    "find_joint": lambda y, p: cp.find_joint(y, p, by=np.arange(len(y)) % 3, maximize="f1"),
    "frontier": lambda y, p: cp.find_joint(y, p, by=np.arange(len(y)) % 3, maximize="f1").frontier(),
    "find_labels": lambda y, p: cp.find_labels(np.c_[y, 1 - y], np.c_[p, 1 - p**2], maximize="f1"),
    "find_class_weights": lambda y, p: cp.find_class_weights(y, np.c_[1 - p, p]),
    "find_expected": lambda y, p: cp.find_expected(p, maximize="f1"),
    "expected_curve": lambda y, p: cp.find_expected(p, maximize="f1").curve(),
    "find_band": lambda y, p: cp.find_band(y, p, minimize=m.cost(fp=5, fn=20, review=1)),
    "find_ordinal": lambda y, p: cp.find_ordinal(y, p, maximize="accuracy"),
    "curve": cp.curve,
    "table": lambda y, p: cp.curve(y, p).table(),
    "hull": lambda y, p: cp.curve(y, p).hull(),
    "roc": lambda y, p: cp.curve(y, p).roc(),
    "pr": lambda y, p: cp.curve(y, p).pr(),
    "risk_coverage": lambda y, p: cp.curve(y, p).risk_coverage(),
    "cost_curve": lambda y, p: cp.curve(y, p).cost_curve(),
    "evaluate": lambda y, p: cp.evaluate(y, p, threshold=0.5),
    "evaluate_classes": lambda y, p: cp.evaluate_classes(y, (p > 0.5).astype(int)),
    "assess": lambda y, p: cp.assess(y, p, maximize="f1", n_bootstrap=20),
    "band of values": lambda y, p: cp.assess(y, p, maximize="f1", n_bootstrap=20).band,
    "compare": lambda y, p: cp.compare(y, {"a": p, "b": p + 0.1 * X[: len(p), 1]}, maximize="f1"),
    "calibration": cp.calibration,
    "reliability_curve": lambda y, p: cp.calibration(y, p).curve,
    "recalibrate": cp.recalibrate,
    "nested_cv": lambda y, p: cp.nested_cv(
        LogisticRegression(), {"C": [0.1, 1.0]}, X[: len(y)], y, maximize="f1"
    ),
    "policy": lambda y, p: cp.find(y, p, maximize="f1").policy(),
    "check": lambda y, p: cp.find(y, p, maximize="f1").policy().check(y, p),
    "sketch": lambda y, p: cp.Sketch().update(y, p),
    "best so far": lambda y, p: cp.Sketch().update(y, p).best(maximize="f1"),
    "report": lambda y, p: cp.report(y, p, maximize="f1"),
}
NOT_COMPARED = {"recalibrate"}
"""They hold an estimator of scikit-learn, which has no equality; what they do is compared."""


def joblibbed(result):
    """Return what joblib makes of a result on its way through a file."""
    file = io.BytesIO()
    joblib.dump(result, file)
    file.seek(0)
    return joblib.load(file)


@cache
def made(name, rows=200):
    """A result of the first rows."""
    return RESULTS[name](Y[:rows], P[:rows])


COPIES = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301
    "deepcopy": copy.deepcopy,
    "joblib": joblibbed,
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("name", [name for name in RESULTS if name not in NOT_COMPARED])
def test_a_copy_of_a_result_equals_it(name, copied):
    """Arrays are compared by value, and no result is lost on the way to another process."""
    result, same = made(name), copied(made(name))

    assert type(result) is type(same)
    assert result == same
    assert not result != same  # noqa: SIM202
    assert repr(result) == repr(same)


@pytest.mark.parametrize("name", [name for name in RESULTS if name not in NOT_COMPARED])
def test_other_results_are_not_equal(name):
    """Nor is anything else, and the question is not an error."""
    assert made(name) != made(name, 150)
    assert made(name) != 5
    assert not made(name) == "text"  # noqa: SIM201


def test_goals_are_part_of_a_result():
    """Other goals are other results, also if the thresholds are the same, or none meet the constraints."""
    y, p = [0, 1, 0, 1], [0.1, 0.9, 0.2, 0.8]
    by = ["a", "a", "b", "b"]
    f1, recall = (cp.find_joint(y, p, by=by, maximize=one) for one in ("f1", "balanced_accuracy"))
    assert f1.thresholds == recall.thresholds
    assert f1 != recall
    assert f1 != f1.thresholds
    none = [
        cp.find_joint(y, p, by=by, maximize="f1", subject_to=f"predicted_positive >= {count}")
        for count in (5, 6)
    ]
    assert ["infeasible"] * 2 == [one.status for one in none]
    assert none[0] != none[1]
    assert none[0] == copy.deepcopy(none[0])


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("ask", ["find", "find_by", "find_joint", "find_band", "curve"])
def test_results_leave_the_data_behind(ask, copied):
    """A connection cannot be copied: what is told of its rows goes along, and nothing is asked again."""
    import duckdb

    rows = "select i % 1000 as p, (hash(i) % 1000 < i % 1000)::int as y, i % 3 as k from range(20000) r(i)"
    data = cp.read(duckdb.connect().sql(rows), label="y", score="p")
    result = {
        "find": lambda: cp.find(data, maximize="f1"),
        "find_by": lambda: cp.find_by(data, by="k", maximize="f1"),
        "find_joint": lambda: cp.find_joint(data, by="k", maximize="f1"),
        "find_band": lambda: cp.find_band(data, minimize=m.cost(fp=5, fn=20, review=1)),
        "curve": lambda: cp.curve(data),
    }[ask]()
    same = copied(result)
    assert result == same
    assert repr(result) == repr(same)
    for name in ("single", "separate", "common", "cross_validated"):
        assert getattr(result, name, None) == getattr(same, name, None)


GOALS = {
    "metric": lambda beta: m.get("fbeta", beta=beta),
    "cost": lambda fp: m.cost(fp=fp, fn=1),
    "sum": lambda fp: fp * m.f1 + m.recall,
    "constraint": lambda fp: m.precision >= fp / 10,
    "column": lambda fp: m.cost(fp=fp, fn=m.column("amount") + 1),
    "function": lambda fp: m.custom(max, name=f"largest{fp}"),
}


@pytest.mark.parametrize("name", GOALS)
def test_goals_are_equal_if_they_are_written_the_same(name):
    """Two that are made alike are equal and have one hash, copies too; with other numbers they are not."""
    one, same, other = GOALS[name](2), GOALS[name](2), GOALS[name](3)

    assert one == same
    assert hash(one) == hash(same)
    assert {one: 1} == {copy.deepcopy(one): 1}
    assert one == pickle.loads(pickle.dumps(one))  # noqa: S301
    assert one != other
    assert one != 5


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_recalibrator_goes_anywhere(copied):
    """Its copy gives the same probabilities."""
    assert made("recalibrate").transform(P).tolist() == copied(made("recalibrate")).transform(P).tolist()


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize(
    "goal",
    [
        {"maximize": m.f1},
        {"minimize": COST},
        {"maximize": 0.5 * m.f1 + 0.5 * m.recall},
        {"maximize": m.recall, "subject_to": m.precision >= 0.5},
        {"maximize": m.recall, "subject_to": ["precision >= 0.5", m.predicted_positive <= 150]},
    ],
    ids=["metric", "cost", "sum", "constraint", "constraints"],
)
def test_a_fitted_classifier_goes_anywhere(goal, copied):
    """Metrics, sums and constraints are pickled with it."""
    fitted = cp.CutpointClassifier(LogisticRegression(), **goal).fit(X, Y)

    assert fitted.predict(X).tolist() == copied(fitted).predict(X).tolist()
    assert str(fitted.get_params()) == str(copied(fitted).get_params())

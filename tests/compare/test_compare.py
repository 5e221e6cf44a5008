"""Models against each other: exact winners, DeLong, McNemar, bootstrap, hull."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

import cutpoints as cp
from cutpoints import metrics as m
from cutpoints._compare import (
    delong,
    improvement,
    joint_hull,
    joint_table,
    mcnemar,
    paired_bootstrap,
    paired_row_bootstrap,
)
from cutpoints._data.read import as_data
from cutpoints._goal import objective
from cutpoints.exceptions import DataWarning, InfeasibleError, InvalidInputError, InvalidParameterError


def models(seed=0, size=600):
    """Labels and three models of growing quality; the last is rounded, so it has ties."""
    rng = np.random.default_rng(seed)
    y = (rng.random(size) < 0.4).astype(int)
    noise = rng.normal(size=(3, size))
    return y, {
        "weak": noise[0] + 0.5 * y,
        "good": noise[1] + 1.4 * y,
        "round": np.round(noise[1] + 0.5 * noise[2] + 1.3 * y, 1),
    }


def slow_delong(y, scores):
    """The covariance from the definition, pair by pair."""
    y = np.asarray(y)
    over, under = [], []
    for s in map(np.asarray, scores):
        gap = s[y == 1][:, None] - s[y == 0][None, :]
        wins = (gap > 0) + 0.5 * (gap == 0)
        over.append(wins.mean(axis=1))
        under.append(wins.mean(axis=0))
    k = len(scores)
    return np.cov(over).reshape(k, k) / (y == 1).sum() + np.cov(under).reshape(k, k) / (y == 0).sum()


def test_delong_is_the_slow_definition():
    """Midranks give the areas and the covariance of all pairs, ties included."""
    y, scores = models(1, size=150)
    found = delong(y, *scores.values())
    np.testing.assert_allclose(found.covariance, slow_delong(y, scores.values()), rtol=1e-10)
    for area, s in zip(found.auc, scores.values(), strict=True):
        assert roc_auc_score(y, s) == pytest.approx(area, rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=30))
def test_delong_on_small_data(rows):
    """On any small data with two of each class the covariance is that of the definition."""
    y, a, b = map(list, zip(*rows, strict=True))
    if min(sum(y), len(y) - sum(y)) < 2:
        return
    found = delong(y, a, b)
    np.testing.assert_allclose(found.covariance, slow_delong(y, [a, b]), atol=1e-12)
    low, high = found.interval(0)
    assert 0 <= low <= found.auc[0] <= high <= 1


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_delong_interval_of_a_perfect_model(confidence):
    """All of 20 independent pairs are in order: the lower bound is that of 20 hits in 20 tries."""
    y = [0] * 50 + [1] * 20
    wanted = binomtest(20, 20).proportion_ci(confidence).low
    low, high = delong(y, y).interval(0, confidence)
    assert (wanted, 1.0) == (pytest.approx(low, rel=1e-12), high)
    reversed_ = delong(y, [-label for label in y]).interval(0, confidence)
    assert (0.0, 1 - wanted) == (reversed_.low, pytest.approx(reversed_.high, rel=1e-12))


def test_one_row_of_a_class_has_no_interval_and_no_test():
    """The variance of a class of one row is unknown: no interval, no p-value, and a warning says why."""
    rng = np.random.default_rng(0)
    y = np.append(1, np.zeros(100, dtype=int))
    models = {"a": rng.normal(size=101) + y, "b": rng.normal(size=101)}

    with pytest.warns(DataWarning) as caught:
        found = cp.compare(y, models, maximize="youden_j")

    assert "no tests of areas: a class has one row" in str(caught[-1].message)

    assert [None, None] == [entry.auc_interval for entry in found.entries.values()]
    (test,) = found.tests
    assert (None, None) == (test.auc_interval, test.auc_p_value)
    assert found.to_dict()["tests"][0]["auc_p_value"] is None
    assert "p = nan" not in repr(found)


@pytest.mark.parametrize(("positives", "warned"), [(9, True), (10, False)])
def test_few_rows_of_a_class_are_warned_of(positives, warned):
    """Below ten rows of a class the intervals of areas promise too much, and a warning says so."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [positives, 90])
    found = delong(y, rng.normal(size=len(y)) + y)

    assert warned == (found.caution is not None)
    assert found.interval(0) is not None


@pytest.mark.parametrize("rows", [2, 5, 50])
def test_areas_of_one_and_zero_are_told_apart_only_with_enough_rows(rows):
    """A variance of 0 between unequal areas proves nothing; Hoeffding's bound needs rows."""
    y = np.repeat([1, 0], rows)
    gap, interval, p = delong(y, y, -y).difference(0, 1)

    assert 1.0 == gap
    assert min(1.0, 2 * math.exp(-rows / 2)) == p
    assert (interval.low <= 0) == (p > 0.05)


def test_delong_of_a_model_with_itself():
    """A model is no better than itself: difference 0, p 1."""
    y, scores = models(2)
    found = delong(y, scores["good"], 3 * scores["good"] - 1)
    gap, interval, p = found.difference(0, 1)
    assert (0.0, 1.0) == (gap, p)
    assert interval == (0.0, 0.0)


def test_delong_interval_covers():
    """Over simulated samples the interval covers the true area about as often as it says."""
    rng = np.random.default_rng(0)
    truth = 0.5 * (1 + math.erf(1 / 2))  # P(N(1, 1) > N(0, 1))
    hits = 0
    for _ in range(400):
        y = np.arange(120) % 3 == 0
        low, high = delong(y, rng.normal(size=120) + y).interval(0)
        hits += low <= truth <= high
    assert 0.91 < hits / 400 < 0.985


def test_delong_is_fast_enough_for_large_data():
    """A hundred thousand rows and two models take no matrix of pairs."""
    y, scores = models(3, size=100_000)
    found = delong(y, scores["weak"], scores["good"])
    assert found.difference(1, 0)[2] < 1e-10


def test_mcnemar_is_the_binomial_test():
    """The exact p-value is that of a fair coin over the rows that one model alone gets right."""
    y, scores = models(4)
    a, b = scores["weak"] > 0.5, scores["good"] > 0.5
    found = mcnemar(joint_table(y, a, b))
    n = found.only_first + found.only_second
    assert found.only_first == int(((a == y) & (b != y)).sum())
    tail = sum(math.comb(n, k) for k in range(min(found.only_first, found.only_second) + 1))
    assert min(1.0, 2 * tail / 2**n) == pytest.approx(found.p_value)
    assert 1.0 == mcnemar(joint_table(y, a, a)).p_value


def test_bootstrap_of_cells_is_that_of_rows():
    """Drawing the eight cells has the spread of drawing rows one by one."""
    y, scores = models(5, size=300)
    a, b = scores["weak"] > 0.3, scores["good"] > 0.7
    found = paired_bootstrap(joint_table(y, a, b), objective("f1"), n_bootstrap=4000)
    rng = np.random.default_rng(1)
    slow = []
    for _ in range(1500):
        i = rng.integers(0, len(y), len(y))
        slow.append(_f1(y[i], a[i]) - _f1(y[i], b[i]))
    assert _f1(y, a) - _f1(y, b) == pytest.approx(found.difference)
    low, high = np.quantile(slow, [0.025, 0.975])
    assert low == pytest.approx(found.interval.low, abs=0.02)
    assert high == pytest.approx(found.interval.high, abs=0.02)


def _f1(y, decided):
    return 2 * (y & decided).sum() / (y.sum() + decided.sum())


@pytest.mark.filterwarnings("ignore::cutpoints.exceptions.DataWarning")
def test_each_model_gets_its_own_optimum():
    """Every entry is what `find` says for that model alone; the winner has the best value."""
    y, scores = models(6)
    found = cp.compare(y, scores, minimize="cost(fp=2, fn=1)")
    for name, s in scores.items():
        alone = cp.find(y, s, minimize="cost(fp=2, fn=1)")
        assert (alone.threshold, alone.value) == (found.entries[name].threshold, found.entries[name].value)
    values = {name: entry.value for name, entry in found.entries.items()}
    assert min(values, key=values.get) == found.winner
    assert sorted(values, key=values.get) == found.ranking
    assert max(y.mean(), 1 - y.mean()) == found.baseline
    assert len(found.tests) == 2
    assert all(test.first == found.winner for test in found.tests)


@pytest.mark.filterwarnings("ignore::cutpoints.exceptions.DataWarning")
def test_equal_models_are_all_winners():
    """A monotone transform decides alike: both win, exactly, whatever the metric."""
    y, scores = models(7)
    same = {"a": scores["good"], "b": np.exp(scores["good"]), "c": scores["weak"]}
    for metric in ("f1", "mcc", "information_gain", "accuracy"):
        assert ("a", "b") == cp.compare(y, same, maximize=metric).winners


@pytest.mark.filterwarnings("ignore::cutpoints.exceptions.DataWarning")
def test_joint_hull_is_the_hull_of_all_points():
    """The hull over models lies on or above each curve, is owned by models, and has their best area."""
    y, scores = models(8)
    curves = {name: cp.curve(y, s) for name, s in scores.items()}
    hull = joint_hull(curves)
    assert hull.area >= max(curve.hull().area for curve in curves.values())
    for name, curve in curves.items():
        fpr, tpr, _ = curve.roc()
        upper = np.interp(fpr, hull.fpr, hull.tpr)
        inside = fpr > 0
        assert np.all(tpr[inside] <= upper[inside] + 1e-12), name
    for owners, thresholds, fpr, tpr in zip(hull.models, hull.thresholds, hull.fpr, hull.tpr, strict=True):
        for name, threshold in zip(owners, thresholds, strict=True):
            here = curves[name].at(threshold).confusion
            assert (fpr, tpr) == (here.metric("fpr"), here.metric("recall"))
    # At any ratio of costs the owner of the range is the winner.
    for owners, low, high in zip(hull.models, hull.low, hull.high, strict=True):
        if low < high < math.inf:
            ratio = (low + high) / 2
            found = cp.compare(y, scores, minimize=cp.metrics.cost(fp=float(ratio), fn=1), n_bootstrap=0)
            assert set(owners) & set(found.winners)


@pytest.mark.parametrize(
    ("before", "after", "absolute", "relative"),
    [(0.8, 0.9, 0.1, 0.125), (0.5, 0.75, 0.25, 0.5), (0.001, 0.01, 0.009, 9.0), (0, 1, 1.0, math.inf)],
)
def test_improvement(before, after, absolute, relative):
    """Improvements are exact decimals, absolute and relative to the first value."""
    assert (absolute, relative) == improvement(before, after)


def test_improvements_of_costs_are_falls():
    """For a goal that is minimized a fall is an improvement."""
    m1, m2 = cp.Confusion(tp=50, fp=30, fn=0, tn=20), cp.Confusion(tp=20, fp=0, fn=30, tn=50)
    found = cp.compare({"M1": m1, "M2": m2}, minimize="cost(fp=2, fn=1)")
    assert (30.0, 0.5) == found.improvements()["M2"]
    assert (0.0, 0.0) == found.improvements()["M1"]
    assert (-30.0, -1.0) == found.improvements(over="M2")["M1"]


@pytest.mark.filterwarnings("ignore:A class has only:cutpoints.exceptions.DataWarning")
def test_infeasible_models_are_left_out():
    """A model that cannot meet the constraint is no winner; if none can, the error says how near."""
    y = [1, 1, 0, 0]
    found = cp.compare(
        y,
        {"a": [0.9, 0.2, 0.8, 0.1], "b": [0.9, 0.8, 0.7, 0.1]},
        maximize="recall",
        subject_to="precision >= 1",
    )
    assert ("b",) == found.winners
    none = cp.compare(
        y,
        {"a": [0.1, 0.1, 0.9, 0.8], "b": [0.2, 0.2, 0.7, 0.7]},
        maximize="recall",
        subject_to="precision > 0.6",
    )
    assert "infeasible" == none.status
    assert () == none.winners
    with pytest.raises(InfeasibleError, match=r"precision > 0.6.*0.5"):
        none.winner  # noqa: B018 - the access is what is tested


@pytest.mark.filterwarnings("ignore:A class has only:cutpoints.exceptions.DataWarning")
def test_warnings_for_rare_positives_and_poor_accuracy():
    """Where accuracy is the goal, rare positives and an accuracy below the baseline are said, once each."""
    y = np.zeros(100, dtype=int)
    y[:4] = 1
    score = np.linspace(1, 0, 100)
    with pytest.warns(DataWarning, match="4 % of the rows"):
        found = cp.compare(y, {"m": score}, maximize="accuracy", n_bootstrap=0)
    assert 1 == sum("of the rows" in text for text in found.warnings)
    with pytest.warns(DataWarning, match=r"bad has an accuracy of 0\.2, below the 0\.5"):
        cp.compare({"bad": cp.Confusion(tp=1, fp=4, fn=4, tn=1)}, minimize="error_rate")


@pytest.mark.filterwarnings("ignore::cutpoints.exceptions.DataWarning")
def test_weights_leave_out_tests():
    """With weights there are values, areas and a hull, and no tests."""
    y, scores = models(9, size=100)
    weight = np.random.default_rng(0).random(100)
    found = cp.compare(y, scores, maximize="f1", sample_weight=weight)
    assert found.delong is None
    assert () == found.tests
    assert cp.curve(y, scores["good"], sample_weight=weight).auc == found.entries["good"].auc
    assert found.hull.area >= found.entries["good"].auc


@pytest.mark.filterwarnings("ignore::cutpoints.exceptions.DataWarning")
def test_json_is_strict():
    """The JSON form has no NaN and no infinity, and names the winners."""
    y, scores = models(10, size=80)
    shown = json.loads(json.dumps(cp.compare(y, scores, maximize="mcc").to_dict(), allow_nan=False))
    assert {"winners", "models", "tests", "hull", "baseline"} <= set(shown)
    assert shown["hull"]["vertices"][0]["threshold"] == "inf"
    assert {2000} == {test["bootstrap"]["n_bootstrap"] for test in shown["tests"]}
    bare = cp.compare({"a": cp.Confusion(tp=1, fp=1, fn=1, tn=1)}, maximize="f1").to_dict()
    json.dumps(bare, allow_nan=False)


def test_one_class_has_values_but_no_areas():
    """Without negatives there are no ROC areas, tests or hull; values exist."""
    found = cp.compare([1, 1], {"a": [0.1, 0.2], "b": [0.3, 0.1]}, maximize="recall")
    assert math.isnan(found.entries["a"].auc)
    assert found.delong is None
    assert found.to_dict()["hull"] is None
    assert ("a", "b") == found.winners


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: cp.compare([0, 1], {"a": [1, 2], "b": [1]}, maximize="f1"), InvalidInputError, "1 in 'b'"),
        (lambda: cp.compare([0, 1], {"a": [1, math.nan]}, maximize="f1"), InvalidInputError, "'a' must not"),
        (lambda: cp.compare([0, 1], {}, maximize="f1"), InvalidParameterError, "mapping of different names"),
        (lambda: cp.compare({"a": [1, 2]}, maximize="f1"), InvalidParameterError, "y_true"),
        (lambda: cp.compare([0, 1], {"a": [1, 2]}), InvalidParameterError, "maximize"),
        (
            lambda: cp.compare([0, 1], {"a": cp.Confusion(tp=1, fp=0, fn=0, tn=1)}, maximize="f1"),
            InvalidParameterError,
            "Confusion",
        ),
        (
            lambda: cp.compare([0, 1], {"a": [1, 2]}, maximize="f1", confidence=95),
            InvalidParameterError,
            "0.95",
        ),
        (
            lambda: cp.compare([0, 1], {"a": [1, 2], "b": [2, 1]}, maximize="f1", n_bootstrap=-1),
            InvalidParameterError,
            "^n_bootstrap must be an integer >= 0",
        ),
    ],
)
def test_bad_input_is_named(call, error, match):
    """What cannot be compared is refused in words that name the model or the parameter."""
    with pytest.raises(error, match=match):
        call()


def test_values_are_compared_as_fractions():
    """Two confusions whose floats agree and whose fractions differ have one winner."""
    big = 10**17
    one = cp.Confusion(tp=big, fp=3, fn=big, tn=0)
    other = cp.Confusion(tp=big, fp=2, fn=big, tn=1)
    assert one.metric("precision") == other.metric("precision")
    assert Fraction(big, big + 3) < Fraction(big, big + 2)
    assert ("other",) == cp.compare({"one": one, "other": other}, maximize="precision").winners


@pytest.mark.parametrize("goal", [{"maximize": "f1"}, {"minimize": "cost(fp=1, fn=5)"}])
def test_the_verdict_names_a_winner_only_if_it_is_one(goal):
    """A model that is clearly better is said to be, by how much; two of a kind cannot be told apart."""
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.3).astype(int)
    good, poor = rng.normal(2 * y, 1), rng.normal(0.5 * y, 1)
    near = good + rng.normal(0, 0.02, len(y))
    clear = cp.compare(y, {"poor": poor, "good": good}, **goal)
    close = cp.compare(y, {"good": good, "near": near}, **goal)
    more = "higher" if "maximize" in goal else "lower"

    assert clear.verdict.startswith("good is better than poor: ")
    assert f" {more}, 95 % interval " in clear.verdict
    assert "cannot be told apart from" in close.verdict
    assert clear.verdict == clear.to_dict()["verdict"]
    assert "\nwinner   good\n" in repr(clear)
    assert "\nbest here  " in repr(close)
    assert "winner" not in close._repr_html_()
    assert "was not tested" in cp.compare(y, {"poor": poor, "good": good}, n_bootstrap=0, **goal).verdict
    assert "equally good" in cp.compare(y, {"a": good, "b": good}, **goal).verdict


def test_accuracy_is_no_reason_to_warn_where_it_is_not_the_goal():
    """A model that is good for another goal is not blamed for its accuracy."""
    y = np.zeros(1000, dtype=int)
    y[:40] = 1
    found = cp.compare(y, {"m": np.linspace(1, 0, 1000)}, maximize="recall", n_bootstrap=0)

    assert not [text for text in found.warnings if "accuracy" in text]


def test_improvements_over_a_model_that_there_is_not():
    """The error names the models that there are."""
    found = cp.compare([0, 1] * 10, {"a": [0.1, 0.9] * 10, "b": [0.2, 0.8] * 10}, maximize="f1")
    with pytest.raises(ValueError, match=r"^over must be one of 'a', 'b'"):
        found.improvements(over="c")


def payments(size, rng):
    """Draw frauds with amounts, and the decisions of two models that miss some of them."""
    y = (rng.random(size) < 0.3).astype(int)
    amount = np.round(rng.lognormal(3, 1, size), 2)
    first, second = (rng.random(size) < np.where(y == 1, hit, 0.1) for hit in (0.8, 0.6))
    return y, amount, (first, second)


def money_test(y, amount, decisions, loss=None, **more):
    """Bootstrap the difference of two models' cost; their scores are their decisions."""
    goal = loss or m.cost(fp=5, fn=amount)
    data = as_data(y, dict(zip("ab", decisions, strict=True)), caller="compare", several=True)
    rows = data.adding(goal.columns, "compare").labelled_rows(caller="compare")
    return paired_row_bootstrap(rows, decisions, goal, **more)


@pytest.mark.parametrize("size", [300, 5000])
def test_money_is_resampled_by_rows(size):
    """Difference and interval are those of drawing rows one by one, in groups beyond 1,000 rows, too."""
    y, amount, decisions = payments(size, np.random.default_rng(4))
    found = money_test(y, amount, decisions, n_bootstrap=4000)
    cost = [np.where(y == 1, np.where(called, 0, amount), np.where(called, 5, 0)) for called in decisions]
    gap = cost[0] - cost[1]
    assert gap.sum() == pytest.approx(found.difference)
    rng = np.random.default_rng(0)
    drawn = [gap[rng.integers(0, size, size)].sum() for _ in range(4000)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    width = high - low
    assert low == pytest.approx(found.interval.low, abs=0.05 * width)
    assert high == pytest.approx(found.interval.high, abs=0.05 * width)


def test_equal_amounts_are_a_cost_by_counts():
    """Where all amounts are equal, the interval is that of the plain cost, up to chance."""
    y, _, decisions = payments(2000, np.random.default_rng(1))
    by_row = money_test(y, np.full(2000, 20.0), decisions, n_bootstrap=4000)
    plain = paired_bootstrap(joint_table(y, *decisions), objective("cost(fp=5, fn=20)"), n_bootstrap=4000)
    assert plain.difference == by_row.difference
    width = plain.interval.high - plain.interval.low
    assert plain.interval.low == pytest.approx(by_row.interval.low, abs=0.05 * width)
    assert plain.interval.high == pytest.approx(by_row.interval.high, abs=0.05 * width)


@pytest.mark.parametrize("size", [200, pytest.param(1500, marks=pytest.mark.slow)])
def test_intervals_of_money_cover(size):
    """Over fresh payments, about 95 % of the intervals hold the true difference."""
    rng = np.random.default_rng(9)
    held = 0
    for _ in range(200):
        y, amount, decisions = payments(size, rng)
        found = money_test(y, amount, decisions, n_bootstrap=500)
        # A fraud has probability 0.3 and costs exp(3.5) on average; 0.2 of them the first finds more.
        truth = -size * 0.3 * 0.2 * math.exp(3.5)
        held += found.interval.low <= truth <= found.interval.high
    assert 0.89 <= held / 200 <= 0.99


def test_compare_tests_money():
    """Compare with a goal of columns has paired tests, and their difference is that of the values."""
    y, scores = models(3)
    amount = np.round(np.random.default_rng(0).lognormal(3, 1, len(y)), 2)
    found = cp.compare(y, scores, minimize=m.cost(fp=5, fn=amount))
    assert len(found.tests) == 2
    for test in found.tests:
        gap = found.entries[test.first].value - found.entries[test.second].value
        assert gap == pytest.approx(test.bootstrap.difference)
        assert test.bootstrap.interval.low <= gap <= test.bootstrap.interval.high
    again = cp.compare(y, scores, minimize=m.cost(fp=5, fn=amount))
    assert again.tests == found.tests


def test_the_baseline_of_accuracy_is_said_where_accuracy_is_the_goal():
    """Of rare positives, the accuracy of calling nothing says nothing about F1."""
    y, scores = models(0, size=200)
    assert "baseline" not in repr(cp.compare(y, scores, maximize="f1", n_bootstrap=0))
    assert "baseline" in repr(cp.compare(y, scores, maximize="accuracy", n_bootstrap=0))

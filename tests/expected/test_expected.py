"""`find_expected` against brute force in fractions, against its theory, and against labels."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import METHODS, assert_answer, everything, meaning, small_steps
from cutpoints import metrics as m
from cutpoints._expected.expectation import LIMIT, expectations
from cutpoints._kernel.tables import DIRECT_ROWS
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from cutpoints.metrics.registry import EXAMPLES
from oracle import on_grid, solve
from strategies import conjunctions, directions, objectives

RESOLUTION = 2.0**-36  # to which a probability is rounded
AWKWARD = (0.0, 5e-324, 1e-300, 1e-17, 2.0**-53, 1e-6, 0.1, 0.25, 0.3, 0.5, 0.7, 1 - 2.0**-53, 1.0)

steps = st.fixed_dictionaries(
    {"buckets": st.integers(2, 8), "few": st.integers(0, 3), "block": st.integers(1, 6)}
)


@st.composite
def probabilities(draw, min_size=1, max_size=24):
    """Probabilities with many ties; float32 sometimes."""
    dtype = draw(st.sampled_from([np.float64, np.float64, np.float32]))
    tenths, anything = st.integers(0, 10).map(lambda k: k / 10), st.floats(0, 1)
    pool = draw(st.lists(st.one_of(tenths, st.sampled_from(AWKWARD), anything), min_size=1, max_size=9))
    return np.array(draw(st.lists(st.sampled_from(pool), min_size=min_size, max_size=max_size)), dtype=dtype)


def rows(p, weights=None):
    """The rows as the oracle wants them: p times the weight on the grid, and the rest of the weight."""
    weights = np.ones(len(p)) if weights is None else weights
    masses, whole = on_grid((p.astype(float) * weights).tolist(), weights.tolist())
    return [(x, mass, w - mass) for x, mass, w in zip(p.tolist(), masses, whole, strict=True)]


def check(p, direction, text, wanted, method, *, constraints=(), weights=None, **small):
    """Ask both and compare."""
    bounds = [constraint.meaning for constraint in constraints]
    expected = solve(rows(p, weights), wanted, direction, bounds)
    options = {direction: text, "method": method, "subject_to": [c.text for c in constraints]}
    with small_steps(**small):
        if expected.status == "undefined":
            with pytest.raises(InvalidInputError, match="0/0 at every cut"):
                cp.find_expected(p, sample_weight=weights, **options)
            return
        solution = cp.find_expected(p, sample_weight=weights, **options)
    assert_answer(expected, solution, wanted)


# --- against the oracle


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", EXAMPLES, ids=str)
def test_metric_of_the_catalogue(metric, method):
    """Threshold, value, confusion, interval and ties are those of the oracle, to the last bit."""

    @settings(max_examples=6)
    @given(p=probabilities(), direction=directions, small=steps)
    def run(p, direction, small):
        check(p, direction, metric, meaning(metric), method, **small)

    run()


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30)
@given(
    p=probabilities(), direction=directions, objective=objectives(), constraints=conjunctions(), small=steps
)
def test_constraints(p, direction, objective, constraints, *, small, method):
    """Every objective and every conjunction of constraints of the core works on expected counts."""
    check(p, direction, objective.text, objective.meaning, method, constraints=constraints, **small)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30)
@given(data=st.data(), direction=directions, objective=objectives(), small=steps)
def test_weights(data, direction, objective, small, method):
    """A weight divides into p * w, rounded once, and exactly the rest of it."""
    p = data.draw(probabilities())
    w = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.1, 1e-9, 1e9, 7.25])
    weights = np.array(data.draw(st.lists(w, min_size=len(p), max_size=len(p))))
    check(p, direction, objective.text, objective.meaning, method, weights=weights, **small)


@pytest.mark.parametrize(
    "objective", ["f1", "f(beta=0.5)", "jaccard", "accuracy", "kappa", "mcc", "profit(tp=3, fp=-1)"]
)
@pytest.mark.parametrize("shape", [(1, 4), (0.05, 5), (5, 1), (0.3, 0.3)])
def test_many_rows(objective, shape):
    """On as many rows as are narrowed, narrow and sweep agree bit for bit."""
    p = np.random.default_rng(1).beta(*shape, DIRECT_ROWS + 1000)
    narrow, sweep = (cp.find_expected(p, maximize=objective, method=method) for method in ("narrow", "sweep"))
    assert everything(sweep) == everything(narrow)


@pytest.mark.parametrize(
    "order", [np.sort, lambda p: np.sort(p)[::-1], lambda p: np.repeat(p[::8], 8)[: len(p)]]
)
def test_order_and_ties_do_not_fool_the_search(order):
    """Sorted rows and rows in runs, of which a sample is not random, are searched exactly too."""
    p = order(np.random.default_rng(2).beta(1, 6, DIRECT_ROWS + 1).astype(np.float32))
    narrow, sweep = (cp.find_expected(p, maximize="f1", method=method) for method in ("narrow", "sweep"))
    assert everything(sweep) == everything(narrow)


def test_two_passes_and_little_memory():
    """F1 on millions of rows reads them twice, examines a few, and holds less than the probabilities."""
    import tracemalloc

    p = np.random.default_rng(0).beta(1, 4, 4_000_000)
    cp.find_expected(p[:1000], maximize="f1")
    tracemalloc.start()
    solution = cp.find_expected(p, maximize="f1")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.certificate.passes <= 2
    assert solution.certificate.rows_examined < 20_000
    assert peak < p.nbytes  # it does not grow with the rows


def test_small_probabilities():
    """Small probabilities are good to the stated resolution, and those beyond it are told."""
    p = np.array([4e-6, 2e-6, 1e-6, 1e-8])
    solution = cp.find_expected(p, maximize="recall", subject_to="predicted_positive <= 2.5")
    assert RESOLUTION == solution.certificate.resolution
    assert 2e-6 == solution.threshold
    assert solution.value == pytest.approx(6 / 7.01, abs=len(p) * RESOLUTION / 7e-6)
    with pytest.raises(InvalidInputError, match="nearer to it than"):
        cp.find_expected(1e-14 * p, maximize="recall")


# --- the document


def expect_f1(y_prob, thres):
    """The document's function, as it is."""
    idxs = np.where(y_prob >= thres)[0]
    tp = y_prob[idxs].sum()
    fp = len(idxs) - tp
    idxs = np.where(y_prob < thres)[0]
    fn = y_prob[idxs].sum()
    return 2 * tp / (2 * tp + fp + fn)


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_quadratic_sweep(seed):
    """One call gives what the document's loop over all thresholds gives."""
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-rng.normal([0.5, -0.5], 1, (500, 2)).ravel()))
    ranked = np.sort(p)[::-1]
    f1s = [expect_f1(ranked, t) for t in ranked]
    solution = cp.find_expected(p, maximize="f1")
    assert ranked[np.argmax(f1s)] == solution.threshold
    assert max(f1s) == pytest.approx(solution.value, abs=RESOLUTION)


# --- the theory


@settings(max_examples=50)
@given(p=probabilities())
def test_sandwich(p):
    """The lowest probability called positive is at least F*/2, and the next one is at most that."""
    p = np.round(p.astype(np.float64) * 2**20) / 2**20
    solution = cp.find_expected(p, maximize="f1")
    counts = solution.confusion.fractions()
    half = counts["tp"] / (2 * counts["tp"] + counts["fp"] + counts["fn"])
    assert Fraction(solution.threshold) >= half or half == 0
    below = [Fraction(x) for x in p.tolist() if x < solution.threshold]
    assert half >= max(below, default=Fraction(-1))
    if not solution.ties:
        assert half > max(below, default=Fraction(-1))


@pytest.mark.parametrize(
    ("objective", "rule"),
    [
        ("f1", lambda value: value / 2),
        ("f(beta=2)", lambda value: value / 5),
        ("f(beta=0.5)", lambda value: value / 1.25),
        ("jaccard", lambda value: value / (1 + value)),
        ("accuracy", lambda value: 0.5),
        ("net_benefit(at=0.2)", lambda value: 0.2),
        ("0.7*accuracy + 3", lambda value: 0.5),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_theory(objective, rule, seed):
    """λ* is the best value, the threshold follows from it, and makes the decisions of the optimum."""
    p = np.random.default_rng(seed).beta(1, 3, 400)
    solution = cp.find_expected(p, maximize=objective)
    theory = solution.theory
    assert solution.value == theory.lambda_
    assert rule(solution.value) == pytest.approx(theory.threshold, rel=1e-14)
    assert theory.holds
    assert ((p >= theory.threshold) == solution.decide(p)).all()


@pytest.mark.parametrize("metric", [x for x in EXAMPLES if x.numerator is not None], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_general_linear_fractional_form(metric, seed):
    """For every quotient of linear functions with a threshold, it makes the decisions of the optimum."""
    p = np.random.default_rng(seed).beta(0.8, 2, 200)
    direction = "minimize" if metric.direction == "lower" else "maximize"
    theory = cp.find_expected(p, **{direction: metric}).theory
    assert theory is None or theory.holds


def test_minimised_cost_has_the_bayes_threshold():
    """A cost that is minimised has the threshold of Bayes' rule."""
    p = np.random.default_rng(0).random(1000)
    solution = cp.find_expected(p, minimize=m.cost(fp=2, fn=1))
    assert 2 / 3 == solution.theory.threshold == cp.bayes_threshold(fp=2, fn=1)
    assert solution.theory.holds


def test_no_theory_with_constraints_and_for_other_metrics():
    """A constraint moves the optimum away from λ*; the MCC is not a quotient of linear functions."""
    p = [0.1, 0.4, 0.8]
    assert cp.find_expected(p, maximize="f1", subject_to="recall >= 0.5").theory is None
    assert cp.find_expected(p, maximize="mcc").theory is None


def test_uninformative_probabilities():
    """With one probability b for all, everybody is positive and F* is 2b / (1 + b)."""
    solution = cp.find_expected(np.full(1000, 0.1), maximize="f1")
    assert 0.1 == solution.threshold
    assert solution.value == pytest.approx(2 * 0.1 / 1.1, abs=2 * RESOLUTION)
    assert solution.theory.threshold < 0.1


def test_labels_that_follow_the_probabilities():
    """On 10**5 rows whose labels follow p, the optimum on labels is within 0.02 of the expected one."""
    rng = np.random.default_rng(3)
    p = rng.beta(1, 3, 100_000)
    y = rng.random(len(p)) < p
    on_labels, expected = cp.find(y, p, maximize="f1"), cp.find_expected(p, maximize="f1")
    assert abs(on_labels.threshold - expected.threshold) < 0.02
    assert abs(on_labels.value - expected.value) < 0.01


def test_expected_curve_crosses_at_the_optimum():
    """F1/2 is below the sorted probabilities up to the optimum, and above them after it."""
    p = np.random.default_rng(4).random(300)
    curve = cp.find_expected(p, maximize="f1").curve()
    assert curve.best == np.argmax(curve.values)
    assert (curve.thresholds[: curve.best + 1] >= curve.shares[: curve.best + 1]).all()
    assert (curve.thresholds[curve.best + 1 :] < curve.shares[curve.best + 1 :]).all()
    assert cp.find_expected(p, maximize="f1").threshold == curve.thresholds[curve.best]


def test_expected_curve_needs_a_theory():
    """Without a threshold that follows from the value there is nothing to cross."""
    with pytest.raises(InvalidInputError, match="quotient of linear functions"):
        cp.find_expected([0.2, 0.7], maximize="mcc").curve()


# --- E[f1] itself


def by_enumeration(p, metric, k):
    """The expectation over all 2**n outcomes, the first k rows being called positive."""
    total = 0.0
    for labels in itertools.product([0, 1], repeat=len(p)):
        chance = math.prod(x if label else 1 - x for x, label in zip(p, labels, strict=True))
        tp, fn = sum(labels[:k]), sum(labels[k:])
        value = metric(tp=tp, fp=k - tp, fn=fn, tn=len(p) - k - fn)
        total += chance * (1.0 if math.isnan(value) else value)
    return total


@pytest.mark.parametrize("metric", [m.f1, m.jaccard, m.recall, m.mcc, m.accuracy], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_expectation_by_enumeration(metric, seed):
    """The Poisson-binomial sums are those over all outcomes."""
    p = np.sort(np.random.default_rng(seed).random(7))[::-1]
    expected = [by_enumeration(p.tolist(), metric, k) for k in range(8)]
    np.testing.assert_allclose(expectations(p, metric), expected, atol=1e-13)


def test_expectation_of_the_worked_case():
    """p = .4, .35, .1, .05: E[F1] by k, and the best two rows by both definitions."""
    p = np.array([0.4, 0.35, 0.1, 0.05])
    np.testing.assert_allclose(
        expectations(p, m.f1), [0.33345, 0.33710, 0.43759, 0.37984, 0.32706], atol=5e-6
    )
    ratio = [0, 0.42105, 0.51724, 0.43590, 0.36735]
    np.testing.assert_allclose([*cp.find_expected(p, maximize="f1").curve().values], ratio[1:], atol=5e-6)
    solution = cp.find_expected(p, maximize="f1", exact_expectation=True)
    assert 0.35 == solution.threshold
    assert solution.value == pytest.approx(0.43759, abs=5e-6)
    assert "expectation" == solution.expectation


def test_the_two_optima_differ():
    """In about an eighth of random problems of 12 rows, E[F1] and F1 of expectations choose apart."""
    rng = np.random.default_rng(0)
    apart = 0
    for _ in range(200):
        p = rng.random(12)
        exact = cp.find_expected(p, maximize="f1", exact_expectation=True)
        apart += exact.threshold != cp.find_expected(p, maximize="f1").threshold
    assert 0.03 < apart / 200 < 0.3


def test_exact_expectation_does_not_split_ties():
    """Equal probabilities are called alike, and zero_division decides what nobody is worth."""
    p = [0.3, 0.3, 0.3]
    assert 0.3 == cp.find_expected(p, maximize="f1", exact_expectation=True, zero_division=0).threshold
    assert math.inf == cp.find_expected(p, maximize="f1", exact_expectation=True, zero_division=2).threshold


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [1, 1]}, "left out with exact_expectation"),
        ({"subject_to": "recall >= 0.5"}, "left out with exact_expectation"),
        ({"zero_division": math.nan}, "a finite number"),
    ],
)
def test_exact_expectation_options(options, message):
    """Weights and constraints do not go with the exact expectation."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.find_expected([0.2, 0.6], maximize="f1", exact_expectation=True, **options)


def test_exact_expectation_has_a_limit():
    """Its time grows with the third power of the rows, so it says where it ends."""
    with pytest.raises(InvalidParameterError, match="1,001 rows"):
        cp.find_expected(np.full(LIMIT + 1, 0.5), maximize="f1", exact_expectation=True)


# --- what is said


def test_json_and_text():
    """The solution says what its value is, and the JSON has the documented names."""
    solution = cp.find_expected([0.9, 0.2], maximize="f1")
    shown = json.loads(json.dumps(solution.to_dict(), allow_nan=False))
    assert {"objective", "lambda", "threshold", "rule", "holds", "gap", "sentence"} == set(shown["theory"])
    assert "ratio of expectations" == shown["expectation"]
    assert "not E[f1]" in repr(solution)
    assert "lambda / 2" in repr(solution)


@pytest.mark.parametrize(
    ("objective", "expectation"),
    [
        ("accuracy", "expectation"),
        ("cost(fp=2, fn=1)", "expectation"),
        ("predicted_positive", "expectation"),
        ("recall", "ratio of expectations"),
        ("precision", "ratio of expectations"),
        ("balanced_accuracy", "ratio of expectations"),
    ],
)
def test_what_the_value_is(objective, expectation):
    """Only what is linear in the counts, with a fixed denominator, is its own expectation."""
    assert expectation == cp.find_expected([0.9, 0.5, 0.2], maximize=objective).expectation
    exact = expectations(np.array([0.9, 0.5, 0.2]), m.accuracy)
    direct = cp.find_expected([0.9, 0.5, 0.2], maximize="accuracy").curve().values
    np.testing.assert_allclose(exact[1:], direct, atol=1e-15)


# --- bad input


@pytest.mark.parametrize("size", [3, DIRECT_ROWS + 1])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (1.5, r"1 of .* lies outside, the first at row 1 .* with 1.5"),
        (-0.1, r"1 of .* lies outside, the first at row 1"),
        (math.inf, "lies outside"),
        (math.nan, "must not contain NaN"),
    ],
)
def test_not_probabilities(bad, message, size):
    """Numbers outside [0, 1] and NaN are told with how many and where, and what to do instead."""
    p = np.random.default_rng(0).random(size)
    p[1] = bad
    with pytest.raises(InvalidInputError, match=message) as error:
        cp.find_expected(p, maximize="f1")
    assert "Hint: " in str(error.value)
    if not math.isnan(bad):
        assert "recalibrate" in str(error.value)


def test_empty():
    """No rows are an error."""
    with pytest.raises(InvalidInputError, match="at least one row"):
        cp.find_expected([], maximize="f1")


def test_lengths():
    """Weights must be as many as probabilities."""
    with pytest.raises(InvalidInputError, match="same number of rows"):
        cp.find_expected([0.1, 0.2], sample_weight=[1], maximize="f1")


def test_a_single_value():
    """One row is called positive, whatever its probability: that is better than F1 = 0."""
    solution = cp.find_expected([0.2], maximize="f1")
    assert 0.2 == solution.threshold
    assert solution.value == pytest.approx(0.4 / 1.2)


def test_all_zero():
    """Without expected positives F1 is 0 wherever somebody is called positive; recall is undefined."""
    assert 0.0 == cp.find_expected(np.zeros(5), maximize="f1").value
    assert math.inf == cp.find_expected(np.zeros(5), maximize="accuracy").threshold
    with pytest.raises(InvalidInputError, match="All probabilities are 0"):
        cp.find_expected(np.zeros(5), maximize="recall")


def test_all_one():
    """With all positive, everybody is called so; specificity is undefined."""
    solution = cp.find_expected(np.ones(5), maximize="f1")
    assert (1.0, 1.0) == (solution.threshold, solution.value)
    with pytest.raises(InvalidInputError, match="All probabilities are 1"):
        cp.find_expected(np.ones(5), maximize="specificity")


def test_infeasible():
    """No cut meets the constraint: a solution says so, with what can be attained."""
    solution = cp.find_expected([0.2, 0.6], maximize="recall", subject_to="precision >= 0.9")
    assert "infeasible" == solution.status
    assert 0.6 == solution.attainable[0].threshold
    assert solution.attainable[0].value == pytest.approx(0.6, abs=RESOLUTION)
    assert solution.to_dict()["theory"] is None


# --- costs


@pytest.mark.parametrize(
    ("costs", "threshold"),
    [
        ({"fp": 2, "fn": 1}, 2 / 3),
        ({"fp": 1, "fn": 2}, 1 / 3),
        ({"fp": 1, "fn": 1}, 0.5),
        ({"tp": 1, "fp": 3, "fn": 9, "tn": 1}, 0.2),
        ({"tp": -10, "fp": 1}, 1 / 11),
    ],
)
def test_bayes_threshold(costs, threshold):
    """(fp - tn) / ((fp - tn) + (fn - tp)), and the expected optimum makes the same decisions."""
    assert cp.bayes_threshold(**costs) == pytest.approx(threshold, rel=1e-15)
    assert cp.bayes_threshold(m.cost(**costs)) == cp.bayes_threshold(**costs)
    p = np.linspace(0.01, 0.99, 99)
    solution = cp.find_expected(p, minimize=m.cost(**costs))
    assert solution.interval.low <= threshold + 1e-12
    assert solution.interval.high >= threshold - 1e-12


def test_bayes_threshold_of_gains():
    """Profits are maximised, net benefit has its own threshold."""
    assert cp.bayes_threshold("profit(tp=10, fp=-1)") == pytest.approx(1 / 11)
    assert 0.2 == cp.bayes_threshold("net_benefit(at=0.2)")
    assert 0.5 == cp.bayes_threshold("accuracy") == cp.bayes_threshold("error_rate")


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"fn": 1}, "calling everybody positive is never worse"),
        ({"fp": 1}, "calling nobody positive is never worse"),
        ({"fp": 1, "fn": 2, "tn": 3}, "calling everybody positive is never worse"),
        ({"fp": 1, "fn": 2, "tp": 3}, "calling nobody positive is never worse"),
        ({"fp": -1, "fn": -1}, "reversed"),
        ({}, "reversed"),
        ({"fp": math.nan, "fn": 1}, "a finite number"),
    ],
)
def test_bayes_threshold_where_one_decision_wins(costs, message):
    """A cost matrix under which one decision is never worse has no threshold."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.bayes_threshold(**costs)


@pytest.mark.parametrize("cost", ["f1", "recall", "0.5*accuracy + 0.5*recall"])
def test_bayes_threshold_of_quotients(cost):
    """A quotient has no threshold without data."""
    with pytest.raises(InvalidParameterError, match="find_expected"):
        cp.bayes_threshold(cost)


def test_bayes_threshold_takes_costs_once():
    """A metric and costs by name contradict each other."""
    with pytest.raises(InvalidParameterError, match="left out"):
        cp.bayes_threshold("accuracy", fp=1)


@pytest.mark.parametrize("weighted", [False, True])
def test_most_rows_have_one_probability(weighted):
    """One probability that nearly all rows have does not change what is best."""
    rng = np.random.default_rng(3)
    rows = 6000
    p = np.where(rng.random(rows) < 0.9, 0.02, np.round(rng.random(rows), 2))
    weights = rng.random(rows) if weighted else np.ones(rows)
    found = cp.find_expected(p, maximize="f1", sample_weight=weights if weighted else None)
    best = max(
        2 * math.fsum((p * weights)[p >= cut]) / (math.fsum(weights[p >= cut]) + math.fsum(p * weights))
        for cut in np.unique(p)
    )

    assert math.isclose(best, found.value, rel_tol=2 * rows * RESOLUTION / math.fsum(p * weights))
    assert rows == found.rows
    for method in METHODS:
        again = cp.find_expected(p, maximize="f1", sample_weight=weights if weighted else None, method=method)
        assert everything(again) == everything(found)


def test_the_threshold_of_the_theory_is_one_to_read():
    """Six digits, where they make the same decisions."""
    p = np.round(np.random.default_rng(0).random(5000) ** 3, 3)
    found = cp.find_expected(p, maximize="f1")
    (said,) = [line.split(">= ")[1].split()[0] for line in repr(found).splitlines() if "lambda" in line]

    assert len(said) <= len("0.123456")
    assert found.interval.low < float(said) <= found.interval.high

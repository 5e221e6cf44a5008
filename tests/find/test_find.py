"""`find` against brute force in fractions, over the whole catalogue."""

import json
import math
import pickle
import zlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import (
    METHODS,
    ask,
    assert_answer,
    everything,
    meaning,
    small_steps,
)
from cutpoints import metrics as m
from cutpoints._data.arrays import ArraySource
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError
from cutpoints.metrics.registry import EXAMPLES
from oracle import Sum, Term, solve
from strategies import (
    KINDS,
    Problem,
    cancelling,
    conjunctions,
    directions,
    objectives,
    problems,
    weighted_sums,
)

steps = st.fixed_dictionaries(
    {
        "buckets": st.integers(2, 8),
        "few": st.sampled_from([0, 1, 2, 3, 10**6]),
        "block": st.integers(1, 6),
        "sample": st.integers(1, 8),
    }
)


def check(problem, direction, text, wanted, *, constraints=(), **small):
    """Compare each search with the oracle; an objective that is undefined at every cut is an error."""
    bounds = [constraint.meaning for constraint in constraints]
    expected = solve(problem.rows, wanted, direction, bounds)
    for method in METHODS:
        options = {"method": method, "subject_to": [constraint.text for constraint in constraints]}
        with small_steps(**small):
            if expected.status == "undefined":
                with pytest.raises(InvalidInputError, match="0/0 at every cut"):
                    ask(problem, direction, text, **options)
                continue
            solution = ask(problem, direction, text, **options)
        assert_answer(expected, solution, wanted)


# --- against the oracle


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", EXAMPLES, ids=str)
def test_metric_of_the_catalogue(metric, kind):
    """Threshold, value, confusion, interval and ties are those of the oracle, to the last bit."""

    @settings(max_examples=12)
    @given(problem=problems(kind), direction=directions, small=steps)
    def run(problem, direction, small):
        check(problem, direction, metric, meaning(metric), **small)

    run()


@given(problem=problems(), direction=directions, objective=weighted_sums(), small=steps)
def test_weighted_sum(problem, direction, objective, small):
    """Sums of metrics with decimal weights are compared exactly, also where the parts disagree."""
    check(problem, direction, objective.text, objective.meaning, **small)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=50)
@given(data=st.data(), direction=directions, objective=objectives(), small=steps)
def test_constraints(data, direction, objective, small, *, kind):
    """Any conjunction of constraints is met exactly, or the attainable value of each is told."""
    problem = data.draw(problems(kind))
    constraints = data.draw(conjunctions())
    check(problem, direction, objective.text, objective.meaning, constraints=constraints, **small)


@pytest.mark.parametrize(
    "metric", [m.f1, m.mcc, m.precision, m.cost(fp=2, fn=1), m.information_gain], ids=str
)
def test_more_rows(metric):
    """Up to a hundred rows, so that the narrow search has something to drop."""

    @settings(max_examples=12)
    @given(problem=problems(min_size=40, max_size=100), small=steps)
    def run(problem, small):
        direction = "minimize" if metric.direction == "lower" else "maximize"
        check(problem, direction, metric, meaning(metric), **small)

    run()


@given(problem=problems(max_size=60), objective=objectives(), direction=directions, small=steps)
def test_sweep_equals_narrow(problem, objective, direction, small):
    """The two searches agree bit for bit, whatever the steps of the narrow one."""

    def answer(method):
        try:
            return everything(ask(problem, direction, objective.text, method=method))
        except InvalidInputError as error:
            return str(error)

    swept = answer("sweep")
    assert swept == answer("narrow")
    with small_steps(**small):
        assert swept == answer("narrow")


# --- the narrow search at work


class Recorder:
    """A source that remembers what it was asked."""

    def __init__(self, source):
        self.source = source
        self.direct_rows, self.rows_limit = source.direct_rows, source.rows_limit
        self.asked = []

    @property
    def passes(self):
        """Pass the question on."""
        return self.source.passes

    def summary(self):
        """Pass the question on."""
        return self.source.summary()

    def histogram(self, ranges):
        """Pass the question on, remembering the ranges."""
        self.asked.append(("histogram", 0 if ranges is None else len(ranges.low)))
        return self.source.histogram(ranges)

    def rows(self, ranges):
        """Pass the question on, remembering the ranges."""
        self.asked.append(("rows", 0 if ranges is None else len(ranges.low)))
        return self.source.rows(ranges)


def noisy(n, seed=0, decimals=None):
    """Scores that tell something about their labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(np.int8)
    s = rng.normal(y * 1.2, 1.0)
    return y, s if decimals is None else np.round(s, decimals)


def test_narrow_takes_several_passes_over_several_ranges():
    """With few buckets a problem is narrowed in several passes, and the answer is the same."""
    y, s = noisy(20_000)
    swept = cp.find(y, s, maximize="f1", method="sweep")
    with small_steps(buckets=64, few=2, block=1000):
        source = Recorder(ArraySource.labelled(y, s))
        narrowed = cp.find(source, maximize="f1", method="narrow")

    kinds = [kind for kind, _ in source.asked]
    assert ["histogram"] * (len(kinds) - 1) + ["rows"] == kinds
    assert len(kinds) >= 5
    assert max(ranges for _, ranges in source.asked) >= 2
    assert 2 == narrowed.certificate.passes  # what the first question leaves is kept
    assert narrowed.certificate.rows_examined < 100
    assert "narrow" == narrowed.certificate.method
    assert everything(swept) == everything(narrowed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", EXAMPLES, ids=str)
def test_several_passes_over_the_catalogue(metric, kind):
    """On thousands of rows, some scores repeated, the narrow search in many passes is the sweep."""
    seed = zlib.crc32(f"{metric}{kind}".encode())
    y, s = noisy(3000, seed)
    rng = np.random.default_rng(seed)
    s[::3] = np.round(s[::3], 1)
    weights = {
        "integer weights": rng.integers(0, 5, len(s)),
        "float weights": rng.lognormal(0, 3, len(s)),
        "one weight": np.full(len(s), 0.1),
    }
    problem = Problem(kind, s, y, weights.get(kind))
    if kind == "counted rows":
        problem = Problem(kind, s, positives=y * rng.random(len(s)), negatives=1.0 - y)
    direction = "minimize" if metric.direction == "lower" else "maximize"
    options = {"subject_to": "predicted_positive_rate <= 0.7" if seed % 2 else None}
    swept = ask(problem, direction, metric, method="sweep", **options)
    with small_steps(buckets=64 + seed % 64, few=2, block=700):
        narrowed = ask(problem, direction, metric, method="narrow", **options)

    assert everything(swept) == everything(narrowed)


def test_narrow_never_asks_for_all_rows_of_large_data():
    """By default at most one row in 64 (or 16,384) is looked at one by one."""
    y, s = noisy(200_000)
    source = Recorder(ArraySource.labelled(y, s))
    solution = cp.find(source, maximize="f1")

    assert "narrow" == solution.certificate.method
    assert ("rows", 0) not in source.asked
    assert 1 <= solution.certificate.rows_examined <= 16_384


def test_small_data_are_swept():
    """On a few rows the automatic choice is the sweep."""
    y, s = noisy(100)

    assert "sweep" == cp.find(y, s, maximize="f1").certificate.method


def test_narrow_keeps_zero_apart_from_the_scores_below_it():
    """Rows at 0.0 are not counted again with the bucket of tiny negative scores."""
    end = np.nextafter(1.0, 0.0)
    rng = np.random.default_rng(0)
    tiny = -1e-309 * np.arange(1, 2001) / 300
    high, low = 10.0 ** rng.uniform(-300, -1, (2, 20_000))
    s = np.concatenate([[-end] * 6, [end] * 6, high, -low, np.zeros(500), tiny])
    y = np.concatenate([[0] * 6, np.ones(20_006), np.zeros(20_000), np.ones(1500), np.zeros(1000)])

    swept = cp.find(y, s, maximize="f1", method="sweep")
    assert everything(swept) == everything(cp.find(y, s, maximize="f1", method="narrow"))


# --- exactness where floats fail


def test_a_sum_of_tenths_is_a_tie():
    """0.1 + 0.2 and 0.3 differ as floats; as weights of rows they differ too, and it is seen."""
    scores = np.array([3.0, 2.0, 1.0, 0.0])
    y = np.array([1, 1, 0, 0])
    # Sums in floats: 0.1 + 0.2 > 0.3 by rounding alone; the true doubles add up to less than that.
    w = np.array([0.1, 0.2, 0.3, 1.0])
    problem = Problem("float weights", scores, y, w)

    check(problem, "maximize", "accuracy", Sum((Term("accuracy"),)))


@pytest.mark.parametrize("method", METHODS)
def test_ties_of_many_weights(method):
    """Ten thousand weights that cancel in pairs: each pair ends with a tie, however floats add them up."""
    rng = np.random.default_rng(11)
    pairs = rng.lognormal(0, 3, 5_000)
    y, w = np.tile([0, 1], 5_000), np.repeat(pairs, 2)
    s = np.sort(rng.random(len(y)))[::-1]
    solution = cp.find(y, s, sample_weight=w, maximize="accuracy", method=method)

    assert np.inf == solution.threshold
    assert s[1::2].tolist() == solution.ties.thresholds.tolist()
    assert 0.5 == solution.value


@pytest.mark.parametrize("method", METHODS)
def test_equal_fractions_of_different_counts_are_ties(method):
    """1/3, 2/6 and 3/9 are equal precisions although they come from different floats."""
    y = np.array([1, 0, 0] * 30)
    s = np.repeat(np.arange(30.0)[::-1], 3)
    with small_steps():
        solution = cp.find(y, s, maximize="precision", method=method)

    assert 29.0 == solution.threshold
    assert np.arange(29.0)[::-1].tolist() == solution.ties.thresholds.tolist()
    assert 1 / 3 == solution.value


@pytest.mark.parametrize("method", METHODS)
def test_a_difference_below_a_float_wins(method):
    """Of two precisions that round to the same float the truly larger one is chosen."""
    big = 2**30
    data = cp.from_counts([2.0, 1.0], positives=[big, 1], negatives=[big + 1, 1])
    solution = cp.find(data, maximize="precision", method=method)
    high, low = Fraction(big, 2 * big + 1), Fraction(big + 1, 2 * big + 3)

    assert float(high) == float(low)
    assert high < low
    assert 1.0 == solution.threshold
    assert 0 == len(solution.ties)


@pytest.mark.parametrize("name", ["fowlkes_mallows", "mcc", "g_mean", "f1", "precision"])
def test_weights_over_a_hundred_orders_of_magnitude(name):
    """Weights of 1e50 beside 1e-50 are added and compared exactly."""
    problem = Problem(
        "float weights",
        np.array([0.9, 0.5, 0.1, 0.05]),
        np.array([0, 1, 1, 0]),
        np.array([1e50, 1e-50, 1e-50, 1e-30]),
    )

    check(problem, "maximize", name, Sum((Term(name),)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("y", "objective", "constraint"),
    [
        ([0, 0, 0, 1, 0, 0, 1], "predicted_positive", "lift >= lr_plus"),
        ([1, 0, 1, 0, 1, 0, 0], "recall", "0.1*lift + 0.2*lr_plus <= 0.3*lift"),  # 0.1 + 0.2 > 0.3 in floats
    ],
)
def test_two_metrics_that_cancel(y, objective, constraint, method):
    """Where everybody is called positive lift and LR+ are both 1: a constraint of one on the other knows."""
    solution = cp.find(y, np.arange(7.0)[::-1], maximize=objective, subject_to=constraint, method=method)

    assert "optimal" == solution.status
    assert 0.0 == solution.threshold


@pytest.mark.parametrize("method", METHODS)
def test_equality_does_not_meet_a_strict_constraint(method):
    """Cuts with LR- of exactly 0 do not meet ``lr_minus > 0``, and do not shut out those that do."""
    y = np.array([1, 0, 1, 0, 1, 0, 0])
    s = np.arange(7.0)[::-1]
    solution = cp.find(y, s, maximize="recall", subject_to="lr_minus > 0", method=method)

    assert 4.0 == solution.threshold
    assert 2 / 3 == solution.value


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["mcc", "markedness", "youden_j", "kappa", "mcc - 0*f1"])
def test_zero_as_a_float_need_not_be_zero(name, method):
    """Counts near 1e8 whose products differ by one: the metric is just below zero, and it is seen."""
    x = 94_906_266  # its square is the first beyond 2**53
    data = cp.from_counts([2.0, 1.0], positives=[x + 1, x], negatives=[x, x - 1])
    negative = cp.find(data, maximize="accuracy", subject_to=f"{name} < 0", method=method)
    positive = cp.find(
        data,
        maximize="predicted_positive_rate",
        subject_to=[f"{name} >= 0", "fpr < 1", "fpr > 0"],
        method=method,
    )

    assert (x + 1) * (x - 1) - x * x == -1
    assert 2.0 == negative.threshold
    assert "infeasible" == positive.status


@given(problem=problems(), constraint=cancelling(), direction=directions, small=steps)
def test_terms_that_cancel(problem, constraint, direction, small):
    """Differences of metrics are compared with zero exactly, strictly or not."""
    wanted = Sum((Term("predicted_positive"),))
    text = "predicted_positive"
    check(problem, direction, text, wanted, constraints=[constraint], **small)


@pytest.mark.parametrize("method", METHODS)
def test_bounds_are_decimals(method):
    """One in ten meets ``precision <= 0.1`` and ``>= 0.1``, as 0.1 means one tenth."""
    y = np.array([1] + [0] * 9)
    s = np.ones(10)
    at_most = cp.find(y, s, maximize="recall", subject_to="precision <= 0.1", method=method)
    at_least = cp.find(y, s, maximize="recall", subject_to=m.precision >= 0.1, method=method)
    above = cp.find(y, s, maximize="recall", subject_to="precision > 0.1", method=method)

    assert 1.0 == at_most.threshold == at_least.threshold
    assert "infeasible" == above.status
    assert 0.1 == above.attainable[0].value


# --- the ends of the line


@pytest.mark.parametrize("method", METHODS)
def test_nobody_positive_is_inf(method):
    """Where every alarm is false the best rule calls nobody positive, and its threshold is inf."""
    solution = cp.find([0, 0, 0], [0.2, 0.5, 0.9], minimize="cost(fp=1, fn=1)", method=method)

    assert math.inf == solution.threshold
    assert (0.9, math.inf) == solution.interval
    assert [0, 0, 0] == solution.decide([0.2, 0.5, 0.9]).tolist()


@pytest.mark.parametrize("method", METHODS)
def test_a_score_of_plus_inf_is_always_called_positive(method):
    """With a score of +inf there is no "nobody positive": no float threshold excludes that row."""
    solution = cp.find([0, 0, 1], [math.inf, 0.5, 0.1], minimize="fpr", method=method)

    assert math.inf == solution.threshold
    assert 1 == solution.confusion.fp
    assert 0.5 == solution.value


@pytest.mark.parametrize("method", METHODS)
def test_a_score_of_minus_inf_is_a_score(method):
    """-inf can be the threshold: everybody is positive then, and the interval is empty below."""
    solution = cp.find([1, 0, 1], [-math.inf, 0.5, 0.7], maximize="recall", method=method)

    assert -math.inf == solution.threshold
    assert 2 == solution.confusion.tp
    assert [1, 1, 1] == solution.decide([-math.inf, 0.5, 0.7]).tolist()


@pytest.mark.parametrize("method", METHODS)
def test_minus_zero_is_zero(method):
    """-0.0 and 0.0 are one score: their rows are never split."""
    solution = cp.find([1, 0, 0], [-0.0, 0.0, -1.0], maximize="precision", method=method)

    assert 0.0 == solution.threshold
    assert 0.5 == solution.value
    assert 1.0 == math.copysign(1.0, solution.threshold)


@pytest.mark.parametrize("method", METHODS)
def test_one_row(method):
    """A single row has two cuts."""
    solution = cp.find([1], [0.5], maximize="accuracy", method=method)

    assert 0.5 == solution.threshold
    assert (-math.inf, 0.5) == solution.interval


@pytest.mark.parametrize("method", METHODS)
def test_infinite_value_wins(method):
    """LR+ without a false alarm is infinite, and the cuts that have it are ties."""
    solution = cp.find([1, 1, 0, 0], [4, 3, 2, 1], maximize="lr_plus", method=method)

    assert math.inf == solution.value
    assert 4.0 == solution.threshold
    assert [3.0] == [tie.threshold for tie in solution.ties]


# --- infeasible


@pytest.mark.parametrize("method", METHODS)
def test_infeasible_tells_what_can_be_attained(method):
    """No threshold, and for each constraint the best value, where, and whether it holds alone."""
    with small_steps():
        solution = cp.find(
            [0, 1, 0, 1],
            [0.9, 0.8, 0.3, 0.2],
            maximize="recall",
            subject_to=["precision >= 0.95", "predicted_positive >= 1", "lr_minus <= 5"],
            method=method,
        )

    assert "infeasible" == solution.status
    assert (None, None, None, None) == (
        solution.threshold,
        solution.value,
        solution.interval,
        solution.confusion,
    )
    best = {a.constraint: (a.value, a.threshold, a.met) for a in solution.attainable}
    assert {
        "precision >= 0.95": (0.5, 0.8, False),
        "predicted_positive >= 1": (4.0, 0.2, True),
        "lr_minus <= 5": (1.0, math.inf, True),
    } == best


@pytest.mark.parametrize("method", METHODS)
def test_infeasible_together_tells_how_far_each_would_have_to_be_relaxed(method):
    """Where each constraint can be met by itself: its best value among the cuts that meet the others."""
    y, s = [0, 1, 0, 1, 1], [0.1, 0.3, 0.5, 0.7, 0.9]
    asked = {"maximize": "f1", "subject_to": ["precision >= 0.9", "recall >= 0.9"], "method": method}
    with small_steps():
        solution = cp.find(y, s, **asked)

    assert [True, True] == [a.met for a in solution.attainable]
    beside = [a.with_others for a in solution.attainable]
    assert [(0.75, 0.3, False), (2 / 3, 0.7, False)] == [(a.value, a.threshold, a.met) for a in beside]
    assert {"attainable": 0.75, "threshold": 0.3} == solution.to_dict()["attainable"][0]["with_others"]
    assert "recall >= 0.9: best 1 at 0.3; where the others hold 0.6666666666666666 at 0.7" in repr(solution)
    with pytest.raises(InfeasibleError, match=r"while the others hold: 'precision >= 0.9' 0.75, at"):
        solution.raise_if_infeasible()


def test_constraints_that_hold_together_where_the_objective_has_no_value():
    """Nobody is called positive, as was asked for twice, and then there is no precision."""
    twice = ["predicted_positive <= 0", "fpr <= 0", "recall <= 0"]
    solution = cp.find([0, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], maximize="precision", subject_to=twice)

    with pytest.raises(
        InfeasibleError, match=r"'precision' is undefined \(0/0\) at every .*and 'recall <= 0'"
    ):
        solution.raise_if_infeasible()


@pytest.mark.parametrize("method", METHODS)
def test_infeasible_where_nobody_cannot_be_left_out(method):
    """With a score of +inf there may be no cut left to look at."""
    solution = cp.find([0, 1, 0], [np.inf, 0, 0], maximize="f1", subject_to="f1 >= 2", method=method)

    assert "infeasible" == solution.status
    assert [0.5] == [one.value for one in solution.attainable]


def test_infeasible_constraint_that_is_undefined_everywhere():
    """Without positives recall is undefined at every cut: no constraint on it can be met."""
    solution = cp.find([0, 0], [0.1, 0.2], maximize="accuracy", subject_to="recall >= 0")

    assert "infeasible" == solution.status
    assert math.isnan(solution.attainable[0].value)
    assert not solution.attainable[0].met


def test_infeasible_has_nothing_to_decide():
    """Asking an infeasible solution for decisions or metrics raises, naming the constraint."""
    solution = cp.find([0, 1], [0.2, 0.1], maximize="recall", subject_to="precision >= 0.95")

    for ask_it in (lambda: solution.decide([0.1]), solution.metrics, solution.raise_if_infeasible):
        with pytest.raises(cp.exceptions.InfeasibleError, match=r"precision >= 0\.95"):
            ask_it()


# --- functions of the user


def test_function_equals_the_metric_of_the_catalogue():
    """A plain function of the four arrays gives the cut that the catalogue's metric gives."""

    @given(problem=problems("unweighted"))
    def run(problem):
        try:
            expected = ask(problem, "maximize", "accuracy")
        except InvalidInputError:
            return
        actual = ask(problem, "maximize", lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn))

        assert everything(expected)[:4] == everything(actual)[:4]

    run()


def test_function_with_other_parameter_names_is_called_in_order():
    """A function whose parameters have other names gets tp, fp, fn, tn in this order."""
    y, s = noisy(50)
    named = cp.find(y, s, maximize=lambda tp, fp, fn, tn: 3 * tp - fp)
    ordered = cp.find(y, s, maximize=lambda a, b, c, d: 3 * a - b)
    swapped = cp.find(y, s, maximize=lambda tn, fn, fp, tp: 3 * tp - fp)

    assert named.threshold == ordered.threshold == swapped.threshold


@pytest.mark.parametrize(
    "function",
    [
        lambda tp, fp, fn, tn: tp - 3 * fp,
        lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
        lambda tp, fp, fn, tn: np.sqrt(tp) - np.sqrt(fp),
        lambda tp, fp, fn, tn: tp / (tp + fp),
    ],
    ids=["linear", "f1", "roots", "precision"],
)
def test_promised_function_narrow_equals_sweep(function):
    """With the promise of monotony the narrow search finds what the sweep finds."""
    metric = m.custom(function, name="mine", monotone=True)

    @settings(max_examples=40)
    @given(problem=problems("unweighted", max_size=60), small=steps)
    def run(problem, small):
        def answer(method):
            try:
                return everything(ask(problem, "maximize", metric, method=method))
            except InvalidInputError as error:
                return str(error)

        with np.errstate(all="ignore"), small_steps(**small):
            assert answer("sweep") == answer("narrow")

    run()


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda tp, fp, fn, tn: tp + fp, "rises as fp grows"),
        (lambda tp, fp, fn, tn: fn - fp, "falls as tp grows"),
        (lambda tp, fp, fn, tn: -abs(tp - 10.0), "falls as tp grows"),
    ],
)
def test_false_promise_is_caught(function, what):
    """A function that is not monotone and says so is refused before it can mislead the search."""
    y, s = noisy(200)

    with pytest.raises(InvalidParameterError, match=f"^monotone must be .* which {what}.*\n\nHint: leave"):
        cp.find(y, s, maximize=m.custom(function, monotone=True))


def test_function_without_promise_cannot_be_narrowed():
    """The narrow search is refused for a function of unknown shape, with what to do."""
    with pytest.raises(
        InvalidParameterError, match=r"(?s)^method must be .* shape is unknown.*Hint:.*custom"
    ):
        cp.find([0, 1], [0.1, 0.2], maximize=lambda tp, fp, fn, tn: tp, method="narrow")


@pytest.mark.parametrize(
    "function",
    [lambda tp, fp, fn, tn: 1.0, lambda tp, fp, fn, tn: tp[:-1], lambda tp, fp, fn, tn: tp.sum()],
    ids=["scalar", "too short", "sum"],
)
def test_function_of_a_wrong_shape(function):
    """A function that does not return one value per cut is refused with both shapes."""
    with pytest.raises(
        InvalidParameterError, match=r"(?s)returns an array of their shape.*Hint: write it with NumPy"
    ):
        cp.find([0, 1], [0.1, 0.2], maximize=function)


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda tp, fp, fn, tn: tp / (tp + fp) if tp + fp else 0, "ValueError: The truth value"),
        (lambda one, two: one, "TypeError: .* takes 2 positional arguments"),
        (lambda tp, fp, fn, tn: "high", "ValueError: could not convert"),
        (lambda tp, fp, fn, tn: tp + 1j, "complex numbers"),
    ],
    ids=["of scalars", "of two", "text", "complex"],
)
def test_function_that_is_no_function_of_arrays(function, found):
    """What NumPy or Python says of it is told, with what to do, and is the cause of the error."""
    wanted = rf"(?s)must be a function of arrays \(tp, fp, fn, tn\).*got .{found}.*Hint: write it with NumPy"
    with pytest.raises(InvalidParameterError, match=wanted):
        cp.find([0, 1], [0.1, 0.2], maximize=function)


@pytest.mark.parametrize("wrong", [{"name": 3}, {"monotone": "yes"}])
def test_function_with_a_name_or_a_promise_that_is_none(wrong):
    """A name is text, a promise is made or not."""
    with pytest.raises(InvalidParameterError, match=f"^{next(iter(wrong))} must be"):
        m.custom(len, **wrong)


def test_function_in_a_sum_and_in_a_constraint():
    """Functions combine with metrics, as terms of an objective and in constraints."""
    y, s = noisy(80)
    mine = m.custom(lambda tp, fp, fn, tn: tp + fp, name="alarms_mine")
    expected = cp.find(y, s, maximize="f1 - 0.001*predicted_positive", subject_to="predicted_positive <= 30")
    actual = cp.find(y, s, maximize=m.f1 - 0.001 * mine, subject_to=mine <= 30)

    assert expected.threshold == actual.threshold
    assert "alarms_mine <= 30" == actual.constraints[0]


def test_function_that_is_nan_everywhere_is_undefined():
    """NaN at every cut is an error, as for a metric of the catalogue."""
    with pytest.raises(InvalidInputError, match="0/0 at every cut"):
        cp.find([0, 1], [0.1, 0.2], maximize=lambda tp, fp, fn, tn: tp * np.nan)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", EXAMPLES, ids=str)
def test_a_weight_of_zero(metric, method):
    """Nothing of a metric is a constant where the metric has a value, and in a sum it makes no difference."""
    y, s = noisy(40, decimals=1)
    defined = 1 + len(cp.find(y, s, maximize=metric - metric, method=method).ties)
    solution = cp.find(y, s, maximize=0 * metric + 2, method=method)

    assert (2, defined) == (solution.value, 1 + len(solution.ties))
    assert "optimal" == cp.find(y, s, maximize="f1", subject_to=0 * metric >= 0, method=method).status
    assert "infeasible" == cp.find(y, s, maximize="f1", subject_to=0 * metric > 0, method=method).status
    assert "f1" == str(0 * metric + m.f1)


def test_a_sum_where_a_part_is_over_infinity():
    """Where nobody is called by mistake the prevalence threshold is 0, exactly, in a sum too."""
    solution = cp.find([1, 0], [0.9, 0.1], maximize="f1", subject_to="prevalence_threshold + accuracy >= 1")
    assert (0.9, 1) == (solution.threshold, solution.value)


# --- what is told


def test_equal_solutions_are_equal():
    """Ties and exact counts included; so they can be keys, and survive pickling."""
    y, s = noisy(60, decimals=1)
    one, same = (cp.find(y, s, maximize="recall") for _ in range(2))

    assert len(one.ties) > 0
    assert one == same == pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
    assert 1 == len({one, same})
    assert one.ties != cp.find(y, s, maximize="f1").ties


def test_metrics_are_the_catalogue_at_the_threshold():
    """`Solution.metrics` has every plain metric, each at the solution's own confusion."""
    y, s = noisy(60, decimals=1)
    solution = cp.find(y, s, maximize="f1")
    told = solution.metrics()

    assert solution.value == told["f1"]
    for metric in EXAMPLES:
        if not metric.parameters:
            assert told[metric.name] == solution.confusion.metric(metric.name)


def test_to_dict_is_json():
    """The dictionary is JSON without NaN or Infinity, with the names of the Python object."""
    for objective, constraint in (("lr_plus", None), ("f1", None), ("recall", "precision >= 2")):
        solution = cp.find([0, 1, 1], [1, 2, 3], maximize=objective, subject_to=constraint)
        told = json.loads(json.dumps(solution.to_dict(), allow_nan=False))

        assert solution.status == told["status"]
        assert {"method", "lower", "upper", "passes", "rows_examined", "resolution"} == set(
            told["certificate"]
        )
        if solution.status == "optimal":
            assert solution.confusion.to_dict() == told["confusion"]
            assert solution.threshold == told["threshold"]


@pytest.mark.parametrize("constraint", [None, "precision >= 2"])
def test_representations_name_goal_and_data(constraint):
    """Text and HTML both say what was asked and on how many rows."""
    solution = cp.find([0, 1, 1], [1, 2, 3], maximize="f1", subject_to=constraint)

    for shown in (repr(solution), solution._repr_html_()):
        assert "maximize f1" in shown
        assert "3 rows, 2 positive, 1 negative" in shown


def test_ties_are_a_sequence():
    """Ties have a length, indices from both ends, slices and a short representation."""
    ties = cp.find([0, 1] * 4, np.arange(8.0), maximize="prevalence").ties

    assert [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0] == [tie.threshold for tie in ties]
    assert ties[0] == ties[-8]
    assert [ties[1], ties[3]] == ties[1:5:2]
    assert "[7, 6, 5, 4, 3, ...]" == repr(ties)
    for index in (8, -9):
        with pytest.raises(IndexError):
            ties[index]


def test_custom_needs_a_function():
    """Only what can be called is made a metric."""
    with pytest.raises(InvalidParameterError, match=r"^function must be a function"):
        m.custom("tp - fp")


def test_callable_without_a_signature():
    """A callable that does not tell its parameters gets the four in order."""
    hits = np.frompyfunc(lambda tp, fp, fn, tn: tp - 2 * fp, 4, 1)
    y, s = noisy(60)

    expected = cp.find(y, s, maximize="profit(tp=1, fp=-2)")
    assert expected.threshold == cp.find(y, s, maximize=hits).threshold


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e200])
@pytest.mark.parametrize("metric", ["prevalence_threshold", "information_gain"])
def test_value_of_a_formula_with_extreme_weights(metric, weight):
    """One weight for all rows changes no share, however small or large the products of sums would be."""
    y, s = [0, 1, 1, 0], [0.1, 0.2, 0.3, 0.3]
    plain = cp.find(y, s, maximize=metric)

    assert plain.value == cp.find(y, s, sample_weight=[weight] * 4, maximize=metric).value


EXTREME = st.sampled_from([5e-324, 1e-300, 2e-50, 1e-20, 1.0, 3.0, 1e20, 3e49, 1e200])


@pytest.mark.parametrize("metric", EXAMPLES, ids=str)
@settings(max_examples=20)
@given(data=st.data(), direction=directions)
def test_weights_of_any_size(metric, data, direction):
    """Weights of a float's whole range are rounded to the grid of the largest, and then exact."""
    drawn = data.draw(problems("unweighted", max_size=8))
    weights = data.draw(st.lists(EXTREME, min_size=len(drawn.scores), max_size=len(drawn.scores)))
    problem = Problem("float weights", drawn.scores, drawn.labels, np.array(weights))
    check(problem, direction, metric, meaning(metric))


@pytest.mark.parametrize("metric", EXAMPLES, ids=str)
@settings(max_examples=20)
@given(data=st.data(), weight=st.sampled_from([2, -1, Fraction(1, 3), 1e80, -1e-80]), direction=directions)
def test_a_sum_of_one_term_chooses_as_the_term(metric, data, weight, direction):
    """Or in reverse if its weight is negative, whatever the weights of rows are."""
    drawn = data.draw(problems("unweighted", max_size=8))
    weights = data.draw(st.lists(EXTREME, min_size=len(drawn.scores), max_size=len(drawn.scores)))
    problem = Problem("float weights", drawn.scores, drawn.labels, np.array(weights))
    other = {"maximize": "minimize", "minimize": "maximize"}[direction]
    try:
        plain = ask(problem, direction if weight > 0 else other, metric)
    except InvalidInputError:
        return
    for method in METHODS:
        scaled = ask(problem, direction, weight * metric + 1, method=method)
        assert (plain.threshold, plain.ties) == (scaled.threshold, scaled.ties)


@pytest.mark.parametrize("metric", EXAMPLES, ids=str)
def test_a_constraint_on_a_sum_of_one_term_is_one_on_the_term(metric):
    """At every value that a cut attains, and however the sides are written."""
    y, s = noisy(30, decimals=1)
    cuts = cp.curve(y, s)
    for threshold in cuts.table()["threshold"]:
        bound = cuts.at(threshold).confusion.metric(metric)
        if not math.isfinite(bound) or 0 < abs(bound) < 1e-9:
            continue
        bound = Fraction(bound)
        plain = cp.find(y, s, maximize="accuracy", subject_to=metric >= bound)
        for same in (2 * metric - 1 >= 2 * bound - 1, -metric / 3 + 5 <= -bound / 3 + 5):
            found = cp.find(y, s, maximize="accuracy", subject_to=same)
            assert (plain.status, plain.threshold) == (found.status, found.threshold)

"""S4, the Russian lecture: rows of ACCEPTANCE.md."""

import numpy as np
import pytest

import cutpoints as cp
from cutpoints import metrics as m

A1 = cp.Confusion(tp=80, fp=20, fn=20, tn=80)
A2 = cp.Confusion(tp=48, fp=2, fn=52, tn=98)

SCORES = [0.01, 0.09, 0.12, 0.15, 0.29, 0.4, 0.48, 0.6, 0.83, 0.9]
LABELS = [-1, -1, 1, -1, -1, -1, 1, 1, -1, 1]
ALTERNATING = [-1, 1] * 5


def at(precision, recall):
    """A confusion with this precision and recall (in percent), as whole numbers."""
    hits = precision * recall
    return cp.Confusion(tp=hits, fp=(100 - precision) * recall, fn=precision * (100 - recall), tn=0)


def test_4_1_accuracy_of_a_constant():
    """Row 4.1: always "negative" on 950/50 has accuracy .95, the baseline."""
    nobody = cp.Confusion(tp=0, fp=0, fn=50, tn=950)

    assert 0.95 == nobody.metric("accuracy")
    assert 0.05 == nobody.metric("prevalence")


@pytest.mark.parametrize(("low", "high", "percent"), [(0.8, 0.9, 12.5), (0.5, 0.75, 50), (0.001, 0.01, 900)])
def test_4_2_relative_improvement(low, high, percent):
    """Row 4.2: relative improvements of two precisions, as the lift over the first."""
    n = 10_000
    first, second = (cp.Confusion(tp=round(n * p), fp=n - round(n * p), fn=0, tn=0) for p in (low, high))
    ratio = second.metric("precision") / first.metric("precision")

    assert percent == pytest.approx(100 * (ratio - 1))


@pytest.mark.parametrize(
    ("metric", "first", "second"),
    [
        ("precision", 0.8, 0.96),
        ("recall", 0.8, 0.48),
        ("accuracy", 0.8, 0.73),
        ("f1", 0.8, 0.64),
        ("g_measure", 0.8, 0.678823),
    ],
)
def test_4_3_two_algorithms(metric, first, second):
    """Row 4.3: precision, recall, accuracy, F1 and G of the two algorithms."""
    assert first == round(A1.metric(metric), 6)
    assert second == round(A2.metric(metric), 6)


def test_4_4_credit_among_two():
    """Row 4.4: of the two algorithms only the second has precision .95."""
    allowed = [a for a in (A1, A2) if a.metric("precision") >= 0.95]

    assert [A2] == allowed


def test_4_4_credit_on_ten_scores():
    """Row 4.4: the most recall with precision >= .95 is .25, at .9."""
    solution = cp.find(LABELS, SCORES, maximize="recall", subject_to="precision >= 0.95")

    assert (0.9, 0.25) == (solution.threshold, solution.value)


def test_4_5_medicine_among_two():
    """Row 4.5: of the two algorithms only the first has recall .8."""
    assert [A1] == [a for a in (A1, A2) if a.metric("recall") >= 0.8]


def test_4_5_medicine_on_ten_scores():
    """Row 4.5: the most precision with recall >= .8 is .5, at .12, where recall is 1."""
    solution = cp.find(LABELS, SCORES, maximize="precision", subject_to="recall >= 0.8")

    assert (0.12, 0.5) == (solution.threshold, solution.value)
    assert 1.0 == solution.metrics()["recall"]


@pytest.mark.parametrize(
    ("metric", "value"), [("accuracy", 0.98913), ("precision", 0.333333), ("recall", 0.1), ("f1", 0.153846)]
)
def test_4_6_rare_class(metric, value):
    """Row 4.6: accuracy .99 with recall .1."""
    assert value == round(cp.Confusion(tp=10, fp=20, fn=90, tn=10_000).metric(metric), 6)


@pytest.mark.parametrize(("precision", "recall", "f1"), [(10, 100, 0.181818), (55, 55, 0.55)])
def test_4_7_arithmetic_mean_is_easily_fooled(precision, recall, f1):
    """Row 4.7: (.1, 1) and (.55, .55) have the same mean and very different F1."""
    confusion = at(precision, recall)

    assert 0.55 == confusion.metric("precision_recall_mean")
    assert f1 == round(confusion.metric("f1"), 6)


@pytest.mark.parametrize(
    ("precision", "recall", "least", "f1"),
    [(5, 100, 0.05, 0.095238), (55, 55, 0.55, 0.55), (40, 50, 0.4, 0.444444), (40, 90, 0.4, 0.553846)],
)
def test_4_8_minimum(precision, recall, least, f1):
    """Row 4.8: the minimum does not tell (.4, .5) from (.4, .9); F1 does."""
    confusion = at(precision, recall)

    assert least == confusion.metric("precision_recall_min")
    assert f1 == round(confusion.metric("f1"), 6)


@pytest.mark.parametrize(
    ("metric", "precision", "recall", "value"),
    [
        (m.f(beta=0.5), 40, 90, 0.45),
        (m.f(beta=2), 40, 90, 0.72),
        (m.fowlkes_mallows, 90, 10, 0.3),
        (m.f1, 90, 10, 0.18),
    ],
    ids=str,
)
def test_4_9_f_beta_and_g(metric, precision, recall, value):
    """Row 4.9: F.5 and F2 at (.4, .9), G and F at (.9, .1)."""
    assert value == pytest.approx(at(precision, recall).metric(metric), rel=1e-15)


@pytest.mark.parametrize(("metric", "value"), [("accuracy", 0.8), ("f1", 0.75)])
def test_4_10_ten_scores(metric, value):
    """Row 4.10: accuracy .8 and F1 .75, both at .48."""
    solution = cp.find(LABELS, SCORES, maximize=metric)

    assert (0.48, value, 0) == (solution.threshold, solution.value, len(solution.ties))


def test_4_10_precision_is_not_monotone():
    """Row 4.10, erratum E4.3: precision at .9, .83 and .6 is 1, .5 and .667."""
    found = []
    for called in (1, 2, 3):
        solution = cp.find(
            LABELS, SCORES, maximize="precision", subject_to=f"{called} <= predicted_positive <= {called}"
        )
        found.append((solution.threshold, round(solution.value, 3)))

    assert [(0.9, 1.0), (0.83, 0.5), (0.6, 0.667)] == found


def test_4_11_five_tied_thresholds():
    """Row 4.11: with alternating labels accuracy .6 is had at five thresholds, all reported."""
    solution = cp.find(ALTERNATING, SCORES, maximize="accuracy")

    assert 0.6 == solution.value
    assert [0.9, 0.6, 0.4, 0.15, 0.09] == [solution.threshold, *(t.threshold for t in solution.ties)]


def test_4_11_f1():
    """Row 4.11: F1 .714286 at .09."""
    solution = cp.find(ALTERNATING, SCORES, maximize="f1")

    assert (0.09, 0.714286) == (solution.threshold, round(solution.value, 6))


def test_4_14_linear_classifier():
    """Row 4.14: sign(<w, x> - t) with labels -1/+1: any real score, and the threshold is t."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3)) * 50
    score = x @ np.array([2.0, -1.0, 0.5])
    y = np.where(score + rng.normal(size=300) * 30 >= 12.5, 1, -1)
    solution = cp.find(y, score, maximize="accuracy")
    decided = np.where(solution.decide(score) == 1, 1, -1)

    assert score.min() < -1
    assert score.max() > 1
    assert np.mean(decided == y) == solution.value
    assert solution.value == max(np.mean(np.where(score >= t, 1, -1) == y) for t in [np.inf, *score])

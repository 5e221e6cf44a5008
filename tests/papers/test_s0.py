"""S0, the integer program of the optimal accuracy threshold: rows of ACCEPTANCE.md."""

from fractions import Fraction

import numpy as np
import pytest

import cutpoints as cp
from cutpoints import metrics as m


def test_0_1_two_forms_of_accuracy():
    """Row 0.1: (TP + TN)/n equals 1 - mean |y - decision|, to the last bit of the numerator."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        y = rng.integers(0, 2, 37)
        s = np.round(rng.random(37), 1)
        solution = cp.find(y, s, maximize="accuracy")
        wrong = int(np.abs(y - solution.decide(s)).sum())

        assert 37 - wrong == solution.confusion.tp + solution.confusion.tn
        assert float(1 - Fraction(wrong, 37)) == solution.value


def test_0_2_a_score_at_the_threshold_is_positive():
    """Row 0.2: the rule is score >= t, not score > t."""
    solution = cp.find([0, 1], [0.3, 0.8], maximize="accuracy")

    assert 0.8 == solution.threshold
    assert [0, 1] == solution.decide([0.3, 0.8]).tolist()
    assert (0.3, 0.8) == solution.interval


@pytest.mark.parametrize("labels", [[1, 0, 1, 0, 1], [0, 0, 1, 1, 1], [1, 1, 1, 0, 0]], ids=str)
def test_0_7_recall_alone_is_trivial(labels):
    """Row 0.7: recall alone is 1 at "everybody", which is one of its optima."""
    scores = [0.1, 0.2, 0.3, 0.4, 0.5]
    solution = cp.find(labels, scores, maximize="recall")
    optima = [solution.threshold, *(tie.threshold for tie in solution.ties)]

    assert 1.0 == solution.value
    assert min(scores) in optima


def test_0_8_accuracy_and_recall_are_added_as_rates():
    """Row 0.8, erratum E0.6: the sum of rates has its optimum where the seed's weights have not."""
    scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    labels = [1, 0, 0, 0, 0, 0]
    rates = cp.find(labels, scores, maximize="accuracy + recall")
    printed = cp.find(labels, scores, minimize=lambda tp, fp, fn, tn: (fp + fn) - tp)

    assert 0.1 == rates.threshold
    assert rates.value == pytest.approx(1.1667, abs=1e-4)
    assert float(Fraction(7, 6)) == rates.value
    assert np.inf == printed.threshold
    assert printed.metrics()["accuracy"] + printed.metrics()["recall"] == pytest.approx(0.8333, abs=1e-4)


def test_0_8_weights():
    """Row 0.8: (alpha/n)(TP + TN) + (beta/P) TP, for any alpha and beta."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 40)
    s = rng.normal(y, 1)
    for alpha, beta in ((1, 1), (0.7, 0.3), (0.1, 2)):
        solution = cp.find(y, s, maximize=alpha * m.accuracy + beta * m.recall)
        best = max(alpha * np.mean((s >= t) == y) + beta * np.mean(s[y == 1] >= t) for t in [np.inf, *s])

        assert best == pytest.approx(solution.value, rel=1e-12)


def test_0_9_precision_needs_somebody_positive():
    """Row 0.9: precision is a ratio; "nobody" is 0/0 and never wins."""
    solution = cp.find([0, 1, 0, 1, 1], [0.9, 0.8, 0.3, 0.2, 0.1], maximize="precision")

    assert 0.1 == solution.threshold
    assert 0.6 == solution.value
    assert solution.confusion.tp + solution.confusion.fp >= 1


@pytest.mark.parametrize("decimals", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n", [100, 1000, 2000])
def test_0_12_exhaustive_search_equals_the_sweep(n, decimals):
    """Row 0.12: one pass over n per distinct score finds the same number of correct decisions."""
    rng = np.random.default_rng(n + decimals)
    s = np.round(1 / (1 + np.exp(-1.2 * rng.normal(size=n))), decimals)
    y = (rng.random(n) < s).astype(int)
    correct = max(int(((s >= t) == y).sum()) for t in [np.inf, *np.unique(s)])
    solution = cp.find(y, s, maximize="accuracy")

    assert correct == solution.confusion.tp + solution.confusion.tn
    assert correct / n == solution.value


@pytest.mark.parametrize(
    ("labels", "scores", "correct"),
    [
        ([0, 0, 0], [1, 1, 1], 3),
        ([1, 1, 1], [0, 0, 0], 3),
        ([1, 0, 0, 0], [0, 0.3, 0.6, 1], 3),
    ],
)
def test_0_12_scores_of_exactly_0_and_1(labels, scores, correct):
    """Erratum E0.7: a score of exactly 1 can be negative, and one of exactly 0 positive."""
    solution = cp.find(labels, scores, maximize="accuracy")

    assert correct == solution.confusion.tp + solution.confusion.tn

"""`find_class_weights`: against every cell of the plane of weights, and honest about what is not proven."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

import cutpoints as cp
from cutpoints._search.class_weights import LARGEST_LOG, called, logs_of
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

SCORES = ("macro_f1", "balanced_accuracy", "accuracy")


def value(name, y, decisions, size):
    """The value of decisions, from its definition, in fractions."""
    pairs = list(zip(y, decisions, strict=True))
    if name == "accuracy":
        return Fraction(sum(a == b for a, b in pairs), len(pairs))
    parts = []
    for k in range(size):
        hits, there = pairs.count((k, k)), sum(a == k for a, _ in pairs)
        said = sum(b == k for _, b in pairs)
        if name == "macro_f1":
            parts.append(Fraction(2 * hits, there + said) if there + said else Fraction(0))
        elif there:
            parts.append(Fraction(hits, there))
    return sum(parts) / len(parts)


def every_decision(logs):
    """The decisions of all weights of three classes: around each crossing of two lines of change."""
    first, second, third = (
        sorted(set((logs[:, a] - logs[:, b]).tolist())) for a, b in ((0, 1), (0, 2), (1, 2))
    )
    across = {0, *first, *(b - d for b, d in itertools.product(second, third))}
    found = set()
    for x in {step + x for x in across for step in (-2, 2)}:
        along = {1, *second, *(d + x for d in third)}
        for y in {step + y for y in along for step in (-1, 1)}:
            if max(abs(x), abs(y)) <= LARGEST_LOG:
                found.add(tuple(called(logs, np.array([0, x, y])).tolist()))
    return found


@st.composite
def three_classes(draw):
    """Few rows with ties, zeros among the probabilities, and labels of at least two classes."""
    rows = draw(st.integers(2, 6))
    numbers = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)
    p = np.array(draw(st.lists(numbers, min_size=rows, max_size=rows)), dtype=float)
    y = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    return np.array(y), p / p.sum(axis=1, keepdims=True)


@given(three_classes(), st.sampled_from(SCORES))
def test_three_classes_are_optimal(problem, name):
    """No weights have a higher value, and the decisions have the value that is told."""
    y, p = problem
    found = cp.find_class_weights(y, p, maximize=name, classes=range(3))
    best = max(value(name, y.tolist(), decisions, 3) for decisions in every_decision(logs_of(p)))
    assert "optimal" == found.status
    assert float(best) == found.value
    assert float(value(name, y.tolist(), found.decide(p).tolist(), 3)) == found.value


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=2, max_size=20))
def test_two_classes_are_optimal(rows):
    """For two classes the accuracy is that of the best threshold."""
    y, p = np.array([a for a, _ in rows]), np.array([b / 9 for _, b in rows])
    found = cp.find_class_weights(y, np.column_stack([1 - p, p]), maximize="accuracy", classes=[0, 1])
    inner = (p > 0) & (p < 1)
    assert "optimal" == found.status
    if inner.all():
        assert cp.find(y, p, maximize="accuracy").value == found.value


def test_weights_decide_as_plain_numbers_do():
    """The largest weighted probability decides, rounded or not: weights keep their distance from a change."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        y, p = rng.permutation([0, 1, 2, *rng.integers(0, 3, 3)]), rng.dirichlet([1, 1, 1], 6)
        found = cp.find_class_weights(y, p, maximize="macro_f1")
        for weights in (found.weights, np.float32(found.weights)):
            assert np.argmax(p * weights, axis=1).tolist() == found.decide(p).tolist()


def simulated(rows, seed=0, size=3):
    """Labels that follow probabilities in which one class is frequent."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([2.0, *[0.5] * (size - 1)], rows)
    return np.array([rng.choice(size, p=one) for one in p]), p


@pytest.mark.parametrize("name", SCORES)
def test_values_are_those_of_scikit_learn(name):
    """The value is what scikit-learn says of the decisions, and not below that of equal weights."""
    y, p = simulated(2000)
    found = cp.find_class_weights(y, p, maximize=name)
    judge = {
        "macro_f1": lambda d: f1_score(y, d, average="macro"),
        "balanced_accuracy": lambda d: balanced_accuracy_score(y, d),
        "accuracy": lambda d: accuracy_score(y, d),
    }[name]
    assert judge(found.decide(p)) == pytest.approx(found.value, abs=1e-12)
    assert judge(p.argmax(axis=1)) == pytest.approx(found.argmax_value, abs=1e-12)
    assert found.argmax_value <= found.value
    assert "local" == found.status
    assert (np.array(found.weights) * p).argmax(axis=1).tolist() == found.decide(p).tolist()
    assert 1.0 == found.weights[0]


def test_a_local_optimum_is_not_called_optimal():
    """More classes or rows than can be proven have the status local, which is at most the optimum."""
    y, p = simulated(120, seed=3)
    proven = cp.find_class_weights(y, p)
    doubled = cp.find_class_weights(np.tile(y, 5), np.tile(p, (5, 1)))  # the same shares, too many rows
    assert ("optimal", "local") == (proven.status, doubled.status)
    assert doubled.value <= proven.value + 1e-12
    assert "local" == cp.find_class_weights(*simulated(60, size=4)).status


def test_cross_validated_value_is_honest():
    """Over several samples it is nearer to the value on new data than the value itself."""
    big_y, big_p = simulated(20_000, seed=99)
    gaps = []
    for seed in range(8):
        y, p = simulated(80, seed)
        found = cp.find_class_weights(y, p, classes=range(3))
        truth = f1_score(big_y, found.decide(big_p), average="macro")
        gaps.append((found.value - truth, found.cross_validated - truth))
    naive, judged = np.mean(gaps, axis=0)
    assert naive > 0.05
    assert abs(judged) < naive


def test_forms_for_people_and_programs():
    """Names are kept, the text says what is proven, the JSON form has all of it."""
    y, p = simulated(60)
    names = ["none", "mild", "severe"]
    found = cp.find_class_weights(np.array(names)[y], pd.DataFrame(p, columns=names))
    assert tuple(names) == found.classes
    for text in ("mild: ", "optimal: no other weights are better", "cross-validated", "equal weights"):
        assert text in repr(found)
    assert "<table>" in found._repr_html_()
    assert list(found.weights) == found.to_dict()["weights"]
    assert found.confusion_matrix.sum() == len(y)


def test_bad_input():
    """Columns without names, odd objectives, missing probabilities and one class only are refused."""
    y, p = [0, 1, 1], [[0.2, 0.5, 0.3]] * 3
    with pytest.raises(InvalidParameterError, match="one name for each of the 3 columns"):
        cp.find_class_weights(y, p)
    with pytest.raises(InvalidParameterError, match="maximize must be one of"):
        cp.find_class_weights(y, p, maximize="f1", classes=range(3))
    with pytest.raises(InvalidInputError, match="same number of rows"):
        cp.find_class_weights([0, 1], p, classes=range(3))
    with pytest.raises(InvalidInputError, match="1 of 1 value"):
        cp.find_class_weights([0], [[math.nan, 1.0]], classes=[0, 1])
    with pytest.raises(InvalidInputError, match="All labels are 1"):
        cp.find_class_weights([1, 1], [[0.5, 0.5]] * 2)
    found = cp.find_class_weights([0, 1], [[0.6, 0.4], [0.5, 0.5]])
    with pytest.raises(InvalidParameterError, match="a matrix of 2 columns"):
        found.decide(p)

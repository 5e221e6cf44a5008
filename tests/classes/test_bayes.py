"""`bayes_decision`: the cheapest decision for each row."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

COST = {
    "treat": {"ill": 0, "well": 1, "unclear": 0.5},
    "wait": {"ill": 10, "well": 0, "unclear": 2},
    "test": {"ill": 1, "well": 0.3, "unclear": 0.3},
}
CLASSES = ["ill", "well", "unclear"]


@given(st.lists(st.tuples(*[st.integers(0, 8)] * 3).filter(any), min_size=1, max_size=20))
def test_no_decision_is_cheaper(shares):
    """In fractions, no other decision of a row costs less, and the first of equal ones is taken."""
    p = np.array(shares, dtype=float)
    p /= p.sum(axis=1, keepdims=True)
    found = cp.bayes_decision(p, COST, classes=CLASSES)
    for row, decision in zip(p.tolist(), found.tolist(), strict=True):
        expected = {
            name: sum(
                Fraction(x) * Fraction(str(costs[truth])) for x, truth in zip(row, CLASSES, strict=True)
            )
            for name, costs in COST.items()
        }
        assert min(expected, key=expected.__getitem__) == decision


def test_two_classes_are_the_bayes_threshold():
    """With two classes and costs of errors only it is the threshold of `bayes_threshold`."""
    p = np.linspace(0, 1, 1001)
    found = cp.bayes_decision(np.column_stack([1 - p, p]), [[0, 5], [1, 0]])
    threshold = cp.bayes_threshold(fp=1, fn=5)
    assert (p > threshold).astype(int).tolist() == found.tolist()


def test_names_of_a_frame():
    """The columns of a frame name the classes, and those of a frame of costs may be in another order."""
    frame = pd.DataFrame([[0.1, 0.9, 0.0], [0.6, 0.4, 0.0]], columns=CLASSES)
    costs = pd.DataFrame(COST).T[["unclear", "well", "ill"]]
    assert ["test", "treat"] == cp.bayes_decision(frame, costs).tolist()
    assert ["test", "treat"] == cp.bayes_decision(frame.to_numpy(), COST, classes=CLASSES).tolist()


def test_names_keep_their_kind():
    """Decisions of mixed kinds stay what they are."""
    found = cp.bayes_decision([[1.0, 0.0], [0.0, 1.0]], {1: {0: 0, 1: 5}, "ask": {0: 1, 1: 1}})
    assert [1, "ask"] == found.tolist()


@pytest.mark.parametrize(
    ("p", "cost", "classes", "message"),
    [
        ([0.2, 0.8], [[0, 1], [1, 0]], None, "a matrix of probabilities"),
        ([[0.2, 0.9]], [[0, 1], [1, 0]], None, "add up to 1"),
        ([[-0.2, 1.2]], [[0, 1], [1, 0]], None, "none negative"),
        ([["a", "b"]], [[0, 1], [1, 0]], None, "a matrix of probabilities"),
        ([[0.2, 0.8]], [[0, 1, 2]], None, "a 2 x 2 matrix"),
        ([[0.2, 0.8]], {"a": {0: 1}}, None, "a mapping of decisions"),
        ([[0.2, 0.8]], {}, None, "a mapping of decisions"),
        ([[0.2, 0.8]], [[0, 1], [1, 0]], ["a"], "two or more different"),
        ([[0.2, 0.8]], [[0, 1], [1, 0]], ["a", "b", "c"], "one name for each of the 2 columns"),
    ],
)
def test_bad_input(p, cost, classes, message):
    """What is no matrix of probabilities, or of costs, is refused."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.bayes_decision(p, cost, classes=classes)


def test_missing_probabilities():
    """NaN is counted."""
    with pytest.raises(InvalidInputError, match="1 of 1 value"):
        cp.bayes_decision([[np.nan, 1.0]], [[0, 1], [1, 0]])

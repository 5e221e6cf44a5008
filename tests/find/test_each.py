"""Constraints in every group, with one threshold, against brute force."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints import metrics as m
from cutpoints.exceptions import InfeasibleError, InvalidParameterError
from strategies import problems

METRICS = {
    "predicted_positive": lambda tp, fp, fn, tn: Fraction(tp + fp),
    "recall": lambda tp, fp, fn, tn: Fraction(tp, tp + fn) if tp + fn else None,
    "precision": lambda tp, fp, fn, tn: Fraction(tp, tp + fp) if tp + fp else None,
}


def confusion(y, p, threshold):
    """The four counts, one row at a time."""
    found = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    for label, score in zip(y.tolist(), p.tolist(), strict=True):
        called = score >= threshold
        found[("tp" if called else "fn") if label else ("fp" if called else "tn")] += 1
    return found


@given(
    problem=problems("unweighted"),
    name=st.sampled_from(list(METRICS)),
    bound=st.sampled_from(["0", "1", "2", "0.5"]),
    relation=st.sampled_from([">=", "<="]),
    seed=st.integers(0, 99),
)
def test_equals_brute_force(problem, name, bound, relation, seed):
    """The threshold is the best of all at which the constraint holds in every group."""
    y, p = problem.labels, problem.scores
    day = np.random.default_rng(seed).integers(0, 3, len(y))
    scores = sorted({float(score) + 0.0 for score in p}, reverse=True)
    best = None
    for threshold in scores if scores[0] == math.inf else [math.inf, *scores]:
        values = [METRICS[name](**confusion(y[day == d], p[day == d], threshold)) for d in set(day.tolist())]
        sides = [None if v is None else v - Fraction(bound) for v in values]
        held = all(s is not None and (s >= 0 if relation == ">=" else s <= 0) for s in sides)
        counts = confusion(y, p, threshold)
        right = counts["tp"] + counts["tn"]
        if held and (best is None or right > best[0]):
            best = right, threshold

    found = cp.find(y, p, maximize="accuracy", by=day, each=f"{name} {relation} {bound}")

    assert (None if best is None else best[1]) == found.threshold


ROWS = {
    "day": ["mon", "mon", "mon", "tue", "tue"],
    "y": [1, 1, 0, 1, 0],
    "p": [0.9, 0.8, 0.7, 0.95, 0.1],
    "minutes": [10, 20, 5, 60, 5],
}


def test_the_tightest_group_is_named():
    """The answer says in which group there is the least room, and how much of the bound it uses."""
    found = cp.find(
        pd.DataFrame(ROWS), label="y", score="p", maximize="recall", by="day", each="predicted_positive <= 2"
    )

    assert (0.8, ("mon", 2.0)) == (found.threshold, (found.each.group, found.each.value))
    assert "each" in found.to_dict()
    assert "the tightest is day mon, with 2" in repr(found)


def test_a_column_may_be_bounded_in_each_group():
    """Minutes of work per day are a capacity like any other."""
    rows = {name: np.array(column) for name, column in ROWS.items()}
    asked = m.called(rows["minutes"]) <= 30

    found = cp.find(rows["y"], rows["p"], maximize="recall", by=rows["day"], each=asked)

    assert (math.inf, "infeasible") != (found.threshold, found.status)
    assert 0.0 == found.value  # one case of tuesday alone takes an hour
    assert 2 / 3 == cp.find(
        rows["y"], rows["p"], maximize="recall", by=rows["day"], each=m.called(rows["minutes"]) <= 60,
        subject_to="predicted_positive <= 2",
    ).value  # fmt: skip


def test_what_no_group_allows_is_infeasible():
    """Where no threshold suits every group, the strictest group is named."""
    found = cp.find(
        pd.DataFrame(ROWS), label="y", score="p", maximize="recall", by="day", each="predicted_positive >= 3"
    )

    assert ("infeasible", "tue") == (found.status, found.each.group)
    with pytest.raises(InfeasibleError, match="the strictest is day tue"):
        found.raise_if_infeasible()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"by": "day"}, "each must be given"),
        ({"each": "recall >= 0.5"}, "by must be given"),
        ({"by": "day", "each": "recall >= 0.5", "guarantee": 0.9}, "guarantee must be left out"),
        ({"by": "day", "each": "recall >= 0.5", "method": "narrow"}, "method must be left out"),
        ({"by": "day", "each": "recall"}, "each must be comparisons"),
    ],
)
def test_what_cannot_be_meant(asked, words):
    """Arguments that do not go together are errors that name one of them."""
    with pytest.raises(InvalidParameterError, match=words):
        cp.find(pd.DataFrame(ROWS), label="y", score="p", maximize="recall", **asked)

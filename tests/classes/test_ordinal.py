"""`find_ordinal`: against all ascending cutpoints, one by one, in fractions."""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, mean_absolute_error, mean_squared_error

import cutpoints as cp
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from oracle import on_grid
from strategies import float_weights, scores

GOALS = {
    "quadratic_kappa": "maximize",
    "linear_kappa": "maximize",
    "kappa": "maximize",
    "accuracy": "maximize",
    "absolute_error": "minimize",
    "squared_error": "minimize",
}


def distance(name, decision, truth):
    """What a decision loses."""
    if name in ("quadratic_kappa", "squared_error"):
        return (decision - truth) ** 2
    if name in ("linear_kappa", "absolute_error"):
        return abs(decision - truth)
    return int(decision != truth)


def value_of(name, called, truths, weights, size):
    """The value of decisions, from its definition; None where it is undefined."""
    rows = list(zip(called, truths, weights, strict=True))
    total = sum(weights)
    if total == 0:
        return None
    lost = sum(distance(name, d, t) * w for d, t, w in rows)
    if not name.endswith("kappa"):
        return 1 - lost / total if name == "accuracy" else lost / total
    said = [sum(w for d, _, w in rows if d == k) for k in range(size)]
    true = [sum(w for _, t, w in rows if t == k) for k in range(size)]
    chance = sum(distance(name, i, j) * said[i] * true[j] for i in range(size) for j in range(size)) / total
    return None if chance == 0 else 1 - lost / chance


@st.composite
def ordered(draw):
    """Scores with ties, classes 0 to 2 or 3, and weights or none."""
    column = draw(scores(min_size=2, max_size=9))
    size = draw(st.integers(2, 4))
    y = draw(st.lists(st.integers(0, size - 1), min_size=len(column), max_size=len(column)))
    weights = draw(st.one_of(st.none(), float_weights(len(column))))
    return column, np.array(y), size, weights


@given(ordered(), st.sampled_from(sorted(GOALS)))
def test_value_is_that_of_the_best_of_all_cutpoints(problem, name):
    """The value is the best of all ascending tuples of cuts, and the highest of equal ones is returned."""
    column, y, size, weights = problem
    if weights is None or len(set(weights)) == 1:
        masses = [Fraction(1 if weights is None else weights[0])] * len(y)
    else:
        (masses,) = on_grid([Fraction(w) for w in weights])
    if len({t for t, w in zip(y, masses, strict=True) if w}) < 2:
        return
    cuts = sorted({float(score) + 0.0 for score in column})
    cuts = cuts if cuts[-1] == math.inf else [*cuts, math.inf]
    sign = 1 if GOALS[name] == "maximize" else -1
    best = None
    for points in itertools.combinations_with_replacement(cuts, size - 1):
        called = [sum(score >= point for point in points) for score in column.tolist()]
        value = value_of(name, called, y.tolist(), masses, size)
        if best is None or (sign * value, points) > (sign * best[0], best[1]):
            best = value, points
    found = cp.find_ordinal(y, column, sample_weight=weights, classes=range(size), **{GOALS[name]: name})
    assert float(best[0]) == found.value
    assert best[1] == found.cutpoints
    assert "optimal" == found.status


@given(ordered(), st.lists(st.sampled_from([-1, 0, 0.1, 0.3, 2, 1e-9, 1e9]), min_size=16, max_size=16))
def test_any_matrix_of_costs(problem, numbers):
    """The total cost is the least of all ascending tuples of cuts, for any costs."""
    column, y, size, _ = problem
    cost = np.array(numbers[: size * size]).reshape(size, size)
    exact = [[Fraction(str(x)) for x in row] for row in cost.tolist()]
    cuts = sorted({float(score) + 0.0 for score in column})
    cuts = cuts if cuts[-1] == math.inf else [*cuts, math.inf]
    best = min(
        sum(
            exact[sum(s >= point for point in points)][t]
            for s, t in zip(column.tolist(), y.tolist(), strict=True)
        )
        for points in itertools.combinations_with_replacement(cuts, size - 1)
    )
    found = cp.find_ordinal(y, column, minimize=cost, classes=range(size))
    assert float(best) == found.value


def grades(rows=2000, size=5, seed=0):
    """Grades, and a score that follows them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=rows)
    y = np.clip(np.round(1.2 * z + size / 2 - 0.5), 0, size - 1).astype(int)
    return y, z + 0.6 * rng.normal(size=rows)


@pytest.mark.parametrize("name", GOALS)
def test_values_are_those_of_scikit_learn(name):
    """The value is what scikit-learn says of the decisions."""
    y, s = grades()
    found = cp.find_ordinal(y, s, **{GOALS[name]: name})
    called = found.decide(s)
    judges = {
        "quadratic_kappa": lambda: cohen_kappa_score(y, called, weights="quadratic"),
        "linear_kappa": lambda: cohen_kappa_score(y, called, weights="linear"),
        "kappa": lambda: cohen_kappa_score(y, called),
        "accuracy": lambda: accuracy_score(y, called),
        "absolute_error": lambda: mean_absolute_error(y, called),
        "squared_error": lambda: mean_squared_error(y, called),
    }
    assert judges[name]() == pytest.approx(found.value, abs=1e-12)
    expected = np.zeros((5, 5), dtype=int)
    np.add.at(expected, (y, called), 1)
    assert expected.tolist() == found.confusion_matrix.tolist()
    assert list(found.cutpoints) == sorted(found.cutpoints)


def test_two_classes_are_find():
    """With two classes the accuracy, and its cutpoint, are those of `find`."""
    y, s = grades(size=2)
    found, one = cp.find_ordinal(y, s, maximize="accuracy"), cp.find(y, s, maximize="accuracy")
    assert (one.threshold, one.value) == (found.cutpoints[0], found.value)
    assert one.interval == found.intervals[0]


def test_names_and_frames(tmp_path):
    """Named classes have the order that they are given; frames and files give the same as arrays."""
    y, s = grades(300, 3)
    order = ["low", "medium", "high"]
    words = np.array(order)[y]
    expected = cp.find_ordinal(y, s, minimize="mae")
    frame = pl.DataFrame({"grade": words, "s": s})
    frame.write_parquet(tmp_path / "g.parquet")
    columns = {"label": "grade", "score": "s", "classes": order, "minimize": "absolute_error"}
    for data in (frame, frame.lazy(), frame.to_pandas(), tmp_path / "g.parquet"):
        found = cp.find_ordinal(data, **columns)
        assert (expected.cutpoints, expected.value) == (found.cutpoints, found.value)
    assert words.dtype == found.decide(frame).dtype
    assert expected.decide(s).tolist() == [order.index(word) for word in found.decide(frame)]
    costs = pd.DataFrame(
        [[0, 1, 5], [1, 0, 2], [9, 3, 0]], index=["low", "medium", "high"], columns=["low", "medium", "high"]
    )
    shuffled = costs.loc[["high", "low", "medium"], ["medium", "high", "low"]]
    by_name = cp.find_ordinal(words, s, classes=order, minimize=shuffled)
    assert cp.find_ordinal(y, s, minimize=costs.to_numpy()).cutpoints == by_name.cutpoints


def test_float32_scores_replay():
    """Cutpoints that are found on float32 scores give their confusion on them."""
    y, s = grades(500)
    s = s.astype(np.float32)
    found = cp.find_ordinal(y, s, maximize="quadratic_kappa")
    assert cohen_kappa_score(y, found.decide(s), weights="quadratic") == pytest.approx(found.value)


def test_cross_validated_value_is_honest():
    """Over many samples the cross-validated value is nearer to that on new data than the value itself."""
    big_y, big_s = grades(100_000, seed=99)
    gaps = []
    for seed in range(30):
        y, s = grades(80, seed=seed)
        found = cp.find_ordinal(y, s, maximize="accuracy", classes=range(5))
        truth = accuracy_score(big_y, found.decide(big_s))
        gaps.append((found.value - truth, found.cross_validated - truth))
    naive, judged = np.mean(gaps, axis=0)
    assert naive > 0.04
    assert abs(judged) < naive / 2
    assert found.cross_validated == cp.find_ordinal(y[::-1], s[::-1], maximize="accuracy",
                                                    classes=range(5)).cross_validated  # fmt: skip


def test_policies_and_pickles(tmp_path):
    """The policy of cutpoints decides as they do, saved and loaded; a pickle is the same."""
    y, s = grades(300, 3)
    frame = pd.DataFrame({"grade": np.array(["low", "mid", "high"])[y], "s": s})
    columns = {"label": "grade", "score": "s", "classes": ["low", "mid", "high"]}
    found = cp.find_ordinal(frame, minimize="squared_error", **columns)
    found.policy().save(tmp_path / "grades.json")
    loaded = cp.Policy.load(tmp_path / "grades.json")
    assert found.decide(s).tolist() == loaded.decide(s).tolist()
    assert ("s", "grade") == (loaded.score, loaded.label)
    assert repr(found) == repr(pickle.loads(pickle.dumps(found)))  # noqa: S301 - our own


def test_forms_for_people_and_programs():
    """The text has a line per class and the value on new data; the JSON form has all of it."""
    y, s = grades()
    found = cp.find_ordinal(y, s, maximize="quadratic_kappa")
    for text in ("class 0", f"score >= {found.intervals[1].shortest}", "5-fold cross-validated", "optimal"):
        assert text in repr(found)
    assert "<table>" in found._repr_html_()
    shown = found.to_dict()
    assert list(found.cutpoints) == shown["cutpoints"]
    assert (found.value, found.cross_validated) == (shown["value"], shown["cross_validated"])
    many = cp.find_ordinal(np.arange(30), np.arange(30.0), minimize="absolute_error")
    assert "and 10 more classes" in repr(many)
    assert 0 == many.value


@pytest.mark.parametrize(
    ("y", "goal", "message"),
    [
        ([0, 1, 2], {}, "maximize must be given"),
        ([0, 1, 2], {"maximize": "f1"}, "'quadratic_kappa'"),
        ([0, 1, 2], {"maximize": "mae"}, "did you mean minimize='absolute_error'"),
        ([0, 1, 2], {"minimize": [[0, 1], [1, 0]]}, "a 3 x 3 matrix"),
        ([0, 1, 2], {"minimize": [[0, 1, 2], [1, 0, math.nan], [2, 1, 0]]}, "finite numbers"),
        ([0, 1, 2], {"minimize": {"yes": {0: 1, 1: 2, 2: 3}}}, "a cost for each of the decisions"),
        (["a", "b", "c"], {"maximize": "accuracy"}, "classes must be given"),
        ([0, 1, 2], {"maximize": "accuracy", "classes": [0, 1]}, "without the label 2 of row 2"),
        ([0, 1, 2], {"maximize": "accuracy", "classes": [0, 1, 1]}, "different labels"),
        ([0, 1, 2], {"maximize": "accuracy", "classes": "abc"}, "a list of two or more"),
    ],
)
def test_bad_goals(y, goal, message):
    """What cannot be asked for is refused, with what can be."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.find_ordinal(y, [0.1, 0.2, 0.3], **goal)


def test_bad_data():
    """One class only, missing labels and missing scores are errors."""
    with pytest.raises(InvalidInputError, match="All labels are 1"):
        cp.find_ordinal([1, 1], [0.1, 0.2], maximize="accuracy")
    with pytest.raises(InvalidInputError, match="All labels are 1"):
        cp.find_ordinal([1, 1], [0.1, 0.2], maximize="kappa", classes=[0, 1])
    with pytest.raises(InvalidInputError, match="1 of 2 values"):
        cp.find_ordinal([1, math.nan], [0.1, 0.2], maximize="accuracy")
    with pytest.raises(InvalidInputError, match="1 of 2 values"):
        cp.find_ordinal(["a", None], [0.1, 0.2], maximize="accuracy", classes=["a", "b"])
    with pytest.raises(InvalidInputError, match="1 of 2 values"):
        cp.find_ordinal([1, 2], [0.1, math.nan], maximize="accuracy")
    counted = cp.from_counts([0.1, 0.2], positives=[1, 0], negatives=[0, 1])
    with pytest.raises(InvalidParameterError, match="one label per row"):
        cp.find_ordinal(counted, maximize="accuracy")

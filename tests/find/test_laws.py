"""Laws that hold whatever the data: order of rows, transforms, weights, symmetry, replay."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from asking import METHODS, ask, everything, replay, small_steps
from cutpoints.exceptions import InvalidInputError
from oracle import confusion_at
from strategies import (
    KINDS,
    Problem,
    conjunctions,
    directions,
    labels,
    objectives,
    problems,
    scores,
    single_objectives,
)


def answer(problem, direction, objective, **options):
    """All that a solution says, or the message where the objective is undefined."""
    try:
        return everything(ask(problem, direction, objective, **options))
    except InvalidInputError as error:
        return str(error)


def solved(problem, direction, objective, **options):
    """The solution; the example is dropped where the objective is undefined."""
    try:
        return ask(problem, direction, objective, **options)
    except InvalidInputError:
        assume(False)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=50)
@given(data=st.data(), objective=objectives(), direction=directions)
def test_order_of_rows(data, objective, direction, kind, method):
    """A permutation of the rows changes nothing, bit for bit, also with float weights."""
    problem = data.draw(problems(kind))
    shuffled = problem.take(np.array(data.draw(st.permutations(range(len(problem.scores))))))
    with small_steps():
        expected = answer(problem, direction, objective.text, method=method)
        actual = answer(shuffled, direction, objective.text, method=method)

    assert expected == actual


INCREASING = {
    "double": lambda s: 2 * s,
    "shift of ranks": lambda s: np.unique(s, return_inverse=True)[1].astype(s.dtype) - 3,
    "exponential of ranks": lambda s: np.exp2(np.unique(s, return_inverse=True)[1] * 7.0 - 80),
    "cube of ranks": lambda s: (np.unique(s, return_inverse=True)[1] - 4.0) ** 3,
}


@pytest.mark.parametrize("transform", INCREASING.values(), ids=INCREASING)
@settings(max_examples=50)
@given(data=st.data(), objective=objectives(), direction=directions)
def test_increasing_transform(data, objective, direction, transform):
    """A strictly increasing transform of the scores moves the threshold and not the confusion."""
    problem = data.draw(problems(max_size=16))
    # +inf has no "nobody positive", so it must stay itself under a transform: leave it out here.
    assume(np.isfinite(problem.scores).all() and np.abs(problem.scores).max() < 1e37)
    moved = transform(problem.scores)
    assume(len(np.unique(moved)) == len(np.unique(problem.scores)))
    before = solved(problem, direction, objective.text)
    after = solved(problem.with_scores(moved), direction, objective.text)
    image = dict(zip(problem.scores.tolist(), moved.tolist(), strict=True))
    image[math.inf] = math.inf

    assert before.confusion == after.confusion
    assert before.value == after.value
    assert image[before.threshold] == after.threshold
    assert [image[tie.threshold] for tie in before.ties] == [t.threshold for t in after.ties]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60)
@given(
    data=st.data(),
    column=scores(max_size=10),
    objective=objectives(),
    direction=directions,
    constraints=conjunctions(1),
)
def test_integer_weight_is_repeated_rows(data, column, objective, direction, constraints, *, method):
    """A row of weight k is k rows; thresholds, values, counts and ties are the same."""
    size = len(column)
    y = np.array(data.draw(labels(size)), dtype=np.int8)
    weights = np.array(data.draw(st.lists(st.integers(1, 4), min_size=size, max_size=size)))
    weighted = Problem("integer weights", column, y, weights)
    repeated = Problem("unweighted", np.repeat(column, weights), np.repeat(y, weights))
    options = {"method": method, "subject_to": [c.text for c in constraints]}
    with small_steps():
        expected = answer(repeated, direction, objective.text, **options)
        actual = answer(weighted, direction, objective.text, **options)

    assert expected == actual


@settings(max_examples=60)
@given(data=st.data(), objective=objectives(), direction=directions)
def test_zero_weight_rows_do_not_change_the_value(data, objective, direction):
    """Rows of weight zero add cuts, at which nothing changes, and leave value and counts alone."""
    problem = data.draw(problems("float weights", finite=True))
    assume(len(set(problem.weights)) > 1)  # one weight for all rows is counted, never rounded
    extra = data.draw(problems("unweighted", dtype=problem.scores.dtype.type, finite=True))
    more = Problem(
        "float weights",
        np.concatenate([problem.scores, extra.scores]),
        np.concatenate([problem.labels, extra.labels]),
        np.concatenate([problem.weights, np.zeros(len(extra.scores))]),
    )
    without = solved(problem, direction, objective.text)
    with_ = solved(more, direction, objective.text)

    assert without.value == with_.value
    assert without.confusion == with_.confusion
    assert {tuple(tie.confusion.to_dict().values()) for tie in (without, *without.ties)} == {
        tuple(tie.confusion.to_dict().values()) for tie in (with_, *with_.ties)
    }


@pytest.mark.parametrize("name", ["mcc", "kappa", "accuracy", "g_mean", "youden_j", "p4"])
@settings(max_examples=50)
@given(data=st.data())
def test_swapped_classes(name, data):
    """With scores negated and labels swapped a symmetric metric has the same best value."""
    kind = data.draw(st.sampled_from(["unweighted", "integer weights", "float weights"]))
    problem = data.draw(problems(kind, finite=True))
    swapped = Problem(kind, -problem.scores, 1 - problem.labels, problem.weights)
    expected = answer(problem, "maximize", name)
    actual = answer(swapped, "maximize", name)

    if isinstance(expected, str):
        assert "0/0 at every cut" in expected
        assert "0/0 at every cut" in actual
    else:
        value = 1
        assert expected[value] == actual[value]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60)
@given(data=st.data(), objective=single_objectives(), direction=directions)
def test_equal_scores_are_never_split(data, objective, direction, method):
    """Every threshold is a score of the data or inf, and its confusion counts whole scores."""
    problem = data.draw(problems())
    with small_steps():
        solution = solved(problem, direction, objective.text, method=method)
    allowed = {*problem.scores.tolist(), math.inf}

    for cut in (solution, *solution.ties):
        assert cut.threshold in allowed
        counts = confusion_at(problem.rows, cut.threshold).to_dict()
        actual = cut.confusion.to_dict()
        assert {k: float(v) for k, v in counts.items()} == {k: float(v) for k, v in actual.items()}


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@settings(max_examples=60)
@given(data=st.data(), objective=objectives(), direction=directions)
def test_decisions_replay(data, objective, direction, dtype):
    """`decide` on the same scores gives the promised confusion, also in the middle of the gap."""
    problem = data.draw(problems("float weights", dtype=dtype))
    solution = solved(problem, direction, objective.text)
    decisions = solution.decide(problem.scores)

    counts = solution.confusion.to_dict()
    assert counts == replay(decisions, problem.labels, 1, problem.weights)
    assert counts == replay(problem.scores, problem.labels, solution.threshold, problem.weights)
    assert np.dtype(np.int8) == decisions.dtype


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=50)
@given(data=st.data(), objective=objectives(), direction=directions)
def test_constraints_hold_at_the_result(data, objective, direction, method):
    """Counted again from the threshold alone, the constraints hold there and at every tie."""
    problem = data.draw(problems())
    constraints = data.draw(conjunctions(2))
    with small_steps():
        solution = solved(
            problem,
            direction,
            objective.text,
            method=method,
            subject_to=[constraint.text for constraint in constraints],
        )
    assume(solution.status == "optimal")

    for cut in (solution, *solution.ties):
        counts = confusion_at(problem.rows, cut.threshold)
        assert all(constraint.meaning.holds(counts) for constraint in constraints)


@settings(max_examples=60)
@given(problem=problems(max_size=30))
def test_ties_of_a_constant_objective_are_all_cuts(problem):
    """Where every cut is as good as any other, all of them are listed, thresholds descending."""
    solution = ask(problem, "maximize", "cost(fp=0)")
    distinct = sorted({s + 0.0 for s in problem.scores.tolist()}, reverse=True)
    expected = distinct if distinct[0] == math.inf else [math.inf, *distinct]

    assert expected == [solution.threshold, *(tie.threshold for tie in solution.ties)]


@settings(max_examples=60)
@given(problem=problems(), objective=objectives(), direction=directions)
def test_interval_ends_at_the_next_lower_score(problem, objective, direction):
    """The interval is open at the next lower score and closed at the threshold."""
    solution = solved(problem, direction, objective.text)

    for cut in (solution, *solution.ties):
        lower = problem.scores[problem.scores < cut.threshold]
        assert (max(lower.tolist(), default=-math.inf), cut.threshold) == tuple(cut.interval)

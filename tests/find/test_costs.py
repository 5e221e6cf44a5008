"""Costs that differ from row to row, against the oracle: any signs, zeros, ties, weights, several columns."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import METHODS, everything, small_steps
from oracle import added_up, on_grid, solve_rows
from strategies import problems

CELLS = ("tp", "fp", "fn", "tn")
NUMBERS = ("0", "1", "5", "-1", "0.1", "-2.5", "0.02")
steps = st.builds(
    dict, buckets=st.integers(2, 6), few=st.integers(0, 4), block=st.integers(1, 5), direct=st.just(0)
)


@st.composite
def columns(draw, size):
    """Values of one column: integers, cents, awkward floats, of any sign, many zeros."""
    kind = draw(st.sampled_from(["integers", "cents", "floats", "positive", "zeros"]))
    one = {
        "integers": st.integers(-3, 3).map(float),
        "cents": st.integers(-500, 1500).map(lambda k: k / 100),
        "floats": st.one_of(st.sampled_from([0.0, 0.1, -0.3, 1 / 3]), st.floats(-1e6, 1e6)),
        "positive": st.sampled_from([0.0, 0.5, 2.0, 7.25, 1e9]),
        "zeros": st.just(0.0),
    }[kind]
    found = np.array(draw(st.lists(one, min_size=size, max_size=size)), dtype=np.float64)
    return np.where(np.abs(found) < 1e-60, 0.0, found)


@st.composite
def worths(draw, names):
    """What the cells are worth: as text, and as the oracle reads it."""
    texts, meaning = [], {}
    for cell in CELLS:
        number = draw(st.sampled_from(NUMBERS))
        weights = {name: draw(st.sampled_from(NUMBERS)) for name in draw(st.sets(st.sampled_from(names)))}
        texts.append(
            f"{cell}={' + '.join([number, *(f'{w}*{name}' for name, w in sorted(weights.items()))])}"
        )
        meaning[cell] = (Fraction(number), {name: Fraction(w) for name, w in weights.items()})
    return f"profit({', '.join(texts)})", meaning


@st.composite
def questions(draw):
    """Rows with two columns, a goal in them, and bounds on money, on a column and on counts."""
    problem = draw(problems(draw(st.sampled_from(["unweighted", "integer weights", "float weights"]))))
    size = len(problem.scores)
    values = {name: draw(columns(size)) for name in ("a", "b")}
    objective = draw(worths(["a", "b"]))
    bounds = []
    for _ in range(draw(st.integers(0, 2))):
        text, meaning = draw(
            st.one_of(
                worths(["a", "b"]),
                st.just(("called(a)", dict.fromkeys(("tp", "fp"), (0, {"a": 1})))),
                st.just(("predicted_positive", dict.fromkeys(("tp", "fp"), (1, {})))),
            )
        )
        relation, number = draw(st.sampled_from([">=", "<="])), draw(st.sampled_from(NUMBERS))
        bounds.append((f"{text} {relation} {number}", (meaning, relation, Fraction(number))))
    return problem, values, objective, bounds, draw(st.sampled_from(["maximize", "minimize"]))


def as_rows(problem, values):
    """The rows of the oracle."""
    weights = np.ones(len(problem.scores)) if problem.weights is None else problem.weights.astype(float)
    counted = [Fraction(w) for w in weights.tolist()]
    if len(set(counted)) > 1:
        (counted,) = on_grid(weights.tolist())
    added = {name: added_up((column * weights).tolist()) for name, column in values.items()}
    each = [dict(zip(added, row, strict=True)) for row in zip(*added.values(), strict=True)]
    return list(zip(problem.scores.tolist(), problem.labels.tolist(), counted, each, strict=True))


def frame_of(problem, values):
    """The same rows as a data frame, and the names of its columns."""
    columns = {"y": problem.labels, "p": problem.scores, **values}
    roles = {"label": "y", "score": "p"}
    if problem.weights is not None:
        columns["w"], roles["weight"] = problem.weights, "w"
    return pd.DataFrame(columns), roles


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=150)
@given(question=questions(), small=steps)
def test_any_costs_equal_brute_force(question, small, method):
    """Threshold, value and ties are those of every cut tried in fractions."""
    problem, values, (text, meaning), bounds, direction = question
    frame, roles = frame_of(problem, values)
    expected = solve_rows(as_rows(problem, values), meaning, direction, [bound for _, bound in bounds])
    with small_steps(**small):
        asked = {direction: text, "subject_to": [text for text, _ in bounds]}
        found = cp.find(frame, **roles, **asked, method=method)
    if expected is None:
        assert "infeasible" == found.status
        return
    value, threshold, ties = expected
    assert (float(value), threshold) == (found.value, found.threshold)
    assert ties == [tie.threshold for tie in found.ties]


@given(question=questions(), small=steps)
def test_sweep_equals_narrow(question, small):
    """Both methods give the same answer bit for bit, what is attainable included."""
    problem, values, (text, _), bounds, direction = question
    frame, roles = frame_of(problem, values)
    asked = {direction: text, "subject_to": [text for text, _ in bounds]}
    with small_steps(**small):
        one, other = (cp.find(frame, **roles, **asked, method=method) for method in METHODS)
    assert everything(one) == everything(other)

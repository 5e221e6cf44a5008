"""Costs that differ from row to row, against the oracle: any signs, zeros, ties, weights, several columns."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import METHODS, everything, small_steps
from cutpoints import metrics as m
from cutpoints.exceptions import CutpointError, DataWarning, InvalidInputError, InvalidParameterError
from cutpoints.metrics.columns import row_value
from oracle import added_up, on_grid, solve_rows
from strategies import problems

CELLS = ("tp", "fp", "fn", "tn")
NUMBERS = ("0", "1", "5", "-1", "0.1", "-2.5", "0.02")
steps = st.builds(dict, buckets=st.integers(2, 6), few=st.integers(0, 4), block=st.integers(1, 5))


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


def answer(*data, **asked):
    """The solution; None where one decision always wins."""
    try:
        return cp.find(*data, **asked)
    except InvalidInputError as error:
        if error.kind != "one_decision":
            raise
        return None


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=100)
@given(question=questions(), small=steps)
def test_any_costs_equal_brute_force(question, small, method):
    """Threshold, value and ties are those of every cut tried in fractions."""
    problem, values, (text, meaning), bounds, direction = question
    frame, roles = frame_of(problem, values)
    expected = solve_rows(as_rows(problem, values), meaning, direction, [bound for _, bound in bounds])
    with small_steps(**small):
        asked = {direction: text, "subject_to": [text for text, _ in bounds]}
        found = answer(frame, **roles, **asked, method=method)
    if found is None:  # one decision always wins
        none = max([*problem.scores, -math.inf]) if math.inf in problem.scores else math.inf
        assert {expected[1], *expected[2]} & {none, min(problem.scores) + 0.0}
        return
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
        one, other = (answer(frame, **roles, **asked, method=method) for method in METHODS)
    assert (one and everything(one)) == (other and everything(other))


# --- what users do


Y, P, AMOUNT = [0, 1, 0, 1], [0.1, 0.2, 0.6, 0.9], [20.0, 3.1, 50.0, 400.25]


def test_a_miss_costs_its_amount():
    """The value is the total in the user's unit, and the confusion is counts."""
    found = cp.find(Y, P, minimize=m.cost(fp=5, fn=np.array(AMOUNT)))

    assert (0.9, 3.1) == (found.threshold, found.value)
    assert {"tp": 1, "fp": 0, "fn": 1, "tn": 2} == found.confusion.to_dict()
    assert 0.0 == found.certificate.resolution  # cents are not rounded


@given(problem=problems("float weights"), fp=st.sampled_from([1, 5, 0.1]), fn=st.sampled_from([1, 20, 0.3]))
def test_one_cost_for_all_rows_is_the_constant_case(problem, fp, fn):
    """A column that is the same in every row gives what the number gives."""
    rows = problem.labels, problem.scores
    same = np.full(len(problem.scores), 1.0)
    plain = cp.find(*rows, minimize=m.cost(fp=fp, fn=fn))
    columns = cp.find(*rows, minimize=m.cost(fp=fp * row_value(same, "fp", "cost"), fn=fn))

    assert everything(plain) == everything(columns)


def test_weights_multiply():
    """A row that counts twice costs twice its amount, and two such rows are the same."""
    weights = [1, 2, 1, 3]
    repeated = [np.repeat(column, weights) for column in (Y, P, AMOUNT)]
    once = cp.find(Y, P, sample_weight=weights, minimize=m.cost(fp=5, fn=np.array(AMOUNT)))
    twice = cp.find(*repeated[:2], minimize=m.cost(fp=5, fn=repeated[2]))

    assert (once.threshold, once.value) == (twice.threshold, twice.value)


def test_money_at_every_threshold():
    """The curve adds columns up at every cut, and finds the best one without reading again."""
    curve = cp.curve(Y, P, columns={"amount": AMOUNT})
    text = "cost(fp=5, fn=amount)"

    assert [403.35, 3.1, 8.1, 5.0, 10.0] == curve.values(text).tolist()
    assert (0.9, 3.1) == (curve.best(minimize=text).threshold, curve.at(0.7).confusion.metric(text))
    frame = pd.DataFrame({"y": Y, "p": P, "amount": AMOUNT})
    named = cp.curve(frame, label="y", score="p", columns="amount")
    assert curve.values(text).tolist() == named.values(text).tolist()
    assert 8.1 == cp.evaluate(frame, label="y", score="p", threshold=0.6, metrics=text).metrics[text]


def test_segments_add_up_their_own_rows():
    """Each segment has its own total."""
    frame = pd.DataFrame(
        {"y": Y * 2, "p": P * 2, "amount": AMOUNT + [1.0] * 4, "land": ["a"] * 4 + ["b"] * 4}
    )
    found = cp.find_by(frame, label="y", score="p", by="land", minimize="cost(fp=5, fn=amount)")

    assert [3.1, 1.0] == [found["a"].value, found["b"].value]


def test_assess_judges_folds_by_their_own_amounts():
    """Thresholds of the other folds, on a fold's own amounts, added up over the folds."""
    rng = np.random.default_rng(5)
    y = (rng.random(300) < 0.3).astype(int)
    p, amount = np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0, 1), rng.integers(1, 100, 300).astype(float)
    splits = [
        (np.flatnonzero(np.arange(300) % 3 != k), np.flatnonzero(np.arange(300) % 3 == k)) for k in range(3)
    ]
    expected = 0.0
    for train, test in splits:
        chosen = cp.find(y[train], p[train], minimize=m.cost(fp=20, fn=amount[train])).threshold
        called = p[test] >= chosen
        expected += 20 * int((called & (y[test] == 0)).sum()) + amount[test][~called & (y[test] == 1)].sum()

    found = cp.assess(y, p, minimize=m.cost(fp=20, fn=amount), cv=splits, n_bootstrap=20)

    assert expected == found.cross_validated
    assert found.resubstitution <= found.cross_validated


def test_compare_ranks_models_by_money():
    """The model with the lower total wins, though the other one has more hits."""
    amount = np.array([1.0, 1.0, 500.0, 1.0])
    models = {"small": [0.9, 0.8, 0.1, 0.2], "large": [0.1, 0.2, 0.9, 0.3]}
    with pytest.warns(DataWarning):  # four rows
        found = cp.compare(
            [1, 1, 1, 0], models, minimize=m.cost(fp=5, fn=amount), subject_to="predicted_positive <= 2"
        )

    assert ("large", 2.0) == (found.winner, found.entries["large"].value)
    assert -498.0 == found.tests[0].bootstrap.difference


def test_goals_with_columns_can_be_pickled():
    """Workers get the columns, too."""
    amount = np.array(AMOUNT)
    copy = pickle.loads(pickle.dumps(0.5 * m.cost(fp=5, fn=amount) + m.called(amount)))  # noqa: S301

    assert "0.5*cost(fp=5, fn=values) + called(values)" == str(copy)
    assert 403.35 / 2 == cp.find(Y, P, minimize=copy).value


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, np.nan, 2, 3], "must not contain NaN"),
        ([1, np.inf, 2, 3], "must be finite numbers. 1 of 4 values is infinite, the first at row 1"),
        ([1, 2, 3], "must have the same number of rows"),
        (["a", "b", "c", "d"], "must be numbers"),
        ([1e99, 0, 0, 0], "between 1e-80 and 1e\\+80"),
    ],
)
def test_bad_costs_are_refused(values, words):
    """Missing, infinite, too few, non-numeric and absurd costs are errors."""
    with pytest.raises(CutpointError, match=words):
        cp.find(Y, P, minimize=m.cost(fp=5, fn=np.array(values)))


@pytest.mark.parametrize(
    "goal",
    [
        m.cost(fn=np.array(AMOUNT)),
        m.cost(fp=5, fn=-np.array(AMOUNT)),
        m.cost(fp=5, fn=np.zeros(4)),
        m.cost(fp=-np.array(AMOUNT), fn=3),
    ],
    ids=str,
)
def test_costs_for_which_one_decision_always_wins(goal):
    """Where no label could change the decision, no threshold is found, but a mistake in the costs."""
    with pytest.raises(InvalidInputError, match="no score could help"):
        cp.find(Y, P, minimize=goal)
    assert "optimal" == cp.find(Y, P, minimize=goal, subject_to="recall >= 0.5").status


def test_a_name_needs_a_column_and_an_array_needs_arrays():
    """Columns come from where the rows come from."""
    frame = pd.DataFrame({"y": Y, "p": P})
    with pytest.raises(InvalidParameterError, match="must be an array where the data are arrays"):
        cp.find(Y, P, minimize="cost(fp=5, fn=amount)")
    with pytest.raises(InvalidParameterError, match="must be the name of a column where columns have names"):
        cp.find(frame, label="y", score="p", minimize=m.cost(fp=5, fn=np.array(AMOUNT)))
    with pytest.raises(InvalidInputError, match="Column not found: 'amount'"):
        cp.find(frame, label="y", score="p", minimize="cost(fp=5, fn=amount)")
    with pytest.raises(InvalidParameterError, match="left out for rows that are counted"):
        cp.find(cp.from_counts(P, positives=Y, negatives=Y), minimize=m.cost(fn=np.array(AMOUNT)))
    amount = pd.Series(AMOUNT, index=[3, 2, 1, 0])
    with pytest.raises(InvalidInputError, match="in the same order"):
        cp.find(Y, pd.Series(P), minimize=m.cost(fp=5, fn=amount))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: cp.find(Y, P, maximize="recall", subject_to=m.called(np.array(AMOUNT)) <= 3, guarantee=0.9),
        lambda: cp.find(Y, P, minimize=m.cost(fp=5, fn=np.array(AMOUNT)), method="ilp"),
        lambda: cp.ilp.formulate(Y, P, minimize=m.cost(fp=5, fn=np.array(AMOUNT))),
        lambda: cp.find_expected(P, minimize=m.cost(fp=5, fn=np.array(AMOUNT))),
        lambda: cp.find_band(Y, P, minimize=m.cost(fp=5, fn=np.array(AMOUNT))),
        lambda: cp.compare({"a": cp.Confusion(tp=1, fp=0, fn=0, tn=1)}, minimize=m.cost(fn=np.array([1.0]))),
        lambda: cp.Confusion(tp=1, fp=0, fn=0, tn=1).metric("cost(fn=amount)"),
        lambda: cp.metrics.cost(fn=np.array(AMOUNT))(tp=1, fp=0, fn=0, tn=1),
        lambda: cp.bayes_threshold("cost(fp=5, fn=amount)"),
    ],
)
def test_what_only_knows_counts_refuses_columns(ask):
    """No function ignores a column silently."""
    with pytest.raises(CutpointError):
        ask()


def test_expected_gain_is_a_score():
    """Calling what gains on average is best for calibrated probabilities, and large amounts come first."""
    gain = cp.expected_gain([0.5, 0.5, 0.125], fp=-4, fn=[-4, -16, -64])

    assert [0.0, 6.0, 4.5] == gain.tolist()
    assert [1.0, 0.0] == cp.expected_gain([1, 0], tp=1).tolist()
    for bad in ({"y_prob": [0.5, np.nan]}, {"y_prob": [0.5, 1.5]}, {"y_prob": [0.5], "fn": [1, 2]}):
        with pytest.raises(CutpointError):
            cp.expected_gain(**bad)

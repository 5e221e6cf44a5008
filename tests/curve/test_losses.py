"""Is it the threshold or the model?"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
import oracle
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError

ROWS = st.lists(
    st.tuples(st.integers(0, 16).map(lambda k: k / 16), st.booleans(), st.integers(1, 5)),
    min_size=2,
    max_size=12,
).filter(lambda rows: len({positive for _, positive, _ in rows}) == 2)
GOALS = {
    "f1": ("f1", {}),
    "kappa": ("kappa", {}),
    "accuracy": ("accuracy", {}),
    "cost(fp=2, fn=3)": ("cost", {"fp": 2, "fn": 3}),
}


def _slow(rows, goal, direction, threshold):
    """The four values by brute force in fractions; None where one is undefined."""
    name, parameters = GOALS[goal]
    objective = oracle.Sum((oracle.Term(name, parameters),))
    labelled = [(s, w * positive, w * (not positive)) for s, positive, w in rows]
    believed = [(s, w * Fraction(s), w * (1 - Fraction(s))) for s, _, w in rows]
    ranked = [(s + 10 * bool(pos), pos, neg) for s, pos, neg in labelled]
    asked = oracle.solve(believed, objective, direction).best
    found = {
        "value": objective.value(oracle.confusion_at(labelled, threshold)),
        "believed": asked and objective.value(oracle.confusion_at(labelled, asked.threshold)),
        "best": oracle.solve(labelled, objective, direction).value,
        "perfect": oracle.solve(ranked, objective, direction).value,
    }
    return {name: value and float(value.number) for name, value in found.items()}


@given(ROWS, st.sampled_from(list(GOALS)), st.integers(0, 17).map(lambda k: k / 16))
def test_the_steps_are_those_of_brute_force(rows, goal, threshold):
    """Each of the four values is the one that enumeration in fractions finds."""
    scores, labels, weights = zip(*rows, strict=True)
    direction = "minimize" if goal.startswith("cost") else "maximize"
    curve = cp.curve(labels, scores, sample_weight=weights)

    split = curve.split_loss(**{direction: goal}, threshold=threshold)

    for name, expected in _slow(rows, goal, direction, threshold).items():
        actual = getattr(split, name)
        if expected is None:
            assert actual is None or math.isnan(actual), name
        else:
            assert expected == pytest.approx(actual, abs=1e-12), name


@given(ROWS, st.sampled_from(list(GOALS)), st.integers(0, 17).map(lambda k: k / 16))
def test_parts_are_never_negative_and_add_up(rows, goal, threshold):
    """Threshold, calibration and ranking are losses, and their sum is the whole."""
    scores, labels, weights = zip(*rows, strict=True)
    direction = "minimize" if goal.startswith("cost") else "maximize"

    split = cp.curve(labels, scores, sample_weight=weights).split_loss(
        **{direction: goal}, threshold=threshold
    )

    parts = [split.threshold, split.calibration or 0.0, split.ranking]
    if math.isnan(split.value):
        assert math.isnan(split.total)
    else:
        assert min(parts) >= 0
        assert split.total == pytest.approx(sum(parts), abs=1e-12)


def test_calibrated_scores_lose_nothing_to_calibration():
    """On many rows, scores that are the probabilities lose to the threshold and to the ranking only."""
    rng = np.random.default_rng(1)
    p = rng.random(200_000)
    y = rng.random(200_000) < p

    split = cp.curve(y, p).split_loss(minimize="cost_per_row(fp=1, fn=4)")

    assert abs(split.believed_at - 0.2) < 1e-3
    assert split.calibration < 1e-3
    assert abs(split.threshold - 0.225) < 0.01  # 5/8 per row at 0.5, 2/5 at 0.2


def test_distorted_scores_lose_to_calibration():
    """Squaring calibrated probabilities keeps the ranking: what is lost more is lost to calibration."""
    rng = np.random.default_rng(2)
    p = rng.random(200_000)
    y = rng.random(200_000) < p

    right, wrong = (cp.curve(y, s).split_loss(maximize="accuracy") for s in (p, p**2))

    assert right.ranking == wrong.ranking
    assert right.calibration < 0.001
    assert wrong.calibration > 0.02
    assert wrong.threshold == 0


def test_isotonic_calibration_gains_no_more_than_the_best_threshold():
    """Recalibrated on the same rows, the threshold for probabilities is as good as the best one, exactly."""
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.3
    s = rng.normal(size=400) + y
    p = IsotonicRegression(out_of_bounds="clip").fit_transform(s, y)

    before, after = (
        cp.curve(y, x).split_loss(minimize="cost(fp=2, fn=5)", threshold=0.5)
        for x in (1 / (1 + np.exp(-s)), p)
    )

    assert 0 == after.calibration
    assert before.best == after.best


def test_scores_that_are_not_probabilities_have_two_parts():
    """Nobody asks a margin of 1.5 to be a probability: threshold and ranking are left."""
    split = cp.curve([0, 1, 0, 1], [-2.0, -1.0, 0.5, 1.5]).split_loss(maximize="f1", threshold=0)

    assert (None, None) == (split.believed, split.calibration)
    assert split.total == split.threshold + split.ranking
    assert "calibration" not in split.sentence
    assert split.to_dict()["loss"]["calibration"] is None


def test_costs_by_column_have_two_parts():
    """Where a miss costs its amount, the scores alone ask for no threshold."""
    curve = cp.curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], columns={"amount": [9, 50, 3, 400]})

    split = curve.split_loss(minimize="cost(fp=5, fn=amount)")

    assert (3, None, 3, 0) == (split.value, split.believed, split.best, split.perfect)


def test_a_broken_constraint_has_no_value():
    """Where the threshold in use breaks a constraint only the ranking can be said."""
    split = cp.curve([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.9]).split_loss(
        maximize="recall", subject_to="precision >= 0.9"
    )

    assert math.isnan(split.value)
    assert math.isnan(split.total)
    assert 0.5 == split.ranking
    assert "no value there, or breaks a constraint" in split.sentence
    assert "no value at 0.5" in repr(split)
    assert split.to_dict()["loss"]["total"] is None


def test_a_bound_on_alarms_bounds_the_perfect_ranking_too():
    """With room for one alarm a perfect ranking finds one positive."""
    split = cp.curve([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.9]).split_loss(
        maximize="recall", subject_to="predicted_positive <= 1"
    )

    assert 0.5 == split.best == split.perfect


def test_infinite_values_lose_nothing_to_each_other():
    """An odds ratio that is infinite at the best threshold has nothing left to gain."""
    split = cp.curve([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.9]).split_loss(maximize="lr_plus")

    assert math.inf == split.best == split.perfect
    assert 0 == split.ranking


def test_own_functions_can_be_split():
    """A goal need not have a name."""
    split = cp.curve([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.9]).split_loss(
        maximize=lambda tp, fp, fn, tn: tp - 2 * fp
    )

    assert (-1, 1, 2) == (split.value, split.best, split.perfect)


def test_bad_input_is_named():
    """One class, no such threshold, and constraints that no threshold meets are errors."""
    with pytest.raises(InvalidInputError, match="split_loss"):
        cp.curve([1, 1], [0.2, 0.3]).split_loss(maximize="accuracy")
    curve = cp.curve([0, 1], [0.2, 0.3])
    with pytest.raises(InvalidParameterError, match="threshold"):
        curve.split_loss(maximize="f1", threshold="a")
    with pytest.raises(InfeasibleError):
        curve.split_loss(maximize="recall", subject_to="precision > 1")

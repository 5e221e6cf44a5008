"""Cross-validation from counts: against the truth of a known population, and on data that are plain."""

import numpy as np
import pytest
from scipy.stats import norm

import cutpoints as cp
from cutpoints._goal import goal
from cutpoints._search.counted_folds import _dealt, cells_on_new_data
from cutpoints._search.folds import FOLDS


def test_folds_deal_out_every_row():
    """The folds add up to the counts, and their sizes differ by one at most."""
    counts = np.array([3, 0, 17, 8, 1])
    folds = _dealt(counts, np.random.default_rng(0))

    assert FOLDS == len(folds)
    assert counts.tolist() == sum(folds).tolist()
    sizes = [int(fold.sum()) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


def test_perfect_scores_stay_perfect():
    """Where every fold finds the same edge, nothing is lost on new data; a cost is for all the rows."""
    positives, negatives = np.array([40, 0]), np.array([0, 60])
    rng = np.random.default_rng(0)

    cells = cells_on_new_data(goal(maximize="f1"), positives, negatives, rng)
    assert {"tp": 40, "fp": 0, "fn": 0, "tn": 60} == cells
    worst = cells_on_new_data(goal(minimize="cost(fp=1, fn=1)"), np.array([40]), np.array([60]), rng)
    assert 40 == worst["fp"] + worst["fn"]


def test_too_few_rows_of_a_class():
    """With fewer rows of a class than folds nothing is said."""
    cells = cells_on_new_data(
        goal(maximize="f1"), np.array([4, 0]), np.array([0, 50]), np.random.default_rng(0)
    )

    assert cells is None


@pytest.mark.parametrize(("n", "prevalence"), [(150, 0.3), (500, 0.05)])
def test_value_of_a_policy_is_that_of_new_data(n, prevalence):
    """Over samples, the value in a policy is the true one, where the value here is far too good."""
    rng = np.random.default_rng(1)
    gaps = []
    for _ in range(150):
        y = (rng.random(n) < prevalence).astype(int)
        if y.sum() < FOLDS:
            continue
        policy = cp.find(y, rng.normal(size=n) + 1.5 * y, maximize="f1").policy()
        tp, fp = prevalence * norm.sf(policy.threshold - 1.5), (1 - prevalence) * norm.sf(policy.threshold)
        truth = 2 * tp / (tp + fp + prevalence)
        gaps.append((policy.found_on.value - truth, policy.found_on.cross_validated - truth))
    optimistic, expected = np.mean(gaps, axis=0)

    assert optimistic > 0.03
    assert abs(expected) < 0.02


def test_few_positives_do_not_make_the_edges_coarse():
    """At 1 % positives, many rows give a threshold whose value holds on new data, and the policy says so."""
    rng = np.random.default_rng(2)
    y = (rng.random(100_000) < 0.01).astype(int)
    solution = cp.find(y, rng.normal(size=len(y)) + 2.2 * y, maximize="recall", subject_to="precision >= 0.3")

    assert pytest.approx(solution.value, rel=0.03) == solution.policy().found_on.cross_validated

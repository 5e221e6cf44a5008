"""Ties that are too many to be held are left out, said to be, and change nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import small_steps
from cutpoints._data.arrays import ArraySource

GOALS = (
    {"maximize": "recall"},
    {"minimize": "fnr"},
    {"maximize": "specificity"},
    {"maximize": "precision"},
    {"maximize": "f1"},
    {"minimize": "cost(fp=1, fn=3)"},
    {"maximize": "recall", "subject_to": "precision >= 0.4"},
    {"maximize": "precision", "subject_to": "recall >= 0.5"},
)


def tight(y, s, weights=None, holds=0):
    """A source that can hand over next to nothing."""
    source = ArraySource.labelled(y, s, sample_weight=weights)
    source.rows_limit = holds
    return source


def chosen(solution):
    """All that a solution says of its cut."""
    return solution.status, solution.threshold, solution.value, solution.interval, solution.confusion


@settings(max_examples=60)
@pytest.mark.parametrize("goal", GOALS, ids=str)
@given(data=st.data())
def test_chosen_cut_is_the_same_however_little_can_be_held(goal, data):
    """The optimum is found, and what ties are told are ties; if some are missing it is said."""
    n = data.draw(st.integers(2, 60))
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[:2] = 0, 1
    s = np.array(data.draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))) / 8
    swept = cp.find(y, s, method="sweep", **goal)
    with small_steps(buckets=8):
        found = cp.find(tight(y, s), method="narrow", **goal)

    assert chosen(swept) == chosen(found)
    all_ties = [tie.threshold for tie in swept.ties]
    ties = [tie.threshold for tie in found.ties]
    assert set(ties) <= set(all_ties)
    if found.status == "optimal":
        assert found.to_dict()["ties_complete"] == found.ties.complete
        if found.ties.complete:
            assert all_ties == ties


def test_plateau_is_not_fetched():
    """Of a hundred thousand equally good cuts, few rows are looked at, and the answer says so."""
    rng = np.random.default_rng(0)
    s = rng.random(100_000)
    y = (s > 0.9).astype(np.int8)
    found = cp.find(tight(y, s, holds=2_000), maximize="recall", method="narrow")

    assert s[y == 1].min() == found.threshold
    assert found.certificate.rows_examined < 20_000
    assert not found.ties.complete
    assert "than can be listed" in repr(found)
    assert len(cp.find(y, s, maximize="recall").ties) == np.count_nonzero(y == 0)

"""Bands beyond memory: buckets are dropped, and the answer is that of all pairs of cuts."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints._data.arrays import ArraySource
from cutpoints._search.band import REVIEWED, PairSum, best_pair
from cutpoints._search.band_narrow import narrow_pairs
from cutpoints._search.sweep import all_cuts


class Small(ArraySource):
    """An array that says it can look at few rows one by one, so that it is narrowed in rounds."""

    def __init__(self, scores, streams, **names):
        super().__init__(scores, streams, **names)
        self.direct_rows = 5
        self.rows_limit = 40


@st.composite
def rows(draw):
    """A few hundred rows, with many ties or none, and weights or none."""
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    size = draw(st.integers(2, 400))
    scores = rng.random(size)
    if draw(st.booleans()):
        scores = scores.round(draw(st.integers(1, 2)))
    y = (rng.random(size) < scores ** draw(st.sampled_from([0.2, 1, 3]))).astype(np.int8)
    weights = rng.random(size) if draw(st.booleans()) else None
    return y, scores, weights


@given(
    rows(),
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 3)),
    st.sampled_from([None, 0.05, 0.3]),
    st.sampled_from([None, 6, 8, 10]),
)
def test_narrowing_never_drops_the_best_pair(data, costs, capacity, tenths):
    """The pair among the cuts that are left is the best of all cuts, with its sums and its tie rule."""
    y, scores, weights = data
    source = Small.labelled(y, scores, sample_weight=weights)
    cuts = all_cuts(ArraySource.labelled(y, scores, sample_weight=weights))
    positives, negatives = cuts.summary.positives, cuts.summary.negatives
    fp, fn, review = costs
    objective = PairSum((-review, fp - review), (review - fn, review), fn * positives)
    bounds = []
    if capacity is not None or review == 0:
        room = int((capacity or 0.1) * (positives + negatives))
        bounds.append(PairSum(REVIEWED.upper, REVIEWED.lower, -room))
    if tenths is not None:  # accuracy of the automatic decisions
        upper, lower = (tenths - 10, tenths), (-tenths, 10 - tenths)
        bounds.append(PairSum(upper, lower, tenths * positives + (tenths - 10) * negatives))
    expected = best_pair(cuts, objective, bounds)
    left = narrow_pairs(source, objective, bounds).cuts
    found = best_pair(left, objective, bounds)
    if expected is None:
        assert found is None
        return
    for one, other in zip(expected[:2], found[:2], strict=True):
        assert cuts.thresholds[one] == left.thresholds[other]
        assert (cuts.tp[one], cuts.fp[one]) == (left.tp[other], left.fp[other])
        assert cuts.below[one] == left.below[other]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A file of more rows than are compared one by one, and its arrays."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.7, 2, 300_000)
    y = (rng.random(len(p)) < p).astype(np.int8)
    path = tmp_path_factory.mktemp("large") / "s.parquet"
    pl.DataFrame({"y": y, "p": p}).write_parquet(path)
    return y, p, path


@pytest.mark.parametrize(
    "goal",
    [
        {"minimize": "cost(fp=5, fn=20, review=1)"},
        {"minimize": "cost(fp=5, fn=20, review=1)", "capacity": 20_000},
        {"maximize": "coverage", "subject_to": "accuracy >= 0.9"},
        {"maximize": "coverage", "subject_to": ["precision >= 0.9", "npv >= 0.95"]},
        {"maximize": "coverage", "subject_to": "accuracy >= 0.9", "capacity": 10},
    ],
    ids=str,
)
def test_lazy_frames_give_the_same(large, goal):
    """A lazy frame is read in passes, few of its rows are examined, and the band is that of arrays."""
    y, p, path = large
    expected = cp.find_band(y, p, **goal)
    found = cp.find_band(pl.scan_parquet(path), label="y", score="p", **goal)
    for name in ("status", "low", "high", "value", "confusion", "reviewed", "low_interval", "high_interval"):
        assert getattr(expected, name) == getattr(found, name), name
    assert expected.least_reviewed == found.least_reviewed
    assert found.certificate.rows_examined < len(y) / 2
    if found.status == "optimal":
        assert expected.single.threshold == found.single.threshold
        assert expected.cross_validated.value == pytest.approx(found.cross_validated.value, rel=0.01)
        assert "cross-validated" in repr(found)

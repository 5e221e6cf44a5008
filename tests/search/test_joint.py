"""The joint search against HiGHS on the whole integer program, and its parts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from cutpoints._goal import goal
from cutpoints._kernel.segment_cuts import SegmentCuts
from cutpoints._kernel.weights import FixedPoint
from cutpoints._search import joint
from cutpoints._search.hulls import chain, upper_hulls
from cutpoints._search.linear_goal import linear_goal
from cutpoints._search.points import Points

GOALS = (
    {"maximize": "recall", "subject_to": "precision >= 0.8"},
    {"maximize": "recall", "subject_to": ["precision >= 0.7", "predicted_positive_rate <= 0.2"]},
    {"minimize": "cost(fp=1, fn=5)", "subject_to": "predicted_positive_rate <= 0.15"},
    {"maximize": "accuracy", "subject_to": ["recall >= 0.6", "fpr <= 0.2", "precision >= 0.5"]},
    {"minimize": "predicted_positive", "subject_to": ["recall >= 0.7", "precision >= 0.6"]},
    {"maximize": "predicted_positive", "subject_to": ["precision >= 0.75", "predicted_positive <= 100"]},
)


def simulated(segments, rows, rng, decimals=None):
    """Cuts of segments that differ; with few decimals scores tie, and small segments have one class."""
    sizes = rng.integers(1, 2 * rows, segments)
    by = np.repeat(np.arange(segments), sizes)
    y = rng.random(len(by)) < rng.beta(1, 3, segments)[by]
    s = rng.normal(size=len(by)) + y * rng.uniform(0.3, 2.5, segments)[by]
    s = s if decimals is None else s.round(decimals)
    return SegmentCuts.of(
        s, by, y.astype(np.int64), 1 - y.astype(np.int64), grid=FixedPoint(), rows=sizes.astype(np.int64)
    )


def whole_program(cuts, wanted):
    """The optimum of one binary variable per cut, by HiGHS; None if it is infeasible."""
    size = len(cuts.tp)
    pick_one = coo_array((np.ones(size), (cuts.segment, np.arange(size))), shape=(len(cuts), size))
    rows = [LinearConstraint(pick_one, 1, 1)]
    # Where a metric is 0/0, its constraint is not met.
    every = [line for bound in wanted.constraints for line in (bound.line, *bound.defined)]
    rows += [
        LinearConstraint((line.tp * cuts.tp + line.fp * cuts.fp)[None, :], -line.constant, np.inf)
        for line in every
    ]
    aim = wanted.above.tp * cuts.tp + wanted.above.fp * cuts.fp
    found = milp(
        -aim, constraints=rows, integrality=np.ones(size), bounds=Bounds(0, 1), options={"mip_rel_gap": 0}
    )
    return (
        None
        if found.x is None
        else Fraction(round(-found.fun) + wanted.above.constant, wanted.under.constant)
    )


def check(seed, segments, rows, decimals):
    """Compare one random problem."""
    rng = np.random.default_rng(seed)
    cuts = simulated(segments, rows, rng, decimals)
    wanted = linear_goal(goal(**GOALS[seed % len(GOALS)]), cuts.total, caller="find_joint")
    found = joint.solve(Points.of(cuts), wanted)
    best = whole_program(cuts, wanted)

    assert best == (None if found is None else found.value)
    assert found is None or found.proven


@pytest.mark.parametrize("seed", range(24))
def test_highs_finds_nothing_better(seed):
    """On the whole integer program HiGHS finds the same value, also with ties and one-class segments."""
    check(seed, segments=2 + seed % 5, rows=12, decimals=1 if seed % 2 else None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_highs_finds_nothing_better_in_larger_problems(seed):
    """The same with up to thirty segments and some thousand cuts."""
    check(seed, segments=2 + seed % 29, rows=10 + seed % 70, decimals=[None, 1, 2][seed % 3])


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9),
        min_size=1,
        max_size=4,
    )
)
def test_hulls_of_many_curves(steps):
    """Hulls of several curves at once are those of each curve by itself."""
    curves = [np.cumsum(np.array([(0, 0), *curve]), axis=0) for curve in steps]
    first = np.concatenate([[0], np.cumsum([len(curve) for curve in curves])])
    x, y = np.concatenate(curves).T
    expected = []
    for start, curve in zip(first, curves, strict=False):
        new = [i for i in range(len(curve)) if i == 0 or (curve[i] != curve[i - 1]).any()]
        expected += [start + new[i] for i in chain([tuple(curve[i]) for i in new])]

    assert expected == upper_hulls(x, y, first).tolist()


@given(st.integers(0, 10**6), st.integers(-(2**70), 2**70), st.integers(-(2**70), 2**70))
def test_the_best_point_in_a_direction(seed, tp, fp):
    """The best point of each segment is found in integers, however large the coefficients."""
    cuts = simulated(3, 6, np.random.default_rng(seed), 1)
    points = Points.of(cuts)
    for segment, pick in enumerate(points.best(tp, fp).tolist()):
        values = [
            tp * int(points.tp[i]) + fp * int(points.fp[i])
            for i in range(points.first[segment], points.first[segment + 1])
        ]
        assert max(values) == tp * int(points.tp[pick]) + fp * int(points.fp[pick])


def test_too_many_combinations_are_not_called_optimal(monkeypatch):
    """If combinations must be dropped to save memory, the bound and the value need not meet, and it shows."""
    monkeypatch.setattr(joint, "STATES", (1,))
    rng = np.random.default_rng(2)
    proven = []
    for _ in range(20):
        cuts = simulated(30, 30, rng)
        wanted = linear_goal(goal(**GOALS[0]), cuts.total, caller="find_joint")
        found = joint.solve(Points.of(cuts), wanted)
        if found is not None:
            assert found.value <= found.bound
            if not found.proven:
                best = whole_program(cuts, wanted)
                assert found.value <= best <= found.bound
            proven.append(found.proven)

    assert not all(proven)

"""Weights that are split late: exact sums against fractions, and floats against what they promise."""

import copy
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutpoints._kernel.masses import bit_range, grain
from cutpoints._kernel.weighed import Unsplit, Weighed
from strategies import AWKWARD

weights = st.one_of(
    st.just(0.0),
    st.sampled_from(AWKWARD),
    st.floats(1e-100, 1e100),
    st.integers(0, 2**53).map(float),
)


@st.composite
def weighed(draw):
    """Rows with a positive or a negative mass each, and where a distinct score starts."""
    sizes = draw(st.lists(weights, min_size=1, max_size=40))
    sides = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    rows = np.array([complex(w, 0) if s else complex(0, w) for w, s in zip(sizes, sides, strict=True)])
    fresh = draw(
        st.sampled_from(
            [np.ones(len(rows)), np.zeros(len(rows)), np.arange(len(rows)) % 5 == 0, np.arange(len(rows)) % 2]
        )
    ).astype(bool)
    fresh[0] = True
    return rows, fresh


@given(weighed(), st.integers(0, 1))
def test_masses_that_are_not_split_yet(data, nobody):
    """Running sums: exact ones one by one and all at once, and floats within what they promise."""
    rows, begins = data
    unit = grain([bit_range(rows.view(float))], len(rows))
    both = Weighed(rows, unit, None if begins.all() else begins)
    first = np.flatnonzero(begins)
    starts = [len(rows)] * nobody + (first if both.by_score else np.arange(len(rows)))[::-1].tolist()
    every = np.arange(len(starts))
    for side in ("real", "imag"):
        masses = [Fraction(x) / unit.fraction(1) for x in getattr(rows, side).tolist()]
        truth = [int(sum(masses[start:])) for start in starts]
        rest = [int(sum(masses[:start])) for start in starts]
        rough = Unsplit(both, side).roughly_from_top(nobody)

        assert len(truth) == len(rough)
        assert truth == rough[every].integers()
        assert truth == [rough.integer(i) for i in range(len(truth))]
        assert truth[-1] == rough.integer(-1)
        assert truth[:3] == rough[every[:3]].integers()
        assert truth == copy.copy(rough.later(every)).integers()
        assert truth[::-2] == rough.later(every[::-2].copy()).integers()
        wrapped = rough.wrapped(every)
        assert (wrapped is not None) == both.short
        assert wrapped is None or [whole % 2**64 for whole in truth] == wrapped.tolist()
        room = Fraction(rough.roundings, 2**53)
        for floats, integers in zip(rough.floats_and_rest(), (truth, rest), strict=True):
            for value, whole in zip(floats.tolist(), integers, strict=True):
                assert abs(Fraction(value) - unit.fraction(whole)) <= room * unit.fraction(whole)
        for at in (0, len(truth) // 2, len(truth) - 1):
            assert [whole == truth[at] for whole in truth] == [rough.same(at, i) for i in every]
            for apart in (rough.apart(every, at), rough[:].apart(every, at)):
                for value, whole in zip(apart.tolist(), truth, strict=True):
                    difference = unit.fraction(abs(whole - truth[at]))
                    assert abs(abs(Fraction(value)) - difference) <= 4 * room * difference
                    assert (value > 0) - (value < 0) == (whole > truth[at]) - (whole < truth[at])
        distinct = [0] * nobody + [int(sum(masses[start:])) for start in first[::-1]]
        assert distinct == Unsplit(both, side).from_top(nobody).integers()
        assert truth == rough[:].integers()
        assert [whole % 2**64 for whole in truth] == rough.wrapped(every).tolist()
        assert truth == [rough.integer(i) for i in range(len(truth))]
        assert truth[::2] == rough[every % 2 == 0].integers()
    assert both.total == tuple(Unsplit(both, side).total() for side in ("real", "imag"))


@pytest.mark.parametrize("share", [0.5, 0.01, 0.0, 1.0])
@pytest.mark.parametrize("apart", [False, True], ids=["mixed", "apart"])
def test_sums_of_many_rows_from_both_ends(share, apart):
    """Floats keep their promise where classes are rare, missing, or each at an end of its own."""
    rng = np.random.default_rng(1)
    sizes, positive = rng.lognormal(0, 4, 2_001), rng.random(2_001) < share
    if apart:
        positive = np.sort(positive)
    rows = sizes * np.where(positive, 1, 1j)
    unit = grain([bit_range(sizes)], len(sizes))
    both = Weighed(rows, unit)
    for side in ("real", "imag"):
        exact = Unsplit(both, side).from_top(1)
        rough = Unsplit(both, side).roughly_from_top(1)
        total = exact.integer(-1)
        for floats, integers in (
            (rough.floats(), exact.integers()),
            (rough.floats_and_rest()[1], [total - whole for whole in exact.integers()]),
        ):
            for value, whole in zip(floats.tolist(), integers, strict=True):
                truth = both.unit.fraction(whole)
                assert abs(Fraction(value) - truth) <= Fraction(rough.roundings, 2**53) * truth


@pytest.mark.parametrize("share", [0.5, 1e-4, 0.0])
@pytest.mark.parametrize(
    "sizes",
    [
        lambda rng, rows: np.full(rows, 0.1),
        lambda rng, rows: 1 + 1e-15 * rng.integers(0, 8, rows),
        lambda rng, rows: np.floor(rng.random(rows) * 2.0**62),
        lambda rng, rows: np.where(rng.random(rows) < 1e-3, 2.0**61, 1.0),
    ],
    ids=["one", "nearly equal", "long", "few heavy"],
)
def test_sums_that_are_exact_by_their_last_bits(sizes, share):
    """Floats and the sums modulo 2**64 together are the sums, of as many rows as there can be."""
    rng = np.random.default_rng(2)
    rows = 1 << 20
    weights, positive = sizes(rng, rows), rng.random(rows) < share
    unit = grain([bit_range(weights)], rows)
    both = Weighed(weights * np.where(positive, 1, 1j), unit)
    places = np.unique(rng.integers(0, rows + 1, 200))
    whole = [int(Fraction(x) / unit.fraction(1)) for x in weights.tolist()]
    assert both.short
    for side, mine in (("real", positive), ("imag", ~positive)):
        sums = [0, *itertools.accumulate(x if m else 0 for x, m in zip(whole[::-1], mine[::-1], strict=True))]
        truth = [sums[i] for i in places]
        rough = Unsplit(both, side).roughly_from_top(1)

        assert truth == [rough.integer(i) for i in places.tolist()]
        assert truth == rough[places].integers()
        assert truth == rough.later(places).integers()

"""Sums of products of masses and long integers, against Python's integers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cutpoints._kernel.digits import Digits
from cutpoints._kernel.masses import INT_BITS, LIMB_BITS, Masses, Unit


@st.composite
def sums(draw):
    """A constant and terms: factors of any length and sign, and as many masses for each."""
    limbs, size = draw(st.integers(1, 20)), draw(st.integers(1, 12))
    largest = 2 ** (LIMB_BITS * (limbs - 1) + INT_BITS) - 1
    mass = st.one_of(
        st.integers(0, largest), st.sampled_from([0, 1, largest, 2**LIMB_BITS - 1, 2**LIMB_BITS])
    )
    factor = st.one_of(st.integers(-(2**900), 2**900), st.integers(-3, 3), st.just(2**18), st.just(-(2**36)))
    masses = st.lists(mass.map(lambda x: min(x, largest)), min_size=size, max_size=size)
    terms = draw(st.lists(st.tuples(factor, masses), min_size=1, max_size=3))
    return Unit(0, limbs), draw(factor), terms


@example((Unit(0, 1), -(2**62 - 1), [(1, [2**62 - 1, 2**62 - 2, 0])]))
@example((Unit(0, 20), 0, [(-(2**700) + 1, [2**740, 0]), (2**700 - 1, [2**740, 1])]))
@given(sums())
def test_signs_and_the_largest(case):
    """The signs are those of the sums, and the largest are found."""
    unit, constant, terms = case
    columns = zip(*(masses for _, masses in terms), strict=True)
    truth = [constant + sum(f * m for (f, _), m in zip(terms, row, strict=True)) for row in columns]

    digits = Digits.sums(constant, [(factor, Masses.from_integers(masses, unit)) for factor, masses in terms])

    assert [(x > 0) - (x < 0) for x in truth] == digits.signs().tolist()
    assert [i for i, x in enumerate(truth) if x == max(truth)] == digits.largest().tolist()
    for shift in (-1000, -1700):
        for value, whole in zip(digits.floats(shift).tolist(), truth, strict=True):
            exact = Fraction(whole) * Fraction(2) ** shift
            assume(abs(exact) < 2**1000 and (exact == 0 or abs(exact) > Fraction(1, 2**900)))
            assert abs(Fraction(value) - exact) <= abs(exact) / 2**50


@pytest.mark.parametrize("limbs", [1, 20])
def test_many_equal_sums(limbs):
    """Of sums that are all zero all are the largest."""
    masses = Masses.from_integers([5**40 % 2**62] * 1000, Unit(0, limbs))
    digits = Digits.sums(0, [(7**300, masses), (-(7**300), masses)])

    assert not digits.signs().any()
    assert list(range(len(digits.rows[0]))) == digits.largest().tolist()
    assert np.int8 == digits.signs().dtype

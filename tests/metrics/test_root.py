"""Irrational roots: compared exactly, against fractions of many digits."""

import decimal
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cutpoints.metrics._root import ROOT_DIGITS, Root, exact_root

squares = st.one_of(
    st.fractions(min_value=0, max_value=10**6),
    st.builds(Fraction, st.integers(1, 10**200), st.integers(1, 10**200)),
    st.builds(lambda x: Fraction(x) ** 2, st.fractions(0, 10**6)),
)
numbers = st.one_of(
    squares.map(exact_root), squares.map(lambda x: -exact_root(x)), st.fractions(-(10**6), 10**6)
)


def digits(x):
    """The number as a fraction of many digits."""
    if not isinstance(x, Root):
        return Fraction(x)
    with decimal.localcontext(decimal.Context(prec=ROOT_DIGITS + 20, Emin=-(10**6), Emax=10**6)):
        return x.sign * Fraction(
            (decimal.Decimal(x.square.numerator) / decimal.Decimal(x.square.denominator)).sqrt()
        )


@given(squares)
def test_root_of_a_square_is_rational_and_no_other(square):
    """The root of a square is a fraction; of all else it is a `Root` of that."""
    found = exact_root(square)

    if isinstance(found, Root):
        assert found.square == square
        top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
        assert (top * top, bottom * bottom) != (square.numerator, square.denominator)
    else:
        assert found >= 0
        assert found * found == square


@given(numbers, numbers)
def test_comparisons(a, b):
    """Roots and fractions are in the order of their digits."""
    difference = digits(a) - digits(b)

    assert (a < b, a == b, a > b) == (difference < 0, difference == 0, difference > 0)
    assert (a <= b, a != b, a >= b) == (difference <= 0, difference != 0, difference >= 0)
    assert a != b or hash(a) == hash(b)


@given(numbers)
def test_comparisons_with_floats(a):
    """Infinity is beyond, and NaN is nowhere."""
    assert -math.inf < a < math.inf
    assert not a > math.inf
    nan = float("nan")
    assert [False] * 5 == [a < nan, a > nan, a <= nan, a >= nan, a == nan]
    assert (a < 0.5) == (digits(a) < Fraction(1, 2))
    assert (0.5 < a) == (digits(a) > Fraction(1, 2))


def test_roots_that_agree_to_hundreds_of_digits_differ():
    """No number of digits decides."""
    square = Fraction(2)
    assert Root(square) < Root(square + Fraction(1, 10**2000))


@given(numbers)
def test_floats_are_rounded_once(a):
    """The float is the nearest one."""
    assert float(a) == float(digits(a))


@given(numbers, numbers)
def test_arithmetic(a, b):
    """Products and quotients are exact, sums to `ROOT_DIGITS` digits."""
    x, y = digits(a), digits(b)
    room = (abs(x) + 1) * (abs(y) + 1) / Fraction(10) ** (ROOT_DIGITS - 50)

    assert abs(digits(a * b) - x * y) <= room
    assert abs(digits(a + b) - (x + y)) <= room
    assert abs(digits(a - b) - (x - y)) <= room
    assert abs(digits(-a) + x) <= room
    assert abs(digits(abs(a)) - abs(x)) <= room
    assume(b != 0)
    assert abs(digits(a / b) - x / y) <= room * (1 + 1 / y**2)


def test_product_of_equal_roots_is_rational():
    """What is rational is a fraction again."""
    assert Root(Fraction(2)) * Root(Fraction(8)) == 4
    assert type(Root(Fraction(2)) / Root(Fraction(8))) is Fraction


@pytest.mark.parametrize("other", ["1", 1.5, None, 1j])
def test_other_types_are_not_multiplied(other):
    """Whatever is not exact is refused, and not rounded silently."""
    with pytest.raises(TypeError):
        Root(Fraction(2)) * other
    with pytest.raises(TypeError):
        Root(Fraction(2)) / other
    with pytest.raises(TypeError):
        other / Root(Fraction(2))

"""Exact sums: masses against Python's own integers and fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cutpoints._kernel.bands import MOST_ROWS
from cutpoints._kernel.masses import (
    BLOCK_ROWS,
    LIMB_BITS,
    Masses,
    Unit,
    bit_range,
    grain,
    number,
    outer_bits,
    scaled,
)
from strategies import AWKWARD, float_weights

units = st.builds(Unit, st.integers(-300, 50), st.integers(1, 20))
weights = st.one_of(
    st.just(0.0),
    st.sampled_from(AWKWARD),
    st.floats(1e-100, 1e100),
    st.integers(0, 2**53).map(float),
)


def masses_of(integers, unit):
    """A vector of the given whole numbers."""
    parts = [Masses.scalar(integer, unit) for integer in integers]
    limbs = np.concatenate([part.limbs for part in parts], axis=1)
    return Masses(limbs, unit)


@st.composite
def vectors(draw, count=1):
    """A unit, and lists of equally many whole numbers that fit its limbs with room to add."""
    unit = draw(units)
    size = draw(st.integers(1, 8))
    most = 2 ** (LIMB_BITS * unit.limbs) - 1
    one = st.lists(st.integers(0, most), min_size=size, max_size=size)
    return unit, *(draw(one) for _ in range(count))


@given(vectors())
def test_integers_come_back(vector):
    """Whole numbers of any length are held in limbs and come back unchanged."""
    unit, integers = vector
    masses = masses_of(integers, unit)

    assert integers == masses.integers()
    assert integers == [masses.integer(i) for i in range(len(masses))]
    assert sum(integers) == masses.total()
    assert len(integers) == len(masses)


@given(vectors(2))
def test_sums_and_differences(pair):
    """Vectors add and subtract like whole numbers, elementwise, also below zero."""
    unit, a, b = pair
    x, y = masses_of(a, unit), masses_of(b, unit)

    assert [i + j for i, j in zip(a, b, strict=True)] == (x + y).integers()
    assert [i - j for i, j in zip(a, b, strict=True)] == (x - y).integers()


@given(vectors())
def test_one_mass_against_many(vector):
    """A scalar is subtracted from, and added to, every element."""
    unit, integers = vector
    total = Masses.scalar(sum(integers) % 2 ** (LIMB_BITS * unit.limbs), unit)
    masses = masses_of(integers, unit)

    assert [total.total() - i for i in integers] == (total - masses).integers()


@given(vectors())
def test_sum_of_those_before(vector):
    """`before` is the running sum without the element itself."""
    unit, integers = vector
    expected = [0, *itertools.accumulate(integers)][:-1]

    assert expected == masses_of(integers, unit).before().integers()


@given(vectors(2))
def test_one_after_the_other(pair):
    """`followed_by` appends, and slices and index arrays pick elements."""
    unit, a, b = pair
    masses = masses_of(a, unit).followed_by(masses_of(b, unit))

    assert a + b == masses.integers()
    assert (a + b)[::-1] == masses[::-1].integers()
    assert [a[0], b[-1]] == masses[np.array([0, len(masses) - 1])].integers()


@given(vectors())
def test_carried_limbs_are_small(vector):
    """After carrying, every limb but the highest is in [0, 2**36), and the values are the same."""
    unit, integers = vector
    doubled = Masses(masses_of(integers, unit).limbs * 3, unit)
    carried = doubled.carried()

    assert [3 * i for i in integers] == carried.integers()
    assert ((carried.limbs[:-1] >= 0) & (carried.limbs[:-1] < 2**LIMB_BITS)).all()


@given(vectors())
def test_floats_are_close(vector):
    """Floats are the true masses to within one rounding per limb."""
    unit, integers = vector
    for integer, value in zip(integers, masses_of(integers, unit).floats(), strict=True):
        true = unit.fraction(integer)
        assert abs(Fraction(float(value)) - true) <= true * unit.limbs * Fraction(1, 2**52)


@given(st.lists(st.integers(0, 2**53), min_size=1, max_size=8))
def test_floats_of_counts_are_exact(integers):
    """Counts up to 2**53 are the very floats."""
    assert [float(i) for i in integers] == masses_of(integers, Unit()).floats().tolist()


@given(units, st.integers(0, 2**700))
def test_fraction_of_a_unit(unit, integer):
    """A unit is a power of two, and masses are its multiples."""
    assert Fraction(integer) * Fraction(2) ** unit.exponent == unit.fraction(integer)


@given(st.lists(weights, min_size=1, max_size=12))
def test_weights_in_their_grain_are_exact(values):
    """In the unit that `grain` chooses, the limbs of every weight add up to that very float."""
    column = np.array(values)
    unit = grain([bit_range(column)], len(values))
    limbs = unit.split(column)

    assert unit.limbs == len(limbs)
    for i, value in enumerate(values):
        integer = sum(int(limb[i]) << (LIMB_BITS * place) for place, limb in enumerate(limbs))
        assert Fraction(value) == unit.fraction(integer)
        assert all(limb[i] == np.floor(limb[i]) for limb in limbs)


@given(st.data(), st.integers(1, 12))
def test_sum_of_weights_is_the_true_sum(data, size):
    """Floats that lose digits when added as floats are added without loss, in any order."""
    values = data.draw(float_weights(size))
    column = np.array(values)
    unit = grain([bit_range(column)], size)
    limbs = np.array(unit.split(column)).astype(np.int64)
    shuffled = data.draw(st.permutations(range(size)))

    assert sum(map(Fraction, values)) == unit.fraction(Masses(limbs, unit).total())
    assert Masses(limbs, unit).total() == Masses(limbs[:, shuffled], unit).total()


@given(st.lists(st.tuples(weights, weights), min_size=1, max_size=40), st.data())
def test_sums_of_pairs_and_of_their_runs_are_the_true_sums(pairs, data):
    """Without splitting weights into limbs one by one: in all, and run by run."""
    values = np.array([complex(*pair) for pair in pairs])
    unit = grain([bit_range(values.view(float))], len(pairs))
    starts = sorted(data.draw(st.sets(st.integers(1, len(pairs)))) - {len(pairs)} | {0})
    whole = [[int(Fraction(x) / unit.fraction(1)) for x in side] for side in zip(*pairs, strict=True)]

    runs = list(itertools.pairwise([*starts, None]))
    truths = [tuple(sum(side[i:j]) for side in whole) for i, j in runs]
    assert [tuple(map(sum, whole))] == unit.integers_of_runs(values, [0])
    assert truths == unit.integers_of_runs(values, starts)
    values.imag[values.real != 0] = 0
    for truth, (pos, neg), (i, j) in zip(
        truths, unit.integers_of_runs(values, starts, either=True), runs, strict=True
    ):
        assert truth[0] == pos
        assert sum(map(Fraction, values.imag[i:j].tolist())) == unit.fraction(neg)
    values = np.array([complex(*pair) for pair in pairs])
    for truth, masses in zip(whole, unit.masses_of_runs(values, np.array(starts)), strict=True):
        assert [sum(truth[i:j]) for i, j in itertools.pairwise([*starts, None])] == masses.integers()
        assert all((masses.limbs[:-1] >= 0).ravel())
        assert all((masses.limbs[:-1] < 2**LIMB_BITS).ravel())


@pytest.mark.parametrize("rows", [0, 1, 2, 1000, BLOCK_ROWS - 1, BLOCK_ROWS, 3 * BLOCK_ROWS + 7])
@pytest.mark.parametrize("ones", range(28, 53))
def test_sums_of_many_rows_are_not_rounded(rows, ones):
    """Of values that end in many ones, wherever they are cut: parts of two bits more would be rounded."""
    first, second = 1 + (2**ones - 1) * 2.0**-52, (2**ones - 1) * 2.0**-60
    values = np.full(rows, complex(first, second))
    unit = grain([bit_range(np.array([first, second]))], max(rows, 1))
    truth = tuple(int(rows * Fraction(x) / unit.fraction(1)) for x in (first, second))

    assert [truth] == unit.integers_of_runs(values, [0])
    if rows > 1:
        halves = unit.masses_of_runs(values, np.array([0, rows // 2]))
        assert truth == tuple(side.total() for side in halves)


@pytest.mark.parametrize("rows", [1, 1000, MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1])
@pytest.mark.parametrize("top", range(8))
@pytest.mark.parametrize("either", [True, False])
def test_sums_by_exponent_are_not_rounded(rows, top, either):
    """Of numbers all of whose bits are set, in each of the exponents that go to one band; and a tiny one."""
    full, tiny = (2 - 2.0**-52) * 2.0 ** (top - 3), 2.0**-300
    values = np.full(rows, complex(full, 0 if either else full))
    values[rows // 2] = complex(0, tiny)
    unit = grain([(-353, 10)], rows)
    pos = int(Fraction(full) / unit.fraction(1))

    first = (rows // 2 * pos, 0 if either else rows // 2 * pos)
    rest = rows - rows // 2 - 1
    second = rest * pos, (0 if either else rest * pos) + int(Fraction(tiny) / unit.fraction(1))
    starts = [0, rows // 2] if rows > 1 else [0]
    assert ([first] if rows > 1 else []) + [second] == unit.integers_of_runs(values, starts, either=either)


@given(st.lists(weights, min_size=1, max_size=12))
def test_digits_of_weights_are_exact(values):
    """The highest limb and two more are all that a weight has."""
    column = np.array(values)
    unit = grain([bit_range(column)], len(values))
    assume(unit.limbs > 1)
    highest, digits = unit.digits(column)

    for i, value in enumerate(values):
        parts = [int(digit[i]) for digit in digits]
        assert [float(part) for part in parts] == [digit[i] for digit in digits]
        assert all(0 <= part < 2**LIMB_BITS for part in parts)
        whole = sum(
            Fraction(part) * Fraction(2) ** (LIMB_BITS * (int(highest[i]) - j))
            for j, part in enumerate(parts)
        )
        assert Fraction(value) == whole * unit.fraction(1)
        assert 0 <= highest[i] < unit.limbs


@given(st.lists(weights, min_size=1, max_size=8))
def test_bit_range_holds_all_bits(values):
    """Every value is a multiple of 2**low and below 2**high, and neither can be tightened."""
    found = bit_range(np.array(values))
    nonzero = [Fraction(v) for v in values if v]
    if not nonzero:
        assert None is found
        return
    low, high = found

    assert all((v / Fraction(2) ** low).denominator == 1 for v in nonzero)
    assert any((v / Fraction(2) ** (low + 1)).denominator != 1 for v in nonzero)
    assert max(nonzero) < Fraction(2) ** high
    assert max(nonzero) >= Fraction(2) ** (high - 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_bit_range_of_other_types(dtype):
    """float32 and whole numbers have the bit range of their values."""
    assert (0, 3) == bit_range(np.array([4, 1, 0], dtype=dtype))


@pytest.mark.parametrize(
    ("ranges", "rows", "unit"),
    [
        ([None], 10, Unit()),
        ([], 10, Unit()),
        ([(0, 3)], 10**6, Unit()),
        ([None, (0, 3), (2, 5)], 10**6, Unit()),
        ([(-1, 3)], 100, Unit(-1, 1)),
        ([(0, 53)], 100, Unit(0, 2)),
        ([(-40, 1)], 10**9, Unit(-40, 2)),
    ],
)
def test_grain_is_as_coarse_as_it_can_be(ranges, rows, unit):
    """Whole numbers of a small sum need one limb of unit 1; finer or longer ones need more."""
    assert unit == grain(ranges, rows)


@example(low=0, bits=24, rows=2**29 + 1)
@given(low=st.integers(-400, 300), bits=st.integers(1, 700), rows=st.integers(1, 10**12))
def test_grain_leaves_room_for_the_sum(low, bits, rows):
    """The sum over all rows of the largest value fits the limbs, the highest below 2**62."""
    unit = grain([(low, low + bits)], rows)
    largest = rows * (2**bits - 1)
    if unit == Unit():
        assert low >= 0
        assert rows * 2 ** (low + bits) <= 2**53
    else:
        assert low == unit.exponent
        assert largest >> (LIMB_BITS * (unit.limbs - 1)) < 2**62
        # One block of limbs adds up in float64 without rounding.
        assert min(bits, LIMB_BITS) + (BLOCK_ROWS - 1).bit_length() <= 53


@pytest.mark.parametrize(
    ("mass", "expected"),
    [
        (Fraction(3), 3),
        (Fraction(0), 0),
        (Fraction(1, 2), 0.5),
        (Fraction(1, 10), 0.1),
        (Fraction(2**62), 2**62),
        (Fraction(2**70), float(2**70)),
        (Fraction(10) ** 100, 1e100),
    ],
)
def test_number_is_what_people_expect(mass, expected):
    """Whole masses are ints, others are rounded once to float."""
    found = number(mass)

    assert expected == found
    assert type(expected) is type(found)


@given(st.lists(st.floats(0, 1e100, width=64), max_size=20), st.sampled_from([np.float64, np.float32]))
def test_outer_bits_hold_all_bits(values, dtype):
    """The quick range is never narrower than the exact one, and is none where that is none."""
    with np.errstate(over="ignore"):
        column = np.array(values, dtype=dtype)
    column = column[np.isfinite(column)]
    exact, outer = bit_range(column), outer_bits(column)

    assert (exact is None) == (outer is None)
    if exact is not None and outer is not None:
        assert outer[0] <= exact[0]
        assert exact[1] <= outer[1]


@given(st.lists(st.floats(allow_nan=False), max_size=9), st.integers(-1100, 1100))
def test_scaling_is_that_of_ldexp(values, exponent):
    """A product with a power of two is rounded as ldexp rounds."""
    column = np.array(values, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        assert np.array_equal(np.ldexp(column, exponent), scaled(column, exponent))


@given(st.lists(st.integers(0, 2**80), max_size=6), st.integers(0, 60), st.integers(-70, 20))
def test_masses_in_a_coarser_grain(wholes, shift, exponent):
    """Multiples of the coarser grain stay what they are."""
    fine, coarse = Unit(exponent, 5), Unit(exponent + shift, 3)
    columns = [Masses.scalar(whole << shift, fine).limbs for whole in wholes]
    masses = Masses(np.concatenate([np.zeros((5, 0), np.int64), *columns], axis=1), fine)

    assert wholes == masses.to(coarse).integers()


@given(
    st.one_of(st.sampled_from(AWKWARD[1:]), st.floats(1e-100, 1e100)),
    st.lists(st.integers(0, 2**40), min_size=1, max_size=5),
)
def test_rows_of_one_weight_are_counted(weight, counts):
    """The unit makes the weight: a count is so many times that, as a fraction, a number or a float."""
    unit = Unit.of_each(weight)
    masses = masses_of(counts, unit)
    truth = [count * Fraction(weight) for count in counts]
    fine = Unit(-400, 24)

    assert 1 == unit.limbs
    assert truth == [unit.fraction(count) for count in counts]
    assert [number(mass) for mass in truth] == [unit.number(count) for count in counts]
    assert all(
        abs(Fraction(x) - y) <= y / 2**51 for x, y in zip(masses.floats().tolist(), truth, strict=True)
    )
    assert truth == [fine.fraction(whole) for whole in masses.to(fine).integers()]

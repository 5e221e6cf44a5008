"""Numbers, tables and JSON for people."""

import json
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints._format import (
    count,
    exact,
    html_pairs,
    json_number,
    p_value,
    percent,
    short,
    shortest_inside,
    text_table,
    to_json,
    value,
)

floats = st.floats(allow_nan=False, allow_infinity=False)
singles = st.floats(allow_nan=False, allow_infinity=False, width=32)


def digits(text):
    """Return how many significant digits a decimal has; zero has one."""
    return len(text.split("e")[0].replace("-", "").replace(".", "").strip("0")) or 1


@given(floats, floats)
@example(0.1, math.nextafter(0.1, 1))
@example(-math.inf, -3.27)
@example(0.0, 5e-324)
@example(-5e-324, 0.0)
def test_the_shortest_decimal_is_inside(a, b):
    """The text, read as a float, lies in the interval, so that it makes the same decisions."""
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low < float(shortest_inside(low, high)) <= high


@given(singles, singles)
@example(float(np.float32(0.1)), float(np.nextafter(np.float32(0.1), np.float32(1))))
def test_the_shortest_decimal_is_inside_for_float32_too(a, b):
    """Between two float32 scores the text is also right where a language reads it as float32."""
    low, high = min(a, b), max(a, b)
    if low < high:
        found = shortest_inside(low, high)
        assert low < float(np.float32(found)) <= high
        assert low < float(found) <= high


@given(st.integers(-9999, 9999), st.integers(-9999, 9999))
def test_no_decimal_inside_is_shorter(a, b):
    """Of all multiples of 0.001 in the interval none has fewer digits, and none as short is larger."""
    low, high = min(a, b), max(a, b)
    if low == high:
        return
    inside = [f"{i / 1000:.3f}".rstrip("0") for i in range(low + 1, high + 1)]
    fewest = min(map(digits, inside))
    largest = max(float(text) for text in inside if digits(text) == fewest)

    assert largest == float(shortest_inside(low / 1000, high / 1000))


def test_a_threshold_that_is_read_decides_as_the_exact_one():
    """The threshold in the text of a solution gives the confusion beside it, typed by hand."""
    rng = np.random.default_rng(0)
    y = (rng.random(5000) < 0.1).astype(int)
    scores = rng.normal(y, 1)
    found = cp.find(y, scores, maximize="f1")
    read = repr(found).split()[1]

    assert len(read) < len(repr(found.threshold))
    assert found.confusion == cp.curve(y, scores).at(float(read)).confusion


@given(st.floats(1e-9, 1e12))
@example(0.00001234)
@example(112_800.4)
def test_sentences_have_no_exponents(x):
    """A number between a billionth and a trillion is written out."""
    texts = [short(x), count(x), value(x), percent(x)]

    assert [] == [text for text in texts if "e" in text]


def test_a_p_value_is_never_zero():
    """A p-value that rounds to zero is small, not zero."""
    assert ("p < 0.001", "p = 0.012", "p = 1") == (p_value(1e-30), p_value(0.0123), p_value(1.0))


def test_only_everything_is_a_hundred_percent():
    """A share that is almost 1 does not read as all of them."""
    assert ("100 %", "99.9998 %", "0 %") == (percent(1.0), percent(0.9999984), percent(0.0))


@pytest.mark.parametrize("x", [0.1, 1 / 3, 5e-324, 1e300, math.inf, np.float32(0.1)], ids=str)
def test_exact_numbers_can_be_copied(x):
    """The text of a threshold is the same float again."""
    assert float(x) == float(exact(x))


@pytest.mark.parametrize("write", [count, value, short])
@pytest.mark.parametrize("x", [1e15, -1e20, 1e308, math.inf, -math.inf], ids=str)
def test_huge_numbers_stay_short(write, x):
    """Digits that are noise are not written."""
    assert len(write(x)) < 10
    assert float(x) == float(write(x))


def test_json_has_no_number_that_json_cannot_hold():
    """NaN is null, and infinite numbers are texts; whatever slips through is an error."""
    shown = {"a": json_number(math.nan), "b": json_number(math.inf), "c": json_number(-math.inf)}

    assert {"a": None, "b": "inf", "c": "-inf"} == json.loads(to_json(shown))
    with pytest.raises(ValueError, match="JSON"):
        to_json({"a": math.nan})


def test_columns_of_wide_characters_are_aligned():
    """A character that takes two columns of a terminal is counted as two."""
    first, second, third = text_table([["land", "n"], ["日本", "1,000"], ["DE", "7"]], left=[0]).splitlines()

    assert ("land      n", "日本  1,000", "DE        7") == (first, second, third)


def test_markup_is_escaped():
    """A name with angle brackets stays a name in a notebook."""
    assert "&lt;b&gt;" in html_pairs([("<b>", "x")])

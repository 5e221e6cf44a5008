"""Numbers, tables and JSON for people."""

import json
import math

import numpy as np
import pytest

from cutpoints._format import count, exact, html_pairs, json_number, short, text_table, to_json, value


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

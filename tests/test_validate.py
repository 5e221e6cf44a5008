"""Arguments of several functions: the same name, the same default, the same words when they are wrong."""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import cutpoints as cp
from cutpoints._evaluate import proportion_interval
from cutpoints._validate import boolean, integer_in, number_in, one_of, positive_integer
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

SIGNATURES = {name: inspect.signature(value) for name in cp.__all__ if callable(value := getattr(cp, name))}


def _with(parameter):
    return [name for name, signature in SIGNATURES.items() if parameter in signature.parameters]


@pytest.mark.parametrize("name", _with("random_state"))
def test_functions_repeat_and_estimators_draw_anew(name):
    """A function reports the same numbers each time; an estimator has the default of scikit-learn."""
    expected = None if inspect.isclass(getattr(cp, name)) else 0
    assert expected == SIGNATURES[name].parameters["random_state"].default


def test_resamples_have_one_name():
    """What draws resamples calls their number `n_bootstrap`."""
    assert {"assess", "compare"} == set(_with("n_bootstrap"))
    assert [] == [*_with("repetitions"), *_with("replicates")]


@pytest.mark.parametrize("name", sorted({*_with("label")} - {"Data"}))
def test_names_of_columns_stand_together(name):
    """`label` and `score` go together, after a star, and are None unless they are given."""
    parameters = SIGNATURES[name].parameters
    for column in ("label", "score"):
        assert inspect.Parameter.KEYWORD_ONLY == parameters[column].kind
        assert None is parameters[column].default


# --- the checks


@pytest.mark.parametrize("value", ["a", "b"])
def test_one_of_the_allowed_words(value):
    """A word that is allowed passes."""
    one_of("x", value, ["a", "b"])


@pytest.mark.parametrize("value", ["c", "A", "", None, 1, ["a"]], ids=repr)
def test_none_of_the_allowed_words(value):
    """Any other word, and what is no word, is met with the list."""
    with pytest.raises(InvalidParameterError, match=r"^x must be one of 'a', 'b', got "):
        one_of("x", value, ["a", "b"])


@pytest.mark.parametrize("ends", ["[]", "[)", "(]", "()"])
@pytest.mark.parametrize("kind", [int, float, Fraction, np.float32, np.int64])
def test_ends_of_an_interval(kind, ends):
    """Whether an end is allowed is said by its bracket, and so it is written."""
    for value, allowed in ((0, ends[0] == "["), (1, ends[1] == "]")):
        if allowed:
            number_in("x", kind(value), 0, 1, ends=ends)
        else:
            with pytest.raises(
                InvalidParameterError, match=rf"^x must be a number in \{ends[0]}0, 1\{ends[1]}, "
            ):
                number_in("x", kind(value), 0, 1, ends=ends)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "1", True, None, 1j], ids=repr)
def test_what_is_no_number(value):
    """NaN, infinity, texts and booleans are no numbers, whatever the bounds."""
    for bounds, expected in (
        ((), "a finite number"),
        ((0,), "a number >= 0"),
        ((0, 1), r"a number in \[0, 1\]"),
    ):
        with pytest.raises(InvalidParameterError, match=f"^x must be {expected}, got "):
            number_in("x", value, *bounds)


@pytest.mark.parametrize("value", [0, 1, np.int64(5), 10**400], ids=str)
def test_integers(value):
    """Integers of Python and NumPy pass, of any size."""
    integer_in("x", value, 0)
    positive_integer("x", value + 1)


@pytest.mark.parametrize("value", [-1, 0.0, 2.5, True, "3", None], ids=repr)
def test_what_is_no_integer(value):
    """Floats, texts and booleans are no integers, and too small is too small."""
    with pytest.raises(InvalidParameterError, match=r"^x must be an integer >= 0, got "):
        integer_in("x", value, 0)
    with pytest.raises(InvalidParameterError, match=r"^x must be a positive integer, got "):
        positive_integer("x", value)


def test_integers_have_an_upper_end():
    """Where there is a largest integer, the range is written."""
    integer_in("x", 3, 1, 3)
    with pytest.raises(InvalidParameterError, match=r"^x must be an integer from 1 to 3, got 4\."):
        integer_in("x", 4, 1, 3)


def test_booleans():
    """True and False pass, of Python and NumPy, and nothing else does."""
    for value in (True, False, np.True_):
        boolean("x", value)
    for value in (0, 1, "yes", None):
        with pytest.raises(InvalidParameterError, match=r"^x must be True or False, got "):
            boolean("x", value)


# --- the same words

Y = np.array([0, 1] * 20)
S = np.linspace(0, 1, 40)
X = S[:, None]
MODEL = LogisticRegression()
SURE = {"maximize": "recall", "subject_to": "precision >= 0.1"}
CONFIDENT = {
    "find": lambda value: cp.find(Y, S, **SURE, guarantee=value),
    "assess": lambda value: cp.assess(Y, S, maximize="f1", confidence=value),
    "compare": lambda value: cp.compare(Y, {"a": S}, maximize="f1", confidence=value),
    "evaluate": lambda value: cp.evaluate(Y, S, threshold=0.5, confidence=value),
    "proportion_interval": lambda value: proportion_interval(1, 2, confidence=value),
    "CutpointClassifier": lambda value: cp.CutpointClassifier(MODEL, guarantee=value, **SURE).fit(X, Y),
}
SPLIT = {
    "assess": lambda cv, **more: cp.assess(Y, S, maximize="f1", cv=cv, n_bootstrap=0, **more),
    "nested_cv": lambda cv, **more: cp.nested_cv(MODEL, {}, X, Y, maximize="f1", cv=cv, outer_cv=2, **more),
    "CutpointClassifier": lambda cv, **more: cp.CutpointClassifier(MODEL, cv=cv).fit(X, Y, **more),
}


@pytest.mark.parametrize("value", [0, 1, 95, -0.5, True, "0.95", np.nan, None], ids=repr)
@pytest.mark.parametrize("name", CONFIDENT)
def test_a_bad_confidence_reads_the_same_everywhere(name, value):
    """Each function says what a confidence must be, and how 95 % is written."""
    if value is None and name in {"find", "CutpointClassifier"}:
        CONFIDENT[name](value)
        return
    parameter = "guarantee" if name in {"find", "CutpointClassifier"} else "confidence"
    words = rf"(?s)^{parameter} must be a number between 0 and 1.*Hint: for 95 % pass 0.95"
    with pytest.raises(InvalidParameterError, match=words) as error:
        CONFIDENT[name](value)

    assert (parameter, name) == (error.value.parameter, error.value.caller)


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_a_confidence_is_any_number(kind):
    """Numbers of NumPy are numbers."""
    cp.evaluate(Y, S, threshold=0.5, confidence=kind(0.5))
    cp.assess(Y, S, maximize="f1", confidence=kind(0.5), n_bootstrap=0)


@pytest.mark.parametrize("cv", [0, 1, -3, "five", True, 2.5, object], ids=repr)
@pytest.mark.parametrize("name", SPLIT)
def test_a_bad_cv_reads_the_same_everywhere(name, cv):
    """Too few folds are told, and for anything else the ways to split rows that there are."""
    whole = isinstance(cv, int) and cv is not True
    must_be = "at least 2 folds" if whole else "a number of folds, a splitter of scikit-learn.* pairs"
    with pytest.raises(InvalidParameterError, match=f"^cv must be {must_be}") as error:
        SPLIT[name](cv)

    assert name == error.value.caller


@pytest.mark.parametrize("name", SPLIT)
def test_bad_folds_read_the_same_everywhere(name):
    """Pairs that are none, no folds, more folds than rows of a class or groups, and groups of one row."""
    for cv, more, error, words in (
        ([1, 2], {}, InvalidParameterError, "^cv must be a way to split these rows"),
        ([], {}, InvalidParameterError, "^cv must be a way to split the rows into"),
        (21, {}, InvalidInputError, "The (positives|negatives) for 21 folds.* must be at least 21"),
        (6, {"groups": np.arange(40) // 10}, InvalidInputError, "The groups for 6 folds must be at least 6"),
        (3, {"groups": np.arange(40)}, InvalidInputError, "every row is a group of its own"),
    ):
        with pytest.raises(error, match=words) as caught:
            SPLIT[name](cv, **more)

        assert name == getattr(caught.value, "caller", name)


@pytest.mark.parametrize("name", SPLIT)
def test_no_cv_is_five_folds(name):
    """None is what it is in scikit-learn: the default."""
    for cv in (None, 5):
        SPLIT[name](cv, groups=np.arange(40) // 2)


@pytest.mark.parametrize("name", ["assess", "nested_cv"])
def test_splitters_that_ignore_groups_are_refused(name):
    """Rows of one group on both sides would judge what they have chosen."""
    with pytest.raises(InvalidParameterError, match="a splitter that keeps groups together"):
        SPLIT[name](StratifiedKFold(3), groups=np.arange(40) // 2)

"""Arguments of several functions: the same name, the same default, the same words when they are wrong."""

import inspect

import pytest

import cutpoint as cp

SIGNATURES = {
    name: inspect.signature(value)
    for name in cp.__all__
    if callable(value := getattr(cp, name)) and name != "LeakageWarning"
}


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


@pytest.mark.parametrize("name", _with("label"))
def test_names_of_columns_stand_together(name):
    """`label` and `score` go together, after a star, and are None unless they are given."""
    parameters = SIGNATURES[name].parameters
    for column in ("label", "score"):
        assert inspect.Parameter.KEYWORD_ONLY == parameters[column].kind
        assert None is parameters[column].default

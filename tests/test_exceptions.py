"""The exception tree and its wording."""

import pickle
import re
import sys

import numpy as np
import pytest

import cutpoints as cp
from cutpoints import exceptions as _errors
from cutpoints._data import file_errors
from cutpoints._wording import Argument
from cutpoints.exceptions import (
    CutpointError,
    InfeasibleError,
    InvalidInputError,
    InvalidParameterError,
    MissingDependencyError,
    SolverError,
    UnknownMetricError,
)

NAMES = ["accuracy", "balanced_accuracy", "f1", "recall", "specificity", "sensitivity"]

EXAMPLES = {
    "parameter": InvalidParameterError(
        "at", caller="find", expected="'lowest' or 'middle'", got="mid", hint="…"
    ),
    "nan": InvalidInputError.nan(name="y_score", count=3, rows=10_000, first=17),
    "length": InvalidInputError.length(names_and_lengths={"y_true": 10, "y_score": 9}),
    "labels": InvalidInputError.labels(values=[0, 1, 2], count=3),
    "pos_label": InvalidInputError.pos_label(values=["no", "yes"]),
    "negative": InvalidInputError.negative(name="sample_weight", count=2, first=4, value=-1.5),
    "empty": InvalidInputError.empty(name="y_score"),
    "missing_file": file_errors.missing_file(path="a.csv"),
    "near_file": file_errors.missing_file(path="a.csv", near=["b.csv", "c.csv"]),
    "pattern": file_errors.missing_file(path="*.csv", pattern=True),
    "empty_file": file_errors.empty_file(path="-"),
    "csv": file_errors.unreadable(path="a.csv", form="CSV", reason="Line 3 is broken"),
    "parquet": file_errors.unreadable(path="-", form="Parquet", reason="It is broken"),
    "column": file_errors.column(name="P", path="a.csv", columns=["y", "p"]),
    "far_column": file_errors.column(name="P", path="a.csv", columns=["one", "two"]),
    "not_numbers": file_errors.not_numbers(name="p", value="x", count=2, first=1),
    "comma": file_errors.not_numbers(name="p", value="0,5", count=1, first=1),
    "not_a_number_type": file_errors.not_a_number_type(name="p", type_="DATE"),
    "not_1d": InvalidInputError.not_1d(name="y_score", shape=(10, 2), hint="pass one column."),
    "undefined": InvalidInputError.undefined(objective="recall", positives=0, negatives=10),
    "nan_scores": InvalidInputError.nan_scores(name="p", count=2, rows=10, first=4),
    "mixed_files": file_errors.mixed_files(what="columns", first="a.csv", other="b.csv"),
    "infeasible": InfeasibleError.of(attainable={"precision >= 0.95": (0.8, 0.25)}),
    "metric": UnknownMetricError.of(name="recal", known=NAMES),
    "solver": SolverError.failed(solver="HiGHS", said="Numerical trouble"),
    "dependency": MissingDependencyError.of(caller="report", package="jinja2", extra="report"),
}


@pytest.fixture(params=EXAMPLES.values(), ids=EXAMPLES.keys())
def error(request):
    """One error of each constructor."""
    return request.param


def test_every_class_is_exported_and_has_an_example():
    """Every exception class of the module is in `__all__` and in the examples of this file."""
    classes = {
        name
        for name, value in vars(_errors).items()
        if isinstance(value, type) and issubclass(value, CutpointError)
    }

    assert set(_errors.__all__) == {*classes, "DataWarning", "LeakageWarning"}
    assert classes - {"CutpointError"} == {type(error).__name__ for error in EXAMPLES.values()}


def test_drawn_tree_is_the_real_tree():
    """The module docstring draws every class with exactly the built-in bases that it has."""
    for line in _errors.__doc__.splitlines():
        if "──" in line:
            name, also = line.split("── ")[1].split("(also ")
            drawn = also.split(")")[0].split(", ")
            cls = getattr(_errors, name.strip())

            assert ["CutpointError", *drawn] == [base.__name__ for base in cls.__bases__]


def test_every_error_is_caught_by_the_base(error):
    """`except CutpointError` catches each of them."""
    with pytest.raises(CutpointError):
        raise error


def test_messages_have_three_parts(error):
    """A message is one paragraph of facts, a blank line, and one hint that is a sentence."""
    facts, hint = str(error).split("\n\n")

    assert "\n" not in facts
    assert facts.endswith(".")
    assert hint.startswith("Hint: ")
    assert hint.endswith((".", "?", "…"))


def test_errors_survive_pickling(error):
    """An error that is raised in a worker process arrives with its class, message and fields."""
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert type(error) is type(copy)
    assert str(error) == str(copy)
    assert error.worded(_shouted) == copy.worded(_shouted)
    assert vars(error) == vars(copy)
    assert getattr(error, "name", None) == getattr(copy, "name", None)


def _shouted(mention):
    return mention.name.upper()


def test_parameter_is_a_value_error_and_a_type_error():
    """A bad argument is both, as in scikit-learn, and says what it must be and what it is."""
    error = EXAMPLES["parameter"]

    assert isinstance(error, ValueError)
    assert isinstance(error, TypeError)
    assert str(error).startswith("at must be 'lowest' or 'middle', got 'mid'.\n")


def test_parameter_carries_fields():
    """What a program wants to know of a bad argument it need not read from the text."""
    hint = ("for example ", Argument("min_rows", 100), ".")
    error = InvalidParameterError(
        "min_rows", got=0, expected="a positive integer", hint=hint, caller="find_by"
    )

    assert ("min_rows", 0, "a positive integer", "find_by") == (
        error.parameter,
        error.got,
        error.expected,
        error.caller,
    )
    assert "for example min_rows=100." == error.hint
    assert "min_rows must be a positive integer, got 0." == error.facts
    assert f"{error.facts}\n\nHint: {error.hint}" == str(error)


@pytest.mark.parametrize("got", [lambda: 1, np.zeros(3), object()], ids=["function", "array", "object"])
def test_what_was_passed_is_pickled_as_text(got):
    """An error can leave its process whatever was passed, and does not keep large data alive."""
    error = InvalidParameterError("x", got=got, expected="a number")

    assert isinstance(error.got, str)
    assert str(error) == str(pickle.loads(pickle.dumps(error)))  # noqa: S301 - our own bytes


def test_data_errors_carry_fields():
    """What is wrong with which column, how often and where first, is not only in the text."""
    error = EXAMPLES["nan"]

    assert ("nan", "y_score", 3, 10_000, 17) == (
        error.kind,
        error.name,
        error.count,
        error.rows,
        error.first,
    )
    assert "empty" == EXAMPLES["empty"].kind
    assert None is EXAMPLES["csv"].kind


def test_mentions_are_spelled_by_whoever_shows_the_message():
    """Arguments and columns are kept apart from the words around them."""
    error = InvalidInputError.pos_label(values=["no", "yes"], name="y")

    assert error.worded(_shouted).startswith(
        "Y must hold 0 and 1, -1 and 1 or booleans when POS_LABEL is not"
    )
    assert error.worded(_shouted).endswith("Hint: pass POS_LABEL or POS_LABEL.")


def test_parameter_without_hint_ends_after_the_facts():
    """Where there is nothing to advise, no empty hint is printed."""
    error = InvalidParameterError("at", caller="find", expected="a str", got=None)

    assert "at must be a str, got None." == str(error)
    assert None is error.hint


@pytest.mark.parametrize(
    ("got", "shown"),
    [
        (np.float64(0.5), "0.5"),
        (np.array([1, 2]), "array([1, 2])"),
        (np.zeros((3, 2)), "array([[0., 0.], [0., 0.], [0., 0.]])"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, ...]"),
    ],
    ids=["numpy scalar", "array", "two lines", "long list"],
)
def test_values_are_shown_on_one_short_line(got, shown):
    """Whatever was passed, its representation takes one short line."""
    error = InvalidParameterError("x", caller="f", expected="a str", got=got)

    assert f", got {shown}." in str(error)


def test_long_values_are_shortened():
    """A text of a million characters does not become a message of a million characters."""
    error = InvalidParameterError("x", caller="f", expected="a str", got="a" * 10**6)

    assert len(str(error)) < 200


def test_nan_counts_and_locates():
    """Missing values are counted, and the first one has a row."""
    assert str(EXAMPLES["nan"]).startswith(
        "'y_score' must not contain NaN or null. "
        "3 of 10,000 values are missing, the first at row 17 (counting from 0)."
    )


def test_nan_in_an_engine_without_order_has_no_row():
    """Where rows have no order, no row is invented, and one value is not two values."""
    error = InvalidInputError.nan(name="p", count=1, rows=1, first=None)

    assert "1 of 1 value is missing." in str(error)


def test_length_names_every_argument():
    """Unequal lengths are told for all arguments, not for the first pair that differs."""
    error = InvalidInputError.length(names_and_lengths={"y_true": 10, "y_score": 1000, "sample_weight": 10})

    assert str(error).startswith(
        "'y_true', 'y_score' and 'sample_weight' must have the same number of rows. "
        "Got 10 in 'y_true', 1,000 in 'y_score' and 10 in 'sample_weight' instead."
    )


def test_labels_lists_five_and_the_count():
    """Of many labels five are listed, and the hint is code that can be pasted."""
    error = InvalidInputError.labels(values=np.arange(7), count=7, name="y")

    assert "Got 7 distinct labels instead: 0, 1, 2, 3, 4 and 2 more." in str(error)
    assert "`y == 0`" in str(error)


def test_labels_lists_all_of_three():
    """Three labels are listed and nothing more."""
    error = InvalidInputError.labels(values=["a", "b", "c"], count=3)

    assert "Got 3 distinct labels instead: 'a', 'b' and 'c'." in str(error)
    assert "`y_true == 'a'`" in str(error)


def test_pos_label_offers_both():
    """Two labels of unknown sign are both offered as arguments."""
    error = EXAMPLES["pos_label"]

    assert "Got 'no' and 'yes' instead." in str(error)
    assert str(error).endswith("Hint: pass pos_label='yes' or pos_label='no'.")


def test_pos_label_with_one_label():
    """A single label of unknown sign is offered alone."""
    error = InvalidInputError.pos_label(values=["yes"])

    assert str(error).endswith("Hint: pass pos_label='yes'.")


@pytest.mark.parametrize(
    ("count", "first", "found"),
    [
        (2, 4, "2 values are negative, the first at row 4 (counting from 0), with -1.5."),
        (1, 4, "1 value is negative, the first at row 4 (counting from 0), with -1.5."),
        (2, None, "2 values are negative, such as -1.5."),
    ],
)
def test_negative_shows_a_value(count, first, found):
    """Negative weights are counted, located where rows have an order, and shown."""
    error = InvalidInputError.negative(name="w", count=count, first=first, value=np.float64(-1.5))

    assert f"'w' must not be negative. {found}\n" in str(error)


def test_empty_says_what_has_no_rows():
    """Data without rows are named."""
    assert "'y_score' must have at least one row. Got 0 rows" in str(EXAMPLES["empty"])


def test_not_1d_shows_the_shape():
    """An array of two dimensions is refused with its shape."""
    expected = "'y_score' must be one-dimensional. Got an array of shape (10, 2) instead."

    assert expected in str(EXAMPLES["not_1d"])
    assert expected == str(InvalidInputError.not_1d(name="y_score", shape=(10, 2)))


@pytest.mark.parametrize(
    ("positives", "negatives", "hint"),
    [
        (0, 10, "there are no positive rows"),
        (10, 0, "there are no negative rows"),
        (1.5, 2000, "run `cutpoints metrics show NAME`"),
    ],
)
def test_undefined_says_which_class_is_missing(positives, negatives, hint):
    """An objective that is 0/0 everywhere is told with the totals and the missing class."""
    error = InvalidInputError.undefined(objective="mcc", positives=positives, negatives=negatives)

    assert f"{positives:,} positives and {negatives:,} negatives." in str(error)
    assert f"Hint: {hint}" in str(error)


def test_infeasible_tells_what_is_attainable_for_each_constraint():
    """Several constraints are told with the best value of each alone, undefined ones as such."""
    error = InfeasibleError.of(
        attainable={
            "precision >= 0.95": (0.8125, np.float64(0.25)),
            "predicted_positive <= -1": (0, float("inf")),
            "lift >= 2": (float("nan"), float("nan")),
        }
    )

    assert str(error).startswith(
        "No threshold meets 'precision >= 0.95', 'predicted_positive <= -1' and 'lift >= 2' "
        "together. The best possible for each of them alone: "
        "'precision >= 0.95' 0.8125, at threshold 0.25; "
        "'predicted_positive <= -1' 0, at threshold inf; "
        "'lift >= 2' undefined at every threshold.\n"
    )


def test_infeasible_together_tells_what_each_attains_where_the_others_hold():
    """That is what one of them would have to be relaxed to."""
    best = {"precision >= 0.95": (0.8125, 0.25), "recall >= 0.9": (0.5, 0.75)}
    error = InfeasibleError.of(attainable=best, together=True)

    assert str(error) == (
        "No threshold meets 'precision >= 0.95' and 'recall >= 0.9' together. "
        "The best possible for each of them while the others hold: "
        "'precision >= 0.95' 0.8125, at threshold 0.25; 'recall >= 0.9' 0.5, at threshold 0.75.\n\n"
        "Hint: relax one of them to slightly beyond its value, which is rounded, and search again."
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("recal", "'recall'"),
        ("F1", "'f1'"),
        ("balanced-accuracy", "'balanced_accuracy' or 'accuracy'"),
        ("Sensitvity", "'sensitivity'"),
    ],
)
def test_unknown_metric_offers_the_nearest_names(name, near):
    """A misspelt metric is met with the names that are near, whatever its case and hyphens."""
    error = UnknownMetricError.of(name=name, known=NAMES)

    assert f"Unknown metric: '{name}'.\n\nHint: did you mean {near}" in str(error)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("AUC", r"of all thresholds together, not of one: .*\.auc\."),
        ("average precision", r"of all thresholds together, .*\.average_precision\."),
        ("log-loss", "judges probabilities, not a threshold: `cutpoints calibration`"),
        ("f2", r"write f\(beta=2\)\."),
        ("F05_score", r"write f\(beta=0\.5\)\."),
        ("min", "write precision_recall_min"),
    ],
)
def test_what_is_no_metric_of_a_threshold_is_met_with_what_to_use(name, hint):
    """Names that people try, although they are no metrics of one threshold, or are written otherwise here."""
    error = UnknownMetricError.of(name=name, known=NAMES)

    assert re.search(f"Hint: .*{hint}", str(error))


def test_unknown_metric_without_neighbours_names_the_list():
    """A name that is near to nothing is met with the command that lists all."""
    error = UnknownMetricError.of(name="zzz", known=NAMES)

    assert str(error).endswith("Hint: run `cutpoints metrics` for the list.")


def test_unknown_metric_prints_plainly():
    """It is a LookupError whose text is not put in quotes, as that of a KeyError is."""
    error = EXAMPLES["metric"]

    assert isinstance(error, LookupError)
    assert str(error).startswith("Unknown metric: ")


def test_missing_dependency_gives_the_command():
    """A missing extra is met with the exact command that installs it."""
    error = EXAMPLES["dependency"]

    assert isinstance(error, ImportError)
    assert "jinja2" == error.name
    assert (
        "The package 'jinja2' must be installed for report. It could not be imported.\n\n"
        "Hint: run `pip install 'cutpoints[report]'`."
    ) == str(error)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_missing_frame_package_is_installed_by_its_name(package, monkeypatch):
    """There is no extra for data frames, so none is named."""
    monkeypatch.setitem(sys.modules, package, None)
    table = cp.curve([0, 1], [0.3, 0.6]).table()

    with pytest.raises(MissingDependencyError, match=rf"must be installed for to_{package}\b") as error:
        getattr(table, f"to_{package}")()

    assert str(error.value).endswith(f"Hint: run `pip install {package}`.")

"""Bad input: each kind has its own error, which says what must hold, what was found, and a hint."""

import math
import re
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import cutpoints as cp
from cutpoints import metrics as m
from cutpoints.exceptions import DataWarning, InvalidInputError, InvalidParameterError, UnknownMetricError
from engines.servers import DUCKDB_1

Y = [0, 1, 0, 1]
S = [0.1, 0.4, 0.35, 0.8]


def refused(error, facts, hint, *args, **options):
    """`find` raises this error; facts and hint are regular expressions for the two parts."""
    options = {"maximize": "f1", **options} if "minimize" not in options else options
    with pytest.raises(error, match=f"(?s){facts}.*\n\nHint: .*{hint}") as caught:
        cp.find(*args, **options)
    assert type(caught.value) is error


# --- scores


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_scores(dtype):
    """NaN scores are counted and the first is located."""
    s = np.full(1000, 0.5, dtype=dtype)
    s[[17, 20, 999]] = np.nan
    facts = r"'y_score' must not contain NaN or null\. 3 of 1,000 values are missing, the first at row 17 \("
    refused(InvalidInputError, facts, "drop these rows or fill", np.arange(1000) % 2, s)


def test_one_nan_score():
    """One missing value is told in the singular."""
    refused(InvalidInputError, "1 of 4 values is missing, the first at row 3", "drop", Y, [1, 2, 3, math.nan])


def test_all_scores_are_nan():
    """Nothing but NaN is the same error, not a failure further down."""
    refused(InvalidInputError, "4 of 4 values are missing, the first at row 0", "drop", Y, [math.nan] * 4)


def test_scores_of_two_dimensions():
    """The whole of predict_proba is refused, with how to pick the column."""
    refused(
        InvalidInputError,
        r"'y_score' must be one-dimensional\. Got an array of shape \(4, 2\)",
        r"predict_proba\(X\)\[:, 1\]",
        Y,
        np.ones((4, 2)),
    )


@pytest.mark.parametrize("scores", [0.5, None, np.float64(3)], ids=repr)
def test_scores_that_are_no_array(scores):
    """A single number is no column of scores."""
    with pytest.raises(InvalidParameterError, match=r"^y_score must be"):
        cp.find(Y, scores, maximize="f1")


def test_scores_left_out():
    """Without scores the call is shown as it should be."""
    refused(InvalidParameterError, "^y_score must be given", r"find\(y_true, y_score", Y)


def test_complex_scores():
    """Complex numbers have no order."""
    with pytest.raises(InvalidParameterError, match=r"^y_score must be real numbers.*complex"):
        cp.find(Y, [1j, 2, 3, 4], maximize="f1")


@pytest.mark.parametrize(
    "scores",
    [["0.1", "0.2", "0.3", "0.4"], np.array(["a", "b", "c", "d"]), [0.1, "0.2", 0.3, 0.4], [b"1"] * 4],
    ids=["numbers as text", "text", "one text", "bytes"],
)
def test_text_scores(scores):
    """Text is not read as numbers, even where it could be; the value and its row are shown."""
    with pytest.raises(InvalidParameterError, match=r"^y_score must be numbers, got \"b?'.* at row"):
        cp.find(Y, scores, maximize="f1")


def test_object_scores():
    """Objects that are no numbers are shown with their row."""
    with pytest.raises(InvalidParameterError, match=r"^y_score must be numbers.*at row 1"):
        cp.find(Y, [1, {}, 2, 3], maximize="f1")


def test_dates_as_scores():
    """Dates are no scores."""
    with pytest.raises(InvalidParameterError, match=r"^y_score must be real numbers.*datetime"):
        cp.find(Y, np.array([1, 2, 3, 4], dtype="datetime64[s]"), maximize="f1")


def test_ragged_scores():
    """A ragged list is refused with a message of ours."""
    with pytest.raises((InvalidParameterError, InvalidInputError), match=r"^'?y_score'? must"):
        cp.find(Y, [[1], [2, 3], [4], [5]], maximize="f1")


# --- lengths


def test_lengths_differ():
    """The lengths of all arguments are told."""
    refused(
        InvalidInputError,
        "'y_true' and 'y_score' must have the same number of rows. Got 4 in 'y_true' and 3 in 'y_score'",
        "one entry per row",
        Y,
        [1, 2, 3],
    )


def test_length_of_the_weights_differs():
    """Weights need one entry per row too."""
    refused(InvalidInputError, "and 2 in 'sample_weight'", "one entry per row", Y, S, sample_weight=[1, 2])


@pytest.mark.parametrize("empty", [[], np.array([]), ()], ids=repr)
def test_no_rows(empty):
    """Empty data are told as such."""
    refused(InvalidInputError, "must have at least one row. Got 0 rows", "check the filter", empty, empty)


def test_no_rows_counted():
    """Empty counts too."""
    with pytest.raises(InvalidInputError, match="must have at least one row"):
        cp.find(cp.from_counts([], positives=[], negatives=[]), maximize="f1")


def test_lengths_of_counted_rows_differ():
    """All three columns are named."""
    with pytest.raises(InvalidInputError, match="Got 2 in 'y_score', 2 in 'positives' and 1 in 'negatives'"):
        cp.from_counts([1, 2], positives=[1, 2], negatives=[1])


# --- labels


def test_three_labels():
    """Three labels are listed, with one class against the rest as a way out."""
    refused(
        InvalidInputError,
        "'y_true' must have two distinct labels. Got 3 distinct labels instead: 0, 1 and 2",
        "`y_true == 0`",
        [0, 1, 2, 1],
        S,
    )


def test_three_labels_with_pos_label():
    """`pos_label` does not merge the other labels silently."""
    refused(
        InvalidInputError, "Got 3 distinct labels", "one class against the rest", [0, 1, 2, 1], S, pos_label=1
    )


def test_three_strings():
    """Three texts are three labels, with or without `pos_label`."""
    for pos_label in (None, "a"):
        refused(
            InvalidInputError,
            "3 distinct labels instead: 'a', 'b' and 'c'",
            "",
            ["a", "b", "c", "a"],
            S,
            pos_label=pos_label,
        )


def test_many_labels():
    """Of many labels five are listed and the rest counted: scores passed as labels."""
    y = np.arange(100) / 100
    refused(InvalidInputError, "Got 100 distinct labels.*and 95 more", "", y, y)


def test_strings_without_pos_label():
    """Texts do not say which one is positive; both are offered."""
    refused(
        InvalidInputError,
        "'y_true' must hold 0 and 1, -1 and 1 or booleans.*Got 'no' and 'yes'",
        "pos_label='yes' or pos_label='no'",
        ["no", "yes", "no", "yes"],
        S,
    )


@pytest.mark.parametrize(
    "labels", [[1, 2, 1, 2], [0, -1, 0, -1], [0, 5, 0, 5], [0.0, 0.5, 0.0, 0.5]], ids=repr
)
def test_two_numbers_without_pos_label(labels):
    """Numbers other than 0/1 and -1/+1 need `pos_label`, also 0 and -1."""
    refused(InvalidInputError, "'y_true' must hold 0 and 1, -1 and 1", "pos_label=", labels, S)


def test_zero_one_and_minus_one():
    """0, 1 and -1 are three labels."""
    refused(InvalidInputError, "Got 3 distinct labels instead: -1, 0 and 1", "", [0, 1, -1, 1], S)


@pytest.mark.parametrize(
    ("labels", "pos_label", "shown"),
    [
        (Y, 2, "got 2"),
        (["a", "b", "a", "b"], "c", "got 'c'"),
        (["a", "b", "a", "b"], 1, "got 1"),
        (Y, "1", "got '1'"),
    ],
    ids=["number", "text", "number for text", "text for number"],
)
def test_unknown_pos_label(labels, pos_label, shown):
    """A `pos_label` that is no label is refused, with the labels that there are."""
    with pytest.raises(InvalidParameterError, match=f"^pos_label must be one of the labels.*{shown}"):
        cp.find(labels, S, maximize="f1", pos_label=pos_label)


def test_labels_of_two_dimensions():
    """A one-hot matrix is no column of labels."""
    with pytest.raises(
        InvalidInputError, match=r"'y_true' must be one-dimensional. Got an array of shape \(4, 2\)"
    ):
        cp.find(np.eye(4)[:, :2], S, maximize="f1")


def test_nan_label():
    """A missing label is counted and located."""
    refused(
        InvalidInputError,
        "'y_true' must not contain NaN.*1 of 4 values is missing, the first at row 2",
        "drop",
        [0, 1, math.nan, 1],
        S,
    )


def test_swapped_arguments():
    """Scores in the place of labels are met with an error about labels, not with a threshold."""
    refused(InvalidInputError, "'y_true' must have two distinct labels. Got 4", "", S, Y)


# --- weights


def test_negative_weights():
    """Negative weights are counted, located and shown."""
    refused(
        InvalidInputError,
        r"'sample_weight' must not be negative\. 2 values are negative, the first at row 1 .*, with -1\.5",
        "drop these rows, or set them to 0",
        Y,
        S,
        sample_weight=[1, -1.5, 2, -3],
    )


def test_nan_weights():
    """Missing weights are counted and located."""
    refused(
        InvalidInputError,
        "'sample_weight' must not contain NaN.*1 of 4.* row 1",
        "drop",
        Y,
        S,
        sample_weight=[1, math.nan, 1, 1],
    )


@pytest.mark.parametrize("weight", [math.inf, 1.7e308], ids=repr)
def test_weights_without_a_finite_sum(weight):
    """Infinite weights, and those whose sum would be, are located and shown."""
    refused(
        InvalidParameterError,
        rf"^sample_weight must be numbers with a finite sum, got '{re.escape(repr(weight))} at row 1'",
        "rescale",
        Y,
        S,
        sample_weight=[1, weight, 1, 1],
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-60, 1e60, 1e300], ids=repr)
@pytest.mark.parametrize("metric", ["f1", "mcc", "cost(fp=1, fn=2)"])
def test_only_ratios_of_weights_matter(metric, scale):
    """Weights that are all huge or all tiny are weights like any other."""
    weights = np.array([1.0, 3.0, 2.0, 1.0])
    plain, scaled = (cp.find(Y, S, sample_weight=weights * k, maximize=metric) for k in (1, scale))
    assert plain.threshold == scaled.threshold
    assert math.isclose(plain.value * (scale if "cost" in metric else 1), scaled.value, rel_tol=1e-9)


def test_text_weights():
    """Text is no weight."""
    with pytest.raises(InvalidParameterError, match=r"^sample_weight must be numbers"):
        cp.find(Y, S, sample_weight=["a"] * 4, maximize="f1")


def test_negative_counts():
    """Counted rows name their own column."""
    with pytest.raises(
        InvalidInputError, match=r"'negatives' must not be negative. 1 value is negative, the first at row 0"
    ):
        cp.from_counts([1, 2], positives=[1, 2], negatives=[-1, 1])


@pytest.mark.parametrize(
    "option", [{"y_score": S}, {"sample_weight": [1] * 4}, {"pos_label": 1}], ids=lambda o: next(iter(o))
)
def test_counted_rows_have_it_all(option):
    """With counted rows the other columns are refused instead of ignored."""
    data = cp.from_counts(S, positives=[1] * 4, negatives=[0] * 4)
    with pytest.raises(InvalidParameterError, match=f"^{next(iter(option))} must be left out"):
        cp.find(data, maximize="f1", **option)


# --- goals


def test_neither_maximize_nor_minimize():
    """A goal is needed."""
    refused(
        InvalidParameterError,
        "^maximize must be given, or else minimize.*got neither",
        "maximize='f1'",
        Y,
        S,
        maximize=None,
    )


def test_both_maximize_and_minimize():
    """One goal is enough."""
    refused(
        InvalidParameterError,
        "and not both, got both",
        "maximize='f1'",
        Y,
        S,
        maximize="f1",
        minimize="fpr",
    )


def test_unknown_metric():
    """An unknown metric is met with near names."""
    refused(
        UnknownMetricError,
        "Unknown metric: 'recal'",
        "did you mean .*'recall'",
        Y,
        S,
        maximize="recal",
    )


def test_unknown_metric_in_a_constraint():
    """Constraints know the near names too."""
    refused(
        UnknownMetricError,
        "Unknown metric: 'precison'",
        "did you mean .*'precision'",
        Y,
        S,
        subject_to="precison >= 0.9",
    )


def test_metric_that_is_like_no_other():
    """A name without neighbours is met with the command that lists all."""
    refused(UnknownMetricError, "Unknown metric: 'qqq'", "cutpoints metrics", Y, S, maximize="qqq")


def test_constraint_as_objective():
    """A comparison cannot be maximised."""
    refused(
        InvalidParameterError,
        "^maximize must be a metric or a sum of metrics",
        "constraints go into subject_to",
        Y,
        S,
        maximize="precision >= 0.5",
    )


@pytest.mark.parametrize("wanted", ["precision", m.precision, ["precision"], [m.precision]], ids=repr)
def test_objective_as_constraint(wanted):
    """A metric without a bound constrains nothing."""
    refused(
        InvalidParameterError,
        "^subject_to must be comparisons",
        "subject_to='precision >= 0.95'",
        Y,
        S,
        subject_to=wanted,
    )


def test_family_without_parameters():
    """F-beta needs its beta."""
    refused(InvalidParameterError, r"^f\(beta\) must be", r"for example f\(beta=2\)", Y, S, maximize="f")


@pytest.mark.parametrize(
    ("labels", "objective", "hint"),
    [
        ([0, 0], "recall", "no positive rows; check the labels"),
        ([1, 1], "specificity", "no negative rows; check the labels"),
        ([1, 1], "mcc", "no negative rows"),
        ([0, 0], "balanced_accuracy", "no positive rows"),
    ],
)
def test_objective_that_is_undefined_everywhere(labels, objective, hint):
    """Recall without positives is 0/0 at every cut: an error that names the missing class."""
    refused(
        InvalidInputError,
        f"The objective '{objective}' must be defined at one cut at least. It is 0/0 at every cut",
        hint,
        labels,
        [0.1, 0.2],
        maximize=objective,
    )


def test_objective_that_is_undefined_everywhere_with_constraints():
    """Constraints do not hide that the objective has no value: the error is the same."""
    with pytest.raises(InvalidInputError, match="'recall' must be defined at one cut"):
        cp.find([0, 0], [0.1, 0.2], maximize="recall", subject_to="precision >= 2")


def test_objective_that_is_undefined_where_it_is_allowed():
    """Precision with nobody allowed to be called positive has no value at the only feasible cut."""
    solution = cp.find(Y, S, maximize="precision", subject_to="predicted_positive <= 0")

    assert "infeasible" == solution.status
    assert None is solution.threshold
    assert solution.attainable[0].met


def test_one_class_is_no_error_where_the_metric_is_defined():
    """Accuracy of one class is fine."""
    assert 1.0 == cp.find([1, 1], [0.1, 0.2], maximize="accuracy").value


def test_infeasible_is_a_status():
    """Constraints that no cut meets are an answer, not an exception."""
    solution = cp.find(Y, S, maximize="recall", subject_to="precision > 1")

    assert "infeasible" == solution.status
    assert None is solution.threshold


@pytest.mark.parametrize("method", ["fast", "", None, 1, "SWEEP"], ids=repr)
def test_unknown_method(method):
    """The methods that there are are listed."""
    with pytest.raises(InvalidParameterError, match=r"^method must be one of 'auto', 'sweep', 'narrow'"):
        cp.find(Y, S, maximize="f1", method=method)


def test_options_are_keyword_only():
    """Nothing but the data is positional."""
    with pytest.raises(TypeError, match="positional"):
        cp.find(Y, S, "f1")


# --- deciding


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5, math.nan], "1 of 2 values is missing, the first at row 1"),
        ([0.5, None], "1 of 2 values is missing"),
    ],
    ids=["nan", "none"],
)
def test_decide_refuses_missing_scores(scores, message):
    """There is no decision on a missing score."""
    with pytest.raises(InvalidInputError, match=message):
        cp.find(Y, S, maximize="f1").decide(scores)


@pytest.mark.parametrize("scores", [["0.5"], [1j], [{}]], ids=["text", "complex", "object"])
def test_decide_refuses_what_is_no_number(scores):
    """Decisions are taken on numbers only, as when the threshold was found."""
    with pytest.raises((InvalidInputError, InvalidParameterError), match="y_score"):
        cp.find(Y, S, maximize="f1").decide(scores)


PROBABILITIES = np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])
"""What `predict_proba` returns: a column for each class."""

TAKES_SCORES = {
    "find": lambda scores: cp.find(Y, scores, maximize="f1"),
    "find_by": lambda scores: cp.find_by(Y, scores, by=["a"] * 4, maximize="f1"),
    "curve": lambda scores: cp.curve(Y, scores),
    "evaluate": lambda scores: cp.evaluate(Y, scores, threshold=0.5),
    "sketch": lambda scores: cp.Sketch().update(Y, scores),
    "solution": lambda scores: cp.find(Y, S, maximize="f1").decide(scores),
    "segments": lambda scores: cp.find_by(Y, S, by=["a"] * 4, maximize="f1").decide(scores, ["a"] * 4),
    "policy": lambda scores: cp.find(Y, S, maximize="f1").policy().decide(scores),
    "randomized": lambda scores: cp.curve(Y, S).hull().randomized(fpr=0.25).decide(scores),
}


@pytest.mark.parametrize("call", TAKES_SCORES.values(), ids=TAKES_SCORES)
def test_probabilities_of_both_classes_are_refused(call):
    """A matrix of `predict_proba` would give two decisions per row: the hint names the column to take."""
    with pytest.raises(InvalidInputError, match=r"one-dimensional.*\(4, 2\)(.|\n)*predict_proba"):
        call(PROBABILITIES)
    call(PROBABILITIES[:, 1])


# --- names, filters and options of the wrong kind


@pytest.mark.parametrize("large", [[2**64, 2**64 + 1, 0, 1], [10**400, 1, 2, 3], [-(2**70), 1, 2, 3]])
def test_python_integers_beyond_float64(large):
    """Neighbours would become equal, or an OverflowError; arrays of int64 are refused alike."""
    refused(InvalidParameterError, "numbers that float64 can hold", "rank them first", Y, large)


@pytest.mark.parametrize("option", ["label", "score", "weight", "where", "sql", "memory_limit"])
def test_names_and_filters_are_strings(option, tmp_path):
    """The number of a column is no name, and a condition is no number."""
    path = tmp_path / "scores.csv"
    path.write_text("y,p\n0,0.1\n1,0.4\n", encoding="utf-8")
    options = {"label": "y", "score": "p", option: 1}
    with pytest.raises(InvalidParameterError, match=f"^{option} must be .*(a string|name)"):
        cp.read(str(path), **options)


@pytest.mark.parametrize(
    ("engine", "kind"), [("pandas", "DataFrame"), ("polars", "DataFrame"), ("polars", "LazyFrame")]
)
def test_a_frame_without_names_of_columns(engine, kind):
    """The names are missing, and not an array of scores."""
    frame = getattr(pytest.importorskip(engine), kind)({"y": Y, "p": S})
    refused(InvalidParameterError, "^label must be the name", "label='y'", frame)


@pytest.mark.parametrize(
    "ask",
    [
        lambda y, p: cp.curve(y, p).roc(),
        cp.calibration,
        cp.recalibrate,
        lambda y, p: cp.Sketch().update(y, p).auc,
        lambda y, p: cp.assess(y, p, maximize="f1"),
    ],
    ids=["curve", "calibration", "recalibrate", "sketch", "assess"],
)
@pytest.mark.parametrize(("label", "missing"), [(0, "positive"), (1, "negative")])
def test_questions_that_need_both_classes_say_which_is_missing(ask, label, missing):
    """None of them has an objective or a cut: what is missing are rows."""
    with pytest.raises(InvalidInputError, match=f"There are no {missing} rows") as caught:
        ask([label] * 4, S)
    assert "objective" not in str(caught.value)
    assert "Hint: check the labels and pos_label." in str(caught.value)


@pytest.mark.parametrize("beta", [0, -1, -0.5])
def test_parameters_of_metrics_are_shown_as_numbers(beta):
    """A user wrote a number, and not a Fraction."""
    with pytest.raises(InvalidParameterError, match=f"a number > 0, got {float(beta)}"):
        m.f(beta=beta)
    with pytest.raises(InvalidParameterError, match=r", got 1\.0\."):
        cp.find(Y, S, maximize="net_benefit(at=1)")


def test_huge_numbers_are_not_spelt_out():
    """Of the 301 digits of 1e300, all but the first sixteen are noise."""
    s = np.array(S) * 1e300
    with pytest.raises(ValueError, match=r"at threshold 8e\+299\."):
        cp.find(Y, s, maximize="f1", subject_to="precision >= 2").raise_if_infeasible()


def test_a_confusion_of_texts():
    """Counts are numbers."""
    with pytest.raises(InvalidParameterError, match=r"^tp must be a finite number"):
        cp.Confusion(tp="9", fp=0, fn=0, tn=0)


def test_all_weights_are_zero():
    """That no row counts is said, rather than that a class is missing."""
    with pytest.raises(InvalidInputError, match="all weights are 0"):
        cp.find([0, 1], [0.1, 0.2], sample_weight=[0, 0], maximize="f1")


def test_two_columns_of_one_name():
    """A frame of pandas may have them; which one is meant cannot be known."""
    import pandas as pd

    frame = pd.DataFrame([[0, 0.1, 0.2]], columns=["y", "p", "p"])
    with pytest.raises(InvalidParameterError, match="more than one column 'p'"):
        cp.find(frame, label="y", score="p", maximize="f1")


@pytest.mark.parametrize(
    ("function", "options"),
    [(cp.curve, {}), (cp.evaluate, {"threshold": 0.5}), (cp.assess, {"maximize": "f1"})],
    ids=["curve", "evaluate", "assess"],
)
@pytest.mark.parametrize(
    ("wrong", "named"), [({"pos_label": 7}, "pos_label"), ({"y_score": ["a", "b", "c", "d"]}, "y_score")]
)
def test_no_other_function_is_blamed(function, options, wrong, named):
    """What is wrong with the data is said by its name, whichever function reads them."""
    with pytest.raises(InvalidParameterError, match=f"^{named} must be") as error:
        function(**{"y_true": Y, "y_score": [0.1, 0.4, 0.35, 0.8], **options, **wrong})

    assert "find" not in str(error.value)


# --- warnings: the answer is right, and easily misread


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(
    ("labels", "pos_label", "message"),
    [
        ([1, 1, 1], None, r"^There are no negative rows\. Check the labels"),
        ([0, 0, 0], None, r"^There are no positive rows\. Check the labels"),
        (["no", "no", "no"], "Yes", r"^There are no positive rows: no label is 'Yes'\. Check the labels"),
    ],
    ids=["positives", "negatives", "mistyped"],
)
def test_one_class_alone_is_a_warning(labels, pos_label, message):
    """Any threshold is perfect then, which is seldom what was meant."""
    with pytest.warns(DataWarning, match=message):
        cp.find(labels, [0.1, 0.2, 0.3], pos_label=pos_label, maximize="accuracy")


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (cp.find, {"maximize": "accuracy"}),
        (cp.find_by, {"maximize": "accuracy", "by": ["a", "a", "b", "b"]}),
        (cp.find_joint, {"maximize": "accuracy", "by": ["a", "a", "b", "b"]}),
        (cp.find_band, {"minimize": "cost(fp=5, fn=5, review=1)"}),
        (cp.curve, {}),
        (cp.ilp.formulate, {"maximize": "accuracy"}),
        (lambda y, p: cp.Sketch().update(y, p).best(maximize="accuracy"), {}),
        (lambda y, p: cp.Sketch().update(y, p).refine(y, p, maximize="accuracy"), {}),
        (cp.report, {"maximize": "accuracy"}),
    ],
    ids=["find", "find_by", "find_joint", "find_band", "curve", "formulate", "best", "refine", "report"],
)
def test_one_class_is_a_warning_that_points_to_the_caller(function, options):
    """Every function that searches says so, at the line of the user who called it."""
    with pytest.warns(DataWarning, match="There are no positive rows") as warned:
        function([0, 0, 0, 0], [0.1, 0.2, 0.3, 0.4], **options)

    assert [__file__] == [one.filename for one in warned]


def test_one_class_is_a_warning_of_compare():
    """No model is better than another then."""
    with pytest.warns(DataWarning, match="There are no negative rows"):
        cp.compare([1, 1, 1], {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1]}, maximize="accuracy")


def test_one_class_in_a_long_table_of_labels_is_a_warning():
    """A mistyped label leaves no sample with any label."""
    table = {"y": [0, 0, 0, 0], "p": [0.1, 0.2, 0.3, 0.4], "k": ["a", "a", "b", "b"]}
    with pytest.warns(DataWarning, match="There are no positive rows"):
        cp.find_labels(pd.DataFrame(table), label="y", score="p", by="k", maximize="accuracy")


def test_a_mistyped_label_is_an_error_beside_two_others():
    """Labels are compared to the letter."""
    with pytest.raises(InvalidParameterError, match=r"pos_label must be one of the labels \['no', 'yes'\]"):
        cp.find(["yes", "no", "no"], [0.1, 0.2, 0.3], pos_label="Yes", maximize="accuracy")


def test_label_and_score_from_one_column_is_a_warning(tmp_path):
    """A mistyped name gives a perfect result."""
    path = tmp_path / "scores.csv"
    path.write_text("y,p\n0,0.1\n1,0.4\n", encoding="utf-8")

    with pytest.warns(DataWarning, match=r"Label and score are the same column, 'y'"):
        assert 1 == cp.find(path, label="y", score="y", maximize="f1").value


@pytest.mark.parametrize("number", [10**400, -(10**400), np.longdouble("1e400")])
def test_numbers_beyond_floats_are_refused(number):
    """An integer may be larger than any float."""
    with pytest.raises(InvalidParameterError, match=r"threshold must be a number"):
        cp.Policy(number)
    with pytest.raises(InvalidParameterError, match=r"threshold must be a number"):
        cp.evaluate(Y, S, threshold=number)


def test_one_relation_in_several_threads_is_read_by_one_after_the_other():
    """DuckDB 2 refuses a second query on a connection, and DuckDB 1 breaks off the first."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute(
        "create table t as select i % 2 as y, random() as p, 1 + i % 3 as w, i % 7 as k"
        " from range(300000) r(i)"
    )
    columns = {"label": "y", "score": "p", "maximize": "f1"}
    relation = connection.table("t")
    searches = [
        lambda: cp.find(relation, **columns).value,
        lambda: cp.find(relation, weight="w", **columns).value,
        lambda: [one.value for one in cp.find_by(relation, by="k", **columns).values()],
    ]
    expected = [search() for search in searches]

    with ThreadPoolExecutor(6) as pool:
        found = [pool.submit(search) for _ in range(4) for search in searches]

    assert 4 * expected == [one.result() for one in found]


@pytest.mark.skipif(DUCKDB_1, reason="DuckDB 1 has no error of its own for a connection in use")
def test_a_connection_that_runs_a_query_of_someone_else_is_told():
    """The error says what to do instead."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql("select 1 as y, 0.5 as p")
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(connection.execute, "select sum(i * random()) from range(100000000000) r(i)")
        time.sleep(0.5)
        with pytest.raises(
            InvalidInputError, match=r"(?s)Another thread is using it.*connection\.cursor\(\)"
        ):
            cp.find(relation, label="y", score="p", maximize="f1")
        connection.interrupt()
        assert isinstance(other.exception(), duckdb.InterruptException)

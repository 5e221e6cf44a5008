"""`cutpoints evaluate`."""

import json

import pytest

import cutpoints as cp

CLASSES = ("--classes", "cat=p_cat", "--classes", "dog=p_dog", "--classes", "owl=owl")


@pytest.fixture
def animals(tmp_path):
    """Four rows of three classes, with scores, predictions and weights: the lecture's top-2 example."""
    path = tmp_path / "animals.csv"
    lines = ["cat,cat,.5,.2,.2,1", "dog,dog,.3,.4,.2,1", "owl,dog,.2,.4,.3,1", "owl,cat,.7,.2,.1,2"]
    path.write_text("\n".join(["animal,predicted,p_cat,p_dog,owl,w", *lines]) + "\n", encoding="utf-8")
    return path


def test_a_threshold_is_that_of_the_library(run, scores):
    """--json is `Evaluation.to_dict`, and people see the counts and the intervals."""
    asked = ("evaluate", scores, "--label", "y", "--score", "p", "--threshold", "0.5")
    result = run(*asked, "--json")

    expected = cp.evaluate(cp.read(scores, label="y", score="p"), threshold=0.5)
    assert expected.to_dict() == json.loads(result.stdout)
    assert "95 % interval" in run(*asked).stdout


def test_predicted_classes(run, animals):
    """One column of --classes holds the predicted classes."""
    asked = ("evaluate", str(animals), "--label", "animal", "--classes", "predicted")
    expected = cp.evaluate_classes(["cat", "dog", "owl", "owl"], ["cat", "dog", "dog", "cat"])

    assert expected.to_dict() == json.loads(run(*asked, "--json").stdout)
    shown = run(*asked).stdout
    assert "owl                 1    1    0" in shown
    assert "top-" not in shown


def test_scores_of_classes(run, animals):
    """Several columns of --classes are the scores of each, and a class may be named."""
    asked = ("evaluate", str(animals), "--label", "animal", *CLASSES)
    found = json.loads(run(*asked, "--json").stdout)

    assert ["cat", "dog", "owl"] == found["labels"]
    assert (0.5, 0.75) == (found["accuracy"], found["top_k_accuracy"])
    assert "top-1 accuracy" in run(*asked, "--top-k", "1").stdout
    assert 0.4 == json.loads(run(*asked, "--weight", "w", "--json").stdout)["accuracy"]


def test_classes_may_be_numbers(run, tmp_path):
    """Labels 0, 1 and 2 are read alike in both columns."""
    path = tmp_path / "numbers.csv"
    path.write_text("y,yhat\n2,0\n0,0\n2,2\n2,2\n0,0\n1,2\n", encoding="utf-8")
    found = json.loads(run("evaluate", str(path), "--label", "y", "--classes", "yhat", "--json").stdout)

    assert [[2, 0, 0], [0, 0, 1], [1, 0, 2]] == found["confusion_matrix"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 2, "Give --score and --threshold"),
        (("--score", "p_cat", "--classes", "predicted"), 2, "Give --score and --threshold"),
        (("--score", "p_cat"), 2, "Missing option '--threshold'"),
        (("--classes", "predicted", "--threshold", "0.5"), 2, "--threshold cannot be combined"),
        (("--classes", "cat=p_cat", "--classes", "cat=p_dog"), 2, "another class and another column"),
        (("--classes", "p_cat"), 1, "where no value is one of the true labels"),
        (("--classes", "cat=p_cat", "--classes", "dog=p_dog"), 1, "without the label 'owl' of row 2"),
        (("--classes", "nothing"), 1, "Column not found: 'nothing'"),
        ((*CLASSES, "--top-k", "4"), 1, "--top-k must be"),
    ],
)
def test_what_is_wrong_is_said(run, animals, options, code, message):
    """Bad options are 2, bad data 1, and never a traceback."""
    result = run("evaluate", str(animals), "--label", "animal", *options)

    assert code == result.exit_code, result.output
    assert message in " ".join(result.stderr.split())


def test_frames_have_columns_too(animals):
    """In Python the same columns are named."""
    import pandas as pd

    frame = pd.read_csv(animals)
    names = {"score": ["p_cat", "p_dog", "owl"], "labels": ["cat", "dog", "owl"]}
    one = cp.evaluate_classes(frame, label="animal", **names)

    assert one == cp.evaluate_classes(animals, label="animal", **names)
    assert one == cp.evaluate_classes(frame["animal"], frame[names["score"]], labels=names["labels"])
    by_name = cp.evaluate_classes(frame, label="animal", predicted="predicted")
    assert by_name == cp.evaluate_classes(frame["animal"], frame["predicted"])
    with pytest.raises(cp.exceptions.InvalidParameterError, match="label"):
        cp.evaluate_classes(frame, predicted="predicted")
    with pytest.raises(cp.exceptions.InvalidParameterError, match="predicted"):
        cp.evaluate_classes(frame, label="animal")

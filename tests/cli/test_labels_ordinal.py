"""`cutpoints labels` and `cutpoints ordinal`: what they print, and the policies that they write."""

import json

import numpy as np
import pandas as pd
import pytest

import cutpoints as cp

LABELS = ("--label", "y", "--score", "p", "--by", "tag")
GRADES = ("--label", "grade", "--score", "s")


def rows(seed):
    """A long table of three tags, and a table of grades."""
    rng = np.random.default_rng(seed)
    y = (rng.random((400, 3)) < [0.1, 0.3, 0.5]).astype(int)
    p = 1 / (1 + np.exp(1 - rng.normal(size=y.shape) - 2 * y))
    long = pd.DataFrame({"y": y.ravel(), "p": p.ravel(), "tag": np.tile(["arts", "it's", "sport"], 400)})
    z = rng.normal(size=600)
    grades = pd.DataFrame({"grade": np.digitize(z, [-0.5, 0.7]), "s": z + rng.normal(size=600) / 2})
    grades["size"] = np.array(["small", "medium", "large"])[grades["grade"]]
    return long, grades


@pytest.fixture
def files(tmp_path):
    """Both tables as CSV, for searching and for checking."""
    for name, seed in (("old", 0), ("new", 1)):
        for kind, table in zip(("long", "grades"), rows(seed), strict=True):
            table.to_csv(tmp_path / f"{name}-{kind}.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_labels_json_is_that_of_the_library(run, files, average):
    """--json prints the solution's own dictionary."""
    path = str(files / "old-long.csv")
    result = run(
        *("labels", path, *LABELS, "--maximize", "f1", "--average", average),
        *("--each", "recall >= 0.2", "--min-rows", "5", "--json"),
    )
    found = cp.find_labels(
        rows(0)[0], label="y", score="p", by="tag", maximize="f1", average=average, each="recall >= 0.2",
        min_rows=5,
    )  # fmt: skip

    assert 0 == result.exit_code
    assert found.to_dict() == json.loads(result.stdout)


def test_labels_text(run, files):
    """A line for each label, the value and the value to expect on new data."""
    result = run("labels", str(files / "old-long.csv"), *LABELS, "--maximize", "f1")

    for text in ("tag", "arts", "it's", "sport", "cross-validated", "maximize micro f1"):
        assert text in result.stdout


def test_labels_are_deployed_and_checked(run, files):
    """The policy decides a long table as the solution does, and check finds that nothing has changed."""
    policy, new, out = (str(files / name) for name in ("tags.json", "new-long.csv", "out.csv"))
    assert (
        0
        == run(
            "labels", str(files / "old-long.csv"), *LABELS, "--maximize", "f1", "--policy", policy
        ).exit_code
    )
    assert 0 == run("apply", policy, new, "-o", out).exit_code
    table = rows(1)[0]
    thresholds = cp.find_labels(rows(0)[0], label="y", score="p", by="tag", maximize="f1").thresholds
    expected = (table["p"] >= table["tag"].map(thresholds)).astype(int)

    assert expected.tolist() == pd.read_csv(out)["decision"].tolist()
    checked = run("check", policy, new, "--label", "y")
    assert 0 == checked.exit_code
    assert "f1 is not worse" in checked.stdout


@pytest.mark.parametrize(
    "goal",
    [
        ("--maximize", "quadratic_kappa"),
        ("--minimize", "absolute_error"),
        ("--minimize", "[[0, 1, 5], [1, 0, 2], [9, 3, 0]]"),
    ],
)
def test_ordinal_json_is_that_of_the_library(run, files, goal):
    """--json prints the solution's own dictionary, also for a matrix of costs."""
    result = run("ordinal", str(files / "old-grades.csv"), *GRADES, *goal, "--json")
    wanted = goal[1] if not goal[1].startswith("[") else json.loads(goal[1])
    asked = {goal[0].removeprefix("--"): wanted}
    found = cp.find_ordinal(rows(0)[1], label="grade", score="s", **asked)

    assert 0 == result.exit_code
    assert found.to_dict() == json.loads(result.stdout)


def test_classes_in_words_are_given_in_their_order(run, files):
    """Text has no order of its own: it is asked for, and used."""
    path = str(files / "old-grades.csv")
    columns = ("--label", "size", "--score", "s", "--maximize", "accuracy")
    refused = run("ordinal", path, *columns)
    assert 1 == refused.exit_code
    assert "--classes must be given for labels that are not numbers" in refused.stderr
    found = run("ordinal", path, *columns, "--classes", "small, medium, large")
    assert 0 == found.exit_code
    for text in ("class small", "class large", "cross-validated", "maximize accuracy"):
        assert text in found.stdout


def test_cutpoints_are_deployed_and_checked(run, files):
    """The policy writes classes by name, and check knows the matrix of costs."""
    policy, new, out = (str(files / name) for name in ("sizes.json", "new-grades.csv", "out.csv"))
    columns = ("--label", "size", "--score", "s", "--classes", "small,medium,large")
    costs = (
        '{"small": {"small": 0, "medium": 1, "large": 5}, "medium": {"small": 1, "medium": 0, "large": 2}, '
    )
    costs += '"large": {"small": 9, "medium": 3, "large": 0}}'
    made = run("ordinal", str(files / "old-grades.csv"), *columns, "--minimize", costs, "--policy", policy)
    assert 0 == made.exit_code
    assert 0 == run("apply", policy, new, "-o", out).exit_code
    decided = pd.read_csv(out)
    rule = cp.Policy.load(policy)
    assert rule.decide(decided["s"].to_numpy()).tolist() == decided["decision"].tolist()
    checked = run("check", policy, new, "--label", "size", "--json")
    table = {
        key: json.loads(costs)[key[0]][key[1]]
        for key in {*zip(decided["decision"], decided["size"], strict=True)}
    }
    total = sum(table[key] for key in zip(decided["decision"], decided["size"], strict=True))
    assert total == json.loads(checked.stdout)["labels"]["value"]["total"]


@pytest.mark.parametrize(
    ("command", "options", "expected"),
    [
        ("labels", (*LABELS,), (2, "--maximize")),
        ("labels", (*LABELS[:4], "--maximize", "f1"), (2, "--by")),
        ("labels", (*LABELS, "--maximize", "f1", "--min-rows", "0"), (1, "--min-rows must be")),
        ("labels", (*LABELS[:4], "--by", "nope", "--maximize", "f1"), (1, "nope")),
        ("labels", (*LABELS, "--maximize", "recall", "--subject-to", "precision > 1"), (3, "precision")),
        (
            "labels",
            (*LABELS, "--maximize", "f1", "--average", "macro", "--subject-to", "recall >= 0.1"),
            (1, "--each"),
        ),
        ("ordinal", GRADES, (2, "--maximize")),
        ("ordinal", (*GRADES, "--maximize", "f1"), (1, "quadratic_kappa")),
        ("ordinal", (*GRADES, "--minimize", "[[0, 1"), (2, "JSON")),
        ("ordinal", (*GRADES, "--minimize", "[[0, 1], [1, 0]]"), (1, "3 x 3")),
        ("ordinal", (*GRADES, "--maximize", "accuracy", "--classes", "0,1"), (1, "--classes")),
    ],
)
def test_slips_are_named(run, files, command, options, expected):
    """A missing option exits with 2, a bad goal with 1, constraints that cannot be met with 3."""
    path = str(files / ("old-long.csv" if command == "labels" else "old-grades.csv"))
    result = run(command, path, *options)

    assert expected[0] == result.exit_code
    assert expected[1] in result.stderr

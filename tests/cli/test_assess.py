"""`cutpoints assess` and `cutpoints find --guarantee`."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import cutpoints as cp
from cutpoints.cli import main


@pytest.fixture
def file(tmp_path):
    """A CSV file of 600 rows in groups of three."""
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.4).astype(int)
    p = (rng.normal(size=600) + 2.5 * y).round(3)
    lines = [f"{a},{b},c{i // 3},{i % 4 + 1}" for i, (a, b) in enumerate(zip(y, p, strict=True))]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["y,p,customer,w", *lines]) + "\n", encoding="utf-8")
    return path, y, p


def run(*arguments):
    """Run the command line."""
    return CliRunner().invoke(main, [str(one) for one in arguments])


def test_assess_prints_the_report(file):
    """The report has the two values side by side and ends in the sentence."""
    path, *_ = file
    result = run(
        "assess", path, "--label", "y", "--score", "p", "--maximize", "accuracy", "--n-bootstrap", 50
    )

    assert 0 == result.exit_code, result.output
    for part in ("resubstitution", "cross-validated", "optimism", "heuristic", "At threshold"):
        assert part in result.output


def test_assess_json_is_the_object_of_the_library(file):
    """One object on standard output, equal to `Assessment.to_dict`."""
    path, y, p = file
    result = run(
        "assess", path, "--label", "y", "--score", "p", "--maximize", "f1", "--n-bootstrap", 20, "--json"
    )

    assert json.loads(result.stdout) == cp.assess(y, p, maximize="f1", n_bootstrap=20).to_dict()


def test_assess_leaves_one_group_out(file):
    """--cv loo with --group has one fold for each group."""
    path, *_ = file
    asked = ("--label", "y", "--score", "p", "--maximize", "f1", "--n-bootstrap", "0", "--json")
    result = run("assess", path, *asked, "--cv", "loo", "--group", "customer")

    assert 0 == result.exit_code, result.output
    assert 200 == json.loads(result.stdout)["folds"]["number"]


def test_assess_by_group(file):
    """Groups come from a column of any kind."""
    path, y, p = file
    options = ("--label", "y", "--score", "p", "--maximize", "f1", "--n-bootstrap", 20, "--json")
    result = run("assess", path, *options, "--group", "customer", "--cv", 3, "--no-stratify")
    expected = cp.assess(
        y, p, maximize="f1", n_bootstrap=20, groups=[f"c{i // 3}" for i in range(600)], cv=3, stratify=False
    )

    assert expected.to_dict() == json.loads(result.stdout)


def test_groups_are_of_the_rows_that_are_left(file):
    """Groups go through the same filter and the same query, and come out of a pipe too."""
    path, y, p = file
    text = path.read_text(encoding="utf-8")
    options = ("--label", "y", "--score", "p", "--maximize", "f1", "--n-bootstrap", 20, "--json", "--cv", 3)
    by = (*options, "--no-stratify", "--group", "customer")
    few = run("assess", path, *by, "--where", "w < 3")
    query = run("assess", path, *by, "--sql", "select * from data where w in ('1', '2')")
    piped = CliRunner().invoke(main, [*map(str, ("assess", "-", *by)), "--where", "w < 3"], input=text)
    kept = [i for i in range(600) if i % 4 < 2]
    groups = [f"c{i // 3}" for i in kept]
    expected = cp.assess(y[kept], p[kept], maximize="f1", n_bootstrap=20, groups=groups, cv=3, stratify=False)

    for result in (few, query, piped):
        assert expected.to_dict() == json.loads(result.stdout)


def test_a_row_without_a_group_is_refused(file):
    """Rows of nobody are not all of one customer."""
    path, *_ = file
    path.write_text(path.read_text(encoding="utf-8").replace(",c7,", ",,"), encoding="utf-8")
    result = run("assess", path, "--label", "y", "--score", "p", "--maximize", "f1", "--group", "customer")

    assert 1 == result.exit_code
    assert "'customer' must not contain NaN or null. 3 of 600 values are missing" in result.output


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 2, "Missing option '--maximize' or '--minimize'"),
        (("--maximize", "f1", "--minimize", "fpr"), 2, "cannot both be given"),
        (("--maximize", "f1", "--positives", "y"), 2, "No such option '--positives'"),
        (("--maximize", "f1", "--confidence", "95"), 1, "--confidence must be a number between 0 and 1"),
        (("--maximize", "f1", "--cv", "1"), 1, "--cv must be at least 2 folds"),
        (("--maximize", "f1", "--cv", "many"), 2, "'many' is neither a number of folds nor 'loo'"),
        (("--maximize", "f1", "--group", "nobody"), 1, "Column not found: 'nobody'"),
        (("--maximize", "f1", "--group", "w"), 1, "The groups for 5 folds"),
        (("--maximize", "recall", "--subject-to", "precision > 1"), 3, "No threshold meets"),
    ],
)
def test_assess_exit_codes(file, options, code, message):
    """Bad options are 2, bad data 1, infeasible 3, and never a traceback."""
    path, *_ = file
    result = run("assess", path, "--label", "y", "--score", "p", *options)

    assert code == result.exit_code, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_assess_groups_need_a_file(file):
    """Standard input can be read only once."""
    result = run("assess", "-", "--label", "y", "--score", "p", "--maximize", "f1", "--group", "g")
    assert 0 != result.exit_code


@pytest.mark.parametrize("confidence", ["0.9", "expectation"])
def test_find_with_confidence(file, confidence):
    """The guarantee is printed, and is in the JSON."""
    path, y, p = file
    options = (
        path,
        "--label",
        "y",
        "--score",
        "p",
        "--maximize",
        "precision",
        "--subject-to",
        "recall >= 0.8",
    )
    shown = run("find", *options, "--guarantee", confidence)
    told = json.loads(run("find", *options, "--guarantee", confidence, "--json").stdout)
    level = confidence if confidence == "expectation" else float(confidence)

    assert 0 == shown.exit_code, shown.output
    assert "guarantee" in shown.stdout
    expected = cp.find(y, p, maximize="precision", subject_to="recall >= 0.8", guarantee=level)
    assert expected.to_dict() == told


def test_find_none_certified_is_exit_code_3(file):
    """The JSON has the status, and standard error says how many more rows are needed."""
    path, *_ = file
    options = (
        path,
        "--label",
        "y",
        "--score",
        "p",
        "--maximize",
        "recall",
        "--subject-to",
        "precision >= 0.99",
    )
    result = run("find", *options, "--guarantee", "0.99", "--json")

    assert 3 == result.exit_code
    assert "none_certified" == json.loads(result.stdout)["status"]
    assert "more rows" in result.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--guarantee", "much"), 2, "neither a number nor 'expectation'"),
        (("--guarantee", "95%"), 2, "Hint: for 95% write 0.95."),
        (("--guarantee", "2"), 1, "--guarantee must be a number between 0 and 1"),
        (("--guarantee", "0.9", "--weight", "w"), 2, "cannot be combined with --weight"),
        (("--guarantee", "0.9", "--subject-to", "mcc > 0.1"), 1, "must be a bound on one of"),
    ],
)
def test_find_confidence_errors(file, options, code, message):
    """What cannot be certified is told without a traceback."""
    path, *_ = file
    result = run(
        "find",
        path,
        "--label",
        "y",
        "--score",
        "p",
        "--maximize",
        "recall",
        "--subject-to",
        "precision >= 0.9",
        *options,
    )

    assert code == result.exit_code, result.output
    assert message in result.stderr

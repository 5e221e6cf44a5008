"""`cutpoints find`."""

import json

import numpy as np
import pytest

import cutpoints as cp

LABELS, SCORES = [1, 0, 1, 0, 1], [0.9, 0.3, 0.4, 0.2, 0.1]


def test_text_tells_all_that_matters(run, scores):
    """Threshold, value, interval, proof, confusion and metrics beside those at 0.5 are shown."""
    result = run("find", scores, "--label", "y", "--score", "p", "--maximize", "f1")

    assert 0 == result.exit_code
    assert "" == result.stderr
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    for expected in [
        "goal maximize f1",
        "threshold 0.4 positive if score >= threshold",
        "value 0.8",
        "interval (0.3, 0.4] the same decisions for any threshold in it",
        "ties none, every other cut is worse",
        "data 5 rows, 3 positive, 2 negative",
    ]:
        assert expected in lines
    assert "positive tp 2 fn 1 f1 0.8000 0.5000" in lines
    assert "negative fp 0 tn 2 accuracy 0.8000 0.6000" in lines
    assert any(line.startswith("proof no cut has a higher value (") for line in lines)


@pytest.mark.parametrize("goal", ["f1", "0.7*accuracy + 0.3*recall", "profit(tp=100000, fp=-2)"])
def test_text_fits_80_columns(run, scores, goal):
    """No line is longer than a usual terminal is wide, none ends in a space, none is coloured."""
    out = run("find", scores, "--label", "y", "--score", "p", "--maximize", goal).stdout

    assert max(map(len, out.splitlines())) <= 80
    assert [] == [line for line in out.splitlines() if line != line.rstrip()]
    assert "\x1b" not in out


def test_json_is_the_solution_and_nothing_else(run, scores):
    """`--json` prints what `Solution.to_dict` returns and what 0.5 loses, with infinities as text."""
    result = run("find", scores, "--label", "y", "--score", "p", "--maximize", "recall", "--json")
    expected = cp.find(LABELS, SCORES, maximize="recall").to_dict()
    expected["loss"] = cp.curve(LABELS, SCORES).split_loss(maximize="recall").to_dict()

    assert expected == json.loads(result.stdout, parse_constant=pytest.fail)
    assert "-inf" == json.loads(result.stdout)["interval"]["low"]
    assert "" == result.stderr


def test_json_of_a_real_process(process, scores):
    """Standard output of a process is one JSON object too."""
    out, err = process(
        *("find", scores, "--label", "y", "--score", "p", "--json"),
        *("--maximize", "recall", "--subject-to", "precision >= 0.95"),
    ).communicate()

    assert 0.4 == json.loads(out)["threshold"]
    assert "" == err


def test_standard_input(process, scores):
    """`-` reads standard input."""
    with open(scores, encoding="utf-8") as file:  # noqa: PTH123
        running = process(
            *("find", "-", "--label", "y", "--score", "p", "--maximize", "f1", "--json"), stdin=file
        )
        out, err = running.communicate()

    assert (0, "") == (running.returncode, err)
    assert 0.4 == json.loads(out)["threshold"]


def test_constraints_add_up(run, scores):
    """`--subject-to` may be given more than once, and all of them hold."""
    result = run(
        *("find", scores, "--label", "y", "--score", "p", "--json", "--maximize", "recall"),
        *("--subject-to", "precision >= 0.6", "--subject-to", "predicted_positive <= 4"),
    )
    expected = cp.find(
        LABELS, SCORES, maximize="recall", subject_to=["precision >= 0.6", "predicted_positive <= 4"]
    ).to_dict()

    assert expected.items() <= json.loads(result.stdout).items()


def test_a_goal_that_is_no_key_metric_is_compared_too(run, scores):
    """A cost stands in the table with its value here and at 0.5, and so does what constrains it."""
    result = run(
        *("find", scores, "--label", "y", "--score", "p"),
        *("--minimize", "cost(fp=1, fn=5)", "--subject-to", "npv >= 0"),
    )
    text = " ".join(result.stdout.split())

    assert "goal minimize cost(fp=1, fn=5) subject to npv >= 0" in text
    assert "no allowed cut has a lower value" in text
    assert "cost(fp=1, fn=5) 5 10" in text
    assert "npv 0.6667 0.5000" in text


def test_scores_that_are_no_probabilities_have_no_default(run, tmp_path):
    """Points are not compared with 0.5."""
    path = tmp_path / "points.csv"
    path.write_text("y,p\n1,700\n0,300\n", encoding="utf-8")
    out = run("find", str(path), "--label", "y", "--score", "p", "--maximize", "f1").stdout

    assert "threshold   700 " in out
    assert "at 0.5" not in out


def test_ties_are_listed(run, tmp_path):
    """The other cuts of equal value are counted, and the first ones shown."""
    path = tmp_path / "ties.csv"
    path.write_text("y,p\n" + "".join(f"{i % 2},{i}\n" for i in range(20)), encoding="utf-8")
    out = run("find", str(path), "--label", "y", "--score", "p", "--maximize", "accuracy").stdout

    assert "9 more of equal value, at 17, 15, 13, 11, 9, ..." in out


def test_weights(run, tmp_path):
    """A weight of 2 is a row that comes twice."""
    path = tmp_path / "weighted.csv"
    path.write_text("y,p,w\n1,0.9,2\n0,0.8,1\n1,0.3,1\n0,0.1,5\n", encoding="utf-8")
    columns = ("--label", "y", "--score", "p", "--weight", "w")
    shown = json.loads(run("find", str(path), *columns, "--maximize", "f1", "--json").stdout)

    assert {"tp": 3, "fp": 1, "fn": 0, "tn": 5} == shown["confusion"]


def test_counted_rows(run, tmp_path):
    """Rows that are counted already need no labels."""
    path = tmp_path / "counted.csv"
    path.write_text("p,good,bad\n0.2,1,9\n0.5,5,5\n0.9,8,1\n", encoding="utf-8")
    columns = ("--score", "p", "--positives", "good", "--negatives", "bad")
    shown = json.loads(run("find", str(path), *columns, "--maximize", "f1", "--json").stdout)

    assert (0.5, 14, 15) == (shown["threshold"], shown["positives"], shown["negatives"])


@pytest.mark.parametrize("method", ["sweep", "narrow"])
def test_method_is_passed_on(run, scores, method):
    """`--method` does what the argument does."""
    columns = ("--label", "y", "--score", "p")
    options = ("--method", method, "--json")
    shown = json.loads(run("find", scores, *columns, "--maximize", "f1", *options).stdout)

    assert method == shown["certificate"]["method"]
    assert 0.4 == shown["threshold"]


def test_infeasible_is_exit_3(run, scores):
    """No threshold: the message says what can be attained, and standard output is empty."""
    result = run(
        *("find", scores, "--label", "y", "--score", "p"),
        *("--maximize", "recall", "--subject-to", "precision > 1"),
    )

    assert 3 == result.exit_code
    assert "" == result.stdout
    assert "Error: No threshold meets 'precision > 1'." in result.stderr
    assert "Hint: relax the constraint" in result.stderr


def test_infeasible_json(run, scores):
    """With `--json` the solution that says so is on standard output as well."""
    result = run(
        *("find", scores, "--label", "y", "--score", "p", "--json"),
        *("--maximize", "recall", "--subject-to", "precision > 1"),
    )
    shown = json.loads(result.stdout)

    assert 3 == result.exit_code
    assert ("infeasible", None) == (shown["status"], shown["threshold"])
    assert "precision > 1" == shown["attainable"][0]["constraint"]
    assert "Error: No threshold meets" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "y", "--maximize", "f1"], "Missing option '--score'"),
        (["--score", "p", "--maximize", "f1"], "Missing option '--label'"),
        (["--label", "y", "--score", "p"], "Missing option '--maximize' or '--minimize'"),
        (
            ["--label", "y", "--score", "p", "--maximize", "f1", "--minimize", "fpr"],
            "--maximize and --minimize cannot both be given",
        ),
        (
            ["--score", "p", "--positives", "a", "--maximize", "f1"],
            "--positives and --negatives must be given together",
        ),
        (
            ["--label", "y", "--score", "p", "--negatives", "a", "--maximize", "f1"],
            "--label cannot be combined with --positives",
        ),
        (
            ["--label", "y", "--score", "p", "--maximize", "f1", "--method", "guess"],
            "'guess' is not one of 'auto', 'sweep', 'narrow'",
        ),
    ],
)
def test_options_that_do_not_go_together_are_exit_2(run, scores, options, message):
    """Missing, contradictory and unknown options end with 2 and say which."""
    result = run("find", scores, *options)

    assert 2 == result.exit_code
    assert "" == result.stdout
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "found", "hint"),
    [
        (["--maximize", "f11"], "Unknown metric: 'f11'", "did you mean 'f1'"),
        (["--maximize", "f1 >= 2"], "--maximize must be", "constraints go into --subject-to"),
        (["--maximize", "cost(2, 1)"], "given by name", "did you mean 'cost(fp=2, fn=1)'"),
        (["--maximize", "__import__('os')"], "Unknown metric: '__import__'", "cutpoints metrics"),
        (["--maximize", ""], "--maximize must be", "for example"),
        (["--maximize", "f1", "--subject-to", "precision"], "--subject-to must be", "for example"),
        (["--maximize", "f1", "--pos-label", "7"], "--pos-label must be one of the labels", ""),
        (["--maximize", "f1", "--pos-label", "yes"], "which are numbers, got 'yes'", ""),
    ],
)
def test_what_cannot_be_meant_is_exit_1(run, scores, options, found, hint):
    """A goal, a column or a label that there is not ends with 1, what was found and a hint."""
    result = run("find", scores, "--label", "y", "--score", "p", *options)

    assert 1 == result.exit_code
    assert "" == result.stdout
    assert result.stderr.startswith("Error: ")
    assert found in result.stderr
    assert hint in result.stderr


@pytest.mark.parametrize("columns", [("--label", "y", "--score", "P"), ("--label", "Y", "--score", "p")])
def test_a_column_that_there_is_not(run, scores, columns):
    """The file, its columns and the nearest of them are named."""
    result = run("find", scores, *columns, "--maximize", "f1")

    assert 1 == result.exit_code
    assert f"The columns of '{scores}' are 'y' and 'p'." in result.stderr
    assert "Hint: did you mean " in result.stderr


@pytest.mark.parametrize(
    ("goal", "warning"),
    [
        (("--maximize", "cost(fp=1, fn=5)"), "is better the lower it is. Did you mean --minimize?"),
        (("--minimize", "f1"), "is better the higher it is. Did you mean --maximize?"),
        (("--minimize", "predicted_positive"), ""),
        (("--maximize", "0.5*fpr + recall"), ""),
    ],
)
def test_the_wrong_direction_is_doubted(run, scores, goal, warning):
    """It is searched for all the same, and standard error asks whether it was meant."""
    result = run("find", scores, "--label", "y", "--score", "p", *goal, "--json")

    assert 0 == result.exit_code
    assert warning in result.stderr
    assert bool(warning) == bool(result.stderr)


def test_a_cost_is_written_to_the_last_unit(run, scores):
    """Money is not rounded to six digits."""
    goal = ("--minimize", "cost(fp=1234567, fn=7654321)")
    result = run("find", scores, "--label", "y", "--score", "p", *goal)
    value = cp.find(scores, label="y", score="p", minimize=goal[1]).value

    assert f"value         {value:,.0f}\n" in result.stdout


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("y,p\n1,0.9\n0,\n1,nan\n", "2 of 3 values are missing, the first at row 1"),
        ("y,p\n1,0.9\n,0.3\n", "1 of 2 values is missing, the first at row 1"),
        ("y,p\n1,0.9\n0,high\n", "1 value is not a number, the first at row 1"),
        ("y,p\n1,9007199254740993\n0,9007199254740992\n", "got '9007199254740993 at row 0 and 1 more'"),
        ("y,p\n1,0.5\n0,-1e400\n", "got '-1e400 at row 1'"),
        ("y,p\n0,0.9\n1,0.3\n2,0.1\n", "Got 3 distinct labels instead: 0, 1 and 2"),
        ("y,p\nno,0.9\nyes,0.3\n", "pass --pos-label yes or --pos-label no"),
        ("y,p\n", "must have at least one row"),
        ("", "It is empty"),
    ],
    ids=[
        "scores",
        "labels",
        "text",
        "too long",
        "too large",
        "three labels",
        "which label",
        "no rows",
        "no bytes",
    ],
)
def test_bad_data_are_exit_1(run, tmp_path, text, found):
    """Data that cannot be searched end with 1, and say how many and where."""
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    result = run("find", str(path), "--label", "y", "--score", "p", "--maximize", "f1")

    assert 1 == result.exit_code
    assert "" == result.stdout
    assert found in result.stderr


def test_the_goal_is_read_before_the_file(run):
    """A slip in the goal is told at once, not after minutes of reading."""
    result = run("find", "nowhere.csv", "--label", "y", "--score", "p", "--maximize", "f11")

    assert "did you mean 'f1'" in result.stderr


def test_calibration_check_is_a_sentence(run, scores):
    """With --check-calibration the answer says where calibrated probabilities would have it."""
    result = run("find", scores, "--label", "y", "--score", "p", "--maximize", "f1", "--check-calibration")

    assert 0 == result.exit_code
    assert "calibrated probabilities would" in " ".join(result.stdout.split())


def test_calibration_check_needs_a_goal_with_a_theory(run, scores):
    """For mcc there is no such threshold, and the options are refused."""
    result = run("find", scores, "--label", "y", "--score", "p", "--maximize", "mcc", "--check-calibration")

    assert 2 == result.exit_code
    assert "needs scores in [0, 1]" in " ".join(result.stderr.split())


def test_assess_says_what_to_expect_on_new_data(run, tmp_path):
    """The cross-validated value and the bound of `assess` stand beside the value, with the same seed."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    p = 1 / (1 + np.exp(-rng.normal(size=400) - 1.5 * y))
    path = tmp_path / "rows.csv"
    path.write_text("y,p\n" + "".join(f"{a},{b!r}\n" for a, b in zip(y.tolist(), p.tolist(), strict=True)))
    asked = ["find", str(path), "--label", "y", "--score", "p", "--maximize", "f1"]
    shown, told = run(*asked, "--assess"), json.loads(run(*asked, "--assess", "--json").stdout)
    expected = cp.assess(y, p, maximize="f1", n_bootstrap=0)

    assert expected.cross_validated == told["assessment"]["cross_validated"]
    assert expected.lower_bound == told["assessment"]["bound"]
    assert f"at least {expected.lower_bound:.4f} with 95 % confidence" in " ".join(shown.stdout.split())
    assert 2 == run(*asked, "--assess", "--by", "y").exit_code


def test_what_half_loses_is_split(run, scores):
    """A line says what 0.5 loses to the threshold, to calibration and to the ranking; `--json` does, too."""
    asked = ["find", scores, "--label", "y", "--score", "p", "--maximize", "f1"]
    shown = run(*asked).stdout

    expected = cp.curve(cp.read(scores, label="y", score="p")).split_loss(maximize="f1")
    assert f"lost at 0.5 {expected.parts}" in " ".join(shown.split())
    assert expected.to_dict() == json.loads(run(*asked, "--json").stdout)["loss"]


def test_nothing_is_split_where_nothing_is_lost_at_half(run, scores, tmp_path):
    """Without a threshold, and where scores are no probabilities, `--json` says nothing of 0.5."""
    points = tmp_path / "points.csv"
    points.write_text("y,p\n1,900\n0,300\n1,400\n0,200\n")
    asked = ["--label", "y", "--score", "p", "--maximize", "recall", "--json"]

    assert "loss" not in json.loads(run("find", str(points), *asked).stdout)
    assert "loss" not in json.loads(run("find", scores, *asked, "--subject-to", "recall > 1").stdout)

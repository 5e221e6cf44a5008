"""`cutpoints compare`, and the plots and evaluations of `cutpoints curve`."""

import json

import numpy as np
import pandas as pd
import pytest

import cutpoints as cp


@pytest.fixture
def two(tmp_path):
    """A file of eight rows with two models; m1 is the better one."""
    path = tmp_path / "two.csv"
    lines = ["y,m1,m2", "0,0.0,0.5", "0,0.1,0.1", "1,0.3,0.3", "1,0.3,0.6", "0,0.3,0.7", "0,0.4,0.2"]
    path.write_text("\n".join([*lines, "1,0.7,0.4", "1,0.9,0.8"]) + "\n", encoding="utf-8")
    return str(path)


GOAL = ("--minimize", "cost(fp=2, fn=1)")


def test_compare_prints_the_winner(two, run):
    """The table names the best model, its threshold and the tests; one that may be chance is no winner."""
    result = run("compare", two, "--label", "y", "--score", "m1", "--score", "m2", *GOAL)
    assert 0 == result.exit_code
    assert "best here   m1" in result.stdout
    assert "verdict     m1 cannot be told apart from m2 on these rows" in result.stdout
    assert "McNemar p" in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


@pytest.mark.filterwarnings("ignore:A class has only:cutpoints.exceptions.DataWarning")
def test_compare_json_is_the_python_answer(two, run):
    """The JSON is what Python says, on standard output alone."""
    result = run("compare", two, "--label", "y", "--score", "m1", "--score", "m2", *GOAL, "--json")
    shown = json.loads(result.stdout)
    y = [0, 0, 1, 1, 0, 0, 1, 1]
    scores = {"m1": [0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9], "m2": [0.5, 0.1, 0.3, 0.6, 0.7, 0.2, 0.4, 0.8]}
    expected = cp.compare(y, scores, minimize="cost(fp=2, fn=1)").to_dict()
    assert json.loads(json.dumps(expected)) | {"plot": None} == shown


def test_a_column_may_have_a_comma_in_its_name(tmp_path, run):
    """Columns are named one by one, so any name can be told."""
    path = tmp_path / "two.csv"
    path.write_text('y,"m1,v2",m2\n0,0.1,0.5\n1,0.6,0.3\n1,0.4,0.7\n0,0.3,0.2\n', encoding="utf-8")
    result = run("compare", str(path), "--label", "y", "--score", "m1,v2", "--score", "m2", *GOAL, "--json")
    assert 0 == result.exit_code
    assert ["m1,v2", "m2"] == [model["name"] for model in json.loads(result.stdout)["models"]]


def test_compare_infeasible_is_exit_3(two, run):
    """If no model meets the constraint the exit code is 3 and the JSON says infeasible."""
    result = run(
        "compare", two, "--label", "y", "--score", "m1", "--maximize", "recall",
        "--subject-to", "fpr < 0", "--json",
    )  # fmt: skip
    assert 3 == result.exit_code
    assert "infeasible" == json.loads(result.stdout)["status"]


def test_compare_warns_on_standard_error(tmp_path, run):
    """Warnings go to standard error, so that standard output stays a result."""
    path = tmp_path / "rare.csv"
    path.write_text("y,p\n1,0.9\n" + "0,0.1\n" * 30, encoding="utf-8")
    result = run("compare", str(path), "--label", "y", "--score", "p", "--maximize", "accuracy", "--json")
    assert 0 == result.exit_code
    assert "Warning: The positives are 3.23 %" in result.stderr
    json.loads(result.stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--score", "m1", "--score", "m1", "--maximize", "f1"), 2, "each must name a different column"),
        (("--score", "m1", "--maximize", "f1", "--minimize", "fpr"), 2, "cannot both"),
        (("--score", "m1"), 2, "Missing option"),
        (("--score", "m3", "--maximize", "f1"), 1, "m3"),
        (("--score", "m1", "--maximize", "f9"), 1, "f9"),
        (("--score", "m1", "--maximize", "f1", "--plot", "x.bmp"), 1, ".png"),
    ],
)
def test_compare_bad_options(two, run, arguments, code, message):
    """Bad options are exit 2, bad goals and columns exit 1, each in a sentence."""
    result = run("compare", two, "--label", "y", *arguments)
    assert code == result.exit_code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_compare_draws(two, run, tmp_path):
    """--plot writes the plot and says where."""
    place = tmp_path / "models.png"
    result = run(
        "compare", two, "--label", "y", "--score", "m1", "--score", "m2", *GOAL, "--plot", str(place)
    )
    assert 0 == result.exit_code
    assert place.read_bytes().startswith(b"\x89PNG")
    assert f"Wrote {place}." in result.stderr


def test_curve_draws_plots(two, run, tmp_path):
    """--plot writes each plot into the folder, which is made."""
    folder = tmp_path / "plots"
    result = run(
        "curve", two, "--label", "y", "--score", "m1", "--plot", "roc,pr,threshold", "-o", str(folder),
        "--maximize", "f1", "--json",
    )  # fmt: skip
    assert 0 == result.exit_code
    files = json.loads(result.stdout)["files"]
    assert [str(folder / f"{name}.png") for name in ("roc", "pr", "threshold")] == files
    assert {"roc.png", "pr.png", "threshold.png"} == {path.name for path in folder.iterdir()}


def test_curve_writes_svg(two, run, tmp_path):
    """--format svg writes SVG."""
    result = run(
        "curve", two, "--label", "y", "--score", "m1", "--plot", "cost", "--format", "svg",
        "-o", str(tmp_path / "p"),
    )  # fmt: skip
    assert 0 == result.exit_code
    assert (tmp_path / "p" / "cost.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_curve_refuses_unknown_plots(two, run):
    """An unknown plot is exit 2, with the nearest name, before anything is read."""
    result = run("curve", two, "--label", "y", "--score", "m1", "--plot", "rco")
    assert 2 == result.exit_code
    assert "Did you mean roc?" in result.stderr


def test_curve_refuses_an_unwritable_folder(two, run, tmp_path):
    """A folder that cannot be made is exit 1 in a sentence."""
    (tmp_path / "file").write_text("")
    place = str(tmp_path / "file" / "x")
    result = run("curve", two, "--label", "y", "--score", "m1", "--plot", "roc", "-o", place)
    assert 1 == result.exit_code
    assert "cannot be written" in result.stderr


def test_curve_at_gives_the_whole_catalogue(two, run):
    """--at prints every metric with intervals; the JSON is that of evaluate."""
    result = run("curve", two, "--label", "y", "--score", "m1", "--at", "0.35")
    assert 0 == result.exit_code
    assert "95 % interval" in result.stdout
    assert "markedness" in result.stdout
    result = run("curve", two, "--label", "y", "--score", "m1", "--at", "0.35", "--json")
    shown = json.loads(result.stdout)["evaluations"]
    y, m1 = [0, 0, 1, 1, 0, 0, 1, 1], [0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9]
    assert [json.loads(json.dumps(cp.evaluate(y, m1, threshold=0.35).to_dict()))] == shown


def test_curve_goal_needs_no_plot(two, run):
    """A goal is not ignored without a plot: its best cut is named below the table."""
    result = run("curve", two, "--label", "y", "--score", "m1", "--maximize", "accuracy")
    assert 0 == result.exit_code
    assert "* best              highest accuracy" in result.stdout


def test_the_tests_fit_a_narrow_terminal(two, run):
    """What is left out is in the JSON; the p-values stay."""
    result = run(
        "compare", two, "--label", "y", "--score", "m1", "--score", "m2", *GOAL, env={"COLUMNS": "60"}
    )
    lines = result.stdout.splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert any({"DeLong", "McNemar"} <= set(line.split()) for line in lines)


def test_models_are_compared_by_money(run, tmp_path):
    """A goal with columns has a verdict with a paired interval, in text and as JSON."""
    rng = np.random.default_rng(1)
    y = (rng.random(800) < 0.3).astype(int)
    frame = pd.DataFrame(
        {"y": y, "good": rng.normal(size=800) + 2 * y, "poor": rng.normal(size=800) + 0.5 * y}
    )
    frame["amount"] = np.round(rng.lognormal(3, 0.5, 800), 2)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    call = ["compare", str(tmp_path / "rows.csv"), "--label", "y", "--score", "good", "--score", "poor"]
    call += ["--minimize", "cost(fp=5, fn=amount)"]
    assert "good is better than poor: cost(fp=5, fn=amount) is" in " ".join(run(*call).stdout.split())
    (test,) = json.loads(run(*call, "--json").stdout)["tests"]
    assert test["bootstrap"]["interval"]["high"] < 0


def test_who_is_best_for_which_costs_is_said_in_words(run, tmp_path):
    """Ranges of costs without an end are said to have none."""
    path = tmp_path / "crossing.csv"
    y = [0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0]
    lines = [f"{one},{int(i > 9) + one * (i % 3 > 0)},{i % 7 + 2 * one}" for i, one in enumerate(y)]
    path.write_text("y,a,b\n" + "\n".join(lines) + "\n", encoding="utf-8")
    result = run("compare", str(path), "--label", "y", "--score", "a", "--score", "b", "--maximize", "f1")
    told = result.stdout.partition("if a false alarm costs, in misses")[2]

    assert 0 == result.exit_code
    assert "inf" not in told
    assert "more than" in told or "anything" in told

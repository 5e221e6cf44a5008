"""`cutpoints curve`."""

import csv
import io
import json
import math

import numpy as np
import pytest

import cutpoints as cp

LABELS, SCORES = [1, 0, 1, 0, 1], [0.9, 0.3, 0.4, 0.2, 0.1]
DATA = ("--label", "y", "--score", "p")


@pytest.fixture
def many(tmp_path):
    """A file with 1000 distinct scores."""
    path = tmp_path / "many.csv"
    rows = (f"{(i * 7919) % 3 // 2},{i / 1000}\n" for i in range(1000))
    path.write_text("y,p\n" + "".join(rows), encoding="utf-8")
    return str(path)


def test_text_has_every_cut_of_a_small_file(run, scores):
    """Six cuts are six lines, with the areas below the curves after them."""
    result = run("curve", scores, *DATA)
    lines = [line.split() for line in result.stdout.splitlines()]

    assert 0 == result.exit_code
    assert "" == result.stderr
    assert ["inf", "0", "0", "3", "2", "0.4000", "-", "0.0000", "1.0000", "0.0000"] == lines[2]
    assert ["0.4", "2", "0", "1", "2", "0.8000", "1.0000", "0.6667", "1.0000", "0.8000", "*"] == lines[4]
    assert ["*", "best", "highest", "f1", "0.8000,", "at", "threshold", "0.4"] in lines
    assert ["AUC", "0.6667"] in lines
    assert ["average", "precision", "0.8667"] in lines
    assert ["cuts", "6"] in lines


def test_text_spreads_20_of_many(run, many):
    """Of many cuts about 20 are shown, the first and the last among them."""
    out = run("curve", many, *DATA).stdout.splitlines()
    table = out[2 : out.index("")]

    assert 20 == len(table)
    assert "inf" == table[0].split()[0]
    assert "0" == table[-1].split()[0]
    assert "cuts                1,001, 20 shown" in out


def test_the_table_shows_the_best_cut_and_the_whole_range_of_recall(run, tmp_path):
    """With rare positives the rows cover recall evenly, and the best F1 is one of them."""
    rng = np.random.default_rng(0)
    labels = (rng.random(20_000) < 0.02).astype(int)
    scores = 1 / (1 + np.exp(4 - rng.normal(2 * labels, 1)))
    path = tmp_path / "rare.csv"
    rows = "".join(f"{y},{float(p)!r}\n" for y, p in zip(labels, scores, strict=True))
    path.write_text("y,p\n" + rows, encoding="utf-8")
    out = run("curve", str(path), *DATA, env={"COLUMNS": "120"}).stdout.splitlines()
    cells = [line.split() for line in out[2 : out.index("")]]
    recalls = [float(row[7]) for row in cells]
    (best,) = [row for row in cells if row[-1] == "*"]

    assert 20 == len(cells)
    assert max(np.diff(recalls)) < 0.12
    assert f"{cp.find(labels, scores, maximize='f1').value:.4f}" in best
    assert (
        cp.find(labels, scores, maximize="f1").confusion
        == cp.curve(labels, scores).at(float(best[0])).confusion
    )


def test_a_goal_is_marked_in_the_table(run, scores):
    """The column of the goal is shown, and its best row marked, with or without plots."""
    out = run("curve", scores, *DATA, "--minimize", "cost(fp=1, fn=5)").stdout
    found = json.loads(run("curve", scores, *DATA, "--minimize", "cost(fp=1, fn=5)", "--json").stdout)

    assert "cost(fp=1, fn=5)" in out.splitlines()[0]
    assert "lowest cost(fp=1, fn=5) 2, at threshold 0.1" in out
    assert {"goal": "minimize cost(fp=1, fn=5)", "threshold": 0.1, "value": 2.0} == found["best"]


@pytest.mark.parametrize(("option", "count"), [(["--limit", "5"], 5), (["--all"], 1001)])
def test_how_many_are_shown_can_be_chosen(run, many, option, count):
    """`--limit` and `--all` say how many lines there are."""
    out = run("curve", many, *DATA, *option).stdout.splitlines()

    assert count == len(out[2 : out.index("")])


@pytest.mark.parametrize("width", [40, 80, 120])
def test_text_fits_the_terminal(run, scores, width):
    """A narrow terminal has fewer columns, not broken lines."""
    out = run("curve", scores, *DATA, env={"COLUMNS": str(width)}).stdout

    assert max(map(len, out.splitlines())) <= max(width, 46)
    assert ("mcc" in out) == (width == 120)


def test_at_shows_thresholds_that_are_asked_for(run, scores):
    """`--at` shows what these thresholds do, in the order in which they were given."""
    result = run("curve", scores, *DATA, "--at", "0.35", "--at", "inf", "--at", "-1", "--json")
    points = json.loads(result.stdout)["points"]

    assert [0.35, "inf", -1.0] == [point["threshold"] for point in points]
    assert [2, 0, 3] == [point["tp"] for point in points]
    assert [1.0, None, 0.6] == [point["precision"] for point in points]


def test_json_has_every_cut(run, many):
    """JSON is not cut short: all cuts, the areas, and undefined values as null."""
    result = run("curve", many, *DATA, "--json")
    shown = json.loads(result.stdout, parse_constant=pytest.fail)

    assert [1000, 1001] == [shown["rows"], len(shown["points"])]
    assert isinstance(shown["positives"], int)
    assert "inf" == shown["points"][0]["threshold"]
    assert shown["points"][0]["precision"] is None
    assert "" == result.stderr


def test_json_agrees_with_the_library(run, scores):
    """The command prints the numbers of `cutpoints.curve`."""
    curve = cp.curve(LABELS, SCORES)
    shown = json.loads(run("curve", scores, *DATA, "--json").stdout)

    assert curve.auc == shown["auc"]
    assert curve.average_precision == shown["average_precision"]
    assert curve.table()["f1"].tolist() == [point["f1"] for point in shown["points"]]


def test_csv_can_be_read_back(run, scores):
    """CSV has full precision; undefined values are empty, and so read as missing."""
    rows = list(csv.DictReader(io.StringIO(run("curve", scores, *DATA, "--csv").stdout)))

    assert 6 == len(rows)
    assert ["threshold", "tp", "fp", "fn", "tn"] == list(rows[0])[:5]
    assert math.inf == float(rows[0]["threshold"])
    assert "" == rows[0]["precision"]
    assert 2 / 3 == float(rows[2]["recall"])


def test_csv_respects_the_limit(run, many):
    """`--limit` holds for CSV where it is asked for."""
    assert 6 == len(run("curve", many, *DATA, "--csv", "--limit", "5").stdout.splitlines())


def test_one_class_has_no_auc(run, tmp_path):
    """An area that is undefined is a dash in the table and null in JSON."""
    path = tmp_path / "ones.csv"
    path.write_text("y,p\n1,0.5\n1,0.4\n", encoding="utf-8")

    assert "AUC                 -" in run("curve", str(path), *DATA).stdout
    assert json.loads(run("curve", str(path), *DATA, "--json").stdout)["auc"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--csv", "--json"], "--csv and --json cannot both be given"),
        (["--all", "--limit", "3"], "--all and --limit cannot both be given"),
        (["--limit", "1"], "1 is not in the range"),
        (["--at", "high"], "'high' is not a number."),
        (["--at", "nan"], "nan is not a threshold"),
    ],
)
def test_bad_options_are_exit_2(run, scores, options, message):
    """Options that contradict each other, or have no such value, end with 2."""
    result = run("curve", scores, *DATA, *options)

    assert 2 == result.exit_code
    assert message in result.stderr
    assert "" == result.stdout


def test_a_long_curve_is_printed_line_by_line(run, tmp_path, monkeypatch):
    """rich takes two milliseconds to lay out a row: ten minutes for 300,000 cuts."""
    from rich.table import Table

    laid = []
    add_row = Table.add_row
    monkeypatch.setattr(
        Table, "add_row", lambda *args, **options: laid.append(1) or add_row(*args, **options)
    )
    path = tmp_path / "long.csv"
    path.write_text("y,p\n" + "".join(f"{i % 2},{i}\n" for i in range(5000)), encoding="utf-8")
    result = run("curve", str(path), "--label", "y", "--score", "p", "--all")

    table = result.stdout.split("\n\n")[0].splitlines()
    assert 5001 + 2 == len(table)
    assert 1 == len({len(line.removesuffix("  *")) for line in table if not line.startswith("\u2500")})
    assert len(laid) < 100


def test_money_at_every_threshold(run, tmp_path):
    """The table, --at, --csv, --json and the plot have the money of a goal with columns, exactly."""
    lines = ["y,p,amount", "0,0.1,20", "1,0.2,3.5", "0,0.6,50", "1,0.9,400"]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    goal = "cost(fp=5, fn=amount)"
    call = ["curve", str(tmp_path / "rows.csv"), "--label", "y", "--score", "p", "--minimize", goal]
    money = {math.inf: 403.5, 0.9: 3.5, 0.6: 8.5, 0.2: 5.0, 0.1: 10.0}
    shown = list(csv.DictReader(io.StringIO(run(*call, "--csv").stdout)))
    assert money == {float(row["threshold"]): float(row[goal]) for row in shown}
    told = json.loads(run(*call, "--json").stdout)
    assert (0.9, 3.5) == (told["best"]["threshold"], told["best"]["value"])
    assert "403.5" in run(*call).stdout
    assert 8.5 == json.loads(run(*call, "--at", "0.6", "--json").stdout)["points"][0][goal]
    drawn = run(*call, "--plot", "threshold,profit", "-o", str(tmp_path))
    assert 0 == drawn.exit_code
    assert (tmp_path / "threshold.png").stat().st_size > 1000
    wrong = run(*call[:-1], "cost(fp=5, fn=amout)")
    assert 1 == wrong.exit_code
    assert "did you mean 'amount'?" in wrong.stderr

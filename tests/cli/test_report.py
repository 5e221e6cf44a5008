"""`cutpoints report` on the command line."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

import cutpoints as cp
from cutpoints.cli import main

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text(encoding="utf-8"))
COLUMNS = ("--label", "y", "--score", "p", "--maximize", "f1")


@pytest.fixture
def scores(tmp_path):
    """A file of six rows with two models."""
    path = tmp_path / "my scores.csv"
    path.write_text(
        "y,p,q\n1,0.9,0.1\n0,0.3,0.2\n1,0.4,0.9\n0,0.2,0.3\n1,0.1,0.8\n0,0.05,0.4\n", encoding="utf-8"
    )
    return str(path)


def run(*args, **options):
    """Run the command in this process."""
    result = CliRunner().invoke(main, ["report", *map(str, args)], prog_name="cutpoints", **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_it_writes_a_page(scores, tmp_path):
    """The sentence and the place of the page are printed."""
    page = tmp_path / "out" / "report é.html"
    result = run(scores, *COLUMNS, "-o", page, "--title", "Hello <b>")
    assert (0, f"Wrote {page}.\n") == (result.exit_code, result.stderr)
    assert "Flag a case when p ≥ 0.4: this flags 33.3 % of cases" in " ".join(result.stdout.split())
    assert "Hello &lt;b&gt;" in page.read_text(encoding="utf-8")


def test_json_is_the_summary(scores, tmp_path):
    """`--json` prints one object that the schema describes; without -o no page is written."""
    result = run(scores, *COLUMNS, "--json")
    assert (0, "") == (result.exit_code, result.stderr)
    summary = json.loads(result.stdout)
    jsonschema.validate(summary, SCHEMA)
    assert summary["page"] is None
    assert (
        cp.find(scores, label="y", score="p", maximize="f1").threshold
        == (summary["models"][0]["solution"]["threshold"])
    )
    page = tmp_path / "r.html"
    assert str(page) == json.loads(run(scores, *COLUMNS, "--json", "-o", page).stdout)["page"]
    assert page.exists()


def test_several_models(scores):
    """`--score` once more is one more model; the better one is named."""
    summary = json.loads(run(scores, *COLUMNS, "--score", "q", "--json").stdout)
    assert ["p", "q"] == [model["name"] for model in summary["models"]]
    assert "p" == summary["models"][0]["operating_points"][0]["policy"]["score"]
    assert summary["sentence"].startswith(f"Flag a case when {summary['best_model']} ≥ ")


def test_names_unit_and_volume(scores):
    """The sentence uses the reader's words for the positive class, a row, money and a month."""
    options = ("--label", "y", "--score", "p", "--minimize", "cost(fp=2)", "--json", "--unit", "EUR")
    more = ("--positive-name", "fraud", "--case-name", "order", "--per-month", "1000")
    summary = json.loads(run(scores, *options, *more).stdout)
    assert {"positive": "fraud", "case": "order", "unit": "EUR", "per_month": 1000} == summary["names"]
    assert (
        "Flag no order: this flags 0 % of cases, finds 0 % of fraud, and costs 0 EUR a month."
        in summary["sentence"]
    )
    wrong = run(scores, *options, "--per-month", "-1")
    assert (1, "") == (wrong.exit_code, wrong.stdout)
    assert "--per-month" in wrong.stderr


def test_warnings_stand_below_the_decision(scores, tmp_path):
    """What the page warns of is told in the shell, too."""
    lines = run(scores, *COLUMNS, "-o", tmp_path / "page.html").stdout.splitlines()
    assert ["decision", "warning", "warning", "page"] == [
        line.split()[0] for line in lines if line[:1].strip()
    ]
    assert "Only 3 rows of positives: all numbers here are rough." in " ".join(" ".join(lines).split())


@pytest.mark.parametrize("name", ["p", "a score", "it's $p"])
def test_inverted_scores_are_met_with_what_works(tmp_path, name):
    """The warning says how to negate the scores, and does so, whatever the column is called."""
    import shlex

    path = tmp_path / "inverted.csv"
    path.write_text(
        f"y,{name}\n" + "".join(f"{int(i < 20)},{i / 100}\n" for i in range(100)), encoding="utf-8"
    )
    result = run(path, "--label", "y", "--score", name, "--maximize", "f1", "--json")
    (said,) = [row for row in result.stderr.splitlines() if row.startswith("To negate them: ")]

    assert "High scores belong to negatives here" in result.stderr
    _, query, _, score = shlex.split(said.partition(": ")[2])
    again = run(path, "--label", "y", "--maximize", "f1", "--sql", query, "--score", score, "--json")
    assert (0, "") == (again.exit_code, again.stderr)
    assert 1.0 == json.loads(again.stdout)["models"][0]["solution"]["value"]


def test_standard_input(scores):
    """A dash reads from a pipe, for several models too."""
    text = Path(scores).read_text(encoding="utf-8")
    options = (*COLUMNS, "--score", "q", "--json")
    # A second may pass between the two, which the times and the checksums of policies show.
    from_file, from_pipe = (
        re.sub(r'"(created|checksum)": .*', "", result.stdout)
        for result in (run(scores, *options), run("-", *options, input=text))
    )
    assert '"threshold": 0.4' in from_file
    assert from_file == from_pipe


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((*COLUMNS,), 2, "Missing option '-o'"),
        (("--label", "y", "--score", "p", "--json"), 2, "Missing option '--maximize' or '--minimize'"),
        ((*COLUMNS, "--minimize", "fpr", "--json"), 2, "cannot both be given"),
        ((*COLUMNS, "--score", "p", "--json"), 2, "each must name a different column"),
        (("--score", "p", "--maximize", "f1", "--json"), 2, "Missing option '--label'"),
        (("--label", "y", "--score", "nope", "--maximize", "f1", "--json"), 1, "nope"),
        (("--label", "y", "--score", "p", "--maximize", "f11", "--json"), 1, "f11"),
        ((*COLUMNS, "--subject-to", "fpr < 0", "--json"), 3, "fpr < 0"),
        ((*COLUMNS, "-o", "page.docx"), 2, "'page.docx' must end in .html, .htm or .pdf."),
    ],
)
def test_slips_are_told(scores, arguments, code, message):
    """Bad options end with 2, bad data with 1, goals that cannot be met with 3; nothing is printed."""
    result = run(scores, *arguments)
    assert (code, "") == (result.exit_code, result.stdout)
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_infeasible_goal_writes_no_page(scores, tmp_path):
    """Exit code 3, a message, and the old page as it was."""
    page = tmp_path / "r.html"
    page.write_text("old", encoding="utf-8")
    result = run(scores, *COLUMNS, "--subject-to", "precision > 1", "-o", page, "--force")
    assert 3 == result.exit_code
    assert "old" == page.read_text(encoding="utf-8")


def test_an_unwritable_place(scores, tmp_path):
    """A folder is no file: exit code 1 and a message."""
    result = run(scores, *COLUMNS, "-o", tmp_path)
    assert 1 == result.exit_code
    assert str(tmp_path) in result.stderr.replace("\n", "")

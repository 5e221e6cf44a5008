"""`cutpoints apply` and `cutpoints policy`: decide files from a shell, and read a policy file."""

import json
import os
import signal
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import cutpoints as cp

COLUMNS = ("--label", "y", "--score", "p")


@pytest.fixture
def policy(tmp_path):
    """A policy file with the threshold 0.35 on the column p."""
    path = tmp_path / "policy.json"
    cp.Policy(0.35, score="p", name="churn").save(path)
    return str(path)


@pytest.fixture
def new(tmp_path):
    """A file of three rows."""
    path = tmp_path / "new rows.csv"
    path.write_text("id,p\n007,0.9\n008,0.35\n009,0.1\n", encoding="utf-8")
    return str(path)


def test_from_scores_to_decisions(run, scores, tmp_path):
    """`find --policy` writes what `apply` takes, and the decisions are those of the library."""
    policy, out = str(tmp_path / "p.json"), str(tmp_path / "out.csv")
    found = run("find", scores, *COLUMNS, "--maximize", "f1", "--policy", policy, "--json")
    done = run("apply", policy, scores, "-o", out)

    assert 0 == found.exit_code == done.exit_code
    rule = cp.Policy.load(policy)
    assert json.loads(found.stdout)["threshold"] == rule.threshold == 0.4
    assert ("p", "y", 1) == (rule.score, rule.label, rule.pos_label)
    with open(out, encoding="utf-8") as file:  # noqa: PTH123
        assert "y,p,decision\n1,0.9,1\n0,0.3,0\n1,0.4,1\n0,0.2,0\n1,0.1,0\n" == file.read()
    assert "5 rows: 2 positive, 3 negative\n" == done.stdout
    assert f"Wrote {out}.\n" == done.stderr


def test_no_policy_of_what_is_infeasible(run, scores, tmp_path):
    """Where no threshold meets the constraints, no file is written, and an old one stays."""
    policy = tmp_path / "p.json"
    cp.Policy(0.5).save(policy)
    goal = ("--maximize", "recall", "--subject-to", "precision >= 0.99", "--subject-to", "recall >= 0.9")
    result = run("find", scores, *COLUMNS, *goal, "--policy", str(policy), "--force")

    assert 3 == result.exit_code
    assert 0.5 == cp.Policy.load(policy).threshold


def test_pipes(process, policy, new):
    """Rows come in through a pipe and go out through another; the summary is not among them."""
    import subprocess

    running = process("apply", policy, "-", stdin=subprocess.PIPE)
    with open(new, encoding="utf-8") as file:  # noqa: PTH123
        out, err = running.communicate(file.read())

    assert "id,p,decision\n007,0.9,1\n008,0.35,1\n009,0.1,0\n" == out
    assert "3 rows: 2 positive, 1 negative\n" == err
    assert 0 == running.returncode


def test_parquet_through_a_pipe(policy, tmp_path):
    """What comes in as Parquet goes out as Parquet, byte for byte a file."""
    import subprocess
    import sys
    from pathlib import Path

    parquet.write_table(pa.table({"p": [0.1, 0.9]}), tmp_path / "in.parquet")
    src = str(Path(__file__).parents[2] / "src")
    with (tmp_path / "in.parquet").open("rb") as file:
        out = subprocess.run(
            [sys.executable, "-m", "cutpoints", "apply", policy, "-"],
            stdin=file,
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": src},
        ).stdout

    assert [0, 1] == parquet.read_table(pa.BufferReader(out))["decision"].to_pylist()


def test_the_policy_through_a_pipe(run, policy, new, tmp_path):
    """The policy may be standard input, but not together with the rows."""
    with open(policy, encoding="utf-8") as file:  # noqa: PTH123
        text = file.read()

    assert 0 == run("apply", "-", new, "-o", str(tmp_path / "o.csv"), input=text).exit_code
    assert 2 == run("apply", "-", "-", input=text).exit_code


def test_json(run, policy, new, tmp_path):
    """One object, with the names that are documented."""
    out = str(tmp_path / "o.ndjson")
    result = run("apply", policy, new, "-o", out, "--json")

    decisions = {"decision": {"0": 1, "1": 2}}
    expected = {"output": out, "rows": 3, "decisions": decisions, "missing": 0, "unknown": 0}
    assert expected == json.loads(result.stdout)
    assert 2 == run("apply", policy, new, "--json").exit_code


def test_missing_scores_in_words(run, policy, tmp_path):
    """The error names the option; with it, the summary says what became of these rows."""
    path = tmp_path / "m.csv"
    path.write_text("p,a\n0.9,1\n,2\n", encoding="utf-8")
    out = ("--force", "-o", str(tmp_path / "o.csv"))
    result = run("apply", policy, str(path), *out)

    assert 1 == result.exit_code
    assert "1 of 2 scores is missing, the first at row 1 (counting from 0)" in result.stderr
    assert "--missing negative, --missing positive or --missing keep" in result.stderr
    kept = run("apply", policy, str(path), *out, "--missing", "keep")
    assert "2 rows: 1 positive, 0 negative, 1 without a score left undecided\n" in kept.stdout
    told = run("apply", policy, str(path), *out, "--missing", "positive")
    assert "2 rows: 2 positive, 0 negative, 1 without a score among them\n" in told.stdout


@pytest.mark.parametrize(
    "slip",
    [
        (["--score", "q"], 1, "Column not found: 'q'"),
        (["--column", "id"], 1, "--column must be a new name"),
        (["--column", "=cmd()"], 1, "--column must be a name that a spreadsheet does not take"),
        (["--missing", "maybe"], 2, "--missing"),
        (["-o", "out.xlsx"], 1, "--output must be a name that ends in"),
    ],
)
def test_options_that_cannot_be_meant(run, policy, new, slip):
    """Each slip has its message and its exit code, and nothing is written to standard output."""
    options, code, message = slip
    result = run("apply", policy, new, *options)

    assert code == result.exit_code
    assert message in result.stderr
    assert "" == result.stdout


def test_a_changed_policy_is_not_applied(run, policy, new):
    """A number that was edited by hand stops the command."""
    with open(policy, encoding="utf-8") as file:  # noqa: PTH123
        text = file.read()
    with open(policy, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text.replace("0.35", "0.25"))
    result = run("apply", policy, new)

    assert 1 == result.exit_code
    assert "does not match its checksum" in result.stderr


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", -15), ("SIGHUP", -1)])
def test_a_signal_leaves_nothing_behind(process, policy, tmp_path, number, code):
    """Ctrl-C, SIGTERM or SIGHUP while rows are awaited: the old output stays, nothing else is left."""
    import subprocess

    out, spool = tmp_path / "out.csv", tmp_path / "spool"
    out.write_text("old", encoding="utf-8")
    spool.mkdir()
    before = set(tmp_path.iterdir())
    words = ("apply", policy, "-", "-o", str(out), "--force")
    running = process(*words, stdin=subprocess.PIPE, env={"TMPDIR": str(spool)})
    deadline = time.monotonic() + 60
    while not list(spool.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(getattr(signal, number))
    running.wait(60)  # standard input stays open: its end would be an error of its own
    _, err = running.communicate()

    assert code == running.returncode
    assert "Interrupted." == err.strip()
    assert "old" == out.read_text(encoding="utf-8")
    assert [] == list(spool.iterdir())
    assert before == set(tmp_path.iterdir())


def test_a_signal_that_is_ignored_stays_so(process, policy, new, tmp_path):
    """Under nohup a command survives the end of its terminal."""
    import subprocess

    out, spool = tmp_path / "out.csv", tmp_path / "spool"
    spool.mkdir()
    running = process(
        *("apply", policy, "-", "-o", str(out)),
        stdin=subprocess.PIPE,
        env={"TMPDIR": str(spool)},
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # as nohup does
    )
    deadline = time.monotonic() + 60
    while not list(spool.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGHUP)
    running.communicate(Path(new).read_text(encoding="utf-8"))

    assert 0 == running.returncode
    assert out.exists()


# --- cutpoints policy


def test_show(run, policy):
    """For people a few lines, for programs the file itself, checked."""
    text = run("policy", "show", policy).stdout
    content = json.loads(run("policy", "show", policy, "--json").stdout)

    assert "positive if p >= 0.35" in text
    assert "churn" in text
    assert cp.Policy.load(policy).to_dict() == content


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
def test_sql(run, policy, dialect):
    """The command prints what the library returns."""
    rule = cp.Policy.load(policy)
    text = run("policy", "sql", policy, "--dialect", dialect).stdout
    told = json.loads(run("policy", "sql", policy, "--dialect", dialect, "--score", "q", "--json").stdout)

    assert rule.to_sql(dialect=dialect) + "\n" == text
    assert {"dialect": dialect, "sql": rule.to_sql("q", dialect=dialect)} == told


def test_python(run, policy):
    """The command prints a function that runs."""
    names = {}
    exec(run("policy", "python", policy, "--function", "rule").stdout, names)  # noqa: S102

    assert [0, 1] == names["rule"]([0.34, 0.35])
    assert (
        "def rule"
        in json.loads(run("policy", "python", policy, "--function", "rule", "--json").stdout)["python"]
    )
    bad = run("policy", "python", policy, "--function", "a b")
    assert 1 == bad.exit_code
    assert "--function must be a name" in bad.stderr


def test_what_is_no_policy(run, new):
    """A file of rows in place of a policy is told apart."""
    result = run("policy", "show", new)

    assert 1 == result.exit_code
    assert "must be a policy file" in result.stderr

"""`cutpoints demo`."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cutpoints.cli.demo import FOLDS, GOALS, MEASUREMENTS

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "scores.csv"


@pytest.fixture(autouse=True)
def on_path(monkeypatch):
    """Let `cutpoints` be on the path, whatever environment the tests run in."""
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")


@pytest.fixture
def saved(run, tmp_path, monkeypatch):
    """Run the demo in an empty folder, with its scores saved; return what it printed."""
    monkeypatch.chdir(tmp_path)
    return run("demo", "--save", "scores.csv")


def test_table_fits_80_columns(run):
    """The table is plain, at most 80 columns wide, and no goal takes two lines."""
    out = run("demo").stdout

    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    for goal in GOALS:
        assert f"\n{' '.join(next(iter(goal.items())))} " in out
    assert "\n  with precision >= 0.95 " in out


def test_every_goal_is_at_least_as_good_as_the_default(run):
    """The best threshold never loses against 0.5, and wins for most goals."""
    shown = json.loads(run("demo", "--json").stdout, parse_constant=pytest.fail)
    wins = 0
    for result in shown["results"]:
        best, default = result["solution"], result["default"]
        if not default["meets_constraints"]:
            continue
        gain = best["value"] - default["value"]
        gain = gain if best["direction"] == "maximize" else -gain
        assert gain >= 0
        wins += gain > 0

    assert len(GOALS) == len(shown["results"])
    assert wins >= 4


def test_the_default_breaks_the_constraint(run):
    """The demo shows a constraint that 0.5 does not meet, and marks it."""
    result = json.loads(run("demo", "--json").stdout)["results"][-1]

    assert not result["default"]["meets_constraints"]
    assert result["solution"]["metrics"]["precision"] >= 0.95
    assert "* not met at 0.5" in run("demo").stdout


def test_next_commands_work(run, saved):
    """Each command that the demo proposes after saving runs, and finds what the table says."""
    _, _, steps = saved.stdout.partition("Next:\n")
    commands = [shlex.split(line) for line in steps.splitlines()]

    assert 0 == saved.exit_code
    assert 3 <= len(commands)
    for command in commands:
        assert "cutpoints" == command[0]
        assert 0 == run(*command[1:]).exit_code
    found = json.loads(run(*commands[0][1:], "--json").stdout)
    row = next(line for line in saved.stdout.splitlines() if line.startswith("maximize f1 "))
    low, high = found["interval"].values()
    assert low < float(row.split()[2]) <= high


def test_off_the_path_the_next_commands_begin_as_this_one_did(run, monkeypatch):
    """Where the shell does not find `cutpoints`, the proposed commands have the path that was typed."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "argv", [".venv/bin/cutpoints", "demo"])
    _, _, steps = run("demo").stdout.partition("Next:\n")

    assert 4 == len(steps.splitlines())
    for line in steps.splitlines():
        assert line.startswith("  .venv/bin/cutpoints ")
        assert len(line) <= 80


def test_next_commands_run_as_printed(process, tmp_path):
    """The shell runs the proposed commands, in their order, where `cutpoints` is not on its path."""
    env = {"PATH": "/usr/bin:/bin"}
    out, _ = process("demo", cwd=tmp_path, env=env).communicate()
    _, _, steps = out.partition("Next:\n")

    assert 4 == len(steps.splitlines())
    for line in steps.splitlines():
        subprocess.run(  # noqa: S602 - the command is ours
            line, shell=True, check=True, cwd=tmp_path, env={**env, "PYTHONPATH": str(ROOT / "src")}
        )


def test_without_a_file_the_first_step_saves_one(run):
    """The proposed commands begin with the one that writes their file."""
    assert "Next:\n  cutpoints demo --save scores.csv\n" in run("demo").stdout


def test_a_file_that_exists_is_left_alone(run, saved, tmp_path):
    """The demo overwrites nothing."""
    before = (tmp_path / "scores.csv").read_bytes()
    result = run("demo", "--save", "scores.csv")

    assert 2 == result.exit_code
    assert "exists already" in result.stderr
    assert before == (tmp_path / "scores.csv").read_bytes()


def test_a_folder_that_is_missing_is_exit_1(run, tmp_path):
    """A file that cannot be written is told in a line."""
    result = run("demo", "--save", str(tmp_path / "no" / "scores.csv"))

    assert 1 == result.exit_code
    assert "" == result.stdout
    assert f"Folder not found: '{tmp_path / 'no'}'." in result.stderr


def test_example_in_the_repository_is_what_the_demo_writes(saved, tmp_path):
    """`examples/scores.csv` is the file that the demo saves."""
    assert EXAMPLE.read_bytes() == (tmp_path / "scores.csv").read_bytes()


def test_scores_are_those_of_the_model():
    """The scores that come with the package are held-out scores of the logistic regression it names."""
    tumors = load_breast_cancer()
    labels = (tumors.target == list(tumors.target_names).index("malignant")).astype(int)
    columns = [list(tumors.feature_names).index(name) for name in MEASUREMENTS]
    scores = cross_val_predict(
        make_pipeline(StandardScaler(), LogisticRegression()),
        tumors.data[:, columns],
        labels,
        cv=StratifiedKFold(FOLDS, shuffle=True, random_state=0),
        method="predict_proba",
    )[:, 1]
    kept = np.loadtxt(EXAMPLE, delimiter=",", skiprows=1)

    assert labels.tolist() == kept[:, 0].tolist()
    np.testing.assert_allclose(kept[:, 1], scores, atol=5e-4)


def test_a_full_disk_leaves_no_half_file(process, tmp_path):
    """A limit on the size of files stands for the disk."""
    import resource

    running = process(
        *("demo", "--save", str(tmp_path / "scores.csv")),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )
    _, err = running.communicate()

    assert 1 == running.returncode
    assert "cannot be written" in err
    assert [] == list(tmp_path.iterdir())

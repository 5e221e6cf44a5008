"""What the tests of all commands share: a file of scores, and two ways to run a command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cutpoints.cli import main

SRC = Path(__file__).parents[2] / "src"
COLUMNS = ("--label", "y", "--score", "p")


@pytest.fixture
def scores(tmp_path):
    """A file of five rows; F1 is best at 0.4, where it is 0.8, and 0.5 at the threshold 0.5."""
    path = tmp_path / "scores.csv"
    path.write_text("y,p\n1,0.9\n0,0.3\n1,0.4\n0,0.2\n1,0.1\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def run():
    """Run a command in this process, 80 columns wide."""

    def _run(*args, **options):
        env = {"COLUMNS": "80", **options.pop("env", {})}
        result = CliRunner().invoke(main, [*args], prog_name="cutpoints", env=env, **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return _run


@pytest.fixture
def process():
    """Start a command as a shell does, and return the process."""

    def _start(*args, **options):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, "-m", "cutpoints", *args],
            env={**os.environ, "PYTHONPATH": str(SRC), "COLUMNS": "80", **options.pop("env", {})},
            text=True,
            **{**pipes, **options},
        )

    return _start

"""Commands to be killed: a folder with input, output and a place for temporary files."""

# ruff: noqa: S608 - the queries are our own

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

import cutpoints as cp

SRC = Path(__file__).parents[2] / "src"
COLUMNS = ("--label", "y", "--score", "p")
ROWS = 50_000


class Bench:
    """A folder with input, output and a place for temporary files, and commands that use them."""

    def __init__(self, folder, rows=ROWS):
        self.data, self.out, self.spool = (folder / name for name in ("data", "out", "spool"))
        for place in (self.data, self.out, self.spool):
            place.mkdir()
        self.scores, self.policy = self.data / "scores.csv", self.data / "policy.json"
        query = (
            f"select (hash(i) % 1000 < i % 1000)::int as y, (i % 1000) / 1000 as p from range({rows}) r(i)"
        )
        duckdb.sql(query).write_csv(str(self.scores))
        cp.find(self.scores, label="y", score="p", maximize="f1").policy().save(self.policy)

    def command(self, name):
        """Return the words of a command, the file that it writes, and whether it reads standard input."""
        goal = (*COLUMNS, "--maximize", "f1")
        scores, policy = str(self.scores), str(self.policy)
        words, file = {
            "find": (("find", scores, *goal, "--policy"), "p.json"),
            "find, standard input": (("find", "-", *goal, "--policy"), "p.json"),
            "apply csv": (("apply", policy, scores, "-o"), "d.csv"),
            "apply parquet": (("apply", policy, scores, "-o"), "d.parquet"),
            "apply, standard input": (("apply", policy, "-", "-o"), "d.csv"),
            "report": (("report", scores, *goal, "-o"), "r.html"),
            "check --write": (("check", policy, scores, "--label", "y", "--write"), "n.json"),
        }[name]
        return (*words, str(self.out / file), "--force"), self.out / file, "standard input" in name

    def start(self, words, *, reads, **options):
        """Start a command."""
        env = {**os.environ, "PYTHONPATH": str(SRC), "TMPDIR": str(self.spool), "COLUMNS": "80"}
        given = self.scores.open("rb") if reads else subprocess.DEVNULL
        try:
            return subprocess.Popen(
                [sys.executable, "-m", "cutpoints", *words],
                env=env,
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                **options,
            )
        finally:
            if reads:
                given.close()

    def left(self, output):
        """Return the names of all files but the output."""
        places = (*self.out.iterdir(), *self.spool.iterdir())
        return [f"left: {one.name}" for one in places if one != output]

    def clear(self):
        """Remove what a run left."""
        for place in (self.out, self.spool):
            for one in place.iterdir():
                shutil.rmtree(one) if one.is_dir() else one.unlink()


def whole(path, rows=ROWS):
    """Whether a file is complete."""
    if path.suffix == ".json":
        return cp.Policy.load(path) is not None
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return rows == duckdb.sql(f"select count(*) from '{path}'").fetchall()[0][0]

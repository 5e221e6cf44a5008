"""Faults and load: whatever happens, an answer is right or there is none, and no half file is left.

``make faults`` runs them and prints a table. FAULT_RUNS is the number of kills per command and signal, and
FAULT_ROWS the number of rows of the largest run.
"""

# ruff: noqa: S608 - the queries are our own

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pytest

import cutpoints as cp
from cutpoints._data import files, progress
from cutpoints.exceptions import InvalidInputError

pytestmark = pytest.mark.slow

SRC = Path(__file__).parents[2] / "src"
RUNS = int(os.environ.get("FAULT_RUNS", "20"))
ROWS = int(os.environ.get("FAULT_ROWS", "1000000000"))
COLUMNS = ("--label", "y", "--score", "p")


class Bench:
    """A folder with input, output and a place for temporary files, and commands that use them."""

    def __init__(self, folder, rows=200_000):
        self.data, self.out, self.spool = (folder / name for name in ("data", "out", "spool"))
        for place in (self.data, self.out, self.spool):
            place.mkdir()
        self.scores, self.policy = self.data / "scores.csv", self.data / "policy.json"
        query = (
            f"select (hash(i) % 1000 < i % 1000)::int as y, (i % 1000) / 1000 as p from range({rows}) r(i)"
        )
        duckdb.sql(query).write_csv(str(self.scores))
        cp.Policy(0.35, score="p").save(self.policy)

    def commands(self):
        """Return commands, the file that each writes, and whether it reads standard input."""
        goal = (*COLUMNS, "--maximize", "f1")
        out = {name: str(self.out / name) for name in ("p.json", "d.csv", "d.parquet", "r.html")}
        scores, policy = str(self.scores), str(self.policy)
        return {
            "find": (("find", scores, *goal, "--policy", out["p.json"]), out["p.json"], False),
            "apply csv": (("apply", policy, scores, "-o", out["d.csv"]), out["d.csv"], False),
            "apply parquet": (("apply", policy, scores, "-o", out["d.parquet"]), out["d.parquet"], False),
            "apply, standard input": (("apply", policy, "-", "-o", out["d.csv"]), out["d.csv"], True),
            "report": (("report", scores, *goal, "-o", out["r.html"]), out["r.html"], False),
        }

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

    def clear(self):
        """Remove what a run left."""
        for place in (self.out, self.spool):
            shutil.rmtree(place)
            place.mkdir()


def whole(path):
    """Whether a file is complete."""
    path = Path(path)
    if path.suffix == ".json":
        return cp.Policy.load(path) is not None
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return 200_000 == duckdb.sql(f"select count(*) from '{path}'").fetchall()[0][0]


@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("name", ["find", "apply csv", "apply parquet", "apply, standard input", "report"])
def test_a_command_that_is_killed_leaves_no_half_file(tmp_path, record, name, number):
    """The output is whole or not there; only SIGKILL may leave hidden files, which no reader takes."""
    bench = Bench(tmp_path)
    words, output, reads = bench.commands()[name]
    begun = time.monotonic()
    running = bench.start(words, reads=reads)
    _, said = running.communicate()
    assert 0 == running.returncode, said
    takes = time.monotonic() - begun
    bench.clear()
    kept = record(f"{number} during {name}")
    for _ in range(RUNS):
        running = bench.start(words, reads=reads)
        time.sleep(random.uniform(0.1, 1.1) * takes)  # noqa: S311
        running.send_signal(getattr(signal, number))
        _, said = running.communicate()
        left = [one.name for one in bench.out.iterdir() if one != Path(output)]
        faults = [f"half a file: {output}"] if Path(output).exists() and not whole(output) else []
        faults += [f"in the way of readers: {one}" for one in left if not one.startswith(".")]
        if number != "SIGKILL":
            faults += [f"left: {one}" for one in (*left, *(one.name for one in bench.spool.iterdir()))]
            faults += ["a traceback"] if b"Traceback" in said and b"cutpoints/cli" in said else []
        bench.clear()
        kept.run(faults)


@pytest.mark.parametrize("name", ["find", "apply csv", "apply parquet", "apply, standard input", "report"])
def test_a_full_disk_leaves_the_older_file(tmp_path, record, name):
    """A write that fails says so, and the output is what it was; a limit on files stands for the disk."""
    bench = Bench(tmp_path)
    words, output, reads = bench.commands()[name]
    kept = record("full disk")
    for limit in (0, 100, 10_000):
        Path(output).write_bytes(b"old")
        small = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
        running = bench.start(words, reads=reads, preexec_fn=small)
        _, said = running.communicate()
        faults = [] if running.returncode == 1 or whole_again(output) else [f"exit {running.returncode}"]
        faults += [] if b"Traceback" not in said else [said.decode()[-500:]]
        if running.returncode == 1 and Path(output).read_bytes() != b"old":
            faults.append("the older file is gone")
        faults += [f"left: {one.name}" for one in bench.out.iterdir() if one != Path(output)]
        faults += [f"left: {one.name}" for one in bench.spool.iterdir()]
        bench.clear()
        kept.run(faults)


def whole_again(output):
    """Whether a small output was written in spite of the limit."""
    return Path(output).read_bytes() != b"old" and whole(output)


def test_two_writers_of_one_file(tmp_path, record):
    """The last one wins, and its file is whole."""
    bench = Bench(tmp_path)
    kept = record("two writers of one file")
    for name in ("apply csv", "apply parquet", "find"):
        words, output, reads = bench.commands()[name]
        running = [bench.start(words, reads=reads) for _ in range(2)]
        codes = {(one.communicate(), one.returncode)[1] for one in running}
        faults = [] if codes == {0} and whole(output) else [f"{name}: exit {codes}"]
        faults += [f"left: {one.name}" for one in bench.out.iterdir() if one != Path(output)]
        bench.clear()
        kept.run(faults)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("change", ["replaced", "truncated", "grown", "deleted"])
@pytest.mark.parametrize("question", ["find", "find_by", "curve"])
def test_a_file_that_changes_between_passes(  # noqa: PLR0917
    tmp_path, record, monkeypatch, form, change, question
):
    """It is an error, whatever is asked."""
    monkeypatch.setattr(files, "LARGE_BYTES", 0)
    monkeypatch.setattr(files, "MEMORY_ROWS", 0)
    path, other = tmp_path / f"scores.{form}", tmp_path / f"other.{form}"
    for place, rows in ((path, 300_000), (other, 300_000)):
        made = duckdb.sql(
            f"select (random() < i / {rows})::int as y, i / {rows} as p, i % 3 as k from range({rows}) r(i)"
        )
        made.write_csv(str(place)) if form == "csv" else made.write_parquet(str(place))
    data = cp.read(path, label="y", score="p")
    data.summary()
    if change == "replaced":
        other.replace(path)
    elif change == "deleted":
        path.unlink()
    else:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size // 2) if change == "truncated" else file.seek(0, 2)
            file.write(b"" if change == "truncated" else b"1,0.5,1\n")
    ask = {
        "find": lambda: cp.find(data, maximize="mcc"),
        "find_by": lambda: cp.find_by(data, by="k", maximize="mcc"),
        "curve": lambda: cp.curve(data),
    }[question]
    try:
        faults = [f"certified: {ask()}"]
    except InvalidInputError:
        faults = []
    record("file changed between passes").run(faults)


@pytest.mark.parametrize(
    "change", ["update t set y = 1 - y", "delete from t where p > 0.5", "update t set p = 1 - p"]
)
def test_a_table_that_changes_in_the_middle_of_a_search(record, change):
    """Another connection writes while a search runs: an error, or the answer of one of the two states."""
    connection = duckdb.connect()
    connection.execute(
        "create table t as select (hash(i) % 100 < i % 100)::int as y, i / 2e6 as p from range(2000000) r(i)"
    )
    before = cp.find(connection.table("t"), label="y", score="p", maximize="mcc")
    cursor, changed = connection.cursor(), []

    def watch(step):
        if step.passes == 2 and not changed:
            changed.append(cursor.execute(change))

    try:
        with progress.watching(watch):
            found = cp.find(connection.table("t"), label="y", score="p", maximize="mcc")
        after = cp.find(connection.table("t"), label="y", score="p", maximize="mcc")
        faults = (
            [] if found.confusion in (before.confusion, after.confusion) else ["an answer of neither state"]
        )
    except InvalidInputError:
        faults = []
    record("table changed between passes").run(faults)


def _search(seed):
    rng = np.random.default_rng(seed)
    score = rng.random(200_000)
    return cp.find(rng.random(200_000) < score, score, maximize="f1")


def test_threads_and_processes(tmp_path, record):
    """Each gets the answer that it would get alone; results come back from other processes."""
    alone = [_search(seed) for seed in range(8)]
    for pool in (ThreadPoolExecutor(4), ProcessPoolExecutor(2)):
        with pool:
            together = list(pool.map(_search, range(8)))
        for one, other in zip(alone, together, strict=True):
            record("threads and processes").run([] if one == other else ["another answer"])
    path = tmp_path / "scores.parquet"
    duckdb.sql("select i % 2 as y, random() as p from range(300000) r(i)").write_parquet(str(path))
    expected, found = cp.find(path, label="y", score="p", maximize="f1"), []
    ask = lambda: found.append(cp.find(path, label="y", score="p", maximize="f1"))  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record("threads on one file").run([] if found == [expected] * 6 else ["another answer"])


def test_a_billion_rows_in_little_memory(tmp_path, record):
    """Every row of a file, a thousand times, is found with a thousand times its counts, in 500 MB."""
    path, repeats = tmp_path / "scores.parquet", max(1, ROWS // 1_000_000)
    query = (
        "select (hash(i) % 1000 < i % 1000)::int as y, hash(i + 7) / 18446744073709551615 as p "
        "from range(1000000) r(i)"
    )
    duckdb.sql(query).write_parquet(str(path))
    one = cp.find(path, label="y", score="p", maximize="f1")
    many = cp.find(
        cp.read(
            path,
            label="y",
            score="p",
            sql=f"select y, p from data, range({repeats})",
            memory_limit="500MB",
        ),
        maximize="f1",
    )
    counts = {name: repeats * count for name, count in one.confusion.to_dict().items()}
    faults = [] if (one.threshold, counts) == (many.threshold, many.confusion.to_dict()) else [str(many)]
    record(f"{repeats * 1_000_000:,} rows in 500 MB").run(faults)

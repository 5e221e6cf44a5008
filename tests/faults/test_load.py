"""Threads, processes, lost executors, retried tasks and a billion rows: always the same answer.

FAULT_ROWS is the number of rows of the largest run.
"""

# ruff: noqa: S608 - the queries are our own

import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest

import cutpoints as cp
from engines import servers
from faults.commands import SRC

pytestmark = pytest.mark.slow

ROWS = int(os.environ.get("FAULT_ROWS", "1000000000"))
MEMORY = "500MB"


def _search(seed):
    rng = np.random.default_rng(seed)
    score = rng.random(200_000)
    return cp.find(rng.random(200_000) < score, score, maximize="f1")


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_threads_and_processes(record, kind):
    """Each gets the answer that it would get alone; results come back from other processes."""
    alone = [_search(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) if kind == "threads" else ProcessPoolExecutor(2) as pool:
        for one, other in zip(alone, pool.map(_search, range(8)), strict=True):
            record(f"searches in several {kind}").run([] if one == other else ["another answer"])


def test_threads_on_one_file(tmp_path, record):
    """Several threads read one file, and count into one sketch."""
    path = tmp_path / "scores.parquet"
    duckdb.sql("select i % 2 as y, random() as p from range(300000) r(i)").write_parquet(str(path))
    expected, found, sketch = cp.find(path, label="y", score="p", maximize="f1"), [], cp.Sketch()

    def ask():
        found.append(cp.find(path, label="y", score="p", maximize="f1"))
        for _ in range(50):
            sketch.update([0, 1] * 500, [0.2, 0.7] * 500)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    faults = [] if found == [expected] * 6 else ["another answer"]
    faults += [] if sketch.rows == 6 * 50 * 1000 else [f"{sketch.rows} rows in the sketch"]
    record("threads on one file and one sketch").run(faults)


def _in_a_process_of_its_own(call, tmp_path, seconds=1200):
    """Call a function below: a process has one Spark, and the other tests have theirs."""
    places = [str(Path(__file__).parents[1]), str(SRC)]
    program = f"import sys; sys.path[:0] = {places!r}; from faults import test_load as tests; "
    program += f"tests.{call}({str(tmp_path)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=seconds
    )
    return [] if done.returncode == 0 and "the same answer" in done.stdout else [done.stderr[-3000:]]


def _spark_data(folder, rows, parts):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(9)
    scores = rng.random(rows)
    labels = (rng.random(rows) < scores).astype(np.int64)
    where = Path(folder) / "scores"
    where.mkdir()
    for i, index in enumerate(np.array_split(np.arange(rows), parts)):
        pq.write_table(pa.table({"p": scores[index], "y": labels[index]}), where / f"{i}.parquet")
    return str(where), scores, labels


def _compare(actual, scores, labels):
    expected = cp.find(labels, scores, maximize="f1")
    assert (expected.threshold, expected.confusion) == (actual.threshold, actual.confusion)
    print("the same answer")  # noqa: T201


def _executors(session):
    """The process ids of the executors: Java processes below the one of the session."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            parents[int(entry.name)] = parent, (entry / "cmdline").read_bytes()
        except OSError:
            continue
    java = session.sparkContext._gateway.proc.pid

    def below(process):
        while process in parents:
            if process == java:
                return True
            process = parents[process][0]
        return False

    return [pid for pid, (_, said) in parents.items() if b"ExecutorBackend" in said and below(pid)]


def search_while_killing(folder):
    """Search on a cluster of two executors, and kill one of them while the first query runs."""
    import signal

    where, scores, labels = _spark_data(folder, 400_000, 8)
    settings = {"spark.executor.memory": "512m", "spark.sql.files.maxPartitionBytes": "400k"}
    with servers.spark_session("local-cluster[2,1,1024]", **settings) as session:
        frame, killed = session.read.parquet(where), []
        assert frame.count() == len(scores)
        while len(_executors(session)) < 2:
            time.sleep(0.1)

        def kill():
            while not killed:
                time.sleep(0.02)
                if session.sparkContext.statusTracker().getActiveStageIds():
                    killed.append(_executors(session)[0])
                    os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        actual = cp.find(frame, label="y", score="p", maximize="f1")
        killer.join(timeout=60)
    assert killed
    _compare(actual, scores, labels)


def search_while_a_task_fails(folder):
    """Search where the first task to run raises, and Spark tries it again."""
    where, scores, labels = _spark_data(folder, 100_000, 4)

    def fails_once(name):
        # The old value of a property of Java: nothing the first time, and then the words are no number.
        old = f"java_method('java.lang.System', 'setProperty', 'cutpoints.{name}', '1')"
        return f"cast(coalesce({old}, 'fails once') as int) = 1"

    strict = {"spark.sql.ansi.enabled": "true"}
    with servers.spark_session("local[2,4]", **strict) as session:
        frame = session.read.parquet(where)
        actual = cp.find(frame.filter(fails_once("retried")), label="y", score="p", maximize="f1")
        assert "1" == session.sparkContext._jvm.java.lang.System.getProperty("cutpoints.retried")
    with servers.spark_session("local[2,1]", **strict) as session:
        frame = session.read.parquet(where).filter(fails_once("not retried"))
        with pytest.raises(Exception, match="fails once"):
            cp.find(frame, label="y", score="p", maximize="f1")
    _compare(actual, scores, labels)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the executors in /proc")
def test_a_spark_executor_that_is_lost(tmp_path, record):
    """One of two executors is killed in the middle of a search, and the answer is the same."""
    record("Spark executor lost").run(_in_a_process_of_its_own("search_while_killing", tmp_path))


def test_a_spark_task_that_is_retried(tmp_path, record):
    """A task fails, Spark runs it again, and no row is counted twice."""
    record("Spark task retried").run(_in_a_process_of_its_own("search_while_a_task_fails", tmp_path))


def _best_cut(path):
    """F1 at every distinct score, by one GROUP BY and integers."""
    counts = duckdb.sql(
        "select p, count(*) filter (y) as pos, count(*) filter (not y) as neg "
        f"from '{path}' group by p order by p desc"
    ).fetchall()
    positives, tp, fp, best = sum(pos for _, pos, _ in counts), 0, 0, (Fraction(-1), 0.0, 0, 0)
    for score, pos, neg in counts:
        tp, fp = tp + pos, fp + neg
        best = max(best, (Fraction(2 * tp, tp + fp + positives), score, tp, fp))
    return best


def test_a_billion_rows_in_little_memory(tmp_path, record):
    """A file that is larger than memory may be: the answer is that of plain counting."""
    path, kept = tmp_path / "scores.parquet", record(f"{ROWS:,} rows with --memory-limit {MEMORY}")
    if shutil.disk_usage(tmp_path).free < 6 * ROWS:
        kept.skip(f"needs {6 * ROWS / 1e9:.0f} GB of disk")
    # Two bytes for a score, a bit for a label. The better the score, the more are positive.
    duckdb.sql(
        "select hash(i) % 65536 > hash(i + 7) % 100000 as y, ((hash(i) % 65536) / 65536)::float as p "
        f"from range({ROWS}) r(i)"
    ).write_parquet(str(path))
    begun = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "cutpoints", "find", str(path), "--label", "y", "--score", "p"),
            *("--maximize", "f1", "--memory-limit", MEMORY, "--json"),
        ],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        capture_output=True,
        check=False,
    )
    seconds = time.monotonic() - begun
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    found = json.loads(done.stdout) if done.returncode == 0 else {"status": done.stderr.decode()[-500:]}
    value, threshold, tp, fp = _best_cut(path)
    expected = ("optimal", threshold, float(value), tp, fp)
    counts = found.get("confusion", {})
    actual = (
        *(found.get(name) for name in ("status", "threshold", "value")),
        counts.get("tp"),
        counts.get("fp"),
    )
    size = path.stat().st_size / 1e9
    path.unlink()
    kept.note(f"{size:.1f} GB, {seconds:.0f} s, {peak:.0f} MB at most")
    kept.run([] if expected == actual else [f"{actual} instead of {expected}"])

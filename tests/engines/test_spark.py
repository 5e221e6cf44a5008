"""Spark for real: partitions of all kinds, code that is compiled, workers that die."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import cutpoints as cp
from engines import servers

pytestmark = pytest.mark.xdist_group("spark")
ROWS = 60_000


def _data(rows=ROWS):
    rng = np.random.default_rng(9)
    scores = rng.random(rows)
    return scores, (rng.random(rows) < scores).astype(np.int64)


def _frame(session, scores, labels, sizes, folder):
    """One partition per size; a size of 0 is an empty one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"p": scores, "y": labels})
    parts = []
    for i, start in enumerate(np.cumsum([0, *sizes[:-1]])):
        path = str(folder / f"{i}.parquet")
        pq.write_table(table[int(start) : int(start) + max(1, sizes[i])], path)
        part = session.read.parquet(path)
        parts.append(part if sizes[i] else part.filter("p < -5"))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole


def _same(frame, scores, labels, **goal):
    expected = cp.find(labels, scores, **goal)
    actual = cp.find(frame, label="y", score="p", **goal)
    assert (expected.threshold, expected.value, expected.confusion) == (
        actual.threshold,
        actual.value,
        actual.confusion,
    )
    return actual


@pytest.mark.parametrize(
    "sizes", [[15_000] * 4, [59_000, 500, 400, 100], [30_000, 0, 30_000]], ids=["even", "skewed", "one empty"]
)
def test_partitions_do_not_matter(spark, sizes, tmp_path):
    """Even, skewed and empty partitions give the one answer, in two passes."""
    scores, labels = _data()
    frame = _frame(spark, scores, labels, sizes, tmp_path)

    assert len(sizes) == frame.rdd.getNumPartitions()
    assert 2 == _same(frame, scores, labels, maximize="f1").certificate.passes


def test_compiled_and_interpreted_queries_agree(spark, tmp_path):
    """The plan that Spark compiles to Java gives what the plan that it interprets gives."""
    scores, labels = _data(2000)
    scores = np.concatenate([scores[:1000], np.exp(30 * (scores[1000:] - 0.5))])
    frame = _frame(spark, scores, labels, [1000, 1000], tmp_path)
    settings = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "CODEGEN_ONLY"}
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        _same(frame, scores, labels, maximize="mcc", method="narrow")
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def _workers(session):
    """The process ids of the executors, from the master's own child processes."""
    java = session.sparkContext._gateway.proc.pid
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "CoarseGrainedExecutorBackend" in command and _descends(int(entry.name), java):
            found.append(int(entry.name))
    return found


def _descends(process, ancestor):
    while process > 1:
        if process == ancestor:
            return True
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the executors in /proc")
def test_an_executor_that_is_killed_changes_nothing(tmp_path):
    """Two workers on loopback; one is killed in the middle of a search, and the answer is the same.

    In a process of its own: a process has one Spark, and the other tests have theirs.
    """
    import subprocess
    import sys

    program = tmp_path / "killed.py"
    program.write_text(
        "import sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / 'src')]!r}\n"
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('spark_tests', {__file__!r})\n"
        "tests = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(tests)\n"
        f"tests.search_while_killing({str(tmp_path)!r})\n"
    )

    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False, timeout=400
    )

    assert 0 == done.returncode, done.stderr[-3000:]
    assert "the same answer, 1 executor killed" in done.stdout


def search_while_killing(folder):
    """Search on a cluster of two workers, and kill one of them while the first query runs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    scores, labels = _data(3_000_000)
    where = Path(folder) / "scores"
    where.mkdir()
    for i in range(8):
        part = slice(i * 375_000, (i + 1) * 375_000)
        pq.write_table(pa.table({"p": scores[part], "y": labels[part]}), where / f"{i}.parquet")
    with servers.spark_session(
        "local-cluster[2,1,1024]",
        **{"spark.executor.memory": "512m", "spark.sql.files.maxPartitionBytes": "1m"},
    ) as session:
        frame = session.read.parquet(str(where))
        killed = []

        def kill():
            while not killed:
                time.sleep(0.05)
                busy = session.sparkContext.statusTracker().getActiveStageIds()
                workers = _workers(session)
                if busy and len(workers) == 2:
                    time.sleep(0.3)
                    os.kill(workers[0], signal.SIGKILL)
                    killed.append(workers[0])

        assert frame.count() == len(scores)  # both workers are up
        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        actual = cp.find(frame, label="y", score="p", maximize="f1")
        killer.join(timeout=10)
    expected = cp.find(labels, scores, maximize="f1")
    assert killed
    assert (expected.threshold, expected.confusion) == (actual.threshold, actual.confusion)
    print(f"the same answer, {len(killed)} executor killed")  # noqa: T201

"""find(maximize="f1") by GROUP BY: on Spark, Dask and Ibis, against their own floor and MLlib.

    python -m benchmarks.spark                        # 5 * 10**6 rows, a few minutes
    python -m benchmarks.spark --rows 50000000 --kinds probabilities --engines spark --no-mllib
    python -m benchmarks.spark --render               # only write the page again from the result file

One Parquet file, read again by every query. The floor is `sum(score), sum(label)` through the same
engine. Times are the best of a few runs in one process, taken in turns; what counts is the ratio to
the floor. Results of several numbers of rows are kept side by side. MLlib's `fMeasureByThreshold`,
without its binning, is timed once, after our searches have warmed up Spark, to the point where its
best value is known.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cutpoints as cp
from benchmarks.problems import make

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
RESULT = HERE / "results" / "spark.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "spark.md"
COLUMNS = {"score": "p", "label": "y"}
KINDS = ("probabilities", "logits", "log-normal", "geometric", "cluster")


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--turns", type=int, default=5, help="runs of floor and search, in turns")
    parser.add_argument("--memory", default="6g", help="heap of Spark's driver; MLlib needs it")
    parser.add_argument("--engines", default="spark,dask,ibis", help="which, separated by commas")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of scores, separated by commas")
    parser.add_argument("--no-mllib", action="store_true", help="leave out MLlib")
    parser.add_argument("--render", action="store_true", help="only render the page")
    options = parser.parse_args()
    if not options.render:
        run(options)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def run(options: argparse.Namespace) -> None:
    """Measure every engine on the same files; the result file is written after each."""
    engines = options.engines.split(",")
    kinds = options.kinds.split(",")
    result: dict[str, Any] = {"machine": machine(engines), "rows": options.rows, "engines": [], "kinds": []}
    results = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    results[str(options.rows)] = result
    with tempfile.TemporaryDirectory(prefix="cutpoints-bench-") as folder:
        files, optima = {}, {}
        for kind in kinds:
            files[kind], optima[kind] = write(kind, options.rows, Path(folder))
        for engine in engines:
            open_, close = ENGINES[engine](options, folder)
            found = compare(open_, files["probabilities"], optima["probabilities"], options.turns)
            result["engines"].append({"engine": engine, **found})
            if engine == "spark":
                for kind in kinds[1:]:
                    found = compare(open_, files[kind], optima[kind], 2)
                    result["kinds"].append({"kind": kind, **found})
                result["java_peak_mb"] = java_peak()
                if not options.no_mllib:
                    result["mllib"] = mllib(open_(files["probabilities"])[0], optima["probabilities"])
                    result["mllib"]["java_peak_mb"] = java_peak()
            close()
            RESULT.parent.mkdir(exist_ok=True)
            RESULT.write_text(json.dumps(results, indent=1) + "\n")


def java_peak() -> float | None:
    """Return the largest resident size so far, in MB, of Spark's Java, where the system tells."""
    from pyspark import SparkContext

    status = Path(f"/proc/{SparkContext._gateway.proc.pid}/status")  # noqa: SLF001 - there is no other way
    if not status.exists():
        return None
    lines = status.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def machine(engines: list[str]) -> dict[str, Any]:
    """Say what it ran on, without saying where."""
    names = {"spark": "pyspark", "dask": "dask", "ibis": "ibis"}
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "load": round(os.getloadavg()[0], 1),
        "kind": platform.machine(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        **{name: importlib.import_module(names[name]).__version__ for name in engines},
    }


def write(kind: str, rows: int, folder: Path) -> tuple[str, tuple[float, float]]:
    """Write a problem as Parquet; return the file, and the optimum as it is on arrays."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    problem = make(kind, rows)
    path = str(folder / f"{kind}.parquet")
    pq.write_table(pa.table({"p": problem.score, "y": problem.y}), path, row_group_size=1 << 20)
    best = cp.find(problem.y, problem.score, maximize="f1")
    return path, (best.threshold, best.value)


# --- engines: a function of a file that returns a frame and the floor, and how to end


def spark(options: argparse.Namespace, folder: str) -> tuple[Callable[[str], Any], Callable[[], None]]:
    """Spark with as many threads as there are cores."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812

    builder = SparkSession.builder.master(f"local[{os.cpu_count()}]").appName("cutpoints benchmark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": options.memory,
        "spark.sql.shuffle.partitions": str(os.cpu_count()),
        "spark.local.dir": folder,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def open_(path: str) -> tuple[Any, Callable[[], Any]]:
        frame = session.read.parquet(path)
        return frame, lambda: frame.agg(F.sum("p"), F.sum("y")).collect()

    return open_, session.stop


def dask(options: argparse.Namespace, folder: str) -> tuple[Callable[[str], Any], Callable[[], None]]:
    """Dask with its threads."""
    import dask.dataframe as dd

    def open_(path: str) -> tuple[Any, Callable[[], Any]]:
        frame = dd.read_parquet(path, split_row_groups=True)
        return frame, lambda: frame[["p", "y"]].sum().compute()

    return open_, lambda: None


def ibis(options: argparse.Namespace, folder: str) -> tuple[Callable[[str], Any], Callable[[], None]]:
    """Ibis with DuckDB behind it."""
    import ibis as ibis_

    connection = ibis_.duckdb.connect()

    def open_(path: str) -> tuple[Any, Callable[[], Any]]:
        frame = connection.read_parquet(path)
        return frame, lambda: frame.aggregate(a=frame.p.sum(), b=frame.y.sum()).to_pyarrow()

    return open_, connection.disconnect


ENGINES = {"spark": spark, "dask": dask, "ibis": ibis}


def compare(
    open_: Callable[[str], Any], path: str, optimum: tuple[float, float], turns: int
) -> dict[str, Any]:
    """Time floor and search in turns, and check the answer."""
    frame, floor = open_(path)
    floors, ours, solution = [], [], None
    for _ in range(turns + 1):  # the first turn warms up
        gc.collect()
        start = time.perf_counter()
        floor()
        floors.append(time.perf_counter() - start)
        start = time.perf_counter()
        solution = cp.find(frame, **COLUMNS, maximize="f1")
        ours.append(time.perf_counter() - start)
    assert solution is not None
    found = {
        "floor": min(floors[1:]),
        "seconds": min(ours[1:]),
        "times_floor": min(ours[1:]) / min(floors[1:]),
        "passes": solution.certificate.passes,
        "rows_examined": solution.certificate.rows_examined,
        "same": (solution.threshold, solution.value) == optimum,
    }
    print(path.rsplit("/", 1)[-1], found, file=sys.stderr)
    return found


def mllib(frame: Any, optimum: tuple[float, float]) -> dict[str, Any]:
    """Time Spark's own way to the best F1: every distinct score a threshold."""
    from pyspark.sql import DataFrame

    session = frame.sparkSession
    java = session._jvm  # noqa: SLF001 - the Python class has no fMeasureByThreshold
    encoders = java.org.apache.spark.sql.Encoders
    pair = encoders.tuple(encoders.scalaDouble(), encoders.scalaDouble())
    start = time.perf_counter()
    given = frame.selectExpr("p as _1", "cast(y as double) as _2")._jdf  # noqa: SLF001
    pairs = getattr(given, "as")(pair).rdd()
    metrics = java.org.apache.spark.mllib.evaluation.BinaryClassificationMetrics(pairs, 0)
    measures = session._jsparkSession.createDataset(metrics.fMeasureByThreshold(), pair)  # noqa: SLF001
    # The maximum is taken by Spark: to collect five million pairs would not be its fault.
    value = float(DataFrame(measures.toDF(), session).selectExpr("max(_2)").first()[0])
    found = {"seconds": time.perf_counter() - start, "value": value}
    found["optimal"] = abs(value - optimum[1]) < 1e-12
    print("MLlib", found, file=sys.stderr)
    return found


def render(results: dict[str, Any]) -> str:
    """Write the page: a section for each number of rows."""
    page = [
        "# Benchmarks: Spark, Dask, Ibis",
        "",
        "Rendered from `benchmarks/results/spark.json` by `python -m benchmarks.spark`.",
        "The floor is `sum(score), sum(label)` through the same engine on the same file.",
        "Every answer is checked against the one on arrays.",
    ]
    for rows in sorted(results, key=int):
        page += section(results[rows])
    return "\n".join([*page, ""])


def section(result: dict[str, Any]) -> list[str]:
    """Return the lines for one number of rows."""
    spec = result["machine"]
    names = {"spark": "Spark", "dask": "Dask", "ibis": "Ibis on DuckDB"}
    versions = ", ".join(f"{names[name]} {spec[name]}" for name in names if name in spec)
    page = [
        "",
        f"## {result['rows']:,} rows",
        "",
        f"{spec['cores']} cores ({spec['kind']}), {spec['memory_gib']} GiB, {spec['date']};",
        f"load average at the start {spec['load']}. Python {spec['python']}, {versions}.",
        "",
        "| engine | floor (s) | best F1 (s) | times the floor | passes | rows examined | same answer |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]

    def line(name: str, row: dict[str, Any]) -> str:
        return (
            f"| {name} | {row['floor']:.2f} | {row['seconds']:.2f} | {row['times_floor']:.1f} | "
            f"{row['passes']} | {row['rows_examined']:,} | {'yes' if row['same'] else 'NO'} |"
        )

    page += [line(names[row["engine"]], row) for row in result["engines"]]
    if result["kinds"]:
        page += [
            "",
            "### Kinds of scores, on Spark",
            "",
            "| scores | floor (s) | best F1 (s) | times the floor | passes | rows examined | same answer |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *(line(row["kind"], row) for row in result["kinds"]),
        ]
    if result.get("java_peak_mb"):
        told = f"Spark's Java had {result['java_peak_mb']:,.0f} MB at most by then"
        page += ["", f"{told}."]
    if result.get("mllib"):
        ours = next(row["seconds"] for row in result["engines"] if row["engine"] == "spark")
        rival = result["mllib"]
        page += [
            "",
            "### MLlib's fMeasureByThreshold",
            "",
            f"`BinaryClassificationMetrics` with `numBins=0` took {rival['seconds']:.1f} s, once:",
            f"{rival['seconds'] / ours:.0f} times as long as the exact search here.",
            f"Its value is {'the optimum' if rival['optimal'] else 'NOT the optimum'}.",
        ]
    return page


if __name__ == "__main__":
    main()

"""find(by=...) with up to ten thousand segments, in memory, on a file and inside engines.

    python -m benchmarks.segments                     # 1.2 * 10**7 rows, a few minutes
    python -m benchmarks.segments --render            # only write the page again from the result file

The floor is one GROUP BY on the segments that adds up scores and labels, through the same engine. The
answers of a few segments are compared with a search on their rows alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import cutpoints as cp
from benchmarks import spark
from benchmarks.problems import make

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
RESULT = HERE / "results" / "segments.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "segments.md"
SEGMENTS = (10, 100, 1_000, 10_000)


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=1.2e7)
    parser.add_argument("--memory", default="1g", help="heap of Spark's driver; 1g is its default")
    parser.add_argument("--render", action="store_true", help="only render the page")
    options = parser.parse_args()
    if not options.render:
        result = {"machine": spark.machine(["spark", "ibis"]), "rows": int(options.rows), "searches": []}
        with tempfile.TemporaryDirectory(prefix="cutpoints-bench-") as folder:
            for count in SEGMENTS:
                result["searches"] += compare(count, int(options.rows), folder, options)
                RESULT.write_text(json.dumps(result, indent=1) + "\n")
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def compare(count: int, rows: int, folder: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Search one problem of so many segments on every engine."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    problem = make("probabilities", rows)
    # A few segments have most rows, many have few.
    segment = (count * np.random.default_rng(2).random(rows) ** 2).astype(np.int32)
    path = str(Path(folder) / "segments.parquet")
    columns = {"p": problem.score, "y": problem.y, "s": segment}
    pq.write_table(pa.table(columns), path, row_group_size=1 << 20)
    names = {"score": "p", "label": "y", "by": "s"}
    grouped = f"select s, sum(p), sum(y) from '{path}' group by s"  # noqa: S608 - a name of our own
    ways: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "Parquet file": (
            lambda: duckdb.sql(grouped).fetchall(),
            lambda: cp.find(path, **names, maximize="f1"),
        ),
    }
    ends = []
    for engine in ("ibis", "spark"):
        open_, close = spark.ENGINES[engine](options, folder)
        ends.append(close)
        frame = open_(path)[0]
        ways[{"ibis": "Ibis, DuckDB", "spark": "Spark"}[engine]] = (
            _floor(frame, engine),
            lambda frame=frame: cp.find(frame, **names, maximize="f1"),
        )
    found = []
    for name, (floor, search) in ways.items():
        floor()  # warms up
        start = time.perf_counter()
        floor()
        least = time.perf_counter() - start
        start = time.perf_counter()
        solutions = search()
        seconds = time.perf_counter() - start
        right = sum(_is_right(solutions, key, problem, segment) for key in range(0, count, count // 10))
        entry = {"engine": name, "segments": count, "floor": least, "seconds": seconds, "right": right}
        found.append({**entry, "passes": solutions[0].certificate.passes, "solved": len(solutions)})
        print(found[-1])
    for close in ends:
        close()
    return found


def _floor(frame: Any, engine: str) -> Callable[[], Any]:
    if engine == "spark":
        return lambda: frame.groupBy("s").agg({"p": "sum", "y": "sum"}).collect()
    return lambda: frame.group_by("s").aggregate(a=frame.p.sum(), b=frame.y.sum()).to_pyarrow()


def _is_right(solutions: Any, key: int, problem: Any, segment: Any) -> bool:
    mine = segment == key
    alone = cp.find(problem.y[mine], problem.score[mine], maximize="f1")
    return (alone.threshold, alone.counts) == (solutions[key].threshold, solutions[key].counts)


def render(result: dict[str, Any]) -> str:
    """Write the page."""
    spec = result["machine"]
    lines = [
        "# Benchmarks: a threshold for each segment",
        "",
        "Rendered from `benchmarks/results/segments.json` by `python -m benchmarks.segments`.",
        "{cores} cores ({kind}), {memory_gib} GiB, Python {python}, Spark {spark}, {date}.".format(**spec),
        f"{result['rows']:,} rows, the best F1 of each segment; a few segments have most of the rows.",
        "The floor is one GROUP BY on the segments that adds up scores and labels.",
        "Ten segments of each search were compared with a search on their rows alone: all were the same."
        if all(one["right"] == 10 for one in result["searches"])
        else "**Some segments differ from a search on their rows alone.**",
        "",
        "| segments | engine | floor (s) | search (s) | times the floor | passes |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in result["searches"]:
        times = f"{one['floor']:.2f} | {one['seconds']:.1f} | {one['seconds'] / one['floor']:.1f}"
        lines.append(f"| {one['segments']:,} | {one['engine']} | {times} | {one['passes']} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()

"""How often a search that groups inside an engine reads the data, for scores of every kind.

    python -m benchmarks.passes                # 2*10**7 rows, some ten minutes
    python -m benchmarks.passes --render       # only write the page again from the result file

DuckDB answers the queries that Spark, Dask and Ibis would get. Fewer rows than are left after a count
can be handed over at once, so few rows would show nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import cutpoints as cp
from benchmarks.core import machine

HERE = Path(__file__).parent
RESULT = HERE / "results" / "passes.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "passes.md"


def around(points: Any) -> Any:
    """Distances of 2**-2 to 2**-53 of their size on both sides of the points."""

    def make(rng: np.random.Generator, rows: int) -> Any:
        centres = np.asarray(points(rng) if callable(points) else points, dtype=np.float64)
        return rng.choice(centres, rows) * (1 + rng.choice([-1, 1], rows) * 2.0 ** -rng.uniform(2, 53, rows))

    return make


def sizes(count: int) -> Any:
    """So many points over eighteen orders of magnitude and both signs."""
    return lambda rng: rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-9, 9, count)


SCORES: dict[str, Any] = {
    "probabilities": lambda rng, rows: 1 / (1 + np.exp(-1.2 * rng.normal(size=rows))),
    "rare events": lambda rng, rows: np.minimum(np.exp(2 * rng.normal(size=rows) - 8), 1.0),
    "logits": lambda rng, rows: 3 * rng.normal(size=rows),
    "float32": lambda rng, rows: rng.random(rows).astype(np.float32),
    "two decimals": lambda rng, rows: np.round(rng.random(rows), 2),
    "log-normal, sigma 20": lambda rng, rows: np.exp(20 * rng.normal(size=rows)),
    "1e-300 to 1e300, both signs": lambda rng, rows: (
        rng.choice([-1, 1], rows) * 10.0 ** rng.uniform(-300, 300, rows)
    ),
    "one outlier": lambda rng, rows: np.append(rng.random(rows - 1), 1e300),
    "a cluster of width 1e-9": lambda rng, rows: 0.5 + 1e-9 * rng.random(rows),
    "near one": lambda rng, rows: 1 - np.exp(3 * rng.normal(size=rows) - 10),
    "30 % infinite": lambda rng, rows: np.where(
        rng.random(rows) < 0.3, rng.choice([-np.inf, np.inf], rows), rng.random(rows)
    ),
    "subnormal": lambda rng, rows: rng.integers(0, 10**9, rows) * 5e-324,
    "all equal": lambda rng, rows: np.full(rows, 0.5),
    **{f"around {point:g}": around([point]) for point in (0.3, -2.5, 0.0003, 1e9, 1e-300)},
    **{f"around {count} points": around(sizes(count)) for count in (3, 10, 30)},
}


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--render", action="store_true", help="only render the page")
    options = parser.parse_args()
    if not options.render:
        result = {"machine": machine(), "rows": int(options.rows), "searches": []}
        for kind in SCORES:
            for noise in (False, True):
                result["searches"].append(search(kind, int(options.rows), noise=noise))
                print(result["searches"][-1], file=sys.stderr)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    PAGE.write_text(render(json.loads(RESULT.read_text())))


def search(kind: str, rows: int, *, noise: bool) -> dict[str, Any]:
    """Find the best Youden's J, and look at what was asked for on the way."""
    import duckdb
    import narwhals as nw

    from cutpoints._data import frames, groupby
    from cutpoints._data.streaming import Columns

    rng = np.random.default_rng(1)
    scores = SCORES[kind](rng, rows)
    few = np.sort(scores[:: rows // 10_000])
    chance = 0.5 if noise else 0.2 + 0.6 * np.searchsorted(few, scores) / len(few)
    connection = duckdb.connect()
    connection.register("given", {"p": scores, "y": (rng.random(rows) < chance).astype(np.int8)})
    connection.execute("create table t as select * from given")
    answers: list[int] = []
    run = frames.run

    def listen(query: Any) -> Any:
        found = run(query)
        answers.append(len(found))
        return found

    frames.run = listen
    try:
        start = time.perf_counter()
        source = groupby.FrameSource(nw.from_native(connection.table("t")), Columns(score="p", label="y"))
        solution = cp.find(source, maximize="youden_j", method="narrow")
    finally:
        frames.run = run
        connection.close()
    return {
        "scores": kind,
        "labels": "noise" if noise else "signal",
        "passes": solution.certificate.passes,
        "left": solution.certificate.rows_examined,
        "groups": max(answers[:-1], default=0),
        "handed": answers[-1],
        "seconds": time.perf_counter() - start,
    }


def render(result: dict[str, Any]) -> str:
    """Write the page."""
    spec = result["machine"]
    lines = [
        "# Benchmarks: passes of a search that groups",
        "",
        "Rendered from `benchmarks/results/passes.json` by `python -m benchmarks.passes`.",
        "{cores} cores ({kind}), Python {python}, NumPy {numpy}.".format(**spec),
        f"{result['rows']:,} rows in DuckDB, asked as Spark, Dask or Ibis would be; the best Youden's J.",
        "Labels follow the rank of the score, or are noise, where hardly a cut can be excluded.",
        "",
        "| scores | labels | passes | most groups of a count | rows left | scores handed over |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in result["searches"]:
        counts = f"{one['groups']:,} | {one['left']:,} | {one['handed']:,}"
        lines.append(f"| {one['scores']} | {one['labels']} | {one['passes']} | {counts} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()

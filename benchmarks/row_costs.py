"""Costs that differ from row to row against costs in numbers: the same search with one channel more.

    python -m benchmarks.row_costs              # 10**7 rows, a few minutes
    python -m benchmarks.row_costs --rows 6     # 10**6 rows
    python -m benchmarks.row_costs --render     # only write the page again from the result file

Times are the best of a few runs, all in one process and in turns, so that a ratio is one of two times
under the same load. What one column of amounts costs is asked to be at most twice the plain search.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import cutpoints as cp
from benchmarks.core import machine
from benchmarks.problems import make
from cutpoints import metrics as m

HERE = Path(__file__).parent
RESULT = HERE / "results" / "row_costs.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "row_costs.md"
RUNS = 5


def columns(rows: int) -> dict[str, Any]:
    """Return amounts of several kinds."""
    rng = np.random.default_rng(24)
    money = rng.lognormal(3, 1, rows)
    return {"integers": rng.integers(1, 500, rows), "cents": np.round(money, 2), "floats": money}


def measure(rows: int) -> dict[str, Any]:
    """Search the same rows with numbers and with columns, in turns."""
    problem = make("probabilities", rows)
    y, score = problem.y, problem.score
    goals = {"numbers": m.cost(fp=5, fn=33)}
    goals |= {kind: m.cost(fp=5, fn=values) for kind, values in columns(rows).items()}
    best = dict.fromkeys(goals, float("inf"))
    for _ in range(RUNS):
        for kind, goal in goals.items():
            start = time.perf_counter()
            cp.find(y, score, minimize=goal)
            best[kind] = min(best[kind], time.perf_counter() - start)
    # One value for all rows must be the plain answer, bit for bit.
    constant = cp.find(y, score, minimize=m.cost(fp=5, fn=np.full(rows, 33)))
    plain = cp.find(y, score, minimize=goals["numbers"])
    assert (plain.threshold, plain.value) == (constant.threshold, constant.value)
    return {"rows": rows, "seconds": best}


def render(result: dict[str, Any]) -> str:
    """Write the page."""
    host = result["machine"]
    versions = f"Python {host['python']}, NumPy {host['numpy']}"
    goals = "`cost(fp=5, fn=33)` against `cost(fp=5, fn=amount)` on the same rows"
    lines = [
        "# Benchmarks: costs that differ from row to row",
        "",
        "Rendered from `benchmarks/results/row_costs.json` by `python -m benchmarks.row_costs`.",
        f"{host['cores']} cores ({host['kind']}), {versions}. {result['note']}".strip(),
        "",
        f"`find` on arrays, {goals}, best of {RUNS} runs in turns; at most twice the time is asked for.",
        "",
        "| rows | amounts | seconds | ratio to numbers |",
        "| --- | --- | --- | --- |",
    ]
    for one in result["speed"]:
        plain = one["seconds"]["numbers"]
        for kind, seconds in one["seconds"].items():
            lines.append(f"| {one['rows']:,} | {kind} | {seconds:.3g} | {seconds / plain:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=7, help="this power of ten")
    parser.add_argument("--note", default="", help="what to say of the machine")
    parser.add_argument("--render", action="store_true", help="only render the page")
    options = parser.parse_args()
    if not options.render:
        result = {"machine": machine(), "note": options.note, "speed": [measure(10**options.rows)]}
        RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(render(json.loads(RESULT.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()

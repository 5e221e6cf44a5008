"""No input should make find slower than twice a plain argsort sweep: every kind of scores and weights.

    python -m benchmarks.worst                # half an hour
    python -m benchmarks.worst --rows 10000   # only this size again; the others stay as they are
    python -m benchmarks.worst --render       # only write the page again from the result file

Each cell is timed in a process of its own, since how long memory takes to get depends on what the process
did before: both ways in turns, the best of many. What counts is the ratio.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.core import best_thresholds, machine, timed
from benchmarks.problems import KINDS, WEIGHTS, make
from benchmarks.rivals import argsort_sweep, cutpoint_find

HERE = Path(__file__).parent
RESULT = HERE / "results" / "worst.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "worst.md"
SIZES = (10**4, 2 * 10**4, 5 * 10**4, 10**5, 10**6, 10**7)
LARGE = 10**7
"""So many rows are timed without weights and with plain ones only: a sort takes seconds."""
UNWEIGHTED = "no weights"
ROWS_TIMED = 2 * 10**5
"""Calls on few rows are timed together until they have read so many."""
LIMIT = 2.0


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, choices=SIZES, help="only time this size again")
    parser.add_argument("--render", action="store_true", help="only render the page")
    parser.add_argument("--cell", nargs=3, metavar=("KIND", "WEIGHTS", "ROWS"), help="time one cell here")
    options = parser.parse_args()
    if options.cell:
        kind, weights, rows = options.cell
        print(json.dumps(cell(kind, weights, int(rows))))
        return
    if not options.render:
        sizes = SIZES if options.rows is None else (options.rows,)
        known = json.loads(RESULT.read_text())["cells"] if RESULT.exists() else []
        cells = [known_cell for known_cell in known if known_cell["rows"] not in sizes]
        for rows in sizes:
            kinds_of_weights = [UNWEIGHTED, *WEIGHTS][: 2 if rows >= LARGE else None]
            cells += [in_own_process(kind, how, rows) for how in kinds_of_weights for kind in KINDS]
        cells.sort(key=lambda one: one["rows"])
        RESULT.write_text(json.dumps({"machine": machine(), "cells": cells}, indent=1) + "\n")
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def in_own_process(kind: str, weights: str, rows: int) -> dict[str, Any]:
    """Time one cell in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.worst", "--cell", kind, weights, str(rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"{rows:>10,}  {kind}, {weights}: {ratio(found):.2f}", file=sys.stderr)
    return found


def cell(kind: str, weights: str, rows: int) -> dict[str, Any]:
    """Time find and the plain sweep in turns on one problem, and check the answer of the latter."""
    problem = make(kind, rows, weighted=False if weights == UNWEIGHTED else weights)
    loops = max(1, ROWS_TIMED // rows)
    find = sweep = float("inf")
    for turn in range(12):
        for _ in range(3):
            seconds, best = timed(cutpoint_find.run, problem, loops)
            find = min(find, seconds)
        if turn > 1 and sweep > 1:
            continue
        for _ in range(2 if sweep < 1 else 1):
            seconds, got = timed(argsort_sweep.run, problem, loops)
            sweep = min(sweep, seconds)
    right = abs(got[1] - best[1]) < 1e-12 and got[0] in best_thresholds(problem)
    return {
        "scores": kind,
        "weights": weights,
        "rows": rows,
        "find": find,
        "sweep": sweep,
        "sweep_is_right": right,
    }


def ratio(one: dict[str, Any]) -> float:
    """Return how many times as long as the plain sweep find takes."""
    return float(one["find"] / one["sweep"])


def render(result: dict[str, Any]) -> str:
    """Write the page: the worst first, then a table for each size."""
    cells = result["cells"]
    page = [
        "# Benchmarks: the worst inputs",
        "",
        "Rendered from `benchmarks/results/worst.json` by `python -m benchmarks.worst`.",
        "{cores} cores ({kind}), Python {python}, NumPy {numpy}.".format(**result["machine"]),
        "",
        "Numbers are multiples of the time of a plain argsort sweep for the best F1 on the same arrays, each",
        "timed in a process of its own. Below 1 `find` is faster; more than 2 is in bold.",
        "A star marks a plain sweep that misses the best threshold, since floats do not add such weights up.",
        "",
        "`find` checks its input and adds weights up exactly, the plain sweep does neither: with few rows that",
        "shows, from some 100,000 on `find` is the faster one.",
        "",
        "## The worst of each kind of weights",
        "",
        *_table(
            ["weights", "worst", "at", "cells", "more than 2"],
            [_worst(how, [c for c in cells if c["weights"] == how]) for how in [UNWEIGHTED, *WEIGHTS]],
        ),
        "",
    ]
    for rows in SIZES:
        here = {(c["scores"], c["weights"]): c for c in cells if c["rows"] == rows}
        columns = [how for how in [UNWEIGHTED, *WEIGHTS] if any(key[1] == how for key in here)]
        lines = [[kind, *(_shown(here[kind, how]) for how in columns)] for kind in KINDS if columns]
        page += [f"## {rows:,} rows", "", *_table(["scores", *columns], lines), ""]
    return "\n".join(page)


def _worst(how: str, cells: list[dict[str, Any]]) -> list[str]:
    worst = max(cells, key=ratio)
    slow = [one for one in cells if ratio(one) > LIMIT]
    rows = f", up to {max(one['rows'] for one in slow):,} rows" if slow else ""
    return [how, _shown(worst), f"{worst['scores']}, {worst['rows']:,} rows", str(len(cells)), f"{len(slow)}{rows}"]


def _shown(one: dict[str, Any]) -> str:
    number = f"{ratio(one):.2f}"
    return (f"**{number}**" if ratio(one) > LIMIT else number) + ("" if one["sweep_is_right"] else " *")


def _table(head: list[str], lines: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *lines)]


if __name__ == "__main__":
    main()

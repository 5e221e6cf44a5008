"""No input should make find slower than twice a plain argsort sweep: every kind of scores and weights.

For the best F1; and for every metric of the catalogue on few rows, of ordinary data and where thousands
of cuts are as good as the best, or nearly so; accuracy and MCC on more of these; and with constraints.

    python -m benchmarks.worst                # two hours
    python -m benchmarks.worst --rows 10000   # only this size again; the others stay as they are
    python -m benchmarks.worst --again        # only what took more than twice as long
    python -m benchmarks.worst --render       # only write the page again from the result file

Each cell is timed in a process of its own, since how long memory takes to get depends on what the process
did before: both ways in turns, the best of many. What counts is the ratio.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.core import best_thresholds, machine, timed
from benchmarks.problems import KINDS, WEIGHTS, make
from benchmarks.rivals import argsort_sweep, cutpoint_find
from cutpoints.metrics.registry import PLAIN

HERE = Path(__file__).parent
RESULT = HERE / "results" / "worst.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "worst.md"
SIZES = (10**4, 2 * 10**4, 5 * 10**4, 10**5, 14 * 10**4, 4 * 10**5, 10**6, 45 * 10**5, 10**7, 10**8)
"""Some of them a little above where `find` no longer sorts, but counts: there it is slowest."""
LARGE = 45 * 10**5
"""So many rows are timed without weights and with plain ones only: a sort takes seconds."""
HUGE = 10**8
"""So many rows only with ordinary scores: a sort takes half a minute, and ten gigabytes."""
UNWEIGHTED = "no weights"
TIED = {
    "goals": ("accuracy", "mcc"),  # with few rows: every goal
    "scores": ("alternating", "pairs"),
    "weights": (UNWEIGHTED, "one weight", "weighted", "nearly equal weights"),
    "rows": (10**4, 10**5, 10**6),
}
"""Where many cuts tie; nearly equal weights up to 10,000 rows only."""
EVERY = {"scores": ("probabilities", "1 decimal", "geometric"), "weights": (UNWEIGHTED, "weighted")}
"""Where every goal of the catalogue is timed, with the fewest rows."""
NONE = "none: "
CONSTRAINED: dict[str, tuple[str, tuple[tuple[str, int, float], ...]]] = {
    "recall, precision >= 0.7": ("recall", (("precision", 1, 0.7),)),
    "precision, recall >= 0.8": ("precision", (("recall", 1, 0.8),)),
    "recall, fpr <= 0.1": ("recall", (("fpr", -1, 0.1),)),
    "recall, predicted_positive <= 500": ("recall", (("predicted_positive", -1, 500),)),
    "f1, precision >= 0.6, recall >= 0.6": ("f1", (("precision", 1, 0.6), ("recall", 1, 0.6))),
    "recall, precision >= 0.6, fpr <= 0.3, predicted_positive >= 100": (
        "recall",
        (("precision", 1, 0.6), ("fpr", -1, 0.3), ("predicted_positive", 1, 100)),
    ),
    NONE + "recall, precision >= 1.01": ("recall", (("precision", 1, 1.01),)),
    NONE + "precision, recall >= 0.8, predicted_positive <= 50": (
        "precision",
        (("recall", 1, 0.8), ("predicted_positive", -1, 50)),
    ),
}
"""Goals with constraints: a metric, 1 for no less or -1 for no more, a bound. Two are met by no cut."""
ORDINARY = {
    "scores": (*(kind for kind in KINDS if "decimal" in kind), "probabilities", "log-normal", "geometric"),
    "weights": (UNWEIGHTED, "weighted"),
}
"""What people have: random and rounded scores, skewed ones, ones of all sizes; with weights and without."""
GOALS = [metric.name for metric in PLAIN if metric.name != "f1"]
ROWS_TIMED = 2 * 10**5
"""Calls on few rows are timed together until they have read so many."""
HOW = [UNWEIGHTED, *WEIGHTS]
LONG = 1.0
"""What takes so many seconds is timed less often."""
LIMIT = 2.0


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, choices=SIZES, help="only time this size again")
    parser.add_argument("--again", action="store_true", help="only time again what is above the limit")
    parser.add_argument("--render", action="store_true", help="only render the page")
    parser.add_argument(
        "--cell", nargs=4, metavar=("KIND", "WEIGHTS", "ROWS", "GOAL"), help="time one cell here"
    )
    options = parser.parse_args()
    if options.cell:
        kind, weights, rows, goal = options.cell
        print(json.dumps(cell(kind, weights, int(rows), goal)))
        return
    if options.again:
        result = json.loads(RESULT.read_text())
        result["cells"] = [once_more(one) if ratio(one) > LIMIT else one for one in result["cells"]]
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    elif not options.render:
        sizes = SIZES if options.rows is None else (options.rows,)
        known = json.loads(RESULT.read_text())["cells"] if RESULT.exists() else []
        cells = [known_cell for known_cell in known if known_cell["rows"] not in sizes]
        for rows in sizes:
            kinds_of_weights = HOW[: 2 if rows >= LARGE else None]
            kinds = ORDINARY["scores"] if rows >= HUGE else KINDS
            cells += [in_own_process(kind, how, rows) for how in kinds_of_weights for kind in kinds]
            cells += [
                in_own_process(kind, how, rows, goal)
                for goal in (*GOALS, *CONSTRAINED)
                for kind in EVERY["scores"]
                for how in EVERY["weights"]
                if rows == SIZES[0]
            ]
            cells += [
                in_own_process(kind, how, rows, goal)
                for goal in (GOALS if rows == SIZES[0] else TIED["goals"])
                for kind in TIED["scores"]
                for how in TIED["weights"]
                if rows in TIED["rows"] and (how != "nearly equal weights" or rows == SIZES[0])
            ]
        cells.sort(key=lambda one: one["rows"])
        RESULT.write_text(json.dumps({"machine": machine(), "cells": cells}, indent=1) + "\n")
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def in_own_process(
    kind: str, weights: str, rows: int, goal: str = "f1", *, again: bool = False
) -> dict[str, Any]:
    """Time one cell in a fresh process; in another one, too, if it is above the limit."""
    command = [sys.executable, "-m", "benchmarks.worst", "--cell", kind, weights, str(rows), goal]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    found: dict[str, Any] = json.loads(done.stdout)
    if ratio(found) > LIMIT and not again:
        found = once_more(found)
    print(f"{rows:>10,}  {goal}, {kind}, {weights}: {ratio(found):.2f}", file=sys.stderr)
    return found


def once_more(one: dict[str, Any]) -> dict[str, Any]:
    """Time a cell again, and keep the best time of either way: machines are shared."""
    other = in_own_process(one["scores"], one["weights"], one["rows"], one["goal"], again=True)
    return {**one, "find": min(one["find"], other["find"]), "sweep": min(one["sweep"], other["sweep"])}


def cell(kind: str, weights: str, rows: int, goal: str) -> dict[str, Any]:
    """Time find and the plain sweep in turns on one problem, and check the answer of the latter."""
    problem = make(kind, rows, weighted=False if weights == UNWEIGHTED else weights)
    loops = max(1, ROWS_TIMED // rows)
    metric, constraints = CONSTRAINED.get(goal, (goal, ()))
    ways = [partial(way.run, goal=metric, constraints=constraints) for way in (cutpoint_find, argsort_sweep)]
    find = sweep = float("inf")
    for turn in range(12):
        if turn >= (2 if rows < HUGE else 1) and max(find, sweep) * loops > LONG:
            break
        for _ in range(3 if find * loops < LONG else 1):
            seconds, best = timed(ways[0], problem, loops)
            find = min(find, seconds)
        for _ in range(2 if sweep * loops < LONG and rows < HUGE else 1):
            seconds, got = timed(ways[1], problem, loops)
            sweep = min(sweep, seconds)
    known = best_thresholds(problem, metric, cutpoint_find.in_words(constraints))
    alike = np.shape(got[1]) == np.shape(best[1]) and np.allclose(got[1], best[1], rtol=0, atol=1e-12)
    right = got[0] in known and alike
    return {
        "goal": goal,
        "scores": kind,
        "weights": weights,
        "rows": rows,
        "find": find,
        "sweep": sweep,
        "sweep_is_right": bool(right),
    }


def ratio(one: dict[str, Any]) -> float:
    """Return how many times as long as the plain sweep find takes."""
    return float(one["find"] / one["sweep"])


def render(result: dict[str, Any]) -> str:
    """Write the page: the worst first, then a table for each size, then other goals."""
    cells = [one for one in result["cells"] if one["goal"] == "f1"]
    page = [
        "# Benchmarks: the worst inputs",
        "",
        "Rendered from `benchmarks/results/worst.json` by `python -m benchmarks.worst`.",
        "{cores} cores ({kind}), Python {python}, NumPy {numpy}.".format(**result["machine"]),
        "",
        "Numbers are multiples of the time of a plain argsort sweep on the same arrays, each timed in a",
        "process of its own. Below 1 `find` is faster; more than 2 is in bold.",
        "A star marks a plain sweep that misses the best threshold: its floats do not add such weights up.",
        "`find` checks its input, adds weights up exactly and finds all ties; with few rows that shows.",
        "Each size can be timed by itself, so not all of them are of one run.",
        "",
        *_count(result["cells"]),
        *_count_ordinary(result["cells"]),
        "",
        "## The best F1: the worst of each kind of weights",
        "",
        *_table(
            ["weights", "worst", "at", "cells", "more than 2"],
            [_worst(how, [c for c in cells if c["weights"] == how]) for how in HOW],
        ),
        "",
    ]
    for rows in SIZES:
        here = {(c["scores"], c["weights"]): c for c in cells if c["rows"] == rows}
        columns = [how for how in HOW if any(key[1] == how for key in here)]
        kinds = [kind for kind in KINDS if any(key[0] == kind for key in here)]
        lines = [[kind, *(_shown(here[kind, how]) for how in columns)] for kind in kinds]
        page += [f"## The best F1, {rows:,} rows", "", *_table(["scores", *columns], lines), ""]
    others = [one for one in result["cells"] if one["goal"] != "f1"]
    few = {(c["goal"], c["scores"], c["weights"]): c for c in others if c["rows"] == SIZES[0]}
    many = [one for one in others if one["rows"] > SIZES[0]]
    page += [
        f"## Every goal, {SIZES[0]:,} rows",
        "",
        "Against a sweep with the formula of the catalogue. Precision, recall and their like are best where",
        "many cuts tie, which is more to find; the logarithms of others are known to 40 digits.",
        "",
        *_by_goal(few, GOALS, EVERY["scores"], EVERY["weights"]),
        "",
        f"## With constraints, {SIZES[0]:,} rows",
        "",
        "Against a sweep with a mask. Where no cut meets the constraints, both say what can be attained.",
        "",
        *_by_goal(few, CONSTRAINED, EVERY["scores"], EVERY["weights"]),
        "",
        f"## Every goal, where thousands of cuts are alike, {SIZES[0]:,} rows",
        "",
        "Labels that alternate with the score, or a positive and a negative of each score. For some goals",
        "every second cut, or every cut, is as good as the best, or is so as far as floats can tell.",
        "",
        *_by_goal(few, GOALS, TIED["scores"], TIED["weights"]),
        "",
        "## Accuracy and MCC, where thousands of cuts are alike, more rows",
        "",
        *_table(
            ["goal", "scores", "weights", "rows", "times the sweep"],
            [[c["goal"], c["scores"], c["weights"], f"{c['rows']:,}", _shown(c)] for c in many],
        ),
        "",
    ]
    return "\n".join(page)


def _count(cells: list[dict[str, Any]]) -> list[str]:
    """Say how many cells are above the limit, with and without a star."""
    lines = []
    for right, words in ((True, "is right"), (False, "misses the best threshold")):
        here = [one for one in cells if one["sweep_is_right"] == right]
        slow = [one for one in here if ratio(one) > LIMIT]
        lines.append(
            f"- Cells in which the plain sweep {words}: {len(here):,}, of which {len(slow):,} are above 2."
        )
    return lines


def _count_ordinary(cells: list[dict[str, Any]]) -> list[str]:
    """Say how slow the slowest of the ordinary inputs is."""
    here = [one for one in cells if all(one[name] in kinds for name, kinds in ORDINARY.items())]
    lines = []
    for none, words in (
        (
            False,
            "Random scores, of 1 to 5 decimals, log-normal and geometric, with weights and without, any goal",
        ),
        (True, "Of these, constraints that no threshold meets, each of which is then searched for by itself"),
    ):
        part = [one for one in here if one["goal"].startswith(NONE) == none]
        worst = max(part, key=ratio)
        where = f"{worst['goal']}; {worst['scores']}, {worst['weights']}, {worst['rows']:,} rows"
        lines.append(f"- {words}: {len(part):,} cells, the worst {ratio(worst):.2f} ({where}).")
    return lines


def _by_goal(cells: dict[Any, dict[str, Any]], goals: Any, kinds: Any, weights: Any) -> list[str]:
    """Return a table: a line for each goal, a column for each kind of data."""
    columns = [(kind, how) for kind in kinds for how in weights]
    head = ["goal", *(f"{kind}, {how}" for kind, how in columns)]
    return _table(head, [[goal, *(_shown(cells[goal, *column]) for column in columns)] for goal in goals])


def _worst(how: str, cells: list[dict[str, Any]]) -> list[str]:
    worst = max(cells, key=ratio)
    slow = [one for one in cells if ratio(one) > LIMIT]
    rows = f", up to {max(one['rows'] for one in slow):,} rows" if slow else ""
    return [
        how,
        _shown(worst),
        f"{worst['scores']}, {worst['rows']:,} rows",
        str(len(cells)),
        f"{len(slow)}{rows}",
    ]


def _shown(one: dict[str, Any]) -> str:
    number = f"{ratio(one):.2f}" if ratio(one) < 100 else f"{ratio(one):,.0f}"
    return (f"**{number}**" if ratio(one) > LIMIT else number) + ("" if one["sweep_is_right"] else " *")


def _table(head: list[str], lines: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *lines)]


if __name__ == "__main__":
    main()

"""find(maximize="f1") against its rivals and against merely reading the data.

    python -m benchmarks.core                 # up to 10**7 rows, a few minutes
    python -m benchmarks.core --rows 8        # up to 10**8 rows
    python -m benchmarks.core --render        # only write the page again from the result file

Times are the best of a few runs, all in one process and interleaved; what counts is the ratio to
the floor, `score.sum() + y.sum()`. A rival is compared only where its answer is the optimum: where
it is not, the table says so.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import os
import platform
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.problems import Problem, make

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
RESULT = HERE / "results" / "core.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "core.md"
RIVALS = ("floor", "cutpoints_find", "argsort_sweep", "sklearn_roc", "sklearn_pr", "optimal_cutoffs_sort")
SLOW = {"sklearn_roc", "sklearn_pr", "optimal_cutoffs_sort"}
LARGEST_FOR_SLOW = 10**7
HARD = ("alternating", "pairs", "plateaus", "constant", "separated")
GOALS = (
    "f1", "mcc", "accuracy", "balanced_accuracy", "recall", "youden_j", "kappa", "g_mean", "information_gain",
)  # fmt: skip
"""A metric that is 0/0 at every cut is an error, and no slower than an answer."""
FEW, LOOPS = 3 * 10**5, 20
"""Calls on so few rows take less than some milliseconds: many are timed together."""


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=7, help="powers of ten up to this one")
    parser.add_argument("--render", action="store_true", help="only render the page")
    options = parser.parse_args()
    if not options.render:
        result: dict[str, Any] = {"machine": machine(), "speed": [], "kinds": [], "start": start_up()}
        for power in range(4, options.rows + 1):
            result["speed"].append(compare("probabilities", 10**power))
        result["speed"] += [compare("probabilities", 10**6, weighted=True), compare("float32", 10**7)]
        result["speed"].append(compare("probabilities", 10**7, rivals=RIVALS[:3], weighted=True))
        for kind in ("1 decimal", "2 decimals", "3 decimals", "4 decimals", "5 decimals", "logits"):
            result["kinds"].append(compare(kind, 10**6, rivals=RIVALS[:3]))
        for kind in ("log-normal", "geometric", "one outlier", "cluster", "constant", "alternating"):
            result["kinds"].append(compare(kind, 10**6, rivals=RIVALS[:3]))
        result["kinds"].append(compare("geometric", 10**6, rivals=RIVALS[:3], weighted=True))
        result["hard"] = [slowest(kind, weighted=weighted) for kind in HARD for weighted in (False, True)]
        result["memory"] = [memory(name) for name in RIVALS[1:]]
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def slowest(kind: str, *, weighted: bool) -> dict[str, Any]:
    """Time each goal once on a million rows that have many near ties; return the slowest."""
    import cutpoints as cp

    problem = make(kind, 10**6, weighted=weighted)
    seconds = {}
    for goal in GOALS:
        start = time.perf_counter()
        with warnings.catch_warnings(), contextlib.suppress(cp.exceptions.InvalidInputError):
            warnings.simplefilter("ignore")
            cp.find(problem.y, problem.score, maximize=goal, sample_weight=problem.weight)
        seconds[goal] = time.perf_counter() - start
    goal = max(seconds, key=seconds.__getitem__)
    return {"problem": problem.name, "goal": goal, "seconds": seconds[goal]}


def machine() -> dict[str, Any]:
    """Say what it ran on, without saying where."""
    versions = {name: importlib.import_module(name).__version__ for name in ("numpy", "sklearn")}
    return {
        "cores": os.cpu_count(),
        "kind": platform.machine(),
        "python": platform.python_version(),
        **versions,
    }


def compare(
    kind: str, rows: int, *, weighted: bool = False, rivals: tuple[str, ...] = RIVALS
) -> dict[str, Any]:
    """Time the rivals in turns on one problem and check their answers."""
    problem = make(kind, rows, weighted=weighted)
    runs = {name: importlib.import_module(f"benchmarks.rivals.{name}").run for name in rivals}
    if rows > LARGEST_FOR_SLOW:
        runs = {name: run for name, run in runs.items() if name not in SLOW}
    best: dict[str, float] = dict.fromkeys(runs, np.inf)
    answer: dict[str, Any] = {}
    for turn in range(9 if rows <= 10**6 else 7):
        for name, run in runs.items():
            repeats = 1 if name in SLOW or name == "argsort_sweep" else 3
            if turn > 1 and repeats == 1 and best[name] > 1:
                continue
            for _ in range(repeats):
                seconds, answer[name] = timed(run, problem, LOOPS if rows <= FEW else 1)
                best[name] = min(best[name], seconds)
    optimum = answer["cutpoints_find"][1]
    rival_rows = {}
    for name, seconds in best.items():
        got = answer[name]
        exact = isinstance(got, tuple) and (name == "floor" or abs(got[1] - optimum) < 1e-12)
        if name == "argsort_sweep" and exact:  # its thresholds are scores, as those of find
            exact = got[0] in best_thresholds(problem)
        rival_rows[name] = {
            "seconds": seconds,
            "times_floor": seconds / best["floor"],
            "value": got[1] if isinstance(got, tuple) else got,
            "optimal": bool(exact),
        }
    print(problem.name, rows, {k: round(v["times_floor"], 2) for k, v in rival_rows.items()}, file=sys.stderr)
    return {"problem": problem.name, "rows": rows, "rivals": rival_rows}


def best_thresholds(problem: Problem) -> set[float | None]:
    """Return the best threshold and its ties."""
    import cutpoints as cp

    best = cp.find(problem.y, problem.score, sample_weight=problem.weight, maximize="f1")
    return {best.threshold, *(tie.threshold for tie in best.ties)}


def timed(run: Callable[..., Any], problem: Problem, loops: int) -> tuple[float, Any]:
    """Return the seconds of one call, the mean of some, and its answer; no garbage is collected in it."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    try:
        for _ in range(loops):
            answer = run(problem.y, problem.score, problem.weight)
    except Exception as error:  # noqa: BLE001 - a rival's failure is a result
        answer = f"{type(error).__name__}"
    seconds = (time.perf_counter() - start) / loops
    gc.enable()
    return seconds, answer


def memory(rival: str) -> dict[str, Any]:
    """Measure the peak of extra memory at 10**7 rows, as a share of the input."""
    problem = make("probabilities", 10**7)
    run = importlib.import_module(f"benchmarks.rivals.{rival}").run
    tracemalloc.start()
    run(problem.y, problem.score, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"rival": rival, "extra": peak, "input": problem.y.nbytes + problem.score.nbytes}


def start_up() -> dict[str, float]:
    """Time imports and the command line in fresh processes, bytecode cached, best of several."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    scores = HERE / "results" / "scores-1000.csv"
    scores.parent.mkdir(exist_ok=True)
    problem = make("probabilities", 1000)
    lines = [f"{y},{p}" for y, p in zip(problem.y, problem.score, strict=True)]
    scores.write_text("y,p\n" + "\n".join(lines) + "\n")
    find = ["-m", "cutpoints", "find", str(scores), "--label", "y", "--score", "p", "--maximize", "f1"]
    commands = {
        "python": ["-c", "pass"],
        "import numpy": ["-c", "import numpy"],
        "import cutpoints": ["-c", "import cutpoints"],
        "import cutpoints, and cutpoints.find, which loads NumPy": ["-c", "import cutpoints; cutpoints.find"],
        "cutpoints find, 1,000 rows of CSV": find,
    }
    best = dict.fromkeys(commands, np.inf)
    for _ in range(15):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True, env=environment)  # noqa: S603
            best[name] = min(best[name], time.perf_counter() - start)
    scores.unlink()
    return {name: float(seconds) for name, seconds in best.items()}


def render(result: dict[str, Any]) -> str:
    """Write the page."""
    names = {
        "floor": "floor",
        "cutpoints_find": "cutpoints",
        "argsort_sweep": "argsort",
        "sklearn_roc": "sklearn roc_curve",
        "sklearn_pr": "sklearn pr_curve",
        "optimal_cutoffs_sort": "optimal-cutoffs",
    }
    spec = result["machine"]
    page = [
        "# Benchmarks: finding the best F1",
        "",
        "Rendered from `benchmarks/results/core.json` by `python -m benchmarks.core`.",
        "{cores} cores ({kind}), Python {python}, NumPy {numpy}, scikit-learn {sklearn}.".format(**spec),
        "Numbers are multiples of the floor, `score.sum() + y.sum()` on the same arrays in the same run;",
        "the floor itself is in milliseconds.",
        "A star marks an answer that is not the optimum.",
        "",
    ]

    def table(rows: list[dict[str, Any]], columns: list[str]) -> list[str]:
        head = ["problem", "rows", *(names[c] + (" (ms)" if c == "floor" else "") for c in columns)]
        lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
        for row in rows:
            cells = [row["problem"], f"{row['rows']:,}"]
            for column in columns:
                got = row["rivals"].get(column)
                if got is None:
                    cells.append("")
                elif column == "floor":
                    cells.append(f"{1000 * got['seconds']:.3g}")
                else:
                    cells.append(f"{got['times_floor']:.3g}{'' if got['optimal'] else ' *'}")
            lines.append("| " + " | ".join(cells) + " |")
        return lines

    page += ["## Size", "", *table(result["speed"], list(names)), ""]
    page += [
        "## Kinds of scores",
        "",
        *table(result["kinds"], list(names)[:3]),
        "",
        "## Near ties, a million rows",
        "",
        f"The slowest of {len(GOALS)} goals, one call each.",
        "",
        "| problem | goal | seconds |",
        "| --- | --- | --- |",
        *(f"| {m['problem']} | {m['goal']} | {m['seconds']:.2f} |" for m in result["hard"]),
        "",
        "## Extra memory at 10,000,000 rows",
        "",
        "Peak of what NumPy allocates during the call, as a share of the input arrays.",
        "",
        "| | share of the input |",
        "| --- | --- |",
        *(f"| {names[m['rival']]} | {m['extra'] / m['input']:.1%} |" for m in result["memory"]),
        "",
        "## Starting up",
        "",
        "Fresh processes, bytecode cached, best of 15.",
        "",
        "| | seconds |",
        "| --- | --- |",
        *(f"| `{name}` | {seconds:.3f} |" for name, seconds in result["start"].items()),
        "",
    ]
    return "\n".join(page)


if __name__ == "__main__":
    main()

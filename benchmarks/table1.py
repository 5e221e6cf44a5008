"""Table 1 of the document on the 0-1 program, whole: every row, by seven methods.

    python -m benchmarks.table1                  # 5 s for each cell, a few minutes
    python -m benchmarks.table1 --limit 60       # half an hour or so
    python -m benchmarks.table1 --only grouped --limit 300   # one method again, with a limit of its own
    python -m benchmarks.table1 --render         # only write the page again from the result file

The document gives no data: here scores are expit(1.2 z), z normal, rounded to the decimals of the
row, and labels are drawn with the score as their chance. Times are those of one call, the best of
three where a call takes less than half a second; the program's is formulation and solver. Once a
method passes the limit, it is not run on more rows of the same decimals.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import cutpoints as cp
from cutpoints import ilp

if TYPE_CHECKING:
    from collections.abc import Callable


HERE = Path(__file__).parent
RESULT = HERE / "results" / "table1.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "table1.md"
PLOT = PAGE.with_suffix(".png")

# Instances, decimals, and the document's seconds: ILP and exhaustive search in Python, then in C++.
# None is its "?".
DOCUMENT: tuple[tuple[int, int, float | None, float | None, float | None, float | None], ...] = (
    (1000, 1, 0.032, 0.025, 0.0068, 0.0024),
    (1000, 2, 0.150, 0.199, 0.067, 0.0062),
    (1000, 3, 1.133, 1.243, 0.802, 0.028),
    (1000, 4, 1.748, 1.884, 1.311, 0.041),
    (1000, 5, 1.807, 1.860, 1.339, 0.045),
    (2000, 1, 0.033, 0.026, 0.010, 0.0042),
    (2000, 2, 0.160, 0.205, 0.076, 0.013),
    (2000, 3, 2.747, 1.721, 2.152, 0.076),
    (2000, 4, 6.378, 3.533, 5.173, 0.159),
    (2000, 5, None, None, None, 0.172),
    (5000, 1, None, None, 0.023, 0.010),
    (5000, 2, None, None, 0.098, 0.030),
    (5000, 3, 5.998, 2.075, 5.060, 0.234),
    (5000, 4, None, None, None, 0.875),
    (5000, 5, 50.663, 9.747, None, 1.091),
    (10_000, 1, None, None, 0.043, 0.0216),
    (10_000, 2, None, None, 0.127, 0.0634),
    (10_000, 3, None, None, 5.527, 0.397),
    (20_000, 1, None, None, 0.086, 0.0421),
    (20_000, 2, None, None, 0.179, 0.130),
    (20_000, 3, None, None, 6.227, 0.818),
    (50_000, 1, None, None, 0.212, 0.115),
    (50_000, 2, None, None, 0.314, 0.330),
    (50_000, 3, None, None, 7.115, 2.059),
    (100_000, 1, None, None, 0.429, 0.218),
    (100_000, 2, None, None, 0.539, 0.642),
    (100_000, 3, None, None, 7.351, 5.014),
    (200_000, 1, None, None, 0.866, 0.439),
    (200_000, 2, None, None, 0.966, 1.370),
    (200_000, 3, None, None, 8.462, 10.518),
    (500_000, 1, None, None, 2.108, 1.102),
    (500_000, 2, None, None, 2.254, 3.642),
    (500_000, 3, None, None, 10.771, 29.151),
    (1_000_000, 1, None, None, 4.131, 2.229),
    (1_000_000, 2, None, None, 4.451, 7.088),
    (1_000_000, 3, None, None, 13.010, 60.555),
    (2_000_000, 1, None, None, 8.198, 4.703),
    (2_000_000, 2, None, None, 8.692, 17.500),
    (2_000_000, 3, None, None, 17.751, 166.988),
)


class OverLimitError(Exception):
    """A method did not finish in its time."""


def problem(rows: int, decimals: int, seed: int = 0) -> tuple[Any, Any]:
    """Return labels and rounded scores."""
    rng = np.random.default_rng([seed, rows, decimals])
    scores = np.round(1 / (1 + np.exp(-1.2 * rng.normal(size=rows))), decimals)
    return (rng.random(rows) < scores).astype(np.int8), scores


def program(y: Any, s: Any, limit: float, *, group: bool = False) -> dict[str, Any]:
    """Run the document's program; stopped early it still has a bound, and perhaps a threshold."""
    began = perf_counter()
    model = ilp.formulate(y, s, maximize="accuracy", formulation="document", group=group)
    formulated = perf_counter() - began
    made = model.run(time_limit=limit)
    return {
        "seconds": formulated + made.seconds,
        "correct": None if made.value is None else round(made.value * len(y)),
        "bound": made.bound,
        "finished": made.status == "optimal",
        "recounts": made.recounts,
    }


def grouped(y: Any, s: Any, limit: float) -> dict[str, Any]:
    """Run the document's program with one pair of variables per distinct score."""
    return program(y, s, limit, group=True)


def loop(y: Any, s: Any, limit: float) -> int:
    """Search exhaustively as one writes it first: for each score a loop over all rows."""
    deadline = perf_counter() + limit
    labels, scores = y.tolist(), s.tolist()
    best = labels.count(0)
    for t in set(scores):
        correct = 0
        for label, score in zip(labels, scores, strict=True):
            if (score >= t) == label:
                correct += 1
        best = max(best, correct)
        if perf_counter() > deadline:
            raise OverLimitError
    return best


def vectorised(y: Any, s: Any, limit: float) -> int:
    """Search exhaustively with NumPy: for each score a pass over all rows."""
    deadline = perf_counter() + limit
    positive = y == 1
    best = int((~positive).sum())
    for t in np.unique(s):
        best = max(best, int(np.count_nonzero((s >= t) == positive)))
        if perf_counter() > deadline:
            raise OverLimitError
    return best


def by_find(method: Any) -> Callable[[Any, Any, float], int]:
    """Return `find` with a method."""

    def search(y: Any, s: Any, _limit: float) -> int:
        confusion = cp.find(y, s, maximize="accuracy", method=method).confusion
        assert confusion is not None
        return int(confusion.tp + confusion.tn)

    return search


METHODS: dict[str, tuple[str, Any]] = {
    "program": ("document's program", program),
    "grouped": ("document's program, one pair per distinct score", grouped),
    "loop": ("exhaustive, Python loop", loop),
    "vectorised": ("exhaustive, NumPy", vectorised),
    "chain": ("chain LP", by_find("ilp")),
    "sweep": ("sweep", by_find("sweep")),
    "narrow": ("narrow", by_find("narrow")),
}


def cell(name: str, y: Any, s: Any, limit: float) -> dict[str, Any]:
    """Time one method on one problem; the best of three for short calls."""
    run = METHODS[name][1]
    best: dict[str, Any] = {}
    for _ in range(3):
        began = perf_counter()
        try:
            found = run(y, s, limit)
        except OverLimitError:
            return {"seconds": perf_counter() - began, "correct": None, "finished": False}
        seconds = perf_counter() - began
        if not isinstance(found, dict):
            found = {"seconds": seconds, "correct": found, "finished": seconds <= limit}
        if not best or found["seconds"] < best["seconds"]:
            best = found
        if seconds > 0.5 or not found["finished"]:
            break
    return best


def measure_one(name: str, limit: float, result: dict[str, Any]) -> dict[str, Any]:
    """Run all rows by one method, with a limit of its own, beside what was measured before."""
    cp.find([0, 1], [0.1, 0.2], maximize="accuracy", method="ilp")  # imports are not timed
    for row in result["rows"]:
        row["cells"][name] = cell(name, *problem(row["rows"], row["decimals"]), limit)
        print(row["rows"], row["decimals"], row["cells"][name], flush=True)
    return {**result, "limits": {**result.get("limits", {}), name: limit}}


def measure(limit: float) -> dict[str, Any]:
    """Run all rows; what has passed the limit is not tried on more rows of the same decimals."""
    over: set[tuple[str, int]] = set()
    rows = []
    cp.find([0, 1], [0.1, 0.2], maximize="accuracy", method="ilp")  # imports are not timed
    for n, decimals, *_ in DOCUMENT:
        y, s = problem(n, decimals)
        cells: dict[str, Any] = {}
        for name in METHODS:
            if (name, decimals) in over:
                cells[name] = {"seconds": None, "correct": None, "finished": False}
                continue
            cells[name] = cell(name, y, s, limit)
            if not cells[name]["finished"]:
                over.add((name, decimals))
        truth = cells["sweep"]["correct"]
        row = {"rows": n, "decimals": decimals, "distinct": len(np.unique(s)), "optimum": truth}
        rows.append({**row, "cells": cells})
        shown = {k: c["seconds"] and round(c["seconds"], 4) for k, c in cells.items()}
        print(n, decimals, shown, flush=True)
    return {"machine": machine(), "limit": limit, "rows": rows}


def machine() -> dict[str, Any]:
    """Say what it ran on, without saying where."""
    names = ("numpy", "scipy", "highspy")
    return {
        "cores": os.cpu_count(),
        "kind": platform.machine(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in names},
    }


def verdict(row: dict[str, Any], name: str, limit: float) -> str:
    """Return a cell of the page: seconds, and a word where it is not simply the optimum."""
    found = row["cells"][name]
    if found["seconds"] is None:
        return "not run"
    text = f"{found['seconds']:.2g}" if found["seconds"] < 10 else f"{found['seconds']:.0f}"
    if found["finished"]:
        return text if found["correct"] == row["optimum"] else f"{text} **wrong**"
    if found["correct"] is None:
        return f"> {limit:g}, nothing" if name == "program" else f"> {limit:g}"
    if found["correct"] == row["optimum"]:
        return f"> {limit:g}, optimum" + (" unproven" if name == "program" else "")
    return f"> {limit:g}, {found['correct'] / row['rows']:.4f}"


PAGE_TEXT = """\
# Table 1, whole

The document that formulates the best accuracy threshold as a 0-1 program compares it with an exhaustive
search, in a table of 39 rows with 59 of its 156 cells left as “?”.
Here is every row: by its program, by its exhaustive search, and by what this package does instead.

**What it shows:** the document's own program, with one pair of variables per distinct score, ends with a
proven optimum in {grouped} of the 39 rows, each within {slowest:.0f} s; with one pair per instance, in
{program} rows within {limit:g} s, and the exhaustive loop in {loop}; the chain, sweep and narrow end in all
of them.
On two million instances of three decimals the sweep takes {sweep:.2g} s, narrow {narrow:.2g} s and the chain
LP {chain:.2g} s, where the document reports 17.751 s for its program and 166.988 s for its search, in C++ and
on another machine.

![Seconds against the number of instances, log-log, a panel for each number of decimals]({plot})

Times are seconds; of the {finished} answers of methods that ended, {right} are the true optimum.
“> {limit:g}, 0.5794” means: stopped at the limit, with a threshold of accuracy 0.5794 so far; “nothing”, that
there was none yet; “optimum unproven”, that it was the best one, and not proven to be.
“not run”: the method had passed the limit with fewer instances of the same decimals.
The last four columns are the document's own figures, on its machine and its data; “?” is its own.

{table}

The document names neither its solver nor its machine; its program is run here with HiGHS, without probing
and with no gap allowed.
Its published times grow with the number of distinct scores and hardly with the number of instances, so it
probably grouped equal scores, too.
The column with one pair per distinct score was measured by itself, while other programs kept the machine
busy, with a limit of {own:g} s.
Its errors z are continuous: where a label y is 0 or 1, the smallest z that the rows allow is 0 or 1, too.
That decides how hard the program is: with binary z, 5,000 instances of five decimals were not proven within
300 s, because the solver branches on z as well, which says nothing about other rows.
The data are simulated, since the document gives none: scores expit(1.2 z) with z normal, rounded, and labels
drawn with the score as their chance.
Scores of exactly 0 and 1 are among them, so the bounds of t are widened: as printed, the program could not
call them either way.

Run on {cores} cores ({kind}), Python {python}, NumPy {numpy}, SciPy {scipy}, HiGHS {highspy};
`python -m benchmarks.table1 --limit {limit:g}` runs it again.
"""


def render(result: dict[str, Any]) -> str:
    """Write the page from the result file alone."""
    rows, limit = result["rows"], result["limit"]
    ended = {name: [row for row in rows if row["cells"][name]["finished"]] for name in METHODS}
    titles = [title for title, _ in METHODS.values()]
    theirs = ["*ILP, Python*", "*exhaustive, Python*", "*ILP, C++*", "*exhaustive, C++*"]
    header = ["N", "decimals", "distinct", "best accuracy", *titles, *theirs]
    table = [header, ["---:"] * len(header)]
    for row, published in zip(rows, DOCUMENT, strict=True):
        facts = [f"{row['rows']:,}", str(row["decimals"]), f"{row['distinct']:,}"]
        cells = [verdict(row, name, result.get("limits", {}).get(name, limit)) for name in METHODS]
        figures = ["?" if x is None else f"{x:g}" for x in published[2:]]
        table.append([*facts, f"{row['optimum'] / row['rows']:.4f}", *cells, *figures])
    return PAGE_TEXT.format(
        limit=limit,
        own=result["limits"]["grouped"],
        plot=PLOT.name,
        program=len(ended["program"]),
        grouped=len(ended["grouped"]),
        slowest=max(row["cells"]["grouped"]["seconds"] for row in ended["grouped"]),
        loop=len(ended["loop"]),
        **{name: rows[-1]["cells"][name]["seconds"] for name in ("sweep", "narrow", "chain")},
        finished=sum(map(len, ended.values())),
        right=sum(row["cells"][name]["correct"] == row["optimum"] for name in METHODS for row in ended[name]),
        table="\n".join(f"| {' | '.join(line)} |" for line in table),
        **result["machine"],
    )


COLOURS = {
    "program": "#c0392b",
    "grouped": "#e377c2",
    "loop": "#e08e0b",
    "vectorised": "#b8a200",
    "chain": "#7d3c98",
    "sweep": "#1f77b4",
    "narrow": "#16855b",
}


def plot(result: dict[str, Any]) -> None:
    """Draw seconds against instances, a panel for each number of decimals that has many rows."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    limit = result["limit"]
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.6), sharey=True, sharex=True)
    for decimals, axis in zip((1, 2, 3), axes, strict=True):
        rows = [r for r in result["rows"] if r["decimals"] == decimals]
        for name, (title, _) in METHODS.items():
            done = [r for r in rows if r["cells"][name]["finished"]]
            n, seconds = [r["rows"] for r in done], [r["cells"][name]["seconds"] for r in done]
            axis.plot(n, seconds, "o-", color=COLOURS[name], label=title, markersize=4, linewidth=1.6)
            stopped = [r for r in rows if not r["cells"][name]["finished"] and r["cells"][name]["seconds"]]
            if stopped:
                axis.plot(stopped[0]["rows"], limit, "x", color=COLOURS[name], markersize=8, mew=2)
        theirs = [(d[0], d[4], d[5]) for d in DOCUMENT if d[1] == decimals]
        for column, style, label in ((1, "--", "document: ILP, C++"), (2, ":", "document: exhaustive, C++")):
            known = [(d[0], d[column]) for d in theirs if d[column] is not None]
            axis.plot(*zip(*known, strict=True), style, color="#555555", label=label, linewidth=1.3)
        axis.axhline(limit, color="#aaaaaa", linewidth=0.8)
        axis.set(xscale="log", yscale="log", title=f"{decimals} decimal{'s' if decimals > 1 else ''}")
        axis.set_xlabel("instances")
        axis.grid(visible=True, which="major", color="#e5e5e5", linewidth=0.7)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("seconds")
    axes[1].annotate(f"limit {limit:g} s", (8e3, limit * 1.2), fontsize=8, color="#777777")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.savefig(PLOT, dpi=130)
    plt.close(figure)


def main() -> None:
    """Run, write the result file, render page and plot."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for each cell")
    parser.add_argument("--render", action="store_true", help="only render the page")
    parser.add_argument("--only", choices=METHODS, help="measure one method again")
    options = parser.parse_args()
    if options.only:
        result = measure_one(options.only, options.limit, json.loads(RESULT.read_text(encoding="utf-8")))
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    elif not options.render:
        result = measure(options.limit)
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(result), encoding="utf-8")
    plot(result)


if __name__ == "__main__":
    main()

"""Bootstrap resamples of the F1 optimum against resampling rows for scikit-learn's `roc_curve`.

    python -m benchmarks.bootstrap                    # n = 10**5, 1,000 resamples
    python -m benchmarks.bootstrap --rows 10000       # smaller
    python -m benchmarks.bootstrap --render           # only write the page again

The rival's time per resample is measured on some of them, in turns with ours, in one process. Both
give a percentile interval of the threshold; they must agree.
"""

# ruff: noqa: E501 - rows of tables are long
from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_curve

from benchmarks.core import machine
from cutpoints._assess.bootstrap import Ordered, optima
from cutpoints._goal import goal

HERE = Path(__file__).parent
RESULT = HERE / "results" / "bootstrap.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "bootstrap.md"
TARGET = 50
KINDS = {"uniform scores": None, "3 decimals": 3}


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10**5)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--rival", type=int, default=60, help="resamples of the rival that are timed")
    parser.add_argument("--render", action="store_true", help="only render the page")
    options = parser.parse_args()
    if not options.render:
        results = [compare(kind, options.rows, options.replicates, options.rival) for kind in KINDS]
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps({"machine": machine(), "results": results}, indent=1) + "\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def compare(kind: str, rows: int, replicates: int, rival: int) -> dict[str, Any]:
    """Time both in turns on one problem."""
    rng = np.random.default_rng(0)
    scores = rng.random(rows)
    if KINDS[kind] is not None:
        scores = scores.round(KINDS[kind])
    y = (rng.random(rows) < 0.3 * scores).astype(np.uint8)
    wanted = goal(maximize="f1")
    ours, theirs, spent = [], [], []
    found: list[float] = []
    thresholds = np.empty(0)
    for _ in range(3):
        start = time.perf_counter()
        thresholds = optima(Ordered.of(y, scores), wanted, replicates, rng, stratify=False)
        ours.append((time.perf_counter() - start) / replicates)
        for _ in range(rival // 3):
            start = time.perf_counter()
            found.append(resampled_roc(y, scores, rng))
            spent.append(time.perf_counter() - start)
        theirs.append(float(np.mean(spent)))
    interval = [np.quantile(x, [0.025, 0.975]).tolist() for x in (thresholds, found)]
    return {
        "kind": kind,
        "rows": rows,
        "replicates": replicates,
        "rival_replicates": len(found),
        "ours_ms": 1000 * min(ours),
        "rival_ms": 1000 * min(theirs),
        "ratio": min(theirs) / min(ours),
        "ours_interval": interval[0],
        "rival_interval": interval[1],
    }


def resampled_roc(y: Any, scores: Any, rng: np.random.Generator) -> float:
    """Return the best threshold of one resample, as people write it."""
    index = rng.integers(len(y), size=len(y))
    labels = y[index]
    fpr, tpr, thresholds = roc_curve(labels, scores[index])
    positives = labels.sum()
    f1 = 2 * tpr * positives / (tpr * positives + fpr * (len(y) - positives) + positives)
    return float(thresholds[f1.argmax()])


def render(result: dict[str, Any]) -> str:
    """Return the page."""
    lines = [
        "# Bootstrap",
        "",
        f"Resamples of the F1 optimum, time per resample; the target is a ratio of {TARGET}.",
        "Made by `python -m benchmarks.bootstrap`, on "
        + ", ".join(f"{name} {value}" for name, value in result["machine"].items())
        + ".",
        "",
        "| scores | rows | resamples | cutpoints, ms | resample + roc_curve + argmax, ms | ratio | 95 % interval | the rival's |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for one in result["results"]:
        intervals = [
            f"{low:.3f} to {high:.3f}" for low, high in (one["ours_interval"], one["rival_interval"])
        ]
        lines.append(
            f"| {one['kind']} | {one['rows']:,} | {one['replicates']:,} | {one['ours_ms']:.3f} | {one['rival_ms']:.2f} "
            f"| **{one['ratio']:.0f}** | {intervals[0]} | {intervals[1]} ({one['rival_replicates']} resamples) |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

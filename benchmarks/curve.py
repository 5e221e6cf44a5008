"""cp.curve with AUC and AP against scikit-learn, and DeLong's covariance.

    python -m benchmarks.curve                 # up to 10**7 rows, a few minutes
    python -m benchmarks.curve --rows 6        # up to 10**6 rows
    python -m benchmarks.curve --render        # only write the page again from the result file

Times are the best of a few runs, all in one process and in turns. Memory is the growth of the
process's peak during one call in a fresh process, above what it held with the data loaded. Answers
are compared: speed counts only where the areas agree.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.core import machine
from benchmarks.problems import make

HERE = Path(__file__).parent
RESULT = HERE / "results" / "curve.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "curve.md"


def sklearn_all(y: Any, score: Any) -> tuple[float, float]:
    """Return AUC and AP, with the curve, as scikit-learn users do."""
    from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

    roc_curve(y, score)
    return float(roc_auc_score(y, score)), float(average_precision_score(y, score))


def cutpoint_areas(y: Any, score: Any) -> tuple[float, float]:
    """Return AUC and AP from one curve."""
    import cutpoints as cp

    curve = cp.curve(y, score)
    return curve.auc, curve.average_precision


def cutpoint_roc(y: Any, score: Any) -> tuple[float, float]:
    """Return AUC and AP, and make the arrays of the whole ROC curve."""
    import cutpoints as cp

    curve = cp.curve(y, score)
    curve.roc()
    return curve.auc, curve.average_precision


RIVALS = {"sklearn": sklearn_all, "cutpoints": cutpoint_areas, "cutpoint_roc": cutpoint_roc}
NAMES = {
    "sklearn": "scikit-learn: roc_curve, roc_auc_score, average_precision_score",
    "cutpoints": "cutpoints: curve, auc, average_precision",
    "cutpoint_roc": "cutpoints: the same and roc()",
}


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=7, help="powers of ten up to this one")
    parser.add_argument("--render", action="store_true", help="only render the page")
    parser.add_argument("--peak", nargs=2, metavar=("RIVAL", "ROWS"), help="measure memory in this process")
    options = parser.parse_args()
    if options.peak:
        print(json.dumps(peak(options.peak[0], int(options.peak[1]))))
        return
    if not options.render:
        result = {"machine": machine(), "speed": [], "memory": [], "delong": []}
        kinds = [("probabilities", power) for power in range(4, options.rows + 1)] + [("2 decimals", 6)]
        for kind, power in kinds:
            result["speed"].append(speed(kind, 10**power))
        for name in RIVALS:
            command = [sys.executable, "-m", "benchmarks.curve", "--peak", name, str(10**options.rows)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE.parent)  # noqa: S603
            result["memory"].append(json.loads(done.stdout))
        for power in range(4, min(options.rows, 6) + 1):
            result["delong"].append(delong(10**power))
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def speed(kind: str, rows: int) -> dict[str, Any]:
    """Time the rivals in turns and compare their answers."""
    problem = make(kind, rows)
    best = dict.fromkeys((*RIVALS, "argsort"), np.inf)
    answers: dict[str, tuple[float, float]] = {}
    for _ in range(3 if rows >= 10**7 else 5):
        for name, run in RIVALS.items():
            gc.collect()
            start = time.perf_counter()
            answers[name] = run(problem.y, problem.score)
            best[name] = min(best[name], time.perf_counter() - start)
        start = time.perf_counter()
        np.argsort(problem.score)
        best["argsort"] = min(best["argsort"], time.perf_counter() - start)
    gap = max(abs(a - b) for a, b in zip(answers["sklearn"], answers["cutpoints"], strict=True))
    print(kind, rows, {k: round(v, 4) for k, v in best.items()}, file=sys.stderr)
    return {"kind": kind, "rows": rows, "seconds": best, "largest_difference": gap}


def peak(name: str, rows: int) -> dict[str, Any]:
    """Measure how far the peak of this process grows during one call (Linux)."""
    problem = make("probabilities", rows)
    RIVALS[name](problem.y[:1000], problem.score[:1000])  # imports are not what is measured
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to what is held now
    before = _status("VmRSS")
    RIVALS[name](problem.y, problem.score)
    return {"rival": name, "rows": rows, "megabytes": _status("VmHWM") - before}


def _status(key: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1]) / 1024


def delong(rows: int) -> dict[str, Any]:
    """Time DeLong's covariance for two models."""
    from cutpoints._compare import delong as covariance

    problem = make("probabilities", rows)
    other = problem.score + np.random.default_rng(1).normal(scale=0.2, size=rows)
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        found = covariance(problem.y, problem.score, other)
        best = min(best, time.perf_counter() - start)
    return {"rows": rows, "seconds": best, "p_value": found.difference(0, 1)[2]}


def render(result: dict[str, Any]) -> str:
    """Write the page."""
    spec = result["machine"]
    page = [
        "# Benchmarks: curves and areas",
        "",
        "Rendered from `benchmarks/results/curve.json` by `python -m benchmarks.curve`.",
        (
            f"{spec['cores']} cores ({spec['kind']}), Python {spec['python']}, "
            f"NumPy {spec['numpy']}, scikit-learn {spec['sklearn']}."
        ),
        "",
        *(f"- {text}" for text in NAMES.values()),
        "- times argsort: the second against `numpy.argsort` of the scores",
        "",
        "## Time",
        "",
        (
            "| scores | rows | scikit-learn (s) | cutpoints (s) | with roc() (s) | times faster | with roc() "
            "| times argsort |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in result["speed"]:
        s = row["seconds"]
        cells = [row["kind"], f"{row['rows']:,}", *(f"{s[name]:.4g}" for name in NAMES)]
        cells += [f"{s['sklearn'] / s['cutpoints']:.1f}", f"{s['sklearn'] / s['cutpoint_roc']:.1f}"]
        cells.append(f"{s['cutpoints'] / s['argsort']:.1f}")
        page.append("| " + " | ".join(cells) + " |")
    largest = max(row["largest_difference"] for row in result["speed"])
    page += [
        "",
        f"AUC and AP agree with scikit-learn's to {largest:.1e}.",
        "",
        "## Peak of extra memory",
        "",
        "| | rows | megabytes |",
        "| --- | --- | --- |",
        *(f"| {NAMES[m['rival']]} | {m['rows']:,} | {m['megabytes']:.0f} |" for m in result["memory"]),
        "",
        "## DeLong's covariance, two models",
        "",
        "| rows | seconds |",
        "| --- | --- |",
        *(f"| {d['rows']:,} | {d['seconds']:.3g} |" for d in result["delong"]),
        "",
    ]
    return "\n".join(page)


if __name__ == "__main__":
    main()

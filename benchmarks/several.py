"""More than one threshold: a band, joint thresholds against a sort, and kappa against hill climbing.

    python -m benchmarks.several             # measure, write the result file and the page
    python -m benchmarks.several --render    # only write the page again from the result file

Times are the best of a few runs, in one process and interleaved; what counts are the ratios. The hill climber
is the usual one: Nelder-Mead on the cutpoints, from quantiles of the scores at the shares of the classes.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import cutpoints as cp
from benchmarks.core import machine
from benchmarks.problems import make

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
RESULT = HERE / "results" / "several.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "several.md"
COST = "cost(fp=5, fn=20, review=1)"


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--render", action="store_true", help="only render the page")
    if not parser.parse_args().render:
        result = {
            "machine": machine(),
            "bands": [bands(10**power) for power in (5, 6)],
            "kappa": [kappa(rows) for rows in (2_000, 20_000)],
            "joint": [joint(20, 50_000), joint(200, 5_000)],
        }
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def best_of(runs: int, calls: dict[str, Callable[[], Any]]) -> tuple[dict[str, float], dict[str, Any]]:
    """Time calls in turns; return the best time and the last answer of each."""
    seconds, answers = dict.fromkeys(calls, np.inf), {}
    for _ in range(runs):
        for name, call in calls.items():
            start = time.perf_counter()
            answers[name] = call()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds, answers


def bands(rows: int) -> dict[str, Any]:
    """Compare bands with one threshold by sorting."""
    problem = make("probabilities", rows)
    y, p = problem.y, problem.score
    calls: dict[str, Callable[[], Any]] = {
        "one threshold": lambda: cp.find(y, p, minimize="cost(fp=5, fn=20)", method="sweep"),
        "cost": lambda: cp.find_band(y, p, minimize=COST),
        "capacity": lambda: cp.find_band(y, p, minimize=COST, capacity=rows // 20),
        "both sides bounded": lambda: cp.find_band(
            y, p, minimize=COST, subject_to=["precision >= 0.9", "npv >= 0.95"]
        ),
        "coverage at an accuracy": lambda: cp.find_band(
            y, p, maximize="coverage", subject_to="accuracy >= 0.95"
        ),
    }
    seconds, _ = best_of(5, calls)
    return {"rows": rows, "seconds": seconds}


def kappa(rows: int) -> dict[str, Any]:
    """Compare the exact cutpoints for quadratic kappa with a hill climber."""
    from scipy.optimize import minimize
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(rows)
    z = rng.normal(size=rows)
    y = np.clip(np.round(1.2 * z + 2), 0, 4).astype(int)
    s = z + 0.7 * rng.normal(size=rows)

    def climb() -> float:
        start = np.quantile(s, np.cumsum(np.bincount(y)[:-1]) / rows)

        def loss(points: Any) -> float:
            called = np.searchsorted(np.sort(points), s, side="right")
            return -float(cohen_kappa_score(y, called, weights="quadratic"))

        return -float(minimize(loss, start, method="Nelder-Mead").fun)

    calls: dict[str, Callable[[], Any]] = {
        "exact": lambda: cp.find_ordinal(y, s, maximize="quadratic_kappa").value,
        "hill climbing": climb,
    }
    seconds, answers = best_of(3, calls)
    return {"rows": rows, "seconds": seconds, "values": answers}


def joint(segments: int, rows: int) -> dict[str, Any]:
    """Compare joint thresholds with sorting the same rows by segment and score."""
    rng = np.random.default_rng(segments)
    by = rng.permutation(np.repeat(np.arange(segments), rows))
    y = (rng.random(len(by)) < rng.beta(2, 8, segments)[by]).astype(np.int8)
    s = rng.normal(size=len(by)) + y * rng.uniform(0.8, 2.5, segments)[by]

    def sort() -> Any:
        order = np.lexsort((s, by))
        return s[order], y[order], by[order]

    calls: dict[str, Callable[[], Any]] = {
        "sort": sort,
        "scores alone": lambda: np.argsort(s),
        "precision": lambda: cp.find_joint(y, s, by=by, maximize="recall", subject_to="precision >= 0.8"),
        "capacity": lambda: cp.find_joint(
            y, s, by=by, minimize="cost(fp=1, fn=5)", subject_to="predicted_positive_rate <= 0.1"
        ),
        "f1": lambda: cp.find_joint(y, s, by=by, maximize="f1"),
    }
    seconds, answers = best_of(7, calls)
    found = answers["precision"]
    proof = found.certificate
    return {
        "segments": segments,
        "rows": len(by),
        "seconds": seconds,
        "left": [proof.cuts_left, proof.cuts],
        "status": {name: one.status for name, one in answers.items() if name not in {"sort", "scores alone"}},
        "values": [found.value, found.single.value, found.separate.value],
    }


def render(result: dict[str, Any]) -> str:
    """Write the page."""
    spec = result["machine"]
    lines = [
        "# Benchmarks: more than one threshold",
        "",
        "Rendered from `benchmarks/results/several.json` by `python -m benchmarks.several`.",
        "{cores} cores ({kind}), Python {python}, NumPy {numpy}, scikit-learn {sklearn}.".format(**spec),
        "Measured while other programs used the machine: look at the ratios.",
        "",
        "## Bands",
        "",
        'Multiples of `find(method="sweep")` for one threshold on the same rows in the same run.',
        "",
    ]
    names = list(result["bands"][0]["seconds"])
    lines += [
        "| rows | one threshold (ms) | " + " | ".join(names[1:]) + " |",
        "|" + " --- |" * (len(names) + 1),
    ]
    for one in result["bands"]:
        seconds = one["seconds"]
        floor = seconds[names[0]]
        ratios = [f"{seconds[name] / floor:.2f}" for name in names[1:]]
        lines.append("| " + " | ".join([f"{one['rows']:,}", f"{1000 * floor:.0f}", *ratios]) + " |")
    lines += [
        "",
        "## Quadratic kappa, five classes",
        "",
        "| rows | exact (ms) | hill climbing | kappa, exact | kappa, hill climbing |",
        "|" + " --- |" * 5,
    ]
    for one in result["kappa"]:
        seconds, values = one["seconds"], one["values"]
        ratio = f"{seconds['hill climbing'] / seconds['exact']:.0f} times as long"
        shown = [f"{one['rows']:,}", f"{1000 * seconds['exact']:.1f}", ratio]
        shown += [f"{values['exact']:.6f}", f"{values['hill climbing']:.6f}"]
        lines.append("| " + " | ".join(shown) + " |")
    lines += [
        "",
        "## Joint thresholds",
        "",
        "Multiples of sorting the rows by segment and score (`numpy.lexsort` and three gathers).",
        "Beside it `numpy.argsort` on the scores alone, which is much faster than a sort by two keys.",
        "",
        (
            "| segments | rows | sort (ms) | scores alone (ms) | recall at a precision "
            "| cost with a capacity | F1 | cuts left | recall: joint, one threshold, each by itself |"
        ),
        "|" + " --- |" * 9,
    ]
    for one in result["joint"]:
        seconds = one["seconds"]
        ratios = [f"{seconds[name] / seconds['sort']:.2f}" for name in ("precision", "capacity", "f1")]
        shown = [f"{one['segments']:,}", f"{one['rows']:,}", f"{1000 * seconds['sort']:.0f}"]
        shown += [f"{1000 * seconds['scores alone']:.0f}", *ratios]
        shown += ["{:,} of {:,}".format(*one["left"]), ", ".join(f"{value:.4f}" for value in one["values"])]
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()

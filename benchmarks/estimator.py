"""CutpointClassifier against the fits that it must do, and against TunedThresholdClassifierCV.

    python -m benchmarks.estimator                  # 200 problems, a few minutes
    python -m benchmarks.estimator --problems 20    # quick
    python -m benchmarks.estimator --render         # only write the page again

Time: six fits and five predictions are the work that cannot be avoided. Quality: F1 on held-out rows
over seeded problems with rare positives, the same folds and the same models for both.
"""

# ruff: noqa: E501, PERF401 - rows of tables are long
from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

import cutpoints as cp
from benchmarks.core import machine

HERE = Path(__file__).parent
RESULT = HERE / "results" / "estimator.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "estimator.md"
SPEED = {
    "logistic regression, 20,000 rows": (LogisticRegression(max_iter=1000), 20_000),
    "random forest, 5,000 rows": (RandomForestClassifier(50, random_state=0), 5_000),
}
PREVALENCES = (0.02, 0.05, 0.1)


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--turns", type=int, default=5, help="the median of so many runs is taken")
    parser.add_argument("--render", action="store_true", help="only render the page")
    options = parser.parse_args()
    if not options.render:
        result = {
            "machine": machine(),
            "speed": [speed(name, options.turns) for name in SPEED],
            "quality": quality(options.problems),
        }
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def speed(name: str, turns: int) -> dict[str, Any]:
    """Time the bare work, ours and the rival in turns."""
    model, rows = SPEED[name]
    X, y = make_classification(rows, n_features=30, weights=[0.9], flip_y=0.05, random_state=0)

    def bare() -> None:
        for train, test in StratifiedKFold(5).split(X, y):
            clone(model).fit(X[train], y[train]).predict_proba(X[test])
        clone(model).fit(X, y)

    runs = {
        "bare": bare,
        "cutpoints": lambda: cp.CutpointClassifier(model, maximize="f1", cv=5).fit(X, y),
        "sklearn": lambda: TunedThresholdClassifierCV(model, scoring="f1", cv=5).fit(X, y),
    }
    spent: dict[str, list[float]] = {rival: [] for rival in runs}
    for _ in range(turns):
        for rival, run in runs.items():
            start = time.perf_counter()
            run()
            spent[rival].append(time.perf_counter() - start)
    # The median: the time of a fit varies by half, and the luckiest of a few says little.
    return {"name": name, **{f"{rival}_s": float(np.median(times)) for rival, times in spent.items()}}


def quality(problems: int) -> list[dict[str, Any]]:
    """Compare F1 on held-out rows, by prevalence."""
    found: dict[float, list[tuple[float, float, float, float]]] = {p: [] for p in PREVALENCES}
    for seed in range(problems):
        prevalence = PREVALENCES[seed % len(PREVALENCES)]
        X, y = make_classification(
            22_000,
            n_features=10,
            n_informative=4,
            weights=[1 - prevalence],
            flip_y=0.01,
            class_sep=0.8,
            random_state=seed,
        )
        X_train, y_train, X_test, y_test = X[:2000], y[:2000], X[2000:], y[2000:]
        model = LogisticRegression()
        ours = cp.CutpointClassifier(model, maximize="f1").fit(X_train, y_train)
        theirs = TunedThresholdClassifierCV(model, scoring="f1").fit(X_train, y_train)
        scores = [f1_score(y_test, one.predict(X_test)) for one in (ours, theirs, ours.estimator_)]
        found[prevalence].append((*scores, ours.cross_validated_value_))
    listed = [(f"{p:.0%} positive", values) for p, values in found.items() if values]
    listed.append(("all", [v for values in found.values() for v in values]))
    rows = []
    for name, values in listed:
        table = np.array(values)
        gain = table[:, 0] - table[:, 1]
        rows.append(
            {
                "name": name,
                "problems": len(table),
                "cutpoints": float(table[:, 0].mean()),
                "sklearn": float(table[:, 1].mean()),
                "default": float(table[:, 2].mean()),
                "honest": float(table[:, 3].mean()),
                "gain": float(gain.mean()),
                "gain_se": float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else 0.0,
                "better": int((gain > 0).sum()),
                "equal": int((gain == 0).sum()),
                "worse": int((gain < 0).sum()),
            }
        )
    return rows


def render(result: dict[str, Any]) -> str:
    """Return the page."""
    lines = [
        "# The estimator",
        "",
        "Made by `python -m benchmarks.estimator`, on "
        + ", ".join(f"{name} {value}" for name, value in result["machine"].items())
        + ".",
        "",
        "## Time of fit, cv=5",
        "",
        "Six fits and five predictions are the work that cannot be avoided; the target is at most 1.1 times that.",
        "",
        "| model | six fits, five predictions, s | CutpointClassifier, s | ratio | TunedThresholdClassifierCV, s | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in result["speed"]:
        lines.append(
            f"| {one['name']} | {one['bare_s']:.3f} | {one['cutpoint_s']:.3f} | **{one['cutpoint_s'] / one['bare_s']:.2f}** "
            f"| {one['sklearn_s']:.3f} | {one['sklearn_s'] / one['bare_s']:.2f} |"
        )
    lines += [
        "",
        "## F1 on held-out rows",
        "",
        "2,000 training rows, 20,000 held-out rows, logistic regression; each problem has its own seed.",
        "The last column is what CutpointClassifier said to expect.",
        "",
        "| problems | number | default 0.5 | TunedThresholdClassifierCV | CutpointClassifier | gain ± se | better / equal / worse | cross_validated_value_ |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in result["quality"]:
        lines.append(
            f"| {one['name']} | {one['problems']} | {one['default']:.4f} | {one['sklearn']:.4f} | {one['cutpoints']:.4f} "
            f"| {one['gain']:+.4f} ± {one['gain_se']:.4f} | {one['better']} / {one['equal']} / {one['worse']} "
            f"| {one['honest']:.4f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

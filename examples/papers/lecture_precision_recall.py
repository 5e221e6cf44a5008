"""A lecture on precision and recall: how means of the two behave, and the PR curve.

Draws contours over (precision, recall) of the arithmetic mean, the minimum, F1, F0.5, F2 and the
geometric mean; the PR curve of six scores; and a realistic one. Prints the choice between two
credit models under a constraint.

Run: python examples/papers/lecture_precision_recall.py [folder]
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cutpoints as cp
from cutpoints.plots import ContourDisplay, PrecisionRecallDisplay

CREDIT = {
    "a1": cp.Confusion(tp=80, fp=20, fn=20, tn=80),
    "a2": cp.Confusion(tp=48, fp=2, fn=52, tn=98),
}
SIX = ([0, 1, 0, 0, 1, 1], [0.14, 0.23, 0.39, 0.52, 0.73, 0.90])
MEANS = {
    "arithmetic_mean": ("Arithmetic mean", "precision_recall_mean"),
    "minimum": ("Minimum", "precision_recall_min"),
    "f1": ("F1", "f1"),
    "f05": ("F0.5: precision matters more", "f(beta=0.5)"),
    "f2": ("F2: recall matters more", "f(beta=2)"),
    "geometric_mean": ("Geometric mean", "fowlkes_mallows"),
}


def main(folder: Path) -> list[Path]:
    """Print the choices and write the figures; return their paths."""
    for goal in (
        {"maximize": "recall", "subject_to": "precision >= 0.95"},
        {"maximize": "precision", "subject_to": "recall >= 0.8"},
    ):
        found = cp.compare(CREDIT, **goal)
        print(f"{found.goal}: {found.winner}")
    written = [
        save(
            folder / f"contour_{name}.png", lambda ax, title=title, metric=metric: contour(ax, title, metric)
        )
        for name, (title, metric) in MEANS.items()
    ]
    written.append(save(folder / "pr_six_scores.png", lambda ax: pr(ax, *SIX, steps=False)))
    rng = np.random.default_rng(7)
    y = rng.random(2000) < 0.1
    score = rng.normal(size=2000) + 1.8 * y
    written.append(save(folder / "pr_realistic.png", lambda ax: pr(ax, y, score, steps=True)))
    return written


def save(path: Path, draw: Any) -> Path:
    """Draw on new axes and write the file."""
    figure = Figure(figsize=(5, 5), layout="constrained")
    draw(figure.subplots())
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    return path


def contour(ax: Any, title: str, metric: str) -> None:
    """Draw lines of equal value over precision and recall."""
    ContourDisplay.from_metric(metric, ax=ax)
    ax.set_title(title)


def pr(ax: Any, y: Any, score: Any, *, steps: bool) -> None:
    """Draw a PR curve with the best F1."""
    PrecisionRecallDisplay.from_predictions(y, score, maximize="f1", steps=steps, ax=ax)
    ax.legend(loc="upper right" if steps else "lower left", fontsize="small")


if __name__ == "__main__":
    for written in main(Path(*sys.argv[1:])):
        print(f"wrote {written.name}")

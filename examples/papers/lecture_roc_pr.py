"""A lecture on binary classification: three equally accurate models in ROC and PR space.

Draws eight figures: the models in ROC space; lines of equal cost at 2:1 and 1:2; the ROC curve of a
model and of an ideal one; the models in PR space; the PR curve of the model, of an ideal one, and
one that is not monotone. Prints the tables behind them.

Run: python examples/papers/lecture_roc_pr.py [folder]
"""

import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import cutpoints as cp
from cutpoints._compare import compare
from cutpoints.plots import ComparisonDisplay, PrecisionRecallDisplay, RocDisplay
from cutpoints.plots._style import BLUE, GREEN, ORANGE, unit_square

MODELS = {
    "M1": cp.Confusion(tp=50, fp=30, fn=0, tn=20),
    "M2": cp.Confusion(tp=20, fp=0, fn=30, tn=50),
    "M3": cp.Confusion(tp=35, fp=15, fn=15, tn=35),
}
M = ([0, 0, 1, 1, 0, 0, 1, 1], [0.0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9])
IDEAL = ([0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.7, 0.7, 0.8, 0.9])
ZIGZAG = ([0, 0, 1, 1, 0, 0, 0, 1], [0.1, 0.1, 0.2, 0.3, 0.4, 0.6, 0.9, 1.0])
COLOURS = {"M1": BLUE, "M2": ORANGE, "M3": GREEN}


def main(folder: Path) -> list[Path]:
    """Print the tables and write the figures; return their paths."""
    tables()
    return [
        save(folder / "roc_space.png", models_in_roc_space),
        save(folder / "iso_cost_2_1.png", lambda ax: models_in_roc_space(ax, fp=2, fn=1)),
        save(folder / "iso_cost_1_2.png", lambda ax: models_in_roc_space(ax, fp=1, fn=2)),
        save(folder / "roc_of_m.png", lambda ax: roc(ax, *M, "ROC curve of M")),
        save(folder / "roc_ideal.png", lambda ax: roc(ax, *IDEAL, "ROC curve of an ideal model")),
        save(folder / "pr_space.png", models_in_pr_space),
        save(folder / "pr_of_m.png", lambda ax: pr(ax, *M, "PR curve of M")),
        save(folder / "pr_ideal.png", lambda ax: pr(ax, *IDEAL, "PR curve of an ideal model")),
        save(folder / "pr_not_monotone.png", lambda ax: pr(ax, *ZIGZAG, "A PR curve that is not monotone")),
    ]


def tables() -> None:
    """Print who wins at which costs, and what each threshold of M does."""
    for costs in ({"fp": 2, "fn": 1}, {"fp": 1, "fn": 2}, {"fp": 1, "fn": 1}):
        found = compare(MODELS, minimize=cp.metrics.cost(**costs))
        print(f"costs {costs}: best {', '.join(found.winners)}")
    curve = cp.curve(*M)
    print(curve.table(["recall", "fpr", "precision"]))
    print(f"AUC {curve.auc}, AP {curve.average_precision:.6f}, hull area {curve.hull().area}")
    print(curve.hull().cost_ratios())


def save(path: Path, draw: Any) -> Path:
    """Draw on new axes and write the file."""
    figure = Figure(figsize=(5, 5), layout="constrained")
    draw(figure.subplots())
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    return path


def models_in_roc_space(ax: Any, fp: float | None = None, fn: float = 1) -> None:
    """Draw the three models, and lines of equal cost through each if costs are given."""
    costs = {"fp": fp if fp is not None else 1, "fn": fn}
    found = compare(MODELS, minimize=cp.metrics.cost(**costs))
    if fp is not None:
        slope = fp / fn  # as many negatives as positives
        for name, model in MODELS.items():
            x, y = model.metric("fpr"), model.metric("recall")
            ax.plot([0, 1], [y - slope * x, y + slope * (1 - x)], color=COLOURS[name], linewidth=1, zorder=1)
        ax.set_title(f"Equal cost at fp:fn = {fp}:{fn}, slope {slope:g}: best is {found.winner}")
    else:
        ax.set_title("Three models of accuracy 0.7 in ROC space")
    ComparisonDisplay.from_comparison(found, ax=ax)
    ax.legend(loc="lower right")


def models_in_pr_space(ax: Any) -> None:
    """Draw the three models as points in PR space."""
    for name, model in MODELS.items():
        ax.plot(
            model.metric("recall"),
            model.metric("precision"),
            marker="o",
            markersize=11,
            linestyle="none",
            color=COLOURS[name],
            markeredgecolor="black",
            label=f"{name}: F1 {model.metric('f1'):.3f}",
            clip_on=False,
        )
    unit_square(ax, x="Recall", y="Precision")
    ax.set_title("Three models of accuracy 0.7 in PR space")
    ax.legend(loc="lower left")


def roc(ax: Any, y: Any, score: Any, title: str) -> None:
    """Draw a ROC curve with its hull and the most accurate threshold."""
    RocDisplay.from_predictions(y, score, maximize="accuracy", ax=ax)
    ax.set_title(title)
    ax.legend(loc="lower right", fontsize="small")


def pr(ax: Any, y: Any, score: Any, title: str) -> None:
    """Draw a PR curve point by point, as in the lecture, and the best F1."""
    PrecisionRecallDisplay.from_predictions(y, score, maximize="f1", steps=False, ax=ax)
    ax.set_title(title)
    ax.legend(loc="lower left", fontsize="small")


if __name__ == "__main__":
    for written in main(Path(*sys.argv[1:])):
        print(f"wrote {written.name}")

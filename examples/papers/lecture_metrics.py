"""A lecture on evaluation: threshold scan, ROC by hand, homework, PR zig-zag, confusion matrix.

Draws the ROC curve of the worked example and of the scan, the three curves of the homework (areas
2/3, 1 and 0), the zig-zag PR curve of the scan, a confusion matrix of three classes, and how four
kinds of cross-validation deal the rows out.

Run: python examples/papers/lecture_metrics.py [folder]
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit

import cutpoints as cp
from cutpoints.plots import ConfusionDisplay, PrecisionRecallDisplay, RocDisplay
from cutpoints.plots._style import BLUE, LIGHT

SCAN = (
    [1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0],
    [round(0.95 - 0.05 * i, 2) for i in range(20)],
)
BY_HAND = ([0, 0, 1, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.01, 0.2])
LABELS = [-1, 1, -1, 1, -1, 1]
HOMEWORK = {
    "given": [1000, 0.5, -0.9, 0.8, -0.1, 0.1],
    "perfect": [-1, 1, -1, 1, -1, 1],
    "reversed": [1, -1, 1, -1, 1, -1],
}


def main(folder: Path) -> list[Path]:
    """Print the scan and write the figures; return their paths."""
    print(cp.curve(*SCAN).table(["accuracy", "precision", "recall", "specificity", "f1"]))
    written = [
        save(folder / "roc_by_hand.png", lambda ax: roc(ax, *BY_HAND)),
        save(folder / "roc_scan.png", lambda ax: roc(ax, *SCAN)),
        save(folder / "pr_zigzag.png", lambda ax: pr(ax, *SCAN)),
    ]
    written += [
        save(folder / f"homework_{name}.png", lambda ax, score=score: roc(ax, LABELS, score))
        for name, score in HOMEWORK.items()
    ]
    found = cp.evaluate_classes([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
    print(found.report())
    written.append(
        save(
            folder / "confusion_three_classes.png",
            lambda ax: ConfusionDisplay.from_matrix(found.confusion_matrix, found.labels, ax=ax),
        )
    )
    written.append(save(folder / "k_fold.png", folds, size=(7, 6)))
    return written


def folds(ax: Any) -> None:
    """Draw which rows train (light) and which test (dark) in each fold of four schemes."""
    rows = np.arange(24)
    y, groups = (rows % 4 == 0).astype(int), rows // 3
    kinds = {
        "K-fold": KFold(4),
        "stratified": StratifiedKFold(4),
        "by group": GroupKFold(4),
        "time series": TimeSeriesSplit(4),
    }
    height, names = 0, []
    for name, kind in kinds.items():
        given = groups if name == "by group" else None
        for i, (train, test) in enumerate(kind.split(rows, y, given)):
            ax.scatter(train, np.full(len(train), height), color=LIGHT, marker="s", s=70)
            ax.scatter(test, np.full(len(test), height), color=BLUE, marker="s", s=70)
            names.append((height, f"{name}, fold {i + 1}"))
            height += 1
        height += 1
    ax.scatter([], [], color=LIGHT, marker="s", label="train")
    ax.scatter([], [], color=BLUE, marker="s", label="test")
    ax.set_yticks(*zip(*names, strict=True))
    ax.set(xlabel="Row", xlim=(-1, 24))
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.08), ncols=2, frameon=False)


def save(path: Path, draw: Any, size: tuple[float, float] = (5, 5)) -> Path:
    """Draw on new axes and write the file."""
    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    return path


def roc(ax: Any, y: Any, score: Any) -> None:
    """Draw a ROC curve with its hull; mark the most accurate threshold."""
    RocDisplay.from_predictions(y, np.asarray(score, dtype=float), maximize="accuracy", ax=ax)
    ax.legend(loc="lower right", fontsize="small")


def pr(ax: Any, y: Any, score: Any) -> None:
    """Draw every point of a PR curve: it climbs slowly and drops straight down."""
    PrecisionRecallDisplay.from_predictions(y, score, maximize="f1", steps=False, ax=ax)
    ax.legend(loc="lower left", fontsize="small")


if __name__ == "__main__":
    for written in main(Path(*sys.argv[1:])):
        print(f"wrote {written.name}")

"""The lecture's folds, drawn, and its exam questions on how many models must be fitted.

Run with ``python examples/papers/folds.py [FOLDER]``; it writes ``folds.png`` there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold, TimeSeriesSplit
from sklearn.tree import DecisionTreeClassifier

import cutpoints as cp

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPLIT_SIZES = ((70, 20, 10), (60, 20, 20), (80, 10, 10))
"""Train, validation and test, in per cent."""


def every_kth(rows: int, folds: int) -> NDArray[np.intp]:
    """Return the folds of the lecture's Algorithm 8: row n is in fold n mod K. It does not shuffle."""
    return np.arange(rows) % folds


def exam(depths: list[int], decreases: list[float] | None = None) -> int:
    """Return the fits of a 10-fold search: settings times ten, and one to refit."""
    X, y = make_classification(200, random_state=0)
    grid: dict[str, list[Any]] = {"max_depth": depths}
    if decreases:
        grid["min_impurity_decrease"] = decreases
    whole = [(np.arange(100), np.arange(100, 200))]
    result = cp.nested_cv(
        DecisionTreeClassifier(random_state=0),
        grid,
        X,
        y,
        maximize="accuracy",
        outer_cv=whole,
        cv=10,
        refit=False,
    )
    return result.fits


def draw(path: Path) -> None:
    """Draw which rows judge in which fold, for five ways to split 40 rows."""
    from matplotlib import pyplot as plt
    from matplotlib.colors import ListedColormap

    rng = np.random.default_rng(0)
    y = np.sort(rng.random(40) < 0.25).astype(int)
    groups = np.repeat(np.arange(8), 5)
    ways: list[tuple[str, Any]] = [
        ("K-fold", KFold(4)),
        ("Stratified: each fold has its share of positives", StratifiedKFold(4)),
        ("By group: no group on both sides", GroupKFold(4)),
        ("Time series: trained on the past, tested on the future", TimeSeriesSplit(4)),
        ("Leave one out (first 4 of 40 folds)", LeaveOneOut()),
    ]
    figure, axes = plt.subplots(len(ways) + 1, 1, figsize=(8, 8.5), height_ratios=[4] * len(ways) + [2])
    colors = ListedColormap(["#e6e6e6", "#4c72b0", "#dd8452"])
    for axis, (title, splitter) in zip(axes, ways, strict=False):
        cells = np.zeros((4, 40))
        for k, (train, test) in enumerate(
            splitter.split(np.zeros(40), y, groups if "group" in title else None)
        ):
            if k == 4:
                break
            cells[k, train], cells[k, test] = 1, 2
        axis.pcolormesh(cells, cmap=colors, vmin=0, vmax=2, edgecolors="white", linewidth=0.5)
        axis.set_title(title, fontsize=10, loc="left")
        axis.set_yticks(np.arange(4) + 0.5, [f"fold {k + 1}" for k in range(4)], fontsize=8)
        axis.set_xticks([])
        axis.invert_yaxis()
    axes[-1].pcolormesh(np.stack([y, groups % 2]), cmap="Greys", edgecolors="white", linewidth=0.5, vmax=2)
    axes[-1].set_yticks([0.5, 1.5], ["positive", "group"], fontsize=8)
    axes[-1].invert_yaxis()
    axes[-1].set_xlabel("row")
    handles = [plt.Rectangle((0, 0), 1, 1, color=colors(i)) for i in range(3)]
    figure.legend(
        handles, ["not used", "train", "test"], loc="lower right", ncols=3, frameon=False, fontsize=9
    )
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(folder: Path) -> None:
    """Print the counts and draw the folds."""
    for sizes in SPLIT_SIZES:
        print("train {}%, validation {}%, test {}%: sum {}".format(*sizes, sum(sizes)))
    print(f"exam 1: depths 1 to 5, 10 folds: {exam([1, 2, 3, 4, 5])} fits (50 and one refit)")
    print(f"exam 2: 3 depths x 2 decreases, 10 folds: {exam([1, 2, 3], [0.01, 0.1])} fits (60 and one refit)")
    folder.mkdir(parents=True, exist_ok=True)
    draw(folder / "folds.png")
    print("wrote folds.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:]))

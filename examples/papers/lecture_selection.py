"""A lecture on model selection: bias and variance, sets that wear out, folds, trees.

Each function simulates and draws one figure of ``docs/lectures/selection.md``, which draws most of them anew
whenever the site is built.

Run: python examples/papers/lecture_selection.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy.stats import norm

import cutpoints as cp
from cutpoints.plots._style import BLUE, GRAY, GREEN, ORANGE, VERMILION, tidy

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOISE = 0.3
"""The standard deviation of the noise: its square is what no model can predict."""
TRAINED = 300
"""Training sets for each mean."""


def truth(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the function that all models try to learn."""
    return np.sin(3 * x)


def predictions(
    degree: int, rows: int, at: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit polynomials to many training sets; return their predictions and training errors."""
    found, errors = [], []
    for _ in range(TRAINED):
        x = rng.uniform(-1, 1, rows)
        y = truth(x) + NOISE * rng.normal(size=rows)
        fitted = np.polynomial.Polynomial.fit(x, y, degree, domain=[-1, 1])
        found.append(fitted(at))
        errors.append(np.mean((y - fitted(x)) ** 2))
    return np.array(found), np.array(errors)


def dartboard() -> Figure:
    """Each dart is a training set: where its model puts two predictions, against the truth."""
    rng = np.random.default_rng(1)
    at = np.array([-0.3, 0.8])
    figure = Figure(figsize=(7.2, 7.4), layout="constrained")
    ways = {
        "low bias, low variance": (5, 120),
        "low bias, high variance": (5, 14),
        "high bias, low variance": (1, 120),
        "high bias, high variance": (1, 6),
    }
    for ax, (title, (degree, rows)) in zip(figure.subplots(2, 2).flat, ways.items(), strict=True):
        darts = predictions(degree, rows, at, rng)[0] - truth(at)
        bias, variance = np.sum(darts.mean(axis=0) ** 2), np.sum(darts.var(axis=0))
        for radius in (0.25, 0.5, 0.75, 1.0):
            ax.add_patch(_circle(radius))
        ax.plot(*darts.T, "o", color=BLUE, markersize=3, alpha=0.5)
        ax.plot(*darts.mean(axis=0), "X", color=VERMILION, markersize=11, markeredgecolor="white")
        ax.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal", xticks=[], yticks=[])
        ax.set_title(
            f"{title}\ndegree {degree}, {rows} rows: bias² {bias:.3f}, variance {variance:.3f}", fontsize=10
        )
        ax.spines[:].set_visible(False)
    return figure


def _circle(radius: float) -> Any:
    from matplotlib.patches import Circle

    return Circle((0, 0), radius, fill=False, color=GRAY, linewidth=0.8, alpha=0.6)


def complexity() -> Figure:
    """Draw error against complexity: the training error falls, the error on new rows turns."""
    rng = np.random.default_rng(2)
    at = np.linspace(-0.95, 0.95, 60)
    degrees = np.arange(10)
    training, bias, variance = [], [], []
    for degree in degrees:
        found, errors = predictions(int(degree), 25, at, rng)
        training.append(np.median(errors))
        # Medians over the points: a few wild ends would hide the rest of a high degree.
        bias.append(np.median((found.mean(axis=0) - truth(at)) ** 2))
        variance.append(np.median(found.var(axis=0)))
    total = NOISE**2 + np.array(bias) + np.array(variance)
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    ax = figure.subplots()
    lines = {
        "error on new rows, at a typical point": (total, VERMILION, "-", 3),
        "training error": (training, BLUE, "-", 2),
        "bias²": (bias, ORANGE, "--", 1.6),
        "variance": (variance, GREEN, "-.", 1.6),
    }
    for name, (values, color, style, width) in lines.items():
        ax.plot(degrees, values, color=color, linestyle=style, linewidth=width, marker="o", label=name)
    ax.axhline(NOISE**2, color=GRAY, linestyle=":", label=f"noise {NOISE**2:.2f}: irreducible")
    best = int(np.argmin(total))
    ax.axvline(best, color=GRAY, linewidth=0.8)
    ax.set(xlabel="Degree of the polynomial", ylabel="Mean squared error", ylim=(0, 0.45), xticks=degrees)
    figure.legend(frameon=False, ncols=2, loc="outside lower center")
    tidy(ax)
    return figure


def bayes() -> Figure:
    """Draw two classes with known densities, and the error that no classifier avoids."""
    x = np.linspace(-4.5, 4.5, 500)
    heights = {"negative": 0.5 * norm.pdf(x, -1), "positive": 0.5 * norm.pdf(x, 1)}
    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    ax = figure.subplots()
    for (name, height), color in zip(heights.items(), (BLUE, ORANGE), strict=True):
        ax.plot(x, height, color=color, linewidth=2, label=f"{name}, times its share")
    least = np.minimum(*heights.values())
    ax.fill_between(x, least, color=VERMILION, alpha=0.35, linewidth=0, label="irreducible: area 0.1587")
    ax.axvline(0, color=GRAY, linestyle="--", label="the Bayes classifier's threshold")
    ax.set(xlabel="x", ylabel="Density", ylim=(0, None))
    figure.legend(frameon=False, ncols=2, loc="outside lower center")
    tidy(ax)
    return figure


def looks() -> Figure:
    """Draw how far the best of many looks at a validation set exceeds the truth."""
    rng = np.random.default_rng(3)
    tried = np.unique(np.geomspace(1, 1000, 25).astype(int))
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    ax = figure.subplots()
    for rows, color, style in ((100, VERMILION, "-"), (1000, ORANGE, "--"), (10_000, BLUE, "-.")):
        # Every model is right in 80 % of cases, so whatever the best one shows above that is luck.
        best = np.maximum.accumulate(rng.binomial(rows, 0.8, size=(1000, 1000)) / rows, axis=1)
        ax.plot(
            tried,
            best.mean(axis=0)[tried - 1] - 0.8,
            color=color,
            linestyle=style,
            linewidth=2,
            marker="o",
            markersize=4,
            label=f"{rows:,} validation rows",
        )
    ax.set_xscale("log")
    ax.set(xlabel="Models that were compared on the set", ylabel="Optimism of the best one's accuracy")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    tidy(ax)
    return figure


def estimates(runs: int = 400, rows: int = 40) -> dict[str, NDArray[np.float64]]:
    """Return estimates of the accuracy of the best threshold by 2, 5 and 10 folds and by leaving one out.

    And the truth for each of the thresholds, which is known, since the classes are normal.
    """
    rng = np.random.default_rng(4)
    found: dict[str, list[float]] = {"2": [], "5": [], "10": [], "loo": [], "truth": []}
    for _ in range(runs):
        y = np.arange(rows) % 2
        s = rng.normal(size=rows) + 0.5 * y
        for cv in ("2", "5", "10", "loo"):
            folds = cv if cv == "loo" else int(cv)
            assessed = cp.assess(y, s, maximize="accuracy", cv=folds, n_bootstrap=0)
            found[cv].append(assessed.cross_validated)
        threshold = assessed.solution.threshold
        found["truth"].append(float(norm.cdf(threshold) + norm.sf(threshold - 0.5)) / 2)
    return {name: np.array(values) for name, values in found.items()}


def leave_one_out() -> Figure:
    """Draw the bias and the spread of cross-validated accuracies."""
    found = estimates()
    true = found.pop("truth")
    names = {"2": "2 folds", "5": "5 folds", "10": "10 folds", "loo": "leave one out"}
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    ax = figure.subplots()
    ax.boxplot(
        [values - true for values in found.values()],
        tick_labels=[
            f"{names[cv]}\nbias {np.mean(values - true):+.3f}\nsd {np.std(values - true):.3f}"
            for cv, values in found.items()
        ],
        medianprops={"color": VERMILION},
        widths=0.5,
    )
    ax.axhline(0, color=GRAY, linestyle=":")
    ax.set(ylabel="Estimated minus true accuracy")
    tidy(ax)
    return figure


def depth() -> Figure:
    """Draw training and cross-validated error of trees against their depth."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import validation_curve
    from sklearn.tree import DecisionTreeClassifier

    depths = np.arange(1, 9)
    X, y = load_breast_cancer(return_X_y=True)
    scores = validation_curve(
        DecisionTreeClassifier(random_state=0), X, y, param_name="max_depth", param_range=depths, cv=10
    )
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    ax = figure.subplots()
    for name, values, color, move in (
        ("training error", scores[0], BLUE, -0.06),
        ("10-fold cross-validated error", scores[1], VERMILION, 0.06),
    ):
        error = 1 - values
        ax.errorbar(
            depths + move,
            error.mean(axis=1),
            error.std(axis=1),
            color=color,
            marker="o",
            capsize=4,
            label=f"{name} ± sd of the folds",
        )
    best = int(depths[scores[1].mean(axis=1).argmax()])
    ax.axvline(best, color=GRAY, linestyle="--", label=f"lowest: depth {best}")
    ax.set(xlabel="Depth of the tree", ylabel="Error rate", xticks=depths, ylim=(0, 0.15))
    figure.legend(frameon=False, ncols=2, loc="outside lower center")
    tidy(ax)
    return figure


def diners() -> Figure:
    """Draw the tree of the exam's five diners."""
    from sklearn.tree import DecisionTreeClassifier, plot_tree

    X = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 1, 1], [1, 0, 1]])
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, [1, 1, 0, 1, 0])
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    FigureCanvasAgg(figure)  # measures texts
    plot_tree(
        tree,
        ax=figure.subplots(),
        feature_names=["overcooked pasta", "long wait", "rude waiter"],
        class_names=["unsatisfied", "satisfied"],
        filled=True,
        rounded=True,
        impurity=True,
        fontsize=9,
    )
    return figure


FIGURES = {
    "dartboard": dartboard,
    "complexity": complexity,
    "bayes": bayes,
    "looks": looks,
    "leave_one_out": leave_one_out,
    "depth": depth,
    "diners": diners,
}


def main(folder: Path) -> list[Path]:
    """Write the figures; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in FIGURES.items():
        written.append(folder / f"{name}.png")
        draw().savefig(written[-1], dpi=100)
    return written


if __name__ == "__main__":
    for path in main(Path(*sys.argv[1:])):
        print(f"wrote {path.name}")

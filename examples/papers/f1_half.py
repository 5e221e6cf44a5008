"""The best threshold for F1 is half the best F1: the experiment, without its loop.

20,000 scores of two normal classes with known posteriors. The figures show the classes, that the
posteriors are calibrated, F1 against the threshold, and how F1/2 crosses the sorted posteriors at
the optimum.

    python examples/papers/f1_half.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy.stats import norm

import cutpoints as cp
from cutpoints.plots import ExpectedCurveDisplay, ReliabilityDisplay
from cutpoints.plots._style import BLUE, GRAY, GREEN, ORANGE, VERMILION, tidy


def data(seed: int = 42, size: int = 10_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, features and posteriors; positives are drawn first, as in the document."""
    rng = np.random.RandomState(seed)
    x = np.concatenate([rng.normal(0.5, 1.0, size), rng.normal(-0.5, 1.0, size)])
    y = np.repeat([1, 0], size)
    positive, negative = norm.pdf(x, 0.5), norm.pdf(x, -0.5)
    return y, x, positive / (positive + negative)


def main(folder: Path) -> None:
    """Draw the four figures and print what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    y, x, p = data()
    solution = cp.find_expected(p, maximize="f1")
    population = cp.Population(norm(0.5), norm(-0.5), prevalence=0.5).best(maximize="f1")
    print(f"expected F1   {solution.value:.5f} at the threshold {solution.threshold:.5f}")
    print(
        f"theory        F1 / 2 = {solution.theory.threshold:.5f}, the same decisions: {solution.theory.holds}"
    )
    print(f"population    F1 {population.value:.7f}, threshold {population.posterior:.7f}")
    print(f"likelihood    ratio {population.likelihood_ratio:.7f} = Jaccard {population.jaccard:.7f}")
    print(f"on labels     {cp.find(y, p, maximize='f1').theory.sentence}")
    print(f"calibration   {cp.calibration(y, p).verdict}")

    _, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    bins = np.histogram_bin_edges(x, bins=20)
    for label, name in ((1, "positive"), (0, "negative")):
        ax.hist(x[y == label], bins=bins, alpha=0.55, label=name)
    ax.set(xlabel="Feature", ylabel="Rows", title="Two classes")
    ax.legend(frameon=False)
    ax.figure.savefig(folder / "f1_half_a_classes.png", dpi=80)
    plt.close(ax.figure)
    _say(folder / "f1_half_a_classes.png")

    display = ReliabilityDisplay(cp.calibration(y, p).curve)
    _say(display.save(folder / "f1_half_b_reliability.png", dpi=80))
    curve = solution.curve()
    _say(ExpectedCurveDisplay(curve, "threshold").save(folder / "f1_half_c_f1.png", dpi=80))
    _say(ExpectedCurveDisplay(curve, "rows").save(folder / "f1_half_d_crossing.png", dpi=80))


def against_threshold() -> Figure:
    """Draw F1 against the threshold for rarer and rarer positives: all maxima lie on the line F1 = 2t."""
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    ax = figure.subplots()
    t = np.linspace(0.002, 0.998, 800)
    for share, color in ((0.5, BLUE), (0.2, ORANGE), (0.05, GREEN), (0.01, VERMILION)):
        # The score at which the posterior is t: for these classes the log-odds are x + log(b / (1 - b)).
        x = np.log(t / (1 - t)) - np.log(share / (1 - share))
        tp, fp = share * norm.sf(x, 0.5), (1 - share) * norm.sf(x, -0.5)
        f1 = 2 * tp / (tp + fp + share)
        best = int(np.argmax(f1))
        ax.plot(t, f1, color=color, linewidth=2, label=f"{share:.0%} positives: best F1 {f1[best]:.3f}")
        ax.plot(t[best], f1[best], "o", color=color, markersize=9, markeredgecolor="black")
    ax.plot([0, 0.5], [0, 1], color=GRAY, linestyle="--", label="F1 = 2 x threshold")
    ax.set(xlabel="Threshold on the probability", ylabel="F1", xlim=(0, 1), ylim=(0, 0.8))
    figure.legend(frameon=False, ncols=2, loc="outside lower center")
    tidy(ax)
    return figure


def _say(path: Path) -> None:
    print(f"wrote         {path.name}")


if __name__ == "__main__":
    main(Path(*sys.argv[1:]))

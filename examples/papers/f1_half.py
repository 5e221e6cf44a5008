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
from scipy.stats import norm

import cutpoints as cp
from cutpoints.plots import ExpectedCurveDisplay, ReliabilityDisplay

HERE = Path(__file__).parent


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


def _say(path: Path) -> None:
    print(f"wrote         {path.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "figures")

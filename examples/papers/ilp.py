"""The 0-1 integer program of the best accuracy threshold: as written, where it breaks, and what is better.

Prints the matrices for two instances, what an epsilon that is too large or too small does to the
optimum, what happens to scores of exactly 0 and 1, and the chain, whose relaxation is exact.

    python examples/papers/ilp.py
"""

from __future__ import annotations

import numpy as np

import cutpoints as cp

EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0.0)
SEEDS = 5


def data(rows: int, decimals: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and rounded scores."""
    rng = np.random.default_rng(seed)
    scores = np.round(1 / (1 + np.exp(-1.2 * rng.normal(size=rows))), decimals)
    return (rng.random(rows) < scores).astype(int), scores


def matrices() -> None:
    """Print the document's A, b and w for two instances."""
    model = cp.ilp.formulate([1, 0], [0.8, 0.3], maximize="accuracy", formulation="document", epsilon=0.01)
    print("N = 2, labels 1 and 0, scores 0.8 and 0.3, epsilon 0.01\n")
    print("      " + "".join(f"{name:>7}" for name in model.variables) + "        b")
    for line, b in zip(model.A.toarray(), model.b, strict=True):
        print("      " + "".join(f"{x:7.2g}" for x in line) + f"  >= {b:5.2f}")
    print("cost  " + "".join(f"{x:7.2g}" for x in model.w))
    print(f"\nthreshold {model.solve().threshold}, accuracy {model.solve().value}\n")


def epsilons() -> None:
    """Count what goes wrong with each epsilon, over problems of 2, 3 and 5 decimals."""
    print(f"what epsilon does, {3 * SEEDS} problems of 60 instances each\n")
    print(f"{'epsilon':>8}  {'right':>5}  {'misses the optimum':>18}  {'splits equal scores':>19}")
    problems = [data(60, decimals, seed) for decimals in (2, 3, 5) for seed in range(SEEDS)]
    for epsilon in (*EPSILONS, "auto"):
        right = missed = split = 0
        for y, s in problems:
            best = cp.find(y, s, maximize="accuracy").value
            run = cp.ilp.formulate(y, s, maximize="accuracy", formulation="document", epsilon=epsilon).run()
            if not run.recounts:
                split += 1
            elif run.value != best:
                missed += 1
            else:
                right += 1
        print(f"{epsilon!s:>8}  {right:5}  {missed:18}  {split:19}")
    print()


def edges() -> None:
    """Show that 0 <= t <= 1 is too narrow for scores of 0 and 1."""
    print("scores of exactly 0 and 1: instances that are labeled correctly\n")
    for y, s in (([0, 0, 0], [1, 1, 1]), ([1, 1, 1], [0, 0, 0]), ([1, 0, 0, 0], [0, 0.3, 0.6, 1])):
        asked = {"maximize": "accuracy", "formulation": "document"}
        printed = cp.ilp.formulate(y, s, as_printed=True, epsilon=0.01, **asked).run().value
        widened = cp.ilp.formulate(y, s, **asked).solve().value
        assert printed is not None
        assert widened is not None
        right = f"as printed {printed * len(y):.0f}, widened {widened * len(y):.0f}"
        print(f"labels {y!s:13} scores {s!s:17} {right}")
    print()


def chain() -> None:
    """Compare the sizes, and show that a constraint makes the relaxation fractional."""
    y, s = data(1000, 3, 0)
    for formulation in ("document", "chain"):
        print(cp.ilp.formulate(y, s, maximize="accuracy", formulation=formulation))  # type: ignore[arg-type]
    print(f"\nF1 by the chain: {cp.find(y, s, maximize='f1', method='ilp').value}")
    print(f"F1 by the sweep: {cp.find(y, s, maximize='f1', method='sweep').value}\n")
    rows = cp.from_counts([0.9, 0.5, 0.1], positives=[3, 1, 1], negatives=[0, 1, 0])
    model = cp.ilp.formulate(rows, maximize="recall", subject_to="precision >= 0.9")
    print(f"{model.goal}: {model.solve().value} at {model.solve().threshold}")
    print(f"as a coin toss: {model.mixture()}")


if __name__ == "__main__":
    matrices()
    epsilons()
    edges()
    chain()

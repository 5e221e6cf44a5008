"""cutpoints itself."""

import cutpoints as cp


def run(y, score, weight):
    """Find the best F1."""
    solution = cp.find(y, score, sample_weight=weight, maximize="f1")
    return solution.threshold, solution.value

"""cutpoint itself."""

import cutpoint as cp


def run(y, score, weight):
    """Find the best F1."""
    solution = cp.find(y, score, maximize="f1", sample_weight=weight)
    return solution.threshold, solution.value

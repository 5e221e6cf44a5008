"""cutpoint itself."""

import cutpoint as cp


def run(y, score, weight, goal="f1"):
    """Find the best value."""
    solution = cp.find(y, score, maximize=goal, sample_weight=weight)
    return solution.threshold, solution.value

"""cutpoint itself."""

import cutpoint as cp
from cutpoint import metrics


def run(y, score, weight, goal="f1"):
    """Find the best value, which of some goals is the least."""
    way = "minimize" if getattr(metrics, goal).direction == "lower" else "maximize"
    solution = cp.find(y, score, sample_weight=weight, **{way: goal})
    return solution.threshold, solution.value

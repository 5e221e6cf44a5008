"""optimal-classification-cutoffs from PyPI, its exact sort-scan."""

from optimal_cutoffs import get_optimal_threshold


def run(y, score, weight):
    """Ask for the best F1 with the same rule, score >= threshold."""
    result = get_optimal_threshold(y, score, metric="f1", sample_weight=weight, comparison=">=")
    return float(result.thresholds[0]), float(result.scores[0])

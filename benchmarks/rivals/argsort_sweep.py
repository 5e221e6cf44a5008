"""The plain way in NumPy: argsort, cumulative sums, argmax. Ties respected; as exact as floats are."""

import numpy as np


def run(y, score, weight, goal="f1"):
    """Sort by score, count from the top, take the best value at the last row of each score."""
    order = np.argsort(-score)
    ranked = score[order]
    weights = np.ones(len(y)) if weight is None else weight[order]
    tp = np.cumsum(weights * y[order])
    called = np.cumsum(weights)
    last = np.append(ranked[1:] != ranked[:-1], True)
    value = GOALS[goal](tp[last], called[last], tp[-1], called[-1])
    best = int(np.nanargmax(value))
    return float(ranked[last][best]), float(value[best])


def _f1(tp, called, positives, total):
    return 2 * tp / (called + positives)


def _accuracy(tp, called, positives, total):
    return (total - positives - called + 2 * tp) / total


def _mcc(tp, called, positives, total):
    with np.errstate(all="ignore"):
        size = np.sqrt(called * (total - called) * positives * (total - positives))
        return (total * tp - called * positives) / size


GOALS = {"f1": _f1, "accuracy": _accuracy, "mcc": _mcc}

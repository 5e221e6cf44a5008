"""The plain way in NumPy: argsort, cumulative sums, argmax. Ties respected; as exact as floats are."""

from functools import cache

import numpy as np


def run(y, score, weight, goal="f1", constraints=()):
    """Sort by score, count from the top, take the best value at the last row of each score.

    Of those that meet the constraints; where none does, the greatest or least value of each is told.
    """
    order = np.argsort(-score)
    ranked = score[order]
    weights = np.ones(len(y)) if weight is None else weight[order]
    tp = np.cumsum(weights * y[order])
    called = np.cumsum(weights)
    last = np.append(ranked[1:] != ranked[:-1], True)
    positives, total = tp[-1], called[-1]
    tp, called = tp[last], called[last]
    counts = tp, called, positives, total
    formula, pick = (GOALS[goal], np.nanargmax) if goal in GOALS else of_the_catalogue(goal)
    value = formula(*counts)
    if constraints:
        sides = [(of_the_catalogue(name)[0](*counts), sign, bound) for name, sign, bound in constraints]
        held = [sign * side >= sign * bound for side, sign, bound in sides]
        fine = np.logical_and.reduce(held)
        if not fine.any():
            told = [float(side[np.nanargmax(sign * side)]) for side, sign, _ in sides]
            for i, (side, sign, _) in enumerate(sides if len(sides) > 1 else []):  # and where the others hold
                rest = np.logical_and.reduce([*held[:i], *held[i + 1 :]])
                if rest.any():
                    told.append(float(np.nanmax(np.where(rest, sign * side, np.nan))))
            return None, told
        value = np.where(fine, value, np.nan)
    best = int(pick(value))
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


@cache
def of_the_catalogue(goal):
    """Any other goal: the formula of the catalogue on arrays, and what to take of its values."""
    from cutpoints import metrics

    metric = getattr(metrics, goal)

    def formula(tp, called, positives, total):
        fp = called - tp
        with np.errstate(all="ignore"):
            return metric.evaluate(tp=tp, fp=fp, fn=positives - tp, tn=total - positives - fp)

    return formula, np.nanargmin if metric.direction == "lower" else np.nanargmax

"""cutpoints itself."""

import cutpoints as cp
from cutpoints import metrics


def in_words(constraints):
    """Return constraints as `find` takes them."""
    return [f"{name} {'>=' if sign > 0 else '<='} {bound}" for name, sign, bound in constraints] or None


def run(y, score, weight, goal="f1", constraints=()):
    """Find the best value, which of some goals is the least; of an infeasible one what can be attained."""
    way = "minimize" if getattr(metrics, goal).direction == "lower" else "maximize"
    subject_to = in_words(constraints)
    solution = cp.find(y, score, sample_weight=weight, subject_to=subject_to, **{way: goal})
    if solution.threshold is None:
        told = [one.value for one in solution.attainable]
        for one, (_, sign, _) in zip(solution.attainable, constraints, strict=True):
            if one.with_others is not None:
                told.append(sign * one.with_others.value)
        return None, told
    return solution.threshold, solution.value

"""The plain way without rounding: argsort, and sums of weights as whole numbers of Python."""

from fractions import Fraction

import numpy as np


def run(y, score, weight):
    """Sort by score, add up integers from the top, take the best F1 at the last row of each score."""
    order = np.argsort(-score)
    ranked = score[order]
    mantissa, exponent = np.frexp(weight[order])
    whole = np.ldexp(mantissa, 53).astype(np.int64).tolist()
    shift = (exponent - exponent.min()).tolist()
    weights = np.array([w << by for w, by in zip(whole, shift, strict=True)], dtype=object)
    tp = np.cumsum(weights * y[order])
    called = np.cumsum(weights)
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    f1 = [Fraction(2 * tp[i], called[i] + tp[-1]) for i in last]
    best = max(range(len(last)), key=f1.__getitem__)
    return float(ranked[last[best]]), float(f1[best])

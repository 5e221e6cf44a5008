"""Areas under curves: exact sums of products, block by block, without temporaries of full length."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.masses import BLOCK_ROWS, LIMB_BITS, Masses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts

_PIECE_BITS = LIMB_BITS // 2
_WORD_BITS = 63
_SMALL = 1 << 62


def twice_area(cuts: Cuts) -> int:
    """Return twice the area under (FP, TP) from (0, 0), in squared units: ties count half.

    Exact for any masses: in int64 while the products fit, otherwise in pieces of 18 bits whose
    products and block sums are whole float64 numbers.
    """
    summary = cuts.summary
    if summary.unit.limbs == 1 and 2 * summary.positives * summary.negatives < _SMALL:
        total, before = 0, (0, 0)
        for part in _blocks(len(cuts.thresholds)):
            tp, fp = cuts.tp.limbs[0, part], cuts.fp.limbs[0, part]
            # Sum of (tp_k + tp_(k-1)) (fp_k - fp_(k-1)); the first step comes from the block before.
            total += (int(tp[0]) + before[0]) * (int(fp[0]) - before[1])
            total += int(np.dot(tp[1:] + tp[:-1], fp[1:] - fp[:-1]))
            before = int(tp[-1]), int(fp[-1])
        return total
    zero = Masses.scalar(0, summary.unit)
    height, width = zero.followed_by(cuts.tp), zero.followed_by(cuts.fp)
    later, earlier = slice(1, None), slice(None, -1)
    return exact_dot(height[later] + height[earlier], width[later] - width[earlier])


def exact_dot(a: Masses, b: Masses) -> int:
    """Return the exact sum of products of two vectors of non-negative masses, in squared units."""
    total = 0
    for part in _blocks(len(a)):
        table = _pieces(a[part]) @ _pieces(b[part]).T
        for (i, j), value in np.ndenumerate(table):
            total += int(value) << (_PIECE_BITS * (i + j))
    return total


def _pieces(masses: Masses) -> NDArray[np.float64]:
    """Split masses into rows of 18 bits each, lowest first; the highest limb has more of them."""
    mask = (1 << _PIECE_BITS) - 1
    rows = []
    for limb in masses.limbs[:-1]:
        rows += [limb & mask, limb >> _PIECE_BITS]
    top = masses.limbs[-1]
    rows += [(top >> shift) & mask for shift in range(0, _WORD_BITS, _PIECE_BITS)]
    return np.array(rows, dtype=np.float64)


def average_precision(cuts: Cuts) -> float:
    """Return the sum of (R_k - R_(k-1)) P_k, to a few units in the last place."""
    sums, before = [], 0.0
    for tp, fp in _float_blocks(cuts):
        steps = np.diff(tp, prepend=before)
        before = tp[-1]
        called = tp + fp
        np.multiply(steps, tp, out=steps)
        np.divide(steps, called, out=steps, where=called > 0)  # where nobody is called, steps are 0
        sums.append(float(steps.sum()))
    return math.fsum(sums) / float(cuts.summary.totals[0])


def pr_trapezoid(cuts: Cuts) -> float:
    """Return the area under straight lines between (recall, precision); flat before the first point."""
    sums, before = [], (0.0, math.nan)
    for tp, fp in _float_blocks(cuts):
        with np.errstate(all="ignore"):
            precision = tp / (tp + fp)
        previous = np.append(before[1], precision[:-1])
        previous = np.where(np.isnan(previous), precision, previous)
        steps = np.diff(tp, prepend=before[0])
        before = tp[-1], precision[-1]
        area = steps * (precision + previous) / 2
        sums.append(float(area[steps > 0].sum()))
    return math.fsum(sums) / float(cuts.summary.totals[0])


def partial_area(cuts: Cuts, max_fpr: Fraction) -> Fraction:
    """Return the area under the ROC curve up to a false positive rate, straight inside a step; exact."""
    summary = cuts.summary
    positives, negatives = summary.positives, summary.negatives
    limit = max_fpr * negatives
    inside = _count_at_most(cuts.fp, limit)
    head = type(cuts)(
        summary, cuts.thresholds[:inside], cuts.below[:inside], cuts.tp[:inside], cuts.fp[:inside]
    )
    twice = Fraction(twice_area(head)) if inside else Fraction(0)
    if inside < len(cuts.thresholds):
        tp0, fp0 = (head.tp.integer(-1), head.fp.integer(-1)) if inside else (0, 0)
        tp1, fp1 = cuts.tp.integer(inside), cuts.fp.integer(inside)
        end = tp0 + (limit - fp0) * Fraction(tp1 - tp0, fp1 - fp0)
        twice += (tp0 + end) * (limit - fp0)
    return twice / (2 * positives * negatives)


def _count_at_most(ascending: Masses, limit: Fraction) -> int:
    """Return how many leading elements of an ascending vector are at most the limit; exact bisection."""
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending.integer(middle) <= limit:
            low = middle + 1
        else:
            high = middle
    return low


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK_ROWS, size)) for start in range(0, size, BLOCK_ROWS))


def _float_blocks(cuts: Cuts) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield TP and FP as floats, block by block; each block is ours to overwrite."""
    for part in _blocks(len(cuts.thresholds)):
        yield cuts.tp[part].floats(), cuts.fp[part].floats()

"""Areas under curves: exact sums of products, block by block, without temporaries of full length."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.weights import MOST_INT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts

BLOCK_CUTS = 1 << 17


def twice_area(cuts: Cuts) -> int:
    """Return twice the area under (FP, TP) from (0, 0), in squared units of the grid: ties count half.

    Exact: in int64 while the products fit, otherwise in Python integers.
    """
    summary = cuts.summary
    fits = 2 * summary.positives * summary.negatives < MOST_INT
    total, before = 0, (0, 0)
    for part in _blocks(len(cuts)):
        tp, fp = cuts.tp[part], cuts.fp[part]
        # Sum of (tp_k + tp_(k-1)) (fp_k - fp_(k-1)); the first step comes from the block before.
        total += (int(tp[0]) + before[0]) * (int(fp[0]) - before[1])
        heights, widths = tp[1:] + tp[:-1], fp[1:] - fp[:-1]
        total += int(heights @ widths if fits else heights.astype(object) @ widths.astype(object))
        before = int(tp[-1]), int(fp[-1])
    return total


def average_precision(cuts: Cuts) -> float:
    """Return the sum of (R_k - R_(k-1)) P_k, to a few units in the last place."""
    sums, before = [], 0.0
    for tp, fp in _float_blocks(cuts):
        steps = np.diff(tp, prepend=before)
        before = tp[-1]
        called = tp + fp
        np.multiply(steps, tp, out=steps)
        np.divide(steps, called, out=steps, where=called > 0)  # where no row is called, steps are 0
        sums.append(float(steps.sum()))
    return math.fsum(sums) / float(cuts.summary.positives)


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
    return math.fsum(sums) / float(cuts.summary.positives)


def partial_area(cuts: Cuts, max_fpr: Fraction) -> Fraction:
    """Return the area under the ROC curve up to a false positive rate, straight inside a step; exact."""
    summary = cuts.summary
    positives, negatives = summary.positives, summary.negatives
    limit = max_fpr * negatives
    inside = int(np.searchsorted(cuts.fp, math.floor(limit), side="right"))
    head = cuts[:inside]
    twice = Fraction(twice_area(head)) if inside else Fraction(0)
    if inside < len(cuts.thresholds):
        tp0, fp0 = (int(head.tp[-1]), int(head.fp[-1])) if inside else (0, 0)
        tp1, fp1 = int(cuts.tp[inside]), int(cuts.fp[inside])
        end = tp0 + (limit - fp0) * Fraction(tp1 - tp0, fp1 - fp0)
        twice += (tp0 + end) * (limit - fp0)
    return twice / (2 * positives * negatives)


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK_CUTS, size)) for start in range(0, size, BLOCK_CUTS))


def _float_blocks(cuts: Cuts) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield TP and FP in units of the grid, as floats, block by block; each block may be overwritten."""
    for part in _blocks(len(cuts.thresholds)):
        yield cuts.tp[part].astype(np.float64), cuts.fp[part].astype(np.float64)

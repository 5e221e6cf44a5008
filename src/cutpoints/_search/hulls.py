"""Convex hulls of many ROC curves at once, and what is best on them in a direction.

A linear function of TP and FP is largest at a vertex of the hull. A curve of n cuts has about n**(1/3)
vertices, so what is asked many times is asked of them. Vertices are found in integers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._kernel.weights import MOST_INT
from cutpoints.metrics.expression import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.tables import Sums

    Index = NDArray[np.intp]


def upper_hulls(x: Sums, y: Sums, first: Index) -> Index:
    """Return the points on the upper hull of each of several curves, in order.

    The points of curve g are ``first[g]`` to ``first[g + 1]`` and ascend in both coordinates. Of equal
    points only the first is returned; collinear ones are left out. Time is linear: rounds of dropping,
    on whole arrays, every point on or below the line between its neighbors; what is left is finished
    one by one.
    """
    new = np.ones(len(x), dtype=np.bool_)
    new[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
    new[first[:-1]] = True
    keep = np.flatnonzero(new)
    last = first[1:] - 1
    wide = (x[last] - x[first[:-1]]).astype(np.float64) * (y[last] - y[first[:-1]])
    exact = bool((2 * wide < MOST_INT).all())  # so cross products fit in int64
    sides = (x, y) if exact else (x.astype(np.float64), y.astype(np.float64))
    # How far floats may be off; exact integers are not.
    off_x, off_y = (0, 0) if exact else (SLACK * float(side[last].max()) for side in sides)
    curve = np.repeat(np.arange(len(last)), np.diff(first))[keep]
    while len(keep) > 2:
        a, b = (side[keep] for side in sides)
        # Above the line from its left to its right neighbor?
        dx, dy = a[2:] - a[:-2], b[2:] - b[:-2]
        rise = (b[1:-1] - b[:-2]) * dx - dy * (a[1:-1] - a[:-2])
        if not exact:
            rise += 8 * (off_y * dx + off_x * dy + off_x * off_y)
        ends = curve[2:] != curve[:-2]  # the first or the last of its curve
        stays = np.concatenate([[True], ends | (rise > 0), [True]])
        before = len(keep)
        keep, curve = keep[stays], curve[stays]
        if len(keep) > before * 0.98:
            break
    starts = np.searchsorted(curve, np.arange(len(last) + 1))
    points = list(zip(x[keep].tolist(), y[keep].tolist(), strict=True))
    found = [start + chain(points[start:stop]) for start, stop in pairwise(starts)]
    return keep[np.concatenate(found)]


def chain(points: Sequence[tuple[Any, Any]]) -> Index:
    """Return the positions of the upper hull of points that ascend in both coordinates."""
    stack: list[int] = []
    for k, (x, y) in enumerate(points):
        while len(stack) > 1:
            (x0, y0), (x1, y1) = points[stack[-2]], points[stack[-1]]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            stack.pop()
        stack.append(k)
    return np.array(stack, dtype=np.intp)

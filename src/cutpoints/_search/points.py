"""The sums that each segment can have, and the relaxation of a joint problem: a polygon, cut by lines.

Every segment picks one of its points (TP, FP). If segments could mix points, the totals would fill a convex
polygon, the Minkowski sum of the segments' hulls, and the best total would be a corner of what the
constraints leave of it. That corner gives each constraint a price, and prices give bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cutpoints._kernel.weights import EXACT_INTEGERS
from cutpoints._search.hulls import upper_hulls
from cutpoints.metrics.expression import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.segment_cuts import SegmentCuts
    from cutpoints._kernel.tables import Sums
    from cutpoints._search.hulls import Index
    from cutpoints._search.linear_goal import Linear

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """The cuts that each segment may pick: `tp` and `fp`, ascending in each, and which cuts they are."""

    tp: Sums
    fp: Sums
    first: Index
    cut: Index

    @classmethod
    def of(cls, cuts: SegmentCuts, allowed: NDArray[np.bool_] | None = None) -> Points:
        """Take the cuts of segments, or those that are allowed; of cuts with equal sums only the first."""
        every = cls(cuts.tp, cuts.fp, cuts.first, np.arange(len(cuts.tp)))
        return every.only(np.ones(len(cuts.tp), dtype=np.bool_) if allowed is None else allowed)

    def only(self, allowed: NDArray[np.bool_]) -> Points:
        """Return the points that are allowed; of equal ones only the first."""
        keep = np.flatnonzero(allowed)
        segment = self.segment[keep]
        tp, fp = self.tp[keep], self.fp[keep]
        new = np.ones(len(keep), dtype=np.bool_)
        new[1:] = (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1]) | (segment[1:] != segment[:-1])
        first = np.searchsorted(segment[new], np.arange(len(self.first)))
        return Points(tp[new], fp[new], first, self.cut[keep[new]])

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def empty(self) -> Index:
        """The segments that have no point."""
        return np.flatnonzero(np.diff(self.first) == 0)

    @cached_property
    def segment(self) -> Index:
        """The segment of each point."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    @cached_property
    def floats(self) -> tuple[Floats, Floats]:
        """TP and FP as floats."""
        return self.tp.astype(np.float64), self.fp.astype(np.float64)

    @cached_property
    def largest(self) -> tuple[Floats, Floats]:
        """The largest TP and FP of each segment, as floats."""
        last = self.first[1:] - 1
        return self.floats[0][last], self.floats[1][last]

    @cached_property
    def upper(self) -> Hull:
        """The points with much TP for their FP."""
        return Hull.of(self, upper_hulls(self.fp, self.tp, self.first))

    @cached_property
    def lower(self) -> Hull:
        """The points with little TP for their FP."""
        return Hull.of(self, upper_hulls(self.tp, self.fp, self.first))

    def total(self, picks: Index) -> tuple[int, int]:
        """Return the sums over all segments."""
        return int(self.tp[picks].sum()), int(self.fp[picks].sum())

    def best(self, tp: int, fp: int) -> Index:
        """Return for each segment the first point at which ``tp*TP + fp*FP`` is largest; exact."""
        return self.ties(tp, fp)[0]

    def ties(self, tp: int, fp: int) -> tuple[Index, Index]:
        """Return for each segment the first and the last vertex at which ``tp*TP + fp*FP`` is largest."""
        hull = self.lower if tp < 0 < fp else self.upper
        x, y = (side[hull.at] for side in self.floats)
        values = float(tp) * x + float(fp) * y
        most = np.maximum.reduceat(values, hull.first[:-1])
        size = abs(float(tp)) * self.largest[0] + abs(float(fp)) * self.largest[1]
        exact = float(size.max()) < EXACT_INTEGERS
        least = most if exact else most - SLACK * size
        near = np.flatnonzero(values >= least[hull.segment])
        if not exact:
            near = near[_largest(self, hull.at[near], hull.segment[near], tp, fp)]
        starts = np.searchsorted(hull.segment[near], np.arange(len(self) + 1))
        return hull.at[near[starts[:-1]]], hull.at[near[starts[1:] - 1]]


def _largest(points: Points, at: Index, segment: Index, tp: int, fp: int) -> Index:
    """Return which of some points are the largest of their segment, in integers."""
    values = tp * points.tp[at].astype(object) + fp * points.fp[at].astype(object)
    most = np.maximum.reduceat(values, np.searchsorted(segment, np.arange(len(points))))
    return np.flatnonzero(np.asarray(values == most[segment], dtype=np.bool_))


class Hull(NamedTuple):
    """Vertices of the hulls of all segments: which points they are, and where each segment's begin."""

    at: Index
    first: Index
    segment: Index

    @classmethod
    def of(cls, points: Points, at: Index) -> Hull:
        """Take the vertices, one segment after the other."""
        segment = points.segment[at]
        return cls(at, np.searchsorted(segment, np.arange(len(points) + 1)), segment)

    def edges(self, points: Points) -> tuple[Index, Floats, Floats]:
        """Return the edges of all segments: the vertex at which each ends, and its steps in FP and TP."""
        inner = np.ones(len(self.at), dtype=np.bool_)
        inner[self.first[:-1]] = False
        ends = np.flatnonzero(inner)
        to, before = self.at[ends], self.at[ends - 1]
        dx, dy = points.fp[to] - points.fp[before], points.tp[to] - points.tp[before]
        return ends, dx.astype(np.float64), dy.astype(np.float64)


# --- the relaxation, in floats: any prices give a valid bound, so nothing here needs to be exact


@dataclass(frozen=True)
class _Polygon:
    """Corners, clockwise, with FP to the right and TP up; edge i leaves corner i.

    An edge is one of the polygon's own (`line` is -1) or lies on a constraint.
    """

    x: Floats
    y: Floats
    dx: Floats
    dy: Floats
    line: NDArray[np.intp]

    def clipped(self, number: int, line: Linear) -> _Polygon | None:
        """Return what a constraint leaves; None for nothing."""
        tp, fp = float(line.tp), float(line.fp)
        slack = float(line.constant) + tp * self.y + fp * self.x
        if (slack >= 0).all():
            return self
        if slack.max() == 0:  # only the rim is left: a sliver more, so that the prices are those of the rim
            slack -= 2.0**-30 * slack.min()
        inside = slack > 0  # a corner on the line is where two edges cross it, and not a third one
        if not inside.any():
            return None
        # A convex polygon has one run of corners inside.
        enters = int(np.flatnonzero(inside & ~np.roll(inside, 1))[0])
        turned = replace(
            self, **{name: np.roll(side, -enters) for name, side in vars(self).items()}
        )  # fmt: skip
        slack, count = np.roll(slack, -enters), int(inside.sum())
        (ex, ey), (fx, fy) = turned.crossing(slack, -1), turned.crossing(slack, count - 1)
        return _Polygon(
            np.concatenate([[ex], turned.x[:count], [fx]]),
            np.concatenate([[ey], turned.y[:count], [fy]]),
            np.concatenate([[turned.dx[-1]], turned.dx[:count], [0.0]]),
            np.concatenate([[turned.dy[-1]], turned.dy[:count], [0.0]]),
            np.concatenate([[turned.line[-1]], turned.line[:count], [number]]),
        )

    def crossing(self, slack: Floats, edge: int) -> tuple[float, float]:
        """Return where an edge crosses the line."""
        to = (edge + 1) % len(self.x)
        share = slack[edge] / (slack[edge] - slack[to])
        return (
            float(self.x[edge] + share * (self.x[to] - self.x[edge])),
            float(self.y[edge] + share * (self.y[to] - self.y[edge])),
        )


def prices(points: Points, objective: Linear, constraints: Sequence[Linear]) -> list[float] | None:
    """Return what a unit of each constraint is worth at the best total of mixed points; None if none is left.

    At most two are not zero: the totals lie in a plane.
    """
    vectors = [objective, *constraints]
    polygon: _Polygon | None = _sum_of_hulls(
        points, lower=any(v.tp < 0 for v in vectors) and any(v.fp > 0 for v in vectors)
    )
    for number, line in enumerate(constraints):
        polygon = polygon and polygon.clipped(number, line)
    if polygon is None:
        return None
    corner = int(np.argmax(float(objective.tp) * polygon.y + float(objective.fp) * polygon.x))
    found = [0.0] * len(constraints)
    edges = [(corner - 1) % len(polygon.x), corner]
    # The objective points between the outward normals of the two edges.
    normals = np.array([[-polygon.dy[e], polygon.dx[e]] for e in edges]).T
    aim = np.array([float(objective.fp), float(objective.tp)])
    for e in edges:
        number = int(polygon.line[e])
        if number >= 0:  # scaled as the constraint is
            normals[:, edges.index(e)] = [-float(constraints[number].fp), -float(constraints[number].tp)]
    determinant = float(np.linalg.det(normals))
    if determinant == 0 or not math.isfinite(determinant):
        return found
    for e, weight in zip(edges, np.linalg.solve(normals, aim).tolist(), strict=True):
        if polygon.line[e] >= 0 and math.isfinite(weight):
            found[int(polygon.line[e])] = max(0.0, weight)
    return found


def _sum_of_hulls(points: Points, *, lower: bool) -> _Polygon:
    """Return the Minkowski sum; without its lower side, the corner below it stands for that."""
    start = points.first[:-1]
    x, y = float(points.fp[start].sum()), float(points.tp[start].sum())
    _, dx, dy = points.upper.edges(points)
    order = np.argsort(-np.arctan2(dy, dx), kind="stable")
    steps = [(dx[order], dy[order])]
    if lower:
        _, dx, dy = points.lower.edges(points)
        order = np.argsort(-np.arctan2(dy, dx), kind="stable")
        steps.append((-dx[order], -dy[order]))
    else:
        steps.append((np.array([0.0, -dx.sum()]), np.array([-dy.sum(), 0.0])))
    dx, dy = (np.concatenate(side) for side in zip(*steps, strict=True))
    moves = (dx != 0) | (dy != 0)
    dx, dy = dx[moves], dy[moves]
    if len(dx) == 0:  # each segment has one point
        dx, dy = np.zeros(1), np.zeros(1)
    return _Polygon(
        x + np.cumsum(dx) - dx, y + np.cumsum(dy) - dy, dx, dy, np.full(len(dx), -1, dtype=np.intp)
    )

"""Where to count next: ranges of scores -> pieces that a query can divide into buckets.

A query knows elementary arithmetic and no bits. So the two maps of scores to buckets are a straight
line, and a straight line after the power 1/1024, which is so flat that it spreads out 600 orders of
magnitude much as a logarithm does, and is kind to zero. Nothing here has to be right for the answer
to be right: the ends of a bucket are the lowest and the highest score that were *seen* in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._kernel.histogram import within
from cutpoints._kernel.tables import Histogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.tables import Ranges, Scores

ROOT = 2.0**-10
"""The power: the whole range of float64 goes to [0.48, 2], with steps of at most 2**-43 of a score."""
LARGEST, TINIEST = float(np.finfo(np.float64).max), 5e-324
CROWD_SHARE = 8
"""A bucket with more than one in this many of the asked rows is divided by itself."""


class Seen(NamedTuple):
    """The buckets of a count, ascending and disjoint.

    `ranges` is what was counted; None for all rows. Between ranges there may be others.
    """

    groups: Histogram
    ranges: Ranges | None = None

    def inside(self, low: float, high: float) -> slice:
        """Return which of the buckets reach into an interval."""
        return slice(
            int(np.searchsorted(self.groups.high, low, side="left")),
            int(np.searchsorted(self.groups.low, high, side="right")),
        )

    def within(self, ranges: Ranges) -> Histogram:
        """Return the buckets that reach into one of the ranges."""
        pairs = zip(ranges.low.tolist(), ranges.high.tolist(), strict=True)
        return Histogram.together([self.groups.at(self.inside(low, high)) for low, high in pairs])

    def complete(self, ranges: Ranges) -> bool:
        """Whether all rows of these ranges were counted."""
        return self.ranges is None or within(ranges, self.ranges)


@dataclass(frozen=True)
class Piece:
    """A closed interval of scores, all of one sign, that a query divides into `count` buckets."""

    low: float
    high: float
    rows: int
    count: int = 1


def divide(ranges: Ranges, seen: Seen, buckets: int) -> list[Piece]:
    """Cut ranges at zero, at the infinities and around crowds, and deal buckets out by rows."""
    pairs = list(zip(ranges.low.tolist(), ranges.high.tolist(), strict=True))
    crowd = int(seen.within(ranges).rows.sum()) // CROWD_SHARE
    pieces = [piece for low, high in pairs for piece in _parts(low, high, seen, crowd)]
    total = max(1, sum(piece.rows for piece in pieces if piece.low < piece.high))
    return [
        piece if piece.low == piece.high else replace(piece, count=2 + buckets * piece.rows // total)
        for piece in pieces
    ]


def scales(low: Scores, high: Scores, count: Any) -> tuple[Scores, Scores, NDArray[np.bool_]]:
    """Return where the buckets of some intervals begin, how many there are per step, and if on the root.

    A straight line serves intervals that do not even double a score. No steps where none can be made.
    """
    low, high = (np.clip(end, -LARGEST, LARGEST) for end in (low, high))
    near, far = (pick(np.abs(low), np.abs(high)) for pick in (np.minimum, np.maximum))
    with np.errstate(all="ignore"):
        power = (np.sign(low) != np.sign(high)) | (far / 2 > near) | np.isinf(count / (high - low))
        start, stop = (np.where(power, on_root(end), end) for end in (low, high))
        scale = count / (stop - start)
    return start, np.where(np.isfinite(scale), scale, 0.0), power


def on_root(score: Any) -> Any:
    """Return the root with the sign of the score."""
    return np.sign(score) * np.abs(score) ** ROOT


def join(ranges: list[tuple[float, float]], seen: Seen, most: int) -> list[tuple[float, float]]:
    """Close the gaps between ascending ranges that have the fewest rows, until few ranges are left."""
    if len(ranges) <= most:
        return ranges
    lows, highs = (np.array(side) for side in zip(*ranges, strict=True))
    running = np.concatenate([[0], np.cumsum(seen.groups.rows)])
    until = np.searchsorted(seen.groups.low, lows[1:], side="left")
    gaps = running[until] - running[np.searchsorted(seen.groups.high, highs[:-1], side="right")]
    open_ = sorted(np.argsort(gaps, kind="stable")[len(gaps) - (most - 1) :].tolist())
    starts, stops = [0, *(i + 1 for i in open_)], [*open_, len(ranges) - 1]
    return [(ranges[a][0], ranges[b][1]) for a, b in zip(starts, stops, strict=True)]


def _parts(low: float, high: float, seen: Seen, crowd: int) -> list[Piece]:
    """Cut one range into stretches of one sign; a bucket with many of the rows is one by itself.

    There are no rows between buckets that were seen, so a stretch ends at the last one that is in it.
    """
    part = seen.groups.at(seen.inside(low, high))
    lows, highs, rows = np.maximum(part.low, low), np.minimum(part.high, high), part.rows
    crowded = (rows > crowd) | ~np.isfinite(lows) | ~np.isfinite(highs)
    sign = np.sign(lows) + np.sign(highs)
    found: list[Piece] = []
    start = 0
    for stop in range(1, len(rows) + 1):
        if stop < len(rows) and sign[stop] == sign[start] and not (crowded[stop] or crowded[stop - 1]):
            continue
        found += _one_sign(float(lows[start]), float(highs[stop - 1]), int(rows[start:stop].sum()))
        start = stop
    return found


def _one_sign(low: float, high: float, rows: int) -> list[Piece]:
    """Cut an interval at zero and at the infinities, should a bucket have joined them."""
    cuts = ((-np.inf, -np.inf), (-LARGEST, -TINIEST), (0.0, 0.0), (TINIEST, LARGEST), (np.inf, np.inf))
    parts = ((max(low, a), min(high, b)) for a, b in cuts)
    return [Piece(float(a), float(b), rows) for a, b in parts if a <= b]

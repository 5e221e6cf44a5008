"""The best cutpoints of one score for ordered classes.

The loss of cutpoints is a sum over the cutpoints, so dynamic programming finds the best: each depends on the
others only in that they ascend. In floats, forward and backward, it tells for every cut the best that any
cutpoints through it attain; the few cuts within rounding of the best are compared in integers. A quotient of
two such sums, as kappa is, takes a few of these searches (Dinkelbach).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._kernel.weights import EXACT_INTEGERS
from cutpoints.metrics.expression import SLACK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Matrix = Sequence[Sequence[int]]
    """What each decision (row) costs for each true class (column), in integers."""


@dataclass(frozen=True)
class ClassCounts:
    """Distinct scores, ascending, and the sums of each class below each of them; the last row has all."""

    scores: NDArray[np.floating[Any]]
    below: NDArray[np.int64]

    @property
    def totals(self) -> list[int]:
        """The sum of each class."""
        found: list[int] = self.below[-1].tolist()
        return found

    def thresholds(self) -> NDArray[np.floating[Any]]:
        """Return the cuts: each distinct score, and inf unless that is a score."""
        if len(self.scores) and self.scores[-1] == np.inf:
            return self.scores
        return np.append(self.scores, self.scores.dtype.type(np.inf))

    def confusion(self, places: Sequence[int]) -> list[list[int]]:
        """Return how many of each true class (row) get each decision (column)."""
        edges = self.below[[0, *places, len(self.below) - 1]]
        found: list[list[int]] = np.diff(edges, axis=0).T.tolist()
        return found


class Cutpoints(NamedTuple):
    """The best places among the cuts, ascending, the exact loss, and how many cuts were compared."""

    places: tuple[int, ...]
    loss: int
    compared: int


class Quotient(NamedTuple):
    """The best places for a quotient of two sums, its exact parts, and what it took."""

    places: tuple[int, ...]
    above: int
    under: int
    steps: int
    compared: int


def least_loss(counts: ClassCounts, loss: Matrix) -> Cutpoints:
    """Return the cutpoints of least loss; between equal ones the highest, from the first on."""
    cuts = len(counts.thresholds())
    steps = [[a - b for a, b in zip(*pair, strict=True)] for pair in pairwise(loss)]
    totals = counts.totals
    below = counts.below[:cuts].astype(np.float64)
    adds = below @ np.array([[float(x) for x in row] for row in steps]).T  # one column per cutpoint
    size = float(sum(abs(x) * total for row in steps for x, total in zip(row, totals, strict=True)))
    room = 0.0 if size < EXACT_INTEGERS else 4 * SLACK * size  # sums over classes and over cutpoints
    through = _through(adds)
    least = through[:, 0].min()
    kept = [np.flatnonzero(column <= least + 2 * room).tolist() for column in through.T]
    places, value = _exact(kept, [_adding(counts, row) for row in steps])
    constant = sum(x * total for x, total in zip(loss[-1], totals, strict=True))
    return Cutpoints(places, value + constant, sum(map(len, kept)))


def _through(adds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least sum of ascending cutpoints through each cut (row) by each cutpoint (column)."""
    forward, backward = adds.copy(), adds.copy()
    last = adds.shape[1] - 1
    for k in range(1, last + 1):
        forward[:, k] += np.minimum.accumulate(forward[:, k - 1])
    for k in range(last - 1, -1, -1):
        backward[:, k] += np.minimum.accumulate(backward[::-1, k + 1])[::-1]
    return forward + backward - adds


def _adding(counts: ClassCounts, weights: Sequence[int]) -> Callable[[int], int]:
    """Return what one cutpoint adds at a cut, exactly."""

    def adds(place: int) -> int:
        row: list[int] = counts.below[place].tolist()
        return sum(weight * number for weight, number in zip(weights, row, strict=True))

    return adds


def _exact(kept: list[list[int]], adds: Sequence[Callable[[int], int]]) -> tuple[tuple[int, ...], int]:
    """Return the best ascending places, one of each list, and their sum; the highest of equal ones."""
    # From the last cutpoint to the first: the best sum from each place on, and the places ascend.
    best_from: list[list[tuple[int, int]]] = []
    after: list[tuple[int, int]] = []
    for k in range(len(kept) - 1, -1, -1):
        here: list[tuple[int, int]] = []
        ahead = len(after) - 1
        best: int | None = 0 if k == len(kept) - 1 else None
        for place in reversed(kept[k]):
            while k < len(kept) - 1 and ahead >= 0 and after[ahead][0] >= place:
                value = after[ahead][1]
                best = value if best is None or value < best else best
                ahead -= 1
            if best is not None:
                here.append((place, adds[k](place) + best))
        here.reverse()
        best_from.insert(0, here)
        after = here
    total = min(value for _, value in best_from[0])
    places: list[int] = []
    wanted, start = total, 0
    for k, here in enumerate(best_from):
        place = max(place for place, value in here if value == wanted and place >= start)
        places.append(place)
        wanted, start = wanted - adds[k](place), place
    return tuple(places), total


def least_quotient(counts: ClassCounts, above: Matrix, under: Matrix) -> Quotient:
    """Return the cutpoints of the least quotient of two losses, the second of them positive.

    Dinkelbach: with the quotient p/q so far, the cutpoints of least ``q * above - p * under`` have a smaller
    one, unless that least is 0; then no cutpoints have.
    """
    found = least_loss(counts, above)
    steps, compared = 1, found.compared
    while True:
        p, q = _loss(counts, above, found.places), _loss(counts, under, found.places)
        mixed = [
            [q * a - p * b for a, b in zip(*rows, strict=True)] for rows in zip(above, under, strict=True)
        ]
        found = least_loss(counts, mixed)
        steps, compared = steps + 1, compared + found.compared
        if found.loss == 0:
            return Quotient(found.places, p, q, steps, compared)


def _loss(counts: ClassCounts, loss: Matrix, places: Sequence[int]) -> int:
    """Return the exact loss of some cutpoints."""
    confusion = counts.confusion(places)
    return sum(
        loss[decision][truth] * number
        for truth, row in enumerate(confusion)
        for decision, number in enumerate(row)
    )

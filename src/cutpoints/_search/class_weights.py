"""Weights of classes: the class with the largest ``weight * probability`` is called.

All is done in logarithms on a grid of integers, so that comparing, adding and deciding never round. With one
weight moving, the rows change their class one after the other, in the order of their ratios: a sweep. Two
classes need one sweep. For three, the plane of the two free weights is cut into cells by the rays on which a
row changes its class; each cell touches a ray, so sweeps along both sides of every ray visit every cell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Logs = NDArray[np.int64]
    """Logarithms of probabilities in units of ``2**-GRID_BITS``, multiples of `APART`."""

GRID_BITS = 40
APART = 8
"""Logarithms of probabilities are multiples of this many units: there is room between any two of them."""
IMPOSSIBLE = -(1 << 52)
"""The logarithm of 0: no weight that a float can hold makes up for it."""
LARGEST_LOG = 700 << GRID_BITS
"""Logarithms of weights are at most this: e**700 is a float."""
FREE_LOG = 1 << GRID_BITS
"""How far a weight that is bounded on one side is from there: a factor of e."""
NEARLY_EQUAL = 1e-12
"""Values this close are compared as fractions."""


def logs_of(probabilities: NDArray[np.floating]) -> Logs:
    """Return the logarithms of probabilities, each rounded once to the grid."""
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities.astype(np.float64)) * 2.0**GRID_BITS / APART
    found: Logs = np.where(np.isinf(logs), IMPOSSIBLE // APART, np.rint(np.where(np.isinf(logs), 0, logs)))
    return APART * found.astype(np.int64)


def called(logs: Logs, weights: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the class of each row; the first of equal ones."""
    return np.argmax(logs + weights, axis=1)


def centered(logs: Logs, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return weights with the same decisions, each moved to the middle of where it may be.

    The weights that were found lie beside a ray, so near that rounding could change a decision.
    """
    decided = called(logs, weights)
    for k in range(1, len(weights)):
        others = logs + weights
        others[:, k] = np.iinfo(np.int64).min
        turns = others.max(axis=1) - logs[:, k]  # the row is called k from here on
        own, other = turns[decided == k], turns[decided != k]
        low = own.max() if len(own) else other.min() - 2 * FREE_LOG
        high = other.min() if len(other) else own.max() + 2 * FREE_LOG
        moved = weights.copy()
        moved[k] = np.clip((low + high) // 2, -LARGEST_LOG, LARGEST_LOG)
        if np.array_equal(decided, called(logs, moved)):  # not where there is no room
            weights = moved
    return weights


@dataclass
class Score:
    """What is maximized, from the hits and calls of each class: as floats for many, and exactly for one."""

    name: str
    support: NDArray[np.int64]

    def values(self, hits: NDArray[np.int64], calls: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of many decisions (rows)."""
        if self.name == "accuracy":
            return hits.sum(axis=-1) / self.support.sum()
        there = self.support > 0
        if self.name == "balanced_accuracy":
            return np.mean(hits[..., there] / self.support[there], axis=-1)
        both = calls + self.support
        return np.mean(2 * hits / np.maximum(both, 1), axis=-1)

    def exact(self, hits: NDArray[np.int64], calls: NDArray[np.int64]) -> Fraction:
        """Return the value of one."""
        h, c, s = (side.tolist() for side in (hits, calls, self.support))
        if self.name == "accuracy":
            return Fraction(sum(h), sum(s))
        if self.name == "balanced_accuracy":
            shares = [Fraction(x, n) for x, n in zip(h, s, strict=True) if n]
        else:
            shares = [Fraction(2 * x, max(k + n, 1)) for x, k, n in zip(h, c, s, strict=True)]
        return sum(shares, Fraction(0)) / len(shares)


@dataclass
class _Best:
    """The best weights so far; those that floats cannot tell apart are kept for fractions."""

    score: Score
    value: float = -np.inf
    kept: dict[tuple[int, ...], tuple[Fraction, NDArray[np.int64]]] = field(default_factory=dict)

    def offer(self, weights: NDArray[np.int64], moving: int, places: Logs, hits: Logs, calls: Logs) -> None:
        """Take the best of one sweep: the moving weight at each place, with its hits and calls."""
        values = self.score.values(hits, calls)
        top = float(values.max(initial=-np.inf))
        if top < self.value - NEARLY_EQUAL or top == -np.inf:
            return
        if top > self.value + NEARLY_EQUAL:
            self.kept.clear()
        self.value = max(self.value, top)
        for k in np.flatnonzero(values >= self.value - NEARLY_EQUAL).tolist():
            key = (*hits[k].tolist(), *calls[k].tolist())
            if key not in self.kept:
                found = weights.copy()
                found[moving] = places[k]
                self.kept[key] = self.score.exact(hits[k], calls[k]), found

    def weights(self) -> tuple[Fraction, NDArray[np.int64]]:
        """Return the best value and its weights."""
        return max(self.kept.values(), key=lambda one: one[0])


def _sweep(logs: Logs, y: NDArray[np.intp], weights: NDArray[np.int64], moving: int, best: _Best) -> None:
    """Offer every value of one weight, with the others fixed: places between two rows that change."""
    rows, size = logs.shape
    others = logs + weights
    others[:, moving] = np.iinfo(np.int64).min
    rival = np.argmax(others, axis=1)
    turns = others[np.arange(rows), rival] - logs[:, moving]
    order = np.argsort(turns, kind="stable")
    turns, rival, truth = turns[order], rival[order], y[order]
    hits, calls = np.zeros((2, rows + 1, size), dtype=np.int64)
    at = np.arange(1, rows + 1)
    np.subtract.at(calls, (at, rival), 1)
    calls[at, moving] += 1
    hits[at[rival == truth], rival[rival == truth]] -= 1
    hits[at[truth == moving], moving] += 1
    hits[0] = np.bincount(truth[rival == truth], minlength=size)
    calls[0] = np.bincount(rival, minlength=size)
    hits, calls = np.cumsum(hits, axis=0), np.cumsum(calls, axis=0)
    # Between two turns that are too close for an integer there is no place; beyond all of them there is.
    low = np.concatenate([[min(int(turns[0]) - 2 * APART, -2)], turns])
    high = np.concatenate([turns, [max(int(turns[-1]) + 2 * APART, 2)]])
    places = (np.maximum(low, -LARGEST_LOG - 1) + np.minimum(high, LARGEST_LOG + 1)) // 2
    fits = np.flatnonzero((low < places) & (places < high) & (np.abs(places) <= LARGEST_LOG))
    best.offer(weights, moving, places[fits], hits[fits], calls[fits])


def best_of_two(logs: Logs, y: NDArray[np.intp], score: Score) -> tuple[Fraction, NDArray[np.int64]]:
    """Return the best weights of two classes: one sweep."""
    best = _Best(score)
    _sweep(logs, y, np.zeros(2, dtype=np.int64), 1, best)
    return best.weights()


def best_of_three(logs: Logs, y: NDArray[np.intp], score: Score) -> tuple[Fraction, NDArray[np.int64]]:
    """Return the best weights of three classes: a sweep along both sides of every ray."""
    best = _Best(score)
    for fixed, turned, moving in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        # Where a row is as much of one class as of the other.
        rays = np.unique(logs[:, fixed] - logs[:, turned])
        beside = APART // 4  # so near a ray nothing else changes
        for place in [0, *(rays - beside).tolist(), *(rays + beside).tolist()]:
            if abs(place) > LARGEST_LOG:
                continue
            weights = np.zeros(3, dtype=np.int64)
            weights[turned] = place
            _sweep(logs, y, weights, moving, best)
    return best.weights()


def climb(logs: Logs, y: NDArray[np.intp], score: Score) -> tuple[Fraction, NDArray[np.int64]]:
    """Return weights that no change of one of them improves.

    A local optimum, from equal weights; each step is the best of a whole sweep. A handful of passes over the
    classes is usual.
    """
    size = logs.shape[1]
    weights = np.zeros(size, dtype=np.int64)
    value = _value(logs, y, weights, score)
    before = None
    while value != before:
        before = value
        for moving in range(size):
            best = _Best(score)
            _sweep(logs, y, weights, moving, best)
            if best.kept:
                found, at = best.weights()
                if found > value:
                    value, weights = found, at
    return value, weights


def _value(logs: Logs, y: NDArray[np.intp], weights: NDArray[np.int64], score: Score) -> Fraction:
    decision = called(logs, weights)
    size = logs.shape[1]
    return score.exact(np.bincount(y[decision == y], minlength=size), np.bincount(decision, minlength=size))

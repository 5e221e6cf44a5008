"""How scores are put in order: the quickest way that a look at a few of them promises."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._kernel.binning import ordered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.tables import Scores

_SAMPLE = 1 << 5
_EXPONENTS = 62
"""As floats, positive numbers of fewer bits are finite."""
_ALIKE = 1 << 14
"""So few scores, many of them equal, are put in order by argsort without a second look at them. Of more, or
if most are one and the same, it takes many times as long as it needs, as chance has it."""
FEW = 1 << 17
"""Of more rows than that, some scores differ only in the bits that the places of rows take."""


class Sample:
    """A few scores of many, in order: what they say of the others is likely, and not sure."""

    def __init__(self, scores: Scores, size: int = _SAMPLE) -> None:
        found: list[float] = scores[:: max(1, len(scores) // size)].tolist()
        self.scores = sorted(found)
        self.way = None
        """How to read all scores so that they ascend, if they are in order as they are."""
        if found == self.scores or found[::-1] == self.scores:
            self.way = slice(None, None, 1 if found == self.scores else -1)

    @property
    def repeats(self) -> bool:
        """Whether most scores are there more than once."""
        return 2 * len(set(self.scores)) < len(self.scores)

    def commonest(self, share: float) -> float | None:
        """Return the score that more than such a share of the rows have, if there is one.

        It is in the middle, so the share is no less than a half.
        """
        if not self.scores:
            return None
        middle = self.scores[len(self.scores) // 2]
        return middle if self.scores.count(middle) > share * len(self.scores) else None


def in_order(
    scores: Scores, low: Any, high: Any
) -> tuple[NDArray[np.int64] | slice, Scores, NDArray[np.bool_] | None]:
    """Return the order of scores, the scores in that order, `framed`, and where each begins, see `_begins`.

    To sort them with the place of each row in the last bits is twice as fast as argsort. Where scores have
    no such bits to spare, those that differ in these bits only are not sorted: seen, and done the slow way.
    """
    edges = np.empty(len(scores) + 2, dtype=scores.dtype)
    edges[0], edges[-1] = -np.inf, np.inf
    ranked = edges[1:-1]
    sample = Sample(scores)
    way = sample.way
    if way is not None:
        np.add(scores[way], 0, out=ranked)  # -0.0 becomes 0.0
        begins = _begins(ranked)
        if begins is None or not (ranked[1:] < ranked[:-1]).any():
            return way, edges, begins
    if not sample.repeats or sample.commonest(0.5) is not None or len(scores) > _ALIKE:
        order, spare = _keys(scores, low, high)
        order &= (1 << len(scores).bit_length()) - 1
        scores.take(order, out=ranked, mode="clip")  # without another copy
        begins = _begins(ranked)
        if spare or begins is None or not (ranked[1:] < ranked[:-1]).any():
            if low <= 0 <= high:
                ranked += 0  # -0.0 becomes 0.0
            return order, edges, begins
    order = scores.argsort()
    scores.take(order, out=ranked, mode="clip")
    ranked += 0
    return order, edges, _begins(ranked)


def _keys(scores: Scores, low: Any, high: Any) -> tuple[NDArray[np.int64], bool]:
    """Return sorted numbers of the order of the scores, with the places of rows in the last bits.

    And whether that is so for sure: there were bits to spare.
    """
    bits = len(scores).bit_length()
    spare = scores.dtype == np.float32
    whole = not spare and (math.isinf(low) or math.isinf(high))
    if spare:
        keys = scores.view(np.int32).astype(np.int64)
        keys <<= 32
    elif 0 < low <= high < 2 * low:  # close to each other: from the lowest on
        lowest, highest = ordered(np.array([low, high])).tolist()
        spare = (highest - lowest).bit_length() + bits < _EXPONENTS
        keys = scores.view(np.int64) - lowest
        if spare:
            keys <<= bits
    if not spare:
        keys = (ordered(scores) if whole else scores.view(np.int64)) & -(1 << bits)
    keys |= _places(bits)[: len(scores)] if len(scores) < FEW else np.arange(len(scores))
    # As floats, which are sorted more quickly than integers; but an infinite one with more bits is none.
    (keys if whole else keys.view(np.float64)).sort()
    return keys, spare


@cache
def _places(bits: int) -> NDArray[np.int64]:
    """Return the numbers of so many bits: for few rows, to make them anew is a tenth of a search."""
    return np.arange(1 << bits)


def _begins(ranked: Scores) -> NDArray[np.bool_] | None:
    """Return where a score is another one than the last; None where every one is."""
    begins = np.empty(len(ranked), dtype=np.bool_)
    begins[:1] = True
    np.greater(ranked[1:], ranked[:-1], out=begins[1:])
    return None if np.count_nonzero(begins) == len(begins) else begins


def as_they_are(scores: Scores, sides: Any) -> tuple[Scores, Any] | None:
    """Return scores and labels, ascending, without a sort; None where they are in no order."""
    way = Sample(scores).way
    if way is None:
        return None
    ranked = scores[way] + 0  # -0.0 becomes 0.0
    return None if (ranked[1:] < ranked[:-1]).any() else (ranked, sides[way])


def in_order_by_class(scores: Scores, sides: Any) -> tuple[Scores, Any]:
    """Sort each class by itself, then merge: a stable sort of two ascending runs is one merge."""
    positive = sides.view(np.bool_)
    split = len(scores) - int(np.count_nonzero(positive))
    ranked = np.empty_like(scores, order="C")
    np.compress(~positive, scores, out=ranked[:split])
    np.compress(positive, scores, out=ranked[split:])
    ranked[:split].sort()
    ranked[split:].sort()
    is_pos = np.argsort(ranked, kind="stable") >= split
    ranked.sort(kind="stable")
    ranked += 0  # -0.0 becomes 0.0
    return ranked, is_pos

"""The best pair of cuts: automatic yes from the upper one on, automatic no below the lower one.

Whatever is asked of a band is a sum of what its upper cut does and of what its lower cut does: its cost, the
rows left to review, and each bound on the automatic decisions. So no pair from two blocks of cuts is better
than the sum of the best of both blocks, and nearly all pairs of blocks are excluded unseen. Floats exclude,
integers decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cutpoints._kernel.weights import EXACT_INTEGERS
from cutpoints.metrics.expression import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts, Index
    from cutpoints._kernel.tables import Sums

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

FAN_OUT = 8
"""A block of cuts is split into this many."""
PAIRS_AT_ONCE = 1 << 7
"""Pairs of blocks that are split together, the most promising first."""


@dataclass(frozen=True)
class PairSum:
    """A number for each pair of cuts: a constant, and what each cut adds per unit of its sums.

    The sums are TP, FP, and those of the columns, if any. All are integers, and the smaller the better; a
    bound holds where the number is at most 0.
    """

    upper: tuple[int, ...]
    lower: tuple[int, ...]
    constant: int = 0

    @classmethod
    def of(
        cls, upper: Sequence[Fraction], lower: Sequence[Fraction], constant: Fraction
    ) -> tuple[PairSum, int]:
        """Return the sum in integers, and what it was multiplied by."""
        numbers = (*upper, *lower, constant)
        scale = math.lcm(*(number.denominator for number in numbers))
        whole = [int(number * scale) for number in numbers]
        return cls(tuple(whole[: len(upper)]), tuple(whole[len(upper) : -1]), whole[-1]), scale

    def at(self, cuts: Cuts, i: Index, j: Index) -> NDArray[np.object_]:
        """Return the exact numbers at some pairs."""
        found: NDArray[np.object_] = np.full(len(i), self.constant, dtype=object)
        for factors, index in ((self.upper, i), (self.lower, j)):
            for factor, sums in zip(factors, _sums(cuts), strict=False):
                if factor:
                    found = found + factor * sums[index].astype(object)
        return found

    def size(self, cuts: Cuts) -> float:
        """Return what no partial sum exceeds."""
        summary = cuts.summary
        totals = [summary.positives, summary.negatives]
        for one in summary.columns:
            totals += [one.positives, one.negatives]
        per_unit = (abs(a) + abs(b) for a, b in zip(self.upper, self.lower, strict=True))
        return float(sum(a * b for a, b in zip(per_unit, totals, strict=False)) + abs(self.constant))

    def alone(self, side: str, cuts: Cuts) -> Mask:
        """Return at which cuts the bound holds, where only the cut of one side matters."""
        index = np.arange(len(cuts))
        found, room = self.floats(side, cuts)
        found += float(self.constant)
        mask = found <= 0
        unsure = index[np.abs(found) <= room] if room else index[:0]
        if len(unsure):
            mask[unsure] = np.asarray(self.at(cuts, unsure, unsure) <= 0, dtype=np.bool_)
        return mask

    def floats(self, side: str, cuts: Cuts) -> tuple[Floats, float]:
        """Return what the cuts add on one side, as floats, and how far those may be off."""
        size = self.size(cuts)
        found = np.zeros(len(cuts))
        for factor, sums in zip(self.upper if side == "upper" else self.lower, _sums(cuts), strict=False):
            if factor:
                found += float(factor) * sums.astype(np.float64)
        return found, 0.0 if size < EXACT_INTEGERS else len(self.upper) / 2 * SLACK * size


def _sums(cuts: Cuts) -> tuple[Sums, ...]:
    return cuts.tp, cuts.fp, *cuts.columns


REVIEWED = PairSum(upper=(-1, -1), lower=(1, 1))
"""What is left to review, in units of the grid."""


class Pair(NamedTuple):
    """The best pair of cuts, by index, and how many pairs were compared one by one."""

    upper: int
    lower: int
    compared: int


def best_pair(
    cuts: Cuts, objective: PairSum, bounds: Sequence[PairSum], allowed: tuple[Mask, Mask] | None = None
) -> Pair | None:
    """Return the best pair of cuts that meets all bounds; None if no pair does.

    Between pairs of equal value the one that leaves the fewest rows to review, and then the one that calls
    the fewest rows positive. `allowed` are the cuts that may be the upper and the lower one.
    """
    upper, lower = allowed or (np.ones(len(cuts), dtype=np.bool_),) * 2
    coupled = []
    for bound in bounds:
        if not any(bound.lower):
            upper = upper & bound.alone("upper", cuts)
        elif not any(bound.upper):
            lower = lower & bound.alone("lower", cuts)
        else:
            coupled.append(_Blocks(cuts, bound))
    first = _Blocks(cuts, objective, (upper, lower))
    found = _least(cuts, first, coupled)
    if found is None or objective == REVIEWED:
        return found
    (best,) = objective.at(cuts, np.array([found.upper]), np.array([found.lower]))
    equal = first.lowered_by(best)
    again = _least(cuts, _Blocks(cuts, REVIEWED, (upper, lower)), [*coupled, equal])
    assert again is not None
    return Pair(again.upper, again.lower, found.compared + again.compared)


class _Blocks:
    """What each cut adds to a sum as upper and as lower cut, and the least of it in blocks of cuts."""

    def __init__(self, cuts: Cuts, form: PairSum, allowed: tuple[Mask, Mask] | None = None) -> None:
        self.form = form
        self.constant = float(form.constant)
        upper, self.room = form.floats("upper", cuts)
        lower, _ = form.floats("lower", cuts)
        if allowed is not None:
            upper[~allowed[0]] = np.inf
            lower[~allowed[1]] = np.inf
        self.upper, self.lower = block_minima(upper), block_minima(lower)

    def lowered_by(self, number: int) -> _Blocks:
        """Return the same less a number: at most 0 where the sum is at most that number."""
        made = object.__new__(_Blocks)
        vars(made).update(vars(self))
        made.form = replace(self.form, constant=self.form.constant - number)
        made.constant = float(made.form.constant)
        return made

    def least(self, level: int, i: Index, j: Index) -> Floats:
        """Return what no pair from these blocks is less than, up to rounding."""
        found: Floats = self.upper[level][i] + self.lower[level][j] + self.constant
        return found


def block_minima(values: Floats) -> list[Floats]:
    """Return the values, the least of each block of `FAN_OUT`, the least of each block of those, ..."""
    found = [values]
    while len(values) > 1:
        halves = FAN_OUT
        while halves > 1:
            if len(values) % 2:
                values = np.append(values, np.inf)
            values = np.minimum(values[::2], values[1::2])
            halves //= 2
        found.append(values)
    return found


def _least(cuts: Cuts, objective: _Blocks, bounds: Sequence[_Blocks]) -> Pair | None:
    """Return the pair with the least sum among those that meet the bounds, the highest cuts first."""
    exact = objective.room == 0 and all(bound.room == 0 for bound in bounds)
    top = len(objective.upper) - 1
    one = np.zeros(1, dtype=np.intp)
    if any(bound.least(top, one, one)[0] > bound.room for bound in bounds):
        return None
    stack = [(top, one, one, objective.least(top, one, one))]
    best: tuple[float, int, int] = (math.inf, len(cuts), len(cuts))
    best_exact: int | None = None
    compared = 0
    while stack:
        level, i, j, least = stack.pop()
        keep = _promising(FAN_OUT**level * i, FAN_OUT**level * j, least, best, objective.room)
        i, j, least = i[keep], j[keep], least[keep]
        if len(i) > PAIRS_AT_ONCE:
            order = np.argpartition(least, PAIRS_AT_ONCE)
            now, later = order[:PAIRS_AT_ONCE], order[PAIRS_AT_ONCE:]
            stack.append((level, i[later], j[later], least[later]))
            i, j, least = i[now], j[now], least[now]
        if len(i) == 0:
            continue
        if level > 0:
            stack.append(_split(level - 1, i, j, objective, bounds))
            continue
        compared += len(i)
        if exact:  # floats are the numbers themselves
            at = np.lexsort((j, i, least))[0]
            best = min(best, (float(least[at]), int(i[at]), int(j[at])))
            continue
        fine = np.ones(len(i), dtype=np.bool_)
        for bound in bounds:
            fine &= np.asarray(bound.form.at(cuts, i, j) <= 0, dtype=np.bool_)
        i, j = i[fine], j[fine]
        for number, a, b in zip(objective.form.at(cuts, i, j), i.tolist(), j.tolist(), strict=True):
            if best_exact is None or (number, a, b) < (best_exact, *best[1:]):
                best_exact, best = number, (float(number), a, b)
    return None if math.isinf(best[0]) else Pair(best[1], best[2], compared)


def _promising(i: Index, j: Index, least: Floats, best: tuple[float, int, int], room: float) -> Mask:
    """Return which pairs of blocks could hold a better pair, or an equal one with higher cuts.

    `i` and `j` are the first cuts of the blocks.
    """
    value, upper, lower = best
    if room:
        return np.asarray(least <= value + 2 * room) & np.isfinite(least)
    higher = (i < upper) | ((i == upper) & (j < lower))
    return np.isfinite(least) & ((least < value) | ((least == value) & higher))


def _split(
    level: int, i: Index, j: Index, objective: _Blocks, bounds: Sequence[_Blocks]
) -> tuple[int, Index, Index, Floats]:
    """Return the pairs of blocks one level down in which a pair could meet all bounds."""
    upper, lower = children(i, j, len(objective.upper[level]))
    keep = np.ones(len(upper), dtype=np.bool_)
    for bound in bounds:
        upper, lower = upper[keep], lower[keep]
        keep = bound.least(level, upper, lower) <= bound.room
    upper, lower = upper[keep], lower[keep]
    return level, upper, lower, objective.least(level, upper, lower)


def children(i: Index, j: Index, blocks: int) -> tuple[Index, Index]:
    """Return the pairs of blocks one level down; the upper one is never below the lower."""
    inner = np.arange(FAN_OUT)
    upper = np.broadcast_to(FAN_OUT * i[:, None, None] + inner[:, None], (len(i), FAN_OUT, FAN_OUT)).ravel()
    lower = np.broadcast_to(FAN_OUT * j[:, None, None] + inner, (len(j), FAN_OUT, FAN_OUT)).ravel()
    fine = (upper <= lower) & (lower < blocks)
    return upper[fine], lower[fine]

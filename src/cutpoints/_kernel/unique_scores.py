"""Rows -> exact masses per distinct score: sorted, and equal scores added up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cutpoints._kernel.binning import ordered, unordered
from cutpoints._kernel.histogram import Block, Sides, inside, joined
from cutpoints._kernel.masses import BLOCK_ROWS, Masses, Unit
from cutpoints._kernel.order import FEW, Sample, as_they_are, in_order, in_order_by_class
from cutpoints._kernel.tables import Histogram, Ranges, Rows, Scores, Summary, framed
from cutpoints._kernel.weighed import Unsplit, Weighed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.binning import Buckets

LUMP = 1 << 12
"""Of so many rows with weights, those of a score that more than half of them have are not sorted."""


@dataclass(frozen=True)
class Distinct:
    """Distinct scores, ascending, with their masses and how many rows have them."""

    scores: Scores
    pos: Masses
    neg: Masses
    total: int
    weighed: NDArray[np.int64] | None = None
    """The rows of each score; None where rows have no weights, and are the masses themselves."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each score."""
        return self.pos.limbs[0] + self.neg.limbs[0] if self.weighed is None else self.weighed

    def rows(self, ranges: Ranges | None = None) -> Rows:
        """Return the scores in some ranges (all: None)."""
        if ranges is None:
            return Rows(self.scores, self.pos, self.neg, self.total)
        index = inside(self.scores, ranges)
        return Rows(self.scores[index], self.pos[index], self.neg[index], int(self.counts[index].sum()))

    def histogram(self, ranges: Ranges, buckets: Buckets) -> Histogram:
        """Count the scores in some ranges into buckets."""
        index = inside(self.scores, ranges)
        scores = self.scores[index]
        place = np.empty(len(scores), np.int32)
        buckets.place(scores, np.empty_like(scores), place, -np.inf, np.inf)
        place >>= 1
        first = np.flatnonzero(np.append(True, place[1:] != place[:-1])[: len(place)])
        filled = place[first]
        return Histogram(
            pos=_reduced(self.pos[index], first),
            neg=_reduced(self.neg[index], first),
            rows=np.add.reduceat(self.counts[index], first) if len(first) else self.counts[:0],
            span=lambda chosen: buckets.span(filled[chosen].astype(np.intp)),
        )

    @classmethod
    def merged(cls, parts: Sequence[Distinct]) -> Distinct:
        """Return the scores of all parts, those that are in several once."""
        if len(parts) == 1:
            return parts[0]
        scores = np.concatenate([part.scores for part in parts])
        order = np.argsort(scores, kind="stable")  # ascending runs are merged
        scores = scores[order]
        first = np.flatnonzero(np.append(True, scores[1:] != scores[:-1])[: len(scores)])
        counts = [part.weighed for part in parts if part.weighed is not None]
        weighed = None
        if len(counts) == len(parts) and len(first):
            weighed = np.add.reduceat(np.concatenate(counts)[order], first)
        pos, neg = (
            Masses(np.concatenate([side.limbs for side in sides], axis=1), sides[0].unit)[order]
            for sides in ([part.pos for part in parts], [part.neg for part in parts])
        )
        total = sum(part.total for part in parts)
        return cls(scores[first], _reduced(pos, first), _reduced(neg, first), total, weighed)


def _reduced(masses: Masses, first: NDArray[np.intp]) -> Masses:
    """Add up runs of masses; `first` has the start of each."""
    if len(first) == 0:
        return masses
    return Masses.carrying(np.add.reduceat(masses.limbs, first, axis=1), masses.unit)


def distinct(block: Block, unit: Unit) -> Distinct:
    """Sort rows and add up the masses of equal scores."""
    scores, readings = block.scores, block.readings
    if len(readings) == 1 and readings[0][1] is None:
        return _distinct_unweighted(scores, readings[0][0], unit)
    apart, pairs, unit = _lumped(block, unit)
    edges, pairs, begins = _ranked(apart, pairs, block.low, block.high)
    first = np.arange(len(pairs)) if begins is None else np.flatnonzero(begins)
    found, counts = edges[1:-1][first], np.diff(first, append=len(pairs))
    if apart is not scores:
        counts[np.searchsorted(found, apart[-1])] += len(scores) - len(pairs)
    pos, neg = unit.masses_of_runs(pairs, first)
    return Distinct(found, pos, neg, len(scores), counts)


def _lumped(block: Block, unit: Unit) -> tuple[Scores, NDArray[np.complex128], Unit]:
    """Return scores and the masses of both sides; if most rows have one score, these rows are added up.

    Exactly: in their place come the few floats that their sums are made of, as the last rows. They are
    longer than weights are, so the unit is told. All other rows take less time to sort.
    """
    scores = block.scores
    fewest = BLOCK_ROWS if block.low == block.high else LUMP  # one score takes no sort, only much memory
    common = Sample(scores).commonest(0.5) if len(scores) >= fewest else None
    apart = None if common is None else scores != common
    if apart is None or 2 * np.count_nonzero(apart) > len(scores):
        return scores, _pairs(block), unit
    pos = neg = 0
    rest = []
    for part, away in _in_blocks(block, apart):
        (others,) = away.nonzero()
        rest.append(part.part(others))
        for sides, weights in cast("list[tuple[Sides, Scores]]", part.readings):
            lump = weights.astype(np.float64)
            lump[others] = 0
            sums = unit.sums_of_sides(lump, np.full(len(lump), sides) if isinstance(sides, int) else sides)
            pos, neg = pos + sums[0], neg + sums[1]
    fewer = rest[0] if len(rest) == 1 else joined(rest)
    lumps = [*zip_longest(unit.floats_of(pos), unit.floats_of(neg), fillvalue=0.0)] or [(0.0, 0.0)]
    pairs, found = _pairs(fewer, len(lumps)), np.empty(len(fewer.scores) + len(lumps), dtype=scores.dtype)
    found[: -len(lumps)], found[-len(lumps) :] = fewer.scores, common
    for i, both in enumerate(lumps, len(fewer.scores)):
        pairs[i] = complex(*both)
    return found, pairs, replace(unit, bits=unit.most_bits + len(scores).bit_length())


def _in_blocks(block: Block, apart: NDArray[np.bool_]) -> Iterator[tuple[Block, NDArray[np.bool_]]]:
    """Cut rows into blocks that stay in the processor's cache."""
    if len(apart) <= BLOCK_ROWS:
        yield block, apart
        return
    for start in range(0, len(apart), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        yield block.part(part), apart[part]


def _pairs(block: Block, more: int = 0) -> NDArray[np.complex128]:
    """Return the masses of both sides, with room for some more."""
    every = np.empty(len(block.scores) + more, dtype=np.complex128)
    pairs = every[: len(block.scores)]
    if len(block.readings) > 1:  # positives and negatives have a column each
        pairs.real, pairs.imag = (heavy for _, heavy in block.readings)  # type: ignore[assignment]
    else:
        sides, weights = cast("tuple[NDArray[np.uint8], Scores]", block.readings[0])
        np.multiply(weights, sides, out=pairs.real)
        np.subtract(weights, pairs.real, out=pairs.imag)
    return every


class _LateSummary(Summary):
    """The summary of rows with weights, whose masses are added up exactly when they are asked for."""

    def __init__(self, of: Weighed, rows: int, low: float, high: float) -> None:
        self.__dict__.update(rows=rows, unit=of.unit, low=low, high=high, _of=of)

    def __getattr__(self, name: str) -> Any:
        if name not in {"positives", "negatives"} or "_of" not in self.__dict__:
            raise AttributeError(name)
        positives, negatives = self.__dict__.pop("_of").total  # the rows can go
        self.__dict__.update(positives=positives, negatives=negatives)
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary, (self.rows, self.positives, self.negatives, self.unit, self.low, self.high)


class _Ranked(Rows):
    """Rows with weights as they were sorted; equal scores are told apart only when that is asked for."""

    _of: Weighed
    _edges: Scores
    _begins: NDArray[np.bool_] | None

    def __init__(self, of: Weighed, rows: int, edges: Scores, begins: NDArray[np.bool_] | None) -> None:
        pos, neg = Unsplit(of, "real"), Unsplit(of, "imag")
        self.__dict__.update(pos=pos, neg=neg, rows=rows, _of=of, _edges=edges, _begins=begins)

    @cached_property
    def scores(self) -> Scores:
        """The distinct scores."""
        ranked = self._edges[1:-1]
        return ranked if self._begins is None else ranked[self._of.first]

    @property
    def edges(self) -> tuple[Scores, NDArray[np.bool_] | None]:
        """The scores of what is added up, see `Weighed`."""
        return super().edges if self._of.by_score else (self._edges[::-1], self._begins)


def weighed(block: Block, unit: Unit) -> tuple[Summary, Rows]:
    """Sort rows with weights, and return their summary too: sums are made exact only where need be."""
    scores, pairs, unit = _lumped(block, unit)
    edges, pairs, begins = _ranked(scores, pairs, block.low, block.high)
    both = Weighed(pairs, unit, begins, either=len(block.readings) == 1 and scores is block.scores)
    rows = len(block.scores)
    return _LateSummary(both, rows, float(block.low), float(block.high)), _Ranked(both, rows, edges, begins)


def _ranked(
    scores: Scores, pairs: NDArray[np.complex128], low: Any, high: Any
) -> tuple[Scores, NDArray[np.complex128], NDArray[np.bool_] | None]:
    """Return scores in order, `framed`, their masses in that order, and where each score starts.

    None for the last where all scores are distinct.
    """
    if low == high:  # one score: there is nothing to sort
        begins = np.zeros(len(pairs), dtype=np.bool_)
        begins[0] = True
        edges = framed(scores)
        edges += 0
        return edges, pairs, None if len(pairs) == 1 else begins
    order, edges, found = in_order(scores, low, high)
    ranked = np.ascontiguousarray(pairs[order]) if isinstance(order, slice) else pairs.take(order)
    return edges, ranked, found


def _distinct_unweighted(scores: Scores, sides: Any, unit: Unit) -> Distinct:
    """Count equal scores, in order."""
    ranked, labels = as_they_are(scores, sides) or _sorted_with_labels(scores, sides)
    ends = np.ones(len(ranked), dtype=np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=ends[:-1])
    if np.count_nonzero(ends) == len(ends):
        pos = labels.astype(np.int64, copy=False)
        neg = 1 - pos
    else:
        (last,) = ends.nonzero()
        ranked = ranked[last]
        pos = _steps(np.add.accumulate(labels, dtype=np.int64)[last])
        neg = _steps(last + 1)
        neg -= pos
    return Distinct(ranked, Masses(pos[None, :], unit), Masses(neg[None, :], unit), len(scores))


def _sorted_with_labels(scores: Scores, sides: Any) -> tuple[Scores, Any]:
    """Sort scores with their labels in the lowest bit, as integers.

    A plain sort of integers is several times faster than argsort, and takes no more memory than
    the keys. The keys have that one bit to spare unless the scores are large and of both signs.
    """
    ordinals = ordered(scores)
    lowest = int(np.minimum.reduce(ordinals, initial=0))
    if lowest < 0 and (int(ordinals.max()) - lowest).bit_length() >= 8 * ordinals.itemsize:
        if len(scores) >= FEW:
            return in_order_by_class(scores, sides)
        order, edges, _ = in_order(scores, -np.inf, np.inf)
        return edges[1:-1], sides[order]
    if lowest < 0:
        ordinals -= lowest
    keys: Any = ordinals.view(np.uint64 if ordinals.itemsize == 8 else np.uint32)
    keys <<= 1
    keys |= sides
    keys.sort()
    labels = (keys & 1).view(ordinals.dtype)
    keys >>= 1
    if lowest < 0:
        ordinals += lowest
    return unordered(ordinals), labels


def _steps(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what running sums were made of."""
    steps = sums.copy()
    steps[1:] -= sums[:-1]
    return steps

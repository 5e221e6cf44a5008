"""Scores where low means positive: the same rows with the sign of every score turned.

All else keeps its one rule, *positive if score >= threshold*; the score is then ``-score``.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._kernel.tables import Histogram, Ranges, Rows, Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.source import Source


class Negated:
    """A source that answers the three questions about ``-score``; floats are negated without rounding."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.direct_rows = source.direct_rows
        self.rows_limit = source.rows_limit

    @property
    def passes(self) -> int:
        """How often the whole data were read so far."""
        return self._source.passes

    def summary(self) -> Summary:
        """Return rows, totals and the range of the negated scores."""
        found = self._source.summary()
        return replace(found, low=0.0 - found.high, high=0.0 - found.low)

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count rows into buckets, in ascending order of the negated scores."""
        found = self._source.histogram(_turned(ranges))
        last = len(found.rows) - 1

        def span(index: NDArray[np.intp]) -> Ranges:
            low, high = found.span(last - index)
            return Ranges(0 - high, 0 - low)

        return replace(found, **_backwards(found), span=span, shares=False)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Return the distinct negated scores."""
        found = self._source.rows(_turned(ranges))
        return replace(found, **{**_backwards(found), "scores": 0 - found.scores[::-1]})


def _turned(ranges: Ranges | None) -> Ranges | None:
    return None if ranges is None else Ranges(0 - ranges.high[::-1], 0 - ranges.low[::-1])


def _backwards(found: Histogram | Rows) -> dict[str, Any]:
    """Return all arrays of an answer in the opposite order."""
    parts = {field.name: getattr(found, field.name) for field in fields(found)}
    turned = {name: part[::-1] for name, part in parts.items() if isinstance(part, np.ndarray)}
    return turned | {"columns": tuple(column[::-1] for column in found.columns)}

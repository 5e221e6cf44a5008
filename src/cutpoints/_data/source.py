"""The three questions: all that a search may ask of the data.

`summary`, `histogram`, `rows`. A source answers them for arrays in memory, for files or for a
cluster; a search never knows which. A new engine is one file with these three methods.

Where low scores mean positive, `Negated` turns the sign of every score. All else keeps its one rule,
*positive if score >= threshold*; the score is then ``-score``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from cutpoints._kernel.tables import Ranges, Rows

if TYPE_CHECKING:
    from cutpoints._kernel.tables import Histogram, Summary


class Source(Protocol):
    """What a search needs."""

    @property
    def passes(self) -> int:
        """How often the whole data were read so far."""

    @property
    def direct_rows(self) -> int:
        """Up to this many rows, all or those that are left, are compared one by one rather than binned."""

    @property
    def rows_limit(self) -> int:
        """Up to this many rows fit in memory: a search may ask for them where binning does not help."""

    def summary(self) -> Summary:
        """Return rows, totals and the range of scores; raise for bad data, saying what and where."""

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count the rows of these ranges (all: None) into a few thousand buckets."""

    def rows(self, ranges: Ranges | None) -> Rows:
        """Return the distinct scores of these ranges (all: None)."""


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
        found = self._source.histogram(_turned(ranges)).at(slice(None, None, -1))
        return replace(found, low=0 - found.high, high=0 - found.low, shares=False)

    def rows(self, ranges: Ranges | None) -> Rows:
        """Return the distinct negated scores."""
        found = self._source.rows(_turned(ranges))
        pos, neg, *columns = (side[::-1] for side in (found.pos, found.neg, *found.columns))
        return Rows(0 - found.scores[::-1], pos, neg, found.rows, tuple(columns))


def _turned(ranges: Ranges | None) -> Ranges | None:
    return None if ranges is None else Ranges(0 - ranges.high[::-1], 0 - ranges.low[::-1])

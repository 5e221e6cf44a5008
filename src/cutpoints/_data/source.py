"""The three questions: all that a search may ask of the data.

`summary`, `histogram`, `rows`. A source answers them for arrays in memory, for files or for a
cluster; a search never knows which. A new engine is one file with these three methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from cutpoints._kernel.tables import Histogram, Ranges, Rows, Summary


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

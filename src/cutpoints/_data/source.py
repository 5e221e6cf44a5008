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

    passes: int
    """How often the whole data were read so far."""
    few: int
    """So few rows are looked at one by one rather than counted again."""
    holds: int
    """For so many rows a search may ask even where another count could leave fewer of them."""

    def summary(self) -> Summary:
        """Return rows, masses and the range of scores; raise for bad data, saying what and where."""

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count the rows of these ranges (all: None) into a few thousand buckets."""

    def rows(self, ranges: Ranges | None) -> Rows:
        """Return the distinct scores of these ranges (all: None)."""

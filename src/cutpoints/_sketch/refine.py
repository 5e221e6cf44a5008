"""The second look: a sketch answers what it can, the data answer the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._kernel.tables import Histogram, Ranges, Rows, Summary
from cutpoints._result import show
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from cutpoints._data.source import Source
    from cutpoints._kernel.masses import Masses
    from cutpoints._kernel.mergeable_histogram import Cells


class Refined:
    """A source whose first two answers come from a sketch. What the data say is checked against it."""

    def __init__(self, counts: Cells, data: Source) -> None:
        self.counts, self.data = counts, data
        self.few, self.holds = data.few, data.holds
        self.passes = data.passes
        self._summary: Summary | None = None

    def summary(self) -> Summary:
        """Return what the sketch knows; the data must agree."""
        if self._summary is None:
            self._summary = self.counts.summary()
            self._compare(self._summary, self.data.summary())
            self.passes = self.data.passes
        return self._summary

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count all rows from the sketch, and some from the data."""
        if ranges is None:
            return self.counts.histogram()
        found = self.data.histogram(self._as_data(ranges))
        self.passes = self.data.passes
        self._check(ranges, int(found.rows.sum()), found.pos, found.neg)
        unit = self.counts.unit
        return replace(found, pos=found.pos.to(unit), neg=found.neg.to(unit))

    def rows(self, ranges: Ranges | None) -> Rows:
        """Return rows of the data."""
        found = self.data.rows(None if ranges is None else self._as_data(ranges))
        self.passes = self.data.passes
        if ranges is not None:
            self._check(ranges, found.rows, found.pos, found.neg)
        unit = self.counts.unit
        return Rows(found.scores, found.pos.to(unit), found.neg.to(unit), found.rows)

    def _as_data(self, ranges: Ranges) -> Ranges:
        """Return the ranges as the data's floats: their ends are scores of the data, so nothing is lost."""
        dtype = getattr(getattr(self.data, "scores", None), "dtype", np.dtype(np.float64))
        return Ranges(ranges.low.astype(dtype), ranges.high.astype(dtype))

    @staticmethod
    def _compare(mine: Summary, found: Summary) -> None:
        facts = (
            ("Rows", mine.rows, found.rows),
            ("Positives", mine.totals[0], found.totals[0]),
            ("Negatives", mine.totals[1], found.totals[1]),
            ("Lowest score", mine.low, found.low),
            ("Highest score", mine.high, found.high),
        )
        for what, sketched, there in facts:
            if sketched != there:
                shown = (show(x if isinstance(x, int | float) else float(x)) for x in (sketched, there))
                raise InvalidInputError.not_sketched(what=what, sketched=next(shown), found=next(shown))

    def _check(self, ranges: Ranges, rows: int, pos: Masses, neg: Masses) -> None:
        """Raise unless the data have in whole buckets what the sketch has there."""
        start = np.searchsorted(self.counts.low, ranges.low)
        stop = np.searchsorted(self.counts.high, ranges.high)
        n = len(self.counts.numbers)
        whole = (start < n) & (stop < n)
        start, stop = np.minimum(start, n - 1), np.minimum(stop, n - 1)
        whole &= (self.counts.low[start] == ranges.low) & (self.counts.high[stop] == ranges.high)
        if not whole.all():
            return  # parts of buckets, of which the sketch knows nothing; the buckets were checked before
        inside = np.zeros(n + 1, np.int64)
        np.add.at(inside, start, 1)
        np.add.at(inside, stop + 1, -1)
        picked = np.flatnonzero(np.cumsum(inside[:-1]))
        unit = self.counts.unit
        facts = (
            ("Rows near the optimum", int(self.counts.rows[picked].sum()), rows),
            ("Positives near the optimum", self.counts.pos[picked].total(), pos.to(unit).total()),
            ("Negatives near the optimum", self.counts.neg[picked].total(), neg.to(unit).total()),
        )
        for what, sketched, found in facts:
            if sketched != found:
                raise InvalidInputError.not_sketched(
                    what=what,
                    sketched=show(sketched if "Rows" in what else unit.number(sketched)),
                    found=show(found if "Rows" in what else unit.number(found)),
                )

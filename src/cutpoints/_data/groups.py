"""Groups of rows that a query sent back, on their way to buckets and to distinct scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutpoints.exceptions import InvalidInputError

Column = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Groups:
    """The lowest and the highest score of each group, its rows, and the sums of the two sides."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    rows: NDArray[np.int64]
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]
    added: tuple[NDArray[np.int64], ...] = ()
    """Sums of columns, see `tables.ColumnSums`."""

    @classmethod
    def of(cls, low: Column, high: Column, rows: Column, pos: Column, neg: Column, *added: Column) -> Groups:
        """Take columns in the order of `columns`."""
        return cls(low, high, rows, pos, neg, added)

    @classmethod
    def together(cls, parts: list[Groups]) -> Groups:
        """Return the groups of several queries."""
        return cls.of(*map(np.concatenate, zip(*(part.columns for part in parts), strict=True)))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All of it."""
        return self.low, self.high, self.rows, self.pos, self.neg, *self.added

    def at(self, index: Any) -> Groups:
        """Return some of the groups."""
        return Groups.of(*(column[index] for column in self.columns))

    def joined(self) -> Groups:
        """Sort by score, and make one group of those that overlap or touch.

        So all rows of the data with scores between the ends of a group are in it, whichever way an
        engine rounded when it dealt them out. -0.0 and 0.0 touch.
        """
        ordered = self.at(np.argsort(self.low, kind="stable"))
        if len(ordered.low) == 0:
            return ordered
        reach = np.maximum.accumulate(ordered.high)
        return ordered.merged(np.flatnonzero(np.append(True, ordered.low[1:] > reach[:-1])))

    def merged(self, first: NDArray[np.intp]) -> Groups:
        """Make one group of those from each of these positions to the next; they are in order."""
        return Groups.of(
            self.low[first],
            np.maximum.reduceat(self.high, first),
            *(np.add.reduceat(column, first) for column in self.columns[2:]),
        )

    def refuse_changed(self, now: Groups) -> None:
        """Raise unless a later count of the same ranges found the same rows and sums.

        Groups of the later count may reach over several of these: ends that they cross are not compared.
        """
        until = np.searchsorted(now.high, self.high, side="right")
        clear = (until == len(now.low)) | (np.append(now.low, np.inf)[until] > self.high)
        for before, after in zip(self.columns[2:], now.columns[2:], strict=True):
            running = np.append(0, np.cumsum(after))[until]
            if (np.cumsum(before) != running)[clear].any() or before.sum() != after.sum():
                raise InvalidInputError.changed(expected=int(self.rows.sum()), found=int(now.rows.sum()))

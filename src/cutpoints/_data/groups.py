"""Groups of rows that a query sent back, on their way to buckets and to distinct scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Groups:
    """The lowest and the highest score of each group, its rows, and the masses of the two sides.

    Masses are limbs of integers, a row each.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    rows: NDArray[np.int64]
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]

    @classmethod
    def together(cls, parts: list[Groups]) -> Groups:
        """Return the groups of several queries."""
        columns = zip(*(part.columns for part in parts), strict=True)
        return cls(*(np.concatenate(column, axis=-1) for column in columns))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All of it, the last axis being that of the groups."""
        return self.low, self.high, self.rows, self.pos, self.neg

    def at(self, index: Any) -> Groups:
        """Return some of the groups."""
        return Groups(*(column[..., index] for column in self.columns))

    def joined(self) -> Groups:
        """Sort by score, and make one group of those that overlap or touch.

        So all rows of the data with scores between the ends of a group are in it, whichever way an
        engine rounded when it dealt them out. -0.0 and 0.0 touch.
        """
        ordered = self.at(np.argsort(self.low, kind="stable"))
        if len(ordered.low) == 0:
            return ordered
        reach = np.maximum.accumulate(ordered.high)
        first = np.flatnonzero(np.append(True, ordered.low[1:] > reach[:-1]))
        return Groups(
            ordered.low[first],
            np.maximum.reduceat(ordered.high, first),
            *(np.add.reduceat(column, first, axis=-1) for column in ordered.columns[2:]),
        )

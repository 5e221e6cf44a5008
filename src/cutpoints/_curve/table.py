"""Columns of numbers that print as text and convert to frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutpoints._equality import compared_by_value
from cutpoints._format import count, html_table, shortest_inside, text_table
from cutpoints._shown import to_frame

_HALF = 10


@compared_by_value
class Table(Mapping[str, NDArray[Any]]):
    """Columns of equal length by name; prints as text, converts to a frame.

    With `below`, the lower ends of their intervals, thresholds print as the shortest decimals that make
    the same decisions.
    """

    def __init__(self, columns: dict[str, NDArray[Any]], below: NDArray[Any] | None = None) -> None:
        self._columns = columns
        self._below = below

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_pandas(self) -> Any:
        """Return a pandas data frame."""
        return to_frame(self._columns, "pandas")

    def to_polars(self) -> Any:
        """Return a polars data frame."""
        return to_frame(self._columns, "polars")

    def __str__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())

    def _shown(self) -> tuple[list[list[str]], list[int]]:
        """Return the first and the last rows as text, and which columns are texts."""
        rows = len(next(iter(self._columns.values())))
        shown = (
            list(range(rows)) if rows <= 2 * _HALF + 1 else [*range(_HALF), -1, *range(rows - _HALF, rows)]
        )
        lines = [list(self._columns)]
        lines += [["..." if i < 0 else self._cell(name, i) for name in self._columns] for i in shown]
        return lines, [i for i, x in enumerate(self._columns.values()) if x.dtype.kind in "UO"]

    __repr__ = __str__

    def _cell(self, name: str, row: int) -> str:
        value = self._columns[name][row]
        if name == "threshold" and self._below is not None and not np.isnan(value):
            return shortest_inside(float(self._below[row]), float(value))
        if isinstance(value, str):
            return value
        if isinstance(value, np.integer):
            return f"{value:,}"
        if np.isnan(value):
            return "-"
        text = f"{float(value):.6}"
        return count(float(value)) if "e" in text else text

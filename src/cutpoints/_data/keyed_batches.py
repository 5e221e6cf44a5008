"""Batches with the keys of segments: what a stream of rows needs to be searched by segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data import progress
from cutpoints._data.array_input import as_floats
from cutpoints._data.faults import refuse
from cutpoints._kernel.histogram import Block
from cutpoints._kernel.masses import BLOCK_ROWS
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cutpoints._data.labels import Counts
    from cutpoints._data.segment_codes import Column
    from cutpoints._data.streaming import BatchSource


class KeyedBatches:
    """The rows of a source in batches, with columns of keys."""

    def __init__(self, source: BatchSource, keys: Sequence[str]) -> None:
        self._source, self._keys = source, list(keys)
        self.passes = source.passes  # what it took to open the data counts too
        for name in keys:
            source.reader.need(name)

    def read(self, near: tuple[float, float] | None = None) -> Iterator[tuple[list[Column], Block]]:
        """Make a pass; the first one checks every row, and raises for what arrays are refused for."""
        self.passes += 1
        source, reader = self._source, self._source.reader
        own = len(reader.columns.all)
        counts: list[Counts] = []
        others: set[Any] = set()
        rows = 0
        observer = progress.observer()
        batches = reader.batches(near, self._keys)
        try:
            for batch in batches:
                rows += len(batch[0])
                if observer is not None:
                    observer(progress.Progress(self.passes, rows, None))
                for start in range(0, len(batch[0]), BLOCK_ROWS):
                    part = slice(start, start + BLOCK_ROWS)
                    columns = [column[part] for column in batch[:own]]
                    scores = as_floats(columns[0], reader.columns.score)
                    readings, labels, more, fine = source.check(columns)
                    if not fine or np.isnan(scores.min()):
                        batches.close()  # the engine may have one open query at a time
                        refuse(reader, source.pos_label)
                    others |= more
                    if labels is not None:
                        counts.append(labels)
                    yield [_part(column, part) for column in batch[own:]], Block(scores, readings)
        finally:
            batches.close()
        if near is None:
            if rows == 0:
                raise InvalidInputError.empty(name=reader.columns.score)
            if not source._two_labels(counts, others):  # noqa: SLF001
                refuse(reader, source.pos_label)


def _part(column: Any, part: slice) -> Column:
    return (column[0][part], column[1]) if isinstance(column, tuple) else column[part]

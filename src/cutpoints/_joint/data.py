"""Rows in segments -> the cuts of all segments, on one grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._data import segment_keys
from cutpoints._data.segment_codes import in_order
from cutpoints._data.segments import Grouped
from cutpoints._kernel.segment_cuts import SegmentCuts
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cutpoints._data.data import Data
    from cutpoints._data.groupby_segments import FrameSegments


class SegmentedRows(NamedTuple):
    """All cuts of all segments, keys ascending, and what tells the segments apart."""

    cuts: SegmentCuts
    keys: list[Any]
    by: tuple[str, ...]
    passes: int
    complete: bool = True
    """Whether all cuts are there, and not only those that a goal needs."""


def segmented(
    data: Data,
    by: Any,
    *,
    caller: str,
    narrow: Callable[[FrameSegments, Sequence[int]], SegmentCuts | None] | None = None,
) -> SegmentedRows:
    """Read the rows of segments.

    Rows that stay in their engine are grouped there by segment and score: only distinct scores with their
    sums come back. With `narrow`, of many rows only the cuts that it returns, unless that is None.
    """
    rows, names = segment_keys.read(data, by)
    order = in_order(rows.keys)
    keys = [parts[0] if len(parts) == 1 else parts for parts in (rows.keys[i] for i in order)]
    if isinstance(rows, Grouped):
        return SegmentedRows(rows.cuts(order), keys, names, 1)
    _check_unweighted(data, caller)
    found = narrow(rows, order) if narrow is not None and not rows.whole else None
    cuts = _streamed(rows, order) if found is None else found
    return SegmentedRows(cuts, keys, names, rows.passes, complete=found is None)


def _check_unweighted(data: Data, caller: str) -> None:
    if data.weighted or data.counted:
        raise InvalidParameterError(
            "weight" if data.weighted else "positives",
            caller=caller,
            expected="left out where the rows are not in memory: each segment has a grid of its own there",
            got=data.weight or data.positives,
            hint="collect the frame, or filter it to fewer rows.",
        )


def _streamed(rows: FrameSegments, order: list[int]) -> SegmentCuts:
    found: Any = rows.answer(dict.fromkeys(order), sum(map(rows.rows, order)), count=False)
    parts = [found[segment] for segment in order]
    codes = np.repeat(np.arange(len(order)), [len(part.scores) for part in parts])
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "pos", "neg"))
    scores, pos, neg = columns
    counts = np.array([rows.rows(segment) for segment in order], dtype=np.int64)
    return SegmentCuts.of(scores, codes, pos, neg, grid=rows.summary(order[0]).grid, rows=counts)

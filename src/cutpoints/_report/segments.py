"""What one threshold does in each segment, and which threshold is best for the segment by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data import segment_keys
from cutpoints._data.segments import Grouped
from cutpoints._find import solve
from cutpoints._format import json_number, shortest_inside
from cutpoints._kernel.weights import as_number as number
from cutpoints._report.summary import money
from cutpoints._search.run import decide
from cutpoints._search.sweep import all_cuts
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._data.arrays import ArraySource
    from cutpoints._data.data import Data
    from cutpoints._goal import Goal

SHOWN_SEGMENTS = 30
"""The segments with the most rows are shown: a longer table is for `find_by`."""


def by_segment(data: Data, by: Any, goal: Goal, thresholds: Sequence[float]) -> dict[str, Any]:
    """Return the counts of each segment at these thresholds, and its own best threshold.

    Raises
    ------
    InvalidParameterError
        The rows are not in memory: their segments are for `find_by`.
    """
    grouped, names = segment_keys.read(data, by)
    if not isinstance(grouped, Grouped):
        raise InvalidParameterError(
            "by",
            got=by,
            expected="left out for data that are larger than memory",
            hint="find_by() finds thresholds for the segments of such data.",
            caller="report",
        )
    order = sorted(range(len(grouped.keys)), key=lambda one: -grouped.rows(one))
    return {
        "by": list(names),
        "total": len(order),
        "segments": [
            {"name": " · ".join(map(_text, grouped.keys[one]))}
            | _entry(grouped.source(one), goal, np.asarray(thresholds, dtype=np.float64))
            for one in order[:SHOWN_SEGMENTS]
        ],
    }


def _entry(source: ArraySource, goal: Goal, thresholds: NDArray[np.float64]) -> dict[str, Any]:
    summary = source.summary()
    every = all_cuts(source)
    called = np.searchsorted(-every.thresholds.astype(np.float64), -thresholds, side="right") - 1
    positives, negatives = summary.totals
    entry: dict[str, Any] = {
        "rows": summary.rows,
        "positives": number(positives),
        "negatives": number(negatives),
        "tp": [summary.grid.number(x) for x in every.tp[called].tolist()],
        "fp": [summary.grid.number(x) for x in every.fp[called].tolist()],
        "money": money(every[called], goal),
        "threshold": None,
        "value": None,
    }
    try:
        found = solve(goal, lambda one: decide(every, one, "sweep", source.passes, summary.rows))
    except InvalidInputError:
        return entry  # the goal is undefined here: a segment of one class, say
    if found.interval is not None:
        entry["threshold"] = shortest_inside(found.interval.low, found.interval.high)
        entry["value"] = json_number(found.value)
    return entry


def _text(part: Any) -> str:
    """Write a part of a key for people."""
    return "(missing)" if part is None else str(part).encode("utf-8", "replace").decode("utf-8")

"""Count new scores into the buckets of a policy: exactly, and without holding them where avoidable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data import file_errors
from cutpoints._data.array_input import as_floats, refuse_nan
from cutpoints._data.data import Data
from cutpoints._data.read import is_path, read
from cutpoints._kernel.tables import DIRECT_ROWS, Ranges
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._data.files import Opened
    from cutpoints._data.source import Source
    from cutpoints._kernel.tables import Sums
    from cutpoints._policy.policy import Policy

_BLOCK = 1 << 17


def masses_above(source: Source, edges: Sequence[float]) -> list[tuple[Fraction, Fraction]]:
    """Return the exact masses (pos, neg) of the rows with a score of at least each ascending edge.

    By the three questions alone, so for every engine: a count into the source's own buckets, and
    the rows of those buckets that have an edge inside, a few per cent of all.
    """
    summary = source.summary()
    wanted = np.asarray(edges, dtype=np.float64)
    if summary.rows <= DIRECT_ROWS:
        rows = source.rows(None)
        index = np.searchsorted(rows.scores.astype(np.float64), wanted)
        parts = [_from(side)[index] for side in (rows.pos, rows.neg)]
    else:
        table = source.histogram(None)
        span = table.span(np.arange(len(table.rows), dtype=np.intp))
        low, high = (end.astype(np.float64) for end in span)
        bucket = np.searchsorted(low, wanted)
        inside = np.flatnonzero((bucket > 0) & (wanted <= high[np.maximum(bucket - 1, 0)]))
        parts = [_from(side)[bucket] for side in (table.pos, table.neg)]
        if len(inside):
            split = np.unique(bucket[inside] - 1)
            rows = source.rows(Ranges(span.low[split], span.high[split]))
            scores = rows.scores.astype(np.float64)
            start = np.searchsorted(scores, wanted[inside])
            stop = np.searchsorted(scores, high[bucket[inside] - 1], side="right")
            for part, side in zip(parts, (rows.pos, rows.neg), strict=True):
                sums = _from(side)
                part[inside] += sums[start] - sums[stop]
    step = summary.grid.step
    pos, neg = ([total * step for total in part.tolist()] for part in parts)
    return list(zip(pos, neg, strict=True))


def _from(sums: Sums) -> Sums:
    """Return the sum of each element and all after it, and a zero at the end."""
    return np.append(np.cumsum(sums[::-1])[::-1], 0)


# --- scores without labels


def rows_between(policy: Policy, data: Any, score: str | None, edges: Sequence[float]) -> NDArray[np.int64]:
    """Return how many scores lie below the first edge, between each two, and from the last one on."""
    if is_path(data) or isinstance(data, Data):
        found = data if isinstance(data, Data) else read(data)
        name = score or next(iter(found.scores), None) or policy.column(None, "check")
        if found.opened is not None:
            return _in_files(policy, found.opened, name, edges)
        data, score = found.columns([name])[name], None
    scores, name = _scores(policy, data, score)
    if len(scores) == 0:
        raise InvalidInputError.empty(name=name)
    refuse_nan(scores, name)
    wanted = np.asarray(edges, dtype=np.float64)
    counts = np.zeros(len(wanted) + 1, dtype=np.int64)
    for start in range(0, len(scores), _BLOCK):
        place = np.searchsorted(wanted, scores[start : start + _BLOCK].astype(np.float64), side="right")
        counts += np.bincount(place, minlength=len(counts))
    return counts


def _scores(policy: Policy, data: Any, score: str | None) -> tuple[NDArray[Any], str]:
    """Return the scores of an array, or the column of a frame; of a lazy frame this column is collected."""
    if not isinstance(data, np.ndarray | list | tuple):
        import narwhals as nw

        native = nw.from_native(data, allow_series=True, pass_through=True)
        if isinstance(native, nw.DataFrame | nw.LazyFrame):
            name = policy.column(score, "check")
            names = list(native.collect_schema())
            if name not in names:
                raise file_errors.column(name=name, path="the data frame", columns=names)
            picked = native.select(nw.col(name))
            eager = picked.collect() if isinstance(picked, nw.LazyFrame) else picked
            return as_floats(eager[name].to_numpy(), name, "check"), name
    return as_floats(data, "y_score", "check"), "y_score"


def _in_files(policy: Policy, opened: Opened, name: str, edges: Sequence[float]) -> NDArray[np.int64]:
    """Count in one streamed query; nothing of the files is held in memory."""
    from cutpoints._policy.files import check_scores, scored, told

    with opened.reading(), told(opened.files):
        table = scored(opened.table.relation, name, opened.table.column(name), policy.dtype)
        check_scores(table, name, "error", refused=InvalidInputError.nan)
        counted = (
            table.relation.project(f"{table.score} AS s")
            .project(f"{_bucket(list(edges), 0, len(edges))} AS b")
            .aggregate("b, count(*)", "b")
            .fetchall()
        )
    counts = np.zeros(len(edges) + 1, dtype=np.int64)
    for bucket, rows in counted:
        counts[bucket] = rows
    if not counts.sum():
        raise opened.empty(name)
    return counts


def _bucket(edges: list[float], start: int, stop: int) -> str:
    """Return a binary search for the bucket as nested SQL: seven comparisons for a hundred edges."""
    from cutpoints._policy.sql import condition

    if start == stop:
        return str(start)
    middle = (start + stop) // 2
    above, below = _bucket(edges, middle + 1, stop), _bucket(edges, start, middle)
    return f"CASE WHEN {condition(edges[middle], 's', 'duckdb')} THEN {above} ELSE {below} END"

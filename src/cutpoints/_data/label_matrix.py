"""Two matrices, labels and scores, with a column for each label -> the cuts of each label.

Sparse matrices stay sparse: all rows of a column that are not stored have the score 0, and are counted at
once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._data.array_input import as_weights, refuse_nan, same_index
from cutpoints._kernel.segment_cuts import SegmentCuts
from cutpoints._kernel.weights import FixedPoint
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class LabelRows(NamedTuple):
    """The rows of all labels, some counted together: score, label by number, and sums of both classes."""

    scores: NDArray[np.floating[Any]]
    label: NDArray[np.int64]
    pos: NDArray[np.int64]
    neg: NDArray[np.int64]
    rows: int
    """Rows of each label."""
    grid: FixedPoint
    names: list[Any]

    def cuts(self, segment: NDArray[np.int64] | None = None) -> SegmentCuts:
        """Return the cuts of each label, or of each group of labels."""
        groups = np.arange(len(self.names)) if segment is None else segment
        rows = np.bincount(groups) * self.rows
        return SegmentCuts.of(
            self.scores, groups[self.label], self.pos, self.neg, grid=self.grid, rows=rows.astype(np.int64)
        )


def read_label_matrix(y_true: Any, y_score: Any, sample_weight: Any, *, caller: str) -> LabelRows:
    """Read dense or sparse matrices, or data frames with one column per label."""
    same_index({"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight})
    truth, names = _matrix(y_true, "y_true", caller)
    scores, own = _matrix(y_score, "y_score", caller)
    if truth.shape != scores.shape:
        raise InvalidParameterError(
            "y_score",
            caller=caller,
            expected=f"of the shape of y_true, {truth.shape}",
            got=f"shape {scores.shape}",
        )
    if names is not None and own is not None and names != own:
        raise InvalidParameterError(
            "y_score", caller=caller, expected="with the columns of y_true, in their order", got=own
        )
    rows, labels = truth.shape
    if rows == 0 or labels == 0:
        raise InvalidInputError.empty(name="y_true")
    weights, grid = None, FixedPoint()
    if sample_weight is not None:
        given = as_weights(sample_weight, "sample_weight")
        if len(given) != rows:
            raise InvalidInputError.length(names_and_lengths={"y_true": rows, "sample_weight": len(given)})
        grid = FixedPoint.fitting(largest=float(given.max(initial=0.0)), rows=rows * labels)
        weights = grid.encode(given)
    parts = list(_columns(truth, scores, weights, caller))
    column = np.repeat(np.arange(labels), [len(part[0]) for part in parts])
    found = [np.concatenate(side) for side in zip(*parts, strict=True)]
    refuse_nan(found[0], "y_score")
    keys = names or own or list(range(labels))
    return LabelRows(found[0], column, found[1], found[2], rows, grid, keys)


def _matrix(given: Any, name: str, caller: str) -> tuple[Any, list[Any] | None]:
    """Return a matrix, dense or by columns, and the names of its columns if it has any."""
    if hasattr(given, "tocsc"):
        return given.tocsc(), None
    names = list(given.columns) if hasattr(given, "columns") and hasattr(given, "to_numpy") else None
    array = np.asarray(given.to_numpy() if names is not None else given)
    if array.ndim != 2 or array.dtype.kind not in "biufO":
        raise InvalidParameterError(
            name,
            caller=caller,
            expected="a matrix of numbers with one column per label",
            got=f"shape {array.shape} of {array.dtype}",
            hint="for a long table pass its columns as label, score and by.",
        )
    if array.dtype.kind == "O":
        array = array.astype(np.float64)
    return array, names


def _columns(
    truth: Any, scores: Any, weights: NDArray[np.int64] | None, caller: str
) -> Iterator[tuple[Any, Any, Any]]:
    """Return scores and sums of both classes, label by label."""
    for j in range(truth.shape[1]):
        at, score = _entries(scores, j)
        hit, value = _entries(truth, j)
        if not np.isin(value, (0, 1)).all():
            others = np.unique(value[~np.isin(value, (0, 1))])
            raise InvalidParameterError(
                "y_true",
                caller=caller,
                expected="0 or 1 for each row and label",
                got=f"{others[0].item()!r} for label {j}",
                hint="pass y_true == the value that means true.",
            )
        hits = np.zeros(truth.shape[0], dtype=np.bool_)
        hits[hit] = value == 1
        each = np.ones(truth.shape[0], dtype=np.int64) if weights is None else weights
        pos, neg = np.where(hits, each, 0), np.where(hits, 0, each)
        if len(at) == truth.shape[0]:
            yield score, pos[at], neg[at]
            continue
        # All other rows have the score 0.
        rest = [int(side.sum()) - int(side[at].sum()) for side in (pos, neg)]
        yield np.append(score, 0.0), np.append(pos[at], rest[0]), np.append(neg[at], rest[1])


def _entries(matrix: Any, column: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the rows and the values that are stored in a column."""
    if isinstance(matrix, np.ndarray):
        values = matrix[:, column]
        wide = values if values.dtype.char in "fd" else values.astype(np.float64)
        return np.arange(len(values)), wide
    part = slice(matrix.indptr[column], matrix.indptr[column + 1])
    return matrix.indices[part], np.asarray(matrix.data[part], dtype=np.float64)

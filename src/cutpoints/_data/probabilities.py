"""Calibrated probabilities as a source: each row is p of a positive and 1 - p of a negative.

A probability is rounded once, to the grid of the weights (2**-36, or coarser from 6e7 rows on); what it
lacks of the row's weight is its negative part, so that both parts add up to the weight exactly.

Without weights the score is the slope of the curve of TP against rows, so the curve is concave, and a
search can exclude most rows by two tangents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_floats, as_weights, refuse_beyond, refuse_nan, same_length
from cutpoints._data.arrays import ArraySource, Stream
from cutpoints._kernel.weights import FixedPoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.tables import Histogram, Ranges, Scores


class _Part:
    """The positive or the negative part of the rows, on the grid, made when it is asked for."""

    def __init__(self, scores: Scores, weights: Scores | None, grid: FixedPoint, *, positive: bool) -> None:
        self._scores, self._weights, self._grid, self._positive = scores, weights, grid, positive

    def __len__(self) -> int:
        return len(self._scores)

    def __getitem__(self, part: Any) -> NDArray[np.float64]:
        p = self._scores[part].astype(np.float64)
        whole = np.ones(1) if self._weights is None else self._weights[part].astype(np.float64)
        pos = self._grid.round(p * whole)
        found = pos if self._positive else self._grid.round(whole) - pos
        return np.ldexp(found, self._grid.exponent)


class ProbabilitySource(ArraySource):
    """Rows that are p positive and 1 - p negative, times their weights. Answers the three questions."""

    def __init__(self, scores: Scores, weights: Scores | None = None, *, score_name: str = "y_prob") -> None:
        if not (scores.min(initial=0.0) >= 0 and scores.max(initial=0.0) <= 1):  # NaN too
            refuse_nan(scores, score_name)
            refuse_beyond(scores, score_name)
        largest = 1.0 if weights is None else float(weights.max(initial=0.0))
        self._weighted = weights is not None
        self._parts_grid = FixedPoint.fitting(largest=largest, rows=len(scores))
        streams = tuple(
            Stream(int(side), _Part(scores, weights, self._parts_grid, positive=side))  # type: ignore[arg-type]
            for side in (True, False)
        )
        super().__init__(scores, streams, score_name=score_name)

    @classmethod
    def of(
        cls,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        names: tuple[str, str | None] = ("y_prob", "sample_weight"),
    ) -> ProbabilitySource:
        """Take what users bring: probabilities, and weights if there are any, under these names."""
        name, weight = names[0], str(names[1])
        scores = as_floats(y_prob, name)
        weights = None if sample_weight is None else as_weights(sample_weight, weight)
        same_length({name: scores, weight: weights})
        return cls(scores, weights, score_name=name)

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count into bins, in which the score of unweighted rows is the share of positives."""
        return replace(super().histogram(ranges), shares=not self._weighted)

    def _grid(self) -> FixedPoint:
        return self._parts_grid

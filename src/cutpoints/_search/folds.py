"""Folds: each is judged by what the others choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Sums = NDArray[np.int64]

FOLDS = 5
"""Folds that rows are dealt out to."""


def deal(sums: Sums, rng: np.random.Generator, fold: NDArray[np.int64] | None) -> Iterator[Sums]:
    """Deal the rows at some places out: yield the sums of each fold.

    Rows of equal score and label are alike, so it is enough to draw how many of them each fold gets. Rows
    with weights are not: `fold` then says to which fold all rows of a place go.
    """
    if fold is not None:
        yield from (np.where(fold == k, sums, 0) for k in range(FOLDS))
        return
    for k in range(FOLDS, 1, -1):
        part = rng.binomial(sums, 1 / k)
        yield part
        sums = sums - part
    yield sums

"""Leakage, where it can be seen: rows that judge and have fitted or chosen what they judge."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints.exceptions import LeakageWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._evaluate.cross_validation import Splits

_SEPARATED = 30
"""From this many rows on, scores without a single mistake suggest that the model has seen the rows."""


def warn_if_shared(splits: Splits, groups: Any) -> None:
    """Warn if rows or groups are on both sides of a split."""
    known = None if groups is None else np.asarray(groups)
    for k, (train, test) in enumerate(splits):
        trained = np.zeros(max(train.max(), test.max()) + 1, dtype=np.bool_)
        trained[train] = True
        shared = int(trained[test].sum())
        what = "rows"
        if not shared and known is not None:
            shared, what = len(np.intersect1d(known[train], known[test])), "groups"
        if shared:
            warnings.warn(
                f"{shared:,} {what} are in the training part and in the test part of fold {k + 1}: the "
                "threshold and its value will look better than they are. Use a splitter that keeps them "
                "apart.",
                LeakageWarning,
                stacklevel=5,
            )
            return


def warn_if_seen(estimator: Any, X: Any) -> None:
    """Warn if a fitted estimator remembers the very rows that it now is to score."""
    remembered = getattr(estimator, "_fit_X", None)
    if getattr(remembered, "shape", None) != getattr(X, "shape", ()) or hasattr(remembered, "tocsr"):
        return
    if np.array_equal(np.asarray(remembered), np.asarray(X)):
        warnings.warn(
            "The estimator was fitted on these very rows. With cv='prefit', pass rows that it has not seen.",
            LeakageWarning,
            stacklevel=4,
        )


def warn_if_separated(labels: NDArray[Any], scores: NDArray[Any]) -> None:
    """Warn if a fitted estimator makes no mistake on the rows that are to choose its threshold."""
    positive = labels == 1
    if len(labels) < _SEPARATED or positive.all() or not positive.any():
        return
    if scores[positive].min() > scores[~positive].max():
        warnings.warn(
            f"The scores separate all {len(labels):,} rows without a mistake, as they do when the estimator "
            "was fitted on these rows. With cv='prefit', pass rows that it has not seen.",
            LeakageWarning,
            stacklevel=4,
        )

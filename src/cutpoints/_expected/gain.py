"""The expected gain of calling a row positive, as a score: where costs differ from row to row.

Two rows of the same probability need not be equally worth a call: a doubtful payment of 5,000 is, one of
5 is not. Ranked by what a call gains on average, capacity goes where it earns most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.added_columns import as_values
from cutpoints._data.array_input import as_floats, refuse_beyond, refuse_nan, same_index, same_length

if TYPE_CHECKING:
    from numpy.typing import NDArray


def expected_gain(y_prob: Any, *, tp: Any = 0, fp: Any = 0, fn: Any = 0, tn: Any = 0) -> NDArray[np.float64]:
    """Return what calling each row positive gains on average, as a score for `find` and others.

    ``p * (tp - fn) + (1 - p) * (fp - tn)``, where `tp`, `fp`, `fn` and `tn` are what a row is worth in each
    cell. With calibrated probabilities, calling every row with a gain above 0 is best; `find` has the best
    threshold, with constraints such as capacity, if they are not.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    tp, fp, fn, tn : float or array-like of shape (n_samples,), default=0
        What a row earns as a hit, a false alarm, a miss and a negative left alone. What costs is negative:
        a miss that costs its amount is ``fn=-amount``.

    Examples
    --------
    >>> import cutpoints as cp
    >>> cp.expected_gain([0.5, 0.5, 0.125], fp=-4, fn=[-4, -16, -64]).tolist()
    [0.0, 6.0, 4.5]
    """
    p = as_floats(y_prob, "y_prob", "expected_gain").astype(np.float64, copy=False)
    refuse_nan(p, "y_prob")
    refuse_beyond(p, "y_prob")
    worth: dict[str, Any] = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    arrays = {name: value for name, value in worth.items() if np.ndim(value)}
    same_index({"y_prob": y_prob, **arrays})
    for name, value in worth.items():
        worth[name] = as_values(value if name in arrays else [value], name).astype(np.float64, copy=False)
    same_length({"y_prob": p, **{name: worth[name] for name in arrays}})
    return p * (worth["tp"] - worth["fn"]) + (1.0 - p) * (worth["fp"] - worth["tn"])

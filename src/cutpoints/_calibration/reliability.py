"""Reliability curves: what is predicted against what happens, in bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._calibration.inputs import labels_and_probabilities
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Strategy = Literal["uniform", "quantile", "isotonic"]
STRATEGIES = ("uniform", "quantile", "isotonic")


@dataclass(frozen=True)
class ReliabilityCurve:
    """The bins that have rows, in ascending order.

    Attributes
    ----------
    predicted, observed : array
        The mean probability and the share of positives of each bin.
    count : array
        How many rows each bin has.
    low, high : array
        The lowest and the highest probability in each bin.
    label, score : str, default=None
        Names of columns, where `y_true` is a frame or a path.
    strategy : {"uniform", "quantile", "isotonic"}
    n_bins : int
        As many as were asked for; for isotonic bins, as many as there are.
    """

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    count: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    strategy: Strategy
    n_bins: int

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean gap between predicted and observed, over rows.

        It depends on the bins: never compare two values with other bins, nor on other rows. It is
        biased upwards, more so with more bins.
        """
        return float(np.sum(self.count * np.abs(self.observed - self.predicted)) / self.count.sum())

    @property
    def bins(self) -> str:
        """The bins in words, without which an ECE means nothing: '10 uniform bins, 9 with rows'."""
        some = "" if len(self.count) == self.n_bins else f", {len(self.count)} with rows"
        return f"{self.n_bins} {self.strategy} {'bin' if self.n_bins == 1 else 'bins'}{some}"

    @property
    def max_error(self) -> float:
        """The largest gap of all bins."""
        return float(np.abs(self.observed - self.predicted).max())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        columns = ("low", "high", "count", "predicted", "observed")
        bins = zip(*(getattr(self, name).tolist() for name in columns), strict=True)
        return {
            "strategy": self.strategy,
            "n_bins": self.n_bins,
            "ece": self.ece,
            "max_error": self.max_error,
            "bins": [dict(zip(columns, values, strict=True)) for values in bins],
        }


def reliability_curve(
    y_true: Any,
    y_prob: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    strategy: Strategy = "uniform",
    n_bins: int = 10,
    pos_label: Any = None,
) -> ReliabilityCurve:
    """Return predicted against observed shares of positives.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame or path
        Labels. Or in place of `y_true` and `y_prob`, as for `find`, a data frame or files with names of
        columns; all rows are held in memory: files are read, lazy frames collected.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    strategy : {"uniform", "quantile", "isotonic"}, default="uniform"
        Bins of equal width (as in scikit-learn), of about equally many rows, or those of isotonic
        regression (CORP): as fine as the data support and no finer, with nothing to choose.
    n_bins : int, default=10
        How many bins; no meaning for isotonic ones.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; 1 by default.

    Examples
    --------
    >>> import cutpoints as cp
    >>> c = cp.reliability_curve([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.8], n_bins=2)
    >>> c.predicted, c.observed
    (array([0.2, 0.7]), array([0., 1.]))
    """
    columns = {"label": label, "score": score}
    y, p = labels_and_probabilities(
        y_true, y_prob, columns=columns, pos_label=pos_label, caller="reliability_curve"
    )
    return curve_of(y, p, strategy, n_bins, "reliability_curve")


def curve_of(
    y: NDArray[np.float64], p: NDArray[np.float64], strategy: Strategy, n_bins: int, caller: str
) -> ReliabilityCurve:
    """Return the curve of checked labels and probabilities."""
    if strategy not in STRATEGIES:
        raise InvalidParameterError.of(
            parameter="strategy",
            caller=caller,
            must_be=f"one of {', '.join(map(repr, STRATEGIES))}",
            got=strategy,
        )
    if not isinstance(n_bins, (int, np.integer)) or isinstance(n_bins, bool) or n_bins < 1:
        raise InvalidParameterError.of(
            parameter="n_bins", caller=caller, must_be="a whole number >= 1", got=n_bins
        )
    if strategy == "isotonic":
        _, bins = isotonic(y, p)
        n_bins = int(bins.max()) + 1
    else:
        edges = (
            np.linspace(0.0, 1.0, n_bins + 1)
            if strategy == "uniform"
            else np.quantile(p, np.linspace(0.0, 1.0, n_bins + 1))
        )
        bins = np.searchsorted(edges[1:-1], p)
    rows = np.bincount(bins, minlength=n_bins)
    filled = np.flatnonzero(rows)
    low, high = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
    np.minimum.at(low, bins, p)
    np.maximum.at(high, bins, p)
    count = rows[filled]
    return ReliabilityCurve(
        predicted=np.bincount(bins, weights=p, minlength=n_bins)[filled] / count,
        observed=np.bincount(bins, weights=y, minlength=n_bins)[filled] / count,
        count=count,
        low=low[filled],
        high=high[filled],
        strategy=strategy,
        n_bins=int(n_bins),
    )


def isotonic(y: NDArray[np.float64], p: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return for each row the isotonic share of positives, and the number of its level set."""
    from sklearn.isotonic import isotonic_regression

    which = np.unique(p, return_inverse=True)[1]
    rows = np.bincount(which)
    share = np.bincount(which, weights=y) / rows
    fitted = isotonic_regression(share, sample_weight=rows.astype(np.float64), y_min=0.0, y_max=1.0)
    steps = np.diff(fitted) > 1e-12  # within a level set only rounding makes a difference
    levels = np.concatenate([[0], np.cumsum(steps)])
    return fitted[which], levels[which]

"""DeLong's covariance of areas under ROC curves, by midranks: O(N log N), no N x N matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_array, as_floats, refuse_nan
from cutpoints._data.labels import Labels
from cutpoints._result import Interval
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class DeLong:
    """Areas under several ROC curves on the same rows, and their covariance.

    Attributes
    ----------
    auc : ndarray of shape (n_models,)
    covariance : ndarray of shape (n_models, n_models)
    pairs : int
        How many pairs of a positive and a negative there are in which no row comes twice.
    """

    auc: NDArray[np.float64]
    covariance: NDArray[np.float64]
    pairs: int

    def interval(self, model: int, confidence: float = 0.95) -> Interval:
        """Return the confidence interval of one area, on the logit scale so that it stays in [0, 1].

        At an area of 0 or 1 the estimated variance is 0 and says nothing. But then all of the `pairs`,
        which are independent, are ordered alike, and that has an exact (Clopper-Pearson) interval.
        """
        area, variance = float(self.auc[model]), float(self.covariance[model, model])
        if not 0 < area < 1:
            least = ((1 - confidence) / 2) ** (1 / self.pairs)
            return Interval(0.0, 1 - least) if area == 0 else Interval(least, 1.0)
        half = (
            NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(max(variance, 0.0)) / (area * (1 - area))
        )
        logit = math.log(area / (1 - area))
        return Interval(1 / (1 + math.exp(half - logit)), 1 / (1 + math.exp(-half - logit)))

    def difference(
        self, one: int, other: int, confidence: float = 0.95
    ) -> tuple[float, Interval, float, float]:
        """Return ``auc[one] - auc[other]``, its interval, z and the two-sided p-value of no difference.

        Models that rank alike have no variance between them: z is 0 and p is 1.
        """
        gap = float(self.auc[one] - self.auc[other])
        c = self.covariance
        variance = float(c[one, one] + c[other, other] - 2 * c[one, other])
        # Equal rankings cancel up to rounding only.
        if variance <= 1e-14 * float(c[one, one] + c[other, other]):
            settled = math.copysign(math.inf, gap) if abs(gap) > 1e-12 else 0.0
            return gap, Interval(gap, gap), settled, 0.0 if settled else 1.0
        error = math.sqrt(variance)
        half = NormalDist().inv_cdf((1 + confidence) / 2) * error
        z = gap / error
        return gap, Interval(gap - half, gap + half), z, math.erfc(abs(z) / math.sqrt(2))


def delong(y_true: Any, *y_scores: Any, pos_label: Any = None) -> DeLong:
    """Return the areas under the ROC curves of one or more models on the same rows, with covariance.

    Time is that of sorting each model's scores; memory a few numbers per row and model.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, as for `find`.
    *y_scores : array-like of shape (n_samples,)
        The scores of each model.
    pos_label : default=None
        As for `find`.

    References
    ----------
    DeLong, E. R., DeLong, D. M., Clarke-Pearson, D. L. (1988). doi:10.2307/2531595
    Sun, X., Xu, W. (2014). Fast implementation of DeLong's algorithm. doi:10.1109/LSP.2014.2337313

    Examples
    --------
    >>> from cutpoints._compare import delong
    >>> delong([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).auc
    array([0.75])
    """
    labels = Labels(as_array(y_true, "y_true"), pos_label)
    sides, counts = labels.check(slice(None))
    labels.settle([counts])
    positive = sides.view(np.bool_)
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if min(positives, negatives) == 0:
        raise InvalidInputError.no_rows_of(what="auc", positives=positives, negatives=negatives)
    auc = np.empty(len(y_scores))
    # Rows are models. For each positive the share of negatives below it, and the reverse.
    over, under = np.empty((len(y_scores), positives)), np.empty((len(y_scores), negatives))
    for i, given in enumerate(y_scores):
        scores = as_floats(given, "y_score")
        if len(scores) != len(positive):
            raise InvalidInputError.length(
                names_and_lengths={"y_true": len(positive), "y_score": len(scores)}
            )
        refuse_nan(scores, "y_score")
        high, low = scores[positive], scores[~positive]
        over[i] = _share_below(low, high)
        under[i] = 1 - _share_below(high, low)
        auc[i] = over[i].mean()
    covariance = _covariance(over, positives) + _covariance(under, negatives)
    return DeLong(auc, covariance, min(positives, negatives))


def _share_below(reference: NDArray[Any], values: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each value the share of the reference below it, equal ones by half.

    Two plain sorts and a walk in ascending order: the search for sorted keys stays in the cache.
    """
    ranked = np.sort(reference)
    order = np.argsort(values)
    ascending = values[order]
    twice = np.searchsorted(ranked, ascending, side="left") + np.searchsorted(ranked, ascending, side="right")
    share = np.empty(len(values))
    share[order] = twice / (2 * len(reference))
    return share


def _covariance(components: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the covariance of the means; 0 for a class of one row, whose variance is unknown."""
    if size < 2:
        return np.zeros((len(components), len(components)))
    centred = components - components.mean(axis=1, keepdims=True)
    return centred @ centred.T / (size - 1) / size

"""Another prevalence: the same scores in a population with more or fewer positives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._calibration.inputs import as_prevalence, as_probabilities
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

OVERLAP = 1e-3
"""Below this share the classes are taken not to overlap: the mean of 2 min(p, 1 - p) over rows."""
_TOLERANCE = 1e-10
_STEPS = 100_000


def adjust_prior(y_prob: Any, *, train_prevalence: float, new_prevalence: float) -> NDArray[np.float64]:
    """Move calibrated probabilities to a population with another share of positives.

    By Bayes' rule: the odds are multiplied by the ratio of the new prior odds to the old. Right if
    only the shares of the classes have changed, and scores within a class are distributed as before.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Probabilities that are calibrated at `train_prevalence`.
    train_prevalence, new_prevalence : float in (0, 1)
        The share of positives where they are calibrated, and where they will be used.

    Examples
    --------
    >>> import cutpoints as cp
    >>> cp.adjust_prior([0.5, 0.9], train_prevalence=0.5, new_prevalence=0.1)
    array([0.1, 0.5])
    """
    p = as_probabilities(y_prob)
    old = as_prevalence(train_prevalence, "train_prevalence", "adjust_prior")
    new = as_prevalence(new_prevalence, "new_prevalence", "adjust_prior")
    positive, negative = p * (new / old), (1 - p) * ((1 - new) / (1 - old))
    return positive / (positive + negative)


@dataclass(frozen=True)
class Prevalence:
    """An estimated share of positives; `float()` of it is the share."""

    prevalence: float
    standard_error: float
    iterations: int

    def __float__(self) -> float:
        return self.prevalence

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return dict(vars(self))


def estimate_prevalence(y_prob: Any, *, train_prevalence: float) -> Prevalence:
    """Estimate the share of positives of new rows from their probabilities alone.

    The maximum-likelihood share, by the EM algorithm of Saerens, Latinne and Decaestecker: adjust
    the probabilities to the current share, take their mean as the next. The likelihood is concave,
    so there is one answer. Linear time for each step; some tens of steps.

    Right if the probabilities are calibrated at `train_prevalence` and only the shares of the
    classes have changed. If they are not calibrated, the estimate is wrong without a sign of it.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Probabilities of unlabelled rows, strictly between 0 and 1.
    train_prevalence : float in (0, 1)
        The share of positives where they are calibrated.

    Returns
    -------
    Prevalence
        With `prevalence`, `standard_error` (from the curvature of the likelihood) and `iterations`.

    Raises
    ------
    InvalidInputError
        Where no estimate can be had: probabilities of exactly 0 or 1, classes that do not overlap,
        probabilities that are all the same, or a likelihood that grows up to a share of 0 or 1.

    References
    ----------
    Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a
    priori probabilities: a simple procedure. doi:10.1162/089976602753284446

    Examples
    --------
    >>> import cutpoints as cp
    >>> found = cp.estimate_prevalence([0.1, 0.2, 0.3, 0.9, 0.05, 0.15], train_prevalence=0.5)
    >>> round(found.prevalence, 3)
    0.105
    """
    p = as_probabilities(y_prob)
    old = as_prevalence(train_prevalence, "train_prevalence", "estimate_prevalence")
    sure = int(np.count_nonzero((p == 0) | (p == 1)))
    if sure:
        raise InvalidInputError.no_prevalence(
            reason=f"{sure:,} of {len(p):,} probabilities are exactly 0 or 1, which no prevalence can change",
        )
    overlap = float(np.mean(2 * np.minimum(p, 1 - p)))
    if overlap < OVERLAP:
        raise InvalidInputError.no_prevalence(
            reason=f"the classes do not overlap: 2 min(p, 1 - p) is {overlap:.2g} on average, "
            f"less than {OVERLAP:g}, and the estimate would only count the rows above one half",
        )
    positive, negative = p / old, (1 - p) / (1 - old)
    gap = positive - negative
    if np.ptp(p) < 1e-9:
        raise InvalidInputError.no_prevalence(reason="the probabilities are all the same")
    # The likelihood is concave: its slope at an end tells whether the maximum lies there.
    if np.sum(gap / negative) <= 0 or np.sum(gap / positive) >= 0:
        end = 0 if np.sum(gap / negative) <= 0 else 1
        raise InvalidInputError.no_prevalence(
            reason=f"the likelihood is greatest at a prevalence of {end}: the scores are not those of any "
            "mixture of the two classes",
        )
    share, steps = old, 0
    for _ in range(_STEPS):
        before, steps = share, steps + 1
        share = float(np.mean(share * positive / (share * positive + (1 - share) * negative)))
        if abs(share - before) <= _TOLERANCE * min(share, 1 - share):
            break
    information = float(np.sum((gap / (share * positive + (1 - share) * negative)) ** 2))
    return Prevalence(share, 1 / math.sqrt(information), steps)

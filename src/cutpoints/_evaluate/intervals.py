"""Confidence intervals of shares."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Literal

from cutpoints._extras import needs
from cutpoints._result import Interval
from cutpoints._validate import check_confidence
from cutpoints.exceptions import InvalidParameterError

Method = Literal["wilson", "clopper_pearson"]


def proportion_interval(
    successes: int, trials: int, *, confidence: float = 0.95, method: Method = "wilson"
) -> Interval:
    """Return a two-sided confidence interval of a share.

    Parameters
    ----------
    successes, trials : int
        How many of how many. Without trials the interval is all of [0, 1].
    confidence : float, default=0.95
        In (0, 1).
    method : {"wilson", "clopper_pearson"}, default="wilson"
        "wilson" covers the true share with the confidence on average; "clopper_pearson" at least
        with it, whatever the share, and is wider.

    References
    ----------
    Brown, L. D., Cai, T. T., DasGupta, A. (2001). Interval estimation for a binomial proportion.
    doi:10.1214/ss/1009213286

    Examples
    --------
    >>> low, high = proportion_interval(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.5958, 0.9821)
    """
    check(confidence, method, "proportion_interval")
    if trials == 0:
        return Interval(0.0, 1.0)
    if method == "wilson":
        return _wilson(successes, trials, confidence)
    with needs("confidence intervals"):
        from scipy.special import betaincinv  # not scipy.stats, which takes a second to import

    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else betaincinv(successes, trials - successes + 1, tail)
    high = 1.0 if successes == trials else betaincinv(successes + 1, trials - successes, 1 - tail)
    return Interval(float(low), float(high))


def _wilson(successes: int, trials: int, confidence: float) -> Interval:
    """Return the shares that a score test does not reject (Wilson 1927)."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    under = 2 * (trials + z * z)
    center = (2 * successes + z * z) / under
    half = z * math.sqrt(4 * successes * (trials - successes) / trials + z * z) / under
    low = 0.0 if successes == 0 else center - half
    return Interval(low, 1.0 if successes == trials else center + half)


def check(confidence: Any, method: Any, caller: str) -> None:
    """Raise for a confidence or a method that cannot be meant."""
    check_confidence(confidence, caller)
    if method not in ("wilson", "clopper_pearson"):
        raise InvalidParameterError(
            "interval", caller=caller, expected="'wilson' or 'clopper_pearson'", got=method
        )

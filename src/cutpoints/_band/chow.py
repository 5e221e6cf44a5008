"""Chow's rule: the band of calibrated probabilities, which follows from the costs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cutpoints._band.goal import band_goal
from cutpoints._goal import objective
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._goal import Objective


class BayesBand(NamedTuple):
    """The band of calibrated probabilities: no below `low`, yes from `high` on, review in between."""

    low: float
    high: float


def bayes_band(cost: Objective, /, *, reviewer: Any = None) -> BayesBand:
    """Return the probabilities between which a review pays, by Chow's rule.

    For calibrated probabilities; it needs no data. A row of probability p costs ``fp * (1 - p)`` if it is
    called positive, ``fn * p`` if not, and `review` if people look at it. Both ends are equal, and the
    threshold is that of `bayes_threshold`, where a review never pays.

    Parameters
    ----------
    cost : metric or str
        ``"cost(fp=1, fn=5, review=0.3)"``, or a profit.
    reviewer : (float, float), default=None
        The sensitivity and specificity of the reviewers; (1, 1) by default: they are always right.

    References
    ----------
    Chow, C. K. (1970). On optimum recognition error and reject tradeoff. doi:10.1109/TIT.1970.1054406

    Examples
    --------
    >>> import cutpoints as cp
    >>> cp.bayes_band("cost(fp=1, fn=5, review=0.3)")
    BayesBand(low=0.06, high=0.7)
    >>> cp.bayes_band("cost(fp=1, fn=5, review=1)")  # too expensive: one threshold
    BayesBand(low=0.16666666666666666, high=0.16666666666666666)
    """
    expression = objective(cost, "cost", "bayes_band")
    maximize = getattr(expression, "direction", "") == "higher"
    goal: dict[str, Any] = {"maximize" if maximize else "minimize": expression}
    other: dict[str, Any] = {"minimize" if maximize else "maximize": None}
    wanted = band_goal(
        **goal, **other, subject_to=None, capacity=None, reviewer=reviewer, caller="bayes_band"
    )
    if wanted.columns:
        raise InvalidParameterError(
            "cost", got=str(expression), expected="a cost or a profit in numbers", caller="bayes_band",
            hint="for costs that differ from row to row there is no one band of probabilities; "
            "find_band() finds the best on rows, and expected_gain() is a score of its own.",
        )  # fmt: skip
    sign = -1 if maximize else 1
    w = {name: sign * weight.constant for name, weight in wanted.weights.items()}
    yes, no = (w["tp"], w["fp"]), (w["fn"], w["tn"])  # what a positive and a negative cost
    review = w["reviewed_positives"], w["reviewed_negatives"]
    price = dict(getattr(expression, "parameters", ())).get("review", 0) * (-1 if maximize else 1)
    if not (yes[0] < no[0] and yes[1] > no[1]) or price < 0:
        raise InvalidParameterError(
            "cost",
            got=str(expression),
            expected="such that a miss costs more than a hit (fn > tp) and a false alarm more than leaving "
            "alone (fp > tn), and a review earns nothing",
            caller="bayes_band",
        )
    # Yes is cheaper than review from `high` on, review is cheaper than no from `low` on.
    high = _meet(yes, review)
    low = _meet(review, no)
    if high is None or low is None or low >= high:
        middle = _meet(yes, no)
        assert middle is not None
        low = high = middle
    return BayesBand(float(low), float(high))


def _meet(first: Any, second: Any) -> Any:
    """Return from which probability on the first choice costs at most as much as the second; None: never.

    A choice is what a positive and what a negative costs.
    """
    per_positive, per_negative = second[0] - first[0], first[1] - second[1]
    if per_positive + per_negative <= 0:
        return None
    return per_negative / (per_positive + per_negative)

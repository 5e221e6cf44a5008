"""The points of each curve, as named arrays; thresholds always descend."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutpoints._equality import compared_by_value

Array = NDArray[np.float64]


@compared_by_value
class Roc(NamedTuple):
    """The ROC curve from (0, 0) to (1, 1); thresholds descend from inf."""

    fpr: Array
    tpr: Array
    thresholds: Array


@compared_by_value
class PrecisionRecall(NamedTuple):
    """Precision and recall, thresholds descending; precision is NaN where nobody is called positive."""

    precision: Array
    recall: Array
    thresholds: Array


@compared_by_value
class Det(NamedTuple):
    """Detection error trade-off: both error rates. Displays draw them on normal-deviate axes."""

    fpr: Array
    fnr: Array
    thresholds: Array


@compared_by_value
class Gain(NamedTuple):
    """Cumulative gain: the share of the positives found in the share of rows called positive."""

    share: Array
    gain: Array
    thresholds: Array


@compared_by_value
class Lift(NamedTuple):
    """Precision over prevalence against the share of rows called positive; NaN at share 0."""

    share: Array
    lift: Array
    thresholds: Array


@compared_by_value
class Ks(NamedTuple):
    """The share of each class at or above each threshold, and the largest gap between the two.

    The gap is the two-sample Kolmogorov-Smirnov statistic, and Youden's J where the positives
    score higher.
    """

    positives: Array
    negatives: Array
    thresholds: Array
    statistic: float
    at: float

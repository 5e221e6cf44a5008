"""No labels needed: thresholds from calibrated probabilities, and the theory behind them.

`_find` is the search on expected counts, `theory` where calibrated probabilities have their
threshold, `expectation` what a metric is on average (E[F1] proper), `population` the same for known
densities.
"""

from cutpoints._expected.search import ExpectedCurve, ExpectedSolution, expected_curve, find_expected

__all__ = ["ExpectedCurve", "ExpectedSolution", "expected_curve", "find_expected"]

"""No labels needed: thresholds from calibrated probabilities.

`search` is the search on expected counts, `expectation` what a metric is on average (E[F1] proper),
`population` the same for known densities, `gain` what calling a row earns.
"""

from cutpoints._expected.search import ExpectedCurve, ExpectedSolution, find_expected

__all__ = ["ExpectedCurve", "ExpectedSolution", "find_expected"]

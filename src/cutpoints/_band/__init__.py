"""Yes, no or review: the two best thresholds.

`goal` reads what is wanted, `find` searches, `result` is the answer, `guarantee` what holds on new data, and
`chow` the band of calibrated probabilities, which needs no search.
"""

from cutpoints._band.chow import bayes_band
from cutpoints._band.find import find_band
from cutpoints._band.result import Band

__all__ = ["Band", "bayes_band", "find_band"]

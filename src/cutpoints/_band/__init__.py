"""Yes, no or review: the two best thresholds."""

from cutpoints._band.chow import bayes_band
from cutpoints._band.find import find_band
from cutpoints._band.result import Band

__all__ = ["Band", "bayes_band", "find_band"]

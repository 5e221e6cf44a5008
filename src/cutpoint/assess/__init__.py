"""How far a threshold can be trusted: optimism, sets of thresholds, bands, bootstrap."""

from cutpoint.assess.assessment import Assessment, Bootstrap
from cutpoint.assess.bands import Band
from cutpoint.assess.run import assess
from cutpoint.assess.threshold_sets import ThresholdSet

__all__ = ["Assessment", "Band", "Bootstrap", "ThresholdSet", "assess"]

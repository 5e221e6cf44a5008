"""How far a threshold can be trusted: optimism, sets of thresholds, bands, bootstrap.

`run` asks the four questions, `threshold_sets`, `bands` and `bootstrap` answer three of them (the other is
cross-validation), and `assessment` is the answer.
"""

from cutpoints._assess.assessment import Assessment, Bootstrap
from cutpoints._assess.bands import Band
from cutpoints._assess.run import assess
from cutpoints._assess.threshold_sets import ThresholdSet

__all__ = ["Assessment", "Band", "Bootstrap", "ThresholdSet", "assess"]

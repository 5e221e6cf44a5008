"""Can the probabilities be believed? Diagnosis, repair, and the move to another prevalence.

`calibration` measures, `recalibrate` repairs on labelled rows that are set aside, `adjust_prior` and
`estimate_prevalence` carry probabilities over to a population with another share of positives.
"""

from cutpoints._calibration.measure import Calibration, calibration, check_threshold
from cutpoints._calibration.prior import Prevalence, adjust_prior, estimate_prevalence
from cutpoints._calibration.recalibration import Recalibrator, recalibrate
from cutpoints._calibration.reliability import ReliabilityCurve, reliability_curve

__all__ = [
    "Calibration",
    "Prevalence",
    "Recalibrator",
    "ReliabilityCurve",
    "adjust_prior",
    "calibration",
    "check_threshold",
    "estimate_prevalence",
    "recalibrate",
    "reliability_curve",
]

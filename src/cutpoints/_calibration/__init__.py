"""Can the probabilities be believed? Diagnosis, repair, and the move to another prevalence.

`calibration` measures, `recalibrate` repairs on labeled rows that are set aside, `adjust_prior` and
`estimate_prevalence` carry probabilities over to a population with another share of positives.
"""

from cutpoints._calibration.measure import Calibration, ReliabilityCurve, calibration
from cutpoints._calibration.repair import adjust_prior, estimate_prevalence, recalibrate

__all__ = [
    "Calibration", "ReliabilityCurve", "adjust_prior", "calibration", "estimate_prevalence", "recalibrate",
]  # fmt: skip

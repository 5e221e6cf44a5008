"""Displays, in the manner of scikit-learn.

Each display keeps its arrays as attributes and draws with ``plot(ax=None)``. ``from_predictions``
takes labels and scores, ``from_curve`` a `cutpoints.Curve`; both draw at once. ``of_curve`` computes
without drawing, and ``save`` writes a file without a window.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutpoints.plots.bands import BandDisplay, RiskCoverageDisplay
    from cutpoints.plots.costs import BrierCurveDisplay, CostCurveDisplay, DecisionCurveDisplay, ProfitDisplay
    from cutpoints.plots.curves import (
        ContourDisplay,
        DetDisplay,
        GainDisplay,
        KsDisplay,
        LiftDisplay,
        PrecisionRecallDisplay,
        RocDisplay,
    )
    from cutpoints.plots.models import ComparisonDisplay, ExpectedCurveDisplay, ReliabilityDisplay
    from cutpoints.plots.segments import JointFrontierDisplay
    from cutpoints.plots.thresholds import ConfusionDisplay, ScoresDisplay, ThresholdDisplay

# Loaded when first used: module -> its displays.
_MODULES = {
    "bands": ["BandDisplay", "RiskCoverageDisplay"],
    "costs": ["BrierCurveDisplay", "CostCurveDisplay", "DecisionCurveDisplay", "ProfitDisplay"],
    "curves": [
        "ContourDisplay", "DetDisplay", "GainDisplay", "KsDisplay", "LiftDisplay", "PrecisionRecallDisplay",
        "RocDisplay",
    ],
    "models": ["ComparisonDisplay", "ExpectedCurveDisplay", "ReliabilityDisplay"],
    "segments": ["JointFrontierDisplay"],
    "thresholds": ["ConfusionDisplay", "ScoresDisplay", "ThresholdDisplay"],
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

BY_NAME = {
    "roc": "RocDisplay",
    "pr": "PrecisionRecallDisplay",
    "threshold": "ThresholdDisplay",
    "scores": "ScoresDisplay",
    "confusion": "ConfusionDisplay",
    "cost": "CostCurveDisplay",
    "decision": "DecisionCurveDisplay",
    "brier": "BrierCurveDisplay",
    "det": "DetDisplay",
    "gain": "GainDisplay",
    "lift": "LiftDisplay",
    "ks": "KsDisplay",
    "profit": "ProfitDisplay",
}
"""What `cutpoints curve --plot` calls them: those that need no more than a curve."""

__all__ = [
    "BY_NAME", "BandDisplay", "BrierCurveDisplay", "ComparisonDisplay", "ConfusionDisplay", "ContourDisplay",
    "CostCurveDisplay", "DecisionCurveDisplay", "DetDisplay", "ExpectedCurveDisplay", "GainDisplay",
    "JointFrontierDisplay", "KsDisplay", "LiftDisplay", "PrecisionRecallDisplay", "ProfitDisplay",
    "ReliabilityDisplay", "RiskCoverageDisplay", "RocDisplay", "ScoresDisplay", "ThresholdDisplay",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        msg = f"module 'cutpoints.plots' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"cutpoints.plots.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__

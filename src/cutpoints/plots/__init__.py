"""Pictures: one display per file, in scikit-learn's manner.

Each display keeps its arrays as attributes and draws with ``plot(ax=None)``. ``from_predictions``
takes labels and scores, ``from_curve`` a `cutpoints.Curve`; both draw at once. ``save`` writes a file
without any window. Numbers are computed elsewhere.
"""

from importlib import import_module
from typing import Any

_ROOMS = {
    "BrierCurveDisplay": "brier",
    "ComparisonDisplay": "comparison",
    "ConfusionDisplay": "confusion",
    "CostCurveDisplay": "cost",
    "DecisionCurveDisplay": "decision",
    "DetDisplay": "det",
    "ExpectedCurveDisplay": "expected_curve",
    "GainDisplay": "gain",
    "KsDisplay": "ks",
    "LiftDisplay": "lift",
    "PrecisionRecallDisplay": "pr",
    "ProfitDisplay": "profit",
    "ReliabilityDisplay": "reliability",
    "RocDisplay": "roc",
    "ScoresDisplay": "scores",
    "ThresholdDisplay": "threshold",
}

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

__all__ = [*_ROOMS, "BY_NAME"]  # noqa: PLE0604 - the keys are names


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        msg = f"module 'cutpoints.plots' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"cutpoints.plots.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return __all__

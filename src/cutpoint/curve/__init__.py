"""Every cut at once: curves in ROC, PR and cost space, areas, hull."""

from cutpoint.curve._curve import COLUMNS, Curve, curve
from cutpoint.curve._shapes import Det, Gain, Ks, Lift, PrecisionRecall, Roc
from cutpoint.curve._table import Table
from cutpoint.curve.costs import BrierCurve, CostCurve, DecisionCurve, ProfitCurve
from cutpoint.curve.hull import Hull, IsoCost, Randomised

__all__ = [
    "COLUMNS",
    "BrierCurve",
    "CostCurve",
    "Curve",
    "DecisionCurve",
    "Det",
    "Gain",
    "Hull",
    "IsoCost",
    "Ks",
    "Lift",
    "PrecisionRecall",
    "ProfitCurve",
    "Randomised",
    "Roc",
    "Table",
    "curve",
]

"""Every cut at once: curves in ROC, PR and cost space, areas, hull."""

from cutpoints._curve.costs import BrierCurve, CostCurve, DecisionCurve, ProfitCurve
from cutpoints._curve.cuts import COLUMNS, Curve, curve
from cutpoints._curve.hull import Hull, IsoCost, Randomized
from cutpoints._curve.losses import LossSplit, split_loss
from cutpoints._curve.shapes import Det, Gain, Ks, Lift, PrecisionRecall, Roc
from cutpoints._curve.table import Table

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
    "LossSplit",
    "PrecisionRecall",
    "ProfitCurve",
    "Randomized",
    "Roc",
    "Table",
    "curve",
    "split_loss",
]

"""How good is it: the whole catalogue at one threshold, for hard labels, for many classes."""

from cutpoints._evaluate.binary import Evaluation, evaluate, evaluate_cut
from cutpoints._evaluate.classes import ClassEvaluation, evaluate_classes
from cutpoints._evaluate.intervals import proportion_interval

__all__ = [
    "ClassEvaluation",
    "Evaluation",
    "evaluate",
    "evaluate_classes",
    "evaluate_cut",
    "proportion_interval",
]

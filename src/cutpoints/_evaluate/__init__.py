"""How good is it: the whole catalogue at one threshold, for hard labels, for many classes.

`binary` and `classes` are what users call, `intervals` those of shares. `splits`, `cross_validation` and
`row_groups` are for other rooms: what users pass as `cv`, thresholds judged by folds, and rows to resample.
"""

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

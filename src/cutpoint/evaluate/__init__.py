"""How good is it: the whole catalogue at one threshold, for hard labels, for many classes."""

from cutpoint.evaluate._classes import ClassEvaluation
from cutpoint.evaluate._evaluate import Evaluation, evaluate, evaluate_cut
from cutpoint.evaluate._intervals import proportion_interval

__all__ = ["ClassEvaluation", "Evaluation", "evaluate", "evaluate_cut", "proportion_interval"]

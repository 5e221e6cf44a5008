"""More than two classes: cutpoints for ordered ones, decisions by a cost matrix, weights for argmax."""

from cutpoints._classes.costs import bayes_decision
from cutpoints._classes.find import find_ordinal
from cutpoints._classes.result import OrdinalSolution
from cutpoints._classes.weights import ClassWeights, find_class_weights

__all__ = ["ClassWeights", "OrdinalSolution", "bayes_decision", "find_class_weights", "find_ordinal"]

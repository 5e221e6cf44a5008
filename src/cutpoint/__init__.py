"""Find the decision threshold of a classifier that is best for a goal, and prove it.

>>> import cutpoint as cp
>>> cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1").threshold
0.35
"""

from cutpoint import metrics
from cutpoint._version import __version__
from cutpoint.curve import Curve, curve
from cutpoint.find import counted, find
from cutpoint.solution import Confusion, Solution

__all__ = ["Confusion", "Curve", "Solution", "__version__", "counted", "curve", "find", "metrics"]

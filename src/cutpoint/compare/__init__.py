"""Which model, at which threshold: several models on the same rows, or bare confusions."""

from cutpoint.compare._compare import compare
from cutpoint.compare._comparison import Comparison, Improvement, improvement
from cutpoint.compare._delong import DeLong, delong
from cutpoint.compare._hull import JointHull, joint_hull
from cutpoint.compare._tests import Bootstrap, McNemar, mcnemar, paired_bootstrap

__all__ = [
    "Bootstrap",
    "Comparison",
    "DeLong",
    "Improvement",
    "JointHull",
    "McNemar",
    "compare",
    "delong",
    "improvement",
    "joint_hull",
    "mcnemar",
    "paired_bootstrap",
]

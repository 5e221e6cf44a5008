"""Which model, at which threshold: several models on the same rows, or bare confusions."""

from cutpoints._compare.auc_tests import DeLong, delong
from cutpoints._compare.comparison import Comparison, Improvement, improvement
from cutpoints._compare.hull import JointHull, joint_hull
from cutpoints._compare.models import compare
from cutpoints._compare.paired_tests import Bootstrap, McNemar, mcnemar, paired_bootstrap

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

"""Which model, at which threshold: several models on the same rows, or bare confusions."""

from cutpoints._compare.comparison import Comparison, improvement, joint_hull
from cutpoints._compare.models import compare
from cutpoints._compare.significance import (
    delong,
    joint_table,
    mcnemar,
    paired_bootstrap,
    paired_row_bootstrap,
)

__all__ = [
    "Comparison",
    "compare",
    "delong",
    "improvement",
    "joint_hull",
    "joint_table",
    "mcnemar",
    "paired_bootstrap",
    "paired_row_bootstrap",
]

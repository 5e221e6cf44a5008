"""Several thresholds that are best together: one per segment, or one per label."""

from cutpoints._joint.find import find_joint
from cutpoints._joint.labels import find_labels

__all__ = ["find_joint", "find_labels"]

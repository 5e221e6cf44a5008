"""Several thresholds that are best together: one per segment, or one per label."""

from cutpoints._joint.find import find_joint

__all__ = ["find_joint"]

"""Several thresholds that are best together: one per segment, or one per label.

`data` reads the cuts of all segments, `problem` is what is wanted of them, `find` and `labels` search, and
`result` and `labels_result` are the answers. Beside an answer stand the `frontier` of all segments, what
other thresholds would do (`beside`, and `randomized` ones under a gap), and the `guarantee` for new data.
"""

from cutpoints._joint.find import find_joint
from cutpoints._joint.labels import find_labels

__all__ = ["find_joint", "find_labels"]

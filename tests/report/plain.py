"""The slow and obvious count that the numbers of a report are compared with."""

import numpy as np


def counted(y, p, threshold):
    """Return the confusion at a threshold by one plain pass."""
    called, positive = np.asarray(p) >= threshold, np.asarray(y) == 1
    cells = {"tp": called & positive, "fp": called & ~positive, "fn": ~called & positive}
    return {name: int(cell.sum()) for name, cell in cells.items()} | {"tn": int((~called & ~positive).sum())}

"""scikit-learn: precision_recall_curve and argmax, as people write it."""

import numpy as np
from sklearn.metrics import precision_recall_curve


def run(y, score, weight):
    """Compute precision and recall at each threshold and the F1 of them."""
    precision, recall, thresholds = precision_recall_curve(y, score, sample_weight=weight)
    with np.errstate(invalid="ignore"):
        f1 = np.nan_to_num(2 * precision * recall / (precision + recall))[:-1]
    best = int(np.argmax(f1))
    return float(thresholds[best]), float(f1[best])

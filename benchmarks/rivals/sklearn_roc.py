"""scikit-learn: roc_curve and argmax, as people write it."""

import numpy as np
from sklearn.metrics import roc_curve


def run(y, score, weight):
    """Compute the ROC curve and the F1 at each of its thresholds."""
    fpr, tpr, thresholds = roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    positives = y.sum() if weight is None else weight[y == 1].sum()
    negatives = len(y) - positives if weight is None else weight.sum() - positives
    tp, fp = tpr * positives, fpr * negatives
    f1 = 2 * tp / (tp + fp + positives)
    best = int(np.argmax(f1))
    return float(thresholds[best]), float(f1[best])

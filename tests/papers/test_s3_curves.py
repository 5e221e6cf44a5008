"""S3, the Rome lecture: its metrics, ROC and PR rows, 3.12 to 3.23 of ACCEPTANCE.md."""

import math
import runpy
from pathlib import Path

import numpy as np
import pytest

import cutpoints as cp
from cutpoints.exceptions import DataWarning

EXAMPLES = Path(__file__).parents[2] / "examples" / "papers"
SCAN = (
    [1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0],
    [round(0.95 - 0.05 * i, 2) for i in range(20)],
)
PRINTED = """
1.00 0 10 0 10 0.50 1 0 1 0
0.95 1 10 0 9 0.55 1 0.1 1 0.182
0.90 2 10 0 8 0.60 1 0.2 1 0.333
0.85 2 9 1 8 0.55 0.667 0.2 0.9 0.308
0.80 3 9 1 7 0.60 0.750 0.3 0.9 0.429
0.75 4 9 1 6 0.65 0.800 0.4 0.9 0.533
0.70 5 9 1 5 0.70 0.833 0.5 0.9 0.625
0.65 5 8 2 5 0.65 0.714 0.5 0.8 0.588
0.60 6 8 2 4 0.70 0.750 0.6 0.8 0.667
0.55 7 8 2 3 0.75 0.778 0.7 0.8 0.737
0.50 8 8 2 2 0.80 0.800 0.8 0.8 0.800
0.45 9 8 2 1 0.85 0.818 0.9 0.8 0.857
0.40 9 7 3 1 0.80 0.750 0.9 0.7 0.818
0.35 9 6 4 1 0.75 0.692 0.9 0.6 0.783
0.30 9 5 5 1 0.70 0.643 0.9 0.5 0.750
0.25 9 4 6 1 0.65 0.600 0.9 0.4 0.720
0.20 9 3 7 1 0.60 0.562 0.9 0.3 0.692
0.15 9 2 8 1 0.55 0.529 0.9 0.2 0.667
0.10 9 1 9 1 0.50 0.500 0.9 0.1 0.643
0.05 10 1 9 0 0.55 0.526 1 0.1 0.690
0.00 10 0 10 0 0.50 0.500 1 0 0.667
"""


def test_3_12_top_k():
    """Row 3.12: top-2 accuracy of four rows is .75."""
    scores = [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]]
    assert 0.75 == cp.evaluate_classes([0, 1, 2, 2], scores, top_k=2).top_k_accuracy


def test_3_13_confusion_of_three_classes():
    """Row 3.13: the matrix of the slide."""
    found = cp.evaluate_classes([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
    assert [[2, 0, 0], [0, 0, 1], [1, 0, 2]] == found.confusion_matrix.tolist()


def test_3_15_threshold_scan():
    """Row 3.15: all counts and 104 of the 105 derived cells; the other is precision 1 for 0/0."""
    curve = cp.curve(*SCAN)
    derived = ("accuracy", "precision", "recall", "specificity", "f1")
    agree = []
    for line in PRINTED.split("\n")[1:-1]:
        threshold, tp, tn, fp, fn, *cells = map(float, line.split())
        found = cp.evaluate(curve, threshold=threshold)
        assert {"tp": tp, "fp": fp, "fn": fn, "tn": tn} == found.confusion.to_dict()
        # The slide rounds 0.5625 down.
        agree += [
            abs(found.metrics[name] - cell) <= 0.00051 for name, cell in zip(derived, cells, strict=True)
        ]
    assert (105, 104) == (len(agree), sum(agree))
    assert math.isnan(cp.evaluate(curve, threshold=1.0).metrics["precision"])


def test_3_16_areas_of_the_scan():
    """Row 3.16: AUC .80, AP .805561, PR trapezoid .790717."""
    curve = cp.curve(*SCAN)
    assert 0.8 == curve.auc
    assert 0.805561 == pytest.approx(curve.average_precision, abs=1e-6)
    assert 0.790717 == pytest.approx(curve.auc_pr("trapezoid"), abs=1e-6)


def test_3_17_roc_by_hand():
    """Row 3.17: the points of the slide, with inf for the made-up 1.8; AUC 5/9."""
    curve = cp.curve([0, 0, 1, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.01, 0.2])
    fpr, tpr, thresholds = curve.roc()
    np.testing.assert_allclose(3 * tpr, [0, 1, 1, 2, 2, 2, 3])
    np.testing.assert_allclose(3 * fpr, [0, 0, 1, 1, 2, 3, 3])
    assert [math.inf, 0.8, 0.4, 0.35, 0.2, 0.1, 0.01] == thresholds.tolist()
    assert 5 / 9 == curve.auc
    assert 0.722222 == pytest.approx(curve.average_precision, abs=1e-6)


def test_3_17_upper_rectangles_are_wrong_with_ties():
    """The slide's dot(diff(fpr), tpr[1:]) is the AUC only without ties of both classes."""
    curve = cp.curve([0, 1], [0.5, 0.5])
    fpr, tpr, _ = curve.roc()
    assert 1.0 == np.dot(np.diff(fpr), tpr[1:])
    assert 0.5 == curve.auc


def test_3_18_homework():
    """Row 3.18: labels -1/1 and scores up to 1000; AUC 2/3, AP .638889."""
    curve = cp.curve([-1, 1, -1, 1, -1, 1], [1000, 0.5, -0.9, 0.8, -0.1, 0.1])
    assert [0, 0, 1, 2, 3, 3, 3] == curve.tp.tolist()
    assert [0, 1, 1, 1, 1, 2, 3] == curve.fp.tolist()
    assert 2 / 3 == curve.auc
    assert 0.638889 == pytest.approx(curve.average_precision, abs=1e-6)


@pytest.mark.parametrize("alpha", [1, 0.25, 1000])
def test_3_19_scaling(alpha):
    """Row 3.19: labels as scores have AUC 1, reversed 0; a positive factor scales thresholds only."""
    labels = np.array([-1, 1, -1, 1, -1, 1])
    one, scaled = cp.curve(labels, labels), cp.curve(labels, alpha * labels)
    assert 1 == one.auc == scaled.auc
    assert 0 == cp.curve(labels, -alpha * labels).auc
    np.testing.assert_array_equal(one.roc().tpr, scaled.roc().tpr)
    np.testing.assert_array_equal(alpha * one.thresholds, scaled.thresholds)


def test_3_20_log_loss_and_balanced_accuracy():
    """Row 3.20: log-loss .279777, balanced accuracy .625, equal to accuracy on balanced data."""
    p = np.array([0.9, 0.2, 0.6])
    found = cp.evaluate_classes([1, 0, 1], np.stack([1 - p, p], axis=1), top_k=1)
    assert 0.279777 == pytest.approx(found.log_loss, abs=1e-6)
    assert 0.625 == cp.evaluate_classes([0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1]).balanced_accuracy
    even = cp.evaluate_classes([0, 1, 0, 1], [0, 1, 1, 1])
    assert even.accuracy == even.balanced_accuracy


def test_3_21_imbalance_is_said():
    """Row 3.21: a prevalence below 5 % is a warning."""
    with pytest.warns(DataWarning, match="fewer than 5 %"):
        cp.evaluate([1] + [0] * 40, [0.9] + [0.1] * 40, threshold=0.5)


def test_3_22_pr_climbs_and_drops():
    """Row 3.22: without ties recall rises, or precision drops alone; AP is the sum over steps."""
    curve = cp.curve(*SCAN)
    pr = curve.pr()
    climbs, drops = np.diff(pr.recall[1:]) > 0, np.diff(pr.precision[1:]) < 0
    assert np.all(climbs ^ drops | (pr.precision[2:] == 1))
    steps = np.diff(pr.recall)
    assert float(np.sum(steps * pr.precision[1:])) == pytest.approx(curve.average_precision, rel=1e-14)


def test_3_23_figures(tmp_path):
    """Row 3.23: the script draws the lecture's figures; the homework has areas 2/3, 1 and 0."""
    module = runpy.run_path(str(EXAMPLES / "lecture_metrics.py"))
    areas = [cp.curve(module["LABELS"], score).auc for score in module["HOMEWORK"].values()]
    assert [2 / 3, 1.0, 0.0] == areas
    written = module["main"](tmp_path)
    assert 8 == len(written)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)

"""S4, the Russian lecture: baselines, choices between models, areas and figures (ACCEPTANCE.md)."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import cutpoints as cp
from cutpoints._compare import improvement
from cutpoints.exceptions import DataWarning

EXAMPLES = Path(__file__).parents[2] / "examples" / "papers"
CREDIT = {
    "a1": cp.Confusion(tp=80, fp=20, fn=20, tn=80),
    "a2": cp.Confusion(tp=48, fp=2, fn=52, tn=98),
}
SCORES = [0.01, 0.09, 0.12, 0.15, 0.29, 0.4, 0.48, 0.6, 0.83, 0.9]
LABELS = [-1, -1, 1, -1, -1, -1, 1, 1, -1, 1]


def test_4_1_accuracy_stands_beside_its_baseline():
    """Row 4.1: a(x) = -1 has accuracy .95, and so has the baseline q0."""
    found = cp.evaluate([0] * 950 + [1] * 50, [0.0] * 1000, threshold=0.5)
    assert (0.95, 0.95) == (found.metrics["accuracy"], found.baseline)
    assert () == found.warnings  # 5 % is not below 5 %, and .95 is not below .95
    compared = cp.compare({"a": cp.Confusion(tp=0, fp=0, fn=50, tn=950)}, maximize="accuracy")
    assert 0.95 == compared.baseline


@pytest.mark.parametrize(("r1", "r2", "share"), [(0.8, 0.9, 0.125), (0.5, 0.75, 0.5), (0.001, 0.01, 9.0)])
def test_4_2_relative_improvement(r1, r2, share):
    """Row 4.2: 12.5 %, 50 %, 900 %."""
    assert share == improvement(r1, r2).relative


def test_4_4_and_4_5_choice_under_a_constraint():
    """Rows 4.4, 4.5: credit wants a2, medicine wants a1."""
    credit = cp.compare(CREDIT, maximize="recall", subject_to="precision >= 0.95")
    assert (("a2",), ["a2"]) == (credit.winners, credit.ranking)
    medicine = cp.compare(CREDIT, maximize="precision", subject_to="recall >= 0.8")
    assert ("a1",) == medicine.winners


def test_4_6_rare_positives_are_warned_of():
    """Row 4.6: accuracy .99 with recall .1 comes with two warnings: it is even below the baseline."""
    with pytest.warns(DataWarning) as caught:
        cp.compare({"a": cp.Confusion(tp=10, fp=20, fn=90, tn=10000)}, maximize="accuracy")
    rare, below = (str(one.message) for one in caught)
    assert "fewer than 5 %" in rare
    assert "0.9891, below the 0.9901" in below


def test_4_10_and_4_11_areas():
    """Rows 4.10, 4.11: areas of the two orders of labels."""
    curve = cp.curve(LABELS, SCORES)
    assert 0.75 == curve.auc
    assert 0.729167 == pytest.approx(curve.average_precision, abs=1e-6)
    other = cp.curve([-1, 1] * 5, SCORES)
    assert 0.6 == other.auc
    assert 0.678730 == pytest.approx(other.average_precision, abs=1e-6)


def test_4_12_pr_by_hand():
    """Row 4.12: the six points, AP .866667, trapezoid .85, AUC 7/9."""
    curve = cp.curve([0, 1, 0, 0, 1, 1], [0.14, 0.23, 0.39, 0.52, 0.73, 0.90])
    pr = curve.pr()
    np.testing.assert_allclose(pr.precision[:0:-1], [0.5, 0.6, 0.5, 2 / 3, 1, 1])
    np.testing.assert_allclose(pr.recall[:0:-1], [1, 1, 2 / 3, 2 / 3, 2 / 3, 1 / 3])
    assert 0.866667 == pytest.approx(curve.average_precision, abs=1e-6)
    assert 0.85 == pytest.approx(curve.auc_pr("trapezoid"))
    assert 7 / 9 == curve.auc


def test_4_13_ends_of_the_pr_curve():
    """Row 4.13: it ends at (1, prevalence); it begins at the top score's precision, which may be 0."""
    curve = cp.curve(LABELS, SCORES)
    pr = curve.pr()
    assert (1.0, 0.4) == (pr.recall[-1], pr.precision[-1])
    assert 0.4 == curve.prevalence
    top_is_negative = cp.curve([0, 1, 1], [0.9, 0.5, 0.2]).pr()
    assert (0.0, 0.0) == (top_is_negative.recall[1], top_is_negative.precision[1])


def test_4_15_figures(tmp_path):
    """Row 4.15: the script draws six contours and two PR curves."""
    main = runpy.run_path(str(EXAMPLES / "lecture_precision_recall.py"))["main"]
    written = main(tmp_path)
    assert 8 == len(written)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)

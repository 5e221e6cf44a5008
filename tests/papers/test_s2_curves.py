"""S2, the Slovenian lecture: its curves, areas, hull and figures (rows of ACCEPTANCE.md)."""

import math
import runpy
from pathlib import Path

import numpy as np
import pytest

import cutpoints as cp

EXAMPLES = Path(__file__).parents[2] / "examples" / "papers"
MODELS = {
    "M1": cp.Confusion(tp=50, fp=30, fn=0, tn=20),
    "M2": cp.Confusion(tp=20, fp=0, fn=30, tn=50),
    "M3": cp.Confusion(tp=35, fp=15, fn=15, tn=35),
}
M = ([0, 0, 1, 1, 0, 0, 1, 1], [0.0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9])
IDEAL = ([0, 0, 0, 0, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.7, 0.7, 0.8, 0.9])


@pytest.mark.parametrize(
    ("fp", "fn", "costs", "winners", "slope"),
    [
        (2, 1, [60, 30, 45], ("M2",), 2.0),
        (1, 2, [30, 60, 45], ("M1",), 0.5),
        (1, 1, [30, 30, 30], ("M1", "M2", "M3"), 1.0),
    ],
)
def test_2_4_and_2_5_choice_by_cost(fp, fn, costs, winners, slope):
    """Rows 2.4, 2.5: costs, the cheapest models, all of them if equal, and the slope of equal cost."""
    found = cp.compare(MODELS, minimize=cp.metrics.cost(fp=fp, fn=fn))
    assert costs == [entry.value for entry in found.entries.values()]
    assert winners == found.winners
    data = cp.from_counts([0.0, 1.0], positives=[15, 35], negatives=[35, 15])
    assert slope == cp.curve(data).hull().at_cost(fp=fp, fn=fn).slope


def test_2_7_and_2_9_tables_of_the_curves():
    """Rows 2.7, 2.9: TPR, FPR and PPV at every threshold; PPV is NaN where nobody is positive."""
    curve = cp.curve(*M)
    roc, pr = curve.roc(), curve.pr()
    assert [math.inf, 0.9, 0.7, 0.4, 0.3, 0.1, 0.0] == roc.thresholds.tolist()
    assert [0, 0.25, 0.5, 0.5, 1, 1, 1] == roc.tpr.tolist()
    assert [0, 0, 0, 0.25, 0.5, 0.75, 1] == roc.fpr.tolist()
    expected = [math.nan, 1, 1, 0.67, 0.67, 0.57, 0.5]
    np.testing.assert_array_equal(np.round(pr.precision, 2), expected)
    # The lecture's threshold 1.0 makes the same decisions as inf.
    assert curve.at(1.0).confusion == curve.at(math.inf).confusion


def test_2_11_areas():
    """Row 2.11: ties count half in the AUC; AP and the PR trapezoid."""
    curve = cp.curve(*M)
    assert 0.8125 == curve.auc
    y, s = map(np.array, M)
    strict = (s[y == 1][:, None] > s[y == 0][None, :]).mean()
    assert 0.75 == strict
    assert 5 / 6 == pytest.approx(curve.average_precision)
    assert 5 / 6 == pytest.approx(curve.auc_pr("trapezoid"))


def test_2_12_hull():
    """Row 2.12: the vertices of the hull and its area."""
    hull = cp.curve(*M).hull()
    assert [math.inf, 0.7, 0.3, 0.0] == hull.thresholds.tolist()
    assert 0.875 == hull.area


def test_2_13_ideal_and_reversed():
    """Row 2.13: the ideal model has AUC and AP 1, the reversed one AUC 0."""
    y, s = IDEAL
    assert 1 == cp.curve(y, s).auc == cp.curve(y, s).average_precision
    assert 0 == cp.curve(y, [-x for x in s]).auc


def test_2_14_pr_is_not_monotone():
    """Row 2.14: the counter-example falls and rises again."""
    curve = cp.curve([0, 0, 1, 1, 0, 0, 0, 1], [0.1, 0.1, 0.2, 0.3, 0.4, 0.6, 0.9, 1.0])
    points = list(zip(curve.pr().recall[1:], curve.pr().precision[1:], strict=True))
    third = 1 / 3
    expected = [(third, 1), (third, 0.5), (third, third), (third, 0.25), (2 / 3, 0.4), (1, 0.5), (1, 0.375)]
    assert [pytest.approx(point) for point in expected] == points
    assert 0.6 == pytest.approx(curve.auc)
    assert 0.633333 == pytest.approx(curve.average_precision, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_2_15_roc_rises_in_three_kinds_of_steps(seed):
    """Row 2.15: a step goes up, right, or both, and both only where scores of both classes tie."""
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 2, 40), rng.integers(0, 15, 40)
    curve = cp.curve(y, s)
    up, right = np.diff(curve.tp), np.diff(curve.fp)
    assert np.all((up >= 0) & (right >= 0) & (up + right > 0))
    for threshold, a, b in zip(curve.thresholds[1:], up, right, strict=True):
        assert (a > 0 and b > 0) == (len(set(y[s == threshold])) == 2)


def test_2_17_figures(tmp_path):
    """Row 2.17: the script draws the lecture's figures."""
    main = runpy.run_path(str(EXAMPLES / "lecture_roc_pr.py"))["main"]
    written = main(tmp_path)
    assert 9 == len(written)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)

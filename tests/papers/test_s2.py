"""S2, the Slovenian lecture: rows of ACCEPTANCE.md."""

import math

import pytest

import cutpoints as cp
from cutpoints import metrics as m

M1 = cp.Confusion(tp=50, fp=30, fn=0, tn=20)
M2 = cp.Confusion(tp=20, fp=0, fn=30, tn=50)
M3 = cp.Confusion(tp=35, fp=15, fn=15, tn=35)
MODELS = (M1, M2, M3)

Y = [0, 0, 1, 1, 0, 0, 1, 1]
S = [0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9]


def of(metric, digits=6):
    """The metric at the three models."""
    return [round(model.metric(metric), digits) for model in MODELS]


def test_2_1_three_models_of_equal_error():
    """Row 2.1: error .3 and accuracy .7 for all three; shares called positive .8, .2, .5."""
    assert [0.3, 0.3, 0.3] == of("error_rate")
    assert [0.7, 0.7, 0.7] == of("accuracy")
    assert [0.8, 0.2, 0.5] == of("predicted_positive_rate")


def test_2_2_points_in_roc_space():
    """Row 2.2: (TPR, FPR) of the three models."""
    assert [1.0, 0.4, 0.7] == of("tpr")
    assert [0.6, 0.0, 0.3] == of("fpr")


def test_2_3_points_in_pr_space():
    """Row 2.3: (PPV, TPR) of the three models."""
    assert [0.625, 1.0, 0.7] == of("ppv")
    assert [1.0, 0.4, 0.7] == of("recall")


def test_2_4_false_alarms_cost_twice():
    """Row 2.4: with FP 2 and FN 1 the second model is cheapest."""
    assert [60, 30, 45] == of("cost(fp=2, fn=1)")
    assert M2 is min(MODELS, key=lambda model: model.metric(m.cost(fp=2, fn=1)))


def test_2_5_misses_cost_twice():
    """Row 2.5: with FP 1 and FN 2 the first model is cheapest; at 1:1 all three cost 30."""
    assert [30, 60, 45] == of("cost(fp=1, fn=2)")
    assert M1 is min(MODELS, key=lambda model: model.metric(m.cost(fp=1, fn=2)))
    assert [30, 30, 30] == of("cost(fp=1, fn=1)")


def test_2_6_f1_and_mcc():
    """Row 2.6: the numerator of MCC has a minus; a plus would give the third model .58."""
    assert [0.769231, 0.571429, 0.7] == of("f1")
    assert [0.5, 0.5, 0.4] == of("mcc")


@pytest.mark.parametrize(
    ("theta", "counts"),
    [(1.0, (0, 0, 4, 4)), (0.9, (1, 0, 3, 4)), (0.4, (2, 1, 2, 3)), (0.3, (4, 2, 0, 2))],
)
def test_2_8_two_by_two_tables(theta, counts):
    """Row 2.8: TP, FP, FN, TN at four thresholds; nobody scores 1.0."""
    # A goal that only this predicted-positive count meets fixes the threshold.
    called = counts[0] + counts[1]
    solution = cp.find(Y, S, maximize="accuracy", subject_to=f"{called} <= predicted_positive <= {called}")

    assert counts == tuple(solution.confusion.to_dict().values())
    assert (math.inf if called == 0 else theta) == solution.threshold
    assert solution.interval.low < theta <= solution.interval.high


def test_2_10_accuracy_has_two_optima():
    """Row 2.10: accuracy .75 at both .7 and .3."""
    solution = cp.find(Y, S, maximize="accuracy")

    assert 0.75 == solution.value
    assert 0.7 == solution.threshold
    assert [0.3] == [tie.threshold for tie in solution.ties]


@pytest.mark.parametrize(
    ("goal", "threshold", "value"),
    [
        ({"maximize": "f1"}, 0.3, 0.8),
        ({"minimize": "cost(fp=2, fn=1)"}, 0.7, 2),
        ({"minimize": "cost(fp=1, fn=2)"}, 0.3, 2),
    ],
)
def test_2_10_other_optima(goal, threshold, value):
    """Row 2.10: F1 .8 at .3; cost 2 at .7 for 2:1 and at .3 for 1:2."""
    solution = cp.find(Y, S, **goal)

    assert (threshold, value, 0) == (solution.threshold, solution.value, len(solution.ties))

"""S3, the Rome lecture: rows of ACCEPTANCE.md."""

import math

import numpy as np
import pytest

import cutpoints as cp

CASE = cp.Confusion(tp=9, fp=2, fn=1, tn=8)
SUMMARY = {
    "prevalence": 0.5,
    "accuracy": 0.85,
    "balanced_accuracy": 0.85,
    "tpr": 0.9,
    "fnr": 0.1,
    "fpr": 0.2,
    "tnr": 0.8,
    "ppv": 0.818182,
    "fdr": 0.181818,
    "npv": 0.888889,
    "false_omission_rate": 0.111111,
    "informedness": 0.7,
    "markedness": 0.707071,
    "lr_plus": 4.5,
    "lr_minus": 0.125,
    "diagnostic_odds_ratio": 36,
    "f1": 0.857143,
    "fowlkes_mallows": 0.858116,
    "mcc": 0.703526,
    "csi": 0.75,
    "prevalence_threshold": 0.320377,
    "kappa": 0.7,
}


@pytest.mark.parametrize(("name", "expected"), SUMMARY.items())
def test_3_14_summary(name, expected):
    """Row 3.14: the metrics of the summary slide at TP 9, TN 8, FP 2, FN 1."""
    assert expected == round(CASE.metric(name), 6)


def test_3_14_mcc_in_both_forms():
    """Row 3.14: MCC from the counts equals the one from the eight rates."""
    v = {name: CASE.metric(name) for name in ("tpr", "tnr", "ppv", "npv", "fnr", "fpr", "fomr", "fdr")}
    rates = math.sqrt(v["tpr"] * v["tnr"] * v["ppv"] * v["npv"]) - math.sqrt(
        v["fnr"] * v["fpr"] * v["fomr"] * v["fdr"]
    )

    assert rates == pytest.approx(CASE.metric("mcc"), rel=1e-14)


SCAN_S = np.arange(19, -1, -1) / 20
SCAN_Y = [1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("maximize", "subject_to", "threshold", "value"),
    [
        ("accuracy", None, 0.45, 0.85),
        ("f1", None, 0.45, 6 / 7),
        ("recall", "precision >= 0.95", 0.90, 0.2),
        ("precision", "recall >= 0.8", 0.45, 9 / 11),
    ],
)
def test_3_16_optimum_of_the_scan(maximize, subject_to, threshold, value):
    """Row 3.16: accuracy and F1 at .45, recall .2 at .90, precision .818 at .45."""
    solution = cp.find(SCAN_Y, SCAN_S, maximize=maximize, subject_to=subject_to)

    assert (threshold, value) == (solution.threshold, solution.value)
    assert 0 == len(solution.ties)


def test_3_16_confusion_of_the_optimum():
    """Row 3.16: the scan's row .45 is the case of the summary slide."""
    assert CASE == cp.find(SCAN_Y, SCAN_S, maximize="accuracy").confusion


HOMEWORK_Y = [-1, 1, -1, 1, -1, 1]
HOMEWORK_S = [1000, 0.5, -0.9, 0.8, -0.1, 0.1]


def test_3_18_labels_minus_one_and_scores_without_scale():
    """Row 3.18: labels -1/+1 and scores from -0.9 to 1000 are taken as they are."""
    solution = cp.find(HOMEWORK_Y, HOMEWORK_S, maximize="accuracy")

    assert 0.1 == solution.threshold
    assert cp.Confusion(tp=3, fp=1, fn=0, tn=2) == solution.confusion


@pytest.mark.parametrize(
    ("called", "tp", "fp"),
    [(0, 0, 0), (1, 0, 1), (2, 1, 1), (3, 2, 1), (4, 3, 1), (5, 3, 2), (6, 3, 3)],
)
def test_3_18_counts_at_every_cut(called, tp, fp):
    """Row 3.18: TPR*3 is 0, 0, 1, 2, 3, 3, 3 and FPR*3 is 0, 1, 1, 1, 1, 2, 3."""
    solution = cp.find(
        HOMEWORK_Y,
        HOMEWORK_S,
        maximize="accuracy",
        subject_to=f"{called} <= predicted_positive <= {called}",
    )

    assert (tp, fp) == (solution.confusion.tp, solution.confusion.fp)


# Five diners x_1 ... x_5: overcooked pasta?, long waiting time?, rude waiter?, satisfied?
PASTA = [1, 0, 1, 0, 1]
WAIT = [1, 0, 1, 1, 0]
WAITER = [0, 1, 1, 1, 1]
SATISFIED = [1, 1, 0, 1, 0]


def gain(labels, attribute):
    """The information gain of a split by a yes/no attribute, in bits."""
    pairs = list(zip(attribute, labels, strict=True))
    counts = {"tp": (1, 1), "fp": (1, 0), "fn": (0, 1), "tn": (0, 0)}
    confusion = cp.Confusion(**{name: pairs.count(pair) for name, pair in counts.items()})
    return round(confusion.metric("information_gain"), 6)


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [(PASTA, 0.419973), (WAIT, 0.019973), (WAITER, 0.170951)],
    ids=["pasta", "wait", "waiter"],
)
def test_3_11_information_gain_of_five_diners(attribute, expected):
    """Row 3.11: the gains of the three attributes; a label tells its own entropy, .970951."""
    assert 0.970951 == gain(SATISFIED, SATISFIED)
    assert expected == gain(SATISFIED, attribute)


@pytest.mark.parametrize(
    ("attribute", "expected"), [(WAIT, 0.251629), (WAITER, 0.918296)], ids=["wait", "waiter"]
)
def test_3_11_second_level(attribute, expected):
    """Row 3.11: among those with overcooked pasta the waiter splits into pure leaves."""
    among = [i for i, pasta in enumerate(PASTA) if pasta]

    assert expected == gain([SATISFIED[i] for i in among], [attribute[i] for i in among])


def test_3_11_information_gain_as_an_objective():
    """Row 3.11: maximised over cuts, it is the best split of a decision tree."""
    solution = cp.find([0, 0, 0, 1, 1, 0], [1, 2, 3, 4, 5, 6], maximize="information_gain")

    assert 4 == solution.threshold
    assert solution.value == pytest.approx(0.459148, abs=1e-6)

"""The whole catalogue at one threshold, hard labels, many classes."""

import json
import math
from statistics import NormalDist

import numpy as np
import pytest
from sklearn import metrics as sk

import cutpoints as cp
from cutpoints._evaluate import evaluate_cut, proportion_interval
from cutpoints.exceptions import DataWarning, InvalidInputError, InvalidParameterError
from cutpoints.metrics.registry import PLAIN

CASE = cp.Confusion(tp=9, fp=2, fn=1, tn=8)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (57, 400)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wilson_inverts_the_score_test(k, n, confidence):
    """At both ends the share is as many standard errors away as the confidence says."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)

    for end in proportion_interval(k, n, confidence=confidence):
        if 0 < end < 1:
            assert z == pytest.approx(abs(k / n - end) / math.sqrt(end * (1 - end) / n))
        else:
            assert k / n == end


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (57, 400)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_clopper_pearson_is_scipys(k, n, confidence):
    """Clopper and Pearson's interval is the exact one of SciPy."""
    from scipy.stats import binomtest

    expected = binomtest(k, n).proportion_ci(confidence, method="exact")
    low, high = proportion_interval(k, n, confidence=confidence, method="clopper_pearson")
    assert expected.low == pytest.approx(low, abs=1e-12)
    assert expected.high == pytest.approx(high, abs=1e-12)


def test_clopper_pearson_of_a_rare_share():
    """One of a billion rows: both ends solve the binomial equations that define them."""
    from scipy.stats import binom

    low, high = proportion_interval(1, 10**9, method="clopper_pearson")

    assert 0.025 == pytest.approx(binom.sf(0, 10**9, low), rel=1e-6)
    assert 0.025 == pytest.approx(binom.cdf(1, 10**9, high), rel=1e-6)


def test_no_trials_know_nothing():
    """Without trials the share can be anything."""
    assert (0.0, 1.0) == proportion_interval(0, 0)


def test_clopper_pearson_covers_at_least():
    """Its coverage is never below the confidence, whatever the share."""
    from scipy.stats import binom

    for share in np.linspace(0.02, 0.98, 25):
        covered = sum(
            binom.pmf(k, 30, share)
            for k in range(31)
            if proportion_interval(k, 30, method="clopper_pearson").low
            <= share
            <= proportion_interval(k, 30, method="clopper_pearson").high
        )
        assert covered >= 0.95


def test_the_whole_catalogue_is_there():
    """Every metric without parameters has a value, and every share an interval around it."""
    found = evaluate_cut(CASE)
    assert [metric.name for metric in PLAIN] == list(found.metrics)
    assert 12 == len(found.intervals)
    for name, (low, high) in found.intervals.items():
        assert low <= found.metrics[name] <= high
    assert 0.5 == found.baseline


@pytest.mark.filterwarnings("ignore::cutpoints.exceptions.DataWarning")
def test_threshold_is_replayed():
    """The confusion is that of a plain pass over the rows; areas come along."""
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 200), np.round(rng.random(200), 2)
    found = cp.evaluate(y, p, threshold=0.93)
    tn, fp, fn, tp = sk.confusion_matrix(y, p >= 0.93).ravel()
    assert cp.Confusion(tp=int(tp), fp=int(fp), fn=int(fn), tn=int(tn)) == found.confusion
    assert sk.roc_auc_score(y, p) == pytest.approx(found.auc)
    assert cp.evaluate(cp.curve(y, p), threshold=0.5).confusion == cp.curve(y, p).at(0.5).confusion


def test_report_is_scikit_learns():
    """The classification report has scikit-learn's numbers."""
    y = [0] * 10 + [1] * 10
    decided = [0] * 8 + [1] * 2 + [0] + [1] * 9
    expected = sk.classification_report(y, decided, output_dict=True)
    text = cp.evaluate(y, decided, threshold=0.5).report()
    for row in ("macro avg", "weighted avg", "0", "1"):
        for key in ("precision", "recall", "f1-score"):
            assert f"{expected[row][key]:.4f}" in text


def test_more_rows_than_int64_have_no_intervals():
    """Counts beyond 2**63 can only be weights: metrics are there, intervals are not."""
    found = evaluate_cut(cp.Confusion(tp=2**62, fp=2**62, fn=2**62, tn=2**62))

    assert 0.5 == found.metrics["accuracy"]
    assert {} == found.intervals


def test_weights_have_no_intervals():
    """A sum of weights is no number of trials: metrics are there, intervals are not."""
    found = cp.evaluate([0, 1, 1], [0.2, 0.6, 0.9], threshold=0.5, sample_weight=[0.5, 1.5, 2.25])
    assert 1.0 == found.metrics["accuracy"]
    assert {} == found.intervals
    assert cp.evaluate([0, 1, 1], [0.2, 0.6, 0.9], threshold=0.5, sample_weight=[1, 2, 2]).intervals


def test_rare_positives_are_warned_of():
    """Below 5 % there is a warning, at 5 % there is none."""
    with pytest.warns(DataWarning, match="fewer than 5 %"):
        cp.evaluate([1] * 4 + [0] * 96, [0.9] * 4 + [0.1] * 96, threshold=0.5)
    assert () == cp.evaluate([1] * 5 + [0] * 95, [0.9] * 5 + [0.1] * 95, threshold=0.5).warnings


def test_many_classes_through_scikit_learn():
    """Scores of several classes: matrix, per class, averages, top-k and log-loss."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 100)
    p = rng.dirichlet(np.ones(4), 100)
    found = cp.evaluate_classes(y, p, top_k=3)
    decided = p.argmax(axis=1)
    np.testing.assert_array_equal(sk.confusion_matrix(y, decided), found.confusion_matrix)
    assert sk.log_loss(y, p) == pytest.approx(found.log_loss)
    assert sk.top_k_accuracy_score(y, p, k=3) == pytest.approx(found.top_k_accuracy)
    assert sk.f1_score(y, decided, average="macro") == pytest.approx(found.averages["macro"]["f1"])
    assert sk.f1_score(y, decided, average="micro") == pytest.approx(found.averages["micro"]["f1"])
    assert sk.cohen_kappa_score(y, decided) == pytest.approx(found.kappa)
    assert sk.balanced_accuracy_score(y, decided) == pytest.approx(found.balanced_accuracy)
    np.testing.assert_allclose(
        sk.precision_score(y, decided, average=None), [row["precision"] for row in found.per_class.values()]
    )
    json.dumps(found.to_dict(), allow_nan=False)


def test_labels_of_text():
    """Hard labels may be text; a class that is never predicted has no precision."""
    found = cp.evaluate_classes(["cat", "dog", "cow"], ["cat", "cat", "cow"])
    assert ["cat", "cow", "dog"] == found.labels
    assert math.isnan(found.per_class["dog"]["precision"])
    assert math.isnan(found.log_loss)


def test_json_is_strict():
    """The JSON form has no NaN and no infinity."""
    shown = cp.evaluate([0, 1], [0.1, 0.9], threshold=math.inf).to_dict()
    assert "inf" == json.loads(json.dumps(shown, allow_nan=False))["threshold"]
    assert shown["metrics"]["precision"] is None


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: cp.evaluate_classes([0, 1], [0.2, 0.7]), InvalidParameterError, "threshold=0.5"),
        (lambda: cp.evaluate([0, 1], None, threshold=0.5), InvalidParameterError, "y_score"),
        (lambda: cp.evaluate_classes([0, 1], [1]), InvalidInputError, "same number"),
        (lambda: cp.evaluate_classes([], []), InvalidInputError, "at least one row"),
        (
            lambda: cp.evaluate([0, 1], [0.2, 0.7], threshold=0.5, confidence=95),
            InvalidParameterError,
            "0.95",
        ),
        (
            lambda: cp.evaluate([0, 1], [0.2, 0.7], threshold=0.5, interval="wald"),
            InvalidParameterError,
            "wilson",
        ),
        (lambda: cp.evaluate([0, 1], [0.2, 0.7], threshold=math.nan), InvalidParameterError, "threshold"),
        (lambda: cp.evaluate_classes([0, 1], [[0.2, 0.7]] * 2, top_k=3), InvalidParameterError, "top_k"),
        (lambda: cp.evaluate_classes([0, 1], [[0.2, 0.7, 0.1]] * 2), InvalidInputError, "columns of y_pred"),
        (lambda: cp.evaluate_classes([0, 1], [[0.2, math.nan]] * 2), InvalidInputError, "NaN"),
    ],
)
def test_bad_input_is_named(call, error, match):
    """What cannot be evaluated is refused, with the way out."""
    with pytest.raises(error, match=match):
        call()


def test_counts_are_written_whole():
    """In texts, counts have separators and no decimals, and a million rows no exponent."""
    data = cp.from_counts([0.9, 0.1], positives=[1_234_567, 10], negatives=[20, 3_000_000])
    found = cp.evaluate(data, threshold=0.5)
    lines = dict(line.split()[:2] for line in repr(found).splitlines() if line)

    assert "1,234,587" == lines["predicted_positive"]
    assert "tp 1,234,567  fp 20  fn 10  tn 3,000,000" in repr(found)
    assert "3,000,020" in found.report()

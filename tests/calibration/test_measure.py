"""Whether probabilities can be believed: each number against its definition or another library."""

import json
import math

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

import cutpoints as cp
from cutpoints._result import Interval
from cutpoints._theory import Theory
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

RNG = np.random.default_rng(0)


def draw(seed=0, size=2000, bend=1.0):
    """Labels that follow p, and p ** bend."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.5, 2.5, size)
    return (rng.random(size) < p).astype(int), p**bend


# --- the curve


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 2, 10, 37])
def test_curve_is_that_of_scikit_learn(strategy, n_bins):
    """Bins of equal width and of equal mass are those of scikit-learn."""
    y, p = draw()
    observed, predicted = calibration_curve(y, p, n_bins=n_bins, strategy=strategy)
    curve = cp.calibration(y, p, strategy=strategy, n_bins=n_bins).curve
    np.testing.assert_allclose(curve.observed, observed)
    np.testing.assert_allclose(curve.predicted, predicted)
    assert len(p) == curve.count.sum()


def test_isotonic_bins_are_level_sets():
    """Observed shares of isotonic bins ascend strictly, and each is the mean of its rows."""
    y, p = draw(size=500)
    curve = cp.calibration(y, p, strategy="isotonic").curve
    assert (np.diff(curve.observed) > 0).all()
    assert (curve.low[1:] > curve.high[:-1]).all()
    for low, high, share in zip(curve.low, curve.high, curve.observed, strict=True):
        assert share == pytest.approx(y[(p >= low) & (p <= high)].mean())


def test_ece_by_hand():
    """ECE is the mean gap over rows, and names its bins."""
    curve = cp.calibration([0, 1, 1, 1], [0.1, 0.3, 0.6, 0.8], n_bins=2).curve
    assert curve.ece == pytest.approx((2 * abs(0.5 - 0.2) + 2 * abs(1 - 0.7)) / 4)
    assert curve.max_error == pytest.approx(0.3)
    assert ("uniform", 2) == (curve.strategy, curve.n_bins)


def test_the_edges_zero_and_one_have_bins():
    """Probabilities of exactly 0 and 1 are in the end bins."""
    curve = cp.calibration([0, 1], [0.0, 1.0], n_bins=5).curve
    assert [0.0, 1.0] == curve.predicted.tolist() == curve.observed.tolist()


# --- the numbers


def test_scores_are_those_of_scikit_learn():
    """Brier score and log-loss."""
    y, p = draw()
    found = cp.calibration(y, p)
    assert found.brier == pytest.approx(brier_score_loss(y, p))
    assert found.log_loss == pytest.approx(log_loss(y, p))


@pytest.mark.parametrize("bend", [0.5, 1, 2])
def test_decomposition(bend):
    """Brier = miscalibration - discrimination + uncertainty, and no part is negative."""
    found = cp.calibration(*draw(bend=bend))
    parts = found.miscalibration - found.discrimination + found.uncertainty
    assert found.brier == pytest.approx(parts, abs=1e-14)
    assert min(found.miscalibration, found.discrimination, found.uncertainty) >= 0


def test_slope_and_intercept_are_those_of_logistic_regression():
    """The regression of y on the log-odds, without a penalty."""
    y, p = draw(bend=1.5)
    x = np.log(p / (1 - p))[:, None]
    other = LogisticRegression(C=1e10, tol=1e-10, max_iter=1000).fit(x, y)
    found = cp.calibration(y, p)
    assert found.slope == pytest.approx(other.coef_[0, 0], abs=1e-5)
    assert found.intercept == pytest.approx(other.intercept_[0], abs=1e-5)


def test_intercept_alone():
    """At slope 1 the shifted probabilities have the mean of the labels."""
    y, p = draw(bend=2)
    found = cp.calibration(y, p)
    shifted = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + found.intercept_only)))
    assert y.mean() == pytest.approx(shifted.mean(), abs=1e-12)
    assert found.intercept_only > 0


def test_cox_statistic_by_likelihoods():
    """Twice the log-likelihood ratio of the fitted line against slope 1 and intercept 0."""
    y, p = draw(bend=1.3)
    found = cp.calibration(y, p)
    q = 1 / (1 + np.exp(-(found.intercept + found.slope * np.log(p / (1 - p)))))
    ratio = 2 * len(y) * (log_loss(y, p) - log_loss(y, q))
    assert found.cox_chi2 == pytest.approx(ratio, rel=1e-8)
    assert found.cox_p == pytest.approx(math.exp(-ratio / 2), rel=1e-6)


def test_spiegelhalter_by_hand():
    """The sum of (y - p)(1 - 2p) over the root of its variance."""
    y, p = np.array([0, 1, 1]), np.array([0.2, 0.6, 0.9])
    z = np.sum((y - p) * (1 - 2 * p)) / math.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    assert cp.calibration(y, p).spiegelhalter_z == pytest.approx(z)


def test_tests_hold_their_level():
    """On calibrated probabilities each test rejects about one time in twenty; on bent ones, always."""
    fine = [cp.calibration(*draw(seed, 500)) for seed in range(200)]
    for name in ("spiegelhalter_p", "cox_p"):
        rejected = np.mean([getattr(one, name) < 0.05 for one in fine])
        assert 0.01 < rejected < 0.11
    assert all(cp.calibration(*draw(seed, 2000, 2)).cox_p < 0.01 for seed in range(10))


def test_verdict_and_json():
    """The verdict names the tests that reject; the JSON is strict."""
    assert "Not calibrated" in cp.calibration(*draw(bend=2)).verdict
    found = cp.calibration(*draw())
    assert "No test rejects" in found.verdict
    assert found.verdict in repr(found)
    shown = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert 10 == len(shown["curve"]["bins"])
    assert found.ece == shown["curve"]["ece"]


def test_separated_classes():
    """The slope is infinite where the probabilities separate the classes."""
    found = cp.calibration([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9])
    assert math.inf == found.slope
    assert "inf" == found.to_dict()["slope"]
    assert found.discrimination == pytest.approx(found.uncertainty)
    assert -math.inf == cp.calibration([1, 1, 0, 0], [0.1, 0.2, 0.7, 0.9]).slope


def test_one_probability():
    """With one probability for all, there is no slope, and the shift is that of the log-odds."""
    found = cp.calibration([0, 1, 1, 1], [0.5] * 4)
    assert math.isnan(found.slope)
    assert found.intercept == pytest.approx(math.log(3))
    assert math.isnan(found.spiegelhalter_z)


def test_sure_and_wrong():
    """A probability of 0 for what happened makes the log-loss infinite, and nothing else."""
    found = cp.calibration([1, 0, 1, 0], [0.0, 0.2, 0.8, 0.6])
    assert math.inf == found.log_loss
    assert math.isfinite(found.slope)


# --- the theory of a threshold


def test_theory_of_a_threshold():
    """The gap is that between the interval of the optimum and the theory's threshold."""
    found = cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1")
    assert (0.35, 0.4) == (found.threshold, found.theory.threshold)
    assert found.theory.gap == pytest.approx(0.05)
    assert "too low" in found.theory.sentence
    assert "a gap of 0.05" in found.theory.sentence


def test_theory_sees_bent_probabilities():
    """Squared probabilities are too low, rooted ones too high; straight ones have a small gap."""
    gaps = [cp.find(*draw(size=20_000, bend=bend), maximize="f1").theory.gap for bend in (2, 1, 0.5)]
    assert gaps[0] > 0.1
    assert abs(gaps[1]) < 0.05
    assert gaps[2] < -0.1


def test_theory_that_agrees():
    """Where the two agree it says so."""
    theory = cp.find([0, 1], [0.2, 0.9], maximize="f1").theory
    assert 0 == theory.gap
    assert "they agree" in theory.sentence


def test_no_theory():
    """Other metrics, your own functions and constraints have no threshold to compare with."""
    y, p = [0, 1], [0.2, 0.9]
    own = cp.metrics.custom(lambda tp, fp, fn, tn: tp - fp)
    assert cp.find(y, p, maximize="mcc").theory is None
    assert cp.find(y, p, maximize=own).theory is None
    assert cp.find(y, p, maximize="f1", subject_to="recall >= 0.5").theory is None


# --- bad input


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1], [0.1, 1.2], "lies outside"),
        ([0, 1], [0.1, math.nan], "NaN"),
        ([], [], "at least one row"),
        ([0, 1, 1], [0.1, 0.2], "same number of rows"),
        ([0, 1, 2], [0.1, 0.2, 0.3], "two distinct labels"),
    ],
)
def test_bad_input(y, p, message):
    """Bad probabilities, labels and lengths are told."""
    with pytest.raises(InvalidInputError, match=message):
        cp.calibration(y, p)


def test_one_class_only():
    """Calibration cannot be measured on one class."""
    with pytest.raises(InvalidInputError, match="no negative rows"):
        cp.calibration([1, 1], [0.4, 0.6])


@pytest.mark.parametrize(
    ("options", "message"), [({"strategy": "kmeans"}, "strategy"), ({"n_bins": 0}, "n_bins")]
)
def test_bad_options(options, message):
    """Unknown bins are refused by name."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.calibration([0, 1], [0.3, 0.4], **options)


def test_labels_of_any_kind():
    """Text labels work with pos_label."""
    y, p = draw(size=200)
    words = np.where(y == 1, "yes", "no")
    assert cp.calibration(y, p).to_dict() == cp.calibration(words, p, pos_label="yes").to_dict()


def test_the_gap_is_between_the_numbers_that_are_told():
    """From below, the theory's threshold meets the interval at its open end, not at the threshold."""
    found = cp.find([0, 1, 0, 1, 1], [0.1, 0.9, 0.85, 0.95, 0.97], maximize="accuracy")
    low = found.interval.low
    assert found.theory.threshold < low
    assert found.theory.threshold - low == found.theory.gap
    assert f"(or any other above {low:.4g})" in found.theory.sentence


def test_the_other_end_of_an_interval_is_below_the_threshold_that_is_told():
    """No "any other above 0.1889" beside a threshold of 0.1888889: rounded up, it would exclude it."""
    theory = Theory(
        objective="f1",
        lambda_=0.3022,
        threshold=0.1511,
        rule="lambda / 2",
        holds=False,
        interval=Interval(0.1888881, 0.1888889),
    )

    assert "is 0.1888889, while" in theory.sentence


def test_a_narrow_interval_is_one_threshold_to_people():
    """Where both ends of the interval read the same, the sentence has one number."""
    found = cp.find([0, 1, 0, 1, 1], [0.1, 0.9, 0.89998, 0.95, 0.97], maximize="accuracy")
    assert found.theory.gap < 0
    assert "accuracy is 0.9, while" in found.theory.sentence

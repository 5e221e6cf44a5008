"""Repair on one split, use on another; and another prevalence."""

import math

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import cutpoints as cp
from cutpoints.exceptions import InvalidInputError, InvalidParameterError


def draw(seed, size, bend=2.0):
    """Labels that follow p, and p bent on the log-odds scale."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.5, 2.5, size)
    odds = np.log(p / (1 - p))
    return (rng.random(size) < p).astype(int), 1 / (1 + np.exp(-(bend * odds - 0.7)))


# --- recalibrate


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_fitted_on_one_split_used_on_another(method):
    """The repaired probabilities of new rows are calibrated; the bent ones are not."""
    repair = cp.recalibrate(*draw(0, 20_000), method=method)
    y, bent = draw(1, 20_000)
    assert cp.calibration(y, bent).spiegelhalter_p < 1e-6
    assert cp.calibration(y, repair.transform(bent)).spiegelhalter_p > 0.01
    assert cp.calibration(y, repair.transform(bent)).ece < 0.02 < cp.calibration(y, bent).ece


def test_isotonic_is_isotonic_regression():
    """Isotonic recalibration is scikit-learn's regression, clipped at the ends."""
    y, p = draw(0, 500)
    other = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    new = np.linspace(0, 1, 101)
    np.testing.assert_allclose(cp.recalibrate(y, p).transform(new), other.predict(new))


def test_sigmoid_leaves_calibrated_probabilities_alone():
    """On log-odds the identity is a sigmoid."""
    y, p = draw(0, 200_000, bend=1.0)
    p = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + 0.7)))
    new = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(cp.recalibrate(y, p, method="sigmoid").transform(new), new, atol=0.01)


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_any_scores(method):
    """Margins become probabilities; the order of rows is kept."""
    rng = np.random.default_rng(0)
    margin = rng.normal(size=5000) * 3
    y = rng.random(5000) < 1 / (1 + np.exp(-margin))
    p = cp.recalibrate(y, margin, method=method).transform(np.linspace(-9, 9, 50))
    assert (np.diff(p) >= 0).all()
    assert 0 <= p[0] < 0.05
    assert 0.95 < p[-1] <= 1


def test_then_expected():
    """Repaired probabilities carry find_expected: its threshold is nearly as good as the best on labels."""
    repair = cp.recalibrate(*draw(0, 20_000))
    y, bent = draw(1, 20_000)
    fixed = repair.transform(bent)
    threshold = cp.find_expected(fixed, maximize="f1").threshold
    got = cp.curve(y, fixed).at(threshold).confusion.metric("f1")
    assert got > cp.find(y, bent, maximize="f1").value - 0.005


@pytest.mark.parametrize(
    ("y", "p", "options", "error"),
    [
        ([0, 1], [0.1, 0.2], {"method": "beta"}, InvalidParameterError),
        ([1, 1], [0.1, 0.2], {}, InvalidInputError),
        ([0, 1], [0.1, math.nan], {}, InvalidInputError),
        ([0, 1], [0.1, math.inf], {}, InvalidParameterError),
        ([0, 1, 1], [0.1, 0.2], {}, InvalidInputError),
        ([], [], {}, InvalidInputError),
    ],
)
def test_bad_recalibration(y, p, options, error):
    """What cannot be fitted is refused."""
    with pytest.raises(error):
        cp.recalibrate(y, p, **options)


def test_new_scores_must_be_of_the_same_kind():
    """A sigmoid that was fitted on probabilities does not take margins."""
    repair = cp.recalibrate([0, 1, 0, 1], [0.2, 0.3, 0.4, 0.9], method="sigmoid")
    with pytest.raises(InvalidInputError, match="lies outside"):
        repair.transform([0.5, 3.0])


# --- another prevalence


def test_adjust_prior_by_bayes():
    """The adjusted posterior of two normal classes is their posterior at the new prevalence."""
    s = np.linspace(-2, 3, 50)

    def posterior(b):
        return 1 / (1 + (1 - b) / b * np.exp(-(1.5 * s - 1.5**2 / 2)))

    adjusted = cp.adjust_prior(posterior(0.5), train_prevalence=0.5, new_prevalence=0.05)
    np.testing.assert_allclose(adjusted, posterior(0.05), rtol=1e-12)
    back = cp.adjust_prior(adjusted, train_prevalence=0.05, new_prevalence=0.5)
    np.testing.assert_allclose(back, posterior(0.5), rtol=1e-12)


def test_adjust_prior_keeps_the_sure_and_the_order():
    """0 and 1 stay, and no two rows change places."""
    p = np.array([0, 0.1, 0.5, 0.9, 1])
    adjusted = cp.adjust_prior(p, train_prevalence=0.3, new_prevalence=0.01)
    assert (0, 1) == (adjusted[0], adjusted[-1])
    assert (np.diff(adjusted) > 0).all()


@pytest.mark.parametrize("bad", [0, 1, -0.1, 5, math.nan, "half", True])
@pytest.mark.parametrize("name", ["train_prevalence", "new_prevalence"])
def test_bad_prevalence(bad, name):
    """A prevalence is a share strictly between 0 and 1."""
    shares = {"train_prevalence": 0.5, "new_prevalence": 0.5, name: bad}
    with pytest.raises(InvalidParameterError, match=name):
        cp.adjust_prior([0.2], **shares)


SHIFT = 1.5
CASES = {
    0.05: (0.0502, 0.370, 0.385),
    0.1: (0.1006, 0.478, 0.486),
    0.3: (0.3007, 0.673, 0.677),
    0.8: (0.8, 0.910, 0.911),
}


def shifted(rng, prevalence, size=5000):
    """Labels and posteriors that are calibrated at one half, at another prevalence."""
    y = rng.random(size) < prevalence
    s = rng.normal(size=size) + SHIFT * y
    return y, 1 / (1 + np.exp(-(SHIFT * s - SHIFT**2 / 2)))


def run(prevalence, runs, seed=0):
    """Estimates, and F1 on labels without adjustment, with it, and at the best threshold."""
    rng = np.random.default_rng(seed)
    found, f1 = [], []
    for _ in range(runs):
        y, p = shifted(rng, prevalence)
        estimate = cp.estimate_prevalence(p, train_prevalence=0.5)
        found.append(estimate.prevalence)
        curve = cp.curve(y, p)
        threshold = cp.find_expected(p, maximize="f1").threshold
        adjusted = cp.adjust_prior(p, train_prevalence=0.5, new_prevalence=estimate.prevalence)
        best = cp.find_expected(adjusted, maximize="f1").threshold
        moved = p[adjusted >= best].min()
        f1.append([curve.at(t).confusion.metric("f1") for t in (threshold, moved)])
        f1[-1].append(curve.best(maximize="f1").value)
    return np.array(found), np.mean(f1, axis=0), estimate


@pytest.mark.parametrize("prevalence", CASES)
def test_new_prevalence(prevalence):
    """The estimate is within three standard errors of the truth, and adjusting nearly attains the best F1."""
    found, (unadjusted, adjusted, oracle), estimate = run(prevalence, 12)
    assert abs(found.mean() - prevalence) < 3 * estimate.standard_error / math.sqrt(12)
    assert adjusted > 0.94 * oracle
    assert adjusted > unadjusted


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", CASES)
def test_new_prevalence_in_full(prevalence):
    """200 runs give the published estimate, its spread and the three F1."""
    found, (unadjusted, adjusted, oracle), estimate = run(prevalence, 200)
    mean, published, best = CASES[prevalence]
    assert abs(found.mean() - mean) < 3 * found.std() / math.sqrt(200) * math.sqrt(2)
    assert found.std() == pytest.approx(estimate.standard_error, rel=0.25)
    assert adjusted == pytest.approx(published, abs=0.01)
    assert oracle == pytest.approx(best, abs=0.01)
    assert adjusted >= 0.95 * oracle
    assert unadjusted < adjusted


def test_estimate_is_the_maximum_of_the_likelihood():
    """EM ends at the top of the likelihood, found here on a fine grid."""
    _, p = shifted(np.random.default_rng(1), 0.3, 500)
    grid = np.linspace(0.001, 0.999, 9981)
    likelihood = [np.log(x * p / 0.5 + (1 - x) * (1 - p) / 0.5).sum() for x in grid]
    found = cp.estimate_prevalence(p, train_prevalence=0.5)
    assert abs(found.prevalence - grid[np.argmax(likelihood)]) < 2e-4
    assert found.prevalence == float(found)


@pytest.mark.parametrize(
    ("p", "reason"),
    [
        ([0.0, 0.4, 0.6], "exactly 0 or 1"),
        ([1.0, 0.4, 0.6], "exactly 0 or 1"),
        ([1e-6, 1 - 1e-6, 1e-7], "do not overlap"),
        ([0.4] * 5, "all the same"),
        ([0.1, 0.2, 0.3], "greatest at a prevalence of 0"),
        ([0.9, 0.8, 0.7], "greatest at a prevalence of 1"),
    ],
)
def test_no_estimate(p, reason):
    """Where the prevalence cannot be told from the probabilities, the reason is."""
    with pytest.raises(InvalidInputError, match=reason) as error:
        cp.estimate_prevalence(p, train_prevalence=0.5)
    assert "Hint: label a sample" in str(error.value)

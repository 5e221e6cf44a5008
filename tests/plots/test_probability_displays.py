"""ReliabilityDisplay and ExpectedCurveDisplay: what they draw is what was computed."""

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot as plt

import cutpoints as cp
from cutpoints.exceptions import InvalidParameterError
from cutpoints.plots import ExpectedCurveDisplay, ReliabilityDisplay

RNG = np.random.default_rng(0)
P = RNG.beta(1, 2, 400)
Y = RNG.random(400) < P


@pytest.fixture(autouse=True)
def close():
    """Close all figures after each test."""
    yield
    plt.close("all")


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_reliability_line_is_the_curve(strategy):
    """The line goes through the bins, and the legend states them."""
    shown = ReliabilityDisplay.from_predictions(Y, P, strategy=strategy, n_bins=7, name="model")
    curve = cp.reliability_curve(Y, P, strategy=strategy, n_bins=7)
    np.testing.assert_array_equal(shown.line_.get_xdata(), curve.predicted)
    np.testing.assert_array_equal(shown.line_.get_ydata(), curve.observed)
    assert f"model (ECE {curve.ece:.3f} in 7 {strategy} bins)" == shown.line_.get_label()


def test_reliability_does_not_pass_over_weights():
    """The curve has no weights, so weights are an error and not ignored."""
    with pytest.raises(TypeError, match="sample_weight"):
        ReliabilityDisplay.from_predictions(Y, P, sample_weight=np.ones(400))


def test_isotonic_line_has_steps():
    """Each level set is a flat piece from its lowest to its highest probability."""
    shown = ReliabilityDisplay.from_predictions(Y, P, strategy="isotonic")
    curve = cp.reliability_curve(Y, P, strategy="isotonic")
    np.testing.assert_array_equal(shown.line_.get_ydata()[::2], curve.observed)
    np.testing.assert_array_equal(shown.line_.get_xdata()[1::2], curve.high)


def test_reliability_draws_into_given_axes():
    """An axes that is given is used."""
    _, ax = plt.subplots()
    assert ReliabilityDisplay(cp.reliability_curve(Y, P)).plot(ax=ax).ax_ is ax


def test_displays_save_files(tmp_path):
    """Both write a picture without a window."""
    for display in (
        ReliabilityDisplay(cp.reliability_curve(Y, P)),
        ExpectedCurveDisplay(cp.expected_curve(P)),
    ):
        assert display.save(tmp_path / "picture.png").stat().st_size > 10_000


def test_crossing():
    """Three lines against the rows called positive, and a point at the optimum."""
    shown = ExpectedCurveDisplay.from_probabilities(P)
    curve = cp.expected_curve(P)
    for line, expected in zip(shown.lines_, (curve.thresholds, curve.values, curve.shares), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), expected)
    assert "F1 / 2" in [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    value = cp.find_expected(P, maximize="f1").value
    assert any(f"best F1 = {value:.4g}" in text.get_text() for text in shown.ax_.get_legend().get_texts())


def test_against_the_threshold():
    """One line against the threshold."""
    shown = ExpectedCurveDisplay.from_probabilities(P, maximize="jaccard", against="threshold")
    np.testing.assert_array_equal(
        shown.lines_[0].get_xdata(), cp.expected_curve(P, maximize="jaccard").thresholds
    )
    assert "Threshold" == shown.ax_.get_xlabel()


def test_against_something_else():
    """Only rows and threshold are axes."""
    with pytest.raises(InvalidParameterError, match="'rows' or 'threshold'"):
        ExpectedCurveDisplay(cp.expected_curve(P), against="score")

"""Displays: arrays kept, labels drawn, files whole."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import cutpoints as cp
from cutpoints import plots
from cutpoints.exceptions import (
    InfeasibleError,
    InvalidInputError,
    InvalidParameterError,
)
from cutpoints.plots import _style

SRC = Path(__file__).parents[2] / "src"
RNG = np.random.default_rng(0)
P = RNG.beta(1, 2, 400)
Y = RNG.random(400) < P


@pytest.fixture(scope="module")
def data():
    """Labels and probabilities."""
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.4).astype(int)
    return y, 1 / (1 + np.exp(-(rng.normal(size=300) + 1.5 * y - 0.7)))


def axes():
    """Axes without a window."""
    return Figure().subplots()


@pytest.mark.parametrize("name", plots.BY_NAME)
@pytest.mark.parametrize("goal", [{"minimize": "cost(fp=2, fn=1)"}, {"maximize": "f1"}], ids=["cost", "f1"])
def test_every_display_draws_and_labels(name, goal, data):
    """Each display draws on given axes, names both of them, and keeps the axes."""
    ax = axes()
    display = getattr(plots, plots.BY_NAME[name]).from_predictions(*data, ax=ax, **goal)
    assert ax is display.ax_
    assert ax.figure is display.figure_
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert ax.lines or ax.patches or ax.images


@pytest.mark.parametrize("name", plots.BY_NAME)
@pytest.mark.parametrize("form", ["png", "svg"])
def test_every_display_is_saved(name, form, data, tmp_path):
    """Each display writes a whole file into a new folder and nothing else."""
    made = getattr(plots, plots.BY_NAME[name]).of_curve(cp.curve(*data), maximize="profit(tp=3, fp=-1)")
    path = made.save(tmp_path / "new" / f"{name}.{form}", dpi=40)
    start = path.read_bytes()[:5]
    assert start in (b"\x89PNG\r", b"<?xml")
    assert [path] == list(path.parent.iterdir())


def test_names_of_all():
    """Every display that the room offers can be had and has a docstring."""
    for name in plots.__all__:
        assert getattr(plots, name) is not None
    with pytest.raises(AttributeError, match="RokDisplay"):
        plots.RokDisplay  # noqa: B018 - the access is what is tested


def test_roc_keeps_its_numbers(data):
    """The arrays are those of the curve; the point and the slope those of the optimum."""
    display = plots.RocDisplay.from_predictions(*data, minimize="cost(fp=2, fn=1)", ax=axes())
    curve = cp.curve(*data)
    assert curve.auc == display.auc
    best = curve.best(minimize="cost(fp=2, fn=1)")
    assert (best.confusion.metric("fpr"), best.confusion.metric("recall")) == display.point
    negatives = len(data[0]) - data[0].sum()
    assert 2 * negatives / data[0].sum() == pytest.approx(display.slope)
    np.testing.assert_array_equal(curve.hull().fpr, display.hull_fpr)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any("least cost(fp=2, fn=1)" in label for label in labels)
    assert any("AUC" in label for label in labels)


def test_f1_has_no_straight_lines_of_equal_value(data):
    """Only objectives that are linear in TP and FP get lines of equal value."""
    assert plots.RocDisplay.of_curve(cp.curve(*data), maximize="f1").slope is None
    assert 1.0 == pytest.approx(plots.RocDisplay.of_curve(cp.curve(*data), maximize="youden_j").slope)


def test_threshold_display_shades_the_interval():
    """The interval of equal decisions is shaded, ties are drawn, amounts have their own axis."""
    y, score = [0, 0, 1, 1, 0, 0, 1, 1], [0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9]
    display = plots.ThresholdDisplay.from_predictions(y, score, maximize="accuracy", ax=axes())
    assert (0.3,) == display.chosen.ties
    spans = [patch.get_label() for patch in display.ax_.patches]
    assert "same decisions" in spans
    money = plots.ThresholdDisplay.from_predictions(y, score, minimize="cost(fp=20, fn=1)", ax=axes())
    assert 2 == len(money.figure_.axes)
    none = plots.ThresholdDisplay.from_predictions([0, 0, 1], [0.3, 0.2, 0.1], maximize="accuracy", ax=axes())
    assert np.isinf(none.chosen.threshold)


def test_large_curves_are_thinned():
    """A million points are drawn as a few thousand; the ends and the shape stay."""
    x = np.linspace(0, 1, 1_000_000)
    thin_x, thin_y = _style.thin(x, x**2)
    assert len(thin_x) < 10_000
    assert (0.0, 1.0) == (thin_x[0], thin_x[-1])
    assert np.abs(np.interp(x, thin_x, thin_y) - x**2).max() < 1e-3


def test_confusion_of_many_classes():
    """A matrix of several classes is drawn with its labels."""
    found = cp.evaluate_classes([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2])
    display = plots.ConfusionDisplay.from_matrix(found.confusion_matrix, found.labels, ax=axes())
    assert ["0", "1", "2"] == [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert 9 == len(display.ax_.texts)


def test_comparison_display(data):
    """Models, their points and the hull over all are drawn; bare confusions are points."""
    y, p = data
    found = cp.compare(y, {"a": p, "b": np.round(p, 1)}, maximize="accuracy", n_bootstrap=0)
    display = plots.ComparisonDisplay.from_comparison(found, ax=axes())
    assert {"a", "b"} == set(display.curves) == set(display.points)
    bare = cp.compare({"m": cp.Confusion(tp=3, fp=1, fn=1, tn=3)}, maximize="f1")
    assert {"m": (0.25, 0.75)} == plots.ComparisonDisplay.from_comparison(bare, ax=axes()).points


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_reliability_line_is_the_curve(strategy):
    """The line goes through the bins, and the legend states them."""
    shown = plots.ReliabilityDisplay.from_predictions(
        Y, P, strategy=strategy, n_bins=7, name="model", ax=axes()
    )
    curve = cp.calibration(Y, P, strategy=strategy, n_bins=7).curve
    np.testing.assert_array_equal(shown.line_.get_xdata(), curve.predicted)
    np.testing.assert_array_equal(shown.line_.get_ydata(), curve.observed)
    assert f"model (ECE {curve.ece:.3f} in 7 {strategy} bins)" == shown.line_.get_label()


def test_reliability_does_not_pass_over_weights():
    """The curve has no weights, so weights are an error and not ignored."""
    with pytest.raises(TypeError, match="sample_weight"):
        plots.ReliabilityDisplay.from_predictions(Y, P, sample_weight=np.ones(400))


def test_isotonic_line_has_steps():
    """Each level set is a flat piece from its lowest to its highest probability."""
    shown = plots.ReliabilityDisplay.from_predictions(Y, P, strategy="isotonic", ax=axes())
    curve = cp.calibration(Y, P, strategy="isotonic").curve
    np.testing.assert_array_equal(shown.line_.get_ydata()[::2], curve.observed)
    np.testing.assert_array_equal(shown.line_.get_xdata()[1::2], curve.high)


def test_displays_save_files(tmp_path):
    """Both write a file without a window."""
    for display in (
        plots.ReliabilityDisplay(cp.calibration(Y, P).curve),
        plots.ExpectedCurveDisplay(cp.find_expected(P, maximize="f1").curve()),
    ):
        assert display.save(tmp_path / "plot.png").stat().st_size > 10_000


def test_crossing():
    """Three lines against the rows called positive, and a point at the optimum."""
    shown = plots.ExpectedCurveDisplay.from_probabilities(P, ax=axes())
    curve = cp.find_expected(P, maximize="f1").curve()
    for line, expected in zip(shown.lines_, (curve.thresholds, curve.values, curve.shares), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), expected)
    assert "F1 / 2" in [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    value = cp.find_expected(P, maximize="f1").value
    assert any(f"best F1 = {value:.4g}" in text.get_text() for text in shown.ax_.get_legend().get_texts())


def test_against_the_threshold():
    """One line against the threshold."""
    shown = plots.ExpectedCurveDisplay.from_probabilities(
        P, maximize="jaccard", against="threshold", ax=axes()
    )
    np.testing.assert_array_equal(
        shown.lines_[0].get_xdata(), cp.find_expected(P, maximize="jaccard").curve().thresholds
    )
    assert "Threshold" == shown.ax_.get_xlabel()


def test_against_something_else():
    """Only rows and threshold are axes."""
    with pytest.raises(InvalidParameterError, match=r"^against must be one of 'rows', 'threshold'"):
        plots.ExpectedCurveDisplay(cp.find_expected(P, maximize="f1").curve(), against="score")


def test_infeasible_goal_is_an_error(data):
    """A goal that no threshold meets cannot be marked."""
    with pytest.raises(InfeasibleError, match="fpr <= -1"):
        plots.RocDisplay.of_curve(cp.curve(*data), maximize="recall", subject_to="fpr <= -1")


def test_one_class_is_an_error():
    """A ROC curve of one class is refused in words."""
    with pytest.raises(InvalidInputError, match="no negative rows"):
        plots.RocDisplay.from_predictions([1, 1], [0.1, 0.2], ax=axes())


@pytest.mark.parametrize("display", ["ConfusionDisplay", "ProfitDisplay"])
def test_a_point_is_asked_for(display, data):
    """Plots of one point or one amount say how to name it."""
    with pytest.raises(InvalidParameterError, match="for example"):
        getattr(plots, display).of_curve(cp.curve(*data))


def test_unknown_endings_are_refused(data, tmp_path):
    """A file must end in what can be written."""
    with pytest.raises(InvalidParameterError, match=r"\.png"):
        plots.RocDisplay.of_curve(cp.curve(*data)).save(tmp_path / "roc.bmp")


def test_a_failed_save_leaves_nothing(data, tmp_path, monkeypatch):
    """If drawing the file fails half-way, an older file stays whole and no rest is left."""
    old = tmp_path / "roc.png"
    old.write_bytes(b"old")

    def fail(self, name, **_):
        Path(name).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(InvalidInputError, match="No space left"):
        plots.RocDisplay.of_curve(cp.curve(*data)).save(old)
    assert b"old" == old.read_bytes()
    assert [old] == list(tmp_path.iterdir())


def test_an_unwritable_folder_is_named(data, tmp_path):
    """A file where a folder must be is an error that names the place."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInputError, match="cannot be written"):
        plots.RocDisplay.of_curve(cp.curve(*data)).save(tmp_path / "file" / "roc.png")


def test_saving_does_not_touch_pyplot(tmp_path):
    """Writing a file neither loads pyplot nor chooses a backend for the user."""
    code = (
        "import sys, cutpoints as cp\n"
        "from cutpoints import plots\n"
        f"plots.RocDisplay.of_curve(cp.curve([0, 1], [0.2, 0.7])).save({str(tmp_path / 'r.png')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(SRC)}, check=True)


def test_new_axes_are_pyplots(data, monkeypatch):
    """Without axes a display opens a figure of pyplot, as scikit-learn's do."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    display = plots.RocDisplay.from_predictions(*data)
    assert plt.gcf() is display.figure_
    plt.close(display.figure_)


@pytest.mark.parametrize("prevalence", [None, 0.3])
@pytest.mark.parametrize("metric", ["f1", "f(beta=2)", "precision_recall_min", "mcc"])
def test_contours_are_values_of_the_metric(metric, prevalence):
    """At each precision and recall stands the value of a confusion that has them."""
    shown = plots.ContourDisplay.of_metric(metric, prevalence=prevalence)

    negatives = 200 if prevalence is None else 0.7 / 0.3
    for i, j in ((19, 39), (99, 149), (199, 199), (159, 79)):
        precision, recall = shown.precision[i], shown.recall[j]
        alarms = recall * (1 - precision) / precision
        if alarms > negatives:
            assert np.isnan(shown.values[i, j])
        else:
            confusion = cp.Confusion(tp=recall, fp=alarms, fn=1 - recall, tn=negatives - alarms)
            assert confusion.metric(metric) == pytest.approx(shown.values[i, j], abs=1e-9)


def test_contours_mark_models(tmp_path):
    """Models are drawn as points, and the legend has their values."""
    shown = plots.ContourDisplay.from_metric("f1", points={"a1": (0.8, 0.8), "a2": (0.48, 0.96)}, ax=axes())

    assert ["a1: f1 0.8", "a2: f1 0.64"] == [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert shown.save(tmp_path / "contours.svg").exists()
    with pytest.raises(InvalidParameterError, match="prevalence"):
        plots.ContourDisplay.of_metric("f1", prevalence=1)


def test_the_frontier_of_joint_thresholds(data, tmp_path):
    """The three rules are points on or below the frontier; what is infeasible is an error."""
    y, p = data
    by = np.arange(len(y)) % 3
    found = cp.find_joint(y, p, by=by, maximize="recall", subject_to="precision >= 0.7")
    display = plots.JointFrontierDisplay.from_joint(found, ax=axes())

    assert display.recall.tolist() == found.frontier().recall.tolist()
    assert display.points["together"] == (
        found.confusion.metric("recall"),
        found.confusion.metric("precision"),
    )
    assert list(display.points) == ["together", "one threshold", "each by itself"]
    assert display.ax_.get_xlabel() == "Recall over all rows"
    assert display.save(tmp_path / "joint.png", dpi=40).read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(InfeasibleError):
        plots.JointFrontierDisplay.from_joint(
            cp.find_joint(y, p, by=by, maximize="f1", subject_to="fpr < 0"), ax=axes()
        )


@pytest.mark.parametrize("name", ["RocDisplay", "GainDisplay", "DetDisplay", "ThresholdDisplay"])
def test_small_figures_have_room_for_all_texts(data, tmp_path, name):
    """At 5 by 4 inches the legend is below the name of the axis, and no two numbers along it touch."""
    display = getattr(plots, name).from_predictions(*data, maximize="mcc")
    display.save(tmp_path / "small.png", size=(5, 4), title="A small figure")
    ax = display.ax_
    display.figure_.draw_without_rendering()
    named = ax.xaxis.label.get_window_extent()
    numbers = [one.get_window_extent() for one in ax.get_xticklabels() if one.get_text()]

    assert ax.get_legend().get_window_extent().y1 <= named.y0
    assert all(left.x1 < right.x0 for left, right in pairwise(numbers))


def test_the_line_is_at_the_number_that_is_written():
    """The threshold to read is another one of the same interval, so the line is there, too."""
    curve = cp.curve([0, 0, 1, 1], [0.1, 0.4823, 0.5171, 0.9])
    for display in (plots.ThresholdDisplay, plots.ScoresDisplay):
        shown = display.from_curve(curve, maximize="f1", ax=axes())
        (line,) = [one for one in shown.ax_.lines if str(one.get_label()).startswith("best f1")]
        assert "at threshold 0.5" in str(line.get_label())
        assert [0.5, 0.5] == list(line.get_xdata())


def test_long_titles_are_broken_into_lines(data, tmp_path):
    """No letter of a title is beyond the edge, in narrow figures too."""
    display = plots.RocDisplay.from_predictions(*data)
    title = "Card fraud: gradient boosting 3.2, validated on 200,000 payments from August to October 2026"
    with pytest.warns(UserWarning, match="axes"):  # matplotlib's, and no error
        display.save(tmp_path / "tiny.png", title=title, size=(0.5, 0.5))
    for size in (None, (4, 4)):
        display.save(tmp_path / "roc.png", title=title, size=size)
        display.figure_.draw_without_rendering()
        box = display.ax_.title.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= display.figure_.bbox.x1
        assert title == " ".join(display.ax_.get_title().split())


def test_the_ends_of_a_band_are_those_to_type(data):
    """The plot says the thresholds that the band says, with as many digits as the decisions need."""
    y, score = data
    band = cp.find_band(y, score, minimize="cost(fp=5, fn=20, review=1)")
    display = plots.BandDisplay.from_predictions(y, score, band=band, ax=axes())
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"no below {band.low_interval.shortest}" in labels
    assert f"yes from {band.high_interval.shortest}" in labels


@pytest.mark.parametrize(
    "name", ["RocDisplay", "PrecisionRecallDisplay", "ThresholdDisplay", "ScoresDisplay"]
)
def test_long_names_and_goals_are_not_cut(data, tmp_path, name):
    """Legends have fewer columns and more lines then, and axes keep most of the figure."""
    goal = "0.123*accuracy + 0.234*recall + 0.345*precision + 0.456*specificity + 0.567*f1"
    display = getattr(plots, name).from_predictions(*data, maximize=goal)
    display.name = "a_very_long_name_of_a_gradient_boosting_machine_that_was_trained_twice"
    display.save(tmp_path / "long.png")
    display.figure_.draw_without_rendering()
    whole = display.figure_.bbox
    for box in (display.ax_.get_legend().get_window_extent(), display.ax_.title.get_window_extent()):
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
    assert display.ax_.get_window_extent().width > whole.width / 2

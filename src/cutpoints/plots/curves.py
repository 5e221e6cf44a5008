"""How well do the scores rank? ROC, precision-recall, DET, gain, lift and KS curves."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints._format import short, shortest_inside
from cutpoints._goal import objective
from cutpoints._validate import number_in
from cutpoints.plots._style import (
    BLUE,
    CHOSEN,
    GRAY,
    GREEN,
    LIGHT,
    LINES,
    ORANGE,
    VERMILION,
    Chosen,
    CurveDisplay,
    Display,
    choose,
    finite_ends,
    thin,
    tidy,
    unit_square,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve, Ks
    from cutpoints._goal import Objective

_CONTOUR_STEPS = 200
_DET_TICKS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)
_deviate = NormalDist().inv_cdf


@dataclass
class RocDisplay(CurveDisplay):
    """ROC curve with its hull, lines of equal value and the chosen point.

    `from_predictions` and `from_curve` take ``maximize``, ``minimize`` and ``subject_to`` or a
    ``threshold`` for the point, ``hull=False`` to leave the hull out, and a ``name``.

    Attributes
    ----------
    fpr, tpr, thresholds : ndarray
        The curve.
    auc : float
    hull_fpr, hull_tpr : ndarray or None
        The vertices of the hull.
    point : tuple of float or None
        FPR and TPR of the chosen threshold.
    slope : float or None
        Of the lines along which the objective is constant, for objectives that are linear in TP
        and FP: costs, accuracy, Youden's J.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    auc: float
    hull_fpr: NDArray[np.float64] | None = None
    hull_tpr: NDArray[np.float64] | None = None
    point: tuple[float, float] | None = None
    slope: float | None = None
    chosen: Chosen | None = None
    name: str | None = None
    heading = "ROC curve"

    @classmethod
    def of_curve(cls, curve: Curve, *, hull: bool = True, name: str | None = None, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        made = cls(*curve.roc(drop_intermediate=True), curve.auc, chosen=chosen, name=name)
        if hull:
            made.hull_fpr, made.hull_tpr = curve.hull().fpr, curve.hull().tpr
        if chosen is not None:
            made.point = chosen.metrics("fpr", "recall")
            per_tpr, per_fpr = chosen.per_rate() or (0, 0)
            made.slope = float(-per_fpr / per_tpr) if per_tpr else None
        return made

    def _draw(self, ax: Axes) -> None:
        label = f"{self.name or 'ROC'} (AUC {self.auc:.4f})"
        ax.plot([0, 1], [0, 1], color=GRAY, linestyle=":", linewidth=1, label="chance")
        if self.slope is not None and self.point is not None:
            _iso_lines(ax, self.slope, self.point)
        if self.hull_fpr is not None and self.hull_tpr is not None:
            # The curve lies on its hull wherever it is convex: dashes over a wider line show both.
            ax.plot(
                self.hull_fpr, self.hull_tpr, color=GREEN, linestyle="--", linewidth=1.5, label="convex hull"
            )
        ax.plot(*thin(self.fpr, self.tpr), color=BLUE, linewidth=2, label=label)
        self._mark(ax)
        unit_square(ax, x="False positive rate", y="True positive rate (recall)")


def _iso_lines(ax: Axes, slope: float, point: tuple[float, float]) -> None:
    """Draw the line of equal value through the point, and faint ones beside it."""
    x = np.array([0.0, 1.0])
    height = point[1] - slope * point[0]
    step = 0.1 * (1 + abs(slope))
    for i in (-3, -2, -1, 1, 2, 3):
        ax.plot(x, height + i * step + slope * x, color=VERMILION, linewidth=0.7, alpha=0.3, scaley=False)
    label = f"equal value (slope {short(slope)})"
    ax.plot(x, height + slope * x, color=VERMILION, linewidth=1.2, label=label, scaley=False)


@dataclass
class PrecisionRecallDisplay(CurveDisplay):
    """Precision against recall as steps, lines of equal F1, the random baseline, the chosen point.

    Precision with no positives is undefined and not drawn: the curve begins flat at the precision of
    the highest score. No threshold attains the points between two steps, so the line between them is
    not straight.

    Attributes
    ----------
    precision, recall, thresholds : ndarray
    average_precision, prevalence : float
    point : tuple of float or None
        Recall and precision of the chosen threshold.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    average_precision: float
    prevalence: float
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None
    name: str | None = None
    iso_f: bool = True
    steps: bool = True
    heading = "Precision and recall"

    @classmethod
    def of_curve(
        cls, curve: Curve, *, name: str | None = None, iso_f: bool = True, steps: bool = True, **point: Any
    ) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        at = chosen and chosen.metrics("recall", "precision")
        return cls(*curve.pr(), curve.average_precision, curve.prevalence, at, chosen, name, iso_f, steps)

    def _draw(self, ax: Axes) -> None:
        if self.iso_f:
            _iso_f(ax)
        label = f"random ({short(self.prevalence)})"
        ax.axhline(self.prevalence, color=GRAY, linestyle=":", linewidth=1, label=label)
        defined = ~np.isnan(self.precision)
        precision, recall = self.precision[defined], self.recall[defined]
        label = f"{self.name or 'precision-recall'} (AP {self.average_precision:.4f})"
        x, y = thin(np.append(0.0, recall), np.append(precision[:1], precision))
        # Precision P_k holds from the recall before up to its own: the rule of average precision.
        style = "steps-pre" if self.steps else "default"
        ax.plot(x, y, color=BLUE, linewidth=2, drawstyle=style, label=label)
        self._mark(ax)
        unit_square(ax, x="Recall", y="Precision")


def _iso_f(ax: Axes) -> None:
    """Draw where F1 is 0.2, 0.4, 0.6, 0.8, each named at the right edge."""
    text: dict[str, Any] = {"textcoords": "offset points", "va": "center", "color": GRAY, "fontsize": "small"}
    for f in (0.2, 0.4, 0.6, 0.8):
        recall = np.linspace(f / 2 + 1e-3, 1.0, 200)
        precision = f * recall / (2 * recall - f)
        shown = precision <= 1.0
        ax.plot(recall[shown], precision[shown], color=LIGHT, linewidth=1)
        ax.annotate(f"F1 {f}", (1.0, f / (2 - f)), xytext=(10, 0), annotation_clip=False, **text)


@dataclass
class ContourDisplay(Display):
    """Lines of equal value of a metric over precision and recall.

    Draw it on the axes of a `PrecisionRecallDisplay` to see which way a metric pulls.

    Attributes
    ----------
    recall, precision : ndarray of shape (n,)
    values : ndarray of shape (n, n)
        The metric, one row for each precision; NaN where no confusion has both: at a given prevalence,
        a low precision at a high recall would take more negatives than there are.
    metric : str
    points : dict of str to (recall, precision, value)
        The marked models.
    """

    recall: NDArray[np.float64]
    precision: NDArray[np.float64]
    values: NDArray[np.float64]
    metric: str
    points: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    size = (5.6, 5.6)
    heading = "Lines of equal value"

    @classmethod
    def of_metric(
        cls,
        metric: Objective,
        *,
        prevalence: float | None = None,
        points: Mapping[str, tuple[float, float]] | None = None,
    ) -> Self:
        """Compute the values, without drawing.

        Parameters
        ----------
        metric : metric or str
            ``"f1"``, ``"f(beta=2)"``, ``"mcc"``, or a sum of metrics.
        prevalence : float, default=None
            The share of positives, for metrics that count true negatives. By default the positives are so
            rare that every pair of precision and recall is possible.
        points : mapping of str to (recall, precision), default=None
            Models to mark.
        """
        if prevalence is not None:
            number_in("prevalence", prevalence, 0, 1, ends="()", caller="ContourDisplay")
        side = np.linspace(1 / _CONTOUR_STEPS, 1, _CONTOUR_STEPS)
        expression = objective(metric, "metric", "ContourDisplay")
        negatives = float(_CONTOUR_STEPS) if prevalence is None else (1 - prevalence) / prevalence

        def value(recall: Any, precision: Any) -> NDArray[np.float64]:
            with np.errstate(all="ignore"):
                alarms = recall * (1 - precision) / precision
                found = expression.evaluate(tp=recall, fp=alarms, fn=1 - recall, tn=negatives - alarms)
                return np.where((alarms <= negatives) & np.isfinite(found), found, np.nan)

        marked = {
            name: (x, y, float(value(np.float64(x), np.float64(y))))
            for name, (x, y) in (points or {}).items()
        }
        return cls(side, side, value(*np.meshgrid(side, side)), str(expression), marked)

    @classmethod
    def from_metric(cls, metric: Objective, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw a metric; options are those of `of_metric`."""
        return cls.of_metric(metric, **options).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        low, high = np.nanmin(self.values), np.nanmax(self.values)
        levels: Any = np.linspace(0, 1, 11) if 0 <= low <= high <= 1 else 10
        filled = ax.contourf(
            self.recall, self.precision, self.values, levels=levels, cmap="cividis", alpha=0.85
        )
        lines = ax.contour(
            self.recall, self.precision, self.values, levels=filled.levels, colors="white", linewidths=0.8
        )
        ax.clabel(lines, fontsize="small", fmt=short)
        for i, (name, (x, y, value)) in enumerate(self.points.items()):
            marker = CHOSEN | {"markerfacecolor": LINES[i % len(LINES)]}
            ax.plot(x, y, **marker, label=f"{name}: {self.metric} {short(value)}")
        unit_square(ax, x="Recall", y="Precision")
        ax.set_title(self.metric, fontsize="medium")


@dataclass
class DetDisplay(CurveDisplay):
    """Misses against false alarms, both stretched so that normal scores give a straight line.

    Attributes
    ----------
    fpr, fnr, thresholds : ndarray
    point : tuple of float or None
        FPR and FNR of the chosen threshold.
    """

    fpr: NDArray[np.float64]
    fnr: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None
    heading = "Detection error tradeoff"

    @classmethod
    def of_curve(cls, curve: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        return cls(*curve.det(), chosen and chosen.metrics("fpr", "fnr"), chosen)

    def _draw(self, ax: Axes) -> None:
        x, y = thin(self.fpr, self.fnr)
        inside = (x > 0) & (x < 1) & (y > 0) & (y < 1)
        ticks, names = [_deviate(t) for t in _DET_TICKS], [f"{100 * t:g}" for t in _DET_TICKS]
        ends = ticks[0], ticks[-1]
        ax.plot(ends, ends[::-1], color=GRAY, linestyle=":", linewidth=1, label="chance")
        line = ([_deviate(v) for v in side[inside].tolist()] for side in (x, y))
        ax.plot(*line, color=BLUE, linewidth=2, label="DET")
        if self.point is not None and self.chosen is not None and all(0 < v < 1 for v in self.point):
            ax.plot(*map(_deviate, self.point), **CHOSEN, label=self.chosen.label)
        ax.set_xticks(ticks, names, fontsize="small")
        ax.set_yticks(ticks, names, fontsize="small")
        ax.set(xlabel="False positive rate (%)", ylabel="False negative rate (%)", xlim=ends, ylim=ends)
        ax.set_aspect("equal", adjustable="box")
        tidy(ax)


@dataclass
class GainDisplay(CurveDisplay):
    """The share of the positives that are found among the highest scores.

    Attributes
    ----------
    share, gain, thresholds : ndarray
    prevalence : float
        A perfect ranking has found all positives at this share.
    point : tuple of float or None
    """

    share: NDArray[np.float64]
    gain: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    prevalence: float
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None
    heading = "Gain"

    @classmethod
    def of_curve(cls, curve: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        at = chosen and chosen.metrics("predicted_positive_rate", "recall")
        return cls(*curve.gain(), curve.prevalence, at, chosen)

    def _draw(self, ax: Axes) -> None:
        perfect = [0, self.prevalence, 1], [0, 1, 1]
        ax.plot([0, 1], [0, 1], color=GRAY, linestyle=":", linewidth=1, label="random order")
        ax.plot(*perfect, color=GREEN, linestyle="--", linewidth=1.3, label="perfect order")
        ax.plot(*thin(self.share, self.gain), color=BLUE, linewidth=2, label="gain")
        self._mark(ax)
        unit_square(ax, x="Share of rows called positive", y="Positives found (recall)")


@dataclass
class LiftDisplay(CurveDisplay):
    """How many times more positives there are among the highest scores than among all rows.

    Attributes
    ----------
    share, lift, thresholds : ndarray
    point : tuple of float or None
    """

    share: NDArray[np.float64]
    lift: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None
    size = (7.0, 5.0)
    legend_columns = 3
    heading = "Lift"

    @classmethod
    def of_curve(cls, curve: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        return cls(*curve.lift(), chosen and chosen.metrics("predicted_positive_rate", "lift"), chosen)

    def _draw(self, ax: Axes) -> None:
        ax.axhline(1, color=GRAY, linestyle=":", linewidth=1, label="random order")
        ax.plot(*thin(self.share, self.lift), color=BLUE, linewidth=2, label="lift")
        self._mark(ax)
        ax.set(xlabel="Share of rows called positive", ylabel="Lift (precision / prevalence)", xlim=(0, 1.01))
        ax.set_ylim(bottom=0)
        tidy(ax)


@dataclass
class KsDisplay(CurveDisplay):
    """The share of each class at or above each threshold; the Kolmogorov-Smirnov gap marked.

    Attributes
    ----------
    curve : Ks
    """

    curve: Ks
    size = (7.0, 5.0)
    heading = "Kolmogorov-Smirnov"

    @classmethod
    def of_curve(cls, curve: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        del point  # the gap is the point
        return cls(curve.ks())

    def _draw(self, ax: Axes) -> None:
        c = self.curve
        finite = np.isfinite(c.thresholds)
        x = c.thresholds[finite][::-1]
        for values, color, style, name in (
            (c.positives, ORANGE, "--", "positives at or above (TPR)"),
            (c.negatives, BLUE, "-", "negatives at or above (FPR)"),
        ):
            line = thin(x, values[finite][::-1])
            ax.plot(*line, color=color, linestyle=style, linewidth=2, drawstyle="steps-pre", label=name)
        if np.isfinite(c.at):
            index = int(np.flatnonzero(c.thresholds == c.at)[0])
            ends = [c.negatives[index], c.positives[index]]
            below = c.thresholds[index + 1] if index + 1 < len(c.thresholds) else -np.inf
            label = f"KS = {c.statistic:.4f} at threshold {shortest_inside(float(below), c.at)}"
            ax.plot([c.at, c.at], ends, color=VERMILION, linewidth=3, marker="o", label=label)
        ax.set(xlabel="Threshold", ylabel="Share of the class", ylim=(-0.02, 1.02))
        ax.set_xlim(finite_ends(c.thresholds))
        tidy(ax)

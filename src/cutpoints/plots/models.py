"""Which model, and are its probabilities right? Comparison, reliability, expected objective."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from cutpoints._calibration import ReliabilityCurve, calibration
from cutpoints._expected import ExpectedCurve, find_expected
from cutpoints._format import short, shortest_inside
from cutpoints._validate import one_of
from cutpoints.plots._style import (
    BLUE,
    CHOSEN,
    GRAY,
    GREEN,
    LINES,
    ORANGE,
    STYLES,
    Display,
    thin,
    tidy,
    unit_square,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._compare import Comparison
    from cutpoints._goal import Objective

_LONG_RULE = 25


@dataclass
class ComparisonDisplay(Display):
    """Models in ROC space: curves with their hull and best points, or single points of confusions.

    Attributes
    ----------
    curves : dict of str to (fpr, tpr)
        Empty for bare confusions.
    points : dict of str to (fpr, tpr)
        Each model at its best threshold.
    labels : dict of str to str
        What the legend says of each model.
    winners : tuple of str
    hull : tuple of ndarray or None
    """

    curves: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    points: dict[str, tuple[float, float]]
    labels: dict[str, str]
    winners: tuple[str, ...]
    hull: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    heading = "Models in ROC space"

    @classmethod
    def from_comparison(cls, comparison: Comparison, *, ax: Axes | None = None) -> Self:
        """Draw what `cutpoints.compare` returns."""
        return cls.of_comparison(comparison).plot(ax=ax)

    @classmethod
    def of_comparison(cls, comparison: Comparison) -> Self:
        """Compute the arrays, without drawing."""
        points, labels = {}, {}
        for name, entry in comparison.entries.items():
            if entry.confusion is not None:
                points[name] = entry.confusion.metric("fpr"), entry.confusion.metric("recall")
            value = (
                "infeasible" if entry.value is None else f"{comparison.goal.expression} {short(entry.value)}"
            )
            labels[name] = f"{name}: {value}"
            if not np.isnan(entry.auc):
                labels[name] += f", AUC {entry.auc:.4f}"
        curves = {name: one.roc(drop_intermediate=True)[:2] for name, one in comparison.curves.items()}
        hull = (comparison.hull.fpr, comparison.hull.tpr) if curves else None
        return cls(curves, points, labels, comparison.winners, hull)

    def _draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color=GRAY, linestyle=":", linewidth=1, label="chance")
        if self.hull is not None:
            style: dict[str, Any] = {"color": "#CCCCCC", "linewidth": 5, "solid_capstyle": "round"}
            ax.plot(*self.hull, **style, label="hull over all models")
        for i, (name, label) in enumerate(self.labels.items()):
            color, dashes = LINES[i % len(LINES)], STYLES[i % len(STYLES)]
            if name in self.curves:
                ax.plot(*thin(*self.curves[name]), color=color, linestyle=dashes, linewidth=1.8, label=label)
            if name in self.points:
                marker = CHOSEN | {"markerfacecolor": color}
                if name in self.winners:
                    marker |= {"marker": "*", "markersize": 18}
                ax.plot(*self.points[name], **marker, label=None if name in self.curves else label)
        unit_square(ax, x="False positive rate", y="True positive rate (recall)")


@dataclass
class ReliabilityDisplay(Display):
    """Observed against predicted shares of positives, above the number of rows in each bin.

    Attributes
    ----------
    curve : ReliabilityCurve
        The bins.
    name : str or None
        What the legend calls it.
    line_ : matplotlib line
        After `plot`.
    """

    curve: ReliabilityCurve
    name: str | None = None
    line_: Any = field(default=None, repr=False)
    heading = "Reliability"

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        ax: Axes | None = None,
        name: str | None = None,
        **bins: Any,
    ) -> Self:
        """Draw from labels and probabilities; ``strategy`` and ``n_bins`` as for `calibration`."""
        return cls(calibration(y_true, y_score, pos_label=pos_label, **bins).curve, name).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        ax.plot([0, 1], [0, 1], color=GRAY, linestyle=":", linewidth=1, label="calibrated")
        self._draw_counts(ax)
        x, y, marker = curve.predicted, curve.observed, "o"
        if curve.strategy == "isotonic":
            # The level sets are steps: flat over the probabilities of each.
            x, y, marker = np.column_stack([curve.low, curve.high]).ravel(), np.repeat(y, 2), ""
        label = f"{self.name or 'observed'} (ECE {curve.ece:.3f} in {curve.n_bins} {curve.strategy} bins)"
        (self.line_,) = ax.plot(x, y, color=BLUE, linewidth=2, marker=marker, label=label)
        unit_square(ax, x="Predicted probability", y="Observed share of positives")

    def _draw_counts(self, ax: Axes) -> None:
        """Draw the number of rows in each bin as bars along the bottom; the tallest is a fifth high."""
        curve = self.curve
        if curve.strategy == "uniform":
            low = np.floor(np.minimum(curve.predicted, 1 - 1e-12) * curve.n_bins) / curve.n_bins
            width = np.full(len(low), 1 / curve.n_bins)
        else:
            low, width = curve.low, np.maximum(curve.high - curve.low, 0.004)
        density = curve.count / width
        height = 0.2 * density / density.max()
        ax.bar(
            low,
            height,
            width,
            align="edge",
            color="#DDDDDD",
            edgecolor="white",
            zorder=0,
            label="rows per bin",
        )


@dataclass
class ExpectedCurveDisplay(Display):
    """An expected objective over all cuts of calibrated probabilities.

    Against the number of rows called positive, the optimal threshold as a function of the objective
    (half of it for f1) crosses the sorted probabilities at the optimum; against the threshold, the
    objective has its maximum there.

    Attributes
    ----------
    curve : ExpectedCurve
        What the `curve` of a solution of `find_expected` returns.
    against : {"rows", "threshold"}
        The horizontal axis.
    lines_ : list of matplotlib lines
        After `plot`.
    """

    curve: ExpectedCurve
    against: Literal["rows", "threshold"] = "rows"
    lines_: list[Any] = field(default_factory=list, repr=False)
    size = (6.4, 5.6)
    legend_columns = 2
    heading = "Expected value"

    def __post_init__(self) -> None:
        one_of("against", self.against, ["rows", "threshold"], caller="ExpectedCurveDisplay")

    @classmethod
    def from_probabilities(
        cls,
        y_prob: Any,
        *,
        maximize: Objective = "f1",
        sample_weight: Any = None,
        against: Literal["rows", "threshold"] = "rows",
        ax: Axes | None = None,
    ) -> Self:
        """Draw from probabilities; no labels."""
        curve = find_expected(y_prob, maximize=maximize, sample_weight=sample_weight).curve()
        return cls(curve, against).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        name = {"f1": "F1", "jaccard": "Jaccard index"}.get(curve.objective, curve.objective)
        best, value = float(curve.thresholds[curve.best]), float(curve.values[curve.best])
        after = curve.thresholds[curve.best + 1 : curve.best + 2]
        below = float(after[0]) if len(after) and after[0] < best else -np.inf
        called, thresholds, values, shares = thin(curve.called, curve.thresholds, curve.values, curve.shares)
        expected = (values, ORANGE, "-", f"expected {name}")
        if self.against == "threshold":
            x, lines, at, height = thresholds, [expected], best, value
            ax.set(xlabel="Threshold", ylabel=f"Expected {name}", xlim=(0, 1))
        else:
            whole = len(curve.rule) < _LONG_RULE
            rule = curve.rule.replace("lambda", name) if whole else f"optimal threshold for this {name}"
            lines = [(thresholds, BLUE, "-", "sorted probabilities"), expected, (shares, GREEN, "--", rule)]
            x, at, height = called, float(curve.called[curve.best]), best
            ax.xaxis.set_major_formatter("{x:,.0f}")
            ax.set(xlabel="Rows called positive", ylabel="Probability, value", xlim=(0, called[-1]))
        self.lines_ = [
            ax.plot(x, y, color=color, linewidth=2, linestyle=style, label=text)[0]
            for y, color, style, text in lines
        ]
        ax.axvline(at, color=GRAY, linestyle="--", linewidth=1)
        ax.plot(
            at,
            height,
            **CHOSEN,
            label=f"best {name} = {short(value)}\nat threshold {shortest_inside(below, best)}",
        )
        ax.set_ylim(0, 1)
        tidy(ax)

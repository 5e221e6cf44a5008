"""What does a threshold do? Metrics at every threshold, scores on both sides, the confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutpoints._format import count as count_text
from cutpoints._goal import objective
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidParameterError
from cutpoints.plots._style import (
    BLUE,
    LINES,
    ORANGE,
    STYLES,
    VERMILION,
    Chosen,
    CurveDisplay,
    broken,
    choose,
    finite_ends,
    thin,
    tidy,
    with_separators,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._curve import Curve
    from cutpoints._result import Confusion

_DARK = 0.55
_BESIDE = 30
"""Letters beside an axis."""


@dataclass
class ThresholdDisplay(CurveDisplay):
    """Metrics against the threshold; the best threshold as a line, its interval shaded.

    ``metrics`` chooses what is drawn beside the goal. Amounts such as costs have an axis of their
    own, on the right.

    Attributes
    ----------
    thresholds : ndarray
    values : dict of str to ndarray
        The metrics, NaN where undefined.
    """

    thresholds: NDArray[np.float64]
    values: dict[str, NDArray[np.float64]]
    chosen: Chosen | None = None
    size = (7.5, 5.0)
    legend_columns = 2
    heading = "Metrics at every threshold"

    @classmethod
    def of_curve(
        cls, curve: Curve, *, metrics: Sequence[Any] = ("precision", "recall", "f1"), **point: Any
    ) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        wanted = [objective(metric) for metric in metrics]
        if chosen is not None and chosen.expression is not None:
            wanted.insert(0, chosen.expression)
        return cls(curve.thresholds, {str(one): curve.values(one) for one in wanted}, chosen)

    def _draw(self, ax: Axes) -> None:
        finite = np.isfinite(self.thresholds)
        x = self.thresholds[finite][::-1]
        right: Axes | None = None
        for i, (name, values) in enumerate(self.values.items()):
            y, label, on = values[finite][::-1], name, ax
            if np.nanmax(np.abs(y), initial=0.0) > 1:
                if right is None:
                    right = ax.twinx()
                    right.set_ylabel(broken(name, _BESIDE))
                    with_separators(right)
                    right.spines["top"].set_visible(False)
                label, on = f"{name} (right)", right
            goal = self.chosen is not None and name == str(self.chosen.expression)
            look: dict[str, Any] = {"color": LINES[i % len(LINES)], "linestyle": STYLES[i % len(STYLES)]}
            # A threshold decides as the next score at or above it does.
            on.plot(*thin(x, y), **look, linewidth=3 if goal else 1.6, drawstyle="steps-pre", label=label)
        if right is not None:
            ax.twins_ = [right]  # type: ignore[attr-defined]
        span = finite_ends(self.thresholds)
        if self.chosen is not None:
            _mark_interval(ax, self.chosen, span)
        ax.set(xlabel="Threshold (positive if score >= threshold)", ylabel="Metric", xlim=span)
        ax.set_ylim(min(-0.02, ax.get_ylim()[0]), 1.02)
        tidy(ax)


def _mark_interval(ax: Axes, chosen: Chosen, span: tuple[float, float]) -> None:
    """Draw the threshold, shade the interval that makes the same decisions, and draw ties as dots."""
    low, high = max(chosen.interval.low, span[0]), min(chosen.interval.high, span[1])
    if low < high:
        ax.axvspan(low, high, color=VERMILION, alpha=0.18, linewidth=0, label="same decisions")
    if np.isfinite(chosen.threshold):
        ax.axvline(chosen.shown, color=VERMILION, linewidth=2, label=chosen.label)
    else:  # "no positives" lies above every score
        ax.axvline(span[1], color=VERMILION, linewidth=3, linestyle=":", label=chosen.label)
    for tie in chosen.ties:
        if np.isfinite(tie):
            ax.axvline(tie, color=VERMILION, linewidth=1, linestyle=":")


@dataclass
class ScoresDisplay(CurveDisplay):
    """Histograms of the scores of both classes, in ``bins`` of equal width, and the threshold.

    Each class is drawn as shares of its own rows, so that a rare class can be seen;
    ``density=False`` draws the numbers of rows.

    Attributes
    ----------
    edges, positives, negatives : ndarray
        The bins and how much of each class is in them.
    """

    edges: NDArray[np.float64]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]
    density: bool = True
    chosen: Chosen | None = None
    size = (7.5, 4.8)
    legend_columns = 3
    heading = "Scores of both classes"

    @classmethod
    def of_curve(cls, curve: Curve, *, bins: int = 40, density: bool = True, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        finite = np.isfinite(curve.thresholds)
        scores = curve.thresholds[finite]
        edges = np.histogram_bin_edges(scores if len(scores) else np.array([0.0]), bins=bins)
        pos, neg = (
            np.histogram(scores, edges, weights=np.diff(side, prepend=0)[finite])[0].astype(np.float64)
            for side in (curve.tp, curve.fp)
        )
        if density:
            pos, neg = (side / max(side.sum(), 1e-300) for side in (pos, neg))
        return cls(edges, pos, neg, density, choose(curve, **point))

    def _draw(self, ax: Axes) -> None:
        for values, color, hatch, name in (
            (self.negatives, BLUE, None, "negative"),
            (self.positives, ORANGE, "///", "positive"),
        ):
            ax.stairs(values, self.edges, fill=True, color=color, alpha=0.45, hatch=hatch, label=name)
            ax.stairs(values, self.edges, color=color, linewidth=1.8)
        if self.chosen is not None:
            at = self.chosen.shown
            shown = at if np.isfinite(at) else self.edges[-1]
            ax.axvline(shown, color=VERMILION, linewidth=2.2, label=self.chosen.label)
        ax.set(xlabel="Score", ylabel="Share of the rows of each class" if self.density else "Rows")
        ax.set_ylim(bottom=0)
        tidy(ax)


@dataclass
class ConfusionDisplay(CurveDisplay):
    """Counts and shares of each true class; rows are the truth, columns the decision.

    Attributes
    ----------
    confusion_matrix : ndarray of shape (n_classes, n_classes)
    labels : list of str
    title : str
    """

    confusion_matrix: NDArray[Any]
    labels: list[str]
    title: str = ""
    size = (5.2, 4.6)
    heading = "Confusion matrix"

    @classmethod
    def from_confusion(cls, confusion: Confusion, *, title: str = "", ax: Axes | None = None) -> Self:
        """Draw a `Confusion`: positives first, as in a two-by-two table."""
        return cls._of_confusion(confusion, title).plot(ax=ax)

    @classmethod
    def from_matrix(cls, matrix: Any, labels: Any, *, title: str = "", ax: Axes | None = None) -> Self:
        """Draw a matrix of any number of classes, such as `evaluate_classes(...).confusion_matrix`."""
        return cls(np.asarray(matrix), [str(label) for label in labels], title).plot(ax=ax)

    @classmethod
    def _of_confusion(cls, c: Confusion, title: str) -> Self:
        return cls(np.array([[c.tp, c.fn], [c.fp, c.tn]]), ["positive", "negative"], title)

    @classmethod
    def of_curve(cls, curve: Curve, **point: Any) -> Self:
        """Compute the arrays, without drawing."""
        chosen = choose(curve, **point)
        if chosen is None:
            raise InvalidParameterError(
                "threshold",
                got=None,
                expected="given, or else a goal",
                caller="ConfusionDisplay",
                hint=("for example ", Argument("threshold", 0.5), " or ", Argument("maximize", "f1"), "."),
            )
        return cls._of_confusion(chosen.confusion, chosen.label)

    def _draw(self, ax: Axes) -> None:
        matrix = self.confusion_matrix.astype(np.float64)
        size = len(matrix)
        totals = matrix.sum(axis=1, keepdims=True)
        shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="equal")
        fontsize = "large" if size < 4 else "small"
        for (i, j), count in np.ndenumerate(matrix):
            text = count_text(count) + (f"\n{100 * shares[i, j]:.1f} %" if size <= 10 else "")
            ink = "white" if shares[i, j] > _DARK else "black"
            ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=fontsize)
        ax.set_xticks(range(size), [f"called {x}" for x in self.labels] if size == 2 else self.labels)
        ax.set_yticks(range(size), self.labels)
        ax.set(xlabel="Decision", ylabel="Truth")
        if self.title:
            ax.set_title(self.title, fontsize="medium")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)

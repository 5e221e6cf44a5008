"""What all displays share: colors, the marked point, axes, legends, files."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from cutpoints._atomic import replaced
from cutpoints._curve import Curve
from cutpoints._curve import curve as compute_curve
from cutpoints._extras import needs
from cutpoints._format import exact, short
from cutpoints._goal import objective
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from cutpoints._goal import Constraints, Objective
    from cutpoints._result import Confusion, Interval
    from cutpoints.metrics.expression import Expression

# Okabe and Ito's palette: distinct with any color vision, and in gray by lightness.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
LINES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
GRAY, LIGHT = "#666666", "#BBBBBB"
CHOSEN: dict[str, Any] = {
    "marker": "o",
    "markersize": 10,
    "markerfacecolor": VERMILION,
    "markeredgecolor": "black",
    "markeredgewidth": 1.2,
    "linestyle": "none",
    "zorder": 10,
    "clip_on": False,
}
_STEPS = 2000
_LISTED_TIES = 20
_PER_INCH = 10
"""Letters of a title per inch: an average one takes 6 of 72 points, and there are margins."""
_HANDLE = 7
"""Letters that the line beside a label takes in a legend."""
_BELOW = 36
"""Points between an axis and its legend: room for numbers and a name."""
FORMATS = ("png", "svg", "pdf")


class Chosen(NamedTuple):
    """The threshold that a plot marks."""

    threshold: float
    interval: Interval
    confusion: Confusion
    label: str
    expression: Expression | None
    ties: tuple[float, ...]

    @property
    def shown(self) -> float:
        """Where to draw it: at the number that the label has, which makes the same decisions."""
        inside = float(self.interval.shortest)
        return self.threshold if self.expression is None else inside

    def metrics(self, x: Any, y: Any) -> tuple[float, float]:
        """Return two metrics at the threshold: a point of a plot."""
        return self.confusion.metric(x), self.confusion.metric(y)

    def per_rate(self) -> tuple[Fraction, Fraction] | None:
        """Return what the objective changes per unit of TPR and of FPR; None if it is not linear in both."""
        if self.expression is None:
            return None
        c = self.confusion
        positives, negatives = Fraction(c.tp) + Fraction(c.fn), Fraction(c.fp) + Fraction(c.tn)
        form = self.expression.linear_fractional(positives, negatives)
        if form is None or not form.is_linear:
            return None
        return form.numerator[1] * positives, form.numerator[2] * negatives


def choose(
    curve: Curve,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    threshold: float | None = None,
) -> Chosen | None:
    """Return the optimum of a goal, or what a threshold does, or None if neither is given."""
    wanted = maximize if maximize is not None else minimize
    if wanted is None:
        if threshold is None:
            return None
        cut = curve.at(threshold)
        text = f"threshold {exact(float(threshold))}"
        return Chosen(float(threshold), cut.interval, cut.confusion, text, None, ())
    best = curve.best(maximize=maximize, minimize=minimize, subject_to=subject_to).raise_if_infeasible()
    assert best.threshold is not None
    assert best.interval is not None
    assert best.confusion is not None
    assert best.value is not None
    text = f"{'best' if maximize is not None else 'least'} {best.objective} = {short(best.value)}"
    text += f"\nat threshold {best.interval.shortest}"
    if best.ties:
        text += f" ({len(best.ties):,} more equal)"
    ties = tuple(tie.threshold for tie in best.ties[:_LISTED_TIES])
    return Chosen(best.threshold, best.interval, best.confusion, text, objective(wanted), ties)


class Display(ABC):
    """Base of the displays: `plot` on given or new axes, `save` to a file."""

    heading = ""
    """What is drawn, in a few words: the title, unless another one is asked for."""
    size = (5.6, 6.6)
    legend_columns = 1
    name: str | None = None
    point: tuple[float, float] | None = None
    chosen: Chosen | None = None
    ax_: Axes
    figure_: Any

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on the given axes, or on new ones; afterwards in `ax_` and `figure_`."""
        if ax is not None:
            return self._on(ax, own=False)
        return self._on(_matplotlib("pyplot").subplots(figsize=self.size, layout="compressed")[1], own=True)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        dpi: int = 150,
        size: tuple[float, float] | None = None,
    ) -> Path:
        """Write a PNG, SVG or PDF file, without a screen.

        The file is written under a temporary name and renamed when it is complete.

        Parameters
        ----------
        path : str or path-like
            Where to write it; the ending tells the format.
        title : str, default=None
            The title; by default what is drawn, and the name of the model.
        dpi : int, default=150
            Dots per inch, for PNG.
        size : tuple of float, default=None
            Width and height in inches.
        """
        place = Path(path)
        ending = place.suffix.lower().lstrip(".")
        if ending not in FORMATS:
            expected = f"a file name that ends in .{', .'.join(FORMATS)}"
            raise InvalidParameterError("path", got=str(place), expected=expected, caller="save")
        figure = _matplotlib("figure").Figure(figsize=size or self.size, layout="compressed")
        figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
        self._on(figure.subplots(), own=True, title=title)
        with replaced(place, folders=True) as beside:
            figure.savefig(beside, dpi=dpi, format=ending)
        return place

    def _on(self, ax: Axes, *, own: bool, title: str | None = None) -> Self:
        self._draw(ax)
        letters = max(int(_PER_INCH * ax.figure.bbox.width / ax.figure.dpi), 2 * _HANDLE)
        if own:
            whose = f"{self.heading}: {self.name}" if self.name and self.heading else self.heading
            lines = [title or whose, *ax.get_title().splitlines()]
            text = "\n".join(filter(None, (broken(line, letters) for line in lines)))
            ax.set_title(text, fontsize="medium", pad=10)
        handles, labels = ax.get_legend_handles_labels()
        for other in getattr(ax, "twins_", ()):
            more = other.get_legend_handles_labels()
            handles, labels = handles + more[0], labels + more[1]
        place: dict[str, Any] = {"loc": "best", "framealpha": 0.9, "fontsize": "small"}
        if own:
            # In points, as the texts along the axis: in a small figure they take more of its height.
            below = _matplotlib("transforms").ScaledTranslation(0, -_BELOW / 72, ax.figure.dpi_scale_trans)
            place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "frameon": False}
            labels, columns = _fitting(labels, letters, self.legend_columns)
            place |= {"bbox_transform": ax.transAxes + below, "ncols": columns}
        if labels:
            ax.legend(handles, labels, **place)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw on the axes."""

    def _mark(self, ax: Axes) -> None:
        """Mark the chosen point, if there is one and it is defined."""
        if self.point is not None and self.chosen is not None and not math.isnan(sum(self.point)):
            ax.plot(*self.point, **CHOSEN, label=self.chosen.label)


def broken(text: str, letters: int) -> str:
    """Break lines that are too long."""
    return "\n".join(part for line in text.splitlines() for part in wrap(line, letters))


def _fitting(labels: list[str], letters: int, columns: int) -> tuple[list[str], int]:
    """Return labels and the number of columns of a legend that fits into this many letters."""

    def longest(texts: Iterable[str]) -> int:
        return _HANDLE + max(len(line) for text in texts for line in text.splitlines() or [""])

    # As legends do: column by column.
    while columns > 1 and sum(map(longest, filter(len, np.array_split(labels, columns)))) > letters:
        columns -= 1
    return [broken(text, letters - _HANDLE) for text in labels] if columns == 1 else labels, columns


class CurveDisplay(Display):
    """Base of the displays of a curve, or of the labels and scores that it is made of."""

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None, **options: Any
    ) -> Self:
        """Draw from labels and scores; options are those of `from_curve`."""
        curve = compute_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
        return cls.from_curve(curve, **options)

    @classmethod
    def from_curve(cls, curve: Curve, *, ax: Axes | None = None, **options: Any) -> Self:
        """Draw a curve."""
        return cls.of_curve(curve, **options).plot(ax=ax)

    @classmethod
    @abstractmethod
    def of_curve(cls, curve: Curve, **options: Any) -> Self:
        """Compute the arrays, without drawing."""


def _matplotlib(module: str) -> Any:
    """Import a part of matplotlib, or say how to install it."""
    with needs("plots"):
        return import_module(f"matplotlib.{module}")


def unit_square(ax: Axes, *, x: str, y: str) -> None:
    """Label axes that both run from 0 to 1."""
    ax.set(xlabel=x, ylabel=y, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.set_aspect("equal", adjustable="box")
    tidy(ax)


def tidy(ax: Axes) -> None:
    """Keep two spines and a light grid behind the data."""
    with_separators(ax)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)


def with_separators(ax: Axes) -> None:
    """Write numbers along the axes as in sentences: with separators, and without exponents."""
    ticker = _matplotlib("ticker")
    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_formatter(), ticker.ScalarFormatter):
            axis.set_major_formatter(ticker.FuncFormatter(lambda x, _: short(x)))


def thin(*columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Leave out points that look the same as the one before; the first and the last stay."""
    if len(columns[0]) <= 2 * _STEPS:
        return columns
    keep = np.zeros(len(columns[0]), dtype=np.bool_)
    keep[[0, -1]] = True
    for column in columns:
        finite = column[np.isfinite(column)]
        if len(finite) == 0:
            continue
        low, high = float(finite.min()), float(finite.max())
        scale = _STEPS / (high - low) if high > low else 0.0
        place = np.nan_to_num((column - low) * scale, posinf=math.inf, neginf=-math.inf)
        place = np.floor(np.clip(place, -1, _STEPS + 1))
        keep[1:] |= place[1:] != place[:-1]
    return tuple(column[keep] for column in columns)


def finite_ends(thresholds: NDArray[np.float64]) -> tuple[float, float]:
    """Return the range of the finite thresholds, slightly widened."""
    finite = thresholds[np.isfinite(thresholds)]
    if len(finite) == 0:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    room = 0.02 * (high - low) or 0.5
    return low - room, high + room

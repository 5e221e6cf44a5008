"""The crossing: sorted probabilities, the expected objective, and the share that it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from cutpoints._expected import ExpectedCurve, expected_curve
from cutpoints.exceptions import InvalidParameterError
from cutpoints.plots._style import BLUE, CHOSEN, GREEN, GREY, ORANGE, Display, thin, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cutpoints._goal import Objective

_LONG = 25


@dataclass
class ExpectedCurveDisplay(Display):
    """An objective over all cuts of calibrated probabilities.

    Against the number of rows called positive, the share that the objective stands for (half of it
    for f1) crosses the sorted probabilities at the optimum; against the threshold, the objective has
    its maximum there.

    Attributes
    ----------
    curve : ExpectedCurve
        What `expected_curve` returns.
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

    def __post_init__(self) -> None:
        if self.against not in {"rows", "threshold"}:
            raise InvalidParameterError.of(
                parameter="against",
                caller="ExpectedCurveDisplay",
                must_be="'rows' or 'threshold'",
                got=self.against,
            )

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
        found = expected_curve(y_prob, maximize=maximize, sample_weight=sample_weight)
        return cls(found, against).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        name = {"f1": "F1", "jaccard": "Jaccard index"}.get(curve.objective, curve.objective)
        best, value = float(curve.thresholds[curve.best]), float(curve.values[curve.best])
        label = f"best {name} = {value:.4g}\nat threshold {best:.4g}"
        called, thresholds, values, shares = thin(curve.called, curve.thresholds, curve.values, curve.shares)
        if self.against == "threshold":
            self.lines_ = ax.plot(thresholds, values, color=ORANGE, linewidth=2, label=f"expected {name}")
            ax.axvline(best, color=GREY, linestyle="--", linewidth=1)
            ax.plot(best, value, **CHOSEN, label=label)
            ax.set(xlabel="Threshold", ylabel=f"Expected {name}", xlim=(0, 1))
        else:
            rule = (
                curve.rule.replace("lambda", name) if len(curve.rule) < _LONG else "share that it stands for"
            )
            lines = ((thresholds, BLUE, "sorted probabilities"), (values, ORANGE, f"expected {name}"))
            self.lines_ = [
                ax.plot(called, column, color=color, linewidth=2, linestyle=style, label=text)[0]
                for (column, color, text), style in zip(
                    (*lines, (shares, GREEN, rule)), ("-", "-", "--"), strict=True
                )
            ]
            at = float(curve.called[curve.best])
            ax.axvline(at, color=GREY, linestyle="--", linewidth=1)
            ax.plot(at, best, **CHOSEN, label=label)
            ax.xaxis.set_major_formatter("{x:,.0f}")
            ax.set(xlabel="Rows called positive", ylabel="Probability, value", xlim=(0, called[-1]))
        ax.set_ylim(0, 1)
        tidy(ax)

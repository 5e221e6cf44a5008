"""Is it the threshold or the model? What a threshold loses, split by what would repair it.

From a threshold in use to a perfect classifier there are three steps: to the threshold that the goal asks
for if the scores are probabilities, which needs no labels; to the best threshold on the labels; and to a
ranking with every positive above every negative, which only another model can have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._curve.costs import index_at
from cutpoints._data.probabilities import ProbabilitySource
from cutpoints._equality import compared_by_value
from cutpoints._format import html_pairs, json_number, short
from cutpoints._kernel.cuts import Cuts
from cutpoints._search.run import decide
from cutpoints._search.sweep import all_cuts
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._result import Solution


@compared_by_value
@dataclass(frozen=True, repr=False)
class LossSplit:
    """What a threshold loses against a perfect classifier, and to what.

    `threshold`, `calibration` and `ranking` are never negative, and add up to `total`. All are measured on
    the rows that the best threshold was chosen on, so the first two are slightly too large for new data, and
    `ranking` is slightly too small.

    Attributes
    ----------
    objective : str
    direction : {"maximize", "minimize"}
    at : float
        The threshold in use.
    value : float
        The objective there; NaN if it is undefined, or if a constraint is not met.
    believed_at, believed : float or None
        The threshold that `find_expected` would choose, which takes the scores for probabilities and needs
        no labels; and the objective there, on the labels. None unless all scores lie in [0, 1], and for
        goals with columns. The value is NaN if a constraint is not met on the labels.
    best_at, best : float
        The best threshold, and the objective there.
    perfect : float
        The objective at the best threshold of the same scores with every positive above every negative.
    """

    objective: str
    direction: Literal["maximize", "minimize"]
    at: float
    value: float
    believed_at: float | None
    believed: float | None
    best_at: float
    best: float
    perfect: float

    @property
    def total(self) -> float:
        """What a perfect classifier would gain."""
        return self._loss(self.value, self.perfect)

    @property
    def threshold(self) -> float:
        """Lost to the threshold: what the one that the goal asks of probabilities would gain, without labels.

        Everything that the best threshold gains, where the scores are not probabilities.
        """
        return self._loss(self.value, self.best if self.believed is None else self._without_labels)

    @property
    def calibration(self) -> float | None:
        """Lost to calibration: what labels add to that, because the scores are not the probabilities.

        Recalibrating the scores gains no more than this. None where the scores are not probabilities.
        """
        return None if self.believed is None else self._loss(self._without_labels, self.best)

    @property
    def ranking(self) -> float:
        """Lost to the ranking: no threshold and no calibration gains this, only a better model."""
        return self._loss(self.best, self.perfect)

    @property
    def _without_labels(self) -> float:
        """The better of what is in use and what the goal asks for."""
        assert self.believed is not None
        better = max if self.direction == "maximize" else min
        return self.value if math.isnan(self.believed) else better(self.value, self.believed)

    def _loss(self, here: float, there: float) -> float:
        if here == there:  # also where both are infinite
            return 0.0
        return there - here if self.direction == "maximize" else here - there

    @property
    def sentence(self) -> str:
        """The split in a sentence."""
        return f"At {short(self.at)}, {self.objective} loses {self.parts}."

    @property
    def parts(self) -> str:
        """The total and its parts in words."""
        lost = {"the threshold": self.threshold, "calibration": self.calibration, "ranking": self.ranking}
        known = {name: x for name, x in lost.items() if x is not None and not math.isnan(x)}
        shown = ", ".join(f"{short(x)} by {name}" for name, x in known.items())
        if math.isnan(self.value):
            return f"{shown}, and more than can be said: it has no value there, or breaks a constraint"
        return f"{short(self.total)} in all: {shown}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        names = ("at", "value", "believed_at", "believed", "best_at", "best", "perfect")
        losses = ("total", "threshold", "calibration", "ranking")
        return {
            "objective": self.objective,
            "direction": self.direction,
            **{name: json_number(getattr(self, name)) for name in names},
            "loss": {name: json_number(getattr(self, name)) for name in losses},
            "sentence": self.sentence,
        }

    def _lines(self) -> list[tuple[str, str]]:
        def line(name: str, value: float, where: str, gained: float | None = None) -> tuple[str, str]:
            text = "no value" if math.isnan(value) else short(value)
            more = "more" if self.direction == "maximize" else "less"
            known = gained is not None and not math.isnan(gained)
            return name, f"{text} {where}" + (f": {short(gained or 0.0)} {more}" if known else "")

        lines = [line("in use", self.value, f"at {short(self.at)}")]
        best = f"at {short(self.best_at)}, the best threshold"
        if self.believed is None or self.believed_at is None:
            lines.append(line("threshold", self.best, best, self.threshold))
        else:
            asked = f"at {short(self.believed_at)}, the best threshold if the scores are probabilities"
            lines.append(line("threshold", self.believed, asked, self.threshold))
            lines.append(line("calibration", self.best, best, self.calibration))
        perfect = "with every positive above every negative"
        return [*lines, line("ranking", self.perfect, perfect, self.ranking)]

    def __repr__(self) -> str:
        return "\n".join(f"{name:<13}{text}" for name, text in self._lines())

    def _repr_html_(self) -> str:
        return html_pairs(self._lines())


def split_loss(cuts: Cuts, goal: Goal, threshold: float, best: Solution) -> LossSplit:
    """Split what a threshold loses; `cuts` are all cuts of rows of both classes, `best` the best of them."""
    assert best.threshold is not None
    assert best.value is not None

    def value_at(where: float) -> float:
        index = int(index_at(cuts, np.float64(where)))
        met = bool(cuts[[index]].feasible(goal.constraints)[0])
        return cuts.value(goal.expression, index) if met else math.nan

    asked = _believed(cuts, goal)
    return LossSplit(
        objective=str(goal.expression),
        direction=goal.direction,
        at=float(threshold),
        value=value_at(threshold),
        believed_at=asked,
        believed=None if asked is None else value_at(asked),
        best_at=best.threshold,
        best=best.value,
        perfect=_perfect(cuts, goal),
    )


def _believed(cuts: Cuts, goal: Goal) -> float | None:
    """Return the threshold of `find_expected`; None unless it is one of probabilities."""
    if goal.columns or not 0 <= cuts.summary.low <= cuts.summary.high <= 1:
        return None
    rows = np.diff(cuts.tp + cuts.fp, prepend=0)
    finite = np.isfinite(cuts.thresholds)
    scores = ProbabilitySource(cuts.thresholds[finite], rows[finite].astype(np.float64))
    try:
        found = decide(all_cuts(scores), goal, "sweep", 0, cuts.summary.rows)
    except InvalidInputError:  # undefined at every cut: all probabilities are 0, say
        return None
    return None if found.choice is None else float(found.cuts.thresholds[found.choice.best])


def _perfect(cuts: Cuts, goal: Goal) -> float:
    """Return the best value with every positive above every negative, their orders kept.

    The cuts of that ranking: those through the positives, with no negative; and those through the negatives,
    with every positive. The cuts as they are stand beside them, so that it is never worse than the best: a
    constraint such as predicted_positive == 7 may be met there alone, for lack of other cuts.
    """

    def over(side: NDArray[Any], *, positive: bool) -> NDArray[Any]:
        through_negatives, through_positives = (
            (np.full_like(side, side[-1]), side) if positive else (side, np.zeros_like(side))
        )
        return np.concatenate([through_positives, through_negatives, side])

    places = np.arange(3 * len(cuts), 0, -1, dtype=np.float64)
    columns = tuple(over(side, positive=i % 2 == 0) for i, side in enumerate(cuts.columns))
    tp, fp = over(cuts.tp, positive=True), over(cuts.fp, positive=False)
    choice = decide(
        Cuts(cuts.summary, places, places, tp, fp, columns), goal, "sweep", 0, cuts.summary.rows
    ).choice
    assert choice is not None
    return float(choice.value)

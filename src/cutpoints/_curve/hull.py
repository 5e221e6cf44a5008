"""The upper convex hull of the ROC curve: which thresholds any costs could ever choose.

A threshold that is best for some costs is a vertex of the hull, and every vertex is best for a
range of costs. Vertices are found in integers; a sample of a million rows has a few hundred.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._curve.table import Table
from cutpoints._data.array_input import as_floats, refuse_nan
from cutpoints._equality import compared_by_value
from cutpoints._find import cut_at
from cutpoints._format import short
from cutpoints._search.hulls import upper_hulls
from cutpoints._validate import number_in
from cutpoints._wording import Words
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._arithmetic import as_fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts
    from cutpoints._result import Cut

Point = tuple[int, int]


@dataclass(frozen=True)
class IsoCost:
    """Where a line of equal cost touches the hull.

    Attributes
    ----------
    cuts : tuple of Cut
        The vertices of least cost: one, or two where the line lies along an edge.
    slope : float
        Of the line in ROC space: (c_fp - c_tn) / (c_fn - c_tp) times the odds of a negative.
    cost : float
        The expected cost per row at the prevalence.
    bayes_threshold : float
        Where to cut calibrated probabilities (at the prevalence of the data). If it is far from
        the threshold of the cut, the scores are not calibrated.
    """

    cuts: tuple[Cut, ...]
    slope: float
    cost: float
    bayes_threshold: float

    @property
    def threshold(self) -> float:
        """The threshold of the first cut, which calls the fewest rows positive."""
        return self.cuts[0].threshold


@dataclass(frozen=True)
class Randomized:
    """A rule between two thresholds: use `low` for a random `share` of the rows and `high` for the others.

    In expectation it attains a point on the edge between two vertices, which no threshold does.
    Two rows with equal scores may be decided differently: use it where that is acceptable.
    """

    high: float
    low: float
    share: float
    fpr: float
    tpr: float

    def decide(
        self, y_score: Any, *, random_state: int | np.random.Generator | None = None
    ) -> NDArray[np.int8]:
        """Return 1 where a score is called positive and 0 elsewhere; NaN scores are an error.

        Drawn anew at each call unless `random_state` is given: the same draw for every batch of rows
        would be no draw.
        """
        scores = as_floats(y_score, "y_score", "decide")
        refuse_nan(scores, "y_score")
        lenient = np.random.default_rng(random_state).random(scores.shape) < self.share
        return (scores >= np.where(lenient, self.low, self.high)).astype(np.int8)


@compared_by_value
class Hull:
    """The vertices of the upper hull, thresholds descending.

    Attributes
    ----------
    indices : ndarray of int
        Which cuts of the curve they are.
    thresholds, fpr, tpr : ndarray of float
        The vertices.
    """

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self.indices = vertices(cuts)
        self.points: list[Point] = list(
            zip(cuts.fp[self.indices].tolist(), cuts.tp[self.indices].tolist(), strict=True)
        )
        positives, negatives = cuts.summary.positives, cuts.summary.negatives
        self.fpr = np.array([fp / negatives for fp, _ in self.points])
        self.tpr = np.array([tp / positives for _, tp in self.points])

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The thresholds of the vertices."""
        return self._cuts.thresholds[self.indices].astype(np.float64)

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return f"<Hull of {len(self)} vertices, area {self.area:.6g}>"

    def masses(self) -> list[tuple[Fraction, Fraction]]:
        """Return FP and TP of the vertices as exact fractions."""
        step = self._cuts.summary.grid.step
        return [(fp * step, tp * step) for fp, tp in self.points]

    @cached_property
    def area(self) -> float:
        """The area under the hull: the AUC of the best calibration of these scores; exact, rounded once."""
        twice, before = 0, (0, 0)
        for fp, tp in self.points:
            twice += (tp + before[1]) * (fp - before[0])
            before = fp, tp
        return twice / (2 * self._cuts.summary.positives * self._cuts.summary.negatives)

    def cut(self, index: int) -> Cut:
        """Return one vertex as a cut, with its confusion and interval."""
        return cut_at(self._cuts, int(self.indices[index]))

    def at_cost(
        self, *, fp: float, fn: float, tp: float = 0, tn: float = 0, prevalence: float | None = None
    ) -> IsoCost:
        """Return where a line of equal cost touches the hull: the cheapest thresholds.

        Parameters
        ----------
        fp, fn, tp, tn : float
            What each kind of row costs. A miss must cost at least a hit, a false alarm at least
            leaving a negative alone.
        prevalence : float, default=None
            Of positives where the rule will be used; that of the data by default.

        Examples
        --------
        >>> import cutpoints as cp
        >>> hull = cp.curve([0, 0, 1, 1, 0, 0, 1, 1], [0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9]).hull()
        >>> touch = hull.at_cost(fp=2, fn=1)
        >>> touch.threshold, touch.slope, touch.cost
        (0.7, 2.0, 0.25)
        """
        alarm, miss = as_fraction(fp) - as_fraction(tn), as_fraction(fn) - as_fraction(tp)
        if alarm < 0 or miss < 0 or (alarm == 0 and miss == 0):
            raise InvalidParameterError(
                "fp/fn",
                got=f"fp={fp}, tn={tn}, fn={fn}, tp={tp}",
                expected="costs with fp >= tn and fn >= tp, not both equal",
                caller="at_cost",
                hint="for any other costs use curve.best(minimize='cost(...)').",
            )
        positives, negatives = self._cuts.summary.positives, self._cuts.summary.negatives
        share = _share(prevalence, Fraction(positives, positives + negatives), "at_cost")
        # Cost per row, as a linear function of TP and FP in units of the data.
        per_tp, per_fp = share * miss / positives, (1 - share) * alarm / negatives
        gains = [per_tp * t - per_fp * f for f, t in self.points]
        best = max(gains)
        fixed = share * as_fraction(fn) + (1 - share) * as_fraction(tn)
        return IsoCost(
            tuple(self.cut(i) for i, gain in enumerate(gains) if gain == best),
            float(alarm / miss * (1 - share) / share) if miss and share else math.inf,
            float(fixed - best),
            float(alarm / (alarm + miss)),
        )

    def cost_ratios(self, *, prevalence: float | None = None) -> Table:
        """Return for which costs each vertex is best: a false alarm in misses, from `low` to `high`.

        Exact: the ends are quotients of integers. At an end two thresholds cost the same.

        Examples
        --------
        >>> import cutpoints as cp
        >>> hull = cp.curve([0, 0, 1, 1, 0, 0, 1, 1], [0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9]).hull()
        >>> for sentence in hull.cost_ratios()["use"]:
        ...     print(sentence)
        use inf only if a miss costs nothing
        use 0.7 while a false alarm costs more than 1 miss
        use 0.3 while a false alarm costs less than 1 miss
        use 0 only if a false alarm costs nothing
        """
        positives, negatives = self._cuts.summary.positives, self._cuts.summary.negatives
        share = _share(prevalence, Fraction(positives, positives + negatives), "cost_ratios")
        scale = math.inf if share == 1 else Fraction(negatives, positives) * share / (1 - share)
        # The ratio of costs at which two neighbors cost the same: TP gained per FP paid.
        turns: list[Fraction | float] = [math.inf]
        for (f0, t0), (f1, t1) in zip(self.points, self.points[1:], strict=False):
            turns.append(math.inf if f1 == f0 else Fraction(t1 - t0, f1 - f0) * scale)
        turns.append(Fraction(0))
        high, low = turns[:-1], turns[1:]
        return Table(
            {
                "threshold": self.thresholds,
                "fpr": self.fpr,
                "tpr": self.tpr,
                "low": np.array([float(x) for x in low]),
                "high": np.array([float(x) for x in high]),
                "use": np.array(
                    [sentence(self.cut(i).interval.shortest, low[i], high[i]) for i in range(len(self))]
                ),
            },
            self._cuts.below[self.indices],
        )

    def randomized(self, *, fpr: float | None = None, tpr: float | None = None) -> Randomized:
        """Return the rule that attains a rate exactly in expectation, by chance between two vertices.

        Parameters
        ----------
        fpr, tpr : float
            The wanted rate, one of the two.

        Examples
        --------
        >>> import cutpoints as cp
        >>> c = cp.curve([0, 0, 1, 1, 0, 0, 1, 1], [0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9])
        >>> c.hull().randomized(fpr=0.25)
        Randomized(high=0.7, low=0.3, share=0.5, fpr=0.25, tpr=0.75)
        """
        if (fpr is None) == (tpr is None):
            raise InvalidParameterError(
                "fpr",
                got=Words("neither" if fpr is None else "both"),
                expected="given, or else tpr, and not both",
                caller="randomized",
            )
        positives, negatives = self._cuts.summary.positives, self._cuts.summary.negatives
        axis, name, total = (0, "fpr", negatives) if fpr is not None else (1, "tpr", positives)
        wanted = _share(fpr if fpr is not None else tpr, Fraction(0), "randomized", name) * total
        index = 0
        last = len(self.points) - 1
        while index < last and self.points[index + 1][axis] <= wanted:
            index += 1
        if axis == 1:  # of several vertices with full recall, the first has the fewest false alarms
            while index and self.points[index - 1][1] == wanted:
                index -= 1
        here, there = self.points[index], self.points[min(index + 1, last)]
        share = Fraction(0)
        if there[axis] > here[axis]:
            share = (wanted - here[axis]) / (there[axis] - here[axis])
        mixed = [a + share * (b - a) for a, b in zip(here, there, strict=True)]
        return Randomized(
            float(self.thresholds[index]),
            float(self.thresholds[min(index + 1, last)]),
            float(share),
            float(mixed[0] / negatives),
            float(mixed[1] / positives),
        )


def vertices(cuts: Cuts) -> NDArray[np.intp]:
    """Return the indices of the cuts on the upper hull, in order; collinear cuts are left out."""
    return upper_hulls(cuts.fp, cuts.tp, np.array([0, len(cuts)]))


def _share(given: float | None, default: Fraction, caller: str, name: str = "prevalence") -> Fraction:
    if given is None:
        return default
    number_in(name, given, 0, 1, caller=caller)
    return as_fraction(given)


def sentence(threshold: str, low: Fraction | float, high: Fraction | float) -> str:
    """Say for which costs a threshold is best."""
    use = f"use {threshold}"
    if low == math.inf:
        return f"{use} only if a miss costs nothing"
    if high == 0:
        return f"{use} only if a false alarm costs nothing"
    if high == math.inf and low == 0:
        return f"{use} whatever a false alarm costs"
    if high == math.inf:
        return f"{use} while a false alarm costs more than {_misses(low)}"
    if low == 0:
        return f"{use} while a false alarm costs less than {_misses(high)}"
    return f"{use} while a false alarm costs between {short(float(low))} and {_misses(high)}"


def _misses(ratio: Fraction | float) -> str:
    return f"{short(float(ratio))} miss{'' if ratio == 1 else 'es'}"

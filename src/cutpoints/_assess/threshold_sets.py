"""Sets of thresholds: all that are nearly best here, and all that may be best in truth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._curve.costs import index_at
from cutpoints._data.arrays import ArraySource
from cutpoints._equality import compared_by_value
from cutpoints._extras import needs
from cutpoints._find import solve
from cutpoints._format import count
from cutpoints._result import Interval
from cutpoints._search.run import search
from cutpoints._search.sweep import all_cuts
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._kernel.cuts import Cuts


@compared_by_value
@dataclass(frozen=True)
class ThresholdSet:
    """Thresholds as disjoint intervals ``(low, high]``, ascending."""

    intervals: tuple[Interval, ...]

    @property
    def low(self) -> float:
        """Below this no threshold is in the set."""
        return self.intervals[0].low

    @property
    def high(self) -> float:
        """The highest threshold of the set."""
        return self.intervals[-1].high

    def __contains__(self, threshold: float) -> bool:
        return any(low < threshold <= high for low, high in self.intervals)

    def __str__(self) -> str:
        if len(self.intervals) > 2:
            return f"({count(self.low)}, {count(self.high)}] in {len(self.intervals):,} pieces"
        return " and ".join(f"({count(low)}, {count(high)}]" for low, high in self.intervals)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the JSON form."""
        return [one.to_dict() for one in self.intervals]


def merged(cuts: Cuts, mask: NDArray[np.bool_]) -> ThresholdSet:
    """Join the intervals of neighboring cuts."""
    edges = np.diff(mask.astype(np.int8), prepend=0, append=0)
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    # Thresholds descend, so the last cut of a run has its lower end.
    runs = zip(cuts.below[last].tolist(), cuts.thresholds[first].tolist(), strict=True)
    return ThresholdSet(tuple(Interval(low, high) for low, high in runs)[::-1])


def near_optimal(cuts: Cuts, goal: Goal, best: float, tolerance: float) -> ThresholdSet:
    """Return all thresholds that meet the constraints with a value within `tolerance` of the best.

    Descriptive: it says how flat the top is on these rows, not where the truth lies.
    """
    values = cuts.values(goal.expression)
    with np.errstate(invalid="ignore"):
        near = goal.sign * (values - best) >= -tolerance
        near |= values == best  # infinite values
    return merged(cuts, near & cuts.feasible(goal.constraints) & ~np.isnan(values))


def odds(goal: Goal) -> Fraction | None:
    """Return the share of positives at which calling a row positive starts to pay; None if not fixed.

    It is c_fp / (c_fp + c_fn) for linear costs: a false alarm and a miss cost the same wherever and
    in however many rows they happen. Metrics whose weights hang on the class sizes (balanced
    accuracy) have no such share.
    """
    if goal.constraints:
        return None
    shares = set()
    for positives, negatives in ((10, 20), (30, 7)):
        form = goal.expression.linear_fractional(Fraction(positives), Fraction(negatives))
        if form is None or not form.is_linear or form.denominator[0] == 0:
            return None
        gain = goal.sign * form.numerator[1] / form.denominator[0]
        loss = -goal.sign * form.numerator[2] / form.denominator[0]
        if gain <= 0 or loss <= 0:
            return None
        shares.add(loss / (loss + gain))
    return shares.pop() if len(shares) == 1 else None


def split_set(
    goal: Goal,
    y: NDArray[np.uint8],
    scores: NDArray[Any],
    *,
    confidence: float,
    rng: np.random.Generator,
) -> ThresholdSet:
    """Return thresholds among which the truly best one is, with at least this confidence.

    Exact at every number of rows and for any distribution, at the price of width. One half of the
    rows chooses a threshold; the other half tests, for each other threshold, whether it is at least
    as good, by the exact binomial tail on the rows between the two. The truly best threshold is at
    least as good as the chosen one, so it is wrongly left out with probability 1 - confidence at
    most. No other threshold needs to survive: there is nothing to correct for.

    Costs two sorts. Linear costs only.
    """
    share = odds(goal)
    if share is None:
        raise InvalidParameterError(
            "maximize" if goal.sign > 0 else "minimize",
            got=str(goal),
            expected="a linear cost without constraints, such as accuracy or cost(fp=2, fn=1)",
            caller="split_set",
            hint="other metrics have no exact confidence set for the threshold; see the bootstrap.",
        )
    half = rng.permutation(len(y)) < len(y) // 2
    source = ArraySource.labelled(y[half], scores[half])
    chosen = solve(goal, lambda one: search(source, one)).threshold
    assert chosen is not None
    cuts = all_cuts(ArraySource.labelled(y[~half], scores[~half]))
    # The cut of the second half that decides as the chosen threshold does.
    at = int(index_at(cuts, chosen))
    tp, fp = cuts.tp, cuts.fp
    between = np.abs((tp + fp) - (tp[at] + fp[at]))
    positives = np.abs(tp - tp[at])
    with needs("assess"):
        from scipy.stats import binom

    # A lower threshold calls the rows between positive too: it is worse if few of them are. A higher
    # one gives them up: it is worse if many are.
    lower = np.arange(len(tp)) > at
    q = float(share)
    tail = np.where(lower, binom.cdf(positives, between, q), binom.sf(positives - 1, between, q))
    keep = (tail > 1 - confidence) | (between == 0)
    return merged(cuts, keep)

"""The margin epsilon of the strict inequality, and the scores as the program sees them.

The document's rows say "negative means score < t" as ``score + epsilon <= t``. Epsilon must not be
larger than the smallest gap between distinct scores, or good thresholds are forbidden; and it must
be well above the solver's tolerances, or equal scores get different labels, and an accuracy is
claimed that no threshold attains. Where no epsilon is both, the scores are replaced by their ranks
1 ... K, which are one apart, and the threshold is read off the labels afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._validate import number_in
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAFE_EPSILON = 5e-6
"""Five times the tolerance (1e-6) to which the solver holds integers and rows."""
LARGEST_SCORE = 1e6
"""Larger numbers in the rows would drown the 1 that stands before t."""

Epsilon = float | Literal["auto"]


@dataclass(frozen=True)
class Margin:
    """Scores, ascending and distinct, as they stand in the rows; `low` and `high` limit t."""

    scores: NDArray[np.float64]
    epsilon: float
    low: float
    high: float
    ranks: bool
    reason: str

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of t: the document's [0, 1], widened where they would cut thresholds off."""
        return min(0.0, self.low), max(1.0, self.high)


def margin(scores: NDArray[Any], epsilon: Epsilon, *, as_printed: bool) -> Margin:
    """Choose how distinct ascending scores enter the rows, and epsilon if it is "auto"."""
    if epsilon != "auto":
        number_in("epsilon", epsilon, 0, expected="'auto' or a number >= 0", caller="formulate")
    scores = scores.astype(np.float64)
    finite = bool(np.isfinite(scores).all())
    if as_printed or epsilon != "auto":
        least, most = (0.0, 1.0) if as_printed else (-math.inf, math.inf)
        if not finite or scores[0] < least or scores[-1] > most:
            raise InvalidParameterError(
                "as_printed" if as_printed else "epsilon",
                caller="formulate",
                expected="left out for scores " + ("outside [0, 1]" if as_printed else "that are infinite"),
                got=as_printed or epsilon,
                hint=(Argument("epsilon", "auto"), " replaces such scores by their ranks."),
            )
    gap = _smallest_gap(scores) if finite else 0.0
    chosen = gap / 2 if epsilon == "auto" else float(epsilon)
    if as_printed:
        return Margin(
            scores, chosen, chosen, 1.0, ranks=False, reason=f"{chosen:g}, as printed with 0 <= t <= 1"
        )
    if epsilon != "auto":
        return _raw(scores, chosen, f"{chosen:g}, as given")
    if finite and max(abs(scores[0]), abs(scores[-1])) <= LARGEST_SCORE:
        made = _raw(scores, chosen, "")
        low, high = made.bounds
        if chosen * 1.001 >= SAFE_EPSILON * (high - low):  # the gap of 0.00001 is not quite that in floats
            reason = f"{chosen:g}, half the smallest gap between scores"
            return Margin(scores, chosen, made.low, made.high, ranks=False, reason=reason)
    count = len(scores)
    why = f"the smallest gap between scores, {gap:.3g}, leaves no room above the solver's tolerance"
    if not finite or max(abs(scores[0]), abs(scores[-1])) > LARGEST_SCORE:
        why = "scores beyond a million are too large for the rows"
    reason = f"0.5, with the scores replaced by their ranks: {why}"
    return Margin(np.arange(1.0, count + 1), 0.5, 0.5, count + 1.0, ranks=True, reason=reason)


def _smallest_gap(scores: NDArray[np.float64]) -> float:
    """Return the smallest gap; one tenth of the size for a single score, which has none."""
    if len(scores) == 1:
        return 0.1 * max(1.0, abs(float(scores[0])))
    with np.errstate(over="ignore"):
        return float(np.diff(scores).min())


def _raw(scores: NDArray[np.float64], epsilon: float, reason: str) -> Margin:
    """Keep the document's limits, epsilon and 1, where they forbid no threshold; else widen them."""
    lowest, highest = float(scores[0]), float(scores[-1])
    inside = lowest >= 0 and highest <= 1
    low = epsilon if inside and lowest >= epsilon else lowest - epsilon
    high = 1.0 if inside and highest + epsilon <= 1 else highest + 2 * epsilon
    return Margin(scores, epsilon, low, high, ranks=False, reason=reason)

"""The answers of a sketch: a threshold and the AUC, both with bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cutpoints._find import cut_at
from cutpoints._format import count
from cutpoints._goal import in_words
from cutpoints._search.run import best_edge, undefined
from cutpoints._shown import JsonForm, Shown
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from cutpoints._goal import Goal
    from cutpoints._result import Confusion, Interval
    from cutpoints._sketch.contents import Contents


class AucBounds(NamedTuple):
    """The area under the ROC curve lies between `lower` and `upper`; both are attained by such data.

    All rounded once to a float, which keeps their order.
    """

    lower: float
    upper: float

    @property
    def middle(self) -> float:
        """The middle of the two: the area of the curve that is straight inside each bucket."""
        return self.lower + (self.upper - self.lower) / 2


@dataclass(frozen=True, repr=False)
class BestSoFar(Shown, JsonForm):
    """The best threshold that one pass can tell, and how much better the best of all can be.

    Attributes
    ----------
    status : {"optimal", "bounded", "open", "infeasible"}
        Optimal: no cut is better, and `value` is the optimum. Bounded: the optimum is between
        `lower` and `upper`. Open: no edge of a bucket meets the constraints, but a cut inside one
        may. Infeasible: no cut meets them.
    threshold : float or None
        A score of the data, or ``inf`` for no positives. Positive iff ``score >= threshold``.
    value, confusion, interval
        At this threshold, exact. None where there is no threshold.
    lower, upper : float
        The optimum over all cuts is not below `lower` and not above `upper`. One of them is `value`:
        `lower` where the goal is maximized.
    open_rows : int
        The rows in buckets that could hold a better cut, or a tie.
    """

    status: Literal["optimal", "bounded", "open", "infeasible"]
    objective: str
    direction: Literal["maximize", "minimize"]
    constraints: tuple[str, ...]
    lower: float
    upper: float
    open_rows: int
    rows: int
    positives: int | float
    negatives: int | float
    threshold: float | None = None
    value: float | None = None
    interval: Interval | None = None
    confusion: Confusion | None = None

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as names and texts."""
        goal = in_words(self.direction, self.objective, self.constraints)
        lines: list[tuple[str, str]] = [("status", self.status)]
        if self.interval is not None and self.value is not None:
            lines += [
                ("threshold", f"{self.interval.shortest}  (positive if score >= threshold)"),
                ("value", f"{count(self.value)}  ({goal})"),
            ]
        else:
            lines.append(("goal", goal))
        if self.status in {"bounded", "open"}:
            lines.append(("optimum", f"between {count(self.lower)} and {count(self.upper)}"))
            lines.append(
                ("open", f"{self.open_rows:,} of {self.rows:,} rows are in buckets that may hold it")
            )
        if self.confusion is not None:
            lines.append(("confusion", self.confusion.in_words()))
        return lines


def best(contents: Contents, goal: Goal) -> BestSoFar:
    """Find the best edge, exactly, and bound what the buckets could hold."""
    summary = contents.summary()
    seen = best_edge(summary, contents.buckets.histogram(), goal)
    if seen.choice is None and seen.bound is None and not goal.constraints:
        raise undefined(summary, goal)
    worst = -goal.sign * math.inf
    attained = worst if seen.choice is None else seen.choice.value
    bound = attained if seen.bound is None else float(seen.bound)
    if seen.choice is not None:
        bound = max(bound, attained) if goal.sign > 0 else min(bound, attained)
    status: Literal["optimal", "bounded", "open", "infeasible"]
    if seen.bound is None:
        status = "infeasible" if seen.choice is None else "optimal"
    else:
        status = "open" if seen.choice is None else "bounded"
    lower, upper = (attained, bound) if goal.sign > 0 else (bound, attained)
    found: dict[str, Any] = {}
    if seen.choice is not None:
        cut = cut_at(seen.cuts, seen.choice.best)
        found = {
            "threshold": cut.threshold,
            "value": attained,
            "interval": cut.interval,
            "confusion": cut.confusion,
        }
    return BestSoFar(
        status=status,
        objective=str(goal.expression),
        direction=goal.direction,
        constraints=tuple(map(str, goal.constraints)),
        lower=lower,
        upper=upper,
        open_rows=int(contents.buckets.rows[seen.open].sum()),
        rows=summary.rows,
        positives=summary.grid.number(summary.positives),
        negatives=summary.grid.number(summary.negatives),
        **found,
    )


def auc(contents: Contents) -> AucBounds:
    """Count the pairs that are in order, exactly; only pairs inside one bucket are in doubt."""
    summary, buckets = contents.summary(), contents.buckets
    if 0 in (summary.positives, summary.negatives):
        positives, negatives = summary.sizes
        raise InvalidInputError.no_rows_of(what="auc", positives=positives, negatives=negatives)
    twice = doubt = below = 0
    one_score = (buckets.low == buckets.high).tolist()
    for pos, neg, tied in zip(buckets.pos.tolist(), buckets.neg.tolist(), one_score, strict=True):
        twice += 2 * pos * below
        if tied:
            twice += pos * neg
        else:
            doubt += 2 * pos * neg
        below += neg
    pairs = 2 * summary.positives * summary.negatives
    lower, upper = Fraction(twice, pairs), Fraction(twice + doubt, pairs)
    if not doubt:
        return AucBounds(float(lower), float(lower))
    # Rounded outwards: the bounds must hold as floats too.
    down, up = float(lower), float(upper)
    return AucBounds(
        down if Fraction(down) <= lower else math.nextafter(down, 0),
        up if Fraction(up) >= upper else math.nextafter(up, 2),
    )

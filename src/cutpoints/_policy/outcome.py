"""What labels tell about a policy: metrics then and now, its constraints, and the best threshold now."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._evaluate import evaluate_cut
from cutpoints._find import solve
from cutpoints._goal import with_columns
from cutpoints._kernel.cuts import Cuts
from cutpoints._kernel.weights import as_number as number
from cutpoints._policy.record import fingerprint
from cutpoints._policy.typed_json import to_json
from cutpoints._result import Confusion, Interval, value_of
from cutpoints._search.guarantee import _floor
from cutpoints._search.run import search
from cutpoints.exceptions import CutpointError, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._policy.policy import Policy
    from cutpoints.metrics.expression import Constraint

DROP = 0.1
"""The objective has fallen if it is surely worse by more than this part of what it was."""
_DRAWS = 4000
CONFIDENCE = 0.95
"""Of the intervals that are shown; alarms go by `alpha`."""


@dataclass(frozen=True)
class Share:
    """A share then and now, with a 95 % Clopper-Pearson interval of the one now."""

    then: float | None
    now: float
    interval: Interval


@dataclass(frozen=True)
class Kept:
    """Whether one constraint holds now.

    `verdict` is "holds" or "broken" where the exact binomial test is sure at `alpha`, "met, unsure"
    or "not met, unsure" where the rows are too few to tell; constraints on what is no share of rows
    have no such test, and are "met" or "broken" as they stand.
    """

    constraint: str
    then: float | None
    now: float
    verdict: Literal["holds", "met", "met, unsure", "not met, unsure", "broken"]
    p_holds: float | None
    p_broken: float | None


@dataclass(frozen=True)
class Outcome:
    """What labels tell: metrics then and now, the constraints, and the best threshold now.

    `value_now` is the objective at the policy's threshold on the new rows (totals such as costs are
    scaled to the number of rows then), `value_interval` its interval, and `fallen` whether it is
    surely worse by more than a tenth. `best_threshold` is the best on the new rows, None if none
    meets the constraints, and `lost` by how much `best_value` is better than `value_here`, the
    policy's on the same rows; it is optimistic, because the best was chosen on these rows.
    """

    confusion: Confusion
    metrics: dict[str, tuple[float | None, float]]
    intervals: dict[str, Interval]
    constraints: tuple[Kept, ...]
    prevalence: Share
    value_then: float | None = None
    value_now: float | None = None
    value_interval: Interval | None = None
    fallen: bool = False
    value_here: float | None = None
    best_threshold: float | None = None
    best_value: float | None = None
    lost: float | None = None
    same_data: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; NaN is null."""
        content: dict[str, Any] = to_json(self)
        intervals = content.pop("intervals")
        content["metrics"] = {
            name: {"then": then, "now": now, "interval": intervals.get(name)}
            for name, (then, now) in content["metrics"].items()
        }
        return content


def outcome_of(policy: Policy, source: Source, called: tuple[Fraction, Fraction], alpha: float) -> Outcome:
    """Judge the policy on rows with labels, of which `called` (pos, neg) are called positive."""
    summary = source.summary()
    positives, negatives = summary.totals
    tp, fp = called
    counts = {"tp": tp, "fp": fp, "fn": positives - tp, "tn": negatives - fp}
    confusion = Confusion(**{name: number(count) for name, count in counts.items()})
    now = evaluate_cut(confusion, confidence=CONFIDENCE, interval="clopper_pearson")
    found = policy.found_on
    then = None if found is None else evaluate_cut(found.confusion).metrics
    same = found is not None and found.fingerprint == fingerprint(summary, counts)
    prevalence = Share(
        None if then is None else then["prevalence"], now.metrics["prevalence"], now.intervals["prevalence"]
    )
    metrics = {name: (None if then is None else then[name], value) for name, value in now.metrics.items()}
    try:
        goal = policy.goal()
        if goal.columns:
            raise with_columns(goal, "check")
    except CutpointError:  # not said, a function of the user's, or one of columns
        return Outcome(confusion, metrics, now.intervals, (), prevalence, same_data=same)
    step = summary.grid.step
    units = {name: np.array([int(count / step)]) for name, count in (("tp", tp), ("fp", fp))}
    cut = Cuts(summary, np.array([policy.threshold]), np.array([-math.inf]), units["tp"], units["fp"])
    kept = tuple(_kept(one, policy, counts, cut, alpha) for one in goal.constraints)
    best = _best(goal, source)
    here = value_of(goal.expression, counts)
    lost = None if best is None else goal.sign * (best[1] - here)
    value, interval, fallen = _value(goal, policy, counts, alpha)
    return Outcome(
        confusion=confusion,
        metrics=metrics,
        intervals=now.intervals,
        constraints=kept,
        prevalence=prevalence,
        value_then=None if found is None else found.value,
        value_now=value,
        value_interval=interval,
        fallen=fallen,
        value_here=here,
        best_threshold=None if best is None else best[0],
        best_value=None if best is None else best[1],
        lost=None if lost is None or math.isnan(lost) else lost + 0.0,
        same_data=same,
    )


def _best(goal: Goal, source: Source) -> tuple[float, float] | None:
    """Return the best threshold now and its value; None if none meets the constraints."""
    try:
        solution = solve(goal, lambda one: search(source, one))
    except CutpointError:  # undefined at every cut of these rows
        return None
    if solution.threshold is None or solution.value is None:
        return None
    return solution.threshold, solution.value


def _kept(
    constraint: Constraint, policy: Policy, counts: dict[str, Fraction], cut: Cuts, alpha: float
) -> Kept:
    from scipy.stats import binom

    now = value_of(constraint.expression, counts)
    found = policy.found_on
    then = None
    if found is not None:
        exact = {name: Fraction(count) for name, count in found.confusion.to_dict().items()}
        then = value_of(constraint.expression, exact)
    met = bool(cut.feasible((constraint,))[0])
    try:
        floor = _floor(constraint)
    except InvalidParameterError:  # no share of rows, so no exact test
        return Kept(str(constraint), then, now, "met" if met else "broken", None, None)
    good, whole = (int(side[0]) for side in floor.counts({k: np.array([int(v)]) for k, v in counts.items()}))
    if whole == 0:
        return Kept(str(constraint), then, now, "not met, unsure", None, None)
    # How probable so few bad rows are if the share were just at its bound, and how probable so many.
    p_holds = float(binom.cdf(whole - good, whole, floor.slack))
    p_broken = float(binom.sf(whole - good - 1, whole, floor.slack))
    verdict: Any = "met, unsure" if met else "not met, unsure"
    if met and p_holds <= alpha:
        verdict = "holds"
    elif not met and p_broken <= alpha:
        verdict = "broken"
    return Kept(str(constraint), then, now, verdict, p_holds, p_broken)


def _value(
    goal: Goal, policy: Policy, counts: dict[str, Fraction], alpha: float
) -> tuple[float, Interval | None, bool]:
    """Return the objective now, its interval by redrawing the rows, and whether it has surely fallen.

    Totals are scaled to the number of rows then. The interval is that of a multinomial bootstrap of
    the four counts, with a fixed seed: the same data give the same answer.
    """
    total = sum(counts.values())
    then = None if policy.found_on is None else policy.found_on
    mass = total if then is None else sum(map(Fraction, then.confusion.to_dict().values()))
    scale = Fraction(mass) / total
    value = value_of(goal.expression, {name: scale * count for name, count in counts.items()})
    rng = np.random.default_rng(0)
    shares = np.array([float(count / total) for count in counts.values()])
    drawn = rng.multinomial(int(total), shares / shares.sum(), size=_DRAWS) * float(scale)
    try:
        values = np.asarray(goal.expression(**dict(zip(counts, drawn.T, strict=True))), dtype=np.float64)
    except CutpointError:
        return value, None, False
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return value, None, False
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail], method="nearest")
    if then is None or not math.isfinite(then.value):
        return value, Interval(float(low), float(high)), False
    # Even the luckiest of the redrawn values, but for a part alpha of them, is worse by a tenth.
    luckiest = float(np.quantile(goal.sign * values, 1 - alpha, method="nearest"))
    fallen = luckiest < goal.sign * then.value - DROP * abs(then.value)
    return value, Interval(float(low), float(high)), bool(fallen)

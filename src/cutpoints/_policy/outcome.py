"""What labels tell about a policy: metrics then and now, its constraints, its goal and the best threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._evaluate import evaluate_cut
from cutpoints._extras import needs
from cutpoints._find import solve
from cutpoints._format import json_fields
from cutpoints._goal import with_columns
from cutpoints._kernel.cuts import Cuts
from cutpoints._kernel.weights import as_number as number
from cutpoints._policy.added_rows import AddedRows
from cutpoints._policy.record import fingerprint
from cutpoints._result import Confusion, Interval
from cutpoints._search.guarantee import _floor
from cutpoints._search.run import search
from cutpoints._validate import generator
from cutpoints.exceptions import CutpointError, InvalidParameterError
from cutpoints.metrics.columns import RowSum
from cutpoints.metrics.expression import WeightedSum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.data import LabelledRows
    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._policy.policy import Policy
    from cutpoints.metrics.expression import Constraint, Expression

TOLERATED, UNACCEPTABLE = 0.1, 0.3
"""Losses of the objective, as parts of what was to be expected: more than the first, surely, is an alarm, and
rows that cannot exclude the second are too few to tell. Two limits, as in acceptance sampling: a value close
to a single one could never be judged, however many rows there are."""
REFERENCE_RISK = 0.005
"""The probability that the least that is to be expected is set too high."""
ENOUGH_AMOUNTS = 50
"""Rows that a sum of amounts must have, so that it can be seen not to be worse."""
DRAWS = 4000
_TAIL_DRAWS = 20
"""Fewer draws beyond a quantile do not tell where it is."""
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
    or "not met, unsure" where it is not; constraints on what is no share of rows have no such test, and
    are "met" or "broken" as they stand. `more_rows` is 0, or about how many more rows it takes to see
    twice as many errors as the constraint allows.
    """

    constraint: str
    then: float | None
    now: float
    verdict: Literal["holds", "met", "met, unsure", "not met, unsure", "broken"]
    p_holds: float | None
    p_broken: float | None
    more_rows: int = 0


@dataclass(frozen=True)
class Value:
    """The objective then and now. Totals such as costs are per 1,000 rows, so that they can be compared.

    Attributes
    ----------
    then : float or None
        What was to be expected of new data: cross-validated, or `found` where that is not known.
    found : float or None
        On the rows that the threshold was chosen on, so too good.
    now : float
        On the new rows.
    interval : Interval
        A 95 % interval of `now`.
    verdict : {"worse", "not worse", "unsure"} or None
        By the goal's direction: "worse" if it is surely, at `alpha`, worse by more than a tenth; "unsure"
        if it may be worse by more than three tenths; else "not worse". The rows then have their say in
        it, too: few of them leave it unsure.
    at_most_worse : float or None
        The largest part of what was expected that may be lost, at `alpha`.
    more_rows : int or None
        About how many more rows would settle an unsure verdict: 0 if it is sure, None if no number would
        since the policy was found on too few.
    best_threshold, best : float or None
        The best threshold on the new rows and its value, optimistic since it was chosen on these rows;
        None if none meets the constraints.
    lost : float or None
        By how much `best` is better than `now`.
    total : float or None
        For totals, `now` for all the new rows.
    """

    objective: str
    direction: str
    then: float | None
    found: float | None
    now: float
    interval: Interval
    verdict: Literal["worse", "not worse", "unsure"] | None
    at_most_worse: float | None
    more_rows: int | None
    best_threshold: float | None
    best: float | None
    lost: float | None
    total: float | None

    @property
    def unit(self) -> str:
        """What the values are for: nothing for shares, " per 1,000 rows" for totals."""
        return "" if self.total is None else " per 1,000 rows"


@dataclass(frozen=True)
class Outcome:
    """What labels tell: metrics then and now, the constraints, and the objective.

    `value` is None if the policy has no objective that can be searched again. Of a band it is about the
    automatic decisions. Ordered classes have a `confusion_matrix`, whose rows are the truth, and neither
    `confusion` nor `prevalence`.
    """

    confusion: Confusion | None
    metrics: dict[str, tuple[float | None, float]]
    intervals: dict[str, Interval]
    constraints: tuple[Kept, ...]
    prevalence: Share | None
    value: Value | None = None
    same_data: bool = False
    confusion_matrix: tuple[tuple[int, ...], ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; NaN is null."""
        content: dict[str, Any] = json_fields(self)
        intervals = content.pop("intervals")
        content["metrics"] = {
            name: {"then": then, "now": now, "interval": intervals.get(name)}
            for name, (then, now) in content["metrics"].items()
        }
        return content


def outcome_of(
    policy: Policy,
    source: Source,
    called: tuple[Fraction, Fraction],
    alpha: float,
    rows: LabelledRows | None = None,
) -> Outcome:
    """Judge the policy on rows with labels, of which `called` (pos, neg) are called positive.

    `rows` are needed where its goal adds up columns.
    """
    summary = source.summary()
    positives, negatives = summary.totals
    tp, fp = called
    counts = {"tp": tp, "fp": fp, "fn": positives - tp, "tn": negatives - fp}
    confusion = Confusion(**{name: number(count) for name, count in counts.items()})
    now = evaluate_cut(confusion, confidence=CONFIDENCE, interval="clopper_pearson")
    found = policy.found_on
    then = None if found is None or found.confusion is None else evaluate_cut(found.confusion).metrics
    same = found is not None and found.fingerprint == fingerprint(summary, counts)
    prevalence = Share(
        None if then is None else then["prevalence"], now.metrics["prevalence"], now.intervals["prevalence"]
    )
    metrics = {name: (None if then is None else then[name], value) for name, value in now.metrics.items()}
    try:
        goal = policy.goal()
        if goal.columns and rows is None:
            raise with_columns(goal, "check")
    except CutpointError:  # not said, a function of the user's, or one of columns that arrays do not have
        return Outcome(confusion, metrics, now.intervals, (), prevalence, same_data=same)
    step = summary.grid.step
    units = {name: np.array([int(count / step)]) for name, count in (("tp", tp), ("fp", fp))}
    cut = Cuts(summary, np.array([policy.threshold]), np.array([-math.inf]), units["tp"], units["fp"])
    added = None if rows is None else AddedRows(rows, policy.threshold)
    kept = tuple(
        _kept_sum(one, counts, added) if one.expression.columns else _kept(one, policy, counts, cut, alpha)
        for one in goal.constraints
    )
    value = _value(goal, policy, counts, _best(goal, source), alpha=alpha, added=added)
    return Outcome(confusion, metrics, now.intervals, kept, prevalence, value, same)


def _best(goal: Goal, source: Source) -> tuple[float, float] | None:
    """Return the best threshold now and its value; None if none meets the constraints."""
    try:
        solution = solve(goal, lambda one: search(source, one))
    except CutpointError:  # undefined at every cut of these rows
        return None
    if solution.threshold is None or solution.value is None:
        return None
    return solution.threshold, solution.value


def _kept_sum(constraint: Constraint, counts: dict[str, Fraction], added: AddedRows | None) -> Kept:
    """Compare the sum of a column with its bound; it is no share of rows, and has no exact test."""
    now = constraint.expression.rounded(**counts, columns=None if added is None else added.parts)
    met = bool(constraint.holds(now - float(constraint.bound)))
    return Kept(str(constraint), None, now, "met" if met else "broken", None, None)


def _kept(
    constraint: Constraint, policy: Policy, counts: dict[str, Fraction], cut: Cuts, alpha: float
) -> Kept:
    found = policy.found_on
    then = None if found is None else found.counts()
    return kept(constraint, then, counts, alpha, met=bool(cut.feasible((constraint,))[0]))


def kept(
    constraint: Constraint,
    before: dict[str, Fraction] | None,
    counts: dict[str, Fraction],
    alpha: float,
    *,
    met: bool,
) -> Kept:
    """Judge a constraint at the counts then and now; `met` says whether it holds as these stand."""
    now = constraint.expression.rounded(**counts)
    then = None if before is None else constraint.expression.rounded(**before)
    try:
        floor = _floor(constraint)
    except InvalidParameterError:  # no share of rows, so no exact test
        return Kept(str(constraint), then, now, "met" if met else "broken", None, None)
    good, whole = (int(side[0]) for side in floor.counts({k: np.array([int(v)]) for k, v in counts.items()}))
    judged = Kept(str(constraint), then, now, "met" if met else "broken", None, None)
    return tested(judged, bad=whole - good, whole=whole, allowed=floor.slack, rows=_rows(counts), alpha=alpha)


def tested(kept: Kept, *, bad: int, whole: int, allowed: float, rows: float, alpha: float) -> Kept:
    """Return the verdict by an exact binomial test: `bad` of `whole` rows, where a share is allowed."""
    with needs("check"):
        from scipy.stats import binom

    met = kept.verdict == "met"
    if whole == 0:
        return replace(kept, verdict="not met, unsure")
    # The probability of as few bad rows, and of as many, if the share were exactly at its bound.
    p_holds = float(binom.cdf(bad, whole, allowed))
    p_broken = float(binom.sf(bad - 1, whole, allowed))
    judged = replace(kept, p_holds=p_holds, p_broken=p_broken)
    if met and p_holds <= alpha:
        return replace(judged, verdict="holds")
    if not met and p_broken <= alpha:
        return replace(judged, verdict="broken")
    gross = min(2 * allowed, 1.0)
    more = 0
    if float(binom.cdf(bad, whole, gross)) > alpha:
        share = min(max(bad / whole, allowed), 0.9 * gross)
        needed = (normal_quantile(1 - alpha) / (gross - share)) ** 2 * gross * (1 - gross)
        more = max(1, math.ceil((needed - whole) * rows / whole))
    return replace(judged, verdict="met, unsure" if met else "not met, unsure", more_rows=more)


def _value(
    goal: Goal,
    policy: Policy,
    counts: dict[str, Fraction],
    best: tuple[float, float] | None,
    *,
    alpha: float,
    added: AddedRows | None,
) -> Value:
    """Compare the objective now with what was to be expected."""
    rows = sum(counts.values())
    whole = is_total(goal.expression)
    per_1000 = float(1000 / rows) if whole else 1.0
    if goal.expression.columns:
        assert added is not None
        total = goal.expression.rounded(**counts, columns=added.parts)
        now, values = per_1000 * total, added.redrawn(goal.expression, DRAWS)
    else:
        total, now = goal.expression.rounded(**counts), _per_1000(goal.expression, counts)
        values = _redrawn(goal.expression, counts)
    tail = (1 - CONFIDENCE) / 2
    interval = Interval(*np.quantile(values, [tail, 1 - tail]).tolist())
    then, found = _expected(goal, policy)
    if goal.expression.columns and added is not None and then is not None and policy.found_on is not None:
        ratio = float(rows / policy.found_on.rows)
        plausible: NDArray[np.float64] | None = added.like_then(values, then, ratio)
    else:
        plausible = _redrawn_then(goal, policy)
    verdict, worst, more = _verdict(goal, plausible, values, float(rows), alpha)
    few = _few_amounts(goal.expression, counts)
    if few and verdict == "not worse":
        verdict, more = "unsure", math.ceil(rows * few)
    lost = None if best is None else goal.sign * (per_1000 * best[1] - now)
    return Value(
        objective=str(goal.expression),
        direction=goal.direction,
        then=then,
        found=found,
        now=now,
        interval=interval,
        verdict=verdict,
        at_most_worse=worst,
        more_rows=more,
        best_threshold=None if best is None else best[0],
        best=None if best is None else per_1000 * best[1],
        lost=None if lost is None or math.isnan(lost) else lost + 0.0,
        total=total if whole else None,
    )


def _few_amounts(expression: Expression, counts: dict[str, Fraction]) -> Fraction:
    """Return how many times as many rows are needed to see enough amounts; 0 if there are enough.

    A few amounts look alike, and the next one may be larger than all of them.
    """
    terms = expression.terms if isinstance(expression, WeightedSum) else ((1, expression),)
    sums = [term for _, term in terms if isinstance(term, RowSum)]
    cells = {cell for one in sums for cell, value in one.worth.items() if value.terms}
    seen = sum((counts[cell] for cell in cells), Fraction(0))
    return max(Fraction(0), ENOUGH_AMOUNTS / max(seen, Fraction(1)) - 1) if cells else Fraction(0)


def least_expected(goal: Goal, policy: Policy) -> float | None:
    """Return a bound that the objective reaches on new data, unless it is worse by more than a tenth.

    A tenth worse than the lower end of what to expect from the rows that the policy was found on.
    """
    then = _redrawn_then(goal, policy)
    if then is None:
        return None
    low = float(np.quantile(goal.sign * then, REFERENCE_RISK))
    return goal.sign * (low - TOLERATED * abs(low))


def _verdict(
    goal: Goal, then: NDArray[np.float64] | None, now: NDArray[np.float64], rows: float, alpha: float
) -> tuple[Literal["worse", "not worse", "unsure"] | None, float | None, int | None]:
    """Return whether the objective is worse, by which part at most, and how many rows would settle it."""
    return compared(goal.sign, then, now, rows, alpha)


def compared(
    sign: int, then: NDArray[np.float64] | None, now: NDArray[np.float64], rows: float, alpha: float
) -> tuple[Literal["worse", "not worse", "unsure"] | None, float | None, int | None]:
    """Compare plausible values then and now; see `_verdict`."""
    if then is None or not np.isfinite(now).all() or not then.all():
        return None, None, 0
    gain = sign * (now - then) / np.abs(then)
    low, high = _tails(gain, alpha)
    if high < -TOLERATED:
        return "worse", -low, 0
    if low >= -UNACCEPTABLE:
        return "not worse", max(-low, 0.0), 0
    # Enough rows that a value as expected would be seen not to be far worse.
    size = abs(float(then.mean()))
    allowed = (UNACCEPTABLE * size / normal_quantile(1 - alpha)) ** 2 - float(then.var())
    if allowed <= 0:
        return "unsure", -low, None
    return "unsure", -low, max(math.ceil(rows * (float(now.var()) / allowed - 1)), math.ceil(rows / 2))


def _tails(drawn: NDArray[np.float64], alpha: float) -> tuple[float, float]:
    """Return the quantiles at alpha and 1 - alpha; beyond what the draws can tell, by a normal tail."""
    low, high = np.quantile(drawn, [alpha, 1 - alpha]).tolist()
    if alpha * len(drawn) < _TAIL_DRAWS:  # one of many segments
        reach = normal_quantile(1 - alpha) * float(drawn.std())
        low, high = min(low, float(drawn.mean()) - reach), max(high, float(drawn.mean()) + reach)
    return low, high


def _redrawn_then(goal: Goal, policy: Policy) -> NDArray[np.float64] | None:
    """Return values that were plausible for new data; None if the policy does not say."""
    if goal.expression.columns:  # its counts do not tell what they add up to
        return None
    expected, found = _expected(goal, policy)
    if expected is None or found is None or policy.found_on is None:
        return None
    counts = policy.found_on.counts()
    values = _redrawn(goal.expression, counts) + (expected - found)
    return values if np.isfinite(values).all() else None


def _expected(goal: Goal, policy: Policy) -> tuple[float | None, float | None]:
    """Return the value to expect of new data, and that on the rows that chose the threshold."""
    record = policy.found_on
    if record is None:
        return None, None
    counts = record.counts()
    if goal.expression.columns:
        found = record.value * (float(1000 / sum(counts.values())) if is_total(goal.expression) else 1.0)
        return found, found
    found = _per_1000(goal.expression, counts)
    if record.cross_validated is None:
        return found, found
    per_1000 = float(1000 / sum(counts.values())) if is_total(goal.expression) else 1.0
    return record.cross_validated * per_1000, found


def _redrawn(expression: Expression, counts: dict[str, Fraction]) -> NDArray[np.float64]:
    """Return values for shares of the four cells as plausible as these counts make them.

    By Jeffreys' prior: half a row more in each cell, so that a cell of no rows is not taken for empty.
    """
    cells = np.array([float(count) for count in counts.values()])
    shares = generator(0, cells).dirichlet(cells + 0.5, size=DRAWS)
    with np.errstate(all="ignore"):
        values = expression.evaluate(**dict(zip(counts, 1000 * shares.T, strict=True)))
    return np.asarray(values, dtype=np.float64)


def _per_1000(expression: Expression, counts: dict[str, Fraction]) -> float:
    """Return the value for 1,000 rows like these: the same for shares, comparable for totals."""
    total = sum(counts.values())
    return expression.rounded(**{name: count * 1000 / total for name, count in counts.items()})


def is_total(expression: Expression) -> bool:
    """Return whether twice the rows have another value, as a cost has and a share has not."""
    if expression.columns:
        return expression.degree == 1
    once = {"tp": Fraction(7), "fp": Fraction(3), "fn": Fraction(5), "tn": Fraction(11)}
    twice = {name: 2 * count for name, count in once.items()}
    return not math.isclose(expression.rounded(**once), expression.rounded(**twice))


def _rows(counts: dict[str, Fraction]) -> float:
    return float(sum(counts.values()))


def normal_quantile(share: float) -> float:
    """Return the point below which this share of a standard normal lies."""
    return NormalDist().inv_cdf(share)

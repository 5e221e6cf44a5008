"""The goal of a policy as a function of counts, and whether its value is worse than it was.

A rule turns rows into counts by decision and truth (`tally`), and a goal is a function of such counts. What
is plausible for new data is drawn from the counts then and now, and compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from cutpoints._band.goal import band_goal
from cutpoints._classes.goal import COST, ordinal_goal
from cutpoints._find import solve
from cutpoints._goal import constraints
from cutpoints._policy.rules import BandRule, OrdinalRule, ThresholdRule, key_parts
from cutpoints._result import Confusion, Interval
from cutpoints._search.run import search
from cutpoints._validate import generator
from cutpoints.exceptions import CutpointError
from cutpoints.metrics.columns import RowSum
from cutpoints.metrics.expression import WeightedSum

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.tally import AddedRows, Tally
    from cutpoints._result import Solution
    from cutpoints.metrics.expression import Constraint, Expression

    Table = NDArray[Any]
    """Counts or shares by decision and truth."""
    Draws = NDArray[np.float64]

TOLERATED, UNACCEPTABLE = 0.1, 0.3
"""Losses of the objective, as parts of what was to be expected: more than the first, surely, is an alarm, and
rows that cannot exclude the second are too few to tell. Two limits, as in acceptance sampling: a value close
to a single one could never be judged, however many rows there are."""
REFERENCE_RISK = 0.005
"""The probability that the least that is to be expected is set too high."""
ENOUGH_AMOUNTS = 50
"""Rows that a sum of amounts must have, so that it can be seen not to be worse."""
DRAWS = 4000
PART_DRAWS = 1000
"""For each of many segments: their tests are so strict that a normal tail says more than draws."""
_TAIL_DRAWS = 20
"""Fewer draws beyond a quantile do not tell where it is."""
MOST_CELLS = 1000
"""Cells of a confusion matrix that are drawn one by one; of a larger one only those with rows."""
CONFIDENCE = 0.95
"""Of the intervals that are shown; alarms go by `alpha`."""


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
    best_interval : Interval or None
        All thresholds that make the same decisions on the new rows.
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
    best_threshold: float | None = None
    best: float | None = None
    best_interval: Interval | None = None
    lost: float | None = None
    total: float | None = None

    @property
    def unit(self) -> str:
        """What the values are for: nothing for shares, " per 1,000 rows" for totals."""
        return "" if self.total is None else " per 1,000 rows"


# --- the goal


class Judge(NamedTuple):
    """The goal of a rule, as functions of counts by decision and truth."""

    objective: str
    direction: str
    exact: Callable[[Table], float]
    """The value at counts; NaN where it is undefined."""
    values: Callable[[Table], Any]
    """The values at many shares per 1,000 rows, in floats."""
    is_total: bool
    constraints: tuple[Constraint, ...] = ()
    each: tuple[Constraint, ...] = ()
    gaps: tuple[Constraint, ...] = ()
    average: str | None = None
    goal: Goal | None = None
    """Of one threshold."""

    @property
    def sign(self) -> int:
        """1 if more is better."""
        return 1 if self.direction == "maximize" else -1


def judge_of(policy: Policy, amounts: AddedRows | None = None) -> Judge | None:
    """Return the goal of a policy; None if it is not known, or a function of the user's.

    A goal that adds up columns needs the `amounts` of the rows.
    """
    if policy.objective is None or policy.direction is None:
        return None
    asked: Any = {"maximize": None, "minimize": None, policy.direction: policy.objective}
    try:
        if isinstance(policy.rule, OrdinalRule):
            return _ordinal(policy, policy.rule, asked)
        if isinstance(policy.rule, BandRule):
            return _band(policy, asked)
        return _binary(policy, policy.goal(), amounts)
    except CutpointError:
        return None


def _binary(policy: Policy, goal: Goal, amounts: AddedRows | None) -> Judge | None:
    if goal.columns and amounts is None:
        return None
    single, found, expression = isinstance(policy.rule, ThresholdRule), policy.found_on, goal.expression
    by_itself = found is not None and found.average is None and not single

    def values(shares: Table) -> Any:
        with np.errstate(all="ignore"):
            return expression.evaluate(**cells(shares))

    return Judge(
        objective=str(expression),
        direction=goal.direction,
        exact=lambda table: expression.rounded(**fractions(table)),
        values=values,
        is_total=is_total(expression),
        constraints=() if by_itself else goal.constraints,
        each=goal.constraints if by_itself else () if found is None else constraints(found.each, "check"),
        gaps=() if found is None else constraints(found.gap, "check"),
        average=None if found is None else found.average,
        goal=goal if single else None,
    )


def _band(policy: Policy, asked: dict[str, Any]) -> Judge | None:
    found = policy.found_on
    review = None if found is None else found.review
    goal = band_goal(
        **asked,
        subject_to=list(policy.constraints),
        capacity=None if review is None else review.capacity,
        reviewer=None if review is None else (review.sensitivity, review.specificity),
        caller="check",
    )
    if goal.columns:  # counts do not tell what they add up to
        return None
    # The order of a tally: negative, review, positive; negatives before positives.
    names = (("tn", "fn"), ("reviewed_negatives", "reviewed_positives"), ("fp", "tp"))
    weights = np.array([[float(goal.weights[name].constant) for name in row] for row in names])

    def exact(table: Table) -> float:
        counts = {
            name: Fraction(int(table[d, t])) for d, row in enumerate(names) for t, name in enumerate(row)
        }
        return float(goal.value(counts, {})) if sum(counts.values()) else math.nan

    def values(shares: Table) -> Any:
        total = (shares * weights).sum(axis=(-2, -1))
        if goal.expression is None:
            return 1 - total / 1000
        return total / 1000 if goal.per_row else total

    total = goal.expression is not None and not goal.per_row
    return Judge(goal.objective, goal.direction, exact, values, total, goal.constraints)


def _ordinal(policy: Policy, rule: OrdinalRule, asked: dict[str, Any]) -> Judge | None:
    if policy.objective == COST:
        costs = None if policy.found_on is None else policy.found_on.costs
        if costs is None:
            return None
        asked = {"maximize": None, "minimize": [list(row) for row in costs]}
    goal = ordinal_goal(**asked, classes=rule.classes, caller="check")
    loss = np.array(goal.loss, dtype=np.float64)

    def values(shares: Table) -> Any:
        lost = (shares * loss).sum(axis=(-2, -1))
        if goal.name == COST:
            return lost / goal.scale
        total = shares.sum(axis=(-2, -1))
        if not goal.is_kappa:
            return 1 - lost / total if goal.name == "accuracy" else lost / total
        by_chance = np.einsum("...d,dt,...t->...", shares.sum(axis=-1), loss, shares.sum(axis=-2))
        with np.errstate(all="ignore"):
            return 1 - lost * total / by_chance

    return Judge(
        objective=goal.name,
        direction=goal.direction,
        exact=lambda table: goal.value(table.T.tolist(), Fraction(1)),
        values=values,
        is_total=goal.name == COST,
    )


def is_total(expression: Expression) -> bool:
    """Return whether twice the rows have another value, as a cost has and a share has not."""
    if expression.columns:
        return expression.degree == 1
    once = {"tp": Fraction(7), "fp": Fraction(3), "fn": Fraction(5), "tn": Fraction(11)}
    twice = {name: 2 * number for name, number in once.items()}
    return not math.isclose(expression.rounded(**once), expression.rounded(**twice))


# --- counts by decision and truth


def cells(table: Table) -> dict[str, Any]:
    """Return the confusion of the automatic decisions, of one table or of many."""
    return {
        "tp": table[..., -1, -1],
        "fp": table[..., -1, 0],
        "fn": table[..., 0, -1],
        "tn": table[..., 0, 0],
    }


def fractions(table: Table) -> dict[str, Fraction]:
    """Return the same as exact fractions; of counts or of sums of weights."""
    return {name: Fraction(number.item()) for name, number in cells(table).items()}


def then_table(policy: Policy, parts: tuple[Any, ...]) -> Table | None:
    """Return the counts on the data that the policy was found on, as a tally has them; None if unknown."""
    found = policy.found_on
    if found is None:
        return None
    if isinstance(policy.rule, OrdinalRule):
        return None if found.confusion_matrix is None else np.array(found.confusion_matrix).T[None]
    if isinstance(policy.rule, BandRule):
        if found.confusion is None or found.review is None:
            return None
        c, left = found.confusion, found.review
        return np.array([[[c.tn, c.fn], [left.reviewed - left.positives, left.positives], [c.fp, c.tp]]])
    known = {one.key: one.confusion for one in found.segments}
    if isinstance(policy.rule, ThresholdRule):
        known = {} if found.confusion is None else {(None,): found.confusion}
    if not known:
        return None
    nothing = Confusion(tp=0, fp=0, fn=0, tn=0)
    rows = [known.get(key_parts(part), nothing) for part in parts]
    return np.array([[[c.tn, c.fn], [c.fp, c.tp]] for c in rows])


# --- the value of one threshold


def threshold_value(goal: Goal, policy: Policy, now: Tally, alpha: float) -> Value:
    """Compare the objective of one threshold with what was to be expected, and with what is best now."""
    expression, amounts, counts = goal.expression, now.amounts, fractions(now.total)
    rows = sum(counts.values())
    whole = is_total(expression)
    scale = float(1000 / rows) if whole else 1.0
    then, found = _expected(goal, policy)
    plausible = _redrawn_then(goal, policy)
    if expression.columns:
        assert amounts is not None
        total = expression.rounded(**counts, columns=amounts.parts)
        value, drawn = scale * total, amounts.redrawn(expression, DRAWS)
        if then is not None and policy.found_on is not None:
            plausible = amounts.like_then(drawn, then, float(rows / policy.found_on.rows))
    else:
        total, value = expression.rounded(**counts), _scaled(expression, counts)
        drawn = _redrawn(expression, counts)
    judged = _value(
        (str(expression), goal.direction), value, drawn, then, found, plausible, float(rows), alpha
    )
    few = _few_amounts(expression, counts)
    if few and judged.verdict == "not worse":
        judged = replace(judged, verdict="unsure", more_rows=math.ceil(rows * few))
    assert now.source is not None
    in_each = policy.found_on is not None and policy.found_on.each  # these rows have no groups
    solution = None if in_each else _best(goal, now.source)
    best = None if solution is None or solution.value is None else scale * solution.value
    lost = None if best is None else goal.sign * (best - value)
    return replace(
        judged,
        best_threshold=None if solution is None else solution.threshold,
        best=best,
        best_interval=None if solution is None else solution.interval,
        lost=None if lost is None or math.isnan(lost) else lost + 0.0,
        total=total if whole else None,
    )


def _best(goal: Goal, source: Source) -> Solution | None:
    """Return the best threshold now; None if none meets the constraints."""
    try:
        solution = solve(goal, lambda one: search(source, one))
    except CutpointError:  # undefined at every cut of these rows
        return None
    return None if solution.threshold is None else solution


def _few_amounts(expression: Expression, counts: dict[str, Fraction]) -> Fraction:
    """Return how many times as many rows are needed to see enough amounts; 0 if there are enough.

    A few amounts look alike, and the next one may be larger than all of them.
    """
    terms = expression.terms if isinstance(expression, WeightedSum) else ((1, expression),)
    sums = [term for _, term in terms if isinstance(term, RowSum)]
    added = {cell for one in sums for cell, value in one.worth.items() if value.terms}
    seen = sum((counts[cell] for cell in added), Fraction(0))
    return max(Fraction(0), ENOUGH_AMOUNTS / max(seen, Fraction(1)) - 1) if added else Fraction(0)


def least_expected(goal: Goal, policy: Policy) -> float | None:
    """Return a bound that the objective reaches on new data, unless it is worse by more than a tenth.

    A tenth worse than the lower end of what to expect from the rows that the policy was found on.
    """
    then = _redrawn_then(goal, policy)
    if then is None:
        return None
    low = float(np.quantile(goal.sign * then, REFERENCE_RISK))
    return goal.sign * (low - TOLERATED * abs(low))


def _redrawn_then(goal: Goal, policy: Policy) -> Draws | None:
    """Return values that were plausible for new data; None if the policy does not say."""
    if goal.expression.columns:  # its counts do not tell what they add up to
        return None
    expected, found = _expected(goal, policy)
    if expected is None or found is None or policy.found_on is None:
        return None
    values = _redrawn(goal.expression, policy.found_on.counts()) + (expected - found)
    return values if np.isfinite(values).all() else None


def _expected(goal: Goal, policy: Policy) -> tuple[float | None, float | None]:
    """Return the value to expect of new data, and that on the rows that chose the threshold."""
    record = policy.found_on
    if record is None:
        return None, None
    counts = record.counts()
    scale = float(1000 / sum(counts.values())) if is_total(goal.expression) else 1.0
    if goal.expression.columns:
        return record.value * scale, record.value * scale
    found = _scaled(goal.expression, counts)
    return (found if record.cross_validated is None else record.cross_validated * scale), found


def _redrawn(expression: Expression, counts: dict[str, Fraction]) -> Draws:
    """Return values for 1,000 rows that are as plausible as these counts make them."""
    shares = _shares(np.array([float(number) for number in counts.values()]), DRAWS)
    with np.errstate(all="ignore"):
        values = expression.evaluate(**dict(zip(counts, shares.T, strict=True)))
    return np.asarray(values, dtype=np.float64)


def _scaled(expression: Expression, counts: dict[str, Fraction]) -> float:
    """Return the value for 1,000 rows like these: the same for shares, comparable for totals."""
    total = sum(counts.values())
    return expression.rounded(**{name: number * 1000 / total for name, number in counts.items()})


# --- the value of several thresholds


def table_value(
    judge: Judge,
    now: Table,
    then: Table | None,
    expected: float | None,
    alpha: float,
    *,
    draws: int = DRAWS,
    blocks: Tally | None = None,
) -> Value:
    """Compare the objective at the counts of some parts with what was to be expected.

    `blocks` are those of a matrix of labels: the labels of a sample depend on each other.
    """
    drawn = _drawn(judge, now, draws)
    plausible = None if then is None else _drawn(judge, then, draws)
    if blocks is not None:
        spread = drawn.std()
        drawn = _drawn_in_blocks(judge, blocks)
        if plausible is not None and spread > 0:
            # The labels of a sample depended on each other then as they do now.
            middle = plausible.mean()
            plausible = middle + (plausible - middle) * max(1.0, float(drawn.std() / spread))
    rows, found = float(now.sum()), None
    if then is not None and then.sum():
        found = _per_1000(judge, then)
        if expected is not None and judge.is_total:
            expected *= 1000 / float(then.sum())
    to_expect = found if expected is None else expected
    if plausible is not None and found is not None and to_expect is not None:
        plausible = plausible + (to_expect - found)
    if found is None or plausible is None or not np.isfinite(plausible).all():
        plausible = None
    name = judge.objective if judge.average != "macro" else f"macro {judge.objective}"
    value = _per_1000(judge, now)
    judged = _value((name, judge.direction), value, drawn, to_expect, found, plausible, rows, alpha)
    return replace(judged, total=_total(judge, now) if judge.is_total else None)


def _counted_parts(judge: Judge, table: Table) -> Table:
    """Return the parts that are averaged: their sum, or for the macro average those with positives."""
    if judge.average != "macro":
        return table.sum(axis=0)[None]
    return table[table[:, :, -1].sum(axis=-1) > 0]


def _drawn(judge: Judge, table: Table, draws: int) -> Draws:
    """Return values for shares of the cells as plausible as these counts make them."""
    parts = _counted_parts(judge, table)
    found = np.zeros(draws)
    for part in parts:
        found += np.asarray(judge.values(_shares(part, draws)), dtype=np.float64)
    return found / max(len(parts), 1)


def _shares(part: Table, draws: int) -> Table:
    """Draw shares per 1,000 rows, by Jeffreys' prior: half a row more in each of four cells.

    So a cell of no rows is not taken for empty. More cells have as much in all.
    """
    flat = part.reshape(-1).astype(np.float64)
    there = np.arange(len(flat)) if len(flat) <= MOST_CELLS else np.flatnonzero(flat)
    drawn = np.zeros((draws, len(flat)))
    drawn[:, there] = generator(0, flat).dirichlet(flat[there] + 2 / len(there), size=draws)
    return 1000 * drawn.reshape(draws, *part.shape)


def _drawn_in_blocks(judge: Judge, now: Tally) -> Draws:
    """Return the same for a matrix of labels: whole blocks of samples are redrawn."""
    assert now.blocks is not None
    macro = judge.average == "macro"
    blocks = now.blocks if macro else now.blocks.sum(axis=1, keepdims=True)
    used = now.counts[:, :, -1].sum(axis=-1) > 0 if macro else np.array([True])
    rng = generator(0, now.counts.reshape(-1))
    size = len(blocks)
    weights = rng.dirichlet(np.append(np.ones(size), np.full(4, 0.5 / now.samples)), size=DRAWS)
    found = np.zeros(DRAWS)
    for k in np.flatnonzero(used):
        four = np.vstack([blocks[:, k].reshape(size, 4), np.eye(4)])
        shares = weights @ four
        shares *= 1000 / shares.sum(axis=1, keepdims=True)
        found += np.asarray(judge.values(shares.reshape(DRAWS, 2, 2)), dtype=np.float64)
    return found / max(int(used.sum()), 1)


def _total(judge: Judge, table: Table) -> float:
    """Return the exact value of counts: of their sum, or the mean over the parts with positives."""
    found = [judge.exact(part) for part in _counted_parts(judge, table)]
    return float(sum(found) / len(found)) if found else math.nan


def _per_1000(judge: Judge, table: Table) -> float:
    """Return the value, for 1,000 rows if it is a total; weights only have one in floats."""
    if np.issubdtype(table.dtype, np.integer):
        value = _total(judge, table)
    else:
        found = [judge.values(part) for part in _counted_parts(judge, table)]
        value = float(sum(found) / len(found)) if found else math.nan
    return value * 1000 / float(table.sum()) if judge.is_total else value


# --- then against now


def _value(  # noqa: PLR0917 - what every objective is judged by
    name: tuple[str, str],
    now: float,
    drawn: Draws,
    then: float | None,
    found: float | None,
    plausible: Draws | None,
    rows: float,
    alpha: float,
) -> Value:
    """Judge an objective by its values and by what is plausible for them, then and now."""
    objective, direction = name
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail]).tolist()
    # Draws never are exactly 0 or 1; what was found is.
    interval = Interval(low, high) if math.isnan(now) else Interval(min(low, now), max(high, now))
    sign = 1 if direction == "maximize" else -1
    verdict, worst, more = _compared(sign, plausible, drawn, rows, alpha)
    return Value(objective, direction, then, found, now, interval, verdict, worst, more)


def _compared(
    sign: int, then: Draws | None, now: Draws, rows: float, alpha: float
) -> tuple[Literal["worse", "not worse", "unsure"] | None, float | None, int | None]:
    """Return whether the objective is worse, by which part at most, and how many rows would settle it."""
    if then is None or not np.isfinite(now).all() or not then.all():
        return None, None, 0
    gain = sign * (now - then) / np.abs(then)
    low, high = np.quantile(gain, [alpha, 1 - alpha]).tolist()
    if alpha * len(gain) < _TAIL_DRAWS:  # one of many segments: beyond what draws can tell, a normal tail
        reach = normal_quantile(1 - alpha) * float(gain.std())
        low, high = min(low, float(gain.mean()) - reach), max(high, float(gain.mean()) + reach)
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


def normal_quantile(share: float) -> float:
    """Return the point below which this share of a standard normal lies."""
    return NormalDist().inv_cdf(share)

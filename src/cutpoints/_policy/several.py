"""What labels tell about rules with several thresholds: one judge for segments, bands, labels and classes.

A rule turns rows into counts by decision and truth (`tally`), and a goal is a function of such counts. What
is plausible for new data is drawn from the counts then and now, and compared. Each segment or label is judged
as well, at alpha over their number: the more there are, the more improbable a change must be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._band.goal import band_goal
from cutpoints._classes.goal import COST, ordinal_goal
from cutpoints._evaluate import evaluate_cut, proportion_interval
from cutpoints._format import count
from cutpoints._policy.outcome import (
    CONFIDENCE,
    DRAWS,
    Kept,
    Outcome,
    Share,
    Value,
    compared,
    is_total,
    kept,
    tested,
)
from cutpoints._policy.rules import BandRule, OrdinalRule
from cutpoints._policy.shift import Shift, shift_of
from cutpoints._result import Confusion, Interval
from cutpoints._validate import generator
from cutpoints.exceptions import CutpointError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cutpoints._policy.policy import Policy
    from cutpoints._policy.record import FoundOn
    from cutpoints._policy.tally import Tally
    from cutpoints.metrics.expression import Constraint

    Table = NDArray[Any]
    """Counts or shares by decision and truth."""

PART_DRAWS = 1000
"""For each of many segments: their tests are so strict that a normal tail says more than draws."""
MOST_CELLS = 1000
"""Cells of a confusion matrix that are drawn one by one; of a larger one only those with rows."""


@dataclass(frozen=True)
class Part:
    """One segment, or one label, then and now.

    Attributes
    ----------
    key : tuple or str or None
        The key of the segment, or the label; None stands for all segments that the policy does not know.
    rows : int
        How many rows there are now.
    called : Share or None
        The share that is called positive; None if there are no rows.
    shift : Shift or None
        How far that share has moved; None if it is not known what it was.
    value : Value or None
        The objective, where it can be said.
    constraints : tuple of Kept
        What must hold in each.
    """

    key: Any
    rows: int
    called: Share | None
    shift: Shift | None = None
    value: Value | None = None
    constraints: tuple[Kept, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the share that is called positive has moved by as much as the limit, and not by chance."""
        return self.shift is not None and self.shift.moved


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
    average: str | None = None

    @property
    def sign(self) -> int:
        """1 if more is better."""
        return 1 if self.direction == "maximize" else -1


def judge_of(policy: Policy) -> Judge | None:
    """Return the goal of a policy; None if it is not known, or a function of the user's."""
    if policy.objective is None or policy.direction is None:
        return None
    asked: Any = {"maximize": None, "minimize": None, policy.direction: policy.objective}
    try:
        if isinstance(policy.rule, OrdinalRule):
            return _ordinal(policy, policy.rule, asked)
        if isinstance(policy.rule, BandRule):
            return _band(policy, asked)
        goal = policy.goal()
        if goal.columns:
            return None
        found = policy.found_on
        by_itself = found is not None and found.average is None
        each = goal.constraints if by_itself else () if found is None else _constraints(found.each)
    except CutpointError:
        return None
    expression = goal.expression

    def values(shares: Table) -> Any:
        with np.errstate(all="ignore"):
            return expression.evaluate(**cells(shares))

    return Judge(
        objective=str(expression),
        direction=goal.direction,
        exact=lambda table: expression.rounded(**_fractions(table)),
        values=values,
        is_total=is_total(expression),
        constraints=() if by_itself else goal.constraints,
        each=each,
        average=None if found is None else found.average,
    )


def _constraints(texts: tuple[str, ...]) -> tuple[Constraint, ...]:
    from cutpoints._goal import constraints

    return constraints(list(texts), "check")


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


def key_parts(key: Any) -> tuple[Any, ...]:
    """Return the key of a segment as a tuple; a label is a key of one part."""
    return key if isinstance(key, tuple) else (key,)


def cells(table: Table) -> dict[str, Any]:
    """Return the confusion of the automatic decisions, of one table or of many."""
    return {
        "tp": table[..., -1, -1],
        "fp": table[..., -1, 0],
        "fn": table[..., 0, -1],
        "tn": table[..., 0, 0],
    }


def _fractions(table: Table) -> dict[str, Fraction]:
    return {name: Fraction(int(number)) for name, number in cells(table).items()}


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
    keys = list(map(key_parts, parts))
    if not known:
        return None
    nothing = Confusion(tp=0, fp=0, fn=0, tn=0)
    rows = [known.get(key, nothing) for key in keys]
    return np.array([[[c.tn, c.fn], [c.fp, c.tp]] for c in rows])


# --- all rows


def outcome(policy: Policy, now: Tally, alpha: float) -> Outcome:
    """Judge a policy on rows with labels."""
    total = now.total
    then = then_table(policy, now.parts)
    before = None if then is None else then.sum(axis=0)
    judge = judge_of(policy)
    binary = not isinstance(policy.rule, OrdinalRule)
    confusion = _confusion(total) if binary else None
    metrics: dict[str, tuple[float | None, float]] = {}
    intervals: dict[str, Interval] = {}
    if confusion is not None:
        shown = evaluate_cut(confusion, confidence=CONFIDENCE, interval="clopper_pearson")
        told = None
        if before is not None:
            told = evaluate_cut(_confusion(before)).metrics
        metrics = {name: (None if told is None else told[name], one) for name, one in shown.metrics.items()}
        # The labels of one sample are no independent rows.
        intervals = shown.intervals if now.blocks is None else {}
    held: list[Kept] = []
    if judge is not None and confusion is not None:
        past = None if before is None else _fractions_of_any(before)
        held = [_held(one, past, total, alpha) for one in judge.constraints]
        held += _capacity(policy, total, alpha)
        gaps = () if policy.found_on is None else _constraints(policy.found_on.gap)
        held += [_gap(one, now.counts, then, alpha) for one in gaps]
    return Outcome(
        confusion=confusion,
        metrics=metrics,
        intervals=intervals,
        constraints=tuple(held),
        prevalence=_prevalence(total, before) if binary else None,
        value=None if judge is None else _value(judge, policy.found_on, now, then, alpha),
        confusion_matrix=None if binary else tuple(map(tuple, total.T.tolist())),
    )


def _fractions_of_any(table: Table) -> dict[str, Fraction]:
    return {name: Fraction(number.item()) for name, number in cells(table).items()}


def _held(constraint: Constraint, before: dict[str, Fraction] | None, table: Table, alpha: float) -> Kept:
    counts = _fractions(table)
    exact = constraint.expression.fraction(**counts)
    now = constraint.expression.rounded(**counts) if exact is None else exact
    met = bool(constraint.holds(now - constraint.bound)) if now == now else False
    return kept(constraint, before, counts, alpha, met=met)


def _capacity(policy: Policy, table: Table, alpha: float) -> list[Kept]:
    """Judge the capacity of a band as a share of rows: as many reviews for as many rows as then."""
    found = policy.found_on
    if found is None or found.review is None or found.review.capacity is None:
        return []
    review, rows_then = found.review, float((found.positives or 0) + (found.negatives or 0))
    assert review.capacity is not None
    allowed = review.capacity / rows_then
    reviewed, rows = int(table[1].sum()), int(table.sum())
    name = f"at most {count(review.capacity)} reviews in {count(rows_then)} rows"
    verdict: Any = "met" if reviewed <= allowed * rows else "broken"
    judged = Kept(name, review.reviewed / rows_then, reviewed / rows, verdict, None, None)
    if not 0 < allowed < 1:
        return [judged]
    return [tested(judged, bad=reviewed, whole=rows, allowed=allowed, rows=rows, alpha=alpha)]


def _gap(constraint: Constraint, now: Table, then: Table | None, alpha: float) -> Kept:
    """Judge the largest difference of a rate between segments: broken if two intervals are that far apart.

    Exact intervals, at alpha over their number: all of them hold together.
    """
    rate = str(constraint.expression)
    tables = [one for one in now if one.sum()]
    found = [
        evaluate_cut(_confusion(one), confidence=1 - alpha / len(tables), interval="clopper_pearson")
        for one in tables
    ]
    rates = [one.metrics[rate] for one in found if not math.isnan(one.metrics[rate])]
    ends = [one.intervals[rate] for one in found if rate in one.intervals]
    apart = max((one.low for one in ends), default=0.0) - min((one.high for one in ends), default=0.0)
    largest = max(rates, default=0.0) - min(rates, default=0.0)
    past = [] if then is None else [_confusion(one).metric(rate) for one in then if one.sum()]
    past = [one for one in past if not math.isnan(one)]
    verdict: Any = "met, unsure" if largest <= constraint.bound else "not met, unsure"
    if apart > constraint.bound:
        verdict = "broken"
    return Kept(
        f"a gap of {constraint}", max(past) - min(past) if past else None, largest, verdict, None, None
    )


def _confusion(table: Table) -> Confusion:
    return Confusion(**{name: number.item() for name, number in cells(table).items()})


def _prevalence(total: Table, before: Table | None) -> Share:
    positives, rows = int(total[:, -1].sum()), int(total.sum())
    then = None if before is None else float(before[:, -1].sum() / before.sum())
    return share(then, positives, rows)


def share(then: float | None, some: int, rows: int) -> Share:
    """Return a share of rows then and now, with its interval."""
    interval = proportion_interval(some, rows, confidence=CONFIDENCE, method="clopper_pearson")
    return Share(then, some / rows, interval)


# --- the value, then and now


def _average(judge: Judge, table: Table, value: Callable[[Table], Any]) -> Any:
    """Return the value of parts: of their sum, or the mean over those with positives."""
    if judge.average != "macro":
        return value(table.sum(axis=-3))
    found = [value(table[..., k, :, :]) for k in range(table.shape[-3])]
    return sum(found) / len(found) if found else math.nan


def _counted_parts(judge: Judge, table: Table) -> Table:
    """Leave the parts out that the macro average leaves out: those without positives."""
    if judge.average != "macro":
        return table
    return table[table[:, :, -1].sum(axis=-1) > 0]


def _drawn(judge: Judge, table: Table, draws: int = DRAWS) -> NDArray[np.float64]:
    """Return values for shares of the cells as plausible as these counts make them."""
    kept_parts = _counted_parts(judge, table)
    parts = kept_parts if judge.average == "macro" else kept_parts.sum(axis=0)[None]
    found = np.zeros(draws)
    for part in parts:
        found += np.asarray(judge.values(_shares(part, draws)), dtype=np.float64)
    return found / max(len(parts), 1)


def _shares(part: Table, draws: int) -> Table:
    """Draw shares per 1,000 rows; by Jeffreys' prior for four cells, and as much in all for more of them."""
    flat = part.reshape(-1).astype(np.float64)
    there = np.arange(len(flat)) if len(flat) <= MOST_CELLS else np.flatnonzero(flat)
    drawn = np.zeros((draws, len(flat)))
    drawn[:, there] = generator(0, flat).dirichlet(flat[there] + 2 / len(there), size=draws)
    return 1000 * drawn.reshape(draws, *part.shape)


def _drawn_in_blocks(judge: Judge, now: Tally) -> NDArray[np.float64]:
    """Return the same for a matrix of labels: whole blocks of samples are redrawn."""
    assert now.blocks is not None
    blocks = now.blocks if judge.average == "macro" else now.blocks.sum(axis=1, keepdims=True)
    used = now.counts[:, :, -1].sum(axis=-1) > 0 if judge.average == "macro" else np.array([True])
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


def _value(judge: Judge, found: FoundOn | None, now: Tally, then: Table | None, alpha: float) -> Value:
    drawn = _drawn(judge, now.counts)
    drawn_then = None if then is None else _drawn(judge, then)
    if now.blocks is not None:
        spread = drawn.std()
        drawn = _drawn_in_blocks(judge, now)
        if drawn_then is not None and spread > 0:
            # The labels of a sample depended on each other then as they do now.
            middle = drawn_then.mean()
            drawn_then = middle + (drawn_then - middle) * max(1.0, float(drawn.std() / spread))
    expected = None if found is None else found.cross_validated
    return _compared(judge, (now.counts, drawn), (then, drawn_then), expected, alpha)


def _compared(
    judge: Judge,
    now: tuple[Table, NDArray[np.float64]],
    then: tuple[Table | None, NDArray[np.float64] | None],
    expected: float | None,
    alpha: float,
) -> Value:
    counts, drawn = now
    rows = float(counts.sum())
    value, found = _per_1000(judge, counts), None
    if then[0] is not None and then[0].sum():
        found = _per_1000(judge, then[0])
        if expected is not None and judge.is_total:
            expected *= 1000 / float(then[0].sum())
    to_expect = found if expected is None else expected
    before = then[1]
    if before is not None and found is not None and to_expect is not None:
        before = before + (to_expect - found)
        before = before if np.isfinite(before).all() else None
    else:
        before = None
    tail = (1 - CONFIDENCE) / 2
    verdict, worst, more = compared(judge.sign, before, drawn, rows, alpha)
    return Value(
        objective=judge.objective if judge.average != "macro" else f"macro {judge.objective}",
        direction=judge.direction,
        then=to_expect,
        found=found,
        now=value,
        interval=Interval(*np.quantile(drawn, [tail, 1 - tail]).tolist()),
        verdict=verdict,
        at_most_worse=worst,
        more_rows=more,
        best_threshold=None,
        best=None,
        lost=None,
        total=_total(judge, counts) if judge.is_total else None,
    )


def _total(judge: Judge, counts: Table) -> float:
    parts = _counted_parts(judge, counts)
    return float(_average(judge, parts, judge.exact)) if len(parts) else math.nan


def _per_1000(judge: Judge, counts: Table) -> float:
    if np.issubdtype(counts.dtype, np.integer):
        value = _total(judge, counts)
    else:  # weights
        value = float(_average(judge, _counted_parts(judge, counts), judge.values))
        return value if not judge.is_total else value * 1000 / float(counts.sum())
    return value * 1000 / float(counts.sum()) if judge.is_total else value


# --- each segment, each label


def parts_of(policy: Policy, now: Tally, alpha: float, psi: float) -> tuple[Part, ...]:
    """Judge each segment or label by itself, at alpha over their number."""
    if len(now.parts) == 1 and now.parts[0] is None:
        return ()
    then = then_table(policy, now.parts)
    labelled = now.counts.shape[-1] == 2
    judge = judge_of(policy) if labelled else None
    records = {} if policy.found_on is None else {one.key: one for one in policy.found_on.segments}
    present = now.counts.sum(axis=(1, 2))
    level = alpha / max(int((present > 0).sum()), 1)
    found = []
    for k, key in enumerate(now.parts):
        table, rows = now.counts[k], int(present[k])
        before = None if then is None or not then[k].sum() else then[k]
        if rows == 0:
            found.append(Part(key, 0, None))
            continue
        called_then = None if before is None else float(before[-1].sum() / before.sum())
        shift = None
        if before is not None:
            whole = bool((before == np.rint(before)).all())
            shift = shift_of(before.sum(axis=1), table.sum(axis=1), level, psi, whole=whole)
        value: Value | None = None
        held: tuple[Kept, ...] = ()
        if judge is not None:
            record = records.get(key_parts(key))
            past = None if before is None else _fractions_of_any(before)
            held = tuple(_held(one, past, table, level) for one in judge.each)
            alone = judge._replace(average=None)
            value = _compared(
                alone,
                (table[None], _drawn(alone, table[None], PART_DRAWS)),
                (None, None) if before is None else (before[None], _drawn(alone, before[None], PART_DRAWS)),
                None if record is None else record.cross_validated,
                level,
            )
        found.append(Part(key, rows, share(called_then, int(table[-1].sum()), rows), shift, value, held))
    return tuple(found)

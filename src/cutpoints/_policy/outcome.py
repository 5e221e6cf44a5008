"""What labels tell about a policy: metrics then and now, its constraints, its goal, and each of its parts.

Each segment or label is judged as well, at alpha over their number: the more there are, the more improbable a
change must be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._evaluate import evaluate_cut, proportion_interval
from cutpoints._extras import needs
from cutpoints._format import count, json_fields
from cutpoints._policy.judge import (
    CONFIDENCE,
    PART_DRAWS,
    cells,
    fractions,
    judge_of,
    normal_quantile,
    table_value,
    then_table,
    threshold_value,
)
from cutpoints._policy.record import fingerprint
from cutpoints._policy.rules import OrdinalRule, key_name, key_parts
from cutpoints._policy.shift import are_counts, shift_of
from cutpoints._result import Confusion
from cutpoints._search.guarantee import _floor
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._policy.judge import Judge, Table, Value
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.shift import Shift
    from cutpoints._policy.tally import Tally
    from cutpoints._result import Interval
    from cutpoints.metrics.expression import Constraint


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
    p_holds: float | None = None
    p_broken: float | None = None
    more_rows: int = 0


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

    @property
    def name(self) -> str:
        """The key for people."""
        return "(unknown)" if self.key is None else key_name(key_parts(self.key))


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


def share(then: float | None, some: int, rows: int) -> Share:
    """Return a share of rows then and now, with its interval."""
    interval = proportion_interval(some, rows, confidence=CONFIDENCE, method="clopper_pearson")
    return Share(then, some / rows, interval)


# --- all rows


def outcome(policy: Policy, now: Tally, alpha: float) -> Outcome:
    """Judge a policy on rows with labels."""
    total, found, then = now.total, policy.found_on, then_table(policy, now.parts)
    before = None if then is None else then.sum(axis=0)
    judge = judge_of(policy, now.amounts)
    if judge is None:
        value = None
    elif judge.goal is not None:
        value = threshold_value(judge.goal, policy, now, alpha)
    else:
        expected = None if found is None else found.cross_validated
        blocks = None if now.blocks is None else now
        value = table_value(judge, now.counts, then, expected, alpha, blocks=blocks)
    if isinstance(policy.rule, OrdinalRule):
        return Outcome(None, {}, {}, (), None, value, confusion_matrix=tuple(map(tuple, total.T.tolist())))
    confusion = confusion_of(total)
    shown = evaluate_cut(confusion, confidence=CONFIDENCE, interval="clopper_pearson")
    past = None if before is None else evaluate_cut(confusion_of(before)).metrics
    prevalence = None if before is None else float(before[:, -1].sum() / before.sum())
    return Outcome(
        confusion=confusion,
        metrics={name: (None if past is None else past[name], one) for name, one in shown.metrics.items()},
        # The labels of one sample are no independent rows.
        intervals=shown.intervals if now.blocks is None else {},
        constraints=() if judge is None else _constraints(policy, judge, now, then, alpha),
        prevalence=share(prevalence, int(total[:, -1].sum()), int(total.sum())),
        value=value,
        same_data=found is not None
        and now.source is not None
        and found.fingerprint == fingerprint(now.source.summary(), fractions(total)),
    )


def confusion_of(table: Table) -> Confusion:
    """Return the confusion of the automatic decisions."""
    return Confusion(**{name: number.item() for name, number in cells(table).items()})


# --- each segment, each label


def parts_of(policy: Policy, now: Tally, alpha: float, psi: float) -> tuple[Part, ...]:
    """Judge each segment or label by itself, at alpha over their number."""
    if len(now.parts) == 1 and now.parts[0] is None:
        return ()
    then = then_table(policy, now.parts)
    judge = judge_of(policy) if now.counts.shape[-1] == 2 else None  # with labels
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
        part = Part(key, rows, share(called_then, int(table[-1].sum()), rows))
        if before is not None:
            moved = shift_of(before.sum(axis=1), table.sum(axis=1), level, psi, whole=are_counts(before))
            part = replace(part, shift=moved)
        if judge is not None:
            record = records.get(key_parts(key))
            past = None if before is None else before[None]
            expected = None if record is None else record.cross_validated
            alone = judge._replace(average=None)
            value = table_value(alone, table[None], past, expected, level, draws=PART_DRAWS)
            held = tuple(_held(one, before, table, level) for one in judge.each)
            part = replace(part, value=value, constraints=held)
        found.append(part)
    return tuple(found)


# --- constraints


def _constraints(
    policy: Policy, judge: Judge, now: Tally, then: Table | None, alpha: float
) -> tuple[Kept, ...]:
    before = None if then is None else then.sum(axis=0)
    held = [
        _held_sum(one, now) if one.expression.columns else _held(one, before, now.total, alpha)
        for one in judge.constraints
    ]
    gaps = [_gap(one, now.counts, then, alpha) for one in judge.gaps]
    return (*held, *_capacity(policy, now.total, alpha), *gaps)


def _held_sum(constraint: Constraint, now: Tally) -> Kept:
    """Compare the sum of a column with its bound; it is no share of rows, and has no exact test."""
    assert now.amounts is not None
    found = constraint.expression.rounded(**fractions(now.total), columns=now.amounts.parts)
    met = bool(constraint.holds(found - float(constraint.bound)))
    return Kept(str(constraint), None, found, "met" if met else "broken")


def _held(constraint: Constraint, before: Table | None, table: Table, alpha: float) -> Kept:
    """Judge a constraint at the counts then and now."""
    expression, counts = constraint.expression, fractions(table)
    now = expression.rounded(**counts)
    exact = expression.fraction(**counts)
    met = bool(now == now and constraint.holds((now if exact is None else exact) - constraint.bound))
    then = None if before is None else expression.rounded(**fractions(before))
    kept = Kept(str(constraint), then, now, "met" if met else "broken")
    try:
        floor = _floor(constraint)
    except InvalidParameterError:  # no share of rows, so no exact test
        return kept
    good, whole = (int(side[0]) for side in floor.counts({k: np.array([int(v)]) for k, v in counts.items()}))
    rows = float(sum(counts.values()))
    return _tested(kept, bad=whole - good, whole=whole, allowed=floor.slack, rows=rows, alpha=alpha)


def _tested(kept: Kept, *, bad: int, whole: int, allowed: float, rows: float, alpha: float) -> Kept:
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
    judged = Kept(name, review.reviewed / rows_then, reviewed / rows, verdict)
    if not 0 < allowed < 1:
        return [judged]
    return [_tested(judged, bad=reviewed, whole=rows, allowed=allowed, rows=rows, alpha=alpha)]


def _gap(constraint: Constraint, now: Table, then: Table | None, alpha: float) -> Kept:
    """Judge the largest difference of a rate between segments: broken if two intervals are that far apart.

    Exact intervals, at alpha over their number: all of them hold together.
    """
    rate = str(constraint.expression)
    tables = [one for one in now if one.sum()]
    found = [
        evaluate_cut(confusion_of(one), confidence=1 - alpha / len(tables), interval="clopper_pearson")
        for one in tables
    ]
    rates = [one.metrics[rate] for one in found if not math.isnan(one.metrics[rate])]
    ends = [one.intervals[rate] for one in found if rate in one.intervals]
    apart = max((one.low for one in ends), default=0.0) - min((one.high for one in ends), default=0.0)
    largest = max(rates, default=0.0) - min(rates, default=0.0)
    past = [] if then is None else [confusion_of(one).metric(rate) for one in then if one.sum()]
    past = [one for one in past if not math.isnan(one)]
    verdict: Any = "met, unsure" if largest <= constraint.bound else "not met, unsure"
    if apart > constraint.bound:
        verdict = "broken"
    return Kept(f"a gap of {constraint}", max(past) - min(past) if past else None, largest, verdict)

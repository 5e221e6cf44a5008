"""Whether a policy still does on new data what it did on the data it was found on.

Three questions, the cheapest first. Have the scores moved? That needs no labels. Do the constraints
still hold, and is the goal still reached? What would be best now, and what is lost by not moving?
Rows that are too few to answer are an answer of its own: neither fine nor an alarm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.data import Data
from cutpoints._format import count, json_form
from cutpoints._policy.counts import masses_above, rows_between
from cutpoints._policy.evidence import SCORES
from cutpoints._policy.outcome import TOLERATED, Outcome, Share, Value, outcome_of
from cutpoints._policy.rules import LabelRule, SegmentRule, ThresholdRule
from cutpoints._policy.several import Part, key_parts, outcome, parts_of, share, then_table
from cutpoints._policy.shift import Shift, shift_of
from cutpoints._policy.state import Watch, watch
from cutpoints._policy.tally import Asked, tally
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Rule
    from cutpoints._result import Confusion


@dataclass(frozen=True, repr=False)
class Check:
    """What a policy does on new data, beside what it did.

    Attributes
    ----------
    status : {"fine", "unsure", "attention"}
        Whether nothing calls for attention; or the rows are too few to tell; or something does: the
        scores have moved, a constraint is broken, the objective is worse.
    alarms, notes : tuple of str
        What calls for attention, and what is good to know, in sentences.
    open : tuple of str
        What the rows are too few to tell; `more_rows` is about how many more it takes to tell all of
        it, None if no number is enough.
    scores : Shift or None
        How far the scores have moved; None if the policy does not say how they were spread.
    called : Share or None
        The share of rows that is called positive, then and now; None for ordered classes.
    labels : Outcome or None
        What labels tell, if there are any.
    decisions : dict of str to Share
        For rules with several thresholds, the share of each decision.
    parts : tuple of Part
        Each segment or label by itself.
    unseen : dict
        How many rows there are of each segment that the policy does not know.
    watch : Watch or None
        What this and all earlier checks say together, with `state`.
    """

    policy: Policy
    rows: int
    alarms: tuple[str, ...]
    notes: tuple[str, ...]
    open: tuple[str, ...]
    more_rows: int | None
    scores: Shift | None
    called: Share | None
    labels: Outcome | None
    watch: Watch | None = None
    alpha: float = 0.01
    decisions: dict[str, Share] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    unseen: dict[Any, int] = field(default_factory=dict)

    @property
    def status(self) -> Literal["fine", "unsure", "attention"]:
        """The verdict in a word."""
        return "attention" if self.alarms else "unsure" if self.open else "fine"

    @property
    def fine(self) -> bool:
        """Whether there are enough rows to tell, and nothing calls for attention."""
        return self.status == "fine"

    @property
    def summary(self) -> str:
        """The verdict in a sentence."""
        if self.alarms:
            return "Attention: " + "; ".join(self.alarms) + "."
        if self.open:
            more = (
                f"about {count(self.more_rows)} more rows are needed"
                if self.more_rows is not None
                else "the policy was found on too few rows to tell, however many new ones there are"
            )
            asked = "; or ".join(self.open)
            return f"Cannot tell: {count(self.rows)} rows are too few to say {asked}. {_upper(more)}."
        return "Fine: " + (", ".join(self._good()) or "nothing to compare with, nothing wrong") + "."

    def _good(self) -> list[str]:
        good = []
        if self.scores is not None:
            still = self.scores.ks_p is None or self.scores.ks_p > self.alpha
            how = "have not moved" if still else "have moved a little, below the limit"
            good.append(f"the {self.moving} {how} (PSI {self.scores.psi:.3g})")
        if self.watch is not None:
            checks = "check" if self.watch.batches == 1 else "checks"
            good.append(
                f"and no claim is refuted by {count(self.watch.batches)} {checks} "
                f"of {count(self.watch.rows)} rows"
            )
        elif self.labels is not None:
            good += ["no constraint is broken"] * bool(self.labels.constraints)
            value = self.labels.value
            if value is not None and value.verdict == "not worse":
                good.append(f"{value.objective} is not {_worse(value)} ({_then_now(value)})")
        return good

    @property
    def moving(self) -> str:
        """What can move without labels: the scores, or for rules with several thresholds the decisions."""
        return "scores" if isinstance(self.policy.rule, ThresholdRule) else "decisions"

    @property
    def one_look(self) -> str | None:
        """What a single check is worth; None with a state."""
        if self.watch is not None:
            return None
        return (
            f"This is one look: if nothing has changed, each test still raises a false alarm with a "
            f"probability of {self.alpha:g}. For repeated checks use a state, which bounds all false alarms."
        )

    @property
    def next_step(self) -> str:
        """What to do now, in a sentence."""
        if self.status == "attention":
            if self.labels is None:
                return "Get labels for rows like these and check again with labels: are the decisions worse?"
            new = "a new threshold" if isinstance(self.policy.rule, ThresholdRule) else "new thresholds"
            return f"Find {new} on rows like these, and look into what has changed."
        if self.status == "unsure":
            if self.more_rows is None:
                return "Find the policy anew on more rows."
            return f"Check again with about {count(self.more_rows)} more rows."
        if self.labels is None:
            return "Keep the policy. Check with labels as soon as there are some."
        return "Keep the policy."

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {
            "status": self.status,
            "summary": self.summary,
            "next_step": self.next_step,
            "one_look": self.one_look,
            "alarms": list(self.alarms),
            "notes": list(self.notes),
            "open": list(self.open),
            "more_rows": self.more_rows,
            "policy": {"name": self.policy.name, **_rule(self.policy.rule)},
            "rows": self.rows,
            self.moving: json_form(self.scores),
            "predicted_positive_rate": json_form(self.called),
            "labels": None if self.labels is None else self.labels.to_dict(),
            "watch": json_form(self.watch),
            **self._several(),
        }

    def _several(self) -> dict[str, Any]:
        """Return what only rules with several thresholds have."""
        if isinstance(self.policy.rule, ThresholdRule):
            return {}
        return {
            "shares": json_form(self.decisions),
            "parts": [
                {"key": None if one.key is None else list(key_parts(one.key)), **_without_key(json_form(one))}
                for one in self.parts
            ],
            "unseen": [{"key": list(key), "rows": rows} for key, rows in self.unseen.items()],
        }

    def __repr__(self) -> str:
        return "\n".join([self.summary, *self.notes])


def _rule(rule: Rule) -> dict[str, Any]:
    return (
        {"threshold": json_form(rule.threshold)} if isinstance(rule, ThresholdRule) else {"kind": rule.kind}
    )


def _without_key(shown: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if name != "key"}


def check(
    asked: Asked,
    *,
    alpha: float,
    psi: float,
    state: str | os.PathLike[str] | None = None,
    batch: str | None = None,
) -> Check:
    """Compare what a policy does with what it did; see `Policy.check`."""
    for name, given, high in (("alpha", alpha, 1.0), ("psi", psi, math.inf)):
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < high:
            must = "a number between 0 and 1" if high == 1 else "a positive number"
            raise InvalidParameterError(name, caller="check", expected=must, got=given)
    data = asked.data
    if isinstance(data, Data) and (data.weighted or data.counted):
        raise InvalidParameterError(
            "data",
            caller="check",
            expected="rows without weights and counts: it counts rows",
            got=data,
        )
    if asked.by is not None and not isinstance(asked.policy.rule, SegmentRule):
        raise InvalidParameterError(
            "by", caller="check", expected="left out: the policy has no segments", got=asked.by
        )
    judge = _one_threshold if isinstance(asked.policy.rule, ThresholdRule) else _several_thresholds
    found = judge(asked, alpha, psi, state, batch)
    return replace(found, **_words(found, psi))


def _one_threshold(asked: Asked, alpha: float, psi: float, state: Any, batch: str | None) -> Check:
    policy = asked.policy
    spread = None if policy.found_on is None else policy.found_on.distribution
    edges = sorted({*(() if spread is None else spread.edges), policy.threshold})
    place = edges.index(policy.threshold)
    if not asked.labelled:
        counts = rows_between(policy, asked.data, asked.score, edges)
        labels, rows, positive = None, int(counts.sum()), int(counts[place + 1 :].sum())
        confusion = None
    else:
        read = asked.with_goal()
        source = read.source()
        above = masses_above(source, edges)
        cumulated = [sum(source.summary().totals), *(pos + neg for pos, neg in above), Fraction(0)]
        counts = np.array([int(a - b) for a, b in pairwise(cumulated)])
        added = read.labelled_rows(caller="check") if read.added else None
        labels = outcome_of(policy, source, above[place], alpha, added)
        rows, positive = source.summary().rows, int(cumulated[place + 1])
        confusion = None if labels.confusion is None else labels.confusion.fractions()
    shift = None
    if spread is not None:
        if policy.threshold not in spread.edges:  # where one of its sides was empty: no bucket of then
            counts = np.concatenate([counts[:place], [counts[place : place + 2].sum()], counts[place + 2 :]])
        shift = shift_of(spread.masses, counts, alpha, psi, whole=spread.whole)
    found_on = policy.found_on
    then = None if found_on is None or found_on.confusion is None else _rate(found_on.confusion)
    called = share(then, positive, rows)
    watched = None
    if state is not None:
        buckets = counts.tolist() if spread is not None and spread.whole else None
        watched = watch(policy, state, batch=batch, buckets=buckets, counts=confusion, rows=rows, alpha=alpha)
    return Check(policy, rows, (), (), (), 0, shift, called, labels, watched, alpha)


def _several_thresholds(asked: Asked, alpha: float, psi: float, state: Any, batch: str | None) -> Check:
    policy, rule = asked.policy, asked.policy.rule
    if state is not None and not (isinstance(rule, SegmentRule) and asked.labelled):
        raise InvalidParameterError(
            "state",
            caller="check",
            expected="left out for this policy: only claims about one threshold, or about all segments with "
            "labels, can be watched",
            got=state,
            hint="check each batch by itself, or keep a state for a policy of one threshold.",
        )
    now = tally(asked)
    total = now.total
    decided = total.sum(axis=1)
    rows = (
        int(decided.sum())
        if now.blocks is None and not isinstance(rule, LabelRule)
        else int(now.counts[0].sum())
    )
    if not decided.sum():
        raise InvalidInputError.unknown_segments(
            by=rule.decisions()[0].by, key=next(iter(now.unseen)), count=now.undecided,
            rows=now.undecided, first=0,
        )  # fmt: skip
    then = then_table(policy, now.parts)
    before = None if then is None else then.sum(axis=(0, 2))
    shift = None
    parts = parts_of(policy, now, alpha, psi)
    if isinstance(rule, LabelRule):  # the labels of a row are not independent: the one that has moved most
        shifts = [one.shift for one in parts if one.shift is not None]
        shift = max(shifts, key=lambda one: one.psi, default=None)
    elif before is not None and before.sum():
        shift = shift_of(before, decided, alpha, psi, whole=bool((before == np.rint(before)).all()))
    shares = {
        _decision(value, rule): share(
            None if before is None or not before.sum() else float(before[k] / before.sum()),
            int(decided[k]),
            int(decided.sum()),
        )
        for k, value in enumerate(rule.decisions()[0].values)
    }
    labels = outcome(policy, now, alpha) if asked.labelled else None
    watched = None
    if state is not None and labels is not None and labels.confusion is not None:
        counts = labels.confusion.fractions()
        watched = watch(policy, state, batch=batch, buckets=None, counts=counts, rows=rows, alpha=alpha)
    if isinstance(rule, LabelRule):
        shares = {}  # those of each label are in its part
    return Check(
        policy, rows + now.undecided, (), (), (), 0, shift, shares.get("positive"), labels, watched, alpha,
        shares, parts, dict(now.unseen),
    )  # fmt: skip


def _decision(value: Any, rule: Rule) -> str:
    names = {0: "negative", 1: "positive", -1: "review"} if rule.missing else {}  # classes have names
    return names.get(value, str(value))


def _rate(confusion: Confusion) -> float:
    total = sum(confusion.to_dict().values())
    return float((confusion.tp + confusion.fp) / total) if total else math.nan


# --- in words


def _words(found: Check, psi: float) -> dict[str, Any]:
    """Return alarms, notes, and what cannot be told."""
    alarms, notes = _of_scores(found, psi)
    unsure: list[tuple[str, int | None]] = []
    if found.scores is not None and not found.scores.moved and found.scores.more_rows != 0:
        unsure.append((f"whether the {found.moving} have moved", found.scores.more_rows))
    if found.labels is not None:
        told = _of_labels(found, found.labels)
        alarms, notes, unsure = alarms + told[0], notes + told[1], unsure + told[2]
    told_of_parts = _of_parts(found)
    if found.watch is None:
        alarms += told_of_parts[0]
    else:  # tests of one look, which must not be repeated
        notes += [f"In this check alone, {text}." for text in told_of_parts[0]]
    notes += told_of_parts[1]
    unseen = _of_unseen(found)
    alarms, notes = alarms + unseen[0], notes + unseen[1]
    if found.watch is None:
        needed = [more for _, more in unsure]
        more = None if None in needed else _rounded(max([0, *(one for one in needed if one is not None)]))
    else:
        unsure, more = [], 0  # evidence adds up over checks: a small one is no question of its own
        notes += _of_watch(found.watch)
    return {
        "alarms": tuple(alarms),
        "notes": tuple(notes),
        "open": tuple(text for text, _ in unsure),
        "more_rows": more,
    }


def _of_scores(found: Check, psi: float) -> tuple[list[str], list[str]]:
    shift, watched = found.scores, found.watch
    if shift is None:
        unknown = "how its scores were spread" if found.moving == "scores" else "what it decided then"
        return [], [f"The policy does not say {unknown}, so a shift cannot be seen."]
    text = f"the {found.moving} have moved (PSI {shift.psi:.3g}, limit {psi:g})"
    if watched is not None and SCORES in watched.peak:
        return ([text], []) if shift.psi >= psi and watched.refuted(SCORES) else ([], [])
    if shift.moved and watched is not None and found.moving == "decisions":
        return [], [f"In this check alone, {text}."]
    if shift.moved:
        of_one_label = isinstance(found.policy.rule, LabelRule)  # which is told with its name
        return ([], []) if of_one_label else ([text], [])
    if shift.psi >= psi:
        return [], [
            f"PSI is {shift.psi:.3g}, but this few rows can give as much by chance (p = {shift.psi_p:.2g})."
        ]
    return [], []


def _of_labels(found: Check, labels: Outcome) -> tuple[list[str], list[str], list[tuple[str, int | None]]]:
    alarms, notes = [], []
    unsure: list[tuple[str, int | None]] = []
    watched, value = found.watch, labels.value
    for one in labels.constraints:
        was = "" if one.then is None else f", {one.then:.4g} then"
        tested = watched is not None and one.constraint in watched.peak
        broken = one.verdict == "broken"
        if tested and watched is not None:
            broken = watched.refuted(one.constraint)
        if broken:
            alarms.append(f"{one.constraint} is broken ({one.now:.4g} now{was})")
        elif one.verdict in ("not met, unsure", "broken"):
            notes.append(f"{one.constraint} is not met ({one.now:.4g} now{was}); it may be chance.")
        if one.more_rows:
            unsure.append((f"whether {one.constraint} is broken ({one.now:.4g} now)", one.more_rows))
    if value is not None:
        worse = value.verdict == "worse"
        if watched is not None:
            worse = any(watched.refuted(claim) for claim in watched.peak if _is_objective(claim, found))
        if worse:
            alarms.append(f"{value.objective} is worse by more than a tenth ({_then_now(value)})")
        elif value.verdict == "unsure":
            unsure.append((f"whether {value.objective} is worse ({_then_now(value)})", value.more_rows))
    prevalence = labels.prevalence
    if prevalence is not None and prevalence.then is not None:
        interval = prevalence.interval
        if not interval.low <= prevalence.then <= interval.high:
            notes.append(f"The share of positives was {prevalence.then:.4g} and is {prevalence.now:.4g}.")
    if labels.same_data:
        notes.append("These seem to be the rows that the policy was found on: they cannot judge it.")
    return alarms, notes, unsure


def _of_parts(found: Check) -> tuple[list[str], list[str]]:
    """Say in how many segments or labels something is wrong, and name the worst."""
    parts, what = found.parts, "labels" if isinstance(found.policy.rule, LabelRule) else "segments"
    alarms, notes = [], []
    moved = [one for one in parts if one.moved and one.called is not None]
    if moved:
        worst = max(moved, key=lambda one: abs(_change(one.called)))
        alarms.append(
            f"the decisions have moved in {_of(moved, parts, what)} "
            f"({_named(worst, moved)}: {_now_then(worst.called)})"
        )
    for text in dict.fromkeys(kept.constraint for one in parts for kept in one.constraints):
        rows = [(kept, one) for one in parts for kept in one.constraints if kept.constraint == text]
        broken = [(kept, one) for kept, one in rows if kept.verdict == "broken"]
        if broken:
            kept, worst = max(broken, key=lambda pair: abs(pair[0].now - (pair[0].then or 0.0)))
            every = [one for _, one in broken]
            alarms.append(
                f"{text} is broken in {_of(every, parts, what)} ({_named(worst, every)}: {kept.now:.4g} now)"
            )
        few = [one for kept, one in rows if kept.verdict == "not met, unsure"]
        if few:
            notes.append(f"{text} is not met in {_of(few, parts, what)}; it may be chance.")
    values = [(one.value, one) for one in parts if one.value is not None]
    worse = [(value, one) for value, one in values if value.verdict == "worse"]
    if worse:
        value, worst = max(worse, key=lambda pair: pair[0].at_most_worse or 0.0)
        every = [one for _, one in worse]
        alarms.append(
            f"{value.objective} is worse by more than a tenth in {_of(every, parts, what)} "
            f"({_named(worst, every)}: {_then_now(value)})"
        )
    unsure = [one for value, one in values if value.verdict == "unsure"]
    if unsure:
        notes.append(f"{_upper(_of(unsure, parts, what))}: too few rows to tell by themselves.")
    absent = [one for one in parts if one.rows == 0 and one.key is not None]
    if absent:
        notes.append(f"{_upper(_of(absent, parts, what))}: no rows now.")
    return alarms, notes


def _of_unseen(found: Check) -> tuple[list[str], list[str]]:
    """Say how many rows are of segments that the policy does not know, and what becomes of them."""
    rule = found.policy.rule
    if not found.unseen or not isinstance(rule, SegmentRule):
        return [], []
    rows = sum(found.unseen.values())
    most = max(found.unseen, key=lambda key: found.unseen[key])
    name = ", ".join("(missing)" if part is None else str(part) for part in most)
    others = (
        f"{len(found.unseen):,} unknown segments such as" if len(found.unseen) > 1 else "the unknown segment"
    )
    segments = f"{others} {name}"
    text = f"{count(rows)} of {count(found.rows)} rows are of {segments}"
    if rule.default == "error":
        return [f"{text}, which the policy refuses"], []
    does = "they get no decision" if rule.default == "keep" else "they are decided by the default threshold"
    return [], [f"{text}; {does}."]


def _of(some: Sequence[Part], parts: Sequence[Part], what: str) -> str:
    known = sum(one.key is not None for one in parts)
    return f"{len(some):,} of {known:,} {what}"


def _named(worst: Part, some: Sequence[Part]) -> str:
    name = (
        "the unknown ones"
        if worst.key is None
        else ", ".join("(missing)" if part is None else str(part) for part in key_parts(worst.key))
    )
    return f"most in {name}" if len(some) > 1 else name


def _change(share: Share | None) -> float:
    return 0.0 if share is None or share.then is None else share.now - share.then


def _now_then(share: Share | None) -> str:
    assert share is not None
    then = "" if share.then is None else f", {share.then:.4g} then"
    return f"{share.now:.4g} called positive now{then}"


def _is_objective(claim: str, found: Check) -> bool:
    return claim != SCORES and claim not in found.policy.constraints


def _of_watch(watched: Watch) -> list[str]:
    notes = []
    if not watched.counted:
        notes.append("These rows were counted before, and are not counted again.")
    if watched.untested:
        names = ", ".join(watched.untested)
        notes.append(f"There is no test of {names} that may be repeated: look at the values of each check.")
    return notes


def _worse(value: Value) -> str:
    """Return what can be excluded: nothing can be seen to be equal."""
    most = max(TOLERATED, value.at_most_worse or 0.0)
    return f"worse by more than {math.ceil(round(100 * most, 6))} %"


def _then_now(value: Value) -> str:
    then = "" if value.then is None else f", {value.then:.4g} expected"
    return f"{value.now:.4g} now{then}{value.unit}"


def _rounded(rows: int) -> int:
    """Round up to two digits: it is an estimate.

    Examples
    --------
    >>> _rounded(68_647), _rounded(7)
    (69000, 7)
    """
    step = 10 ** max(len(str(rows)) - 2, 0)
    return -(-rows // step) * step


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]

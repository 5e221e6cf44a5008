"""Whether a policy still does on new data what it did on the data it was found on.

Three questions, the cheapest first. Have the scores moved? That needs no labels. Do the constraints
still hold, and is the goal still reached? What would be best now, and what is lost by not moving?
Rows that are too few to answer are an answer of its own: neither fine nor an alarm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from cutpoints._data.data import Data
from cutpoints._format import count, json_form, p_value, short
from cutpoints._format import value as decimals
from cutpoints._policy.evidence import SCORES, watch
from cutpoints._policy.judge import TOLERATED, then_table
from cutpoints._policy.outcome import outcome, parts_of, share
from cutpoints._policy.rules import LabelRule, SegmentRule, ThresholdRule, key_name, key_parts
from cutpoints._policy.shift import are_counts, shift_of
from cutpoints._policy.tally import tally
from cutpoints._validate import number_in
from cutpoints._wording import joined
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from cutpoints._policy.evidence import Watch
    from cutpoints._policy.judge import Value
    from cutpoints._policy.outcome import Outcome, Part, Share
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Rule
    from cutpoints._policy.shift import Shift
    from cutpoints._policy.tally import Asked


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
    alarms: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    more_rows: int | None = 0
    scores: Shift | None = None
    called: Share | None = None
    labels: Outcome | None = None
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
                else "the policy was found on too few rows to be judged, however many new rows there are"
            )
            asked = joined(self.open, "or")
            return f"Cannot tell: {count(self.rows)} rows are too few to say {asked}. {_upper(more)}."
        if self.watch is not None:
            checks, refute = ("check", "refutes") if self.watch.batches == 1 else ("checks", "refute")
            rows = f"{count(self.watch.batches)} {checks} of {count(self.watch.rows)} rows"
            return f"No alarm: {rows} {refute} no claim of the policy yet."
        return "Fine: " + (", ".join(self._good()) or "there is nothing to compare with") + "."

    def _good(self) -> list[str]:
        good = []
        if self.scores is not None:
            still = self.scores.ks_p is None or self.scores.ks_p > self.alpha
            how = "have not moved" if still else "have moved a little, below the limit"
            good.append(f"the {self.moving} {how} (PSI {decimals(self.scores.psi)})")
        if self.labels is not None:
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
            "This is a single check: even if nothing has changed, each test raises a false alarm with "
            f"probability {self.alpha:g}. To check repeatedly, keep a state: it limits the false alarms of "
            "all checks together."
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
                return "Find the policy again on more rows."
            return f"Check again with about {count(self.more_rows)} more rows."
        if self.labels is None:
            return "Keep the policy. Check again with labels as soon as you have some."
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
                {**json_form(one), "key": None if one.key is None else list(key_parts(one.key))}
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


def check(
    asked: Asked,
    *,
    alpha: float,
    psi: float,
    state: str | os.PathLike[str] | None = None,
    batch: str | None = None,
) -> Check:
    """Compare what a policy does with what it did; see `Policy.check`."""
    policy, rule = asked.policy, asked.policy.rule
    _check_arguments(asked, alpha, psi, state)
    now = tally(asked)
    total = now.total
    decided, of_labels = total.sum(axis=1), isinstance(rule, LabelRule)
    if not decided.sum():
        by, key = rule.decisions()[0].by, next(iter(now.unseen))
        raise InvalidInputError.unknown_segments(
            by=by, key=key, count=now.undecided, rows=now.undecided, first=0
        )
    rows = int((now.counts[0] if of_labels else total).sum())
    labels = outcome(policy, now, alpha) if asked.labelled else None
    parts = parts_of(policy, now, alpha, psi)
    then = then_table(policy, now.parts)
    before = None if then is None or not then.sum() else then.sum(axis=(0, 2))
    spread = None if policy.found_on is None else policy.found_on.distribution
    shift: Shift | None = None
    if of_labels:  # the labels of a row are not independent: the one that has moved most
        shift = max((one.shift for one in parts if one.shift), key=lambda one: one.psi, default=None)
    elif isinstance(rule, ThresholdRule):
        if spread is not None:
            shift = shift_of(spread.masses, now.buckets, alpha, psi, whole=spread.whole)
    elif before is not None:
        shift = shift_of(before, decided, alpha, psi, whole=are_counts(before))
    shares = {
        _decision(value, rule): share(
            None if before is None else float(before[k] / before.sum()), int(decided[k]), int(decided.sum())
        )
        for k, value in enumerate(rule.decisions()[0].values)
        if not of_labels  # those of each label are in its part
    }
    watched = None
    if state is not None:
        confusion = None if labels is None or labels.confusion is None else labels.confusion.fractions()
        buckets = None if now.buckets is None or spread is None or not spread.whole else now.buckets.tolist()
        watched = watch(policy, state, batch=batch, buckets=buckets, counts=confusion, rows=rows, alpha=alpha)
    found = Check(
        policy=policy,
        rows=rows + now.undecided,
        scores=shift,
        called=shares.get("positive"),
        labels=labels,
        watch=watched,
        alpha=alpha,
        decisions={} if isinstance(rule, ThresholdRule) else shares,
        parts=parts,
        unseen=dict(now.unseen),
    )
    return _Sentences(found, psi, named=batch is not None).with_sentences()


def _check_arguments(asked: Asked, alpha: float, psi: float, state: Any) -> None:
    for name, given, high in (("alpha", alpha, 1.0), ("psi", psi, math.inf)):
        must = "a number between 0 and 1" if high == 1 else "a positive number"
        number_in(name, given, 0, high, ends="()", expected=must, caller="check")
    data, rule = asked.data, asked.policy.rule
    if isinstance(data, Data) and (data.weighted or data.counted):
        raise InvalidParameterError(
            "data",
            caller="check",
            expected="rows without weights and counts: it counts rows",
            got=data,
        )
    if asked.by is not None and not isinstance(rule, SegmentRule):
        raise InvalidParameterError(
            "by", caller="check", expected="left out: the policy has no segments", got=asked.by
        )
    watched = isinstance(rule, ThresholdRule) or (isinstance(rule, SegmentRule) and asked.labelled)
    if state is not None and not watched:
        raise InvalidParameterError(
            "state",
            caller="check",
            expected="left out for this policy: only claims about one threshold, or about all segments with "
            "labels, can be watched",
            got=state,
            hint="check each batch by itself, or keep a state for a policy of one threshold.",
        )


def _decision(value: Any, rule: Rule) -> str:
    names = {0: "negative", 1: "positive", -1: "review"} if rule.missing else {}  # classes have names
    return names.get(value, str(value))


# --- in words


class _Sentences:
    """What a check says in sentences: alarms, notes, and what the rows are too few to tell."""

    def __init__(self, found: Check, psi: float, *, named: bool) -> None:
        self.found, self.psi, self.named = found, psi, named
        self.alarms: list[str] = []
        self.notes: list[str] = []
        self.open: list[tuple[str, int | None]] = []
        """Each with about how many more rows it takes."""

    def with_sentences(self) -> Check:
        """Return the check with its sentences."""
        found, watched = self.found, self.found.watch
        self._scores()
        if found.labels is not None:
            self._labels(found.labels)
        self._parts()
        self._unseen()
        if watched is not None:
            self.open = []  # evidence adds up over checks: a small one is no question of its own
            if not watched.counted:
                chance = "Small batches can agree by chance: a name for each batch tells them apart."
                again = "These rows were counted before, and are not counted again."
                self.notes.append(again if self.named else f"{again} {chance}")
            if watched.untested:
                names = ", ".join(watched.untested)
                self.notes.append(
                    f"There is no test of {names} that can be repeated: look at the values of each check."
                )
        needed = [more for _, more in self.open]
        return replace(
            found,
            alarms=tuple(self.alarms),
            notes=tuple(self.notes),
            open=tuple(text for text, _ in self.open),
            more_rows=None if None in needed else _rounded(max([0, *filter(None, needed)])),
        )

    def _alarm_once(self, text: str) -> None:
        """Add an alarm of one look; a test that must not be repeated is a note where checks are watched."""
        if self.found.watch is None:
            self.alarms.append(text)
        else:
            self.notes.append(f"In this check alone, {text}.")

    def _scores(self) -> None:
        found, shift, watched = self.found, self.found.scores, self.found.watch
        if shift is None:
            unknown = (
                "how its scores were distributed" if found.moving == "scores" else "what it decided before"
            )
            self.notes.append(f"The policy does not say {unknown}, so a shift cannot be detected.")
            return
        text = f"the {found.moving} have moved (PSI {decimals(shift.psi)}, limit {self.psi:g})"
        if watched is not None and SCORES in watched.peak:
            if shift.psi >= self.psi and watched.refuted(SCORES):
                self.alarms.append(text)
        elif shift.moved and found.moving == "scores":
            self.alarms.append(text)
        elif shift.moved:
            if not isinstance(found.policy.rule, LabelRule):  # one label is told with its name
                self._alarm_once(text)
        elif shift.psi >= self.psi and shift.psi_p is not None:
            chance = f"with so few rows this can happen by chance ({p_value(shift.psi_p)})"
            self.notes.append(f"PSI is {decimals(shift.psi)}, but {chance}.")
        if not shift.moved and shift.more_rows != 0:
            self.open.append((f"whether the {found.moving} have moved", shift.more_rows))

    def _labels(self, labels: Outcome) -> None:
        watched, value = self.found.watch, labels.value
        for one in labels.constraints:
            was = "" if one.then is None else f", {short(one.then)} then"
            tested = watched is not None and one.constraint in watched.peak
            broken = watched.refuted(one.constraint) if watched and tested else one.verdict == "broken"
            if broken:
                self.alarms.append(f"{one.constraint} is broken ({short(one.now)} now{was})")
            elif one.verdict in ("not met, unsure", "broken"):
                self.notes.append(
                    f"{one.constraint} is not met ({short(one.now)} now{was}); this may be chance."
                )
            if one.more_rows:
                whether = f"whether {one.constraint} is broken ({short(one.now)} now)"
                self.open.append((whether, one.more_rows))
        if value is not None:
            worse = value.verdict == "worse"
            if watched is not None:
                others = {SCORES, *self.found.policy.constraints}
                worse = any(watched.refuted(claim) for claim in watched.peak if claim not in others)
            if worse:
                self.alarms.append(f"{value.objective} is worse by more than a tenth ({_then_now(value)})")
            elif value.verdict == "unsure":
                self.open.append(
                    (f"whether {value.objective} is worse ({_then_now(value)})", value.more_rows)
                )
        positives = labels.prevalence
        if positives is not None and positives.then is not None:
            low, high = positives.interval
            if not low <= positives.then <= high:
                self.notes.append(
                    f"The share of positives was {short(positives.then)} and is {short(positives.now)}."
                )
        if labels.same_data:
            self.notes.append("These seem to be the rows that the policy was found on: they cannot judge it.")

    def _parts(self) -> None:
        """Say in how many segments or labels something is wrong, and name the worst."""
        parts, notes = self.found.parts, []
        moved = [one for one in parts if one.moved and one.called is not None]
        if moved:
            worst, now = max(((one, one.called) for one in moved if one.called), key=_change)
            then = "" if now.then is None else f", {short(now.then)} then"
            where = f"{short(now.now)} called positive now{then}"
            self._alarm_once(
                f"the decisions have moved in {self._of(moved)} ({_named(worst, moved)}: {where})"
            )
        for text in dict.fromkeys(kept.constraint for one in parts for kept in one.constraints):
            kept_in = [(kept, one) for one in parts for kept in one.constraints if kept.constraint == text]
            broken = [(kept, one) for kept, one in kept_in if kept.verdict == "broken"]
            if broken:
                kept, worst = max(broken, key=lambda pair: abs(pair[0].now - (pair[0].then or 0.0)))
                every = [one for _, one in broken]
                where = f"({_named(worst, every)}: {short(kept.now)} now)"
                self._alarm_once(f"{text} is broken in {self._of(every)} {where}")
            few = [one for kept, one in kept_in if kept.verdict == "not met, unsure"]
            if few:
                notes.append(f"{text} is not met in {self._of(few)}; this may be chance.")
        values = [(one.value, one) for one in parts if one.value is not None]
        worse = [(value, one) for value, one in values if value.verdict == "worse"]
        if worse:
            value, worst = max(worse, key=lambda pair: pair[0].at_most_worse or 0.0)
            every = [one for _, one in worse]
            where = f"({_named(worst, every)}: {_then_now(value)})"
            self._alarm_once(f"{value.objective} is worse by more than a tenth in {self._of(every)} {where}")
        unsure = [one for value, one in values if value.verdict == "unsure"]
        if unsure:
            notes.append(f"{_upper(self._of(unsure))}: too few rows to judge on their own.")
        absent = [one for one in parts if one.rows == 0 and one.key is not None]
        if absent:
            notes.append(f"{_upper(self._of(absent))}: no rows now.")
        self.notes += notes

    def _of(self, some: Sequence[Part]) -> str:
        what = "labels" if isinstance(self.found.policy.rule, LabelRule) else "segments"
        return f"{len(some):,} of {sum(one.key is not None for one in self.found.parts):,} {what}"

    def _unseen(self) -> None:
        """Say how many rows are of segments that the policy does not know, and what becomes of them."""
        unseen, rule = self.found.unseen, self.found.policy.rule
        if not unseen or not isinstance(rule, SegmentRule):
            return
        most = key_name(max(unseen, key=lambda key: unseen[key]))
        which = f"{len(unseen):,} unknown segments such as" if len(unseen) > 1 else "the unknown segment"
        text = f"{count(sum(unseen.values()))} of {count(self.found.rows)} rows are in {which} {most}"
        if rule.default == "error":
            self.alarms.append(f"{text}, which the policy refuses")
            return
        does = (
            "they get no decision" if rule.default == "keep" else "they are decided by the default threshold"
        )
        self.notes.append(f"{text}; {does}.")


def _named(worst: Part, some: Sequence[Part]) -> str:
    name = "the unknown ones" if worst.key is None else worst.name
    return f"most in {name}" if len(some) > 1 else name


def _change(pair: tuple[Part, Share]) -> float:
    _, now = pair
    return 0.0 if now.then is None else abs(now.now - now.then)


def _worse(value: Value) -> str:
    """Return what can be excluded: nothing can be seen to be equal."""
    most = max(TOLERATED, value.at_most_worse or 0.0)
    return f"worse by more than {math.ceil(round(100 * most, 6))} %"


def _then_now(value: Value) -> str:
    then = "" if value.then is None else f", {short(value.then)} expected"
    return f"{short(value.now)} now{then}{value.unit}"


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

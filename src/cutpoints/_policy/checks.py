"""Whether a policy still does on new data what it did on the data it was found on.

Three questions, the cheapest first. Have the scores moved? That needs no labels. Do the constraints
still hold, and is the goal still reached? What would be best now, and what is lost by not moving?
Rows that are too few to answer are an answer of its own: neither fine nor an alarm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.data import Data
from cutpoints._data.read import as_data
from cutpoints._evaluate import proportion_interval
from cutpoints._format import count, json_form
from cutpoints._policy.counts import masses_above, rows_between
from cutpoints._policy.evidence import SCORES
from cutpoints._policy.outcome import CONFIDENCE, DROP, Outcome, Share, Value, outcome_of
from cutpoints._policy.shift import Shift, shift_of
from cutpoints._policy.state import Watch, watch
from cutpoints.exceptions import CutpointError, InvalidParameterError

if TYPE_CHECKING:
    import os

    from cutpoints._policy.policy import Policy
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
    called : Share
        The share of rows that is called positive, then and now.
    labels : Outcome or None
        What labels tell, if there are any.
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
    called: Share
    labels: Outcome | None
    watch: Watch | None = None
    alpha: float = 0.01

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
            good.append(f"the scores {how} (PSI {self.scores.psi:.3g})")
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
    def one_look(self) -> str | None:
        """What a single check is worth; None with a state."""
        if self.watch is not None:
            return None
        return (
            f"This is one look: if nothing has changed, each of its tests still errs with a probability of "
            f"{self.alpha:g}. For repeated checks use a state, which bounds the errors of all of them."
        )

    @property
    def next_step(self) -> str:
        """What to do now, in a sentence."""
        if self.status == "attention":
            if self.labels is None:
                return "Get labels for rows like these and check again with labels: are the decisions worse?"
            return "Find a new threshold on rows like these, and look into what has changed."
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
            "policy": {"name": self.policy.name, "threshold": json_form(self.policy.threshold)},
            "rows": self.rows,
            "scores": json_form(self.scores),
            "predicted_positive_rate": json_form(self.called),
            "labels": None if self.labels is None else self.labels.to_dict(),
            "watch": json_form(self.watch),
        }

    def __repr__(self) -> str:
        return "\n".join([self.summary, *self.notes])


def check(
    policy: Policy,
    data: Any,
    y_score: Any,
    *,
    columns: tuple[str | None, str | None],
    pos_label: Any,
    alpha: float,
    psi: float,
    state: str | os.PathLike[str] | None = None,
    batch: str | None = None,
) -> Check:
    """Compare, by columns of scores and labels; see `Policy.check`."""
    policy.single("check")
    score, label = columns
    for name, given, high in (("alpha", alpha, 1.0), ("psi", psi, math.inf)):
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < high:
            must = "a number between 0 and 1" if high == 1 else "a positive number"
            raise InvalidParameterError(name, caller="check", expected=must, got=given)
    spread = None if policy.found_on is None else policy.found_on.distribution
    edges = sorted({*(() if spread is None else spread.edges), policy.threshold})
    place = edges.index(policy.threshold)
    if isinstance(data, Data) and (data.weighted or data.counted):
        raise InvalidParameterError(
            "data",
            caller="check",
            expected="rows without weights and counts: it counts rows",
            got=data,
        )
    if y_score is None and label is None and not (isinstance(data, Data) and data.label is not None):
        counts = rows_between(policy, data, score, edges)
        labels, rows, positive = None, int(counts.sum()), int(counts[place + 1 :].sum())
        confusion = None
    else:
        read = _read(policy, data, y_score, score=score, label=label, pos_label=pos_label)
        source = read.source()
        above = masses_above(source, edges)
        cumulated = [sum(source.summary().totals), *(pos + neg for pos, neg in above), Fraction(0)]
        counts = np.array([int(a - b) for a, b in pairwise(cumulated)])
        added = read.labelled_rows(caller="check") if read.added else None
        labels = outcome_of(policy, source, above[place], alpha, added)
        rows, positive = source.summary().rows, int(cumulated[place + 1])
        confusion = labels.confusion.fractions()
    shift = None
    if spread is not None:
        if policy.threshold not in spread.edges:  # where one of its sides was empty: no bucket of then
            counts = np.concatenate([counts[:place], [counts[place : place + 2].sum()], counts[place + 2 :]])
        shift = shift_of(spread.masses, counts, alpha, psi, whole=spread.whole)
    then = None if policy.found_on is None else _rate(policy.found_on.confusion)
    interval = proportion_interval(positive, rows, confidence=CONFIDENCE, method="clopper_pearson")
    called = Share(then, positive / rows, interval)
    watched = None
    if state is not None:
        buckets = counts.tolist() if spread is not None and spread.whole else None
        watched = watch(policy, state, batch=batch, buckets=buckets, counts=confusion, rows=rows, alpha=alpha)
    found = Check(policy, rows, (), (), (), 0, shift, called, labels, watched, alpha)
    return replace(found, **_words(found, psi))


def _read(
    policy: Policy, data: Any, y_score: Any, *, score: str | None, label: str | None, pos_label: Any
) -> Data:
    """Return the rows, with the columns that the policy's goal adds up; arrays have none."""
    own = isinstance(data, Data) and data.pos_label is not None
    positive = pos_label if pos_label is not None or own else policy.pos_label
    if positive == 1 and not isinstance(positive, str):
        positive = None  # 0/1, booleans and -1/+1 speak for themselves
    if isinstance(data, Data):
        if not data.scores or score is not None:
            data = data.of(policy.column(score, "check"))
        if positive is not None:
            data = replace(data, pos_label=positive)
        found = as_data(data, y_score, label=label, caller="check")
    else:
        score = score if label is None else policy.column(score, "check")
        found = as_data(data, y_score, label=label, score=score, pos_label=positive, caller="check")
    try:
        goal = policy.goal()
    except CutpointError:  # not said, or a function of the user's
        return found
    return found.for_goal(goal, "check") if found.named else found


def _rate(confusion: Confusion) -> float:
    total = sum(confusion.to_dict().values())
    return float((confusion.tp + confusion.fp) / total) if total else math.nan


# --- in words


def _words(found: Check, psi: float) -> dict[str, Any]:
    """Return alarms, notes, and what cannot be told."""
    alarms, notes = _of_scores(found, psi)
    unsure: list[tuple[str, int | None]] = []
    if found.scores is not None and not found.scores.moved and found.scores.more_rows != 0:
        unsure.append(("whether the scores have moved", found.scores.more_rows))
    if found.labels is not None:
        told = _of_labels(found, found.labels)
        alarms, notes, unsure = alarms + told[0], notes + told[1], unsure + told[2]
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
        return [], ["The policy does not say how its scores were spread, so a shift cannot be seen."]
    text = f"the scores have moved (PSI {shift.psi:.3g}, limit {psi:g})"
    if watched is not None and SCORES in watched.peak:
        return ([text], []) if shift.psi >= psi and watched.refuted(SCORES) else ([], [])
    if shift.moved:
        return [text], []
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
    share = labels.prevalence
    if share.then is not None and not share.interval.low <= share.then <= share.interval.high:
        notes.append(f"The share of positives was {share.then:.4g} and is {share.now:.4g}.")
    if labels.same_data:
        notes.append("These seem to be the rows that the policy was found on: they cannot judge it.")
    return alarms, notes, unsure


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
    most = max(DROP, value.at_most_worse or 0.0)
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

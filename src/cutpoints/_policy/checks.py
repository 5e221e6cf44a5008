"""Whether a policy still does on new data what it did on the data it was found on.

Three questions, the cheapest first. Have the scores moved? That needs no labels. Do the constraints
still hold, and is the goal still reached? What would be best now, and what is lost by not moving?
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.read import Data, as_data
from cutpoints._evaluate import proportion_interval
from cutpoints._policy.counts import masses_above, rows_between
from cutpoints._policy.outcome import CONFIDENCE, Outcome, Share, outcome_of
from cutpoints._policy.shift import Shift, shift_of
from cutpoints._policy.typed_json import to_json
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._data.source import Source
    from cutpoints._policy.policy import Policy
    from cutpoints._result import Confusion


@dataclass(frozen=True, repr=False)
class Check:
    """What a policy does on new data, beside what it did.

    Attributes
    ----------
    fine : bool
        Whether nothing calls for attention: the scores have not moved, no constraint is broken, the
        objective has not fallen.
    alarms, notes : tuple of str
        What calls for attention, and what is good to know, in sentences.
    scores : Shift or None
        How far the scores have moved; None if the policy does not say how they were spread.
    called : Share
        The share of rows that is called positive, then and now.
    labels : Outcome or None
        What labels tell, if there are any.
    """

    policy: Policy
    rows: int
    alarms: tuple[str, ...]
    notes: tuple[str, ...]
    scores: Shift | None
    called: Share
    labels: Outcome | None
    alpha: float = 0.01

    @property
    def fine(self) -> bool:
        """Whether nothing calls for attention."""
        return not self.alarms

    @property
    def summary(self) -> str:
        """The verdict in a sentence."""
        if self.alarms:
            return "Attention: " + "; ".join(self.alarms) + "."
        found = []
        if self.scores is not None:
            still = self.scores.ks_p is None or self.scores.ks_p > self.alpha
            how = "have not moved" if still else "have moved a little, below the limit"
            found.append(f"the scores {how} (PSI {self.scores.psi:.3g})")
        if self.labels is not None and self.labels.constraints:
            found.append("no constraint is broken")
        if self.labels is not None and self.labels.value_now is not None:
            found.append(f"{self.policy.objective} has not fallen")
        return "Fine: " + (", ".join(found) or "nothing to compare with, nothing wrong") + "."

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form."""
        return {
            "fine": self.fine,
            "summary": self.summary,
            "alarms": list(self.alarms),
            "notes": list(self.notes),
            "policy": {"name": self.policy.name, "threshold": to_json(self.policy.threshold)},
            "rows": self.rows,
            "scores": to_json(self.scores),
            "predicted_positive_rate": to_json(self.called),
            "labels": None if self.labels is None else self.labels.to_dict(),
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
) -> Check:
    """Compare, by columns of scores and labels; see `Policy.check`."""
    policy.single("check")
    score, label = columns
    for name, given, high in (("alpha", alpha, 1.0), ("psi", psi, math.inf)):
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < high:
            must = "a number between 0 and 1" if high == 1 else "a positive number"
            raise InvalidParameterError.of(parameter=name, caller="check", must_be=must, got=given)
    spread = None if policy.found_on is None else policy.found_on.distribution
    edges = sorted({*(() if spread is None else spread.edges), policy.threshold})
    place = edges.index(policy.threshold)
    if isinstance(data, Data) and (data.weighted or data.counted):
        raise InvalidParameterError.of(
            parameter="data",
            caller="check",
            must_be="rows without weights and counts: it counts rows",
            got=data,
        )
    if y_score is None and label is None and not (isinstance(data, Data) and data.label is not None):
        counts = rows_between(policy, data, score, edges)
        labels, rows, positive = None, int(counts.sum()), int(counts[place + 1 :].sum())
    else:
        source = _source(policy, data, y_score, score=score, label=label, pos_label=pos_label)
        above = masses_above(source, edges)
        cumulated = [sum(source.summary().totals), *(pos + neg for pos, neg in above), Fraction(0)]
        counts = np.array([int(a - b) for a, b in pairwise(cumulated)])
        labels = outcome_of(policy, source, above[place], alpha)
        rows, positive = source.summary().rows, int(cumulated[place + 1])
    shift = None
    if spread is not None:
        if policy.threshold not in spread.edges:  # where one of its sides was empty: no bucket of then
            counts = np.concatenate([counts[:place], [counts[place : place + 2].sum()], counts[place + 2 :]])
        shift = shift_of(spread.masses, counts, alpha, psi, whole=spread.whole)
    then = None if policy.found_on is None else _rate(policy.found_on.confusion)
    interval = proportion_interval(positive, rows, confidence=CONFIDENCE, method="clopper_pearson")
    called = Share(then, positive / rows, interval)
    alarms, notes = _words(policy, shift, labels, psi)
    return Check(policy, rows, tuple(alarms), tuple(notes), shift, called, labels, alpha)


def _source(
    policy: Policy, data: Any, y_score: Any, *, score: str | None, label: str | None, pos_label: Any
) -> Source:
    own = isinstance(data, Data) and data.pos_label is not None
    positive = pos_label if pos_label is not None or own else policy.pos_label
    if positive == 1 and not isinstance(positive, str):
        positive = None  # 0/1, booleans and -1/+1 speak for themselves
    if isinstance(data, Data):
        if not data.scores or score is not None:
            data = data.of(policy.column(score, "check"))
        if positive is not None:
            data = replace(data, pos_label=positive)
        return as_data(data, y_score, label=label, caller="check").source()
    if label is not None:
        score = policy.column(score, "check")
    return as_data(data, y_score, label=label, score=score, pos_label=positive, caller="check").source()


def _rate(confusion: Confusion) -> float:
    total = sum(confusion.to_dict().values())
    return float((confusion.tp + confusion.fp) / total) if total else math.nan


# --- in words


def _words(
    policy: Policy, shift: Shift | None, labels: Outcome | None, psi: float
) -> tuple[list[str], list[str]]:
    alarms, notes = [], []
    if shift is None:
        notes.append("The policy does not say how its scores were spread, so a shift cannot be seen.")
    elif shift.moved:
        alarms.append(f"the scores have moved (PSI {shift.psi:.3g}, limit {psi:g})")
    elif shift.psi >= psi:
        notes.append(
            f"PSI is {shift.psi:.3g}, but so few rows give as much by chance (p = {shift.psi_p:.2g})."
        )
    if labels is None:
        return alarms, notes
    for one in labels.constraints:
        was = "" if one.then is None else f", {one.then:.4g} then"
        if one.verdict == "broken":
            alarms.append(f"{one.constraint} is broken ({one.now:.4g} now{was})")
        elif one.verdict == "not met, unsure":
            notes.append(f"{one.constraint} is not met ({one.now:.4g} now{was}); it may be chance.")
    if labels.fallen:
        alarms.append(
            f"{policy.objective} is worse by more than a tenth "
            f"({labels.value_now:.4g} now, {labels.value_then:.4g} then)"
        )
    if labels.prevalence.then is not None and not (
        labels.prevalence.interval.low <= labels.prevalence.then <= labels.prevalence.interval.high
    ):
        notes.append(
            f"The share of positives was {labels.prevalence.then:.4g} and is {labels.prevalence.now:.4g}."
        )
    if labels.same_data:
        notes.append("These seem to be the rows that the policy was found on: they cannot judge it.")
    return alarms, notes

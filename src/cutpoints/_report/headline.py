"""The decision in a sentence, with the names that readers use, and the warnings beside it.

The page says the same sentence about any other threshold, in `sentence.js`; a test compares the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cutpoints._evaluate.binary import baseline
from cutpoints._format import percent, short
from cutpoints._validate import number_in
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics import rates
from cutpoints.metrics.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cutpoints._goal import Goal
    from cutpoints._report.new_data import NewData
    from cutpoints._result import Confusion

PER_CASES = 1000
"""Money is shown per this many cases, unless the volume of a month is known."""
ROUGH_POSITIVES = 50
"""With fewer rows of a class than this, every rate of it is off by several percent."""
SHARES = {name for name, one in vars(rates).items() if isinstance(one, Metric)} | {"predicted_positive_rate"}
"""Metrics that people read as percentages."""
ROUNDING = 1e-12
"""Values of metrics closer to 0 than this are read as 0."""


@dataclass(frozen=True)
class Names:
    """What readers call things: what is looked for, what a row is, the currency; and cases per month."""

    positive: str = "positives"
    case: str = "case"
    unit: str = ""
    per_month: float | None = None

    @classmethod
    def of(
        cls, *, positive_name: str | None, case_name: str | None, unit: str | None, per_month: float | None
    ) -> Names:
        """Check the names that a user gave."""
        texts = {"positive_name": positive_name, "case_name": case_name, "unit": unit}
        for parameter, text in texts.items():
            if text is not None and not (isinstance(text, str) and text.strip()):
                raise InvalidParameterError(parameter, got=text, expected="a string", caller="report")
        if per_month is not None:
            number_in("per_month", per_month, 0, ends="()", caller="report")
        return cls(
            _plain(positive_name) or cls.positive,
            _plain(case_name) or cls.case,
            _plain(unit),
            None if per_month is None else float(per_month),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return vars(self)

    @property
    def a_case(self) -> str:
        """One case, with its article."""
        return f"{'an' if self.case[0].lower() in 'aeiou' else 'a'} {self.case}"

    def money(self, x: float) -> str:
        """Write an amount: no cents from 1,000 on, and none if there are none."""
        text = f"{x:,.0f}" if abs(x) >= 1000 or x == round(x) else f"{x:,.2f}"
        return _with_minus(f"{text} {self.unit}".rstrip())

    @property
    def volume(self) -> tuple[float, str]:
        """How many cases money is shown for, and how that is said."""
        if self.per_month is None:
            return PER_CASES, f"per {PER_CASES:,} cases"
        return self.per_month, "a month"


def _plain(text: str | None) -> str:
    """Return a name that can be written to a file: lone surrogates cannot."""
    return "" if text is None else " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def sentence(
    names: Names, confusion: Confusion, *, score: str, threshold: str, value: str, constraints: Sequence[str]
) -> str:
    """Say what a threshold does: the rule, how many it flags and finds, its value, and what holds."""
    held = f", with {' and '.join(constraints)}" if constraints else ""
    if confusion.tp + confusion.fp == 0:
        rule = f"Flag no {names.case}"
    elif confusion.fn + confusion.tn == 0:
        rule = f"Flag every {names.case}"
    else:
        rule = f"Flag {names.a_case} when {score} ≥ {threshold}"
    flagged = percent(confusion.metric("predicted_positive_rate"))
    recall = confusion.metric("recall")
    parts = [f"flags {flagged} of cases"]
    if not math.isnan(recall):
        parts.append(f"finds {percent(recall)} of {names.positive}")
    if value:
        parts.append(value)
    listed = (
        ", ".join(parts[:-1]) + (", and " if len(parts) > 2 else " and " if parts[1:] else "") + parts[-1]
    )
    return f"{rule}: this {listed}{held}."


def is_share(goal: Goal) -> bool:
    """Return whether values of the goal are shares, which people read as percentages."""
    return str(goal.expression) in SHARES


def value_text(goal: Goal, x: float) -> str:
    """Write a value of a goal that is no money."""
    x = 0.0 if abs(x) < ROUNDING else x
    return _with_minus(percent(x) if is_share(goal) else short(x))


def gap_text(goal: Goal, x: float) -> tuple[str, str]:
    """Write the difference between two values of a goal that is no money, and its unit."""
    return value_text(goal, x).removesuffix(" %"), " percentage points" if is_share(goal) else ""


def _with_minus(text: str) -> str:
    return f"\N{MINUS SIGN}{text[1:]}" if text.startswith("-") else text


def metric_value(goal: Goal, name: str, value: float, usual: float | None) -> str:
    """Say the value of a metric, and what it is at 0.5; recall is said anyway."""
    if str(goal.expression) == "recall":
        return ""
    beside = "" if usual is None or math.isnan(usual) else f" ({value_text(goal, usual)} at 0.5)"
    return f"has {name} {value_text(goal, value)}{beside}"


def money_value(names: Names, value: float, usual: float | None, *, profit: bool) -> str:
    """Say what the decisions cost or earn per case, against 0.5 if that is known.

    `value` and `usual` are costs per case; a profit is a negative cost.
    """
    if usual is not None and usual > 0 and not profit and value != usual:
        less = "less" if value < usual else "more"
        return f"costs {percent(abs(1 - value / usual))} {less} than at 0.5"
    cases, said = names.volume
    verb = "earns" if profit else "costs"
    return f"{verb} {names.money(cases * (-value if profit else value))} {said}"


def warnings_of(
    goal: Goal,
    new_data: NewData,
    confusion: Confusion,
    auc: Mapping[str, Any],
    names: Names,
    *,
    weighted: bool,
) -> list[str]:
    """Return what a reader must know before acting on the headline."""
    said = []
    for constraint, (text, here, there) in zip(goal.constraints, new_data.constraints, strict=False):
        if not math.isnan(there) and not constraint.holds(there - float(constraint.bound)):
            said.append(
                f"{text} holds on these rows ({short(here)}), but is expected to fail on new data "
                f"(about {short(there)}). Use a stricter bound"
                + ("." if constraint.expression.columns else ", or find(guarantee=0.95) for one that holds.")
            )
    counts = {names.positive: confusion.tp + confusion.fn, "negatives": confusion.fp + confusion.tn}
    for name, number in counts.items():
        if number < ROUGH_POSITIVES and not weighted:
            rows = "Only 1 row" if number == 1 else f"Only {short(number)} rows"
            said.append(f"{rows} of {name}: all numbers here are rough.")
    if auc["value"] is not None and auc["value"] + auc["error"] + _three_errors(confusion, auc) < 0.5:
        said.append(
            f"High scores belong to negatives here (area under ROC {short(auc['value'])}): "
            "check which label is positive, or negate the scores."
        )
    if str(goal.expression) in ("accuracy", "error_rate"):
        larger = float(baseline(confusion))
        if confusion.metric("accuracy") <= larger:
            said.append(
                f"Deciding the same for every case is right in {percent(larger)}, and no threshold is "
                "better: judge by precision and recall, by MCC or by a cost."
            )
    return said


def _three_errors(confusion: Confusion, auc: Mapping[str, Any]) -> float:
    """Return three standard errors of an area, by its largest possible variance."""
    fewest = min(confusion.tp + confusion.fn, confusion.fp + confusion.tn)
    return 3 * math.sqrt(auc["value"] * (1 - auc["value"]) / fewest) if fewest >= 1 else math.inf

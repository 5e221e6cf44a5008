"""The summary: everything that a page says, as one dict; `--json` prints it.

Its form is described by ``docs/report.schema.json``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._assess.run import NEAR
from cutpoints._curve import split_loss
from cutpoints._format import json_number, percent, shortest_inside
from cutpoints._goal import Goal
from cutpoints._kernel.weights import as_number as number
from cutpoints._policy.typed_json import LONGEST_TEXT
from cutpoints._report.cuts import (
    DRAWN_CUTS,
    LISTED_TIES,
    ModelCuts,
    area,
    find_cuts,
    histogram,
    reliability,
    thin,
)
from cutpoints._report.formula import formula
from cutpoints._report.headline import (
    Names,
    gap_text,
    is_share,
    metric_value,
    money_value,
    sentence,
    value_text,
    warnings_of,
)
from cutpoints._report.new_data import NewData, on_new_data
from cutpoints._version import __version__
from cutpoints.exceptions import InfeasibleError
from cutpoints.metrics.columns import RowSum, RowValue
from cutpoints.metrics.metric import Metric
from cutpoints.metrics.registry import get

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._kernel.cuts import Cuts
    from cutpoints._result import Solution

VERSION = 1
"""The version of the form of the summary."""
USUAL = 0.5
"""The default threshold of most classifiers."""
TILES = (
    "precision",
    "recall",
    "specificity",
    "f1",
    "accuracy",
    "balanced_accuracy",
    "mcc",
    "predicted_positive_rate",
)
"""The metrics of the tiles and of the table; the page computes them itself, in the same words."""
NAMELESS = "model"
"""A model whose scores came as an array, without a name."""
ALTERNATIVES = {
    "f1": "Best F1",
    "mcc": "Best MCC",
    "youden_j": "Best Youden's J",
    "accuracy": "Best accuracy",
}
_ALL_DRAWN = 5 * DRAWN_CUTS
"""Cuts drawn for all models together, so that the page stays small with many models."""
_FEW_MODELS = 4
"""Up to this many models the policies of all solutions are in the page; with more, those of the optima."""


@dataclass(frozen=True)
class ModelSummary:
    """One model: its name, its cuts, the best threshold, and what to expect of it on new data."""

    name: str
    score: str | None
    """The column of its scores, if they came by name."""
    place: int
    """Which of the given models it is."""
    cuts: ModelCuts
    new_data: NewData

    @property
    def shown(self) -> str:
        """What the rule calls its scores."""
        return "score" if self.name == NAMELESS else self.name

    @property
    def solution(self) -> Solution:
        """The best threshold for the goal."""
        found = self.cuts.solutions[0]
        assert found is not None
        return found


def look(
    sources: Mapping[str, Source], goal: Goal, *, named: bool, weighted: bool, random_state: int
) -> tuple[list[ModelSummary], dict[str, str]]:
    """Search every model; return those with a threshold, and for the others what is in the way."""
    goals = [goal, *(Goal(get(name), "maximize") for name in ALTERNATIVES if not _is(goal, name))]
    found, without = [], {}
    first: InfeasibleError | None = None
    for place, (name, source) in enumerate(sources.items()):
        try:
            cuts = find_cuts(source, goals, USUAL)
        except InfeasibleError as error:
            without[name] = error.facts
            first = first or error
            continue
        judged = on_new_data(source, goal, cuts, weighted=weighted, random_state=random_state)
        found.append(ModelSummary(name, name if named else None, place, cuts, judged))
    if not found:
        assert first is not None
        raise first
    return found, without


def ranked(models: Sequence[ModelSummary], goal: Goal) -> list[ModelSummary]:
    """Return the models, best first; equal ones in the order in which they were given."""
    return sorted(models, key=lambda model: -goal.sign * (model.solution.value or 0.0))


def is_money(goal: Goal) -> bool:
    """Return whether the goal is a cost or a profit, and better if it is lower or higher."""
    own = goal.expression
    wanted = {"cost": "minimize", "cost_per_row": "minimize", "profit": "maximize"}
    return isinstance(own, Metric | RowSum) and wanted.get(own.name) == goal.direction


def per_row(goal: Goal) -> bool:
    """Return whether a goal that is money is per row, not a total."""
    return str(goal.expression).startswith("cost_per_row")


def summarize(
    models: Sequence[ModelSummary],
    without: Mapping[str, str],
    goal: Goal,
    *,
    title: str,
    label: str | None,
    weight: str | None,
    pos_label: Any,
    weighted: bool,
    names: Names,
    verdict: str | None = None,
) -> dict[str, Any]:
    """Return the summary of models that were searched."""
    best = ranked(models, goal)[0]
    summary = best.cuts.summary
    positives, negatives = summary.totals
    share = positives / (positives + negatives) if positives + negatives else Fraction(0)
    most = max(200, min(DRAWN_CUTS, _ALL_DRAWN // len(models)))
    few = len(models) <= _FEW_MODELS
    costs = _costs(goal, positives, negatives)
    columns = {"label": label, "pos_label": pos_label}
    shown = [
        _model(model, goal, most, columns, few=few, weighted=weighted)
        | {
            "sentence": _decision(model, goal, names, costs),
            "expectation": _expectation(model, goal, names, costs),
            "loss": _loss(model, goal, names, costs),
            "warnings": _warnings(model, goal, names, weighted=weighted),
        }
        for model in models
    ]
    told = shown[models.index(best)]
    return {
        "format": "cutpoints report",
        "format_version": VERSION,
        "cutpoints": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": title,
        "sentence": " ".join(filter(None, (told["sentence"], told["expectation"]))),
        "verdict": verdict,
        "names": names.to_dict(),
        "goal": {
            "text": str(goal),
            "name": display(goal),
            "objective": str(goal.expression),
            "direction": goal.direction,
            "share": is_share(goal),
            "constraints": [str(one) for one in goal.constraints],
            "formula": formula(goal.expression),
            "bounds": [
                {
                    "formula": formula(one.plain.expression),
                    "relation": one.plain.relation,
                    "bound": float(one.plain.bound),
                }
                for one in goal.constraints
            ],
        },
        "costs": costs,
        "data": {
            "label": label,
            "weight": weight,
            "positive_label": None if pos_label is None else str(pos_label),
            "rows": summary.rows,
            "positives": number(positives),
            "negatives": number(negatives),
            "prevalence": float(share),
            "weighted": weighted,
        },
        "best_model": best.name,
        "models": shown,
        "infeasible": [{"name": name, "reason": reason} for name, reason in without.items()],
    }


def _decision(model: ModelSummary, goal: Goal, names: Names, costs: Mapping[str, Any]) -> str:
    """Say the decision in a sentence."""
    solution, confusion = model.solution, model.solution.confusion
    assert solution.interval is not None
    assert solution.value is not None
    assert confusion is not None
    usual = model.cuts.value(goal.expression, USUAL) if model.cuts.probabilities else None
    if costs["goal"]:
        here = _cost_per_case(goal, model, solution.value)
        beside = None if usual is None else _cost_per_case(goal, model, usual)
        value = money_value(names, here, beside, profit=costs["profit"])
    else:
        value = metric_value(goal, display(goal), solution.value, usual)
    shown = shortest_inside(solution.interval.low, solution.interval.high)
    return sentence(
        names,
        confusion,
        score=model.shown,
        threshold=shown,
        value=value,
        constraints=solution.constraints,
    )


def _expectation(model: ModelSummary, goal: Goal, names: Names, costs: Mapping[str, Any]) -> str:
    """Say what to expect on new data; empty if that is not known."""
    expected = model.new_data.value
    if math.isnan(expected):
        return ""
    if not costs["goal"]:
        return f"Expect {display(goal)} of about {value_text(goal, expected)} on new data."
    per_case = _cost_per_case(goal, model, expected) * (-1 if costs["profit"] else 1)
    cases, said = names.volume
    verb = "earn" if costs["profit"] else "pay"
    return f"Expect to {verb} about {names.money(cases * per_case)} {said} on new data."


def _loss(model: ModelSummary, goal: Goal, names: Names, costs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Split what 0.5 loses; None unless all cuts of probabilities of both classes are known."""
    known = model.cuts
    if not (known.complete and known.probabilities and all(known.summary.totals)):
        return None
    loss = split_loss(known.edges, goal, USUAL, model.solution)
    if not math.isfinite(loss.total):
        return None
    if costs["goal"]:
        what, when = "Using 0.5", f" {names.volume[1]}"
    else:
        what, when = f"At 0.5, {display(goal)}", gap_text(goal, 0)[1]

    def shown(x: float) -> str:
        if not costs["goal"]:
            return gap_text(goal, x)[0]
        return names.money(names.volume[0] * abs(_cost_per_case(goal, model, x)))

    parts = {"the threshold": loss.threshold, "calibration": loss.calibration, "ranking": loss.ranking}
    told = [f"{shown(x)} by {name}" for name, x in parts.items() if x is not None]
    text = f"{what} loses {shown(loss.total)}{when}: {', '.join(told)}, which only a better model repairs."
    return loss.to_dict() | {"sentence": text}


def display(goal: Goal) -> str:
    """Return what people call the objective."""
    name = str(goal.expression)
    known = {"f1": "F1", "mcc": "MCC", "youden_j": "Youden's J", "npv": "NPV", "fpr": "FPR", "fnr": "FNR"}
    return known.get(name, name.replace("_", " ") if name.isidentifier() else name)


def _model(
    model: ModelSummary,
    goal: Goal,
    most: int,
    columns: dict[str, Any],
    *,
    few: bool,
    weighted: bool,
) -> dict[str, Any]:
    known, solution = model.cuts, model.solution
    # A policy's name is a text of a bounded length; a model's may be anything.
    title = model.name.replace("\0", "")[:LONGEST_TEXT] or None
    deployable = {"name": title, "score": model.score, **columns}
    points = _operating_points(known, goal, deployable, few=few)
    index = [known.index_at(point["at"]) for point in points]
    around = [i + step for i in index for step in (-1, 0, 1)]
    hull = known.hull
    every_vertex = len(hull) + len(around) <= most // 2
    drawn = thin(known.cuts, [*around, *(hull if every_vertex else ())], most)
    place = {int(k): i for i, k in enumerate(drawn)}
    for point, at in zip(points, index, strict=True):
        del point["at"]
        point["cut"] = place[at]
    return {
        "name": model.name,
        "score": model.shown,
        "scores": {
            "low": json_number(known.summary.low),
            "high": json_number(known.summary.high),
            "probabilities": known.probabilities,
        },
        "solution": solution.to_dict(),
        "new_data": model.new_data.to_dict(),
        "auc": area(known),
        "operating_points": points,
        "cuts": _cuts(known.cuts[drawn], goal)
        | {
            "complete": known.complete and len(drawn) == len(known.cuts),
            "hull": [place[int(k)] for k in hull if int(k) in place],
            "hull_exact": known.complete and every_vertex,
        },
        "histogram": histogram(known),
        "reliability": reliability(known, weighted=weighted),
    }


def _operating_points(
    known: ModelCuts, goal: Goal, deployable: dict[str, Any], *, few: bool
) -> list[dict[str, Any]]:
    """Return the thresholds worth talking about; `at` is the cut of each.

    Those that are solutions carry their policy; the page makes the others from that of the optimum.
    """
    best, *others = known.solutions
    assert best is not None
    assert best.interval is not None
    assert best.value is not None
    found = [_point("optimum", "Best for the goal", best.interval.high, known, goal)]
    found[0]["policy"] = best.policy(**deployable).to_dict()
    for i, tie in enumerate(best.ties[:LISTED_TIES]):
        found.append(_point(f"tie-{i + 1}", "Just as good (tie)", tie.threshold, known, goal))
    names = [name for name in ALTERNATIVES if not _is(goal, name)]
    for name, other in zip(names, others, strict=True):
        if other is not None and other.interval is not None:
            key, text = f"best-{name}", ALTERNATIVES[name]
            found.append(_point(key, text, other.interval.high, known, goal))
            found[-1]["policy"] = other.policy(**deployable).to_dict() if few else None
    for key, text, threshold in _near(known, goal, best.value):
        if all(threshold != point["at"] for point in found):
            found.append(_point(key, text, threshold, known, goal))
    if known.probabilities:
        found.insert(1 + min(len(best.ties), LISTED_TIES), _point("usual", "0.5", USUAL, known, goal))
    return found


def _point(key: str, text: str, threshold: float, known: ModelCuts, goal: Goal) -> dict[str, Any]:
    at = known.index_at(threshold)
    counts = known.cuts.confusion(at)
    return {
        "at": threshold,
        "key": key,
        "name": text,
        "threshold": json_number(threshold),
        "confusion": {name: number(count) for name, count in counts.items()},
        "value": json_number(known.cuts.value(goal.expression, at)),
        "meets_constraints": bool(known.cuts[at : at + 1].feasible(goal.constraints)[0]),
        "metrics": {name: json_number(get(name).rounded(**counts)) for name in TILES},
        "policy": None,
    }


def _near(known: ModelCuts, goal: Goal, best: float) -> list[tuple[str, str, float]]:
    """Return the highest and the lowest threshold that are nearly as good as the best."""
    cuts = known.cuts
    values = cuts.values(goal.expression)
    with np.errstate(invalid="ignore"):
        near = goal.sign * (values - best) >= -NEAR * abs(best)
    index = np.flatnonzero(near & ~np.isnan(values) & cuts.feasible(goal.constraints))
    if len(index) == 0:
        return []
    return [
        (key, f"{word} within {percent(NEAR)} of the best", float(cuts.thresholds[at]))
        for key, word, at in (("near-high", "Highest", index[0]), ("near-low", "Lowest", index[-1]))
    ]


def _cuts(cuts: Cuts, goal: Goal) -> dict[str, Any]:
    """Return the drawn cuts as columns, thresholds descending."""
    number = cuts.summary.grid.number
    found: dict[str, Any] = {
        "threshold": [json_number(float(t)) for t in cuts.thresholds],
        "shown": [
            shortest_inside(float(low), float(high))
            for low, high in zip(cuts.below, cuts.thresholds, strict=True)
        ],
        "tp": [number(x) for x in cuts.tp.tolist()],
        "fp": [number(x) for x in cuts.fp.tolist()],
        "value": _listed(cuts.values(goal.expression)),
        "money": money(cuts, goal),
    }
    feasible = cuts.feasible(goal.constraints)
    found["feasible"] = None if feasible.all() else [bool(x) for x in feasible]
    return found


def money(cuts: Cuts, goal: Goal) -> dict[str, list[Any]]:
    """Return what the rows of each cell cost in all, at each cut, where that differs from row to row."""
    own = goal.expression
    if not (isinstance(own, RowSum) and is_money(goal)):
        return {}
    one_cell = {name: {name: -goal.sign * value} for name, value in own.worth.items() if value.terms}
    return {
        name: _listed(cuts.values(replace(own, worth=worth, per_row=False)))
        for name, worth in one_cell.items()
    }


def _listed(values: NDArray[np.float64]) -> list[Any]:
    return [json_number(float(x)) for x in values]


def _is(goal: Goal, name: str) -> bool:
    return goal.direction == "maximize" and not goal.constraints and str(goal.expression) == name


def _costs(goal: Goal, positives: Fraction, negatives: Fraction) -> dict[str, Any]:
    """Return what the page's fields start with, and whether these costs are the goal itself.

    The costs of a goal that is a cost or a profit; those that a linear goal amounts to; otherwise 1 and 1.
    A cost that differs from row to row is None, and `columns` has its text: as a cost, and as it is shown.
    """
    found: dict[str, Any] = {"tp": 0.0, "fp": 1.0, "fn": 1.0, "tn": 0.0}
    own = goal.expression
    if is_money(goal):
        assert isinstance(own, Metric | RowSum)
        profit, sign = own.name == "profit", -1 if own.name == "profit" else 1
        if isinstance(own, RowSum):
            worth, review = {name: sign * value for name, value in own.worth.items()}, None
        else:
            given = dict(own.parameters)
            worth = {name: RowValue(constant=sign * given.get(name, Fraction(0))) for name in found}
            review = sign * given["review"] if "review" in given else None
        return {
            **{name: None if value.terms else float(value.constant) for name, value in worth.items()},
            "columns": {
                name: {"cost": str(value), "shown": str(value * (sign if name in ("tp", "tn") else 1))}
                for name, value in worth.items()
                if value.terms
            },
            "review": None if review is None else float(review),
            "goal": True,
            "profit": profit,
        }
    form = goal.expression.linear_fractional(positives, negatives)
    if form is not None and form.is_linear and form.denominator[0]:
        per_hit, per_alarm = (goal.sign * change / form.denominator[0] for change in form.numerator[1:])
        miss, alarm = per_hit, -per_alarm
        if miss > 0 and alarm > 0:
            least = min(miss, alarm)
            found |= {"fp": float(alarm / least), "fn": float(miss / least)}
    return found | {"columns": {}, "review": None, "goal": False, "profit": False}


def _cost_per_case(goal: Goal, model: ModelSummary, value: float) -> float:
    """Return what a case costs at a value of the goal, which is money; a profit is a negative cost."""
    rows = 1.0 if per_row(goal) else float(sum(model.cuts.summary.totals))
    return -goal.sign * value / rows


def _warnings(model: ModelSummary, goal: Goal, names: Names, *, weighted: bool) -> list[str]:
    confusion = model.solution.confusion
    assert confusion is not None
    return warnings_of(goal, model.new_data, confusion, area(model.cuts), names, weighted=weighted)

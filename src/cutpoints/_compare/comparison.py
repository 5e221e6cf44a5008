"""What a comparison found: each model at its best threshold, tests, and the hull over all models."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from cutpoints._curve import Table
from cutpoints._curve.hull import sentence
from cutpoints._equality import compared_by_value
from cutpoints._evaluate import evaluate_cut
from cutpoints._format import (
    exact,
    html_pairs,
    json_form,
    json_number,
    p_value,
    short,
    text_pairs,
    value,
)
from cutpoints._search.hulls import chain
from cutpoints._validate import one_of
from cutpoints.exceptions import InfeasibleError, InvalidParameterError
from cutpoints.metrics._arithmetic import as_fraction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from cutpoints._compare.significance import DeLong, McNemar, PairedBootstrap
    from cutpoints._curve import Curve
    from cutpoints._goal import Goal
    from cutpoints._result import Confusion, Interval, Solution
    from cutpoints.metrics.expression import Constraint

SHOWN = ("accuracy", "precision", "recall", "f1")


class Improvement(NamedTuple):
    """From one value to another: the difference, and the difference as a share of the first."""

    absolute: float
    relative: float


def improvement(before: float, after: float) -> Improvement:
    """Return how much better `after` is; relative to 0 it is infinite, and NaN from 0 to 0.

    Numbers are read as the decimals that they are.

    Examples
    --------
    >>> from cutpoints._compare import improvement
    >>> improvement(0.8, 0.9)
    Improvement(absolute=0.1, relative=0.125)
    """
    if not (math.isfinite(before) and math.isfinite(after)):
        return Improvement(after - before, math.nan)
    change = as_fraction(after) - as_fraction(before)
    if before:
        return Improvement(float(change), float(change / as_fraction(before)))
    return Improvement(float(change), math.copysign(math.inf, change) if change else math.nan)


@compared_by_value
@dataclass(frozen=True)
class Entry:
    """One model: its best threshold for the goal and what that does; without a value if infeasible."""

    name: str
    value: float | None
    confusion: Confusion | None
    exact: Fraction | float | None
    solution: Solution | None = None
    auc: float = math.nan
    auc_interval: Interval | None = None

    @property
    def threshold(self) -> float | None:
        """The best threshold; None for a bare confusion, or if the constraints cannot be met."""
        return None if self.solution is None else self.solution.threshold

    @property
    def interval(self) -> Interval | None:
        """All thresholds that make the same decisions."""
        return None if self.solution is None else self.solution.interval

    def to_dict(self, step: Improvement) -> dict[str, Any]:
        """Return the JSON form, with the improvement over another model."""
        metrics = {} if self.confusion is None else evaluate_cut(self.confusion).metrics
        return {
            "name": self.name,
            "status": "infeasible" if self.value is None else "optimal",
            "threshold": json_number(self.threshold),
            "value": json_number(self.value),
            "improvement": {"absolute": json_number(step.absolute), "relative": json_number(step.relative)},
            "confusion": self.confusion and self.confusion.to_dict(),
            "metrics": {k: json_number(v) for k, v in metrics.items()} or None,
            "auc": json_number(self.auc),
            "auc_interval": self.auc_interval and self.auc_interval.to_dict(),
        }


@compared_by_value
class PairedTest(NamedTuple):
    """The winner against another model on the same rows, both at their best thresholds."""

    first: str
    second: str
    auc_difference: float
    auc_interval: Interval | None
    auc_p_value: float | None
    mcnemar: McNemar
    bootstrap: PairedBootstrap

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {name: json_form(one) for name, one in self._asdict().items()}


@compared_by_value
@dataclass(frozen=True)
class JointHull:
    """The upper hull of the ROC curves of several models on the same rows.

    Attributes
    ----------
    models : list of tuple of str
        Which models have a threshold at each vertex.
    thresholds : list of tuple of float
        At which thresholds.
    fpr, tpr : ndarray
        The vertices.
    low, high : ndarray
        Each vertex is best while a false alarm costs between `low` and `high` misses.
    area : float
    """

    models: list[tuple[str, ...]]
    thresholds: list[tuple[float, ...]]
    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    area: float

    def table(self) -> Table:
        """Return one row per vertex, with a sentence that says for which costs to use it."""
        names = [" = ".join(owners) for owners in self.models]
        parts = zip(names, self.thresholds, self.low, self.high, strict=True)
        uses = [
            sentence(exact(t[0]), low, high).replace("use ", f"use {name} at ", 1)
            for name, t, low, high in parts
        ]
        return Table(
            {
                "model": np.array(names),
                "threshold": np.array([t[0] for t in self.thresholds]),
                "fpr": self.fpr,
                "tpr": self.tpr,
                "low": self.low,
                "high": self.high,
                "use": np.array(uses),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        table = self.table()
        vertices = [
            {"models": list(owners)}
            | {key: json_number(float(table[key][i])) for key in ("threshold", "fpr", "tpr", "low", "high")}
            | {"use": str(table["use"][i])}
            for i, owners in enumerate(self.models)
        ]
        return {"area": self.area, "vertices": vertices}


def joint_hull(curves: Mapping[str, Curve]) -> JointHull:
    """Return the hull over all models; exact, from the vertices of each."""
    # Models may count in different units (weights); fractions are common to all.
    owners: dict[tuple[Fraction, Fraction], list[tuple[str, float]]] = {}
    for name, curve in curves.items():
        hull = curve.hull()
        for point, threshold in zip(hull.masses(), hull.thresholds, strict=True):
            owners.setdefault(point, []).append((name, float(threshold)))
    points = sorted(owners)
    # Ascending in FP; of equal FP only the highest TP can be on the upper hull.
    kept = [points[i] for i in chain(points)]
    negatives, positives = kept[-1][0], max(tp for _, tp in kept)
    turns: list[Fraction | float] = [math.inf]
    for (f0, t0), (f1, t1) in pairwise(kept):
        turns.append(math.inf if f1 == f0 else (t1 - t0) / (f1 - f0))
    turns.append(Fraction(0))
    twice = sum(((t0 + t1) * (f1 - f0) for (f0, t0), (f1, t1) in pairwise(kept)), Fraction(0))
    return JointHull(
        [tuple(name for name, _ in owners[p]) for p in kept],
        [tuple(t for _, t in owners[p]) for p in kept],
        np.array([float(fp / negatives) for fp, _ in kept]),
        np.array([float(tp / positives) for _, tp in kept]),
        np.array([float(x) for x in turns[1:]]),
        np.array([float(x) for x in turns[:-1]]),
        float(twice / (2 * positives * negatives)),
    )


@compared_by_value
@dataclass(frozen=True, repr=False)
class Comparison:
    """Several models for one goal.

    Attributes
    ----------
    entries : dict of str to Entry
        Each model with its threshold, value and confusion, in the order in which they were given.
    ranking : list of str
        Best first; models that cannot meet the constraints are left out.
    winners : tuple of str
        The best, and all that are exactly as good.
    baseline : float
        q0: the accuracy of always naming the larger class. NaN if the confusions disagree on it.
    warnings : tuple of str
    """

    goal: Goal
    entries: dict[str, Entry]
    ranking: list[str]
    winners: tuple[str, ...]
    baseline: float
    warnings: tuple[str, ...]
    confidence: float = 0.95
    curves: dict[str, Curve] = field(default_factory=dict)
    delong: DeLong | None = None
    tests: tuple[PairedTest, ...] = ()

    @property
    def status(self) -> Literal["optimal", "infeasible"]:
        """Whether any model meets the constraints."""
        return "optimal" if self.winners else "infeasible"

    @property
    def winner(self) -> str:
        """The best model; the first given among equals. Raises `InfeasibleError` if there is none."""
        self.raise_if_infeasible()
        return self.winners[0]

    @property
    def verdict(self) -> str:
        """Whether the best model is really better, in a sentence: by how much, and how sure that is."""
        if not self.winners:
            return "No model meets the constraints."
        name, best = str(self.goal.expression), self.entries[self.winners[0]]
        assert best.value is not None
        if len(self.entries) == 1:
            return f"{best.name} has {name} {short(best.value)}; there is no other model."
        if len(self.winners) > 1:
            return f"{' and '.join(self.winners)} are equally good: {name} {short(best.value)}."
        others = self.ranking[1:]
        if not others:
            return f"Only {best.name} meets the constraints: {name} {short(best.value)}."
        if not self.tests:
            value = short(self.entries[others[0]].value or 0.0)
            return (
                f"{best.name} has the best {name}, {short(best.value)} against {value} of {others[0]}; "
                "whether that is chance was not tested."
            )
        close = self._close
        test = close[0] if close else self.tests[0]
        low, high = sorted(abs(x) if not close else self.goal.sign * x for x in test.bootstrap.interval)
        more = "higher" if self.goal.sign > 0 else "lower"
        interval = f"{self.confidence * 100:g} % interval {short(low)} to {short(high)}"
        gap = f"{name} is {short(abs(test.bootstrap.difference))} {more}, {interval}"
        if not close:
            rest = " and than the other models" if len(others) > 1 else ""
            return f"{best.name} is better than {test.second}{rest}: {gap}."
        names = " and ".join(one.second for one in close)
        return f"{best.name} cannot be told apart from {names} on these rows: {gap}."

    @property
    def _close(self) -> list[PairedTest]:
        """The tests against models that may be as good: the interval of the difference reaches zero."""
        return [
            test
            for test in self.tests
            if not (
                test.bootstrap.interval.low > 0 if self.goal.sign > 0 else test.bootstrap.interval.high < 0
            )
        ]

    def facts(self) -> list[tuple[str, str]]:
        """Return the goal, who is best, and the verdict; a winner is called so only if it is one."""
        names = ", ".join(self.winners) or "none meets the constraints"
        if len(self.winners) > 1:
            names += " (equal)"
        best = "best here" if self._close else "winner"
        facts = [("goal", str(self.goal)), (best, names), ("verdict", self.verdict)]
        if str(self.goal.expression) in ("accuracy", "error_rate"):
            facts.append(("baseline", f"accuracy {value(self.baseline)} by always naming the larger class"))
        return facts

    def raise_if_infeasible(self) -> Comparison:
        """Return itself, or raise `InfeasibleError` with the best that any model attains."""
        if self.winners:
            return self
        attainable: dict[str, tuple[float, float]] = {}
        for constraint in self.goal.constraints:
            best = [self._attainable(entry, constraint) for entry in self.entries.values()]
            known = [b for b in best if not math.isnan(b[0])] or [(math.nan, math.nan)]
            attainable[str(constraint)] = (max if constraint.wants_high else min)(known)
        raise InfeasibleError.of(attainable=attainable)

    def _attainable(self, entry: Entry, constraint: Constraint) -> tuple[float, float]:
        if entry.solution is None:
            assert entry.confusion is not None
            return entry.confusion.metric(constraint.expression), math.nan
        found = next(a for a in entry.solution.attainable if a.constraint == str(constraint))
        return found.value, found.threshold

    @cached_property
    def hull(self) -> JointHull:
        """The hull over all ROC curves, and which model owns which part of it."""
        if not self.curves:
            raise InvalidParameterError(
                "models", got="confusions", expected="given as scores, not as confusions", caller="hull"
            )
        return joint_hull(self.curves)

    def improvements(self, over: str | None = None) -> dict[str, Improvement]:
        """Return how much better each model's value is than that of `over` (the first model by default).

        For a goal that is minimized an improvement is a fall: positive numbers are better.
        """
        if over is None:
            over = next(iter(self.entries))
        one_of("over", over, self.entries, caller="improvements")
        reference = self.entries[over]
        found = {}
        for name, entry in self.entries.items():
            if entry.value is None or reference.value is None:
                found[name] = Improvement(math.nan, math.nan)
                continue
            step = improvement(reference.value, entry.value)
            found[name] = Improvement(*(self.goal.sign * x + 0.0 for x in step))
        return found

    def table(self) -> Table:
        """Return one row per model: threshold, value, improvement over the first, rates, AUC."""
        entries = list(self.entries.values())
        steps = self.improvements()
        columns: dict[str, NDArray[Any]] = {"model": np.array([e.name for e in entries])}
        if self.curves:
            columns["threshold"] = _column(e.threshold for e in entries)
        columns[str(self.goal.expression)] = _column(e.value for e in entries)
        columns["better by"] = _column(steps[e.name].absolute for e in entries)
        columns["relative"] = _column(steps[e.name].relative for e in entries)
        for name in SHOWN:
            if name not in columns:
                columns[name] = _column(
                    None if e.confusion is None else e.confusion.metric(name) for e in entries
                )
        if self.curves:
            columns["auc"] = _column(e.auc for e in entries)
        if self.delong is not None:
            columns["auc low"] = _column(e.auc_interval and e.auc_interval.low for e in entries)
            columns["auc high"] = _column(e.auc_interval and e.auc_interval.high for e in entries)
        return Table(columns, _column(e.interval and e.interval.low for e in entries))

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        steps = self.improvements()
        shown: dict[str, Any] = {
            "status": self.status,
            "objective": str(self.goal.expression),
            "direction": self.goal.direction,
            "constraints": [str(c) for c in self.goal.constraints],
            "winners": list(self.winners),
            "verdict": self.verdict,
            "ranking": self.ranking,
            "baseline": json_number(self.baseline),
            "confidence": self.confidence,
            "models": [entry.to_dict(steps[entry.name]) for entry in self.entries.values()],
            "tests": [test.to_dict() for test in self.tests],
            "warnings": list(self.warnings),
            "hull": None,
        }
        if self.curves and not any(math.isnan(e.auc) for e in self.entries.values()):
            shown["hull"] = self.hull.to_dict()
        return shown

    def _repr_html_(self) -> str:
        """Show the verdict and the models in a notebook."""
        return html_pairs(self.facts()) + self.table()._repr_html_()

    def __repr__(self) -> str:
        lines = [text_pairs(self.facts()), "", str(self.table())]
        for test in self.tests:
            low, high = map(short, test.bootstrap.interval)
            chance = "" if test.auc_p_value is None else f" ({p_value(test.auc_p_value)})"
            lines.append(
                f"{test.first} against {test.second}: "
                f"difference {short(test.bootstrap.difference)} [{low}, {high}], "
                f"AUC difference {short(test.auc_difference)}{chance}, "
                f"McNemar {p_value(test.mcnemar.p_value)}"
            )
        return "\n".join(lines)


def _column(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([math.nan if v is None else v for v in values], dtype=np.float64)

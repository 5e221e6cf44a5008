"""What a comparison found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from cutpoints._compare.hull import JointHull, joint_hull
from cutpoints._curve import Table
from cutpoints._evaluate import evaluate_cut
from cutpoints._result import json_number
from cutpoints.exceptions import InfeasibleError, InvalidParameterError
from cutpoints.metrics._arithmetic import as_fraction, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._compare.auc_tests import DeLong
    from cutpoints._compare.paired_tests import Bootstrap, McNemar
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
    return Improvement(float(change), float(ratio(change, as_fraction(before))))


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


class PairedTest(NamedTuple):
    """The winner against another model on the same rows, both at their best thresholds."""

    first: str
    second: str
    auc_difference: float
    auc_interval: Interval
    auc_p_value: float
    mcnemar: McNemar
    bootstrap: Bootstrap


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
        """The hull over all ROC curves, and who owns which part of it."""
        if not self.curves:
            raise InvalidParameterError.of(
                parameter="models",
                caller="hull",
                must_be="given as scores, not as confusions",
                got="confusions",
            )
        return joint_hull(self.curves)

    def improvements(self, over: str | None = None) -> dict[str, Improvement]:
        """Return how much better each model's value is than that of `over` (the first model by default).

        For a goal that is minimised an improvement is a fall: positive numbers are better.
        """
        if over is not None and over not in self.entries:
            raise InvalidParameterError.of(
                parameter="over",
                caller="improvements",
                must_be=f"one of the models {', '.join(map(repr, self.entries))}",
                got=over,
            )
        reference = self.entries[over if over is not None else next(iter(self.entries))]
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
            columns["threshold"] = _column([e.threshold for e in entries])
        columns[str(self.goal.expression)] = _column([e.value for e in entries])
        columns["better by"] = _column([steps[e.name].absolute for e in entries])
        columns["relative"] = _column([steps[e.name].relative for e in entries])
        for name in SHOWN:
            if name not in columns:
                columns[name] = _column(
                    [None if e.confusion is None else e.confusion.metric(name) for e in entries]
                )
        if self.curves:
            columns["auc"] = _column([e.auc for e in entries])
            if self.delong is not None:
                columns["auc low"] = _column(
                    [e.auc_interval.low if e.auc_interval else None for e in entries]
                )
                columns["auc high"] = _column(
                    [e.auc_interval.high if e.auc_interval else None for e in entries]
                )
        return Table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        steps = self.improvements()
        shown: dict[str, Any] = {
            "status": self.status,
            "objective": str(self.goal.expression),
            "direction": self.goal.direction,
            "constraints": [str(c) for c in self.goal.constraints],
            "winners": list(self.winners),
            "ranking": self.ranking,
            "baseline": json_number(self.baseline),
            "confidence": self.confidence,
            "models": [self._model(entry, steps[entry.name]) for entry in self.entries.values()],
            "tests": [_test(test) for test in self.tests],
            "warnings": list(self.warnings),
            "hull": None,
        }
        if self.curves and not any(math.isnan(e.auc) for e in self.entries.values()):
            table = self.hull.table()
            keys = ("threshold", "fpr", "tpr", "low", "high")
            shown["hull"] = {
                "area": self.hull.area,
                "vertices": [
                    {"models": list(self.hull.models[i])}
                    | {key: json_number(float(table[key][i])) for key in keys}
                    | {"use": str(table["use"][i])}
                    for i in range(len(self.hull.models))
                ],
            }
        return shown

    def _model(self, entry: Entry, step: Improvement) -> dict[str, Any]:
        interval = entry.auc_interval
        return {
            "name": entry.name,
            "status": "infeasible" if entry.value is None else "optimal",
            "threshold": json_number(entry.threshold),
            "value": json_number(entry.value),
            "improvement": {"absolute": json_number(step.absolute), "relative": json_number(step.relative)},
            "confusion": None if entry.confusion is None else entry.confusion.to_dict(),
            "metrics": None
            if entry.confusion is None
            else {k: json_number(v) for k, v in evaluate_cut(entry.confusion).metrics.items()},
            "auc": json_number(entry.auc),
            "auc_interval": None if interval is None else interval.to_dict(),
        }

    def __repr__(self) -> str:
        lines = [f"goal      {self.goal}"]
        if len(self.winners) > 1:
            lines.append(f"winners   {', '.join(self.winners)} (equal)")
        else:
            lines.append(f"winner    {self.winners[0] if self.winners else 'none meets the constraints'}")
        lines += [
            f"baseline  accuracy {self.baseline:.4g} by always naming the larger class",
            "",
            str(self.table()),
        ]
        for test in self.tests:
            boot = test.bootstrap
            lines.append(
                f"{test.first} against {test.second}: "
                f"difference {boot.difference:.4g} [{boot.interval.low:.4g}, {boot.interval.high:.4g}], "
                f"AUC difference {test.auc_difference:.4g} (p = {test.auc_p_value:.3g}), "
                f"McNemar p = {test.mcnemar.p_value:.3g}"
            )
        return "\n".join(lines)


def _column(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([math.nan if v is None else v for v in values], dtype=np.float64)


def _test(test: PairedTest) -> dict[str, Any]:
    boot = test.bootstrap
    return {
        "first": test.first,
        "second": test.second,
        "auc_difference": json_number(test.auc_difference),
        "auc_interval": test.auc_interval.to_dict(),
        "auc_p_value": json_number(test.auc_p_value),
        "mcnemar": {
            "only_first": test.mcnemar.only_first,
            "only_second": test.mcnemar.only_second,
            "p_value": test.mcnemar.p_value,
        },
        "bootstrap": {
            "difference": json_number(boot.difference),
            "interval": boot.interval.to_dict(),
            "share_above": json_number(boot.share_above),
            "n_bootstrap": boot.n_bootstrap,
        },
    }

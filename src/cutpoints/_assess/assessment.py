"""The result of `assess`, and how it is shown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._equality import compared_by_value
from cutpoints._format import count, html_pairs, json_form, json_number, percent, short, text_pairs
from cutpoints._goal import in_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._assess.bands import Band
    from cutpoints._assess.threshold_sets import ThresholdSet
    from cutpoints._evaluate.cross_validation import CrossValidated
    from cutpoints._result import Solution


@compared_by_value
@dataclass(frozen=True)
class Bootstrap:
    """The best thresholds of resamples, and the middle part of them. A heuristic: no theory backs it.

    Attributes
    ----------
    thresholds : ndarray
        The best threshold of each resample; NaN where none met the constraints.
    low, high : float
        The percentile interval.
    infeasible : int
        How many resamples had no threshold that meets the constraints.
    """

    thresholds: NDArray[np.float64]
    low: float
    high: float
    infeasible: int

    @classmethod
    def of(cls, thresholds: NDArray[np.float64], confidence: float) -> Bootstrap:
        """Take the percentiles; thresholds are values of the data, so nothing is interpolated."""
        known = np.sort(thresholds[~np.isnan(thresholds)])
        infeasible = len(thresholds) - len(known)
        if len(known) == 0:
            return cls(thresholds, math.nan, math.nan, infeasible)
        out = (1 - confidence) / 2 * (len(known) - 1)
        low, high = known[math.floor(out)], known[len(known) - 1 - math.floor(out)]
        return cls(thresholds, float(low), float(high), infeasible)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, without the replicates."""
        return {
            "method": "percentile, heuristic",
            "low": json_number(self.low),
            "high": json_number(self.high),
            "n_bootstrap": len(self.thresholds),
            "infeasible": self.infeasible,
        }


@compared_by_value
@dataclass(frozen=True, repr=False)
class Assessment:
    """How far a threshold can be trusted.

    Attributes
    ----------
    solution : Solution
        The best threshold of the rows.
    resubstitution : float
        The value at the threshold on the rows that chose it: too good.
    cross_validated : float
        The value to expect: each fold judged at the threshold of the other folds, counts pooled.
    optimism : float
        How much too good the first is, by the second; positive also when minimizing.
    cross_validation : CrossValidated
        The folds: their thresholds, their values, the pooled counts.
    median_threshold : float
        The (lower) median of the folds' thresholds.
    near_optimal : ThresholdSet
        All thresholds whose value on these rows is within `tolerance` of the best.
    confidence_set : ThresholdSet or None
        Holds the truly best threshold with at least this `confidence`, exactly; for linear costs
        and independent rows. `no_confidence_set` says why it is missing.
    band : Band or None
        The values that are possible at every threshold at once. `no_band` says why it is missing.
    lower_bound : float
        The worst value on new data at the chosen threshold, with this `confidence`, although the
        same rows chose it (when minimizing, the highest); NaN without a band.
    bootstrap : Bootstrap or None
        The percentile interval of the threshold. A heuristic.
    summary : str
        All of it in a sentence or two.
    """

    solution: Solution
    cross_validation: CrossValidated
    folds: int
    tolerance: float
    near_optimal: ThresholdSet
    confidence: float
    confidence_set: ThresholdSet | None
    no_confidence_set: str | None
    band: Band | None
    no_band: str | None
    bootstrap: Bootstrap | None
    resubstitution_constraints: dict[str, float]

    @property
    def resubstitution(self) -> float:
        """The value at the threshold on the rows that chose it."""
        assert self.solution.value is not None
        return self.solution.value

    @property
    def cross_validated(self) -> float:
        """The value to expect on new rows."""
        return self.cross_validation.value

    @property
    def optimism(self) -> float:
        """How much too good the resubstitution value is."""
        return self._sign * (self.resubstitution - self.cross_validated)

    @property
    def median_threshold(self) -> float:
        """The median of the folds' thresholds: a steadier choice, often a little better on new rows."""
        known = sorted(t for t in self.cross_validation.thresholds if not math.isnan(t))
        return known[(len(known) - 1) // 2] if known else math.nan

    @property
    def lower_bound(self) -> float:
        """The worst value on new data at the threshold, with confidence."""
        if self.band is None or self.solution.threshold is None:
            return math.nan
        low, high = self.band.at(self.solution.threshold)
        return low if self._sign > 0 else high

    @property
    def _sign(self) -> int:
        return 1 if self.solution.direction == "maximize" else -1

    @property
    def summary(self) -> str:
        """What it all means, in plain words."""
        interval = self.solution.interval
        text = (
            f"At threshold {interval.shortest if interval else 'none'} the {self.solution.objective} is "
            f"{short(self.resubstitution)} on the rows that chose it"
        )
        if math.isnan(self.cross_validated):
            text += "; the value on new rows is unknown, since no fold could be judged"
        elif self.optimism > 0:
            text += f", which is {short(self.optimism)} too good: expect about {short(self.cross_validated)} "
            text += "on new rows"
        else:
            text += f"; expect about the same on new rows ({short(self.cross_validated)})"
        if math.isfinite(self.lower_bound):
            worst = "at least" if self._sign > 0 else "at most"
            text += f", {worst} {short(self.lower_bound)} with {percent(self.confidence)} confidence"
        text += "."
        broken = [
            f"'{one}' ({short(self.cross_validation.constraints[one])})"
            for one in self.cross_validation.broken
        ]
        if broken:
            text += (
                f" Cross-validated, {' and '.join(broken)} does not hold: for a constraint that holds on new "
                "data, give find a guarantee."
            )
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        folds = self.cross_validation
        shown = {
            "summary": self.summary,
            "objective": self.solution.objective,
            "direction": self.solution.direction,
            "threshold": self.solution.threshold,
            "resubstitution": self.resubstitution,
            "cross_validated": self.cross_validated,
            "optimism": self.optimism,
            "constraints": [
                {"constraint": one, "resubstitution": value, "cross_validated": folds.constraints[one]}
                for one, value in self.resubstitution_constraints.items()
            ],
            "folds": {
                "number": self.folds,
                "median_threshold": self.median_threshold,
                "thresholds": folds.thresholds,
                "values": folds.fold_values,
                "infeasible": folds.infeasible_folds,
                "confusion": folds.confusion,
            },
            "tolerance": self.tolerance,
            "near_optimal": self.near_optimal,
            "confidence": self.confidence,
            "confidence_set": self.confidence_set,
            "no_confidence_set": self.no_confidence_set,
            "band": self.band,
            "no_band": self.no_band,
            "bound": self.lower_bound,
            "bootstrap": self.bootstrap,
            "solution": self.solution,
        }
        return {name: json_form(one) for name, one in shown.items()}

    def lines(self) -> list[tuple[str, str]]:
        """Return the report as pairs of a name and a text."""
        best = self.solution
        lines = [
            ("goal", in_words(best.direction, best.objective, best.constraints)),
            ("threshold", "none" if best.interval is None else best.interval.shortest),
            ("resubstitution", f"{count(self.resubstitution)}   on the rows that chose the threshold"),
            (
                "cross-validated",
                (
                    f"{count(self.cross_validated)}   {self.folds} folds, pooled counts; "
                    "what to expect on new rows"
                ),
            ),
            ("optimism", f"{count(self.optimism)}"),
            ("fold thresholds", self._fold_thresholds()),
        ]
        lines += [
            (
                one,
                f"{count(here)} on these rows, {count(there)} cross-validated",
            )
            for (one, here), there in zip(
                self.resubstitution_constraints.items(),
                self.cross_validation.constraints.values(),
                strict=True,
            )
        ]
        if none := self.cross_validation.infeasible_folds:
            lines.append(("infeasible", f"{none} of {self.folds} folds had no allowed threshold"))
        level = percent(self.confidence)
        lines += [
            ("near-optimal", f"{self.near_optimal}   within {short(self.tolerance)} of the best value"),
            (
                f"{level} set",
                f"{self.confidence_set}   holds the truly best threshold; exact"
                if self.confidence_set is not None
                else f"none: {self.no_confidence_set}",
            ),
        ]
        if self.bootstrap is not None:
            lines.append(
                (
                    f"{level} bootstrap",
                    (
                        f"[{count(self.bootstrap.low)}, {count(self.bootstrap.high)}]   heuristic: "
                        f"percentiles of {len(self.bootstrap.thresholds):,} resamples"
                    ),
                )
            )
        worst = "lower bound" if self._sign > 0 else "upper bound"
        lines.append(
            (
                f"{level} {worst}",
                f"{count(self.lower_bound)}   of the value on new rows at this threshold (DKW)"
                if self.band is not None
                else f"none: {self.no_band}",
            )
        )
        return lines

    def _fold_thresholds(self) -> str:
        known = [t for t in self.cross_validation.thresholds if not math.isnan(t)]
        if not known:
            return "none"
        return f"{count(min(known))} to {count(max(known))}, median {count(self.median_threshold)}"

    def __repr__(self) -> str:
        return f"{text_pairs(self.lines())}\n\n{self.summary}"

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(self.summary)}</p>{html_pairs(self.lines())}"

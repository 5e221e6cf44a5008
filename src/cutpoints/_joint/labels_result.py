"""The answer for labels: one threshold per label, the average that they attain, and the proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._equality import compared_by_value
from cutpoints._format import count, json_fields, json_form, json_number, short
from cutpoints._goal import in_words
from cutpoints._joint.result import Together, infeasible_in
from cutpoints._result import Confusion
from cutpoints._shown import Deployed, JsonForm
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics.columns import CELLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cutpoints._result import Solution


@dataclass(frozen=True)
class CrossValidatedLabels(JsonForm):
    """How thresholds of labels perform on rows that did not choose them; see `CrossValidatedJoint`."""

    value: float
    confusion: Confusion
    constraints: Mapping[str, float]
    broken: tuple[str, ...]
    folds: int
    infeasible_folds: int
    each_label: tuple[float, ...]
    """The metric of each label, in their order; NaN where it is undefined."""


@compared_by_value
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class LabelsSolution(Together):
    """One threshold per label: a mapping from labels to thresholds.

    Attributes
    ----------
    status : {"optimal", "gap_limit", "infeasible"}
        As for `find_joint`.
    thresholds : dict
        By label; ``inf`` calls no row positive.
    value : float
        The micro or macro average of the objective.
    confusions : dict
        The confusion of each label.
    pooled : tuple
        The labels that share one threshold.
    certificate : JointCertificate
        The proof: lower and upper bound of the value, and how many cuts were left after pruning.
    cross_validated : CrossValidatedLabels
        The value to expect on new data.
    """

    name: str
    average: Literal["micro", "macro"]
    pooled: tuple[Any, ...]
    confusions: dict[Any, Confusion] = field(default_factory=dict)
    _long: bool = field(default=False, compare=False)
    """Whether the data were a long table, in which a column names the label of each row."""

    _noun = "labels"

    def __getitem__(self, key: Any) -> float:
        return self.thresholds[key]

    @cached_property
    def single(self) -> Solution:
        """The best single threshold for all labels, for the micro average."""
        return self._look_at("single")

    @cached_property
    def cross_validated(self) -> CrossValidatedLabels:
        """The value to expect on new data: each fold is judged by the thresholds of the other folds."""
        return self._look_at("cross_validated")

    def decide(self, y_score: Any) -> NDArray[np.int8]:
        """Return 1 where a score reaches the threshold of its label and 0 elsewhere, as a dense matrix.

        Parameters
        ----------
        y_score : array-like or sparse matrix of shape (n_samples, n_labels)
            The scores, with the columns of the data that were searched; NaN is an error.
        """
        self.raise_if_infeasible()
        scores = np.asarray(y_score.toarray() if hasattr(y_score, "toarray") else y_score)
        if scores.ndim != 2 or scores.shape[1] != len(self) or scores.dtype.kind not in "biuf":
            raise InvalidParameterError(
                "y_score",
                caller="decide",
                expected=f"a matrix of numbers with {len(self)} columns, one per label",
                got=f"shape {scores.shape} of {scores.dtype}",
            )
        if np.isnan(scores).any():
            raise InvalidParameterError("y_score", caller="decide", expected="without NaN", got="NaN")
        return np.asarray(scores >= np.array(list(self.thresholds.values()))).astype(np.int8)

    @property
    def confusion(self) -> Confusion | None:
        """The sum over all labels; None if there are no thresholds."""
        return sum_of(list(self.confusions.values())) if self.confusions else None

    def _deployed(self) -> Deployed:
        total = self.confusion
        assert total is not None
        values = self.table()["value"]
        cells = zip(self.confusions.items(), values, self.cross_validated.each_label, strict=True)
        found_on = {
            "interval": None,
            "certificate": None,
            "positives": total.tp + total.fn,
            "negatives": total.fp + total.tn,
            "segments": [
                ((key if self._long else str(key),), one, counts, expected)
                for (key, counts), one, expected in cells
            ],
            "cross_validated": self.cross_validated.value,
            "average": self.average,
            "each": self.each,
        }
        rule: dict[str, Any] = {"thresholds": self.thresholds}
        if not self._long:
            return Deployed("labels", rule, self._columns, found_on)
        return Deployed("segments", {**rule, "by": self.name}, self._columns, found_on)

    def raise_if_infeasible(self) -> LabelsSolution:
        """Return itself, or raise `InfeasibleError` saying what can be attained."""
        if self.status == "infeasible":
            raise self._unattained() if self.attainable else infeasible_in(self.each)
        return self

    def table(self) -> dict[str, list[Any]]:
        """Return one row per label, as columns by name."""
        return {
            self.name: list(self.thresholds),
            "threshold": list(self.thresholds.values()),
            "value": [one.metric(self.objective) for one in self.confusions.values()],
            **{name: [getattr(one, name) for one in self.confusions.values()] for name in CELLS},
            "pooled": [key in set(self.pooled) for key in self.thresholds],
        }

    def goal(self) -> str:
        """Return the goal in words."""
        held = [*self.constraints, *(f"{text} for each" for text in self.each)]
        return in_words(self.direction, f"{self.average} {self.objective}", held)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        goal = ("objective", "direction", "constraints", "each")
        shown = json_fields(self, "status", "average", "value", *goal, "certificate", "rows")
        shown["labels"] = [
            {
                "label": json_form(key),
                "threshold": json_number(threshold),
                "confusion": self.confusions[key].to_dict(),
                "pooled": key in set(self.pooled),
            }
            for key, threshold in self.thresholds.items()
        ]
        if self.status == "infeasible":
            shown["attainable"] = [one.to_dict() for one in self.attainable]
        else:
            shown["cross_validated"] = self.cross_validated.to_dict()
        return shown

    def cells(self, most: int) -> list[list[str]]:
        """Return the header and the first labels, for people."""
        rows = [[self.name, "threshold", *CELLS]]
        for key, threshold in list(self.thresholds.items())[:most]:
            cells = self.confusions[key].to_dict().values()
            rows.append([str(key), count(threshold), *map(count, cells)])
        return rows

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read below the labels, as names and texts."""
        data = ("data", f"{self.rows:,} rows, {len(self):,} label{'s' * (len(self) != 1)}")
        if self.status == "infeasible":
            return [("status", "infeasible: no thresholds meet the constraints"), ("goal", self.goal())]
        assert self.value is not None
        new = self.cross_validated
        held = "".join(f", {text} is {short(value)}" for text, value in new.constraints.items())
        proven = "optimal: bound and value meet" if self.status == "optimal" else "not proven"
        lines = [
            ("value", f"{count(self.value)}  ({self.goal()})"),
            ("on new data", f"{count(new.value)}  ({new.folds}-fold cross-validated{held})"),
            ("certificate", f"{proven}, {self._pruned()}"),
            data,
        ]
        if self.pooled:
            lines.insert(2, ("pooled", f"{len(self.pooled):,} rare labels share one threshold"))
        return lines


def sum_of(confusions: list[Confusion]) -> Confusion:
    """Add up the counts of labels."""
    cells = [one.to_dict() for one in confusions]
    return Confusion(**{name: sum(one[name] for one in cells) for name in CELLS})

"""The answer for ordered classes: cutpoints, what they do, and the proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._classes.costs import as_names
from cutpoints._data.read import read_scores
from cutpoints._equality import compared_by_value
from cutpoints._format import count, json_number
from cutpoints._shown import SHOWN, Beside, Deployable, Deployed, JsonForm, KnownColumns, Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from cutpoints._result import Interval


@dataclass(frozen=True)
class CutpointCertificate(JsonForm):
    """The proof, in numbers: no cutpoints have a value beyond `upper`, and these attain `lower`.

    `steps` of dynamic programming over all `cuts` for each cutpoint; the `compared` cuts that floats cannot
    tell from the best were compared in integers.
    """

    lower: float
    upper: float
    cuts: int
    steps: int
    compared: int
    resolution: float = 0.0


@compared_by_value
@dataclass(frozen=True, repr=False, eq=False)
class OrdinalSolution(Beside, Deployable, Shown, JsonForm):
    """The best cutpoints of one score for ordered classes.

    Attributes
    ----------
    status : {"optimal"}
        There are always cutpoints, and these are proven to be the best.
    classes : tuple
        The classes, in their order.
    cutpoints : tuple of float
        One less than there are classes, ascending: a row is in the first class below the first cutpoint, in
        the second from it on, and so on. Two that are equal leave a class without rows; ``inf`` calls no row
        one of the classes above it.
    intervals : tuple of Interval
        For each cutpoint, the thresholds in ``(low, high]`` that make the same decisions on the data.
    value : float
        The objective, rounded once from its exact value.
    confusion_matrix : ndarray of shape (n_classes, n_classes)
        Rows are the truth, columns the decision; exact.
    certificate : CutpointCertificate
        The proof that no other cutpoints are better.
    """

    status: Literal["optimal"]
    objective: str
    direction: Literal["maximize", "minimize"]
    classes: tuple[Any, ...]
    cutpoints: tuple[float, ...]
    intervals: tuple[Interval, ...]
    value: float
    confusion_matrix: NDArray[Any]
    certificate: CutpointCertificate
    rows: int
    _beside: Mapping[str, Callable[[], Any]] = field(compare=False)
    _columns: KnownColumns = field(default=KnownColumns(), compare=False)
    _costs: tuple[tuple[float, ...], ...] | None = field(default=None, compare=False)
    """The matrix of costs that was minimized, if any: rows are decisions."""

    @cached_property
    def cross_validated(self) -> float:
        """The value to expect on new data: each of five folds is judged by the cutpoints of the others.

        Computed when it is first looked at.
        """
        return self._look_at("cross_validated")

    def decide(self, data: Any, *, score: str | None = None) -> NDArray[Any]:
        """Return the class of each score; NaN scores are an error.

        Parameters
        ----------
        data : array-like of shape (n_samples,), data frame or path
            Scores, or a table with a column of them.
        score : str, default=None
            The column; the one that `find_ordinal` was given is known.

        Examples
        --------
        >>> import cutpoints as cp
        >>> s = cp.find_ordinal([1, 1, 2, 2, 3], [0.1, 0.2, 0.4, 0.5, 0.9], minimize="absolute_error")
        >>> s.decide([0.0, 0.45, 2.0])
        array([1, 2, 3])
        """
        scores = read_scores(data, score or self._columns.score)
        # As float64 on both sides: float32 scores must not round the cutpoints.
        place = np.searchsorted(np.array(self.cutpoints), scores.astype(np.float64), side="right")
        return as_names(self.classes)[place]

    def raise_if_infeasible(self) -> OrdinalSolution:
        """Return itself: there are always cutpoints."""
        return self

    def _deployed(self) -> Deployed:
        rule = {"cutpoints": self.cutpoints, "classes": self.classes}
        found_on = {
            **dict.fromkeys(("interval", "certificate", "confusion", "positives", "negatives")),
            "confusion_matrix": tuple(map(tuple, self.confusion_matrix.tolist())),
            "costs": self._costs,
            "cross_validated": self.cross_validated,
        }
        return Deployed("ordinal", rule, self._columns, found_on)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        return {**super().to_dict(), "cross_validated": json_number(self.cross_validated)}

    def _new_data(self) -> str:
        return "unknown" if math.isnan(self.cross_validated) else count(self.cross_validated)

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as names and texts."""
        points = [interval.shortest for interval in self.intervals]
        below = [f"score < {points[0]}", *(f"score >= {point}" for point in points)]
        if self.cutpoints[0] == math.inf:
            below[0] = "every score"
        pairs = list(zip(self.classes, below, self.confusion_matrix.sum(axis=0).tolist(), strict=True))
        lines = [
            (f"class {name}", f"{rule}   {count(number)} rows, {count(self.confusion_matrix[i, i])} rightly")
            for i, (name, rule, number) in enumerate(pairs[:SHOWN])
        ]
        if len(pairs) > SHOWN:
            lines.append(("", f"and {len(pairs) - SHOWN} more classes"))
        proof = self.certificate
        return [
            *lines,
            ("value", f"{count(self.value)}  ({self.direction} {self.objective})"),
            ("on new data", f"{self._new_data()}  (5-fold cross-validated)"),
            (
                "certificate",
                f"optimal: no other cutpoints are better ({proof.steps} steps over {count(proof.cuts)} cuts)",
            ),
            ("data", f"{count(self.rows)} rows, {len(self.classes)} classes"),
        ]

"""The answer for ordered classes: cutpoints, what they do, and the proof."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._classes.bayes import as_names
from cutpoints._data.scores import read_scores
from cutpoints._equality import compared_by_value
from cutpoints._format import count, html_pairs, json_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cutpoints._policy import Policy
    from cutpoints._result import Interval

_SHOWN_CLASSES = 20


@dataclass(frozen=True)
class CutpointCertificate:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {**vars(self), "lower": json_number(self.lower), "upper": json_number(self.upper)}


@compared_by_value
@dataclass(frozen=True, repr=False, eq=False)
class OrdinalSolution:
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
    _cross_validate: Callable[[], float] = field(repr=False, compare=False)
    _names: tuple[str | None, str | None] = field(default=(None, None), repr=False, compare=False)
    """The columns of the scores and of the labels, where they have names."""
    _dtype: Literal["float32", "float64"] = field(default="float64", repr=False, compare=False)

    @cached_property
    def cross_validated(self) -> float:
        """The value to expect on new data: each of five folds is judged by the cutpoints of the others.

        Computed when it is first looked at.
        """
        return self._cross_validate()

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
        scores = read_scores(data, score or self._names[0])
        # As float64 on both sides: float32 scores must not round the cutpoints.
        place = np.searchsorted(np.array(self.cutpoints), scores.astype(np.float64), side="right")
        return as_names(self.classes)[place]

    def policy(
        self,
        name: str | None = None,
        *,
        description: str | None = None,
        score: str | None = None,
        label: str | None = None,
        missing: Literal["error", "keep"] = "error",
    ) -> Policy:
        """Return the cutpoints as a policy: a rule to save and to deploy.

        Parameters
        ----------
        name, description : str, default=None
            What to call it, and what it is for.
        score, label : str, default=None
            The columns; those that `find_ordinal` was given are known.
        missing : {"error", "keep"}, default="error"
            What to make of a missing score.

        Examples
        --------
        >>> import cutpoints as cp
        >>> s = cp.find_ordinal([1, 1, 2, 2, 3], [0.1, 0.2, 0.4, 0.5, 0.9], minimize="absolute_error")
        >>> s.policy(score="p").decide([0.0, 0.45, 2.0]).tolist()
        [1, 2, 3]
        """
        from cutpoints._policy import Policy
        from cutpoints._policy.record import made_now

        return Policy.ordinal(
            self.cutpoints,
            classes=self.classes,
            name=name,
            description=description,
            score=self._names[0] if score is None else score,
            label=self._names[1] if label is None else label,
            missing=missing,
            dtype=self._dtype,
            objective=self.objective,
            direction=self.direction,
            **made_now(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        return {
            "status": self.status,
            "objective": self.objective,
            "direction": self.direction,
            "classes": list(self.classes),
            "cutpoints": [json_number(cutpoint) for cutpoint in self.cutpoints],
            "intervals": [interval.to_dict() for interval in self.intervals],
            "value": json_number(self.value),
            "cross_validated": json_number(self.cross_validated),
            "confusion_matrix": self.confusion_matrix.tolist(),
            "certificate": self.certificate.to_dict(),
            "rows": self.rows,
        }

    def __repr__(self) -> str:
        return "\n".join(f"{name:<15}{text}" for name, text in self._lines())

    def _repr_html_(self) -> str:
        return html_pairs(self._lines())

    def _new_data(self) -> str:
        return "unknown" if math.isnan(self.cross_validated) else count(self.cross_validated)

    def _lines(self) -> list[tuple[str, str]]:
        points = [interval.shortest for interval in self.intervals]
        below = [f"score < {points[0]}", *(f"score >= {point}" for point in points)]
        pairs = list(zip(self.classes, below, self.confusion_matrix.sum(axis=0).tolist(), strict=True))
        lines = [
            (f"class {name}", f"{rule}   {count(number)} rows, {count(self.confusion_matrix[i, i])} rightly")
            for i, (name, rule, number) in enumerate(pairs[:_SHOWN_CLASSES])
        ]
        if len(pairs) > _SHOWN_CLASSES:
            lines.append(("", f"and {len(pairs) - _SHOWN_CLASSES} more classes"))
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

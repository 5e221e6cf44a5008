"""The answer: two thresholds, what they do, the proof, and what stands beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.read import read_scores
from cutpoints._format import count, json_fields, percent, rows_in_words, short
from cutpoints._goal import in_words
from cutpoints._shown import Beside, Deployable, Deployed, JsonForm, KnownColumns, Shown
from cutpoints._wording import joined
from cutpoints.exceptions import InfeasibleError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from cutpoints._result import Confusion, Guarantee, Interval, Solution

YES, NO, REVIEW = 1, 0, -1


@dataclass(frozen=True)
class PairCertificate(JsonForm):
    """The proof, in numbers: no pair of cuts has a value beyond `upper`, and the band attains `lower`.

    Of all `pairs` of cuts, `compared` were compared one by one; all others were excluded by bounds. Sums are
    exact; each weight is rounded once, by at most `resolution`.
    """

    lower: float
    upper: float
    cuts: int
    compared: int
    passes: int
    rows_examined: int
    resolution: float = 0.0

    @property
    def pairs(self) -> int:
        """How many bands there are: pairs of cuts, equal ones included."""
        return self.cuts * (self.cuts + 1) // 2

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {**super().to_dict(), "pairs": self.pairs}


@dataclass(frozen=True)
class CrossValidatedBand(JsonForm):
    """How bands perform on rows that did not choose them.

    Attributes
    ----------
    value : float
        The objective at the pooled counts of all folds; NaN if no fold has a band.
    confusion : Confusion
        The pooled counts of the automatic decisions.
    reviewed : int or float
        What was left to review.
    constraints : dict of str to float
        The value of each constraint's metric at the pooled counts.
    folds, infeasible_folds : int
        How many folds there were, and for how many the other rows have no band.
    """

    value: float
    confusion: Confusion
    reviewed: int | float
    constraints: Mapping[str, float]
    folds: int
    infeasible_folds: int


@dataclass(frozen=True, repr=False)
class Band(Beside, Deployable, Shown):
    """The best band: yes from `high` on, no below `low`, review in between; or the news that there is none.

    Attributes
    ----------
    status : {"optimal", "infeasible", "none_certified"}
        Infeasible: no band meets the constraints and the capacity. `low`, `high`, `value` and `confusion`
        are then None, and `least_reviewed` says what the capacity would have to be.
    low, high : float
        No iff ``score < low``, yes iff ``score >= high``, review otherwise. Equal if no row is reviewed.
    low_interval, high_interval : Interval
        All thresholds in ``(low, high]`` make the same decisions on the data.
    value : float
        The objective, rounded once from its exact value.
    confusion : Confusion
        The automatic decisions on the data; exact.
    reviewed, reviewed_positives : int or float
        Rows (or weight) left to review, and positives among them.
    coverage : float
        The share that is decided automatically.
    certificate : PairCertificate
        The proof that it is the optimum.
    least_reviewed : int or float
        If infeasible: the fewest rows to review such that the constraints hold; None if no number does.
    """

    status: Literal["optimal", "infeasible", "none_certified"]
    objective: str
    direction: Literal["maximize", "minimize"]
    constraints: tuple[str, ...]
    capacity: float | dict[str, float] | None
    reviewer: tuple[float, float]
    rows: int
    positives: int | float
    negatives: int | float
    certificate: PairCertificate
    low: float | None = None
    high: float | None = None
    low_interval: Interval | None = None
    high_interval: Interval | None = None
    value: float | None = None
    confusion: Confusion | None = None
    reviewed: int | float | None = None
    reviewed_positives: int | float | None = None
    least_reviewed: int | float | None = None
    guarantee: Guarantee | None = None
    _beside: Mapping[str, Callable[[], Any]] = field(default_factory=dict, compare=False)
    _columns: KnownColumns = field(default=KnownColumns(), compare=False)

    @property
    def coverage(self) -> float | None:
        """The share of the rows, or of their weight, that is decided automatically."""
        if self.reviewed is None:
            return None
        return 1 - self.reviewed / (self.positives + self.negatives)

    @cached_property
    def single(self) -> Solution:
        """The best single threshold for the same goal; for the coverage, the best for its first bound."""
        return self._look_at("single")

    @cached_property
    def cross_validated(self) -> CrossValidatedBand:
        """The value to expect on new data: each fold is judged by the band of the other folds.

        Computed when it is first looked at, which takes about five times as long as the search.
        """
        return self._look_at("cross_validated")

    def decide(self, data: Any, *, score: str | None = None) -> NDArray[np.int8]:
        """Return 1 for yes, 0 for no and -1 for review; NaN scores are an error.

        Parameters
        ----------
        data : array-like of shape (n_samples,), data frame or path
            Scores, or a table with a column of them.
        score : str, default=None
            The column; the one that `find_band` was given is known.

        Examples
        --------
        >>> import cutpoints as cp
        >>> y, p = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.4, 0.5, 0.6, 0.9]
        >>> cp.find_band(y, p, minimize="cost(fp=5, fn=5, review=1)").decide([0.3, 0.5, 0.7])
        array([ 0, -1,  1], dtype=int8)
        """
        self.raise_if_infeasible()
        scores = read_scores(data, score or self._columns.score)
        found = np.full(scores.shape, REVIEW, dtype=np.int8)
        found[scores < np.float64(self.low)] = NO
        found[scores >= np.float64(self.high)] = YES
        return found

    def _deployed(self) -> Deployed:
        capacity = None if isinstance(self.capacity, dict) else self.capacity  # of rows, not of a column
        found_on = {
            "interval": None,
            "certificate": None,
            "guarantee": self.guarantee,
            "cross_validated": self.cross_validated.value,
            "review": (self.reviewed, self.reviewed_positives, capacity, *self.reviewer),
        }
        return Deployed("band", {"low": self.low, "high": self.high}, self._columns, found_on)

    def raise_if_infeasible(self) -> Band:
        """Return itself, or raise `InfeasibleError` saying what would be needed."""
        if self.status == "none_certified":
            assert self.guarantee is not None
            raise self.guarantee.refusal(self.constraints, self.rows)
        if self.status == "infeasible":
            held = [f"'{text}'" for text in self.constraints]
            most = self.capacity if isinstance(self.capacity, dict) else {"": self.capacity}
            held += [
                f"a capacity of {count(number)} {name}".rstrip()
                for name, number in most.items()
                if number is not None
            ]
            found = f"No band satisfies {joined(held, 'and')}, however many rows are reviewed."
            hint = "relax a constraint."
            if self.least_reviewed is not None:
                found = (
                    f"No band satisfies {joined(held, 'and')} together. "
                    f"The constraints need at least {count(self.least_reviewed)} reviews."
                )
                hint = "raise the capacity to that, or relax a constraint."
            raise InfeasibleError(found, hint=hint, constraints=self.constraints)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        goal = ("objective", "direction", "constraints", "capacity", "reviewer")
        more = ("low_interval", "high_interval", "confusion", "reviewed", "reviewed_positives", "coverage")
        data = ("certificate", "rows", "positives", "negatives")
        shown = json_fields(self, "status", "low", "high", "value", *goal, *more, *data)
        if self.guarantee is not None:
            shown["guarantee"] = self.guarantee.to_dict()
        if self.status == "infeasible":
            shown["least_reviewed"] = self.least_reviewed
        if self.status == "optimal":
            shown["single"] = self.single.to_short_dict()
            shown["cross_validated"] = self.cross_validated.to_dict()
        return shown

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as names and texts."""
        goal = in_words(self.direction, self.objective, self._held())
        data = ("data", rows_in_words(self.rows, self.positives, self.negatives))
        if self.status != "optimal":
            return [("status", self._none()), ("goal", goal), data]
        assert self.high_interval is not None
        assert self.low_interval is not None
        assert self.value is not None
        assert self.confusion is not None
        assert self.reviewed is not None
        assert self.coverage is not None
        review = f"{count(self.reviewed)} rows in between ({percent(1 - self.coverage)})"
        lines = [
            ("yes", "no row" if self.high == math.inf else f"score >= {self.high_interval.shortest}"),
            ("no", "no row" if self.low == -math.inf else f"score < {self.low_interval.shortest}"),
            ("review", review if self.reviewed else "no row"),
            ("value", f"{count(self.value)}  ({goal})"),
            ("on new data", self._new_data()),
            ("one threshold", self._single()),
            ("automatic", self.confusion.in_words()),
            ("certificate", self._proof()),
            data,
        ]
        if self.guarantee is not None:
            lines.insert(-1, ("guarantee", self.guarantee.in_words(self.constraints, found=True)))
        return lines

    def _proof(self) -> str:
        pairs, compared = count(self.certificate.pairs), count(self.certificate.compared)
        return f"optimal; of {pairs} pairs of cuts {compared} were compared, the others excluded by bounds"

    def _held(self) -> list[str]:
        given = self.capacity if isinstance(self.capacity, dict) else {"": self.capacity}
        most = [
            f"reviewed {name} <= {count(number)}" if name else f"at most {count(number)} reviews"
            for name, number in given.items()
            if number is not None
        ]
        return [*self.constraints, *most]

    def _none(self) -> str:
        if self.status == "none_certified":
            return "none certified: no band can be certified to meet the constraints on new data"
        if self.least_reviewed is None:
            return "infeasible: no band meets the constraints, whatever the capacity"
        return f"infeasible: the constraints need a capacity of at least {count(self.least_reviewed)} reviews"

    def _new_data(self) -> str:
        found = self.cross_validated
        if math.isnan(found.value):
            return f"unknown: no band in any of {found.folds} folds"
        held = "".join(f", {text} is {short(value)}" for text, value in found.constraints.items())
        return f"{count(found.value)}  ({found.folds}-fold cross-validated{held})"

    def _single(self) -> str:
        best = self.single
        if best.interval is None or best.value is None:
            return "none meets the constraints"
        what = "" if best.objective == self.objective else f" {best.objective}"
        return f"{count(best.value)}{what} at {best.interval.shortest}"

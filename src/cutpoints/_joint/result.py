"""The answer: one threshold per segment, what they do together, the proof, and what stands beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from cutpoints._data.segment_keys import decide_by, key_parts, key_to_dict, key_words
from cutpoints._format import count, exact, json_fields, json_number, plural, rows_in_words
from cutpoints._goal import in_words
from cutpoints._shown import DeployableBySegment, Deployed, JsonForm, KnownColumns, ShownInRows, Tabular
from cutpoints._wording import joined
from cutpoints.exceptions import InfeasibleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._joint.beside import CrossValidatedJoint, Separate
    from cutpoints._joint.frontier import Frontier
    from cutpoints._result import Attainable, Confusion, Guarantee, Interval, Solution


@dataclass(frozen=True)
class JointCertificate(JsonForm):
    """The proof, in numbers: no thresholds have a value beyond `upper`, and these attain `lower`.

    Of all `cuts` of all segments, `cuts_left` could not be excluded by the bound, and were combined one by
    one. Sums are exact; each weight is rounded once, by at most `resolution`.
    """

    lower: float
    upper: float
    cuts: int
    cuts_left: int
    passes: int
    resolution: float = 0.0


@dataclass(frozen=True)
class SegmentThreshold(JsonForm):
    """The threshold of one segment, and what it does there; best for all segments together.

    `value` is the objective in this segment alone, NaN where it is undefined. Another threshold may have a
    better one.
    """

    threshold: float
    interval: Interval
    confusion: Confusion
    value: float
    rows: int

    def decide(self, y_score: Any) -> NDArray[np.int8]:
        """Return 1 where a score reaches the threshold and 0 elsewhere; NaN scores are an error."""
        from cutpoints._data.read import read_scores

        return (read_scores(y_score, None) >= np.float64(self.threshold)).astype(np.int8)


def infeasible(
    *,
    attainable: Mapping[str, float],
    together: bool = False,
    empty: str | None = None,
) -> InfeasibleError:
    """Return the error of thresholds for several segments.

    `attainable` has the best value of each constraint over all thresholds, or among those that meet the
    others; `empty` names a segment in which no threshold meets what must hold in each.
    """
    names = joined([f"'{text}'" for text in attainable], "and")
    if empty is not None:
        return InfeasibleError(
            f"No threshold of segment {empty} meets {names}, which must hold in each segment.",
            hint="relax it, or merge small segments.",
            constraints=tuple(attainable),
        )
    best = "; ".join(
        f"'{text}' {'undefined' if math.isnan(value) else count(value)}" for text, value in attainable.items()
    )
    where = " where the others hold" if together else ""
    return InfeasibleError(
        f"No thresholds satisfy {names}{' together' if len(attainable) > 1 else ''}. "
        f"The best that can be attained{where}: {best}.",
        hint="relax a constraint to its value, or a little beyond, for it is rounded.",
        constraints=tuple(attainable),
    )


class Beside(NamedTuple):
    """What is computed when it is first looked at."""

    segment: Callable[[int], SegmentThreshold]
    single: Callable[[], Solution]
    separate: Callable[[], Separate]
    cross_validated: Callable[[], CrossValidatedJoint]
    frontier: Callable[[], Frontier]
    randomized: Callable[[], float]
    columns: KnownColumns


@dataclass(frozen=True, repr=False, eq=False)
class JointSolution(DeployableBySegment, ShownInRows, Tabular, Mapping[Any, SegmentThreshold]):
    """The best thresholds together: a mapping from segments, in ascending order, to their thresholds.

    Attributes
    ----------
    status : {"optimal", "gap_limit", "infeasible", "none_certified"}
        Gap limit: too many combinations were left to compare them all; the thresholds are the best so far,
        and no others are better than ``certificate.upper``. Infeasible: no thresholds meet the constraints;
        `value` and `confusion` are then None, the mapping is empty, and `attainable` says how far each
        constraint can be met. None certified: with `guarantee`, no thresholds on the frontier are.
    value : float
        The objective over all rows, rounded once from its exact value.
    confusion : Confusion
        The total over all segments; exact.
    thresholds : dict
        The threshold of each segment: positive iff ``score >= threshold``; ``inf`` calls no row positive.
    certificate : JointCertificate
        The proof: lower and upper bound, and how many cuts were left after pruning.
    guarantee : Guarantee or None
        What is promised of the constraints on new data, and on what grounds.
    single, separate, cross_validated
        The best single threshold, each segment by itself, and the value to expect on new data.
    """

    status: Literal["optimal", "gap_limit", "infeasible", "none_certified"]
    by: tuple[str, ...]
    objective: str
    direction: Literal["maximize", "minimize"]
    constraints: tuple[str, ...]
    each: tuple[str, ...]
    gap: tuple[str, ...]
    rows: int
    positives: int | float
    negatives: int | float
    certificate: JointCertificate
    value: float | None = None
    confusion: Confusion | None = None
    thresholds: dict[Any, float] = field(default_factory=dict)
    guarantee: Guarantee | None = None
    attainable: tuple[Attainable, ...] = ()
    empty: Any = None
    """If infeasible: the key of a segment in which no threshold meets what must hold in each, in a tuple."""
    _beside: Beside | None = field(default=None, repr=False)

    def __getitem__(self, key: Any) -> SegmentThreshold:
        return self._beside_it.segment(self._places[key])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.thresholds)

    def __len__(self) -> int:
        return len(self.thresholds)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {key: place for place, key in enumerate(self.thresholds)}

    @property
    def _beside_it(self) -> Beside:
        assert self._beside is not None
        return self._beside

    @cached_property
    def single(self) -> Solution:
        """The best single threshold for the same goal; what must hold in each segment is left out."""
        return self._beside_it.single()

    @cached_property
    def separate(self) -> Separate:
        """Each segment by itself, as `find_by` does, and what that makes over all rows."""
        return self._beside_it.separate()

    @cached_property
    def cross_validated(self) -> CrossValidatedJoint:
        """The value to expect on new data: each fold is judged by the thresholds of the other folds.

        Several thresholds fit the data more closely than one, so the value of the search is too good.
        Computed when it is first looked at, which takes about five times as long as the search.
        """
        return self._beside_it.cross_validated()

    @cached_property
    def randomized(self) -> float | None:
        """With a gap: the best value if rows could be decided by chance, which fixed thresholds cannot beat.

        NaN where the rate is not linear in the counts of a segment, such as precision; None without a gap.
        """
        return self._beside_it.randomized() if self.gap else None

    def frontier(self) -> Frontier:
        """Return the most true positives for any number of false positives, with their thresholds."""
        return self._beside_it.frontier()

    def decide(self, y_score: Any, by: Any) -> NDArray[np.int8]:
        """Return 1 where a score reaches the threshold of its segment, and 0 elsewhere.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,)
            The scores.
        by : array-like of shape (n_samples,), or a list, dict or frame of several
            The segments of the rows. A segment that was not in the data is an error.
        """
        self.raise_if_infeasible()
        return decide_by(y_score, by, self)

    def _deployed(self) -> Deployed:
        records = [(key_parts(key, self.by), one.value, one.confusion) for key, one in self.items()]
        found_on = {
            "interval": None,
            "certificate": None,
            "guarantee": self.guarantee,
            "segments": records,
            "cross_validated": self.cross_validated.value,
            "average": "micro",
            "each": self.each,
            "gap": self.gap,
        }
        rule = {"thresholds": self.thresholds, "by": self.by}
        return Deployed("segments", rule, self._beside_it.columns, found_on)

    def raise_if_infeasible(self) -> JointSolution:
        """Return itself, or raise `InfeasibleError` saying what can be attained, or what it would take."""
        if self.status == "none_certified":
            assert self.guarantee is not None
            raise self.guarantee.refusal(self.constraints, self.rows)
        if self.status == "infeasible":
            if self.empty is not None:
                raise infeasible(attainable=dict.fromkeys(self.each, 0.0), empty=repr(self.empty[0]))
            if not self.attainable:
                raise infeasible(attainable={f"a gap of {text}": math.nan for text in self.gap})
            together = all(one.with_others is not None for one in self.attainable)
            best = [one.with_others or one for one in self.attainable] if together else self.attainable
            raise infeasible(attainable={one.constraint: one.value for one in best}, together=together)
        return self

    def table(self) -> dict[str, list[Any]]:
        """Return one row per segment, as columns by name: the keys, the threshold, what it does."""
        names = ("threshold", "value", "tp", "fp", "fn", "tn", "rows")
        columns: dict[str, list[Any]] = {name: [] for name in (*self.by, *names)}
        for key, entry in self.items():
            for name, part in zip(self.by, key_parts(key, self.by), strict=True):
                columns[name].append(part)
            cells = (entry.threshold, entry.value, *entry.confusion.to_dict().values(), entry.rows)
            for name, cell in zip(names, cells, strict=True):
                columns[name].append(cell)
        return columns

    def goal(self) -> str:
        """Return the goal in words."""
        held = [*self.constraints, *(f"{text} in each" for text in self.each)]
        held += [f"a gap of {text}" for text in self.gap]
        return in_words(self.direction, self.objective, held)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        names = ("status", "by", "value", "objective", "direction", "constraints", "each", "gap", "confusion")
        shown = json_fields(self, *names, "certificate", "rows", "positives", "negatives")
        shown["segments"] = [
            {"key": key_to_dict(key, self.by), **entry.to_dict()} for key, entry in self.items()
        ]
        if self.guarantee is not None:
            shown["guarantee"] = self.guarantee.to_dict()
        if self.value is not None:
            shown["single"] = self.single.to_short_dict()
            shown["separate"] = self.separate.to_dict()
            shown["cross_validated"] = self.cross_validated.to_dict()
            if self.gap:
                shown["randomized"] = json_number(self.randomized)
        elif self.status == "infeasible":
            shown["attainable"] = [one.to_dict() for one in self.attainable]
        return shown

    @property
    def _left(self) -> range:
        return range(len(self.by))

    def cells(self, most: int) -> list[list[str]]:
        """Return the header and the first segments, for people."""
        rows = [[*self.by, "threshold", "tp", "fp", "fn", "tn", "rows"]]
        for key in list(self)[:most]:
            entry = self[key]
            numbers = (*entry.confusion.to_dict().values(), entry.rows)
            rows.append([*key_words(key, self.by), entry.interval.shortest, *map(count, numbers)])
        return rows

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read below the segments, as names and texts."""
        data = ("data", rows_in_words(self.rows, self.positives, self.negatives))
        if self.status == "infeasible":
            return [("status", f"infeasible: {self._why()}"), ("goal", self.goal()), data]
        if self.status == "none_certified":
            return [("status", f"none certified: {self._promise()}"), ("goal", self.goal()), data]
        assert self.confusion is not None
        assert self.value is not None
        lines = [
            ("value", f"{count(self.value)}  ({self.goal()})"),
            ("on new data", self._new_data()),
            ("one threshold", self._single()),
            ("each by itself", self._separate()),
            ("confusion", self.confusion.in_words()),
            ("certificate", self._proof()),
            data,
        ]
        if self.guarantee is not None:
            lines.insert(1, ("guarantee", self._promise()))
        if self.gap and self.randomized == self.randomized:
            lines.insert(
                1, ("by chance", f"{self.randomized:.6g} at most, if equal rows may be decided differently")
            )
        return lines

    def _promise(self) -> str:
        assert self.guarantee is not None
        return self.guarantee.in_words(self.constraints, found=self.value is not None)

    def _why(self) -> str:
        if self.empty is not None:
            return f"no threshold of segment {self.empty[0]!r} meets {' and '.join(self.each)}"
        best = [one.with_others or one for one in self.attainable]
        if not best:
            return f"no thresholds have a gap of {' and '.join(self.gap)}"
        return "no thresholds meet the constraints; the best are " + ", ".join(
            f"{one.value:.6g} for {one.constraint}" for one in best
        )

    def _new_data(self) -> str:
        found = self.cross_validated
        if found.infeasible_folds == found.folds:
            return f"unknown: no thresholds in any of {found.folds} folds"
        held = "".join(f", {text} is {value:.4g}" for text, value in found.constraints.items())
        if self.each:
            held += f", {' and '.join(self.each)} is broken in {plural(found.broken_segments, 'segment')}"
        held += "".join(f", a gap of {text} is {value:.4g}" for text, value in found.gap.items())
        return f"{found.value:.6g}  ({found.folds}-fold cross-validated{held})"

    def _single(self) -> str:
        best = self.single
        if best.value is None or best.interval is None:
            return "none meets the constraints"
        return f"{count(best.value)} at {best.interval.shortest}"

    def _separate(self) -> str:
        found = self.separate
        notes = [f"breaks {text}: {found.constraints[text]:.4g}" for text in found.broken]
        if self.guarantee is not None:
            notes.append("without a guarantee")
        if found.unsolved:
            have = "has" if found.unsolved == 1 else "have"
            notes.append(f"{plural(found.unsolved, 'segment')} {have} none")
        return count(found.value) + (f"  ({'; '.join(notes)})" if notes else "")

    def _proof(self) -> str:
        proof = self.certificate
        if self.guarantee is not None:
            certified = plural(self.guarantee.certified, "certified cut")
            return f"the best of {certified} along the frontier"
        left = f"{proof.cuts_left:,} of {proof.cuts:,} cuts left after pruning"
        if self.status == "optimal":
            return f"optimal: bound and value meet, {left}"
        return f"not proven: no thresholds are better than {exact(proof.upper)}, {left}"

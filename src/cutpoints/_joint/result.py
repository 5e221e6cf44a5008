"""The answer: one threshold per segment, what they do together, the proof, and what stands beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.segment_keys import decide_by, key_parts, key_to_dict, key_words
from cutpoints._equality import compared_by_value
from cutpoints._format import count, exact, json_fields, json_number, plural, rows_in_words, short
from cutpoints._goal import in_words
from cutpoints._shown import (
    Beside,
    Deployable,
    DeployableBySegment,
    Deployed,
    JsonForm,
    KnownColumns,
    ShownInRows,
    Tabular,
)
from cutpoints._wording import Argument, joined
from cutpoints.exceptions import InfeasibleError
from cutpoints.metrics.columns import CELLS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._joint.beside import CrossValidatedJoint, Separate
    from cutpoints._joint.frontier import Frontier
    from cutpoints._kernel.segment_cuts import SegmentCuts
    from cutpoints._result import Attainable, Confusion, Guarantee, Interval, Solution
    from cutpoints._search.joint import Best


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

    @classmethod
    def of(
        cls, cuts: SegmentCuts, goal: Goal, value: float | None, best: Best | None, passes: int = 1
    ) -> JointCertificate:
        """Say how good thresholds of this value are proven to be; `best` is how a search found them."""
        lower = upper = -goal.sign * math.inf if value is None else value
        if best is not None and not best.proven:
            upper = float(goal.sign * best.bound)
        ends = (lower, upper) if goal.sign > 0 else (upper, lower)
        return cls(*ends, len(cuts.tp), best.left if best else 0, passes, cuts.grid.resolution)


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


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Together(Beside, Deployable, ShownInRows, Tabular, Mapping[Any, Any]):
    """What joint thresholds of segments and those of labels have in common."""

    status: Literal["optimal", "gap_limit", "infeasible", "none_certified"]
    objective: str
    direction: Literal["maximize", "minimize"]
    constraints: tuple[str, ...]
    each: tuple[str, ...]
    rows: int
    certificate: JointCertificate
    value: float | None = None
    thresholds: dict[Any, float] = field(default_factory=dict)
    attainable: tuple[Attainable, ...] = ()
    _beside: Mapping[str, Callable[[], Any]] = field(default_factory=dict, compare=False)
    _columns: KnownColumns = field(default=KnownColumns(), compare=False)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.thresholds)

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def _best_attainable(self) -> list[Attainable]:
        """The best of each constraint, where the others hold if that is known."""
        return [one.with_others or one for one in self.attainable]

    def _unattained(self) -> InfeasibleError:
        """Return the error of constraints that no thresholds meet."""
        together = all(one.with_others is not None for one in self.attainable)
        best = self._best_attainable if together else self.attainable
        return infeasible({one.constraint: one.value for one in best}, together=together)

    def _pruned(self) -> str:
        return f"{self.certificate.cuts_left:,} of {self.certificate.cuts:,} cuts left after pruning"


def infeasible(attainable: Mapping[str, float], *, together: bool = False) -> InfeasibleError:
    """Return the error of thresholds that do not exist.

    `attainable` has the best value of each constraint over all thresholds, or among those that meet the
    others.
    """
    names = joined([f"'{text}'" for text in attainable], "and")
    best = "; ".join(
        f"'{text}' {'undefined' if math.isnan(value) else count(value)}" for text, value in attainable.items()
    )
    where = " while the others hold" if together else ""
    return InfeasibleError(
        f"No thresholds meet {names}{' together' if len(attainable) > 1 else ''}. "
        f"The best possible{where}: {best}.",
        hint="relax a constraint to slightly beyond its value, which is rounded.",
        constraints=tuple(attainable),
    )


def infeasible_in(each: Sequence[str], segment: str | None = None) -> InfeasibleError:
    """Return the error of a segment, or of a label, in which no threshold meets what must hold in each."""
    names = joined([f"'{text}'" for text in each], "and")
    if segment is None:
        return InfeasibleError(
            f"At least one label has no threshold that meets {names}, which must hold for each label.",
            hint=("relax it, or let rare labels share a threshold with ", Argument("min_rows"), "."),
            constraints=tuple(each),
        )
    return InfeasibleError(
        f"No threshold of segment {segment} meets {names}, which must hold in each segment.",
        hint="relax it, or merge small segments.",
        constraints=tuple(each),
    )


@compared_by_value
@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class JointSolution(DeployableBySegment, Together):
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

    by: tuple[str, ...]
    gap: tuple[str, ...]
    positives: int | float
    negatives: int | float
    confusion: Confusion | None = None
    guarantee: Guarantee | None = None
    empty: Any = None
    """If infeasible: the key of a segment in which no threshold meets what must hold in each, in a tuple."""

    def __getitem__(self, key: Any) -> SegmentThreshold:
        return self._segments[key]

    @cached_property
    def _segments(self) -> dict[Any, SegmentThreshold]:
        return self._look_at("_segments") if self.thresholds else {}

    @cached_property
    def single(self) -> Solution:
        """The best single threshold for the same goal; what must hold in each segment is left out."""
        return self._look_at("single")

    @cached_property
    def separate(self) -> Separate:
        """Each segment by itself, as `find_by` does, and what that makes over all rows."""
        return self._look_at("separate")

    @cached_property
    def cross_validated(self) -> CrossValidatedJoint:
        """The value to expect on new data: each fold is judged by the thresholds of the other folds.

        Several thresholds fit the data more closely than one, so the value of the search is too good.
        Computed when it is first looked at, which takes about five times as long as the search.
        """
        return self._look_at("cross_validated")

    @cached_property
    def randomized(self) -> float | None:
        """With a gap: the best value if rows could be decided by chance, which fixed thresholds cannot beat.

        NaN where the rate is not linear in the counts of a segment, such as precision; None without a gap.
        """
        return self._look_at("randomized") if self.gap else None

    def frontier(self) -> Frontier:
        """Return the most true positives for any number of false positives, with their thresholds."""
        return self._frontier

    @cached_property
    def _frontier(self) -> Frontier:
        return self._look_at("_frontier")

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
        return Deployed("segments", rule, self._columns, found_on)

    def raise_if_infeasible(self) -> JointSolution:
        """Return itself, or raise `InfeasibleError` saying what can be attained, or what it would take."""
        if self.status == "none_certified":
            assert self.guarantee is not None
            raise self.guarantee.refusal(self.constraints, self.rows)
        if self.status == "infeasible":
            if self.empty is not None:
                raise infeasible_in(self.each, repr(self.empty[0]))
            if not self.attainable:
                raise infeasible({f"a gap of {text}": math.nan for text in self.gap})
            raise self._unattained()
        return self

    def table(self) -> dict[str, list[Any]]:
        """Return one row per segment, as columns by name: the keys, the threshold, what it does."""
        entries = list(self.values())
        parts = [key_parts(key, self.by) for key in self]
        return {
            **{name: [part[i] for part in parts] for i, name in enumerate(self.by)},
            **{name: [getattr(one, name) for one in entries] for name in ("threshold", "value")},
            **{name: [getattr(one.confusion, name) for one in entries] for name in CELLS},
            "rows": [one.rows for one in entries],
        }

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
        rows = [[*self.by, "threshold", *CELLS, "rows"]]
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
        by_chance = self.randomized
        if by_chance is not None and not math.isnan(by_chance):
            text = f"{count(by_chance)} at most, if equal rows may be decided differently"
            lines.insert(1, ("by chance", text))
        return lines

    def _promise(self) -> str:
        assert self.guarantee is not None
        return self.guarantee.in_words(self.constraints, found=self.value is not None)

    def _why(self) -> str:
        if self.empty is not None:
            return f"no threshold of segment {self.empty[0]!r} meets {' and '.join(self.each)}"
        if not self.attainable:
            return f"no thresholds have a gap of {' and '.join(self.gap)}"
        return "no thresholds meet the constraints; the best are " + ", ".join(
            f"{count(one.value)} for {one.constraint}" for one in self._best_attainable
        )

    def _new_data(self) -> str:
        found = self.cross_validated
        if found.infeasible_folds == found.folds:
            return f"unknown: no thresholds in any of {found.folds} folds"
        held = "".join(f", {text} is {short(value)}" for text, value in found.constraints.items())
        if self.each:
            held += f", {' and '.join(self.each)} is broken in {plural(found.broken_segments, 'segment')}"
        held += "".join(f", a gap of {text} is {short(value)}" for text, value in found.gap.items())
        return f"{count(found.value)}  ({found.folds}-fold cross-validated{held})"

    def _single(self) -> str:
        best = self.single
        if best.value is None or best.interval is None:
            return "none meets the constraints"
        return f"{count(best.value)} at {best.interval.shortest}"

    def _separate(self) -> str:
        found = self.separate
        notes = [f"breaks {text}: {short(found.constraints[text])}" for text in found.broken]
        if self.guarantee is not None:
            notes.append("without a guarantee")
        if found.unsolved:
            have = "has" if found.unsolved == 1 else "have"
            notes.append(f"{plural(found.unsolved, 'segment')} {have} none")
        return count(found.value) + (f"  ({'; '.join(notes)})" if notes else "")

    def _proof(self) -> str:
        if self.guarantee is not None:
            certified = plural(self.guarantee.certified, "certified cut")
            return f"the best of {certified} along the frontier"
        if self.status == "optimal":
            return f"optimal: bound and value meet, {self._pruned()}"
        return f"not proven: no thresholds are better than {exact(self.certificate.upper)}, {self._pruned()}"

"""The answer: a threshold, what it does, and the proof that nothing is better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from cutpoints._format import (
    count,
    exact,
    interval_text,
    json_fields,
    json_form,
    json_number,
    plural,
    rows_in_words,
    shortest_inside,
)
from cutpoints._goal import Goal, goal, in_words, objective
from cutpoints._kernel.weights import as_number
from cutpoints._shown import Deployable, Deployed, JsonForm, KnownColumns, Shown
from cutpoints._theory import Theory, theory_of
from cutpoints._wording import joined
from cutpoints.exceptions import CutpointError, InfeasibleError, InvalidParameterError
from cutpoints.metrics.columns import CELLS
from cutpoints.metrics.registry import PLAIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._kernel.tables import Summary, Sums
    from cutpoints._search.run import ScoreDistribution
    from cutpoints.metrics.columns import Column, Part

TIES_IN_JSON = 1000
"""Ties that `Solution.to_dict` lists at most; `ties_total` counts them all."""


class Interval(NamedTuple):
    """All thresholds that make the same decisions: ``low < threshold <= high``."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The threshold halfway between the neighboring scores; `high` if there is none.

        >>> Interval(0.25, 0.75).middle
        0.5
        """
        half = self.low / 2 + self.high / 2
        return half if self.low < half < self.high else self.high

    @property
    def shortest(self) -> str:
        """The threshold with the fewest digits: the one to read, to copy and to type.

        >>> Interval(0.671352, 0.6713854).shortest
        '0.67138'
        """
        return shortest_inside(self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"low": json_number(self.low), "high": json_number(self.high)}


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """Counts (or weights) of the four kinds of rows: hits, false alarms, misses, rightly left alone.

    Examples
    --------
    >>> Confusion(tp=9, fp=2, fn=1, tn=8).metric("f1")
    0.8571428571428571
    """

    tp: int | float
    fp: int | float
    fn: int | float
    tn: int | float

    def __post_init__(self) -> None:
        for name in CELLS:
            value = getattr(self, name)
            is_number = isinstance(value, (int, float, Real))  # in this order: the last is slow to ask
            if not (is_number and 0 <= value < math.inf):
                raise InvalidParameterError(
                    name, caller="Confusion", expected="a finite number >= 0", got=value
                )

    @classmethod
    def of(cls, counts: Mapping[str, Fraction]) -> Confusion:
        """Take exact counts by name: integers stay integers, other weights become floats."""
        return cls(**{name: as_number(counts[name]) for name in CELLS})

    def metric(self, metric: Any) -> float:
        """Return the value of a metric, by name or as an expression.

        A cost with columns has one where these columns were added up: in what `find`, `evaluate` and `curve`
        return if they are asked about it.
        """
        return objective(metric, "metric", "metric").rounded(**self.fractions(), columns=self.columns)

    @property
    def columns(self) -> dict[Column, list[Part]]:
        """The cells of the columns that were added up beside the counts."""
        found: dict[Column, list[Part]] = vars(self).get("_columns", {})
        return found

    def with_columns(self, columns: dict[Column, list[Part]]) -> Confusion:
        """Return the same counts, with the cells of columns."""
        made = replace(self)
        if columns:
            object.__setattr__(made, "_columns", columns)  # no field: it is neither shown nor compared
        return made

    def fractions(self) -> dict[str, Fraction]:
        """Return the four counts by name, as exact fractions."""
        return {name: Fraction(count) for name, count in self.to_dict().items()}

    def in_words(self) -> str:
        """Write the four counts with their names."""
        return "  ".join(f"{name} {count(number)}" for name, number in self.to_dict().items())

    def to_dict(self) -> dict[str, int | float]:
        """Return the four counts by name."""
        return {"tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}


@dataclass(frozen=True)
class Cut(JsonForm):
    """One cut: its threshold, the interval of thresholds that do the same, its confusion."""

    threshold: float
    interval: Interval
    confusion: Confusion


class Ties(Sequence[Cut]):
    """The other cuts of equal value, thresholds descending; made when they are looked at.

    All of them if `complete`. On data beyond memory, ties that are too many to be held are left out,
    such as all cuts below the lowest positive where recall alone is maximized.
    """

    def __init__(
        self,
        summary: Summary,
        thresholds: NDArray[Any],
        below: NDArray[Any],
        tp: Sums,
        fp: Sums,
        *,
        complete: bool = True,
    ) -> None:
        self._summary, self._below, self._tp, self._fp = summary, below, tp, fp
        self.thresholds = thresholds
        self.complete = complete

    def __len__(self) -> int:
        return len(self.thresholds)

    @overload
    def __getitem__(self, index: int) -> Cut: ...
    @overload
    def __getitem__(self, index: slice) -> list[Cut]: ...
    def __getitem__(self, index: int | slice) -> Cut | list[Cut]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        counts = self._summary.confusion(int(self._tp[index]), int(self._fp[index]))
        return make_cut(counts, self.thresholds[index], self._below[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self.thresholds.tolist()))

    def __repr__(self) -> str:
        pairs = zip(self._below[:5].tolist(), self.thresholds[:5].tolist(), strict=True)
        shown = ", ".join(shortest_inside(low, high) for low, high in pairs)
        return f"[{shown}{', ...' if len(self) > 5 else ''}]"


def make_cut(
    counts: Mapping[str, Fraction],
    threshold: Any,
    below: Any,
    columns: dict[Column, list[Part]] | None = None,
) -> Cut:
    """Build a cut from an exact confusion."""
    high = float(threshold)
    return Cut(high, Interval(float(below), high), Confusion.of(counts).with_columns(columns or {}))


@dataclass(frozen=True)
class Context:
    """What a policy records of the data that a solution was found on."""

    summary: Summary
    called: tuple[int, int]
    """The sums called positive, of positives and of negatives, in units of the grid."""
    distribution: ScoreDistribution
    by_class: ScoreDistribution
    """The same with many edges where either class is, for cross-validation."""
    columns: KnownColumns
    lower_is_positive: bool = False
    """Whether scores were negated."""


@dataclass(frozen=True)
class Certificate(JsonForm):
    """The proof, in numbers: no cut has a value beyond `upper`, and the threshold attains `lower`.

    `passes` over the data; `rows_examined` were looked at one by one, all others were excluded by
    a bound. Sums are exact: each weight, and each value of a column that the goal adds up, is rounded once,
    by at most `resolution`, and added as an integer; cuts that floats cannot tell apart are compared as
    fractions. Without weights nothing is rounded, nor are integers and amounts with two decimals.
    """

    method: str
    lower: float
    upper: float
    passes: int
    rows_examined: int
    resolution: float = 0.0


@dataclass(frozen=True)
class Attainable:
    """The best that any cut attains for one constraint: `value`, at `threshold`; and whether that meets it.

    `with_others` is the same among the cuts that meet all other constraints, where each can be met by
    itself: to which value this one would have to be relaxed. None elsewhere, and if the others exclude
    each other.
    """

    constraint: str
    value: float
    threshold: float
    met: bool
    with_others: Attainable | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        others = self.with_others
        return {
            "constraint": self.constraint,
            "attainable": json_number(self.value),
            "threshold": json_number(self.threshold),
            "met": self.met,
            "with_others": None
            if others is None
            else {"attainable": json_number(others.value), "threshold": json_number(others.threshold)},
        }


@dataclass(frozen=True)
class Guarantee(JsonForm):
    """What is promised of the constraints on new data from the same source, and on what grounds.

    With probability `confidence` over samples like this one, the constraints hold at the threshold on
    new rows; ``"expectation"``: they hold on average. Rows must be independent draws. `method` says
    how it was certified, on `calibration_rows` rows after a pilot of `pilot_rows` others; of the
    `tested` thresholds (or bounds), `certified` cuts were left to choose from. If none was,
    `more_rows` estimates how many more rows would do; None: no threshold seems to meet them.
    """

    confidence: float | Literal["expectation"]
    method: Literal["order statistics", "learn then test", "conformal risk control"]
    pilot_rows: int
    calibration_rows: int
    tested: int
    certified: int
    more_rows: int | None = 0

    def refusal(self, constraints: Sequence[str], rows: int) -> InfeasibleError:
        """Return the error of constraints that hold at no threshold with this confidence."""
        how = "in expectation" if self.confidence == "expectation" else f"with confidence {self.confidence}"
        names = joined([f"'{text}'" for text in constraints], "and")
        found = f"No threshold can be certified to meet {names} on new data {how}. "
        if self.more_rows is None:
            found += f"Among the {rows:,} rows, no threshold is clearly on the right side of the bound."
            hint = "relax the constraint, or improve the scores; more rows like these would hardly help."
        else:
            found += f"The {rows:,} rows are too few."
            hint = f"about {self.more_rows:,} more rows would be needed"
            hint += "; or relax the constraint or the confidence."
        return InfeasibleError(found, hint=hint, constraints=tuple(constraints))

    def in_words(self, constraints: Sequence[str], *, found: bool) -> str:
        """Say what is promised of the constraints on new data, or what it would take."""
        how = "on average" if self.confidence == "expectation" else f"with confidence {self.confidence:g}"
        if found:
            names = " and ".join(constraints)
            return f"{names} on new data, {how} ({self.method}, {self.calibration_rows:,} rows)"
        if self.more_rows is None:
            return f"{how} at no threshold, and more rows like these would hardly help"
        return f"{how} at no threshold; about {self.more_rows:,} more rows would be needed"


@dataclass(frozen=True)
class EachGroup(JsonForm):
    """What holds in every group at the one threshold, and the group that leaves the least room.

    `group` is the key of that group in the columns `by`, `constraint` what it is closest to breaking, and
    `value` the constraint's metric there. Where no threshold is allowed in all groups, `group` is the one
    that allows the fewest, and `value` is NaN.
    """

    by: tuple[str, ...]
    constraints: tuple[str, ...]
    groups: int
    group: Any
    constraint: str
    value: float

    def __str__(self) -> str:
        what = f"{' and '.join(self.constraints)} in each of {self.groups:,} groups by {', '.join(self.by)}"
        keys = self.group if len(self.by) > 1 else (self.group,)
        name = ", ".join(f"{column} {json_form(key)}" for column, key in zip(self.by, keys, strict=True))
        if math.isnan(self.value):
            return f"{what}; the strictest is {name}"
        return f"{what}; the tightest is {name}, with {count(self.value)}"


@dataclass(frozen=True, repr=False)
class Solution(Deployable, Shown):
    """The best threshold for a goal, or the news that there is none.

    Attributes
    ----------
    status : {"optimal", "infeasible", "none_certified", "time_limit", "gap_limit"}
        Infeasible: no cut meets the constraints. `threshold`, `value`, `interval` and `confusion`
        are then None, and `attainable` says how far each constraint can be met. None certified:
        the same, where the constraints could not be certified with the asked confidence;
        ``guarantee.more_rows`` says how many more rows would be needed. Time limit and gap limit:
        the solver of `cutpoints.ilp` was stopped early; the threshold is the best so far, and no
        other is better than ``certificate.upper``.
    threshold : float
        Positive iff ``score >= threshold``. By default the lowest score that is called positive,
        so that decisions replay bit for bit; ``inf`` calls no row positive.
    interval : Interval
        All thresholds in ``(low, high]`` make the same decisions on the data.
    value : float
        The objective at the threshold, rounded once from its exact value.
    confusion : Confusion
        What the threshold does on the data; exact.
    ties : sequence of Cut
        The other cuts of exactly equal value; the chosen one calls the fewest rows positive.
    certificate : Certificate
        The proof that it is the optimum; with a guarantee, among the certified thresholds.
    guarantee : Guarantee or None
        What is promised of the constraints on new data, if a `guarantee` was asked for.
    each : EachGroup or None
        What holds in every group, and the group that leaves the least room, if `each` was given.
    """

    status: Literal["optimal", "infeasible", "none_certified", "time_limit", "gap_limit"]
    objective: str
    direction: Literal["maximize", "minimize"]
    constraints: tuple[str, ...]
    rows: int
    positives: int | float
    negatives: int | float
    certificate: Certificate
    threshold: float | None = None
    value: float | None = None
    interval: Interval | None = None
    confusion: Confusion | None = None
    ties: Sequence[Cut] = ()
    attainable: tuple[Attainable, ...] = ()
    guarantee: Guarantee | None = None
    each: EachGroup | None = None
    _context: Context | None = field(default=None, compare=False, repr=False)

    def _deployed(self) -> Deployed:
        context = self._context
        if self.lower_is_positive:
            raise InvalidParameterError(
                "lower_is_positive",
                caller="policy",
                expected="left out: the rule of a policy is score >= threshold, and this one is about -score",
                got=True,
                hint="make a column of the negated scores, and find the threshold of that.",
            )
        found_on = {name: getattr(self, name) for name in ("interval", "certificate", "guarantee")}
        found_on["each"] = () if self.each is None else self.each.constraints
        columns = KnownColumns() if context is None else context.columns
        return Deployed("threshold", {"threshold": self.threshold}, columns, found_on)

    def decide(self, y_score: Any) -> NDArray[np.int8]:
        """Return 1 where a score is called positive and 0 elsewhere; NaN scores are an error.

        float32 scores are compared as float32 if the threshold was found on such, so that the
        decisions are those that were promised.
        """
        from cutpoints._data.array_input import as_floats, refuse_nan

        threshold = self.raise_if_infeasible().threshold
        scores = as_floats(y_score, "y_score", "decide")
        refuse_nan(scores, "y_score")
        # A NumPy float64, and not a Python float, which NumPy would round to the scores' float32.
        if self.lower_is_positive:
            scores = 0 - (scores if scores.dtype.kind == "f" else scores.astype(np.float64))
        return (scores >= np.float64(threshold)).astype(np.int8)

    @property
    def lower_is_positive(self) -> bool:
        """Whether low scores mean positive: the threshold is then one of ``-score``."""
        return self._context is not None and self._context.lower_is_positive

    @property
    def rule(self) -> str:
        """The rule in words: which scores are called positive."""
        if not self.lower_is_positive or self.interval is None:
            return "positive if score >= threshold"
        text = self.interval.shortest
        return (
            f"positive if -score >= threshold, that is score <= {text[1:] if text[0] == '-' else '-' + text}"
        )

    @property
    def theory(self) -> Theory | None:
        """Where calibrated probabilities would have the threshold, if the scores are probabilities.

        For f1 that is half the best f1. For a solution of `find_expected` it is the same threshold; for one
        of `find`, on labels, the gap between the two tells how calibrated the probabilities are where it
        matters. The optimum on labels scatters too, so a small gap on few rows means little; `calibration`
        has tests. None with constraints, and where the objective is no quotient of linear functions of TP
        and FP, as f1, jaccard, accuracy, costs and most others are.

        Examples
        --------
        >>> import cutpoints as cp
        >>> s = cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1")
        >>> s.threshold, s.theory.threshold
        (0.35, 0.4)
        >>> print(s.theory.sentence)
        The best threshold for f1 is 0.35, while calibrated probabilities would have it at 0.4 (lambda / 2):
        a gap of 0.05. If it is not chance, probabilities near the threshold are too low by about that much.
        """
        try:
            wanted = self.goal()
        except CutpointError:  # a function of the user's
            return None
        return None if wanted.constraints or wanted.columns else theory_of(self, wanted.expression)

    def metrics(self) -> dict[str, float]:
        """Return the whole catalogue at this threshold; NaN where a metric is undefined."""
        confusion = self.raise_if_infeasible().confusion
        assert confusion is not None
        counts = confusion.fractions()
        return {metric.name: metric.rounded(**counts) for metric in PLAIN}

    def goal(self) -> Goal:
        """Return the goal that was searched for, read again from its text."""
        asked: Any = {self.direction: self.objective}
        return goal(**asked, subject_to=self.constraints, columns=True)

    def raise_if_infeasible(self) -> Solution:
        """Return itself, or raise `InfeasibleError` saying what can be attained, or what it would take."""
        if self.status == "none_certified":
            assert self.guarantee is not None
            raise self.guarantee.refusal(self.constraints, self.rows)
        if self.status == "infeasible":
            together = all(a.with_others is not None for a in self.attainable)
            best = [a.with_others or a for a in self.attainable] if together else self.attainable
            if self.each is not None and all(a.met for a in best):
                raise InfeasibleError(
                    f"No threshold meets {self.each}.",
                    hint="relax the constraint, or find one threshold per group with find_by().",
                    constraints=self.each.constraints,
                )
            raise InfeasibleError.of(
                attainable={a.constraint: (a.value, a.threshold) for a in best},
                undefined=self.objective if all(a.met for a in best) else None,
                together=together,
            )
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        found = self.threshold is not None
        metrics = {k: json_number(v) for k, v in self.metrics().items()} if found else None
        return {**self.to_short_dict(), "metrics": metrics}

    def to_short_dict(self) -> dict[str, Any]:
        """Return the JSON form without the catalogue of metrics, which is what takes time."""
        goal = ("objective", "direction", "constraints")
        shown = {
            **json_fields(self, "status", "threshold", "value", *goal, "interval", "confusion"),
            "ties": json_form(self.ties[:TIES_IN_JSON]),
            "ties_total": len(self.ties),
            "ties_complete": self.ties.complete if isinstance(self.ties, Ties) else True,
            **json_fields(self, "certificate", "rows", "positives", "negatives"),
        }
        if self.lower_is_positive:
            shown["lower_is_positive"] = True
        more = ("guarantee", "each") if self.threshold is not None else ("guarantee", "each", "attainable")
        return shown | {name: one for name, one in json_fields(self, *more).items() if one is not None}

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as names and texts."""
        goal = in_words(self.direction, self.objective, self.constraints)
        data = rows_in_words(self.rows, self.positives, self.negatives)
        if self.status == "infeasible":
            lines = [("status", "infeasible: no threshold meets the constraints"), ("goal", goal)]
            for a in self.attainable:
                text = f"{a.constraint}: best {exact(a.value)} at {exact(a.threshold)}"
                if a.with_others is not None:
                    best = a.with_others
                    text += f"; where the others hold {exact(best.value)} at {exact(best.threshold)}"
                lines.append(("attainable", text))
            if self.each is not None:
                lines.append(("each", str(self.each)))
            return [*lines, ("data", data)]
        if self.status == "none_certified":
            return [("status", f"none certified: {self.promise()}"), ("goal", goal), ("data", data)]
        assert self.interval is not None
        assert self.confusion is not None
        assert self.value is not None
        lines = [
            ("threshold", f"{self.interval.shortest}  ({self.rule})"),
            ("value", f"{count(self.value)}  ({goal})"),
            ("interval", interval_text(*self.interval)),
            ("confusion", self.confusion.in_words()),
            ("certificate", f"{self._proven()} ({self.effort()})"),
            ("data", data),
        ]
        if self.ties:
            lines.insert(2, ("ties", f"{len(self.ties):,} more of equal value: {self.ties!r}"))
        if isinstance(self.ties, Ties) and not self.ties.complete:
            lines.insert(2, ("ties", "more cuts of equal value, with lower thresholds, than can be listed"))
        if self.guarantee is not None:
            lines.insert(-1, ("guarantee", self.promise()))
        if self.each is not None:
            lines.insert(-1, ("each", str(self.each)))
        return lines

    def effort(self) -> str:
        """Say in words how the optimum was found: the method, and what became of the rows."""
        proof = self.certificate
        counted = f"all {plural(self.rows, 'row')} compared"
        if proof.rows_examined < self.rows:
            counted = f"all {self.rows:,} rows counted; {proof.rows_examined:,} compared one by one"
        return f"{proof.method}, {plural(proof.passes, 'pass', 'passes')}: {counted}"

    def _proven(self) -> str:
        """Say in words how far the certificate goes."""
        if self.status == "optimal":
            return "optimal"
        why = "time limit" if self.status == "time_limit" else "gap limit"
        return f"stopped at the {why}, no threshold is better than {exact(self.certificate.upper)}"

    def promise(self) -> str:
        """Say in words what is promised of the constraints on new data, or what it would take."""
        assert self.guarantee is not None
        return self.guarantee.in_words(self.constraints, found=self.status == "optimal")


def context_of(solution: Solution) -> Context | None:
    """Return what a solution knows of its data; users need not see it."""
    return solution._context  # noqa: SLF001 - only for modules of this package

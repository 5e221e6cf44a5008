"""One solution per segment: the result of `find_by`, and how it comes about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from cutpoints._data.segment_codes import in_order
from cutpoints._data.segment_keys import decide_by, key_of, key_parts, key_to_dict, key_words
from cutpoints._data.segments import Grouped
from cutpoints._format import count, json_number, plural
from cutpoints._goal import Goal, furthest, goal, in_words, with_others
from cutpoints._kernel.cuts import Cuts
from cutpoints._kernel.tables import Ranges
from cutpoints._kernel.weights import FixedPoint, as_number
from cutpoints._result import Confusion, Solution, context_of, make_cut
from cutpoints._search.counted_folds import expected_value, expected_values
from cutpoints._search.together import search_together
from cutpoints._shown import DeployableBySegment, Deployed, ShownInRows, Tabular
from cutpoints._wording import Argument
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError
from cutpoints.metrics.columns import CELLS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.groupby_segments import FrameSegments
    from cutpoints._kernel.tables import Histogram, Rows, Summary
    from cutpoints._search.run import SearchResult
    from cutpoints.metrics.expression import Constraint

    Look = Callable[[int, Goal], SearchResult]

FEW_ROWS_OF_A_CLASS = 10
"""With fewer positives or negatives, the threshold of a segment is mostly chance."""
MOST_CROSS_VALIDATED = 500
"""More segments are not cross-validated: it takes milliseconds for each."""
_COLUMNS = (
    *("threshold", "value", "cross_validated", "value_at_common", *CELLS),
    *("rows", "positives", "negatives", "status", "note"),
)


class AtCommon(NamedTuple):
    """What the common threshold does in a segment; `value` is NaN where the goal is undefined.

    `broken` has the constraints that do not hold there.
    """

    value: float
    confusion: Confusion
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Unsolved:
    """A segment that has no solution, and why: too few rows, or a goal that is undefined for them.

    It has the attributes of a `Solution` that people look at first; what was not found is None.
    """

    error: InvalidInputError
    status: Literal["too_few_rows", "undefined"]
    rows: int
    positives: int | float
    negatives: int | float
    threshold: None = None
    value: None = None
    interval: None = None
    confusion: None = None

    @property
    def reason(self) -> str:
        """What is wrong, in one sentence or two."""
        return str(self.error).split("\n\n")[0]

    def decide(self, y_score: Any) -> NDArray[np.int8]:
        """Raise the error: there is no threshold to decide by."""
        raise self.error

    def raise_if_infeasible(self) -> Solution:
        """Raise the error."""
        raise self.error

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, with the first names of a solution's."""
        return {
            "status": self.status,
            "threshold": None,
            "value": None,
            "reason": self.reason,
            "rows": self.rows,
            "positives": self.positives,
            "negatives": self.negatives,
        }


class Segments(DeployableBySegment, ShownInRows, Tabular, Mapping[Any, "Solution | Unsolved"]):
    """Solutions by segment; a mapping from keys, in ascending order, to `Solution` or `Unsolved`.

    The key of a segment is the value of its column, or a tuple where there are several. Rows without
    a key are a segment of their own, with the key None, and come last: no row is left out.

    Attributes
    ----------
    by : tuple of str
        The names of the columns.
    objective, direction, constraints
        The goal, the same for all.
    solved : dict
        The segments that have a threshold.
    unsolved : dict of str
        The others, and why they have none.
    common : Solution or None
        The best single threshold for all rows, to compare with; None if there is none. Searched when it is
        first looked at: where rows stay in their engine, in as many passes as `find` takes, and one more.
    at_common : dict of AtCommon
        The `value` and the `confusion` of each segment at that threshold, and which constraints it breaks.
    cross_validated : dict of float or None
        The value to expect on new data of each segment with a threshold; None where that cannot be said:
        with fewer than five rows of a class, with weights, with a guarantee, for more than 500 segments.
    warnings : tuple of str
        Segments with few rows of a class, and segments that overfit: where a common threshold has the
        better cross-validated value, which is known for rows in memory.

    Examples
    --------
    >>> import cutpoints as cp
    >>> found = cp.find_by(
    ...     [0, 1, 1, 0, 1, 1],
    ...     [0.2, 0.6, 0.9, 0.7, 0.8, 0.3],
    ...     by=["DE", "DE", "DE", "FR", "FR", "IT"],
    ...     maximize="youden_j",
    ... )
    >>> found
    segment  threshold  value  new data  common  tp  fp  fn  tn  rows  note
    DE             0.6      1         -     0.5   2   0   0   1     3  1 negative
    FR             0.8      1         -       1   1   0   0   1     2  1 negative
    IT               -      -         -       -   -   -   -   -     1  undefined: no negative rows
    <BLANKLINE>
    goal    maximize youden_j
    solved  2 of 3 segments
    common  0.8: youden_j 0.5 over all rows
    >>> found["DE"].threshold
    0.6
    >>> found["IT"].reason
    "The objective 'youden_j' must be defined at one cut at least. It is 0/0 at every cut of ..."
    """

    def __init__(
        self,
        by: tuple[str, ...],
        goal: Goal,
        entries: dict[Any, Solution | Unsolved],
        rows: Grouped | FrameSegments,
        solve_all: Callable[[], Solution],
    ) -> None:
        self.by = by
        self.objective, self.direction = str(goal.expression), goal.direction
        self.constraints = tuple(map(str, goal.constraints))
        self._entries = entries
        self._rows = rows, solve_all, goal

    def __getstate__(self) -> dict[str, Any]:
        # The rows stay behind: what is told of them goes along.
        _ = self._common, self._expected
        return {name: value for name, value in vars(self).items() if name != "_rows"}

    def __getitem__(self, key: Any) -> Solution | Unsolved:
        return self._entries[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def solved(self) -> dict[Any, Solution]:
        """The segments that have a threshold."""
        return {
            key: entry
            for key, entry in self._entries.items()
            if isinstance(entry, Solution) and entry.threshold is not None
        }

    @property
    def unsolved(self) -> dict[Any, str]:
        """The segments that have no threshold, and why."""
        return {key: _why(entry) for key, entry in self._entries.items() if entry.threshold is None}

    @cached_property
    def _common(self) -> tuple[Solution | None, dict[Any, AtCommon]]:
        rows, solve_all, goal = self._rows
        try:
            found = solve_all()
        except InvalidInputError:  # undefined for all rows
            return None, {}
        if found.threshold is None:
            return None, {}
        keys = map(key_of, rows.keys)
        return found, dict(zip(keys, _at(rows, found.threshold, goal), strict=True))

    @property
    def common(self) -> Solution | None:
        """The best single threshold for all rows; a search, made when it is first asked for."""
        return self._common[0]

    @property
    def at_common(self) -> dict[Any, AtCommon]:
        """What the common threshold does in each segment."""
        return self._common[1]

    @cached_property
    def _expected(self) -> dict[Any, tuple[float | None, float | None]]:
        """The values to expect of each segment: at its own threshold, and at a common one."""
        rows, solved = self._rows[0], self.solved
        if len(solved) > MOST_CROSS_VALIDATED or any(one.guarantee for one in solved.values()):
            return dict.fromkeys(solved, (None, None))
        if not isinstance(rows, Grouped):
            return {key: (expected_value(one), None) for key, one in solved.items()}
        every, repeats = rows.whole.rows(None), min(10, 100 // max(len(solved), 1)) or 1
        places = {key_of(key): i for i, key in enumerate(rows.keys)}
        own = {key: rows.source(places[key]).rows(None) for key in solved}
        return {key: expected_values(one, own[key], every, repeats) for key, one in solved.items()}

    @property
    def cross_validated(self) -> dict[Any, float | None]:
        """The value to expect on new data of each segment that has a threshold; None where unknown."""
        return {key: own for key, (own, _) in self._expected.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What people should know before they use the thresholds."""
        few, over = sum(map(self._is_small, self)), sum(map(self._overfits, self))
        of = f"of {len(self):,} segments"
        found = []
        if few:
            found.append(
                f"{few:,} {of} {'has' if few == 1 else 'have'} fewer than {FEW_ROWS_OF_A_CLASS} positives or "
                "negatives: thresholds there are mostly chance."
            )
        if over:
            found.append(
                f"{over:,} {of} {'overfits' if over == 1 else 'overfit'}: on new data, the common threshold "
                "is expected to do better there than the segment's own."
            )
        return tuple(found)

    def _is_small(self, key: Any) -> bool:
        """Whether a threshold was chosen by few rows of a class, but by some of each."""
        entry = self._entries[key]
        context = context_of(entry) if isinstance(entry, Solution) else None
        counted = context is not None and context.summary.grid == FixedPoint()
        return counted and 0 < min(entry.positives, entry.negatives) < FEW_ROWS_OF_A_CLASS

    def _overfits(self, key: Any) -> bool:
        """Whether the common threshold promises more than the segment's own."""
        own, common = self._expected.get(key, (None, None))
        if own is None or common is None or key not in self.at_common or self.at_common[key].broken:
            return False
        return own < common if self.direction == "maximize" else own > common

    def raise_if_infeasible(self) -> Segments:
        """Return itself, or raise the error of the first segment if none has a threshold."""
        if not self.solved:
            next(iter(self.values())).raise_if_infeasible()
        return self

    def _deployed(self) -> Deployed:
        solved = self.solved
        rule = {"thresholds": {key: one.threshold for key, one in solved.items()}, "by": self.by}
        one = next(iter(solved.values()))._deployed()  # noqa: SLF001 - raises for scores where low is positive
        return Deployed("segments", rule, one.columns, self._found_on(solved))

    def _found_on(self, solved: dict[Any, Solution]) -> dict[str, Any] | None:
        """Return what the thresholds did, in each segment and together; None if that is undefined."""
        total = dict.fromkeys(CELLS, Fraction(0))
        records = []
        for key, one in solved.items():
            assert one.confusion is not None
            records.append((key_parts(key, self.by), one.value, one.confusion))
            for name, mass in one.confusion.fractions().items():
                total[name] += mass
        try:
            asked: Any = {self.direction: self.objective}
            value = goal(**asked).expression.rounded(**total)
        except CutpointError:  # a function of the user's
            return None
        if math.isnan(value):
            return None
        return {
            "status": next(iter(solved.values())).status,
            "value": value,
            "interval": None,
            "confusion": Confusion.of(total),
            "rows": sum(one.rows for one in solved.values()),
            "positives": as_number(total["tp"] + total["fn"]),
            "negatives": as_number(total["fp"] + total["tn"]),
            "certificate": None,
            "segments": records,
        }

    def decide(self, y_score: Any, by: Any) -> NDArray[np.int8]:
        """Return 1 where a score reaches the threshold of its segment, and 0 elsewhere.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,)
            The scores.
        by : array-like of shape (n_samples,), or a list, dict or frame of several
            The segments of the rows. A segment without a threshold is an error.
        """
        return decide_by(y_score, by, self)

    def table(self) -> dict[str, list[Any]]:
        """Return one row per segment, as columns by name: the keys, and what was found."""
        rows = []
        for key, entry in self._entries.items():
            counts = dict.fromkeys(CELLS) if entry.confusion is None else entry.confusion.to_dict()
            common = self.at_common.get(key)
            worth = (entry.value, self.cross_validated.get(key), None if common is None else common.value)
            data = (entry.rows, entry.positives, entry.negatives, entry.status, self.note(key))
            rows.append((*key_parts(key, self.by), entry.threshold, *worth, *counts.values(), *data))
        names = (*self.by, *_COLUMNS)
        return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: the goal, and for each segment its key and its solution.

        A solution is as in `Solution.to_dict`, without the catalogue of metrics.
        """
        return {
            "by": list(self.by),
            "objective": self.objective,
            "direction": self.direction,
            "constraints": list(self.constraints),
            "solved": len(self.solved),
            "unsolved": len(self) - len(self.solved),
            "common": None if self.common is None else self.common.to_short_dict(),
            "warnings": list(self.warnings),
            "segments": [
                {
                    "key": key_to_dict(key, self.by),
                    **(entry.to_short_dict() if isinstance(entry, Solution) else entry.to_dict()),
                    **self._beside(key),
                }
                for key, entry in self._entries.items()
            ],
        }

    def _beside(self, key: Any) -> dict[str, Any]:
        """Return the JSON form of what stands beside a segment's own threshold."""
        common, own = self.at_common.get(key), self.cross_validated.get(key)
        return {
            "cross_validated": None if own is None else json_number(own),
            "at_common": None
            if common is None
            else {
                "value": json_number(common.value),
                "confusion": common.confusion.to_dict(),
                "broken": list(common.broken),
            },
            "note": self.note(key),
        }

    def goal(self) -> str:
        """Return the goal in words."""
        return in_words(self.direction, self.objective, self.constraints)

    def note(self, key: Any) -> str:
        """Say in a few words what is special about a segment: no threshold, few rows, overfitting."""
        entry = self._entries[key]
        notes = [_note(entry)]
        if self._is_small(key):
            rows, name = min((entry.positives, "positive"), (entry.negatives, "negative"))
            notes.append(f"{rows} {name}{'' if rows == 1 else 's'}")
        if self._overfits(key):
            notes.append("overfits")
        return ", ".join(filter(None, notes))

    def cells(self, most: int) -> list[list[str]]:
        """Return the header and the first segments, for people."""
        names = [*self.by, "threshold", "value", "new data", *(["common"] if self.common else [])]
        rows = [[*names, *CELLS, "rows", "note"]]
        for key, entry in list(self._entries.items())[:most]:
            counts = entry.confusion.to_dict().values() if entry.confusion is not None else [None] * 4
            worth = [_cell(x) for x in (entry.value, self.cross_validated.get(key))]
            cells = [_cell(x) for x in (*counts, entry.rows)]
            threshold = "-" if entry.interval is None else entry.interval.shortest
            beside = [self.common_cell(key, _cell)] if self.common else []
            rows.append([*key_words(key, self.by), threshold, *worth, *beside, *cells, self.note(key)])
        return rows

    def common_cell(self, key: Any, show: Callable[[float], str]) -> str:
        """Return the value of a segment at the common threshold, with a star if it breaks a constraint."""
        there = self.at_common[key]
        return f"{'-' if math.isnan(there.value) else show(there.value)}{'*' if there.broken else ''}"

    @property
    def _left(self) -> list[int]:
        return [*range(len(self.by)), len(self.by) + 8 + bool(self.common)]

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read below the segments, as names and texts."""
        found = [("goal", self.goal()), ("solved", f"{len(self.solved):,} of {len(self):,} segments")]
        if self.common is not None and self.common.interval is not None:
            value = f"{self.objective} {_cell(self.common.value)}"
            star = (
                "; * breaks a constraint there" if any(one.broken for one in self.at_common.values()) else ""
            )
            found.append(("common", f"{self.common.interval.shortest}: {value} over all rows{star}"))
        return found


def check_streamed(*, method: str, guarantee: Any) -> None:
    """Raise for what only rows in memory can be asked."""
    for name, value, default in (("method", method, "auto"), ("guarantee", guarantee, None)):
        if value != default:
            raise InvalidParameterError(
                name,
                caller="find_by",
                expected="left out where the rows are not in memory",
                got=value,
                hint="filter the data, and search one segment at a time.",
            )


# --- one solution per segment


def solve_each(
    rows: Grouped | FrameSegments, solve: Callable[[int], Solution], min_rows: int
) -> dict[Any, Solution | Unsolved]:
    """Solve one segment after the other; a segment that cannot be solved stops no other."""
    entries: dict[Any, Solution | Unsolved] = {}
    for segment in in_order(rows.keys):
        key, size = key_of(rows.keys[segment]), rows.rows(segment)
        try:
            if size < min_rows:
                raise InvalidInputError(
                    f"The segment must have at least {plural(min_rows, 'row')}. It has {size:,}.",
                    hint=("join small segments, or lower ", Argument("min_rows"), "."),
                )
            entries[key] = solve(segment)
        except InvalidInputError as error:
            summary = _summary(rows, segment)
            entries[key] = Unsolved(
                error=error.with_traceback(None),
                status="too_few_rows" if size < min_rows else "undefined",
                rows=size,
                positives=summary.grid.number(summary.positives),
                negatives=summary.grid.number(summary.negatives),
            )
    return entries


def search_in_step(source: FrameSegments, goal: Goal, min_rows: int) -> Look:
    """Search all segments in step; what an infeasible one can attain is looked for in step, too."""
    large = [segment for segment in in_order(source.keys) if source.rows(segment) >= min_rows]
    answers: dict[tuple[int, tuple[Any, ...]], SearchResult | InvalidInputError] = {}

    def search(goals: Iterable[Goal], segments: list[int]) -> None:
        searches = {(segment, _name(one)): (segment, one) for one in goals for segment in segments}
        answers.update(
            search_together(source, {key: one for key, one in searches.items() if key not in answers})
        )

    def met(segment: int, constraint: Constraint) -> bool:
        best = answers[segment, _name(furthest(constraint))]
        return not isinstance(best, InvalidInputError) and best.meets(constraint)

    search([goal], large)
    found = ((segment, answers[segment, _name(goal)]) for segment in large)
    hopeless = [s for s, one in found if not isinstance(one, InvalidInputError) and one.choice is None]
    if hopeless:
        # The goals that `solve` asks for where no cut is feasible.
        search([Goal(goal.expression, goal.direction), *map(furthest, goal.constraints)], hopeless)
        each_met = [segment for segment in hopeless if all(met(segment, one) for one in goal.constraints)]
        search(with_others(goal.constraints), each_met)

    def look(segment: int, one: Goal) -> SearchResult:
        found = answers[segment, _name(one)]
        if isinstance(found, InvalidInputError):
            raise found
        return found

    return look


def _name(goal: Goal) -> tuple[Any, ...]:
    """Return what distinguishes goals of one search: their parts are the same objects in all of them."""
    return id(goal.expression), goal.direction, *map(id, goal.constraints)


def _at(rows: Grouped | FrameSegments, threshold: float, goal: Goal) -> Iterator[AtCommon]:
    """Return what a threshold does in each segment; a pass, unless the rows are in memory."""
    edge, segments = np.array([threshold]), range(len(rows.keys))
    ranges = Ranges(edge, np.array([np.inf]))
    above: Mapping[int, Rows | Histogram]
    if isinstance(rows, Grouped):
        above = {segment: rows.source(segment).rows(ranges) for segment in segments}
    else:
        most = sum(map(rows.rows, segments))
        above = rows.answer(dict.fromkeys(segments, ranges), most, count=True)
    for segment in segments:
        found = above[segment]
        tp, fp, *columns = (np.array([side.sum()]) for side in (found.pos, found.neg, *found.columns))
        cut = Cuts(_summary(rows, segment), edge, edge, tp, fp, tuple(columns))
        made = make_cut(cut.confusion(0), threshold, threshold, cut.parts(0, int))
        broken = tuple(str(one) for one in goal.constraints if not cut.feasible((one,))[0])
        yield AtCommon(cut.value(goal.expression, 0), made.confusion, broken)


def _summary(rows: Grouped | FrameSegments, segment: int) -> Summary:
    return rows.source(segment).summary() if isinstance(rows, Grouped) else rows.summary(segment)


# --- how it is shown


def _why(entry: Solution | Unsolved) -> str:
    if isinstance(entry, Unsolved):
        return entry.reason
    if entry.status == "none_certified":
        return entry.promise()
    short = [a for a in entry.attainable if not a.met]
    if not short:
        return "; ".join(
            ["Each constraint can be met by itself, but no threshold meets them all"]
            + [
                f"{a.constraint}: with the others, the best possible is {json_number(a.with_others.value)}"
                for a in entry.attainable
                if a.with_others is not None
            ]
        )
    return "; ".join(f"{a.constraint}: the best possible is {json_number(a.value)}" for a in short)


def _note(entry: Solution | Unsolved) -> str:
    """Say in a few words what is special about a segment: why it has no threshold, or one class only."""
    missing = [
        f"no {name} rows"
        for name, mass in (("positive", entry.positives), ("negative", entry.negatives))
        if mass == 0
    ]
    if isinstance(entry, Unsolved):
        if entry.status == "too_few_rows":
            return "too few rows"
        return f"undefined: {', '.join(missing)}" if missing else "undefined"
    if entry.status == "infeasible":
        short = [f"{a.constraint} attains {_cell(a.value)}" for a in entry.attainable if not a.met]
        return f"infeasible: {', '.join(short) or 'not all at once'}"
    if entry.status == "none_certified":
        return "none certified"
    return ", ".join(missing)


def _cell(x: float | None) -> str:
    return "-" if x is None or math.isnan(x) else count(x)

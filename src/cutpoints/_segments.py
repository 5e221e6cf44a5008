"""One solution per segment: the result of `find_by`, and how it comes about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.array_input import as_floats, same_index
from cutpoints._data.arrays import ArraySource
from cutpoints._data.segment_codes import coded, combined, in_order
from cutpoints._data.segments import Grouped
from cutpoints._format import count, json_form, json_number
from cutpoints._goal import Goal, furthest, goal, in_words, with_others
from cutpoints._kernel.weights import as_number
from cutpoints._result import Confusion, Solution, context_of
from cutpoints._search.together import search_together
from cutpoints._shown import DeployableBySegment, Deployed, KnownColumns, ShownInRows, Tabular
from cutpoints._validate import positive_integer
from cutpoints._wording import Argument
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.data import Data
    from cutpoints._data.groupby_segments import FrameSegments
    from cutpoints._data.segment_codes import Coded, Key
    from cutpoints._search.run import SearchResult
    from cutpoints.metrics.expression import Constraint

    Look = Callable[[Goal], SearchResult]

InMemory = Grouped
"""Rows in memory, which `find` solves one segment after the other."""
_COLUMNS = ("threshold", "value", "tp", "fp", "fn", "tn", "rows", "positives", "negatives", "status", "note")


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
    segment  threshold  value  tp  fp  fn  tn  rows  note
    DE             0.6      1   2   0   0   1     3
    FR             0.8      1   1   0   0   1     2
    IT               -      -   -   -   -   -     1  undefined: no negative rows
    <BLANKLINE>
    goal    maximize youden_j
    solved  2 of 3 segments
    >>> found["DE"].threshold
    0.6
    >>> found["IT"].reason
    "The objective 'youden_j' must be defined at one cut at least. It is 0/0 at every cut of ..."
    """

    def __init__(self, by: tuple[str, ...], goal: Goal, entries: dict[Any, Solution | Unsolved]) -> None:
        self.by = by
        self.objective, self.direction = str(goal.expression), goal.direction
        self.constraints = tuple(map(str, goal.constraints))
        self._entries = entries

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

    def raise_if_infeasible(self) -> Segments:
        """Return itself, or raise the error of the first segment if none has a threshold."""
        if not self.solved:
            next(iter(self.values())).raise_if_infeasible()
        return self

    def _deployed(self) -> Deployed:
        solved = self.solved
        rule = {"thresholds": {key: one.threshold for key, one in solved.items()}, "by": self.by}
        first = context_of(next(iter(solved.values())))
        columns = KnownColumns() if first is None else first.columns
        return Deployed("segments", rule, columns, self._found_on(solved))

    def _found_on(self, solved: dict[Any, Solution]) -> dict[str, Any] | None:
        """Return what the thresholds did, in each segment and together; None if that is undefined."""
        total = dict.fromkeys(("tp", "fp", "fn", "tn"), Fraction(0))
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
            "confusion": Confusion(**{name: as_number(mass) for name, mass in total.items()}),
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
        columns: dict[str, list[Any]] = {name: [] for name in (*self.by, *_COLUMNS)}
        for key, entry in self._entries.items():
            for name, part in zip(self.by, key_parts(key, self.by), strict=True):
                columns[name].append(part)
            counts = entry.confusion.to_dict() if entry.confusion is not None else {}
            cells = {
                "threshold": entry.threshold,
                "value": entry.value,
                **{name: counts.get(name) for name in ("tp", "fp", "fn", "tn")},
                "rows": entry.rows,
                "positives": entry.positives,
                "negatives": entry.negatives,
                "status": entry.status,
                "note": _note(entry),
            }
            for name, cell in cells.items():
                columns[name].append(cell)
        return columns

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
            "segments": [
                {
                    "key": key_to_dict(key, self.by),
                    **(entry.to_short_dict() if isinstance(entry, Solution) else entry.to_dict()),
                }
                for key, entry in self._entries.items()
            ],
        }

    def goal(self) -> str:
        """Return the goal in words."""
        return in_words(self.direction, self.objective, self.constraints)

    def note(self, key: Any) -> str:
        """Say in a few words what is special about a segment: no threshold, or one class only."""
        return _note(self._entries[key])

    def cells(self, most: int) -> list[list[str]]:
        """Return the header and the first segments, for people."""
        rows = [[*self.by, "threshold", "value", "tp", "fp", "fn", "tn", "rows", "note"]]
        for key, entry in list(self._entries.items())[:most]:
            counts = entry.confusion.to_dict().values() if entry.confusion is not None else [None] * 4
            cells = [_cell(x) for x in (entry.value, *counts, entry.rows)]
            threshold = "-" if entry.interval is None else entry.interval.shortest
            rows.append([*key_words(key, self.by), threshold, *cells, _note(entry)])
        return rows

    @property
    def _left(self) -> list[int]:
        return [*range(len(self.by)), len(self.by) + 7]

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read below the segments, as names and texts."""
        return [("goal", self.goal()), ("solved", f"{len(self.solved):,} of {len(self):,} segments")]


def decide_by(y_score: Any, by: Any, entries: Mapping[Any, Any]) -> NDArray[np.int8]:
    """Return the decision of each row by the entry of its segment; a segment without one is an error."""
    same_index({"y_score": y_score, "by": by})
    scores = as_floats(y_score, "y_score", "decide")
    codes, keys = combined(list(key_columns(by).values()))
    if len(codes) != len(scores):
        raise InvalidInputError.length(names_and_lengths={"y_score": len(scores), "by": len(codes)})
    decisions = np.zeros(len(scores), dtype=np.int8)
    for code, parts in enumerate(keys):
        key = _named(parts)
        if key not in entries:
            raise InvalidParameterError(
                "by",
                caller="decide",
                expected="segments that have a threshold",
                got=key,
                hint="this segment was not in the data; decide what its threshold is.",
            )
        mine = np.flatnonzero(codes == code)
        decisions[mine] = entries[key].decide(scores[mine])
    return decisions


# --- what the user groups by


def key_columns(by: Any) -> dict[str, Coded]:
    """Return columns of keys by name: of one array, or of a list, a dict or a frame of several."""
    if isinstance(by, Mapping) or (hasattr(by, "columns") and hasattr(by, "__getitem__")):
        names = list(by) if isinstance(by, Mapping) else list(getattr(by, "column_names", by.columns))
        columns = {str(name): coded(by[name], "by") for name in names}
    elif isinstance(by, list | tuple) and by and all(_is_column(one) for one in by):
        columns = {f"by[{i}]": coded(one, "by") for i, one in enumerate(by)}
    else:
        name = getattr(by, "name", None)
        columns = {name if isinstance(name, str) and name else "segment": coded(by, "by")}
    if not columns:
        raise InvalidParameterError(
            "by", caller="find_by", expected="one column of segments, or several", got=by
        )
    lengths = {name: len(codes) for name, (codes, _) in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInputError.length(names_and_lengths=lengths)
    return columns


def _is_column(one: Any) -> bool:
    return not isinstance(one, str | bytes) and hasattr(one, "__len__")


def group(source: ArraySource, columns: dict[str, Coded]) -> Grouped:
    """Put rows in memory in the order of their segments."""
    lengths = {"y_score": len(source.scores), **{name: len(codes) for name, (codes, _) in columns.items()}}
    if len(set(lengths.values())) > 1:
        raise InvalidInputError.length(names_and_lengths=lengths)
    return Grouped(source, *combined(list(columns.values())))


def read(data: Data, by: Any, caller: str = "find_by") -> tuple[Grouped | FrameSegments, tuple[str, ...]]:
    """Return the rows in segments, and the names of the columns that define the segments."""
    source = data.stream()
    if isinstance(source, ArraySource):
        data.check_index(by=by)
        keys = (
            {name: coded(column, name) for name, column in data.columns(_names(by, caller)).items()}
            if data.named
            else key_columns(by)
        )
        return group(source, keys), tuple(keys)
    if data.lower_is_positive:
        raise InvalidParameterError(
            "lower_is_positive",
            caller="find_by",
            expected="left out for lazy frames and large files",
            got=True,
            hint="make a column of the negated scores.",
        )
    from cutpoints._data.lazy_segments import by_groups

    names = _names(by, caller)
    return by_groups(source, names), names


def _names(by: Any, caller: str) -> tuple[str, ...]:
    """Return the names of the columns to group by."""
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidParameterError(
            "by",
            caller=caller,
            expected="the name of a column, or a list of names, where columns have names",
            got=by,
            hint="for example by='country' or by=['country', 'product'].",
        )
    if len(set(names)) < len(names):
        raise InvalidParameterError("by", caller=caller, expected="names that differ", got=list(names))
    return names


def at_least(min_rows: Any) -> int:
    """Return the number of rows that a segment must have."""
    positive_integer(
        "min_rows", min_rows, hint=("for example ", Argument("min_rows", 100), "."), caller="find_by"
    )
    return int(min_rows)


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


def in_memory(
    grouped: Grouped,
    by: tuple[str, ...],
    goal: Goal,
    solve_one: Callable[[ArraySource], Solution],
    min_rows: int,
) -> Segments:
    """Solve one segment after the other; a segment that cannot be solved stops no other."""
    entries: dict[Any, Solution | Unsolved] = {}
    for segment in in_order(grouped.keys):
        source = grouped.source(segment)
        key = _named(grouped.keys[segment])
        try:
            if grouped.rows(segment) < min_rows:
                raise InvalidInputError.too_few_rows(rows=grouped.rows(segment), needed=min_rows)
            entries[key] = solve_one(source)
        except InvalidInputError as error:
            summary = source.summary()
            entries[key] = _unsolved(error, summary, few=summary.rows < min_rows)
    return Segments(by, goal, entries)


def streamed(
    source: FrameSegments,
    by: tuple[str, ...],
    goal: Goal,
    solve: Callable[[Goal, Look], Solution],
    min_rows: int,
) -> Segments:
    """Solve all segments in step; what an infeasible one can attain is looked for in step, too."""
    order = in_order(source.keys)
    large = [segment for segment in order if source.rows(segment) >= min_rows]
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
    entries: dict[Any, Solution | Unsolved] = {}
    for segment in order:
        summary = source.summary(segment)
        key = _named(source.keys[segment])

        def look(one: Goal, segment: int = segment) -> SearchResult:
            found = answers[segment, _name(one)]
            if isinstance(found, InvalidInputError):
                raise found
            return found

        try:
            if summary.rows < min_rows:
                raise InvalidInputError.too_few_rows(rows=summary.rows, needed=min_rows)
            entries[key] = solve(goal, look)
        except InvalidInputError as error:
            entries[key] = _unsolved(error, summary, few=summary.rows < min_rows)
    return Segments(by, goal, entries)


def _name(goal: Goal) -> tuple[Any, ...]:
    """Return what distinguishes goals of one search: their parts are the same objects in all of them."""
    return id(goal.expression), goal.direction, *map(id, goal.constraints)


def _unsolved(error: InvalidInputError, summary: Any, *, few: bool) -> Unsolved:
    number = summary.grid.number
    return Unsolved(
        error=error.with_traceback(None),
        status="too_few_rows" if few else "undefined",
        rows=summary.rows,
        positives=number(summary.positives),
        negatives=number(summary.negatives),
    )


# --- how it is shown


def _named(parts: Key) -> Any:
    return parts[0] if len(parts) == 1 else parts


def key_parts(key: Any, by: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the value of each column of a key."""
    return (key,) if len(by) == 1 else key


def key_to_dict(key: Any, by: tuple[str, ...]) -> dict[str, Any]:
    """Return a key as JSON can hold it, by column."""
    return {name: json_form(part) for name, part in zip(by, key_parts(key, by), strict=True)}


def key_words(key: Any, by: tuple[str, ...]) -> list[str]:
    """Return a key for people, column by column."""
    return ["(missing)" if part is None else str(part) for part in key_parts(key, by)]


def _why(entry: Solution | Unsolved) -> str:
    if isinstance(entry, Unsolved):
        return entry.reason
    if entry.status == "none_certified":
        return entry.promise()
    short = [a for a in entry.attainable if not a.met]
    if not short:
        return "; ".join(
            ["Each constraint can be met by itself, but no cut meets them all"]
            + [
                f"{a.constraint}: where the others hold, the best is {json_number(a.with_others.value)}"
                for a in entry.attainable
                if a.with_others is not None
            ]
        )
    return "; ".join(
        f"{a.constraint}: the best that any cut attains is {json_number(a.value)}" for a in short
    )


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

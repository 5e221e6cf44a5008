"""Data: rows as users bring them, and the names of their columns.

A `Data` reads nothing before it is asked, and can be asked many times. What arrays, frames and files do each
in their own way is behind `Rows`.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from cutpoints._data import file_errors
from cutpoints._data.added_columns import as_values
from cutpoints._data.array_input import as_array, as_floats, as_weights, same_index, same_length
from cutpoints._data.arrays import ArraySource, Stream
from cutpoints._data.labels import Labels
from cutpoints._data.source import Negated
from cutpoints._shown import KnownColumns
from cutpoints.exceptions import DataWarning, InvalidInputError, InvalidParameterError
from cutpoints.metrics.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cutpoints._data.files import Opened
    from cutpoints._data.source import Source
    from cutpoints._data.streaming import Columns
    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Scores, Summary


class LabelledRows(NamedTuple):
    """Every row: labels as 0 and 1, weights and groups if there are any, and a source for each score."""

    y: NDArray[np.uint8]
    weights: Scores | None
    groups: Any
    sources: dict[str, ArraySource]

    @property
    def scores(self) -> dict[str, Scores]:
        """The scores by name, as they are compared: float32 or float64."""
        return {name: source.scores for name, source in self.sources.items()}


@dataclass(frozen=True, repr=False, eq=False)
class Data:
    """Rows, and the names of their columns; made by `read` and `from_counts`.

    Nothing is read before a function needs it. Files are opened once: a `Data` of standard input can
    be used as often as any other. Files and frames must not change while it is in use.

    Attributes
    ----------
    scores : tuple of str
        The columns of the scores: one, or several for several models.
    label, weight, positives, negatives : str or None
        The other columns.
    pos_label : int, float, bool, str or None
        The label of the positive class; 1 by default.
    added : tuple of Column
        The columns that a goal adds up, such as amounts.
    lower_is_positive : bool
        Whether low scores mean positive: all that is found is then about ``-score``.
    """

    rows: Rows
    scores: tuple[str, ...] = ()
    label: str | None = None
    weight: str | None = None
    positives: str | None = None
    negatives: str | None = None
    pos_label: Any = None
    added: tuple[Column, ...] = ()
    lower_is_positive: bool = False

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weight is not None

    @property
    def counted(self) -> bool:
        """Whether rows are counts of both classes, and have no labels."""
        return self.positives is not None

    @property
    def lazy(self) -> bool:
        """Whether searches read the rows in passes: lazy frames, and files that are large."""
        return self.rows.lazy()

    @property
    def named(self) -> bool:
        """Whether columns have names: files and frames."""
        return self.rows.named

    def known(self, dtype: Any) -> KnownColumns:
        """Return what a policy knows of the columns; `dtype` is the type of the scores."""
        score, label = (self.scores[0], self.label) if self.named else (None, None)
        return KnownColumns(score, label, self.pos_label, "float32" if dtype == "float32" else "float64")

    def warn_of_one_class(self, positives: Any, negatives: Any) -> None:
        """Warn the caller's caller if a class has no rows: the answer is exact, and worth nothing."""
        if not positives or not negatives:
            missing = "negative" if positives else "positive"
            warning = DataWarning.one_class(missing=missing, pos_label=self.pos_label)
            warnings.warn(warning, stacklevel=3)

    @property
    def opened(self) -> Opened | None:
        """The files on their DuckDB connection; None for all else."""
        return self.rows.opened if isinstance(self.rows, FileRows) else None

    def of(self, *scores: str) -> Data:
        """Return the same rows with other columns of scores; what was read is shared."""
        return replace(self, scores=scores)

    def for_goal(self, goal: Goal, caller: str) -> Data:
        """Return the same rows, with the columns that a goal adds up."""
        return self.adding(goal.columns, caller)

    def adding(self, columns: tuple[Column, ...], caller: str) -> Data:
        """Return the same rows, with further columns that are added up; raise if they cannot be had."""
        if not columns or set(columns) <= set(self.added):
            return self
        for column in columns:
            self._check_added(column, caller)
        return replace(self, added=tuple(dict.fromkeys((*self.added, *columns))))

    def with_columns(self, columns: Any, caller: str) -> Data:
        """Return the same rows, with columns that users name; arrays are named by a mapping."""
        if columns is None:
            return self
        if isinstance(columns, Mapping) and isinstance(self.rows, ArrayRows):
            for name, values in columns.items():
                self._check_added(Column(str(name), values), caller)
            data = replace(self, rows=replace(self.rows, named_arrays=dict(columns)))
            return data.adding(tuple(map(Column, columns)), caller)
        names = [columns] if isinstance(columns, str) else columns
        if isinstance(names, Mapping) or not all(isinstance(name, str) for name in names):
            raise InvalidParameterError(
                "columns",
                caller=caller,
                expected="names of columns, or a mapping of names to arrays where the data are arrays",
                got=columns if isinstance(columns, str | list | tuple) else type(columns),
                hint="for example columns=['amount'], or columns={'amount': amount}.",
            )
        return self.adding(tuple(map(Column, names)), caller)

    def _check_added(self, column: Column, caller: str) -> None:
        if (
            isinstance(self.rows, ArrayRows)
            and column.values is None
            and column.name in self.rows.named_arrays
        ):
            return
        if isinstance(self.rows, ReadyRows) and column in getattr(self.rows.source, "columns", ()):
            return
        counted = self.counted or isinstance(self.rows, ReadyRows)
        if counted or self.named == (column.values is not None):
            must_be, hint = (
                "the name of a column where columns have names",
                "m.cost(fp=5, fn=m.column('amount'))",
            )
            if not self.named:
                must_be = "an array where the data are arrays"
                hint = "m.cost(fp=5, fn=amount), with one amount per row"
            if counted:
                must_be, hint = (
                    "left out for rows that are counted already",
                    "pass one row per case, with its label",
                )
            raise InvalidParameterError(
                f"column {column.name!r}",
                caller=caller,
                expected=must_be,
                got="a name" if column.values is None else type(column.values),
                hint=f"{hint}.",
            )
        self.check_index(**{column.name: column.values})

    def source(self) -> Source:
        """Return what answers the three questions for the one column of scores."""
        if self.lazy:
            return self._turned(self.rows.stream(self, fresh=False))
        (found,) = self.in_memory().values()
        return found

    def sources(self) -> dict[str, Source]:
        """Return a source for each column of scores, by name, from one reading if they are in memory."""
        return {name: self.of(name).source() for name in self.scores} if self.lazy else {**self.in_memory()}

    def stream(self) -> Source:
        """Return a source of its own, that reads in passes even where rows are few, if it can."""
        if self.lower_is_positive and not self.lazy:
            return self.source()
        return self._turned(self.rows.stream(self, fresh=True))

    def _turned(self, source: Source) -> Source:
        return Negated(source) if self.lower_is_positive else source

    def summary(self) -> Summary:
        """Return rows, totals and the range of scores; raise for bad rows. At most one pass."""
        return self.source().summary()

    def in_memory(self) -> dict[str, ArraySource]:
        """Return a source for each column of scores, by name; all of them are read at once."""
        if isinstance(self.rows, ReadyRows):
            return {self.scores[0]: self.rows.source}  # which is lazy: `source` turns it
        return self._sources(self.rows.read(self, None))

    def labelled_rows(self, *, groups: str | None = None, caller: str) -> LabelledRows:
        """Return every row, for functions that need them all; raise for rows without labels.

        `groups` names one more column to read.
        """
        sources = self.in_memory() if groups is None else self._sources(self.rows.read(self, groups))
        first: Any = next(iter(sources.values()))
        streams = first.streams if isinstance(first, ArraySource) else ()
        if len(streams) != 1 or not isinstance(streams[0].labels, Labels):
            raise InvalidParameterError(
                "y_true",
                caller=caller,
                expected="one label per row: rows that are already counted cannot be distinguished",
                got="counts of positives and negatives",
                hint="pass one row per case, with its label.",
            )
        for source in sources.values():
            source.summary()  # checks everything
        return LabelledRows(
            streams[0].labels.check(slice(None))[0],
            streams[0].weights,
            None if groups is None else self.rows.read(self, groups).groups,
            sources,
        )

    def columns(self, names: Sequence[str]) -> dict[str, Any]:
        """Return columns of a frame in memory by name, whatever is in them."""
        assert isinstance(self.rows, TableRows)
        return self.rows.columns(names)

    def check_index(self, **more: Any) -> None:
        """Raise if one more column of pandas has the index of these arrays in another order."""
        if isinstance(self.rows, ArrayRows):
            same_index({**self.rows.scores, **more})

    def probabilities(self) -> tuple[str, Any, Any]:
        """Return the name of the one column of scores, its values and the weights: no labels needed."""
        (name,) = self.scores
        read = self.rows.read(replace(self, label=None), None)
        if self.named and len(read.scores[name]) == 0:
            raise self.rows.empty(name)
        return name, read.scores[name], read.masses[0] if self.weighted else None

    def with_scores(self, scores: Any) -> Data:
        """Return the same rows, without labels, with other values in the one column of scores."""
        name, _, weights = self.probabilities()
        return Data(
            ArrayRows({name: scores}, masses=[] if weights is None else [weights]),
            (name,),
            weight=self.weight,
        )

    def _sources(self, read: ReadColumns) -> dict[str, ArraySource]:
        """Make a source of each column of scores: the one place that reads labels and weights."""
        scores = {name: as_floats(column, name) for name, column in read.scores.items()}
        if self.lower_is_positive:
            scores = {name: 0 - column for name, column in scores.items()}
        streams: tuple[Stream, ...]
        if self.label is None:
            assert self.positives is not None
            assert self.negatives is not None
            names = self.positives, self.negatives
            masses = [as_weights(column, name) for name, column in zip(names, read.masses, strict=True)]
            lengths: dict[str, Any] = {**scores, **dict(zip(names, masses, strict=True))}
            streams = Stream(1, masses[0]), Stream(0, masses[1])
        else:
            values = as_array(read.labels, self.label)
            labels = Labels(values, self.rows.positive(self.pos_label, values), name=self.label)
            weights = None if self.weight is None else as_weights(read.masses[0], self.weight)
            lengths = {**scores, self.label: labels, str(self.weight): weights}
            if not self.named:
                lengths = {self.label: labels, **lengths}
            streams = (Stream.of(labels, weights),)
        columns = {
            column: as_values(values, column.name)
            for column, values in zip(self.added, read.added, strict=True)
        }
        lengths |= {column.name: values for column, values in columns.items()}
        same_length(lengths, self.rows.empty)
        return {
            name: ArraySource(one, streams, score_name=name, columns=columns) for name, one in scores.items()
        }

    def __repr__(self) -> str:
        roles = {
            "label": self.label,
            "score": ", ".join(self.scores) or None,
            "weight": self.weight,
            "positives": self.positives,
            "negatives": self.negatives,
        }
        named = [f"{role} {name}" for role, name in roles.items() if name is not None]
        return f"<Data: {', '.join([str(self.rows), *named])}>"


# --- what users bring


class ReadColumns(NamedTuple):
    """Columns as they were found: scores by name, labels, weights or the counts of both classes."""

    scores: dict[str, Any]
    labels: Any
    masses: list[Any]
    groups: Any = None
    added: Sequence[Any] = ()


class Rows(ABC):
    """What a `Data` asks of arrays, frames and files."""

    named = True
    """Whether columns have names."""

    def lazy(self) -> bool:
        """Whether rows should be read in passes."""
        return False

    @abstractmethod
    def read(self, data: Data, groups: str | None) -> ReadColumns:
        """Return the columns that `data` names, and that of the groups, in memory."""

    def stream(self, data: Data, *, fresh: bool) -> Source:
        """Return a source that reads in passes: one of its own if `fresh`, else always the same."""
        (source,) = data.in_memory().values()
        return source

    def positive(self, pos_label: Any, _labels: NDArray[Any]) -> Any:
        """Return what the positive label means in a column of labels."""
        return pos_label

    def empty(self, name: str) -> InvalidInputError:
        """Return the error of no rows."""
        return InvalidInputError.empty(name=name)


@dataclass(eq=False)
class ArrayRows(Rows):
    scores: dict[str, Any]
    labels: Any = None
    masses: list[Any] = field(default_factory=list)
    named_arrays: dict[str, Any] = field(default_factory=dict)
    named = False

    def read(self, data: Data, groups: str | None) -> ReadColumns:
        for name in data.scores:
            if name not in self.scores:
                raise file_errors.column(name=name, path="the data", columns=list(self.scores))
        if groups is not None:
            raise InvalidParameterError("groups", expected="an array where the data are arrays", got=groups)
        scores = {name: self.scores[name] for name in data.scores}
        added = [self.named_arrays[one.name] if one.values is None else one.values for one in data.added]
        return ReadColumns(scores, self.labels, self.masses, added=added)

    def __str__(self) -> str:
        return "arrays"


@dataclass(eq=False)
class ReadyRows(Rows):
    """A source that is made already."""

    source: Any
    named = False

    def lazy(self) -> bool:
        return True

    def read(self, data: Data, groups: str | None) -> ReadColumns:
        raise InvalidParameterError("y_true", expected="rows that are not counted yet", got=str(self))

    def stream(self, data: Data, *, fresh: bool) -> Source:
        return self.source

    def __str__(self) -> str:
        return type(self.source).__name__


@dataclass(eq=False)
class TableRows(Rows):
    """Rows in a frame or in files; what was read, and what streams, is kept for the next question."""

    _streams: dict[Any, Source] = field(default_factory=dict, init=False)
    _kept: tuple[Any, ReadColumns] | None = field(default=None, init=False)

    def read(self, data: Data, groups: str | None) -> ReadColumns:
        masses = [name for name in (data.weight, data.positives, data.negatives) if name is not None]
        added = [column.name for column in data.added]
        wanted = data.scores, data.label, masses, groups, added
        if self._kept is None or self._kept[0] != wanted:
            self._kept = wanted, self._read(list(data.scores), data.label, masses, groups, added)
        return self._kept[1]

    def stream(self, data: Data, *, fresh: bool) -> Source:
        (score,) = data.scores
        key = score, data.added
        if fresh or key not in self._streams:
            from cutpoints._data.streaming import Columns

            columns = Columns(score, data.label, data.weight, data.positives, data.negatives, data.added)
            made = self._stream(columns, data.pos_label)
            if fresh:
                return made
            self._streams[key] = made
        return self._streams[key]

    def columns(self, names: Sequence[str]) -> dict[str, Any]:
        """Return columns in memory by name, whatever is in them."""
        return self._read(list(names), None, [], None, []).scores

    @abstractmethod
    def _read(
        self, scores: list[str], label: str | None, masses: list[str], groups: str | None, added: list[str]
    ) -> ReadColumns:
        """Return columns by name."""

    @abstractmethod
    def _stream(self, columns: Columns, pos_label: Any) -> Source:
        """Return a source that reads in passes."""


@dataclass(eq=False)
class FrameRows(TableRows):
    """A data frame that narwhals knows; a lazy one is collected once if all rows are needed."""

    frame: Any

    @classmethod
    def of(cls, frame: Any, caller: str, parameter: str) -> FrameRows:
        """Take a frame; raise for what is none."""
        from cutpoints._data import frames

        return cls(frames.read(frame, caller=caller, parameter=parameter))

    def lazy(self) -> bool:
        from cutpoints._data import frames

        return frames.is_lazy(self.frame)

    def _read(
        self, scores: list[str], label: str | None, masses: list[str], groups: str | None, added: list[str]
    ) -> ReadColumns:
        from cutpoints._data import frames

        names = [*scores, *([] if label is None else [label]), *masses, *added]
        wanted = dict.fromkeys([*names, *([] if groups is None else [groups])])
        found = frames.columns_of(self.frame, list(wanted))
        arrays = {name: found[name].to_numpy() for name in names}
        return ReadColumns(
            {name: arrays[name] for name in scores},
            None if label is None else arrays[label],
            [arrays[name] for name in masses],
            None if groups is None else found[groups].to_native(),
            [arrays[name] for name in added],
        )

    def columns(self, names: Sequence[str]) -> dict[str, Any]:
        from cutpoints._data import frames

        # As they are: NumPy would make floats of integers where one is missing.
        found = frames.columns_of(self.frame, names)
        return {name: column.to_native() for name, column in found.items()}

    def stream(self, data: Data, *, fresh: bool) -> Source:
        if not self.lazy():
            return data.source()
        return super().stream(data, fresh=fresh)

    def _stream(self, columns: Columns, pos_label: Any) -> Source:
        from cutpoints._data import groupby

        return groupby.source(self.frame, columns, pos_label)

    def __str__(self) -> str:
        from cutpoints._data import frames

        return frames.described(self.frame)


@dataclass(eq=False)
class FileRows(TableRows):
    """Files, opened once by DuckDB when they are first needed."""

    path: Any
    filters: dict[str, str]

    @cached_property
    def opened(self) -> Opened:
        """The files on a DuckDB connection, which is closed when nothing uses it any more."""
        from cutpoints._data.files import Opened

        return Opened(self.path, **self.filters)

    def lazy(self) -> bool:
        return self._large

    @cached_property
    def _large(self) -> bool:
        return self.opened.large()

    def _read(
        self, scores: list[str], label: str | None, masses: list[str], groups: str | None, added: list[str]
    ) -> ReadColumns:
        numbers, labels, found = self.opened.read(
            list(dict.fromkeys([*scores, *masses, *added])), label, groups
        )
        return ReadColumns(
            {name: numbers[name] for name in scores},
            labels,
            [numbers[name] for name in masses],
            found,
            [numbers[name] for name in added],
        )

    def _stream(self, columns: Columns, pos_label: Any) -> Source:
        from cutpoints._data.files import FileSource

        return FileSource(self.opened, columns, pos_label)

    def positive(self, pos_label: Any, labels: NDArray[Any]) -> Any:
        from cutpoints._data.file_columns import typed_label

        return typed_label(pos_label, labels)

    def empty(self, name: str) -> InvalidInputError:
        return self.opened.empty(name)

    def __str__(self) -> str:
        first, *more = [self.path] if isinstance(self.path, str | os.PathLike) else list(self.path)
        shown = os.fspath(first) + (f" and {len(more):,} more" if more else "")
        return ", ".join([shown, *(f"{name} {text}" for name, text in self.filters.items())])

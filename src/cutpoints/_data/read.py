"""The one door for data: arrays, frames and files, taken the same way by every public function.

`as_data` turns the arguments of a function into a `Data`; `read` and `from_counts` let users make one
themselves. A `Data` reads nothing before it is asked, and can be asked many times.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from cutpoints._data.added_columns import as_values
from cutpoints._data.array_input import as_array, as_floats, as_weights, same_index, same_length
from cutpoints._data.arrays import ArraySource, Stream
from cutpoints._data.labels import Labels
from cutpoints._data.negated import Negated
from cutpoints._shown import KnownColumns
from cutpoints.exceptions import DataWarning, InvalidInputError, InvalidParameterError
from cutpoints.metrics.columns import Column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutpoints._data.files import Opened
    from cutpoints._data.source import Source
    from cutpoints._data.streaming import Columns
    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Scores, Summary

_NAME = "the name of a column, a string"
_SIGNED = ("find", "find_by", "curve", "compare", "evaluate", "assess")
"""Functions whose answers are about numbers, and not about policies or probabilities."""


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

    rows: _Rows
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

    @property
    def opened(self) -> Opened | None:
        """The files on their DuckDB connection; None for all else."""
        return self.rows.opened if isinstance(self.rows, _Files) else None

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
        if isinstance(columns, Mapping) and isinstance(self.rows, _Arrays):
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
        if isinstance(self.rows, _Arrays) and column.values is None and column.name in self.rows.named_arrays:
            return
        if isinstance(self.rows, _Ready) and column in getattr(self.rows.source, "columns", ()):
            return
        counted = self.counted or isinstance(self.rows, _Ready)
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
        if isinstance(self.rows, _Ready):
            return {self.scores[0]: self.rows.source}  # which is lazy: `source` turns it
        return self._sources(self.rows.read(self, None))

    def labelled_rows(self, *, groups: str | None = None, caller: str) -> LabelledRows:
        """Return every row, for functions that need them all; raise for rows without labels.

        `groups` names one more column to read.
        """
        sources = self.in_memory() if groups is None else self._sources(self.rows.read(self, groups))
        streams = next(iter(sources.values())).streams if _in_memory(sources) else ()
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
        return self.rows.columns(names)

    def check_index(self, **more: Any) -> None:
        """Raise if one more column of pandas has the index of these arrays in another order."""
        if isinstance(self.rows, _Arrays):
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
            _Arrays({name: scores}, masses=[] if weights is None else [weights]), (name,), weight=self.weight
        )

    def _sources(self, read: _Columns) -> dict[str, ArraySource]:
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


# --- what users call


def read(
    data: Any,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    positives: str | None = None,
    negatives: str | None = None,
    pos_label: Any = None,
    where: str | None = None,
    sql: str | None = None,
    memory_limit: str | None = None,
    lower_is_positive: bool = False,
) -> Data:
    """Name the columns of files or of a data frame, for every function that takes data.

    Nothing is read yet. Files of more than about four million rows are read in batches wherever the
    function allows it; lazy frames stay lazy.

    Parameters
    ----------
    data : str, path-like, list of them, or data frame
        A file of CSV, Parquet, lines of JSON or Arrow, a folder, a pattern such as
        ``"scores/**/*.parquet"``, ``"-"`` for standard input; or a frame of pandas, Polars, pyarrow,
        DuckDB, Spark, Dask or Ibis, lazy or not.
    label : str, default=None
        The column of the labels: 0/1, booleans, -1/+1, or any two values with `pos_label`.
    score : str or list of str, default=None
        The column of the scores; several for several models.
    weight : str, default=None
        The column of the weights, if there are any.
    positives, negatives : str, default=None
        In place of labels: the columns of how much each row adds to each class.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; 1 by default. In files a string is matched to the type of the
        column: "1" is 1 in a column of numbers, and "true" is True in a column of booleans.
    where : str, default=None
        Only for files: a condition on the rows, such as ``"month = '2026-10' and country in ('DE', 'FR')"``.
    sql : str, default=None
        Only for files: one SELECT over them as the table ``data``, whose result has the named columns.
        It can read these files and no others.
    memory_limit : str, default=None
        Only for files: what DuckDB may use before it writes to a temporary folder, such as ``"2GB"``.
    lower_is_positive : bool, default=False
        Low scores mean positive: every function then works on ``-score``, so a threshold of -0.3 means
        ``score <= 0.3``.

    Examples
    --------
    >>> import cutpoints as cp, pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
    >>> data = cp.read(frame, label="y", score="p")
    >>> data
    <Data: pandas DataFrame, label y, score p>
    >>> cp.find(data, maximize="f1").threshold, cp.curve(data).auc
    (0.35, 0.75)
    """
    one = {"label": label, "weight": weight, "positives": positives, "negatives": negatives}
    named = _strings(one, _NAME, "read")
    filters = _strings({"where": where, "sql": sql, "memory_limit": memory_limit}, "a string", "read")
    counted = positives is not None and negatives is not None
    if (positives is None) != (negatives is None) or (counted and (label or weight) is not None):
        raise InvalidParameterError(
            "positives",
            caller="read",
            expected="given together with 'negatives', and without 'label' and 'weight'",
            got=", ".join(f"{role}={name!r}" for role, name in named.items()),
            hint="for example positives='buyers', negatives='others', score='p'.",
        )
    columns: Any = {**one, "scores": _columns(score, "read"), "pos_label": pos_label}
    columns["lower_is_positive"] = _flag(lower_is_positive, "read")
    if is_path(data):
        return Data(_Files(data, filters), **columns)
    for name, given in filters.items():
        raise InvalidParameterError(
            name, caller="read", expected="left out for data frames: it only applies to files",
            got=given, hint="filter the frame first.",
        )  # fmt: skip
    return Data(_Frame.of(data, "read", "data"), **columns)


def from_counts(y_score: Any, *, positives: Any, negatives: Any) -> Data:
    """Take rows that are already counted, as data for `find`, `curve` and others.

    Parameters
    ----------
    y_score : array-like of shape (n_rows,)
        The scores; equal ones may come more than once.
    positives, negatives : array-like of shape (n_rows,)
        How much each row adds to each class: counts, soft labels ``q`` and ``1 - q``, or costs.

    Examples
    --------
    >>> import cutpoints as cp
    >>> data = cp.from_counts([0.2, 0.5, 0.9], positives=[1, 5, 8], negatives=[9, 5, 1])
    >>> cp.find(data, maximize="f1").threshold
    0.5
    """
    same_index({"y_score": y_score, "positives": positives, "negatives": negatives})
    rows = _Arrays({"y_score": y_score}, masses=[positives, negatives])
    data = Data(rows, ("y_score",), positives="positives", negatives="negatives")
    data.source()  # checks them
    return data


# --- what functions call


def as_data(
    y_true: Any,
    y_score: Any = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    lower_is_positive: bool = False,
    caller: str,
    array: str = "y_score",
    several: bool = False,
) -> Data:
    """Turn the arguments of a function into data, or say what cannot be meant.

    Three spellings: arrays, `y_true` and `y_score`; a frame or a path with `label`, `score`, `weight`;
    or a `Data`, where `score` may choose another column.

    Parameters
    ----------
    y_true, y_score, label, score, weight, sample_weight, pos_label, lower_is_positive
        As users give them.
    caller : str
        The function, for messages.
    array : str, default="y_score"
        What it calls the array of scores.
    several : bool, default=False
        Whether it takes several models: a list of columns, or a mapping of names to arrays.
    """
    if _flag(lower_is_positive, caller):
        given = as_data(
            y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
            pos_label=pos_label, caller=caller, array=array, several=several,
        )  # fmt: skip
        return replace(given, lower_is_positive=True)
    arrays = {array: y_score, "sample_weight": sample_weight}
    names = _strings({"label": label, "weight": weight}, _NAME, caller)
    columns = _columns(score, caller, several=several)
    if isinstance(y_true, Data):
        for name, value in {**arrays, **names, "pos_label": pos_label}.items():
            if value is not None:
                raise _left_out(name, caller, "of data that have their own columns", value)
        _check_sign(y_true, caller)
        data = y_true.of(*columns) if columns else y_true
    elif _is_source(y_true):
        for name, value in {**arrays, **names, "score": score, "pos_label": pos_label}.items():
            if value is not None:
                raise _left_out(name, caller, "for rows that are counted", value)
        return Data(_Ready(y_true), ("y_score",), label="y_true")
    elif names or columns or _is_table(y_true, y_score):
        for name, value in arrays.items():
            if value is not None:
                raise _left_out(name, caller, "where columns have names", type(value))
        data = Data(_table(y_true, caller, "y_true"), columns, label, weight, pos_label=pos_label)
    else:
        return _of_arrays(
            y_true, y_score, sample_weight, pos_label, caller=caller, array=array, several=several
        )
    return _checked(data, caller, several=several)


def as_unlabelled(
    y_prob: Any, *, score: str | None, weight: str | None, sample_weight: Any, caller: str
) -> Data:
    """Turn the arguments of a function that needs no labels into data; see `as_data`."""
    names = _strings({"weight": weight}, _NAME, caller)
    columns = _columns(score, caller)
    if not isinstance(y_prob, Data) and not names and not columns and not _is_table(y_prob, None):
        weights = [] if sample_weight is None else [sample_weight]
        rows = _Arrays({"y_prob": y_prob}, masses=weights)
        same_index({"y_prob": y_prob, "sample_weight": sample_weight})
        return Data(rows, ("y_prob",), weight="sample_weight" if weights else None)
    if sample_weight is not None:
        raise _left_out("sample_weight", caller, "where columns have names", type(sample_weight))
    if isinstance(y_prob, Data):
        if weight is not None:
            raise _left_out("weight", caller, "of data that have their own columns", weight)
        _check_sign(y_prob, caller)
        data = y_prob.of(*columns) if columns else y_prob
    else:
        data = Data(_table(y_prob, caller, "y_prob"), columns, weight=weight)
    if len(data.scores) != 1 or data.counted:
        raise InvalidParameterError(
            "score",
            caller=caller,
            expected="the name of one column of probabilities",
            got="counts of positives and negatives" if data.counted else list(data.scores) or "nothing",
            hint=f"{caller}('scores.csv', score='p', ...).",
        )
    return data


def _checked(data: Data, caller: str, *, several: bool) -> Data:
    """Raise unless the columns that a function needs have names."""
    for role, there in (("label", data.label is not None or data.counted), ("score", bool(data.scores))):
        if not there:
            raise InvalidParameterError(
                role,
                caller=caller,
                expected="the name of a column",
                got="nothing",
                hint=f"{caller}('scores.csv', label='y', score='p', ...).",
            )
    if data.label in data.scores:
        warnings.warn(DataWarning.same_column(name=str(data.label)), stacklevel=4)
    if len(data.scores) > 1 and not several:
        raise InvalidParameterError(
            "score",
            caller=caller,
            expected="one column: it looks at one model at a time",
            got=list(data.scores),
            hint=f"{caller}(data, score={data.scores[0]!r}, ...).",
        )
    return data


def is_path(data: Any) -> bool:
    """Whether this is the path of a file, or a list of them."""
    if isinstance(data, list | tuple):
        return len(data) > 0 and all(isinstance(one, str | os.PathLike) for one in data)
    return isinstance(data, str | os.PathLike)


def _of_arrays(
    y_true: Any, y_score: Any, weights: Any, pos_label: Any, *, caller: str, array: str, several: bool
) -> Data:
    if y_score is None:
        what = "probability" if array == "y_prob" else "score"
        raise InvalidParameterError(
            array,
            caller=caller,
            expected=f"given: one {what} per label",
            got="nothing",
            hint=f"{caller}(y_true, {array}, ...), or {caller}(frame, label='y', score='p', ...).",
        )
    scores: dict[str, Any] = {array: y_score}
    if several and isinstance(y_score, Mapping):
        scores = {str(name): one for name, one in y_score.items()}
        if not scores or len(scores) < len(y_score):
            raise InvalidParameterError(
                array,
                caller=caller,
                expected="scores, or a mapping of different names to scores",
                got=list(y_score),
            )
    masses = [] if weights is None else [weights]
    same_index({"y_true": y_true, **scores, "sample_weight": weights})
    return Data(
        _Arrays(scores, y_true, masses),
        tuple(scores),
        "y_true",
        "sample_weight" if masses else None,
        pos_label=pos_label,
    )


def _table(data: Any, caller: str, parameter: str) -> _Rows:
    return _Files(data, {}) if is_path(data) else _Frame.of(data, caller, parameter)


def _in_memory(sources: Mapping[str, Any]) -> bool:
    return all(isinstance(source, ArraySource) for source in sources.values())


def _is_source(data: Any) -> bool:
    return all(hasattr(data, question) for question in ("summary", "histogram", "rows"))


def _is_table(data: Any, y_score: Any) -> bool:
    """Whether names of columns were forgotten: a path, or a frame alone."""
    # All frames have columns; asking a lazy one for them can be slow.
    return isinstance(data, str | os.PathLike) or (y_score is None and hasattr(type(data), "columns"))


def _strings(given: Mapping[str, Any], what: str, caller: str) -> dict[str, str]:
    """Return what was given; raise unless all of that is text."""
    found = {name: text for name, text in given.items() if text is not None}
    for name, text in found.items():
        if not isinstance(text, str):
            raise InvalidParameterError(name, caller=caller, expected=what, got=text)
    return found


def _check_sign(data: Data, caller: str) -> None:
    if data.lower_is_positive and caller not in _SIGNED:
        raise InvalidParameterError(
            "lower_is_positive",
            caller=caller,
            expected=f"left out: only {', '.join(_SIGNED)} can do without scores where high means positive",
            got=True,
            hint="make a column of the negated scores.",
        )


def _flag(lower_is_positive: Any, caller: str) -> bool:
    if not isinstance(lower_is_positive, bool):
        raise InvalidParameterError(
            "lower_is_positive", caller=caller, expected="True or False", got=lower_is_positive
        )
    return lower_is_positive


def _columns(score: Any, caller: str, *, several: bool = True) -> tuple[str, ...]:
    """Return the columns of the scores; raise unless each model has one of its own."""
    if score is None or isinstance(score, str):
        return () if score is None else (score,)
    names = tuple(score) if several and isinstance(score, Sequence) else ()
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        more = ", or a list of different names, one for each model" if several else ", a string"
        raise InvalidParameterError(
            "score",
            caller=caller,
            expected=f"the name of a column{more}",
            got=score,
            hint="for example score=['m1', 'm2']." if several else None,
        )
    return names


def _left_out(parameter: str, caller: str, where: str, got: object) -> InvalidParameterError:
    return InvalidParameterError(parameter, caller=caller, expected=f"left out {where}", got=got)


# --- what users bring


class _Columns(NamedTuple):
    """Columns as they were found: scores by name, labels, weights or the counts of both classes."""

    scores: dict[str, Any]
    labels: Any
    masses: list[Any]
    groups: Any = None
    added: Sequence[Any] = ()


class _Rows:
    """What a `Data` asks of arrays, frames and files."""

    named = True
    """Whether columns have names."""

    def lazy(self) -> bool:
        """Whether rows should be read in passes."""
        return False

    def read(self, data: Data, groups: str | None) -> _Columns:
        """Return the columns that `data` names, and that of the groups, in memory."""
        raise NotImplementedError

    def stream(self, data: Data, *, fresh: bool) -> Source:
        """Return a source that reads in passes: one of its own if `fresh`, else always the same."""
        (source,) = data.in_memory().values()
        return source

    def columns(self, names: Sequence[str]) -> dict[str, Any]:
        """Return columns in memory by name, whatever is in them."""
        return dict(self.read(Data(self, tuple(names)), None).scores)

    def positive(self, pos_label: Any, _labels: NDArray[Any]) -> Any:
        """Return what the positive label means in a column of labels."""
        return pos_label

    def empty(self, name: str) -> InvalidInputError:
        """Return the error of no rows."""
        return InvalidInputError.empty(name=name)


@dataclass(eq=False)
class _Arrays(_Rows):
    scores: dict[str, Any]
    labels: Any = None
    masses: list[Any] = field(default_factory=list)
    named_arrays: dict[str, Any] = field(default_factory=dict)
    named = False

    def read(self, data: Data, groups: str | None) -> _Columns:
        for name in data.scores:
            if name not in self.scores:
                raise InvalidInputError.column(name=name, path="the data", columns=list(self.scores))
        if groups is not None:
            raise InvalidParameterError("groups", expected="an array where the data are arrays", got=groups)
        scores = {name: self.scores[name] for name in data.scores}
        added = [self.named_arrays[one.name] if one.values is None else one.values for one in data.added]
        return _Columns(scores, self.labels, self.masses, added=added)

    def __str__(self) -> str:
        return "arrays"


@dataclass(eq=False)
class _Ready(_Rows):
    """A source that is made already."""

    source: Any
    named = False

    def lazy(self) -> bool:
        return True

    def stream(self, data: Data, *, fresh: bool) -> Source:
        return self.source

    def __str__(self) -> str:
        return type(self.source).__name__


@dataclass(eq=False)
class _Table(_Rows):
    """Rows in a frame or in files; what was read, and what streams, is kept for the next question."""

    _streams: dict[Any, Source] = field(default_factory=dict, init=False)
    _kept: tuple[Any, _Columns] | None = field(default=None, init=False)

    def read(self, data: Data, groups: str | None) -> _Columns:
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

    def _read(
        self, scores: list[str], label: str | None, masses: list[str], groups: str | None, added: list[str]
    ) -> _Columns:
        raise NotImplementedError

    def _stream(self, columns: Columns, pos_label: Any) -> Source:
        raise NotImplementedError


@dataclass(eq=False)
class _Frame(_Table):
    """A data frame that narwhals knows; a lazy one is collected once if all rows are needed."""

    frame: Any

    @classmethod
    def of(cls, frame: Any, caller: str, parameter: str) -> _Frame:
        """Take a frame; raise for what is none."""
        from cutpoints._data import groupby

        return cls(groupby.read(frame, caller=caller, parameter=parameter))

    def lazy(self) -> bool:
        from cutpoints._data import groupby

        return groupby.is_lazy(self.frame)

    def _read(
        self, scores: list[str], label: str | None, masses: list[str], groups: str | None, added: list[str]
    ) -> _Columns:
        from cutpoints._data import groupby

        names = [*scores, *([] if label is None else [label]), *masses, *added]
        wanted = dict.fromkeys([*names, *([] if groups is None else [groups])])
        found = groupby.columns_of(self.frame, list(wanted))
        arrays = {name: found[name].to_numpy() for name in names}
        return _Columns(
            {name: arrays[name] for name in scores},
            None if label is None else arrays[label],
            [arrays[name] for name in masses],
            None if groups is None else found[groups].to_native(),
            [arrays[name] for name in added],
        )

    def columns(self, names: Sequence[str]) -> dict[str, Any]:
        from cutpoints._data import groupby

        # As they are: NumPy would make floats of integers where one is missing.
        found = groupby.columns_of(self.frame, names)
        return {name: column.to_native() for name, column in found.items()}

    def stream(self, data: Data, *, fresh: bool) -> Source:
        if not self.lazy():
            return data.source()
        return super().stream(data, fresh=fresh)

    def _stream(self, columns: Columns, pos_label: Any) -> Source:
        from cutpoints._data import groupby

        return groupby.source(self.frame, columns, pos_label)

    def __str__(self) -> str:
        from cutpoints._data import groupby

        return groupby.described(self.frame)


@dataclass(eq=False)
class _Files(_Table):
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
    ) -> _Columns:
        numbers, labels, found = self.opened.read(
            list(dict.fromkeys([*scores, *masses, *added])), label, groups
        )
        return _Columns(
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

"""The one door for data: arrays, frames and files, taken the same way by every public function.

`as_data` turns the arguments of a function into a `Data`; `read` and `from_counts` let users make one
themselves. A `Data` reads nothing before it is asked, and can be asked many times.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cutpoints._data.array_input import as_floats, refuse_nan, same_index
from cutpoints._data.data import ArrayRows, Data, FileRows, FrameRows, ReadyRows
from cutpoints._validate import boolean
from cutpoints._wording import Words
from cutpoints.exceptions import DataWarning, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._kernel.tables import Scores

_NAME = "the name of a column, a string"
_SIGNED = ("find", "find_by", "curve", "compare", "evaluate", "assess")
"""Functions whose answers are about numbers, and not about policies or probabilities."""


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
    columns: Any = {
        **one,
        "scores": _columns(score, "read"),
        "pos_label": pos_label,
        "lower_is_positive": lower_is_positive,
    }
    boolean("lower_is_positive", lower_is_positive, caller="read")
    if is_path(data):
        return Data(FileRows(data, filters), **columns)
    for name, given in filters.items():
        raise InvalidParameterError(
            name, caller="read", expected="left out for data frames: it only applies to files",
            got=given, hint="filter the frame first.",
        )  # fmt: skip
    return Data(FrameRows.of(data, "read", "data"), **columns)


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
    rows = ArrayRows({"y_score": y_score}, masses=[positives, negatives])
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
    boolean("lower_is_positive", lower_is_positive, caller=caller)
    if lower_is_positive:
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
        return Data(ReadyRows(y_true), ("y_score",), label="y_true")
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
        rows = ArrayRows({"y_prob": y_prob}, masses=weights)
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


def read_scores(data: Any, score: str | None, caller: str = "decide") -> Scores:
    """Return the scores of an array, or of a column of a frame, of files or of a `Data`; raise for NaN."""
    name, scores = "y_score", data
    if isinstance(data, Data) or is_path(data) or hasattr(type(data), "columns"):
        table = as_unlabelled(data, score=score, weight=None, sample_weight=None, caller=caller)
        name, scores, _ = table.probabilities()
    found = as_floats(scores, name, caller)
    refuse_nan(found, name)
    return found


def _checked(data: Data, caller: str, *, several: bool) -> Data:
    """Raise unless the columns that a function needs have names."""
    for role, there in (("label", data.label is not None or data.counted), ("score", bool(data.scores))):
        if not there:
            raise InvalidParameterError(
                role,
                caller=caller,
                expected="the name of a column",
                got=Words("nothing"),
                hint=f"{caller}('scores.csv', label='y', score='p', ...).",
            )
    if data.label in data.scores:
        message = f"Label and score are the same column, {data.label!r}: every result will look perfect."
        warnings.warn(DataWarning(message), stacklevel=4)
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
            got=Words("nothing"),
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
        ArrayRows(scores, y_true, masses),
        tuple(scores),
        "y_true",
        "sample_weight" if masses else None,
        pos_label=pos_label,
    )


def _table(data: Any, caller: str, parameter: str) -> FileRows | FrameRows:
    return FileRows(data, {}) if is_path(data) else FrameRows.of(data, caller, parameter)


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

"""What users bring to a function -> a source, and the words for what cannot be meant.

Arrays, rows that are counted already, or a frame or files with names of columns: every function of
the package that takes data takes them here, so that one call works as the other does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.arrays import ArraySource
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cutpoints._data.source import Source


_NAME = "the name of a column, a text"


def as_source(
    y_true: Any,
    y_score: Any,
    *,
    columns: Mapping[str, str | None] | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    filters: Mapping[str, str | None] | None = None,
    stream: bool | None = None,
    in_memory: bool = False,
    caller: str = "find",
) -> Source:
    """Turn what the user brings into a source.

    `columns` names label, score and weight, if any; `filters` and `stream` are for files, see
    `sources.files.source`. With `in_memory`, columns of files and of lazy frames are read at once.
    """
    named, chosen = _texts(columns, _NAME, caller), _texts(filters, "a text", caller)
    if type(y_true) is np.ndarray and y_score is not None and not named and not chosen:  # the usual case
        return ArraySource.labelled(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    arrays = {"y_score": y_score, "sample_weight": sample_weight}
    if in_memory:
        found = by_name(y_true, columns or {}, arrays=arrays, pos_label=pos_label, caller=caller)
        if found is not None:
            return found[named["score"]]
    if is_path(y_true) and (named or isinstance(y_true, str | os.PathLike)):
        _check_columns(named, arrays, caller)
        from cutpoints._data import files

        return files.source(y_true, **named, **chosen, pos_label=pos_label, stream=stream)
    for name, text in chosen.items():
        raise InvalidParameterError.of(
            parameter=name, caller=caller, must_be="left out where the data are no files", got=text
        )
    if named:
        _check_columns(named, arrays, caller)
        from cutpoints._data import groupby as frames

        return frames.source(y_true, **named, pos_label=pos_label, caller=caller)
    if _is_source(y_true):
        for name, value in (*arrays.items(), ("pos_label", pos_label)):
            if value is not None:
                raise InvalidParameterError.of(
                    parameter=name, caller=caller, must_be="left out for rows that are counted", got=value
                )
        return y_true
    if columns is not None and _is_frame(y_true, y_score):
        _check_columns(named, arrays, caller)
    if y_score is None:
        raise InvalidParameterError.of(
            parameter="y_score",
            caller=caller,
            must_be="given: one score per label",
            got="nothing",
            hint=f"{caller}(y_true, y_score, ...)"
            + ("." if columns is None else f", or {caller}(frame, label='y', score='p', ...)."),
        )
    return ArraySource.labelled(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)


def by_name(
    data: Any,
    columns: Mapping[str, str | list[str] | None],
    *,
    arrays: Mapping[str, Any],
    pos_label: Any = None,
    caller: str,
    parameter: str = "y_true",
) -> dict[str, ArraySource] | None:
    """Return the rows of a frame or of files in memory, a source for each score; None for other data.

    For functions that need every row at once. Files are read, and lazy frames collected, once for
    all scores, and of no other columns.

    Parameters
    ----------
    data : data frame or path
        What the user passed as `parameter`.
    columns : mapping
        The names of `label`, `score` (one or a list) and `weight`; None where there is none.
    arrays : mapping
        The arguments, by name, that cannot be given too.
    pos_label : int, float, bool or str, default=None
        The label of the positive class.
    caller, parameter : str
        For messages.
    """
    wanted = columns.get("score")
    scores: list[Any] = wanted if isinstance(wanted, list) else [wanted]
    named, *_ = [_texts({**columns, "score": score}, _NAME, caller) for score in scores]
    path = is_path(data) and (bool(named) or isinstance(data, str | os.PathLike))
    if not path and not named and not _is_frame(data, next(iter(arrays.values()))):
        return None
    _check_columns(named, arrays, caller)
    rest = {"label": named["label"], "weight": named.get("weight"), "pos_label": pos_label}
    if path:
        from cutpoints._data import files

        return files.models(data, scores=scores, **rest).sources
    from cutpoints._data import groupby as frames

    return frames.in_memory(data, scores=scores, **rest, caller=caller, parameter=parameter)


def is_path(data: Any) -> bool:
    """Whether this is the path of a file, or a list of them."""
    if isinstance(data, list | tuple):
        return len(data) > 0 and all(isinstance(one, str | os.PathLike) for one in data)
    return isinstance(data, str | os.PathLike)


def _is_source(data: Any) -> bool:
    return all(hasattr(data, question) for question in ("summary", "histogram", "rows"))


def _is_frame(data: Any, y_score: Any) -> bool:
    """Whether names of columns were forgotten: a frame alone. As labels, one of a column is fine."""
    # All frames have columns, which lazy ones had better not be asked for.
    return y_score is None and hasattr(type(data), "columns") and not _is_source(data)


def _texts(given: Mapping[str, Any] | None, what: str, caller: str) -> dict[str, str]:
    """Return what was given; raise unless all of that is text."""
    found = {} if given is None else {name: text for name, text in given.items() if text is not None}
    for name, text in found.items():
        if not isinstance(text, str):
            raise InvalidParameterError.of(parameter=name, caller=caller, must_be=what, got=text)
    return found


def _check_columns(named: Mapping[str, str], arrays: Mapping[str, Any], caller: str) -> None:
    """Raise for arrays where columns have names, and for names that are missing."""
    for name, value in arrays.items():
        if value is not None:
            raise InvalidParameterError.of(
                parameter=name, caller=caller, must_be="left out where columns have names", got=type(value)
            )
    for role in ("label", "score"):
        if role not in named:
            raise InvalidParameterError.of(
                parameter=role,
                caller=caller,
                must_be="the name of a column",
                got="nothing",
                hint=f"{caller}('scores.csv', label='y', score='p', ...).",
            )

"""The keys of segments: what users group by, and how keys are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_floats, same_index
from cutpoints._data.arrays import ArraySource
from cutpoints._data.segment_codes import coded, combined
from cutpoints._data.segments import Grouped
from cutpoints._format import json_form
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.data import Data
    from cutpoints._data.groupby_segments import FrameSegments
    from cutpoints._data.segment_codes import Coded, Key


def key_of(parts: Key) -> Any:
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


def decide_by(y_score: Any, by: Any, entries: Mapping[Any, Any]) -> NDArray[np.int8]:
    """Return the decision of each row by the entry of its segment; a segment without one is an error."""
    same_index({"y_score": y_score, **_named(by)})
    scores = as_floats(y_score, "y_score", "decide")
    codes, keys = combined(list(key_columns(by).values()))
    if len(codes) != len(scores):
        raise InvalidInputError.length(names_and_lengths={"y_score": len(scores), "by": len(codes)})
    decisions = np.zeros(len(scores), dtype=np.int8)
    for code, parts in enumerate(keys):
        key = key_of(parts)
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


def _named(by: Any) -> dict[str, Any]:
    """Return the columns that users passed, by what they call them."""
    if isinstance(by, Mapping):
        return {f"by[{name!r}]": column for name, column in by.items()}
    if isinstance(by, list | tuple) and all(map(_is_column, by)):
        return {f"by[{i}]": column for i, column in enumerate(by)}
    return {"by": by}


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
        data.check_index(**_named(by))
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

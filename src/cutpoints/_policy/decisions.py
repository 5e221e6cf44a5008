"""Decisions for arrays, series and frames: one rule, and missing scores never by accident.

``NaN >= t`` is false in NumPy and pandas and true in Polars, DuckDB and Spark, so no engine is ever
asked: missing scores are told apart first. Scores are widened to float64 before they are compared,
which changes no value; an engine left to itself may round the threshold to float32 instead.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_floats
from cutpoints.exceptions import Argument, InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._policy.policy import Missing, Policy

LARGEST = sys.float_info.max


def decide(
    policy: Policy, data: Any, *, score: str | None, column: str, missing: Missing, labels: tuple[Any, Any]
) -> Any:
    """Dispatch on what the user brings; see `Policy.decide`."""
    _check_labels(labels)
    if isinstance(data, np.ndarray | list | tuple):
        return _array(policy.threshold, data, missing, labels)
    import narwhals as nw

    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        name = native.name
        frame = native.alias("score").to_frame()
        made = _frame(policy, frame, "score", column="decision", missing=missing, labels=labels)
        return made["decision"].alias(name or "decision").to_native()
    if isinstance(native, nw.DataFrame | nw.LazyFrame):
        name = policy.column(score, "decide")
        return _frame(policy, native, name, column=column, missing=missing, labels=labels).to_native()
    return _array(policy.threshold, data, missing, labels)


def _check_labels(labels: tuple[Any, Any]) -> None:
    negative, positive = labels
    for name, value in (("positive", positive), ("negative", negative)):
        if not isinstance(value, bool | int | float | str) or value != value:
            raise InvalidParameterError.of(
                parameter=name, caller="decide", must_be="a string, a number or a boolean", got=value
            )
    if type(positive) is not type(negative) or positive == negative:
        raise InvalidParameterError.of(
            parameter="positive",
            caller="decide",
            must_be="of the same type as 'negative', and another value",
            got=f"{positive!r} and {negative!r}",
        )


def name_taken(column: str, caller: str, data: str) -> InvalidParameterError:
    """Return the error of a name for the decisions that the data have already."""
    return InvalidParameterError.of(
        parameter="column",
        caller=caller,
        must_be="a new name",
        got=f"{column!r}, which {data} has",
        hint=("for example ", Argument("column", "decision_2"), "."),
    )


# --- arrays


def _array(threshold: float, data: Any, missing: Missing, labels: tuple[Any, Any]) -> Any:
    scores = as_floats(data, "scores", "decide") if not _empty(data) else np.zeros(0)
    absent = np.isnan(scores)
    if missing == "error" and absent.any():
        raise InvalidInputError.nan_scores(
            name="scores", count=int(absent.sum()), rows=len(scores), first=int(absent.argmax())
        )
    # A NumPy float64, and not a Python float, which NumPy would round to the scores' float32.
    called = scores >= np.float64(threshold)
    if missing == "positive":
        called |= absent
    if labels == (0, 1) and type(labels[1]) is int:
        made: Any = called.astype(np.int8)
    else:
        made = np.where(called, *np.array(labels[::-1]))
    if missing != "keep":
        return made
    texts = made.dtype.kind not in "biuf"
    made = made.astype(object if texts else np.float64)
    made[absent] = None if texts else np.nan
    return made


def _empty(data: Any) -> bool:
    return isinstance(data, list | tuple) and len(data) == 0


# --- frames


def _frame(
    policy: Policy, frame: Any, score: str, *, column: str, missing: Missing, labels: tuple[Any, Any]
) -> Any:
    """Add the column; lazy frames stay lazy."""
    import narwhals as nw

    schema = frame.collect_schema()
    if score not in schema:
        raise InvalidInputError.column(name=score, path="the data frame", columns=list(schema))
    if not schema[score].is_numeric():
        raise InvalidInputError.not_a_number_type(name=score, type_=str(schema[score]))
    if column in schema:
        raise name_taken(column, "decide", "the frame")
    scores = nw.col(score).cast(nw.Float64)
    absent = scores.is_null() | scores.is_nan()
    if missing == "error":
        _refuse_missing(frame, absent, score)
    called = _called(policy.threshold, scores, absent)
    no, yes = (_literal(label) for label in labels)
    known = nw.when(called).then(yes).otherwise(no)
    if missing in ("positive", "negative"):
        whole = nw.when(absent).then(yes if missing == "positive" else no).otherwise(known)
    else:
        # Without an "otherwise" it is null: a score that went missing after it was looked for, too.
        whole = nw.when(~absent).then(known)
    return frame.with_columns(whole.alias(column))


def _called(threshold: float, scores: Any, absent: Any) -> Any:
    """Compare without an infinite literal, which not every engine can spell."""
    import narwhals as nw

    if threshold == np.inf:
        return scores > nw.lit(LARGEST, nw.Float64)
    if threshold == -np.inf:
        return ~absent
    return scores >= nw.lit(threshold, nw.Float64)


def _literal(label: Any) -> Any:
    import narwhals as nw

    return nw.lit(label, nw.Int32) if type(label) is int and abs(label) < 1 << 31 else nw.lit(label)


def _refuse_missing(frame: Any, absent: Any, score: str) -> None:
    """Raise if a score is missing. A lazy frame is asked by a query for two numbers."""
    import narwhals as nw

    if isinstance(frame, nw.DataFrame):
        mask = frame.select(absent.alias("absent"))["absent"].to_numpy().astype(np.bool_)
        if mask.any():
            first = int(mask.argmax())
            raise InvalidInputError.nan_scores(name=score, count=int(mask.sum()), rows=len(mask), first=first)
        return
    # The rule of all engines: make a column first, then add up the column and nothing else.
    one = nw.when(absent).then(nw.lit(1, nw.Int64)).otherwise(nw.lit(0, nw.Int64))
    counted = frame.select(one.alias("absent")).select(nw.col("absent").sum(), rows=nw.len()).collect()
    count, rows = (int(counted[name].to_numpy()[0] or 0) for name in ("absent", "rows"))
    if count:
        raise InvalidInputError.nan_scores(name=score, count=count, rows=rows, first=None)

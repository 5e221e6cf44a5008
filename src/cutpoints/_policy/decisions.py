"""Decisions for arrays, series and frames: one rule, and missing scores never by accident.

``NaN >= t`` is false in NumPy and pandas and true in Polars, DuckDB and Spark, so no engine is ever
asked: missing scores are told apart first. Scores are widened to float64 before they are compared,
which changes no value; an engine left to itself may round the threshold to float32 instead.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data import file_errors
from cutpoints._data.array_input import as_floats
from cutpoints._data.segment_codes import coded, combined
from cutpoints._data.segment_keys import key_columns
from cutpoints._policy.rules import key_type
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cutpoints._data.segment_codes import Coded
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Decision, Edges, Key, Missing

LARGEST = sys.float_info.max
LAZY_BRANCHES = 100
"""Segments of one branching expression: engines give up on expressions that are nested too deeply."""


@dataclass(frozen=True)
class _Asked:
    """A policy, what to make of missing scores, and what to write for each decision."""

    policy: Policy
    missing: Missing
    texts: dict[Any, Any]

    @property
    def for_missing(self) -> Any:
        """The decision for missing scores, or None."""
        return self.policy.rule.missing.get(self.missing)

    @property
    def may_be_undecided(self) -> bool:
        """Whether a decision can be missing."""
        return "keep" in (self.missing, self.policy.rule.unknown)


def decide(
    policy: Policy,
    data: Any,
    by: Any,
    *,
    score: str | None,
    column: str,
    missing: Missing,
    written: Mapping[int, Any],
) -> Any:
    """Dispatch on what the user brings; see `Policy.decide`."""
    asked = _Asked(policy, missing, _texts(policy, written))
    if isinstance(data, np.ndarray | list | tuple):
        return _arrays(asked, data, by)
    import narwhals as nw

    native = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        return _series(asked, native, by)
    if isinstance(native, nw.DataFrame | nw.LazyFrame):
        if by is not None:
            raise InvalidParameterError(
                "by",
                caller="decide",
                expected="left out for a frame, which has the segments in its columns",
                got=by,
            )
        return _frame(asked, native, score=score, column=column).to_native()
    return _arrays(asked, data, by)


def _texts(policy: Policy, written: Mapping[int, Any]) -> dict[Any, Any]:
    """Return what to write for each decision of the rule."""
    values = policy.rule.decisions()[0].values
    if not policy.rule.missing:  # ordered classes are written as they are
        if dict(written) != {0: 0, 1: 1, -1: -1}:
            raise InvalidParameterError(
                "positive",
                caller="decide",
                expected="left out for ordered classes, which the policy names",
                got=written[1],
            )
        return {value: value for value in values}
    texts = {value: written[value] for value in values}
    names = {0: "negative", 1: "positive", -1: "review"}
    for value, text in texts.items():
        if not isinstance(text, bool | int | float | str) or text != text:
            raise InvalidParameterError(
                names[value], caller="decide", expected="a string, a number or a boolean", got=text
            )
    if len({type(text) for text in texts.values()}) > 1 or len(set(texts.values())) < len(texts):
        others = " and ".join(repr(names[value]) for value in values if value != 1)
        raise InvalidParameterError(
            "positive",
            caller="decide",
            expected=f"of the same type as {others}, and another value",
            got=" and ".join(repr(text) for text in texts.values()),
        )
    return texts


def name_taken(column: str, caller: str, data: str) -> InvalidParameterError:
    """Return the error of a name for the decisions that the data have already."""
    return InvalidParameterError(
        "column",
        caller=caller,
        expected="a new name",
        got=f"{column!r}, which {data} has",
        hint=("for example ", Argument("column", "decision_2"), "."),
    )


def output_name(column: str, decision: Decision) -> str:
    """Return the name of a column of decisions."""
    return column if decision.label is None else f"{column}_{decision.label}"


# --- segments


def check_key_types(decision: Decision, found: list[set[str]], caller: str) -> None:
    """Raise if the data have keys of another type than the policy: none of them would be known."""
    for name, own, types in zip(decision.by, decision.types, found, strict=True):
        if own is not None and types - {own}:
            raise InvalidParameterError(
                "by",
                caller=caller,
                expected=f"of the type that the policy has for {name!r}, which is {own}",
                got=", ".join(sorted(types - {own})),
                hint="convert the column; 7 and '7' are two different segments.",
            )


def _row_edges(
    policy: Policy, decision: Decision, columns: list[Coded], absent: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the edges of each row, and whether it has any.

    Rows that have a score and no known segment are an error, if the policy says so.
    """
    types = [{key_type(one) for one in values if one is not None} for _, values in columns]
    check_key_types(decision, types, "decide")
    codes, keys = combined(columns)
    if len(codes) != len(absent):
        raise InvalidInputError.length(names_and_lengths={"scores": len(absent), "by": len(codes)})
    found = [decision.edges(key) for key in keys]
    known = np.array([one is not None for one in found], dtype=np.bool_)
    unknown = ~(known[codes] | absent)
    if policy.rule.unknown == "error" and unknown.any():
        first = int(unknown.argmax())
        raise InvalidInputError.unknown_segments(
            by=decision.by, key=keys[codes[first]], count=int(unknown.sum()), rows=len(absent), first=first
        )
    none: Edges = (np.nan,) * (len(decision.values) - 1)
    edges = np.array([none if one is None else one for one in found], dtype=np.float64)
    return edges.reshape(len(keys), len(none))[codes], known[codes]


# --- arrays


def _arrays(asked: _Asked, data: Any, by: Any) -> Any:
    decisions = asked.policy.rule.decisions()
    if decisions[0].label is None:
        scores = as_floats(data, "scores", "decide") if not _empty(data) else np.zeros(0)
        return _array(asked, decisions[0], scores, by)
    matrix = np.asarray(data)
    if matrix.ndim != 2 or matrix.shape[1] != len(decisions):
        raise InvalidParameterError(
            "scores",
            caller="decide",
            expected=f"a matrix with one column for each of {len(decisions)} labels",
            got=f"shape {matrix.shape}",
        )
    columns = [
        _array(asked, one, as_floats(matrix[:, i], str(one.label), "decide"), by)
        for i, one in enumerate(decisions)
    ]
    return np.stack(columns, axis=1)


def _array(asked: _Asked, decision: Decision, scores: NDArray[Any], by: Any) -> Any:
    absent = _absent(asked, scores, decision.label or "scores")
    index, undecided = _decided(asked, decision, scores, absent, _given_keys(decision, by))
    texts = [asked.texts[value] for value in decision.values]
    small = all(type(text) is int and abs(text) < 128 for text in texts)
    made: Any = np.array(texts, dtype=np.int8 if small else None)[index]
    if not asked.may_be_undecided:
        return made
    words = made.dtype.kind not in "biuf"
    made = made.astype(object if words else np.float64)
    made[undecided] = None if words else np.nan
    return made


def _absent(asked: _Asked, scores: NDArray[Any], name: str) -> NDArray[np.bool_]:
    """Return which scores are missing; raise if that is an error."""
    absent: NDArray[np.bool_] = np.isnan(scores)
    if asked.missing == "error" and absent.any():
        raise InvalidInputError.nan_scores(
            name=name, count=int(absent.sum()), rows=len(absent), first=int(absent.argmax())
        )
    return absent


def _decided(
    asked: _Asked,
    decision: Decision,
    scores: NDArray[Any],
    absent: NDArray[np.bool_],
    keys: list[Coded],
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return which of its values each row is given, and which rows are undecided.

    Raise for unknown segments, where they are an error.
    """
    undecided = absent if asked.missing == "keep" else np.zeros(len(scores), dtype=np.bool_)
    if decision.by:
        edges, known = _row_edges(asked.policy, decision, keys, absent)
        undecided = undecided | ~(known | absent)
    else:  # float64, and not Python floats, which NumPy would round to the scores' float32
        edges = np.array([decision.otherwise], dtype=np.float64)
    reached = np.zeros(len(scores), dtype=np.intp)
    for k in range(edges.shape[1]):
        reached += scores >= edges[:, k]
    if asked.for_missing is not None:
        reached[absent] = decision.values.index(asked.for_missing)
    return reached, undecided


def _given_keys(decision: Decision, by: Any) -> list[Coded]:
    """Return the columns of segments that a policy of segments needs, and others must not have."""
    if not decision.by:
        if by is not None:
            raise InvalidParameterError(
                "by", caller="decide", expected="left out: the policy has no segments", got=by
            )
        return []
    if by is None:
        raise InvalidParameterError(
            "by",
            caller="decide",
            expected="given: the policy has a threshold for each " + ", ".join(decision.by),
            got=None,
            hint="pass the segments as a second argument, or a frame with these columns.",
        )
    columns = key_columns(by)
    if set(decision.by) <= set(columns):
        return [columns[name] for name in decision.by]
    if len(columns) != len(decision.by):
        raise InvalidParameterError(
            "by",
            caller="decide",
            expected=f"one column for each of {', '.join(decision.by)}",
            got=f"{len(columns)} columns",
        )
    return list(columns.values())


def _empty(data: Any) -> bool:
    return isinstance(data, list | tuple) and len(data) == 0


def _series(asked: _Asked, series: Any, by: Any) -> Any:
    """Decide a series as a frame of one column, so that it comes back as a series of its kind."""
    decision = asked.policy.rule.decisions()[0]
    if decision.label is not None:
        raise InvalidParameterError(
            "scores",
            caller="decide",
            expected="a matrix or a frame: the policy has several labels",
            got=type(series.to_native()),
        )
    frame = series.alias("score").to_frame()
    made = _in_memory(asked, decision, frame, "score", "decision", _given_keys(decision, by))
    return made["decision"].alias(series.name or "decision").to_native()


# --- frames


def _frame(asked: _Asked, frame: Any, *, score: str | None, column: str) -> Any:
    """Add the columns; lazy frames stay lazy."""
    import narwhals as nw

    schema = frame.collect_schema()
    for decision in asked.policy.rule.decisions():
        name = asked.policy.column(score, "decide", decision.score)
        for one in (name, *decision.by):
            if one not in schema:
                raise file_errors.column(name=one, path="the data frame", columns=list(schema))
        if not schema[name].is_numeric():
            raise file_errors.not_a_number_type(name=name, type_=str(schema[name]))
        new = output_name(column, decision)
        if new in schema:
            raise name_taken(new, "decide", "the frame")
        if isinstance(frame, nw.DataFrame):
            keys = [coded(frame[by].to_native(), by) for by in decision.by]
            frame = _in_memory(asked, decision, frame, name, new, keys)
        else:
            frame = _lazy(asked, decision, frame, name, new)
    return frame


def _in_memory(  # noqa: PLR0917 - as `_lazy`, and the keys
    asked: _Asked, decision: Decision, frame: Any, score: str, new: str, keys: list[Coded]
) -> Any:
    """Add the decisions of arrays: for a moment, each row has beside it which of the values it is given."""
    import narwhals as nw

    scores = frame[score].cast(nw.Float64).to_numpy()
    reached, undecided = _decided(asked, decision, scores, _absent(asked, scores, score), keys)
    own = "reached"
    while own in frame.columns:
        own += "_"
    places = np.where(undecided, -1, reached)
    column = nw.col(own)
    made = _literal(asked.texts[decision.values[0]])
    for k, value in enumerate(decision.values[1:], start=1):
        made = nw.when(column >= k).then(_literal(asked.texts[value])).otherwise(made)
    if asked.for_missing is None or asked.may_be_undecided:
        made = nw.when(column >= 0).then(made)
    beside = frame.with_columns(nw.new_series(own, places, nw.Int64, backend=frame.implementation))
    return beside.with_columns(made.alias(new)).drop(own)


def _lazy(asked: _Asked, decision: Decision, frame: Any, score: str, new: str) -> Any:
    """Add the decisions as an expression of the columns."""
    import narwhals as nw

    scores = nw.col(score).cast(nw.Float64)
    absent = scores.is_null() | scores.is_nan()
    literals = {value: _literal(text) for value, text in asked.texts.items()}
    faults = {"absent": absent} if asked.missing == "error" else {}
    if decision.by:
        whole = _by_segment(decision, scores, absent, literals, frame.collect_schema())
        if asked.policy.rule.unknown == "error":
            faults["unknown"] = ~absent & whole.is_null()
    else:
        assert decision.otherwise is not None
        whole = _steps(decision, decision.otherwise, scores, absent, literals)
    if faults:
        _refuse(frame, faults, score, decision.by)
    if asked.for_missing is not None:
        whole = nw.when(absent).then(literals[asked.for_missing]).otherwise(whole)
    else:  # without an "otherwise" it is null: a score that went missing after it was looked for, too
        whole = nw.when(~absent).then(whole)
    return frame.with_columns(whole.alias(new))


def _steps(decision: Decision, edges: Edges, scores: Any, absent: Any, literals: dict[Any, Any]) -> Any:
    """Return the decision by these edges: each edge that is reached replaces what the one before gave."""
    import narwhals as nw

    made = literals[decision.values[0]]
    for edge, value in zip(edges, decision.values[1:], strict=True):
        made = nw.when(_called(edge, scores, absent)).then(literals[value]).otherwise(made)
    return made


def _by_segment(
    decision: Decision, scores: Any, absent: Any, literals: dict[Any, Any], schema: Mapping[str, Any]
) -> Any:
    """Return the decision by the edges of each row's segment, as an expression; null for unknown ones."""
    import narwhals as nw

    check_key_types(decision, [_types_of(schema[name]) for name in decision.by], "decide")
    made, branches = [], list(decision.segments.items())
    for start in range(0, len(branches), LAZY_BRANCHES):
        chain: Any = None
        for key, edges in reversed(branches[start : start + LAZY_BRANCHES]):
            branch = nw.when(_is_key(decision.by, key, schema)).then(
                _steps(decision, edges, scores, absent, literals)
            )
            chain = branch if chain is None else branch.otherwise(chain)
        made.append(chain)
    if decision.otherwise is not None:
        made.append(_steps(decision, decision.otherwise, scores, absent, literals))
    return made[0] if len(made) == 1 else nw.coalesce(*made)


def _is_key(by: tuple[str, ...], key: Key, schema: Mapping[str, Any]) -> Any:
    import narwhals as nw

    parts = []
    for name, part in zip(by, key, strict=True):
        column = nw.col(name)
        if part is not None:
            parts.append(column == part)
        elif schema[name].is_float():
            parts.append(column.is_null() | column.is_nan())
        else:
            parts.append(column.is_null())
    return nw.all_horizontal(*parts, ignore_nulls=False) if len(parts) > 1 else parts[0]


def _types_of(dtype: Any) -> set[str]:
    """Return the type of the keys of a column; nothing where only its values would tell."""
    import narwhals as nw

    if dtype.is_numeric():
        return {"number"}
    if dtype == nw.Boolean:
        return {"boolean"}
    if dtype in (nw.Object, nw.Unknown):
        return set()
    return {"text"} if dtype in (nw.String, nw.Categorical, nw.Enum) else {str(dtype)}


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


def _refuse(frame: Any, faults: dict[str, Any], score: str, by: tuple[str, ...]) -> None:
    """Raise if a score is missing, or a segment unknown; the frame is asked for three numbers."""
    import narwhals as nw

    from cutpoints._data.frames import run

    # The rule of all engines: make columns first, then add up the columns and nothing else.
    ones = [
        nw.when(one).then(nw.lit(1, nw.Int64)).otherwise(nw.lit(0, nw.Int64)).alias(name)
        for name, one in faults.items()
    ]
    counted = run(frame.select(*ones).select(*(nw.col(name).sum() for name in faults), rows=nw.len()))
    counts = {name: int(counted[name].to_numpy()[0] or 0) for name in (*faults, "rows")}
    rows = counts["rows"]
    if counts.get("absent"):
        raise InvalidInputError.nan_scores(name=score, count=counts["absent"], rows=rows, first=None)
    if counts.get("unknown"):
        raise InvalidInputError.unknown_segments(
            by=by, key=None, count=counts["unknown"], rows=rows, first=None
        )

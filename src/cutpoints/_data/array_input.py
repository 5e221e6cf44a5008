"""Whatever array-likes users bring -> one-dimensional NumPy arrays, without a copy where possible."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._format import plural
from cutpoints._kernel.weights import EXACT_INTEGERS
from cutpoints._wording import Column, at_row, show
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cutpoints._kernel.tables import Scores


def as_array(x: Any, name: str, caller: str | None = None) -> NDArray[Any]:
    """Return a one-dimensional array; missing values become NaN (numbers) or None (anything else)."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype.isnative:
        return x  # the usual case
    if isinstance(x, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(x)
        x = np.asarray(x.data)
        if missing.any():
            x = x.astype(np.float64 if x.dtype.kind in "biuf" else object)
            x[missing] = np.nan if x.dtype.kind == "f" else None
    try:
        array = np.asarray(x)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidParameterError(
            name,
            caller=caller,
            expected="an array of one value per row",
            got=f"{type(x).__name__}, which NumPy cannot read ({error})",
            hint="for a tensor that carries a gradient or lives on a GPU, pass x.detach().cpu().",
        ) from error
    if array.ndim == 0:
        raise InvalidParameterError(name, caller=caller, expected="an array of one value per row", got=x)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        hint = "pass the column of the positive class, such as predict_proba(X)[:, 1]."
        raise InvalidInputError.not_1d(name=name, shape=array.shape, hint=hint)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_floats(x: Any, name: str, caller: str | None = None) -> Scores:
    """Return float32 or float64 numbers; integers and half floats are widened."""
    array = as_array(x, name, caller)
    kind = array.dtype.kind
    if array.dtype.char in "fd":  # float32 and float64
        return array
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if kind in "biu":
        wide = array.astype(np.float64)
        if kind != "b" and len(wide) and max(abs(wide.max()), abs(wide.min())) >= EXACT_INTEGERS:
            raise too_large(name, caller)
        return wide
    if kind in "OUST":
        return _parsed(array, name, caller)
    raise InvalidParameterError(
        name,
        caller=caller,
        expected="real numbers (float32 or float64)",
        got=f"dtype {array.dtype}",
    )


def too_large(
    name: str, caller: str | None = None, got: str = "integers of 2**53 or more"
) -> InvalidParameterError:
    """Return the error for numbers that lose digits as float64."""
    return InvalidParameterError(
        name,
        caller=caller,
        expected="numbers that float64 can hold",
        got=got,
        hint="divide them, or rank them first; float64 would merge neighbours.",
    )


def _parsed(array: NDArray[Any], name: str, caller: str | None) -> Scores:
    """Read Python objects as numbers; None is NaN. Text is refused: '0.9' is not a number."""
    numbers = np.empty(len(array), dtype=np.float64)
    for i, value in enumerate(array):
        if isinstance(value, Integral) and abs(int(value)) >= EXACT_INTEGERS:
            raise too_large(name, caller)
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            numbers[i] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            if is_missing(value):
                numbers[i] = np.nan
                continue
            shown = value.item() if isinstance(value, np.generic) else value
            raise no_number(name, shown, i, caller) from None
    return numbers


def no_number(name: str, value: object, row: int, caller: str | None = None) -> InvalidParameterError:
    """Return the error for values that are not numbers, such as text."""
    return InvalidParameterError(
        name,
        caller=caller,
        expected="numbers",
        got=f"{value!r} at row {row}",
        hint="text of numbers is not taken for numbers here: convert it first, with float().",
    )


def as_weights(x: Any, name: str) -> Scores:
    """Return finite, non-negative numbers whose sum is finite."""
    weights = as_floats(x, name)
    if len(weights) and not (weights.min() >= 0 and float(weights.max()) * len(weights) < np.inf):  # NaN too
        refuse_nan(weights, name)
        refuse_negative(weights, name)
        largest = int(weights.argmax())
        raise infinite_weight(name, f"{float(weights[largest])!r} at row {largest}")
    return weights


def refuse_negative(weights: Scores, name: str) -> None:
    """Raise for negative weights, saying how many there are and where the first is."""
    bad = weights < 0
    if bad.any():
        first = int(bad.argmax())
        raise InvalidInputError.negative(
            name=name, count=int(bad.sum()), first=first, value=float(weights[first])
        )


def infinite_weight(name: str, got: object) -> InvalidParameterError:
    """Return the error for weights whose sum is no float."""
    return InvalidParameterError(
        name,
        expected="numbers with a finite sum",
        got=got,
        hint="only the ratios of weights matter for rates: rescale them.",
    )


def refuse_nan(numbers: Scores, name: str) -> None:
    """Raise for missing values, saying how many there are and where the first is."""
    missing = np.isnan(numbers)
    if missing.any():
        raise InvalidInputError.nan(
            name=name, count=int(missing.sum()), rows=len(numbers), first=int(missing.argmax())
        )


def is_missing(value: Any) -> bool:
    """Whether this is None, NaN, or the NA or NaT of pandas."""
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value


def refuse_missing(values: NDArray[Any], name: str) -> None:
    """Raise for missing values among Python objects, as `refuse_nan` does for numbers."""
    refuse_nan(np.array([np.nan if is_missing(value) else 0.0 for value in values]), name)


def refuse_beyond(numbers: Scores, name: str) -> None:
    """Raise for what is no probability, saying how many there are and where the first is."""
    beyond = (numbers < 0) | (numbers > 1)
    if beyond.any():
        first = int(beyond.argmax())
        count = int(beyond.sum())
        raise InvalidInputError(
            Column(name),
            f" must be probabilities, between 0 and 1. {count:,} of {plural(len(numbers), 'value')} "
            f"{'lies' if count == 1 else 'lie'} outside{at_row(first)}, with {show(float(numbers[first]))}.",
            hint="with labels, `cutpoints find` takes any scores; in Python, recalibrate() makes them "
            "probabilities.",
            kind="not_probabilities",
            name=name,
            count=count,
            rows=len(numbers),
            first=first,
        )


def same_index(columns: dict[str, Any]) -> None:
    """Raise if columns of pandas have the same labels in another order.

    It is then unclear which rows belong together. All else is paired by position, as in scikit-learn:
    a column without an index, and one with other labels, such as new scores for the rows of a test set.
    """
    indexed = {
        name: column.index
        for name, column in columns.items()
        if hasattr(getattr(column, "index", None), "equals")  # the index of a list is a method
    }
    if len(indexed) <= 1:
        return
    (name, first), *others = indexed.items()
    for other, index in others:
        if len(index) != len(first) or index is first or index.equals(first):
            continue
        if index.isin(first).all() and first.isin(index).all():
            row = int(np.argmax(np.asarray(index != first)))
            here, there = (each[row : row + 1].tolist()[0] for each in (first, index))
            raise InvalidInputError(
                Column(name),
                " and ",
                Column(other),
                " must have their rows in the same order. Both have the same index labels, but at row "
                f"{row:,} (rows are counted from 0) one has {show(here)} and the other {show(there)}.",
                hint=f"align them, {other} = {other}.loc[{name}.index], or drop the labels with .to_numpy() "
                "if the rows are in the right order.",
            )


def same_length(columns: dict[str, Any], empty: Callable[..., Exception] = InvalidInputError.empty) -> None:
    """Raise unless all columns are equally long, and not empty; `empty` makes that error."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    found = set(lengths.values())
    if len(found) > 1:
        raise InvalidInputError.length(names_and_lengths=lengths)
    if 0 in found:
        raise empty(name=next(iter(lengths)))

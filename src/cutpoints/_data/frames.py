"""Data frames of any engine, through narwhals: what is one, its columns in memory, and queries."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import narwhals as nw

from cutpoints._data import file_errors
from cutpoints._data.duckdb_reader import ONE_AT_A_TIME
from cutpoints.exceptions import InvalidParameterError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_EXTRAS = {"pyspark": "spark", "dask": "dask", "ibis": "ibis"}

Collected = dict[str, "NDArray[Any]"]


def columns_of(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Sequence[str]
) -> dict[str, nw.Series[Any]]:
    """Return columns by name.

    A lazy frame is collected, once, and of these columns only; its rows come in the engine's order.
    """
    check_columns(frame.collect_schema(), names)
    eager = run(frame.select(*names)) if isinstance(frame, nw.LazyFrame) else frame
    return {name: eager.get_column(name) for name in names}


def is_lazy(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> bool:
    """Whether rows stay in their engine until a query asks for them."""
    return isinstance(frame, nw.LazyFrame)


def described(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> str:
    """Return what kind of frame it is: 'pandas DataFrame'."""
    native = type(frame.to_native())
    return f"{native.__module__.partition('.')[0]} {native.__name__}"


def read(
    frame: Any, *, caller: str = "find", parameter: str = "y_true"
) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Return what narwhals makes of a frame."""
    try:
        return nw.from_native(frame)
    except TypeError:
        raise InvalidParameterError(
            parameter,
            caller=caller,
            expected="a data frame, or a path, where columns have names",
            got=type(frame),
            hint="frames of pandas, polars, pyarrow, DuckDB, PySpark, Dask and Ibis are known.",
        ) from None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in frame.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InvalidParameterError(
            parameter,
            caller=caller,
            expected="a data frame whose columns have different names",
            got=f"more than one column {', '.join(map(repr, twice))}",
            hint="rename them, or pass the columns themselves as arrays.",
        ) from None


def check_columns(schema: nw.Schema, names: Sequence[str]) -> None:
    """Raise unless there are columns of these names."""
    for name in names:
        if name not in schema:
            raise file_errors.column(name=name, path="the data frame", columns=list(map(str, schema)))


def collect(frame: nw.LazyFrame[Any]) -> Collected:
    """Run a query; its few rows come as columns of NumPy."""
    found = run(frame)
    return {name: found.get_column(name).to_numpy() for name in found.columns}


def run(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Run a query that has few rows."""
    engine = frame.implementation
    try:
        with ONE_AT_A_TIME if engine.is_duckdb() else nullcontext():
            return frame.collect("polars", engine="streaming") if engine.is_polars() else frame.collect()
    except ImportError as error:
        package = error.name or "pyarrow"
        extra = next((extra for name, extra in _EXTRAS.items() if name in str(engine)), None)
        raise MissingDependencyError.of(
            caller="find on such a frame", package=package, extra=extra
        ) from error

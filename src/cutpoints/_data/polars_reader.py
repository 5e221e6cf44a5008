"""Polars lazy frames in batches, from the streaming engine: nothing is collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from cutpoints._data.array_input import no_number
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from numpy.typing import NDArray

    from cutpoints._data.streaming import Batch, Columns

_LISTED = 6
_TWO = 2


class PolarsReader:
    """A lazy frame that runs anew for each pass."""

    def __init__(self, frame: pl.LazyFrame, columns: Columns, *, pos_label: Any = None) -> None:
        self.columns = columns
        self.coded = False
        self._frame = frame
        self._positive = pos_label
        schema = frame.collect_schema()
        for name in columns.all:
            self.need(name)
        parts = []
        for i, name in enumerate(columns.all):
            is_label = i == 1 and columns.label is not None
            read = self._as_label if is_label else self._as_number
            parts.append(read(name, schema[name]).alias(f"a{i}"))
        self._parts = parts
        self._table = frame.select(parts)

    def batches(self, near: tuple[float, float] | None, keys: Sequence[str] = ()) -> Generator[Batch]:
        """Run the query; missing numbers become NaN. Columns of `keys` come last."""
        table = self._table
        if keys:
            named = [pl.col(name).alias(f"k{i}") for i, name in enumerate(keys)]
            table = self._frame.select([*self._parts, *named])
        if near is not None:
            score = pl.col("a0")
            table = table.filter((score >= near[0]) & (score <= near[1]))
        for batch in table.collect_batches(maintain_order=True, engine="streaming"):
            if batch.height:
                own = len(self._parts)
                columns = [batch.to_series(i).to_numpy() for i in range(own)]
                yield [*columns, *(_key(batch.to_series(i)) for i in range(own, batch.width))]

    def need(self, name: str) -> None:
        """Raise unless the frame has a column of this name."""
        schema = self._frame.collect_schema()
        if name not in schema:
            raise InvalidInputError.column(name=name, path="the data frame", columns=list(schema))

    def cancel(self) -> None:
        """Do nothing: a batch is soon there."""

    # --- types

    def _as_number(self, name: str, type_: pl.DataType) -> pl.Expr:
        if type_.is_decimal() or type_ in (pl.Int128, pl.Null):
            return pl.col(name).cast(pl.Float64)
        if type_.is_numeric() or type_ == pl.Boolean:
            return pl.col(name)
        if type_ in (pl.String, pl.Categorical, pl.Enum):
            found = self._frame.select(pl.col(name).drop_nulls().head(1).cast(pl.String)).collect(
                engine="streaming"
            )
            value = found.item() if found.height else None
            raise no_number(name, value, 0)
        raise InvalidInputError.not_a_number_type(name=name, type_=str(type_))

    def _as_label(self, name: str, type_: pl.DataType) -> pl.Expr:
        """Return the labels: numbers as they are, anything else compared by Polars."""
        if type_.is_decimal() or type_ == pl.Int128:
            return pl.col(name).cast(pl.Float64)
        if type_.is_numeric() or type_ == pl.Boolean:
            return pl.col(name)
        self.coded = True
        self._label = pl.col(name).cast(pl.String)
        if self._positive is None:
            self.refuse_labels()
        # A number is no text, and equals none.
        is_text = type_ in (pl.String, pl.Categorical, pl.Enum)
        same = isinstance(self._positive, str) or not is_text
        positive = self._label == str(self._positive) if same else pl.lit(value=False)
        another = self._frame.filter(self._label.is_not_null() & ~positive).select(self._label).head(1)
        found = another.collect(engine="streaming")
        other = self._label == found.item() if found.height else pl.lit(value=False)
        code = pl.when(self._label.is_null()).then(3).when(positive).then(1).when(other).then(0).otherwise(2)
        return code.cast(pl.UInt8)

    def refuse_labels(self) -> None:
        """Raise for labels that are missing, three or more, or two without a positive one."""
        name = str(self.columns.label)
        seen = self._frame.select(self._label.alias("v"))
        rows, missing, first = (
            seen.select(
                pl.len(), pl.col("v").null_count().alias("m"), pl.col("v").is_null().arg_max().alias("f")
            )
            .collect(engine="streaming")
            .row(0)
        )
        if rows == 0:
            raise InvalidInputError.empty(name=name)
        if missing:
            raise InvalidInputError.nan(name=name, count=missing, rows=rows, first=first)
        values = seen.unique().sort("v").collect(engine="streaming")["v"].to_list()
        if len(values) > _TWO:
            raise InvalidInputError.labels(values=values[:_LISTED], count=len(values), name=name)
        if self._positive is None:
            raise InvalidInputError.pos_label(values=values, name=name)
        raise InvalidParameterError.of(
            parameter="pos_label", must_be=f"one of the labels {values}", got=self._positive
        )


def _key(column: pl.Series) -> NDArray[Any]:
    """Return a column of keys: numbers and dates as they are, anything else as Python objects."""
    if column.null_count() == 0 and (column.dtype.is_numeric() or column.dtype == pl.Date):
        return column.to_numpy()
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_list()
    return values

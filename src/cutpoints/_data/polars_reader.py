"""Polars lazy frames in batches, from the streaming engine: nothing is collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from cutpoints._data import file_errors
from cutpoints._data.array_input import no_number
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Generator

    from cutpoints._data.streaming import Batch, Columns


class PolarsReader:
    """A lazy frame that runs again for each pass."""

    def __init__(self, frame: pl.LazyFrame, columns: Columns, *, pos_label: Any = None) -> None:
        self.columns = columns
        self.coded = False
        self.table = frame
        self._positive = pos_label
        self._positive_text: str | None = None
        schema = frame.collect_schema()
        for name in columns.all:
            self.need(name)
        parts = []
        for i, name in enumerate(columns.all):
            is_label = i == 1 and columns.label is not None
            read = self._as_label if is_label else self._as_number
            parts.append(read(name, schema[name]).alias(f"a{i}"))
        self.projected = frame.select(parts)

    def batches(self, near: tuple[float, float] | None) -> Generator[Batch]:
        """Run the query; missing numbers become NaN."""
        table = self.projected
        if near is not None:
            score = pl.col("a0")
            table = table.filter((score >= near[0]) & (score <= near[1]))
        for batch in table.collect_batches(maintain_order=True, engine="streaming"):
            if batch.height:
                yield [column.to_numpy() for column in batch.iter_columns()]

    def need(self, name: str) -> None:
        """Raise unless the frame has a column of this name."""
        schema = self.table.collect_schema()
        if name not in schema:
            raise file_errors.column(name=name, path="the data frame", columns=list(schema))

    def cancel(self) -> None:
        """Do nothing: a batch is soon there."""

    # --- types

    def _as_number(self, name: str, type_: pl.DataType) -> pl.Expr:
        if type_.is_decimal() or type_ in (pl.Int128, pl.Null):
            return pl.col(name).cast(pl.Float64)
        if type_.is_numeric() or type_ == pl.Boolean:
            return pl.col(name)
        if type_ in (pl.String, pl.Categorical, pl.Enum):
            found = self.table.select(pl.col(name).drop_nulls().head(1).cast(pl.String)).collect(
                engine="streaming"
            )
            value = found.item() if found.height else None
            raise no_number(name, value, 0)
        raise file_errors.not_a_number_type(name=name, type_=str(type_))

    def _as_label(self, name: str, type_: pl.DataType) -> pl.Expr:
        """Return the labels: numbers as they are, anything else compared by Polars."""
        if type_.is_decimal() or type_ == pl.Int128:
            return pl.col(name).cast(pl.Float64)
        if type_.is_numeric() or type_ == pl.Boolean:
            return pl.col(name)
        self.coded = True
        self._label = pl.col(name).cast(pl.String)
        if self._positive is None:
            self.check_labels()
        # A number never equals a string.
        is_text = type_ in (pl.String, pl.Categorical, pl.Enum)
        positive = pl.lit(value=False)
        if isinstance(self._positive, str) or not is_text:
            self._positive_text = str(self._positive)
            positive = self._label == self._positive_text
        another = self.table.filter(self._label.is_not_null() & ~positive).select(self._label).head(1)
        found = another.collect(engine="streaming")
        other = self._label == found.item() if found.height else pl.lit(value=False)
        code = pl.when(self._label.is_null()).then(3).when(positive).then(1).when(other).then(0).otherwise(2)
        return code.cast(pl.UInt8)

    def check_labels(self) -> None:
        """Raise for labels that are missing, three or more, or two without a positive one."""
        name = str(self.columns.label)
        seen = self.table.select(self._label.alias("v"))
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
        if len(values) > 2:
            raise InvalidInputError.labels(values=values, count=len(values), name=name)
        if self._positive is None:
            raise InvalidInputError.pos_label(values=values, name=name)
        if self._positive_text not in values:
            raise InvalidParameterError(
                "pos_label", expected=f"one of the labels {values}", got=self._positive
            )

"""Labels in an engine: which value is the positive one, and what is said if there are others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from cutpoints._data import expressions as ex
from cutpoints._data.labels import Labels
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from narwhals.dtypes import DType
    from numpy.typing import NDArray

    Collect = Callable[[nw.LazyFrame[Any]], dict[str, NDArray[Any]]]

_LISTED = 1000
"""Distinct labels that are fetched to say what is wrong with them."""


class FrameLabels:
    """A column of at most two distinct labels; the rules and the errors are those of `Labels`."""

    def __init__(self, name: str, dtype: DType, pos_label: Any = None) -> None:
        self.name = name
        self.type = dtype
        self.positive = pos_label
        self.other: Any = None
        self.numeric = dtype.is_numeric() or dtype == nw.Boolean

    def look(self, frame: nw.LazyFrame[Any], collect: Collect) -> None:
        """Find the second label, where the first is given: one row is enough. Raise for text without."""
        if self.positive is None:
            if not self.numeric:
                self._refuse(frame, collect)
            return
        if self.numeric != isinstance(self.positive, (bool, int, float, np.generic)):
            self._refuse(frame, collect)
        elif not self.numeric and not isinstance(self.positive, str):
            self.positive = str(self.positive)
        values = self._values(frame)
        is_other = nw.col("v") != (ex.number(self.positive) if self.numeric else nw.lit(self.positive))
        found = collect(values.filter(is_other).head(1))["v"]
        self.other = found[0] if len(found) else None

    def code(self, *, checked: bool = False) -> nw.Expr:
        """Return the code of each row; if they were checked before, there are two labels and no third."""
        if checked:
            return ex.side_code(self.name, self.type, self.positive)
        return ex.label_code(self.name, self.type, self.positive, self.other)

    def settle(
        self, frame: nw.LazyFrame[Any], codes: NDArray[Any], rows: NDArray[np.int64], collect: Collect
    ) -> None:
        """Raise if the codes of the first count show a label that is missing, or a third one."""
        missing = int(rows[codes == ex.NO_LABEL].sum())
        if missing:
            raise InvalidInputError.nan(name=self.name, count=missing, rows=int(rows.sum()), first=None)
        present = set(np.unique(codes).tolist())
        if ex.OTHER in present or {ex.NEGATIVE, ex.MINUS} <= present:
            self._refuse(frame, collect)

    def _values(self, frame: nw.LazyFrame[Any], *, plain: bool = False) -> nw.LazyFrame[Any]:
        """Return the labels that are there, comparable; `plain` for those that people see."""
        column = nw.col(self.name)
        there = ~column.is_null()
        if self.type.is_float():
            there = there & ~column.is_nan()
        if not self.numeric:
            column = column if self.type == nw.String else column.cast(nw.String())
        elif not plain:
            column = ex.floats(self.name, self.type)[0]
        return frame.filter(there).select(column.alias("v"))

    def _refuse(self, frame: nw.LazyFrame[Any], collect: Collect) -> None:
        """Fetch the distinct labels, and let `Labels` say what is wrong with them."""
        distinct = self._values(frame, plain=True).unique()
        found = collect(distinct.head(_LISTED + 1))["v"].tolist()
        missing = self._missing(frame, collect)
        if missing is not None:
            raise missing
        if not found:
            raise InvalidInputError.empty(name=self.name)
        if len(found) > _LISTED:
            count = int(collect(distinct.select(nw.len().alias("n")))["n"][0])
            raise InvalidInputError.labels(values=sorted(found), count=count, name=self.name)
        values = np.array(sorted(found), dtype=None if self.numeric else object)
        labels = Labels(values, self.positive, name=self.name)
        labels.settle([labels.check(slice(None))[1]])
        raise InvalidParameterError(
            "pos_label",
            expected=f"one of the labels {values.tolist()}",
            got=self.positive,
        )

    def _missing(self, frame: nw.LazyFrame[Any], collect: Collect) -> InvalidInputError | None:
        """Return the error of missing labels, which comes first."""
        column = nw.col(self.name)
        gone = column.is_null() | column.is_nan() if self.type.is_float() else column.is_null()
        flag = nw.when(gone).then(ex.number(1)).otherwise(ex.number(0))
        got = collect(frame.select(flag.alias("m")).select(nw.col("m").sum(), nw.len().alias("n")))
        count, rows = int(got["m"][0] or 0), int(got["n"][0])
        return InvalidInputError.nan(name=self.name, count=count, rows=rows, first=None) if count else None

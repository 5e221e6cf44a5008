"""DuckDB relations in batches: a projection of the columns, a filter, and Arrow buffers seen by NumPy."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cutpoints._data import file_errors
from cutpoints._data.array_input import no_number
from cutpoints._data.file_columns import NUMBERS
from cutpoints._kernel.tables import BATCH_ROWS
from cutpoints._wording import LISTED_LABELS
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from duckdb import DuckDBPyRelation
    from numpy.typing import NDArray

    from cutpoints._data.streaming import Batch, Columns

_WIDE_NUMBERS = re.compile(r"DECIMAL.*|U?HUGEINT")
_TEXT = re.compile(r"VARCHAR|ENUM\(.*")
ONE_AT_A_TIME = threading.RLock()
"""Held while a query of the user's connection runs, whichever it is: relations do not tell their connection.

DuckDB 2 refuses a second query on it; DuckDB 1 breaks off the first one, and may not say so.
"""


def quoted(name: str) -> str:
    """Return a name as SQL writes it, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"


class DuckDBReader:
    """A relation that runs again for each pass."""

    def __init__(
        self,
        relation: DuckDBPyRelation,
        columns: Columns,
        *,
        pos_label: Any = None,
        known: Mapping[str, tuple[str, str]] | None = None,
        adapt: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
    ) -> None:
        """Take a relation; `known` has the SQL and the type of columns that have other names in it."""
        self.columns = columns
        self.table = relation
        if known is None:
            types = map(str, relation.types)
            known = {name: (quoted(name), t) for name, t in zip(relation.columns, types, strict=True)}
        self._known = known
        for name in columns.all:
            self.need(name)
        self._adapt = adapt
        self._label: str | None = None
        self._positive: Any = pos_label
        self._positive_text: str | None = None
        self.coded = False
        parts = []
        for i, name in enumerate(columns.all):
            is_label = i == 1 and columns.label is not None
            expression = self._as_label(name, pos_label) if is_label else self._as_number(name)
            parts.append(f"{expression} as a{i}")
        self.projected = relation.project(", ".join(parts))
        self._is_float = known[columns.score][1] == "FLOAT"
        self._is_bool = known[columns.score][1] == "BOOLEAN"

    def batches(self, near: tuple[float, float] | None) -> Generator[Batch]:
        """Run the query; missing numbers become NaN."""
        with interruptible():
            reader = self._near(near).to_arrow_reader(BATCH_ROWS)
            try:
                for batch in reader:
                    columns: list[Any] = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
                    if self._adapt is not None:
                        columns[1] = self._adapt(columns[1])
                    if len(columns[0]):
                        yield columns
            finally:
                reader.close()

    def _near(self, near: tuple[float, float] | None) -> DuckDBPyRelation:
        """Return the rows with scores from the first to the second number, or all."""
        if near is None:
            return self.projected
        # The very floats: text of a float is read back as the same float.
        kind = "float" if self._is_float else "double"
        score = "a0::double" if self._is_bool else "a0"
        low, high = (f"'{end!r}'::{kind}" for end in near)
        return self.projected.filter(f"{score} >= {low} and {score} <= {high}")

    def need(self, name: str) -> None:
        """Raise unless the relation has a column of this name."""
        if name not in self._known:
            raise file_errors.column(name=name, path="the relation", columns=list(self._known))

    def cancel(self) -> None:
        """Do nothing: the connection is the user's, and a batch is soon there."""

    # --- types

    def _as_number(self, name: str) -> str:
        column, type_ = self._known[name]
        if NUMBERS.fullmatch(type_):
            return column
        if type_ == "VARCHAR":
            first = self.table.project(f"{column} as v").filter("v is not null").limit(1).fetchall()
            if first:
                raise no_number(name, first[0][0], 0)
        elif not _WIDE_NUMBERS.fullmatch(type_):
            raise file_errors.not_a_number_type(name=name, type_=type_)
        return f"cast({column} as double)"

    def _as_label(self, name: str, pos_label: Any) -> str:
        """Return the SQL of the labels: numbers as they are, anything else compared by DuckDB."""
        column, type_ = self._known[name]
        if NUMBERS.fullmatch(type_):
            return column
        if _WIDE_NUMBERS.fullmatch(type_):
            return f"cast({column} as double)"
        self.coded = True
        self._label = f"cast({column} as varchar)"
        if pos_label is None:
            self.check_labels()
        # A number never equals a string.
        positive = "false"
        if isinstance(pos_label, str) or not _TEXT.fullmatch(type_):
            self._positive_text = str(pos_label)
            positive = f"{self._label} = {text(self._positive_text)}"
        another = self.table.project(f"{self._label} as v").filter(
            f"v is not null and not ({positive.replace(self._label, 'v', 1)})"
        )
        found = another.limit(1).fetchall()
        other = f"{self._label} = {text(found[0][0])}" if found else "false"
        cases = f"when {self._label} is null then 3 when {positive} then 1 when {other} then 0 else 2"
        return f"cast(case {cases} end as utinyint)"

    def check_labels(self) -> None:
        """Raise for labels that are missing, three or more, or two without a positive one."""
        name = str(self.columns.label)
        table = self.table.project(f"row_number() over () - 1 as i, {self._label} as v")
        rows, missing, first, count = table.aggregate(
            "count(*), count(*) - count(v), min(i) filter (v is null), count(distinct v)"
        ).fetchall()[0]
        if missing:
            raise InvalidInputError.nan(name=name, count=missing, rows=rows, first=first)
        values = [v for (v,) in table.project("v").distinct().order("v").limit(LISTED_LABELS).fetchall()]
        if rows == 0:
            raise InvalidInputError.empty(name=name)
        if count > 2:
            raise InvalidInputError.labels(values=values, count=count, name=name)
        if self._positive is None:
            raise InvalidInputError.pos_label(values=values, name=name)
        if self._positive_text not in values:
            raise InvalidParameterError(
                "pos_label", expected=f"one of the labels {values}", got=self._positive
            )


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn what DuckDB raises on Ctrl-C into what Python does, and word a connection that is in use.

    Errors within a stream of batches come through Arrow, as OSError with DuckDB's text.
    """
    try:
        yield
    except Exception as error:
        if "Query interrupted" in str(error) or type(error).__name__ == "InterruptException":
            raise KeyboardInterrupt from None
        if str(error).startswith("Resource In Use Error"):
            raise InvalidInputError(
                "The DuckDB connection must not run another query at the same time. "
                "Another thread is using it.",
                hint="give each thread its own relation, from connection.cursor().",
                kind="connection_in_use",
            ) from error
        raise

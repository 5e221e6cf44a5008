"""Columns that a goal adds up, for an estimator: from the parameters of `fit`, or from the columns of X."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.added_columns import as_values
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._evaluate.cross_validation import Columns
    from cutpoints._goal import Goal


def columns_of(wanted: Goal, X: Any, params: dict[str, Any]) -> Columns:
    """Take the columns of a goal out of the parameters of `fit`; those that are not there are in X."""
    found: Columns = {}
    for column in wanted.columns:
        name = column.name
        if column.values is not None:
            raise InvalidParameterError(
                f"column {name!r}",
                caller="CutpointClassifier",
                expected="given by name: an array cannot be split with the rows",
                got=type(column.values),
                hint="minimize='cost(fp=5, fn=amount)' and fit(X, y, amount=amount).",
            )
        if params.get(name) is not None:
            values = params.pop(name)
        elif name in getattr(X, "columns", ()):
            values = X[name]
        else:
            raise InvalidParameterError(
                name,
                caller="CutpointClassifier",
                expected=f"given to fit, one value per row: {wanted.expression} adds it up",
                got=None,
                hint=f"fit(X, y, {name}=...), or a column of X with this name.",
            )
        found[column] = as_values(np.asarray(values), name)
    return found

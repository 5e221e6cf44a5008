"""Cost matrices: what each decision costs for each true class, by name or by position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._validate import is_number
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics.expression import exact_number

if TYPE_CHECKING:
    from fractions import Fraction


class CostMatrix(NamedTuple):
    """What each decision (row) costs for each true class (column), exactly."""

    decisions: tuple[Any, ...]
    costs: list[list[Fraction]]


def cost_matrix(cost: Any, classes: tuple[Any, ...], *, parameter: str, caller: str) -> CostMatrix:
    """Read a matrix in the order of the classes, or a mapping or data frame with names.

    Examples
    --------
    >>> cost_matrix({"treat": {"ill": 0, "well": 1}}, ("ill", "well"), parameter="cost", caller="f")
    CostMatrix(decisions=('treat',), costs=[[Fraction(0, 1), Fraction(1, 1)]])
    """
    if hasattr(cost, "iterrows"):  # pandas: rows are decisions, columns true classes
        cost = {decision: dict(row) for decision, row in cost.iterrows()}
    if isinstance(cost, Mapping):
        rows = []
        for row in cost.values():
            if not isinstance(row, Mapping) or set(row) != set(classes):
                raise _misfit(cost, classes, parameter, caller)
            rows.append([row[name] for name in classes])
        decisions = tuple(cost)
    else:
        matrix = np.asarray(cost, dtype=object)
        if matrix.ndim != 2 or matrix.shape != (len(classes), len(classes)):
            raise _misfit(cost, classes, parameter, caller)
        rows, decisions = matrix.tolist(), classes
    numbers = [number for row in rows for number in row]
    if not decisions or not all(is_number(number) and abs(number) < np.inf for number in numbers):
        raise _misfit(cost, classes, parameter, caller)
    return CostMatrix(decisions, [[exact_number(number, parameter) for number in row] for row in rows])


def _misfit(cost: Any, classes: tuple[Any, ...], parameter: str, caller: str) -> InvalidParameterError:
    size = len(classes)
    example = {"first decision": {classes[0]: 0, classes[1]: 5}}
    return InvalidParameterError(
        parameter,
        caller=caller,
        expected=f"a {size} x {size} matrix of finite numbers, rows are decisions and columns true classes, "
        f"or a mapping of decisions to the cost for each of the classes {list(classes)}",
        got=cost,
        hint=f"for example {example}.",
    )

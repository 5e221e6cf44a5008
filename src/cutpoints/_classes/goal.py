"""What ordered classes are cut for: a loss that adds up over rows, or one minus a quotient of two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from cutpoints._classes.costs import cost_matrix
from cutpoints._wording import Argument, Words
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES: dict[str, Literal["maximize", "minimize"]] = {
    "quadratic_kappa": "maximize",
    "linear_kappa": "maximize",
    "kappa": "maximize",
    "accuracy": "maximize",
    "absolute_error": "minimize",
    "squared_error": "minimize",
}
_ALIASES = {"qwk": "quadratic_kappa", "mae": "absolute_error", "mse": "squared_error"}
_POWERS = {"quadratic_kappa": 2, "linear_kappa": 1, "absolute_error": 1, "squared_error": 2}
COST = "cost matrix"


@dataclass(frozen=True)
class OrdinalGoal:
    """A loss for each decision (row) and true class (column), multiplied by `scale` to be integers."""

    name: str
    direction: Literal["maximize", "minimize"]
    loss: tuple[tuple[int, ...], ...]
    scale: int = 1

    @property
    def costs(self) -> tuple[tuple[float, ...], ...] | None:
        """The matrix of costs as it was given; None for other goals."""
        if self.name != COST:
            return None
        return tuple(tuple(float(Fraction(number, self.scale)) for number in row) for row in self.loss)

    @property
    def is_kappa(self) -> bool:
        """Whether the value is one minus a quotient of observed and expected loss."""
        return self.name.endswith("kappa")

    def chance(self, totals: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return what each decision is expected to lose if it is independent of the class."""
        expected = (sum(a * b for a, b in zip(row, totals, strict=True)) for row in self.loss)
        return tuple((number,) * len(totals) for number in expected)

    def observed(self, totals: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Return the loss times the total, which compares with `chance`."""
        total = sum(totals)
        return tuple(tuple(total * a for a in row) for row in self.loss)

    def value(self, confusion: Sequence[Sequence[int]], step: Fraction) -> float:
        """Return the value at a confusion (rows: truth) in units of `step`; NaN where undefined."""
        cells = [(t, d, number) for t, row in enumerate(confusion) for d, number in enumerate(row)]
        lost = sum(self.loss[d][t] * number for t, d, number in cells)
        if self.name == COST:
            return float(lost * step / self.scale)
        totals = [sum(row) for row in confusion]
        total = sum(totals)
        if self.is_kappa:
            chance = self.chance(totals)
            expected = sum(chance[d][t] * number for t, d, number in cells)
            return float(1 - Fraction(lost * total, expected)) if expected else math.nan
        if total == 0:
            return math.nan
        return float(1 - Fraction(lost, total)) if self.name == "accuracy" else float(Fraction(lost, total))


def ordinal_goal(*, maximize: Any, minimize: Any, classes: tuple[Any, ...], caller: str) -> OrdinalGoal:
    """Read what the user asked for."""
    if (maximize is None) == (minimize is None):
        raise InvalidParameterError(
            "maximize",
            caller=caller,
            expected=("given, or else ", Argument("minimize"), ", and not both"),
            got=Words("neither" if maximize is None else "both"),
            hint=("for example ", Argument("maximize", "quadratic_kappa"), "."),
        )
    direction: Literal["maximize", "minimize"] = "minimize" if maximize is None else "maximize"
    wanted = minimize if maximize is None else maximize
    if not isinstance(wanted, str) and direction == "minimize":
        decisions, costs = cost_matrix(wanted, classes, parameter="minimize", caller=caller)
        if set(decisions) != set(classes):
            raise InvalidParameterError(
                "minimize",
                caller=caller,
                expected=f"a cost for each of the decisions {list(classes)}",
                got=f"costs for {list(decisions)}",
            )
        rows = [costs[decisions.index(name)] for name in classes]
        scale = math.lcm(*(number.denominator for row in rows for number in row))
        loss = tuple(tuple(int(number * scale) for number in row) for row in rows)
        return OrdinalGoal(COST, "minimize", loss, scale)
    name = wanted.strip().lower().replace("-", "_") if isinstance(wanted, str) else ""
    name = _ALIASES.get(name, name)
    if NAMES.get(name) != direction:
        allowed = [one for one, way in NAMES.items() if way == direction]
        also = ", or a matrix of costs" if direction == "minimize" else ""
        other = "maximize" if direction == "minimize" else "minimize"
        raise InvalidParameterError(
            direction,
            caller=caller,
            expected=f"one of {', '.join(map(repr, allowed))}{also}",
            got=wanted,
            hint=("did you mean ", Argument(other, name), "?") if name in NAMES else None,
        )
    size = range(len(classes))
    power = _POWERS.get(name)
    loss = tuple(tuple(int(i != j) if power is None else abs(i - j) ** power for j in size) for i in size)
    return OrdinalGoal(name, direction, loss)

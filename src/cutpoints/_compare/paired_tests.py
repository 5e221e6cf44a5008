"""Tests on the decisions of two models: McNemar's, and a paired bootstrap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._result import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints.metrics.expression import Expression


@dataclass(frozen=True)
class McNemar:
    """The exact test that two models err equally often on the same rows.

    `only_first` rows are decided rightly by the first model alone, `only_second` by the second.
    """

    only_first: int
    only_second: int
    p_value: float


@dataclass(frozen=True)
class Bootstrap:
    """The difference of a metric, first model less second, and its percentile interval.

    `share_above` of the resamples have the first model strictly above; `defined` of all had
    a value at all.
    """

    difference: float
    interval: Interval
    share_above: float
    n_bootstrap: int
    defined: int


def mcnemar(y_true: Any, first: Any, second: Any) -> McNemar:
    """Test the decisions (0/1) of two models on the same rows, exactly.

    Under the null, of the rows on which exactly one is right each model has half: a binomial tail.

    Examples
    --------
    >>> from cutpoints._compare import mcnemar
    >>> mcnemar([1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0])
    McNemar(only_first=3, only_second=0, p_value=0.25)
    """
    truth, a, b = (np.asarray(x).astype(np.bool_) for x in (y_true, first, second))
    one = int(np.count_nonzero((a == truth) & (b != truth)))
    other = int(np.count_nonzero((b == truth) & (a != truth)))
    return McNemar(one, other, _binomial(min(one, other), one + other))


def _binomial(fewer: int, trials: int) -> float:
    """Return the two-sided p-value of a fair coin."""
    if trials == 0:
        return 1.0
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(fewer, trials, 0.5)))


def joint_table(truth: NDArray[np.bool_], first: Any, second: Any) -> NDArray[np.int64]:
    """Count rows by truth and both decisions: eight cells, ``4*truth + 2*first + second``."""
    key = 4 * truth.astype(np.int8) + 2 * np.asarray(first, np.int8) + np.asarray(second, np.int8)
    return np.bincount(key, minlength=8)


def paired_bootstrap(
    table: NDArray[np.int64],
    expression: Expression,
    *,
    n_bootstrap: int = 2000,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Bootstrap:
    """Bootstrap the difference of a metric between two models with fixed thresholds.

    Resampling rows with replacement is a multinomial draw of the eight cells of `joint_table`: the
    same law as redrawing rows, at no cost in N. Both models see the same draw.
    """
    rng = np.random.default_rng(random_state)
    total = int(table.sum())
    draws = rng.multinomial(total, table / total, size=n_bootstrap)
    differences = _values(draws, expression)
    differences = differences[~np.isnan(differences)]
    here = float(_values(table[None, :], expression)[0])
    if len(differences) == 0:
        return Bootstrap(here, Interval(math.nan, math.nan), math.nan, n_bootstrap, 0)
    tail = (1 - confidence) / 2
    low, high = np.quantile(differences, [tail, 1 - tail])
    return Bootstrap(
        here,
        Interval(float(low), float(high)),
        float(np.mean(differences > 0)),
        n_bootstrap,
        len(differences),
    )


def _values(tables: NDArray[np.int64], expression: Expression) -> NDArray[np.float64]:
    """Return first less second for each table of eight cells."""
    cells = tables.astype(np.float64).reshape(-1, 2, 2, 2)  # truth, first, second
    values = []
    for axis in (3, 2):  # sum over the other model's decision
        c = cells.sum(axis=axis)
        counts = {"tp": c[:, 1, 1], "fp": c[:, 0, 1], "fn": c[:, 1, 0], "tn": c[:, 0, 0]}
        with np.errstate(all="ignore"):
            values.append(np.asarray(expression.evaluate(**counts), dtype=np.float64))
    with np.errstate(all="ignore"):
        return values[0] - values[1]

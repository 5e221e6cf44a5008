"""The expectation of a metric itself, over labels that are independent draws.

With probabilities for n rows, the number of positives among the rows called positive, and among
the others, are two independent Poisson-binomial variables. Their distributions come from repeated
convolution, one row at a time, from both ends of the ranking; the expectation at each cut is then a
double sum. Among all sets of rows, one of the top ranks attains the best expectation of f1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutpoints._find import cut_at
from cutpoints._kernel.weights import as_number as number
from cutpoints._result import Certificate, Solution
from cutpoints._search.sweep import all_cuts
from cutpoints._validate import number_in
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.probabilities import ProbabilitySource
    from cutpoints._goal import Goal
    from cutpoints.metrics.expression import Expression

LIMIT = 1000
"""Rows at most: these take some seconds, and the time grows with the third power."""
_ROUNDING = 1e-13


def expectations(
    probabilities: NDArray[np.float64], expression: Expression, *, zero_division: float = 1.0
) -> NDArray[np.float64]:
    """Return the expected value of a metric when the k most probable rows are called positive, k = 0..n.

    Parameters
    ----------
    probabilities : array of shape (n,)
        Descending.
    expression : metric
        Any function of the confusion.
    zero_division : float, default=1.0
        Its value where it is 0/0.

    Examples
    --------
    >>> import numpy as np
    >>> from cutpoints import metrics as m
    >>> expectations(np.array([0.4, 0.35, 0.1, 0.05]), m.f1).round(5)
    array([0.33345, 0.3371 , 0.43759, 0.37984, 0.32706])
    """
    n = len(probabilities)
    hits, misses = _running(probabilities), _running(probabilities[::-1])[::-1]
    found = np.empty(n + 1)
    for k in range(n + 1):
        tp = np.arange(k + 1, dtype=np.float64)[:, None]
        fn = np.arange(n - k + 1, dtype=np.float64)[None, :]
        shape = (k + 1, n - k + 1)
        counts = {"tp": tp, "fp": k - tp, "fn": fn, "tn": n - k - fn}
        with np.errstate(all="ignore"):
            whole = {name: np.broadcast_to(count, shape) for name, count in counts.items()}
            values = np.asarray(expression.evaluate(**whole), dtype=np.float64)
        values = np.where(np.isnan(values), zero_division, values)
        chance = hits[k][: k + 1, None] * misses[k][None, : n - k + 1]
        # An infinite value at an impossible outcome does not count.
        found[k] = float(np.sum(np.where(chance > 0, chance * values, 0.0)))
    return found


def _running(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distribution of the number of positives among the first k rows, for k = 0..n."""
    n = len(probabilities)
    table = np.zeros((n + 1, n + 1))
    table[0, 0] = 1.0
    for k, p in enumerate(probabilities):
        table[k + 1] = table[k] * (1.0 - p)
        table[k + 1, 1:] += table[k, :-1] * p
    return table


def best_expectation(source: ProbabilitySource, wanted: Goal, zero_division: float) -> Solution:
    """Return the cut with the best expectation; equal scores are never split."""
    summary = source.summary()
    if summary.rows > LIMIT:
        raise InvalidParameterError(
            "exact_expectation",
            got=f"True with {summary.rows:,} rows",
            expected=f"False for more than {LIMIT:,} rows",
            caller="find_expected",
            hint="on that many rows the objective of the expected counts, the default, is as good.",
        )
    number_in("zero_division", zero_division, caller="find_expected")
    cuts = all_cuts(source)
    ranked = np.sort(source.scores.astype(np.float64))[::-1]
    called = np.searchsorted(-ranked, -cuts.thresholds.astype(np.float64), side="right")
    values = expectations(ranked, wanted.expression, zero_division=zero_division)[called]
    signed = wanted.sign * values
    # The sums are floats: what differs by no more than their rounding is equal.
    room = _ROUNDING * max(1.0, float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))
    equal = np.flatnonzero(signed >= signed.max() - room)
    best = int(equal[0])
    cut, value = cut_at(cuts, best), float(values[best])
    positives, negatives = summary.totals
    return Solution(
        status="optimal",
        objective=str(wanted.expression),
        direction=wanted.direction,
        constraints=(),
        rows=summary.rows,
        positives=number(positives),
        negatives=number(negatives),
        certificate=Certificate("poisson-binomial", value, value, 1, summary.rows),
        threshold=cut.threshold,
        value=value,
        interval=cut.interval,
        confusion=cut.confusion,
        ties=tuple(cut_at(cuts, int(i)) for i in equal[1:]),
    )

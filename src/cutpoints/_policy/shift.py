"""How far the scores of new rows have moved from those that a policy was found on.

- **PSI**, the population stability index, sum of (q - p) log(q / p) over at most ten buckets of
  about equal mass then. By rule of thumb below 0.1 is stable, 0.1 to 0.2 a small shift, 0.2 and more
  a large one. A small sample has a large PSI by chance alone, about (k - 1)(1/n + 1/m); so it counts
  only where chance explains it with a probability of at most `alpha` (Yurdakul & Naranjo 2020).
- **KS**, the greatest distance of the two distribution functions, taken at the edges of the
  policy's buckets: the true distance is at least that, so the p-value is on the safe side, too
  large and never too small. On the same buckets PSI is at least 4 KS squared, so what KS sees PSI
  sees too, and only PSI gives alarm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._extras import needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PSI_BUCKETS = 10
SMALL_SHIFT, LARGE_SHIFT = 0.1, 0.2


@dataclass(frozen=True)
class Shift:
    """How far the scores have moved.

    Attributes
    ----------
    psi : float
        The population stability index over `psi_buckets` buckets; `band` is its rule of thumb.
    psi_p : float or None
        How probable so large an index is by chance alone; None for weighted data.
    ks, ks_p : float, float or None
        The Kolmogorov-Smirnov distance at the edges of the buckets, a lower bound, and its p-value.
    moved : bool
        Whether the index is at least the limit, and not by chance.
    more_rows : int or None
        About how many more rows it takes to see an index at the limit; 0 if there are enough, None if
        there were too few then.
    """

    psi: float
    psi_p: float | None
    psi_buckets: int
    band: Literal["stable", "small shift", "large shift"]
    ks: float
    ks_p: float | None
    moved: bool
    more_rows: int | None = 0


def shift_of(then: Sequence[float], now: Any, alpha: float, limit: float, *, whole: bool) -> Shift:
    """Compare the masses of the buckets then with the rows in them now."""
    with needs("check"):
        from scipy.special import kolmogorov
        from scipy.stats import chi2

    p, q = np.asarray(then, dtype=np.float64), np.asarray(now, dtype=np.float64)
    n, m = float(p.sum()), float(q.sum())
    few_then, few_now = psi_groups(p, q)
    # An empty bucket counts as half a row: the logarithm of nothing would be infinite.
    share_then, share_now = np.maximum(few_then, 0.5) / n, np.maximum(few_now, 0.5) / m
    psi = float(((share_now - share_then) * np.log(share_now / share_then)).sum())
    ks = float(np.abs(np.cumsum(p) / n - np.cumsum(q) / m).max())
    weight = n * m / (n + m)
    buckets = len(few_then)
    tested = whole and buckets > 1
    psi_p = float(chi2.sf(psi * weight, buckets - 1)) if tested else None
    needed = float(chi2.isf(alpha, buckets - 1)) / limit if tested else 0.0
    return Shift(
        psi=psi,
        psi_p=psi_p,
        psi_buckets=buckets,
        band="stable" if psi < SMALL_SHIFT else "small shift" if psi < LARGE_SHIFT else "large shift",
        ks=ks,
        ks_p=float(kolmogorov(ks * math.sqrt(weight))) if whole else None,
        moved=psi >= limit and (psi_p is None or psi_p <= alpha),
        more_rows=_more_rows(n, m, needed),
    )


def are_counts(then: NDArray[Any]) -> bool:
    """Return whether sums can be taken for numbers of rows, as those of most weights cannot."""
    return bool((then == np.rint(then)).all())


def _more_rows(then: float, now: float, needed: float) -> int | None:
    """Return how many more rows make ``then * now / (then + now)`` as large as needed."""
    if then * now >= needed * (then + now):
        return 0
    return math.ceil(needed * then / (then - needed) - now) if then > needed else None


def psi_groups(then: Any, now: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return masses in at most ten groups of neighboring buckets, of about equal mass then."""
    p = np.asarray(then)
    middle = (np.cumsum(p) - p / 2) / p.sum()
    group = np.minimum((middle * PSI_BUCKETS).astype(np.intp), PSI_BUCKETS - 1)
    group = np.unique(group, return_inverse=True)[1]
    few_then, few_now = (np.bincount(group, weights=side).astype(side.dtype) for side in (p, np.asarray(now)))
    return few_then, few_now

"""Evidence against a policy that may be looked at every day, without crying wolf.

A test at level alpha that is repeated every day rejects sooner or later, whatever is true. Here each claim
("precision is at least 0.9") has a *capital*, which is bet against it, batch after batch. As long as the
claim is true no way of betting gains on average, so the capital ever reaches 1 / alpha with probability
alpha at most, however often one looks and whenever one stops (Ville 1939; Shafer 2021).

- Rows with labels: a row is worth one number per cell of the confusion, at least 0 on average if the claim
  is true; a bet multiplies the capital by 1 - bet * worth. Sums over rows depend on the four counts only.
- Scores without labels: how extreme a batch is among random batches of the rows seen so far, as a p-value.
  While nothing changes these p-values are independent and uniform (a conformal test martingale, Vovk et
  al. 2003), and small ones gain.

Many bets are made at once, and a share of the capital waits for each later batch: a policy that was fine
for months has not lost what is needed to see that it no longer is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._policy.outcome import least_expected
from cutpoints._search.guarantee import _floor
from cutpoints._validate import generator
from cutpoints.exceptions import CutpointError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._policy.policy import Policy
    from cutpoints.metrics.expression import Constraint, Expression

    Log = NDArray[np.float64]

CELLS = ("tp", "fp", "fn", "tn")
BETS = 0.5 ** (np.arange(1, 29) / 2)
"""Shares of the largest possible bet on a mean: small ones find small changes."""
POWERS = np.arange(0.1, 1.0, 0.1)
"""Bets on p-values: a p-value gains ``power * p ** (power - 1)``."""
REDRAWN_BATCHES = 9_999
"""Random batches that a batch of scores is compared with."""
SCORES = "scores have not moved"


@dataclass(frozen=True)
class Claim:
    """A claim about new rows: `worth`, one number per cell, is at least 0 on average."""

    name: str
    worth: tuple[float, float, float, float]

    def growth(self, counts: Mapping[str, Fraction | int]) -> Log:
        """Return the logarithm of what each bet makes of one, on rows with these counts."""
        worth = np.array(self.worth)
        rows = np.array([float(counts[cell]) for cell in CELLS])
        return np.log1p(-np.outer(BETS / worth.max(), worth)) @ rows


@dataclass(frozen=True)
class Capital:
    """What the bets against one claim have made.

    `logs` are the logarithms of the bets so far, `evidence` is their mean and what still waits, and
    `peak` the highest that it has been: once it was high enough, the claim is refuted.
    """

    claim: str
    logs: tuple[float, ...]
    evidence: float = 1.0
    peak: float = 1.0

    def after(self, growth: Log, batch: int) -> Capital:
        """Return the capital after the next batch, the first of which is 1."""
        start = -math.log(batch * (batch + 1))  # 1/2 + 1/6 + 1/12 + ... is 1
        logs = np.logaddexp(np.array(self.logs or [-math.inf] * len(growth)), start) + growth
        # Capped, so that it can be written: e**700 is beyond all doubt.
        evidence = float(np.exp(np.minimum(logs, 700.0)).mean()) + 1 / (batch + 1)
        kept = tuple(np.maximum(logs, -1e6).tolist())
        return Capital(self.claim, kept, evidence, max(self.peak, evidence))


def claims(policy: Policy) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Return what a policy claims of new rows with labels, and what has no test that may be repeated.

    Its constraints on shares of rows, and that the objective is not worse by more than a tenth than the
    least that is to be expected from the rows that it was found on.
    """
    try:
        goal = policy.goal()
    except CutpointError:  # not said, or a function of the user's
        return (), ()
    found: list[Claim] = []
    missing: list[str] = []
    for one in goal.constraints:
        claim = _share(str(one), one)
        if claim is None:
            missing.append(str(one))
        else:
            found.append(claim)
    if goal.expression.columns:
        return tuple(found), (*missing, str(goal.expression))
    bound = least_expected(goal, policy)
    if bound is not None:
        claim = _objective(goal, bound)
        if claim is None:
            missing.append(str(goal.expression))
        else:
            found.append(claim)
    return tuple(found), tuple(missing)


def _share(name: str, constraint: Constraint) -> Claim | None:
    """Return a bound on a share of rows as a claim; None if it is none."""
    try:
        floor = _floor(constraint)
    except InvalidParameterError:
        return None
    bound = float(floor.at_least)
    worth = {**dict.fromkeys(floor.good, 1 - bound), **dict.fromkeys(floor.bad, -bound)}
    return Claim(name, tuple(worth.get(cell, 0.0) for cell in CELLS))  # type: ignore[arg-type]


def _objective(goal: Goal, bound: float) -> Claim | None:
    """Return the claim that the objective is at least, or at most, a bound for 1,000 rows."""
    sign = ">=" if goal.sign > 0 else "<="
    name = f"{goal.expression} {sign} {bound:.6g}"
    each = _per_row(goal.expression)
    if each is not None:
        worth = [goal.sign * (one - bound / 1000) for one in each]
        return Claim(name + " per 1,000 rows", tuple(worth)) if min(worth) < 0 < max(worth) else None  # type: ignore[arg-type]
    expression = goal.expression
    return _share(name, expression >= bound if goal.sign > 0 else expression <= bound)


def _per_row(expression: Expression) -> list[float] | None:
    """Return what one row of each cell adds to a total such as a cost; None for all else."""
    one = np.eye(4)
    some = np.array([[3.0, 5.0, 7.0, 11.0], [2.0, 9.0, 4.0, 8.0]])
    with np.errstate(all="ignore"):
        table = np.concatenate([one, some])
        values = np.asarray(expression.evaluate(**dict(zip(CELLS, table.T, strict=True))), dtype=np.float64)
    each, total = values[:4], values[4:]
    added = np.isfinite(each).all() and np.allclose(some @ each, total, rtol=1e-12, atol=0)
    return each.tolist() if added else None


def shift_p_value(seen: Sequence[int], batch: Sequence[int]) -> float:
    """Return how extreme a batch of scores is among random batches of all rows, its own included.

    Parameters
    ----------
    seen, batch : sequence of int
        The rows in each bucket: of all rows before, and of this batch.

    Returns
    -------
    float
        In (0, 1]; uniform if the rows of the batch are like those before. Ties are broken at random, with
        a seed made of the counts.
    """
    new, both = np.asarray(batch), np.asarray(seen) + np.asarray(batch)
    rng = generator(0, both, new)
    drawn = rng.multivariate_hypergeometric(both, int(new.sum()), size=REDRAWN_BATCHES, method="marginals")
    usual = both * (new.sum() / both.sum())
    with np.errstate(all="ignore"):
        distance = np.nansum((np.vstack([new, drawn]) - usual) ** 2 / usual, axis=1)
    own, others = distance[0], distance[1:]
    near = 1e-9 * max(own, 1.0)
    above, equal = int((others > own + near).sum()), int((np.abs(others - own) <= near).sum())
    return float((above + (1 - rng.random()) * (equal + 1)) / (REDRAWN_BATCHES + 1))


def shift_growth(p_value: float) -> Log:
    """Return the logarithm of what each bet makes of one on a p-value."""
    return np.log(POWERS) + (POWERS - 1) * math.log(p_value)

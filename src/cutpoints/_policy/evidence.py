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

The evidence is carried from one check to the next by a file, the *state*. It is written whole or not at all,
belongs to one policy, and knows the batches that it has counted: rows that come again are not counted again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

import numpy as np

from cutpoints._atomic import replaced
from cutpoints._format import json_form
from cutpoints._policy.format import checksum, to_dict
from cutpoints._policy.judge import least_expected
from cutpoints._policy.record import Sha256  # noqa: TC001 - hints are read at run time
from cutpoints._policy.shift import psi_groups
from cutpoints._policy.typed_json import FieldError, kind_of
from cutpoints._search.guarantee import _floor
from cutpoints._validate import generator
from cutpoints._wording import file_words
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError
from cutpoints.metrics.columns import CELLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._policy.policy import Policy
    from cutpoints.metrics.expression import Constraint, Expression

    Log = NDArray[np.float64]

BETS = 0.5 ** (np.arange(1, 29) / 2)
"""Shares of the largest possible bet on a mean: small ones find small changes."""
POWERS = np.arange(0.1, 1.0, 0.1)
"""Bets on p-values: a p-value gains ``power * p ** (power - 1)``."""
REDRAWN_BATCHES = 9_999
"""Random batches that a batch of scores is compared with."""
SCORES = "scores have not moved"
COMPARED_ROWS = 4 * 10**8
"""Rows seen so far, and rows of a batch, that are compared: NumPy draws from fewer than 10**9."""
FORMAT: Final = "cutpoints state"
VERSION: Final = 1
MOST_BATCHES = 1000
"""Batches of one state: nearly three years of days. Then it is time for a new policy."""

MOST_ROWS = 2**62
"""Rows of one state: sums of them are 64-bit integers."""


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

    Both are rows by bucket: all that were `seen` before, and this batch. If these rows are like those, the
    p-value is uniform in (0, 1]: ties are broken at random, with a seed made of the counts.
    """
    before, new = np.asarray(seen), np.asarray(batch)
    rng = generator(0, before + new, new)
    before, new = _thinned(before, rng), _thinned(new, rng)
    both = before + new
    drawn = rng.multivariate_hypergeometric(both, int(new.sum()), size=REDRAWN_BATCHES, method="marginals")
    usual = both * (new.sum() / both.sum())
    with np.errstate(all="ignore"):
        distance = np.nansum((np.vstack([new, drawn]) - usual) ** 2 / usual, axis=1)
    own, others = distance[0], distance[1:]
    near = 1e-9 * max(own, 1.0)
    above, equal = int((others > own + near).sum()), int((np.abs(others - own) <= near).sum())
    return float((above + (1 - rng.random()) * (equal + 1)) / (REDRAWN_BATCHES + 1))


def _thinned(rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return at most about `COMPARED_ROWS` rows: each stays by a coin of its own, whatever its score."""
    share = COMPARED_ROWS / max(int(rows.sum()), COMPARED_ROWS)
    return rows if share == 1 else np.asarray(rng.binomial(rows, share))


def shift_growth(p_value: float) -> Log:
    """Return the logarithm of what each bet makes of one on a p-value."""
    return np.log(POWERS) + (POWERS - 1) * math.log(p_value)


# --- the state


@dataclass(frozen=True)
class Batch:
    """Rows that were counted: a name or a fingerprint, how many they were, and when."""

    batch: str
    rows: int
    counted: str


@dataclass(frozen=True)
class State:
    """The evidence about a policy so far.

    `scores` are all new rows in the buckets of the population stability index.
    """

    format: Literal["cutpoints state"]
    version: Literal[1]
    policy: Sha256
    labels: bool
    batches: tuple[Batch, ...]
    scores: tuple[int, ...]
    evidence: tuple[Capital, ...]


@dataclass(frozen=True)
class Watch:
    """What repeated checks say together.

    Attributes
    ----------
    batches, rows : int
        How many were counted so far.
    counted : bool
        Whether the rows of this check are new; rows that were counted before are not counted again.
    evidence : dict of str to float
        For each claim, how many times what was bet against it has grown; `peak` is the highest so far.
    limit : float
        A claim is refuted once its evidence reaches this: the number of claims over alpha. While all
        claims are true, the probability that this ever happens is at most alpha.
    untested : tuple of str
        What has no test that may be repeated.
    """

    batches: int
    rows: int
    counted: bool
    evidence: dict[str, float]
    peak: dict[str, float]
    limit: float
    untested: tuple[str, ...]

    def refuted(self, claim: str) -> bool:
        """Return whether there is enough evidence against a claim."""
        return self.peak.get(claim, 0.0) >= self.limit


def watch(
    policy: Policy,
    path: str | os.PathLike[str],
    *,
    batch: str | None,
    buckets: Sequence[int] | None,
    counts: Mapping[str, Fraction] | None,
    rows: int,
    alpha: float,
) -> Watch:
    """Add a batch to the state in a file, which is begun if it is not there; return what all say together.

    `buckets` are the new rows in the buckets of the policy's distribution, if it has one, and `counts` their
    confusion, if there are labels. Rows without a name are told by a fingerprint of these numbers.
    """
    content, state = _load(path, policy, labels=counts is not None)
    tested, untested = claims(policy) if counts is not None else ((), ())
    names = [SCORES] * (buckets is not None) + [claim.name for claim in tested]
    begun = tuple(Capital(name, ()) for name in names)
    state = state or State(FORMAT, VERSION, _checksum(policy), counts is not None, (), (), begun)
    if names != [one.claim for one in state.evidence]:
        _refuse(path, "It was begun by another version of this library")
    for one in state.evidence:
        if len(one.logs) not in (0, len(POWERS if one.claim == SCORES else BETS)):
            _refuse(path, f"Its evidence on '{one.claim}' has {len(one.logs)} bets")
    name = batch or _fingerprint(rows, buckets, counts)
    counted = all(name != one.batch for one in state.batches)
    if counted:
        if len(state.batches) >= MOST_BATCHES:
            _refuse(path, f"It has {MOST_BATCHES:,} batches", "begin a new one, or find a new policy.")
        number = len(state.batches) + 1
        growth = [claim.growth(counts) for claim in tested] if counts is not None else []
        seen = state.scores
        if buckets is not None:
            then, now = (side.tolist() for side in psi_groups(_masses(policy), buckets))
            seen = seen or (0,) * len(now)
            if len(seen) != len(now) or sum(seen) + rows > MOST_ROWS:
                _refuse(path, f"Its field 'scores' has {len(seen)} buckets with {sum(seen)} rows")
            before = [a + b for a, b in zip(then, seen, strict=True)]
            growth.insert(0, shift_growth(shift_p_value(before, now)))
            seen = tuple(a + b for a, b in zip(seen, now, strict=True))
        state = replace(
            state,
            batches=(*state.batches, Batch(name, rows, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))),
            scores=seen,
            evidence=tuple(
                one.after(grown, number) for one, grown in zip(state.evidence, growth, strict=True)
            ),
        )
        _save(path, state, content)
    return Watch(
        batches=len(state.batches),
        rows=sum(one.rows for one in state.batches),
        counted=counted,
        evidence={one.claim: one.evidence for one in state.evidence},
        peak={one.claim: one.peak for one in state.evidence},
        limit=max(len(names), 1) / alpha,
        untested=untested,
    )


def _masses(policy: Policy) -> Sequence[int]:
    assert policy.found_on is not None
    assert policy.found_on.distribution is not None
    return [int(mass) for mass in policy.found_on.distribution.masses]


def _checksum(policy: Policy) -> str:
    return str(to_dict(policy)["checksum"])


def _fingerprint(rows: int, buckets: Sequence[int] | None, counts: Mapping[str, Fraction] | None) -> str:
    parts = [rows, *map(int, buckets if buckets is not None else ()), *(counts or {}).values()]
    return f"sha256:{hashlib.sha256(' '.join(map(str, parts)).encode()).hexdigest()}"


def _load(path: str | os.PathLike[str], policy: Policy, *, labels: bool) -> tuple[bytes | None, State | None]:
    """Read a state and check that it is this policy's; None if there is no file yet."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return None, None
    except OSError as error:
        _refuse(path, error.strerror or str(error))
    try:
        content = json.loads(data)
        stated = content.pop("checksum")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        _refuse(path, "It is not JSON with a checksum")
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        _refuse(path, f"It is not a state of version {VERSION}")
    try:
        state: State = kind_of(State).read(content, "")
    except FieldError as error:
        _refuse(path, str(error))
    if stated != checksum(content):
        _refuse(path, "Its content does not match its checksum, so it was changed after it was saved")
    if state.policy != _checksum(policy):
        _refuse(path, "It belongs to another policy", "each policy needs a state of its own.")
    if state.labels != labels:
        kind = "with" if state.labels else "without"
        _refuse(
            path, f"It was begun {kind} labels", "use one state for checks with labels and another without."
        )
    return data, state


def _save(path: str | os.PathLike[str], state: State, before: bytes | None) -> None:
    """Write a state, unless another check has written one in the meantime."""
    content: dict[str, Any] = json_form(state)
    text = json.dumps({**content, "checksum": checksum(content)}, indent=1, allow_nan=False)
    with replaced(path) as beside:
        beside.write_text(f"{text}\n", encoding="utf-8")
        now = Path(path).read_bytes() if Path(path).exists() else None
        if now != before:
            _refuse(path, "Another check has changed it in the meantime", "run one check at a time.")


def _refuse(path: str | os.PathLike[str], reason: str, hint: str | None = None) -> NoReturn:
    usual = "take the file as `cutpoints check --state` wrote it, or begin a new one."
    found = f"{file_words(os.fspath(path))} must be the state of this policy. {reason}."
    raise InvalidInputError(found, hint=hint or usual)

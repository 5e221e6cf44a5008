"""The file that carries the evidence about a policy from one check to the next.

It is written whole or not at all, belongs to one policy, and knows the batches that it has counted: rows
that come again are not counted again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from cutpoints._atomic import replaced
from cutpoints._format import json_form
from cutpoints._policy.evidence import SCORES, Capital, claims, shift_growth, shift_p_value
from cutpoints._policy.format import checksum, to_dict
from cutpoints._policy.record import Sha256  # noqa: TC001 - hints are read at run time
from cutpoints._policy.shift import psi_groups
from cutpoints._policy.typed_json import FieldError, kind_of
from cutpoints._wording import file_words
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from cutpoints._policy.policy import Policy

FORMAT: Final = "cutpoints state"
VERSION: Final = 1
MOST_BATCHES = 1000
"""Batches of one state: nearly three years of days. Then it is time for a new policy."""


@dataclasses.dataclass(frozen=True)
class Batch:
    """Rows that were counted: a name or a fingerprint, how many they were, and when."""

    batch: str
    rows: int
    counted: str


@dataclasses.dataclass(frozen=True)
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


@dataclasses.dataclass(frozen=True)
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

    Parameters
    ----------
    policy : Policy
        Whose state it is.
    path : str or path
        The file.
    batch : str or None
        What to call the rows; by default a fingerprint of their counts.
    buckets : sequence of int or None
        The new rows in the buckets of the policy's distribution; None if it has none.
    counts : mapping or None
        The confusion of the new rows; None without labels.
    rows : int
        How many rows there are.
    alpha : float
        The probability of any false alarm, ever.
    """
    content, state = _load(path, policy, labels=counts is not None)
    tested, untested = claims(policy) if counts is not None else ((), ())
    names = [SCORES] * (buckets is not None) + [claim.name for claim in tested]
    begun = tuple(Capital(name, ()) for name in names)
    state = state or State(FORMAT, VERSION, _checksum(policy), counts is not None, (), (), begun)
    if names != [one.claim for one in state.evidence]:
        _refuse(path, "It was begun by another version of this library")
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
            before = [a + b for a, b in zip(then, seen, strict=True)]
            growth.insert(0, shift_growth(shift_p_value(before, now)))
            seen = tuple(a + b for a, b in zip(seen, now, strict=True))
        state = dataclasses.replace(
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

"""What a policy remembers of the data it was found on, and how a solution becomes a policy."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from cutpoints._evaluate.counted_folds import value_on_new_data
from cutpoints._goal import goal
from cutpoints._kernel.weights import FixedPoint, as_number
from cutpoints._policy.rules import KEY, MOST_SEGMENTS, KeyPart
from cutpoints._policy.typed_json import AtMost, matching
from cutpoints._result import Certificate, Confusion, Guarantee, Interval, context_of, value_of
from cutpoints._validate import generator
from cutpoints._version import __version__
from cutpoints.exceptions import CutpointError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cutpoints._joint.result import JointSolution
    from cutpoints._kernel.tables import Summary
    from cutpoints._policy.policy import Missing, Policy
    from cutpoints._result import Context, Solution
    from cutpoints._segments import Segments

LIBRARY = f"cutpoints {__version__}"
Sha256 = Annotated[str, matching("sha256:[0-9a-f]{64}", "'sha256:' and 64 hexadecimal digits")]


@dataclass(frozen=True)
class Distribution:
    """How the scores were spread: positives and negatives in at most 100 buckets.

    The inner `edges` ascend; bucket k holds ``edges[k - 1] <= score < edges[k]``, the first one
    all lower scores and the last one all higher ones. Each edge but the policy's own threshold was
    placed so that the buckets hold about equally much; equal scores are never split.
    """

    edges: tuple[float, ...]
    positives: tuple[int | float, ...]
    negatives: tuple[int | float, ...]

    @property
    def whole(self) -> bool:
        """Whether the masses are integers, which can be taken for numbers of rows."""
        return all(isinstance(mass, int) for mass in (*self.positives, *self.negatives))

    @property
    def masses(self) -> tuple[int | float, ...]:
        """Both classes together, bucket by bucket."""
        return tuple(p + n for p, n in zip(self.positives, self.negatives, strict=True))


@dataclass(frozen=True)
class SegmentRecord:
    """What the threshold of one segment did there."""

    key: tuple[Annotated[KeyPart, KEY], ...]
    value: float | None
    confusion: Confusion


@dataclass(frozen=True)
class FoundOn:
    """What the rule did on the data it was found on.

    Attributes
    ----------
    status, value, interval, confusion, rows, positives, negatives, certificate, guarantee
        As in the solution. With several thresholds, those of all rows together, without an interval.
    fingerprint : str or None
        SHA-256 over the number of rows, the exact masses of both classes, the lowest and the
        highest score, and TP and FP at the threshold. The order of the rows and the engine do not
        matter. Other data have another fingerprint; data with the same one agree in these seven
        numbers, which need not mean in every row.
    distribution : Distribution or None
        How the scores were spread.
    cross_validated : float or None
        The value to expect on new data, where `value` is the best of many and so too good: folds of the
        counts, each judged at the best edge of the others. None for weights, fewer than five rows of a
        class, and functions of your own.
    segments : tuple of SegmentRecord
        What happened in each segment, in the order of the rule's.
    """

    status: str
    value: float
    interval: Interval | None
    confusion: Confusion
    rows: int
    positives: int | float
    negatives: int | float
    certificate: Certificate | None
    guarantee: Guarantee | None = None
    fingerprint: Sha256 | None = None
    distribution: Distribution | None = None
    cross_validated: float | None = None
    segments: Annotated[tuple[SegmentRecord, ...], AtMost(MOST_SEGMENTS)] = ()


def from_solution(
    solution: Solution,
    *,
    name: str | None,
    description: str | None,
    score: str | None,
    label: str | None,
    pos_label: Any,
    missing: Missing,
) -> Policy:
    """Turn a solution into a policy; raise if there is no threshold.

    No pass over the data: the buckets come from what the search has counted anyway.
    """
    from cutpoints._policy.policy import Policy

    solution.raise_if_infeasible()
    context = context_of(solution)
    assert solution.threshold is not None
    assert solution.value is not None
    assert solution.interval is not None
    assert solution.confusion is not None
    called = None if context is None else context.summary.confusion(*context.called)
    found = FoundOn(
        status=solution.status,
        value=solution.value,
        interval=solution.interval,
        confusion=Confusion(**solution.confusion.to_dict()),
        rows=solution.rows,
        positives=solution.positives,
        negatives=solution.negatives,
        certificate=solution.certificate,
        guarantee=solution.guarantee,
        fingerprint=None if context is None or called is None else fingerprint(context.summary, called),
        distribution=None if context is None else _distribution(context, solution.threshold),
        cross_validated=None if context is None else _cross_validated(context, solution),
    )
    return Policy(
        solution.threshold,
        name=name,
        description=description,
        **_columns(context, score=score, label=label, pos_label=pos_label),
        missing=missing,
        objective=solution.objective,
        direction=solution.direction,
        constraints=solution.constraints,
        found_on=found,
        **made_now(),
    )


def _columns(context: Context | None, *, score: Any, label: Any, pos_label: Any) -> dict[str, Any]:
    """Return the columns, the positive label and the type of scores: as given, or as the data were."""
    if context is not None and context.lower_is_positive:
        raise InvalidParameterError(
            "lower_is_positive",
            caller="policy",
            expected="left out: the rule of a policy is score >= threshold, and this one is about -score",
            got=True,
            hint="make a column of the negated scores, and find the threshold of that.",
        )
    known = (None, None, None) if context is None else (context.score, context.label, context.pos_label)
    positive = pos_label if pos_label is not None else known[2]
    return {
        "score": known[0] if score is None else score,
        "label": known[1] if label is None else label,
        "pos_label": 1 if positive is None else positive,
        "dtype": "float32" if context is not None and context.dtype.itemsize == 4 else "float64",
    }


def from_segments(
    found: Segments,
    *,
    default: float | Literal["error", "keep"],
    name: str | None,
    description: str | None,
    score: str | None,
    label: str | None,
    pos_label: Any,
    missing: Missing,
) -> Policy:
    """Turn the solutions of segments into a policy; raise if none has a threshold."""
    from cutpoints._policy.policy import Policy

    solved = found.solved
    if not solved:
        next(iter(found.values())).raise_if_infeasible()
    context = context_of(next(iter(solved.values())))
    columns = _columns(context, score=score, label=label, pos_label=pos_label)
    if default not in ("error", "keep"):
        columns["dtype"] = "float64"  # a threshold by hand is of no type
    return Policy.segments(
        {key: one.threshold for key, one in solved.items() if one.threshold is not None},
        by=found.by,
        default=default,
        name=name,
        description=description,
        **columns,
        missing=missing,
        objective=found.objective,
        direction=found.direction,
        constraints=found.constraints,
        found_on=_found_in_segments(found, solved),
        **made_now(),
    )


def from_joint(
    found: JointSolution, columns: dict[str, Any], *, default: float | Literal["error", "keep"], **fields: Any
) -> Policy:
    """Turn thresholds that are best together into a policy."""
    from cutpoints._policy.policy import Policy

    assert found.value is not None
    assert found.confusion is not None
    if default not in ("error", "keep"):
        columns = {**columns, "dtype": "float64"}  # a threshold by hand is of no type
    expected = found.cross_validated.value
    records = tuple(
        SegmentRecord(
            key if len(found.by) > 1 else (key,), None if one.value != one.value else one.value, one.confusion
        )
        for key, one in found.items()
    )
    return Policy.segments(
        found.thresholds,
        by=found.by,
        default=default,
        **columns,
        **fields,
        objective=found.objective,
        direction=found.direction,
        constraints=found.constraints,
        found_on=FoundOn(
            status=found.status,
            value=found.value,
            interval=None,
            confusion=found.confusion,
            rows=found.rows,
            positives=found.positives,
            negatives=found.negatives,
            certificate=None,
            segments=records,
            cross_validated=None if expected != expected else expected,
        ),
        **made_now(),
    )


def _found_in_segments(found: Segments, solved: Mapping[Any, Solution]) -> FoundOn | None:
    """Return what the thresholds did, in each segment and in all of them together."""
    records = []
    total = dict.fromkeys(("tp", "fp", "fn", "tn"), Fraction(0))
    for key, one in solved.items():
        assert one.confusion is not None
        parts = key if len(found.by) > 1 else (key,)
        records.append(SegmentRecord(parts, one.value, one.confusion))
        for count, mass in one.confusion.fractions().items():
            total[count] += mass
    confusion = Confusion(**{count: as_number(mass) for count, mass in total.items()})
    try:
        asked: Any = {found.direction: found.objective}
        value = value_of(goal(**asked).expression, total)
    except CutpointError:  # a function of the user's
        return None
    if value != value:  # undefined for all rows together
        return None
    return FoundOn(
        status=next(iter(solved.values())).status,
        value=value,
        interval=None,
        confusion=confusion,
        rows=sum(one.rows for one in solved.values()),
        positives=as_number(total["tp"] + total["fn"]),
        negatives=as_number(total["fp"] + total["tn"]),
        certificate=None,
        segments=tuple(records),
    )


def made_now() -> dict[str, Any]:
    """Return when and by what a policy is made."""
    return {"created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "library": LIBRARY}


def fingerprint(summary: Summary, counts: Mapping[str, Fraction]) -> str:
    """Return a hash that neither the order of rows nor the engine changes."""
    positives, negatives = summary.totals
    parts = (
        summary.rows,
        positives,
        negatives,
        float(summary.low + 0.0).hex(),
        float(summary.high + 0.0).hex(),
        counts["tp"],
        counts["fp"],
    )
    return f"sha256:{hashlib.sha256(' '.join(map(str, parts)).encode()).hexdigest()}"


def _distribution(context: Context, threshold: float) -> Distribution:
    """Return bucket counts in which the threshold is an edge, unless one side of it is empty."""
    summary, called, above = context.summary, context.called, context.distribution
    totals = summary.positives, summary.negatives
    pairs = zip(above.edges.tolist(), above.pos.tolist(), above.neg.tolist(), strict=True)
    points = {edge: (pos, neg) for edge, pos, neg in pairs if (pos, neg) != called}
    if sum(called) and called != totals:
        points[threshold] = called
    edges = sorted(points)
    counts = []
    for i in (0, 1):
        cumulated = [totals[i], *(points[edge][i] for edge in edges), 0]
        counts.append(tuple(summary.grid.number(a - b) for a, b in pairwise(cumulated)))
    return Distribution(tuple(edges), *counts)


def _cross_validated(context: Context, solution: Solution) -> float | None:
    """Return the value to expect on new data; None where it cannot be said."""
    summary, above = context.summary, context.distribution
    if summary.grid != FixedPoint():  # weights are no numbers of rows
        return None
    try:
        wanted = solution.goal()
    except CutpointError:  # a function of the user's
        return None
    if wanted.columns:  # counts do not tell what they add up to
        return None
    # Without the threshold itself: all rows chose it, and no fold may know it.
    sides = ((above.pos, summary.positives), (above.neg, summary.negatives))
    positives, negatives = (np.diff(np.append(side[::-1], total), prepend=0) for side, total in sides)
    rng = generator(0, above.edges, positives, negatives)
    value = value_on_new_data(wanted, positives, negatives, rng)
    return None if math.isnan(value) else value

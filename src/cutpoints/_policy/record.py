"""What a policy remembers of the data it was found on, and how a solution becomes a policy."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cutpoints._policy.rules import KEY, MOST_SEGMENTS, KeyPart
from cutpoints._policy.typed_json import NUMBER, AtMost, matching
from cutpoints._result import Certificate, Confusion, Guarantee, Interval, Solution, context_of
from cutpoints._search.counted_folds import REPEATS, expected_cells, expected_value
from cutpoints._segments import Segments
from cutpoints._version import __version__
from cutpoints.metrics.columns import CELLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cutpoints._kernel.tables import Summary
    from cutpoints._policy.policy import Policy
    from cutpoints._result import Context
    from cutpoints._shown import Deployable, Deployed

REPEATED_SEGMENTS = 100
"""Up to a tenth of this many segments the folds of each are dealt out ten times, and fewer times for more."""
MOST_CROSS_VALIDATED = 2000
"""Segments. More of them would take longer than the search."""
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
    """What the threshold of one segment, or of one label, did there."""

    key: tuple[Annotated[KeyPart, KEY], ...]
    value: float | None
    confusion: Confusion
    cross_validated: float | None = None


@dataclass(frozen=True)
class Review:
    """What a band left to people, how many rows they can review, and how often they are right."""

    reviewed: int | float
    positives: int | float
    capacity: float | None
    sensitivity: float
    specificity: float


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
        class, functions of your own, a guarantee, and one threshold that had to hold in each group.
    segments : tuple of SegmentRecord
        What happened in each segment, or for each label, in the order of the rule's.
    average : {"micro", "macro"} or None
        With several segments or labels: whether the goal is about the sums over all of them, or the mean
        over them; None if it is about each by itself.
    each, gap : tuple of str
        What must hold in each of them, or in each group at one threshold, and for the largest difference
        between them.
    review : Review or None
        Of a band.
    confusion_matrix, costs : tuple of tuples or None
        Of ordered classes, where `confusion`, `positives` and `negatives` are None: rows are the truth,
        columns the decision; and the matrix of costs, if that was minimized: rows are decisions.
    """

    status: str
    value: float
    interval: Interval | None
    confusion: Confusion | None
    rows: int
    positives: int | float | None
    negatives: int | float | None
    certificate: Certificate | None
    guarantee: Guarantee | None = None
    fingerprint: Sha256 | None = None
    distribution: Distribution | None = None
    cross_validated: float | None = None
    segments: Annotated[tuple[SegmentRecord, ...], AtMost(MOST_SEGMENTS)] = ()
    average: Literal["micro", "macro"] | None = None
    each: tuple[str, ...] = ()
    gap: tuple[str, ...] = ()
    review: Review | None = None
    confusion_matrix: tuple[tuple[int | float, ...], ...] | None = None
    costs: tuple[tuple[Annotated[float, NUMBER], ...], ...] | None = None

    def counts(self) -> dict[str, Fraction]:
        """Return the confusion of all rows, exactly."""
        assert self.confusion is not None
        return self.confusion.fractions()


def policy_of(
    found: Deployable,
    made: Deployed,
    *,
    score: str | None = None,
    label: str | None = None,
    pos_label: Any = None,
    **fields: Any,
) -> Policy:
    """Turn a result into a policy: what it tells of itself, with the columns and names that were given.

    No pass over the data: the buckets of a threshold come from what the search has counted anyway.
    """
    from cutpoints._policy.policy import Policy

    make: Any = Policy if made.kind == "threshold" else getattr(Policy, made.kind)
    given = {"score": score, "label": label, "pos_label": pos_label}
    columns = made.columns._asdict() | {key: one for key, one in given.items() if one is not None}
    if columns["pos_label"] is None:
        columns["pos_label"] = 1
    if made.rule.get("default", "error") not in ("error", "keep"):
        columns["dtype"] = "float64"  # a threshold by hand is of no type
    found_on = None if made.found_on is None else _found_on(found, made.found_on)
    return make(
        **made.rule,
        **columns,
        **fields,
        objective=found.objective,
        direction=found.direction,
        constraints=getattr(found, "constraints", ()),
        found_on=found_on,
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        library=LIBRARY,
    )


def _found_on(found: Any, own: dict[str, Any]) -> FoundOn:
    """Return what a result did on its data: what only it has, and what every result has."""
    common = ("status", "value", "confusion", "rows", "positives", "negatives")
    known = {name: getattr(found, name) for name in common if name not in own} | own
    expected = known.get("cross_validated")
    if expected is not None and math.isnan(expected):
        known["cross_validated"] = None
    if isinstance(found, Solution) and (context := context_of(found)) is not None:
        called = context.summary.confusion(*context.called)
        known["fingerprint"] = fingerprint(context.summary, called)
        known["distribution"] = _distribution(context, found.threshold or 0.0)
        # Folds of the counts know no groups.
        known["cross_validated"] = None if found.each is not None else expected_value(found)
    records = [
        SegmentRecord(key, _known(value), confusion, *map(_known, expected))
        for key, value, confusion, *expected in known.pop("segments", ())
    ]
    if isinstance(found, Segments):
        known["cross_validated"] = _cross_validate_segments(found, records)
    if "review" in known:
        known["review"] = Review(*known["review"])
    return FoundOn(**known, segments=tuple(records))


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _cross_validate_segments(found: Segments, records: list[SegmentRecord]) -> float | None:
    """Put the value to expect into the record of each segment; return that of all rows together."""
    total: dict[str, Fraction] | None = dict.fromkeys(CELLS, Fraction(0))
    repeats = max(1, REPEATED_SEGMENTS // len(records))
    if len(records) > MOST_CROSS_VALIDATED:
        return None
    for k, solution in enumerate(found.solved.values()):
        cells = expected_cells(solution, min(REPEATS, repeats))
        if cells is not None:
            value = solution.goal().expression.rounded(**cells)
            records[k] = replace(records[k], cross_validated=None if math.isnan(value) else value)
        total = None if cells is None or total is None else {n: total[n] + cells[n] for n in total}
    if total is None:
        return None
    value = next(iter(found.solved.values())).goal().expression.rounded(**total)
    return None if math.isnan(value) else value


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

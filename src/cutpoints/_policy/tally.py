"""Rows -> how many there are of each decision and truth, in each segment or for each label.

One function per kind of rule. Whatever the rule, the answer has one shape, so that one judge does for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_array, as_floats, refuse_nan
from cutpoints._data.classes import class_rows
from cutpoints._data.data import Data
from cutpoints._data.labels import Labels
from cutpoints._data.read import as_data, is_path, read
from cutpoints._evaluate.cross_validation import confusion_of
from cutpoints._evaluate.row_groups import RowGroups, evaluate_cells
from cutpoints._joint.data import segmented
from cutpoints._kernel.tables import DIRECT_ROWS, Ranges
from cutpoints._policy.rules import LabelRule, OrdinalRule, SegmentRule, ThresholdRule
from cutpoints._validate import generator
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cutpoints._data.data import LabelledRows
    from cutpoints._data.files import Opened
    from cutpoints._data.source import Source
    from cutpoints._kernel.tables import Sums
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Decision, Key
    from cutpoints.metrics.expression import Expression

SAMPLE_BLOCKS = 1000
"""Samples of a matrix of labels are added up in this many blocks, which are then redrawn."""
_ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class Asked:
    """A policy, the rows to check it on, and the names of their columns."""

    policy: Policy
    data: Any
    y_score: Any
    by: Any
    score: str | None
    label: str | None
    pos_label: Any

    @property
    def labelled(self) -> bool:
        """Whether the truth is known."""
        own = isinstance(self.data, Data) and self.data.label is not None
        return self.y_score is not None or self.label is not None or own

    def table(self) -> Data | None:
        """Return rows that have columns: a frame, files or a `Data`; None for arrays."""
        if isinstance(self.data, Data):
            return self.data
        return read(self.data) if is_path(self.data) or _is_frame(self.data) else None

    def score_name(self, table: Data) -> str:
        """Return the column of the scores: as it was given, that of a `Data`, or the policy's own."""
        return self.policy.column(self.score or next(iter(table.scores), None), "check")

    def as_data(self, *, classes: bool = False) -> Data:
        """Return the rows with labels: of two classes, or of any."""
        own = isinstance(self.data, Data) and self.data.pos_label is not None
        positive = self.pos_label if self.pos_label is not None or own else self.policy.pos_label
        if classes or (positive == 1 and not isinstance(positive, str)):
            positive = None  # 0/1, booleans and -1/+1 speak for themselves
        data, score, label = self.data, self.score, self.label
        if isinstance(data, Data):
            if not data.scores or score is not None:
                data = data.of(self.policy.column(score, "check"))
            if positive is not None:
                data = replace(data, pos_label=positive)
            return as_data(data, self.y_score, label=label, caller="check")
        if label is not None:
            score = self.policy.column(score, "check")
        return as_data(data, self.y_score, label=label, score=score, pos_label=positive, caller="check")


@dataclass(frozen=True)
class Tally:
    """How many rows there are of each decision and truth.

    Attributes
    ----------
    parts : tuple
        The keys of the segments, or the labels; one part for rules that have neither.
    counts : ndarray of shape (n_parts, n_decisions, n_truths)
        Decisions are in the order of the rule, and negatives come before positives. Without labels there is
        one truth.
    unseen : dict
        How many rows there are of each segment that the policy does not know.
    undecided : int
        Those of them that get no decision, and so are not counted.
    blocks : ndarray of shape (n_blocks, n_parts, 2, 2) or None
        Of a matrix of labels: the counts of blocks of samples, since the labels of one sample depend on each
        other. `samples` is how many samples a block has.
    buckets : ndarray or None
        The rows in the buckets of the policy's distribution, which only one threshold has.
    source, amounts : Source and AddedRows, or None
        Of one threshold, with labels: the rows to search again, and those whose columns the goal adds up.
    """

    parts: tuple[Any, ...]
    counts: NDArray[np.int64]
    unseen: Mapping[Key, int] = field(default_factory=dict)
    undecided: int = 0
    blocks: NDArray[np.float64] | None = None
    samples: float = 1.0
    buckets: NDArray[np.int64] | None = None
    source: Source | None = None
    amounts: AddedRows | None = None

    @property
    def total(self) -> NDArray[np.int64]:
        """All parts together."""
        found: NDArray[np.int64] = self.counts.sum(axis=0)
        return found


def tally(asked: Asked) -> Tally:
    """Count rows by decision and truth."""
    rule = asked.policy.rule
    if isinstance(rule, LabelRule):
        return _labels(asked, rule)
    if isinstance(rule, SegmentRule):
        return _segments(asked, rule) if asked.labelled else _segments_without_labels(asked, rule)
    if isinstance(rule, OrdinalRule) and asked.labelled:
        return _classes(asked, rule)
    return _scores(asked)


def _scores(asked: Asked) -> Tally:
    """Count scores between the edges of the rule, and between those of the policy's distribution."""
    policy = asked.policy
    (decision,) = policy.rule.decisions()
    assert decision.otherwise is not None
    spread = None if policy.found_on is None else policy.found_on.distribution
    edges = sorted({*decision.otherwise, *(() if spread is None else spread.edges)})
    source = amounts = None
    if asked.labelled:
        data = asked.as_data()
        if isinstance(policy.rule, ThresholdRule) and data.named and policy.columns:
            data = data.for_goal(policy.goal(), "check")
            amounts = AddedRows(data.labelled_rows(caller="check"), policy.threshold)
        source = data.source()
        none = Fraction(0), Fraction(0)
        ends = [source.summary().totals, *masses_above(source, edges), none]
        counts = -np.diff(np.array([[int(neg), int(pos)] for pos, neg in ends]), axis=0)
    else:
        counts = rows_between(asked, edges)[:, None]
    found = _one_part(_between(counts, edges, decision.otherwise))
    if isinstance(policy.rule, ThresholdRule):
        found = replace(found, source=source, amounts=amounts)
    if spread is None:
        return found
    return replace(found, buckets=_between(counts, edges, spread.edges).sum(axis=1))


def _between(counts: NDArray[np.int64], edges: Sequence[float], some: Sequence[float]) -> NDArray[np.int64]:
    """Return the sums of counts between some of the edges only."""
    found = np.zeros((len(some) + 1, counts.shape[1]), dtype=np.int64)
    np.add.at(found, np.append(0, np.searchsorted(some, edges, side="right")), counts)
    return found


def _classes(asked: Asked, rule: OrdinalRule) -> Tally:
    rows = class_rows(asked.as_data(classes=True), rule.classes, "check")
    place = np.searchsorted(np.array(rule.cutpoints), rows.scores.astype(np.float64), side="right")
    size = len(rule.classes)
    return _one_part(np.bincount(place * size + rows.codes, minlength=size * size).reshape(size, size))


def _one_part(counts: NDArray[Any]) -> Tally:
    return Tally((None,), counts[None].astype(np.int64))


# --- scores between edges


def masses_above(source: Source, edges: Sequence[float]) -> list[tuple[Fraction, Fraction]]:
    """Return the exact masses (pos, neg) of the rows with a score of at least each ascending edge.

    By the three questions alone, so for every engine: a count into the source's own buckets, and
    the rows of those buckets that have an edge inside, a few per cent of all.
    """
    summary = source.summary()
    wanted = np.asarray(edges, dtype=np.float64)
    if summary.rows <= DIRECT_ROWS:
        rows = source.rows(None)
        index = np.searchsorted(rows.scores.astype(np.float64), wanted)
        parts = [_from(side)[index] for side in (rows.pos, rows.neg)]
    else:
        table = source.histogram(None)
        low, high = table.low.astype(np.float64), table.high.astype(np.float64)
        bucket = np.searchsorted(low, wanted)
        inside = np.flatnonzero((bucket > 0) & (wanted <= high[np.maximum(bucket - 1, 0)]))
        parts = [_from(side)[bucket] for side in (table.pos, table.neg)]
        if len(inside):
            split = np.unique(bucket[inside] - 1)
            rows = source.rows(Ranges(table.low[split], table.high[split]))
            scores = rows.scores.astype(np.float64)
            start = np.searchsorted(scores, wanted[inside])
            stop = np.searchsorted(scores, high[bucket[inside] - 1], side="right")
            for part, side in zip(parts, (rows.pos, rows.neg), strict=True):
                sums = _from(side)
                part[inside] += sums[start] - sums[stop]
    step = summary.grid.step
    pos, neg = ([total * step for total in part.tolist()] for part in parts)
    return list(zip(pos, neg, strict=True))


def _from(sums: Sums) -> Sums:
    """Return the sum of each element and all after it, and a zero at the end."""
    return np.append(np.cumsum(sums[::-1])[::-1], 0)


def rows_between(asked: Asked, edges: Sequence[float]) -> NDArray[np.int64]:
    """Return how many scores lie below the first edge, between each two, and from the last one on."""
    table = asked.table()
    if table is not None and table.opened is not None:
        return _in_files(asked.policy, table.opened, asked.score_name(table), edges)
    scores, _ = _scores_of(asked, table)
    wanted = np.asarray(edges, dtype=np.float64)
    counts = np.zeros(len(wanted) + 1, dtype=np.int64)
    for start in range(0, len(scores), _ROWS_AT_ONCE):
        place = np.searchsorted(
            wanted, scores[start : start + _ROWS_AT_ONCE].astype(np.float64), side="right"
        )
        counts += np.bincount(place, minlength=len(counts))
    return counts


def _scores_of(asked: Asked, table: Data | None) -> tuple[NDArray[Any], str]:
    """Return the scores of rows without labels, and their name."""
    name = "y_score" if table is None else asked.score_name(table)
    return _checked(asked.data if table is None else table.columns([name])[name], name), name


def _checked(column: Any, name: str) -> NDArray[Any]:
    """Return scores as floats; raise for none, and for NaN."""
    scores = as_floats(column, name, "check")
    if len(scores) == 0:
        raise InvalidInputError.empty(name=name)
    refuse_nan(scores, name)
    return scores


def _in_files(policy: Policy, opened: Opened, name: str, edges: Sequence[float]) -> NDArray[np.int64]:
    """Count in one streamed query; nothing of the files is held in memory."""
    from cutpoints._policy.files import check_scores, readable_errors, scored

    with opened.reading(), readable_errors(opened.files):
        table = scored(opened.table.relation, name, opened.table.column(name), policy.dtype)
        check_scores(table, name, "error", refused=InvalidInputError.nan)
        counted = (
            table.relation.project(f"{table.score} AS s")
            .project(f"{_bucket(list(edges), 0, len(edges))} AS b")
            .aggregate("b, count(*)", "b")
            .fetchall()
        )
    counts = np.zeros(len(edges) + 1, dtype=np.int64)
    for bucket, rows in counted:
        counts[bucket] = rows
    if not counts.sum():
        raise opened.empty(name)
    return counts


def _bucket(edges: list[float], start: int, stop: int) -> str:
    """Return a binary search for the bucket as nested SQL: seven comparisons for a hundred edges."""
    from cutpoints._policy.sql import condition

    if start == stop:
        return str(start)
    middle = (start + stop) // 2
    above, below = _bucket(edges, middle + 1, stop), _bucket(edges, start, middle)
    return f"CASE WHEN {condition(edges[middle], 's', 'duckdb')} THEN {above} ELSE {below} END"


# --- amounts


class AddedRows:
    """Labeled rows with the columns of a goal, decided by a threshold.

    `parts` are the exact sums of each column over the four cells.
    """

    def __init__(self, rows: LabelledRows, threshold: float) -> None:
        (source,) = rows.sources.values()
        called = source.scores >= np.float64(threshold)
        self.parts = confusion_of(rows.y, called, None, source.columns).columns
        self._rng = generator(0, rows.y, *source.columns.values(), caller="check")
        groups = RowGroups(rows.y, source.columns, self._rng)
        cells = groups.cells(called)
        sizes = cells[None].sum(axis=1, keepdims=True)
        # Half a row more in each cell, as Jeffreys' prior has it, so that a cell of no rows is not taken
        # for empty. It has the mean value of all rows.
        half = {column: np.eye(4) * sums.sum() / len(rows.y) for column, sums in cells.items()}
        self._means = {column: np.vstack([sums / sizes, half[column]]) for column, sums in cells.items()}
        self._alphas = np.append(np.ones(groups.size), np.full(4, 0.5 * groups.size / len(rows.y)))

    def redrawn(self, expression: Expression, draws: int) -> NDArray[np.float64]:
        """Return values for 1,000 rows that are as plausible as these: the Bayesian bootstrap."""
        shares = 1000 * self._rng.dirichlet(self._alphas, size=draws)
        return evaluate_cells(expression, {column: shares @ means for column, means in self._means.items()})

    def like_then(self, now: NDArray[np.float64], expected: float, rows_ratio: float) -> NDArray[np.float64]:
        """Return values that were plausible then, where there are `rows_ratio` as many rows now.

        A policy does not tell how much the amounts of its rows varied; if nothing has changed, as now.
        """
        return expected + self._rng.permutation(now - now.mean()) * rows_ratio**0.5


# --- segments


def _segments(asked: Asked, rule: SegmentRule) -> Tally:
    data = asked.as_data()
    by = asked.by if not data.named else list(rule.by)
    found = segmented(data, by, caller="check")
    (decision,) = rule.decisions()
    keys = [_as_known(key if len(rule.by) > 1 else (key,), decision) for key in found.keys]
    edges = [decision.edges(key) for key in keys]
    at = found.cuts.at(np.array([np.inf if one is None else one[0] for one in edges]))
    called = np.array([found.cuts.fp[at], found.cuts.tp[at]]).T
    both = np.array([found.cuts.negatives, found.cuts.positives]).T
    return _by_key(decision, dict(zip(keys, np.stack([both - called, called], axis=1), strict=True)))


def _segments_without_labels(asked: Asked, rule: SegmentRule) -> Tally:
    """Decide the rows, and count the decisions of each segment."""
    from cutpoints._data.segment_codes import combined
    from cutpoints._data.segment_keys import key_columns

    (decision,) = rule.decisions()
    table = asked.table()
    scores, name = _scores_of(asked, table)
    columns: Any = asked.by
    if table is not None:
        columns = table.columns(rule.by) if table.opened is None else table.opened.keys(rule.by)
    elif columns is None:
        raise InvalidParameterError(
            "by", caller="check", expected="given: the policy has a threshold for each segment", got=None
        )
    codes, found_keys = combined(list(key_columns(columns).values()))
    if len(codes) != len(scores):
        raise InvalidInputError.length(names_and_lengths={name: len(scores), "by": len(codes)})
    keys = [_as_known(key, decision) for key in found_keys]
    edges = np.array([np.inf if (one := decision.edges(key)) is None else one[0] for key in keys])
    called = scores.astype(np.float64) >= edges[codes]
    counts = np.stack([np.bincount(codes[side], minlength=len(keys)) for side in (~called, called)], axis=1)
    return _by_key(decision, dict(zip(keys, counts[:, :, None], strict=True)))


def _is_frame(data: Any) -> bool:
    import narwhals as nw

    found = nw.from_native(data, allow_series=True, pass_through=True)
    return isinstance(found, nw.DataFrame | nw.LazyFrame)


def _as_known(key: Key, decision: Decision) -> Key:
    """Return a key in the types of the policy's: a CSV has text alone."""
    return tuple(
        _typed(part, own) if isinstance(part, str) else part
        for part, own in zip(key, decision.types, strict=True)
    )


def _typed(text: str, own: str | None) -> Any:
    if own == "number":
        try:
            return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
        except ValueError:
            return text
    if own == "boolean":
        return {"true": True, "false": False}.get(text.strip().lower(), text)
    return text


def _by_key(decision: Decision, found: Mapping[Key, NDArray[np.int64]]) -> Tally:
    """Put the counts in the order of the policy's segments; those of all other segments come last."""
    shape = next(iter(found.values())).shape
    unseen = {key: int(counts.sum()) for key, counts in found.items() if key not in decision.segments}
    nothing = np.zeros(shape, dtype=np.int64)
    rows = [found.get(key, nothing) for key in decision.segments]
    others = sum((found[key] for key in unseen), nothing)
    if decision.otherwise is None:
        return Tally(tuple(decision.segments), np.stack(rows), unseen, int(others.sum()))
    return Tally((*decision.segments, None), np.stack([*rows, others]), unseen)


# --- labels


def _labels(asked: Asked, rule: LabelRule) -> Tally:
    """Count by label: two matrices, or a table with a column of scores and one of truths for each label."""
    scores, truths = _label_columns(asked, rule)
    called = [column >= one.threshold for column, one in zip(scores, rule.labels, strict=True)]
    if truths is None:
        counts = [[[int((~side).sum())], [int(side.sum())]] for side in called]
        return Tally(tuple(rule.thresholds), np.array(counts))
    n, size = len(called[0]), len(called)
    blocks = min(n, SAMPLE_BLOCKS)
    block = np.random.default_rng(0).permutation(n) % blocks
    table = np.zeros((blocks, size, 4), dtype=np.float64)
    for k, (side, truth) in enumerate(zip(called, truths, strict=True)):
        cell = block * 4 + 2 * side + truth
        table[:, k] = np.bincount(cell, minlength=4 * blocks).reshape(blocks, 4)
    whole = table.reshape(blocks, size, 2, 2)
    return Tally(tuple(rule.thresholds), whole.sum(axis=0).astype(np.int64), blocks=whole, samples=n / blocks)


def _label_columns(asked: Asked, rule: LabelRule) -> tuple[list[NDArray[Any]], list[NDArray[Any]] | None]:
    names = [one.score for one in rule.labels]
    data = asked.data
    table = is_path(data) or isinstance(data, Data) or asked.label is not None
    if asked.y_score is not None or not table:
        given = data if asked.y_score is None else asked.y_score
        scores = _columns_of(given, names, "scores")
        truths = None if asked.y_score is None else _columns_of(data, list(rule.thresholds), "y_true")
    else:
        found = data if isinstance(data, Data) else read(data)
        label = asked.label or found.label
        truth_names = [] if label is None else [_truth_column(label, one.label) for one in rule.labels]
        columns = found.columns([*names, *truth_names])
        scores = [columns[name] for name in names]
        truths = [columns[name] for name in truth_names] or None
    read_scores = [_checked(column, name) for column, name in zip(scores, names, strict=True)]
    if truths is None:
        return read_scores, None
    positive = asked.pos_label
    sides = []
    for column, one in zip(truths, rule.labels, strict=True):
        labels = Labels(as_array(column, one.label), positive, name=one.label)
        side, counts = labels.check(slice(None))
        labels.settle([counts])
        sides.append(side)
        if len(side) != len(read_scores[0]):
            lengths = {"y_true": len(side), "y_score": len(read_scores[0])}
            raise InvalidInputError.length(names_and_lengths=lengths)
    return read_scores, sides


def _truth_column(pattern: str, label: str) -> str:
    if "{}" not in pattern:
        raise InvalidParameterError(
            "label",
            caller="check",
            expected="a name with {} where the label stands, since each label has a column",
            got=pattern,
            hint="for example 'true_{}' for the columns true_sport and true_politics.",
        )
    return pattern.replace("{}", label)


def _columns_of(given: Any, names: list[str], what: str) -> list[Any]:
    """Return the columns of a matrix, dense or sparse, or of a data frame by their names."""
    if _is_frame(given):
        return list(read(given).columns(names).values())
    matrix = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise InvalidParameterError(
            what,
            caller="check",
            expected=f"a matrix with one column for each of {len(names)} labels",
            got=f"shape {matrix.shape}",
        )
    return list(matrix.T)

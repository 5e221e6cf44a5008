"""Rows -> how many there are of each decision and truth, in each segment or for each label.

One function per kind of rule. Whatever the rule, the answer has one shape, so that one judge does for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import as_array, as_floats, refuse_nan
from cutpoints._data.classes import class_rows
from cutpoints._data.data import Data
from cutpoints._data.labels import Labels
from cutpoints._data.read import as_data, is_path, read
from cutpoints._joint.data import segmented
from cutpoints._policy.counts import masses_above, rows_between
from cutpoints._policy.rules import BandRule, LabelRule, OrdinalRule, SegmentRule
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Decision, Key

BLOCKS = 1000
"""Samples of a matrix of labels are added up in this many blocks, which are then redrawn."""


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

    def source(self) -> Source:
        """Return the rows with labels of two classes."""
        return self.as_data().source()

    def with_goal(self) -> Data:
        """Return the rows with the columns that the policy's goal adds up; arrays have none."""
        found = self.as_data()
        try:
            goal = self.policy.goal()
        except CutpointError:  # not said, or a function of the user's
            return found
        return found.for_goal(goal, "check") if found.named else found

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
    """

    parts: tuple[Any, ...]
    counts: NDArray[np.int64]
    unseen: Mapping[Key, int] = field(default_factory=dict)
    undecided: int = 0
    blocks: NDArray[np.float64] | None = None
    samples: float = 1.0

    @property
    def total(self) -> NDArray[np.int64]:
        """All parts together."""
        found: NDArray[np.int64] = self.counts.sum(axis=0)
        return found


def tally(asked: Asked) -> Tally:
    """Count rows by decision and truth."""
    rule = asked.policy.rule
    if isinstance(rule, BandRule):
        return _band(asked, rule)
    if isinstance(rule, OrdinalRule):
        return _ordinal(asked, rule)
    if isinstance(rule, LabelRule):
        return _labels(asked, rule)
    assert isinstance(rule, SegmentRule)
    return _segments(asked, rule) if asked.labelled else _segments_without_labels(asked, rule)


def _band(asked: Asked, rule: BandRule) -> Tally:
    edges = [rule.low, rule.high]
    if not asked.labelled:
        return _one_part(rows_between(asked.policy, asked.data, asked.score, edges)[:, None])
    source = asked.source()
    above = [source.summary().totals, *masses_above(source, edges)]
    ends = np.array([[int(neg), int(pos)] for pos, neg in above])
    return _one_part(ends - np.vstack([ends[1:], [[0, 0]]]))


def _ordinal(asked: Asked, rule: OrdinalRule) -> Tally:
    if not asked.labelled:
        return _one_part(rows_between(asked.policy, asked.data, asked.score, rule.cutpoints)[:, None])
    rows = class_rows(asked.as_data(classes=True), rule.classes, "check")
    place = np.searchsorted(np.array(rule.cutpoints), rows.scores.astype(np.float64), side="right")
    size = len(rule.classes)
    return _one_part(np.bincount(place * size + rows.codes, minlength=size * size).reshape(size, size))


def _one_part(counts: NDArray[Any]) -> Tally:
    return Tally((None,), counts[None].astype(np.int64))


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
    data, columns = asked.data, {}
    if is_path(data) or isinstance(data, Data) or _is_frame(data):
        name = asked.policy.column(asked.score, "check")
        found = data if isinstance(data, Data) else read(data)
        scores = as_floats(found.columns([name])[name], name, "check")
        columns = found.columns(rule.by) if found.opened is None else found.opened.keys(rule.by)
    else:
        if asked.by is None:
            raise InvalidParameterError(
                "by", caller="check", expected="given: the policy has a threshold for each segment", got=None
            )
        name, scores = "y_score", as_floats(data, "y_score", "check")
        columns = asked.by
    if len(scores) == 0:
        raise InvalidInputError.empty(name=name)
    refuse_nan(scores, name)
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
    blocks = min(n, BLOCKS)
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
    read_scores = [as_floats(column, name, "check") for column, name in zip(scores, names, strict=True)]
    for column, name in zip(read_scores, names, strict=True):
        if len(column) == 0:
            raise InvalidInputError.empty(name=name)
        refuse_nan(column, name)
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

"""What a policy decides by: one threshold, one per segment, a band, one per label, or ordered cutpoints.

Every rule has the same normal form, `Decision`: a step function of a score, looked up by segment where
there are segments. Arrays, frames, files, SQL, Python and ONNX are written for that form alone, so a new kind
of rule is a new class here and nothing elsewhere. The fields of a class are its JSON form.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NoReturn

import numpy as np

from cutpoints._format import exact
from cutpoints._policy.typed_json import LONGEST_TEXT, NUMBER, AtMost, is_finite, is_safe, is_text, simple
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_SEGMENTS = 100_000
"""Segments of one policy."""
MOST_LABELS = 10_000
"""Labels of one policy."""
MOST_CLASSES = 1000
"""Ordered classes of one policy."""
_SHOWN = 20
NEGATIVE, POSITIVE, REVIEW = 0, 1, -1

Missing = Literal["error", "negative", "positive", "review", "keep"]
Dtype = Literal["float64", "float32"]
Direction = Literal["maximize", "minimize"]
KeyPart = str | int | float | bool | None
Key = tuple[KeyPart, ...]
Edges = tuple[float, ...]


def is_key(value: Any) -> bool:
    """Whether a value can be the key of a segment: a string, a number, a boolean or None."""
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT and is_safe(value)
    return value is None or isinstance(value, bool) or is_finite(value)


def key_type(value: Any) -> str:
    """Return what a key is: "text", "boolean" or "number"; others by the name of their type."""
    for type_, name in ((str, "text"), (bool, "boolean"), (numbers.Real, "number")):
        if isinstance(value, type_):
            return name
    return type(value).__name__


def key_parts(key: Any) -> Key:
    """Return the key of a segment as a tuple; a label is a key of one part."""
    return key if isinstance(key, tuple) else (key,)


def key_name(key: Key) -> str:
    """Return a key for people."""
    return ", ".join("(missing)" if part is None else str(part) for part in key)


KEY = simple(
    "a string, a number, a boolean or null",
    {
        "anyOf": [
            {"type": "string", "maxLength": LONGEST_TEXT, "pattern": "^[^\\u0000]*$"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
        ]
    },
    is_key,
)


@dataclass(frozen=True)
class Decision:
    """One column of decisions: ``values[k]`` where a score reaches `k` of the ascending edges.

    The edges are those of the row's segment; a row of no known segment, or a rule without segments, has those
    of `otherwise`, and no decision where that is None.
    """

    values: tuple[Any, ...]
    otherwise: Edges | None
    by: tuple[str, ...] = ()
    segments: Mapping[Key, Edges] = field(default_factory=dict)
    label: str | None = None
    score: str | None = None

    def edges(self, key: Key) -> Edges | None:
        """Return the edges of a segment; None: no decision."""
        return self.segments.get(key, self.otherwise)

    def at(self, score: float, key: Key = ()) -> Any:
        """Return the decision for a score that is not missing, or None; the definition of all others."""
        edges = self.edges(key)
        return None if edges is None else self.values[sum(score >= edge for edge in edges)]

    @cached_property
    def types(self) -> tuple[str | None, ...]:
        """What the keys of each column are: "text", "number" or "boolean"; None: missing ones alone."""
        return tuple(
            next((key_type(part) for part in column if part is not None), None)
            for column in zip(*self.segments, strict=True)
        )


class _Rule:
    """What the rules have in common."""

    missing: ClassVar[Mapping[str, int]] = {"negative": NEGATIVE, "positive": POSITIVE}
    """What a missing score can be called."""

    @property
    def unknown(self) -> Literal["error", "keep"] | None:
        """What becomes of rows of other segments: an error, no decision, or None for a decision."""
        return None

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class ThresholdRule(_Rule):
    """Positive iff score >= threshold."""

    kind: Literal["threshold"] = field(default="threshold", kw_only=True)
    threshold: Annotated[float, "The shortest decimal that is this very float64."]

    def __post_init__(self) -> None:
        self._set("threshold", number(self.threshold, "threshold"))

    def decisions(self) -> tuple[Decision, ...]:
        """Return the normal form."""
        return (Decision((NEGATIVE, POSITIVE), (self.threshold,)),)

    def lines(self, score: str) -> list[tuple[str, str]]:
        """Return the rule in words, as pairs of a name and a string."""
        return [("rule", f"positive if {score} >= {exact(self.threshold)}")]


@dataclass(frozen=True)
class SegmentThreshold:
    """The threshold of one segment."""

    key: Annotated[tuple[Annotated[KeyPart, KEY], ...], "The value of each column in `by`; null is missing."]
    threshold: float


@dataclass(frozen=True)
class SegmentRule(_Rule):
    """Positive iff score >= the threshold of the row's segment."""

    kind: Literal["segments"] = field(default="segments", kw_only=True)
    by: Annotated[tuple[str, ...], "The columns that tell segments apart."]
    segments: Annotated[tuple[SegmentThreshold, ...], AtMost(MOST_SEGMENTS)]
    default: Annotated[
        Literal["error", "keep"] | float,
        "The threshold of all other rows; or error: refuse them; or keep: leave them undecided.",
    ] = "error"

    def __post_init__(self) -> None:
        if not self.by or len(set(self.by)) < len(self.by):
            _refuse("by", "one name of a column, or several that differ", list(self.by))
        if not self.segments or len(self.segments) > MOST_SEGMENTS:
            _refuse("thresholds", f"of 1 to {MOST_SEGMENTS:,} segments", len(self.segments))
        self._set(
            "segments",
            tuple(
                SegmentThreshold(_key(one.key), number(one.threshold, "threshold")) for one in self.segments
            ),
        )
        if self.default not in ("error", "keep"):
            try:
                self._set("default", number(self.default, "default"))
            except InvalidParameterError:
                _refuse("default", "a threshold, 'error' or 'keep'", self.default)
        self._check_keys()

    def _check_keys(self) -> None:
        seen: set[Key] = set()
        types: list[set[str]] = [set() for _ in self.by]
        for one in self.segments:
            if len(one.key) != len(self.by):
                _refuse("thresholds", f"by keys of {len(self.by)} parts, as 'by' has", one.key)
            if one.key in seen:
                _refuse("thresholds", "by keys that differ", f"{_named(one.key)!r} twice")
            seen.add(one.key)
            for part, found in zip(one.key, types, strict=True):
                if part is not None:
                    found.add(key_type(part))
        for name, found in zip(self.by, types, strict=True):
            if len(found) > 1:
                _refuse("thresholds", f"by keys of one type for {name!r}", " and ".join(sorted(found)))

    @property
    def unknown(self) -> Literal["error", "keep"] | None:
        """What becomes of rows of other segments: an error, no decision, or None for a decision."""
        return None if isinstance(self.default, float) else self.default

    @cached_property
    def thresholds(self) -> dict[Any, float]:
        """The thresholds by key: a value, or a tuple where there are several columns."""
        return {_named(one.key): one.threshold for one in self.segments}

    def decisions(self) -> tuple[Decision, ...]:
        """Return the normal form."""
        table = {one.key: (one.threshold,) for one in self.segments}
        otherwise = None if isinstance(self.default, str) else (self.default,)
        return (Decision((NEGATIVE, POSITIVE), otherwise, self.by, table),)

    def lines(self, score: str) -> list[tuple[str, str]]:
        """Return the rule in words, as pairs of a name and a string."""
        names = ", ".join(self.by)
        others = {"error": "an error", "keep": "no decision"}.get(
            str(self.default), f"{score} >= {self.default}"
        )
        cells = [(key_name(one.key), one.threshold) for one in self.segments]
        return [
            ("rule", f"positive if {score} >= the threshold of its {names}"),
            *_listed(cells, "segments"),
            ("others", others),
        ]


@dataclass(frozen=True)
class BandRule(_Rule):
    """Positive iff score >= high, negative if score < low, and for review in between."""

    kind: Literal["band"] = field(default="band", kw_only=True)
    low: float
    high: float
    missing: ClassVar[Mapping[str, int]] = {**_Rule.missing, "review": REVIEW}

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            self._set(name, number(getattr(self, name), name))
        if self.low > self.high:
            _refuse("low", "at most 'high'", f"{self.low!r} and {self.high!r}")

    def decisions(self) -> tuple[Decision, ...]:
        """Return the normal form."""
        return (Decision((NEGATIVE, REVIEW, POSITIVE), (self.low, self.high)),)

    def lines(self, score: str) -> list[tuple[str, str]]:
        """Return the rule in words, as pairs of a name and a string."""
        low, high = exact(self.low), exact(self.high)
        return [("rule", f"positive if {score} >= {high}, negative if {score} < {low}, review in between")]


@dataclass(frozen=True)
class LabelThreshold:
    """The threshold of one label, and the column of its scores."""

    label: str
    score: str
    threshold: float


@dataclass(frozen=True)
class LabelRule(_Rule):
    """One decision per label: positive iff the label's score >= its threshold."""

    kind: Literal["labels"] = field(default="labels", kw_only=True)
    labels: Annotated[tuple[LabelThreshold, ...], AtMost(MOST_LABELS)]

    def __post_init__(self) -> None:
        if not self.labels or len(self.labels) > MOST_LABELS:
            _refuse("thresholds", f"of 1 to {MOST_LABELS:,} labels", len(self.labels))
        for one in self.labels:
            for name in ("label", "score"):
                if not is_text(getattr(one, name)):
                    _refuse(name, "a string of 1 to 10,000 characters", getattr(one, name))
        for name in ("label", "score"):
            names = [getattr(one, name) for one in self.labels]
            if len(set(names)) < len(names):
                _refuse(f"{name}s", "names that differ", names)
        self._set(
            "labels",
            tuple(
                LabelThreshold(one.label, one.score, number(one.threshold, "threshold"))
                for one in self.labels
            ),
        )

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """The thresholds by label."""
        return {one.label: one.threshold for one in self.labels}

    def decisions(self) -> tuple[Decision, ...]:
        """Return the normal form."""
        return tuple(
            Decision((NEGATIVE, POSITIVE), (one.threshold,), label=one.label, score=one.score)
            for one in self.labels
        )

    def lines(self, score: str) -> list[tuple[str, str]]:
        """Return the rule in words, as pairs of a name and a string."""
        cells = [(one.label, one.threshold) for one in self.labels]
        return [
            ("rule", "for each label, positive if its score >= its threshold"),
            *_listed(cells, "labels"),
        ]


@dataclass(frozen=True)
class OrdinalRule(_Rule):
    """One of several ordered classes: the one after the last cutpoint that the score reaches."""

    kind: Literal["ordinal"] = field(default="ordinal", kw_only=True)
    cutpoints: Annotated[tuple[float, ...], "Ascending."]
    classes: Annotated[
        tuple[str | Annotated[float, NUMBER], ...], "One more than there are cutpoints, in order."
    ]
    missing: ClassVar[Mapping[str, int]] = {}

    def __post_init__(self) -> None:
        self._set("cutpoints", tuple(number(one, "cutpoints") for one in self.cutpoints))
        if not self.cutpoints or len(self.cutpoints) >= MOST_CLASSES:
            _refuse("cutpoints", f"1 to {MOST_CLASSES - 1:,} numbers", list(self.cutpoints))
        if any(a > b for a, b in pairwise(self.cutpoints)):
            _refuse("cutpoints", "in ascending order", list(self.cutpoints))
        self._set("classes", tuple(plain(one) for one in self.classes))
        if len(self.classes) != len(self.cutpoints) + 1 or len(set(self.classes)) < len(self.classes):
            _refuse("classes", f"{len(self.cutpoints) + 1} values that differ", list(self.classes))
        texts = {isinstance(one, str) for one in self.classes}
        if len(texts) > 1 or not all(is_text(one) or (is_finite(one)) for one in self.classes):
            _refuse("classes", "all strings, or all numbers", list(self.classes))

    def decisions(self) -> tuple[Decision, ...]:
        """Return the normal form."""
        return (Decision(self.classes, self.cutpoints),)

    def lines(self, score: str) -> list[tuple[str, str]]:
        """Return the rule in words, as pairs of a name and a string."""
        cells = zip(self.classes[1:], self.cutpoints, strict=True)
        steps = ", ".join(f"{name} from {exact(edge)}" for name, edge in cells)
        return [("rule", f"by {score}: {self.classes[0]}, {steps}")]


Rule = ThresholdRule | SegmentRule | BandRule | LabelRule | OrdinalRule


# --- rules from what users bring


def segments(thresholds: Any, by: Any, default: Any) -> SegmentRule:
    """Return the rule of a mapping from keys to thresholds; see `Policy.segments`."""
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else ()
    if not names or not all(map(is_text, names)):
        _refuse("by", "the name of a column, or a list of names", by, "for example by='country'.")
    if not isinstance(thresholds, Mapping):
        _refuse(
            "thresholds",
            "a mapping from segments to thresholds",
            thresholds,
            "for example {'DE': 0.4, 'FR': 0.6}.",
        )
    table = tuple(
        SegmentThreshold(key if len(names) > 1 and isinstance(key, tuple) else (key,), one)
        for key, one in thresholds.items()
    )
    return SegmentRule(names, table, default)


def labels(thresholds: Any, scores: Any) -> LabelRule:
    """Return the rule of one threshold per label; see `Policy.labels`."""
    if not isinstance(thresholds, Mapping):
        _refuse(
            "thresholds", "a mapping from labels to thresholds", thresholds, "for example {'sport': 0.4}."
        )
    names = {_label(label): one for label, one in thresholds.items()}
    if len(names) < len(thresholds):
        _refuse("thresholds", "of labels that differ as text", list(thresholds))
    columns = {} if scores is None else {_label(label): one for label, one in dict(scores).items()}
    unknown = [label for label in columns if label not in names]
    if unknown:
        _refuse("scores", "a mapping from labels that have a threshold to columns", unknown)
    return LabelRule(
        tuple(LabelThreshold(label, columns.get(label, label), one) for label, one in names.items())
    )


def cutpoints(edges: Any, classes: Any) -> OrdinalRule:
    """Return the rule of ordered classes; see `Policy.ordinal`."""
    if isinstance(edges, str) or not hasattr(edges, "__iter__"):
        _refuse("cutpoints", "a list of numbers", edges, "for example [0.2, 0.6].")
    ends = tuple(edges)
    return OrdinalRule(ends, tuple(range(len(ends) + 1)) if classes is None else tuple(classes))


def number(value: Any, name: str) -> float:
    """Return a threshold as a float; raise for what is none."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        _refuse(name, "a number, not NaN", value)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if math.isinf(found) and value != found:  # of a long double
        _refuse(name, "a number that a float can hold", value, "for no positives pass math.inf.")
    if math.isnan(found):
        _refuse(name, "a number, not NaN", value)
    return found + 0.0  # -0.0 and 0.0 decide alike, and only one of them looks like it


def check_float32(rule: Rule) -> None:
    """Raise if a threshold of the rule is no float32."""
    for decision in rule.decisions():
        for edges in (*decision.segments.values(), decision.otherwise or ()):
            with np.errstate(over="ignore"):
                wrong = [edge for edge in edges if float(np.float32(edge)) != edge]
            if wrong:
                hint = "pass float(numpy.float32(threshold))."
                _refuse("threshold", "a float32, as dtype says", wrong[0], hint)


def plain(value: Any) -> Any:
    """Return the Python object of a NumPy scalar, and others as they are: a time would become a number."""
    time = getattr(getattr(value, "dtype", None), "kind", None) in {"M", "m"}
    return value.item() if hasattr(value, "item") and not time else value


def _key(parts: Iterable[Any]) -> Key:
    key = tuple(None if part is None or part != part else plain(part) for part in parts)
    for part in key:
        if not is_key(part):
            _refuse(
                "thresholds",
                "by keys that are strings, numbers, booleans or None",
                part,
                "write dates and other values as text, in the policy and in the data.",
            )
    return tuple(part + 0 if type(part) is float else part for part in key)  # -0.0 is 0.0


def _label(label: Any) -> Any:
    return str(label) if isinstance(label, numbers.Integral) and not isinstance(label, bool) else label


def _named(key: Key) -> Any:
    return key[0] if len(key) == 1 else key


def _listed(cells: list[tuple[str, float]], what: str) -> list[tuple[str, str]]:
    lines = [("", f"{name}: {exact(threshold)}") for name, threshold in cells[:_SHOWN]]
    more = len(cells) - len(lines)
    return [*lines, ("", f"and {more:,} more {what}")] if more else lines


def _refuse(parameter: str, must_be: str, got: Any, hint: str | None = None) -> NoReturn:
    raise InvalidParameterError(parameter, caller="Policy", expected=must_be, got=got, hint=hint)

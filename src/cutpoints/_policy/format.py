"""The JSON form of a policy, version 2: written exactly, and believed only after it was checked.

`PolicyFile` is the one definition: it reads and writes the file, and its schema is generated from it. The
checksum is taken over the *values*, so a file that another program has laid out anew, `1.0` as `1` or `0.1`
as `1e-1`, is still the same; one in which a digit was lost is not. A checksum finds accidents and careless
edits. It is no signature: who wants to forge a policy can compute it too.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn

from cutpoints._atomic import replaced
from cutpoints._data import file_errors
from cutpoints._format import json_form
from cutpoints._policy.policy import Policy
from cutpoints._policy.record import FoundOn, Sha256  # noqa: TC001 - hints are read at run time
from cutpoints._policy.rules import (
    BandRule,
    Direction,
    Dtype,
    Missing,
    OrdinalRule,
    Rule,
    SegmentRule,
    ThresholdRule,
)
from cutpoints._policy.typed_json import NUMBER, FieldError, is_text, kind_of, matching, shown
from cutpoints._wording import file_words
from cutpoints.exceptions import CutpointError, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cutpoints._result import Confusion

FORMAT: Final = "cutpoints policy"
VERSION: Final = 2
LARGEST_FILE = 1 << 25
"""Bytes. A policy has a few kilobytes, and one of 100,000 segments some megabytes."""
_LINE_WIDTH = 100
"""Characters of an object that is written on one line."""
_SUM_ERROR = 1e-9
"""Relative. Weights are rounded once each when they are written, so their sums may be off a little."""

_TIME = matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "a time such as '2026-01-31T12:00:00Z'")


@dataclasses.dataclass(frozen=True)
class PolicyFile:
    """A rule to deploy: one threshold, one per segment, a band, one per label, or ordered cutpoints."""

    format: Literal["cutpoints policy"]
    version: Literal[2]
    name: Annotated[str | None, "What people call it."]
    description: Annotated[str | None, "What people should know about it."]
    rule: Rule
    dtype: Annotated[Dtype, "The type of the scores that it was found on."]
    score: Annotated[str | None, "The column of the scores."]
    label: Annotated[str | None, "The column of the labels."]
    pos_label: Annotated[str | Annotated[float, NUMBER] | bool, "The positive label."]
    missing: Annotated[Missing, "What to make of a missing score; keep: no decision."]
    objective: Annotated[str | None, "What it is best for, in the language of goals."]
    direction: Direction | None
    constraints: Annotated[tuple[str, ...], "What must hold, in the language of goals."]
    found_on: FoundOn | None
    created: Annotated[Annotated[str, _TIME] | None, "When, in UTC."]
    library: Annotated[str | None, "By which version."]
    checksum: Annotated[
        Sha256,
        "Of all other fields: keys sorted, no spaces, integers in decimal, other numbers as hex floats.",
    ]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy file, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{FORMAT}, version {VERSION}",
        **kind_of(PolicyFile).schema,
    }


# --- writing


def to_dict(policy: Policy) -> dict[str, Any]:
    """Return the JSON form of a policy."""
    content = json_form(PolicyFile(format=FORMAT, version=VERSION, checksum="", **vars(policy)))
    del content["checksum"]
    return {**content, "checksum": checksum(content)}


def save(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write the JSON form, whole or not at all."""
    with replaced(path) as beside:
        beside.write_text(f"{_laid_out(to_dict(policy), '')}\n", encoding="utf-8", newline="\n")


def _laid_out(value: Any, indent: str) -> str:
    """Return JSON text in which numbers of a list, and what is short inside something, share a line."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    names, inside, ends = [], [], "[]"
    if isinstance(value, dict):
        names, inside = [f"{json.dumps(name, ensure_ascii=False)}: " for name in value], list(value.values())
        ends = "{}"
    elif isinstance(value, list):
        names, inside = [""] * len(value), value
    flat = isinstance(value, list) and not any(isinstance(one, dict | list) for one in inside)
    if not inside or flat or (indent and len(line) < _LINE_WIDTH):
        return line
    deeper = indent + "  "
    parts = [f"{deeper}{name}{_laid_out(one, deeper)}" for name, one in zip(names, inside, strict=True)]
    return f"{ends[0]}\n" + ",\n".join(parts) + f"\n{indent}{ends[1]}"


def checksum(content: dict[str, Any]) -> str:
    """Return the SHA-256 of the values of a JSON object, however they are spelled."""
    return f"sha256:{hashlib.sha256(_canonical(content).encode()).hexdigest()}"


def _canonical(value: Any) -> str:
    """Spell a JSON value in one way: keys sorted, numbers as integers or as hexadecimal floats."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{_canonical(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else value.hex()
    return json.dumps(value)


# --- reading


def load(path: str | os.PathLike[str]) -> Policy:
    """Read a policy from a file, or from standard input."""
    name = os.fspath(path)
    try:
        if name == "-":
            data = sys.stdin.buffer.read(LARGEST_FILE + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise file_errors.missing_file(path=name) from None
    except (OSError, ValueError) as error:
        _refuse(name, getattr(error, "strerror", None) or str(error))
    if len(data) > LARGEST_FILE:
        _refuse(name, f"It has more than {LARGEST_FILE:,} bytes")
    return from_dict(_parsed(data, name), name)


def _parsed(data: bytes, path: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                _refuse(path, f"It has the field {name[:100]!r} twice")
            found[name] = value
        return found

    def refuse(number: str) -> NoReturn:
        _refuse(path, f"It has the number {number}, which JSON does not know")

    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=once, parse_constant=refuse)
    except CutpointError:
        raise
    except UnicodeDecodeError:
        _refuse(path, "It is not UTF-8 text")
    except RecursionError:
        _refuse(path, "It is nested too deeply")
    except ValueError as error:
        _refuse(path, f"It is not JSON: {error}")


def from_dict(content: Any, path: str) -> Policy:
    """Check a JSON form from its outside to its inside, and return the policy."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        _refuse(path, f"Its 'format' is not {FORMAT!r}", "`cutpoints find ... --policy FILE` writes one.")
    version = content.get("version")
    if version != VERSION or isinstance(version, bool):
        by = content.get("library")
        _refuse(
            path,
            f"Its format version is {shown(version)}; this library reads version {VERSION}",
            f"it was written by {by}: use that version or a newer one."
            if is_text(by) and by.isprintable()
            else "use a newer version of cutpoints.",
        )
    try:
        file: PolicyFile = kind_of(PolicyFile).read(content, "")
    except FieldError as error:
        _refuse(path, str(error))
    except CutpointError as error:  # a rule that cannot be: cutpoints that descend, a segment twice
        _refuse(path, _sentence(error))
    stated = content["checksum"]
    if stated != checksum({name: value for name, value in content.items() if name != "checksum"}):
        _refuse(
            path,
            "Its content does not match its checksum, so it was changed after it was saved",
            "take the original; to change a policy on purpose, build it with cutpoints.Policy and save it.",
        )
    for reason in () if file.found_on is None else _contradictions(file.rule, file.found_on):
        _refuse(path, reason)
    try:
        return Policy(**{field.name: getattr(file, field.name) for field in dataclasses.fields(Policy)})
    except CutpointError as error:
        _refuse(path, _sentence(error))


def _sentence(error: CutpointError) -> str:
    return str(error).splitlines()[0].rstrip(".")


def _refuse(path: str, reason: str, hint: str | None = None) -> NoReturn:
    usual = "take the file as `Policy.save` or `cutpoints find --policy` wrote it."
    raise InvalidInputError(f"{file_words(path)} must be a policy file. {reason}.", hint=hint or usual)


# --- whether the numbers agree with each other


def _contradictions(rule: Rule, found: FoundOn) -> Iterator[str]:
    """Yield what cannot be true at the same time, the outside first."""
    if isinstance(rule, OrdinalRule):
        size = len(rule.classes)
        for name, matrix in (("confusion_matrix", found.confusion_matrix), ("costs", found.costs)):
            if matrix is not None and [len(row) for row in matrix] != [size] * size:
                yield f"Its {name} has not one row and one column for each of {size} classes"
        return
    counts, positives, negatives = found.confusion, found.positives, found.negatives
    if counts is None or positives is None or negatives is None:
        yield "Its 'found_on' has no confusion"
        return
    if isinstance(rule, BandRule):  # its confusion is that of the automatic decisions
        left = found.review
        reviewed = (0, 0) if left is None else (left.positives, left.reviewed - left.positives)
        adds_up = _adds_up((counts.tp, counts.fn, reviewed[0]), positives)
        if not (adds_up and _adds_up((counts.fp, counts.tn, reviewed[1]), negatives)):
            yield "Its confusion does not add up: automatic decisions and reviews are not all rows"
        return
    if not _adds_up((counts.tp, counts.fn), positives):
        yield "Its confusion does not add up: tp + fn is not the number of positives"
    if not _adds_up((counts.fp, counts.tn), negatives):
        yield "Its confusion does not add up: fp + tn is not the number of negatives"
    if isinstance(rule, ThresholdRule):
        yield from _contradictions_of_threshold(rule.threshold, found, counts, (positives, negatives))
        return
    keys: list[Any] = (
        [one.key for one in rule.segments]
        if isinstance(rule, SegmentRule)
        else [(one.label,) for one in rule.labels]
    )
    if found.segments and [one.key for one in found.segments] != keys:
        yield "The segments of 'found_on' are not those of its rule"
    for name, total in counts.to_dict().items():
        parts = tuple(getattr(one.confusion, name) for one in found.segments)
        if parts and not _adds_up(parts, total):
            yield f"The confusions of its segments do not add up to {name}"


def _contradictions_of_threshold(
    threshold: float, found: FoundOn, counts: Confusion, totals: tuple[float, float]
) -> Iterator[str]:
    if found.interval is None:
        return
    low, high = found.interval
    if not (low < threshold <= high or low == threshold == high):  # nothing is below a lowest score of -inf
        yield "Its threshold does not lie in its interval"
    spread = found.distribution
    if spread is None:
        return
    if any(a >= b for a, b in pairwise(spread.edges)):
        yield "The edges of its distribution do not ascend"
    for side, masses, total, called, above in (
        ("positives", spread.positives, totals[0], "tp", counts.tp),
        ("negatives", spread.negatives, totals[1], "fp", counts.fp),
    ):
        if len(masses) != len(spread.edges) + 1 or not _adds_up(masses, total):
            yield f"The buckets of its distribution do not add up to the number of {side}"
        if threshold in spread.edges and not _adds_up(masses[spread.edges.index(threshold) + 1 :], above):
            yield f"The buckets of its distribution do not agree with {called} at the threshold"


def _adds_up(parts: tuple[int | float, ...], whole: float) -> bool:
    total = sum(parts)
    if isinstance(total, int) and isinstance(whole, int):
        return total == whole
    return math.isclose(total, whole, rel_tol=_SUM_ERROR, abs_tol=_SUM_ERROR)

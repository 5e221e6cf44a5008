"""JSON lines, line by line: the text of each object stays as it is, the decision is put at its end."""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data import file_errors
from cutpoints._data.formats import _lines, layout_of
from cutpoints._policy.decisions import check_key_types, name_taken
from cutpoints._policy.files import Applied
from cutpoints._policy.rules import key_type
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Decision, Missing


def apply_lines(
    policy: Policy, files: Sequence[Any], beside: Path, *, columns: Sequence[Any], missing: Missing
) -> Applied:
    """Write each object with its decisions; memory for one line. Return what became of the rows."""
    counts = {one.new: dict.fromkeys(one.decision.values, 0) for one in columns}
    rows = absent = unknown = 0
    first_absent: tuple[str, int] | None = None
    first_unknown: tuple[Any, int] | None = None
    # By its ending, which the file beside the output has too.
    target = gzip.open if beside.name.endswith(".gz") else open
    with target(beside, "wt", encoding="utf-8", newline="\n") as out:
        for text, content in _objects(files):
            added = []
            for one in columns:
                if one.new in content:
                    raise name_taken(one.new, "apply", "the input")
                number = _number(content.get(one.score), one.score, rows, single=policy.dtype == "float32")
                if number != number:
                    decision = policy.rule.missing.get(missing)
                    absent += 1
                    first_absent = first_absent or (one.score, rows)
                else:
                    key = _key(one.decision, content)
                    decision = one.decision.at(number, key)
                    if decision is None:
                        unknown += 1
                        first_unknown = first_unknown or (key, rows)
                if decision is not None:
                    counts[one.new][decision] += 1
                added.append(f"{json.dumps(one.new)}: {json.dumps(decision)}")
            rows += 1
            comma = ", " if content else ""
            out.write(f"{text[:-1].rstrip()}{comma}{', '.join(added)}}}\n")
    if first_absent is not None and missing == "error":
        name, first = first_absent
        raise InvalidInputError.nan_scores(name=name, count=absent, rows=rows, first=first)
    if first_unknown is not None and policy.rule.unknown == "error":
        key, first = first_unknown
        by = columns[0].decision.by
        raise InvalidInputError.unknown_segments(by=by, key=key, count=unknown, rows=rows, first=first)
    return Applied("", rows, counts, absent, unknown)


def _number(value: Any, name: str, row: int, *, single: bool) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise file_errors.not_numbers(name=name, value=value, count=1, first=row)
    return float(np.float32(value)) if single else value


def _key(decision: Decision, content: dict[str, Any]) -> tuple[Any, ...]:
    """Return the key of an object; raise if it is of another type than the policy's."""
    key = tuple(None if content.get(name) != content.get(name) else content.get(name) for name in decision.by)
    for part, own in zip(key, decision.types, strict=True):
        if part is not None and own not in (None, key_type(part)):
            check_key_types(decision, [set() if one is None else {key_type(one)} for one in key], "apply")
    return key


def _objects(files: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the text and the content of each line that is not blank."""
    for file in files:
        with _lines(file.path, layout_of(file).compression) as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                    if not text:
                        continue
                    content = json.loads(text)
                    if not isinstance(content, dict):
                        raise TypeError
                except (ValueError, TypeError, RecursionError) as error:
                    raise file_errors.unreadable(
                        path=file.shown,
                        form="JSON lines",
                        reason=f"Line {number} is not a JSON object",
                        hint='each line must be one object, such as {"p": 0.9}.',
                    ) from error
                yield text, content

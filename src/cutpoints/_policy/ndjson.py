"""JSON lines, line by line: the text of each object stays as it is, the decision is put at its end."""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.formats import _lines, layout_of
from cutpoints._policy.decisions import name_taken
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cutpoints._policy.policy import Missing, Policy


def apply_lines(
    policy: Policy, files: Sequence[Any], beside: Path, *, score: str, column: str, missing: Missing
) -> tuple[int, int, int, int]:
    """Write each object with its decision; memory for one line. Return rows and what became of them."""
    rows = positive = negative = absent = 0
    first = -1
    key = json.dumps(column)
    single = policy.dtype == "float32"
    # By its ending, which the file beside the output has too.
    target = gzip.open if beside.name.endswith(".gz") else open
    with target(beside, "wt", encoding="utf-8", newline="\n") as out:
        for text, content in _objects(files):
            if column in content:
                raise name_taken(column, "apply", "the input")
            value = content.get(score)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise InvalidInputError.not_numbers(name=score, value=value, count=1, first=rows)
            number = math.nan if value is None else float(np.float32(value)) if single else value
            decision: int | None = int(number >= policy.threshold)
            if number != number:
                decision = {"positive": 1, "negative": 0}.get(missing)
                first = rows if absent == 0 else first
                absent += 1
            rows += 1
            positive += decision == 1
            negative += decision == 0
            comma = ", " if content else ""
            out.write(f"{text[:-1].rstrip()}{comma}{key}: {json.dumps(decision)}}}\n")
    if absent and missing == "error":
        raise InvalidInputError.nan_scores(name=score, count=absent, rows=rows, first=first)
    return rows, positive, negative, absent


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
                    raise InvalidInputError.unreadable(
                        path=file.shown,
                        form="JSON lines",
                        reason=f"Line {number} is not a JSON object",
                        hint='each line must be one object, such as {"p": 0.9}.',
                    ) from error
                yield text, content

"""The JSON form of a policy, version 1: written exactly, and believed only after it was checked.

Every number is checked twice: the threshold stands there as a decimal and as a hexadecimal float,
and the checksum covers the whole content. It is taken over the *values*, so a file that another
program has laid out anew, `1.0` as `1` or `0.1` as `1e-1`, is still the same; one in which a digit
was lost is not. A checksum finds accidents and careless edits. It is no signature: who wants to
forge a policy can compute it too.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from cutpoints._atomic import replaced
from cutpoints._policy.policy import LONGEST, MISSING, Policy
from cutpoints._policy.record import Distribution, FoundOn
from cutpoints._result import Certificate, Confusion, Guarantee, Interval, json_number
from cutpoints.exceptions import CutpointError, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT, VERSION = "cutpoints policy", 1
LARGEST_FILE = 1 << 20
"""A policy has a few kilobytes; what has more than a megabyte is none."""
_ONE = r'(?:[-+\d.eE]+|"-?inf")'
_LIST = re.compile(rf"\[\n\s+{_ONE}(?:,\n\s+{_ONE})*\n\s+\]")
_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_MASS_ROOM = 1e-9
"""Weights are rounded once each when they are written: so much may their sums be off, relatively."""


# --- writing


def to_dict(policy: Policy) -> dict[str, Any]:
    """Return the JSON form of a policy."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "name": policy.name,
        "rule": ">=",
        "threshold": json_number(policy.threshold),
        "threshold_hex": _hex(policy.threshold),
        "dtype": policy.dtype,
        "score": policy.score,
        "label": policy.label,
        "pos_label": policy.pos_label,
        "missing": policy.missing,
        "objective": policy.objective,
        "direction": policy.direction,
        "constraints": list(policy.constraints),
        "found_on": None if policy.found_on is None else policy.found_on.to_dict(),
        "created": policy.created,
        "library": policy.library,
    }
    return {**content, "checksum": checksum(content)}


def save(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write the JSON form, whole or not at all."""
    text = json.dumps(to_dict(policy), indent=2, ensure_ascii=False, allow_nan=False)
    # Numbers of a list on one line. A line end in a text is escaped, so no text is touched.
    text = _LIST.sub(
        lambda found: re.sub(r"\n\s*", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text
    )
    with replaced(path) as beside:
        beside.write_text(f"{text}\n", encoding="utf-8", newline="\n")


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


def _hex(threshold: float) -> str:
    return str(json_number(threshold)) if math.isinf(threshold) else threshold.hex()


# --- reading


def load(path: str | os.PathLike[str]) -> Policy:
    """Read a policy from a file, or from standard input."""
    shown = os.fspath(path)
    try:
        if shown == "-":
            data = sys.stdin.buffer.read(LARGEST_FILE + 1)
        elif Path(shown).is_dir():
            _refuse(shown, "It is a directory")
        else:
            with Path(shown).open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise InvalidInputError.missing_file(path=shown) from None
    except (OSError, ValueError) as error:
        if isinstance(error, CutpointError):
            raise
        _refuse(shown, getattr(error, "strerror", None) or str(error))
    if len(data) > LARGEST_FILE:
        _refuse(shown, f"It has more than {LARGEST_FILE:,} bytes")
    return from_dict(_parsed(data, shown), shown)


def _parsed(data: bytes, path: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                _refuse(path, f"It has the field {name!r} twice")
        return dict(pairs)

    def refuse(text: str) -> NoReturn:
        _refuse(path, f"It has the number {text}, which JSON does not know")

    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=once, parse_constant=refuse)
    except CutpointError:
        raise
    except UnicodeDecodeError:
        _refuse(path, "It is not UTF-8 text")
    except (ValueError, RecursionError) as error:
        reason = (
            "It is nested too deeply" if isinstance(error, RecursionError) else f"It is not JSON: {error}"
        )
        _refuse(path, reason)


def from_dict(content: Any, path: str) -> Policy:
    """Check a JSON form from its outside to its inside, and return the policy."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        _refuse(path, f"Its 'format' is not {FORMAT!r}", "`cutpoints find ... --policy FILE` writes one.")
    version = content.get("version")
    if version != VERSION or isinstance(version, bool):
        by = content.get("library")
        _refuse(
            path,
            f"Its format version is {version!r}; this library reads version {VERSION}",
            f"it was written by {by}: use that version or a newer one."
            if isinstance(by, str)
            else "use a newer version of cutpoints.",
        )
    try:
        _shape(content, _FIELDS, "")
    except (RecursionError, OverflowError) as error:
        _refuse(path, f"It cannot be read: {error}")
    except _FaultError as fault:
        _refuse(path, str(fault))
    stated = content["checksum"]
    if stated != checksum({name: value for name, value in content.items() if name != "checksum"}):
        _refuse(
            path,
            "Its content does not match its checksum, so it was changed after it was saved",
            "take the original; to change a policy on purpose, build it with cutpoints.Policy and save it.",
        )
    try:
        return _built(content)
    except _FaultError as fault:
        _refuse(path, str(fault))
    except CutpointError as error:
        _refuse(path, str(error).splitlines()[0].rstrip("."))


class _FaultError(Exception):
    """What is wrong with the content, without the name of the file."""


def _refuse(path: str, reason: str, hint: str | None = None) -> NoReturn:
    raise InvalidInputError.policy(path=path, reason=reason, hint=hint)


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _finite(value: Any) -> bool:
    """Whether a value is a number that float64 can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1 << 63 if isinstance(value, int) else math.isfinite(value)


def _number(value: Any) -> bool:
    return _finite(value) or (isinstance(value, str) and value in _INFINITE)


def _mass(value: Any) -> bool:
    return _finite(value) and value >= 0


def _list_of(kind: Callable[[Any], bool], most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) <= most and all(map(kind, value))


def _or_null(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or kind(value)


def _one_of(*allowed: Any) -> Callable[[Any], bool]:
    return lambda value: any(value is one or (value == one and isinstance(value, str)) for one in allowed)


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


# For each field what it must be, in words and as a test; or the fields of an object inside, which
# may be null if its name ends in "?".
_SHA = ("'sha256:' and 64 hexadecimal digits", _matches(r"sha256:[0-9a-f]{64}"))
_TEXT = ("a text or null", _or_null(_text))
_NUMBER = ("a number, 'inf' or '-inf'", _number)
_WHOLE = ("a whole number >= 0", _whole)
_MASS = ("a number >= 0", _mass)
_FIELDS: dict[str, Any] = {
    "format": (FORMAT, lambda value: value == FORMAT),
    "version": ("1", lambda value: value == VERSION),
    "name": _TEXT,
    "rule": ("'>='", _one_of(">=")),
    "threshold": _NUMBER,
    "threshold_hex": ("a hexadecimal float, 'inf' or '-inf'", _text),
    "dtype": ("'float64' or 'float32'", _one_of("float64", "float32")),
    "score": _TEXT,
    "label": _TEXT,
    "pos_label": ("a text, a number or a boolean", lambda v: _text(v) or _finite(v) or isinstance(v, bool)),
    "missing": (f"one of {', '.join(map(repr, MISSING))}", _one_of(*MISSING)),
    "objective": _TEXT,
    "direction": ("'maximize', 'minimize' or null", _one_of("maximize", "minimize", None)),
    "constraints": ("a list of texts", _list_of(_text, 1000)),
    "found_on?": {
        "status": ("a text", _text),
        "value": _NUMBER,
        "interval": {"low": _NUMBER, "high": _NUMBER},
        "confusion": {"tp": _MASS, "fp": _MASS, "fn": _MASS, "tn": _MASS},
        "rows": _WHOLE,
        "positives": _MASS,
        "negatives": _MASS,
        "certificate": {
            "method": ("a text", _text),
            "lower": _NUMBER,
            "upper": _NUMBER,
            "passes": _WHOLE,
            "rows_examined": _WHOLE,
        },
        "guarantee?": {
            "confidence": ("a number or 'expectation'", lambda v: _finite(v) or v == "expectation"),
            "method": ("a text", _text),
            "pilot_rows": _WHOLE,
            "calibration_rows": _WHOLE,
            "tested": _WHOLE,
            "certified": _WHOLE,
            "more_rows": ("a whole number >= 0 or null", _or_null(_whole)),
        },
        "fingerprint": (_SHA[0] + ", or null", _or_null(_SHA[1])),
        "distribution?": {
            "edges": ("a list of at most 1,000 numbers", _list_of(_number, 1000)),
            "positives": ("a list of at most 1,001 numbers >= 0", _list_of(_mass, 1001)),
            "negatives": ("a list of at most 1,001 numbers >= 0", _list_of(_mass, 1001)),
        },
    },
    "created": (
        "a time such as '2026-01-31T12:00:00Z', or null",
        _or_null(_matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")),
    ),
    "library": _TEXT,
    "checksum": _SHA,
}


def _shape(content: Any, fields: dict[str, Any], place: str) -> None:
    """Raise for a field that is missing, unknown or of the wrong kind."""
    if not isinstance(content, dict):
        msg = f"Its field '{place.rstrip('.')}' must be an object"
        raise _FaultError(msg)
    names = {name.removesuffix("?"): rule for name, rule in fields.items()}
    for name in names:
        if name not in content:
            msg = f"The field '{place}{name}' is missing"
            raise _FaultError(msg)
    for name, value in content.items():
        if name not in names:
            msg = f"It has the unknown field '{place}{name[:100]}'"
            raise _FaultError(msg)
        rule = names[name]
        if isinstance(rule, dict):
            if value is not None or f"{name}?" not in fields:
                _shape(value, rule, f"{place}{name}.")
        elif not rule[1](value):
            shown = json.dumps(value)
            shown = shown if len(shown) < 60 else shown[:57] + "..."
            msg = f"Its field '{place}{name}' must be {rule[0]}, and is {shown}"
            raise _FaultError(msg)


# --- content -> policy


def _built(content: dict[str, Any]) -> Policy:
    threshold = _float(content["threshold"])
    if content["threshold_hex"] != _hex(threshold + 0.0):
        msg = f"Its threshold is {threshold!r} in one place and {content['threshold_hex']} in another"
        raise _FaultError(msg)
    if content["dtype"] == "float32":
        import numpy as np

        if float(np.float32(threshold)) != threshold:
            msg = f"Its threshold {threshold!r} is not a float32, and its scores are"
            raise _FaultError(msg)
    told = content["found_on"]
    plain = ("name", "dtype", "score", "label", "pos_label", "missing", "objective", "direction")
    return Policy(
        threshold,
        **{name: content[name] for name in plain},
        constraints=tuple(content["constraints"]),
        found_on=None if told is None else _found_on(told, threshold),
        created=content["created"],
        library=content["library"],
    )


def _found_on(told: dict[str, Any], threshold: float) -> FoundOn:
    counts, proof = told["confusion"], told["certificate"]
    for whole, parts in (("positives", ("tp", "fn")), ("negatives", ("fp", "tn"))):
        if not _adds_up([counts[part] for part in parts], told[whole]):
            msg = f"Its confusion does not add up: {' + '.join(parts)} is not the number of {whole}"
            raise _FaultError(msg)
    interval = Interval(_float(told["interval"]["low"]), _float(told["interval"]["high"]))
    # A lowest score of -inf has nothing below it.
    if not (interval.low < threshold <= interval.high or interval == (threshold, threshold)):
        msg = "Its threshold does not lie in its interval"
        raise _FaultError(msg)
    return FoundOn(
        status=told["status"],
        value=_float(told["value"]),
        interval=interval,
        confusion=Confusion(**counts),
        rows=told["rows"],
        positives=told["positives"],
        negatives=told["negatives"],
        certificate=Certificate(
            proof["method"],
            _float(proof["lower"]),
            _float(proof["upper"]),
            proof["passes"],
            proof["rows_examined"],
        ),
        guarantee=None if told["guarantee"] is None else Guarantee(**told["guarantee"]),
        fingerprint=told["fingerprint"],
        distribution=None if told["distribution"] is None else _distribution(told, threshold),
    )


def _distribution(told: dict[str, Any], threshold: float) -> Distribution:
    spread, counts = told["distribution"], told["confusion"]
    edges = tuple(_float(edge) for edge in spread["edges"])
    if any(a >= b for a, b in pairwise(edges)):
        msg = "The edges of its distribution do not ascend"
        raise _FaultError(msg)
    for side, called in (("positives", "tp"), ("negatives", "fp")):
        masses = spread[side]
        if len(masses) != len(edges) + 1 or not _adds_up(masses, told[side]):
            msg = f"The buckets of its distribution do not add up to the number of {side}"
            raise _FaultError(msg)
        if threshold in edges and not _adds_up(masses[edges.index(threshold) + 1 :], counts[called]):
            msg = f"The buckets of its distribution do not agree with {called} at the threshold"
            raise _FaultError(msg)
    return Distribution(edges, tuple(spread["positives"]), tuple(spread["negatives"]))


def _adds_up(parts: list[Any], whole: Any) -> bool:
    if all(isinstance(part, int) for part in [*parts, whole]):
        return bool(sum(parts) == whole)
    return math.isclose(math.fsum(parts), whole, rel_tol=_MASS_ROOM, abs_tol=_MASS_ROOM)


def _float(value: Any) -> float:
    return _INFINITE[value] if isinstance(value, str) else float(value)

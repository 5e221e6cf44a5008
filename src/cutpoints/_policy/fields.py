"""What the fields of a policy may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from cutpoints._policy.typed_json import TEXT, is_finite, is_text
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._policy.policy import Policy

Missing = Literal["error", "negative", "positive", "review", "keep"]
Dtype = Literal["float64", "float32"]
Direction = Literal["maximize", "minimize"]


def check_fields(policy: Policy, missing: tuple[str, ...]) -> None:
    """Raise for anything that cannot be meant; `missing` is what can be made of missing scores."""

    def check(field: str, *, holds: bool, must_be: str) -> None:
        if not holds:
            got = getattr(policy, field)
            raise InvalidParameterError(field, caller="Policy", expected=must_be, got=got)

    for field in ("score", "label", "name", "description", "objective", "created", "library"):
        value = getattr(policy, field)
        check(field, holds=value is None or is_text(value), must_be=TEXT)
    label = policy.pos_label
    fine = is_text(label) or isinstance(label, bool) or (is_finite(label) and abs(label) < 1 << 63)
    check("pos_label", holds=fine, must_be=f"{TEXT}, a number below 2**63 or a boolean")
    choices = {"missing": missing, "dtype": get_args(Dtype), "direction": (*get_args(Direction), None)}
    for field, allowed in choices.items():
        fine = getattr(policy, field) in allowed
        check(field, holds=fine, must_be=f"one of {', '.join(map(repr, allowed))}")
    if policy.dtype == "float32":
        _check_float32(policy)
    held = policy.constraints
    fine = not isinstance(held, str) and all(isinstance(one, str) for one in held)
    check("constraints", holds=fine, must_be="a tuple of strings such as 'precision >= 0.95'")
    both = (policy.objective is None) == (policy.direction is None)
    check("direction", holds=both, must_be="given together with 'objective'")


def _check_float32(policy: Policy) -> None:
    for decision in policy.rule.decisions():
        for edges in (*decision.segments.values(), decision.otherwise or ()):
            with np.errstate(over="ignore"):
                wrong = [edge for edge in edges if float(np.float32(edge)) != edge]
            if wrong:
                raise InvalidParameterError(
                    "threshold",
                    caller="Policy",
                    expected="a float32, as dtype says",
                    got=wrong[0],
                    hint="pass float(numpy.float32(threshold)).",
                )

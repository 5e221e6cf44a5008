"""The rule as a Python function that needs nothing but Python."""

from __future__ import annotations

import builtins
import keyword
import math
from typing import TYPE_CHECKING

from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._policy.policy import Missing

_TEMPLATE = '''\
def {function}(score):
    """Return 1 if score >= {shown}, else 0; a list of scores gives a list. {about}"""
    if isinstance(score, (list, tuple)):
        return [{function}(one) for one in score]
    if score is None or score != score:
        {absent}
    return 1 if score >= {threshold} else 0
'''
_ABSENT = {
    "error": ('raise ValueError("missing score")', "None and NaN are an error."),
    "positive": ("return 1", "None and NaN give 1."),
    "negative": ("return 0", "None and NaN give 0."),
    "keep": ("return None", "None and NaN give None."),
}


def to_python(threshold: float, function: str, missing: Missing) -> str:
    """Return the source text; the threshold is a hexadecimal float, which cannot be rounded."""
    named = isinstance(function, str) and function.isidentifier()
    # The source calls `float` and `isinstance`, and a variable is called `score`.
    taken = named and (keyword.iskeyword(function) or hasattr(builtins, function) or function == "score")
    if not named or taken:
        raise InvalidParameterError.of(
            parameter="function",
            caller="to_python",
            must_be="a name for a Python function that Python does not use itself",
            got=function,
            hint="for example function='is_fraud'.",
        )
    absent, about = _ABSENT[missing]
    return _TEMPLATE.format(
        function=function,
        shown=repr(threshold),
        about=about,
        absent=absent,
        threshold=f'float("{threshold}")' if math.isinf(threshold) else f'float.fromhex("{threshold.hex()}")',
    )

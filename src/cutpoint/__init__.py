"""Find the decision threshold of a classifier that is best for a goal, and prove it.

>>> import cutpoint as cp
>>> cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1").threshold
0.35
"""

from typing import Any

from cutpoint import metrics
from cutpoint._version import __version__
from cutpoint.curve import Curve, curve
from cutpoint.find import counted, find
from cutpoint.solution import Confusion, Solution

# Loaded when first used, because they load more than NumPy: name -> room. A function that is named
# like its room must be imported above instead: importing the room would hide it.
_LATER: dict[str, str] = {}

__all__ = [
    "Confusion",
    "Curve",
    "Solution",
    "__version__",
    "counted",
    "curve",
    "find",
    "metrics",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        msg = f"module 'cutpoint' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    room = import_module(_LATER[name])
    return getattr(room, name, room)


def __dir__() -> list[str]:
    return __all__

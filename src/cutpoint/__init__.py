"""Find the decision threshold of a classifier that is best for a goal, and prove it.

>>> import cutpoint as cp
>>> cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1").threshold
0.35
"""

import sys
from types import ModuleType
from typing import Any

from cutpoint import metrics
from cutpoint._version import __version__
from cutpoint.find import counted, find
from cutpoint.solution import Confusion, Solution

# Loaded when first used, so that `import cutpoint` costs little more than NumPy: name -> room.
_LATER: dict[str, str] = {
    "Calibration": "cutpoint.calibration",
    "Curve": "cutpoint.curve",
    "CutpointClassifier": "cutpoint.estimator",
    "ExpectedSolution": "cutpoint.expected",
    "LeakageWarning": "cutpoint.estimator",
    "Population": "cutpoint.expected.population",
    "Theory": "cutpoint.expected.theory",
    "adjust_prior": "cutpoint.calibration",
    "assess": "cutpoint.assess",
    "bayes_threshold": "cutpoint.expected.theory",
    "calibration": "cutpoint.calibration",
    "check_threshold": "cutpoint.calibration",
    "compare": "cutpoint.compare",
    "curve": "cutpoint.curve",
    "estimate_prevalence": "cutpoint.calibration",
    "evaluate": "cutpoint.evaluate",
    "expected_curve": "cutpoint.expected",
    "find_expected": "cutpoint.expected",
    "ilp": "cutpoint.ilp",
    "nested": "cutpoint.assess.nested",
    "recalibrate": "cutpoint.calibration",
    "reliability_curve": "cutpoint.calibration",
    "scorer": "cutpoint.estimator",
    "theory_of": "cutpoint.expected.theory",
}

__all__ = [
    "Calibration",
    "Confusion",
    "Curve",
    "CutpointClassifier",
    "ExpectedSolution",
    "LeakageWarning",
    "Population",
    "Solution",
    "Theory",
    "__version__",
    "adjust_prior",
    "assess",
    "bayes_threshold",
    "calibration",
    "check_threshold",
    "compare",
    "counted",
    "curve",
    "estimate_prevalence",
    "evaluate",
    "expected_curve",
    "find",
    "find_expected",
    "ilp",
    "metrics",
    "nested",
    "recalibrate",
    "reliability_curve",
    "scorer",
    "theory_of",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        msg = f"module 'cutpoint' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    room = import_module(_LATER[name])
    return getattr(room, name, room)


class _Facade(ModuleType):
    """The package itself: a function keeps its name when the room of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and hasattr(value, name) and name in _LATER):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade


def __dir__() -> list[str]:
    return __all__

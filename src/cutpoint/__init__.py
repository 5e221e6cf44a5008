"""Find the decision threshold of a classifier that is best for a goal, and prove it.

>>> import cutpoint as cp
>>> cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1").threshold
0.35
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from cutpoint._version import __version__

if TYPE_CHECKING:
    from cutpoint import exceptions, ilp, metrics, plots
    from cutpoint.assess import assess
    from cutpoint.assess.nested import nested
    from cutpoint.calibration import (
        Calibration,
        adjust_prior,
        calibration,
        check_threshold,
        estimate_prevalence,
        recalibrate,
        reliability_curve,
    )
    from cutpoint.compare import compare
    from cutpoint.curve import Curve, curve
    from cutpoint.estimator import CutpointClassifier, LeakageWarning, scorer
    from cutpoint.evaluate import evaluate
    from cutpoint.expected import ExpectedSolution, expected_curve, find_expected
    from cutpoint.expected.population import Population
    from cutpoint.expected.theory import Theory, bayes_threshold, theory_of
    from cutpoint.find import counted, find
    from cutpoint.policy import Policy
    from cutpoint.report import Report, report
    from cutpoint.segments import Segments
    from cutpoint.sketch import Sketch
    from cutpoint.solution import Confusion, Solution

# Loaded when first used, so that `import cutpoint` costs next to nothing: name -> room.
_LATER: dict[str, str] = {
    "Calibration": "cutpoint.calibration",
    "Confusion": "cutpoint.solution",
    "Curve": "cutpoint.curve",
    "CutpointClassifier": "cutpoint.estimator",
    "ExpectedSolution": "cutpoint.expected",
    "LeakageWarning": "cutpoint.estimator",
    "Policy": "cutpoint.policy",
    "Population": "cutpoint.expected.population",
    "Report": "cutpoint.report",
    "Segments": "cutpoint.segments",
    "Sketch": "cutpoint.sketch",
    "Solution": "cutpoint.solution",
    "Theory": "cutpoint.expected.theory",
    "adjust_prior": "cutpoint.calibration",
    "assess": "cutpoint.assess",
    "bayes_threshold": "cutpoint.expected.theory",
    "calibration": "cutpoint.calibration",
    "check_threshold": "cutpoint.calibration",
    "compare": "cutpoint.compare",
    "counted": "cutpoint.find",
    "curve": "cutpoint.curve",
    "estimate_prevalence": "cutpoint.calibration",
    "evaluate": "cutpoint.evaluate",
    "exceptions": "cutpoint.exceptions",
    "expected_curve": "cutpoint.expected",
    "find": "cutpoint.find",
    "find_expected": "cutpoint.expected",
    "ilp": "cutpoint.ilp",
    "metrics": "cutpoint.metrics",
    "nested": "cutpoint.assess.nested",
    "plots": "cutpoint.plots",
    "recalibrate": "cutpoint.calibration",
    "reliability_curve": "cutpoint.calibration",
    "report": "cutpoint.report",
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
    "Policy",
    "Population",
    "Report",
    "Segments",
    "Sketch",
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
    "exceptions",
    "expected_curve",
    "find",
    "find_expected",
    "ilp",
    "metrics",
    "nested",
    "plots",
    "recalibrate",
    "reliability_curve",
    "report",
    "scorer",
    "theory_of",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        msg = f"module 'cutpoint' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    room = import_module(_LATER[name])
    value = globals()[name] = getattr(room, name, room)
    return value


def __dir__() -> list[str]:
    return __all__


class _Facade(ModuleType):
    """The package itself: a function keeps its name when the room of the same name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and hasattr(value, name) and name in _LATER):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade

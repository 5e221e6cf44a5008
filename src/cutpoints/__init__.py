"""Find the decision threshold of a classifier that is best for a goal, and prove it.

>>> import cutpoints as cp
>>> cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1").threshold
0.35
"""

from typing import TYPE_CHECKING, Any

from cutpoints._version import __version__

if TYPE_CHECKING:
    from cutpoints import exceptions, ilp, metrics, plots
    from cutpoints._assess import assess
    from cutpoints._calibration import (
        Calibration,
        adjust_prior,
        calibration,
        check_threshold,
        estimate_prevalence,
        recalibrate,
        reliability_curve,
    )
    from cutpoints._compare import compare
    from cutpoints._curve import Curve, curve
    from cutpoints._evaluate import evaluate
    from cutpoints._expected import ExpectedSolution, expected_curve, find_expected
    from cutpoints._expected.population import Population
    from cutpoints._expected.theory import Theory, bayes_threshold, theory_of
    from cutpoints._find import counted, find
    from cutpoints._policy import Policy
    from cutpoints._report import Report, report
    from cutpoints._result import Confusion, Solution
    from cutpoints._segments import Segments
    from cutpoints._sketch import Sketch
    from cutpoints._sklearn.estimator import CutpointClassifier, LeakageWarning, scorer
    from cutpoints._sklearn.nested import nested

# Loaded when first used, so that `import cutpoints` costs next to nothing: name -> room.
_LATER: dict[str, str] = {
    "Calibration": "cutpoints._calibration",
    "Confusion": "cutpoints._result",
    "Curve": "cutpoints._curve",
    "CutpointClassifier": "cutpoints._sklearn.estimator",
    "ExpectedSolution": "cutpoints._expected",
    "LeakageWarning": "cutpoints._sklearn.estimator",
    "Policy": "cutpoints._policy",
    "Population": "cutpoints._expected.population",
    "Report": "cutpoints._report",
    "Segments": "cutpoints._segments",
    "Sketch": "cutpoints._sketch",
    "Solution": "cutpoints._result",
    "Theory": "cutpoints._expected.theory",
    "adjust_prior": "cutpoints._calibration",
    "assess": "cutpoints._assess",
    "bayes_threshold": "cutpoints._expected.theory",
    "calibration": "cutpoints._calibration",
    "check_threshold": "cutpoints._calibration",
    "compare": "cutpoints._compare",
    "counted": "cutpoints._find",
    "curve": "cutpoints._curve",
    "estimate_prevalence": "cutpoints._calibration",
    "evaluate": "cutpoints._evaluate",
    "exceptions": "cutpoints.exceptions",
    "expected_curve": "cutpoints._expected",
    "find": "cutpoints._find",
    "find_expected": "cutpoints._expected",
    "ilp": "cutpoints.ilp",
    "metrics": "cutpoints.metrics",
    "nested": "cutpoints._sklearn.nested",
    "plots": "cutpoints.plots",
    "recalibrate": "cutpoints._calibration",
    "reliability_curve": "cutpoints._calibration",
    "report": "cutpoints._report",
    "scorer": "cutpoints._sklearn.estimator",
    "theory_of": "cutpoints._expected.theory",
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
        msg = f"module 'cutpoints' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    room = import_module(_LATER[name])
    value = globals()[name] = getattr(room, name, room)
    return value


def __dir__() -> list[str]:
    return __all__

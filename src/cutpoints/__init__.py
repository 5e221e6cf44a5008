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
    from cutpoints._band import bayes_band, find_band
    from cutpoints._calibration import adjust_prior, calibration, estimate_prevalence, recalibrate
    from cutpoints._classes import bayes_decision, find_class_weights, find_ordinal
    from cutpoints._compare import compare
    from cutpoints._curve import curve
    from cutpoints._data.data import Data
    from cutpoints._data.read import from_counts, read
    from cutpoints._evaluate import evaluate, evaluate_classes
    from cutpoints._expected import find_expected
    from cutpoints._expected.gain import expected_gain
    from cutpoints._expected.population import Population
    from cutpoints._find import find, find_by
    from cutpoints._joint import find_joint, find_labels
    from cutpoints._policy import Policy
    from cutpoints._report import report
    from cutpoints._result import Confusion, Solution
    from cutpoints._sketch import Sketch
    from cutpoints._sklearn.estimator import CutpointClassifier
    from cutpoints._sklearn.nested import nested_cv
    from cutpoints._sklearn.scoring import scorer
    from cutpoints._theory import bayes_threshold

# Loaded when first used, so that `import cutpoints` costs next to nothing: module -> its public names.
_MODULES = {
    "_assess": ["assess"],
    "_band": ["bayes_band", "find_band"],
    "_calibration": ["adjust_prior", "calibration", "estimate_prevalence", "recalibrate"],
    "_classes": ["bayes_decision", "find_class_weights", "find_ordinal"],
    "_compare": ["compare"],
    "_curve": ["curve"],
    "_data.data": ["Data"],
    "_data.read": ["from_counts", "read"],
    "_evaluate": ["evaluate", "evaluate_classes"],
    "_expected": ["find_expected"],
    "_expected.gain": ["expected_gain"],
    "_expected.population": ["Population"],
    "_find": ["find", "find_by"],
    "_joint": ["find_joint", "find_labels"],
    "_policy": ["Policy"],
    "_report": ["report"],
    "_result": ["Confusion", "Solution"],
    "_sketch": ["Sketch"],
    "_sklearn.estimator": ["CutpointClassifier"],
    "_sklearn.nested": ["nested_cv"],
    "_sklearn.scoring": ["scorer"],
    "_theory": ["bayes_threshold"],
    "exceptions": ["exceptions"],
    "ilp": ["ilp"],
    "metrics": ["metrics"],
    "plots": ["plots"],
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Confusion", "CutpointClassifier", "Data", "Policy", "Population", "Sketch", "Solution", "__version__",
    "adjust_prior", "assess", "bayes_band", "bayes_decision", "bayes_threshold", "calibration", "compare",
    "curve", "estimate_prevalence", "evaluate", "evaluate_classes", "exceptions", "expected_gain", "find",
    "find_band", "find_by", "find_class_weights", "find_expected", "find_joint", "find_labels",
    "find_ordinal", "from_counts", "ilp", "metrics", "nested_cv", "plots", "read", "recalibrate", "report",
    "scorer",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        msg = f"module 'cutpoints' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    from cutpoints._extras import needs

    with needs(name):
        module = import_module(f"cutpoints.{_MODULE_OF[name]}")
    value = globals()[name] = getattr(module, name, module)
    return value


def __dir__() -> list[str]:
    return __all__

"""The rule for Python programs: a function that needs nothing but Python, and a scikit-learn classifier."""

from __future__ import annotations

import builtins
import keyword
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._extras import needs
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Decision, Edges, Missing

_ONE = '''\
def {function}(score):
    """Return {returns}; a list of scores gives a list. {about}"""
    if isinstance(score, (list, tuple)):
        return [{function}(one) for one in score]
    if score is None or score != score:
        {absent}
    return {steps}
'''
_SEGMENTS = '''\
{function}_table = {table}


def {function}(score, key):
    """Return 1 if score >= the threshold of the segment, else 0; lists of both give a list. {about}"""
    if isinstance(score, (list, tuple)):
        if len(score) != len(key):
            raise ValueError("as many keys as scores are needed")
        return [{function}(one, its) for one, its in zip(score, key)]
    parts = {parts}
    parts = tuple(None if part != part else part for part in parts)
    for part, type_ in zip(parts, {types}):
        if part is not None and (not isinstance(part, type_) or isinstance(part, bool) != (type_ is bool)):
            raise TypeError("a key must have the type that the policy has")
    if score is None or score != score:
        {absent}
    if parts not in {function}_table:
        {unknown}
    return 1 if score >= {function}_table[parts] else 0
'''
_LABELS = '''\
{function}_labels = {labels}


def {function}(scores):
    """Return a decision for each of {function}_labels, by the scores of one row in this order. {about}"""
    if len(scores) != len({function}_labels):
        raise ValueError("one score per label is needed")
    made = []
    for score, (label, threshold) in zip(scores, {function}_labels):
        made.append({function}_one(score, threshold))
    return made


def {function}_one(score, threshold):
    if score is None or score != score:
        {absent}
    return 1 if score >= threshold else 0
'''
_TYPES = {"text": "str", "boolean": "bool", "number": "(int, float)", None: "object"}


def to_python(policy: Policy, function: str, missing: Missing) -> str:
    """Return the source text; thresholds are hexadecimal floats, which cannot be rounded."""
    named = isinstance(function, str) and function.isidentifier()
    # The source calls `float` and `isinstance`, and variables are called `score` and the like.
    own = ("score", "scores", "key", "parts", "part", "type_", "one", "its", "made", "label", "threshold")
    taken = named and (keyword.iskeyword(function) or hasattr(builtins, function) or function in own)
    if not named or taken:
        raise InvalidParameterError(
            "function",
            caller="to_python",
            expected="a name for a Python function that Python does not use itself",
            got=function,
            hint="for example function='is_fraud'.",
        )
    outcome = policy.rule.missing.get(missing)
    absent = 'raise ValueError("missing score")' if missing == "error" else f"return {outcome!r}"
    about = "None and NaN are an error." if missing == "error" else f"None and NaN give {outcome!r}."
    decisions = policy.rule.decisions()
    first = decisions[0]
    shared = {"function": function, "absent": absent, "about": about}
    if first.label is not None:
        pairs = [f"({one.label!r}, {_float(one.otherwise[0])})" for one in decisions if one.otherwise]
        return _LABELS.format(labels=_lines("(", pairs, ")"), **shared)
    if not first.by:
        assert first.otherwise is not None
        return _ONE.format(returns=_words(first), steps=_steps(first, first.otherwise), **shared)
    table = [f"{key!r}: {_float(edges[0])}" for key, edges in first.segments.items()]
    types = ", ".join(_TYPES[one] for one in first.types)
    return _SEGMENTS.format(
        table=_lines("{", table, "}"),
        parts="(key,)" if len(first.by) == 1 else "tuple(key)",
        types=f"({types},)",
        unknown=_unknown(policy, first),
        **shared,
    )


def _unknown(policy: Policy, decision: Decision) -> str:
    if decision.otherwise is not None:
        return f"return {_steps(decision, decision.otherwise)}"
    return 'raise ValueError("unknown segment")' if policy.rule.unknown == "error" else "return None"


def _words(decision: Decision) -> str:
    assert decision.otherwise is not None
    pairs = reversed(list(zip(decision.otherwise, decision.values[1:], strict=True)))
    steps = [f"{_safe(value)} if score >= {edge!r}" for edge, value in pairs]
    return ", else ".join([*steps, _safe(decision.values[0])])


def _safe(value: Any) -> str:
    """Return a value for a docstring, which it cannot end."""
    return repr(value).replace("\\", "").replace('"', "")


def _steps(decision: Decision, edges: Edges) -> str:
    pairs = reversed(list(zip(edges, decision.values[1:], strict=True)))
    steps = [f"{value!r} if score >= {_float(edge)}" for edge, value in pairs]
    return " else ".join([*steps, repr(decision.values[0])])


def _float(x: float) -> str:
    return f'float("{x}")' if math.isinf(x) else f'float.fromhex("{x.hex()}")'


def _lines(first: str, items: list[str], last: str) -> str:
    return "\n".join([first, *(f"    {item}," for item in items), last])


# --- scikit-learn


def to_sklearn(policy: Policy, estimator: Any, response_method: str) -> Any:
    """Return a `FixedThresholdClassifier`; see `Policy.to_sklearn`."""
    with needs("to_sklearn"):
        from sklearn.exceptions import NotFittedError
        from sklearn.frozen import FrozenEstimator
        from sklearn.model_selection import FixedThresholdClassifier
        from sklearn.utils.validation import check_is_fitted

    threshold = policy.single("to_sklearn")
    if response_method not in ("auto", "predict_proba", "decision_function"):
        raise InvalidParameterError(
            "response_method",
            caller="to_sklearn",
            expected="'auto', 'predict_proba' or 'decision_function'",
            got=response_method,
        )
    if policy.missing in ("positive", "keep"):
        raise InvalidParameterError(
            "missing",
            caller="to_sklearn",
            expected="'error' or 'negative': scikit-learn calls a NaN negative",
            got=policy.missing,
        )
    if not hasattr(estimator, "predict_proba") and not hasattr(estimator, "decision_function"):
        raise InvalidParameterError(
            "estimator",
            caller="to_sklearn",
            expected="a classifier with predict_proba or decision_function",
            got=estimator,
        )
    spread = None if policy.found_on is None else policy.found_on.distribution
    ends = [threshold, *(() if spread is None else spread.edges)]
    beyond = any(not 0 <= end <= 1 for end in ends if np.isfinite(end))
    if response_method == "auto" and beyond and hasattr(estimator, "predict_proba"):
        raise InvalidParameterError(
            "response_method",
            caller="to_sklearn",
            expected="given: the policy's scores are no probabilities, and 'auto' means predict_proba",
            got=response_method,
            hint="response_method='decision_function'.",
        )
    try:
        check_is_fitted(estimator)
        fitted = True
    except NotFittedError:
        fitted = False
    classes = list(getattr(estimator, "classes_", [])) if fitted else []
    if fitted and (len(classes) != 2 or policy.pos_label not in classes):
        raise InvalidParameterError(
            "pos_label",
            caller="to_sklearn",
            expected=f"one of two classes, and those of the estimator are {classes}",
            got=policy.pos_label,
        )
    # As a NumPy float64: NumPy rounds a Python float to float32 beside scores of that type.
    return FixedThresholdClassifier(
        FrozenEstimator(estimator) if fitted else estimator,
        threshold=np.float64(threshold),
        pos_label=policy.pos_label,
        response_method=response_method,
    )

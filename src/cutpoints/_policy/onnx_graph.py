"""The rule as an ONNX graph, for services that run models with an ONNX runtime.

Scores are widened to float64 and compared with float64 thresholds, so the graph decides as `decide` does,
next to every threshold and for float32 scores too. ONNX has no null: what is an error makes the run fail, by
an index that is out of range on purpose, and decisions that would be missing cannot be had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._extras import needs
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Decision, Missing

_OPSETS = {"": 17, "ai.onnx.ml": 3}
"""Old enough for runtimes of 2022, new enough to compare doubles."""
_IR = 8


class _Graph:
    """Nodes and constants, each named after what it is."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name


def to_onnx(policy: Policy, missing: Missing) -> Any:
    """Return the model; see `Policy.to_onnx`."""
    with needs("to_onnx"):
        from onnx import TensorProto, checker, helper

    decisions = policy.rule.decisions()
    first = decisions[0]
    _check(policy, first, missing)
    graph = _Graph()
    labels = first.label is not None
    shape: list[str | int | None] = ["rows", len(decisions)] if labels else ["rows"]
    type_ = TensorProto.FLOAT if policy.dtype == "float32" else TensorProto.DOUBLE
    inputs = [helper.make_tensor_value_info("score", type_, shape)]
    score = graph.node("Cast", ["score"], "wide_score", to=TensorProto.DOUBLE)
    unknown = None
    if first.by:
        edges, unknown = _edges_of_rows(policy, first, graph, inputs)
    else:
        each = [one.otherwise for one in decisions]
        edges = graph.constant("edges", np.array(each, dtype=np.float64).reshape(-1))
    if not labels:
        score = graph.node("Unsqueeze", [score, graph.constant("one", np.array([1]))], "column")
    reached = graph.node("GreaterOrEqual", [score, edges], "reached")
    index = graph.node("Cast", [reached], "reached_number", to=TensorProto.INT64)
    if not labels:
        index = graph.node("ReduceSum", [index, "one"], "edges_reached", keepdims=0)
    beyond = len(first.values)
    if unknown is not None:
        index = graph.node("Where", [unknown, graph.constant("fail", np.int64(beyond)), index], "known_only")
    value = policy.rule.missing.get(missing)
    for_missing = beyond if value is None else first.values.index(value)
    wide = graph.node("IsNaN", ["wide_score"], "missing")
    index = graph.node("Where", [wide, graph.constant("for_missing", np.int64(for_missing)), index], "index")
    texts = isinstance(first.values[0], str)
    numbers = np.array(first.values, dtype=object if texts else None)
    # A runtime names the node that fails.
    name = "missing score or unknown segment"
    graph.node("Gather", [graph.constant("values", numbers), index], "decision", name=name)
    kinds = {"O": TensorProto.STRING, "i": TensorProto.INT64, "f": TensorProto.DOUBLE}
    output = helper.make_tensor_value_info("decision", kinds[numbers.dtype.kind], shape)
    made = helper.make_graph(graph.nodes, "policy", inputs, [output], graph.constants)
    opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
    model = helper.make_model(made, opset_imports=opsets, ir_version=_IR, producer_name="cutpoints")
    model.doc_string = "\n".join(filter(None, [policy.name, policy.description]))
    checker.check_model(model, full_check=True)
    return model


def _check(policy: Policy, decision: Decision, missing: Missing) -> None:
    """Raise for what ONNX cannot say."""
    if missing == "keep":
        raise InvalidParameterError(
            "missing",
            caller="to_onnx",
            expected="a decision or 'error': ONNX has no missing values",
            got=missing,
        )
    if policy.rule.unknown == "keep":
        raise InvalidParameterError(
            "default",
            caller="to_onnx",
            expected="a threshold or 'error': ONNX has no missing values",
            got="keep",
        )
    for part in (part for key in decision.segments for part in key):
        if isinstance(part, float) and not part.is_integer():
            raise InvalidParameterError(
                "segments",
                caller="to_onnx",
                expected="strings, integers or booleans: ONNX looks up no other keys exactly",
                got=part,
            )


def _edges_of_rows(
    policy: Policy, decision: Decision, graph: _Graph, inputs: list[Any]
) -> tuple[str, str | None]:
    """Return the edges of each row's segment, and whether a segment is unknown if that is an error."""
    # ONNX has no null, so no row can have a missing key.
    known = {key: edges for key, edges in decision.segments.items() if None not in key}
    code = _codes(decision, list(known), graph, inputs)
    none = (np.inf,) * (len(decision.values) - 1)
    table = [*known.values(), none if decision.otherwise is None else decision.otherwise]
    edges = graph.node(
        "Gather", [graph.constant("edges", np.array(table, dtype=np.float64)), code], "edges_of_rows"
    )
    if policy.rule.unknown != "error":
        return edges, None
    last = graph.constant("unknown_code", np.int64(len(known)))
    return edges, graph.node("Equal", [code, last], "unknown")


def _codes(decision: Decision, keys: list[Any], graph: _Graph, inputs: list[Any]) -> str:
    """Return the number of each row's segment among the keys, and how many there are for unknown ones."""
    from onnx import TensorProto, helper

    types = {"text": TensorProto.STRING, "boolean": TensorProto.BOOL, "number": TensorProto.INT64}
    combined, numbers = "", {(): 0}
    for i, (name, own) in enumerate(zip(decision.by, decision.types, strict=True)):
        inputs.append(helper.make_tensor_value_info(f"by_{name}", types[own or "text"], ["rows"]))
        values = list(dict.fromkeys(key[i] for key in keys))
        column = f"by_{name}"
        if own == "boolean":
            column = graph.node("Cast", [column], f"number_{i}", to=TensorProto.INT64)
        code = _encoded(graph, column, values, range(len(values)), f"code_{i}")
        # The codes of several columns are the digits of one number; one digit more is for unknown values.
        base = len(values) + 1
        places = {value: place for place, value in enumerate(values)}
        numbers = {key[: i + 1]: numbers[key[:i]] * base + places[key[i]] for key in keys}
        if combined:
            shifted = graph.node(
                "Mul", [combined, graph.constant(f"base_{i}", np.int64(base))], f"shifted_{i}"
            )
            combined = graph.node("Add", [shifted, code], f"combined_{i}")
        else:
            combined = code
    if len(decision.by) == 1:
        return combined
    return _encoded(graph, combined, [numbers[key] for key in keys], range(len(keys)), "segment")


def _encoded(graph: _Graph, column: str, keys: list[Any], codes: range, name: str) -> str:
    """Look up keys; what is not among them gets the number after the last code."""
    texts = bool(keys) and isinstance(keys[0], str)
    found: dict[str, Any] = {"keys_strings": keys} if texts else {"keys_int64s": [int(key) for key in keys]}
    return graph.node(
        "LabelEncoder",
        [column],
        name,
        domain="ai.onnx.ml",
        values_int64s=list(codes),
        default_int64=len(codes),
        **found,
    )

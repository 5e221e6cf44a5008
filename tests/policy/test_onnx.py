"""Policies as ONNX models, run by onnxruntime: the decisions of `decide`, next to every threshold."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

onnx = pytest.importorskip("onnx", reason="NOT TESTED AS ONNX: onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="NOT TESTED AS ONNX: onnxruntime is not installed")
KEYS = ["DE", "de", "it's", 'a"b', "a\\b", "", " ", "Ünï 分", "a\nb"]


def session(model):
    """A runtime of a model, which says nothing about runs that fail on purpose."""
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    return runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(policy, scores, missing=None, **keys):
    """The decisions of the model of a policy."""
    dtype = np.float32 if policy.dtype == "float32" else np.float64
    feeds = {"score": np.asarray(scores, dtype=dtype), **{f"by_{name}": one for name, one in keys.items()}}
    return session(policy.to_onnx(missing=missing)).run(None, feeds)[0].tolist()


def near(edges, dtype=np.float64):
    """Each edge and its neighbors of a type, and the ends of the numbers."""
    edges = np.array(edges, dtype=dtype)
    with np.errstate(all="ignore"):
        sides = [np.nextafter(edges, dtype(side)) for side in (-np.inf, np.inf)]
    odd = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal], dtype
    )
    return np.concatenate([edges, *sides, odd])


@given(
    threshold=st.floats(allow_nan=False) | st.sampled_from([0.1 + 0.2, 1 / 3, 5e-324, math.inf, -math.inf])
)
def test_any_threshold(threshold):
    """The neighbors of any float64 threshold are decided as the policy decides them."""
    policy = cp.Policy(threshold)

    assert policy.decide(near([threshold])).tolist() == run(policy, near([threshold]))


@given(threshold=st.floats(allow_nan=False, width=32))
def test_float32_scores(threshold):
    """float32 scores are widened, and the threshold is not rounded."""
    policy = cp.Policy(threshold, dtype="float32")
    scores = near([threshold], np.float32)

    assert policy.decide(scores).tolist() == run(policy, scores)


@given(edges=st.lists(st.floats(allow_nan=False), min_size=2, max_size=4).map(sorted))
def test_bands_classes_and_labels(edges):
    """Every edge of a band, of ordered classes and of labels is exact."""
    scores = near(edges)
    band = cp.Policy.band(edges[0], edges[-1])
    numbers = cp.Policy.ordinal(edges)
    names = cp.Policy.ordinal(edges, classes=[f"it's {i}" for i in range(len(edges) + 1)])
    labels = cp.Policy.labels(dict(enumerate(edges)))
    matrix = np.stack([scores] * len(edges), axis=1)

    for policy, data in ((band, scores), (numbers, scores), (names, scores), (labels, matrix)):
        assert policy.decide(data).tolist() == run(policy, data)


@given(data=st.data())
def test_segments(data):
    """Keys of text, integers and booleans, in one column or two, are looked up exactly."""
    pools = [KEYS, [0, 7, -1, 2**60, 2**60 + 1, 2**53 + 1], [True, False]]
    by = {f"c {i}": data.draw(st.sampled_from(pools)) for i in range(data.draw(st.integers(1, 3)))}
    keys = st.tuples(*(st.sampled_from(pool) for pool in by.values()))
    numbers = st.floats(allow_nan=False) | st.sampled_from([0.5, math.inf, -math.inf])
    table = data.draw(st.dictionaries(keys, numbers, min_size=1, max_size=8))
    rows = data.draw(st.lists(keys, min_size=1, max_size=20))
    scores = [data.draw(st.sampled_from([0.5, table.get(key, 0.5)])) for key in rows]
    named = {key if len(by) > 1 else key[0]: one for key, one in table.items()}
    policy = cp.Policy.segments(named, by=list(by), default=0.5)
    columns = {
        name: np.array([key[i] for key in rows], dtype=object if isinstance(pool[0], str) else None)
        for i, (name, pool) in enumerate(by.items())
    }

    assert policy.decide(scores, columns).tolist() == run(policy, scores, **columns)


def test_what_is_an_error_fails():
    """NaN and unknown segments make the run fail, unless the policy says what they are."""
    segments = cp.Policy.segments({"a": 0.5}, by="c")
    key = np.array(["b"], dtype=object)

    for policy, score, keys in ((cp.Policy(0.5), math.nan, {}), (segments, 0.5, {"c": key})):
        with pytest.raises(Exception, match="missing score or unknown segment"):
            run(policy, [score], **keys)
    assert [0] == run(segments, [math.nan], missing="negative", c=key)
    assert [1] == run(cp.Policy(0.5), [math.nan], missing="positive")
    assert [-1, 0] == run(cp.Policy.band(0.2, 0.8, missing="review"), [math.nan, 0.1])


def test_what_onnx_cannot_say_is_refused():
    """Decisions that are missing, and keys that are fractions; a missing key can never come."""
    with pytest.raises(InvalidParameterError, match="missing must be a decision or 'error'"):
        cp.Policy(0.5, missing="keep").to_onnx()
    with pytest.raises(InvalidParameterError, match="default must be a threshold or 'error'"):
        cp.Policy.segments({"a": 0.5}, by="c", default="keep").to_onnx()
    with pytest.raises(InvalidParameterError, match="strings, integers or booleans"):
        cp.Policy.segments({0.5: 0.5}, by="c").to_onnx()
    policy = cp.Policy.segments({None: 0.1, "a": 0.5}, by="c", default=0.9)
    assert [0, 1] == run(policy, [0.5, 0.5], c=np.array(["", "a"], dtype=object))


def test_behind_a_model():
    """Merged with a model's graph, it decides on the model's scores."""
    helper, double = onnx.helper, onnx.TensorProto.DOUBLE
    ends = [helper.make_tensor_value_info(name, double, ["rows"]) for name in ("x", "p")]
    graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["p"])], "model", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    policy = cp.Policy(0.5)
    whole = onnx.compose.merge_models(model, policy.to_onnx(), io_map=[("p", "score")])

    assert [0, 1, 1] == session(whole).run(None, {"x": np.array([-1e-3, 0.0, 2.0])})[0].tolist()


def test_the_command(run_command, tmp_path):
    """`cutpoints policy onnx` writes the model whole, and names its inputs."""
    path, out = str(tmp_path / "policy.json"), str(tmp_path / "rule.onnx")
    cp.Policy.segments({"a": 0.4}, by="c", name="mine").save(path)
    result = run_command("policy", "onnx", path, "-o", out, "--json")

    assert {"output": out, "inputs": ["score", "by_c"]} == json.loads(result.stdout)
    assert "mine" == onnx.load(out).doc_string
    assert "Inputs: score, by_c" in run_command("policy", "onnx", path, "-o", out, "--force").stdout
    assert 1 == run_command("policy", "onnx", path, "-o", str(tmp_path / "no" / "rule.onnx")).exit_code
    with pytest.raises(InvalidInputError, match="written"):
        cp.Policy(0.5).to_onnx(tmp_path)


@pytest.fixture
def run_command():
    """Run the command line."""
    from click.testing import CliRunner

    from cutpoints.cli import main

    return lambda *arguments: CliRunner().invoke(main, list(arguments))

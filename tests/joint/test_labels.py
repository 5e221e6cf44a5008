"""`find_labels`: one threshold per label, exact for both averages, from matrices of all kinds."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import cutpoints as cp
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError
from oracle import Bound, Sum, Term, added, cuts, joint


@st.composite
def matrices(draw, weighted=False):
    """A few rows and at most three labels, with many equal scores and labels without positives."""
    rows, labels = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    size = rows * labels
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))).reshape(rows, labels)
    scores = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, math.inf])
    p = np.array(draw(st.lists(scores, min_size=size, max_size=size))).reshape(rows, labels)
    return (y, p, draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))) if weighted else (y, p)


def by_label(y, p, weights=None):
    """The rows of each label, as the oracle wants them."""
    w = np.ones(len(y), dtype=int) if weights is None else weights
    return [
        [
            (float(s), int(v) * int(t), int(v) * (1 - int(t)))
            for s, t, v in zip(p[:, j], y[:, j], w, strict=True)
        ]
        for j in range(y.shape[1])
    ]


@given(matrices(weighted=True), st.sampled_from(["f1", "jaccard", "accuracy", "recall"]), st.booleans())
@settings(max_examples=200)
def test_micro_average_is_the_best_of_all(problem, metric, bounded):
    """No combination of cuts has a better micro average, with weights and with a constraint."""
    y, p, weights = problem
    if sum(weights) == 0:
        return
    bound = Bound(Sum((Term("precision"),)), ">=", Fraction(1, 2))
    options = {"subject_to": "precision >= 0.5"} if bounded else {}
    best = joint(by_label(y, p, weights), Sum((Term(metric),)), "maximize", [bound] if bounded else [])
    try:
        found = cp.find_labels(y, p, maximize=metric, sample_weight=np.array(weights, float), **options)
    except InvalidInputError:
        assert best is None
        return

    assert (None if best is None else float(best)) == found.value


@given(matrices())
@settings(max_examples=150)
def test_macro_average_is_the_best_of_all(problem):
    """No combination of cuts has a better mean of F1 over the labels that have positives."""
    y, p = problem
    segments = [rows for rows, some in zip(by_label(y, p), y.any(axis=0), strict=True) if some]
    if not segments:
        return
    best = max(
        sum(Fraction(Sum((Term("f1"),)).value(cut.confusion).number) for cut in combination) / len(segments)
        for combination in itertools.product(*map(cuts, segments))
    )
    found = cp.find_labels(y, p, maximize="f1", average="macro")

    assert math.isclose(best, found.value, rel_tol=1e-12)


@given(matrices())
@settings(max_examples=100)
def test_rare_labels_share_a_threshold(problem):
    """With one threshold for all labels both averages are the best that any common threshold attains."""
    y, p = problem
    if y.shape[1] < 2 or not y.any(axis=0).all():
        return
    segments = by_label(y, p)
    micro = cp.find_labels(y, p, maximize="f1", min_rows=100)
    macro = cp.find_labels(y, p, maximize="f1", average="macro", min_rows=100)
    f1 = Sum((Term("f1"),))
    values = []
    for threshold in {cut.threshold for rows in segments for cut in cuts(rows)}:
        at = [[cut for cut in cuts(rows) if cut.threshold >= threshold][-1:] for rows in segments]
        if all(at):
            confusions = [cut[0].confusion for cut in at]
            mean = sum(f1.value(one).number for one in confusions) / len(confusions)
            values.append((f1.value(added(confusions)).number, mean))

    assert float(max(value for value, _ in values)) == micro.value
    assert math.isclose(max(value for _, value in values), macro.value, rel_tol=1e-12)
    assert tuple(range(y.shape[1])) == micro.pooled == macro.pooled


def simulated(rows=400, labels=6, seed=0):
    """Labels of very different frequency, and scores that separate some of them well."""
    rng = np.random.default_rng(seed)
    y = (rng.random((rows, labels)) < np.geomspace(0.02, 0.4, labels)).astype(int)
    return y, 1 / (1 + np.exp(1 - rng.normal(size=y.shape) - y * np.linspace(0.5, 3, labels)))


def test_no_step_of_dinkelbach_is_left():
    """At the micro F1 t, no label has a cut with more than its share of 2 TP - t (TP + FP + P)."""
    y, p = simulated(5_000, 40)
    found = cp.find_labels(y, p, maximize="f1")
    t = Fraction(found.value).limit_denominator(10**7)
    for j in range(y.shape[1]):
        order = np.argsort(-p[:, j])
        tp, fp = np.cumsum(y[order, j]), np.cumsum(1 - y[order, j])
        every = 2 * tp - float(t) * (2 * tp + fp - tp + y[:, j].sum())
        own = found.confusions[j]
        assert max(every.max(), -float(t) * y[:, j].sum()) <= (
            2 * own.tp - float(t) * (own.tp + own.fp + y[:, j].sum()) + 1e-6
        )
    assert found.status == "optimal"
    assert found.value > found.single.value


def test_sparse_matrices_are_the_same():
    """What a sparse matrix does not store is a score of 0, or a label that is not true."""
    y, p = simulated()
    p = np.where(p < 0.5, 0.0, p)
    options = {"maximize": "f1", "subject_to": "precision >= 0.6", "sample_weight": np.arange(len(y)) % 3}
    dense = cp.find_labels(y, p, **options)
    for make in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert dense.thresholds == cp.find_labels(make(y), make(p), **options).thresholds
        assert dense.value == cp.find_labels(make(y), p, **options).value


def test_a_long_table_is_the_same():
    """A table with a row for each sample and label gives the thresholds of the matrices."""
    pd = pytest.importorskip("pandas")
    y, p = simulated()
    frame = pd.DataFrame({"y": y.ravel(), "p": p.ravel(), "tag": np.tile(np.arange(y.shape[1]), len(y))})
    for average in ("micro", "macro"):
        long = cp.find_labels(frame, by="tag", label="y", score="p", maximize="f1", average=average)
        wide = cp.find_labels(pd.DataFrame(y), pd.DataFrame(p), maximize="f1", average=average)
        assert long.thresholds == wide.thresholds
        assert long.value == wide.value


def test_micro_is_not_each_label_by_itself():
    """Thresholds for the micro average beat those of each label alone; the value is cross-validated."""
    y, p = simulated()
    micro = cp.find_labels(y, p, maximize="f1")
    macro = cp.find_labels(y, p, maximize="f1", average="macro")
    total = cp.Confusion(
        **{k: sum(getattr(c, k) for c in macro.confusions.values()) for k in ("tp", "fp", "fn", "tn")}
    )

    assert micro.value > total.metric("f1")
    assert micro.cross_validated.value < micro.value
    assert "on new data" in repr(micro)
    assert json.loads(json.dumps(micro.to_dict(), allow_nan=False))["status"] == "optimal"


def test_each_label_keeps_its_bound():
    """What must hold for each label holds for each, in both averages."""
    y, p = simulated()
    for average in ("micro", "macro"):
        found = cp.find_labels(y, p, maximize="f1", average=average, each="recall >= 0.7")
        assert min(one.metric("recall") for one in found.confusions.values()) >= 0.7


def test_infeasible():
    """Constraints that cannot be met: the status says so, and how far they can be."""
    y, p = simulated()
    found = cp.find_labels(y, p, maximize="recall", subject_to=["precision >= 0.99", "recall >= 0.9"])

    assert found.status == "infeasible"
    with pytest.raises(InfeasibleError, match="while the others hold"):
        found.decide(p)


def test_a_label_that_cannot_meet_what_must_hold_for_each():
    """It is called a label, not a segment, and the hint is one that labels have."""
    y, p = simulated()
    found = cp.find_labels(y, p, maximize="recall", each="precision > 1")

    with pytest.raises(
        InfeasibleError, match=r"(?s)At least one label has no threshold .* for each label.*min_rows"
    ):
        found.raise_if_infeasible()


def test_labels_without_positives():
    """A label without positives calls no row positive, and is left out of the macro average."""
    found = cp.find_labels([[1, 0], [0, 0]], [[0.9, 0.8], [0.1, 0.7]], maximize="f1", average="macro")

    assert ({0: 0.9, 1: math.inf}, 1.0) == (found.thresholds, found.value)


@pytest.mark.parametrize(
    ("y", "p", "options", "message"),
    [
        ([1, 0], [0.5, 0.1], {}, "y_true must be a matrix of numbers with one column per label"),
        ([[1, 0]], [[0.5]], {}, r"y_score must be of the shape of y_true, \(1, 2\)"),
        ([[2, 0]], [[0.5, 0.1]], {}, "y_true must be 0 or 1 for each row and label, got '2.0 for label 0'"),
        ([[0, 0]], [[0.5, 0.1]], {"average": "macro"}, "There are no positive rows"),
        ([[1, 0]], [[math.nan, 0.1]], {}, "y_score"),
        ([[1, 0]], [[0.5, 0.1]], {"average": "samples"}, "average must be one of 'micro', 'macro'"),
        ([[1, 0]], [[0.5, 0.1]], {"min_rows": 0}, "min_rows must be a positive integer"),
        ([[1, 0]], [[0.5, 0.1]], {"average": "macro", "subject_to": "recall >= 1"}, "left out for the macro"),
        ([[1, 0]], [[0.5, 0.1]], {"sample_weight": [1, 2]}, "must have the same number of rows"),
        ([[1, 0]], None, {}, "by must be the column of the labels in a long table"),
        ([], [], {}, "y_true"),
    ],
)
def test_bad_input(y, p, options, message):
    """Matrices that do not fit, and options that make no sense, are errors that say why."""
    with pytest.raises((InvalidParameterError, InvalidInputError), match=message):
        cp.find_labels(y, p, **{"maximize": "f1", **options})

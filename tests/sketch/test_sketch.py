"""`Sketch`: exact counts that merge in any order, certain bounds, and `refine`, which equals `find`."""

import contextlib
import hashlib
import io
import json
import math
import os
import pickle
import struct
import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints._kernel.mergeable_histogram import numbered
from cutpoints._kernel.weights import FixedPoint
from cutpoints._search import run
from cutpoints._sketch import contents as _contents
from cutpoints._sketch import file as _file
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError
from strategies import ADVERSARIAL, conjunctions, directions, objectives, problems

kinds = st.sampled_from(["unweighted", "integer weights", "float weights", "one weight"])
labelled = kinds.flatmap(problems)
limits = st.sampled_from([1, 2, 3, 5, 1 << 16])


@contextlib.contextmanager
def few_buckets(limit):
    """Let a sketch have few buckets, and let searches narrow, so that a few rows show everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_contents, "MAX_BUCKETS", limit)
        patch.setattr(run, "FETCHED_ROWS", 0)
        yield


def heaviest(problem):
    """A `max_weight` for all parts of a problem; None without weights."""
    return None if problem.weights is None else max(1.0, float(problem.weights.max()))


def sketched(problem, index=slice(None)):
    """A sketch of some rows of a problem."""
    part = problem.take(index)
    sketch = cp.Sketch(max_weight=heaviest(problem))
    return sketch.update(part.labels, part.scores, sample_weight=part.weights)


def rounded(problem):
    """The problem with the weights that the sketch has after rounding; sums of these are exact."""
    if problem.weights is None:
        return problem
    grid = FixedPoint.fitting(largest=heaviest(problem), rows=10**9)
    return replace(problem, weights=grid.decode(grid.encode(problem.weights)))


def answers(solution):
    """All that two searches of the same data must agree on."""
    ties = [(tie.threshold, tie.interval, tie.confusion) for tie in solution.ties]
    shown = (solution.status, solution.threshold, solution.value, solution.interval, solution.confusion)
    totals = solution.rows, solution.positives, solution.negatives
    return *shown, ties, str(solution.attainable), solution.certificate, *totals


def wanted(direction, objective, constraints):
    """A goal as keyword arguments."""
    return {direction: objective.text, "subject_to": [one.text for one in constraints]}


# --- the numbering of the floats


@given(
    st.lists(
        st.one_of(st.floats(allow_nan=False), st.sampled_from(ADVERSARIAL), st.floats(0, 1)), min_size=1
    ),
    st.integers(0, 62),
)
def test_numbers_never_decrease(values, level):
    """Buckets are intervals of scores, at every level; a score and the next float may share one."""
    scores = np.sort(np.array(values, dtype=np.float64)) + 0.0
    with np.errstate(over="ignore"):
        above = np.nextafter(scores, np.inf)
    numbers = numbered(scores) >> level

    assert (numbers[1:] >= numbers[:-1]).all()  # their differences may be too large for integers
    assert (numbered(above) >> level >= numbers).all()


# --- merging


@st.composite
def trees(draw, parts):
    """Merge the parts in pairs, in any order, until one is left."""
    parts = [part.copy() for part in draw(st.permutations(parts))]
    while len(parts) > 1:
        first = parts.pop(draw(st.integers(0, len(parts) - 1)))
        second = parts.pop(draw(st.integers(0, len(parts) - 1)))
        parts.append(first + second if draw(st.booleans()) else first.merge(second))
    return parts[0]


@given(st.data(), kinds, limits)
def test_any_split_any_tree_any_order_gives_equal_bytes(data, kind, limit):
    """Associative and commutative, bit for bit, whatever the weights and however few the buckets."""
    with few_buckets(limit):
        problem = data.draw(problems(kind, min_size=2))
        whole = sketched(problem)
        order = np.array(data.draw(st.permutations(range(len(problem.scores)))))
        ends = sorted(data.draw(st.lists(st.integers(0, len(order)), max_size=4)))
        parts = [sketched(problem, part) for part in np.split(order, ends)]

        merged = data.draw(trees(parts))

    assert whole.to_bytes() == merged.to_bytes()
    assert whole == merged


def test_scores_of_both_signs_in_one_bucket_too_few():
    """They never share a bucket; to ask for that again does not make a sketch another one."""
    scores, labels = np.array([-np.inf, -np.inf, 0.0]), np.array([0, 1, 1])
    with few_buckets(1):
        whole = cp.Sketch().update(labels, scores)
        parts = cp.Sketch().update(labels[:1], scores[:1]) + cp.Sketch().update(labels[1:], scores[1:])

    assert whole.to_bytes() == parts.to_bytes()


def test_many_rows_in_any_split_give_equal_bytes():
    """The same with real sizes: numbers that are far apart, and blocks that are counted densely."""
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.random(150_000), rng.lognormal(0, 30, 50_000), [np.inf, -np.inf, 1.0, 0.0]])
    labels = rng.integers(0, 2, len(scores))
    weights = rng.random(len(scores)) * 10.0 ** rng.integers(-9, 9, len(scores))
    whole = cp.Sketch(max_weight=1e9).update(labels, scores, sample_weight=weights)
    parts = [
        cp.Sketch(max_weight=1e9).update(labels[i::7], scores[i::7], sample_weight=weights[i::7])
        for i in (3, 1, 0, 6, 5, 2, 4)
    ]

    assert whole == sum(parts)
    assert 1 << 14 < whole.buckets <= 1 << 16


def test_merging_leaves_the_other_alone():
    """`merge` changes the one it is called on, `+` neither."""
    one, other = cp.Sketch().update([0], [0.1]), cp.Sketch().update([1], [0.9])
    before = one.to_bytes(), other.to_bytes()

    both = one + other

    assert before == (one.to_bytes(), other.to_bytes())
    assert 2 == both.rows
    assert one is one.merge(other)
    assert 2 == one.rows
    assert before[1] == other.to_bytes()


def test_parts_of_float32_and_float64_are_one():
    """A float32 is a float64 without rounding, so it does not matter in which form a part comes."""
    scores = np.random.default_rng(0).random(100).astype(np.float32)
    labels = np.arange(100) % 2

    assert cp.Sketch().update(labels, scores) == cp.Sketch().update(labels, scores.astype(np.float64))


def test_a_row_without_a_weight_weighs_one():
    """Updates with and without weights go into one sketch, and weights of one are no weights."""
    given, left_out = cp.Sketch(max_weight=9), cp.Sketch(max_weight=9)

    given.update([0, 1], [0.1, 0.2], sample_weight=[1, 1.0])
    left_out.update([0, 1], [0.1, 0.2])

    assert given == left_out
    assert (1, 1) == (given.positives, given.negatives)


def test_threads_may_update_one_sketch():
    """No row is lost, whichever thread comes first."""
    rng = np.random.default_rng(0)
    scores, labels = rng.random(200_000), rng.integers(0, 2, 200_000)
    sketch = cp.Sketch()

    def work(first):
        for start in range(first * 1000, 200_000, 8000):
            sketch.update(labels[start : start + 1000], scores[start : start + 1000])

    threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 200_000 == sketch.rows
    assert cp.Sketch().update(labels, scores) == sketch


# --- weights


def test_weights_are_rounded_once():
    """Integers are exact; any weight is off by at most the resolution, and sums are not rounded."""
    sketch = cp.Sketch(max_weight=1000.0)
    sketch.update([1] * 10 + [0], np.arange(11), sample_weight=[0.1] * 10 + [3])

    assert 3 == sketch.negatives
    assert abs(sketch.positives - 1) <= 10 * sketch.resolution
    assert 2.0**-23 == sketch.resolution
    assert 2.0**-27 == cp.Sketch(max_weight=1000.0, max_rows=10**6).resolution
    assert 0 == cp.Sketch().resolution


def test_weights_need_a_limit():
    """A sketch that counts takes no weights; the hint says how to make one that does."""
    sketch = cp.Sketch().update([1], [0.5])

    with pytest.raises(InvalidParameterError, match=r"counts rows(.|\n)*Sketch\(max_weight="):
        sketch.update([1], [0.5], sample_weight=[2])
    with pytest.raises(InvalidParameterError, match="counts rows"):
        sketch.refine([1], [0.5], sample_weight=[1], maximize="f1")


def test_weights_and_rows_beyond_the_limits():
    """They are refused with what to do, and leave the sketch as it was."""
    sketch = cp.Sketch(max_weight=10, max_rows=3).update([0, 1], [0.1, 0.2], sample_weight=[10, 0])
    before = sketch.to_bytes()

    with pytest.raises(InvalidParameterError, match=r"at most max_weight, 10\.0, got '10\.5 at row 1'"):
        sketch.update([0, 1], [0.1, 0.2], sample_weight=[1, 10.5])
    for rows in (2, 4):
        with pytest.raises(InvalidParameterError, match="larger max_rows"):
            sketch.update([1] * rows, [0.5] * rows)

    assert before == sketch.to_bytes()
    assert 3 == sketch.update([1], [0.5]).rows


@pytest.mark.parametrize(
    "limits",
    [
        {"max_weight": 0},
        {"max_weight": -1},
        {"max_weight": math.nan},
        {"max_weight": math.inf},
        {"max_weight": 1e308},
        {"max_weight": "9"},
        {"max_weight": 9, "max_rows": 0},
        {"max_weight": 9, "max_rows": 1.5},
        {"max_weight": 9, "max_rows": math.inf},
        {"max_weight": 9, "max_rows": 2**62},
    ],
)
def test_impossible_limits(limits):
    """There must be a grid on which all weights and their sum fit."""
    with pytest.raises(InvalidParameterError, match=r"^max_\w+ must be a positive") as error:
        cp.Sketch(**limits)
    assert "Sketch" == error.value.caller


def test_only_sketches_of_equal_limits_merge():
    """Other limits are another rounding of the weights."""
    parts = [cp.Sketch(**limits) for limits in ({}, {"max_weight": 9}, {"max_weight": 9, "max_rows": 99})]
    for one in parts:
        for other in parts:
            if one is not other:
                with pytest.raises(InvalidParameterError, match="the same max_weight and max_rows"):
                    one.merge(other)
    assert cp.Sketch() == cp.Sketch(max_rows=99)  # it counts, as many as there are


# --- answers


@given(labelled, directions, objectives(), conjunctions(2), limits)
@settings(max_examples=150)
def test_the_optimum_is_within_the_bounds(problem, direction, objective, constraints, limit):
    """Lower and upper bound hold, the confusion is that of the threshold, and proofs are proofs."""
    goal = wanted(direction, objective, constraints)
    exact = rounded(problem)
    try:
        truth = cp.find(exact.labels, exact.scores, sample_weight=exact.weights, **goal)
    except InvalidInputError:
        truth = None
    with few_buckets(limit):
        sketch = sketched(problem)
        try:
            best = sketch.best(**goal)
        except InvalidInputError:
            assert truth is None
            return

    if truth is None:
        assert best.threshold is None
    elif truth.status == "infeasible":
        assert None is best.threshold
        assert best.status in {"infeasible", "open"}
    else:
        assert best.status != "infeasible"
        room = 1e-12 * max(1, abs(truth.value)) if math.isfinite(truth.value) else 0
        assert best.lower <= truth.value + room
        assert truth.value - room <= best.upper
        if sketch.is_exact:
            assert "optimal" == best.status
        if best.status == "optimal":
            assert truth.value == best.value
    if best.threshold is not None:
        called = [(pos, neg) for score, pos, neg in exact.rows if score >= best.threshold]
        tp, fp = (float(sum(side)) for side in zip(*called, strict=True)) if called else (0, 0)
        assert (tp, fp) == (best.confusion.tp, best.confusion.fp)
        assert best.value in (best.lower, best.upper)


@given(labelled, directions, objectives(), conjunctions(2), limits)
@settings(max_examples=300)
def test_refine_gives_what_find_gives(problem, direction, objective, constraints, limit):
    """The same threshold, interval, confusion, ties and status, or the same error."""
    goal = {**wanted(direction, objective, constraints), "sample_weight": problem.weights}
    with few_buckets(limit):
        sketch = sketched(problem)

        def outcome(ask):
            try:
                return answers(ask(problem.labels, problem.scores, **goal))
            except InvalidInputError as error:
                return str(error)

        assert outcome(cp.find) == outcome(sketch.refine)


def test_refine_with_weights_that_the_sketch_lost():
    """Weights below the resolution are zero in the sketch, and not in the data."""
    rows = {"y_true": [0, 1, 0], "y_score": [0.5, 0.25, 0.75], "sample_weight": [1e9, 0.1, 1e9]}
    sketch = cp.Sketch(max_weight=1e9).update(**rows)

    assert 0 == sketch.positives
    for goal in ({"maximize": "recall"}, {"maximize": "f1", "subject_to": "recall >= 0.5"}):
        assert answers(cp.find(**rows, **goal)) == answers(sketch.refine(**rows, **goal))


def test_refine_does_not_split_tied_weighted_scores():
    """One positive and two negatives of one score are one cut."""
    rows = {"y_true": [0, 1], "y_score": [0.5, 0.5], "sample_weight": [2, 1]}
    sketch = cp.Sketch(max_weight=2).update(**rows)

    assert 0.5 == sketch.best(maximize="f1").value
    assert 0.5 == sketch.refine(**rows, maximize="f1").value


def test_refine_takes_frames_and_files(tmp_path):
    """What `find` reads, `refine` reads too."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    score = rng.random(100_000).astype(np.float32)
    label = (rng.random(100_000) < score).astype(int)
    frame = pd.DataFrame({"y": label, "p": score})
    frame.to_parquet(tmp_path / "scores.parquet")
    sketch = cp.Sketch().update(label, score)
    expected = answers(cp.find(label, score, maximize="mcc"))

    for data in (frame, tmp_path / "scores.parquet"):
        assert expected == answers(sketch.refine(data, label="y", score="p", maximize="mcc"))
    assert expected == answers(sketch.refine(label, score, maximize="mcc"))
    assert "bounded" == sketch.best(maximize="mcc").status


@given(kinds.flatmap(lambda kind: problems(kind, max_size=16)), limits)
def test_auc_is_within_its_bounds(problem, limit):
    """The exact area, by counting pairs, is between the bounds, and equal to them where scores are few."""
    rows = rounded(problem).rows
    positives, negatives = (sum(row[i] for row in rows) for i in (1, 2))
    with few_buckets(limit):
        sketch = sketched(problem)
        if 0 in (positives, negatives):
            with pytest.raises(InvalidInputError, match="auc needs them"):
                _ = sketch.auc
            return
        bounds = sketch.auc
    pairs = sum(
        p * n * (Fraction(1) if a > b else Fraction(1, 2) if a == b else 0)
        for a, p, _ in rows
        for b, _, n in rows
    )
    area = pairs / (positives * negatives)

    if sketch.is_exact:
        assert float(area) == bounds.lower == bounds.upper == bounds.middle
    else:  # each is rounded once, which keeps their order
        assert bounds.lower <= float(area) <= bounds.upper


def test_bounds_are_narrow_on_ordinary_scores():
    """On 300,000 probabilities the bounds of F1 and AUC are within one part in 5,000."""
    rng = np.random.default_rng(0)
    score = rng.beta(0.5, 3, 300_000)
    label = rng.random(300_000) < score
    sketch = cp.Sketch().update(label, score)

    best = sketch.best(maximize="f1")

    assert best.upper - best.lower < 2e-4
    assert sketch.auc.upper - sketch.auc.lower < 2e-4
    assert best.lower <= cp.find(label, score, maximize="f1").value <= best.upper
    assert len(sketch.to_bytes()) < 3_200_000  # the most that there can be


def test_rounded_scores_need_no_second_look():
    """With few distinct scores the answer of one pass is final."""
    rng = np.random.default_rng(0)
    score = np.round(rng.random(50_000), 3)
    label = rng.random(50_000) < score
    sketch = cp.Sketch().update(label, score)

    best, expected = sketch.best(maximize="f1"), cp.find(label, score, maximize="f1")

    assert sketch.is_exact
    assert ("optimal", expected.threshold, expected.value) == (best.status, best.threshold, best.value)
    assert expected.interval == best.interval
    assert expected.confusion == best.confusion


def test_a_function_of_ones_own_has_no_bound():
    """Nothing is known about it between buckets, and that is what is said; refine is exact."""
    rng = np.random.default_rng(0)
    score, label = rng.random(200), rng.integers(0, 2, 200)

    def odd(tp, fp, fn, tn):
        return -((tp - 7) ** 2) - fp

    with few_buckets(16):
        sketch = cp.Sketch().update(label, score)
        assert math.inf == sketch.best(maximize=odd).upper
        assert answers(cp.find(label, score, maximize=odd)) == answers(
            sketch.refine(label, score, maximize=odd)
        )


def test_open_and_infeasible_constraints():
    """A constraint that no edge meets may be met inside a bucket; one that no cut can meet is refused."""
    score, label = np.arange(1, 33) / 64, np.arange(32) % 2
    with few_buckets(1):
        sketch = cp.Sketch().update(label, score)
        inside = sketch.best(
            maximize="recall", subject_to="predicted_positive <= 5 and predicted_positive > 0"
        )
        never = sketch.best(maximize="recall", subject_to="recall >= 1.5")

    assert ("open", None, None) == (inside.status, inside.threshold, inside.value)
    assert 32 == inside.open_rows
    assert "infeasible" == never.status
    assert "status   open" in repr(inside)
    assert {"status": "open", "lower": "-inf"}.items() <= inside.to_dict().items()


# --- what is refused


BAD = {
    "NaN": ([0.1, np.nan], [0, 1], {}, "must not contain NaN"),
    "labels": ([0.1, 0.2, 0.3], [0, 1, 2], {}, "two distinct labels"),
    "text": ([0.1, 0.2], ["a", "b"], {}, "pos_label"),
    "length": ([0.1], [0, 1], {}, "same number of rows"),
    "weight": ([0.1, 0.2], [0, 1], {"sample_weight": [1, -1]}, "must not be negative"),
    "minus": ([0.1, 0.2], [-1, 1], {}, "-1, 0 and 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_batch_that_is_refused_leaves_the_sketch_as_it_was(name):
    """The error is that of arrays, and nothing of the batch is counted."""
    scores, labels, options, message = BAD[name]
    sketch = cp.Sketch(max_weight=2).update([0, 1], [0.5, 0.25])
    before = sketch.to_bytes()

    with pytest.raises(InvalidInputError, match=message):
        sketch.update(labels, scores, **options)

    assert before == sketch.to_bytes()


def test_three_labels_over_several_parts():
    """What `find` refuses in one array, a sketch refuses in parts, with and without `pos_label`."""
    zero, minus = cp.Sketch().update([0, 1], [0.1, 0.9]), cp.Sketch().update([-1, 1], [0.2, 0.8])

    with pytest.raises(InvalidInputError, match="-1, 0 and 1"):
        zero.merge(minus)
    with pytest.raises(InvalidInputError, match="-1, 0 and 1"):
        zero.update([-1], [0.5], pos_label=1)
    assert 2 == zero.rows
    assert 5 == zero.update([1.0, False, True], [0.2, 0.8, 0.3]).rows
    text = cp.Sketch().update(["no", "yes"], [0.1, 0.9], pos_label="yes")
    with pytest.raises(InvalidInputError, match="'maybe', 'no' and 'yes'"):
        text.update(["maybe"], [0.5], pos_label="yes")


def test_another_positive_label():
    """Updates and merges with different `pos_label` are refused, also after a file."""
    sketch = cp.Sketch().update(["no", "yes"], [0.1, 0.9], pos_label="yes")
    other = cp.Sketch().update(["no", "yes"], [0.1, 0.9], pos_label="no")
    loaded = cp.Sketch.from_bytes(sketch.to_bytes())

    for one in (sketch, loaded):
        with pytest.raises(InvalidParameterError, match=r"^pos_label must be 'yes'"):
            one.update(["no", "yes"], [0.1, 0.9], pos_label="no")
        with pytest.raises(InvalidParameterError, match=r"^pos_label must be 'yes'"):
            one.merge(other)
        assert 2 == one.rows
    assert 3 == loaded.update(["yes"], [0.3], pos_label="yes").rows
    with pytest.raises(InvalidParameterError, match="at most 1000 characters"):
        cp.Sketch().update(["x" * 1001, "y"], [0.1, 0.9], pos_label="y")


def test_only_sketches_merge():
    """Anything else is an error that says so."""
    with pytest.raises(InvalidParameterError, match="must be a sketch"):
        cp.Sketch().merge([0.1])
    with pytest.raises(TypeError):
        cp.Sketch() + 3


def test_empty_batches_and_empty_sketches():
    """A batch without rows changes nothing; a sketch without rows has no answers."""
    empty = cp.Sketch().update([], [])

    assert "Sketch: no rows" == repr(empty)
    assert empty == cp.Sketch.from_bytes(empty.to_bytes())
    assert 1 == (empty + cp.Sketch().update([1], [0.5])).rows
    for ask in (lambda: empty.auc, lambda: empty.best(maximize="f1")):
        with pytest.raises(InvalidInputError, match="at least one row"):
            ask()


def test_refine_sees_other_data():
    """More rows, other labels, and other scores near the optimum are all noticed."""
    rng = np.random.default_rng(0)
    score = rng.random(200_000)
    label = rng.random(200_000) < score
    sketch = cp.Sketch().update(label, score)
    threshold = sketch.refine(label, score, maximize="f1").threshold
    moved = score.copy()
    near = np.flatnonzero(np.abs(score - threshold) < 1e-4)
    moved[near[0]] = 0.9
    flipped = label.copy()
    flipped[[np.flatnonzero(label & (score < 0.1))[0], np.flatnonzero(~label & (score > 0.9))[0]]] ^= True

    for scores, labels, message in (
        (score[1:], label[1:], "Rows: 200,000 in the sketch, 199,999 in the data"),
        (score, ~label, "Positives"),
        (score / 2, label, "Highest score|Lowest score"),
        (moved, label, "near the optimum"),
        (score, flipped, "Positives above the optimum"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            sketch.refine(labels, scores, maximize="f1")


# --- files


@given(problems("float weights"), limits)
@settings(max_examples=40)
def test_a_saved_sketch_is_loaded_bit_for_bit(problem, limit):
    """What comes back from bytes and from pickle is the sketch that was written."""
    with few_buckets(limit):
        sketch = sketched(problem)

    assert sketch == cp.Sketch.from_bytes(sketch.to_bytes())
    assert sketch == pickle.loads(pickle.dumps(sketch))  # noqa: S301


def test_save_and_load(tmp_path):
    """A file round trip, and an update of what was loaded."""
    path = tmp_path / "monday.sketch"
    sketch = cp.Sketch().update([0, 1], [0.1, 0.7])
    sketch.save(path)

    loaded = cp.Sketch.load(path)

    assert sketch == loaded
    assert [path] == list(tmp_path.iterdir())
    assert 3 == loaded.update([1], [0.3]).rows


def test_the_format_is_as_documented():
    """A reader in another language needs the page only."""
    data = cp.Sketch(max_weight=2.0, max_rows=7).update(["n", "y"], [0.5, 0.25], pos_label="y").to_bytes()

    magic, version, level, max_weight, max_rows, m, n = struct.unpack_from("<8sIIdQIQ", data)
    labels = json.loads(data[HEADER : HEADER + m])
    low, high, pos, neg, rows = np.frombuffer(data, "<i8", count=6 * n, offset=HEADER + m).reshape(6, n)[1:]

    assert (b"CPSKETCH", 2, 0, 2.0, 7, 2) == (magic, version, level, max_weight, max_rows, n)
    assert ["y", "n"] == labels
    assert [0.25, 0.5] == low.view("<f8").tolist() == high.view("<f8").tolist()
    assert ([2**34, 0], [0, 2**34], [1, 1]) == (pos.tolist(), neg.tolist(), rows.tolist())


def test_a_truncated_file_is_refused(tmp_path):
    """At whatever byte it ends, the error names the file."""
    data = cp.Sketch().update([0, 1], [0.1, 0.7]).to_bytes()
    path = tmp_path / "half.sketch"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(InvalidInputError, match=r"half\.sketch' must be a sketch"):
            cp.Sketch.load(path)


def test_a_flipped_bit_is_refused():
    """The checksum sees any single bit."""
    data = cp.Sketch().update([0, 1], [0.1, 0.7]).to_bytes()
    for place in range(len(data)):
        broken = bytearray(data)
        broken[place] ^= 1 << (place % 8)
        with pytest.raises(InvalidInputError, match="must be a sketch"):
            cp.Sketch.from_bytes(bytes(broken))


def forged(data, place, value):
    """Bytes with a number replaced and a checksum that fits: what a forger would write."""
    body = bytearray(data[:-32])
    body[place : place + len(value)] = value
    return bytes(body) + hashlib.sha256(bytes(body)).digest()


HEADER = struct.calcsize("<8sIIdQIQ")
COLUMNS = HEADER + len("[1, 0]")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (8, struct.pack("<I", 1), "of version 1"),
        (12, struct.pack("<I", 77), "header is impossible"),
        (16, struct.pack("<d", 9.0), "header is impossible"),
        (16, struct.pack("<dQ", math.nan, 9), "header is impossible"),
        (16, struct.pack("<dQ", 9.0, 2**63), "header is impossible"),
        (16, struct.pack("<dQ", 9.0, 1), "impossibly many rows"),
        (32, struct.pack("<I", 10**9), "header is impossible"),
        (36, struct.pack("<Q", 10**15), "header is impossible"),
        (36, struct.pack("<Q", 3), "bytes instead of"),
        (HEADER, b"[1,00]", "labels are impossible"),
        (HEADER, b"[[[[[[", "labels are impossible"),
        (HEADER, b'{"1":0', "labels are impossible"),
        (HEADER, b"\xff", "labels are impossible"),
        (COLUMNS, struct.pack("<q", 2**62), "buckets are not in order"),
        (COLUMNS + 16, struct.pack("<d", math.nan), "scores are not in order"),
        (COLUMNS + 16, struct.pack("<d", 0.05), "not in their buckets"),
        (COLUMNS + 48, struct.pack("<q", -1), "sums are impossible"),
        (COLUMNS + 48, struct.pack("<q", 50), "sums are impossible"),
        (COLUMNS + 64, struct.pack("<q", 0), "not those of its rows"),
        (COLUMNS + 80, struct.pack("<q", -1), "buckets are not in order"),
        (COLUMNS + 80, struct.pack("<q", 2**62), "impossibly many rows"),
    ],
)
def test_forged_contents_are_refused(place, value, message):
    """Contents that no sketch can have are refused although their checksum is right."""
    data = cp.Sketch().update([0, 1], [0.1, 0.7]).to_bytes()

    with pytest.raises(InvalidInputError, match=message):
        cp.Sketch.from_bytes(forged(data, place, value))


def test_buckets_so_far_apart_that_their_difference_overflows():
    """The order of buckets is compared, not subtracted."""
    data = bytearray(cp.Sketch().update([0, 1], [-np.inf, np.inf]).to_bytes()[:-32])
    for column in range(6):
        place = COLUMNS + 16 * column
        data[place : place + 16] = data[place + 8 : place + 16] + data[place : place + 8]

    with pytest.raises(InvalidInputError, match="buckets are not in order"):
        cp.Sketch.from_bytes(bytes(data) + hashlib.sha256(bytes(data)).digest())


def test_impossibly_many_rows_do_not_add_up():
    """Forged counts just below the limit are read, and cannot be merged past it."""
    data = cp.Sketch().update([1], [0.5]).to_bytes()
    place = HEADER + len("[1, null]")
    many = struct.pack("<q", 2**61)
    sketch = cp.Sketch.from_bytes(forged(forged(data, place + 24, many), place + 40, many))

    with pytest.raises(InvalidParameterError, match="number of rows"):
        sketch.merge(sketch)
    assert 2**61 == sketch.rows


WORDS = st.sampled_from([0, 1, -1, 2, 7, 2**31, 2**61, 2**62, 2**63 - 1, -(2**63), 1 << 52, 0x7FF8 << 48])


@given(labelled, st.lists(st.tuples(st.integers(0, 10**6), WORDS), min_size=1, max_size=3), limits)
@settings(max_examples=500)
def test_forged_sketches_are_refused_or_harmless(problem, words, limit):
    """Whatever a forger writes, there is no traceback, and no sum is negative or overflows."""
    with few_buckets(limit):
        data = sketched(problem).to_bytes()
    for place, word in words:
        data = forged(data, place % (len(data) - 40), struct.pack("<q", word))
    with contextlib.suppress(CutpointError):
        sketch = cp.Sketch.from_bytes(data)
        assert sketch.rows > 0
        assert 0 <= sketch.positives + sketch.negatives < math.inf
        assert sketch.rows * 2 == (sketch + sketch).rows
        for answer in (sketch.best(maximize="f1"), sketch.auc):
            assert answer.lower <= answer.upper


class Trap:
    """Something that acts when it is unpickled."""

    def __reduce__(self):
        """Make a file where the test looks for one."""
        return os.mkdir, ("trap",)


def test_nothing_in_a_file_is_executed(tmp_path, monkeypatch):
    """A pickle, a zip or a NumPy file is refused by its first bytes."""
    monkeypatch.chdir(tmp_path)
    saved = io.BytesIO()
    np.savez(saved, a=np.arange(3))
    for data in (pickle.dumps(Trap()), saved.getvalue(), b"", b"CPSKETCH" + pickle.dumps(Trap())):
        with pytest.raises(InvalidInputError, match="must be a sketch"):
            cp.Sketch.from_bytes(data)

    assert [] == list(tmp_path.iterdir())


def test_files_that_are_no_files(tmp_path):
    """A missing file, a folder, and a file that is far too long have errors of their own."""
    with pytest.raises(InvalidInputError, match="File not found"):
        cp.Sketch.load(tmp_path / "none")
    with pytest.raises(InvalidInputError, match="must be a sketch"):
        cp.Sketch.load(tmp_path)
    with (tmp_path / "long").open("wb") as file:
        file.truncate(_file.LARGEST_FILE + 1)
    with pytest.raises(InvalidInputError, match="longer than any sketch"):
        cp.Sketch.load(tmp_path / "long")
    with pytest.raises(InvalidInputError, match="cannot be written"):
        cp.Sketch().save(tmp_path / "no" / "folder")


def test_a_write_that_fails_leaves_the_older_file(tmp_path, monkeypatch):
    """The file is replaced when the new one is whole, and no part of it stays behind."""
    path = tmp_path / "a.sketch"
    old = cp.Sketch().update([0], [0.1])
    old.save(path)

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInputError, match="No space left"):
        cp.Sketch().update([1], [0.2]).save(path)

    assert old == cp.Sketch.load(path)
    assert [path] == list(tmp_path.iterdir())


def test_representations():
    """A sketch says what it has seen, and the best so far where the optimum is."""
    sketch = cp.Sketch().update([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])

    assert (
        "Sketch: 4 rows, 2 positive, 2 negative, scores 0.1 to 0.8, 4 buckets (every distinct score)"
        == repr(sketch)
    )
    with few_buckets(2):
        coarse = cp.Sketch().update(np.arange(40) % 2, np.arange(40) / 64).best(minimize="cost(fp=1, fn=1)")
    assert "optimum    between" in repr(coarse)
    assert coarse.value == coarse.upper
    assert {"threshold", "lower", "upper", "open_rows"} <= set(coarse.to_dict())

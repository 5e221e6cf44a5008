"""`Sketch`: exact counts that merge in any order, honest bounds, and a second look that is exact."""

import contextlib
import hashlib
import io
import math
import os
import pickle
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import replay
from cutpoints._kernel.float_order import numbered, spans
from cutpoints._kernel.masses import Masses, Unit
from cutpoints._search import run
from cutpoints._sketch import file as _file
from cutpoints._sketch import sketch as _sketch
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from strategies import ADVERSARIAL, conjunctions, directions, objectives, problems

LABELLED = ("unweighted", "integer weights", "float weights", "one weight")
kinds = st.sampled_from(LABELLED)
limits = st.sampled_from([1, 2, 3, 5, 1 << 16])


@contextlib.contextmanager
def few_buckets(limit):
    """Let a sketch have few buckets, and let refine narrow, so that a few rows show everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sketch, "LIMIT", limit)
        patch.setattr(run, "SMALL", 0)
        yield


def sketched(problem, index=slice(None)):
    """A sketch of some rows of a problem."""
    part = problem.take(index)
    return cp.Sketch().update(part.scores, part.labels, sample_weight=part.weights)


def told(solution):
    """All that two searches of the same data must agree on."""
    ties = [(tie.threshold, tie.interval, tie.confusion) for tie in solution.ties]
    shown = (solution.status, solution.threshold, solution.value, solution.interval, solution.counts)
    return *shown, ties, str(solution.attainable), solution.rows, solution.positives, solution.negatives


# --- the numbering of the floats


@given(
    st.lists(
        st.one_of(st.floats(allow_nan=False), st.sampled_from(ADVERSARIAL), st.floats(0, 1)), min_size=1
    ),
    st.integers(0, 62),
)
def test_numbers_never_decrease_and_spans_are_exact(values, level):
    """A span has the floats of its bucket and no others, at every level."""
    scores = np.sort(np.array(values, dtype=np.float64)) + 0.0
    numbers = numbered(scores) >> level

    low, high = spans(numbers, level)

    assert (numbers[1:] >= numbers[:-1]).all()  # their differences may be too large for integers
    assert ((low <= scores) & (scores <= high)).all()
    for end in (low, high):
        assert (numbered(end) >> level == numbers).all()
    with np.errstate(over="ignore"):
        below, above = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    assert ((low == -np.inf) | (numbered(below) >> level < numbers)).all()
    assert ((high == np.inf) | (numbered(above) >> level > numbers)).all()


@given(st.lists(st.integers(0, 2**150), min_size=1, max_size=4), st.integers(-60, 0), st.integers(0, 150))
def test_a_finer_grain_changes_no_mass(integers, exponent, finer):
    """`Masses.to` shifts integers of many limbs without losing a bit."""
    coarse, fine = Unit(exponent, 5), Unit(exponent - finer, 10)
    parts = [Masses.scalar(integer, coarse) for integer in integers]
    masses = Masses(np.concatenate([part.limbs for part in parts], axis=1), coarse)

    assert [integer << finer for integer in integers] == masses.to(fine).integers()


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
        whole = cp.Sketch().update(scores, labels)
        parts = cp.Sketch().update(scores[:1], labels[:1]) + cp.Sketch().update(scores[1:], labels[1:])

    assert whole.to_bytes() == parts.to_bytes()


def test_many_rows_in_any_split_give_equal_bytes():
    """The same with real sizes: numbers that are far apart, and blocks that are counted densely."""
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.random(150_000), rng.lognormal(0, 30, 50_000), [np.inf, -np.inf, 1.0, 0.0]])
    labels = rng.integers(0, 2, len(scores))
    weights = rng.random(len(scores)) * 10.0 ** rng.integers(-9, 9, len(scores))
    whole = cp.Sketch().update(scores, labels, sample_weight=weights)
    parts = [
        cp.Sketch().update(scores[i::7], labels[i::7], sample_weight=weights[i::7])
        for i in (3, 1, 0, 6, 5, 2, 4)
    ]

    assert whole == sum(parts)
    assert 1 << 14 < whole.buckets <= 1 << 16


def test_merging_leaves_the_other_alone():
    """`merge` changes the one it is called on, `+` neither."""
    one, other = cp.Sketch().update([0.1], [0]), cp.Sketch().update([0.9], [1])
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

    assert cp.Sketch().update(scores, labels) == cp.Sketch().update(scores.astype(np.float64), labels)


def test_weights_of_one_are_no_weights():
    """A row without a weight weighs 1, in the bytes too."""
    assert cp.Sketch().update([0.1, 0.2], [0, 1]) == cp.Sketch().update(
        [0.1, 0.2], [0, 1], sample_weight=[1, 1.0]
    )


# --- answers


@given(problems().filter(lambda p: p.labels is not None), directions, objectives(), conjunctions(2), limits)
@settings(max_examples=150)
def test_the_optimum_is_within_the_bounds(problem, direction, objective, constraints, limit):
    """Lower and upper bound hold, the confusion is that of the threshold, and proofs are proofs."""
    goal = {direction: objective.text, "subject_to": [one.text for one in constraints]}
    try:
        truth = cp.find(problem.labels, problem.scores, sample_weight=problem.weights, **goal)
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
        counts = replay(problem.scores, problem.labels, best.threshold, problem.weights)
        assert {k: float(v) for k, v in counts.items()} == {
            k: float(v) for k, v in best.confusion.to_dict().items()
        }
        assert best.value in (best.lower, best.upper)


@given(problems("unweighted", min_size=1), directions, objectives(), conjunctions(2), limits)
def test_refine_gives_what_find_gives(problem, direction, objective, constraints, limit):
    """The second look ends at the same threshold, interval, confusion, ties and status."""
    assert_refined(problem, direction, objective, constraints, limit)


@given(problems("float weights", min_size=1), directions, objectives(), conjunctions(1), limits)
def test_refine_gives_what_find_gives_with_weights(problem, direction, objective, constraints, limit):
    """Masses of a sketch and of the data may have different grains; their sums are the same."""
    assert_refined(problem, direction, objective, constraints, limit)


def assert_refined(problem, direction, objective, constraints, limit):
    """Ask both, or see both refuse."""
    goal = {direction: objective.text, "subject_to": [one.text for one in constraints]}
    data = {"sample_weight": problem.weights}
    with few_buckets(limit):
        sketch = sketched(problem)
        try:
            expected = cp.find(problem.labels, problem.scores, **data, **goal)
        except InvalidInputError as error:
            refused = error
        else:
            refused = None
        if refused is not None:
            with pytest.raises(InvalidInputError) as caught:
                sketch.refine(problem.scores, problem.labels, **data, **goal)
            assert str(refused) == str(caught.value)
            return
        assert told(expected) == told(sketch.refine(problem.scores, problem.labels, **data, **goal))


def test_refine_takes_frames_and_files(tmp_path):
    """What `find` reads, `refine` reads too."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    score = rng.random(100_000).astype(np.float32)
    label = (rng.random(100_000) < score).astype(int)
    frame = pd.DataFrame({"y": label, "p": score})
    frame.to_parquet(tmp_path / "scores.parquet")
    sketch = cp.Sketch().update(score, label)
    expected = told(cp.find(label, score, maximize="mcc"))

    for data in (frame, tmp_path / "scores.parquet"):
        assert expected == told(sketch.refine(data, label="y", score="p", maximize="mcc"))
    assert expected == told(sketch.refine(score, label, maximize="mcc"))
    assert "bounded" == sketch.best(maximize="mcc").status


@given(problems(max_size=16).filter(lambda p: p.labels is not None), limits)
def test_auc_is_within_its_bounds(problem, limit):
    """The exact area, by counting pairs, is between the bounds, and equal to them where scores are few."""
    rows = problem.rows
    positives, negatives = (sum(row[i] for row in rows) for i in (1, 2))
    with few_buckets(limit):
        sketch = sketched(problem)
        if 0 in (positives, negatives):
            with pytest.raises(InvalidInputError, match="for auc must have"):
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
    sketch = cp.Sketch().update(score, label)

    best = sketch.best(maximize="f1")

    assert best.upper - best.lower < 2e-4
    assert sketch.auc.upper - sketch.auc.lower < 2e-4
    assert best.lower <= cp.find(label, score, maximize="f1").value <= best.upper
    assert len(sketch.to_bytes()) < 3_200_000


def test_rounded_scores_need_no_second_look():
    """With few distinct scores the answer of one pass is final."""
    rng = np.random.default_rng(0)
    score = np.round(rng.random(50_000), 3)
    label = rng.random(50_000) < score
    sketch = cp.Sketch().update(score, label)

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
        sketch = cp.Sketch().update(score, label)
        assert math.inf == sketch.best(maximize=odd).upper
        assert told(cp.find(label, score, maximize=odd)) == told(sketch.refine(score, label, maximize=odd))


def test_open_and_infeasible_constraints():
    """A constraint that no edge meets may be met inside a bucket; one that no cut can meet is refused."""
    score, label = np.arange(1, 33) / 64, np.arange(32) % 2
    with few_buckets(1):
        sketch = cp.Sketch().update(score, label)
        inside = sketch.best(
            maximize="recall", subject_to="predicted_positive <= 5 and predicted_positive > 0"
        )
        never = sketch.best(maximize="recall", subject_to="recall >= 1.5")

    assert ("open", None, None) == (inside.status, inside.threshold, inside.value)
    assert 32 == inside.open_rows
    assert "infeasible" == never.status
    assert "status      open" in repr(inside)
    assert {"status": "open", "lower": "-inf"}.items() <= inside.to_dict().items()


# --- what is refused


BAD = {
    "NaN": ([0.1, np.nan], [0, 1], {}, "must not contain NaN"),
    "labels": ([0.1, 0.2, 0.3], [0, 1, 2], {}, "two distinct labels"),
    "text": ([0.1, 0.2], ["a", "b"], {}, "pos_label"),
    "length": ([0.1], [0, 1], {}, "same number of rows"),
    "weight": ([0.1, 0.2], [0, 1], {"sample_weight": [1, -1]}, "must not be negative"),
    "minus": ([0.1, 0.2], [-1, 1], {}, "Got -1, 0 and 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_batch_that_is_refused_leaves_the_sketch_as_it_was(name):
    """The error is that of arrays, and nothing of the batch is counted."""
    scores, labels, options, message = BAD[name]
    sketch = cp.Sketch().update([0.5, 0.25], [0, 1])
    before = sketch.to_bytes()

    with pytest.raises(InvalidInputError, match=message):
        sketch.update(scores, labels, **options)

    assert before == sketch.to_bytes()


def test_negatives_of_two_kinds_do_not_merge():
    """0/1 in one part and -1/+1 in another is a third label, as it is on arrays; pos_label settles it."""
    zero, minus = cp.Sketch().update([0.1, 0.9], [0, 1]), cp.Sketch().update([0.2, 0.8], [-1, 1])

    with pytest.raises(InvalidInputError, match="-1, 0 and 1"):
        zero.merge(minus)
    assert 2 == zero.rows
    assert 4 == zero.merge(cp.Sketch().update([0.2, 0.8], [-1, 1], pos_label=1)).rows


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
    assert 1 == (empty + cp.Sketch().update([0.5], [1])).rows
    for ask in (lambda: empty.auc, lambda: empty.best(maximize="f1")):
        with pytest.raises(InvalidInputError, match="at least one row"):
            ask()


def test_refine_sees_other_data():
    """More rows, other labels, and other scores near the optimum are all noticed."""
    rng = np.random.default_rng(0)
    score = rng.random(200_000)
    label = rng.random(200_000) < score
    sketch = cp.Sketch().update(score, label)
    threshold = sketch.refine(score, label, maximize="f1").threshold
    moved = score.copy()
    near = np.flatnonzero(np.abs(score - threshold) < 1e-4)
    moved[near[0]] = 0.9

    for scores, labels, message in (
        (score[1:], label[1:], "Rows: 200,000 in the sketch, 199,999 in the data"),
        (score, ~label, "Positives"),
        (score / 2, label, "Highest score|Lowest score"),
        (moved, label, "near the optimum"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            sketch.refine(scores, labels, maximize="f1")


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
    sketch = cp.Sketch().update([0.1, 0.7], [0, 1])
    sketch.save(path)

    loaded = cp.Sketch.load(path)

    assert sketch == loaded
    assert [path] == list(tmp_path.iterdir())
    assert 3 == loaded.update([0.3], [1]).rows


def test_a_truncated_file_is_refused(tmp_path):
    """At whatever byte it ends, the error names the file."""
    data = cp.Sketch().update([0.1, 0.7], [0, 1]).to_bytes()
    path = tmp_path / "half.sketch"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(InvalidInputError, match=r"half\.sketch' must be a sketch"):
            cp.Sketch.load(path)


def test_a_flipped_bit_is_refused():
    """The checksum sees any single bit."""
    data = cp.Sketch().update([0.1, 0.7], [0, 1]).to_bytes()
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


HEADER = struct.calcsize("<8sIIIiIiiQ")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (8, struct.pack("<I", 2), "of version 2"),
        (12, struct.pack("<I", 77), "header is impossible"),
        (16, struct.pack("<I", 3), "header is impossible"),
        (24, struct.pack("<I", 10**9), "header is impossible"),
        (36, struct.pack("<Q", 10**15), "header is impossible"),
        (36, struct.pack("<Q", 3), "bytes instead of"),
        (20, struct.pack("<i", -5), "impossible grain"),
        (HEADER, struct.pack("<q", 2**62), "buckets are not in order"),
        (HEADER + 16, struct.pack("<q", -1), "buckets are not in order"),
        (HEADER + 16, struct.pack("<q", 2**62), "impossibly many rows"),
        (HEADER + 32, struct.pack("<d", math.nan), "scores are not in order"),
        (HEADER + 32, struct.pack("<d", 0.05), "not in their buckets"),
        (HEADER + 64, struct.pack("<q", -1), "masses are impossible"),
        (HEADER + 64, struct.pack("<q", 50), "more than its rows"),
    ],
)
def test_forged_contents_are_refused(place, value, message):
    """Contents that no sketch can have are refused although their checksum is right."""
    data = cp.Sketch().update([0.1, 0.7], [0, 1]).to_bytes()

    with pytest.raises(InvalidInputError, match=message):
        cp.Sketch.from_bytes(forged(data, place, value))


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
    with pytest.raises(InvalidInputError, match="There is no such file"):
        cp.Sketch.load(tmp_path / "none")
    with pytest.raises(InvalidInputError, match="must be a sketch"):
        cp.Sketch.load(tmp_path)
    with (tmp_path / "long").open("wb") as file:
        file.truncate(_file._LARGEST + 1)
    with pytest.raises(InvalidInputError, match="longer than any sketch"):
        cp.Sketch.load(tmp_path / "long")
    with pytest.raises(InvalidInputError, match="can be written to"):
        cp.Sketch().save(tmp_path / "no" / "folder")


def test_a_write_that_fails_leaves_the_older_file(tmp_path, monkeypatch):
    """The file is replaced when the new one is whole, and no part of it stays behind."""
    path = tmp_path / "a.sketch"
    old = cp.Sketch().update([0.1], [0])
    old.save(path)

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInputError, match="No space left"):
        cp.Sketch().update([0.2], [1]).save(path)

    assert old == cp.Sketch.load(path)
    assert [path] == list(tmp_path.iterdir())


def test_representations():
    """A sketch says what it has seen, and the best so far where the optimum is."""
    sketch = cp.Sketch().update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])

    assert (
        "Sketch: 4 rows, 2 positive, 2 negative, scores 0.1 to 0.8, 4 buckets (every distinct score)"
        == repr(sketch)
    )
    with few_buckets(2):
        coarse = cp.Sketch().update(np.arange(40) / 64, np.arange(40) % 2).best(minimize="cost(fp=1, fn=1)")
    assert "optimum     between" in repr(coarse)
    assert coarse.value == coarse.upper
    assert {"threshold", "lower", "upper", "open_rows"} <= set(coarse.to_dict())

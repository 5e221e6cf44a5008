"""Arrays as a source: the three questions, the buckets, and everything that users call an array."""

import math
from array import array
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import everything, small_steps
from cutpoints._data.arrays import ArraySource
from cutpoints._kernel.binning import Linear, Radix, choose, ordered, unordered
from cutpoints._kernel.tables import Ranges
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from strategies import KINDS, problems, score_pools

DTYPES = [np.float64, np.float32]


def source_of(problem):
    """The problem as a source."""
    if problem.labels is None:
        return ArraySource.counted(problem.scores, positives=problem.positives, negatives=problem.negatives)
    return ArraySource.labelled(problem.labels, problem.scores, sample_weight=problem.weights)


def masses(answer, summary):
    """(pos, neg) of each element as fractions."""
    step = summary.grid.step
    return [(p * step, n * step) for p, n in zip(answer.pos.tolist(), answer.neg.tolist(), strict=True)]


def inside(rows, low, high):
    """(pos, neg) of all rows with low <= score <= high, and how many there are."""
    found = [row for row in rows if low <= row[0] <= high]
    return (
        (sum((r[1] for r in found), Fraction(0)), sum((r[2] for r in found), Fraction(0))),
        len(found),
    )


# --- the three questions

steps = st.fixed_dictionaries(
    {"buckets": st.integers(2, 9), "block": st.integers(1, 7), "few": st.sampled_from([0, 1, 10**6])}
)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), small=steps)
def test_summary(data, small, kind):
    """Rows, masses and the range of scores are those of the data."""
    problem = data.draw(problems(kind))
    with small_steps(**small):
        summary = source_of(problem).summary()
    rows = problem.rows

    assert len(rows) == summary.rows
    assert (sum(r[1] for r in rows), sum(r[2] for r in rows)) == summary.totals
    assert (min(r[0] for r in rows), max(r[0] for r in rows)) == (summary.low, summary.high)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), small=steps)
def test_rows_are_distinct(data, small, kind):
    """Every distinct score comes once, ascending, with the masses of all of its rows."""
    problem = data.draw(problems(kind))
    with small_steps(**small):
        source = source_of(problem)
        found = source.rows(None)
    expected = sorted({score + 0.0 for score, _, _ in problem.rows})

    assert expected == found.scores.tolist()
    assert [inside(problem.rows, s, s)[0] for s in expected] == masses(found, source.summary())
    assert len(problem.rows) == found.rows
    assert problem.scores.dtype == found.scores.dtype


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), small=steps)
def test_histogram_is_a_partition(data, small, kind):
    """Spans ascend without overlap, hold the rows that were counted, and all rows are in one."""
    problem = data.draw(problems(kind, max_size=40))
    with small_steps(**small):
        source = source_of(problem)
        histogram = source.histogram(None)
        spans = histogram.span(np.arange(len(histogram.rows), dtype=np.intp))
    lows, highs = spans.low.tolist(), spans.high.tolist()
    expected = [inside(problem.rows, low, high) for low, high in zip(lows, highs, strict=True)]

    assert all(low <= high for low, high in zip(lows, highs, strict=True))
    assert all(high < low for high, low in zip(highs, lows[1:], strict=False))
    assert [one for one, _ in expected] == masses(histogram, source.summary())
    assert [count for _, count in expected] == histogram.rows.tolist()
    assert len(problem.rows) == histogram.rows.sum()
    assert (histogram.rows > 0).all()


@given(data=st.data(), small=steps)
def test_ranges_are_answered_alone(data, small):
    """Histogram and rows of some ranges hold the rows in these ranges and no others."""
    problem = data.draw(problems(max_size=40))
    with small_steps(**small):
        source = source_of(problem)
        histogram = source.histogram(None)
        picked = data.draw(
            st.lists(st.integers(0, len(histogram.rows) - 1), min_size=1, unique=True).map(sorted)
        )
        ranges = histogram.span(np.array(picked, dtype=np.intp))
        finer = source.histogram(ranges)
        spans = finer.span(np.arange(len(finer.rows), dtype=np.intp))
        rows = source.rows(ranges)
    pairs = list(zip(ranges.low.tolist(), ranges.high.tolist(), strict=True))
    wanted = [row for row in problem.rows if any(low <= row[0] <= high for low, high in pairs)]
    expected = [
        inside(wanted, low, high) for low, high in zip(spans.low.tolist(), spans.high.tolist(), strict=True)
    ]

    assert [one for one, _ in expected] == masses(finer, source.summary())
    assert [count for _, count in expected] == finer.rows.tolist()
    assert len(wanted) == finer.rows.sum() == rows.rows
    assert sorted({score + 0.0 for score, _, _ in wanted}) == rows.scores.tolist()
    assert [inside(wanted, s, s)[0] for s in rows.scores.tolist()] == masses(rows, source.summary())


CLOSE = {
    "neighbours": lambda n: 0.5 + np.arange(n) * 2.0**-53,
    "neighbours below zero": lambda n: -7.0 + np.arange(n) * 2.0**-50,
    "neighbours of both signs": lambda n: (np.arange(n) - n // 2) * 5e-324,
    "float32": lambda n: (1 + np.arange(n) * 2.0**-23).astype(np.float32),
    "infinite": lambda n: np.concatenate([[-np.inf], np.linspace(-1e300, 1e300, n - 2), [np.inf]]),
    "some alike": lambda n: np.round(np.linspace(-1, 1, n), 3),
}


@pytest.mark.parametrize("kind", CLOSE)
def test_weighted_rows_are_sorted_to_the_last_bit(kind):
    """Also where scores differ only in bits that a fast sort has no room for."""
    rng = np.random.default_rng(4)
    scores = rng.permutation(CLOSE[kind](3000))
    labels, weights = rng.integers(0, 2, 3000), rng.lognormal(0, 5, 3000)
    source = ArraySource.labelled(labels, scores, sample_weight=weights)
    found = source.rows(None)
    copies = ArraySource.labelled(
        np.tile(labels, 50), np.tile(scores, 50), sample_weight=np.tile(weights, 50)
    )
    again = copies.rows(None)

    assert np.unique(scores).tolist() == found.scores.tolist()
    assert found.scores.tolist() == again.scores.tolist()
    assert [(50 * p, 50 * n) for p, n in masses(found, source.summary())] == masses(again, copies.summary())


def test_ranges_without_rows():
    """A range that no score lies in is answered with nothing."""
    source = ArraySource.labelled([0, 1, 1], [0.1, 0.2, 0.9])
    ranges = Ranges(np.array([0.3, 0.6]), np.array([0.4, 0.7]))

    assert 0 == len(source.rows(ranges).scores)
    assert 0 == len(source.histogram(ranges).rows)


def test_passes_are_counted():
    """A source tells how often it has read the whole data; few rows are sorted once."""
    for few, passes in ((0, 2), (3, 1)):
        with small_steps(few=few):
            source = ArraySource.labelled([0, 1, 1], [0.1, 0.2, 0.9])
            assert 0 == source.passes
            source.summary()
            source.summary()
            assert 1 == source.passes
            source.rows(None)

        assert passes == source.passes


# --- buckets


def place(buckets, scores, low=-np.inf, high=np.inf):
    """The bucket of each score."""
    out = np.empty(len(scores), dtype=np.int32)
    with np.errstate(over="ignore", under="ignore"):
        buckets.place(scores, np.empty_like(scores), out, low, high)
    assert (out % 2 == 0).all()
    return out // 2


@st.composite
def any_buckets(draw):
    """Buckets of either kind over a drawn sample, and scores to put into them."""
    dtype = draw(st.sampled_from(DTYPES))
    pool = draw(score_pools(dtype))
    finite = sorted(x for x in pool if math.isfinite(x))
    low, high = (finite[0], finite[-1]) if finite else (0.0, 1.0)
    kind = draw(st.sampled_from(["linear", "radix", "chosen"]))
    low, high = dtype(low), dtype(high)
    made = Linear.over(low, high) if kind == "linear" else None
    if kind == "chosen":
        made = choose(np.array(pool, dtype=dtype))
    if made is None:
        made = Radix.over(Ranges(np.array([low]), np.array([high])), everything=True)
    probes = np.array(sorted({*pool, *draw(score_pools(dtype)), -np.inf, 0.0, np.inf}), dtype=dtype)
    return made, np.unique(probes)


@given(made=any_buckets())
def test_buckets_never_decrease(made):
    """A higher score is never in a lower bucket, and every bucket number is in range."""
    with small_steps():
        buckets, scores = made
        placed = place(buckets, scores)

    assert (np.diff(placed) >= 0).all()
    assert 0 <= placed[0]
    assert placed[-1] < buckets.count


@given(made=any_buckets())
def test_spans_are_exact(made):
    """Both ends of a span are in its bucket; the floats next to them are in others."""
    buckets, scores = made
    placed = place(buckets, scores)
    spans = buckets.span(placed.astype(np.intp))
    infinity = scores.dtype.type(np.inf)

    assert ((spans.low <= scores) & (scores <= spans.high)).all()
    assert placed.tolist() == place(buckets, spans.low).tolist()
    assert placed.tolist() == place(buckets, spans.high).tolist()
    below, above = np.nextafter(spans.low, -infinity), np.nextafter(spans.high, infinity)
    assert (place(buckets, below)[spans.low != -infinity] < placed[spans.low != -infinity]).all()
    assert (place(buckets, above)[spans.high != infinity] > placed[spans.high != infinity]).all()


@given(made=any_buckets())
def test_knowing_the_range_changes_nothing(made):
    """The bucket of a score does not depend on what is known about the range of its block."""
    buckets, scores = made
    for part in (scores, scores[1:], scores[:-1], scores[1:-1]):
        if len(part):
            assert place(buckets, part).tolist() == place(buckets, part, part[0], part[-1]).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_linear_spans_tile_the_line(dtype):
    """The spans of all buckets follow each other float by float, from -inf to inf."""
    buckets = Linear.over(dtype(0.1), dtype(0.7))
    spans = buckets.span(np.arange(buckets.count, dtype=np.intp))

    assert -np.inf == spans.low[0]
    assert np.inf == spans.high[-1]
    assert (np.nextafter(spans.high[:-1], dtype(np.inf)) == spans.low[1:]).all()


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.0, 1.0), (0.0, 5e-324), (-1.7e308, 1.7e308), (0.0, 1e-310)],
    ids=["one score", "one float", "overflow", "subnormal"],
)
def test_linear_buckets_know_their_limits(low, high):
    """Where equal widths cannot be had in floats there are none, and no wrong ones."""
    assert None is Linear.over(np.float64(low), np.float64(high))


@given(
    st.lists(st.floats(allow_nan=False, width=32), min_size=2, max_size=12, unique_by=lambda x: x + 0.0),
    st.sampled_from(DTYPES),
)
def test_radix_over_several_ranges(ends, dtype):
    """Over disjoint ranges the spans stay inside their range, tile it, and ascend."""
    ends = np.array(sorted(x + 0.0 for x in ends))[: len(ends) // 2 * 2].astype(dtype)
    ranges = Ranges(ends[::2], ends[1::2])
    with small_steps(buckets=32):
        buckets = Radix.over(ranges)
        spans = buckets.span(np.arange(buckets.count, dtype=np.intp))
        placed = place(buckets, ends)

    assert (spans.low <= spans.high).all()
    assert (spans.high[:-1] < spans.low[1:]).all()
    assert set(ranges.low.tolist()) <= set(spans.low.tolist())
    assert set(ranges.high.tolist()) <= set(spans.high.tolist())
    inner = ~np.isin(spans.high[:-1], ranges.high)
    with np.errstate(over="ignore", under="ignore"):  # nextafter warns at both ends of the finite floats
        following = np.nextafter(spans.high[:-1], dtype(np.inf))
    assert (following == spans.low[1:])[inner].all()
    assert (np.diff(placed) >= 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_order_of_floats_is_that_of_their_keys(data, dtype):
    """Floats map to whole numbers in the same order, one step per float, and back."""
    pool = data.draw(score_pools(dtype))
    scores = np.array(sorted(pool), dtype=dtype)
    keys = ordered(scores)

    assert (scores + 0.0).tolist() == unordered(keys).tolist()
    assert (keys[1:] >= keys[:-1]).all()
    assert ((keys[1:] == keys[:-1]) == (scores[1:] == scores[:-1])).all()
    top = np.finfo(dtype).max
    finite = scores[(-top <= scores) & (scores < top)]
    with np.errstate(under="ignore"):  # nextafter warns when it steps through subnormal numbers
        up = np.nextafter(finite, dtype(np.inf))
    # Zero included, whose two bit patterns are one score.
    assert (ordered(up) - ordered(finite) == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_radix_bucket_below_zero_does_not_end_at_zero(dtype):
    """A bucket that ends just below 0.0 ends at the lowest subnormal, not at -0.0, which is 0.0."""
    buckets = Radix.over(Ranges(np.array([-1], dtype), np.array([1], dtype)))
    scores = np.array([-np.finfo(dtype).smallest_subnormal, 0.0], dtype=dtype)
    below, at = place(buckets, scores)
    spans = buckets.span(np.array([below, at], dtype=np.intp))

    assert below < at
    assert spans.high[0] < 0.0
    assert 0.0 == spans.low[1]


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda rng: rng.random(8000), 20),
        (lambda rng: rng.normal(size=8000), 40),
        (lambda rng: np.append(rng.random(8000), 1e9), 200),
        (lambda rng: 10.0 ** rng.uniform(-300, 300, 8000), 100),
        (lambda rng: rng.random(8000).astype(np.float32), 20),
    ],
    ids=["uniform", "normal", "outlier", "geometric", "float32"],
)
def test_chosen_buckets_spread_the_scores(make, most):
    """Whatever the shape of the scores, no bucket of the chosen kind holds a large share."""
    scores = make(np.random.default_rng(0))
    placed = place(choose(scores), scores)

    assert np.bincount(placed).max() <= most


# --- what users bring

Y = [0, 1, 0, 1, 1, 0]
S = [0.125, 0.5, 0.25, 0.75, 0.875, 0.5]
EXPECTED = everything(cp.find(Y, S, maximize="f1"))

SCORES = {
    "list": S,
    "tuple": tuple(S),
    "array module": array("d", S),
    "float64": np.array(S),
    "float32": np.array(S, dtype=np.float32),
    "float16": np.array(S, dtype=np.float16),
    "longdouble-free objects": np.array(S, dtype=object),
    "fractions": [Fraction(x) for x in S],
    "big-endian": np.array(S, dtype=">f8"),
    "big-endian float32": np.array(S, dtype=">f4"),
    "strided": np.array([S, S]).T.copy()[:, 1],
    "negative stride": np.array(S[::-1])[::-1],
    "every other": np.repeat(S, 2)[::2],
    "column": np.array(S)[:, None],
    "pandas": pd.Series(S),
    "pandas index": pd.Series(S, index=[5, 3, 1, 2, 4, 0]),
    "pandas float32": pd.Series(S, dtype="float32"),
    "pandas Float64": pd.Series(S, dtype="Float64"),
    "pandas Float32": pd.Series(S, dtype="Float32"),
    "pandas pyarrow": pd.Series(S, dtype="double[pyarrow]"),
    "pandas object": pd.Series(S, dtype=object),
    "pandas index as scores": pd.Index(S),
    "polars": pl.Series(S),
    "polars float32": pl.Series(S, dtype=pl.Float32),
    "polars chunked": pl.concat([pl.Series(S[:2]), pl.Series(S[2:])], rechunk=False),
    "pyarrow": pa.array(S),
    "pyarrow chunked": pa.chunked_array([S[:2], S[2:]]),
    "memoryview": memoryview(np.array(S)),
    "masked without mask": np.ma.array(S),
}


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
def test_scores_of_any_kind(scores):
    """Every array-like with these scores gives the same solution, bit for bit."""
    assert EXPECTED == everything(cp.find(Y, scores, maximize="f1"))


LABELS = {
    "list": Y,
    "tuple": tuple(Y),
    "bool list": [bool(y) for y in Y],
    "int8": np.array(Y, dtype=np.int8),
    "uint8": np.array(Y, dtype=np.uint8),
    "int64": np.array(Y),
    "uint64": np.array(Y, dtype=np.uint64),
    "bool": np.array(Y, dtype=bool),
    "float": np.array(Y, dtype=float),
    "float32": np.array(Y, dtype=np.float32),
    "object": np.array(Y, dtype=object),
    "big-endian": np.array(Y, dtype=">i4"),
    "strided": np.array([Y, Y]).T.copy()[:, 0],
    "strided int8": np.array([Y, Y], dtype=np.int8).T.copy()[:, 0],
    "strided bool": np.repeat(np.array(Y, dtype=bool), 3)[::3],
    "minus one": [2 * y - 1 for y in Y],
    "minus one int8": np.array([2 * y - 1 for y in Y], dtype=np.int8),
    "minus one float": np.array([2.0 * y - 1 for y in Y]),
    "pandas": pd.Series(Y),
    "pandas Int64": pd.Series(Y, dtype="Int64"),
    "pandas boolean": pd.Series(Y, dtype="boolean"),
    "pandas Float64": pd.Series(Y, dtype="Float64"),
    "pandas pyarrow int": pd.Series(Y, dtype="int64[pyarrow]"),
    "pandas pyarrow bool": pd.Series([bool(y) for y in Y], dtype="bool[pyarrow]"),
    "polars": pl.Series(Y),
    "polars bool": pl.Series([bool(y) for y in Y]),
    "pyarrow": pa.array(Y),
    "pyarrow bool": pa.array([bool(y) for y in Y]),
    "column": np.array(Y)[:, None],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_any_kind(labels):
    """0/1, booleans and -1/+1 in any container are read as they are."""
    assert EXPECTED == everything(cp.find(labels, S, maximize="f1"))


TEXTS = ["yes" if y else "no" for y in Y]
NAMED = {
    "strings": (TEXTS, "yes"),
    "numpy strings": (np.array(TEXTS), "yes"),
    "bytes": (np.array(TEXTS, dtype="S"), b"yes"),
    "object strings": (np.array(TEXTS, dtype=object), "yes"),
    "StringDType": (np.array(TEXTS, dtype=np.dtypes.StringDType()), "yes"),
    "pandas strings": (pd.Series(TEXTS), "yes"),
    "pandas categorical": (pd.Series(TEXTS, dtype="category"), "yes"),
    "pandas pyarrow": (pd.Series(TEXTS, dtype="string[pyarrow]"), "yes"),
    "polars": (pl.Series(TEXTS), "yes"),
    "polars categorical": (pl.Series(TEXTS, dtype=pl.Categorical), "yes"),
    "pyarrow": (pa.array(TEXTS), "yes"),
    "one and two": ([y + 1 for y in Y], 2),
    "swapped": ([1 - y for y in Y], 0),
    "swapped booleans": ([not y for y in Y], False),
    "floats": ([y + 0.5 for y in Y], 1.5),
    "numpy scalar": ([y + 1 for y in Y], np.int64(2)),
    "given although 0/1": (Y, 1),
    "given although -1/+1": ([2 * y - 1 for y in Y], 1),
}


@pytest.mark.parametrize(("labels", "pos_label"), NAMED.values(), ids=NAMED)
def test_any_two_labels_with_pos_label(labels, pos_label):
    """Any two values are labels once `pos_label` says which one is positive."""
    assert EXPECTED == everything(cp.find(labels, S, maximize="f1", pos_label=pos_label))


@pytest.mark.parametrize("labels", [["yes", "yes"], [1, 1], [True, True]], ids=repr)
def test_one_class_only_with_pos_label(labels):
    """A sample may hold the positive class only."""
    solution = cp.find(labels, [0.1, 0.2], maximize="recall", pos_label=labels[0])

    assert (2, 0) == (solution.positives, solution.negatives)


WEIGHTS = {
    "list": [1, 2, 3, 4, 5, 6],
    "int8": np.array([1, 2, 3, 4, 5, 6], dtype=np.int8),
    "float32": np.array([1, 2, 3, 4, 5, 6], dtype=np.float32),
    "bool-free objects": np.array([1, 2.0, Fraction(3), 4, 5, 6], dtype=object),
    "big-endian": np.array([1, 2, 3, 4, 5, 6], dtype=">f8"),
    "strided": np.repeat([1.0, 2, 3, 4, 5, 6], 2)[::2],
    "pandas Int64": pd.Series([1, 2, 3, 4, 5, 6], dtype="Int64"),
    "polars": pl.Series([1, 2, 3, 4, 5, 6]),
    "pyarrow": pa.array([1.0, 2, 3, 4, 5, 6]),
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_weights_of_any_kind(weights):
    """Weights come in the same containers as scores."""
    expected = cp.find(np.repeat(Y, range(1, 7)), np.repeat(S, range(1, 7)), maximize="f1")

    assert everything(expected) == everything(cp.find(Y, S, sample_weight=weights, maximize="f1"))


@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [True] * 4, np.ones(4, dtype=np.float32)], ids=str)
def test_weights_of_one_are_none(weights):
    """A column of ones costs nothing, and a zero among them is not overlooked."""
    y, s = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]

    assert ArraySource.labelled(y, s, sample_weight=weights).streams[0].weights is None
    assert everything(cp.find(y, s, maximize="f1")) == everything(
        cp.find(y, s, maximize="f1", sample_weight=weights)
    )
    assert 1 == cp.find(y, s, maximize="f1", sample_weight=[1, 0, 1, 1]).negatives
    with pytest.raises(InvalidInputError, match="same number of rows"):
        cp.find(y, s, maximize="f1", sample_weight=[1, 1, 1])


@pytest.mark.parametrize(
    "counts",
    [([0, 1, 0], [1, 0, 1]), (np.array([0, 1, 0], np.uint8), pd.Series([1, 0, 1], dtype="Int64"))],
    ids=["lists", "mixed"],
)
def test_counted_rows(counts):
    """Counted rows equal the rows that they count."""
    data = cp.from_counts([0.1, 0.5, 0.9], positives=counts[0], negatives=counts[1])
    expected = cp.find([0, 1, 0], [0.1, 0.5, 0.9], maximize="f1")

    assert everything(expected) == everything(cp.find(data, maximize="f1"))


def test_soft_labels():
    """A row may add to both sides: probabilities as masses."""
    p = np.array([0.1, 0.35, 0.4, 0.9])
    solution = cp.find(cp.from_counts(p, positives=p, negatives=1 - p), maximize="f1")
    best = max(2 * sum(p[p >= t]) / (len(p[p >= t]) + sum(p)) for t in p)

    assert best == pytest.approx(solution.value, rel=4 * solution.certificate.resolution)


@pytest.mark.parametrize("scores", [[3, 1, 2], [True, False, True], np.array([2, 0, 1], np.uint64)], ids=repr)
def test_whole_numbers_as_scores(scores):
    """Points, ranks and even booleans are scores."""
    solution = cp.find([1, 0, 1], scores, maximize="f1")

    assert 1.0 == solution.value
    assert float(sorted(np.asarray(scores).tolist())[1]) == solution.threshold


def test_whole_numbers_beyond_float64():
    """Whole numbers that float64 would merge are refused, not merged."""
    with pytest.raises(
        InvalidParameterError, match=r"(?s)^y_score must be .* float64 can hold.*2\*\*53.*Hint"
    ):
        cp.find([0, 1], np.array([2**60, 2**60 + 1]), maximize="f1")


def test_float32_is_compared_as_float32():
    """A threshold found on float32 scores is one of them and replays on them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    s = rng.normal(y, 1).astype(np.float32)
    solution = cp.find(y, s, maximize="f1")

    assert np.float32(solution.threshold) in s
    assert solution.confusion.tp == (solution.decide(s)[y == 1]).sum()


def test_neighbours_that_differ_in_float64_only_are_one_in_float32():
    """As float32 the two scores are equal, and are not split."""
    s = np.array([0.1, 0.1 + 1e-12])

    assert 1.0 == cp.find([0, 1], s, maximize="precision").value
    assert 0.5 == cp.find([0, 1], s.astype(np.float32), maximize="precision").value


@pytest.mark.parametrize("method", ["sweep", "narrow"])
def test_inputs_are_not_changed(method):
    """Read-only arrays are fine, and writable ones are left as they were."""
    y, s, w = np.array(Y), np.array([-0.0, 0.5, 0.0, 0.75, 0.9, 0.5]), np.array([1.5, 0, 1, 2, 3, 0.1])
    copies = y.copy(), s.copy(), w.copy()
    for array_ in (y, s, w):
        array_.setflags(write=False)
    with small_steps():
        solution = cp.find(y, s, sample_weight=w, maximize="f1", method=method)
        solution.decide(s)

    for before, after in zip(copies, (y, s, w), strict=True):
        assert before.tobytes() == after.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_input_is_not_copied(dtype):
    """Arrays of floats are used where they are."""
    s = np.array(S, dtype=dtype)
    proba = np.array([S, S], dtype=dtype).T

    assert s is ArraySource.labelled(Y, s).scores
    assert np.shares_memory(proba, ArraySource.labelled(Y, proba[:, 1]).scores)


def test_torch_tensors():
    """Tensors of PyTorch are arrays too; one that carries a gradient gets a hint."""
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(S, dtype=torch.float64)

    assert EXPECTED == everything(cp.find(torch.tensor(Y), tensor, maximize="f1"))
    with pytest.raises(InvalidParameterError, match=r"(?s)NumPy cannot read.*Hint: .*detach"):
        cp.find(Y, tensor.requires_grad_(), maximize="f1")


def test_array_protocol():
    """Anything with `__array__` is an array; one that cannot be read gets a hint."""

    class Tensor:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            if self.values is None:
                msg = "can't convert cuda tensor"
                raise TypeError(msg)
            return np.array(self.values, dtype=dtype)

    assert EXPECTED == everything(cp.find(Tensor(Y), Tensor(S), maximize="f1"))
    with pytest.raises(InvalidParameterError, match=r"(?s)^y_score must be .*cuda.*Hint: .*cpu"):
        cp.find(Y, Tensor(None), maximize="f1")


# --- missing values in every container

TWO_MISSING = "2 of 4 values are missing, the first at row 1 .*Hint"
MISSING = {
    "numpy": np.array([0.1, np.nan, 0.3, np.nan]),
    "float32": np.array([0.1, np.nan, 0.3, np.nan], dtype=np.float32),
    "list with None": [0.1, None, 0.3, None],
    "masked": np.ma.array([0.1, 0.2, 0.3, 0.4], mask=[0, 1, 0, 1]),
    "masked whole numbers": np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 1]),
    "pandas": pd.Series([0.1, None, 0.3, None]),
    "pandas Float64": pd.Series([0.1, None, 0.3, None], dtype="Float64"),
    "pandas Int64": pd.Series([1, None, 3, None], dtype="Int64"),
    "pandas pyarrow": pd.Series([0.1, None, 0.3, None], dtype="double[pyarrow]"),
    "pandas object NA": pd.Series([0.1, pd.NA, 0.3, pd.NA], dtype=object),
    "polars": pl.Series([0.1, None, 0.3, None]),
    "polars integers": pl.Series([1, None, 3, None]),
    "pyarrow": pa.array([0.1, None, 0.3, None]),
    "pyarrow integers": pa.array([1, None, 3, None]),
}


@pytest.mark.parametrize("column", MISSING.values(), ids=MISSING)
@pytest.mark.parametrize("name", ["y_score", "sample_weight"])
def test_missing_numbers(column, name):
    """Missing scores and weights are counted and located, whatever the container calls them."""
    columns = {"y_score": [1, 2, 3, 4], "sample_weight": [1, 1, 1, 1], name: column}
    with pytest.raises(
        InvalidInputError,
        match=rf"(?s)'{name}' must not contain NaN or null\. {TWO_MISSING}",
    ):
        cp.find([0, 1, 0, 1], maximize="f1", **columns)


MISSING_LABELS = {
    "numpy": np.array([0, np.nan, 1, np.nan]),
    "list with None": [0, None, 1, None],
    "strings": ["no", None, "yes", None],
    "masked": np.ma.array([0, 1, 1, 0], mask=[0, 1, 0, 1]),
    "pandas": pd.Series([0, None, 1, None]),
    "pandas Int64": pd.Series([0, None, 1, None], dtype="Int64"),
    "pandas boolean": pd.Series([False, None, True, None], dtype="boolean"),
    "pandas pyarrow": pd.Series([0, None, 1, None], dtype="int64[pyarrow]"),
    "pandas pyarrow bool": pd.Series([False, None, True, None], dtype="bool[pyarrow]"),
    "pandas strings": pd.Series(["no", None, "yes", None]),
    "pandas object NA": pd.Series([0, pd.NA, 1, pd.NA], dtype=object),
    "polars": pl.Series([0, None, 1, None]),
    "polars bool": pl.Series([False, None, True, None]),
    "polars strings": pl.Series(["no", None, "yes", None]),
    "pyarrow": pa.array([0, None, 1, None]),
    "pyarrow bool": pa.array([False, None, True, None]),
}


@pytest.mark.parametrize("labels", MISSING_LABELS.values(), ids=MISSING_LABELS)
@pytest.mark.parametrize("given_", [False, True], ids=["", "pos_label"])
def test_missing_labels(labels, given_):
    """A missing label is an error that counts and locates, never silently a negative."""
    values = [v for v in list(labels) if isinstance(v, str)]
    pos_label = ("yes" if values else 1) if given_ or values else None
    with pytest.raises(
        InvalidInputError,
        match=rf"(?s)'y_true' must not contain NaN or null\. {TWO_MISSING}",
    ):
        cp.find(labels, [0.1, 0.2, 0.3, 0.4], maximize="f1", pos_label=pos_label)


@pytest.mark.parametrize("pos_label", [None, 1])
def test_one_missing_label_among_positives(pos_label):
    """Also where all other labels are positive the missing one is found."""
    with pytest.raises(InvalidInputError, match=r"'y_true' must not contain NaN or null. 1 of 3"):
        cp.find([1.0, 1.0, math.nan], [1, 2, 3], maximize="f1", pos_label=pos_label)


@settings(max_examples=30)
@given(problem=problems("unweighted", min_size=2), where=st.integers(0, 10**6), block=st.integers(1, 6))
def test_nan_is_found_wherever_it_is(problem, where, block):
    """One NaN in any block is found, with its row."""
    row = where % len(problem.scores)
    s = problem.scores.copy()
    s[row] = np.nan
    with small_steps(block=block), pytest.raises(InvalidInputError, match=f"the first at row {row} "):
        cp.find(problem.labels, s, maximize="accuracy")

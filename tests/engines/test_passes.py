"""How often the data are read, and how much is sent back, for scores of every kind."""

import itertools

import narwhals as nw
import numpy as np
import pytest

import cutpoints as cp
from cutpoints._data import frames as queries
from cutpoints._data import groupby as frames
from cutpoints._data.bins import LARGEST, Seen, divide, join
from cutpoints._data.streaming import Columns
from cutpoints._kernel.tables import Histogram, Ranges
from cutpoints.exceptions import InvalidInputError

duckdb = pytest.importorskip("duckdb")
ROWS = 100_000


def _odds(rng):
    p = rng.random(ROWS)
    return p / (1 - p)


SCORES = {
    "probabilities": lambda rng: 1 / (1 + np.exp(-1.2 * rng.normal(size=ROWS))),
    "logits": lambda rng: 3 * rng.normal(size=ROWS),
    "float32": lambda rng: rng.random(ROWS).astype(np.float32),
    "two decimals": lambda rng: np.round(rng.random(ROWS), 2),
    "points": lambda rng: rng.integers(300, 850, ROWS),
    "log-normal": lambda rng: np.exp(20 * rng.normal(size=ROWS)),
    "odds": _odds,
    "1e-300 to 1e300": lambda rng: 10.0 ** rng.uniform(-300, 300, ROWS),
    "both signs": lambda rng: rng.choice([-1, 1], ROWS) * 10.0 ** rng.uniform(-300, 300, ROWS),
    "one outlier": lambda rng: np.append(rng.random(ROWS - 1), 1e300),
    "cluster": lambda rng: 0.5 + 1e-9 * rng.random(ROWS),
    "two clusters": lambda rng: np.where(
        rng.random(ROWS) < 0.5, 1e-5 * rng.random(ROWS), 1 - 1e-12 * rng.random(ROWS)
    ),
    "near one": lambda rng: 1 - np.exp(3 * rng.normal(size=ROWS) - 10),
    "infinite": lambda rng: np.where(
        rng.random(ROWS) < 0.3, rng.choice([-np.inf, np.inf], ROWS), rng.random(ROWS)
    ),
    "subnormal": lambda rng: rng.integers(0, 10**9, ROWS) * 5e-324,
    "constant": lambda rng: np.full(ROWS, 0.5),
    "around a point": lambda rng: 0.3 + rng.choice([-1, 1], ROWS) * 10.0 ** -rng.uniform(0, 17, ROWS),
}


def _source(columns):
    connection = duckdb.connect()
    connection.register("given", columns)
    connection.execute("create table t as select * from given")
    return frames.FrameSource(nw.from_native(connection.table("t")), Columns(score="p", label="y"))


@pytest.mark.parametrize("kind", SCORES)
def test_four_passes_whatever_the_scores(kind, monkeypatch):
    """Four queries at most, and few rows at the end, even where only a hundredth may be handed over."""
    monkeypatch.setattr(frames, "MEMORY_ROWS", ROWS // 100)
    rng = np.random.default_rng(5)
    scores = SCORES[kind](rng)
    rank = np.argsort(np.argsort(scores)) / ROWS
    labels = (rng.random(ROWS) < 0.2 + 0.6 * rank).astype(np.int8)
    source = _source({"p": scores, "y": labels})

    solution = cp.find(source, maximize="f1", method="narrow")

    expected = cp.find(labels, scores, maximize="f1")
    assert (expected.threshold, expected.confusion) == (solution.threshold, solution.confusion)
    assert solution.certificate.passes <= 4


def _around(points, rows, powers, rng):
    """Distances over so many powers of two, on both sides of the points."""
    return rng.choice(points, rows) * (1 + rng.choice([-1, 1], rows) * 2.0 ** -rng.uniform(2, powers, rows))


def _passes(scores, labels):
    """Search, compare with the search in memory, and return how often the data were read."""
    solution = cp.find(_source({"p": scores, "y": labels}), maximize="mcc", method="narrow")
    expected = cp.find(labels, scores, maximize="mcc")
    assert (expected.threshold, expected.confusion) == (solution.threshold, solution.confusion)
    return solution.certificate.passes


POINTS = {
    "inside a bucket": [0.3],
    "on an edge": [-2.5],
    "tiny": [0.0003],
    "large": [1e9],
    "three": [-1.7, 0.2, 3.9],
    "three sizes": [-1e-8, 0.7, 1e6],
}


@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_scores_that_crowd_around_points(points, monkeypatch):
    """The worst that we know, with labels of noise; a tenth of the rows may be handed over."""
    for name, size in (
        ("MEMORY_ROWS", 10_000),
        ("QUERY_GROUPS", 10_000),
    ):
        monkeypatch.setattr(frames, name, size)
    answers, run = [], queries.run
    monkeypatch.setattr(queries, "run", lambda query: answers.append(run(query)) or answers[-1])
    rng = np.random.default_rng(6)
    scores = _around(points, ROWS, 30, rng)

    assert _passes(scores, (rng.random(ROWS) < 0.5).astype(np.int8)) <= 4
    assert max(map(len, answers)) <= 3 * 10_000


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 10, 30])
@pytest.mark.parametrize("noise", [True, False], ids=["noise", "signal"])
def test_many_scores_that_crowd_around_points(count, noise):
    """The same in earnest: so many rows that only a part of them may be handed over."""
    rng = np.random.default_rng(7)
    points = rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-9, 9, count)
    scores = _around(points, 20_000_000, 53, rng)
    chance = 0.5 if noise else np.interp(scores, np.sort(scores[::1000]), np.linspace(0.2, 0.8, 20_000))

    assert _passes(scores, (rng.random(len(scores)) < chance).astype(np.int8)) <= 4


def _alternating(rows):
    return {"p": np.sort(np.random.default_rng(10).random(rows)), "y": np.arange(rows) % 2}


def test_labels_that_alternate(monkeypatch):
    """Where every second cut is as good as the best, the search ends after three counts all the same."""
    monkeypatch.setattr(frames, "MEMORY_ROWS", 500)
    columns = _alternating(20_000)

    solution = cp.find(_source(columns), maximize="accuracy", method="narrow")

    expected = cp.find(columns["y"], columns["p"], maximize="accuracy")
    assert (expected.threshold, expected.confusion) == (solution.threshold, solution.confusion)
    assert solution.certificate.passes <= 4


def test_rows_beyond_memory_are_refused(monkeypatch):
    """More scores than the driver has room for are not fetched, be they all or those of a range."""
    monkeypatch.setattr(frames, "SWEEP_SCORES", 1000)
    source = _source(_alternating(20_000))

    with pytest.raises(InvalidInputError, match="1,000 of them at most"):
        source.rows(Ranges(np.array([0.1]), np.array([0.9])))
    assert 0 < len(source.rows(Ranges(np.array([0.5]), np.array([0.51]))).scores) < 1000


def test_the_buckets_of_the_first_count_are_few():
    """Probabilities fill about eight thousand buckets; scores of all sizes and signs stay bounded."""
    rng = np.random.default_rng(7)
    sizes = {}
    for kind in ("probabilities", "both signs"):
        source = _source({"p": SCORES[kind](rng), "y": rng.integers(0, 2, ROWS)})
        sizes[kind] = len(source.histogram(None).rows)

    assert sizes["probabilities"] < 20_000
    assert sizes["both signs"] < 150_000


def test_pieces_cover_all_that_was_seen():
    """Every bucket that was seen lies in one piece, and pieces neither overlap nor straddle zero."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        ends = np.unique(
            rng.choice(
                [-np.inf, -3.0, -1e-300, 0.0, 1e-300, 0.5, 1.0, 1e300, np.inf, *rng.normal(size=9)], 18
            )
        )
        low, high = ends[::2][: len(ends) // 2], ends[1::2][: len(ends) // 2]
        rows = rng.integers(1, 10**6, len(low))
        seen = Seen(Histogram(low, high, rows, rows, rows))
        pieces = divide(Ranges(low[:1], high[-1:]), seen, 64)
        for one, other in itertools.pairwise(pieces):
            assert one.high < other.low
        for piece in pieces:
            assert piece.low == piece.high or piece.low > 0 or piece.high < 0
        for a, b in zip(low, high, strict=True):
            for point in (a, b):
                assert any(piece.low <= point <= piece.high for piece in pieces)


def test_joined_ranges_close_the_gaps_with_the_fewest_rows():
    """Of three gaps, the one with most rows stays open."""
    low = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    rows = np.array([1, 5, 1, 100, 1, 7, 1])
    seen = Seen(Histogram(low, low + 0.5, rows, rows, rows))
    ranges = [(0.0, 0.5), (2.0, 2.5), (4.0, 4.5), (6.0, 6.5)]

    assert [(0.0, 2.5), (4.0, 6.5)] == join(ranges, seen, 2)
    assert [(0.0, 6.5)] == join(ranges, seen, 1)
    assert ranges == join(ranges, seen, 4)
    assert np.isfinite(LARGEST)

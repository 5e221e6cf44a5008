"""One solution per segment from queries that group: what `find` returns for the segment's rows alone."""

import datetime as dt
import decimal
import math

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import cutpoints as cp
from asking import everything
from cutpoints import _segments as segments
from cutpoints._data import groupby_segments as grouped
from cutpoints._data.groupby import FrameSource
from cutpoints._data.streaming import Columns
from cutpoints._goal import goal as read_goal
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

ROWS = 6_000
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table")


def make(rows=ROWS, seed=5):
    """Rows with keys of many kinds, a column named by a word of SQL, and keys that are missing."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows)
    return pl.DataFrame(
        {
            "y": (rng.random(rows) < score).astype(np.int8),
            "p": score,
            "w": rng.random(rows),
            "select": [None if k == 3 else f'k"{k} é漢' for k in rng.integers(0, 4, rows)],
            "day": [dt.date(2026, 10, int(d)) for d in rng.integers(1, 3, rows)],
            "whole": [None if k == 2 else int(k) for k in rng.integers(-1, 3, rows)],
            "float": rng.choice([0.1, 0.0, -0.0, math.nan, -1e30], rows),
            "flag": rng.random(rows) < 0.5,
        }
    )


def facts(entry):
    """What must be equal bit for bit, but for how the search went about it."""
    if isinstance(entry, segments.Unsolved):
        return entry.status, entry.reason, entry.rows, entry.positives, entry.negatives
    return entry.status, everything(entry), entry.rows, entry.positives, entry.negatives


def plain(key):
    """A key as every engine has it: pandas makes times of dates, and Dask makes text of them."""
    if isinstance(key, tuple):
        return tuple(map(plain, key))
    return key.isoformat()[:10] if isinstance(key, dt.date) else key


def check(engine, frame, names, goal, *, holds, cells):
    """Search in the engine, with so little memory, and compare with each segment's rows alone."""
    expected = cp.find_by(frame, label="y", score="p", **names, **goal)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped, "MEMORY_ROWS", holds)
        patch.setattr(grouped, "QUERY_GROUPS", cells)
        found = engine.find(frame.to_arrow(), **names, **goal)

    assert list(map(plain, expected)) == list(map(plain, found))
    assert list(map(facts, expected.values())) == list(map(facts, found.values()))
    return max((one.certificate.passes for one in found.solved.values()), default=0), found


@pytest.mark.parametrize(
    ("holds", "cells"), [pytest.param(1 << 20, 1 << 20, id="little"), pytest.param(2_000, 1_500, id="much")]
)
@pytest.mark.parametrize(
    "names",
    [
        pytest.param({"by": ["select", "day"]}, id="text and dates"),
        pytest.param({"by": "whole"}, id="numbers"),
        pytest.param({"by": ["float", "flag"], "weight": "w"}, id="weights"),
    ],
)
def test_every_engine_solves_each_segment_as_if_it_were_alone(grouping, names, holds, cells):
    """Keys of every kind, missing ones included, with weights and without, at once or step by step."""
    passes, _ = check(grouping, make(), names, {"maximize": "f1"}, holds=holds, cells=cells)

    assert passes == 2 if holds > ROWS else 3 <= passes <= 5


def test_infeasible_and_undefined_segments_stop_no_other(grouping):
    """Each says what is wrong with it, with the very words that it has in memory."""
    frame = pl.DataFrame(
        {
            "y": [0, 1, 1, 0, 1, 1, 0, 0],
            "p": [0.2, 0.6, 0.9, 0.7, 0.8, 0.3, 0.5, math.inf],
            "k": ["a", "a", "a", "b", "b", "c", "d", "d"],
        }
    )
    goal = {"maximize": "youden_j", "subject_to": "precision >= 0.9", "min_rows": 2}

    _, found = check(grouping, frame, {"by": "k"}, goal, holds=4, cells=10)

    assert ["too few rows", "undefined: no positive rows"] == [found.note(key) for key in "cd"]


# --- what does not depend on the engine


@pytest.fixture(params=["polars-grouped", "duckdb-grouped"])
def quick(request, engine_called):
    """Two engines in this process."""
    return engine_called(request.param)


@pytest.mark.parametrize("count", [10, 100, 1_000])
def test_passes_do_not_depend_on_the_number_of_segments(quick, count):
    """With as many rows per segment, a hundred times the segments take no further pass."""
    rng = np.random.default_rng(0)
    rows = 200 * count
    score = rng.random(rows)
    frame = pl.DataFrame(
        {"y": (rng.random(rows) < score).astype(int), "p": score, "k": rng.integers(0, count, rows)}
    )

    passes, found = check(quick, frame, {"by": "k"}, {"maximize": "f1"}, holds=60 * count, cells=100 * count)

    assert passes <= 3
    assert count == len(found.solved)
    assert {passes} == {one.certificate.passes for one in found.values()}


@pytest.mark.slow
def test_ten_thousand_segments_in_every_engine(grouping):
    """With the sizes that are used in earnest, on more rows than are handed over at once."""
    rng = np.random.default_rng(2)
    rows = 2_000_000
    score = rng.random(rows)
    keys = (10_000 * rng.random(rows) ** 2).astype(np.int64)  # a few large segments, many small ones
    frame = pl.DataFrame({"y": (rng.random(rows) < score).astype(np.int8), "p": score, "k": keys})

    passes, found = check(
        grouping,
        frame,
        {"by": "k"},
        {"maximize": "f1"},
        holds=grouped.MEMORY_ROWS,
        cells=grouped.QUERY_GROUPS,
    )

    assert passes <= 4
    assert 10_000 == len(found.solved)


@pytest.mark.parametrize(
    "kind", ["log-normal", "one score", "rounded", "tiny", "infinite", "both signs", "float32"]
)
def test_odd_distributions(quick, kind):
    """Scores over many orders of magnitude, heaps of equal ones, a range of a few floats, infinities."""
    rng = np.random.default_rng(1)
    rows = 9_000
    base = rng.random(rows)
    score = {
        "log-normal": lambda: np.exp(np.clip(rng.normal(0, 200, rows), -700, 700)),
        "one score": lambda: np.full(rows, 0.5),
        "rounded": lambda: np.round(base, 2),
        "tiny": lambda: 0.5 + base * 1e-12,
        "infinite": lambda: np.where(base < 0.1, -np.inf, np.where(base > 0.9, np.inf, base)),
        "both signs": lambda: rng.choice([-1, 1], rows) * 10.0 ** rng.uniform(-300, 300, rows),
        "float32": lambda: base.astype(np.float32),
    }[kind]()
    label = (rng.random(rows) < base).astype(int)
    frame = pl.DataFrame({"y": label, "p": score, "k": rng.integers(0, 3, rows)})

    passes, _ = check(quick, frame, {"by": "k"}, {"maximize": "f1"}, holds=600, cells=600)

    assert passes <= 6


def test_a_function_of_ones_own_needs_all_scores(quick):
    """A goal without bounds is swept: one more pass, and the same answers."""

    def odd(tp, fp, fn, tn):
        return -((tp - 7) ** 2) - fp

    passes, _ = check(quick, make(500), {"by": "flag"}, {"maximize": odd}, holds=10, cells=50)

    assert passes == 3


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"p": [0.1, None, 0.3]}, "NaN"),
        ({"y": [0, 1, 2]}, "two distinct labels"),
        ({"y": [0, None, 1]}, "NaN"),
        ({"k": [[1], [2], [2]]}, "text, numbers, booleans or dates"),
    ],
)
def test_bad_rows_are_refused(quick, bad, message):
    """Missing scores and labels, third labels and keys that are lists: the errors of other frames."""
    columns = {"y": [0, 1, 1], "p": [0.1, 0.2, 0.3], "k": ["a", "b", "b"]} | bad

    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        quick.find(columns, by="k", maximize="f1")


def test_names_of_segments_are_checked(quick):
    """A column that is not there is named; one that tells rows apart is no segment."""
    columns = {"y": [0, 1, 1], "p": [0.1, 0.2, 0.3], "k": ["a", "b", "c"]}

    with pytest.raises(InvalidInputError, match="'kk'"):
        quick.find(columns, by="kk", maximize="f1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped, "QUERY_GROUPS", 2)
        with pytest.raises(InvalidParameterError, match="at most 2 distinct keys"):
            quick.find(columns, by="k", maximize="f1")


def test_a_key_that_looks_like_a_missing_one_is_noticed(quick):
    """Keys are joined as text: two that are one text are refused, and not mixed."""
    columns = {"y": [0, 1, 1], "p": [0.1, 0.2, 0.3], "k": [None, grouped._MISSING, "c"]}

    with pytest.raises(InvalidParameterError, match="differ as text"):
        quick.find(columns, by="k", maximize="f1")


@pytest.mark.parametrize(
    "change",
    [
        "delete from changing where p between 0.3 and 0.9",
        "update changing set y = 1 - y where p between 0.3 and 0.9",
        "update changing set w = w / 2",
        "update changing set flag = not flag where p < 0.5",
    ],
)
def test_rows_that_change_between_queries_are_noticed(monkeypatch, change):
    """A table that loses rows, or gets other labels, weights or keys, is an error, and not a wrong answer."""
    import duckdb

    connection = duckdb.connect()
    connection.register("given", make(3_000).to_arrow())
    connection.execute("create table changing as select * from given")
    source = FrameSource(nw.from_native(connection.table("changing")), Columns("p", "y", "w"))
    monkeypatch.setattr(grouped, "MEMORY_ROWS", 100)
    data = grouped.FrameSegments(source, ["flag"])
    connection.execute(change)

    with pytest.raises(InvalidInputError, match="must be the same each time"):
        segments.search_in_step(data, read_goal(maximize="f1"), 1)


def test_labels_that_are_drawn_anew_are_noticed(monkeypatch):
    """A query with random labels gives other sums each time, which is noticed where rows are read again.

    In a few rows the labels may agree by chance, in about one draw of seventy.
    """
    import duckdb

    monkeypatch.setattr(grouped, "MEMORY_ROWS", 3000)
    rows = "select i / 1e4 as p, (random() < 0.5)::int as y, i % 3 as k from range(10000) t(i)"
    noticed = 0
    for _ in range(10):
        source = FrameSource(nw.from_native(duckdb.connect().sql(rows)), Columns(score="p", label="y"))
        try:
            cp.find_by(source, by="k", maximize="mcc")
        except InvalidInputError as error:
            noticed += "must be the same each time" in str(error)

    assert noticed >= 8


def test_passes_are_shared_where_no_cut_is_feasible(quick, monkeypatch):
    """What each constraint attains is looked for in the same passes, however many constraints there are."""
    monkeypatch.setattr(grouped, "MEMORY_ROWS", 600)
    monkeypatch.setattr(grouped, "QUERY_GROUPS", 600)
    passes = []
    for bounds in (["precision > 1"], ["precision > 1", "recall > 1", "specificity > 1", "f1 > 1"]):
        source = FrameSource(nw.from_native(quick.frame(make().to_arrow())), Columns(score="p", label="y"))
        goal = {"maximize": "mcc", "subject_to": bounds, "by": "flag"}

        found = cp.find_by(source, **goal)

        expected = cp.find_by(make(), label="y", score="p", **goal)
        assert {"infeasible"} == {one.status for one in found.values()}
        assert list(map(facts, expected.values())) == list(map(facts, found.values()))
        passes.append(source.passes)
    assert passes[1] <= passes[0] + 1


def test_decimal_keys_and_empty_tables(quick):
    """Decimals are keys, too; a table without rows is refused as such."""
    keys = pa.array([decimal.Decimal("1.10"), decimal.Decimal("2.00"), None] * 2, pa.decimal128(9, 2))
    table = pa.table({"y": [0, 0, 0, 1, 1, 1], "p": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "k": keys})

    found = quick.find(table, by="k", maximize="f1")

    assert [0.4, 0.5, 0.6] == [one.threshold for one in found.values()]
    assert [decimal.Decimal("1.1"), decimal.Decimal(2), None] == list(found)
    with pytest.raises(InvalidInputError, match="at least one row"):
        quick.find(table[:0], by="k", maximize="f1")

"""Bad columns end in the same errors on every engine: what must hold, what was found, and a hint."""

import builtins

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

import cutpoints as cp
from cutpoints._data import groupby as frames
from cutpoints._data.streaming import Columns
from cutpoints.exceptions import (
    CutpointError,
    InvalidInputError,
    InvalidParameterError,
    MissingDependencyError,
)

GOOD = {"y": [0, 1, 0, 1], "p": [0.1, 0.2, 0.3, 0.4]}
INPUT, PARAMETER = InvalidInputError, InvalidParameterError
FAULTS = {
    "null score": (
        {"p": [0.1, None, 0.3, None]},
        {},
        INPUT,
        r"'p' must not contain NaN or null. 2 of 4 values",
    ),
    "nan score": (
        {"p": [0.1, np.nan, 0.3, 0.4]},
        {},
        INPUT,
        r"'p' must not contain NaN or null. 1 of 4 values",
    ),
    "null label": ({"y": [0, None, 0, 1]}, {}, INPUT, r"'y' must not contain NaN or null. 1 of 4 values"),
    "nan label": ({"y": [0.0, np.nan, 0.0, 1.0]}, {}, INPUT, r"'y' must not contain NaN or null. 1 of 4"),
    "null text": (
        {"y": ["a", None, "b", "a"]},
        {"pos_label": "a"},
        INPUT,
        r"'y' must not contain NaN or null. 1 of 4",
    ),
    "three labels": (
        {"y": [0, 1, 2, 1]},
        {},
        INPUT,
        r"two distinct labels. Got 3 distinct labels instead: 0, 1 and 2",
    ),
    "zero and minus": (
        {"y": [0, -1, 0, -1]},
        {},
        INPUT,
        r"'y' must hold 0 and 1, -1 and 1.* Got -1 and 0 instead",
    ),
    "other numbers": ({"y": [3, 7, 3, 7]}, {}, INPUT, r"'y' must hold 0 and 1.* Got 3 and 7 instead"),
    "text": (
        {"y": ["no", "yes", "no", "yes"]},
        {},
        INPUT,
        r"'y' must hold 0 and 1.* Got 'no' and 'yes' instead",
    ),
    "three words": (
        {"y": ["a", "b", "c", "a"]},
        {},
        INPUT,
        r"Got 3 distinct labels instead: 'a', 'b' and 'c'",
    ),
    "three with positive": ({"y": ["a", "b", "c", "a"]}, {"pos_label": "a"}, INPUT, r"Got 3 distinct labels"),
    "no such positive": (
        {"y": ["a", "b", "a", "b"]},
        {"pos_label": "z"},
        PARAMETER,
        r"one of the labels \['a', 'b'\]",
    ),
    "text for numbers": ({}, {"pos_label": "yes"}, PARAMETER, r"^pos_label must be .*which are numbers"),
    "negative weight": (
        {"w": [1.0, -2.0, 1.0, 1.0]},
        {"weight": "w"},
        INPUT,
        r"'w' must not be negative. 1 value is",
    ),
    "null weight": (
        {"w": [1.0, None, 1.0, 1.0]},
        {"weight": "w"},
        INPUT,
        r"'w' must not contain NaN or null. 1 of 4",
    ),
    "nan weight": (
        {"w": [1.0, np.nan, 1.0, 1.0]},
        {"weight": "w"},
        INPUT,
        r"'w' must not contain NaN or null. 1 of 4",
    ),
    "huge weight": ({"w": [1.0, 1.7e308, 1.0, 1.0]}, {"weight": "w"}, PARAMETER, "numbers with a finite sum"),
    "infinite weight": (
        {"w": [1.0, np.inf, 1.0, 1.0]},
        {"weight": "w"},
        PARAMETER,
        "numbers with a finite sum",
    ),
    "missing column": (
        {},
        {"score": "q"},
        INPUT,
        r"Column not found: 'q'. The columns of the data frame are",
    ),
    "huge whole numbers": ({"p": [1, 2**53, 3, 4]}, {}, PARAMETER, r"numbers that float64 can hold"),
}


def _columns(change):
    return pa.table({**GOOD, **change})


@pytest.mark.parametrize("fault", FAULTS)
def test_says_what_is_wrong(engine, fault):
    """The class and the words are the same on every engine, and there is a hint."""
    change, options, kind, words = FAULTS[fault]

    with pytest.raises(kind, match=words) as caught:
        engine.find(_columns(change), **options, maximize="f1")

    assert fault == "text for numbers" or "\n\nHint: " in str(caught.value) or kind is PARAMETER


def test_text_as_scores(engine):
    """Words are no scores, even if they look like numbers."""
    with pytest.raises(CutpointError, match=r"must (hold|be) numbers"):
        engine.find(_columns({"p": ["0.1", "0.2", "0.3", "0.4"]}), maximize="f1")


def test_no_rows(engine):
    """An empty table is an error that points to the filter or the file."""
    with pytest.raises(InvalidInputError, match=r"must have at least one row. Got 0 rows instead"):
        engine.find(_columns({})[:0], maximize="f1")


def test_all_rows_filtered_away(grouping):
    """A filter that leaves nothing is found out by the first query."""
    frame = nw.from_native(grouping.frame(_columns({}))).filter(nw.col("p") > 5)

    with pytest.raises(InvalidInputError, match=r"must have at least one row. Got 0 rows instead"):
        cp.find(frame.to_native(), label="y", score="p", maximize="f1")


def test_something_that_is_no_frame():
    """What is not a frame at all is refused by what it is."""
    with pytest.raises(InvalidParameterError, match="must be a data frame, or a path"):
        cp.find(object(), label="y", score="p", maximize="f1")


def test_many_labels_are_counted_not_fetched(grouping):
    """A column of a thousand and more labels is counted by the engine; five of them are shown."""
    rows = 1500
    table = pa.table({"y": np.arange(rows), "p": np.arange(rows) / rows})

    with pytest.raises(InvalidInputError, match=r"Got 1,500 distinct labels instead: .* and 1,495 more"):
        grouping.find(table, maximize="f1")


def test_rows_that_change_between_queries():
    """A frame that gives other rows each time is found out, and the answer is not guessed."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("create table t as select random() as p, (random() < 0.5)::int as y from range(10000)")
    relation = connection.sql("select * from t where random() < 0.5")
    source = frames.FrameSource(nw.from_native(relation), Columns(score="p", label="y"))

    with pytest.raises(InvalidInputError, match="must be the same each time") as caught:
        cp.find(source, maximize="mcc")

    assert "Hint: write or cache the data first" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        "update t set y = 1 - y where p < 0.9",
        "update t set w = 2 * w where p > 0.4",
        "update t set p = 1 - p",
        "delete from t where p > 0.5",
    ],
)
@pytest.mark.parametrize("method", ["sweep", "narrow"])
def test_tables_that_change_between_queries(change, method, monkeypatch):
    """Other labels, weights or scores are found out as missing rows are: each query is compared."""
    import duckdb

    monkeypatch.setattr(frames, "MEMORY_ROWS", 100)
    connection = duckdb.connect()
    connection.execute(
        "create table t as select i / 1e4 as p, (i * 7919 % 10007 < i)::int as y, i % 7 + 0.3 as w "
        "from range(10000) t(i)"
    )
    source = frames.FrameSource(nw.from_native(connection.table("t")), Columns("p", "y", "w"))
    source.summary()
    connection.execute(change)

    with pytest.raises(InvalidInputError, match="must be the same each time"):
        cp.find(source, maximize="mcc", method=method)


def test_labels_that_are_drawn_anew():
    """A query with random labels is never certified, though it has the same rows each time."""
    import duckdb

    rows = "select i / 1e4 as p, (random() < 0.5)::int as y from range(10000) t(i)"
    for _ in range(10):
        source = frames.FrameSource(nw.from_native(duckdb.connect().sql(rows)), Columns(score="p", label="y"))

        with pytest.raises(InvalidInputError, match="with other scores, labels or weights"):
            cp.find(source, maximize="f1")


def test_too_many_scores_for_a_sweep(monkeypatch):
    """A goal that needs every score is refused on a table for which that is too much."""
    import duckdb

    monkeypatch.setattr(frames, "SWEEP_SCORES", 100)
    relation = duckdb.connect().sql("select i / 1e6 as p, i % 2 as y from range(2000) t(i)")
    source = frames.FrameSource(nw.from_native(relation), Columns(score="p", label="y"))

    with pytest.raises(InvalidInputError, match="100 of them at most"):
        cp.find(source, maximize="f1", method="sweep")


@pytest.mark.filterwarnings("ignore:fetch_arrow_table")
def test_a_package_that_is_not_installed(engine_called, monkeypatch):
    """Where a package is missing that the engine needs, the message has the command that installs it."""
    frame = nw.from_native(engine_called("ibis-duckdb").frame(_columns({})))
    real = builtins.__import__

    def without(module, *rest, **more):
        if module.split(".")[0] == "pyarrow":
            error = ModuleNotFoundError("No module named 'pyarrow'")
            error.name = "pyarrow"
            raise error
        return real(module, *rest, **more)

    source = frames.FrameSource(frame, Columns(score="p", label="y"))
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r"pip install 'cutpoints\[ibis\]'"):
        source.summary()

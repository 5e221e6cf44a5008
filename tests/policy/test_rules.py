"""Segments, bands, labels and ordered classes: everywhere the decisions that a loop over rows makes."""

# ruff: noqa: S608 - that SQL made of texts cannot be abused is what is tested

import json
import math
import pickle
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import cutpoints as cp
from cutpoints._policy import format as _format
from cutpoints._policy import typed_json
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from engines.servers import DUCKDB_1, NO_IBIS

# Ibis calls DuckDB by a name that DuckDB has given up.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
SCHEMA = jsonschema.Draft202012Validator(_format.schema())
HOSTILE = [
    "DE",
    "de",
    "it's",
    'a"b',
    "a\\b",
    "a\\",
    "'; DROP TABLE t; --",
    "{0}",
    "{1}",
    "",
    " ",
    "Ünï 分",
    "a\nb",
]
TINY = 5e-324


def near(threshold):
    """Both neighbors of a threshold, and itself."""
    return [threshold, math.nextafter(threshold, -math.inf), math.nextafter(threshold, math.inf)]


def by_loop(edges, values, scores, missing=None):
    """What the rule says of each score: the value after the last edge that it reaches."""
    made = []
    for score in scores:
        if score is None or math.isnan(score):
            made.append(missing)
        else:
            made.append(values[len([edge for edge in edges if score >= edge])])
    return made


def segments_by_loop(table, default, scores, keys, missing=None):
    """What the rule of segments says of each row; None: no decision."""
    made = []
    for score, key in zip(scores, keys, strict=True):
        threshold = table.get(key, default)
        if score is None or math.isnan(score):
            made.append(missing)
        else:
            made.append(None if isinstance(threshold, str) else int(score >= threshold))
    return made


def plain(values):
    """Values of a column, None for missing ones, numbers as integers."""
    return [
        None if v is None or v is pd.NA or v != v else int(v) if isinstance(v, float) else v for v in values
    ]


def again(policy):
    """The policy after a trip through its file's text, which fits the schema."""
    content = json.loads(json.dumps(policy.to_dict(), allow_nan=False))
    SCHEMA.validate(content)
    return cp.Policy.from_dict(content)


POLICIES = {
    "threshold": cp.Policy(0.1 + 0.2, score="p"),
    "segments": cp.Policy.segments(
        {"DE": 0.4, None: math.inf, "FR": -math.inf}, by="c", default=0.1, score="p"
    ),
    "numbers": cp.Policy.segments({1: 0.4, 2.5: 1e-300, 2**62 + 1: 3.0}, by="c", default="keep"),
    "booleans": cp.Policy.segments({True: 0.4, False: 0.6}, by="c"),
    "two columns": cp.Policy.segments({("DE", 1): 0.4, ("DE", None): 0.5}, by=["c", "n"], score="p"),
    "hostile": cp.Policy.segments({key: i / 7 for i, key in enumerate(HOSTILE)}, by="c'\"", score="p"),
    "band": cp.Policy.band(0.2, 0.8, score="p", missing="review"),
    "empty band": cp.Policy.band(0.5, 0.5),
    "labels": cp.Policy.labels({"sport": 0.4, 1: 0.3}, scores={"sport": "p"}),
    "ordinal": cp.Policy.ordinal([0.1, 0.5, 0.5, math.inf], score="p"),
    "classes": cp.Policy.ordinal([0.5], classes=["low", "it's high"], name="n", description="d"),
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_each_rule_survives_its_file(policy, tmp_path):
    """Saved, loaded, pickled and shown, a policy is the same, keys with their types."""
    policy.save(tmp_path / "p.json")

    assert policy == again(policy) == cp.Policy.load(tmp_path / "p.json")
    assert policy == pickle.loads(pickle.dumps(policy))  # noqa: S301 - our own
    types = [[type(x) for x in one.key] for one in getattr(policy.rule, "segments", ())]
    assert types == [[type(x) for x in one.key] for one in getattr(again(policy).rule, "segments", ())]
    assert "rule" in repr(policy)
    assert "<table" in policy._repr_html_()


# --- arrays


@given(data=st.data())
def test_steps_on_arrays(data):
    """Bands and ordered classes of any ascending edges decide as a loop does, on their neighbors too."""
    floats = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0, math.inf, -math.inf, TINY])
    edges = sorted(data.draw(st.lists(floats, min_size=1, max_size=5)))
    scores = [one for edge in edges for one in near(edge)] + data.draw(st.lists(floats))
    classes = [f"class {i}" for i in range(len(edges) + 1)]
    policy = cp.Policy.ordinal(edges, classes=classes)

    assert by_loop(edges, classes, scores) == policy.decide(scores).tolist()
    assert by_loop(edges, range(len(classes)), scores) == cp.Policy.ordinal(edges).decide(scores).tolist()
    band = cp.Policy.band(edges[0], edges[-1])
    assert by_loop([edges[0], edges[-1]], [0, -1, 1], scores) == band.decide(np.array(scores)).tolist()


@given(data=st.data())
def test_segments_on_arrays(data):
    """Thresholds by segment decide as a loop does, whatever the keys are, missing ones included."""
    pool = data.draw(
        st.sampled_from(
            [HOSTILE, list(range(-3, 4)), [0.5, 1.5, 2.0, -1.0], [True, False], [2**60 + i for i in range(4)]]
        )
    )
    keys = st.sampled_from([*pool, None])
    numbers = st.floats(allow_nan=False) | st.sampled_from([0.5, math.inf, -math.inf])
    table = data.draw(st.dictionaries(keys, numbers, min_size=1))
    default = data.draw(st.sampled_from(["keep", 0.25]))
    rows = data.draw(st.lists(keys, max_size=20))
    scores = [data.draw(st.sampled_from(near(table.get(key, 0.25)))) for key in rows]
    policy = again(cp.Policy.segments(table, by="c", default=default))

    expected = segments_by_loop(table, default, scores, rows)
    assert expected == plain(policy.decide(scores, rows).tolist())
    made = policy.decide(pl.Series("s", scores, dtype=pl.Float64), rows)
    assert expected == plain(made.to_list())


def test_several_columns_of_segments():
    """Keys of several columns come as a list, a dict, or a frame with more columns in any order."""
    policy = cp.Policy.segments({("a", 1): 0.4, ("a", None): 0.6}, by=["c", "n"], default="keep")
    scores, c, n = [0.5] * 4, ["a", "a", "b", None], [1, None, 1, 1]

    assert [1, 0, None, None] == plain(policy.decide(scores, [c, n]).tolist())
    assert [1, 0, None, None] == plain(policy.decide(scores, {"n": n, "other": n, "c": c}).tolist())
    assert [1, 0, None, None] == plain(policy.decide(scores, pl.DataFrame({"c": c, "n": n})).tolist())


def test_large_integers_with_a_missing_one():
    """Integers beyond 2**53 are told apart even where a missing key makes pandas think of floats."""
    policy = cp.Policy.segments({2**60 + 1: 0.4, 2**60 + 2: 0.6}, by="c", default="keep")
    keys = pd.Series([2**60 + 1, 2**60 + 2, 2**60 + 3, None], dtype="Int64")

    assert [1, 0, None, None] == plain(policy.decide([0.5] * 4, keys).tolist())


def test_numbers_are_equal_whatever_their_type():
    """1 and 1.0 are one segment; 1 and '1', or 1 and True, are not, and mixing them up is an error."""
    policy = cp.Policy.segments({1: 0.4}, by="c", default=0.9)

    assert [1, 0] == policy.decide([0.5, 0.5], np.array([1.0, 2.0])).tolist()
    for keys in (["1"], [True], [b"1"]):
        with pytest.raises(
            InvalidParameterError, match="the type that the policy has for 'c', which is number"
        ):
            policy.decide([0.5], keys)
    with pytest.raises(InvalidParameterError, match="which is text"):
        cp.Policy.segments({"1": 0.4}, by="c", default=0.9).decide([0.5], [1])


def test_unknown_segments():
    """By default they are an error that names the first; rows without a score are not asked."""
    policy = cp.Policy.segments({"a": 0.4}, by="c")

    with pytest.raises(
        InvalidInputError, match=r"(?s)2 of 3 rows have another c, the first at row 1.*'b'.*default"
    ):
        policy.decide([0.5] * 3, ["a", "b", None])
    with pytest.raises(InvalidInputError, match="is missing"):
        policy.decide([0.5, math.nan], ["a", "b"])
    assert [1, 0] == policy.decide([0.5, math.nan], ["a", "b"], missing="negative").tolist()
    with pytest.raises(InvalidParameterError, match="by must be given"):
        policy.decide([0.5])
    with pytest.raises(InvalidInputError, match="the same number of rows"):
        policy.decide([0.5], ["a", "a"])
    with pytest.raises(InvalidParameterError, match="left out: the policy has no segments"):
        cp.Policy(0.5).decide([0.5], ["a"])


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, pa.array])
def test_float32_scores_by_segment(kind):
    """Scores of single precision are compared exactly with each threshold."""
    single = np.float32(0.3)
    scores = np.array([single, np.nextafter(single, np.float32(0))] * 2, dtype=np.float32)
    policy = cp.Policy.segments({"d": 0.3, "s": float(single)}, by="c")

    assert [1, 0, 1, 0] == list(np.asarray(policy.decide(kind(scores), ["d", "d", "s", "s"])))


def test_missing_scores_under_each_rule():
    """A band can send them to review; ordered classes have no class for them."""
    scores = [math.nan, 0.9]
    band = cp.Policy.band(0.2, 0.8)

    assert [-1, 1] == band.decide(scores, missing="review").tolist()
    assert ["ask", "yes"] == band.decide(
        scores, missing="review", positive="yes", negative="no", review="ask"
    ).tolist()
    assert [0, 1] == band.decide(scores, missing="negative").tolist()
    ordinal = cp.Policy.ordinal([0.5], classes=["low", "high"])
    assert [None, "high"] == ordinal.decide(scores, missing="keep").tolist()
    for policy, rule in ((ordinal, "negative"), (ordinal, "review"), (cp.Policy(0.5), "review")):
        with pytest.raises(InvalidParameterError, match="missing must be one of"):
            policy.decide(scores, missing=rule)
    with pytest.raises(InvalidParameterError, match="ordered classes"):
        ordinal.decide([0.9], positive="yes", negative="no")
    with pytest.raises(InvalidParameterError, match="positive must be of the same type"):
        band.decide([0.9], positive="yes", negative="no")


def test_labels_on_a_matrix():
    """A column of scores per label gives a column of decisions per label."""
    policy = cp.Policy.labels({"a": 0.5, "b": 0.2})

    assert [[0, 1], [1, 0]] == policy.decide(np.array([[0.4, 0.2], [0.5, 0.1]])).tolist()
    for bad in ([0.5, 0.2], [[0.5]], [[0.1, 0.2, 0.3]]):
        with pytest.raises(InvalidParameterError, match="one column for each of 2 labels"):
            policy.decide(bad)
    with pytest.raises(InvalidInputError, match=r"'b' must not contain NaN.*1 of 2"):
        policy.decide([[0.4, 0.2], [0.5, math.nan]])
    with pytest.raises(InvalidParameterError, match="several labels"):
        policy.decide(pd.Series([0.5]))


# --- frames


def _dask(table):
    dask = pytest.importorskip("dask.dataframe", reason="NOT TESTED ON DASK: it is not installed")
    return dask.from_pandas(table.to_pandas(), npartitions=1)


def _ibis(table):
    ibis = pytest.importorskip("ibis", reason="NOT TESTED ON IBIS: it is not installed")
    if DUCKDB_1:
        pytest.skip(NO_IBIS)
    return ibis.duckdb.connect().create_table("t", table)


FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "pandas-arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
    "polars-lazy": lambda table: pl.from_arrow(table).lazy(),
    "duckdb": lambda table: duckdb.connect().from_arrow(table),
    "dask": _dask,
    "ibis": _ibis,
}


@pytest.fixture(params=FRAMES.values(), ids=FRAMES.keys())
def frame(request):
    """A function from an Arrow table to a frame of each engine."""
    return request.param


def column(frame, name):
    """The values of a column, None for missing ones."""
    for collect in ("collect", "compute", "to_pyarrow"):
        if hasattr(frame, collect):
            frame = getattr(frame, collect)()
    if hasattr(frame, "fetchall"):
        frame = frame.to_arrow_table()
    values = frame[name].to_pylist() if hasattr(frame[name], "to_pylist") else frame[name].to_list()
    return plain(values)


@pytest.mark.parametrize("default", ["keep", 0.3, math.inf])
def test_segments_in_frames(frame, default):
    """Frames, lazy ones too, have their segments in a column, and hostile keys are keys."""
    table = dict(
        zip(
            HOSTILE,
            [0.5, 0.25, math.inf, -math.inf, *np.linspace(0.1, 0.9, len(HOSTILE) - 4).tolist()],
            strict=True,
        )
    )
    keys = [key for key in [*HOSTILE, "unknown", None] for _ in range(3)]
    scores = [one for key in [*HOSTILE, "unknown", None] for one in near(table.get(key, 0.3))]
    by = "it's c" if DUCKDB_1 else 'it\'s "c"'  # narwhals on DuckDB 1 finds no column with quotes
    policy = cp.Policy.segments(table, by=by, default=default, score="p", missing="keep")
    made = policy.decide(frame(pa.table({"p": scores, by: keys, "threshold": scores})))

    assert segments_by_loop(table, default, scores, keys) == column(made, "decision")
    assert scores == pytest.approx(column_floats(made, "threshold"))


def column_floats(frame, name):
    """A column of floats that has no missing values."""
    for collect in ("collect", "compute", "to_pyarrow"):
        if hasattr(frame, collect):
            frame = getattr(frame, collect)()
    if hasattr(frame, "fetchall"):
        frame = frame.to_arrow_table()
    return frame[name].to_pylist() if hasattr(frame[name], "to_pylist") else frame[name].to_list()


@pytest.mark.parametrize(
    ("table", "keys", "type_"),
    [
        ({7: 0.5, -1: 0.2, None: 0.9}, [7, -1, None, 8], pa.int64()),
        ({0.5: 0.5, 2: 0.2, None: 0.9}, [0.5, 2.0, None, 8.0], pa.float64()),
        ({True: 0.5, None: 0.9}, [True, False, None], pa.bool_()),
        ({2**60 + 1: 0.5, 2**60 + 2: 0.9}, [2**60 + 1, 2**60 + 2, 2**60 + 3], pa.int64()),
    ],
    ids=["integers", "floats", "booleans", "large integers"],
)
def test_other_keys_in_frames(frame, table, keys, type_):
    """Numbers and booleans are keys as well, and missing ones have a threshold if the policy says so."""
    if frame is _dask and type_ in (pa.bool_(), pa.int64()):
        pytest.skip("Dask takes booleans with a missing one for text, and integers for floats")
    policy = cp.Policy.segments(table, by="c", default="keep", score="p", missing="keep")
    data = pa.table({"p": [0.5] * len(keys), "c": pa.array(keys, type_)})

    assert segments_by_loop(table, "keep", [0.5] * len(keys), keys) == column(
        policy.decide(frame(data)), "decision"
    )


def test_two_columns_in_frames(frame):
    """A key of two columns is met where both are."""
    table = {("a", 1): 0.4, ("a", None): 0.6, (None, 1): 0.5}
    policy = cp.Policy.segments(table, by=["c", "n"], default="keep", score="p", missing="keep")
    c, n = ["a", "a", "a", None, None, "b"], [1, 2, None, 1, None, 1]
    data = frame(pa.table({"p": [0.5] * 6, "c": c, "n": pa.array(n, pa.int64())}))

    assert [1, None, 0, 1, None, None] == column(policy.decide(data), "decision")


def test_errors_of_segments_in_frames(frame):
    """Unknown segments, keys of another type and a missing column, on lazy frames too."""
    policy = cp.Policy.segments({"a": 0.4}, by="c", score="p")
    data = frame(pa.table({"p": [0.5, 0.5], "c": ["a", "b"], "n": [1, 2]}))

    with pytest.raises(InvalidInputError, match="1 of 2 rows has another c"):
        policy.decide(data)
    with pytest.raises(InvalidParameterError, match="which is text"):
        cp.Policy.segments({"a": 0.4}, by="n", score="p", default=0.5).decide(data)
    with pytest.raises(InvalidInputError, match="Column not found: 'd'"):
        cp.Policy.segments({"a": 0.4}, by="d", score="p").decide(data)
    with pytest.raises(InvalidParameterError, match="left out for a frame"):
        policy.decide(data, ["a", "b"])


def test_bands_and_classes_in_frames(frame):
    """Each edge of a band and of ordered classes is decided exactly."""
    edges = [0.1 + 0.2, 0.5, math.inf]
    scores = [*(one for edge in edges for one in near(edge)), math.inf, -math.inf]
    data = frame(pa.table({"p": scores}))
    band = cp.Policy.band(*edges[:2], score="p")
    ordinal = cp.Policy.ordinal(edges, classes=["a", "b", "c", "it's"], score="p")

    assert by_loop(edges[:2], [0, -1, 1], scores) == column(band.decide(data), "decision")
    assert by_loop(edges, ["a", "b", "c", "it's"], scores) == column(ordinal.decide(data), "decision")


def test_labels_in_frames(frame):
    """A frame gets a column of decisions per label."""
    policy = cp.Policy.labels({"a": 0.5, "b": 0.2}, scores={"a": "p_a"})
    made = policy.decide(frame(pa.table({"p_a": [0.5, 0.4], "b": [0.1, 0.2], "id": [1, 2]})), column="is")

    assert ([1, 0], [0, 1], [1, 2]) == tuple(column(made, name) for name in ("is_a", "is_b", "id"))
    with pytest.raises(InvalidParameterError, match="names a column for each"):
        policy.decide(pd.DataFrame({"p_a": [0.5], "b": [0.1]}), score="b")


def test_frames_stay_lazy_under_every_rule():
    """With a rule for missing scores and unknown segments nothing runs before its time."""

    def explode(_frame):
        msg = "ran"
        raise AssertionError(msg)

    schema = {"p": pl.Float64, "c": pl.String}
    lazy = pl.LazyFrame(schema=schema).map_batches(explode, schema=schema)
    for policy in (
        cp.Policy.segments({"a": 0.4}, by="c", default=0.5, score="p", missing="keep"),
        cp.Policy.band(0.2, 0.8, score="p", missing="review"),
        cp.Policy.labels({"p": 0.5}, missing="negative"),
    ):
        assert isinstance(policy.decide(lazy), pl.LazyFrame)


def test_pandas_keeps_its_index_by_segment():
    """Rows of pandas keep their labels, whatever they are."""
    frame = pd.DataFrame({"p": [0.5, 0.5], "c": ["a", "b"]}, index=[1, 0])
    policy = cp.Policy.segments({"a": 0.4, "b": 0.6}, by="c", score="p")

    assert {1: 1, 0: 0} == policy.decide(frame)["decision"].to_dict()
    assert {1: 1, 0: 0} == policy.decide(frame["p"], frame["c"]).to_dict()
    assert ["p", "c", "decision"] == list(policy.decide(frame).columns)


@pytest.mark.parametrize("kind", ["polars-lazy", "duckdb", "pandas"])
def test_many_segments_in_frames(kind):
    """Some thousand segments are no problem for any engine: expressions are not nested a thousand deep."""
    rng = np.random.default_rng(0)
    table = {f"s{i}": float(t) for i, t in enumerate(rng.random(2000))}
    keys = [f"s{i}" for i in rng.integers(0, 2100, 3000)]
    scores = rng.random(3000).tolist()
    policy = cp.Policy.segments(table, by="c", default=0.5, score="p", missing="keep")
    made = policy.decide(FRAMES[kind](pa.table({"p": scores, "c": keys})))

    assert segments_by_loop(table, 0.5, scores, keys) == column(made, "decision")


# --- SQL


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def run_sql(request):
    """Run the SQL of a policy over rows on each engine; return the columns of decisions as rows."""
    dialect = request.param

    def quoted(name):
        return '"' + name.replace('"', '""') + '"'

    def run(policy, columns, rows, **options):
        names = ", ".join(f"{quoted(name)} {type_}" for name, type_ in columns.items())
        create = f"CREATE TABLE t (i INTEGER, {names})"
        mark = "%s" if dialect == "postgres" else "?"
        insert = f"INSERT INTO t VALUES ({', '.join([mark] * (len(columns) + 1))})"
        select = f"SELECT {policy.to_sql(dialect=dialect, **options)} FROM t ORDER BY i"
        numbered = [(i, *row) for i, row in enumerate(rows)]
        if dialect == "postgres":
            with request.getfixturevalue("database").cursor() as cursor:
                cursor.execute(b"DROP TABLE IF EXISTS t")
                cursor.execute(create.encode())
                cursor.executemany(insert.encode(), numbered)
                return cursor.execute(select.encode()).fetchall()
        connection = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
        try:
            connection.execute(create)
            connection.executemany(insert, numbered)
            return connection.execute(select).fetchall()
        finally:
            connection.close()

    run.dialect = dialect
    return run


@pytest.mark.parametrize("default", ["keep", "error", 0.3])
def test_segments_in_sql(run_sql, default):
    """CASE over hostile keys, NULL, other capitals and unknown ones decides as a loop, on real engines."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 99, dtype=np.uint64).view(np.float64)
    odd = iter([math.inf, -math.inf, 0.5, *bits[np.isfinite(bits)].tolist()])
    table = {key: next(odd) for key in [*HOSTILE, None]}
    rows = [(one, key) for key in [*HOSTILE, None, "De", "unknown"] for one in near(table.get(key, 0.3))]
    rows += [(None, "DE"), (math.nan, "unknown")]
    name = 'c\'; "x" {0}{1} --'
    policy = cp.Policy.segments(table, by=name, default=default, score="p")
    made = run_sql(policy, {"p": "double precision", name: "text"}, rows)

    assert segments_by_loop(table, default, *zip(*rows, strict=True)) == [row[0] for row in made]


@pytest.mark.parametrize(
    ("table", "keys", "type_"),
    [
        ({7: 0.5, -1: 0.2, None: 0.9}, [7, -1, None, 8], "integer"),
        ({0.1: 0.5, 2: 0.2}, [0.1, 2.0, None, 8.0], "double precision"),
        ({True: 0.5, False: 0.9}, [True, False, None], "boolean"),
        ({2**60 + 1: 0.5, 2**60 + 2: 0.9}, [2**60 + 1, 2**60 + 2, 2**60 + 3], "bigint"),
    ],
    ids=["integers", "floats", "booleans", "large integers"],
)
def test_other_keys_in_sql(run_sql, table, keys, type_):
    """Numbers and booleans are exact literals, beyond 2**53 too."""
    policy = cp.Policy.segments(table, by="c", default="keep", score="p")
    made = run_sql(policy, {"p": "double precision", "c": type_}, [(0.5, key) for key in keys])

    assert segments_by_loop(table, "keep", [0.5] * len(keys), keys) == [row[0] for row in made]


def test_capitals_matter_whatever_the_collation(run_sql, request):
    """A column whose collation ignores capitals does not merge two segments."""
    type_ = {
        "duckdb": "VARCHAR COLLATE NOCASE",
        "sqlite": "TEXT COLLATE NOCASE",
        "postgres": "text COLLATE nocase",
    }
    if run_sql.dialect == "postgres":
        with request.getfixturevalue("database").cursor() as cursor:
            cursor.execute(
                b"CREATE COLLATION IF NOT EXISTS nocase "
                b"(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
            )
    policy = cp.Policy.segments({"DE": 0.4, "de": 0.6}, by="c", default="keep", score="p")
    rows = [(0.5, "DE"), (0.5, "de"), (0.5, "De")]

    assert [1, 0, None] == [r[0] for r in run_sql(policy, {"p": "REAL", "c": type_[run_sql.dialect]}, rows)]


def test_two_columns_in_sql(run_sql):
    """A key of two columns is met where both are, NULL included."""
    policy = cp.Policy.segments({("a", 1): 0.4, ("a", None): 0.6}, by=["c", "n"], default="keep", score="p")
    rows = [(0.5, "a", 1), (0.5, "a", None), (0.5, "a", 2), (0.5, None, 1)]
    made = run_sql(policy, {"p": "double precision", "c": "text", "n": "integer"}, rows)

    assert [1, 0, None, None] == [row[0] for row in made]


def test_bands_classes_and_labels_in_sql(run_sql):
    """Every edge is an exact literal; labels are named expressions, to stand behind SELECT."""
    edges = [0.1 + 0.2, 1 / 3, math.inf]
    rows = [(one,) for edge in edges for one in near(edge)] + [(None,), (math.nan,)]
    scores = [row[0] for row in rows]
    types = {"p": "double precision"}

    made = run_sql(cp.Policy.band(*edges[:2], score="p"), types, rows)
    assert by_loop(edges[:2], [0, -1, 1], scores) == [row[0] for row in made]
    made = run_sql(cp.Policy.band(*edges[:2], score="p", missing="review"), types, rows)
    assert by_loop(edges[:2], [0, -1, 1], scores, missing=-1) == [row[0] for row in made]
    classes = ["a", "b\\", "it's", "d"]
    made = run_sql(cp.Policy.ordinal(edges, classes=classes, score="p"), types, rows)
    assert by_loop(edges, classes, scores) == [row[0] for row in made]
    labels = cp.Policy.labels({"x": edges[0], 'y"': edges[1]}, scores={"x": "p"})
    made = run_sql(labels, {"p": "double precision", 'y"': "double precision"}, [(s, s) for s in scores])
    expected = zip(*(by_loop([edge], [0, 1], scores) for edge in edges[:2]), strict=True)
    assert list(expected) == made


def test_many_segments_in_sql(run_sql):
    """A thousand segments are one expression that every engine takes."""
    table = {f"s{i}": i / 1000 for i in range(1000)}
    rows = [(0.5, f"s{i}") for i in (0, 499, 500, 501, 999, 1000)]
    policy = cp.Policy.segments(table, by="c", default="keep", score="p")

    assert [1, 1, 1, 0, 0, None] == [
        r[0] for r in run_sql(policy, {"p": "double precision", "c": "text"}, rows)
    ]


def test_a_query_that_fails_for_an_unknown_segment():
    """Where a dialect can, an unknown segment is an error of the query."""
    policy = cp.Policy.segments({"a": 0.4}, by="c", score="p")
    with duckdb.connect() as connection:
        sql = policy.to_sql(dialect="duckdb", missing="error")
        with pytest.raises(duckdb.Error, match="unknown segment"):
            connection.sql(f"SELECT {sql} FROM (SELECT 0.5 AS p, 'b' AS c)").fetchall()
        assert [(1,)] == connection.sql(f"SELECT {sql} FROM (SELECT 0.5 AS p, 'a' AS c)").fetchall()


@pytest.mark.parametrize("dialect", ["ansi", "bigquery", "mysql", "snowflake", "spark"])
@pytest.mark.parametrize(
    "policy", [p for p in POLICIES.values() if p.score], ids=[k for k, p in POLICIES.items() if p.score]
)
def test_dialects_that_are_not_run_parse(dialect, policy):
    """What is written by the manuals is at least SQL of that dialect, and its only columns are ours."""
    sqlglot = pytest.importorskip("sqlglot")
    read = None if dialect == "ansi" else dialect
    parsed = sqlglot.parse_one(f"SELECT {policy.to_sql(dialect=dialect)} FROM t", read=read)
    names = {one.name for one in parsed.find_all(sqlglot.exp.Column)}

    assert {policy.score, *getattr(policy.rule, "by", ())} == names
    if dialect != "mysql":  # which has bytes
        texts = {one.this for one in parsed.find_all(sqlglot.exp.Literal) if one.is_string}
        keys = {
            part for one in getattr(policy.rule, "segments", ()) for part in one.key if isinstance(part, str)
        }
        assert keys <= texts


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_rules_on_spark(spark):
    """Spark decides hostile keys, NULL and every edge by the rule, as SQL and as a lazy frame."""
    table = {key: i / 7 for i, key in enumerate([*HOSTILE, None])}
    rows = [(one, key) for key in [*HOSTILE, None, "unknown"] for one in near(table.get(key, 0.3))]
    frame = spark.createDataFrame([(i, *row) for i, row in enumerate(rows)], "i int, p double, c string")
    policy = cp.Policy.segments(table, by="c", default=0.3, score="p", missing="keep")
    expected = segments_by_loop(table, 0.3, *zip(*rows, strict=True))
    made = frame.selectExpr("i", f"{policy.to_sql(dialect='spark')} AS d").orderBy("i")

    assert expected == [row.d for row in made.collect()]
    assert expected == [row.decision for row in policy.decide(frame).orderBy("i").collect()]
    band = cp.Policy.band(0.2, 0.5, score="p")
    scores = [row[0] for row in rows]
    assert by_loop([0.2, 0.5], [0, -1, 1], scores) == [
        row.decision for row in band.decide(frame).orderBy("i").collect()
    ]


# --- Python


@given(data=st.data())
def test_python(data):
    """The source of the function, run by itself, decides as the policy, whatever the rule."""
    policy = data.draw(st.sampled_from([p for p in POLICIES.values() if p.rule.kind != "labels"]))
    names = {}
    exec(policy.to_python(missing="keep"), names)  # noqa: S102 - our own text
    decision = policy.rule.decisions()[0]
    keys = [*decision.segments, *([("unknown",)] if decision.types == ("text",) else [])]
    if policy.rule.kind != "segments":
        edges = decision.otherwise
        scores = [one for edge in edges for one in near(edge)] + [None, math.nan]
        assert by_loop(edges, decision.values, scores) == names["decide"](scores)
        return
    for key in keys:
        edges = decision.edges(key)
        shown = key[0] if len(key) == 1 else key
        if edges is None:
            continue
        scores = [*near(edges[0]), None]
        assert by_loop(edges, (0, 1), scores) == names["decide"](scores, [shown] * len(scores))


def test_python_without_any_package(tmp_path):
    """An interpreter without packages runs segments and labels as files."""
    segments = cp.Policy.segments({"it's": 0.3, None: 0.5}, by="c", default="keep")
    labels = cp.Policy.labels({'"""': 0.3, "b": 0.5})
    calls = (
        "print(decide([0.3, 0.3, 0.3, 0.5], [\"it's\", None, 'x', float('nan')]), tag([0.3, 0.3]))\n"
        "try:\n    decide(0.3, 7)\nexcept TypeError as error:\n    print(error)\n"
    )
    path = tmp_path / "rule.py"
    path.write_text(
        f"{segments.to_python()}\n\n{labels.to_python(function='tag')}\n\n{calls}", encoding="utf-8"
    )
    out = subprocess.run(
        [sys.executable, "-I", "-S", path], capture_output=True, text=True, check=True
    ).stdout

    assert [
        "[1, 0, None, 1] [1, 0]",
        "a key must have the type that the policy has",
    ] == out.strip().splitlines()


def test_python_refuses_unknown_segments():
    """Unless the policy has a default, a new segment is an error there too."""
    names = {}
    exec(cp.Policy.segments({"a": 0.3}, by="c").to_python(), names)  # noqa: S102
    with pytest.raises(ValueError, match="unknown segment"):
        names["decide"](0.5, "b")


def test_scikit_learn_has_one_threshold():
    """What scikit-learn cannot do is refused, by name."""
    from sklearn.linear_model import LogisticRegression

    for policy in (POLICIES["band"], POLICIES["segments"], POLICIES["labels"], POLICIES["ordinal"]):
        with pytest.raises(InvalidParameterError, match=f"one threshold.*{policy.rule.kind}"):
            policy.to_sklearn(LogisticRegression())
        with pytest.raises(InvalidParameterError, match="one threshold"):
            _ = policy.threshold


# --- files


SUFFIXES = [".csv", ".parquet", ".ndjson"]


def written(frame, path):
    """Write a frame by its ending, and return the path."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


def read(path):
    """Read decisions back."""
    if path.suffix == ".csv":
        return pd.read_csv(path, keep_default_na=False, na_values={"decision": [""]})
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_json(path, lines=True)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_segments_in_files(tmp_path, suffix):
    """Files of every format are decided by segment, hostile keys included, and counted."""
    keys = [key for key in HOSTILE if key not in ("", " ")]
    table = {key: i / 7 for i, key in enumerate(keys)}
    rows = [(one, key) for key in [*keys, "unknown"] for one in near(table.get(key, 0.3))]
    frame = pd.DataFrame(rows, columns=["p", "c"])
    policy = cp.Policy.segments(table, by="c", default="keep", score="p")
    if suffix == ".ndjson":  # which pandas writes with ten digits
        (tmp_path / "in.ndjson").write_text("".join(json.dumps({"p": p, "c": c}) + "\n" for p, c in rows))
    else:
        written(frame, tmp_path / f"in{suffix}")
    done = policy.apply(tmp_path / f"in{suffix}", tmp_path / f"out{suffix}")
    expected = segments_by_loop(table, "keep", *zip(*rows, strict=True))

    assert expected == plain(read(tmp_path / f"out{suffix}")["decision"].tolist())
    assert {0: expected.count(0), 1: expected.count(1)} == done.decisions["decision"]
    assert (len(rows), 0, 3) == (done.rows, done.missing, done.unknown)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_typed_keys_in_files(tmp_path, suffix):
    """Numbers are numbers in Parquet and JSON, and in a CSV what their text says; 1.5 is not 2."""
    table = {1: 0.4, 2: 0.6, 2**60 + 1: 0.4}
    frame = pd.DataFrame({"p": [0.5] * 4, "c": [1, 2, 2**60 + 1, 2**60 + 2]})
    path = written(frame, tmp_path / f"in{suffix}")
    cp.Policy.segments(table, by="c", default="keep", score="p").apply(path, tmp_path / f"out{suffix}")

    assert [1, 0, 1, None] == plain(read(tmp_path / f"out{suffix}")["decision"].tolist())
    if suffix == ".csv":
        path.write_text("p,c\n0.5,1.5\n0.5,1.0\n0.5,x\n0.5, 2 \n", encoding="utf-8")
        cp.Policy.segments(table, by="c", default="keep", score="p").apply(path, tmp_path / "out.csv")
        assert [None, 1, None, 0] == plain(read(tmp_path / "out.csv")["decision"].tolist())
        path.write_text("p,c\n0.5,true\n0.5,False\n0.5,\n", encoding="utf-8")
        policy = cp.Policy.segments({True: 0.4, False: 0.6, None: 0.1}, by="c", score="p")
        policy.apply(path, tmp_path / "out.csv")
        assert [1, 0, 1] == plain(read(tmp_path / "out.csv")["decision"].tolist())
    else:
        with pytest.raises(InvalidParameterError, match="which is text"):
            cp.Policy.segments({"1": 0.4}, by="c", default=0.5, score="p").apply(
                path, tmp_path / f"o{suffix}"
            )


@settings(max_examples=20)  # each reads and writes four files
@given(data=st.data())
def test_a_search_among_segments_of_files(data):
    """However many keys of whatever type there are, the search in files finds each and nothing else."""
    pools = [
        HOSTILE[:-1],
        [*range(-5, 6), 0.5, -0.5, 1.5, 4.5],
        [2**60 + i for i in range(-3, 4)],
        [True, False],
    ]
    pool = data.draw(st.sampled_from(pools))
    table = {
        (key, None if other == 3 else other): data.draw(st.sampled_from([0.25, 0.75]))
        for key, other in data.draw(
            st.sets(st.tuples(st.sampled_from([*pool, None]), st.integers(0, 3)), min_size=1)
        )
    }
    rows = [(0.5, key, other) for key in [*pool, None] for other in (0, 1, None)]
    policy = cp.Policy.segments(table, by=["c", "n"], default="keep", score="p")
    expected = segments_by_loop(table, "keep", [0.5] * len(rows), [row[1:] for row in rows])
    kind = pa.string() if isinstance(pool[0], str) else pa.bool_() if pool[0] is True else None
    column = [row[1] for row in rows]
    n = pa.array([row[2] for row in rows], pa.int64())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        frame = pa.table({"p": [0.5] * len(rows), "c": pa.array(column, kind), "n": n})
        parquet.write_table(frame, path / "in.parquet")
        policy.apply(path / "in.parquet", path / "out.parquet")
        assert expected == plain(parquet.read_table(path / "out.parquet")["decision"].to_pylist())
        if kind != pa.string():  # in a CSV the text without letters is a missing key
            lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
            (path / "in.csv").write_text("\n".join(["p,c,n", *lines, ""]), encoding="utf-8")
            policy.apply(path / "in.csv", path / "out.csv")
            made = [line.split(",")[-1] for line in (path / "out.csv").read_text().splitlines()[1:]]
            assert expected == [None if cell == "" else int(cell) for cell in made]


def test_missing_keys_that_are_not_numbers(tmp_path):
    """NaN is a missing key in a file, too."""
    frame = pd.DataFrame({"p": [0.5, 0.5], "c": [1.0, math.nan]})
    policy = cp.Policy.segments({1: 0.9, None: 0.1}, by="c", score="p")
    path = written(frame, tmp_path / "in.parquet")
    policy.apply(path, tmp_path / "out.parquet")

    assert [0, 1] == read(tmp_path / "out.parquet")["decision"].tolist()
    assert [0, 1] == policy.decide(frame)["decision"].tolist()
    with duckdb.connect() as connection:
        rows = f"SELECT {policy.to_sql(dialect='duckdb')} FROM frame"
        assert [(0,), (1,)] == connection.sql(rows).fetchall()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_unknown_segments_in_files(tmp_path, suffix):
    """They are an error that names the first, and nothing is written."""
    path = written(pd.DataFrame({"p": [0.5, 0.5], "c": ["a", "b"]}), tmp_path / f"in{suffix}")

    with pytest.raises(InvalidInputError, match=r"1 of 2 rows has another c, the first at row 1.*'b'"):
        cp.Policy.segments({"a": 0.4}, by="c", score="p").apply(path, tmp_path / f"out{suffix}")
    assert [path.name] == [one.name for one in tmp_path.iterdir()]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bands_classes_and_labels_in_files(tmp_path, suffix):
    """Every rule writes its decisions and says how many there were of each."""
    path = written(pd.DataFrame({"p": [0.1, 0.5, 0.9], "q": [0.9, 0.5, 0.1]}), tmp_path / f"in{suffix}")
    out = tmp_path / f"out{suffix}"

    done = cp.Policy.band(0.2, 0.8, score="p").apply(path, out)
    assert [0, -1, 1] == read(out)["decision"].tolist()
    assert {"decision": {0: 1, -1: 1, 1: 1}} == done.decisions
    done = cp.Policy.ordinal([0.2, 0.8], classes=["lo", "it's", "hi"], score="p").apply(path, out)
    assert ["lo", "it's", "hi"] == read(out)["decision"].tolist()
    assert {"lo": 1, "it's": 1, "hi": 1} == done.decisions["decision"]
    done = cp.Policy.labels({"a": 0.5, "b": 0.6}, scores={"a": "p", "b": "q"}).apply(path, out)
    assert ([0, 1, 1], [1, 0, 0]) == (read(out)["decision_a"].tolist(), read(out)["decision_b"].tolist())
    assert {"decision_a": {0: 1, 1: 2}, "decision_b": {0: 2, 1: 1}} == done.decisions


# --- from find_by


def test_find_by_makes_a_policy():
    """The policy of segments decides as the segments do, and remembers what each did."""
    rng = np.random.default_rng(0)
    y, c = rng.integers(0, 2, 900), rng.choice(["DE", "FR", "it's"], 900)
    p = np.round(rng.random(900) * 0.7 + 0.3 * y, 3)
    found = cp.find_by(y, p, by=c, maximize="f1")
    policy = again(found.policy("mine", description="by country", score="p"))

    assert found.decide(p, c).tolist() == policy.decide(p, c).tolist()
    assert {key: one.threshold for key, one in found.items()} == policy.rule.thresholds
    assert [(one.value, one.confusion) for one in found.values()] == [
        (one.value, one.confusion) for one in policy.found_on.segments
    ]
    called = policy.decide(p, c)
    assert (int(called[y == 1].sum()), 900) == (policy.found_on.confusion.tp, policy.found_on.rows)
    assert ("mine", "by country", "f1") == (policy.name, policy.description, policy.objective)
    with pytest.raises(InvalidParameterError, match="by"):
        policy.check(p)


def test_find_by_without_a_threshold_somewhere():
    """A segment that was not solved is as good as unknown; where none was, there is no policy."""
    found = cp.find_by([0, 1, 1], [0.1, 0.6, 0.5], by=["a", "a", "b"], maximize="youden_j")

    assert [1, 0] == found.policy(default=0.7).decide([0.6, 0.6], ["a", "b"]).tolist()
    with pytest.raises(InvalidInputError, match="another segment"):
        found.policy().decide([0.6], ["b"])
    with pytest.raises(InvalidInputError, match="youden_j"):
        cp.find_by([1, 1], [0.1, 0.6], by=["a", "b"], maximize="youden_j").policy()


def test_find_by_on_frames_knows_the_columns():
    """Columns, the positive label and the type of scores come along from a frame."""
    frame = pd.DataFrame(
        {"y": ["no", "yes"] * 4, "p": np.float32([0.1, 0.4, 0.6, 0.8] * 2), "c": ["a", "a", "b", "b"] * 2}
    )
    policy = cp.find_by(frame, label="y", score="p", pos_label="yes", by="c", maximize="f1").policy()

    assert ("p", "y", "yes", "float32") == (policy.score, policy.label, policy.pos_label, policy.dtype)
    assert ["no", "yes"] * 4 == policy.decide(frame, positive="yes", negative="no")["decision"].tolist()


# --- what cannot be


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cp.Policy.segments({}, by="c"), "thresholds must be of 1 to 100,000 segments"),
        (lambda: cp.Policy.segments([0.5], by="c"), "thresholds must be a mapping"),
        (lambda: cp.Policy.segments({"a": 0.5}, by=""), "by must be the name of a column"),
        (lambda: cp.Policy.segments({"a": 0.5}, by=[]), "by must be the name of a column"),
        (lambda: cp.Policy.segments({("a", "b"): 0.5}, by=["c", "c"]), "several that differ"),
        (lambda: cp.Policy.segments({"a": math.nan}, by="c"), "threshold must be a number, not NaN"),
        (lambda: cp.Policy.segments({"a": 10**400}, by="c"), "a number that a float can hold"),
        (lambda: cp.Policy.segments({"a": "0.5"}, by="c"), "threshold must be a number"),
        (lambda: cp.Policy.segments({"a": 0.5}, by=["c", "d"]), "keys of 2 parts"),
        (lambda: cp.Policy.segments({"a": 0.5, 1: 0.5}, by="c"), "keys of one type for 'c'"),
        (lambda: cp.Policy.segments({True: 0.5, 2: 0.5}, by="c"), "keys of one type for 'c'"),
        (lambda: cp.Policy.segments({None: 0.5, math.nan: 0.5}, by="c"), "keys that differ"),
        (lambda: cp.Policy.segments({"a\0": 0.5}, by="c"), "strings, numbers, booleans or None"),
        (lambda: cp.Policy.segments({"\ud800": 0.5}, by="c"), "strings, numbers, booleans or None"),
        (lambda: cp.Policy.segments({2**70: 0.5}, by="c"), "strings, numbers, booleans or None"),
        (lambda: cp.Policy.segments({pd.Timestamp(0): 0.5}, by="c"), "(?s)strings, numbers.*write dates"),
        (lambda: cp.Policy.segments({"a": 0.5}, by="c", default="drop"), "a threshold, 'error' or 'keep'"),
        (lambda: cp.Policy.segments({"a": 0.5}, by="c", default=math.nan), "a threshold, 'error' or 'keep'"),
        (lambda: cp.Policy.segments({"a": 0.3}, by="c", dtype="float32"), "must be a float32"),
        (lambda: cp.Policy.band(0.8, 0.2), "low must be at most 'high'"),
        (lambda: cp.Policy.band(math.nan, 0.2), "low must be a number"),
        (lambda: cp.Policy.band(0.2, 0.8, missing="ask"), "missing must be one of .*'review'"),
        (lambda: cp.Policy.labels({}), "1 to 10,000 labels"),
        (lambda: cp.Policy.labels([0.5]), "mapping from labels"),
        (lambda: cp.Policy.labels({"a": None}), "threshold must be a number"),
        (lambda: cp.Policy.labels({"1": 0.5, 1: 0.4}), "differ as text"),
        (lambda: cp.Policy.labels({"": 0.5}), "label must be a string"),
        (lambda: cp.Policy.labels({"a": 0.5}, scores={"b": "p"}), "labels that have a threshold"),
        (
            lambda: cp.Policy.labels({"a": 0.5, "b": 0.4}, scores={"a": "b"}),
            "scores must be names that differ",
        ),
        (lambda: cp.Policy.ordinal([0.5, 0.2]), "cutpoints must be in ascending order"),
        (lambda: cp.Policy.ordinal([]), "cutpoints must be 1 to"),
        (lambda: cp.Policy.ordinal(0.5), "cutpoints must be a list"),
        (lambda: cp.Policy.ordinal([math.nan]), "cutpoints must be a number"),
        (lambda: cp.Policy.ordinal([0.5], classes=["a"]), "classes must be 2 values that differ"),
        (lambda: cp.Policy.ordinal([0.5], classes=["a", "a"]), "classes must be 2 values that differ"),
        (lambda: cp.Policy.ordinal([0.5], classes=["a", 1]), "all strings, or all numbers"),
        (lambda: cp.Policy.ordinal([0.5], missing="negative"), "missing must be one of 'error', 'keep'"),
        (lambda: cp.Policy(0.5, rule=POLICIES["band"].rule), "rule must be given without a threshold"),
        (lambda: cp.Policy(rule="band"), "one of the rules"),
    ],
)
def test_nonsense_is_refused(make, message):
    """Each mistake has an error that says what must hold."""
    with pytest.raises(InvalidParameterError, match=message):
        make()


def sealed(content):
    """The content with a checksum that is right, as somebody would write who forges a policy."""
    rest = {k: v for k, v in content.items() if k != "checksum"}
    return {**rest, "checksum": _format.checksum(rest)}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("segments", {"segments": []}, "1 to 100,000 segments"),
        ("segments", {"segments": [{"key": ["a"], "threshold": 0.5}] * 2}, "keys that differ"),
        (
            "segments",
            {"segments": [{"key": "a", "threshold": 0.5}]},
            r"'rule.segments\[0\].key' must be a list",
        ),
        (
            "segments",
            {"segments": [{"key": [["a"]], "threshold": 0.5}]},
            "a string, a number, a boolean or null",
        ),
        ("segments", {"segments": [{"key": ["a", "b"], "threshold": 0.5}]}, "keys of 1 parts"),
        (
            "segments",
            {"segments": [{"key": ["a"], "threshold": None}]},
            r"'rule.segments\[0\].threshold' must be",
        ),
        ("segments", {"by": []}, "one name of a column"),
        ("segments", {"by": ["c", "c"]}, "several that differ"),
        ("segments", {"default": "drop"}, "'rule.default' must be"),
        ("segments", {"extra": 1}, "the unknown field 'rule.extra'"),
        ("band", {"low": 0.9}, "low must be at most 'high'"),
        ("band", {"low": "x"}, "'rule.low' must be a number"),
        ("labels", {"labels": []}, "1 to 10,000 labels"),
        ("ordinal", {"cutpoints": [0.5, 0.1, 0.2, 0.3]}, "ascending order"),
        ("ordinal", {"classes": [1, 2]}, "5 values that differ"),
        ("ordinal", {"kind": "band"}, "'rule.low' is missing"),
    ],
)
def test_a_forged_rule_is_not_believed(name, change, message):
    """With a right checksum, a rule that cannot be is still refused, with the file and a hint."""
    content = POLICIES[name].to_dict()
    with pytest.raises(InvalidInputError, match=message) as error:
        cp.Policy.from_dict(sealed({**content, "rule": {**content["rule"], **change}}))
    assert "must be a policy file" in str(error.value)
    assert "Hint:" in str(error.value)


@given(data=st.data())
def test_schema_and_reader_believe_the_same(data):
    """Whatever a field of any rule is given, the reader believes its kind if and only if the schema does."""
    content = json.loads(json.dumps(data.draw(st.sampled_from(list(POLICIES.values()))).to_dict()))
    inner = content["rule"]
    while True:
        name = data.draw(st.sampled_from(list(inner) if isinstance(inner, dict) else range(len(inner))))
        if not isinstance(inner[name], dict | list) or not inner[name] or data.draw(st.booleans()):
            break
        inner = inner[name]
    odd = [
        None,
        True,
        -1,
        0,
        1.5,
        "",
        "x",
        "inf",
        "a\0",
        "keep",
        "band",
        "segments",
        {},
        [],
        [0],
        ["x"],
        [[]],
    ]
    inner[name] = data.draw(st.sampled_from([*odd, "x" * 10_001, {"key": ["x"], "threshold": 1}]))
    try:
        typed_json.kind_of(_format.PolicyFile).read(content, "")
        believed = True
    except typed_json.FieldError:
        believed = False
    except InvalidParameterError:  # of the right kinds, and a rule that cannot be
        believed = True

    assert SCHEMA.is_valid(content) == believed


def test_forged_records_of_segments():
    """What the segments did must add up, and be of the segments of the rule."""
    content = (
        cp.find_by([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8], by=list("aabb"), maximize="f1").policy().to_dict()
    )
    lost, moved = json.loads(json.dumps(content)), json.loads(json.dumps(content))
    lost["found_on"]["segments"][0]["confusion"]["tp"] += 1
    moved["found_on"]["segments"].reverse()

    with pytest.raises(InvalidInputError, match="do not add up to tp"):
        cp.Policy.from_dict(sealed(lost))
    with pytest.raises(InvalidInputError, match="are not those of its rule"):
        cp.Policy.from_dict(sealed(moved))


@pytest.mark.parametrize("size", [1, 255, 256, 257])
def test_segments_of_files_at_the_ends_of_a_byte(size, tmp_path):
    """However many segments there are, the row of each is decided by its own threshold."""
    table = {f"segment {i}": i / 1000 for i in range(size)}
    lines = [f"{i / 1000},segment {j}" for j in range(size) for i in (j - 1, j)]
    (tmp_path / "in.csv").write_text("\n".join(["p,c", *lines, ""]), encoding="utf-8")
    done = cp.Policy.segments(table, by="c", score="p").apply(tmp_path / "in.csv", tmp_path / "out.csv")

    assert {0: size, 1: size} == done.decisions["decision"]


def test_a_large_table_of_segments(tmp_path):
    """A hundred thousand segments are saved, loaded and decided in seconds."""
    table = {f"segment {i}": i / 100_000 for i in range(100_000)}
    policy = cp.Policy.segments(table, by="c", default=0.5)
    policy.save(tmp_path / "p.json")
    keys = np.array(list(table))[::-1]

    assert policy == cp.Policy.load(tmp_path / "p.json")
    assert (np.arange(100_000)[::-1] <= 50_000).astype(int).tolist() == policy.decide(
        np.full(100_000, 0.5), keys
    ).tolist()
    with pytest.raises(InvalidParameterError, match="1 to 100,000 segments"):
        cp.Policy.segments({**table, "one more": 0.5}, by="c")

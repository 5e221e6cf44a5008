"""The same decisions bit for bit: arrays, frames, SQL on real engines, plain Python, scikit-learn."""

import math
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from engines.servers import DUCKDB_1, NO_IBIS

# Ibis calls DuckDB by a name that DuckDB has given up.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
TINY = 5e-324
THRESHOLDS = [
    0.35,
    0.1 + 0.2,
    -0.1,
    0.0,
    1.0,
    1 / 3,
    TINY,
    -TINY,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    1e300,
    6.02214076e23,
    1e-300,
    9007199254740993.0,
    math.pi * 1e-17,
    float(np.float32(0.3)),
    math.inf,
    -math.inf,
]
HOSTILE = ['p"; DROP TABLE t; --', "p`q", "a b", "Ünï 分", "select", "p'q", "a\\b", "{0}", "=1+1", 'x"', "%s"]


def around(threshold):
    """Scores that are easily decided wrongly: both neighbours of the threshold, zeros, infinities."""
    near = [threshold, math.nextafter(threshold, math.inf), math.nextafter(threshold, -math.inf)]
    return [*near, 0.0, -0.0, TINY, -TINY, 1e-310, math.inf, -math.inf, 1.7976931348623157e308, 0.3, 1.0]


def expected(threshold, scores, missing=None):
    """The rule, spelled out."""
    return [missing if s is None or math.isnan(s) else int(s >= threshold) for s in scores]


# --- arrays


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pl.Series, pa.array])
def test_arrays(threshold, kind):
    """Arrays and series of any make are decided by the rule."""
    scores = around(threshold)
    made = cp.Policy(threshold).decide(kind(scores))

    assert expected(threshold, scores) == list(np.asarray(made))


@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series])
def test_float32_scores_are_not_rounded_nor_is_the_threshold(kind):
    """0.3 as float32 is above 0.3 as float64, and decided so, either way round."""
    single, double = np.float32(0.3), 0.3
    assert float(single) > double
    scores = kind(np.array([single, np.nextafter(single, np.float32(0))], dtype=np.float32))

    assert [1, 0] == list(cp.Policy(double).decide(scores))
    assert [1, 0] == list(cp.Policy(float(single), dtype="float32").decide(scores))
    assert [0] == list(cp.Policy(float(single), dtype="float32").decide(kind(np.array([double]))))


def test_a_policy_decides_as_its_solution():
    """On the data that it was found on, a policy makes the decisions that the solution states."""
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 3000), rng.random(3000).astype(np.float32)
    solution = cp.find(y, p, maximize="f1")
    policy = solution.policy()

    assert solution.decide(p).tolist() == policy.decide(p).tolist()
    assert policy.decide(p)[y == 1].sum() == solution.confusion.tp


@pytest.mark.parametrize(("missing", "decision"), [("negative", 0), ("positive", 1), ("keep", None)])
@pytest.mark.parametrize("threshold", [0.5, math.inf, -math.inf])
def test_missing_scores_in_arrays(missing, decision, threshold):
    """NaN and None are decided as was said, whatever the threshold."""
    made = cp.Policy(threshold, missing=missing).decide([0.7, None, math.nan])

    assert [int(0.7 >= threshold), decision, decision] == [None if x != x else int(x) for x in made]
    with pytest.raises(InvalidInputError, match="2 of 3 scores are missing, the first at row 1"):
        cp.Policy(threshold).decide(np.array([0.7, np.nan, np.nan]))


def test_texts_in_place_of_digits():
    """Decisions can be words; a missing one is None."""
    policy = cp.Policy(0.5)

    assert ["no", "yes"] == policy.decide([0.1, 0.5], positive="yes", negative="no").tolist()
    made = policy.decide([0.1, math.nan], positive="yes", negative="no", missing="keep")
    assert ["no", None] == made.tolist()
    assert [False, True] == policy.decide([0.1, 0.5], positive=True, negative=False).tolist()
    for pair in (("a", 1), ("a", "a"), (math.nan, 0.0), (None, None)):
        with pytest.raises(InvalidParameterError, match=r"^(positive|negative|positive/negative) must be"):
            policy.decide([0.1], positive=pair[0], negative=pair[1])


@pytest.mark.parametrize("bad", [["a"], [[0.1, 0.2]], 0.5, "scores", None, [1j], np.array(["0.5"])])
def test_what_is_no_array_of_scores(bad):
    """The error names the function that was called."""
    with pytest.raises((InvalidParameterError, InvalidInputError)) as error:
        cp.Policy(0.5).decide(bad)
    assert "find" not in str(error.value)


def test_no_scores_no_decisions():
    """An empty array has an empty answer."""
    assert [] == cp.Policy(0.5).decide([]).tolist()
    assert [] == cp.Policy(0.5).decide(np.zeros(0)).tolist()


# --- frames


def _duckdb_relation(table):
    return duckdb.connect().from_arrow(table)


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
    "duckdb": _duckdb_relation,
    "dask": _dask,
    "ibis": _ibis,
}


def column(frame, name):
    """The values of a column, None for missing ones."""
    if hasattr(frame, "collect"):
        frame = frame.collect()
    if hasattr(frame, "compute"):
        frame = frame.compute()
    if hasattr(frame, "to_pyarrow"):
        frame = frame.to_pyarrow()
    if hasattr(frame, "fetchall"):
        frame = frame.to_arrow_table()
    values = frame[name].to_pylist() if hasattr(frame[name], "to_pylist") else frame[name].to_list()
    return [None if v is None or v is pd.NA or v != v else v for v in values]


@pytest.fixture(params=FRAMES.values(), ids=FRAMES.keys())
def frame(request):
    """A function from an Arrow table to a frame of each engine."""
    return request.param


@pytest.mark.parametrize("threshold", [1 / 3, -TINY, math.inf, float(np.float32(0.3))])
@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32()])
def test_frames(frame, threshold, dtype):
    """A frame comes back with one more column, decided by the rule on the exact values."""
    with np.errstate(over="ignore"):
        scores = np.array(around(threshold)).astype(dtype.to_pandas_dtype())
    table = pa.table({"id": range(len(scores)), "p": pa.array(scores, dtype)})
    made = cp.Policy(threshold, score="p").decide(frame(table))

    assert expected(threshold, scores.astype(np.float64).tolist()) == column(made, "decision")
    assert list(range(len(scores))) == column(made, "id")


def test_lazy_frames_stay_lazy():
    """A lazy frame is given back as what it was."""
    table = pa.table({"p": [0.1, 0.9]})
    policy = cp.Policy(0.5, score="p")

    assert isinstance(policy.decide(pl.from_arrow(table).lazy()), pl.LazyFrame)
    assert isinstance(policy.decide(_duckdb_relation(table)), duckdb.DuckDBPyRelation)


@pytest.mark.parametrize(("missing", "decision"), [("negative", 0), ("positive", 1), ("keep", None)])
@pytest.mark.parametrize("threshold", [0.5, math.inf, -math.inf])
def test_missing_scores_in_frames(frame, missing, decision, threshold):
    """Null and NaN are decided as was said, on engines for which NaN is large and others."""
    table = pa.table({"p": pa.array([0.7, None, math.nan, math.inf])})
    made = cp.Policy(threshold, score="p", missing=missing).decide(frame(table))

    assert [int(0.7 >= threshold), decision, decision, 1] == column(made, "decision")


def test_missing_scores_are_an_error_in_frames(frame):
    """By default rows that cannot be decided are counted, on lazy frames too."""
    table = pa.table({"p": pa.array([0.7, None, math.nan])})

    with pytest.raises(InvalidInputError, match=r"'p' must not contain NaN or null\. 2 of 3"):
        cp.Policy(0.5, score="p").decide(frame(table))


def test_a_lazy_frame_is_not_run_if_missing_scores_are_provided_for():
    """With a rule for missing scores nothing is asked before its time."""

    def explode(_frame):
        msg = "ran"
        raise AssertionError(msg)

    lazy = pl.LazyFrame({"p": [0.1]}).map_batches(explode, schema={"p": pl.Float64})
    assert isinstance(cp.Policy(0.5, score="p", missing="keep").decide(lazy), pl.LazyFrame)


def test_frames_keep_their_index():
    """Rows of pandas keep their labels."""
    frame = pd.DataFrame({"p": [0.1, 0.9]}, index=["a", "b"])

    assert ["a", "b"] == cp.Policy(0.5, score="p").decide(frame).index.tolist()
    assert {"a": 0, "b": 1} == cp.Policy(0.5).decide(frame["p"]).to_dict()


def test_errors_of_frames(frame):
    """A column that is not there, that holds text, or that would be overwritten."""
    policy = cp.Policy(0.5, score="p")
    data = frame(pa.table({"q": [0.5], "text": ["0.5"], "decision": [1]}))

    with pytest.raises(InvalidInputError, match="Column not found: 'p'"):
        policy.decide(data)
    with pytest.raises(InvalidInputError, match="The column 'text' must hold numbers"):
        policy.decide(data, score="text")
    with pytest.raises(InvalidParameterError, match="a new name"):
        policy.decide(data, score="q")
    with pytest.raises(InvalidParameterError, match="the name of a column"):
        cp.Policy(0.5).decide(data)
    assert [1] == column(policy.decide(data, score="q", column="new"), "new")


def test_hostile_names_in_frames(frame):
    """Names of columns are names, whatever they would be in SQL."""
    made = frame(pa.table({name: [0.4, 0.5 + i] for i, name in enumerate(HOSTILE)}))
    if DUCKDB_1 and isinstance(made, duckdb.DuckDBPyRelation):
        pytest.skip("relations of DuckDB 1 do not take such names")
    for name in HOSTILE:
        made = cp.Policy(0.5, missing="keep").decide(made, score=name, column=f"{name}?")

    assert [[0, 1]] * len(HOSTILE) == [column(made, f"{name}?") for name in HOSTILE]


# --- SQL


def _select(sql):
    return f"SELECT {sql} FROM t ORDER BY i"  # noqa: S608 - that it cannot be abused is what is tested


def _run_duckdb(sql_of, rows, type_="DOUBLE"):
    with duckdb.connect() as connection:
        name, sql = sql_of("duckdb")
        quoted = '"' + name.replace('"', '""') + '"'
        connection.execute(f"CREATE TABLE t (i INTEGER, {quoted} {type_})")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(rows)))
        return [row[0] for row in connection.execute(_select(sql)).fetchall()]


def _run_sqlite(sql_of, rows, type_="REAL"):
    with sqlite3.connect(":memory:") as connection:
        name, sql = sql_of("sqlite")
        quoted = '"' + name.replace('"', '""') + '"'
        connection.execute(f"CREATE TABLE t (i INTEGER, {quoted} {type_})")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(rows)))
        found = [row[0] for row in connection.execute(_select(sql)).fetchall()]
    connection.close()
    return found


@pytest.fixture
def run_postgres(database):
    """Run an expression over rows on PostgreSQL."""

    def run(sql_of, rows, type_="double precision"):
        name, sql = sql_of("postgres")
        quoted = '"' + name.replace('"', '""') + '"'
        with database.cursor() as cursor:
            cursor.execute(b"DROP TABLE IF EXISTS t")
            cursor.execute(f"CREATE TABLE t (i integer, {quoted} {type_})".encode())
            cursor.executemany("INSERT INTO t VALUES (%s, %s)", list(enumerate(rows)))
            cursor.execute(_select(sql).encode())
            return [row[0] for row in cursor.fetchall()]

    return run


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def run_sql(request):
    """Run an expression on each engine."""
    if request.param == "postgres":
        return request.getfixturevalue("run_postgres")
    return {"duckdb": _run_duckdb, "sqlite": _run_sqlite}[request.param]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_sql(run_sql, threshold):
    """On real engines, SQL decides the neighbours of the threshold and every odd float by the rule."""
    scores = [*around(threshold), None, math.nan]
    policy = cp.Policy(threshold, score="p")

    made = run_sql(lambda dialect: ("p", policy.to_sql(dialect=dialect)), scores)
    assert expected(threshold, scores) == made


def test_sql_of_random_thresholds(run_sql):
    """No threshold is misread by a bit, as SQLite misreads one decimal in two hundred."""
    bits = np.random.default_rng(0).integers(0, 2**64, 400, dtype=np.uint64).view(np.float64)
    policies = [cp.Policy(t, score="p") for t in bits[np.isfinite(bits)].tolist()]
    for part in range(0, len(policies), 100):
        some = policies[part : part + 100]
        for policy in some[:: 1 if run_sql is not _run_duckdb else 16]:
            near = [policy.threshold, math.nextafter(policy.threshold, -math.inf)]
            made = run_sql(lambda dialect, policy=policy: ("p", policy.to_sql(dialect=dialect)), near)
            assert [1, 0] == made, policy.threshold


@pytest.mark.parametrize(("missing", "decision"), [("negative", 0), ("positive", 1), ("keep", None)])
def test_missing_scores_in_sql(run_sql, missing, decision):
    """NULL and NaN are decided as was said, also where NaN is the greatest number."""
    policy = cp.Policy(0.5, missing=missing)
    made = run_sql(lambda dialect: ("p", policy.to_sql("p", dialect=dialect)), [0.7, None, math.nan])

    assert [1, decision, decision] == made


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "%s"])  # a placeholder of drivers
def test_hostile_names_in_sql(run_sql, name):
    """The name of a column is quoted, and cannot be anything else."""
    policy = cp.Policy(0.5, score=name)

    assert [0, 1] == run_sql(lambda dialect: (name, policy.to_sql(dialect=dialect)), [0.4, 0.5])


@pytest.mark.parametrize(("engine", "single"), [("duckdb", "FLOAT"), ("postgres", "real")])
@pytest.mark.parametrize("threshold", [0.3, float(np.float32(0.3))])
def test_columns_of_float32_in_sql(threshold, engine, single, request):
    """A column of single precision is widened, and the threshold not rounded."""
    scores = [float(np.float32(0.3)), float(np.nextafter(np.float32(0.3), np.float32(0)))]
    policy = cp.Policy(threshold, score="p", dtype="float64")

    def sql_of(dialect):
        return "p", policy.to_sql(dialect=dialect)

    run = _run_duckdb if engine == "duckdb" else request.getfixturevalue("run_postgres")
    assert expected(threshold, scores) == run(sql_of, scores, single)


def test_text_in_a_column_of_sqlite_is_no_number():
    """SQLite takes text for 0; the expression does not."""
    policy = cp.Policy(-1.0, score="p")

    assert [None, 1] == _run_sqlite(lambda d: ("p", policy.to_sql(dialect=d)), ["abc", 3], "")


def test_a_query_that_fails():
    """Where a dialect can, missing scores are an error of the query; elsewhere that is refused."""
    policy = cp.Policy(0.5, score="p")

    with pytest.raises(duckdb.Error, match="missing score"):
        _run_duckdb(lambda d: ("p", policy.to_sql(dialect=d, missing="error")), [None])
    assert [1] == _run_duckdb(lambda d: ("p", policy.to_sql(dialect=d, missing="error")), [0.7])
    with pytest.raises(InvalidParameterError, match="can make a query fail"):
        policy.to_sql(dialect="postgres", missing="error")
    with pytest.raises(InvalidParameterError, match="one of 'ansi'"):
        policy.to_sql(dialect="oracle")
    with pytest.raises(InvalidParameterError, match="the name of a column"):
        cp.Policy(0.5).to_sql(dialect="duckdb")


@pytest.mark.parametrize("dialect", ["ansi", "bigquery", "mysql", "snowflake", "spark"])
@pytest.mark.parametrize("threshold", [0.35, 1e300, math.inf, -math.inf])
def test_dialects_that_are_not_run_parse(dialect, threshold):
    """What is written by the manuals is at least SQL of that dialect, with the name quoted."""
    sqlglot = pytest.importorskip("sqlglot")
    parsed = sqlglot.parse_one(
        _select(cp.Policy(threshold, score="a b").to_sql(dialect=dialect)).removesuffix(" ORDER BY i"),
        read=None if dialect == "ansi" else dialect,
    )
    names = {one.name for one in parsed.find_all(sqlglot.exp.Column)}

    assert {"a b"} == names


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_sql_on_spark(spark):
    """Spark decides the neighbours of the threshold by the rule, and its frames stay lazy."""
    for threshold in THRESHOLDS:
        scores = [*around(threshold), None, math.nan]
        frame = spark.createDataFrame([(i, s) for i, s in enumerate(scores)], "i int, p double")
        policy = cp.Policy(threshold, score="p", missing="keep")
        made = frame.selectExpr("i", f"{policy.to_sql(dialect='spark')} AS d").orderBy("i")
        assert expected(threshold, scores) == [row.d for row in made.collect()]
        lazy = policy.decide(frame)
        assert type(lazy) is type(frame)
        assert expected(threshold, scores) == [row.decision for row in lazy.orderBy("i").collect()]


# --- Python


@given(threshold=st.sampled_from(THRESHOLDS) | st.floats(allow_nan=False))
def test_python(threshold):
    """The source of the function, run by itself, decides by the rule."""
    names = {}
    exec(cp.Policy(threshold).to_python(), names)  # noqa: S102 - our own text
    scores = around(threshold)

    assert expected(threshold, scores) == names["decide"](scores)
    assert expected(threshold, scores) == [names["decide"](one) for one in scores]


def test_python_without_any_package(tmp_path):
    """An interpreter without packages runs it as a file."""
    path = tmp_path / "rule.py"
    policy = cp.Policy(0.1 + 0.2, missing="keep")
    call = "print(is_fraud([0.3, 0.30000000000000004, None, float('nan'), float('inf'), 1]))"
    path.write_text(f"{policy.to_python(function='is_fraud')}\n{call}\n", encoding="utf-8")
    out = subprocess.run(
        [sys.executable, "-I", "-S", path], capture_output=True, text=True, check=True
    ).stdout

    assert "[0, 1, None, None, 1, 1]" == out.strip()


@pytest.mark.parametrize(("missing", "decision"), [("negative", 0), ("positive", 1), ("keep", None)])
def test_missing_scores_in_python(missing, decision):
    """None and NaN are decided as was said, and are an error otherwise."""
    names = {}
    exec(cp.Policy(0.5).to_python(missing=missing), names)  # noqa: S102
    assert [decision, decision] == names["decide"]([None, math.nan])

    exec(cp.Policy(0.5).to_python(), names)  # noqa: S102
    with pytest.raises(ValueError, match="missing score"):
        names["decide"](None)


@pytest.mark.parametrize(
    "name", ["a b", "class", "f(): pass\nimport os #", "", 3, "float", "isinstance", "None", "print", "score"]
)
def test_the_name_of_a_function_is_a_name(name):
    """Nothing but an identifier gets into the source, and none that the source itself needs."""
    with pytest.raises(InvalidParameterError, match="a name for a Python function"):
        cp.Policy(0.5).to_python(function=name)


# --- scikit-learn


def _classifier(classes, dtype):
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Given(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.array(classes)
            return self

        def predict(self, X):
            return self.classes_[(self.predict_proba(X)[:, 1] >= 0.5).astype(int)]

        def predict_proba(self, X):
            second = np.asarray(X)[:, 0].astype(dtype)
            return np.stack([1 - second, second], axis=1)

    return Given().fit(np.zeros((2, 1)), list(classes))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes")])
@pytest.mark.parametrize("threshold", [0.35, 0.1 + 0.2, 1 / 3, 0.3])
def test_scikit_learn(threshold, classes, dtype):
    """FixedThresholdClassifier decides the neighbours of the threshold alike, float32 scores too."""
    policy = cp.Policy(threshold, pos_label=classes[1])
    scores = np.array([*around(threshold)[:3], 0.0, 1.0, float(np.float32(0.3))])[:, None]
    model = policy.to_sklearn(_classifier(classes, dtype))

    called = policy.decide(scores[:, 0].astype(dtype))
    assert np.array(classes)[called].tolist() == model.predict(scores).tolist()


def test_scikit_learn_fits_what_is_not_fitted():
    """An estimator that is not fitted is fitted with the classifier; a fitted one stays."""
    from sklearn.linear_model import LogisticRegression

    X, y = np.arange(20.0)[:, None], np.arange(20) > 10
    policy = cp.Policy(0.9, pos_label=True)
    fitted = LogisticRegression().fit(X, y)
    later = policy.to_sklearn(LogisticRegression()).fit(X, y)

    proba = fitted.predict_proba(X)[:, 1]
    assert policy.decide(proba).astype(bool).tolist() == policy.to_sklearn(fitted).predict(X).tolist()
    assert later.predict(X).tolist() == policy.to_sklearn(fitted).predict(X).tolist()


def test_scikit_learn_where_it_would_differ():
    """Another positive label, a rule for missing scores, or no scores at all are refused."""
    with pytest.raises(InvalidParameterError, match="pos_label"):
        cp.Policy(0.5).to_sklearn(_classifier(("no", "yes"), np.float64))
    with pytest.raises(InvalidParameterError, match="missing"):
        cp.Policy(0.5, missing="positive").to_sklearn(_classifier((0, 1), np.float64))
    with pytest.raises(InvalidParameterError, match="predict_proba or decision_function"):
        cp.Policy(0.5).to_sklearn(object())
    with pytest.raises(InvalidParameterError, match="response_method"):
        cp.Policy(0.5).to_sklearn(_classifier((0, 1), np.float64), response_method="predict")
    with pytest.raises(InvalidParameterError, match="no probabilities"):
        cp.Policy(1.5).to_sklearn(_classifier((0, 1), np.float64))


def test_scikit_learn_with_a_decision_function():
    """Scores that are no probabilities are those of `decision_function`, if it is asked for."""
    from sklearn.linear_model import LogisticRegression

    X, y = np.arange(20.0)[:, None], np.arange(20) > 10
    fitted = LogisticRegression().fit(X, y)
    margins = fitted.decision_function(X)
    policy = cp.find(y, margins, maximize="f1").policy(pos_label=True)
    model = policy.to_sklearn(fitted, response_method="decision_function")

    assert policy.decide(margins).astype(bool).tolist() == model.predict(X).tolist()

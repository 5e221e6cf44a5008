"""Every engine as a fixture: the same table in, the same solution out."""

import itertools
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

import cutpoints as cp
from cutpoints._data.groupby import FrameSource
from cutpoints._data.streaming import Columns
from engines import servers


@dataclass(frozen=True)
class Engine:
    """An engine: how it takes a table of pyarrow, and whether its rows stay where they are."""

    name: str
    frame: Any
    lazy: bool
    grouped: bool = False
    """Whether to answer by GROUP BY where `find` has a faster way for this engine."""

    def find(self, table, *, label="y", score="p", weight=None, pos_label=None, **goal):
        """Call `find`, or `find_by`, with the columns of a table."""
        find = cp.find_by if "by" in goal else cp.find
        table = table if isinstance(table, pa.Table) else pa.table(table)
        frame = self.frame(table)
        columns = {"label": label, "score": score, "weight": weight, "pos_label": pos_label}
        if self.grouped:
            named = Columns(score, label, weight)
            return find(FrameSource(nw.from_native(frame), named, pos_label), **goal)
        return find(frame, **columns, **goal)


# Spark and PostgreSQL are started once: with pytest-xdist all their tests go to one worker.
ENGINES = [
    "pandas",
    "pandas-arrow",
    "polars",
    "pyarrow",
    "polars-lazy",
    "polars-grouped",
    "duckdb",
    "duckdb-grouped",
    "dask",
    # Ibis calls DuckDB by a name that is to go away.
    pytest.param("ibis-duckdb", marks=pytest.mark.filterwarnings("ignore:fetch_arrow_table")),
    pytest.param("ibis-postgres", marks=pytest.mark.xdist_group("postgres")),
    pytest.param("spark", marks=pytest.mark.xdist_group("spark")),
]
EAGER = ("pandas", "pandas-arrow", "polars", "pyarrow")
BATCHES = ("polars-lazy", "duckdb")
_names = itertools.count()

# Spark and Dask take a second for a query, however small the table. The normal run asks them each kind of
# column, query and error once: of tests with several cases, those whose parts are all named here.
NORMAL = {
    *("float32", "infinite", "cluster", "float", "constrained", "w"),  # scores, weights, goals
    *("text and dates", "weights", "much", "40", "mixed", "called(cents) <= 300"),  # segments
    *("null score", "three labels", "missing"),  # errors
}
SLOW = ("several_counts", "decimals", "many_labels", "text_labels", "not_one", "user", "names_of_columns")


@pytest.hookimpl(tryfirst=True)  # before slow tests are sorted out
def pytest_collection_modifyitems(items):
    """Mark the problems that slow engines are asked in the slow run only."""
    for item in items:
        asked = item.callspec.params if hasattr(item, "callspec") else {}
        if {asked.get("engine"), asked.get("grouping")} & {"spark", "dask"}:
            _, *case = item.callspec.id.split("-")
            if not NORMAL.issuperset(case) or any(part in item.name for part in SLOW):
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def postgres():
    """A connection of Ibis to a PostgreSQL, for the whole run."""
    ibis = pytest.importorskip("ibis", reason="no Ibis: the package ibis-framework is not there")
    with servers.postgres_server() as folder:
        connection = ibis.postgres.connect(host=str(folder), user="postgres", database="postgres")
        yield connection
        connection.disconnect()


@pytest.fixture(scope="session")
def _ibis_duckdb():
    ibis = pytest.importorskip("ibis", reason="no Ibis: the package ibis-framework is not there")
    if servers.DUCKDB_1:
        pytest.skip(servers.NO_IBIS)
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


def _to_ibis(connection):
    def make(table):
        name = f"t{next(_names)}"
        if len(table):
            return connection.create_table(name, table)
        import ibis

        return connection.create_table(name, schema=ibis.Schema.from_pyarrow(table.schema))

    return make


def _to_spark(session, folder):
    """Write Parquet and read it in two parts, with no detour over pandas."""

    def make(table):
        import pyarrow.parquet as pq

        path = folder / f"t{next(_names)}"
        path.mkdir()
        half = len(table) // 3
        for i, part in enumerate((table[:half], table[half:])):
            pq.write_table(part, path / f"{i}.parquet")
        return session.read.parquet(str(path))

    return make


def _to_duckdb(table):
    import duckdb

    return duckdb.connect().from_arrow(table)


def _to_dask(table):
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(), npartitions=3)


def _to_pandas_arrow(table):
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def _to_polars(table):
    import polars as pl

    return pl.from_arrow(table)


@pytest.fixture(params=ENGINES)
def engine(request, tmp_path):
    """Each engine in turn."""
    return _engine(request.param, request, tmp_path)


@pytest.fixture(params=[e for e in ENGINES if e not in (*EAGER, *BATCHES)])
def grouping(request, tmp_path):
    """Each engine that answers by GROUP BY."""
    return _engine(request.param, request, tmp_path)


@pytest.fixture
def engine_called(request, tmp_path):
    """Return a function that gives the engine of a name."""
    return lambda name: _engine(name, request, tmp_path)


def _engine(name, request, tmp_path):
    makers = {
        "pandas": lambda table: table.to_pandas(),
        "pandas-arrow": _to_pandas_arrow,
        "polars": _to_polars,
        "pyarrow": lambda table: table,
        "polars-lazy": lambda table: _to_polars(table).lazy(),
        "polars-grouped": lambda table: _to_polars(table).lazy(),
        "duckdb": _to_duckdb,
        "duckdb-grouped": _to_duckdb,
        "dask": _to_dask,
    }
    if name == "spark":
        make = _to_spark(request.getfixturevalue("spark"), tmp_path)
    elif name == "ibis-postgres":
        make = _to_ibis(request.getfixturevalue("postgres"))
    elif name == "ibis-duckdb":
        make = _to_ibis(request.getfixturevalue("_ibis_duckdb"))
    else:
        make = makers[name]
    return Engine(name, make, lazy=name not in EAGER, grouped=name.endswith("-grouped"))


def everything(solution):
    """All that must be the same on every engine; how often the data were read may differ."""
    found = solution.to_dict()
    resolution = found.pop("certificate")["resolution"]
    context = solution._context
    return found, resolution, context and (context.summary, context.called)


@pytest.fixture
def same():
    """Return a check: this engine finds what is found on arrays."""

    def check(engine, columns, *, pos_label=None, names=None, **goal):
        names = {"label": "y", "score": "p", **(names or {})}
        arrays = {role: np.asarray(columns[name]) for role, name in names.items()}
        expected = cp.find(
            arrays["label"],
            arrays["score"],
            sample_weight=arrays.get("weight"),
            pos_label=pos_label,
            **goal,
        )
        actual = engine.find(columns, **names, pos_label=pos_label, **goal)

        assert everything(expected) == everything(actual)
        return actual

    return check

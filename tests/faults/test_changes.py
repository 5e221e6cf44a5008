"""Data that change while they are read: an error, or the answer of one of the two states, on every engine."""

# ruff: noqa: S608 - the queries are our own

from functools import partial

import duckdb
import pytest

import cutpoints as cp
from cutpoints._data import files, progress
from cutpoints.exceptions import InvalidInputError

# Readers of engines warn of their own plans.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ROWS = 300_000


def write(path, seed, rows=ROWS):
    """Write scores that are the same for every seed, and labels that are not."""
    made = duckdb.sql(
        f"select (hash(i + {seed * rows}) % {rows} < i)::int as y, i / {rows} as p, i % 3 as k "
        f"from range({rows}) r(i)"
    )
    made.write_csv(str(path)) if path.suffix == ".csv" else made.write_parquet(str(path))


def change(path, how):
    """Change a file under the eyes of its reader."""
    if how == "replaced":
        write(path.with_name(f"other{path.suffix}"), 1)
        path.with_name(f"other{path.suffix}").replace(path)
    elif how == "deleted":
        path.unlink()
    elif how == "grown" and path.suffix == ".parquet":
        write(path, 0, 2 * ROWS)
    else:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size // 2) if how == "truncated" else file.seek(0, 2)
            file.write(b"" if how == "truncated" else b"1,0.5,1\n" * 1000)


CHANGES = ["replaced", "truncated", "grown", "deleted"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("question", ["find", "find_by", "curve"])
def test_a_file_that_changes_between_passes(tmp_path, record, monkeypatch, form, how, question):  # noqa: PLR0917
    """It is an error, whatever is asked."""
    monkeypatch.setattr(files, "LARGE_BYTES", 0)
    monkeypatch.setattr(files, "MEMORY_ROWS", 0)
    path = tmp_path / f"scores.{form}"
    write(path, 0)
    data = cp.read(path, label="y", score="p")
    data.summary()
    change(path, how)
    ask = {
        "find": lambda: cp.find(data, maximize="mcc"),
        "find_by": lambda: cp.find_by(data, by="k", maximize="mcc"),
        "curve": lambda: cp.curve(data),
    }[question]
    try:
        faults = [f"certified: {ask()}"]
    except InvalidInputError:
        faults = []
    record(f"{form} file {how} between passes").run(faults)


def _polars(path, _):
    import polars as pl

    return (pl.scan_csv if path.suffix == ".csv" else pl.scan_parquet)(path)


def _dask(path, _):
    import dask.dataframe as dd

    return (dd.read_csv if path.suffix == ".csv" else dd.read_parquet)(str(path))


def _ibis(path, request):
    connection = request.getfixturevalue("_ibis_duckdb")
    return (connection.read_csv if path.suffix == ".csv" else connection.read_parquet)(str(path))


def _spark(path, request):
    session = request.getfixturevalue("spark")
    if path.suffix == ".csv":
        return session.read.csv(str(path), header=True, schema="y int, p double, k int")
    return session.read.parquet(str(path))


def _duckdb(path, _):
    connection = duckdb.connect()
    return (connection.read_csv if path.suffix == ".csv" else connection.read_parquet)(str(path))


ENGINES = {"duckdb": _duckdb, "polars": _polars, "dask": _dask, "ibis": _ibis, "spark": _spark}


def answer(opened):
    """Return what is found, or None for an error, whoever raises it."""
    try:
        return cp.find(opened(), label="y", score="p", maximize="mcc")
    except Exception:  # noqa: BLE001 - engines have their own, and all are better than an answer
        return None


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("how", CHANGES[:3])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_changes_in_the_middle_of_a_search(tmp_path, record, request, engine, form, how):  # noqa: PLR0917
    """The engine reads a file that is another one in the second pass."""
    path = tmp_path / f"scores.{form}"
    opened = partial(ENGINES[engine], path, request)
    write(path, 0)
    before = answer(opened)
    changed = []

    def watch(step):
        if step.passes == 2 and not changed:
            changed.append(how)
            change(path, how)

    with progress.watching(watch):
        found = answer(opened)
    after = answer(opened)
    states = [one.confusion for one in (before, after) if one is not None]
    faults = [] if found is None or found.confusion in states else [f"certified: {found}"]
    faults += [] if changed and before is not None else ["nothing was tried"]
    record(f"{engine}: {form} file {how} in a search").run(faults)


@pytest.mark.parametrize(
    "how", ["update {t} set y = 1 - y", "delete from {t} where p > 0.5", "update {t} set p = 1 - p"]
)
@pytest.mark.parametrize("engine", ["duckdb", "ibis-duckdb", "ibis-postgres"])
def test_a_table_that_changes_in_the_middle_of_a_search(record, request, engine, how):
    """Another connection writes while a search runs: an error, or the answer of one of the two states."""
    made = f"select (hash(i) % 100 < i % 100)::int as y, i / {ROWS} as p from range({ROWS}) r(i)"
    if engine == "duckdb":
        connection = duckdb.connect()
        connection.execute(f"create table t as {made}")
        cursor, frame, name = connection.cursor(), lambda: connection.table("t"), "t"
        execute = cursor.execute
    else:
        connection = request.getfixturevalue("postgres" if engine == "ibis-postgres" else "_ibis_duckdb")
        name = "changing"
        connection.create_table(name, duckdb.sql(made).to_arrow_table(), overwrite=True)
        execute, frame = connection.raw_sql, lambda: connection.table(name)
    before, changed = answer(frame), []

    def watch(step):
        if step.passes == 2 and not changed:
            changed.append(execute(how.format(t=name)))

    with progress.watching(watch):
        found = answer(frame)
    after = answer(frame)
    states = [one.confusion for one in (before, after) if one is not None]
    faults = [] if found is None or found.confusion in states else [f"certified: {found}"]
    faults += [] if changed and before is not None else ["nothing was tried"]
    record(f"{engine}: table changed in a search").run(faults)

"""`cutpoints find` on files that stream, and on the rows that --where and --sql leave of them."""

import json

import numpy as np
import pytest

import cutpoints as cp
from cutpoints._data import files as reading
from cutpoints._data import lazy_segments
from cutpoints._data.files import FileSource

pl = pytest.importorskip("polars")
GOAL = ("--label", "y", "--score", "p", "--maximize", "f1")


@pytest.fixture
def table():
    """Rows of six segments and two months."""
    rng = np.random.default_rng(4)
    rows = 3_000
    score = rng.random(rows)
    return pl.DataFrame(
        {
            "y": (rng.random(rows) < score).astype(int),
            "p": score,
            "land": [None if k == 2 else f"l{k}" for k in rng.integers(0, 3, rows)],
            "kind": rng.integers(0, 2, rows),
            "month": [f"2026-{m}" for m in rng.integers(10, 12, rows)],
        }
    )


@pytest.fixture
def parquet(table, tmp_path):
    """The table as a file."""
    path = tmp_path / "scores.parquet"
    table.write_parquet(path)
    return str(path)


def shown(result):
    """The JSON of a command that went well, without the account of the work, which may differ."""
    assert 0 == result.exit_code, result.stderr
    found = json.loads(result.stdout, parse_constant=pytest.fail)
    for one in found.get("segments", [found]):
        one.pop("certificate", None)
    return found


def own_thresholds(found):
    """The segments without what stands beside them: the common threshold is for rows in memory."""
    kept = {name: part for name, part in found.items() if name not in {"common", "warnings"}}
    beside = {"at_common", "cross_validated", "note"}
    kept["segments"] = [{k: v for k, v in one.items() if k not in beside} for one in found["segments"]]
    return kept


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_segments_of_a_file_beyond_memory(run, table, tmp_path, monkeypatch, form):
    """Segments that do not fit in memory are those that do, and the passes are shared."""
    path = tmp_path / f"scores.{form}"
    getattr(table, f"write_{form}")(path)
    command = ("find", str(path), *GOAL, "--by", "land", "--by", "kind", "--json")
    expected = shown(run(*command))
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 200)

    result = run(*command)

    passes = {one["certificate"]["passes"] for one in json.loads(result.stdout)["segments"]}
    assert 6 == expected["solved"] == len(expected["segments"])
    assert own_thresholds(expected) == own_thresholds(shown(result))
    assert 1 == len(passes)
    assert 2 <= passes.pop() <= 4


def test_a_large_file_streams(run, parquet, monkeypatch):
    """Beyond the size that is read at once, a file is read in batches, and the answer is the same."""
    expected = shown(run("find", parquet, *GOAL, "--json"))
    opened = []
    monkeypatch.setattr(reading, "MEMORY_ROWS", 100)
    monkeypatch.setattr(FileSource, "__init__", _told(FileSource.__init__, opened))

    del expected["loss"]  # needs the rows in memory
    assert expected == shown(run("find", parquet, *GOAL, "--json"))
    assert [True] == opened


def _told(start, calls):
    def init(*args, **options):
        calls.append(True)
        start(*args, **options)

    return init


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_where(run, table, parquet, monkeypatch, large):
    """--where leaves the rows that it names, with --by and without."""
    if large:
        monkeypatch.setattr(reading, "MEMORY_ROWS", 100)
        monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 100)
    some = table.filter((pl.col("month") == "2026-10") & (pl.col("kind") == 1))
    condition = ("--where", "month = '2026-10' and kind in (1, 7)", "--json")

    alone = shown(run("find", parquet, *GOAL, *condition))
    split = shown(run("find", parquet, *GOAL, "--by", "land", *condition))

    expected = cp.find_by(some, label="y", score="p", by="land", maximize="f1")
    whole = cp.find(some, label="y", score="p", maximize="f1")
    assert (whole.threshold, whole.value, whole.rows) == (alone["threshold"], alone["value"], alone["rows"])
    assert [one.threshold for one in expected.values()] == [one["threshold"] for one in split["segments"]]


@pytest.mark.parametrize(
    "condition",
    [
        "1 = 1; drop table data",
        "p < (select max(p) from data)",
        "p > 0.5 -- and more",
        "read_text('/etc/passwd') = ''",
        "y = 'unclosed",
        "",
    ],
)
def test_where_refuses_what_is_no_condition(run, parquet, condition):
    """Hostile text reaches no engine: exit code 2 or 1, what must hold, and no traceback."""
    result = run("find", parquet, *GOAL, "--where", condition)

    assert result.exit_code in {1, 2}
    assert "" == result.stdout
    assert "where" in result.stderr
    assert "Hint:" in result.stderr


@pytest.mark.parametrize("by", [(), ("--by", "land")], ids=["all", "by"])
def test_all_rows_filtered_away(run, parquet, by):
    """No row left is an error that names the condition."""
    result = run("find", parquet, *GOAL, *by, "--where", "month = '1999-01'")

    assert 1 == result.exit_code
    assert "month = '1999-01'" in result.stderr
    assert "Hint:" in result.stderr


def test_sql(run, table, parquet):
    """--sql makes the columns, and --where and --by are about its result."""
    query = "select y, p / 2 as q, upper(land) as big, kind from data where month = '2026-11'"
    command = ("find", parquet, "--label", "y", "--score", "q", "--minimize", "error_rate", "--sql", query)
    some = table.filter(pl.col("month") == "2026-11").with_columns(q=pl.col("p") / 2)

    alone = shown(run(*command, "--where", "kind = 0", "--json"))
    split = shown(run(*command, "--by", "big", "--json"))

    whole = cp.find(some.filter(pl.col("kind") == 0), label="y", score="q", minimize="error_rate")
    expected = cp.find_by(some, label="y", score="q", by="land", minimize="error_rate")
    assert (whole.threshold, whole.rows) == (alone["threshold"], alone["rows"])
    assert ["L0", "L1", None] == [one["key"]["big"] for one in split["segments"]]
    assert [one.threshold for one in expected.values()] == [one["threshold"] for one in split["segments"]]


@pytest.mark.parametrize(
    "query",
    [
        "drop table data",
        "select * from data; select 1",
        "copy data to 'out.csv'",
        "select * from read_csv('/etc/passwd')",
        "select * from nowhere",
    ],
)
def test_sql_is_one_select_over_these_files(run, parquet, tmp_path, query, monkeypatch):
    """Anything else is refused without a traceback, and leaves nothing behind."""
    monkeypatch.chdir(tmp_path)

    result = run("find", parquet, *GOAL, "--sql", query)

    assert result.exit_code in {1, 2}
    assert "sql" in result.stderr
    assert ["scores.parquet"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("by", [(), ("--by", "k")], ids=["all", "by"])
def test_text_in_csv_files(run, tmp_path, by):
    """Labels may be text, which only the rows can tell; text among the scores is an error that says where."""
    path = tmp_path / "text.csv"
    path.write_text("y,p,k\n" + "0,0.1,a\n" * 5_000 + "yes,0.9,a\n", encoding="utf-8")

    found = shown(run("find", str(path), *GOAL, "--pos-label", "yes", *by, "--json"))

    assert 0.9 == found.get("segments", [found])[0]["threshold"]
    path.write_text("y,p,k\n1,0.9,a\n0,x,a\n", encoding="utf-8")
    result = run("find", str(path), *GOAL, *by)
    assert 1 == result.exit_code
    assert "The column 'p' must hold numbers" in result.stderr
    assert "'x'" in result.stderr


def test_memory_limit(run, parquet, monkeypatch):
    """A limit is passed on to DuckDB, and changes nothing in the answer; what is no size is refused."""
    monkeypatch.setattr(reading, "MEMORY_ROWS", 100)
    expected = shown(run("find", parquet, *GOAL, "--json"))

    assert expected == shown(run("find", parquet, *GOAL, "--memory-limit", "100MB", "--json"))
    by = run("find", parquet, *GOAL, "--memory-limit", "0.1 GiB", "--by", "land", "--json")
    assert 3 == shown(by)["solved"]
    for bad in ("much", "12", "-1GB", "1GB; drop table data"):
        result = run("find", parquet, *GOAL, "--memory-limit", bad)
        assert result.exit_code in {1, 2}
        assert "memory" in result.stderr

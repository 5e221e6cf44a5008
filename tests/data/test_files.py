"""Files as columns in memory: formats, names, types, and everything that can be wrong with them."""

import contextlib
import gc
import gzip
import io
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
from pathlib import Path

import duckdb
import numpy as np
import pytest
from pyarrow import feather

import cutpoints as cp
from asking import everything
from cutpoints._data import files, groupby_segments, lazy_segments, paths, streaming
from cutpoints._data.arrays import ArraySource
from cutpoints._data.files import Opened
from cutpoints._data.streaming import BatchSource
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError
from engines.servers import DUCKDB_1

TABLE = """
    select i % 2 as y, i / 10 as p, (i / 10)::float as p32, i % 2 = 1 as flag,
        case when i % 2 = 1 then 'yes' else 'no' end as answer,
        (i / 10)::decimal(4, 2) as exact, i % 3 as three, date '2020-01-01' as day,
        case when i >= 3 then i / 10 end as holes, (i % 2)::utinyint as byte
    from range(10) as r(i)
"""


@pytest.fixture
def csv(tmp_path):
    """Write a text to a file and return its path."""

    def _write(text, name="scores.csv", encoding="utf-8"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
        return str(path)

    return _write


@pytest.fixture
def parquet(tmp_path):
    """A Parquet file of ten rows with a column of each type."""
    path = str(tmp_path / "scores.parquet")
    duckdb.sql(TABLE).write_parquet(path)
    return path


def source(path, *, stream=False, **columns):
    """The columns of files in memory, or as a stream; None: as their size demands."""
    data = cp.read(path, **columns)
    if stream is None:
        return data.source()
    return data.stream() if stream else next(iter(data.in_memory().values()))


def read_columns(path, *, numbers, label=None):
    """Columns of numbers as DuckDB gives them, and the labels."""
    with Opened(path) as opened:
        return opened.read(numbers, label)[:2]


def counts(found):
    """Rows and positives of a source."""
    summary = found.summary()
    return summary.rows, summary.totals[0]


# --- formats


@pytest.mark.parametrize("separator", list(",;\t|"))
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_separators_and_line_ends(csv, separator, ending):
    """The separator is read off the first line, whatever the ending of lines and of the name."""
    text = ending.join(["y,p", "1,0.5", "0,0.25", ""]).replace(",", separator)

    assert (2, 1) == counts(source(csv(text, "scores.txt"), label="y", score="p"))


def test_scores_are_read_to_the_last_bit(csv):
    """A float that is written in full comes back as the same float, however large or small."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=5000) * 10.0 ** rng.integers(-300, 300, 5000)
    path = csv("p\n" + "\n".join(map(repr, scores.tolist())))
    columns, _ = read_columns(path, numbers=["p"])

    assert np.array_equal(scores, columns["p"])


@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
def test_numbers_that_floats_would_merge_are_refused(csv, monkeypatch, stream):
    """Whole numbers beyond 2**53 are, as in arrays; large numbers with a point or an exponent are not."""
    if stream:
        monkeypatch.setattr(files, "LARGE_BYTES", 0)
    columns = {"label": "y", "score": "p", "maximize": "f1"}
    with pytest.raises(InvalidParameterError, match="got '-9007199254740993 at row 1 and 1 more'"):
        cp.find(csv("y,p\n1,0.5\n0,-9007199254740993\n1, 9007199254740992\n"), **columns)
    assert 1e300 == cp.find(csv("y,p\n1,1e300\n0,-inf\n0,9007199254740993.5\n"), **columns).threshold


def test_gzip_is_seen_by_its_bytes(csv):
    """A compressed file needs no ending that says so."""
    path = csv(gzip.compress(b"y,p\n1,0.5\n"), "scores")

    assert (1, 1) == counts(source(path, label="y", score="p"))


def test_parquet_is_seen_by_its_bytes(parquet, csv, tmp_path):
    """A Parquet file needs no ending that says so."""
    path = csv((tmp_path / "scores.parquet").read_bytes(), "scores")

    assert (10, 5) == counts(source(path, label="y", score="p"))


def test_byte_order_mark_and_blank_lines(csv):
    """A byte order mark, blank lines before the header and at the end are not data."""
    path = csv("\ufeff\n\ny,p\n1,0.5\n0,0.25\n\n")

    assert (2, 1) == counts(source(path, label="y", score="p"))


def test_rows_that_begin_with_a_hash_are_rows(csv):
    """Nothing is taken for a comment: DuckDB's guessing would leave such rows out."""
    path = csv("id,y,p\n#1,1,0.5\n#2,0,0.4\n3,1,0.7\n")

    assert (3, 2) == counts(source(path, label="y", score="p"))


def test_quotes_after_the_first_20000_rows(csv):
    """A quoted cell with a comma and a line end is one cell, wherever it comes first."""
    path = csv("y,p,note\n" + "1,0.5,a\n" * 25_000 + '0,0.2,"x, ""y""\nz"\n')

    assert (25_001, 25_000) == counts(source(path, label="y", score="p"))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_standard_input(csv, parquet, tmp_path, monkeypatch, ending):
    """`-` is standard input in any format, and the spooled file is removed."""
    text = b"y,p\n" + b"1,0.5\n0,0.1\n" * 5
    data = {
        "csv": text,
        "csv.gz": gzip.compress(text),
        "parquet": (tmp_path / "scores.parquet").read_bytes(),
    }[ending]
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    assert (10, 5) == counts(source("-", label="y", score="p"))
    assert [] == list(spool.iterdir())


def test_spooled_input_is_removed_after_an_error(tmp_path, monkeypatch):
    """The spooled file is removed if it cannot be read, too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y,p\n1,2,3\n")))

    with pytest.raises(InvalidInputError, match=r"standard input must be a CSV file\. Line 2"):
        source("-", label="y", score="p")
    gc.collect()  # from Python 3.12 on the traceback is a cycle
    assert [] == list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_named_pipe(tmp_path):
    """What can be read only once, such as `<(command)` of the shell, is read once."""
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: Path(path).write_bytes(b"y,p\n1,0.5\n"))
    writer.start()

    assert (1, 1) == counts(source(path, label="y", score="p"))
    writer.join()


def test_interrupt_while_reading(csv, monkeypatch):
    """DuckDB's word for Ctrl-C becomes Python's."""

    def interrupted(*_):
        message = "Query interrupted"
        raise RuntimeError(message)

    monkeypatch.setattr(files, "_fetch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        source(csv("y,p\n1,0.5\n"), label="y", score="p")


# --- several files


def test_pattern_reads_files_in_order(csv, tmp_path):
    """A pattern is all of its files, in alphabetical order, whatever the order of their columns."""
    csv("p,y\n0.3,1\n", "b.csv")
    csv("y,p\n0,0.1\n1,0.2\n", "a.csv")
    columns, labels = read_columns(str(tmp_path / "*.csv"), numbers=["p"], label="y")

    assert [0.1, 0.2, 0.3] == columns["p"].tolist()
    assert [0, 1, 1] == labels.tolist()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["a.csv", "a.csv"], "'{0}a.csv' more than once"),
        (["a.csv", "*.csv"], "'{0}a.csv' more than once"),
        (["", "b.csv"], "'{0}b.csv' more than once"),
        (["a.csv", "more/../a.csv"], "'{0}a.csv' and '{0}more/../a.csv' for one file"),
        (["a.csv", "link.dat"], "'{0}a.csv' and '{0}link.dat' for one file"),
    ],
    ids=["name", "pattern", "folder", "path", "link"],
)
def test_a_file_is_not_read_twice(csv, tmp_path, given, shown):
    """Its rows would count twice: named again, or in a folder or pattern, or by another way."""
    csv("y,p\n0,0.1\n", "a.csv")
    csv("y,p\n1,0.2\n", "b.csv")
    (tmp_path / "more").mkdir()
    (tmp_path / "link.dat").symlink_to(tmp_path / "a.csv")
    paths = [f"{tmp_path}/{one}".rstrip("/") for one in given]

    with pytest.raises(InvalidInputError, match=re.escape(f"Got {shown.format(f'{tmp_path}/')}.")):
        source(paths, label="y", score="p")


def test_a_file_with_the_name_of_standard_input(csv, tmp_path, monkeypatch):
    """`./-` is a file, and another one than `-`."""
    csv("y,p\n0,0.1\n", "-")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y,p\n1,0.2\n1,0.3\n")))

    assert (3, 2) == counts(source(["-", "./-"], label="y", score="p"))


def test_pattern_of_any_depth(csv, tmp_path):
    """`**` matches folders."""
    csv("y,p\n0,0.1\n", "one/a.csv")
    csv("y,p\n1,0.2\n", "two/b.csv")

    assert (2, 1) == counts(source(str(tmp_path / "**/*.csv"), label="y", score="p"))


def test_list_of_files_of_both_formats(csv, parquet):
    """A list may mix formats and separators."""
    paths = [parquet, csv("y,p\n1,0.5\n"), csv("p;y\n0.25;1\n", "b.csv")]

    assert (12, 7) == counts(source(paths, label="y", score="p"))


def test_parquet_files_are_joined_by_name(tmp_path):
    """Parquet files whose columns stand in another order are joined by name."""
    duckdb.sql("select 1 as y, 0.25::double as p").write_parquet(str(tmp_path / "a.parquet"))
    duckdb.sql("select 0.75::double as p, 0 as y").write_parquet(str(tmp_path / "b.parquet"))
    columns, labels = read_columns(str(tmp_path / "*.parquet"), numbers=["p"], label="y")

    assert [0.25, 0.75] == columns["p"].tolist()
    assert [1, 0] == labels.tolist()


def test_a_name_that_looks_like_a_pattern_is_a_name(csv):
    """A file whose name has brackets is read, and is not a pattern."""
    path = csv("y,p\n1,0.5\n", "scores[1].csv")
    csv("y,p\n1,0.5\n0,0.1\n", "scores1.csv")

    assert (1, 1) == counts(source(path, label="y", score="p"))


# --- names

NAMES = ["select", 'a"b', "sélection", "with spaces", "semi;colon", "c0", "r1", "a.b", "1", "'"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_in_csv(csv, name):
    """A column may have any name."""
    header = '"' + name.replace('"', '""') + '"'
    path = csv(f"y,{header}\n1,0.5\n0,0.25\n")

    assert [0.5, 0.25] == source(path, label="y", score=name).scores.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_any_name_in_parquet(tmp_path, name):
    """A column may have any name."""
    path = str(tmp_path / "scores.parquet")
    quoted = '"' + name.replace('"', '""') + '"'
    duckdb.sql(f"select 1 as y, 0.5::double as {quoted}").write_parquet(path)

    assert [0.5] == source(path, label="y", score=name).scores.tolist()


def test_names_that_differ_in_case_only(csv):
    """`p` and `P` are two columns."""
    path = csv("y,p,P\n1,0.5,0.75\n")

    assert [0.75] == source(path, label="y", score="P").scores.tolist()


def test_one_column_may_be_used_twice(csv):
    """The same column may be label and weight."""
    assert (3, 2) == counts(source(csv("y,p\n1,3\n0,2\n1,1\n"), label="y", score="p", weight="y"))


# --- types


def test_float32_stays_float32(parquet):
    """Scores of a Parquet file keep their precision."""
    assert np.float32 == source(parquet, label="y", score="p32").scores.dtype
    assert np.float64 == source(parquet, label="y", score="p").scores.dtype


def test_decimals_are_floats(parquet):
    """Fixed decimals are read as the nearest floats."""
    assert 0.9 == source(parquet, label="y", score="exact").scores[-1]


@pytest.mark.parametrize(
    ("label", "pos_label", "positives"),
    [
        ("y", None, 5),
        ("y", "1", 5),
        ("y", "1.0", 5),
        ("y", 0, 5),
        ("byte", "0", 5),
        ("flag", None, 5),
        ("flag", "true", 5),
        ("flag", "False", 5),
        ("answer", "yes", 5),
        ("answer", "no", 5),
        ("day", "2020-01-01", 10),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
def test_labels_of_parquet(parquet, label, pos_label, positives, stream):
    """The positive label may be given as text, whatever the type of the column."""
    found = source(parquet, label=label, score="p", pos_label=pos_label, stream=stream)

    assert (10, positives) == counts(found)


@pytest.mark.parametrize(
    ("labels", "dtype", "pos_label"),
    [
        (["1", "0", "1"], "i", "1"),
        (["1.0", "0.0", "1"], "i", "1"),
        (["0.5", "0.25", "0.5"], "f", "0.5"),
        (["True", "False", "True"], "b", "true"),
        (["TRUE", "false", "true"], "b", None),
        (["yes", "no", "yes"], "O", "yes"),
        ([" yes", "no ", "yes"], "O", "yes"),
        (["1", "x", "1"], "O", "1"),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
def test_labels_of_csv(csv, labels, dtype, pos_label, stream):
    """The type of labels is that of all their text, not that of the first rows."""
    path = csv("y,p\n" + "".join(f"{label},0.5\n" for label in labels))
    _, values = read_columns(path, numbers=["p"], label="y")

    assert dtype == values.dtype.kind
    assert (3, 2) == counts(source(path, label="y", score="p", pos_label=pos_label, stream=stream))


def test_labels_that_become_text_late(csv):
    """A column whose text comes after thousands of numbers is text, and nothing is guessed."""
    path = csv("y,p\n" + "1,0.5\n" * 30_000 + "other,0.25\n")

    assert (30_001, 30_000) == counts(source(path, label="y", score="p", pos_label="1"))


def test_counted_rows_and_weights(csv):
    """Positives and negatives per row, or weights, are columns like the others."""
    path = csv("p,good,bad,y\n0.2,1,9,0\n0.9,8,1,1\n")
    counted = source(path, score="p", positives="good", negatives="bad").summary()
    weighted = source(path, score="p", label="y", weight="bad").summary()

    assert (9, 10) == counted.totals
    assert (1, 9) == weighted.totals


def test_missing_values(csv, parquet):
    """Missing numbers are NaN, missing text is None."""
    path = csv("y,p\nyes,\n,0.5\n")
    columns, labels = read_columns(path, numbers=["p"], label="y")
    holes, _ = read_columns(parquet, numbers=["holes", "p32"])

    assert np.isnan(columns["p"]).tolist() == [True, False]
    assert ["yes", None] == labels.tolist()
    assert 3 == np.isnan(holes["holes"]).sum()


# --- errors


@pytest.mark.parametrize(
    ("columns", "text", "message"),
    [
        ({"score": "holes"}, None, "'holes' must not contain NaN or null. 3 of 10 values"),
        ({"score": "answer"}, None, "10 values are not numbers, the first at row 0 .* 'no'"),
        ({"score": "day"}, None, "The column 'day' must hold numbers. Its type is DATE"),
        ({"label": "three"}, None, "Got 3 distinct labels instead: 0, 1 and 2"),
        ({"label": "answer"}, None, "Hint: pass pos_label='yes' or pos_label='no'"),
        ({"weight": "holes"}, None, "'holes' must not contain NaN or null"),
        ({"score": "q"}, None, "Column not found: 'q'. The columns of '.*scores.parquet' are 'y'"),
        ({}, "y,p\n1,0.9\n,0.3\n", "'y' must not contain NaN or null. 1 of 2 values is missing"),
        ({"pos_label": "1"}, "y,p\n1,0.9\n,0.3\n", "'y' must not contain NaN or null"),
        ({"pos_label": "a"}, "y,p\na,0.9\n,0.3\n", "'y' must not contain NaN or null"),
        ({}, "y,p\n1,0.9\n0,high\n", "1 value is not a number, the first at row 1 .* 'high'"),
        ({}, "y;p\n1;0,9\n", "Hint: numbers must have a decimal point"),
        ({}, "y,p\n1,0.9\n0,0.1,7\n", "Line 3 has 3 values, its first line has 2"),
        ({}, "y,p\n1,0.9\n0\n", "Line 3 has 1 value, its first line has 2"),
        ({}, "y,p,p\n1,0.9,0.8\n", "the name 'p' more than once.\n\nHint: rename one"),
        (
            {},
            "Y,p\n1,0.9\n",
            "Column not found: 'y'. The columns of .* are 'Y' and 'p'.\n\nHint: did you mean",
        ),
        ({}, "1,0.9\n0,0.1\n", "are '1' and '0.9'.\n\nHint: .* the first line must have the names"),
        ({}, "", "must have named columns. It is empty"),
        ({}, "\n\n", "must have named columns. It is empty"),
        ({}, "y,p\n", "'p' must have at least one row"),
        ({}, b"y,p,\xe9\n1,0.5,1\n", "Its first line is not UTF-8 text"),
        ({}, b"y,p\n1,0.5\n\xe9,0.5\n", "Line 3 is not UTF-8 text"),
        ({}, b"\x1f\x8b\x08\x00broken", "must be a CSV file"),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
def test_bad_data(csv, parquet, columns, text, message, stream):  # noqa: PLR0917 - cases
    """Each fault has its own message, with what was found and where, however the file is read."""
    path = parquet if text is None else csv(text)

    with pytest.raises(InvalidInputError, match=f"(?s){message}"):
        source(path, **{"label": "y", "score": "p", **columns}, stream=stream).summary()


def test_many_columns_are_not_all_listed(csv):
    """Of a thousand columns twenty are listed."""
    path = csv(",".join(f"column {i}" for i in range(1000)) + "\n")

    with pytest.raises(InvalidInputError, match="'column 19' and 980 more") as caught:
        source(path, label="y", score="p")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("score.csv", "File not found: '.*score.csv'.\n\nHint: did you mean '.*scores.csv'"),
        ("no/such/folder.csv", "File not found: .*folder.csv'.\n\nHint: check the path"),
        ("x*.csv", "The pattern '.*' must match at least one file. It matches none"),
        ("empty", "The folder '.*' must have data files in it: .* It has none.\n\nHint: for files"),
    ],
)
def test_no_file(csv, tmp_path, name, message):
    """A path without a file, a pattern without a match and a directory are told apart."""
    csv("y,p\n1,0.5\n")
    csv("", "empty/_SUCCESS")

    with pytest.raises(InvalidInputError, match=f"(?s){message}"):
        source(str(tmp_path / name), label="y", score="p")


def test_empty_path():
    """An empty path, an unset variable of the shell, is no directory."""
    with pytest.raises(InvalidInputError, match="File not found: ''"):
        source("", label="y", score="p")


@pytest.mark.parametrize("keep", [0, 3, 4, 100, -1])
def test_truncated_parquet(parquet, csv, tmp_path, keep):
    """A Parquet file that ends too early is named among good ones, wherever it ends."""
    path = csv((tmp_path / "scores.parquet").read_bytes()[:keep], "short.parquet")

    with pytest.raises(CutpointError, match=r"short\.parquet") as caught:
        source([parquet, path], label="y", score="p", stream=keep % 2 == 0)
    assert "\n\nHint: " in str(caught.value)


@pytest.mark.parametrize(
    "columns",
    [{"label": "y", "positives": "a", "negatives": "b"}, {"positives": "a"}, {"negatives": "b"}],
)
def test_labels_or_counts(csv, columns):
    """Labels or both counts, and not both."""
    with pytest.raises(InvalidParameterError, match="given together with 'negatives', and without 'label'"):
        source(csv("y,p\n1,0.5\n"), score="p", **columns)


@pytest.mark.parametrize(("label", "pos_label"), [("y", "yes"), ("flag", "maybe")])
def test_pos_label_of_another_type(parquet, label, pos_label):
    """A positive label that cannot be one of the column's values is refused."""
    with pytest.raises(InvalidParameterError, match=r"^pos_label must be"):
        source(parquet, label=label, score="p", pos_label=pos_label).summary()


# --- formats beyond CSV and Parquet, folders, partitions


ROWS = "select i % 2 as y, (i * 7 % 10) / 10 as p, i as n from range(10) as r(i)"


def written(folder, form):
    """The ten rows in a format, as a path."""
    path = str(folder / f"scores.{form}")
    table = duckdb.sql(ROWS)
    if form.startswith(("csv", "ndjson")):
        kind = {"csv": "csv", "ndjson": "json"}[form.split(".")[0]]
        packed = {"gz": "gzip", "zst": "zstd"}.get(form.rpartition(".")[2], "none")
        packed = "uncompressed" if packed == "none" and kind == "json" else packed
        duckdb.sql(f"copy ({ROWS}) to '{path}' (format {kind}, compression {packed})")
    elif form == "parquet":
        table.write_parquet(path)
    else:
        feather.write_feather(table.to_arrow_table(), path)
    return path


FORMS = ["csv", "csv.gz", "csv.zst", "ndjson", "ndjson.gz", "parquet", "arrow"]


@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
@pytest.mark.parametrize("form", FORMS)
def test_every_format_gives_the_same_answer(tmp_path, form, stream):
    """The same rows in any format, in memory or in batches, filtered or not, give one solution."""
    path = written(tmp_path, form)
    y, p = np.arange(10) % 2, np.arange(10) * 7 % 10 / 10
    some = (np.arange(10) >= 2) & (np.arange(10) <= 7)
    for where, mask in ((None, p >= 0), ("n between 2 and 7 and not y = 2", some)):
        found = cp.find(source(path, label="y", score="p", where=where, stream=stream), maximize="f1")

        assert everything(cp.find(y[mask], p[mask], maximize="f1")) == everything(found)


@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet", "arrow"])
def test_folder_with_partitions(tmp_path, form, stream):
    """A folder is all data files beneath it; name=value folders are columns, and can be filtered by."""
    for month in ("2026-09", "2026-10"):
        folder = tmp_path / f"year=2026/month={month}"
        folder.mkdir(parents=True)
        written(folder, form)
        (folder / "_SUCCESS").write_text("")
        (folder / ".hidden.csv").write_text("no data")
    everything_ = source(str(tmp_path), label="y", score="p", stream=stream)
    october = source(
        str(tmp_path), label="y", score="p", stream=stream, where="month = '2026-10' and year = 2026"
    )

    assert (20, 10) == counts(everything_)
    assert (10, 5) == counts(october)
    assert (20, 10) == counts(source(str(tmp_path / "**" / f"*.{form}"), label="y", score="p"))
    with pytest.raises(InvalidInputError, match=r"(?s)No row is left by where=.*Hint: check the values"):
        source(str(tmp_path), label="y", score="p", where="month = '2027-01'", stream=stream).summary()


@pytest.mark.parametrize("folder", ["y=1", "Y=1"])
@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet", "arrow"])
def test_a_column_that_is_a_folder_too_is_refused(tmp_path, form, folder):
    """Which of the two is meant is not guessed, for one named file or for many; other columns are fine."""
    (tmp_path / folder).mkdir()
    path = written(tmp_path / folder, form)
    message = rf"(?s)'y' must come from the file or from its folder.*'{folder}'.*Hint: rename the folder"

    for data in (path, str(tmp_path), str(tmp_path / "*" / "*")):
        with pytest.raises(InvalidInputError, match=message):
            cp.find(data, label="y", score="p", maximize="f1")
        with pytest.raises(InvalidInputError, match=message):
            cp.read(data, score="p", where="y = 1").columns(["p"])
        if form != "arrow":
            assert 10 == len(cp.read(data, score="p").columns(["p"])["p"])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_apply_does_not_write_a_folder_over_a_column(tmp_path, form):
    """The scores of the file were replaced by the text of the folder."""
    folder = tmp_path / "p=0.9"
    folder.mkdir()
    path = written(folder, form)

    with pytest.raises(InvalidInputError, match=r"'p' must come from the file or from its folder"):
        cp.Policy(0.5, score="p").apply(path, tmp_path / f"out.{form}")
    assert [folder] == list(tmp_path.iterdir())


def test_names_of_unfinished_files_are_left_out_of_folders(tmp_path):
    """A dot, an underscore, or DuckDB's tmp_: such a file is not data, or not yet."""
    path = Path(written(tmp_path, "csv"))
    for name in (".scores.csv", "_scores.csv", "tmp_scores.csv", "scores.csv.tmp", ".hidden/a.csv"):
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(path.read_bytes()[:-3])

    assert (10, 5) == counts(source(str(tmp_path), label="y", score="p"))


def test_a_folder_that_vanishes_while_it_is_listed(tmp_path, monkeypatch):
    """It is an error that names the folder."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, "csv")
    real = os.scandir

    def gone(path):
        if str(path).endswith("b"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", gone)
    with pytest.raises(InvalidInputError, match=r"(?s)The folder '.*b' must be readable.*No such file.*Hint"):
        source(str(tmp_path), label="y", score="p")


def test_a_file_that_vanishes_after_it_was_listed(tmp_path, monkeypatch):
    """It is an error that names the file."""
    written(tmp_path, "csv")
    real = paths._beneath

    def then_gone(folder):
        found = real(folder)
        Path(found[0]).unlink()
        return found

    monkeypatch.setattr(paths, "_beneath", then_gone)
    with pytest.raises(InvalidInputError, match=r"csv' must be readable\. No such file or directory"):
        source(str(tmp_path), label="y", score="p")


def test_a_socket_is_not_a_file(tmp_path, monkeypatch):
    """What cannot be opened is an error that says why."""
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("scores.csv")
        with pytest.raises(InvalidInputError, match=r"'scores.csv' must be readable\. No such device"):
            source("scores.csv", label="y", score="p")


def test_large_files_stream(parquet, monkeypatch):
    """With `stream` left open, few rows are in memory and many come in batches."""
    assert isinstance(source(parquet, label="y", score="p", stream=None), ArraySource)
    monkeypatch.setattr(files, "MEMORY_ROWS", 9)
    assert isinstance(source(parquet, label="y", score="p", stream=None), BatchSource)


@pytest.mark.parametrize(("name", "limit"), [("csv", "LARGE_BYTES"), ("csv.gz", "LARGE_BYTES")])
def test_large_text_streams(tmp_path, monkeypatch, name, limit):
    """Text is large by its bytes, and sooner if it is compressed."""
    path = written(tmp_path, name)
    assert isinstance(source(path, label="y", score="p", stream=None), ArraySource)
    monkeypatch.setattr(files, limit, 10)
    assert isinstance(source(path, label="y", score="p", stream=None), BatchSource)


@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
@pytest.mark.parametrize("name", NAMES)
def test_any_name_in_batches_and_conditions(tmp_path, name, stream):
    """A column of any name is a score, and can be filtered by in double quotes."""
    path = str(tmp_path / "scores.parquet")
    quoted = '"' + name.replace('"', '""') + '"'
    duckdb.sql(f"select i % 2 as y, i / 4 as {quoted} from range(4) as t(i)").write_parquet(path)  # noqa: S608
    found = source(path, label="y", score=name, where=f"{quoted} < 0.75", stream=stream)

    assert (3, 1) == counts(found)


@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
def test_broken_file_among_good_ones(tmp_path, stream):
    """Of many files the one that is broken is named, also if only its data are."""
    for i in range(3):
        duckdb.sql("select i % 2 as y, random() as p from range(5000) as r(i)").write_parquet(
            str(tmp_path / f"{i}.parquet")
        )
    broken = tmp_path / "1.parquet"
    good = broken.read_bytes()
    for bad in (good[: len(good) // 2], good[:50] + b"\xff" * 2000 + good[2050:]):
        broken.write_bytes(bad)
        with pytest.raises(InvalidInputError, match=r"1\.parquet' must be a Parquet file"):
            source(str(tmp_path), label="y", score="p", stream=stream).summary()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.ndjson", b"[1, 2]\n", "must be a JSON file. Its first line is not an object in braces"),
        ("a.ndjson", b'{"y": 1, "p": 0.5}\n{"y": \n', "must be a JSON file"),
        ("a.arrow", b"ARROW1\0\0broken", "must be an Arrow file"),
        ("a.csv.zst", b"\x28\xb5\x2f\xfdbroken", "must be a CSV file"),
    ],
)
def test_broken_files_of_other_formats(csv, name, content, message):
    """Each format says what it must be."""
    with pytest.raises(InvalidInputError, match=message):
        source(csv(content, name), label="y", score="p").summary()


# --- conditions


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("p > 0.5", 4),
        ("p >= 0.5 and y = 1", 3),
        ("p<0.3 or p>0.7", 5),
        ("not p < 0.3", 7),
        ("not (p < 0.3 or p > 0.7) and not not y == 1", 3),
        ("three in (1, 2)", 6),
        ("three not in (1, 2)", 4),
        ("p between 0.2 and 0.4", 3),
        ("p not between 0.2 and 0.4", 7),
        ("holes is null", 3),
        ("holes is not null", 7),
        ("answer = 'yes'", 5),
        ("answer <> 'yes'", 5),
        ("answer != 'it''s'", 10),
        ("flag = true", 5),
        ("0.5 < p", 4),
        ("p = p32 or p <> p32", 10),
        ("day = '2020-01-01'", 10),
        ("p >= 1e-1 AND p <= .9", 9),
        ("p > -1", 10),
        ('"p" > 0.5', 4),
    ],
)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_conditions(parquet, tmp_path, where, rows, form):
    """Conditions mean what they mean in SQL, in typed columns and in columns of text."""
    if form == "csv":
        duckdb.sql(TABLE).write_csv(str(tmp_path / "t.csv"))
    path = parquet if form == "parquet" else str(tmp_path / "t.csv")

    assert rows == counts(source(path, label="y", score="p", where=where))[0]


HOSTILE = [
    "p > 0; drop table data",
    "p > 0 -- and nothing else",
    "p > 0 /* */",
    "1 = 1 union select 1",
    "p in (select 1)",
    "exists (select 1)",
    "p > (select 1)",
    "read_text('/etc/passwd') is null",
    "getenv('HOME') = 'x'",
    "p::varchar = '1'",
    "p || 'x' = 'y'",
    "p = 'unclosed",
    'p" = 1',
    "p = 1)",
    "((p = 1)",
    "p = = 1",
    "p",
    "",
    "p = 1 and",
    "p between 1 or 2",
    "not",
    "p is 1",
    "p not = 1",
    "p = $1",
    "p = ?",
    "p = 1e",
    "p = 0x10",
    "p = null",
    "(" * 5000 + "p = 1" + ")" * 5000,
]


@pytest.mark.parametrize("where", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_condition_is_refused(parquet, where):
    """Anything beyond the grammar is an error that says where, and reaches no engine."""
    with pytest.raises(InvalidParameterError, match=r"(?s)^where must be.*Hint:"):
        source(parquet, label="y", score="p", where=where)


@pytest.mark.parametrize(
    "text",
    [
        "'; drop table data; --",
        "a' or '1'='1",
        '"',
        "\\",
        "%",
        pytest.param("\x00", marks=pytest.mark.skipif(DUCKDB_1, reason="DuckDB 1 cannot parse it")),
        "é",
    ],
)
def test_text_in_conditions_is_only_text(tmp_path, text):
    """A text is compared letter by letter, whatever it looks like."""
    path = str(tmp_path / "t.parquet")
    connection = duckdb.connect()
    connection.execute("create table t as select ? as name, 1 as y, 0.5::double as p", [text])
    connection.sql("from t union all select 'other', 0, 0.25").write_parquet(path)
    quoted = text.replace("'", "''")

    assert (1, 1) == counts(source(path, label="y", score="p", where=f"name = '{quoted}'"))


def test_condition_on_a_column_that_is_not_there(parquet):
    """An unknown column is an error with those that there are."""
    with pytest.raises(
        InvalidInputError, match=r"Column not found: 'month'. The columns of .*scores.parquet"
    ):
        source(parquet, label="y", score="p", where="month = 1")


# --- queries


@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
def test_query(parquet, stream):
    """A query over the files gives the columns, and a condition can follow it."""
    query = "select y as label, 2 * p as score, three from data where p < 0.8"
    found = source(parquet, label="label", score="score", sql=query, where="three <> 0", stream=stream)

    assert (5, 3) == counts(found)
    assert 1.4 == found.summary().high


def test_query_joins_and_groups(parquet):
    """A query may be any SELECT."""
    query = "with t as (select three, avg(p) as p, max(y) as y from data group by three) select * from t"

    assert (3, 3) == counts(source(parquet, label="y", score="p", sql=query))


def test_query_over_csv_has_text(tmp_path):
    """The columns of CSV are text in a query."""
    path = written(tmp_path, "csv")

    assert (5, 2) == counts(source(path, label="y", score="p", sql="from data where p::double < 0.5"))


@pytest.mark.parametrize(
    "query",
    [
        "drop table data",
        "select 1 as y, 1 as p; drop view data",
        "copy data to '{folder}/out.csv'",
        "copy (select 1) to '{folder}/out.csv'",
        "create table t as select 1",
        "insert into data values (1)",
        "attach '{folder}/x.db'",
        "set threads = 1",
        pytest.param(
            "pragma version",
            marks=pytest.mark.skipif(DUCKDB_1, reason="to DuckDB 1 it is a SELECT, which reads no file"),
        ),
        "install httpfs",
        "select * from read_csv('{folder}/other.csv')",
        "select * from '{folder}/other.csv'",
        "select * from read_text('/etc/passwd')",
        "select * from glob('{folder}/*')",
        "select * from secret",
        "select * from nowhere",
        "select (",
        "",
    ],
)
def test_queries_can_read_these_files_only(parquet, tmp_path, query):
    """A query that is no single SELECT, or reaches for anything else, is refused, and nothing is written."""
    secret = duckdb.sql("select 1 as y")  # a variable that DuckDB would find
    (tmp_path / "other.csv").write_text("y,p\n1,0.5\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(InvalidParameterError, match=r"^sql must be one SELECT"):
        source(parquet, label="y", score="p", sql=query.format(folder=tmp_path))
    assert before == sorted(path.name for path in tmp_path.iterdir())
    assert 1 == len(secret)


# --- memory, and temporary files


def test_memory_limit(tmp_path, monkeypatch):
    """With little memory DuckDB writes to a private folder, which is gone at the end."""
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))
    path = str(tmp_path / "t.parquet")
    duckdb.sql("select i % 2 as y, random() as p from range(1000000) as r(i)").write_parquet(path)
    query = "select * from data order by p"
    found = source(path, label="y", score="p", sql=query, memory_limit="30MB", stream=True)

    assert (1_000_000, 500_000) == counts(found)
    assert 1 == len(list(spool.iterdir()))
    del found
    gc.collect()
    assert [] == list(spool.iterdir())


@pytest.mark.parametrize("limit", ["2", "lots", "1GB'; drop table x; --", "-1GB", ""])
def test_bad_memory_limit(parquet, limit):
    """A limit is a number and a unit."""
    with pytest.raises(
        InvalidParameterError, match=r"(?s)^memory_limit must be.*Hint: for example memory_limit='2GB'"
    ):
        source(parquet, label="y", score="p", memory_limit=limit)


def test_no_temporary_files_are_left(parquet, tmp_path, monkeypatch):
    """Neither an answer nor an error leaves a file behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(tmp_path.iterdir())
    for columns in ({"score": "p"}, {"score": "q"}, {"score": "holes"}):
        with contextlib.suppress(CutpointError):
            source(parquet, label="y", stream=True, **columns).summary()
        with contextlib.suppress(CutpointError):
            source(parquet, label="y", **columns).summary()
    gc.collect()

    assert before == sorted(tmp_path.iterdir())


def test_only_files_are_filtered(parquet, tmp_path):
    """`read` takes lists of files with conditions; frames are filtered by their own means."""
    copy = shutil.copy(parquet, tmp_path / "copy.parquet")
    found = cp.find(cp.read([parquet, copy], label="y", score="p", where="p > 0.2"), maximize="f1")

    assert 14 == found.rows
    with pytest.raises(InvalidParameterError, match=r"^where .*only applies to files"):
        cp.read(duckdb.sql(TABLE), label="y", score="p", where="p > 0.2")


# --- files that are no scores


@pytest.mark.parametrize("stream", [False, True], ids=["in memory", "in batches"])
def test_underscores_are_not_part_of_numbers(csv, stream):
    """DuckDB and Python read 1_000 as a number; in a file of scores it is a mistake, or an identifier."""
    with pytest.raises(InvalidInputError, match=r"'p' must hold numbers\. 1 value is not a number, .*1_000"):
        source(csv("y,p\n0,0.5\n1,1_000\n"), label="y", score="p", stream=stream).summary()
    with pytest.raises(InvalidInputError, match=r"'p' must hold numbers"):
        cp.Policy(0.5, score="p").apply(csv("y,p\n0,0.5\n1,1_000\n"), "-")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.csv", "y,p," + "x" * 3_000_000 + "\n1,0.5,1\n", r"Line 1 is longer than 2 MB"),
        ("a.csv", "y,p,t\n1,0.5," + "x" * 3_000_000 + "\n", r"Line 2 is longer than 2 MB"),
        ("a.csv", "y,p,t\n1,0.5," + "x" * 40_000_000 + "\n0,0.1,b\n", r"A line is longer than 2 MB"),
        ("a.csv", "y,p\n0,0.1\n1,0." + "5" * 40_000_000, r"Its last line is longer than 2 MB"),
        ("a.csv", 'y,p,t\n1,0.5,a\n1,0.5,"b\n0,0.1,b\n', r"a quote that is never closed"),
        ("a.ndjson", '{"y": 1, "p": 0.5, "t": "' + "x" * 20_000_000 + '"}\n', r"Line 1 is longer than 2 MB"),
        ("a.csv", ",".join(f"c{i}" for i in range(100_000)) + "\n", r"It has 100,000 columns"),
    ],
    ids=["header", "line", "longer line", "last line", "quote", "JSON", "columns"],
)
def test_files_that_are_too_wide_say_why(tmp_path, name, text, reason):
    """The reason is the right one, and it is there soon."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    with pytest.raises(InvalidInputError, match=reason):
        cp.find(path, label="y", score="p", maximize="f1")


def test_a_device_is_not_read_without_end(monkeypatch):
    """/dev/zero would fill the disk, by name or as standard input; /dev/null is empty."""
    asked = {"label": "y", "score": "p", "maximize": "f1"}
    with pytest.raises(InvalidInputError, match="It is a device, which may never end"):
        cp.find("/dev/zero", **asked)
    for name, message in (("zero", "standard input must be .* which may never end"), ("null", "It is empty")):
        with Path(f"/dev/{name}").open(encoding="utf-8") as device:
            monkeypatch.setattr(sys, "stdin", device)
            with pytest.raises(InvalidInputError, match=message):
                cp.find("-", **asked)


def test_standard_input_that_is_closed(monkeypatch):
    """`<&-` in a shell is an error that says so."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InvalidInputError, match=r"standard input must be readable\. It is closed"):
        source("-", label="y", score="p")


def test_a_temporary_folder_without_room(tmp_path, monkeypatch):
    """The error names the folder and how to choose another; nothing is left in it."""
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y,p\n1,0.5\n")))
    monkeypatch.setattr(shutil, "copyfileobj", lambda *_: (_ for _ in ()).throw(full))

    said = rf"standard input cannot be copied to the temporary folder '{tmp_path}'\. No space.*TMPDIR"
    with pytest.raises(InvalidInputError, match=f"(?s){said}"):
        source("-", label="y", score="p")
    gc.collect()
    assert [] == list(tmp_path.iterdir())


# --- files that change


@pytest.mark.parametrize("change", ["longer", "as long", "gone"])
@pytest.mark.parametrize("by", [False, True], ids=["one threshold", "segments"])
def test_files_that_change_between_passes(csv, monkeypatch, change, by):
    """A file that is written while a search reads it is an error that names the file."""
    monkeypatch.setattr(files, "LARGE_BYTES", 0)
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 1)
    monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", 1)
    monkeypatch.setattr(streaming, "FETCHED_ROWS", 1)
    monkeypatch.setattr("cutpoints._search.run.FETCHED_ROWS", 0)
    text = "y,p,k\n" + "".join(f"{i % 3 % 2},0.{i},{i % 2}\n" for i in range(100, 200))
    path = csv(text)
    data = cp.read(path, label="y", score="p")
    data.summary()
    if change == "gone":
        Path(path).unlink()
    else:
        Path(path).write_text(text + ("1,0.5,1\n" if change == "longer" else ""), encoding="utf-8")
        os.utime(path, ns=(0, 0))

    with pytest.raises(InvalidInputError, match=r"(?s)must not change while it is read.*Hint") as caught:
        cp.find_by(data, by="k", maximize="mcc") if by else cp.find(data, maximize="mcc", method="sweep")
    assert "changed_file" == caught.value.kind
    assert Path(path).name in str(caught.value)

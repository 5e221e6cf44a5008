"""Files in, files out: every cell as it was, one column more, whole or not at all."""

import csv
import gzip
import io
import json
import math
import threading
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import cutpoints as cp
from cutpoints._policy import files as _apply
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

POLICY = cp.Policy(0.35, score="p")
NAMES = ["plain", "it's", 'say "hi"', "Ünï 分", "a b;c", "100%", "[x]*?"]


def rows(path, **options):
    """All cells of a CSV file."""
    return list(csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8"), newline=""), **options))


def test_every_cell_comes_back_as_it_was(tmp_path):
    """Leading zeros, exponents, quotes, line ends, empty cells, comments: nothing is guessed."""
    cells = [
        ["id", "p", "P", "a,b", "id", ""],
        ["007", "0.35", "1e3", "x,y", "1.10", "true"],
        ["#8", "0.34999", "", 'he said "hi"', "2020-01-01", "NULL"],
        [" pad ", "1", "nan", "line\nend", "0x10", "=1+1"],
        ["-0", "3.5e-1", "inf", "", "ü", "@x"],
    ]
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(cells)
    done = POLICY.apply(path, out)

    decisions = ["decision", "1", "0", "1", "1"]
    assert [[*row, one] for row, one in zip(cells, decisions, strict=True)] == rows(out)
    assert (4, 3, 1, 0) == (done.rows, done.positive, done.negative, done.missing)


def test_an_empty_text_is_not_an_empty_cell(tmp_path):
    """Both stay what they are."""
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text('p,a,b\n0.5,"",\n', encoding="utf-8")
    POLICY.apply(path, out)

    assert 'p,a,b,decision\n0.5,"",,1\n' == out.read_text(encoding="utf-8")


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_the_separator_stays(tmp_path, separator):
    """A file with semicolons is written with semicolons."""
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(f"p{separator}a\n0.5{separator}1,5\n", encoding="utf-8")
    POLICY.apply(path, out)

    assert [["p", "a", "decision"], ["0.5", "1,5", "1"]] == rows(out, delimiter=separator)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".ndjson"])
def test_names_of_files_and_columns(tmp_path, name, ending):
    """Spaces, quotes, patterns and Unicode are characters as others are."""
    data = pd.DataFrame({name: [0.3, 0.35], "other": ["a", "b"]})
    path, out = tmp_path / f"in {name.replace('/', '')}{ending}", tmp_path / f"out {name}{ending}"
    if ending == ".csv":
        data.to_csv(path, index=False)
    elif ending == ".parquet":
        data.to_parquet(path)
    else:
        data.to_json(path, orient="records", lines=True)
    POLICY.apply(path, out, score=name, column=f"{name}!")

    read = {
        ".csv": pd.read_csv,
        ".parquet": pd.read_parquet,
        ".ndjson": lambda f: pd.read_json(f, lines=True),
    }
    made = read[ending](out)
    assert [0, 1] == made[f"{name}!"].tolist()
    assert [name, "other", f"{name}!"] == list(made.columns)


def test_types_of_parquet_stay(tmp_path):
    """Decimals, dates, lists, structs, nulls and integers are as they were."""
    table = pa.table(
        {
            "p": pa.array([0.1, 0.9], pa.float32()),
            "d": pa.array([Decimal("1.10"), None], pa.decimal128(10, 2)),
            "t": pa.array([0, 1], pa.timestamp("us", tz="UTC")),
            "l": [[1, 2], None],
            "s": [{"a": 1}, {"a": None}],
            "u": pa.array([2**63, 1], pa.uint64()),
            "b": pa.array([b"\x00", b"x"]),
        }
    )
    parquet.write_table(table, tmp_path / "in.parquet")
    POLICY.apply(tmp_path / "in.parquet", tmp_path / "out.parquet")
    made = parquet.read_table(tmp_path / "out.parquet")

    assert [0, 1] == made["decision"].to_pylist()
    assert table.to_pylist() == made.drop(["decision"]).to_pylist()
    assert [str(t) for t in table.schema.types if "list" not in str(t)] == [
        str(t) for t in made.drop(["decision"]).schema.types if "list" not in str(t)
    ]


@pytest.mark.parametrize("threshold", [1 / 3, float(np.float32(0.3)), math.inf, -math.inf, 5e-324])
@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32()])
def test_the_neighbours_of_the_threshold(tmp_path, threshold, dtype):
    """Parquet columns of either precision are decided on their exact values."""
    near = [threshold, math.nextafter(threshold, -math.inf), math.nextafter(threshold, math.inf), 0.0, -0.0]
    with np.errstate(over="ignore"):
        scores = np.array([*near, math.inf, -math.inf]).astype(dtype.to_pandas_dtype())
    parquet.write_table(pa.table({"p": scores}), tmp_path / "in.parquet")
    policy = cp.Policy(threshold, score="p")
    policy.apply(tmp_path / "in.parquet", tmp_path / "out.parquet")

    made = parquet.read_table(tmp_path / "out.parquet")["decision"].to_pylist()
    assert policy.decide(scores).tolist() == made


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_text_is_read_in_the_type_of_the_policy(tmp_path, ending):
    """float32 scores that were written as the shortest text are the same float32 again."""
    single = np.float32(0.3)
    policy = cp.Policy(float(single), score="p", dtype="float32")
    lines = {"csv": "p\n0.3\n0.29999998\n", "ndjson": '{"p": 0.3}\n{"p": 0.29999998}\n'}
    path = tmp_path / f"in.{ending}"
    path.write_text(lines[ending], encoding="utf-8")

    assert 1 == policy.apply(path, tmp_path / f"out.{ending}").positive


def test_many_rows_keep_their_order(tmp_path):
    """Threads or not, the rows come out in the order in which they went in."""
    n = 400_000
    scores = np.random.default_rng(0).random(n)
    parquet.write_table(pa.table({"i": np.arange(n), "p": scores}), tmp_path / "in.parquet")
    done = POLICY.apply(tmp_path / "in.parquet", tmp_path / "out.csv")
    made = pd.read_csv(tmp_path / "out.csv")

    assert np.array_equal(np.arange(n), made["i"])
    assert np.array_equal(POLICY.decide(scores), made["decision"])
    assert done.positive == made["decision"].sum()


def test_many_files_one_after_the_other(tmp_path):
    """A pattern of files of the same columns is one output; other columns are refused."""
    for i in range(3):
        (tmp_path / f"in{i}.csv").write_text(f"i,p\n{i},0.{i + 2}9\n", encoding="utf-8")
    POLICY.apply(str(tmp_path / "in*.csv"), tmp_path / "out.csv")
    cells = [["i", "p", "decision"], ["0", "0.29", "0"], ["1", "0.39", "1"], ["2", "0.49", "1"]]
    assert cells == rows(tmp_path / "out.csv")
    (tmp_path / "in9.csv").write_text("p,i\n0.5,1\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="All files must have the same columns"):
        POLICY.apply(str(tmp_path / "in*.csv"), tmp_path / "out.csv")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet", ".ndjson", ".ndjson.gz"])
def test_from_parquet_to_anything(tmp_path, ending):
    """The output's ending says its format."""
    pd.DataFrame({"p": [0.1, 0.9], "name": ["007", "x,y"]}).to_parquet(tmp_path / "in.parquet")
    out = tmp_path / f"out{ending}"
    POLICY.apply(tmp_path / "in.parquet", out)

    if "json" in ending:
        made = pd.read_json(out, lines=True, dtype={"name": str})
    elif ending == ".parquet":
        made = pd.read_parquet(out)
    else:
        made = pd.read_csv(out, sep="\t" if ending == ".tsv" else ",", dtype={"name": str})
    assert [0, 1] == made["decision"].tolist()
    assert ["007", "x,y"] == made["name"].tolist()


def test_compressed_input(tmp_path):
    """A CSV that is compressed is read as it is."""
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(b"p\n0.5\n"))
    POLICY.apply(tmp_path / "in.csv.gz", tmp_path / "out.csv")

    assert [["p", "decision"], ["0.5", "1"]] == rows(tmp_path / "out.csv")


def test_lines_of_json_stay_as_they_are(tmp_path):
    """The text of each object is kept to the letter: order, spaces, numbers of any length."""
    lines = ['{"z": 1.0000000000000000001,  "p": 0.35, "a":"</script>"}', "{}", '{"p":1,"n":{"x":[1]}}']
    (tmp_path / "in.ndjson").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    POLICY.apply(tmp_path / "in.ndjson", tmp_path / "out.ndjson", missing="keep")
    made = (tmp_path / "out.ndjson").read_text(encoding="utf-8").splitlines()

    assert [line[:-1] for line in lines] == [line.rpartition('"decision"')[0].rstrip(", ") for line in made]
    assert [1, None, 1] == [json.loads(line)["decision"] for line in made]


@pytest.mark.parametrize("ending", ["csv", "parquet", "ndjson"])
@pytest.mark.parametrize(("missing", "decision"), [("negative", 0), ("positive", 1), ("keep", None)])
def test_missing_scores(tmp_path, ending, missing, decision):
    """They are an error that counts them and names the first; or what was said instead."""
    path, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    if ending == "csv":
        path.write_text("p,a\n0.5,1\n,2\nNaN,3\n", encoding="utf-8")
    elif ending == "parquet":
        parquet.write_table(pa.table({"p": pa.array([0.5, None, math.nan]), "a": [1, 2, 3]}), path)
    else:
        path.write_text('{"p": 0.5}\n{"a": 1}\n{"p": NaN}\n', encoding="utf-8")

    with pytest.raises(InvalidInputError, match="2 of 3 scores are missing, the first at row 1"):
        POLICY.apply(path, out)
    assert [path] == list(tmp_path.iterdir())
    done = POLICY.apply(path, out, missing=missing)
    assert 2 == done.missing
    if ending == "csv":
        made = [int(row[-1]) if row[-1] else None for row in rows(out)[1:]]
    elif ending == "parquet":
        made = parquet.read_table(out)["decision"].to_pylist()
    else:
        made = [json.loads(line)["decision"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert [1, decision, decision] == made
    assert (made.count(1), made.count(0)) == (done.positive, done.negative)


def test_no_rows(tmp_path):
    """A file of names alone gives a file of names alone."""
    (tmp_path / "in.csv").write_text("p;a\n", encoding="utf-8")
    done = POLICY.apply(tmp_path / "in.csv", tmp_path / "out.csv")

    assert "p;a;decision\n" == (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert 0 == done.rows


@pytest.mark.parametrize("column", ["=1+1", "+x", "-x", "@x", "\tx", '=HYPERLINK("http://x","y")', ""])
def test_no_formula_gets_into_a_csv(tmp_path, column):
    """What we write to a CSV are digits and a name, and the name is no formula."""
    (tmp_path / "in.csv").write_text("p\n0.5\n", encoding="utf-8")

    with pytest.raises(InvalidParameterError, match="does not take for a formula"):
        POLICY.apply(tmp_path / "in.csv", tmp_path / "out.csv", column=column)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("p\n0.5\nabc\n", {}, "1 value is not a number, the first at row 1 .* with 'abc'"),
        ("p\n0,5\n", {"score": "p"}, "has 2 values"),
        ("q\n0.5\n", {}, "Column not found: 'p'"),
        ("p,p\n1,2\n", {}, "more than once"),
        ("p,decision\n1,2\n", {}, "'decision', which the input has"),
        ("p,a\n1\n", {}, "Line 2 has 1 value"),
        ("", {}, "It is empty"),
        ("p\n0.5\n", {"missing": "drop"}, "^missing must"),
    ],
    ids=["text", "comma", "column", "twice", "taken", "ragged", "empty", "option"],
)
def test_what_cannot_be_applied(tmp_path, text, options, message):
    """Bad input ends in one sentence, an old output stays, and nothing else is left."""
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(text, encoding="utf-8")
    out.write_text("old", encoding="utf-8")

    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        POLICY.apply(path, out, **options)
    assert "old" == out.read_text(encoding="utf-8")
    assert {"in.csv", "out.csv"} == {one.name for one in tmp_path.iterdir()}


def test_other_places_that_cannot_be_written(tmp_path):
    """The input itself, an unknown ending, a folder that is not there."""
    path = tmp_path / "in.csv"
    path.write_text("p\n0.5\n", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to(path)

    for out, message in [
        (path, "another file than the input"),
        (tmp_path / "link.csv", "another file than the input"),
        (tmp_path / "out.xlsx", "a name that ends in"),
        (tmp_path / "out.parquet.gz", "a name that ends in"),
        (tmp_path / "no" / "out.csv", "cannot be written"),
    ]:
        with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
            POLICY.apply(path, out)
    assert "p\n0.5\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("line", ["[1]", "{", "nonsense", '"p"', '{"p": "0.5"}', '{"p": true}', "\ufffd\x00"])
def test_lines_that_are_no_rows(tmp_path, line):
    """A line of JSON that is no object, or has no number, is named."""
    (tmp_path / "in.ndjson").write_text('{"p": 1}\n' * 120 + line + "\n", encoding="utf-8")

    with pytest.raises(InvalidInputError, match=r"Line 121|row 120"):
        POLICY.apply(tmp_path / "in.ndjson", tmp_path / "out.ndjson")
    assert ["in.ndjson"] == [one.name for one in tmp_path.iterdir()]


def test_a_full_disk_leaves_the_old_output(tmp_path, monkeypatch):
    """If writing fails half-way, the old decisions are there as they were."""
    (tmp_path / "in.csv").write_text("p\n0.5\n", encoding="utf-8")
    (tmp_path / "out.csv").write_text("old", encoding="utf-8")

    def full(_table, beside, *_args, **_options):
        beside.write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_apply, "_copy", full)
    with pytest.raises(InvalidInputError, match="No space left on device"):
        POLICY.apply(tmp_path / "in.csv", tmp_path / "out.csv")
    assert "old" == (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert {"in.csv", "out.csv"} == {one.name for one in tmp_path.iterdir()}


@pytest.mark.parametrize("form", ["csv", "parquet", "ndjson"])
@pytest.mark.parametrize("change", ["longer", "as long", "replaced", "gone"])
def test_a_file_that_changes_while_it_is_decided_is_refused(tmp_path, monkeypatch, form, change):
    """Decisions of neither the old nor the new file are never written."""
    path, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    write = {"csv": pd.DataFrame.to_csv, "parquet": pd.DataFrame.to_parquet, "ndjson": pd.DataFrame.to_json}
    options = {"ndjson": {"orient": "records", "lines": True}}.get(form, {"index": False})
    old, new = (pd.DataFrame({"p": np.linspace(start, 1, 1000)}) for start in (0.5, 0.25))
    write[form](old, path, **options)

    def changing(real):
        def first(*given, **more):
            found = real(*given, **more)
            if change == "gone":
                path.unlink()
            elif change == "replaced":
                write[form](new, path.with_name("new"), **options)
                path.with_name("new").replace(path)
            else:
                write[form](pd.concat([old, old]) if change == "longer" else new, path, **options)
            return found

        return first

    if form == "ndjson":
        from cutpoints._policy import ndjson

        monkeypatch.setattr(ndjson, "apply_lines", changing(ndjson.apply_lines))
    else:
        monkeypatch.setattr(_apply, "check_scores", changing(_apply.check_scores))
    with pytest.raises(InvalidInputError, match=r"in\.\w+' must not change while it is read"):
        POLICY.apply(path, out)
    assert not out.exists()
    assert {path.name} >= {one.name for one in tmp_path.iterdir()}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_half_written_file_is_never_taken_for_data(tmp_path, monkeypatch, form):
    """Who reads a folder while `apply` writes into it sees whole files only."""
    path, folder = tmp_path / "in.parquet", tmp_path / "out"
    folder.mkdir()
    pd.DataFrame({"p": np.linspace(0, 1, 300_000), "y": 1}).to_parquet(path)
    copying, seen = threading.Event(), set()

    def watch():
        while not copying.is_set():
            seen.update(one.name for one in folder.iterdir())

    watcher = threading.Thread(target=watch)
    watcher.start()
    POLICY.apply(path, folder / f"out.{form}")
    copying.set()
    watcher.join()

    assert any(name.startswith(".") for name in seen)  # it did write beside
    assert {f"out.{form}"} >= {name for name in seen if not name.startswith(".")}

"""`find_by`: each segment's solution is that of its own rows, from passes that all share."""

import datetime as dt
import decimal
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import everything
from cutpoints import _segments as segments
from cutpoints._data import groupby_segments, lazy_segments
from cutpoints._goal import goal
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from strategies import conjunctions, directions, objectives, problems

KEYS = (
    ["a", "b", ""],
    ["Ä", "漢字", "a\x00b", " a", "A"],
    [3, -1, 10**12],
    [0.5, -0.0, math.nan],
    [dt.date(2026, 10, 1), dt.date(1969, 1, 1)],
    [None, "x", "y"],
    [True, False],
)


def column(values):
    """A column of Python objects; a list of lists must not become two-dimensional."""
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


@st.composite
def segmented_problems(draw, kind=None, columns=1):
    """Rows, and keys that fall into a few segments."""
    problem = draw(problems(kind, max_size=30))
    size = len(problem.scores)
    keys = []
    for _ in range(columns):
        pool = draw(st.sampled_from(KEYS))
        keys.append(column(draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))))
    return problem, keys


def ask(problem, index=slice(None), **options):
    """Call `find`, or `find_by`, with some rows of a problem."""
    part = problem.take(index)
    find = cp.find_by if "by" in options else cp.find
    if part.labels is None:
        data = cp.from_counts(part.scores, positives=part.positives, negatives=part.negatives)
        return find(data, **options)
    return find(part.labels, part.scores, sample_weight=part.weights, **options)


def as_key(value):
    """The key of a value: None where it is missing."""
    return None if value is None or value != value else value


def rows_by_key(keys):
    """The rows of each segment, by going through them one by one."""
    found = {}
    for i, parts in enumerate(zip(*keys, strict=True)):
        key = tuple(map(as_key, parts))
        found.setdefault(key if len(keys) > 1 else key[0], []).append(i)
    return found


def facts(entry):
    """What must be equal bit for bit, but for how the search went about it."""
    if isinstance(entry, segments.Unsolved):
        return entry.status, entry.reason, entry.rows, entry.positives, entry.negatives
    return entry.status, everything(entry), entry.rows, entry.positives, entry.negatives


def alone(problem, index, **options):
    """The solution of some rows, or the error, in the same form."""
    try:
        return facts(ask(problem, index, **options))
    except InvalidInputError as error:
        part = problem.take(index)
        rows = part.rows
        return (
            "undefined",
            str(error).split("\n\n")[0],
            len(rows),
            *(float(sum(row[i] for row in rows)) for i in (1, 2)),
        )


# --- in memory


@given(segmented_problems(), directions, objectives(), conjunctions(1))
@settings(max_examples=150)
def test_each_segment_is_solved_as_if_it_were_alone(posed, direction, objective, constraints):
    """Every segment equals `find` on its own rows, bit for bit; those that fail say what `find` says."""
    problem, keys = posed
    options = {direction: objective.text, "subject_to": [one.text for one in constraints]}
    expected = rows_by_key(keys)

    found = ask(problem, by=keys[0], **options)

    assert set(expected) == set(found)
    assert len(expected) == len(found)
    for key, index in expected.items():
        assert alone(problem, np.array(index), **options) == facts(found[key])
        if not isinstance(found[key], segments.Unsolved):
            assert ask(problem, np.array(index), **options).certificate == found[key].certificate


@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_one_weight_of_all_rows_is_counted_in_segments_too(weight):
    """The certificate says the same of a segment as of its rows alone, passes included."""
    y_true, y_score, keys = np.arange(12) % 3 == 0, np.arange(12) * 5 % 7 / 7, np.arange(12) % 2
    weights = np.full(12, weight)

    found = cp.find_by(y_true, y_score, sample_weight=weights, by=keys, maximize="f1")
    for key in (0, 1):
        rows = keys == key
        alone = cp.find(y_true[rows], y_score[rows], sample_weight=weights[rows], maximize="f1")
        assert (alone.value, alone.certificate) == (found[key].value, found[key].certificate)


@given(segmented_problems("unweighted", columns=2))
@settings(max_examples=40)
def test_several_columns_make_one_key(posed):
    """Segments of two columns are the pairs that occur, as tuples."""
    problem, keys = posed
    expected = rows_by_key(keys)

    found = ask(problem, by=keys, maximize="accuracy")

    assert set(expected) == set(found)
    for key, index in expected.items():
        assert facts(ask(problem, np.array(index), maximize="accuracy")) == facts(found[key])


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_segments(count):
    """Ten thousand segments are ten thousand solutions, in order, and no row is lost."""
    rng = np.random.default_rng(0)
    keys = np.concatenate([np.arange(count), rng.integers(0, count, 5 * count)])
    score = rng.random(len(keys))
    label = rng.random(len(keys)) < score

    found = cp.find_by(label, score, by=keys, maximize="accuracy")

    assert list(range(count)) == list(found)
    assert len(keys) == sum(one.rows for one in found.values())
    for key in (0, 17, count - 1):
        mine = keys == key
        assert facts(cp.find(label[mine], score[mine], maximize="accuracy")) == facts(found[key])
    assert f"{count - 20:,} more segments" in repr(found)


# --- engines and files


def frames():
    """The same rows in every form that has columns with names."""
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(5)
    rows = 3_000
    score = rng.random(rows)
    frame = pl.DataFrame(
        {
            "y": (rng.random(rows) < score).astype(int),
            "p": score,
            "w": rng.random(rows),
            "select": [None if k == 3 else f'k"{k}' for k in rng.integers(0, 6, rows)],
            "day": [dt.date(2026, 10, int(d)) for d in rng.integers(1, 4, rows)],
        }
    )
    return {
        "polars": frame,
        "lazy": frame.lazy(),
        "pandas": frame.to_pandas(),
        "pyarrow": frame.to_arrow(),
        "duckdb": duckdb.from_arrow(frame.to_arrow()),
        "parquet": frame,
    }


@pytest.mark.parametrize("engine", ["lazy", "pandas", "pyarrow", "duckdb", "parquet"])
@pytest.mark.parametrize("holds", [1 << 22, 100])
def test_every_engine_gives_the_same_segments(engine, holds, tmp_path, monkeypatch):
    """Frames in memory, lazy ones and files agree, whether or not the rows fit in memory."""
    made = frames()
    names = {"label": "y", "score": "p", "weight": "w", "by": ["select", "day"]}
    expected = cp.find_by(made["polars"], **names, maximize="f1")
    data = made[engine]
    if engine == "parquet":
        data = tmp_path / "scores.parquet"
        made["polars"].write_parquet(data)
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", holds)
    monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", holds)

    found = cp.find_by(data, **names, maximize="f1")

    days = [tuple(key) for key in expected]
    assert 18 == len(days)
    assert (None, dt.date(2026, 10, 3)) == days[-1]
    if engine == "pandas":  # pandas has no dates, only times
        assert days == [(key, day.date() if isinstance(day, dt.datetime) else day) for key, day in found]
    else:
        assert days == list(found)
    assert list(map(facts, expected.values())) == list(map(facts, found.values()))


def test_segments_of_a_csv_file_are_text(tmp_path):
    """CSV has no types: keys are what is written, and an empty cell is missing."""
    path = tmp_path / "scores.csv"
    path.write_text("y,p,k\n1,0.9,1\n0,0.1,1\n1,0.8,02\n0,0.3,02\n1,0.7,\n0,0.2,\n", encoding="utf-8")

    found = cp.find_by(path, label="y", score="p", by="k", maximize="f1")

    assert ["02", "1", None] == list(found)
    assert [0.8, 0.9, 0.7] == [one.threshold for one in found.values()]


def test_bad_rows_of_a_stream_are_refused(tmp_path):
    """NaN scores and third labels stop the search, as they do without segments."""
    pl = pytest.importorskip("polars")
    for y, p, message in (
        ([0, 1, 2], [0.1, 0.2, 0.3], "two distinct labels"),
        ([0, 1, 1], [0.1, None, 0.3], "NaN"),
    ):
        frame = pl.DataFrame({"y": y, "p": p, "k": ["a", "b", "b"]})
        frame.write_parquet(tmp_path / "bad.parquet")
        for data in (frame, frame.lazy(), tmp_path / "bad.parquet"):
            with pytest.raises(InvalidInputError, match=message):
                cp.find_by(data, label="y", score="p", by="k", maximize="f1")


# --- keys


def test_missing_keys_are_a_segment_of_their_own():
    """None, NaN, NaT and NA are one key, None, which comes last; no row is lost."""
    pd = pytest.importorskip("pandas")
    keys = column([None, "b", float("nan"), "a", pd.NaT, pd.NA])

    found = cp.find_by([0, 1, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], by=keys, maximize="accuracy")

    assert ["a", "b", None] == list(found)
    assert 4 == found[None].rows
    assert "(missing)" in repr(found)


LARGE = 2**60 + 1


def columns_of(values):
    """The same whole numbers in every form, those with a missing value among them."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    whole = [int(value) if value is not None else None for value in values]
    return {
        "list": whole,
        "objects": column(whole),
        "masked": np.ma.MaskedArray(
            [value or 0 for value in whole], mask=[value is None for value in whole], dtype=np.int64
        ),
        "pandas": pd.Series(whole, dtype="Int64"),
        "pandas objects": pd.Series(whole, dtype=object),
        "pandas arrow": pd.Series(whole, dtype=pd.ArrowDtype(pa.int64())),
        "pandas categories": pd.Series(whole, dtype=object).astype("category"),
        "polars": pl.Series(whole, dtype=pl.Int64),
        "pyarrow": pa.array(whole, pa.int64()),
        "pyarrow chunks": pa.chunked_array([whole[:2], whole[2:]], pa.int64()),
    }


@pytest.mark.parametrize("values", [[LARGE, LARGE + 1, LARGE + 2, None], [1, 2, 3, None], [1, 2, 3, 4]])
def test_whole_numbers_stay_whole(values):
    """Large keys are never merged by way of a float, and small ones do not come back as 1.0."""
    for kind, by in columns_of(values).items():
        found = cp.find_by([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], by=by, maximize="accuracy")

        assert values == list(found), kind
        assert [type(value) for value in values] == [type(key) for key in found], kind


@pytest.mark.parametrize("route", ["pandas", "polars", "pyarrow", "lazy", "duckdb", "parquet", "grouped"])
def test_columns_of_frames_keep_their_keys(route, tmp_path, monkeypatch):
    """By name, in every kind of frame and in files: four segments, not two, and not 1.0."""
    pd, pl, duckdb = (pytest.importorskip(name) for name in ("pandas", "polars", "duckdb"))
    frame = pl.DataFrame(
        {
            "y": [0, 1, 1, 0],
            "p": [0.1, 0.2, 0.3, 0.4],
            "k": pl.Series([LARGE, LARGE + 1, LARGE + 2, None], dtype=pl.Int64),
            "text": ["a", "a\0", None, ""],
            "huge": pl.Series([2**64 - 1, 2**64 - 2, 2**64 - 3, 0], dtype=pl.UInt64),
        }
    )
    path = tmp_path / "keys.parquet"
    frame.write_parquet(path)
    if route == "grouped":
        monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 1)
        monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", 1)
    pandas = pd.DataFrame(
        {
            "y": frame["y"].to_list(),
            "p": frame["p"].to_list(),
            "k": pd.Series(frame["k"].to_list(), dtype="Int64"),
            "text": pd.Series(frame["text"].to_list(), dtype=object),
            "huge": pd.Series(frame["huge"].to_list(), dtype="uint64"),
        }
    )
    routes = {
        "pandas": pandas,
        "polars": frame,
        "pyarrow": frame.to_arrow(),
        "lazy": frame.lazy(),
        "duckdb": duckdb.connect().from_parquet(str(path)),
    }
    data = routes.get(route, path)

    for name in ("k", "text", "huge"):
        found = cp.find_by(data, label="y", score="p", by=name, maximize="accuracy")

        assert sorted(frame[name].to_list(), key=lambda key: (key is None, key)) == list(found)
        assert {type(key) for key in frame[name].to_list()} == {type(key) for key in found}


@pytest.mark.parametrize("route", ["array", "pandas", "polars", "pyarrow", "lazy", "duckdb", "grouped"])
def test_times_that_differ_by_a_nanosecond_are_two_keys(route, monkeypatch):
    """Times of Python have microseconds, which would merge them, and lose all rows of a segment but one's."""
    pl, duckdb = (pytest.importorskip(name) for name in ("polars", "duckdb"))
    times = np.array([1, 2, 3, 1_000_000], dtype="datetime64[ns]")
    frame = pl.DataFrame({"y": [0, 1, 1, 0] * 5, "p": [0.1, 0.2, 0.3, 0.4] * 5, "k": np.tile(times, 5)})
    if route == "grouped":
        monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 1)
        monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", 1)
    table = frame.to_arrow()
    asked = {"label": "y", "score": "p", "by": "k", "maximize": "accuracy"}
    if route == "array":
        found = cp.find_by(frame["y"], frame["p"], by=frame["k"].to_numpy(), maximize="accuracy")
    else:
        data = {
            "pandas": frame.to_pandas(),
            "polars": frame,
            "pyarrow": table,
            "duckdb": duckdb.connect().from_arrow(table),
        }
        found = cp.find_by(data.get(route, frame.lazy()), **asked)

    assert [5, 5, 5, 5] == [sum(one.confusion.to_dict().values()) for one in found.values()]


def test_times_are_no_keys_of_policies():
    """They would be written as whole numbers, which match no time."""
    times = np.array([1, 2, 1, 2], dtype="datetime64[ns]")
    found = cp.find_by([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], by=times, maximize="accuracy")
    with pytest.raises(ValueError, match="write dates and other values as text"):
        found.policy()


def test_texts_that_differ_by_a_null_are_two_keys():
    """NumPy's fixed-width text drops zeros at the end: "a" and "a\\0" must not meet there."""
    found = cp.find_by([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], by=["a", "a\0", "a", "a\0"], maximize="accuracy")

    assert ["a", "a\0"] == list(found)


def test_unsigned_keys():
    """Numbers beyond the signed ones are keys like any other, close together or far apart."""
    for numbers in ([2**64 - 1, 2**64 - 2, 2**64 - 1], [0, 2**64 - 1, 2**63]):
        keys = np.array(numbers, dtype=np.uint64)
        found = cp.find_by([0, 1, 1], [0.1, 0.2, 0.3], by=keys, maximize="accuracy")

        assert sorted(set(numbers)) == list(found)


def test_groups_of_assess_keep_large_numbers_apart():
    """Groups are told apart as segments are: with a missing one, too."""
    from cutpoints._evaluate.splits import group_codes

    for kind, groups in columns_of([LARGE, LARGE + 1, LARGE + 2, None]).items():
        assert [0, 1, 2, 3] == group_codes(groups, 4).tolist(), kind


def test_decimals_and_mixed_keys_keep_their_types():
    """Decimals stay decimals, and a whole float is not a whole number."""
    keys = [decimal.Decimal("1.10"), 2.0, "x", None]

    found = cp.find_by([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], by=keys, maximize="accuracy")

    assert {type(key) for key in keys} == {type(key) for key in found}


def test_times_finer_than_python_has_are_kept():
    """Nanoseconds that a datetime cannot hold stay NumPy times; others become datetimes."""
    times = np.array(["2026-10-01T00:00:00.000000001", "2026-10-01"], dtype="datetime64[ns]")

    found = cp.find_by([0, 1], [0.1, 0.2], by=times, maximize="accuracy")

    assert {times[0], dt.datetime(2026, 10, 1)} == set(found)  # noqa: DTZ001


@pytest.mark.parametrize(
    "by",
    [
        ["a", "a", "b"],
        np.array(["a", "a", "b"]),
        {"k": ["a", "a", "b"]},
        [np.array(["a", "a", "b"])],
        (["a", "a", "b"],),
    ],
)
def test_ways_to_pass_keys(by):
    """A list of keys, an array, a dict, and a list of columns all work."""
    found = cp.find_by([0, 1, 1], [0.1, 0.9, 0.5], by=by, maximize="accuracy")

    assert ["a", "b"] == list(found)


def test_a_named_series_names_the_segments():
    """The name of a pandas Series is the name of its column in the result."""
    pd = pytest.importorskip("pandas")

    found = cp.find_by([0, 1], [0.1, 0.9], by=pd.Series(["x", "x"], name="land"), maximize="f1")

    assert ("land",) == found.by
    assert ["x"] == found.to_pandas()["land"].tolist()


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        (["a"], {}, "same number of rows"),
        ({"a": ["x", "y"], "b": ["x"]}, {}, "same number of rows"),
        ({}, {}, "one column of segments"),
        ([["a", "b"], ["c", "d"]], {"min_rows": 0}, "^min_rows must be a positive integer"),
        ([["a", "b"], ["c", "d"]], {"min_rows": 2.5}, "a positive integer"),
        (np.zeros(2, dtype=complex), {}, "text, numbers, booleans or dates"),
        (column([[1], [2]]), {}, "text, numbers, booleans or dates"),
    ],
)
def test_bad_keys_are_refused(by, options, message):
    """What cannot be a segment is an error that says what can."""
    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        cp.find_by([0, 1], [0.1, 0.9], by=by, maximize="f1", **options)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("lnd", "Column not found: 'lnd'"),
        (["land", "land"], "names that differ"),
        (7, "the name of a column"),
        ([], "the name of a column"),
    ],
)
def test_bad_names_of_columns_are_refused(by, message):
    """Where columns have names, `by` must be such names; the near one is suggested."""
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"y": [0, 1], "p": [0.1, 0.9], "land": ["a", "b"]})

    for data in (frame, frame.lazy()):
        with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
            cp.find_by(data, label="y", score="p", by=by, maximize="f1")


# --- segments that fail, and the result


@pytest.fixture
def mixed():
    """Four segments: a good one, one without negatives, one that is infeasible, one of a single row."""
    keys = ["good"] * 4 + ["pure"] * 2 + ["hopeless"] * 3 + ["<tiny>"]
    labels = [0, 1, 0, 1, 1, 1, 1, 0, 0, 0]
    scores = [0.1, 0.8, 0.3, 0.9, 0.4, 0.5, 0.1, 0.2, 0.3, 0.7]
    return cp.find_by(
        labels, scores, by={"land": keys}, maximize="youden_j", subject_to="precision >= 0.9", min_rows=2
    )


def test_segments_that_fail_stop_no_others(mixed):
    """Each entry says what became of it, and has the attributes of a solution."""
    assert ["<tiny>", "good", "hopeless", "pure"] == list(mixed)
    assert ["too_few_rows", "optimal", "infeasible", "undefined"] == [one.status for one in mixed.values()]
    assert ["good"] == list(mixed.solved)
    assert {"<tiny>", "hopeless", "pure"} == set(mixed.unsolved)
    assert "at least 2 rows. It has 1." in mixed.unsolved["<tiny>"]
    assert "precision >= 0.9" in mixed.unsolved["hopeless"]
    assert None is mixed["<tiny>"].threshold
    for call in (mixed["<tiny>"].raise_if_infeasible, lambda: mixed["<tiny>"].decide([0.5])):
        with pytest.raises(InvalidInputError, match="at least 2 rows"):
            call()


def test_one_class_says_so_even_if_the_goal_is_defined():
    """Accuracy has an optimum without negatives; the note says that there are none."""
    found = cp.find_by([1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], by=["a", "a", "b", "b"], maximize="accuracy")

    assert "no negative rows" == found.note("a")
    assert "1 negative" == found.note("b")
    assert 0.1 == found["a"].threshold


@given(segmented_problems(), directions, objectives(), conjunctions(1))
@settings(max_examples=60)
def test_the_common_threshold_in_each_segment(posed, direction, objective, constraints):
    """It is what `find` finds for all rows, and its segments have the counts of plain counting."""
    problem, keys = posed
    options = {direction: objective.text, "subject_to": [one.text for one in constraints]}
    everywhere = range(len(problem.rows))
    expected = alone(problem, np.array(everywhere), **options)

    found = ask(problem, by=keys[0], **options)

    if found.common is None:
        assert "optimal" != expected[0]
        assert {} == found.at_common
        return
    assert expected == facts(found.common)
    assert set(found) == set(found.at_common)
    for key, index in rows_by_key(keys).items():
        rows = [problem.rows[i] for i in index]
        confusion = found.at_common[key].confusion
        called = [row for row in rows if row[0] >= found.common.threshold]
        assert math.isclose(sum(row[1] for row in called), confusion.tp, rel_tol=1e-9, abs_tol=1e-12)
        assert math.isclose(sum(row[2] for row in called), confusion.fp, rel_tol=1e-9, abs_tol=1e-12)
        broken = [one.text for one in constraints if not met(one.text, confusion)]
        assert broken == list(found.at_common[key].broken)


def met(text, confusion):
    """Whether a constraint holds, by the confusion's own metrics."""
    constraint = goal(maximize="f1", subject_to=text).constraints[0]
    value = constraint.expression.rounded(**confusion.fractions())
    return not math.isnan(value) and bool(constraint.holds(Fraction(value) - constraint.bound))


def test_thresholds_that_overfit_say_so():
    """Of labels that are the same everywhere, the common threshold knows more than forty small segments."""
    rng = np.random.default_rng(1)
    keys, score = np.repeat(np.arange(40), 100), rng.random(4000)
    found = cp.find_by(rng.random(4000) < 0.2 + 0.4 * score, score, by=keys, maximize="youden_j")

    assert len(found) == len(found.cross_validated)
    over = [key for key in found if "overfits" in found.note(key)]
    assert 20 < len(over)
    assert f"{len(over)} of 40 segments overfit" in " ".join(found.warnings)
    assert all(found.cross_validated[key] < found[key].value for key in over)
    assert "fewer than 10" not in " ".join(found.warnings)


def test_thresholds_that_are_needed_do_not_overfit():
    """Where segments differ in their scores, the common threshold is worse in each of them."""
    rng = np.random.default_rng(2)
    keys, score = np.repeat([0, 1], 5000), rng.random(10_000)
    found = cp.find_by(rng.random(10_000) < score, score + 3 * keys, by=keys, maximize="youden_j")

    assert () == found.warnings
    for key in found:
        assert found.at_common[key].value <= found[key].value
        assert 0 <= found[key].value - found.cross_validated[key] < 0.03


def test_few_rows_of_a_class_say_so():
    """With weights that are no numbers of rows, nothing is said."""
    labels, scores, keys = [0, 1] * 6 + [0] * 20, np.arange(32) / 32, ["a"] * 32
    found = cp.find_by(labels, scores, by=keys, maximize="f1")

    assert "6 positives" in found.note("a")
    assert "1 of 1 segments has fewer than 10 positives" in found.warnings[0]
    weights = np.linspace(0.5, 2, 32)
    assert () == cp.find_by(labels, scores, by=keys, sample_weight=weights, maximize="f1").warnings


@pytest.mark.parametrize("engine", ["lazy", "duckdb", "parquet"])
@pytest.mark.parametrize(
    "goal", [{"maximize": "f1"}, {"maximize": "recall", "subject_to": "precision >= 0.7"}]
)
@pytest.mark.parametrize("weight", [None, "w"])
def test_the_common_threshold_beyond_memory(engine, goal, weight, tmp_path, monkeypatch):
    """Where rows stay in their engine, the common threshold does in each segment what it does in memory."""
    made = frames()
    names = {"label": "y", "score": "p", "weight": weight, "by": ["select", "day"], "min_rows": 150}
    expected = cp.find_by(made["polars"], **names, **goal)
    data = made[engine]
    if engine == "parquet":
        data = tmp_path / "scores.parquet"
        made["polars"].write_parquet(data)
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 100)
    monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", 100)

    found = cp.find_by(data, **names, **goal)

    assert facts(expected.common) == facts(found.common)
    assert 18 == len(found.at_common)
    assert expected.at_common == found.at_common
    assert any(one.broken for one in found.at_common.values()) == ("subject_to" in goal)
    assert expected.to_dict()["common"]["threshold"] == found.to_dict()["common"]["threshold"]
    assert f"common  {found.common.interval.shortest}: " in repr(found)
    assert all(0 < value <= 1 for value in found.cross_validated.values() if value is not None)


@pytest.mark.parametrize("holds", [1 << 22, 2])
def test_a_common_threshold_that_calls_no_row_positive(holds, monkeypatch):
    """It is at infinity, and every segment has its counts there."""
    pl = pytest.importorskip("polars")
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", holds)
    monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", holds)
    frame = pl.LazyFrame({"y": [1, 0] * 4, "p": [0.1, 0.9] * 4, "k": [0, 0, 0, 0, 1, 1, 1, 1]})
    found = cp.find_by(frame, label="y", score="p", by="k", minimize="cost(fp=2, fn=1)")

    assert math.inf == found.common.threshold
    assert [{"tp": 0, "fp": 0, "fn": 2, "tn": 2}] * 2 == [
        one.confusion.to_dict() for one in found.at_common.values()
    ]


@pytest.mark.parametrize("holds", [1 << 22, 100])
def test_costs_by_row_at_the_common_threshold(holds, monkeypatch):
    """Costs with columns are added up in each segment, in memory and beyond it."""
    pl = pytest.importorskip("polars")
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", holds)
    monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", holds)
    rng = np.random.default_rng(3)
    score, amount, key = rng.random(2000), rng.integers(0, 10_000, 2000) / 100, np.arange(2000) % 3
    label = rng.random(2000) < score
    frame = pl.LazyFrame({"y": label, "p": score, "k": key, "amount": amount})
    found = cp.find_by(frame, label="y", score="p", by="k", minimize="cost(fp=5, fn=amount)")

    for k, one in found.at_common.items():
        called = score[key == k] >= found.common.threshold
        missed = amount[key == k][~called & label[key == k]].sum()
        assert math.isclose(one.value, missed + 5 * (called & ~label[key == k]).sum())


def test_the_result_as_json(mixed):
    """`to_dict` is strict JSON: the goal, the keys by name, and each solution."""
    shown = json.loads(json.dumps(mixed.to_dict(), allow_nan=False))

    assert (1, 3, ["land"]) == (shown["solved"], shown["unsolved"], shown["by"])
    good = next(one for one in shown["segments"] if one["key"] == {"land": "good"})
    assert mixed["good"].to_short_dict().items() <= (good | {"constraints": ["precision >= 0.9"]}).items()
    assert "metrics" not in good
    tiny = shown["segments"][0]
    assert ({"land": "<tiny>"}, "too_few_rows", None) == (tiny["key"], tiny["status"], tiny["threshold"])


def test_keys_of_all_kinds_are_json():
    """Dates are ISO text, infinite keys are words, and missing keys are null."""
    keys = column([dt.date(2026, 1, 2), None, True, "x", 2.5, math.inf])

    found = cp.find_by([0, 1, 0, 1, 0, 1], np.arange(6) / 8, by=keys, maximize="accuracy").to_dict()

    shown = [one["key"]["segment"] for one in found["segments"]]
    assert {"2026-01-02", None, True, "x", 2.5, "inf"} == set(shown)
    json.dumps(found, allow_nan=False)


def test_the_result_as_tables(mixed):
    """Frames have one row per segment; text and HTML say what is wrong, and HTML is escaped."""
    pytest.importorskip("pandas")
    pytest.importorskip("polars")

    for frame in (mixed.to_pandas(), mixed.to_polars()):
        assert list(mixed) == list(frame["land"])
        assert list(segments._COLUMNS) == list(frame.columns)[1:]
    assert "&lt;tiny&gt;" in mixed._repr_html_()
    assert "too few rows" in repr(mixed)
    assert "1 of 4 segments" in repr(mixed)
    assert "maximize youden_j subject to precision >= 0.9" in repr(mixed)


def test_decisions_by_segment():
    """Each row is compared with the threshold of its own segment; unknown segments are refused."""
    rng = np.random.default_rng(0)
    score, keys = rng.random(300), rng.integers(0, 3, 300)
    label = rng.random(300) < score
    found = cp.find_by(label, score, by=keys, maximize="f1")

    decisions = found.decide(score, keys)

    for key, one in found.items():
        assert one.confusion.tp == int((decisions[keys == key] & label[keys == key]).sum())
    with pytest.raises(InvalidParameterError, match="was not in the data"):
        found.decide([0.5], [7])
    with pytest.raises(InvalidInputError, match="same number of rows"):
        found.decide([0.5], [1, 1])


def test_a_guarantee_is_per_segment():
    """With a guarantee each segment is certified by itself, or says that it cannot be."""
    rng = np.random.default_rng(0)
    score, keys = rng.random(2_000), np.repeat(["large", "small"], [1_980, 20])
    label = rng.random(2_000) < score
    goal = {"maximize": "precision", "subject_to": "recall >= 0.8", "guarantee": 0.95}

    found = cp.find_by(label, score, by=keys, **goal)

    mine = keys == "large"
    assert cp.find(label[mine], score[mine], **goal).threshold == found["large"].threshold
    assert "none_certified" == found["small"].status
    assert "none certified" == found.note("small")


def test_what_only_memory_can_do_is_refused_on_streams(monkeypatch):
    """A method or a guarantee needs the rows; where these are not in memory, that is said."""
    pl = pytest.importorskip("polars")
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 2)
    frame = pl.DataFrame({"y": [0, 1] * 10, "p": np.arange(20) / 32, "k": ["a", "b"] * 10}).lazy()

    for options in ({"method": "sweep"}, {"guarantee": 0.9, "subject_to": "recall >= 0.5"}):
        with pytest.raises(InvalidParameterError, match="not in memory"):
            cp.find_by(frame, label="y", score="p", by="k", maximize="f1", **options)


def test_a_source_that_cannot_be_split_is_refused():
    """Rows behind a source of one's own have no segments."""
    sketch = cp.Sketch().update([0, 1], [0.1, 0.9])

    class Own:
        passes = few = holds = 0

        def summary(self):
            return sketch._contents.summary()

        histogram = rows = summary

    with pytest.raises(InvalidInputError, match="where by is given"):
        cp.find_by(Own(), by=["a", "b"], maximize="f1")

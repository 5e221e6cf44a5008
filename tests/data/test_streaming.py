"""Rows in batches: DuckDB relations and Polars lazy frames answer as arrays do, to the last bit."""

import contextlib
import itertools

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cutpoints as cp
from asking import ask, everything
from cutpoints._data import duckdb_reader as _duckdb
from cutpoints._data import groupby_sums, progress
from cutpoints._data import streaming as batches
from cutpoints._data.streaming import Columns
from cutpoints._kernel.tables import Ranges
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError
from strategies import KINDS, conjunctions, directions, objectives, problems

ENGINES = ("duckdb", "polars")
ROLES = ("label", "weight", "positives", "negatives")


@contextlib.contextmanager
def small_batches(*, buckets=4, few=1, block=3, holds=10**6, threads=2):
    """Make a search take several passes, blocks and threads on a few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "BUCKETS", buckets)
        patch.setattr(batches, "FETCHED_ROWS", few)
        patch.setattr(batches, "BATCH_ROWS", block)
        patch.setattr(batches, "SAMPLE_ROWS", 5)
        patch.setattr(batches, "MEMORY_ROWS", holds)
        patch.setattr(batches.os, "cpu_count", lambda: 2 * threads)
        yield


def source_of(engine, columns, **options):
    """Columns by name as a source of an engine; roles are the names of columns."""
    pos_label = options.pop("pos_label", None)
    names = Columns(**({role: role for role in ("score", *ROLES) if role in columns} | options))
    if engine == "duckdb":
        table = pa.table({name: pa.array(column) for name, column in columns.items()})
        return batches.from_duckdb(duckdb.connect().from_arrow(table), names, pos_label)
    return batches.from_polars(pl.LazyFrame(columns), names, pos_label)


def columns_of(problem):
    """A problem as columns by name."""
    found = {
        "score": problem.scores,
        "label": problem.labels,
        "weight": problem.weights,
        "positives": problem.positives,
        "negatives": problem.negatives,
    }
    return {name: column for name, column in found.items() if column is not None}


TIES = 2
"""Their place in what `everything` returns."""


def answer(make, known=None):
    """All that a solution says, or the message of the error.

    Ties that were too many to be held are those that are known: none of the others may be another one.
    """
    try:
        solution = make()
    except CutpointError as error:
        return str(error)
    said = everything(solution)
    if known is not None and not getattr(solution.ties, "complete", True):
        assert all(tie in known[TIES] for tie in said[TIES])
        said[TIES] = known[TIES]
    return said


sizes = st.fixed_dictionaries(
    {
        "buckets": st.sampled_from([2, 4, 9]),
        "block": st.integers(1, 7),
        "holds": st.sampled_from([0, 2, 10**6]),
        "threads": st.sampled_from([1, 3]),
    }
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), objective=objectives(), direction=directions, small=sizes)
def test_same_as_arrays(data, objective, direction, small, kind, engine):  # noqa: PLR0917 - drawn
    """Threshold, value, interval, ties and confusion are those of arrays, with every method."""
    problem = data.draw(problems(kind))
    method = data.draw(st.sampled_from(["auto", "sweep"]))
    subject_to = [one.text for one in data.draw(conjunctions(1))]
    expected = answer(lambda: ask(problem, direction, objective.text, subject_to=subject_to))
    with small_batches(**small):
        source = source_of(engine, columns_of(problem))
        actual = answer(
            lambda: cp.find(source, **{direction: objective.text}, subject_to=subject_to, method=method),
            expected if method == "auto" else None,
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("cutpoints._search.run.FETCHED_ROWS", 0)
            again = source_of(engine, columns_of(problem))
            narrowed = answer(
                lambda: cp.find(again, **{direction: objective.text}, subject_to=subject_to), expected
            )

    assert expected == actual
    assert expected == narrowed


@pytest.mark.parametrize("engine", ENGINES)
@given(data=st.data(), small=sizes)
@settings(max_examples=25, deadline=None)
def test_summary_and_counts(data, small, engine):
    """Rows, masses, range, the sums of the histogram and the rows are those of the data."""
    problem = data.draw(problems())
    with small_batches(**small):
        source = source_of(engine, columns_of(problem))
        summary = source.summary()
        histogram = source.histogram(None)
        rows = source.rows(None)
        low, high = sorted(data.draw(st.tuples(*[st.sampled_from(problem.scores.tolist())] * 2)))
        kind = rows.scores.dtype.type
        ranges = Ranges(np.array([low], kind), np.array([high], kind))
        some = source.histogram(ranges)

    pos, neg = (sum(row[i] for row in problem.rows) for i in (1, 2))
    assert len(problem.rows) == summary.rows == histogram.rows.sum() == rows.rows
    assert (pos, neg) == summary.totals
    assert (float(problem.scores.min()), float(problem.scores.max())) == (summary.low, summary.high)
    assert summary.positives == rows.pos.sum() == histogram.pos.sum()
    assert sorted(set(problem.scores.tolist())) == rows.scores.tolist()
    within = [row for row in problem.rows if low <= row[0] <= high]
    assert len(within) == some.rows.sum()
    assert sum(row[1] for row in within) == int(some.pos.sum()) * summary.grid.step
    assert problem.scores.dtype == rows.scores.dtype


# --- real sizes: every kind of distribution in few passes


def bells(rng, n):
    """Labels and margins."""
    y = (rng.random(n) < 0.3).astype(np.int8)
    return y, rng.normal(1.1 * y, 1.0)


def _cluster(s, rng):
    s = 0.5 + 1e-12 * rng.random(len(s))
    s[: len(s) // 100] = rng.random(len(s) // 100)
    return s


def _ends(s, rng):
    s = 1 / (1 + np.exp(-s))
    s[:1000], s[1000:1500] = np.inf, -np.inf
    return s


DISTRIBUTIONS = {
    "probabilities": lambda s, rng: 1 / (1 + np.exp(-s)),
    "float32": lambda s, rng: (1 / (1 + np.exp(-s))).astype(np.float32),
    "three decimals": lambda s, rng: np.round(1 / (1 + np.exp(-s)), 3),
    "one decimal": lambda s, rng: np.round(1 / (1 + np.exp(-s)), 1),
    "margins": lambda s, rng: s,
    "sorted margins": lambda s, rng: np.sort(s),
    "log-normal": lambda s, rng: np.exp(20 * s),
    "odds": lambda s, rng: np.exp(s),
    "600 orders of magnitude": lambda s, rng: 10.0 ** np.clip(75 * s, -300, 300),
    "both signs, 600 orders": lambda s, rng: np.sinh(np.clip(150 * s, -700, 700)),
    "one cluster": _cluster,
    "infinities": _ends,
    "all equal": lambda s, rng: np.full(len(s), 0.25),
    "one outlier": lambda s, rng: np.append(s[1:], 1e300),
    "subnormal": lambda s, rng: np.abs(s) * 1e-310,
    "integers": lambda s, rng: np.round(100 * s),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("holds", [1 << 22, 3000], ids=["fits", "much"])
def test_few_passes(name, holds, monkeypatch):
    """At most four passes on every distribution, also where little may be kept, and the same answer."""
    rng = np.random.default_rng(len(name))
    y, s = bells(rng, 150_000)
    with np.errstate(under="ignore"):
        s = DISTRIBUTIONS[name](s, rng)
    monkeypatch.setattr(batches, "MEMORY_ROWS", holds)
    monkeypatch.setattr(batches, "FETCHED_ROWS", 2000)
    for goal in ({"maximize": "f1"}, {"maximize": "recall", "subject_to": "precision >= 0.6"}):
        found = cp.find(source_of("polars", {"score": s, "label": y}), **goal)

        assert everything(cp.find(y, s, **goal)) == everything(found)
        assert found.certificate.passes <= 4


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("weighted", [False, True])
def test_ordinary_data_take_two_passes(engine, weighted):
    """Probabilities take two passes, with float weights too: the query for their range is none."""
    rng = np.random.default_rng(1)
    y, s = bells(rng, 200_000)
    columns = {"score": 1 / (1 + np.exp(-s)), "label": y}
    if weighted:
        columns["weight"] = rng.exponential(size=len(y))
    found = cp.find(source_of(engine, columns), maximize="f1")
    expected = cp.find(y, columns["score"], sample_weight=columns.get("weight"), maximize="f1")

    assert everything(expected) == everything(found)
    assert 2 == found.certificate.passes


def test_weights_of_very_different_sizes():
    """All weights have one grid, also where a later batch has weights much smaller than all before."""
    rng = np.random.default_rng(2)
    y, s = bells(rng, 60_000)
    weights = np.where(np.arange(len(s)) < 50_000, 1e9, 1e-12) * rng.random(len(s))
    with small_batches(buckets=1 << 10, block=1 << 12):
        found = cp.find(
            source_of("duckdb", {"score": s, "label": y, "weight": weights}), minimize="error_rate"
        )

    assert everything(cp.find(y, s, sample_weight=weights, minimize="error_rate")) == everything(found)


def test_heavy_counts_do_not_overflow():
    """Counts near 2**53 in one bucket add up without overflow."""
    s = np.repeat([0.25, 0.75], 3000)
    masses = np.full(6000, 2.0**52)
    source = source_of("duckdb", {"score": s, "positives": masses, "negatives": masses[::-1]})

    assert (6000 * 2**52, 6000 * 2**52) == source.summary().totals
    assert [3000 * 2**52] * 2 == [source.summary().grid.number(x) for x in source.rows(None).pos.tolist()]


# --- labels


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("labels", "pos_label"),
    [
        ([1, 0, 1, 0], None),
        ([1.0, 0.0, 1.0, 0.0], None),
        ([True, False, True, False], None),
        ([1, -1, 1, -1], None),
        ([7, 3, 7, 3], 7),
        ([7, 3, 7, 3], 3),
        (["a", "b", "a", "b"], "a"),
        (["it's", 'b"', "it's", 'b"'], "it's"),
        (["a", "a", "a", "a"], "a"),
        ([7, 3, 7, 3], None),
        ([1, 2, 1, 2], None),
        ([0, 1, 2, 1], None),
        ([0, 1, -1, 1], None),
        ([7, 3, 5, 3], 7),
        ([7, 3, 7, 3], "7"),
        (["a", "b", "a", "b"], None),
        (["a", "b", "c", "b"], None),
        (["a", "b", "c", "b"], "a"),
        (["a", "b", "a", "b"], "z"),
        ([1, None, 0, None], None),
        ([1.0, float("nan"), 0.0, 1.0], None),
        (["a", None, "b", "a"], "a"),
        (["a", "b", None, "b"], None),
        ([0.5, 0.25, 0.75, 1.0], None),
    ],
)
def test_labels_as_on_arrays(engine, labels, pos_label):
    """Any two labels are read, and any others refused, as on arrays and in the same words."""
    scores = [0.1, 0.4, 0.35, 0.8]
    kind = object if None in labels or isinstance(labels[0], str) else None

    def on_arrays():
        return cp.find(np.array(labels, dtype=kind), scores, pos_label=pos_label, maximize="f1")

    def on_engine():
        columns = {"score": scores, "label": labels}
        return cp.find(source_of(engine, columns, pos_label=pos_label), maximize="f1")

    expected = str(answer(on_arrays)).replace("'y_true'", "'label'").replace("`y_true", "`label")
    assert expected == str(answer(on_engine))


# --- bad data


BAD = [
    ({"score": [0.1, float("nan"), 0.3, None], "label": [0, 1, 1, 0]}, "y_score"),
    ({"score": [0.1, 0.2, 0.3], "label": [0, 1, 1], "weight": [1.0, -2.0, -3.0]}, "sample_weight"),
    ({"score": [0.1, 0.2, 0.3], "label": [0, 1, 1], "weight": [1.0, float("nan"), 3.0]}, "sample_weight"),
    ({"score": [0.1, 0.2, 0.3], "label": [0, 1, 1], "weight": [1.0, float("inf"), 3.0]}, "sample_weight"),
    ({"score": [0.1, 0.2, 0.3], "label": [0, 1, 1], "weight": [1.0, 1e308, 1.5e308]}, "sample_weight"),
    ({"score": [0.1, 0.2], "positives": [1.0, -1.0], "negatives": [1.0, 0.0]}, "positives"),
    ({"score": [2**60, 1], "label": [0, 1]}, "y_score"),
    ({"score": ["0.5", "0.25"], "label": [0, 1]}, "y_score"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("columns", "name"), BAD, ids=range(len(BAD)))
def test_bad_data_as_on_arrays(engine, columns, name):
    """Each fault is told as on arrays, with the same counts and rows, and the column's name."""

    def on_arrays():
        arrays = {k: np.array(v, dtype=float if None in v else None) for k, v in columns.items()}
        if "label" in arrays:
            return cp.find(
                arrays["label"], arrays["score"], sample_weight=arrays.get("weight"), maximize="f1"
            )
        data = cp.from_counts(arrays["score"], positives=arrays["positives"], negatives=arrays["negatives"])
        return cp.find(data, maximize="f1")

    expected = answer(on_arrays)
    role = {"y_score": "score", "sample_weight": "weight"}.get(name, name)
    with small_batches(block=1, threads=1):
        actual = answer(lambda: cp.find(source_of(engine, columns), maximize="f1"))

    assert isinstance(expected, str)
    expected = expected.replace(f"'{name}'", f"'{role}'").replace(f"{name} must", f"{role} must")
    assert expected.replace("np.str_('0.5')", "'0.5'") == actual


@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows(engine):
    """A table without rows is an error that says so."""
    columns = {"score": np.zeros(0), "label": np.zeros(0, np.int8)}
    with pytest.raises(InvalidInputError, match="'score' must have at least one row"):
        source_of(engine, columns).summary()


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_column(engine):
    """A column that is not there is an error with those that are."""
    with pytest.raises(InvalidInputError, match=r"(?s)Column not found: 'p'.* 'score' and 'label'"):
        source_of(engine, {"score": [0.5], "label": [1]}, score="p")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["select", 'a"b', "a.b", "sélection", "a b", "a0", "'", "count(*)"])
def test_any_name(engine, name):
    """A column may have any name."""
    source = source_of(engine, {name: [0.25, 0.5], "label": [0, 1]}, score=name)

    assert 0.5 == cp.find(source, maximize="f1").threshold


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_of_other_types(engine):
    """Whole numbers, booleans and decimals are scores; dates are not."""
    from datetime import date
    from decimal import Decimal

    for scores, threshold in (
        ([3, 5], 5.0),
        ([False, True], 1.0),
        ([Decimal("0.25"), Decimal("0.50")], 0.5),
    ):
        with small_batches():
            found = cp.find(source_of(engine, {"score": scores, "label": [0, 1]}), maximize="f1")
        assert threshold == found.threshold
    with pytest.raises(InvalidInputError, match="'score' must hold numbers"):
        source_of(engine, {"score": [date(2026, 1, 1)] * 2, "label": [0, 1]})


# --- progress, and an end in the middle


@pytest.mark.parametrize("engine", ENGINES)
def test_progress(engine):
    """Whoever watches is told passes, rows and survivors; rows never fall within a pass."""
    rng = np.random.default_rng(4)
    y, s = bells(rng, 300_000)
    seen = []
    with progress.watching(seen.append):
        found = cp.find(source_of(engine, {"score": s, "label": y}), maximize="f1")

    assert list(range(1, found.certificate.passes + 1)) == sorted({step.passes for step in seen})
    assert 300_000 == max(step.rows for step in seen if step.passes == 1)
    assert None is progress.observer()
    for before, after in itertools.pairwise(seen):
        assert (before.passes, before.rows) < (after.passes, after.rows)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_observer_may_stop_it(threads):
    """What an observer raises ends the search, and the query is closed."""

    def stop(_):
        raise KeyboardInterrupt

    with small_batches(threads=threads), progress.watching(stop), pytest.raises(KeyboardInterrupt):
        source_of("duckdb", {"score": [0.5], "label": [1]}).summary()


def test_interrupt_of_duckdb():
    """DuckDB's word for Ctrl-C becomes Python's, and other errors stay what they are."""
    with pytest.raises(KeyboardInterrupt), _duckdb.interruptible():
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="disk"), _duckdb.interruptible():
        raise RuntimeError("disk is full")


def test_pos_label_of_another_type():
    """Text is no label of a column of numbers."""
    with pytest.raises(InvalidParameterError, match=r"^pos_label must be"):
        source_of("duckdb", {"score": [0.5], "label": [1]}, pos_label="yes").summary()


def test_more_scores_than_memory_has_room_for_are_refused(monkeypatch):
    """Where no count narrows the search, the rows are not fetched without bound."""
    monkeypatch.setattr(batches, "SWEEP_SCORES", 100)
    relation = duckdb.sql("select i / 1e6 as p, i % 2 as y from range(2000) t(i)")
    source = batches.from_duckdb(relation, Columns(score="p", label="y"))
    everything = Ranges(np.array([-1.0]), np.array([1.0]))

    with pytest.raises(InvalidInputError, match="100 of them at most"):
        source.rows(everything)
    assert 2000 == len(source.rows(None).scores)


# --- data that change


@pytest.mark.parametrize("weights", ["i % 7 + 0.3", "0.3"], ids=["float weights", "one weight"])
@pytest.mark.parametrize("method", ["sweep", "narrow"])
@pytest.mark.parametrize(
    "change",
    [
        "update t set y = 1 - y where p < 0.9",
        "update t set y = 2 where p > 0.4",
        "update t set w = 2 * w where p > 0.4",
        "update t set w = null where p > 0.4",
        "update t set w = w / 2",
        "update t set p = 1 - p",
        "delete from t where p > 0.5",
    ],
)
def test_tables_that_change_between_passes(change, method, weights):
    """Other rows, scores, labels or weights than the first pass saw are an error, and not a wrong answer."""
    connection = duckdb.connect()
    connection.execute(
        "create table t as select i / 1e4 as p, (i * 7919 % 10007 < i)::int as y, "  # noqa: S608
        f"({weights})::double as w from range(10000) t(i)"
    )
    with small_batches(buckets=64, few=10, block=1000, holds=100):
        source = batches.from_duckdb(connection.table("t"), Columns(score="p", label="y", weight="w"))
        source.summary()
        connection.execute(change)

        with pytest.raises(InvalidInputError, match="must be the same each time"):
            cp.find(source, maximize="mcc", method=method)


@pytest.mark.parametrize("change", ["update t set w = 2 * w where p > 0.4", "delete from t where p > 0.5"])
def test_weights_that_change_before_the_first_pass(change, monkeypatch):
    """The grid of the weights is that of another query, with which the first pass is compared."""
    connection = duckdb.connect()
    connection.execute("create table t as select i / 1e4 as p, i % 2 as y, 0.3 as w from range(10000) t(i)")
    source = batches.from_duckdb(connection.table("t"), Columns(score="p", label="y", weight="w"))
    measure = groupby_sums.ends_of

    def change_after(*asked):
        found = measure(*asked)
        connection.execute(change)
        return found

    monkeypatch.setattr(groupby_sums, "ends_of", change_after)
    with pytest.raises(InvalidInputError, match="must be the same each time"):
        source.summary()

"""Costs that differ from row to row: every engine adds up the same integers as arrays do."""

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

import cutpoints as cp
from cutpoints._data import groupby, groupby_segments, lazy_segments, streaming
from cutpoints._data.groupby import FrameSource
from cutpoints._data.streaming import Columns
from cutpoints._find import solve
from cutpoints._goal import constraints, goal
from cutpoints._search.run import search
from cutpoints.exceptions import CutpointError, InvalidInputError

RNG = np.random.default_rng(24)
ROWS = 400
TABLE = {
    "y": (RNG.random(ROWS) < 0.3).astype(np.int64),
    "p": np.round(RNG.random(ROWS), 2),
    "integers": RNG.integers(-40, 60, ROWS),
    "cents": np.round(RNG.lognormal(3, 1, ROWS), 2),
    "floats": RNG.normal(size=ROWS) * 10.0 ** RNG.uniform(-3, 3, ROWS),
    "float32": RNG.random(ROWS).astype(np.float32),
    "w": RNG.random(ROWS),
}
GOALS = {
    "cents": {"minimize": "cost(fp=5, fn=cents)"},
    "floats": {"maximize": "profit(tp=3*floats, fp=-1, fn=-0.1*float32, tn=integers)"},
    "constrained": {
        "minimize": "cost(fp=0.02*cents + 1, fn=cents)",
        "subject_to": ["predicted_positive <= 90", "called(integers) >= -5", "recall >= 0.1"],
    },
    "infeasible": {"minimize": "cost(fp=5, fn=cents)", "subject_to": "called(cents) <= -1"},
}


def found_by(engine, table, weight=None, method="auto", **asked):
    """The solution, through GROUP BY where the engine is asked to."""
    if not engine.grouped:
        frame = engine.frame(pa.table(table))
        return cp.find(frame, label="y", score="p", weight=weight, method=method, **asked)
    wanted = goal(**asked, columns=True)
    frame = nw.from_native(engine.frame(pa.table(table)))
    source = FrameSource(frame, Columns(label="y", score="p", weight=weight, added=wanted.columns))
    return solve(wanted, lambda one: search(source, one, method))


def told(solution):
    """All that must be the same."""
    found = solution.to_dict()
    found["certificate"] = found["certificate"]["resolution"]
    return found, solution._context and solution._context.summary


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("goal", GOALS)
def test_same_costs_on_every_engine(engine, goal, weight):
    """The whole solution is that of a frame in memory, sums of columns included."""
    expected = cp.find(pa.table(TABLE), label="y", score="p", weight=weight, **GOALS[goal])

    assert told(expected) == told(found_by(engine, TABLE, weight, **GOALS[goal]))


def test_several_passes_over_columns(engine, monkeypatch):
    """With few buckets and nothing to spare, later counts lose no amount."""
    for module, buckets in ((groupby, "QUERY_GROUPS"), (streaming, "BUCKETS")):
        monkeypatch.setattr(module, "MEMORY_ROWS", 4)
        monkeypatch.setattr(module, buckets, 8)
    monkeypatch.setattr(streaming, "FETCHED_ROWS", 4)
    table = {**TABLE, "p": RNG.random(ROWS)}
    asked = {"minimize": "cost(fp=5, fn=cents)"}
    expected = cp.find(pa.table(table), label="y", score="p", method="sweep", **asked)

    found = found_by(engine, table, method="narrow", **asked)

    assert told(expected) == told(found)
    assert found.certificate.passes > 2 or not engine.lazy


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, None, 3.0], "1 of 3 values is missing"),
        ([1.0, np.inf, 3.0], "finite"),
        (["a", "b", "c"], "numbers"),
        ([1e99, 1.0, 1.0], "between 1e-80 and 1e\\+80"),
    ],
    ids=["missing", "infinite", "text", "huge"],
)
def test_bad_columns_are_named(engine, values, words):
    """Missing, infinite, non-numeric and absurd values are errors that name the column."""
    table = {"y": [0, 1, 1], "p": [0.1, 0.2, 0.3], "amount": values}

    with pytest.raises(CutpointError, match=words) as error:
        found_by(engine, table, minimize="cost(fp=5, fn=amount)")
    assert "amount" in str(error.value)


def test_an_unknown_column_says_which_there_are(engine):
    """A slip in the name of a column is told with the columns that exist."""
    if engine.grouped:
        pytest.skip("the table is checked before it is grouped")
    with pytest.raises(InvalidInputError, match="Column not found: 'amuont'") as error:
        found_by(engine, TABLE | {"amount": TABLE["cents"]}, minimize="cost(fp=5, fn=amuont)")
    assert "did you mean 'amount'" in str(error.value)


def by_groups(engine, table, find, **asked):
    """Call `find_by`, or `find` with groups, on rows that are not collected."""
    frame = engine.frame(pa.table(table))
    if engine.grouped:
        columns = goal(**{k: v for k, v in asked.items() if k not in ("by", "each", "weight")}, columns=True)
        added = dict.fromkeys(columns.columns)
        for one in constraints(asked.get("each")):
            added |= dict.fromkeys(one.expression.columns)
        roles = Columns(label="y", score="p", weight=asked.pop("weight", None), added=tuple(added))
        return find(FrameSource(nw.from_native(frame), roles), **asked)
    return find(frame, label="y", score="p", **asked)


SEGMENTED = {
    **TABLE,
    "day": np.arange(ROWS) % 3,
    # One segment has no negative values, one has cents only, one has floats.
    "mixed": np.select(
        [np.arange(ROWS) % 3 == 0, np.arange(ROWS) % 3 == 1],
        [np.abs(TABLE["floats"]), TABLE["cents"]],
        TABLE["floats"],
    ),
}


@pytest.mark.parametrize(
    ("asked", "weight"),
    [
        ({"minimize": "cost(fp=5, fn=cents)"}, None),
        ({"minimize": "cost(fp=2, fn=mixed)", "subject_to": "called(integers) <= 500"}, "w"),
    ],
    ids=["cents", "mixed"],
)
@pytest.mark.parametrize("holds", [1 << 20, 40])
def test_same_costs_of_segments_on_every_engine(engine, asked, weight, holds, monkeypatch):
    """Each segment has the value, the confusion and the grid that its rows alone have in memory."""
    expected = cp.find_by(pa.table(SEGMENTED), label="y", score="p", weight=weight, by="day", **asked)
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 10)
    monkeypatch.setattr(groupby_segments, "MEMORY_ROWS", holds)
    found = by_groups(engine, SEGMENTED, cp.find_by, weight=weight, by="day", **asked)

    assert list(expected) == list(found)
    for one, other in zip(expected.values(), found.values(), strict=True):
        assert told(one)[0] == told(other)[0]


@pytest.mark.parametrize("each", ["predicted_positive <= 20", "called(cents) <= 300"])
def test_same_capacity_in_every_group_on_every_engine(engine, each, monkeypatch):
    """One threshold, with a bound on every day: the same answer, and the same tightest day."""
    asked = {"minimize": "cost(fp=5, fn=mixed)", "by": "day", "each": each}
    expected = cp.find(pa.table(SEGMENTED), label="y", score="p", **asked)
    monkeypatch.setattr(lazy_segments, "MEMORY_ROWS", 10)
    found = by_groups(engine, SEGMENTED, cp.find, **asked)

    assert told(expected)[0] == told(found)[0]
    assert expected.each == found.each

"""Several goals on the same rows: the answers of one search each, from passes that all share."""

import numpy as np
import pytest

from cutpoints._data.arrays import ArraySource
from cutpoints._data.streaming import Columns
from cutpoints._goal import goal
from cutpoints._search.run import search
from cutpoints._search.together import OnePart, search_together
from cutpoints.exceptions import InvalidInputError

GOALS = {
    "f1": goal(maximize="f1"),
    "mcc": goal(maximize="mcc"),
    "constrained": goal(maximize="recall", subject_to="precision >= 0.7"),
    "cost": goal(minimize="cost(fp=5, fn=1)"),
    "infeasible": goal(maximize="recall", subject_to=["precision >= 0.99", "recall >= 0.99"]),
    "own": goal(maximize=lambda tp, fp, fn, tn: tp - 2 * fp),
}


def make(rows, seed=0):
    """Rows whose labels follow their scores; many are tied."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(rows), 4)
    return (rng.random(rows) < scores).astype(np.int8), scores


def facts(found):
    """What must be equal, but for how the search went about it."""
    if isinstance(found, InvalidInputError) or found.choice is None:
        return type(found).__name__
    best, ties = found.choice.best, found.choice.ties
    cuts = found.cuts
    return found.choice.value, *(
        column[[best, *ties]].tolist() for column in (cuts.thresholds, cuts.tp, cuts.fp)
    )


@pytest.mark.parametrize("few", [1 << 20, 2_000, 50])
@pytest.mark.parametrize("rows", [500, 200_000])
def test_goals_share_their_passes(rows, few):
    """Each goal gets the answer that it gets alone, and all of them take little more than the longest."""
    y, p = make(rows)
    source = ArraySource.labelled(y, p)
    source.direct_rows = few

    found = search_together(OnePart(source), {name: (0, one) for name, one in GOALS.items()})

    alone = 0
    for name, one in GOALS.items():
        other = ArraySource.labelled(y, p)
        assert facts(search(other, one)) == facts(found[name]), name
        alone += other.passes
    assert source.passes < alone or rows == 500


@pytest.mark.parametrize("few", [10, 300])
def test_goals_share_the_queries_of_an_engine(few, monkeypatch):
    """Counts of ranges that overlap serve each search with its own part of them."""
    duckdb, nw = pytest.importorskip("duckdb"), pytest.importorskip("narwhals")
    from cutpoints._data import groupby

    y, p = make(5_000, seed=1)
    connection = duckdb.connect()
    connection.register("given", {"y": y, "p": p})
    connection.execute("create table t as select * from given")
    for name, size in (("MEMORY_ROWS", few), ("QUERY_GROUPS", 80)):
        monkeypatch.setattr(groupby, name, size)
    source = groupby.FrameSource(nw.from_native(connection.table("t")), Columns(score="p", label="y"))

    found = search_together(OnePart(source), {name: (0, one) for name, one in GOALS.items()})

    for name, one in GOALS.items():
        assert facts(search(ArraySource.labelled(y, p), one)) == facts(found[name]), name
    assert source.passes <= 10


def test_a_goal_that_is_undefined_stops_no_other():
    """Without positives recall is an error in its place."""
    searches = {"recall": (0, goal(maximize="recall")), "accuracy": (0, goal(maximize="accuracy"))}

    found = search_together(OnePart(ArraySource.labelled([0, 0, 0], [0.1, 0.2, 0.3])), searches)

    assert isinstance(found["recall"], InvalidInputError)
    assert 1.0 == found["accuracy"].choice.value

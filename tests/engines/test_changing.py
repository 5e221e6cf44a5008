"""Data that are others each time they are read: never certified, on any engine."""

import numpy as np
import pyarrow as pa
import pytest

import cutpoints as cp
from cutpoints.exceptions import InvalidInputError

ROWS = 20_000
SCORES = pa.table({"p": np.random.default_rng(3).random(ROWS)})


def _polars(frame):
    import polars as pl

    def drawn(part):
        labels = np.random.default_rng().random(len(part)) < part["p"].to_numpy()
        return part.with_columns(y=pl.Series(labels))

    return frame.map_batches(drawn, schema={"p": pl.Float64, "y": pl.Boolean})


def _dask(frame):
    def drawn(part):
        return part.assign(y=(np.random.default_rng().random(len(part)) < part["p"]).astype("int64"))

    return frame.map_partitions(drawn, meta={"p": "float64", "y": "int64"})


def _ibis(frame):
    import ibis

    return frame.mutate(y=(ibis.random() < frame["p"]).cast("int32"))


def _spark(frame):
    from pyspark.sql import functions as f

    # Not rand(), whose seed is fixed when the query is written.
    return frame.withColumn(
        "y", f.expr("cast(cast(java_method('java.lang.Math', 'random') as double) < p as int)")
    )


DRAWN = {
    "duckdb": lambda frame: frame.project("p, (random() < p)::int as y"),
    "polars-lazy": _polars,
    "dask": _dask,
    "ibis-duckdb": _ibis,
    "ibis-postgres": _ibis,
    "spark": _spark,
}


@pytest.mark.filterwarnings("ignore:fetch_arrow_table")
@pytest.mark.parametrize(
    "name",
    [
        "duckdb",
        "polars-lazy",
        "dask",
        "ibis-duckdb",
        pytest.param("ibis-postgres", marks=pytest.mark.xdist_group("postgres")),
        pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.xdist_group("spark")]),
    ],
)
@pytest.mark.parametrize("goal", ["f1", "mcc"])
def test_labels_that_are_drawn_anew_are_noticed(engine_called, name, goal):
    """Each pass compares rows and sums with those that the first pass saw in the same ranges."""
    frame = DRAWN[name](engine_called(name).frame(SCORES))
    for _ in range(4):
        with pytest.raises(InvalidInputError, match=r"(?s)must be the same each time.*Hint: write or cache"):
            cp.find(frame, label="y", score="p", maximize=goal)

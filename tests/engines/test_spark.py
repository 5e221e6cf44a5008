"""Spark for real: partitions of all kinds, code that is compiled, workers that die."""

import numpy as np
import pytest

import cutpoints as cp

pytestmark = pytest.mark.xdist_group("spark")
ROWS = 60_000


def _data(rows=ROWS):
    rng = np.random.default_rng(9)
    scores = rng.random(rows)
    return scores, (rng.random(rows) < scores).astype(np.int64)


def _frame(session, scores, labels, sizes, folder):
    """One partition per size; a size of 0 is an empty one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"p": scores, "y": labels})
    parts = []
    for i, start in enumerate(np.cumsum([0, *sizes[:-1]])):
        path = str(folder / f"{i}.parquet")
        pq.write_table(table[int(start) : int(start) + max(1, sizes[i])], path)
        part = session.read.parquet(path)
        parts.append(part if sizes[i] else part.filter("p < -5"))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole


def _same(frame, scores, labels, **goal):
    expected = cp.find(labels, scores, **goal)
    actual = cp.find(frame, label="y", score="p", **goal)
    assert (expected.threshold, expected.value, expected.confusion) == (
        actual.threshold,
        actual.value,
        actual.confusion,
    )
    return actual


@pytest.mark.parametrize(
    "sizes", [[15_000] * 4, [59_000, 500, 400, 100], [30_000, 0, 30_000]], ids=["even", "skewed", "one empty"]
)
def test_partitions_do_not_matter(spark, sizes, tmp_path):
    """Even, skewed and empty partitions give the one answer, in two passes."""
    scores, labels = _data()
    frame = _frame(spark, scores, labels, sizes, tmp_path)

    assert len(sizes) == frame.rdd.getNumPartitions()
    assert 2 == _same(frame, scores, labels, maximize="f1").certificate.passes


def test_compiled_and_interpreted_queries_agree(spark, tmp_path):
    """The plan that Spark compiles to Java gives what the plan that it interprets gives."""
    scores, labels = _data(2000)
    scores = np.concatenate([scores[:1000], np.exp(30 * (scores[1000:] - 0.5))])
    frame = _frame(spark, scores, labels, [1000, 1000], tmp_path)
    settings = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "CODEGEN_ONLY"}
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        _same(frame, scores, labels, maximize="mcc", method="narrow")
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)

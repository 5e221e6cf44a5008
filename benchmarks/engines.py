"""What `benchmarks.scale` runs on one Parquet file: floors, ways to find the best F1, and rivals.

Each entry of `FLOORS` adds up the two columns and does nothing else; each of `METHODS` says by which
floor it is measured. A function takes the path of the file and returns what is to be timed, which
returns (threshold, value) and whatever else is worth a column. To add an engine, add a function and
a line to each of the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = tuple[float, float, dict[str, Any]]


class Method(NamedTuple):
    """A way to the best F1: its floor, how to start it, and whether it is one of ours."""

    floor: str
    start: Callable[[str], Callable[[], Answer]]
    rival: bool = False
    most_rows: float = float("inf")
    """Beyond so many rows it takes too long, or too much memory, to be worth the wait."""


# --- floors


def duckdb_floor(path: str) -> Callable[[], Any]:
    """Add up both columns in DuckDB."""
    import duckdb

    connection = duckdb.connect()
    return lambda: connection.sql(f"select sum(score), sum(label) from '{path}'").fetchall()  # noqa: S608


def polars_floor(path: str) -> Callable[[], Any]:
    """Add up both columns in Polars' streaming engine."""
    import polars as pl

    both = pl.col("score").sum(), pl.col("label").sum()
    return lambda: pl.scan_parquet(path).select(*both).collect(engine="streaming")


FLOORS: dict[str, Callable[[str], Callable[[], Any]]] = {"DuckDB": duckdb_floor, "Polars": polars_floor}


# --- ours


def _answer(solution: Any) -> Answer:
    proof = solution.certificate
    return solution.threshold, solution.value, {"passes": proof.passes, "left": proof.rows_examined}


def files(path: str) -> Callable[[], Answer]:
    """find() on the file."""
    import cutpoints as cp

    return lambda: _answer(cp.find(path, label="label", score="score", maximize="f1"))


def duckdb_relation(path: str) -> Callable[[], Answer]:
    """find() on a DuckDB relation."""
    import duckdb

    import cutpoints as cp

    relation = duckdb.connect().read_parquet(path)
    return lambda: _answer(cp.find(relation, label="label", score="score", maximize="f1"))


def polars_lazy(path: str) -> Callable[[], Answer]:
    """find() on a Polars lazy frame."""
    import polars as pl

    import cutpoints as cp

    return lambda: _answer(cp.find(pl.scan_parquet(path), label="label", score="score", maximize="f1"))


# --- rivals


def duckdb_window(path: str) -> Callable[[], Answer]:
    """Give the exact answer in one query: a window over the scores from the top, equal ones together."""
    import duckdb

    connection = duckdb.connect()
    query = f"""
        with counted as (
            select score,
                sum(label) over (order by score desc range unbounded preceding) as tp,
                count(*) over (order by score desc range unbounded preceding) as called
            from '{path}'
        )
        select max_by(score, f1), max(f1)
        from (select score, 2.0 * tp / (called + (select sum(label) from '{path}')) as f1 from counted)
    """  # noqa: S608
    return lambda: (*connection.sql(query).fetchall()[0], {})


def duckdb_group_by(path: str) -> Callable[[], Answer]:
    """Two passes of GROUP BY in the engine, for scores in [0, 1]: buckets, then what could hold the best."""
    import duckdb
    import numpy as np

    connection = duckdb.connect()

    def run() -> Answer:
        first = f"""
            select cast(floor(score * 65536) as int) as b, sum(label)::double as pos, count(*)::double as n
            from '{path}' group by b order by b desc
        """  # noqa: S608
        buckets = connection.sql(first).fetchnumpy()
        pos, called = np.cumsum(buckets["pos"]), np.cumsum(buckets["n"])
        total = pos[-1]
        floor = float((2 * pos / (called + total)).max())
        before_tp, before = pos - buckets["pos"], called - buckets["n"]
        most = 2 * pos / (before + buckets["pos"] + total)  # all positives of a bucket above its negatives
        keep = np.flatnonzero(most >= floor)
        some = ", ".join(map(str, buckets["b"][keep]))
        second = f"""
            select score, sum(label)::double as pos, count(*)::double as n from '{path}'
            where cast(floor(score * 65536) as int) in ({some}) group by score order by score desc
        """  # noqa: S608
        rows = connection.sql(second).fetchnumpy()
        which = np.searchsorted(-buckets["b"][keep], -np.floor(rows["score"] * 65536).astype(np.int64))
        starts = np.flatnonzero(np.append(True, which[1:] != which[:-1]))
        tp, n = np.cumsum(rows["pos"]), np.cumsum(rows["n"])
        tp += (before_tp[keep] - (tp - rows["pos"])[starts])[which]
        n += (before[keep] - (n - rows["n"])[starts])[which]
        f1 = 2 * tp / (n + total)
        best = int(np.argmax(f1))
        return float(rows["score"][best]), float(f1[best]), {}

    return run


def pandas_sklearn(path: str) -> Callable[[], Answer]:
    """Read with pandas, compute scikit-learn's curve, take its best point."""
    import numpy as np
    import pandas as pd
    from sklearn.metrics import precision_recall_curve

    def run() -> Answer:
        frame = pd.read_parquet(path, columns=["score", "label"])
        precision, recall, thresholds = precision_recall_curve(frame["label"], frame["score"])
        with np.errstate(invalid="ignore"):
            f1 = np.nan_to_num(2 * precision * recall / (precision + recall))[:-1]
        best = int(np.argmax(f1))
        return float(thresholds[best]), float(f1[best]), {}

    return run


METHODS: dict[str, Method] = {
    "files": Method("DuckDB", files),
    "DuckDB relation": Method("DuckDB", duckdb_relation),
    "Polars lazy frame": Method("Polars", polars_lazy),
    "DuckDB GROUP BY, two passes": Method("DuckDB", duckdb_group_by, rival=True),
    "DuckDB window": Method("DuckDB", duckdb_window, rival=True, most_rows=1e8),
    "pandas + scikit-learn": Method("DuckDB", pandas_sklearn, rival=True, most_rows=1e8),
}

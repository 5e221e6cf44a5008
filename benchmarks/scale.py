"""find(maximize="f1") beyond memory: against the floor of each engine, its rivals, and itself at other sizes.

    python -m benchmarks.scale                            # 5*10**7 rows, growth from 10**6, a few minutes
    python -m benchmarks.scale --rows 2e6 --growth 6      # a quick look
    python -m benchmarks.scale --only growth --growth 9   # 10**6 ... 10**9 rows, added to the result file
    python -m benchmarks.scale --render                   # only write the page again from the result file

The floor is ``SELECT sum(score), sum(label)`` on the same Parquet file in the same engine. Every method
runs in a process of its own, in turns with its floor; times are the best of a few turns, memory is the
largest resident size of that process. Data are generated into a temporary folder, or into `--folder`,
where they are found again.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.engines import FLOORS, METHODS

if TYPE_CHECKING:
    from numpy.typing import NDArray

HERE = Path(__file__).parent
RESULT = HERE / "results" / "scale.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "scale.md"
CHUNK = 1 << 20
PARTS = ("speed", "skew", "growth")


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=5e7, help="rows of the comparison")
    parser.add_argument("--skew-rows", type=float, default=5e6, help="rows of each odd distribution")
    parser.add_argument("--growth", type=int, default=8, help="powers of ten from 6 up to this one")
    parser.add_argument("--only", choices=PARTS, action="append", help="run these parts, keep the others")
    parser.add_argument("--folder", help="where data are generated, and kept")
    parser.add_argument("--render", action="store_true", help="only render the page")
    parser.add_argument("--child", nargs=3, metavar=("METHOD", "PATH", "TURNS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(*options.child)))
        return
    if not options.render:
        with tempfile.TemporaryDirectory(prefix="cutpoints-scale-") as scratch:
            run(options, Path(options.folder or scratch))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def run(options: argparse.Namespace, folder: Path) -> None:
    """Run the parts that are asked for; each is written to the result file as soon as it is done."""
    folder.mkdir(parents=True, exist_ok=True)
    result = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for part in options.only or PARTS:
        print(part, file=sys.stderr)
        if part == "speed":
            found = speed(folder, int(options.rows))
        elif part == "skew":
            found = skew(folder, int(options.skew_rows))
        else:
            found = growth(folder, options.growth, keep=options.folder is not None)
        result[part] = {"machine": machine(), "rows": found}
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")


def machine() -> dict[str, Any]:
    """Say what it ran on and when, without saying where."""
    names = ("numpy", "duckdb", "polars", "pyarrow")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30),
        "kind": platform.machine(),
        "python": platform.python_version(),
        **{name: importlib.import_module(name).__version__ for name in names},
    }


# --- data


def probabilities(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    """Calibrated-looking probabilities: a sigmoid of a normal variable."""
    return 1 / (1 + np.exp(-rng.normal(scale=1.2, size=rows)))


def _cluster(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    return np.where(rng.random(rows) < 0.99, 0.5 + 1e-12 * rng.random(rows), rng.random(rows))


def _with_infinities(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    score, which = probabilities(rng, rows), rng.random(rows)
    return np.where(which < 0.01, -np.inf, np.where(which > 0.99, np.inf, score))


def _outlier(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    score = probabilities(rng, rows)
    score[0] = 1e300
    return score


KINDS: dict[str, Any] = {
    "probabilities": probabilities,
    "float32": lambda rng, rows: probabilities(rng, rows).astype(np.float32),
    "3 decimals": lambda rng, rows: np.round(probabilities(rng, rows), 3),
    "1 decimal": lambda rng, rows: np.round(probabilities(rng, rows), 1),
    "logits": lambda rng, rows: rng.normal(scale=3, size=rows),
    "odds": lambda rng, rows: np.exp(rng.normal(scale=3, size=rows)),
    "log-normal": lambda rng, rows: np.exp(rng.normal(scale=20, size=rows)),
    "600 orders of magnitude": lambda rng, rows: 10.0 ** rng.uniform(-300, 300, rows),
    "both signs, 600 orders": lambda rng, rows: (
        rng.choice([-1.0, 1.0], rows) * 10.0 ** rng.uniform(-300, 300, rows)
    ),
    "a cluster 1e-12 wide": _cluster,
    "1 % of -inf and of +inf": _with_infinities,
    "one outlier of 1e300": _outlier,
    "all equal": lambda rng, rows: np.full(rows, 0.5),
}


def generate(folder: Path, kind: str, rows: int) -> str:
    """Write a Parquet file in chunks, unless it is there; labels follow the score, with much overlap."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / f"{kind.replace(' ', '-').replace('%', 'percent')}-{rows}.parquet"
    if path.exists():
        return str(path)
    rng = np.random.default_rng(0)
    sample = KINDS[kind](np.random.default_rng(1), 10_000)
    low, middle, high = np.quantile(sample[np.isfinite(sample)], [0.1, 0.5, 0.9])
    writer = None
    partial = path.with_suffix(".partial")
    for start in range(0, rows, CHUNK):
        score = KINDS[kind](rng, min(CHUNK, rows - start))
        chance = np.interp(score, [low, middle, high], [0.1, 0.5, 0.9]) if low < middle < high else 0.3
        label = (rng.random(len(score)) < chance).astype(np.int8)
        chunk = pa.table({"score": score, "label": label})
        writer = writer or parquet.ParquetWriter(partial, chunk.schema)
        writer.write_table(chunk)
    assert writer is not None
    writer.close()
    partial.rename(path)
    return str(path)


# --- measuring


def child(method: str, path: str, turns: str) -> dict[str, Any]:
    """Run one method in turns with its floor, in this process."""
    floor = FLOORS[METHODS[method].floor](path)
    act = METHODS[method].start(path)
    best, least = np.inf, np.inf
    answer: Any = None
    for turn in range(int(turns) + 1):
        start = time.perf_counter()
        floor()
        middle = time.perf_counter()
        answer = act()
        end = time.perf_counter()
        if turn or turns == "0":  # the first turn warms up
            best, least = min(best, end - middle), min(least, middle - start)
    threshold, value, more = answer
    return {
        "seconds": best,
        "floor": least,
        "threshold": threshold,
        "value": value,
        "peak_mb": peak(),
        **more,
    }


def peak() -> float:
    """Return the largest resident size of this process in MB.

    On Linux from its own account: what `getrusage` says begins with the size of the process that
    started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure(method: str, path: str, turns: int) -> dict[str, Any]:
    """Run a child; a failure is a result."""
    command = [sys.executable, "-m", "benchmarks.scale", "--child", method, path, str(turns)]
    root = HERE.parent
    places = [str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
    if ended.returncode:
        return {"method": method, "failed": (ended.stderr.strip().splitlines() or ["killed"])[-1][:200]}
    found = {"method": method, **json.loads(ended.stdout.splitlines()[-1])}
    print(method, Path(path).stem, {k: v for k, v in found.items() if k != "method"}, file=sys.stderr)
    return found


def speed(folder: Path, rows: int) -> list[dict[str, Any]]:
    """Compare all methods on one file of probabilities."""
    path = generate(folder, "probabilities", rows)
    found = []
    for name, method in METHODS.items():
        if rows <= method.most_rows:
            found.append({"rows": rows, **measure(name, path, 1 if method.rival else 3)})
    return found


def skew(folder: Path, rows: int) -> list[dict[str, Any]]:
    """Search files of every distribution."""
    return [
        {"kind": kind, "rows": rows, **measure("files", generate(folder, kind, rows), 2)} for kind in KINDS
    ]


def growth(folder: Path, largest: int, *, keep: bool) -> list[dict[str, Any]]:
    """Search files of ever more rows; 10**9 rows are 8 GB on disk."""
    found = []
    for power in range(6, largest + 1):
        path = generate(folder, "probabilities", 10**power)
        found.append({"rows": 10**power, **measure("files", path, 3 if power < 9 else 0)})
        if not keep and power > 7:
            Path(path).unlink()
    return found


# --- the page


def render(result: dict[str, Any]) -> str:
    """Write the page."""
    page = [
        "# Benchmarks: beyond memory",
        "",
        "Rendered from `benchmarks/results/scale.json` by `python -m benchmarks.scale`.",
        "The best F1 of one Parquet file (float64 scores, int8 labels), in a process of its own.",
        "The floor is `SELECT sum(score), sum(label)` on the same file in the same engine and process,",
        "in turns with the method; memory is the largest resident size of the process.",
        "",
    ]
    for part, title, body in (
        ("speed", "Against the floor and against rivals", _speed_table),
        ("skew", "Distributions that defeat equal buckets", _skew_table),
        ("growth", "From a million rows to a billion", _growth_table),
    ):
        if part in result:
            page += [
                f"## {title}",
                "",
                _machine(result[part]["machine"]),
                "",
                *body(result[part]["rows"]),
                "",
            ]
    return "\n".join(page)


def _machine(spec: dict[str, Any]) -> str:
    return (
        "{date}, {cores} cores ({kind}), {memory_gib} GiB, Python {python}, NumPy {numpy}, "
        "DuckDB {duckdb}, Polars {polars}, PyArrow {pyarrow}."
    ).format(**spec)


def _table(head: list[str], lines: list[list[str]]) -> list[str]:
    return [
        "| " + " | ".join(head) + " |",
        "|" + " --- |" * len(head),
        *("| " + " | ".join(line) + " |" for line in lines),
    ]


def _speed_table(rows: list[dict[str, Any]]) -> list[str]:
    ours = next(row for row in rows if row["method"] == "files")
    lines = []
    for row in rows:
        if "failed" in row:
            lines.append([row["method"], row["failed"], "", "", "", "", ""])
            continue
        right = abs(row["value"] - ours["value"]) < 1e-12
        lines.append(
            [
                row["method"],
                f"{row['seconds']:.2f}",
                f"{row['seconds'] / row['floor']:.1f}",
                f"{row['seconds'] / ours['seconds']:.1f}",
                f"{row['peak_mb']:,.0f}",
                f"{row['peak_mb'] / ours['peak_mb']:.1f}",
                "yes" if right else "no",
            ]
        )
    head = ["", "seconds", "times floor", "times files", "peak MB", "times files", "optimal"]
    return [f"{ours['rows']:,} rows.", "", *_table(head, lines)]


def _skew_table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        [
            row["kind"],
            *(
                [row["failed"], "", "", ""]
                if "failed" in row
                else [
                    str(row["passes"]),
                    f"{row['left']:,}",
                    f"{row['seconds'] / row['floor']:.1f}",
                    f"{row['peak_mb']:,.0f}",
                ]
            ),
        ]
        for row in rows
    ]
    told = f"{rows[0]['rows']:,} rows each; 'left' are the rows that were looked at one by one."
    return [told, "", *_table(["scores", "passes", "left", "times floor", "peak MB"], lines)]


def _growth_table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        [
            f"{row['rows']:,}",
            f"{row['seconds']:.3g}",
            f"{1e9 * row['seconds'] / row['rows']:.1f}",
            f"{row['seconds'] / row['floor']:.1f}",
            f"{row['peak_mb']:,.0f}",
            str(row["passes"]),
        ]
        for row in rows
        if "failed" not in row
    ]
    head = ["rows", "seconds", "nanoseconds per row", "times floor", "peak MB", "passes"]
    return _table(head, lines)


if __name__ == "__main__":
    main()

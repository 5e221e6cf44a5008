"""`cutpoints report` against `cutpoints find` on the same Parquet file: time, peak memory, size of the page.

    python -m benchmarks.report                # up to 10**7 rows, a minute or two
    python -m benchmarks.report --rows 6       # up to 10**6 rows
    python -m benchmarks.report --render       # only write the page again from the result file

Both run as commands in fresh processes, in turns; times are the best of a few runs and include the
start of Python. Memory is the peak of the process as the system counts it. The threshold, value and
confusion of the two must agree, or the run fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.core import machine
from benchmarks.problems import make

HERE = Path(__file__).parent
RESULT = HERE / "results" / "report.json"
PAGE = HERE.parent / "docs" / "benchmarks" / "report.md"
GOALS = {
    "f1": ["--maximize", "f1"],
    "cost(fp=1, fn=5)": ["--minimize", "cost(fp=1, fn=5)"],
    "recall, precision >= 0.6": ["--maximize", "recall", "--subject-to", "precision >= 0.6"],
}
TURNS = 3
MOST_TIMES, MOST_MEGABYTES = 3, 1024


def main() -> None:
    """Run, write the result file, render the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=7, help="powers of ten up to this one")
    parser.add_argument("--render", action="store_true", help="only render the page")
    parser.add_argument("--busy", action="store_true", help="say on the page that the machine did other work")
    parser.add_argument("--write", nargs=2, metavar=("FILE", "ROWS"), help="only write a file of rows")
    options = parser.parse_args()
    if options.write:
        write(Path(options.write[0]), int(options.write[1]))
        return
    if not options.render:
        result: dict[str, Any] = {"machine": machine(), "busy": options.busy, "runs": []}
        with tempfile.TemporaryDirectory() as folder:
            for power in range(5, options.rows + 1):
                data = Path(folder) / f"{power}.parquet"
                # Not in this process: a child's peak begins with what its parent holds.
                making = [sys.executable, "-m", "benchmarks.report", "--write", str(data), str(10**power)]
                subprocess.run(making, check=True, cwd=HERE.parent)  # noqa: S603
                for name, goal in GOALS.items():
                    result["runs"].append({"rows": 10**power, "goal": name, **compare(data, goal)})
                    print(json.dumps(result["runs"][-1]), file=sys.stderr)
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(json.loads(RESULT.read_text())))
    print(PAGE.read_text())


def write(path: Path, rows: int) -> None:
    """Write labels and scores to a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    problem = make("probabilities", rows)
    pq.write_table(pa.table({"y": problem.y, "p": problem.score}), path)


def compare(data: Path, goal: list[str]) -> dict[str, Any]:
    """Run both commands in turns; the answers must be the same."""
    page = data.with_suffix(".html")
    common = [str(data), "--label", "y", "--score", "p", *goal, "--json"]
    commands = {"find": ["find", *common], "report": ["report", *common, "-o", str(page)]}
    seconds = dict.fromkeys(commands, float("inf"))
    megabytes = dict.fromkeys(commands, 0.0)
    answers: dict[str, Any] = {}
    for _ in range(TURNS):
        for name, command in commands.items():
            took, peak, said = run(command)
            seconds[name], megabytes[name] = min(seconds[name], took), max(megabytes[name], peak)
            answers[name] = said
    found, told = answers["find"], answers["report"]["models"][0]
    for field in ("threshold", "value", "confusion", "interval"):
        if found[field] != told["solution"][field]:
            message = f"find and report disagree on the {field}: {found[field]}, {told['solution'][field]}"
            raise SystemExit(message)
    return {
        "seconds": seconds,
        "megabytes": megabytes,
        "page_bytes": page.stat().st_size,
        "drawn": len(told["cuts"]["tp"]),
    }


def run(command: list[str]) -> tuple[float, float, Any]:
    """Run one command in a process of its own; return seconds, peak megabytes and what it printed."""
    start = time.perf_counter()
    child = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "cutpoints", *command],
        stdout=subprocess.PIPE,
        cwd=HERE.parent,
        env={**os.environ, "PYTHONPATH": "src"},
    )
    assert child.stdout is not None
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(child.returncode)
    return took, usage.ru_maxrss / 1024, json.loads(said)


def render(result: dict[str, Any]) -> str:
    """Write the page."""
    spec = result["machine"]
    page = [
        "# Benchmarks: the page",
        "",
        "Rendered from `benchmarks/results/report.json` by `python -m benchmarks.report`.",
        f"{spec['cores']} cores ({spec['kind']}), Python {spec['python']}, NumPy {spec['numpy']}.",
        "",
        "`cutpoints report` and `cutpoints find` on the same Parquet file, as commands, the start of Python",
        f"included; best of {TURNS} runs in turns. The answers are the same bit for bit.",
        *(
            ["The machine did other work meanwhile: read the ratios, not the seconds."]
            if result.get("busy")
            else []
        ),
        f"Wanted at 10,000,000 rows: at most {MOST_TIMES} times as long, under {MOST_MEGABYTES} MB.",
        "",
        "| rows | goal | find (s) | report (s) | times | find (MB) | report (MB) | drawn cuts | page (MB) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in result["runs"]:
        s, m = row["seconds"], row["megabytes"]
        page.append(
            f"| {row['rows']:,} | {row['goal']} | {s['find']:.2f} | {s['report']:.2f} "
            f"| {s['report'] / s['find']:.2f} | {m['find']:.0f} | {m['report']:.0f} | {row['drawn']:,} "
            f"| {row['page_bytes'] / 1e6:.2f} |"
        )
    return "\n".join([*page, ""])


if __name__ == "__main__":
    if sys.platform == "win32":
        raise SystemExit("the peak of a child is measured by os.wait4, which Windows has not")
    main()

"""A time limit that holds: the solver in a process of its own, which is ended when time is up.

HiGHS looks at its clock between steps, and on the document's program single steps take long:
with 5,000 rows and a limit of 3 s it came back after 52 s. So a limited search runs in a child
process, which reports every better answer and bound as it finds them; what it has reported when its
time is up is the result.
"""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from dataclasses import replace
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._ilp.highs import Reply, Solver
from cutpoints.exceptions import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from cutpoints._ilp.program import Floats, Program

GRACE_SECONDS = 1.0
"""Granted to the solver to stop by itself."""
START_SECONDS = 60.0
"""Granted to the process to start; it takes half a second, more on a busy machine."""

_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from cutpoints._ilp import time_limit; time_limit.serve(sys.stdin.buffer, sys.stdout.buffer)"
)


def minimize(
    program: Program, w: Floats, *, time_limit: float, gap: float, log: Callable[[str], None] | None
) -> Reply:
    """Minimize ``w @ x`` within the limit; the best answer and bound so far if it does not suffice."""
    began = perf_counter()
    heard: dict[str, Any] = {"began": None, "x": None, "total": math.inf, "bound": -math.inf}
    child = subprocess.Popen(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", _CHILD, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    listener = Thread(target=_listen, args=(child.stdout, heard, log), daemon=True)
    listener.start()
    try:
        pickle.dump((program, w, time_limit, gap, log is not None), child.stdin)
        child.stdin.close()
        while listener.is_alive() and perf_counter() < _deadline(began, heard["began"], time_limit):
            listener.join(0.05)
    except BrokenPipeError:  # it ended before it had read all; below is why
        pass
    finally:
        child.kill()
        child.wait()
        listener.join()
        child.stdout.close()
    if "failed" in heard:
        raise SolverError.failed(solver="HiGHS", said=heard["failed"])
    if "reply" in heard:
        return heard["reply"]
    if heard["began"] is None:
        raise SolverError.failed(solver="HiGHS", said="its process did not start")
    return Reply("time_limit", heard["x"], heard["total"], heard["bound"], 0, perf_counter() - heard["began"])


def _deadline(asked: float, began: float | None, time_limit: float) -> float:
    """Return when to end the child: its time counts from when it began."""
    return asked + START_SECONDS if began is None else began + time_limit + GRACE_SECONDS


def _listen(pipe: IO[bytes], heard: dict[str, Any], log: Callable[[str], None] | None) -> None:
    """Take what the child reports until it says no more."""
    while True:
        try:
            kind, what = pickle.load(pipe)  # noqa: S301 - our own process
        except (EOFError, pickle.UnpicklingError, OSError, ValueError):
            return
        if kind == "log" and log is not None:
            log(what)
        elif kind == "answer" and what[1] < heard["total"]:
            heard["x"], heard["total"] = what
        elif kind == "bound":
            heard["bound"] = max(heard["bound"], what)
        elif kind == "began":
            heard["began"] = perf_counter()
        elif kind in ("failed", "reply"):
            heard[kind] = what


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Be the child: read a program, solve it, and report."""

    def report(kind: str, what: Any) -> None:
        pickle.dump((kind, what), sink)
        sink.flush()

    program, w, time_limit, gap, wants_log = pickle.load(source)  # noqa: S301 - our own process
    report("began", None)
    try:
        log = (lambda line: report("log", line)) if wants_log else None
        solver = Solver(program, gap=gap, log=log, report=report)
        reply = solver.minimize(w, time_limit)
    except SolverError as error:
        report("failed", getattr(error, "said", None) or str(error))
        return
    report("reply", replace(reply, x=None if reply.x is None else np.asarray(reply.x)))

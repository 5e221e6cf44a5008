"""Random problems over every route against the oracle, and random bytes against every reader.

``make fuzz SECONDS=600``. Each run draws new problems; a mismatch prints the seed that repeats it. The
last lines are a table: problems per route, and what was wrong (nothing).
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import cutpoints as cp
from cutpoints.exceptions import CutpointError, InvalidInputError

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import oracle

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = sorted(
    {"accuracy", "precision", "recall", "specificity", "f1", "mcc", "balanced_accuracy", "jaccard", "kappa"}
    & oracle.NAMES
)
LOWER = ("fpr", "predicted_positive_rate")
RARE = 20
"""A route that needs a file or an engine takes one problem in this many."""
SHARE_OF_BYTES = 0.2
"""Of the time, for bytes that are no problem at all."""


@dataclass(frozen=True)
class Problem:
    """Rows and a goal; equal scores are frequent, weights have few digits, so no grid rounds them."""

    y: Any
    s: Any
    w: Any
    goal: dict[str, str]
    bound: tuple[str, str, Fraction] | None

    def expected(self, keep: Any = slice(None)) -> oracle.Answer:
        """Return what brute force in fractions finds."""
        weights = np.ones(len(self.y)) if self.w is None else self.w
        rows = [
            (float(score), Fraction(float(w)) * int(y), Fraction(float(w)) * (1 - int(y)))
            for y, score, w in zip(self.y[keep], self.s[keep], weights[keep], strict=True)
        ]
        ((direction, name),) = self.goal.items()
        bounds = [] if self.bound is None else [_bound(*self.bound)]
        return oracle.solve(rows, _objective(name), direction, bounds)

    @property
    def asked(self) -> dict[str, Any]:
        """The goal as `find` takes it."""
        if self.bound is None:
            return dict(self.goal)
        name, relation, number = self.bound
        return {**self.goal, "subject_to": f"{name} {relation} {float(number)}"}

    @property
    def columns(self) -> dict[str, Any]:
        """The rows as columns."""
        table = {"y": self.y, "p": self.s, "k": np.arange(len(self.y)) % 3}
        return table if self.w is None else {**table, "w": self.w}

    @property
    def names(self) -> dict[str, str]:
        """The names of the columns."""
        return {"label": "y", "score": "p"} | ({} if self.w is None else {"weight": "w"})


def _objective(name: str) -> oracle.Sum:
    return oracle.Sum((oracle.Term(name),))


def _bound(name: str, relation: str, number: Fraction) -> oracle.Bound:
    return oracle.Bound(_objective(name), relation, number)


def drawn(rng: np.random.Generator) -> Problem:
    """Draw a problem."""
    rows = int(rng.integers(1, 60))
    distinct = int(rng.integers(1, rows + 2))
    scores = rng.choice(np.concatenate([rng.normal(size=distinct), [0.0, -0.0, 1.0, 5e-324]]), rows)
    if rng.random() < 0.2:
        scores = scores.astype(np.float32)
    if rng.random() < 0.05:
        scores[rng.integers(rows)] = rng.choice([np.inf, -np.inf])
    labels = (rng.random(rows) < rng.random()).astype(int)
    kind = rng.random()
    weights = None if kind < 0.5 else rng.integers(0, 9, rows) / (1.0 if kind < 0.75 else 8.0)
    if weights is not None and not weights.any():
        weights = None
    name = str(rng.choice(METRICS))
    goal = {"maximize": name} if rng.random() < 0.8 else {"minimize": name}
    bound = None
    if rng.random() < 0.4:
        number = Fraction(int(rng.integers(0, 21)), 20)
        bound = (str(rng.choice(METRICS)), str(rng.choice([">=", "<=", ">", "<"])), number)
    return Problem(labels, scores, weights, goal, bound)


def outcome(ask: Callable[[], Any]) -> tuple[Any, ...]:
    """Return what a route says, in a form that can be compared."""
    try:
        found = ask()
    except InvalidInputError as error:
        return ("undefined",) if getattr(error, "kind", None) == "undefined" else ("error", str(error))
    if found.status == "infeasible":
        return ("infeasible",)
    ties = sorted(tie.threshold for tie in found.ties)
    return found.status, found.threshold, tuple(found.confusion.to_dict().values()), ties


def truth(answer: oracle.Answer) -> tuple[Any, ...]:
    """Return what the oracle says, in the same form."""
    if answer.best is None:
        return (answer.status,)
    confusion = tuple(float(x) for x in answer.best.confusion.to_dict().values())
    return "optimal", float(answer.best.threshold), confusion, sorted(float(t.threshold) for t in answer.ties)


# --- routes


def _files(problem: Problem, folder: Path, form: str) -> Path:
    import polars as pl

    path = folder / f"scores.{form}"
    frame = pl.DataFrame(problem.columns)
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "ndjson": frame.write_ndjson}[form](path)
    return path


def _frame(problem: Problem, engine: str) -> Any:
    import pandas as pd
    import polars as pl

    if engine == "pandas":
        return pd.DataFrame(problem.columns)
    frame = pl.DataFrame(problem.columns)
    if engine == "duckdb":
        import duckdb

        return duckdb.connect().from_arrow(frame.to_arrow())
    return {"polars": frame, "polars lazy": frame.lazy(), "pyarrow": frame.to_arrow()}[engine]


def _sketch(problem: Problem) -> Any:
    made = cp.Sketch() if problem.w is None else cp.Sketch(max_weight=16.0, max_rows=1000)
    half = len(problem.y) // 2
    for part in (slice(0, half), slice(half, None)):
        weights = None if problem.w is None else problem.w[part]
        made.update(problem.y[part], problem.s[part], sample_weight=weights)
    return made.refine(problem.y, problem.s, sample_weight=problem.w, **problem.asked)


def _counts(problem: Problem) -> Any:
    weights = np.ones(len(problem.y)) if problem.w is None else problem.w
    data = cp.from_counts(problem.s, positives=weights * problem.y, negatives=weights * (1 - problem.y))
    return cp.find(data, **problem.asked)


def _arrays(problem: Problem, **options: Any) -> Any:
    return cp.find(problem.y, problem.s, sample_weight=problem.w, **problem.asked, **options)


def routes(folder: Path) -> dict[str, Callable[[Problem], Any]]:
    """Return every way to ask for one threshold."""
    found: dict[str, Callable[[Problem], Any]] = {
        "arrays, sweep": lambda p: _arrays(p, method="sweep"),
        "arrays, narrow": lambda p: _arrays(p, method="narrow"),
        "counts": _counts,
        "sketch, refine": _sketch,
    }
    for engine in ("pandas", "polars", "pyarrow", "polars lazy", "duckdb"):
        found[engine] = lambda p, engine=engine: cp.find(_frame(p, engine), **p.names, **p.asked)
    for form in ("csv", "parquet", "ndjson"):
        found[form] = lambda p, form=form: cp.find(_files(p, folder, form), **p.names, **p.asked)
        found[f"{form}, in batches"] = lambda p, form=form: cp.find(
            cp.read(_files(p, folder, form), **p.names).stream(), **p.asked
        )
    return found


def _narrowed(ask: Callable[[], Any]) -> Any:
    """Ask with buckets so few and rows so small that even these problems take several passes."""
    from asking import small_steps

    with small_steps():
        return ask()


def check_routes(rng: np.random.Generator, until: float) -> tuple[Counter[str], list[str]]:
    """Ask every route until the time is over; return problems per route, and what was wrong."""
    asked: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="cutpoints-fuzz-") as place:
        ways = routes(Path(place))
        number = 0
        while time.monotonic() < until:
            seed = int(rng.integers(2**62))
            problem = drawn(np.random.default_rng(seed))
            expected = truth(problem.expected())
            number += 1
            for name, way in ways.items():
                dear = name not in {"arrays, sweep", "arrays, narrow", "counts", "sketch, refine"}
                # Text has no float32, and JSON no infinity: these are other problems there.
                text = problem.s.dtype == np.float32 and name.startswith(("csv", "ndjson"))
                text |= bool(np.isinf(problem.s).any()) and "ndjson" in name
                if text or (dear and number % RARE):
                    continue
                found = outcome(partial(_narrowed, partial(way, problem)))
                asked[name] += 1
                if found != expected:
                    wrong.append(f"{name}, seed {seed}: {found} and not {expected}, {problem}")
            if number % RARE == 0:
                wrong += _check_segments(problem, seed)
                asked["segments"] += 1
    return asked, wrong


def _check_segments(problem: Problem, seed: int) -> list[str]:
    keys = problem.columns["k"]
    found = cp.find_by(problem.y, problem.s, by=keys, sample_weight=problem.w, **problem.asked)
    wrong = []
    for key in found:
        expected = truth(problem.expected(keys == key))
        actual = ("undefined",) if key in found.unsolved and key not in found.solved else None
        actual = actual if found[key].status == "undefined" else outcome(lambda key=key: found[key])
        if actual is not None and actual[0] in {"optimal", "infeasible"} and actual != expected:
            wrong.append(f"segment {key}, seed {seed}: {actual} and not {expected}, {problem}")
    return wrong


# --- bytes


def _mutated(rng: np.random.Generator, data: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(int(rng.integers(1, 6))):
        at, kind = int(rng.integers(len(made) + 1)), rng.random()
        if kind < 0.4 and at < len(made):
            made[at] = int(rng.integers(256))
        elif kind < 0.6:
            made[at:at] = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), dtype=np.uint8))
        elif kind < 0.8:
            del made[at : at + int(rng.integers(1, 9))]
        else:
            other = int(rng.integers(len(made) + 1))
            made[at:at] = made[other : other + int(rng.integers(1, 30))]
    return bytes(made)


def _readers(folder: Path) -> dict[str, tuple[list[bytes], Callable[[bytes], Any]]]:
    solution = cp.find([0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8], maximize="f1", subject_to="recall >= 0.5")
    path = folder / "policy.json"
    solution.policy(name="fuzz", score="p").save(path)
    sketch = cp.Sketch(max_weight=9.0).update([0, 1, 1], [0.1, 0.2, 0.2], sample_weight=[1, 2, 3]).to_bytes()
    goals = [b"f1", b"0.7*accuracy + 0.3*recall", b"cost(fp=5, fn=1)", b"recall - precision", b"f(beta=2)"]
    filters = [b"p > 0.2", b"month = '2026-10' and k in ('a', 'b')", b"not (y = 1 or p between 0 and 1)"]
    scores = folder / "scores.csv"
    scores.write_text("y,p,k,month\n0,0.1,a,2026-10\n1,0.4,b,2026-10\n", encoding="utf-8")

    def policy(data: bytes) -> None:
        path.write_bytes(data)
        cp.Policy.load(path)

    def resigned(data: bytes) -> None:
        """Check beyond the checksum, which a forger would make right."""
        from cutpoints._policy.format import checksum

        content = json.loads(data)
        if isinstance(content, dict):
            content["checksum"] = checksum({k: v for k, v in content.items() if k != "checksum"})
        policy(json.dumps(content).encode())

    def goal(data: bytes) -> None:
        cp.find([0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8], maximize=data.decode("utf-8", "surrogateescape"))

    def where(data: bytes) -> None:
        read = cp.read(scores, label="y", score="p", where=data.decode("utf-8", "surrogateescape"))
        read.summary()

    text = path.read_bytes()
    return {
        "policy bytes": ([text], policy),
        "policy, signed": ([text], resigned),
        "sketch bytes": ([sketch], cp.Sketch.from_bytes),
        "goal text": (goals, goal),
        "where text": (filters, where),
    }


def check_bytes(rng: np.random.Generator, until: float) -> tuple[Counter[str], list[str]]:
    """Give mutated bytes to every reader: each is accepted or refused, and nothing else."""
    asked: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="cutpoints-fuzz-") as place:
        readers = _readers(Path(place))
        number = 0
        while time.monotonic() < until:
            number += 1
            for name, (examples, read) in readers.items():
                if name == "where text" and number % RARE:
                    continue
                data = _mutated(rng, examples[int(rng.integers(len(examples)))])
                asked[name] += 1
                try:
                    read(data)
                except CutpointError:
                    pass
                except Exception as error:  # noqa: BLE001 - that is what is looked for
                    json_fault = name == "policy, signed" and isinstance(error, ValueError)
                    if not (json_fault and type(error).__module__ in {"json.decoder", "builtins"}):
                        wrong.append(f"{name}: {type(error).__name__}: {error} for {data!r}")
    return asked, wrong


def main(seconds: float, seed: int | None = None) -> int:
    """Run for so long, print a table, and return how many answers were wrong."""
    start = int(np.random.SeedSequence().entropy % 2**63) if seed is None else seed  # type: ignore[operator]
    rng = np.random.default_rng(start)
    warnings.simplefilter("ignore")
    begun = time.monotonic()
    problems, wrong = check_routes(rng, begun + seconds * (1 - SHARE_OF_BYTES))
    texts, faults = check_bytes(rng, begun + seconds)
    lines = [*wrong, *faults, f"{'route':<24}{'problems':>10}{'wrong':>8}   seed {start}"]
    for asked, found in ((problems, wrong), (texts, faults)):
        for name, count in asked.items():
            bad = sum(line.startswith((f"{name}, seed", f"{name}:")) for line in found)
            lines.append(f"{name:<24}{count:>10,}{bad:>8,}")
    bad = len(wrong) + len(faults)
    lines.append(f"{'all':<24}{sum(problems.values()) + sum(texts.values()):>10,}{bad:>8,}")
    sys.stdout.write("\n".join(lines) + "\n")
    return bad


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:]]
    sys.exit(min(1, main(given[0] if given else 60.0, int(given[1]) if len(given) > 1 else None)))

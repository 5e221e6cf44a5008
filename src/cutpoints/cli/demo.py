"""`cutpoints demo`: the main job on real data, with nothing to prepare."""

from __future__ import annotations

import io
import shlex
import shutil
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import cutpoints as cp
from cutpoints._atomic import replaced
from cutpoints._format import count, exact, value
from cutpoints.cli._options import examples, force_option, json_option, new_file, say_written
from cutpoints.cli._output import print_json, show, table
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints._result import Confusion, Solution
    from cutpoints.metrics.expression import Constraint

LABEL, SCORE = "malignant", "p"
# Two of the thirty, chosen because the classes overlap in them, so that the threshold matters. With
# all thirty it matters less: the cost of the demo falls from 48 to 38, and not from 222 to 129.
MEASUREMENTS = ("mean radius", "mean texture")
FOLDS = 5
DEFAULT = 0.5
GOALS: tuple[dict[str, str], ...] = (
    {"maximize": "accuracy"},
    {"maximize": "f1"},
    {"maximize": "mcc"},
    {"minimize": "cost(fp=1, fn=5)"},
    {"maximize": "recall", "subject_to": "precision >= 0.95"},
)
_COLUMNS = f"--label {LABEL} --score {SCORE}"
_SAVED = "scores.csv"


@dataclass(frozen=True)
class Result:
    """What is best for one goal, and what the default threshold does for it."""

    solution: Solution
    default: Confusion

    @property
    def goal(self) -> Goal:
        """The goal."""
        return self.solution.goal()

    @property
    def default_value(self) -> float:
        """The objective at the default threshold."""
        return self.default.metric(self.goal.expression)

    def default_meets(self, constraint: Constraint) -> bool:
        """Whether a constraint holds at the default threshold."""
        found = self.default.metric(constraint.expression)
        return bool(constraint.holds(found - float(constraint.bound)))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        from cutpoints._format import json_number

        return {
            "goal": str(self.goal),
            "solution": self.solution.to_dict(),
            "default": {
                "threshold": DEFAULT,
                "value": json_number(self.default_value),
                "confusion": self.default.to_dict(),
                "meets_constraints": all(map(self.default_meets, self.goal.constraints)),
            },
        }


@click.command(epilog=examples("cutpoints demo", "cutpoints demo --save scores.csv"))
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    callback=new_file,
    help="Write the labels and scores to a new CSV file, to try the other commands on.",
)
@force_option
@json_option
def demo(*, save: str | None, as_json: bool) -> None:
    """Find the best thresholds of a real classifier for five goals.

    A logistic regression separates malignant from benign tumors by two measurements of the breast cancer
    data that come with scikit-learn. Its held-out scores come with cutpoints: nothing is downloaded.
    """
    if save is not None and not Path(save).parent.exists():
        raise InvalidInputError.no_folder(path=save, folder=str(Path(save).parent))
    labels, scores = np.loadtxt(io.StringIO(_scores()), delimiter=",", skiprows=1, unpack=True)
    results = solve(labels, scores)
    if save is not None:
        with replaced(Path(save)) as beside:
            beside.write_text(_scores(), encoding="utf-8", newline="\n")
        say_written(save)
    if as_json:
        print_json(
            {
                "data": {
                    "name": "breast cancer (scikit-learn)",
                    "rows": len(labels),
                    "positives": int(labels.sum()),
                    "measurements": list(MEASUREMENTS),
                    "folds": FOLDS,
                },
                "results": [result.to_dict() for result in results],
                "saved": save,
            }
        )
        return
    _print(results, save)


def _scores() -> str:
    """Return labels and scores as CSV; each row was scored by a model that had not seen it."""
    return (files("cutpoints.cli") / "demo_scores.csv").read_text(encoding="utf-8")


def solve(labels: NDArray[Any], scores: NDArray[Any]) -> list[Result]:
    """Find the best threshold for each goal."""
    cuts = cp.curve(labels, scores)
    default = cuts.at(DEFAULT).confusion
    return [Result(cuts.best(**one), default) for one in GOALS]


def _print(results: list[Result], save: str | None) -> None:
    """Print one table, what it means, and what to try next."""
    solution, default = results[0].solution, results[0].default
    header = ["goal", "threshold", "value", "at 0.5", "misses", "false alarms"]
    rows = [row for result in results for row in _rows(result)]
    rows.append(["(the default)", exact(DEFAULT), "", "", count(default.fn), count(default.fp)])
    cost = next(result for result in results if result.goal.direction == "minimize")
    assert cost.solution.interval is not None
    saved = cost.default_value - (cost.solution.value or 0)
    file = shlex.quote(save) if save is not None else _SAVED
    steps = [
        *([f"demo --save {file}"] if save is None else []),
        f"find {file} {_COLUMNS} --maximize f1",
        f"curve {file} {_COLUMNS}",
        "metrics",
    ]
    show(
        f"Is a tumor malignant? {count(solution.positives)} of {count(solution.rows)} are.",
        f"A logistic regression on {' and '.join(MEASUREMENTS)} gives the scores; each",
        f"tumor is scored by a model that has not seen it ({FOLDS}-fold cross-validation).",
        "",
        table(header, rows, left=1),
        f"* not met at {DEFAULT}",
        "",
        f"If a miss costs 5 times a false alarm, {cost.solution.interval.shortest} saves "
        f"{saved / cost.default_value:.0%} of the cost at {DEFAULT}.",
        "Each threshold is the exact optimum on these rows. Expect slightly worse results",
        "on new data, since each was chosen on the rows that it is judged on.",
        "",
        *([f"The scores are in {save}. Next:"] if save is not None else ["Next:"]),
    )
    command = _command()
    for step in steps:
        click.echo(f"  {command} {step}")  # never broken into lines, so that it can be copied


def _command() -> str:
    """Return how to start `cutpoints` here: as it was started, unless it is on the path."""
    if shutil.which("cutpoints"):
        return "cutpoints"
    started = sys.argv[0]
    if Path(started).stem == "cutpoints":
        return shlex.quote(started)
    return f"{shlex.quote(sys.executable)} -m cutpoints"


def _rows(result: Result) -> list[list[str]]:
    """Return the lines of a goal: what is optimized, and each constraint below it."""
    solution, default = result.solution, result.default
    assert solution.confusion is not None
    assert solution.value is not None
    assert solution.interval is not None
    rows = [
        [
            f"{solution.direction} {solution.objective}",
            solution.interval.shortest,
            value(solution.value),
            value(result.default_value),
            _change(solution.confusion.fn, default.fn),
            _change(solution.confusion.fp, default.fp),
        ]
    ]
    for one in result.goal.constraints:
        here, there = (c.metric(one.expression) for c in (solution.confusion, default))
        mark = "" if result.default_meets(one) else "*"
        rows.append([f"  with {one}", "", value(here), f"{mark}{value(there)}", "", ""])
    return rows


def _change(now: float, before: float) -> str:
    """Write a count, and how far it is from that of the default."""
    return f"{count(now)} ({now - before:+,.0f})"

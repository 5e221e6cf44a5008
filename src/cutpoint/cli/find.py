"""`cutpoint find`: the best threshold for a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from cutpoint.cli._options import data_options, json_option, read
from cutpoint.cli._output import console, count, exact, pairs, print_json, rate, table

if TYPE_CHECKING:
    from cutpoint.solution import Confusion, Cut, Solution

DEFAULT = 0.5
KEY_METRICS = ("accuracy", "precision", "recall", "specificity", "f1", "mcc")
_TIES_SHOWN = 5


@click.command()
@data_options
@click.option("--maximize", metavar="GOAL", help="What to maximise: f1, 0.7*accuracy + 0.3*recall.")
@click.option("--minimize", metavar="GOAL", help="What to minimise: error_rate, 'cost(fp=2, fn=1)'.")
@click.option(
    "--subject-to",
    metavar="CONSTRAINT",
    multiple=True,
    help="What must hold: 'precision >= 0.95'. May be given more than once.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "sweep", "narrow"]),
    default="auto",
    show_default=True,
    help="How to search. The answer is the same.",
)
@click.option(
    "--at",
    type=click.Choice(["score", "middle"]),
    default="score",
    show_default=True,
    help="Put the threshold at the lowest score that is called positive, or in the middle "
    "between it and the next lower score.",
)
@json_option
def find(
    files: tuple[str, ...],
    *,
    maximize: str | None,
    minimize: str | None,
    subject_to: tuple[str, ...],
    method: Literal["auto", "sweep", "narrow"],
    at: Literal["score", "middle"],
    as_json: bool,
    **columns: Any,
) -> None:
    """Find the threshold that is best for a goal, and prove it.

    FILE is CSV or Parquet, a quoted pattern such as 'scores/*.parquet', or - for standard input.
    A row is called positive if its score is at least the threshold. `cutpoint metrics` lists what
    goals and constraints are made of.

    \b
    Examples:
      cutpoint find scores.csv --label y --score p --maximize f1
      cutpoint find scores.csv --label y --score p --minimize 'cost(fp=2, fn=1)'
      cutpoint find scores.csv --label y --score p --maximize recall \\
          --subject-to 'precision >= 0.95' --json
    """
    if (maximize is None) == (minimize is None):
        message = (
            "Missing option '--maximize' or '--minimize', for example --maximize f1."
            if maximize is None
            else "--maximize and --minimize cannot both be given."
        )
        raise click.UsageError(message)
    from cutpoint.find import find as search
    from cutpoint.objective import goal

    # A slip in the goal is told before a large file is read.
    goal(maximize=maximize, minimize=minimize, subject_to=subject_to)
    source = read(files, **columns)
    solution = search(
        source,
        maximize=maximize,
        minimize=minimize,
        subject_to=subject_to,
        method=method,
        at=at,
    )
    if as_json:
        print_json(solution.to_dict())
    solution.raise_if_infeasible()
    if as_json:
        return
    default = None
    summary = source.summary()
    if summary.low >= 0 and summary.high <= 1:
        from cutpoint.curve import curve

        default = curve(source).at(DEFAULT)
    show(solution, default)


def show(solution: Solution, default: Cut | None) -> None:
    """Print a solution for people; `default` is the cut at 0.5 if the scores look like probabilities."""
    from rich.table import Table

    assert solution.interval is not None
    assert solution.confusion is not None
    assert solution.value is not None
    low, high = solution.interval
    rows = [
        ("goal", goal_of(solution)),
        ("threshold", f"{exact(solution.threshold)}   positive iff score >= threshold"),
        ("value", f"{solution.value:.6g}"),
        ("interval", f"({exact(low)}, {exact(high)}]   the same decisions for any threshold in it"),
        ("ties", _ties(solution)),
        ("proof", _proof(solution)),
        (
            "data",
            f"{count(solution.rows)} rows, {count(solution.positives)} positive, "
            f"{count(solution.negatives)} negative",
        ),
    ]
    out = console()
    out.print(pairs(rows))
    out.print()
    beside = Table.grid(padding=(0, 4, 0, 0))
    beside.add_row(_two_by_two(solution.confusion), _metrics(solution, default))
    out.print(beside)


def goal_of(solution: Solution) -> str:
    """Write the goal as in a sentence."""
    tail = f" subject to {' and '.join(solution.constraints)}" if solution.constraints else ""
    return f"{solution.direction} {solution.objective}{tail}"


def _ties(solution: Solution) -> str:
    if not solution.ties:
        return "none: every other cut is worse"
    shown = ", ".join(exact(tie.threshold) for tie in solution.ties[:_TIES_SHOWN])
    more = ", ..." if len(solution.ties) > _TIES_SHOWN else ""
    return f"{count(len(solution.ties))} more of equal value, at {shown}{more}"


def _proof(solution: Solution) -> str:
    proof = solution.certificate
    better = "higher" if solution.direction == "maximize" else "lower"
    among = " that meets the constraints" if solution.constraints else ""
    passes = f"{proof.passes} pass{'es' if proof.passes > 1 else ''}"
    return (
        f"no cut{among} has a {better} value; {proof.method}, {passes}, "
        f"{count(proof.rows_examined)} rows looked at one by one"
    )


def _two_by_two(confusion: Confusion) -> Any:
    return table(
        ["", "called positive", "called negative"],
        [
            ["positive", f"tp {count(confusion.tp)}", f"fn {count(confusion.fn)}"],
            ["negative", f"fp {count(confusion.fp)}", f"tn {count(confusion.tn)}"],
        ],
        left=1,
    )


def _metrics(solution: Solution, default: Cut | None) -> Any:
    here = solution.metrics()
    rows = []
    for name in KEY_METRICS:
        row = [name, rate(here[name])]
        if default is not None:
            row.append(rate(default.confusion.metric(name)))
        rows.append(row)
    header = ["", "here", *(["at 0.5"] if default is not None else [])]
    return table(header, rows, left=1)

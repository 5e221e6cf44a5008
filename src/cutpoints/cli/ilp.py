"""`cutpoints ilp`: the best threshold as an integer program, solved and recounted."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal

import click

import cutpoints as cp
from cutpoints._format import count, interval_text, rows_in_words
from cutpoints.cli._options import (
    Number,
    check_options,
    data_options,
    examples,
    force_option,
    goal_options,
    json_option,
    new_file,
    read,
    say_written,
)
from cutpoints.cli._output import pairs, print_json, show, waiting

if TYPE_CHECKING:
    from cutpoints._result import Solution
    from cutpoints.ilp import Model, Run


@click.command(
    epilog=examples(
        "cutpoints ilp scores.csv --label y --score p --maximize accuracy",
        "cutpoints ilp scores.csv --label y --score p --maximize accuracy \\",
        "    --formulation document --time-limit 60",
        "cutpoints ilp scores.csv --label y --score p --maximize recall \\",
        "    --subject-to 'precision >= 0.9' --write model.lp --no-solve",
    )
)
@data_options
@goal_options
@click.option(
    "--formulation",
    type=click.Choice(["chain", "document"]),
    default="chain",
    show_default=True,
    help="One variable per distinct score, whose linear relaxation is exact; or the published form, "
    "with two binary variables per row.",
)
@click.option(
    "--group",
    is_flag=True,
    help="Two binary variables per distinct score in the published form, instead of per row.",
)
@click.option(
    "--epsilon",
    metavar="NUMBER",
    default="auto",
    show_default=True,
    type=Number("auto"),
    help="The margin of the strict inequality of the published form.",
)
@click.option("--time-limit", type=Number(), metavar="SECONDS", help="Stop the solver after this time.")
@click.option(
    "--gap",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Stop when the answer is proven to be this close, as a share of the optimum's cost.",
)
@click.option(
    "--write", "path", metavar="PATH", callback=new_file, help="Write the program to a .lp or .mps file."
)
@click.option("--no-solve", is_flag=True, help="Formulate, and write if asked, but do not solve.")
@click.option("--log", "show_log", is_flag=True, help="Show the solver's log on standard error.")
@force_option
@json_option
def ilp(
    files: tuple[str, ...],
    *,
    goal: dict[str, Any],
    formulation: Literal["chain", "document"],
    group: bool,
    epsilon: Any,
    time_limit: float | None,
    gap: float,
    path: str | None,
    no_solve: bool,
    show_log: bool,
    as_json: bool,
    **columns: Any,
) -> None:
    """Find the best threshold as an integer program, and verify its answer.

    `cutpoints find` gives the same answer, faster. This is to look at the program, to write it to
    a file for another solver, and to check by other means. Goals and constraints must be linear in
    tp and fp, or ratios of such forms: accuracy, recall, costs, precision, F-beta, Jaccard.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input.
    """
    chain = formulation == "chain"
    check_options(
        (group and chain, "--group goes with --formulation document only; a chain is grouped already."),
        (
            epsilon != "auto" and chain,
            "--epsilon goes with --formulation document only; a chain has no strict inequality.",
        ),
    )
    with waiting("Formulating"):
        model = cp.ilp.formulate(
            read(files, **columns),
            formulation=formulation,
            group=group,
            epsilon=epsilon,
            **goal,
        )
    if path is not None:
        model.write(path)
        say_written(path)
    if no_solve:
        if as_json:
            print_json({"program": model.to_dict(), "written": path})
        else:
            show(pairs(_program(model, path)))
        return
    running = True

    def log(line: str) -> None:
        if running:  # after Ctrl-C the threads of the solver go on for a moment
            click.echo(line, nl=False, err=True)

    try:
        with nullcontext() if show_log else waiting("Solving"):
            run = model.run(time_limit=time_limit, gap=gap, log=log if show_log else None)
            solution = model.believe(run)
    finally:
        running = False
    if as_json:
        solver = {"steps": run.steps, "nodes": run.nodes, "seconds": run.seconds}
        print_json(solution.to_dict() | {"program": model.to_dict(), "solver": solver, "written": path})
    solution.raise_if_infeasible()
    if not as_json:
        _print(model, run, solution, path)


def _program(model: Model, path: str | None) -> list[tuple[str, str]]:
    size = model.to_dict()
    kinds = (
        f"{count(size['integer_variables'])} of them integers"
        if size["integer_variables"]
        else "no integers needed"
    )
    rows = [
        ("goal", str(model.goal)),
        ("program", f"{model.formulation}: {count(size['variables'])} variables, {kinds}"),
        ("", f"{count(size['rows'])} rows, {count(size['nonzeros'])} numbers in them"),
    ]
    if model.epsilon is not None:
        rows.append(("epsilon", model.epsilon_reason))
    return rows if path is None else [*rows, ("written", path)]


def _print(model: Model, run: Run, solution: Solution, path: str | None) -> None:
    assert solution.interval is not None
    assert solution.confusion is not None
    assert solution.value is not None
    low, high = solution.interval
    proof = "optimal, and counted again on the data"
    if solution.status != "optimal":
        why = "time limit" if solution.status == "time_limit" else "gap"
        proof = f"stopped at the {why}: no threshold is better than {count(solution.certificate.upper)}"
    more = len(solution.ties)
    ties = f", {count(more)} more cut{'s' if more > 1 else ''} of equal value" if more else ""
    confusion = solution.confusion.in_words()
    steps = f"{run.steps} program{'s' if run.steps > 1 else ''}"
    rows = [
        *_program(model, path),
        ("threshold", f"{solution.interval.shortest}   positive if score >= threshold"),
        ("value", f"{count(solution.value)}{ties}"),
        ("interval", f"{interval_text(low, high)}   the same decisions for any threshold in it"),
        ("confusion", confusion),
        ("proof", proof),
        ("solver", f"HiGHS: {steps}, {count(run.nodes)} nodes, {run.seconds:.2f} s"),
        ("data", rows_in_words(solution.rows, solution.positives, solution.negatives)),
    ]
    show(pairs(rows))

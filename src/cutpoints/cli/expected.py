"""`cutpoints expected`: the best threshold without labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

import cutpoints as cp
from cutpoints._format import count, exact, interval_text, short, value
from cutpoints.cli._options import (
    Number,
    check_options,
    examples,
    files_argument,
    goal_options,
    json_option,
    read,
    rows_options,
    score_option,
    weight_option,
)
from cutpoints.cli._output import KEY_METRICS, pairs, print_json, show, table, waiting

if TYPE_CHECKING:
    from cutpoints import Data
    from cutpoints._expected import ExpectedSolution

ESTIMATE = "estimate"


@click.command(
    epilog=examples(
        "cutpoints expected scores.csv --score p --maximize f1",
        "cutpoints expected scores.csv --score p --minimize 'cost(fp=2, fn=1)' --json",
        "cutpoints expected new.csv --score p --maximize f1 \\",
        "    --train-prevalence 0.5 --new-prevalence estimate",
    )
)
@files_argument
@score_option("Column of the probabilities.")
@weight_option
@rows_options
@goal_options
@click.option(
    "--train-prevalence",
    type=Number(),
    metavar="SHARE",
    help="The share of positives at which the probabilities are calibrated; with --new-prevalence.",
)
@click.option(
    "--new-prevalence",
    metavar="SHARE",
    type=Number(ESTIMATE),
    help="The share of positives among these rows: a number, or 'estimate' to estimate it from them. "
    "The threshold is then for the adjusted probabilities, and printed for the given ones too.",
)
@click.option(
    "--exact-expectation",
    is_flag=True,
    help="Maximize E[GOAL] itself: for at most 1,000 rows, without weights and constraints.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "sweep", "narrow"]),
    default="auto",
    show_default=True,
    help="How to search. The answer is the same.",
)
@json_option
def expected(
    files: tuple[str, ...],
    *,
    goal: dict[str, Any],
    train_prevalence: float | None,
    new_prevalence: float | str | None,
    exact_expectation: bool,
    method: Literal["auto", "sweep", "narrow"],
    as_json: bool,
    **columns: Any,
) -> None:
    """Find the best threshold for calibrated probabilities, without labels.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input. A row of probability p counts as p of a positive and
    1 - p of a negative. For f1 and other quotients the value is that of the expected counts, not
    E[f1]: the mean of a quotient is not the quotient of the means. Check first with
    `cutpoints calibration` whether the probabilities are calibrated.
    """
    check_options(
        (
            (train_prevalence is None) != (new_prevalence is None),
            "--train-prevalence and --new-prevalence must be given together.",
        )
    )
    given = read(files, **columns)
    data, moved = given, None
    with waiting("Searching"):
        if train_prevalence is not None and new_prevalence is not None:
            data, moved = _moved(given, train_prevalence, new_prevalence)
        solution = cp.find_expected(data, method=method, exact_expectation=exact_expectation, **goal)
    if moved is not None:
        moved["unadjusted_threshold"] = _back(given, data, solution.threshold)
    if as_json:
        from cutpoints._format import json_number

        shown = solution.to_dict()
        if moved is not None:
            shown["prior"] = {k: json_number(v) for k, v in moved.items()}
        print_json(shown)
    solution.raise_if_infeasible()
    if not as_json:
        _print(solution, moved)


def _moved(given: Data, train: float, new: Any) -> tuple[Data, dict[str, float | None]]:
    """Adjust probabilities to a prevalence that is given or has to be estimated."""
    error = None
    if new == ESTIMATE:
        found = cp.estimate_prevalence(given, train_prevalence=train)
        new, error = found.prevalence, found.standard_error
    adjusted = cp.adjust_prior(given, train_prevalence=train, new_prevalence=new)
    return given.with_scores(adjusted), {
        "train_prevalence": train,
        "new_prevalence": new,
        "standard_error": error,
    }


def _back(given: Data, adjusted: Data, threshold: float | None) -> float | None:
    """Return the lowest given probability of the rows that are called positive."""
    if threshold is None:
        return None
    called = given.probabilities()[1][adjusted.probabilities()[1] >= threshold]
    return float(called.min()) if len(called) else float("inf")


def _print(solution: ExpectedSolution, moved: dict[str, Any] | None) -> None:
    assert solution.interval is not None
    assert solution.confusion is not None
    assert solution.value is not None
    low, high = solution.interval
    rows = [
        ("goal", str(solution.goal())),
        ("threshold", f"{solution.interval.shortest}   positive if p >= threshold"),
        ("value", f"{count(solution.value)}   {solution.note}"),
    ]
    if solution.theory is not None:
        theory = solution.theory
        rows.append(("theory", f"p >= {theory.text} = {theory.rule}, lambda being the best value"))
    rows += [
        ("interval", f"{interval_text(low, high)}   the same decisions for any threshold in it"),
        ("expected", f"{count(solution.rows)} rows, {count(solution.positives)} positive"),
    ]
    if moved is not None:
        error = moved["standard_error"]
        how = "" if error is None else f", estimated, with a standard error of {short(error)}"
        rows += [
            ("prior", f"{count(moved['train_prevalence'])} -> {count(moved['new_prevalence'])}{how}"),
            ("unadjusted", f"{exact(moved['unadjusted_threshold'])}   on the probabilities as given"),
        ]
    metrics = solution.confusion
    shown = table(
        ["", "of expected counts"],
        [[name, value(metrics.metric(name))] for name in KEY_METRICS],
        left=1,
    )
    show(pairs(rows), "", shown)

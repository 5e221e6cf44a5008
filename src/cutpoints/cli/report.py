"""`cutpoints report`: one HTML page to decide from."""

from __future__ import annotations

from typing import Any

import click

import cutpoints as cp
from cutpoints.cli._options import (
    counts_options,
    examples,
    files_argument,
    goal_options,
    json_option,
    label_option,
    need_goal,
    need_label,
    pos_label_option,
    random_state_option,
    read,
    rows_options,
    scores_option,
    weight_option,
)
from cutpoints.cli._output import pairs, print_json, show, waiting, warn_of_one_class


@click.command(
    epilog=examples(
        "cutpoints report scores.csv --label y --score p --maximize f1 \\",
        "    -o report.html",
        "cutpoints report scores.csv --label y --score logit --score forest \\",
        "    --minimize 'cost(fp=1, fn=5)' --title 'Churn' -o report.html",
    )
)
@files_argument
@label_option
@scores_option
@weight_option
@counts_options
@pos_label_option
@rows_options
@goal_options
@click.option("-o", "--output", metavar="FILE", help="Where to write the page, an HTML file.")
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@random_state_option("the estimate on new data")
@json_option
def report(
    files: tuple[str, ...],
    *,
    scores: tuple[str, ...],
    maximize: str | None,
    minimize: str | None,
    subject_to: tuple[str, ...],
    output: str | None,
    title: str | None,
    random_state: int,
    as_json: bool,
    **columns: Any,
) -> None:
    """Write a page to decide from: the best threshold, and a slider for all others.

    One HTML file that needs no network: the decision in a sentence, what it does, what to expect
    on new rows, charts, costs, and policy files to download. --json prints the numbers behind it;
    without -o it prints them alone.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input.
    """
    need_goal(maximize, minimize)
    if output is None and not as_json:
        message = "Missing option '-o', for example -o report.html (or '--json' for the numbers alone)."
        raise click.UsageError(message)
    need_label(columns["label"], columns["positives"])
    with waiting("Searching"):
        made = cp.report(
            read(files, score=scores, **columns),
            maximize=maximize,
            minimize=minimize,
            subject_to=subject_to,
            title=title,
            random_state=random_state,
        )
    told = made.to_dict()["data"]
    warn_of_one_class((told["positives"], told["negatives"]))
    page = None if output is None else str(made.save(output))
    if as_json:
        print_json(made.to_dict() | {"page": page})
        return
    assert page is not None
    show(pairs([("decision", made.to_dict()["sentence"]), ("page", page)]))

"""`cutpoints labels`: one threshold per label of a multilabel classifier."""

from __future__ import annotations

from typing import Any

import click

import cutpoints as cp
from cutpoints.cli._options import (
    examples,
    files_argument,
    force_option,
    goal_options,
    json_option,
    needed_label_option,
    policy_option,
    pos_label_option,
    random_state_option,
    read,
    rows_options,
    save_policy,
    score_option,
    weight_option,
)
from cutpoints.cli._output import MOST_SHOWN, lines_of, pairs, print_json, show, table, waiting


@click.command(
    epilog=examples(
        "cutpoints labels long.csv --label y --score p --by tag --maximize f1",
        "cutpoints labels long.csv --label y --score p --by tag --maximize f1 \\",
        "    --average macro --min-rows 20 --policy tags.json",
        "cutpoints labels long.csv --label y --score p --by tag --maximize recall \\",
        "    --subject-to 'precision >= 0.9' --json",
    )
)
@files_argument
@needed_label_option
@score_option()
@click.option("--by", metavar="COLUMN", required=True, help="Column that names the label of each row.")
@weight_option
@pos_label_option
@rows_options
@goal_options
@click.option(
    "--average",
    type=click.Choice(["micro", "macro"]),
    default="micro",
    show_default=True,
    help="The metric of the summed counts of all labels, or the mean of the labels' metrics.",
)
@click.option(
    "--each", metavar="CONSTRAINT", multiple=True, help="What must hold for each label: 'recall >= 0.5'."
)
@click.option(
    "--min-rows",
    type=int,
    default=1,
    show_default=True,
    help="Labels with fewer positive rows share one threshold.",
)
@random_state_option("the folds of the estimate on new data")
@policy_option("the thresholds")
@force_option
@json_option
def labels(
    files: tuple[str, ...],
    *,
    by: str,
    goal: dict[str, Any],
    average: Any,
    each: tuple[str, ...],
    min_rows: int,
    random_state: int,
    policy_file: str | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Find one threshold per label, for rows that may have several labels.

    The files are a long table: one row for each sample and label, with the label's name in the column --by,
    whether it is true in --label, and the score in --score. The policy decides such rows, too.
    """
    data = read(files, **columns)
    with waiting("Searching"):
        found = cp.find_labels(
            data,
            by=by,
            average=average,
            each=each,
            min_rows=min_rows,
            random_state=random_state,
            **goal,
        )
    if found.status != "infeasible" and policy_file is not None:
        save_policy(found, policy_file)
    if as_json:
        print_json(found.to_dict())
    found.raise_if_infeasible()
    if not as_json:
        header, *rows = found.cells(MOST_SHOWN)
        show(table(header, rows, left=1), "", pairs(lines_of(found)))

"""`cutpoints assess`: how far the best threshold can be trusted."""

from __future__ import annotations

from typing import Any

import click

import cutpoints as cp
from cutpoints.cli._options import (
    Number,
    data_options_of_cases,
    examples,
    goal_options,
    json_option,
    random_state_option,
    read,
)
from cutpoints.cli._output import pairs, print_json, show, waiting


@click.command(
    epilog=examples(
        "cutpoints assess scores.csv --label y --score p --maximize f1",
        "cutpoints assess scores.csv --label y --score p \\",
        "    --minimize 'cost(fp=1, fn=5)' --json",
        "cutpoints assess scores.csv --label y --score p --maximize f1 \\",
        "    --group customer",
    )
)
@data_options_of_cases
@goal_options
@click.option("--group", metavar="COLUMN", help="Rows with the same value here stay together.")
@click.option(
    "--cv",
    metavar="FOLDS",
    default="5",
    show_default=True,
    type=Number("loo", number=int, called="a number of folds"),
    help="Number of folds, or 'loo' to leave one row out, or one group.",
)
@click.option(
    "--stratify/--no-stratify",
    default=True,
    show_default=True,
    help="Keep the share of positives in folds and resamples.",
)
@click.option(
    "--confidence",
    type=Number(),
    default=0.95,
    show_default=True,
    help="Confidence of the sets, bounds and intervals.",
)
@click.option(
    "--tolerance",
    type=Number(),
    help="How much worse than the best is nearly as good.  [default: 1 % of the best]",
)
@click.option("--n-bootstrap", type=int, default=1000, show_default=True, help="Resamples; 0 for none.")
@random_state_option("folds and resamples")
@json_option
def assess(
    files: tuple[str, ...],
    *,
    goal: dict[str, Any],
    group: str | None,
    as_json: bool,
    cv: int | str,
    stratify: bool,
    confidence: float,
    tolerance: float | None,
    n_bootstrap: int,
    random_state: int,
    **columns: Any,
) -> None:
    """Estimate how well the best threshold will work on new data.

    The value at the best threshold is printed twice: on the rows that chose it, where it looks
    better than it is, and cross-validated. The scores must come from rows that the model was not
    fitted on, and each row is one case. The bootstrap interval is a heuristic; the other sets and
    bounds are exact for independent rows.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input.
    """
    rows = read(files, **columns)
    with waiting("Assessing"):
        found = cp.assess(
            rows,
            **goal,
            groups=group,
            cv=cv,
            stratify=stratify,
            confidence=confidence,
            tolerance=tolerance,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
        )
    if as_json:
        print_json(found.to_dict())
        return
    show(pairs(found.lines()), "", found.summary)

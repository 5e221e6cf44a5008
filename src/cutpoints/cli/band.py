"""`cutpoints band`: yes, no or review."""

from __future__ import annotations

from typing import Any

import click

import cutpoints as cp
from cutpoints.cli._options import (
    Number,
    data_options,
    examples,
    force_option,
    goal_options,
    json_option,
    new_file,
    policy_option,
    random_state_option,
    read,
    save_policy,
    say_written,
)
from cutpoints.cli._output import pairs, print_json, show, waiting


@click.command(
    epilog=examples(
        "cutpoints band scores.csv --label y --score p \\",
        "    --minimize 'cost(fp=5, fn=20, review=1)' --capacity 200",
        "cutpoints band scores.csv --label y --score p --maximize coverage \\",
        "    --subject-to 'precision >= 0.95' --subject-to 'npv >= 0.99'",
        "cutpoints band cards.csv --label fraud --score p --capacity minutes=2400 \\",
        "    --minimize 'cost(fp=5, fn=amount, review=1)'",
        "cutpoints band scores.csv --label y --score p --maximize coverage \\",
        "    --subject-to 'accuracy >= 0.98' --json",
        "cutpoints band scores.csv --label y --score p --maximize coverage \\",
        "    --subject-to 'precision >= 0.9' --subject-to 'npv >= 0.95' \\",
        "    --guarantee 0.95",
    )
)
@data_options
@goal_options
@click.option(
    "--capacity",
    multiple=True,
    metavar="NUMBER",
    help="The most of these rows that people can review, or COLUMN=NUMBER for the sum of a column over them, "
    "such as minutes=2400. May be given more than once.",
)
@click.option(
    "--reviewer",
    type=Number(),
    nargs=2,
    metavar="SENSITIVITY SPECIFICITY",
    help="How often reviewers are right on positives and on negatives; always by default.",
)
@click.option(
    "--guarantee",
    type=Number(),
    metavar="NUMBER",
    help="Bounds on precision and npv hold on new data with this confidence, such as 0.95.",
)
@random_state_option("the folds of the estimate on new data and the pilot rows of --guarantee")
@policy_option("the band")
@click.option(
    "--plot",
    "plot_file",
    metavar="FILE",
    callback=new_file,
    help="Also draw the scores and the band, as PNG, SVG or PDF by the ending of the name.",
)
@force_option
@json_option
def band(
    files: tuple[str, ...],
    *,
    goal: dict[str, Any],
    capacity: tuple[str, ...],
    reviewer: tuple[float, float] | None,
    guarantee: float | None,
    random_state: int,
    policy_file: str | None,
    plot_file: str | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Find two thresholds: yes, no, and review in between.

    Rows with a score of at least the upper threshold are called positive, rows with a score below the
    lower one negative, and people review the rest. The goal is a cost with the cost of a review, or the
    coverage, which is the share of automatic decisions. Constraints are about the automatic decisions.
    """
    data = read(files, **columns)
    with waiting("Searching"):
        found = cp.find_band(
            data,
            **goal,
            capacity=_capacity(capacity),
            reviewer=reviewer,
            guarantee=guarantee,
            random_state=random_state,
        )
    if found.status == "optimal" and policy_file is not None:
        save_policy(found, policy_file)
    if found.status == "optimal" and plot_file is not None:
        cp.plots.BandDisplay.of_curve(cp.curve(data), band=found).save(plot_file)
        say_written(plot_file)
    if as_json:
        print_json(found.to_dict())
    found.raise_if_infeasible()
    if not as_json:
        show(pairs(found.lines()))


def _capacity(given: tuple[str, ...]) -> float | dict[str, float] | None:
    """Read numbers of rows, and numbers for columns."""
    found: dict[str, float] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            message = f"'{text}' must be a number of rows such as 200, or a sum such as minutes=2400."
            raise click.BadParameter(message, param_hint="'--capacity'") from None
    if len(found) > 1 and "" in found:
        message = "'--capacity' is a number of rows, or is for columns, and not both."
        raise click.UsageError(message)
    return found.get("", found) or None

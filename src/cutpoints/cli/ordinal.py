"""`cutpoints ordinal`: the best cutpoints of one score for ordered classes."""

from __future__ import annotations

import json
from typing import Any

import click

import cutpoints as cp
from cutpoints.cli._options import (
    examples,
    files_argument,
    force_option,
    json_option,
    need_goal,
    policy_option,
    random_state_option,
    read,
    rows_options,
    save_policy,
    score_option,
    weight_option,
)
from cutpoints.cli._output import pairs, print_json, show, waiting


def _classes(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> list[str] | list[float] | None:
    """Read names that are separated by commas; as numbers, if all of them are."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return names
    return [int(number) if number.is_integer() else number for number in numbers]


def _loss(_context: click.Context, option: click.Parameter, text: str | None) -> Any:
    """Read the name of a loss, or a matrix of costs as JSON."""
    if text is None or not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        message = f"{text!r} is neither a name nor a matrix as JSON ({error})."
        raise click.BadParameter(message, param=option) from None


@click.command(
    epilog=examples(
        "cutpoints ordinal grades.csv --label grade --score s \\",
        "    --maximize quadratic_kappa",
        "cutpoints ordinal grades.csv --label grade --score s \\",
        "    --minimize absolute_error --policy grades.json",
        "cutpoints ordinal grades.csv --label grade --score s \\",
        "    --minimize '[[0, 1, 5], [1, 0, 2], [9, 3, 0]]' --json",
        "cutpoints ordinal sizes.csv --label size --score s --maximize accuracy \\",
        "    --classes small,medium,large",
    )
)
@files_argument
@click.option("--label", metavar="COLUMN", required=True, help="Column of the classes.")
@score_option()
@weight_option
@rows_options
@click.option(
    "--maximize", metavar="GOAL", help="What to maximize: quadratic_kappa, linear_kappa, kappa, accuracy."
)
@click.option(
    "--minimize",
    metavar="GOAL",
    callback=_loss,
    help="What to minimize: absolute_error, squared_error, or a matrix of costs as JSON, whose rows are "
    "decisions and whose columns are true classes.",
)
@click.option(
    "--classes",
    metavar="A,B,...",
    callback=_classes,
    help="The classes in ascending order; needed if they are not numbers.",
)
@random_state_option("the folds of the estimate on new data")
@policy_option("the cutpoints")
@force_option
@json_option
def ordinal(
    files: tuple[str, ...],
    *,
    maximize: str | None,
    minimize: Any,
    classes: list[Any] | None,
    random_state: int,
    policy_file: str | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Find the cutpoints of one score for ordered classes, such as grades.

    With K classes there are K - 1 cutpoints, the best of all ascending ones. A row is in the class after
    the last cutpoint that its score reaches.
    """
    need_goal(maximize, minimize)
    data = read(files, **columns)
    with waiting("Searching"):
        found = cp.find_ordinal(
            data, maximize=maximize, minimize=minimize, classes=classes, random_state=random_state
        )
    if policy_file is not None:
        save_policy(found, policy_file)
    if as_json:
        print_json(found.to_dict())
    else:
        show(pairs(found.lines()))

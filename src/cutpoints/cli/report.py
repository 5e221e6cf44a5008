"""`cutpoints report`: one HTML page to decide from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import cutpoints as cp
from cutpoints._wording import joined
from cutpoints.cli._errors import in_sql, sql_in_shell
from cutpoints.cli._options import (
    Number,
    counts_options,
    examples,
    files_argument,
    force_option,
    goal_options,
    json_option,
    label_option,
    new_file,
    pos_label_option,
    random_state_option,
    read,
    rows_options,
    say_written,
    scores_option,
    weight_option,
)
from cutpoints.cli._output import need_both_classes, pairs, print_json, searching, show

_ENDINGS = (".html", ".htm", ".pdf")


def _page(context: click.Context, option: click.Parameter, output: str | None) -> str | None:
    """Take the page to write; exit with 2 for a file that would not be what its name says."""
    if output is not None and Path(output).suffix.lower() not in ("", *_ENDINGS):
        message = f"'{output}' must end in {joined(_ENDINGS, 'or')}."
        raise click.BadParameter(message, param_hint="'-o'")
    return new_file(context, option, output)


@click.command(
    epilog=examples(
        "cutpoints report scores.csv --label y --score p --maximize f1 \\",
        "    -o report.html",
        "cutpoints report scores.csv --label y --score logit --score forest \\",
        "    --minimize 'cost(fp=1, fn=5)' --title 'Churn' -o report.html",
        "cutpoints report scores.csv --label y --score p --title 'Card fraud' \\",
        "    --minimize 'cost(fp=5, fn=100)' --positive-name fraud --unit EUR \\",
        "    --per-month 30000 -o report.html",
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
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_page,
    help="Where to write the page: .html, or .pdf if Chromium, Chrome or Edge is installed.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    multiple=True,
    help="Show what the threshold does in each segment, which is a value of this column. May be given more "
    "than once: a segment is then a combination of values.",
)
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@click.option("--positive-name", metavar="TEXT", help="What the positive class is called, such as fraud.")
@click.option("--case-name", metavar="TEXT", help="What a row is called, such as transaction.")
@click.option("--unit", metavar="TEXT", help="The currency of costs, such as EUR.")
@click.option(
    "--per-month", type=Number(), metavar="CASES", help="Cases per month, to show alerts and money per month."
)
@random_state_option("the estimate on new data")
@force_option
@json_option
def report(
    files: tuple[str, ...],
    *,
    scores: tuple[str, ...],
    goal: dict[str, Any],
    output: str | None,
    by: tuple[str, ...],
    title: str | None,
    positive_name: str | None,
    case_name: str | None,
    unit: str | None,
    per_month: float | None,
    random_state: int,
    as_json: bool,
    **columns: Any,
) -> None:
    """Write a page to decide from: the best threshold, and a slider for all others.

    One HTML file that works offline: the decision in a sentence, costs to change, what to expect
    on new data, charts, and policy files to download. --json prints the numbers behind it;
    without -o it prints only them.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input.
    """
    if output is None and not as_json:
        message = "Missing option '-o', for example -o report.html (or '--json' for the numbers alone)."
        raise click.UsageError(message)
    with searching("Searching"):
        made = cp.report(
            read(files, score=scores, **columns),
            by=list(by) or None,
            title=title,
            positive_name=positive_name,
            case_name=case_name,
            unit=unit,
            per_month=per_month,
            random_state=random_state,
            **goal,
        )
    data = made.to_dict()["data"]
    need_both_classes(data["positives"], data["negatives"])
    models = made.to_dict()["models"]
    inverted = set()
    for model in models:
        area = model["auc"]["value"]
        if area is None or area >= 0.5 or not model["warnings"]:
            continue  # the page says the rest
        inverted.add(model["name"])
        for text in model["warnings"]:
            click.echo(f"Warning: {model['name']}: {text}", err=True)
        query = f"select *, -{in_sql(model['name'])}::double as negated from data"  # noqa: S608 - shown, never run
        click.echo(f"To negate them: --sql {sql_in_shell(query)} --score negated", err=True)
    page = None if output is None else str(made.save(output))
    if page is not None:
        say_written(page)
    if as_json:
        print_json(made.to_dict() | {"page": page})
        return
    assert page is not None
    summary = made.to_dict()
    (best,) = (model for model in models if model["name"] == summary["best_model"])
    warned = [("warning", text) for text in best["warnings"] if best["name"] not in inverted]
    show(pairs([("decision", summary["sentence"]), *warned, ("page", page)]))

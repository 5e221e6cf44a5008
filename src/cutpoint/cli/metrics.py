"""`cutpoint metrics`: the catalogue, as a list and one entry at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cutpoint.cli._options import json_option
from cutpoint.cli._output import console, pairs, print_json, table

if TYPE_CHECKING:
    from cutpoint.metrics._metric import Metric

_BEST = {"higher": "highest", "lower": "lowest", "neither": "neither"}


class _Catalogue(click.Group):
    """A name of a metric in place of a command is a slip that deserves its answer."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            message = f"No such command '{args[0]}'. To explain a metric: cutpoint metrics show NAME"
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Catalogue, invoke_without_command=True)
@json_option
@click.pass_context
def metrics(ctx: click.Context, *, as_json: bool) -> None:
    """List the metrics that can be maximised, minimised or constrained.

    \b
    Examples:
      cutpoint metrics
      cutpoint metrics show mcc
    """
    ctx.obj = as_json
    if ctx.invoked_subcommand is not None:
        return
    from cutpoint.metrics._catalogue import EXAMPLES

    if as_json:
        print_json({"metrics": [entry(metric) for metric in EXAMPLES]})
        return
    out = console()
    out.print(
        table(
            ["metric", "best", "formula"],
            ([str(m), _BEST[m.direction], m.about.formula] for m in EXAMPLES),
            left=3,
        )
    )
    out.print("\nAliases, references and where a metric is undefined: cutpoint metrics show NAME")


@metrics.command()
@click.argument("name")
@json_option
@click.pass_context
def show(ctx: click.Context, name: str, *, as_json: bool) -> None:
    """Explain the metric NAME: its formula, its range, where it is undefined and why.

    Aliases work too: tpr and sensitivity are recall.

    \b
    Example:
      cutpoint metrics show mcc
    """
    from cutpoint.metrics._catalogue import about

    metric = about(name)
    if as_json or ctx.obj:
        print_json(entry(metric))
        return
    shown = entry(metric)
    rows: list[tuple[str, Any]] = [
        ("formula", shown["formula"]),
        ("range", shown["range"]),
        ("undefined", shown["undefined"]),
        ("monotone", shown["monotone"]),
        ("aliases", ", ".join(shown["aliases"]) or "none"),
        *((f"  {key}", text) for key, text in shown["parameters"].items()),
        ("example", shown["example"]),
        ("reference", shown["reference"]),
    ]
    if shown["parameters"]:
        place = next(i for i, row in enumerate(rows) if row[0].startswith("  "))
        rows.insert(place, ("parameters", "given by name"))
    out = console()
    out.print(f"{shown['title']} ({shown['name']})", style="bold")
    out.print(f"{shown['summary']}\n")
    out.print(pairs(rows))


def entry(metric: Metric) -> dict[str, Any]:
    """Return an entry of the catalogue as JSON has it."""
    about = metric.about
    return {
        "name": metric.name,
        "title": about.title,
        "summary": about.summary,
        "direction": metric.direction,
        "formula": about.formula,
        "range": about.range,
        "undefined": about.undefined,
        "monotone": about.monotone,
        "aliases": list(about.aliases),
        "parameters": dict(about.parameters),
        "example": str(metric),
        "reference": about.reference,
    }

"""`cutpoints metrics`: the catalogue, as a list and one entry at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cutpoints.cli._options import examples, json_option
from cutpoints.cli._output import pairs, print_json, table
from cutpoints.cli._output import show as print_

if TYPE_CHECKING:
    from cutpoints.metrics.columns import RowSum
    from cutpoints.metrics.metric import Metric

_LETTERS = (
    "P and N are the positives and the negatives, PP and PN those called positive and negative, n is all; "
    "TPR = tp/P, FPR = fp/N."
)
_BEST = {"higher": "highest", "lower": "lowest", "neither": "-"}


class _Catalogue(click.Group):
    """A name of a metric in place of a command is a slip that deserves its answer."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            message = f"No such command '{args[0]}'. To explain a metric: cutpoints metrics show {args[0]}"
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Catalogue,
    invoke_without_command=True,
    epilog=examples("cutpoints metrics", "cutpoints metrics show mcc"),
)
@json_option
@click.pass_context
def metrics(ctx: click.Context, *, as_json: bool) -> None:
    """List the metrics that can be maximized, minimized or constrained."""
    ctx.obj = as_json
    if ctx.invoked_subcommand is not None:
        return
    from cutpoints.metrics.registry import CATALOGUE

    if as_json:
        print_json({"metrics": [entry(metric) for metric in CATALOGUE]})
        return
    rows = ([str(m), _BEST[m.direction], m.doc.formula] for m in CATALOGUE)
    print_(
        table(["metric", "best", "formula"], rows, left=3),
        "",
        _LETTERS,
        "More about one of them: cutpoints metrics show NAME",
    )


@metrics.command(epilog=examples("cutpoints metrics show mcc"))
@click.argument("name")
@json_option
@click.pass_context
def show(ctx: click.Context, name: str, *, as_json: bool) -> None:
    """Explain a metric: formula, range, where it is undefined and why.

    Aliases work too: tpr and sensitivity are recall.
    """
    from cutpoints.metrics.registry import about

    metric = about(name)
    if as_json or ctx.obj:
        print_json(entry(metric))
        return
    about_it = metric.doc
    parameters = list(about_it.parameters.items())
    rows = [
        ("formula", about_it.formula),
        ("range", about_it.range),
        ("undefined", about_it.undefined),
        ("monotone", about_it.monotone),
        *([("parameters", "given by name")] if parameters else []),
        *((f"  {key}", text) for key, text in parameters),
        ("aliases", ", ".join(about_it.aliases) or "none"),
        ("example", f"--{'minimize' if metric.direction == 'lower' else 'maximize'} '{metric}'"),
        ("reference", about_it.reference),
    ]
    print_(f"{about_it.title} ({metric.name})", about_it.summary, "", pairs(rows), "", _LETTERS)


def entry(metric: Metric | RowSum) -> dict[str, Any]:
    """Return an entry of the catalogue as JSON has it."""
    about = metric.doc
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

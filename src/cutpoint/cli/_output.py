"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

INDENT = (0, 3, 0, 0)


def print_json(shown: dict[str, Any]) -> None:
    """Print one object as strict JSON: NaN and infinity never reach it as such."""
    click.echo(json.dumps(shown, indent=2, allow_nan=False))


def console() -> Console:
    """Return a console on standard output: colours on a terminal, plain text in a pipe."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, markup=False)


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 0, title: str | None = None
) -> Table:
    """Return a table with a line below its header; all columns but the first `left` are numbers."""
    from rich import box
    from rich.table import Table

    made = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1),
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
    )
    for i, name in enumerate(header):
        made.add_column(name, justify="left" if i < left else "right", no_wrap=i >= left)
    for row in rows:
        made.add_row(*row)
    return made


def pairs(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    """Return names and what they mean, in two columns without lines."""
    from rich.table import Table
    from rich.text import Text

    made = Table.grid(padding=INDENT)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for name, meaning in rows:
        made.add_row(Text(name, style="bold"), meaning)
    return made


def width_of(on: Console, renderable: RenderableType) -> int:
    """Return how many columns something takes."""
    from rich.measure import Measurement

    return Measurement.get(on, on.options.update(max_width=10_000), renderable).maximum


def exact(x: float | None) -> str:
    """Write a threshold so that it can be copied: the shortest text of this very float."""
    return "" if x is None else repr(float(x))


def count(x: float) -> str:
    """Write a count with separators, and a weight with six digits."""
    if math.isfinite(x) and x == int(x):
        return f"{int(x):,}"
    return f"{x:,.6g}"


def rate(x: float) -> str:
    """Write the value of a metric with four decimals; a dash where it is undefined."""
    if math.isnan(x):
        return "-"
    if math.isinf(x):
        return f"{x}"
    return f"{x:.4f}" if abs(x) < 1000 else f"{x:,.6g}"

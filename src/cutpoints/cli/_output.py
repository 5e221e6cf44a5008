"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cutpoints._format import count, to_json
from cutpoints.exceptions import DataWarning, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Table

    from cutpoints._data.progress import Progress
    from cutpoints._goal import Goal
    from cutpoints._joint.result import Together
    from cutpoints._result import Confusion
    from cutpoints._segments import Segments

KEY_METRICS = ("accuracy", "precision", "recall", "specificity", "f1", "mcc")
"""What tables show of a confusion beside what was asked for."""
MOST_SHOWN = 50
"""Segments, labels and classes that people see; --json has all."""
_DELAY_SECONDS = 2.0
_ROWS_AT_ONCE = 1 << 12
_NAME_WIDTH = 12


def print_json(shown: dict[str, Any]) -> None:
    """Print one object as strict JSON: NaN and infinity never reach it as such."""
    click.echo(to_json(shown))


def console() -> Console:
    """Return a console on standard output: colors on a terminal, plain text in a pipe."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, markup=False)


def show(*parts: RenderableType) -> None:
    """Print tables and texts, without the spaces at the end of lines that fill a table up."""
    out = console()
    with out.capture() as captured:
        out.print(*parts, sep="\n", crop=False)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show progress on standard error, in a terminal and only after two seconds."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    from rich.console import Console

    from cutpoints._data.progress import watching

    def show_progress(step: Progress) -> None:
        status.update(f"{text}: {steps(step)}")

    status = Console(stderr=True).status(text)
    timer = Timer(_DELAY_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        with watching(show_progress):
            yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def steps(step: Progress) -> str:
    """Write how far a search has got.

    Examples
    --------
    >>> from cutpoints._data.progress import Progress
    >>> steps(Progress(passes=2, rows=3000, total=12_000, survivors=17))
    'pass 2, 3,000 of 12,000 rows, 17 left'
    """
    of = "" if step.total is None else f" of {step.total:,}"
    left = "" if step.survivors is None else f", {step.survivors:,} left"
    return f"pass {step.passes}, {step.rows:,}{of} rows{left}"


@contextmanager
def searching(what: str) -> Iterator[None]:
    """Show that a search goes on; that there is one class only will be an error, not a warning as well."""
    with waiting(what), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "There are no (positive|negative) rows", DataWarning)
        yield


def need_both_classes(positives: float, negatives: float) -> None:
    """Raise if there is nothing to tell apart: the answer would be exact, and worth nothing."""
    if not positives or not negatives:
        raise InvalidInputError.no_rows_of(what="a threshold", positives=positives, negatives=negatives)


def warn_of_direction(goal: Goal) -> None:
    """Say on standard error that a metric is better the other way: the worst threshold is seldom wanted."""
    wanted = {"maximize": "higher", "minimize": "lower"}[goal.direction]
    better = getattr(goal.expression, "direction", "neither")
    if better not in (wanted, "neither"):
        other = "--minimize" if goal.direction == "maximize" else "--maximize"
        click.echo(
            f"Warning: {goal.expression} is better the {better} it is. Did you mean {other}?", err=True
        )


def fits(part: RenderableType) -> bool:
    """Return whether the terminal is wide enough for a table."""
    from rich.measure import Measurement

    out = console()
    wide = out.options.update(max_width=10_000)
    return Measurement.get(out, wide, part).maximum <= out.width


def fitting(columns: Mapping[str, Sequence[str]], spares: Iterable[str]) -> dict[str, Sequence[str]]:
    """Return columns without as many of the spare ones as the terminal has no room for."""
    from rich.cells import cell_len

    shown, room = dict(columns), console().width
    widths = {name: max(map(cell_len, (name, *cells))) for name, cells in columns.items()}
    for spare in spares:
        if sum(widths.values()) + 2 * (len(widths) - 1) <= room:
            break
        if shown.pop(spare, None) is not None:
            del widths[spare]
    return shown


def print_columns(columns: Mapping[str, Sequence[str]]) -> None:
    """Print columns of numbers below their names, line by line.

    It looks as `table` does, which needs two milliseconds for each row: too long for a whole curve.
    """
    widths = [max(map(len, (name, *cells))) for name, cells in columns.items()]
    line = _right_justified(widths)
    rule = "-" if console().options.ascii_only else "\u2500"
    click.echo(click.style(line(*columns), bold=True))
    click.echo(rule * (sum(widths) + 2 * (len(widths) - 1)))
    for start in range(0, len(next(iter(columns.values()))), _ROWS_AT_ONCE):
        rows = zip(*(cells[start : start + _ROWS_AT_ONCE] for cells in columns.values()), strict=True)
        click.echo("\n".join(line(*row) for row in rows))


def _right_justified(widths: Sequence[int]) -> Callable[..., str]:
    """Return a function that writes cells in columns; without spaces at the end of the line."""
    text = "  ".join(f"{{:>{width}}}" for width in widths)
    return lambda *cells: text.format(*cells).rstrip()


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 0, note: bool = False
) -> Table:
    """Return a table with a line below its header.

    The first `left` columns are texts, and with `note` the last one is; all others are numbers.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.table import Table

    lines = box.SIMPLE_HEAD
    if console().options.ascii_only:
        lines = box.Box(str(lines).replace("\u2500", "-"), ascii=True)
    made = Table(
        box=lines,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    texts = {*range(left), *([len(header) - 1] if note else [])}
    for i, name in enumerate(header):
        made.add_column(name, justify="left" if i in texts else "right", no_wrap=i not in texts)
    cells = [tuple(row) for row in rows]
    for row in cells:
        made.add_row(*row)
    # Numbers are never cut, nor are names cut to nothing: a terminal that is too narrow wraps the lines.
    widths = [max(map(cell_len, column)) for column in zip(header, *cells, strict=True)]
    least = [min(width, _NAME_WIDTH) if i in texts else width for i, width in enumerate(widths)]
    needed = sum(least) + 2 * (len(least) - 1)
    if needed > console().width:
        made.width = needed
    return made


def two_by_two(confusion: Confusion) -> Table:
    """Return the four counts as a table."""
    return table(
        ["", "called positive", "called negative"],
        [
            ["positive", f"tp {count(confusion.tp)}", f"fn {count(confusion.fn)}"],
            ["negative", f"fp {count(confusion.fp)}", f"tn {count(confusion.tn)}"],
        ],
        left=1,
    )


def pairs(rows: Iterable[tuple[str, str]]) -> Table:
    """Return names and what they mean, in two columns without lines."""
    from rich.table import Table
    from rich.text import Text

    made = Table.grid(padding=(0, 3, 0, 0))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    longest = 0
    for name, meaning in rows:
        made.add_row(Text(name, style="bold"), meaning)
        longest = max(longest, len(name))
    if console().width < longest + 3 + _NAME_WIDTH:  # else nothing is left for what they mean
        made.width = longest + 3 + _NAME_WIDTH
    return made


def lines_of(found: Segments | Together) -> list[tuple[str, str]]:
    """Return what a result says, and how many of its segments or labels are not shown."""
    lines = found.lines()
    if len(found) > MOST_SHOWN:
        lines.append(("shown", f"the first {MOST_SHOWN}; {len(found) - MOST_SHOWN:,} more with --json"))
    return lines


def beside(*parts: RenderableType) -> RenderableType:
    """Return tables side by side, or one below the other in a narrow terminal."""
    from rich.console import Group
    from rich.table import Table

    made = Table.grid(padding=(0, 4, 0, 0))
    made.add_row(*parts)
    if fits(made):
        return made
    first, *rest = parts
    return Group(first, *(piece for part in rest for piece in ("", part)))

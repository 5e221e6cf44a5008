"""`cutpoints find --by`: one threshold per segment, each by itself or all together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import cutpoints as cp
from cutpoints._format import count, value
from cutpoints.cli._options import save_policy
from cutpoints.cli._output import MOST_SHOWN, lines_of, pairs, print_json, show, table, waiting

if TYPE_CHECKING:
    from cutpoints import Data
    from cutpoints._segments import Segments


def find_by(
    data: Data,
    *,
    as_json: bool,
    policy: tuple[str | None, dict[str, Any]],
    **asked: Any,
) -> None:
    """Find the segments' thresholds and print them; at least one must be found.

    `policy` is the file to write them to, if any, and what is said about it.
    """
    with waiting("Searching"):
        found = cp.find_by(data, **asked)
    path, naming = policy
    if path is not None and found.solved:
        save_policy(found, path, **naming)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    for warning in found.warnings:
        click.echo(f"Warning: {warning}", err=True)
    unsolved = len(found) - len(found.solved)
    if unsolved:
        have = "has" if unsolved == 1 else "have"
        click.echo(f"{unsolved:,} of {len(found):,} segments {have} no threshold.", err=True)
    if not found.solved:
        # The reason of the first stands for all: undefined, too few rows, or infeasible.
        found.raise_if_infeasible()


def find_joint(
    data: Data,
    *,
    as_json: bool,
    policy: tuple[str | None, dict[str, Any]],
    **asked: Any,
) -> None:
    """Find the thresholds that are best together and print them; `policy` is as for `find_by`."""
    with waiting("Searching"):
        found = cp.find_joint(data, **asked)
    path, naming = policy
    if path is not None and found.value is not None:
        save_policy(found, path, **naming)
    if as_json:
        print_json(found.to_dict())
    found.raise_if_infeasible()
    if as_json:
        return
    header, *rows = found.cells(MOST_SHOWN)
    show(table(header, rows, left=len(found.by)), "", pairs(lines_of(found)))


def _print(found: Segments) -> None:
    rows, expected = [], found.cross_validated
    for key, entry in list(found.items())[:MOST_SHOWN]:
        parts = key if len(found.by) > 1 else (key,)
        names = ["(missing)" if part is None else str(part) for part in parts]
        threshold = "-" if entry.interval is None else entry.interval.shortest
        worth = [entry.value, expected.get(key)]
        values = ["-" if one is None else value(one) for one in worth]
        values += [found.common_cell(key, value)] if found.common else []
        cells = [count(entry.rows), count(entry.positives), found.note(key)]
        rows.append([*names, threshold, *values, *cells])
    header = [*found.by, "threshold", "value", "new data", *(["common"] if found.common else [])]
    header += ["rows", "positives", "note"]
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    made = table(header, rows, left=len(found.by), note=header[-1] == "note")
    show(pairs(lines_of(found)), "", made)

"""`cutpoints apply`: decide the rows of files by a policy."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

import cutpoints as cp
from cutpoints._format import count
from cutpoints.cli._options import (
    examples,
    files_argument,
    force_option,
    json_option,
    memory_option,
    new_file,
    policy_score_option,
    say_written,
)
from cutpoints.cli._output import print_json, waiting

if TYPE_CHECKING:
    from cutpoints import Policy
    from cutpoints._policy.files import Applied

missing_option = click.option(
    "--missing",
    type=click.Choice(["error", "negative", "positive", "review", "keep"]),
    help="How to treat missing scores: an error, a decision (review: for bands), or no decision (keep). By "
    "default as the policy says.",
)


@click.command(
    epilog=examples(
        "cutpoints apply policy.json new.parquet -o decisions.parquet",
        "cutpoints apply policy.json new.csv -o decisions.csv --missing negative",
        "cat new.csv | cutpoints apply policy.json - > decisions.csv",
    )
)
@click.argument("policy", metavar="POLICY")
@files_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="-",
    show_default=True,
    callback=new_file,
    help="Output file, .csv, .tsv, .parquet or .ndjson; - for standard output.",
)
@policy_score_option
@click.option(
    "--column", metavar="NAME", default="decision", show_default=True, help="Name of the new column."
)
@missing_option
@memory_option
@force_option
@json_option
def apply(
    policy: str,
    files: tuple[str, ...],
    *,
    output: str,
    score: str | None,
    column: str,
    missing: Any,
    memory_limit: str | None,
    as_json: bool,
) -> None:
    """Write rows with a column of decisions: 1 if the score is at least the threshold, else 0.

    A band also writes -1, for review. Ordered classes write their names, and each label gets a column.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'new/**/*.parquet', or - for standard input. Files may be larger than memory. All columns are kept as
    they are, in a CSV character by character. The output file appears complete or not at all.
    """
    if as_json and output == "-":
        message = "--json cannot be combined with decisions on standard output. Name a file with -o."
        raise click.UsageError(message)
    rule = load(policy, files)
    if output == "-" and sys.stdout.isatty() and any(name.endswith((".parquet", ".pq")) for name in files):
        message = "Parquet cannot be shown in a terminal. Name a file with -o."
        raise click.UsageError(message)
    with waiting("Deciding"):
        done = rule.apply(
            list(files), output, score=score, column=column, missing=missing, memory_limit=memory_limit
        )
    if output != "-":
        say_written(done.output)
    if as_json:
        print_json(done.to_dict())
    else:
        click.echo(_sentence(done), err=output == "-")


def load(policy: str, files: tuple[str, ...]) -> Policy:
    """Read a policy; it and the data cannot both come from standard input."""
    if policy == "-" and "-" in files:
        message = "The policy and the data cannot both be standard input."
        raise click.UsageError(message)
    return cp.Policy.load(policy)


def held_in_groups(policy: Policy) -> tuple[str, ...]:
    """Return what had to hold in each group at one threshold; the policy does not know the groups."""
    if policy.rule.kind != "threshold" or policy.found_on is None:
        return ()
    return policy.found_on.each


def _sentence(done: Applied) -> str:
    counts: dict[Any, int] = {}
    for column in done.decisions.values():
        for value, rows in column.items():
            counts[value] = counts.get(value, 0) + rows
    named = {1: "positive", 0: "negative", -1: "for review"} if set(counts) <= {-1, 0, 1} else {}
    order = [value for value in (1, 0, -1) if value in counts] if named else list(counts)
    columns = f", {len(done.decisions)} decisions each" if len(done.decisions) > 1 else ""
    found = f"{count(done.rows)} rows{columns}: "
    found += ", ".join(f"{count(counts[value])} {named.get(value, value)}" for value in order)
    if done.missing:
        kept = done.rows * len(done.decisions) - sum(counts.values()) - done.unknown
        found += f", {count(done.missing)} without a score" + (" left undecided" if kept else " among them")
    if done.unknown:
        found += f", {count(done.unknown)} of unknown segments left undecided"
    return found

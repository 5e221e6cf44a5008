"""`cutpoints policy`: what a policy says, and its rule in other languages."""

from __future__ import annotations

from typing import Any

import click

from cutpoints.cli._options import (
    examples,
    force_option,
    json_option,
    new_file,
    policy_score_option,
    say_written,
)
from cutpoints.cli._output import pairs, print_json, show
from cutpoints.cli.apply import load, missing_option

_DIALECTS = ["ansi", "bigquery", "duckdb", "mysql", "postgres", "snowflake", "spark", "sqlite"]


@click.group(
    epilog=examples(
        "cutpoints policy show policy.json",
        "cutpoints policy sql policy.json --dialect postgres",
        "cutpoints policy onnx policy.json -o rule.onnx",
    )
)
def policy() -> None:
    """Read a policy file, or write its rule as SQL, as Python or as ONNX.

    `cutpoints find ... --policy policy.json` makes one; every subcommand has --json.
    """


@policy.command(name="show", epilog=examples("cutpoints policy show policy.json"))
@click.argument("file", metavar="POLICY")
@json_option
def show_(file: str, *, as_json: bool) -> None:
    """Check a policy file and show what is in it."""
    found = load(file, ())
    if as_json:
        print_json(found.to_dict())
    else:
        show(pairs(found.lines()))


@policy.command(epilog=examples("cutpoints policy sql policy.json --dialect postgres"))
@click.argument("file", metavar="POLICY")
@click.option(
    "--dialect", type=click.Choice(_DIALECTS), default="ansi", show_default=True, help="SQL dialect."
)
@policy_score_option
@missing_option
@json_option
def sql(file: str, *, dialect: Any, score: str | None, missing: Any, as_json: bool) -> None:
    """Write the rule as a SQL expression, with the exact threshold."""
    text = load(file, ()).to_sql(score, dialect=dialect, missing=missing)
    if as_json:
        print_json({"dialect": dialect, "sql": text})
    else:
        click.echo(text)


@policy.command(epilog=examples("cutpoints policy python policy.json > decide.py"))
@click.argument("file", metavar="POLICY")
@click.option("--function", metavar="NAME", default="decide", show_default=True, help="Name of the function.")
@missing_option
@json_option
def python(file: str, *, function: str, missing: Any, as_json: bool) -> None:
    """Write the rule as a Python function that needs no package."""
    text = load(file, ()).to_python(function=function, missing=missing)
    if as_json:
        print_json({"function": function, "python": text})
    else:
        click.echo(text, nl=False)


@policy.command(epilog=examples("cutpoints policy onnx policy.json -o rule.onnx"))
@click.argument("file", metavar="POLICY")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    callback=new_file,
    help="Output file, such as rule.onnx.",
)
@missing_option
@force_option
@json_option
def onnx(file: str, *, output: str, missing: Any, as_json: bool) -> None:
    """Write the rule as an ONNX model."""
    model = load(file, ()).to_onnx(output, missing=missing)
    inputs = [one.name for one in model.graph.input]
    say_written(output)
    if as_json:
        print_json({"output": output, "inputs": inputs})
    else:
        click.echo(f"Inputs: {', '.join(inputs)}; output: decision.")

"""`cutpoints check`: whether a policy still does what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cutpoints._format import count, exact, rows_in_words, value
from cutpoints.cli._options import (
    examples,
    files_argument,
    json_option,
    policy_score_option,
    read,
    rows_options,
)
from cutpoints.cli._output import pairs, print_json, show, table, waiting
from cutpoints.cli.apply import load

if TYPE_CHECKING:
    from cutpoints._policy import Check
    from cutpoints._policy.outcome import Outcome, Share

DRIFT = 4
"""The exit code of a policy that calls for attention."""
_SHOWN = ("prevalence", "predicted_positive_rate", "precision", "recall", "specificity", "f1", "mcc")


@click.command(
    epilog=examples(
        "cutpoints check policy.json new.csv",
        "cutpoints check policy.json new.csv --label y",
        "cutpoints check policy.json 'new/*.parquet' --label y --json",
    )
)
@click.argument("policy", metavar="POLICY")
@files_argument
@click.option("--label", metavar="COLUMN", help="Column of the labels, if they are known by now.")
@policy_score_option
@click.option("--pos-label", metavar="LABEL", help="The positive label; by default as the policy says.")
@rows_options
@click.option(
    "--psi", type=float, default=0.2, show_default=True, help="The population stability index of an alarm."
)
@click.option(
    "--alpha",
    type=float,
    default=0.01,
    show_default=True,
    help="How improbable a change must be by chance alone.",
)
@json_option
@click.pass_context
def check(
    context: click.Context,
    /,
    policy: str,
    files: tuple[str, ...],
    *,
    label: str | None,
    score: str | None,
    pos_label: str | None,
    psi: float,
    alpha: float,
    as_json: bool,
    **rows: str | None,
) -> None:
    """Check whether a policy still performs on new data, and what would be best now.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'new/**/*.parquet', or - for standard input. Without labels: have the scores moved? With labels: do
    the constraints still hold, has the goal fallen, what would the best threshold be now? Ends with
    0 if all is well and with 4 if not, for schedulers.
    """
    rule = load(policy, files)
    if pos_label is not None and label is None:
        message = "--pos-label needs --label."
        raise click.UsageError(message)
    with waiting("Checking"):
        found = rule.check(
            read(files, score=score, label=label, pos_label=pos_label, **rows), alpha=alpha, psi=psi
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if not found.fine:
        context.exit(DRIFT)


def _print(found: Check) -> None:
    policy, shift = found.policy, found.scores
    rows = [
        ("policy", " ".join(filter(None, [policy.name, f"positive iff score >= {exact(policy.threshold)}"])))
    ]
    if shift is not None:
        chance = "" if shift.psi_p is None else f", p = {shift.psi_p:.2g}"
        below = "" if shift.ks_p is None else f", p <= {shift.ks_p:.2g}"
        rows += [
            ("PSI", f"{shift.psi:.4f}   {shift.band}, {shift.psi_buckets} buckets{chance}"),
            ("KS", f"{shift.ks:.4f}   or more{below}"),
        ]
    rows.append(("called positive", _share(found.called)))
    labels = found.labels
    if labels is None:
        rows.append(("data", f"{count(found.rows)} rows, no labels"))
        parts: list[Any] = [pairs(rows)]
    else:
        c = labels.confusion
        rows += [*_best(found, labels), ("data", rows_in_words(found.rows, c.tp + c.fn, c.fp + c.tn))]
        parts = [pairs(rows), "", _metrics(found, labels)]
        if labels.constraints:
            parts += ["", _constraints(labels)]
    show(found.summary, *found.notes, "", *parts)


def _share(share: Share) -> str:
    then = "" if share.then is None else f"{value(share.then)} then, "
    return f"{then}{value(share.now)} now   95 % interval {_interval(share.interval)}"


def _interval(interval: Any) -> str:
    return "" if interval is None else f"{value(interval.low)} to {value(interval.high)}"


def _best(found: Check, labels: Outcome) -> list[tuple[str, str]]:
    if labels.value_here is None:
        return [("best now", "unknown: the policy has no goal that can be searched again")]
    if labels.best_threshold is None or labels.lost is None:
        return [("best now", "no threshold meets the constraints on these rows")]
    best = f"{exact(labels.best_threshold)}   {found.policy.objective} {value(labels.best_value or 0.0)}"
    stay = f"{value(labels.lost)}   {found.policy.objective} is {value(labels.value_here)} here"
    if labels.lost < 0:
        here = f"{found.policy.objective} is {value(labels.value_here)} here"
        return [("best now", best), ("lost by staying", f"nothing: {here}, but a constraint is not met")]
    return [("best now", best), ("lost by staying", f"{stay}; chosen on these rows, so optimistic")]


def _metrics(found: Check, labels: Outcome) -> Any:
    rows = []
    objective = found.policy.objective
    if labels.value_now is not None and objective not in _SHOWN:
        then = "-" if labels.value_then is None else value(labels.value_then)
        rows.append([str(objective), then, value(labels.value_now), _interval(labels.value_interval)])
    for name in _SHOWN:
        then_value, now = labels.metrics[name]
        interval = labels.intervals.get(name)
        if interval is None and name == objective:
            interval = labels.value_interval
        then = "-" if then_value is None else value(then_value)
        rows.append([name, then, value(now), _interval(interval)])
    return table(["", "then", "now", "95 % interval"], rows, left=1)


def _constraints(labels: Outcome) -> Any:
    rows = [
        [one.constraint, "-" if one.then is None else value(one.then), value(one.now), one.verdict]
        for one in labels.constraints
    ]
    return table(["constraint", "then", "now", "verdict"], rows, left=1)

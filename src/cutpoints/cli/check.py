"""`cutpoints check`: whether a policy still performs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

import cutpoints as cp
from cutpoints._format import count, rows_in_words, value
from cutpoints.cli._options import (
    Number,
    check_options,
    examples,
    files_argument,
    force_option,
    json_option,
    new_file,
    policy_score_option,
    read,
    rows_options,
    say_written,
)
from cutpoints.cli._output import MOST_SHOWN, pairs, print_json, show, table, waiting
from cutpoints.cli.apply import held_in_groups, load

if TYPE_CHECKING:
    from cutpoints import Policy
    from cutpoints._policy import Check
    from cutpoints._policy.evidence import Watch
    from cutpoints._policy.outcome import Outcome, Part, Share

EXIT_CODES = {"fine": 0, "attention": 4, "unsure": 5}
_AGAIN = "Find several thresholds again with their own command."
_AUTOMATIC = ("precision", "npv", "accuracy")
_SHOWN = ("prevalence", "predicted_positive_rate", "precision", "recall", "specificity", "f1", "mcc")


@click.command(
    epilog=examples(
        "cutpoints check policy.json new.csv",
        "cutpoints check policy.json new.csv --label y",
        "cutpoints check policy.json today.csv --label y --state policy.state.json",
        "cutpoints check policy.json new.csv --label y --write new-policy.json",
        "cutpoints check segments.json new.csv --label y",
        "cutpoints check policy.json 'new/*.parquet' --label y --json",
    )
)
@click.argument("policy", metavar="POLICY")
@files_argument
@click.option(
    "--label",
    metavar="COLUMN",
    help="Column of the labels, if they are known. For a policy of labels, with {} in place of the "
    "label: true_{}.",
)
@policy_score_option
@click.option("--pos-label", metavar="LABEL", help="The positive label; by default as the policy says.")
@rows_options
@click.option(
    "--psi",
    type=Number(),
    default=0.2,
    show_default=True,
    help="The population stability index from which a shift is an alarm.",
)
@click.option(
    "--alpha",
    type=Number(),
    default=0.01,
    show_default=True,
    help="Significance level: the probability that a test raises a false alarm.",
)
@click.option(
    "--state",
    metavar="FILE",
    help="Keep the evidence of repeated checks in this file. The probability that any of them raises a "
    "false alarm is then at most --alpha.",
)
@click.option(
    "--batch",
    metavar="NAME",
    help="With --state: a name for these rows, such as a date. Each batch is counted once.",
)
@click.option(
    "--write",
    metavar="FILE",
    callback=new_file,
    help="With --label: also write a policy with the best threshold on these rows for the same goal.",
)
@force_option
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
    state: str | None,
    batch: str | None,
    write: str | None,
    as_json: bool,
    **rows: str | None,
) -> None:
    """Check whether a policy still performs on new data, and what would be best now.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'new/**/*.parquet', or - for standard input. Without labels: have the scores moved? With labels: do
    the constraints still hold, is the goal worse, what would the best threshold be now? Policies with
    several thresholds are checked as a whole and for each segment or label; without labels, by their
    decisions. The exit code is 0 if all is well, 4 if something needs attention, and 5 if there are too
    few rows to tell. To check every day, use --state: without it, repeated checks raise false alarms.
    """
    rule = load(policy, files)
    writes = write is not None
    check_options(
        (pos_label is not None and label is None, "--pos-label needs --label."),
        (batch is not None and state is None, "--batch needs --state."),
        (writes and label is None, "--write needs --label."),
        (writes and rule.objective is None, "--write needs a policy with a goal."),
        (
            writes and rule.rule.kind != "threshold",
            f"--write needs a policy with one threshold. {_AGAIN}",
        ),
        (
            writes and held_in_groups(rule),
            "--write knows no groups, and the policy has what must hold in each: use `cutpoints find`.",
        ),
    )
    data = read(files, score=score, label=label, pos_label=pos_label, **rows)
    with waiting("Checking"):
        found = rule.check(data, alpha=alpha, psi=psi, state=state, batch=batch)
        written = write is not None and _write(
            rule, files, write, score=score, label=label, positive=pos_label, rows=rows
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found, (policy, files, label, write if written else None))
    context.exit(EXIT_CODES[found.status])


def _write(
    rule: Policy,
    files: tuple[str, ...],
    path: str,
    *,
    score: str | None,
    label: str | None,
    positive: str | None,
    rows: Any,
) -> bool:
    """Write the policy that is best now, with the names of the old one; False if there is none."""
    if positive is None and isinstance(rule.pos_label, str):
        positive = rule.pos_label
    data = read(files, score=score or rule.score, label=label, pos_label=positive, **rows)
    asked: Any = {rule.direction or "maximize": rule.objective}
    best = cp.find(data, subject_to=rule.constraints, **asked)
    if best.threshold is None:
        click.echo(f"Warning: no threshold meets the constraints now; {path} was not written.", err=True)
        return False
    best.policy(rule.name, description=rule.description, missing=rule.missing).save(path)
    say_written(path)
    return True


def _print(found: Check, call: tuple[str, tuple[str, ...], str | None, str | None]) -> None:
    policy, shift = found.policy, found.scores
    rule = policy.rule.lines("score")[0][1]
    rows = [("policy", ": ".join(filter(None, [policy.name, rule])))]
    if shift is not None:
        chance = "" if shift.psi_p is None else f", p {_chance(shift.psi_p, '=')}"
        below = "" if shift.ks_p is None else f", p {_chance(shift.ks_p, '<=')}"
        of = "" if found.moving == "scores" else f" of the {found.moving}"
        rows += [
            (f"PSI{of}", f"{value(shift.psi)}   {shift.band}, {shift.psi_buckets} buckets{chance}"),
            *([] if of else [("KS", f"{value(shift.ks)}   lower bound{below}")]),
        ]
    if len(found.decisions) > 2:
        rows += [(name, _share(share)) for name, share in list(found.decisions.items())[:MOST_SHOWN]]
    elif found.called is not None:
        rows.append(("called positive", _share(found.called)))
    labels = found.labels
    if labels is None:
        rows.append(("data", f"{count(found.rows)} rows, no labels"))
        parts: list[Any] = [pairs(rows)]
    else:
        c = labels.confusion
        data = f"{count(found.rows)} rows"
        if c is not None and len(found.decisions) <= 2:
            data = rows_in_words(found.rows, c.tp + c.fn, c.fp + c.tn)
        rows += [
            *_expected(labels),
            *(_best(labels, policy) if policy.rule.kind == "threshold" else []),
            ("data", data),
        ]
        parts = [pairs(rows), "", _metrics(labels, automatic=policy.rule.kind == "band")]
        if labels.constraints:
            parts += ["", _constraints(labels)]
    if found.parts:
        parts += ["", *_parts(found)]
    if found.watch is not None:
        parts += ["", _evidence(found.watch)]
    once = [] if found.one_look is None else [found.one_look]
    show(found.summary, *found.notes, "", *parts, "", *once, f"Next: {found.next_step}")
    click.echo("".join(f"{line}\n" for line in _command(found, *call)), nl=False)  # to copy: not wrapped


def _parts(found: Check) -> list[Any]:
    """Return a table of the segments or labels, those that call for attention first."""
    order = sorted(found.parts, key=lambda one: (-_severity(one), -one.rows))
    what = "label" if found.policy.rule.kind == "labels" else "segment"
    valued = any(one.value is not None for one in order)
    rows = []
    for one in order[:MOST_SHOWN]:
        called, worth = one.called, one.value
        cells = [one.name, count(one.rows)]
        cells += ["-", "-"] if called is None else [_or_dash(called.then), value(called.now)]
        if valued:
            cells += ["-", "-"] if worth is None else [_or_dash(worth.then), value(worth.now)]
        rows.append([*cells, _note(one)])
    objective = next((one.value.objective for one in order if one.value is not None), "")
    header = [what, "rows", "called then", "now", *([f"{objective} then", "now "] if valued else []), "note"]
    more = [f"{len(order) - MOST_SHOWN:,} more with --json"] if len(order) > MOST_SHOWN else []
    return [table(header, rows, left=1, note=True), *more]


def _or_dash(number: float | None) -> str:
    return "-" if number is None else value(number)


def _severity(one: Part) -> int:
    broken = any(kept.verdict == "broken" for kept in one.constraints)
    worse = one.value is not None and one.value.verdict == "worse"
    return 4 * broken + 2 * worse + one.moved


def _note(one: Part) -> str:
    notes = [f"{kept.constraint} {kept.verdict}" for kept in one.constraints]
    if one.value is not None and one.value.verdict is not None:
        notes.append("too few rows to tell" if one.value.verdict == "unsure" else one.value.verdict)
    return ", ".join([*notes, *(["decisions have moved"] if one.moved else [])])


def _command(
    found: Check, policy: str, files: tuple[str, ...], label: str | None, written: str | None
) -> list[str]:
    """Return the command of the next step, if there is one."""
    if written is not None:
        return [f"The best threshold now is in {written}. See what it does:  cutpoints policy show {written}"]
    if found.status != "attention" or found.policy.objective is None:
        return []
    if label is not None and (
        found.policy.rule.kind not in {"threshold", "segments"} or held_in_groups(found.policy)
    ):
        return []
    shown = " ".join(map(shlex.quote, files))
    if label is None:
        return [f"      cutpoints check {shlex.quote(policy)} {shown} --label COLUMN"]
    return [f"      cutpoints find {shown} --like {shlex.quote(policy)} --policy new-policy.json"]


def _evidence(watched: Watch) -> Any:
    rows = [
        [claim, value(now), value(watched.peak[claim]), "refuted" if watched.refuted(claim) else ""]
        for claim, now in watched.evidence.items()
    ]
    header = ["claim", "evidence against it", "highest", f"limit {value(watched.limit)}"]
    return table(header, rows, left=1, note=True)


def _chance(p: float, sign: str) -> str:
    return f"{sign} {p:.2g}" if p >= 0.001 else "< 0.001"


def _share(share: Share) -> str:
    then = "" if share.then is None else f"{value(share.then)} then, "
    return f"{then}{value(share.now)} now   95 % interval {_interval(share.interval)}"


def _interval(interval: Any) -> str:
    return "" if interval is None else f"{value(interval.low)} to {value(interval.high)}"


def _expected(labels: Outcome) -> list[tuple[str, str]]:
    """Return what the objective is compared with, where that is not what the search found."""
    found = labels.value
    if found is None or found.then is None or found.found is None or found.then == found.found:
        return []
    then = f"{found.objective} {value(found.then)}{found.unit}, cross-validated"
    return [("expected then", f"{then}; {value(found.found)} on the rows it was found on")]


def _best(labels: Outcome, policy: Policy) -> list[tuple[str, str]]:
    found = labels.value
    if held_in_groups(policy):
        return [("best now", "unknown: search again with --one-threshold for what must hold in each group")]
    if found is None:
        return [("best now", "unknown: the goal of the policy cannot be searched again on these rows")]
    if found.best_threshold is None or found.best is None or found.lost is None:
        return [("best now", "no threshold meets the constraints on these rows")]
    assert found.best_interval is not None
    best = f"{found.best_interval.shortest}   {found.objective} {value(found.best)}{found.unit}"
    if found.lost < 0:
        here = f"{found.objective} is {value(found.now)}{found.unit} here"
        return [("best now", best), ("lost by staying", f"nothing: {here}, but a constraint is not met")]
    stay = f"{value(found.lost)}{found.unit}; chosen on these rows, so optimistic"
    return [("best now", best), ("lost by staying", stay)]


def _metrics(labels: Outcome, *, automatic: bool) -> Any:
    """Return metrics then and now; of a band, those of the automatic decisions."""
    rows = []
    found = labels.value
    if found is not None:
        rows.append(
            [
                f"{found.objective}{found.unit}",
                _or_dash(found.then),
                value(found.now),
                _interval(found.interval),
            ]
        )
        if found.total is not None:
            rows.append([f"{found.objective} of these rows", "", value(found.total), ""])
    for name in (_AUTOMATIC if automatic else _SHOWN) if labels.metrics else ():
        then, now = labels.metrics[name]
        if found is not None and name == found.objective:
            continue
        shown = f"{name} (automatic)" if automatic else name
        rows.append([shown, _or_dash(then), value(now), _interval(labels.intervals.get(name))])
    return table(["", "then", "now", "95 % interval"], rows, left=1)


def _constraints(labels: Outcome) -> Any:
    rows = [[one.constraint, _or_dash(one.then), value(one.now), one.verdict] for one in labels.constraints]
    return table(["constraint", "then", "now", "verdict"], rows, left=1)

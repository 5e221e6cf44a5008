"""`cutpoints find`: the best threshold for a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

import cutpoints as cp
from cutpoints._format import count, interval_text, percent, rows_in_words, value
from cutpoints.cli._options import (
    Number,
    check_options,
    data_options_with_like,
    examples,
    force_option,
    json_option,
    need_goal,
    open_goal_options,
    policy_option,
    random_state_option,
    read,
    save_policy,
)
from cutpoints.cli._output import (
    KEY_METRICS,
    beside,
    need_both_classes,
    pairs,
    print_json,
    searching,
    show,
    table,
    two_by_two,
    waiting,
    warn_of_direction,
)
from cutpoints.cli.apply import held_in_groups, load

if TYPE_CHECKING:
    from cutpoints import Data, Policy
    from cutpoints._assess import Assessment
    from cutpoints._curve import LossSplit
    from cutpoints._goal import Goal
    from cutpoints._result import Confusion, Solution
    from cutpoints._theory import Theory

DEFAULT = 0.5
_NEGATE = (
    "The rule of a policy is score >= threshold.\n\n"
    "Hint: negate the scores, as in --sql 'select *, -p as negated from data' --score negated."
)
_TIES_SHOWN = 5


@click.command(
    epilog=examples(
        "cutpoints find scores.csv --label y --score p --maximize f1",
        "cutpoints find scores.csv --label y --score p --minimize 'cost(fp=2, fn=1)'",
        "cutpoints find scores.csv --label y --score p --maximize recall \\",
        "    --subject-to 'precision >= 0.95' --json",
        "cutpoints find scores.csv --label y --score p --maximize recall \\",
        "    --subject-to 'precision >= 0.9' --guarantee 0.95",
        "cutpoints find scores.csv --label y --score p --maximize f1 \\",
        "    --check-calibration",
        "cutpoints find scores.csv --label y --score p --maximize f1 \\",
        "    --by country --by product",
        "cutpoints find scores.csv --label y --score p --maximize recall \\",
        "    --subject-to 'precision >= 0.95' --by country --joint",
        "cutpoints find new.csv --like policy.json --policy new-policy.json",
        "cutpoints find cards.csv --label fraud --score p \\",
        "    --minimize 'cost(fp=5, fn=amount)' \\",
        "    --subject-to 'called(minutes) <= 2400'",
        "cutpoints find cards.csv --label fraud --score p --maximize recall \\",
        "    --by day --one-threshold --each 'predicted_positive <= 100'",
        "cutpoints find scores/ --label y --score p --maximize f1 \\",
        "    --where \"month = '2026-10' and country in ('DE', 'FR')\"",
    )
)
@data_options_with_like
@open_goal_options
@click.option(
    "--like",
    metavar="POLICY",
    help="Take the goal, the columns and the segments of this policy, as far as they are not given.",
)
@click.option(
    "--guarantee",
    metavar="NUMBER",
    type=Number("expectation"),
    help="Find only thresholds at which the constraints hold on new rows with this confidence, such as "
    "0.95; 'expectation': on average.",
)
@random_state_option("the folds of the estimate on new data and the pilot rows of --guarantee")
@click.option(
    "--method",
    type=click.Choice(["auto", "sweep", "narrow", "ilp"]),
    default="auto",
    show_default=True,
    help="How to search. The answer is the same.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    multiple=True,
    help="Find one threshold per segment, which is a value of this column. May be given more than "
    "once: a segment is then a combination of values.",
)
@click.option(
    "--min-rows",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    help="With --by: leave smaller segments alone, and say so.",
)
@click.option(
    "--joint",
    is_flag=True,
    help="With --by: find the thresholds that are best together, for one goal over all rows.",
)
@click.option(
    "--each",
    metavar="CONSTRAINT",
    multiple=True,
    help="With --joint or --one-threshold: what must hold in each segment: 'recall >= 0.6', or on each day "
    "'predicted_positive <= 100'. May be given more than once.",
)
@click.option(
    "--gap",
    metavar="CONSTRAINT",
    multiple=True,
    help="With --joint: how far a rate may differ between segments: 'recall <= 0.05'. May be given more "
    "than once.",
)
@click.option(
    "--one-threshold",
    is_flag=True,
    help="With --by and --each: find one threshold for all rows, at which --each holds in every segment.",
)
@click.option(
    "--assess",
    "assessed",
    is_flag=True,
    help="Also say what to expect on new data: the cross-validated value, and a bound that holds although "
    "these rows chose the threshold. See `cutpoints assess` for more.",
)
@click.option(
    "--check-calibration",
    is_flag=True,
    help="Say in a sentence where calibrated probabilities would have the threshold.",
)
@policy_option("the threshold")
@click.option("--name", metavar="TEXT", help="With --policy: what to call it.")
@click.option("--description", metavar="TEXT", help="With --policy: what people should know about it.")
@click.option(
    "--default",
    metavar="NUMBER",
    type=Number("error", "keep"),
    help="With --policy and --by: the threshold of all other segments; or 'error' to refuse such rows, "
    "which is the default; or 'keep' for no decision.",
)
@force_option
@json_option
def find(
    files: tuple[str, ...],
    *,
    goal: dict[str, Any],
    like: str | None,
    guarantee: float | Literal["expectation"] | None,
    random_state: int,
    method: Literal["auto", "sweep", "narrow", "ilp"],
    by: tuple[str, ...],
    min_rows: int | None,
    joint: bool,
    each: tuple[str, ...],
    one_threshold: bool,
    assessed: bool,
    gap: tuple[str, ...],
    check_calibration: bool,
    policy_file: str | None,
    name: str | None,
    description: str | None,
    default: float | Literal["error", "keep"] | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Find the threshold that is best for a goal, and prove it.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input. Files larger than memory are read in batches.
    A row is called positive if its score is at least the threshold. `cutpoints metrics` lists what
    goals and constraints are made of.
    """
    if like is not None:
        old = load(like, files)
        _like(old, goal, columns, in_each=one_threshold)
        if old.rule.kind == "segments" and not by:
            by, record = old.rule.by, old.found_on
            if record is not None and record.average is not None and not one_threshold:
                joint, each, gap = True, each or record.each, gap or record.gap
    need_goal(goal["maximize"], goal["minimize"])
    naming = {"name": name, "description": description, "default": default}
    naming = {option: value for option, value in naming.items() if value is not None}
    segments = bool(by) and not one_threshold
    guaranteed, counted = guarantee is not None, columns["positives"] is not None
    check_options(
        (columns["score"] is None, "Missing option '--score'."),
        (
            guaranteed and columns["weight"] is not None,
            "--guarantee cannot be combined with --weight: it counts independent rows.",
        ),
        (min_rows and not by, "--min-rows needs --by: it is about the rows of a segment."),
        (joint and not by, "--joint needs --by: it finds one threshold per segment."),
        (gap and not joint, "--gap needs --joint."),
        (joint and min_rows, "--min-rows cannot be combined with --joint."),
        (joint and method != "auto", "--method cannot be combined with --joint."),
        (
            each and not (one_threshold or joint),
            "--each needs --joint or --one-threshold: without them, --subject-to holds in each segment.",
        ),
        (
            one_threshold and not (by and each),
            "--one-threshold needs --by and --each: the segments, and what must hold in each of them.",
        ),
        (one_threshold and joint, "--joint cannot be combined with --one-threshold."),
        (one_threshold and min_rows, "--min-rows cannot be combined with --one-threshold."),
        (segments and counted, "--positives cannot be combined with --by."),
        (segments and columns["negatives"] is not None, "--negatives cannot be combined with --by."),
        (segments and assessed, "--assess cannot be combined with --by."),
        (segments and check_calibration, "--check-calibration cannot be combined with --by."),
        (assessed and guaranteed, "--guarantee cannot be combined with --assess."),
        (assessed and counted, "--positives cannot be combined with --assess."),
        (assessed and one_threshold, "--one-threshold cannot be combined with --assess."),
        *((policy_file is None, f"--{option} needs --policy.") for option in naming),
        (
            policy_file is not None and columns["lower_is_positive"],
            f"--lower-is-positive cannot be combined with --policy. {_NEGATE}",
        ),
        ("default" in naming and not segments, "--default needs --by: it is about rows of other segments."),
    )
    data = read(files, **columns)
    drawn: dict[str, Any] = {"guarantee": guarantee, "random_state": random_state}
    if segments:
        from cutpoints.cli import _segments

        shared: dict[str, Any] = {"by": list(by), "as_json": as_json, "policy": (policy_file, naming)}
        if joint:
            _segments.find_joint(data, **shared, each=each, gap=gap, **goal, **drawn)
        else:
            _segments.find_by(data, **shared, min_rows=min_rows or 1, method=method, **goal, **drawn)
        return
    in_each: dict[str, Any] = {"by": list(by), "each": list(each)} if one_threshold else {}
    with searching("Searching"):
        solution = cp.find(data, **goal, **drawn, method=method, **in_each)
    warn_of_direction(solution.goal())
    need_both_classes(solution.positives, solution.negatives)
    if policy_file is not None and solution.threshold is not None:
        save_policy(solution, policy_file, **naming)
    trust = None
    if assessed and solution.threshold is not None:
        trust = _assess(data, solution, random_state=random_state, **goal)
    _tell(data, solution, trust, check_calibration=check_calibration, as_json=as_json)


def _tell(
    data: Data, solution: Solution, trust: Assessment | None, *, check_calibration: bool, as_json: bool
) -> None:
    """Print a solution, and what else was asked about it."""
    probabilities = _are_probabilities(data)
    theory = _theory(solution, probabilities=probabilities) if check_calibration else None
    wanted = solution.goal()
    shows_usual = probabilities and solution.threshold is not None
    usual, loss, note = _usual(data, solution, wanted) if shows_usual else (None, None, None)
    if as_json:
        more = {"theory": theory, "assessment": trust, "loss": loss}
        print_json(
            solution.to_dict() | {name: one.to_dict() for name, one in more.items() if one is not None}
        )
    solution.raise_if_infeasible()
    if as_json:
        return
    extra = [] if trust is None else [("on new data", _expected(trust))]
    extra += [] if theory is None else [("calibrated?", theory.sentence)]
    extra += [] if loss is None else [(f"lost at {DEFAULT}", loss.parts)]
    extra += [] if note is None else [(f"at {DEFAULT}", note)]
    _print(solution, wanted, usual, extra)


def _usual(
    data: Data, solution: Solution, wanted: Goal
) -> tuple[Confusion | None, LossSplit | None, str | None]:
    """Return what the usual threshold does and what it loses; or why it is not shown."""
    if data.lazy:  # the curve of rows that stream would have to hold every distinct score
        return None, None, "left out: large files are read in passes; see `cutpoints curve --at 0.5`"
    curve = cp.curve(data, metrics=wanted.expressions)
    usual = curve.at(DEFAULT).confusion
    if solution.guarantee is not None or solution.each is not None:
        return usual, None, None
    asked: Any = {wanted.direction: wanted.expression, "subject_to": list(wanted.constraints)}
    return usual, curve.split_loss(**asked, threshold=DEFAULT), None


def _like(policy: Policy, goal: dict[str, Any], columns: dict[str, Any], *, in_each: bool) -> None:
    """Fill in what a policy says and the options do not; a goal is taken whole or not at all."""
    other = {"band": "band", "labels": "labels", "ordinal": "ordinal"}.get(policy.rule.kind)
    held = held_in_groups(policy)
    if held and not in_each:
        goal_of_each = " and ".join(held)
        message = (
            f"The policy of --like has '{goal_of_each}' in each group: give --by, --one-threshold and --each."
        )
        raise click.UsageError(message)
    if other is not None:
        message = f"--like needs a policy of one threshold or of segments. See `cutpoints {other}`."
        raise click.UsageError(message)
    if goal["maximize"] is None and goal["minimize"] is None:
        if policy.objective is None:
            message = "The policy of --like has no goal: give --maximize or --minimize."
            raise click.UsageError(message)
        goal[policy.direction or "maximize"] = policy.objective
        goal["subject_to"] = goal["subject_to"] or policy.constraints
    known = {"score": policy.score}
    if columns["positives"] is None:
        name = policy.pos_label
        known |= {"label": policy.label, "pos_label": name if isinstance(name, str) else None}
    for column, name in known.items():
        columns[column] = columns[column] or name


def _assess(data: Data, solution: Solution, **asked: Any) -> Assessment:
    folds = min(5, int(min(solution.positives, solution.negatives)))
    with waiting("Assessing"):
        return cp.assess(data, **asked, cv=max(folds, 2), n_bootstrap=0)


def _expected(trust: Assessment) -> str:
    """Say what to expect, and the worst that is plausible."""
    text = f"about {value(trust.cross_validated)}, cross-validated"
    if trust.band is None:
        return text
    worst = "at least" if trust.solution.direction == "maximize" else "at most"
    return f"{text}; {worst} {value(trust.lower_bound)} with {percent(trust.confidence)} confidence"


def _are_probabilities(data: Data) -> bool:
    """Whether all scores are in [0, 1]."""
    summary = data.summary()
    return bool(summary.low >= 0 and summary.high <= 1)


def _theory(solution: Solution, *, probabilities: bool) -> Theory | None:
    """Return where calibrated probabilities would have the threshold; None where there is none."""
    if solution.threshold is None:
        return None
    theory = solution.theory
    if not probabilities or theory is None:
        message = (
            "--check-calibration needs scores in [0, 1], no constraints, and a goal that is a quotient of "
            "linear functions of the counts, such as f1, accuracy or a cost."
        )
        raise click.UsageError(message)
    return theory


def _print(solution: Solution, wanted: Goal, default: Confusion | None, extra: list[tuple[str, str]]) -> None:
    """Print a solution for people, beside the default of 0.5 if the scores may be probabilities."""
    assert solution.interval is not None
    assert solution.confusion is not None
    assert solution.value is not None
    low, high = solution.interval
    rows = [
        ("goal", str(wanted)),
        ("threshold", f"{solution.interval.shortest}   {solution.rule}"),
        ("value", count(solution.value)),
        ("interval", f"{interval_text(low, high)}   the same decisions for any threshold in it"),
        ("ties", _ties(solution)),
        ("proof", _proof(solution)),
        *([] if solution.guarantee is None else [("guarantee", solution.promise())]),
        *([] if solution.each is None else [("each", str(solution.each))]),
        *extra,
        ("data", rows_in_words(solution.rows, solution.positives, solution.negatives)),
    ]
    tables = beside(two_by_two(solution.confusion), _metrics(wanted, solution.confusion, default))
    show(pairs(rows), "", tables)


def _ties(solution: Solution) -> str:
    if not getattr(solution.ties, "complete", True):
        return "more cuts of equal value, with lower thresholds, than can be listed"
    if not solution.ties:
        return "none, every other cut is worse"
    shown = ", ".join(tie.interval.shortest for tie in solution.ties[:_TIES_SHOWN])
    more = ", ..." if len(solution.ties) > _TIES_SHOWN else ""
    return f"{count(len(solution.ties))} more of equal value, at {shown}{more}"


def _proof(solution: Solution) -> str:
    allowed = (
        "certified " if solution.guarantee else "allowed " if solution.constraints or solution.each else ""
    )
    better = "higher" if solution.direction == "maximize" else "lower"
    return f"no {allowed}cut has a {better} value ({solution.effort()})"


def _metrics(wanted: Goal, here: Confusion, default: Confusion | None) -> Any:
    """Return the goal, what constrains it and the usual metrics, here and at 0.5."""
    asked = wanted.expressions
    shown: dict[str, Any] = {str(one): one for one in asked}
    shown |= {name: name for name in KEY_METRICS if name not in shown}
    columns = {"here": here, **({} if default is None else {f"at {DEFAULT}": default})}
    rows = [
        [name, *(value(confusion.metric(metric)) for confusion in columns.values())]
        for name, metric in shown.items()
    ]
    return table(["", *columns], rows, left=1)

"""`cutpoints curve`: what every threshold does."""

from __future__ import annotations

import csv
import math
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import cutpoints as cp
from cutpoints._format import count, exact, json_number, percent, rows_in_words, shortest_inside, value
from cutpoints.cli._errors import in_shell
from cutpoints.cli._options import (
    Number,
    check_new_file,
    check_options,
    data_options,
    examples,
    force_option,
    json_option,
    plot_options,
    read,
    say_written,
)
from cutpoints.cli._output import (
    KEY_METRICS,
    fitting,
    pairs,
    print_columns,
    print_json,
    show,
    table,
    waiting,
)
from cutpoints.exceptions import CutpointError, DataWarning
from cutpoints.metrics.columns import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cutpoints._curve import Curve
    from cutpoints._evaluate import Evaluation
    from cutpoints._result import Solution

LIMIT = 20
DEFAULT_GOAL = "f1"
F1 = {"maximize": DEFAULT_GOAL}
FORMATS = ("png", "svg", "pdf")
_AMOUNT = "needs an amount to draw: --maximize 'profit(tp=10, fp=-1)' or --minimize 'cost(fp=2, fn=1)'."
# What a narrow terminal does without, first to last.
_SPARE = ("mcc", "accuracy", "tn", "fn", "specificity", "")


@click.command(
    epilog=examples(
        "cutpoints curve scores.csv --label y --score p",
        "cutpoints curve scores.csv --label y --score p --at 0.5 --at 0.3",
        "cutpoints curve scores.csv --label y --score p --csv > curve.csv",
        "cutpoints curve scores.csv --label y --score p \\",
        "    --plot roc,pr,threshold --maximize f1 -o plots",
        "cutpoints curve cards.csv --label fraud --score p --plot threshold \\",
        "    --minimize 'cost(fp=5, fn=amount)'",
    )
)
@data_options
@click.option(
    "--at",
    type=Number(),
    multiple=True,
    metavar="THRESHOLD",
    help="Show this threshold only, with the whole catalogue and 95 % intervals of the rates. "
    "May be given more than once.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=2),
    help="Show this many cuts, spread over the curve and closer around the best.  "
    "[default: 20; all with --csv and --json]",
)
@click.option("--all", "everything", is_flag=True, help="Show every cut.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with all columns.")
@click.option(
    "--plot",
    "plots",
    metavar="NAMES",
    multiple=True,
    help="Draw plots, separated by commas or by repeating the option: all, or some of roc, pr, threshold, "
    "scores, confusion, cost, decision, brier, det, gain, lift, ks, profit.",
)
@click.option("-o", "--output", metavar="FOLDER", default=".", help="Where to write plots.  [default: here]")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="png",
    show_default=True,
    help="Format of the plots.",
)
@click.option("--maximize", metavar="GOAL", help="Mark the best threshold for a goal.  [default: f1]")
@click.option("--minimize", metavar="GOAL", help="The same for a goal to minimize: 'cost(fp=2, fn=1)'.")
@plot_options
@force_option
@json_option
def curve(
    files: tuple[str, ...],
    *,
    at: tuple[float, ...],
    limit: int | None,
    everything: bool,
    as_csv: bool,
    plots: tuple[str, ...],
    output: str,
    form: str,
    maximize: str | None,
    minimize: str | None,
    look: dict[str, Any],
    as_json: bool,
    **columns: Any,
) -> None:
    """Show what every threshold does: confusion, precision, recall and more.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input. A row is called positive if its score is at least the
    threshold; at 'inf' no row is. Precision is undefined there, an empty cell.
    """
    check_options(
        (as_csv and as_json, "--csv and --json cannot both be given."),
        (everything and limit is not None, "--all and --limit cannot both be given."),
        (maximize is not None and minimize is not None, "--maximize and --minimize cannot both be given."),
    )
    if any(threshold != threshold for threshold in at):
        message = "nan is not a threshold."
        raise click.BadParameter(message, param_hint="'--at'")
    displays = _displays(plots)
    _check_folder(output)
    files_to_write = {name: str(Path(output) / f"{name}.{form}") for name in displays}
    for path in files_to_write.values():
        check_new_file(path, "-o", click.get_current_context())
    wanted = maximize or minimize
    with waiting("Counting"):
        found = cp.curve(read(files, **columns), metrics=wanted or ())
    point: dict[str, Any] = {"maximize": maximize, "minimize": minimize}
    if maximize is None and minimize is None and at:
        point["threshold"] = at[0]
    files_written = _draw(
        found,
        displays,
        files_to_write,
        model=columns["score"],
        point=point,
        look=look,
        everything=len(displays) > 1 and any("all" in one.lower() for one in plots),
    )
    best = None if at else _best(found, maximize, minimize)
    if at:
        shown = _at(found, at, () if wanted is None else (wanted,))
    else:
        if limit is None and not (everything or as_csv or as_json):
            limit = LIMIT
        shown = _spread(found, limit, best)
    if as_csv:
        _print_csv(shown)
        return
    facts = {
        "rows": found.rows,
        "positives": found.positives,
        "negatives": found.negatives,
        "auc": found.auc,
        "average_precision": found.average_precision,
        "cuts": len(found),
    }
    if as_json:
        points = zip(*shown.values(), strict=True)
        print_json(
            {name: json_number(value) for name, value in facts.items()}
            | {"points": [dict(zip(shown, map(json_number, p), strict=True)) for p in points]}
            | ({} if best is None else {"best": _best_in_json(best)})
            | ({"evaluations": [one.to_dict() for one in _evaluations(found, at)]} if at else {})
            | ({"files": files_written} if displays else {})
        )
        return
    _print(shown, facts, found, best, files_written)
    for one in _evaluations(found, at):
        _print_evaluation(one)


def _at(found: Curve, thresholds: Sequence[float], goal: Sequence[str]) -> dict[str, list[float]]:
    """Return columns of what these thresholds do."""
    shown: dict[str, list[float]] = {"threshold": list(thresholds)}
    confusions = [found.at(threshold).confusion for threshold in thresholds]
    for name in CELLS:
        shown[name] = [confusion.to_dict()[name] for confusion in confusions]
    for name in dict.fromkeys((*goal, *KEY_METRICS)):
        shown[name] = [confusion.metric(name) for confusion in confusions]
    return shown


def _evaluations(found: Curve, thresholds: Sequence[float]) -> list[Evaluation]:
    """Return the whole catalogue at each threshold, without warnings about accuracy: it is not the goal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return [cp.evaluate(found, threshold=threshold) for threshold in thresholds]


def _print_evaluation(one: Evaluation) -> None:
    """Print the catalogue at one threshold, and the intervals of the rates."""
    rows = []
    for name, x in one.metrics.items():
        low, high = one.intervals.get(name, (None, None))
        rows.append([name, value(x), "" if low is None or high is None else f"[{low:.4f}, {high:.4f}]"])
    rows.append(["accuracy of the larger class", value(one.baseline), ""])
    header = [f"at {exact(one.threshold)}", "value", f"{percent(one.confidence)} interval"]
    show("", table(header, rows, left=1))


def _check_folder(output: str) -> None:
    """Exit with 2 for the name of a plot where its folder is asked for: plots name themselves."""
    form = Path(output).suffix.lower().removeprefix(".")
    if form in FORMATS and not Path(output).is_dir():
        message = (
            f"must be a folder, got {output!r}: plots are called roc.{form} and so on. "
            f"Try -o {shlex.quote(str(Path(output).parent))} --format {form}."
        )
        raise click.BadParameter(message, param_hint="'-o'")


def _displays(plots: Sequence[str]) -> dict[str, str]:
    """Return the displays that were asked for, by name; exit with 2 for a name that there is not."""
    if not plots:
        return {}
    from cutpoints.plots import BY_NAME

    names = [name.strip().lower() for one in plots for name in one.split(",") if name.strip()]
    unknown = [name for name in names if name not in {"all", *BY_NAME}]
    if unknown or not names:
        import difflib

        near = difflib.get_close_matches(unknown[0], BY_NAME) if unknown else []
        hint = f" Did you mean {near[0]}?" if near else ""
        wrong = f"{unknown[0]!r} is not a plot." if unknown else "no plot is named."
        message = f"{wrong}{hint} Choose from all, {', '.join(BY_NAME)}."
        raise click.BadParameter(message, param_hint="'--plot'")
    return dict(BY_NAME) if "all" in names else {name: BY_NAME[name] for name in names}


def _draw(
    found: Curve,
    displays: Mapping[str, str],
    paths: Mapping[str, str],
    *,
    model: str,
    point: Mapping[str, Any],
    look: Mapping[str, Any],
    everything: bool,
) -> list[str]:
    """Write the plots with `point` marked, by default the best F1, as in the table.

    Of `everything`, what these scores or this goal do not allow is left out.
    """
    from cutpoints import plots

    given = any(x is not None for x in point.values())
    written = []
    for name, display in displays.items():
        if name == "profit" and point["maximize"] is None and point["minimize"] is None:
            if not everything:
                raise click.UsageError(f"--plot {name} {_AMOUNT}")
            click.echo(f"Left out {name}: it {_AMOUNT}", err=True)
            continue
        marked = F1 if found.positives and not given else point
        try:
            made = getattr(plots, display).of_curve(found, **marked)
        except CutpointError as error:
            if not everything:
                raise
            why = in_shell(error, click.get_current_context().find_root())
            click.echo(f"Left out {name}: {' '.join(why.split())}", err=True)
            continue
        made.name = model
        written.append(str(made.save(paths[name], **look)))
        say_written(written[-1])
    return written


def _best(found: Curve, maximize: str | None, minimize: str | None) -> Solution | None:
    """Return the best cut for the goal, F1 by default; None where that is undefined."""
    if maximize is not None or minimize is not None:
        return found.best(maximize=maximize, minimize=minimize)
    return found.best(maximize=DEFAULT_GOAL) if found.positives else None


def _in_words(best: Solution) -> str:
    assert best.value is not None
    assert best.interval is not None
    least = "lowest" if best.direction == "minimize" else "highest"
    return f"{least} {best.objective} {value(best.value)}, at threshold {best.interval.shortest}"


def _best_in_json(best: Solution) -> dict[str, Any]:
    return {"goal": str(best.goal()), "threshold": json_number(best.threshold), "value": best.value}


def _spread(found: Curve, limit: int | None, best: Solution | None) -> dict[str, list[float]]:
    """Return columns of all cuts, or of `limit` of them, the best one included."""
    goal = [] if best is None or best.objective in KEY_METRICS else [best.objective]
    columns = found.table([*goal, *KEY_METRICS])
    rows: Any = slice(None)
    if limit is not None:
        rows = found.spread(limit, around=None if best is None else best.threshold)
    return {name: column[rows].tolist() for name, column in columns.items()}


def _print_csv(shown: Mapping[str, Sequence[float]]) -> None:
    """Print CSV in full precision; undefined values are empty cells."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(shown)
    for point in zip(*shown.values(), strict=True):
        writer.writerow(["" if x != x else x for x in point])
    sys.stdout.flush()


def _print(
    shown: Mapping[str, Sequence[float]],
    facts: Mapping[str, float],
    found: Curve,
    best: Solution | None,
    written: Sequence[str] = (),
) -> None:
    """Print a table that is as wide as the terminal allows, and the areas below the curves."""
    write: dict[str, Callable[[float], str]] = dict.fromkeys(CELLS, count)
    write["threshold"] = exact
    if len(shown["threshold"]) and best is not None:
        thresholds = found.thresholds.tolist()
        below = dict(zip(thresholds, [*thresholds[1:], -math.inf], strict=True))
        write["threshold"] = lambda threshold: shortest_inside(below[threshold], threshold)
    columns = {name: [write.get(name, value)(x) for x in shown[name]] for name in shown}
    if best is not None:
        columns[""] = ["*" if x == best.threshold else "" for x in shown["threshold"]]
    print_columns(fitting(columns, _SPARE))
    points, cuts = len(shown["threshold"]), int(facts["cuts"])
    rows = [
        *([] if best is None else [("* best", _in_words(best))]),
        ("AUC", value(facts["auc"])),
        ("average precision", value(facts["average_precision"])),
        ("data", rows_in_words(facts["rows"], facts["positives"], facts["negatives"])),
        ("cuts", f"{count(cuts)}, {count(points)} shown" if points != cuts else count(cuts)),
    ]
    rows += [("plot", path) for path in written]
    show("", pairs(rows))

"""`cutpoints compare`: which model, at which threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

import cutpoints as cp
from cutpoints._format import count, p_value, short, value
from cutpoints.cli._options import (
    data_options_of_models,
    examples,
    force_option,
    goal_options,
    json_option,
    new_file,
    plot_options,
    random_state_option,
    read,
    say_written,
)
from cutpoints.cli._output import fitting, need_both_classes, pairs, print_json, searching, show, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cutpoints._compare import Comparison

# What a narrow terminal does without, first to last.
_SPARE = ("relative", "f1", "accuracy", "better by", "AUC interval", "precision", "recall")
_SPARE_TESTS = ("right alone", "AUC", "goal", "bootstrap")


@click.command(
    epilog=examples(
        "cutpoints compare scores.csv --label y --score m1 --score m2 \\",
        "    --minimize 'cost(fp=2, fn=1)'",
        "cutpoints compare scores.csv --label y --score m1 --score m2 \\",
        "    --maximize recall --subject-to 'precision >= 0.95' --json",
    )
)
@data_options_of_models
@goal_options
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence of the intervals.",
)
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    callback=new_file,
    help="Draw the models in ROC space: .png, .svg or .pdf.",
)
@plot_options
@force_option
@random_state_option("the paired bootstrap")
@json_option
def compare(
    files: tuple[str, ...],
    *,
    scores: tuple[str, ...],
    goal: dict[str, Any],
    confidence: float,
    random_state: int,
    plot: str | None,
    look: dict[str, Any],
    as_json: bool,
    **columns: Any,
) -> None:
    """Compare models on the same rows, each at its own best threshold.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input. It has one column of scores per model. The winner
    is tested against each other model: DeLong on the areas under the ROC curves, McNemar on the
    decisions, a paired bootstrap on the goal.
    """
    data = read(files, score=scores, **columns)
    with searching("Comparing"):
        found = cp.compare(data, confidence=confidence, random_state=random_state, **goal)
    counts = next((e.confusion for e in found.entries.values() if e.confusion is not None), None)
    if counts is not None:
        need_both_classes(counts.tp + counts.fn, counts.fp + counts.tn)
    drawn = None
    if plot is not None and found.winners:
        from cutpoints.plots import ComparisonDisplay

        made = ComparisonDisplay.of_comparison(found)
        drawn = str(made.save(plot, **look))
        say_written(drawn)
    if as_json:
        print_json(found.to_dict() | {"plot": drawn})
    found.raise_if_infeasible()
    if not as_json:
        _print(found, drawn)


def _print(found: Comparison, drawn: str | None) -> None:
    """Print the models, the tests, and who is best for which costs."""
    rows = found.facts()
    if drawn is not None:
        rows.append(("plot", drawn))
    spares = [name for name in _SPARE if name != str(found.goal.expression)]
    parts: list[Any] = [pairs(rows), "", _fitting(_columns(found), spares)]
    if found.tests:
        parts += ["", _tests(found)]
    parts += ["", _hull(found)] if found.delong is not None else []
    show(*parts)


def _fitting(columns: dict[str, list[str]], spares: Sequence[str]) -> Any:
    shown = fitting(columns, spares)
    return table(list(shown), zip(*shown.values(), strict=True), left=1)


def _columns(found: Comparison) -> dict[str, list[str]]:
    entries = list(found.entries.values())
    steps = found.improvements()
    columns = {
        "model": [("* " if e.name in found.winners else "  ") + e.name for e in entries],
        "threshold": ["-" if e.interval is None else e.interval.shortest for e in entries],
        str(found.goal.expression): ["infeasible" if e.value is None else value(e.value) for e in entries],
        "better by": [value(steps[e.name].absolute) for e in entries],
        "relative": [_percent(steps[e.name].relative) for e in entries],
    }
    for name in ("accuracy", "precision", "recall", "f1"):
        shown = ["-" if e.confusion is None else value(e.confusion.metric(name)) for e in entries]
        columns.setdefault(name, shown)
    columns["AUC"] = [value(e.auc) for e in entries]
    if found.delong is not None:
        columns["AUC interval"] = [
            "-" if e.auc_interval is None else f"[{value(e.auc_interval.low)}, {value(e.auc_interval.high)}]"
            for e in entries
        ]
    return columns


def _percent(share: float) -> str:
    return "-" if share != share else f"{100 * share:+.1f} %"


def _tests(found: Comparison) -> Any:
    """Return the winner against each other model."""
    rows = []
    for test in found.tests:
        boot = test.bootstrap
        rows.append(
            [
                f"{test.first} - {test.second}",
                value(boot.difference),
                f"[{value(boot.interval.low)}, {value(boot.interval.high)}]",
                value(test.auc_difference),
                "-" if test.auc_p_value is None else p_value(test.auc_p_value, name=""),
                f"{count(test.mcnemar.only_first)} : {count(test.mcnemar.only_second)}",
                p_value(test.mcnemar.p_value, name=""),
            ]
        )
    header = ["pair", "goal", "bootstrap", "AUC", "DeLong p", "right alone", "McNemar p"]
    return _fitting({name: [row[i] for row in rows] for i, name in enumerate(header)}, _SPARE_TESTS)


def _hull(found: Comparison) -> Any:
    """Return which model is best for each range of the ratio of costs."""
    hull = found.hull
    stretches: list[list[Any]] = []
    for owners, low, high in zip(hull.models, hull.low, hull.high, strict=True):
        if low == high:
            continue
        if stretches and stretches[-1][0] == owners:
            stretches[-1][1] = low
        else:
            stretches.append([owners, low, high])
    rows = [[" = ".join(owners), _range(float(low), float(high))] for owners, low, high in stretches]
    return table(["best model", "if a false alarm costs, in misses"], rows, left=2)


def _range(low: float, high: float) -> str:
    """Say a range of costs that has no lower end, no upper end, or both."""
    if high == math.inf:
        return "anything" if low == 0 else f"more than {short(low)}"
    return f"less than {short(high)}" if low == 0 else f"{short(low)} to {short(high)}"

"""`cutpoints evaluate`: how good decisions are, at a threshold or of several classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import cutpoints as cp
from cutpoints._format import count, exact, percent, rows_in_words, value
from cutpoints.cli._options import (
    Number,
    check_options,
    data_options_with_like,
    examples,
    json_option,
    read,
)
from cutpoints.cli._output import beside, pairs, print_json, show, table, two_by_two, waiting

if TYPE_CHECKING:
    from cutpoints._evaluate import ClassEvaluation, Evaluation


@click.command(
    epilog=examples(
        "cutpoints evaluate scores.csv --label y --score p --threshold 0.5",
        "cutpoints evaluate animals.csv --label animal --classes predicted",
        "cutpoints evaluate animals.csv --label animal --classes cat=p_cat \\",
        "    --classes dog=p_dog --classes owl=p_owl --top-k 2",
    )
)
@data_options_with_like
@click.option("--threshold", type=Number(), help="Positive if the score is at least this; with --score.")
@click.option(
    "--classes",
    metavar="COLUMN",
    multiple=True,
    help="For any number of classes. Once: the column of the predicted classes. Several times: the scores of "
    "each class, as NAME=COLUMN, or COLUMN if it has the name of the class.",
)
@click.option(
    "--top-k",
    metavar="NUMBER",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="With scores per class: right if the true class is among the k highest.",
)
@json_option
def evaluate(
    files: tuple[str, ...],
    *,
    threshold: float | None,
    classes: tuple[str, ...],
    top_k: int,
    as_json: bool,
    **columns: Any,
) -> None:
    """Evaluate decisions: scores at a threshold, or predictions of several classes.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input.
    """
    check_options(
        (
            bool(classes) == (columns["score"] is not None),
            "Give --score and --threshold for two classes, or --classes for any number of them.",
        ),
        (
            not classes and threshold is None,
            "Missing option '--threshold', for example --threshold 0.5.",
        ),
        (classes and threshold is not None, "--threshold cannot be combined with --classes."),
        (classes and columns["positives"] is not None, "--positives cannot be combined with --classes."),
        (classes and columns["pos_label"] is not None, "--pos-label cannot be combined with --classes."),
        (classes and columns["lower_is_positive"], "--lower-is-positive cannot be combined with --classes."),
    )
    found: Evaluation | ClassEvaluation
    if threshold is not None:
        data = read(files, **columns)
        with waiting("Counting"):
            found = cp.evaluate(data, threshold=threshold)
        if not as_json:
            _print(found)
    else:
        found = _classes(files, classes, columns, top_k=top_k)
        if not as_json:
            _print_classes(found)
    if as_json:
        print_json(found.to_dict())


def _classes(
    files: tuple[str, ...],
    classes: tuple[str, ...],
    columns: dict[str, Any],
    *,
    top_k: int,
) -> ClassEvaluation:
    """Evaluate predicted classes, or scores of each class."""
    if len(classes) == 1:
        return cp.evaluate_classes(read(files, **columns), predicted=classes[0])
    named = [one.rpartition("=") for one in classes]
    columns["score"] = tuple(column for _, _, column in named)
    labels = [name or column for name, _, column in named]
    if len(set(labels)) < len(labels) or len(set(columns["score"])) < len(labels):
        message = "must name another class and another column each time."
        raise click.BadParameter(message, param_hint="'--classes'")
    data = read(files, **columns)
    return cp.evaluate_classes(data, labels=labels, top_k=top_k)


def _print(found: Evaluation) -> None:
    c = found.confusion
    rows = [
        ("threshold", f"{exact(found.threshold)}   positive if score >= threshold"),
        ("baseline", f"{value(found.baseline)}   accuracy of always naming the larger class"),
        ("AUC", value(found.auc)),
        ("average precision", value(found.average_precision)),
        ("data", rows_in_words(sum(c.to_dict().values()), c.tp + c.fn, c.fp + c.tn)),
    ]
    metrics = table(
        ["", "value", f"{percent(found.confidence)} interval"],
        [
            [name, value(x), " to ".join(map(value, found.intervals.get(name, ())))]
            for name, x in found.metrics.items()
        ],
        left=1,
    )
    show(pairs(rows), "", beside(two_by_two(c), metrics))


def _print_classes(found: ClassEvaluation) -> None:
    names = [str(one) for one in found.labels]
    rows = [
        ("accuracy", value(found.accuracy)),
        ("baseline", f"{value(found.baseline)}   accuracy of always naming the largest class"),
        ("balanced accuracy", value(found.balanced_accuracy)),
        ("MCC", value(found.mcc)),
        ("kappa", value(found.kappa)),
    ]
    if found.top_k_accuracy == found.top_k_accuracy:
        rows.append((f"top-{found.top_k} accuracy", value(found.top_k_accuracy)))
    if found.log_loss == found.log_loss:
        rows.append(("log-loss", value(found.log_loss)))
    matrix = table(
        ["true \\ predicted", *names],
        [
            [name, *(count(x) for x in line.tolist())]
            for name, line in zip(names, found.confusion_matrix, strict=True)
        ],
        left=1,
    )
    each = table(
        ["", "precision", "recall", "f1", "rows"],
        [
            [name, *(value(one[key]) for key in ("precision", "recall", "f1")), count(one["support"])]
            for name, one in zip(names, found.per_class.values(), strict=True)
        ]
        + [
            [f"{name} average", *(value(one[key]) for key in ("precision", "recall", "f1")), ""]
            for name, one in found.averages.items()
        ],
        left=1,
    )
    show(pairs(rows), "", matrix, "", each)

"""`cutpoints calibration`: whether probabilities can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

import cutpoints as cp
from cutpoints._format import count, p_value, percent, short, value
from cutpoints.cli._options import (
    examples,
    files_argument,
    force_option,
    json_option,
    needed_label_option,
    new_file,
    plot_options,
    pos_label_option,
    read,
    rows_options,
    say_written,
    score_option,
)
from cutpoints.cli._output import pairs, print_json, show, table, waiting
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from cutpoints import Data
    from cutpoints._calibration import Calibration
    from cutpoints._theory import Theory


@click.command(
    epilog=examples(
        "cutpoints calibration scores.csv --label y --score p",
        "cutpoints calibration scores.csv --label y --score p --json",
        "cutpoints calibration scores.csv --label y --score p --strategy isotonic",
        "cutpoints calibration scores.csv --label y --score p --plot reliability.png",
    )
)
@files_argument
@needed_label_option
@score_option("Column of the probabilities.")
@pos_label_option
@rows_options
@click.option(
    "--strategy",
    type=click.Choice(["uniform", "quantile", "isotonic"]),
    default="uniform",
    show_default=True,
    help="Bins of equal width, of equally many rows, or of isotonic regression.",
)
@click.option("--n-bins", type=click.IntRange(min=1), default=10, show_default=True, help="How many bins.")
@click.option(
    "--maximize",
    metavar="GOAL",
    default="f1",
    show_default=True,
    help="The goal whose best threshold on the labels is compared with the theory's.",
)
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    callback=new_file,
    help="Draw the reliability of the probabilities: .png, .svg or .pdf.",
)
@plot_options
@force_option
@json_option
def calibration(
    files: tuple[str, ...],
    *,
    label: str,
    score: str,
    pos_label: str | None,
    strategy: Literal["uniform", "quantile", "isotonic"],
    n_bins: int,
    maximize: str,
    plot: str | None,
    look: dict[str, Any],
    as_json: bool,
    **rows: str | None,
) -> None:
    """Check whether probabilities are calibrated, on rows with labels.

    FILE is CSV, Parquet, JSON lines or Arrow, a folder, a quoted pattern such as
    'scores/**/*.parquet', or - for standard input. Use rows that the classifier has not seen. A p-value
    that is not small is no proof of calibration.
    """
    data = read(files, label=label, score=score, pos_label=pos_label, **rows)
    with waiting("Measuring"):
        found = cp.calibration(data, strategy=strategy, n_bins=n_bins)
        theory = _theory(data, maximize)
    if plot is not None:
        from cutpoints.plots import ReliabilityDisplay

        say_written(ReliabilityDisplay(found.curve, score).save(plot, **look))
    if as_json:
        print_json(found.to_dict() | {"theory": theory.to_dict()})
        return
    _print(found, theory.sentence)


def _theory(data: Data, maximize: str) -> Theory:
    """Return where calibrated probabilities would have the threshold."""
    best = cp.find(data, maximize=maximize)
    if best.theory is None:
        raise InvalidInputError.no_theory(objective=best.objective)
    return best.theory


def _print(found: Calibration, sentence: str) -> None:
    curve = found.curve
    rows = [
        ("data", f"{count(found.rows)} rows, {percent(found.prevalence)} positive"),
        ("mean p", f"{short(found.mean_probability)}"),
        (
            "Brier score",
            (
                f"{short(found.brier)} = {short(found.miscalibration)} miscalibration "
                f"- {short(found.discrimination)} discrimination + {short(found.uncertainty)} uncertainty"
            ),
        ),
        ("log loss", f"{short(found.log_loss)}"),
        ("ECE", f"{short(found.ece)}   in {curve.bins}"),
        ("slope", f"{short(found.slope)}, intercept {short(found.intercept)}   calibrated: 1 and 0"),
        ("Spiegelhalter", f"z = {short(found.spiegelhalter_z)}, {p_value(found.spiegelhalter_p)}"),
        ("Cox", f"chi2 = {short(found.cox_chi2)}, {p_value(found.cox_p)}   slope 1 and intercept 0"),
        ("verdict", found.verdict),
        ("threshold", sentence),
    ]
    header = ["from", "to", "rows", "predicted", "observed"]
    columns = zip(curve.low, curve.high, curve.count, curve.predicted, curve.observed, strict=True)
    bins = [[value(a), value(b), count(n), value(p), value(o)] for a, b, n, p, o in columns]
    show(pairs(rows), "", table(header, bins))

"""Options that several commands share, and what becomes of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import cutpoints as cp
from cutpoints._atomic import check_local
from cutpoints._format import short
from cutpoints._wording import joined
from cutpoints.cli._errors import name_files

if TYPE_CHECKING:
    from cutpoints import Data
    from cutpoints._shown import Deployable

_LEAST_INCHES, _MOST_INCHES = 1, 100
FORCE = "cutpoints.force"
F = TypeVar("F", bound=Callable[..., Any])
Command = Callable[..., Any]

force_option = click.option(
    "--force",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=lambda context, _option, given: context.meta.update({FORCE: given}),
    help="Overwrite files that exist.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")


def examples(*lines: str) -> str:
    """Return the end of a help text; click leaves its lines as they are."""
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {x}" for x in lines)])


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return several options as one decorator; the help has them in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def check_options(*rules: tuple[object, str]) -> None:
    """Exit with 2 and the first message whose condition is true."""
    for wrong, message in rules:
        if wrong:
            raise click.UsageError(message)


def _gathered(
    argument: str, names: tuple[str, ...], *options: Callable[[Any], Any]
) -> Callable[[Command], Command]:
    """Return several options as one decorator; the command gets their values as one dictionary."""

    def add(command: Command) -> Command:
        @wraps(command)
        def with_dictionary(*args: Any, **given: Any) -> Any:
            values = {name: given.pop(name) for name in names}
            return command(*args, **given, **{argument: values})

        return together(*options)(with_dictionary)

    return add


class Number(click.ParamType):  # type: ignore[type-arg] # older versions of click have none
    """A number, or one of a few words; whether the number makes sense the library says."""

    name = "number"

    def __init__(self, *words: str, number: Callable[[str], float] = float, called: str = "a number") -> None:
        self.words, self.number, self.called = words, number, called

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Read one or the other."""
        if value in self.words:
            return str(value)
        try:
            return self.number(value)
        except ValueError:
            wanted = joined([self.called, *map(repr, self.words)], "nor")
            message = f"{value!r} is {'neither' if self.words else 'not'} {wanted}."
            if re.fullmatch(r"\d+(\.\d+)? ?%", value):
                message += f"\n\nHint: for {value} write {short(float(value.rstrip(' %')) / 100)}."
            self.fail(message, param, ctx)


def new_file(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Take a file to write; exit with 2 if there is one of this name already, unless --force is given."""
    if path is not None and path != "-":
        check_new_file(path, option.opts[0], context)
    return path


def check_new_file(path: str, option: str, context: click.Context) -> None:
    """Exit with 2 if there is a file of this name already, unless --force is given."""
    check_local(path)
    if Path(path).is_file() and not context.meta.get(FORCE):
        message = f"'{path}' exists already. Choose another name, or overwrite it with --force."
        raise click.BadParameter(message, param_hint=f"'{option}'")


def _one(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> str | None:
    """Return the only name; of two, click would take the second one without a word."""
    if len(names) > 1:
        message = (
            f"`{context.command_path}` takes one column of scores. "
            "`cutpoints compare` and `cutpoints report` take several."
        )
        raise click.BadParameter(message, param=option)
    return names[0] if names else None


def _different(_context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        message = "each must name a different column."
        raise click.BadParameter(message, param=option)
    return names


def score_option(text: str = "Column of the scores.", *, required: bool = True) -> Callable[[F], F]:
    """Return the option of the one column of scores, or of probabilities."""
    return click.option(
        "--score", metavar="COLUMN", required=required, multiple=True, callback=_one, help=text
    )


policy_score_option = score_option("Column of the scores; by default as the policy says.", required=False)
scores_option = click.option(
    "--score",
    "scores",
    metavar="COLUMN",
    required=True,
    multiple=True,
    callback=_different,
    help="Column of the scores. Once for each model.",
)
files_argument = click.argument("files", nargs=-1, required=True, metavar="FILE...")
label_option = click.option("--label", metavar="COLUMN", help="Column of the labels: 0/1 or any two.")
needed_label_option = click.option(
    "--label", metavar="COLUMN", required=True, help="Column of the labels: 0/1 or any two."
)
weight_option = click.option("--weight", metavar="COLUMN", help="Column of weights, if there are any.")
counts_options = together(
    click.option("--positives", metavar="COLUMN", help="Positives per row, instead of labels."),
    click.option("--negatives", metavar="COLUMN", help="Negatives per row, with --positives."),
)
pos_label_option = click.option("--pos-label", metavar="LABEL", help="The positive label; 1 by default.")
lower_option = click.option(
    "--lower-is-positive", is_flag=True, help="Low scores mean positive: search on -score."
)
memory_option = click.option("--memory-limit", metavar="SIZE", help="Memory for DuckDB, such as 2GB.")
rows_options = together(
    click.option("--where", metavar="CONDITION", help="Only these rows: \"month = '2026-10'\"."),
    click.option("--sql", metavar="SELECT", help="A query over the files, as the table data."),
    memory_option,
)


def _data_options(score: Callable[[Any], Any], *, counts: bool = True) -> Callable[[F], F]:
    """Return the files and the names of their columns; `read` takes them."""
    return together(
        files_argument,
        label_option if counts else needed_label_option,
        score,
        weight_option,
        *([counts_options] if counts else []),
        pos_label_option,
        lower_option,
        rows_options,
    )


data_options = _data_options(score_option())
data_options_with_like = _data_options(score_option(required=False))
"""The same where a policy may name the column."""
data_options_of_cases = _data_options(score_option(), counts=False)
"""The same where each row must be one case."""
data_options_of_models = _data_options(scores_option, counts=False)
"""The same with a column of scores for each model."""


def random_state_option(text: str) -> Callable[[F], F]:
    """Return the option of the random seed; `text` says what is drawn."""
    return click.option(
        "--random-state",
        metavar="SEED",
        type=int,
        default=0,
        show_default=True,
        help=f"Random seed for {text}, mixed with a digest of the data.",
    )


def _inches(_context: click.Context, option: click.Parameter, text: str | None) -> tuple[float, float] | None:
    """Read a width and a height, such as 7x5."""
    if text is None:
        return None
    try:
        width, height = (float(part) for part in text.lower().split("x"))
    except ValueError:
        width = height = 0.0
    if not (_LEAST_INCHES <= width <= _MOST_INCHES and _LEAST_INCHES <= height <= _MOST_INCHES):
        message = f"{text!r} is not a width and a height in inches, such as 7x5."
        raise click.BadParameter(message, param=option)
    return width, height


plot_options = _gathered(
    "look",
    ("title", "dpi", "size"),
    click.option("--title", metavar="TEXT", help="Title of the plots."),
    click.option(
        "--dpi", type=click.IntRange(20, 1200), default=150, show_default=True, help="Dots per inch of PNG."
    ),
    click.option("--size", metavar="WxH", callback=_inches, help="Width and height in inches, such as 7x5."),
)
"""How plots look, as their `save` takes it."""


def say_written(path: object) -> None:
    """Say on standard error that a file was written."""
    click.echo(f"Wrote {path}.", err=True)


open_goal_options = _gathered(
    "goal",
    ("maximize", "minimize", "subject_to"),
    click.option("--maximize", metavar="GOAL", help="What to maximize: f1, 0.7*accuracy + 0.3*recall."),
    click.option("--minimize", metavar="GOAL", help="What to minimize: error_rate, 'cost(fp=2, fn=1)'."),
    click.option(
        "--subject-to",
        metavar="CONSTRAINT",
        multiple=True,
        help="What must hold: 'precision >= 0.95'. May be given more than once.",
    ),
)
"""What to maximize or minimize, and what must hold; where a policy may say it."""


def goal_options(command: Command) -> Command:
    """Add the same where it must be given."""

    @wraps(command)
    def with_goal(*args: Any, goal: dict[str, Any], **given: Any) -> Any:
        need_goal(goal["maximize"], goal["minimize"])
        return command(*args, goal=goal, **given)

    return open_goal_options(with_goal)


def need_goal(maximize: str | None, minimize: str | None) -> None:
    """Exit with 2 unless exactly one of the two was given."""
    check_options(
        (
            maximize is None and minimize is None,
            "Missing option '--maximize' or '--minimize', for example --maximize f1.",
        ),
        (
            maximize is not None and minimize is not None,
            "--maximize and --minimize cannot both be given.",
        ),
    )


def policy_option(what: str) -> Callable[[F], F]:
    """Return the option of the policy to write; `what` it decides by."""
    return click.option(
        "--policy",
        "policy_file",
        metavar="FILE",
        callback=new_file,
        help=f"Also write {what} as a policy, for `cutpoints apply` and `cutpoints check`.",
    )


def save_policy(found: Deployable, path: str, **fields: Any) -> None:
    """Write what was found as a policy."""
    found.policy(**fields).save(path)
    say_written(path)


def read(files: tuple[str, ...], *, score: str | tuple[str, ...] | None = None, **columns: Any) -> Data:
    """Name the columns that the options name; exit with 2 for options that cannot be combined.

    Nothing is read yet: the goal is parsed before the data are read.
    """
    if "positives" in columns:
        _check_labels(**columns)
    name_files(files, filtered=any(columns.get(name) for name in ("where", "sql")))
    return cp.read(list(files), score=list(score) if isinstance(score, tuple) else score, **columns)


def _check_labels(
    *,
    label: str | None,
    weight: str | None,
    positives: str | None,
    negatives: str | None,
    pos_label: str | None,
    **_: Any,
) -> None:
    """Exit with 2 unless there are labels, or counts in their place."""
    counted = positives is not None or negatives is not None
    beside = {"--label": label, "--weight": weight, "--pos-label": pos_label}
    check_options(
        (
            label is None and positives is None,
            "Missing option '--label' (or '--positives' and '--negatives').",
        ),
        *(
            (counted and value is not None, f"{option} cannot be combined with --positives and --negatives.")
            for option, value in beside.items()
        ),
        (
            counted and (positives is None or negatives is None),
            "--positives and --negatives must be given together.",
        ),
    )

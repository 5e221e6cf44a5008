"""The command line: one file per command, and no mathematics in any of them.

A command reads its options, calls the library and prints. Results go to standard output, all else
to standard error. Exit codes: 0 found, 1 bad data or a goal that cannot be read, 2 bad options,
3 no threshold meets the constraints, 4 a policy that calls for attention (`check`), 5 too few rows to
tell (`check`), 130 interrupted.
"""

from __future__ import annotations

import errno
import warnings
from functools import partial
from typing import Any

import click

from cutpoints._version import __version__
from cutpoints.cli._errors import in_shell
from cutpoints.cli._options import examples
from cutpoints.cli.apply import apply
from cutpoints.cli.assess import assess
from cutpoints.cli.band import band
from cutpoints.cli.calibration import calibration
from cutpoints.cli.check import check
from cutpoints.cli.compare import compare
from cutpoints.cli.curve import curve
from cutpoints.cli.demo import demo
from cutpoints.cli.evaluate import evaluate
from cutpoints.cli.expected import expected
from cutpoints.cli.find import find
from cutpoints.cli.ilp import ilp
from cutpoints.cli.labels import labels
from cutpoints.cli.metrics import metrics
from cutpoints.cli.ordinal import ordinal
from cutpoints.cli.policy import policy
from cutpoints.cli.report import report
from cutpoints.cli.version import version
from cutpoints.exceptions import CutpointError, DataWarning, InfeasibleError

INTERRUPTED = 130
_NAME_WIDTH = 11
"""Of the longest command: all groups are aligned."""


class _Failure(click.ClickException):
    """An error of the library as the command line shows it."""

    exit_code = 1


class _Infeasible(_Failure):
    """No threshold meets the constraints."""

    exit_code = 3


class _Commands(click.Group):
    """Turns the exceptions of the library into messages: bad input never ends in a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", DataWarning)
                warnings.showwarning = partial(_show_warning, ctx, set())
                return super().invoke(ctx)
        except InfeasibleError as error:
            raise _Infeasible(in_shell(error, ctx)) from error
        except CutpointError as error:
            raise _Failure(in_shell(error, ctx)) from error
        except OSError as error:  # a full disk, say
            if error.errno == errno.EPIPE:
                raise  # click exits silently when the reader has closed the pipe
            raise _Failure(str(error)) from error
        except KeyboardInterrupt:
            click.echo("\nInterrupted.", err=True)
            ctx.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by task; a line that is too long is wrapped, and never cut."""
        for task, commands in _GROUPS.items():
            with formatter.section(task):
                rows = [(str(one.name), one.get_short_help_str(limit=200)) for one in commands]
                formatter.write_dl([(f"{name:<{_NAME_WIDTH}}", text) for name, text in rows])


def _show_warning(
    ctx: click.Context, shown: set[str], message: Warning | str, *_place: Any, **_more: Any
) -> None:
    """Print a warning on standard error, once, in a line."""
    text = in_shell(message, ctx) if isinstance(message, DataWarning) else str(message)
    if text not in shown:
        shown.add(text)
        click.echo(f"Warning: {' '.join(text.split())}", err=True)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "cutpoints demo",
        "cutpoints find scores.csv --label y --score p --maximize f1",
        "cutpoints COMMAND --help",
    ),
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Find the decision threshold of a classifier that is best for a goal, and prove it."""


_GROUPS = {
    "Find a threshold": (find, band, labels, ordinal, expected, ilp),
    "Look at it": (curve, evaluate, report),
    "Trust it": (assess, compare, calibration),
    "Deploy it": (policy, apply, check),
    "Learn": (demo, metrics, version),
}
for _command in (one for _group in _GROUPS.values() for one in _group):
    main.add_command(_command)

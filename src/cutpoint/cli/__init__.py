"""The command line: one file per command, and no mathematics in any of them.

A command reads its options, calls the library and prints. Results go to standard output, all else
to standard error. Exit codes: 0 found, 1 bad data or a goal that cannot be read, 2 bad options,
3 no threshold meets the constraints, 130 interrupted.
"""

from __future__ import annotations

from typing import Any

import click

from cutpoint._errors import CutpointError, InfeasibleError
from cutpoint._version import __version__
from cutpoint.cli._messages import in_options
from cutpoint.cli.curve import curve
#from cutpoint.cli.demo import demo
from cutpoint.cli.find import find
from cutpoint.cli.metrics import metrics
from cutpoint.cli.version import version

INTERRUPTED = 130


class _Failure(click.ClickException):
    """An error of the library as the command line shows it."""

    def __init__(self, error: CutpointError) -> None:
        super().__init__(in_options(str(error)))
        self.exit_code = 3 if isinstance(error, InfeasibleError) else 1


class _Commands(click.Group):
    """Turns the exceptions of the library into messages: bad input never ends in a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CutpointError as error:
            raise _Failure(error) from error
        except KeyboardInterrupt:
            click.echo("\nInterrupted.", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Find the decision threshold of a classifier that is best for a goal, and prove it.

    \b
    Examples:
      cutpoint demo
      cutpoint find scores.csv --label y --score p --maximize f1
      cutpoint COMMAND --help
    """


for _command in (find, curve, metrics, version):
    main.add_command(_command)

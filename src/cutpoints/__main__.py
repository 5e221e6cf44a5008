"""`cutpoints`, and `python -m cutpoints`: the command line."""

import os
import sys

INTERRUPTED = 130
"""As `cutpoints.cli` says it, which may not be loaded yet."""


def run() -> None:
    """Run a command; Ctrl-C while the program is still being loaded is no traceback either."""
    try:
        from cutpoints.cli import main

        main(prog_name="cutpoints")
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
    # At once: what was begun has been undone by now, and threads of a solver that was told to stop would
    # end the process in their own way while the interpreter is being taken down.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    run()

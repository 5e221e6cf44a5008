"""`cutpoint`, and `python -m cutpoint`: the command line."""

import sys


def run() -> None:
    """Run a command; Ctrl-C while the program is still being loaded is no traceback either."""
    try:
        from cutpoint.cli import main
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        sys.exit(130)  # as `cutpoint.cli` does later on
    main(prog_name="cutpoint")


if __name__ == "__main__":
    run()

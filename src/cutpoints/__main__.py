"""`cutpoints`, and `python -m cutpoints`: the command line."""

from __future__ import annotations

import gc
import os
import signal
import sys
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
"""As `cutpoints.cli` says it, which may not be loaded yet."""
_received: list[int] = []
_AGAIN = getattr(signal, "SIGALRM", None)
_A_MOMENT = 0.02
"""Seconds until a signal that came at a bad moment is taken up again."""


def run() -> None:
    """Run a command; Ctrl-C while the program is still being loaded is no traceback either.

    A request to end (SIGTERM, SIGHUP) is taken as Ctrl-C, so that no temporary file is left; the process
    then ends by that signal, as whoever sent it expects.
    """
    try:
        _undo_before_the_end()
        _command()
    except SystemExit as end:
        if end.code != INTERRUPTED and not (end.code and _received):
            raise
    except BaseException as error:
        # Packages turn an interrupt into errors of their own.
        if not isinstance(error, KeyboardInterrupt) and not _received:
            raise
        with suppress(OSError):
            sys.stderr.write("\nInterrupted.\n")
    gc.collect()  # objects of the command remove their temporary folders
    weakref.finalize._exitfunc()  # type: ignore[attr-defined] # noqa: SLF001 - those still in use, as at a usual end
    # At once: what was begun has been undone by now, and threads of a solver that was told to stop would
    # end the process in their own way while the interpreter is being taken down.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # a terminal that is gone
            stream.flush()
    for number in set(_received) - {signal.SIGINT}:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(INTERRUPTED)


def _command() -> None:
    from cutpoints.cli import main

    main(prog_name="cutpoints")


def _undo_before_the_end() -> None:
    """Have SIGTERM and SIGHUP raise as Ctrl-C does, unless they are ignored, as under nohup."""

    def end(number: int, frame: FrameType | None) -> None:
        if number != _AGAIN:
            _received.append(number)
            if number != signal.SIGINT and len(_received) > 1:
                return  # a second one must not stop what the first began
        if _AGAIN is not None and _must_finish(frame):
            signal.setitimer(signal.ITIMER_REAL, _A_MOMENT)
            return
        raise KeyboardInterrupt

    usual = (signal.SIG_DFL, signal.default_int_handler)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) in usual:
            signal.signal(number, end)


def _must_finish(frame: FrameType | None) -> bool:
    """Whether a module is being loaded, a temporary file is being made, or the command is over.

    Extensions that are interrupted then may abort the process, `tempfile` would leave its file behind, and
    what the command left to be removed would stay.
    """
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        if frame.f_globals.get("__name__") == "tempfile":
            return True
        if frame.f_code is _command.__code__:
            return False
        frame = frame.f_back
    return True


if __name__ == "__main__":
    run()

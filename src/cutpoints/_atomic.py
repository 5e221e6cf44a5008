"""Write a file whole or not at all: beside it first, then in its place in one step."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replaced(path: str | os.PathLike[str], *, folders: bool = False) -> Iterator[Path]:
    """Yield a path in the same folder; what is written there takes the place of `path` at the end.

    If the block raises, or the disk is full, the old file stays as it was and nothing else is left.
    With `folders`, those on the way that are missing are made.
    """
    shown = os.fspath(path)
    # A link stays a link: what it points to is replaced.
    goal = Path(os.path.realpath(shown))
    if goal.is_dir():
        raise InvalidInputError.unwritable(path=shown, reason="It is a directory")
    # A rename would put a file in the place of /dev/null, for all who use it.
    if goal.exists() and not goal.is_file():
        raise InvalidInputError.unwritable(path=shown, reason="It is a device or a pipe, not a file")
    if not folders and not goal.parent.exists():
        raise InvalidInputError.no_folder(path=shown, folder=os.path.dirname(shown) or ".")  # noqa: PTH120
    # The ending stays, for writers that go by it.
    beside = goal.with_name(f".{goal.stem[:100]}-{secrets.token_hex(8)}.tmp{goal.suffix}")
    try:
        if folders:
            goal.parent.mkdir(parents=True, exist_ok=True)
        beside.touch(exist_ok=False)
        if goal.exists():
            beside.chmod(goal.stat().st_mode & 0o777)
        yield beside
        _flushed(beside)
        beside.replace(goal)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InvalidInputError.unwritable(path=shown, reason=error.strerror or str(error)) from error
        raise


def _flushed(path: Path) -> None:
    """Have the system put the bytes on the disk before the name points to them."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())

"""Write a file whole or not at all: beside it first, then in its place in one step.

A process that is killed at once (SIGKILL) cannot remove its temporary files. Their names say which process
made them, and the next one of the same user that writes to the same folder removes those of processes that
are gone. Where the system does not tell (no /proc, another machine, an earlier start of this one), they stay.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPORARY = re.compile(r"\.?cutpoints-(?P<system>[0-9a-f]{16})-(?P<process>\d+)-(?P<started>\d+)-.+")


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""How an address begins, such as s3://; a drive of Windows has one letter."""


def check_local(path: str | os.PathLike[str]) -> None:
    """Raise if a file is to be written elsewhere: a folder called 's3:' helps nobody."""
    if _SCHEME.match(os.fspath(path)):
        raise InvalidInputError.not_local(path=os.fspath(path))


@contextmanager
def replaced(path: str | os.PathLike[str], *, folders: bool = False) -> Iterator[Path]:
    """Yield a path in the same folder; what is written there takes the place of `path` at the end.

    If the block raises, or the disk is full, the old file stays as it was and nothing else is left.
    With `folders`, those on the way that are missing are made.
    """
    shown = os.fspath(path)
    check_local(shown)
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
    beside = goal.with_name(f".{_prefix()}{secrets.token_hex(4)}.tmp{goal.suffix}")
    try:
        if folders:
            goal.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(goal.parent)
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


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for what is not to stay."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    return tempfile.TemporaryDirectory(prefix=_prefix(), ignore_cleanup_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove the temporary files and folders of processes that are certainly gone."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            made = _TEMPORARY.fullmatch(entry.name)
            if made is None or made["system"] != _system():
                continue
            with suppress(OSError):
                # Processes of other users may be hidden.
                own = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
                if own and _started(made["process"]) != made["started"]:
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        Path(entry.path).unlink()


def _prefix() -> str:
    """Begin a name that tells this process from all others: a process id alone is used again."""
    system = _system()
    process = os.getpid()
    return f"cutpoints-{system}-{process}-{_started(process)}-" if system else "cutpoints-"


def _system() -> str | None:
    """Tell among which processes ids are unique: of this machine, since its start, in this container."""
    from hashlib import blake2b

    try:
        if str(Path("/proc/self").readlink()) != str(os.getpid()):  # it is of another container
            return None
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        processes = Path("/proc/self/ns/pid").readlink()
    except OSError:
        return None
    return blake2b(f"{os.uname().nodename} {boot} {processes}".encode(), digest_size=8).hexdigest()


def _started(process: int | str) -> str | None:
    """Return when a process began, in ticks since the start of the machine; None if there is none."""
    try:
        # The second field is the name of the program, which may have any characters in it.
        return Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    except (FileNotFoundError, ProcessLookupError):
        return None


def _flushed(path: Path) -> None:
    """Have the system put the bytes on the disk before the name points to them."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())

"""What users write for their files -> files on disk."""

from __future__ import annotations

import difflib
import errno
import glob
import io
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from cutpoints._data import file_errors
from cutpoints._data.formats import ENDINGS, File
from cutpoints._wording import file_words
from cutpoints.exceptions import InvalidInputError

STANDARD_INPUT = "-"
_HIDDEN = (".", "_")

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def on_disk(path: Paths, folder: str) -> list[File]:
    """Return the files; what comes through a pipe is put into the folder."""
    files: list[File] = []
    known: dict[str, str] = {}
    named = [os.fspath(one) for one in ([path] if isinstance(path, str | os.PathLike) else path)]
    if named.count(STANDARD_INPUT) > 1:
        raise InvalidInputError(
            "'-' must be given once: standard input can be read only once. "
            f"Got it {named.count(STANDARD_INPUT):,} times.",
            hint="pass '-' once; files and one '-' may be mixed.",
        )
    for shown in named:
        for found in [shown] if shown == STANDARD_INPUT else _expanded(shown):
            place, real = found, os.path.realpath(found)
            if found == STANDARD_INPUT or not Path(found).is_file():
                place = str(Path(folder) / str(len(files)))
                _spool(found, place)
            elif real in known:
                other = known[real]
                again = (
                    f"'{found}' more than once" if found == other else f"'{other}' and '{found}' for one file"
                )
                raise InvalidInputError(
                    f"Each file must be given once, or its rows count twice. Got {again}.",
                    hint="leave one of them out; folders and patterns that overlap name their files twice.",
                )
            else:
                known[real] = found
            files.append(File(place, found))
    return files


@contextmanager
def unchanged(files: Sequence[File]) -> Iterator[None]:
    """Raise if a file was written in the meantime, whatever else went wrong because of that."""
    stamps = [file.stamp() for file in files]

    def check() -> None:
        for file, stamp in zip(files, stamps, strict=True):
            if file.stamp() != stamp:
                raise file_errors.changed_file(path=file.shown)

    try:
        yield
    except Exception:
        check()
        raise
    check()


def _spool(source: str, place: str) -> None:
    """Write what comes through a pipe to a file: DuckDB and we read it twice."""
    pipe = _opened(source)
    try:
        with pipe as opened, Path(place).open("wb") as spool:
            shutil.copyfileobj(opened, spool)
    except OSError as error:
        raise InvalidInputError(
            f"{file_words(source)} cannot be copied to the temporary folder '{tempfile.gettempdir()}'. "
            f"{error.strerror or error}.",
            hint="TMPDIR can name a folder with more space.",
        ) from error


def _opened(source: str) -> AbstractContextManager[BinaryIO]:
    """Open what is not a regular file: a pipe, or a file that has vanished since it was listed."""
    try:
        if _endless(source):
            reason = "It is a device, which may never end"
            raise file_errors.unreadable(path=source, form="CSV", reason=reason)
        return nullcontext(sys.stdin.buffer) if source == STANDARD_INPUT else Path(source).open("rb")
    except OSError as error:
        raise InvalidInputError(
            f"{file_words(source)} must be readable. {error.strerror or error}.",
            hint="check its permissions, and that no other program moves or deletes it.",
        ) from error


def _endless(source: str) -> bool:
    """Whether this is a device such as /dev/zero; what is typed into a terminal has an end."""
    if source != STANDARD_INPUT:
        return stat.S_ISCHR(Path(source).stat().st_mode)
    if sys.stdin is None:
        raise OSError(errno.EBADF, "It is closed")
    if sys.stdin.isatty():
        return False
    try:
        given = os.fstat(sys.stdin.fileno())
    except io.UnsupportedOperation:  # a program's own stream
        return False
    return stat.S_ISCHR(given.st_mode) and given.st_rdev != Path(os.devnull).stat().st_rdev


def _expanded(path: str) -> list[str]:
    """Return the files that a path, a folder or a pattern stands for, in alphabetical order."""
    if path and Path(path).is_dir():
        return _beneath(path)
    if path and Path(path).exists():
        return [path]
    if not glob.has_magic(path):
        folder = Path(path).parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        near = [str(folder / name) for name in difflib.get_close_matches(Path(path).name, names)]
        raise file_errors.missing_file(path=path, near=near)
    # Not `Path.glob`, which has no absolute patterns.
    matches = glob.glob(path, recursive=True)  # noqa: PTH207
    found = sorted(match for match in matches if not Path(match).is_dir())
    if not found:
        raise file_errors.missing_file(path=path, pattern=True)
    return found


def _beneath(folder: str) -> list[str]:
    """Return all files of data in a folder, in alphabetical order.

    Engines hide their own files behind a dot or an underscore, and DuckDB calls a file that it is still
    writing tmp_.
    """

    def gone(error: OSError) -> None:
        reason = error.strerror or str(error)
        raise InvalidInputError(
            f"The folder '{error.filename or folder}' must be readable while its files are listed. {reason}.",
            hint="check its permissions, and that no other program moves or deletes it.",
        ) from error

    found = []
    for place, folders, names in os.walk(folder, onerror=gone):
        folders[:] = [name for name in folders if not name.startswith(_HIDDEN)]
        for name in names:
            path = Path(place) / name
            data = name.lower().endswith(ENDINGS) and not name.startswith((*_HIDDEN, "tmp_"))
            if data and path.is_file():
                found.append(str(path))
    if not found:
        raise InvalidInputError(
            f"The folder '{folder}' must have data files in it: CSV, Parquet, NDJSON or Arrow. It has none.",
            hint=f"for files with other endings pass a pattern, such as '{folder.rstrip('/')}/**/*.dat'.",
        )
    return sorted(found)

"""Packages that only some functions need, and the extra that installs each."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cutpoints.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Iterator

EXTRAS = {
    "scipy": "stats",
    "sklearn": "sklearn",
    "highspy": "ilp",
    "matplotlib": "plot",
    "jinja2": "report",
    "onnx": "onnx",
}
"""Package -> extra. Such a package is imported within `needs`, and nowhere else."""


@contextmanager
def needs(caller: str, extra: str | None = None) -> Iterator[None]:
    """Import packages of extras in here: if one is not installed, the error says which extra has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingDependencyError.of(
            caller=caller, package=package, extra=extra or EXTRAS[package]
        ) from error

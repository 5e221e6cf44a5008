"""Progress of a long pass over the data, for callers that want to show it.

A source that reads for long calls `step` now and then; nobody listens unless `watching` says so,
and then a call costs next to nothing beside the batch of rows that came before it.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Progress:
    """The pass that is under way, the rows it has read, and of how many, if that is known."""

    passes: int
    rows: int
    total: int | None = None
    survivors: int | None = None
    """How many of the rows that were read lie where the optimum can be; None in the first pass."""


_observer: ContextVar[Callable[[Progress], None] | None] = ContextVar("observer", default=None)


@contextmanager
def watching(observer: Callable[[Progress], None]) -> Iterator[None]:
    """Call `observer` with each step of the sources that are read inside the block."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def observer() -> Callable[[Progress], None] | None:
    """Return who listens, if anybody does; asked once a pass, in the thread that began it."""
    return _observer.get()

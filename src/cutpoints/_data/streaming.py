"""Rows that come in batches, as often as they are asked for: files, lazy frames, queries.

The engine only reads, filters and hands columns over; they are counted by the kernel that counts
arrays, so the answer is the same to the last bit. Memory is that of the buckets, of a few batches
on their way, and of the rows that are left at the end, however many rows there are.

The first pass checks the rows, adds them up and counts them into buckets. The second fetches what
is left, with the range as a filter of the engine, and keeps it if it is little: most searches end
there. If it is much, the same pass counts it into finer buckets. Equal scores are merged while
they are collected, so that ten million rows with a thousand scores are a thousand.
"""

from __future__ import annotations

import itertools
import os
import threading
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutpoints._data import added_columns, progress
from cutpoints._data.array_input import as_floats
from cutpoints._data.duckdb_reader import ONE_AT_A_TIME, DuckDBReader, interruptible
from cutpoints._data.faults import raise_fault
from cutpoints._data.labels import Counts, Labels
from cutpoints._kernel.binning import Buckets, Radix, choose
from cutpoints._kernel.histogram import (
    Block,
    Reading,
    Tally,
    added,
    binned,
    check_unchanged,
    inside,
    joined,
    table,
    tally,
    unique_scores,
    within,
)
from cutpoints._kernel.tables import (
    BATCH_ROWS,
    FETCHED_ROWS,
    MEMORY_ROWS,
    SAMPLE_ROWS,
    SWEEP_SCORES,
    ColumnTotals,
    Histogram,
    Ranges,
    Rows,
    Summary,
)
from cutpoints._kernel.weights import BLOCK_ROWS, FixedPoint
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager

    import polars as pl
    from duckdb import DuckDBPyRelation

    from cutpoints.metrics.columns import Column

BUCKETS = 1 << 16
"""More than in memory: a pass is slow here, and more buckets leave fewer rows after it."""

T = TypeVar("T")


@dataclass(frozen=True)
class Columns:
    """The names of the columns: labels and perhaps weights, or the sums of both classes."""

    score: str
    label: str | None = None
    weight: str | None = None
    positives: str | None = None
    negatives: str | None = None
    added: tuple[Column, ...] = ()
    """The columns that a goal adds up."""

    @property
    def masses(self) -> list[str]:
        """The columns that must not be negative."""
        return [name for name in (self.weight, self.positives, self.negatives) if name is not None]

    @property
    def all(self) -> list[str]:
        """The columns in the order in which a batch has them: score, label, masses, those added up."""
        labels = [] if self.label is None else [self.label]
        return [self.score, *labels, *self.masses, *(column.name for column in self.added)]

    @property
    def first_mass(self) -> int:
        """Where the masses begin in a batch."""
        return 1 if self.label is None else 2

    @property
    def first_added(self) -> int:
        """Where the columns that are added up begin in a batch."""
        return self.first_mass + len(self.masses)

    @property
    def roles(self) -> dict[str, Any]:
        """The names by role, without the columns that are added up."""
        return {role: name for role, name in vars(self).items() if role != "added"}


Batch = list[NDArray[Any]]
"""Columns of equal length, see `Columns.all`; missing values are NaN."""


class Reader(Protocol):
    """A table that can be read again and again, always in the same order."""

    columns: Columns
    table: Any
    """The relation or the lazy frame, with all of its columns."""
    projected: Any
    """The same with the columns of a batch: a0, a1, ..."""
    coded: bool
    """Whether the engine has compared the labels: 1 the positive, 0 the other, 2 a third, 3 missing."""

    def batches(self, near: tuple[float, float] | None) -> Generator[Batch]:
        """Yield all rows, or at least those whose score is in a closed range."""

    def need(self, name: str) -> None:
        """Raise unless the table has a column of this name; the error says where, and which there are."""

    def check_labels(self) -> None:
        """Raise for labels that are not two, saying which ones there are."""

    def cancel(self) -> None:
        """End a query that is under way in another thread, where the engine can do that."""


class BatchSource:
    """Rows out of a stream that can be read again. Answers the three questions."""

    def __init__(
        self, reader: Reader, *, pos_label: Any = None, turn: AbstractContextManager[Any] | None = None
    ) -> None:
        """Take a reader, and what is to be held while one of its queries runs."""
        self.reader = reader
        self.turn = turn or nullcontext()
        self.pos_label = pos_label
        self.passes = 0
        self.direct_rows = FETCHED_ROWS
        self.rows_limit = MEMORY_ROWS
        self._weights = 0.0, 0.0
        """The smallest and the largest weight."""
        self._weighed: int | None = None
        """The rows that were measured."""
        self._ends: list[added_columns.Ends] = []
        self._parts: list[ColumnTotals] = []
        """What is added up of columns, and on which grids."""
        self._known: tuple[Summary, Histogram] | None = None
        self._last: tuple[Ranges, Histogram] | None = None
        self._kept: tuple[Ranges, Histogram] | None = None
        # The engine decodes in its own threads; one thread here keeps up with two of them.
        self._threads = max(1, min((os.cpu_count() or 1) // 2, 4))
        self._rows = (
            min(BATCH_ROWS, BLOCK_ROWS) if reader.columns.masses or reader.columns.added else BATCH_ROWS
        )

    # --- the three questions

    def summary(self) -> Summary:
        """Return rows, totals and the range of scores; raise for NaN and bad labels."""
        return self._first_look()[0]

    def histogram(self, ranges: Ranges | None) -> Histogram:
        """Count into buckets: one pass over the data, or none where the rows were kept."""
        _, first = self._first_look()
        if ranges is None:
            return first
        kept = self._keeps(ranges)
        if kept is not None:
            return binned(kept.at(inside(kept.low, ranges)), Radix.over(ranges, count=BUCKETS))
        before = self._count_of(ranges)
        buckets = Radix.over(ranges, count=BUCKETS)
        collectors, tallies = self._gather(ranges, self.rows_limit, buckets)
        found = table(added(tallies), buckets)
        check_unchanged(before, ranges, found)
        self._last = ranges, found
        kept = _collected(collectors, self.rows_limit, found)
        if kept is None and (found.low == found.high).all():
            kept = found
        self._kept = None if kept is None else (ranges, kept)
        return found

    def rows(self, ranges: Ranges | None) -> Rows:
        """Collect, merging equal scores: a pass over the data unless the rows were kept."""
        summary, first = self._first_look()
        kept = None if ranges is None else self._keeps(ranges)
        if kept is None:
            # All of them are what a sweep was asked for; of a search that narrows, memory is bounded.
            limit = None if ranges is None else SWEEP_SCORES
            collectors, _ = self._gather(ranges, limit, None)
            kept = _collected(collectors, limit, first)
            if kept is None:
                raise InvalidInputError.too_many_scores(rows=summary.rows, most=SWEEP_SCORES)
            check_unchanged(self._count_of(ranges), ranges, kept)
            self._kept = None if ranges is None else (ranges, kept)
        found = kept if ranges is None else kept.at(inside(kept.low, ranges))
        return found.distinct()

    # --- how

    def _count_of(self, ranges: Ranges | None) -> Histogram:
        """Return the latest count of all the rows in these ranges."""
        if self._last is not None and ranges is not None and within(ranges, self._last[0]):
            return self._last[1]
        return self._first_look()[1]

    def _keeps(self, ranges: Ranges) -> Histogram | None:
        """Return the rows around these ranges, if they were kept."""
        return self._kept[1] if self._kept is not None and within(ranges, self._kept[0]) else None

    def _gather(
        self, ranges: Ranges | None, limit: int | None, buckets: Buckets | None
    ) -> tuple[list[_Collector], list[Tally]]:
        """Collect the rows of some ranges in a pass, and count them if there are buckets."""
        both = self._each(lambda feed: self._collect(feed, ranges, limit, buckets), ranges)
        return [collector for collector, _ in both], [counted for _, counted in both if counted is not None]

    def _each(self, work: Callable[[_Feed], T], ranges: Ranges | None = None) -> list[T]:
        """Make a pass: the threads take the batches as they come."""
        self.passes += 1
        near = None if ranges is None else (float(ranges.low[0]), float(ranges.high[-1]))
        total = None if self._known is None or near is not None else self._known[0].rows
        batches = self.reader.batches(near)
        feed = _Feed(batches, self._rows, progress.Progress(self.passes, 0, total))
        from concurrent.futures import ThreadPoolExecutor

        # Never in this thread: engines that run in it take Ctrl-C for themselves, and lose it.
        with self.turn, closing(batches), ThreadPoolExecutor(self._threads) as pool:
            try:
                return list(pool.map(work, [feed] * self._threads))
            except BaseException:
                feed.stop()
                self.reader.cancel()  # the pool waits for its threads: they must not read on
                raise

    def _first_look(self) -> tuple[Summary, Histogram]:
        """Check, summarize and count in one pass."""
        if self._known is not None:
            return self._known
        found = self._look()
        if found is None:
            with self.turn:
                raise_fault(self.reader, self.pos_label)
        look, tallies = found
        if not tallies:
            raise self._empty()
        histogram = table(added(tallies), look.buckets)
        low, high = (float(function(ends)) for function, ends in ((min, look.lows), (max, look.highs)))
        rows, pos, neg = (int(side.sum()) for side in (histogram.rows, histogram.pos, histogram.neg))
        if self._weighed is not None and self._weighed != rows:
            raise InvalidInputError.changed(expected=self._weighed, found=rows)
        columns = added_columns.with_totals(self._parts, histogram.columns)
        self._known = Summary(rows, pos, neg, look.grid, low, high, columns), histogram
        return self._known

    def _look(self) -> tuple[_Look, list[Tally]] | None:
        """Make the first pass; return None if there is anything wrong with the rows."""
        grid = self._measured()
        if grid is None:
            return None
        look = _Look(self, grid)
        tallies = [one for one in self._each(look.count) if one is not None]
        fine = not look.faulty and self._two_labels(look.counts, look.others)
        return (look, tallies) if fine else None

    def _empty(self) -> InvalidInputError:
        """Return the error of no rows."""
        return InvalidInputError.empty(name=self.reader.columns.score)

    def _measured(self) -> FixedPoint | None:
        """Find the grids of the weights and of the columns, a query; None if some cannot be added up."""
        columns = self.reader.columns
        if not columns.masses and not columns.added:
            return FixedPoint()
        from cutpoints._data.groupby_sums import ends_of

        names = [f"a{i}" for i in range(len(columns.all))]
        first, added = columns.first_mass, columns.first_added
        with self.turn, interruptible():
            self._weighed, ends = ends_of(self.reader.projected, names[first:added], names[added:])
        if not self._weighed:
            return FixedPoint()
        if not np.isfinite([(one.least, one.most) for one in ends]).all():
            return None
        masses, self._ends = ends[: added - first], ends[added - first :]
        both = zip(columns.added, self._ends, strict=True)
        self._parts = [one for column, of in both for one in added_columns.parts(column, of, self._weighed)]
        if not masses:
            return FixedPoint()
        smallest, largest = min(one.least for one in masses), max(one.most for one in masses)
        if not (smallest >= 0 and largest * self._weighed < np.inf):
            return None
        self._weights = smallest, largest
        if columns.label is not None and 0 < smallest == largest:
            return FixedPoint.constant(largest)
        return FixedPoint.fitting(largest=largest, rows=self._weighed)

    def check(self, batch: Batch) -> tuple[list[Reading], Counts | None, set[Any], bool]:
        """Return weights, label counts, labels other than the positive one, and whether all are fine."""
        columns = self.reader.columns
        masses = [as_floats(m, n) for m, n in zip(batch[columns.first_mass :], columns.masses, strict=False)]
        smallest, largest = self._weights
        fine = all(smallest <= mass.min() and mass.max() <= largest for mass in masses)  # NaN is neither
        if columns.label is None:
            return [(1, masses[0]), (0, masses[1])], None, set(), fine
        sides, counts, others, two = self._sides(batch[1])
        # Where all rows have one weight, they are counted.
        weights = masses[0] if masses and not 0 < smallest == largest else None
        return [(sides, weights)], counts, others, fine and two

    def added_up(self, batch: Batch) -> tuple[tuple[NDArray[np.float64], ...], bool]:
        """Return what the rows add to sums of columns, and whether it is what the first query saw."""
        columns = self.reader.columns
        if not columns.added:
            return (), True
        weights = as_floats(batch[columns.first_mass], str(columns.weight)) if columns.weight else None
        values = {
            column: added_columns.times(as_floats(array, column.name), weights)
            for column, array in zip(columns.added, batch[columns.first_added :], strict=True)
        }
        fine = all(ends.hold(values[column]) for column, ends in zip(columns.added, self._ends, strict=True))
        return added_columns.on_grid(self._parts, values) if fine else (), fine

    def _sides(self, values: NDArray[Any]) -> tuple[NDArray[np.uint8], Counts, set[Any], bool]:
        if self.reader.coded:
            positives = int(np.count_nonzero(values == 1))
            return values, (positives, len(values) - positives, 0), set(), bool(values.max() <= 1)
        labels = Labels(values, self.pos_label, name=str(self.reader.columns.label))
        sides, counts = labels.check(slice(None))
        if not labels.given:
            return sides, counts, set(), sum(counts) == len(values)
        if counts[0] == len(values):
            return sides, counts, set(), True
        other = values[int(np.argmin(sides))]
        return sides, counts, {other.item()}, bool((sides.view(np.bool_) | (values == other)).all())

    def _two_labels(self, counts: list[Counts], others: set[Any]) -> bool:
        zeros, minus = (sum(c[i] for c in counts) for i in (1, 2))
        return len(others) <= 1 and not (zeros and minus)

    def _block(self, batch: Batch) -> Block:
        """Return rows that were found good in the first pass."""
        readings, _, _, fine = self.check(batch)
        columns, as_before = self.added_up(batch)
        if not fine or not as_before:
            raise InvalidInputError.changed(expected=len(batch[0]), found=len(batch[0]))
        return Block(as_floats(batch[0], self.reader.columns.score), readings, columns=columns)

    def _collect(
        self, feed: _Feed, ranges: Ranges | None, limit: int | None, buckets: Buckets | None
    ) -> tuple[_Collector, Any]:
        """Collect the rows of some ranges, merged, and count them too if there are buckets."""
        grid = self._first_look()[0].grid
        collector = _Collector(grid, limit)

        def blocks() -> Iterator[Block]:
            for batch in feed:
                block = self._block(batch)
                if ranges is not None:
                    block = block.part(inside(block.scores, ranges))
                if len(block.scores):
                    feed.keep(len(block.scores))
                    collector.add(block)
                    yield block

        if buckets is not None:
            return collector, tally(blocks(), buckets, grid)
        for _ in blocks():
            pass
        return collector, None


class _Look:
    """What the threads of the first pass find out together."""

    def __init__(self, source: BatchSource, grid: FixedPoint) -> None:
        self.source, self.grid = source, grid
        self.buckets: Any = None
        self.lows: list[Any] = []
        self.highs: list[Any] = []
        self.counts: list[Counts] = []
        self.others: set[Any] = set()
        self.faulty = False
        self._choosing = threading.Lock()

    def count(self, feed: _Feed) -> Any:
        """Count what one thread gets; None if that is nothing."""
        blocks = self._checked(feed)
        first = next(blocks, None)
        if first is None:
            return None
        with self._choosing:
            if self.buckets is None:
                sample = first.scores[:: max(1, len(first.scores) // SAMPLE_ROWS)]
                self.buckets = choose(sample, BUCKETS)
        return tally(itertools.chain([first], blocks), self.buckets, self.grid)

    def _checked(self, feed: _Feed) -> Iterator[Block]:
        """Yield blocks that are found good; end at one that is not."""
        for batch in feed:
            scores = as_floats(batch[0], self.source.reader.columns.score)
            low, high = scores.min(), scores.max()
            readings, counts, others, fine = self.source.check(batch)
            columns, as_measured = self.source.added_up(batch)
            self.others |= others
            if not fine or not as_measured or np.isnan(low):
                self.faulty = True
                feed.stop()
                return
            # Appending is atomic: no block is lost between threads.
            self.lows.append(low)
            self.highs.append(high)
            if counts is not None:
                self.counts.append(counts)
            yield Block(scores, readings, low, high, columns)


class _Feed:
    """Batches for several threads: each block goes to one of them."""

    def __init__(self, batches: Iterator[Batch], size: int, step: progress.Progress) -> None:
        self._batches, self._size, self._step = batches, size, step
        self._lock = threading.Lock()
        self._stopped = False
        self._observer = progress.observer()

    def __iter__(self) -> Iterator[Batch]:
        while True:
            with self._lock:
                batch = None if self._stopped else next(self._batches, None)
                if batch is None:
                    self._stopped = True
                    return
                if self._observer is not None:
                    self._step = replace(self._step, rows=self._step.rows + len(batch[0]))
                    self._observer(self._step)
            for start in range(0, len(batch[0]), self._size):
                yield [column[start : start + self._size] for column in batch]

    def keep(self, rows: int) -> None:
        """Note how many rows of a block lie where the optimum can be."""
        if self._observer is not None:
            with self._lock:
                self._step = replace(self._step, survivors=(self._step.survivors or 0) + rows)

    def stop(self) -> None:
        """Hand out no further batch."""
        self._stopped = True


class _Collector:
    """Rows that are collected, and merged now and then; given up when they are too many."""

    def __init__(self, grid: FixedPoint, limit: int | None) -> None:
        self._grid, self._limit = grid, limit
        self._pending: list[Block] = []
        self._rows = 0
        self._merged: Histogram | None = None
        self.full = False

    def add(self, block: Block) -> None:
        """Take some rows."""
        if self.full:
            return
        self._pending.append(block)
        self._rows += len(block.scores)
        # Ever more rows between merges, so that all merges together cost no more than a few.
        done = 0 if self._merged is None else len(self._merged.low)
        if self._rows >= max(MEMORY_ROWS // 4, done // 2):
            self._merge()

    def _merge(self) -> None:
        fresh = unique_scores(joined(self._pending), self._grid)
        self._pending, self._rows = [], 0
        self._merged = fresh if self._merged is None else Histogram.together([self._merged, fresh]).joined()
        if self._limit is not None and len(self._merged.low) > self._limit:
            self._merged, self.full = None, True

    def result(self) -> Histogram | None:
        """Return all that was collected; None if that is nothing, or was too much."""
        if self._pending:
            self._merge()
        return self._merged


def _collected(collectors: list[_Collector], limit: int | None, like: Histogram) -> Histogram | None:
    """Merge what several threads collected; None if that is too much."""
    parts = [part for part in (collector.result() for collector in collectors) if part is not None]
    if any(collector.full for collector in collectors):
        return None
    if not parts:
        return like.at(slice(0))
    whole = parts[0] if len(parts) == 1 else Histogram.together(parts).joined()
    return None if limit is not None and len(whole.low) > limit else whole


# --- engines


def from_duckdb(relation: DuckDBPyRelation, columns: Columns, pos_label: Any = None) -> BatchSource:
    """Take the rows of a DuckDB relation, which runs once for each pass and is never stored."""
    with ONE_AT_A_TIME, interruptible():
        reader = DuckDBReader(relation, columns, pos_label=pos_label)
    return BatchSource(reader, pos_label=pos_label, turn=ONE_AT_A_TIME)


def from_polars(frame: pl.LazyFrame, columns: Columns, pos_label: Any = None) -> BatchSource:
    """Take the rows of a Polars lazy frame, batch by batch from the streaming engine."""
    from cutpoints._data.polars_reader import PolarsReader

    return BatchSource(PolarsReader(frame, columns, pos_label=pos_label), pos_label=pos_label)

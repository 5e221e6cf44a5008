"""Several searches in step: each pass over the data answers every open question.

A search is one goal on one part of the data. The parts are segments, or there is one, all rows, and
several goals. However many searches there are, they take the passes of the longest of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from cutpoints._kernel.histogram import inside
from cutpoints._kernel.tables import COLLECT_FACTOR, Histogram, Ranges, Rows
from cutpoints._search.narrow import MAX_PASSES, Narrowed, Question, narrowing
from cutpoints._search.run import SearchResult, check_promises, decide, decide_narrowed, has_bounds
from cutpoints._search.sweep import cuts_of
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Generator, Hashable, Mapping

    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Summary

    Search = Generator[Question, Histogram | Rows, Narrowed]

Key = TypeVar("Key", bound="Hashable")


class Parts(Protocol):
    """Data in parts, numbered from 0; the three questions, asked of many parts at once."""

    @property
    def passes(self) -> int:
        """How often the whole data were read so far."""

    @property
    def rows_limit(self) -> int:
        """Rows, or distinct scores, that fit in memory with room to spare."""

    def summary(self, part: int) -> Summary:
        """Return rows, totals and the range of scores of one part; no pass."""

    def histogram(self, part: int) -> Histogram:
        """Return the first count of one part; no pass."""

    def answer(
        self, wanted: Mapping[int, Ranges | None], most: int, *, count: bool
    ) -> dict[int, Rows] | dict[int, Histogram]:
        """Make a pass: return the rows of these ranges, or, where `count` allows it, a count of each.

        There are at most `most` rows in them.
        """


@dataclass(frozen=True)
class OnePart:
    """A source as the only part, 0: for several goals on the same rows."""

    source: Source

    @property
    def passes(self) -> int:
        """How often the whole data were read so far."""
        return self.source.passes

    @property
    def rows_limit(self) -> int:
        """Rows that fit in memory."""
        return self.source.rows_limit

    def summary(self, part: int) -> Summary:
        """Return what the data are."""
        return self.source.summary()

    def histogram(self, part: int) -> Histogram:
        """Return the first count."""
        return self.source.histogram(None)

    def answer(
        self, wanted: Mapping[int, Ranges | None], most: int, *, count: bool
    ) -> dict[int, Rows] | dict[int, Histogram]:
        """Return the rows of these ranges if they are few, or if no count is allowed."""
        ((part, ranges),) = wanted.items()
        if count and most > self.source.direct_rows:
            return {part: self.source.histogram(ranges)}
        return {part: self.source.rows(ranges)}


def search_together(
    source: Parts, searches: Mapping[Key, tuple[int, Goal]]
) -> dict[Key, SearchResult | InvalidInputError]:
    """Find the best cut of each search, a goal on a part, exactly, and all of its ties.

    What cannot be searched, such as the recall of a segment without positives, is an error in its
    place, and stops no other.
    """
    ends: dict[Key, Narrowed] = {}
    asking: dict[Key, tuple[Search, Question]] = {}

    def tell(key: Key, search: Search, answer: Histogram | Rows) -> None:
        try:
            asking[key] = search, search.send(answer)
        except StopIteration as end:
            asking.pop(key, None)
            ends[key] = end.value

    for key, (part, goal) in searches.items():
        summary = source.summary(part)
        check_promises(goal, summary)
        search = narrowing(summary, goal, source.rows_limit) if has_bounds(goal) else _sweep(summary)
        asking[key] = search, next(search)
        if has_bounds(goal):
            tell(key, search, source.histogram(part))
    rounds, before_that = 1, sum(source.summary(part).rows for part, _ in searches.values())
    while asking:
        # Those who need all rows first: to them a count would be no answer.
        turn = {key: one for key, one in asking.items() if one[1].ranges is None} or dict(asking)
        questions: dict[int, list[Question]] = {}
        for key, (_, question) in turn.items():
            questions.setdefault(searches[key][0], []).append(question)
        left = sum(question.inside for _, question in turn.values())
        # Stop counting when a pass no longer halves the rows that are left, if they fit in memory.
        helps = rounds == 1 or left <= before_that // 2 or left > COLLECT_FACTOR * source.rows_limit
        count = rounds < MAX_PASSES and helps and not all(question.whole for _, question in turn.values())
        answers = source.answer(
            {part: _all_of(asked) for part, asked in questions.items()}, left, count=count
        )
        before_that = left
        rounds += 1
        for key, (search, question) in turn.items():
            tell(key, search, _part_of(answers[searches[key][0]], question))
    return {key: _decided(ends[key], goal, source.passes) for key, (_, goal) in searches.items()}


def _sweep(summary: Summary) -> Search:
    """Ask for every row."""
    rows = yield Question(None, summary.rows, summary.rows, stuck=False, whole=True)
    assert isinstance(rows, Rows)
    return Narrowed(cuts_of(summary, rows), summary.rows)


def _decided(end: Narrowed, goal: Goal, passes: int) -> SearchResult | InvalidInputError:
    """Choose among the cuts that are left; passes are shared by all."""
    try:
        if has_bounds(goal):
            return decide_narrowed(end, goal, passes)
        return decide(end.cuts, goal, "sweep", passes, end.rows_examined)
    except InvalidInputError as error:  # undefined at every cut
        return error


def _all_of(questions: list[Question]) -> Ranges | None:
    """Return the ranges of all questions about one part, cut where one of them begins or ends.

    So a bucket of the answer lies in the ranges of a question, or beside them.
    """
    ranges = [question.ranges for question in questions if question.ranges is not None]
    if len(ranges) < len(questions) or len(ranges) == 1:
        return questions[0].ranges
    ends = np.concatenate([high for _, high in ranges])
    inf = ends.dtype.type(np.inf)
    start = np.unique(np.concatenate([*(low for low, _ in ranges), np.nextafter(ends, inf)]))
    stop = np.append(np.nextafter(start[1:], -inf), max(start[-1], ends.max()))
    asked = np.zeros(len(start), dtype=np.bool_)
    for one in ranges:
        asked[inside(start, one)] = True
    return Ranges(start[asked], stop[asked])


def _part_of(answer: Histogram | Rows, question: Question) -> Histogram | Rows:
    """Return what is in the ranges of one question."""
    if question.ranges is None:
        return answer
    if isinstance(answer, Rows):
        index = inside(answer.scores, question.ranges)
        if len(index) == len(answer.scores):
            return answer
        pos, neg, *columns = (side[index] for side in (answer.pos, answer.neg, *answer.columns))
        return Rows(answer.scores[index], pos, neg, question.inside, tuple(columns))
    return answer.at(inside(answer.low, question.ranges))

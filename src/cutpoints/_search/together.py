"""One search per segment, all of them in step: each pass over the data answers every open question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from cutpoints._kernel.tables import Rows
from cutpoints._search.narrow import ROUNDS, Narrowed, Question, narrowing
from cutpoints._search.run import Found, check_promises, decide, decide_narrowed, has_bounds
from cutpoints._search.sweep import cuts_of
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from cutpoints._goal import Goal
    from cutpoints._kernel.tables import Histogram, Ranges, Summary

    Search = Generator[Question, Histogram | Rows, Narrowed]

PLENTY = 1 << 20
"""More ties of one segment than this are not all kept where memory is short; see `plateaus`."""
PATIENCE = 8
"""So many times the rows that fit in memory with room to spare are collected where counting is no help."""


class Segmented(Protocol):
    """Data in segments, numbered from 0; the three questions, asked for many segments at once."""

    @property
    def passes(self) -> int:
        """How often the whole data were read so far."""

    @property
    def holds(self) -> int:
        """So many rows, or distinct scores, fit in memory with room to spare."""

    def summary(self, segment: int) -> Summary:
        """Return rows, masses and the range of scores of one segment; no pass."""

    def histogram(self, segment: int) -> Histogram:
        """Return the first count of one segment; no pass."""

    def answer(
        self, wanted: Mapping[int, Ranges | None], expected: int, *, count: bool
    ) -> dict[int, Rows] | dict[int, Histogram]:
        """Make a pass: return the rows of these ranges, or, where `count` allows it, a count of each."""


def search_each(
    source: Segmented, goal: Goal, segments: Iterable[int]
) -> dict[int, Found | InvalidInputError]:
    """Find the best cut of each segment, exactly, and all of its ties.

    What cannot be searched, such as the recall of a segment without positives, is an error in its
    place, and stops no other. A few passes, however many segments there are.
    """
    summaries = {segment: source.summary(segment) for segment in segments}
    ends: dict[int, Narrowed] = {}
    asking: dict[int, tuple[Search, Question]] = {}
    method: Literal["sweep", "narrow"] = "narrow" if has_bounds(goal) else "sweep"

    def tell(segment: int, search: Search, answer: Histogram | Rows) -> None:
        try:
            asking[segment] = search, search.send(answer)
        except StopIteration as end:
            asking.pop(segment, None)
            ends[segment] = end.value

    for segment, summary in summaries.items():
        check_promises(goal, summary)
        if method == "narrow":
            search = narrowing(summary, goal, max(source.holds, PLENTY))
            next(search)
            tell(segment, search, source.histogram(segment))
    rounds, before_that = 1, sum(summary.rows for summary in summaries.values())
    while asking:
        wanted = {segment: question.ranges for segment, (_, question) in asking.items()}
        questions = [question for _, question in asking.values()]
        left = sum(question.inside for question in questions)
        # A count that halves nothing is dearer than some more memory; much more is not to be had.
        helps = rounds == 1 or left <= before_that // 2 or left > PATIENCE * source.holds
        count = rounds < ROUNDS and helps and not all(question.whole for question in questions)
        answers = source.answer(wanted, left, count=count)
        before_that = left
        rounds += 1
        for segment, (search, _) in list(asking.items()):
            tell(segment, search, answers[segment])
    if method == "sweep":
        total = sum(summary.rows for summary in summaries.values())
        answers = source.answer(dict.fromkeys(summaries), total, count=False)
        for segment, summary in summaries.items():
            rows = answers[segment]
            assert isinstance(rows, Rows)
            ends[segment] = Narrowed(cuts_of(summary, rows), summary.rows)
    found: dict[int, Found | InvalidInputError] = {}
    passes = source.passes  # shared by all, the first count included
    for segment, end in ends.items():
        try:
            if method == "narrow":
                found[segment] = decide_narrowed(end, goal, passes)
            else:
                found[segment] = decide(end.cuts, goal, method, passes, end.rows_examined)
        except InvalidInputError as error:  # undefined at every cut
            found[segment] = error
    return found

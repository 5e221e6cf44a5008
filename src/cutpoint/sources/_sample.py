"""A look at a few scores, to choose the quicker way of sorting or counting all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cutpoint.questions import Scores

_SIZE = 1 << 5


class Sample:
    """A few scores of many, in order: what they say of the others is likely, and not sure."""

    def __init__(self, scores: Scores) -> None:
        found: list[float] = scores[:: max(1, len(scores) // _SIZE)].tolist()
        self.scores = sorted(found)
        self.way = None
        """How to read all scores so that they ascend, if they are in order as they are."""
        if found == self.scores or found[::-1] == self.scores:
            self.way = slice(None, None, 1 if found == self.scores else -1)

    @property
    def repeats(self) -> bool:
        """Whether most scores are there more than once."""
        return 2 * len(set(self.scores)) < len(self.scores)

    @property
    def commonest(self) -> float | None:
        """The score that more than half of the rows have, if there is one: then it is in the middle."""
        if not self.scores:
            return None
        middle = self.scores[len(self.scores) // 2]
        return middle if 2 * self.scores.count(middle) > len(self.scores) else None

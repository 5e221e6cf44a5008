"""Whether data are the rows that were sketched: in total, and near the threshold that was found."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._format import exact
from cutpoints._kernel.tables import Ranges, Summary
from cutpoints._kernel.weights import as_number
from cutpoints._search.run import best_edge
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from cutpoints._data.source import Source
    from cutpoints._goal import Goal
    from cutpoints._search.run import SearchResult
    from cutpoints._sketch.contents import Contents


def check_same_rows(contents: Contents, data: Source, found: SearchResult, goal: Goal) -> None:
    """Raise unless the data that were searched are the rows of the sketch."""
    sketched, there = contents.summary(), found.summary
    room = _room(sketched, there)
    _compare("Rows", sketched.rows, there.rows)
    _compare("Positives", sketched.totals[0], there.totals[0], room)
    _compare("Negatives", sketched.totals[1], there.totals[1], room)
    _compare("Lowest score", sketched.low, there.low)
    _compare("Highest score", sketched.high, there.high)
    if found.choice is not None:
        _check_near(contents, data, found, goal)


def _check_near(contents: Contents, data: Source, found: SearchResult, goal: Goal) -> None:
    """Compare the sums above, and from the lowest to the highest bucket that could hold the optimum."""
    assert found.choice is not None
    cut, buckets = found.cuts[[found.choice.best]], contents.buckets
    threshold, below = cut.thresholds[0], cut.below[0]
    sketched, there = contents.summary(), found.summary
    which = int(np.searchsorted(buckets.low, threshold, side="right")) - 1
    if threshold < np.inf:
        _compare("Score near the optimum", float(min(buckets.high[which], threshold)), float(threshold))
    could = best_edge(sketched, buckets.histogram(), goal).open
    could[which] = True
    near = slice(int(could.argmax()), len(could) - int(could[::-1].argmax()))
    low, high = (end.astype(threshold.dtype) for end in (buckets.low[near][0], buckets.high[near][-1]))
    ends = [(low, min(below, high))] * bool(below >= low) + [(threshold, high)] * bool(threshold <= high)
    inside = data.histogram(Ranges(*(np.array(side) for side in zip(*ends, strict=True))))
    called = inside.low >= threshold
    room = _room(sketched, there)
    _compare("Rows near the optimum", int(buckets.rows[near].sum()), int(inside.rows.sum()))
    for what, sums, side, above in (
        ("Positives", buckets.pos, inside.pos, cut.tp),
        ("Negatives", buckets.neg, inside.neg, cut.fp),
    ):
        for where, mine, other in (
            ("near", sums[near].sum(), side.sum()),
            ("above", sums[near.stop :].sum(), above[0] - side[called].sum()),
        ):
            totals = int(mine) * sketched.grid.step, int(other) * there.grid.step
            _compare(f"{what} {where} the optimum", *totals, room)


def _room(sketched: Summary, data: Summary) -> Fraction:
    """Return how far sums of equal weights can differ: each weight was rounded to two grids."""
    return sketched.rows * (Fraction(sketched.grid.resolution) + Fraction(data.grid.resolution))


def _compare(
    what: str, sketched: float | Fraction, found: float | Fraction, room: Fraction = Fraction(0)
) -> None:
    close = isinstance(sketched, Fraction) and isinstance(found, Fraction) and abs(sketched - found) <= room
    if sketched != found and not close:
        here, there = (exact(as_number(x) if isinstance(x, Fraction) else x) for x in (sketched, found))
        raise InvalidInputError(
            "The data must be the rows that were sketched. "
            f"{what}: {here} in the sketch, {there} in the data.",
            hint="pass the same rows, labels and weights that the sketch was updated with, each once.",
        )

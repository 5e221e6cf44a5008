"""The sketch: update, merge, save, and ask; for people with pipelines of their own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._atomic import replaced
from cutpoints._data.arrays import ArraySource
from cutpoints._data.labels import Labels
from cutpoints._data.read import as_source
from cutpoints._find import At, solve
from cutpoints._goal import Constraints, Objective, goal
from cutpoints._kernel.float_order import numbered
from cutpoints._kernel.histogram import Block
from cutpoints._kernel.mergeable_histogram import ROWS, Cells, count, nothing
from cutpoints._search.run import search
from cutpoints._sketch import file as _file
from cutpoints._sketch.answers import AucBounds, BestSoFar, auc, best
from cutpoints._sketch.file import LIMIT
from cutpoints._sketch.refine import Refined
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._result import Solution

_FIRST = 1 << 17
"""Rows that are counted first, one by one: they tell at which level the others may be counted."""
_ZERO, _MINUS = 1, 2


class Sketch:
    """Counts of scores and labels that can be updated, merged, saved and asked.

    A sketch holds at most 65,536 buckets, a few megabytes, however many rows it has seen: 3 MB in
    memory and on disk, or 10 MB with arbitrary float weights. All sums are exact. With at most
    65,536 distinct scores it holds every one of them, and its answers are final; with more, neighbours
    share a bucket, and answers come with bounds that hold for certain. `refine` then needs one more
    look at the data for the exact optimum.

    Merging is associative and commutative, bit for bit: any split of the rows, in any order, merged
    in any order, gives the same bytes. Scores are kept as float64, in which float32 scores are exact,
    so parts of either kind go together.

    See Also
    --------
    find : The exact optimum at once, where the data are at hand.

    Examples
    --------
    >>> import cutpoints as cp
    >>> monday = cp.Sketch().update([0.1, 0.4], [0, 0])
    >>> tuesday = cp.Sketch().update([0.35, 0.8], [1, 1])
    >>> both = monday + tuesday
    >>> both.best(maximize="f1")
    status      optimal
    threshold   0.35  (positive iff score >= threshold)
    value       0.8  (maximize f1)
    confusion   tp 2  fp 1  fn 0  tn 1
    >>> both.auc
    AucBounds(lower=0.75, upper=0.75)
    """

    def __init__(self) -> None:
        self._counts = nothing()
        self._labels = 0

    # --- what goes in

    def update(
        self, y_score: Any, y_true: Any, *, sample_weight: Any = None, pos_label: Any = None
    ) -> Sketch:
        """Count more rows; a batch that is refused leaves the sketch as it was.

        Costs a sort of each block of a million rows.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,)
            The scores, before the labels: as in "update(scores, labels)". None at all is allowed.
        y_true : array-like of shape (n_samples,)
            Labels: 0/1, booleans, -1/+1, or any two values with `pos_label`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights. Rows of updates without weights weigh 1.
        pos_label : int, float, bool or str, default=None
            The label of the positive class; 1 by default.

        Returns
        -------
        Sketch
            The sketch itself.

        Raises
        ------
        InvalidInputError
            As `find` does: NaN scores, more than two labels, lengths that differ, negative weights.
        """
        if _is_empty(y_score) and _is_empty(y_true):
            return self
        source = ArraySource.labelled(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
        summary = source.summary()  # refuses what cannot be counted before anything is
        labels = source.streams[0].labels
        assert isinstance(labels, Labels)
        seen = self._labels
        if not labels.given and summary.rows:
            minus = labels.values.dtype.kind in "if" and bool((labels.values == -1).any())
            seen |= _MINUS if minus else _ZERO * bool((labels.values == 0).any())
        if seen == _ZERO | _MINUS:
            raise InvalidInputError.mixed_labels()
        counts = nothing()
        start, stop = 0, _FIRST
        while start < summary.rows:
            part = slice(start, stop)
            scores = source.scores[part].astype(np.float64)
            block = Block(scores, [source.streams[0].read(part, slice(None))])
            level = max(counts.level, self._counts.level)
            counts = counts.plus(count(numbered(scores), block, LIMIT, level), LIMIT)
            start, stop = stop, stop + ROWS
        self._counts, self._labels = self._counts.plus(counts, LIMIT), seen
        return self

    def merge(self, other: Sketch) -> Sketch:
        """Add another sketch to this one, and return this one; the other stays as it is."""
        if not isinstance(other, Sketch):
            raise InvalidParameterError.of(
                parameter="other", caller="Sketch.merge", must_be="a sketch", got=type(other)
            )
        seen = self._labels | other._labels
        if seen == _ZERO | _MINUS:
            raise InvalidInputError.mixed_labels()
        self._counts, self._labels = self._counts.plus(other._counts, LIMIT), seen
        return self

    def __add__(self, other: object) -> Sketch:
        return self.copy().merge(other) if isinstance(other, Sketch) else NotImplemented

    def __radd__(self, other: object) -> Sketch:
        # So that sum(sketches) works, which begins with 0.
        return self.copy() if other == 0 else NotImplemented

    def copy(self) -> Sketch:
        """Return a sketch of the same rows; to update one does not change the other."""
        made = Sketch()
        made._counts, made._labels = self._counts, self._labels
        return made

    # --- to keep it

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes, to send it anywhere; equal sketches have equal bytes."""
        return _file.pack(self._counts, self._labels)

    @classmethod
    def from_bytes(cls, data: bytes) -> Sketch:
        """Return the sketch that `to_bytes` packed; anything else is refused, and nothing executed."""
        return cls._unpacked(bytes(data), "the bytes")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: plain columns of numbers with a checksum, never pickle.

        The file is there whole or not at all. `docs/sketch.md` describes it byte by byte.
        """
        data = self.to_bytes()
        with replaced(path) as beside:
            beside.write_bytes(data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sketch:
        """Read a file that `save` wrote; a damaged or foreign one is refused with the reason."""
        return cls._unpacked(_file.read(path), os.fspath(path))

    @classmethod
    def _unpacked(cls, data: bytes, name: str) -> Sketch:
        made = cls()
        made._counts, made._labels = _file.unpack(data, name)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Sketch.from_bytes, (self.to_bytes(),)

    def __eq__(self, other: object) -> bool:
        return self.to_bytes() == other.to_bytes() if isinstance(other, Sketch) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    # --- what it knows

    @property
    def rows(self) -> int:
        """How many rows it has seen."""
        return int(self._counts.rows.sum())

    @property
    def positives(self) -> int | float:
        """The mass of the positive rows: how many, or the sum of their weights."""
        return self._counts.unit.number(self._counts.pos.total())

    @property
    def negatives(self) -> int | float:
        """The mass of the negative rows."""
        return self._counts.unit.number(self._counts.neg.total())

    @property
    def buckets(self) -> int:
        """How many buckets it uses."""
        return len(self._counts.numbers)

    @property
    def is_exact(self) -> bool:
        """Whether each bucket holds one distinct score, so that all answers are final."""
        return bool((self._counts.low == self._counts.high).all())

    @property
    def auc(self) -> AucBounds:
        """The area under the ROC curve, between bounds that hold for certain."""
        return auc(self._known())

    def best(
        self,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
    ) -> BestSoFar:
        """Return the best threshold that one pass can tell, with bounds for the best of all.

        The value and the confusion at the threshold are exact: a cut between buckets splits none.

        Parameters
        ----------
        maximize, minimize : str, metric expression or callable
            What to maximise or minimise, one of the two, as in `find`.
        subject_to : str, constraint, or a list of them, default=None
            What must hold.

        Examples
        --------
        >>> import numpy as np
        >>> import cutpoints as cp
        >>> rng = np.random.default_rng(0)
        >>> score = rng.random(300_000)
        >>> label = rng.random(300_000) < score
        >>> so_far = cp.Sketch().update(score, label).best(maximize="f1")
        >>> so_far.status, so_far.upper - so_far.lower < 1e-4
        ('bounded', True)
        """
        wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="Sketch.best")
        return best(self._known(), wanted)

    def refine(
        self,
        y_score: Any,
        y_true: Any = None,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
        label: str | None = None,
        score: str | None = None,
        weight: str | None = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        at: At = "score",
    ) -> Solution:
        """Return the exact optimum: look again at the data, at the few rows that could still hold it.

        Parameters
        ----------
        y_score, y_true : array-like of shape (n_samples,)
            The rows that were sketched, all of them, in any order. Or in place of both a data frame,
            or the path or pattern of files, with `label`, `score` and `weight`, as in `find`.
        maximize, minimize, subject_to
            The goal.
        label, score, weight : str, default=None
            Names of columns.
        sample_weight, pos_label, at
            As in `find`.

        Returns
        -------
        Solution
            What `find` returns for these data: threshold, interval, value, confusion and ties.

        Raises
        ------
        InvalidInputError
            If the data are not the rows that were sketched.
        """
        wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="Sketch.refine")
        columns = {"label": label, "score": score, "weight": weight}
        # What is not two arrays stands first in `find` too.
        first, second = (y_score, None) if y_true is None else (y_true, y_score)
        data = as_source(first, second, columns=columns, sample_weight=sample_weight, pos_label=pos_label)
        source = Refined(self._known(), data)
        return solve(wanted, lambda one: search(source, one), at)

    def _known(self) -> Cells:
        if len(self._counts.numbers) == 0:
            raise InvalidInputError.empty(name="the sketch")
        return self._counts

    def __repr__(self) -> str:
        if self.rows == 0:
            return "Sketch: no rows"
        low, high = float(self._counts.low[0]), float(self._counts.high[-1])
        exact = "every distinct score" if self.is_exact else f"level {self._counts.level}"
        return (
            f"Sketch: {self.rows:,} rows, {self.positives:,} positive, {self.negatives:,} negative, "
            f"scores {low!r} to {high!r}, {self.buckets:,} buckets ({exact})"
        )


def _is_empty(column: Any) -> bool:
    try:
        return len(column) == 0 and np.ndim(column) == 1
    except TypeError:
        return False

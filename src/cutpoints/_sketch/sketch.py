"""The sketch: update, merge, save, and ask; for people with pipelines of their own."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING, Any

from cutpoints._atomic import replaced
from cutpoints._data.read import as_data
from cutpoints._find import solve
from cutpoints._goal import Constraints, Objective, goal
from cutpoints._search.run import SearchResult, search
from cutpoints._sketch import file as _file
from cutpoints._sketch.answers import AucBounds, BestSoFar, auc, best
from cutpoints._sketch.contents import Contents
from cutpoints._sketch.refine import check_same_rows
from cutpoints.exceptions import DataWarning, InvalidParameterError

if TYPE_CHECKING:
    from cutpoints._goal import Goal
    from cutpoints._result import Solution


class Sketch:
    """Counts of scores and labels that can be updated, merged, saved and asked.

    A sketch holds at most 65,536 buckets, about 3 MB, however many rows it has seen. With at most
    65,536 distinct scores it holds every one of them, and its answers are final. With more, neighbors
    share a bucket, and answers come with bounds that are certain.

    Merging is associative and commutative, bit for bit: any split of the rows, in any order, merged
    in any order, gives the same bytes. Scores are kept as float64, in which float32 scores are exact,
    so parts of either kind can be merged. Several threads may update one sketch.

    Parameters
    ----------
    max_weight : float, default=None
        The largest weight that a row can have. None: rows are counted and have no weights. Each weight is
        rounded once, to within `resolution`; sums of weights are never rounded.
    max_rows : int, default=10**9
        With `max_weight`: the most rows that the sketch, and all that it is merged with, can have. The
        fewer, the finer weights are rounded: to 32 bits below `max_weight` by default, and to 36 bits
        up to 67 million rows. Only sketches with equal limits can be merged.

    See Also
    --------
    find : The exact optimum, if the data are available.

    Examples
    --------
    >>> import cutpoints as cp
    >>> monday = cp.Sketch().update([0, 0], [0.1, 0.4])
    >>> tuesday = cp.Sketch().update([1, 1], [0.35, 0.8])
    >>> both = monday + tuesday
    >>> both.best(maximize="f1")
    status      optimal
    threshold   0.3  (positive if score >= threshold)
    value       0.8  (maximize f1)
    confusion   tp 2  fp 1  fn 0  tn 1
    >>> both.auc
    AucBounds(lower=0.75, upper=0.75)
    """

    def __init__(self, *, max_weight: float | None = None, max_rows: int = 10**9) -> None:
        self._contents = Contents.limited(max_weight, max_rows)
        self._lock = threading.Lock()

    # --- adding rows

    def update(
        self, y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: Any = None
    ) -> Sketch:
        """Add rows; a batch that is refused leaves the sketch as it was.

        The cost is that of a sort of the scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels: 0/1, booleans, -1/+1, or any two values with `pos_label`. May be empty.
        y_score : array-like of shape (n_samples,)
            The scores.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of at most `max_weight`; 1 by default.
        pos_label : int, float, bool or str, default=None
            The label of the positive class, the same in all updates; 1 by default.

        Returns
        -------
        Sketch
            The sketch itself.

        Raises
        ------
        InvalidInputError
            As `find` does: NaN scores, more than two labels, lengths that differ, negative weights. The
            labels of earlier updates count too.
        InvalidParameterError
            Weights beyond `max_weight`, rows beyond `max_rows`, another `pos_label` than before.
        """
        rows = self._contents.of_rows(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
        return self._add(rows)

    def merge(self, other: Sketch) -> Sketch:
        """Add another sketch to this one, and return this one; the other stays as it is."""
        if not isinstance(other, Sketch):
            raise InvalidParameterError("other", caller="Sketch.merge", expected="a sketch", got=type(other))
        return self._add(other._contents)

    def _add(self, contents: Contents) -> Sketch:
        with self._lock:  # another thread may have added rows in the meantime
            self._contents = self._contents.plus(contents)
        return self

    def __add__(self, other: object) -> Sketch:
        return self.copy().merge(other) if isinstance(other, Sketch) else NotImplemented

    def __radd__(self, other: object) -> Sketch:
        # So that sum(sketches) works, which begins with 0.
        return self.copy() if other == 0 else NotImplemented

    def copy(self) -> Sketch:
        """Return a sketch of the same rows; updating one does not change the other."""
        return Sketch._of(self._contents)

    @classmethod
    def _of(cls, contents: Contents) -> Sketch:
        made = cls()
        made._contents = contents
        return made

    # --- saving

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes, to send it anywhere; equal sketches have equal bytes."""
        return _file.pack(self._contents)

    @classmethod
    def from_bytes(cls, data: bytes) -> Sketch:
        """Return the sketch that `to_bytes` packed; anything else is refused, and nothing executed."""
        return cls._of(_file.unpack(bytes(data), "the bytes"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: plain columns of numbers with a checksum, never pickle.

        The file is there whole or not at all. `docs/howto/sketch.md` describes it byte by byte.
        """
        data = self.to_bytes()
        with replaced(path) as beside:
            beside.write_bytes(data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sketch:
        """Read a file that `save` wrote; a damaged or foreign one is refused with the reason."""
        return cls._of(_file.unpack(_file.read(path), os.fspath(path)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Sketch.from_bytes, (self.to_bytes(),)

    def __eq__(self, other: object) -> bool:
        return self.to_bytes() == other.to_bytes() if isinstance(other, Sketch) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    # --- answers

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._contents.rows

    @property
    def positives(self) -> int | float:
        """The number of positive rows, or the sum of their weights."""
        return self._contents.grid.number(int(self._contents.buckets.pos.sum()))

    @property
    def negatives(self) -> int | float:
        """The number of negative rows, or the sum of their weights."""
        return self._contents.grid.number(int(self._contents.buckets.neg.sum()))

    @property
    def resolution(self) -> float:
        """How far a single weight may have moved by rounding; 0 if rows are counted."""
        return self._contents.grid.resolution

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return len(self._contents.buckets)

    @property
    def is_exact(self) -> bool:
        """Whether each bucket holds one distinct score, so that all answers are final."""
        return bool((self._contents.buckets.low == self._contents.buckets.high).all())

    @property
    def auc(self) -> AucBounds:
        """The area under the ROC curve, between bounds that are certain."""
        return auc(self._contents)

    def best(
        self,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
    ) -> BestSoFar:
        """Return the best threshold that the sketch can tell, with bounds for the best of all.

        The value and the confusion at the threshold are exact: a cut between buckets splits none.

        Parameters
        ----------
        maximize, minimize : str, metric expression or callable
            What to maximize or minimize, one of the two, as in `find`.
        subject_to : str, constraint, or a list of them, default=None
            What must hold.

        Examples
        --------
        >>> import numpy as np
        >>> import cutpoints as cp
        >>> rng = np.random.default_rng(0)
        >>> score = rng.random(300_000)
        >>> label = rng.random(300_000) < score
        >>> so_far = cp.Sketch().update(label, score).best(maximize="f1")
        >>> so_far.status, so_far.upper - so_far.lower < 1e-4
        ('bounded', True)
        """
        wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="Sketch.best")
        found = best(self._contents, wanted)
        if not self.positives or not self.negatives:
            missing = "negative" if self.positives else "positive"
            warnings.warn(DataWarning.one_class(missing=missing), stacklevel=2)
        return found

    def refine(
        self,
        y_true: Any,
        y_score: Any = None,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
        label: str | None = None,
        score: str | None = None,
        weight: str | None = None,
        sample_weight: Any = None,
        pos_label: Any = None,
    ) -> Solution:
        """Return the exact optimum, from the data: what `find` returns, if these are the sketched rows.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            The rows that were sketched, all of them, in any order. Or in place of both a data frame,
            or the path or pattern of files, with `label`, `score` and `weight`, as in `find`.
        maximize, minimize, subject_to
            The goal.
        label, score, weight : str, default=None
            Names of columns.
        sample_weight, pos_label
            As in `find`.

        Returns
        -------
        Solution
            With `threshold`, `interval`, `value`, `confusion`, `ties` and `certificate`.

        Raises
        ------
        InvalidInputError
            If the data are not the rows that were sketched: in total, or near the best threshold.
        """
        wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="Sketch.refine")
        contents = self._contents
        if sample_weight is not None or weight is not None:
            contents.refuse_weights("Sketch.refine")
        data = as_data(
            y_true,
            y_score,
            label=label,
            score=score,
            weight=weight,
            sample_weight=sample_weight,
            pos_label=pos_label,
            caller="Sketch.refine",
        )
        source = data.source()

        def look(one: Goal) -> SearchResult:
            found = search(source, one)
            check_same_rows(contents, source, found, one)
            return found

        solution = solve(wanted, look)
        data.warn_of_one_class(solution.positives, solution.negatives)
        return solution

    def __repr__(self) -> str:
        if self.rows == 0:
            return "Sketch: no rows"
        buckets = self._contents.buckets
        low, high = float(buckets.low[0]), float(buckets.high[-1])
        exact = "every distinct score" if self.is_exact else f"level {buckets.level}"
        return (
            f"Sketch: {self.rows:,} rows, {self.positives:,} positive, {self.negatives:,} negative, "
            f"scores {low!r} to {high!r}, {self.buckets:,} buckets ({exact})"
        )

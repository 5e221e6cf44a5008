"""Every cut at once: the confusion at each, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutpoint._errors import InvalidInputError, InvalidParameterError, MissingDependencyError
from cutpoint.find import as_source, cut_at, solve
from cutpoint.metrics._catalogue import get
from cutpoint.objective import Constraints, Objective, goal, objective
from cutpoint.search.run import Found, decide
from cutpoint.search.sweep import all_cuts

if TYPE_CHECKING:
    from cutpoint.metrics._expression import Expression
    from cutpoint.search._cuts import Cuts
    from cutpoint.solution import Cut, Solution

COLUMNS = ("accuracy", "precision", "recall", "specificity", "f1", "mcc")
_HALF = 10


class Roc(NamedTuple):
    """The ROC curve from (0, 0) to (1, 1); thresholds descend from inf."""

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[np.float64]


class PrecisionRecall(NamedTuple):
    """Precision and recall, thresholds descending; precision is NaN where nobody is called positive."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    thresholds: NDArray[np.float64]


def curve(y_true: Any, y_score: Any = None, *, sample_weight: Any = None, pos_label: Any = None) -> Curve:
    """Return every cut of the data: one for each distinct score, and "nobody positive".

    The cost is that of a sort, the memory that of the distinct scores.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As for `find`.

    Examples
    --------
    >>> import cutpoint as cp
    >>> c = cp.curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> c.auc
    0.75
    >>> print(c.table(["recall"]))
    threshold  tp  fp  fn  tn  recall
          inf   0   0   2   2     0.0
          0.8   1   0   1   2     0.5
          0.4   1   1   1   1     0.5
         0.35   2   1   0   1     1.0
          0.1   2   2   0   0     1.0
    """
    source = as_source(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    return Curve(all_cuts(source))


class Curve:
    """All cuts, thresholds descending, "nobody positive" (inf) first.

    With a score of +inf in the data no threshold calls nobody positive; the first cut is then that
    of the infinite scores.
    """

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts

    def __len__(self) -> int:
        return len(self._cuts.thresholds)

    def __repr__(self) -> str:
        positives, negatives = map(float, self._cuts.summary.totals)
        return (
            f"<Curve of {len(self):,} cuts: {self._cuts.summary.rows:,} rows, "
            f"{positives:,g} positive, {negatives:,g} negative>"
        )

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The thresholds, descending."""
        return self._cuts.thresholds.astype(np.float64)

    @property
    def tp(self) -> NDArray[Any]:
        """True positives at each cut; whole numbers as int64."""
        return self._count("tp")

    @property
    def fp(self) -> NDArray[Any]:
        """False positives at each cut."""
        return self._count("fp")

    @property
    def fn(self) -> NDArray[Any]:
        """False negatives at each cut."""
        return self._count("fn")

    @property
    def tn(self) -> NDArray[Any]:
        """True negatives at each cut."""
        return self._count("tn")

    def _count(self, name: str) -> NDArray[Any]:
        unit = self._cuts.summary.unit
        values = self._cuts.floats[name]
        return values.astype(np.int64) if unit.limbs == 1 and unit.exponent == 0 else values

    def values(self, metric: Objective) -> NDArray[np.float64]:
        """Return a metric at every cut; NaN where it is undefined.

        Examples
        --------
        >>> import cutpoint as cp
        >>> cp.curve([0, 1], [0.3, 0.6]).values("precision")
        array([nan, 1. , 0.5])
        """
        return self._cuts.values(objective(metric))

    def roc(self) -> Roc:
        """Return the ROC curve; needs both classes."""
        self._need_both("roc")
        return Roc(self.values("fpr"), self.values("recall"), self.thresholds)

    def pr(self) -> PrecisionRecall:
        """Return precision and recall at every cut; needs positives.

        Precision at "nobody positive" is 0/0 and stays NaN: no decision was taken. To draw a curve
        that begins at recall 0, repeat the first defined precision (that of the highest score), as
        `average_precision` does in effect; do not assume 1.
        """
        if self._cuts.summary.positives == 0:
            self._need_both("pr")
        return PrecisionRecall(self.values("precision"), self.values("recall"), self.thresholds)

    @cached_property
    def auc(self) -> float:
        """The area under the ROC curve: P(a positive scores higher), ties count half; NaN with one class.

        Exact for counts: the Mann-Whitney statistic in integers, divided once.
        """
        summary = self._cuts.summary
        if 0 in (summary.positives, summary.negatives):
            return math.nan
        if summary.unit.limbs == 1 and 2 * summary.positives * summary.negatives < 1 << 62:
            tp, fp = (np.append(0, side.limbs[0]) for side in (self._cuts.tp, self._cuts.fp))
            twice = int(((tp[1:] + tp[:-1]) * np.diff(fp)).sum())
            return twice / (2 * summary.positives * summary.negatives)
        tpr, fpr = (np.append(0.0, self.values(name)) for name in ("recall", "fpr"))
        return math.fsum((tpr[1:] + tpr[:-1]) / 2 * np.diff(fpr))

    @cached_property
    def average_precision(self) -> float:
        """Precision averaged over the steps of recall: sum of (R_k - R_(k-1)) P_k; NaN without positives."""
        if self._cuts.summary.positives == 0:
            return math.nan
        steps = np.diff(self.values("recall"), prepend=0.0)
        precision = self.values("precision")
        found = steps > 0
        return math.fsum(steps[found] * precision[found])

    def at(self, threshold: float) -> Cut:
        """Return what a threshold does: its confusion, and the interval of thresholds that do the same.

        Examples
        --------
        >>> import cutpoint as cp
        >>> cp.curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).at(0.5).confusion
        Confusion(tp=1, fp=0, fn=1, tn=2)
        """
        if not isinstance(threshold, (int, float, np.number)) or math.isnan(threshold):
            raise InvalidParameterError.of(
                parameter="threshold", caller="at", must_be="a number (inf allowed)", got=threshold
            )
        # Descending thresholds: the last cut whose threshold is still >= the given one.
        index = int(np.searchsorted(-self._cuts.thresholds, -float(threshold), side="right")) - 1
        return cut_at(self._cuts, max(index, 0))

    def best(
        self,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
    ) -> Solution:
        """Return the best cut for a goal, as `find` does, without reading the data again."""
        wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="best")

        def look(one: Any) -> Found:
            return decide(self._cuts, one, "sweep", 0, len(self))

        return solve(wanted, look)

    def table(self, metrics: Sequence[str | Expression] = COLUMNS) -> Table:
        """Return threshold, TP, FP, FN, TN and some metrics at every cut."""
        columns: dict[str, NDArray[Any]] = {"threshold": self.thresholds}
        columns |= {name: self._count(name) for name in ("tp", "fp", "fn", "tn")}
        for metric in metrics:
            expression = (
                get(metric) if isinstance(metric, str) and metric.isidentifier() else objective(metric)
            )
            columns[str(expression)] = self._cuts.values(expression)
        return Table(columns)

    def _need_both(self, what: str) -> None:
        summary = self._cuts.summary
        positives, negatives = map(float, summary.totals)
        if 0 in (summary.positives, summary.negatives):
            raise InvalidInputError.undefined(objective=what, positives=positives, negatives=negatives)


class Table(Mapping[str, NDArray[Any]]):
    """Columns of equal length by name; prints as text, converts to a frame."""

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_pandas(self) -> Any:
        """Return a pandas data frame."""
        return self._frame("pandas")

    def to_polars(self) -> Any:
        """Return a polars data frame."""
        return self._frame("polars")

    def _frame(self, package: str) -> Any:
        import importlib

        try:
            module = importlib.import_module(package)
        except ImportError as error:
            raise MissingDependencyError.of(caller=f"to_{package}", package=package, extra=package) from error
        return module.DataFrame(self._columns)

    def __str__(self) -> str:
        rows = len(next(iter(self._columns.values())))
        shown = list(range(rows)) if rows <= 2 * _HALF else [*range(_HALF), -1, *range(rows - _HALF, rows)]
        lines = [list(self._columns)]
        lines += [["..." if i < 0 else _cell(column[i]) for column in self._columns.values()] for i in shown]
        widths = [max(len(line[j]) for line in lines) for j in range(len(self._columns))]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
        )

    __repr__ = __str__


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, np.integer) else f"{float(value):.6}"

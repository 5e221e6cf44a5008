"""The curve: all cuts of the data, and every question about them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._curve import areas as _areas
from cutpoints._curve import costs
from cutpoints._curve.hull import Hull
from cutpoints._curve.losses import LossSplit, split_loss
from cutpoints._curve.risk_coverage import RiskCoverage, risk_coverage
from cutpoints._curve.shapes import Det, Gain, Ks, Lift, PrecisionRecall, Roc
from cutpoints._curve.table import Table
from cutpoints._data.read import as_data
from cutpoints._equality import compared_by_value
from cutpoints._find import cut_at, of_negated, solve, warn_if_inverted
from cutpoints._format import html_pairs, rows_in_words, value
from cutpoints._goal import Constraints, Objective, goal, objective
from cutpoints._kernel.weights import MOST_INT
from cutpoints._search.run import SearchResult, decide
from cutpoints._search.sweep import all_cuts
from cutpoints._validate import is_number, number_in, one_of
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from cutpoints.metrics._arithmetic import as_fraction
from cutpoints.metrics.expression import Expression
from cutpoints.metrics.registry import get

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._kernel.cuts import Cuts
    from cutpoints._result import Cut, Solution

_NOTEBOOK_CUTS = 12
COLUMNS = ("accuracy", "precision", "recall", "specificity", "f1", "mcc")


def curve(
    y_true: Any,
    y_score: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    columns: Any = None,
    metrics: Any = (),
    lower_is_positive: bool = False,
) -> Curve:
    """Return every cut of the data: one for each distinct score, and "no positives".

    The cost is that of a sort, the memory three numbers for each distinct score. Lazy frames stay
    lazy, and large files are read in batches: what comes back are the distinct scores with their counts.

    Parameters
    ----------
    y_true, y_score, label, score, weight, sample_weight, pos_label, lower_is_positive
        As for `find`.
    columns : str, list of str, or mapping of names to arrays, default=None
        Further columns to add up at every cut, for costs that differ from row to row.
    metrics : str, metric, or list of them, default=()
        What will be asked of the curve: the columns that these add up are added up, too.

    Examples
    --------
    >>> import cutpoints as cp
    >>> c = cp.curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> c.auc
    0.75
    >>> print(c.table(["recall"]))
    threshold  tp  fp  fn  tn  recall
          inf   0   0   2   2     0.0
          0.8   1   0   1   2     0.5
          0.4   1   1   1   1     0.5
          0.3   2   1   0   1     1.0
          0.1   2   2   0   0     1.0
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
    >>> cp.curve(frame, label="y", score="p").auc
    0.75

    Money against the threshold, where a miss costs its amount:

    >>> c = cp.curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], columns={"amount": [9, 50, 3, 400]})
    >>> c.values("cost(fp=5, fn=amount)")
    array([403.,   3.,   8.,   5.,  10.])
    """
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label, lower_is_positive=lower_is_positive, caller="curve",
    ).with_columns(columns, "curve")  # fmt: skip
    several = [metrics] if isinstance(metrics, (str, Expression)) else metrics
    wanted = [objective(one, "metrics", "curve") for one in several]
    data = data.adding(tuple(column for one in wanted for column in one.columns), "curve")
    found = Curve(all_cuts(data.source()), lower_is_positive=data.lower_is_positive)
    found.warn_if_inverted()
    data.warn_of_one_class(found.positives, found.negatives)
    return found


@compared_by_value
class Curve:
    """All cuts, thresholds descending, "no positives" (inf) first.

    With a score of +inf in the data no threshold calls nobody positive; the first cut is then that
    of the infinite scores.

    With one class only, rates of the other class are undefined: `roc`, `det`, `ks`, `hull` and
    `cost_curve` are errors that say so and `auc` is NaN; without positives, `pr`, `gain` and `lift`
    are errors too. Counts, `table` and `profit_curve` always exist.
    """

    def __init__(self, cuts: Cuts, *, lower_is_positive: bool = False) -> None:
        self._cuts = cuts
        self.lower_is_positive = lower_is_positive

    def __len__(self) -> int:
        return len(self._cuts.thresholds)

    def __repr__(self) -> str:
        positives, negatives = self._cuts.summary.sizes
        return (
            f"<Curve of {len(self):,} cuts: {self._cuts.summary.rows:,} rows, "
            f"{positives:,g} positive, {negatives:,g} negative>"
        )

    def _repr_html_(self) -> str:
        """Show the areas, and cuts spread over the curve, in a notebook."""
        facts = [
            ("cuts", f"{len(self):,}"),
            ("data", rows_in_words(self.rows, self.positives, self.negatives)),
            ("AUC", value(self.auc)),
            ("average precision", value(self.average_precision)),
        ]
        index = self.spread(_NOTEBOOK_CUTS)
        below = np.append(self.thresholds[1:], -np.inf)[index]
        columns = {name: column[index] for name, column in self.table().items()}
        return html_pairs(facts) + Table(columns, below)._repr_html_()

    def warn_if_inverted(self, *, model: str | None = None) -> None:
        """Warn if positives score clearly lower than negatives."""
        warn_if_inverted(self._cuts.summary, self.auc, model=model)

    # --- counts and metrics at every cut

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._cuts.summary.rows

    @property
    def positives(self) -> int | float:
        """How many positives there are, or their weight."""
        return self._cuts.summary.grid.number(self._cuts.summary.positives)

    @property
    def negatives(self) -> int | float:
        """How many negatives there are, or their weight."""
        return self._cuts.summary.grid.number(self._cuts.summary.negatives)

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The thresholds, descending; read-only."""
        found = self._cuts.thresholds.astype(np.float64, copy=False).view()
        found.flags.writeable = False
        return found

    @property
    def tp(self) -> NDArray[Any]:
        """True positives at each cut; integers as int64."""
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
        values = self._cuts.floats[name]
        return values.astype(np.int64) if self._cuts.summary.grid.step == 1 else values

    def values(self, metric: Objective) -> NDArray[np.float64]:
        """Return a metric at every cut; NaN where it is undefined.

        Examples
        --------
        >>> import cutpoints as cp
        >>> cp.curve([0, 1], [0.3, 0.6]).values("precision")
        array([nan, 1. , 0.5])
        """
        return self._cuts.values(objective(metric, "metric", "values"))

    def table(self, metrics: str | Expression | Sequence[str | Expression] = COLUMNS) -> Table:
        """Return threshold, TP, FP, FN, TN and some metrics, or a single one, at every cut."""
        columns: dict[str, NDArray[Any]] = {"threshold": self.thresholds}
        columns |= {name: self._count(name) for name in ("tp", "fp", "fn", "tn")}
        for metric in [metrics] if isinstance(metrics, (str, Expression)) else metrics:
            expression = (
                get(metric)
                if isinstance(metric, str) and metric.isidentifier()
                else objective(metric, "metrics", "table")
            )
            columns[str(expression)] = self._cuts.values(expression)
        return Table(columns, self._cuts.below)

    def at(self, threshold: float) -> Cut:
        """Return what a threshold does: its confusion, and the interval of thresholds that do the same.

        Examples
        --------
        >>> import cutpoints as cp
        >>> cp.curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).at(0.5).confusion
        Confusion(tp=1, fp=0, fn=1, tn=2)
        """
        if not is_number(threshold) or math.isnan(threshold):
            expected = "a number (inf allowed)"
            raise InvalidParameterError("threshold", got=threshold, expected=expected, caller="at")
        return cut_at(self._cuts, int(costs.index_at(self._cuts, np.float64(threshold))))

    def best(
        self,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
    ) -> Solution:
        """Return the best cut for a goal, as `find` does, without reading the data again."""
        wanted = goal(
            maximize=maximize, minimize=minimize, subject_to=subject_to, caller="best", columns=True
        )

        def look(one: Any) -> SearchResult:
            return decide(self._cuts, one, "sweep", 0, self._cuts.summary.rows)

        return of_negated(solve(wanted, look)) if self.lower_is_positive else solve(wanted, look)

    def split_loss(
        self,
        *,
        maximize: Objective | None = None,
        minimize: Objective | None = None,
        subject_to: Constraints = None,
        threshold: float = 0.5,
    ) -> LossSplit:
        """Return what a threshold loses against a perfect classifier, split by what would repair it.

        Is it the threshold or the model? `threshold` is lost because the goal asks for another one than that
        in use; `calibration` because the scores are not the probabilities that they claim to be; `ranking`
        because negatives lie above positives, which only a better model repairs.

        Examples
        --------
        >>> import cutpoints as cp
        >>> c = cp.curve([0, 0, 0, 1, 0, 1], [0.1, 0.1, 0.2, 0.3, 0.4, 0.6])
        >>> c.split_loss(minimize="cost(fp=1, fn=4)")
        in use       4 at 0.5
        threshold    2 at 0.2, the best threshold if the scores are probabilities: 2 less
        calibration  1 at 0.3, the best threshold: 1 less
        ranking      0 with every positive above every negative: 1 less
        """
        self._need_both("split_loss")
        asked: Any = {"maximize": maximize, "minimize": minimize, "subject_to": subject_to}
        wanted = goal(**asked, caller="split_loss", columns=True)
        self.at(threshold)  # checks it
        return split_loss(self._cuts, wanted, threshold, self.best(**asked).raise_if_infeasible())

    def spread(self, n: int, *, around: float | None = None) -> NDArray[np.intp]:
        """Return the positions of `n` cuts to show: spread over the curve, and closer around a threshold.

        Even steps of recall and of the false positive rate, recall counting twice: where positives
        are rare, even steps over the cuts would show hardly anything but the lowest scores.

        Examples
        --------
        >>> import cutpoints as cp
        >>> c = cp.curve([0, 0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
        >>> c.thresholds[c.spread(4)]
        array([inf, 0.7, 0.5, 0.1])
        """
        size = len(self)
        if size <= n:
            return np.arange(size)
        sides = [
            factor * side / total
            for factor, side, total in ((2, self.tp, self.positives), (1, self.fp, self.negatives))
            if total
        ]
        place = np.add.reduce(sides)
        wanted = np.linspace(0, place[-1], n)
        chosen = {0, size - 1}
        if around is not None:
            middle = int(costs.index_at(self._cuts, np.float64(around)))
            step = wanted[1] / 2
            chosen |= {middle, *self._nearest(place, place[middle] + np.array([-step, step]))}
        # Where several steps have the same nearest cut, the highest thresholds make up the number.
        for one in (*self._nearest(place, np.linspace(0, place[-1], n - len(chosen) + 2)), *range(size)):
            if len(chosen) >= n:
                break
            chosen.add(one)
        return np.array(sorted(chosen), dtype=np.intp)

    @staticmethod
    def _nearest(places: NDArray[np.float64], wanted: NDArray[np.float64]) -> list[int]:
        """Return the position of the place nearest to each of those wanted; places ascend."""
        right = np.searchsorted(places, wanted).clip(1, len(places) - 1)
        nearer = wanted - places[right - 1] <= places[right] - wanted
        return [int(i) for i in np.where(nearer, right - 1, right)]

    # --- ROC space

    def roc(self, *, drop_intermediate: bool = False) -> Roc:
        """Return the ROC curve; needs both classes.

        Parameters
        ----------
        drop_intermediate : bool, default=False
            Leave out points that lie exactly on the line between their neighbors: the drawn curve
            and its area stay the same, the thresholds become fewer. Decided in integers.
        """
        self._need_both("roc")
        tpr, fpr = self._share("tp"), self._share("fp")
        if not drop_intermediate:
            return Roc(fpr, tpr, self.thresholds)
        keep = self._corners()
        return Roc(fpr[keep], tpr[keep], self.thresholds[keep])

    def det(self) -> Det:
        """Return both error rates at every cut; needs both classes."""
        self._need_both("det")
        return Det(self._share("fp"), self.values("fnr"), self.thresholds)

    def ks(self) -> Ks:
        """Return the share of each class at or above each threshold, and the largest gap."""
        self._need_both("ks")
        tpr, fpr = self._share("tp"), self._share("fp")
        gap = np.abs(tpr - fpr)
        # Floats find the candidates; fractions decide, and round the statistic once.
        near = np.flatnonzero(gap >= gap.max() - 1e-12)[:1000]
        exact = [self._gap(int(i)) for i in near]
        best = max(exact)
        at = near[exact.index(best)]
        return Ks(tpr, fpr, self.thresholds, float(best), float(self.thresholds[at]))

    def _gap(self, index: int) -> Fraction:
        summary = self._cuts.summary
        tp, fp = int(self._cuts.tp[index]), int(self._cuts.fp[index])
        return abs(Fraction(tp, summary.positives) - Fraction(fp, summary.negatives))

    @property
    def ks_statistic(self) -> float:
        """The largest distance between the two classes' distributions of scores; NaN with one class."""
        return math.nan if self._one_class else self.ks().statistic

    @cached_property
    def auc(self) -> float:
        """The area under the ROC curve: P(a positive scores higher), ties count half; NaN with one class.

        Exact: the Mann-Whitney statistic in integers, for counts and for weights, divided once.
        """
        if self._one_class:
            return math.nan
        summary = self._cuts.summary
        return _areas.twice_area(self._cuts) / (2 * summary.positives * summary.negatives)

    @property
    def gini(self) -> float:
        """2 AUC - 1: 0 for chance, 1 for perfect ranking, negative if reversed; also called Somers' D."""
        if self._one_class:
            return math.nan
        summary = self._cuts.summary
        area = summary.positives * summary.negatives
        return (_areas.twice_area(self._cuts) - area) / area

    def partial_auc(self, max_fpr: float, *, standardized: bool = False) -> float:
        """Return the area under the ROC curve up to a false positive rate; NaN with one class.

        Exact; inside a step of tied scores the curve is straight.

        Parameters
        ----------
        max_fpr : float
            Where to stop, in (0, 1].
        standardized : bool, default=False
            False: the plain area, at most `max_fpr`. True: McClish's standardization, 0.5 for
            chance and 1 for perfect: what `sklearn.metrics.roc_auc_score(max_fpr=...)` returns.

        References
        ----------
        McClish, D. K. (1989). Analyzing a portion of the ROC curve.
        doi:10.1177/0272989X8900900307

        Examples
        --------
        >>> import cutpoints as cp
        >>> c = cp.curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> c.partial_auc(0.5), c.partial_auc(0.5, standardized=True)
        (0.25, 0.6666666666666666)
        """
        number_in("max_fpr", max_fpr, 0, 1, ends="(]", caller="partial_auc")
        if self._one_class:
            return math.nan
        end = as_fraction(max_fpr)
        area = _areas.partial_area(self._cuts, end)
        if not standardized:
            return float(area)
        chance = end * end / 2
        return float((1 + (area - chance) / (end - chance)) / 2)

    @cached_property
    def _hull(self) -> Hull:
        self._need_both("hull")
        return Hull(self._cuts)

    def hull(self) -> Hull:
        """Return the upper convex hull of the ROC curve, found in integers; needs both classes."""
        return self._hull

    def risk_coverage(self) -> RiskCoverage:
        """Return how the error of automatic decisions falls as more rows are left to review.

        Exact, at the vertices of the convex frontier of errors against reviews: a few hundred points for a
        million rows. For the best band at any other bound use `find_band` with ``maximize="coverage"``.

        Examples
        --------
        >>> import cutpoints as cp
        >>> found = cp.curve([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.4, 0.5, 0.6, 0.9]).risk_coverage()
        >>> found.coverage, found.errors
        (array([0.        , 0.33333333, 0.66666667, 1.        ]), array([0., 0., 0., 1.]))
        """
        return risk_coverage(self._cuts)

    # --- PR space, gain and lift

    def pr(self) -> PrecisionRecall:
        """Return precision and recall at every cut; needs positives.

        Precision at "no positives" is 0/0 and stays NaN: no decision was taken. To draw a curve
        that begins at recall 0, repeat the first defined precision (that of the highest score), as
        `average_precision` does in effect; do not assume 1. A random ranking has precision
        `prevalence` at every recall.
        """
        self._need_positives("pr")
        return PrecisionRecall(self.values("precision"), self._share("tp"), self.thresholds)

    @property
    def prevalence(self) -> float:
        """The share of positives: the precision, and the average precision, of a random ranking."""
        positives, negatives = self._cuts.summary.totals
        return float(positives / (positives + negatives)) if positives + negatives else math.nan

    @cached_property
    def average_precision(self) -> float:
        """Precision averaged over the steps of recall: sum of (R_k - R_(k-1)) P_k; NaN without positives."""
        if self._cuts.summary.positives == 0:
            return math.nan
        return _areas.average_precision(self._cuts)

    def auc_pr(self, method: Literal["step", "trapezoid"] = "step") -> float:
        """Return the area under the precision-recall curve; NaN without positives.

        Parameters
        ----------
        method : {"step", "trapezoid"}, default="step"
            "step" is the average precision. "trapezoid" draws straight lines between the points,
            flat before the first: optimistic, since no threshold attains points in between.
        """
        one_of("method", method, ["step", "trapezoid"], caller="auc_pr")
        if method == "step" or self._cuts.summary.positives == 0:
            return self.average_precision
        return _areas.pr_trapezoid(self._cuts)

    def gain(self) -> Gain:
        """Return the cumulative gain curve; needs positives."""
        self._need_positives("gain")
        return Gain(self.values("predicted_positive_rate"), self._share("tp"), self.thresholds)

    def lift(self) -> Lift:
        """Return the lift curve: precision over prevalence; needs positives."""
        self._need_positives("lift")
        return Lift(self.values("predicted_positive_rate"), self.values("lift"), self.thresholds)

    # --- cost space

    def cost_curve(self) -> costs.CostCurve:
        """Return Drummond and Holte's cost curve: the least expected cost for any costs and prevalence.

        References
        ----------
        Drummond, C., Holte, R. C. (2006). Cost curves: an improved method for visualizing
        classifier performance. doi:10.1007/s10994-006-8199-5
        """
        return costs.cost_curve(self.hull())

    def brier_curve(self) -> costs.BrierCurve:
        """Return the Brier curve: the loss of using probabilities as they are; its area is the Brier score.

        References
        ----------
        Hernandez-Orallo, J., Flach, P., Ferri, C. (2011). Brier curves: a new cost-based
        visualisation of classifier performance. ICML.
        """
        return costs.brier_curve(self._cuts, None if self._one_class else self.cost_curve())

    def decision_curve(self, probability: Any = None) -> costs.DecisionCurve:
        """Return net benefit against threshold probability; scores must be probabilities.

        Parameters
        ----------
        probability : array-like in [0, 1), default=None
            The threshold probabilities; 0, 0.01, ..., 0.99 by default.

        References
        ----------
        Vickers, A. J., Elkin, E. B. (2006). Decision curve analysis.
        doi:10.1177/0272989X06295361
        """
        return costs.decision_curve(self._cuts, probability, None if self._one_class else self.hull())

    def profit_curve(self, profit: Objective) -> costs.ProfitCurve:
        """Return profit (or any amount) against the share of rows called positive.

        Examples
        --------
        >>> import cutpoints as cp
        >>> c = cp.curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> c.profit_curve("profit(tp=10, fp=-4)").profit
        array([ 0., 10.,  6., 16., 12.])
        """
        return costs.profit_curve(self._cuts, objective(profit, "profit", "profit_curve"))

    # --- what there is

    def _share(self, name: Literal["tp", "fp"]) -> NDArray[np.float64]:
        """Return TPR or FPR, rounded once for counts."""
        summary = self._cuts.summary
        total = summary.positives if name == "tp" else summary.negatives
        return (self._cuts.tp if name == "tp" else self._cuts.fp) / float(total)

    def _corners(self) -> NDArray[np.bool_]:
        """Return which points are not exactly between their neighbors."""
        summary = self._cuts.summary
        tp, fp = self._cuts.tp, self._cuts.fp
        up, right = np.diff(tp), np.diff(fp)
        if summary.positives * summary.negatives >= MOST_INT:
            up, right = up.astype(object), right.astype(object)
        turns = up[1:] * right[:-1] != up[:-1] * right[1:]
        # A repeated point turns nowhere; the first of them is the one to keep, if any.
        stands = (up[1:] == 0) & (right[1:] == 0)
        moved = (up[:-1] != 0) | (right[:-1] != 0)
        return np.concatenate([[True], (turns | (stands & moved)).astype(np.bool_), [True]])[: len(self)]

    @property
    def _one_class(self) -> bool:
        return 0 in (self._cuts.summary.positives, self._cuts.summary.negatives)

    def _need_positives(self, what: str) -> None:
        if self._cuts.summary.positives == 0:
            self._need_both(what)

    def _need_both(self, what: str) -> None:
        positives, negatives = self._cuts.summary.sizes
        if self._one_class:
            raise InvalidInputError.no_rows_of(what=what, positives=positives, negatives=negatives)

"""What one threshold does: the whole catalogue of metrics, with intervals for the rates."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cutpoints._curve import Curve
from cutpoints._data.read import as_data
from cutpoints._equality import compared_by_value
from cutpoints._evaluate.intervals import Method, check, proportion_interval
from cutpoints._format import count, exact, percent, text_table, value
from cutpoints._goal import objective
from cutpoints._result import Confusion, Cut, Interval
from cutpoints._search.sweep import all_cuts
from cutpoints._shown import JsonForm
from cutpoints.exceptions import DataWarning, InvalidParameterError
from cutpoints.metrics.expression import Expression
from cutpoints.metrics.registry import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RARE = Fraction(1, 20)
"""Below this prevalence accuracy misleads, and a warning says so."""

# The rates that are shares of a number of rows: (successes, trials) of a confusion.
_SHARES: dict[str, Any] = {
    "accuracy": lambda c: (c.tp + c.tn, c.tp + c.fp + c.fn + c.tn),
    "error_rate": lambda c: (c.fp + c.fn, c.tp + c.fp + c.fn + c.tn),
    "precision": lambda c: (c.tp, c.tp + c.fp),
    "recall": lambda c: (c.tp, c.tp + c.fn),
    "specificity": lambda c: (c.tn, c.fp + c.tn),
    "fpr": lambda c: (c.fp, c.fp + c.tn),
    "fnr": lambda c: (c.fn, c.tp + c.fn),
    "fdr": lambda c: (c.fp, c.tp + c.fp),
    "false_omission_rate": lambda c: (c.fn, c.fn + c.tn),
    "npv": lambda c: (c.tn, c.fn + c.tn),
    "prevalence": lambda c: (c.tp + c.fn, c.tp + c.fp + c.fn + c.tn),
    "predicted_positive_rate": lambda c: (c.tp + c.fp, c.tp + c.fp + c.fn + c.tn),
}


@compared_by_value
@dataclass(frozen=True, repr=False)
class Evaluation(JsonForm):
    """What one threshold does.

    Attributes
    ----------
    threshold : float
        Positive iff ``score >= threshold``.
    confusion : Confusion
    metrics : dict
        The whole catalogue by canonical name; NaN where a metric is undefined.
    intervals : dict
        Confidence intervals of the rates that are shares of a fixed number of rows. Empty for
        weights that are not integers, or sum to 2**63 or more: such a sum is no number of trials.
    baseline : float
        The accuracy q0 of always naming the larger class.
    auc, average_precision : float
        Of the scores, whatever the threshold.
    warnings : tuple of str
    """

    threshold: float
    interval: Interval
    confusion: Confusion
    metrics: dict[str, float]
    intervals: dict[str, Interval]
    confidence: float
    interval_method: Method
    baseline: float
    auc: float
    average_precision: float
    warnings: tuple[str, ...] = ()

    def report(self, *, digits: int = 4) -> str:
        """Return a classification report: each class and the averages, as scikit-learn lays it out."""
        c = self.confusion
        rows = {"negative": _rates(c.tn, c.fn, c.fp), "positive": _rates(c.tp, c.fp, c.fn)}
        support = {"negative": c.tn + c.fp, "positive": c.tp + c.fn}
        total = sum(support.values())
        macro = [sum(column) / 2 for column in zip(*rows.values(), strict=True)]
        weighted = [sum(rows[k][i] * support[k] for k in rows) / total for i in range(3)]
        lines = [["", "precision", "recall", "f1", "support"]]
        lines += [[name, *_decimals(row, digits), count(support[name])] for name, row in rows.items()]
        lines.append(["accuracy", "", "", *_decimals([self.metrics["accuracy"]], digits), count(total)])
        lines.append(["macro average", *_decimals(macro, digits), count(total)])
        lines.append(["weighted average", *_decimals(weighted, digits), count(total)])
        return text_table(lines)

    def __repr__(self) -> str:
        counts = "  ".join(f"{k} {count(v)}" for k, v in self.confusion.to_dict().items())
        lines = [f"threshold  {exact(self.threshold)}", f"confusion  {counts}", ""]
        for name, found in self.metrics.items():
            shown = f"{name:<28}{value(found):>10}"
            if name in self.intervals:
                low, high = self.intervals[name]
                shown += f"   [{value(low)}, {value(high)}]"
            lines.append(shown)
        lines += [
            f"{'accuracy of the larger class':<28}{value(self.baseline):>10}",
            f"{'auc':<28}{value(self.auc):>10}",
            f"{'average_precision':<28}{value(self.average_precision):>10}",
        ]
        return "\n".join(lines)


def _rates(hits: float, alarms: float, misses: float) -> tuple[float, float, float]:
    """Return precision, recall and F1 of one class; 0/0 is NaN."""

    def share(a: float, b: float) -> float:
        return a / b if b else math.nan

    f1 = share(2 * hits, 2 * hits + alarms + misses)
    return share(hits, hits + alarms), share(hits, hits + misses), f1


def _decimals(values: Iterable[float], digits: int) -> list[str]:
    return ["-" if math.isnan(v) else f"{v:.{digits}f}" for v in values]


def evaluate(
    y_true: Any,
    y_score: Any = None,
    *,
    threshold: float,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    metrics: str | Expression | Sequence[str | Expression] = (),
    confidence: float = 0.95,
    interval: Method = "wilson",
) -> Evaluation:
    """Return the whole catalogue at one threshold, with intervals for the rates.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame, path, Data or Curve
        Labels, or whatever else `find` takes; or a `Curve`.
    y_score : array-like of shape (n_samples,)
        Scores.
    threshold : float
        Positive iff ``score >= threshold``.
    label, score, weight, sample_weight, pos_label
        As for `find`.
    metrics : str, metric expression, or a list of them, default=()
        More metrics to report beside those of the catalogue, such as ``"cost(fp=5, fn=amount)"``.
    confidence : float, default=0.95
        Of the intervals.
    interval : {"wilson", "clopper_pearson"}, default="wilson"
        How the intervals of shares are made.

    Returns
    -------
    Evaluation

    Warns
    -----
    DataWarning
        For a prevalence below 5 %, and for an accuracy below that of the larger class.

    Examples
    --------
    >>> import cutpoints as cp
    >>> e = cp.evaluate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], threshold=0.35)
    >>> e.metrics["precision"], e.intervals["recall"].high
    (0.6666666666666666, 1.0)
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
    >>> cp.evaluate(frame, label="y", score="p", threshold=0.35).metrics["recall"]
    1.0
    >>> frame["amount"] = [9, 50, 3, 400]
    >>> e = cp.evaluate(frame, label="y", score="p", threshold=0.5, metrics="cost(fp=5, fn=amount)")
    >>> e.metrics["cost(fp=5, fn=amount)"]
    3.0
    """
    check(confidence, interval, "evaluate")
    several = [metrics] if isinstance(metrics, (str, Expression)) else metrics
    wanted = [objective(one, "metrics", "evaluate") for one in several]
    given_too = {
        "y_score": y_score, "label": label, "score": score, "weight": weight, "sample_weight": sample_weight
    }  # fmt: skip
    if isinstance(y_true, Curve):
        for name, given in given_too.items():
            if given is not None:
                raise InvalidParameterError(
                    name, caller="evaluate", expected="left out for a Curve", got=given
                )
        found = y_true
    else:
        data = as_data(
            y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
            pos_label=pos_label, caller="evaluate",
        ).adding(tuple(column for one in wanted for column in one.columns), "evaluate")  # fmt: skip
        found = Curve(all_cuts(data.source()))
    made = evaluate_cut(
        found.at(threshold),
        threshold=float(threshold),
        confidence=confidence,
        interval=interval,
        auc=found.auc,
        average_precision=found.average_precision,
    )
    made.metrics.update({str(one): made.confusion.metric(one) for one in wanted})
    for text in made.warnings:
        warnings.warn(text, DataWarning, stacklevel=2)
    return made


def evaluate_cut(
    cut: Cut | Confusion,
    *,
    threshold: float | None = None,
    confidence: float = 0.95,
    interval: Method = "wilson",
    auc: float = math.nan,
    average_precision: float = math.nan,
) -> Evaluation:
    """Evaluate one cut, or a bare confusion; warnings are returned and not issued."""
    confusion = cut if isinstance(cut, Confusion) else cut.confusion
    span = Interval(math.nan, math.nan) if isinstance(cut, Confusion) else cut.interval
    if threshold is None:
        threshold = math.nan if isinstance(cut, Confusion) else cut.threshold
    counts = confusion.fractions()
    metrics = {metric.name: metric.rounded(**counts) for metric in PLAIN}
    rows = sum(confusion.to_dict().values())
    intervals = {}
    if isinstance(rows, int) and rows < 1 << 63:  # SciPy counts trials in int64
        for name, share in _SHARES.items():
            successes, trials = share(confusion)
            if trials:
                intervals[name] = proportion_interval(
                    successes, trials, confidence=confidence, method=interval
                )
    return Evaluation(
        threshold=threshold,
        interval=span,
        confusion=confusion,
        metrics=metrics,
        intervals=intervals,
        confidence=confidence,
        interval_method=interval,
        baseline=float(baseline(confusion)),
        auc=auc,
        average_precision=average_precision,
        warnings=cautions(confusion),
    )


def baseline(confusion: Confusion) -> Fraction:
    """Return q0: the share of the larger class, which is the accuracy of always naming it."""
    counts = confusion.fractions()
    total = sum(counts.values())
    if not total:
        raise InvalidParameterError(
            "confusion", got=confusion, expected="one of at least one row", caller="evaluate"
        )
    return max(counts["tp"] + counts["fn"], counts["fp"] + counts["tn"]) / total


def cautions(confusion: Confusion, name: str = "The threshold") -> tuple[str, ...]:
    """Return what is easily misread: a rare class, an accuracy below the baseline. Decided exactly."""
    counts = confusion.fractions()
    total = sum(counts.values())
    positives = counts["tp"] + counts["fn"]
    found = []
    if 0 < positives < RARE * total:
        prevalence = float(positives / total)
        found.append(
            f"The positives are {percent(prevalence)} of the rows, fewer than {percent(float(RARE))}. "
            f"Calling nothing positive has an accuracy of {1 - prevalence:.4g}.\n\n"
            "Hint: judge by precision and recall, by MCC or by a cost, not by accuracy."
        )
    accuracy, q0 = (counts["tp"] + counts["tn"]) / total, baseline(confusion)
    if accuracy < q0:
        found.append(
            f"{name} has an accuracy of {float(accuracy):.4g}, below the {float(q0):.4g} of always naming "
            "the larger class.\n\n"
            "Hint: that may be right if errors differ in cost; otherwise check labels and scores."
        )
    return tuple(found)

"""The front door: scores at a threshold, hard labels, or scores of many classes."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from cutpoints._curve import Curve
from cutpoints._data.read import as_source
from cutpoints._evaluate.intervals import Method, check, proportion_interval
from cutpoints._result import Confusion, Cut, Interval, json_number, value_of
from cutpoints._search.sweep import all_cuts
from cutpoints.exceptions import DataWarning, InvalidParameterError
from cutpoints.metrics.registry import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cutpoints._evaluate.classes import ClassEvaluation

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


@dataclass(frozen=True, repr=False)
class Evaluation:
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
        weights that are not whole numbers: a sum of weights is no number of trials.
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
        lines += [[name, *_decimals(row, digits), f"{support[name]:g}"] for name, row in rows.items()]
        lines.append(["accuracy", "", "", *_decimals([self.metrics["accuracy"]], digits), f"{total:g}"])
        lines.append(["macro average", *_decimals(macro, digits), f"{total:g}"])
        lines.append(["weighted average", *_decimals(weighted, digits), f"{total:g}"])
        widths = [max(len(line[i]) for line in lines) for i in range(5)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        return {
            "threshold": json_number(self.threshold),
            "interval": self.interval.to_dict(),
            "confusion": self.confusion.to_dict(),
            "metrics": {k: json_number(v) for k, v in self.metrics.items()},
            "intervals": {k: v.to_dict() for k, v in self.intervals.items()},
            "confidence": self.confidence,
            "interval_method": self.interval_method,
            "baseline": json_number(self.baseline),
            "auc": json_number(self.auc),
            "average_precision": json_number(self.average_precision),
            "warnings": list(self.warnings),
        }

    def __repr__(self) -> str:
        counts = "  ".join(f"{k} {v:,g}" for k, v in self.confusion.to_dict().items())
        lines = [f"threshold  {self.threshold!r}", f"confusion  {counts}", ""]
        for name, value in self.metrics.items():
            shown = f"{name:<28}{value:>10.4f}"
            if name in self.intervals:
                low, high = self.intervals[name]
                shown += f"   [{low:.4f}, {high:.4f}]"
            lines.append(shown)
        lines += [
            f"{'baseline q0':<28}{self.baseline:>10.4f}",
            f"{'auc':<28}{self.auc:>10.4f}",
            f"{'average_precision':<28}{self.average_precision:>10.4f}",
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


@overload
def evaluate(
    y_true: Any,
    y_score: Any,
    threshold: float,
    *,
    sample_weight: Any = ...,
    pos_label: Any = ...,
    confidence: float = ...,
    interval: Method = ...,
) -> Evaluation: ...
@overload
def evaluate(
    y_true: Any,
    y_score: Any,
    threshold: None = None,
    *,
    sample_weight: Any = ...,
    labels: Any = ...,
    top_k: int = ...,
) -> ClassEvaluation: ...
@overload
def evaluate(
    y_true: Any,
    *,
    threshold: float,
    label: str | None = ...,
    score: str | None = ...,
    weight: str | None = ...,
    pos_label: Any = ...,
    confidence: float = ...,
    interval: Method = ...,
) -> Evaluation: ...
def evaluate(
    y_true: Any,
    y_score: Any = None,
    threshold: float | None = None,
    *,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    interval: Method = "wilson",
    labels: Any = None,
    top_k: int = 2,
) -> Evaluation | ClassEvaluation:
    """Return the whole catalogue at one threshold, with intervals for the rates.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame, path, a source or a Curve
        Labels; or with `threshold` whatever else `find` takes: a data frame or a path with names of
        columns, where lazy frames stay lazy, or rows that are counted; or a `Curve`.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        With `threshold`: scores. Without: predicted labels, of any number of classes, or one
        column of scores for each class in the order of `labels` (sorted by default).
    threshold : float, default=None
        Positive iff ``score >= threshold``.
    label, score, weight, sample_weight, pos_label
        As for `find`.
    confidence : float, default=0.95
        Of the intervals.
    interval : {"wilson", "clopper_pearson"}, default="wilson"
        How the intervals of shares are made.
    labels : array-like, default=None
        For hard labels and many classes: the classes, in order.
    top_k : int, default=2
        For scores of many classes: a row counts as right if its class is among the `top_k` highest.

    Returns
    -------
    Evaluation, or ClassEvaluation without a threshold

    Warns
    -----
    DataWarning
        For a prevalence below 5 %, and for an accuracy below that of the larger class.

    Examples
    --------
    >>> import cutpoints as cp
    >>> e = cp.evaluate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.35)
    >>> e.metrics["precision"], e.intervals["recall"].high
    (0.6666666666666666, 1.0)
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
    >>> cp.evaluate(frame, label="y", score="p", threshold=0.35).metrics["recall"]
    1.0
    >>> cp.evaluate([2, 0, 2, 2, 0, 1], [0, 0, 2, 2, 0, 2]).confusion_matrix
    array([[2, 0, 0],
           [0, 0, 1],
           [1, 0, 2]])
    """
    check(confidence, interval, "evaluate")
    columns = {"label": label, "score": score, "weight": weight}
    _check_columns(y_true, columns, threshold)
    if threshold is None:
        from cutpoints._evaluate.classes import evaluate_classes

        return evaluate_classes(y_true, y_score, sample_weight=sample_weight, labels=labels, top_k=top_k)
    if isinstance(y_true, Curve):
        found = y_true
    else:
        source = as_source(
            y_true,
            y_score,
            columns=columns,
            sample_weight=sample_weight,
            pos_label=pos_label,
            caller="evaluate",
        )
        found = Curve(all_cuts(source))
    made = evaluate_cut(
        found.at(threshold),
        threshold=float(threshold),
        confidence=confidence,
        interval=interval,
        auc=found.auc,
        average_precision=found.average_precision,
    )
    for text in made.warnings:
        warnings.warn(text, DataWarning, stacklevel=2)
    return made


def _check_columns(data: Any, columns: dict[str, str | None], threshold: float | None) -> None:
    """Raise for names of columns where there are none: in a curve, and for predicted labels."""
    for name, column in columns.items():
        if column is not None and isinstance(data, Curve):
            raise InvalidParameterError.of(
                parameter=name, caller="evaluate", must_be="left out for a Curve", got=column
            )
    if threshold is None and (any(columns.values()) or isinstance(data, str | PathLike)):
        raise InvalidParameterError.of(
            parameter="threshold",
            caller="evaluate",
            must_be="given where columns have names",
            got=None,
            hint="evaluate(frame, label='y', score='p', threshold=0.5); predicted labels are passed as "
            "arrays: evaluate(frame['y'], frame['predicted']).",
        )


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
    counts = {k: Fraction(v) for k, v in confusion.to_dict().items()}
    metrics = {metric.name: value_of(metric, counts) for metric in PLAIN}
    whole = all(isinstance(v, int) for v in confusion.to_dict().values())
    intervals = {}
    if whole:
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
    counts = {k: Fraction(v) for k, v in confusion.to_dict().items()}
    total = sum(counts.values())
    if not total:
        raise InvalidParameterError.of(
            parameter="confusion", caller="evaluate", must_be="one of some rows", got=confusion
        )
    return max(counts["tp"] + counts["fn"], counts["fp"] + counts["tn"]) / total


def cautions(confusion: Confusion, name: str = "The threshold") -> tuple[str, ...]:
    """Return what is easily misread: a rare class, an accuracy below the baseline. Decided exactly."""
    counts = {k: Fraction(v) for k, v in confusion.to_dict().items()}
    total = sum(counts.values())
    positives = counts["tp"] + counts["fn"]
    found = []
    if 0 < positives < RARE * total:
        found.append(str(DataWarning.imbalance(prevalence=float(positives / total))))
    accuracy, q0 = (counts["tp"] + counts["tn"]) / total, baseline(confusion)
    if accuracy < q0:
        found.append(str(DataWarning.below_baseline(name=name, accuracy=float(accuracy), baseline=float(q0))))
    return tuple(found)

"""What `nested_cv` returns: the outer folds, and the table of the settings that were compared."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._equality import compared_by_value
from cutpoints._format import json_number, short, shortest_inside, value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from cutpoints._result import Confusion, Interval


@dataclass(frozen=True)
class Failure:
    """A setting that could not be fitted or has no allowed threshold, and the error."""

    setting: dict[str, Any]
    error: str

    def __str__(self) -> str:
        return f"{in_words(self.setting)}: {self.error}"


@compared_by_value
@dataclass(frozen=True)
class Candidate:
    """A setting and how it performed.

    Attributes
    ----------
    setting : dict
        Names and values of hyper-parameters.
    training : tuple of float
        The value on the training part of each fold, at the best threshold of that part.
    validation : tuple of float
        The value on each fold, at the best threshold of the other folds.
    pooled : float
        The value at the pooled counts of the folds; the best of these is chosen.
    rows : int
        The number of rows used.
    """

    setting: dict[str, Any]
    training: tuple[float, ...]
    validation: tuple[float, ...]
    pooled: float
    rows: int


@compared_by_value
@dataclass(frozen=True, repr=False)
class Selection:
    """The settings that were compared, and the one that was chosen.

    Prints as the table "setting, training, cross-validated, choice": mean ± sd over the folds.
    """

    objective: str
    candidates: tuple[Candidate, ...]
    best: Candidate
    fits: int
    failures: tuple[Failure, ...]

    def table(self) -> dict[str, list[Any]]:
        """Return the columns: setting, mean and sd in training and in validation, pooled, chosen."""
        training = [_mean_sd(one.training) for one in self.candidates]
        validation = [_mean_sd(one.validation) for one in self.candidates]
        return {
            "setting": [in_words(one.setting) for one in self.candidates],
            "training_mean": [mean for mean, _ in training],
            "training_sd": [sd for _, sd in training],
            "cv_mean": [mean for mean, _ in validation],
            "cv_sd": [sd for _, sd in validation],
            "cv_pooled": [one.pooled for one in self.candidates],
            "rows": [one.rows for one in self.candidates],
            "chosen": [one is self.best for one in self.candidates],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: the rows of the table, and the number of fits."""
        columns = self.table()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        plain = [{k: json_number(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
        return {"settings": plain, "fits": self.fits}

    def __str__(self) -> str:
        halving = len({one.rows for one in self.candidates}) > 1
        head = ["setting", f"training {self.objective}", f"cross-validated {self.objective}", "pooled"]
        lines = [[*head, *(["rows"] if halving else []), "choice"]]
        for one in self.candidates:
            moments = [_mean_sd(values) for values in (one.training, one.validation)]
            cells = [in_words(one.setting)]
            cells += [
                "-" if math.isnan(mean) else f"{_number(mean, 3)} ± {_number(sd, 3)}" for mean, sd in moments
            ]
            cells += [_number(one.pooled, 3), *([f"{one.rows:,}"] if halving else [])]
            lines.append([*cells, "✓" if one is self.best else ""])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    __repr__ = __str__


@compared_by_value
@dataclass(frozen=True)
class OuterFold:
    """An outer fold: what was chosen without it, and how that performs on it.

    All thresholds of `interval` make the same decisions on the fold.
    """

    setting: dict[str, Any]
    threshold: float
    interval: Interval
    value: float
    inner_value: float
    confusion: Confusion
    fits: int
    failures: tuple[Failure, ...] = ()


@compared_by_value
@dataclass(frozen=True, repr=False)
class NestedCV:
    """How a whole procedure of selection performs on rows that it has not seen.

    Attributes
    ----------
    values : ndarray
        The objective on each outer fold, at the setting and threshold chosen without it.
    mean, sd : float
        Of these values (sd with n - 1). The mean is biased for metrics such as F1 on folds with few
        positives: see `pooled`.
    pooled : float
        The objective at the pooled counts of all outer folds.
    folds : tuple of OuterFold
        Setting, threshold, value and counts of each.
    selection : Selection or None
        The same search on all rows, for deployment: prints as the table "setting, training,
        cross-validated, choice".
    estimator : CutpointClassifier or None
        Fitted on all rows with the chosen setting and threshold.
    fits : int
        The number of fits.
    failures : tuple of Failure
        Settings that failed, with the error; the others were compared without them.
    """

    objective: str
    direction: str
    folds: tuple[OuterFold, ...]
    pooled: float
    selection: Selection | None
    estimator: Any
    fits: int
    failures: tuple[Failure, ...] = ()

    @property
    def values(self) -> NDArray[np.float64]:
        """The objective on each outer fold."""
        return np.array([fold.value for fold in self.folds])

    @property
    def mean(self) -> float:
        """The mean over the outer folds where the objective is defined."""
        return _mean_sd(self.values)[0]

    @property
    def sd(self) -> float:
        """The standard deviation over these folds."""
        return _mean_sd(self.values, ddof=1)[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "objective": self.objective,
            "direction": self.direction,
            "mean": json_number(self.mean),
            "sd": json_number(self.sd),
            "pooled": json_number(self.pooled),
            "fits": self.fits,
            "folds": [
                {
                    "setting": {name: _plain(value) for name, value in fold.setting.items()},
                    "threshold": json_number(fold.threshold),
                    "value": json_number(fold.value),
                    "inner_value": json_number(fold.inner_value),
                    "confusion": fold.confusion.to_dict(),
                }
                for fold in self.folds
            ],
            "selection": None if self.selection is None else self.selection.to_dict(),
            "failures": [{"setting": in_words(one.setting), "error": one.error} for one in self.failures],
        }

    def __repr__(self) -> str:
        value = f"{self.direction} {self.objective}: {_number(self.mean)} ± {_number(self.sd)}"
        on = f"on {len(self.folds)} outer folds, {_number(self.pooled)} by pooled counts, {self.fits:,} fits"
        lines = [f"{value} {on}"]
        for k, fold in enumerate(self.folds):
            chosen = in_words(fold.setting)
            # Close to the threshold, so that folds can be compared.
            near = fold.threshold - abs(fold.threshold) / 1000
            at = shortest_inside(max(fold.interval.low, near), fold.threshold)
            lines.append(f"  fold {k + 1}: {_number(fold.value)} at threshold {at} with {chosen}")
        if self.selection is not None:
            lines += ["", str(self.selection)]
        if self.failures:
            counted = Counter(map(str, self.failures))
            lines += ["", *(f"failed {times} x: {text}" for text, times in counted.most_common(5))]
        return "\n".join(lines)


def in_words(setting: dict[str, Any]) -> str:
    """Return a setting as people write it: max_depth=3, criterion='gini'."""
    return ", ".join(f"{name}={value!r}" for name, value in setting.items()) or "as given"


def _number(x: float, digits: int = 4) -> str:
    """Format a share with `digits` decimals; a cost has as many as in sentences."""
    return short(x) if abs(x) > 1 else value(x, digits)


def _mean_sd(values: Iterable[float], ddof: int = 0) -> tuple[float, float]:
    """Return mean and standard deviation of the defined values, NaN if there are too few."""
    known = [value for value in values if not math.isnan(value)]
    mean = float(np.mean(known)) if known else math.nan
    return mean, float(np.std(known, ddof=ddof)) if len(known) > ddof else math.nan


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)

"""Is it calibrated? Scores, their decomposition, slope and intercept, and tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._calibration.inputs import as_probabilities, labels_and_probabilities, log_odds
from cutpoints._calibration.reliability import ReliabilityCurve, Strategy, curve_of, isotonic
from cutpoints._expected.theory import Theory, theory_of
from cutpoints._find import find
from cutpoints._result import Solution, json_number
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Objective

_LEVEL = 0.05


@dataclass(frozen=True, repr=False)
class Calibration:
    """How far probabilities can be believed.

    Attributes
    ----------
    rows, prevalence, mean_probability
        How many rows; the share of positives, and what the probabilities say it is.
    brier : float
        The mean of (p - y)^2; equal to ``miscalibration - discrimination + uncertainty``.
    miscalibration, discrimination, uncertainty : float
        What better calibration would gain, what the ranking gains over the prevalence alone, and
        the score of the prevalence alone (the CORP decomposition, with isotonic regression).
    log_loss : float
        The mean of -log of the probability that was given to what happened; inf if that was 0 once.
    slope, intercept : float
        Of the logistic regression of y on the log-odds of p: 1 and 0 if calibrated. A slope below 1:
        too extreme, above 1: too timid. Infinite where p separates the classes.
    intercept_only : float
        The intercept at slope 1, "calibration in the large": positive if p is too low on the whole.
    spiegelhalter_z, spiegelhalter_p : float
        Spiegelhalter's test of the hypothesis that each y is 1 with probability p, on the Brier
        score. It sees probabilities that are too extreme or too timid.
    cox_chi2, cox_p : float
        The likelihood-ratio test of the same hypothesis against any other slope and intercept.
    curve : ReliabilityCurve
        Predicted against observed in bins, with `ece`.
    """

    rows: int
    prevalence: float
    mean_probability: float
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    log_loss: float
    slope: float
    intercept: float
    intercept_only: float
    spiegelhalter_z: float
    spiegelhalter_p: float
    cox_chi2: float
    cox_p: float
    curve: ReliabilityCurve

    @property
    def ece(self) -> float:
        """The expected calibration error in the bins of `curve`."""
        return self.curve.ece

    @property
    def verdict(self) -> str:
        """One sentence. A test that does not reject is no proof: with few rows it sees little."""
        tests = {"Spiegelhalter's": self.spiegelhalter_p, "the Cox": self.cox_p}
        rejected = [f"{name} test (p = {p:.2g})" for name, p in tests.items() if p < _LEVEL]
        gain = (
            f"recalibration could gain up to {self.miscalibration:.2g} of a Brier score of {self.brier:.4g}"
        )
        if rejected:
            return f"Not calibrated, by {' and '.join(rejected)}; {gain}."
        return f"No test rejects calibration at {self.rows:,} rows; {gain}."

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        shown = {k: json_number(v) for k, v in vars(self).items() if k != "curve"}
        return shown | {"verdict": self.verdict, "curve": self.curve.to_dict()}

    def __repr__(self) -> str:
        lines = [
            ("rows", f"{self.rows:,}"),
            ("prevalence", f"{self.prevalence:.6g}, mean probability {self.mean_probability:.6g}"),
            (
                "brier",
                (
                    f"{self.brier:.6g} = {self.miscalibration:.6g} miscalibration "
                    f"- {self.discrimination:.6g} discrimination + {self.uncertainty:.6g} uncertainty"
                ),
            ),
            ("log loss", f"{self.log_loss:.6g}"),
            ("ece", f"{self.ece:.6g}  ({self.curve.bins})"),
            ("slope", f"{self.slope:.6g}, intercept {self.intercept:.6g}  (calibrated: 1 and 0)"),
            ("tests", f"Spiegelhalter p = {self.spiegelhalter_p:.3g}, Cox p = {self.cox_p:.3g}"),
            ("verdict", self.verdict),
        ]
        return "\n".join(f"{name:<12}{text}" for name, text in lines)


def calibration(
    y_true: Any,
    y_prob: Any = None,
    *,
    label: str | None = None,
    score: str | None = None,
    strategy: Strategy = "uniform",
    n_bins: int = 10,
    pos_label: Any = None,
) -> Calibration:
    """Measure how far probabilities can be believed.

    Use rows that neither the classifier nor a recalibration has seen. The cost is that of a sort.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame or path
        Labels, of both classes. Or in place of `y_true` and `y_prob`, as for `find`, a data frame or files
        with names of columns; all rows are held in memory: files are read, lazy frames collected.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    label, score : str, default=None
        Names of columns, where `y_true` is a frame or a path.
    strategy, n_bins
        The bins of the curve and of the expected calibration error; see `reliability_curve`.
    pos_label : int, float, bool or str, default=None
        The label of the positive class; 1 by default.

    References
    ----------
    Dimitriadis, T., Gneiting, T., Jordan, A. I. (2021). Stable reliability diagrams for
    probabilistic classifiers. doi:10.1073/pnas.2016191118

    Spiegelhalter, D. J. (1986). Probabilistic prediction in patient management and clinical trials.
    doi:10.1002/sim.4780050506

    Cox, D. R. (1958). Two further applications of a model for binary regression.
    doi:10.1093/biomet/45.3-4.562

    Examples
    --------
    >>> import cutpoints as cp
    >>> c = cp.calibration([0, 1, 0, 1, 1, 0], [0.2, 0.8, 0.4, 0.7, 0.6, 0.5])
    >>> round(c.brier, 4)
    0.1233
    >>> round(c.miscalibration - c.discrimination + c.uncertainty, 4)
    0.1233
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1, 1, 0], "p": [0.2, 0.8, 0.4, 0.7, 0.6, 0.5]})
    >>> round(cp.calibration(frame, label="y", score="p").brier, 4)
    0.1233
    """
    columns = {"label": label, "score": score}
    y, p = labels_and_probabilities(
        y_true, y_prob, columns=columns, pos_label=pos_label, caller="calibration"
    )
    prevalence = float(y.mean())
    if prevalence in (0.0, 1.0):
        raise InvalidInputError.no_rows_of(
            what="calibration", positives=float(y.sum()), negatives=float((1 - y).sum())
        )
    fitted, _ = isotonic(y, p)
    brier, best = float(np.mean((p - y) ** 2)), float(np.mean((fitted - y) ** 2))
    uncertainty = prevalence * (1 - prevalence)
    with np.errstate(divide="ignore"):
        loss = float(-np.log(np.where(y == 1, p, 1 - p)).mean())
    slope, intercept, chi2 = _cox(y, p)
    spread = float(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    z = float(np.sum((y - p) * (1 - 2 * p))) / math.sqrt(spread) if spread > 0 else math.nan
    return Calibration(
        rows=len(p),
        prevalence=prevalence,
        mean_probability=float(p.mean()),
        brier=brier,
        miscalibration=brier - best,
        discrimination=uncertainty - best,
        uncertainty=uncertainty,
        log_loss=abs(loss),
        slope=slope,
        intercept=intercept,
        intercept_only=_shift(y, log_odds(p)),
        spiegelhalter_z=z,
        spiegelhalter_p=math.erfc(abs(z) / math.sqrt(2)),
        cox_chi2=chi2,
        cox_p=math.exp(-chi2 / 2),  # two degrees of freedom
        curve=curve_of(y, p, strategy, n_bins, "calibration"),
    )


@dataclass(frozen=True)
class ThresholdCheck:
    """The optimum on labels beside the threshold that calibrated probabilities would have."""

    solution: Solution
    theory: Theory

    @property
    def gap(self) -> float:
        """How far the theory's threshold lies above the interval of optimal thresholds; 0 inside."""
        assert self.solution.interval is not None
        low, high = self.solution.interval
        return (
            0.0
            if self.theory.holds
            else self.theory.threshold - (high if self.theory.threshold > high else low)
        )

    @property
    def sentence(self) -> str:
        """The check in a sentence or two."""
        name, found = self.solution.objective, self.solution.threshold
        there = f"calibrated probabilities would have it at {self.theory.threshold:.4g} ({self.theory.rule})"
        if self.theory.holds:
            return f"The best threshold for {name} is {found:.4g}, and {there}: they agree."
        below = self.gap < 0
        assert self.solution.interval is not None
        # From below the gap ends where the interval begins, which is not where the threshold is.
        alike = f" (or any other above {self.solution.interval.low:.4g})" if below else ""
        return (
            f"The best threshold for {name} is {found:.4g}{alike}, while {there}: "
            f"a gap of {abs(self.gap):.2g}. If it is not chance, probabilities near the threshold are "
            f"{'too high' if below else 'too low'} by about that much."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "objective": self.solution.objective,
            "threshold": json_number(self.solution.threshold),
            "value": json_number(self.solution.value),
            "theory": self.theory.to_dict(),
            "gap": self.gap,
            "sentence": self.sentence,
        }


def check_threshold(
    y_true: Any,
    y_prob: Any,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    pos_label: Any = None,
) -> ThresholdCheck:
    """Compare the best threshold on labels with the one that calibrated probabilities would have.

    For f1 the second is half the best f1. The empirical optimum scatters too, so a small gap on few
    rows means little; `calibration` has tests.

    Examples
    --------
    >>> import cutpoints as cp
    >>> print(cp.check_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1").sentence)
    The best threshold for f1 is 0.35, while calibrated probabilities would have it at 0.4 (lambda / 2):
    a gap of 0.05. If it is not chance, probabilities near the threshold are too low by about that much.
    """
    p = as_probabilities(y_prob)
    if maximize is None and minimize is None:
        maximize = "f1"
    solution = find(y_true, p, maximize=maximize, minimize=minimize, pos_label=pos_label)
    theory = theory_of(solution)
    if theory is None:
        raise InvalidInputError.no_theory(objective=solution.objective)
    return ThresholdCheck(solution, theory)


# --- logistic regression on the log-odds: two parameters, Newton's method


def _likelihood(y: NDArray[np.float64], eta: NDArray[np.float64]) -> float:
    return float(np.sum(y * eta - np.logaddexp(0.0, eta)))


def _sigmoid(eta: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.logaddexp(0.0, -eta))


def _cox(y: NDArray[np.float64], p: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return slope, intercept and the likelihood-ratio statistic against slope 1 and intercept 0."""
    x = log_odds(p)
    start = _likelihood(y, x)
    if np.ptp(x) == 0:  # one probability only: the slope cannot be told
        shift = _shift(y, x)
        return math.nan, shift, 2 * max(_likelihood(y, x + shift) - start, 0.0)
    ones, zeros = x[y == 1], x[y == 0]
    if ones.min() >= zeros.max() or zeros.min() >= ones.max():  # separated: the likelihood has no maximum
        sign = 1.0 if ones.min() >= zeros.max() else -1.0
        return sign * math.inf, math.nan, -2 * start
    a, b, best = 0.0, 1.0, start
    for _ in range(100):
        q = _sigmoid(a + b * x)
        w = q * (1 - q)
        gradient = np.array([np.sum(y - q), np.sum((y - q) * x)])
        information = np.array([[w.sum(), (w * x).sum()], [(w * x).sum(), (w * x * x).sum()]])
        step = np.linalg.lstsq(information, gradient, rcond=None)[0]
        size = 1.0
        while size > 1e-10 and not _likelihood(y, a + size * step[0] + (b + size * step[1]) * x) >= best:
            size /= 2
        if size <= 1e-10:
            break
        a, b = a + size * step[0], b + size * step[1]
        best = _likelihood(y, a + b * x)
        if np.abs(step).max() < 1e-12:
            break
    return float(b), float(a), 2 * max(best - start, 0.0)


def _shift(y: NDArray[np.float64], x: NDArray[np.float64]) -> float:
    """Return the intercept at slope 1: where the mean of the shifted probabilities is the prevalence."""
    low, high = -1.0, 1.0
    target = float(y.mean())
    while _sigmoid(x + low).mean() > target:
        low *= 2
    while _sigmoid(x + high).mean() < target:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _sigmoid(x + middle).mean() < target else (low, middle)
    return (low + high) / 2

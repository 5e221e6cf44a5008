"""Can the probabilities be believed? Reliability curves, scores and their decomposition, tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.array_input import refuse_beyond
from cutpoints._data.read import as_data
from cutpoints._equality import compared_by_value
from cutpoints._extras import needs
from cutpoints._format import count, json_number, p_value, short, text_pairs
from cutpoints._validate import one_of, positive_integer
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray


Strategy = Literal["uniform", "quantile", "isotonic"]
STRATEGIES = ("uniform", "quantile", "isotonic")
REJECTED = 0.05
"""A test with a p-value below this rejects calibration."""
CLIP = 2.0**-53


@compared_by_value
@dataclass(frozen=True)
class ReliabilityCurve:
    """The bins that have rows, in ascending order.

    Attributes
    ----------
    predicted, observed : array
        The mean probability and the share of positives of each bin.
    count : array
        How many rows each bin has.
    low, high : array
        The lowest and the highest probability in each bin.
    strategy : {"uniform", "quantile", "isotonic"}
    n_bins : int
        The number of bins that was asked for; for isotonic bins, the number that there is.
    """

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    count: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    strategy: Strategy
    n_bins: int

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean gap between predicted and observed, over rows.

        It depends on the bins: only compare values with the same bins on the same rows. It is biased
        upwards, more so with more bins.
        """
        return float(np.sum(self.count * np.abs(self.observed - self.predicted)) / self.count.sum())

    @property
    def bins(self) -> str:
        """The bins in words, without which an ECE means nothing: '10 uniform bins, 9 with rows'."""
        some = "" if len(self.count) == self.n_bins else f", {len(self.count)} with rows"
        return f"{self.n_bins} {self.strategy} {'bin' if self.n_bins == 1 else 'bins'}{some}"

    @property
    def max_error(self) -> float:
        """The largest gap of all bins."""
        return float(np.abs(self.observed - self.predicted).max())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        columns = ("low", "high", "count", "predicted", "observed")
        bins = zip(*(getattr(self, name).tolist() for name in columns), strict=True)
        return {
            "strategy": self.strategy,
            "n_bins": self.n_bins,
            "ece": self.ece,
            "max_error": self.max_error,
            "bins": [dict(zip(columns, values, strict=True)) for values in bins],
        }


def _curve(
    y: NDArray[np.float64], p: NDArray[np.float64], strategy: Strategy, n_bins: int
) -> ReliabilityCurve:
    """Return predicted against observed shares of positives, in bins."""
    one_of("strategy", strategy, STRATEGIES, caller="calibration")
    positive_integer("n_bins", n_bins, caller="calibration")
    if strategy == "isotonic":
        _, bins = isotonic(y, p)
        n_bins = int(bins.max()) + 1
    else:
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        if strategy == "quantile":
            edges = np.quantile(p, edges)
        bins = np.searchsorted(edges[1:-1], p)
    rows = np.bincount(bins, minlength=n_bins)
    filled = np.flatnonzero(rows)
    low, high = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
    np.minimum.at(low, bins, p)
    np.maximum.at(high, bins, p)
    count = rows[filled]
    return ReliabilityCurve(
        predicted=np.bincount(bins, weights=p, minlength=n_bins)[filled] / count,
        observed=np.bincount(bins, weights=y, minlength=n_bins)[filled] / count,
        count=count,
        low=low[filled],
        high=high[filled],
        strategy=strategy,
        n_bins=int(n_bins),
    )


@compared_by_value
@dataclass(frozen=True, repr=False)
class Calibration:
    """How well probabilities are calibrated.

    Attributes
    ----------
    rows, prevalence, mean_probability
        The number of rows, the share of positives, and the mean of the probabilities.
    brier : float
        The mean of (p - y)^2; equal to ``miscalibration - discrimination + uncertainty``.
    miscalibration, discrimination, uncertainty : float
        What better calibration would gain, what the ranking gains over the prevalence alone, and
        the score of the prevalence alone (the CORP decomposition, with isotonic regression).
    log_loss : float
        The mean of -log of the probability of what happened; inf if that was 0 once.
    slope, intercept : float
        Of the logistic regression of y on the log-odds of p: 1 and 0 if calibrated. A slope below 1:
        too extreme, above 1: not extreme enough. Infinite where p separates the classes.
    intercept_only : float
        The intercept at slope 1, "calibration in the large": positive if p is too low on the whole.
    spiegelhalter_z, spiegelhalter_p : float
        Spiegelhalter's test of the hypothesis that each y is 1 with probability p, on the Brier
        score. It detects probabilities that are too extreme or not extreme enough.
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
        """One sentence. A test that does not reject proves nothing: with few rows it has little power."""
        tests = {"Spiegelhalter's": self.spiegelhalter_p, "the Cox": self.cox_p}
        rejected = [f"{name} test ({p_value(p)})" for name, p in tests.items() if p < REJECTED]
        gain = f"recalibration could gain up to {short(self.miscalibration)}"
        gain += f" of the Brier score {short(self.brier)}"
        if rejected:
            return f"Not calibrated, by {' and '.join(rejected)}; {gain}."
        return f"No test rejects calibration at {self.rows:,} rows; {gain}."

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        shown = {k: json_number(v) for k, v in vars(self).items() if k != "curve"}
        return shown | {"verdict": self.verdict, "curve": self.curve.to_dict()}

    def __repr__(self) -> str:
        parts = (
            f"{count(self.miscalibration)} miscalibration - {count(self.discrimination)} discrimination "
            f"+ {count(self.uncertainty)} uncertainty"
        )
        lines = [
            ("rows", f"{self.rows:,}"),
            ("prevalence", f"{count(self.prevalence)}, mean probability {count(self.mean_probability)}"),
            ("brier", f"{count(self.brier)} = {parts}"),
            ("log loss", f"{count(self.log_loss)}"),
            ("ece", f"{count(self.ece)}  ({self.curve.bins})"),
            ("slope", f"{count(self.slope)}, intercept {count(self.intercept)}  (calibrated: 1 and 0)"),
            ("tests", f"Spiegelhalter {p_value(self.spiegelhalter_p)}, Cox {p_value(self.cox_p)}"),
            ("verdict", self.verdict),
        ]
        return text_pairs(lines)


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
    """Measure how well probabilities are calibrated.

    Use rows that neither the classifier nor a recalibration has seen. The cost is that of a sort.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), data frame, path or Data
        Labels, of both classes. Or in place of `y_true` and `y_prob`, as for `find`, a data frame or files
        with names of columns, or a `Data` without weights; all rows are held in memory.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class.
    label, score : str, default=None
        Names of columns, where `y_true` is a frame or a path.
    strategy : {"uniform", "quantile", "isotonic"}, default="uniform"
        The bins of the reliability curve and of the expected calibration error: of equal width (as in
        scikit-learn), of about equally many rows, or those of isotonic regression (CORP): as fine as the
        data support and no finer, with nothing to choose.
    n_bins : int, default=10
        How many bins; no meaning for isotonic ones.
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
    >>> c.curve.predicted.round(1)
    array([0.2, 0.4, 0.5, 0.6, 0.7, 0.8])
    >>> round(c.miscalibration - c.discrimination + c.uncertainty, 4)
    0.1233
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [0, 1, 0, 1, 1, 0], "p": [0.2, 0.8, 0.4, 0.7, 0.6, 0.5]})
    >>> round(cp.calibration(frame, label="y", score="p").brier, 4)
    0.1233
    """
    y, p = labels_and_probabilities(
        y_true, y_prob, label=label, score=score, pos_label=pos_label, caller="calibration"
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
        curve=_curve(y, p, strategy, n_bins),
    )


# --- checked input


def labels_and_scores(
    y_true: Any, y_score: Any, *, array: str, caller: str, **columns: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """Return labels as 0.0 and 1.0, the scores and their name; raise for weights."""
    data = as_data(y_true, y_score, array=array, caller=caller, **columns)
    if data.weighted:
        expected = f"left out: {caller} counts rows"
        raise InvalidParameterError("weight", got=data.weight, expected=expected, caller=caller)
    rows = data.labelled_rows(caller=caller)
    ((name, scores),) = rows.scores.items()
    return rows.y.astype(np.float64), scores.astype(np.float64), name


def labels_and_probabilities(
    y_true: Any, y_prob: Any, *, caller: str, **columns: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return labels as 0.0 and 1.0, and probabilities; see `labels_and_scores`."""
    y, p, name = labels_and_scores(y_true, y_prob, array="y_prob", caller=caller, **columns)
    refuse_beyond(p, name)
    return y, p


# --- isotonic regression of y on p, and logistic regression on the log-odds by Newton's method


def isotonic(y: NDArray[np.float64], p: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return for each row the isotonic share of positives, and the number of its level set."""
    with needs("calibration"):
        from sklearn.isotonic import isotonic_regression

    which = np.unique(p, return_inverse=True)[1]
    rows = np.bincount(which)
    share = np.bincount(which, weights=y) / rows
    fitted = isotonic_regression(share, sample_weight=rows.astype(np.float64), y_min=0.0, y_max=1.0)
    steps = np.diff(fitted) > 1e-12  # within a level set only rounding makes a difference
    levels = np.concatenate([[0], np.cumsum(steps)])
    return fitted[which], levels[which]


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(p / (1 - p)); 0 and 1 are moved inside by `CLIP`, so that it is finite."""
    inside = np.clip(p, CLIP, 1 - CLIP)
    return np.log(inside) - np.log1p(-inside)


def _likelihood(y: NDArray[np.float64], eta: NDArray[np.float64]) -> float:
    return float(np.sum(y * eta - np.logaddexp(0.0, eta)))


def _sigmoid(eta: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.logaddexp(0.0, -eta))


def _cox(y: NDArray[np.float64], p: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return slope, intercept and the likelihood-ratio statistic against slope 1 and intercept 0."""
    x = log_odds(p)
    start = _likelihood(y, x)
    if np.ptp(x) == 0:  # one probability only: the slope is unknown
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
    with needs("calibration"):
        from scipy.optimize import brentq

    def excess(shift: float) -> float:
        return float(_sigmoid(x + shift).mean() - y.mean())

    reach = 1.0
    while excess(-reach) > 0 or excess(reach) < 0:
        reach *= 2
    return float(brentq(excess, -reach, reach, xtol=1e-15))

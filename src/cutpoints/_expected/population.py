"""Known densities: the best threshold of a whole population, and the theorems about it.

For checking the theory, for teaching, and for planning: no sample, no labels, only the density of
the scores in each class and the share of positives.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cutpoints._extras import needs
from cutpoints._goal import Objective, goal
from cutpoints._result import Confusion
from cutpoints._theory import probability_threshold
from cutpoints._validate import number_in
from cutpoints.exceptions import InvalidInputError, InvalidParameterError
from cutpoints.metrics import jaccard

if TYPE_CHECKING:
    from collections.abc import Callable

_STEPS = 100


@dataclass(frozen=True)
class PopulationOptimum:
    """The best threshold of a population.

    Attributes
    ----------
    threshold : float
        Positive iff score >= threshold.
    value : float
        The objective there.
    posterior : float
        The probability of a positive at the threshold: half the value for f1.
    likelihood_ratio : float
        b p(s|1) / ((1 - b) p(s|0)) at the threshold: the Jaccard index of the optimum for f1.
    jaccard : float
        TP / (TP + FP + FN) at the threshold.
    confusion : Confusion
        The four shares of the population.
    """

    threshold: float
    value: float
    posterior: float
    likelihood_ratio: float
    jaccard: float
    confusion: Confusion


class Population:
    """Scores of two classes with known densities.

    Parameters
    ----------
    positive, negative : callable, or a distribution of scipy.stats
        The density of the scores of each class; of a distribution, its `pdf`.
    prevalence : float in (0, 1)
        The share of positives, b.
    support : (float, float), default=(-inf, inf)
        The range of the scores; give it where the densities are narrow or far from 0.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> import cutpoints as cp
    >>> best = cp.Population(norm(0.5), norm(-0.5), prevalence=0.5).best(maximize="f1")
    >>> round(best.value, 7), round(best.posterior, 7), round(best.jaccard, 7)
    (0.7190615, 0.3595308, 0.5613553)
    """

    def __init__(
        self,
        positive: Any,
        negative: Any,
        *,
        prevalence: float,
        support: tuple[float, float] = (-float("inf"), float("inf")),
    ) -> None:
        number_in("prevalence", prevalence, 0, 1, ends="()", caller="Population")
        self.positive: Callable[[float], float] = getattr(positive, "pdf", positive)
        self.negative: Callable[[float], float] = getattr(negative, "pdf", negative)
        self.prevalence = float(prevalence)
        self.support = support
        for name, density in (("positive", self.positive), ("negative", self.negative)):
            mass = self._mass(density, *support) if callable(density) else float("nan")
            if not abs(mass - 1) < 1e-6:
                raise InvalidParameterError(
                    name,
                    got=f"{mass:.6g}" if callable(density) else density,
                    expected="a density that integrates to 1 over the support",
                    caller="Population",
                    hint="give the support where the density is narrow or far from 0.",
                )

    def confusion(self, threshold: float) -> Confusion:
        """Return the four shares by quadrature: TP = b * the integral of p(s|1) over s >= threshold."""
        low, high = self.support
        at = min(max(threshold, low), high)
        b = self.prevalence
        return Confusion(
            tp=b * self._mass(self.positive, at, high),
            fp=(1 - b) * self._mass(self.negative, at, high),
            fn=b * self._mass(self.positive, low, at),
            tn=(1 - b) * self._mass(self.negative, low, at),
        )

    def likelihood_ratio(self, score: float) -> float:
        """Return b p(s|1) / ((1 - b) p(s|0))."""
        top, bottom = self.prevalence * self.positive(score), (1 - self.prevalence) * self.negative(score)
        return float(top / bottom) if bottom > 0 else float("inf") if top > 0 else float("nan")

    def posterior(self, score: float) -> float:
        """Return the probability of a positive at a score."""
        ratio = self.likelihood_ratio(score)
        return 1.0 if ratio == float("inf") else ratio / (1 + ratio)

    def best(
        self, *, maximize: Objective | None = None, minimize: Objective | None = None
    ) -> PopulationOptimum:
        """Return the best threshold for an objective that is a quotient of linear functions.

        By Dinkelbach's method: the value of a threshold gives the probability from which on a score
        should be called positive, which gives the next threshold; a handful of steps. The posterior
        must grow with the score, as the rule "positive iff score >= threshold" supposes.
        """
        wanted = goal(maximize=maximize, minimize=minimize, caller="best")
        b = Fraction(self.prevalence)
        form = wanted.expression.linear_fractional(b, 1 - b)
        if form is None:
            raise InvalidInputError.no_theory(objective=str(wanted.expression))
        low, high = self._ends()
        value, at = float("nan"), (low + high) / 2
        for _ in range(_STEPS):
            found = self.confusion(at).metric(wanted.expression)
            if abs(found - value) <= 1e-15 * max(1.0, abs(found)):
                break
            value = found
            share = probability_threshold(form, Fraction(value), maximize=wanted.direction == "maximize")
            if share is None:
                raise InvalidInputError.no_theory(objective=str(wanted.expression))
            at = self._where(float(share), low, high)
        confusion = self.confusion(at)
        return PopulationOptimum(
            at, value, self.posterior(at), self.likelihood_ratio(at), confusion.metric(jaccard), confusion
        )

    def _where(self, share: float, low: float, high: float) -> float:
        """Return the score at which the posterior is this share."""
        with needs("Population"):
            from scipy.optimize import brentq

        if self.posterior(low) >= share:
            return low
        if self.posterior(high) <= share:
            return high
        return float(brentq(lambda s: self.posterior(s) - share, low, high, xtol=1e-14, rtol=1e-14))

    def _ends(self) -> tuple[float, float]:
        """Return scores outside which there is practically no probability."""
        low, high = self.support
        reach = 1.0
        while (low, high) != self.support or low == -float("inf") or high == float("inf"):
            low = -reach if self.support[0] == -float("inf") else self.support[0]
            high = reach if self.support[1] == float("inf") else self.support[1]
            outside = sum(
                self._mass(density, *ends)
                for density in (self.positive, self.negative)
                for ends in ((self.support[0], low), (high, self.support[1]))
                if ends[0] < ends[1]
            )
            if outside < 1e-12 or reach > 1e6:
                break
            reach *= 2
        # Just inside, where a density that vanishes at the end of its support is not yet 0.
        edge = 1e-9 * (high - low)
        return low + edge, high - edge

    @staticmethod
    def _mass(density: Callable[[float], float], low: float, high: float) -> float:
        with needs("Population"):
            from scipy.integrate import quad

        if low >= high:
            return 0.0
        return max(float(quad(density, low, high, epsabs=1e-13, epsrel=1e-12, limit=400)[0]), 0.0)

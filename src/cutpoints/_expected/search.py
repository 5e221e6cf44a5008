"""No labels needed: the best threshold for calibrated probabilities, and the theory behind it.

A row with probability p counts as p of a positive and 1 - p of a negative. Everything else is
`find`: the same goals and constraints, the same exact search, the same proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._curve import curve
from cutpoints._data.probabilities import ProbabilitySource
from cutpoints._data.read import as_unlabelled
from cutpoints._equality import compared_by_value
from cutpoints._find import find
from cutpoints._goal import Constraints, Goal, Objective, goal, objective
from cutpoints._result import Solution
from cutpoints._theory import Theory, is_expectation, theory_of
from cutpoints._wording import Argument
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._search.run import Method


@dataclass(frozen=True, repr=False)
class ExpectedSolution(Solution):
    """A solution on expected counts, with the theory's threshold beside it.

    Attributes
    ----------
    theory : Theory or None
        λ* and the probability threshold that follows from it; None with constraints, and for
        objectives that are not a quotient of linear functions.
    expectation : {"expectation", "ratio of expectations"}
        What `value` is. For accuracy, costs and counts it is the expectation itself. For f1 and
        other quotients it is the quotient of the expected counts, which is not E[f1], because the
        mean of a quotient is not the quotient of the means; `exact_expectation` gives E[f1].
    """

    theory: Theory | None = None
    expectation: str = "ratio of expectations"
    _source: ProbabilitySource | None = field(default=None, compare=False)

    def curve(self) -> ExpectedCurve:
        """Return the objective at every cut of the probabilities: the plot behind `find_expected`.

        Examples
        --------
        >>> import cutpoints as cp
        >>> c = cp.find_expected([0.9, 0.6, 0.4, 0.2, 0.1], maximize="f1").curve()
        >>> c.shares.round(3)
        array([0.281, 0.357, 0.365, 0.339, 0.306])
        >>> c.thresholds[c.best]
        np.float64(0.4)
        """
        assert self._source is not None
        expression = objective(self.objective)
        form = expression.linear_fractional(*self._source.summary().totals)
        if self.theory is None or form is None:
            raise InvalidInputError.no_theory(objective=self.objective)
        cuts = curve(self._source)
        values = cuts.values(expression)
        (_, a1, a2), (_, b1, b2) = (tuple(map(float, side)) for side in form)
        with np.errstate(all="ignore"):
            shares = (values * b2 - a2) / ((a1 - a2) - values * (b1 - b2))
        rows = slice(int(np.isinf(cuts.thresholds[0])), None)  # without "no positives"
        assert self.threshold is not None
        return ExpectedCurve(
            called=np.asarray(cuts.values("predicted_positive"))[rows],
            thresholds=cuts.thresholds[rows],
            values=values[rows],
            shares=shares[rows],
            best=int(np.searchsorted(-cuts.thresholds[rows], -self.threshold)),
            objective=self.objective,
            rule=self.theory.rule,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form of a solution, with `theory` and `expectation`."""
        theory = None if self.theory is None else self.theory.to_dict()
        return super().to_dict() | {"expectation": self.expectation, "theory": theory}

    @property
    def note(self) -> str:
        """What the value is, in a sentence."""
        if self.expectation == "expectation":
            return f"the value is the expected {self.objective}"
        return (
            f"the value is {self.objective} of the expected counts, not E[{self.objective}]: "
            "the mean of a quotient is not the quotient of the means"
        )

    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as names and texts."""
        lines = super().lines()
        if self.theory is not None:
            text = f"positive if p >= {self.theory.text} = {self.theory.rule}"
            lines.insert(2, ("theory", text))
        return [*lines, ("note", self.note)]


def find_expected(
    y_prob: Any,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    method: Method = "auto",
    exact_expectation: bool = False,
    zero_division: float = 1.0,
) -> ExpectedSolution:
    """Find the best threshold for calibrated probabilities, without a single label.

    Exact, over all cuts, on the expected counts: TP is the sum of the probabilities of the rows that
    are called positive, FP of their complements. What is optimized is the objective *of the expected
    counts*. For f1 that is not E[f1], because the mean of a quotient is not the quotient of the
    means; on many rows the two agree, on a few they need not, and `exact_expectation` is for those.

    It is only as good as the probabilities: check them with `calibration`, repair them with
    `recalibrate`, and move them to another prevalence with `adjust_prior`.

    Time is a few times that of adding up the probabilities for f1, cost and all other quotients of
    linear functions, about that of `find` for other metrics; extra memory a few percent.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,), data frame, path or Data
        Probabilities of the positive class, in [0, 1]. Each, times its weight, is rounded once, to
        2**-36 of the largest weight up to 6e7 rows; no sum is rounded. Or a data frame or files with
        names of columns, or a `Data`; all rows are held in memory.
    maximize, minimize, subject_to
        As for `find`.
    score, weight : str, default=None
        Names of columns, where `y_prob` is a frame or a path.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights w; a row counts p * w of a positive, and the rest of w of a negative.
    method : {"auto", "sweep", "narrow"}, default="auto"
        As for `find`.
    exact_expectation : bool, default=False
        Maximize the expectation of the objective itself, E[f1], over independent labels with these
        probabilities. For at most 1,000 rows without weights and constraints: the time grows with
        the third power of their number.
    zero_division : float, default=1.0
        With `exact_expectation`, the value of the objective for an outcome at which it is 0/0, such
        as f1 without positives and without predicted positives.

    Returns
    -------
    ExpectedSolution
        A `Solution` on expected counts, with `theory`: λ*, the best value, and the probability
        threshold that follows from it, which is λ*/2 for f1.

    Raises
    ------
    InvalidInputError
        No rows, NaN, numbers outside [0, 1], an objective that is undefined at every cut.

    See Also
    --------
    find : The same with labels.
    calibration : Whether the probabilities can carry it.

    References
    ----------
    Lipton, Z. C., Elkan, C., Naryanaswamy, B. (2014). Optimal thresholding of classifiers to
    maximize F1 measure. doi:10.1007/978-3-662-44851-9_15

    Koyejo, O. O., Natarajan, N., Ravikumar, P. K., Dhillon, I. S. (2014). Consistent binary
    classification with generalized performance metrics. NIPS.

    Examples
    --------
    >>> import cutpoints as cp
    >>> s = cp.find_expected([0.9, 0.6, 0.4, 0.2, 0.1], maximize="f1")
    >>> s.threshold, round(s.value, 4)
    (0.4, 0.7308)
    >>> s.theory.threshold == s.value / 2
    True
    """
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="find_expected")
    data = as_unlabelled(
        y_prob, score=score, weight=weight, sample_weight=sample_weight, caller="find_expected"
    )
    name, p, weights = data.probabilities()
    source = ProbabilitySource.of(p, sample_weight=weights, names=(name, data.weight))
    if exact_expectation:
        return _exactly(source, wanted, weights, zero_division)
    options: Any = {wanted.direction: wanted.expression}
    try:
        found = find(source, **options, subject_to=list(wanted.constraints), method=method)
    except InvalidInputError:
        summary = source.summary()
        if 0 in (summary.positives, summary.negatives):
            raise _all_sure(wanted, positives=bool(summary.positives)) from None
        raise
    theory = None
    if found.status == "optimal" and not wanted.constraints:
        theory = theory_of(found, wanted.expression)
    plain = is_expectation(wanted.expression, *source.summary().totals)
    return _expected(found, theory, "expectation" if plain else "ratio of expectations", source)


@compared_by_value
@dataclass(frozen=True)
class ExpectedCurve:
    """An objective at every cut, beside the probability threshold that its value stands for.

    Attributes
    ----------
    called : array
        How many rows (or how much weight) each cut calls positive, ascending.
    thresholds : array
        The lowest probability that is called positive: the sorted probabilities.
    values : array
        The objective; NaN where it is undefined.
    shares : array
        The probability from which on a row would raise that value: half of it for f1. It crosses
        the sorted probabilities at the optimum.
    best : int
        The index of the optimum.
    objective, rule : str
        What was maximized, and how `shares` follows from `values` (lambda).
    """

    called: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    values: NDArray[np.float64]
    shares: NDArray[np.float64]
    best: int
    objective: str
    rule: str


# --- how


def _expected(
    found: Solution, theory: Theory | None, expectation: str, source: ProbabilitySource
) -> ExpectedSolution:
    known = {one.name: getattr(found, one.name) for one in fields(Solution)}
    return ExpectedSolution(**known, theory=theory, expectation=expectation, _source=source)


def _all_sure(wanted: Goal, *, positives: bool) -> InvalidInputError:
    """Return the error of an objective that is 0/0 because all probabilities are 0, or all are 1."""
    return InvalidInputError(
        f"The objective '{wanted.expression}' must be defined at one cut at least. "
        f"All probabilities are {int(positives)}, or nearer to it than 2**-36, so no "
        f"{'negatives' if positives else 'positives'} are expected, and it is 0/0 at every cut.",
        hint="check that the column holds probabilities, and not decisions.",
    )


def _exactly(
    source: ProbabilitySource, wanted: Goal, sample_weight: Any, zero_division: float
) -> ExpectedSolution:
    """Maximize the expectation of the objective itself."""
    from cutpoints._expected.expectation import best_expectation

    for name, value in (("sample_weight", sample_weight), ("subject_to", wanted.constraints or None)):
        if value is not None:
            expected = ("left out with ", Argument("exact_expectation"))
            raise InvalidParameterError(name, got=value, expected=expected, caller="find_expected")
    return _expected(best_expectation(source, wanted, zero_division), None, "expectation", source)

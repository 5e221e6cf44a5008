"""No labels needed: the best threshold for calibrated probabilities, and the theory behind it.

A row with probability p counts as p of a positive and 1 - p of a negative. Everything else is
`find`: the same goals and constraints, the same exact search, the same proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._curve import curve
from cutpoints._data.probabilities import ProbabilitySource
from cutpoints._expected.theory import Theory, is_expectation, probability_threshold, theory_of
from cutpoints._find import At, find
from cutpoints._goal import Constraints, Goal, Objective, goal
from cutpoints._result import Solution, show
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cutpoints._search.run import Method

_GROUPS = 8
_ERRORS = 7
"""The focus reaches so many standard errors to both sides; if it misses, the search only takes longer."""
_NEIGHBOURS = 64
_SCALE = 64


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

    def _lines(self) -> list[tuple[str, str]]:
        lines = super()._lines()
        if self.theory is not None:
            text = f"positive iff p >= {show(self.theory.threshold)} = {self.theory.rule}"
            lines.insert(2, ("theory", text))
        return [*lines, ("note", self.note)]


def find_expected(
    y_prob: Any,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    sample_weight: Any = None,
    method: Method = "auto",
    at: At = "score",
    exact_expectation: bool = False,
    zero_division: float = 1.0,
) -> ExpectedSolution:
    """Find the best threshold for calibrated probabilities, without a single label.

    Exact, over all cuts, on the expected counts: TP is the sum of the probabilities of the rows that
    are called positive, FP of their complements. What is optimised is the objective *of the expected
    counts*. For f1 that is not E[f1], because the mean of a quotient is not the quotient of the
    means; on many rows the two agree, on a few they need not, and `exact_expectation` is for those.

    It is only as good as the probabilities: check them with `calibration`, repair them with
    `recalibrate`, and move them to another prevalence with `adjust_prior`.

    Time is a few times that of adding up the probabilities for f1, cost and all other quotients of
    linear functions, about that of `find` for other metrics; extra memory a few percent.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, in [0, 1]. Each is rounded once, to a multiple of
        2**-53 (from 2**16 rows on: of 2**-52); no sum is.
    maximize, minimize, subject_to
        As for `find`.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights w; a row counts p * w, to within w * 2**-52, and the rest of w.
    method, at
        As for `find`.
    exact_expectation : bool, default=False
        Maximise the expectation of the objective itself, E[f1], over independent labels with these
        probabilities. For at most 1,000 rows without weights and constraints: the time grows with
        the third power of their number.
    zero_division : float, default=1.0
        With `exact_expectation`, the value of the objective for an outcome at which it is 0/0, such
        as f1 when nobody is positive and nobody is called so.

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
    focus = None if wanted.constraints or method == "sweep" else _bracket(wanted)
    source = ProbabilitySource.of(y_prob, sample_weight=sample_weight, focus=focus)
    if exact_expectation:
        return _exactly(source, wanted, sample_weight, zero_division)
    options: Any = {wanted.direction: wanted.expression}
    try:
        found = find(source, **options, subject_to=list(wanted.constraints), method=method, at=at)
    except InvalidInputError:
        if not source.checked:
            raise
        summary = source.summary()
        if 0 in (summary.positives, summary.negatives):
            raise _all_sure(wanted, positives=bool(summary.positives)) from None
        raise
    theory = None
    if found.status == "optimal" and not wanted.constraints:
        theory = theory_of(found, wanted.expression)
    plain = is_expectation(wanted.expression, *source.summary().totals)
    return _expected(found, theory, "expectation" if plain else "ratio of expectations")


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
        What was maximised, and how `shares` follows from `values` (lambda).
    """

    called: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    values: NDArray[np.float64]
    shares: NDArray[np.float64]
    best: int
    objective: str
    rule: str


def expected_curve(y_prob: Any, *, maximize: Objective = "f1", sample_weight: Any = None) -> ExpectedCurve:
    """Return an objective at every cut of the probabilities: the picture behind `find_expected`.

    Parameters
    ----------
    y_prob, sample_weight
        As for `find_expected`.
    maximize : metric or str, default="f1"
        A quotient of linear functions of TP and FP.

    Examples
    --------
    >>> import cutpoints as cp
    >>> c = cp.expected_curve([0.9, 0.6, 0.4, 0.2, 0.1])
    >>> c.shares.round(3)
    array([0.281, 0.357, 0.365, 0.339, 0.306])
    >>> c.thresholds[c.best]
    np.float64(0.4)
    """
    wanted = goal(maximize=maximize, caller="expected_curve")
    source = ProbabilitySource.of(y_prob, sample_weight=sample_weight)
    cuts = curve(source)
    found = cuts.best(maximize=wanted.expression)
    theory = theory_of(found, wanted.expression)
    form = wanted.expression.linear_fractional(*source.summary().totals)
    if theory is None or form is None:
        raise InvalidInputError.no_theory(objective=str(wanted.expression))
    values = cuts.values(wanted.expression)
    (_, a1, a2), (_, b1, b2) = (tuple(map(float, side)) for side in form)
    with np.errstate(all="ignore"):
        shares = (values * b2 - a2) / ((a1 - a2) - values * (b1 - b2))
    rows = slice(int(np.isinf(cuts.thresholds[0])), None)  # without "nobody"
    assert found.threshold is not None
    return ExpectedCurve(
        called=np.asarray(cuts.values("predicted_positive"))[rows],
        thresholds=cuts.thresholds[rows],
        values=values[rows],
        shares=shares[rows],
        best=int(np.searchsorted(-cuts.thresholds[rows], -found.threshold)),
        objective=str(wanted.expression),
        rule=theory.rule,
    )


# --- how


def _expected(found: Solution, theory: Theory | None, expectation: str) -> ExpectedSolution:
    known = {field.name: getattr(found, field.name) for field in fields(Solution)}
    return ExpectedSolution(**known, theory=theory, expectation=expectation)


def _bracket(wanted: Goal) -> Callable[[NDArray[np.float64]], tuple[float, float] | None]:
    """Return a function that says, from a sample, between which scores the optimum probably lies."""

    def bracket(sample: NDArray[np.float64]) -> tuple[float, float] | None:
        ranked = np.sort(sample)
        above = np.append(np.cumsum(ranked[::-1])[::-1], 0.0)
        rows, total = len(sample), float(above[0])

        def step(at: float) -> float | None:
            place = int(np.searchsorted(ranked, at))
            return _better(wanted, float(above[place]), rows - place, total, rows)

        at = total / rows
        for _ in range(30):  # Dinkelbach's steps: four to eight, and then they stay
            after = step(at)
            if after is None:
                return None
            if after == at:
                break
            at = after
        # How far it may be off: the spread of what parts of the sample say.
        whole = sample[: rows - rows % _GROUPS].reshape(-1, _GROUPS)
        called = whole >= at
        sums = (side.sum(axis=0).tolist() for side in (whole * called, called, whole))
        said = [_better(wanted, tp, size, all_, len(whole)) for tp, size, all_ in zip(*sums, strict=True)]
        if any(one is None for one in said):
            return None
        reach = _ERRORS * float(np.std(said)) / math.sqrt(_GROUPS - 1)  # type: ignore[arg-type]
        place = int(np.searchsorted(ranked, at))
        if not _NEIGHBOURS <= place < rows - _NEIGHBOURS:
            return None
        near = ranked[place - _NEIGHBOURS], ranked[place + _NEIGHBOURS]
        return min(at - reach, float(near[0])), max(at + reach, float(near[1]))

    return bracket


def _better(wanted: Goal, tp: float, called: float, positives: float, rows: float) -> float | None:
    """Return the threshold that the theory has for the value that another threshold attains."""
    # A guess needs no more than whole numbers, and fractions of those are fast.
    p, n, hits = (Fraction(round(_SCALE * x)) for x in (positives, rows - positives, tp))
    alarms = Fraction(round(_SCALE * (called - tp)))
    hits, alarms = min(hits, p), min(alarms, n)
    form = wanted.expression.linear_fractional(p, n)
    if form is None:
        return None
    value = wanted.expression.evaluate(tp=hits, fp=alarms, fn=p - hits, tn=n - alarms)
    if not isinstance(value, (int, Fraction)):
        return None
    found = probability_threshold(form, Fraction(value), maximize=wanted.direction == "maximize")
    return None if found is None else float(found)


def _all_sure(wanted: Goal, *, positives: bool) -> InvalidInputError:
    return InvalidInputError.all_sure(objective=str(wanted.expression), probability=int(positives))


def _exactly(
    source: ProbabilitySource, wanted: Goal, sample_weight: Any, zero_division: float
) -> ExpectedSolution:
    """Maximise the expectation of the objective itself."""
    from cutpoints._expected.expectation import best_expectation

    for name, value in (("sample_weight", sample_weight), ("subject_to", wanted.constraints or None)):
        if value is not None:
            raise InvalidParameterError.of(
                parameter=name,
                caller="find_expected",
                must_be="left out with exact_expectation",
                got=value,
            )
    return _expected(best_expectation(source, wanted, zero_division), None, "expectation")

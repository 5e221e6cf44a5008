"""Constraints that hold on new data: certify thresholds before one of them is chosen.

A constraint on a share ("of those called positive, 95 % are") is tested at a threshold by the exact
binomial tail. What makes it a guarantee is how many thresholds are tested, and which:

- a share of a fixed class (recall, specificity, the share called positive) moves one way with the
  threshold, so all thresholds on one side of an order statistic are certified at once, and all rows
  are used;
- any other share is tested along a fixed sequence (Learn-then-Test: Angelopoulos et al. 2021,
  arXiv:2110.01052): thresholds and their order are fixed on a *pilot* part of the rows, and the tests
  are made on the others. The risk is spread over two starts of the sequence and walks on with every
  test that passes (the fallback procedure: Wiens 2003). All thresholds that pass are certified
  together with the asked confidence, so the best of them may be chosen freely.

In expectation (conformal risk control: Angelopoulos et al. 2022, arXiv:2208.02814) is the weaker
promise that the share meets its bound on average over samples of this size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._extras import needs
from cutpoints._goal import Goal
from cutpoints._kernel.weights import FixedPoint
from cutpoints._result import Guarantee
from cutpoints._search.optimum import best_cut
from cutpoints._search.run import SearchResult, undefined
from cutpoints._search.sweep import all_cuts
from cutpoints._validate import generator
from cutpoints._wording import Argument, Words
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cutpoints._data.source import Source
    from cutpoints._kernel.cuts import Cuts
    from cutpoints.metrics.expression import Constraint

Confidence = float | Literal["expectation"]
Counts = dict[str, "NDArray[np.int64]"]

PILOT_SHARE = 0.2
"""The part of the rows on which thresholds and their order are fixed."""
PILOT_QUANTILES = 100
"""Quantiles of the pilot's positives, and of its negatives, that are thresholds to be tested."""
PLANNED_POWER = 0.8
"""`more_rows` is such that the certificate would then be granted four times out of five."""

# The shares that can be certified: cells counted as the share, and the other cells of its whole.
_SHARES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "precision": (("tp",), ("fp",)),
    "fdr": (("fp",), ("tp",)),
    "npv": (("tn",), ("fn",)),
    "false_omission_rate": (("fn",), ("tn",)),
    "recall": (("tp",), ("fn",)),
    "fnr": (("fn",), ("tp",)),
    "specificity": (("tn",), ("fp",)),
    "fpr": (("fp",), ("tn",)),
    "predicted_positive_rate": (("tp", "fp"), ("fn", "tn")),
    "accuracy": (("tp", "tn"), ("fp", "fn")),
    "error_rate": (("fp", "fn"), ("tp", "tn")),
    "jaccard": (("tp",), ("fp", "fn")),
}
_ONE_WAY = ("recall", "fnr", "specificity", "fpr", "predicted_positive_rate")
CERTIFIABLE = (*_SHARES, "f1")


def _binomial() -> Any:
    """Return SciPy's binomial distribution, for exact tails."""
    with needs("guarantee"):
        from scipy.stats import binom
    return binom


@dataclass(frozen=True)
class _Floor:
    """``good / (good + bad) >= at_least``, the form that every constraint is brought into."""

    good: tuple[str, ...]
    bad: tuple[str, ...]
    at_least: Fraction
    one_way: bool
    """Whether the whole, good + bad, is the same at every threshold."""

    @property
    def slack(self) -> float:
        """The largest bad share that is allowed, rounded once."""
        return float(1 - self.at_least)

    def counts(self, cells: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the good rows and the whole at each cut."""
        good = sum(cells[name] for name in self.good)
        whole = good + sum(cells[name] for name in self.bad)
        return np.asarray(good), np.asarray(whole)

    def p_values(self, cells: Counts) -> NDArray[np.float64]:
        """Return P(as few bad rows or fewer) were the share just at its bound; 1 without rows."""
        binom = _binomial()
        good, whole = self.counts(cells)
        return np.asarray(np.where(whole > 0, binom.cdf(whole - good, whole, self.slack), 1.0))

    def power(self, cells: Counts, risk: float, times: float) -> NDArray[np.float64]:
        """Return about how probably as many rows as these, times a number, would certify the share.

        The share is drawn a little towards one half, as few rows without an error are no proof.
        """
        binom = _binomial()
        good, whole = self.counts(cells)
        rows = np.rint(times * whole).astype(np.int64)
        return np.asarray(binom.cdf(self.most_bad(rows, risk), rows, 1 - (good + 0.5) / (whole + 1)))

    def most_bad(self, whole: NDArray[np.int64], risk: float) -> NDArray[np.float64]:
        """Return the most bad rows of a whole with which the share is certified; -1 if none would do."""
        binom = _binomial()
        most = binom.ppf(risk, whole, self.slack)
        return np.asarray(most - (binom.cdf(most, whole, self.slack) > risk))


def certify(
    source: Source, goal: Goal, confidence: Confidence, random_state: Any = 0
) -> tuple[SearchResult, Guarantee]:
    """Find the best of the thresholds at which the constraints are certified to hold on new data.

    The choice is None if no threshold is. Costs a sort, and a few hundred binomial tails.
    """
    risk = _risk(confidence)
    floors = [_floor(constraint) for constraint in goal.constraints]
    if not floors:
        raise InvalidParameterError(
            "guarantee",
            caller="find",
            expected="used with a constraint, which is what it guarantees",
            got=f"{confidence!r} without subject_to",
            hint=(
                "for example ",
                Argument("subject_to", "precision >= 0.95"),
                " and ",
                Argument("guarantee", 0.95),
                "; for the trust in an unconstrained optimum see assess.",
            ),
        )
    cuts = count_rows(all_cuts(source))
    cells = _cells(cuts)
    ways = all(floor.one_way for floor in floors)
    if risk is None and not ways:
        bad = next(c for c, f in zip(goal.constraints, floors, strict=True) if not f.one_way)
        raise InvalidParameterError(
            "guarantee",
            caller="find",
            expected=f"a number for '{bad}': in expectation, only {_listed(_ONE_WAY)} can be controlled",
            got=confidence,
            hint=("pass ", Argument("guarantee", 0.95), "."),
        )
    if ways:
        mask = np.ones(len(cuts.thresholds), dtype=np.bool_)
        for floor in floors:
            mask &= _one_way(floor, cells, None if risk is None else risk / len(floors))
        tested, pilot = len(floors), 0
    else:
        assert risk is not None
        mask, tested, pilot = _learn_then_test(cuts, floors, goal, risk, random_state)
    choice = best_cut(cuts, Goal(goal.expression, goal.direction), mask) if mask.any() else None
    if choice is None and mask.any():
        raise undefined(cuts.summary, goal)
    rows = int(cuts.summary.positives + cuts.summary.negatives)
    guarantee = Guarantee(
        confidence=confidence,
        method=("conformal risk control" if risk is None else "order statistics")
        if ways
        else "learn then test",
        pilot_rows=pilot,
        calibration_rows=rows - pilot,
        tested=tested,
        certified=int(mask.sum()),
        more_rows=0 if choice is not None else _more_rows(floors, cells, rows, risk, ways=ways),
    )
    found = SearchResult(cuts.summary, cuts, choice, "sweep", source.passes, cuts.summary.rows)
    return found, guarantee


@dataclass(frozen=True)
class CertifiedCuts:
    """The cuts at which one constraint is certified, and what it took; see `Guarantee`."""

    mask: NDArray[np.bool_]
    tested: int
    pilot_rows: int
    more_rows: int | None


def certify_cuts(
    cuts: Cuts, constraint: Constraint, towards: Goal, risk: float, random_state: Any
) -> CertifiedCuts:
    """Certify one bound on a share along a fixed sequence of thresholds, for callers with several of them.

    The sequence is walked towards the better values of `towards`. Whoever certifies k constraints divides
    the risk by k. Sums must be numbers of rows: see `count_rows`.
    """
    floor = _floor(constraint)
    rows = int(cuts.summary.positives + cuts.summary.negatives)
    mask, tested, pilot = _learn_then_test(cuts, [floor], towards, risk, random_state)
    more = 0 if mask.any() else _more_rows([floor], _cells(cuts), rows, risk, ways=False)
    return CertifiedCuts(mask, tested, pilot, more)


def order_rank(size: int, slack: float, risk: float | None) -> int:
    """Return the largest j such that leaving out j - 1 of `size` rows is certified; 0 if none is.

    The share of a class beyond its j-th order statistic follows a Beta distribution, whatever the
    scores' own distribution; with ties the rank is on the safe side. ``risk=None``: in expectation.

    Examples
    --------
    >>> [order_rank(size, 0.2, 0.05) for size in (50, 100, 500)]  # recall >= 0.8, confidence 0.95
    [6, 14, 85]
    >>> [order_rank(size, 0.2, None) for size in (50, 100)]
    [10, 20]
    """
    if risk is None:
        return min(math.floor(Fraction(str(slack)) * (size + 1)), size)
    binom = _binomial()
    rank = int(binom.ppf(risk, size, slack)) + 2  # at or one beyond; then down to the exact one
    while rank > 0 and binom.cdf(rank - 1, size, slack) > risk:
        rank -= 1
    return min(rank, size)


def _one_way(floor: _Floor, cells: Counts, risk: float | None) -> NDArray[np.bool_]:
    good, whole = floor.counts(cells)
    return np.asarray(whole - good <= order_rank(int(whole[0]), floor.slack, risk) - 1)


def _learn_then_test(
    cuts: Cuts, floors: Sequence[_Floor], goal: Goal, risk: float, random_state: Any
) -> tuple[NDArray[np.bool_], int, int]:
    """Return which cuts are certified, how many were tested, and how many rows the pilot had.

    The pilot fixes a sequence of thresholds, and the two places in it where parts of the risk start.
    See `walk` for the tests.
    """
    rows = {side: np.diff(sums, prepend=0) for side, sums in (("tp", cuts.tp), ("fp", cuts.fp))}
    rng = generator(random_state, cuts.thresholds, rows["tp"], rows["fp"], caller="find")
    # Each row goes to the pilot by a coin of its own. Rows of equal score and label are alike, so
    # tossing for their number is the same, and the order of the rows does not matter.
    pilot = {side: rng.binomial(counts, PILOT_SHARE) for side, counts in rows.items()}
    learn = _running(pilot)
    test = _running({side: rows[side] - pilot[side] for side in rows})
    grid = _grid(learn)
    mask = np.zeros(len(cuts.thresholds), dtype=np.bool_)
    if len(grid) == 0:
        return mask, 0, 0
    seen = _at(learn, grid)
    power = np.min([floor.power(seen, risk, 1 / PILOT_SHARE - 1) for floor in floors], axis=0)
    with np.errstate(all="ignore"):
        value = goal.sign * np.asarray(
            goal.expression.evaluate(**{k: v.astype(np.float64) for k, v in seen.items()})
        )
    # Start where the pilot promises most, and again where it does a tenth of the thresholds away or more. The
    # risk is divided as promised: one start fails too often, and a third one costs more than it saves.
    start = int(np.argmax(power))
    away = np.abs(np.arange(len(grid)) - start) >= len(grid) / 10
    again = int(np.argmax(np.where(away, power, -1.0)))
    spare = power[again] / (power[start] + power[again]) if power[start] > 0 else 0.0
    parts = np.zeros(len(grid))
    np.add.at(parts, [start, again], [risk * (1 - spare), risk * spare])
    # Walk to the side where the pilot finds the better values.
    up, down = (np.fmax.reduce(side, initial=-np.inf) for side in (value[: start + 1], value[start:]))
    order = np.arange(len(grid))[:: -1 if up >= down else 1]
    p_values = np.max([floor.p_values(_at(test, grid)) for floor in floors], axis=0)
    passed, tested = walk(p_values[order], parts[order])
    mask[grid[order[passed]]] = True
    return mask, tested, int(sum(part.sum() for part in pilot.values()))


def walk(p_values: NDArray[np.float64], parts: NDArray[np.float64]) -> tuple[NDArray[np.bool_], int]:
    """Test a sequence of hypotheses; return which are rejected, and how many were tested.

    Each hypothesis has a part of the risk, 0 for most. It is tested at the level of its own part and of all
    those that have come to it: after a rejection they go on to the next hypothesis, after a failure they are
    spent.

    A true hypothesis is rejected with a probability of at most the sum of the parts. Look at the first one
    that is. All rejections before it were right, so each part that has come to it has met no true hypothesis
    before: it is the first true one from where the part starts, and which one that is does not depend on the
    p-values. So each part can err at one place only, known in advance. There the level is at most the sum of
    the parts that have this place, and the levels of all places add up to the sum of all parts.

    Examples
    --------
    >>> rejected, tested = walk(np.array([0.03, 0.01, 0.2, 0.01]), np.array([0.04, 0, 0, 0.01]))
    >>> rejected.tolist(), tested
    ([True, True, False, True], 4)
    """
    rejected, tested, level = np.zeros(len(parts), dtype=np.bool_), 0, 0.0
    for place, part in enumerate(parts):
        level += part
        if level > 0:
            tested += 1
            rejected[place] = p_values[place] <= level
            level *= rejected[place]
    return rejected, tested


def _grid(cells: Counts) -> NDArray[np.intp]:
    """Return cuts at evenly spaced quantiles of the pilot's positives and negatives."""
    found = []
    for name in ("tp", "fp"):
        total = cells[name][-1]
        if total:
            wanted = np.unique(np.linspace(1, total, PILOT_QUANTILES).round().astype(np.int64))
            found.append(np.searchsorted(cells[name], wanted))
    if not found:
        return np.empty(0, dtype=np.intp)
    return np.unique(np.concatenate(found)).astype(np.intp)


def _more_rows(
    floors: Sequence[_Floor], cells: Counts, rows: int, risk: float | None, *, ways: bool
) -> int | None:
    """Estimate how many more rows like these would do; None if no cut seems to meet the constraints.

    At each cut the shares are taken as they are found, drawn a little towards one half because the
    luckiest cut counts; where that leaves no cut, as they are found.
    """
    cells = _at(cells, _grid(cells))
    share = risk / len(floors) if ways and risk is not None else risk
    part = 1.0 if ways else 1 - PILOT_SHARE
    for drawn in (0.5, 0.0):
        need = np.max([_needed(floor, cells, rows, share, drawn) for floor in floors], axis=0)
        if np.isfinite(need.min()):
            return max(1, math.ceil(float(need.min()) / part) - rows)
    return None


def _needed(floor: _Floor, cells: Counts, rows: int, risk: float | None, drawn: float) -> NDArray[np.float64]:
    """Return for each cut the rows that would certify this floor with `PLANNED_POWER`; inf if unknown."""
    binom = _binomial()
    good, whole = floor.counts(cells)
    with np.errstate(all="ignore"):
        rate = np.where(whole > 0, (good + drawn) / (whole + 2 * drawn), 0.0)
    hopeful = np.flatnonzero(rate > float(floor.at_least))
    need = np.full(len(rate), np.inf)
    if len(hopeful) == 0:
        return need
    total = np.round(1.2 ** np.arange(2, 130)).astype(np.int64)  # to about 10**10 rows
    most_bad = np.floor(floor.slack * (total + 1)) - 1 if risk is None else floor.most_bad(total, risk)
    power = binom.cdf(most_bad[None, :], total[None, :], 1 - rate[hopeful, None])
    enough = np.asarray(power >= PLANNED_POWER)
    wanted = np.where(enough.any(axis=1), total[enough.argmax(axis=1)], np.inf)
    need[hopeful] = wanted / (whole[hopeful] / rows)
    return need


def _risk(confidence: Confidence) -> float | None:
    """Return what may go wrong: 1 - confidence; None in expectation."""
    if confidence == "expectation":
        return None
    return float(1 - Fraction(str(float(confidence))))


def _floor(constraint: Constraint) -> _Floor:
    """Bring a constraint into the form that can be certified, or say why it cannot."""
    metric, bound = constraint.expression, constraint.bound
    name = metric.name if isinstance(metric, Metric) else ""
    if name == "f1" and bound < 2:
        name, bound = "jaccard", bound / (2 - bound)  # f1 = 2j / (1 + j), both rise together
    if name not in _SHARES:
        hint = (
            "a count on new data depends on how many rows there are: use predicted_positive_rate."
            if name == "predicted_positive"
            else "leave guarantee out, and look at the constraint's cross-validated value in assess."
        )
        raise InvalidParameterError(
            "subject_to",
            caller="find",
            expected=f"a bound on one of {_listed(CERTIFIABLE)} when 'guarantee' is given: a share of "
            "rows has an exact test, other metrics do not",
            got=Words(f"the constraint '{constraint}'"),
            hint=hint,
        )
    if not 0 < bound < 1:
        raise InvalidParameterError(
            "subject_to",
            caller="find",
            expected="a bound strictly between 0 and 1 when 'guarantee' is given",
            got=Words(f"the constraint '{constraint}'"),
            hint="no finite number of rows proves a share of exactly 0 or 1.",
        )
    share, rest = _SHARES[name]
    if constraint.wants_high:
        return _Floor(share, rest, bound, name in _ONE_WAY)
    return _Floor(rest, share, 1 - bound, name in _ONE_WAY)


def count_rows(cuts: Cuts) -> Cuts:
    """Return the cuts with numbers of rows for sums; refuse those that are not whole."""
    summary, step = cuts.summary, cuts.summary.grid.step
    one = step.denominator
    if step.numerator != 1 or (cuts.tp % one).any() or (cuts.fp % one).any():
        raise InvalidParameterError(
            "guarantee",
            caller="find",
            expected="left out unless every row counts as one, or as an integer number of equal rows",
            got="rows with fractional weights",
            hint="the binomial test counts independent rows; soft labels and weights are not such.",
        )
    rows = replace(
        summary,
        positives=summary.positives // one,
        negatives=summary.negatives // one,
        grid=FixedPoint(),
    )
    return replace(cuts, summary=rows, tp=cuts.tp // one, fp=cuts.fp // one)


def _cells(cuts: Cuts) -> Counts:
    return {name: values.astype(np.int64) for name, values in cuts.floats.items()}


def _running(steps: dict[str, NDArray[np.int64]]) -> Counts:
    """Return the four cells at every cut from the rows that each cut adds."""
    tp, fp = np.cumsum(steps["tp"]), np.cumsum(steps["fp"])
    return {"tp": tp, "fp": fp, "fn": tp[-1] - tp, "tn": fp[-1] - fp}


def _at(cells: Counts, index: NDArray[np.intp]) -> Counts:
    return {name: values[index] for name, values in cells.items()}


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"

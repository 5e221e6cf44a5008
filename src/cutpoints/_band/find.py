"""`find_band`: validate once, search all pairs of cuts, return a band."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._band.goal import BandGoal, band_goal, capacity_bounds, check_reviews
from cutpoints._band.guarantee import certified, check_guarantee, with_no_automatic_no
from cutpoints._band.result import Band, CrossValidatedBand, PairCertificate
from cutpoints._data.added_columns import with_totals
from cutpoints._data.read import as_data
from cutpoints._find import cut_at, solve
from cutpoints._goal import Goal, furthest
from cutpoints._kernel.cuts import Cuts
from cutpoints._kernel.weights import as_number
from cutpoints._result import Confusion
from cutpoints._search.band import REVIEWED, best_pair
from cutpoints._search.band_narrow import edges_of, narrow_pairs
from cutpoints._search.folds import FOLDS, deal
from cutpoints._search.run import search
from cutpoints._search.sweep import all_cuts
from cutpoints._validate import generator
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics._arithmetic import as_float
from cutpoints.metrics.columns import CELLS, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from cutpoints._band.goal import Capacity
    from cutpoints._data.data import Data
    from cutpoints._data.source import Source
    from cutpoints._goal import Constraints, Objective
    from cutpoints._kernel.tables import Summary
    from cutpoints._result import Guarantee, Solution
    from cutpoints._search.band import Pair, PairSum
    from cutpoints.metrics.columns import Column


def find_band(
    y_true: Any,
    y_score: Any = None,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    capacity: float | Mapping[str, float] | None = None,
    reviewer: tuple[float, float] | None = None,
    guarantee: float | None = None,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    random_state: Any = 0,
) -> Band:
    """Find two thresholds: yes from the upper one on, no below the lower one, and people review the rest.

    Exact: the optimum over all pairs of cuts, by a search that excludes nearly all of them unseen. Between
    bands of equal value the one with the fewest reviews, and then the one with the fewest automatic yes.
    Takes about as long as `find` with ``method="sweep"``. Lazy frames and large files are read in passes, and
    buckets of scores that can be neither end are dropped unseen.

    Parameters
    ----------
    y_true, y_score, label, score, weight, sample_weight, pos_label
        As for `find`. Without labels, calibrated probabilities p do:
        ``from_counts(p, positives=p, negatives=1 - p)``.
    maximize, minimize : str or metric expression
        A cost or a profit with the cost of a review, ``minimize="cost(fp=5, fn=20, review=1)"``, with columns
        where costs differ from row to row, ``"cost(fp=5, fn=amount, review=1)"``; or
        ``maximize="coverage"``, the share of automatic decisions, with bounds on these.
    subject_to : str, constraint, or a list of them, default=None
        Bounds on the automatic decisions: ``"accuracy >= 0.95"``, ``["precision >= 0.95", "npv >= 0.99"]``,
        and others that are linear in the four counts. Where no decision is automatic a bound on a share
        of them holds.
    capacity : float or dict of column to float, default=None
        The most rows (or weight) that can be reviewed, or the most of a column that reviews may add up to:
        ``capacity={"minutes": 2400}``.
    reviewer : (float, float), default=None
        The sensitivity and specificity of the reviewers; (1, 1) by default: they are always right.
    guarantee : float in (0, 1), default=None
        Ask for bounds on precision, fdr, npv and false_omission_rate that hold on new data from the same
        source, all of them together with this confidence; for independent rows without weights. A side that
        cannot be certified is left to review.
    random_state : int, Generator or None, default=0
        How rows are assigned to folds for the cross-validated value, and to the pilot of a guarantee. An
        integer is mixed with a digest of the data.

    Returns
    -------
    Band
        With `low`, `high`, `value`, `reviewed`, the `confusion` of the automatic decisions, `certificate`,
        and beside it the best `single` threshold and the `cross_validated` value.

    See Also
    --------
    bayes_band : The band of calibrated probabilities, which needs no data.
    Curve.risk_coverage : The lowest error of automatic decisions at every coverage.

    Examples
    --------
    >>> import cutpoints as cp
    >>> y, p = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.4, 0.5, 0.6, 0.9]
    >>> band = cp.find_band(y, p, minimize="cost(fp=5, fn=5, review=1)")
    >>> band.low, band.high, band.value, band.reviewed
    (0.4, 0.6, 2.0, 2)
    >>> band.single.value
    5.0
    """
    wanted = band_goal(
        maximize=maximize, minimize=minimize, subject_to=subject_to, capacity=capacity, reviewer=reviewer
    )
    check_reviews(wanted)
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label, caller="find_band",
    ).adding(wanted.columns, "find_band")  # fmt: skip
    if guarantee is not None:
        check_guarantee(wanted, guarantee, weighted=data.weighted)
    source = data.source()
    beyond = data.lazy and source.summary().rows > source.direct_rows
    if guarantee is None and beyond and not wanted.columns:
        found = _beyond_memory(wanted, source)
    else:
        found = _in_memory(wanted, source, guarantee, random_state)
    judged = found.cuts if found.edges is None else found.edges
    beside: dict[str, Callable[[], Any]] = {
        "single": partial(_single, wanted, source),
        "cross_validated": partial(
            _cross_validate, wanted, judged, guarantee, random_state, rows_are_counted=_counted(data, judged)
        ),
    }
    made = _band(wanted, found, source.passes, beside)
    data.warn_of_one_class(made.positives, made.negatives)
    return replace(made, _columns=data.known(found.cuts.thresholds.dtype))


class _Found(NamedTuple):
    """The cuts that were left to look at, the best pair of them, and what is promised."""

    cuts: Cuts
    pair: Pair | None
    rows_examined: int
    guarantee: Guarantee | None = None
    least: Fraction | None = None
    """Without a pair: the fewest reviews with which the constraints can be met."""
    edges: Cuts | None = None
    """Beyond memory: the edges of the first count, on which the value for new data is estimated."""


def _in_memory(wanted: BandGoal, source: Source, confidence: float | None, random_state: Any) -> _Found:
    cuts = all_cuts(source)
    _check_columns(wanted, cuts.summary)
    if confidence is not None:
        cuts = with_no_automatic_no(cuts)
    pair, guarantee = _search(wanted, cuts, confidence, random_state)
    least = None
    if pair is None:
        free, _ = _search(replace(wanted, expression=None, capacity=None), cuts, confidence, random_state)
        least = None if free is None else _reviewed(_counts(cuts, free))
    return _Found(cuts, pair, cuts.summary.rows, guarantee, least)


def _check_columns(wanted: BandGoal, summary: Summary) -> None:
    """Raise for a capacity in a column with negative values: more reviews would then be less."""
    for one in summary.columns:
        if one.sign < 0 and one.column in (wanted.capacity or {}):
            raise InvalidParameterError(
                "capacity",
                caller="find_band",
                expected=f"for a column of numbers >= 0 where {one.column} is bounded",
                got="negative values",
            )


def _beyond_memory(wanted: BandGoal, source: Source) -> _Found:
    summary = source.summary()
    objective, bounds = _sums(wanted, summary)
    narrowed = narrow_pairs(source, objective, bounds)
    cuts = narrowed.cuts
    pair = best_pair(cuts, objective, bounds)
    least = None
    if pair is None:
        bounds = _sums(replace(wanted, capacity=None), summary)[1]
        among = narrow_pairs(source, REVIEWED, bounds).cuts
        free = best_pair(among, REVIEWED, bounds)
        least = None if free is None else _reviewed(_counts(among, free))
    edges = None if narrowed.histogram is None else edges_of(summary, narrowed.histogram)
    return _Found(cuts, pair, narrowed.rows_examined, least=least, edges=edges)


def _sums(wanted: BandGoal, summary: Summary) -> tuple[PairSum, list[PairSum]]:
    objective = REVIEWED if wanted.expression is None else wanted.objective_sum(summary)
    return objective, wanted.bounds(summary)


def _search(
    wanted: BandGoal, cuts: Cuts, confidence: float | None, random_state: Any
) -> tuple[Pair | None, Guarantee | None]:
    """Return the best band, and what is promised of it."""
    objective, bounds = _sums(wanted, cuts.summary)
    if confidence is None:
        return best_pair(cuts, objective, bounds), None
    allowed = certified(wanted, cuts, confidence, random_state)
    # What is certified is the bound on new data: it need not hold on these rows, pilot included.
    room = capacity_bounds(wanted.capacity, cuts.summary)
    return best_pair(cuts, objective, room, allowed.sides), allowed.guarantee


def _band(wanted: BandGoal, found: _Found, passes: int, beside: Mapping[str, Callable[[], Any]]) -> Band:
    """Say what was found."""
    cuts, pair = found.cuts, found.pair
    summary = cuts.summary
    common: dict[str, Any] = {
        "objective": wanted.objective,
        "direction": wanted.direction,
        "constraints": tuple(map(str, wanted.constraints)),
        "capacity": _shown(wanted.capacity),
        "reviewer": tuple(map(float, wanted.reviewer)),
        "rows": summary.rows,
        "positives": summary.grid.number(summary.positives),
        "negatives": summary.grid.number(summary.negatives),
        "guarantee": found.guarantee,
        "_beside": beside,
    }
    proof = PairCertificate(
        lower=math.inf if wanted.direction == "minimize" else -math.inf,
        upper=math.inf if wanted.direction == "minimize" else -math.inf,
        cuts=len(cuts),
        compared=0 if pair is None else pair.compared,
        passes=passes,
        rows_examined=found.rows_examined,
        resolution=summary.resolution,
    )
    if pair is None:
        if found.guarantee is not None and found.guarantee.more_rows != 0:
            return Band(status="none_certified", certificate=proof, **common)
        fewest = None if found.least is None else as_number(found.least)
        return Band(status="infeasible", certificate=proof, least_reviewed=fewest, **common)
    counts = _counts(cuts, pair)
    amounts = _amounts(cuts, pair)
    value = as_float(wanted.value(counts, amounts))
    upper, lower = (cut_at(cuts, index) for index in pair[:2])
    return Band(
        status="optimal",
        certificate=replace(proof, lower=value, upper=value),
        low=lower.threshold,
        high=upper.threshold,
        low_interval=lower.interval,
        high_interval=upper.interval,
        value=value,
        confusion=_confusion(counts, amounts),
        reviewed=as_number(_reviewed(counts)),
        reviewed_positives=as_number(counts["reviewed_positives"]),
        **common,
    )


def _counts(cuts: Cuts, pair: Pair) -> dict[str, Fraction]:
    """Return what becomes of the rows, exactly."""
    upper, lower = cuts.confusion(pair.upper), cuts.confusion(pair.lower)
    return {
        "tp": upper["tp"],
        "fp": upper["fp"],
        "fn": lower["fn"],
        "tn": lower["tn"],
        "reviewed_positives": lower["tp"] - upper["tp"],
        "reviewed_negatives": lower["fp"] - upper["fp"],
    }


def _amounts(cuts: Cuts, pair: Pair) -> dict[Column, dict[str, Fraction]]:
    """Return what the columns add up to over the same kinds of rows, exactly."""
    ends = [cuts.parts(index, int) for index in (pair.upper, pair.lower)]
    found = {}
    for column in ends[0]:
        upper, lower = (
            {name: sum(one.sign * one.step * getattr(one, name) for one in end[column]) for name in CELLS}
            for end in ends
        )
        found[column] = {
            **{name: (upper if name in ("tp", "fp") else lower)[name] for name in CELLS},
            "reviewed_positives": lower["tp"] - upper["tp"],
            "reviewed_negatives": lower["fp"] - upper["fp"],
        }
    return found


def _confusion(counts: Mapping[str, Fraction], amounts: Mapping[Column, Mapping[str, Fraction]]) -> Confusion:
    """Return the confusion of the automatic decisions, with the sums of columns."""
    parts = {
        column: [Part(1, Fraction(1), *(sums[name] for name in CELLS))] for column, sums in amounts.items()
    }
    return Confusion.of(counts).with_columns(parts)


def _shown(capacity: Capacity | None) -> Any:
    """Return the capacity as users give it."""
    if capacity is None or None in capacity:
        return None if capacity is None else as_number(capacity[None])
    return {str(column): as_number(most) for column, most in capacity.items()}


def _reviewed(counts: Mapping[str, Fraction]) -> Fraction:
    return counts["reviewed_positives"] + counts["reviewed_negatives"]


def _single(wanted: BandGoal, source: Source) -> Solution:
    """Return the best single threshold for the same goal, or for the first bound on the automatic part."""
    if wanted.expression is None:
        goal = furthest(wanted.constraints[0])
    else:
        goal = Goal(wanted.expression, wanted.direction, wanted.constraints)
    return solve(goal, lambda one: search(source, one))


# --- the value to expect on new data


def _counted(data: Data, cuts: Cuts) -> bool:
    """Whether sums are numbers of rows, which can be dealt out one by one."""
    grid = cuts.summary.grid
    return not (data.weighted or data.counted or data.added) and (grid.exponent, grid.factor) == (0, 1)


def _cross_validate(
    wanted: BandGoal,
    cuts: Cuts,
    confidence: float | None,
    random_state: Any,
    *,
    rows_are_counted: bool,
) -> CrossValidatedBand:
    """Judge each fold by the band of the other folds, and add up the counts."""
    steps = np.array([np.diff(side, prepend=0) for side in (cuts.tp, cuts.fp, *cuts.columns)])
    rng = generator(random_state, cuts.thresholds, *steps)
    total = cuts.summary.positives + cuts.summary.negatives
    pooled = dict.fromkeys((*CELLS, "reviewed_positives", "reviewed_negatives"), Fraction(0))
    sums = {one.column: dict(pooled) for one in cuts.summary.columns}
    infeasible = 0
    fold = None if rows_are_counted else rng.permutation(len(cuts)) % FOLDS
    for part in list(deal(steps, rng, fold)):  # at once: a guarantee may draw from the same generator
        train, test = _with_steps(cuts, steps - part), _with_steps(cuts, part)
        share = Fraction(train.summary.positives + train.summary.negatives, total)
        pair, _ = _search(wanted.scaled(share), train, confidence, random_state) if share else (None, None)
        if pair is None:
            infeasible += 1
            continue
        for name, number in _counts(test, pair).items():
            pooled[name] += number
        for column, added in _amounts(test, pair).items():
            sums[column] = {name: sums[column][name] + number for name, number in added.items()}
    judged = sum(pooled.values())
    confusion = _confusion(pooled, sums)
    return CrossValidatedBand(
        value=as_float(wanted.value(pooled, sums)) if judged else math.nan,
        confusion=confusion,
        reviewed=as_number(_reviewed(pooled)),
        constraints={str(one): confusion.metric(one.expression) for one in wanted.constraints},
        folds=FOLDS,
        infeasible_folds=infeasible,
    )


def _with_steps(cuts: Cuts, steps: NDArray[np.int64]) -> Cuts:
    """Return the same cuts of other rows."""
    tp, fp, *columns = np.cumsum(steps, axis=1)
    added = with_totals(cuts.summary.columns, tuple(steps[2:]))
    summary: Summary = replace(cuts.summary, positives=int(tp[-1]), negatives=int(fp[-1]), columns=added)
    return Cuts(summary, cuts.thresholds, cuts.below, tp, fp, tuple(columns))

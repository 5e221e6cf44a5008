"""`assess`: how far a threshold can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._assess.assessment import Assessment, Bootstrap
from cutpoints._assess.bands import band
from cutpoints._assess.bootstrap import Ordered, optima
from cutpoints._assess.threshold_sets import near_optimal, odds, split_set
from cutpoints._data.read import as_data
from cutpoints._evaluate.cross_validation import cross_validate
from cutpoints._evaluate.splits import group_codes, make_splits
from cutpoints._find import solve
from cutpoints._goal import Constraints, Objective, goal
from cutpoints._search.run import decide
from cutpoints._search.sweep import all_cuts
from cutpoints._validate import check_confidence, generator, integer_in, number_in
from cutpoints.exceptions import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._goal import Goal
    from cutpoints.metrics.columns import Column

_COUNTS_ONLY = "it bounds numbers of rows, and the goal adds up columns"
NEAR = 0.01
"""Thresholds are nearly as good within this share of the best value, if nothing else is asked."""


def assess(
    y_true: Any,
    y_score: Any = None,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    groups: Any = None,
    cv: Any = 5,
    stratify: bool = True,
    confidence: float = 0.95,
    tolerance: float | None = None,
    n_bootstrap: int = 1000,
    random_state: Any = 0,
) -> Assessment:
    """Say how far the best threshold of these rows can be trusted on new ones.

    The best value on these rows is the best of many, so it is too good to be true, especially with few
    positives. The choice of the threshold is judged, for scores as they are: if a model was fitted,
    the scores must come from rows that it has not seen (out-of-fold, or held out).

    Guaranteed, for independent rows: the confidence set and the band. Nearly unbiased: the
    cross-validated value. Heuristic: the bootstrap interval; the bootstrap of a threshold is known
    to be inconsistent. There is no standard error of a threshold, because its distribution is not
    normal, and its error shrinks with the cube root of the number of rows only.

    Costs one search per fold, a sort, and the bootstrap: about a second for 100,000 rows. The rows are
    held in memory: resampling needs them all, so files are read and lazy frames are collected.

    Parameters
    ----------
    y_true, y_score, maximize, minimize, subject_to, label, score, weight, sample_weight, pos_label
        As for `find`.
    groups : array-like of shape (n_samples,) or str, default=None
        Rows of one group (patient, customer, document) are not independent: they are resampled
        together. The confidence set and the band need independent rows and are then left out. Where
        columns have names it is one of them, or an array in the order of the rows.
    cv : int, splitter, iterable, "loo" or None, default=5
        Folds for the cross-validated value: a number, a splitter of scikit-learn, or pairs
        (train, test) of row numbers. None is 5, as in scikit-learn. ``"loo"`` leaves one row out, or one
        group, and costs as many searches.
    stratify : bool, default=True
        Whether folds and resamples keep the share of positives as it is.
    confidence : float in (0, 1), default=0.95
        Of the confidence set, the band and the bootstrap interval.
    tolerance : float, default=None
        How much worse than the best counts as nearly as good; 1 % of the best value by default.
    n_bootstrap : int, default=1000
        How many resamples; 0 for none.
    random_state : int, Generator or None, default=0
        How rows are shuffled and resampled. An integer is mixed with a digest of the data: the same data
        give the same answer, and other data other draws. Another version of NumPy may draw other
        resamples for the bootstrap.

    Returns
    -------
    Assessment
        Prints as a short report. `summary` is one sentence.

    Raises
    ------
    InfeasibleError
        No cut meets the constraints: there is nothing to assess.
    InvalidInputError
        More folds than positives, a fold whose other rows have one class only, groups of one row.

    See Also
    --------
    find : With ``guarantee=``, constraints that hold on new data.

    Examples
    --------
    >>> import cutpoints as cp, numpy as np
    >>> rng = np.random.default_rng(3)
    >>> y = rng.random(400) < 0.1
    >>> p = rng.normal(size=400) + 1.5 * y
    >>> a = cp.assess(y, p, maximize="f1")
    >>> round(a.resubstitution, 3), round(a.cross_validated, 3), round(a.optimism, 3)
    (0.559, 0.514, 0.045)
    """
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="assess", columns=True)
    _check(confidence, tolerance, n_bootstrap)
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label, caller="assess",
    ).for_goal(wanted, "assess")  # fmt: skip
    data.check_index(groups=groups)
    rows = data.labelled_rows(groups=groups if isinstance(groups, str) else None, caller="assess")
    (source,), y, weights = rows.sources.values(), rows.y, rows.weights
    scores = source.scores
    rng = generator(random_state, scores, y, caller="assess")
    positives = int(y.sum())
    if positives in (0, len(y)):
        raise InvalidInputError.no_rows_of(what="assess", positives=positives, negatives=len(y) - positives)
    group = group_codes(groups if rows.groups is None else rows.groups, len(y))
    cuts = all_cuts(source)
    best = solve(wanted, lambda one: decide(cuts, one, "sweep", 1, len(y))).raise_if_infeasible()
    assert best.value is not None
    assert best.confusion is not None
    splits = make_splits(
        y, cv, groups=group, stratify=stratify, random_state=int(rng.integers(2**31)), caller="assess"
    )
    total = float(sum(cuts.summary.totals))
    judged = cross_validate(wanted, y, scores, splits, weights=weights, columns=source.columns, total=total)
    near = NEAR * abs(best.value) if tolerance is None else tolerance
    reason = _dependent(weights, group)
    region, why_no_set = None, reason or _not_linear(wanted)
    if why_no_set is None:
        region = split_set(wanted, y, scores, confidence=confidence, rng=rng)
    bound, why_no_band = None, reason or (_COUNTS_ONLY if wanted.columns else None)
    if why_no_band is None:
        bound = band(cuts, wanted.expression, confidence)
        why_no_band = None if bound else "nothing is known of the shape of this function"
    return Assessment(
        solution=best,
        cross_validation=judged,
        folds=len(splits),
        tolerance=float(near),
        near_optimal=near_optimal(cuts, wanted, best.value, float(near)),
        confidence=confidence,
        confidence_set=region,
        no_confidence_set=why_no_set,
        band=bound,
        no_band=why_no_band,
        bootstrap=_bootstrap(
            wanted,
            (y, scores, weights, source.columns),
            group,
            replicates=n_bootstrap,
            confidence=confidence,
            rng=rng,
            stratify=stratify,
        ),
        resubstitution_constraints={
            str(one): best.confusion.metric(one.expression) for one in wanted.constraints
        },
    )


def _bootstrap(
    wanted: Goal,
    rows: tuple[NDArray[np.uint8], NDArray[Any], NDArray[Any] | None, dict[Column, NDArray[Any]]],
    group: NDArray[np.intp] | None,
    *,
    replicates: int,
    confidence: float,
    rng: np.random.Generator,
    stratify: bool,
) -> Bootstrap | None:
    if replicates == 0:
        return None
    y, scores, weights, columns = rows
    ordered = Ordered.of(y, scores)
    found = optima(
        ordered,
        wanted,
        replicates,
        rng,
        stratify=stratify,
        weights=None if weights is None else weights[ordered.order].astype(np.float64),
        groups=None if group is None else group[ordered.order],
        columns={column: values[ordered.order] for column, values in columns.items()},
    )
    return Bootstrap.of(found, confidence)


def _dependent(weights: Any, group: Any) -> str | None:
    if weights is not None:
        return "it counts independent rows, and these have weights"
    return "it needs independent rows, and these come in groups" if group is not None else None


def _not_linear(wanted: Goal) -> str | None:
    if wanted.constraints:
        return "with constraints there is no exact test of which threshold is better"
    if odds(wanted) is None:
        return (
            f"it needs a linear cost such as accuracy or cost(fp=2, fn=1), which {wanted.expression} is not"
        )
    return None


def _check(confidence: Any, tolerance: Any, n_bootstrap: Any) -> None:
    check_confidence(confidence, "assess")
    if tolerance is not None:
        number_in(
            "tolerance", tolerance, 0, expected="a number >= 0, in units of the metric", caller="assess"
        )
    integer_in("n_bootstrap", n_bootstrap, 0, caller="assess")

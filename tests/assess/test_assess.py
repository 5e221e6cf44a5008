"""`assess`: what it puts side by side, how it resamples, what it refuses."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    TimeSeriesSplit,
)

import cutpoints as cp
from cutpoints._evaluate.cross_validation import cross_validate
from cutpoints._evaluate.splits import group_codes, make_splits
from cutpoints._goal import goal
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError


def rare(n, seed, prevalence=0.05, shift=1.5):
    """The model of the published table: rare positives, F1 at most .3713."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(np.int8)
    return y, rng.normal(size=n) + shift * y


def pairs(fold):
    """Train and test rows for numbered folds."""
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(fold.max() + 1)]


def truth(threshold, prevalence=0.05, shift=1.5):
    """The F1 of a threshold in the population of that model."""
    hits, alarms = norm.sf(threshold - shift), norm.sf(threshold)
    tp, fp = prevalence * hits, (1 - prevalence) * alarms
    return 2 * tp / (tp + fp + prevalence)


# --- the two values


def test_cross_validated_value_by_hand():
    """Each fold is judged at the best threshold of the others, and the counts are added up."""
    y, scores = rare(200, 0, prevalence=0.3)
    fold = np.arange(200) % 4
    found = cross_validate(goal(maximize="f1"), y, scores, pairs(fold))
    tp = fp = fn = 0
    for k in range(4):
        inside = fold == k
        t = cp.find(y[~inside], scores[~inside], maximize="f1").threshold
        assert t == found.thresholds[k]
        called = scores[inside] >= t
        tp += (called & (y[inside] == 1)).sum()
        fp += (called & (y[inside] == 0)).sum()
        fn += (~called & (y[inside] == 1)).sum()

    assert 2 * tp / (2 * tp + fp + fn) == found.value
    assert (tp, fp, fn) == (found.confusion.tp, found.confusion.fp, found.confusion.fn)


def test_weights_are_repeated_rows():
    """A row of weight 3 counts as three rows in the same fold."""
    y, scores = rare(120, 1, prevalence=0.3)
    weights = np.random.default_rng(0).integers(1, 4, 120)
    fold = np.arange(120) % 3
    weighted = cross_validate(goal(maximize="f1"), y, scores, pairs(fold), weights=weights)
    again = np.repeat(np.arange(120), weights)
    repeated = cross_validate(goal(maximize="f1"), y[again], scores[again], pairs(fold[again]))

    assert (repeated.value, repeated.thresholds) == (weighted.value, weighted.thresholds)


def test_time_series_are_judged_by_their_past():
    """The threshold of a fold comes from the training part that the splitter names."""
    y, scores = rare(90, 2, prevalence=0.4)
    splits = list(TimeSeriesSplit(4).split(scores))
    a = cp.assess(y, scores, maximize="f1", cv=TimeSeriesSplit(4), n_bootstrap=0)

    expected = [cp.find(y[train], scores[train], maximize="f1").threshold for train, _ in splits]
    assert expected == list(a.cross_validation.thresholds)


def test_optimism_is_positive_when_minimising_too():
    """Too good is a lower cost as well as a higher F1."""
    y, scores = rare(200, 3)
    a = cp.assess(y, scores, minimize="cost(fp=1, fn=10)", n_bootstrap=0)

    assert a.cross_validated - a.resubstitution == a.optimism
    assert a.optimism > 0
    assert a.lower_bound > a.resubstitution  # the highest cost


def test_totals_are_scaled_to_all_rows():
    """Splits that judge rows never or twice do not change the scale of a cost."""
    y, scores = rare(300, 4, prevalence=0.3)
    cost = {"minimize": "cost(fp=1, fn=2)", "n_bootstrap": 0}
    once = cp.assess(y, scores, **cost).cross_validated
    twice = cp.assess(
        y, scores, cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0), **cost
    ).cross_validated
    later = cp.assess(y, scores, cv=TimeSeriesSplit(4), **cost).cross_validated

    assert 0.7 < twice / once < 1.4
    assert 0.5 < later / once < 2


def table(n, runs):
    """Resubstitution, truth and pooled cross-validation of the published table, averaged."""
    found = []
    for seed in range(runs):
        y, scores = rare(n, seed)
        if y.sum() < 5:
            continue
        a = cp.assess(y, scores, maximize="f1", n_bootstrap=0)
        mean_fold = np.nanmean(np.nan_to_num(a.cross_validation.fold_values, nan=0.0))
        found.append((a.resubstitution, truth(a.solution.threshold), a.cross_validated, mean_fold))
    return np.mean(found, axis=0)


def test_optimism_of_the_published_table():
    """n = 500: the F1 reads .42 where .35 is true; pooled folds say so (120 runs, wide tolerance)."""
    resubstitution, true, pooled, mean_fold = table(500, 120)

    assert 0.055 <= resubstitution - true <= 0.095
    assert abs(pooled - true) < 0.025
    assert mean_fold < pooled  # the mean of fold values is biased down


@pytest.mark.slow
def test_optimism_of_the_published_table_in_full():
    """|pooled - truth| < .01 and optimism in [.065, .085] over 2,000 runs of n = 500."""
    resubstitution, true, pooled, _ = table(500, 2000)

    assert 0.065 <= resubstitution - true <= 0.085
    assert abs(pooled - true) < 0.01


def spread(sizes, runs):
    """The slope of log sd(threshold) against log n."""
    rng = np.random.default_rng(0)
    sds = []
    for n in sizes:
        found = []
        for _ in range(runs):
            scores = rng.normal(size=n)
            y = rng.random(n) < 1 / (1 + np.exp(-2 * scores))
            found.append(cp.find(y, scores, maximize="accuracy").threshold)
        sds.append(np.std(found))
    return np.polyfit(np.log(sizes), np.log(sds), 1)[0]


def test_threshold_converges_at_the_cube_root():
    """The sd of the best threshold falls like n^(-1/3), not n^(-1/2): slope in [-.42, -.25]."""
    assert -0.42 <= spread([250, 1000, 4000], 250) <= -0.25


@pytest.mark.slow
def test_threshold_converges_at_the_cube_root_in_full():
    """Over n = 250 to 64,000 the slope is in [-.40, -.28] (published: -.335)."""
    assert -0.40 <= spread([250, 1000, 4000, 16000, 64000], 500) <= -0.28


def test_bootstrap_covers_roughly():
    """The percentile interval of 95 % held the best threshold in 92-97 % of published runs."""
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(60):
        scores = rng.normal(size=500)
        y = rng.random(500) < 1 / (1 + np.exp(-2 * scores))
        a = cp.assess(y, scores, maximize="accuracy", n_bootstrap=200)
        inside += a.bootstrap.low <= 0 <= a.bootstrap.high
    assert inside >= 51


# --- resampling


@pytest.mark.parametrize("cv", [2, 5])
def test_folds_are_stratified_and_judge_every_row_once(cv):
    """Each row is judged once, and every fold has its share of positives."""
    y, _ = rare(200, 5, prevalence=0.2)
    tests = [test for _, test in make_splits(y, cv, caller="assess", random_state=0)]

    assert list(range(200)) == sorted(np.concatenate(tests))
    shares = [y[test].sum() for test in tests]
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("stratify", [True, False])
def test_groups_are_never_on_both_sides(stratify):
    """All rows of a group are judged in the same fold."""
    y, _ = rare(120, 6, prevalence=0.3)
    groups = np.arange(120) // 4
    splits = make_splits(y, 5, caller="assess", groups=groups, stratify=stratify, random_state=0)

    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])


def test_groups_may_have_any_names():
    """Texts, numbers and missing-value objects name groups alike."""
    assert [0, 1, 0] == group_codes(["a", "b", "a"], 3).tolist()
    assert [1, 0, 1] == group_codes(np.array([7, 3, 7]), 3).tolist()
    assert group_codes(None, 3) is None


def test_grouped_rows_have_no_exact_sets():
    """Rows that come in groups are not independent, so what needs that is left out, with a reason."""
    y, scores = rare(200, 7, prevalence=0.3)
    a = cp.assess(y, scores, maximize="accuracy", groups=np.arange(200) // 2, n_bootstrap=50)

    assert (a.confidence_set, a.band) == (None, None)
    assert "groups" in a.no_confidence_set
    assert a.bootstrap is not None


@pytest.mark.parametrize("cv", [LeaveOneOut(), TimeSeriesSplit(4), GroupKFold(3)])
def test_any_splitter_will_do(cv):
    """The splitters that scikit-learn has are taken as they are."""
    y, scores = rare(60, 8, prevalence=0.4)
    groups = np.arange(60) // 3 if isinstance(cv, GroupKFold) else None
    a = cp.assess(y, scores, maximize="f1", cv=cv, groups=groups, n_bootstrap=0)

    assert 0 < a.cross_validated <= 1


@pytest.mark.parametrize("groups", [None, np.arange(60) // 3])
def test_loo_leaves_one_out(groups):
    """cv="loo" leaves out one row, or one group if there are groups."""
    y, scores = rare(60, 8, prevalence=0.4)
    splitter = LeaveOneOut() if groups is None else LeaveOneGroupOut()
    by_name, by_splitter = (
        cp.assess(y, scores, maximize="f1", cv=cv, groups=groups, n_bootstrap=0) for cv in ("loo", splitter)
    )

    assert (60 if groups is None else 20) == by_name.folds
    assert by_splitter.cross_validation == by_name.cross_validation


def test_pairs_of_indices_and_masks_are_folds():
    """An iterable of (train, test) works with row numbers and with masks."""
    y, scores = rare(100, 9, prevalence=0.4)
    first = np.arange(100) < 50
    masks = [(~first, first), (first, ~first)]
    numbers = [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in masks]

    by_mask, by_number = (
        cp.assess(y, scores, maximize="f1", cv=cv, n_bootstrap=0).cross_validated for cv in (masks, numbers)
    )
    assert by_mask == by_number


# --- constraints


def test_constraints_are_judged_too():
    """The constraint's value is told twice, and a broken one is named in the sentence."""
    y, scores = rare(300, 10, prevalence=0.2)
    a = cp.assess(y, scores, maximize="recall", subject_to="precision >= 0.8", n_bootstrap=0)

    assert a.resubstitution_constraints["precision >= 0.8"] >= 0.8
    assert a.cross_validation.constraints["precision >= 0.8"] < 0.8
    assert a.cross_validation.broken == ("precision >= 0.8",)
    assert "does not hold" in a.summary


def test_infeasible_is_an_error():
    """There is nothing to assess where nothing meets the constraints."""
    with pytest.raises(InfeasibleError, match="No threshold meets"):
        cp.assess([0, 1] * 10, [0.5] * 20, maximize="recall", subject_to="precision >= 0.9")


# --- telling


def test_report_says_it_all():
    """The printed report has every part, the word heuristic, and no standard error."""
    y, scores = rare(400, 11, prevalence=0.2)
    told = repr(cp.assess(y, scores, maximize="accuracy", n_bootstrap=100))

    for part in (
        "resubstitution",
        "cross-validated",
        "optimism",
        "near-optimal",
        "95 % set",
        "heuristic",
        "DKW",
    ):
        assert part in told
    assert "standard error" not in told
    assert "which is" in told.splitlines()[-1] or "about the same" in told.splitlines()[-1]


def test_json_is_strict():
    """The documented object has no NaN and no infinity, and repeats the numbers of the object."""
    y, scores = rare(200, 12, prevalence=0.2)
    a = cp.assess(y, scores, maximize="f1", n_bootstrap=50)
    again = json.loads(json.dumps(a.to_dict(), allow_nan=False))

    assert (a.resubstitution, a.cross_validated) == (again["resubstitution"], again["cross_validated"])
    assert a.solution.threshold == again["threshold"]
    assert 50 == again["bootstrap"]["n_bootstrap"]
    assert "<table>" in a._repr_html_()


def test_same_seed_same_answer():
    """An assessment is reproducible, and another seed shuffles differently."""
    y, scores = rare(200, 13, prevalence=0.2)
    first, again, other = (
        cp.assess(y, scores, maximize="f1", n_bootstrap=50, random_state=s).to_dict() for s in (1, 1, 2)
    )
    assert first == again != other


# --- bad input


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"confidence": 1.0}, InvalidParameterError, "between 0 and 1"),
        ({"confidence": 95}, InvalidParameterError, "for 95 % pass 0.95"),
        ({"tolerance": -1}, InvalidParameterError, "^tolerance must be"),
        ({"tolerance": math.nan}, InvalidParameterError, "^tolerance must be"),
        ({"n_bootstrap": -1}, InvalidParameterError, "^n_bootstrap must be"),
        ({"n_bootstrap": 2.5}, InvalidParameterError, "^n_bootstrap must be"),
        ({"cv": 1}, InvalidParameterError, "at least 2 folds"),
        ({"cv": "five"}, InvalidParameterError, "^cv must be"),
        ({"cv": 2.5}, InvalidParameterError, "^cv must be"),
        ({"cv": [1, 2]}, InvalidParameterError, "a way to split these rows"),
        (
            {"cv": LeaveOneOut(), "groups": np.arange(20) // 2},
            InvalidParameterError,
            "a splitter that keeps groups together",
        ),
        ({"cv": [(np.arange(5), np.arange(5, 20))]}, InvalidParameterError, "two folds or more"),
        ({"cv": 9}, InvalidInputError, "The positives for 9 folds must be at least 9. Got 8"),
        ({"groups": np.arange(20)}, InvalidInputError, "every row is a group of its own"),
        ({"groups": np.arange(20) // 10}, InvalidInputError, "The groups for 5 folds"),
        ({"groups": [1, 2]}, InvalidInputError, "same number of rows"),
        ({"groups": np.zeros((20, 2))}, InvalidInputError, "one-dimensional"),
        (
            {"cv": [(np.arange(8, 20), np.arange(8)), (np.arange(8), np.arange(8, 20))]},
            InvalidInputError,
            "must have both classes",
        ),
    ],
)
def test_bad_requests_are_refused(options, error, match):
    """What cannot be meant, or cannot be done with these rows, is an error that says so."""
    y = np.array([1] * 8 + [0] * 12)
    with pytest.raises(error, match=match):
        cp.assess(y, np.arange(20.0), **({"maximize": "f1"} | options))


@pytest.mark.parametrize(
    ("positives", "options", "hint"),
    [
        (1, {}, "two folds are the fewest: use more rows of this class"),
        (3, {}, "use at most cv=3 folds, or more rows of this class"),
        (9, {"groups": [0] * 20}, "two folds are the fewest: use more groups"),
        (9, {"groups": [0, 1] * 10}, "use at most cv=2 folds, or more groups"),
    ],
)
def test_too_many_folds_are_told_how_many_would_do(positives, options, hint):
    """What the hint says must work: a class of one row has no two folds."""
    y = [1] * positives + [0] * (20 - positives)
    with pytest.raises(InvalidInputError, match=f"(?s)Hint: {hint}"):
        cp.assess(y, np.arange(20.0), maximize="f1", **options)


def test_one_class_is_refused():
    """Without both classes there is nothing to resample."""
    with pytest.raises(InvalidInputError, match=r"no negative rows.*(?s:.*)check the labels"):
        cp.assess([1] * 20, np.arange(20.0), maximize="accuracy")


def test_counted_rows_are_refused():
    """Rows that are already counted cannot be resampled one by one."""
    data = cp.from_counts([0.1, 0.2], positives=[1, 2], negatives=[2, 1])
    with pytest.raises(InvalidParameterError, match="one label per row"):
        cp.assess(data, maximize="f1")


@pytest.mark.parametrize("bound", ["predicted_positive <= 100", "called(minutes) <= 1000"])
def test_a_capacity_is_for_all_rows(bound):
    """Folds have fewer rows than the data, and choose as if they may hold as much less."""
    rng = np.random.default_rng(7)
    y = (rng.random(4000) < 0.1).astype(int)
    frame = pd.DataFrame({"y": y, "p": rng.normal(size=4000) + y, "minutes": rng.integers(5, 15, 4000)})
    a = cp.assess(frame, label="y", score="p", maximize="recall", subject_to=bound, n_bootstrap=0)
    assert a.cross_validation.constraints[bound] == pytest.approx(
        a.resubstitution_constraints[bound], rel=0.1
    )

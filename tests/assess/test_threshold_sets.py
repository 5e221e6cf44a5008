"""Near-optimal sets, the exact split-sample set, and the bands."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, norm

import cutpoints as cp
from cutpoints._assess.bands import band, half_width
from cutpoints._assess.threshold_sets import near_optimal, odds, split_set
from cutpoints._data.arrays import ArraySource
from cutpoints._goal import goal
from cutpoints._search.sweep import all_cuts
from cutpoints.exceptions import CutpointError, InvalidParameterError


def expit(x):
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def logistic(n, rng):
    """The symmetric model of the published simulations: the best threshold for accuracy is 0."""
    scores = rng.normal(size=n)
    return (rng.random(n) < expit(2 * scores)).astype(np.uint8), scores


# --- near-optimal


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.05, 1.0])
@pytest.mark.parametrize("asked", [{"maximize": "f1"}, {"minimize": "cost(fp=1, fn=3)"}])
def test_near_optimal_holds_exactly_the_nearly_best(asked, tolerance):
    """A threshold is in the set if and only if its value is within the tolerance."""
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, 60), rng.integers(0, 25, 60) / 10
    wanted, cuts = goal(**asked), all_cuts(ArraySource.labelled(y, scores))
    best = cp.find(y, scores, **asked).value
    found = near_optimal(cuts, wanted, best, tolerance)
    curve = cp.curve(y, scores)

    for t in np.append(np.linspace(-0.5, 3, 141), np.inf):
        value = curve.at(t).confusion.metric(wanted.expression)
        assert (wanted.sign * (value - best) >= -tolerance) == (t in found)


def test_intervals_are_disjoint_and_ascending():
    """Neighbouring cuts are joined, so between two intervals there is always a gap."""
    rng = np.random.default_rng(1)
    y, scores = rng.integers(0, 2, 200), rng.random(200)
    a = cp.assess(y, scores, maximize="accuracy", tolerance=0.02, n_bootstrap=0)
    ends = [x for one in a.near_optimal.intervals for x in one]

    assert sorted(set(ends)) == ends
    assert a.solution.threshold in a.near_optimal
    assert (ends[0], ends[-1]) == (a.near_optimal.low, a.near_optimal.high)


# --- linear costs


@pytest.mark.parametrize(
    ("asked", "share"),
    [
        ({"maximize": "accuracy"}, Fraction(1, 2)),
        ({"minimize": "error_rate"}, Fraction(1, 2)),
        ({"minimize": "cost(fp=1, fn=3)"}, Fraction(1, 4)),
        ({"minimize": "cost(fp=1, fn=3, tn=-1, tp=-5)"}, Fraction(1, 5)),
        ({"maximize": "net_benefit(at=0.2)"}, Fraction(1, 5)),
        ({"maximize": "2*accuracy + 1"}, Fraction(1, 2)),
        ({"maximize": "f1"}, None),
        ({"maximize": "recall"}, None),
        ({"maximize": "balanced_accuracy"}, None),
        ({"maximize": "youden_j"}, None),
        ({"maximize": "accuracy", "subject_to": "recall >= 0.5"}, None),
        ({"minimize": "accuracy"}, None),
    ],
)
def test_share_of_positives_at_which_calling_pays(asked, share):
    """c_fp / (c_fp + c_fn) for linear costs; none where weights hang on the class sizes."""
    assert share == odds(goal(**asked))


def test_split_set_needs_a_linear_cost():
    """For F1 there is no exact test, and the error says so."""
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidParameterError, match="a linear cost without constraints"):
        split_set(goal(maximize="f1"), *logistic(50, rng), confidence=0.95, rng=rng)


def test_split_set_inverts_the_binomial_test():
    """A threshold is kept unless the rows between it and the chosen one speak against it."""
    y, scores = logistic(200, np.random.default_rng(2))
    found = split_set(
        goal(minimize="cost(fp=1, fn=3)"), y, scores, confidence=0.9, rng=np.random.default_rng(3)
    )

    # The same by hand, with the same split.
    half = np.random.default_rng(3).permutation(200) < 100
    chosen = cp.find(y[half], scores[half], minimize="cost(fp=1, fn=3)").threshold
    y, scores = y[~half], scores[~half]
    for t in scores:
        low, high = sorted((t, chosen))
        between = (scores >= low) & (scores < high)
        positives, rows = int(y[between].sum()), int(between.sum())
        side = "less" if t < chosen else "greater"
        p = binomtest(positives, rows, 0.25, alternative=side).pvalue if rows else 1.0
        assert (p > 0.1) == (t in found)


def coverage(n, runs):
    """How often the 95 % set holds the truly best threshold, 0."""
    rng = np.random.default_rng(n)
    wanted = goal(maximize="accuracy")
    return np.mean(
        [0.0 in split_set(wanted, *logistic(n, rng), confidence=0.95, rng=rng) for _ in range(runs)]
    )


def test_split_set_covers():
    """Coverage of at least 0.93 at n = 500 (150 runs; published: .992)."""
    assert coverage(500, 150) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("n", [500, 2000])
def test_split_set_covers_in_full(n):
    """Coverage of at least 0.93 over 500 runs (published: .992 and .982)."""
    assert coverage(n, 500) >= 0.93


# --- bands


def test_half_width_is_massarts():
    """sqrt(ln(2 / 0.025) / (2 n)) for one of two bands at 95 %: 0.066 for 500 rows."""
    assert pytest.approx(math.sqrt(math.log(2 / 0.025) / 1000)) == half_width(500, 0.95)


@pytest.mark.parametrize("metric", ["f1", "accuracy", "mcc", "precision", "cost(fp=1, fn=2)"])
def test_band_is_the_range_of_the_metric_over_the_possible_rates(metric):
    """No rates and share of positives that are plausible have a value outside the band; some attain it."""
    y, scores = logistic(120, np.random.default_rng(4))
    wanted = goal(maximize=metric)
    cuts = all_cuts(ArraySource.labelled(y, scores))
    found = band(cuts, wanted.expression, 0.9)
    P, N = y.sum(), (1 - y).sum()

    for k in (5, 60, 110):
        tpr, fpr = cuts.floats["tp"][k] / P, cuts.floats["fp"][k] / N
        tprs = np.clip(np.linspace(-1, 1, 9) * found.recall_width + tpr, 0, 1)
        fprs = np.clip(np.linspace(-1, 1, 9) * found.fpr_width + fpr, 0, 1)
        a, b, share = (x.ravel() for x in np.meshgrid(tprs, fprs, found.shares))
        p, n = share * (P + N), (1 - share) * (P + N)
        values = wanted.expression(tp=a * p, fp=b * n, fn=(1 - a) * p, tn=(1 - b) * n)
        values = values[~np.isnan(values)]
        assert pytest.approx(found.low[k]) == values.min() or found.low[k] == -np.inf
        assert pytest.approx(found.high[k]) == values.max() or found.high[k] == np.inf
        assert (found.low[k], found.high[k]) == found.at(found.thresholds[k])


def test_rates_alone_do_not_depend_on_the_share_of_positives():
    """The band of recall comes from the rows of the positives, at the whole confidence."""
    y, scores = logistic(120, np.random.default_rng(4))
    found = band(all_cuts(ArraySource.labelled(y, scores)), goal(maximize="recall").expression, 0.9)

    assert 1 == len(found.shares)
    assert half_width(int(y.sum()), 0.9) == found.recall_width


def bound_holds(asked, *, n, prevalence, runs, metric):
    """How often the true value at the chosen threshold is beyond the bound, with the defaults."""
    rng = np.random.default_rng([n, round(100 * prevalence)])
    held = []
    while len(held) < runs:
        y = (rng.random(n) < prevalence).astype(int)
        scores = rng.normal(size=n) + 1.5 * y
        try:
            a = cp.assess(y, scores, n_bootstrap=0, **asked)
        except CutpointError:  # too few positives for folds, or no threshold meets the constraint
            continue
        t = a.solution.threshold
        tp, fp = prevalence * norm.sf(t - 1.5) * n, (1 - prevalence) * norm.sf(t) * n
        cells = {"tp": tp, "fp": fp, "fn": prevalence * n - tp, "tn": (1 - prevalence) * n - fp}
        truth = cp.Confusion(**cells).metric(metric)
        held.append(truth >= a.lower_bound if "maximize" in asked else truth <= a.lower_bound)
    return np.mean(held)


BOUNDED = {
    "f1": {"maximize": "f1"},
    "mcc": {"maximize": "mcc"},
    "cost(fp=1, fn=5)": {"minimize": "cost(fp=1, fn=5)"},
    "cost(fp=1, fn=1000)": {"minimize": "cost(fp=1, fn=1000)"},
    "recall": {"maximize": "recall", "subject_to": "precision >= 0.5"},
}


@pytest.mark.parametrize("metric", BOUNDED)
def test_bound_holds_after_the_threshold_was_chosen(metric):
    """The value on new data is beyond the bound in 95 % of samples, although the rows chose the threshold."""
    assert bound_holds(BOUNDED[metric], n=200, prevalence=0.3, runs=40, metric=metric) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("metric", BOUNDED)
@pytest.mark.parametrize(("n", "prevalence"), [(200, 0.1), (200, 0.3), (1000, 0.05), (1000, 0.3)])
def test_bound_holds_after_the_threshold_was_chosen_in_full(metric, n, prevalence):
    """The same in 400 runs, 3 standard errors."""
    held = bound_holds(BOUNDED[metric], n=n, prevalence=prevalence, runs=400, metric=metric)

    assert held >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 400)


def joint_coverage(n, runs):
    """How often both class-conditional distributions are within their bands everywhere."""
    rng = np.random.default_rng(n)
    inside = 0
    for _ in range(runs):
        good = True
        for size in (n // 2, n - n // 2):
            u = np.sort(rng.random(size))
            steps = np.arange(1, size + 1) / size
            gap = max((steps - u).max(), (u - steps + 1 / size).max())
            good &= gap <= half_width(size, 0.95)
        inside += good
    return inside / runs


def test_bands_cover_jointly():
    """Both bands hold in 95 % of samples; .945 was published, 1,000 runs here, 3 se."""
    assert joint_coverage(1000, 1000) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 1000)


def test_unknown_functions_have_no_band():
    """A function without a promise cannot be bounded, and assess says so."""
    y, scores = logistic(100, np.random.default_rng(5))
    a = cp.assess(y, scores, maximize=lambda tp, fp, fn, tn: tp - fp, n_bootstrap=20)

    assert a.band is None
    assert "nothing is known of the shape" in repr(a)
    assert math.isnan(a.lower_bound)

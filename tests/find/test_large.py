"""Larger problems with the sizes that are used in earnest: narrow, sweep, and a plain NumPy sweep."""

import numpy as np
import pytest

import cutpoints as cp
from asking import everything, replay


def labels_for(rng, n, share=0.3):
    """0/1 labels as bytes."""
    return (rng.random(n) < share).astype(np.int8)


def gaussian(rng, n):
    """Margins: two overlapping bells."""
    y = labels_for(rng, n)
    return y, rng.normal(1.1 * y, 1.0)


def rounded(rng, n):
    """Probabilities of three decimals: a thousand distinct scores."""
    y, s = gaussian(rng, n)
    return y, np.round(1 / (1 + np.exp(-s)), 3)


def float32(rng, n):
    """Probabilities in float32."""
    y, s = gaussian(rng, n)
    return y, (1 / (1 + np.exp(-s))).astype(np.float32)


def skewed(rng, n):
    """Log-normal scores: most of them in the lowest buckets."""
    y, s = gaussian(rng, n)
    return y, np.exp(4 * s)


def geometric(rng, n):
    """Odds from 1e-300 to 1e300: equal-width buckets see one bucket only."""
    y, s = gaussian(rng, n)
    return y, 10.0 ** np.clip(75 * s, -300, 300)


def outlier(rng, n):
    """Probabilities and one margin of a million, with infinities at both ends."""
    y, s = rounded(rng, n)
    s[:3] = 1e6, np.inf, -np.inf
    return y, s


def alternating(rng, n):
    """Labels that alternate with the score: every second cut is nearly as good as the best."""
    return (np.arange(n) % 2).astype(np.int8), np.arange(n, dtype=np.float64)


def constant(rng, n):
    """One score, and a single row above it."""
    s = np.full(n, 0.25)
    s[0] = 0.5
    return labels_for(rng, n), s


def separated(rng, n):
    """All positives above all negatives: a perfect plateau."""
    y = labels_for(rng, n)
    return y, y + rng.random(n) * 0.5


DATA = [
    (gaussian, 300_000),
    (gaussian, 50_000),
    (rounded, 120_000),
    (float32, 120_000),
    (skewed, 80_000),
    (geometric, 80_000),
    (outlier, 60_000),
    (alternating, 60_000),
    (constant, 50_000),
    (separated, 50_000),
]

GOALS = [
    {"maximize": "f1"},
    {"maximize": "mcc"},
    {"maximize": "recall"},
    {"maximize": "precision"},
    {"maximize": "recall", "subject_to": "precision >= 0.6"},
    {"maximize": "precision", "subject_to": ["recall >= 0.8", "predicted_positive <= 40000"]},
    {"minimize": "cost(fp=1, fn=3)"},
    {"maximize": "information_gain"},
    {"minimize": "sensitivity_specificity_gap"},
    {"maximize": "0.7*accuracy + 0.3*recall"},
]


def goal_id(goal):
    """A goal as people read it."""
    return " ".join(f"{key} {value}" for key, value in goal.items())


@pytest.fixture(scope="module", params=DATA, ids=lambda case: f"{case[0].__name__}-{case[1]}")
def problem(request):
    """Labels and scores in random order."""
    make, n = request.param
    rng = np.random.default_rng(n)
    y, s = make(rng, n)
    order = rng.permutation(n)
    return y[order], s[order]


@pytest.mark.parametrize("goal", GOALS, ids=goal_id)
def test_narrow_equals_sweep(problem, goal):
    """With the real constants both searches give the same solution, and its confusion replays."""
    y, s = problem
    swept = cp.find(y, s, method="sweep", **goal)
    narrowed = cp.find(y, s, method="narrow", **goal)

    assert swept.status == narrowed.status
    assert ("sweep", "narrow") == (swept.certificate.method, narrowed.certificate.method)
    if swept.status == "infeasible":
        assert everything(swept) == everything(narrowed)
        return
    assert swept.threshold == narrowed.threshold
    assert swept.interval == narrowed.interval
    assert swept.value == narrowed.value
    assert swept.confusion == narrowed.confusion
    assert swept.ties.thresholds.tolist() == narrowed.ties.thresholds.tolist()
    for i in {0, len(swept.ties) // 2, len(swept.ties) - 1} if swept.ties else ():
        assert swept.ties[i] == narrowed.ties[i]
    assert swept.confusion.to_dict() == replay(s, y, swept.threshold)


def numpy_sweep(y, s):
    """Thresholds, TP and FP of every cut, the way everybody writes it."""
    order = np.argsort(-s, kind="stable")
    ranked, hits = s[order], y[order].astype(np.int64)
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(s) - 1)
    tp = np.append(0, np.cumsum(hits)[last])
    fp = np.append(0, np.cumsum(1 - hits)[last])
    return np.append(np.inf, ranked[last]), tp, fp


@pytest.mark.parametrize("name", ["accuracy", "f1", "recall at precision"])
def test_sweep_equals_argsort(problem, name):
    """A plain argsort sweep in NumPy finds the same optimum."""
    y, s = problem
    thresholds, tp, fp = numpy_sweep(y, s)
    if thresholds[1] == np.inf:  # a score of +inf is called positive by every threshold
        thresholds, tp, fp = thresholds[1:], tp[1:], fp[1:]
    positives = int(y.sum())
    if name == "accuracy":
        solution = cp.find(y, s, maximize="accuracy")
        values = tp - fp
        best = int(np.argmax(values))
        assert thresholds[best] == solution.threshold
        assert (values == values[best]).sum() - 1 == len(solution.ties)
        assert (len(y) - positives + values[best]) / len(y) == solution.value
    elif name == "f1":
        solution = cp.find(y, s, maximize="f1")
        values = 2 * tp / (tp + fp + positives)
        assert values.max() == pytest.approx(solution.value, rel=1e-15)
    else:
        solution = cp.find(y, s, maximize="recall", subject_to="precision >= 0.5")
        allowed = (2 * tp >= tp + fp) & (tp + fp > 0)
        if not allowed.any():
            assert "infeasible" == solution.status
            return
        assert tp[allowed].max() == solution.confusion.tp
        assert thresholds[allowed & (tp == tp[allowed].max())][0] == solution.threshold


@pytest.mark.parametrize("weights", ["integers", "lognormal", "tenths"])
@pytest.mark.parametrize("name", ["f1", "mcc", "cost(fp=1, fn=3)", "chi_square"])
def test_weighted_narrow_equals_sweep(weights, name):
    """Weighted rows, several blocks of them: the same solution, and the true confusion."""
    rng = np.random.default_rng(7)
    y, s = rounded(rng, 150_000)
    w = {
        "integers": rng.integers(0, 50, len(y)),
        "lognormal": rng.lognormal(0, 2, len(y)),
        "tenths": rng.integers(0, 30, len(y)) / 10,
    }[weights]
    direction = "minimize" if name.startswith("cost") else "maximize"
    swept, narrowed = (
        cp.find(y, s, sample_weight=w, method=method, **{direction: name}) for method in ("sweep", "narrow")
    )

    assert everything(swept) == everything(narrowed)
    assert swept.confusion.to_dict() == replay(s, y, swept.threshold, w)


def test_threads_do_not_change_the_answer():
    """Over half a million rows the blocks are dealt out to threads; the answer is the sweep's."""
    rng = np.random.default_rng(3)
    y, s = gaussian(rng, 600_000)
    swept = cp.find(y, s, maximize="f1", method="sweep")
    narrowed = cp.find(y, s, maximize="f1", method="narrow")

    assert everything(swept) == everything(narrowed)


@pytest.mark.parametrize("goal", ["accuracy", "youden_j"])
def test_whole_weights_whose_sums_floats_round(goal):
    """Whole numbers are added up exactly also beyond 2**53, where floats would always round to one side."""
    lump, blocks, whole = 240_000, 37_000, 2.0**36
    # Beyond 2**53 floats are even: a sum that is a multiple of 4 loses 1 with each of these positives and
    # gains 1 with each of these negatives. After half of the blocks it is the other way round.
    pos, neg = np.full((blocks, 2), whole - 4), np.full((blocks, 2), whole - 4)
    pos[:, 1], neg[:, 1] = whole - 3, whole - 5
    pos[blocks // 2 :, 1], neg[blocks // 2 :, 1] = whole - 5, whole - 3
    pos[6_500, 0] -= 10_000  # the cut before is the best, as far as floats can tell
    y = np.append(np.arange(lump) % 2, np.tile([1, 1, 0, 0], blocks)).astype(np.int8)
    s = np.append(np.full(lump, 1.0), np.repeat(np.linspace(0.9, 0.1, blocks), 4))
    w = np.append(np.full(lump, whole - 4), np.column_stack([pos, neg]).ravel())

    swept, narrowed = (
        cp.find(y, s, sample_weight=w, maximize=goal, method=method) for method in ("sweep", "narrow")
    )

    assert everything(swept) == everything(narrowed)
    assert 2 * (blocks // 2) - 10_000 == swept.confusion.tp - swept.confusion.fp


ALIKE = {
    "no weights": lambda rng, n: None,
    "one weight": lambda rng, n: np.full(n, 0.1),
    "nearly equal weights": lambda rng, n: 1 + 1e-15 * rng.integers(0, 8, n),
    "whole weights": lambda rng, n: 2.0**36 - rng.integers(0, 8, n),
}


QUOTIENTS = [
    ("alternating", "accuracy"),
    ("alternating", "balanced_accuracy"),
    ("pairs", "precision"),
    ("pairs", "precision_recall_min"),
    ("pairs", "prevalence_threshold"),
]
AT_CHANCE = ["youden_j", "mcc", "markedness", "chi_square", "diagnostic_odds_ratio"]


@pytest.mark.parametrize(
    ("scores", "goal", "weights"),
    [(*case, weights) for case in QUOTIENTS for weights in ALIKE]
    + [("pairs", goal, weights) for goal in AT_CHANCE for weights in ALIKE]
    + [("pairs", "information_gain", weights) for weights in ALIKE],
)
def test_thousands_of_cuts_that_are_alike(scores, goal, weights):
    """Cuts that are as good as the best, as far as floats can tell, are compared exactly by all searches."""
    rng = np.random.default_rng(3)
    n = 5_000
    s = rng.random(n // 2).repeat(2) if scores == "pairs" else np.arange(n, dtype=np.float64)
    y, w = (np.arange(n) % 2).astype(np.int8), ALIKE[weights](rng, n)

    swept = cp.find(y, s, sample_weight=w, maximize=goal, method="sweep")

    narrowed = cp.find(y, s, sample_weight=w, maximize=goal, method="narrow")
    assert everything(swept) == everything(narrowed)
    order = rng.permutation(n)
    shuffled = cp.find(y[order], s[order], sample_weight=None if w is None else w[order], maximize=goal)
    assert everything(swept) == everything(shuffled)

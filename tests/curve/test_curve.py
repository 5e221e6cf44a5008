"""Curves and areas against fractions, one cut at a time, and against scikit-learn."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as sk

import cutpoints as cp
import oracle
from cutpoints._curve import areas
from cutpoints._curve.table import Table
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

LECTURE = ([0, 0, 1, 1, 0, 0, 1, 1], [0, 0.1, 0.3, 0.3, 0.3, 0.4, 0.7, 0.9])

rows = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from([0, 1]), st.sampled_from([1, 2, 0.1, 0.7, 1e-9, 3.5])),
    min_size=1,
    max_size=25,
)


def random_data(seed, size=400, levels=None):
    """Labels and scores that know something about them; few levels make ties."""
    rng = np.random.default_rng(seed)
    y = (rng.random(size) < 0.35).astype(int)
    score = 1 / (1 + np.exp(-(rng.normal(size=size) + 1.2 * y)))
    return y, score if levels is None else np.round(score * levels) / levels


def as_masses(data):
    """Rows of the oracle: score, positive and negative mass, rounded once as the package does."""
    scores, labels, weights = zip(*data, strict=True)
    (masses,) = oracle.on_grid(weights) if len(set(weights)) > 1 else [map(Fraction, weights)]
    return [(s, w * y, w * (1 - y)) for s, y, w in zip(scores, labels, masses, strict=True)]


def exact_points(masses):
    """FP and TP at every cut, from (0, 0)."""
    return [(0, 0)] + [(c.confusion.fp, c.confusion.tp) for c in oracle.cuts(masses)]


def both(data):
    """The curve of rows of score, label and weight, and the oracle's points of it."""
    scores, labels, weights = map(list, zip(*data, strict=True))
    return cp.curve(labels, scores, sample_weight=weights), exact_points(as_masses(data))


def trapezoid(points):
    """The area under points, in fractions."""
    return sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points))


def slow_hull(points):
    """Vertices of the upper hull: points above every line between two others."""
    distinct = sorted(set(points))
    kept = []
    for p in distinct:
        left = [q for q in distinct if q < p]
        right = [q for q in distinct if q > p]
        under = any(
            (b[0] - a[0]) * (p[1] - a[1]) <= (b[1] - a[1]) * (p[0] - a[0]) for a in left for b in right
        )
        if not under:
            kept.append(p)
    return kept


@given(
    st.lists(
        st.tuples(st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 5e-324, 0.1, 3.0, math.inf]), st.booleans()),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from([np.float32, np.float64]),
)
def test_counts_are_those_of_a_plain_pass(data, dtype):
    """Sorting each class and merging gives the counts of looking at every row, for any scores."""
    scores = np.array([score for score, _ in data], dtype=dtype)
    labels = np.array([label for _, label in data])
    expected = oracle.cuts([(float(s), int(y), int(not y)) for s, y in zip(scores, labels, strict=True)])
    curve = cp.curve(labels, scores)
    assert [cut.threshold for cut in expected] == curve.thresholds.tolist()
    assert [cut.confusion.tp for cut in expected] == curve.tp.tolist()
    assert [cut.confusion.fp for cut in expected] == curve.fp.tolist()
    assert [cut.low for cut in expected] == [curve.at(t).interval.low for t in curve.thresholds]


@given(rows)
def test_auc_is_the_exact_area(data):
    """The area is that of exact sums of weights, rounded once; with one class it is NaN."""
    curve, points = both(data)
    total = points[-1][0] * points[-1][1]
    if total == 0:
        assert math.isnan(curve.auc)
        assert math.isnan(curve.gini)
        assert math.isnan(curve.partial_auc(0.5))
        assert math.isnan(curve.ks_statistic)
        return
    assert float(trapezoid(points) / total) == curve.auc
    assert float(2 * trapezoid(points) / total - 1) == curve.gini
    gaps = [abs(tp / points[-1][1] - fp / points[-1][0]) for fp, tp in points]
    assert float(max(gaps)) == curve.ks_statistic


@given(rows)
def test_hull_is_the_slow_hull(data):
    """The hull in integers has the vertices, and the area, of the definition in fractions."""
    curve, points = both(data)
    if points[-1][0] * points[-1][1] == 0:
        with pytest.raises(InvalidInputError, match="hull"):
            curve.hull()
        return
    expected = slow_hull(points)
    assert expected == [(fp, tp) for fp, tp in curve.hull().masses()]
    assert float(trapezoid(expected) / (points[-1][0] * points[-1][1])) == curve.hull().area


@given(rows, st.integers(1, 8))
def test_partial_auc_is_exact(data, eighths):
    """The partial area is cut inside a step where the rate says so."""
    curve, points = both(data)
    if points[-1][0] * points[-1][1] == 0:
        return
    limit = Fraction(eighths, 8) * points[-1][0]
    inside = [p for p in points if p[0] <= limit]
    beyond = [p for p in points if p[0] > limit]
    if beyond:
        (x0, y0), (x1, y1) = inside[-1], beyond[0]
        inside.append((limit, y0 + (y1 - y0) * (limit - x0) / (x1 - x0)))
    expected = trapezoid(inside) / (points[-1][0] * points[-1][1])
    assert float(expected) == curve.partial_auc(eighths / 8)


@pytest.mark.parametrize("weighted", [False, True])
def test_areas_do_not_depend_on_blocks(weighted, monkeypatch):
    """However the cuts are cut into blocks, the areas are the same; the exact ones to the last bit."""
    y, score = random_data(5, size=50, levels=30)
    weight = np.random.default_rng(2).random(len(y)) if weighted else None
    whole = cp.curve(y, score, sample_weight=weight)
    expected = whole.auc, whole.partial_auc(0.3), whole.average_precision, whole.auc_pr("trapezoid")
    for size in (1, 2, 7):
        monkeypatch.setattr(areas, "BLOCK_CUTS", size)
        curve = cp.curve(y, score, sample_weight=weight)
        assert expected[:2] == (curve.auc, curve.partial_auc(0.3))
        assert expected[2] == pytest.approx(curve.average_precision, rel=1e-15)
        assert expected[3] == pytest.approx(curve.auc_pr("trapezoid"), rel=1e-15)


@pytest.mark.parametrize("levels", [None, 20, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_agree_with_scikit_learn(levels, weighted):
    """AUC, average precision, partial AUC and the curves are those of scikit-learn."""
    y, score = random_data(1, levels=levels)
    # Multiples of 2**-20, which nobody rounds.
    weight = np.random.default_rng(2).integers(1, 2**20, len(y)) / 2**20 if weighted else None
    curve = cp.curve(y, score, sample_weight=weight)
    assert sk.roc_auc_score(y, score, sample_weight=weight) == pytest.approx(curve.auc, rel=1e-12)
    ap = sk.average_precision_score(y, score, sample_weight=weight)
    assert ap == pytest.approx(curve.average_precision, rel=1e-12)
    for max_fpr in (0.05, 0.3, 1.0):
        expected = sk.roc_auc_score(y, score, sample_weight=weight, max_fpr=max_fpr)
        assert expected == pytest.approx(curve.partial_auc(max_fpr, standardized=True), rel=1e-12)
    fpr, tpr, thresholds = sk.roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    ours = curve.roc()
    np.testing.assert_allclose(ours.fpr, fpr, rtol=1e-12)
    np.testing.assert_allclose(ours.tpr, tpr, rtol=1e-12)
    np.testing.assert_array_equal(ours.thresholds, thresholds)
    precision, recall, cuts = sk.precision_recall_curve(y, score, sample_weight=weight)
    np.testing.assert_allclose(curve.pr().precision[1:], precision[:-1][::-1], rtol=1e-12)
    np.testing.assert_allclose(curve.pr().recall[1:], recall[:-1][::-1], rtol=1e-12)
    np.testing.assert_array_equal(curve.thresholds[1:], cuts[::-1])
    fpr, fnr, _ = sk.det_curve(y, score, sample_weight=weight)
    found = set(zip(np.round(curve.det().fpr, 12), np.round(curve.det().fnr, 12), strict=True))
    assert set(zip(np.round(fpr, 12), np.round(fnr, 12), strict=True)) <= found


def test_pr_trapezoid_is_scikit_learns_where_the_top_score_is_positive():
    """With a positive on top both conventions begin at precision 1."""
    y, score = random_data(3)
    top = np.argmax(score)
    y[top] = 1
    precision, recall, _ = sk.precision_recall_curve(y, score)
    curve = cp.curve(y, score)
    assert sk.auc(recall, precision) == pytest.approx(curve.auc_pr("trapezoid"), rel=1e-12)
    assert curve.average_precision == curve.auc_pr()


def test_pr_does_not_assume_precision_one():
    """With a negative on top the curve begins at precision 0, not at a made-up 1."""
    curve = cp.curve([0, 1], [0.9, 0.5])
    assert 0.25 == curve.auc_pr("trapezoid")
    assert 0.5 == curve.average_precision
    assert math.isnan(curve.pr().precision[0])


@pytest.mark.parametrize("levels", [None, 5])
def test_dropping_points_changes_nothing(levels):
    """Without intermediate points the curve has the same area and passes through the same points."""
    y, score = random_data(4, levels=levels)
    curve = cp.curve(y, score)
    full, few = curve.roc(), curve.roc(drop_intermediate=True)
    assert len(few.fpr) < len(full.fpr) or levels is not None
    assert np.trapezoid(full.tpr, full.fpr) == pytest.approx(np.trapezoid(few.tpr, few.fpr), abs=1e-12)
    # Vertical stretches have many heights at one rate: compare lengths along the curve instead.
    total = np.interp(full.fpr + full.tpr, few.fpr + few.tpr, few.tpr)
    np.testing.assert_allclose(full.tpr, total, atol=1e-12)


def test_repeated_points_survive_dropping():
    """Rows without weight repeat a point; dropping keeps one of each corner."""
    curve = cp.curve([1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6], sample_weight=[1, 0, 0, 1])
    few = curve.roc(drop_intermediate=True)
    assert {(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)} == set(zip(few.fpr, few.tpr, strict=True))
    assert 1.0 == curve.auc
    assert [(0, 0), (0, 1), (1, 1)] == curve.hull().masses()


def test_gain_and_lift():
    """Gain and lift are recall and precision over prevalence against the share called positive."""
    curve = cp.curve([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    np.testing.assert_allclose(curve.gain().share, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(curve.gain().gain, [0, 0.5, 0.5, 1, 1])
    np.testing.assert_allclose(curve.lift().lift, [np.nan, 2, 1, 4 / 3, 1])


def test_ks_agrees_with_scipy():
    """The largest gap is the two-sample Kolmogorov-Smirnov statistic."""
    from scipy.stats import ks_2samp

    y, score = random_data(5, levels=30)
    ks = cp.curve(y, score).ks()
    assert ks_2samp(score[y == 1], score[y == 0]).statistic == pytest.approx(ks.statistic, rel=1e-12)
    here = cp.curve(y, score).at(ks.at).confusion
    assert ks.statistic == pytest.approx(abs(here.metric("recall") - here.metric("fpr")), rel=1e-12)


@pytest.mark.parametrize(("fp", "fn"), [(2, 1), (1, 2), (1, 1), (0, 1), (1, 0), (0.3, 7)])
@pytest.mark.parametrize("levels", [None, 6])
def test_tangent_is_the_cost_optimum(fp, fn, levels):
    """The line of equal cost touches the hull at a threshold of least cost, found by the search."""
    y, score = random_data(6, levels=levels)
    curve = cp.curve(y, score)
    touch = curve.hull().at_cost(fp=fp, fn=fn)
    best = curve.best(minimize=cp.metrics.cost(fp=fp, fn=fn))
    assert best.value == pytest.approx(touch.cost * len(y), rel=1e-12)
    optimal = {best.threshold, *(tie.threshold for tie in best.ties)}
    assert {cut.threshold for cut in touch.cuts} <= optimal
    assert fp / (fp + fn) == pytest.approx(touch.bayes_threshold)


def test_tangent_with_all_four_costs_and_another_prevalence():
    """Only differences of costs move the tangent, and the prevalence scales its slope."""
    y, score = random_data(7)
    hull = cp.curve(y, score).hull()
    plain = hull.at_cost(fp=3, fn=5)
    shifted = hull.at_cost(fp=4, fn=7, tp=2, tn=1)
    assert plain.cuts == shifted.cuts
    rare = hull.at_cost(fp=3, fn=5, prevalence=0.01)
    assert 3 / 5 * 99 == pytest.approx(rare.slope)
    assert rare.threshold >= plain.threshold
    with pytest.raises(InvalidParameterError, match="fp >= tn"):
        hull.at_cost(fp=1, fn=1, tn=2)
    with pytest.raises(InvalidParameterError, match="prevalence"):
        hull.at_cost(fp=1, fn=1, prevalence=5)


def test_ranges_of_cost_ratios_name_the_optimum():
    """Inside its range each vertex is the optimum; at the ends two of them are."""
    y, score = random_data(8, size=120, levels=40)
    curve = cp.curve(y, score)
    table = curve.hull().cost_ratios()
    for threshold, low, high in zip(table["threshold"], table["low"], table["high"], strict=True):
        if low == high:
            continue
        inside = low + 1 if math.isinf(high) else (low + high) / 2
        best = curve.best(minimize=cp.metrics.cost(fp=inside, fn=1))
        assert threshold in {best.threshold, *(tie.threshold for tie in best.ties)}
    assert np.all(table["high"][1:] == table["low"][:-1])
    assert all(sentence.startswith("use ") for sentence in table["use"])


def test_randomized_rule_attains_its_rate():
    """Between two vertices chance attains the wanted rate, and decides as it says."""
    rule = cp.curve(*LECTURE).hull().randomized(fpr=0.25)
    assert (0.7, 0.3, 0.5, 0.75) == (rule.high, rule.low, rule.share, rule.tpr)
    scores = np.array([0.9, 0.5, 0.1] * 4000)
    decided = rule.decide(scores, random_state=0).reshape(-1, 3).mean(axis=0)
    assert 1 == decided[0]
    assert 0.5 == pytest.approx(decided[1], abs=0.05)
    assert 0 == decided[2]
    assert 0.3 == cp.curve(*LECTURE).hull().randomized(tpr=1.0).high
    with pytest.raises(InvalidParameterError, match="not both"):
        cp.curve(*LECTURE).hull().randomized()


def test_cost_curve_is_the_least_cost_everywhere():
    """The envelope equals the least of all lines, cut by cut, at any probability cost."""
    y, score = random_data(9)
    curve = cp.curve(y, score)
    cost = curve.cost_curve()
    pc = np.linspace(0, 1, 101)
    fpr, fnr, _ = curve.det()
    least = (fnr[:, None] * pc + fpr[:, None] * (1 - pc)).min(axis=0)
    np.testing.assert_allclose(np.interp(pc, cost.probability_cost, cost.expected_cost), least, atol=1e-12)
    assert np.trapezoid(cost.expected_cost, cost.probability_cost) == pytest.approx(cost.area)
    assert len(cost.thresholds) == len(cost.probability_cost) - 1
    assert np.all(np.diff(cost.probability_cost) > 0)


@pytest.mark.parametrize("levels", [None, 10])
def test_brier_curve_has_the_brier_score_below_it(levels):
    """The area is the Brier score; the best thresholds are never worse."""
    y, score = random_data(10, levels=levels)
    brier = cp.curve(y, score).brier_curve()
    assert sk.brier_score_loss(y, score) == pytest.approx(brier.area, rel=1e-10)
    assert np.all(brier.best <= brier.loss + 1e-12)
    assert brier.best_area <= brier.area
    grid = np.linspace(0.05, 0.95, 19)
    for c in grid:
        best = cp.find(y, score, minimize=cp.metrics.cost(fp=float(c), fn=float(1 - c))).value
        expected = 2 * best / len(y)
        assert expected == pytest.approx(float(np.interp(c, brier.cost_proportion, brier.best)), abs=1e-9)


def test_brier_curve_with_a_certain_score():
    """A score of exactly 1 is called positive at every cost proportion."""
    brier = cp.curve([1, 0, 1], [1.0, 0.0, 0.5]).brier_curve()
    assert sk.brier_score_loss([1, 0, 1], [1.0, 0.0, 0.5]) == pytest.approx(brier.area)


def test_decision_curve_is_net_benefit():
    """Each point is the net benefit of acting from that probability on; treat-all and best are bounds."""
    y, score = random_data(11)
    curve = cp.curve(y, score)
    p = np.array([0.0, 0.1, 0.25, 0.5, 0.8])
    found = curve.decision_curve(p)
    for i, at in enumerate(p):
        metric = cp.metrics.net_benefit(at=float(at))
        assert curve.at(at).confusion.metric(metric) == pytest.approx(found.net_benefit[i])
        assert curve.best(maximize=metric).value == pytest.approx(found.best[i])
        everybody = curve.at(-math.inf).confusion.metric(metric)
        assert everybody == pytest.approx(found.treat_all[i])
    np.testing.assert_allclose(found.standardized, found.net_benefit / y.mean())
    avoided = (found.net_benefit - found.treat_all)[1:] / (p[1:] / (1 - p[1:])) * 100
    np.testing.assert_allclose(found.interventions_avoided[1:], avoided)


def test_net_benefit_of_the_textbook():
    """80 hits and 120 false alarms of 1000: 0.066667 at 0.1 and 0.05 at 0.2; treat-all 0 and -0.125."""
    data = cp.from_counts([0.1, 0.9], positives=[20, 80], negatives=[780, 120])
    found = cp.curve(data).decision_curve([0.1, 0.2])
    assert 0.05 == pytest.approx(found.net_benefit[1])
    assert cp.Confusion(tp=80, fp=120, fn=20, tn=780).metric("net_benefit(at=0.1)") == pytest.approx(1 / 15)
    np.testing.assert_allclose(found.treat_all, [0, -0.125], atol=1e-15)


def test_profit_curve():
    """Profit against the share called positive has its peak at the best threshold."""
    y, score = random_data(12)
    curve = cp.curve(y, score)
    found = curve.profit_curve("profit(tp=10, fp=-4)")
    best = curve.best(maximize="profit(tp=10, fp=-4)")
    assert best.value == found.profit.max()
    assert best.threshold == found.thresholds[np.argmax(found.profit)]


@pytest.mark.parametrize("what", ["brier_curve", "decision_curve"])
def test_probabilities_are_asked_for(what):
    """Curves over probabilities refuse other scores and say what takes them."""
    with pytest.raises(InvalidInputError, match="cost_curve"):
        getattr(cp.curve([0, 1], [-3.0, 2.0]), what)()


@pytest.mark.parametrize(
    ("labels", "undefined"),
    [
        ([0, 0], {"roc", "det", "ks", "hull", "cost_curve", "pr", "gain", "lift"}),
        ([1, 1], {"roc", "det", "ks", "hull", "cost_curve"}),
    ],
)
def test_one_class(labels, undefined):
    """With one class some curves do not exist, and say so; all others do."""
    curve = cp.curve(labels, [0.2, 0.7])
    for name in (
        "roc",
        "det",
        "ks",
        "hull",
        "cost_curve",
        "pr",
        "gain",
        "lift",
        "brier_curve",
        "decision_curve",
    ):
        if name in undefined:
            with pytest.raises(InvalidInputError, match=r"There are no (positive|negative) rows, and"):
                getattr(curve, name)()
        else:
            assert getattr(curve, name)() is not None
    assert len(curve.table()) == 11
    assert [0, 1, 2] == curve.profit_curve("predicted_positive").profit.tolist()


def test_constant_scores():
    """Constant scores have two cuts, an area of one half and a hull that is the diagonal."""
    curve = cp.curve([0, 1, 1], [0.5, 0.5, 0.5])
    assert (2, 0.5, 0.5) == (len(curve), curve.auc, curve.hull().area)
    assert 2 / 3 == pytest.approx(curve.average_precision)
    assert 0.0 == curve.ks_statistic


def test_infinite_scores():
    """With a score of inf there is no cut at which nobody is positive; areas are unchanged."""
    finite, infinite = ([1, 0, 1, 0], [9.0, 0.5, 0.2, 0.1]), ([1, 0, 1, 0], [math.inf, 0.5, 0.2, 0.1])
    a, b = cp.curve(*finite), cp.curve(*infinite)
    assert len(a) == len(b) + 1
    assert a.auc == b.auc
    assert a.average_precision == b.average_precision
    assert a.hull().area == b.hull().area
    assert a.partial_auc(0.4) == b.partial_auc(0.4)


def test_thresholds_cannot_be_overwritten():
    """The array of thresholds is the curve's own and is read-only."""
    with pytest.raises(ValueError, match="read-only"):
        cp.curve([0, 1], [0.1, 0.2]).thresholds[0] = 3


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda c: c.partial_auc(0), "max_fpr"),
        (lambda c: c.partial_auc("x"), "max_fpr"),
        (lambda c: c.auc_pr("simpson"), "method"),
        (lambda c: c.decision_curve([1.0]), "probability"),
        (lambda c: c.at(math.nan), "threshold"),
    ],
)
def test_bad_parameters_are_named(call, parameter):
    """A parameter that cannot be meant is named in the error."""
    with pytest.raises(InvalidParameterError, match=f"^{parameter} must be"):
        call(cp.curve([0, 1], [0.1, 0.2]))


def test_hull_of_many_cuts_is_small_and_right():
    """On a hundred thousand cuts the rounds on arrays agree with the plain scan of all points."""
    from cutpoints._search.hulls import chain

    y, score = random_data(13, size=100_000)
    curve = cp.curve(y, score)
    points = list(zip(curve.fp.tolist(), curve.tp.tolist(), strict=True))
    assert chain(points).tolist() == curve.hull().indices.tolist()


def test_heavy_whole_weights_stay_exact():
    """Whole weights whose products leave 64 bits have the exact area and hull."""
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 60), rng.integers(0, 25, 60)
    weight = rng.integers(1, 2**36, 60)
    curve = cp.curve(y, score, sample_weight=weight)
    masses = [
        (s, int(w) * int(label), int(w) * (1 - int(label)))
        for s, label, w in zip(score, y, weight, strict=True)
    ]
    points = exact_points(masses)
    assert float(trapezoid(points) / (points[-1][0] * points[-1][1])) == curve.auc
    assert slow_hull(points) == curve.hull().masses()


def test_a_table_of_one_metric():
    """A single name is one column, and not one for each of its letters."""
    c = cp.curve([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8])
    for metric in ("recall", cp.metrics.recall):
        assert str(c.table(["recall"])) == str(c.table(metric))


def test_default_probabilities_of_a_decision_curve_are_the_decimals():
    """The grid is 0, 0.01, ..., 0.99 to the bit, so that rows scored 0.35 are acted on at 0.35."""
    y, score = np.tile([0, 1], 100), np.repeat([i / 100 for i in range(100)], 2)
    found = cp.curve(y, score).decision_curve()

    assert [float(f"0.{i:02}") for i in range(100)] == found.probability.tolist()
    assert [(100 - i) / 200 for i in range(100)] == pytest.approx(
        found.net_benefit + (100 - np.arange(100)) / 200 * found.probability / (1 - found.probability)
    )


@given(rows)
def test_error_rates_of_the_det_curve_are_the_metrics(data):
    """`det` has the very floats that `values` has."""
    scores, labels, weights = zip(*data, strict=True)
    assume(0 < sum(labels) < len(labels))
    curve = cp.curve(labels, scores, sample_weight=weights)

    assert curve.values("fnr").tolist() == curve.det().fnr.tolist()
    assert curve.values("fpr").tolist() == curve.det().fpr.tolist()


def test_probabilities_of_a_decision_curve_are_numbers():
    """Texts are refused as other values outside [0, 1) are."""
    c = cp.curve([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8])
    with pytest.raises(InvalidParameterError, match="probabilities in"):
        c.decision_curve(["a"])


def test_tables_have_no_exponents():
    """Small differences and large amounts are written out, in text and in notebooks."""
    table = Table({"gain": np.array([-6.50299e-05, 2.5e9, 0.25, np.inf])})
    assert ["gain", "-0.0000650299", "2,500,000,000", "0.25", "inf"] == str(table).split()
    assert "2,500,000,000" in table._repr_html_()


def test_tables_write_counts_and_undefined_values_as_the_shell_does():
    """Counts have separators, and 0/0 is a dash."""
    table = Table({"fp": np.array([195_917]), "precision": np.array([np.nan])})
    assert ["fp", "precision", "195,917", "-"] == str(table).split()

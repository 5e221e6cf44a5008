"""The catalogue: every formula against the oracle, scikit-learn, SciPy and numbers done by hand."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn import metrics as sk

import cutpoints as cp
import oracle
from asking import meaning, ulps
from cutpoints import _goal as objective
from cutpoints import metrics as m
from cutpoints.exceptions import InvalidParameterError, UnknownMetricError
from cutpoints.metrics.expression import Box
from cutpoints.metrics.registry import CATALOGUE, EXAMPLES, FAMILIES, PLAIN, about, canonical_name

IDS = [str(metric) for metric in EXAMPLES]
every_metric = pytest.mark.parametrize("metric", EXAMPLES, ids=IDS)

KEYS = ("tp", "fp", "fn", "tn")


def confusions(most):
    """Every confusion with P and N of at most so many."""
    for positives, negatives in itertools.product(range(most + 1), repeat=2):
        for tp, fp in itertools.product(range(positives + 1), range(negatives + 1)):
            yield tp, fp, positives - tp, negatives - fp


def counts(*four):
    """Four numbers in the order tp, fp, fn, tn as fractions by name."""
    return {key: Fraction(x) for key, x in zip(KEYS, four, strict=True)}


def true_value(metric, four):
    """The oracle's value at four counts."""
    return meaning(metric).value(oracle.Confusion(**counts(*four)))


def exact_value(metric, four):
    """The exact value of the package, of a root its signed square; NaN or infinity where it is none."""
    above, under = metric.order_key(**counts(*four), step=Fraction(1))
    if under:
        return Fraction(above) / under
    return math.nan if above == 0 else math.copysign(math.inf, above)


# --- formulas


@pytest.mark.parametrize("metric", [x for x in EXAMPLES if x.exact], ids=str)
def test_order_key_is_the_oracle(metric):
    """On integers each exact entry is the textbook formula, or its square (P, N <= 4)."""
    for four in confusions(4):
        expected, actual = true_value(metric, four), exact_value(metric, four)
        if expected is None:
            assert math.isnan(actual)
        elif metric.root:
            assert abs(actual - expected.number * abs(expected.number)) < Fraction(1, 10**50)
        else:
            assert expected.number == actual


@every_metric
def test_rounded_value_is_the_oracle(metric):
    """One confusion gives the true value, rounded once where the value is exact."""
    for four in confusions(4):
        expected, actual = true_value(metric, four), metric.rounded(**counts(*four))
        if expected is None:
            assert math.isnan(actual)
        elif metric.rational:
            assert float(expected.number) == actual
        elif metric.exact:
            assert ulps(float(expected.number), actual) <= 1
        else:
            assert float(expected.number) == pytest.approx(actual, rel=1e-13, abs=1e-15)


@every_metric
def test_value_in_any_unit(metric):
    """The value of counts in another unit is the same, or for a cost so many times as large."""
    for four in [(9, 2, 1, 8), (1, 5, 7, 30)]:
        one = metric.evaluate(**dict(zip(KEYS, map(np.float64, four), strict=True)), step=0.25)
        scaled = metric.evaluate(**{key: np.float64(x / 4) for key, x in zip(KEYS, four, strict=True)})
        assert one == pytest.approx(scaled, rel=1e-14)


def test_rounded_from_numbers_beyond_floats():
    """Counts of any length are divided, and their roots taken, with one rounding."""
    many = 10**400
    assert 0.5 == m.precision.rounded(**counts(many, many, 0, 0))
    assert math.sqrt(0.5) == m.fowlkes_mallows.rounded(**counts(many, many, 0, 0))
    assert math.inf == m.cost(fp=1).rounded(**counts(0, many, 0, 0))


@every_metric
def test_float_world_is_the_exact_world(metric):
    """On arrays each entry gives the same numbers, NaN and infinity at the same confusions."""
    table = np.array(list(confusions(4)), dtype=np.float64)
    values = metric(**dict(zip(KEYS, table.T, strict=True)))
    for four, actual in zip(table.astype(int).tolist(), values, strict=True):
        exact = metric.rounded(**counts(*four))
        if math.isnan(exact) or math.isinf(exact):
            assert str(float(exact)) == str(float(actual))
        else:
            size = max(abs(float(exact)), metric.magnitude(four[0] + four[2], four[1] + four[3]))
            assert abs(float(exact) - actual) <= 1e-14 * size


sums = st.one_of(st.just(0), st.integers(0, 10**6), st.integers(0, 2**62))
"""Sums in units of the grid."""


@every_metric
@settings(max_examples=60)
@given(st.lists(sums, min_size=4, max_size=4))
def test_float_error_is_within_the_slack(metric, four):
    """Rounding in a formula stays far below the room that the search leaves for it."""
    exact = metric.rounded(**counts(*four))
    actual = metric(**dict(zip(KEYS, map(float, four), strict=True)))
    if math.isnan(exact) or math.isinf(exact):
        return
    size = max(abs(float(exact)), metric.magnitude(four[0] + four[2], four[1] + four[3]))
    assert abs(float(exact) - actual) <= 64 * 2.0**-52 * size


@every_metric
def test_numbers_give_a_number_and_arrays_an_array(metric):
    """Four numbers give a float, four arrays an array of their shape."""
    number = metric(tp=9, fp=2, fn=1, tn=8)
    array = metric(tp=np.array([9, 1]), fp=np.array([2, 1]), fn=np.array([1, 9]), tn=[8, 9])

    assert float is type(number)
    assert (2,) == array.shape
    assert number == array[0]


@every_metric
def test_declared_trend_holds(metric):
    """At fixed P and N the true value moves as declared, over all confusions with P, N <= 6."""
    trend = metric.monotonicity
    if trend is None:
        assert metric.name in {"information_gain", "chi_square", "sensitivity_specificity_gap"}
        return
    values = {four: true_value(metric, four) for four in confusions(6)}
    for (tp, fp, fn, tn), here in values.items():
        steps = (
            (trend.tp, values.get((tp + 1, fp, fn - 1, tn))),
            (trend.fp, values.get((tp, fp + 1, fn, tn - 1))),
        )
        for sign, there in steps:
            if here is None or there is None:
                continue
            move = oracle.compare(there, here)
            assert move * sign >= 0
            assert sign != 0 or move == 0


@pytest.mark.parametrize(
    ("metric", "trend"),
    [
        (m.cost(fp=2, fn=1), (-1, 1)),
        (m.cost(tp=3, fn=1), (1, 0)),
        (m.cost(tp=-1, fp=1, fn=-1, tn=1), (0, 0)),
        (m.profit(tp=10, fp=-1), (1, -1)),
        (m.profit(fp=2), (0, 1)),
        (0.7 * m.accuracy + 0.3 * m.recall, (1, -1)),
        (m.precision - m.fpr, (1, -1)),
        (m.recall + m.fpr, (1, 1)),
    ],
    ids=str,
)
def test_trend_follows_parameters_and_weights(metric, trend):
    """Costs and sums know from their signs which way they move."""
    assert trend == metric.monotonicity


@pytest.mark.parametrize("metric", [m.accuracy - m.recall, m.f1 + m.fdr, m.mcc + m.chi_square], ids=str)
def test_parts_that_disagree_have_no_trend(metric):
    """A sum whose parts pull in different directions says that it has no trend."""
    assert None is metric.monotonicity


SUMS = (0.7 * m.accuracy + 0.3 * m.recall, m.lr_plus - m.accuracy, 2 - m.lr_minus - m.lift)


@pytest.mark.parametrize("metric", [*EXAMPLES, *SUMS], ids=str)
@settings(max_examples=40)
@given(
    st.tuples(st.integers(0, 12), st.integers(0, 12)),
    st.tuples(st.integers(0, 12), st.integers(0, 12)),
    st.tuples(st.integers(0, 6), st.integers(0, 6)),
)
def test_bounds_contain_every_value_of_the_box(metric, tp, fp, rest):
    """No confusion with TP and FP inside a box has a value outside the bounds of the box."""
    tp, fp = sorted(tp), sorted(fp)
    positives, negatives = tp[1] + rest[0], fp[1] + rest[1]
    box = Box(*(np.array([float(x)]) for x in (*tp, *fp)), float(positives), float(negatives))
    with np.errstate(all="ignore"):
        (low,), (high,) = metric.bounds(box)

    assert not math.isnan(low)
    assert not math.isnan(high)
    inside = itertools.product(range(tp[0], tp[1] + 1), range(fp[0], fp[1] + 1))
    t, f = np.array(list(inside), dtype=np.float64).T
    values = metric(tp=t, fp=f, fn=positives - t, tn=negatives - f)
    values = values[~np.isnan(values)]
    with np.errstate(invalid="ignore"):
        room = np.where(np.isfinite(values), 1e-12 * np.maximum(np.abs(values), 1), 0)
        assert (low - room <= values).all()
        assert (values <= high + room).all()


@pytest.mark.parametrize("metric", [*EXAMPLES, *SUMS, 3 * m.f1 - 2, m.recall + m.fpr], ids=str)
def test_linear_fractional_form_is_the_value(metric):
    """Where there is a linear-fractional form, it gives the exact value at every confusion."""
    for tp, fp, fn, tn in confusions(4):
        form = metric.linear_fractional(Fraction(tp + fn), Fraction(fp + tn))
        if form is None:
            continue
        top, bottom = (side[0] + side[1] * tp + side[2] * fp for side in (form.numerator, form.denominator))
        value = metric.fraction(**counts(tp, fp, fn, tn))
        assert value == (Fraction(top) / bottom if bottom else None)


def test_which_metrics_are_linear_fractional():
    """Shares and costs have the form; roots, logarithms and minima have not."""
    without = {str(x) for x in EXAMPLES if x.linear_fractional(Fraction(3), Fraction(4)) is None}

    assert {
        "fowlkes_mallows",
        "g_mean",
        "precision_recall_mean",
        "precision_recall_min",
        "markedness",
        "mcc",
        "p4",
        "diagnostic_odds_ratio",
        "prevalence_threshold",
        "information_gain",
        "chi_square",
        "corner_distance",
        "sensitivity_specificity_gap",
    } == without


# --- against scikit-learn and SciPy


def labels_and_decisions(seed):
    """Random labels and decisions that agree more often than not, both classes in both."""
    rng = np.random.default_rng(seed)
    y = np.append(rng.integers(0, 2, 60), [0, 0, 1, 1])
    decided = np.append(np.where(rng.random(60) < 0.7, y[:60], 1 - y[:60]), [0, 1, 0, 1])
    return y, decided


def mutual_information(y, d):
    """scikit-learn's mutual information is in nats."""
    return sk.mutual_info_score(y, d) / math.log(2)


SKLEARN = {
    "accuracy": sk.accuracy_score,
    "error_rate": sk.zero_one_loss,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "specificity": lambda y, d: sk.recall_score(y, d, pos_label=0),
    "npv": lambda y, d: sk.precision_score(y, d, pos_label=0),
    "f1": sk.f1_score,
    "f(beta=2)": lambda y, d: sk.fbeta_score(y, d, beta=2),
    "f(beta=0.5)": lambda y, d: sk.fbeta_score(y, d, beta=0.5),
    "jaccard": sk.jaccard_score,
    "mcc": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
    "youden_j": lambda y, d: sk.balanced_accuracy_score(y, d, adjusted=True),
    "lr_plus": lambda y, d: sk.class_likelihood_ratios(y, d)[0],
    "lr_minus": lambda y, d: sk.class_likelihood_ratios(y, d)[1],
    "information_gain": mutual_information,
    "fpr": lambda y, d: sk.roc_curve(y, d)[0][1],
    "fnr": lambda y, d: 1 - sk.roc_curve(y, d)[1][1],
}


@pytest.mark.parametrize("text", SKLEARN)
def test_equals_scikit_learn(text):
    """Where scikit-learn has the metric, ours is that metric, weighted or not."""
    for seed in range(20):
        y, decided = labels_and_decisions(seed)
        tn, fp, fn, tp = sk.confusion_matrix(y, decided).ravel()
        expected = SKLEARN[text](y, decided)
        actual = objective.objective(text)(tp=tp, fp=fp, fn=fn, tn=tn)

        assert expected == pytest.approx(actual, rel=1e-12, abs=1e-14)


def test_chi_square_is_pearsons():
    """Chi-square is the statistic of the 2x2 table without Yates' correction."""
    for seed in range(20):
        y, decided = labels_and_decisions(seed)
        table = sk.confusion_matrix(y, decided)
        tn, fp, fn, tp = table.ravel()
        expected = chi2_contingency(table, correction=False).statistic

        assert expected == pytest.approx(m.chi_square(tp=tp, fp=fp, fn=fn, tn=tn), rel=1e-12)


def test_fowlkes_mallows_by_hand():
    """On decisions it is sqrt(precision * recall); scikit-learn's is of clusterings."""
    assert math.sqrt(9 / 11 * 9 / 10) == pytest.approx(m.fowlkes_mallows(tp=9, fp=2, fn=1, tn=8))
    assert 0.3 == m.fowlkes_mallows(tp=9, fp=1, fn=81, tn=0)


# --- by hand

ROME = {"tp": 9, "fp": 2, "fn": 1, "tn": 8}
ROME_VALUES = {
    "prevalence": 0.5,
    "accuracy": 0.85,
    "error_rate": 0.15,
    "balanced_accuracy": 0.85,
    "recall": 0.9,
    "fnr": 0.1,
    "fpr": 0.2,
    "specificity": 0.8,
    "precision": 9 / 11,
    "fdr": 2 / 11,
    "npv": 8 / 9,
    "false_omission_rate": 1 / 9,
    "youden_j": 0.7,
    "markedness": 9 / 11 + 8 / 9 - 1,
    "lr_plus": 4.5,
    "lr_minus": 0.125,
    "diagnostic_odds_ratio": 36,
    "f1": 18 / 21,
    "fowlkes_mallows": 9 / math.sqrt(110),
    "mcc": (72 - 2) / math.sqrt(11 * 10 * 10 * 9),
    "jaccard": 0.75,
    "prevalence_threshold": math.sqrt(0.2) / (math.sqrt(0.9) + math.sqrt(0.2)),
    "kappa": 0.7,
    "predicted_positive": 11,
    "predicted_positive_rate": 0.55,
    "lift": 18 / 11,
    "g_mean": math.sqrt(0.72),
    "precision_recall_mean": (9 / 11 + 0.9) / 2,
    "precision_recall_min": 9 / 11,
    "p4": 4 / (11 / 9 + 10 / 9 + 10 / 8 + 9 / 8),
    "corner_distance": math.sqrt(0.01 + 0.04),
    "sensitivity_specificity_gap": 0.1,
    "chi_square": 20 * 70**2 / (11 * 10 * 10 * 9),
    "f(beta=2)": 45 / (45 + 2 + 4),
    "cost(fp=2, fn=1)": 5,
    "cost_per_row(fp=2, fn=1)": 0.25,
    "net_benefit(at=0.2)": 9 / 20 - 2 / 20 / 4,
    "profit(tp=10, fp=-1)": 88,
    "information_gain": 1
    - 11 / 20 * (-(9 / 11) * math.log2(9 / 11) - 2 / 11 * math.log2(2 / 11))
    - 9 / 20 * (-(8 / 9) * math.log2(8 / 9) - 1 / 9 * math.log2(1 / 9)),
}


@every_metric
def test_by_hand_at_9_2_1_8(metric):
    """Every entry at TP 9, FP 2, FN 1, TN 8, computed by hand."""
    assert ROME_VALUES[str(metric)] == pytest.approx(metric(**ROME), rel=1e-14)


def test_misprints_are_not_copied():
    """The formulas that the seed documents misprint have their right values here."""
    assert m.mcc(tp=35, fp=15, fn=15, tn=35) == pytest.approx(0.40)
    assert m.fdr(**ROME) == pytest.approx(0.181818, abs=1e-6)
    assert m.prevalence_threshold(**ROME) == pytest.approx(0.320377, abs=1e-6)
    assert m.precision(**ROME) == pytest.approx(9 / 11)
    assert m.mcc(tp=1, fp=8, fn=9, tn=2) == pytest.approx(-0.703526, abs=1e-6)


def test_p4_is_the_harmonic_mean_of_four():
    """P4 is the harmonic mean of precision, recall, specificity and NPV."""
    for seed in range(10):
        tp, fp, fn, tn = np.random.default_rng(seed).integers(1, 50, 4)
        four = [
            metric(tp=tp, fp=fp, fn=fn, tn=tn) for metric in (m.precision, m.recall, m.specificity, m.npv)
        ]

        assert 4 / sum(1 / x for x in four) == pytest.approx(m.p4(tp=tp, fp=fp, fn=fn, tn=tn))


@pytest.mark.parametrize(("at", "treat_some", "treat_all"), [(0.1, 0.0666667, 0.0), (0.2, 0.05, -0.125)])
def test_net_benefit_numbers_of_the_theory(at, treat_some, treat_all):
    """TP 80 and FP 120 of 1000 rows, and "treat all" at prevalence 0.1 (THEORY 4.6)."""
    metric = m.net_benefit(at=at)

    assert treat_some == pytest.approx(metric(tp=80, fp=120, fn=20, tn=780), abs=1e-6)
    assert treat_all == pytest.approx(metric(tp=100, fp=900, fn=0, tn=0), abs=1e-12)


def test_net_benefit_has_the_optimum_of_its_cost():
    """The net benefit at p is best where the cost with fp : fn = p : (1 - p) is least."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    s = np.round(rng.normal(y, 1), 1)
    for at in (0.1, 0.25, 0.4, 0.75):
        benefit = cp.find(y, s, maximize=m.net_benefit(at=at))
        cost = cp.find(y, s, minimize=m.cost(fp=Fraction(str(at)), fn=1 - Fraction(str(at))))

        assert cost.threshold == benefit.threshold
        assert [t.threshold for t in cost.ties] == [t.threshold for t in benefit.ties]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (m.jaccard, lambda **c: m.f1(**c) / (2 - m.f1(**c))),
        (m.chi_square, lambda **c: sum(c.values()) * m.mcc(**c) ** 2),
        (m.diagnostic_odds_ratio, lambda **c: m.lr_plus(**c) / m.lr_minus(**c)),
        (m.youden_j, lambda **c: 2 * m.balanced_accuracy(**c) - 1),
        (m.mcc, lambda **c: np.sign(m.youden_j(**c)) * math.sqrt(m.youden_j(**c) * m.markedness(**c))),
        (
            m.prevalence_threshold,
            lambda **c: (math.sqrt(m.recall(**c) * m.fpr(**c)) - m.fpr(**c)) / m.youden_j(**c),
        ),
        (m.f1, m.f(beta=1)),
        (m.cost(fp=2, fn=1), lambda **c: -m.profit(fp=-2, fn=-1)(**c)),
    ],
    ids=["jaccard of f1", "chi2 of mcc", "dor of lr", "j of ba", "mcc of j and mk", "pt", "f1", "cost"],
)
def test_identities(left, right):
    """Identities of the literature that tie one entry to others."""
    for seed in range(10):
        c = dict(zip(KEYS, np.random.default_rng(seed).integers(1, 30, 4).tolist(), strict=True))
        if c["tp"] * c["tn"] != c["fp"] * c["fn"]:
            assert right(**c) == pytest.approx(left(**c), rel=1e-12)


# --- undefined

UNDEFINED = {
    "without rows": (0, 0, 0, 0),
    "without positives": (0, 3, 0, 4),
    "without negatives": (3, 0, 4, 0),
    "no positives": (0, 0, 5, 6),
    "all positive": (5, 6, 0, 0),
    "one class, all right": (5, 0, 0, 0),
}
DEFINED_EVERYWHERE = {"cost(fp=2, fn=1)", "profit(tp=10, fp=-1)", "predicted_positive"}
UNDEFINED_AT = {
    "without positives": {
        "balanced_accuracy", "recall", "fnr", "fowlkes_mallows", "g_mean", "precision_recall_mean",
        "precision_recall_min", "youden_j", "mcc", "lr_plus", "lr_minus", "diagnostic_odds_ratio",
        "prevalence_threshold", "lift", "chi_square", "corner_distance", "sensitivity_specificity_gap",
    },
    "without negatives": {
        "balanced_accuracy", "specificity", "fpr", "g_mean", "youden_j", "mcc", "lr_plus", "lr_minus",
        "diagnostic_odds_ratio", "prevalence_threshold", "chi_square", "corner_distance",
        "sensitivity_specificity_gap",
    },
    "no positives": {
        "precision", "fdr", "fowlkes_mallows", "precision_recall_mean", "precision_recall_min",
        "markedness", "mcc", "lr_plus", "diagnostic_odds_ratio", "prevalence_threshold", "lift",
        "chi_square",
    },
    "all positive": {
        "false_omission_rate", "npv", "markedness", "mcc", "lr_minus", "diagnostic_odds_ratio",
        "chi_square",
    },
}  # fmt: skip


@pytest.mark.parametrize("case", UNDEFINED_AT)
def test_undefined_where_the_texts_say(case):
    """Exactly these are 0/0 there; nothing is filled in."""
    four = dict(zip(KEYS, UNDEFINED[case], strict=True))

    assert UNDEFINED_AT[case] == {str(x) for x in EXAMPLES if math.isnan(x(**four))}


def test_undefined_without_rows():
    """Without rows every share is undefined; counts and totals are 0."""
    four = dict.fromkeys(KEYS, 0)

    assert DEFINED_EVERYWHERE == {str(x) for x in EXAMPLES if not math.isnan(x(**four))}


@pytest.mark.parametrize(
    ("four", "name"),
    [
        ((5, 0, 0, 0), "kappa"),
        ((0, 0, 0, 5), "kappa"),
        ((5, 0, 0, 0), "p4"),
        ((0, 0, 0, 5), "p4"),
        ((0, 0, 0, 5), "f1"),
        ((0, 0, 0, 5), "jaccard"),
    ],
)
def test_undefined_with_one_class_decided_rightly(four, name):
    """Kappa and P4 with one class only, F1 and Jaccard without positives and alarms are 0/0."""
    assert math.isnan(m.get(name)(**dict(zip(KEYS, four, strict=True))))


@pytest.mark.parametrize(
    ("case", "phrase"),
    [
        ("no positives", "no row"),
        ("all positive", "all rows"),
        ("without positives", "without positives|one class|P = 0"),
    ],
)
def test_text_mentions_where_it_is_undefined(case, phrase):
    """The text of each entry names the cases in which the number is NaN."""
    phrases = phrase.split("|")
    told_elsewhere = {"diagnostic_odds_ratio"}  # its text gives the rule: a true and a false count 0
    for name in UNDEFINED_AT[case] - told_elsewhere:
        text = m.get(name).doc.undefined

        assert any(p in text for p in phrases), (name, text)


@pytest.mark.parametrize(
    ("name", "four"),
    [("lr_plus", (3, 0, 1, 5)), ("diagnostic_odds_ratio", (3, 0, 1, 5)), ("lr_minus", (3, 5, 1, 0))],
)
def test_positive_over_zero_is_infinite(name, four):
    """x/0 is inf, not undefined."""
    assert math.inf == m.get(name)(**dict(zip(KEYS, four, strict=True)))


# --- texts and names


@every_metric
def test_entry_has_all_texts(metric):
    """Title, summary, formula, range, undefined, monotone and reference are there for readers."""
    told = metric.doc

    for text in (
        told.title,
        told.summary,
        told.formula,
        told.range,
        told.undefined,
        told.monotone,
        told.reference,
    ):
        assert text.strip() == text != ""
    assert told.summary.endswith(".")
    assert metric.direction in {"higher", "lower", "neither"}
    assert set(told.parameters) >= {key for key, _ in metric.parameters}


@every_metric
def test_text_of_an_entry_reads_back(metric):
    """`str` of an entry is a text of the language that means the same entry."""
    parsed = objective.parse(str(metric), "maximize")

    assert str(metric) == str(parsed)
    assert metric(**ROME) == parsed(**ROME)
    assert f"<{metric}>" == repr(metric)


@pytest.mark.parametrize(
    "metric",
    [
        m.f(beta=0.5),
        m.f(beta=1 / 3),
        m.cost(tp=-1, fp=0.1, fn=1e-9, tn=1e9),
        m.cost(),
        m.net_benefit(at=0),
        0.7 * m.accuracy + 0.3 * m.recall,
        -m.f1,
        1 - m.f1,
        m.f1 / 3,
        2 * (m.f1 - m.recall) - 0.5,
        m.f1 * 0,
    ],
    ids=str,
)
def test_text_of_an_expression_reads_back(metric):
    """The text of families with odd parameters and of sums reads back to the same value."""
    parsed = objective.parse(str(metric), "maximize")
    if isinstance(parsed, Fraction):
        assert parsed == metric.fraction(**counts(9, 2, 1, 8))
    else:
        assert str(metric) == str(parsed)
        assert metric.rounded(**counts(9, 2, 1, 8)) == parsed.rounded(**counts(9, 2, 1, 8))


def test_names_and_aliases_are_unique():
    """No name or alias means two things."""
    spellings = [s for x in CATALOGUE for s in (x.name, *x.doc.aliases)]

    assert sorted(set(spellings)) == sorted(spellings)


def test_catalogue_is_complete():
    """The oracle knows every entry, and every entry is a public name."""
    names = {x.name for x in CATALOGUE}

    assert oracle.NAMES == {x.name for x in EXAMPLES}
    assert set(FAMILIES) == names - {x.name for x in PLAIN}
    assert names <= set(m.__all__)
    for metric in PLAIN:
        assert metric is getattr(m, metric.name)


ISSUE = {
    "accuracy": "accuracy", "error rate": "error_rate", "balanced accuracy": "balanced_accuracy",
    "precision": "precision", "PPV": "precision", "recall": "recall", "TPR": "recall",
    "sensitivity": "recall", "hit rate": "recall", "power": "recall", "specificity": "specificity",
    "TNR": "specificity", "FPR": "fpr", "Type I error": "fpr", "FNR": "fnr", "type-2 error": "fnr",
    "FDR": "fdr",
    "false omission rate": "false_omission_rate", "FOR": "false_omission_rate", "NPV": "npv",
    "F1": "f1", "f_beta": "f",
    "G-measure": "fowlkes_mallows", "Fowlkes-Mallows": "fowlkes_mallows", "geometric mean": "g_mean",
    "precision_recall_mean": "precision_recall_mean", "precision_recall_min": "precision_recall_min",
    "Jaccard": "jaccard", "threat score": "jaccard", "CSI": "jaccard", "Youden": "youden_j",
    "informedness": "youden_j", "markedness": "markedness", "MCC": "mcc", "kappa": "kappa",
    "Cohens-kappa": "kappa", "P4": "p4", "lr_plus": "lr_plus", "lr_minus": "lr_minus",
    "diagnostic odds ratio": "diagnostic_odds_ratio", "DOR": "diagnostic_odds_ratio",
    "prevalence": "prevalence", "prevalence threshold": "prevalence_threshold",
    "predicted positive": "predicted_positive", "predicted_positive_rate": "predicted_positive_rate",
    "lift": "lift", "information gain": "information_gain",
    "mutual information": "information_gain", "chi-square": "chi_square", "chi2": "chi_square",
    "corner distance": "corner_distance", "sensitivity_specificity_gap": "sensitivity_specificity_gap",
    "cost": "cost", "expected cost": "cost_per_row", "net benefit": "net_benefit", "profit": "profit",
}  # fmt: skip


@pytest.mark.parametrize(("name", "canonical"), ISSUE.items())
def test_names_of_the_issue_resolve(name, canonical):
    """Every metric that the issue lists is found under its usual names, in any case."""
    assert canonical == canonical_name(name)
    assert canonical == about(name).name


@pytest.mark.parametrize("name", ["recal", "", "f2", "__class__", "auc"])
def test_unknown_name(name):
    """A name that is not in the catalogue is an error of its own kind."""
    with pytest.raises(UnknownMetricError, match="Unknown metric"):
        m.get(name)


# --- families


@pytest.mark.parametrize("beta", [0, -1, math.nan, math.inf, "2", None, True, 1j])
def test_beta_must_be_positive(beta):
    """F-beta needs a finite number above zero."""
    with pytest.raises(InvalidParameterError, match=r"^f\(beta\) must be a"):
        m.f(beta=beta)


@pytest.mark.parametrize("at", [1, 1.5, -0.1, math.nan, "half", True])
def test_net_benefit_needs_a_probability(at):
    """The threshold probability is in [0, 1): at 1 the odds are infinite."""
    with pytest.raises(InvalidParameterError, match=r"^net_benefit\(at\) must be a"):
        m.net_benefit(at=at)


@pytest.mark.parametrize("family", ["cost", "cost_per_row", "profit"])
@pytest.mark.parametrize("value", [math.nan, math.inf, "2", True])
def test_costs_are_finite_numbers(family, value):
    """A cost is a finite number."""
    with pytest.raises(InvalidParameterError, match=rf"^{family}\(fp\) must be a finite"):
        m.get(family, fp=value)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("f", {}, r"^f\(beta\) must be one of beta"),
        ("cost", {}, r"^cost\(tp/fp/fn/tn/review\) must"),
        ("cost", {"fq": 1}, r"^cost\(fq\) must be one of tp, fp, fn, tn"),
        ("f1", {"beta": 2}, r"^f1\(beta\) must be left out"),
        ("net_benefit", {"threshold": 0.1}, r"^net_benefit\(threshold\) must be one of at"),
    ],
)
def test_wrong_parameters(name, parameters, message):
    """Missing and unknown parameters are named, with those that there are."""
    with pytest.raises(InvalidParameterError, match=message):
        m.get(name, **parameters)


@pytest.mark.parametrize("family", FAMILIES)
def test_family_itself_is_no_objective(family):
    """The function that makes a metric is refused as an objective, naming what it needs."""
    with pytest.raises(InvalidParameterError, match=r" must be .*\n\nHint: for example") as error:
        cp.find([0, 1], [0.1, 0.2], maximize=FAMILIES[family])

    assert family == error.value.caller


# --- the confusion


def test_confusion_gives_any_metric():
    """A confusion evaluates names, texts and expressions, rounding once."""
    confusion = cp.Confusion(**ROME)

    assert 18 / 21 == confusion.metric("f1")
    assert 0.865 == confusion.metric("0.7*accuracy + 0.3*recall")
    assert 5.0 == confusion.metric(m.cost(fp=2, fn=1))
    assert 9.0 == confusion.metric(lambda tp, fp, fn, tn: tp)
    assert ulps(9 / math.sqrt(110), confusion.metric("fm")) <= 1


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf])
def test_confusion_refuses_nonsense(bad):
    """Counts are finite and not negative."""
    with pytest.raises(InvalidParameterError, match=r"^fn must be a finite"):
        cp.Confusion(tp=1, fp=1, fn=bad, tn=1)


def test_confusion_is_keyword_only():
    """Four bare numbers are too easily swapped."""
    with pytest.raises(TypeError):
        cp.Confusion(1, 2, 3, 4)

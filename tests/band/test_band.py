"""`find_band`: against all pairs of cuts, one by one, in fractions."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import norm

import cutpoints as cp
import oracle
from cutpoints import metrics as m
from cutpoints import plots
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError
from strategies import DECIMALS, problems

SHARES = {
    "accuracy": (("tp", "tn"), ("fp", "fn")),
    "precision": (("tp",), ("fp",)),
    "npv": (("tn",), ("fn",)),
    "recall": (("tp",), ("fn",)),
    "fdr": (("fp",), ("tp",)),
}
"""Good and other cells of each share."""


def call(problem, **goal):
    """Find a band for a problem of any kind."""
    if problem.labels is None:
        data = cp.from_counts(problem.scores, positives=problem.positives, negatives=problem.negatives)
        return cp.find_band(data, **goal)
    return cp.find_band(problem.labels, problem.scores, sample_weight=problem.weights, **goal)


def every_band(rows):
    """What becomes of the rows in each band: its ends and six sums."""
    cuts = oracle.cuts(rows)
    for i, upper in enumerate(cuts):
        for lower in cuts[i:]:
            yes, no = upper.confusion, lower.confusion
            yield (
                (lower.threshold, upper.threshold),
                {"tp": yes.tp, "fp": yes.fp, "fn": no.fn, "tn": no.tn},
                (no.tp - yes.tp, no.fp - yes.fp),
            )


def holds(cells, name, relation, bound):
    """Whether a bound on a share of the automatic decisions holds; with no such decisions it does."""
    good, other = (sum(cells[cell] for cell in side) for side in SHARES[name])
    if relation == ">=":
        return good >= bound * (good + other)
    return good <= bound * (good + other)


def best_band(rows, cost, bounds, capacity, reviewer):
    """The least cost, reviews, and ends of the best band; None if there is none."""
    sensitivity, specificity = reviewer
    found = []
    for order, (ends, cells, (pos, neg)) in enumerate(every_band(rows)):
        if capacity is not None and pos + neg > capacity:
            continue
        if not all(holds(cells, *bound) for bound in bounds):
            continue
        after = {
            "tp": cells["tp"] + sensitivity * pos,
            "fn": cells["fn"] + (1 - sensitivity) * pos,
            "fp": cells["fp"] + (1 - specificity) * neg,
            "tn": cells["tn"] + specificity * neg,
        }
        value = sum(cost.get(cell, 0) * number for cell, number in after.items())
        value += cost.get("review", 0) * (pos + neg)
        found.append((value, pos + neg, order, ends, cells))
    return min(found, key=lambda one: one[:3], default=None)


COSTS = st.fixed_dictionaries(
    {"fp": st.sampled_from(DECIMALS), "fn": st.sampled_from(DECIMALS), "review": st.sampled_from(DECIMALS)},
    optional={"tp": st.sampled_from(["-1", "0.5"]), "tn": st.sampled_from(["-2", "0.1"])},
)
BOUNDS = st.lists(
    st.tuples(
        st.sampled_from(sorted(SHARES)),
        st.sampled_from([">=", "<="]),
        st.sampled_from(["0", "0.2", "0.5", "0.6", "0.75", "0.9", "1"]),
    ),
    max_size=3,
)
REVIEWERS = st.sampled_from([None, (1, 1), (0.9, 0.75), (0, 1), (0.5, 0.5)])


@given(problems(max_size=14), COSTS, BOUNDS, st.sampled_from([None, 0, 1, 2.5, 7]), REVIEWERS)
def test_cost_is_that_of_the_best_of_all_pairs(problem, cost, bounds, capacity, reviewer):
    """Ends, value, reviews and confusion are those of brute force over all pairs of cuts."""
    exact = {name: Fraction(text) for name, text in cost.items()}
    limits = [(name, relation, Fraction(text)) for name, relation, text in bounds]
    shares = tuple(Fraction(str(share)) for share in reviewer or (1, 1))
    room = None if capacity is None else Fraction(str(capacity))
    expected = best_band(problem.rows, exact, limits, room, shares)
    found = call(
        problem,
        minimize=f"cost({', '.join(f'{name}={text}' for name, text in cost.items())})",
        subject_to=[" ".join(bound) for bound in bounds],
        capacity=capacity,
        reviewer=reviewer,
    )
    if expected is None:
        assert "infeasible" == found.status
        return
    value, reviewed, _, ends, cells = expected
    assert ends == (found.low, found.high)
    assert float(value) == found.value
    assert reviewed == pytest.approx(Fraction(found.reviewed), rel=1e-15)
    for name, number in cells.items():
        assert float(number) == float(getattr(found.confusion, name))


@given(problems(max_size=14), BOUNDS.filter(len), st.sampled_from([None, 1, 5]))
def test_coverage_is_that_of_the_best_of_all_pairs(problem, bounds, capacity):
    """The coverage is the largest of all bands that meet the bounds; else the least reviews are told."""
    limits = [(name, relation, Fraction(text)) for name, relation, text in bounds]
    only = {"review": Fraction(1)}
    expected = best_band(problem.rows, only, limits, capacity, (1, 1))
    total = sum(pos + neg for _, pos, neg in problem.rows)
    if total == 0:
        return
    found = call(
        problem,
        maximize="coverage",
        subject_to=[" ".join(bound) for bound in bounds],
        capacity=capacity,
    )
    if expected is None:
        free = best_band(problem.rows, only, limits, None, (1, 1))
        assert "infeasible" == found.status
        assert (None if free is None else float(free[1])) == found.least_reviewed
        return
    _, reviewed, _, ends, _ = expected
    assert ends == (found.low, found.high)
    assert float(1 - reviewed / total) == found.value


def test_one_cut_is_checked_too():
    """With a score of +inf alone there is one cut, and it must meet the bounds as any other."""
    goal = {"maximize": "coverage", "subject_to": "accuracy >= 0.9"}
    assert "infeasible" == cp.find_band([0, 0], [math.inf, math.inf], **goal).status
    assert 1.0 == cp.find_band([1, 1], [math.inf, math.inf], **goal).coverage


def sample(rows=4000, seed=0):
    """Labels that follow calibrated probabilities, and these."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 2, rows)
    return (rng.random(rows) < p).astype(np.int8), p


def test_blocks_exclude_pairs_and_never_the_best():
    """On more cuts than one block holds the answer is that of a full table of pairs."""
    y, p = sample(900)
    n = len(y)
    order = np.argsort(-p)
    tp = np.concatenate([[0], np.cumsum(y[order])])
    fp = np.concatenate([[0], np.cumsum(1 - y[order])])
    i, j = np.triu_indices(n + 1)
    reviewed = tp[j] - tp[i] + fp[j] - fp[i]
    wrong = fp[i] + tp[-1] - tp[j]
    cost = 5 * fp[i] + 20 * (tp[-1] - tp[j]) + reviewed
    fine = (reviewed <= 150) & (wrong * 10 <= n - reviewed)
    found = cp.find_band(
        y, p, minimize="cost(fp=5, fn=20, review=1)", capacity=150, subject_to="accuracy >= 0.9"
    )
    if fine.any():
        assert cost[fine].min() == found.value
    else:
        assert "infeasible" == found.status
    right = wrong * 20 <= n - reviewed
    covered = cp.find_band(y, p, maximize="coverage", subject_to="accuracy >= 0.95")
    assert reviewed[right].min() == covered.reviewed
    assert found.certificate.pairs == len(i)
    assert covered.certificate.compared < len(i) / 100


def test_decisions_replay_the_confusion():
    """1, 0 and -1 on the data give the confusion and the reviews, for arrays, frames and files."""
    y, p = sample()
    frame = pd.DataFrame({"y": y, "p": p})
    band = cp.find_band(frame, label="y", score="p", minimize="cost(fp=5, fn=9, review=1)")
    for data in (p, frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy()):
        called = band.decide(data)
        assert np.int8 == called.dtype
        assert band.reviewed == (called == -1).sum()
        assert band.reviewed_positives == y[called == -1].sum()
        cells = {"tp": y[called == 1].sum(), "fn": y[called == 0].sum()}
        cells |= {"fp": (y[called == 1] == 0).sum(), "tn": (y[called == 0] == 0).sum()}
        assert cells == band.confusion.to_dict()
    assert band.low in p
    assert band.high in p


def test_float32_scores_are_compared_as_such():
    """A band that is found on float32 scores replays on them."""
    y, p = sample()
    p = p.astype(np.float32)
    band = cp.find_band(y, p, minimize="cost(fp=5, fn=9, review=1)")
    assert band.reviewed == (band.decide(p) == -1).sum()


def test_every_way_to_bring_data_gives_the_same(tmp_path):
    """Arrays, frames, lazy frames, files and counts have the same band."""
    y, p = sample(300)
    frame = pl.DataFrame({"y": y, "p": p})
    frame.write_parquet(tmp_path / "s.parquet")
    goal = {"minimize": m.cost(fp=5, fn=9, review=1), "capacity": 40}
    expected = cp.find_band(y, p, **goal)
    names = {"label": "y", "score": "p"}
    for data in (frame, frame.lazy(), frame.to_pandas(), tmp_path / "s.parquet"):
        found = cp.find_band(data, **names, **goal)
        assert (expected.low, expected.high) == (found.low, found.high)
        assert (expected.value, expected.confusion) == (found.value, found.confusion)
    counted = cp.find_band(cp.from_counts(p, positives=y, negatives=1 - y), **goal)
    assert (expected.low, expected.high) == (counted.low, counted.high)


def test_the_best_single_threshold_stands_beside_it():
    """`single` is what `find` says for the same goal, and no band is worse."""
    y, p = sample()
    band = cp.find_band(y, p, minimize="cost(fp=5, fn=20, review=1)")
    assert cp.find(y, p, minimize="cost(fp=5, fn=20)").value == band.single.value
    assert band.value <= band.single.value
    assert "one threshold" in repr(band)
    covered = cp.find_band(y, p, maximize="coverage", subject_to="accuracy >= 0.95")
    assert cp.find(y, p, maximize="accuracy").value == covered.single.value


def test_an_expensive_review_leaves_one_threshold():
    """If a review costs more than it can save, both ends are the best single threshold."""
    y, p = sample()
    band = cp.find_band(y, p, minimize="cost(fp=1, fn=1, review=1)")
    assert band.low == band.high == cp.find(y, p, minimize="cost(fp=1, fn=1)").threshold
    assert 0 == band.reviewed


def test_without_labels_the_band_is_that_of_chow():
    """Expected counts of calibrated probabilities give the ends of Chow's rule, to within one gap."""
    _, p = sample(20_000)
    cost = "cost(fp=1, fn=5, review=0.3)"
    band = cp.find_band(cp.from_counts(p, positives=p, negatives=1 - p), minimize=cost)
    low, high = cp.bayes_band(cost)
    assert (0.06, 0.7) == (low, high)
    assert band.low_interval.low <= low <= band.low_interval.high
    assert band.high_interval.low <= high <= band.high_interval.high


@pytest.mark.parametrize(
    ("cost", "reviewer", "expected"),
    [
        ("cost(fp=1, fn=5, review=0.3)", None, (0.06, 0.7)),
        ("cost(fp=1, fn=5, review=0.8333)", None, (0.16666, 0.1667)),
        ("cost(fp=1, fn=5, review=0.84)", None, (1 / 6, 1 / 6)),
        ("profit(fp=-1, fn=-5, review=-0.3)", None, (0.06, 0.7)),
        ("cost(fp=1, fn=1, review=0.1)", (0.9, 0.9), (0.2 / 1, 0.8)),
    ],
)
def test_bayes_band(cost, reviewer, expected):
    """The band of calibrated probabilities follows from the costs and the reviewers."""
    assert expected == pytest.approx(cp.bayes_band(cost, reviewer=reviewer))


@pytest.mark.parametrize("cost", ["cost(fp=1, review=1)", "cost(fp=-1, fn=2, review=1)", "f1",
                                  "cost(fp=1, fn=1, review=-1)"])  # fmt: skip
def test_bayes_band_needs_costs_that_make_sense(cost):
    """Costs under which a miss is free, or that are none, are refused."""
    with pytest.raises(InvalidParameterError):
        cp.bayes_band(cost)


def test_cross_validated_value_is_close_to_the_truth():
    """Over many samples the cross-validated value is nearer to that on new data than the value itself."""
    big_y, big_p = sample(200_000, seed=99)
    gaps = []
    for seed in range(40):
        y, p = sample(300, seed)
        band = cp.find_band(y, p, minimize="cost_per_row(fp=5, fn=20, review=1.5)")
        called = band.decide(big_p)
        truth = np.where(called == 1, 5 * (1 - big_y), np.where(called == 0, 20 * big_y, 1.5)).mean()
        gaps.append((band.value - truth, band.cross_validated.value - truth))
    naive, judged = np.mean(gaps, axis=0)
    assert naive < -0.03
    assert abs(judged) < abs(naive) / 2


def test_cross_validation_shrinks_the_capacity_with_the_rows():
    """Folds may review as large a share of their rows as all rows may."""
    y, p = sample()
    band = cp.find_band(y, p, minimize="cost(fp=5, fn=20, review=1)", capacity=200)
    judged = band.cross_validated
    assert 200 == pytest.approx(judged.reviewed, rel=0.15)
    assert len(y) == judged.reviewed + sum(judged.confusion.to_dict().values())
    assert judged == cp.find_band(y[::-1], p[::-1], minimize="cost(fp=5, fn=20, review=1)",
                                  capacity=200).cross_validated  # fmt: skip


def test_infeasible_says_what_capacity_it_takes():
    """A capacity that is too small is told the smallest one that does."""
    y, p = sample()
    free = cp.find_band(y, p, maximize="coverage", subject_to="accuracy >= 0.95")
    band = cp.find_band(y, p, maximize="coverage", subject_to="accuracy >= 0.95", capacity=10)
    assert ("infeasible", free.reviewed, None, None) == (
        band.status,
        band.least_reviewed,
        band.low,
        band.high,
    )
    assert f"at least {free.reviewed:,} reviews" in repr(band)
    with pytest.raises(InfeasibleError, match="raise the capacity"):
        band.decide(p)
    at = cp.find_band(y, p, maximize="coverage", subject_to="accuracy >= 0.95", capacity=free.reviewed)
    assert (free.low, free.high) == (at.low, at.high)
    never = cp.find_band(y, p, maximize="coverage", subject_to="predicted_positive >= 5000")
    assert ("infeasible", None) == (never.status, never.least_reviewed)
    with pytest.raises(InfeasibleError, match="however many rows are reviewed"):
        never.raise_if_infeasible()


def test_forms_for_people_and_programs():
    """The text names both ends and the value on new data; the JSON form has all of it."""
    y, p = sample()
    band = cp.find_band(y, p, minimize="cost(fp=5, fn=20, review=1)", subject_to="npv >= 0.97")
    for text in (
        f"score >= {band.high_interval.shortest}",
        f"score < {band.low_interval.shortest}",
        "cross-validated, npv >= 0.97 is",
    ):
        assert text in repr(band)
    assert "<table>" in band._repr_html_()
    shown = band.to_dict()
    assert (band.low, band.high, band.value) == (shown["low"], shown["high"], shown["value"])
    assert band.cross_validated.value == shown["cross_validated"]["value"]
    assert band.single.threshold == shown["single"]["threshold"]
    assert band.coverage == 1 - band.reviewed / len(y)


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"maximize": "f1"}, "a cost or a profit, or the coverage"),
        ({"minimize": "cost(fp=1, fn=1)"}, "capacity must be given where a review costs nothing"),
        ({"maximize": "coverage"}, "subject_to must be given with the coverage"),
        ({}, "maximize must be given"),
        ({"minimize": "cost(fp=1, fn=1, review=1)", "capacity": -1}, "capacity must be a number of rows"),
        ({"minimize": "cost(fp=1, fn=1, review=1)", "capacity": math.nan}, "capacity must be"),
        ({"minimize": "cost(fp=1, fn=1, review=1)", "capacity": "many"}, "capacity must be"),
        ({"minimize": "cost(fp=1, fn=1, review=1)", "reviewer": (1.2, 0.9)}, "reviewer must be"),
        ({"minimize": "cost(fp=1, fn=1, review=1)", "reviewer": 0.9}, "reviewer must be"),
        ({"minimize": "cost(fp=1, fn=1, review=1)", "reviewer": (math.nan, 1)}, "reviewer must be"),
        ({"maximize": "coverage", "subject_to": "mcc >= 0.5"}, "bounds on shares"),
        ({"maximize": "coverage", "subject_to": "accuracy > 0.5"}, "bounds with >= or <="),
    ],
)
def test_bad_goals(goal, message):
    """What a band cannot be asked for is refused, with what it can be asked for."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.find_band([0, 1], [0.2, 0.7], **goal)


def test_bad_data():
    """Missing scores, to search and to decide on, are errors that count them."""
    with pytest.raises(InvalidInputError, match="1 of 2 values"):
        cp.find_band([0, 1], [0.2, math.nan], minimize="cost(fp=1, fn=1, review=0.1)")
    band = cp.find_band([0, 1], [0.2, 0.7], minimize="cost(fp=1, fn=1, review=0.1)")
    with pytest.raises(InvalidInputError, match="1 of 3 values"):
        band.decide([0.2, math.nan, 1])
    with pytest.raises(InvalidParameterError, match="score must be"):
        band.decide(pd.DataFrame({"p": [0.2]}))


@given(problems("unweighted", max_size=14))
def test_risk_coverage_has_the_fewest_errors_at_each_coverage(problem):
    """At each point no band with as few reviews has fewer errors, and the band does what it says."""
    curve = cp.curve(problem.labels, problem.scores).risk_coverage()
    bands = [
        (pos + neg, cells["fp"] + cells["fn"], ends) for ends, cells, (pos, neg) in every_band(problem.rows)
    ]
    total = len(problem.scores)
    for share, errors, low, high in zip(curve.coverage, curve.errors, curve.low, curve.high, strict=True):
        reviewed = round((1 - share) * total)
        assert errors == min(wrong for left, wrong, _ in bands if left <= reviewed)
        assert (reviewed, errors, (low, high)) in bands
    assert 1.0 == curve.coverage[-1]
    assert (np.diff(curve.coverage) > 0).all()


def test_risk_coverage_for_people():
    """The curve prints some points, and gives columns and the first point beyond a coverage."""
    curve = cp.curve(*sample()).risk_coverage()
    assert "coverage 0.9" in repr(curve)
    assert "<table>" in curve._repr_html_()
    assert curve.at(0.8)["coverage"] >= 0.8
    assert len(curve) == len(curve.to_pandas()) == len(curve.to_polars())
    with pytest.raises(InvalidParameterError):
        curve.at(1.2)


# --- deployed, kept and drawn


def test_policy_decides_as_the_band(tmp_path):
    """The policy of a band, saved and loaded, gives its decisions, and knows columns and goal."""
    y, p = sample(400)
    frame = pd.DataFrame({"y": y, "p": p.astype(np.float32)})
    band = cp.find_band(frame, label="y", score="p", minimize="cost(fp=5, fn=9, review=1)", capacity=100)
    policy = band.policy("reviews", description="who looks at what")
    policy.save(tmp_path / "band.json")
    loaded = cp.Policy.load(tmp_path / "band.json")
    assert band.decide(frame).tolist() == loaded.decide(frame["p"].to_numpy()).tolist()
    assert ("p", "y", "float32") == (loaded.score, loaded.label, loaded.dtype)
    assert (band.value, band.cross_validated.value) == (
        loaded.found_on.value,
        loaded.found_on.cross_validated,
    )
    assert 0 < loaded.found_on.confusion.tp


def test_a_policy_may_have_no_end():
    """A side without automatic decisions is an infinite end, also in a policy."""
    y, s = separated(40, np.random.default_rng(0))
    band = cp.find_band(y, s, maximize="coverage", subject_to=BOTH, guarantee=0.95)
    assert [-1, -1] == band.policy().decide([-1e9, 1e9]).tolist()


def test_bands_can_be_pickled():
    """A pickle is the same band, with all that stands beside it."""
    y, p = sample(400)
    band = cp.find_band(y, p, minimize="cost(fp=5, fn=9, review=1)")
    again = pickle.loads(pickle.dumps(band))  # noqa: S301 - our own
    assert band == again
    assert repr(band) == repr(again)


def test_displays():
    """The band is shaded over the scores, and marked on the curve of risk against coverage."""
    y, p = sample(400)
    band = cp.find_band(y, p, minimize="cost(fp=5, fn=9, review=1)")
    drawn = plots.BandDisplay.from_predictions(y, p, band=band, ax=Figure().subplots())
    texts = [text.get_text() for text in drawn.ax_.get_legend().get_texts()]
    assert any(text.startswith("review: ") for text in texts)
    assert (band.low, band.high) == (drawn.low, drawn.high)
    curve = plots.RiskCoverageDisplay.from_predictions(y, p, band=band, ax=Figure().subplots())
    same = plots.RiskCoverageDisplay.of_curve(cp.curve(y, p), band=band)
    np.testing.assert_array_equal(curve.risk, same.risk)
    assert curve.point == same.point
    assert (band.coverage, band.confusion.metric("error_rate")) == curve.point
    assert curve.ax_.get_xlabel().startswith("Coverage")
    with pytest.raises(InvalidParameterError, match="band must be the result of find_band"):
        plots.BandDisplay.from_predictions(y, p)


# --- guarantees


BOTH = ["precision >= 0.9", "npv >= 0.95"]


def separated(rows, rng):
    """Labels and scores of two normal distributions, 2.2 apart."""
    y = (rng.random(rows) < 0.3).astype(np.int8)
    return y, rng.normal(size=rows) + 2.2 * y


def precision_and_npv(low, high):
    """The true shares of right automatic yes and no; 1 where there is no such decision."""

    def right(of, other):
        return 1.0 if of + other == 0 else of / (of + other)

    yes = 0.3 * norm.sf(high - 2.2), 0.7 * norm.sf(high)
    no = 0.7 * norm.cdf(low), 0.3 * norm.cdf(low - 2.2)
    return right(*yes), right(*no)


def broken(samples, rows, seed, **how):
    """How often one of the two bounds does not hold on new data."""
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(samples):
        band = cp.find_band(*separated(rows, rng), maximize="coverage", subject_to=BOTH, **how)
        precision, npv = precision_and_npv(band.low, band.high)
        count += precision < 0.9 or npv < 0.95
    return count / samples


def test_guarantee_holds_on_new_data():
    """In fresh samples both bounds fail together no more often than asked; without it they mostly do."""
    assert broken(60, 1500, 1) > 0.5
    assert broken(100, 1500, 2, guarantee=0.95) <= 0.12  # 0.05 + 3 standard errors


@pytest.mark.slow
def test_guarantee_holds_in_many_samples():
    """The same in many samples, with several confidences."""
    for confidence, rows in ((0.95, 800), (0.95, 4000), (0.8, 1500)):
        risk = 1 - confidence
        assert broken(600, rows, rows, guarantee=confidence) <= risk + 3 * math.sqrt(risk * (1 - risk) / 600)


def test_a_side_that_cannot_be_certified_is_reviewed():
    """With few rows nothing is certified, and every row is reviewed, whatever its score."""
    y, s = separated(40, np.random.default_rng(0))
    goal = {"maximize": "coverage", "subject_to": BOTH, "guarantee": 0.95}
    band = cp.find_band(y, s, **goal)
    assert (-math.inf, math.inf, 0.0) == (band.low, band.high, band.value)
    assert [-1, -1] == band.decide([-1e9, 1e9]).tolist()
    assert "no row" in repr(band)
    full = cp.find_band(y, s, **goal, capacity=5)
    assert "none_certified" == full.status
    assert full.guarantee.more_rows > 0
    with pytest.raises(InfeasibleError, match="can be certified"):
        full.decide(s)
    y, s = separated(3000, np.random.default_rng(3))
    free = cp.find_band(y, s, **goal)
    tight = cp.find_band(y, s, **goal, capacity=5)
    assert ("infeasible", free.reviewed) == (tight.status, tight.least_reviewed)


def test_guarantee_is_reported():
    """The promise is in the text and in the JSON form."""
    y, s = separated(3000, np.random.default_rng(3))
    band = cp.find_band(y, s, minimize="cost(fp=5, fn=5, review=1)", subject_to=BOTH, guarantee=0.95)
    assert "precision >= 0.9 and npv >= 0.95 on new data, with confidence 0.95" in repr(band)
    assert 0.95 == band.to_dict()["guarantee"]["confidence"]
    assert band.value >= cp.find_band(y, s, minimize="cost(fp=5, fn=5, review=1)").value


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"subject_to": "accuracy >= 0.9"}, "bounds on precision, fdr, npv"),
        ({"subject_to": BOTH, "guarantee": 95}, "guarantee must be a number between 0 and 1"),
        ({"subject_to": BOTH, "guarantee": "expectation"}, "guarantee must be a number between 0 and 1"),
        ({"subject_to": "precision >= 1"}, "strictly between 0 and 1"),
        ({"subject_to": BOTH, "sample_weight": [1, 2]}, "left out for rows with weights"),
    ],
)
def test_what_cannot_be_guaranteed(goal, message):
    """Bounds without an exact test of one end, weights and odd confidences are refused."""
    with pytest.raises(InvalidParameterError, match=message):
        cp.find_band([0, 1], [0.2, 0.7], **{"maximize": "coverage", "guarantee": 0.95, **goal})

"""Has a policy's world changed? Statistics against slow and obvious ones, verdicts on known truths."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import cutpoints as cp
from cutpoints._data import files
from cutpoints._policy import tally as _tally
from cutpoints._policy.shift import shift_of
from cutpoints.exceptions import InvalidInputError, InvalidParameterError


def scores(n, *, seed, shift=0.0, prevalence=0.3):
    """Labels and probabilities of a population."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(int)
    return y, 1 / (1 + np.exp(1 - shift - rng.normal(size=n) - 1.5 * y))


def found(**options):
    """A policy that was found on 5,000 rows."""
    y, p = scores(5000, seed=0)
    return cp.find(y, p, **{"maximize": "f1", **options}).policy("p", score="p", label="y")


# --- have the scores moved?


def test_psi_and_ks_by_hand():
    """PSI and KS are their textbook formulas on ten buckets and on all edges."""
    then, now = [10, 20, 30, 40], [40, 30, 20, 10]
    shift = shift_of(then, now, 0.01, 0.2, whole=True)
    p, q = np.array(then) / 100, np.array(now) / 100

    assert 4 == shift.psi_buckets
    assert math.isclose(float(sum((q - p) * np.log(q / p))), shift.psi)
    assert math.isclose(0.4, shift.ks)
    assert shift.moved
    assert "large shift" == shift.band


def test_an_empty_bucket_is_half_a_row():
    """Where nobody is any more, the index is large and finite."""
    shift = shift_of([50, 50], [100, 0], 0.01, 0.2, whole=True)
    p, q = np.array([0.5, 0.5]), np.array([1.0, 0.005])

    assert math.isclose(float(sum((q - p) * np.log(q / p))), shift.psi)


def test_ks_is_a_lower_bound_and_its_p_value_an_upper_one():
    """On the buckets of a policy the distance is at most the exact one, and nearly as large."""
    policy = found()
    _, old = scores(5000, seed=0)
    _, new = scores(700, seed=1, shift=0.3)
    shift = policy.check(new).scores
    exact = stats.ks_2samp(old, new, method="asymp")

    assert shift.ks <= exact.statistic + 1e-12
    assert shift.ks >= exact.statistic - 0.02
    assert shift.ks_p >= stats.kstwobign.sf(exact.statistic * math.sqrt(5000 * 700 / 5700)) * (1 - 1e-9)


@pytest.mark.parametrize("m", [100, 2000])
def test_false_alarms_are_rare(m):
    """Rows from the same population give alarm no more often than alpha says; 200 samples."""
    policy = found()
    alarms = sum(
        policy.check(scores(m, seed=s)[1], psi=1e-6, alpha=0.05).scores.moved for s in range(100, 300)
    )

    assert alarms <= stats.binom.ppf(0.999, 200, 0.05)


def test_a_shift_is_seen():
    """A population whose scores are higher gives alarm, from 200 rows on."""
    policy = found()

    assert not policy.check(scores(200, seed=5, shift=1.5)[1]).fine
    assert policy.check(scores(200, seed=5)[1]).fine


def test_chance_is_no_alarm():
    """Few rows have a large index by chance; that is said, and is no alarm."""
    policy = found()
    check = next(c for c in (policy.check(scores(25, seed=s)[1]) for s in range(50)) if c.scores.psi > 0.3)

    assert () == check.alarms
    assert "by chance" in check.notes[0]
    assert "unsure" == check.status


def test_counts_agree_whatever_comes(tmp_path, monkeypatch):
    """Arrays, series, frames, lazy frames, CSV and Parquet of the same rows have the same answer."""
    policy = found(subject_to="precision >= 0.5")
    y, p = scores(3000, seed=3, shift=0.2)
    frame = pd.DataFrame({"y": y, "p": p})
    frame.to_csv(tmp_path / "n.csv", index=False)
    frame.to_parquet(tmp_path / "n.parquet")
    bare = policy.check(p)

    assert 3000 == bare.rows
    assert (p >= policy.threshold).mean() == bare.called.now
    for data in (p.tolist(), frame["p"], frame, pl.DataFrame(frame), pl.DataFrame(frame).lazy()):
        assert bare.to_dict() == policy.check(data).to_dict()
    for name in ("n.csv", "n.parquet"):
        assert bare.to_dict() == policy.check(tmp_path / name).to_dict()
    told = policy.check(y, p)
    assert bare.scores == told.scores
    for data in (frame, tmp_path / "n.csv", [str(tmp_path / "n.parquet")]):
        assert told.to_dict() == policy.check(data, label="y").to_dict()
    monkeypatch.setattr(_tally, "DIRECT_ROWS", 100)
    assert told.to_dict() == policy.check(y, p).to_dict()


def test_engines_agree(tmp_path, monkeypatch):
    """Frames, lazy frames and files that stream have one fingerprint, and one answer."""
    monkeypatch.setattr(files, "MEMORY_ROWS", 1000)
    monkeypatch.setattr(files, "LARGE_BYTES", 1000)
    y, p = scores(40_000, seed=3)
    frame = pl.DataFrame({"y": y, "p": p})
    frame.write_parquet(tmp_path / "n.parquet")
    frame.write_csv(tmp_path / "n.csv")
    first = cp.find(y, p, maximize="f1").policy(score="p")
    expected = first.check(y, p)

    for data in (frame, frame.lazy(), str(tmp_path / "n.parquet"), str(tmp_path / "n.csv")):
        policy = cp.find(data, label="y", score="p", maximize="f1").policy()
        assert first.found_on.fingerprint == policy.found_on.fingerprint
        assert 40_000 == sum(policy.found_on.distribution.masses)
        assert policy.check(data, label="y").labels.same_data
        assert expected.to_dict() == first.check(data, label="y").to_dict()
        assert expected.scores == first.check(data).scores


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [500, 150_000])
def test_masses_above_edges_are_exact(n, dtype):
    """By histogram and rows, or by all rows: the masses above each edge are what a loop counts."""
    from cutpoints._data.arrays import ArraySource

    rng = np.random.default_rng(0)
    p = np.round(rng.normal(size=n), 2).astype(dtype)
    y, w = rng.integers(0, 2, n), rng.integers(1, 9, n) / 8
    edges = sorted(
        {-math.inf, -5.0, 0.0, float(np.float32(0.1)), 0.1, 0.105, 9.0, math.inf, *p[:50].tolist()}
    )
    got = _tally.masses_above(ArraySource.labelled(y, p, sample_weight=w), edges)

    for edge, (pos, neg) in zip(edges, got, strict=True):
        above = p.astype(np.float64) >= edge
        assert (w[above & (y == 1)].sum(), w[above & (y == 0)].sum()) == (float(pos), float(neg))


# --- what labels tell


def test_constraints_are_judged_by_exact_tests():
    """Holds, broken, unsure: the verdict follows the binomial tail at the bound."""
    policy = found(maximize="recall", subject_to="precision >= 0.6")
    y, p = scores(4000, seed=7, prevalence=0.05)
    check = policy.check(y, p)
    (one,) = check.labels.constraints
    called = p >= policy.threshold
    tp, n = int(y[called].sum()), int(called.sum())

    assert "broken" == one.verdict
    assert math.isclose(stats.binomtest(tp, n, 0.6, alternative="less").pvalue, one.p_broken)
    assert "precision >= 0.6 is broken" in check.summary
    (one,) = policy.check(*scores(4000, seed=7, prevalence=0.6)).labels.constraints
    assert "holds" == one.verdict
    (one,) = policy.check(*scores(40, seed=8)).labels.constraints
    assert one.verdict.endswith("unsure")


def test_constraints_without_a_test_stand_as_they_are():
    """A bound on a count, or on mcc, is met or broken on the rows at hand."""
    policy = found(maximize="recall", subject_to=["mcc >= 0.4", "predicted_positive <= 3000"])
    y, p = scores(2000, seed=2)
    verdicts = [one.verdict for one in policy.check(y, p).labels.constraints]

    assert ["met", "met"] == verdicts
    assert "broken" == policy.check(1 - y, p).labels.constraints[0].verdict


def test_a_bound_that_is_just_met_is_met():
    """The comparison is one of fractions: a precision of exactly 0.6 meets 0.6."""
    policy = cp.Policy(0.5, objective="recall", direction="maximize", constraints=("precision >= 0.6",))
    check = policy.check([1] * 3 + [0] * 2, [0.9] * 5)

    assert "met, unsure" == check.labels.constraints[0].verdict
    rows = [1, 1, 1, 0, 0, 0, 0, 1], [0.9] * 4 + [0.1] * 4
    for bound, verdict in (("mcc >= 0.5", "met"), ("2*mcc - 1 > 0", "broken")):
        policy = cp.Policy(0.5, objective="recall", direction="maximize", constraints=(bound,))
        assert verdict == policy.check(*rows).labels.constraints[0].verdict


def test_metrics_then_and_now():
    """The whole catalogue is there, for the data then and the data now."""
    policy = found()
    y, p = scores(3000, seed=4)
    labels = policy.check(y, p).labels
    now = cp.evaluate(y, p, threshold=policy.threshold, interval="clopper_pearson")

    assert now.metrics == pytest.approx(
        {name: now_ for name, (_, now_) in labels.metrics.items()}, nan_ok=True
    )
    assert policy.found_on.value == labels.metrics["f1"][0]
    assert now.intervals == labels.intervals
    assert now.confusion == labels.confusion


def test_the_best_threshold_now_is_that_of_find():
    """What would be best, and what is lost by not moving, are those of a new search."""
    policy = found()
    y, p = scores(3000, seed=4, shift=0.7)
    value = policy.check(y, p).labels.value
    best = cp.find(y, p, maximize="f1")
    here = cp.curve(y, p).at(policy.threshold).confusion.metric("f1")

    assert (best.threshold, best.value, here) == (value.best_threshold, value.best, value.now)
    assert best.value - here == value.lost
    assert value.lost >= 0


def test_costs_are_compared_per_1000_rows():
    """Costs of unequally many rows are put on one scale, the total is beside it, and lower is better."""
    policy = found(minimize="cost(fp=2, fn=1)", maximize=None)
    y, p = scores(2500, seed=4)
    check = policy.check(y, p)
    called = p >= policy.threshold
    cost = 2 * int((called & (y == 0)).sum()) + int((~called & (y == 1)).sum())
    value = check.labels.value

    assert pytest.approx(cost / 2.5) == value.now
    assert cost == value.total
    assert pytest.approx(policy.found_on.value / 5) == value.found
    assert pytest.approx(policy.found_on.cross_validated / 5) == value.then
    assert value.lost >= 0
    assert value.interval.low < value.now < value.interval.high
    assert check.fine
    assert "cost(fp=2, fn=1) is not worse by more than" in check.summary
    assert "per 1,000 rows" in check.summary
    worse = policy.check(1 - y, p)
    assert "worse" == worse.labels.value.verdict
    assert "cost(fp=2, fn=1) is worse by more than a tenth" in worse.summary
    assert "fallen" not in worse.summary + check.summary


def test_a_better_cost_is_no_alarm():
    """A cost that has halved is better, though it has fallen."""
    policy = found(minimize="cost(fp=2, fn=1)", maximize=None)
    y, p = scores(4000, seed=4, prevalence=0.1)

    assert "not worse" == policy.check(y, p).labels.value.verdict


def test_a_worse_goal_is_an_alarm():
    """Labels that no longer go with the scores give alarm, though no score has moved."""
    policy = found()
    y, p = scores(3000, seed=9)
    check = policy.check(np.random.default_rng(0).permutation(y), p)

    assert not check.scores.moved
    assert "worse" == check.labels.value.verdict
    assert "f1 is worse by more than a tenth" in check.summary
    assert "Find a new threshold" in check.next_step


def test_too_few_rows_cannot_tell():
    """Three positives prove nothing: the check says so, and how many more rows it takes."""
    policy = found(maximize="recall", subject_to="precision >= 0.5")
    y, p = scores(400, seed=5)
    few = np.append(np.flatnonzero(y == 1)[:3], np.flatnonzero(y == 0)[:7])
    check = policy.check(y[few], p[few])

    assert "unsure" == check.status
    assert not check.fine
    assert check.summary.startswith("Cannot tell: 10 rows are too few to say whether")
    assert check.more_rows > 40
    assert f"about {check.more_rows:,} more rows" in check.next_step
    enough = policy.check(*scores(10 + check.more_rows, seed=3))
    assert "recall" not in " ".join(enough.open)


def test_a_policy_of_few_rows_cannot_be_judged_by_any_number_of_rows():
    """What was found on thirty rows is too uncertain to compare with, and that is said."""
    y, p = scores(30, seed=3)
    check = cp.find(y, p, maximize="mcc").policy().check(*scores(5000, seed=4))

    assert check.labels.value.verdict in ("unsure", "worse")
    if check.status == "unsure":
        assert check.more_rows is None
        assert "found on too few rows" in check.summary


def false_alarms(goal, n, m, prevalence, runs):
    """The share of fresh policies and fresh rows of one population whose objective is called worse."""
    worse = 0
    for run in range(runs):
        y, p = scores(n, seed=2 * run, prevalence=prevalence)
        verdict = cp.find(y, p, **goal).policy().check(
            *scores(m, seed=2 * run + 1, prevalence=prevalence)
        ).labels.value.verdict  # fmt: skip
        worse += verdict == "worse"
    return worse / runs


def test_without_a_change_the_goal_is_not_called_worse():
    """An optimum of 150 rows is too good to be true, and new rows are not judged by it (100 runs)."""
    assert false_alarms({"maximize": "mcc"}, 150, 2000, 0.3, 100) <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize("goal", [{"maximize": "mcc"}, {"maximize": "f1"}, {"minimize": "cost(fp=1, fn=5)"}])
@pytest.mark.parametrize(("n", "m"), [(150, 2000), (150, 20_000), (1000, 1000)])
@pytest.mark.parametrize("prevalence", [0.1, 0.3])
def test_without_a_change_the_goal_is_not_called_worse_in_full(goal, n, m, prevalence):
    """With the defaults, in at most 1 % of 400 runs, 3 standard errors."""
    assert false_alarms(goal, n, m, prevalence, 400) <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / 400)


def test_a_guarantee_is_not_compared_with_thresholds_that_have_none():
    """Coarse scores: 2 is certified or 3 is, with a recall of 0.53 or of 0.17; folds would choose 2."""
    rng = np.random.default_rng([77, 12])
    draw = lambda n: (y := rng.random(n) < 0.3, np.round(rng.normal(size=n) + 1.6 * y))  # noqa: E731
    asked = {"maximize": "recall", "subject_to": "precision >= 0.7", "guarantee": 0.9}
    policy = cp.find(*draw(2000), **asked).policy()

    assert 3 == policy.rule.threshold
    assert policy.found_on.cross_validated is None
    assert () == policy.check(*draw(2000)).alarms


def test_nothing_meets_the_constraints_now():
    """Then there is no best threshold, and the constraint is broken."""
    policy = found(maximize="recall", subject_to="precision >= 0.9")
    y, p = scores(2000, seed=9)
    check = policy.check(np.zeros_like(y) | (p < 0.01), p)

    assert check.labels.value.best_threshold is None
    assert check.labels.value.lost is None
    assert not check.fine
    json.dumps(check.to_dict(), allow_nan=False)


def test_the_very_same_rows_are_recognised():
    """Judged on the rows that it was found on, a policy looks as good as it did, and that is said."""
    policy = found()
    y, p = scores(5000, seed=0)
    check = policy.check(y, p)

    assert check.labels.same_data
    assert 0 == check.scores.psi
    assert 0 == check.labels.value.lost
    assert "cannot judge it" in " ".join(check.notes)


def test_other_labels():
    """The positive label is the policy's, unless another is given."""
    y, p = scores(500, seed=1)
    words = np.where(y == 1, "bad", "good")
    policy = cp.find(words, p, maximize="f1", pos_label="bad").policy()

    assert policy.check(words, p).labels.same_data
    assert policy.check(y, p, pos_label=1).labels.same_data


# --- policies that know little


def test_a_policy_by_hand():
    """Without a past there is nothing to compare with; labels still tell what is best now."""
    check = cp.Policy(0.5).check([0, 1, 1], [0.1, 0.4, 0.9])

    assert check.scores is None
    assert check.fine
    assert check.labels.value is None
    told = cp.Policy(0.5, objective="f1", direction="maximize").check([0, 1, 1], [0.1, 0.4, 0.9])
    assert 0.4 == told.labels.value.best_threshold
    json.dumps(told.to_dict(), allow_nan=False)


def test_a_goal_that_is_a_function():
    """A function of the user's cannot be searched again from a file; the rest is told."""
    y, p = scores(500, seed=1)
    policy = cp.find(y, p, maximize=lambda *, tp, fp, fn, tn: tp - fp).policy()
    check = cp.Policy.from_dict(policy.to_dict()).check(y, p)

    assert check.labels.value is None
    assert check.scores is not None


@pytest.mark.parametrize("threshold", [math.inf, -math.inf])
def test_everybody_or_nobody(threshold):
    """Policies at the ends have a past and a present as others have."""
    y, p = scores(500, seed=1)
    weights = [1e6, 1] if threshold == math.inf else [1, 1e6]
    policy = cp.find(y, p, minimize=f"cost(fp={weights[0]:g}, fn={weights[1]:g})").policy()
    check = policy.check(y, p)

    assert check.called.then == check.called.now
    assert 0 == check.scores.psi


def test_weights_have_no_p_value():
    """Masses that are no numbers of rows are compared, without a pretence of a test."""
    y, p = scores(500, seed=1)
    policy = cp.find(y, p, sample_weight=np.full(500, 0.1), maximize="f1").policy()
    check = policy.check(p)

    assert check.scores.psi < 1e-9
    assert check.scores.psi_p is None
    assert check.scores.ks_p is None


# --- errors


def test_missing_scores_are_an_error(tmp_path):
    """What cannot be counted is not left out in silence."""
    policy = found()
    path = tmp_path / "n.csv"
    path.write_text("p\n0.5\n\n0.7\nNaN\n", encoding="utf-8")

    for data in ([0.5, None], pd.DataFrame({"p": [0.5, math.nan]})):
        with pytest.raises(InvalidInputError, match="1 of 2 values is missing"):
            policy.check(data)
    with pytest.raises(InvalidInputError, match="missing"):
        policy.check(path)
    with pytest.raises(InvalidInputError, match="missing"):
        policy.check([0, 1], [0.5, math.nan])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "^alpha must be a number between 0 and 1"),
        ({"alpha": 1.5}, "^alpha must be"),
        ({"psi": -1}, "^psi must be a positive number"),
        ({"psi": "much"}, "^psi must be"),
        ({"score": "q"}, "Column not found: 'q'"),
    ],
)
def test_options_that_cannot_be_meant(options, message):
    """Each option says what it must be."""
    with pytest.raises((InvalidParameterError, InvalidInputError), match=message):
        found().check(pd.DataFrame({"p": [0.5]}), **options)


@pytest.mark.parametrize("data", [[], "nowhere.csv", 3, ["a", 1]])
def test_data_that_cannot_be_read(data):
    """Whatever else comes ends in an error of ours."""
    with pytest.raises((InvalidParameterError, InvalidInputError)) as error:
        found().check(data)
    assert " of find " not in str(error.value)


# --- which rows


@pytest.mark.parametrize("label", [None, "y"])
def test_files_can_be_filtered(tmp_path, label):
    """The rows that a condition or a query leaves are checked, and no others."""
    y, p = scores(900, seed=3)
    month = np.where(np.arange(900) % 3 == 0, "a", "b")
    path, few = str(tmp_path / "all.csv"), str(tmp_path / "few.parquet")
    frame = pd.DataFrame({"y": y, "p": p, "month": month})
    frame.to_csv(path, index=False)
    frame[month == "a"].to_parquet(few)
    policy = found()
    expected = policy.check(few, label=label).to_dict()

    assert 300 == expected["rows"]
    assert (
        expected
        == policy.check(cp.read(path, label=label, where="month = 'a'", memory_limit="1GB")).to_dict()
    )
    assert (
        expected
        == policy.check(cp.read(path, label=label, sql="select * from data where month = 'a'")).to_dict()
    )
    with pytest.raises(InvalidInputError, match="No row is left by where="):
        policy.check(cp.read(path, label=label, where="month = 'c'"))

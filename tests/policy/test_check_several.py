"""Policies of several thresholds on new data: counts against slow ones, verdicts on known truths."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.metrics import cohen_kappa_score, f1_score

import cutpoints as cp
from cutpoints._policy.judge import then_table
from cutpoints._policy.tally import Asked, tally
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

COUNTRIES = ["DE", "ES", "FR", "IT"]
TAGS = ["sport", "politics", "arts"]


def segments(n, *, seed, weak=(), countries=COUNTRIES):
    """Rows of countries; in the weak ones the scores say little."""
    rng = np.random.default_rng(seed)
    country = rng.choice(countries, n)
    y = (rng.random(n) < 0.3).astype(int)
    strength = np.where(np.isin(country, list(weak)), 0.2, 1.8)
    p = 1 / (1 + np.exp(1 - rng.normal(size=n) - strength * y))
    return pd.DataFrame({"y": y, "p": p, "country": country})


def tags(n, *, seed, strength=(1.5, 2.0, 2.5)):
    """Two matrices of three labels that depend on each other."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1))
    truth = (common + rng.normal(size=(n, 3)) > [1.5, 0.9, 0.2]).astype(int)
    return truth, 1 / (1 + np.exp(1 - rng.normal(size=truth.shape) - truth * np.array(strength)))


def grades(n, *, seed, noise=0.7):
    """Five ordered grades and one score."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    return pd.DataFrame(
        {"grade": np.clip(np.round(z + 2), 0, 4).astype(int), "s": z + noise * rng.normal(size=n)}
    )


def by_country(**options):
    """A policy that was found on 6,000 rows, each country by itself."""
    rows = segments(6000, seed=0)
    found = cp.find_by(rows, label="y", score="p", by="country", **{"maximize": "f1", **options})
    return found.policy("countries")


def together(**options):
    """The same, all countries together."""
    rows = segments(6000, seed=0)
    asked = {"maximize": "recall", "subject_to": "precision >= 0.6", **options}
    return cp.find_joint(rows, label="y", score="p", by="country", **asked).policy("together")


def band(**options):
    """A band that was found on 6,000 rows."""
    asked = {"minimize": "cost(fp=5, fn=20, review=1)", "capacity": 1800, **options}
    return cp.find_band(segments(6000, seed=0), label="y", score="p", **asked).policy("band")


def graded(**options):
    """Cutpoints that were found on 3,000 rows."""
    asked = options or {"maximize": "quadratic_kappa"}
    return cp.find_ordinal(grades(3000, seed=0), label="grade", score="s", **asked).policy("grades")


def tagged(average="micro", **options):
    """Thresholds of labels that were found on 3,000 rows."""
    return cp.find_labels(*tags(3000, seed=0), maximize="f1", average=average, **options).policy("tags")


def asked(policy, data, y_score=None, *, by=None, score=None, label=None):
    """Count the rows."""
    return tally(Asked(policy, data, y_score, by, score, label, None))


# --- rows become counts


def ways(rows, folder):
    """The same rows in memory, lazy, and in files."""
    rows.to_csv(folder / "rows.csv", index=False)
    rows.to_parquet(folder / "rows.parquet")
    return [
        rows,
        pl.from_pandas(rows),
        pl.from_pandas(rows).lazy(),
        str(folder / "rows.csv"),
        cp.read(str(folder / "rows.parquet")),
    ]


@pytest.mark.parametrize(
    ("make", "rows", "label"),
    [
        (by_country, segments(700, seed=3), "y"),
        (band, segments(700, seed=3), "y"),
        (graded, grades(700, seed=3), "grade"),
    ],
)
def test_counts_are_those_of_the_decisions(make, rows, label, tmp_path):
    """Wherever rows come from, decisions and truths are counted as `decide` makes them."""
    policy = make()
    decision = policy.decide(rows)["decision"]
    values = list(policy.rule.decisions()[0].values)
    truths = sorted(rows[label].unique())
    parts = rows["country"] if "country" in rows and make is by_country else pd.Series("", rows.index)
    expected = [
        [[int(((parts == one) & (decision == d) & (rows[label] == t)).sum()) for t in truths] for d in values]
        for one in sorted(parts.unique())
    ]

    for data in ways(rows, tmp_path):
        named = {} if isinstance(data, cp.Data) else {"label": label}
        labelled = cp.read(str(tmp_path / "rows.parquet"), label=label) if not named else data
        assert expected == asked(policy, labelled, **named).counts.tolist()
        assert np.array(expected).sum(axis=2).tolist() == asked(policy, data).counts[:, :, 0].tolist()


def test_data_bring_their_scores():
    """A `Data` is checked by the scores that it names, with labels and without."""
    rows = segments(300, seed=5)
    renamed, policy = rows.rename(columns={"p": "q"}).assign(p=0.0), by_country()
    expected = asked(policy, rows).counts.tolist()

    assert expected == asked(policy, cp.read(renamed, score="q")).counts.tolist()
    labelled = asked(policy, cp.read(renamed, score="q", label="y")).counts
    assert expected == labelled.sum(axis=2, keepdims=True).tolist()


def test_arrays_bring_their_segments():
    """Labels, scores and segments as arrays are counted as the frame is."""
    policy, rows = by_country(), segments(500, seed=4)
    frame = asked(policy, rows, label="y").counts

    assert frame.tolist() == asked(policy, rows["y"], rows["p"], by=rows["country"]).counts.tolist()
    without = asked(policy, rows["p"].to_numpy(), by=rows["country"].to_numpy()).counts
    assert frame.sum(axis=2).tolist() == without[:, :, 0].tolist()


@pytest.mark.parametrize("key", [(1, 2, 3, 4), (1.5, 2.5, 3.5, 4.5), (True, False, True, False)])
def test_keys_of_a_csv_are_read_in_the_type_of_the_policy(key, tmp_path):
    """A CSV has text alone, and 7 in it is the segment 7."""
    rows = segments(400, seed=5)
    rows["country"] = rows["country"].map(dict(zip(COUNTRIES, key, strict=True)))
    policy = cp.find_by(rows, label="y", score="p", by="country", maximize="f1").policy()
    rows.to_csv(tmp_path / "rows.csv", index=False)
    expected = asked(policy, rows, label="y").counts.tolist()

    assert expected == asked(policy, str(tmp_path / "rows.csv"), label="y").counts.tolist()
    assert not asked(policy, str(tmp_path / "rows.csv")).unseen


def test_labels_of_matrices_frames_and_files_are_counted_alike(tmp_path):
    """Two matrices, dense or sparse, two frames, and a table with columns for each label agree."""
    truth, scores = tags(300, seed=6)
    policy = cp.find_labels(
        pd.DataFrame(truth, columns=TAGS), pd.DataFrame(scores, columns=TAGS), maximize="f1"
    ).policy()
    decided = policy.decide(scores)
    expected = [
        [[int(((decided[:, k] == d) & (truth[:, k] == t)).sum()) for t in (0, 1)] for d in (0, 1)]
        for k in range(3)
    ]
    wide = pd.DataFrame(scores, columns=TAGS).join(pd.DataFrame(truth, columns=[f"is_{one}" for one in TAGS]))
    wide.to_csv(tmp_path / "wide.csv", index=False)

    assert expected == asked(policy, truth, scores).counts.tolist()
    assert expected == asked(policy, sparse.csr_matrix(truth), scores).counts.tolist()
    assert expected == asked(policy, pd.DataFrame(truth, columns=TAGS), wide[TAGS]).counts.tolist()
    assert expected == asked(policy, wide, label="is_{}").counts.tolist()
    assert expected == asked(policy, str(tmp_path / "wide.csv"), label="is_{}").counts.tolist()
    assert np.array(expected).sum(axis=2).tolist() == asked(policy, wide).counts[:, :, 0].tolist()


@pytest.mark.parametrize("make", [by_country, together, band, graded, tagged])
def test_a_policy_remembers_what_it_did(make, tmp_path):
    """Saved and loaded, it has the counts that its rule makes of the rows it was found on."""
    policy = make()
    policy.save(tmp_path / "policy.json")
    loaded = cp.Policy.load(tmp_path / "policy.json")
    if make is tagged:
        now = asked(loaded, *tags(3000, seed=0))
    elif make is graded:
        now = asked(loaded, grades(3000, seed=0), label="grade")
    else:
        now = asked(loaded, segments(6000, seed=0), label="y")

    assert policy == loaded
    assert now.counts.tolist() == then_table(loaded, now.parts).tolist()
    assert loaded.found_on.cross_validated is not None


# --- values


def test_labels_are_compared_with_what_was_to_be_expected():
    """Each label has its cross-validated value in the policy, and is judged by it."""
    truth, scores = tags(300, seed=27)
    found = cp.find_labels(truth, scores, maximize="f1", average="macro")
    policy = found.policy()
    expected = list(found.cross_validated.each_label)

    assert expected == [one.cross_validated for one in policy.found_on.segments]
    assert np.mean(expected) == pytest.approx(found.cross_validated.value)
    assert expected == [one.value.then for one in policy.check(truth, scores).parts]


def test_values_are_those_of_scikit_learn():
    """Kappa, micro and macro F1 now are what scikit-learn makes of the decisions."""
    rows = grades(500, seed=7)
    policy = graded()
    kappa = cohen_kappa_score(rows["grade"], policy.decide(rows)["decision"], weights="quadratic")
    assert kappa == pytest.approx(policy.check(rows, label="grade").labels.value.now, abs=1e-12)
    truth, scores = tags(500, seed=7)
    for average in ("micro", "macro"):
        policy = tagged(average)
        expected = f1_score(truth, policy.decide(scores), average=average)
        assert expected == pytest.approx(policy.check(truth, scores).labels.value.now, abs=1e-12)


def test_the_cost_of_a_band_is_added_up():
    """Mistakes of the automatic part and reviews cost what they cost, per 1,000 rows and in total."""
    policy, rows = band(), segments(800, seed=8)
    decision = policy.decide(rows)["decision"]
    cost = 5 * ((decision == 1) & (rows["y"] == 0)).sum() + 20 * ((decision == 0) & (rows["y"] == 1)).sum()
    cost += (decision == -1).sum()
    value = policy.check(rows, label="y").labels.value

    assert cost == value.total
    assert cost * 1000 / 800 == pytest.approx(value.now)


def test_costs_of_classes_are_kept_in_the_policy():
    """A matrix of costs is what the policy is judged by."""
    costs = (2.5 * np.abs(np.subtract.outer(range(5), range(5)))).tolist()
    policy, rows = graded(minimize=costs), grades(600, seed=9)
    made = policy.decide(rows)["decision"].to_numpy()

    assert 2.5 * np.abs(made - rows["grade"]).sum() == policy.check(rows, label="grade").labels.value.total


# --- verdicts


FRESH = {
    by_country: lambda seed: ((segments(3000, seed=seed),), {"label": "y"}),
    together: lambda seed: ((segments(3000, seed=seed),), {"label": "y"}),
    band: lambda seed: ((segments(3000, seed=seed),), {"label": "y"}),
    graded: lambda seed: ((grades(2000, seed=seed),), {"label": "grade"}),
    tagged: lambda seed: (tags(2000, seed=seed), {}),
}


@pytest.mark.parametrize("make", FRESH)
def test_rows_from_the_same_source_are_fine(make):
    """Without a change, alarms are rare: at most as many as alpha allows in 40 samples."""
    policy = make()
    runs = [policy.check(*data, **names) for data, names in map(FRESH[make], range(100, 140))]
    wrong = [one.summary for one in runs if one.status == "attention"]

    assert len(wrong) <= stats.binom.ppf(0.999, 40, 0.03), wrong


@pytest.mark.slow
@pytest.mark.parametrize("make", FRESH)
def test_rows_from_the_same_source_are_fine_in_full(make):
    """Policies of fresh rows, too: over 300 runs there are no more false alarms than 3 %."""
    alarms = 0
    for seed in range(300):
        policy = _fresh_policy(make, 1000 + seed)
        data, names = FRESH[make](5000 + seed)
        alarms += policy.check(*data, **names).status == "attention"

    assert alarms <= stats.binom.ppf(0.999, 300, 0.03)


def _fresh_policy(make, seed):
    if make is graded:
        rows = grades(1000, seed=seed)
        return cp.find_ordinal(rows, label="grade", score="s", maximize="quadratic_kappa").policy()
    if make is tagged:
        return cp.find_labels(*tags(1000, seed=seed), maximize="f1").policy()
    rows, columns = segments(2000, seed=seed), {"label": "y", "score": "p"}
    if make is band:
        return cp.find_band(rows, **columns, minimize="cost(fp=5, fn=20, review=1)").policy()
    if make is together:
        return cp.find_joint(rows, **columns, by="country", maximize="f1").policy()
    return cp.find_by(rows, **columns, by="country", maximize="f1").policy()


def test_the_worst_segment_is_named():
    """One country whose scores say little any more is found, and all others are fine."""
    found = by_country().check(segments(4000, seed=10, weak=["FR"]), label="y")

    assert "attention" == found.status
    assert "in 1 of 4 segments (FR: " in found.summary
    assert ["FR"] == [one.key[0] for one in found.parts if one.value.verdict == "worse"]


def test_constraints_of_each_segment_are_judged_there():
    """A bound that `find_by` met in each segment is broken in the one that changed."""
    policy = by_country(subject_to="precision >= 0.7", maximize="recall")
    found = policy.check(segments(6000, seed=11, weak=["IT"]), label="y")

    assert "precision >= 0.7 is broken in" in found.summary
    assert "IT: 0.4" in found.summary
    assert () == found.labels.constraints


def test_constraints_over_all_segments_are_judged_in_total():
    """What `find_joint` promised of all rows is judged over all rows, and `each` in each segment."""
    policy = together(each="recall >= 0.5")
    found = policy.check(segments(6000, seed=12, weak=["IT", "ES"]), label="y")

    assert "broken" == found.labels.constraints[0].verdict
    assert "recall >= 0.5 is broken in 2 of 4 segments (most in " in found.summary


def test_gaps_between_segments_are_judged():
    """A rate that is far lower in one segment breaks the gap; chance alone does not."""
    policy = together(gap="recall <= 0.05")
    same, other = (policy.check(segments(4000, seed=26, weak=weak), label="y") for weak in ([], ["DE"]))
    recalls = [one.value.now for one in same.parts]

    assert "a gap of recall <= 0.05" == same.labels.constraints[-1].constraint
    assert max(recalls) - min(recalls) == pytest.approx(same.labels.constraints[-1].now)
    assert "unsure" in same.labels.constraints[-1].verdict
    assert "a gap of recall <= 0.05 is broken" in other.summary


def test_unknown_segments_are_counted():
    """Rows of new segments are an alarm where the policy refuses them, and a note where it does not."""
    rows = segments(1000, seed=13, countries=[*COUNTRIES, "XX", None])
    counts = rows["country"].isna().sum(), (rows["country"] == "XX").sum()
    strict, kept = by_country(), together()
    kept = cp.Policy.segments(
        kept.rule.thresholds, by="country", default="keep", score="p", found_on=kept.found_on
    )
    found = strict.check(rows, label="y")

    assert {("XX",): counts[1], (None,): counts[0]} == dict(found.unseen)
    assert "which the policy refuses" in found.summary
    assert "they get no decision" in "".join(kept.check(rows, label="y").notes)
    assert 1000 == found.rows
    with pytest.raises(InvalidInputError, match="XX"):
        strict.check(segments(50, seed=1, countries=["XX"]), label="y")


def test_unknown_segments_are_judged_by_the_default():
    """With a default threshold they are decided, and are a part of their own."""
    policy = cp.Policy.segments({"DE": 0.5}, by="country", default=0.4, score="p")
    rows = segments(300, seed=14)
    found = policy.check(rows, label="y")

    assert (rows["country"] != "DE").sum() == found.parts[-1].rows
    assert found.parts[-1].key is None
    called = policy.decide(rows)["decision"].mean()
    assert called == pytest.approx(found.called.now)


def test_the_capacity_of_reviewers_is_a_share_of_rows():
    """Twice as many reviews per row as people can do are an alarm; the number of rows does not matter."""
    policy = band(capacity=900)
    same = policy.check(segments(1500, seed=15), label="y")
    middle = segments(3000, seed=16)
    middle["p"] = (policy.rule.low + policy.rule.high) / 2 * np.where(np.arange(3000) % 3, 1, 1.8)
    more = policy.check(middle, label="y")

    kept = same.labels.constraints[-1]
    assert "at most 900 reviews in 6,000 rows" == kept.constraint
    assert "broken" != kept.verdict
    assert "at most 900 reviews in 6,000 rows is broken" in more.summary


def test_bounds_of_a_band_are_about_automatic_decisions():
    """Precision and NPV of the automatic part are judged by the exact test."""
    policy = band(
        minimize=None, capacity=None, maximize="coverage", subject_to=["precision >= 0.8", "npv >= 0.9"]
    )
    rows = segments(5000, seed=17, weak=COUNTRIES)
    found = policy.check(rows, label="y")
    decision = policy.decide(rows)["decision"]
    npv = (rows["y"][decision == 0] == 0).mean()

    assert npv == pytest.approx(found.labels.constraints[1].now)
    assert "npv >= 0.9 is broken" in found.summary
    assert {"negative", "review", "positive"} == set(found.decisions)


def test_worse_labels_and_grades_are_an_alarm():
    """Labels whose scores say less, and a noisier grade, are found."""
    worse = tagged().check(*tags(2000, seed=18, strength=(1.5, 2.0, 0.3)))
    assert "in 1 of 3 labels (2: " in worse.summary
    noisy = graded().check(grades(2000, seed=19, noise=1.6), label="grade")
    assert "quadratic_kappa is worse by more than a tenth" in noisy.summary


@pytest.mark.parametrize("make", [by_country, band, graded])
def test_few_rows_cannot_tell(make):
    """Twenty rows are too few, with labels and without."""
    rows = grades(20, seed=21) if make is graded else segments(20, seed=21)
    label = "grade" if make is graded else "y"

    assert "unsure" == make().check(rows, label=label).status
    assert "unsure" == make().check(rows).status


def test_dependent_labels_widen_the_interval():
    """Labels of one row that say the same are not three rows."""
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 600), rng.random(600)
    truth, scores = np.stack([y, y, y], axis=1), np.stack([p, p, p], axis=1)
    policy = cp.find_labels(truth, scores, maximize="accuracy").policy()
    long = cp.Policy.segments(
        policy.rule.thresholds,
        by="tag",
        score="p",
        objective="accuracy",
        direction="maximize",
        found_on=policy.found_on,
    )
    frame = pd.DataFrame({"y": truth.ravel(), "p": scores.ravel(), "tag": np.tile(["0", "1", "2"], 600)})
    whole = policy.check(truth, scores).labels.value.interval
    apart = long.check(frame, label="y").labels.value.interval

    assert np.sqrt(3) == pytest.approx((whole.high - whole.low) / (apart.high - apart.low), rel=0.1)


# --- words, files and what cannot be meant


@pytest.mark.parametrize("make", FRESH)
def test_the_json_form_is_strict(make):
    """Every kind of rule has a JSON form without NaN, labelled or not."""
    data, names = FRESH[make](21)
    policy = make()
    for found in (policy.check(*data, **names), policy.check(data[-1])):
        shown = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert policy.rule.kind == shown["policy"]["kind"]
        assert shown["status"] in {"fine", "unsure", "attention"}


def test_state_is_for_one_threshold_and_segments(tmp_path):
    """Evidence about all segments adds up over checks; other rules say that they have none."""
    policy = together()
    for seed in (22, 23):
        found = policy.check(segments(2000, seed=seed), label="y", state=tmp_path / "state.json")
    assert 2 == found.watch.batches
    assert {"precision >= 0.6"} < set(found.watch.evidence)
    with pytest.raises(InvalidParameterError, match="state"):
        band().check(segments(100, seed=1), label="y", state=tmp_path / "band.json")


def test_with_a_state_tests_of_one_look_are_notes(tmp_path):
    """A segment that looks bad today is noted, and no alarm that could be repeated every day."""
    rows = segments(4000, seed=24, weak=["FR"])
    found = by_country().check(rows, label="y", state=tmp_path / "state.json")

    assert any(one.startswith("In this check alone, f1 is worse") for one in found.notes)
    assert not any("segments" in one for one in found.alarms)


def test_a_policy_by_hand_has_nothing_to_compare_with():
    """Without `found_on` the numbers of now are said, and nothing is claimed of then."""
    found = cp.Policy.band(0.3, 0.6, score="p").check(segments(200, seed=25), label="y")

    assert found.labels.value is None
    assert "fine" == found.status
    assert "does not say what it decided before" in found.notes[0]


@pytest.mark.parametrize(
    ("make", "data", "options", "message"),
    [
        (by_country, segments(9, seed=1)[["y", "p"]], {"label": "y"}, "country"),
        (by_country, [0.1, 0.2], {}, "by"),
        (band, segments(9, seed=1), {"by": ["a"]}, "by"),
        (tagged, [[0.1, 0.2]], {}, "3 labels"),
        (graded, pd.DataFrame({"grade": [7], "s": [0.1]}), {"label": "grade"}, "7"),
        (band, pd.DataFrame({"p": [np.nan]}), {}, "NaN|missing"),
        (by_country, pd.DataFrame({"p": [np.nan], "country": ["DE"]}), {}, "NaN|missing"),
    ],
)
def test_data_that_cannot_be_checked(make, data, options, message):
    """Columns, segments, labels or scores that are missing are named."""
    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        make().check(data, **options)

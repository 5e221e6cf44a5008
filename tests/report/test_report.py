"""The summary behind the page: exact where it says so, and the same as the rest of the library."""

import json
import math
import re
import warnings
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

import cutpoints as cp
from cutpoints._assess.bands import half_width
from cutpoints._format import percent, short, shortest_inside
from cutpoints._report import cuts as cuts_room
from cutpoints._report.cuts import DRAWN_CUTS
from cutpoints._search import run
from cutpoints.exceptions import (
    DataWarning,
    InfeasibleError,
    InvalidInputError,
    InvalidParameterError,
    UnknownMetricError,
)
from report.plain import counted

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text(encoding="utf-8"))
GOALS = (
    {"maximize": "f1"},
    {"maximize": "mcc"},
    {"minimize": "cost(fp=1, fn=7)"},
    {"maximize": "recall", "subject_to": "precision >= 0.5"},
    {"maximize": "0.7*accuracy + 0.3*recall", "subject_to": ["recall >= 0.6", "fpr <= 0.5"]},
)


def rows(kind, n=40_000, seed=0):
    """Return labels and scores of some kind."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    z = rng.normal(size=n) + 1.5 * y
    scores = {
        "logits": z,
        "probabilities": 1 / (1 + np.exp(1 - z)),
        "two decimals": np.round(1 / (1 + np.exp(1 - z)), 2),
        "float32": (1 / (1 + np.exp(1 - z))).astype(np.float32),
        "infinite": np.where(z > 3, np.inf, np.where(z < -2, -np.inf, z)),
        "skewed": np.exp(20 * z),
        "constant": np.full(n, 0.25),
    }
    return y, scores[kind]


@pytest.fixture(params=[False, True], ids=["all cuts", "buckets"])
def way(request, monkeypatch):
    """Look at all cuts, or at buckets, which otherwise only a million rows are."""
    if request.param:
        monkeypatch.setattr(cuts_room, "ALL_CUTS_ROWS", 100)
        monkeypatch.setattr(run, "FETCHED_ROWS", 100)
    return request.param


def check(summary):
    """Compare with the published schema."""
    jsonschema.validate(summary, SCHEMA, format_checker=jsonschema.FormatChecker())
    json.dumps(summary, allow_nan=False)


@pytest.mark.parametrize(
    "kind", ["logits", "probabilities", "two decimals", "float32", "infinite", "skewed", "constant"]
)
def test_what_is_drawn_is_exact(way, kind):
    """Every drawn cut has the counts of a plain pass, and there are never more than 2,000."""
    y, p = rows(kind)
    summary = cp.report(y, p, maximize="f1").to_dict()
    check(summary)
    (model,) = summary["models"]
    drawn = model["cuts"]
    assert 2 <= len(drawn["tp"]) <= DRAWN_CUTS
    thresholds = [float(t) for t in drawn["threshold"]]
    assert thresholds == sorted(set(thresholds), reverse=True)
    for i in np.unique(np.linspace(0, len(thresholds) - 1, 60).astype(int)):
        counts = counted(y, p, thresholds[i])
        assert (counts["tp"], counts["fp"]) == (drawn["tp"][i], drawn["fp"][i])
        value = cp.Confusion(**counts).metric("f1")
        assert value == pytest.approx(drawn["value"][i], rel=1e-13)
    assert (0 if summary["data"]["rows"] else 1, drawn["tp"][-1], drawn["fp"][-1]) == (
        0,
        summary["data"]["positives"],
        summary["data"]["negatives"],
    )


@pytest.mark.parametrize("goal", GOALS, ids=str)
@pytest.mark.parametrize("kind", ["probabilities", "two decimals", "float32"])
def test_the_optimum_is_that_of_find(way, goal, kind):
    """Threshold, interval, value, confusion and ties are those of `find`, bit for bit."""
    y, p = rows(kind)
    found = cp.find(y, p, **goal).to_dict()
    (model,) = cp.report(y, p, **goal).to_dict()["models"]
    told = model["solution"]
    for field in ("status", "threshold", "interval", "value", "confusion", "ties", "ties_total", "metrics"):
        assert found[field] == told[field], field
    best = model["operating_points"][0]
    assert (found["threshold"], found["value"]) == (best["threshold"], best["value"])
    assert found["threshold"] == model["cuts"]["threshold"][best["cut"]]
    assert found["threshold"] == best["policy"]["rule"]["threshold"]


@pytest.mark.parametrize("kind", ["probabilities", "two decimals", "logits"])
def test_operating_points_are_exact(way, kind):
    """Each row of the table has the counts of a plain pass; the best ones are those of `find`."""
    y, p = rows(kind, seed=4)
    (model,) = cp.report(y, p, maximize="recall", subject_to="precision >= 0.4").to_dict()["models"]
    points = {point["key"]: point for point in model["operating_points"]}
    for point in points.values():
        counts = counted(y, p, float(point["threshold"]))
        assert counts == point["confusion"]
        assert (cp.Confusion(**counts).metric("precision") >= 0.4) == point["meets_constraints"]
        for name, value in point["metrics"].items():
            assert cp.Confusion(**counts).metric(name) == value
        assert point["threshold"] == model["cuts"]["threshold"][point["cut"]]
    for name in ("f1", "mcc", "youden_j", "accuracy"):
        assert cp.find(y, p, maximize=name).threshold == points[f"best-{name}"]["threshold"]
    assert (kind != "logits") == ("usual" in points)
    assert 0.5 == points.get("usual", {"threshold": 0.5})["threshold"]


def test_neighbours_and_the_hull_are_drawn():
    """The slider reaches the cuts beside the optimum; every vertex of the hull is among the drawn."""
    y, p = rows("probabilities")
    (model,) = cp.report(y, p, maximize="f1").to_dict()["models"]
    drawn = np.array([float(t) for t in model["cuts"]["threshold"]])
    best = model["solution"]["threshold"]
    assert {p[p > best].min(), p[p < best].max()} <= set(drawn)
    assert set(cp.curve(y, p).hull().thresholds) == set(drawn[model["cuts"]["hull"]])
    assert model["cuts"]["hull_exact"]
    assert not model["cuts"]["complete"]


def test_few_rows_are_all_drawn():
    """Up to 2,000 cuts are drawn, all of them."""
    y, p = rows("two decimals")
    (model,) = cp.report(y, p, maximize="f1").to_dict()["models"]
    assert model["cuts"]["complete"]
    assert set(cp.curve(y, p).thresholds) <= {float(t) for t in model["cuts"]["threshold"]}


def test_buckets_take_few_readings(monkeypatch):
    """All searches together ask for rows once: two passes, however many operating points there are."""
    monkeypatch.setattr(cuts_room, "ALL_CUTS_ROWS", 100)
    y, p = rows("probabilities", n=300_000)
    from cutpoints._data.arrays import ArraySource

    source = ArraySource.labelled(y, p)
    cp.report(source, maximize="f1")
    assert source.passes <= 3


def test_the_area_is_exact_or_bounded(way):
    """The area under the ROC curve is that of the curve, or within the error that is stated."""
    y, p = rows("probabilities")
    area = cp.report(y, p, maximize="f1").to_dict()["models"][0]["auc"]
    exact = cp.curve(y, p).auc
    assert (area["error"] > 0) == way
    assert abs(exact - area["value"]) <= area["error"] <= 0.001


def test_histogram_and_reliability(way):
    """Bins hold every row; reliability is that of `calibration`, buckets to within their width."""
    y, p = rows("probabilities")
    (model,) = cp.report(y, p, maximize="f1").to_dict()["models"]
    shape = model["histogram"]
    assert (int(y.sum()), int((1 - y).sum())) == (sum(shape["positives"]), sum(shape["negatives"]))
    wanted = cp.calibration(y, p).curve
    bins = model["reliability"]
    assert len(wanted.count) == len(bins)
    room = 0.002 if way else 1e-12
    assert wanted.predicted == pytest.approx([one["predicted"] for one in bins], abs=room)
    assert wanted.observed == pytest.approx([one["observed"] for one in bins], abs=10 * room)
    if not way:
        assert wanted.count.tolist() == [one["count"] for one in bins]
        assert np.histogram(p, shape["edges"])[0].sum() == sum(shape["positives"]) + sum(shape["negatives"])
    logits = cp.report(y, rows("logits")[1], maximize="f1").to_dict()["models"][0]
    assert logits["reliability"] is None


def test_small_data_are_cross_validated():
    """The value on new data, its bound and the constraints are those of `assess`."""
    y, p = rows("probabilities", n=2000)
    goal = {"maximize": "recall", "subject_to": "precision >= 0.5"}
    judged = cp.assess(y, p, **goal, n_bootstrap=0)
    told = cp.report(y, p, **goal).to_dict()["models"][0]["new_data"]
    assert "cross-validation" == told["method"]
    assert (judged.cross_validated, judged.lower_bound) == (told["value"], told["bound"])
    (constraint,) = told["constraints"]
    assert judged.cross_validation.constraints["precision >= 0.5"] == constraint["expected"]


@pytest.mark.parametrize("goal", [{"maximize": "f1"}, {"minimize": "cost(fp=1, fn=4)"}], ids=str)
def test_large_data_are_resampled(monkeypatch, goal):
    """The bootstrap of bucket counts takes off about what cross-validation takes off, never adds."""
    from cutpoints._report import new_data

    gaps = []
    for seed in range(4):
        y, p = rows("probabilities", n=2000, seed=seed)
        crossed = cp.report(y, p, **goal).to_dict()["models"][0]
        with monkeypatch.context() as patched:
            patched.setattr(new_data, "CROSS_VALIDATED_ROWS", 0)
            told = cp.report(y, p, **goal).to_dict()["models"][0]
        honest, best = told["new_data"], told["solution"]["value"]
        assert "bootstrap of bucket counts" == honest["method"]
        worse = 1 if "maximize" in goal else -1
        assert worse * (best - honest["value"]) > 0
        assert crossed["new_data"]["bound"] == honest["bound"]
        gaps.append([worse * (best - one["new_data"]["value"]) for one in (told, crossed)])
    resampled, crossed = np.mean(gaps, axis=0)
    assert 0.2 * crossed < resampled < 5 * crossed


def test_the_bound_is_that_of_the_band(monkeypatch):
    """With many rows the bound is the DKW band at the threshold: recall less its half-width."""
    from cutpoints._report import new_data

    monkeypatch.setattr(new_data, "CROSS_VALIDATED_ROWS", 0)
    y, p = rows("probabilities")
    model = cp.report(y, p, maximize="recall", subject_to="fpr <= 0.2").to_dict()["models"][0]
    wide = half_width(int(y.sum()), 0.95)
    assert model["solution"]["value"] - wide == pytest.approx(model["new_data"]["bound"], abs=1e-9)
    (fpr,) = model["new_data"]["constraints"]
    assert fpr["expected"] == pytest.approx(fpr["value"], abs=0.01)


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0, 1, 0], [0.1, 0.9, 0.4]),
        ([1, 0], [0.5, 0.5]),
        ([0, 0, 0], [0.1, 0.2, 0.3]),
        ([1] * 5, [0.1, 0.2, 0.3, np.inf, -np.inf]),
        ([1], [0.5]),
        ([0, 1, 1, 0], [1e300, -1e300, 5e-324, 0.0]),
    ],
)
def test_tiny_data_have_a_summary_and_a_page(y, p):
    """A few rows, one class, one score, all sizes of floats: everything is there, or said to be undefined."""
    made = cp.report(y, p, maximize="accuracy")
    check(made.to_dict())
    assert "</html>" in made.html()
    model = made.to_dict()["models"][0]
    if len(set(y)) == 1:
        assert model["auc"]["value"] is None
    assert model["new_data"]["method"] in ("none", "cross-validation")


def test_weights_are_masses():
    """Weighted rows have weighted counts, without intervals, and a cross-validated value still."""
    y, p = rows("probabilities", n=1000)
    w = np.random.default_rng(1).random(1000)
    summary = cp.report(y, p, maximize="f1", sample_weight=w).to_dict()
    check(summary)
    model = summary["models"][0]
    assert cp.find(y, p, maximize="f1", sample_weight=w).confusion.to_dict() == model["solution"]["confusion"]
    assert summary["data"]["weighted"]
    assert model["reliability"][0]["low"] is None
    assert "cross-validation" == model["new_data"]["method"]
    assert math.isclose(sum(model["histogram"]["positives"]), float(w[y == 1].sum()))


def test_counted_rows_have_a_report():
    """Rows that are already counted are a source like any other."""
    data = cp.from_counts([0.2, 0.5, 0.9], positives=[1, 5, 8], negatives=[9, 5, 1])
    summary = cp.report(data, maximize="f1").to_dict()
    check(summary)
    assert 0.5 == summary["models"][0]["solution"]["threshold"]


def test_frames_and_files(tmp_path):
    """A frame or a file with names of columns says what arrays say; several columns are several models."""
    y, p = rows("probabilities", n=500)
    columns = {"y": y, "good one": p, "bad": p[::-1].copy()}
    place = tmp_path / "scores é.parquet"
    pl.DataFrame(columns).write_parquet(place)
    wanted = cp.report(y, {"good one": p, "bad": columns["bad"]}, maximize="f1").to_dict()
    for data in (pd.DataFrame(columns), pl.DataFrame(columns), place, str(place)):
        told = cp.report(data, label="y", score=["good one", "bad"], maximize="f1").to_dict()
        check(told)
        assert "good one" == told["best_model"]
        for mine, theirs in zip(told["models"], wanted["models"], strict=True):
            assert theirs["solution"]["threshold"] == mine["solution"]["threshold"]
            assert theirs["cuts"] == mine["cuts"]
            assert ("y", mine["name"]) == (
                mine["operating_points"][0]["policy"]["label"],
                mine["operating_points"][0]["policy"]["score"],
            )


def test_the_sentence():
    """The decision is a sentence with the rule, what it flags and finds, and its value; then new data."""
    y, p = rows("probabilities", n=2000)
    made = cp.report(y, {"a": p, "b": p[::-1].copy()}, maximize="f1")
    best, judged = cp.find(y, p, maximize="f1"), cp.assess(y, p, maximize="f1", n_bootstrap=0)
    half = cp.curve(y, p).at(0.5).confusion.metric("f1")
    shown = shortest_inside(best.interval.low, best.interval.high)
    flagged, recall = (best.confusion.metric(name) for name in ("predicted_positive_rate", "recall"))
    assert repr(made) == (
        f"Flag a case when a ≥ {shown}: this flags {percent(flagged)} of cases, finds {percent(recall)} of "
        f"positives, and has F1 {best.value:.4g} ({half:.4g} at 0.5). "
        f"Expect F1 of about {judged.cross_validated:.4g} on new data."
    )
    assert len(shown) < 8


NAMES = {"positive_name": "fraud", "case_name": "order", "unit": "EUR", "per_month": 500}
HALF = " when score ≥ 0.4: this flags 50 % of cases"


@pytest.mark.parametrize(
    ("goal", "names", "text"),
    [
        (
            {"maximize": "f1"},
            {},
            f"Flag a case{HALF}, finds 100 % of positives, and has F1 0.8 (0.5 at 0.5).",
        ),
        ({"maximize": "recall"}, {}, f"Flag a case{HALF} and finds 100 % of positives."),
        (
            {"maximize": "precision", "subject_to": "recall >= 0.9"},
            {},
            (
                f"Flag a case{HALF}, finds 100 % of positives, and has precision 66.7 % (50 % at 0.5), "
                "with recall >= 0.9."
            ),
        ),
        (
            {"maximize": "recall", "subject_to": "precision >= 0.6"},
            {"positive_name": "fraud"},
            f"Flag a case{HALF} and finds 100 % of fraud, with precision >= 0.6.",
        ),
        (
            {"minimize": "cost(fp=6, fn=60)"},
            NAMES,
            f"Flag an order{HALF}, finds 100 % of fraud, and costs 90.9 % less than at 0.5.",
        ),
        (
            {"minimize": "cost(fp=1)"},
            NAMES,
            "Flag no order: this flags 0 % of cases, finds 0 % of fraud, and costs 100 % less than at 0.5.",
        ),
        (
            {"maximize": "profit(tp=12, fp=-6)"},
            {"unit": "$"},
            f"Flag a case{HALF}, finds 100 % of positives, and earns 3,000 $ per 1,000 cases.",
        ),
    ],
    ids=str,
)
def test_sentences_use_the_words_of_the_reader(goal, names, text):
    """Names, currency and volume are in the sentence; it compares with 0.5 where that says something."""
    y, p = [0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.45, 0.6, 0.9]
    assert text == cp.report(y, p, **goal, **names).to_dict()["models"][0]["sentence"]


@pytest.mark.parametrize("kind", ["probabilities", "two decimals", "float32", "logits", "infinite", "skewed"])
def test_shown_thresholds_decide_the_same(way, kind):
    """Every threshold on the page, read as it is shown, has the very counts that stand beside it."""
    y, p = rows(kind, n=5000)
    (model,) = cp.report(y, p, maximize="f1").to_dict()["models"]
    cuts = model["cuts"]
    for shown, tp, fp in list(zip(cuts["shown"], cuts["tp"], cuts["fp"], strict=True))[::7]:
        counts = counted(y, p, p.dtype.type(float(shown)))
        assert (tp, fp) == (counts["tp"], counts["fp"]), shown
    best = model["operating_points"][0]
    assert len(cuts["shown"][best["cut"]]) <= len(repr(float(best["threshold"])))


def test_names_are_checked():
    """A name that is no text and a volume that is no number are errors that name the argument."""
    for wrong in (
        {"positive_name": 3},
        {"case_name": ""},
        {"unit": 1.5},
        {"per_month": 0},
        {"per_month": "x"},
    ):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            cp.report([0, 1], [0.1, 0.2], maximize="f1", **wrong)


def test_warnings_are_for_those_whom_they_concern():
    """Constraints that will fail, few positives, inverted scores, a useless accuracy: each in its place."""
    y, p = rows("probabilities", n=2000)

    def warned(p, **goal):
        return cp.report(y, p, **goal).to_dict()["models"][0]["warnings"]

    assert [] == warned(p, maximize="f1") == warned(p, maximize="recall", subject_to="precision >= 0.3")
    (text,) = warned(p, maximize="recall", subject_to="precision >= 0.85")
    assert text.startswith("precision >= 0.85 holds on these rows")
    (text,) = warned(1 - p, maximize="f1")
    assert text.startswith("High scores belong to negatives here")
    (text,) = warned(np.random.default_rng(9).random(2000), maximize="accuracy")
    assert "no threshold is better" in text
    few = np.r_[np.ones(9, int), np.zeros(991, int)]
    told = cp.report(few, np.r_[np.full(9, 0.9), np.full(991, 0.1)], maximize="f1", positive_name="fraud")
    assert ["Only 9 rows of fraud: all numbers here are rough."] == told.to_dict()["models"][0]["warnings"]


def test_segments_are_counted_at_every_cut(way, tmp_path):
    """The counts of the segments add up to those of the cuts; names of columns and files do as arrays do."""
    y, p = rows("two decimals", n=3000)
    country, half = np.where(np.arange(3000) % 3, "DE", "FR"), np.arange(3000) % 2
    summary = cp.report(y, p, maximize="f1", by=country).to_dict()
    check(summary)
    (model,) = summary["models"]
    parts = model["segments"]["segments"]
    assert ["DE", "FR"] == [one["name"] for one in parts]
    for side in ("tp", "fp"):
        assert model["cuts"][side] == np.add(parts[0][side], parts[1][side]).tolist()
    frame = pd.DataFrame({"y": y, "p": p, "country": country, "half": half})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for data in (frame, tmp_path / "rows.csv"):
        told = cp.report(data, label="y", score="p", maximize="f1", by="country").to_dict()
        assert model["segments"] | {"by": ["country"]} == told["models"][0]["segments"]
    pairs = cp.report(frame, label="y", score=["p"], maximize="f1", by=["country", "half"]).to_dict()
    assert "DE · 0" in [one["name"] for one in pairs["models"][0]["segments"]["segments"]]
    with pytest.raises(InvalidParameterError, match="by"):
        cp.report(frame, label="y", score="p", maximize="f1", by=3)


def test_many_segments_are_not_all_shown():
    """The 30 largest segments are shown, and how many there are."""
    y, p = rows("probabilities", n=2000)
    told = cp.report(y, p, maximize="f1", by=np.sqrt(np.arange(2000)).astype(int)).to_dict()["models"][0]
    assert (45, 30) == (told["segments"]["total"], len(told["segments"]["segments"]))
    rows_ = [one["rows"] for one in told["segments"]["segments"]]
    assert sorted(rows_, reverse=True) == rows_


def test_a_winner_only_if_it_is_one():
    """The verdict names the better of two models with an interval, or says that they cannot be told apart."""
    y, p = rows("probabilities", n=2000)
    noise = np.random.default_rng(5).normal(size=2000)
    worse, alike = 1 / (1 + np.exp(-noise)), np.clip(p + 1e-4 * noise, 0, 1)

    def told(models, **more):
        return cp.report(y, models, **{"maximize": "f1", **more}).to_dict()["verdict"]

    assert told({"a": p}) is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of the accuracy
        (test,) = cp.compare(y, {"a": p, "b": worse}, maximize="f1").tests
    low, high = (short(end) for end in test.bootstrap.interval)
    better = f"a is better than b by {short(test.bootstrap.difference)} (95 % interval: {low} to {high})."
    assert better == told({"a": p, "b": worse}) == told({"b": worse, "a": p})
    same = told({"a": p, "b": alike})
    assert same.startswith(("a and b cannot be told apart", "b and a cannot be told apart"))
    money = told({"a": p, "b": worse}, maximize=None, minimize="cost(fp=1, fn=5)", unit="EUR", per_month=100)
    assert re.match(r"a is better than b by \d+\.\d\d EUR a month \(95 % interval: \d", money)
    shares = told({"a": p, "b": worse}, maximize="recall", subject_to="predicted_positive_rate <= 0.2")
    number = r"\d+(\.\d+)?"
    assert re.fullmatch(
        rf"a is better than b by {number} percentage points \(95 % interval: {number} to {number}\)\.", shares
    )
    assert "since the rows have weights" in told({"a": p, "b": worse}, sample_weight=np.full(2000, 0.5))


def test_half_is_named_for_probabilities_only():
    """Scores that are points or logits have no operating point at 0.5, and no word of it."""
    y, p = rows("probabilities", n=500)
    for scores in (1000 * p, rows("logits", n=500)[1]):
        summary = cp.report(y, scores, maximize="f1").to_dict()
        check(summary)
        assert "usual" not in [point["key"] for point in summary["models"][0]["operating_points"]]
        assert "0.5)" not in summary["sentence"]


def test_scores_near_zero_are_binned_in_log_odds(way):
    """If most probabilities would fall into one bin, the bins are equal in log-odds and hold every row."""
    y, p = rows("probabilities")
    small = 1 / (1 + np.exp(6 - 2 * np.log(p / (1 - p))))
    shape = cp.report(y, small, maximize="f1").to_dict()["models"][0]["histogram"]
    assert "log-odds" == shape["scale"]
    assert np.allclose(
        np.diff(np.log(np.divide(shape["edges"], 1 - np.array(shape["edges"]))), 2), 0, atol=1e-9
    )
    assert (int(y.sum()), int((1 - y).sum())) == (sum(shape["positives"]), sum(shape["negatives"]))
    assert "linear" == cp.report(y, p, maximize="f1").to_dict()["models"][0]["histogram"]["scale"]


@pytest.mark.parametrize(
    ("number", "text"), [(0.123456, "0.1235"), (5, "5"), (1234567.0, "1,234,567"), (20000.4, "20,000")]
)
def test_short_numbers(number, text):
    """Numbers in sentences have four digits, or separators."""
    assert text == short(number)


def test_a_linear_goal_fills_in_the_costs():
    """The fields start with the costs of the goal, or with those that a linear goal amounts to."""
    y, p = rows("probabilities", n=300)
    costs = {
        "minimize cost(fp=2, fn=5)": (0, 2, 5, 0, None, True, False),
        "minimize cost_per_row(fp=0.1, fn=3, tp=1, tn=0.05)": (1, 0.1, 3, 0.05, None, True, False),
        "maximize profit(tp=20, fp=-3)": (-20, 3, 0, 0, None, True, True),
        "minimize error_rate": (0, 1, 1, 0, None, False, False),
        "maximize accuracy": (0, 1, 1, 0, None, False, False),
        "maximize f1": (0, 1, 1, 0, None, False, False),
        "maximize cost(fp=2, fn=5)": (0, 1, 1, 0, None, False, False),
    }
    for goal, wanted in costs.items():
        direction, objective = goal.split(" ", 1)
        told = cp.report(y, p, **{direction: objective}).to_dict()["costs"]
        names = ("tp", "fp", "fn", "tn", "review", "goal", "profit")
        assert {"columns": {}, **dict(zip(names, wanted, strict=True))} == told


def test_own_functions_are_goals():
    """A function of the user's own has its value at every cut, by its name."""
    y, p = rows("probabilities", n=300)

    def gain(tp, fp, fn, tn):
        return 3 * tp - fp

    summary = cp.report(y, p, maximize=gain).to_dict()
    check(summary)
    assert "gain" == summary["goal"]["objective"]
    assert cp.find(y, p, maximize=gain).value == summary["models"][0]["solution"]["value"]


def test_a_model_that_cannot_is_named(tmp_path):
    """One infeasible model is told of and left out; if all are, that is an error and no file."""
    y, p = rows("probabilities", n=2000)
    goal = {"maximize": "recall", "subject_to": "precision >= 0.85"}
    summary = cp.report(y, {"good": p, "poor": np.full(2000, 0.5)}, **goal).to_dict()
    check(summary)
    assert ["good"] == [model["name"] for model in summary["models"]]
    assert ["poor"] == [one["name"] for one in summary["infeasible"]]
    page = tmp_path / "none.html"
    with pytest.raises(InfeasibleError, match=r"precision >= 0\.85"):
        cp.report(y, np.full(2000, 0.5), page, **goal)
    assert not page.exists()


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (([0, 1], [0.1, math.nan]), InvalidInputError, "NaN"),
        (([0, 1, 2], [0.1, 0.2, 0.3]), InvalidInputError, "two"),
        (([0, 1], [0.1, 0.2, 0.3]), InvalidInputError, "y_score"),
        (([0, 1], {}), InvalidParameterError, "mapping of different names"),
        (([0, 1], {1: [0.1, 0.2], "1": [0.3, 0.4]}), InvalidParameterError, "mapping of different names"),
        (([0, 1],), InvalidParameterError, "y_score"),
    ],
)
def test_bad_input_is_refused_as_by_find(tmp_path, arguments, error, match):
    """What `find` refuses is refused in the same words, and no page is written."""
    page = tmp_path / "page.html"
    with pytest.raises(error, match=match):
        cp.report(*arguments, path=page, maximize="f1")
    assert not page.exists()


def test_bad_goals_and_titles_are_refused():
    """A slip in the goal or a title that is no text is an error that names it."""
    with pytest.raises(UnknownMetricError, match="f11"):
        cp.report([0, 1], [0.1, 0.2], maximize="f11")
    with pytest.raises(InvalidParameterError, match=r"^maximize must be given"):
        cp.report([0, 1], [0.1, 0.2])
    with pytest.raises(InvalidParameterError, match="title"):
        cp.report([0, 1], [0.1, 0.2], maximize="f1", title=3)


def test_many_models_stay_small():
    """With many models fewer cuts of each are drawn."""
    y, p = rows("probabilities", n=3000)
    rng = np.random.default_rng(0)
    models = {f"model {i}": p + rng.normal(scale=0.05, size=3000) for i in range(40)}
    made = cp.report(y, models, maximize="f1")
    check(made.to_dict())
    assert sum(len(model["cuts"]["tp"]) for model in made.to_dict()["models"]) <= 5 * DRAWN_CUTS
    assert len(made.html().encode()) < 2_500_000
    with pytest.raises(InvalidParameterError, match="40 models at most"):
        cp.report(y, models | {"one more": p}, maximize="f1")


def test_small_weights_are_no_few_rows():
    """Weights that sum up to one are many rows still, and judged as such."""
    y, p = rows("probabilities", n=1000)
    model = cp.report(y, p, maximize="f1", sample_weight=np.full(1000, 0.001)).to_dict()["models"][0]
    assert "cross-validation" == model["new_data"]["method"]
    alone = np.r_[1, np.zeros(99, int)]
    model = cp.report(alone, p[:100], maximize="f1", sample_weight=np.full(100, 5.0)).to_dict()["models"][0]
    assert "none" == model["new_data"]["method"]
    assert model["new_data"]["how"]


def test_the_sentence_is_short_for_huge_scores():
    """1e300 has 301 digits."""
    assert "when score ≥ 4e+299:" in repr(cp.report([0, 1], [1e299, 4e299], maximize="f1"))


@pytest.mark.parametrize(
    ("goal", "start"),
    [
        ({"maximize": "f1"}, "At 0.5, F1 loses "),
        ({"minimize": "cost(fp=1, fn=4)"}, "Using 0.5 loses "),
        ({"minimize": "error_rate"}, r"At 0.5, error rate loses \d+(\.\d+)? percentage points: "),
    ],
)
def test_what_half_loses_is_split(goal, start):
    """The page says what 0.5 loses to the threshold, to calibration and to the ranking, as the curve does."""
    rng = np.random.default_rng(5)
    y = rng.random(500) < 0.3
    p = 1 / (1 + np.exp(1 - rng.normal(size=500) - 2 * y))
    (model,) = cp.report(y, p, **goal).summary["models"]

    expected = cp.curve(y, p).split_loss(**goal).to_dict()
    assert expected | {"sentence": model["loss"]["sentence"]} == model["loss"]
    assert re.match(start, model["loss"]["sentence"])


def test_a_loss_that_is_not_known_is_left_out():
    """Scores that are no probabilities have no 0.5, and where it breaks a constraint it has no value."""
    y, p = [0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.6, 0.9, 0.8, 0.1]
    (margins,) = cp.report(y, [10 * x for x in p], maximize="f1").summary["models"]
    (broken,) = cp.report(y, p, maximize="recall", subject_to="precision >= 0.9").summary["models"]
    (endless,) = cp.report(y, p, maximize="lr_plus").summary["models"]  # of a perfect ranking it is infinite

    assert None is margins["loss"] is broken["loss"] is endless["loss"]

"""The summary behind the page: exact where it says so, and the same as the rest of the library."""

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest

import cutpoints as cp
from cutpoints._assess.bands import half_width
from cutpoints._report import cuts as cuts_room
from cutpoints._report.cuts import DRAWN_CUTS
from cutpoints._report.summary import short
from cutpoints._search import run
from cutpoints.exceptions import InfeasibleError, InvalidInputError, InvalidParameterError, UnknownMetricError
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
        monkeypatch.setattr(run, "DIRECT_ROWS", 100)
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
    assert found["threshold"] == best["policy"]["threshold"]


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
    assert 0.5 == points["usual"]["threshold"]


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
    """Bins hold every row; reliability is that of `reliability_curve`, buckets to within their width."""
    y, p = rows("probabilities")
    (model,) = cp.report(y, p, maximize="f1").to_dict()["models"]
    shape = model["histogram"]
    assert (int(y.sum()), int((1 - y).sum())) == (sum(shape["positives"]), sum(shape["negatives"]))
    wanted = cp.reliability_curve(y, p)
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
    """The honest value, its bound and the constraints are those of `assess`."""
    y, p = rows("probabilities", n=2000)
    goal = {"maximize": "recall", "subject_to": "precision >= 0.5"}
    judged = cp.assess(y, p, **goal, n_bootstrap=0)
    told = cp.report(y, p, **goal).to_dict()["models"][0]["honest"]
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
        honest, best = told["honest"], told["solution"]["value"]
        assert "bootstrap of bucket counts" == honest["method"]
        worse = 1 if "maximize" in goal else -1
        assert worse * (best - honest["value"]) > 0
        assert crossed["honest"]["bound"] == honest["bound"]
        gaps.append([worse * (best - one["honest"]["value"]) for one in (told, crossed)])
    resampled, crossed = np.mean(gaps, axis=0)
    assert 0.2 * crossed < resampled < 5 * crossed


def test_the_bound_is_that_of_the_band(monkeypatch):
    """With many rows the bound is the DKW band at the threshold: recall less its half-width."""
    from cutpoints._report import new_data

    monkeypatch.setattr(new_data, "CROSS_VALIDATED_ROWS", 0)
    y, p = rows("probabilities")
    model = cp.report(y, p, maximize="recall", subject_to="fpr <= 0.2").to_dict()["models"][0]
    wide = half_width(int(y.sum()), 0.95)
    assert model["solution"]["value"] - wide == pytest.approx(model["honest"]["bound"], abs=1e-9)
    (fpr,) = model["honest"]["constraints"]
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
    assert model["honest"]["method"] in ("none", "cross-validation")


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
    assert "cross-validation" == model["honest"]["method"]
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
    """The decision is one sentence with the rule, the value, that at 0.5 and the honest one."""
    y, p = rows("probabilities", n=2000)
    made = cp.report(y, {"a": p, "b": p[::-1].copy()}, maximize="f1")
    best, judged = cp.find(y, p, maximize="f1"), cp.assess(y, p, maximize="f1", n_bootstrap=0)
    half = cp.curve(y, p).at(0.5).confusion.metric("f1")
    assert repr(made) == (
        f"Use a and call a case positive when its score is at least {best.threshold:.4g}: F1 is then "
        f"{best.value:.4g} on these 2,000 rows, {half:.4g} at the usual 0.5, and about "
        f"{judged.cross_validated:.4g} is to be expected on new ones."
    )
    nobody = cp.report([0, 0, 0], [0.1, 0.2, 0.3], maximize="accuracy")
    assert repr(nobody).startswith("Call nobody positive: accuracy is then 1 on these 3 rows")


@pytest.mark.parametrize(
    ("number", "text"), [(0.123456, "0.1235"), (5, "5"), (1234567.0, "1,234,567"), (20000.4, "20,000")]
)
def test_short_numbers(number, text):
    """Numbers in sentences have four digits, or separators."""
    assert text == short(number)


def test_a_linear_goal_fills_in_the_costs():
    """The fields start with the costs of the goal, with 1 and 1 where it has none."""
    y, p = rows("probabilities", n=300)
    costs = {
        "cost(fp=2, fn=5)": {"fp": 2.0, "fn": 5.0},
        "error_rate": {"fp": 1.0, "fn": 1.0},
        "cost(fp=0.1, fn=3, tp=1, tn=0.05)": {"fp": 0.05, "fn": 2.0},
    }
    for goal, wanted in costs.items():
        assert wanted == cp.report(y, p, minimize=goal).to_dict()["costs"]
    assert {"fp": 1.0, "fn": 1.0} == cp.report(y, p, maximize="f1").to_dict()["costs"]


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
    assert len(made.html().encode()) < 6_000_000
    with pytest.raises(InvalidParameterError, match="40 models at most"):
        cp.report(y, models | {"one more": p}, maximize="f1")


def test_small_weights_are_no_few_rows():
    """Weights that sum up to one are many rows still, and judged as such."""
    y, p = rows("probabilities", n=1000)
    model = cp.report(y, p, maximize="f1", sample_weight=np.full(1000, 0.001)).to_dict()["models"][0]
    assert "cross-validation" == model["honest"]["method"]
    alone = np.r_[1, np.zeros(99, int)]
    model = cp.report(alone, p[:100], maximize="f1", sample_weight=np.full(100, 5.0)).to_dict()["models"][0]
    assert "none" == model["honest"]["method"]
    assert model["honest"]["how"]


def test_the_sentence_is_short_for_huge_scores_and_right_for_one_row():
    """1e300 has 301 digits, and one row is not "these 1 rows"."""
    assert "at least 4e+299:" in repr(cp.report([0, 1], [1e299, 4e299], maximize="f1"))
    assert "on this one row" in repr(cp.report([1], [0.5], maximize="f1"))

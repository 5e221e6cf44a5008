"""Reports of goals that add up columns: the money of every drawn cut is that of a plain pass."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import cutpoints as cp
from cutpoints import metrics as m
from report.test_report import check, way  # noqa: F401 - a fixture

COST = "cost(fp=5, fn=amount)"
PROFIT = "profit(tp=50, fp=-5, fn=-amount - 1, tn=0.25*amount)"


@pytest.fixture(scope="module")
def payments():
    """Return payments with amounts in cents, some of them refunds; equal scores and two regions."""
    rng = np.random.default_rng(5)
    y = (rng.random(3000) < 0.2).astype(int)
    p = np.round(1 / (1 + np.exp(1 - rng.normal(size=3000) - 1.5 * y)), 3)
    amount = np.round(rng.lognormal(3, 1, 3000) - 3, 2)
    worse = np.round(p * rng.uniform(0.3, 1, 3000), 3)
    return pd.DataFrame({"y": y, "p": p, "worse": worse, "amount": amount, "area": rng.integers(0, 2, 3000)})


def cells(frame, score, threshold):
    """Add up counts and cents of each cell."""
    called = frame[score] >= threshold
    picked = {
        "tp": called & (frame.y == 1),
        "fp": called & (frame.y == 0),
        "fn": ~called & (frame.y == 1),
        "tn": ~called & (frame.y == 0),
    }
    cents = np.rint(100 * frame.amount).astype(int)
    return {k: (int(rows.sum()), Fraction(int(cents[rows].sum()), 100)) for k, rows in picked.items()}


def profit_of(frame, score, threshold):
    """Return the profit of `PROFIT`, exactly."""
    at = cells(frame, score, threshold)
    return 50 * at["tp"][0] - 5 * at["fp"][0] - at["fn"][1] - at["fn"][0] + at["tn"][1] / 4


@pytest.mark.parametrize("goal", [{"minimize": COST}, {"maximize": PROFIT}])
def test_money_of_every_drawn_cut(way, payments, goal):  # noqa: F811
    """Values and the money of each cell are those of a plain pass, and the best threshold is find's."""
    summary = cp.report(payments, label="y", score="p", **goal, by="area").to_dict()
    check(summary)
    (model,) = summary["models"]
    found = cp.find(payments, label="y", score="p", **goal)
    assert found.threshold == model["solution"]["threshold"]
    assert found.value == model["solution"]["value"] == model["operating_points"][0]["value"]
    for i, threshold in [*enumerate(map(float, model["cuts"]["threshold"]))][::29]:
        at = cells(payments, "p", threshold)
        if "minimize" in goal:
            assert [*model["cuts"]["money"]] == ["fn"]
            assert model["cuts"]["money"]["fn"][i] == pytest.approx(float(at["fn"][1]))
            assert model["cuts"]["value"][i] == pytest.approx(float(5 * at["fp"][0] + at["fn"][1]))
        else:
            assert model["cuts"]["money"]["fn"][i] == pytest.approx(float(at["fn"][1] + at["fn"][0]))
            assert model["cuts"]["money"]["tn"][i] == pytest.approx(float(-at["tn"][1] / 4))
            assert model["cuts"]["value"][i] == pytest.approx(float(profit_of(payments, "p", threshold)))
    for point in model["operating_points"]:
        if "maximize" in goal:
            assert float(profit_of(payments, "p", float(point["threshold"]))) == point["value"]


def test_money_of_segments(payments):
    """A segment has the money of its own rows, and the threshold that find_by gives it."""
    summary = cp.report(payments, label="y", score="p", minimize=COST, by="area").to_dict()
    (model,) = summary["models"]
    own = cp.find_by(payments, label="y", score="p", minimize=COST, by="area")
    for one in model["segments"]["segments"]:
        rows = payments[payments.area == int(one["name"])]
        for i in range(0, len(one["tp"]), 97):
            at = cells(rows, "p", float(model["cuts"]["threshold"][i]))
            assert one["money"]["fn"][i] == pytest.approx(float(at["fn"][1]))
        assert own[int(one["name"])].value == one["value"]


def test_costs_that_can_be_changed_and_those_that_cannot(payments):
    """A cost with a column is null with its text, in the sign of the field; numbers stay numbers."""
    costs = cp.report(payments, label="y", score="p", maximize=PROFIT).to_dict()["costs"]
    assert {"tp": -50.0, "fp": 5.0, "fn": None, "tn": None, "goal": True, "profit": True} == {
        k: costs[k] for k in ("tp", "fp", "fn", "tn", "goal", "profit")
    }
    assert {
        "fn": {"cost": "amount + 1", "shown": "amount + 1"},
        "tn": {"cost": "-0.25*amount", "shown": "0.25*amount"},
    } == costs["columns"]


def test_headline_says_the_money(payments):
    """The sentence has the money in the user's unit, and what to expect is cross-validated."""
    made = cp.report(payments, label="y", score="p", maximize=PROFIT, unit="EUR")
    value = cp.find(payments, label="y", score="p", maximize=PROFIT).value
    assert f"earns {value / 3:,.0f} EUR per 1,000 cases" in repr(made)
    judged = cp.assess(payments, label="y", score="p", maximize=PROFIT, n_bootstrap=0).cross_validated
    assert "cross-validation" == made.to_dict()["models"][0]["new_data"]["method"]
    assert f"Expect to earn about {judged / 3:,.0f} EUR" in repr(made)


def test_constraints_on_columns(payments):
    """Where the goal is a rate and a column is bounded, the drawn cuts say which meet the bound."""
    goal = {"maximize": "recall", "subject_to": "called(amount) <= 5000"}
    summary = cp.report(payments, label="y", score="p", **goal).to_dict()
    check(summary)
    (model,) = summary["models"]
    for threshold, feasible in [*zip(model["cuts"]["threshold"], model["cuts"]["feasible"], strict=True)][
        ::29
    ]:
        at = cells(payments, "p", float(threshold))
        assert feasible == (at["tp"][1] + at["fp"][1] <= 5000)
    assert {} == model["cuts"]["money"]


def test_two_models_are_compared_by_money(payments):
    """The verdict says by how much money per 1,000 cases the better model is better."""
    two = cp.report(payments, label="y", score=["p", "worse"], minimize=COST, unit="EUR").to_dict()
    best = {one: cp.find(payments, label="y", score=one, minimize=COST).value for one in ("p", "worse")}
    gap = (best["worse"] - best["p"]) / 3
    assert f"{gap:,.2f} EUR per 1,000 cases" in two["verdict"]


def test_arrays(payments):
    """Arrays are columns too."""
    goal = {"minimize": m.cost(fp=5, fn=payments.amount)}
    page = cp.report(payments.y, payments.p, **goal)
    named = cp.report(payments, label="y", score="p", minimize=COST)
    assert page.to_dict()["models"][0]["cuts"] == named.to_dict()["models"][0]["cuts"]


def test_rows_out_of_memory(payments, tmp_path):
    """Lazy frames give the same money; only the value on new data is not known."""
    import polars as pl

    lazy = cp.report(pl.from_pandas(payments).lazy(), label="y", score="p", minimize=COST).to_dict()
    check(lazy)
    found = cp.find(payments, label="y", score="p", minimize=COST)
    assert (found.threshold, found.value) == (
        lazy["models"][0]["solution"]["threshold"],
        lazy["models"][0]["solution"]["value"],
    )
    assert "sums of columns cannot be resampled" == lazy["models"][0]["new_data"]["how"]

"""Checks of policies whose goal adds up columns: money now against the money that was expected."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import cutpoints as cp
from cutpoints import metrics as m
from cutpoints.cli import main
from cutpoints.exceptions import InvalidInputError

COST = "cost(fp=5, fn=amount)"


def payments(n, seed, factor=1.0):
    """Draw payments; frauds are worth `factor` as much."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    p = 1 / (1 + np.exp(1.5 - rng.normal(size=n) - 1.5 * y))
    amount = np.round(rng.lognormal(3, 0.7, n) * np.where(y == 1, factor, 1.0), 2)
    return pd.DataFrame({"y": y, "p": p, "amount": amount, "minutes": rng.integers(5, 20, n)})


@pytest.fixture(scope="module")
def policy():
    """Find a policy on 8,000 payments."""
    goal = {"minimize": COST, "subject_to": "called(minutes) <= 90000"}
    return cp.find(payments(8000, 1), label="y", score="p", **goal).policy()


def test_money_now_is_that_of_a_plain_pass(policy):
    """Value, total and the bounded sum are those of a pass over the rows; then is what was found."""
    new = payments(3000, 2)
    found = policy.check(new, label="y")
    called = new.p >= policy.threshold
    total = 5 * (called & (new.y == 0)).sum() + new.amount[~called & (new.y == 1)].sum()
    value = found.labels.value
    assert total == pytest.approx(value.total)
    assert total / 3 == pytest.approx(value.now)
    assert policy.found_on.value / 8 == pytest.approx(value.then)
    assert value.interval.low < value.now < value.interval.high
    best = cp.find(new, label="y", score="p", minimize=COST, subject_to="called(minutes) <= 90000")
    assert best.threshold == value.best_threshold
    (kept,) = found.labels.constraints
    assert (float(new.minutes[called].sum()), "met") == (kept.now, kept.verdict)
    assert ("amount", "minutes") == policy.columns
    assert "amount, minutes" in repr(policy)


def test_dearer_misses_are_an_alarm_and_cheaper_ones_are_not(policy):
    """Twice the amounts are worse, half of them are not, and a handful of rows cannot tell."""
    verdicts = {
        factor: policy.check(payments(6000, 3, factor), label="y").labels.value.verdict
        for factor in (0.5, 1.0, 2.0)
    }
    assert {0.5: "not worse", 1.0: "not worse", 2.0: "worse"} == verdicts
    few = policy.check(payments(150, 3), label="y")
    assert "unsure" == few.labels.value.verdict
    assert few.more_rows > 0


def test_false_alarms_of_money_are_rare():
    """Without a change, money is hardly ever called worse; with 4 times the amounts it nearly always is."""
    alarms = seen = 0
    for seed in range(40):
        then, now = ((2000, 8000), (6000, 1500))[seed % 2]
        found = cp.find(payments(then, seed), label="y", score="p", minimize=COST).policy()
        alarms += found.check(payments(now, 1000 + seed), label="y").labels.value.verdict == "worse"
        seen += found.check(payments(now, 2000 + seed, 4.0), label="y").labels.value.verdict == "worse"
    assert alarms <= 2
    assert seen >= 36


def test_a_missing_column_is_an_error(policy):
    """New data without the amounts cannot be judged by them, and the error names the columns there are."""
    with pytest.raises(InvalidInputError, match="Column not found: 'amount'"):
        policy.check(payments(500, 4).drop(columns="amount"), label="y")
    arrays = payments(3000, 4)
    assert policy.check(arrays.y, arrays.p).labels.value is None


def test_arrays_without_names_are_left_out():
    """A goal on arrays says nothing of columns of a frame: its policy is judged by its counts."""
    rows = payments(2000, 5)
    found = cp.find(rows.y, rows.p, minimize=m.cost(fp=5, fn=rows.amount.to_numpy())).policy()
    assert found.check(rows.y, rows.p).labels.value is None


def test_shell_and_state(policy, tmp_path):
    """The command shows the money, with a state it says that money has no test that may be repeated."""
    policy.save(tmp_path / "policy.json")
    payments(6000, 6, 3.0).to_csv(tmp_path / "new.csv", index=False)
    call = ["check", str(tmp_path / "policy.json"), str(tmp_path / "new.csv"), "--label", "y"]
    result = CliRunner().invoke(main, call)
    assert 4 == result.exit_code
    assert "cost(fp=5, fn=amount) per 1,000 rows" in result.output
    again = CliRunner().invoke(main, [*call, "--state", str(tmp_path / "state.json")])
    assert "There is no test of called(minutes) <= 90000, cost(fp=5, fn=amount)" in again.output.replace(
        "\n", " "
    )

"""Bands whose costs differ from row to row, against all pairs of cuts in fractions."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import cutpoints as cp
from cutpoints import metrics as m
from cutpoints.cli import main
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

CELLS = ("tp", "fp", "fn", "tn")
cents = st.integers(-500, 2000).map(lambda x: x / 100)
row = st.tuples(st.integers(0, 5), st.integers(0, 1), cents, st.integers(0, 9), st.integers(1, 3))
weights = st.fixed_dictionaries({cell: st.tuples(st.integers(-3, 9), st.integers(-2, 2)) for cell in CELLS})


def exact(x):
    """Read a float as the decimal that it is."""
    return Fraction(str(x))


def all_pairs(rows, *, worth, review, reviewer, most):
    """Yield value, reviews, called and the two thresholds of each pair of cuts that keeps the bounds."""
    cuts = [float("inf"), *sorted({score for score, *_ in rows}, reverse=True)]
    sensitivity, specificity = map(exact, reviewer)
    for i, high in enumerate(cuts):
        for low in cuts[i:]:
            value = reviews = minutes = called = flagged = Fraction(0)
            for score, y, amount, time, weight in rows:
                each = {cell: a + b * exact(amount) for cell, (a, b) in worth.items()}
                yes, no = (each["tp"], each["fn"]) if y else (each["fp"], each["tn"])
                right = sensitivity if y else 1 - specificity  # how often reviewers say yes
                if score >= high:
                    value, called = value + weight * yes, called + weight
                    flagged += weight * time
                elif score < low:
                    value += weight * no
                else:
                    value += weight * (review[0] + review[1] * time + right * yes + (1 - right) * no)
                    reviews, minutes = reviews + weight, minutes + weight * time
            if minutes <= most[0] and flagged <= most[1]:
                yield value, reviews, called, -high, -low


@given(
    rows=st.lists(row, min_size=1, max_size=9),
    worth=weights,
    review=st.tuples(st.integers(0, 3), st.integers(0, 2)),
    reviewer=st.sampled_from([(1, 1), (0.75, 0.5)]),
    capacity=st.sampled_from([0, 5, 12, 1000]),
    alarms=st.sampled_from([0, 7, 1000]),
    weighted=st.booleans(),
    profit=st.booleans(),
)
def test_the_best_band_of_all_pairs(rows, worth, review, reviewer, **asked):
    """Value, reviews and thresholds are those of brute force: any signs, ties, weights, several columns."""
    most = asked["capacity"], asked["alarms"]
    weighted, profit = asked["weighted"], asked["profit"]
    if not weighted:
        rows = [(*one[:4], 1) for one in rows]
    frame = pd.DataFrame(rows, columns=["score", "y", "amount", "minutes", "w"]).astype({"score": float})
    amount, minutes = m.column("amount"), m.column("minutes")
    sign = -1 if profit else 1
    own = {cell: sign * (a + b * amount) for cell, (a, b) in worth.items()}
    own["review"] = sign * (review[0] + review[1] * minutes)
    family = m.profit if profit else m.cost
    goal = {"maximize" if profit else "minimize": family(**own)}
    found = cp.find_band(
        frame, label="y", score="score", weight="w" if weighted else None, **goal, reviewer=reviewer,
        capacity={"minutes": most[0]}, subject_to=m.called(minutes) <= most[1],
    )  # fmt: skip
    best = min(all_pairs(rows, worth=worth, review=review, reviewer=reviewer, most=most))
    assert float(sign * best[0]) == found.value
    assert (float(best[1]), float(best[2])) == (found.reviewed, found.confusion.tp + found.confusion.fp)
    if best[1]:
        assert (-best[3], -best[4]) == (found.high, found.low)


def test_constant_columns_are_the_plain_band():
    """A column of one value is a number: the same band, bit for bit."""
    rng = np.random.default_rng(3)
    y = (rng.random(3000) < 0.3).astype(int)
    p = np.round(rng.normal(size=3000) + y, 2)
    plain = cp.find_band(y, p, minimize="cost(fp=5, fn=20, review=1)", capacity=400)
    by_row = cp.find_band(y, p, minimize=m.cost(fp=5, fn=np.full(3000, 20), review=1), capacity=400)
    for name in ("low", "high", "value", "reviewed", "confusion"):
        assert getattr(plain, name) == getattr(by_row, name)
    assert plain.single.value == by_row.single.value


def test_lazy_frames_and_the_shell(tmp_path):
    """Lazy frames and files give the band of the frame, and the command takes minutes=400."""
    rng = np.random.default_rng(4)
    y = (rng.random(2000) < 0.3).astype(int)
    frame = pd.DataFrame({"y": y, "p": np.round(rng.normal(size=2000) + y, 2)})
    frame["amount"], frame["minutes"] = np.round(rng.lognormal(2, 1, 2000), 2), rng.integers(1, 9, 2000)
    goal = {"minimize": "cost(fp=5, fn=amount, review=0.5*minutes)", "capacity": {"minutes": 400}}
    found = cp.find_band(frame, label="y", score="p", **goal)
    lazy = cp.find_band(pl.from_pandas(frame).lazy(), label="y", score="p", **goal)
    assert (found.low, found.high, found.value) == (lazy.low, lazy.high, lazy.value)
    assert found.cross_validated.value >= found.value
    found.policy().save(tmp_path / "policy.json")
    loaded = cp.Policy.load(tmp_path / "policy.json")
    assert found.decide(frame.p.to_numpy()).tolist() == loaded.decide(frame.p.to_numpy()).tolist()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    call = [
        "band",
        str(tmp_path / "rows.csv"),
        "--label",
        "y",
        "--score",
        "p",
        "--minimize",
        goal["minimize"],
    ]
    result = CliRunner().invoke(main, [*call, "--capacity", "minutes=400"])
    assert 0 == result.exit_code, result.output
    assert "reviewed minutes <= 400" in " ".join(result.output.split())
    wrong = CliRunner().invoke(main, [*call, "--capacity", "minutes"])
    assert 2 == wrong.exit_code
    assert "minutes=2400" in wrong.output


def test_what_cannot_be_asked():
    """Unknown and negative columns, free reviews and guarantees are errors that say so."""
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.2, 0.6, 0.9], "a": [1.0, -2.0, 3.0, 4.0]})
    band = {"label": "y", "score": "p", "minimize": "cost(fp=5, fn=a, review=1)"}
    with pytest.raises(InvalidInputError, match="Column not found: 'b'"):
        cp.find_band(frame, **band, capacity={"b": 3})
    with pytest.raises(InvalidParameterError, match="numbers >= 0 where a is bounded"):
        cp.find_band(frame, **band, capacity={"a": 3})
    with pytest.raises(InvalidParameterError, match="left out where columns are added up"):
        cp.find_band(frame, **band, subject_to="precision >= 0.5", guarantee=0.9)
    with pytest.raises(InvalidParameterError, match="where a review costs nothing"):
        cp.find_band(frame, label="y", score="p", minimize="cost(fp=5, fn=a)")
    with pytest.raises(InvalidParameterError, match="in numbers"):
        cp.bayes_band("cost(fp=5, fn=a, review=1)")

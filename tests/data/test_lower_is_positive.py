"""Scores where low means positive, and scores that look upside down."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

import cutpoints as cp
from cutpoints.exceptions import DataWarning, InvalidParameterError
from strategies import problems

RNG = np.random.default_rng(0)
Y = (RNG.random(3000) < 0.2).astype(int)
LOW = -RNG.normal(1.5 * Y, 1).round(3)  # low scores mean positive


def same(one, other):
    """Whether two solutions decide alike, thresholds and ties included."""
    return (one.threshold, one.interval, one.confusion, [*one.ties]) == (
        other.threshold,
        other.interval,
        other.confusion,
        [*other.ties],
    )


@given(problems("unweighted"))
def test_low_means_positive_is_the_search_on_negated_scores(problem):
    """The answer is that for scores with the opposite sign, ties and all."""
    y, scores = problem.labels, np.asarray(problem.scores, dtype=np.float64)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = cp.find(y, scores, maximize="accuracy", lower_is_positive=True)
        assert same(cp.find(y, 0 - scores, maximize="accuracy"), found)


@pytest.mark.parametrize("method", ["sweep", "narrow"])
@pytest.mark.parametrize("kind", ["arrays", "float32", "integers", "pandas", "lazy", "file", "read"])
def test_every_way_in_gives_the_same_threshold(tmp_path, kind, method):
    """Arrays, frames, lazy frames and files agree on negated scores."""
    frame = pd.DataFrame({"y": Y, "p": LOW})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    columns = {"label": "y", "score": "p", "lower_is_positive": True}
    ways = {
        "arrays": lambda: cp.find(Y, LOW, maximize="f1", method=method, lower_is_positive=True),
        "float32": lambda: cp.find(
            Y, (LOW * 1000).astype(np.float32), maximize="f1", method=method, lower_is_positive=True
        ),
        "integers": lambda: cp.find(
            Y, (LOW * 1000 + 10_000).round().astype(np.uint16), maximize="f1", lower_is_positive=True
        ),
        "pandas": lambda: cp.find(frame, maximize="f1", method=method, **columns),
        "lazy": lambda: cp.find(pl.from_pandas(frame).lazy(), maximize="f1", method=method, **columns),
        "file": lambda: cp.find(tmp_path / "scores.csv", maximize="f1", method=method, **columns),
        "read": lambda: cp.find(cp.read(tmp_path / "scores.csv", **columns), maximize="f1", method=method),
    }

    assert cp.find(Y, -LOW, maximize="f1").confusion == ways[kind]().confusion


def test_decisions_are_about_the_scores_as_they_are():
    """`decide` takes the scores that `find` was given, and gives the confusion that it reported."""
    found = cp.find(Y, LOW, maximize="f1", lower_is_positive=True)
    called = found.decide(LOW)
    rule = float(found.rule.rpartition("<= ")[2])

    assert found.confusion.tp == int((called * Y).sum())
    assert found.confusion.fp == int((called * (1 - Y)).sum())
    assert ((rule >= LOW) == called).all()
    assert found.to_dict()["lower_is_positive"]


@pytest.mark.parametrize("method", ["sweep", "narrow"])
def test_columns_of_costs_are_turned_along(method):
    """A cost that differs from row to row is added up to the same total, lazily too."""
    frame = pl.DataFrame({"y": Y, "p": LOW, "q": -LOW, "amount": np.abs(LOW).round(1) + 1})
    goal = {"minimize": "cost(fp=1, fn=amount)", "label": "y", "method": method}
    expected = cp.find(frame, score="q", **goal)
    for rows in (frame, frame.lazy()):
        found = cp.find(rows, score="p", lower_is_positive=True, **goal)

        assert (expected.threshold, expected.value) == (found.threshold, found.value)


def test_segments_may_be_low_too():
    """One threshold per segment, each on negated scores."""
    by = np.where(np.arange(len(Y)) % 2, "a", "b")
    expected = cp.find_by(Y, -LOW, by=by, maximize="f1")
    found = cp.find_by(Y, LOW, by=by, maximize="f1", lower_is_positive=True)

    assert [expected[key].threshold for key in "ab"] == [found[key].threshold for key in "ab"]


def test_what_a_policy_cannot_say_is_refused():
    """A policy and a page are about scores where high means positive."""
    found = cp.find(Y, LOW, maximize="f1", lower_is_positive=True)

    with pytest.raises(InvalidParameterError, match=r"about -score(?s:.*)Hint: make a column"):
        found.policy()
    segments = cp.find_by(Y, LOW, by=Y * 0, maximize="f1", lower_is_positive=True)
    with pytest.raises(InvalidParameterError, match="about -score"):
        segments.policy()
    data = cp.read(pd.DataFrame({"y": Y, "p": LOW}), label="y", score="p", lower_is_positive=True)
    for function, goal in (
        (cp.report, {"maximize": "f1"}),
        (cp.find_band, {"minimize": "cost(fp=1, fn=2, review=0.1)"}),
        (cp.calibration, {}),
    ):
        with pytest.raises(InvalidParameterError, match="column of the negated scores"):
            function(data, **goal)
    with pytest.raises(InvalidParameterError, match="True or False, got 'yes'"):
        cp.find(Y, LOW, maximize="f1", lower_is_positive="yes")


@pytest.mark.parametrize("method", ["sweep", "narrow"])
def test_scores_that_are_upside_down_are_told(method):
    """An AUC clearly below 0.5 is a warning that names the way out."""
    with pytest.warns(DataWarning, match=r"AUC is 0\.1\d.*\n*.*lower_is_positive=True"):
        cp.find(Y, LOW, maximize="f1", method=method)
    with pytest.warns(DataWarning, match="clearly below"):
        cp.curve(Y, LOW)
    with pytest.warns(DataWarning, match="of model 'low'"):
        cp.compare(Y, {"high": -LOW, "low": LOW}, maximize="f1", n_bootstrap=0)


def test_chance_is_no_reason_to_warn():
    """Scores that say nothing, or say little about few rows, are not upside down."""
    rng = np.random.default_rng(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(50):
            cp.find((rng.random(200) < 0.3).astype(int), rng.random(200), maximize="f1")
        cp.find([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4], maximize="f1")


def test_the_shell_says_it_in_its_own_words(tmp_path):
    """The warning names the option, once, and the option silences it."""
    from click.testing import CliRunner

    from cutpoints.cli import main

    path = tmp_path / "scores.csv"
    pd.DataFrame({"y": Y, "p": LOW}).to_csv(path, index=False)
    data = [str(path), "--label", "y", "--score", "p", "--maximize", "f1"]
    warned = CliRunner().invoke(main, ["find", *data])
    turned = CliRunner().invoke(main, ["find", *data, "--lower-is-positive"])
    as_json = CliRunner().invoke(main, ["find", *data, "--lower-is-positive", "--json"])
    policy = CliRunner().invoke(main, ["find", *data, "--lower-is-positive", "--policy", str(tmp_path / "p")])

    assert 1 == warned.stderr.count("Warning: Positives score lower")
    assert "pass --lower-is-positive" in warned.stderr
    assert "" == turned.stderr
    assert "positive if -score >= threshold, that is score <= " in turned.stdout
    assert json.loads(as_json.stdout)["lower_is_positive"]
    report = CliRunner().invoke(main, ["report", *data, "--json"])
    assert "Warning: p: High scores belong to negatives" in report.stderr
    assert 2 == policy.exit_code
    assert "cannot be combined with --policy" in policy.stderr
    assert "Hint: negate the scores, as in --sql" in policy.stderr
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("command", ["find", "compare", "report"])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only_is_an_error_in_the_shell(tmp_path, command, label):
    """With nothing to tell apart there is nothing to find: exit 1, and what to check."""
    from click.testing import CliRunner

    from cutpoints.cli import main

    path = tmp_path / "scores.csv"
    path.write_text("y,p,q\n" + f"{label},0.3,0.1\n{label},0.4,0.2\n" * 5, encoding="utf-8")
    more = ["--score", "q"] if command == "compare" else []
    more += ["-o", str(tmp_path / "x.html")] if command == "report" else []
    args = [command, str(path), "--label", "y", "--score", "p", "--maximize", "accuracy", *more]
    result = CliRunner().invoke(main, args)

    assert 1 == result.exit_code
    assert f"There are no {'negative' if label else 'positive'} rows" in result.stderr
    assert "--pos-label" in result.stderr
    assert "Warning" not in result.stderr
    assert not (tmp_path / "x.html").exists()

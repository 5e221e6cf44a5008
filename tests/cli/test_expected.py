"""`cutpoints expected` and `cutpoints calibration`: what they print, in words and as JSON."""

import json

import numpy as np
import pytest

import cutpoints as cp


@pytest.fixture
def table(tmp_path):
    """Labels that follow p, p, and weights, in a file; the last two as arrays too."""
    rng = np.random.default_rng(0)
    p, w = rng.beta(1, 3, 300), rng.integers(1, 4, 300)
    y = (rng.random(300) < p).astype(int)
    path = tmp_path / "p.csv"
    lines = [f"{a},{b!r},{c}" for a, b, c in zip(y.tolist(), p.tolist(), w.tolist(), strict=True)]
    path.write_text("y,p,w\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path), p, w


def test_json_is_that_of_the_library(run, table):
    """--json prints the solution's own dictionary."""
    path, p, w = table
    result = run("expected", path, "--score", "p", "--weight", "w", "--maximize", "f1", "--json")
    assert 0 == result.exit_code
    assert cp.find_expected(p, sample_weight=w, maximize="f1").to_dict() == json.loads(result.stdout)


def test_text(run, table):
    """The text says that the value is of expected counts, and the theory's threshold."""
    result = run("expected", table[0], "--score", "p", "--maximize", "f1", env={"COLUMNS": "200"})
    assert 0 == result.exit_code
    assert "not E[f1]: the mean of a quotient is not the quotient of the means" in result.stdout
    assert "lambda / 2" in result.stdout


def test_constraints_and_infeasible(run, table):
    """Constraints work, and what cannot be met exits with 3."""
    options = ("expected", table[0], "--score", "p", "--maximize", "recall", "--subject-to")
    assert 0 == run(*options, "precision >= 0.5").exit_code
    result = run(*options, "precision >= 0.9999")
    assert 3 == result.exit_code
    assert "The best possible" in result.stderr


def test_new_prevalence(run, table):
    """The threshold is for adjusted probabilities, and told for the given ones."""
    path, p, _ = table
    options = ("--train-prevalence", "0.25", "--new-prevalence", "0.1", "--json")
    shown = json.loads(run("expected", path, "--score", "p", "--maximize", "f1", *options).stdout)
    adjusted = cp.adjust_prior(p, train_prevalence=0.25, new_prevalence=0.1)
    solution = cp.find_expected(adjusted, maximize="f1")
    assert solution.threshold == shown["threshold"]
    assert p[adjusted >= solution.threshold].min() == shown["prior"]["unadjusted_threshold"]
    assert 0.1 == shown["prior"]["new_prevalence"]


def test_estimated_prevalence(run, table):
    """'estimate' estimates the prevalence from the rows."""
    path, p, _ = table
    options = ("--train-prevalence", "0.25", "--new-prevalence", "estimate")
    found = cp.estimate_prevalence(p, train_prevalence=0.25)
    result = run("expected", path, "--score", "p", "--maximize", "f1", *options)
    assert 0 == result.exit_code
    assert f"0.25 -> {found.prevalence:.6g}, estimated" in result.stdout


def test_exact_expectation(run, table):
    """--exact-expectation maximises E[f1]."""
    path, p, _ = table
    result = run("expected", path, "--score", "p", "--maximize", "f1", "--exact-expectation", "--json")
    exact = cp.find_expected(p, maximize="f1", exact_expectation=True)
    assert exact.to_dict() == json.loads(result.stdout)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--score", "p"), 2, "--maximize"),
        (("--score", "p", "--maximize", "f1", "--minimize", "f1"), 2, "cannot both"),
        (("--score", "p", "--maximize", "f1", "--new-prevalence", "0.1"), 2, "together"),
        (
            ("--score", "p", "--maximize", "f1", "--train-prevalence", "0.5", "--new-prevalence", "x"),
            2,
            "neither",
        ),
        (
            ("--score", "p", "--maximize", "f1", "--train-prevalence", "2", "--new-prevalence", "0.1"),
            1,
            "strictly",
        ),
        (("--score", "w", "--maximize", "f1"), 1, "between 0 and 1"),
        (("--score", "q", "--maximize", "f1"), 1, "Column not found: 'q'"),
        (("--score", "p", "--maximize", "f7"), 1, "Unknown metric: 'f7'"),
    ],
)
def test_bad_options(run, table, options, code, message):
    """Bad options exit with 2, bad data with 1, without a traceback."""
    result = run("expected", table[0], *options)
    assert code == result.exit_code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_calibration_json(run, table):
    """--json prints the library's numbers and the check of the threshold."""
    path, p, _ = table
    y = np.loadtxt(path, delimiter=",", skiprows=1)[:, 0].astype(int)
    result = run("calibration", path, "--label", "y", "--score", "p", "--strategy", "quantile", "--json")
    shown = json.loads(result.stdout)
    assert cp.find(y, p, maximize="f1").theory.to_dict() == shown.pop("theory")
    assert cp.calibration(y, p, strategy="quantile").to_dict() == shown


def test_calibration_text(run, table):
    """The text has the verdict, the bins of the ECE and the check in words."""
    result = run("calibration", table[0], "--label", "y", "--score", "p", env={"COLUMNS": "200"})
    assert 0 == result.exit_code
    for part in (
        "in 10 uniform bins",
        "No test rejects calibration",
        "The best threshold for f1 is",
        "observed",
    ):
        assert part in result.stdout


def test_calibration_of_scores(run, table):
    """Scores that are no probabilities exit with 1 and a hint."""
    result = run("calibration", table[0], "--label", "y", "--score", "w")
    assert 1 == result.exit_code
    assert "Hint:" in result.stderr

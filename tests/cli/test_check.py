"""`cutpoints check`: a sentence first, then numbers; an exit code for schedulers."""

import json

import numpy as np
import pytest

import cutpoints as cp


def scores(n, seed, shift=0.0, prevalence=0.3):
    """Labels and probabilities of a population."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(int)
    return y, 1 / (1 + np.exp(1 - shift - rng.normal(size=n) - 1.5 * y))


@pytest.fixture
def policy(tmp_path):
    """A policy with a constraint, found on 4,000 rows."""
    y, p = scores(4000, 0)
    found = cp.find(y, p, maximize="recall", subject_to="precision >= 0.6")
    found.policy("churn", score="p", label="y").save(tmp_path / "policy.json")
    return str(tmp_path / "policy.json")


@pytest.fixture
def rows(tmp_path):
    """Write rows of a population to a file."""

    def write(**options):
        y, p = scores(3000, 1, **options)
        path = tmp_path / "new.csv"
        lines = [f"{a},{b!r}" for a, b in zip(y.tolist(), p.tolist(), strict=True)]
        path.write_text("\n".join(["y,p", *lines]) + "\n", encoding="utf-8")
        return str(path)

    return write


def test_all_is_well(run, policy, rows):
    """Rows of the same kind: a sentence that says so, and 0."""
    result = run("check", policy, rows(prevalence=0.35), "--label", "y")

    assert 0 == result.exit_code, result.output
    assert result.stdout.startswith("Fine: the scores have ")
    assert "no constraint is broken" in " ".join(result.stdout.split())
    assert "called positive" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_scores_have_moved(run, policy, rows):
    """Without labels, a shift is an alarm and 4."""
    result = run("check", policy, rows(shift=1.5))

    assert 4 == result.exit_code
    assert result.stdout.startswith("Attention: the scores have moved (PSI ")
    assert "no labels" in result.stdout
    assert "" == result.stderr


def test_a_constraint_is_broken(run, policy, rows):
    """With labels, a constraint that surely fails is an alarm and 4; the best threshold is told."""
    path = rows(prevalence=0.1)
    result = run("check", policy, path, "--label", "y")
    told = json.loads(run("check", policy, path, "--label", "y", "--json").stdout)

    assert 4 == result.exit_code
    assert "precision >= 0.6 is broken" in " ".join(result.stdout.split())
    assert "broken" == told["labels"]["constraints"][0]["verdict"]
    best = cp.find(path, label="y", score="p", maximize="recall", subject_to="precision >= 0.6")
    assert best.threshold == told["labels"]["best_threshold"]
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_json_is_what_the_library_says(run, policy, rows):
    """One object and nothing else, with 4 if it says so."""
    path = rows(shift=1.5)
    result = run("check", policy, path, "--label", "y", "--json")

    assert 4 == result.exit_code
    assert cp.Policy.load(policy).check(path, label="y").to_dict() == json.loads(result.stdout)


def test_the_limits_are_options(run, policy, rows):
    """What counts as a change is the user's to say."""
    path = rows(shift=0.9)

    assert 4 == run("check", policy, path).exit_code
    assert 0 == run("check", policy, path, "--psi", "5").exit_code
    assert 0 == run("check", policy, path, "--alpha", "1e-300").exit_code


def test_a_policy_by_hand(run, rows, tmp_path):
    """Where nothing is known of the past, that is said."""
    path = tmp_path / "bare.json"
    cp.Policy(0.5).save(path)
    result = run("check", str(path), rows(), "--score", "p", "--label", "y")

    assert 0 == result.exit_code
    assert "does not say how its scores were spread" in result.stdout
    assert "no goal that can be searched again" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    "slip",
    [
        (["--label", "z"], 1, "The column 'z' must be in"),
        (["--score", "z"], 1, "The column 'z' must be in"),
        (["--psi", "0"], 1, "--psi must be a positive number"),
        (["--alpha", "2"], 1, "--alpha must be a number between 0 and 1"),
        (["--psi", "much"], 2, "not a valid float"),
        (["--pos-label", "1"], 2, "--pos-label needs --label"),
        (["--label", "y", "--pos-label", "maybe"], 1, "--pos-label must be one of the labels"),
    ],
)
def test_options_that_cannot_be_meant(run, policy, rows, slip):
    """Each slip has its message and its exit code."""
    options, code, message = slip
    result = run("check", policy, rows(), *options)

    assert code == result.exit_code
    assert message in result.stderr
    assert "" == result.stdout


def test_missing_scores_stop_the_check(run, policy, tmp_path):
    """A scheduler is told by 1, which is not 4, that the rows could not be checked."""
    path = tmp_path / "m.csv"
    path.write_text("p,a\n0.5,1\n,2\n", encoding="utf-8")
    result = run("check", policy, str(path))

    assert 1 == result.exit_code
    assert "1 of 2 values is missing" in result.stderr

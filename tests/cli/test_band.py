"""`cutpoints band`: what it prints, in words and as JSON."""

import json

import numpy as np
import pytest

import cutpoints as cp


@pytest.fixture
def table(tmp_path):
    """Labels that follow p, and p, in a file and as arrays."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, 300)
    y = (rng.random(300) < p).astype(int)
    path = tmp_path / "p.csv"
    path.write_text("y,p\n" + "".join(f"{a},{b!r}\n" for a, b in zip(y.tolist(), p.tolist(), strict=True)))
    return str(path), y, p


COST = "cost(fp=5, fn=20, review=1)"


def test_json_is_that_of_the_library(run, table):
    """--json prints the band's own dictionary."""
    path, y, p = table
    options = ("--label", "y", "--score", "p", "--minimize", COST, "--capacity", "50")
    result = run("band", path, *options, "--reviewer", "0.9", "0.95", "--json")
    assert 0 == result.exit_code
    expected = cp.find_band(y, p, minimize=COST, capacity=50, reviewer=(0.9, 0.95))
    assert expected.to_dict() == json.loads(result.stdout)


def test_text(run, table):
    """The text has both ends, the value on new data and the best single threshold."""
    path, y, p = table
    result = run("band", path, "--label", "y", "--score", "p", "--minimize", COST, env={"COLUMNS": "200"})
    expected = cp.find_band(y, p, minimize=COST)
    for text in (
        f"score >= {expected.high_interval.shortest}",
        "cross-validated",
        "one threshold",
        "rows in between",
    ):
        assert text in result.stdout


def test_exit_codes(run, table):
    """Infeasible is 3, a goal that makes no sense is 1, a missing option is 2."""
    columns = ("--label", "y", "--score", "p")
    covered = ("--maximize", "coverage", "--subject-to", "accuracy >= 0.99", "--capacity", "1")
    assert 3 == run("band", table[0], *columns, *covered).exit_code
    negative = run("band", table[0], *columns, "--minimize", COST, "--capacity", "-1")
    assert 1 == negative.exit_code
    assert "--capacity must be a number of rows" in negative.stderr
    assert 2 == run("band", table[0], *columns).exit_code


def test_policy_and_plot(run, table, tmp_path):
    """--policy writes a policy that decides as the band, --plot a picture."""
    path, y, p = table
    made, drawn = tmp_path / "band.json", tmp_path / "band.png"
    files = ("--policy", str(made), "--plot", str(drawn))
    result = run("band", path, "--label", "y", "--score", "p", "--minimize", COST, *files)
    assert 0 == result.exit_code
    assert cp.find_band(y, p, minimize=COST).decide(p).tolist() == cp.Policy.load(made).decide(p).tolist()
    assert b"\x89PNG" == drawn.read_bytes()[:4]

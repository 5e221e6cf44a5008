"""`cutpoints check`: a sentence first, then numbers; an exit code for schedulers."""

import json
import shlex

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
    found.policy("churn", description="Monthly", score="p", label="y").save(tmp_path / "policy.json")
    return str(tmp_path / "policy.json")


@pytest.fixture
def rows(tmp_path):
    """Write rows of a population to a file."""

    def write(n=3000, **options):
        y, p = scores(n, 1, **options)
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
    assert best.threshold == told["labels"]["value"]["best_threshold"]
    assert max(map(len, result.stdout.splitlines()[:-1])) <= 80  # the last one is a command to copy


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
    assert 5 == run("check", policy, path, "--alpha", "1e-300").exit_code  # no rows are enough for that


def test_a_policy_by_hand(run, rows, tmp_path):
    """Where nothing is known of the past, that is said."""
    path = tmp_path / "bare.json"
    cp.Policy(0.5).save(path)
    result = run("check", str(path), rows(), "--score", "p", "--label", "y")

    assert 0 == result.exit_code
    assert "does not say how its scores were distributed" in result.stdout
    assert "the goal of the policy cannot be searched again" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    "slip",
    [
        (["--label", "z"], 1, "Column not found: 'z'"),
        (["--score", "z"], 1, "Column not found: 'z'"),
        (["--psi", "0"], 1, "--psi must be a positive number"),
        (["--alpha", "2"], 1, "--alpha must be a number between 0 and 1"),
        (["--psi", "much"], 2, "'much' is not a number."),
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


def test_too_few_rows_have_an_exit_code(run, policy, tmp_path):
    """Rows that cannot tell end in 5, with how many more it takes and what to do."""
    y, p = scores(12, 3)
    path = tmp_path / "few.csv"
    path.write_text("y,p\n" + "".join(f"{a},{b!r}\n" for a, b in zip(y.tolist(), p.tolist(), strict=True)))
    result = run("check", policy, str(path), "--label", "y")

    assert 5 == result.exit_code
    assert result.stdout.startswith("Cannot tell: 12 rows are too few to say")
    assert "Next: Check again with about " in result.stdout


def test_few_rows_with_a_state_are_no_alarm_and_not_fine(run, policy, rows, tmp_path):
    """Evidence adds up from check to check: that of a few rows says nothing yet, and is not praised."""
    path = rows(prevalence=0.35, n=12)
    result = run("check", policy, path, "--label", "y", "--state", str(tmp_path / "state.json"))

    assert 0 == result.exit_code
    assert result.stdout.startswith("No alarm: 1 check of 12 rows refutes no claim of the policy yet.\n")


def test_costs_are_said_by_their_direction(run, rows, tmp_path):
    """A cost is worse or not worse, never fallen; both values are per 1,000 rows, and the total is named."""
    y, p = scores(4000, 0)
    path = tmp_path / "cost.json"
    cp.find(y, p, minimize="cost(fp=1, fn=5)").policy("c", score="p", label="y").save(path)
    shown = " ".join(run("check", str(path), rows(), "--label", "y").stdout.split())

    assert "cost(fp=1, fn=5) is not worse by more than" in shown
    assert "fallen" not in shown
    assert "per 1,000 rows" in shown
    assert "cost(fp=1, fn=5) of these rows" in shown


def test_state_is_carried_from_run_to_run(run, policy, rows, tmp_path):
    """Each run adds its rows once; the table names the claims and the limit."""
    state = str(tmp_path / "state.json")
    path = rows()
    first = run("check", policy, path, "--label", "y", "--state", state)
    again = json.loads(run("check", policy, path, "--label", "y", "--state", state, "--json").stdout)
    named = run("check", policy, path, "--label", "y", "--state", state, "--batch", "b", "--json")

    assert 0 == first.exit_code, first.output
    assert "limit 300" in first.stdout
    assert not again["watch"]["counted"]
    assert (2, 6000) == tuple(json.loads(named.stdout)["watch"][name] for name in ("batches", "rows"))
    assert "This is a single check" not in first.stdout
    assert "This is a single check" in " ".join(run("check", policy, path).stdout.split())
    assert 2 == run("check", policy, path, "--batch", "b").exit_code


def test_next_step_works(run, policy, rows, tmp_path):
    """The command that an alarm ends with finds a policy with the same goal and the same columns."""
    path = rows(prevalence=0.1)
    result = run("check", policy, path, "--label", "y")
    line = next(one for one in result.stdout.splitlines() if "cutpoints find" in one)
    words = [*shlex.split(line)[1:-1], str(tmp_path / "new.json")]

    assert 0 == run(*words).exit_code
    new = cp.Policy.load(tmp_path / "new.json")
    best = cp.find(path, label="y", score="p", maximize="recall", subject_to="precision >= 0.6")
    assert (best.threshold, "recall", ("precision >= 0.6",)) == (
        new.threshold,
        new.objective,
        new.constraints,
    )


def test_write_the_best_policy_now(run, policy, rows, tmp_path):
    """The policy of now has the goal, the name and the columns of the old one."""
    path, new = rows(prevalence=0.1), tmp_path / "new.json"
    result = run("check", policy, path, "--label", "y", "--write", str(new))
    made = cp.Policy.load(new)

    assert 4 == result.exit_code
    assert ("churn", "p", "y", "recall") == (made.name, made.score, made.label, made.objective)
    assert "Monthly" == made.description
    best = cp.find(path, label="y", score="p", maximize="recall", subject_to="precision >= 0.6")
    assert best.threshold == made.threshold
    assert 2 == run("check", policy, path, "--write", str(new)).exit_code


def test_the_best_threshold_now_is_one_to_type(run, rows, tmp_path):
    """It is written with the fewest digits that make the same decisions, as `find` writes it."""
    y, p = scores(4000, 0)
    path, new = tmp_path / "f1.json", rows()
    cp.find(y, p, maximize="f1").policy("c", score="p", label="y").save(path)
    shown = run("check", str(path), new, "--label", "y").stdout
    (said,) = [line.split()[2] for line in shown.splitlines() if line.startswith("best now")]
    best = cp.find(new, label="y", score="p", maximize="f1")

    assert best.interval.shortest == said
    assert len(said) < len(repr(best.threshold))
    told = json.loads(run("check", str(path), new, "--label", "y", "--json").stdout)["labels"]["value"]
    assert best.interval.to_dict() == told["best_interval"]


def test_nothing_to_count_is_undefined_in_words(run, policy, tmp_path):
    """Of three positives none is called: no "nan" in a sentence, and what was found is in its interval."""
    path = tmp_path / "few.csv"
    path.write_text("y,p\n" + "1,0.1\n" * 3 + "0,0.2\n" * 60, encoding="utf-8")
    shown = run("check", policy, str(path), "--label", "y").stdout

    assert "nan" not in shown
    assert "precision >= 0.6 is not met (undefined now" in " ".join(shown.split())
    recall = next(line.split() for line in shown.splitlines() if line.startswith("recall "))
    assert ["0.0000", "0.0000", "to"] == recall[2:5]


def test_money_has_two_decimals(run, rows, tmp_path):
    """Amounts of a hundred and more have the same two decimals above and below a thousand."""
    y, p = scores(4000, 0)
    path = tmp_path / "cost.json"
    cp.find(y, p, minimize="cost(fp=1, fn=2)").policy("c", score="p", label="y").save(path)
    shown = run("check", str(path), rows(), "--label", "y").stdout
    (line,) = [one for one in shown.splitlines() if "per 1,000 rows  " in one]

    for number in line.partition("rows  ")[2].replace("to", "").split():
        assert 2 == len(number.partition(".")[2]) or number.isdigit()

"""`cutpoints find --by`."""

import json
from pathlib import Path

import pytest

import cutpoints as cp

GOAL = ("--label", "y", "--score", "p", "--maximize", "f1")


@pytest.fixture
def segments(tmp_path):
    """A file of three segments: DE and FR can be solved, IT has no positive rows."""
    path = tmp_path / "segments.csv"
    path.write_text(
        "y,p,land,kind\n1,0.9,DE,a\n0,0.3,DE,a\n1,0.4,DE,b\n0,0.2,FR,a\n1,0.7,FR,b\n0,0.8,IT,a\n0,0.6,IT,a\n",
        encoding="utf-8",
    )
    return str(path)


def test_one_line_per_segment(run, segments):
    """The table has a line per segment, in order, and fits 80 columns; why one failed is on two streams."""
    result = run("find", segments, *GOAL[:-1], "recall", "--by", "land")

    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert 0 == result.exit_code
    assert "goal maximize recall" in lines
    assert "solved 2 of 3 segments" in lines
    assert "common 0.4: recall 1 over all rows" in lines
    assert "DE 0.4 1.0000 - 1.0000 3 2 1 negative" in lines
    assert "FR 0.7 1.0000 - 1.0000 2 1 1 negative" in lines
    assert "IT - - - - 2 0 undefined: no" in lines
    assert "Warning: 2 of 3 segments have fewer than 10 positives or negatives" in result.stderr
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_several_columns(run, segments):
    """`--by` may be given more than once."""
    result = run("find", segments, *GOAL, "--by", "land", "--by", "kind", "--json")
    shown = json.loads(result.stdout)

    assert 0 == result.exit_code
    assert ["land", "kind"] == shown["by"]
    assert {"land": "DE", "kind": "a"} == shown["segments"][0]["key"]


def test_json_is_the_result_and_nothing_else(run, segments):
    """`--json` prints what `Segments.to_dict` returns; the count of failures is on standard error."""
    result = run("find", segments, *GOAL[:-1], "recall", "--by", "land", "--json")
    expected = cp.find_by(segments, label="y", score="p", maximize="recall", by=["land"]).to_dict()

    assert expected == json.loads(result.stdout, parse_constant=pytest.fail)
    assert result.stderr.endswith("1 of 3 segments has no threshold.\n")


def test_min_rows(run, segments):
    """Small segments are left alone, and say so."""
    result = run("find", segments, *GOAL, "--by", "land", "--min-rows", "3")

    assert 0 == result.exit_code
    assert "too few rows" in result.stdout
    assert "2 of 3 segments have no threshold" in result.stderr


def test_no_segment_solved_is_an_error(run, segments):
    """Exit code 1 where the goal is undefined everywhere or rows are few, 3 where it is infeasible."""
    few = run("find", segments, *GOAL, "--by", "land", "--min-rows", "9")
    never = run("find", segments, *GOAL, "--by", "land", "--subject-to", "predicted_positive >= 100")

    assert 1 == few.exit_code
    assert "at least 9 rows" in few.stderr
    assert 3 == never.exit_code


@pytest.mark.parametrize("extra", [["--check-calibration"], ["--positives", "y"]])
def test_options_that_do_not_go_together(run, segments, extra):
    """What is about one threshold does not go with many."""
    result = run("find", segments, *GOAL, "--by", "land", *extra)

    assert 2 == result.exit_code
    assert f"{extra[0]} cannot be combined with --by" in result.stderr


def test_a_missing_column(run, segments):
    """The name is told, with the near one."""
    result = run("find", segments, *GOAL, "--by", "lnd")

    assert 1 == result.exit_code
    assert "Column not found: 'lnd'" in result.stderr
    assert "did you mean 'land'?" in result.stderr


def test_many_segments_are_not_all_printed(run, tmp_path):
    """The first fifty are shown, and how many more there are; `--json` has them all."""
    path = tmp_path / "many.csv"
    rows = "".join(f"1,0.9,s{i:03}\n0,0.1,s{i:03}\n" for i in range(60))
    path.write_text(f"y,p,k\n{rows}", encoding="utf-8")

    shown = run("find", str(path), *GOAL, "--by", "k").stdout
    all_of_them = json.loads(run("find", str(path), *GOAL, "--by", "k", "--json").stdout)

    assert "the first 50; 10 more with --json" in shown
    assert "s049" in shown
    assert "s050" not in shown
    assert 60 == len(all_of_them["segments"])


def test_min_rows_goes_with_by(run, segments):
    """Without segments there is nothing that it could be about."""
    result = run("find", segments, *GOAL, "--min-rows", "3")

    assert 2 == result.exit_code
    assert "--min-rows needs --by" in result.stderr


def test_a_segment_column_that_there_is_not(run, segments, tmp_path):
    """The file without the column is named, and the columns that it has."""
    result = run("find", segments, *GOAL, "--by", "Land")
    other = tmp_path / "other.csv"
    other.write_text("p,y\n0.5,1\n", encoding="utf-8")
    both = run("find", segments, str(other), *GOAL, "--by", "land")

    assert (1, "") == (result.exit_code, result.stdout)
    columns = "'y', 'p', 'land' and 'kind'"
    assert f"Column not found: 'Land'. The columns of '{segments}' are {columns}." in result.stderr
    assert "did you mean 'land'?" in result.stderr
    assert f"Column not found: 'land'. The columns of '{other}' are 'p' and 'y'." in both.stderr


def test_a_policy_of_segments(run, segments, tmp_path):
    """`--policy` writes the thresholds of all segments with a name, and `apply` and `policy show` read it."""
    path, out = str(tmp_path / "policy.json"), str(tmp_path / "out.csv")
    named = ["--name", "by land", "--description", "for the demo", "--default", "0.5"]
    result = run("find", segments, *GOAL, "--by", "land", "--policy", path, *named)

    assert 0 == result.exit_code, result.stderr
    shown = run("policy", "show", path)
    assert 0 == shown.exit_code
    for text in ("by land", "for the demo", "the threshold of its land", "others", "0.5"):
        assert text in shown.stdout
    assert 0 == run("apply", path, segments, "-o", out).exit_code
    assert "decision" in Path(out).read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--name", "x"], "--name needs --policy"),
        (["--default", "0.5"], "--default needs --policy"),
        (["--policy", "x.json", "--default", "drop"], "neither a number, 'error' nor 'keep'"),
    ],
)
def test_options_of_a_policy(run, segments, extra, message):
    """What is said about a policy needs one."""
    result = run("find", segments, *GOAL, "--by", "land", *extra)

    assert 2 == result.exit_code
    assert message in result.stderr
    if "--default" in extra:
        lone = run("find", segments, *GOAL, "--policy", "x.json", "--default", "0.5")
        assert 2 == lone.exit_code
        assert "--default needs --by" in lone.stderr


# --- together


def test_joint_thresholds(run, segments):
    """`--joint` prints the segments, the value on new data, and what one threshold would do."""
    result = run("find", segments, *GOAL, "--by", "land", "--joint")

    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert 0 == result.exit_code
    assert "DE 0.4 2 0 0 1 3" in lines
    assert "IT inf 0 0 0 2 2" in lines
    assert "value 1 (maximize f1)" in lines
    assert any(line.startswith("one threshold 0.75 at 0.4") for line in lines)
    assert any(line.startswith("on new data") for line in lines)


def test_joint_json_is_that_of_the_library(run, segments):
    """`--json` prints what `find_joint(...).to_dict()` returns."""
    result = run("find", segments, *GOAL, "--by", "land", "--joint", "--each", "fpr <= 0.5", "--json")
    found = cp.find_joint(segments, label="y", score="p", by=["land"], maximize="f1", each="fpr <= 0.5")

    assert found.to_dict() == json.loads(result.stdout)


def test_joint_with_a_guarantee(run, segments):
    """`--guarantee` certifies joint thresholds, or exits with 3 if nothing is certified."""
    rows = ("--by", "land", "--joint", "--guarantee", "0.9", "--subject-to")
    certified = run("find", segments, *GOAL, *rows, "fpr <= 0.9")
    none = run("find", segments, *GOAL, *rows, "precision >= 0.999")

    assert certified.exit_code == 0, certified.stderr
    assert "fpr <= 0.9 on new data, with confidence 0.9" in certified.stdout
    assert none.exit_code == 3
    assert "No threshold can be certified" in none.stderr


def test_joint_infeasible(run, segments):
    """Constraints that cannot be met: exit code 3, and how far they can be."""
    result = run("find", segments, *GOAL, "--by", "land", "--joint", "--subject-to", "fpr < 0")

    assert 3 == result.exit_code
    assert "No thresholds meet 'fpr < 0'. The best possible: 'fpr < 0' 0." in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--joint",), "--joint needs --by"),
        (("--by", "land", "--each", "recall >= 1"), "--each needs --joint"),
        (("--by", "land", "--joint", "--method", "ilp"), "--method cannot be combined with --joint"),
        (("--by", "land", "--joint", "--min-rows", "2"), "--min-rows cannot be combined with --joint"),
    ],
)
def test_joint_options_that_do_not_fit(run, segments, options, message):
    """Options that joint thresholds need, or cannot have, are usage errors."""
    result = run("find", segments, *GOAL, *options)

    assert 2 == result.exit_code
    assert message in result.stderr


def test_a_joint_policy(run, segments, tmp_path):
    """`--joint --policy` writes the thresholds of all segments, which decide as those of the library do."""
    file = str(tmp_path / "policy.json")
    result = run("find", segments, *GOAL, "--by", "land", "--joint", "--policy", file)
    found = cp.find_joint(segments, label="y", score="p", by="land", maximize="f1")
    scores, lands = [0.3, 0.4, 0.7, 0.8], ["DE", "DE", "FR", "IT"]

    assert 0 == result.exit_code
    assert f"Wrote {file}." in result.stderr
    assert found.decide(scores, lands).tolist() == cp.Policy.load(file).decide(scores, lands).tolist()


def segmented(path, seed=0):
    """Write two segments whose best thresholds differ."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 600)
    land = rng.integers(0, 2, 600)
    score = np.round(y + land + rng.normal(size=600), 3)
    lines = [f"{a},{b},{'DE' if c else 'FR'}" for a, b, c in zip(y, score, land, strict=True)]
    path.write_text("y,p,country\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "more",
    [(), ("--joint",), ("--joint", "--each", "recall >= 0.5", "--gap", "recall <= 0.3")],
    ids=["each by itself", "together", "together, with more to hold"],
)
def test_like_repeats_the_segments_of_a_policy(run, tmp_path, more):
    """The goal of a policy of segments is for its segments, and not for all rows at one threshold."""
    old, new = segmented(tmp_path / "old.csv"), segmented(tmp_path / "new.csv", seed=1)
    goal = ("--maximize", "recall", "--subject-to", "precision >= 0.6", "--by", "country", *more)
    columns = ("--label", "y", "--score", "p")
    policy = str(tmp_path / "segments.json")

    assert 0 == run("find", old, *columns, *goal, "--policy", policy).exit_code
    like = run("find", new, "--like", policy)
    assert run("find", new, *columns, *goal).stdout == like.stdout
    assert 0 == like.exit_code


def test_like_refuses_policies_that_another_command_makes(run, tmp_path):
    """A band has two thresholds, and its goal is not that of one."""
    data, policy = segmented(tmp_path / "rows.csv"), str(tmp_path / "band.json")
    goal = ("--minimize", "cost(fp=5, fn=20, review=1)")
    assert 0 == run("band", data, "--label", "y", "--score", "p", *goal, "--policy", policy).exit_code
    result = run("find", data, "--like", policy)

    assert 2 == result.exit_code
    assert "See `cutpoints band`" in result.stderr


def test_the_next_step_of_a_check_finds_the_segments_again(run, tmp_path):
    """Where segments are worse, the check ends with a command that works for them."""
    import shlex

    old, new = segmented(tmp_path / "old.csv"), tmp_path / "new.csv"
    lines = Path(old).read_text(encoding="utf-8").splitlines()
    worse = [f"{1 - int(line[0])}{line[1:]}" for line in lines[1:]]
    new.write_text("\n".join([lines[0], *worse]) + "\n", encoding="utf-8")
    policy = str(tmp_path / "segments.json")
    assert 0 == run("find", old, *GOAL, "--by", "country", "--policy", policy).exit_code
    result = run("check", policy, str(new), "--label", "y")
    (line,) = [one for one in result.stdout.splitlines() if "cutpoints find" in one]

    assert 4 == result.exit_code
    assert "country" in run(*shlex.split(line)[1:-1], str(tmp_path / "new.json")).stdout


def test_a_policy_knows_what_had_to_hold_in_each_group(run, tmp_path):
    """No estimate, best threshold or repetition of the goal without what had to hold in each group."""
    data, policy = segmented(tmp_path / "rows.csv"), str(tmp_path / "one.json")
    columns, each = ("--label", "y", "--score", "p"), ("--by", "country", "--each", "precision >= 0.8")
    goal = ("--maximize", "recall", *each, "--one-threshold")
    assert 0 == run("find", data, *columns, *goal, "--policy", policy).exit_code
    record = cp.Policy.load(policy).found_on
    shown = run("policy", "show", policy).stdout
    check = run("check", policy, segmented(tmp_path / "new.csv", seed=1), "--label", "y")

    assert (None, ("precision >= 0.8",)) == (record.cross_validated, record.each)
    assert "on new data" not in shown
    assert "in each     precision >= 0.8" in shown
    assert 4 != check.exit_code
    assert "best now          unknown" in check.stdout
    like = run("find", data, "--like", policy)
    assert (2, True) == (like.exit_code, "give --by, --one-threshold and --each" in like.stderr)
    again = run("find", data, "--like", policy, *each, "--one-threshold")
    assert run("find", data, *columns, *goal).stdout == again.stdout
    written = run("check", policy, data, "--label", "y", "--write", str(tmp_path / "new.json"))
    assert 2 == written.exit_code

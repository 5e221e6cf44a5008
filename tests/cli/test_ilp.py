"""`cutpoints ilp`."""

import json

import pytest

import cutpoints as cp

DATA = ("--label", "y", "--score", "p")


@pytest.mark.parametrize("formulation", ["chain", "document"])
def test_text_tells_program_and_answer(run, scores, formulation):
    """The size of the program, the answer and how it was proved are shown in 80 columns."""
    result = run("ilp", scores, *DATA, "--maximize", "accuracy", "--formulation", formulation)

    assert 0 == result.exit_code
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "threshold 0.4 positive if score >= threshold" in lines
    assert "proof optimal, and counted again on the data" in lines
    assert any(line.startswith(f"program {formulation}: ") for line in lines)
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_json_is_the_solution_with_the_program(run, scores):
    """`--json` is one object: the solution, and what is known of program and solver."""
    result = run("ilp", scores, *DATA, "--maximize", "f1", "--json")
    told = json.loads(result.stdout)
    expected = cp.find([1, 0, 1, 0, 1], [0.9, 0.3, 0.4, 0.2, 0.1], maximize="f1").to_dict()

    assert "" == result.stderr
    assert expected["confusion"] == told["confusion"]
    assert (expected["threshold"], expected["value"]) == (told["threshold"], told["value"])
    assert ("ilp", 5, 0) == (
        told["certificate"]["method"],
        told["program"]["variables"],
        told["program"]["integer_variables"],
    )
    assert told["solver"]["steps"] > 1


def test_write_without_solving(run, scores, tmp_path):
    """`--write --no-solve` leaves a file and says how large the program is."""
    path = tmp_path / "model.lp"
    result = run(
        *("ilp", scores, *DATA, "--maximize", "accuracy", "--formulation", "document"),
        *("--write", str(path), "--no-solve", "--json"),
    )

    assert {"program", "written"} == set(json.loads(result.stdout))
    assert 20 == json.loads(result.stdout)["program"]["rows"]
    assert "Minimize" in path.read_text()
    text = run("ilp", scores, *DATA, "--maximize", "accuracy", "--no-solve").stdout
    assert "threshold" not in text


def test_log_goes_to_standard_error(run, scores):
    """`--log` shows the solver's words on standard error, so that `--json` stays clean."""
    result = run("ilp", scores, *DATA, "--maximize", "accuracy", "--log", "--json")

    assert "HiGHS" in result.stderr
    assert "optimal" == json.loads(result.stdout)["status"]


def test_time_limit_is_passed_on(run, scores):
    """A limit that suffices changes nothing."""
    result = run(
        *("ilp", scores, *DATA, "--maximize", "accuracy", "--formulation", "document"),
        *("--time-limit", "20", "--gap", "0.01"),
    )

    assert 0 == result.exit_code
    assert "0.4" in result.stdout


def test_stopped_early_says_so(run, scores):
    """A solver without time has a bound, and the better of the two cuts that need no search."""
    result = run(
        *("ilp", scores, *DATA, "--maximize", "accuracy", "--formulation", "document"),
        *("--time-limit", "0.000001"),
    )

    assert 0 == result.exit_code
    assert "stopped at the time limit: no threshold is better than 1" in result.stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 2, "Missing option '--maximize' or '--minimize'"),
        (("--maximize", "f1", "--minimize", "fpr"), 2, "cannot both be given"),
        (("--maximize", "f1", "--epsilon", "small"), 2, "neither a number nor 'auto'"),
        (("--maximize", "f1", "--epsilon", "0.1"), 2, "--epsilon goes with --formulation document"),
        (("--maximize", "mcc"), 1, "linear in tp and fp"),
        (("--maximize", "f1", "--write", "model.txt"), 1, "ends in .lp or .mps"),
        (("--maximize", "f1", "--time-limit", "-1"), 1, "--time-limit must be"),
        (("--maximize", "recall", "--subject-to", "precision >= 2"), 3, "No threshold meets"),
        (
            ("--maximize", "accuracy", "--formulation", "document", "--epsilon", "0.5"),
            1,
            "must be the best cut",
        ),
    ],
)
def test_bad_options_and_goals(run, scores, options, code, message):
    """Each fault has its exit code and a message on standard error, and prints no answer."""
    result = run("ilp", scores, *DATA, *options)

    assert code == result.exit_code
    assert message in result.stderr
    assert "" == result.stdout


def test_group_makes_the_published_form_small(run, scores):
    """One pair per distinct score has the same answer, and is an option of the document's form only."""
    asked = ["ilp", scores, "--label", "y", "--score", "p", "--maximize", "accuracy", "--json"]
    chain = json.loads(run(*asked).stdout)
    grouped = json.loads(run(*asked, "--formulation", "document", "--group").stdout)

    assert chain["threshold"] == grouped["threshold"]
    assert 2 == run(*asked, "--group").exit_code

"""What holds for every command: help, exit codes, clean streams, no tracebacks."""

import json
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import cutpoints as cp
from cutpoints._data import file_errors
from cutpoints._wording import Argument
from cutpoints.cli import _output, main
from cutpoints.cli._errors import in_shell
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

SRC = Path(__file__).parents[2] / "src"


def commands(group, *path):
    """Yield the words of every command below a group, the group itself included."""
    yield path
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name)


ALL = [pytest.param(words, id=" ".join(words) or "cutpoints") for words in commands(main)]


@pytest.mark.parametrize("words", ALL)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_has_an_example(run, words, flag):
    """Every command explains itself, with an example that begins with its own name."""
    result = run(*words, flag)

    assert 0 == result.exit_code
    assert "Example" in result.stdout
    assert f"\n    {' '.join(['cutpoints', *words])}" in result.stdout
    assert "" == result.stderr


@pytest.mark.parametrize("words", ALL)
def test_help_fits_80_columns(run, words):
    """No line of a help text is longer than a usual terminal is wide."""
    assert max(map(len, run(*words, "--help").stdout.splitlines())) <= 80


@pytest.mark.parametrize("words", [p for p in ALL if p.values[0]])
def test_every_command_has_json(run, words):
    """`--json` is an option of every command."""
    assert "--json" in run(*words, "--help").stdout


@pytest.mark.parametrize("words", ALL)
def test_unknown_option_is_exit_2(run, words):
    """A misspelt option ends with 2, a message and nothing on standard output."""
    result = run(*words, "--jsno")

    assert 2 == result.exit_code
    assert "Error: No such option '--jsno'" in result.stderr
    assert "" == result.stdout


def test_unknown_command_is_met_with_the_nearest(run):
    """A misspelt command is met with the one that was meant."""
    result = run("fnd")

    assert 2 == result.exit_code
    assert "Did you mean 'find'?" in result.stderr


def test_no_command_prints_the_help(run):
    """`cutpoints` alone shows what there is."""
    result = run()

    assert "Find a threshold:" in result.output


def test_version_in_three_forms(run):
    """The version is the same as an option, as a command and as JSON."""
    option = run("--version").stdout.split()[1]
    text = run("version").stdout

    assert text.startswith(f"cutpoints {option} (python 3.")
    assert option == json.loads(run("version", "--json").stdout)["cutpoints"]


def test_python_m_is_the_same_program(process):
    """`python -m cutpoints` calls itself cutpoints."""
    out, err = process("--help").communicate()

    assert out.startswith("Usage: cutpoints [OPTIONS]")
    assert "" == err


def test_errors_go_to_standard_error_without_a_traceback(process):
    """Bad data end with 1 and a message in two parts, and standard output stays empty."""
    running = process("find", "nowhere.csv", "--label", "y", "--score", "p", "--maximize", "f1")
    out, err = running.communicate()

    assert 1 == running.returncode
    assert "" == out
    assert err == (
        "Error: File not found: 'nowhere.csv'.\n\nHint: check the path, or pass '-' for standard input.\n"
    )


def test_a_reader_that_leaves_is_no_error(process, tmp_path):
    """`cutpoints curve ... | head -1` says nothing when head has gone."""
    path = tmp_path / "long.csv"
    path.write_text("y,p\n" + "".join(f"{i % 2},{i}\n" for i in range(50_000)), encoding="utf-8")
    running = process("curve", str(path), "--label", "y", "--score", "p", "--csv")

    assert running.stdout.readline().startswith("threshold,tp,fp,fn,tn,")
    running.stdout.close()
    running.wait()
    assert "" == running.stderr.read()
    running.stderr.close()


def test_a_full_disk_is_told_in_a_line(process):
    """Output that cannot be written is an error like any other."""
    try:
        full = open("/dev/full", "w", encoding="utf-8")  # noqa: PTH123, SIM115
    except OSError:
        pytest.skip("no /dev/full here")
    with full:
        running = process("metrics", "--json", stdout=full)
        _, err = running.communicate()

    assert 1 == running.returncode
    assert err.startswith("Error: ")
    assert "Traceback" not in err


def test_interrupt_is_exit_130(process, tmp_path):
    """Ctrl-C ends with 130, without a traceback, and leaves no spooled input behind."""
    running = process(
        *("find", "-", "--label", "y", "--score", "p", "--maximize", "f1"),
        stdin=subprocess.PIPE,
        env={"TMPDIR": str(tmp_path)},
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)  # until it waits for its input
    running.send_signal(signal.SIGINT)
    running.wait(60)  # standard input stays open: its end would be an error of its own
    out, err = running.communicate()

    assert 130 == running.returncode
    assert "" == out
    assert "Interrupted." == err.strip()
    assert [] == list(tmp_path.iterdir())


def test_interrupt_before_the_command_has_begun(process, tmp_path):
    """Ctrl-C while packages are still being loaded is no traceback either."""
    (tmp_path / "click.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n", encoding="utf-8"
    )
    running = process("--help", env={"PYTHONPATH": f"{tmp_path}:{SRC}"})
    out, err = running.communicate()

    assert 130 == running.returncode
    assert ("", "\nInterrupted.\n") == (out, err)


def test_interrupt_while_an_interrupt_is_being_cleaned_up(process, tmp_path):
    """A second Ctrl-C does not stop what the first one began: temporary files are removed, no traceback."""
    spool = tmp_path / "spool"
    spool.mkdir()
    (tmp_path / "click.py").write_text(
        "import gc, os, signal\n"
        "from cutpoints._atomic import temporary_folder\n"
        "signal.raise_signal(signal.SIGINT)\n"
        "kept = [temporary_folder()]\n"
        "gc.callbacks.append(lambda *_: signal.raise_signal(signal.SIGINT))\n"
        "raise ValueError\n",
        encoding="utf-8",
    )
    running = process("--help", env={"PYTHONPATH": f"{tmp_path}:{SRC}", "TMPDIR": str(spool)})
    out, err = running.communicate()

    assert 130 == running.returncode
    assert ("", "\nInterrupted.\n") == (out, err)
    assert [] == list(spool.iterdir())


def test_interrupt_while_the_solver_runs(process, tmp_path):
    """Ctrl-C stops the solver, and its threads do not abort the process."""
    rng = np.random.default_rng(0)
    scores = rng.random(1500)
    labels = (rng.random(1500) < scores).astype(int)
    path = tmp_path / "scores.csv"
    path.write_text(
        "y,p\n" + "".join(f"{y},{p}\n" for y, p in zip(labels, scores, strict=True)), encoding="utf-8"
    )
    running = process(
        *("ilp", str(path), "--label", "y", "--score", "p", "--maximize", "accuracy"),
        *("--formulation", "document", "--log"),
    )
    try:
        begun = running.stderr.readline()  # of the solver's log
        time.sleep(0.5)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    finally:
        running.kill()

    assert "" != begun
    assert 130 == running.returncode
    assert "" == out
    assert err.endswith("Interrupted.\n")


@pytest.mark.parametrize("query", ["from data, range(20000)", "from data, range(200) order by p + random()"])
def test_interrupt_in_the_middle_of_a_search(process, tmp_path, query):
    """Ctrl-C during a long pass ends with 130 at once, without a traceback, and leaves no file behind."""
    import duckdb

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    path = str(tmp_path / "scores.parquet")
    duckdb.sql("select i % 2 as y, random() as p from range(100000) as r(i)").write_parquet(path)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = process(
        *("find", path, "--label", "y", "--score", "p", "--maximize", "f1", "--memory-limit", "200MB"),
        *("--sql", f"select y, p {query}"),
        env={"TMPDIR": str(scratch)},
    )
    deadline = time.monotonic() + 60
    while not list(scratch.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(2)
    try:
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=600)
    finally:
        running.kill()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert 130 == running.returncode
    assert "" == out
    assert "Interrupted." == err.strip()
    assert [] == list(scratch.iterdir())
    # Seconds of the processor, since a busy machine stretches those of the clock.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 40


@pytest.mark.parametrize(
    ("command", "error", "shown"),
    [
        (
            "find",
            InvalidInputError.pos_label(values=["no", "it is"], name="y"),
            (
                "'y' must hold 0 and 1, -1 and 1 or booleans when --pos-label is not given, since otherwise "
                "it is not clear which label is positive. Got 'no' and 'it is' instead.\n\n"
                "Hint: pass --pos-label 'it is' or --pos-label no."
            ),
        ),
        (
            "find",
            InvalidParameterError(
                "maximize",
                got=1,
                expected="a metric",
                hint=("for example ", Argument("maximize", "f1"), "."),
            ),
            "--maximize must be a metric, got 1.\n\nHint: for example --maximize f1.",
        ),
        (
            "expected",
            InvalidParameterError("new_prevalence", got=2, expected="a share"),
            "--new-prevalence must be a share, got 2.",
        ),
        (
            "curve",
            InvalidParameterError("net_benefit(at)", got=2, expected="in [0, 1)"),
            "net_benefit(at) must be in [0, 1), got 2.",
        ),
        ("compare", InvalidParameterError("path", got="x", expected="y"), "--plot must be y, got 'x'."),
        ("ilp", InvalidParameterError("path", got="x", expected="y"), "--write must be y, got 'x'."),
        (
            "find",
            InvalidParameterError("y_true", got="x", expected=("y without ", Argument("n_bins", 3))),
            "--label must be y without n_bins=3, got 'x'.",
        ),
        (
            "find",
            file_errors.filtered_away(filters={"where": "month = '2026-10'"}),
            (
                "The filter must leave at least one row. No row is left by --where \"month = '2026-10'\".\n\n"
                "Hint: check the values in it: text is compared letter by letter, and case matters."
            ),
        ),
    ],
    ids=["label", "parameter", "prevalence", "of a metric", "plot", "write", "array", "filter"],
)
def test_parameters_are_called_by_their_options(command, error, shown):
    """Messages of the library name options, where the user of a shell has no parameters."""
    context = click.Context(main)
    context.invoked_subcommand = command

    assert shown == in_shell(error, context)


def test_what_takes_long_is_told_on_standard_error(monkeypatch, capsys):
    """A terminal is told what takes long, and standard output is not touched."""
    monkeypatch.setattr(_output, "_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with _output.waiting("Reading"):
        time.sleep(0.3)

    told = capsys.readouterr()
    assert "" == told.out
    assert "Reading" in told.err


def test_what_is_quick_is_not_told(monkeypatch, capsys):
    """Nothing flickers on a terminal when a command is quick."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with _output.waiting("Reading"):
        pass

    assert "Reading" not in capsys.readouterr().err


@pytest.mark.parametrize("words", [["metrics"], ["metrics", "show", "f1"], ["find"], ["curve"]])
def test_a_terminal_without_unicode(scores, words):
    """Output needs no more than ASCII where there is no more."""
    data = [scores, "--label", "y", "--score", "p"] if words[0] in {"find", "curve"} else []
    goal = ["--maximize", "f1"] if words == ["find"] else []
    result = CliRunner(charset="ascii").invoke(main, [*words, *data, *goal])

    assert 0 == result.exit_code
    assert result.stdout.isascii()


BAD_COLUMNS = {
    "a missing score": ("y,p,w\n1,0.9,1\n0,,1\n", "'p'"),
    "no rows": ("y,p,w\n", "must have at least one row"),
    "three labels": ("y,p,w\n1,0.9,1\n0,0.4,1\n2,0.4,1\n", "'y'"),
    "texts as labels": ("y,p,w\nyes,0.9,1\nno,0.4,1\n", "'y'"),
    "no probabilities": ("y,p,w\n" + 5 * "1,9,1\n0,4,1\n", "'p'"),
    "negative weights": ("y,p,w\n1,0.9,-1\n0,0.4,1\n", "'w'"),
    "infinite weights": ("y,p,w\n1,0.9,inf\n0,0.4,1\n", "w must be numbers with a finite sum"),
}
READERS = {
    "find": ("--label", "y", "--score", "p", "--weight", "w", "--maximize", "f1"),
    "curve": ("--label", "y", "--score", "p", "--weight", "w"),
    "compare": ("--label", "y", "--score", "p", "--score", "w", "--weight", "w", "--maximize", "f1"),
    "assess": ("--label", "y", "--score", "p", "--weight", "w", "--maximize", "f1"),
    "calibration": ("--label", "y", "--score", "p"),
    "expected": ("--score", "p", "--weight", "w", "--maximize", "f1"),
    "ilp": ("--label", "y", "--score", "p", "--weight", "w", "--maximize", "f1"),
    "report": ("--label", "y", "--score", "p", "--weight", "w", "--maximize", "f1", "--json"),
    "check": ("--label", "y"),
    "apply": (),
}


FILTERS = {
    "--where": "month = '2026-10'",
    "--sql": "select y::int as y, p::double as p, w::int as w from data where month = '2026-10'",
}


@pytest.mark.parametrize("command", [name for name in READERS if name != "apply"])
@pytest.mark.parametrize("option", FILTERS)
def test_every_command_that_reads_rows_can_choose_them(run, tmp_path, command, option):
    """A filtered file gives what a file of these rows alone gives."""
    policy = tmp_path / "policy.json"
    cp.find([0, 1], [0.2, 0.7], maximize="f1").policy(score="p", label="y").save(policy)
    rows = [(f"2026-{9 + i % 2:02}", i * i % 3 % 2, i * i % 50 / 50, 1 + i % 3) for i in range(60)]
    for name, kept in (("all", rows), ("few", [row for row in rows if row[0] == "2026-10"])):
        lines = ["month,y,p,w", *(",".join(map(str, row)) for row in kept)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def shown(file, *options):
        first = [str(policy)] if command == "check" else []
        json_ = [] if "--json" in READERS[command] else ["--json"]
        result = run(command, *first, str(tmp_path / file), *READERS[command], *json_, *options)
        said = re.sub(r'"(seconds|passes|created|checksum)": .*', "", result.stdout)
        return result.exit_code, said, result.stderr.replace(str(tmp_path / file), "")

    limit = ("--memory-limit", "500MB")
    assert shown("few.csv") == shown("all.csv", option, FILTERS[option], *limit)
    assert shown("few.csv") != shown("all.csv")
    code, out, err = shown("all.csv", option, FILTERS[option].replace("10", "11"))
    assert (1, "") == (code, out)
    assert f"No row is left by {option} " in err


@pytest.mark.parametrize("command", READERS)
def test_memory_is_limited_in_every_command_that_reads_files(run, tmp_path, command):
    """What cannot be meant is refused by its option, and too little is told as such."""
    scores, policy = str(tmp_path / "scores.csv"), str(tmp_path / "policy.json")
    (tmp_path / "scores.csv").write_text("y,p,w\n1,0.9,1\n0,0.4,1\n", encoding="utf-8")
    cp.find([0, 1], [0.2, 0.7], maximize="f1").policy(score="p", label="y").save(policy)
    first = [policy] if command in {"check", "apply"} else []
    result = run(command, *first, scores, *READERS[command], "--memory-limit", "much")

    assert 1 == result.exit_code
    assert result.stderr.startswith(
        "Error: --memory-limit must be a number and KB, MB, GB or TB, got 'much'."
    )

    little = run(command, *first, scores, *READERS[command], "--memory-limit", "1KB")
    assert 1 == little.exit_code
    assert "must be read in the memory that DuckDB may use. The limit of 1000 bytes is too" in little.stderr
    assert "for example --memory-limit 2GB" in little.stderr


@pytest.mark.parametrize("command", [name for name in READERS if name not in {"compare", "report"}])
def test_a_second_column_of_scores_is_never_ignored(run, scores, tmp_path, command):
    """Where one column is searched two are refused, and the commands for several are named."""
    policy = str(tmp_path / "policy.json")
    cp.find([0, 1], [0.2, 0.7], maximize="f1").policy(score="p", label="y").save(policy)
    first = [policy] if command in {"check", "apply"} else []
    result = run(command, *first, scores, *READERS[command], "--score", "p", "--score", "q")

    assert 2 == result.exit_code
    assert "Invalid value for '--score'" in result.stderr
    assert "`cutpoints compare` and `cutpoints report` take several" in " ".join(result.stderr.split())


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("fault", BAD_COLUMNS)
def test_errors_name_columns_of_the_file_and_options_of_the_command(run, tmp_path, command, fault):
    """A name that is neither in the file nor among the options sends people looking for it in vain."""
    text, named = BAD_COLUMNS[fault]
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    policy = tmp_path / "policy.json"
    cp.find([0, 1], [0.2, 0.7], maximize="f1").policy(score="p", label="y").save(policy)
    first = [str(policy)] if command in {"check", "apply"} else []
    result = run(command, *first, str(tmp_path / "bad.csv"), *READERS[command])

    options = {option for each in main.commands[command].params for option in each.opts}
    assert set(re.findall(r"--[a-z-]+", result.stderr)) <= options
    assert not re.search(r"y_true|y_score|y_prob|sample_weight|parameter of", result.stderr)
    if 1 == result.exit_code:
        assert named in result.stderr


def test_a_file_of_a_wrong_kind_is_refused_by_its_option(run, scores, tmp_path):
    """Pictures and programs are told apart by the ending of their names."""
    place = str(tmp_path / "model.txt")
    drawn = run("compare", scores, "--label", "y", "--score", "p", "--maximize", "f1", "--plot", place)
    written = run("ilp", scores, "--label", "y", "--score", "p", "--maximize", "f1", "--write", place)

    assert "\nError: --plot must be " in drawn.stderr  # after a warning of few rows
    assert written.stderr.startswith("Error: --write must be ")


@pytest.mark.parametrize("columns", ["20", "40", "60"])
def test_a_narrow_terminal_loses_neither_digits_nor_names(run, tmp_path, columns):
    """Lines that are too long wrap; a cut number would be another number, and a row without name none."""
    path = tmp_path / "scores.csv"
    rows = [f"{i % 2},{i / 7},{i % 3},{'north' if i % 2 else 'south'}{i % 3}" for i in range(60)]
    path.write_text("\n".join(["y,p,q,seg", *rows]) + "\n", encoding="utf-8")
    env = {"COLUMNS": columns}
    data = (str(path), "--label", "y", "--score", "p")
    by = run("find", *data, "--maximize", "accuracy", "--by", "seg", env=env)
    curve = run("curve", *data, "--limit", "4", env=env)
    models = run(
        "compare",
        str(path),
        "--label",
        "y",
        "--score",
        "p",
        "--score",
        "q",
        "--maximize",
        "f1",
        "--json",
        env=env,
    )
    shown = run(
        "compare", str(path), "--label", "y", "--score", "p", "--score", "q", "--maximize", "f1", env=env
    )

    for result in (by, curve, shown):
        assert 0 == result.exit_code
        assert "\u2026" not in result.stdout
    assert {f"{side}{i}" for side in ("north", "south") for i in range(3)} <= set(by.stdout.split())
    whole = run("curve", *data, "--limit", "4", env={"COLUMNS": "120"}).stdout.splitlines()
    assert {row.split()[0] for row in whole[2:6]} <= set(curve.stdout.split())
    assert "60 rows" in curve.stdout
    # The value of the goal is what models are compared by.
    for model in json.loads(models.stdout)["models"]:
        assert f"{model['value']:.4f}" in shown.stdout


@pytest.mark.parametrize("command", READERS)
def test_standard_input_is_read_once(run, tmp_path, command):
    """A second dash would find nothing left; one dash among files is one more file."""
    text = "y,p,w\n" + "1,0.9,1\n0,0.3,2\n1,0.4,1\n0,0.2,1\n" * 5
    policy, path = tmp_path / "policy.json", tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    cp.find([0, 1], [0.2, 0.7], maximize="f1").policy(score="p", label="y").save(policy)
    first = [str(policy)] if command in {"check", "apply"} else []
    twice = run(command, *first, "-", str(path), "-", *READERS[command], input=text)
    mixed = run(command, *first, str(path), "-", *READERS[command], input=text)

    assert (1, "") == (twice.exit_code, twice.stdout)
    assert "'-' must be given once: standard input can be read only once. Got it 2 times." in twice.stderr
    assert 0 == mixed.exit_code or "check" == command
    assert "Error" not in mixed.stderr


@pytest.mark.parametrize(
    ("content", "found", "hint"),
    [
        (b"y,p,n\xe4me\n1,0.4,x\n", "first line is not UTF-8", "iconv -f WINDOWS-1252 -t UTF-8"),
        (b"y,p,name\n1,0.4,\xfc\n", "Line 2 is not UTF-8", "iconv -f WINDOWS-1252 -t UTF-8"),
        ("y,p\n1,0.4\n".encode("utf-16"), "first line is not UTF-8", "iconv -f UTF-16 -t UTF-8"),
        (b"PK\x03\x04\x14\x00\x06\x00", "It is a ZIP archive", "save the sheet as CSV"),
        (b'[\n{"y": 1, "p": 0.4}]\n', "Column not found", "first line must have the names"),
    ],
    ids=["Latin", "Latin below", "UTF-16", "Excel", "array"],
)
def test_files_of_another_kind_are_met_with_what_to_do(run, tmp_path, content, found, hint):
    """A file that an analyst is likely to have is refused by what it is, with the way out."""
    path, policy = tmp_path / "my scores.csv", tmp_path / "policy.json"
    path.write_bytes(content)
    cp.find([0, 1], [0.2, 0.7], maximize="f1").policy(score="p", label="y").save(policy)
    result = run("apply", str(policy), str(path))

    assert 1 == result.exit_code
    assert found in result.stderr
    assert hint in result.stderr


def test_hints_of_the_command_line_name_commands(run, tmp_path):
    """Functions of Python are no help in a shell."""
    path = tmp_path / "logits.csv"
    path.write_text("p\n3\n-2\n", encoding="utf-8")
    result = run("expected", str(path), "--score", "p", "--maximize", "f1")

    assert 1 == result.exit_code
    assert "Hint: with labels, `cutpoints find` takes any scores" in result.stderr


@pytest.mark.parametrize("command", ["find", "curve", "compare", "ilp", "report"])
@pytest.mark.parametrize(("label", "missing"), [(1, "negative"), (0, "positive")])
def test_one_class_alone_is_told(run, tmp_path, command, label, missing):
    """One class is an error for what people act on, and a warning for what they look at."""
    path = tmp_path / "one.csv"
    path.write_text("y,p,w\n" + "".join(f"{label},{i / 10},1\n" for i in range(1, 9)), encoding="utf-8")
    result = run(command, str(path), *READERS[command])

    if command in ("curve", "ilp"):
        assert 0 == result.exit_code
        assert 1 == result.stderr.count(f"There are no {missing} rows. Check the labels")
    else:
        assert 1 == result.exit_code
        assert f"There are no {missing} rows" in result.stderr
    path.write_text("y,p,w\n" + "".join(f"{i % 2},{i / 10},1\n" for i in range(1, 9)), encoding="utf-8")
    assert "heck the labels" not in run(command, str(path), *READERS[command]).stderr


@pytest.mark.parametrize("words", [("find", "--policy"), ("ilp", "--write"), ("apply", "-o")])
def test_a_missing_folder_is_named(run, tmp_path, monkeypatch, words):
    """The message says which folder there is not, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text("y,p,w\n1,0.9,1\n0,0.4,1\n", encoding="utf-8")
    cp.find([0, 1], [0.2, 0.7], maximize="f1").policy(score="p", label="y").save("policy.json")
    command, option = words
    first = ["policy.json"] if command == "apply" else []
    place = "no/out.csv" if command == "apply" else "no/model.lp"
    result = run(command, *first, "scores.csv", *READERS[command], option, place)

    assert 1 == result.exit_code
    assert f"'{place}' cannot be written. Folder not found: 'no'." in result.stderr
    assert not Path("no").exists()

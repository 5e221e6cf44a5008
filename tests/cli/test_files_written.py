"""Files that commands write: plots, pages, policies; one rule for all."""

import shutil

import pytest

DATA = ("--label", "y", "--score", "p")


@pytest.mark.parametrize(
    "words",
    [
        (("find", "--maximize", "f1"), "--policy", "policy.json"),
        (("curve", "--plot", "roc"), "-o", "roc.png"),
        (("compare", "--maximize", "f1"), "--plot", "models.svg"),
        (("report", "--maximize", "f1"), "-o", "page.html"),
        (("calibration",), "--plot", "reliability.png"),
        (("ilp", "--maximize", "accuracy"), "--write", "program.lp"),
        (("policy", "onnx"), "-o", "rule.onnx"),
    ],
    ids=lambda words: words[0][0],
)
def test_a_file_is_announced_and_never_overwritten_by_accident(run, scores, tmp_path, words):
    """Writing is said on standard error; what exists stays, and --force replaces it."""
    command, option, name = words
    path = tmp_path / name
    place = str(tmp_path) if command[0] == "curve" else str(path)
    typed = (command[0], scores, *DATA, *command[1:], option, place)
    if command[0] == "policy":
        pytest.importorskip("onnx")
        rule = str(tmp_path / "rule.json")
        assert 0 == run("find", scores, *DATA, "--maximize", "f1", "--policy", rule).exit_code
        typed = (*command, rule, option, place)
    first = run(*typed)
    path.write_text("mine", encoding="utf-8")
    second, third = run(*typed), run(*typed, "--force")

    assert (0, 2, 0) == (first.exit_code, second.exit_code, third.exit_code)
    assert f"Wrote {path}." in first.stderr
    assert "overwrite it with --force" in second.stderr
    assert b"mine" != path.read_bytes()


def test_all_plots_are_one_word(run, scores, tmp_path):
    """`--plot all` draws what the scores and the goal allow, and names what it leaves out."""
    result = run("curve", scores, *DATA, "--plot", "all", "-o", str(tmp_path / "all"))
    drawn = {path.stem for path in (tmp_path / "all").iterdir()}

    assert 0 == result.exit_code
    assert {"roc", "pr", "confusion", "scores", "brier"} <= drawn
    assert "Left out profit: it needs an amount to draw: --maximize 'profit(tp=10, fp=-1)'" in result.stderr
    slip = run("curve", scores, *DATA, "--plot", "all,rok", "-o", str(tmp_path))
    assert (2, True) == (slip.exit_code, "'rok' is not a plot. Did you mean roc?" in slip.stderr)
    alone = run("curve", scores, *DATA, "--plot", "profit", "-o", str(tmp_path))
    assert 2 == alone.exit_code
    assert "--plot profit needs an amount to draw" in alone.stderr


@pytest.mark.parametrize("name", ["roc.png", "plots/roc.SVG"])
def test_plots_go_to_a_folder_and_name_themselves(run, scores, tmp_path, name):
    """A file in its place would become a folder that is called roc.png."""
    result = run("curve", scores, *DATA, "--plot", "roc", "-o", str(tmp_path / name))

    assert 2 == result.exit_code
    assert f"--format {name[-3:].lower()}" in result.stderr
    assert [] == list(tmp_path.glob("**/roc*"))


def test_plots_mark_what_the_table_marks(run, scores, tmp_path):
    """Without a goal the best F1 is marked, as `--help` says; nothing touches the edge of a plot."""
    import matplotlib.image

    for form in ("svg", "png"):
        run("curve", scores, *DATA, "--plot", "roc,pr,gain,det,ks", "--format", form, "-o", str(tmp_path))
    for name in ("roc", "pr", "gain"):
        assert "best f1 = 0.8" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    for path in tmp_path.glob("*.png"):
        ink = matplotlib.image.imread(path)[..., :3].min(axis=2) < 0.9
        edges = ink[:10].any(), ink[-10:].any(), ink[:, :10].any(), ink[:, -10:].any()
        assert (False, False, False, False) == edges, path.stem


def test_plots_repeat_and_have_a_look(run, scores, tmp_path):
    """`--plot` may be given twice; title and size are those asked for, in each format."""
    more = ("--title", "Fraud in October", "--size", "4x3", "--format", "svg", "-o", str(tmp_path))
    result = run("curve", scores, *DATA, "--plot", "roc", "--plot", "pr,ks", *more)
    text = (tmp_path / "roc.svg").read_text(encoding="utf-8")

    assert 0 == result.exit_code
    assert {"roc.svg", "pr.svg", "ks.svg"} <= {path.name for path in tmp_path.iterdir()}
    assert 'width="288pt" height="216pt"' in text
    assert 0 == run("curve", scores, *DATA, "--plot", "roc", "--format", "pdf", "-o", str(tmp_path)).exit_code
    assert b"%PDF" == (tmp_path / "roc.pdf").read_bytes()[:4]
    wrong = run("curve", scores, *DATA, "--plot", "roc", "--size", "7")
    assert 2 == wrong.exit_code
    assert "such as 7x5" in wrong.stderr


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium")
def test_a_report_may_be_a_pdf(run, scores, tmp_path):
    """A page whose name ends in .pdf is printed by the browser."""
    result = run("report", scores, *DATA, "--maximize", "f1", "-o", str(tmp_path / "page.pdf"))

    assert 0 == result.exit_code, result.stderr
    assert b"%PDF" == (tmp_path / "page.pdf").read_bytes()[:4]


def test_without_a_browser_a_pdf_is_an_error(run, scores, tmp_path, monkeypatch):
    """The error says what is missing, and that HTML works; nothing is written."""
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run("report", scores, *DATA, "--maximize", "f1", "-o", str(tmp_path / "page.pdf"))

    assert 1 == result.exit_code
    assert "A browser must be installed to write PDF" in result.stderr
    assert not (tmp_path / "page.pdf").exists()


@pytest.mark.parametrize(
    ("goal", "hint"),
    [
        (("--minimize", "cost(1,5)"), "did you mean 'cost(fp=1, fn=5)'?"),
        (
            ("--maximize", "fbeta(2)"),
            "fbeta with its parameters given by name, got 'fbeta(2)'.\n\nHint: did you mean 'fbeta(beta=2)'?",
        ),
        (("--maximize", "recall", "--subject-to", "precision=0.95"), "did you mean 'precision >= 0.95'?"),
        (("--maximize", "recall", "--subject-to", "precision >= 95%"), "did you mean 'precision >= 0.95'?"),
        (("--maximize", "recall", "--subject-to", "precision >= 95"), "did you mean 'precision >= 0.95'?"),
        (("--maximize", "recall", "--subject-to", "precision >= 0,95"), "did you mean 'precision >= 0.95'?"),
        (("--maximize", "recall", "--subject-to", "precision => 0.5"), "did you mean 'precision >= 0.5'?"),
        (("--maximize", "recall", "--subject-to", "precision ≥ 50 %"), "did you mean 'precision >= 0.5'?"),
        (
            ("--maximize", "recall", "--subject-to", "predicted_positive <= 1,000"),
            "did you mean 'predicted_positive <= 1000'?",
        ),
        (("--minimize", "cost(fp=5€, fn=1,000)"), "did you mean 'cost(fp=5, fn=1000)'?"),
        (("--maximize", "balanced accuracy"), "did you mean 'balanced_accuracy'?"),
        (("--maximize", "f1 score"), "did you mean 'f1'?"),
    ],
    ids=lambda x: x[-1] if isinstance(x, tuple) else None,
)
def test_slips_in_goals_are_corrected(run, scores, goal, hint):
    """The hint has the right spelling, which works."""
    result = run("find", scores, *DATA, *goal)
    meant = hint.split("'")[-2]

    assert result.exit_code in (1, 3)
    assert hint in result.stderr
    assert 0 == run("find", scores, *DATA, *goal[:-1], meant).exit_code


@pytest.mark.parametrize(
    ("text", "line", "way"),
    [
        ("y,p\n1,0.5\n0,\n1,0.7\n0,0.1\n", "line 3 of", '--where "p is not null"'),
        ("y,p\n1,50%\n0,30%\n", "line 2 of", "--sql \"select * replace (replace(p, '%', '')"),
        ("y;p\n1;0,5\n0;0,3\n", "line 2 of", "--sql \"select * replace (replace(p, ',', '.')"),
        ('y,p,t\n1,0.5,"two\nlines"\n0,,x\n0,0.4,x\n', "line 4 of", "--where"),
        ("y,p\n1,0.5\n0,N/A\n1,0.7\n0,0.1\n", "line 3 of", "--where \"p <> 'N/A'\""),
    ],
)
def test_bad_rows_are_named_by_their_line_and_the_way_out_works(run, tmp_path, text, line, way):
    """The line is that of an editor, and the option in the hint reads the file."""
    import shlex

    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    result = run("find", str(path), *DATA, "--maximize", "f1")
    (said,) = [row for row in result.stderr.splitlines() if way in row]

    assert 1 == result.exit_code
    assert f"{line} '{path}'" in result.stderr
    options = shlex.split(said.partition(": ")[2])
    assert 0 == run("find", str(path), *DATA, "--maximize", "f1", *options).exit_code


@pytest.mark.parametrize("cell", ["", "30%", "N/A"])
def test_the_way_out_works_for_any_name_of_a_column(run, tmp_path, cell):
    """A name that SQL or the shell would read otherwise is quoted for both."""
    import shlex

    path = tmp_path / "bad.csv"
    path.write_text(f"y,it's $p\n1,50{'%' * (cell == '30%')}\n0,{cell}\n1,0.7\n0,0.1\n", encoding="utf-8")
    data = ("find", str(path), "--label", "y", "--score", "it's $p", "--maximize", "f1")
    (said,) = [row for row in run(*data).stderr.splitlines() if row.startswith("To ")]

    assert 0 == run(*data, *shlex.split(said.partition(": ")[2])).exit_code


def test_one_of_several_labels_against_the_rest(run, tmp_path):
    """The hint of labels that are not two has an option that works in the shell."""
    import shlex

    path = tmp_path / "three.csv"
    path.write_text("y,p\nit's,0.9\nno,0.3\nmaybe,0.4\nno,0.2\n", encoding="utf-8")
    result = run("find", str(path), *DATA, "--maximize", "f1")
    (said,) = [row for row in result.stderr.splitlines() if row.startswith("In the shell: ")]

    assert 1 == result.exit_code
    options = shlex.split(said.partition(": ")[2])
    assert 0 == run("find", str(path), *DATA, "--maximize", "f1", *options).exit_code


@pytest.mark.parametrize("command", ["find", "curve", "compare"])
def test_inverted_scores_are_met_with_the_option_that_works(run, tmp_path, command):
    """The option in the hint is a flag, and the answer with it is the one that was wanted."""
    path = tmp_path / "inverted.csv"
    path.write_text("y,p\n" + "".join(f"{int(i < 20)},{i / 100}\n" for i in range(100)), encoding="utf-8")
    goal = () if command == "curve" else ("--maximize", "f1")
    result = run(command, str(path), *DATA, *goal)

    assert "if low scores mean positive, pass --lower-is-positive; otherwise" in result.stderr
    again = run(command, str(path), *DATA, *goal, "--lower-is-positive")
    assert (0, "") == (again.exit_code, again.stderr)


@pytest.mark.parametrize(
    "text", ['[{"y": 1, "p": 0.5}, {"y": 0, "p": 0.2}]', '[\n {"y": 1,\n "p": 0.5},\n{"y": 0, "p": 0.2}\n]\n']
)
def test_json_arrays_are_read(run, tmp_path, text):
    """An array of objects is as good as an object in each line; decisions are written for lines only."""
    path, policy = tmp_path / "scores.json", tmp_path / "policy.json"
    path.write_text(text, encoding="utf-8")
    result = run("find", str(path), *DATA, "--maximize", "f1", "--policy", str(policy))

    assert 0 == result.exit_code
    assert ["threshold", "0.5"] == result.stdout.splitlines()[1].split()[:2]
    applied = run("apply", str(policy), str(path), "-o", str(tmp_path / "out.ndjson"))
    assert 1 == applied.exit_code
    assert "It is an array" in applied.stderr


@pytest.mark.parametrize("path", ["s3://bucket/x.parquet", "https://example.org/x.csv"])
def test_addresses_are_no_files(run, path):
    """What is supported is said, in place of a file that was not found."""
    result = run("find", path, *DATA, "--maximize", "f1")

    assert 1 == result.exit_code
    assert "Only local files are read" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("find", "--maximize", "f1", "--policy", "s3://bucket/policy.json"),
        ("report", "--maximize", "f1", "-o", "https://example.org/page.html"),
        ("curve", "--plot", "roc", "-o", "s3://bucket/plots"),
    ],
    ids=lambda words: words[0],
)
def test_nothing_is_written_to_an_address(run, scores, tmp_path, monkeypatch, words):
    """A folder called 's3:' is not what was asked for."""
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    result = run(words[0], scores, *DATA, *words[1:])

    assert 1 == result.exit_code
    assert "Only local files are written, got" in result.stderr
    assert before == set(tmp_path.iterdir())


def test_slips_that_would_not_work_are_not_proposed(run, scores):
    """A hint that is refused itself helps nobody."""
    result = run(
        "find", scores, *DATA, "--maximize", "recall", "--subject-to", "precision >= 0.9; recall = 1"
    )

    assert 1 == result.exit_code
    assert "did you mean" not in result.stderr

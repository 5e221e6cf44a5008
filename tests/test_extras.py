"""What works without the extras, and what is said where one is missing."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cutpoints._extras import EXTRAS

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"

# What needs no extra, and what needs which.
BASE = {
    "find": "cp.find(y, p, maximize='f1')",
    "find_by": "cp.find_by(y, p, by=['a', 'b'] * 10, maximize='f1')",
    "find_joint": "cp.find_joint(y, p, by=['a', 'b'] * 10, maximize='f1')",
    "find_band": "cp.find_band(y, p, minimize='cost(fp=2, fn=5, review=1)')",
    "find_expected": "cp.find_expected(p, maximize='f1')",
    "curve": "cp.curve(y, p).auc",
    "policy": "cp.find(y, p, maximize='f1').policy().decide(p)",
    "sketch": "cp.Sketch().update(y, p).best(maximize='f1')",
    "files": "cp.find(file, label='malignant', score='p', maximize='f1')",
    "demo": "run('demo')",
    "find in the shell": "run('find', file, '--label', 'malignant', '--score', 'p', '--maximize', 'f1')",
    "curve in the shell": "run('curve', file, '--label', 'malignant', '--score', 'p', '--at', '0.5')",
}
NEEDING = {
    "stats": [
        "cp.find(y, p, maximize='recall', subject_to='precision >= 0.5', guarantee=0.9)",
        "cp.find(y, p, maximize='f1').policy().check(p)",
        "cp.compare(y, {'a': p, 'b': p[::-1]}, maximize='f1')",
        "cp.evaluate(y, p, threshold=0.5, interval='clopper_pearson')",
        "str(cp.find_joint(y, p, by=['a', 'b'] * 10, maximize='f1', gap='recall <= 0.5'))",
    ],
    "sklearn": [
        "cp.CutpointClassifier",
        "cp.nested_cv",
        "cp.scorer('f1')",
        "cp.assess(y, p, maximize='f1')",
        "cp.calibration(y, p)",
        "cp.evaluate_classes([0, 1, 2], [0, 1, 1])",
    ],
    "ilp": [
        "cp.ilp.formulate(y, p, maximize='accuracy').solve()",
        "cp.find(y, p, maximize='f1', method='ilp')",
    ],
    "plot": ["cp.plots.RocDisplay.from_predictions(y, p)"],
    "report": ["cp.report(y, p, maximize='f1').html()"],
    "onnx": ["cp.Policy(0.5).to_onnx()"],
}
CALLS = [*BASE.values(), *(call for calls in NEEDING.values() for call in calls)]


@pytest.fixture(scope="module")
def answers():
    """Make all calls in an interpreter that has none of the packages of the extras."""
    code = f"""
import json, sys
for package in {list(EXTRAS)}:
    sys.modules[package] = None
import cutpoints as cp
from click.testing import CliRunner
def run(*arguments):
    from cutpoints.cli import main
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
y, p, file = [0, 1] * 10, [i / 20 for i in range(20)], {str(ROOT / "examples" / "scores.csv")!r}
answers = {{}}
for call in {CALLS}:
    try:
        eval(call)
        answers[call] = "fine"
    except cp.exceptions.MissingDependencyError as error:
        answers[call] = str(error)
print(json.dumps(answers))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("call", BASE.values(), ids=list(BASE))
def test_the_base_needs_no_extra(answers, call):
    """Finding on arrays and files, deciding, and the command line work with the base packages alone."""
    assert "fine" == answers[call]


@pytest.mark.parametrize(
    ("extra", "call"),
    [(extra, call) for extra, calls in NEEDING.items() for call in calls],
    ids=lambda one: one,
)
def test_a_missing_extra_gives_the_line_that_installs_it(answers, extra, call):
    """The error names the package, and ends with the command to run."""
    assert f"Hint: run `pip install 'cutpoints[{extra}]'`." in answers[call]


def test_packages_have_the_names_that_pip_knows(answers):
    """The package is scikit-learn: pip refuses to install `sklearn`, which is only what is imported."""
    assert answers["cp.calibration(y, p)"].startswith("The package 'scikit-learn' must be installed for")


def test_the_install_page_says_which_extra_each_function_needs():
    """What needs an extra is named in the row of that extra, and not in the row of the base."""
    page = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\S+) \| (.*?) \|", page, flags=re.MULTILINE))
    for extra, names in {
        "`stats`": ("guarantee", "check", "compare"),
        "`sklearn`": ("CutpointClassifier", "nested_cv", "assess", "evaluate_classes"),
    }.items():
        for name in names:
            assert f"`{name}`" in rows[extra]
            assert f"`{name}`" not in rows["none"]


def test_packages_of_extras_are_imported_where_the_error_is_worded():
    """Within `needs`, or in a module that is only loaded within it."""
    loaded_within = ("_sklearn", "_calibration/scores_as_classifier.py", "_policy/onnx_graph.py")
    wrong = []
    for path in sorted((SRC / "cutpoints").rglob("*.py")):
        place = path.relative_to(SRC / "cutpoints").as_posix()
        if place.startswith(loaded_within):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        guarded = {
            id(inner)
            for node in ast.walk(tree)
            if (isinstance(node, ast.With) and "needs(" in ast.unparse(node.items[0]))
            or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            if id(node) not in guarded and any(name.split(".")[0] in EXTRAS for name in names):
                wrong.append(f"{place}:{node.lineno}")

    assert [] == wrong


def test_every_extra_that_is_named_exists():
    """The extra in the hint can be installed, and has the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for package, extra in EXTRAS.items():
        wanted = {"sklearn": "scikit-learn"}.get(package, package)
        assert any(one.startswith(wanted) for one in extras[extra]), extra
        assert not any(one.startswith(wanted) for one in project["dependencies"])

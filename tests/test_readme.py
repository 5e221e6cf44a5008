"""The README shows real output: every example in it is run again."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from cutpoints.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    """Examples name files relative to the top of the repository."""
    monkeypatch.chdir(ROOT)


def test_there_are_examples():
    """There is an example for the shell and one for Python."""
    assert blocks("console")
    assert blocks("pycon")


@pytest.mark.parametrize("block", blocks("console"))
def test_shell_examples(block):
    """Each command prints, 80 columns wide, what the README shows."""
    for command, expected in re.findall(r"^\$ cutpoints (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        result = CliRunner().invoke(main, shlex.split(command), env={"COLUMNS": "80"})

        assert expected == result.stdout
        assert 0 == result.exit_code


def test_python_examples():
    """The Python blocks, one after the other, show what the README shows."""
    session = doctest.DocTestParser().get_doctest("\n".join(blocks("pycon")), {}, "README.md", "README.md", 0)
    report = []
    results = doctest.DocTestRunner(verbose=False).run(session, out=report.append)

    assert results.attempted >= 5
    assert 0 == results.failed, "".join(report)


def test_make_targets_exist():
    """The targets that the README names are in the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_linked_files_exist():
    """Links to files of the repository, and its picture, lead somewhere."""
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README) + re.findall(r'src="([^"]+)"', README):
        assert (ROOT / target).exists()

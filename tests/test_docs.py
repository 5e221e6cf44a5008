"""The documentation says what the code does."""

import doctest
import re
from pathlib import Path

import pytest
from tools import render_docs

import cutpoints as cp

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def _python_blocks(page):
    return re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def test_generated_pages_are_up_to_date():
    """The catalogue, the command line and the schema of policies are what the code says; see `make docs`."""
    assert [] == render_docs.stale()


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.parent.name == "concepts" or p.name == "index.md"], ids=lambda p: p.name
)
def test_examples_run_and_say_what_they_say(page):
    """Python blocks of a page run, and a comment after an expression is its value."""
    for block in _python_blocks(page):
        names = {"cp": cp}
        for line in block.splitlines():
            code, _, comment = line.partition("  # ")
            if not code.strip():
                continue
            try:
                value = eval(code, names)  # noqa: S307 - our own pages
            except SyntaxError:
                exec(code, names)  # noqa: S102
                continue
            shown = comment.strip().split(":")[0]
            if re.match(r"^([-\d.\[(']|Confusion|array)", shown):
                assert shown == repr(value), line


@pytest.mark.parametrize("name", ["row_costs.md"])
def test_sessions_run_and_say_what_they_say(name, monkeypatch):
    """What a page shows as a session is what Python answers."""
    monkeypatch.chdir(DOCS.parent)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

    assert 0 == doctest.testfile(str(DOCS / name), module_relative=False, optionflags=flags).failed


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_links_lead_somewhere(page):
    """Every relative link of a page points to a file that exists."""
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target

"""The documentation says what the code does."""

import os
import re
import runpy
from collections import Counter
from importlib import import_module, util
from pathlib import Path

import pytest
from tools import examples, figures, render_docs, site

DOCS = Path(__file__).parents[1] / "docs"
# Characters of code beside both columns of links, on a screen of 1,440 pixels; see site.css.
PAGE_WIDTH = 98
PUBLIC = ("cutpoints", "cutpoints.metrics", "cutpoints.plots", "cutpoints.ilp", "cutpoints.exceptions")


def test_generated_pages_are_up_to_date():
    """The catalogue, the command line and the schema of policies are what the code says; see `make docs`."""
    assert [] == render_docs.stale()


@pytest.mark.parametrize("page", examples.pages(), ids=lambda page: str(page.relative_to(DOCS)))
@pytest.mark.filterwarnings("default")
@pytest.mark.skipif(os.name != "posix", reason="the shell of the examples is that of POSIX")
def test_examples_print_what_the_page_shows(page):
    """Every example of a page runs and prints what the page shows; see `python -m tools.examples`."""
    assert "" == "\n".join(examples.wrong(page))


@pytest.mark.xdist_group("spark")
def test_spark_examples_print_what_the_page_shows(spark, tmp_path, monkeypatch, capsys):
    """The Spark examples run, and find the threshold that the same page finds with DuckDB."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(DOCS.parent / "examples" / "cards.py")["write"](tmp_path / "cards.csv")
    page = (DOCS / "start" / "cluster.md").read_text(encoding="utf-8")
    names = {}
    for block, shown in re.findall(r"^```py\n(.*?)^```\n\n```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        # Spark's Java works in the folder in which it was started.
        exec(block.replace("cards.csv", str(tmp_path / "cards.csv")), names)  # noqa: S102

        assert shown.split() == capsys.readouterr().out.split()
    assert f"\n{names['solution'].threshold}\n" in page


def test_what_readers_type_fits_the_page():
    """No line of code or of the shell is wider than the site shows it; output is as wide as it is."""
    code = re.compile(r"^```(?:python|pycon|py|console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    wide = []
    for page in DOCS.rglob("*.md"):
        for block in code.findall(page.read_text(encoding="utf-8")):
            prompts = (">>> ", "... ") if ">>> " in block else ("$ ",) if block.startswith("$ ") else ("",)
            lines = [line for line in block.splitlines() if line.startswith(prompts)]
            wide += [line for line in lines if len(line) > PAGE_WIDTH]

    assert [] == wide


def test_the_api_pages_have_every_public_name_once():
    """The pages of the API document each public name, and each once; beside them, what functions return."""
    documented = Counter()
    for page in (DOCS / "api").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        documented.update(re.findall(r"^::: (\S+)$", text, flags=re.MULTILINE))
        documented.update(f"cutpoints.metrics.{name}" for name in re.findall(r"catalogue\.md#(\w+)", text))
    modules = {name: import_module(name) for name in PUBLIC}
    public = {f"{name}.{one}" for name, module in modules.items() for one in module.__all__}
    returned = {name for name in documented if name.startswith("cutpoints._")}

    assert public - {*PUBLIC, "cutpoints.__version__"} == documented.keys() - returned
    assert [] == [name for name, times in documented.items() if times > 1]


@pytest.mark.skipif(os.name != "posix", reason="the shell of the examples is that of POSIX")
def test_pictures_show_the_report_of_today():
    """The pictures of the report show what the tutorial's command finds; see `python -m tools.figures`."""
    image = pytest.importorskip("PIL.Image")
    told = figures.sentence(figures.report())
    for name in ("report", "report-charts"):
        assert told == image.open(DOCS / "images" / f"{name}.png").text[figures.SENTENCE]


def test_every_page_is_in_the_navigation():
    """No page is written for nobody, and no entry of the navigation is without a page."""
    named = re.findall(r'"([\w/]+\.md)"', (DOCS.parent / "zensical.toml").read_text(encoding="utf-8"))

    assert sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")) == sorted(named)


@pytest.mark.skipif(util.find_spec("zensical") is None, reason="Zensical is not installed")
def test_the_site_builds():
    """The site builds without a warning, no link leads nowhere, and no page loads anything from elsewhere.

    The pages of the API show what users call, and not what the rooms of the package share.
    """
    assert "" == "\n".join(site.main(run_examples=False))
    shown = "".join(page.read_text(encoding="utf-8") for page in (site.SITE / "api").glob("*.html"))
    assert 'id="cutpoints.Solution.decide"' in shown
    for internal in ("Solution.lines", "Data.source", "Policy.missing_rule", "metrics.Metric.order_key"):
        assert f'id="cutpoints.{internal}"' not in shown

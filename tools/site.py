"""Build the documentation site into ``site/``, and fail if anything is wrong with it.

python -m tools.site               # run all examples, build, check
python -m tools.site --no-examples # build and check; the tests run the examples page by page

Zensical's strict mode fails on links and anchors that lead nowhere. It does not fail when markdown-exec or
mkdocstrings complain, so whatever they print fails here. The built pages are checked once more: all links,
those in signatures too, lead somewhere, and nothing is loaded from another server.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from tools import examples

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
# Browsers let no page search in files, so only the served site can be searched.
DONE = "The site is in site/index.html; with its search: python -m http.server -d site"
# Zensical makes F½ out of F1/2: write it as code, or in words. It knows no directives of reStructuredText.
MISREAD = re.compile(r"\w(½|&frac12;)|\.\. \w+::")
COMPLAINT = re.compile(r"^(markdown_exec|mkdocstrings\w*|griffe|.*(Warning|Error)): ", re.MULTILINE)


def build() -> list[str]:
    """Build the site; return what Zensical and its extensions complain about."""
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg", "NO_COLOR": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    printed = done.stdout + done.stderr
    return [printed] if done.returncode or COMPLAINT.search(printed) else []


class _Page(HTMLParser):
    """The names of a page, its links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what a tag names, links to, and loads."""
        named = {key: value for key, value in attrs if value}
        self.ids |= {named[key] for key in ("id", "name") if key in named}
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif tag == "link" and named.get("rel") in {"stylesheet", "icon", "preconnect", "preload"}:
            self.loads.append(named.get("href", ""))
        elif "src" in named:
            self.loads.append(named["src"])


def broken() -> list[str]:
    """Return links that lead nowhere, what is loaded from elsewhere, and fractions that were misread."""
    pages = {path: _Page(path) for path in SITE.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        name = path.relative_to(SITE)
        if name.name == "404.html":  # served at any address, so its links are absolute
            continue
        wrong += [f"{name} loads {url}" for url in page.loads if re.match(r"(https?:)?//", url)]
        wrong += [f"{name} shows {one[0]}" for one in MISREAD.finditer(path.read_text(encoding="utf-8"))]
        for url in page.links + page.loads:
            if re.match(r"[a-z]+:|//", url):
                continue
            target, _, anchor = unquote(url).partition("#")
            file = (path.parent / target).resolve() if target else path
            if not file.exists():
                wrong.append(f"{name} links to {url}, which is not there")
            elif anchor and file in pages and anchor not in pages[file].ids:
                wrong.append(f"{name} links to {url}, which has no such place")
    return wrong


def main(*, run_examples: bool) -> list[str]:
    """Run the examples, build the site, check it; return what is wrong."""
    wrong = [line for page in examples.pages() for line in examples.wrong(page)] if run_examples else []
    return wrong or build() or broken()


if __name__ == "__main__":
    found = main(run_examples="--no-examples" not in sys.argv)
    sys.exit("\n".join(found) if found else print(DONE))  # noqa: T201

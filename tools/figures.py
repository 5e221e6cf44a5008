"""Figures of the documentation, drawn while the site is built.

A page draws with a block that markdown-exec runs, in the folder of the repository::

    ```python exec="on" html="on"
    from tools.figures import svg
    print(svg(display))
    ```

What is drawn once and kept is drawn again by ``python -m tools.figures``: the figures of the lectures, by
their scripts, and the pictures of the report, by Chromium. These show the page that the command in the
tutorial writes, and keep its sentence, which a test compares.
"""

from __future__ import annotations

import html
import io
import re
import runpy
import shutil
import tempfile
import zlib
from pathlib import Path
from typing import Any

from tools import examples

SENTENCE = "Description"
"""Under this name a picture keeps the sentence of the page that it shows."""


def svg(figure: Any, alt: str) -> str:
    """Return a figure of matplotlib, or a display of cutpoints, as SVG to stand in a page."""
    if hasattr(figure, "plot"):
        figure = figure.plot().figure_
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    drawn = re.search(r"<svg.*</svg>", buffer.getvalue(), flags=re.DOTALL)
    assert drawn is not None
    # A page has several figures, and matplotlib names its parts the same in each.
    mark = f"f{zlib.crc32(alt.encode()):x}"
    named = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{mark}-", drawn[0])
    return f'<figure class="drawn" role="img" aria-label="{alt}">{named}</figure>'


def report() -> str:
    """Return the page that the command of the tutorial writes."""
    tutorial = (examples.DOCS / "tutorial.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\$ (cutpoints report (?:.*\\\n)*.*)", tutorial, flags=re.MULTILINE)
    with examples.folder():
        code, output = examples.run(command)
        assert code == 0, output
        return Path("report.html").read_text(encoding="utf-8")


def sentence(page: str) -> str:
    """Return the decision that a page tells."""
    (found,) = re.findall(r'id="sentence"[^>]*>(.*?)</p>', page)
    return html.unescape(found)


def draw_lectures() -> None:
    """Draw the figures of the lectures that are kept: of the others, the site draws those that it shows."""
    kept = examples.DOCS / "lectures" / "figures"
    with tempfile.TemporaryDirectory() as folder:
        for script in sorted((examples.ROOT / "examples" / "papers").glob("*.py")):
            if "def main(folder: Path)" in script.read_text(encoding="utf-8"):
                runpy.run_path(str(script))["main"](Path(folder))
        for figure in kept.iterdir():
            shutil.copy(Path(folder) / figure.name, figure)


def draw_report() -> None:
    """Draw the first screen of the report, and its first four charts in dark colors."""
    from PIL import Image, PngImagePlugin
    from playwright.sync_api import sync_playwright

    shown = report()
    known = PngImagePlugin.PngInfo()
    known.add_text(SENTENCE, sentence(shown))
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        for name, colors in (("report", "light"), ("report-charts", "dark")):
            page = chromium.new_page(viewport={"width": 1280, "height": 920}, color_scheme=colors)
            page.set_content(shown)
            boxes = [figure.bounding_box() for figure in page.locator("#charts figure").all()[:4]]
            left, top = min(box["x"] for box in boxes), min(box["y"] for box in boxes)
            right = max(box["x"] + box["width"] for box in boxes)
            bottom = max(box["y"] + box["height"] for box in boxes)
            clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
            taken = page.screenshot(full_page=True, clip=clip) if colors == "dark" else page.screenshot()
            picture = Image.open(io.BytesIO(taken)).convert("RGB")
            picture = picture.quantize(256, Image.Quantize.MAXCOVERAGE)
            picture.save(examples.DOCS / "images" / f"{name}.png", pnginfo=known, optimize=True)
        chromium.close()


if __name__ == "__main__":
    draw_lectures()
    draw_report()

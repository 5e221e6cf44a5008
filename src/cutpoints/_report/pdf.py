"""The page as a PDF file, printed by a browser that is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from cutpoints._atomic import temporary_folder
from cutpoints._wording import joined
from cutpoints.exceptions import MissingDependencyError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PATIENCE_SECONDS = 120
DRAWING_MILLISECONDS = 10_000
"""How long the scripts of the page may draw before it is printed; the browser's own clock, not ours."""


def print_page(page: str) -> bytes:
    """Return a page as PDF; raise if there is no browser, or if it cannot print."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise _no_browser()
    with temporary_folder() as folder:
        html, pdf = Path(folder) / "page.html", Path(folder) / "page.pdf"
        html.write_text(page, encoding="utf-8")
        command = [
            browser,
            "--headless=new",
            "--disable-gpu",
            "--no-sandbox",  # a page of our own, and root has no other way
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
            f"--virtual-time-budget={DRAWING_MILLISECONDS}",
            f"--print-to-pdf={pdf}",
            html.as_uri(),
        ]
        try:
            done = subprocess.run(  # noqa: S603 - a browser, and a page of our own
                command, capture_output=True, timeout=PATIENCE_SECONDS, check=False, text=True
            )
        except subprocess.TimeoutExpired as error:
            raise _no_browser("it took too long") from error
        if not pdf.exists() or not pdf.stat().st_size:
            said = (done.stderr.strip().splitlines() or ["it wrote nothing"])[-1]
            raise _no_browser(said)
        return pdf.read_bytes()


def _no_browser(said: str | None = None) -> MissingDependencyError:
    """Return the error of a PDF without a browser that prints it."""
    found = "None was found." if said is None else f"It failed: {said.rstrip('. ')}."
    return MissingDependencyError(
        f"A browser must be installed to write PDF: Chromium, Chrome or Edge. {found}",
        hint=f"write .html instead, and print that page; or put one of {joined(BROWSERS, 'or')} on the path.",
    )

"""Results in a real notebook, run by a kernel, converted by nbconvert and opened in Chromium."""

import shutil

import pytest

CODE = """
import numpy as np
import cutpoints as cp
rng = np.random.default_rng(0)
y = (rng.random(400) < 0.3).astype(int)
p = 1 / (1 + np.exp(-rng.normal(2 * y - 1, 1)))
""".strip()
SHOWN = {
    "solution": ("cp.find(y, p, maximize='f1')", "positive if score >= threshold"),
    "curve": ("cp.curve(y, p)", "average precision"),
    "table": ("cp.curve(y, p).table()", "specificity"),
    "segments": ("cp.find_by(y, p, by=np.arange(400) % 2, maximize='f1')", "2 of 2 segments"),
    "comparison": ("cp.compare(y, {'a': p, 'b': -p * 0}, maximize='f1')", "a is better than b"),
    "policy": ("cp.Policy(0.25, name='<b>mine</b>')", "<b>mine</b>"),
    "report": ("cp.report(y, p, maximize='f1')", None),
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium")
def test_results_show_themselves_in_a_notebook(tmp_path):
    """Each result is a table that can be read, names stay names, and the report is a frame of its own."""
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    nbclient = pytest.importorskip("nbclient")
    nbconvert = pytest.importorskip("nbconvert")
    sync_api = pytest.importorskip("playwright.sync_api")
    cells = [nbformat.v4.new_code_cell(code) for code in (CODE, *(code for code, _ in SHOWN.values()))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    page = tmp_path / "notebook.html"
    page.write_text(nbconvert.HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")

    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto(page.as_uri(), wait_until="domcontentloaded")
        text = opened.inner_text("body")
        frame = opened.locator("iframe").first
        sandbox = frame.get_attribute("sandbox")
        inside = opened.frames[1].inner_text("body")
        browser.close()

    assert [] == [name for name, (_, expected) in SHOWN.items() if expected and expected not in text]
    assert sandbox is not None
    assert "allow-same-origin" not in sandbox
    assert "Flag a case when" in inside

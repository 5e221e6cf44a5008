"""The file: one page, harmless whatever it is given, written whole or not at all."""

import base64
import hashlib
import json
import os
import re

import numpy as np
import pytest

import cutpoints as cp
from cutpoints._report.page import inert
from cutpoints.exceptions import InvalidInputError

Y, P = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.6, 0.9]
HOSTILE = "</script><script>alert(1)</script><!-- \u2028\u2029 & \"'"


def parts(html):
    """Return the contents of the script elements, as a browser sees them."""
    return re.findall(r"<script[^>]*>(.*?)</script>", html, flags=re.DOTALL)


def test_the_page_holds_the_summary_and_one_script():
    """A browser finds the summary as JSON and our script; without rows that is a small file."""
    made = cp.report(Y, {HOSTILE: P}, maximize="f1", title=HOSTILE, positive_name=HOSTILE, unit=HOSTILE)
    html = made.html()
    data, script = parts(html)
    told = json.loads(data)
    (model,) = told["models"]
    assert {"ties", "metrics"} == set(made.to_dict()["models"][0]["solution"]) - set(model["solution"])
    model["solution"] = made.to_dict()["models"][0]["solution"]
    assert made.to_dict() == told
    assert '"use strict";' in script
    assert len(html.encode()) < 150_000
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in html


def test_large_data_make_a_small_page():
    """The page of many rows has less than half a megabyte: it can be sent, and opens at once."""
    rng = np.random.default_rng(0)
    y = (rng.random(100_000) < 0.1).astype(int)
    assert len(cp.report(y, rng.normal(size=100_000) + y, maximize="f1").html().encode()) < 500_000


def test_only_this_script_may_run():
    """The content policy allows the script and the style by their hashes, and no address of any kind."""
    html = cp.report(Y, P, maximize="f1").html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1].replace("&#39;", "'")
    _, script = parts(html)
    style = re.search(r"<style>(.*?)</style>", html, flags=re.DOTALL)[1]
    for part in (script, style):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_page_needs_no_network():
    """Nothing is loaded from anywhere."""
    html = cp.report(Y, P, maximize="f1").html()
    assert [] == re.findall(r'(?:src|href)\s*=\s*"(?!#|data:,)[^"]*"', html)
    assert "@import" not in html


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "\u2028", "\u2029", "&amp;", "<", "\\u003c"])
def test_inert_json_is_the_same_json(text):
    """No character is left that HTML or a script could mind, and the value is the same."""
    written = inert({"name": text})
    assert not set(written) & set("<>&\u2028\u2029")
    assert {"name": text} == json.loads(written)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """If the disk is full the old page is still there, and nothing else."""
    place = tmp_path / "report with spaces é.html"
    place.write_text("old", encoding="utf-8")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        patched.setattr("pathlib.Path.replace", full)
        with pytest.raises(InvalidInputError, match="No space left"):
            cp.report(Y, P, place, maximize="f1")
    assert "old" == place.read_text(encoding="utf-8")
    assert [place] == list(tmp_path.iterdir())
    cp.report(Y, P, place, maximize="f1")
    assert "</html>" in place.read_text(encoding="utf-8")
    assert [place] == list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    """A folder in place of a file is an error that names it."""
    with pytest.raises(InvalidInputError, match=re.escape(str(tmp_path))):
        cp.report(Y, P, tmp_path, maximize="f1")


def test_lone_surrogates_and_nothing_as_names(tmp_path):
    """Names that no file can hold, or none at all, are shown as well as they can be."""
    made = cp.report(np.array(Y), {"": P, "\0": P[::-1], "\ud800": P}, maximize="f1", title="\udfff")
    made.save(tmp_path / "page.html")
    assert ["", "\0", "?"] == [model["name"] for model in made.to_dict()["models"]]
    assert made.to_dict()["models"][0]["operating_points"][0]["policy"]["name"] is None

"""The lectures in the documentation: their figures, and what they say about leaving one out."""

import importlib.util
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from tools.figures import svg

ROOT = Path(__file__).parents[2]
LECTURES = ROOT / "docs" / "lectures"


def script(name):
    """A script of the papers, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / "papers" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_is_on_a_page():
    """No figure is kept that no lecture shows."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in LECTURES.glob("*.md"))

    assert [] == [
        path.name for path in (LECTURES / "figures").iterdir() if f"figures/{path.name}" not in text
    ]


def test_scripts_draw_where_they_are_run(tmp_path, monkeypatch, capsys):
    """Who tries a script has the figures at hand, and the documentation stays as it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["script.py"])
    kept = {path: path.stat().st_mtime_ns for path in (LECTURES / "figures").iterdir()}
    for name in ("folds", "lecture_roc_pr"):
        runpy.run_path(str(ROOT / "examples" / "papers" / f"{name}.py"), run_name="__main__")

    assert {"folds.png", "roc_of_m.png"} <= {path.name for path in tmp_path.iterdir()}
    assert kept == {path: path.stat().st_mtime_ns for path in (LECTURES / "figures").iterdir()}
    assert "wrote roc_of_m.png" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["dartboard", "complexity", "bayes", "looks", "diners"])
def test_figures_of_model_selection_are_drawn(name):
    """Each figure has axes, and is text that fits into a page."""
    figure = script("lecture_selection").FIGURES[name]()

    assert figure.axes
    assert "<svg" in svg(figure, name)


def test_maxima_of_f1_lie_on_the_line_of_twice_the_threshold():
    """For each share of positives the best F1 is twice its threshold."""
    (ax,) = script("f1_half").against_threshold().axes
    marked = [line.get_data() for line in ax.lines if line.get_marker() == "o"]

    assert 4 == len(marked)
    for (threshold,), (value,) in marked:
        assert abs(value - 2 * threshold) < 0.005


@pytest.mark.slow
def test_leaving_one_out_scatters_most():
    """On small samples its spread is the largest, and from 2 to 10 folds the spread grows."""
    found = script("lecture_selection").estimates(runs=200)
    spread = {cv: np.std(found[cv] - found["truth"]) for cv in ("2", "5", "10", "loo")}

    assert spread["2"] < spread["5"] < spread["10"] < spread["loo"]
    assert spread["loo"] > 1.5 * spread["2"]

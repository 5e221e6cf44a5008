"""What SECURITY.md promises and other tests do not show."""

import re
import socket
from pathlib import Path

import pytest

import cutpoints as cp

ROOT = Path(__file__).parents[1]
SCORES = ROOT / "examples" / "scores.csv"


@pytest.mark.parametrize(
    "more",
    [
        {"sql": "select * from data, 'https://127.0.0.1:9/x.parquet'"},
        {"sql": "select * from data, '/etc/passwd'"},
        {"sql": "select * from data where st_point(1, 2) is not null"},
        {"sql": "install spatial"},
        {"where": "st_point(1, 2) is not null"},
        {"where": "p > 0; install spatial"},
    ],
    ids=str,
)
def test_conditions_and_queries_read_and_load_nothing_else(more, monkeypatch, tmp_path):
    """Another file, a remote one, or a function of an extension is an error, not an access."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(cp.exceptions.CutpointError):
        cp.find(cp.read(SCORES, label="malignant", score="p", **more), maximize="f1")

    assert [] == list(tmp_path.rglob("*.duckdb_extension*"))


def test_nothing_connects(monkeypatch, tmp_path):
    """Finding, saving, deciding and reporting open no connection."""
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("connected"))
    solution = cp.find(SCORES, label="malignant", score="p", maximize="f1")
    solution.policy().save(tmp_path / "policy.json")
    cp.Policy.load(tmp_path / "policy.json").apply(SCORES, tmp_path / "out.csv")
    cp.report(SCORES, label="malignant", score="p", maximize="f1", path=tmp_path / "report.html")


def test_no_pickle_and_no_eval_in_the_package():
    """No module loads pickles, and none evaluates text.

    The one exception reads what a child process of this very call has written to a pipe.
    """
    loading = re.compile(r"\bpickle\.loads?\(|(?<![\w.])(eval|exec)\(|\byaml\.load\(")
    wrong = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        if loading.search(path.read_text(encoding="utf-8"))
    ]

    assert ["src/cutpoints/_ilp/time_limit.py"] == wrong

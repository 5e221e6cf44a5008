"""Files that the library writes: whole or not at all, and never in the place of something else."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import cutpoints as cp
from cutpoints import plots

SRC = Path(__file__).parents[1] / "src"

Y, P = [0, 1, 0, 1], [0.1, 0.9, 0.4, 0.6]

WRITERS = {
    "policy.json": lambda path: cp.find(Y, P, maximize="f1").policy().save(path),
    "week.sketch": lambda path: cp.Sketch().update(Y, P).save(path),
    "report.html": lambda path: cp.report(Y, P, maximize="f1").save(path),
    "roc.png": lambda path: plots.RocDisplay.from_predictions(Y, P).save(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_or_a_device_is_never_replaced_by_a_file(name, tmp_path):
    """A rename over /dev/null would take it away from everybody, and root may do that."""
    place = tmp_path / name
    os.mkfifo(place)
    with pytest.raises(ValueError, match="device or a pipe"):
        WRITERS[name](place)
    assert stat.S_ISFIFO(place.stat().st_mode)
    assert [place] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_stays_a_link(name, tmp_path):
    """What it points to gets the new contents; others who look there see them too."""
    goal, link = tmp_path / f"goal-{name}", tmp_path / name
    goal.write_bytes(b"old")
    link.symlink_to(goal)
    WRITERS[name](link)
    assert link.is_symlink()
    assert goal.read_bytes() != b"old"


@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_is_refused_in_plain_words(name, tmp_path):
    """The system calls it busy, or not a file, or not empty."""
    place = tmp_path / name
    place.mkdir()
    with pytest.raises(ValueError, match="It is a directory"):
        WRITERS[name](place)
    assert [place] == list(tmp_path.iterdir())


# --- kill -9

_WRITES = """
import sys
from cutpoints._atomic import replaced, temporary_folder
with replaced("scores.csv") as beside, temporary_folder() as folder:
    (beside.parent / folder / "rows").write_text("1,2")
    print(beside, folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path, monkeypatch):
    """Return a function that starts a process in the middle of writing, and gives its temporary places."""
    spool, started = tmp_path / "spool", []
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))

    def start():
        running = subprocess.Popen(
            [sys.executable, "-c", _WRITES],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(SRC), "TMPDIR": str(spool)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(running)
        return running, {Path(one) for one in running.stdout.readline().split()}

    yield start
    for running in started:
        running.kill()
        running.communicate()


def write(tmp_path):
    """Write to both places that the processes use."""
    (tmp_path / "s.csv").write_text("y,p\n0,0.1\n1,0.9\n", encoding="utf-8")
    cp.find(tmp_path / "s.csv", label="y", score="p", maximize="f1").policy().save(tmp_path / "policy.json")


def in_the_way(tmp_path):
    """Return what is in both places but input and output."""
    known = {"s.csv", "policy.json", "spool"}
    return {one for one in (*tmp_path.iterdir(), *tmp_path.glob("spool/*")) if one.name not in known}


linux = pytest.mark.skipif(
    not Path("/proc/self/ns").is_dir(), reason="the system does not tell processes apart"
)


@linux
def test_what_a_killed_process_left_is_removed_by_the_next(writer, tmp_path):
    """SIGKILL cannot be caught: files and folders go when somebody writes there again, full or not."""
    running, left = writer()
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert left == in_the_way(tmp_path)
    write(tmp_path)
    assert set() == in_the_way(tmp_path)


@linux
def test_what_a_living_process_writes_is_never_touched(writer, tmp_path):
    """Its output is complete, whoever else writes beside it."""
    running, used = writer()
    write(tmp_path)
    assert used == in_the_way(tmp_path)
    running.communicate()
    assert 0 == running.returncode
    assert {tmp_path / "scores.csv"} == in_the_way(tmp_path)


@linux
def test_a_process_that_has_got_the_id_of_another(writer, tmp_path):
    """Its id is in use again, but it began at another time: what the first one left is removed."""
    _, used = writer()
    for one in used:
        system, process, started, rest = one.name.split("cutpoints-")[1].split("-", 3)
        earlier = f"{one.name.split('cutpoints-')[0]}cutpoints-{system}-{process}-{int(started) - 1}-{rest}"
        one.with_name(earlier).touch()
    write(tmp_path)
    assert used == in_the_way(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        ".cutpoints-0123456789abcdef-4194305-1-0a1b2c3d.tmp.csv",  # of another machine, or before this start
        ".cutpoints-0a1b2c3d.tmp.csv",  # where the system does not tell
        ".cutpoints-4194305-1-0a1b2c3d.tmp.csv",
        ".scores-0a1b2c3d.tmp.csv",
    ],
)
def test_what_may_be_in_use_elsewhere_stays(name, tmp_path):
    """A folder may be shared by machines and containers, whose processes cannot be seen from here."""
    (tmp_path / name).touch()
    write(tmp_path)
    assert {tmp_path / name} == in_the_way(tmp_path)


@linux
def test_a_link_with_such_a_name_removes_nothing_else(writer, tmp_path):
    """In a temporary folder others may make links; what they point to is not ours."""
    running, left = writer()
    running.kill()
    running.wait()
    precious = tmp_path.with_name(f"{tmp_path.name}-precious")
    precious.mkdir()
    (precious / "file").touch()
    for one in left:
        one.with_name(f"{one.name}x").symlink_to(precious)
    write(tmp_path)
    assert (precious / "file").exists()
    assert set() == in_the_way(tmp_path)

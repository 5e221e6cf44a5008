"""Files that the library writes: whole or not at all, and never in the place of something else."""

import os
import stat

import pytest

import cutpoints as cp
from cutpoints import plots

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

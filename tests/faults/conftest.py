"""What was tried and what was lost: a table at the end of the run."""

from collections import Counter

import pytest

from engines.conftest import _ibis_duckdb, postgres  # noqa: F401 - fixtures

TRIED, LOST, NOTES = Counter(), Counter(), {}


class Record:
    """Counts the runs of one kind of fault, and those in which something was lost."""

    def __init__(self, what):
        self.what = what
        TRIED[what] += 0

    def run(self, faults):
        """Count a run; `faults` lists what went wrong in it."""
        TRIED[self.what] += 1
        LOST[self.what] += bool(faults)
        assert [] == faults

    def note(self, text):
        """Add a word to the table."""
        NOTES[self.what] = text

    def skip(self, reason):
        """Leave the rest out, with a word in the table."""
        self.note(f"skipped: {reason}")
        pytest.skip(reason)


@pytest.fixture
def record():
    """Return a function that makes the record of one kind of fault."""
    return Record


def pytest_terminal_summary(terminalreporter):
    """Print the table."""
    if not TRIED:
        return
    terminalreporter.write_line(f"\n{'what was tried':<56}{'runs':>8}{'lost':>8}")
    for what, runs in TRIED.items():
        row = f"{what:<56}{runs:>8,}{LOST[what]:>8,}   {NOTES.get(what, '')}"
        terminalreporter.write_line(row.rstrip())
    terminalreporter.write_line(f"{'all':<56}{sum(TRIED.values()):>8,}{sum(LOST.values()):>8,}")

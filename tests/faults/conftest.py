"""What was tried and what was lost: a table at the end of the run."""

from collections import Counter

import pytest

TRIED, LOST = Counter(), Counter()


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


@pytest.fixture
def record():
    """Return a function that makes the record of one kind of fault."""
    return Record


def pytest_terminal_summary(terminalreporter):
    """Print the table."""
    if TRIED:
        terminalreporter.write_line(f"\n{'what was tried':<48}{'runs':>8}{'lost':>8}")
        for what, runs in TRIED.items():
            terminalreporter.write_line(f"{what:<48}{runs:>8,}{LOST[what]:>8,}")
        total = f"{'all':<48}{sum(TRIED.values()):>8,}{sum(LOST.values()):>8,}"
        terminalreporter.write_line(total)

"""The page on engines says what the code does."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0].split()[1])
def test_examples_run_and_say_what_they_say(block):
    """The last line of each example is a threshold, and the comment after it is its value."""
    *lines, last = block.strip().splitlines()
    code, comment = last.split("  # ")
    names = {}
    exec("\n".join(lines), names)  # noqa: S102 - our own page

    assert comment == repr(eval(code, names))  # noqa: S307

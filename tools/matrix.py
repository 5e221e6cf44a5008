"""Run the fast tests on every Python that is installed, with the newest and with the lowest versions.

python -m tools.matrix                               # all cells, in environments below .venv-matrix
python -m tools.matrix 3.13-newest 3.12-lowest       # these cells
python -m tools.matrix 3.13-newest -- tests/find -x  # these tests, with these options of pytest

*Newest* is what pip chooses today, not `constraints.txt`. *Lowest* is `constraints-lowest.txt`. Each cell is
installed in a few minutes and runs the whole of `make test` but lint. Ends with a table of the cells.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".venv-matrix"
# Other versions raise other deprecation warnings, and another click lays out the generated page differently.
PYTEST = [
    "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-o", "filterwarnings=default",
    "--deselect", "tests/test_docs.py::test_generated_pages_are_up_to_date",
]  # fmt: skip


def cells() -> dict[str, str]:
    """Return the interpreter of each cell, found on the path or in pyenv."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: 3." in line]
    found = {}
    for version in reversed(named):
        kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        path = str(kept[-1]) if kept else shutil.which(f"python{version}")
        if path:
            found |= {f"{version}-{versions}": path for versions in ("newest", "lowest")}
    return found


def run(cell: str, python: str, options: list[str]) -> str:
    """Install one environment and run the tests in it; return how it went."""
    home = ENVIRONMENTS / cell
    subprocess.run([python, "-m", "venv", str(home)], check=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "pip>=25.1"], check=True)  # the first that installs dependency groups
    wanted = ["-c", "constraints-lowest.txt"] if cell.endswith("lowest") else ["--upgrade"]
    # Nothing is compiled; PySpark has no wheel, and nothing to compile.
    wheels = ["--only-binary", ":all:", "--no-binary", "cutpoints,pyspark"]
    install = [*pip, *wheels, *wanted, "-e", ".[all]", "--group", "test"]
    if subprocess.run(install, cwd=ROOT, check=False).returncode:
        return "not installed"
    done = subprocess.run(
        [str(home / "bin" / "python"), *PYTEST, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ""},
        check=False,
    )
    return "passed" if done.returncode == 0 else f"failed ({done.returncode})"


if __name__ == "__main__":
    known, asked, options = cells(), sys.argv[1:], []
    if "--" in asked:
        asked, options = asked[: asked.index("--")], asked[asked.index("--") + 1 :]
    if not known.keys() >= set(asked):
        sys.exit(f"The cells are {', '.join(known)}.")
    outcomes = {cell: run(cell, known[cell], options) for cell in asked or known}
    for cell, outcome in outcomes.items():
        print(f"{cell:<14} {outcome}")  # noqa: T201
    sys.exit({*outcomes.values()} != {"passed"})

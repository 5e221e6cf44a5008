"""Run the fast tests on every Python that is installed, with the newest and with the lowest versions.

python -m tools.matrix                   # all fast tests, in environments below .venv-matrix
python -m tools.matrix tests/find -x     # these tests

*Newest* is what pip chooses today, not `constraints.txt`. *Lowest* is `constraints-lowest.txt`; where one of
these versions has no wheel for a Python, that cell is left out and says so. Ends with a table.
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
# Old packages raise deprecation warnings, and other versions of click lay out pages differently.
PYTEST = [
    "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-o", "filterwarnings=default",
    "--deselect", "tests/test_docs.py",
]  # fmt: skip


def pythons() -> dict[str, str]:
    """Return the interpreters of the versions that `pyproject.toml` names, on the path or in pyenv."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: 3." in line]
    found = {}
    for version in named:
        kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        path = str(kept[-1]) if kept else shutil.which(f"python{version}")
        if path:
            found[version] = path
    return found


def cell(version: str, python: str, versions: str, tests: list[str]) -> str:
    """Install one environment and run the tests in it; return how it went."""
    home = ENVIRONMENTS / f"{version}-{versions}"
    subprocess.run([python, "-m", "venv", str(home)], check=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "pip>=25.1"], check=True)  # the first that installs dependency groups
    wanted = ["-c", "constraints-lowest.txt"] if versions == "lowest" else ["--upgrade"]
    wheels = ["--only-binary", ":all:", "--no-binary", "cutpoints"]
    install = [*pip, *wheels, *wanted, "-e", ".[all]", "--group", "test"]
    if subprocess.run(install, cwd=ROOT, check=False).returncode:
        return "no wheels"
    done = subprocess.run(
        [str(home / "bin" / "python"), *PYTEST, *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ""},
        check=False,
    )
    return "passed" if done.returncode == 0 else f"failed ({done.returncode})"


if __name__ == "__main__":
    table = {
        (version, versions): cell(version, python, versions, sys.argv[1:])
        for version, python in pythons().items()
        for versions in ("newest", "lowest")
    }
    for (version, versions), outcome in table.items():
        print(f"Python {version}  {versions}  {outcome}")  # noqa: T201
    sys.exit(any(outcome.startswith("failed") for outcome in table.values()))

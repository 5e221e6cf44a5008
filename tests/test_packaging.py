"""What `pyproject.toml` promises about versions is what is tested."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _lower_bounds():
    """Return the lowest bound of each package, over the dependencies, the extras and the groups."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    base, extras = project["project"]["dependencies"], project["project"]["optional-dependencies"]
    lists = [base, *extras.values(), *project["dependency-groups"].values()]
    bounds = {}
    for wanted in (one for some in lists for one in some if isinstance(one, str)):
        name, _, bound = re.sub(r"\[.*\]", "", wanted).partition(">=")
        if bound:
            bounds.setdefault(name, bound)
    return bounds


def test_lowest_versions_are_the_lower_bounds():
    """`make lowest` installs exactly the lower bounds that are published."""
    lines = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    lowest = dict(line.lower().split("==") for line in lines if "==" in line)
    bounds = _lower_bounds()

    assert {"numpy", "duckdb", "matplotlib", "pyspark", "polars"} <= bounds.keys()
    for name, bound in bounds.items():
        assert bound == lowest[name].removesuffix(".0"), name


def test_every_dependency_has_a_lower_bound():
    """A published dependency without a lower bound would let an old version in that does not work."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for some in project["optional-dependencies"].values() for one in some]

    for wanted in [*project["dependencies"], *extras]:
        assert ">=" in wanted or wanted.startswith(("cutpoints[", "sqlglot<=")), wanted

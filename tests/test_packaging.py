"""What `pyproject.toml` promises about versions is what is tested."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

from cutpoints import __version__

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
    own = [line.partition(";")[0].lower() for line in lines if '>= "3.13"' not in line]
    lowest = dict(line.split("==") for line in own if "==" in line)
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


def test_the_citation_has_the_version():
    """CITATION.cff names the version that it is shipped with."""
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    assert f"\nversion: {__version__}\n" in cited


def test_type_checkers_see_every_public_name():
    """`tests/typing/api.py` uses each public name, so that `make lint` finds changed signatures."""
    used = set(re.findall(r"\w+", (ROOT / "tests" / "typing" / "api.py").read_text(encoding="utf-8")))

    for module in (
        "cutpoints",
        "cutpoints.metrics",
        "cutpoints.plots",
        "cutpoints.ilp",
        "cutpoints.exceptions",
    ):
        assert [] == sorted({*import_module(module).__all__} - used - {"__version__"}), module

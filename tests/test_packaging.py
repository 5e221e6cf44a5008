"""What `pyproject.toml` promises about versions is what is tested."""

import ast
import inspect
import re
import tomllib
from collections import defaultdict
from importlib import import_module
from pathlib import Path

from cutpoints import __version__, exceptions

ROOT = Path(__file__).parents[1]
PUBLIC = ("cutpoints", "cutpoints.metrics", "cutpoints.plots", "cutpoints.ilp", "cutpoints.exceptions")


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

    for module in PUBLIC:
        assert [] == sorted({*import_module(module).__all__} - used - {"__version__"}), module


def test_type_checkers_see_every_keyword():
    """`tests/typing/api.py` passes each keyword of public functions, constructors and methods by name."""
    tree = ast.parse((ROOT / "tests" / "typing" / "api.py").read_text(encoding="utf-8"))
    passed = defaultdict(set)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        passed[ast.unparse(call.func).rpartition(".")[2]] |= {keyword.arg for keyword in call.keywords}
    public = {name: getattr(module, name) for module in map(import_module, PUBLIC) for name in module.__all__}
    for name in {"Data", "Expression", "Metric", *exceptions.__all__}:  # users do not make these
        del public[name]
    missing = []
    for name, thing in public.items():
        parts = dict(inspect.getmembers(thing)) if inspect.isclass(thing) else {"__init__": thing}
        for called, part in parts.items():
            made = called == "__init__"
            ours = getattr(part, "__module__", None) or ""  # scikit-learn adds methods for its routing
            if not inspect.isroutine(part) or not ours.startswith("cutpoints."):
                continue
            if made or not called.startswith("_"):
                parameters = inspect.signature(part).parameters.values()
                keywords = {one.name for one in parameters if one.kind is one.KEYWORD_ONLY}
                missing += [f"{name}.{called}({one}=)" for one in keywords - passed[name if made else called]]

    assert [] == sorted(missing)

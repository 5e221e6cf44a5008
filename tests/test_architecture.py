"""Who may import whom: the rooms of the house and the packages that each may use.

Imports inside functions count, imports under ``if TYPE_CHECKING:`` do not. To add a room, give it
its place in `FLOORS`; to use a package in a new room, add the room to `PACKAGES`. Both are
decisions about the design, so they are made here, where a reader sees them, and not in passing.
"""

import ast
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "cutpoint"

# From the ground up. A room may import the rooms of lower floors; rooms of one floor do not know
# each other.
FLOORS = (
    ("_errors", "_version"),
    # `exceptions` is the public face of `_errors`.
    ("_atomic", "exceptions"),
    ("parameters",),
    ("bands",),
    ("masses",),
    ("weighed", "digits"),
    ("questions",),
    ("metrics",),
    ("objective",),
    ("solution",),
    ("search", "sources"),
    # What `find` returns by segment, and how search and sources get there together.
    ("segments",),
    ("find",),
    # `ilp` is the public face of search.ilp: it takes what users bring, and returns a solution.
    # `sketch` keeps the counts of a first pass, and asks `find` for the second.
    ("curve", "ilp", "sketch"),
    # `honest` judges thresholds on rows that did not choose them; the estimator and assess share it.
    # `expected.theory` says where calibrated probabilities have the threshold; calibration checks it.
    ("evaluate", "honest", "expected"),
    # `folds` cuts the rows by what users pass as `cv`.
    ("leakage", "folds"),
    # Below the others: `assess.nested` tunes hyper-parameters around the estimator.
    ("estimator",),
    (
        "assess",
        "compare",
        "calibration",
        "policy",
    ),
    ("plots",),
    ("report",),
    ("cli",),
    # The façade re-exports from every floor, `python -m cutpoint` is the command line.
    ("__init__", "__main__"),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# (importing room, imported room): the reason. An arrow along a floor or up, argued one by one.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("solution", "policy"): "`Solution.policy()` is the door to it; nothing loads before it is called",
}

# Which rooms or modules may import a package at all. What is not listed here is not imported.
PACKAGES = {
    "numpy": tuple(room for room in FLOOR_OF if not room.startswith("_")),
    # search.certify: exact binomial tails for constraints with a confidence, loaded when asked for.
    "scipy": (
        "search.ilp",
        "search.certify",
        "assess",
        "calibration",
        "compare",
        "evaluate",
        "expected.population",
        # policy._outcome and _shift: exact binomial tails, the distributions of KS and PSI without a change.
        "policy",
    ),
    # The solver of the 0-1 programme; SciPy's own copy of it does not keep its time limit.
    "highspy": ("search.ilp",),
    "sklearn": ("folds", "estimator", "calibration", "evaluate", "compare", "assess", "policy", "cli.demo"),
    # The frames, the three private modules that the frames are made of, and frames by segment.
    "narwhals": (
        "sources.frames",
        "sources._expressions",
        "sources._frame_labels",
        "sources._frame_masses",
        "sources._grouped_segments",
        "policy",
    ),
    "duckdb": ("sources.files", "policy"),
    # Batches of Polars come from its streaming engine, which narwhals does not offer; Arrow files
    # and the first line of compressed ones are read by pyarrow. Both load when they are met.
    "polars": ("sources._polars",),
    "pyarrow": ("sources._formats",),
    "click": ("cli",),
    "rich": ("cli",),
    "matplotlib": ("plots",),
    "plotly": ("report",),
    "jinja2": ("report",),
}


def _module_name(path, root):
    """The name below ``cutpoint``: ``find``, ``search.sweep``, ``cli`` for ``cli/__init__.py``."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def _is_type_checking(node):
    return isinstance(node, ast.If) and (ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"})


def _walk(node):
    """Like `ast.walk`, without what only a type checker sees; the else branch does run."""
    yield node
    children = node.orelse if _is_type_checking(node) else ast.iter_child_nodes(node)
    for child in children:
        yield from _walk(child)


def _imports(path, root):
    """Yield (line, absolute dotted name) of everything that the file imports when it runs."""
    package = ["cutpoint", *path.relative_to(root).parts[:-1]]
    for node in _walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).split(".")[-1] in {"import_module", "__import__"}
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            name = node.args[0].value
            yield node.lineno, ".".join(package) + name if name.startswith(".") else name


def _arrow_fault(room, target):
    """Say why `room` may not import `target`, a dotted name below ``cutpoint``, or None."""
    imported = target.split(".")[0]
    if imported not in FLOOR_OF:
        return (
            "imports the façade; import from the room itself "
            f"(a new room '{imported}'? give it a floor in FLOORS in {Path(__file__).name})"
        )
    if imported == room or (room, imported) in EXCEPTIONS:
        return None
    if FLOOR_OF[imported] > FLOOR_OF[room]:
        return f"imports '{imported}', which is upstairs"
    if FLOOR_OF[imported] == FLOOR_OF[room]:
        return f"imports '{imported}', which is on the same floor"
    return None


def _package_fault(module, name):
    """Say why `module` may not import the package of `name`, or None."""
    package = name.split(".")[0]
    if package in sys.stdlib_module_names:
        return None
    rooms = PACKAGES.get(package, ())
    if any(module == room or module.startswith(f"{room}.") for room in rooms):
        return None
    allowed = ", ".join(rooms) if rooms else "no room"
    return f"imports the package '{package}', which only these may: {allowed} (see PACKAGES)"


def faults(root, path):
    """All faults of one file, as lines that begin with its place."""
    module = _module_name(path, root)
    room = module.split(".")[0]
    place = path.relative_to(root)
    if room not in FLOOR_OF:
        return [f"{place}: the room '{room}' has no floor; add it to FLOORS in {__file__}"]
    found = []
    for line, name in _imports(path, root):
        if name == "cutpoint" or name.startswith("cutpoint."):
            fault = _arrow_fault(room, name.removeprefix("cutpoint").removeprefix("."))
        else:
            fault = _package_fault(module, name)
        if fault:
            found.append(f"{place}:{line}: {fault}")
    return found


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda path: path.relative_to(SRC).as_posix())
def test_imports_go_down_the_house(path):
    """Every import goes to a lower floor, and every package is used only in its rooms."""
    assert [] == faults(SRC, path)


def test_exceptions_are_in_use():
    """An argued exception that no file needs any more is deleted from the table."""
    used = set()
    for path in SRC.rglob("*.py"):
        room = _module_name(path, SRC).split(".")[0]
        for _, name in _imports(path, SRC):
            if name.startswith("cutpoint."):
                used.add((room, name.split(".")[1]))

    assert set() == set(EXCEPTIONS) - used


@pytest.mark.parametrize(
    ("file", "code", "message"),
    [
        ("metrics/ratios.py", "from cutpoint.find import find", "which is upstairs"),
        ("metrics/ratios.py", "from cutpoint import find", "which is upstairs"),
        ("metrics/ratios.py", "from ..find import find", "which is upstairs"),
        ("metrics/ratios.py", "def f():\n    import cutpoint.find", "which is upstairs"),
        ("objective.py", "from . import find", "which is upstairs"),
        ("objective.py", "import_module('cutpoint.find')", "which is upstairs"),
        ("objective.py", "importlib.import_module('.find', __package__)", "which is upstairs"),
        ("search/narrow.py", "from cutpoint.sources import arrays", "on the same floor"),
        ("sources/arrays.py", "from cutpoint.search.sweep import sweep", "on the same floor"),
        ("compare.py", "from cutpoint import assess", "on the same floor"),
        ("find.py", "import cutpoint as cp", "imports the façade"),
        ("cli/find.py", "from cutpoint import __version__", "imports the façade"),
        ("find.py", "import scipy.optimize", "the package 'scipy'"),
        ("search/sweep.py", "from scipy import optimize", "the package 'scipy'"),
        ("sources/arrays.py", "import narwhals as nw", "the package 'narwhals'"),
        ("_errors.py", "import numpy as np", "the package 'numpy'"),
        ("plots/roc.py", "import seaborn", "the package 'seaborn'"),
        ("helpers.py", "", "the room 'helpers' has no floor"),
        ("find.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import scipy", "'scipy'"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path, file, code, message):
    """The walk sees each spelling of an import, at the top of a file and inside functions."""
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code, encoding="utf-8")

    (fault,) = faults(tmp_path, path)

    assert message in fault


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("find.py", "from cutpoint.search import narrow\nfrom cutpoint import objective"),
        ("search/narrow.py", "from cutpoint.masses import total\nimport numpy as np"),
        ("sources/arrays.py", "from cutpoint.questions import Summary"),
        ("search/narrow.py", "from cutpoint.search.sweep import sweep"),
        ("search/narrow.py", "from .sweep import sweep\nfrom . import sweep"),
        ("search/narrow.py", "from ..metrics import f1"),
        ("search/__init__.py", "from .sweep import sweep"),
        ("search/ilp.py", "from scipy.optimize import milp"),
        ("metrics/ratios.py", "if TYPE_CHECKING:\n    from cutpoint.find import find"),
        ("metrics/ratios.py", "import math, collections.abc"),
        ("cli/demo.py", "from sklearn.datasets import load_breast_cancer\nimport rich.table"),
        ("assess/boot.py", "import scipy.stats"),
        ("__init__.py", "from cutpoint.find import find"),
    ],
)
def test_a_proper_import_is_let_through(tmp_path, file, code):
    """The walk has nothing against imports down the house, inside a room and for types."""
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code, encoding="utf-8")

    assert [] == faults(tmp_path, path)

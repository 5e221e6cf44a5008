"""Who may import whom: the rooms of the house and the packages that each may use.

Imports inside functions count, imports under ``if TYPE_CHECKING:`` do not. To add a room, give it
its place in `FLOORS`; to use a package in a new room, add the room to `PACKAGES`. Both are
decisions about the design, so they are made here, where a reader sees them, and not in passing.
"""

import ast
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SRC = TESTS.parent / "src" / "cutpoints"

# From the ground up. A room may import the rooms of lower floors, and of its own floor those in `ALONG`.
FLOORS = (
    (
        "_version",
        "_wording",
        "_format",
        "exceptions",
        "_extras",
        "_validate",
        "_atomic",
        "_equality",
        "_shown",
    ),
    ("metrics", "_goal"),
    ("_kernel", "_theory", "_result"),
    ("_search", "_data"),
    ("_ilp", "_segments", "_find"),
    ("_curve", "_evaluate", "_expected", "_band", "_classes", "_joint"),
    ("_sketch", "ilp", "_sklearn", "_assess", "_compare", "_calibration", "_policy"),
    ("plots",),
    ("_report",),
    ("cli",),
    # The front door re-exports from every floor, `python -m cutpoints` is the command line.
    ("__init__", "__main__"),
)
ALONG = {
    "_extras": ("exceptions",),
    "exceptions": ("_wording", "_format"),
    "_validate": ("_wording", "exceptions"),
    "_atomic": ("exceptions",),
    "_shown": ("_format", "exceptions"),
    "_goal": ("metrics",),
    "_result": ("_kernel", "_theory"),
    "_find": ("_ilp", "_segments"),
    "_evaluate": ("_curve",),
    "_expected": ("_curve",),
    "_band": ("_curve",),
}
# Folders of tests that concern several rooms; each other folder has the name of its room.
FOR_SEVERAL_ROOMS = {"engines", "faults", "papers", "typing"}
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# (importing room, imported room): the reason. An arrow along a floor or up, argued one by one.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("_shown", "_policy"): "`policy()` of every result is the door to it; nothing loads before it is called",
    ("_result", "_data"): "`Solution.decide()` reads scores as `find` does",
}

# What of the private modules the command line may import; all else it takes from `import cutpoints`.
FOR_COMMANDS = ("_atomic", "_format", "_validate", "_version", "_wording", "_data.progress")

# Which rooms or modules may import a package at all. What is not listed here is not imported.
PACKAGES = {
    "numpy": tuple(
        room for room in FLOOR_OF if room not in {"_version", "_wording", "exceptions", "_format", "_atomic"}
    ),
    # _search.guarantee: exact binomial tails, loaded when asked for.
    "scipy": (
        "_ilp",
        "_search.guarantee",
        "_assess",
        "_calibration",
        "_compare",
        "_evaluate",
        "_expected.population",
        # The linear program of rules that decide by chance.
        "_joint.randomized",
        # _policy: exact binomial tails, the distributions of KS and PSI without a change.
        "_policy",
    ),
    # The solver of the integer program; SciPy's own copy of it does not keep its time limit.
    "highspy": ("_ilp",),
    "sklearn": (
        "_sklearn",
        "_calibration",
        "_evaluate",
        "_compare",
        "_assess",
        "_policy",
    ),
    "narwhals": (
        "_data.frames",
        "_data.groupby",
        "_data.expressions",
        "_data.groupby_labels",
        "_data.groupby_sums",
        "_data.groupby_segments",
        "_data.lazy_segments",
        "_policy",
    ),
    "duckdb": ("_data.files", "_data.lazy_segments", "_policy"),
    # Batches of Polars come from its streaming engine, which narwhals does not offer; Arrow files
    # and the first line of compressed ones are read by pyarrow. Both load when they are met.
    "polars": ("_data.polars_reader",),
    # A policy's table of segments goes to DuckDB as columns.
    "pyarrow": ("_data.formats", "_policy.file_segments"),
    "click": ("cli",),
    "rich": ("cli",),
    "onnx": ("_policy.onnx_graph",),
    "matplotlib": ("plots",),
    "jinja2": ("_report",),
}


def _module_name(path, root):
    """The name below ``cutpoints``: ``find``, ``search.sweep``, ``cli`` for ``cli/__init__.py``."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def _last_name(node):
    """The name, or what stands after the last dot of it."""
    return getattr(node, "id", getattr(node, "attr", None))


def _walk(tree):
    """Like `ast.walk`, without what only a type checker sees; the else branch does run."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        typing_only = isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING"
        left += node.orelse if typing_only else ast.iter_child_nodes(node)


def _imports(path, root):
    """Yield (line, absolute dotted name) of everything that the file imports when it runs."""
    package = ["cutpoints", *path.relative_to(root).parts[:-1]]
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
            and _last_name(node.func) in {"import_module", "__import__"}
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            name = node.args[0].value
            yield node.lineno, ".".join(package) + name if name.startswith(".") else name


def _arrow_fault(room, target):
    """Say why `room` may not import `target`, a dotted name below ``cutpoints``, or None."""
    imported = target.split(".")[0]
    if room == "cli":
        private = imported.startswith("_") and imported != "__version__"
        if private and not any(target == one or target.startswith(f"{one}.") for one in FOR_COMMANDS):
            return f"imports '{target}', which is private: use the public function, or extend it"
        return None
    if imported not in FLOOR_OF:
        return (
            "imports the façade; import from the room itself "
            f"(a new room '{imported}'? give it a floor in FLOORS in {Path(__file__).name})"
        )
    if imported == room or imported in ALONG.get(room, ()) or (room, imported) in EXCEPTIONS:
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
        if name == "cutpoints" or name.startswith("cutpoints."):
            fault = _arrow_fault(room, name.removeprefix("cutpoints").removeprefix("."))
        else:
            fault = _package_fault(module, name)
        if fault:
            found.append(f"{place}:{line}: {fault}")
    return found


@pytest.mark.parametrize("path", sorted(SRC.rglob("*.py")), ids=lambda path: path.relative_to(SRC).as_posix())
def test_imports_go_down_the_house(path):
    """Every import goes to a lower floor, and every package is used only in its rooms."""
    assert [] == faults(SRC, path)


def test_folders_of_tests_mirror_the_rooms():
    """Each folder of tests has the name of a room, or concerns several rooms."""
    folders = {path.parent.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/*.py")}

    assert set() == folders - {room.strip("_") for room in FLOOR_OF} - FOR_SEVERAL_ROOMS


def test_exceptions_are_in_use():
    """An argued exception that no file needs any more is deleted from the table."""
    used = set()
    for path in SRC.rglob("*.py"):
        room = _module_name(path, SRC).split(".")[0]
        for _, name in _imports(path, SRC):
            if name.startswith("cutpoints."):
                used.add((room, name.split(".")[1]))

    assert set() == set(EXCEPTIONS) - used


@pytest.mark.parametrize(
    ("file", "code", "message"),
    [
        ("metrics/ratios.py", "from cutpoints._find import find", "which is upstairs"),
        ("metrics/ratios.py", "from cutpoints import _find", "which is upstairs"),
        ("metrics/ratios.py", "from .._find import find", "which is upstairs"),
        ("metrics/ratios.py", "def f():\n    import cutpoints._find", "which is upstairs"),
        ("_goal.py", "from . import _find", "which is upstairs"),
        ("_goal.py", "import_module('cutpoints._find')", "which is upstairs"),
        ("_goal.py", "importlib.import_module('._find', __package__)", "which is upstairs"),
        ("_search/narrow.py", "from cutpoints._data import arrays", "on the same floor"),
        ("_data/arrays.py", "from cutpoints._search.sweep import sweep", "on the same floor"),
        ("_compare/x.py", "from cutpoints import _assess", "on the same floor"),
        ("_find.py", "import cutpoints as cp", "imports the façade"),
        ("cli/find.py", "from cutpoints._find import find", "which is private"),
        ("cli/find.py", "from cutpoints._data.files import Opened", "which is private"),
        ("_find.py", "import scipy.optimize", "the package 'scipy'"),
        ("_search/sweep.py", "from scipy import optimize", "the package 'scipy'"),
        ("_data/arrays.py", "import narwhals as nw", "the package 'narwhals'"),
        ("exceptions.py", "import numpy as np", "the package 'numpy'"),
        ("plots/roc.py", "import seaborn", "the package 'seaborn'"),
        ("helpers.py", "", "the room 'helpers' has no floor"),
        ("_find.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import scipy", "'scipy'"),
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
        ("_find.py", "from cutpoints._search import narrow\nfrom cutpoints import _goal"),
        ("_search/narrow.py", "from cutpoints._kernel.masses import total\nimport numpy as np"),
        ("_data/arrays.py", "from cutpoints._kernel.tables import Summary"),
        ("_search/narrow.py", "from cutpoints._search.sweep import sweep"),
        ("_search/narrow.py", "from .sweep import sweep\nfrom . import sweep"),
        ("_search/narrow.py", "from ..metrics import f1"),
        ("_search/__init__.py", "from .sweep import sweep"),
        ("_ilp/highs.py", "from scipy.optimize import milp"),
        ("metrics/ratios.py", "if TYPE_CHECKING:\n    from cutpoints._find import find"),
        ("metrics/ratios.py", "import math, collections.abc"),
        ("cli/demo.py", "import rich.table"),
        ("_assess/boot.py", "import scipy.stats"),
        ("__init__.py", "from cutpoints._find import find"),
        ("cli/find.py", "import cutpoints as cp\nfrom cutpoints.metrics import f1"),
        (
            "cli/find.py",
            "from cutpoints.cli._output import show\nfrom cutpoints.exceptions import CutpointError",
        ),
    ],
)
def test_a_proper_import_is_let_through(tmp_path, file, code):
    """The walk has nothing against imports down the house, inside a room and for types."""
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(code, encoding="utf-8")

    assert [] == faults(tmp_path, path)
